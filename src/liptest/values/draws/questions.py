"""What is asked of noise: which of several ways holds, or which whole number a sum is.

Ways have no weights; whole numbers are looked for outward from the middle, cell by cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn

from flint import arb

from liptest.errors import BudgetError, LiptestError
from liptest.symbolic.forms import Constraint
from liptest.symbolic.noise import Noise
from liptest.symbolic.probability import System
from liptest.values.branching import UnweightedBranches

#: All of them hold.
PathCondition = tuple[Constraint, ...]
#: Values of one number.
MOST_VALUES = 1 << 13
#: What is further out is left out once it is less likely than this.
_TAIL = 2.0**-64
#: Values that are looked at however unlikely they are, where none lies further out.
_MOST_BOUNDED = 1 << 10
# Values after which it is first seen how likely the rest is, and the factor to the next look.
_FIRST_LOOK, _NEXT_LOOK = 8, 1.3
#: From a whole number on, and below one; None: no end.
Span = tuple[int | None, int | None]
# Weights that are shown of ways are in these units.
_SHOWN = 1 << 53


class QuestionContext(NamedTuple):
    """When a question is asked: noise drawn since the last one, all noise, what is known, and
    ``refuse``, which aborts with an error and the line that asks, which is at ``place``."""

    drawn: tuple[Noise, ...]
    noises: tuple[Noise, ...]
    before: PathCondition
    refuse: Callable[[LiptestError], NoReturn]
    place: tuple[str, int]


class Question(UnweightedBranches):
    """Base of questions about noise: what was drawn before, and all that is known."""

    __slots__ = ("_asked", "_before", "_drawn", "_noises")

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, asked: QuestionContext) -> None:
        self._asked = asked
        self._drawn = asked.drawn
        self._noises = asked.noises
        self._before = asked.before

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the program that asked first."""
        return self._asked.place

    def way(self, place: int) -> PathCondition | None:
        """The constraints of one way; None where it is impossible."""
        raise NotImplementedError

    def probability(self, way: PathCondition) -> arb:
        """Of all that is known, and one way."""
        try:
            return System(self._noises).probability((*self._before, *way))
        except LiptestError as error:
            self._asked.refuse(error)

    def is_possible(self, way: PathCondition) -> bool:
        """Whether one way has a probability above 0, given all that is known."""
        if len(way) == 1 and self._is_free(way[0]):
            return True
        try:
            return System(self._noises).is_possible((*self._before, *way))
        except LiptestError as error:
            self._asked.refuse(error)

    def _is_free(self, constraint: Constraint) -> bool:
        """Whether some variable of a constraint is not known at all, and can be that large."""
        used = {variable for earlier in self._before for variable, _ in earlier.terms}
        return any(
            variable not in used and _reaches(self._noises[variable], factor > 0, constraint)
            for variable, factor in constraint.terms
        )

    def weights(self) -> tuple[int, ...]:
        ways = [self.way(place) if self[place] else None for place in range(len(self))]
        masses = [0.0 if way is None else float(self.probability(way)) for way in ways]
        total = sum(masses) or 1.0
        return tuple(
            0 if way is None else max(1, round(mass / total * _SHOWN))
            for way, mass in zip(ways, masses, strict=True)
        )


class ListedBranches(Question):
    """Exactly one of some ways holds.

    ``key`` is what is asked, equal for equal questions; ``ways()`` their constraints.
    """

    __slots__ = ("_key", "_made", "_possible", "_ways")

    __hash__ = None

    def __init__(
        self, asked: QuestionContext, key: Any, ways: Callable[[], tuple[PathCondition | None, ...]]
    ) -> None:
        super().__init__(asked)
        self._key = key
        self._ways = ways
        self._made: tuple[PathCondition | None, ...] | None = None
        self._possible: dict[int, bool] = {}

    @property
    def ways(self) -> tuple[PathCondition | None, ...]:
        """None is an impossible one. Made when it is first needed: most questions are repeated."""
        if self._made is None:
            self._made = self._ways()
        return self._made

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is ListedBranches:
            return self.is_asked_by(other._key, other._drawn)
        if type(other) is tuple:  # as it was written down
            return len(other) == len(self) and all(
                bool(weight) == bool(self[place]) for place, weight in enumerate(other)
            )
        return False

    def is_asked_by(self, key: Any, drawn: tuple[Noise, ...]) -> bool:
        """Whether this is the question of that key, after that noise was drawn."""
        return bool(self._key == key) and self._drawn == drawn

    def __len__(self) -> int:
        return len(self.ways)

    def __getitem__(self, place: int) -> int:
        is_possible = self._possible.get(place)
        if is_possible is None:
            is_possible = self._possible[place] = self._find(place)
        return int(is_possible)

    def way(self, place: int) -> PathCondition | None:
        return self.ways[place]

    def following(self, branch: int) -> int | None:
        return next((k for k in range(branch + 1, len(self.ways)) if self[k]), None)

    def _find(self, place: int) -> bool:
        way = self.ways[place]
        if way is None:
            return False
        others = [self._possible.get(k) for k in range(len(self.ways)) if k != place]
        # One of them holds: where no other can, this one does.
        return all(possible is False for possible in others) or self.is_possible(way)


def _reaches(noise: Noise, rising: bool, constraint: Constraint) -> bool:
    """Whether a variable alone, with a factor of this sign, takes a sum to where it must be."""
    low, high = noise.support if rising else noise.support[::-1]
    if constraint.low is not None and constraint.high is not None:
        wide = constraint.low < constraint.high and not noise.is_discrete
        return wide and low is None and high is None
    return high is None if constraint.high is None else low is None


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
        asked: QuestionContext,
        key: Any,
        between: Callable[[Span], PathCondition],
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

    def way(self, place: int) -> PathCondition | None:
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
