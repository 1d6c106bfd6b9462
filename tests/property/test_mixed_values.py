"""Random numbers of two kinds meet: each order and spelling has the same law, the right one.

The oracle knows nothing of liptest: numbers with few values are put in one by one, and their laws
are added up; of others distribution functions are integrated by Gauss and Legendre.
"""

from __future__ import annotations

import itertools
import math
import operator
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.mechanisms.laws import Raised
from tests.shares import mostly_slow

DATA = np.array([0, 1])
#: Of a law with more leaves only a part is compared.
MOST_LEAVES = 400
Results = tuple[bool, ...]

# ---- distributions -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Distribution:
    """Values with their probabilities, or a continuous distribution function and its density."""

    atoms: tuple[tuple[float, float], ...] = ()
    below: Callable[[Any], Any] | None = None
    density: Callable[[Any], Any] | None = None

    def exceeds(self, bound: Any, *, or_equals: bool = False) -> Any:
        """The probability to be above (or at) each of some bounds."""
        if self.below is not None:
            return 1 - self.below(bound)
        hits = [(value >= bound if or_equals else value > bound) * p for value, p in self.atoms]
        return np.sum(hits, axis=0)


def uniform(low: float, high: float) -> Distribution:
    return Distribution(
        below=lambda x: np.clip((x - low) / (high - low), 0, 1),
        density=lambda x: ((x > low) & (x < high)) / (high - low),
    )


def laplace(scale: float, shift: float = 0.0) -> Distribution:
    def below(x: Any) -> Any:
        half = np.exp(-np.abs(x - shift) / scale) / 2
        return np.where(x < shift, half, 1 - half)

    return Distribution(
        below=below, density=lambda x: np.exp(-np.abs(x - shift) / scale) / (2 * scale)
    )


def normal() -> Distribution:
    erf = np.vectorize(math.erf)
    return Distribution(
        below=lambda x: (1 + erf(x / math.sqrt(2))) / 2,
        density=lambda x: np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
    )


def few(*values: float) -> Distribution:
    counts = Counter(values)
    return Distribution(tuple((value, counts[value] / len(values)) for value in counts))


def rounded_laplace() -> Distribution:
    below = laplace(1.0).below
    assert below is not None
    return Distribution(tuple((k, float(below(k + 0.5) - below(k - 0.5))) for k in range(-45, 46)))


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
# All kinks of the distributions here lie at quarters.
_STARTS = np.arange(-60, 60, 0.25)
_POINTS = (_STARTS[:, None] + (_NODES + 1) / 8).ravel()
_MASSES = np.tile(_WEIGHTS / 8, len(_STARTS))


def expected(first: Distribution, at: Callable[[Any], Any]) -> float:
    """The mean of a function."""
    if first.density is None:
        return float(sum(p * at(np.float64(value)) for value, p in first.atoms))
    return float(np.sum(_MASSES * first.density(_POINTS) * at(_POINTS)))


