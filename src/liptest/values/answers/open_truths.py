"""Comparisons of records with released numbers that are too many for cells of their own.

Whether such a comparison holds for a record is known for some of them; of the others it is 0 or 1.
That is enough for how many there are, and for numbers that are chosen by it. What selects records
by it is refused.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.array import SymbolicArray
from liptest.values.reals.real_column import RealColumn
from liptest.values.reals.recipes import Recipe, has_known
from liptest.values.records.record_storage import RecordStorage, read_options

_ADVICE = "compare records with fewer released numbers before you select them"
_CHOOSE = "choose by it (np.where(norms > c, c / norms, 1.0)), or clip the numbers"
_COUNTING = (np.sum, np.count_nonzero, np.mean)
_LOGICAL: dict[Any, tuple[Any, bool]] = {
    **dict.fromkeys((np.logical_and, np.bitwise_and), (np.logical_and, False)),
    **dict.fromkeys((np.logical_or, np.bitwise_or), (np.logical_or, False)),
    **dict.fromkeys((np.logical_not, np.invert), (np.logical_not, True)),
}


class OpenTruths(RecordStorage):
    """See the module; ``number`` has 0 where it does not hold, and 1 where it does."""

    __slots__ = ("number", "test")

    leads = True
    advice = _ADVICE

    def __init__(self, number: RealColumn, test: Any = None) -> None:
        self.branching = number.branching
        self.dtype = np.dtype(np.bool_)
        self.number = number
        #: Of a norm and a constant: ``norm_choices.NormTest``, and whether it holds above it.
        self.test = test

    @property
    def shape(self) -> tuple[int, ...]:
        return self.number.shape

    def moved(self, move: Any) -> Any:
        return self.refuse("a use that moves records")

    def copied(self, order: Any) -> Any:
        return OpenTruths(self.number, self.test)

    def entries_at(self, index: Any) -> Any:
        return self.refuse("an index")

    def as_list(self) -> Any:
        return self.refuse("tolist()")

    def astype(self, dtype: np.dtype[Any]) -> Any:
        if not has_known(self.number.recipe):
            return self.refuse(f"astype({dtype}) of a comparison of norms", _CHOOSE)
        if dtype != np.float64:
            return self.refuse(f"astype({dtype})", "count it: (mask).sum(), or use np.float64")
        return SymbolicArray(self.number)

    # ---- entry by entry

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if not has_known(self.number.recipe):
            return self.refuse(f"numpy.{ufunc.__name__} of a comparison of norms", _CHOOSE)
        if ufunc in _LOGICAL:
            return self._join(*_LOGICAL[ufunc], inputs)
        kinds = [np.asarray(one).dtype if np.isscalar(one) else one.dtype for one in inputs]
        if np.dtype(np.float64) not in kinds:
            return self.refuse(f"numpy.{ufunc.__name__} of truths", "use .astype(float)")
        return self.number.answer_ufunc(ufunc, tuple(map(_as_number, inputs)))

    def _join(self, ufunc: Any, is_falling: bool, inputs: tuple[Any, ...]) -> Any:
        use = f"numpy.{ufunc.__name__}"
        parts = [self.number.part_of(_as_number(one), use) for one in inputs]
        ends = [ufunc(*(getattr(part, end) for part in parts)) for end in ("low", "high")]
        recipe = ufunc, *(part.recipe for part in parts)
        low, high = ends[::-1] if is_falling else ends
        return truths_between(self.number, low, high, recipe)

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        given = read_options(options)
        if function is np.where and len(arguments) == 3 and not options and self.test is not None:
            test, is_above = self.test
            pair = arguments[1:] if is_above else arguments[:0:-1]
            return self.number.chosen_by_norm(test, *pair)
        is_count = function in _COUNTING and len(arguments) == 1 and not given
        if not has_known(self.number.recipe) and not (is_count and self._is_counted):
            return self.refuse(f"numpy.{function.__name__} of a comparison of norms", _CHOOSE)
        if is_count:
            if function is not np.mean:
                return self.number.sum_up("numpy.sum", kind=np.int64)
            records = self.number.read_length()
            return self.number.sum_up("numpy.mean", scale=Fraction(1, records))
        if function is np.where and len(arguments) == 3 and not options:
            return self._choose(*arguments[1:])
        return self.refuse(f"numpy.{function.__name__} of truths")

    @property
    def _is_counted(self) -> bool:
        """Whether norms of the same records are rounded alike: where one of them is replaced."""
        return self.number.answers.has_order and self.number.kept is None

    def _choose(self, *pair: Any) -> Any:
        use, own = "numpy.where", self.number
        left, right = (own.part_of(_as_number(one), use) for one in pair)
        is_left, is_right = own.low > 0, own.high == 0
        low, high = (
            np.where(is_left, first, np.where(is_right, second, extreme(first, second)))
            for extreme, first, second in (
                (np.minimum, left.low, right.low),
                (np.maximum, left.high, right.high),
            )
        )
        return own.like((low, high), (np.where, own.recipe, left.recipe, right.recipe))


def _as_number(value: Any) -> Any:
    if type(value) is SymbolicArray and type(value.storage) is OpenTruths:
        return SymbolicArray(value.storage.number)
    return value


def truths_between(
    of: RealColumn,
    certain: NDArray[Any],
    possible: NDArray[Any],
    recipe: Recipe,
    test: Any = None,
) -> SymbolicArray:
    """Whether something holds for each record: certainly, and possibly."""
    made: Any = of.like((certain.astype(np.float64), possible.astype(np.float64)), recipe)
    return SymbolicArray(OpenTruths(made.storage, test))


RealColumn.truths_between = staticmethod(truths_between)
