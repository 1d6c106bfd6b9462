"""Programs that give many random bits for each record, as people write them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import liptest as lt

BITS = 5
ONE_HOT = np.eye(BITS, dtype=int)
# Of values of three bits: what a filter of five places has.
BLOOM = np.array([[1, 0, 1, 0, 0], [0, 1, 1, 0, 1], [0, 0, 0, 1, 1]])


def whole_matrix(data: Any, rng: Any) -> Any:
    bits = ONE_HOT[data]
    return np.where(rng.random((len(data), BITS)) < 0.75, bits, 1 - bits)


def columns(data: Any, rng: Any) -> Any:
    flips = rng.random((len(data), BITS)) < 0.25
    return (ONE_HOT[data] ^ flips).sum(axis=0)


def arrays(data: Any, rng: Any) -> Any:
    return [np.where(rng.random(BITS) < 0.75, BLOOM[v], 1 - BLOOM[v]) for v in data]


def comprehension(data: Any, rng: Any) -> Any:
    return [[b if rng.random() < 0.75 else 1 - b for b in BLOOM[v].tolist()] for v in data]


def appended(data: Any, rng: Any) -> Any:
    told = []
    for v in data:
        row = []
        for b in ONE_HOT[v]:
            if rng.random() < 0.75:
                row.append(int(b))
            else:
                row.append(1 - int(b))
        told.append(row)
    return told


def by_place(data: Any, rng: Any) -> Any:
    told = []
    for v in data:
        row = np.zeros(BITS)
        for i in range(BITS):
            share = 0.5 if i == v else 0.25
            if rng.random() < share:
                row[i] = 1
        told.append(row)
    return told


def flip(bit: int, keep: float) -> int:
    return bit if random.random() < keep else 1 - bit


def flip_all(value: int, keep: float) -> list[int]:
    def again(bit: int) -> int:
        # The lasting answer, and the one of this report.
        return flip(flip(bit, keep), keep)

    return [again(int(place == value)) for place in range(BITS)]


def twice(data: Any) -> Any:
    return [flip_all(v, 0.75) for v in data]


class Client:
    """Keeps its shares, as libraries of local protocols do."""

    def __init__(self, kept: float, made: float) -> None:
        self.kept, self.made = kept, made

    def report(self, value: int) -> Any:
        bits = np.random.choice([1, 0], size=BITS, p=[self.made, 1 - self.made])
        bits[value] = 0
        if random.random() < self.kept:
            bits[value] = 1
        return bits


def methods(data: Any) -> Any:
    client = Client(0.5, 0.25)
    return [client.report(v) for v in data]


def masked(data: Any, rng: Any) -> Any:
    told = []
    for v in data:
        keep = rng.random(BITS) < 0.75
        told.append([int(b) if k else 1 - int(b) for b, k in zip(BLOOM[v], keep, strict=True)])
    return told


@lt.mechanism(per_record=True)
def copied(value: int, rng: Any) -> Any:
    row = BLOOM[value].copy()
    for i in range(BITS):
        if rng.random() < 0.25:
            row[i] = 1 - row[i]
    return row


@lt.mechanism(per_record=True)
def lasting(value: int, rng: Any) -> Any:
    row = []
    for place in range(BITS):
        bit = rng.random() < (0.75 if place == value else 0.25)
        row.append(int(rng.random() < (0.75 if bit else 0.5)))
    return row


APART = (
    *(whole_matrix, arrays, comprehension, appended, by_place, twice, methods, masked, copied),
    lasting,
)


def mask_beside(data: Any, rng: Any) -> Any:
    told = []
    for v in data:
        keep = rng.random(BITS) < 0.75
        row = [int(b) if k else 1 - int(b) for b, k in zip(BLOOM[v], keep, strict=True)]
        told.append([*row, bool(keep[0]), bool(keep[1])])
    return told


@lt.mechanism(per_record=True)
def viewed(value: int, rng: Any) -> Any:
    row = np.zeros(BITS)
    view = row[:]
    for i in range(BITS):
        if rng.random() < 0.25:
            row[i] = int(i == value)
    return view


def shared_coin(data: Any, rng: Any) -> Any:
    told = []
    for v in data:
        flips = rng.random() < 0.25
        told.append([int(b) ^ int(flips) for b in ONE_HOT[v]])
    return told


def carried(data: Any, rng: Any) -> Any:
    told = []
    for v in data:
        row, last = [], 0
        for b in ONE_HOT[v]:
            last = int(b) if rng.random() < 0.75 else last
            row.append(last)
        told.append(row)
    return told


def looked_back(data: Any, rng: Any) -> Any:
    told = []
    for v in data:
        row = [0] * BITS
        for i in range(BITS):
            before = row[i - 1]
            row[i] = int(i == v) if rng.random() < 0.75 else 1 - before
        told.append(row)
    return told


def other_name(data: Any, rng: Any) -> Any:
    told = []
    for v in data:
        row = np.zeros(BITS)
        same = row
        for i in range(BITS):
            if rng.random() < (0.75 if i == v else 0.25):
                row[i] = 1
        told.append([*row.tolist(), float(same.sum())])
    return told


def in_a_round(data: Any, rng: Any) -> Any:
    told = []
    for v in data:
        row = np.zeros(BITS)
        kept = row
        for _ in range(2):
            for i in range(BITS):
                if rng.random() < (0.75 if i == v else 0.25):
                    row[i] = 1 - row[i]
            kept = row
        told.append(kept)
    return told


def sum_beside(data: Any, rng: Any) -> Any:
    told = []
    for v in data:
        row = [int(b) if rng.random() < 0.75 else 0 for b in ONE_HOT[v]]
        told.append((row, sum(row)))
    return told


def drawn_before(data: Any, rng: Any) -> Any:
    told = []
    for v in data:
        coins = rng.random(BITS)
        row = [int(b) if u < 0.75 else 1 - int(b) for b, u in zip(ONE_HOT[v], coins, strict=True)]
        told.append((row, bool(coins[0] < 0.5)))
    return told


def caught(data: Any, rng: Any) -> Any:
    told = []
    for v in data:
        row: list[int] = []
        for b in ONE_HOT[v]:
            row.append(int(b) // int(rng.random() < 0.75))  # noqa: PERF401
        told.append(row)
    return told


DEPENDENT = (
    *(shared_coin, carried, looked_back, other_name, in_a_round, sum_beside, drawn_before),
    *(mask_beside, viewed),
)


def asking_types(data: Any) -> Any:
    def told(value: Any) -> list[int]:
        wrong = 0 if isinstance(value, int) else 1
        return [wrong ^ int(random.random() < 0.25) for _ in range(BITS)]

    return [told(v) for v in data]