# ---- kinds ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """How a program draws it; ``real`` makes a value of the type that the program gets.

    ``few`` values are put in one by one.
    """

    draw: Callable[[Any], Any]
    law: Distribution
    real: Callable[[float], Any]
    few: bool = False


def _bits(g: Any, n: int) -> Any:
    return g.random(n) < 0.5


_SUM_OF_3 = few(0, 1, 1, 1, 2, 2, 2, 3)
_GEOMETRIC = Distribution(tuple((k, 0.5**k) for k in range(1, 60)))
SIMPLE: dict[str, Kind] = {
    "number": Kind(lambda g: 1.5, few(1.5), float, True),
    "whole number of the data": Kind(lambda g: DATA[0] + 1, few(1), np.int64, True),
    "uniform": Kind(lambda g: g.random(), uniform(0, 1), float),
    "uniform + 1": Kind(lambda g: g.random() + 1, uniform(1, 2), float),
    "laplace": Kind(lambda g: g.laplace(), laplace(1.0), float),
    "bit": Kind(lambda g: _bits(g, 2)[0] * 1, few(0, 1), np.int64, True),
    "sum of bits": Kind(lambda g: _bits(g, 3).sum(), _SUM_OF_3, np.int64, True),
    "geometric": Kind(lambda g: g.geometric(0.5), _GEOMETRIC, int),
    "rounded laplace": Kind(lambda g: np.round(g.laplace()), rounded_laplace(), float),
    "integers": Kind(lambda g: g.integers(0, 4), few(0, 1, 2, 3), np.int64, True),
    "uniform entry": Kind(lambda g: g.random(2)[1], uniform(0, 1), np.float64),
    "normal": Kind(lambda g: g.normal(), normal(), float),
}
SCALARS: dict[str, Kind] = {
    **SIMPLE,
    "1 - uniform": Kind(lambda g: 1 - g.random(), uniform(0, 1), float),
    "uniform / 2": Kind(lambda g: g.random() / 2, uniform(0, 0.5), float),
    "2 * entry": Kind(lambda g: 2 * g.random(3)[0], uniform(0, 2), np.float64),
    "uniform from 1 to 3": Kind(lambda g: g.uniform(1, 3), uniform(1, 3), float),
    "truth of a bit": Kind(lambda g: _bits(g, 2)[0], few(0, 1), np.bool_, True),
    "mean of bits": Kind(lambda g: _bits(g, 2).mean(), few(0.0, 0.5, 0.5, 1.0), np.float64, True),
    "laplace entry - 1": Kind(lambda g: g.laplace(size=2)[1] - 1, laplace(1.0, -1.0), np.float64),
    "-2 * laplace": Kind(lambda g: -2 * g.laplace(), laplace(2.0), float),
    "floor of laplace": Kind(lambda g: math.floor(g.laplace(0.5)), rounded_laplace(), int),
    "lazy truth": Kind(lambda g: (g.laplace(size=2) > 0)[0], few(0, 1), np.bool_, True),
    "count of lazy truths": Kind(
        lambda g: np.count_nonzero(g.laplace(size=2) > 0),
        few(0, 1, 1, 2),
        type(np.count_nonzero(np.zeros(1))),
        True,
    ),
}


def _array(dtype: Any) -> Callable[[float], Any]:
    return lambda value: np.array([value, value]).astype(dtype)


ARRAYS: dict[str, Kind] = {
    "numbers": Kind(lambda g: np.array([1.5, 0.5]), few(1.5), _array(float), True),
    "uniforms": Kind(lambda g: g.random(2), uniform(0, 1), _array(float)),
    "1 - uniforms": Kind(lambda g: 1 - g.random(2), uniform(0, 1), _array(float)),
    "uniforms / 2": Kind(lambda g: g.random(2) / 2, uniform(0, 0.5), _array(float)),
    "bits": Kind(lambda g: _bits(g, 2) * 1, few(0, 1), _array(np.int64), True),
    "truths of bits": Kind(lambda g: _bits(g, 2), few(0, 1), _array(bool), True),
    "laplaces": Kind(lambda g: g.laplace(size=2), laplace(1.0), _array(float)),
    "geometrics": Kind(lambda g: g.geometric(0.5, 2), _GEOMETRIC, _array(np.int64)),
    "rounded laplaces": Kind(
        lambda g: np.round(g.laplace(size=2)), rounded_laplace(), _array(float)
    ),
    "lazy truths": Kind(lambda g: g.laplace(size=2) > 0, few(0, 1), _array(bool), True),
}

# ---- operations ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Operation:
    """All spellings of one question of two numbers, and its probability where that is known."""

    spellings: tuple[Callable[[Any, Any], Any], ...]
    probability: Callable[[Distribution, Distribution], float] | None = None


def _comparison(
    plain: Any, mirrored: Any, ufunc: Any, reflected: Any, probability: Any
) -> Operation:
    return Operation(
        (
            plain,
            lambda a, b: mirrored(b, a),
            lambda a, b: ufunc(a, b),
            lambda a, b: reflected(b, a),
        ),
        probability,
    )


def _above(a: Distribution, b: Distribution) -> float:
    if a.density is None:
        return 1 - expected(a, lambda x: b.exceeds(x, or_equals=True))
    return expected(b, lambda x: a.exceeds(x))


def _at_least(a: Distribution, b: Distribution) -> float:
    if a.density is None:
        return 1 - expected(a, lambda x: b.exceeds(x))
    return expected(b, lambda x: a.exceeds(x, or_equals=True))


def _equal(a: Distribution, b: Distribution) -> float:
    return _at_least(a, b) - _above(a, b)


def _arithmetic(
    plain: Any, ufunc: Any, bound: float, probability: Any = None, *, commutes: bool = False
) -> Operation:
    def asked(function: Any) -> Callable[[Any, Any], Any]:
        return lambda a, b: function(a, b) > bound

    spellings = [asked(plain), asked(ufunc), lambda a, b: bound < plain(a, b)]
    if commutes:
        spellings += [lambda a, b: plain(b, a) > bound, lambda a, b: ufunc(b, a) > bound]
    return Operation(tuple(spellings), probability)


def _both_exceed(bound: float) -> Any:
    return lambda a, b: float(a.exceeds(np.float64(bound)) * b.exceeds(np.float64(bound)))


def _one_exceeds(bound: float) -> Any:
    def probability(a: Distribution, b: Distribution) -> float:
        below = [1 - one.exceeds(np.float64(bound)) for one in (a, b)]
        return float(1 - below[0] * below[1])

    return probability


OPERATIONS: dict[str, Operation] = {
    ">": _comparison(operator.gt, operator.lt, np.greater, np.less, _above),
    "<=": _comparison(
        operator.le, operator.ge, np.less_equal, np.greater_equal, lambda a, b: 1 - _above(a, b)
    ),
    ">=": _comparison(operator.ge, operator.le, np.greater_equal, np.less_equal, _at_least),
    "<": _comparison(
        operator.lt, operator.gt, np.less, np.greater, lambda a, b: 1 - _at_least(a, b)
    ),
    "==": _comparison(operator.eq, operator.eq, np.equal, np.equal, _equal),
    "!=": _comparison(
        operator.ne, operator.ne, np.not_equal, np.not_equal, lambda a, b: 1 - _equal(a, b)
    ),
    "+": _arithmetic(
        operator.add,
        np.add,
        1.25,
        lambda a, b: expected(a, lambda x: b.exceeds(1.25 - x)),
        commutes=True,
    ),
    "-": _arithmetic(
        operator.sub,
        np.subtract,
        0.25,
        lambda a, b: expected(b, lambda x: a.exceeds(0.25 + x)),
    ),
    "*": _arithmetic(operator.mul, np.multiply, 0.75, commutes=True),
    "/": _arithmetic(operator.truediv, np.divide, 0.75),
    "//": _arithmetic(operator.floordiv, np.floor_divide, 0.5),
    "%": _arithmetic(operator.mod, np.remainder, 0.25),
    "min": _arithmetic(np.minimum, np.fmin, 0.75, _both_exceed(0.75), commutes=True),
    "max": _arithmetic(np.maximum, np.fmax, 0.75, _one_exceeds(0.75), commutes=True),
}

# ---- laws ----------------------------------------------------------------------------------------


def _first(answer: Any) -> bool:
    """Of an array its first entry."""
    return bool(answer[0] if np.ndim(answer) else answer)


def law_of(program: Callable[[Any, Any], Any]) -> dict[Any, float] | str:
    """A law, or the words of a refusal; innocent code is never accused of anything else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return dict(lt.output_law(lt.mechanism(program, max_leaves=MOST_LEAVES), DATA))
        except (lt.errors.UnsupportedRandomnessError, lt.errors.BudgetError) as refused:
            return str(refused)


