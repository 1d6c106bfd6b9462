"""Certified comparison of two output laws: violated, clear, or not to be decided.

Screening in floats may flag too much, never too little; what it flags is decided here from
exact rationals or declared intervals, in ball arithmetic whose precision is doubled until the
answer is certain (theory 1.5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from flint import arb

from liptest.balls import precision
from liptest.mechanisms.laws import Output, OutputLaw, as_fraction, exact_ball
from liptest.privacy.claims import Claim

_PRECISIONS = (128, 512, 2048, 8192)


class Answer(Enum):
    """What is certain about a pair of laws."""

    VIOLATED = "violated"
    CLEAR = "clear"
    DOUBT = "doubt"


@dataclass(frozen=True)
class Comparison:
    """Outcome of one certified comparison.

    ``event`` is the output (or, for delta > 0, the set of outputs) that decides;
    ``lower`` and ``upper`` enclose the loss at it, natural log units; ``excess`` encloses
    mu(event) - e^epsilon' mu'(event) from below for delta > 0.
    """

    answer: Answer
    event: tuple[Output, ...] = ()
    lower: float = 0.0
    upper: float = 0.0
    excess: float = 0.0


def compare_laws(left: OutputLaw, right: OutputLaw, claim: Claim, distance: int = 1) -> Comparison:
    """Decide whether two laws at a distance keep the claim; pure losses scale with distance."""
    for bits in _PRECISIONS:
        with precision(bits):
            result = _compare(left, right, claim, distance)
        if result.answer is not Answer.DOUBT or not _is_exact(left, right):
            break
    return result


def enclose_loss(left: OutputLaw, right: OutputLaw) -> Comparison:
    """The loss max_o |ln mu(o) - ln mu'(o)|, enclosed; the event is the worst output."""
    with precision(_PRECISIONS[0]):
        return _worst(left, right)


def compare_closed_form(
    loss: Callable[[], arb], hockey_stick: Callable[[arb], arb], claim: Claim, distance: int = 1
) -> Comparison:
    """Decide a pair whose loss and divergence are functions that give balls (unbounded outputs)."""
    for bits in _PRECISIONS:
        with precision(bits):
            result = _compare_balls(loss(), hockey_stick, claim, distance)
        if result.answer is not Answer.DOUBT:
            break
    return result


def _compare_balls(
    loss: arb, hockey_stick: Callable[[arb], arb], claim: Claim, distance: int
) -> Comparison:
    value, limit = loss, claim.ball() * distance
    if claim.delta > 0:
        value, limit = hockey_stick(claim.ball()), claim.delta_ball()
    bounds = _rounded(loss.lower(), loss.upper())
    if value <= limit:
        return Comparison(Answer.CLEAR, (), *bounds)
    answer = Answer.VIOLATED if value > limit else Answer.DOUBT
    return Comparison(answer, (), *bounds, float(value.lower()) if claim.delta > 0 else 0.0)


def _is_exact(left: OutputLaw, right: OutputLaw) -> bool:
    return all(law.fractions is not None and not law.unexplored for law in (left, right))


def _compare(left: OutputLaw, right: OutputLaw, claim: Claim, distance: int) -> Comparison:
    if claim.delta > 0:
        return _compare_delta(left, right, claim)
    factor = claim.exact_factor()
    if factor is not None and _is_exact(left, right):
        return _compare_exact(left, right, factor**distance)
    limit = claim.ball() * distance
    chosen, highest = Comparison(Answer.CLEAR), _rank(Comparison(Answer.CLEAR), 0.0)
    for output in _outputs(left, right):
        lower, upper = _loss_bounds(left, right, output)
        if upper <= limit:
            continue
        answer = Answer.VIOLATED if lower > limit else Answer.DOUBT
        found = Comparison(answer, (output,), *_rounded(lower, upper))
        rank = _rank(found, max(left.get(output, 0.0), right.get(output, 0.0)))
        if rank > highest:
            chosen, highest = found, rank
    if chosen.answer is Answer.CLEAR and (left.unexplored or right.unexplored):
        # Outputs that neither law lists may differ as much as they like.
        return Comparison(Answer.DOUBT, (), 0.0, math.inf)
    return chosen


def _rank(comparison: Comparison, probability: float) -> tuple[int, float, float]:
    # A certain violation beats a doubt; then the larger loss is shown, then the likelier output.
    order = (Answer.CLEAR, Answer.DOUBT, Answer.VIOLATED)
    return order.index(comparison.answer), comparison.lower, probability


def _compare_exact(left: OutputLaw, right: OutputLaw, factor: Fraction) -> Comparison:
    worst: tuple[Fraction | float, Output] | None = None
    for output in _outputs(left, right):
        p, q = left.exact(output), right.exact(output)
        assert isinstance(p, Fraction)
        assert isinstance(q, Fraction)
        low, high = min(p, q), max(p, q)
        ratio = math.inf if low == 0 < high else Fraction(1) if high == 0 else high / low
        if ratio > factor and (worst is None or ratio > worst[0]):
            worst = (ratio, output)
    if worst is None:
        return Comparison(Answer.CLEAR)
    bounds = _loss_bounds(left, right, worst[1])
    return Comparison(Answer.VIOLATED, (worst[1],), *_rounded(*bounds))


