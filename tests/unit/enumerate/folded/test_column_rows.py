"""Loops over symbolic data, and loops of coins: the same answers as NumPy's sums have."""

from __future__ import annotations

import collections
import itertools
import math
import operator
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.enumerate.folded.folding import fold_loops
from liptest.enumerate.folded.folds import Folds
from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.loops.coin_loops import probability_of_a_pass
from liptest.enumerate.samplers.restarts import RestartingTree
from liptest.enumerate.symbols.symbolic_paths import NoPaths, SymbolicPaths
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.symbolic.noise import Noise
from tests.unit.enumerate.fake_columns import made

COMPARISONS = {"Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge}
N, K = 40, 5
RATIO = math.exp(-1.0)


def paths(function: Any, domain: Any = None, way: str = "released") -> Any:
    """What is found of a function of 40 records with 5 values."""
    return lt.mechanism(function).align_paths(domain or lt.RecordGrid([K] * N), way=way)


def by_numpy(data: Any, rng: Any) -> Any:
    return float(((data - 1) ** 2 * (data > 1)).sum() + rng.laplace(0, 9.0))


def loop(data: Any, rng: Any) -> Any:
    total = 0
    for v in data:
        if v > 1:
            total += (int(v) - 1) ** 2
    return float(total + rng.laplace(0, 9.0))


def places(data: Any, rng: Any) -> Any:
    total = 0
    for i in range(len(data)):
        if data[i] > 1:
            d = data[i] - 1
            total = total + d * d
    return float(total + rng.laplace(0, 9.0))


def counting(data: Any, rng: Any) -> Any:
    i = total = 0
    while i < len(data):
        total += max(0, data[i] - 1) ** 2
        i += 1
    return float(total + rng.laplace(0, 9.0))


def generator(data: Any, rng: Any) -> Any:
    return float(sum((v - 1) ** 2 for v in data if v > 1) + rng.laplace(0, 9.0))


def comprehension(data: Any, rng: Any) -> Any:
    terms = [(v - 1) ** 2 for v in data.tolist() if v > 1]
    return float(np.sum(terms) + rng.laplace(0, 9.0))


def squares(records: Any) -> Any:
    found = [max(v - 1, 0) ** 2 for v in records]
    return sum(found)


def helper(data: Any, rng: Any) -> Any:
    add = squares
    return float(add(data) + rng.laplace(0, 9.0))


def inside(data: Any, rng: Any) -> Any:
    def add(records: Any) -> Any:
        total = 0
        for v in records:
            total += v * v if v > 0 else 0
        return total

    return float(add(data - 1) + rng.laplace(0, 9.0))


SAME = [loop, places, counting, generator, comprehension, helper, inside]


@pytest.mark.parametrize("function", SAME)
def test_a_loop_is_the_sum_that_it_adds_up(function: Any) -> None:
    found, expected = paths(function), paths(by_numpy)
    assert isinstance(found, SymbolicPaths)
    assert list(found.differences.moves()) == list(expected.differences.moves())
    (path,), (other,) = found.paths, expected.paths
    assert [one.terms for one in path.places] == [one.terms for one in other.places]


def cells_by_numpy(data: Any, rng: Any) -> Any:
    return (np.bincount(data, minlength=K) + rng.laplace(0, 2.0, size=K)).tolist()


def cells(data: Any, rng: Any) -> Any:
    counts = [0] * K
    for v in data:
        counts[v] += 1
    return [float(c + rng.laplace(0, 2.0)) for c in counts]


def cells_in_an_array(data: Any, rng: Any) -> Any:
    counts = np.zeros(K, dtype=int)
    for v in data:
        counts[v] += 1
    return (counts + rng.laplace(0, 2.0, size=K)).tolist()


def counter(data: Any, rng: Any) -> Any:
    counts = collections.Counter(data.tolist())
    return [float(counts[c] + rng.laplace(0, 2.0)) for c in range(K)]


def by_cell(data: Any, rng: Any) -> Any:
    return {c: len([v for v in data if v == c]) + rng.laplace(0, 2.0) for c in range(K)}


@pytest.mark.parametrize("function", [cells, cells_in_an_array, counter, by_cell])
def test_counts_of_cells(function: Any) -> None:
    found, expected = paths(function), paths(cells_by_numpy)
    assert isinstance(found, SymbolicPaths)
    assert len(found.paths) == 1
    moves = {tuple(sorted(one)) for one in found.differences.moves()}
    assert moves == {tuple(sorted(one)) for one in expected.differences.moves()}


def lists_told(data: Any, rng: Any) -> Any:
    return [v for v in data.tolist() if v > 3] + [float(rng.laplace())]


def first_record(data: Any, rng: Any) -> Any:
    return float(data.tolist()[0] + rng.laplace())


def walked(data: Any, rng: Any) -> Any:
    total, last = 0, 0
    for v in data:
        total += v * last
        last = v
    return float(total + rng.laplace())


def keys_told(data: Any, rng: Any) -> Any:
    return sorted(collections.Counter(data.tolist())), rng.random() < 0.5


def of_mixed_types(data: Any, rng: Any) -> Any:
    return float(np.mean([int(v) if v > 1 else 0.5 for v in data]) + rng.laplace())


def drawing(data: Any, rng: Any) -> Any:
    return float(sum(v * rng.laplace() for v in data))


REFUSED = [lists_told, first_record, walked, keys_told, of_mixed_types, drawing]


@pytest.mark.parametrize("function", REFUSED)
def test_more_than_sums_is_refused(function: Any) -> None:
    for way in ("released", "branches"):
        assert isinstance(paths(function, way=way), NoPaths)


def test_sums_of_floats_are_widened() -> None:
    def tenths(data: Any, rng: Any) -> Any:
        total = 0.0
        for v in data:
            total += v * 0.1
        return float(total + rng.laplace())

    found = paths(tenths)
    assert isinstance(found, SymbolicPaths)
    largest = found.differences.largest({0: 1})
    assert Fraction(4, 10) < largest < Fraction(4, 10) + Fraction(1, 10**12)


# -- loops of coins --------------------------------------------------------------------------------


def going_on(q: float, spelling: str) -> Any:
    """A loop that goes on with probability about q."""

    def lower(data: Any, rng: Any) -> Any:
        k = 3
        while rng.random() < q:
            k += 2
        return k + data.sum()

    def mirrored(data: Any, rng: Any) -> Any:
        k = 3
        while not (q <= rng.random()):
            k += 2
        return k + data.sum()

    def leaving(data: Any, rng: Any) -> Any:
        k = 3
        while True:
            if rng.random() >= q:
                break
            k += 2
        return k + data.sum()

    def after(data: Any, rng: Any) -> Any:
        k = 1
        while True:
            k += 2
            if not rng.random() < q:
                break
        return k + data.sum()

    def upper(data: Any, rng: Any) -> Any:
        k, p = 3, 1 - q
        while rng.random() >= p:
            k += 2
        return k + data.sum()

    return {one.__name__: one for one in (lower, mirrored, leaving, after, upper)}[spelling]


@pytest.mark.parametrize("q", [0.5, RATIO, 0.1, 1 / 3])
@pytest.mark.parametrize("spelling", ["lower", "mirrored", "leaving", "after", "upper"])
def test_a_loop_of_coins_is_geometric_noise(q: float, spelling: str) -> None:
    found = paths(going_on(q, spelling), lt.Hypercube(30))
    assert isinstance(found, SymbolicPaths)
    (path,) = found.paths
    (noise,) = [one for one in path.noises if isinstance(one, Noise)]
    points = (
        2**53 - math.ceil(Fraction(1 - q) * 2**53)
        if spelling == "upper"
        else math.ceil(Fraction(q) * 2**53)
    )
    assert noise == Noise("geometric", 1 - Fraction(points, 2**53))
    (place,) = path.places
    assert place.constant == 1
    assert sorted(factor for _, factor in place.terms) == [1, 2]


def test_up_and_down() -> None:
    def two_sided(data: Any, rng: Any) -> int:
        up = down = 0
        while rng.random() < RATIO:
            up += 1
        while rng.random() < RATIO:
            down += 1
        return int(data.sum()) + up - down

    (path,) = paths(two_sided, lt.Hypercube(5000)).paths
    assert len(path.noises) == 3
    assert len(path.places) == 1


# Each is not a loop of coins, or not of one coin.
OTHER = {
    "guarded": "while k < 20 and rng.random() < q:\n        k += 1",
    "read": "while rng.random() < q:\n        k += 1\n        if k == 1000:\n            return 9",
    "changing": "while rng.random() < q:\n        k += 1\n        q = q / 2",
    "of the counter": "while rng.random() < q / (k + 1):\n        k += 1",
    "doubling": "while rng.random() < q:\n        k += k",
    "more draws": "while rng.random() < q:\n        k += 1 + (rng.random() < 0.5)",
    "two coins": "while rng.random() < q or rng.random() < 0.1:\n        k += 1",
    "walrus": "while rng.random() < (q := q / 2):\n        k += 1",
    "else": "while rng.random() < q:\n        k += 1\n    else:\n        k += 5",
    "list": "k = []\n    while rng.random() < q:\n        k += [1]\n    k = len(k)",
    "float": "k = 0.5\n    while rng.random() < q:\n        k += 1",
    "a function's": (
        "def tell():\n        return k\n    while rng.random() < q:\n        k += 1\n    k = tell()"
    ),
    "another's q": "while rng.random() < limit():\n        k += 1",
    "of the data": "while rng.random() < q + data.sum():\n        k += 1",
}


class Asked(Folds):
    """Notes what a rewritten loop of coins is told."""

    def __init__(self) -> None:
        super().__init__(lambda value: None)
        self.told: list[Any] = []

    def coins(self, *arguments: Any) -> Any:
        self.told.append(super().coins(*arguments))
        return self.told[-1]


@pytest.mark.parametrize("name", OTHER)
def test_other_loops_are_run_as_they_are(name: str) -> None:
    text = f"def f(data, rng):\n    k, q = 0, 0.25\n    {OTHER[name]}\n    return k + data.sum()\n"
    folds = Asked()
    function = fold_loops(made(text, limit=lambda: next(itertools.repeat(0.25))), folds)
    rng = np.random.default_rng(1)
    expected = made(text, limit=lambda: next(itertools.repeat(0.25)))(
        np.zeros(3), np.random.default_rng(1)
    )
    assert function(np.zeros(3), rng) == expected
    assert not any(folds.told)
    if name not in ("list", "float", "of the data"):
        assert not folds.told


def test_what_is_looked_at_when_a_loop_of_coins_is_run() -> None:
    folds, rng = Folds(lambda value: None), ChoiceGenerator(RestartingTree("program"))
    good = folds.coins(rng, lambda: (0.25, 0), "Lt", False)
    assert good is not None
    assert folds.coins(rng, lambda: (0.25, good), "Lt", False) is not None
    bad = [(0.25, 0.5), (0.25, True), (0.25, [1]), (1, 0), (1.0, 0), (0.0, 0), (2.0, 0)]
    bad += [(True, 0), ("a", 0), (math.nan, 0), (Fraction(1, 2), 0), (0.25, np.int64(3))]
    for known in bad:
        assert folds.coins(rng, lambda: known, "Lt", False) is None  # noqa: B023
    assert folds.coins(rng, lambda: (0.25, unknown), "Lt", False) is None  # noqa: F821
    for other in (np.random.default_rng(1), random.Random(1), None):
        assert folds.coins(other, lambda: (0.25, 0), "Lt", False) is None
    plain = ChoiceGenerator(ChoiceTree("program"))  # of a leaf that is repeated
    assert folds.coins(plain, lambda: (0.25, 0), "Lt", False) is None


@given(st.floats(0, 1), st.integers(0, 2**53 - 1))
def test_grid_points_that_go_on(threshold: float, point: int) -> None:
    """Beside the border the comparison of the float changes, and nowhere else."""
    value = point / 2**53
    for name, comparison in COMPARISONS.items():
        probability = probability_of_a_pass(threshold, name)
        border = probability if name in ("Lt", "LtE") else 1 - probability
        below = Fraction(point, 2**53) < border
        assert comparison(value, threshold) is (below is (name in ("Lt", "LtE")))
        near = math.ceil(Fraction(threshold) * 2**53)
        for neighbour in range(max(0, near - 2), min(2**53, near + 2)):
            below = Fraction(neighbour, 2**53) < border
            assert comparison(neighbour / 2**53, threshold) is (below is (name in ("Lt", "LtE")))


def test_impossible_coins() -> None:
    def never(data: Any, rng: Any) -> float:
        k = 0
        while rng.random() < -1.0:
            k += 1
        return float(k + data.sum() + rng.laplace())

    (path,) = paths(never, lt.Hypercube(5)).paths
    assert [type(one) for one in path.noises if isinstance(one, Noise)] == [Noise]


@pytest.mark.slow
@pytest.mark.parametrize("spelling", ["lower", "after", "upper"])
def test_the_unmodified_loop_brackets_its_summary(spelling: str) -> None:
    """Enumerated as it is written: explored <= law <= explored + unexplored, for every output."""
    function = going_on(RATIO, spelling)
    (path,) = paths(function, lt.Hypercube(3)).paths
    (noise,) = [one for one in path.noises if isinstance(one, Noise)]
    law = lt.output_law(lt.mechanism(function, max_choices=80), np.array([1, 0, 1]))
    explored = dict(zip(law.outputs, law.fractions, strict=True))
    q = 1 - noise.parameter
    total = Fraction(0)
    for k in range(90):
        probability = (1 - q) * q**k
        found = explored.get(2 + 3 + 2 * k, Fraction(0))
        assert found <= probability <= found + law.unexplored
        total += found
    assert total + law.unexplored == 1
    assert law.unexplored < Fraction(1, 2**20)