def agreed_law(left: Kind, right: Kind, operation: Operation) -> dict[Any, float] | str:
    """The law of all spellings at once; where one is refused, all must be, alone too."""
    orders = (operation.spellings, operation.spellings[::-1])
    laws: list[dict[Any, float] | str] = []
    for spellings in orders:

        def program(data: Any, rng: Any, spellings: Any = spellings) -> Results:
            a, b = left.draw(rng), right.draw(rng)
            return tuple(_first(ask(a, b)) for ask in spellings)

        laws.append(law_of(program))
    if any(isinstance(law, str) for law in laws):
        for ask in operation.spellings:

            def alone(data: Any, rng: Any, ask: Any = ask) -> bool:
                return _first(ask(left.draw(rng), right.draw(rng)))

            found = law_of(alone)
            assert isinstance(found, str), "one spelling is answered, another one is refused"
        return next(law for law in laws if isinstance(law, str))
    for law in laws:
        assert isinstance(law, dict)
        assert all(isinstance(one, Raised) or len(set(one)) == 1 for one in law), law
    first, second = ({_answer(one): p for one, p in law.items()} for law in laws)  # type: ignore[union-attr]
    if min(sum(first.values()), sum(second.values())) > 1 - 1e-9:
        assert first == pytest.approx(second, abs=1e-9)
    return first


