"""Programs that calculate with private answers of records, and programs that use the data again."""

from __future__ import annotations

import inspect
import json
import math
import random
import sys
from typing import Any

import numpy as np

# ruff: noqa: PERF401, B006, RUF015, B007
KEEP = 0.5
KEPT: list[Any] = []
LATER: list[Any] = []
AGAIN: list[Any] = []


def later(function: Any) -> Any:
    LATER.append(function)
    return function


def again(function: Any) -> Any:
    AGAIN.append(function)
    return function


def told_or_not(value: int, rng: Any) -> int:
    return value if rng.random() < KEEP else int(rng.integers(0, 3))


def in_words(counts: Any) -> str:
    return ", ".join(map(str, counts))


def keep(value: Any) -> Any:
    KEPT.append(value)
    return value


def looks_up() -> Any:
    return sys._getframe(1).f_locals["data"]


def looks_further() -> Any:
    return looks_up()


# -- later code


@later
def estimated_mean(data, rng):
    noisy = data + rng.laplace(0, 2.0, size=len(data))
    return float(noisy.mean())


@later
def mean_at_once(data, rng):
    return float(np.mean(data + rng.laplace(0, 2.0, len(data))))


@later
def frequencies(data, rng):
    told = np.where(rng.random(len(data)) < KEEP, data, rng.integers(0, 3, len(data)))
    counts = np.bincount(told, minlength=3)
    shares = (counts / len(data) - (1 - KEEP) / 3) / KEEP
    return np.clip(shares, 0, 1).round(3).tolist()


@later
def counted_loop(data, rng):
    told = []
    for value in data:
        told.append(int(value) if rng.random() < KEEP else int(rng.integers(0, 3)))
    counts = [0, 0, 0]
    for one in told:
        counts[one] += 1
    return counts


@later
def sum_of_a_comprehension(data, rng):
    return sum([told_or_not(int(value), rng) for value in data])


@later
def largest_noise(data, rng):
    return max([told_or_not(int(value), rng) for value in data]) > 1


@later
def constants_before(data, rng):
    n = len(data)
    share = math.exp(1.0) / (1 + math.exp(1.0))
    told = (rng.random(n) < share) ^ (data > 0)
    return (told.sum() - n * (1 - share)) / (n * (2 * share - 1))


@later
def parameter(data, rng, keep=0.5):
    told = np.where(rng.random(len(data)) < keep, data, rng.integers(0, 3, len(data)))
    return float(told.sum() / keep)


@later
def words(data, rng):
    told = (data + rng.integers(0, 3, len(data))) % 3
    return in_words(sorted(told.tolist()))


@later
def further_noise(data, rng):
    told = (data + rng.integers(0, 3, len(data))) % 3
    rng.shuffle(told)
    return json.dumps({"told": told.tolist(), "coin": int(rng.integers(0, 2))})


@later
def legacy(data):
    told = np.where(np.random.rand(len(data)) < KEEP, data, np.random.randint(0, 3, len(data)))
    return int(told.sum())


@later
def in_branches(data, rng):
    told = [told_or_not(int(value), rng) for value in data]
    if told[0] == told[-1]:
        return "same"
    while len(told) > 2:
        told.pop()
    return told


@later
def dictionary(data, rng):
    told = [told_or_not(int(value), rng) for value in data]
    return {"mean": sum(told) / len(told), "told": told}


def tell_all(records: Any, rng: Any) -> list[int]:
    return [told_or_not(int(record), rng) for record in records]


@later
def sum_of_a_helper(data, rng):
    told = tell_all(data, rng)
    return sum(told)


# -- the data again


def tell_and_keep(records: Any, rng: Any) -> list[int]:
    [keep(records) for _ in range(1)]
    return [told_or_not(int(record), rng) for record in records]


def tell_of_several(many: Any, rng: Any) -> list[int]:
    kept = [keep(records) for records in many]
    return [told_or_not(int(record), rng) for record in many[0] + 0 * len(kept)]


@again
def helper_that_keeps(data, rng):
    told = tell_and_keep(data, rng)
    return sum(told), KEPT[-1].tolist()


@again
def helper_of_several(data, rng):
    told = tell_of_several([data], rng)
    return sum(told), KEPT[-1].tolist()


@again
def divided_by_the_data(data, rng):
    noisy = data + rng.laplace(0, 2.0, size=len(data))
    return float(noisy.sum() / data.sum())


@again
def the_noise_too(data, rng):
    noise = rng.integers(0, 3, len(data))
    told = (data + noise) % 3
    return told.tolist(), sorted(noise.tolist())


