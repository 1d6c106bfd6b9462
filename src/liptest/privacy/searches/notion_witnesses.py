"""Witnesses against claims in other forms: the pair, an order, and outputs that show it.

The outputs of a witness are enough by themselves: a divergence over some of the outputs is no more
than over all, and each set of outputs bounds mu from below (theory 6.5, 6.10).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.balls import CERTIFIED_BITS, FLOAT_BITS, precision
from liptest.data.domains import IntArray
from liptest.mechanisms.base import ClosedFormLosses, Mechanism
from liptest.mechanisms.laws import Output, OutputLaw, as_fraction, exact_ball
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import Comparison, exact_law
from liptest.privacy.divergences.quantiles import quantile_gaps
from liptest.privacy.divergences.tradeoff import gaussian_quantile
from liptest.privacy.notions import CurveClaim, MuClaim, RenyiClaim, RhoClaim, find_claimed_number
from liptest.privacy.witnesses import (
    PrivacyWitness,
    event_bounds,
    fraction_text,
    probability_bounds,
)

Floats = NDArray[np.float64]
# A longer event would be no evidence that anybody reads.
_LONGEST_EVENT = 4096
# What the shown outputs should exceed the claim by, beyond the rounding of floats.
_BEYOND = 1e-9


def notion_witness(
    mechanism: Mechanism, dataset: IntArray, neighbour: IntArray, found: Comparison
) -> PrivacyWitness:
    """A decided pair as a witness; the law that is diverged from is the neighbour's."""
    claim = found.part
    assert isinstance(claim, (RhoClaim, RenyiClaim, MuClaim))
    first, second = (neighbour, dataset) if found.swapped else (dataset, neighbour)
    event: tuple[Output, ...] = ()
    told: dict[str, Any] = {"probability": 0.0, "neighbour_probability": 0.0}
    if not isinstance(mechanism, ClosedFormLosses):
        left, right = exact_law(mechanism, first), exact_law(mechanism, second)
        event = distinguishing_outputs(left, right, claim, found.order)
        told = tell_by_laws(left, right, event)
    return PrivacyWitness(
        dataset=tuple(first.tolist()),
        neighbour=tuple(second.tolist()),
        event=event,
        loss_lower=found.lower,
        loss_upper=found.upper,
        claim=claim,
        order=found.order,
        **told,
    )


def distinguishing_outputs(
    left: OutputLaw, right: OutputLaw, claim: RhoClaim | RenyiClaim | MuClaim, order: float | None
) -> tuple[Output, ...]:
    """Outputs that show what was found; () where these are more than anybody reads."""
    outputs = list(dict.fromkeys((*left.outputs, *right.outputs)))
    alone = [o for o in outputs if right.is_zero(o) and not left.is_zero(o)]
    if alone:
        return (max(alone, key=lambda output: left.get(output, 0.0)),)
    if order is None:
        chosen = _best_cut(left, right, outputs)
    else:
        chosen = _largest_terms(left, right, outputs, order, _tau(claim, order))
    return tuple(chosen) if len(chosen) <= _LONGEST_EVENT else ()


def notion_witness_problems(witness: PrivacyWitness) -> list[str]:
    """What is wrong with a witness by its own numbers, where these are enough to tell."""
    claim, lower, upper = witness.claim, witness.loss_lower, witness.loss_upper
    if not lower <= upper:
        return [f"witness: the measure cannot lie between {lower} and {upper}"]
    if isinstance(claim, (Claim, CurveClaim)):
        return []
    if witness.measured <= find_claimed_number(claim) * (1 - _BEYOND):
        return [f"witness: loss_lower={lower} does not exceed the claim"]
    if not witness.event or max(witness.unexplored) != "0" or witness.order == 1:
        return []
    shown = _measure_event(witness)
    if shown > upper * (1 + _BEYOND):
        return [f"witness: its probabilities show {shown}, more than loss_upper={upper}"]
    is_enough = math.isinf(lower) or shown >= _find_needed(claim, witness.order) * (1 - _BEYOND)
    return [] if is_enough else ["witness: its probabilities do not break the claim"]


