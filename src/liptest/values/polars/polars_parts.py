"""What expressions of polars give, beside a column of the records."""

from __future__ import annotations

from typing import Any

ADVICE = (
    "use expressions of docs/tables.md (arithmetic, clip, comparisons, when/then/otherwise, cast), "
    "then .sum(), .mean() or pl.len()"
)


class Narrow:
    """Numbers of 32 bits, as ``when(..).then(1).otherwise(0)`` gives: to be added up or cast."""

    def __init__(self, series: Any) -> None:
        self.series = series


class RowsTotal:
    """A number of all records; ``is_unsigned`` where polars keeps it without a sign."""

    def __init__(self, value: Any, *, is_unsigned: bool = False) -> None:
        self.value = value
        self.is_unsigned = is_unsigned


class PlainEntry:
    """A constant."""

    def __init__(self, value: Any) -> None:
        self.value = value
