"""Loops over values with their counts that tell only those whose noisy count is large.

Which values there are depends on the data. Where each count gets noise of its own, and a value that
does not pass leaves no trace, a value that is missing is as good as one that does not pass: so all
values that may be there are walked, and the chance that one record alone makes its value pass is a
delta (docs/theory/size.md, S13).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from liptest.enumerate.numbers.noise_outputs import make_items
from liptest.enumerate.syntax.pure_code import is_plain
from liptest.enumerate.watch.process_questions import STAND_INS
from liptest.symbolic.answers import Answer
from liptest.symbolic.noise import Noise
from liptest.values.answers.aligned import AlignedRun, AlignedValue, ReleasedValue
from liptest.values.array import make_array
from liptest.values.pandas.answers_by_key import AnswersInDict
from liptest.values.pandas.named_groups import has_zero
from liptest.values.pandas.of_pandas import OfPandas
from liptest.values.protocol import is_symbolic
from liptest.values.rounding import Near
from liptest.values.unfollowed import HoldsEntry, Unfollowed

_COMPARISONS = {
    "Gt": operator.gt,
    "GtE": operator.ge,
}
# Of a float that Python's exp and erfc give: less than this, relatively.
_NEAR = Fraction(1, 1 << 40)


def is_known_source(source: Any) -> bool:
    """Whether it is a generator that is known, which keeps nothing of what it draws."""
    if isinstance(source, ModuleType):
        return source.__name__ in ("numpy.random", "random")
    return type(source) in STAND_INS


class Passing:
    """One such loop; ``tell`` is called for each value, whether it passes or not.

    Parameters
    ----------
    values
        The distinct values of the data (``values.records.distinct``), or the keys of ``Counts``.
    with_counts
        Whether each comes with its count.
    has_order
        Whether they come in an order of their own, and not as the records do, which nothing may
        tell.
    """

    def __init__(self, values: Any, *, with_counts: bool = True, has_order: bool = True) -> None:
        self._values = values
        self._with_counts = with_counts
        self._has_order = has_order
        self._run: AlignedRun = values.column.run
        self._count: Any = None
        self._first = 0
        self._entries: list[tuple[Any, Any, AlignedValue, str, Any]] = []
        self._mass = Fraction(0)
        #: Of the pass: its value, the noises that it has told, and the sums beside the count.
        self._value: Any = None
        self._used: set[int] = set()
        self._beside: list[int] = []
        #: By value the number of its count, and of sums that are told of it beside.
        self._answers: list[tuple[int, ...]] = []
        self._kept: list[NoisyCount] = []
        #: By key the counts themselves, which a table of zeros is filled with.
        self._copied: dict[Any, Any] = {}

    def __iter__(self) -> Iterator[Any]:
        book = self._values.column.answers
        if not book.walks_values:
            self._refuse("a loop over the values that are there in a table with real columns")
        if book.has_parts or not book.has_positions or self._run.missing:
            self._refuse("a loop over the values of a part of the records, or a second one")
        if not (self._has_order or self._values.are_of_records):
            self._refuse("a loop over sums that are not counts of records")
        for value, count in self._there():
            self._value, self._count = value, count
            self._used, self._beside = set(), []
            self._first = len(self._run.noises)
            yield self._values.entry_of(value, count) if self._with_counts else value

    def _there(self) -> list[tuple[Any, AlignedValue]]:
        """The values with their counts: all that may be there, or those of the point."""
        values = self._values
        counts = {value: values.count_of(value) for value in values.possible}
        if any(type(count) is not AlignedValue for count in counts.values()):
            self._refuse("a loop over one value")
        if self._run.point is None:
            return list(counts.items())
        there = {v: count for v, count in counts.items() if self._run.at_point(count.form)}
        if not self._has_order:
            dataset = values.column.answers.dataset
            there = {value: there[value] for value in values.in_their_order(dataset)}
        return list(there.items())

    def draws(self, source: Any) -> None:
        """What gives noise must be a generator."""
        if not is_known_source(source):
            self._refuse("noise of a generator that is not known")

    def tell(
        self, left: Any, comparison: str, bound: Any, key: Any, value_of: Callable[[], Any]
    ) -> None:
        """``if left > bound: found[key] = value_of()``."""
        if type(bound) not in (int, float) or not math.isfinite(bound):
            self._refuse("a comparison with what is not a constant")
        noise, factor, answer = self._own_noise(left)
        if not (self._has_order or all(key != entry[0] for entry in self._entries)):
            self._refuse("one key for several values")
        self._run.release(left.form)
        if self._run.point is not None and not _COMPARISONS[comparison](left.evaluate(), bound):
            return  # the program does not get there
        value = value_of()
        if not is_plain(key) or not self._is_told(value, left):
            self._refuse("an output about a value other than its own noisy count")
        self._answers.append((answer, *self._beside))
        constant = Fraction(left.form.constant)
        self._mass = max(self._mass, _tail(noise, (Fraction(bound) - constant - 1) / factor))
        self._entries.append((key, value, left, comparison, bound))

    def _is_told(self, value: Any, left: AlignedValue) -> bool:
        """Whether it says no more than the noisy count and sums of the same records with noise."""
        if type(value) is tuple:
            return all(self._is_told(part, left) for part in value)
        return _follows_from(value, left) or self._tell_beside(value)

    def _tell_beside(self, value: Any) -> bool:
        """Release a sum of the records of this value, with noise that was drawn for it alone."""
        if type(value) is not AlignedValue:
            return False
        noises = self._run.noises
        named = [(variable, noises[variable]) for variable, _ in value.form.terms]
        sums = [noise.number for _, noise in named if type(noise) is Answer]
        drawn = [(variable, noise) for variable, noise in named if type(noise) is not Answer]
        if len(drawn) != 1 or not all(self._values.holds(self._value, number) for number in sums):
            return False
        ((variable, noise),) = drawn
        family: Any = noise
        is_new = variable >= self._first and family.family in ("laplace", "normal")
        if not is_new or variable in self._used or self._value is None:
            return False
        self._used.add(variable)
        self._run.release(value.form)
        self._beside.extend(sums)
        return True

    def tell_parts(self, made: tuple[Any, ...], comparison: str) -> None:
        """What an item of a comprehension says: number, bound, key, value; or the last two."""
        if comparison:
            left, bound, key, value = made
            self.tell(left, comparison, bound, key, lambda: value)
        else:
            self.keep(*made)

    def keep(self, key: Any, value: Any) -> None:
        """``found[key] = value`` of all values: those that are there are told later, or none."""
        if not is_plain(key):
            self._refuse("a key that is not constant")
        if key in self._copied or any(key == count.key for count in self._kept):
            self._refuse("one key for several values")
        if self._is_count(value):
            self._copied[key] = value
        else:
            self._kept.append(NoisyCount(key, value, *self._own_noise(value)))

    def add(self, key: Any, value: Any) -> None:
        """``found[key] += count``, with the keys of several values as one."""
        if not is_plain(key) or not self._is_count(value):
            self._refuse("adding more than the count of a value to an entry")
        self._copied[key] = self._copied[key] + value if key in self._copied else value

    def _is_count(self, value: Any) -> bool:
        return type(value) is AlignedValue and value.form == self._count.form

    def _own_noise(self, left: Any) -> tuple[Noise, Fraction, int]:
        """The noise that was drawn for this value alone, its factor, and the answer's number."""
        (count, _), *_ = self._count.form.terms
        form = left.form if type(left) is AlignedValue else None
        noises = self._run.noises
        drawn = [] if form is None else [term for term in form.terms if term[0] != count]
        if form is None or dict(form.terms).get(count) != 1 or len(drawn) != 1:
            self._refuse("a comparison of more than a count with noise of its own")
        ((variable, factor),) = drawn
        noise: Any = noises[variable]
        is_new = variable >= self._first and variable not in self._used
        if type(noise) is Answer or not is_new or noise.family not in ("laplace", "normal"):
            self._refuse("a comparison of a count without Laplace or normal noise of its own")
        self._used.add(variable)
        return noise, abs(Fraction(factor)), noises[count].number

    def result(self, before: Any) -> Any:
        """What the loop has filled, a dict or a list."""
        if self._copied:
            is_new = type(before) is dict and not before
            return AnswersInDict(CopiedCounts(self)) if is_new else self._filled(before)
        if type(before) not in (dict, list) or before:
            self._refuse("a loop that fills what is not an empty dict or list")
        if type(before) is list and (self._kept or not self._has_order):
            self._refuse("a list of the values that occur, in the order of the records")
        if self._kept:
            return NoisyCounts(self, tuple(self._kept))
        self._run.missing.append((self._mass, tuple(self._answers)))
        return PassedTable(self._run, type(before), tuple(self._entries))

    def _filled(self, before: Any) -> Any:
        """A table that had 0 for each key that may be there: so what is missing is 0, too."""
        is_line = type(before) is np.ndarray and before.dtype in (np.int64, np.float64)
        entries = list(before) if is_line and before.ndim == 1 else before
        if type(entries) not in (dict, list) or self._kept or self._entries:
            self._refuse("a loop that fills more than a table of zeros with counts")
        kinds = (int, np.int64) if type(entries) is list else (int, np.int64, str)
        for key, count in self._copied.items():
            places = entries if type(entries) is dict else range(len(entries))
            if type(key) not in kinds or key not in places:
                self._refuse("new keys of a table that is filled with counts")
            if type(entries[key]) not in (int, np.int64, np.float64) or entries[key] != 0:
                self._refuse("filling what is not 0 with counts")
            entries[key] = count.typed(before.dtype.type) if is_line else count
        if not is_line:
            return entries
        cells = np.empty(len(entries), dtype=object)
        cells[:] = entries
        return make_array(self._values.column.branching, cells, before.dtype)

    def copied_of(self, key: Any) -> Any:
        """The count that was copied under a key, 0 where there is none."""
        return self._copied.get(key, 0) if is_plain(key) else self._refuse("a key of the data")

    def fail(self) -> NoReturn:
        """A pass raised an exception."""
        self._refuse("a loop that raises an exception")

    def _refuse(self, use: str) -> NoReturn:
        raise AssertionError(self._values.refuse(use))


