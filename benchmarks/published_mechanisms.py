"""The mechanisms on which privacy auditors are compared, as vectorised samplers in plain NumPy.

Written from the pseudocode of the papers: noisy maxima, histograms and partial sums from Ding,
Wang, Wang, Zhang and Kifer (CCS 2018); the sparse vectors 1 to 6 from Lyu, Su and Li (PVLDB 2017,
Figure 1); RAPPOR from Erlingsson, Pihur and Korolova (CCS 2014); leak and needle are ours. A
dataset is a vector of query answers; answers of neighbours differ by at most 1 each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Pair = tuple[list[int], list[int]]
Draw = Callable[[Array, int, np.random.Generator], Array]

QUERIES = 5
LONG = 10
THRESHOLD = 1
RAPPOR_BITS = 20
RAPPOR_F = 0.75


@dataclass(frozen=True)
class Published:
    """One row: a sampler at an epsilon, what to compare, what is known.

    ``true`` is the exact epsilon over the pairs, None where no closed form is at hand; ``quoted``
    is dp-sniper's bound at epsilon 1. ``domain`` holds the bits of a cube that is tried through
    the uniform law; else ``pairs`` are listed.
    """

    name: str
    draw: Draw
    true: float | None
    pairs: tuple[Pair, ...] = ()
    domain: int = 0
    finite: bool = True
    quoted: float | None = None


def randomised_response(x: Array, n: int, rng: np.random.Generator, *, epsilon: float) -> Array:
    kept = rng.random((n, len(x))) < 1 / (1 + math.exp(-epsilon))
    return np.where(kept, x, 1 - x).astype(np.int8)


def truncated_geometric(x: Array, n: int, rng: np.random.Generator, *, epsilon: float) -> Array:
    stop = -math.expm1(-epsilon)
    noise = rng.geometric(stop, n) - rng.geometric(stop, n)
    return np.clip(int(x.sum()) + noise, 0, len(x)).astype(np.int16)


def leak(
    x: Array, n: int, rng: np.random.Generator, *, epsilon: float, probability: float
) -> Array:
    """Randomised response of one bit that now and then shows the bit, marked as such."""
    answer = randomised_response(x[:1], n, rng, epsilon=epsilon)[:, 0]
    return np.where(rng.random(n) < probability, 2 + x[0], answer)


def needle(x: Array, n: int, rng: np.random.Generator, *, epsilon: float) -> Array:
    """A truncated geometric count that shows one dataset of all as it is."""
    if np.array_equal(x, np.arange(len(x)) % 3 == 0):
        return np.full(n, x.sum(), dtype=np.int16)
    return truncated_geometric(x, n, rng, epsilon=epsilon)


def noisy_max(
    x: Array, n: int, rng: np.random.Generator, *, epsilon: float, exponential: bool, value: bool
) -> Array:
    """Noisy maxima 1 to 4: Laplace or exponential noise of scale 2/epsilon, place or value."""
    noise = rng.exponential if exponential else partial(rng.laplace, 0.0)
    noisy = x + noise(2 / epsilon, (n, len(x)))
    return noisy.max(axis=1) if value else noisy.argmax(axis=1).astype(np.int8)


def noisy_histogram(x: Array, n: int, rng: np.random.Generator, *, scale: float) -> Array:
    return x + rng.laplace(0.0, scale, (n, len(x)))


@dataclass(frozen=True)
class Sparse:
    """One of the sparse vectors: noise scales at epsilon 1, and what it does at an "above"."""

    threshold: float
    query: float
    stops: bool = True
    redraws: bool = False
    shows: bool = False


SPARSE = {
    1: Sparse(2, 4),
    2: Sparse(2, 4, redraws=True),
    3: Sparse(2, 2, shows=True),
    4: Sparse(4, 4 / 3),
    5: Sparse(2, 0, stops=False),
    6: Sparse(2, 2, stops=False),
}


def sparse_vector(
    x: Array, n: int, rng: np.random.Generator, *, epsilon: float, kind: int
) -> Array:
    """(n, queries): 0 below, 1 above (number 3: the noisy answer), -1 after the end; c = 1."""
    law = SPARSE[kind]
    level = THRESHOLD + rng.laplace(0.0, law.threshold / epsilon, n)
    answers = np.broadcast_to(x.astype(float), (n, len(x)))
    if law.query:
        answers = answers + rng.laplace(0.0, law.query / epsilon, (n, len(x)))
    above = answers >= level[:, None]
    if not law.stops:
        return above.astype(np.int8)
    # c = 1: the run ends with the first "above", so a threshold drawn anew is never used.
    past = np.cumsum(above, axis=1) - above > 0
    if law.shows:
        return np.where(past, -1e9, np.where(above, answers, -1e8))
    return np.where(past, -1, above).astype(np.int8)


def rappor(x: Array, n: int, rng: np.random.Generator, *, instantaneous: bool) -> Array:
    """A value's Bloom filter of four bits, each bit replaced by a coin with probability f."""
    filled = np.zeros(RAPPOR_BITS, dtype=bool)
    filled[4 * int(x[0]) : 4 * int(x[0]) + 4] = True
    kept = rng.random((n, RAPPOR_BITS)) >= RAPPOR_F
    bits = np.where(kept, filled, rng.random((n, RAPPOR_BITS)) < 0.5)
    if instantaneous:
        bits = rng.random((n, RAPPOR_BITS)) < np.where(bits, 0.55, 0.45)
    return bits.astype(np.int8)


