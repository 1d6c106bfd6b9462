"""The smallest rho, and the smallest mu, for which a claim holds on a whole domain.

All neighbouring pairs are visited (theory 3.7); what floats cannot exclude is enclosed in balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain
from liptest.errors import (
    LiptestError,
    SymbolicError,
    UnsupportedForm,
)
from liptest.mechanisms.base import (
    Mechanism,
    through_all_numbers,
    through_densities,
)
from liptest.mechanisms.laws import ComparableLaws, LawTable
from liptest.mechanisms.shift import ShiftTable
from liptest.privacy.comparison import round_ends
from liptest.privacy.divergences.cell_likelihoods import CellOrders, mu_of_cells
from liptest.privacy.divergences.quantiles import normal_quantiles
from liptest.privacy.divergences.renyi import Orders, RhoEnclosure, enclose_rho, refute_rho
from liptest.privacy.divergences.screening import (
    Measured,
    bound_rho_by_loss,
    largest_losses,
    screen_mu,
    screen_rho,
)
from liptest.privacy.exact import ExactMeasure, check_visit, visit_or_enclosed
from liptest.privacy.judge import make_witness
from liptest.privacy.notions import MuClaim, RhoClaim, mu_between, orders_between
from liptest.privacy.proofs.exhaustive import (
    PairBlock,
    check_affordable,
    exhaustive_size,
    pair_blocks,
)
from liptest.privacy.proofs.shift_notions import align_notion
from liptest.privacy.proofs.unanswered import check_answered
from liptest.privacy.searches.plain_pairs import plain_pairs, record_pairs

Floats = NDArray[np.float64]
# Pairs that differ from the largest by less than this are not enclosed one by one.
_SAME = 1e-9
# What the ends of an enclosure of rho differ by, as a share.
_GAP = 1e-12
# Another pair whose rho is larger by less than this share is not told from the largest.
_NEAR = 1e-11
# What quantiles in floats are off by, and more.
_QUANTILE = 1e-6
# Whoever asks for laws in the name of no claim.
_SMALL = 1e-300
# Pairs at which what is proved is compared.
_PLAIN = 8


@dataclass(frozen=True)
class _Notion:
    """How one notion is screened and enclosed; ``claim`` makes a claim of a number."""

    claim: Callable[[float], RhoClaim | MuClaim]
    screen: Callable[[LawTable, Any, Any], Measured]
    enclose: Callable[[Mechanism, Any, Any], tuple[float, float]]
    of_loss: Callable[[Floats], Floats]
    of_cells: Callable[[ComparableLaws, int, int, float], tuple[float, float]]


def exact_rho(
    mechanism: Any, domain: Domain, *, budget: int | None = None, executor: Executor | None = None
) -> ExactMeasure:
    """The smallest rho for which a mechanism is rho-zCDP on a whole domain.

    The sibling of ``exact_epsilon``, which has the same arguments and errors; of a domain too large
    to visit ``upper`` is what is proved for data of any size (theory S12). InputError also where
    outputs cannot be listed and no closed form is known.
    """
    return _exact(_RHO, mechanism, domain, budget, executor)


def exact_mu(
    mechanism: Any, domain: Domain, *, budget: int | None = None, executor: Executor | None = None
) -> ExactMeasure:
    """The smallest mu for which a mechanism is mu-GDP on a whole domain; as ``exact_rho``."""
    return _exact(_MU, mechanism, domain, budget, executor)


def _enclose_rho(mechanism: Mechanism, x: Any, y: Any) -> tuple[float, float]:
    sides = [enclose_rho(orders, _GAP) for orders in orders_between(mechanism, x, y, "rho")]
    ends = [round_ends(side.lower, side.upper) for side in sides]
    return max(low for low, _ in ends), max(high for _, high in ends)


def _enclose_mu(mechanism: Mechanism, x: Any, y: Any) -> tuple[float, float]:
    enclosure = mu_between(mechanism, x, y, "mu")
    return round_ends(enclosure.lower, enclosure.upper)


def _rho_of_cells(laws: ComparableLaws, left: int, right: int, known: float) -> tuple[float, float]:
    """Ends of rho of two laws; where it is certainly at most what is known, that alone."""
    sides = [CellOrders(laws.cells(*pair)) for pair in ((left, right), (right, left))]
    limit = Fraction(known) * (1 + Fraction(_NEAR))
    # The rho that is known is that of other pairs, too.
    left_open = [
        side
        for side in sides
        if not known or side.known_rho() is not None or refute_rho(side, limit)[0] is not False
    ]
    ends = [
        round_ends(enclosure.lower, enclosure.upper)
        for enclosure in map(_enclose_smallest_rho, left_open)
    ]
    lower = max((low for low, _ in ends), default=0.0)
    return lower, max((high for _, high in ends), default=math.nextafter(float(limit), math.inf))


def _enclose_smallest_rho(orders: Orders) -> RhoEnclosure:
    return enclose_rho(orders, _GAP)


def _mu_of_cells(laws: ComparableLaws, left: int, right: int, known: float) -> tuple[float, float]:
    enclosure = mu_of_cells(laws.cells(left, right))
    return round_ends(enclosure.lower, enclosure.upper)


def _mu_of_loss(losses: Floats) -> Floats:
    """By the largest loss alone (theory 6.9)."""
    with np.errstate(over="ignore"):
        far = 1 / (1 + np.exp(np.minimum(losses, 1e9)))
    mus = 2 * normal_quantiles(1 - far, far) * (1 + _QUANTILE) + _QUANTILE
    return np.where(np.isfinite(mus), mus, np.inf)


def _of_losses(laws: LawTable, left: Any, right: Any) -> Measured:
    # With the smallest of limits no pair is cleared by its largest loss alone.
    losses = largest_losses(laws, left, right)[0]
    limit = float(np.max(losses, initial=0.0, where=np.isfinite(losses))) / 64
    return screen_rho(laws, left, right, max(limit, 1e-12))


_RHO = _Notion(
    lambda value: RhoClaim(value, 0.0), _of_losses, _enclose_rho, bound_rho_by_loss, _rho_of_cells
)
_MU = _Notion(lambda value: MuClaim(value, 0.0), screen_mu, _enclose_mu, _mu_of_loss, _mu_of_cells)


def _exact(
    notion: _Notion, mechanism: Any, domain: Domain, budget: int | None, executor: Executor | None
) -> ExactMeasure:
    checked, most = check_visit(mechanism, domain, budget)

    def visit(seen: Mechanism) -> ExactMeasure:
        check_affordable(exhaustive_size(seen, domain), most, seen)
        # Any claim but a pure one makes every pair be visited.
        blocks = pair_blocks(seen, domain, notion.claim(1.0), executor)
        search = _Largest(notion, seen)
        for block in blocks:
            search.add(block)
        return search.result()

    enclose = partial(_enclosure, notion)
    measure = visit_or_enclosed(checked, domain, executor, enclose=enclose, visit=visit)
    if math.isfinite(measure.upper) or math.isinf(measure.lower) or not checked.has_symbolic_data:
        return measure
    # Of laws that were listed up to a tail: what was proved of the noise before it was rounded.
    return _at_most(measure, align_notion(checked, domain, notion.claim(1.0)).measured)


def _at_most(found: ExactMeasure, top: float) -> ExactMeasure:
    """An enclosure whose upper end is proved in another way, too."""
    lower, top = min(found.lower, top), min(found.upper, top)
    return replace(found, lower=lower, value=min(max(found.value, lower), top), upper=top)


def _enclosure(notion: _Notion, checked: Mechanism, domain: Domain) -> ExactMeasure | None:
    """What is found at plain pairs, and what is proved (theory S12)."""
    proved = align_notion(checked, domain, notion.claim(1.0))
    if math.isinf(proved.measured):
        return None
    pairs = chain(
        iter(()) if proved.dearest is None else record_pairs(domain, *proved.dearest),
        plain_pairs(domain),
    )
    ends, top = list(islice(pairs, _PLAIN)), proved.measured
    with suppress(LiptestError):
        measure = through_all_numbers(
            checked,
            domain.zeros,
            lambda numbers: through_densities(numbers, lambda seen: _at_pairs(notion, seen, ends)),
        )
        return replace(_at_most(measure, top), upper=top)
    return ExactMeasure(0.0, 0.0, top, None, 0, 0)


def _at_pairs(notion: _Notion, seen: Mechanism, pairs: list[tuple[Any, Any]]) -> ExactMeasure:
    search = _Largest(notion, seen)
    for pair in pairs:
        search.enclose(pair)
    return replace(search.result(), pairs=len(pairs), laws=2 * len(pairs))


class _Largest:
    """Keeps the largest measure over blocks of pairs, and what is not excluded beside it."""

    def __init__(self, notion: _Notion, mechanism: Mechanism) -> None:
        self._notion, self._mechanism = notion, mechanism
        self._lower = self._upper = 0.0
        self._where: tuple[Any, Any] | None = None
        self._pairs = self._laws = 0
        self._answered = False

    def add(self, block: PairBlock) -> None:
        """Enclose the pairs of a block that may be the largest."""
        self._pairs, self._laws = self._pairs + block.pairs, self._laws + block.queries
        self._answered |= block.laws.is_answered()
        if len(block.left) == 0:
            return
        if not isinstance(block.laws, (LawTable, ShiftTable)):
            self._add_cells(block)
            return
        above = np.full(len(block.left), np.inf)
        if isinstance(block.laws, LawTable):
            above = self._notion.screen(block.laws, block.left, block.right).above
        for k in np.argsort(-above, kind="stable"):
            if above[k] <= self._lower * (1 + _SAME):
                self._upper = max(self._upper, float(above[k]))
                return
            if math.isinf(self._lower):
                return
            self.enclose(block.locate(int(k)))

    def _add_cells(self, block: PairBlock) -> None:
        """Laws without a finite table: each different pair once, the largest losses first."""
        above = np.full(len(block.left), np.inf)
        with suppress(UnsupportedForm, SymbolicError):
            losses = block.laws.losses(block.left, block.right)
            above = self._notion.of_loss(losses + _SAME * np.maximum(losses, 1.0))
        seen = set()
        for k in np.argsort(-above, kind="stable"):
            pair = int(block.left[k]), int(block.right[k])
            kind = block.laws.pair_kind(*pair)
            if kind in seen or pair[0] == pair[1]:
                continue
            seen.add(kind)
            if above[k] <= self._lower or math.isinf(self._lower):
                return
            lower, upper = self._notion.of_cells(block.laws, *pair, self._lower)
            self._upper = max(self._upper, upper)
            if lower > self._lower:
                self._lower, self._where = lower, block.locate(int(k))

    def enclose(self, ends: tuple[Any, Any]) -> None:
        """Enclose the pair of two datasets."""
        lower, upper = self._notion.enclose(self._mechanism, *ends)
        self._upper = max(self._upper, upper)
        if lower > self._lower:
            self._lower, self._where = lower, ends

    def result(self) -> ExactMeasure:
        """The enclosure, and the pair that reaches its lower end."""
        check_answered(self._mechanism, is_answered=self._answered or not self._laws)
        value = self._lower if self._upper > self._lower * (1 + 1e-6) else self._middle()
        witness = None
        if self._where is not None:
            below = self._notion.claim(min(max(self._lower * (1 - 1e-6), _SMALL), 1e6))
            witness = make_witness(self._mechanism, *self._where, below)
        return ExactMeasure(value, self._lower, self._upper, witness, self._pairs, self._laws)

    def _middle(self) -> float:
        if math.isinf(self._lower):
            return self._lower
        return min(max((self._lower + self._upper) / 2, self._lower), self._upper)
