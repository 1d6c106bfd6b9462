"""What comparisons with noise tell of a sum of the data that lies between two numbers.

The probability of a path is a log-concave function of the sums that its conditions ask for
(Prekopa, 1973), so the loss of neighbours is largest where a sum is least or greatest, and is
bounded there in balls (docs/theory/tables.md, B11). No noise has to be shifted: probabilities that
depend on the data, ``rng.random() < p(sum)``, have a price, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import islice

from flint import arb

from liptest.balls import CERTIFIED_BITS, ball, precision
from liptest.errors import SymbolicError, UnsupportedForm
from liptest.symbolic.alignment import Price, find_bare_move
from liptest.symbolic.answers import (
    AlignedPath,
    Answer,
    Differences,
    ManyDifferences,
    Move,
    find_parts,
    largest_step,
    span_with_rounding,
)
from liptest.symbolic.block_prices import price_blocks
from liptest.symbolic.forms import Constraint, Rational
from liptest.symbolic.noise import Noise
from liptest.symbolic.path_programs import Block, RowReader, find_blocks
from liptest.symbolic.probability import System
from liptest.symbolic.shifts import upper_end

# Paths that are looked at, and how far floats take a comparison of ``rng.random()``.
_MOST_PATHS, _OFF = 1000, Fraction(1, 1 << 48)
_ANY = Noise("uniform", Fraction(1))
Ends = tuple[Fraction, Fraction]
#: What neighbours change: so many times a difference of each part, added up.
Parts = Sequence[tuple[int, Differences]]


def price_by_ends(
    paths: Iterable[AlignedPath], differences: Differences | ManyDifferences
) -> Price | None:
    """The price where sums between known ends are compared with noise; None where none are.

    Blocks that no answer is compared in, or that are released, cost what a shift of their noise
    does.
    """
    listed = list(islice(paths, _MOST_PATHS + 1))
    if len(listed) > _MOST_PATHS:
        return None
    parts = find_parts(differences)
    reader, best, at, prices = RowReader(), Fraction(0), 0, _Prices(parts)
    for number, path in enumerate(listed):
        blocks, conditions, equations = find_blocks(path, reader)
        for rows, sides in ((conditions, (-1,)), (equations, (1, -1))):
            if any(find_bare_move(path, rows, part, sides) is not None for _, part in parts):
                return None
        price = prices.of_path(path, blocks)
        if price is None:
            return None
        if price > best:
            best, at = price, number
    return Price(best, path=at, move=prices.dearest, is_by_ends=True) if prices.is_used else None


class _Prices:
    """Prices of blocks, remembered by what they ask."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.dearest: Move = ()
        #: Whether a block was priced that answers are compared in.
        self.is_used = False
        self._known: dict[object, Fraction | None] = {}

    def of_path(self, path: AlignedPath, blocks: Sequence[Block]) -> Fraction | None:
        """Each block at its own worst; None is infinite."""
        others, total = [], Fraction(0)
        for block in blocks:
            price = self._of_block(path, block)
            if price is None:
                others.append(block)
            else:
                total += price
        if not others:
            return total
        for times, part in self.parts:
            shifted = price_blocks(others, part).price
            if shifted is None:
                return None
            total += times * shifted
        return total

    def _of_block(self, path: AlignedPath, block: Block) -> Fraction | None:
        asked = tuple(
            condition
            for condition in path.conditions
            if not block.costs.keys().isdisjoint(_own(condition))
        )
        told = {v for place in path.places for v, _ in place.terms}
        if told & block.costs.keys() or any(path.noises[v].is_discrete for v in block.costs):
            return None
        key = asked, tuple(path.noises[v] for condition in asked for v, _ in condition.terms)
        if key not in self._known:
            threshold = _find_threshold(path, asked, self.parts)
            self._known[key] = None if threshold is None else threshold.price()
            self.is_used |= self._known[key] is not None and bool(threshold and threshold.factors)
            if threshold is not None and self._known[key]:
                self.dearest = self.parts[0][1].find_largest(threshold.factors)
        return self._known[key]


def _own(condition: Constraint) -> set[int]:
    return {v for v, _ in condition.terms}


def _find_threshold(
    path: AlignedPath, asked: Sequence[Constraint], parts: Parts
) -> _Threshold | None:
    """None where the conditions ask for sums of different kinds, or for one without ends."""
    factors: dict[int, Rational] = {}
    rows: list[tuple[Constraint, Fraction]] = []
    ends: dict[int, Ends] = {}
    for condition in asked:
        factors_left: dict[int, Rational] = {}
        for v, factor in condition.terms:
            what = path.noises[v]
            if isinstance(what, Answer):
                factors_left[what.number] = factors_left.get(what.number, 0) + factor
                reach = span_with_rounding(what, parts)
                if reach is None:
                    return None
                ends[what.number] = reach
        factors_left = {n: factor for n, factor in factors_left.items() if factor}
        factors = factors or factors_left
        by = max(
            (Fraction(factors_left.get(n, 0)) / f for n, f in factors.items()),
            default=Fraction(0),
            key=abs,
        )
        if factors_left != {n: by * factor for n, factor in factors.items() if by}:
            return None
        rows.append((condition, by))
    sides = [sorted(Fraction(factor) * end for end in ends[n]) for n, factor in factors.items()]
    step = largest_step(factors, parts)
    low, high = (sum((side[k] for side in sides), Fraction(0)) for k in (0, 1))
    return _Threshold(path, tuple(rows), factors, (low, high), step)


