"""Randomised response: each record answers for itself (S. Warner, 1965)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from liptest.domains import IntArray
from liptest.errors import InputError, check_count, check_positive, shown
from liptest.mechanisms.closed_form import ClosedForm
from liptest.mechanisms.exact_table import ExactForm
from liptest.mechanisms.laws import FloatArray

# 2^d outputs.
_MOST_BITS = 12


@dataclass(frozen=True)
class _Bits:
    epsilon: float
    d: int

    def __call__(self, datasets: IntArray) -> FloatArray:
        answers = _answers(self.d).astype(np.float64)
        bits = datasets.astype(np.float64)
        lies = bits.sum(axis=1)[:, None] + answers.sum(axis=1) - 2 * bits @ answers.T
        return np.asarray(-self.epsilon * lies - self.d * math.log1p(math.exp(-self.epsilon)))


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
            f"keep={shown(keep)} must be a Fraction strictly between 0 and 1",
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
