"""What a witness against a claim of another form shows, in words."""

from __future__ import annotations

import math
from fractions import Fraction

from liptest.privacy.notions import MuClaim, RenyiClaim, RhoClaim, StatedClaim
from liptest.privacy.witnesses import PrivacyWitness

# Outputs of a divergence that are shown.
_MOST = 4


def refuting_notion_words(witness: PrivacyWitness) -> str:
    """How much more than claimed the pair shows."""
    limit = _limit(witness.claim, witness.order)
    if math.isinf(witness.loss_lower):
        return f"Seeing it rules out the second dataset: {_noun(witness)} is infinite, {limit}."
    return f"{_noun(witness)} is {_enclosed(witness)}, {limit}."


def open_notion_words(witness: PrivacyWitness) -> str:
    """What is known of an undecided pair, against what the claim allows."""
    return f"{_noun(witness)} is {_enclosed(witness)}, {_limit(witness.claim, witness.order)}."


def output_lines(witness: PrivacyWitness) -> list[str]:
    """The first few outputs of a divergence, each with both probabilities."""
    lines = []
    for output, bounds in zip(witness.event[:_MOST], witness.bounds, strict=False):
        left, right = (float(Fraction(bounds[k])) for k in (0, 2))
        lines.append(f"output {output!r}: probability {left:.6g} against {right:.6g}")
    more = len(witness.event) - len(lines)
    return [*lines, f"and {more:,} more"] if more else lines


def _noun(witness: PrivacyWitness) -> str:
    if witness.order is None:
        return "mu of this pair"
    if witness.order == 1:
        return "the Kullback-Leibler divergence of the two laws"
    return f"the Renyi divergence of order {witness.order:.12g}"


def _enclosed(witness: PrivacyWitness) -> str:
    if math.isinf(witness.loss_upper):
        return f"at least {witness.loss_lower:.9g}"
    low, high = f"{witness.loss_lower:.9g}", f"{witness.loss_upper:.9g}"
    return low if low == high else f"between {low} and {high}"


def _limit(claim: StatedClaim, order: float | None) -> str:
    if isinstance(claim, RhoClaim):
        allowed = float(claim.limit) * (order or 1.0)
        return f"the claim allows {claim.rho:.9g} times the order: {allowed:.9g}"
    if isinstance(claim, RenyiClaim):
        allowed = dict(claim.orders).get(order or 0.0, math.nan)
        return f"the claim allows {allowed:.9g}"
    return f"the claim allows {claim.mu:.9g}" if isinstance(claim, MuClaim) else f"claim {claim}"
