"""Expressions of polars over users: which row of its user each one is, ``.over(user)``."""

from __future__ import annotations

from typing import Any

from liptest.values.record_series import KeySeries, RecordSeries
from liptest.values.row_places import PlaceAmongRows, RowsLeft, codes_of, rows_of_users

ADVICE = (
    "bound the rows of users: pl.int_range(pl.len()).over(key) < 3, pl.len().over(key) <= 3; or "
    "clip what each user adds: group_by(key).agg(pl.col('x').sum().clip(0, 100))"
)
_ONE = {"Literal": {"Dyn": {"Int": 1}}}
#: By what a range of whole numbers goes from and to, the place of the first row.
_RANGES = (
    ([{"Literal": {"Dyn": {"Int": 0}}}, "Len"], 0),
    ([_ONE, {"BinaryExpr": {"left": "Len", "op": "Plus", "right": _ONE}}], 1),
)


def place_over(reader: Any, inner: Any) -> Any:
    """The places that rows have among those of their user, or of their user in their group."""
    partition = [
        reader.columns.get(one.get("Column")) if isinstance(one, dict) else None
        for one in inner["partition_by"]
    ]
    kinds = [type(one) for one in partition]
    users = [one for one in partition if type(one) is KeySeries]
    others = [one for one in partition if type(one) is RecordSeries]
    is_plain = inner.get("order_by") is None and inner.get("mapping") == "GroupsToRows"
    if not is_plain or len(users) != 1 or len(others) + 1 < len(kinds):
        return reader.refuse("over() but of users", ADVICE)
    said = inner["function"]
    if not others and (said == "Len" or _counts_column(reader, said)):
        return rows_of_users(users[0])
    first = _first_place(reader, said)
    if first is None:
        return reader.refuse("over() of what does not say which row of its user each is", ADVICE)
    by = codes_of(others) if others else b""
    return PlaceAmongRows(users[0], first=first, rows=RowsLeft(0, by=by))


def _first_place(reader: Any, said: Any) -> int | None:
    """What the first row of each user has, where the others follow; None for all else."""
    called = said.get("Function") if isinstance(said, dict) else None
    if called is None:
        return None
    function, given = called["function"], called["input"]
    if function == {"CumCount": {"reverse": False}} and _is_column(reader, given[0]):
        return 1
    whole = {"step": 1, "dtype": {"Literal": "Int64"}}
    if function == {"Range": {"IntRange": whole}}:
        return next((first for ends, first in _RANGES if given == ends), None)
    return None


def _counts_column(reader: Any, said: Any) -> bool:
    counted = said.get("Agg", {}).get("Count") if isinstance(said, dict) else None
    return counted is not None and _is_column(reader, counted["input"])


def _is_column(reader: Any, node: Any) -> bool:
    """Whether it is a column of the frame, where nothing is missing."""
    return isinstance(node, dict) and node.keys() == {"Column"} and node["Column"] in reader.columns