def _compare_delta(left: OutputLaw, right: OutputLaw, claim: Claim) -> Comparison:
    limit, factor = claim.delta_ball(), claim.ball().exp()
    exact = claim.exact_factor() if _is_exact(left, right) else None
    doubt: Comparison | None = None
    for first, second in ((left, right), (right, left)):
        total, event = _hockey_stick(first, second, factor)
        if total <= limit:
            continue
        if exact is not None and _exact_stick(first, second, exact) <= Fraction(claim.delta):
            continue  # a tie, which no precision of a ball decides
        answer = Answer.VIOLATED if total > limit else Answer.DOUBT
        excess = math.nextafter(float(total.lower()), -math.inf)
        bounds = _log_ratio(_mass(first, event), _mass(second, event))
        found = Comparison(answer, event, *_rounded(*bounds), excess)
        if answer is Answer.VIOLATED:
            return found
        doubt = doubt or found
    return doubt or Comparison(Answer.CLEAR)


def _log_ratio(larger: arb, smaller: arb) -> tuple[arb, arb]:
    # A mass that may be 0 has no log, so the ends are formed apart.
    (p_low, p_high), (q_low, q_high) = ((ball.lower(), ball.upper()) for ball in (larger, smaller))
    lower, upper = arb(0), arb("+inf")
    if p_low > 0:
        lower = (p_low / q_high).log().lower() if q_high > 0 else upper
    if q_low > 0:
        upper = (p_high / q_low).log().upper()
    return lower, upper


def _hockey_stick(left: OutputLaw, right: OutputLaw, factor: arb) -> tuple[arb, tuple[Output, ...]]:
    total, event = arb(0), []
    for output in _outputs(left, right):
        gap = ball_of(left, output) - factor * ball_of(right, output)
        if gap > 0:
            total += gap
            event.append(output)
        elif not gap <= 0:
            total += arb(0).union(gap.upper())
    if left.unexplored:
        total += arb(0).union(exact_ball(left.unexplored))
    if right.unexplored:
        total -= factor * arb(0).union(exact_ball(right.unexplored))
    return total, tuple(event)


def _exact_stick(left: OutputLaw, right: OutputLaw, factor: Fraction) -> Fraction:
    gaps = (
        as_fraction(left.exact(output)) - factor * as_fraction(right.exact(output))
        for output in left.outputs
    )
    return sum((gap for gap in gaps if gap > 0), Fraction(0))


def _worst(left: OutputLaw, right: OutputLaw) -> Comparison:
    best = Comparison(Answer.CLEAR)
    highest = 0.0
    for output in _outputs(left, right):
        lower, upper = _rounded(*_loss_bounds(left, right, output))
        highest = max(highest, upper)
        if lower > best.lower or not best.event:
            best = Comparison(Answer.CLEAR, (output,), lower, upper)
    if left.unexplored or right.unexplored:
        highest = math.inf
    return Comparison(Answer.CLEAR, best.event, best.lower, highest)


def _outputs(left: OutputLaw, right: OutputLaw) -> list[Output]:
    return list(dict.fromkeys((*left.outputs, *right.outputs)))


def _loss_bounds(left: OutputLaw, right: OutputLaw, output: Output) -> tuple[arb, arb]:
    # Never inf - inf: a zero on both sides is no loss (theory 1.4).
    if left.is_zero(output) and right.is_zero(output):
        return arb(0), arb(0)
    (left_low, left_high), (right_low, right_high) = (
        law.log_bounds(output) for law in (left, right)
    )
    bottom = arb("-inf")
    lower = arb(0)
    left_high = _with_unexplored(left, output, left_high)
    right_high = _with_unexplored(right, output, right_high)
    for low, high in ((left_low, right_high), (right_low, left_high)):
        if low != bottom:
            lower = lower.max((low - high).lower())
    if left_low == bottom or right_low == bottom:
        return lower, arb("+inf")
    return lower, (left_high - right_low).max(right_high - left_low).upper()


def _with_unexplored(law: OutputLaw, output: Output, high: arb) -> arb:
    # A listed output may have the mass that was not explored on top of its own.
    if not law.unexplored or output not in law:
        return high
    return (high.exp() + exact_ball(law.unexplored)).log().upper()


def ball_of(law: OutputLaw, output: Output) -> arb:
    """The probability of an output as a ball at the current precision."""
    value = law.exact(output)
    return exact_ball(value) if isinstance(value, Fraction) else value


def _mass(law: OutputLaw, event: tuple[Output, ...]) -> arb:
    return sum((ball_of(law, output) for output in event), arb(0))


def _rounded(lower: arb, upper: arb) -> tuple[float, float]:
    # Outwards, so that the printed interval contains the truth.
    bottom, top = float(lower), float(upper)
    if not math.isinf(bottom):
        bottom = math.nextafter(bottom, -math.inf)
    return max(bottom, 0.0), max(math.nextafter(top, math.inf), 0.0)