class CopiedCounts:
    """The counts of those keys that are there, which a loop has put into an empty dict."""

    def __init__(self, origin: Passing) -> None:
        self._origin = origin

    def __getitem__(self, key: Any) -> Any:
        if key in self:
            return self._origin.copied_of(key)
        raise KeyError(key)

    def __contains__(self, key: Any) -> bool:
        """Whether a key is there: a comparison of a private count."""
        return bool(self._origin.copied_of(key) > 0)

    def get(self, key: Any, default: Any = None) -> Any:
        """The count of a key, 0 where it is not there."""
        if not has_zero(default):
            self.refuse("a dict's get without the default 0")
        return self._origin.copied_of(key)

    def items(self) -> Any:
        """The keys that are there with their counts."""
        return self.refuse("a dict of the counts of those values alone that are there")

    def refuse(self, use: str) -> NoReturn:
        """End the run."""
        self._origin._refuse(use)


@dataclass(frozen=True)
class NoisyCount:
    """A count with noise of its own, by key."""

    key: Any
    value: AlignedValue
    noise: Noise
    factor: Fraction
    answer: int


class NoisyCounts(HoldsEntry):
    """A dict of noisy counts of the keys that are there; only loops that tell some walk it."""

    def __init__(self, origin: Passing, entries: tuple[NoisyCount, ...]) -> None:
        self.origin = origin
        self.entries = entries
        #: That of the pass.
        self.current: NoisyCount | None = None

    def items(self) -> NoisyPairs:
        """Keys and noisy counts."""
        return NoisyPairs(self, with_counts=True)

    def keys(self) -> NoisyPairs:
        """Keys."""
        return NoisyPairs(self, with_counts=False)

    def __getitem__(self, key: Any) -> Any:
        if self.current is None or self.current.key is not key:
            self.refuse()
        return self.current.value

    def refuse(self, use: str = "") -> NoReturn:
        """End the run."""
        self.origin._refuse("a dict of noisy counts of those values alone that are there")


