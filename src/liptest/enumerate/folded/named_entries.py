"""Entries of counts by constant keys: ``counts[k] if k in counts else 0`` is one answer.

Of all else the code goes on as it was written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from liptest.enumerate.folded.passing import NoisyCounts
from liptest.enumerate.folded.record_counts import Counts
from liptest.enumerate.syntax.pure_code import NotPlain
from liptest.values.pandas.answers_by_key import AnswersInDict, ByKey


class NamedEntries:
    """What ``Folds`` answers of single entries."""

    def entry(self, counts: Any, key: Any, default: Any, written: Callable[[], Any]) -> Any:
        """``counts[key] if key in counts else default``."""
        has_answers = isinstance(counts, (Counts, ByKey, AnswersInDict))
        return counts.get(key, default) if has_answers and _is_zero(default) else written()

    def labelled(self, counts: Any, key: Any, default: Any, written: Callable[[], Any]) -> Any:
        """``counts.loc[key] if key in counts.index else default``."""
        is_known = isinstance(counts, ByKey) and _is_zero(default)
        return counts.get(key, default) if is_known else written()

    def counted_in(self, counts: Any, key: Any) -> Any:
        """``counts[key]`` in a loop that tells values whose noisy count is large."""
        if type(counts) in (Counts, NoisyCounts):
            return counts[key]
        raise NotPlain(f"an entry of a {type(counts).__name__} is read")


def _is_zero(default: Any) -> bool:
    return type(default) in (int, float) and default == 0
