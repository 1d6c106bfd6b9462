"""Entries of counts by constant keys: ``counts[k] if k in counts else 0`` is one answer.

Of all else the code goes on as it was written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from liptest.enumerate.folded.record_counts import Counts
from liptest.enumerate.syntax.pure_code import NotPlain
from liptest.values.pandas.answers_by_key import AnswersInDict, ByKey
from liptest.values.pandas.named_groups import has_zero
from liptest.values.pandas.of_pandas import OfPandas
from liptest.values.protocol import is_symbolic
from liptest.values.records.record_list import RecordList
from liptest.values.rounding import holds_negative_zero
from liptest.values.unfollowed import HoldsEntry


class NamedEntries:
    """What ``Folds`` answers of single entries."""

    def entry(self, counts: Any, key: Any, default: Any, written: Callable[[], Any]) -> Any:
        """``counts[key] if key in counts else default``."""
        has_answers = isinstance(counts, (Counts, ByKey, AnswersInDict))
        return counts.get(key, default) if has_answers and has_zero(default) else written()

    def labelled(self, counts: Any, key: Any, default: Any, written: Callable[[], Any]) -> Any:
        """``counts.loc[key] if key in counts.index else default``."""
        is_known = isinstance(counts, ByKey) and has_zero(default)
        return counts.get(key, default) if is_known else written()

    def unless_empty(
        self,
        values: Any,
        test: Callable[[], Any],
        empty: Callable[[Any], Any],
        body: Callable[[], Any],
        default: Any,
    ) -> Any:
        """``body if values else default``: of a list of records where both agree without records.

        ``empty`` is the body of other values.
        """
        is_number = type(default) in (int, float)
        if type(values) is RecordList and is_number and _is_without_records(empty, default):
            return body()
        return body() if test() else default

    def counted_in(self, counts: Any, key: Any) -> Any:
        """``counts[key]`` in a loop that tells values whose noisy count is large."""
        if isinstance(counts, (Counts, HoldsEntry, OfPandas)):
            entries: Any = counts
            return entries[key]
        if type(counts) is tuple and type(key) is int:  # the shape of a group
            return counts[key]
        raise NotPlain(f"an entry of a {type(counts).__name__} is read")

    def part_of_rows(self, rows: Any, name: str) -> Any:
        """``group.column`` or ``group.sum`` in such a loop."""
        if isinstance(rows, OfPandas):
            return getattr(rows, name)
        raise NotPlain(f".{name} of a {type(rows).__name__} is read")


def _is_without_records(empty: Callable[[Any], Any], default: float) -> bool:
    """Whether a function of a list gives this number where the list has no entries."""
    try:
        without = empty([])
    except Exception:  # the program's own, of a list without entries
        return False
    is_plain = isinstance(without, (int, float)) and not is_symbolic(without)
    return is_plain and without == default and not holds_negative_zero(without)
