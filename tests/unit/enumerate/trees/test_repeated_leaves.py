"""How much of a law is repeated: all of little, something of everything, a tenth of much."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.trees.repeated_leaves import FREE, SHARE, SMALL, KeptLeaves, Repetition
from liptest.errors import NonDeterministicError
from liptest.mechanisms.laws import Raised
from liptest.report.text import Screen

# A class in a tuple, which cannot be changed, is seen by repetition only.
KIND = (type,)


def kept(count: int, output: Any, seed: int = 0) -> KeptLeaves:
    leaves = KeptLeaves(seed)
    for number in range(1, count + 1):
        leaves.offer(number, [(count, number - 1)], output(number))
    return leaves


def numbers(leaves: KeptLeaves) -> list[int]:
    return [path[0][1] + 1 for path, _ in leaves.leaves]


@pytest.mark.parametrize("count", [1, 2, SMALL])
@pytest.mark.parametrize("seed", [0, 5])
def test_every_leaf_of_a_small_law(count: int, seed: int) -> None:
    assert sorted(numbers(kept(count, lambda number: 0, seed))) == list(range(1, count + 1))


def test_one_leaf_for_each_output_and_random_ones() -> None:
    found = kept(10_000, lambda number: number // 300)
    assert {output for _, output in found.leaves} >= set(range(32))
    assert len(set(numbers(found))) == len(found.leaves) <= 60
    assert sum(number > 5_000 for number in numbers(found)) > 20
    many = kept(10_000, lambda number: number)
    assert len(many.leaves) <= 90
    raising = kept(10_000, lambda number: Raised("ValueError") if number % 2 else 1)
    assert sum(isinstance(output, Raised) for _, output in raising.leaves) >= 16


@pytest.mark.slow
def test_random_leaves_are_uniform() -> None:
    """Of 400 walks of 1,000 leaves each quarter gets its share; six standard deviations."""
    counts: collections.Counter[int] = collections.Counter()
    for seed in range(400):
        later = [n - SMALL for n in numbers(kept(1000, lambda n: 0, seed)) if n > SMALL + 1]
        counts.update(4 * n // (1000 - SMALL + 1) for n in later)
    total = sum(counts[k] for k in range(4))
    for k in range(4):
        assert abs(counts[k] - total / 4) < 6 * (total * 3 / 16) ** 0.5


def test_other_laws_keep_other_leaves() -> None:
    found = {tuple(numbers(kept(1000, lambda number: 0, seed))) for seed in range(10)}
    assert len(found) == 10


def test_first_laws_wholly_then_a_tenth_and_never_nothing() -> None:
    repetition = Repetition()
    shares = []
    for _ in range(500):
        chosen = repetition.chosen(kept(100, lambda number: number), 1_000)
        assert 1 <= len(chosen) <= SMALL + 1
        shares.append(len(chosen))
    assert set(shares[: FREE // (SMALL + 1)]) == {SMALL + 1}
    assert repetition.share <= SHARE + 0.01
    rest = Repetition(leaves=10**9)
    assert len(rest.chosen(kept(9, lambda number: 0), 9)) == 1


def rarely(limit: int) -> Any:
    """Looks at the kind of its number on large datasets, at the last of its leaves."""

    def program(data: Any, rng: Any) -> Any:
        coin = int(rng.integers(4))
        number = rng.random()
        tells = coin == 3 and int(data.sum()) >= limit
        return int(coin) if not tells else KIND[0](number) is float

    return program


@pytest.mark.slow
def test_later_laws_are_repeated_as_well() -> None:
    """After the 64th law it was the first leaf only."""
    mechanism = lt.mechanism(rarely(66))
    points = np.tril(np.ones((80, 80), dtype=np.int64))
    with pytest.raises(NonDeterministicError, match="with real random numbers"):
        [mechanism.law(point) for point in points]


def test_the_number_of_repeated_runs_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    law = lt.mechanism(lambda data, rng: int(rng.integers(40))).law(np.array([1, 0]))
    assert law.leaves == 40
    assert law.repeated is not None
    Screen().law("program", law)
    again = law.again
    assert again == law.repeated  # no random float was drawn
    said = " ".join(capsys.readouterr().out.split())
    assert f"repeated with real random numbers: {law.repeated} of them" in said


def test_few_leaves_are_run_more_often_with_real_numbers() -> None:
    law = lt.mechanism(lambda data, rng: bool(rng.random() < 0.5)).law(np.array([1, 0]))
    assert (law.leaves, law.repeated, law.again) == (2, 2, 2 * (1 + 4))
