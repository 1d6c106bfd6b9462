"""Two laws of whole numbers as cells: numbers one by one, and tails in which the ratio settles."""

from __future__ import annotations

from typing import Any

from flint import arb

from liptest.enumerate.numbers.number_laws import ExactLaw, NumberLaw, as_rounded
from liptest.errors import SymbolicError, UnsupportedForm
from liptest.mechanisms.laws import Output
from liptest.mechanisms.likelihood_cells import Cell, CellProduct, Factor, PairCells
from liptest.symbolic.exponential_polynomials import ExactRates
from liptest.symbolic.rounded_comparison import quotient_cells
from liptest.symbolic.rounded_laws import RoundedLaw
from liptest.symbolic.whole_laws import (
    MOST_NUMBERS,
    PairPart,
    evaluate_terms,
    parts_of_pair,
    quotient_beyond,
    sum_beyond,
)

# What the last cell of a tail weighs at most, where its ratio is not one number.
_NOTHING = arb(2) ** -200


def cells_of_whole(rates: ExactRates, left: Any, right: Any) -> PairCells:
    """Of two ``WholeLaw``; raises UnsupportedForm where they are not compared so."""
    products, alone = [], [arb(0), arb(0)]
    for skeleton in dict.fromkeys((*left.leaves, *right.leaves)):
        masses = [law.mass(rates, skeleton) for law in (left, right)]
        if any(bool(mass == 0) for mass in masses):
            alone[0] += arb(masses[0])
            alone[1] += arb(masses[1])
            continue
        products.append(_product(rates, left, right, skeleton))
    return PairCells(tuple(products), *alone)


def _product(rates: ExactRates, left: Any, right: Any, skeleton: Output) -> CellProduct:
    ways = [law.ways(rates, skeleton) for law in (left, right)]
    count = len(ways[0][0].numbers)
    if not count:
        p, q = (arb(law.mass(rates, skeleton)) for law in (left, right))
        return CellProduct(p, q)
    if count == 1:
        sides = [law.number(rates, skeleton) for law in (left, right)]
        return CellProduct(arb(1), arb(1), (_factor(*sides),))
    if any(len(side) > 1 for side in ways):
        raise UnsupportedForm("several numbers that the code comes to in several ways")
    one, other = ways[0][0], ways[1][0]
    weights, factors = [one.weight, other.weight], []
    for x, y in zip(one.numbers, other.numbers, strict=True):
        totals = [side.total() for side in (x, y)]
        weights = [weight * mass for weight, mass in zip(weights, totals, strict=True)]
        sides = [number.enlarge_by(1 / mass) for number, mass in zip((x, y), totals, strict=True)]
        factors.append(_factor(*sides))
    return CellProduct(arb(weights[0]), arb(weights[1]), tuple(factors))


def _factor(left: NumberLaw, right: NumberLaw) -> Factor:
    if not isinstance(left, ExactLaw) or not isinstance(right, ExactLaw):
        return _round_factor(as_rounded(left), as_rounded(right))
    rates, above, below = left.rates, left.function, right.function
    cells: dict[Any, list[Any]] = {}
    tails: list[Cell] = []
    alone = [arb(0), arb(0)]
    for part in parts_of_pair(rates, above, below):
        if not part.above or not part.below:
            for k, terms in enumerate((part.above, part.below)):
                if terms:
                    alone[k] += _sum(part, terms)
            continue
        count = part.count
        if count is None:
            count, tail = _tail(part)
            tails.append(tail)
        if count > MOST_NUMBERS:
            raise SymbolicError(f"two laws differ on {count:,} whole numbers one by one")
        for n in range(count):
            p, q = evaluate_terms(part.above, n), evaluate_terms(part.below, n)
            if p and q:
                masses = cells.setdefault(p / q, [0, 0])
                masses[0], masses[1] = masses[0] + p, masses[1] + q
            else:
                alone[0], alone[1] = alone[0] + arb(p), alone[1] + arb(q)
    listed = [Cell(arb(p), arb(q), arb(ratio), arb(ratio)) for ratio, (p, q) in cells.items()]
    return Factor((*listed, *tails), *alone)


def _round_factor(left: RoundedLaw, right: RoundedLaw) -> Factor:
    cells: list[Cell] = []
    alone = [arb(0), arb(0)]
    for cell in quotient_cells(left, right):
        if cell.quotient is None:
            alone[0], alone[1] = alone[0] + cell.above, alone[1] + cell.below
        else:
            low, high = arb(cell.quotient.lower()), arb(cell.quotient.upper())
            cells.append(Cell(cell.above, cell.below, low, high))
        if len(cells) > MOST_NUMBERS:
            raise SymbolicError(f"two laws differ on {MOST_NUMBERS:,} whole numbers one by one")
    return Factor(tuple(cells), *alone)


def _sum(part: PairPart, terms: Any) -> arb:
    if part.count is None:
        return sum_beyond(terms, 0)
    return sum((arb(evaluate_terms(terms, n)) for n in range(part.count)), arb(0))


def _tail(part: PairPart) -> tuple[int, Cell]:
    """Where the last cell begins, and that cell."""
    start, low, high = quotient_beyond(part)
    while low != high:
        rest = sum_beyond(part.above, start).max(sum_beyond(part.below, start))
        if rest < _NOTHING:
            break
        start = max(2 * start, 4)
        if start > MOST_NUMBERS:
            raise SymbolicError("a law of whole numbers that falls too slowly")
    if low != high:
        _, low, high = quotient_beyond(part, start)
    p, q = (sum_beyond(terms, start) for terms in (part.above, part.below))
    return start, Cell(p, q, arb(low), arb(high))
