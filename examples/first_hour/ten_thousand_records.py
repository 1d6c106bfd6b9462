"""Five usual releases at 10,000 records, each right and with a scale that is too small.

It prints:

histogram: YES, proved
histogram, half the noise: NO, refuted
mean of ages: YES, proved
mean of ages, half the noise: NO, refuted
noisy maximum: YES, proved
noisy maximum, half the noise: NO, refuted
sparse vector: YES, proved
sparse vector, a quarter of the noise: NO, refuted
randomised response: YES, proved
randomised response, kept too often: NO, refuted
"""

import math

import numpy as np
from asking import ask

import liptest as lt

CELLS = lt.RecordGrid([8] * 10_000)
AGES = lt.RecordGrid([121] * 10_000)


def histogram(scale):
    def release(data, rng):
        return np.bincount(data, minlength=8) + rng.laplace(0, scale, size=8)

    return lt.mechanism(release)


def mean(scale):
    def release(data, rng):
        return float((data.sum() + rng.laplace(0, scale)) / len(data))

    return lt.mechanism(release)


def maximum(scale):
    def release(data, rng):
        return int(np.argmax(np.bincount(data, minlength=8) + rng.exponential(scale, size=8)))

    return lt.mechanism(release)


def sparse_vector(scale):
    def release(data, rng):
        threshold, told = 1_000 + rng.laplace(0, scale), []
        for cell in range(8):
            told.append(bool((data == cell).sum() + rng.laplace(0, 2 * scale) >= threshold))
            if told[-1]:
                break
        return tuple(told)

    return lt.mechanism(release)


def randomised(epsilon):
    keep = math.exp(epsilon) / (math.exp(epsilon) + 7)

    def release(data, rng):
        return [
            int(x) if rng.random() < keep else int((x + 1 + rng.integers(0, 7)) % 8) for x in data
        ]

    return lt.mechanism(release)


JOBS = {
    "histogram": (histogram(2.0), CELLS),
    "histogram, half the noise": (histogram(1.0), CELLS),
    "mean of ages": (mean(120.0), AGES),
    "mean of ages, half the noise": (mean(60.0), AGES),
    "noisy maximum": (maximum(2.0), CELLS),
    "noisy maximum, half the noise": (maximum(1.0), CELLS),
    "sparse vector": (sparse_vector(2.0), CELLS),
    "sparse vector, a quarter of the noise": (sparse_vector(0.5), CELLS),
    "randomised response": (randomised(1 - 1e-12), CELLS),
    "randomised response, kept too often": (randomised(2.0), CELLS),
}
for title, (mechanism, data) in JOBS.items():
    ask(title, mechanism, data, epsilon=1, max_seconds=600)