def _measure_event(witness: PrivacyWitness) -> float:
    """The divergence over the outputs of a witness, or the mu of their set, from below."""
    rows = [tuple(map(Fraction, row)) for row in witness.bounds]
    with precision(CERTIFIED_BITS):
        if witness.order is None:
            p, q = (sum((row[k] for row in rows), Fraction(0)) for k in (0, 3))
            if p <= 0 or q >= 1:
                return 0.0
            if q == 0 or p >= 1:
                return math.inf
            left = gaussian_quantile(exact_ball(p), exact_ball(1 - p))
            right = gaussian_quantile(exact_ball(q), exact_ball(1 - q))
            return float((left - right).lower())
        a, total = exact_ball(Fraction(witness.order)), arb(0)
        for p, _, _, q in rows:
            if q == 0 < p:
                return math.inf
            if p > 0:
                total += (a * exact_ball(p).log() - (a - 1) * exact_ball(q).log()).exp()
        return float((total.log() / (a - 1)).lower()) if total > 0 else -math.inf


def _find_needed(claim: RhoClaim | RenyiClaim | MuClaim, order: float | None) -> float:
    return claim.mu if isinstance(claim, MuClaim) else _tau(claim, order or 0.0)


def tell_by_laws(left: OutputLaw, right: OutputLaw, event: tuple[Output, ...]) -> dict[str, Any]:
    """The fields of a witness that say how likely its event is on both sides."""
    masses = [_event_mass(law, event) for law in (left, right)]
    return {
        "probability": masses[0][0],
        "neighbour_probability": masses[1][0],
        "exact": (masses[0][1], masses[1][1]),
        "bounds": event_bounds(left, right, event),
        "unexplored": tuple(probability_bounds(law.unexplored)[1] for law in (left, right)),
    }


def _event_mass(law: OutputLaw, event: tuple[Output, ...]) -> tuple[float, str]:
    """Probability of a set of outputs, as a float and exactly ("p/q", or a certified ball)."""
    with precision(FLOAT_BITS):
        if law.fractions is not None:
            exact = sum((Fraction(as_fraction(law.exact(output))) for output in event), Fraction(0))
            return float(exact), fraction_text(exact) or str(exact_ball(exact))
        ball = sum((law.exact(output) for output in event), arb(0))
        return math.fsum(law.get(output, 0.0) for output in event), str(ball)


def _tau(claim: RhoClaim | RenyiClaim | MuClaim, order: float) -> float:
    if isinstance(claim, RenyiClaim):
        return dict(claim.orders).get(order, math.inf)
    return claim.rho * order if isinstance(claim, RhoClaim) else math.inf


def _largest_terms(
    left: OutputLaw, right: OutputLaw, outputs: list[Output], order: float, tau: float
) -> list[Output]:
    p, q = _logs(left, outputs), _logs(right, outputs)
    if order == 1:
        return outputs  # terms may be negative: only all of them are a bound
    with np.errstate(invalid="ignore"):
        terms = np.where(np.isneginf(p), -np.inf, order * p - (order - 1) * q)
    rank = np.argsort(-terms, kind="stable")
    sums = np.logaddexp.accumulate(terms[rank]) / (order - 1)
    enough = np.flatnonzero(sums > tau * (1 + _BEYOND) + _BEYOND * tau)
    count = int(enough[0]) + 1 if len(enough) else len(outputs)
    return [outputs[k] for k in rank[:count]]


def _best_cut(left: OutputLaw, right: OutputLaw, outputs: list[Output]) -> list[Output]:
    p, q = _logs(left, outputs), _logs(right, outputs)
    with np.errstate(invalid="ignore"):
        rank = np.argsort(np.nan_to_num(q - p, nan=0.0, posinf=np.inf), kind="stable")
    gaps = quantile_gaps(p[None, rank], q[None, rank])[0]
    if not len(gaps):
        return outputs
    return [outputs[k] for k in rank[: int(np.argmax(gaps)) + 1]]


def _logs(law: OutputLaw, outputs: list[Output]) -> Floats:
    by_output = dict(zip(law.outputs, law.log_probabilities.tolist(), strict=True))
    return np.array([by_output.get(output, -math.inf) for output in outputs])
