"""``lt.compose``: what several releases cost together, as an enclosure.

Three numbers must not be confused (theory 6.11). k releases of one mechanism on one dataset cost
max over pairs of H(P^k, Q^k). Whoever may choose the data of each release after seeing the answers
before can do more. The dominating pair, whose curve is the largest over all pairs, bounds both from
above; a lower bound of it would say nothing, so lower bounds are those of actual pairs.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.balls import precision
from liptest.data.domains import Domain
from liptest.errors import (
    InputError,
    SymbolicError,
    UnsupportedForm,
    check_count,
    check_non_negative,
    check_open_unit,
    quote,
)
from liptest.mechanisms.base import ClosedFormLosses, Mechanism, check_mechanism, through_reads
from liptest.mechanisms.laws import exact_ball
from liptest.mechanisms.shift import ShiftTable
from liptest.privacy.claims import text_above
from liptest.privacy.comparison import exact_law
from liptest.privacy.compositions.loss_grid import Curve, GridLosses, grid_above
from liptest.privacy.compositions.loss_lattice import (
    covering,
    losses_above,
    mass_without_bound,
    mix,
)
from liptest.privacy.compositions.release_costs import (
    CURVE_BITS,
    LARGEST,
    ChordCurve,
    Losses,
    OrdersCurve,
    ReleasePart,
    ReleaseTerms,
    add_up,
    divergences,
    epsilon_of_orders,
    finite_range,
    losses_together,
    pair_below,
    pair_weight,
    raise_slightly,
    step_for,
)
from liptest.privacy.compositions.rounded_losses import RoundedLosses, round_together
from liptest.privacy.divergences.cell_likelihoods import bracket_of_cells
from liptest.privacy.divergences.likelihoods import LikelihoodPair
from liptest.privacy.divergences.noise_likelihoods import list_pair, shifts_between
from liptest.privacy.notions import RhoClaim
from liptest.privacy.proofs.exhaustive import (
    PairBlock,
    check_affordable,
    exhaustive_size,
    pair_blocks,
)
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.verdicts import Decision, Record

# Different pairs of laws that are composed.
_MOST_PAIRS = 256
# Pairs whose powers are a lower bound, or make up the cost on one dataset.
_FEW_PAIRS = 12
# How many pairs are tried whether their curve lies above all others.
_TRIED = 4


@dataclass(frozen=True)
class Enclosed:
    """A number between ``lower`` and ``upper``, for certain."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Composition:
    """What releases cost together; ``epsilon_at`` and ``delta_at`` are enclosures.

    Parameters
    ----------
    names
        What is released, in the order given, each once.
    releases
        How many times each.
    adaptive
        Whether the data of a release may be chosen after the answers before it.
    above, below
        Losses from above, and those of actual pairs from below (none for claims).
    rho, mu
        Sums, and the root of the sum of squares, where all parts have them, else None.
    exception_mass, failure_probability
        What verdicts by sampling except, and may get wrong, added up.
    orders
        Pairs (order, Renyi divergence), of orders at which all parts have one.
    conditions
        What verdicts rest on beside their tests.
    """

    names: tuple[str, ...]
    releases: tuple[int, ...]
    adaptive: bool
    above: tuple[Losses, ...]
    below: tuple[Losses | RoundedLosses, ...] = ()
    rho: float | None = None
    mu: float | None = None
    exception_mass: float = 0.0
    failure_probability: float = 0.0
    orders: tuple[tuple[float, float], ...] = ()
    conditions: tuple[str, ...] = ()

    def epsilon_at(self, delta: float) -> Enclosed:
        """The smallest epsilon with this delta; InputError for delta 0, which no grid decides."""
        value = check_open_unit("delta", delta)
        upper = max((losses.epsilon_at(value) for losses in self.above), default=math.inf)
        if self.rho is not None or self.orders:
            upper = min(upper, epsilon_of_orders((self.rho, self.orders), value))
        lower = max((losses.epsilon_at(value) for losses in self.below), default=0.0)
        return Enclosed(min(lower, upper), upper)

    def delta_at(self, epsilon: float) -> Enclosed:
        """The smallest delta with this epsilon."""
        value = check_non_negative("epsilon", epsilon)
        upper = max((losses.delta_at(value) for losses in self.above), default=1.0)
        if self.rho is not None or self.orders:
            with precision(CURVE_BITS):
                bound = OrdersCurve(self.rho, self.orders)(exact_ball(Fraction(value)))
            upper = min(upper, math.nextafter(float(bound.upper()), math.inf))
        lower = max((losses.delta_at(value) for losses in self.below), default=0.0)
        return Enclosed(min(lower, upper), upper)

    def __str__(self) -> str:
        parts = [f"{k} x {name}" for k, name in zip(self.releases, self.names, strict=True)]
        how = "adaptively chosen" if self.adaptive else "on one dataset"
        at = self.epsilon_at(1e-6)
        lines = [
            f"{' + '.join(parts)}, {how}",
            f"epsilon between {at.lower:.6g} and {at.upper:.6g} at delta 1e-6",
        ]
        lines += [f"rho {self.rho:.6g} (zCDP)"] if self.rho is not None else []
        lines += [f"mu {self.mu:.6g} (Gaussian DP)"] if self.mu is not None else []
        lines += [f"Renyi divergence of order {a:g}: {tau:.6g}" for a, tau in self.orders]
        return "\n".join([*lines, *self._list_provided()])

    def _list_provided(self) -> list[str]:
        """What these numbers rest on, in words."""
        sentences = []
        if self.exception_mass:
            sentences.append(
                f"They hold outside a set of datasets of total probability "
                f"{text_above(self.exception_mass)}: what the tests except, added up."
            )
        if self.failure_probability:
            sentences.append(
                f"Each test by sampling may have answered a wrong YES. The probability that one of "
                f"them did is at most {text_above(self.failure_probability)}; then no number "
                f"here need hold."
            )
        sentences += [f"They hold provided that {condition}." for condition in self.conditions]
        return sentences


