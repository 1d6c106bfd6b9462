"""What a path costs over all differences: blocks add up at the same difference.

docs/theory/size.md, S5. Blocks share no noise, so for one difference the cheapest shift of a path
is that of each block, and prices add up. The price is a convex function of the difference unless
whole noise is shifted, and never more for a sum of differences than for both alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from liptest.symbolic.answers import Differences, Move, subtract_moves
from liptest.symbolic.forms import Rational, lean
from liptest.symbolic.linear_programs import ShiftBound, ShiftProgram, Shifts, find_shifts
from liptest.symbolic.long_paths import LongShift
from liptest.symbolic.path_programs import Block, PathRow
from liptest.symbolic.robust_shifts import RobustShift, find_robust_shifts
from liptest.symbolic.shifts import ShiftCost, total_price

#: Corners of a box, or whole points in it, that are tried one by one.
MOST_POINTS = 64
#: Differences times conditions of one block that are tried one by one.
MOST_ROWS = 3000
# Pairs of rows whose prices are added up before a bound is used for the others.
_MOST_PAIRS = 200_000
_FEW = 5


@dataclass(frozen=True)
class BlockShift:
    """Of one block: the shifts at ``move``, or for all differences (``robust``)."""

    block: Block
    move: Move
    robust: RobustShift | None = None

    def shifts(self) -> Shifts:
        """At the move."""
        if self.robust is None:
            return BlockPrice(self.block).shifts_at(dict(self.move)) or {}
        shifts = dict(self.robust.constants)
        moved = dict(self.move)
        for v, slope in self.robust.slopes.items():
            step = sum((factor * moved.get(i, 0) for i, factor in slope.items()), Fraction(0))
            shifts[v] = lean(Fraction(shifts.get(v, 0) + step))
        return {v: shift for v, shift in shifts.items() if shift}


@dataclass(frozen=True)
class Total:
    """An upper bound of a price over many differences; None is infinite. ``move`` is a dear one."""

    price: Fraction | None
    move: Move = ()
    parts: tuple[BlockShift | LongShift, ...] = ()


class BlockPrice:
    """The price of one block at one difference, remembered."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self._variables = sorted(block.costs)
        self._at = {v: number for number, v in enumerate(self._variables)}
        self._costs = tuple(block.costs[v] for v in self._variables)
        self._known: dict[tuple[tuple[int, Rational], ...], Fraction | None] = {}

    def price_at(self, moved: Mapping[int, Rational]) -> Fraction | None:
        """None is infinite."""
        answers = self.block.answers
        some = moved if len(moved) <= len(answers) else answers
        key = tuple(sorted((i, moved[i]) for i in some if i in answers and moved.get(i)))
        if not key:
            return Fraction(0)
        if key not in self._known:
            self._known[key] = self._price(dict(key))
        return self._known[key]

    def _price(self, moved: Mapping[int, Rational]) -> Fraction | None:
        shifts = self.shifts_at(moved)
        return None if shifts is None else total_price(self.block.costs, shifts)

    def shifts_at(self, moved: Mapping[int, Rational]) -> Shifts | None:
        """The cheapest shifts for a difference; None where there are none."""
        block = self.block
        if not block.conditions and len(block.equations) == len(self._costs) == 1:
            (v, factor), need = block.equations[0].noise[0], _need(block.equations[0], moved)
            shift = lean(Fraction(need) / factor) if need else 0
            return None if block.costs[v].price(shift) is None else {v: shift} if shift else {}
        at_least, exactly = (
            tuple(
                ShiftBound(tuple((self._at[v], f) for v, f in row.noise), _need(row, moved))
                for row in rows
            )
            for rows in (block.conditions, block.equations)
        )
        solution = find_shifts(ShiftProgram(self._costs, at_least, exactly))
        if solution is None:
            return None
        return {self._variables[number]: shift for number, shift in solution.shifts.items()}


