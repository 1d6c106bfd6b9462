"""Real answers of m queries, of any size: a domain that is not visited, only reasoned about.

One change of the data moves every answer (``relation="all"``), one answer (``"one"``), or all of
them by one of some listed moves. What shows a violation are whole answers, given as integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.domains import MovesTogether, rectangular
from liptest.errors import InputError, check_count, quote, with_example

#: Answers that are shown are whole and below this.
MOST = 2**31
Move = tuple[Fraction, ...]


class Answers(MovesTogether):
    """Answers of m queries, any real numbers; what a mechanism keeps is proved for all of them.

    Parameters
    ----------
    m
        Number of answers.
    sensitivity
        The most by which one answer moves.
    relation
        "all": a change of the data moves each of the answers by at most ``sensitivity``, up or
        down. "one": it moves one answer, by at most that. A list of moves, m numbers each: it
        moves the answers by one of these, forwards or backwards; ``sensitivity`` multiplies them.

    Raises
    ------
    InputError
        ``m`` below 1, a sensitivity that is not positive and finite, or another relation.
    """

    #: The most by which one answer moves, exactly.
    sensitivity: Fraction
    #: "all", "one" or "moves".
    kind: str
    #: The listed moves, exactly; () otherwise.
    moves: tuple[Move, ...]

    @with_example("lt.Answers(20)")
    def __init__(
        self,
        m: int,
        sensitivity: float | Fraction = 1,
        relation: str | Sequence[Sequence[float]] = "all",
    ) -> None:
        count = check_count("m", m)
        object.__setattr__(self, "sizes", (MOST,) * count)
        object.__setattr__(self, "sensitivity", _positive(sensitivity))
        moves = () if isinstance(relation, str) else _moves(relation, count, self.sensitivity)
        if isinstance(relation, str) and relation not in _WORDS:
            raise InputError(
                f"relation={quote(relation)} must be 'all' (a change of the data may move every "
                f"answer), 'one' (it moves one), or a list of moves of {count} numbers each",
                name="relation",
                value=relation,
            )
        kind = relation if isinstance(relation, str) else "moves"
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "moves", moves)
        change, name = _WORDS[kind]
        by = str(self.sensitivity)
        object.__setattr__(self, "neighbour_words", change.format(by))
        object.__setattr__(self, "relation", name.format(by))

    def __repr__(self) -> str:
        relation = repr(self.kind) if not self.moves else f"[{len(self.moves)} moves]"
        return f"Answers({self.dimension}, sensitivity={self.sensitivity}, relation={relation})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answers) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.kind != "moves":
            return Answers, (self.dimension, self.sensitivity, self.kind)
        moves = [[step / self.sensitivity for step in move] for move in self.moves]
        return Answers, (self.dimension, self.sensitivity, moves)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.dimension, self.sensitivity, self.kind, self.moves

    @property
    def dataset_words(self) -> str:
        return f"{self.dimension:,} answers, any numbers"

    @property
    def diameter(self) -> int:
        return (MOST - 1) * self.dimension

    @property
    def neighbouring_pairs(self) -> int:
        return self.size

    def small(self, m: int) -> Answers | None:
        """The same relation over ``m`` answers; None for listed moves of another length."""
        if self.kind == "moves":
            return self if m == self.dimension else None
        return Answers(m, self.sensitivity, self.kind)

    def whole_moves(self) -> list[tuple[int, ...]]:
        """Moves by whole numbers, the largest ones: what is tried to refute a claim.

        At most 2^m for "all", so for few answers only; [] where no whole move is large enough to
        be a neighbour.
        """
        if self.kind == "moves":
            moves = {move for move in self.moves if all(step.denominator == 1 for step in move)}
            whole = [tuple(int(step) for step in move) for move in sorted(moves)]
            return whole + [tuple(-step for step in move) for move in whole]
        step = int(self.sensitivity)
        if step < 1:
            return []
        m = self.dimension
        if self.kind == "one":
            return [
                tuple(sign * step * int(i == j) for j in range(m))
                for i in range(m)
                for sign in (1, -1)
            ]
        return [tuple(step if bits >> i & 1 else -step for i in range(m)) for bits in range(1 << m)]

    def check_points(self, points: ArrayLike, *, private: bool = False) -> NDArray[Any]:
        """Whole answers on both sides of 0, as (n, m) integers; see ``Domain``."""
        array = rectangular(points)
        is_number = array.dtype.kind in "iuf"
        sizes = super().check_points(np.abs(array) if is_number else array, private=private)
        return sizes * np.sign(array).astype(np.int64).reshape(sizes.shape) if is_number else sizes

    def distance(self, points: ArrayLike, others: ArrayLike) -> NDArray[np.int64]:
        """1 for neighbours, 0 for equal answers, 2 for all others."""
        left, right = (np.atleast_2d(np.asarray(side)) for side in (points, others))
        moves = [[Fraction(step) for step in row] for row in (right - left).tolist()]
        return np.array([self._length(move) for move in moves], dtype=np.int64)

    def _length(self, move: list[Fraction]) -> int:
        if not any(move):
            return 0
        if self.kind == "moves":
            back = tuple(-step for step in move)
            return 1 if tuple(move) in self.moves or back in self.moves else 2
        few = self.kind == "all" or sum(map(bool, move)) == 1
        return 1 if few and max(map(abs, move)) <= self.sensitivity else 2

    def _refusal(self) -> InputError:
        return InputError(
            f"domain={self}: real answers are not visited one by one; give their finite sibling, "
            f"for example lt.AnswerGrid([3] * {self.dimension}, relation='all')",
            name="domain",
            value=self,
        )


_WORDS = {
    "all": ("moving every answer by at most {}", "every answer moves by at most {}"),
    "one": ("moving one answer by at most {}", "one answer moves by at most {}"),
    "moves": ("moving the answers by a listed move", "the answers move by a listed move"),
}


def _positive(sensitivity: Any) -> Fraction:
    exact = _exact(sensitivity)
    if exact is None or exact <= 0:
        raise InputError(
            f"sensitivity={quote(sensitivity)} must be a positive number, the most by which a "
            f"change of the data moves an answer",
            name="sensitivity",
            value=sensitivity,
        )
    return exact


def _exact(number: Any) -> Fraction | None:
    """A finite number exactly, a float as the float it is."""
    if isinstance(number, bool) or not isinstance(number, (Rational, float, np.number)):
        return None
    try:
        return Fraction(number.item() if isinstance(number, np.number) else number)
    except (ValueError, OverflowError, TypeError):
        return None


def _moves(relation: Any, count: int, sensitivity: Fraction) -> tuple[Move, ...]:
    try:
        rows = [[_exact(step) for step in row] for row in relation]
    except TypeError:
        rows = []
    good = [row for row in rows if len(row) == count and None not in row and any(row)]
    if not rows or len(good) < len(rows):
        raise InputError(
            f"relation={quote(relation)} must be 'all', 'one', or a list of moves, {count} "
            f"numbers each, not all 0",
            name="relation",
            value=relation,
        )
    exact = [tuple(sensitivity * Fraction(step or 0) for step in row) for row in rows]
    return tuple(dict.fromkeys(exact))
