"""Fitting: (count + shrinkage * overall) / (n + shrinkage), against plain arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.data.product import ProductDistribution
from liptest.errors import InputError

fit = ProductDistribution.fit


def test_groups_are_shrunk_towards_the_overall_rate() -> None:
    # 10 public records of item a with 3 clicks, 30 of item b with 1: overall rate 1/10.
    table = [1] * 3 + [0] * 7 + [1] + [0] * 29
    groups = ["a"] * 10 + ["b"] * 30
    fitted = fit(table, domain=Hypercube(4), groups=groups, record_groups=["b", "unseen", "a", "b"])
    rate = Fraction(4, 40)
    a, b = (3 + 10 * rate) / 20, (1 + 10 * rate) / 40
    assert fitted.probabilities.tolist() == [float(b), float(rate), float(a), float(b)]


def test_the_modelled_records_default_to_the_public_ones() -> None:
    fitted = fit([1, 0, 0], domain=Hypercube(3), groups=[7, 7, 8], shrinkage=3)
    assert fitted.probabilities == pytest.approx([2 / 5, 2 / 5, 1 / 4], abs=1e-15)


def test_one_law_per_column_of_whole_datasets() -> None:
    table = np.array([[1, 0], [1, 0], [1, 1], [0, 0]])
    fitted = fit(table, domain=Hypercube(2))
    assert fitted.probabilities == pytest.approx([(3 + 5) / 14, (1 + 5) / 14], abs=1e-15)


def test_columns_with_more_values() -> None:
    table = np.array([[0, 2], [1, 2]])
    fitted = fit(table, domain=RecordGrid([3, 3]), shrinkage=4)
    overall = np.array([1, 1, 2]) / 4
    assert fitted.marginal(0) == pytest.approx((np.array([1, 1, 0]) + 4 * overall) / 6)
    assert fitted.marginal(1) == pytest.approx((np.array([0, 0, 2]) + 4 * overall) / 6)


def test_columns_of_unequal_sizes_are_shrunk_towards_uniform_laws() -> None:
    fitted = fit([[0, 3], [0, 3]], domain=Hypergrid([2, 4]), shrinkage=2)
    assert fitted.marginal(0) == pytest.approx([3 / 4, 1 / 4])
    assert fitted.marginal(1) == pytest.approx([1 / 8, 1 / 8, 1 / 8, 5 / 8])


def test_grouped_records_of_many_kinds() -> None:
    fitted = fit([0, 2, 2], domain=RecordGrid([3, 3]), groups=list("xyy"), record_groups=["y", "x"])
    overall = np.array([1, 0, 2]) / 3
    assert fitted.marginal(0) == pytest.approx((np.array([0, 0, 2]) + 10 * overall) / 12)
    assert fitted.marginal(1) == pytest.approx((np.array([1, 0, 0]) + 10 * overall) / 11)


def test_labels_of_different_types_are_different_groups() -> None:
    table, groups = [1, 1, 0, 0], [1, "1", None, None]
    fitted = fit(table, domain=Hypercube(3), groups=groups, record_groups=[1, None, 2])
    assert fitted.probabilities == pytest.approx([6 / 11, 5 / 12, 1 / 2])


def test_labels_may_come_as_arrays() -> None:
    for labels in (np.array([3, 3, 4]), np.array(["a", "a", "b"]), (3, 3, 4)):
        fitted = fit([1, 1, 0], domain=Hypercube(3), groups=labels, shrinkage=1)
        assert fitted.probabilities == pytest.approx([8 / 9, 8 / 9, 1 / 3])


def test_nothing_is_certain_after_fitting_unless_all_the_data_agree() -> None:
    fitted = fit([[0, 1]] * 1000, domain=Hypercube(2))
    assert np.all((fitted.probabilities > 0) & (fitted.probabilities < 1))
    assert fit([[0, 0]], domain=Hypercube(2)).probabilities.tolist() == [0.0, 0.0]
    assert fit([[1, 1]], domain=Hypercube(2)).probabilities.tolist() == [1.0, 1.0]


def test_boolean_float_and_object_tables_are_tables() -> None:
    for table in (
        [True, False, False],
        [1.0, 0.0, 0.0],
        np.array([1, 0, 0], dtype=object),
        np.array([1, 0, 0], dtype=np.uint8),
    ):
        assert fit(table, domain=Hypercube(3), groups=list("aab")).probabilities[
            2
        ] == pytest.approx((10 / 3) / 11)


@pytest.mark.parametrize(
    ("table", "shown"),
    [
        ([0, 1, 2], "2"),
        ([0, 1, -1], "-1"),
        ([0, 1, 0.5], "0.5"),
        ([0, 1, float("nan")], "nan"),
        ([0, 1, float("inf")], "inf"),
        ([0, 1, None], "None"),
        (["0", "1", "0"], "'0'"),
    ],
)
def test_a_wrong_value_is_named(table: list[object], shown: str) -> None:
    with pytest.raises(InputError, match=f"the value {shown} is not one of 0 .. 1"):
        fit(table, domain=Hypercube(3), groups=[1, 2, 3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"table": [], "domain": Hypercube(2)}, "empty"),
        ({"table": [[]], "domain": Hypercube(2)}, "empty"),
        ({"table": [[0, 1]], "domain": Hypercube(2), "shrinkage": 0}, "shrinkage=0"),
        ({"table": [[0, 1]], "domain": Hypercube(2), "shrinkage": np.nan}, "shrinkage=nan"),
        ({"table": [[0, 1]], "domain": Hypercube(2), "record_groups": [1, 1]}, "without groups"),
        ({"table": [[0, 2]], "domain": Hypercube(2)}, "coordinate 1: 2"),
        ({"table": [[0, 1], [1]], "domain": Hypercube(2)}, "different lengths"),
        ({"table": [0, 1], "domain": Hypercube(2), "groups": [1]}, "one label each"),
        ({"table": [[0, 1]], "domain": Hypercube(2), "groups": [1, 2]}, "one label each"),
        ({"table": [0, 1], "domain": Hypercube(3), "groups": [1, 2]}, "3 records"),
        (
            {"table": [0, 1], "domain": Hypercube(2), "groups": [1, 2], "record_groups": [1]},
            "record_groups",
        ),
        ({"table": [0, 1], "domain": Hypercube(2), "groups": [{}, {}]}, "label"),
        ({"table": [0, 1], "domain": Hypergrid([2, 3]), "groups": [1, 2]}, "different sizes"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fit(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("domain", [Hypercube(2), Hypergrid([3, 3]), RecordGrid([2, 5])])
def test_fitted_laws_sum_to_one_exactly(domain: Domain) -> None:
    rows = domain.points(np.arange(domain.size))[::2]
    fitted = fit(rows, domain=domain, shrinkage=1 / 3)
    assert all(sum(fitted.exact_marginal(r)) == 1 for r in range(domain.dimension))
