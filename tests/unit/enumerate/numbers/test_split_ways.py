"""Several whole numbers of one output, each of which the code comes to in ways of its own (W4)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.numbers.split_ways import join_ways
from liptest.enumerate.numbers.whole_numbers import WholeFunction, noise_rates

LEFT, RIGHT = np.array([0, 0, 1]), np.array([1, 0, 1])
Program = Callable[[Any, Any], Any]


def counts_of(x: Any) -> list[int]:
    return [int((x == value).sum()) for value in range(2)]


def clipped(x: Any, rng: Any) -> Any:
    return [max(0, round(count + rng.laplace(0, 1))) for count in counts_of(x)]


def clipped_geometric(x: Any, rng: Any) -> Any:
    return [max(0, count + rng.geometric(0.5) - rng.geometric(0.5)) for count in counts_of(x)]


def clipped_array(x: Any, rng: Any) -> Any:
    noisy = np.bincount(x, minlength=2) + rng.laplace(0, 1, size=2)
    return np.maximum(0, np.round(noisy)).astype(int).tolist()


def both_ends(x: Any, rng: Any) -> Any:
    return [min(3, max(0, round(count + rng.laplace(0, 1)))) for count in counts_of(x)]


def together(x: Any, rng: Any) -> Any:
    noisy = [round(count + rng.laplace(0, 1)) for count in counts_of(x)]
    return [max(0, one) for one in noisy] if rng.integers(2) else noisy


def seen(program: Program) -> WholeFunction:
    found = lt.mechanism(program).over_all_numbers(LEFT)
    assert isinstance(found, WholeFunction)
    return found


def mass_of_cell(number: int, count: int) -> float:
    """Of max(0, round(count + Laplace(1)))."""

    def below(end: float) -> float:
        v = end - count
        return math.exp(v) / 2 if v < 0 else 1 - math.exp(-v) / 2

    return below(0.5) if number == 0 else below(number + 0.5) - below(number - 0.5)


@pytest.mark.parametrize("program", [clipped, clipped_array])
def test_the_law_is_the_product_of_the_laws_of_its_numbers(program: Program) -> None:
    law = seen(program).whole_law(RIGHT)
    [(skeleton, ways)] = [(one, law.ways(noise_rates(law, law), one)) for one in law.leaves]
    assert len(law.leaves[skeleton]) == 4
    assert len(ways) == 1
    for numbers in itertools.product(range(4), repeat=2):
        expected = math.prod(map(mass_of_cell, numbers, counts_of(RIGHT)))
        found = float(law.probability(noise_rates(law, law), skeleton, numbers))
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("program", "loss"),
    [(clipped, 2.0), (clipped_array, 2.0), (clipped_geometric, 2 * math.log(2))],
)
def test_the_losses_of_the_numbers_add_up(program: Program, loss: float) -> None:
    assert float(seen(program).pair_loss(LEFT, RIGHT)) == pytest.approx(loss, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("program", [clipped, clipped_array, clipped_geometric])
@pytest.mark.parametrize("records", [3, 5000])
def test_half_the_noise_is_refuted_at_any_size(program: Program, records: int) -> None:
    mechanism, domain = lt.mechanism(program), lt.RecordGrid([2] * records)
    enough = 2 * math.log(2) if program is clipped_geometric else 2.0
    assert lt.check_privacy(mechanism, domain, epsilon=enough + 1e-9).decision == "YES"
    verdict = lt.check_privacy(mechanism, domain, epsilon=enough / 2)
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.verify(mechanism)


def test_ways_that_numbers_choose_together_are_not_joined() -> None:
    law = seen(together).whole_law(LEFT)
    [(skeleton, leaves)] = law.leaves.items()
    rates = noise_rates(law, law)
    assert len(leaves) == len(law.ways(rates, skeleton)) == 5
    assert join_ways(rates, leaves) is None
    # All 4 ways of the clipped ones, and of these 3.
    assert join_ways(rates, leaves[:3]) is None


@pytest.mark.slow
def test_ends_on_both_sides() -> None:
    verdicts = [
        lt.check_privacy(lt.mechanism(both_ends), lt.RecordGrid([2] * 4), epsilon=claim)
        for claim in (2.0, 1.0)
    ]
    assert [verdict.decision for verdict in verdicts] == ["YES", "NO"]
