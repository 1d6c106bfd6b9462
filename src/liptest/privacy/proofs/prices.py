"""What shifting the noise costs a mechanism: an upper bound of epsilon for data of any size.

The mechanism says what its paths are (``Mechanism.align_paths``), ``symbolic.alignment`` what it
costs to keep each path and its output when the answers move as those of neighbours do (docs/theory,
size).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from liptest.balls import float_above
from liptest.data.domains import Domain, IntArray
from liptest.errors import LiptestError
from liptest.mechanisms.base import Mechanism
from liptest.privacy.claims import Claim
from liptest.privacy.proofs.unanswered import never_answered
from liptest.symbolic.alignment import Price, price_paths
from liptest.symbolic.answers import Differences, ManyDifferences
from liptest.symbolic.log_concave import price_by_ends
from liptest.values.reals.rounded_sums import ROUNDING

#: First every released sum is paid for, then only what comparisons tell.
WAYS = ("released", "branches")
#: Loops that start over count as the pass that leaves them.
PASSES = "passes"
# Up to so much above the claim the rounding of sums is what is missing.
_NEARLY = 1 + Fraction(1, 1_000_000)
# So many paths are followed and priced in a second.
_FEW_PATHS = 64
# With more pairs of rows than these, each group of answers is priced first.
_MANY_ROWS = 256
# Paths that are priced step by step.
_MOST_IN_STEPS = 256
# Of claims that say anything about choices with weights.
_LARGEST_CLAIM = 30
_BY_PASSES = "loops that start over are counted as the pass that leaves them (theory L9)"
# Floats of exp and log are far less off than this, relatively; and of the delta of a sample.
_NEAR, _MOST_DELTA = Fraction(1, 1 << 45), Fraction(99, 100)


class RoundingBeyond(NamedTuple):
    """How far float sums may be off, in words; the epsilon that is claimed, and what is proved."""

    words: str
    claimed: Fraction
    price: Fraction


@dataclass(frozen=True)
class Alignment:
    """What following the code came to: its price and its paths, or why there is none."""

    price: Price | None
    paths: int = 0
    reads_length: bool = False
    reason: str = ""
    seconds: float = 0.0
    #: How many values were enumerated of noise of the code's own making; 0 where none were.
    values: int = 0
    #: In how many ways neighbours move the answer, where one pair was compared for each.
    moves: int = 0
    #: What is taken for granted of its functions, and what rounding is part of the price.
    given: tuple[str, ...] = ()
    #: A position and two values of its record, whose exchange is dearest, where that is known.
    dearest: tuple[int, int, int] | None = None
    #: Whether its paths are so many that no law of it can be enumerated, either.
    has_far_too_many: bool = False
    #: Neighbours on both sides of a comparison of data without noise.
    boundary: tuple[tuple[IntArray, IntArray], ...] = ()
    #: A delta with which the claim is proved, where it is not without.
    enough: Fraction | None = None
    #: Of a claim in another form: what is proved, as number and in words, and if that is enough.
    measured: float = math.inf
    said: str = ""
    is_kept: bool = False
    #: Whether its loops counted as one pass: as they are written they have no last path.
    has_loops: bool = False
    #: A loss that is taken, where the largest was looked for over all values of the sums.
    least: float = 0.0
    #: The exception that every path of it ends with.
    raises: str | None = None
    #: Says what it comes to, where that is more than was claimed, and the other way may prove less.
    put_off: Callable[[], Alignment] | None = None
    #: Whether it was ended since a violation was found.
    is_refuted: bool = False

    @property
    def epsilon(self) -> float:
        """The upper bound of epsilon, rounded up; inf where there is none."""
        exact = None if self.price is None else self.price.epsilon
        return math.inf if exact is None else float_above(exact)

    def rounding_beyond(self, claim: object) -> RoundingBeyond | None:
        """The rounding of float sums, where a claim misses by that little; else None."""
        rounding = next((text for text in self.given if text.startswith(ROUNDING)), None)
        price = None if self.price is None else self.price.epsilon
        if rounding is None or price is None or not isinstance(claim, Claim):
            return None
        claimed = Fraction(float(claim.epsilon))
        if not 0 < claimed < price <= claimed * _NEARLY:
            return None
        return RoundingBeyond(rounding.removesuffix(", included"), claimed, price)

    @property
    def has_price(self) -> bool:
        """Whether anything is proved, be it less than what was claimed."""
        return math.isfinite(self.epsilon) or bool(self.said)


def align(
    mechanism: Mechanism,
    domain: Domain,
    wanted: Fraction | None = None,
    delta: Fraction = Fraction(0),
    is_refuted: Callable[[], bool] | None = None,
) -> Alignment:
    """The price of a mechanism at a delta, the lower one of both ways to follow it.

    ``is_refuted`` looks for a violation; it is asked before many paths are priced.

    Raises MechanismError where every path ends with an exception.
    """
    started = time.perf_counter()
    passed = _with_passes(mechanism, domain, wanted)
    if passed is not None:
        return replace(passed, seconds=time.perf_counter() - started)
    best = Alignment(None, reason="its code is not followed with data as symbols")
    put_off, has_far_too_many = None, False
    for way in WAYS:
        alignment = _align(mechanism, domain, way, wanted, delta, is_refuted)
        if alignment.is_refuted:
            return replace(alignment, seconds=time.perf_counter() - started)
        if alignment.raises is not None:
            raise never_answered(mechanism.name, alignment.raises, domain)
        has_far_too_many |= alignment.has_far_too_many
        if alignment.put_off is not None:
            put_off = alignment.put_off
            continue
        if alignment.epsilon < best.epsilon or best.price is None:
            better = alignment.price is not None or way == WAYS[0]
            best = alignment if better else best
        if wanted is not None and alignment.epsilon <= wanted:
            break
    if put_off is not None and (wanted is None or best.epsilon > wanted):
        alignment = put_off()
        best = alignment if alignment.epsilon <= best.epsilon or best.price is None else best
    seconds = time.perf_counter() - started
    return replace(best, seconds=seconds, has_far_too_many=has_far_too_many)


def _with_passes(mechanism: Mechanism, domain: Domain, wanted: Fraction | None) -> Alignment | None:
    """Where loops start over: the price of the paths and that of leaving (docs/theory, loops, L9).

    None where there are no such loops, or they are not followed.
    """
    try:
        followed = mechanism.align_paths(domain, way=PASSES)
        # What has no loops says so by no exits: sealed sums are the same in all ways.
        if followed is None or not followed.paths or not followed.exits:
            return None
        price = price_paths(followed.paths, followed.differences, wanted=wanted)
        leaving = price_paths(followed.exits, followed.differences, wanted=wanted)
    except LiptestError:
        return None
    if price.epsilon is None or leaving.epsilon is None:
        unpriced = price if price.epsilon is None else leaving
        return replace(_with_dearest(followed, unpriced), has_loops=True)
    total = replace(price, epsilon=price.epsilon + leaving.epsilon)
    return replace(_with_dearest(followed, total), given=(_BY_PASSES,))


def _align(
    mechanism: Mechanism,
    domain: Domain,
    way: str,
    wanted: Fraction | None,
    delta: Fraction,
    is_refuted: Callable[[], bool] | None = None,
) -> Alignment:
    try:
        followed = None
        if is_refuted is not None and way == WAYS[1]:
            followed = mechanism.align_paths(domain, way=way, max_paths=_FEW_PATHS)
            if followed is not None and followed.has_too_many:
                if is_refuted():
                    return Alignment(None, reason="a violation was found", is_refuted=True)
                followed = None
        if followed is None:
            followed = mechanism.align_paths(domain, way=way)
        if followed is None or not followed.paths:
            reason = "there is no code to follow" if followed is None else followed.reason
            if followed is None:
                return Alignment(None, reason=reason)
            many = followed.has_far_too_many
            return Alignment(
                None,
                reason=reason,
                boundary=followed.boundary,
                dearest=followed.dearest,
                has_far_too_many=many,
            )
        if delta and wanted is not None and _has_many_rows(followed.differences):
            return _price_groups_first(followed, way, wanted, delta)
        alignment = _price_followed(followed, way, wanted, delta)
        return _or_in_steps(alignment, followed, way, wanted, delta)
    except LiptestError as error:
        return Alignment(None, reason=str(error))


def _has_many_rows(differences: Any) -> bool:
    """Whether there are more pairs of rows than are compared in a moment."""
    return isinstance(differences, Differences) and len(differences.rows) > _MANY_ROWS


def _price_groups_first(followed: Any, way: str, wanted: Fraction, delta: Fraction) -> Alignment:
    """The price in groups where it is enough; else the lower one of both."""
    steps = _or_in_steps(Alignment(None), followed, way, wanted, delta)
    if steps.price is not None and steps.epsilon <= wanted:
        return steps
    alignment = _price_followed(followed, way, wanted, delta)
    is_lower = steps.epsilon < alignment.epsilon and alignment.raises is None
    return steps if is_lower else alignment


def _moves_in_a_box(differences: Any) -> bool:
    """Whether more than the rounding of some answers is known by a bound for each alone."""
    if not isinstance(differences, Differences):
        return False
    moved = {i for row in differences.rows for i, _ in row}
    return any(i not in moved for i, _ in differences.box)


def _price_followed(followed: Any, way: str, wanted: Fraction | None, delta: Fraction) -> Alignment:
    if followed.ends and all(end.raises for end in followed.ends):
        return Alignment(None, raises=followed.ends[0].output.exception)
    if followed.missing is not None:
        return _with_missing(followed, way, wanted, delta)
    if followed.sample is not None and not followed.rounding:
        alignment = _price_sampled(followed, way, wanted, delta)
        if alignment is not None:
            return alignment
    if followed.rounding:
        return _with_rounding(followed, way, wanted, delta)
    if way == WAYS[0] and not delta and not isinstance(followed.differences, ManyDifferences):
        # What the other way may prove is not first priced to the end in this one.
        price = price_paths(followed.paths, followed.differences, wanted=wanted, gives_up=True)
        if price.has_more:
            rest = partial(_price, followed, way, wanted, delta)
            return Alignment(None, reason=price.why, put_off=rest)
        if price.epsilon is not None and (wanted is None or price.epsilon <= wanted):
            return _with_dearest(followed, price)
    return _price(followed, way, wanted, delta)


def _or_in_steps(
    alignment: Alignment, followed: Any, way: str, wanted: Fraction | None, delta: Fraction
) -> Alignment:
    """The lower price, where each group of answers counts by itself (docs/theory/size.md, S21)."""
    if way != WAYS[0] or followed.in_groups is None or alignment.raises or followed.rounding:
        return alignment
    if followed.missing is not None or len(followed.paths) > _MOST_IN_STEPS:
        return alignment
    if not followed.in_groups.has_samples:
        has_price = alignment.price is not None and alignment.price.epsilon is not None
        is_enough = has_price and wanted is not None and alignment.epsilon <= wanted
        may_be_lower = delta or not has_price or followed.differences.box
        if (is_enough and not _moves_in_a_box(followed.differences)) or not may_be_lower:
            return alignment
    from liptest.symbolic.step_prices import price_steps

    price = price_steps(followed.paths, followed.in_groups, delta=Fraction(delta))
    if price.epsilon is None or float_above(price.epsilon) >= alignment.epsilon:
        return alignment
    return _with_dearest(followed, price)


def _with_rounding(followed: Any, way: str, wanted: Fraction | None, delta: Fraction) -> Alignment:
    """Where choices with weights are drawn in floats: a delta for it (docs/theory/size.md, S10)."""
    if wanted is None or wanted > _LARGEST_CLAIM:
        return Alignment(
            None, reason="choices with weights in floats are private with a delta only"
        )
    more = followed.rounding * (1 + Fraction(math.ceil(math.exp(wanted))))
    alignment = _price(followed, way, wanted, max(delta - more, Fraction(0)))
    if alignment.price is None or alignment.epsilon > wanted:
        return alignment
    proved = alignment.price.delta + more
    if proved > delta:
        reason = (
            f"with delta {float_above(proved):.3g} it is proved for data of any size: the "
            f"weights of a choice are floats, and NumPy draws on a grid of 2**-53; at delta 0 "
            f"write np.argmax(scores * t + rng.gumbel(size=len(scores)))"
        )
        return Alignment(None, reason=reason, enough=proved)
    return replace(alignment, price=replace(alignment.price, delta=proved))


def _with_missing(followed: Any, way: str, wanted: Fraction | None, delta: Fraction) -> Alignment:
    """Where values that may be missing are told if their noisy count is large: a delta for it.

    docs/theory/size.md, S13.
    """
    mass, gone = followed.missing
    if wanted is None or followed.rounding or mass >= Fraction(1, 2):
        return Alignment(
            None, reason="a loop over the values that are there is private with a delta only"
        )
    left = max((delta - mass) * (1 - mass), Fraction(0))
    alignment = _price(followed, way, wanted, left)
    if alignment.price is None or alignment.epsilon > wanted:
        return alignment
    # One value is gone: nobody can tell that from one that did not pass, which has 1 - mass.
    more = mass + mass**2
    without = _price(
        replace(followed, differences=gone), way, max(wanted - more, Fraction(0)), left
    )
    if without.price is None or without.price.epsilon is None or alignment.price.epsilon is None:
        return without
    epsilon = max(alignment.price.epsilon, without.price.epsilon + more)
    proved = mass + max(alignment.price.delta, without.price.delta) / (1 - mass)
    if proved > delta and epsilon <= wanted:
        reason = (
            f"with delta {float_above(proved):.3g} it is proved for data of any size: a value "
            f"that one record alone has is told with a probability of {float_above(mass):.3g}; "
            f"a larger bound makes it smaller"
        )
        return Alignment(None, reason=reason, enough=proved)
    return replace(alignment, price=replace(alignment.price, epsilon=epsilon, delta=proved))


def _price_sampled(
    followed: Any, way: str, wanted: Fraction | None, delta: Fraction
) -> Alignment | None:
    """The lower price of a random sample whose choice stays unknown; None where there is none.

    With a share q of the records, epsilon becomes log(1 + q (exp(epsilon) - 1)) and delta q delta
    (docs/theory/size.md, S11).
    """
    share, moves = followed.sample
    goal = None
    if wanted is not None and wanted < _LARGEST_CLAIM:
        goal = Fraction(math.log1p(math.expm1(wanted) / share)) * (1 - _NEAR)
    inner = replace(followed, differences=moves)
    alignment = _price(inner, way, goal, min(delta / share, _MOST_DELTA))
    exact = None if alignment.price is None else alignment.price.epsilon
    if alignment.price is None or exact is None or exact > _LARGEST_CLAIM or share >= 1:
        return None
    from liptest.symbolic.step_prices import amplify_loss

    lower = amplify_loss(exact, share)
    price = replace(alignment.price, epsilon=min(lower, exact), delta=alignment.price.delta * share)
    return replace(alignment, price=price)


def _price(followed: Any, way: str, wanted: Fraction | None, delta: Fraction) -> Alignment:
    from liptest.symbolic.direct_sums import price_direct_sums

    try:
        if isinstance(followed.differences, ManyDifferences):
            return _of_users(followed, followed.differences, way, wanted, delta)
        price = price_paths(followed.paths, followed.differences, wanted=wanted)
        if delta and price.epsilon is None and way == WAYS[0]:
            # All paths at once: which of them is taken may depend on what was released before.
            price = price_direct_sums(followed.paths, followed.differences, delta=delta)
        price = _or_by_ends(price, followed, wanted)
    except LiptestError as error:
        return Alignment(None, reason=str(error))
    return _with_dearest(followed, price)


def _with_dearest(followed: Any, price: Price) -> Alignment:
    dearest = followed.change_of_move(price.move) if price.move else None
    counts = len(followed.paths), followed.reads_length
    boundary = followed.pairs_of_moves((price.move,)) if price.move else ()
    reason = price.why or followed.hint
    given = _say_given(followed)
    return Alignment(price, *counts, reason, given=given, dearest=dearest, boundary=boundary)


def _say_given(followed: Any) -> tuple[str, ...]:
    rounded = (f"{followed.rounded}, included",) if followed.rounded else ()
    return (*rounded, *followed.rules)


def _of_users(
    followed: Any, many: ManyDifferences, way: str, wanted: Fraction | None, delta: Fraction
) -> Alignment:
    """The prices of what single rows change, added up (docs/theory/tables.md, B4)."""
    from liptest.symbolic.direct_sums import price_many_sums

    goal = None if wanted is None else wanted / max(1, many.times)
    prices = [price_paths(followed.paths, part, wanted=goal) for _, part in many.parts]
    price = next((priced for priced in prices if priced.epsilon is None), None)
    if price is None:
        costs = (
            times * (priced.epsilon or Fraction(0))
            for (times, _), priced in zip(many.parts, prices, strict=True)
        )
        price = Price(sum(costs, Fraction(0)))
    elif delta and way == WAYS[0]:
        price = price_many_sums(followed.paths, many, delta=delta)
    price = _or_by_ends(price, followed, wanted)
    reason = "; ".join(text for text in (price.why, followed.hint) if text)
    boundary = followed.pairs_of_moves(tuple(priced.move for priced in prices))
    counts = len(followed.paths), followed.reads_length
    price, given = replace(price, shifts=()), _say_given(followed)
    return Alignment(price, *counts, reason, given=given, boundary=boundary)


def _or_by_ends(price: Price, followed: Any, wanted: Fraction | None) -> Price:
    """The lower price by what sums lie between, where no shift is cheap enough (tables, B11)."""
    epsilon = price.epsilon
    if epsilon is not None and (wanted is None or epsilon <= wanted):
        return price
    by_ends = price_by_ends(followed.paths, followed.differences)
    if (
        by_ends is None
        or by_ends.epsilon is None
        or (epsilon is not None and by_ends.epsilon >= epsilon)
    ):
        return price
    return replace(by_ends, move=price.move or by_ends.move)  # where to look for a refutation first