def _need(row: PathRow, moved: Mapping[int, Rational]) -> Rational:
    return -sum((factor * moved[i] for i, factor in row.answers if i in moved), 0)


def price_blocks(
    blocks: Sequence[Block], differences: Differences, *, wanted: Fraction | None = None
) -> Total:
    """The price of all together; where it exceeds ``wanted``, more is tried."""
    core, box = differences.without_box(), differences.only_box()
    totals = []
    if any(core.rows):
        totals.append(_price_of_rows(blocks, core, wanted))
    if differences.box:
        totals.append(_price_of_box(blocks, box))
    total = _add_up(totals)
    if len(totals) == 1 or total.price is None or wanted is None or total.price <= wanted:
        return total
    # A shift for both at once: what a row moves is not always dearest where the box is.
    return min(total, _add_up([_robust(block, differences) for block in blocks]), key=_size)


def _price_of_box(blocks: Sequence[Block], box: Differences) -> Total:
    points = _points(blocks, box)
    if points is not None:
        return _dearest(_Sum([BlockPrice(block) for block in blocks]), points)
    return _add_up([_block_in_box(block, box) for block in blocks])


def _block_in_box(block: Block, box: Differences) -> Total:
    points = _points([block], box)
    if points is not None:
        return _dearest(_Sum([BlockPrice(block)]), points)
    totals = [_robust(block, box)]
    if block.shifts_whole_noise:
        without = block.without_whole_noise()
        corners = _points([without], box)
        if corners is not None:
            totals.append(_dearest(_Sum([BlockPrice(without)]), corners))
        else:
            totals.append(_robust(without, box))
    return min(totals, key=_size)


def _points(blocks: Sequence[Block], box: Differences) -> Iterator[Move] | None:
    """Differences that are enough: all whole ones, or, for convex prices, the corners."""
    answers = {i for block in blocks for i in block.answers}
    bounds = [(i, bound) for i, bound in box.box if i in answers]
    if not any(block.shifts_whole_noise for block in blocks):
        corners = box.find_corners(answers, MOST_POINTS)
        return None if corners is None else iter(corners)
    if not box.is_whole or prod(2 * int(bound) + 1 for _, bound in bounds) > MOST_POINTS:
        return None
    ranges = [[Fraction(step) for step in range(-int(b), int(b) + 1)] for _, b in bounds]
    moves = (
        tuple((i, by) for (i, _), by in zip(bounds, point, strict=True) if by)
        for point in product(*ranges)
    )
    return filter(box.is_one_sided, moves)


def _price_of_rows(blocks: Sequence[Block], core: Differences, wanted: Fraction | None) -> Total:
    """One by one where they are few, each block at its worst where they are many."""
    pieces: list[BlockPrice] = []
    aside: list[Total] = []
    for block in blocks:
        exact = block
        if block.shifts_whole_noise and core.is_between(block.answers):
            # A constant, or none at all: what lies between the ends is not whole.
            exact = block.without_whole_noise()
            total = _robust(block, core)
            if total.price is not None:
                aside.append(total)
                continue
        if _count(core, block) * block.size <= MOST_ROWS:
            pieces.append(BlockPrice(exact))
            continue
        total = _robust(block, core)
        too_dear = total.price is None or (wanted is not None and total.price > wanted)
        if too_dear and _count(core, block) * block.size <= 100 * MOST_ROWS:
            pieces.append(BlockPrice(exact))
        else:
            aside.append(total)
    joint = _dearest_row(_Sum(pieces), core, wanted)
    return _add_up([joint, *aside])


def _count(core: Differences, block: Block) -> int:
    """Differences that a block can tell apart, at most."""
    if not block.conditions and len(block.equations) == 1 and len(block.costs) == 1:
        return 1  # no program is needed
    rows = len(core.distinct_rows(block.answers))
    return rows * (rows - 1) if core.relation == "replaced" else 2 * rows


