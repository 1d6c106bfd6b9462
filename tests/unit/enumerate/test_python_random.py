"""The module random: laws of CPython's own algorithms, given uniform bits."""

from __future__ import annotations

import math
import random
import secrets
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import BudgetError, UnsupportedRandomnessError
from liptest.mechanisms.laws import Raised
from liptest.values.draws.grid import GRID
from tests.unit.enumerate.bits import on_grid

Function = Callable[[Any], Any]


def law(function: Callable[[], Any]) -> dict[Any, Fraction]:
    found = lt.output_law(lt.mechanism(lambda data: function()), np.array([0]))
    return dict(zip(found.outputs, found.fractions or (), strict=True))


def uniform_over(outputs: Any) -> dict[Any, Fraction]:
    counted = Counter(outputs)
    return {output: Fraction(n, counted.total()) for output, n in counted.items()}


def shuffled() -> tuple[int, ...]:
    items = [1, 2, 3]
    random.shuffle(items)
    return tuple(items)


UNIFORM: list[tuple[Callable[[], Any], Any]] = [
    (lambda: random.randrange(5), range(5)),
    (lambda: random.randrange(3, 11, 4), (3, 7)),
    (lambda: random.randint(-1, 1), (-1, 0, 1)),
    (lambda: random.choice("abc"), "abc"),
    (lambda: random.getrandbits(2), range(4)),
    (lambda: random.getrandbits(0), [0]),
    (lambda: random.randbytes(1), [bytes([i]) for i in range(256)]),
    (shuffled, permutations((1, 2, 3))),
    (lambda: tuple(random.sample(range(4), 2)), permutations(range(4), 2)),
    (lambda: tuple(random.sample("ab", k=3, counts=[2, 1])), permutations("aab")),
    (lambda: frozenset(random.sample(range(30), 2)), map(frozenset, combinations(range(30), 2))),
    (lambda: secrets.randbelow(3), range(3)),
    (lambda: secrets.choice([1, 2]), (1, 2)),
    (lambda: secrets.randbits(1), (0, 1)),
    (lambda: secrets.token_bytes(1), [bytes([i]) for i in range(256)]),
    (lambda: secrets.token_hex(1), [f"{i:02x}" for i in range(256)]),
    (lambda: tuple(random.SystemRandom().sample((1, 2, 3), 3)), permutations((1, 2, 3))),
    (lambda: (random.randrange(2), random.Random().randrange(2)), product((0, 1), repeat=2)),
]


@pytest.mark.parametrize(("function", "outputs"), UNIFORM)
def test_uniform_draws(function: Callable[[], Any], outputs: Any) -> None:
    assert law(function) == uniform_over(outputs)


class AtPoint(random.Random):
    """CPython's algorithms at a chosen point of the grid."""

    def __init__(self, point: int) -> None:
        super().__init__(0)
        self.point = point

    def random(self) -> float:
        return self.point * 2.0**-53


GRIDDED: dict[str, Callable[[Any], Any]] = {
    "choices": lambda r: r.choices("abc")[0],
    "choices by weight": lambda r: r.choices("abc", weights=[0.2, 0.0, 1.3])[0],
    "choices by cumulated weight": lambda r: r.choices("abc", cum_weights=[1, 2, 7])[0],
    "uniform": lambda r: math.floor(r.uniform(-0.3, 1.9) * 3),
    "triangular": lambda r: math.floor(r.triangular(0, 1, 0.3) * 4),
    "expovariate": lambda r: math.floor(r.expovariate(1.7)),
    "paretovariate": lambda r: bool(r.paretovariate(2.5) < 2),
    "weibullvariate": lambda r: math.floor(r.weibullvariate(1.5, 2)),
}


@pytest.mark.parametrize("name", GRIDDED)
def test_draws_from_one_float_are_cut_where_cpython_cuts(name: str) -> None:
    function = GRIDDED[name]
    found = on_grid(lambda data: function(random))
    assert sum(found.values()) == 1
    rising = sorted(found)
    if function(AtPoint(0)) == rising[-1] != rising[0]:
        rising.reverse()
    cut = 0
    for value in rising:
        start, cut = cut, cut + int(found[value] * GRID)
        assert function(AtPoint(start)) == function(AtPoint(cut - 1)) == value


@pytest.mark.skipif(not hasattr(random, "binomialvariate"), reason="new in Python 3.12")
def test_binomialvariate_is_cpythons_algorithm() -> None:
    found = law(lambda: getattr(random, "binomialvariate")(2, 0.3))  # noqa: B009
    # It takes log2(random()), which raises where random() is 0.
    assert found.pop(Raised("ValueError"), Fraction(0)) <= Fraction(4, GRID)
    ideal = {0: 0.49, 1: 0.42, 2: 0.09}
    assert {k: float(p) for k, p in found.items()} == pytest.approx(ideal, rel=1e-12)


@pytest.mark.slow
def test_a_sample_of_many_needs_no_redraws() -> None:
    # CPython draws again what was drawn before: a tree without an end, but for that.
    found = lt.output_law(
        lt.mechanism(lambda data: tuple(random.sample(range(30), 3))), np.array([0])
    )
    assert found.unexplored == 0
    assert set(found.fractions or ()) == {Fraction(1, 30 * 29 * 28)}


def test_a_subclass_that_draws_itself_is_left_alone() -> None:
    assert law(lambda: AtPoint(GRID // 4).random()) == {0.25: 1}


@pytest.mark.parametrize(
    "function",
    [
        lambda: random.choice([]),
        lambda: random.randrange(0),
        lambda: random.randint(2, 1),
        lambda: random.sample([1], 2),
        lambda: random.getrandbits(-1),
        lambda: random.getrandbits(1.5),  # type: ignore[arg-type]
        lambda: random.choices([]),
        lambda: secrets.randbelow(0),
        lambda: random.SystemRandom().getstate(),
        lambda: random.SystemRandom().setstate(1),  # type: ignore[arg-type]
        lambda: random.seed([1]),  # type: ignore[arg-type]
        lambda: random.setstate((1, 2, 3)),
    ],
)
def test_wrong_arguments_raise_what_cpython_raises(function: Callable[[], Any]) -> None:
    state = random.getstate()
    with pytest.raises(Exception) as caught:
        function()
    random.setstate(state)
    assert law(function) == {Raised(type(caught.value).__qualname__): 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["lognormvariate", "betavariate", "gammavariate", "vonmisesvariate"]
)
def test_draws_without_a_law_here_abort(name: str) -> None:
    with pytest.raises(UnsupportedRandomnessError, match=rf"random\.{name} cannot be enumerated"):
        law(lambda: getattr(random, name)(1, 2))
    with pytest.raises(UnsupportedRandomnessError, match=rf"random\.{name} cannot be enumerated"):
        law(lambda: getattr(random.SystemRandom(), name)(1, 2))


def test_states_are_not_looked_at() -> None:
    with pytest.raises(UnsupportedRandomnessError, match="getstate"):
        law(lambda: str(random.getstate()))


def test_a_state_that_is_put_back_is_followed() -> None:
    state = random.Random(5).getstate()

    def function() -> Any:
        random.setstate(state)
        return random.random(), random.getstate() != state

    assert law(function) == {(random.Random(5).random(), True): 1}


@pytest.mark.slow
def test_too_many_bits_as_a_number_are_over_budget() -> None:
    with pytest.raises(BudgetError, match=r"outcomes|values"):
        law(lambda: [0][random.getrandbits(64)])
