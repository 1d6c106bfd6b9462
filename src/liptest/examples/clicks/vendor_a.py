"""Vendor A: a noisy click count, declared as a formula on the count. Claim: epsilon = 1.

Two-sided geometric noise; what falls below 0 or above 60 is put on 0 or 60.
"""

import numpy as np

import liptest as lt

EPSILON = 1.0
HIGHEST = 60


def log_probabilities(counts):
    """(m,) counts -> (m, 61) natural logs of the probabilities of the outputs 0 .. 60."""
    outputs = np.arange(HIGHEST + 1)
    # Beyond 60 all clicks count as 60: still one step per click, so still private.
    centres = np.minimum(counts, HIGHEST)[:, None]
    inner = np.log(np.tanh(EPSILON / 2))  # (1 - e^-epsilon) / (1 + e^-epsilon)
    ends = -np.log1p(np.exp(-EPSILON))  # the sum of everything from an end outwards
    at_end = (outputs == 0) | (outputs == HIGHEST)
    return np.where(at_end, ends, inner) - EPSILON * np.abs(outputs - centres)


count = lt.StatisticMechanism(lt.Count(), range(HIGHEST + 1), log_probabilities)
