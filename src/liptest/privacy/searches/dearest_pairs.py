"""Both ends of epsilon for any real answers: what is proved, and what one output far out shows.

The price of an alignment says which path is dearest, and how the answers move there (theory S1).
Far out in the direction of this move the loss of the output of this path comes as close to the
price as floats can tell, or is infinite. Where no other run of the program has the output, its
probabilities on both sides are those of the path: no law is enumerated for them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from flint import arb

from liptest.balls import CERTIFIED_BITS, float_above, precision
from liptest.data.answers import MOST, Answers
from liptest.data.domains import IntArray
from liptest.errors import LiptestError
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import Output
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import round_ends
from liptest.privacy.path_probabilities import (
    find_path_of,
    has_plain_paths,
    probability_of_path,
)
from liptest.privacy.witnesses import PrivacyWitness, ball_bounds, ball_text
from liptest.symbolic.alignment import Price, price_paths
from liptest.symbolic.answers import AlignedPath, Answer, Move

# Steps of the dearest move from all answers 0.
_STEPS = (0, 1, 2, 4, 8, 16, 32, 64, 1 << 10, 1 << 20)


@dataclass(frozen=True)
class BothEnds:
    """What is proved, inf for nothing, and a witness of what is found, which may be all of it."""

    upper: float
    witness: PrivacyWitness


@dataclass(frozen=True)
class _Dearest:
    """The dearest path and its price, and the output that no other run has."""

    path: AlignedPath
    price: Price
    output: Output


def _find_dearest(mechanism: Mechanism, domain: Answers) -> _Dearest | None:
    followed = mechanism.align_paths(domain, way="branches")
    if followed is None or not followed.paths or not has_plain_paths(followed):
        return None
    price = price_paths(followed.paths, followed.differences)
    path = followed.paths[price.path]
    output = followed.alone(path)
    if output is None or any(isinstance(noise, Answer) and noise.function for noise in path.noises):
        return None
    return _Dearest(path, price, output[0])


def enclose_by_path(mechanism: Mechanism, domain: Answers) -> BothEnds | None:
    """The price of the dearest path and the loss of its output; None where that is not seen."""
    with suppress(LiptestError):
        dearest = _find_dearest(mechanism, domain)
        if dearest is None:
            return None
        price = dearest.price
        for pair in _pairs(dearest.path, price, domain):
            balls = tuple(probability_of_path(dearest.path, side) for side in pair)
            witness = _witness(pair, dearest.output, *balls)
            if price.epsilon is not None:
                return BothEnds(float_above(price.epsilon), witness)
            if math.isinf(witness.loss_lower):
                return BothEnds(math.inf, witness)
    return None


def find_violation(mechanism: Mechanism, domain: Answers, claim: Claim) -> PrivacyWitness | None:
    """The output of the dearest path where it breaks a claim, not further out than that asks for.

    None where none is seen, and for a claim with a delta: far out all probabilities are small.
    """
    if claim.delta:
        return None
    with suppress(LiptestError):
        dearest = _find_dearest(mechanism, domain)
        if dearest is None or dearest.price.epsilon is None:
            return None
        move = _as_answers(dearest.price.move, domain.dimension)
        most = _steps_within(move)
        for steps in sorted({min(steps, most) for steps in _STEPS}):
            pair = steps * move, (steps + 1) * move
            if int(domain.distance(pair[0][None, :], pair[1][None, :])[0]) != 1:
                return None
            balls = tuple(probability_of_path(dearest.path, side) for side in pair)
            witness = _witness(pair, dearest.output, *balls)
            if _breaks(witness, claim):
                return replace(witness, claim=claim)
    return None


def find_again(
    mechanism: Mechanism, domain: Answers, witness: PrivacyWitness
) -> PrivacyWitness | None:
    """The same witness, its probabilities asked of the path of its one output; None where that
    is not seen."""
    if len(witness.event) != 1 or witness.trace is not None or not isinstance(witness.claim, Claim):
        return None
    path = find_path_of(mechanism, domain, witness.event[0])
    if path is None:
        return None
    pair = witness.arrays
    balls = tuple(probability_of_path(path, side) for side in pair)
    return replace(_witness(pair, witness.event[0], *balls), claim=witness.claim)


def _breaks(witness: PrivacyWitness, claim: Claim) -> bool:
    with precision(CERTIFIED_BITS):
        return bool(arb(witness.loss_lower) > claim.ball())


def _pairs(path: AlignedPath, price: Price, domain: Answers) -> Iterator[tuple[IntArray, IntArray]]:
    """Neighbours whose answers are whole: as far out as can be shown, or, where nothing is proved,
    on both sides of where the path becomes impossible."""
    move = _as_answers(price.move, domain.dimension)
    if price.epsilon is None:
        kept = _keep_wanted(path, domain.dimension)
        ends = [(-move, 0 * move), (0 * move, move), (kept, 0 * kept)]
    else:
        far = _steps_within(move)
        ends = [(far * move, (far + 1) * move)]
    for left, right in ends:
        if int(domain.distance(left[None, :], right[None, :])[0]) == 1:
            yield left, right


def _steps_within(move: IntArray) -> int:
    """How often answers may move so that they can still be shown."""
    return (MOST - 1) // max(1, int(np.abs(move).max())) - 1


def _as_answers(move: Move, dimension: int) -> IntArray:
    """A move as m numbers, those that are not whole rounded."""
    moved = np.zeros(dimension, dtype=np.int64)
    for answer, by in move:
        moved[answer] = int(by)
    return moved


def _keep_wanted(path: AlignedPath, dimension: int) -> IntArray:
    """Answers of 1, 0 and -1 that are where the path wants them."""
    wanted = np.zeros(dimension, dtype=np.int64)
    for condition in path.conditions:
        side = (condition.low is not None) - (condition.high is not None)
        for v, factor in condition.terms:
            what = path.noises[v]
            if isinstance(what, Answer):
                wanted[what.number] += side * (1 if factor > 0 else -1)
    return np.sign(wanted)


def _witness(
    pair: tuple[IntArray, IntArray], output: Output, left: arb, right: arb
) -> PrivacyWitness:
    with precision(CERTIFIED_BITS):
        if left > 0 and right > 0:
            loss = abs((left / right).log())
            lower, upper = round_ends(loss.lower(), loss.upper())
        else:
            both = not (left.is_zero() and right.is_zero())
            lower = upper = math.inf if both else 0.0
    below = min(max(lower * (1 - 1e-6), 1e-300), 1e6)
    return PrivacyWitness(
        dataset=tuple(pair[0].tolist()),
        neighbour=tuple(pair[1].tolist()),
        event=(output,),
        probability=float(left.mid()),
        neighbour_probability=float(right.mid()),
        loss_lower=lower,
        loss_upper=upper,
        claim=Claim(below, 0.0, 0.0),
        exact=(ball_text(left), ball_text(right)),
        bounds=ball_bounds([(left, right)]),
    )
