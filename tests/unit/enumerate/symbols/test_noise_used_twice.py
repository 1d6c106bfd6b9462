"""Prices of random programs that use one noise in several places, against their matrices.

Counts and noise are reversed, shared, summed up and written to views, so that one noise is in
several outputs and several are in one. All of it is linear: with a stand-in for the generator that
draws one noise as 1 and all others as 0, the unmodified program tells what each noise adds to each
output. The least shift of the noise that makes up for a change of the data is then known without
what is tested, also where noise cancels and no shift does (docs/theory/size.md, S2 and S3).
Nothing is compared with plain data meanwhile, so what is followed wrongly is seen here.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import liptest as lt
from liptest.enumerate.symbols import symbolic_data
from liptest.privacy.proofs.prices import align
from tests.unit.written_programs import program

Numbers = NDArray[np.float64]
VALUES, PROGRAMS = 3, 14
SMALL = lt.RecordGrid([VALUES] * 2)
DRAWS = (
    "rng.laplace(0, S, size=3)",
    "np.array([rng.laplace(0, S) for _ in range(3)])",
    "rng.laplace(0, [1.0, S, 2.0])",
    "rng.laplace(0, S, size=(2, 3))[1]",
)
ANSWERS = (
    "np.bincount(data, minlength=3)",
    "np.array([(data > 0).sum(), (data == 1).sum(), (data == 2).sum()])",
    "np.array([(data == 1).sum(), 0, (data == 2).sum()])",
    "np.array([data.sum(), (data == 0).sum(), 7])",
    "np.array([(data == 1).sum()] * 3)",
)
#: Arrays of what an array X of three numbers holds.
ARRAYS = (
    *("X[::-1]", "X[[0, 0, 2]]", "np.roll(X, 1)", "np.cumsum(X)", "(X - X.mean())", "(X - X[0])"),
    *("np.repeat(X[:1], 3)", "np.full(3, X[0])", "(X + X[::-1])", "(X.sum() - X)", "X.copy()"),
    *("(X - X[::-1])", "np.where([True, False, True], X, -X)", "np.array(list(X)[::-1])"),
    *("np.stack([X, X]).sum(axis=0)", "np.array([X, X[::-1]]).T[:, 1]", "(3 * X - 2 * X[::-1])"),
    *("np.diff(np.concatenate([[0.0], X]))", "(X @ np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1]]))"),
    *("np.array([X[i - 1] for i in range(3)])", "np.take(X, [2, 1, 0])", "(X + X[1] - X[1])"),
    *("np.array([u + v for u, v in zip(X, X[1:])] + [X[0]])", "np.insert(X[1:], 1, X[0])"),
)
#: Lines that make such an array Y.
LINES = (
    "z = np.zeros(3)\nz += X\nz[0] = X[1]\nY = z",
    "z = X + 0.0\nv = z[1:]\nv += X[0]\nY = z",
    "z = X + 0.0\nw = z\nw[2] -= w[0]\nY = z",
    "z = X + 0.0\nz[:2] = z[1:]\nY = z",
    "z = X + 0.0\nz[1:] += z[:-1]\nY = z",
    "z = X + 0.0\nz[0], z[1] = z[1], z[0]\nY = z",
    "z = X + 0.0\nz[[0, 1]] = z[[1, 0]]\nY = z",
    "z = X + 0.0\nfor i in range(1, 3):\n    z[i] += z[i - 1]\nY = z",
    "z = list(X)\nz.reverse()\nz[0] = z[1]\nY = np.array(z)",
    "z = X.tolist()\nz.append(z.pop(0))\nY = np.array(z)",
    "z, t = [], 0.0\nfor u in X:\n    z.append(t)\n    t = u\nY = np.array(z)",
    "a, b, c = X\na += b\nb += a\nY = np.array([a, b, c])",
    "m = {}\nfor i, u in enumerate(X):\n    m[i // 2] = u\nY = np.array([m[0], m[1], m[0]])",
    "q = lambda i, u=X: u[2 - i]\nY = np.array([q(0), q(1), q(1)])",
    "it = iter(X)\np = next(it)\nY = np.array([next(it), p, next(it)])",
)
ENDS = (
    "return Y.tolist()",
    "return float(Y[0]), float(Y[1])",
    "return Y.tolist(), float(x[1])",
    "return float(Y[0] - y[1]), float(Y[2])",
    "return {'a': float(Y[0]), 'b': (2 * h + x[::-1]).tolist()}",
)


class Probe:
    """A generator that draws 1 where it is asked, and 0 elsewhere; it keeps the scales."""

    def __init__(self, place: int = -1) -> None:
        self.place = place
        self.scales: list[float] = []

    def laplace(self, loc: float, scale: Any, size: Any = None) -> Any:
        scales = np.broadcast_to(np.asarray(scale, float), size or np.shape(scale))
        first = len(self.scales)
        self.scales.extend(scales.ravel().tolist())
        drawn = (np.arange(first, first + scales.size) == self.place).astype(float)
        return drawn.reshape(scales.shape) if scales.shape else float(drawn[0])


def write(rng: random.Random) -> str:
    """The text of a program."""
    lines, count = [f"x = {rng.choice(DRAWS)}".replace("S", rng.choice(["1.0", "4.0"]))], 0
    lines.append(f"h = {rng.choice(ANSWERS)}")

    def go_on(name: str) -> str:
        nonlocal count
        for _ in range(rng.choice([0, 1, 1, 2])):
            count += 1
            form = rng.choice([f"Y = {rng.choice(ARRAYS)}", rng.choice(LINES)])
            lines.append(form.replace("X", name).replace("Y", f"u{count}"))
            name = f"u{count}"
        return name

    lines.append(f"y = h + {go_on('x')}")
    lines.append(rng.choice(ENDS).replace("Y", go_on("y")))
    return "\n".join(lines)


def flatten(output: Any) -> Numbers:
    """All numbers of an output, in their order."""

    def walk(part: Any) -> Iterator[float]:
        if isinstance(part, dict):
            part = list(part.values())
        if not isinstance(part, (list, tuple)):
            yield float(part)
            return
        for one in part:
            yield from walk(one)

    return np.array(list(walk(output)))


def least_price(function: Any) -> float:
    """The least cost of shifts of the noise that undo the dearest change of one record."""
    told = {
        point: flatten(function(np.array(point), Probe()))
        for point in itertools.product(range(VALUES), repeat=2)
    }
    start, probe = told[0, 0], Probe()
    function(np.array([0, 0]), probe)
    added = [
        flatten(function(np.zeros(2, int), Probe(j))) - start for j in range(len(probe.scales))
    ]
    changes = {
        tuple(after - before)
        for (point, before), (other, after) in itertools.product(told.items(), repeat=2)
        if np.count_nonzero(np.array(point) != other) == 1
    }
    matrix, scales = np.array(added).T, np.array(probe.scales)
    return max(_cost(matrix, np.array(change), scales) for change in changes)


def _cost(matrix: Numbers, change: Numbers, scales: Numbers) -> float:
    """Some optimum of the linear program is at a corner: it moves independent columns only."""
    rank = int(np.linalg.matrix_rank(matrix))
    least = math.inf if change.any() else 0.0
    for columns in map(list, itertools.combinations(np.flatnonzero(matrix.any(axis=0)), rank)):
        shifts = np.linalg.lstsq(matrix[:, columns], change)[0]
        if np.allclose(matrix[:, columns] @ shifts, change, atol=1e-9):
            least = min(least, float((np.abs(shifts) / scales[columns]).sum()))
    return least


def check(analysed: str, written: str) -> bool:
    """Whether a price was found; it is never below the least one."""
    alignment = align(lt.mechanism(program(analysed)), SMALL)
    assert alignment.epsilon >= least_price(program(written)) - 1e-6, written
    return alignment.price is not None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_one_noise_in_several_places(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbolic_data, "check_points", lambda *given: None)
    rng = random.Random(seed)
    texts = [write(rng) for _ in range(PROGRAMS)]
    assert sum(check(text, text) for text in texts) >= PROGRAMS // 2


@pytest.mark.parametrize(
    ("used", "anew"),
    [
        ("return (h + x[0]).tolist()", "return [n + rng.laplace(0, 2.0) for n in h.tolist()]"),
        ("return (h + x - x[::-1]).tolist()", "return (h + x).tolist()"),
        ("return float(h[1] + x[1]), float(x[1])", "return float(h[1] + x[1]), float(x[0])"),
    ],
)
def test_noise_that_is_taken_for_another_is_seen(used: str, anew: str) -> None:
    """A planted fault: another program is analysed, which draws noise anew for each use."""
    first = "x = rng.laplace(0, 2.0, size=3)\nh = np.bincount(data, minlength=3)\n"
    with pytest.raises(AssertionError, match="return"):
        check(first + anew, first + used)