def _answer(output: Any) -> Any:
    return output if isinstance(output, Raised) else output[0]


def one_by_one(left: Kind, right: Kind, operation: Operation) -> dict[Any, float]:
    """The law where both have few values: NumPy's answers, added up."""
    law: dict[Any, float] = {}
    for (a, p), (b, q) in itertools.product(left.law.atoms, right.law.atoms):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                answer: Any = _first(operation.spellings[0](left.real(a), right.real(b)))
            except Exception as error:
                kind = type(error)
                module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
                answer = Raised(f"{module}{kind.__qualname__}")
        law[answer] = law.get(answer, 0.0) + p * q
    return law


def check(left: Kind, right: Kind, operation: Operation) -> bool:
    """Whether it is answered, and then rightly."""
    law = agreed_law(left, right, operation)
    if isinstance(law, str):
        assert "test_mixed_values.py" in law or "budget" in law.lower(), law
        return False
    if left.few and right.few:
        wanted = one_by_one(left, right, operation)
        assert set(map(str, law)) == set(map(str, wanted))
        assert {str(k): p for k, p in law.items()} == pytest.approx(
            {str(k): p for k, p in wanted.items()}, abs=1e-9
        )
    elif operation.probability is not None and not any(isinstance(o, Raised) for o in law):
        wanted_p = operation.probability(left.law, right.law)
        unexplored = 1 - sum(law.values())
        assert law.get(True, 0.0) == pytest.approx(wanted_p, abs=1e-8 + unexplored)
    return True


SIMPLE_PAIRS = list(itertools.product(SIMPLE, SIMPLE))
ALL = {**SCALARS, **ARRAYS}
# Sums of continuous and unbounded discrete noise have no exact law here.
_CONTINUOUS = ("uniform", "uniform + 1", "uniform entry", "laplace", "normal")


@pytest.mark.slow
@pytest.mark.parametrize("name", [">", "+"])
def test_simple_kinds_meet_in_both_orders(name: str) -> None:
    some = SIMPLE_PAIRS[list(OPERATIONS).index(name) % 13 :: 13]
    refused = [(a, b) for a, b in some if not check(SIMPLE[a], SIMPLE[b], OPERATIONS[name])]
    pairs = [(one, "geometric") for one in _CONTINUOUS]
    allowed = {*pairs, *((b, a) for a, b in pairs)}
    assert set(refused) <= allowed, sorted(set(refused) - allowed)


# Two of them take seconds each: the slow tests have some.
_LONG = {"geometrics", "laplaces", "rounded laplaces", "floor of laplace", "rounded laplace"}
_LONG |= {"truths of bits", "sum of bits", "mean of bits"}


def _some(step: int) -> list[tuple[str, str, str]]:
    every = list(itertools.product(ALL, ALL, OPERATIONS))
    return [one for one in every[::step] if not set(one[:2]) <= _LONG]


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b", "name"), _some(3989))
def test_some_kinds_meet(a: str, b: str, name: str) -> None:
    check(ALL[a], ALL[b], OPERATIONS[name])


