"""pystatdp on some rows of the suite, for an interpreter that has it: no part of ``run_all.py``.

``python benchmarks/statdp_peer.py`` prints, for each mechanism at epsilon 1, the largest epsilon
tried that pystatdp rejects at p < 0.05, its samples and its seconds. The mechanisms are those of
``published_mechanisms.py``, one draw a call as pystatdp wants them. Needs ``pystatdp`` 0.1.3.
"""

from __future__ import annotations

import time

import numpy as np
import pystatdp
from published_mechanisms import leak, noisy_max, randomised_response, sparse_vector

RNG = np.random.default_rng(20)
CHOOSE, DETECT = 20_000, 200_000


def one_response(queries, epsilon):
    return int(randomised_response(queries[:1] % 2, 1, RNG, epsilon=epsilon)[0, 0])


def one_leak(queries, epsilon):
    return int(leak(queries % 2, 1, RNG, epsilon=epsilon, probability=1e-3)[0])


def one_argmax(queries, epsilon):
    return int(noisy_max(queries, 1, RNG, epsilon=epsilon, exponential=False, value=False)[0])


def one_svt4(queries, epsilon):
    return int(np.count_nonzero(sparse_vector(queries, 1, RNG, epsilon=epsilon, kind=4)[0] == 0))


TASKS = (
    ("randomised response, one bit", one_response, 1, (0.9, 0.95, 0.98)),
    ("leak 0.001", one_leak, 1, (0.9, 0.95, 0.98, 1.02)),
    ("NoisyMax1, 5 queries", one_argmax, 5, (0.7, 0.8, 0.9, 0.95)),
    ("SVT4, 10 queries (place of the end)", one_svt4, 10, (0.6, 1.0, 1.4, 1.6)),
)


def row(name, algorithm, queries, epsilons):
    started = time.perf_counter()
    detector = pystatdp.pystatdp()
    found = detector.detect_counterexample(
        algorithm,
        epsilons,
        {"epsilon": 1.0},
        num_input=queries,
        event_iterations=CHOOSE,
        detect_iterations=DETECT,
        cores=1,
        quiet=True,
    )
    seconds = time.perf_counter() - started
    pairs = 2 if queries == 1 else 8
    samples = 2 * len(epsilons) * (pairs * CHOOSE + DETECT)
    rejected = [epsilon for epsilon, p, *_ in found if p < 0.05]
    print(
        f"{name}: rejects {max(rejected, default=None)} of {epsilons}, about {samples:,} "
        f"samples, {seconds:.0f} s",
        flush=True,
    )


for task in TASKS:
    row(*task)
