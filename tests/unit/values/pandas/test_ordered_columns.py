"""The median, a quantile, the largest and the spread of a column: as pandas has them, exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from tests.unit.values.frame_prices import change_of, check_price, price_of, refusal_of
from tests.unit.written_programs import program

pytest.importorskip("pandas")

FOUR = lt.Table({"x": lt.Integer(0, 2), "y": lt.Bit()}, rows=4)
FIVE = lt.Table({"x": lt.Integer(-1, 1)}, rows=5)


@pytest.mark.parametrize("table", [FOUR, FIVE])
@pytest.mark.parametrize(
    "expression",
    [
        lambda frame: frame["x"].median(),
        lambda frame: frame.x.max(),
        lambda frame: frame["x"].min(),
        lambda frame: np.median(frame["x"]),
        lambda frame: frame.agg({"x": "median"})["x"],
        lambda frame: frame["x"].agg(["mean", "max"])["max"],
        lambda frame: frame.iloc[:, 0].max(),
        lambda frame: frame.iloc[:2, -1].sum(),
        lambda frame: frame["x"].std(),
        lambda frame: frame["x"].var(),
        lambda frame: frame["x"].std(ddof=0),
    ],
)
def test_the_price_is_the_largest_change(expression: Callable[[Any], Any], table: lt.Table) -> None:
    if table is FOUR:
        check_price(expression, table)
    else:
        assert price_of(expression, table) >= change_of(expression, table) - 1e-12


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.62, 0.9, 1.0])
def test_a_quantile_moves_by_the_larger_share_of_the_range(share: float) -> None:
    """Where all records but one may be at both ends it is the largest change."""
    for table in (FOUR, FIVE):
        price = price_of(lambda frame: frame["x"].quantile(share), table)
        assert price >= change_of(lambda frame: frame["x"].quantile(share), table) - 1e-12
        place = share * (table.dimension - 1) % 1
        assert price == pytest.approx(2 * max(place, 1 - place))


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        (lambda frame: frame[frame["y"] == 1]["x"].median(), "numpy.median"),
        (lambda frame: frame["x"].quantile([0.1, 0.9]).sum(), "numpy.quantile"),
        (lambda frame: frame.iloc[:, [0, 1]].sum(), ".iloc"),
    ],
)
def test_what_is_not_followed_is_refused(expression: Callable[[Any], Any], why: str) -> None:
    assert why in refusal_of(expression, FOUR)


def test_a_column_of_many_tables_is_ranked_by_its_own_values() -> None:
    people = lt.Table(
        {"age": lt.Integer(18, 90), "city": lt.Category(list("ABC")), "visits": lt.Integer(0, 10)},
        rows=5000,
    )
    right = program("return float(data['age'].median() + rng.laplace(0, 36))")
    wrong = program("return float(data['age'].median() + rng.laplace(0, 30))")
    assert lt.check_privacy(right, people, epsilon=1.0).decision == "YES"
    assert lt.check_privacy(wrong, people, epsilon=1.0).decision == "NO"
