"""Repair by hand on one edge and one square, rounding, scores, McShane extension."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

import liptest as lt
from liptest.data.domains import Hypercube, Hypergrid, RecordGrid
from liptest.data.product import ProductDistribution
from liptest.data.sampled import SampledDistribution
from liptest.errors import InputError
from liptest.lipschitz.repair import (
    basic_operator,
    mcshane,
    repair,
    repeat_operator,
    round_to_step,
    violation_scores,
)


def table(values: list[object]) -> np.ndarray:
    return np.array(values, dtype=object)


def test_the_public_name_is_the_function_whatever_is_imported_first() -> None:
    # A module called repair would take the place of lt.repair once it is imported.
    assert mcshane is mcshane
    assert lt.repair is repair


def test_basic_operator_moves_the_likelier_end_less() -> None:
    # p = 1/4: the end with bit 1 is rare and moves by 3/4 of a step.
    moved = basic_operator(table([F(0), F(3)]), 0, probability=F(1, 4), range_step=F(1, 2))
    assert moved.tolist() == [F(1, 8), F(21, 8)]
    moved = basic_operator(table([F(3), F(0)]), 0, probability=F(1, 4), range_step=F(1, 2))
    assert moved.tolist() == [F(23, 8), F(3, 8)]


def test_basic_operator_leaves_ties_alone() -> None:
    tied = table([F(0), F(1)])
    moved = basic_operator(tied, 0, probability=F(1, 4), range_step=F(1, 2))
    assert moved.tolist() == tied.tolist()


def test_repeated_operator_is_the_closed_form() -> None:
    closed = repeat_operator(table([F(0), F(3)]), 0, probability=F(1, 4), range_step=F(1, 2))
    assert closed.tolist() == [F(1, 2), F(3, 2)]
    # A gap off the steps: ceil(1.3 / 0.5) = 3 applications.
    closed = repeat_operator(table([F(0), F(23, 10)]), 0, probability=F(1, 2), range_step=F(1, 2))
    assert closed.tolist() == [F(3, 4), F(31, 20)]


def test_operators_act_along_one_coordinate() -> None:
    square = table([[F(0), F(0)], [F(4), F(1)]])
    closed = repeat_operator(square, 0, probability=F(1, 2), range_step=F(1))
    assert closed.tolist() == [[F(3, 2), F(0)], [F(5, 2), F(1)]]
    closed = repeat_operator(square, 1, probability=F(0), range_step=F(1))
    assert closed.tolist() == [[F(0), F(0)], [F(4), F(3)]]


def test_rounding_breaks_ties_upwards() -> None:
    rounded = round_to_step(table([F(1, 2), F(-1, 2), F(3, 2), F(5, 2), F(1, 3)]), F(1))
    assert rounded.tolist() == [1, 0, 2, 3, 0]
    assert round_to_step(table([F(1, 6)]), F(1, 3)).tolist() == [F(1, 3)]


def test_half_even_rounding_would_break_a_lipschitz_pair() -> None:
    pair = [F(1, 2), F(3, 2)]
    assert round(pair[1]) - round(pair[0]) == 2
    low, high = round_to_step(table(pair), F(1))
    assert high - low == 1


@pytest.mark.parametrize(
    ("given", "meant"), [(0.1, F(1, 10)), (1 / 3, F(1, 3)), (F(1, 7), F(1, 7))]
)
def test_steps_mean_one_over_a_whole_number(given: float | F, meant: F) -> None:
    law = ProductDistribution.bernoulli([1.0])
    moved = repair(table([F(0), 1 + meant]), law, range_step=given)
    assert moved.tolist() == [meant, 1 + meant]


@pytest.mark.parametrize("wrong", [0.3, 2.0, 0.0, -0.5, float("nan"), 0.1 + 1e-12])
def test_other_steps_are_refused(wrong: float) -> None:
    with pytest.raises(InputError, match="range_step"):
        repair(np.zeros(2), ProductDistribution.uniform(Hypercube(1)), range_step=wrong)


def test_violation_scores_by_hand() -> None:
    law = ProductDistribution.bernoulli([0.25, 0.5])
    square = table([[F(0), F(3)], [F(0), F(5)]])
    # Along 0: gaps 0, 2 at mass 1/2 each; along 1: gaps 3, 5 at masses 3/4, 1/4.
    assert violation_scores(square, law) == [F(1, 2), F(3, 4) * 2 + F(1, 4) * 4]


def test_accounting_needs_multiples_of_the_step() -> None:
    """Off the steps the last application overshoots, and a score along 1 grows."""
    law = ProductDistribution.bernoulli([0.75, 0.625])
    off = table([[F(-2), F(-7, 2)], [F(0), F(-1)]])
    closed = repeat_operator(off, 0, probability=F(3, 4), range_step=F(1))
    assert violation_scores(off, law)[1] == F(1, 8)
    assert violation_scores(closed, law)[1] == F(3, 16)


def test_repair_of_one_edge() -> None:
    law = ProductDistribution.bernoulli([0.25])
    assert repair(table([F(0), F(3)]), law, range_step=0.5).tolist() == [F(1, 2), F(3, 2)]
    moved = repair(table([F(0), F(3)]), law, range_step=0.5, symmetric=True)
    assert moved.tolist() == [1, 2]


def test_repair_moves_what_has_no_mass() -> None:
    law = ProductDistribution.bernoulli([0.0])
    assert repair(table([F(0), F(9)]), law, range_step=1).tolist() == [0, 1]


def test_repair_leaves_a_rounded_lipschitz_function_alone() -> None:
    law = ProductDistribution.uniform(Hypercube(3))
    same = repair(lambda x: x.sum(axis=1) * 0.5, law, range_step=0.5)
    assert (same == np.indices((2, 2, 2)).sum(axis=0) * F(1, 2)).all()


def test_repair_is_for_product_laws_on_cubes() -> None:
    with pytest.raises(InputError, match="mcshane"):
        repair(np.zeros(3), ProductDistribution.uniform(Hypergrid([3])), range_step=1)
    other = SampledDistribution(Hypercube(1), lambda n, rng: np.zeros((n, 1)))
    with pytest.raises(InputError, match="product law"):
        repair(np.zeros(2), other, range_step=1)


def test_mcshane_by_hand() -> None:
    line = mcshane(np.array([0.0, 50.0, -3.0, 2.5]), Hypergrid([4]), [1, 2])
    assert line.tolist() == [0, 1, 2, F(5, 2)]
    records = mcshane(np.array([0.0, 50.0, -3.0, 1.0]), RecordGrid([4]), [1, 2])
    assert records.tolist() == [0, 1, 1, 1]
    steep = mcshane(np.array([0.0, 50.0]), Hypercube(1), [1], lipschitz_constant=2.5)
    assert steep.tolist() == [0, F(5, 2)]


def test_mcshane_at_both_extremes() -> None:
    values = np.array([[0.0, 9.0], [9.0, 0.0]])
    assert (mcshane(values, Hypercube(2), []) == mcshane(values, Hypercube(2), [1, 2])).all()
    assert (mcshane(values, Hypercube(2), [0, 1, 2, 3]) == 0).all()


@pytest.mark.parametrize("cover", [[4], [-1], [0.5], [[0, 1]]])
def test_mcshane_needs_indices(cover: list[object]) -> None:
    with pytest.raises(InputError, match="cover"):
        mcshane(np.zeros((2, 2)), Hypercube(2), cover)


def test_lemma_4_9_needs_values_on_the_grid() -> None:
    """docs/theory/notes.md, I: off the grid one coordinate's operator can raise another's score."""
    law = ProductDistribution.bernoulli([0.75, 0.625])
    values = table([[F(-2), F(-7, 2)], [F(0), F(-1)]])
    moved = repeat_operator(values, 0, probability=F(3, 4), range_step=F(1))
    scores = [violation_scores(one, law)[1] for one in (values, moved)]
    assert scores == [F(1, 8), F(3, 16)]
