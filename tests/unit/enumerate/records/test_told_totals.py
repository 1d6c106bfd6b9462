"""Outputs of servers that add up notes (docs/theory/records.md, P7), against brute force.

The oracle knows the law of a note, and runs the server's part of the program on all lists of notes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.records.told_totals import AnyOther
from liptest.enumerate.trees.outputs import canonical_output
from liptest.mechanisms.base import check_mechanism
from tests.unit.enumerate.records import total_programs as programs

K = programs.K
FOLLOWED = [
    *(programs.counts, programs.loop, programs.estimates, programs.loop_over_notes),
    *(programs.clipped, programs.rounded, programs.counter, programs.total, programs.far),
    *(programs.parity, programs.mean, programs.tables, programs.bits, programs.server_object),
]
OPEN = [
    *(programs.second_loop, programs.scanned, programs.aliased, programs.central),
    *(programs.small_type, programs.float_order, programs.not_a_number, programs.negative_zero),
    *(programs.popped, programs.repeated, programs.counted_calls, programs.length_of_counts),
    *(programs.typed, programs.by_zero, programs.few_kept, programs.neighbours_in_order),
    *(programs.last_differs, programs.in_place, programs.walked_twice, programs.same_arrays),
    programs.of_truths,
]
#: Of which nothing is known, and which brute force does not follow.
REFUSED = [programs.noisy, programs.shared, programs.counts_calls]


def in_turns(every: list[Any], step: int) -> list[Any]:
    """All programs, those but every few marked as slow."""
    return [
        program if place % step == 0 else pytest.param(program, marks=pytest.mark.slow)
        for place, program in enumerate(every)
    ]


class Scripted:
    """A generator that makes ``tell`` give these notes."""

    def __init__(self, notes: tuple[int, ...]) -> None:
        self.notes = list(notes)

    def random(self) -> float:
        return 1.0

    def integers(self, *bounds: int) -> int:
        return self.notes.pop(0)


def brute_force(program: Callable[..., Any], dataset: tuple[int, ...]) -> dict[Any, Fraction]:
    law: dict[Any, Fraction] = {}
    for notes in product(range(K), repeat=len(dataset)):
        mass = math.prod(
            Fraction(1, 2) * (note == value) + Fraction(1, 2 * K)
            for note, value in zip(notes, dataset, strict=True)
        )
        output = canonical_output(program(np.array(dataset), Scripted(notes)), "oracle")
        law[output] = law.get(output, Fraction(0)) + mass
    return law


def views_of(program: Callable[..., Any], dataset: tuple[int, ...]) -> list[Any]:
    mechanism = check_mechanism(lt.mechanism(program), lt.RecordGrid([K] * len(dataset)))
    return list(mechanism.by_totals(np.array(dataset)))


def check_against_brute_force(program: Callable[..., Any], dataset: tuple[int, ...]) -> int:
    """Compares all laws, on all datasets of the values of this one; gives how many outputs."""
    compared = 0
    for view in views_of(program, dataset):
        for other in set(product(sorted(set(dataset)), repeat=len(dataset))):
            law, truth = view.law(np.array(other)), brute_force(program, other)
            for output in law.outputs:
                if isinstance(output, AnyOther):
                    continue
                exact = law.exact(output)
                if isinstance(exact, Fraction):
                    assert exact == truth.get(output, 0), (program.__name__, other, output)
                else:
                    assert math.isclose(law[output], truth[output], rel_tol=1e-12)
                compared += 1
    return compared


@pytest.mark.parametrize("program", in_turns(FOLLOWED, 3), ids=lambda program: program.__name__)
def test_listed_outputs_have_the_probabilities_of_brute_force(program: Any) -> None:
    assert check_against_brute_force(program, (1, 0, 0)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("program", FOLLOWED, ids=lambda program: program.__name__)
@pytest.mark.parametrize("dataset", [(0, 2, 2, 2), (2, 1, 0, 1)])
def test_larger_datasets(program: Any, dataset: tuple[int, ...]) -> None:
    assert check_against_brute_force(program, dataset) > 0


@pytest.mark.parametrize("program", in_turns(OPEN, 4), ids=lambda program: program.__name__)
def test_what_is_not_followed_has_no_law_or_the_right_one(program: Any) -> None:
    if program in (programs.central, programs.last_differs):
        assert views_of(program, (1, 0, 0)) == []
    else:
        check_against_brute_force(program, (1, 0, 0))


@pytest.mark.parametrize(
    "program", [programs.scanned, programs.popped, programs.float_order, *REFUSED]
)
def test_servers_that_see_the_order_are_refused(program: Any) -> None:
    assert views_of(program, (1, 0, 0)) == []


def compare_random_server(seed: int) -> int:
    rng = np.random.default_rng(seed)
    numbers = int(rng.integers(1, 4))
    programs.TABLE = rng.integers(-1, 3, size=(numbers, K)).tolist()
    programs.STEP = int(rng.integers(1, 4))
    dataset = tuple(rng.permutation(K)[: int(rng.integers(2, K + 1))].tolist())
    return check_against_brute_force(programs.tables, (*dataset, dataset[0])[:3])


@pytest.mark.slow
def test_random_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "TABLE", programs.TABLE)
    monkeypatch.setattr(programs, "STEP", 1)
    assert sum(map(compare_random_server, range(3))) > 0


@pytest.mark.slow
def test_many_random_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "TABLE", programs.TABLE)
    monkeypatch.setattr(programs, "STEP", 1)
    assert sum(map(compare_random_server, range(3, 60))) > 100


def test_merged_notes_lose_less() -> None:
    """Two notes that lead to one output: the ratio is that of both together."""
    programs.TABLE, before = [[1, 1, 0]], programs.TABLE
    try:
        [ends, *_] = views_of(programs.tables, (2, 0, 0))
        laws = [ends.law(np.array(data)) for data in ((2, 0, 0), (0, 0, 0))]
    finally:
        programs.TABLE = before
    ratios = {o: laws[1].exact(o) / laws[0].exact(o) for o in ((3,), (0,))}
    assert ratios == {(3,): Fraction(5, 2), (0,): Fraction(1, 4)}
