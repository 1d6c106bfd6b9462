"""The largest or smallest of numbers: which of symbolic numbers it is is one question."""

from __future__ import annotations

import builtins
import math
import operator
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from types import GeneratorType
from typing import Any

import numpy as np

from liptest.enumerate.folded.record_counts import CountedValues
from liptest.symbolic.forms import Form
from liptest.values.answers.aligned import AlignedValue
from liptest.values.answers.best_of_two import (
    best_of_known,
    best_of_two,
    median_known,
    place_of_known,
    sort_known,
)
from liptest.values.answers.ordered_answers import median_of_answers, sort_answers
from liptest.values.answers.ranked_places import Ranking
from liptest.values.answers.weights import Score, are_scores, largest_of
from liptest.values.array import CellStorage, SymbolicArray, make_array
from liptest.values.faults import call_original

# What is walked once, whoever walks it.
_WALKED: tuple[type, ...] = (
    *(list, tuple, range, dict, enumerate, map, zip, GeneratorType),
    *(type({}.keys()), type({}.values()), type({}.items())),
)


def best_of(written: Any, place_of: Any, values: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """The largest or smallest; which of symbolic numbers it is is one question, not many."""
    if len(values) == 1 and type(values[0]) is CountedValues and written is builtins.max:
        values, named = _of_all_keys(values[0], named)
    if len(values) > 1 and not named:
        values = tuple(map(_as_answer, values))
    if len(values) == 2 and not named:
        best = best_of_two(written, *values)
        if best is not None:
            return best
    best = best_of_known(written, values) if len(values) > 2 and not named else None
    if best is not None:
        return best
    if len(values) > 1 and not named and (_are_symbolic(values) or are_scores(list(values))):
        values = (values,)
    if len(values) != 1 or not _is_walked(values[0]) or named.keys() - {"key"}:
        return call_original(written, *values, **named)
    entries, key = list(values[0]), named.get("key")
    if key is None and len(entries) > 1 and are_scores(entries):
        return largest_of(entries, sign=1 if written is builtins.max else -1)
    best = best_of_known(written, entries) if key is None else None
    if best is not None:
        return best
    numbers = _firsts_of(entries if key is None else call_original(list, map(key, entries)))
    place = place_of_best(numbers, place_of)
    if place is not None:
        return entries[place]
    places = range(len(entries))
    if not entries:
        return call_original(written, entries)
    return entries[call_original(written, places, key=numbers.__getitem__)]


def sorted_of(values: Any, named: dict[str, Any], *, by_rank: bool) -> Any:
    """``sorted(values)``: the order of numbers that are known is not asked.

    ``by_rank``: only entries of the list are read, so no other order is asked than theirs.
    """
    if not _is_walked(values) or named.keys() - {"key", "reverse"}:
        return call_original(sorted, values, **named)
    entries, key, descends = list(values), named.get("key"), bool(named.get("reverse", False))
    known = sort_known(entries, descends=descends) if key is None else None
    if known is not None:
        return known
    answers = _as_answers(entries) if key is None else None
    if answers is not None:
        in_order = sort_answers(*answers)
        return in_order[::-1] if descends else in_order
    numbers = entries if key is None else call_original(list, map(key, entries))
    firsts = _firsts_of(numbers)
    if by_rank and _are_never_equal(firsts) and not firsts[0].run.releases:
        return RankedEntries(entries, firsts, descends=descends)
    order = call_original(sorted, range(len(entries)), key=numbers.__getitem__, reverse=descends)
    return [entries[place] for place in order]


class RankedEntries:
    """A sorted list of which only entries and slices are read (docs/theory/loops.md, L6)."""

    def __init__(self, entries: list[Any], numbers: list[Any], *, descends: bool) -> None:
        self._entries = entries
        self._ranking = Ranking(numbers)
        self._descends = descends

    def __getitem__(self, index: Any) -> Any:
        ranks = list(range(len(self._entries))[:: -1 if self._descends else 1])
        asked = call_original(operator.getitem, ranks, index)  # with the errors of a list
        if isinstance(asked, list):
            return [self._entries[self._ranking.place(rank)] for rank in asked]
        return self._entries[self._ranking.place(asked)]


def median_of(values: Any) -> Any:
    """``statistics.median(values)``."""
    if not _is_walked(values):
        return call_original(statistics.median, values)
    entries = list(values)
    answers = _as_answers(entries)
    known = median_known(entries) if answers is None else median_of_answers(*answers)
    return call_original(statistics.median, entries) if known is None else known


def _as_answers(entries: list[Any]) -> tuple[Any, list[Form], Any] | None:
    """The run, the sums and the type of answers without noise in a line; None for all else."""
    if not entries or not all(type(entry) is AlignedValue for entry in entries):
        return None
    run, kinds = entries[0].run, {entry.kind for entry in entries}
    if run.is_curved or len(kinds) > 1 or not all(entry.is_answer for entry in entries):
        return None
    return run, [entry.form for entry in entries], kinds.pop()


def _of_all_keys(counted: CountedValues, named: dict[str, Any]) -> Any:
    """Of ``max(counts.values(), default=0)`` the counts of all keys that may be there."""
    has_default = named.keys() == {"default"} and repr(named["default"]) == "0"
    of_all = None
    if has_default or not named:
        of_all = counted.counts.numbers_of_all(is_there=not has_default)
    return ((counted,), named) if of_all is None else ((of_all,), {})


def _as_answer(value: Any) -> Any:
    """The largest of some sums, of which one more is the smallest: ``min(max(x, 0), 9)``."""
    return value.as_answer() if type(value) is Score and value.is_largest else value


def _is_walked(value: Any) -> bool:
    return type(value) in _WALKED or _is_of_cells(value)


def _is_of_cells(value: Any) -> bool:
    """Whether it is an array of answers, entry by entry."""
    is_array = type(value) is SymbolicArray and isinstance(value.storage, CellStorage)
    return is_array and value.ndim == 1


def _are_symbolic(numbers: Iterable[Any]) -> bool:
    return all(type(number) is AlignedValue for number in numbers)


def _firsts_of(numbers: list[Any]) -> list[Any]:
    """Of tuples the numbers that they begin with, where no two of these are equal."""
    if not all(type(number) is tuple and number for number in numbers):
        return numbers
    firsts = [number[0] for number in numbers]
    return firsts if _are_never_equal(firsts) else numbers


def _are_never_equal(numbers: Sequence[Any]) -> bool:
    """Whether each of several numbers has continuous noise that no other one has."""
    if len(numbers) < 2 or not _are_symbolic(numbers):
        return False
    run = numbers[0].run
    times = Counter(variable for number in numbers for variable, _ in number.form.terms)
    return all(
        any(
            times[variable] == 1 and run.has_continuous_noise(Form.variable(variable))
            for variable, _ in number.form.terms
        )
        for number in numbers
    )


def place_of_best(numbers: list[Any], place_of: Any) -> int | None:
    """Where the largest or smallest of symbolic numbers is, as one question; None for others."""
    place = place_of_known(place_of, numbers)
    if place is not None:
        return place
    if len(numbers) < 2 or not _are_symbolic(numbers):
        return None
    run = numbers[0].run
    if run.releases:
        return None
    cells = np.empty(len(numbers), dtype=object)
    cells[:] = numbers
    return int(place_of(make_array(run.tree, cells, np.float64)))


def running_best(
    candidates: list[tuple[Any, ...]],
    comparison: str,
    begins_with_none: bool,
    initial: Callable[[], Any],
) -> tuple[Any, ...] | None:
    """What a loop keeps of its best candidate; None where it keeps what it began with."""
    if not candidates:
        return None
    top = initial()
    compare, place_of, ends = RUNNING[comparison]
    listed: list[Any] = [None, *candidates]  # with what it begins with
    numbers = [top, *(candidate[0] for candidate in candidates)]
    first = top[0] if type(top) is tuple and top else top
    if (begins_with_none and top is None) or (type(first) is float and first == ends):
        del listed[0], numbers[0]
    # Of equal numbers the first one is kept, or the last one.
    order = 1 if comparison in ("Gt", "Lt") else -1
    place = place_of_best(_firsts_of(numbers[::order]), place_of)
    if place is not None:
        return listed[::order][place]  # type: ignore[no-any-return]
    best = None
    for candidate in candidates:
        if (begins_with_none and top is None) or compare(candidate[0], top):
            top, best = candidate[0], candidate
    return best


# How a loop compares candidates, which of all numbers it keeps, and what is never kept.
RUNNING: dict[str, tuple[Any, Any, float]] = {
    "Gt": (operator.gt, np.argmax, -math.inf),
    "GtE": (operator.ge, np.argmax, -math.inf),
    "Lt": (operator.lt, np.argmin, math.inf),
    "LtE": (operator.le, np.argmin, math.inf),
}
