"""What many releases cost together: liptest's enclosures beside Google's dp_accounting.

Run ``python benchmarks/composition.py``. The column of dp_accounting is there where it is
installed (it is no dependency: it fixes older versions of others; ``nox -s accounting`` installs
it), and is its pessimistic bound on a grid of 2^-15. Exact values are sums over the binomial law,
and over the law of a sum of noise.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

import liptest as lt
from liptest.privacy.composition import Composition, compose

STEP = 2**-15
DOMAIN = lt.Hypercube(1)
#: By how much bounds and exact values may differ: the exact ones are sums of floats.
NEAR = 1e-6
Law = list[tuple[float, float]]
WINDOW = 400


def main() -> None:
    """Print a row for each case, then how wide enclosures are where losses have no lattice."""
    header = ("case", "epsilon", "liptest from", "to", "s", "dp_accounting", "s", "exact")
    print(("{:<38}{:>8}" + "{:>16}" * 2 + "{:>8}{:>16}{:>8}{:>16}").format(*header))
    for name, epsilon, ours, theirs, exact in cases():
        started = time.process_time()
        found = ours().delta_at(epsilon)
        seconds = time.process_time() - started
        other, other_seconds = _timed(theirs)
        if other_seconds != "-":
            # A pessimistic bound is never below what is certain.
            assert float(other) >= found.lower * (1 - 1e-9), name
        shown = [f"{found.lower:.10g}", f"{found.upper:.10g}", f"{seconds:.2f}"]
        shown += [other, other_seconds, f"{exact:.9g}"]
        assert found.lower * (1 - 1e-9) <= exact <= found.upper * (1 + 1e-9), name
        assert found.upper <= exact * (1 + NEAR), name
        print(
            ("{:<38}{:>8g}" + "{:>16}" * 2 + "{:>8}{:>16}{:>8}{:>16}").format(name, epsilon, *shown)
        )
    print_widths()


def print_widths() -> None:
    """100 releases of laws whose losses have no common measure: (upper - lower) / upper."""
    header = ("100 releases, no lattice", "delta", "epsilon from", "to", "share", "of delta", "s")
    print(("\n{:<38}{:>8}" + "{:>16}" * 2 + "{:>10}" * 2 + "{:>8}").format(*header))
    for name, program, options in without_lattice():
        started = time.process_time()
        found = compose([lt.mechanism(program)], releases=100, domain=DOMAIN, **options)
        for delta in (1e-3, 1e-6, 1e-12):
            at = found.epsilon_at(delta)
            back = found.delta_at(at.upper)
            shares = [1 - one.lower / one.upper for one in (at, back)]
            seconds = time.process_time() - started
            shown = [f"{at.lower:.10g}", f"{at.upper:.10g}", *(f"{one:.1e}" for one in shares)]
            print(
                ("{:<38}{:>8g}" + "{:>16}" * 2 + "{:>10}" * 2 + "{:>8.1f}").format(
                    name, delta, *shown, seconds
                )
            )


def without_lattice() -> list[tuple[str, Any, dict[str, Any]]]:
    """Name, program on one bit, options: five outputs at random, and continuous noise."""
    found: list[tuple[str, Any, dict[str, Any]]] = []
    rng = np.random.default_rng(5)
    for _ in range(2):
        row = rng.integers(20, 100, 5).tolist()
        other = row[::-1]
        found.append(("five outputs " + "-".join(map(str, row)), _answer(row, other), {}))
    rows = rng.integers(20, 100, (2, 4)).tolist()
    one_dataset = {"adaptive": False}
    found.append(("four outputs, one dataset", _answer(*rows), one_dataset))
    noisy = [(f"Laplace noise of scale {scale:g}", _laplace(scale)) for scale in (4.0, 20.0)]
    return found + [(name, program, {}) for name, program in noisy]


def _answer(row: list[int], other: list[int]) -> Any:
    def answer(data: Any, rng: Any) -> int:
        weights = (row, other)[int(data[0])]
        left = int(rng.integers(0, sum(weights)))
        for k, weight in enumerate(weights):
            if left < weight:
                return k
            left -= weight
        raise AssertionError

    return answer


def _laplace(scale: float) -> Any:
    return lambda data, rng: data[0] + rng.laplace(0.0, scale)


def cases() -> list[tuple[str, float, Callable[[], Composition], Callable[[], float], float]]:
    """Name, epsilon, liptest, dp_accounting, exact delta."""
    gauss = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(10))
    response = lt.catalogue.randomised_response(1, 0.1)
    found = []
    for releases, epsilon in ((100, 2.0), (1000, 5.0), (1000, 12.0)):
        found.append(
            (
                f"{releases} randomised responses of 0.1",
                epsilon,
                lambda k=releases: compose([response], releases=k, domain=DOMAIN),
                lambda k=releases, at=epsilon: _delta(_response(0.1).self_compose(k), at),
                exact_delta(responses(0.1, releases), [(0.0, 1.0)], epsilon),
            )
        )
    for releases, epsilon in ((100, 4.0), (100, 8.0)):
        found.append(
            (
                f"{releases} discrete Gaussians of 10",
                epsilon,
                lambda k=releases: compose([gauss], releases=k, domain=DOMAIN),
                lambda k=releases, at=epsilon: _delta(_gauss(10).self_compose(k), at),
                exact_delta(gaussians(10.0, releases), [(0.0, 1.0)], epsilon),
            )
        )
    for size in (0.1, math.pi / 30):
        one = lt.catalogue.randomised_response(1, size)
        found.append(
            (
                f"50 of each, responses of {size:.4g}",
                4.0,
                lambda one=one: compose([gauss, one], releases=50, domain=DOMAIN),
                lambda size=size: _delta(
                    _gauss(10).self_compose(50).compose(_response(size).self_compose(50)), 4.0
                ),
                exact_delta(gaussians(10.0, 50), responses(size, 50), 4.0),
            )
        )
    return found


def responses(epsilon: float, releases: int) -> Law:
    """Losses and probabilities of k randomised responses: the binomial law."""
    p = 1 / (1 + math.exp(-epsilon))
    return [
        (
            (2 * j - releases) * epsilon,
            math.comb(releases, j) * math.exp(j * math.log(p) + (releases - j) * math.log1p(-p)),
        )
        for j in range(releases + 1)
    ]


def gaussians(sigma: float, releases: int) -> Law:
    """Of k discrete Gaussians shifted by 1: the loss is a function of the sum of noise."""
    x = np.arange(-WINDOW, WINDOW + 1)
    law = np.exp(-(x**2) / (2 * sigma**2))
    law /= law.sum()
    total = np.ones(1)
    for _ in range(releases):
        total = np.convolve(total, law)
    n = np.arange(len(total)) - WINDOW * releases
    losses = (releases - 2 * n) / (2 * sigma**2)
    return list(zip(losses.tolist(), total.tolist(), strict=True))


def exact_delta(one: Law, other: Law, at: float) -> float:
    """delta of both together, term by term."""
    losses, masses = np.array(one).T
    terms = (
        mass * float(np.sum(masses * np.maximum(-np.expm1(np.minimum(rest - losses, 0.0)), 0.0)))
        for loss, mass in other
        for rest in [at - loss]
    )
    return math.fsum(terms)


def _timed(run: Callable[[], float]) -> tuple[str, str]:
    if find_spec("dp_accounting") is None:
        return "not installed", "-"
    started = time.process_time()
    found = run()
    return f"{found:.9g}", f"{time.process_time() - started:.2f}"


def _response(epsilon: float) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as pld

    noise = 2 / (1 + math.exp(epsilon))
    return pld.from_randomized_response(noise, 2, value_discretization_interval=STEP)


def _gauss(sigma: int) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as pld

    return pld.from_discrete_gaussian_mechanism(sigma, value_discretization_interval=STEP)


def _delta(distribution: Any, at: float) -> float:
    return float(distribution.get_delta_for_epsilon(at))


if __name__ == "__main__":
    main()
