"""Servers that add up notes of their records, with the law of a note and the server by itself.

Each program keeps a value with probability 1/2 and draws one of ``K`` values otherwise; ``server``
is what it calculates from the list of all notes.
"""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

K = 3
#: What notes add to the numbers of a server, and what is done with each; tests set them.
TABLE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
STEP = 1


def tell(value: Any, rng: Any) -> int:
    if rng.random() < 0.5:
        return int(value)
    return int(rng.integers(K))


def counts(data: Any, rng: Any) -> Any:
    return np.bincount([tell(v, rng) for v in data], minlength=K)


def loop(data: Any, rng: Any) -> Any:
    told = [0] * K
    for v in data:
        told[tell(v, rng)] += 1
    return told


def estimates(data: Any, rng: Any) -> Any:
    n = len(data)
    reports = np.array([tell(v, rng) for v in data])
    return (np.bincount(reports, minlength=K) - n / 6) / 0.5


def loop_over_notes(data: Any, rng: Any) -> Any:
    reports = [tell(v, rng) for v in data]
    told = {0: 0, 1: 0, 2: 0}
    for r in reports:
        told[r] += 1
    return {j: c / len(reports) for j, c in told.items()}


def clipped(data: Any, rng: Any) -> Any:
    return np.clip(np.bincount([tell(v, rng) for v in data], minlength=K), 1, 4)


def rounded(data: Any, rng: Any) -> Any:
    reports = [tell(v, rng) for v in data]
    return [round(reports.count(j) / len(reports), 1) for j in range(K)]


def counter(data: Any, rng: Any) -> Any:
    told = collections.Counter([tell(v, rng) for v in data])
    return told[0], told.get(1, 0)


def total(data: Any, rng: Any) -> Any:
    return sum(tell(v, rng) for v in data)


def far(data: Any, rng: Any) -> Any:
    told = sum(tell(v, rng) for v in data)
    return "many" if told > 2 else told


def parity(data: Any, rng: Any) -> Any:
    told = sum(tell(v, rng) for v in data)
    return told % 2


def mean(data: Any, rng: Any) -> Any:
    return abs(float(np.mean([tell(v, rng) for v in data])) - 1.0)


def tables(data: Any, rng: Any) -> Any:
    reports = [tell(v, rng) for v in data]
    return [sum(row[r] for r in reports) // STEP for row in TABLE]


def bits(data: Any, rng: Any) -> Any:
    told = np.zeros(2)
    for v in data:
        r = tell(v, rng)
        told[0] += r % 2
        told[1] += 1 if r == 2 else -1
    return told


def last_differs(data: Any, rng: Any) -> Any:
    told = [0] * K
    for v in data:
        told[tell(v, rng)] += 1
    if told[0] > 2:
        return "many"
    return told[1] > 0


class Server:
    def __init__(self) -> None:
        self.told = [0] * K
        self.n = 0

    def add(self, report: int) -> None:
        self.told[report] += 1
        self.n += 1

    def shares(self) -> list[float]:
        return [c / self.n for c in self.told]


def server_object(data: Any, rng: Any) -> Any:
    server = Server()
    for v in data:
        server.add(tell(v, rng))
    return server.shares()


# ---- programs of which nothing is known so: order, types, aliases, random numbers of the server


def second_loop(data: Any, rng: Any) -> Any:
    told = [0] * K
    for v in data:
        told[tell(v, rng)] += 1
    every = 0
    for j in range(K):
        every += told[j]
    return every


def scanned(data: Any, rng: Any) -> Any:
    reports = [tell(v, rng) for v in data]
    state = 0
    for r in reports:
        state = 2 * state % 7 + r
    return state


def aliased(data: Any, rng: Any) -> Any:
    row = [0] * K
    rows = [row, row]
    for v in data:
        rows[0][tell(v, rng)] += 1
    return rows[1]


def central(data: Any, rng: Any) -> Any:
    return sum(tell(v, rng) for v in data) + int(rng.integers(2))


def small_type(data: Any, rng: Any) -> Any:
    told = np.zeros(K, dtype=np.int8)
    for v in data:
        told[tell(v, rng)] += 1
    return told


def float_order(data: Any, rng: Any) -> Any:
    told = 0.0
    for v in data:
        told += 0.1 if tell(v, rng) else 0.3
    return told


def not_a_number(data: Any, rng: Any) -> Any:
    told = 0.0
    for v in data:
        told += float("nan") if tell(v, rng) else 1.0
    return told


def negative_zero(data: Any, rng: Any) -> Any:
    told = -0.0
    for v in data:
        told += -0.0 if tell(v, rng) else 0.0
    return str(told)


def popped(data: Any, rng: Any) -> Any:
    reports = [tell(v, rng) for v in data]
    reports.pop()
    return np.bincount(reports, minlength=K)


def repeated(data: Any, rng: Any) -> Any:
    reports = [tell(v, rng) for v in data]
    return sum(reports * 2)


def counted_calls(data: Any, rng: Any) -> Any:
    reports = [tell(v, rng) for v in data]
    places = iter(range(1000))
    return sum(r * next(places) for r in reports)


def length_of_counts(data: Any, rng: Any) -> Any:
    return np.bincount([tell(v, rng) for v in data])


def typed(data: Any, rng: Any) -> Any:
    told = sum(tell(v, rng) for v in data)
    return type(told).__name__


def by_zero(data: Any, rng: Any) -> Any:
    return 1 / sum(tell(v, rng) for v in data)


def few_kept(data: Any, rng: Any) -> Any:
    reports = np.array([tell(v, rng) for v in data])
    return np.bincount(reports[:2], minlength=K)


def neighbours_in_order(data: Any, rng: Any) -> Any:
    reports = np.array([tell(v, rng) for v in data])
    return int((reports[1:] == reports[:-1]).sum())


def in_place(data: Any, rng: Any) -> Any:
    reports = np.array([tell(v, rng) for v in data])
    same = reports
    reports += 1
    return int(same.sum())


def walked_twice(data: Any, rng: Any) -> Any:
    reports = [tell(v, rng) for v in data]
    kept = (r for r in reports if r == 0)
    return sum(1 for _ in kept), sum(1 for _ in kept)


SHARED = [0, 0, 0]


def shared(data: Any, rng: Any) -> Any:
    rows = [SHARED, [0, 0, 0]]
    for v in data:
        rows[0][tell(v, rng)] += 1
    return rows[1], len(SHARED)


def same_arrays(data: Any, rng: Any) -> Any:
    rows = [np.zeros(K)] * 2
    for v in data:
        rows[0][tell(v, rng)] += 1
    return rows[1]


def noisy(data: Any, rng: Any) -> Any:
    told = np.bincount([tell(v, rng) for v in data], minlength=K)
    return [int(told[0]), rng.normal()]


def of_truths(data: Any, rng: Any) -> Any:
    reports = [tell(v, rng) for v in data]
    told = 0
    for r in reports:
        told += r == 1
    return told


def tens(data: Any, rng: Any) -> Any:
    return (sum(tell(v, rng) for v in data) + 1) // 10


CALLS = [0]


def counts_calls(data: Any, rng: Any) -> Any:
    told = sum(tell(v, rng) for v in data)
    CALLS[0] += 1
    return told if CALLS[0] < 5 else 0
