"""Which datasets are sampled, and which pairs of them are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.answers import AllAnswers
from liptest.distributions import Distribution, check_distribution
from liptest.domains import Domain, IntArray
from liptest.errors import InputError, shown

# Small domains are tried whole: as many datasets and pairs as this at most.
MAX_DATASETS = 4096
MAX_PAIRS = 20_000
# Draws on each dataset below which nothing can be learnt.
LEAST_DRAWS = 100
_NEIGHBOURS = 4


@dataclass(frozen=True, eq=False)
class Pairs:
    """V datasets and K pairs of positions among them.

    ``words`` says where they come from; ``is_declared`` when a user listed them, so that their
    being neighbours is the user's word; ``is_all`` when they are all neighbouring pairs.
    """

    datasets: tuple[IntArray, ...]
    pairs: tuple[tuple[int, int], ...]
    words: str
    relation: str
    is_declared: bool = False
    is_all: bool = False


def choose_pairs(data: Any, most_datasets: int, rng: np.random.Generator) -> Pairs:
    """The pairs to try: those listed, all of a small domain, or drawn ones and corners."""
    if isinstance(data, (list, tuple, np.ndarray)):
        return _declared(data)
    distribution = check_distribution(data, together=True)
    domain = distribution.domain
    limit = min(MAX_DATASETS, most_datasets)
    if domain.size <= limit and domain.neighbouring_pairs <= MAX_PAIRS:
        return _whole(domain)
    return _drawn(distribution, limit, rng)


def _whole(domain: Domain) -> Pairs:
    points = domain.points(np.arange(domain.size))
    if isinstance(domain, AllAnswers):
        rows, other = domain.neighbourhoods(points)
    else:
        rows, coordinates, values = domain.neighbour_changes(points)
        other = points[rows].copy()
        other[np.arange(len(rows)), coordinates] = values
    ends = np.stack([rows, domain.index(other)], axis=1)
    ends = ends[ends[:, 0] < ends[:, 1]]
    many = f"all {len(ends):,} neighbouring pairs" if len(ends) > 1 else "the one neighbouring pair"
    words = f"{many} of {domain}"
    pairs = tuple((a, b) for a, b in ends.tolist())
    return Pairs(tuple(map(_frozen, points)), pairs, words, domain.relation, is_all=True)


def _drawn(distribution: Distribution, limit: int, rng: np.random.Generator) -> Pairs:
    """Corners and drawn datasets, each with some of its neighbours, until ``limit`` datasets."""
    domain = distribution.domain
    most = np.asarray(domain.size_array - 1, dtype=domain.dtype)
    wanted = max(1, (limit - 2 * (1 + _NEIGHBOURS)) // (1 + _NEIGHBOURS))
    centres = np.concatenate([[np.zeros_like(most), most], distribution.sample(rng, wanted)])
    known: dict[bytes, int] = {}
    datasets: list[IntArray] = []
    pairs: dict[tuple[int, int], None] = {}

    def position(point: IntArray) -> int:
        place = known.setdefault(point.tobytes(), len(datasets))
        if place == len(datasets):
            datasets.append(_frozen(point))
        return place

    for centre in centres.astype(domain.dtype):
        for neighbour in _some_neighbours(domain, centre, rng):
            if len(datasets) + 2 <= max(limit, 2):
                a, b = position(centre), position(neighbour)
                pairs[min(a, b), max(a, b)] = None
    words = (
        f"{len(pairs):,} neighbouring pairs: the two extreme datasets and datasets drawn from "
        f"{distribution.source}, each with at most {_NEIGHBOURS} neighbours"
    )
    return Pairs(tuple(datasets), tuple(pairs), words, domain.relation)


def _some_neighbours(domain: Domain, centre: IntArray, rng: np.random.Generator) -> list[IntArray]:
    if isinstance(domain, AllAnswers):
        return _moved(domain, centre, rng)
    free = np.flatnonzero(domain.size_array > 1)
    found = []
    for r in rng.permutation(free)[:_NEIGHBOURS].tolist():
        neighbour = centre.copy()
        neighbour[r] = rng.choice(domain.other_values(r, int(centre[r])))
        found.append(neighbour)
    return found


def _moved(domain: AllAnswers, centre: IntArray, rng: np.random.Generator) -> list[IntArray]:
    """All answers up, all down, and moves at random, as far as they stay inside."""
    drawn = rng.integers(-1, 2, size=(_NEIGHBOURS, domain.dimension))
    moves = np.concatenate([np.array([[1], [-1]]).repeat(domain.dimension, axis=1), drawn])
    inside = np.clip(centre.astype(np.int64) + moves, 0, domain.size_array - 1)
    apart = inside[(inside != centre).any(axis=1)].astype(domain.dtype)
    found = {point.tobytes(): point for point in apart}
    return list(found.values())[:_NEIGHBOURS]


def _declared(listed: Sequence[Any] | NDArray[Any]) -> Pairs:
    datasets: dict[tuple[int, ...], int] = {}
    pairs: dict[tuple[int, int], None] = {}
    for pair in listed:
        a, b = (datasets.setdefault(side, len(datasets)) for side in check_pair(pair))
        pairs[a, b] = None
    if not pairs:
        raise InputError("pairs=[] is empty; list (dataset, neighbour) pairs", name="pairs")
    points = tuple(_frozen(np.array(point, dtype=np.int64)) for point in datasets)
    words = f"{len(pairs):,} pair{'s' * (len(pairs) > 1)} listed by the caller"
    return Pairs(points, tuple(pairs), words, "declared by the caller", is_declared=True)


def check_pair(pair: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two different datasets of equal length as tuples; InputError for anything else."""
    if not isinstance(pair, (list, tuple, np.ndarray)) or len(pair) != 2:
        raise InputError(
            f"pair={shown(pair)} must be (dataset, neighbour), two arrays of whole numbers",
            name="pair",
        )
    left, right = (_whole_numbers(side) for side in pair)
    if left == right or len(left) != len(right):
        raise InputError(
            f"pair={shown(pair)}: the datasets must be of one length and differ", name="pair"
        )
    return left, right


def _whole_numbers(dataset: ArrayLike) -> tuple[int, ...]:
    array = np.asarray(dataset)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iub":
        raise InputError(
            f"dataset: shape={array.shape}, dtype={array.dtype}; give one dataset as a 1-d array "
            f"of whole numbers",
            name="dataset",
        )
    return tuple(int(value) for value in array)


def _frozen(point: IntArray) -> IntArray:
    fixed: IntArray = np.ascontiguousarray(point)
    fixed.flags.writeable = False
    return fixed
