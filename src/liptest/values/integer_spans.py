"""Which whole number a rounded sum of noise is: asked outward from the middle, cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from liptest.errors import BudgetError
from liptest.values.questions import Asked, Known, Question

#: Values of one number.
MOST_VALUES = 1 << 13


#: What is further out is left out once it is less likely than this.
_TAIL = 2.0**-64


#: Values that are asked for however unlikely they are, where none lies further out.
_MOST_BOUNDED = 1 << 10


# Values after which it is first seen how likely the rest is, and the factor to the next look.
_FIRST_LOOK, _NEXT_LOOK = 8, 1.3


#: From a whole number on, and below one; None: no end.
Span = tuple[int | None, int | None]


class Cells(Question):
    """A whole number is one of those that are possible, or further out than is asked.

    Parameters
    ----------
    key
        What the number is of; part of what the question is.
    between
        The constraints that the number lies in a span.
    middle
        A number from which to look outward.
    """

    __slots__ = ("_between", "_key", "_middle", "_more", "spans")

    __hash__ = None

    def __init__(
        self,
        asked: Asked,
        key: Any,
        between: Callable[[Span], Known],
        middle: Callable[[], int],
    ) -> None:
        super().__init__(asked)
        self._key = key
        self._between = between
        self._middle = middle
        #: Those that were found, in the order of the ways.
        self.spans: list[Span] = []
        self._more = self._found()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is Cells:
            return self._key == other._key and self._drawn == other._drawn
        # As it was written down: ways that are possible.
        return type(other) is tuple and all(other)

    def __len__(self) -> int:
        return len(self.spans)

    def __getitem__(self, place: int) -> int:
        self.span(place)
        return 1

    def span(self, place: int) -> Span:
        """The cell of a way, or an end of the rest."""
        while place >= len(self.spans):
            self.spans.append(next(self._more))
        return self.spans[place]

    def way(self, place: int) -> Known | None:
        return self._between(self.span(place))

    def following(self, branch: int) -> int | None:
        if branch + 1 < len(self.spans):
            return branch + 1
        span = next(self._more, None)
        if span is None:
            return None
        self.spans.append(span)
        return branch + 1

    def _found(self) -> Iterator[Span]:
        low = high = self._middle()
        open_: dict[int, bool] = {1: True, -1: True}
        count, look = 0, float(_FIRST_LOOK)
        rest: list[Span] = []
        while True:
            for side in (1, -1):
                span = (high, high + 1) if side > 0 else (low - 1, low)
                if not open_[side]:
                    continue
                if self.is_possible(self._between(span)):
                    count += 1
                    yield span
                elif not self._has_more(side, low, high):
                    open_[side] = False
                    continue
                low, high = (low, high + 1) if side > 0 else (low - 1, high)
            if high - low >= look:
                look *= _NEXT_LOOK
                ends = {side: self._end(side, low, high) for side in (1, -1) if open_[side]}
                # One tail may be so light that no number tells how light, a few values on.
                for side, end in ends.items():
                    light = self._mass([end]) < _TAIL / 2 and not self._ends_soon(end)
                    if light or high - low >= MOST_VALUES:
                        open_[side] = False
                        rest.append(end)
            if not any(open_.values()):
                break
        if rest and (self._mass(rest) > 1 - _TAIL or count == 0):
            self._asked.refuse(_too_many())
        yield from (span for span in rest if self.is_possible(self._between(span)))

    def _has_more(self, side: int, low: int, high: int) -> bool:
        return self.is_possible(self._between(self._end(side, low, high)))

    def _ends_soon(self, end: Span) -> bool:
        low, high = end
        far: Span
        if low is None:
            far = (None, None if high is None else high - _MOST_BOUNDED)
        else:
            far = (low + _MOST_BOUNDED, None)
        return not self.is_possible(self._between(far))

    def _end(self, side: int, low: int, high: int) -> Span:
        return (high, None) if side > 0 else (None, low)

    def _mass(self, spans: list[Span]) -> float:
        return sum(float(self.probability(self._between(span)).upper()) for span in spans)


def _too_many() -> BudgetError:
    """Most of a number is further out than MOST_VALUES values."""
    return BudgetError(
        f"a rounded number with noise takes more than {MOST_VALUES:,} values; round it to a "
        f"coarser grid, or numpy.clip it",
        budget=MOST_VALUES,
    )
