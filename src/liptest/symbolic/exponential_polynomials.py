"""Functions of one variable that are sums of powers times exponentials on pieces, and their rates.

The pieces are [low, high), sorted, apart from each other; elsewhere the function is 0. Ends are
exact. The terms of a piece are in t - origin, where the origin is its low end, or its high end
where there is no other, or 0: values near the piece stay small, so few digits cancel.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from flint import arb, arb_poly, ctx, fmpq, fmpq_poly

from liptest.balls import to_fmpq, to_fraction
from liptest.errors import SymbolicError

# Rates of exponentials: e^(rate * t) over the reals, or products of q^(power * t) over integers.
#
# A rate is an exact rational number. Over the reals it is the rate itself. Over the integers it
# stands for sum of power_i * ln q_i and is written as sum of power_i * 2**(64 i), so that rates
# add as exponents do. Sums of powers times exponentials are kept as polynomials in e^(base * t),
# one for each power of t and each offset: the rate is offset + base * exponent.


#: Multiples of the base that the largest rate may be.
_MOST_MULTIPLES = 64
_DIGIT = 64
_FAR = 128


class Rates:
    """How rates behave; one instance for all systems with the same bases, which keeps caches."""

    #: 1 where sums over [low, high) take the place of integrals.
    step = 0
    #: What coefficients are, and polynomials of them.
    number: Any = arb
    polynomial: Any = arb_poly

    def __init__(self, base: Any) -> None:
        self.base = base
        self.offsets: list[Any] = [fmpq(0)]
        self._numbers: dict[Any, int] = {fmpq(0): 0}
        self._sums: dict[tuple[int, int], tuple[int, int]] = {}
        self._powers: dict[Any, Any] = {}
        self._parts: dict[Any, list[Any]] = {}
        self._weights: dict[Any, Any] = {}
        #: Functions that are known, by shape and precision.
        self.functions: dict[Any, Any] = {}

    def clear(self) -> None:
        """Forget what was computed."""
        for cache in (self._powers, self._parts, self._weights, self.functions):
            cache.clear()

    def split(self, rate: Any) -> tuple[int, int]:
        """(number of the offset, exponent) of a rate."""
        exponent = int((rate / self.base).floor())
        # Exponents that are far apart belong to different polynomials.
        exponent = (exponent + _FAR) % (2 * _FAR) - _FAR
        offset = rate - self.base * exponent
        number = self._numbers.get(offset)
        if number is None:
            number = self._numbers[offset] = len(self.offsets)
            self.offsets.append(offset)
        return number, exponent

    def rate(self, offset: int, exponent: int) -> Any:
        """The rate of an offset's number and an exponent."""
        return self.offsets[offset] + self.base * exponent

    def added(self, left: int, right: int) -> tuple[int, int]:
        """(number, carry): offsets left + right = offset + base * carry."""
        split = self._sums.get((left, right))
        if split is None:
            split = self.split(self.offsets[left] + self.offsets[right])
            self._sums[left, right] = split
        return split

    def power(self, rate: Any, distance: Any) -> Any:
        """e^(rate * distance)."""
        key = (rate.p, rate.q, distance.p, distance.q, ctx.prec)
        power = self._powers.get(key)
        if power is None:
            power = self._powers[key] = self._power(rate, distance)
        return power

    def _power(self, rate: Any, distance: Any) -> Any:
        return arb(rate * distance).exp()

    def sign(self, rate: Any) -> int:
        """Of the rate: 1 where the exponential grows, 0 where it is constant."""
        return int(rate > 0) - int(rate < 0)

    def primitive(self, power: int, rate: Any) -> list[Any]:
        """Coefficients a_j: sum of a_j t^j e^(rate t) has the derivative t^power e^(rate t)."""
        key = (power, rate.p, rate.q, ctx.prec)
        coefficients = self._parts.get(key)
        if coefficients is None:
            coefficients = self._parts[key] = self._primitive(power, rate)
        return coefficients

    def _primitive(self, power: int, rate: Any) -> list[Any]:
        if rate == 0:
            return [arb(0)] * (power + 1) + [arb(fmpq(1, power + 1))]
        coefficients = [arb(0)] * (power + 1)
        coefficients[power] = 1 / arb(rate)
        for j in range(power - 1, -1, -1):
            coefficients[j] = -(j + 1) * coefficients[j + 1] / arb(rate)
        return coefficients

    def primitive_at(self, power: int, rate: Any, place: Any) -> Any:
        """The primitive at a place."""
        value, at = self.number(0), self.number(place)
        for coefficient in reversed(self.primitive(power, rate)):
            value = value * at + coefficient
        return value * self.power(rate, place)

    def unbounded(self) -> Any:
        """What stands for an integral that is infinite: of densities there is none."""
        return arb.nan()

    def weight(self, power: int, offset: int, exponent: int, low: Any, high: Any) -> Any:
        """Integral of one term from low to high; None is infinite."""
        key = (power, offset, exponent, hash_number(low), hash_number(high), ctx.prec)
        weight = self._weights.get(key)
        if weight is None:
            rate = self.rate(offset, exponent)
            zero = self.number(0)
            above = zero if high is None else self.primitive_at(power, rate, high)
            below = zero if low is None else self.primitive_at(power, rate, low)
            sign = self.sign(rate)
            if (high is None and sign >= 0) or (low is None and sign <= 0):
                above = self.unbounded()
            weight = self._weights[key] = above - below
        return weight


