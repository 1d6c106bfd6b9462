"""Choosing the item with most votes; one of d voters changes the vote (RecordGrid([k] * d))."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from liptest.errors import InputError, check_count, check_positive
from liptest.mechanisms.catalogue.geometric import ULP
from liptest.mechanisms.closed_form import StatisticMechanism
from liptest.mechanisms.laws import FloatArray
from liptest.statistics.histogram import Histogram

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
