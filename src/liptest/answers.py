"""Grids of query answers, where one change of the data may move every answer at once.

A mechanism such as the sparse vector technique or the noisy maximum gets the answers of m counting
queries. One record more or less changes each answer by at most 1, up or down: either all of them
(``relation="all"``: the queries are arbitrary), or only one (``relation="one"``: the queries ask
about disjoint groups). The same code may keep its promise under one relation and break it under
the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.domains import Domain, Hypergrid, IntArray
from liptest.errors import InputError, shown

Indices = NDArray[np.int64]

# Neighbours of one point that are listed at once: 3^11 - 1 fit, 3^12 - 1 do not.
_MOST_NEIGHBOURS = 1 << 18


class AnswerGrid(Domain):
    """Answers of m counting queries: vectors of m whole numbers, ``0 .. sizes[r] - 1`` each.

    Answers that start elsewhere are moved by the mechanism: ``data - 5`` lets them start at -5.

    Parameters
    ----------
    sizes
        (m,) how many values each answer takes.
    relation
        "all": neighbours differ by at most 1 in every answer, and the distance of two vectors is
        their largest difference. "one": neighbours differ by 1 in one answer, and the distance is
        the sum of the differences, as on a Hypergrid.

    Raises
    ------
    InputError
        Sizes that are no whole numbers of at least 1, or another relation.
    """

    def __new__(cls, sizes: Sequence[int] = (), *, relation: str | None = None) -> AnswerGrid:
        if cls is not AnswerGrid:
            return object.__new__(cls)
        kind = {"all": AllAnswers, "one": OneAnswer}.get(str(relation))
        if kind is None:
            raise InputError(
                f"relation={shown(relation)} must be 'all' (a change of the data may move every "
                f"answer by 1) or 'one' (it moves one answer by 1)",
                name="relation",
                value=relation,
            )
        return object.__new__(kind)

    def __init__(self, sizes: Sequence[int], *, relation: str | None = None) -> None:
        super().__init__(tuple(sizes) if isinstance(sizes, Sequence) else sizes)


class OneAnswer(AnswerGrid, Hypergrid):
    """``AnswerGrid(sizes, relation="one")``: the l1 grid in the words of queries."""

    neighbour_words = "raising or lowering one answer by 1"
    relation = "one answer moves by 1"

    def __repr__(self) -> str:
        return f"AnswerGrid({_short(self.sizes)}, relation='one')"


class AllAnswers(AnswerGrid):
    """``AnswerGrid(sizes, relation="all")``: the grid with the largest difference as metric.

    A change of one coordinate does not describe its neighbours, so what works coordinate by
    coordinate refuses it.
    """

    neighbour_words = "moving every answer by at most 1"
    relation = "every answer moves by at most 1"
    one_at_a_time = False

    def __repr__(self) -> str:
        return f"AnswerGrid({_short(self.sizes)}, relation='all')"

    @property
    def diameter(self) -> int:
        return max(self.sizes) - 1

    @cached_property
    def neighbouring_pairs(self) -> int:
        # Per answer: n pairs of equal values and 2 (n - 1) ordered pairs of adjacent ones.
        ordered = math.prod(3 * size - 2 for size in self.sizes)
        return (ordered - self.size) // 2

    @property
    def most_neighbours(self) -> int:
        """Neighbours of a point inside."""
        return math.prod(min(size, 3) for size in self.sizes) - 1

    def distance(self, points: ArrayLike, others: ArrayLike) -> NDArray[np.int64]:
        left = np.atleast_2d(np.asarray(points)).astype(np.int64)
        right = np.atleast_2d(np.asarray(others)).astype(np.int64)
        return np.asarray(np.abs(left - right).max(axis=1))

    def distances(self, points: IntArray, others: IntArray) -> NDArray[np.signedinteger[Any]]:
        wide = np.min_scalar_type(-self.diameter - 1)
        found = np.zeros((len(points), len(others)), dtype=wide)
        for r in range(self.dimension):
            moves = np.abs(points[:, r, None].astype(np.int64) - others[None, :, r])
            np.maximum(found, moves.astype(wide), out=found)
        return found

    def neighbours(self, point: ArrayLike) -> IntArray:
        return self.neighbourhoods(self.check_points(point))[1]

    def neighbourhoods(self, points: IntArray) -> tuple[Indices, IntArray]:
        """All neighbours of n points: (k,) rows, ascending, and (k, m) neighbours of these rows.

        InputError when a point may have more than 2**18.
        """
        self.check_neighbourhoods()
        near = points[:, None, :].astype(np.int64) + self._moves[None, :, :]
        inside = ((near >= 0) & (near < self.size_array)).all(axis=2)
        return np.nonzero(inside)[0], near[inside].astype(self.dtype)

    def check_neighbourhoods(self) -> None:
        """Raise InputError when a point has too many neighbours to be listed."""
        if self.most_neighbours > _MOST_NEIGHBOURS:
            raise InputError(
                f"sizes={shown(list(self.sizes))}: a vector of {self.dimension} answers has about "
                f"{self.most_neighbours:.3g} neighbours when all answers move, more than the "
                f"{_MOST_NEIGHBOURS:,} that are visited; use fewer answers, or list the pairs "
                f"that matter for exact_loss",
                name="sizes",
                value=self.sizes,
            )

    def pair_views(self, table: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        view = table.reshape(self.sizes)
        for move in self._half_moves():
            first = tuple(_ends(step)[0] for step in move)
            second = tuple(_ends(step)[1] for step in move)
            yield view[first], view[second]

    def value_pairs(self, coordinate: int) -> Indices:
        raise self._refusal()

    def other_values(self, coordinate: int, value: int) -> Indices:
        raise self._refusal()

    def neighbour_changes(self, points: IntArray) -> tuple[Indices, Indices, Indices]:
        raise self._refusal()

    def line(self, point: ArrayLike, coordinate: int) -> IntArray:
        raise self._refusal()

    def _coordinate_distance(
        self, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[Any]:
        raise self._refusal()

    def _refusal(self) -> InputError:
        return together_error(self, "this method")

    @cached_property
    def _moves(self) -> NDArray[np.int64]:
        steps = [(-1, 0, 1) if size > 1 else (0,) for size in self.sizes]
        moves = np.array(list(product(*steps)), dtype=np.int64)
        return moves[moves.any(axis=1)]

    def _half_moves(self) -> Iterator[tuple[int, ...]]:
        """One of each move and its opposite: those whose first step is up."""
        steps = [(0, 1, -1) if size > 1 else (0,) for size in self.sizes]
        for move in product(*steps):
            if next((step for step in move if step), 0) > 0:
                yield move

    def __getstate__(self) -> dict[str, Any]:
        return {key: item for key, item in self.__dict__.items() if key != "_moves"}


def together_error(domain: Domain, who: str) -> InputError:
    """The error of a method that changes one coordinate at a time."""
    return InputError(
        f"{who} changes one coordinate at a time, but on {domain} all answers may move at once; "
        f"use exact_epsilon, exact_loss, or check_privacy with method='exhaustive' or "
        f"'neighbourhoods'; relation='one' only where a change of the data moves one answer",
        name="domain",
        value=domain,
    )


def require_one_at_a_time(domain: Domain, who: str) -> None:
    """Raise InputError when neighbours may differ in several coordinates."""
    if not domain.one_at_a_time:
        raise together_error(domain, who)


def _ends(step: int) -> tuple[slice, slice]:
    """Where a move of one coordinate starts and ends, as slices of its values."""
    low, high = slice(None, -1), slice(1, None)
    return {0: (slice(None), slice(None)), 1: (low, high), -1: (high, low)}[step]


def _short(sizes: tuple[int, ...]) -> str:
    same = len(sizes) > 1 and len(set(sizes)) == 1
    return f"[{sizes[0]}] * {len(sizes)}" if same else shown(list(sizes))