class WholeRates(Rates):
    """Over the integers: the base is the first of the numbers q."""

    step = 1

    def __init__(self, ratios: tuple[Fraction, ...]) -> None:
        super().__init__(fmpq(1))
        self.ratios = tuple(to_fmpq(ratio) for ratio in ratios)
        self._signs: dict[Any, int] = {}

    def exponents(self, rate: Any) -> list[int]:
        """The powers of the numbers q that a rate stands for."""
        left, digits = int(rate.p), []
        for _ in self.ratios:
            digit = ((left + (1 << (_DIGIT - 1))) & ((1 << _DIGIT) - 1)) - (1 << (_DIGIT - 1))
            digits.append(digit)
            left = (left - digit) >> _DIGIT
        return digits

    def _power(self, rate: Any, distance: Any) -> Any:
        value, steps = self.number(1), int(distance.p)
        for ratio, exponent in zip(self.ratios, self.exponents(rate), strict=True):
            if exponent * steps:
                value *= self.number(ratio) ** (exponent * steps)
        return value

    def sign(self, rate: Any) -> int:
        if rate == 0:
            return 0
        sign = self._signs.get(rate)
        if sign is None:
            sign = self._signs[rate] = self._sign(rate)
        return sign

    def _sign(self, rate: Any) -> int:
        value = self._power(rate, fmpq(1))
        if value > 1:
            return 1
        if value < 1:
            return -1
        exact = Fraction(1)
        for ratio, exponent in zip(self.ratios, self.exponents(rate), strict=True):
            exact *= to_fraction(ratio) ** exponent
        return (exact > 1) - (exact < 1)

    def _primitive(self, power: int, rate: Any) -> list[Any]:
        """sum of a_j t^j q^t, whose difference from t to t + 1 is t^power q^t."""
        ratio, whole = self._power(rate, fmpq(1)), self.sign(rate) == 0
        zero = self.number(0)
        coefficients = [zero] * (power + 1 + whole)
        if whole:
            for j in range(power, -1, -1):
                rest = sum(
                    (coefficients[i] * math.comb(i, j) for i in range(j + 2, power + 2)),
                    self.number(0),
                )
                coefficients[j + 1] = (self.number(int(j == power)) - rest) / (j + 1)
            return coefficients
        for j in range(power, -1, -1):
            rest = sum(
                (coefficients[i] * math.comb(i, j) for i in range(j + 1, power + 1)), self.number(0)
            )
            coefficients[j] = (int(j == power) - ratio * rest) / (ratio - 1)
        return coefficients


