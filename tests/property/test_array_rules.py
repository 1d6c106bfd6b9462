"""Writes, views and functions of arrays of random numbers: the law of the code itself, or refused.

Every line is run on every array that the draws can give, by NumPy alone. What liptest does not
follow must be refused with the line; no answer may be another one than the code's.
"""

from __future__ import annotations

import itertools
import linecache
import math
import warnings
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.mechanisms.laws import Raised

DATA = np.array([1, 0, 1])
HALF = 0.5 * math.exp(-0.5)  # a Laplace number is above 0.5
#: How three numbers are drawn; the type of the array, and the values of each with probabilities.
DRAWS: dict[str, tuple[str, Any, dict[Any, float]]] = {
    "truths": ("rng.random(3) < 0.25", bool, {True: 0.25, False: 0.75}),
    "bits": ("(rng.random(3) < 0.25).astype(int)", np.int64, {1: 0.25, 0: 0.75}),
    "coins": ("rng.integers(0, 2, 3)", np.int64, {0: 0.5, 1: 0.5}),
    "counts": ("np.minimum(rng.geometric(0.5, 3), 2)", np.int64, {1: 0.5, 2: 0.5}),
    "steps": (
        "np.clip(np.round(rng.laplace(0, 1, 3)), 0, 1)",
        np.float64,
        {1.0: HALF, 0.0: 1 - HALF},
    ),
    "halves": ("np.floor(2 * rng.random(3))", np.float64, {0.0: 0.5, 1.0: 0.5}),
    "lazy truths": ("rng.laplace(0, 1, 3) > 0.5", bool, {True: HALF, False: 1 - HALF}),
}
#: Each makes the output y of the array x.
LINES = """
x[0] = x[1]; y = x
x[0], x[1] = x[1], x[0]; y = x
x[1:] = x[:-1]; y = x
x[[0, 1]] = x[[1, 0]]; y = x
x[data > 0] = 0; y = x
x[x > 0] = 0; y = x
x[x.argmax()] = 0; y = x
x[-1] = 1; y = x
z = x[:2]; z[0] = 1; y = x
z = x.reshape(3, 1); z[0, 0] = 1; y = x
z = x.copy(); z[0] = 1; y = x
z = x.ravel(); z[1] = 0; y = x
z = x.T; z[2] = 1; y = x
z = x[::-1]; z[0] = 1; y = x
z = np.asarray(x); z[0] = 1; y = x
z = np.array(x, copy=False); z[0] = 1; y = x
z = np.asarray(x); x[0] = 1; y = z
z = np.array(x); z[0] = 1; y = x
z = x.astype(x.dtype, copy=False); z[0] = 1; y = x
z = x.view(); z[0] = 1; y = x
z = np.atleast_2d(x); z[0, 0] = 1; y = x
z = np.diagonal(x[None]); y = z
z = x.flat; z[0] = 1; y = x
x.flat[1] = 0; y = x
x.sort(); y = x
x[1:].sort(); y = x
x.put([0], [1]); y = x
x.fill(1); y = x
x.partition(1); y = x
x.itemset(0, 1); y = x
x.resize(2, refcheck=False); y = x
x.setflags(write=False); x[0] = 1; y = x
np.clip(x, 0, 1, out=x); y = x
np.cumsum(x, out=x); y = x
np.add(x, 1, out=x, casting="unsafe"); y = x
np.add.at(x, [0], 1); y = x
np.copyto(x, 1, casting="unsafe"); y = x
np.put(x, [0], [1]); y = x
np.place(x, data > 0, [1]); y = x
np.putmask(x, data > 0, 1); y = x
np.fill_diagonal(x.reshape(1, 3), 1); y = x
np.maximum(x, data, out=x, where=data > 0); y = x
np.random.default_rng(1).shuffle(x); y = x
rng.shuffle(x); y = sorted(x.tolist())
z = np.zeros(3); np.add(x, 0, out=z); y = z
z = np.zeros(3); z[:] = x; y = z
z = np.zeros(3); z += x; y = z
z = np.zeros(3); x.dot(np.eye(3), out=z); y = z
z = np.zeros(()); np.sum(x, out=z); y = float(z)
z = np.zeros(3, dtype=int); z[:2] = x[1:]; y = z
z = np.sort(x); y = z
z = np.sort(x)[::-1]; z[0] = 0; y = z
z = np.unique(x); y = z
z = np.flip(x); z[0] = 1; y = x
z = np.roll(x, 1); z[0] = 1; y = x
z = np.ravel(x); z[0] = 1; y = x
z = np.concatenate([x, [1]]); y = z
z = np.stack([x, x]); z[0, 0] = 1; y = x
z = np.where(data > 0, x, 0); y = z
z = np.cumsum(x); y = z
z = np.diff(x.astype(int)); y = z
z = np.median(x); y = float(z)
z = np.percentile(x, 50); y = float(z)
z = np.bincount(x.astype(int), minlength=3); y = z
z = np.histogram(x.astype(int), bins=[0, 1, 2, 3])[0]; y = z
z = np.searchsorted([0.5, 1.5], x); y = z
z = np.einsum("i,i->", x.astype(int), data); y = int(z)
z = np.outer(x, data); y = z
z = np.kron(x.astype(int), data); y = z
z = np.var(x); y = round(float(z), 6)
z = np.vectorize(lambda one: one + 1)(x.astype(int)); y = z
z = np.apply_along_axis(lambda one: one[:2], 0, x); y = z
z = np.lib.stride_tricks.sliding_window_view(x, 2); y = z
z = np.frombuffer(x.tobytes(), dtype=x.dtype); y = z
z = memoryview(x); y = list(z)
z = x.tolist(); y = z
z = list(x); y = z
z = x.nonzero()[0]; y = z
z = np.flatnonzero(x); y = z
z = x.argsort(kind="stable"); y = z
z = np.isin(x, [1]); y = z
z = np.in1d(x, [1]) if hasattr(np, "in1d") else np.isin(x, [1]); y = z
z = np.packbits(x.astype(bool)); y = z
z = x.sum(where=data > 0); y = z
z = x.sum(initial=5); y = z
z = x.max(initial=5); y = z
z = x.sum(dtype=np.int8); y = z
z = x.mean(dtype=np.float32); y = float(z)
z = x.sum(keepdims=True); z[0] = 7; y = z
z = np.add.reduce(x); y = z
z = np.logical_or.reduce(x); y = z
z = np.add.accumulate(x); y = z
z = np.add.outer(x, data); y = z
z = np.add.reduceat(x, [0, 1]); y = z
x[0] += 1 if x.dtype != bool else True; y = x
x[x > 0] += 1 if x.dtype != bool else True; y = x
x[1], x[2] = x[0], x[0]; y = x
z = x; z[0] = 1; y = x
z = x[None]; z[0, 0] = 1; y = x
x[...] = x[::-1]; y = x
x[:] = data; y = x
x[0:2] = [1, 0]; y = x
del x[0]; y = x
x.shape = (3, 1); y = x
x.dtype = np.int8; y = x
z = x.swapaxes(0, 0); z[0] = 1; y = x
z = np.split(x, 3)[0]; z[0] = 1; y = x
z = np.array_split(x, 2)[1]; z[0] = 1; y = x
a, b, c = x; y = (a, c)
y = x if (x == x).all() else 0
y = tuple(x) == tuple(x.copy())
""".strip().splitlines()


