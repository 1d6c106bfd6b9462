"""Claims in other forms: rho-zCDP, (order, tau)-RDP, mu-GDP, and a curve of deltas.

Each asks something of all pairs of neighbouring datasets, in both orders, and of nothing else. So
whatever visits or samples pairs tests it as it tests (epsilon, delta) (theory 6.8): what is proved
about excepted datasets never looks at what makes a pair bad.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar, cast

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.balls import precision
from liptest.data.domains import IntArray
from liptest.errors import InputError, check_non_negative, check_positive, quote
from liptest.mechanisms.additive import AdditiveNoise
from liptest.mechanisms.base import ClosedFormLosses, Mechanism
from liptest.mechanisms.laws import ComparableLaws, LawTable, exact_ball
from liptest.mechanisms.shift import ShiftTable
from liptest.privacy.claims import (
    Claim,
    ExactLog,
    NotionClaim,
    exact_text,
    parse_epsilon,
    text_above,
)
from liptest.privacy.comparison import (
    Answer,
    Comparison,
    certify_comparison,
    exact_law,
    round_ends,
    screen_pairs,
)
from liptest.privacy.divergences.cell_likelihoods import CellOrders, mu_of_cells
from liptest.privacy.divergences.likelihoods import LikelihoodPair
from liptest.privacy.divergences.noise_likelihoods import (
    find_noise_shifts,
    mu_of_shifts,
    orders_of_shifts,
    shifts_between,
)
from liptest.privacy.divergences.renyi import Orders, PairOrders, refute_renyi, refute_rho
from liptest.privacy.divergences.screening import (
    harmless_loss,
    largest_losses,
    screen_mu,
    screen_orders,
    screen_rho,
)
from liptest.privacy.divergences.tradeoff import BITS as MU_BITS
from liptest.privacy.divergences.tradeoff import MuEnclosure, enclose_mu
from liptest.verdicts import BelowOne, as_number, as_tuple

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
Positive = Annotated[float, as_number(gt=0)]


class _MeasuredClaim(NotionClaim):
    """A claim about one measure of two laws, of which cells and shifts tell it all."""

    def screen(self, laws: ComparableLaws, left: Indices, right: Indices) -> tuple[Floats, Flags]:
        claim = cast("RhoClaim | RenyiClaim | MuClaim", self)
        if isinstance(laws, ShiftTable):
            return _screen_shifts(claim, laws, left, right)
        if not isinstance(laws, LawTable):
            return _screen_cells(claim, laws, left, right)
        return self.screen_laws(laws, left, right)

    @abstractmethod
    def screen_laws(self, laws: LawTable, left: Indices, right: Indices) -> tuple[Floats, Flags]:
        """The same of plain laws."""


@dataclass(frozen=True)
class RhoClaim(_MeasuredClaim):
    """rho-zCDP: D_a <= rho a for all orders a > 1 (Bun and Steinke 2016).

    Parameters
    ----------
    rho
        A float above 0.
    tolerance
        In [0, 1): what is tested is rho (1 + tolerance).
    """

    rho: Positive
    tolerance: BelowOne = 1e-9

    measure: ClassVar[str] = "rho"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", check_positive("rho", self.rho))
        _check_tolerance(self)

    @property
    def limit(self) -> Fraction:
        """rho (1 + tolerance), exactly."""
        return _raise_number(self.rho, self.tolerance)

    def screen_laws(self, laws: LawTable, left: Indices, right: Indices) -> tuple[Floats, Flags]:
        screened = screen_rho(laws, left, right, float(self.limit))
        return screened.measured, screened.above > float(self.limit)

    def certify(self, mechanism: Mechanism, dataset: IntArray, neighbour: IntArray) -> Comparison:
        return _worst(self, map(self.decide, orders_between(mechanism, dataset, neighbour, self)))

    def decide(self, orders: Orders) -> Comparison:
        """Decide one ordered pair."""
        answer, order, ends = refute_rho(orders, self.limit)
        return _compare(answer, ends, order)

    def share(self, found: Comparison) -> float:
        """What a decided pair shows, in the measure of the claim."""
        return found.lower / (found.order or 1.0)

    def in_words(self, change: str) -> str:
        return (
            f"{change} leaves the Renyi divergence of order a between the two output "
            f"distributions at most {exact_text(self.rho)} times a, for every a > 1"
        )

    def __str__(self) -> str:
        return f"rho {exact_text(self.rho)} (zCDP)"


@dataclass(frozen=True)
class RenyiClaim(_MeasuredClaim):
    """(order, tau)-RDP, for one order or several (Mironov 2017).

    Parameters
    ----------
    orders
        Pairs (order, tau): order a finite number above 1, tau above 0.
    tolerance
        In [0, 1): what is tested is tau (1 + tolerance).
    """

    orders: Annotated[tuple[tuple[Positive, Positive], ...], as_tuple(tuple[Positive, Positive])]
    tolerance: BelowOne = 1e-9

    measure: ClassVar[str] = "share of the claimed divergence"

    def __post_init__(self) -> None:
        object.__setattr__(self, "orders", _check_orders(self.orders))
        _check_tolerance(self)

    def screen_laws(self, laws: LawTable, left: Indices, right: Indices) -> tuple[Floats, Flags]:
        taus = np.array([float(_raise_number(tau, self.tolerance)) for _, tau in self.orders])
        screened = screen_orders(laws, left, right, [order for order, _ in self.orders])
        shares = screened.measured / taus
        may: Flags = np.any(screened.above > taus, axis=1)
        return shares.max(axis=1, initial=0.0), may

    def certify(self, mechanism: Mechanism, dataset: IntArray, neighbour: IntArray) -> Comparison:
        return _worst(self, map(self.decide, orders_between(mechanism, dataset, neighbour, self)))

    def decide(self, orders: Orders) -> Comparison:
        """Decide one ordered pair: the order that exceeds its tau by most."""
        worst = Comparison(Answer.CLEAR)
        for order, tau in self.orders:
            answer, ends = refute_renyi(orders, Fraction(order), _raise_number(tau, self.tolerance))
            comparison = _compare(answer, ends, Fraction(order))
            comparison = replace(comparison, part=replace(self, orders=((order, tau),)))
            worst = max(
                worst,
                comparison,
                key=lambda candidate: (_RANK.index(candidate.answer), candidate.lower),
            )
        return worst

    def share(self, found: Comparison) -> float:
        """What a decided pair shows, in the measure of the claim."""
        return found.lower / dict(self.orders).get(found.order or 0.0, math.inf)

    def in_words(self, change: str) -> str:
        said = [f"of order {a:g} at most {exact_text(tau)}" for a, tau in self.orders]
        return f"{change} leaves the Renyi divergence of the two output distributions {_list(said)}"

    def __str__(self) -> str:
        said = ", ".join(f"({order:g}, {exact_text(tau)})" for order, tau in self.orders)
        return f"Renyi {said}"


@dataclass(frozen=True)
class MuClaim(_MeasuredClaim):
    """mu-GDP: no test tells neighbours apart better than N(0, 1) from N(mu, 1) (Dong et al. 2019).

    Parameters
    ----------
    mu
        A float above 0.
    tolerance
        In [0, 1): what is tested is mu (1 + tolerance).
    """

    mu: Positive
    tolerance: BelowOne = 1e-9

    measure: ClassVar[str] = "mu"

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", check_positive("mu", self.mu))
        _check_tolerance(self)

    @property
    def limit(self) -> Fraction:
        """mu (1 + tolerance), exactly."""
        return _raise_number(self.mu, self.tolerance)

    def screen_laws(self, laws: LawTable, left: Indices, right: Indices) -> tuple[Floats, Flags]:
        screened, bounds = screen_mu(laws, left, right), largest_losses(laws, left, right)[1]
        may = (screened.above > float(self.limit)) & (bounds > harmless_loss(float(self.limit)))
        return screened.measured, may

    def certify(self, mechanism: Mechanism, dataset: IntArray, neighbour: IntArray) -> Comparison:
        return self.decide(mu_between(mechanism, dataset, neighbour, self))

    def decide(self, found: MuEnclosure) -> Comparison:
        """Decide one pair; the order of the two laws does not matter."""
        with precision(MU_BITS):
            limit = exact_ball(self.limit)
            answer = True if found.lower > limit else False if found.upper <= limit else None
        return replace(_compare(answer, (found.lower, found.upper), None), part=self)

    def share(self, found: Comparison) -> float:
        """What a decided pair shows, in the measure of the claim."""
        return found.lower

    def in_words(self, change: str) -> str:
        return (
            f"no test tells the output distributions before and after {change} apart better than "
            f"one tells a normal variable from one with its mean shifted by {exact_text(self.mu)} "
            f"standard deviations"
        )

    def __str__(self) -> str:
        return f"mu {exact_text(self.mu)} (Gaussian DP)"


@dataclass(frozen=True)
class CurveClaim(NotionClaim):
    """(epsilon, delta)-DP for several epsilons at once, each with its delta.

    Parameters
    ----------
    points
        Pairs (epsilon, delta), as for ``Claim``.
    tolerance
        As for ``Claim``.
    """

    points: Annotated[tuple[Claim, ...], as_tuple(Claim, min_length=1)]
    tolerance: BelowOne = 1e-9

    measure: ClassVar[str] = "loss"

    def __post_init__(self) -> None:
        _check_tolerance(self)
        wrong = [point for point in self.points if point.tolerance != self.tolerance]
        if wrong or not self.points:
            raise InputError("curve: points of one tolerance, at least one", name="curve")

    def screen(self, laws: ComparableLaws, left: Indices, right: Indices) -> tuple[Floats, Flags]:
        screened = [screen_pairs(laws, left, right, [point]) for point in self.points]
        may = np.logical_or.reduce([part.may > 0 for part in screened])
        return screened[0].losses, may

    def certify(self, mechanism: Mechanism, dataset: IntArray, neighbour: IntArray) -> Comparison:
        worst = Comparison(Answer.CLEAR, part=self.points[0])
        for point in self.points:
            comparison = certify_comparison(mechanism, dataset, neighbour, point)
            if _RANK.index(comparison.answer) > _RANK.index(worst.answer):
                worst = replace(comparison, part=point)
        return worst

    def in_words(self, change: str) -> str:
        said = [
            f"e^{exact_text(point.epsilon)}, plus {exact_text(point.delta)}"
            if point.delta
            else f"e^{exact_text(point.epsilon)}"
            for point in self.points
        ]
        return (
            f"{change} changes the probability of any set of outputs by a factor of at most "
            f"{_list(said)}"
        )

    def __str__(self) -> str:
        return f"curve {'; '.join(str(point) for point in self.points)}"


def find_claimed_number(claim: StatedClaim) -> float:
    """What is claimed, in the measure that ``largest_loss`` of a verdict has."""
    if isinstance(claim, (RhoClaim, MuClaim)):
        return claim.rho if isinstance(claim, RhoClaim) else claim.mu
    if isinstance(claim, RenyiClaim):
        return 1.0
    return float(claim.epsilon if isinstance(claim, Claim) else claim.points[-1].epsilon)


#: Every form of claim, as documents hold it.
StatedClaim = Claim | RhoClaim | RenyiClaim | MuClaim | CurveClaim
_RANK = (Answer.CLEAR, Answer.DOUBT, Answer.VIOLATED)


def orders_between(
    mechanism: Mechanism, dataset: IntArray, neighbour: IntArray, claim: object
) -> list[Orders]:
    """Divergences of a pair of datasets in both orders; of symmetric noise one stands for both.

    Raises InputError where outputs are unbounded and no closed form is known.
    """
    moved = find_noise_shifts(mechanism, dataset, neighbour)
    if moved is not None:
        orders = orders_of_shifts(*moved)
        if orders is None:
            raise _no_closed_form(f"{moved[0]!r}", claim)
        return [orders]
    if isinstance(mechanism, ClosedFormLosses):
        ends = (dataset, neighbour), (neighbour, dataset)
        return [CellOrders(mechanism.pair_cells(*pair)) for pair in ends]
    pair = _pair(mechanism, dataset, neighbour)
    return [PairOrders(pair), PairOrders(pair.reversed())]


def mu_between(
    mechanism: Mechanism, dataset: IntArray, neighbour: IntArray, claim: object
) -> MuEnclosure:
    """mu of a pair of datasets; raises as ``orders_between``."""
    moved = find_noise_shifts(mechanism, dataset, neighbour)
    if moved is not None:
        return _mu_of_shifts(*moved, claim)
    if isinstance(mechanism, ClosedFormLosses):
        return mu_of_cells(mechanism.pair_cells(dataset, neighbour))
    return enclose_mu(_pair(mechanism, dataset, neighbour))


def _mu_of_shifts(noise: AdditiveNoise, moved: Sequence[int], claim: object) -> MuEnclosure:
    """mu of noise; where only a lower bound is known (theory 6.5), a claim that it refutes."""
    enclosure = mu_of_shifts(noise, moved)
    if enclosure is not None:
        with precision(MU_BITS):
            is_open = enclosure.lower.is_finite() and not enclosure.upper.is_finite()
            if not is_open:
                return enclosure
            if isinstance(claim, MuClaim) and enclosure.lower > exact_ball(claim.limit):
                return enclosure
    raise _no_closed_form(f"{noise!r} on {np.count_nonzero(moved)} of its numbers", claim)


def _pair(mechanism: Mechanism, dataset: IntArray, neighbour: IntArray) -> LikelihoodPair:
    sides = exact_law(mechanism, dataset), exact_law(mechanism, neighbour)
    return LikelihoodPair.of_laws(*sides)


def _no_closed_form(what: str, claim: object) -> InputError:
    return InputError(
        f"claim={claim}: {what} cannot be listed, and no closed form of this notion is known; clip "
        f"or round the output to finitely many values, use lt.DiscreteLaplace or (for rho and "
        f"renyi) lt.DiscreteGaussian noise, or claim epsilon and delta, or curve=",
        name="claim",
    )


def _screen_shifts(
    claim: RhoClaim | RenyiClaim | MuClaim, laws: ShiftTable, left: Indices, right: Indices
) -> tuple[Floats, Flags]:
    """Each different move is decided, once."""
    different, which = shifts_between(laws, left, right)
    comparisons = [_decide_shift(claim, laws.noise, moved.tolist()) for moved in different]
    measured = np.array([claim.share(comparison) for comparison in comparisons])
    flagged = np.array(
        [comparison.answer is not Answer.CLEAR for comparison in comparisons], dtype=bool
    )
    if not len(comparisons):
        return np.zeros(0), np.zeros(0, dtype=bool)
    return measured[which], flagged[which]


def _screen_cells(
    claim: RhoClaim | RenyiClaim | MuClaim, laws: ComparableLaws, left: Indices, right: Indices
) -> tuple[Floats, Flags]:
    """Laws without a finite table: each different pair is decided, once."""
    decided: dict[tuple[int, int], Comparison] = {}
    for pair in zip(left.tolist(), right.tolist(), strict=True):
        if pair not in decided:
            decided[pair] = decided.get(pair[::-1]) or decide_cells(claim, laws, *pair)
    comparisons = [decided[pair] for pair in zip(left.tolist(), right.tolist(), strict=True)]
    measured = np.array([claim.share(comparison) for comparison in comparisons], dtype=np.float64)
    flagged = np.array(
        [comparison.answer is not Answer.CLEAR for comparison in comparisons], dtype=bool
    )
    return measured, flagged


def decide_cells(
    claim: RhoClaim | RenyiClaim | MuClaim, laws: ComparableLaws, left: int, right: int
) -> Comparison:
    """Decide a pair of distinct laws, in both orders."""
    if left == right:
        return Comparison(Answer.CLEAR, part=claim)
    if isinstance(claim, MuClaim):
        return claim.decide(mu_of_cells(laws.cells(left, right)))
    ends = (left, right), (right, left)
    return _worst(claim, (claim.decide(CellOrders(laws.cells(*pair))) for pair in ends))


def _decide_shift(
    claim: RhoClaim | RenyiClaim | MuClaim, noise: AdditiveNoise, moved: list[int]
) -> Comparison:
    if isinstance(claim, MuClaim):
        return claim.decide(_mu_of_shifts(noise, moved, claim))
    orders = orders_of_shifts(noise, moved)
    if orders is None:
        raise _no_closed_form(f"{noise!r}", claim)
    return claim.decide(orders)


def _compare(answer: bool | None, ends: tuple[arb, arb], order: Fraction | None) -> Comparison:
    said = {True: Answer.VIOLATED, False: Answer.CLEAR, None: Answer.DOUBT}[answer]
    return Comparison(said, (), *round_ends(*ends), order=None if order is None else float(order))


def _worst(claim: NotionClaim, sides: Iterable[Comparison]) -> Comparison:
    """Of both directions the one that tells more; the second is that of the neighbour."""
    comparisons = [
        replace(side, swapped=k == 1, part=side.part or claim) for k, side in enumerate(sides)
    ]
    return max(
        comparisons, key=lambda comparison: (_RANK.index(comparison.answer), comparison.lower)
    )


def _raise_number(value: float, tolerance: float) -> Fraction:
    return Fraction(value) * (1 + Fraction(tolerance))


def _check_tolerance(claim: NotionClaim) -> None:
    tolerance = check_non_negative("tolerance", claim.tolerance, below=1.0)
    object.__setattr__(claim, "tolerance", tolerance)


def _check_orders(orders: Any) -> tuple[tuple[float, float], ...]:
    try:
        pairs = [(order, tau) for order, tau in orders]
    except (TypeError, ValueError):
        pairs = []
    if not pairs:
        raise InputError(
            f"renyi={quote(orders)} must be a pair (order, tau), or a list of pairs", name="renyi"
        )
    checked = [(check_positive("order", a), check_positive("tau", tau)) for a, tau in pairs]
    if min(order for order, _ in checked) <= 1:
        raise InputError(
            f"renyi={quote(orders)}: orders must be above 1; claim rho= for all orders at once",
            name="renyi",
        )
    return tuple(sorted(checked))


def _list(said: Sequence[str]) -> str:
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


def find_stated_claim(
    epsilon: float | str | ExactLog | None,
    delta: float,
    tolerance: float,
    *,
    rho: float | None = None,
    renyi: Any = None,
    mu: float | None = None,
    curve: Mapping[float | str | ExactLog, float] | None = None,
) -> StatedClaim:
    """The one claim that is stated; InputError for none, for several, for a delta beside another.

    ``renyi`` is a pair (order, tau) or a list of pairs, ``curve`` maps epsilons to deltas.
    """
    given = {"epsilon": epsilon, "rho": rho, "renyi": renyi, "mu": mu, "curve": curve}
    kinds = [name for name, value in given.items() if value is not None]
    if len(kinds) != 1:
        raise InputError(
            f"claim: {' and '.join(kinds) or 'nothing'} given; state exactly one of epsilon= (with "
            f"delta=), rho=, renyi=, mu=, curve=",
            name="epsilon" if not kinds else kinds[-1],
        )
    if epsilon is not None:
        return Claim(parse_epsilon(epsilon), delta, tolerance)
    if delta != 0:
        raise InputError(
            f"delta={quote(delta)} belongs to epsilon=; with {kinds[0]}= leave it out", name="delta"
        )
    if rho is not None:
        return RhoClaim(rho, tolerance)
    if mu is not None:
        return MuClaim(mu, tolerance)
    if renyi is not None:
        single = isinstance(renyi, (tuple, list)) and len(renyi) == 2 and not _is_pair(renyi[0])
        return RenyiClaim((tuple(renyi),) if single else renyi, tolerance)
    if not isinstance(curve, Mapping) or not curve:
        raise InputError(
            f"curve={quote(curve)} must map epsilons to deltas, such as {{1.0: 1e-3, 2.0: 1e-6}}",
            name="curve",
        )
    points = [Claim(parse_epsilon(key), value, tolerance) for key, value in curve.items()]
    return CurveClaim(tuple(sorted(points, key=lambda point: float(point.epsilon))), tolerance)


def is_part(part: StatedClaim, claim: StatedClaim) -> bool:
    """Whether who refutes ``part`` refutes the claim: the same, or one of its orders or points."""
    if isinstance(claim, CurveClaim):
        return part in claim.points
    if isinstance(claim, RenyiClaim) and isinstance(part, RenyiClaim):
        return part.tolerance == claim.tolerance and {*part.orders} <= {*claim.orders}
    return part == claim


def name_measure(claim: StatedClaim) -> str:
    """What ``largest_loss`` of a verdict on a claim is."""
    return "loss" if isinstance(claim, Claim) else claim.measure


def of_releases(claim: NotionClaim, releases: int) -> str:
    """What a number of releases satisfy together, each with this claim, in words.

    Renyi divergences add up at each order, mu as squares do (Mironov 2017; Dong et al. 2019).
    """
    if isinstance(claim, RhoClaim):
        return f"{text_above(releases * claim.rho)}-zCDP"
    if isinstance(claim, MuClaim):
        return f"{text_above(math.sqrt(releases) * claim.mu)}-GDP"
    if isinstance(claim, RenyiClaim):
        orders = [f"({a:g}, {text_above(releases * tau)})" for a, tau in claim.orders]
        return f"{_list(orders)}-RDP"
    return f"each {claim}" if releases > 1 else str(claim)


def claim_arguments(claim: StatedClaim) -> dict[str, Any]:
    """The keyword arguments of ``check_privacy`` that state a claim, tolerance apart."""
    if isinstance(claim, Claim):
        return {"epsilon": claim.epsilon, "delta": claim.delta}
    if isinstance(claim, RhoClaim):
        return {"rho": claim.rho}
    if isinstance(claim, RenyiClaim):
        return {"renyi": [list(pair) for pair in claim.orders]}
    if isinstance(claim, MuClaim):
        return {"mu": claim.mu}
    return {"curve": {point.epsilon: point.delta for point in claim.points}}


def _is_pair(value: object) -> bool:
    return isinstance(value, (tuple, list))