class ExactRates(WholeRates):
    """Over the integers with rational coefficients instead of balls (T6)."""

    number = fmpq
    polynomial = fmpq_poly

    def unbounded(self) -> Any:
        raise SymbolicError("a sum over infinitely many whole numbers has no limit")


def hash_number(value: Any) -> Any:
    """What stands for a number in a key: rationals of the flint library hash slowly."""
    return None if value is None else (value.p, value.q)


def digit(place: int) -> Any:
    """The rate that stands for ln q of the number at a place."""
    return fmpq(1 << (_DIGIT * place))


def common_base(rates: Iterable[Any]) -> Any:
    """A base of which all rates are small multiples, or the most frequent rate."""
    counts = Counter(rates)
    if not counts:
        return fmpq(1)
    common = fmpq(0)
    for rate in counts:
        common = _gcd(common, rate)
    if max(counts) <= common * _MOST_MULTIPLES:
        return common
    return max(counts, key=lambda rate: (counts[rate], rate))


def _gcd(left: Any, right: Any) -> Any:
    one, other = int(left.p) * int(right.q), int(right.p) * int(left.q)
    return fmpq(math.gcd(one, other), int(left.q) * int(right.q))


#: (power of t, number of the offset) -> (lowest exponent, polynomial).
Terms = dict[tuple[int, int], tuple[int, Any]]
#: The function 1; compared by identity where that saves a product.
ONE: Terms = {(0, 0): (0, arb_poly([1]))}


def from_list(rates: Rates, listed: Iterator[tuple[int, Any, Any]]) -> Terms:
    """From (power, rate, coefficient)."""
    sums: dict[tuple[int, int], dict[int, Any]] = {}
    for power, rate, coefficient in listed:
        offset, exponent = rates.split(rate)
        row = sums.setdefault((power, offset), {})
        row[exponent] = row[exponent] + coefficient if exponent in row else coefficient
    terms: Terms = {}
    for key, row in sums.items():
        low, high = min(row), max(row)
        zero = rates.number(0)
        every = [row.get(exponent, zero) for exponent in range(low, high + 1)]
        terms[key] = low, rates.polynomial(every)
    return terms


def to_list(rates: Rates, terms: Terms) -> Iterator[tuple[int, Any, Any]]:
    """(power, rate, coefficient), none of which is exactly 0."""
    for (power, offset), (low, poly) in terms.items():
        for place, coefficient in enumerate(poly.coeffs()):
            if coefficient != 0:
                yield power, rates.rate(offset, low + place), coefficient


def _add_to(found: Terms, key: tuple[int, int], low: int, poly: Any) -> None:
    earlier = found.get(key)
    if earlier is not None:
        other, sum_so_far = earlier
        if other < low:
            low, poly = other, poly.left_shift(low - other) + sum_so_far
        elif other > low:
            poly = poly + sum_so_far.left_shift(other - low)
        else:
            poly = poly + sum_so_far
    found[key] = low, poly


def multiply_functions(rates: Rates, left: Terms, right: Terms) -> Terms:
    """The product of two functions of the same origin."""
    if left is ONE:
        return right
    if right is ONE:
        return left
    product: Terms = {}
    for (power, offset), (low, poly) in left.items():
        for (other_power, other_offset), (other_low, other_poly) in right.items():
            number, carry = rates.added(offset, other_offset)
            key = (power + other_power, number)
            _add_to(product, key, low + other_low + carry, poly * other_poly)
    return product


def sum_up(parts: list[Terms]) -> Terms:
    """The sum of functions of the same origin."""
    if len(parts) == 1:
        return parts[0]
    summed: Terms = {}
    for part in parts:
        for key, (low, poly) in part.items():
            _add_to(summed, key, low, poly)
    return summed


