"""Mechanisms whose true privacy is known: right ones, and wrong ones with realistic faults.

Each function returns a mechanism; its docstring gives the neighbouring relation and the exact
epsilon of the mechanism, whatever number it was called with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.domains import Hypercube, IntArray
from liptest.errors import InputError, check_count, check_open_unit, check_positive, quote
from liptest.mechanisms.declared import ClosedForm, ExactForm, StatisticMechanism
from liptest.mechanisms.laws import FloatArray
from liptest.statistics.sums import Count, Histogram

# Logs of two-sided geometric noise whose tails are put on the end outputs.
#
# With q = exp(-epsilon) the noise j has probability (1-q)/(1+q) q^|j|, and Pr[noise <= t] is
# q^-t / (1+q) for t <= 0 and 1 - q^(t+1) / (1+q) for t >= 0. Everything stays in logs, so that no
# probability underflows.


#: Unit roundoff times two; declared errors are multiples of it.
ULP = 2.0**-52


def log_peak(epsilon: float) -> float:
    """ln((1-q)/(1+q)), the log probability of no noise."""
    return math.log(-math.expm1(-epsilon)) - math.log1p(math.exp(-epsilon))


def log_at_most(threshold: ArrayLike, epsilon: float) -> FloatArray:
    """ln Pr[noise <= threshold] for whole numbers; by symmetry also of noise >= -threshold."""
    t = np.asarray(threshold, dtype=np.float64)
    weight = math.log1p(math.exp(-epsilon))
    low = epsilon * np.minimum(t, 0.0) - weight
    high = np.log1p(-np.exp(-epsilon * (np.maximum(t, 0.0) + 1.0) - weight))
    return np.where(t <= 0.0, low, high)


def make_truncated_logs(
    values: NDArray[np.int64], lower: int, upper: ArrayLike, most: int, epsilon: float
) -> FloatArray:
    """Log probabilities of the outputs lower .. most of noisy values cut to lower .. upper.

    ``values`` and ``upper`` are (m,) (or upper one number, at most ``most``); outputs above
    ``upper`` get -inf. Shape (m, most - lower + 1).
    """
    value = values.astype(np.float64)[:, None]
    top = np.broadcast_to(np.asarray(upper), values.shape)[:, None]
    outputs = np.arange(lower, most + 1)
    logs = log_peak(epsilon) - epsilon * np.abs(outputs - value)
    logs[:, 0] = log_at_most(lower - value[:, 0], epsilon)
    logs = np.where(outputs == top, log_at_most(value - top, epsilon), logs)
    logs = np.where((outputs == top) & (top == lower), 0.0, logs)
    return np.asarray(np.where(outputs > top, -np.inf, logs))


# Noisy counts of a table of bits; neighbours differ in one bit (Hypercube(d)).


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
        return make_truncated_logs(clamped, self.lower, self.upper, self.upper, self.epsilon)


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
        return make_truncated_logs(values, 0, upper, self.most, self.epsilon)


@dataclass(frozen=True)
class _Subsampled:
    epsilon: float
    rate: float
    most: int

    def __call__(self, values: NDArray[np.int64]) -> FloatArray:
        return np.asarray(_make_subsampled_logs(self.most, self.epsilon, self.rate)[values])


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
            f"lower={quote(lower)}, upper={quote(upper)} must satisfy 0 <= lower < upper <= {d}",
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
        raise InputError(f"rate={quote(rate)} must be above 0 and at most 1", name="rate")
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
def _make_subsampled_logs(most: int, epsilon: float, rate: float) -> FloatArray:
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


# Wrong mechanisms whose fault shows rarely, or on one dataset only (Hypercube(d)).


#: The output of ``leak`` that says nothing.
WITHHELD = "withheld"


@dataclass(frozen=True)
class _Leak:
    probability: float
    record: int

    def __call__(self, datasets: IntArray) -> FloatArray:
        logs = np.full((len(datasets), 3), -np.inf)
        logs[:, 0] = math.log1p(-self.probability)
        logs[np.arange(len(datasets)), 1 + datasets[:, self.record]] = math.log(self.probability)
        return logs


@dataclass(frozen=True)
class _Needle:
    epsilon: float
    dataset: tuple[int, ...]
    most: int

    def __call__(self, datasets: IntArray) -> FloatArray:
        counts = datasets.sum(axis=1, dtype=np.int64)
        logs = make_truncated_logs(counts, 0, self.most, self.most, self.epsilon)
        rows = np.flatnonzero((datasets == np.asarray(self.dataset)).all(axis=1))
        logs[rows] = -np.inf
        logs[rows, np.minimum(counts[rows], self.most)] = 0.0
        return logs


def leak(d: int, probability: float, *, record: int = 0) -> ClosedForm:
    """Wrong: shows the bit of one record with a small probability, else "withheld".

    Flip one bit: epsilon infinite; exactly (0, probability)-DP. The bad pairs are those that
    differ in that record. InputError unless 0 < probability < 1 and 0 <= record < d.
    """
    share = check_open_unit("probability", probability)
    if check_count("record", record, least=0) >= check_count("d", d):
        raise InputError(f"record={record} must be below d={d}", name="record", value=record)
    law = _Leak(share, record)
    name = f"leak(d={d}, probability={share:g})"
    return ClosedForm((WITHHELD, 0, 1), law, exact_zeros=True, name=name)


def needle(d: int, dataset: ArrayLike, epsilon: float, *, outputs: int | None = None) -> ClosedForm:
    """Wrong on one dataset: there the count is shown without noise.

    Elsewhere it is ``truncated_geometric_count(d, epsilon, outputs=outputs)``. Flip one bit:
    epsilon infinite, exactly epsilon on all pairs without the needle, so the exact exception
    mass is the lesser of the needle's mass and that of its neighbours.
    """
    epsilon = check_positive("epsilon", epsilon)
    most = check_count("d", d) if outputs is None else check_count("outputs", outputs, least=2) - 1
    points = Hypercube(d).check_points(dataset)
    if len(points) != 1:
        raise InputError(
            f"dataset={quote(dataset)} must be one dataset of {d} bits", name="dataset"
        )
    law = _Needle(epsilon, tuple(points[0].tolist()), most)
    name = f"needle(d={d}, epsilon={epsilon:g})"
    return ClosedForm(range(most + 1), law, exact_zeros=True, name=name)


# Randomised response: each record answers for itself (S. Warner, 1965).


# 2^d outputs.
_MOST_BITS = 12


@dataclass(frozen=True)
class _Bits:
    epsilon: float
    d: int

    def __call__(self, datasets: IntArray) -> FloatArray:
        # A law by which bits are lies is that of each dataset in another order.
        lies = _answers(self.d).sum(axis=1)
        logs = -self.epsilon * lies - self.d * math.log1p(math.exp(-self.epsilon))
        numbers = datasets.astype(np.int64) @ (1 << np.arange(self.d)[::-1])
        return np.asarray(logs[numbers[:, None] ^ np.arange(1 << self.d)])


@dataclass(frozen=True)
class _Choice:
    epsilon: float
    k: int

    def __call__(self, datasets: IntArray) -> FloatArray:
        truth = -math.log1p((self.k - 1) * math.exp(-self.epsilon))
        lies = datasets != np.arange(self.k)
        return np.asarray(truth - self.epsilon * lies)


@dataclass(frozen=True)
class _ExactBits:
    keep: Fraction
    d: int

    def __call__(self, dataset: IntArray) -> list[Fraction]:
        lies = (dataset != _answers(self.d)).sum(axis=1).tolist()
        masses = [self.keep ** (self.d - lie) * (1 - self.keep) ** lie for lie in range(self.d + 1)]
        return [masses[lie] for lie in lies]


def randomised_response(d: int, epsilon: float) -> ClosedForm:
    """Each bit is shown as it is with probability e^epsilon / (1 + e^epsilon), else flipped.

    Outputs are all tuples of d bits. Hypercube(d), flip one bit: exactly epsilon-DP.
    InputError for d > 12.
    """
    law = _Bits(check_positive("epsilon", epsilon), _few_bits(d))
    return ClosedForm(_outputs(d), law, name=f"randomised_response(d={d}, epsilon={epsilon:g})")


def exact_randomised_response(d: int, keep: Fraction) -> ExactForm:
    """``randomised_response`` with an exact rational probability of showing the true bit.

    Hypercube(d), flip one bit: epsilon is exactly ln(keep / (1 - keep)), in absolute value.
    InputError for d > 12 or keep not strictly between 0 and 1.
    """
    try:
        share = Fraction(keep)
    except (TypeError, ValueError):
        share = Fraction(0)
    if not 0 < share < 1:
        raise InputError(
            f"keep={quote(keep)} must be a Fraction strictly between 0 and 1",
            name="keep",
            value=keep,
        )
    law = _ExactBits(share, _few_bits(d))
    return ExactForm(
        tuple(_outputs(d)), law, name=f"exact_randomised_response(d={d}, keep={share})"
    )


def k_ary_randomised_response(k: int, epsilon: float) -> ClosedForm:
    """One of k values is shown with probability e^epsilon / (k-1 + e^epsilon), else another.

    RecordGrid([k]), replace the one record: exactly epsilon-DP. InputError for k < 2.
    """
    law = _Choice(check_positive("epsilon", epsilon), check_count("k", k, least=2))
    name = f"k_ary_randomised_response(k={k}, epsilon={epsilon:g})"
    return ClosedForm(range(k), law, name=name)


def _few_bits(d: int) -> int:
    if check_count("d", d) > _MOST_BITS:
        raise InputError(
            f"d={d} bits have 2**{d} outputs; at most d={_MOST_BITS} here", name="d", value=d
        )
    return d


def _answers(d: int) -> NDArray[np.int64]:
    # All rows of d bits, in the order of the numbers they spell.
    return np.arange(1 << d)[:, None] >> np.arange(d)[::-1] & 1


def _outputs(d: int) -> list[tuple[int, ...]]:
    return [tuple(answer) for answer in _answers(d).tolist()]


# Choosing the item with most votes; one of d voters changes the vote (RecordGrid([k] * d)).


_MOST_CHOICES = 64


@dataclass(frozen=True)
class _Exponential:
    epsilon: float

    def __call__(self, votes: NDArray[np.int64]) -> FloatArray:
        scores = self.epsilon / 2 * (votes - votes.max(axis=1, keepdims=True))
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))


@dataclass(frozen=True)
class _PermuteAndFlip:
    """P(r) = p_r * mean over the place of r of the chance that all before it fail their flip.

    m of the other k-1 come before r, every set of m equally likely, so the mean is the sum over m
    of e_m(1 - p_others) / (k C(k-1, m)), e_m the elementary symmetric polynomial: positive
    terms only, the first of which is 1/k.
    """

    epsilon: float

    def __call__(self, votes: NDArray[np.int64]) -> FloatArray:
        scores = self.epsilon / 2 * (votes - votes.max(axis=1, keepdims=True))
        fail = -np.expm1(scores)
        k = votes.shape[1]
        waits = [self._first_success(np.delete(fail, r, axis=1)) for r in range(k)]
        return np.asarray(scores + np.log(np.stack(waits, axis=1)))

    def _first_success(self, fail: FloatArray) -> FloatArray:
        others = fail.shape[1]
        symmetric = np.zeros((len(fail), others + 1))
        symmetric[:, 0] = 1.0
        for column in fail.T:
            symmetric[:, 1:] += symmetric[:, :-1] * column[:, None]
        places = [(others + 1) * math.comb(others, m) for m in range(others + 1)]
        return np.asarray(symmetric @ (1.0 / np.array(places, dtype=np.float64)))


def exponential_mechanism(d: int, epsilon: float, *, choices: int = 3) -> StatisticMechanism:
    """Item o with probability proportional to exp(epsilon votes(o) / 2) (McSherry, Talwar 2007).

    d voters, ``choices`` = k items, outputs 0 .. k-1. Replace one vote: epsilon-DP, exactly
    epsilon/2 + ln(1 + (u-1)(u^(d-1) - 1) / (u + u^(d-1) + k - 2)) with u = e^(epsilon/2): the pair
    that takes the only vote of an item away and gives it to the item with all others.
    """
    k, voters = _items(choices), check_count("d", d)
    law = _Exponential(check_positive("epsilon", epsilon))
    return _choosing("exponential_mechanism", law, k, voters)


def permute_and_flip(d: int, epsilon: float, *, choices: int = 3) -> StatisticMechanism:
    """Items in random order; item o is taken with probability exp(epsilon (votes(o) - most) / 2).

    R. McKenna, D. Sheldon, "Permute-and-Flip", 2020: never worse than the exponential mechanism.
    d voters, ``choices`` = k items, outputs 0 .. k-1. Replace one vote: epsilon-DP. Exact epsilon,
    d >= 2: epsilon - ln(I(e^(-epsilon d/2)) / I(e^(-epsilon (d-1)/2))) (epsilon for k = 2), where
    I(p) is the integral of (1-t)(1-tp)^(k-2) over 0 .. 1: the pair of ``exponential_mechanism``
    (found by enumeration for small d and k, not proved).
    """
    k, voters = _items(choices), check_count("d", d)
    law = _PermuteAndFlip(check_positive("epsilon", epsilon))
    return _choosing("permute_and_flip", law, k, voters)


def _items(choices: int) -> int:
    if check_count("choices", choices, least=2) > _MOST_CHOICES:
        raise InputError(
            f"choices={choices} must be at most {_MOST_CHOICES}", name="choices", value=choices
        )
    return choices


def _choosing(
    name: str, law: _Exponential | _PermuteAndFlip, k: int, voters: int
) -> StatisticMechanism:
    largest = law.epsilon / 2 * voters + math.log(k)
    return StatisticMechanism(
        Histogram(k),
        range(k),
        law,
        error=ULP * (8 + 4 * k + 4 * largest),
        name=f"{name}(d={voters}, epsilon={law.epsilon:g}, choices={k})",
    )


__all__ = [
    "clamped_geometric_count",
    "data_dependent_clamp",
    "exact_randomised_response",
    "exponential_mechanism",
    "k_ary_randomised_response",
    "leak",
    "needle",
    "one_sided_noise_count",
    "permute_and_flip",
    "randomised_response",
    "subsampled_count",
    "truncated_geometric_count",
]
