"""What would mend a claim: the epsilon or the delta with which it holds on the whole domain.

All neighbouring pairs are looked at once more, in floats whose errors are added, so that a number
that is named is enough: never the smallest one, to many digits. A law that a budget or a tail has
left partial has its unexplored mass added to delta (docs/theory/privacy.md, 3.7b).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.balls import CERTIFIED_BITS, precision
from liptest.data.domains import Domain
from liptest.errors import BudgetError, LiptestError
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import INFINITE_LOSS, ZERO_LOG, LawTable, OutputLaw, exact_ball
from liptest.mechanisms.shift import ShiftTable
from liptest.privacy.claims import AnyClaim, Claim, text_above
from liptest.privacy.comparison import loss_slack
from liptest.privacy.divergences.likelihoods import enclose_probability
from liptest.privacy.proofs.exhaustive import ExhaustiveSize, PairBlock, pair_blocks
from liptest.privacy.verdicts import Remedy

Indices = NDArray[np.int64]

# Pairs that are visited once more, and probabilities of them.
_FEW_PAIRS = 1 << 14
_MOST_NUMBERS = 1 << 24
_SLICE = 1 << 18
# Pairs of partial laws, which are compared in balls, one by one.
_FEW_PARTIAL = 1 << 10
# Pairs of laws that have no table of outputs.
_FEW_BALLS = 1 << 7
_LARGEST_EPSILON = 700.0
# Outputs of infinite loss that weigh more are the bug itself, not its tail.
_MOST_APART = 0.01
_STEPS = 24
# Rounding of logs and exponentials beyond the errors of the logs, as an error of a log.
_ROUNDING = 2.0**-42


def find_remedy(
    mechanism: Mechanism, domain: Domain, claim: AnyClaim, size: ExhaustiveSize
) -> Remedy | None:
    """What would mend a claim that does not hold, or is left open; None where that is too dear."""
    if not isinstance(claim, Claim):
        return None
    # By windows only the worst pairs are visited, which tell nothing of delta.
    if size.visits(claim) > _FEW_PAIRS or size.windows or size.condition:
        return None
    try:
        blocks = list(_list(pair_blocks(mechanism, domain)))
        if any(block.laws.unexplored is not None and _partial(block).any() for block in blocks):
            return _of_partial(mechanism, blocks, claim)
        return _of_whole(blocks, claim)
    except LiptestError:
        return None  # nothing is promised by a remedy that is not named


def _list(blocks: Iterator[PairBlock]) -> Iterator[PairBlock]:
    numbers = 0
    for block in blocks:
        outputs = len(block.laws.outputs) if isinstance(block.laws, LawTable) else 1
        numbers += outputs * len(block.left)
        if numbers > _MOST_NUMBERS:
            raise BudgetError("too many probabilities to be looked at again")
        yield block


def _of_whole(blocks: list[PairBlock], claim: Claim) -> Remedy | None:
    largest = max((_largest_loss(block) for block in blocks), default=0.0)
    delta = max(claim.delta, _delta_at(blocks, float(claim.epsilon)))
    apart = epsilon = None
    if claim.delta > 0:
        epsilon = _epsilon_at(blocks, claim, largest)
    elif math.isfinite(largest):
        epsilon = largest
    else:
        apart = _apart(blocks)
    return _shorten(claim, epsilon, delta, apart)


def _shorten(
    claim: Claim,
    epsilon: float | None,
    delta: float,
    apart: tuple[float, float] | None = None,
) -> Remedy | None:
    """In six digits, rounded up where the tolerance of the claim does not cover the rest."""

    def short_epsilon(value: float) -> float:
        return _few_digits(value, lambda short: replace(claim, epsilon=short).threshold)

    def short_delta(value: float) -> float:
        return _few_digits(value, lambda short: short * (1 + claim.tolerance)) if value else 0.0

    if epsilon is not None:
        epsilon = short_epsilon(epsilon)
    if apart is not None:
        apart = short_epsilon(apart[0]), short_delta(apart[1])
    rounded = short_delta(delta)
    remedy = Remedy(epsilon, rounded if rounded < 1 else None, apart)
    return None if remedy == Remedy() else remedy


def _few_digits(value: float, allowed: Callable[[float], float]) -> float:
    short = float(f"{value:.6g}")
    return short if short > 0 and allowed(short) >= value else float(text_above(value))


def _largest_loss(block: PairBlock) -> float:
    """An upper bound of the losses."""
    if len(block.left) == 0:
        return 0.0
    losses = block.laws.losses(block.left, block.right)
    above = losses + loss_slack(block.laws, block.left, block.right, losses)
    is_open = block.laws.has_uncertain_zeros(block.left, block.right)
    if np.any(is_open) or np.any(losses >= INFINITE_LOSS):
        return math.inf
    return float(above.max())


def _delta_at(blocks: list[PairBlock], epsilon: float) -> float:
    """An upper bound of the hockey-stick divergences of all pairs."""
    return min(1.0, max((_stick(block, epsilon) for block in blocks), default=0.0))


def _stick(block: PairBlock, epsilon: float) -> float:
    laws, largest = block.laws, 0.0
    if not isinstance(laws, LawTable):
        return _certify_stick(block, epsilon)
    for left, right in _slices(block, len(laws.outputs)):
        slack = (laws.screen_error(left, right) + _ROUNDING)[:, None]
        # Each side as large, and the other as small, as the errors of the logs allow.
        for one, other in ((left, right), (right, left)):
            high, low = laws.logs[one] + slack, laws.logs[other] - slack
            gaps = np.exp(high) - np.exp(np.minimum(low + epsilon, high))
            largest = max(largest, float(gaps.sum(axis=1).max()))
    return largest * (1 + len(laws.outputs) * 2.0**-50)


def _slices(block: PairBlock, outputs: int) -> Iterator[tuple[Indices, Indices]]:
    step = max(1, _SLICE // max(1, outputs))
    for start in range(0, len(block.left), step):
        yield block.left[start : start + step], block.right[start : start + step]


def _certify_stick(block: PairBlock, epsilon: float) -> float:
    """By balls, where the outputs have no end, or are real numbers."""
    if len(block.left) > _FEW_BALLS:
        raise BudgetError("too many pairs to be compared one by one")
    laws: Any = block.laws
    if isinstance(laws, ShiftTable):
        pairs = zip(block.left.tolist(), block.right.tolist(), strict=True)
        with precision(CERTIFIED_BITS):
            balls = [laws.certify_hockey_stick(*pair, arb(epsilon)) for pair in pairs]
            sticks = [float(ball.upper()) for ball in balls]
    else:
        sticks = laws.hockey_sticks(block.left, block.right, epsilon).tolist()
    return math.nextafter(max(sticks, default=0.0), math.inf)


def _epsilon_at(blocks: list[PairBlock], claim: Claim, largest: float) -> float | None:
    """An epsilon from which on delta is enough, by bisection."""
    low, high = float(claim.epsilon), min(largest, _LARGEST_EPSILON)
    is_quick = all(isinstance(block.laws, (LawTable, ShiftTable)) for block in blocks)
    if not (is_quick and high > low and _delta_at(blocks, high) <= claim.delta):
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _delta_at(blocks, middle) <= claim.delta:
            high = middle
        else:
            low = middle
    return high


def _apart(blocks: list[PairBlock]) -> tuple[float, float] | None:
    """The largest finite loss, and the most that one side gives to outputs of infinite loss.

    A claim of that epsilon holds with that delta: P(S) <= P(S without these) + delta.
    """
    loss, mass = 0.0, 0.0
    for block in blocks:
        laws = block.laws
        if not isinstance(laws, LawTable):
            return None
        for left, right in _slices(block, len(laws.outputs)):
            first, second = laws.logs[left], laws.logs[right]
            zero = (first == ZERO_LOG) | (second == ZERO_LOG)
            gaps = np.where(zero, 0.0, np.abs(first - second)).max(axis=1, initial=0.0)
            slack = loss_slack(laws, left, right, gaps)
            loss = max(loss, float((gaps + slack).max(initial=0.0)))
            for side in (first, second):
                alone = np.where(zero, np.exp(side), 0.0).sum(axis=1) * np.exp(slack)
                mass = max(mass, float(alone.max(initial=0.0)))
    # Where it is all, nothing is said; and a claim has an epsilon above 0.
    return (max(loss, 1e-9), mass) if 0.0 < mass < _MOST_APART else None


def _partial(block: PairBlock) -> NDArray[np.bool_]:
    unexplored = block.laws.unexplored
    assert unexplored is not None
    return np.asarray((unexplored[block.left] > 0) | (unexplored[block.right] > 0))


def _of_partial(mechanism: Mechanism, blocks: list[PairBlock], claim: Claim) -> Remedy | None:
    if sum(len(block.left) for block in blocks) > _FEW_PARTIAL:
        return None
    largest = 0.0
    with precision(CERTIFIED_BITS):
        factor = Claim(claim.epsilon, 0.0, 0.0).ball().exp()
        for block in blocks:
            for k in range(len(block.left)):
                left, right = (mechanism.law(end) for end in block.locate(k))
                for ends in ((left, right), (right, left)):
                    largest = max(largest, float(find_explored_stick(*ends, factor).upper()))
    return _shorten(claim, None, max(math.nextafter(largest, math.inf), claim.delta))


def find_explored_stick(left: OutputLaw, right: OutputLaw, factor: arb) -> arb:
    """A delta that is enough from left to right, whatever was not explored (theory 3.7b)."""
    total = exact_ball(Fraction(left.unexplored))
    for output in left.outputs:
        # What the other law has beyond its explored part only helps.
        right_mass = enclose_probability(right, output) if output in right else arb(0)
        gap = enclose_probability(left, output) - factor * right_mass
        total += gap.max(arb(0))
    return total
