"""Exact laws of rounded outputs as they are implemented, compared pair by pair (theory I5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.balls import float_above
from liptest.data.answers import Answers
from liptest.data.domains import Domain
from liptest.errors import LiptestError
from liptest.floats.counts import (
    CountedLaw,
    NotCounted,
    OutputPiece,
    bounds_of_exp,
    count_outputs,
    delta_between,
    find_output,
    loss_between,
    runs_over,
)
from liptest.floats.grid import GENERATOR, GRID, fresh, generator_in, words_at
from liptest.floats.impossible import INVERSION
from liptest.floats.records import AsImplemented, conditions
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import integer_weights
from liptest.privacy.claims import Claim
from liptest.privacy.notions import StatedClaim
from liptest.privacy.searches.plain_pairs import plain_pairs
from liptest.verdicts import Decision

#: A finite loss beyond a pure claim that needs no more delta is one of single grid points.
GRID_DELTA = Fraction(1, 1 << 40)
_CHECKED, _GRID_RUNS = 8, 1 << 10
# Rationals around e^epsilon are written out.
_MOST_EPSILON = 10_000
Dataset = NDArray[Any]
Pair = tuple[Dataset, Dataset]
#: What ``Mechanism.float_paths`` says of a dataset.
FloatPathsOf = Callable[[Dataset], Any]


@dataclass
class Counted:
    """What was compared: the largest loss, and the delta that the claimed epsilon needs."""

    loss: arb
    delta: Fraction | None
    pairs: int
    is_all: bool
    at: Pair | None = None


def remember_paths(mechanism: Mechanism) -> FloatPathsOf:
    """The float paths of datasets, each followed once."""
    known: dict[bytes, Any] = {}

    def paths_of(dataset: Dataset) -> Any:
        key = dataset.tobytes()
        if key not in known:
            known[key] = mechanism.float_paths(dataset)
        return known[key]

    return paths_of


def count_floats(
    paths_of: FloatPathsOf, domain: Domain, claim: StatedClaim, *, pairs: int, datasets: int
) -> Counted:
    """Compare the exact laws of pairs: of all, where there are few datasets, else of plain ones.

    Raises NotCounted where outputs are not counted.
    """
    is_all = not isinstance(domain, Answers) and domain.size <= datasets
    chosen = every_pair(domain) if is_all else islice(plain_pairs(domain), pairs)
    counter = _Laws(paths_of, 2000 if datasets > 100 else 200)
    factor = None
    if isinstance(claim, Claim):
        if float(claim.epsilon) > _MOST_EPSILON:
            raise NotCounted(f"the claim has an epsilon above {_MOST_EPSILON:,}")
        # A smaller factor needs more delta.
        factor = bounds_of_exp(replace(claim, tolerance=0.0).ball())[0]
    counted = Counted(arb(0), None if factor is None else Fraction(0), 0, is_all)
    for pair in chosen:
        laws = [counter.law(end) for end in pair]
        loss, _ = loss_between(*laws)
        if counted.at is None or loss.upper() > counted.loss.upper():
            counted.loss, counted.at = loss, pair
        if factor is not None and counted.delta is not None:
            counted.delta = max(counted.delta, delta_between(laws[0], laws[1], factor))
        counted.pairs += 1
    return counted


def every_pair(domain: Domain) -> Iterator[Pair]:
    """All neighbouring pairs of a small domain, each once."""
    for points in domain.all_points():
        for point in points.astype(np.int64):
            for other in domain.neighbours(point).astype(np.int64):
                if point.tolist() < other.tolist():
                    yield point, other


class _Laws:
    """Laws of datasets; those with the same paths are counted once."""

    def __init__(self, paths_of: FloatPathsOf, most: int) -> None:
        self._paths_of, self._most = paths_of, most
        self._known: dict[Any, CountedLaw] = {}
        self._of: dict[bytes, CountedLaw] = {}

    def law(self, dataset: Dataset) -> CountedLaw:
        """Of one dataset; NotCounted where it is not counted."""
        key = dataset.tobytes()
        if key not in self._of:
            self._of[key] = self._count(dataset)
        return self._of[key]

    def _count(self, dataset: Dataset) -> CountedLaw:
        followed = self._paths_of(dataset)
        if followed is None:
            raise NotCounted("the code is not followed")
        try:
            return self._by_paths(followed, dataset)
        except NotCounted as error:
            why = error
        # Not while that is handled: it is not what an exception of the program comes from.
        law = _law_on_grid(followed.on_grid, dataset)
        if law is None:
            raise why
        return law

    def _by_paths(self, followed: Any, dataset: Dataset) -> CountedLaw:
        if not followed.paths:
            raise NotCounted(followed.reason)
        pieces = _pieces(followed.paths)
        key = tuple(pieces)
        if key not in self._known:
            self._known[key] = count_outputs(pieces, self._most)
            _check_runs(pieces, followed.run, runs_over(len(dataset), _CHECKED))
        return self._known[key]


def _pieces(paths: Sequence[Any]) -> list[OutputPiece]:
    shapes = {path.shape for path in paths}
    if len(shapes) != 1 or not all(path.is_followed and len(path.entries) == 1 for path in paths):
        raise NotCounted("its outputs are not one number that follows from one draw")
    return [OutputPiece(path.entries[0], path.conditions) for path in paths]


def _law_on_grid(on_grid: Mechanism | None, dataset: Dataset) -> CountedLaw | None:
    """The law of code whose random numbers are floats of the grid, all followed (I7)."""
    if on_grid is None:
        return None
    try:
        law = on_grid.within(runs_over(len(dataset), _GRID_RUNS)).law(dataset)
    except LiptestError:
        return None
    if law.fractions is None or law.unexplored:
        return None
    weights = integer_weights(law.fractions)
    counts: dict[Any, int] = dict(zip(law.outputs, weights, strict=True))
    return CountedLaw(counts, sum(weights))


def _check_runs(pieces: list[OutputPiece], run: Any, times: int) -> None:
    """Real runs must give what the pieces say."""
    if run is None:
        return
    drawn = fresh(GENERATOR, 3)
    for _ in range(times):
        words = words_at(GENERATOR, int(drawn.integers(1, GRID)))
        _, numbers = run(generator_in(GENERATOR, words))
        if numbers != (find_output(pieces, generator_in(GENERATOR, words)),):
            raise NotCounted("real runs differ from what was followed")


def tell_of_counts(found: Counted, claim: StatedClaim) -> AsImplemented:
    """What the counts say of a claim."""
    low, high = float(found.loss.lower()), float(found.loss.upper())
    delta = None if found.delta is None else float_above(found.delta)
    decision, reason = _decide(found, claim, high)
    return AsImplemented(
        decision,
        reason,
        loss=(max(low, 0.0), high),
        delta=delta,
        pairs=found.pairs,
        rests_on=conditions(INVERSION),
    )


def _decide(found: Counted, claim: StatedClaim, high: float) -> tuple[Decision, str]:
    if not isinstance(claim, Claim) or found.delta is None:
        return Decision.INCONCLUSIVE, "the claim is not about a loss"
    holds = high <= claim.threshold
    if claim.delta:
        holds = holds or found.delta <= Fraction(claim.delta)
        if found.delta > Fraction(claim.delta_threshold) + GRID_DELTA:
            return Decision.NO, "the exact law of its floats breaks the claim"
    elif not holds and (math.isinf(high) or found.delta > GRID_DELTA):
        return Decision.NO, "the exact law of its floats breaks the claim"
    if holds and found.is_all:
        return Decision.YES, "every neighbouring pair compared, by the exact law of its floats"
    if holds:
        return Decision.INCONCLUSIVE, "it holds on the pairs of plain datasets that were compared"
    return Decision.INCONCLUSIVE, "beyond the claim by single grid points"
