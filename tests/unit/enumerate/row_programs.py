"""Programs that treat their records one by one, and programs that only look so."""

# ruff: noqa: B905, B007, C400, C417, PERF401, RUF005

from __future__ import annotations

import math
import random
import secrets
from collections import Counter
from random import random as uniform_number
from typing import Any

import numpy as np

KEEP = (math.e - 1) / (math.e + 3)
TABLE = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
WEIGHTS = [0.25, 0.5, 0.75]
SEEN: list[Any] = []
MEMORY: dict[str, Any] = {}
#: (data, rng) -> output; data are of the values 0, 1, 2.
ALONE: list[Any] = []
JOINT: list[Any] = []


def alone(function: Any) -> Any:
    ALONE.append(function)
    return function


def joint(function: Any) -> Any:
    JOINT.append(function)
    return function


def told_or_not(value: int, rng: Any, keep: float = 0.5) -> int:
    """Randomised response of one record."""
    if rng.random() < keep:
        return value
    return int(rng.integers(0, 3))


def unary(value: int, rng: Any) -> tuple[int, ...]:
    bits = [0] * 3
    bits[value] = 1
    return tuple(1 - bit if rng.random() < 0.25 else bit for bit in bits)


# -- arrays


@alone
def response(data, rng):
    return np.where(rng.random(len(data)) < 0.5, data, rng.integers(0, 3, len(data))).tolist()


@alone
def response_size(data, rng):
    n = data.shape[0]
    keep = rng.random(size=n) < KEEP
    return np.where(keep, data, rng.integers(0, 3, size=data.size))


@alone
def flipped_bits(data, rng):
    return np.minimum(data, 1) ^ rng.integers(0, 2, len(data))


@alone
def flipped_by_coins(data, rng):
    bits = (data > 0).astype(int)
    coins = (rng.random(len(data)) < 0.25).astype(int)
    return (bits ^ coins).tolist()


@alone
def unary_bits(data, rng):
    hot = (data[:, None] == np.arange(3)).astype(int)
    return (hot ^ (rng.random((len(data), 3)) < 0.25)).tolist()


@alone
def table_rows(data, rng):
    bits = TABLE[data]
    return np.where(rng.random(bits.shape) < 0.5, bits, rng.integers(0, 2, bits.shape)).tolist()


@alone
def rappor(data, rng):
    """Permanent answers, then answers about them."""
    bits = (data[:, np.newaxis] == np.arange(2)).astype(int)
    choice = rng.random(bits.shape)
    kept = np.where(choice < 0.25, 1, np.where(choice < 0.5, 0, bits))
    return (rng.random(bits.shape) < np.where(kept == 1, 0.75, 0.5)).astype(int).tolist()


@alone
def by_parameter(data, rng):
    return rng.binomial(1, np.where(data == 0, 0.25, 0.75)).tolist()


@alone
def chosen(data, rng):
    other = rng.choice(3, len(data), p=[0.5, 0.25, 0.25])
    return np.where(rng.random(len(data)) < 0.5, data, other).tolist()


@alone
def in_place(data, rng):
    told = data.copy()
    told += rng.integers(0, 2, len(data))
    told %= 3
    return told.tolist()


@alone
def masked(data, rng):
    told = data.copy()
    told[rng.random(len(data)) < 0.5] = 0
    return told.tolist()


@alone
def masked_flips(data, rng):
    told = np.minimum(data, 1)
    flips = rng.random(len(data)) < 0.25
    told[flips] = 1 - told[flips]
    return told.tolist()


@alone
def masked_flips_in_place(data, rng):
    told = data.copy()
    told[rng.random(len(data)) < 0.25] += 1
    return (told % 3).tolist()


@alone
def several_columns(data, rng):
    first = (data + rng.integers(0, 3, len(data))) % 3
    second = np.minimum(data, rng.integers(0, 3, len(data)))
    return first.tolist(), second.tolist()


@alone
def sums_within_rows(data, rng):
    votes = rng.random((len(data), 2)) < 0.25 + 0.25 * data[:, None]
    return votes.sum(axis=1).tolist()


@alone
def by_hand(data, rng):
    zeros = np.zeros(len(data), dtype=int)
    return np.where(rng.random(len(data)) < 0.5, data, zeros).tolist()


