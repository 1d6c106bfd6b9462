"""Small samplers of known privacy."""

from __future__ import annotations

import math

import numpy as np

import liptest as lt

TRUTH = 1 / (1 + math.exp(-1.0))
BIT = lt.ProductDistribution.uniform(lt.Hypercube(1))


def responses(x, n, rng):
    """Randomised response of every bit: epsilon 1 exactly."""
    return np.where(rng.random((n, len(x))) < TRUTH, x, 1 - x).astype(np.int8)


def one_response(x, rng):
    return int(x[0]) if rng.random() < TRUTH else 1 - int(x[0])


def laplace_count(x, n, rng):
    """A count with continuous noise: epsilon 1 exactly."""
    return x.sum() + rng.laplace(0.0, 1.0, n)


def leak(x, n, rng):
    """(1, 0.01)-private, no better at delta 0: the bit is shown, marked, once in a hundred."""
    answer = responses(x[:1], n, rng)[:, 0]
    return np.where(rng.random(n) < 0.01, 2 + x[0], answer)


def raising(x, rng):
    """Raises for sure when no bit is set."""
    if not x.any():
        raise ZeroDivisionError("no bit")
    return one_response(x, rng)
