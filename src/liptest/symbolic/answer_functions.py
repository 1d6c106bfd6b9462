"""Functions of answers that are answers themselves: how far neighbours move them.

``min(count, 100)``, ``abs(a - b)``, ``counts.max()`` and ``count > 5`` are not sums of records. But
where neighbours move the sums by t, such a function moves by what lies between two numbers that t
alone determines, its *reach*, whatever the data are. Together with t these numbers are a set of
differences that holds all of D (docs/theory/size.md, S14).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any, ClassVar, Literal

from liptest.balls import CERTIFIED_BITS, ball, precision
from liptest.symbolic.answers import Answer, Differences, ManyDifferences, Move, subtract_moves
from liptest.symbolic.forms import Rational
from liptest.symbolic.shifts import upper_end

Ends = tuple[Fraction, Fraction]
Widths = Mapping[int, Fraction]
#: From here on the numbers of such answers; those of sums are below.
FIRST_FUNCTION = 1 << 20
# Differences that are listed, and whole numbers of a reach that are.
_MOST_LISTED, _MOST_OF_ONE, _MOST_WHOLE = 40_000, 128, 8
# Floats that are rounded to whole numbers are off by less, where they are not larger.
_OFF, _LARGEST = Fraction(1, 1 << 20), 1 << 30
# How far inside of its bounds a clipped number is where witnesses are looked for.
_INSIDE = 3
# Sums that are compared with 0 are off by less in floats, by how large what they are made of is.
_FLOATS = Fraction(1, 1 << 30)
_ZERO = Fraction(0)


@dataclass(frozen=True)
class AnswerSum:
    """A constant plus factors times answers."""

    terms: tuple[tuple[Answer, Rational], ...]
    constant: Rational = 0

    def at(self, values: Callable[[Answer], Fraction]) -> Fraction:
        """Its value."""
        return self.constant + sum(
            (values(answer) * Fraction(f) for answer, f in self.terms), _ZERO
        )

    def moved(self, move: Mapping[int, Rational]) -> Fraction:
        """By how much a difference of the answers moves it."""
        moves = ((Fraction(f), Fraction(move.get(answer.number, 0))) for answer, f in self.terms)
        return sum((f * by for f, by in moves if by), _ZERO)

    def width(self, widths: Widths) -> Fraction:
        """By how much it moves at most where each answer moves by at most a width."""
        return sum(
            (widths.get(answer.number, _ZERO) * abs(Fraction(f)) for answer, f in self.terms), _ZERO
        )

    def minus(self, other: AnswerSum) -> AnswerSum:
        """Less another sum."""
        factors: dict[Answer, Rational] = dict(self.terms)
        for answer, factor in other.terms:
            factors[answer] = factors.get(answer, 0) - factor
        kept = tuple((answer, factor) for answer, factor in factors.items() if factor)
        return AnswerSum(kept, self.constant - other.constant)

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number for certain."""
        numbers = [self.constant, *(f for _, f in self.terms)]
        is_whole = all(Fraction(number).denominator == 1 for number in numbers)
        return is_whole and all(answer.is_whole for answer, _ in self.terms)

    @property
    def follows_one_count(self) -> bool:
        """Whether floats make it a monotone function of one exact number, or all is whole."""
        is_one = len(self.terms) == 1
        return self.is_whole or (
            is_one and (self.terms[0][0].is_whole or self.terms[0][0].is_given)
        )

    @property
    def is_given(self) -> bool:
        """Whether it is a number that the program was given, or its opposite: no float rounds."""
        is_one = len(self.terms) == 1 and abs(self.terms[0][1]) == 1 and not self.constant
        return is_one and self.terms[0][0].is_given

    @property
    def ends(self) -> Ends | None:
        """Between what it lies, whatever the data; None for any number."""
        low = high = Fraction(self.constant)
        for answer, factor in self.terms:
            if answer.ends is None:
                return None
            pair = sorted(end * Fraction(factor) for end in answer.ends)
            low, high = low + pair[0], high + pair[1]
        return low, high

    @property
    def size(self) -> Fraction | None:
        """What its parts are together at most; None for any number."""
        size = abs(Fraction(self.constant))
        for answer, factor in self.terms:
            ends = answer.span
            if ends is None:
                return None
            size += max(map(abs, ends)) * abs(Fraction(factor))
        return size

    def compared(
        self,
        comparison: Callable[[Any, Any], Any],
        size: Fraction | None = None,
        *,
        is_exact: bool = True,
    ) -> bool | None:
        """How it compares with 0, whatever the data; None where that depends on them.

        Of what is not whole, or not ``is_exact``, it is known only where floats, which calculate it
        of parts of a ``size``, cannot change it.
        """
        low = high = Fraction(self.constant)
        size = self.size if size is None else size
        if size is None:
            return None
        for answer, factor in self.terms:
            ends = answer.span
            if ends is None:
                return None
            pair = sorted(end * Fraction(factor) for end in ends)
            low, high = low + pair[0], high + pair[1]
        off = 0 if self.is_whole and is_exact else size * _FLOATS
        if comparison in (operator.eq, operator.ne):
            is_zero = False if low > off or high < -off else None
            is_zero = True if low == high == off == 0 else is_zero
            return is_zero if is_zero is None or comparison is operator.eq else not is_zero
        strictly = comparison in (operator.gt, operator.le)
        if (low > off) if strictly else (low >= off):
            return comparison in (operator.gt, operator.ge)
        if (high <= -off) if strictly else (high < -off):
            return comparison in (operator.lt, operator.le)
        return None

    @property
    def is_at_least_its_constant(self) -> bool:
        """Whether no data of any size make it less."""
        return all(
            answer.ends is not None
            and answer.ends[0 if factor > 0 else 1] == 0
            and (answer.function is None or isinstance(answer.function, IsAbove))
            for answer, factor in self.terms
        )