@alone
def column_by_asarray(data, rng):
    values = np.asarray(data)
    return np.where(rng.random(len(values)) < 0.5, values, 0).tolist()


@alone
def legacy_arrays(data):
    other = np.random.randint(0, 3, size=len(data))
    return np.where(np.random.rand(len(data)) < 0.5, data, other).tolist()


# -- loops


@alone
def loop(data, rng):
    told = []
    for value in data:
        told.append(int(value) if rng.random() < 0.5 else int(rng.integers(0, 3)))
    return told


@alone
def loop_with_branches(data, rng):
    told: list[int] = []
    for value in data.tolist():
        if rng.random() < 0.5:
            told.append(value)
            continue
        other = rng.integers(0, 3)
        told.append(int(other))
    return tuple(told)


@alone
def loop_of_tuples(data, rng):
    told = []
    for value in data:
        bits = [0, 0, 0]
        bits[int(value)] = 1
        told.append(tuple(b ^ int(rng.random() < 0.25) for b in bits))
    return told


@alone
def loop_with_a_loop_inside(data, rng):
    told = []
    for value in data:
        number = int(value)
        for _ in range(2):
            if rng.random() < 0.25:
                number = (number + 1) % 3
        told.append(number)
    return told


@alone
def loop_and_array(data, rng):
    noisy = (data + rng.integers(0, 2, len(data))) % 3
    told = []
    for value in noisy:
        told.append(int(value) * 2)
    return told


@alone
def comprehension(data, rng):
    return [told_or_not(int(value), rng) for value in data]


@alone
def comprehension_of_tuples(data, rng):
    return [unary(int(value), rng) for value in data]


@alone
def comprehension_with_own_helper(data, rng):
    def noisy(value):
        return (value + int(rng.random() < WEIGHTS[value])) % 3

    return [noisy(int(value)) for value in data]


@alone
def generator_into_a_list(data, rng):
    return list(told_or_not(int(value), rng, 0.25) for value in data)


@alone
def zipped_with_numbers(data, rng):
    return [int(v) if u < 0.5 else 0 for v, u in zip(data, rng.random(len(data)), strict=True)]


@alone
def numbers_of_random(data):
    return [int(v) if random.random() < 0.5 else random.randrange(3) for v in data]


@alone
def number_imported(data):
    return [int(v) if uniform_number() < 0.5 else random.choice([0, 1, 2]) for v in data]


@alone
def secret_numbers(data):
    return [int(v) if secrets.randbelow(4) < 2 else secrets.choice([0, 1, 2]) for v in data]


@alone
def legacy_numbers(data):
    return [int(v) if np.random.rand() < 0.5 else np.random.randint(3) for v in data]


@alone
def loop_by_index(data, rng):
    told = []
    for i in range(len(data)):
        told.append(int(data[i]) if rng.random() < 0.5 else 0)
    return told


@alone
def loop_by_index_of_two(data, rng):
    coins = rng.integers(0, 2, len(data))
    told = []
    for i in range(len(data)):
        told.append((int(data[i]) + int(coins[i])) % 3)
    return told


@alone
def enumerated(data, rng):
    told = []
    for i, value in enumerate(data):
        told.append(int(value) if rng.random() < 0.5 else 0)
    return told


@alone
def mapped_lambda(data, rng):
    return list(map(lambda value: told_or_not(int(value), rng), data))


@alone
def mapped_helper(data):
    return list(map(by_chance, data.tolist()))


def by_chance(value: int) -> int:
    return value if random.random() < 0.5 else 0


def tell_all(records: Any, rng: Any) -> list[int]:
    told = []
    for record in records:
        told.append(told_or_not(int(record), rng))
    return told


@alone
def helper_for_all(data, rng):
    return tell_all(data, rng)


# -- what brings records together


@joint
def returns_the_last(data, rng):
    out = []
    for x in data:
        out.append(int(rng.integers(0, 2)))
    return out, int(x)


@joint
def appends_a_coin_more(data, rng):
    out = []
    for x in data:
        out.append(int(x) if rng.random() < 0.5 else 0)
        if rng.random() < 0.5:
            out.append(1)
    return out


