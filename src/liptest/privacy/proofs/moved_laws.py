"""Proofs for programs of which the data only move the answer: one pair for each move.

Under all data the law is one law, moved by a sum of answers. So what two neighbours differ by
tells all that their laws differ by, and one pair of datasets for each such difference is compared
(docs/theory/size.md, S16).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import islice
from typing import Any

from liptest.data.domains import Domain
from liptest.errors import LiptestError
from liptest.mechanisms.base import Mechanism, through_all_numbers, through_densities
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import Answer, certify_comparison
from liptest.privacy.proofs.prices import PASSES, WAYS, Alignment
from liptest.privacy.request import Task
from liptest.privacy.searches.plain_pairs import Pair, record_pairs
from liptest.symbolic.alignment import Price
from liptest.symbolic.answers import Differences, Move

# Pairs that are compared, and differences that are looked through for them.
_MOST_PAIRS, _MOST_MOVES = 400, 20_000
# Runs for one law.
_RUNS = 4096


def prove_by_moving(task: Task, claim: Claim, known: Alignment) -> Alignment:
    """The claim by one pair for each way in which neighbours move the answer, or what is known."""
    started = time.perf_counter()
    mechanism, domain = task.mechanism, task.distribution.domain
    followed = mechanism.align_paths(domain, way=PASSES)
    if followed is None or not followed.exits:  # no loop of it starts over
        if known.has_far_too_many:  # of paths that were walked so before
            return known
        followed = mechanism.align_paths(domain, way=WAYS[1])
    elif not followed.leaves_by_noise:
        return known
    if followed is None or not followed.paths:
        return known
    pairs = _list_pairs(followed, domain)
    if not pairs:
        return known
    with suppress(LiptestError):
        seen = mechanism.within(_RUNS)
        if _are_clear(seen, domain, claim, pairs):
            price = Price(Fraction(claim.threshold), delta=Fraction(claim.delta))
            return Alignment(
                price,
                len(followed.paths),
                followed.reads_length,
                seconds=known.seconds + time.perf_counter() - started,
                moves=len(pairs),
                given=tuple(seen.law_source.split("; ")[1:]),
            )
    return known


def _are_clear(mechanism: Mechanism, domain: Domain, claim: Claim, pairs: list[Pair]) -> bool:
    def compare(seen: Mechanism) -> bool:
        compared = (certify_comparison(seen, *pair, claim) for pair in pairs)
        return all(comparison.answer is Answer.CLEAR for comparison in compared)

    return through_all_numbers(
        mechanism, domain.zeros, lambda seen: through_densities(seen, compare)
    )


def _list_pairs(followed: Any, domain: Domain) -> list[Pair]:
    """For each move of the numbers, or its opposite, neighbours that differ by it; () for none.

    Those that move the numbers farthest come first: most often they differ most.
    """
    differences = followed.differences
    if followed.moved is None:
        return []
    answers = {answer for place in followed.moved for answer, _ in place}
    if not isinstance(differences, Differences) or differences.box:
        return []
    if differences.is_between(answers):
        return []
    pairs: dict[tuple[Fraction, ...], Pair] = {}
    looked = 0
    for move in differences.moves():
        looked += 1
        change = _find_change(followed.moved, move)
        opposite = tuple(-step for step in change)
        if not any(change) or change in pairs or opposite in pairs:
            continue
        pair = next(_neighbours(followed.change_of_move(move), domain), None)
        if pair is None or looked > _MOST_MOVES or len(pairs) == _MOST_PAIRS:
            return []
        pairs[change] = pair
    return [pairs[change] for change in sorted(pairs, key=_find_length, reverse=True)]


def _find_length(change: tuple[Fraction, ...]) -> Fraction:
    return sum((abs(step) for step in change), Fraction(0))


def _find_change(places: Any, move: Move) -> tuple[Fraction, ...]:
    by = dict(move)
    return tuple(
        sum((factor * by.get(answer, 0) for answer, factor in place), Fraction(0))
        for place in places
    )


def _neighbours(change: tuple[int, int, int] | None, domain: Domain) -> Iterator[Pair]:
    """Neighbours that differ in one record, by these two values."""
    if change is None:
        return
    place, low, high = change
    for left, right in islice(record_pairs(domain, place, low, high), 1):
        if (int(left[place]), int(right[place])) == (low, high):
            yield left, right
