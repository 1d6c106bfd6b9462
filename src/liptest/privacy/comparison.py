"""Comparison of output distributions: pairs are screened in floats, what is flagged is certified.

Screening may flag too much, never too little. What it flags is violated, clear, or not to be
decided: from exact rationals or declared intervals, in ball arithmetic whose precision is doubled
until the answer is certain (theory 1.5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.balls import precision
from liptest.data.domains import IntArray
from liptest.data.points import PointBatch, compact_codes
from liptest.errors import NonDeterministicError
from liptest.mechanisms.base import ClosedFormLosses, Mechanism
from liptest.mechanisms.laws import (
    INFINITE_LOSS,
    ComparableLaws,
    LawTable,
    Output,
    OutputLaw,
    as_fraction,
    exact_ball,
    of_one_decision,
)
from liptest.mechanisms.neighbourhoods import laws_of_batch, uses_neighbours
from liptest.privacy.claims import AnyClaim, Claim, NotionClaim
from liptest.privacy.divergences.likelihoods import enclose_probability
from liptest.runs.driver import QueryBatch

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

_PRECISIONS = (128, 512, 2048, 8192)
_LARGEST_EXPONENT = 700.0


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
    mu(event) - e^epsilon' mu'(event) from below for delta > 0. For a claim of another form they
    enclose what it measures, at ``order`` where that is a divergence, of the neighbour against
    the dataset where ``swapped``; ``part`` is what of the claim was compared.
    """

    answer: Answer
    event: tuple[Output, ...] = ()
    lower: float = 0.0
    upper: float = 0.0
    excess: float = 0.0
    order: float | None = None
    swapped: bool = False
    part: AnyClaim | None = None


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
    bounds = round_ends(loss.lower(), loss.upper())
    if value <= limit:
        return Comparison(Answer.CLEAR, (), *bounds)
    answer = Answer.VIOLATED if value > limit else Answer.DOUBT
    excess = math.nextafter(float(value.lower()), -math.inf) if claim.delta > 0 else 0.0
    return Comparison(answer, (), *bounds, excess)


def _is_exact(left: OutputLaw, right: OutputLaw) -> bool:
    return all(law.fractions is not None and not law.unexplored for law in (left, right))


def _compare(left: OutputLaw, right: OutputLaw, claim: Claim, distance: int) -> Comparison:
    if claim.delta > 0:
        return _compare_delta(left, right, claim)
    factor = claim.exact_factor()
    if factor is not None and _is_exact(left, right):
        return _compare_exact(left, right, factor**distance)
    limit = claim.ball() * distance
    chosen, highest = Comparison(Answer.CLEAR), (0, 0.0, 0.0, 0.0)
    line = math.exp(min(claim.threshold * distance, _LARGEST_EXPONENT))
    for output in _outputs_apart(left, right):
        lower, upper = _loss_bounds(left, right, output)
        if upper <= limit:
            continue
        answer = Answer.VIOLATED if lower > limit else Answer.DOUBT
        comparison = Comparison(answer, (output,), *round_ends(lower, upper))
        rank = _rank(comparison, left.get(output, 0.0), right.get(output, 0.0), line)
        if rank > highest:
            chosen, highest = comparison, rank
    if chosen.answer is Answer.CLEAR and (left.unexplored or right.unexplored):
        # Outputs that neither law lists may differ as much as they like.
        return Comparison(Answer.DOUBT, (), 0.0, math.inf)
    return chosen


def _rank(
    comparison: Comparison, left: float, right: float, line: float
) -> tuple[int, float, float, float]:
    # A certain violation beats a doubt. Of violations the output is shown that adds most to the
    # delta that the claim would need, not a tail of infinite loss that nobody will see; then the
    # larger loss. Of doubts that of the largest certain loss: what they add is not known.
    order = (Answer.CLEAR, Answer.DOUBT, Answer.VIOLATED).index(comparison.answer)
    larger, smaller = max(left, right), min(left, right)
    gap, loss = larger - line * smaller, comparison.lower
    if comparison.answer is Answer.DOUBT:
        return order, loss, gap, larger
    return order, gap, loss, larger


