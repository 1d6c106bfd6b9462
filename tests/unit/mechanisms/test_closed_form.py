from __future__ import annotations

import math

import numpy as np
import pytest

from liptest.data.domains import Hypercube
from liptest.data.points import PointBatch
from liptest.enumerate.numbers.whole_numbers import output_law
from liptest.errors import InputError, LawError
from liptest.mechanisms.base import check_mechanism
from liptest.mechanisms.declared import ClosedForm, StatisticMechanism, distinct_values
from liptest.statistics.sums import Count, Histogram

HALF = math.log(0.5)


def fair(datasets: np.ndarray) -> np.ndarray:
    return np.full((len(datasets), 2), HALF)


def certain(values: np.ndarray) -> np.ndarray:
    return np.where(values[:, None] == np.arange(3), 0.0, -np.inf)


def test_names_and_outputs() -> None:
    mechanism = ClosedForm(["no", "yes"], fair)
    assert mechanism.outputs == ("no", "yes")
    assert mechanism.name == "fair"
    assert ClosedForm([0, 1], fair, name="coin").name == "coin"
    assert mechanism.points_per_slice(Hypercube(10)) > mechanism.points_per_slice(Hypercube(10**5))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([], fair), "is empty"),
        (([0, 0.0], fair), "duplicates"),
        (([True, 1], fair), "duplicates"),
        (([[0], [1]], fair), "hashable"),
        (([0, 1], 3), "log_pmf=3"),
    ],
)
def test_bad_declarations(arguments: tuple[object, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ClosedForm(*arguments)
    with pytest.raises(InputError, match=words):
        StatisticMechanism(Count(), *arguments)


@pytest.mark.parametrize("error", [-1e-9, math.nan, math.inf, [0.0, -1.0]])
def test_a_bad_error_is_refused_at_once(error: object) -> None:
    with pytest.raises(InputError, match="error="):
        ClosedForm([0, 1], fair, error=error)


def test_a_broken_formula_is_an_error_on_use() -> None:
    mechanism = ClosedForm([0, 1, 2], fair, name="short")
    with pytest.raises(LawError, match="short: log_pmf gave shape="):
        mechanism.law(np.zeros(3, dtype=np.int8))
    with pytest.raises(LawError, match="short"):
        mechanism.laws(PointBatch(np.zeros((2, 3), dtype=np.int8)))


def test_the_default_error_is_four_ulp_and_the_rounding_of_the_normaliser() -> None:
    # outputs + 4 ulp for the sum and its log, 1 for the subtraction (docs/theory/notes.md, C).
    rounding = (2 + 4 + 1) * 2.0**-52
    law = ClosedForm([0, 1], fair).law(np.zeros(2, dtype=np.int8))
    assert 4 * 2.0**-52 + rounding <= law.error < 8 * 2.0**-52 + rounding
    exact = ClosedForm([0, 1], lambda x: np.log(np.full((len(x), 2), 0.5)), error=0.0)
    assert exact.law(np.zeros(2, dtype=np.int8)).error < 4 * 2.0**-52 + rounding


def test_zeros_are_exact_only_when_declared() -> None:
    for options, exact in (({}, False), ({"error": 0.0}, True), ({"exact_zeros": True}, True)):
        mechanism = StatisticMechanism(Count(), range(3), certain, **options)
        assert mechanism.law(np.array([0, 1])).is_zero(0) == exact
        assert mechanism.laws_of(np.array([0, 1])).zeros_exact == exact


def test_a_statistic_mechanism_computes_each_value_once() -> None:
    asked = []

    def log_pmf(values: np.ndarray) -> np.ndarray:
        asked.append(values.tolist())
        return certain(values)

    points = np.array([[0, 1], [1, 1], [1, 0]], dtype=np.int8)
    batch = PointBatch(points, np.array([0, 2]), np.array([0, 0]), np.array([1, 0]))
    table = StatisticMechanism(Count(), range(3), log_pmf).laws(batch)
    assert asked == [[0, 1, 2]]
    assert table.distinct(np.arange(5)).tolist() == [1, 2, 1, 2, 0]


def test_values_of_several_numbers_are_told_apart_by_rows() -> None:
    points = np.array([[0, 2], [2, 0], [1, 1]], dtype=np.int8)
    values, rows = distinct_values(Histogram(3), PointBatch(points))
    assert values.tolist() == [[0, 2, 0], [1, 0, 1]]
    assert rows.tolist() == [1, 1, 0]


def test_no_statistic_is_refused() -> None:
    with pytest.raises(InputError, match="is not a statistic"):
        StatisticMechanism(np.sum, [0, 1], fair)


def test_check_mechanism_and_output_law_say_how_to_do_it() -> None:
    with pytest.raises(InputError, match=r"give a function .* or subclass"):
        check_mechanism(3)
    with pytest.raises(InputError, match="ClosedForm is a class"):
        check_mechanism(ClosedForm)
    mechanism = ClosedForm([0, 1], fair)
    assert dict(output_law(mechanism, [0, 1])) == pytest.approx({0: 0.5, 1: 0.5})
    for wrong in ([[0, 1]], [0.5], [], "01"):
        with pytest.raises(InputError, match="one dataset as a 1-d array"):
            output_law(mechanism, wrong)