@joint
def stops_at_a_one(data, rng):
    out = []
    for x in data:
        out.append(int(rng.integers(0, 2)))
        if x:
            break
    return out


@joint
def one_coin_more_at_the_end(data, rng):
    out = []
    for x in data:
        out.append(int(rng.integers(0, 2)) ^ int(x > 0))
    out.append(int(rng.integers(0, 2)))
    return out


@joint
def shared_coin(data, rng):
    coin = rng.integers(0, 2)
    return ((data + coin) % 3).tolist()


@joint
def shared_coin_in_a_loop(data, rng):
    coin = int(rng.integers(0, 2))
    out = []
    for x in data:
        out.append((int(x) + coin) % 3)
    return out


@joint
def permuted_noise(data, rng):
    return (np.minimum(data, 1) ^ rng.permutation(len(data)) % 2).tolist()


@joint
def chosen_without_replacement(data, rng):
    return (data + rng.choice(len(data), len(data), replace=False)).tolist()


@joint
def shuffled(data, rng):
    told = data.copy()
    rng.shuffle(told)
    return told.tolist()


@joint
def reversed_records(data, rng):
    return np.where(rng.random(len(data)) < 0.5, data, data[::-1]).tolist()


@joint
def shifted(data, rng):
    return (np.roll(data, 1) ^ rng.integers(0, 2, len(data))).tolist()


@joint
def running_sums(data, rng):
    return np.cumsum(data + rng.integers(0, 2, len(data))).tolist()


@joint
def sorted_records(data, rng):
    return np.sort(data + rng.integers(0, 2, len(data))).tolist()


@joint
def compared_with_the_mean(data, rng):
    return ((data > data.mean()) ^ (rng.random(len(data)) < 0.25)).tolist()


@joint
def first_record_for_all(data, rng):
    return np.where(rng.random(len(data)) < 0.5, data, data[0]).tolist()


@joint
def places_differ(data, rng):
    return np.where(rng.random(len(data)) < 0.5, data, np.arange(len(data))).tolist()


@joint
def noise_for_all_columns(data, rng):
    return (data[:, None] + rng.integers(0, 2, 3)).tolist()


@joint
def square_by_chance(data, rng):
    return (data + rng.integers(0, 2, (len(data), len(data)))).tolist()


@joint
def transposed(data, rng):
    return (data[:, None] + rng.integers(0, 2, (len(data), 2))).T.tolist()


@joint
def length_of_a_selection(data, rng):
    told = data[rng.random(len(data)) < 0.5]
    return told.tolist()


@joint
def filtered(data, rng):
    return [int(x) for x in data if rng.random() < 0.5]


@joint
def carried_on(data, rng):
    before, out = 0, []
    for x in data:
        out.append((before + int(rng.integers(0, 2))) % 3)
        before = int(x)
    return out


@joint
def carried_on_some_paths(data, rng):
    out = []
    for x in data:
        if rng.random() < 0.5:
            kept = int(x)
        out.append(kept if len(out) else 0)
    return out


@joint
def counted(data, rng):
    count, out = 0, []
    for x in data:
        count += int(x)
        out.append(count % 3 if rng.random() < 0.5 else 0)
    return out


@joint
def kept_from_before(data, rng):
    kept, out = 0, []
    for x in data:
        if rng.random() < 0.5:
            kept = int(x)
        out.append(kept)
    return out


@joint
def looks_at_what_is_told(data, rng):
    out = []
    for x in data:
        out.append(int(x) if rng.random() < 0.5 or 1 in out else 0)
    return out


@joint
def stored_outside(data, rng):
    MEMORY.clear()
    out = []
    for x in data:
        MEMORY["last"] = int(x)
        out.append(int(rng.integers(0, 2)))
    return [*out, MEMORY["last"]]


@joint
def stored_in_an_array(data, rng):
    kept, out = np.zeros(1, dtype=int), []
    for x in data:
        out.append((int(kept[0]) + int(rng.integers(0, 2))) % 3)
        kept[0] = x
    return out


def remembers(value: int, seen: Any) -> int:
    seen.append(value)
    return len(seen)


@joint
def helper_that_remembers(data, rng):
    seen: list[int] = []
    return [remembers(int(x), seen) for x in data]