class NoisyPairs(Unfollowed):
    """The items or keys of noisy counts."""

    def __init__(self, counts: NoisyCounts, *, with_counts: bool) -> None:
        self.counts = counts
        self.with_counts = with_counts

    def refuse(self, use: str) -> NoReturn:
        """End the run."""
        self.counts.refuse()


class PassingAgain(Passing):
    """A loop over noisy counts that were kept before."""

    def __init__(self, counts: NoisyCounts, *, with_counts: bool) -> None:
        origin = counts.origin
        super().__init__(origin._values, with_counts=with_counts, has_order=origin._has_order)
        self._counts = counts

    def __iter__(self) -> Iterator[Any]:
        if self._run.missing:
            self._refuse("a second loop over the values that are there")
        for entry in self._counts.entries:
            self._counts.current = entry
            yield (entry.key, entry.value) if self._with_counts else entry.key
        self._counts.current = None

    def _own_noise(self, left: Any) -> tuple[Noise, Fraction, int]:
        entry = self._counts.current
        assert entry is not None  # within a pass
        if type(left) is not AlignedValue or left.form.terms != entry.value.form.terms:
            self._refuse("a comparison of more than the noisy count of this value")
        return entry.noise, entry.factor, entry.answer


def in_order_of_keys(values: Any, *, descends: bool) -> Any:
    """``sorted(counts.items())`` of keys that may be there; None of all else."""
    pairs = values.walked_groups() if isinstance(values, OfPandas) else values
    return pairs.in_order(descends=descends) if isinstance(pairs, Unfollowed) else None


