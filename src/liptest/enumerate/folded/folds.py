"""What a function with folded loops asks while it runs: is this a column, and what is its sum.

``folding`` rewrites a function so that its loops over records ask a ``Folds``. Of anything but a
column the function goes on as it was written. Of a column each possible record is walked once, and
what a pass adds to an accumulator is noted as that record's contribution: the sum over all records
is one answer (docs/theory/loops.md, L1).
"""

from __future__ import annotations

import ast
import builtins
import functools
import heapq
import math
import operator
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from types import FunctionType
from typing import Any, Protocol

import numpy as np

from liptest.enumerate.folded.alike_rows import (
    as_one,
    count_records,
    is_of_numbers,
    join_alike,
    rows_to_walk,
    take_each_of,
    walk_rows,
)
from liptest.enumerate.folded.best_of import best_of, median_of, running_best, sorted_of
from liptest.enumerate.folded.later_records import LaterRecords, find_walked, is_fixed, read_around
from liptest.enumerate.folded.named_entries import NamedEntries
from liptest.enumerate.folded.passing import Passing, in_order_of_keys, passing_again
from liptest.enumerate.folded.record_counts import ColumnRows, CountedKeys, Counts, rows_at_index
from liptest.enumerate.folded.record_loops import Loop, refuse_pass
from liptest.enumerate.folded.signed_noise import multiply_draws
from liptest.enumerate.intercept.generator import ChoiceGenerator, is_generator
from liptest.enumerate.loops.coin_loops import draw_passes
from liptest.enumerate.loops.ends_of_passes import PassEnds
from liptest.enumerate.symbols.alike_pasts import Heads, make_heads
from liptest.enumerate.syntax.called_methods import PureMethods
from liptest.enumerate.syntax.outside_names import OutsideNames
from liptest.enumerate.syntax.pure_code import NUMBERS, PLAIN_METHODS, NotPlain, is_plain
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.values.answers.aligned import AlignedValue
from liptest.values.answers.flips import (
    CoinFunctions,
    Hit,
    PlaceByFlips,
    Tried,
    is_of_scores,
    pop_places,
)
from liptest.values.array import SymbolicArray
from liptest.values.column_functions import look_up
from liptest.values.draws.whole_draws import whole_numbers_compared
from liptest.values.faults import call_original
from liptest.values.lines import line_in_words
from liptest.values.pandas.of_pandas import OfPandas
from liptest.values.protocol import is_symbolic
from liptest.values.records.distinct import Distinct, DistinctPairs
from liptest.values.records.made_rows import MadeRows
from liptest.values.records.ranked_records import extreme_record, median_record, sort_records
from liptest.values.records.spread_of_records import spread
from liptest.values.rounding import holds_negative_zero

_EXACT = (int, float, bool, Fraction, np.int64, np.float64)
COMPARISONS = {
    type(one).__name__: function
    for one, function in (
        *((ast.Lt(), operator.lt), (ast.LtE(), operator.le), (ast.Gt(), operator.gt)),
        *((ast.GtE(), operator.ge), (ast.Eq(), operator.eq), (ast.NotEq(), operator.ne)),
    )
}


def _find_tree(value: Any) -> ChoiceTree | None:
    """The tree of the analysis that a generator, or a symbolic number, is of."""
    tree: Any = None
    if type(value) is ChoiceGenerator:
        tree = value._tree
    elif type(value) is AlignedValue:
        tree = value.run.tree
    elif type(value) is SymbolicArray:
        tree = value.storage.branching
    return tree if isinstance(tree, ChoiceTree) else None


def _is_read_alike(value: Any) -> bool:
    """Whether it is constant data or numbers of the analysis: reading it changes nothing."""
    if type(value) in (list, tuple) and any(map(is_of_scores, value)):
        return all(map(_is_read_alike, value))
    return is_of_scores(value) or is_plain(value)