def move(rates: Rates, terms: Terms, distance: Any) -> Terms:
    """The function t -> f(t + distance)."""
    if distance == 0 or terms is ONE:
        return terms
    shifted: Terms = {}
    stretch = rates.polynomial([0, rates.power(rates.base, distance)])
    for (power, offset), (low, poly) in terms.items():
        poly = poly(stretch) * rates.power(rates.rate(offset, low), distance)
        for j in range(power + 1):
            factor = math.comb(power, j) * distance ** (power - j)
            _add_to(shifted, (j, offset), low, poly if j == power else poly * rates.number(factor))
    return shifted


def integral(rates: Rates, terms: Terms, low: Any, high: Any) -> Any:
    """From low to high, in the variable of the terms; None is infinite."""
    area = rates.number(0)
    for (power, offset), (lowest, poly) in terms.items():
        for place, coefficient in enumerate(poly.coeffs()):
            if coefficient != 0:
                exponent = lowest + place
                area += coefficient * rates.weight(power, offset, exponent, low, high)
    return area


def scale(rates: Rates, terms: Terms, factor: Any) -> Terms:
    """The function t -> f(factor * t)."""
    if terms is ONE or factor == 1:
        return terms
    return from_list(
        rates,
        (
            (power, rate * factor, coefficient * rates.number(fmpq(factor) ** power))
            for power, rate, coefficient in to_list(rates, terms)
        ),
    )


def scale_function(terms: Terms, factor: Any) -> Terms:
    """The function t -> factor * f(t)."""
    return {key: (low, poly * factor) for key, (low, poly) in terms.items()}


def derivative(rates: Rates, terms: Terms) -> Terms:
    """The derivative of the function over the reals."""

    def parts() -> Iterator[tuple[int, Any, Any]]:
        for power, rate, coefficient in to_list(rates, terms):
            yield power, rate, coefficient * arb(rate)
            if power:
                yield power - 1, rate, coefficient * power

    return from_list(rates, parts())


def value_at(rates: Rates, terms: Terms, t: Any) -> Any:
    """An enclosure of the function for all t of a ball, over the reals."""
    value, base = arb(0), (arb(rates.base) * t).exp()
    for (power, offset), (low, poly) in terms.items():
        scale = (arb(rates.rate(offset, low)) * t).exp()
        value += poly(base) * scale * (t**power if power else 1)
    return value


_ZERO = fmpq(0)


class Piece(NamedTuple):
    """Ends, None where infinite; where the terms have their origin."""

    low: Any
    high: Any
    origin: Any
    terms: Terms


Function = list[Piece]


def find_origin(low: Any, high: Any) -> Any:
    """Where the terms of a piece have their origin."""
    return low if low is not None else high if high is not None else _ZERO


def least_end(left: Any, right: Any) -> Any:
    """The smaller of two upper ends."""
    return right if left is None else left if right is None else min(left, right)


def greatest_end(left: Any, right: Any) -> Any:
    """The larger of two lower ends."""
    return right if left is None else left if right is None else max(left, right)


def restrict(rates: Rates, piece: Piece, low: Any, high: Any, shift: Any) -> Terms:
    """The terms on [low, high), with the origin of that, of the function moved up by shift."""
    return move(rates, piece.terms, find_origin(low, high) - piece.origin - shift)


def multiply_both(
    rates: Rates, left: Function, left_shift: Any, right: Function, right_shift: Any
) -> Function:
    """t -> left(t - left_shift) * right(t - right_shift)."""
    pieces: Function = []
    i = j = 0
    while i < len(left) and j < len(right):
        one, other = left[i], right[j]
        one_low, one_high = _plus(one.low, left_shift), _plus(one.high, left_shift)
        other_low, other_high = _plus(other.low, right_shift), _plus(other.high, right_shift)
        low, high = greatest_end(one_low, other_low), least_end(one_high, other_high)
        if low is None or high is None or low < high:
            terms = multiply_functions(
                rates,
                restrict(rates, one, low, high, left_shift),
                restrict(rates, other, low, high, right_shift),
            )
            pieces.append(Piece(low, high, find_origin(low, high), terms))
        ended = one_high == high, other_high == high
        i, j = i + ended[0], j + ended[1]
    return pieces


