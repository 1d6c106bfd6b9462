"""Functions and masses of an enumerable domain, as whole numbers over one denominator.

Every float is a rational number, so nothing has to be rounded: distance, covers and repair are
decided on Python integers. Floats occur only to screen out what is far from a tie.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.answers import require_one_at_a_time
from liptest.distributions import Distribution, ProductDistribution
from liptest.domains import Domain, IntArray, RecordGrid
from liptest.errors import BudgetError, FunctionError, check_non_negative, check_positive, shown
from liptest.oracles import as_oracle
from liptest.points import from_array

#: Points that a table may have.
MAX_POINTS = 2**20


def violation_limit(lipschitz_constant: float, tolerance: float) -> Fraction:
    """The exact number L: a pair at distance k is violated when |f(x) - f(y)| > L k.

    Raises InputError when the constant is not above 0 or the tolerance is outside [0, 1).
    """
    constant = check_positive("lipschitz_constant", lipschitz_constant)
    slack = check_non_negative("tolerance", tolerance, below=1.0)
    return Fraction(constant * (1.0 + slack) + constant * slack)


def whole_numbers(values: Iterable[Any]) -> tuple[NDArray[Any], int]:
    """Integers a and one denominator b with ``values[i] = a[i] / b`` exactly.

    ``values`` are finite ints, floats or Fractions; ``a`` is an object array of Python ints.
    """
    ratios = [_ratio(value) for value in values]
    denominator = math.lcm(*{bottom for _, bottom in ratios})
    numerators = np.empty(len(ratios), dtype=object)
    numerators[:] = [top * (denominator // bottom) for top, bottom in ratios]
    return numerators, denominator


def _ratio(value: Any) -> tuple[int, int]:
    if isinstance(value, (int, float, Fraction)):
        return value.as_integer_ratio()
    top, bottom = Fraction(value).as_integer_ratio()
    return int(top), int(bottom)


def exact_values(function: Any, domain: Domain) -> list[Any]:
    """All values of a function in index order: ints, floats or Fractions, as given.

    ``function`` is a callable, ``lt.scalar(f)`` or a table; an integer table, or a table of
    Fractions (dtype object), keeps its exact values.

    Raises
    ------
    BudgetError
        The domain has more than ``MAX_POINTS`` points.
    FunctionError, InputError
        As ``oracles.as_oracle`` and its values.
    """
    check_enumerable(domain)
    oracle = as_oracle(function, domain)
    if isinstance(function, np.ndarray) and function.dtype.kind in "iuO":
        return [_finite(value) for value in function.reshape(-1).tolist()]
    values: list[Any] = []
    for points in domain.all_points():
        values += oracle.values(from_array(points)).tolist()
    return values


def _finite(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        raise FunctionError(f"table: value={value}; a Lipschitz function needs finite values")
    return value


def check_enumerable(domain: Domain) -> None:
    """Raise BudgetError when the domain has more than ``MAX_POINTS`` points."""
    if domain.size > MAX_POINTS:
        raise BudgetError(
            f"{domain} has {shown(domain.size)} points, more than the {MAX_POINTS} that can be "
            f"enumerated; use check_lipschitz, which samples",
            needed=domain.size,
            budget=MAX_POINTS,
        )


def exact_masses(distribution: Distribution, points: IntArray) -> tuple[NDArray[Any], int]:
    """Masses of points as whole numbers over one denominator; (n, d) -> (n,) Python ints.

    A product law gives its exact rational masses. Other laws give ``exp(log_mass)`` as floats,
    taken at face value. InputError when the law has no masses.
    """
    if not isinstance(distribution, ProductDistribution):
        return whole_numbers(np.exp(distribution.log_mass(points)).tolist())
    masses = np.full(len(points), 1, dtype=object)
    denominator = 1
    for r in range(distribution.domain.dimension):
        numerators, bottom = whole_numbers(distribution.exact_marginal(r))
        masses *= numerators[points[:, r]]
        denominator *= bottom
    return masses, denominator


@dataclass(frozen=True, eq=False)
class ExactTable:
    """All values of a function, and the slope that a Lipschitz function may have.

    Parameters
    ----------
    domain
        Where the points live.
    numerators
        Python ints of shape ``domain.sizes``: the values times ``denominator``.
    denominator
        Common denominator of the values and the Lipschitz constant.
    slope
        The Lipschitz constant times ``denominator``.
    """

    domain: Domain
    numerators: NDArray[Any]
    denominator: int
    slope: int

    @classmethod
    def of(cls, function: Any, domain: Domain, limit: Fraction) -> ExactTable:
        """The table of a function; raises as ``exact_values``."""
        numbers, denominator = whole_numbers([*exact_values(function, domain), limit])
        return cls(domain, numbers[:-1].reshape(domain.sizes), denominator, int(numbers[-1]))

    def fractions(self, numerators: NDArray[Any]) -> NDArray[Any]:
        """Numerators as Fractions, same shape."""
        result = np.empty(numerators.shape, dtype=object)
        result.reshape(-1)[:] = [Fraction(n, self.denominator) for n in numerators.flat]
        return result

    def lower(self, covered: NDArray[np.bool_] | None = None) -> NDArray[Any]:
        """Numerators of the largest Lipschitz function that is nowhere above this one.

        With ``covered``, of shape ``domain.sizes``, only the values at the other points count.
        """
        return self._envelope(self.numerators, covered)

    def upper(self, covered: NDArray[np.bool_] | None = None) -> NDArray[Any]:
        """Numerators of the smallest Lipschitz function that is nowhere below this one."""
        return -self._envelope(-self.numerators, covered)

    def _envelope(
        self, numerators: NDArray[Any], covered: NDArray[np.bool_] | None
    ) -> NDArray[Any]:
        if covered is not None:
            # So high that a covered point never sets the minimum elsewhere.
            high = int(numerators.max()) + self.slope * (self.domain.diameter + 1)
            numerators = np.where(covered, high, numerators)
        return lower_envelope(numerators, self.domain, self.slope)


def lower_envelope(values: NDArray[Any], domain: Domain, slope: int) -> NDArray[Any]:
    """min over s of values(s) + slope * d(x, s), for all x; arrays of shape ``domain.sizes``.

    The metric is a sum over coordinates, so one pass per coordinate suffices.
    """
    result = values.copy()
    for r in range(domain.dimension):
        _lower_lines(np.moveaxis(result, r, 0), domain, slope)
    return result


def line_envelopes(table: ExactTable, coordinate: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Lower and upper envelopes of each line in one direction, separately."""
    lower, upper = table.numerators.copy(), -table.numerators
    for values in (lower, upper):
        _lower_lines(np.moveaxis(values, coordinate, 0), table.domain, table.slope)
    return lower, -upper


def _lower_lines(values: NDArray[Any], domain: Domain, slope: int) -> None:
    require_one_at_a_time(domain, "the envelope of a function")
    # Slices, not elements: NumPy would turn a lone Python int into a machine word or a float.
    if isinstance(domain, RecordGrid):
        np.minimum(values, values.min(axis=0, keepdims=True) + slope, out=values)
        return
    last = len(values) - 1
    for i in range(last):
        ahead = values[i + 1 : i + 2]
        np.minimum(ahead, values[i : i + 1] + slope, out=ahead)
    for i in range(last, 0, -1):
        behind = values[i - 1 : i]
        np.minimum(behind, values[i : i + 1] + slope, out=behind)