class _Threshold:
    """Conditions of one block: noise and multiples of one sum of the data, t.

    Parameters
    ----------
    rows
        Each condition, and which multiple of t is in it.
    factors
        By answer its factor in t.
    ends, step
        What t lies between, and by how much neighbours change it at most.
    """

    def __init__(
        self,
        path: AlignedPath,
        rows: Sequence[tuple[Constraint, Fraction]],
        factors: dict[int, Rational],
        ends: Ends,
        step: Fraction,
    ) -> None:
        self.noises = path.noises
        self.rows = rows
        self.factors = factors
        self.ends = ends
        self.step = min(step, ends[1] - ends[0])

    def price(self) -> Fraction | None:
        """The largest loss, rounded up; None where it is infinite or not known."""
        if not self.step:
            return Fraction(0)
        try:
            with precision(CERTIFIED_BITS):
                return self._price()
        except (SymbolicError, UnsupportedForm):
            return None

    def _price(self) -> Fraction | None:
        low, high = self.ends
        masses = [self._mass(end) for end in self.ends]
        if any(mass.is_zero() for mass in masses):
            return None if self._is_possible() else Fraction(0)
        rise = [self._rise(low, self.step), self._rise(high, -self.step)]
        if not all(bound.is_finite() for bound in rise):
            return None
        off = self._off()
        least = arb.min(*masses)
        if not off:
            return max(Fraction(0), *map(upper_end, rise))
        loss = ((arb.max(*rise).exp() * least + off) / (least - off)).log()
        return max(Fraction(0), upper_end(loss)) if least > off and loss.is_finite() else None

    def _rise(self, start: Fraction, step: Fraction) -> arb:
        """At most what the logarithm of the probability rises by within a step from an end.

        A concave function lies below the lines through two of its points, outside of them.
        """
        before, here, there, after = (
            self._mass(start + times * step).log() for times in (-1, 0, 1, 2)
        )
        bounds = [arb.max(near, 2 * near - far) for near, far in ((there, after), (here, before))]
        finite = [bound for bound in bounds if bound.is_finite()]
        most = finite[0] if len(finite) == 1 else arb.min(*bounds) if finite else arb("inf")
        return most - here

    def _mass(self, at: Fraction) -> arb:
        """The probability of the conditions where the sum is ``at``."""
        system = System([noise if isinstance(noise, Noise) else _ANY for noise in self.noises])
        return system.probability([self._noisy(row, by * at) for row, by in self.rows])

    def _noisy(self, condition: Constraint, known: Fraction) -> Constraint:
        terms = [(v, f) for v, f in condition.terms if isinstance(self.noises[v], Noise)]
        low, high = (
            None if end is None else end - known for end in (condition.low, condition.high)
        )
        closed = {"low_closed": condition.low_closed, "high_closed": condition.high_closed}
        return Constraint.make(terms, low, high, **closed)

    def _is_possible(self) -> bool:
        """Whether the conditions hold for any sum between the ends, with any noise."""
        low, high = self.ends
        own = len(self.noises)
        noises = [noise if isinstance(noise, Noise) else _ANY for noise in self.noises]
        asked = []
        for condition, by in self.rows:
            some = self._noisy(condition, by * low)
            scale = _scale(condition, some)
            terms = [*some.terms, (own, scale * by * (high - low))]
            closed = {"low_closed": some.low_closed, "high_closed": some.high_closed}
            asked.append(Constraint.make(terms, some.low, some.high, **closed))
        return System([*noises, _ANY]).is_possible(asked)

    def _is_uniform(self, variable: int) -> bool:
        noise = self.noises[variable]
        return isinstance(noise, Noise) and noise.family == "uniform"

    def _off(self) -> arb:
        """By how much the probability may be off, as ``rng.random()`` gives floats."""
        off = Fraction(0)
        for condition, by in self.rows:
            ends = [end for end in (condition.low, condition.high) if end is not None]
            sizes = [abs(by * end) for end in self.ends] + [abs(end) for end in ends]
            uniform = [
                abs(Fraction(factor)) for v, factor in condition.terms if self._is_uniform(v)
            ]
            if uniform:
                off += len(ends) * _OFF * (1 + max(sizes) / min(uniform))
        return ball(off)


def _scale(condition: Constraint, some: Constraint) -> Fraction:
    """What ``make`` multiplied a condition without its answers by."""
    v, factor = some.terms[0]
    return Fraction(factor) / Fraction(dict(condition.terms)[v])
