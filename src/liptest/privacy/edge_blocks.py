"""Pairs of laws at the edges of a statistic, in blocks (theory 3.8)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.domains import Domain, IntArray
from liptest.errors import InputError
from liptest.mechanisms.base import ComparableLaws, Mechanism
from liptest.mechanisms.shift import ShiftMechanism
from liptest.privacy.claims import Claim
from liptest.privacy.difference_pairs import (
    MOST_ENTRIES,
    ValueLaws,
    WorstPairs,
    laws_by_position,
    uncertain_pair,
)
from liptest.privacy.pairs import check_same_law, rounding_of
from liptest.statistics.difference_sets import DifferenceSets, HasDifferences

Indices = NDArray[np.int64]
Locate = Callable[[int], tuple[IntArray, IntArray]]

#: So many edges are visited one by one without another thought.
FEW_EDGES = 1 << 20


@dataclass(frozen=True)
class PairBlock:
    """Pairs of distinct laws; ``pairs`` is how many neighbouring pairs they stand for.

    ``locate(k)`` gives two neighbouring datasets with the laws of pair k.
    """

    laws: ComparableLaws
    left: Indices
    right: Indices
    pairs: int
    queries: int
    locate: Locate


def edges_by_difference(mechanism: Mechanism, domain: Domain, edges: int) -> DifferenceSets | None:
    """The edges by difference, where there are too many to visit and this helps; else None."""
    statistic = mechanism.statistic
    declared = isinstance(statistic, HasDifferences) and mechanism.source == "declared"
    if edges <= FEW_EDGES or not declared:
        return None
    sets = _difference_sets(statistic, domain)
    if sets is None or isinstance(mechanism, ShiftMechanism):
        return sets
    small = mechanism.outputs is not None and (sets.top + 1) * len(mechanism.outputs)
    return sets if small and small <= MOST_ENTRIES else None


@lru_cache(maxsize=1)
def _difference_sets(statistic: HasDifferences, domain: Domain) -> DifferenceSets | None:
    return statistic.difference_sets(domain)


def edge_blocks(
    mechanism: Any, domain: Domain, sets: DifferenceSets | None, claim: Claim | None
) -> Iterator[PairBlock]:
    """The edges of a mechanism's statistic; by difference, those that matter.

    With ``sets`` these are the worst edge and, with a claim, all that may break it.
    """
    if sets is not None and isinstance(mechanism, ShiftMechanism):
        return _shift_block(mechanism, domain, sets)
    if sets is not None and (claim is None or claim.delta == 0):
        laws = laws_by_position(mechanism, sets)
        if laws is not None:
            return _worst_blocks(mechanism, domain, sets, laws, claim)
    return _every_edge(mechanism, domain)


def _every_edge(mechanism: Any, domain: Domain) -> Iterator[PairBlock]:
    for left, right in mechanism.statistic.edges(domain):
        both = np.concatenate([left, right])
        values, rows = np.unique(both, axis=0, return_inverse=True)
        rows = rows.reshape(-1)
        laws = mechanism.laws_of(values)
        _check_value(mechanism, domain, laws, (left[0], right[0]), int(rows[0]))
        first, second = laws.distinct(rows[: len(left)]), laws.distinct(rows[len(left) :])
        locate = _locator(mechanism, domain, left, right)
        yield PairBlock(laws, first, second, len(left), len(values), locate)


def _shift_block(
    mechanism: ShiftMechanism, domain: Domain, sets: DifferenceSets
) -> Iterator[PairBlock]:
    # The laws of v and v + w differ as those of 0 and w do: one edge of each difference.
    lower = np.array([(bits & -bits).bit_length() - 1 for bits in sets.lower.values()])
    ends = [lower, lower + np.array(list(sets.lower), dtype=np.int64)]
    left, right = (sets.base + sets.unit * end for end in ends)
    laws, places = mechanism.laws_of(np.concatenate([left, right])), np.arange(len(left))
    locate = _locator(mechanism, domain, left, right)
    yield PairBlock(laws, places, places + len(left), sets.edges, 2 * len(left), locate)


def _worst_blocks(
    mechanism: Any,
    domain: Domain,
    sets: DifferenceSets,
    laws: ValueLaws,
    claim: Claim | None,
) -> Iterator[PairBlock]:
    slack = 2 * laws.error + (0.0 if claim is None else rounding_of(claim.threshold))
    watched = math.inf if claim is None else claim.threshold - slack
    certain = -math.inf if claim is None else claim.threshold + slack
    worst = WorstPairs(sets, laws, watched=watched, certain=certain)
    pairs, queries = sets.edges, sets.values
    uncertain = uncertain_pair(sets, laws)
    for low, high in chain([] if uncertain is None else [uncertain], worst.blocks()):
        positions, rows = np.unique(np.concatenate([low, high]), return_inverse=True)
        table = laws.table(positions)
        left, right = (sets.base + sets.unit * end for end in (low, high))
        _check_value(mechanism, domain, table, (left[0], right[0]), int(rows[0]))
        locate = _locator(mechanism, domain, left, right)
        yield PairBlock(table, rows[: len(low)], rows[len(low) :], pairs, queries, locate)
        pairs = queries = 0


def _locator(mechanism: Any, domain: Domain, left: Any, right: Any) -> Locate:
    def locate(k: int) -> tuple[IntArray, IntArray]:
        return mechanism.statistic.realise(domain, left[k], right[k])  # type: ignore[no-any-return]

    return locate


def _check_value(
    mechanism: Mechanism, domain: Domain, laws: ComparableLaws, pair: tuple[Any, Any], row: int
) -> None:
    try:
        dataset, _ = mechanism.statistic.realise(domain, *pair)
    except InputError:
        return  # declared edges may be realised by no dataset
    check_same_law(mechanism, laws, dataset, row)