def passing_again(pairs: Any) -> PassingAgain | None:
    """Of a loop over noisy counts that were kept before; None for all else."""
    if type(pairs) is NoisyCounts:
        pairs = pairs.keys()
    if type(pairs) is not NoisyPairs:
        return None
    return PassingAgain(pairs.counts, with_counts=pairs.with_counts)


class PassedTable(ReleasedValue):
    """The dict or list that such a loop has filled, which may be given out."""

    __slots__ = ("_entries",)

    described = "what passed a threshold"
    advice = "return it as it is"

    def __init__(self, run: AlignedRun, kind: Any, entries: tuple[Any, ...]) -> None:
        super().__init__(run, kind, None, ())
        self._entries = entries

    @property
    def expected(self) -> Any:
        """What it is at the point of the run, up to rounding, as an output."""
        passed = [
            (_near(key), _near(value))
            for key, value, left, comparison, bound in self._entries
            if _COMPARISONS[comparison](left.evaluate(), bound)
        ]
        return (
            make_items(dict(passed)) if self.kind is dict else tuple(value for _, value in passed)
        )

    def _refused(self, *arguments: Any, **options: Any) -> NoReturn:
        raise AssertionError(self.refuse("anything but the output"))

    evaluate = binary = compare = typed = rounded = rounded_to = apply = released = _refused
    __iter__ = __len__ = __getitem__ = __setitem__ = __contains__ = __bool__ = _refused
    __eq__ = __ne__ = __array__ = __getattr__ = _refused
    __hash__ = None  # type: ignore[assignment]


def _follows_from(value: Any, left: AlignedValue) -> bool:
    """Whether it is a function of one noisy count."""
    if type(value) is AlignedValue:
        return value.run.terms_of(value.form) == value.run.terms_of(left.form)
    kind = type(value)
    if issubclass(kind, ReleasedValue) and kind is not PassedTable:
        return all(_follows_from(argument, left) for argument in value.arguments)
    if type(value) is tuple:
        return all(_follows_from(part, left) for part in value)
    return not is_symbolic(value) and is_plain(value)


def _near(value: Any) -> Any:
    if type(value) is tuple:
        return tuple(map(_near, value))
    if is_symbolic(value):
        number = value.evaluate()
        plain = number.item() if isinstance(number, np.generic) else number
        return Near(plain, Fraction(1)) if isinstance(plain, float) else plain
    return value.item() if isinstance(value, np.generic) else value


def _tail(noise: Noise, at: Fraction) -> Fraction:
    """P(noise > at), or more."""
    scaled = float(at / noise.parameter)
    if noise.family == "normal":
        mass = math.erfc(scaled / math.sqrt(2)) / 2
    else:
        mass = math.exp(-scaled) / 2 if scaled >= 0 else 1 - math.exp(scaled) / 2
    return min(Fraction(mass) * (1 + _NEAR) + Fraction(1, 1 << 1000), Fraction(1))
