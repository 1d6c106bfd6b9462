"""Report noisy max: which answer is largest, its value, and by how much.

Algorithms 5 to 8 of Z. Ding, Y. Wang, G. Wang, D. Zhang and D. Kifer, "Detecting violations of
differential privacy", CCS 2018.
"""

import numpy as np

from catalogue.noise import exponential, laplace


def noisy_max_1(answers, rng, *, epsilon=1.0, noise=laplace):
    """Algorithm 5: the place of the largest answer with Laplace noise."""
    return int(np.argmax(answers + noise(rng, 2 / epsilon, len(answers))))


def noisy_max_2(answers, rng, *, epsilon=1.0, noise=exponential):
    """Algorithm 6: the place of the largest answer with exponential noise."""
    return int(np.argmax(answers + noise(rng, 2 / epsilon, len(answers))))


def noisy_max_3(answers, rng, *, epsilon=1.0, noise=laplace):
    """Algorithm 7: the noisy maximum itself, not its place."""
    return np.max(answers + noise(rng, 2 / epsilon, len(answers)))


def noisy_max_4(answers, rng, *, epsilon=1.0, noise=exponential):
    """Algorithm 8: the maximum itself, with exponential noise."""
    return np.max(answers + noise(rng, 2 / epsilon, len(answers)))


def gap_noisy_max(answers, rng, *, epsilon=1.0, noise=laplace):
    """Noisy max with gap (Ding, Wang, Zhang and Kifer, PVLDB 13(3), 2019): the place and how far
    it is ahead of the second."""
    noisy = answers + noise(rng, 2 / epsilon, len(answers))
    best = int(np.argmax(noisy))
    second = np.max(np.delete(noisy, best))
    return best, noisy[best] - second
