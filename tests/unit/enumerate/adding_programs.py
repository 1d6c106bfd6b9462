"""Programs whose loops over records add up, for ``test_adding_loops``."""

# Loops as users write them.
# ruff: noqa: PERF401, B007
from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np

HALF = 0.5
TWOS = 2**40


def total_in_branches(data: Any, rng: Any) -> int:
    total = 0
    for value in data:
        if rng.random() < HALF:
            total += value
        else:
            total += rng.random() < HALF
    return total


def total_of_some(data: Any) -> float:
    total, n = 0, len(data)
    for value in data:
        if random.random() < HALF:
            total = total + value
        elif random.random() < HALF:
            total = 1 + total
    return (total / n - 0.25) / 0.5


def subtracted(data: Any, rng: Any) -> Any:
    left = 10
    for value in data:
        if rng.random() < 0.75:
            left -= value
        else:
            left -= 1 - value
    return {"left": left, "n": len(data)}


def unary_sums(data: Any, rng: Any) -> Any:
    sums = np.zeros(2)
    for value in data:
        bits = np.zeros(2)
        bits[value] = 1
        sums += (rng.random(2) < np.where(bits == 1, 0.5, 0.25)).astype(int)
    return sums


def listed_arrays(data: Any, rng: Any) -> Any:
    told = []
    for value in data:
        told.append(((rng.random(2) < 0.5) ^ bool(value)).astype(int))
    return np.sum(told, axis=0)


def counted_keys(data: Any, rng: Any) -> Any:
    counts = [0] * 2
    for value in data:
        key = value if rng.random() < 0.75 else 1 - value
        counts[key] += 1
    return counts


def counted_in_dict(data: Any, rng: Any) -> Any:
    counts = Counter()
    for i, value in enumerate(data):
        if rng.random() < 0.25:
            continue
        counts[int(value)] += 1
    return sum(counts.values())


def written_places(data: Any, rng: Any) -> Any:
    told = np.zeros(len(data), dtype=int)
    for i, value in enumerate(data):
        told[i] = value if rng.random() < 0.75 else 1 - value
    return told


def copy_written(data: Any, rng: Any) -> Any:
    noisy = data.copy()
    for i in range(len(noisy)):
        if rng.random() < 0.25:
            noisy[i] = 1 - noisy[i]
    return noisy.sum()


def kept_some(data: Any, rng: Any) -> Any:
    kept = []
    for value in data:
        if rng.random() < HALF:
            kept.append(int(value if rng.random() < 0.75 else 1 - value))
    return sorted(kept)


def in_a_closure(data: Any, rng: Any) -> Any:
    q = 0.25

    def told(value: int) -> list[int]:
        return [int(rng.random() < (HALF if i == value else q)) for i in range(2)]

    return [sum(column) for column in zip(*[told(int(value)) for value in data], strict=True)]


PRIVATE = [
    *(total_in_branches, total_of_some, subtracted, unary_sums, listed_arrays, counted_keys),
    *(written_places, copy_written, kept_some, in_a_closure),
]


# ---- what must not be taken for such a loop


def type_of_total(data: Any, rng: Any) -> str:
    total = 0
    for value in data:
        total += 1.0 if value else 1
    return repr(total)


def type_in_list(data: Any, rng: Any) -> Any:
    told = [0.0 if value else 0 for value in data]
    return str(told)


def type_by_size(data: Any, rng: Any) -> Any:
    total = 0
    for value in data:
        total += 1 if value else np.int64(1)
    return total * TWOS * TWOS


def type_by_division(data: Any, rng: Any) -> Any:
    total = 0
    for value in data:
        total += 0 if value else np.int64(0)
    return 1 // total


def changed_record(data: Any, rng: Any) -> Any:
    noisy = data.copy()
    for i, value in enumerate(noisy):
        secret = value
        value = int(rng.random() < HALF)
        noisy[i] = noisy[i]
        _ = secret
    return noisy


def read_back(data: Any, rng: Any) -> Any:
    noisy = data.copy()
    for i in range(len(noisy)):
        noisy[i] = rng.random() < HALF
        noisy[i] = data[i] * 2 - noisy[i]
    return noisy


def total_read(data: Any, rng: Any) -> Any:
    total, told = 0, 0
    for value in data:
        total += value * (rng.random() < HALF)
        told += total
    return told


def same_object(data: Any, rng: Any) -> Any:
    counts = np.zeros(2)
    other = counts
    for value in data:
        counts[value] += 1
        other[0] += rng.random() < HALF
    return counts


def behind_a_view(data: Any, rng: Any) -> Any:
    told = []
    for value in data:
        own = np.array([value, int(rng.random() < HALF)])
        told.append(own[1:])
    return [int(one.base[0]) for one in told]


def two_ways(data: Any, rng: Any) -> Any:
    cells = [0]
    for value in data:
        if value:
            cells[0] = 1 + 1
        else:
            cells[0] += 2
    return cells


def start_of_data(data: Any, rng: Any) -> Any:
    most = int(data.max())
    total = most
    for value in data:
        total += int(rng.random() < HALF)
    return total


def last_record(data: Any, rng: Any) -> Any:
    total = 0
    for value in data:
        total += int(rng.random() < HALF)
    return total, int(value)


LEAKING = [
    *(type_of_total, type_in_list, type_by_size, type_by_division, changed_record, read_back),
    *(total_read, same_object, behind_a_view, two_ways, start_of_data, last_record),
]
