"""Functions of one variable that are sums of powers times exponentials on pieces.

The pieces are [low, high), sorted, apart from each other; elsewhere the function is 0. Ends are
exact. The terms of a piece are in t - origin, where the origin is its low end, or its high end
where there is no other, or 0: values near the piece stay small, so few digits cancel.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from flint import arb, fmpq

from liptest.symbolic.rates import Rates
from liptest.symbolic.terms import (
    ONE,
    Terms,
    from_list,
    integral,
    moved,
    product,
    scaled,
    sum_of,
    times,
    to_list,
)

_ZERO = fmpq(0)


class Piece(NamedTuple):
    """Ends, None where infinite; where the terms have their origin."""

    low: Any
    high: Any
    origin: Any
    terms: Terms


Function = list[Piece]


def origin_of(low: Any, high: Any) -> Any:
    """Where the terms of a piece have their origin."""
    return low if low is not None else high if high is not None else _ZERO


def _lower(left: Any, right: Any) -> Any:
    """The smaller of two upper ends."""
    return right if left is None else left if right is None else min(left, right)


def _upper(left: Any, right: Any) -> Any:
    """The larger of two lower ends."""
    return right if left is None else left if right is None else max(left, right)


def restricted(rates: Rates, piece: Piece, low: Any, high: Any, shift: Any) -> Terms:
    """The terms on [low, high), with the origin of that, of the function moved up by shift."""
    return moved(rates, piece.terms, origin_of(low, high) - piece.origin - shift)


def multiplied(
    rates: Rates, left: Function, left_shift: Any, right: Function, right_shift: Any
) -> Function:
    """t -> left(t - left_shift) * right(t - right_shift)."""
    found: Function = []
    i = j = 0
    while i < len(left) and j < len(right):
        one, other = left[i], right[j]
        one_low, one_high = _plus(one.low, left_shift), _plus(one.high, left_shift)
        other_low, other_high = _plus(other.low, right_shift), _plus(other.high, right_shift)
        low, high = _upper(one_low, other_low), _lower(one_high, other_high)
        if low is None or high is None or low < high:
            terms = product(
                rates,
                restricted(rates, one, low, high, left_shift),
                restricted(rates, other, low, high, right_shift),
            )
            found.append(Piece(low, high, origin_of(low, high), terms))
        ended = one_high == high, other_high == high
        i, j = i + ended[0], j + ended[1]
    return found


def _plus(end: Any, shift: Any) -> Any:
    return None if end is None else end + shift


def total(rates: Rates, function: Function) -> Any:
    """The integral over all t, or the sum over the whole numbers."""
    found = arb(0)
    for piece in function:
        low = None if piece.low is None else piece.low - piece.origin
        high = None if piece.high is None else piece.high - piece.origin
        found += integral(rates, piece.terms, low, high)
    return found


def stretched(rates: Rates, function: Function, factor: Any, shift: Any) -> Function:
    """t -> function(factor * t - shift); over the integers factor and shift are whole."""
    if not rates.step:
        found = [_stretched(rates, piece, factor, shift) for piece in function]
    else:
        made = (_sampled(rates, piece, factor, shift) for piece in function)
        found = [piece for piece in made if piece is not None]
    return found if factor > 0 else found[::-1]


def _stretched(rates: Rates, piece: Piece, factor: Any, shift: Any) -> Piece:
    ends = [None if end is None else (end + shift) / factor for end in (piece.low, piece.high)]
    low, high = ends if factor > 0 else ends[::-1]
    terms, at = scaled(rates, piece.terms, factor), (piece.origin + shift) / factor
    return Piece(low, high, origin_of(low, high), moved(rates, terms, origin_of(low, high) - at))


def _sampled(rates: Rates, piece: Piece, factor: Any, shift: Any) -> Piece | None:
    low, high = _plus(piece.low, shift), _plus(piece.high, shift)
    if factor < 0:
        low, high = _plus(high, -1), _plus(low, -1)
        low, high = (None if end is None else -end for end in (low, high))
    size = abs(factor)
    low, high = (None if end is None else fmpq((end / size).ceil()) for end in (low, high))
    if low is not None and high is not None and low >= high:
        return None
    origin = origin_of(low, high)
    terms = moved(rates, piece.terms, factor * origin - piece.origin - shift)
    return Piece(low, high, origin, scaled(rates, terms, factor))


def convolved(rates: Rates, left: Function, right: Function) -> Function:
    """l -> integral of left(x) right(l - x), or the sum over whole x."""
    parts = [
        part for one in left for other in right for part in _convolved_pieces(rates, one, other)
    ]
    return _joined(rates, parts)


def _convolved_pieces(rates: Rates, one: Piece, other: Piece) -> Iterator[Piece]:
    """On each stretch of l where the ends of x are the same ends."""
    step, origin = rates.step, one.origin + other.origin
    a1, b1, a2, b2 = (
        _plus(end, -piece.origin) for piece in (one, other) for end in (piece.low, piece.high)
    )
    terms = list(to_list(rates, one.terms)), list(to_list(rates, other.terms))
    lowest = None if a1 is None or a2 is None else a1 + a2
    highest = None if b1 is None or b2 is None else b1 + b2 - step
    turns = [
        left + right - step
        for left, right in ((b1, a2), (a1, b2))
        if left is not None and right is not None
    ]
    cuts = sorted({cut for cut in turns if _inside(cut, lowest, highest)})
    ends = [lowest, *cuts, highest]
    for low, high in itertools.pairwise(ends):
        if low is not None and high is not None and low >= high:
            continue
        # x from max(a1, l - b2 + step) to min(b1, l - a2 + step), the end left out.
        below = _which(low, high, a1, None if b2 is None else b2 - step, larger=True)
        above = _which(low, high, b1, None if a2 is None else a2 - step, larger=False)
        listed = _between(rates, terms, below, above)
        made = from_list(rates, listed)
        yield Piece(_plus(low, origin), _plus(high, origin), origin, made)


def _inside(cut: Any, low: Any, high: Any) -> bool:
    return (low is None or cut > low) and (high is None or cut < high)


def _which(low: Any, high: Any, fixed: Any, distance: Any, *, larger: bool) -> Any:
    """(False, fixed) or (True, distance), which is l - distance: the larger or the smaller one.

    None where both are infinite. The answer is the same for all l in [low, high).
    """
    if fixed is None:
        return None if distance is None else (True, distance)
    if distance is None:
        return False, fixed
    turn = fixed + distance
    moving_is_larger = low is not None and low >= turn
    if not moving_is_larger:
        assert high is None or high <= turn or low is None or low < turn
    return (True, distance) if moving_is_larger is larger else (False, fixed)


def _between(rates: Rates, terms: Any, below: Any, above: Any) -> Iterator[tuple[int, Any, Any]]:
    for i, r, c in terms[0]:
        for j, s, d in terms[1]:
            for n in range(j + 1):
                factor = c * d * (math.comb(j, n) * (-1) ** n)
                for sign, bound in ((1, above), (-1, below)):
                    if bound is None:
                        # At infinity the primitive is 0, or there is a fault.
                        if rates.sign(r - s) != -sign:
                            yield j - n, s, arb.nan()
                        continue
                    yield from _at(rates, (i + n, r - s), (j - n, s), factor * sign, bound)


def _at(
    rates: Rates, inner: tuple[int, Any], outer: tuple[int, Any], factor: Any, bound: Any
) -> Iterator[tuple[int, Any, Any]]:
    """factor * l^power e^(rate l) of ``outer`` * the primitive of ``inner`` at a bound of x."""
    (power, rate), (outer_power, outer_rate), (moves, place) = inner, outer, bound
    if not moves:
        yield outer_power, outer_rate, factor * rates.primitive_at(power, rate, place)
        return
    scale = factor * rates.power(rate, -place)
    for p, coefficient in enumerate(rates.primitive(power, rate)):
        if not coefficient.is_zero():
            for q in range(p + 1):
                part = arb(math.comb(p, q) * (-place) ** (p - q))
                yield outer_power + q, outer_rate + rate, scale * coefficient * part


def enlarged(function: Function, factor: Any) -> Function:
    """t -> factor * function(t)."""
    return [piece._replace(terms=times(piece.terms, factor)) for piece in function]


def added(rates: Rates, several: list[Function]) -> Function:
    """The sum of functions."""
    return _joined(rates, [piece for one in several for piece in one])


def _joined(rates: Rates, parts: list[Piece]) -> Function:
    """The sum of functions of one piece each."""
    cuts = sorted({end for part in parts for end in (part.low, part.high) if end is not None})
    ends = [None, *cuts, None]
    found: Function = []
    for low, high in itertools.pairwise(ends):
        inside = [part for part in parts if _covers(part, low, high)]
        if inside:
            terms = sum_of([restricted(rates, part, low, high, 0) for part in inside])
            found.append(Piece(low, high, origin_of(low, high), terms))
    return found


def _covers(part: Piece, low: Any, high: Any) -> bool:
    above = part.low is None or (low is not None and part.low <= low)
    return above and (part.high is None or (high is not None and part.high >= high))


def constant(low: Any, high: Any) -> Function:
    """1 on [low, high)."""
    return [Piece(low, high, origin_of(low, high), ONE)]
