"""Law of a sum of independent whole numbers, each of them left out in turn (theory 3.15).

By halving: what is outside of a half is what is outside of the whole times the other half. Every
number is a product or sum of positive ones, so each probability keeps a small relative error,
however small it is itself (``relative_error``); dividing one factor out of the total would not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from liptest.distributions import ProductDistribution
from liptest.errors import BudgetError
from liptest.statistics.protocol import Count
from liptest.statistics.weighted_sum import WeightedSum

FloatArray = NDArray[np.float64]

#: Values that a sum may range over.
MAX_RANGE = 1 << 20
# Below this a probability is set to 0: subnormal floats are slow, and nothing adds up to 1e-200.
_NEGLIGIBLE = 1e-290


@dataclass(frozen=True, eq=False)
class Part:
    """Records of one law: ``law[k]`` is the chance to add ``k`` to the sum, in units of ``step``.

    ``record`` is the first of the ``count`` records, ``values`` its (value, steps added) of
    positive mass.
    """

    law: FloatArray
    record: int
    count: int
    values: tuple[tuple[int, int], ...]


def is_additive(statistic: object) -> bool:
    """Whether a statistic is a sum over the records of which all is known."""
    return isinstance(statistic, (Count, WeightedSum))


def additive_parts(
    statistic: Count | WeightedSum, distribution: ProductDistribution
) -> tuple[list[Part], int]:
    """The distinct laws of what a record adds, and the least value of the sum.

    Raises BudgetError when the sum ranges over more than ``MAX_RANGE`` values.
    """
    domain = distribution.domain
    statistic.check(domain)
    weights = np.ones(domain.dimension, dtype=np.int64)
    if isinstance(statistic, WeightedSum):
        weights = statistic.weights
    spread = int(np.abs(weights) @ (domain.size_array - 1)) + 1
    if spread > MAX_RANGE:
        raise BudgetError(
            f"the statistic ranges over {spread:,} values, more than {MAX_RANGE:,}; use smaller "
            f"weights",
            needed=spread,
            budget=MAX_RANGE,
        )
    lowest = int(np.minimum(weights, 0) @ (domain.size_array - 1))
    groups: dict[tuple[int, bytes], list[int]] = {}
    for r, weight in enumerate(weights.tolist()):
        groups.setdefault((weight, distribution.marginal(r).tobytes()), []).append(r)
    parts = [
        _part(members, weight, np.frombuffer(marginal))
        for (weight, marginal), members in groups.items()
    ]
    return parts, lowest


def _part(members: list[int], weight: int, marginal: FloatArray) -> Part:
    law = np.zeros(abs(weight) * (len(marginal) - 1) + 1)
    top = max(0, -weight * (len(marginal) - 1))
    steps = [top + weight * value for value in range(len(marginal))]
    for step, mass in zip(steps, marginal.tolist(), strict=True):
        law[step] += mass
    held = tuple((v, s) for v, (s, mass) in enumerate(zip(steps, marginal, strict=True)) if mass)
    return Part(law, members[0], len(members), held)


def left_out_laws(parts: list[Part]) -> Iterator[tuple[Part, FloatArray]]:
    """Each part with the law of the sum of all records but one of its own."""
    powers = [_power(part.law, part.count) for part in parts]
    yield from _descend(parts, powers, np.ones(1))


def _descend(
    parts: list[Part], powers: list[FloatArray], outside: FloatArray
) -> Iterator[tuple[Part, FloatArray]]:
    if len(parts) == 1:
        yield parts[0], _product(outside, _power(parts[0].law, parts[0].count - 1))
        return
    half = len(parts) // 2
    for here, there in ((slice(None, half), slice(half, None)), (slice(half, None), slice(half))):
        rest = _product(outside, _product_of(powers[there]))
        yield from _descend(parts[here], powers[here], rest)


def _product_of(laws: list[FloatArray]) -> FloatArray:
    if len(laws) == 1:
        return laws[0]
    half = len(laws) // 2
    return _product(_product_of(laws[:half]), _product_of(laws[half:]))


def _product(left: FloatArray, right: FloatArray) -> FloatArray:
    law = np.convolve(left, right)
    law[law < _NEGLIGIBLE] = 0.0
    return law


def _power(law: FloatArray, count: int) -> FloatArray:
    result, square = np.ones(1), law
    while count:
        if count & 1:
            result = _product(result, square)
        count >>= 1
        if count:
            square = _product(square, square)
    return result


def relative_error(dimension: int, spread: int) -> float:
    """Bound on the relative error of each probability of ``left_out_laws``.

    A product of length n adds at most n * 2**-53 to the errors of its factors. The errors of the
    leaves of a tree of products add up to at most n for each of its levels, and a law left out
    goes through two such trees.
    """
    size = dimension + spread + 1
    return 2.0**-53 * size * (4 * math.ceil(math.log2(size)) + 8)
