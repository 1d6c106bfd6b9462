"""Finite domains: the cube, the l1 grid, records that can be replaced, and query answers.

A *point* (a *dataset*, from ``privacy`` on) is a vector of ``dimension`` small integers;
coordinate ``r`` takes the values ``0 .. sizes[r] - 1``. Two points are neighbours when their
distance is 1. Batches of points are C-ordered arrays of the smallest *signed* integer type
(unsigned ones would make ``-X.sum(1)`` and ``X[:, 2] - X[:, 0]`` silently wrong).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.errors import (
    MOST_RECORDS,
    DatasetError,
    InputError,
    check_count,
    quote,
    with_example,
)

IntArray = NDArray[np.signedinteger[Any]]
# Points per array that the index <-> point maps can address in 64 bits.
_MAX_INDEXED = 2**62
# Ranges of coordinates that are listed one by one.
_MOST_RANGES = 6


@dataclass(frozen=True, eq=False)
class Domain:
    """A product of finite sets with a metric; use one of its subclasses.

    Parameters
    ----------
    sizes
        ``sizes[r] >= 1`` is the number of values of coordinate ``r``.
    """

    sizes: tuple[int, ...]

    #: What a change at distance 1 is, as the subject of a sentence. Printed in verdicts.
    neighbour_words: ClassVar[str] = ""
    #: What the neighbouring relation is called in certificates.
    relation: ClassVar[str] = ""
    #: What one coordinate is. Printed in verdicts.
    noun: ClassVar[str] = "record"
    #: Whether neighbours differ in one coordinate only.
    one_at_a_time: ClassVar[bool] = True

    def __post_init__(self) -> None:
        try:
            sizes = tuple(self.sizes)
            if set(map(type, sizes)) == {int}:  # each once: records may be many, sizes are few
                for size in dict.fromkeys(sizes):
                    check_count("sizes", size)
            else:
                sizes = tuple(check_count("sizes", size) for size in sizes)
        except TypeError:
            raise InputError(
                f"sizes={quote(self.sizes)} must be a sequence of whole numbers, "
                f"one for each coordinate",
                name="sizes",
                value=self.sizes,
            ) from None
        if not sizes:
            raise InputError("sizes=() is empty; give one size per coordinate", name="sizes")
        object.__setattr__(self, "sizes", sizes)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.sizes == other.sizes

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.sizes))

    @property
    def dimension(self) -> int:
        """Number of coordinates d."""
        return len(self.sizes)

    @property
    def dataset_words(self) -> str:
        """What a dataset is made of: 4 answers in 0..3. Printed in verdicts."""
        count = f"{self.dimension:,} {self.noun}{'' if self.dimension == 1 else 's'}"
        if self.are_alike:
            return f"{count} in 0..{self.sizes[0] - 1}"
        largest = [size - 1 for size in self.sizes]
        if len(largest) <= _MOST_RANGES:
            return f"{count} in {', '.join(f'0..{value}' for value in largest)}"
        return f"{count} in ranges from 0..{min(largest)} to 0..{max(largest)}"

    def pair_words(self, point: Sequence[int], neighbour: Sequence[int]) -> tuple[str, ...]:
        """Two neighbours in words, line by line; none where their numbers say it."""
        return ()

    @cached_property
    def size(self) -> int:
        """Number of points, exactly (a Python int)."""
        return math.prod(size**count for size, count in Counter(self.sizes).items())

    @cached_property
    def are_alike(self) -> bool:
        """Whether all coordinates take as many values."""
        return self.sizes.count(self.sizes[0]) == len(self.sizes)

    @cached_property
    def size_array(self) -> NDArray[np.int64]:
        """``sizes`` as an int64 array of shape (d,)."""
        if self.are_alike:
            return np.repeat(np.int64(self.sizes[0]), self.dimension)  # np.full may be followed
        return np.asarray(self.sizes, dtype=np.int64)

    @cached_property
    def dtype(self) -> np.dtype[np.signedinteger[Any]]:
        """Smallest signed integer type that holds every value."""
        return np.min_scalar_type(-(self.sizes[0] if self.are_alike else max(self.sizes)))

    @property
    def zeros(self) -> IntArray:
        """The dataset of zeros, (d,), which every domain has."""
        return np.zeros(self.dimension, dtype=self.dtype)

    @cached_property
    def strides(self) -> NDArray[np.int64]:
        """Index weight of each coordinate, the last one varying fastest; shape (d,)."""
        self._require_indexable()
        weights = np.ones(self.dimension, dtype=np.int64)
        weights[:-1] = np.cumprod(self.size_array[:0:-1])[::-1]
        return weights

    def check_points(self, points: ArrayLike, *, private: bool = False) -> IntArray:
        """Return ``points`` as an (n, d) array of ``dtype``, or raise.

        Raises
        ------
        DatasetError
            Wrong shape, non-integer or out-of-range values. With ``private`` the message names
            neither a value nor a coordinate.
        """
        array = rectangular(points)
        shape = array.shape
        if array.ndim == 1:
            array = array[None, :]
        if array.ndim != 2 or array.shape[1] != self.dimension:
            raise DatasetError(
                f"shape={shape} does not fit {self}; give (n, {self.dimension}) "
                f"or one point of {self.dimension} values"
            )
        whole = array.dtype.kind in "iub" or (
            array.dtype.kind == "f"
            and bool(np.all(np.isfinite(array)))
            and bool(np.all(array == np.floor(array)))
        )
        if not whole or not np.all((array >= 0) & (array < self.size_array)):
            where = "" if private or not whole else _first_outside(array, self.size_array)
            raise DatasetError(
                f"the data lie outside {self}{where}; coordinate r takes the whole numbers "
                f"0 .. sizes[r]-1"
            )
        return np.ascontiguousarray(array, dtype=self.dtype)

    def distance(self, points: ArrayLike, others: ArrayLike) -> NDArray[np.int64]:
        """Distance of ``points[i]`` and ``others[i]``; two (n, d) arrays -> (n,) integers."""
        left = np.atleast_2d(np.asarray(points)).astype(np.int64)
        right = np.atleast_2d(np.asarray(others)).astype(np.int64)
        return np.asarray(self._coordinate_distance(left, right).sum(axis=1))

    def distances(self, points: IntArray, others: IntArray) -> NDArray[np.signedinteger[Any]]:
        """Distance of every point to every other; (n, d) and (m, d) -> (n, m) small integers."""
        shape = (len(points), len(others))
        total = np.zeros(shape, dtype=np.min_scalar_type(-self.diameter - 1))
        for r in range(self.dimension):
            column: NDArray[Any] = points[:, r, None]
            total += self._coordinate_distance(column, others[None, :, r])
        return total

    def index(self, points: ArrayLike) -> NDArray[np.int64]:
        """Index of each point, 0 .. size-1; (n, d) -> (n,). InputError above 2**62 points."""
        return np.atleast_2d(np.asarray(points)).astype(np.int64) @ self.strides

    def points(self, indices: ArrayLike) -> IntArray:
        """Inverse of ``index``; (n,) -> (n, d)."""
        index = np.atleast_1d(np.asarray(indices, dtype=np.int64))
        return (index[:, None] // self.strides % self.size_array).astype(self.dtype)

    def value_pairs(self, coordinate: int) -> NDArray[np.int64]:
        """Neighbouring values (a, b), a < b, of one coordinate; shape (pairs, 2)."""
        raise NotImplementedError

    def count_value_pairs(self, coordinate: int) -> int:
        """How many neighbouring values there are of one coordinate, without a list of them."""
        return len(self.value_pairs(coordinate))

    def other_values(self, coordinate: int, value: int) -> NDArray[np.int64]:
        """Values at distance 1 from ``value`` in one coordinate, ascending."""
        raise NotImplementedError

    def neighbour_changes(
        self, points: IntArray
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """All neighbours of all points as changes (row, coordinate, new value), rows ascending."""
        raise NotImplementedError

    def pair_views(self, table: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Entries of a (size,) table at both ends of all neighbouring pairs, each pair once.

        Views of equal shapes, a kind of change each.
        """
        for axis in range(self.dimension):
            view = table.reshape(-1, self.sizes[axis], int(self.strides[axis]))
            for a, b in self.value_pairs(axis):
                yield view[:, a, :], view[:, b, :]

    @cached_property
    def neighbouring_pairs(self) -> int:
        """Number of unordered neighbouring pairs, exactly."""
        return sum(
            self.size // n * self.count_value_pairs(self.sizes.index(n)) * count
            for n, count in Counter(self.sizes).items()
        )

    @property
    def diameter(self) -> int:
        """Largest distance of two points."""
        raise NotImplementedError

    def neighbours(self, point: ArrayLike) -> IntArray:
        """All points at distance 1 from one point; (d,) -> (neighbours, d)."""
        centre = self.check_points(point)
        rows, coordinates, values = self.neighbour_changes(centre)
        block = centre[rows]
        block[np.arange(len(rows)), coordinates] = values
        return block

    def line(self, point: ArrayLike, coordinate: int) -> IntArray:
        """The points that agree with ``point`` off one coordinate; (d,) -> (sizes[r], d)."""
        block = np.repeat(self.check_points(point), self.sizes[coordinate], axis=0)
        block[:, coordinate] = np.arange(self.sizes[coordinate])
        return block

    def all_points(self, chunk: int = 2**16) -> Iterator[IntArray]:
        """Every point in index order, at most ``chunk`` at a time."""
        for start in range(0, self.size, chunk):
            yield self.points(np.arange(start, min(start + chunk, self.size)))

    def _coordinate_distance(
        self, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[Any]:
        raise NotImplementedError

    def _require_indexable(self) -> None:
        if self.size > _MAX_INDEXED:
            raise InputError(
                f"dimension={self.dimension}: {self} has too many points to be enumerated; "
                f"use a method that samples",
                name="dimension",
                value=self.dimension,
            )


class Hypercube(Domain):
    """{0,1}^d: d records of one bit; neighbours differ in one bit (paper section 4).

    Raises InputError when ``dimension`` is not a whole number from 1 to 10^8.
    """

    neighbour_words = "flipping one bit"
    noun = "bit"
    relation = "flip one bit"

    @with_example("lt.Hypercube(5000)")
    def __init__(self, dimension: int) -> None:
        # Past the checks of the general case: d may be 1,000,000.
        known = check_count("dimension", dimension, most=MOST_RECORDS)
        object.__setattr__(self, "sizes", (2,) * known)

    def __repr__(self) -> str:
        return f"Hypercube({self.dimension})"

    @property
    def dataset_words(self) -> str:
        return f"{self.dimension:,} bit{'' if self.dimension == 1 else 's'}"

    @cached_property
    def size(self) -> int:
        return 1 << self.dimension

    @cached_property
    def neighbouring_pairs(self) -> int:
        return self.dimension << (self.dimension - 1)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Hypercube, (self.dimension,))

    @property
    def diameter(self) -> int:
        return self.dimension

    def points(self, indices: ArrayLike) -> IntArray:
        index = np.atleast_1d(np.asarray(indices, dtype=np.int64))
        self._require_indexable()
        bits = np.unpackbits(index.astype(">i8").view(np.uint8).reshape(-1, 8), axis=1)
        return bits[:, 64 - self.dimension :].astype(self.dtype)

    def value_pairs(self, coordinate: int) -> NDArray[np.int64]:
        return np.array([[0, 1]])

    def other_values(self, coordinate: int, value: int) -> NDArray[np.int64]:
        return np.array([1 - value])

    def neighbour_changes(
        self, points: IntArray
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        n, d = points.shape
        rows = np.repeat(np.arange(n), d)
        coordinates = np.tile(np.arange(d), n)
        return rows, coordinates, 1 - points.reshape(-1).astype(np.int64)

    def _coordinate_distance(
        self, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[Any]:
        return np.asarray(left != right)


class Hypergrid(Domain):
    """[n_1] x .. x [n_d] with the l1 metric: histograms, where one record is added or removed."""

    neighbour_words = "raising or lowering one count by 1"
    noun = "count"
    relation = "add or remove one record"

    @with_example("lt.Hypergrid([3, 3, 2])")
    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__(tuple(sizes) if isinstance(sizes, Sequence) else sizes)

    def __repr__(self) -> str:
        return f"Hypergrid({_short_sizes(self.sizes)})"

    @property
    def diameter(self) -> int:
        return sum(self.sizes) - self.dimension

    def value_pairs(self, coordinate: int) -> NDArray[np.int64]:
        lower = np.arange(self.sizes[coordinate] - 1)
        return np.stack([lower, lower + 1], axis=1)

    def other_values(self, coordinate: int, value: int) -> NDArray[np.int64]:
        near = np.array([value - 1, value + 1])
        return near[(near >= 0) & (near < self.sizes[coordinate])]

    def neighbour_changes(
        self, points: IntArray
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        near = points.astype(np.int64)[:, :, None] + np.array([-1, 1])
        inside = (near >= 0) & (near < self.size_array[:, None])
        rows, coordinates, _ = np.nonzero(inside)
        return rows, coordinates, near[inside]

    def _coordinate_distance(
        self, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[Any]:
        return np.asarray(np.abs(left - right))


class RecordGrid(Domain):
    """[n_1] x .. x [n_d] with the Hamming metric: d records, one of which is replaced."""

    neighbour_words = "replacing one record"
    relation = "replace one record"

    @with_example("lt.RecordGrid([8] * 5000)")
    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__(tuple(sizes) if isinstance(sizes, Sequence) else sizes)

    def __repr__(self) -> str:
        return f"RecordGrid({_short_sizes(self.sizes)})"

    @property
    def diameter(self) -> int:
        return sum(size > 1 for size in self.sizes)

    def value_pairs(self, coordinate: int) -> NDArray[np.int64]:
        return np.stack(np.triu_indices(self.sizes[coordinate], k=1), axis=1)

    def count_value_pairs(self, coordinate: int) -> int:
        return math.comb(self.sizes[coordinate], 2)

    def other_values(self, coordinate: int, value: int) -> NDArray[np.int64]:
        every = np.arange(self.sizes[coordinate])
        return np.asarray(every[every != value])

    def neighbour_changes(
        self, points: IntArray
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        values = np.arange(max(self.sizes))
        other = (values != points[:, :, None]) & (values < self.size_array[:, None])
        rows, coordinates, chosen = np.nonzero(other)
        return rows, coordinates, chosen

    def _coordinate_distance(
        self, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[Any]:
        return np.asarray(left != right)


def _short_sizes(sizes: tuple[int, ...]) -> str:
    if len(sizes) > 8 and len(set(sizes)) == 1:
        return f"[{sizes[0]}] * {len(sizes)}"
    return quote(list(sizes))


def check_domain(domain: object) -> Domain:
    """Return the domain, or raise InputError when it is none."""
    if isinstance(domain, Domain):
        return domain
    raise InputError(
        f"domain={quote(domain)} must be a Hypercube, Hypergrid, RecordGrid or AnswerGrid, for "
        f"example Hypercube(10)",
        name="domain",
        value=domain,
    )


def rectangular(points: ArrayLike) -> NDArray[Any]:
    """The points as an array of any shape; DatasetError when their rows differ in length."""
    try:
        return np.asarray(points)
    except ValueError:
        # NumPy's own message is about arrays, and its traceback would show the data.
        raise DatasetError(
            "points: the rows have different lengths; give an (n, d) array of whole numbers"
        ) from None


def _first_outside(array: NDArray[Any], sizes: NDArray[np.int64]) -> str:
    row, coordinate = np.argwhere((array < 0) | (array >= sizes))[0]
    return f" (row {row}, coordinate {coordinate}: {array[row, coordinate]})"


# Grids of query answers, where one change of the data may move every answer at once.
#
# A mechanism such as the sparse vector technique or the noisy maximum gets the answers of m
# counting queries. One record more or less changes each answer by at most 1, up or down: either
# all of them (``relation="all"``: the queries are arbitrary), or only one (``relation="one"``: the
# queries ask about disjoint groups). The same code may keep its promise under one relation and
# break it under the other.


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
        Sizes that are not whole numbers of at least 1, or another relation.
    """

    def __new__(cls, sizes: Sequence[int] = (), *, relation: str | None = None) -> AnswerGrid:
        if cls is not AnswerGrid:
            return object.__new__(cls)
        kind = {"all": AllAnswers, "one": OneAnswer}.get(str(relation))
        if kind is None:
            raise InputError(
                f"relation={quote(relation)} must be 'all' (a change of the data may move every "
                f"answer by 1) or 'one' (it moves one answer by 1)",
                name="relation",
                value=relation,
            )
        return object.__new__(kind)

    @with_example('lt.AnswerGrid([3, 3, 2], relation="all")')
    def __init__(self, sizes: Sequence[int], *, relation: str | None = None) -> None:
        super().__init__(tuple(sizes) if isinstance(sizes, Sequence) else sizes)


class OneAnswer(AnswerGrid, Hypergrid):
    """``AnswerGrid(sizes, relation="one")``: the l1 grid in the words of queries."""

    neighbour_words = "raising or lowering one answer by 1"
    noun = "answer"
    relation = "one answer moves by 1"

    def __repr__(self) -> str:
        return f"AnswerGrid({_short(self.sizes)}, relation='one')"


class MovesTogether(Domain):
    """Base of domains whose coordinates move together: what changes one by one is refused.

    So are visits of neighbours, but where a subclass has its own.
    """

    one_at_a_time = False

    def value_pairs(self, coordinate: int) -> Indices:
        raise self._refusal()

    def other_values(self, coordinate: int, value: int) -> Indices:
        raise self._refusal()

    def neighbour_changes(self, points: IntArray) -> tuple[Indices, Indices, Indices]:
        raise self._refusal()

    def line(self, point: ArrayLike, coordinate: int) -> IntArray:
        raise self._refusal()

    def neighbours(self, point: ArrayLike) -> IntArray:
        raise self._refusal()

    def pair_views(self, table: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        raise self._refusal()

    def _coordinate_distance(
        self, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[Any]:
        raise self._refusal()

    def _refusal(self) -> InputError:
        return together_error(self, "this method")


class AllAnswers(MovesTogether, AnswerGrid):
    """``AnswerGrid(sizes, relation="all")``: the grid with the largest difference as metric.

    A change of one coordinate does not describe its neighbours, so what works coordinate by
    coordinate refuses it.
    """

    neighbour_words = "moving every answer by at most 1"
    noun = "answer"
    relation = "every answer moves by at most 1"

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
        distances = np.zeros((len(points), len(others)), dtype=wide)
        for r in range(self.dimension):
            moves = np.abs(points[:, r, None].astype(np.int64) - others[None, :, r])
            np.maximum(distances, moves.astype(wide), out=distances)
        return distances

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
                f"sizes={quote(list(self.sizes))}: a vector of {self.dimension} answers has about "
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
    return f"[{sizes[0]}] * {len(sizes)}" if same else quote(list(sizes))
