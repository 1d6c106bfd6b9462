"""The law of a whole number with noise without an end, as a formula in words.

Exact laws are sums of c n^k q^n on pieces (docs/theory/whole.md, W1); rounded noise is told by what
is rounded (W3).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flint import arb, fmpq

from liptest.symbolic.exponential_polynomials import ExactRates
from liptest.symbolic.rounded_laws import OneNoise, RoundedLaw, RoundedPart
from liptest.symbolic.whole_laws import to_whole_terms

# Longer fractions are written as decimals.
_LONGEST = 13


def formula_lines(law: Any, rates: ExactRates) -> Iterator[str]:
    """One line for each description of the output and each piece of a ``WholeLaw``.

    Raises UnsupportedForm where the law is not followed.
    """
    for skeleton in law.leaves:
        ways = law.ways(rates, skeleton)
        count = len(ways[0].numbers)
        if count == 1:
            lines = _lines(law.number(rates, skeleton))
            yield from (f"{skeleton!r}: {line}" for line in lines)
        elif count == 0:
            yield f"{skeleton!r}: {_number(law.mass(rates, skeleton))}"
        elif len(ways) == 1:
            yield f"{skeleton!r}: {_number(ways[0].weight)} times, one by one:"
            for number in ways[0].numbers:
                yield from (f"  {line}" for line in _lines(number))


def _lines(law: Any) -> Iterator[str]:
    if not isinstance(law, RoundedLaw):
        for piece in law.function:
            terms = to_whole_terms(law.rates, piece, piece.origin, 1)
            words = " + ".join(
                _term(c, power, base, int(piece.origin.p)) for (base, power), c in terms.items()
            )
            low = None if piece.low is None else int(piece.low.p)
            high = None if piece.high is None else int(piece.high.p) - 1
            yield f"P(n) = {words} {_span(low, high)}"
        return
    for part in law.parts:
        yield f"P(n) = {_part(part)}"
    for number, weight in sorted(law.points.items()):
        yield f"P({number}) = {_number(weight)} more"


def _term(coefficient: Any, power: int, base: Any, origin: int) -> str:
    place = "n" if origin == 0 else f"(n - {origin})" if origin > 0 else f"(n + {-origin})"
    factors = [_number(coefficient)]
    factors += [place if power == 1 else f"{place}^{power}"] if power else []
    if base != 1:
        shown = _number(base)
        factors.append(f"{f'({shown})' if '/' in shown else shown}^{place}")
    return " * ".join(factors)


def _span(low: int | None, high: int | None) -> str:
    if low is None:
        return "for all n" if high is None else f"for n <= {high}"
    if high is None:
        return f"for n >= {low}"
    return f"for n = {low}" if low == high else f"for {low} <= n <= {high}"


def _part(part: RoundedPart) -> str:
    source = part.source
    words = "X"
    if isinstance(source, OneNoise):
        size = _number(source.factor)
        factor = "" if source.factor == 1 else "-" if source.factor == -1 else f"{size} * "
        words = f"{factor}{source.noise.family}({_number(fmpq(*_ratio(source.noise.parameter)))})"
    place = "" if part.place == 0 else f" + {_number(part.place)}"
    weight = "" if part.weight == 1 else f"{_number(part.weight)} * "
    cut = ""
    if part.low is not None or part.high is not None:
        ends = ["-inf" if part.low is None else _number(part.low)]
        ends.append("inf" if part.high is None else _number(part.high))
        cut = f", between {ends[0]} and {ends[1]}"
    return f"{weight}P(n <= {words}{place} < n + 1{cut})"


def _ratio(number: Any) -> tuple[int, int]:
    return number.numerator, number.denominator


def _number(value: Any) -> str:
    """A rational number, or the middle of a ball."""
    if not isinstance(value, arb):
        exact = str(value)
        if len(exact) <= _LONGEST:
            return exact
    return f"{float(arb(value).mid()):.10g}"