class Samplers(Protocol):
    """Functions that only draw."""

    #: Whether loops that start over may draw noise, and how many such loops were found.
    draws_noise: bool
    loops: int

    def is_sampler(self, function: FunctionType) -> bool:
        """Whether a function is one."""
        ...

    def passes_of(self, values: tuple[Any, ...] | None, *, in_place: bool, loop: Any) -> Any:
        """The passes of a loop that starts over, and reads these values of outside.

        None where these are not known. ``loop`` is equal for passes of one loop of the code.
        """
        ...


#: The rows of a column; None for everything else.
ColumnRowsOf = Callable[[Any], ColumnRows | None]
#: What is read at the index of a loop.
Arrays = Callable[[], tuple[Any, ...]]


class Folds(PassEnds, NamedEntries):
    """Answers one function with folded loops.

    Parameters
    ----------
    rows_of
        Knows columns.
    summarised
        Stands in for a function that only draws, None for any other; loops of coins are then run
        as they are. It is given what rewrites a function, too.
    length_of
        What len() gives of all else.
    samplers
        Knows functions that only draw: then loops that start over are counted as one pass.
    rows_together
        What ``zip`` gives of columns of the same records; None of all else.
    flips
        Gives the place that a loop that tries places keeps (``place_by_scores``), where such loops
        are one choice; ``flips_found`` are the lines of those that were. ``coins`` knows functions
        that throw coins.
    moves_returns
        Whether what a loop returns may be calculated behind it (``pass_forms``).
    """

    def __init__(
        self,
        rows_of: ColumnRowsOf,
        summarised: Callable[[Any, Callable[[Any], Any]], Any] | None = None,
        length_of: Callable[[Any], Any] = len,
        *,
        samplers: Samplers | None = None,
        rows_together: Callable[[Sequence[Any]], Any] = lambda iterables: None,
        flips: PlaceByFlips | None = None,
        coins: CoinFunctions | None = None,
        moves_returns: bool = True,
    ) -> None:
        self.rows_of = rows_of
        self.length_of = length_of
        self.summarised = summarised
        self.samplers = samplers
        self._rows_together = rows_together
        self._methods = PureMethods()
        self.helpers = {}
        self.place_by_flips = flips
        self.moves_returns = moves_returns
        self.flips_found: set[str] = set()
        self._coins = coins
        #: Loops that were not run as they are written.
        self.loops_summed_up = 0

    def item(self, array: Any, index: Any) -> Any:
        """``array[index]``, where the index may be a column of places, or several of them."""
        if type(array) is np.ndarray and type(index) in (SymbolicArray, tuple):
            entry = look_up(array, index)
            if entry is not NotImplemented:
                return entry
        return call_original(operator.getitem, array, index)

    def loop(self, iterable: Any) -> Loop | None:
        """Of ``for record in iterable``."""
        rows = self.rows_of(iterable)
        return None if rows is None else self._walk(rows, rows_to_walk(rows.values, as_one))

    def unpacked(self, iterable: Any, count: int) -> Loop | None:
        """Of ``for one, other in iterable``."""
        rows = self.rows_of(iterable)
        if rows is None:
            return None
        return self._walk(rows, rows_to_walk(rows.values, partial(take_each_of, rows, count)))

    def applied(
        self, value: Any, by_rows: bool, written: Callable[[Any], Any], checked: Any
    ) -> Any:
        """``value.apply(function)`` of a column, or of a frame by rows, which only calculates."""
        if not issubclass(type(value), OfPandas):
            return written(value)
        return value.apply_by(lambda rows: self.comprehension(rows, checked, checked), by_rows)

    def indexed(self, count: Any, arrays: Arrays) -> Loop | None:
        """Of ``for i in range(count)`` that reads only ``array[i]``."""
        rows = self._rows_at(count, arrays)
        if rows is None:
            return None
        return self._walk(rows[0], MadeRows([column.values for column in rows], tuple))

    def enumerated(self, iterable: Any, arrays: Arrays) -> Loop | None:
        """Of ``for i, record in enumerate(iterable)`` that reads only ``array[i]`` beside."""
        first = self.rows_of(iterable)
        return None if first is None else self.indexed(first.length, lambda: (iterable, *arrays()))

    def at_index(self, places: range, arrays: Arrays) -> Any:
        """What a comprehension over ``range(count)`` walks that reads only ``array[i]``."""
        rows = self._rows_at(places.stop, arrays) if places.start == 0 else None
        return places if rows is None else self._rows_together(arrays())

    def table(self, value: Any) -> Any:
        """What ``value[i, 0]`` reads: an array, and nothing else, of which it may raise."""
        return value if type(value) is SymbolicArray else None

    def _rows_at(self, count: Any, arrays: Arrays) -> list[ColumnRows] | None:
        """The rows of arrays of so many records; None where they are not all such."""
        try:
            return rows_at_index(count, [self.rows_of(array) for array in arrays()])
        except NameError:
            return None

    def counted(self, limits: Callable[[], tuple[Any, Any]], arrays: Arrays) -> Loop | None:
        """Of ``while i < count`` that counts up from 0 and reads only ``array[i]``."""
        try:
            start, count = limits()
        except NameError:
            return None
        return self.indexed(count, arrays) if type(start) is int and start == 0 else None

    def sum(self, values: Any, *start: Any, **named: Any) -> Any:
        """``sum(values, start)``."""
        rows = self.rows_of(values)
        if rows is None:
            return call_original(sum, values, *start, **named)
        loop = Loop(rows, rows_to_walk(rows.values, as_one))
        for (value,) in loop.records():
            loop.add("sum", value)
        return (
            loop.total("sum", *start, *named.values()) if start or named else loop.total("sum", 0)
        )

    def fsum(self, values: Any) -> Any:
        """``math.fsum(values)``."""
        is_plain = self.rows_of(values) is None
        return call_original(math.fsum, values) if is_plain else self.sum(values, 0.0)

    def mean(self, values: Any) -> Any:
        """``statistics.mean(values)`` of numbers; of NumPy's whole ones it cuts off the mean."""
        rows = self.rows_of(values)
        kinds = set() if rows is None else set(map(type, rows.values))
        if rows is not None and any(issubclass(kind, np.integer) for kind in kinds):
            rows.refuse("statistics.mean of whole numbers of NumPy, which cuts off: use np.mean")
        return self._mean(statistics.mean, values)

    def fmean(self, values: Any, *weights: Any, **named: Any) -> Any:
        """``statistics.fmean(values)``."""
        if weights or named:
            return call_original(statistics.fmean, values, *weights, **named)
        return self._mean(statistics.fmean, values)

    def _mean(self, written: Any, values: Any) -> Any:
        rows = self.rows_of(values)
        return call_original(written, values) if rows is None else self.sum(values) / rows.length

    def variance(self, values: Any, *mean: Any, **named: Any) -> Any:
        """``statistics.variance(values)``."""
        return self._spread(statistics.variance, values, 1, *mean, **named)

    def pvariance(self, values: Any, *mean: Any, **named: Any) -> Any:
        """``statistics.pvariance(values)``."""
        return self._spread(statistics.pvariance, values, 0, *mean, **named)

    def stdev(self, values: Any, *mean: Any, **named: Any) -> Any:
        """``statistics.stdev(values)``."""
        return self._spread(statistics.stdev, values, 1, *mean, **named)

    def pstdev(self, values: Any, *mean: Any, **named: Any) -> Any:
        """``statistics.pstdev(values)``."""
        return self._spread(statistics.pstdev, values, 0, *mean, **named)

    def _spread(self, written: Any, values: Any, ddof: int, *mean: Any, **named: Any) -> Any:
        """Of whole numbers and floats of Python, with the mean of all; NumPy's are cut off."""
        rows = self.rows_of(values)
        if rows is None:
            return written(values, *mean, **named)
        are_numbers = {*map(type, rows.values)} in ({int}, {float})
        if mean or named or not are_numbers or not all(rows.kept) or type(rows.length) is not int:
            rows.refuse(f"statistics.{written.__name__} of these numbers: use np.var or np.std")
        column = rows.column.like(np.array(rows.values))
        is_root = written in (statistics.stdev, statistics.pstdev)
        found = spread(column, ddof, is_root=is_root)
        if found is None:
            rows.refuse(f"statistics.{written.__name__} of these numbers")
        return found

    def reduce(self, function: Any, values: Any, *start: Any, parts: Any = None) -> Any:
        """``functools.reduce``, which adds up: ``operator.add``, or with what it adds as a list."""
        if self.rows_of(values) is None or (parts is None and function is not operator.add):
            return call_original(functools.reduce, function, values, *start)
        added = values if parts is None else self.comprehension(values, parts, parts)
        rows = self.rows_of(added)
        first = [] if start or rows is None else rows.values
        if rows is not None and any(type(v) is np.bool_ or holds_negative_zero(v) for v in first):
            rows.refuse("functools.reduce that begins with a truth of NumPy or -0.0: use sum")
        return self.sum(added, *start)

    def len_of_set(self, values: Any) -> Any:
        """``len(set(values))``."""
        if self.rows_of(values):
            return self.counter(values).how_many()
        return len(call_original(set, values))

    def any(self, values: Any) -> Any:
        """``any(values)``: how many of them are true is above 0."""
        if self.rows_of(values) is None:
            return call_original(any, values)
        return self._how_many(values, bool) > 0

    def all(self, values: Any) -> Any:
        """``all(values)``."""
        if self.rows_of(values) is None:
            return call_original(all, values)
        return self._how_many(values, operator.not_) == 0

    def _how_many(self, values: Any, is_counted: Callable[[Any], bool]) -> Any:
        """How many records have a value that is counted."""
        rows = self.rows_of(values)
        assert rows is not None
        pairs = zip(rows.values, rows.kept, strict=True)
        kept = [is_kept and bool(is_counted(value)) for value, is_kept in pairs]
        return self.len(rows.mapped([0] * len(kept), kept))

    def max(self, *values: Any, **named: Any) -> Any:
        """``max(values, key=..)``."""
        return self._best(builtins.max, np.argmax, 1, values, named)

    def min(self, *values: Any, **named: Any) -> Any:
        """``min(values, key=..)``."""
        return self._best(builtins.min, np.argmin, -1, values, named)

    def _best(self, written: Any, place_of: Any, sign: int, values: Any, named: Any) -> Any:
        is_of_records = len(values) == 1 and not named and self.rows_of(values[0]) is not None
        record = extreme_record(values[0], sign) if is_of_records else None
        return best_of(written, place_of, values, named) if record is None else record

    def sorted(self, values: Any, by_rank: bool = False, **named: Any) -> Any:
        """``sorted(values)``; ``by_rank``: of the list only entries and slices are read."""
        ordered = None
        if named.keys() <= {"reverse"}:
            sort = in_order_of_keys if self.rows_of(values) is None else sort_records
            ordered = sort(values, descends=bool(named.get("reverse", False)))
        return sorted_of(values, named, by_rank=by_rank) if ordered is None else ordered

    def median(self, values: Any) -> Any:
        """``statistics.median(values)``."""
        middle = None if self.rows_of(values) is None else median_record(values)
        return median_of(values) if middle is None else middle

    running_best = staticmethod(running_best)

    def nlargest(self, n: Any, values: Any, key: Any = None) -> Any:
        """``heapq.nlargest(n, values)``."""
        return self._first_ranks(heapq.nlargest, n, values, key)

    def nsmallest(self, n: Any, values: Any, key: Any = None) -> Any:
        """``heapq.nsmallest(n, values)``."""
        return self._first_ranks(heapq.nsmallest, n, values, key)

    def _first_ranks(self, written: Any, n: Any, values: Any, key: Any) -> Any:
        if not isinstance(n, (int, np.integer)):
            return call_original(written, n, values, key)
        named = {} if key is None else {"key": key}
        descends = written is heapq.nlargest
        return self.sorted(values, by_rank=True, reverse=descends, **named)[: max(n, 0)]

    def len(self, values: Any) -> Any:
        """``len(values)``."""
        rows = self.rows_of(values)
        return self.length_of(values) if rows is None else rows.length

    def list(self, *values: Any) -> Any:
        """``list(values)``; a column of NumPy's numbers keeps them."""
        rows = self.rows_of(values[0]) if len(values) == 1 else None
        if rows is None:
            return call_original(list, *values)
        return rows.mapped(list(rows.values), list(rows.kept))

    def to_tuple(self, *values: Any) -> Any:
        """``tuple(values)``."""
        rows = self.rows_of(values[0]) if len(values) == 1 else None
        return call_original(tuple, *values) if rows is None else self.list(values[0])

    def zip(self, *iterables: Any, **named: Any) -> Any:
        """``zip(values, counts)``."""
        if len(iterables) == 2 and type(iterables[0]) is Distinct and named.keys() <= {"strict"}:
            values, counts = iterables
            if values.is_counted_by(counts):
                return DistinctPairs(values)
        if len(iterables) == 2 and isinstance(iterables[0], OfPandas):
            pairs = iterables[0].zipped_with(iterables[1])
            if pairs is not None and named.keys() <= {"strict"}:
                return pairs
        together = self._rows_together(iterables) if named.keys() <= {"strict"} else None
        return call_original(zip, *iterables, **named) if together is None else together

    def dict(self, *pairs: Any, **named: Any) -> Any:
        """``dict(zip(values, counts))``, and ``dict(Counter(..))``."""
        if len(pairs) == 1 and not named and isinstance(pairs[0], OfPandas):
            return pairs[0].in_dict()
        if len(pairs) != 1 or named or type(pairs[0]) is not DistinctPairs:
            return call_original(dict, *pairs, **named)
        distinct = pairs[0].values
        rows = self.rows_of(SymbolicArray(distinct.column))
        assert rows is not None  # numbers in a line
        counts = count_records(rows)
        counts.raises, counts.pairs = True, pairs[0]
        return counts

    def passing(self, pairs: Any) -> Passing | None:
        """Of a loop that tells the values whose noisy count is above a bound."""
        if isinstance(pairs, OfPandas):
            pairs = pairs.walked_groups()
        if isinstance(pairs, DistinctPairs):
            return Passing(pairs.values, has_order=pairs.values.has_order)
        if type(pairs) is Counts:
            pairs = pairs.keys()
        if type(pairs) is CountedKeys:
            walked, has_order = pairs.walked, pairs.has_order
            return Passing(walked, with_counts=pairs.with_counts, has_order=has_order)
        return passing_again(pairs)

    def filled(
        self,
        iterable: Any,
        written: Callable[[Any], Any],
        sources: Callable[[], tuple[Any, ...]],
        parts: Callable[..., tuple[Any, ...]],
        comparison: str,
    ) -> Any:
        """A comprehension that makes a dict, as it is written, and key and value of an item.

        With a ``comparison`` a number and a bound come before them.
        """
        passing = self.passing(iterable)
        if passing is None:
            return written(iterable)
        try:
            for source in sources():
                passing.draws(source)
            for item in passing:
                made = parts(*item) if type(item) is tuple else parts(item)
                passing.tell_parts(made, comparison)
        except Exception:
            passing.fail()
        return passing.result({})

    def counter(self, *values: Any, **named: Any) -> Any:
        """``collections.Counter(values)``."""
        rows = self.rows_of(values[0]) if len(values) == 1 and not named else None
        return call_original(Counter, *values, **named) if rows is None else count_records(rows)

    def updated(self, counts: Any, values: Any) -> Any:
        """What a name stands for after ``counts.update(values)``, which nothing else has."""
        rows = self.rows_of(values)
        if rows is None or type(counts) is not Counter:
            counts.update(values)
            return counts
        return rows.refuse("Counter.update of counts") if counts else self.counter(values)

    def comprehension(
        self,
        iterable: Any,
        written: Callable[[Any], Any],
        checked: Callable[[Any], Iterable[Any]],
    ) -> Any:
        """A comprehension over one iterable, as it is written and with its names looked at."""
        rows = self.rows_of(iterable)
        if rows is None:
            return written(iterable)
        self._methods = PureMethods()
        records = rows_to_walk(rows.values)
        walked = join_alike(rows, records)
        found: dict[int, list[Any]] = {}
        for place, value in walk_rows(walked, records):
            try:
                entries = found[place] = list(checked([value]))
            except Exception as error:
                refuse_pass(rows, error)
            if entries and not is_of_numbers(entries[0]):
                rows.refuse("a comprehension over the records that gives more than numbers")
        values = [found.get(place) for place in range(len(walked.values))]
        return walked.mapped([entry[0] if entry else 0 for entry in values], [*map(bool, values)])

    def taken(self, iterable: Any) -> Any:
        """What a walk over an iterable walks."""
        return find_walked(iterable)

    def later(
        self,
        iterable: Any,
        written: Callable[[Any], Any],
        checked: Callable[[Any], Iterable[Any]],
        known: Callable[[], tuple[Any, ...]],
    ) -> Any:
        """A generator, ``map`` or ``filter`` that is kept: what it gives is made when it is walked.

        ``known`` are the values of the names that it reads of outside.
        """
        rows = self._rows_later(iterable)
        if rows is None:
            return written(iterable)

        def make() -> Any:
            with suppress(NameError):
                if all(map(is_fixed, known())):
                    return self.comprehension(find_walked(iterable), written, checked)
            return rows.refuse("an iterator over the records that reads what may change")

        return LaterRecords(rows, make)

    def iterator(self, *iterable: Any) -> Any:
        """``iter(values)``, which is walked later."""
        rows = self.rows_of(iterable[0]) if len(iterable) == 1 else None
        if rows is None:
            return call_original(iter, *iterable)
        return LaterRecords(rows, lambda: iterable[0])

    def generated(
        self, function: FunctionType, made: Callable[..., Any], *arguments: Any, **named: Any
    ) -> Any:
        """What a generator function gives, whose entries ``made`` returns as a list."""

        def read() -> list[Any]:
            return [*arguments, *named.values(), *read_around(function)]

        rows = next((one for one in map(self._rows_later, read()) if one is not None), None)
        if rows is None:
            return function(*arguments, **named)

        def listed() -> Any:
            if all(is_fixed(one) or self._rows_later(one) is not None for one in read()):
                entries = made(*arguments, **named)
                if self.rows_of(entries) is not None:
                    return entries
            return rows.refuse("a generator that does more than to walk the records")

        return LaterRecords(rows, listed)

    def _rows_later(self, value: Any) -> ColumnRows | None:
        return value.rows if type(value) is LaterRecords else self.rows_of(value)

    def coins(
        self, rng: Any, known: Callable[[], tuple[Any, ...]], comparison: str, counts_last: bool
    ) -> Any:
        """How many passes a loop of coins makes (``coin_loops``); None where it is to be run."""
        if type(rng) is not ChoiceGenerator or self.summarised is not None:
            return None
        if type(rng._tree) is ChoiceTree:  # with real random numbers
            return None
        try:
            threshold, *counters = known()
        except Exception:  # the loop itself raises it, or does not get there
            return None
        if type(threshold) not in (float, np.float64) or not 0 < threshold < 1:
            return None
        if not all(
            type(counter) is int or (is_symbolic(counter) and counter.kind is int)
            for counter in counters
        ):
            return None
        passes = draw_passes(rng._tree, threshold, comparison, counts_last=counts_last)
        self.loops_summed_up += passes is not None
        return passes

    def shuffled(self, rng: Any, count: Any, arange: Any = None) -> Iterable[Any]:
        """``order = list(range(count))``, or an array, after ``rng.shuffle(order)``."""
        order = [*range(count)] if arange is None else arange(count)
        rng.shuffle(order)
        return order

    popped, signed = staticmethod(pop_places), staticmethod(multiply_draws)

    def flips(
        self,
        rng: Any,
        count: Callable[[], Any],
        weight: Callable[[Any], Any],
        known: Callable[[], tuple[Any, ...]],
        is_order: bool,
        line: tuple[str, int],
        how: str = "",
        coin: Callable[[], Any] | None = None,
        generator: int = 0,
    ) -> Hit | None:
        """The place that a loop tries with success; None where it is to be run.

        ``coin`` gives the function whose coin has the chance exp of minus the weight, if one does.
        """
        tree = _find_tree(rng) if type(rng) is ChoiceGenerator else self._tree_of_others(rng)
        if tree is None or self.place_by_flips is None:
            return None
        try:
            number = count()
            if not isinstance(number, (int, np.int64)) or not all(map(_is_read_alike, known())):
                return None
            thrown, chances = None, weight
            if coin is not None:
                if self._coins is not None:
                    thrown = self._coins.coin_of(coin(), rng, generator)
                if thrown is None:
                    return None
                chances = lambda item: np.exp(-weight(item))  # noqa: E731
            tries = Tried(is_order, how.rstrip("!").removesuffix(" int"), thrown)
            place = self.place_by_flips(tree, int(number), chances, tries)
        except Exception:  # the loop itself raises it, or does not get there
            return None
        if place is None:
            return None
        self.flips_found.add(line_in_words(*line))
        return Hit(np.int64(place), place)

    def _tree_of_others(self, rng: Any) -> ChoiceTree | None:
        return None if self._coins is None else self._coins.tree_of((rng,))

    def heads(self, fixed: Any, filled: Any, carried: Any, counts: bool, as_it_is: bool) -> Heads:
        """What is told of the passes of a loop in which runs may meet (``meeting_loops``)."""
        heads, values = Heads(filled, carried, as_it_is=as_it_is), tuple[Any, ...]()
        with suppress(NameError):  # the loop itself raises it, or does not get there
            values = fixed()
        pasts = next((tree.pasts for tree in map(_find_tree, values) if tree is not None), None)
        others = (value for value in values if type(value) is not ChoiceGenerator)
        return make_heads(pasts, others, heads, counts=counts)

    def passes(
        self, known: Callable[[], tuple[Any, ...]], in_place: bool, outside: OutsideNames
    ) -> Any:
        """The passes of a loop that starts over (``start_over``)."""
        values: tuple[Any, ...] | None = None
        with suppress(Exception):  # the loop itself raises it, or does not get there
            values = known() if outside.calculate_alike() else None
        assert self.samplers is not None
        passes = self.samplers.passes_of(values, in_place=in_place, loop=known.__code__)
        self.loops_summed_up += passes.starts_over
        return passes

    def compared(
        self,
        comparison: str,
        draw: Callable[[], Any],
        other: Callable[[], Any],
        mirrored: bool,
        known: Callable[[], tuple[Any, ...]],
    ) -> Any:
        """``draw() < other()``, of a whole number that is drawn for this comparison only.

        ``known`` are the values of the names in it, of which one may be the generator.
        """
        compare = COMPARISONS[comparison]
        if all(type(value) in _EXACT or is_generator(value) for value in known()):
            bound = other()
            if type(bound) in _EXACT:
                with whole_numbers_compared():
                    number = draw()
                return compare(*((bound, number) if mirrored else (number, bound)))
        if mirrored:
            return compare(other(), draw())
        return compare(draw(), other())

    def attribute(self, owner: Any, name: str) -> Any:
        """The same of an attribute, as of ``self.lower``."""
        return getattr(owner, name) if is_plain(owner) else self._methods.attribute(owner, name)

    def method(self, owner: Any, name: str) -> Any:
        """A method that a pass calls, of constant data or of an object that only calculates."""
        if is_plain(owner) and name in PLAIN_METHODS:
            return getattr(owner, name)
        return self._methods.of(owner, name)

    def number(self, value: Any) -> Any:
        """What may be added to in a loop over records."""
        if type(value) in NUMBERS:
            return value
        raise NotPlain(f"a {type(value).__name__} is added to in a loop over the records")

    def _walk(self, rows: ColumnRows, records: MadeRows) -> Loop:
        self._methods = PureMethods()
        return Loop(rows, records, self._methods, self)
