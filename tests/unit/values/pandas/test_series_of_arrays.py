"""Series and frames of pandas that a program makes of its array, against pandas itself.

With Laplace noise of scale 1 on each number the price is the largest change of all numbers together
that one record makes, over all pairs of small datasets.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from liptest.values.pandas.of_pandas import columns_are_copied

pd = pytest.importorskip("pandas")
VALUES, RECORDS = 4, 3
# An odd number, as of the small datasets: else the median moves by half.
MANY = lt.RecordGrid([VALUES] * 5001)
KEYS = list(range(VALUES))
Numbers = Callable[[Any], Any]


def one(number: Any) -> Any:
    return np.stack([number])


def frame_of(data: Any) -> Any:
    return pd.DataFrame({"x": data, "half": data % 2})


def written_later(data: Any) -> Any:
    array = data.copy()
    frame = pd.DataFrame({"x": array})
    array[array > 0] = 9
    return one(frame["x"].sum())


OF_FRAMES: dict[str, Numbers] = {
    "sum": lambda d: one(pd.DataFrame({"x": d})["x"].sum()),
    "selected": lambda d: one(len(frame_of(d)[frame_of(d)["x"] > 1])),
    "by group": lambda d: frame_of(d).groupby("half")["x"].sum().reindex([0, 1], fill_value=0),
    "sizes": lambda d: frame_of(d).groupby("x").size().reindex(KEYS, fill_value=0),
    "written later": written_later,
}
OF_SERIES: dict[str, Numbers] = {
    "sum": lambda d: one(pd.Series(d).sum()),
    "counts": lambda d: np.stack([pd.Series(d).value_counts().get(k, 0) for k in KEYS]),
    "counts by name": lambda d: pd.Series(d).value_counts().reindex(KEYS, fill_value=0),
    "clipped": lambda d: one(pd.Series(data=d, name="x").clip(0, 2).sum()),
    "equal": lambda d: one((pd.Series(d) == 2).sum()),
    "an array again": lambda d: np.bincount(pd.Series(d).to_numpy(), minlength=VALUES),
    "range": lambda d: one(pd.Series(d).max() - pd.Series(d).min()),
    "median": lambda d: one(pd.Series(d).median()),
    "first ones": lambda d: one(pd.Series(d[:2]).sum()),
}
#: Where pandas looks at keys, single records, or which values there are.
OTHERS: dict[str, Numbers] = {
    "other records": lambda d: one((pd.Series(d) * pd.Series(d[::-1])).sum()),
    "some and some": lambda d: one((pd.Series(d)[d > 1] + pd.Series(d[d > 1])).sum()),
    "last ones": lambda d: one(pd.Series(d[1:]).sum()),
    "records as keys": lambda d: one(pd.Series(d, index=d).sum()),
    "another type": lambda d: one(pd.Series(d, dtype="int8").sum()),
    "in order": lambda d: one(pd.DataFrame({"x": d, "y": np.sort(d)}).sum().sum()),
    "reversed": lambda d: one(pd.DataFrame({"x": d, "y": d[::-1]})["x"].sum()),
    "with a constant": lambda d: one(pd.DataFrame({"x": d, "one": 1})["x"].sum()),
    "of a list": lambda d: one(pd.DataFrame(d, columns=["x"])["x"].sum()),
    "steps": lambda d: one(pd.Series(d).diff().abs().sum()),
    "how many there are": lambda d: one(len(pd.Series(d).value_counts().index)),
    "one that may be missing": lambda d: one(pd.Series(d).value_counts()[3]),
}


def find_price(numbers_of: Numbers) -> Any:
    def noisy(data: Any, rng: Any) -> Any:
        numbers = numbers_of(data)
        return (numbers + rng.laplace(0, 1.0, size=len(numbers))).tolist()

    return align(lt.mechanism(noisy), MANY)


def largest_change(numbers_of: Numbers) -> float:
    """Over all pairs of datasets that differ in one record."""
    found = {
        point: np.asarray(numbers_of(np.array(point)), dtype=float)
        for point in product(range(VALUES), repeat=RECORDS)
    }
    return max(
        float(np.abs(numbers - found[(*point[:place], other, *point[place + 1 :])]).sum())
        for point, numbers in found.items()
        for place in range(RECORDS)
        for other in range(VALUES)
    )


@pytest.mark.parametrize("name", OF_FRAMES)
def test_frames_are_priced_at_the_largest_change(name: str) -> None:
    price = find_price(OF_FRAMES[name]).epsilon
    assert price == pytest.approx(largest_change(OF_FRAMES[name]), abs=1e-9)


@pytest.mark.skipif(not columns_are_copied(), reason="a series shares the memory of the array")
@pytest.mark.parametrize("name", OF_SERIES)
def test_series_are_priced_at_the_largest_change(name: str) -> None:
    price = find_price(OF_SERIES[name]).epsilon
    assert price == pytest.approx(largest_change(OF_SERIES[name]), abs=1e-9)


@pytest.mark.parametrize("name", OTHERS)
def test_other_uses_have_no_price(name: str) -> None:
    assert find_price(OTHERS[name]).price is None


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_largest_and_middle_of_columns_of_tables(relation: Any) -> None:
    """Where a record comes or goes it is not public how many there are."""
    table: Any = lt.Table({"age": lt.Integer(0, 9, step=3)}, rows=50, relation=relation)
    for method, change in (("max", 9), ("min", 9), ("median", 4.5)):

        def released(data: Any, rng: Any, method: str = method) -> Any:
            return float(getattr(data["age"], method)() + rng.laplace(0, 1.0))

        alignment = align(lt.mechanism(released).on_domain(table), table)
        assert alignment.epsilon == (change if relation == "replace" else float("inf"))


def test_the_reason_names_what_is_followed() -> None:
    reason = find_price(OTHERS["with a constant"]).reason
    assert "pandas.DataFrame({'x': data})" in reason
    assert "what kind of object" not in reason