def _compare_exact(left: OutputLaw, right: OutputLaw, factor: Fraction) -> Comparison:
    worst: tuple[Fraction, Output] | None = None
    for output in _outputs(left, right):
        p, q = left.exact(output), right.exact(output)
        assert isinstance(p, Fraction)
        assert isinstance(q, Fraction)
        gap = max(p, q) - factor * min(p, q)
        if gap > 0 and (worst is None or gap > worst[0]):
            worst = (gap, output)
    if worst is None:
        return Comparison(Answer.CLEAR)
    bounds = _loss_bounds(left, right, worst[1])
    return Comparison(Answer.VIOLATED, (worst[1],), *round_ends(*bounds))


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
        comparison = Comparison(answer, event, *round_ends(*bounds), excess)
        if answer is Answer.VIOLATED:
            return comparison
        doubt = doubt or comparison
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
    total = arb(0)
    gaps: dict[Output, float] = {}
    for output in _outputs(left, right):
        gap = enclose_probability(left, output) - factor * enclose_probability(right, output)
        if gap > 0:
            total += gap
            gaps[output] = float(gap.mid())
        elif not gap <= 0:
            total += arb(0).union(gap.upper())
    if left.unexplored:
        total += arb(0).union(exact_ball(left.unexplored))
    if right.unexplored:
        total -= factor * arb(0).union(exact_ball(right.unexplored))
    # What adds most comes first: of many outputs only the first are shown.
    return total, tuple(sorted(gaps, key=lambda output: -gaps[output]))


def _exact_stick(left: OutputLaw, right: OutputLaw, factor: Fraction) -> Fraction:
    gaps = (
        as_fraction(left.exact(output)) - factor * as_fraction(right.exact(output))
        for output in left.outputs
    )
    return sum((gap for gap in gaps if gap > 0), Fraction(0))


def _worst(left: OutputLaw, right: OutputLaw) -> Comparison:
    best = Comparison(Answer.CLEAR)
    highest = 0.0
    for output in _outputs_apart(left, right):
        lower, upper = round_ends(*_loss_bounds(left, right, output))
        highest = max(highest, upper)
        if lower > best.lower or not best.event:
            best = Comparison(Answer.CLEAR, (output,), lower, upper)
    if left.unexplored or right.unexplored:
        highest = math.inf
    return Comparison(Answer.CLEAR, best.event, best.lower, highest)


def _outputs(left: OutputLaw, right: OutputLaw) -> list[Output]:
    return list(dict.fromkeys((*left.outputs, *right.outputs)))


def _outputs_apart(left: OutputLaw, right: OutputLaw) -> list[Output]:
    """The first of those that have the same probabilities as others on both sides."""
    first: dict[Hashable, Output] = {}
    for output in _outputs(left, right):
        first.setdefault((left.say_of(output), right.say_of(output)), output)
    return list(first.values())


def _loss_bounds(left: OutputLaw, right: OutputLaw, output: Output) -> tuple[arb, arb]:
    # Never inf - inf: a zero on both sides is not a loss (theory 1.4).
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


def _mass(law: OutputLaw, event: tuple[Output, ...]) -> arb:
    return sum((enclose_probability(law, output) for output in event), arb(0))


def round_ends(lower: arb, upper: arb) -> tuple[float, float]:
    """Two ends as floats, outwards, so that the printed interval contains the truth."""
    bottom, top = float(lower), float(upper)
    if not math.isinf(bottom):
        bottom = math.nextafter(bottom, -math.inf)
    return max(bottom, 0.0), max(math.nextafter(top, math.inf), 0.0)


# Rounding in a float loss beyond the declared errors: a few ulp of the logs it is made of.
_ROUNDING = 2.0**-48
# Two evaluations of one law may differ by rounding (vectorised functions use other code paths
# for other lengths), never by more than this, or this share; see fresh_law_differs.
_SAME_LAW, _SAME_SHARE = 1e-9, 1e-6


