"""Sums of coefficient * t^power * e^(rate t), as polynomials in e^(base t)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from flint import arb, arb_poly, fmpq

from liptest.symbolic.rates import Rates

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
    found: Terms = {}
    for key, row in sums.items():
        low, high = min(row), max(row)
        zero = arb(0)
        found[key] = low, arb_poly([row.get(exponent, zero) for exponent in range(low, high + 1)])
    return found


def to_list(rates: Rates, terms: Terms) -> Iterator[tuple[int, Any, Any]]:
    """(power, rate, coefficient), none of which is exactly 0."""
    for (power, offset), (low, poly) in terms.items():
        for place, coefficient in enumerate(poly.coeffs()):
            if not coefficient.is_zero():
                yield power, rates.rate(offset, low + place), coefficient


def _add_to(found: Terms, key: tuple[int, int], low: int, poly: Any) -> None:
    known = found.get(key)
    if known is not None:
        other, sum_so_far = known
        if other < low:
            low, poly = other, poly.left_shift(low - other) + sum_so_far
        elif other > low:
            poly = poly + sum_so_far.left_shift(other - low)
        else:
            poly = poly + sum_so_far
    found[key] = low, poly


def product(rates: Rates, left: Terms, right: Terms) -> Terms:
    """Of two functions of the same origin."""
    if left is ONE:
        return right
    if right is ONE:
        return left
    found: Terms = {}
    for (power, offset), (low, poly) in left.items():
        for (other_power, other_offset), (other_low, other_poly) in right.items():
            number, carry = rates.added(offset, other_offset)
            key = (power + other_power, number)
            _add_to(found, key, low + other_low + carry, poly * other_poly)
    return found


def sum_of(parts: list[Terms]) -> Terms:
    """Of functions of the same origin."""
    if len(parts) == 1:
        return parts[0]
    found: Terms = {}
    for part in parts:
        for key, (low, poly) in part.items():
            _add_to(found, key, low, poly)
    return found


def moved(rates: Rates, terms: Terms, distance: Any) -> Terms:
    """The function t -> f(t + distance)."""
    if distance == 0 or terms is ONE:
        return terms
    found: Terms = {}
    stretch = arb_poly([0, rates.power(rates.base, distance)])
    for (power, offset), (low, poly) in terms.items():
        poly = poly(stretch) * rates.power(rates.rate(offset, low), distance)
        for j in range(power + 1):
            factor = math.comb(power, j) * distance ** (power - j)
            _add_to(found, (j, offset), low, poly if j == power else poly * arb(factor))
    return found


def integral(rates: Rates, terms: Terms, low: Any, high: Any) -> Any:
    """From low to high, in the variable of the terms; None is infinite."""
    found = arb(0)
    for (power, offset), (lowest, poly) in terms.items():
        for place, coefficient in enumerate(poly.coeffs()):
            if not coefficient.is_zero():
                exponent = lowest + place
                found += coefficient * rates.weight(power, offset, exponent, low, high)
    return found


def scaled(rates: Rates, terms: Terms, factor: Any) -> Terms:
    """The function t -> f(factor * t)."""
    if terms is ONE or factor == 1:
        return terms
    return from_list(
        rates,
        (
            (power, rate * factor, coefficient * arb(fmpq(factor) ** power))
            for power, rate, coefficient in to_list(rates, terms)
        ),
    )


def times(terms: Terms, factor: Any) -> Terms:
    """The function t -> factor * f(t)."""
    return {key: (low, poly * factor) for key, (low, poly) in terms.items()}


def derivative(rates: Rates, terms: Terms) -> Terms:
    """Of the function, over the reals."""

    def parts() -> Iterator[tuple[int, Any, Any]]:
        for power, rate, coefficient in to_list(rates, terms):
            yield power, rate, coefficient * arb(rate)
            if power:
                yield power - 1, rate, coefficient * power

    return from_list(rates, parts())


def value_at(rates: Rates, terms: Terms, t: Any) -> Any:
    """An enclosure of the function for all t of a ball, over the reals."""
    found, base = arb(0), (arb(rates.base) * t).exp()
    for (power, offset), (low, poly) in terms.items():
        scale = (arb(rates.rate(offset, low)) * t).exp()
        found += poly(base) * scale * (t**power if power else 1)
    return found