def program_of(draw: str, line: str) -> Any:
    text = "\n    ".join(part.strip() for part in line.split("; "))
    source = f"def program(data, rng, x=None):\n    x = {draw} if x is None else x\n    {text}\n"
    source += "    return y.tolist() if isinstance(y, np.ndarray) else y\n"
    file = f"<array rules {draw} {line}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space: dict[str, Any] = {"np": np, "__name__": "array_rules"}
    exec(compile(source, file, "exec"), space)
    return space["program"]


def frozen(value: Any) -> Any:
    """Lists as tuples, and NumPy's numbers as Python's."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return tuple(map(frozen, value))
    return value.item() if isinstance(value, np.generic) else value


def true_law(program: Any, dtype: Any, values: dict[Any, float]) -> dict[Any, float]:
    law: dict[Any, float] = {}
    for some in itertools.product(values, repeat=3):
        try:
            output = frozen(program(DATA, None, np.array(some, dtype=dtype)))
        except Exception as error:
            output = Raised(type(error).__name__)
        law[output] = law.get(output, 0.0) + math.prod(values[one] for one in some)
    return law


def name_of(output: Any) -> Any:
    """NumPy's own exceptions by their last name."""
    return Raised(output.exception.rpartition(".")[2]) if isinstance(output, Raised) else output


def answer_of(program: Any) -> dict[Any, float] | str:
    """The law, or a refusal in words."""
    mechanism = lt.mechanism(lambda data, rng: program(data, rng), max_leaves=5000)
    try:
        return dict(lt.output_law(mechanism, DATA))
    except (lt.errors.UnsupportedRandomnessError, lt.errors.BudgetError) as refused:
        return str(refused)


def check(kind: str, line: str) -> None:
    """A line is followed, rightly, or refused with its text."""
    draw, dtype, values = DRAWS[kind]
    program = program_of(draw, line)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = answer_of(program)
        if isinstance(answer, str):
            assert "<array rules" in answer, f"the line is not named: {answer}"
            return
        if "rng." in line:
            return
        wanted = true_law(program, dtype, values)
    law = {name_of(output): p for output, p in answer.items()}
    assert law == pytest.approx(wanted, abs=1e-9)


def check_all(kinds: list[str], line: str) -> None:
    wrong = {}
    for kind in kinds:
        try:
            check(kind, line)
        except (AssertionError, lt.errors.LiptestError) as error:
            wrong[kind] = f"{type(error).__name__}: {str(error)[:400]}"
    assert not wrong


@pytest.mark.parametrize(("number", "line"), list(enumerate(LINES))[::12])
def test_a_line_has_its_own_law_or_is_refused(number: int, line: str) -> None:
    kinds = list(DRAWS)
    check_all([kinds[number % len(kinds)], kinds[(number // 2 + 3) % len(kinds)]], line)


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_a_line_has_its_own_law_or_is_refused_for_every_draw(line: str) -> None:
    check_all(list(DRAWS), line)
