"""One answer with noise of other shapes: the staircase, the discrete Gaussian."""

import numpy as np

from catalogue.noise import two_sided_geometric


def staircase(answers, rng, *, epsilon=1.0, gamma=0.5):
    """Q. Geng and P. Viswanath, "The optimal mechanism in differential privacy", ISIT 2014,
    Algorithm 1, for one answer of sensitivity 1."""
    b = np.exp(-epsilon)
    sign = 2 * rng.integers(0, 2) - 1
    steps = rng.geometric(1 - b) - 1
    inner = rng.random() < gamma / (gamma + (1 - gamma) * b)
    u = rng.random()
    if inner:
        return answers[0] + sign * (steps + gamma * u)
    return answers[0] + sign * (steps + gamma + (1 - gamma) * u)


def discrete_gaussian(answers, rng, *, sigma=1.0):
    """C. Canonne, G. Kamath and T. Steinke, "The discrete Gaussian for differential privacy",
    NeurIPS 2020, Algorithm 3, for one answer: rejection from two-sided geometric noise."""
    t = np.floor(sigma) + 1
    while True:
        y = two_sided_geometric(rng, t)
        if rng.random() < np.exp(-((abs(y) - sigma**2 / t) ** 2) / (2 * sigma**2)):
            return answers[0] + y