def _robust(block: Block, differences: Differences) -> Total:
    totals = []
    for robust in find_robust_shifts(block, differences):
        sloping = _price_of_slopes(block, robust, differences)
        price = None if sloping.price is None else robust.price + sloping.price
        totals.append(Total(price, robust.move, (BlockShift(block, robust.move, robust),)))
    return min(totals, key=_size) if totals else Total(None, _hopeless_move(block, differences))


def _hopeless_move(block: Block, differences: Differences) -> Move:
    """A difference for which no shift is found, if a few tries show one."""
    piece = BlockPrice(block)
    for row in (*block.equations, *block.conditions)[:_FEW]:
        for side in (1, -1):
            move = differences.find_largest({i: side * factor for i, factor in row.answers})
            tried = [move]
            if differences.is_between(block.answers) or not any(differences.rows):
                tried.append(tuple((i, by / 2) for i, by in move))
            for candidate in tried:
                if piece.price_at(dict(candidate)) is None:
                    return candidate
    return ()


def _price_of_slopes(block: Block, found: RobustShift, differences: Differences) -> Total:
    """At most what ``S t`` costs, beside the constants.

    Noise that moves to the right only costs its rate times ``s0 + S t``, which is its rate times
    both; what ``S t`` takes away is not counted. That shifts are whole is known already.
    """
    costs = {}
    for v in found.slopes:
        cost = block.costs[v]
        costs[v] = ShiftCost(cost.right, Fraction(0) if cost.left is None else cost.left)
    if len(costs) > 1:
        alone = [
            Block({v: cost}, (), (PathRow(((v, -1),), tuple(sorted(found.slopes[v].items()))),))
            for v, cost in costs.items()
        ]
        return price_blocks(alone, differences)
    total = Fraction(0)
    for v, cost in costs.items():
        for sign, rate in ((1, cost.right), (-1, cost.left)):
            assert rate is not None
            slope = {i: sign * factor for i, factor in found.slopes[v].items()}
            total = max(total, rate * differences.largest(slope))
    return Total(total)


class _Sum:
    """The prices of several blocks at one difference, added up."""

    def __init__(self, pieces: Sequence[BlockPrice]) -> None:
        self.pieces = pieces
        self._by_answer: dict[int, list[int]] = {}
        for number, piece in enumerate(pieces):
            for i in piece.block.answers:
                self._by_answer.setdefault(i, []).append(number)

    @property
    def answers(self) -> Iterable[int]:
        """All that occur."""
        return self._by_answer

    def price_at(self, moved: Mapping[int, Rational]) -> Fraction | None:
        """None is infinite."""
        total = Fraction(0)
        for number in sorted({n for i in moved for n in self._by_answer.get(i, ())}):
            price = self.pieces[number].price_at(moved)
            if price is None:
                return None
            total += price
        return total

    def at_move(self, price: Fraction | None, move: Move) -> Total:
        """With what is needed to name the shifts."""
        moved = {i for i, _ in move}
        moving = [piece.block for piece in self.pieces if not moved.isdisjoint(piece.block.answers)]
        return Total(price, move, tuple(BlockShift(block, move) for block in moving))


def _dearest(pieces: _Sum, moves: Iterable[Move]) -> Total:
    best = Fraction(0)
    at: Move = ()
    for move in moves:
        price = pieces.price_at({i: lean(by) for i, by in move})
        if price is None:
            return Total(None, move)
        if price > best:
            best, at = price, move
    return pieces.at_move(best, at)


