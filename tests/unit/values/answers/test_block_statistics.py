"""Sample and aggregate: one number of each block, of which one record changes one at most."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.unit.values.frame_prices import reason_of

SMALL: Any = lt.RecordGrid([3] * 6)
LARGE: Any = lt.RecordGrid([101] * 5000)
Numbers = Callable[[Any], Any]


def clipped(data: Any, function: Numbers, blocks: int = 2) -> Any:
    return sum(np.clip(function(block), 0.5, 1.5) for block in np.array_split(data, blocks))


#: And by how much one record moves them, if it is not what NumPy says.
BLOCKS: dict[str, tuple[Numbers, float | None]] = {
    "medians": (lambda d: clipped(d, np.median), None),
    "percentiles": (lambda d: clipped(d, lambda block: np.percentile(block, 40)), None),
    "largest": (lambda d: clipped(d, np.max), None),
    "of a grid": (lambda d: np.median(d.reshape(2, -1), axis=1).sum(), None),
    "interleaved": (lambda d: clipped(d[::2], np.median, 1) + clipped(d[1::2], np.max, 1), None),
    "one of two": (lambda d: clipped(d[:3], np.median, 1) * 3 + d[3:].sum(), 3.0),
    "opposite": (lambda d: np.clip(-np.median(d[:3]), -1.5, -1) - np.min(d[3:]), None),
    "votes": (lambda d: sum(np.median(b) >= 1 for b in np.array_split(d, 2)), None),
    "by Python": (
        lambda d: sum(min(max(statistics.median(d[k : k + 3].tolist()), 1), 2) for k in (0, 3)),
        None,
    ),
    "of one record each": (lambda d: clipped(d, np.median, 6), None),
    "means": (lambda d: clipped(d, np.mean), None),
    "mean of a list": (lambda d: np.mean([np.median(b) for b in np.array_split(d, 3)]), None),
    "variances": (lambda d: np.var(d[:3]) + np.std(d[3:]), None),
}
REFUSED: dict[str, Numbers] = {
    "products": lambda d: np.median(d[:3]) * np.median(d[3:]),
    "selections": lambda d: np.median(d[:3][d[:3] > 0]),
    "ordered": lambda d: np.median(np.sort(d)[:3]),
}


def noisy(numbers: Numbers, scale: float = 1.0) -> Any:
    return lambda data, rng: float(numbers(data) + rng.laplace(0, scale))


def largest_change(numbers: Numbers) -> float:
    known = {one: float(numbers(np.array(one))) for one in product(range(3), repeat=6)}
    return max(
        abs(value - known[(*one[:k], other, *one[k + 1 :])])
        for one, value in known.items()
        for k, other in product(range(6), range(3))
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", BLOCKS)
def test_prices_are_the_largest_changes(name: str) -> None:
    numbers, price = BLOCKS[name]
    change = largest_change(numbers)
    found = float(align(lt.mechanism(noisy(numbers)), SMALL).epsilon)
    assert found >= change - 1e-9
    if name != "variances":
        assert found == pytest.approx(price or change, abs=1e-9)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_a_number_of_a_block(name: str) -> None:
    assert reason_of(lt.mechanism(noisy(REFUSED[name])), SMALL)


def overlapping(data: Any) -> Any:
    return sum(np.median(data[k : k + 3]) for k in range(4))


def twice(data: Any) -> Any:
    return clipped(data[:3], np.median, 1) + clipped(data[:3], np.median, 1)


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [overlapping, twice])
def test_one_record_of_several_blocks(numbers: Numbers) -> None:
    found = float(align(lt.mechanism(noisy(numbers)), SMALL).epsilon)
    assert found >= largest_change(numbers) - 1e-9


def test_records_that_come_and_go_move_all_blocks() -> None:
    table: Any = lt.Table({"x": lt.Integer(0, 2)}, rows=6, relation="add_remove")
    release = lt.mechanism(lambda frame, rng: noisy(BLOCKS["medians"][0])(frame["x"], rng))
    assert reason_of(release.on_domain(table), table)


def mean_of_medians(data: Any) -> Any:
    return np.mean([np.clip(np.median(block), 20, 60) for block in np.array_split(data, 50)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scale", "decision"),
    [(40 / 50, "YES"), pytest.param(20 / 50, "NO", marks=pytest.mark.slow)],
)
def test_fifty_blocks_of_five_thousand(scale: float, decision: str) -> None:
    verdict = lt.check_privacy(noisy(mean_of_medians, scale), LARGE, epsilon=1, seed=1)
    assert verdict.decision == decision


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "decision"), [(0.2, "YES"), (0.1, "NO")])
def test_ten_means(scale: float, decision: str) -> None:
    def means(data: Any) -> Any:
        return np.mean([np.clip(block.mean(), 0, 20) for block in np.array_split(data, 10)])

    verdict = lt.check_privacy(noisy(means, scale), lt.RecordGrid([21] * 100), epsilon=1, seed=1)
    assert verdict.decision == decision