def compose(
    items: Sequence[Any],
    *,
    releases: int | Sequence[int] = 1,
    domain: Domain | None = None,
    adaptive: bool = True,
    step: float | None = None,
) -> Composition:
    """What releases of mechanisms, or under verdicts, cost together.

    Parameters
    ----------
    items
        Mechanisms, whose pairs on ``domain`` are composed, and YES verdicts, of which only the
        claim is known: epsilon and delta, mu, or rho (with the tolerance of the test).
    releases
        How many of each: one number for all, or one for each.
    domain
        Where neighbours of the mechanisms are looked for.
    adaptive
        False: of one mechanism, all releases on the same dataset; costs less.
    step
        Of the grid for losses that are not multiples of one number, a power of 2; the excess of
        upper bounds falls with its square. None: so that a grid of all releases is quick.

    Returns
    -------
    Composition
        ``epsilon_at(delta)``, ``delta_at(epsilon)`` with a lower and an upper bound; ``rho``,
        ``mu`` where all parts have them.

    Raises
    ------
    InputError
        No items, a verdict that is not YES, a claim that does not compose here, a mechanism without
        a domain, or with too many different pairs.
    """
    listed = list(items) if isinstance(items, (list, tuple)) else []
    if not listed:
        raise InputError(f"items={quote(items)} must be a list of mechanisms or verdicts")
    times = [releases] * len(listed) if isinstance(releases, int) else list(releases)
    if len(times) != len(listed):
        raise InputError(f"releases={quote(releases)}: one number for each item", name="releases")
    times = [check_count("releases", count) for count in times]
    size = None if step is None else _check_step(step)
    if not adaptive:
        return _on_one_dataset(listed, times, domain, size)
    parts = [_make_part(item, domain) for item in listed]
    above = losses_together(parts, times, size)
    below = _below(parts, times, size) if all(part.pairs for part in parts) else ()
    rho, orders = divergences(parts, times)
    return Composition(
        tuple(part.name for part in parts),
        tuple(times),
        True,
        above,
        below,
        rho,
        _root([part.mu for part in parts], times),
        min(sum(p.mass for p in parts), 1.0),
        min(sum(p.failure for p in parts), 1.0),
        orders,
        tuple(dict.fromkeys(condition for part in parts for condition in part.conditions)),
    )


