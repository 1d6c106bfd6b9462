"""The largest loss over pairs that somebody lists: the worst ones of a grid too large to visit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.domains import Domain, IntArray
from liptest.errors import InputError, shown
from liptest.mechanisms.base import check_mechanism, through_densities
from liptest.points import PointBatch
from liptest.privacy.edge_blocks import PairBlock
from liptest.privacy.pairs import check_same_law
from liptest.privacy.proof import ExactEpsilon, largest_over


def exact_loss(
    mechanism: Any,
    pairs: Sequence[tuple[ArrayLike, ArrayLike]] | ArrayLike,
    *,
    domain: Domain | None = None,
) -> ExactEpsilon:
    """Largest loss over the given pairs of datasets: a lower bound of epsilon, exact for them.

    Parameters
    ----------
    mechanism
        As for ``check_privacy``.
    pairs
        p pairs (dataset, neighbour) of d whole numbers each, or an array of shape (p, 2, d).
    domain
        Where they must be neighbours. Without it, that they are is the caller's word.

    Returns
    -------
    ExactEpsilon
        ``value`` between ``lower`` and ``upper``; ``witness`` is the worst pair.

    Raises
    ------
    InputError
        No pairs, datasets of different lengths, equal ones, or pairs that are no neighbours.
    MechanismError
        The mechanism is broken.
    """
    checked = check_mechanism(mechanism)
    ends = _checked(pairs)
    if domain is not None:
        ends = _neighbours(ends, domain)
    return through_densities(checked, lambda seen: largest_over(seen, _block(seen, ends)))


def _block(mechanism: Any, ends: IntArray) -> Iterator[PairBlock]:
    flat = np.ascontiguousarray(ends.reshape(-1, ends.shape[2]))
    points, places = np.unique(flat, axis=0, return_inverse=True)
    laws = mechanism.laws(PointBatch(points))
    check_same_law(mechanism, laws, points[0])
    rows = laws.distinct(np.arange(len(points)))[places.reshape(-1)]

    def locate(k: int) -> tuple[IntArray, IntArray]:
        return ends[k, 0], ends[k, 1]

    yield PairBlock(laws, rows[0::2], rows[1::2], len(ends), len(points), locate)


def _checked(pairs: Any) -> NDArray[Any]:
    try:
        array = np.asarray(pairs)
    except ValueError:
        array = np.zeros(0)
    if array.ndim != 3 or array.shape[1] != 2 or 0 in array.shape or array.dtype.kind not in "iu":
        raise InputError(
            f"pairs={shown(pairs)} must be (dataset, neighbour) pairs of whole numbers, all of one "
            f"length: shape (p, 2, d), p and d at least 1",
            name="pairs",
        )
    same = np.flatnonzero((array[:, 0] == array[:, 1]).all(axis=1))
    if len(same):
        raise InputError(
            f"pairs[{same[0]}]={shown(array[same[0]].tolist())}: a dataset is no neighbour of "
            f"itself",
            name="pairs",
        )
    kind = np.min_scalar_type(-1 - int(np.abs(array.astype(np.float64)).max()))
    return np.ascontiguousarray(array, dtype=kind)


def _neighbours(ends: NDArray[Any], domain: Domain) -> IntArray:
    left, right = (domain.check_points(ends[:, side]) for side in (0, 1))
    far = np.flatnonzero(domain.distance(left, right) != 1)
    if len(far):
        raise InputError(
            f"pairs[{far[0]}]={shown(ends[far[0]].tolist())} are no neighbours on {domain}: "
            f"{domain.relation}",
            name="pairs",
        )
    return np.stack([left, right], axis=1)
