"""What many releases cost together: liptest's enclosures beside Google's dp_accounting.

Run ``python benchmarks/composition.py``. The column of dp_accounting is there where it is
installed (it is no dependency); its grid has the same step, and is pessimistic as ours from above.
Exact values are sums over the binomial law, and over the law of a sum of noise.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

import liptest as lt
from liptest.privacy.composition import Composition, compose

STEP = 2**-10
DOMAIN = lt.Hypercube(3)
WINDOW = 400


def main() -> None:
    """Print a row for each case."""
    header = ("case", "epsilon", "liptest from", "to", "s", "dp_accounting", "s", "exact")
    print(("{:<34}{:>8}" + "{:>16}" * 2 + "{:>8}{:>16}{:>8}{:>16}").format(*header))
    for name, epsilon, ours, theirs, exact in cases():
        started = time.process_time()
        found = ours().delta_at(epsilon)
        seconds = time.process_time() - started
        other, other_seconds = _timed(theirs)
        shown = [f"{found.lower:.9g}", f"{found.upper:.9g}", f"{seconds:.2f}"]
        shown += [other, other_seconds, f"{exact:.9g}"]
        assert found.lower <= exact * (1 + 1e-9), name
        assert exact <= found.upper * (1 + 1e-9), name
        print(
            ("{:<34}{:>8g}" + "{:>16}" * 2 + "{:>8}{:>16}{:>8}{:>16}").format(name, epsilon, *shown)
        )


def cases() -> list[tuple[str, float, Callable[[], Composition], Callable[[], float], float]]:
    """Name, epsilon, liptest, dp_accounting, exact delta."""
    gauss = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(10))
    found = []
    for releases, epsilon in ((100, 2.0), (1000, 5.0), (1000, 12.0)):
        found.append(
            (
                f"{releases} randomised responses of 0.1",
                epsilon,
                lambda k=releases: compose(
                    [lt.catalogue.randomised_response(1, 0.1)],
                    releases=k,
                    domain=lt.Hypercube(1),
                    step=STEP,
                ),
                lambda k=releases, at=epsilon: _response(0.1, k, at),
                exact_response(0.1, releases, epsilon),
            )
        )
    for releases, epsilon in ((100, 4.0), (100, 8.0)):
        found.append(
            (
                f"{releases} discrete Gaussians of 10",
                epsilon,
                lambda k=releases: compose([gauss], releases=k, domain=DOMAIN, step=STEP),
                lambda k=releases, at=epsilon: _gauss(10, k, at),
                exact_gauss(10.0, releases, epsilon),
            )
        )
    return found


def exact_response(epsilon: float, releases: int, at: float) -> float:
    """delta of k randomised responses, over the binomial law."""
    p = 1 / (1 + math.exp(-epsilon))
    terms = (
        math.exp(
            math.lgamma(releases + 1)
            - math.lgamma(j + 1)
            - math.lgamma(releases - j + 1)
            + j * math.log(p)
            + (releases - j) * math.log1p(-p)
        )
        * -math.expm1(at - (2 * j - releases) * epsilon)
        for j in range(releases + 1)
        if (2 * j - releases) * epsilon > at
    )
    return math.fsum(terms)


def exact_gauss(sigma: float, releases: int, at: float) -> float:
    """delta of k discrete Gaussians shifted by 1: the loss is a function of the sum of noise."""
    x = np.arange(-WINDOW, WINDOW + 1)
    law = np.exp(-(x**2) / (2 * sigma**2))
    law /= law.sum()
    total = np.ones(1)
    for _ in range(releases):
        total = np.convolve(total, law)
    n = np.arange(len(total)) - WINDOW * releases
    gap = np.maximum(-np.expm1(np.minimum(at - (releases - 2 * n) / (2 * sigma**2), 0.0)), 0.0)
    return float(np.sum(total * gap))


def _timed(run: Callable[[], float]) -> tuple[str, str]:
    if find_spec("dp_accounting") is None:
        return "not installed", "-"
    started = time.process_time()
    found = run()
    return f"{found:.9g}", f"{time.process_time() - started:.2f}"


def _response(epsilon: float, releases: int, at: float) -> float:
    from dp_accounting.pld import privacy_loss_distribution as pld

    noise = 2 / (1 + math.exp(epsilon))
    one = pld.from_randomized_response(noise, 2, value_discretization_interval=STEP)
    return float(one.self_compose(releases).get_delta_for_epsilon(at))


def _gauss(sigma: int, releases: int, at: float) -> float:
    from dp_accounting.pld import privacy_loss_distribution as pld

    one = pld.from_discrete_gaussian_mechanism(sigma, value_discretization_interval=STEP)
    return float(one.self_compose(releases).get_delta_for_epsilon(at))


if __name__ == "__main__":
    main()