def _below(
    parts: Sequence[ReleasePart], times: Sequence[int], size: Fraction | None
) -> tuple[Losses | RoundedLosses, ...]:
    """Of the dearest pair of each part, in both orders where these differ."""
    step = size or step_for(zip(parts, times, strict=True), of_all=True)
    pairs = [part.dearest() for part in parts]
    orders = [pairs]
    if not all(pair.looks_symmetric() for pair in pairs):
        orders.append([pair.reversed() for pair in pairs])
    losses: list[Losses | RoundedLosses] = []
    is_exact = all(part.is_exact_below(k) for part, k in zip(parts, times, strict=True))
    for turned in orders:
        listed = list(zip(turned, times, strict=True))
        if is_exact or all(pair.has_few_atoms() for pair in turned):
            losses.append(mix([(pair_below(pair, step, k), k) for pair, k in listed]))
        if not is_exact:
            losses.append(round_together(listed, step))
    return tuple(losses)


def _make_part(item: Any, domain: Domain | None) -> ReleasePart:
    if is_verdict(item):
        return _of_verdict(item)
    checked = check_mechanism(item, domain)
    if not isinstance(domain, Domain):
        raise InputError(
            f"domain={quote(domain)}: mechanisms are composed on a domain; give domain=, or the "
            f"verdict of lt.check_privacy",
            name="domain",
        )
    return through_reads(checked, domain, lambda seen: _of_mechanism(seen, domain))


def is_verdict(item: Any) -> bool:
    """Whether it is a verdict on a claim of privacy: of laws, or of samples alone."""
    has_all = all(hasattr(item, name) for name in ("decision", "claim", "guarantee"))
    return isinstance(item, Record) and has_all


def _of_verdict(verdict: Any) -> ReleasePart:
    if verdict.decision is not Decision.YES:
        raise InputError(f"items: the verdict on {verdict.mechanism} is {verdict.decision}, no YES")
    guarantee, claim = verdict.guarantee, verdict.claim
    conditions = [guarantee.condition] if guarantee.condition else []
    if not isinstance(verdict, PrivacyVerdict):
        # Of samples alone a YES holds with the delta that the test could see.
        claim = replace(claim, delta=guarantee.delta or claim.delta)
        conditions.append(
            f"the pairs of datasets that samples of {verdict.mechanism} were drawn for stand for "
            f"all of them"
        )
    return replace(
        ReleasePart.of_terms(
            ReleaseTerms.of_claim(claim, guarantee.approximation_factor),
            verdict.mechanism,
            guarantee.exception_mass or 0.0,
            guarantee.failure_probability or 0.0,
        ),
        conditions=tuple(conditions),
    )


def _of_mechanism(mechanism: Mechanism, domain: Domain) -> ReleasePart:
    pairs, closed = _list_pairs(mechanism, domain)
    below, above = pairs, pairs
    if closed:
        below, above = _brackets(mechanism, closed) if len(closed) <= _FEW_PAIRS else ([], [])
    if above:
        largest = max((_largest_loss(pair) for pair in above), default=0.0)
        lattice = _above_all(above)
        return ReleasePart(
            mechanism.name, worst_curve(above), largest, tuple(below), lattice=lattice
        )

    sticks = []
    for ends in closed:
        assert isinstance(mechanism, ClosedFormLosses)
        sticks.append(mechanism.pair_curve(*ends))

    def curve(epsilon: arb) -> arb:
        largest = arb(0)
        for stick in sticks:
            largest = largest.max(stick(epsilon).upper())
        return largest

    if len(closed) > _FEW_PAIRS:
        apart = [float(stick(arb(0)).mid()) for stick in sticks]
        below, _ = _brackets(mechanism, [closed[apart.index(max(apart))]])
    largest = finite_range(curve)
    return ReleasePart(mechanism.name, ChordCurve(curve, largest), largest, tuple(below))