@joint
def helper_inside_that_remembers(data, rng):
    seen = []

    def note(value):
        seen.append(value)
        return value if rng.random() < 0.5 else seen[0]

    return [note(int(x)) for x in data]


def with_default(value: int, rng: Any, seen: Any = []) -> int:  # noqa: B006
    seen += [value]
    return int(rng.integers(0, 2))


@joint
def default_that_remembers(data, rng):
    return [with_default(int(x), rng) for x in data]


@joint
def an_iterator(data, rng):
    numbers = iter([0, 1, 2, 0, 1, 2])
    return [(int(x) + next(numbers) + int(rng.integers(0, 2))) % 3 for x in data]


@joint
def an_iterator_summed(data, rng):
    numbers = iter([1] * 3)
    return [(int(x) + sum(numbers) + int(rng.integers(0, 2))) % 3 for x in data]


@joint
def an_alias_changed(data, rng):
    seen = [0]
    out = []
    for x in data:
        mine = seen
        mine += [int(x)]
        out.append(int(rng.integers(0, 2)))
    return [*out, len(seen)]


@joint
def all_records_for_each(data, rng):
    return [(int(x) + int(data.sum()) + int(rng.integers(0, 2))) % 3 for x in data]


@joint
def all_records_appended(data, rng):
    out = []
    for x in data:
        out.append((int(x) if rng.random() < 0.5 else 0, data))
    return out


@joint
def index_of_a_record(data, rng):
    return [(int(x) + i + int(rng.integers(0, 2))) % 3 for i, x in enumerate(data)]


@joint
def pairs_of_records(data, rng):
    return [(int(x) + int(y) + int(rng.integers(0, 2))) % 3 for x in data for y in data]


@joint
def neighbours_zipped(data, rng):
    return [(int(x) + y + int(rng.integers(0, 2))) % 3 for x, y in zip(data, [0, 1, 2, 0])]


@joint
def by_record_in_a_dict(data, rng):
    return {int(x): int(rng.integers(0, 2)) for x in data}


