"""Programs that fill arrays and lists place by place; four kinds of records."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

#: Of ``respond``: a record keeps its kind with 5/8, and is each other one with 1/8.
EPSILON = math.log(5)


def respond(value: Any, rng: Any) -> int:
    return int(value) if rng.integers(0, 2) else int(rng.integers(0, 4))


def zeros(data: Any, rng: Any) -> Any:
    out = np.zeros(len(data), dtype=int)
    for i, value in enumerate(data):
        out[i] = respond(value, rng)
    return out


def zeros_of_floats(data: Any, rng: Any) -> Any:
    out = np.zeros(data.shape)
    for i, value in enumerate(data):
        out[i] = respond(value, rng)
    return out.tolist()


def alike(data: Any, rng: Any) -> Any:
    out = np.empty_like(data)
    for i in range(data.shape[0]):
        out[i] = respond(data[i], rng)
    return out.tolist()


def copied(data: Any, rng: Any) -> Any:
    out = data.copy()
    for i, value in enumerate(data):
        if rng.integers(0, 2) == 0:
            out[i] = rng.integers(0, 4)
        elif value > 9:
            out[i] = 0
    return out


def changed_in_place(data: Any, rng: Any) -> Any:
    values = data.tolist()
    for i, value in enumerate(values):
        values[i] = respond(value, rng)
    return values


def repeated(data: Any, rng: Any) -> Any:
    out = [None] * len(data)
    for i in range(len(data)):
        out[i] = respond(data[i], rng)
    return out


def listed(data: Any) -> Any:
    out = list(data)
    for i, value in enumerate(data):
        out[i] = int(value) if random.randrange(2) else random.randrange(4)
    return out


def _into(values: Any, rng: Any) -> Any:
    out = np.zeros(len(values), int)
    for i, value in enumerate(values):
        out[i] = respond(value, rng)
    return out


def by_a_helper(data: Any, rng: Any) -> Any:
    return _into(data, rng)


def counted_entries(data: Any, rng: Any) -> Any:
    return [respond(value, rng) for _, value in enumerate(data)]


FILLING = [
    *(zeros, zeros_of_floats, alike, copied, changed_in_place, repeated, listed),
    *(by_a_helper, counted_entries),
]


def cut_to_whole(data: Any) -> Any:
    out = np.zeros(len(data), dtype=int)
    for i, value in enumerate(data):
        if random.randrange(2):
            out[i] = value - 0.4
        else:
            out[i] = value + 0.4
    return out


def left_at_zero(data: Any, rng: Any) -> Any:
    out = np.zeros(len(data), dtype=int)
    for i, value in enumerate(data):
        if rng.integers(0, 2) == 1:
            out[i] += value
    return out.tolist()


OTHERWISE = [cut_to_whole, left_at_zero]


def doubled(values: Any) -> Any:
    out = np.zeros_like(values)
    for i, value in enumerate(values):
        out[i] = 2 * value
    return out


def of_the_one_before(data: Any, rng: Any) -> Any:
    out = np.zeros(len(data), dtype=int)
    for i, value in enumerate(data):
        out[i] = respond(value, rng) + out[i - 1]
    return out


def at_one_place(data: Any, rng: Any) -> Any:
    out = np.zeros(len(data), dtype=int)
    for i, value in enumerate(data):
        out[i] = respond(value, rng)
        out[0] = value
    return out


def ended_early(data: Any, rng: Any) -> Any:
    out = np.zeros(len(data), dtype=int)
    for i, value in enumerate(data):
        if value == 3:
            break
        out[i] = respond(value, rng)
    return out


def with_the_index(data: Any, rng: Any) -> Any:
    out = np.zeros(len(data), dtype=int)
    for i, value in enumerate(data):
        out[i] = respond(value, rng) + (i == 0)
    return out


def shared_start(data: Any, rng: Any) -> Any:
    out = np.full(len(data), data.sum())
    for i, value in enumerate(data):
        if rng.integers(0, 2):
            out[i] = value
    return out


def longer(data: Any, rng: Any) -> Any:
    out = np.zeros(2 * len(data), dtype=int)
    for i, value in enumerate(data):
        out[i] = respond(value, rng)
    return out


def read_by_another(data: Any, rng: Any) -> Any:
    out = np.zeros(len(data), dtype=int)
    same = out
    for i, value in enumerate(data):
        out[i] = respond(value, rng) + int(same.sum())
    return out


def read_by_a_function(data: Any, rng: Any) -> Any:
    def total() -> int:
        return int(out.sum())

    out = np.zeros(len(data), dtype=int)
    for i, value in enumerate(data):
        out[i] = respond(value, rng) + total()
    return out


JOINT = [
    *(of_the_one_before, at_one_place, ended_early, with_the_index, shared_start, longer),
    *(read_by_another, read_by_a_function),
]