def _brackets(
    mechanism: Mechanism, closed: Sequence[tuple[Any, Any]]
) -> tuple[list[LikelihoodPair], list[LikelihoodPair]]:
    """Pairs that lie below and above those of datasets (theory 6.17); none where not followed."""
    if not isinstance(mechanism, ClosedFormLosses):
        return [], []
    with suppress(UnsupportedForm, SymbolicError):
        both = [bracket_of_cells(mechanism.pair_cells(*ends)) for ends in closed]
        return [below for below, _ in both], [above for _, above in both]
    return [], []


def different_pairs(
    block: PairBlock, rows: NDArray[np.int64] | None = None
) -> dict[tuple[Any, ...], int]:
    """A row of each different pair of laws among ``rows`` of a block, by what tells pairs apart.

    Noise that is moved: by how much, numbers that stay left out. Else the number of the table and
    the kind of the pair there. Equal laws are one pair, with an empty key.
    """
    chosen = np.arange(len(block.left)) if rows is None else rows
    left, right = block.left[chosen], block.right[chosen]
    if isinstance(block.laws, ShiftTable):
        different, which = shifts_between(block.laws, left, right)
        sizes = [tuple(size for size in shift if size) for shift in different.tolist()]
        keys = [sizes[m] for m in which.tolist()]
    else:
        ends = zip(left.tolist(), right.tolist(), strict=True)
        kind = block.laws.pair_kind
        keys = [(block.table, kind(a, b)) if a != b else () for a, b in ends]
    firsts: dict[tuple[Any, ...], int] = {}
    for key, k in zip(keys, chosen.tolist(), strict=True):
        firsts.setdefault(key, k)
    return firsts


def _list_pairs(
    mechanism: Mechanism, domain: Domain
) -> tuple[list[LikelihoodPair], list[tuple[Any, Any]]]:
    """Different pairs of laws, as likelihood ratios, or as datasets that closed forms compare."""
    check_affordable(exhaustive_size(mechanism, domain), None, mechanism)
    pairs: dict[Hashable, LikelihoodPair] = {}
    closed: dict[Hashable, tuple[Any, Any]] = {}
    seen: set[Hashable] = set()
    for block in pair_blocks(mechanism, domain, RhoClaim(1.0)):
        for key, k in different_pairs(block).items():
            if key in seen:
                continue
            seen.add(key)
            if len(pairs) + len(closed) > _MOST_PAIRS:
                raise InputError(
                    f"items: {mechanism.name} has more than {_MOST_PAIRS} different pairs of laws; "
                    f"compose its verdict, or a smaller domain",
                    name="items",
                )
            pair, identity = None, cast("Hashable", key)
            if isinstance(block.laws, ShiftTable):
                pair = list_pair(block.laws.noise, key[0]) if len(key) == 1 else None
            elif not isinstance(mechanism, ClosedFormLosses):
                pair = LikelihoodPair.of_laws(*(exact_law(mechanism, at) for at in block.locate(k)))
                identity = pair.exact or key
            if pair is None:
                closed[key] = block.locate(k)
            else:
                pairs[identity] = pair
    if pairs and closed:
        return [], list(closed.values())
    return list(pairs.values()), list(closed.values())


def worst_curve(pairs: Sequence[LikelihoodPair]) -> Curve:
    """The largest hockey-stick divergence of pairs in both orders, from above."""
    sides = [_Stick(side) for pair in pairs for side in (pair, pair.reversed())]

    def curve(epsilon: arb) -> arb:
        gamma, largest = epsilon.exp(), arb(0)
        for side in sides:
            largest = largest.max(side.above(gamma))
        return largest

    return curve


def _above_all(pairs: Sequence[LikelihoodPair]) -> GridLosses | None:
    """The losses of the pair whose curve is above those of all others, on their lattice."""
    sides = [side for pair in pairs for side in (pair, pair.reversed())]
    curves = [_Stick(side).above for side in sides]
    for side in sorted(sides, key=pair_weight, reverse=True)[:_TRIED]:
        losses = losses_above(side)
        covered = covering(losses, curves) if losses is not None else None
        if covered is not None:
            return covered
    return None


def _largest_loss(pair: LikelihoodPair) -> float:
    with precision(CURVE_BITS):
        loss = 0.0
        for p, q in pair.in_balls():
            for a, b in ((p, q), (q, p)):
                if b.lower() > 0 and a.upper() > 0:
                    loss = max(loss, float((a.upper() / b.lower()).log().upper()))
        return min(math.nextafter(loss, math.inf), LARGEST)


