"""Screening of many pairs of laws in floats, and certification of what it flags."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.domains import IntArray
from liptest.errors import NonDeterministicError
from liptest.mechanisms.base import ComparableLaws, Mechanism
from liptest.mechanisms.laws import INFINITE_LOSS, LawTable, Output, OutputLaw
from liptest.mechanisms.neighbourhoods import uses_neighbours
from liptest.points import PointBatch
from liptest.privacy.certify import Comparison, compare_closed_form, compare_laws
from liptest.privacy.claims import Claim

Indices = NDArray[np.int64]

# Rounding in a float loss beyond the declared errors: a few ulp of the logs it is made of.
_ROUNDING = 2.0**-48
# Two evaluations of one law may differ by rounding (vectorised functions use other code paths
# for other lengths), never by more than this; see fresh_law_differs.
_SAME_LAW = 1e-9


@runtime_checkable
class ClosedFormLosses(Protocol):
    """Mechanisms with unbounded outputs: losses as balls instead of finite laws."""

    def pair_loss(self, dataset: IntArray, neighbour: IntArray) -> arb:
        """Ball that contains the loss of two datasets."""
        ...

    def pair_hockey_stick(self, dataset: IntArray, neighbour: IntArray, epsilon: arb) -> arb:
        """Ball that contains the larger hockey-stick divergence."""
        ...

    def pair_witness(
        self, dataset: IntArray, neighbour: IntArray, epsilon: float
    ) -> tuple[Output, arb, arb]:
        """An output that tells the datasets apart, with both probabilities as balls."""
        ...


@dataclass(frozen=True)
class Screened:
    """Float losses of p pairs and the positions (ascending) that may break the claim.

    ``certain`` are those of them, for delta = 0, that break it whatever the errors are; the others
    must be certified one by one.
    """

    losses: NDArray[np.float64]
    flagged: Indices
    certain: Indices


def screen_pairs(
    laws: ComparableLaws, left: Indices, right: Indices, claim: Claim, distances: Indices | int = 1
) -> Screened:
    """Losses of pairs of distinct laws; flags every pair that might break the claim."""
    losses = laws.losses(left, right)
    slack = loss_slack(laws, left, right, losses)
    suspect = (losses > claim.threshold * distances - slack) | (losses >= INFINITE_LOSS)
    if claim.delta > 0:
        suspect &= _may_exceed_delta(laws, left, right, claim, slack, suspect)
    suspect |= laws.has_uncertain_zeros(left, right)
    sure = losses > claim.threshold * distances + slack
    if claim.delta > 0:
        sure[:] = False
    elif not getattr(laws, "zeros_exact", True):
        sure &= losses < INFINITE_LOSS
    # Listed outputs say little about the losses of partial laws.
    losses = np.where(np.isinf(slack), 0.0, losses)
    return Screened(losses, np.flatnonzero(suspect), np.flatnonzero(sure))


def loss_slack(
    laws: ComparableLaws, left: Indices, right: Indices, losses: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Bound on the error of float losses, (p,): what was declared, and rounding."""
    # Errors of the logs themselves, when a law has tiny probabilities, are in screen_error.
    return np.asarray(laws.screen_error(left, right) + rounding_of(losses))


def rounding_of(losses: NDArray[np.float64] | float) -> Any:
    """Rounding in float losses beyond the errors of the laws; grows with the loss."""
    return _ROUNDING * np.maximum(1.0, np.minimum(losses, 1e6))


def _may_exceed_delta(
    laws: ComparableLaws,
    left: Indices,
    right: Indices,
    claim: Claim,
    slack: NDArray[np.float64],
    suspect: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    # Only pairs that break pure epsilon can have a positive divergence.
    result = np.zeros(len(left), dtype=bool)
    where = np.flatnonzero(suspect)
    sticks = laws.hockey_sticks(left[where], right[where], claim.threshold)
    factor = 1.0 + math.exp(min(claim.threshold, 700.0))
    result[where] = sticks > claim.delta_threshold - factor * (2 * slack[where] + _ROUNDING)
    return result


def certified_comparison(
    mechanism: Mechanism, dataset: IntArray, neighbour: IntArray, claim: Claim, distance: int = 1
) -> Comparison:
    """Decide one pair of datasets from exact laws or declared intervals."""
    if isinstance(mechanism, ClosedFormLosses):
        return compare_closed_form(
            lambda: mechanism.pair_loss(dataset, neighbour),
            lambda epsilon: mechanism.pair_hockey_stick(dataset, neighbour, epsilon),
            claim,
            distance,
        )
    left, right = exact_law(mechanism, dataset), exact_law(mechanism, neighbour)
    return compare_laws(left, right, claim, distance)


def exact_law(mechanism: Mechanism, dataset: IntArray) -> OutputLaw:
    """The law asked for anew: no memo may hide a mechanism that changes its answers."""
    fresh = getattr(mechanism, "fresh_law", mechanism.law)
    law: OutputLaw = fresh(dataset)
    return law


def check_same_law(
    mechanism: Mechanism, laws: ComparableLaws, dataset: IntArray, position: int = 0
) -> None:
    """Ask for the law at a position of a batch again; NonDeterministicError when it has changed."""
    if not isinstance(laws, LawTable):
        return
    again = exact_law(mechanism, dataset)
    row = laws.logs[laws.distinct(np.array([position]))[0]]
    known = dict(zip(laws.outputs, row, strict=True))
    for output, value in known.items():
        expected = math.exp(max(value, -745.0))
        if not math.isclose(again.get(output, 0.0), expected, rel_tol=1e-6, abs_tol=_SAME_LAW):
            raise _changed(mechanism)
    if any(p > _SAME_LAW and output not in known for output, p in again.items()):
        raise _changed(mechanism)


def check_laws(mechanism: Mechanism, laws: ComparableLaws, batch: PointBatch) -> None:
    """Ask for the law of the first dataset of a batch again; with ``neighbour_laws`` for the last.

    Raises NonDeterministicError when it is another one.
    """
    check_same_law(mechanism, laws, batch.centres[0])
    if not uses_neighbours(mechanism) or len(batch.rows) == 0:
        return
    last = len(batch) - 1
    try:
        check_same_law(mechanism, laws, batch.point(last), last)
    except NonDeterministicError:
        raise NonDeterministicError(
            f"{mechanism.name}: neighbour_laws gives another law for a changed dataset than law "
            f"gives for this dataset; correct it, or leave it out"
        ) from None


def _changed(mechanism: Mechanism) -> NonDeterministicError:
    return NonDeterministicError(
        f"{mechanism.name}: its output law on one and the same dataset changed between two "
        f"calls; a mechanism may draw only from rng and must keep no state"
    )


def shown_loss(loss: float) -> float:
    """A screened loss with the stand-in for infinity turned into inf."""
    return math.inf if loss >= INFINITE_LOSS else loss
