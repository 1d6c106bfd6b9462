"""Answers: numbers that data determine, which stay symbolic, and how far neighbours move them.

A program reads its dataset through answers a_1 .. a_m only. D is the set of all differences
a' - a of neighbouring datasets (docs/theory/size.md, S1); it is symmetric, and 0 is left out.

Where a record adds x_i x_j to the answer of each pair of places, and |x|^2 is bounded, the squares
of what it adds are together at most |x|^4, and what two records add is never opposed, as
sum_ij x_i x_j y_i y_j = (x . y)^2 (docs/theory/tables.md, B19).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations, permutations, product
from math import prod
from typing import Any, Literal, Protocol

from liptest.errors import InputError
from liptest.symbolic.forms import Constraint, Form, Rational, lean
from liptest.symbolic.noise import Noise

_ZERO = Fraction(0)


@dataclass(frozen=True)
class SecondMoments:
    """Answers by pairs of places of a vector x of each record; one answer may have several pairs.

    ``size`` is what \\|x\\|^2 is at most, ``margins`` how far floats take sums of neighbours from
    each other, by answer.
    """

    places: tuple[tuple[tuple[int, int], int], ...]
    size: Fraction
    margins: tuple[tuple[int, Fraction], ...] = ()

    @property
    def answers(self) -> frozenset[int]:
        """All of them."""
        return frozenset(answer for _, answer in self.places)

    def square(self, weights: Mapping[int, Fraction], *, is_replaced: bool) -> Fraction | None:
        """What a record changes, squared, with a weight for each answer; None where not known."""
        pairs = Counter(answer for _, answer in self.places)
        shares = {pair: weights.get(answer, _ZERO) / pairs[answer] for pair, answer in self.places}
        if is_replaced and not is_semidefinite(shares):
            return None
        return (1 + is_replaced) * self.size**2 * max(shares.values(), default=_ZERO)

    def square_of_margins(self, weights: Mapping[int, Fraction]) -> Fraction:
        """What floats may add."""
        return sum((weights.get(i, _ZERO) * by**2 for i, by in self.margins), _ZERO)


def is_semidefinite(entries: Mapping[tuple[int, int], Fraction]) -> bool:
    """Whether z_i z_j times the entries add up to 0 or more, for all numbers z: by elimination."""
    numbers = sorted({number for pair in entries for number in pair})
    rows = {
        (i, j): (entries.get((i, j), _ZERO) + entries.get((j, i), _ZERO)) / 2
        for i in numbers
        for j in numbers
    }
    for step, k in enumerate(numbers):
        pivot, left = rows[k, k], numbers[step + 1 :]
        if pivot < 0 or (not pivot and any(rows[k, j] for j in left)):
            return False
        for i in left:
            if rows[i, k]:
                for j in left:
                    rows[i, j] -= rows[i, k] * rows[k, j] / pivot
    return True


#: A difference: (answer, by how much it moves), sorted by answer, without those that stay.
Move = tuple[tuple[int, Fraction], ...]
#: One difference as it is given: all m numbers, or those that are not 0 by their answers.
Vector = Sequence[Rational] | Mapping[int, Rational]


@dataclass(frozen=True)
class Answer:
    """One number that the data determine; a variable of a run beside its noise.

    ``number`` is its coordinate in ``Differences``: equal answers are one of an analysis, with one
    number. ``is_whole`` promises whole numbers for every dataset. ``words`` name it in verdicts.
    """

    number: int
    is_whole: bool = False
    words: str = ""
    #: What it lies between, whatever the data; None for any number.
    ends: tuple[Fraction, Fraction] | None = None
    #: Of which other answers it is a function (``answer_functions``); None for sums of records.
    function: Any = None
    #: As ``ends``, of a sum of real numbers, whose functions are not followed.
    real_ends: tuple[Fraction, Fraction] | None = None
    #: What it is, where it is one number of a block of the records (``block_statistics``).
    block: Any = None
    #: Whether it is handed to the program as it is: no float has rounded it.
    is_given: bool = False

    @property
    def span(self) -> tuple[Fraction, Fraction] | None:
        """What it lies between, whether functions of it are followed or not."""
        return self.ends or self.real_ends

    @property
    def is_discrete(self) -> bool:
        """As noise says it: whether its values are whole numbers."""
        return self.is_whole

    @property
    def is_smooth(self) -> bool:
        """As noise says it: it has no density."""
        return False

    @property
    def support(self) -> tuple[Fraction | None, Fraction | None]:
        """As noise says it: any value is possible."""
        return None, None

    def __str__(self) -> str:
        return self.words or f"answer {self.number}"


@dataclass(frozen=True)
class AlignedPath:
    """One leaf of a program whose answers and noise are symbolic.

    ``noises`` says what each variable is; ``conditions`` are all that the path asks of them,
    ``places`` the numbers in its output. ``words`` name the path in verdicts.
    """

    noises: tuple[Noise | Answer, ...]
    conditions: tuple[Constraint, ...] = ()
    places: tuple[Form, ...] = ()
    words: str = ""


def are_told_once(paths: Iterable[AlignedPath], answers: frozenset[int]) -> bool:
    """Whether each of some answers is part of one place of a path at most, and of no condition."""
    for path in paths:
        numbers = {
            v: noise.number for v, noise in enumerate(path.noises) if isinstance(noise, Answer)
        }
        asked = {numbers.get(v) for condition in path.conditions for v, _ in condition.terms}
        told = [numbers.get(v) for place in path.places for v, _ in place.terms]
        if any(told.count(answer) > 1 or answer in asked for answer in answers):
            return False
    return True


@dataclass(frozen=True)
class Differences:
    """The set D of differences of the answers of neighbours; made by one of its constructors.

    A difference is a *move* plus any r with ``|r_i| <= box[i]``. Moves are the given ``rows``
    ("listed"), these and their opposites ("added"), or the differences of two rows ("replaced").
    ``spans``: with a move everything between it and its opposite is a difference, too.
    ``reals``: answers that also take what lies between the numbers of the rows.
    ``is_whole``: only whole vectors are differences, and all of them are meant.
    """

    size: int
    rows: tuple[Move, ...]
    relation: Literal["listed", "added", "replaced"]
    box: tuple[tuple[int, Fraction], ...] = ()
    is_whole: bool = False
    spans: bool = False
    reals: frozenset[int] = frozenset()
    #: Answers whose joint moves lie in a Euclidean ball, in any one row at a corner outside of it;
    #: by how much it lies outside (docs/theory/tables.md, B7).
    balls: tuple[tuple[frozenset[int], Fraction], ...] = ()
    #: Sums of products of numbers of a record, of which more is known than rows and box say.
    moments: tuple[SecondMoments, ...] = ()
    #: Answers of the box that move to one side together: none up where another one goes down.
    together: tuple[frozenset[int], ...] = ()

    @classmethod
    def of_tables(
        cls,
        rows: Sequence[Vector],
        *,
        relation: Literal["replaced", "added"] = "replaced",
        size: int | None = None,
        pairs: Iterable[tuple[int, int]] | None = None,
    ) -> Differences:
        """Of answers that are sums over the records: row v is what a record of value v adds.

        "replaced": a record takes any other value, or, with ``pairs``, the values v and w of one
        pair are exchanged. "added": a record is added or removed.
        """
        moves, size = _moves(rows, size)
        whole = all(_is_whole(move) for move in moves)
        if pairs is not None:
            between = [subtract_moves(moves[w], moves[v]) for v, w in pairs]
            return cls(size, _both(between), "listed", is_whole=whole)
        return cls(size, tuple(dict.fromkeys(moves)), relation, is_whole=whole)

    @classmethod
    def listed(cls, vectors: Sequence[Vector], *, size: int | None = None) -> Differences:
        """These vectors and their opposites."""
        moves, size = _moves(vectors, size)
        return cls(size, _both(moves), "listed", is_whole=all(_is_whole(move) for move in moves))

    @classmethod
    def of_box(cls, bounds: Sequence[Rational], *, is_whole: bool = False) -> Differences:
        """All answers move, the i-th by at most ``bounds[i]``."""
        sizes = _bounds(bounds, is_whole)
        return cls(len(bounds), ((),), "listed", box=sizes, is_whole=is_whole)

    @classmethod
    def of_one(cls, bounds: Sequence[Rational], *, is_whole: bool = False) -> Differences:
        """One answer moves, the i-th by at most ``bounds[i]``."""
        sizes = _bounds(bounds, is_whole)
        if is_whole:
            steps = (
                ((i, Fraction(step)),) for i, bound in sizes for step in range(1, int(bound) + 1)
            )
            return cls(len(bounds), _both(steps), "listed", is_whole=True)
        return cls(len(bounds), _both(((i, b),) for i, b in sizes), "listed", spans=True)

    def widen_by(self, margins: Mapping[int, Rational]) -> Differences:
        """Each difference and all within ``margins`` of it: for sums that floats have rounded."""
        box = dict(self.box)
        for i, margin in margins.items():
            if margin < 0:
                raise InputError(f"margins[{i}]={margin} must be 0 or more", name="margins")
            box[i] = box.get(i, Fraction(0)) + margin
        if not any(margins.values()):
            return self
        kept = tuple(sorted((i, bound) for i, bound in box.items() if bound))
        together = tuple(group.difference(margins) for group in self.together)
        return replace(self, box=kept, is_whole=False, moments=(), together=together)

    def between(self, reals: Iterable[int]) -> Differences:
        """The same rows as the corners of boxes, all of which are differences, in some answers."""
        numbers = frozenset(reals)
        return replace(self, is_whole=False, reals=numbers) if numbers else self

    def in_balls(self, balls: Iterable[tuple[frozenset[int], Fraction]]) -> Differences:
        """The same, where the rows of some answers are corners around Euclidean balls."""
        return replace(self, balls=tuple(balls))

    def with_moments(self, moments: Iterable[SecondMoments]) -> Differences:
        """The same, where also these are known; after all that widens."""
        return replace(self, moments=tuple(moments))

    def on_balls(self, numbers: Iterable[frozenset[int]]) -> Differences:
        """Rows on the balls of these answers: enough for sums of squares of single answers."""
        factors = {i: factor for own, factor in self.balls if own in set(numbers) for i in own}
        if not factors:
            return self
        rows = tuple(tuple((i, by / factors.get(i, 1)) for i, by in row) for row in self.rows)
        return replace(self, rows=rows, balls=())

    def is_between(self, answers: Iterable[int]) -> bool:
        """Whether some of these answers take what lies between the moves."""
        return self.spans or not self.reals.isdisjoint(answers)

    def without_box(self) -> Differences:
        """The moves alone."""
        return replace(self, box=(), together=())

    def only_box(self) -> Differences:
        """What is added to each move alone."""
        return replace(self, rows=((),), relation="listed", spans=False, balls=())

    def distinct_rows(self, answers: Iterable[int]) -> list[Move]:
        """What is left of the rows in these answers, each once."""
        kept: dict[int, list[tuple[int, Fraction]]] = {}
        for i in sorted(set(answers)):
            for row, by in self._rows_by_answer.get(i, ()):
                kept.setdefault(row, []).append((i, Fraction(by)))
        moves = dict.fromkeys(tuple(move) for _, move in sorted(kept.items()))
        return list(moves) if len(kept) == len(self.rows) else [(), *moves]

    def moves(self, answers: Iterable[int] | None = None) -> Iterator[Move]:
        """All moves that are not 0, those that agree in these answers once."""
        rows = self.rows if answers is None else self.distinct_rows(answers)
        if self.relation == "replaced":
            every: Iterable[Move] = (subtract_moves(*pair) for pair in permutations(rows, 2))
        else:
            every = rows if self.relation == "listed" else _both(rows)
        every = (move for move in every if move)
        yield from dict.fromkeys(every) if len(rows) < _MOST_COMPARED else every

    @cached_property
    def bounds(self) -> dict[int, Rational]:
        """By how much each answer moves at most; those that never move are left out."""
        moving = {*self._rows_by_answer, *self._bounds}
        bounds = {i: max(self.largest({i: 1}), self.largest({i: -1})) for i in moving}
        return {i: bound for i, bound in bounds.items() if bound}

    def largest(self, factors: Mapping[int, Rational]) -> Rational:
        """The largest sum of factors times answers over D; 0 where D is empty."""
        key = tuple(factors.items())
        cached = self._known.get(key)
        if cached is None:
            total: Rational = sum(by for _, by in self._add_in_box(factors))
            if any(i in self._rows_by_answer for i in factors):
                top, low = self._extremes(factors)
                total += top[0] - (low[0] if self.relation == "replaced" else 0)
            cached = self._known[key] = lean(total)
        return cached

    def find_largest(self, factors: Mapping[int, Rational]) -> Move:
        """Where ``largest`` is taken."""
        if not self.rows:
            return ()
        top, low = self._extremes(factors)
        at = self.rows[top[1]]
        if self.relation == "replaced":
            at = subtract_moves(at, self.rows[low[1]])
        elif top[0] == -low[0] and self.relation == "added":
            at = at if _times(factors, at) > 0 else subtract_moves((), at)
        moved = [i for numbers, _ in self._add_in_box(factors) for i in numbers]
        ends = {i: -self._bounds[i] if factors[i] > 0 else self._bounds[i] for i in moved}
        return subtract_moves(at, tuple(sorted((i, Fraction(by)) for i, by in ends.items())))

    def _add_in_box(self, factors: Mapping[int, Rational]) -> Iterator[tuple[list[int], Rational]]:
        """What the box adds to ``largest``, with the answers that do: of a group of one side."""
        sides: dict[int, dict[bool, list[int]]] = {}
        for i, factor in factors.items():
            if factor and i in self._bounds:
                both = sides.setdefault(self._groups.get(i, -1 - i), {})
                both.setdefault(factor > 0, []).append(i)
        for both in sides.values():
            yield max(
                ((numbers, self._size_in_box(numbers, factors)) for numbers in both.values()),
                key=lambda side: side[1],
            )

    def _size_in_box(self, numbers: Iterable[int], factors: Mapping[int, Rational]) -> Rational:
        size: Rational = 0
        for i in numbers:
            size += max(factors[i], -factors[i]) * self._bounds[i]
        return size

    def is_one_sided(self, move: Iterable[tuple[int, Rational]]) -> bool:
        """Whether answers that move to one side together do so."""
        sides: dict[int, bool] = {}
        moving = ((self._groups[i], by > 0) for i, by in move if by and i in self._groups)
        return all(sides.setdefault(group, side) == side for group, side in moving)

    def find_corners(self, answers: Container[int], most: int) -> list[Move] | None:
        """Of the box, in some answers: enough for what is convex; None where they are too many."""
        bounds = [(i, bound) for i, bound in self.box if i in answers]
        if 1 << len(bounds) > most:
            return None
        groups: dict[int, list[tuple[int, Fraction]]] = {}
        for i, bound in bounds:
            groups.setdefault(self._groups.get(i, -1 - i), []).append((i, bound))
        # Those of a group may stay, too, where others of it go further without them.
        corners = [_one_sided_corners(group) for group in groups.values()]
        if prod(map(len, corners)) > most:
            corners = [[((i, -bound),), ((i, bound),)] for i, bound in bounds]
        return [tuple(sorted(chain.from_iterable(parts))) for parts in product(*corners)]

    @cached_property
    def _groups(self) -> dict[int, int]:
        return {i: number for number, group in enumerate(self.together) for i in group}

    def _extremes(
        self, factors: Mapping[int, Rational]
    ) -> tuple[tuple[Rational, int], tuple[Rational, int]]:
        """The largest and the smallest value of a row, or of its opposite, each with the row."""
        values: dict[int, Rational] = {}
        for i, factor in factors.items():
            for row, by in self._rows_by_answer.get(i, ()):
                values[row] = values.get(row, 0) + by * factor
        if len(values) < len(self.rows):
            values[next(row for row in range(len(self.rows)) if row not in values)] = 0
        if not values:
            return (0, 0), (0, 0)
        top = max((value, row) for row, value in values.items())
        low = min((value, row) for row, value in values.items())
        if self.relation == "added" and top[0] < -low[0]:
            return (-low[0], low[1]), low
        if self.relation == "added":
            return top, (-top[0], top[1])
        return top, low

    @cached_property
    def _known(self) -> dict[tuple[tuple[int, Rational], ...], Rational]:
        return {}

    @cached_property
    def _bounds(self) -> dict[int, Rational]:
        return {i: lean(bound) for i, bound in self.box}

    @cached_property
    def _rows_by_answer(self) -> dict[int, list[tuple[int, Rational]]]:
        rows: dict[int, list[tuple[int, Rational]]] = {}
        for number, row in enumerate(self.rows):
            for i, by in row:
                rows.setdefault(i, []).append((number, lean(by)))
        return rows


@dataclass(frozen=True)
class AnswersOfSample:
    """How far neighbours move some answers, all of them of one random sample or of all records.

    ``order`` says of which sample, None for all records; no record is in it with more than
    ``share``. ``missing``: where a record of the sample is missing, not replaced.
    """

    order: int | None
    share: Fraction
    replaced: Differences
    missing: Differences
    #: Places of the order, or of all records, that the answers are of; None for all or any.
    places: range | None = None


class AnswersInGroups(Protocol):
    """Answers of which some are told by themselves (docs/theory/size.md, S21)."""

    @property
    def has_samples(self) -> bool:
        """Whether some of them are of random samples."""
        ...

    def split_answers(self, numbers: frozenset[int]) -> list[frozenset[int]]:
        """Answers that are to be looked at together: of one sample, and few enough."""
        ...

    def moves_of(self, numbers: frozenset[int]) -> AnswersOfSample | None:
        """How far neighbours move some answers; None where they are not of one sample."""
        ...


@dataclass(frozen=True)
class ManyDifferences:
    """Sums of differences: of ``times`` of each part, any of which may be 0 (tables, B4).

    No more is known of them as one set, so nothing is read off them as of ``Differences``.
    """

    size: int
    parts: tuple[tuple[int, Differences], ...]

    @property
    def times(self) -> int:
        """How many differences are added up."""
        return sum(times for times, _ in self.parts)


def find_parts(differences: Differences | ManyDifferences) -> Sequence[tuple[int, Differences]]:
    """What neighbours change: so many times a difference of each part, added up."""
    return differences.parts if isinstance(differences, ManyDifferences) else ((1, differences),)


def span_with_rounding(
    answer: Answer, parts: Sequence[tuple[int, Differences]]
) -> tuple[Fraction, Fraction] | None:
    """What an answer lies between, as floats may have it; None for any number."""
    span = answer.span
    if span is None:
        return None
    off = sum((Fraction(dict(part.box).get(answer.number, 0)) for _, part in parts), Fraction(0))
    return span[0] - off, span[1] + off


def largest_step(
    factors: Mapping[int, Rational], parts: Sequence[tuple[int, Differences]]
) -> Fraction:
    """By how much neighbours change a sum of factors times answers at most, either way."""
    turned = {number: -factor for number, factor in factors.items()}
    return sum(
        (
            times * Fraction(max(part.largest(factors), part.largest(turned)))
            for times, part in parts
        ),
        Fraction(0),
    )


# Rows whose differences are looked through for equal ones.
_MOST_COMPARED = 300


def _moves(vectors: Sequence[Vector], size: int | None) -> tuple[list[Move], int]:
    moves = [_move(vector) for vector in vectors]
    for vector in vectors:
        if not isinstance(vector, Mapping):
            if size is not None and len(vector) != size:
                raise InputError(f"a vector of {len(vector)} numbers, not {size}", name="vectors")
            size = len(vector)
    top = max((i for move in moves for i, _ in move), default=-1)
    if size is None:
        size = top + 1
    if top >= size:
        raise InputError(f"answer {top} moves, but there are {size} answers", name="size")
    return moves, size


def _move(vector: Vector) -> Move:
    entries = vector.items() if isinstance(vector, Mapping) else enumerate(vector)
    return tuple(sorted((int(i), Fraction(by)) for i, by in entries if by))


def subtract_moves(left: Move, right: Move) -> Move:
    """One difference without another."""
    difference = dict(left)
    for i, by in right:
        difference[i] = difference.get(i, _ZERO) - by
    return tuple(sorted((i, by) for i, by in difference.items() if by))


def without_gone(move: Move, counts: Mapping[int, tuple[int, ...]]) -> Move:
    """A difference without the answers of those values whose count becomes less.

    By the number of a count those of all answers of its value, this one among them.
    """
    gone = {number for i, by in move if by < 0 for number in counts.get(i, ())}
    return tuple((i, by) for i, by in move if i not in gone)


def _one_sided_corners(bounds: Sequence[tuple[int, Fraction]]) -> list[Move]:
    """Of one answer both ends; of several that move to one side all sets of ends of a side."""
    if len(bounds) == 1:
        [(i, bound)] = bounds
        return [((i, -bound),), ((i, bound),)]
    some = [part for size in range(1, len(bounds) + 1) for part in combinations(bounds, size)]
    return [(), *(tuple((i, side * by) for i, by in part) for part in some for side in (1, -1))]


def _times(factors: Mapping[int, Rational], move: Move) -> Rational:
    return sum(Fraction(factors.get(i, 0)) * by for i, by in move)


def _both(moves: Iterable[Move]) -> tuple[Move, ...]:
    every = [other for move in moves for other in (move, tuple((i, -by) for i, by in move))]
    return tuple(dict.fromkeys(every))


def _is_whole(move: Move) -> bool:
    return all(by.denominator == 1 for _, by in move)


def _bounds(bounds: Sequence[Rational], is_whole: bool) -> tuple[tuple[int, Fraction], ...]:
    for i, bound in enumerate(bounds):
        if bound < 0:
            raise InputError(f"bounds[{i}]={bound} must be 0 or more", name="bounds")
    exact = ((i, Fraction(bound)) for i, bound in enumerate(bounds))
    kept = ((i, Fraction(bound.__floor__()) if is_whole else bound) for i, bound in exact)
    return tuple((i, bound) for i, bound in kept if bound)
