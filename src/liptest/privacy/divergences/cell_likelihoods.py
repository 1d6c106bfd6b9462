"""rho, mu and curves of two laws that are known as cells of outputs (theory 6.17).

Taken as one output each, cells are a map of the output: no divergence, no test and no composition
gains by it. With their masses moved to the two ends of their ratios they dominate: none of these
loses. Between the two lies the truth; the gap is of the second order in the width of the cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise

from flint import arb, arb_poly

from liptest.balls import precision
from liptest.errors import UnsupportedForm
from liptest.mechanisms.laws import exact_ball
from liptest.mechanisms.likelihood_cells import Cell, CellProduct, PairCells
from liptest.privacy.divergences.likelihoods import Balls, LikelihoodPair
from liptest.privacy.divergences.renyi import Ends
from liptest.privacy.divergences.tradeoff import MuEnclosure, gaussian_quantile, largest_of_corners

#: Bits with which cells are cut and summed up.
BITS = 256
# Points of a grid that losses are moved to.
_POINTS = 1 << 14
# Mu of one number: how wide cells are at first, how close its ends come, and how many cells.
_FIRST, _CLOSE, _MOST, _ROUNDS, _LATE = 24, 1e-10, 600, 40, 3
# How far the log of a ratio may move in a cell by which the largest loss is told.
_WIDE, _FEW = 0.05, 64


@dataclass(frozen=True, eq=False)
class CellOrders:
    """The Renyi divergences of a pair of laws."""

    cells: PairCells

    @cached_property
    def _never(self) -> bool:
        """Whether P certainly has outputs that Q has not."""
        return any(mass > 0 for mass in self._alone)

    @cached_property
    def _maybe(self) -> bool:
        return any(not mass.is_zero() for mass in self._alone)

    @cached_property
    def _alone(self) -> list[arb]:
        parts = [part.left_only for product in self.cells.products for part in product.factors]
        return [self.cells.left_only, *parts]

    def known_rho(self) -> Fraction | None:
        """Of normal numbers alone D_a is a times half their squared distance."""
        products = self.cells.products
        if self._maybe or len(products) != 1 or products[0].factors:
            return None
        return products[0].squares / 2

    def renyi(self, order: Fraction) -> Ends:
        if self._never:
            return arb("+inf"), arb("+inf")
        a, total = exact_ball(order), arb(0)
        for product in self.cells.products:
            size = product.p * (product.p / product.q) ** (a - 1)
            for part in product.factors:
                size *= sum((cell.power(a) for cell in part.cells), arb(0))
            if product.squares:
                size *= (a * (a - 1) / 2 * exact_ball(product.squares)).exp()
            total += size
        divergence = total.log() / (a - 1)
        if not divergence.is_finite():
            return arb(0), arb("+inf")
        low = divergence.lower().max(arb(0))
        return low, arb("+inf") if self._maybe else divergence.upper().max(arb(0))

    def kullback_leibler(self) -> Ends:
        if self._never:
            return arb("+inf"), arb("+inf")
        if self._maybe:
            return arb(0), arb("+inf")
        mean = self._moments[0]
        if not mean.is_finite():
            return arb(0), self.largest_loss()
        return mean.lower().max(arb(0)), mean.upper().max(arb(0))

    def curvature(self, end: Fraction) -> arb:
        """psi''(x) <= Var_P(loss) e^(largest loss (x - 1)), as psi(x) >= 0 (theory 6.17)."""
        top = self.largest_loss()
        if not top.is_finite():
            return arb("+inf")
        mean, square = self._moments
        variance = (square - mean**2).upper().max(arb(0))
        return (variance * (top * exact_ball(end - 1)).exp()).upper()

    @cached_property
    def _moments(self) -> tuple[arb, arb]:
        """Mean and mean square of the loss under P."""
        mean, square = arb(0), arb(0)
        for product in self.cells.products:
            mass, first, spread = product.p, (product.p / product.q).log(), arb(0)
            for part in product.factors:
                own = sum((cell.p for cell in part.cells), arb(0))
                moments = [sum((c.log_moment(k) for c in part.cells), arb(0)) / own for k in (1, 2)]
                mass *= own
                first += moments[0]
                spread += moments[1] - moments[0] ** 2
            squares = exact_ball(product.squares)
            first, spread = first + squares / 2, spread + squares
            mean += mass * first
            square += mass * (first**2 + spread)
        return mean, square

    def largest_loss(self) -> arb:
        return self._largest

    @cached_property
    def _largest(self) -> arb:
        if self._maybe or any(product.squares for product in self.cells.products):
            return arb("+inf")
        top = arb(0)
        for product in self.cells.products:
            loss = (product.p / product.q).log()
            for part in product.factors:
                cells = cut_cells(part.cells, _WIDE, _FEW * len(part.cells))
                loss += max((cell.high.log().upper() for cell in cells), key=float)
            top = top.max(loss.upper())
        return top


def mu_of_cells(cells: PairCells) -> MuEnclosure:
    """The smallest mu of a pair of laws."""
    with precision(BITS):
        infinite = arb("+inf")
        alone = [cells.left_only, cells.right_only]
        for product in cells.products:
            for part in product.factors:
                alone += [part.left_only, part.right_only]
        if any(mass > 0 for mass in alone):
            return MuEnclosure(infinite, infinite, infinite, (arb(1), arb(0)))
        products = cells.products
        if len(products) == 1 and not products[0].factors:
            mu = exact_ball(products[0].squares).sqrt()
            return MuEnclosure(mu.lower(), mu.upper(), arb(1), (arb(0), arb(0)))
        _require_no_bells(cells)
        if all(len(product.factors) <= 1 for product in products):
            enclosure = _mu_of_single_numbers(cells)
        else:
            below, above = bracket_of_cells(cells, 1 << 14)
            upper = largest_of_corners(above.in_balls())
            low = largest_of_corners(below.in_balls())
            enclosure = MuEnclosure(low.lower, upper.upper.max(low.lower), low.ratio, low.masses)
        if any(not mass.is_zero() for mass in alone):
            enclosure = MuEnclosure(enclosure.lower, infinite, enclosure.ratio, enclosure.masses)
        return enclosure


def _require_no_bells(cells: PairCells) -> None:
    if any(product.squares for product in cells.products):
        raise UnsupportedForm("normal numbers beside others that tell datasets apart")


@dataclass(frozen=True, eq=False)
class _Weighted(Cell):
    """A cell of one number, times the masses of the rest of its output."""

    weight: Balls
    cell: Cell

    @classmethod
    def of(cls, weight: Balls, cell: Cell) -> _Weighted:
        ratio = weight[0] / weight[1]
        low, high = (cell.low * ratio).lower(), (cell.high * ratio).upper()
        return cls(weight[0] * cell.p, weight[1] * cell.q, low, high, weight, cell)

    def halves(self) -> tuple[Cell, Cell] | None:
        halves = self.cell.halves()
        if halves is None:
            return None
        return _Weighted.of(self.weight, halves[0]), _Weighted.of(self.weight, halves[1])


_WHOLE = Cell(arb(1), arb(1), arb(1), arb(1))


def _single_cells(cells: PairCells) -> list[Cell]:
    weighted: list[Cell] = []
    for product in cells.products:
        parts = product.factors[0].cells if product.factors else (_WHOLE,)
        weighted += [_Weighted.of((product.p, product.q), cell) for cell in parts]
    return weighted


def _mu_of_single_numbers(cells: PairCells) -> MuEnclosure:
    """Cells that hold the ratio of the best test are cut until both ends meet (theory 6.17)."""
    waiting = _single_cells(cells)
    pieces = cut_cells(waiting, 1.0, _MOST // 4)
    pieces = cut_cells(pieces, sum(map(_width, pieces)) / _FIRST, _MOST // 2)
    best = MuEnclosure(arb(0), arb("+inf"), arb("+inf"), (arb(0), arb(0)))
    late = 0
    for _ in range(_ROUNDS):
        low = largest_of_corners(_merge(pieces))
        groups = _by_ratio(pieces)
        mus = _raise_corners(groups)
        upper = max(mus, key=float, default=arb(0)).max(low.lower)
        late = 0 if upper < best.upper else late + 1
        best = MuEnclosure(low.lower, upper.min(best.upper), low.ratio, low.masses)
        reached = low.lower * (1 + arb(_CLOSE))
        # Masses that are known to few digits do not get better with smaller cells.
        if best.upper <= reached or late > _LATE:
            break
        spans = [
            (one.high, other.low)
            for mu, (one, other) in zip(mus, pairwise(groups), strict=True)
            if not mu <= reached
        ]
        finer: list[Cell] = []
        rest: list[Cell] = []
        for piece in pieces:
            is_cut = any(piece.low <= top and piece.high >= bottom for top, bottom in spans)
            parts = piece.halves() if is_cut else None
            if parts is None:
                rest.append(piece)
            else:
                finer += parts
        if not finer or len(finer) + len(rest) > _MOST:
            break
        pieces = finer + rest
    return best


def _width(cell: Cell) -> float:
    return float((cell.high / cell.low).log())


def _merge(cells: Sequence[Cell]) -> list[Balls]:
    """Each as one output, by falling ratio."""
    atoms = [(cell.p, cell.q) for cell in cells]
    return sorted(atoms, key=lambda atom: -float((atom[0] / atom[1]).mid()))


def _by_ratio(cells: Sequence[Cell]) -> list[Cell]:
    """Masses moved to the ends of their ratios; those whose order is not certain as one."""
    atoms = [cell for cell in cells if cell.is_narrow]
    for cell in cells:
        if not cell.is_narrow:
            atoms += [Cell(p, q, r, r) for r, p, q in cell.ends() if not q.is_zero()]
    atoms.sort(key=lambda cell: float(cell.high.upper()), reverse=True)
    groups = atoms[:1]
    for cell in atoms[1:]:
        last = groups[-1]
        if cell.high.upper() < last.low.lower():
            groups.append(cell)
        else:
            low = last.low.lower().min(cell.low.lower())
            groups[-1] = Cell(last.p + cell.p, last.q + cell.q, low, last.high.max(cell.high))
    return groups


def _raise_corners(groups: Sequence[Cell]) -> list[arb]:
    """A bound of mu at each corner between groups, raised so that chords are above the curve.

    Within a group the curve exceeds its chord by at most (high - low) q (theory 6.17).
    """
    by_how_much = [((cell.high.upper() - cell.low.lower()) * cell.q).upper() for cell in groups]
    inside, outside = (_sums(side) for side in (groups, groups[::-1]))
    raised = []
    for k in range(1, len(groups)):
        more = by_how_much[k - 1].max(by_how_much[k])
        (p, q), (p_rest, q_rest) = inside[k - 1], outside[len(groups) - k - 1]
        mu = gaussian_quantile(p + more, p_rest - more) - gaussian_quantile(q, q_rest)
        raised.append(mu.upper() if mu.is_finite() else arb("+inf"))
    return raised


def _sums(groups: Sequence[Cell]) -> list[Balls]:
    return list(accumulate(((cell.p, cell.q) for cell in groups), _plus))


def _plus(one: Balls, other: Balls) -> Balls:
    return one[0] + other[0], one[1] + other[1]


def cut_cells(cells: Sequence[Cell], width: float, most: int) -> list[Cell]:
    """Cells cut in halves until the log of the ratio moves by no more, or ``most`` are there."""
    waiting, fine = list(cells), list[Cell]()
    while waiting:
        cell = waiting.pop()
        is_fine = _width(cell) <= width or len(waiting) + len(fine) >= most
        parts = None if is_fine else cell.halves()
        if parts is None:
            fine.append(cell)
        else:
            waiting += parts
    return fine


def bracket_of_cells(
    cells: PairCells, points: int = _POINTS
) -> tuple[LikelihoodPair, LikelihoodPair]:
    """A pair that nothing gains by, and one that dominates; losses of the second are on a grid.

    Below, a cell is moved to one of the two grid losses next to its own by a coin that is the same
    under both laws: a map of the output. Above, its masses are moved to grid losses around all of
    its own. Independent numbers of an output add up on the grid (theory 6.17).
    """
    with precision(BITS):
        _require_no_bells(cells)
        reach = max((_reach(product) for product in cells.products), default=0.0)
        step = Fraction(2) ** math.ceil(math.log2(max(2 * reach, 1e-9) / points))
        below: tuple[_Row, _Row] = ({}, {})
        above: _Row = {}
        alone = [cells.left_only, cells.right_only]
        for product in cells.products:
            parts = [cut_cells(part.cells, float(step), 4 * points) for part in product.factors]
            parts.append([_Weighted.of((product.p, product.q), _WHOLE)])
            for k, row in enumerate(_product([_round(part, step) for part in parts])):
                _add(below[k], row)
            _add(above, _product([(_move_out(part, step),) for part in parts])[0])
            for k, mass in enumerate(_only(product)):
                alone[k] += mass
        size = exact_ball(step)
        lower = [(below[0][k], below[1][k]) for k in sorted(below[0], reverse=True)]
        upper = [(above[k], above[k] * (-size * k).exp()) for k in sorted(above, reverse=True)]
    return _list(lower, alone), _list(upper, alone)


#: Masses by grid loss, in steps.
_Row = dict[int, arb]


def _list(atoms: list[Balls], alone: list[arb]) -> LikelihoodPair:
    kept = [(p, q) for p, q in atoms if not (p.is_zero() and q.is_zero())]
    return LikelihoodPair(None, lambda: kept, alone[0], alone[1])


def _reach(one: CellProduct) -> float:
    """The largest loss, or a little more; UnsupportedForm where it is not known."""
    reach = abs(float((one.p / one.q).log()))
    for part in one.factors:
        cells = cut_cells(part.cells, 1.0, _FEW * max(len(part.cells), 1))
        ends = [abs(float(end.log())) for cell in cells for end in (cell.low, cell.high)]
        reach += max(ends, default=0.0)
    if not math.isfinite(reach):
        raise UnsupportedForm("densities whose ratio has no bound")
    return reach


def _only(one: CellProduct) -> tuple[arb, arb]:
    """What a description has under one of the laws alone."""
    both = [[sum((getattr(c, k) for c in f.cells), arb(0)) for f in one.factors] for k in "pq"]
    more = [[f.left_only for f in one.factors], [f.right_only for f in one.factors]]
    masses = []
    for mass, cells, alone in zip((one.p, one.q), both, more, strict=True):
        inside = everything = arb(1)
        for own, extra in zip(cells, alone, strict=True):
            inside, everything = inside * own, everything * (own + extra)
        masses.append(
            mass * (everything - inside) if any(not x.is_zero() for x in alone) else arb(0)
        )
    return masses[0], masses[1]


def _round(cells: Sequence[Cell], step: Fraction) -> tuple[_Row, _Row]:
    rows: tuple[_Row, _Row] = ({}, {})
    for cell in cells:
        place = float((cell.p / cell.q).log().mid()) / float(step)
        first = math.floor(place)
        share = arb(place - first)
        for row, mass in zip(rows, (cell.p, cell.q), strict=True):
            row[first] = row.get(first, arb(0)) + mass * (1 - share)
            row[first + 1] = row.get(first + 1, arb(0)) + mass * share
    return rows


def _move_out(cells: Sequence[Cell], step: Fraction) -> _Row:
    row: _Row = {}
    size = exact_ball(step)
    for cell in cells:
        first = math.floor(float((cell.low.log() / size).lower()) - 1e-9)
        last = math.ceil(float((cell.high.log() / size).upper()) + 1e-9)
        low, high = (size * first).exp(), (size * last).exp()
        far = ((cell.p - low * cell.q) / (high - low) * high).max(arb(0)).min(cell.p)
        row[last] = row.get(last, arb(0)) + far
        row[first] = row.get(first, arb(0)) + cell.p - far
    return row


def _product(factors: list[tuple[_Row, ...]]) -> tuple[_Row, ...]:
    rows = []
    for several in zip(*factors, strict=True):
        total, first = arb_poly([1]), 0
        for row in several:
            start = min(row)
            cells = [row.get(k, arb(0)) for k in range(start, max(row) + 1)]
            total, first = total * arb_poly(cells), first + start
        rows.append({first + k: mass for k, mass in enumerate(total.coeffs())})
    return tuple(rows)


def _add(total: _Row, row: _Row) -> None:
    for place, mass in row.items():
        total[place] = total.get(place, arb(0)) + mass