@pytest.mark.slow
@pytest.mark.parametrize("a", ALL)
@pytest.mark.parametrize("name", OPERATIONS)
def test_all_kinds_meet_in_both_orders(a: str, name: str) -> None:
    """Each kind and operation with one other kind or none: a quarter of them, spread evenly.

    Two that have long laws are left to the tests of each.
    """
    wrong = {}
    every = 4 * len(ALL)
    first = (5 * list(ALL).index(a) + 7 * list(OPERATIONS).index(name)) % every
    for b in list(ALL)[first::every]:
        if {a, b} <= _LONG:
            continue
        try:
            check(ALL[a], ALL[b], OPERATIONS[name])
        except (AssertionError, lt.errors.LiptestError) as error:
            wrong[b] = f"{type(error).__name__}: {str(error)[:300]}"
    assert not wrong


# ---- what is derived from a number shares it

#: Numbers made of a uniform one, u, and whether they rise with it.
DERIVED: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "1 - u": (lambda u: 1 - u, False),
    "-u": (lambda u: -u, False),
    "u / 2": (lambda u: u / 2, True),
    "2 * u": (lambda u: 2 * u, True),
    "u + 1": (lambda u: u + 1, True),
    "3 - 2 * u": (lambda u: 3 - 2 * u, False),
    "(1 - u) / 2": (lambda u: (1 - u) / 2, False),
    "negative": (np.negative, False),
    "add": (lambda u: np.add(u, 1), True),
}


@pytest.mark.parametrize("drawn", ["number", "entry", "array"])
@pytest.mark.parametrize("first", ["u meets noise", "v meets noise"])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("name", mostly_slow(DERIVED, 3))
def test_derived_numbers_share_their_base(drawn: str, first: str, late: bool, name: str) -> None:
    derive, rising = DERIVED[name]
    bound = derive(0.25)

    def program(data: Any, g: Any) -> Any:
        if drawn == "array":
            x = g.random(2)
            u = x[1]
            v = None if late else derive(x)[1]
        else:
            u = g.random() if drawn == "number" else g.random(2)[0]
            v = None if late else derive(u)
        w = v if first == "v meets noise" and v is not None else u
        met = bool(w + g.laplace() > 0.5)
        if v is None:
            v = derive(u)
        return met, bool(u > 0.25), bool(v > bound if rising else v < bound)

    law = law_of(program)
    if isinstance(law, str):
        assert "test_mixed_values.py" in law
        return
    assert all(one[1] == one[2] for one in law), law
    assert sum(p for one, p in law.items() if one[1]) == pytest.approx(0.75, abs=1e-9)


def test_a_number_and_what_is_left_of_one_are_not_independent() -> None:
    def answer(data: Any, rng: Any) -> tuple[int, int]:
        u = rng.random()
        v = 1 - u
        slot = int(u + rng.laplace(0, 1.0) > 0.5)
        flip = not (u > 0.3 or v > 0.3)
        return slot, int(data[0]) ^ int(flip)

    law = law_of(answer)
    if not isinstance(law, str):
        assert {one[1] for one in law} == {int(DATA[0])}


@pytest.mark.parametrize(
    ("program", "probability"),
    [
        (lambda d, g: bool(g.random() > _bits(g, 2)[0] * 1), 0.5),
        (lambda d, g: bool(_bits(g, 2)[0] * 1 < g.random()), 0.5),
        (lambda d, g: bool(g.random() > _bits(g, 3).sum()), 0.125),
        (lambda d, g: bool(g.random() + 1 > g.laplace()), 0.8837279210),
        (lambda d, g: bool(g.random() + (g.random() + 1) > 1), 1.0),
        (lambda d, g: bool(2 * g.random() > g.random()), 0.75),
    ],
)
def test_innocent_code_is_not_accused(program: Any, probability: float) -> None:
    law = law_of(program)
    assert isinstance(law, dict), law
    assert law.get(True, 0.0) == pytest.approx(probability, abs=1e-9)