@dataclass(frozen=True)
class Screened:
    """Float losses of p pairs, and how many claims of a grid each may and must break.

    ``may`` and ``must`` count from the smallest epsilon on, (p,) each: what a pair may but need not
    break has to be certified. ``above`` bounds the losses.
    """

    losses: Floats
    above: Floats
    may: Indices
    must: Indices

    @property
    def flagged(self) -> Indices:
        """Positions, ascending, of the pairs that may break a claim."""
        return np.flatnonzero(self.may)

    @property
    def certain(self) -> Indices:
        """Those that break one whatever the errors are."""
        return np.flatnonzero(self.must)

    @classmethod
    def joined(cls, parts: Sequence[Screened]) -> Screened:
        """The pairs of several parts, in their order."""
        names = ("losses", "above", "may", "must")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def at(self, index: Indices) -> Screened:
        """The pairs at some positions."""
        return Screened(self.losses[index], self.above[index], self.may[index], self.must[index])


def screen_batch(laws: ComparableLaws, batch: QueryBatch, claims: Sequence[AnyClaim]) -> Screened:
    """``screen_pairs`` of all pairs of a batch; where laws are few each different pair once."""
    left, right = (laws.distinct(side) for side in batch.pair_positions())
    distances = batch.pair_distances()
    if laws.rows is None or len(left) == 0:
        return screen_pairs(laws, left, right, claims, distances)
    code = (left * (right.max() + 1) + right) * (distances.max() + 1) + distances
    distinct, inverse = compact_codes(code)
    index = np.empty(len(distinct), dtype=np.int64)
    index[inverse] = np.arange(len(code))
    return screen_pairs(laws, left[index], right[index], claims, distances[index]).at(inverse)


def screen_pairs(
    laws: ComparableLaws,
    left: Indices,
    right: Indices,
    claims: Sequence[AnyClaim],
    distances: Indices | int = 1,
) -> Screened:
    """Losses of pairs of distinct laws; counts all claims that a pair might break.

    ``claims`` ascend by epsilon and differ in nothing else; or it is one claim of another form,
    whose measure takes the place of losses.
    """
    if isinstance(claims[0], NotionClaim):
        measured, may_break = claims[0].screen(laws, left, right)
        must = np.zeros(len(left), dtype=np.int64)
        return Screened(measured, measured, may_break.astype(np.int64), must)
    grid = [claim for claim in claims if isinstance(claim, Claim)]
    losses = laws.losses(left, right)
    slack = loss_slack(laws, left, right, losses)
    infinite, open_zeros = losses >= INFINITE_LOSS, laws.has_uncertain_zeros(left, right)
    above = np.where(infinite | open_zeros, np.inf, losses + slack)
    below = losses - slack
    if not laws.zeros_exact:
        # What looks like a zero may be an underflow: no loss is certain.
        below = np.where(infinite, 0.0, below)
    thresholds = np.array([claim.threshold for claim in grid])
    may = np.searchsorted(thresholds, above / distances, side="left")
    must = np.searchsorted(thresholds, below / distances, side="left")
    if grid[0].delta > 0:
        may, must = _screen_divergences(laws, left, right, grid, may, slack)
        may = np.where(open_zeros, len(grid), may)
    # Listed outputs say little about the losses of partial laws.
    return Screened(np.where(np.isinf(slack), 0.0, losses), above, may, must)


def _screen_divergences(
    laws: ComparableLaws,
    left: Indices,
    right: Indices,
    claims: Sequence[Claim],
    pure: Indices,
    slack: Floats,
) -> tuple[Indices, Indices]:
    # Only pairs that break pure epsilon can have a positive divergence, and a divergence falls with
    # epsilon: what is certain at one epsilon is so at all smaller ones.
    may, must = np.zeros_like(pure), np.zeros_like(pure)
    for count, claim in enumerate(claims, 1):
        where = np.flatnonzero(pure >= count)
        if len(where) == 0:
            break
        sticks = laws.hockey_sticks(left[where], right[where], claim.threshold)
        error = stick_error(slack[where], claim.threshold)
        may[where[sticks > claim.delta_threshold - error]] = count
        must[where[sticks > claim.delta_threshold + error]] = count
    return may, must


def stick_error(slack: Floats, epsilon: float) -> Floats:
    """Bound on the error of float hockey-stick divergences of pairs with such errors of losses."""
    factor = 1.0 + math.exp(min(epsilon, 700.0))
    return np.asarray(factor * (2 * slack + _ROUNDING))


