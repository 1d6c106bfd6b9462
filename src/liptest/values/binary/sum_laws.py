"""The law of a sum of independent parts, as a product of polynomials, and what follows from it.

A part is a whole-number function of a few independent 0/1 variables; its polynomial has at z^e
the weight of the value base + step * e. The law of the sum of parts is the product of their
polynomials. Given that the sum is one of some totals, the weights of a variable need the product
of the other parts only, which is a division (docs/theory/bits.md).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product as combinations
from typing import Any, TypeVar, cast

import numpy as np
from flint import fmpz_poly
from numpy.typing import NDArray

from liptest.values.draws.grid import Split

#: Totals of a sum that are told apart, and binary digits of all their weights together.
MOST_TOTALS = 1 << 20
MOST_DIGITS = 1 << 32
#: Digits of the laws that are kept for the next run: 64 MiB.
KEPT_DIGITS = 1 << 29
T = TypeVar("T")
#: Weights of 0 and of 1.
Weights = tuple[int, int]
#: What decides a sum, for each block of parts of k variables each: k; the weights of 0 and of 1 of
#: the variables, and the values by their bits, all as bytes of int64.
Key = tuple[tuple[int, bytes, bytes, bytes], ...]


@dataclass(frozen=True)
class Part:
    """A function of the variables at ``places``; ``exponents`` by their bits, the first foremost.

    Its values are base + step * exponent.
    """

    places: tuple[int, ...]
    weights: tuple[Weights, ...]
    exponents: tuple[int, ...]
    base: int

    def terms(self) -> Iterator[tuple[tuple[int, ...], int, int]]:
        """(bits, exponent, weight) of all that the variables can be."""
        every = combinations((0, 1), repeat=len(self.places))
        for bits, exponent in zip(every, self.exponents, strict=True):
            pairs = zip(self.weights, bits, strict=True)
            yield bits, exponent, math.prod(pair[bit] for pair, bit in pairs)

    def polynomial(self) -> Any:
        """Its weights by exponents."""
        coefficients = [0] * (max(self.exponents) + 1)
        for _, exponent, weight in self.terms():
            coefficients[exponent] += weight
        return fmpz_poly(coefficients)

    def given(self, place: int, bit: int) -> Part:
        """The part once one of its variables is known."""
        column = self.places.index(place)
        every = combinations((0, 1), repeat=len(self.places))
        kept = zip(every, self.exponents, strict=True)
        exponents = tuple(exponent for bits, exponent in kept if bits[column] == bit)
        return Part(
            _without(self.places, column), _without(self.weights, column), exponents, self.base
        )


def _without(items: tuple[T, ...], column: int) -> tuple[T, ...]:
    return items[:column] + items[column + 1 :]


@dataclass(frozen=True)
class Outcomes:
    """What a function of a sum can be: weights, results, and the exponents that lead to each."""

    weights: Split
    results: tuple[Any, ...]
    allowed: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class SumLaw:
    """The law of a sum of parts, given that it is low + step * e for an e of ``allowed``.

    ``parts`` by numbers, which stay when others leave; ``polynomial`` is the parts' product;
    ``owners`` has the number of the part for each place.
    """

    parts: dict[int, Part]
    owners: tuple[int, ...]
    polynomial: Any
    low: int
    step: int
    allowed: tuple[int, ...]
    _last: dict[str, tuple[Hashable, Any]] = field(default_factory=dict, repr=False)

    def outcomes(self, key: Hashable, function: Callable[[int], Hashable]) -> Outcomes:
        """The different results of a function of the exponent; ``key`` stands for the function."""
        return self._remember("outcomes", key, lambda: self._outcomes(function))

    def _outcomes(self, function: Callable[[int], Hashable]) -> Outcomes:
        coefficients = self.polynomial.coeffs()
        weights: dict[Hashable, int] = {}
        allowed: dict[Hashable, list[int]] = {}
        for exponent in self.allowed:
            # Since variables became known it may be too large, or in between.
            weight = int(coefficients[exponent]) if exponent < len(coefficients) else 0
            if weight:
                result = function(exponent)
                weights[result] = weights.get(result, 0) + weight
                allowed.setdefault(result, []).append(exponent)
        return Outcomes(
            Split(weights.values()), tuple(weights), tuple(map(tuple, allowed.values()))
        )

    def restricted(self, allowed: tuple[int, ...]) -> SumLaw:
        """Given that the sum is one of fewer totals."""
        return self._remember(
            "restricted", allowed, lambda: replace(self, allowed=allowed, _last={})
        )

    def weights_of(self, number: int, place: int) -> Split:
        """Weights of 0 and 1 of the variable at a place, in the part of the given number."""
        return self._remember("weights", place, lambda: self._weights_of(number, place))

    def _weights_of(self, number: int, place: int) -> Split:
        part, rest = self.parts[number], _integers(self._rest(number))
        column, masses, weights = part.places.index(place), dict[int, int](), [0, 0]
        for bits, exponent, weight in part.terms():
            if exponent not in masses:
                masses[exponent] = self._mass(rest, exponent)
            weights[bits[column]] += weight * masses[exponent]
        common = math.gcd(*weights)
        return Split((weights[0] // common, weights[1] // common))

    def _mass(self, rest: Sequence[int], exponent: int) -> int:
        """Weight of the other parts where the sum is allowed and this part has an exponent."""
        places = (total - exponent for total in self.allowed)
        return sum(rest[place] for place in places if 0 <= place < len(rest))

    def given(self, number: int, place: int, bit: int) -> SumLaw:
        """Once a variable is known. A part without variables leaves, and the sum is without it."""
        return self._remember(
            "given",
            (place, bit),
            lambda: self._find_given(number, self.parts[number].given(place, bit)),
        )

    def _find_given(self, number: int, part: Part) -> SumLaw:
        parts, rest = dict(self.parts), self._rest(number)
        if part.places:
            parts[number] = part
            return replace(self, parts=parts, polynomial=rest * part.polynomial(), _last={})
        del parts[number]
        (exponent,) = part.exponents
        left = tuple(e - exponent for e in self.allowed if 0 <= e - exponent < len(rest))
        low = self.low - part.base
        return replace(self, parts=parts, polynomial=rest, low=low, allowed=left, _last={})

    def _rest(self, number: int) -> Any:
        """The polynomial of all other parts."""
        return self._remember(
            "rest", number, lambda: self.polynomial // self.parts[number].polynomial()
        )

    def split(self, numbers: tuple[int, ...]) -> Outcomes:
        """What the sum of some parts can be, given the one total: the exponents are the results."""
        return self._remember("split", numbers, lambda: self._split(numbers))

    def _split(self, numbers: tuple[int, ...]) -> Outcomes:
        (total,) = self.allowed
        inner = _product(self.parts[number].polynomial() for number in numbers)
        some, others = _integers(inner), _integers(self.polynomial // inner)
        both = range(max(0, total - len(others) + 1), min(len(some), total + 1))
        masses = {e: some[e] * others[total - e] for e in both if some[e] and others[total - e]}
        return Outcomes(Split(masses.values()), tuple(masses), tuple((e,) for e in masses))

    def halves(self, numbers: tuple[int, ...], exponent: int) -> tuple[SumLaw, SumLaw]:
        """The laws of some parts and of the others, given what both sums are."""
        return self._remember(
            "halves", (numbers, exponent), lambda: self._halves(frozenset(numbers), exponent)
        )

    def _halves(self, numbers: frozenset[int], exponent: int) -> tuple[SumLaw, SumLaw]:
        (total,) = self.allowed
        some = {number: part for number, part in self.parts.items() if number in numbers}
        others = {number: part for number, part in self.parts.items() if number not in numbers}
        inner = _product(part.polynomial() for part in some.values())
        low = sum(part.base for part in some.values())
        rest, left = self.polynomial // inner, (total - exponent,)
        return (
            replace(self, parts=some, polynomial=inner, low=low, allowed=(exponent,), _last={}),
            replace(
                self, parts=others, polynomial=rest, low=self.low - low, allowed=left, _last={}
            ),
        )

    def sample(self, point_in: Callable[[int, int], int]) -> dict[int, int]:
        """Some bits, by places, that lead to an allowed sum, chosen by ``point_in(start, stop)``.

        Only what is possible counts, not the weights.
        """
        order = list(self.parts.values())
        # Sums that the parts from one on can have, as bits of a number.
        reachable = [1]
        for part in reversed(order):
            exponents = {exponent for _, exponent, weight in part.terms() if weight}
            last, sums = reachable[-1], 0
            for exponent in exponents:
                sums |= last << exponent
            reachable.append(sums)
        possible = [e for e in self.allowed if reachable[-1] >> e & 1]
        left, drawn = possible[point_in(0, len(possible))], dict[int, int]()
        for part, sums in zip(order, reachable[-2::-1], strict=True):
            ways = [
                (b, e) for b, e, w in part.terms() if w and e <= left and sums >> (left - e) & 1
            ]
            bits, exponent = ways[point_in(0, len(ways))]
            left -= exponent
            drawn.update(zip(part.places, bits, strict=True))
        return drawn

    def _remember(self, what: str, key: Hashable, make: Callable[[], T]) -> T:
        # The tree is walked depth first: only the last answer is needed again.
        cached = self._last.get(what)
        if cached is None or cached[0] != key:
            cached = self._last[what] = key, make()
        return cast(T, cached[1])


def _integers(polynomial: Any) -> list[int]:
    return [int(coefficient) for coefficient in polynomial.coeffs()]


def _product(polynomials: Iterable[Any]) -> Any:
    """Equal ones as powers, the rest by halves: factors of equal length multiply fast."""
    counts = Counter(tuple(polynomial.coeffs()) for polynomial in polynomials)
    factors = [
        fmpz_poly(list(coefficients)) ** count for coefficients, count in counts.items()
    ] or [fmpz_poly([1])]
    while len(factors) > 1:
        factors.sort(key=len)
        pairs = [a * b for a, b in zip(factors[::2], factors[1::2], strict=False)]
        factors = pairs + factors[len(pairs) * 2 :]
    return factors[0]


_LAWS: dict[Key, SumLaw | None] = {}
_digits_kept = [0]


def sum_law(key: Key) -> SumLaw | None:
    """The law of a sum that nothing is known of; None where it has too many totals or digits.

    Places are the variables in the order of the key. Laws are kept for the next run.
    """
    if key not in _LAWS:
        digits, law = _make(key)
        _digits_kept[0] += digits
        if _digits_kept[0] > KEPT_DIGITS:
            forget_laws()
            _digits_kept[0] = digits
        _LAWS[key] = law
    return _LAWS[key]


def forget_laws() -> None:
    """Keep none of the laws that are known."""
    _LAWS.clear()
    _digits_kept[0] = 0


def _make(key: Key) -> tuple[int, SumLaw | None]:
    tables = [_numbers(values).reshape(-1, 1 << count) for count, *_, values in key]
    step = math.gcd(*(int(np.gcd.reduce(np.diff(table), axis=None)) for table in tables)) or 1
    parts: list[Part] = []
    owners: list[int] = []
    for (count, zeros, ones, _), table in zip(key, tables, strict=True):
        weights = list(zip(_numbers(zeros).tolist(), _numbers(ones).tolist(), strict=True))
        for i, row in enumerate(table.tolist()):
            some, base = slice(i * count, (i + 1) * count), min(row)
            exponents = tuple((value - base) // step for value in row)
            places = tuple(range(len(owners), len(owners) + count))
            owners += [len(parts)] * count
            parts.append(Part(places, tuple(weights[some]), exponents, base))
    totals = sum(max(part.exponents) for part in parts) + 1
    digits = totals * sum((a + b).bit_length() for part in parts for a, b in part.weights)
    if totals > MOST_TOTALS or digits > MOST_DIGITS:
        return 1000, None
    polynomial = _product(part.polynomial() for part in parts)
    low, every = sum(part.base for part in parts), tuple(range(len(polynomial)))
    return digits, SumLaw(dict(enumerate(parts)), tuple(owners), polynomial, low, step, every)


def _numbers(content: bytes) -> NDArray[np.int64]:
    return np.frombuffer(content, dtype=np.int64)
