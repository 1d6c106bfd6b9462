"""Eleven bugs that were published or shipped; each is refuted with two datasets and an output.

It prints:

no noise at all: NO, refuted
noise of half the scale: NO, refuted
noise of one side only: NO, refuted
noise with a fixed seed: NO, refuted
noise that is drawn once for two answers: NO, refuted
exact below a threshold: NO, refuted
length of the answer is that of the data: NO, refuted
sensitivity of a sum taken for that of a count: NO, refuted
sparse vector, noise at the answers forgotten: NO, refuted
sparse vector, the answer itself told: NO, refuted
the value of a noisy maximum told: NO, refuted
"""

import numpy as np
from asking import ask

import liptest as lt

PEOPLE, CELLS = lt.Hypercube(1_000), lt.RecordGrid([8] * 1_000)
ANSWERS = lt.AnswerGrid([3] * 5, relation="all")


def no_noise(data, rng):
    return int(data.sum())


def half_scale(data, rng):
    return float(data.sum() + rng.laplace(0, 0.5))


def one_side(data, rng):
    return float(data.sum() + rng.exponential(1.0))


def fixed_seed(data, rng):
    return float(data.sum() + np.random.default_rng(7).laplace(0, 1.0))


def reused(data, rng):
    noise = rng.laplace(0, 2.0)
    return float(data.sum() + noise), float((data == 0).sum() + noise)


def exact_if_small(data, rng):
    count = int(data.sum())
    return 0 if count < 100 else float(count + rng.laplace(0, 1.0))


def length(data, rng):
    return [1 for x in data if x] if rng.random() < 0.5 else []


def sum_as_count(data, rng):
    return float(data.sum() + rng.laplace(0, 1.0))


def svt_no_noise(data, rng):
    threshold = 1 + rng.laplace(0, 1.0)
    return tuple(bool(answer >= threshold) for answer in data)


def svt_tells(data, rng):
    threshold = 1 + rng.laplace(0, 2.0)
    for answer in data:
        if answer + rng.laplace(0, 4.0) >= threshold:
            return int(answer)
    return -1


def maximum_tells(data, rng):
    return float(np.max(np.bincount(data, minlength=8) + rng.exponential(2.0, size=8)))


BUGS = {
    "no noise at all": (no_noise, PEOPLE),
    "noise of half the scale": (half_scale, PEOPLE),
    "noise of one side only": (one_side, PEOPLE),
    "noise with a fixed seed": (fixed_seed, PEOPLE),
    "noise that is drawn once for two answers": (reused, PEOPLE),
    "exact below a threshold": (exact_if_small, PEOPLE),
    "length of the answer is that of the data": (length, PEOPLE),
    "sensitivity of a sum taken for that of a count": (sum_as_count, CELLS),
    "sparse vector, noise at the answers forgotten": (svt_no_noise, ANSWERS),
    "sparse vector, the answer itself told": (svt_tells, ANSWERS),
    "the value of a noisy maximum told": (maximum_tells, CELLS),
}
for title, (function, data) in BUGS.items():
    try:
        ask(title, lt.mechanism(function), data, epsilon=1, max_seconds=300)
    except lt.errors.LiptestError as error:
        print(f"{title}: {type(error).__name__} {error}")
