"""Noise of the mechanisms: a function (rng, scale, size) each."""

import numpy as np


def laplace(rng, scale, size=None):
    """Density proportional to exp(-|x| / scale)."""
    return rng.laplace(scale=scale, size=size)


def exponential(rng, scale, size=None):
    """Density proportional to exp(-x / scale), x >= 0."""
    return rng.exponential(scale=scale, size=size)


def two_sided_geometric(rng, scale, size=None):
    """P(k) proportional to exp(-|k| / scale), k a whole number (Ghosh, Roughgarden and
    Sundararajan, "Universally utility-maximizing privacy mechanisms", STOC 2009)."""
    p = 1 - np.exp(-1 / scale)
    return rng.geometric(p, size=size) - rng.geometric(p, size=size)