def _plus(end: Any, shift: Any) -> Any:
    return None if end is None else end + shift


def total(rates: Rates, function: Function) -> Any:
    """The integral over all t, or the sum over the whole numbers."""
    mass = rates.number(0)
    for piece in function:
        low = None if piece.low is None else piece.low - piece.origin
        high = None if piece.high is None else piece.high - piece.origin
        mass += integral(rates, piece.terms, low, high)
    return mass


def stretch_function(rates: Rates, function: Function, factor: Any, shift: Any) -> Function:
    """t -> function(factor * t - shift); over the integers factor and shift are whole."""
    if not rates.step:
        pieces = [_stretch(rates, piece, factor, shift) for piece in function]
    else:
        made = (_sample(rates, piece, factor, shift) for piece in function)
        pieces = [piece for piece in made if piece is not None]
    return pieces if factor > 0 else pieces[::-1]


def _stretch(rates: Rates, piece: Piece, factor: Any, shift: Any) -> Piece:
    ends = [None if end is None else (end + shift) / factor for end in (piece.low, piece.high)]
    low, high = ends if factor > 0 else ends[::-1]
    terms, at = scale(rates, piece.terms, factor), (piece.origin + shift) / factor
    return Piece(low, high, find_origin(low, high), move(rates, terms, find_origin(low, high) - at))


def _sample(rates: Rates, piece: Piece, factor: Any, shift: Any) -> Piece | None:
    low, high = _plus(piece.low, shift), _plus(piece.high, shift)
    if factor < 0:
        low, high = _plus(high, -1), _plus(low, -1)
        low, high = (None if end is None else -end for end in (low, high))
    size = abs(factor)
    low, high = (None if end is None else fmpq((end / size).ceil()) for end in (low, high))
    if low is not None and high is not None and low >= high:
        return None
    origin = find_origin(low, high)
    terms = move(rates, piece.terms, factor * origin - piece.origin - shift)
    return Piece(low, high, origin, scale(rates, terms, factor))


def convolve(rates: Rates, left: Function, right: Function) -> Function:
    """l -> integral of left(x) right(l - x), or the sum over whole x."""
    parts = [
        part for one in left for other in right for part in _convolve_pieces(rates, one, other)
    ]
    return _join(rates, parts)


def _convolve_pieces(rates: Rates, one: Piece, other: Piece) -> Iterator[Piece]:
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
                            yield j - n, s, rates.unbounded()
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
        if coefficient != 0:
            for q in range(p + 1):
                part = rates.number(math.comb(p, q) * (-place) ** (p - q))
                yield outer_power + q, outer_rate + rate, scale * coefficient * part


def enlarge(function: Function, factor: Any) -> Function:
    """t -> factor * function(t)."""
    return [piece._replace(terms=scale_function(piece.terms, factor)) for piece in function]


def add_functions(rates: Rates, several: list[Function]) -> Function:
    """The sum of functions."""
    return _join(rates, [piece for function in several for piece in function])


def _join(rates: Rates, parts: list[Piece]) -> Function:
    """The sum of functions of one piece each."""
    cuts = sorted({end for part in parts for end in (part.low, part.high) if end is not None})
    ends = [None, *cuts, None]
    pieces: Function = []
    for low, high in itertools.pairwise(ends):
        inside = [part for part in parts if _covers(part, low, high)]
        if inside:
            terms = sum_up([restrict(rates, part, low, high, 0) for part in inside])
            pieces.append(Piece(low, high, find_origin(low, high), terms))
    return pieces


def _covers(part: Piece, low: Any, high: Any) -> bool:
    above = part.low is None or (low is not None and part.low <= low)
    return above and (part.high is None or (high is not None and part.high >= high))


def constant_on(rates: Rates, low: Any, high: Any) -> Function:
    """1 on [low, high)."""
    constant = from_list(rates, iter([(0, _ZERO, fmpq(1))])) if rates.number is fmpq else ONE
    return [Piece(low, high, find_origin(low, high), constant)]