def _dearest_row(pieces: _Sum, core: Differences, wanted: Fraction | None) -> Total:
    """Of pairs of rows the dearest first, until no other can be dearer.

    The price of a difference of two rows is at most that of one and of the other's opposite. Where
    pairs are too many for all, each block at its own worst is enough if ``wanted`` allows it.
    """
    if core.relation != "replaced":
        return _dearest(pieces, core.moves(pieces.answers))
    rows = core.distinct_rows(pieces.answers)
    if len(rows) > MOST_POINTS and not any(
        piece.block.shifts_whole_noise for piece in pieces.pieces
    ):
        rows = extreme_rows(rows)
    apart = None
    if len(rows) * (len(rows) - 1) > _MOST_PAIRS:
        apart = _each_at_its_worst(pieces, core)
        if apart is not None and wanted is not None and (apart.price or 0) <= wanted:
            return apart
    there, back = [], []
    for row in rows:
        prices = [pieces.price_at({i: sign * lean(by) for i, by in row}) for sign in (1, -1)]
        if prices[0] is None or prices[1] is None:
            return _dearest(pieces, core.moves(pieces.answers))
        there.append(prices[0])
        back.append(prices[1])
    left, right = (
        sorted(zip(some, range(len(rows)), strict=True), reverse=True) for some in (there, back)
    )
    best, tried = Fraction(0), 0
    at: Move = ()
    for above, w in left:
        for below, v in right:
            limit = above + below
            if limit <= best:
                break
            if tried == _MOST_PAIRS:
                most = max(best, limit, left[0][0] + right[0][0])
                return pieces.at_move(min(most, apart.price) if apart and apart.price else most, at)
            tried += v != w
            move = subtract_moves(rows[w], rows[v])
            price = pieces.price_at({i: lean(by) for i, by in move})
            if price is None:
                return Total(None, move)
            if price > best:
                best, at = price, move
    return pieces.at_move(best, at)


def extreme_rows(rows: Sequence[Move]) -> list[Move]:
    """Rows of one or two answers: the corners of their convex hull; others as they are.

    The price of a difference of two rows is convex in both, so it is dearest at corners.
    """
    answers = sorted({i for row in rows for i, _ in row})
    if not 0 < len(answers) <= 2:
        return list(rows)
    points = {}
    for row in rows:
        moved = dict(row)
        points[tuple(lean(moved.get(i, Fraction(0))) for i in answers)] = row
    ordered = sorted(points)
    if len(answers) == 1:
        corners = {ordered[0], ordered[-1]}
    else:
        corners = {*_lower_hull(ordered), *_lower_hull(ordered[::-1])}
    return [row for point, row in points.items() if point in corners]


def _lower_hull(points: Sequence[tuple[Rational, ...]]) -> list[tuple[Rational, ...]]:
    """Of points in order those where the line below them bends (Andrew, 1979)."""
    hull: list[tuple[Rational, ...]] = []
    for x, y in points:
        while len(hull) > 1:
            (a, b), (c, d) = hull[-2:]
            if (c - a) * (y - b) > (d - b) * (x - a):
                break
            hull.pop()
        hull.append((x, y))
    return hull


def _each_at_its_worst(pieces: _Sum, core: Differences) -> Total | None:
    """Of blocks of one answer each; None where there are others, or one has no price.

    The price of real noise is convex, so that of one answer is worst at an end.
    """
    totals = []
    for piece in pieces.pieces:
        if len(piece.block.answers) != 1 or piece.block.shifts_whole_noise:
            return None
        (answer,) = piece.block.answers
        ends = [core.find_largest({answer: side}) for side in (1, -1)]
        total = _dearest(_Sum([piece]), [_only(answer, move) for move in ends])
        if total.price is None:
            return None
        totals.append(total)
    return _add_up(totals)


def _only(answer: int, move: Move) -> Move:
    return tuple((i, by) for i, by in move if i == answer)


def _add_up(totals: Sequence[Total]) -> Total:
    """Each at its own worst."""
    move: dict[int, Fraction] = {}
    for total in totals:
        if total.price is None:
            return total
        for i, by in total.move:
            move.setdefault(i, by)
    parts = tuple(part for total in totals for part in total.parts)
    price = sum((total.price or Fraction(0) for total in totals), Fraction(0))
    return Total(price, tuple(sorted(move.items())), parts)


def _size(total: Total) -> tuple[bool, Fraction]:
    return total.price is None, total.price or Fraction(0)
