from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from liptest.data.points import PointBatch, from_array
from liptest.errors import InputError, LawError
from liptest.mechanisms.base import check_mechanism
from liptest.mechanisms.declared import ExactForm
from liptest.mechanisms.laws import ZERO_LOG


def thirds(dataset: np.ndarray) -> list[Fraction]:
    share = Fraction(int(dataset.sum()), 3)
    return [1 - share, share]


BITS = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0], [1, 0, 0]], dtype=np.int8)


def test_the_law_is_exact_and_impossible_outputs_are_left_out() -> None:
    mechanism = check_mechanism(ExactForm(["a", "b"], thirds))
    assert (mechanism.name, mechanism.source, mechanism.statistic) == ("thirds", "declared", None)
    law = mechanism.law(BITS[2])
    assert (law.exact("a"), law.exact("b")) == (Fraction(2, 3), Fraction(1, 3))
    assert law.error == 0.0
    zero = mechanism.law(BITS[0])
    assert zero.is_zero("b")
    assert zero.exact("b") == 0


def test_equal_laws_are_one_row() -> None:
    table = ExactForm(["a", "b"], thirds).laws(from_array(BITS))
    assert table.logs.shape == (3, 2)
    assert table.distinct(np.arange(4)).tolist() == [0, 1, 2, 2]
    assert table.logs[0].tolist() == [0.0, ZERO_LOG]
    assert table.logs[2].tolist() == pytest.approx([math.log(2 / 3), math.log(1 / 3)])
    assert table.zeros_exact
    assert np.all((table.errors > 0) & (table.errors < 1e-14))


def test_changed_points_come_after_the_centres() -> None:
    batch = PointBatch(BITS[:1], np.array([0]), np.array([1]), np.array([1]))
    table = ExactForm(["a", "b"], thirds).laws(batch)
    assert np.exp(table.logs[table.distinct(np.arange(2))]).round(3).tolist() == [
        [1.0, 0.0],
        [0.667, 0.333],
    ]


def test_probabilities_far_below_the_smallest_float() -> None:
    tiny = Fraction(1, 10**400)
    law = ExactForm([0, 1], lambda dataset: [tiny, 1 - tiny]).laws(from_array(BITS))
    assert law.logs[0, 0] == pytest.approx(-400 * math.log(10))


@pytest.mark.parametrize(
    "given",
    [
        [Fraction(1, 2), Fraction(1, 3)],
        [Fraction(3, 2), Fraction(-1, 2)],
        [Fraction(1)],
        [0.5, 0.5],
        [],
    ],
)
def test_what_is_no_exact_law_is_an_error(given: list[Fraction]) -> None:
    mechanism = ExactForm([0, 1], lambda dataset: given, name="broken")
    with pytest.raises(LawError, match="broken"):
        mechanism.law(BITS[0])
    with pytest.raises(LawError, match="broken"):
        mechanism.laws(from_array(BITS))


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match="pmf=3"):
        ExactForm([0, 1], 3)
    with pytest.raises(InputError, match="duplicates"):
        ExactForm([0, 0], thirds)
    with pytest.raises(InputError, match="hashable"):
        ExactForm([[0], [1]], thirds)
