"""The probability of one output that one path alone leads to: no law is enumerated (theory S20)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb

from liptest.balls import CERTIFIED_BITS, precision
from liptest.data.answers import Answers
from liptest.data.domains import IntArray
from liptest.errors import LiptestError
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import Output
from liptest.privacy.claims import Claim
from liptest.symbolic.answers import AlignedPath, Answer, Differences
from liptest.symbolic.forms import Form
from liptest.symbolic.probability import System
from liptest.values.answers.decisions import holds_at


def has_plain_paths(followed: Any) -> bool:
    """Whether a price is all that a proof needs, and the paths are all that runs do."""
    is_exact = not followed.rounding and followed.missing is None and followed.sample is None
    return is_exact and isinstance(followed.differences, Differences)


def find_path_of(mechanism: Mechanism, domain: Answers, output: Output) -> AlignedPath | None:
    """The path that alone leads to an output, for any real answers; None where it is not seen."""
    try:
        followed = mechanism.align_paths(domain, way="branches")
    except LiptestError:
        return None
    if followed is None or not followed.paths or not has_plain_paths(followed):
        return None
    for end in followed.ends:
        if end.output == output and followed.alone(end.path) == (output,):
            path: AlignedPath = end.path
            has_functions = any(
                isinstance(noise, Answer) and noise.function for noise in path.noises
            )
            return None if has_functions else path
    return None


def probability_of_path(path: AlignedPath, answers: IntArray) -> arb:
    """Of all that a path asks, given its answers, (m,): exactly 0 where it is impossible."""
    numbers = {
        v: int(answers[one.number]) for v, one in enumerate(path.noises) if isinstance(one, Answer)
    }
    noises = [noise for noise in path.noises if not isinstance(noise, Answer)]
    own = {v: k for k, v in enumerate(v for v in range(len(path.noises)) if v not in numbers)}
    asked = []
    for condition in path.conditions:
        known = sum(
            (Fraction(f) * numbers[v] for v, f in condition.terms if v in numbers), Fraction()
        )
        terms = tuple((own[v], f) for v, f in condition.terms if v in own)
        if terms:
            ends = condition.low, condition.high
            is_closed = {"low_closed": condition.low_closed, "high_closed": condition.high_closed}
            asked.append(Form(known, terms).between(*ends, **is_closed))
        elif not holds_at(condition, known):
            return arb(0)
    return System(noises).probability(asked)


def breaks_on_path(
    mechanism: Mechanism, pair: tuple[IntArray, IntArray], output: Output, claim: Claim
) -> bool:
    """Whether an output certainly breaks a claim without delta, by the path that leads to it."""
    path = find_path_of(mechanism, Answers(len(pair[0])), output)
    if path is None or claim.delta:
        return False
    left, right = (probability_of_path(path, side) for side in pair)
    with precision(CERTIFIED_BITS):
        if left.is_zero() or right.is_zero():
            return bool(left > 0 or right > 0)
        return bool(abs((left / right).log()) > claim.ball())
