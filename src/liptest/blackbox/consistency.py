"""Whether a verdict from samples follows from its counts."""

from __future__ import annotations

import math

from liptest.blackbox.tails import log_tail
from liptest.blackbox.verdicts import BlackBoxVerdict, LossBound
from liptest.verdicts import Decision

# Of the logarithm of a tail, which is computed again.
_ROUNDING = 1e-9


def count_problems(verdict: BlackBoxVerdict) -> list[str]:
    """Where bounds do not follow from counts, or the decision not from the bounds."""
    wrong = [told for bound in verdict.bounds for told in _bound_problems(bound)]
    failure = verdict.guarantee.failure_probability or 0.0
    if sum(bound.failure_probability for bound in verdict.bounds) > failure * (1 + _ROUNDING):
        wrong.append("bounds: together they may fail more often than the verdict says")
    if any(bound.delta < verdict.claim.delta for bound in verdict.bounds):
        wrong.append("bounds: they are about another delta than the claim")
    witness = verdict.witness
    refuted = witness is not None and witness.lower_bound >= verdict.claim.threshold
    if (verdict.decision is Decision.NO) != refuted or (refuted and witness not in verdict.bounds):
        wrong.append(f"decision={verdict.decision}: the bounds do not give it")
    reached = verdict.resolution_reached <= verdict.resolution
    if verdict.decision is Decision.YES and not reached:
        wrong.append("decision=YES: the resolution was not reached")
    if sum(sum(bound.draws) for bound in verdict.bounds) > verdict.cost.draws:
        wrong.append("cost.draws: fewer than the bounds count")
    return wrong


def _bound_problems(bound: LossBound) -> list[str]:
    if any(hits > draws for hits, draws in zip(bound.hits, bound.draws, strict=True)):
        return [f"hits={bound.hits} are more than draws={bound.draws}"]
    if bound.lower_bound == -math.inf:
        return []
    wins, losses = bound.hits
    tail = log_tail(wins, wins + losses + bound.tokens, bound.lower_bound)
    if not wins or tail > math.log(bound.failure_probability) + _ROUNDING:
        return [f"lower_bound={bound.lower_bound:g} does not follow from {bound.hits}"]
    return []
