"""Independent noise variables: families, exact parameters, supports, densities at a point."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from liptest.balls import to_fmpq
from liptest.errors import InputError, quote

#: Families with a density, and what their parameter is.
CONTINUOUS = ("laplace", "exponential", "uniform", "normal", "gumbel", "logistic")
#: The methods of a generator that draw it.
CONTINUOUS_DRAWS = frozenset({*CONTINUOUS, "standard_exponential", "standard_normal"})
#: Families on the whole numbers. Of a "rounded" one it is only known what a shift costs.
DISCRETE = ("geometric", "two-sided geometric", "rounded exponential", "rounded gumbel")
#: Continuous families whose densities are made of exponentials and powers.
EXPONENTIAL = ("laplace", "exponential", "uniform")
_ZERO, _ONE = Fraction(0), Fraction(1)
#: Lowest and highest value, None where infinite.
Range = tuple[Any, Any]
#: Family and parameter, which is the variance of "normal".
Law = tuple[str, Any]
_HALVES: dict[str, tuple[Fraction | None, Fraction | None]] = {
    "exponential": (_ZERO, None),
    "rounded exponential": (_ZERO, None),
    "uniform": (_ZERO, _ONE),
    "geometric": (_ONE, None),
}


@dataclass(frozen=True)
class Noise:
    """One independent variable of location 0.

    ``parameter`` is exact: the scale of "laplace", "exponential", "normal" (its standard
    deviation), "gumbel" and "logistic"; 1 for "uniform", which is on [0, 1); the probability of
    success of "geometric", whose values are 1, 2, 3 and so on; q of "two-sided geometric", where
    k has a probability proportional to q**|k|; the scale of what "rounded exponential" (from 0 on)
    and "rounded gumbel" noise are the whole parts of. Raises InputError for any other.
    """

    family: str
    parameter: Fraction

    def __post_init__(self) -> None:
        if self.family not in CONTINUOUS and self.family not in DISCRETE:
            raise InputError(
                f"family={quote(self.family)} is not one of {', '.join(CONTINUOUS + DISCRETE)}",
                name="family",
                value=self.family,
            )
        object.__setattr__(self, "parameter", Fraction(self.parameter))
        if self.family == "uniform":
            good, wanted = self.parameter == 1, "1; scale the variable instead"
        elif self.family == "geometric":
            good, wanted = 0 < self.parameter <= 1, "above 0 and at most 1"
        elif self.family == "two-sided geometric":
            good, wanted = 0 <= self.parameter < 1, "0 or more and below 1"
        else:
            good, wanted = self.parameter > 0, "above 0"
        if not good:
            raise InputError(
                f"parameter={self.parameter} of {self.family} noise must be {wanted}",
                name="parameter",
                value=self.parameter,
            )

    def __hash__(self) -> int:
        # Fractions hash slowly; what is equal has the same family and numerator.
        return hash((self.family, self.parameter.numerator))

    @cached_property
    def near_parameter(self) -> float:
        """The parameter as a float; OverflowError where none is near."""
        return float(self.parameter)

    @cached_property
    def is_discrete(self) -> bool:
        """Whether its values are whole numbers."""
        return self.family in DISCRETE

    @cached_property
    def is_smooth(self) -> bool:
        """Whether it is continuous and its density is not made of exponentials and powers."""
        return self.family in CONTINUOUS and self.family not in EXPONENTIAL

    @property
    def is_symmetric(self) -> bool:
        """Whether x and -x have the same law."""
        return self.family in ("laplace", "normal", "logistic", "two-sided geometric")

    @cached_property
    def support(self) -> tuple[Fraction | None, Fraction | None]:
        """Lowest and highest value; None where there is none."""
        if self.family == "two-sided geometric" and self.parameter == 0:
            return _ZERO, _ZERO
        if self.family == "geometric" and self.parameter == 1:
            return _ONE, _ONE
        return _HALVES.get(self.family, (None, None))


def noise_law(noise: Noise) -> Law:
    """What smooth functions are made of: family and parameter, in the numbers of flint."""
    parameter = to_fmpq(noise.parameter)
    return noise.family, parameter**2 if noise.family == "normal" else parameter


def draw_value(noise: Noise, rng: np.random.Generator) -> Fraction:
    """Some value of it, about as often as it occurs: for a run at a point."""
    size = float(noise.parameter)
    if noise.family == "geometric":
        return Fraction(int(rng.geometric(size)))
    if noise.family == "two-sided geometric":
        return Fraction(int(rng.geometric(1 - size) - rng.geometric(1 - size)))
    if noise.family == "uniform":
        return Fraction(rng.random())
    draw: Any = getattr(rng, noise.family)
    return Fraction(draw(size) if noise.family == "exponential" else draw(0.0, size))
