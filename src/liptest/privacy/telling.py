"""What a witness shows of laws that are compared in closed form: outputs that tell them apart.

A pure loss is shown at one output. For delta > 0 one output may be too little: the event is then
the outputs of the largest gaps, as many as certainly exceed delta, on a window of the outputs.
"""

from __future__ import annotations

import numpy as np
from flint import arb

from liptest.balls import CERTIFIED_BITS, precision
from liptest.domains import IntArray
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import Output, OutputLaw
from liptest.privacy.certify import ball_of
from liptest.privacy.claims import Claim
from liptest.privacy.pairs import ClosedFormLosses

# A longer event would be no evidence that anybody reads.
_LONGEST = 4096
# The line itself, raised by more than the rounding of floats.
_ABOVE = 1.0 + 1e-12


def telling_event(
    mechanism: ClosedFormLosses, dataset: IntArray, neighbour: IntArray, claim: Claim, distance: int
) -> tuple[tuple[Output, ...], list[tuple[arb, arb]]]:
    """Outputs that tell two datasets apart, with both probabilities of each as balls."""
    own = getattr(mechanism, "pair_event", None)
    if claim.delta > 0 and own is not None:
        with precision(CERTIFIED_BITS):
            found: tuple[tuple[Output, ...], list[tuple[arb, arb]]] = own(
                dataset, neighbour, claim.ball()
            )
        if found[0]:
            return found
    elif claim.delta > 0 and isinstance(mechanism, Mechanism):
        laws = mechanism.law(dataset), mechanism.law(neighbour)
        for first, second in (laws, laws[::-1]):
            event = _largest_gaps(first, second, claim)
            if event:
                return event, [_balls(laws[0], laws[1], output) for output in event]
    with precision(CERTIFIED_BITS):
        line = claim.threshold * distance * _ABOVE
        output, left, right = mechanism.pair_witness(dataset, neighbour, line)
    return (output,), [(left, right)]


def _balls(left: OutputLaw, right: OutputLaw, output: Output) -> tuple[arb, arb]:
    with precision(CERTIFIED_BITS):
        return ball_of(left, output), ball_of(right, output)


def _largest_gaps(left: OutputLaw, right: OutputLaw, claim: Claim) -> tuple[Output, ...]:
    """Outputs whose gaps certainly add up to more than delta; () when ``_LONGEST`` are too few."""
    shared = [output for output in left if output in right]
    with np.errstate(over="ignore"):
        gaps = np.array([left[o] - np.exp(claim.threshold) * right[o] for o in shared])
    order = np.argsort(-gaps, kind="stable")[:_LONGEST]
    with precision(CERTIFIED_BITS):
        factor, limit, total = claim.ball().exp(), claim.delta_ball(), arb(0)
        chosen: list[Output] = []
        for position in order:
            output = shared[int(position)]
            gap = ball_of(left, output) - factor * ball_of(right, output)
            if not gap > 0:
                break
            chosen.append(output)
            total += gap
            if total > limit:
                return tuple(chosen)
    return ()