@dataclass(frozen=True)
class AnswerFunction:
    """A function of some sums of answers; see the module."""

    parts: tuple[AnswerSum, ...]

    #: Whether a part of a move has that part of its reach at most.
    is_homogeneous: ClassVar[bool] = True
    #: Whether it moves by at most its width, whatever else moves: in the box alone.
    is_in_box: ClassVar[bool] = False

    @property
    def side(self) -> Hashable:
        """Functions of one such key move to one side together; None for any side."""
        return None

    def value(self, values: Sequence[Fraction]) -> Fraction:
        """The function of the values of its parts."""
        raise NotImplementedError

    def reach(self, moves: Sequence[Fraction]) -> Ends:
        """Between what it moves where its parts move so."""
        raise NotImplementedError

    def width(self, widths: Sequence[Fraction]) -> Fraction:
        """At most by what it moves where its parts move by at most so much."""
        if not any(widths):
            return _ZERO
        return max(self.reach(widths)[1], -self.reach([-width for width in widths])[0])

    def turns(self) -> list[AnswerSum]:
        """Sums of answers near 0 of which it moves most."""
        return list(self.parts)

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number for certain."""
        return all(part.is_whole for part in self.parts)

    @property
    def ends(self) -> Ends | None:
        """Between what it lies, whatever the data; None for any number."""
        several = [part.ends for part in self.parts]
        if any(pair is None for pair in several):
            return None
        lows, highs = ([pair[side] for pair in several if pair] for side in (0, 1))
        return self.value(lows), self.value(highs)


@dataclass(frozen=True)
class LargestSum(AnswerFunction):
    """The largest of some sums."""

    def value(self, values: Sequence[Fraction]) -> Fraction:
        return max(values)

    def reach(self, moves: Sequence[Fraction]) -> Ends:
        return min(moves), max(moves)

    def turns(self) -> list[AnswerSum]:
        return [one.minus(other) for one, other in pairwise(self.parts)]


@dataclass(frozen=True)
class SumOfRank(LargestSum):
    """The sum at one place of the ascending order, from 0 on."""

    rank: int = 0

    def value(self, values: Sequence[Fraction]) -> Fraction:
        return sorted(values)[self.rank]


@dataclass(frozen=True)
class Clipped(AnswerFunction):
    """A sum that is kept between two numbers; None stands for no bound."""

    low: Fraction | None = None
    high: Fraction | None = None

    def value(self, values: Sequence[Fraction]) -> Fraction:
        clipped = values[0] if self.low is None else max(values[0], self.low)
        return clipped if self.high is None else min(clipped, self.high)

    def reach(self, moves: Sequence[Fraction]) -> Ends:
        return min(moves[0], _ZERO), max(moves[0], _ZERO)

    def turns(self) -> list[AnswerSum]:
        ends = [end for end in (self.low, self.high) if end is not None]
        inside = sum(ends) / 2 if len(ends) == 2 else ends[0] + (-_INSIDE, _INSIDE)[not self.high]
        return [self.parts[0].minus(AnswerSum((), Fraction(inside)))]

    @property
    def is_whole(self) -> bool:
        bounds = [bound for bound in (self.low, self.high) if bound is not None]
        return super().is_whole and all(bound.denominator == 1 for bound in bounds)


@dataclass(frozen=True)
class Ranked(AnswerFunction):
    """A sum of records in their order times weights, which are by rank, 1 being the smallest.

    ``parts`` are how many have each level. A record that grows from x to y makes each record in
    the order grow, together by y - x, so the sum moves by the largest weight times the range of the
    levels at most (docs/theory/size.md, S14).
    """

    levels: tuple[Fraction, ...] = ()
    weights: tuple[tuple[int, Fraction], ...] = ()
    records: int = 1
    is_homogeneous = False
    is_in_box = True

    @property
    def side(self) -> Hashable:
        # No record in the order goes down where one of the records becomes larger.
        are_positive = all(weight >= 0 for _, weight in self.weights)
        return (Ranked, self.parts, self.levels) if are_positive else None

    def value(self, values: Sequence[Fraction]) -> Fraction:
        total, place, counted = _ZERO, 0, values[0]
        for rank, weight in self.weights:
            while counted < rank and place + 1 < len(self.levels):
                place += 1
                counted += values[place]
            total += weight * self.levels[place]
        return total

    def reach(self, moves: Sequence[Fraction]) -> Ends:
        largest = max(abs(weight) for _, weight in self.weights)
        width = largest * (self.levels[-1] - self.levels[0])
        return -width, width

    def width(self, widths: Sequence[Fraction]) -> Fraction:
        return self.reach(())[1]

    def turns(self) -> list[AnswerSum]:
        # The largest level takes a rank as soon as so many have it.
        rank, _ = max(self.weights, key=lambda pair: abs(pair[1]))
        return [self.parts[-1].minus(AnswerSum((), self.records - rank + Fraction(1, 2)))]

    @property
    def is_whole(self) -> bool:
        numbers = (*self.levels, *(weight for _, weight in self.weights))
        return all(number.denominator == 1 for number in numbers)

    @property
    def ends(self) -> Ends | None:
        ends = self.levels[0], self.levels[-1]
        low, high = _ZERO, _ZERO
        for _, weight in self.weights:
            pair = sorted(weight * end for end in ends)
            low, high = low + pair[0], high + pair[1]
        return low, high


@dataclass(frozen=True)
class Spread(AnswerFunction):
    """The variance of all records, or its root: ``parts`` are how many have each level.

    One record takes the variance by at most R**2 (n - 1) / (n c) and the root by at most
    R sqrt((n - 1) / (n c)), where R is the range of the levels and c what the sum of squares is
    divided by (docs/theory/size.md, S14).
    """

    levels: tuple[Fraction, ...] = ()
    records: int = 1
    #: What the sum of squares is divided by.
    divisor: int = 1
    is_root: bool = False
    #: How far floats may take the result from the variance, or from its root.
    margin: Fraction = _ZERO
    is_homogeneous = False
    is_in_box = True

    def value(self, values: Sequence[Fraction]) -> Fraction:
        pairs = list(zip(self.levels, values, strict=True))
        total = sum((level * count for level, count in pairs), _ZERO)
        squares = sum((level * level * count for level, count in pairs), _ZERO)
        variance = (squares - total * total / self.records) / self.divisor
        return Fraction(math.sqrt(max(variance, _ZERO))) if self.is_root else variance

    def reach(self, moves: Sequence[Fraction]) -> Ends:
        largest = self.levels[-1] - self.levels[0]
        most = largest * largest * (self.records - 1) / (self.records * self.divisor)
        if self.is_root:
            with precision(CERTIFIED_BITS):
                most = upper_end(ball(most).sqrt())
        most += 2 * self.margin
        return -most, most

    def width(self, widths: Sequence[Fraction]) -> Fraction:
        return self.reach(())[1]

    def turns(self) -> list[AnswerSum]:
        # One record is at one end of the range, and all others are at the other end.
        return [self.parts[-1].minus(AnswerSum((), Fraction(1, 2)))]

    @property
    def is_whole(self) -> bool:
        return False

    @property
    def ends(self) -> Ends | None:
        return None


@dataclass(frozen=True)
class IsAbove(AnswerFunction):
    """1 where a sum is above 0, or, not ``strictly``, at least 0; else 0."""

    strictly: bool = True
    is_homogeneous = False

    def value(self, values: Sequence[Fraction]) -> Fraction:
        return Fraction(values[0] > 0 if self.strictly else values[0] >= 0)

    def reach(self, moves: Sequence[Fraction]) -> Ends:
        return Fraction(-(moves[0] < 0)), Fraction(moves[0] > 0)

    @property
    def is_whole(self) -> bool:
        return True


@dataclass(frozen=True)
class IsZero(AnswerFunction):
    """1 where a sum is 0, else 0."""

    is_homogeneous = False

    def value(self, values: Sequence[Fraction]) -> Fraction:
        return Fraction(values[0] == 0)

    def reach(self, moves: Sequence[Fraction]) -> Ends:
        moves_at_all = Fraction(moves[0] != 0)
        return -moves_at_all, moves_at_all

    @property
    def is_whole(self) -> bool:
        return True

    @property
    def ends(self) -> Ends | None:
        return _ZERO, Fraction(1)


@dataclass(frozen=True)
class Rounded(AnswerFunction):
    """A sum, times a factor, as a whole number: "floor", "ceil", "rint" or "trunc"."""

    how: str = "floor"
    #: Whether no float rounds the sum: a given number, or whole numbers that are divided.
    is_exact: bool = False
    is_homogeneous = False

    def value(self, values: Sequence[Fraction]) -> Fraction:
        number = values[0]
        if self.how == "rint":
            return Fraction(round(number))
        is_up = self.how == "ceil" or (self.how == "trunc" and number < 0)
        return Fraction(math.ceil(number) if is_up else math.floor(number))

    def reach(self, moves: Sequence[Fraction]) -> Ends:
        move = moves[0]
        if move < 0:
            back = self.reach([-move])
            return -back[1], -back[0]
        if not move:
            return _ZERO, _ZERO
        off = _ZERO if self.is_exact else _OFF
        if self.is_exact and self.how != "rint":
            low, high = math.floor(move), math.ceil(move)
        else:
            # Each is within 1 of the sum, or a half; floats may be off.
            low, high = math.ceil(move - off) - 1, math.floor(move + off) + 1
        if self.how == "trunc":
            low -= 1
        return Fraction(max(low, 0)), Fraction(high)

    def turns(self) -> list[AnswerSum]:
        ends = self.parts[0].ends
        middle = Fraction(0) if ends is None else Fraction(math.floor(sum(ends) / 2))
        half = Fraction(1, 2) if self.how == "rint" else _ZERO
        return [self.parts[0].minus(AnswerSum((), middle + half))]

    @property
    def is_whole(self) -> bool:
        return True


@dataclass(frozen=True)
class Bent(AnswerFunction):
    """The square root of a sum, or log(1 + sum), of a sum that is at least ``least``."""

    how: str = "sqrt"
    least: Fraction = _ZERO
    is_homogeneous = False

    def value(self, values: Sequence[Fraction]) -> Fraction:
        return Fraction({"sqrt": math.sqrt, "log1p": math.log1p}[self.how](values[0]))

    def reach(self, moves: Sequence[Fraction]) -> Ends:
        size = abs(moves[0])
        with precision(CERTIFIED_BITS):
            low, high = (ball(point) for point in (self.least, self.least + size))
            step = high.sqrt() - low.sqrt() if self.how == "sqrt" else high.log1p() - low.log1p()
            most = upper_end(step) if size else _ZERO
        return (_ZERO, most) if moves[0] > 0 else (-most, _ZERO)

    @property
    def is_whole(self) -> bool:
        return False


def may_be_rounded(one: AnswerSum) -> bool:
    """Whether floats of a sum, rounded to whole numbers, move as ``Rounded`` says."""
    if one.is_whole or one.is_given:
        return True
    ends = one.ends
    return one.follows_one_count and ends is not None and max(map(abs, ends)) <= _LARGEST


def answer_value(answer: Answer, values: Callable[[Answer], Fraction]) -> Fraction:
    """An answer where ``values`` knows those that are sums of records."""
    function = answer.function
    if function is None:
        return values(answer)
    value: Fraction = function.value(
        [part.at(lambda inner: answer_value(inner, values)) for part in function.parts]
    )
    return value


def list_turns(answer: Answer) -> Iterator[AnswerSum]:
    """Of a function, and of those that it is of: sums of answers, near 0 of which it moves most."""
    function: AnswerFunction = answer.function
    for turn in function.turns():
        inner = [nested for nested, _ in turn.terms if nested.function]
        if not inner:
            yield turn
        for nested in inner:
            yield from list_turns(nested)


# ---- differences

_Rows = tuple[Literal["listed", "added", "replaced"], dict[Move, None]]


def with_functions(
    differences: Differences | ManyDifferences, answers: Iterable[Answer]
) -> Differences | ManyDifferences:
    """The differences of sums, and of these answers, which are functions of them or of others."""
    functions = sorted(
        {answer for answer in answers if answer.function}, key=lambda answer: answer.number
    )
    if not functions:
        return differences
    if isinstance(differences, ManyDifferences):
        parts = ((times, _with_functions(part, functions)) for times, part in differences.parts)
        return ManyDifferences(functions[-1].number + 1, tuple(parts))
    return _with_functions(differences, functions)


def _with_functions(differences: Differences, functions: list[Answer]) -> Differences:
    lies_between = differences.spans or bool(differences.reals)
    are_homogeneous = all(_is_homogeneous(answer) for answer in functions)
    # Beside a part of a move such functions may move as beside all of it.
    is_either_way = lies_between and not are_homogeneous
    if differences.balls or (
        is_either_way and (differences.reals or any(map(_is_nested, functions)))
    ):
        return _in_box(differences, functions)
    grown = _Grown(functions, is_either_way=is_either_way)
    for extended in (_list, _row_by_row):
        extension = extended(differences, grown)
        if extension is None:
            continue
        reals = differences.reals | (grown.numbers if lies_between else grown.between)
        if is_either_way:
            # Whole functions are whole, though what they are of is not.
            reals = frozenset(range(differences.size)) | grown.between
        return replace(
            _box(differences, functions, dict(differences.box)),
            rows=tuple(extension[1]),
            relation=extension[0],
            reals=reals,
            spans=differences.spans and not is_either_way,
        )
    return _in_box(differences, functions)


def _is_homogeneous(answer: Answer) -> bool:
    function: AnswerFunction = answer.function
    return function.is_homogeneous


def _is_nested(answer: Answer) -> bool:
    """Whether it is a function of functions."""
    return any(inner.function for part in answer.function.parts for inner, _ in part.terms)


def _in_box(differences: Differences, functions: list[Answer]) -> Differences:
    """Each function by itself, at its worst."""

    def largest(part: AnswerSum, widths: Widths) -> Fraction:
        factors = {answer.number: f for answer, f in part.terms if not answer.function}
        sides = (factors, {i: -f for i, f in factors.items()})
        alone = max(Fraction(differences.largest(side)) for side in sides)
        rest = tuple((answer, f) for answer, f in part.terms if answer.function)
        return alone + AnswerSum(rest).width(widths)

    return _box(differences, functions, {}, largest)


def _box(
    differences: Differences,
    functions: list[Answer],
    widths: dict[int, Fraction],
    width_of: Callable[[AnswerSum, Widths], Fraction] = AnswerSum.width,
) -> Differences:
    """Where answers move by so much beside the rows, functions of them do, too."""
    box, sides = dict(differences.box), dict[Hashable, set[int]]()
    for answer in functions:
        function: AnswerFunction = answer.function
        width = function.width([width_of(part, widths) for part in function.parts])
        if width:
            widths[answer.number] = box[answer.number] = width
        if width and function.side is not None:
            sides.setdefault(function.side, set()).add(answer.number)
    is_whole = differences.is_whole and all(answer.is_whole for answer in functions)
    size = functions[-1].number + 1
    together = (*differences.together, *map(frozenset, sides.values()))
    return replace(
        differences,
        size=size,
        box=tuple(sorted(box.items())),
        is_whole=is_whole,
        together=together,
    )


def _list(differences: Differences, grown: _Grown) -> _Rows | None:
    """All differences one by one; None where they are many."""
    rows = differences.rows
    if differences.relation == "replaced":
        if len(rows) ** 2 > _MOST_LISTED or differences.reals:
            return None
        moves = (subtract_moves(*pair) for pair in permutations(rows, 2))
        corners = grown.corners(dict.fromkeys(moves))
        return None if corners is None else ("listed", corners)
    corners = grown.corners(rows)
    return None if corners is None else (differences.relation, corners)


def _row_by_row(differences: Differences, grown: _Grown) -> _Rows | None:
    """What a record adds, beside the rest of the data, for each of its values (S14)."""
    corners = None if differences.relation != "replaced" else grown.corners(differences.rows)
    return None if corners is None else ("replaced", corners)


class _Grown:
    """Moves with the ends of what functions of the answers do there, and all between the ends."""

    def __init__(self, functions: list[Answer], *, is_either_way: bool = False) -> None:
        self._functions = functions
        self._is_either_way = is_either_way
        #: Answers that also take what lies between the numbers of the moves.
        self.between: frozenset[int] = frozenset()
        self.numbers = frozenset(answer.number for answer in functions)
        self._users: dict[int, list[int]] = {}
        for place, answer in enumerate(functions):
            if answer.function.is_in_box:
                continue
            for part in answer.function.parts:
                for other, _ in part.terms:
                    self._users.setdefault(other.number, []).append(place)

    def corners(self, moves: Iterable[Move]) -> dict[Move, None] | None:
        """None where they are too many."""
        corners: dict[Move, None] = {}
        for move in moves:
            some = self._of_one(dict(move))
            if some is None or len(corners) > _MOST_LISTED:
                self.between = frozenset()
                return None
            corners.update(dict.fromkeys(some))
        return corners

    def _of_one(self, move: dict[int, Fraction]) -> list[Move] | None:
        moves = [move]
        for place in self._moving(move):
            answer = self._functions[place]
            moves = [
                {**before, answer.number: by} if by else before
                for before in moves
                for by in self._values(answer, before)
            ]
            if len(moves) > _MOST_OF_ONE:
                return None
        return [tuple(sorted(moved.items())) for moved in moves]

    def _moving(self, move: Iterable[int]) -> list[int]:
        """Which functions a move of these answers may move, each after those that it is of."""
        seen: set[int] = set()
        left = list(move)
        while left:
            for place in self._users.get(left.pop(), ()):
                if place not in seen:
                    seen.add(place)
                    left.append(self._functions[place].number)
        return sorted(seen)

    def _values(self, one: Answer, move: dict[int, Fraction]) -> list[Fraction]:
        function: AnswerFunction = one.function
        moves = [part.moved(move) for part in function.parts]
        low, high = function.reach(moves)
        if self._is_either_way and not _is_homogeneous(one):
            # A smaller move has a smaller reach, and all between both is meant.
            width = function.width([abs(by) for by in moves])
            low, high = -width, width
        if low == high:
            return [low]
        if one.is_whole:
            low, high = Fraction(math.ceil(low)), Fraction(math.floor(high))
            if high - low <= _MOST_WHOLE:
                return [low + step for step in range(int(high - low) + 1)]
        self.between |= {one.number}
        return [low, high]
