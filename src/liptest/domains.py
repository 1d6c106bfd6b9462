"""Finite domains: the cube, the l1 grid, and records that can be replaced.

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
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.errors import DatasetError, InputError, check_count, shown

IntArray = NDArray[np.signedinteger[Any]]

# Points per array that the index <-> point maps can address in 64 bits.
_MAX_INDEXED = 2**62


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
    #: Whether neighbours differ in one coordinate only.
    one_at_a_time: ClassVar[bool] = True

    def __post_init__(self) -> None:
        try:
            sizes = tuple(check_count("sizes", size) for size in self.sizes)
        except TypeError:
            raise InputError(
                f"sizes={shown(self.sizes)} must be a sequence of whole numbers, "
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

    @cached_property
    def size(self) -> int:
        """Number of points, exactly (a Python int)."""
        return math.prod(size**count for size, count in Counter(self.sizes).items())

    @cached_property
    def size_array(self) -> NDArray[np.int64]:
        """``sizes`` as an int64 array of shape (d,)."""
        return np.asarray(self.sizes, dtype=np.int64)

    @cached_property
    def dtype(self) -> np.dtype[np.signedinteger[Any]]:
        """Smallest signed integer type that holds every value."""
        return np.min_scalar_type(-max(self.sizes))

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
            self.size // n * len(self.value_pairs(self.sizes.index(n))) * count
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

    Raises InputError when ``dimension`` is not a whole number of at least 1.
    """

    neighbour_words = "flipping one bit"
    relation = "flip one bit"

    def __init__(self, dimension: int) -> None:
        # Past the checks of the general case: d may be 1,000,000.
        object.__setattr__(self, "sizes", (2,) * check_count("dimension", dimension))

    def __repr__(self) -> str:
        return f"Hypercube({self.dimension})"

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
    relation = "add or remove one record"

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

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__(tuple(sizes) if isinstance(sizes, Sequence) else sizes)

    def __repr__(self) -> str:
        return f"RecordGrid({_short_sizes(self.sizes)})"

    @property
    def diameter(self) -> int:
        return sum(size > 1 for size in self.sizes)

    def value_pairs(self, coordinate: int) -> NDArray[np.int64]:
        return np.stack(np.triu_indices(self.sizes[coordinate], k=1), axis=1)

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
    return shown(list(sizes))


def check_domain(domain: object) -> Domain:
    """Return the domain, or raise InputError when it is none."""
    if isinstance(domain, Domain):
        return domain
    raise InputError(
        f"domain={shown(domain)} must be a Hypercube, Hypergrid, RecordGrid or AnswerGrid, for "
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