def loss_slack(
    laws: ComparableLaws, left: Indices, right: Indices, losses: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Bound on the error of float losses, (p,): what was declared, and rounding."""
    # Errors of the logs themselves, when a law has tiny probabilities, are in screen_error.
    return np.asarray(laws.screen_error(left, right) + find_rounding(losses))


def find_rounding(losses: NDArray[np.float64] | float) -> Any:
    """Rounding in float losses beyond the errors of the laws; grows with the loss."""
    return _ROUNDING * np.maximum(1.0, np.minimum(losses, 1e6))


def certify_comparison(
    mechanism: Mechanism,
    dataset: IntArray,
    neighbour: IntArray,
    claim: AnyClaim,
    distance: int = 1,
) -> Comparison:
    """Decide one pair of datasets from exact laws or declared intervals."""
    if isinstance(claim, NotionClaim):
        certified: Comparison = claim.certify(mechanism, dataset, neighbour)
        return certified
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
    """The law computed anew: no memo may hide a mechanism that changes its answers.

    Within ``laws_of_one_decision`` once for a dataset.
    """
    return of_one_decision(mechanism, dataset, lambda: mechanism.fresh_law(dataset))


def _compute_anew(mechanism: Mechanism, dataset: IntArray) -> OutputLaw:
    """The law, kept for the rest of the decision."""
    return of_one_decision(mechanism, dataset, lambda: mechanism.fresh_law(dataset), anew=True)


def check_same_law(
    mechanism: Mechanism, laws: ComparableLaws, dataset: IntArray, position: int = 0
) -> None:
    """Ask for the law at a position of a batch again; NonDeterministicError when it has changed."""
    if not isinstance(laws, LawTable):
        return
    again = _compute_anew(mechanism, dataset)
    place = laws.distinct(np.array([position]))[0]
    if _is_near(laws.outputs, laws.logs[place], again):
        return
    earlier = dict(zip(laws.outputs, np.exp(np.maximum(laws.logs[place], -745.0)), strict=True))
    open_before, open_now = _find_unexplored(laws, int(place)), float(again.unexplored)
    if abs(open_before - open_now) <= _SAME_LAW:
        # The same part of the law was looked at, so that what was found must be the same.
        open_before = open_now = 0.0
    for output in dict.fromkeys((*earlier, *again)):
        before, now = float(earlier.get(output, 0.0)), again.get(output, 0.0)
        if math.isclose(before, now, rel_tol=_SAME_SHARE, abs_tol=_SAME_LAW):
            continue
        # What a budget of time left unexplored may lie on any output.
        if before > now + open_now + _SAME_LAW or now > before + open_before + _SAME_LAW:
            raise _make_change_error(mechanism)


def _is_near(outputs: tuple[Output, ...], logs: NDArray[np.float64], again: OutputLaw) -> bool:
    """Whether a law has the same outputs in the same order, with the same probabilities."""
    if again.outputs != outputs:
        return False
    before, now = (np.exp(np.maximum(each, -745.0)) for each in (logs, again.log_probabilities))
    nearest = np.maximum(_SAME_SHARE * np.maximum(before, now), _SAME_LAW)
    return bool(np.all(np.abs(before - now) <= nearest))


def _find_unexplored(laws: LawTable, row: int) -> float:
    return 0.0 if laws.unexplored is None else float(laws.unexplored[row])


def ask_laws(mechanism: Mechanism, points: PointBatch, *, check: bool) -> ComparableLaws:
    """The laws at all points of a batch, centres first; with ``check`` as ``check_laws``."""
    laws = laws_of_batch(mechanism, points)
    if check:
        check_laws(mechanism, laws, points)
    return laws


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


def _make_change_error(mechanism: Mechanism) -> NonDeterministicError:
    return NonDeterministicError(
        f"{mechanism.name}: its output distribution on one and the same dataset changed between "
        f"two calls; a mechanism may draw only from rng and must keep no state"
    )


def show_loss(loss: float) -> float:
    """A screened loss with the stand-in for infinity turned into inf."""
    return math.inf if loss >= INFINITE_LOSS else loss