@joint
def caught(data, rng):
    try:
        return [1 // int(x) if rng.random() < 0.5 else 0 for x in data]
    except ZeroDivisionError:
        return []


@joint
def raises(data, rng):
    return [1 // int(x) if rng.random() < 0.5 else 0 for x in data]


@joint
def seeded(data, rng):
    mine = np.random.default_rng(7)
    return [(int(x) + int(mine.integers(0, 3)) + int(rng.integers(0, 2))) % 3 for x in data]


@joint
def seeded_for_all(data, rng):
    random.seed(7)
    return [(int(x) + random.randrange(3) + int(rng.integers(0, 2))) % 3 for x in data]


@joint
def counts(data, rng):
    return sorted(Counter((data + rng.integers(0, 2, len(data))).tolist()).items())


@joint
def no_place_for_each(data, rng):
    told = (data + rng.integers(0, 2, len(data))) % 3
    return told.tolist() + [0]


@joint
def constant_only(data, rng):
    return [0] * len(data)


@joint
def written_through_a_view(data, rng):
    told = data.copy()
    view = told[:, None]
    told += rng.integers(0, 2, len(data))
    return view.tolist()


@joint
def a_lambda_over_records(data, rng):
    seen = []
    keep = lambda value: seen.append(value) or int(rng.integers(0, 2))  # noqa: E731
    return [keep(int(x)) for x in data]


@joint
def walrus(data, rng):
    last = 0
    return [(last, last := int(x) * int(rng.integers(0, 2)))[0] for x in data]


@joint
def looks_around(data, rng):
    out = []
    for x in data:
        out.append(int(x) + len(locals()))
    return out


@joint
def state_of_the_generator(data, rng):
    out = []
    for x in data:
        rng.bit_generator.state = {}
        out.append(int(x) if rng.random() < 0.5 else 0)
    return out


@joint
def noise_by_mistake(data, rng):
    noise = rng.integers(0, 3, 3)
    return noise[data].tolist()


@joint
def two_shares(data, rng):
    """Each list alone tells nothing; both together tell everything, record by record."""
    mask = rng.integers(0, 3, len(data))
    return sorted(mask.tolist()), ((data + mask) % 3).tolist()


@joint
def a_column_by_another_axis(data, rng):
    told = rng.choice(np.array([[0, 1, 2]]), len(data), axis=1)
    return (data[:, None] + told).tolist()


@joint
def signs_of_zeros(data, rng):
    signs = np.zeros(len(data))
    signs[-1] = -0.0
    return np.where(np.copysign(1.0, signs) < 0, data, rng.integers(0, 3, len(data))).tolist()


@joint
def an_alias_by_astype(data, rng):
    told = data * 1
    same = told.astype(int, copy=False)
    same += rng.integers(0, 3, len(data))
    return told.tolist()


SUMS = np.zeros(3, dtype=int)
BOX: list[Any] = []


@joint
def written_as_an_argument(data, rng):
    return [int(np.array([x, 1, 2]).cumsum(0, int, SUMS)[0]) for x in data]


@joint
def written_as_an_argument_of_a_constant(data, rng):
    return [int(SUMS.clip(int(x), 2, SUMS)[0]) + int(rng.integers(0, 2)) for x in data]


@joint
def one_object_for_all(data, rng):
    first = [BOX for _ in data]
    out = []
    for one in first:
        one += [1]
        out.append(int(rng.integers(0, 2)))
    return out


def adds_to_a_default(value: int, rng: Any, box: Any = BOX) -> int:
    if value > 5:
        box = []
    box.append(value)
    return int(rng.integers(0, 2))


@joint
def default_that_may_be_new(data, rng):
    return [adds_to_a_default(int(x), rng) for x in data]


@joint
def looks_at_types(data):
    if type(data) is np.ndarray:
        return data.tolist()
    return (data + np.random.randint(0, 3, len(data))).tolist()


@joint
def looks_at_types_with_a_generator(data, rng):
    if type(data) is np.ndarray:
        return data.tolist()
    return (data + rng.integers(0, 3, len(data))).tolist()


@joint
def index_as_a_number(data, rng):
    told = []
    for i in range(len(data)):
        told.append((int(data[i]) + i) % 3 if rng.random() < 0.5 else 0)
    return told


@joint
def index_of_the_one_before(data, rng):
    told = []
    for i in range(len(data)):
        told.append(int(data[i - 1]) if rng.random() < 0.5 else int(data[i]))
    return told


@joint
def index_into_a_table(data, rng):
    table = list(range(len(data)))
    told = []
    for i in range(len(data)):
        told.append((int(data[i]) + table[i]) % 3 if rng.random() < 0.5 else 0)
    return told


@joint
def index_read_afterwards(data, rng):
    told = []
    for i in range(len(data)):
        told.append(int(data[i]) if rng.random() < 0.5 else 0)
    return [*told, int(data[i])]


@joint
def index_of_data_that_changes(data, rng):
    told = []
    for i in range(len(data)):
        told.append(int(data[i]) if rng.random() < 0.5 else 0)
        data = data[::-1]
    return told


@joint
def enumerated_and_used(data, rng):
    told = []
    for i, value in enumerate(data):
        told.append(int(value) if rng.random() < 0.5 else i)
    return told


@joint
def mapped_over_two(data, rng):
    return list(map(lambda a, b: int(a) ^ int(b) ^ int(rng.integers(0, 2)), data, data[::-1]))


def tell_with_the_sum(records: Any, rng: Any) -> list[int]:
    total = sum(records)
    told = []
    for record in records:
        told.append(int(record + total + rng.integers(0, 2)) % 3)
    return told


@joint
def helper_with_the_sum(data, rng):
    return tell_with_the_sum(data, rng)


@joint
def number_of_a_selection(data, rng):
    told = data.copy()
    flips = rng.random(len(data)) < 0.25
    told[flips] = len(told[flips]) % 3
    return told.tolist()


@joint
def selection_of_another_mask(data, rng):
    told = data.copy()
    flips = rng.random(len(data)) < 0.25
    told[flips] = told[~flips]
    return told.tolist()


@joint
def selection_of_a_mask_that_changed(data, rng):
    told = data.copy()
    flips = rng.random(len(data)) < 0.25
    chosen = told[flips]
    flips ^= True
    told[flips] = chosen
    return told.tolist()


@joint
def selection_as_output(data, rng):
    return [int(x) for x in data[rng.random(len(data)) < 0.25]]