def patterns(length: int) -> tuple[Pair, ...]:
    """Pairs of answers that differ in every query or in one, first or last (our own list)."""
    half = length // 2
    others = [
        [2] * length,
        [0] * length,
        [2] + [0] * (length - 1),
        [0] * (length - 1) + [2],
        [0] + [2] * (length - 1),
        [2] * (length - 1) + [0],
        [0] * half + [2] * (length - half),
        [2] * half + [0] * (length - half),
        [2] + [1] * (length - 1),
        [1] * (length - 1) + [0],
    ]
    return tuple(([1] * length, other) for other in others)


def single_steps(length: int) -> tuple[Pair, ...]:
    """Histograms of which one count moves."""
    return (([1] * length, [2] + [1] * (length - 1)), ([1] * length, [1] * (length - 1) + [0]))


# Exact over ``patterns(10)`` at epsilon 1, by quadrature over the threshold's noise.
_SPARSE_TRUE = {1: 0.991, 2: 0.991, 3: math.inf, 4: 1.750, 5: math.inf, 6: 4.486}
# dp-sniper's bounds at epsilon 1.
_QUOTED = {1: 0.883, 4: 1.592, 5: 3.683, 6: 2.261}


def rows(epsilon: float) -> list[Published]:
    """The whole suite at one epsilon."""
    listed = [
        *responses(epsilon),
        *maxima(epsilon),
        *sparse_vectors(epsilon),
        *histograms(epsilon),
        *reports(),
        *leaks(epsilon),
    ]
    return listed if epsilon == 1.0 else [replace(row, quoted=None) for row in listed]


def responses(epsilon: float) -> list[Published]:
    laws = [
        ("randomised response, d=5", randomised_response, 5),
        ("randomised response, d=10", randomised_response, 10),
        ("truncated geometric count, d=20", truncated_geometric, 20),
    ]
    return [
        Published(name, partial(draw, epsilon=epsilon), epsilon, domain=d, quoted=0.994)
        for name, draw, d in laws
    ]


def maxima(epsilon: float) -> list[Published]:
    true = {1: 0.98 if epsilon == 1.0 else None, 2: epsilon, 3: 2.5 * epsilon, 4: math.inf}
    return [
        Published(
            f"NoisyMax{number}, {QUERIES} queries",
            partial(noisy_max, epsilon=epsilon, exponential=number % 2 == 0, value=number > 2),
            true[number],
            patterns(QUERIES),
            finite=number < 3,
            quoted={1: 0.974, 3: 2.205}.get(number),
        )
        for number in true
    ]


def sparse_vectors(epsilon: float) -> list[Published]:
    return [
        Published(
            f"SVT{number}, {LONG} queries",
            partial(sparse_vector, epsilon=epsilon, kind=number),
            _SPARSE_TRUE.get(number) if epsilon == 1.0 else None,
            patterns(LONG),
            finite=number != 3,
            quoted=_QUOTED.get(number),
        )
        for number in SPARSE
    ]


def histograms(epsilon: float) -> list[Published]:
    """Number 2 has noise of scale epsilon in place of 1/epsilon."""
    return [
        Published(
            f"NoisyHistogram{number}, {QUERIES} counts",
            partial(noisy_histogram, scale=scale),
            1 / scale,
            single_steps(QUERIES),
            finite=False,
        )
        for number, scale in ((1, 1 / epsilon), (2, epsilon))
    ]


def reports() -> list[Published]:
    """RAPPOR has its own parameters: eight bits of the filters differ."""
    flip = RAPPOR_F / 2
    kinds = []
    for name, instantaneous in (("permanent", False), ("instantaneous", True)):
        high, low = 1 - flip, flip
        if instantaneous:
            high, low = (0.55 * p + 0.45 * (1 - p) for p in (high, low))
        true = 8 * math.log(high / low)
        draw = partial(rappor, instantaneous=instantaneous)
        kinds.append(Published(f"RAPPOR, {name}", draw, true, (([0], [1]),)))
    return kinds


def leaks(epsilon: float) -> list[Published]:
    found = [
        Published(
            f"leak {probability:g}",
            partial(leak, epsilon=epsilon, probability=probability),
            math.inf,
            domain=1,
            quoted=quoted,
        )
        for probability, quoted in ((1e-3, 1.027), (1e-4, 0.995))
    ]
    hidden = partial(needle, epsilon=epsilon)
    found.append(Published("needle, one of 1024", hidden, math.inf, domain=10, quoted=0.996))
    return found