@again
def the_noise_summed(data, rng):
    noise = rng.laplace(0, 2.0, len(data))
    noisy = data + noise
    return float(noisy.sum()), float(noise.sum())


@again
def the_noise_taken_off(data, rng):
    noise = rng.laplace(0, 2.0, len(data))
    noisy = data + noise
    return float((noisy - noise).sum())


@again
def data_in_a_list(data, rng):
    box = [data]
    told = (data + rng.integers(0, 3, len(data))) % 3
    return int(told.sum()), int(box[0].sum())


@again
def kept_outside(data, rng):
    mine = keep(data)
    told = (mine + rng.integers(0, 3, len(data))) % 3
    return int(told.sum()), KEPT[-1].tolist()


@again
def kept_outside_record_by_record(data, rng):
    told = [keep(int(value)) * 0 + int(rng.integers(0, 2)) for value in data]
    return int(sum(told)), KEPT[-1]


@again
def kept_by_a_loop_over_others(data, rng):
    [keep(data) for _ in range(1)]
    told = (data + rng.integers(0, 3, len(data))) % 3
    return int(told.sum()), KEPT[-1].tolist()


@again
def kept_in_a_default(data, rng, box=[]):
    _ = box.append(data)
    told = (data + rng.integers(0, 3, len(data))) % 3
    return int(told.sum()), box[-1].tolist()


@again
def a_function_of_the_data(data, rng):
    def whole():
        return int(data.sum())

    told = (data + rng.integers(0, 3, len(data))) % 3
    return int(told.sum()), whole()


@again
def a_lambda_of_the_data(data, rng):
    whole = lambda: int(data.sum())  # noqa: E731
    told = (data + rng.integers(0, 3, len(data))) % 3
    return int(told.sum()), whole()


@again
def frames(data, rng):
    told = (data + rng.integers(0, 3, len(data))) % 3
    return int(told.sum()), looks_up().tolist()


@again
def frames_further_away(data, rng):
    told = (data + rng.integers(0, 3, len(data))) % 3
    return int(told.sum()), looks_further().tolist()


@again
def frames_by_inspect(data, rng):
    told = (data + rng.integers(0, 3, len(data))) % 3
    return int(told.sum()), inspect.currentframe().f_locals["data"].tolist()


@again
def locals_of_its_own(data, rng):
    told = (data + rng.integers(0, 3, len(data))) % 3
    return int(told.sum()), locals()["data"].tolist()


@again
def the_last_record(data, rng):
    told = []
    for value in data:
        told.append(int(rng.integers(0, 2)))
    return sum(told) + int(value)


@again
def the_state_of_the_generator(data, rng):
    told = (data + rng.integers(0, 3, len(data))) % 3
    return int(told.sum()), str(rng.bit_generator.state)


@again
def the_state_of_random(data):
    told = [int(value) ^ random.getrandbits(1) for value in data]
    return sum(told), random.getstate()


@again
def a_shared_number_again(data, rng):
    coin = int(rng.integers(0, 3))
    told = (data + rng.integers(0, 3, len(data)) + coin) % 3
    return int(told.sum()), coin


@again
def an_alias(data, rng):
    mine = data
    told = (data + rng.integers(0, 3, len(data))) % 3
    return int(told.sum()), int(mine.sum())


@again
def a_constant_that_changes(data, rng):
    total = 0
    total = data.sum()
    told = (data + rng.integers(0, 3, len(data))) % 3
    return int(told.sum()), int(total)


@again
def one_value_of_each(data, rng):
    told = [told_or_not(int(value), rng) for value in data]
    return [one if one else int(value) for one, value in zip(told, data, strict=True)][0]


@again
def a_selection(data, rng):
    chosen = data[rng.random(len(data)) < KEEP]
    return int(chosen.sum())


@again
def attribute_of_a_function(data, rng):
    keep.data = data
    told = (data + rng.integers(0, 3, len(data))) % 3
    return int(told.sum()), keep.data.tolist()


@again
def in_a_branch_of_the_noise(data, rng):
    told = (data + rng.integers(0, 3, len(data))) % 3
    if told.sum() > 2:
        told = data
    return int(told.sum())


@again
def the_base_of_a_view(data, rng):
    both = np.stack([(data + rng.integers(0, 3, len(data))) % 3, data], axis=1)
    told = both[:, 0]
    return told.base.tolist()


@again
def the_base_of_a_view_for_each(data, rng):
    told = []
    for value in data:
        both = np.array([int(rng.integers(0, 2)), int(value)])
        told.append(both[:1])
    return [one.base.tolist() for one in told]


@again
def the_generator_as_text(data, rng):
    told = (data + rng.integers(0, 3, len(data))) % 3
    return int(told.sum()), json.dumps(str(rng))
