"""Random programs, analysed without repeating a leaf, against runs of the very code.

The repetition of leaves with real random numbers finds most faults of the analysis before a verdict
is given. Here it is switched off, so that a fault is a wrong law, not a refusal: the law of each
program is compared with all outcomes of its draws, where these are finite, or with many runs with a
real generator. ``python -m tests.property.random_programs --count 3000`` prints for each kind how
many laws agree, how many are open (they agree, but more than half of the law was not walked), how
many programs are refused, and how many laws are wrong (none may be).

A kind is a way to draw and to answer; ``KINDS[name] = Kind(..)`` adds one.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import linecache
import math
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np

import liptest as lt
from liptest.enumerate.trees import enumeration
from liptest.enumerate.trees.outputs import canonical_output, make_raised
from liptest.errors import LiptestError
from liptest.mechanisms.laws import Output, OutputLaw

DATA = np.array([1, 0, 1])
# Runs that are compared at first, and where they are far from the law.
FEW, MANY = 300, 20_000
# Runs times relative entropy bounds minus the logarithm of a tail (Chernoff): where one of the
# frequencies of a program is less likely than e^-30 its law is wrong.
SUSPECT, WRONG = 7.0, 30.0
# No seconds: what comes of a program is the same on a slow machine.
BUDGETS: dict[str, Any] = {"max_choices": 200, "max_seconds": 1e6}


@dataclass(frozen=True)
class Kind:
    """Arrays and numbers that a program draws, as expressions; whether brute force knows all.

    ``leaves`` bounds the walk: rounded noise that is looked at has endlessly many.
    """

    arrays: tuple[str, ...]
    numbers: tuple[str, ...]
    is_finite: bool = False
    leaves: int = 2000


KINDS: dict[str, Kind] = {
    "coins": Kind(
        ("rng.integers(0, 2, 3)", "rng.integers(1, 3, 3)", "data ^ rng.integers(0, 2, 3)"),
        ("rng.integers(0, 2)", "rng.integers(3)", "int(rng.integers(0, 2))"),
        is_finite=True,
    ),
    "bits": Kind(
        (
            *("rng.random(3) < 0.25", "(rng.random(3) < 0.5).astype(int)", "rng.integers(0, 2, 3)"),
            *(
                "data ^ (rng.random(3) < 0.25)",
                "rng.binomial(1, 0.3, 3)",
                "rng.random((1, 3))[0] > 0.4",
            ),
            *("np.array([rng.random() < 0.5 for _ in range(3)])", "rng.random(3) >= data / 3"),
        ),
        (
            "rng.random() < 0.3",
            "int(rng.random() < 0.5)",
            "rng.integers(0, 2)",
            "rng.binomial(2, 0.5)",
        ),
    ),
    "floats": Kind(
        (
            *(
                "rng.random(3)",
                "rng.uniform(-1, 2, 3)",
                "data + rng.random(3)",
                "rng.random(3) * 4",
            ),
            *("rng.random((3, 1)).ravel()", "1 - rng.random(3)", "np.array([rng.random()] * 3)"),
        ),
        (
            "rng.random()",
            "rng.uniform(0, 3)",
            "2 * rng.random() - 1",
            "float(data[0]) + rng.random()",
        ),
    ),
    "noise": Kind(
        (
            *("rng.laplace(0, 1, 3)", "data + rng.normal(size=3)", "rng.exponential(1.0, 3)"),
            *(
                "rng.geometric(0.5, 3)",
                "data + rng.gumbel(0, 1, 3)",
                "np.round(rng.laplace(0, 1, 3))",
            ),
        ),
        (
            *("rng.laplace(0, 1)", "rng.normal(1, 2)", "rng.exponential()", "rng.geometric(0.5)"),
            *("data.sum() + rng.laplace(0, 2)", "np.round(rng.normal())", "rng.logistic()"),
        ),
        leaves=300,
    ),
    "arrays": Kind(
        (
            *(
                "rng.random(3) < 0.5",
                "rng.random(3)",
                "rng.laplace(0, 1, 3)",
                "rng.integers(0, 3, 3)",
            ),
            *("np.zeros(3)", "data.copy()", "rng.permutation(3)", "rng.geometric(0.5, 3)"),
            *(
                "np.array([rng.random(), 0.5, 1])",
                "rng.choice([0.5, 2], 3)",
                "np.ones(3, dtype=int)",
            ),
        ),
        ("rng.random()", "rng.laplace()", "rng.integers(0, 3)", "rng.random() < 0.5", "0.5"),
        leaves=500,
    ),
    # Exponential mechanism, permute and flip, report noisy max, and draws by cumulated weights.
    "selections": Kind(
        (
            *("rng.choice(3, 3, p=np.exp(data) / np.exp(data).sum())", "rng.permutation(data)"),
            *("rng.choice([0.5, 2.0], 3, p=[0.25, 0.75])", "rng.permutation(3)"),
            *("data + rng.gumbel(size=3) > 0.5", "rng.choice(3, 3, replace=False)"),
        ),
        (
            "rng.choice(3, p=np.exp(data / 2) / np.exp(data / 2).sum())",
            "next(k for k in rng.permutation(3) if rng.random() < math.exp(data[k] - 1))",
            "max(range(3), key=lambda k: data[k] + rng.gumbel())",
            "np.argmax(data + rng.exponential(1.0, 3))",
            "np.searchsorted(np.cumsum([0.2, 0.3, 0.5]), rng.random())",
            "int(rng.random() < math.exp(-0.5 * data.sum()))",
            "next((k for k in range(20) if rng.random() < 0.6), 20)",
            "np.argmin(rng.exponential(1 / (1 + data)))",
            "rng.multinomial(3, [0.5, 0.5])[0]",
        ),
        leaves=500,
    ),
}

# {a} and {b} are arrays, {x} and {y} numbers, {c} a constant, {n} a new name.
ARRAY_LINES = """
{n} = {a} + {b}
{n} = {a} - {b}
{n} = {a} * {c}
{n} = {a} * {b}
{n} = {c} - {a}
{n} = {a} / 2
{n} = {a} // 1
{n} = {a} % 2
{n} = -{a}
{n} = abs({a})
{n} = {a}[::-1]
{n} = {a}[[2, 0, 1]]
{n} = {a}[{a} > {c}]
{n} = {a}[data > 0]
{n} = np.append({a}[1:], {b}[:1])
{n} = np.concatenate([{a}, {b}])[1:4]
{n} = np.where({a} > {b}, {a}, {b})
{n} = np.where(data > 0, {a}, {b})
{n} = np.where({a} > {c}, {x}, 0)
{n} = np.maximum({a}, {b})
{n} = np.minimum({a}, {c})
{n} = np.clip({a}, 0, 1)
{n} = np.round({a})
{n} = np.floor({a})
{n} = np.sort({a})
{n} = np.cumsum({a})
{n} = np.diff({a})
{n} = np.stack([{a}, {b}]).sum(axis=0)
{n} = np.array([{x}, {y}, {c}])
{n} = {a}.reshape(1, 3)[0]
{n} = {a}.copy()
{n} = np.array({a}, dtype=float)
{n} = {a} + {x}
{n} = {a} > {b}
{n} = {a} < {c}
{n} = {a} >= {x}
{n} = ({a} > {c}) & ({b} > {c})
{n} = ({a} > {c}) | ({b} <= {c})
{n} = ~({a} > {c})
{n} = ({a} > {b}) ^ ({b} > {c})
{n} = np.sign({a})
{n} = np.argsort({a})
{n} = sorted({a})
{n} = [one + 1 for one in {a}]
{n} = {a} == {b}
{n} = np.repeat({a}[:1], 3)
{n} = np.abs({a} - {b})
{n} = np.tile({x}, 3)
{n} = {a}.astype(int)
{n} = np.roll({a}, 1)
""".strip().splitlines()
CHANGES = """
{a}[0] = {x}
{a}[0] = {b}[1]
{a}[0], {a}[1] = {a}[1], {a}[0]
{a}[1:] = {b}[:-1]
{a}[{a} > {c}] = 0
{a}[data > 0] = {c}
{a} += 1
{a} += {b}
{a} -= {x}
{a} *= 2
{a}.sort()
{a}[::-1][0] = {x}
{a}[:2][0] = {c}
np.clip({a}, 0, 1, out={a})
{a}[np.argmax({a})] = 0
{a}.fill({c})
np.add({a}, 1, out={a})
np.copyto({a}, {b})
""".strip().splitlines()
NUMBER_LINES = """
{n} = {x} + {y}
{n} = {x} - {y}
{n} = {c} * {x}
{n} = {x} * {y}
{n} = {x} / 2
{n} = {x} // 1
{n} = abs({x})
{n} = max({x}, {y})
{n} = min({x}, {c})
{n} = {a}.sum()
{n} = {a}.mean()
{n} = {a}.max()
{n} = {a}.min()
{n} = np.sum({a} > {c})
{n} = np.argmax({a})
{n} = np.argmin({a})
{n} = {a}[0]
{n} = {a}[-1]
{n} = {a}[{a} > {c}].sum()
{n} = ({a} > {b}).any()
{n} = ({a} > {c}).all()
{n} = np.count_nonzero({a})
{n} = len({a})
{n} = {a} @ {b}
{n} = np.dot({a}, [1, 2, 3])
{n} = round({x})
{n} = int({x})
{n} = float({x})
{n} = bool({x} > {c})
{n} = np.median({a})
{n} = np.ptp({a})
{n} = sum({a})
{n} = {x} if {y} > {c} else {c}
{n} = {x} > {y}
{n} = {x} == {y}
{n} = not {x} > {c}
{n} = ({x} > {c}) + ({y} > {c})
{n} = np.floor({x})
{n} = math.floor({x})
{n} = sorted({a})[1]
{n} = max({a})
{n} = {x} % 2
{n} = {x} ** 2
""".strip().splitlines()
BLOCKS = """
if {x} > {c}: {n} = {y} @@ else: {n} = {c}
if {x} > {y}: {a} = {b}
if ({a} > {c}).any(): {n} = {x} @@ else: {n} = {y}
{n} = 0 @@ for one in {a}: @@     if one > {c}: {n} = {n} + 1; break
{n} = 0 @@ for one in {a}: {n} += one > {c}
try: {n} = {a}[int({x})] @@ except IndexError: {n} = {c}
while {x} > 4: {x} = {x} - 2
for place in range(len({a})): {a}[place] = {a}[place] + {c}
""".strip().splitlines()
ANSWERS = """
return tuple(np.asarray({a} > {c}).tolist())
return int(np.clip(np.round({x}), -2, 2))
return bool({x} > {c}), bool({y} > {x})
return int(np.argmax({a})), bool({x} > {y})
return int(({a} > {b}).sum())
return bool({a}.sum() > {c}), bool({x} >= {c})
return tuple(np.clip(np.round({a}), 0, 2).astype(int).tolist())
return [bool(one > {c}) for one in {b}], {x} > 1
return int(np.clip({a}.sum() // 1, -1, 3)), bool({b}[0] > {c})
return max(min(math.floor({x}), 2), -1), {a} is {b}
return str(np.clip(np.round({x}), -1, 1)), bool({y} > {c})
return [str(one) for one in np.clip(np.round({a}), 0, 1).tolist()]
return np.signbit(np.clip(np.ceil({a}), -1, 1)).tolist(), f"{{round({x}) + 0.0}}"
""".strip().splitlines()
CONSTANTS = ("0", "1", "0.5", "2", "0.25", "-1", "1.5")


def random_program(kind: Kind, seed: int) -> str:
    """The text of a program ``mech(data, rng)`` of a few lines."""
    rng = random.Random(seed)
    arrays, numbers = ["u", "v"], ["p", "q"]
    lines: list[str] = []
    lines += [f"{name} = {rng.choice(kind.arrays)}" for name in arrays]
    lines += [f"{name} = {rng.choice(kind.numbers)}" for name in numbers]
    for place in range(rng.randint(1, 5)):
        chosen = rng.choice((ARRAY_LINES, ARRAY_LINES, CHANGES, NUMBER_LINES, NUMBER_LINES, BLOCKS))
        name = f"w{place}"
        lines.extend(_filled(rng.choice(chosen), rng, arrays, numbers, name).split(" @@ "))
        if chosen is ARRAY_LINES:
            arrays.append(name)
        elif chosen is NUMBER_LINES or (chosen is BLOCKS and f"{name} =" in lines[-1]):
            numbers.append(name)
    lines.append(_filled(rng.choice(ANSWERS), rng, arrays, numbers, "_"))
    return "def mech(data, rng):\n" + "".join(f"    {line}\n" for line in lines)


def _filled(line: str, rng: random.Random, arrays: list[str], numbers: list[str], new: str) -> str:
    # What was made last is looked at most.
    def one(names: list[str]) -> str:
        return names[-1] if rng.random() < 0.4 else rng.choice(names)

    return line.format(
        a=one(arrays), b=one(arrays), x=one(numbers), y=one(numbers), c=rng.choice(CONSTANTS), n=new
    )


def function_of(text: str, label: str) -> Callable[[Any, Any], Any]:
    """The program as a function, with lines that errors can name."""
    name = f"<program {label}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    space: dict[str, Any] = {"np": np, "math": math, "__name__": "program"}
    exec(compile(text, name, "exec"), space)
    found: Callable[[Any, Any], Any] = space["mech"]
    return found


@contextmanager
def without_repetition() -> Iterator[None]:
    """No leaf is repeated meanwhile."""
    with mock.patch.object(enumeration, "repeat", return_value=0):
        yield


def outcome(function: Callable[[Any, Any], Any], rng: Any) -> Output:
    """What one real run answers, or raises."""
    data = np.frombuffer(DATA.astype(np.int64).tobytes(), dtype=np.int64)
    try:
        return canonical_output(function(data, rng), "program")
    except LiptestError:
        raise
    except Exception as error:
        return make_raised(error)


class _Digits:
    """A generator whose whole numbers are given; ``sizes`` notes how many values each may have."""

    def __init__(self, digits: tuple[int, ...]) -> None:
        self._digits = digits
        self.sizes: list[int] = []

    def integers(self, low: int, high: int | None = None, size: int | None = None) -> Any:
        low, high = (0, low) if high is None else (low, high)
        drawn = []
        for _ in range(1 if size is None else size):
            place = len(self.sizes)
            self.sizes.append(high - low)
            drawn.append(low + (self._digits[place] if place < len(self._digits) else 0))
        return np.int64(drawn[0]) if size is None else np.array(drawn, dtype=np.int64)


def all_outcomes(function: Callable[[Any, Any], Any]) -> dict[Output, Fraction]:
    """The law of a program that draws whole numbers only, by running it on all of them."""
    first = _Digits(())
    outcome(function, first)
    law: dict[Output, Fraction] = collections.defaultdict(Fraction)
    for digits in itertools.product(*map(range, first.sizes)):
        rng = _Digits(digits)
        output = outcome(function, rng)
        law[output] += Fraction(1, math.prod(rng.sizes))
    return dict(law)


def distance(law: OutputLaw, counts: collections.Counter[Output], runs: int) -> float:
    """Runs times the largest relative entropy of a frequency to what the law allows."""
    worst, known = 0.0, dict(law)
    for output in {*counts, *known}:
        low = known.get(output, 0.0)
        low, high = low - 1e-12, low + 1e-12 + float(law.unexplored)
        share = counts[output] / runs
        nearest = min(max(share, low), high)
        worst = max(worst, runs * _entropy(share, min(max(nearest, 0.0), 1.0)))
    return worst


def _entropy(share: float, p: float) -> float:
    def part(a: float, b: float) -> float:
        return 0.0 if a == 0.0 else math.inf if b <= 0.0 else a * math.log(a / b)

    return part(share, p) + part(1.0 - share, 1.0 - p)


@dataclass(frozen=True)
class Finding:
    """What came of one program: "agree", "open", "refused" or "wrong", with what is known."""

    word: str
    text: str
    detail: str = ""


def examined(kind: Kind, seed: int) -> Finding:
    """Compare the law of one random program with its runs."""
    text = random_program(kind, seed)
    function = function_of(text, str(seed))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            with without_repetition():
                law = lt.output_law(lt.mechanism(**BUDGETS, max_leaves=kind.leaves)(function), DATA)
        except LiptestError as error:
            return Finding("refused", text, str(error))
        except Exception as error:
            return Finding("wrong", text, f"liptest raised {error!r}")
        if kind.is_finite:
            return _against_all(function, text, law)
        return _against_runs(function, text, law, seed)


def _against_all(function: Callable[[Any, Any], Any], text: str, law: OutputLaw) -> Finding:
    expected, known = all_outcomes(function), dict(law)
    outputs = {*expected, *law.outputs}
    rest = float(law.unexplored) + 1e-12
    fine = all(-1e-12 <= float(expected.get(o, 0)) - known.get(o, 0.0) <= rest for o in outputs)
    return Finding("agree" if fine else "wrong", text, f"{dict(law)} for {expected}"[:400])


def _against_runs(
    function: Callable[[Any, Any], Any], text: str, law: OutputLaw, seed: int
) -> Finding:
    for runs, limit in ((FEW, SUSPECT), (MANY, WRONG)):
        rng = np.random.default_rng([seed, runs])
        counts = collections.Counter(outcome(function, rng) for _ in range(runs))
        if distance(law, counts, runs) <= limit:
            return Finding("open" if law.unexplored > 0.5 else "agree", text)
    said = {output: round(count / MANY, 4) for output, count in counts.most_common(6)}
    return Finding("wrong", text, f"{dict(law)} for {said}"[:600])


def tally(name: str, seeds: range) -> tuple[collections.Counter[str], list[Finding]]:
    """Examine programs of a kind: how many of each word, and what is wrong."""
    findings = [examined(KINDS[name], 1_000_003 * list(KINDS).index(name) + seed) for seed in seeds]
    wrong = [one for one in findings if one.word == "wrong"]
    return collections.Counter(one.word for one in findings), wrong


def main(arguments: list[str]) -> int:
    """Print the counts of each kind, and the programs whose law is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    asked = parser.parse_args(arguments)
    failures = 0
    for name in asked.kinds:
        words, wrong = tally(name, range(asked.first, asked.first + asked.count))
        failures += len(wrong)
        print(
            name,
            *(f"{word}: {words[word]:,}" for word in ("agree", "open", "refused", "wrong")),
            flush=True,
        )
        for one in wrong:
            print(one.text + one.detail + "\n", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
