"""A count with Laplace noise on 5,000 records, written in three ways.

It prints:

rng argument, claim 0.5: YES, proved
rng argument, claim 0.49: NO, refuted
np.random, claim 0.5: YES, proved
np.random, claim 0.49: NO, refuted
bound method, claim 0.5: YES, proved
bound method, claim 0.49: NO, refuted
"""

import numpy as np
from asking import ask

import liptest as lt


def told(data, rng):
    return float(data.sum() + rng.laplace(0, 2.0))


def hidden(data, rng):
    return float(data.sum() + np.random.laplace(0, 2.0))


class Counter:
    def __init__(self, scale):
        self.scale = scale

    def release(self, data, rng):
        return float(data.sum() + rng.laplace(0, self.scale))


WAYS = {"rng argument": told, "np.random": hidden, "bound method": Counter(2.0).release}
for name, function in WAYS.items():
    for epsilon in (0.5, 0.49):
        count = lt.mechanism(function)
        ask(f"{name}, claim {epsilon}", count, lt.Hypercube(5_000), epsilon=epsilon)
