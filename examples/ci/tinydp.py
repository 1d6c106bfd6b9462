"""A tiny library. Its claims are tests, and stand in pyproject.toml."""

import numpy as np

SCALE = 1.0  # of the noise, for epsilon = 1


def count(data, rng):
    """How many records are 1; epsilon = 1."""
    return float(data.sum() + rng.laplace(0, SCALE))


def histogram(data, rng):
    """How many records hold each of 0..7; epsilon = 1, for records that are replaced."""
    return np.bincount(data, minlength=8) + rng.laplace(0, 2 * SCALE, size=8)
