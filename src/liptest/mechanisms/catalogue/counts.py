"""Noisy counts of a table of bits; neighbours differ in one bit (Hypercube(d))."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from liptest.errors import InputError, check_count, check_positive, shown
from liptest.mechanisms.catalogue.geometric import ULP, log_at_most, log_peak, truncated_logs
from liptest.mechanisms.closed_form import StatisticMechanism
from liptest.mechanisms.laws import FloatArray
from liptest.statistics.protocol import Count

# The law of a subsampled count takes d^2 additions, whose rounding errors add up.
_MOST_SUBSAMPLED = 500


@dataclass(frozen=True)
class _Geometric:
    """The value is clamped to ``least .. most`` first; outputs are lower .. upper."""

    epsilon: float
    lower: int
    upper: int
    least: int
    most: int

    def __call__(self, values: NDArray[np.int64]) -> FloatArray:
        clamped = np.clip(values, self.least, self.most)
        return truncated_logs(clamped, self.lower, self.upper, self.upper, self.epsilon)


@dataclass(frozen=True)
class _OneSided:
    epsilon: float
    most: int

    def __call__(self, values: NDArray[np.int64]) -> FloatArray:
        outputs = np.arange(self.most + 1)
        above = outputs - values[:, None].astype(np.float64)
        each = math.log(-math.expm1(-self.epsilon))
        logs = np.where(outputs == self.most, 0.0, each) - self.epsilon * above
        return np.asarray(np.where(above < 0, -np.inf, logs))


@dataclass(frozen=True)
class _TwiceTheCount:
    epsilon: float
    most: int

    def __call__(self, values: NDArray[np.int64]) -> FloatArray:
        upper = np.minimum(2 * values, self.most)
        return truncated_logs(values, 0, upper, self.most, self.epsilon)


@dataclass(frozen=True)
class _Subsampled:
    epsilon: float
    rate: float
    most: int

    def __call__(self, values: NDArray[np.int64]) -> FloatArray:
        return np.asarray(_subsampled_logs(self.most, self.epsilon, self.rate)[values])


def truncated_geometric_count(
    d: int, epsilon: float, *, outputs: int | None = None
) -> StatisticMechanism:
    """Count plus two-sided geometric noise, cut to 0 .. outputs-1 (A. Ghosh et al., 2009).

    A noisy count below 0 is answered as 0, one above as outputs-1 (default d). Flip one bit:
    exactly epsilon-DP, the loss of the counts 0 and 1 at output 0.
    """
    most = check_count("d", d) if outputs is None else check_count("outputs", outputs, least=2) - 1
    epsilon = check_positive("epsilon", epsilon)
    law = _Geometric(epsilon, 0, most, 0, check_count("d", d))
    return _on_count(law, 0, most, f"truncated_geometric_count(d={d}, epsilon={epsilon:g})")


def clamped_geometric_count(d: int, epsilon: float, lower: int, upper: int) -> StatisticMechanism:
    """The count, first clamped to lower .. upper, plus noise cut to the same range.

    The two bounds are fixed numbers. Flip one bit: exactly epsilon-DP, provided
    0 <= lower < upper <= d. InputError otherwise.
    """
    epsilon, most = check_positive("epsilon", epsilon), check_count("d", d)
    least = check_count("lower", lower, least=0)
    if not least < check_count("upper", upper) <= most:
        raise InputError(
            f"lower={shown(lower)}, upper={shown(upper)} must satisfy 0 <= lower < upper <= {d}",
            name="upper",
            value=upper,
        )
    law = _Geometric(epsilon, least, upper, least, upper)
    name = f"clamped_geometric_count(d={d}, epsilon={epsilon:g}, lower={lower}, upper={upper})"
    return _on_count(law, least, upper, name)


def one_sided_noise_count(d: int, epsilon: float) -> StatisticMechanism:
    """Wrong: count plus geometric noise that is never negative, cut to 0 .. d.

    The author reasons that neighbouring outputs have the ratio e^epsilon, and forgets that an
    output below the count is impossible. Flip one bit: epsilon infinite;
    exactly (epsilon, 1 - e^-epsilon)-DP.
    """
    epsilon, most = check_positive("epsilon", epsilon), check_count("d", d)
    law = _OneSided(epsilon, most)
    return _on_count(law, 0, most, f"one_sided_noise_count(d={d}, epsilon={epsilon:g})")


def data_dependent_clamp(d: int, epsilon: float) -> StatisticMechanism:
    """Wrong: a noisy count cut to 0 .. min(d, 2 * count), "to avoid absurd answers".

    The upper bound is computed from the data, so answers above it give the count away. Flip one
    bit: epsilon infinite, on the tables with fewer than d/2 ones; elsewhere epsilon.
    """
    epsilon, most = check_positive("epsilon", epsilon), check_count("d", d)
    law = _TwiceTheCount(epsilon, most)
    return _on_count(law, 0, most, f"data_dependent_clamp(d={d}, epsilon={epsilon:g})")


def subsampled_count(d: int, epsilon: float, rate: float) -> StatisticMechanism:
    """Each record is kept with probability ``rate``; then the count of the kept, with noise.

    The noise is that of ``truncated_geometric_count(d, epsilon)``. Flip one bit: exactly
    ln(1 + rate (e^epsilon - 1)), less than epsilon. Proof: with c+1 ones instead of c, another
    one is kept with probability ``rate``, which changes the probability of an output by a
    factor in [1 - rate + rate e^-epsilon, 1 - rate + rate e^epsilon]; the upper end is reached
    at the output d, and it is the farther from 1, as the product of the two ends is
    1 + rate (1 - rate) (e^epsilon + e^-epsilon - 2) >= 1.

    Raises InputError unless 0 < rate <= 1 and d <= 500.
    """
    epsilon, most = check_positive("epsilon", epsilon), check_count("d", d)
    if not 0.0 < check_positive("rate", rate) <= 1.0:
        raise InputError(f"rate={shown(rate)} must be above 0 and at most 1", name="rate")
    if most > _MOST_SUBSAMPLED:
        raise InputError(f"d={d} must be at most {_MOST_SUBSAMPLED} here", name="d", value=d)
    law = _Subsampled(epsilon, float(rate), most)
    name = f"subsampled_count(d={d}, epsilon={epsilon:g}, rate={rate:g})"
    largest = float(np.abs(law(np.arange(most + 1))).max())
    error = 4 * ULP * (most + 2) * (1 + largest)
    return StatisticMechanism(Count(), range(most + 1), law, error=error, name=name)


def _on_count(
    law: _Geometric | _OneSided | _TwiceTheCount, lower: int, upper: int, name: str
) -> StatisticMechanism:
    return StatisticMechanism(Count(), range(lower, upper + 1), law, exact_zeros=True, name=name)


@lru_cache(maxsize=8)
def _subsampled_logs(most: int, epsilon: float, rate: float) -> FloatArray:
    """(most + 1, most + 1): row c is the law of the noisy count when c of the bits are ones.

    The untruncated law nu_c(z) of kept + noise satisfies nu_{c+1}(z) = (1 - rate) nu_c(z) +
    rate nu_c(z - 1). Up to z = 0 it is q^-z times a power, and so are both tails.
    """
    with np.errstate(divide="ignore"):
        kept, dropped = np.log(rate), np.log1p(-rate)
    rows = np.arange(most + 1)
    down = np.log1p(rate * math.expm1(-epsilon)) * rows
    up = np.logaddexp(dropped, kept + epsilon) * rows
    logs = np.empty((most + 1, most + 1))
    logs[0] = log_peak(epsilon) - epsilon * rows
    for c in range(most):
        logs[c + 1, 1:] = np.logaddexp(dropped + logs[c, 1:], kept + logs[c, :-1])
        logs[c + 1, 0] = log_peak(epsilon) + down[c + 1]
    logs[:, 0] = log_at_most(0, epsilon) + down
    logs[:, -1] = log_at_most(-most, epsilon) + up
    logs.setflags(write=False)
    return logs
