"""Noisy histograms: algorithms 9 and 10 of Ding, Wang, Wang, Zhang and Kifer, CCS 2018."""

from catalogue.noise import laplace


def noisy_hist_1(answers, rng, *, epsilon=1.0, noise=laplace):
    """Algorithm 9: noise of scale 1/epsilon on each count."""
    return tuple(answers + noise(rng, 1 / epsilon, len(answers)))


def noisy_hist_2(answers, rng, *, epsilon=1.0, noise=laplace):
    """Algorithm 10: noise of scale epsilon, by mistake."""
    return tuple(answers + noise(rng, epsilon, len(answers)))
