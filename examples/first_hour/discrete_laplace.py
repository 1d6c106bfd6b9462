"""Two-sided geometric noise in three ways, each on 5,000 records for epsilon = 1.

The inverse distribution function needs a delta: NumPy's uniforms lie on a grid of 2^53 points,
so the noise ends, and some outputs occur on one dataset only. The rejection sampler needs one for
the tail that is not followed.

It prints:

two geometrics: YES, proved
inverse distribution function: NO, refuted
inverse distribution function, delta 1e-12: YES, proved
rejection, delta 1e-12: YES, proved
half the noise: NO, refuted
"""

import math

from asking import ask

import liptest as lt

PEOPLE = lt.Hypercube(5_000)
FURTHER = math.exp(-1.0)


@lt.mechanism
def geometrics(data, rng):
    return int(data.sum()) + int(rng.geometric(1 - FURTHER)) - int(rng.geometric(1 - FURTHER))


def steps(rng):
    return math.floor(math.log(1 - rng.random()) / math.log(FURTHER))


@lt.mechanism
def inverse(data, rng):
    return int(data.sum()) + steps(rng) - steps(rng)


def coin(rng, top, bottom):
    """1 with probability exp(-top/bottom) (Canonne, Kamath, Steinke 2020)."""
    k = 1
    while rng.integers(0, bottom * k) < top:
        k += 1
    return k % 2 == 1


@lt.mechanism
def rejection(data, rng):
    while True:
        size = 0
        while coin(rng, 1, 1):
            size += 1
        sign = rng.integers(0, 2)
        if not (sign and size == 0):
            return int(data.sum()) + (size if sign == 0 else -size)


@lt.mechanism
def halved(data, rng):
    further = FURTHER**2
    return int(data.sum()) + int(rng.geometric(1 - further)) - int(rng.geometric(1 - further))


ask("two geometrics", geometrics, PEOPLE, epsilon=1)
ask("inverse distribution function", inverse, PEOPLE, epsilon=1)
ask("inverse distribution function, delta 1e-12", inverse, PEOPLE, epsilon=1, delta=1e-12)
ask("rejection, delta 1e-12", rejection, PEOPLE, epsilon=1, delta=1e-12)
ask("half the noise", halved, PEOPLE, epsilon=1)
