"""Functions of the whole numbers: exponential polynomials on pieces, and how two of them compare.

On a piece that has no end a law is a sum of c n^k q^n with exact rational numbers. From some n on
it has the sign of its leader, the term of the largest q and then the largest k (T6a). The quotient
A/B of two of them rises or falls from n to n + 1 as W(n) = A(n+1) B(n) - A(n) B(n+1), which is an
exponential polynomial too: beyond an n that is found it runs to its limit one way (T6b). So the
largest quotient over all whole numbers is that of finitely many of them and of a limit, which need
not be attained. The hockey-stick divergence is a finite sum and closed sums of tails (T6c).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Any

from flint import arb, fmpq

from liptest.errors import SymbolicError, UnsupportedForm
from liptest.symbolic.densities import piece_on, stretches
from liptest.symbolic.exponential_polynomials import (
    ExactRates,
    Function,
    Piece,
    integral,
    move,
    to_list,
)

#: (q, k) -> c of c n^k q^n; no c is 0.
Terms = dict[tuple[Any, int], Any]
#: Whole numbers of one piece that are looked at one by one.
MOST_NUMBERS = 1 << 13
_ZERO, _ONE = fmpq(0), fmpq(1)
# How far out witnesses of a limit are looked for.
_DOUBLINGS = 24
# Further out two laws are not ordered.
_FARTHEST = 1 << 20


def to_whole_terms(rates: ExactRates, piece: Piece, start: Any, direction: int) -> Terms:
    """The function n -> piece(start + direction * n)."""
    terms: Terms = {}
    near = move(rates, piece.terms, start - piece.origin)
    for power, rate, coefficient in to_list(rates, near):
        base = rates.power(rate, fmpq(direction))
        key = (base, power)
        terms[key] = terms.get(key, _ZERO) + coefficient * direction**power
    return _clean(terms)


def _clean(terms: Terms) -> Terms:
    return {key: coefficient for key, coefficient in terms.items() if coefficient != 0}


def evaluate_terms(terms: Terms, n: int) -> Any:
    """The exact value at n."""
    return sum((c * fmpq(n) ** k * q**n for (q, k), c in terms.items()), _ZERO)


def shift_terms(terms: Terms, distance: int) -> Terms:
    """n -> terms(n + distance)."""
    shifted: Terms = {}
    for (q, k), c in terms.items():
        factor = c * q**distance
        for j in range(k + 1):
            part = factor * comb(k, j) * fmpq(distance) ** (k - j)
            shifted[q, j] = shifted.get((q, j), _ZERO) + part
    return _clean(shifted)


def multiply_terms(left: Terms, right: Terms) -> Terms:
    """The product of two functions."""
    product: Terms = {}
    for (p, k), c in left.items():
        for (q, j), d in right.items():
            key = (p * q, k + j)
            product[key] = product.get(key, _ZERO) + c * d
    return _clean(product)


def add_terms(left: Terms, right: Terms, factor: Any) -> Terms:
    """left + factor * right."""
    summed = dict(left)
    for key, coefficient in right.items():
        summed[key] = summed.get(key, _ZERO) + coefficient * factor
    return _clean(summed)


def leader(terms: Terms) -> tuple[Any, int]:
    """(q, k) of the term that decides far out."""
    return max(terms)


def settle(terms: Terms) -> int:
    """An N such that from N on the function, not 0, has the sign of its leader (T6a).

    Raises SymbolicError where it cannot be looked at.
    """
    q, degree = first = leader(terms)
    size = abs(arb(terms[first]))
    others = [
        (arb(base / q), power - degree, abs(arb(coefficient)))
        for (base, power), coefficient in terms.items()
        if (base, power) != first
    ]
    n = 1
    while n <= _FARTHEST:
        rest = arb(0)
        for ratio, excess, coefficient in others:
            if excess > 0 and not arb(excess) <= -n * ratio.log():
                rest = arb("inf")
                break
            rest += coefficient * arb(n) ** excess * ratio**n
        if rest < size:
            return n
        n *= 2
    raise SymbolicError(
        "where two laws of whole numbers are ordered for good was not found; use noise of rates "
        "that are further apart"
    )


@dataclass(frozen=True)
class Extreme:
    """A quotient of two laws: its value, None without bound, and whole numbers on the way to it.

    Only the last of several numbers, or none of them, need attain it.
    """

    value: Any
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class QuotientExtremes:
    """The largest and the smallest quotient A/B over all whole numbers where one is not 0."""

    largest: Extreme
    smallest: Extreme

    @property
    def are_one(self) -> bool:
        """Whether A and B are the same."""
        return bool(self.largest.value == 1 and self.smallest.value == 1)


class _Extremes:
    """What was seen of a quotient so far."""

    def __init__(self) -> None:
        self._largest: Extreme | None = None
        self._smallest: Extreme | None = None

    def see(self, above: Any, below: Any, *numbers: int) -> None:
        """A quotient above/below, where not both are 0."""
        if below == 0:
            self._largest = _make_unbounded(self._largest, numbers)
        elif self._largest is None or _is_above(above / below, self._largest.value):
            self._largest = Extreme(above / below, numbers)
        if above == 0:
            self._smallest = _make_unbounded(self._smallest, numbers)
        elif self._smallest is None or _is_above(below / above, self._smallest.value):
            self._smallest = Extreme(below / above, numbers)

    def found(self) -> QuotientExtremes | None:
        """None where nothing was seen."""
        if self._largest is None or self._smallest is None:
            return None
        value = self._smallest.value
        smallest = Extreme(_ZERO if value is None else 1 / value, self._smallest.numbers)
        return QuotientExtremes(self._largest, smallest)


def _make_unbounded(known: Extreme | None, numbers: tuple[int, ...]) -> Extreme:
    # The first output that only one law has is the simplest to show.
    attained = known is not None and known.value is None and len(known.numbers) == 1
    return known if known is not None and attained else Extreme(None, numbers)


def _is_above(one: Any, known: Any) -> bool:
    return known is not None and bool(one > known)


def quotient_extremes(rates: ExactRates, above: Function, below: Function) -> QuotientExtremes:
    """Of above/below over all whole numbers where one of them is not 0."""
    seen = _Extremes()
    for piece in parts_of_pair(rates, above, below):
        _look(seen, piece)
    extremes = seen.found()
    if extremes is None:
        raise SymbolicError("two laws of whole numbers without any number are compared")
    return extremes


@dataclass(frozen=True)
class PairPart:
    """Both laws on start + direction * n for n = 0, 1, .., below ``count`` (None: for ever)."""

    above: Terms
    below: Terms
    start: int
    direction: int
    count: int | None

    def number(self, n: int) -> int:
        return self.start + self.direction * n


def parts_of_pair(rates: ExactRates, above: Function, below: Function) -> Iterator[PairPart]:
    """Both laws between two ends of their pieces each, and beyond the last ones."""
    for low, high in stretches(above, below):
        pieces = [piece_on(function, low, high) for function in (above, below)]
        if pieces == [None, None]:
            continue
        if low is None and high is None:
            raise SymbolicError("a law of whole numbers that is one piece from end to end")
        start, direction = (high - 1, -1) if low is None else (low, 1)
        count = None if low is None or high is None else int((high - low).p)
        terms = [
            {} if piece is None else to_whole_terms(rates, piece, start, direction)
            for piece in pieces
        ]
        yield PairPart(terms[0], terms[1], int(start.p), direction, count)


def _look(seen: _Extremes, part: PairPart) -> None:
    above, below = part.above, part.below
    if not above and not below:
        return
    turn = _turn(part)
    if part.count is not None:
        _look_between(seen, part, turn, part.count)
        return
    # From here on both are above 0, and their quotient runs one way.
    last = max(settle(terms) for terms in (above, below, turn) if terms)
    _look_between(seen, part, turn, last + 1)
    if above and below:
        one, other = leader(above), leader(below)
        limit = (_ONE, _ZERO) if one > other else (_ZERO, _ONE)
        limit = (above[one], below[other]) if one == other else limit
        seen.see(*limit, *(part.number(last << k) for k in range(_DOUBLINGS)))


def quotient_beyond(part: PairPart, start: int = 0) -> tuple[int, Any, Any]:
    """(first, low, high): from first on, ``start`` or later, the quotient lies from low to high.

    For a part without an end on which both laws are. Raises UnsupportedForm where the quotient has
    no bound, or falls to 0.
    """
    above, below = part.above, part.below
    one, other = leader(above), leader(below)
    if one != other:
        raise UnsupportedForm("whole numbers whose quotient has no bound in a tail")
    turn = _turn(part)
    limit = above[one] / below[other]
    if not turn and evaluate_terms(above, 0) == limit * evaluate_terms(below, 0):
        return start, limit, limit
    first = max(start, *(settle(some) for some in (above, below, turn) if some))
    near = evaluate_terms(above, first) / evaluate_terms(below, first)
    return first, min(near, limit), max(near, limit)


def _turn(part: PairPart) -> Terms:
    """Above 0 where the quotient rises from n to n + 1."""
    return add_terms(
        multiply_terms(shift_terms(part.above, 1), part.below),
        multiply_terms(part.above, shift_terms(part.below, 1)),
        -_ONE,
    )


def _look_between(seen: _Extremes, part: PairPart, turn: Terms, count: int) -> None:
    """All n below ``count``; where the quotient certainly runs one way, the ends of a span."""
    waiting, looked = [(0, count)], 0
    while waiting:
        low, high = waiting.pop()
        looked += 1
        if looked > 2 * MOST_NUMBERS:
            raise SymbolicError(f"two laws are compared on {count:,} whole numbers one by one")
        if high - low <= 2 or _runs_one_way(part, turn, low, high - 1):
            for n in dict.fromkeys((low, high - 1)):
                ends = evaluate_terms(part.above, n), evaluate_terms(part.below, n)
                if ends != (0, 0):
                    seen.see(*ends, part.number(n))
            continue
        middle = (low + high) // 2
        waiting += [(middle, high), (low, middle)]


def _runs_one_way(part: PairPart, turn: Terms, low: int, high: int) -> bool:
    """Whether both laws are above 0 from low to high and the quotient rises, falls or stays."""
    if not (part.above and part.below):
        return False
    if not (_sign_on(part.above, low, high) > 0 and _sign_on(part.below, low, high) > 0):
        return False
    return not turn or _sign_on(turn, low, high) != 0


def _sign_on(terms: Terms, low: int, high: int) -> int:
    """The sign of a function on all real n from low to high; 0 where that is not certain."""
    q, _ = leader(terms)
    total, box = arb(0), arb(low).union(arb(high))
    for (base, power), coefficient in terms.items():
        ratio = arb(base / q)
        total += arb(coefficient) * box**power * (ratio**low).union(ratio**high)
    return int(total > 0) - int(total < 0)


@dataclass(frozen=True)
class WholeExcess:
    """The sum of (A - factor B)+ as a ball, and spans [low, high) on which A is the larger one."""

    size: arb
    where: tuple[tuple[int | None, int | None], ...]


def find_excess(rates: ExactRates, above: Function, below: Function, factor: arb) -> WholeExcess:
    """Of one law over ``factor`` times another, over all whole numbers."""
    size = arb(0)
    where: list[tuple[int | None, int | None]] = []
    for part in parts_of_pair(rates, above, below):
        excess, spans = _excess_on(part, factor)
        size += excess
        where += spans
    return WholeExcess(size, tuple(join_spans(where)))


def _excess_on(part: PairPart, factor: arb) -> tuple[arb, list[tuple[int | None, int | None]]]:
    if not part.above:
        return arb(0), []
    if part.count is None and not part.below:
        return sum_beyond(part.above, 0), [_span(part, 0, None)]
    count, size = part.count, arb(0)
    spans = []
    if count is None:
        count, beyond = _beyond(part, factor)
        size += beyond
        if beyond > 0:
            spans.append(_span(part, count, None))
    if count > MOST_NUMBERS:
        raise SymbolicError(f"two laws differ on {count:,} whole numbers one by one")
    for n in range(count):
        gap = arb(evaluate_terms(part.above, n)) - factor * arb(evaluate_terms(part.below, n))
        if gap > 0:
            size += gap
            spans.append(_span(part, n, n + 1))
        elif not gap <= 0:
            size += arb(0).union(gap.upper())
    return size, spans


def _beyond(part: PairPart, factor: arb) -> tuple[int, arb]:
    """(count, what the numbers from there on add), where the sign of the gap is settled."""
    one, other = leader(part.above), leader(part.below)
    if one > other:
        sign = 1
    elif one < other:
        sign = -1
    else:
        gap = arb(part.above[one]) - factor * arb(part.below[other])
        sign = 1 if gap > 0 else -1 if gap < 0 else 0
    if sign:
        last = _settle_gap(part, factor, sign)
        if last is not None:
            if sign < 0:
                return last, arb(0)
            return last, sum_beyond(part.above, last) - factor * sum_beyond(part.below, last)
    last = 1
    while last <= MOST_NUMBERS:
        rest = sum_beyond(part.above, last)
        if rest < _NOTHING:
            return last, arb(0).union(rest.upper())
        last *= 2
    raise SymbolicError("where one law of whole numbers exceeds another was not found")


_NOTHING = arb(2) ** -220


def _settle_gap(part: PairPart, factor: arb, sign: int) -> int | None:
    """T6a for above - factor * below, whose coefficients are balls."""
    coefficients: dict[tuple[Any, int], arb] = {key: arb(c) for key, c in part.above.items()}
    for key, c in part.below.items():
        coefficients[key] = coefficients.get(key, arb(0)) - factor * arb(c)
    first = max(leader(part.above), leader(part.below))
    size = coefficients.pop(first) * sign
    if not size > 0:
        return None
    n = 1
    while n <= MOST_NUMBERS:
        rest = arb(0)
        for (base, power), coefficient in coefficients.items():
            ratio, more = arb(base / first[0]), power - first[1]
            if more > 0 and not arb(more) <= -n * ratio.log():
                rest = arb("inf")
                break
            rest += abs(coefficient) * arb(n) ** more * ratio**n
        if rest < size:
            return n
        n *= 2
    return None


def sum_beyond(terms: Terms, start: int) -> arb:
    """The sum from ``start`` on (T6c)."""
    total = _ZERO
    for (q, k), c in shift_terms(terms, start).items():
        if q >= 1:
            raise SymbolicError("a law of whole numbers that does not fall")
        total += c * _power_sum(q, k)
    return arb(total)


def _power_sum(q: Any, k: int) -> Any:
    """Sum of n^k q^n over n = 0, 1, ..: sum over j of S(k, j) j! q^j / (1 - q)^(j + 1)."""
    numbers = [1]
    for _ in range(k):
        wider = [0, *numbers]
        numbers = [
            (j * numbers[j] if j < len(numbers) else 0) + wider[j] for j in range(len(wider))
        ]
    total, factorial = _ZERO, 1
    for j, stirling in enumerate(numbers):
        factorial *= max(j, 1)
        total += stirling * factorial * q**j / (1 - q) ** (j + 1)
    return total


def _span(part: PairPart, first: int, end: int | None) -> tuple[int | None, int | None]:
    near = part.number(first)
    if part.direction > 0:
        return near, None if end is None else part.number(end)
    return None if end is None else part.number(end) + 1, near + 1


def join_spans(
    spans: list[tuple[int | None, int | None]],
) -> Iterator[tuple[int | None, int | None]]:
    """Spans in order, those that meet as one."""
    pending: tuple[int | None, int | None] | None = None
    for low, high in sorted(spans, key=lambda span: (span[0] is not None, span[0] or 0)):
        if pending is not None and pending[1] is not None and pending[1] == low:
            pending = pending[0], high
            continue
        if pending is not None:
            yield pending
        pending = low, high
    if pending is not None:
        yield pending


class WholeMasses:
    """The values of a function at whole numbers: each of its pieces is expanded once."""

    def __init__(self, rates: ExactRates, function: Function) -> None:
        self._pieces = [
            (piece, to_whole_terms(rates, piece, piece.origin, 1)) for piece in function
        ]

    def at(self, number: int) -> Any:
        """The exact value at one number."""
        return evaluate_terms(*self._terms_at(number))

    def near(self, number: int) -> arb:
        """The same as a ball: far out, where the exact one is long."""
        terms, n = self._terms_at(number)
        return sum((arb(c) * arb(n) ** k * arb(q) ** n for (q, k), c in terms.items()), arb(0))

    def _terms_at(self, number: int) -> tuple[Terms, int]:
        for piece, terms in self._pieces:
            below = piece.low is not None and number < piece.low
            if not below and (piece.high is None or number < piece.high):
                return terms, int(number - piece.origin.p)
        return {}, 0


def tail_mass(rates: ExactRates, function: Function, low: int | None, high: int | None) -> arb:
    """The mass on [low, high)."""
    mass = _ZERO
    for piece in function:
        bottom = piece.low if low is None else low if piece.low is None else max(piece.low, low)
        top = piece.high if high is None else high if piece.high is None else min(piece.high, high)
        if bottom is not None and top is not None and bottom >= top:
            continue
        mass += _piece_mass(rates, piece, bottom, top)
    return arb(mass)


def _piece_mass(rates: ExactRates, piece: Piece, low: Any, high: Any) -> Any:
    ends = (None if end is None else fmpq(end) - piece.origin for end in (low, high))
    return integral(rates, piece.terms, *ends)
