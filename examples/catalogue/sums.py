"""Sums over a stream of numbers that change by at most 1.

Partial and smart sum as in Y. Wang, Z. Ding, D. Kifer and D. Zhang, "CheckDP: an automated and
integrated approach for proving differential privacy or finding precise counterexamples", CCS 2020;
prefix sum as in Wang, Ding, Wang, Kifer and Zhang, PLDI 2019.
"""

import numpy as np

from catalogue.noise import laplace


def partial_sum(values, rng, *, epsilon=1.0, noise=laplace):
    """The sum, noise of scale 1/epsilon."""
    return np.sum(values) + noise(rng, 1 / epsilon)


def bad_partial_sum(values, rng, *, epsilon=1.0, noise=laplace):
    """The sum, with noise that is too small by a factor of 2 (CheckDP)."""
    return np.sum(values) + noise(rng, 1 / (2 * epsilon))


def prefix_sum(values, rng, *, epsilon=1.0, noise=laplace):
    """All prefix sums of the noisy values."""
    return tuple(np.cumsum(values + noise(rng, 1 / epsilon, len(values))))


def smart_sum(values, rng, *, epsilon=1.0, block=2, noise=laplace):
    """Prefix sums in blocks: T.-H. H. Chan, E. Shi and D. Song, "Private and continual release of
    statistics", ICALP 2010."""
    out = []
    done, inside, last = 0, 0, 0
    for i, value in enumerate(values):
        if (i + 1) % block == 0:
            done = done + inside + value + noise(rng, 1 / epsilon)
            inside, last = 0, done
        else:
            inside = inside + value
            last = last + value + noise(rng, 1 / epsilon)
        out.append(last)
    return tuple(out)
