"""Sums of noise variables with rational factors, and constraints on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from liptest.errors import InputError

Rational = Fraction | int
#: (variable, factor), sorted by variable, no factor 0.
Terms = tuple[tuple[int, Rational], ...]


def lean(value: Rational) -> Rational:
    """As an int where it is one: ints add and hash many times faster than fractions."""
    return value.numerator if value.denominator == 1 else value


@dataclass(frozen=True)
class Constraint:
    """``low <= sum of factor * variable <= high``, each < where it is not closed.

    None is unbounded. ``make`` normalises: the first factor is 1, so equal constraints are equal.
    """

    terms: Terms
    low: Fraction | None = None
    high: Fraction | None = None
    low_closed: bool = False
    high_closed: bool = False

    @staticmethod
    def make(
        terms: Iterable[tuple[int, Rational]],
        low: Rational | None = None,
        high: Rational | None = None,
        *,
        low_closed: bool = False,
        high_closed: bool = False,
    ) -> Constraint:
        """Normalised; raises InputError where there is no variable."""
        collected = _collect(terms)
        if not collected:
            raise InputError("terms=() has no variable; compare numbers directly", name="terms")
        below = None if low is None else Fraction(low)
        above = None if high is None else Fraction(high)
        if collected[0][1] != 1:
            first = Fraction(collected[0][1])
            collected = tuple((variable, lean(factor / first)) for variable, factor in collected)
            below = None if below is None else below / first
            above = None if above is None else above / first
            if first < 0:
                below, above, low_closed, high_closed = above, below, high_closed, low_closed
        return Constraint(
            collected,
            below,
            above,
            low_closed and below is not None,
            high_closed and above is not None,
        )


# Nobody changes one; frozen would make each three times slower to make.
@dataclass(slots=True, unsafe_hash=True)
class Form:
    """A constant plus a sum of factors times variables."""

    constant: Rational
    terms: Terms = ()

    @staticmethod
    def variable(number: int) -> Form:
        """The variable of a number alone."""
        return Form(0, ((number, 1),))

    @staticmethod
    def of(constant: Rational) -> Form:
        """A number without noise."""
        return Form(lean(Fraction(constant)))

    def __add__(self, other: Form | Rational) -> Form:
        if isinstance(other, Form):
            constant = lean(self.constant + other.constant)
            return Form(constant, _collect((*self.terms, *other.terms)))
        return Form(lean(self.constant + other), self.terms)

    def __neg__(self) -> Form:
        return self * -1

    def __sub__(self, other: Form | Rational) -> Form:
        return self + (-other)

    def __radd__(self, other: Rational) -> Form:
        return self + other

    def __rsub__(self, other: Rational) -> Form:
        return -self + other

    def __mul__(self, factor: Rational) -> Form:
        if not factor:
            return Form(0)
        terms = tuple(
            (variable, lean(coefficient * factor)) for variable, coefficient in self.terms
        )
        return Form(lean(self.constant * factor), terms)

    __rmul__ = __mul__

    def between(
        self,
        low: Rational | None = None,
        high: Rational | None = None,
        *,
        low_closed: bool = False,
        high_closed: bool = False,
    ) -> Constraint:
        """That this sum lies between two numbers; None is unbounded."""
        return Constraint.make(
            self.terms,
            None if low is None else low - self.constant,
            None if high is None else high - self.constant,
            low_closed=low_closed,
            high_closed=high_closed,
        )


def _collect(terms: Iterable[tuple[int, Rational]]) -> Terms:
    sums: dict[int, Rational] = {}
    for variable, factor in terms:
        sums[variable] = sums[variable] + factor if variable in sums else factor
    return tuple(sorted((variable, lean(factor)) for variable, factor in sums.items() if factor))