def _on_one_dataset(
    items: list[Any], times: list[int], domain: Domain | None, step: Fraction | None
) -> Composition:
    """One mechanism, every release on one dataset (theory 6.11 a)."""
    if len(items) != 1 or isinstance(items[0], PrivacyVerdict) or not isinstance(domain, Domain):
        raise InputError(
            "adaptive=False: give one mechanism, releases= and domain=; different mechanisms, and "
            "verdicts, are composed with adaptive=True",
            name="adaptive",
        )
    mechanism = check_mechanism(items[0], domain)
    pairs, closed = through_reads(mechanism, domain, lambda seen: _list_pairs(seen, domain))
    if closed or len(pairs) > _FEW_PAIRS:
        raise InputError(
            f"adaptive=False: {mechanism.name} has {len(pairs) + len(closed)} different pairs of "
            f"laws, and {_FEW_PAIRS} finite ones are composed one by one; use adaptive=True",
            name="adaptive",
        )
    above: list[Losses] = []
    below: list[Losses | RoundedLosses] = []
    sides = [side for pair in pairs for side in (pair, pair.reversed())]
    for side in sides:
        forth, back = (_one_curve(turned) for turned in (side, side.reversed()))
        part = ReleasePart(mechanism.name, forth, _largest_loss(side), lattice=losses_above(side))
        size = step or step_for([(part, times[0])])
        grid = part.above(size, times[0])
        if not part.is_on_lattice(times[0]):
            grid = grid_above(forth, part.largest, size, back)
        above.append(grid.power(times[0]))
        below.append(pair_below(side, size, times[0]).power(times[0]))
        if losses_above(side) is None:
            below.append(round_together([(side, times[0])], size))
    return Composition((mechanism.name,), tuple(times), False, tuple(above), tuple(below))


def _one_curve(pair: LikelihoodPair) -> Curve:
    stick = _Stick(pair)
    return lambda epsilon: stick.above(epsilon.exp())


class _Stick:
    """The hockey-stick divergence of one ordered pair, from above: sums over falling ratios."""

    def __init__(self, pair: LikelihoodPair) -> None:
        with precision(CURVE_BITS):
            self._extra = mass_without_bound(pair)
            atoms = pair.in_balls()
            ratios = [p / q if q > 0 else arb("+inf") for p, q in atoms]
            order = sorted(range(len(atoms)), key=lambda k: float(ratios[k].mid()), reverse=True)
            self._atoms = [atoms[k] for k in order]
            self._sums = [(arb(0), arb(0))]
            self._least: list[arb] = []
            for k in order:
                p, q = self._sums[-1]
                self._sums.append((p + atoms[k][0], q + atoms[k][1]))
                least = ratios[k].lower() if ratios[k].is_finite() else arb(0)
                self._least.append(least.min(self._least[-1]) if self._least else least)
            self._most = [arb(0)]
            for k in reversed(order):
                self._most.append(ratios[k].upper().max(self._most[-1]))
            self._most.reverse()

    def above(self, gamma: arb) -> arb:
        """sum max(0, p - gamma q), and all that may be of infinite loss."""
        # Certainly positive terms; then those that may be.
        sure = bisect_left(self._least, True, key=lambda least: not least > gamma)
        p, q = self._sums[sure]
        total = self._extra + p - gamma * q
        for k in range(sure, len(self._atoms)):
            if self._most[k] <= gamma:
                break
            total += (self._atoms[k][0] - gamma * self._atoms[k][1]).upper().max(arb(0))
        return total.upper()


def _root(values: list[float | None], times: list[int]) -> float | None:
    squares = add_up([None if value is None else value * value for value in values], times)
    return None if squares is None else raise_slightly(math.sqrt(squares))


def _check_step(step: float) -> Fraction:
    value = Fraction(check_open_unit("step", step))
    if value.numerator != 1 or value.denominator & (value.denominator - 1):
        raise InputError(f"step={quote(step)} must be a power of 2, such as 2**-10", name="step")
    return value
