"""Programs that leak through a place that a symbolic run of data could overlook.

Each is false at its claim, most of them at every claim. No method may ever answer YES; which of NO,
INCONCLUSIVE or a refusal it answers instead is not said here. ``LEAKS`` is the list.
"""

from __future__ import annotations

import json
import math
import operator
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np

#: What a leak is tried on: bits (one flips), values 0..3 (one is replaced), five real answers.
BITS, VALUES, ANSWERS = "bits", "values", "answers"
KEPT: dict[str, Any] = {}
SOURCE = np.random.default_rng(7)


@dataclass(frozen=True)
class Leak:
    """A program, the data that it takes, and the claim that is false."""

    function: Callable[..., Any]
    data: str
    epsilon: float
    delta: float

    @property
    def name(self) -> str:
        """Of the function."""
        return self.function.__name__


LEAKS: list[Leak] = []


def leak(data: str, epsilon: float = 1.0, delta: float = 0.0) -> Any:
    """Keep a program that is false at a claim."""

    def keep(function: Any) -> Any:
        LEAKS.append(Leak(function, data, epsilon, delta))
        return function

    return keep


# -- the answer itself comes out -------------------------------------------------------------------


@leak(BITS, 50.0)
def plain_sum(data, rng):
    return int(data.sum())


@leak(BITS, 50.0)
def noise_taken_off_again(data, rng):
    noise = rng.laplace(0, 1.0)
    noisy = data.sum() + noise
    return float(noisy - noise)


@leak(BITS, 50.0)
def noise_shown_beside(data, rng):
    noise = rng.laplace(0, 1.0)
    return float(data.sum() + noise), float(noise)


@leak(BITS, 50.0)
def sign_of_the_noise_shown(data, rng):
    noise = rng.laplace(0, 1.0)
    return float(data.sum() + noise), bool(noise > 0), float(data.sum() - noise)


@leak(ANSWERS, 50.0)
def one_noise_for_two_answers(answers, rng):
    noise = rng.laplace(0, 1.0)
    return float(answers[0] + noise), float(answers[1] + noise)


@leak(BITS, 50.0)
def noise_of_both_signs(data, rng):
    noise = rng.laplace(0, 1.0)
    return float(data.sum() + noise), float(data.sum() - noise)


@leak(BITS, 50.0)
def larger_of_noisy_and_exact(data, rng):
    return float(max(data.sum() + rng.laplace(0, 1.0), data.sum()))


@leak(BITS, 50.0)
def exact_where_noisy_is_large(data, rng):
    noisy = data.sum() + rng.laplace(0, 1.0)
    return float(np.where(noisy > 3, data.sum(), noisy))


@leak(BITS, 50.0)
def in_a_string(data, rng):
    noisy = float(data.sum() + rng.laplace(0, 1.0))
    return f"{noisy:.3f} of {data.sum()}"


@leak(BITS, 50.0)
def in_json(data, rng):
    noisy = float(data.sum() + rng.laplace(0, 1.0))
    return json.dumps({"noisy": noisy, "rows": np.asarray(data).tolist()})


@leak(BITS, 50.0)
def in_a_length(data, rng):
    return [0] * int(data.sum()), float(data.sum() + rng.laplace(0, 1.0))


@leak(BITS, 50.0)
def in_the_length_of_a_selection(data, rng):
    return ["x"] * len(data[data == 1]), float(data.sum() + rng.laplace(0, 1.0))


@leak(BITS, 50.0)
def in_a_size_of_noise(data, rng):
    return rng.laplace(0, 1.0, size=int(data.sum())).tolist()


@leak(BITS, 50.0)
def in_the_scale(data, rng):
    return float(data.sum() + rng.laplace(0, 1.0 + 50 * data[0]))


@leak(BITS, 50.0)
def in_the_seed(data, rng):
    other = np.random.default_rng(int(data.sum()))
    return float(other.laplace(0, 1.0))


@leak(BITS, 50.0)
def in_an_exception(data, rng):
    if data.sum() == 3:
        raise ValueError("three")
    return float(data.sum() + rng.laplace(0, 1.0))


@leak(BITS, 50.0)
def in_an_assertion(data, rng):
    assert data.sum() != 3
    return float(data.sum() + rng.laplace(0, 1.0))


@leak(BITS, 50.0)
def in_a_division(data, rng):
    return 1 // int(data.sum()), float(data.sum() + rng.laplace(0, 1.0))


@leak(BITS, 50.0)
def in_keys(data, rng):
    return {int(data.sum()): float(data.sum() + rng.laplace(0, 1.0))}


@leak(BITS, 50.0)
def in_the_order(data, rng):
    noisy = float(data.sum() + rng.laplace(0, 1.0))
    return [noisy, "a"] if data.sum() > 3 else ["a", noisy]


@leak(BITS, 50.0)
def in_a_hash(data, rng):
    return hash(np.asarray(data).tobytes()), float(data.sum() + rng.laplace(0, 1.0))


@leak(BITS, 50.0)
def in_the_text_of_the_data(data, rng):
    return str(data), float(data.sum() + rng.laplace(0, 1.0))


@leak(BITS, 50.0)
def first_record(data, rng):
    return int(data[0]), float(data.sum() + rng.laplace(0, 1.0))


@leak(BITS, 50.0)
def record_at_random(data, rng):
    return int(data[rng.integers(0, len(data))]), float(data.sum() + rng.laplace(0, 1.0))


@leak(BITS, 50.0)
def rarely_everything(data, rng):
    if rng.random() < 1e-9:
        return np.asarray(data).tolist()
    return float(data.sum() + rng.laplace(0, 1.0))


@leak(BITS, 50.0)
def everything_far_out(data, rng):
    noisy = data.sum() + rng.laplace(0, 1.0)
    if noisy > 1000:
        return int(data.sum())
    return float(noisy)


# -- kept elsewhere --------------------------------------------------------------------------------


@leak(BITS, 50.0)
def kept_in_a_global(data, rng):
    KEPT["sum"] = data.sum()
    noisy = float(data.sum() + rng.laplace(0, 1.0))
    return noisy, int(KEPT["sum"])


def _kept() -> Any:
    return KEPT["sum"]


@leak(BITS, 50.0)
def read_by_another_function(data, rng):
    KEPT["sum"] = data.sum()
    noisy = float(data.sum() + rng.laplace(0, 1.0))
    return noisy, int(_kept())


@leak(BITS, 50.0)
def kept_in_a_closure(data, rng):
    def exact():
        return int(data.sum())

    noisy = float(data.sum() + rng.laplace(0, 1.0))
    return noisy, exact()


@leak(BITS, 50.0)
def kept_in_a_default(data, rng):
    show = lambda rows=data: int(np.asarray(rows).sum())  # noqa: E731
    noisy = float(data.sum() + rng.laplace(0, 1.0))
    return noisy, show()


@leak(BITS, 50.0)
def kept_in_a_list(data, rng):
    box = [data.sum()]
    noisy = float(data.sum() + rng.laplace(0, 1.0))
    return noisy, int(box[0])


@leak(BITS, 50.0)
def kept_in_an_object(data, rng):
    class Box:
        pass

    box = Box()
    box.rows = data
    noisy = float(data.sum() + rng.laplace(0, 1.0))
    return noisy, int(box.rows[0])


@leak(BITS, 50.0)
def kept_in_a_generator(data, rng):
    rows = (int(v) for v in data)
    noisy = float(data.sum() + rng.laplace(0, 1.0))
    return noisy, next(rows)


@leak(BITS, 50.0)
def kept_in_a_bound_method(data, rng):
    total = data.sum
    noisy = float(data.sum() + rng.laplace(0, 1.0))
    return noisy, int(total())


@leak(BITS, 50.0)
def kept_in_locals(data, rng):
    noisy = float(data.sum() + rng.laplace(0, 1.0))
    return noisy, int(locals()["data"].sum())


@leak(BITS, 50.0)
def kept_on_the_function(data, rng):
    kept_on_the_function.rows = data
    noisy = float(data.sum() + rng.laplace(0, 1.0))
    return noisy, int(kept_on_the_function.rows.sum())


# -- not a sum over records ------------------------------------------------------------------------


@leak(VALUES, 1.0)
def largest(data, rng):
    return float(data.max() + rng.laplace(0, 1.0))


@leak(VALUES, 1.0)
def mean_of_a_selection(data, rng):
    return float(data[data > 1].mean() + rng.laplace(0, 0.5))


@leak(VALUES, 1.0)
def mean_by_its_own_length(data, rng):
    kept = data[data > 1]
    return float(kept.sum() / max(1, len(kept)) + rng.laplace(0, 0.5))


@leak(VALUES, 50.0)
def number_of_cells(data, rng):
    return np.bincount(data).size


@leak(VALUES, 1.0)
def cells_of_an_open_bincount(data, rng):
    counts = np.bincount(data)
    return (counts + rng.laplace(0, 2.0, size=len(counts))).tolist()


@leak(VALUES, 1.0)
def edges_from_the_data(data, rng):
    counts, edges = np.histogram(data, bins=4)
    return (counts + rng.laplace(0, 2.0, size=4)).tolist(), edges.tolist()


@leak(VALUES, 50.0)
def values_that_occur(data, rng):
    return sorted(int(v) for v in set(np.asarray(data).tolist()))


@leak(VALUES, 50.0)
def values_with_counts(data, rng):
    found, counts = np.unique(data, return_counts=True)
    return found.tolist(), (counts + rng.laplace(0, 2.0, size=len(counts))).tolist()


@leak(VALUES, 50.0)
def keys_of_a_counter(data, rng):
    counts = Counter(int(v) for v in data)
    return {key: float(count + rng.laplace(0, 2.0)) for key, count in counts.items()}


@leak(VALUES, 1.0)
def weighted_by_place(data, rng):
    return float(np.dot(data, np.arange(len(data))) + rng.laplace(0, 3.0))


@leak(VALUES, 1.0)
def weighted_in_a_loop(data, rng):
    total = 0
    for place, value in enumerate(data):
        total += place * value
    return float(total + rng.laplace(0, 3.0))


@leak(VALUES, 1.0)
def neighbours_in_the_list(data, rng):
    return float((np.asarray(data)[1:] * np.asarray(data)[:-1]).sum() + rng.laplace(0, 3.0))


@leak(VALUES, 1.0)
def product_of_sums(data, rng):
    return float(data.sum() * data.sum() + rng.laplace(0, 3.0))


@leak(VALUES, 1.0)
def middle(data, rng):
    return float(np.median(data) + rng.laplace(0, 1.0))


@leak(VALUES, 1.0)
def spread(data, rng):
    return float(np.std(data) + rng.laplace(0, 0.1))


@leak(VALUES, 1.0)
def clipped_at_a_bound_of_the_data(data, rng):
    return float(np.clip(data, 0, data.max()).sum() + rng.laplace(0, 1.0))


@leak(VALUES, 1.0)
def last_of_a_loop(data, rng):
    total = 0
    for value in data:
        total += value
    return float(total + rng.laplace(0, 3.0)), int(value)


@leak(VALUES, 1.0)
def running_total_is_read(data, rng):
    total = 0
    for value in data:
        if total < 5:
            total += value
        else:
            total += 3 * value
    return float(total + rng.laplace(0, 3.0))


@leak(VALUES, 1.0)
def state_between_records(data, rng):
    total, before = 0, 0
    for value in data:
        total += value * before
        before = value
    return float(total + rng.laplace(0, 3.0))


@leak(VALUES, 1.0)
def loop_that_stops(data, rng):
    total = 0
    for value in data:
        if value == 3:
            break
        total += value
    return float(total + rng.laplace(0, 3.0))


@leak(VALUES, 1.0)
def doubled_by_assignment(data, rng):
    total = 1
    for value in data:
        total *= 1 + value
    return float(total + rng.laplace(0, 3.0))


@leak(VALUES, 1.0)
def folded_by_reduce(data, rng):
    total = reduce(operator.mul, (int(v) + 1 for v in data), 1)
    return float(total + rng.laplace(0, 3.0))


@leak(VALUES, 1.0)
def running_sums(data, rng):
    return [float(v + rng.laplace(0, 3.0)) for v in accumulate(int(v) for v in data)]


@leak(VALUES, 1.0)
def walrus_in_a_sum(data, rng):
    last = 0
    total = sum((last := int(v)) for v in data)
    return float(total + rng.laplace(0, 3.0)), last


@leak(VALUES, 1.0)
def appended_in_a_sum(data, rng):
    seen: list[int] = []
    total = sum(1 for v in data if not seen.append(int(v)))
    return float(total + rng.laplace(0, 3.0)), seen[-1]


@leak(VALUES, 1.0)
def whether_it_is_in(data, rng):
    return 3 in np.asarray(data).tolist(), float(data.sum() + rng.laplace(0, 3.0))


# -- numbers that run over or are rounded ----------------------------------------------------------


@leak(VALUES, 1.0)
def eight_bits(data, rng):
    return float((data.astype(np.int8) * np.int8(85)).sum(dtype=np.int8) + rng.laplace(0, 3.0))


@leak(VALUES, 1.0)
def sixty_four_bits(data, rng):
    return float((data * 2**62).sum() / 2**62 + rng.laplace(0, 2.0))


@leak(VALUES, 1.0)
def squares_in_eight_bits(data, rng):
    small = (data.astype(np.uint8) + np.uint8(253)).astype(np.int64)
    return float(small.sum() + rng.laplace(0, 3.0))


# -- too little noise, or of the wrong kind --------------------------------------------------------


@leak(VALUES, 1.0)
def too_little(data, rng):
    return float(data.sum() + rng.laplace(0, 2.9))


@leak(VALUES, 1.0)
def twice(data, rng):
    return float(data.sum() + rng.laplace(0, 3.0)), float(data.sum() + rng.laplace(0, 3.0))


@leak(VALUES, 1.0)
def three_at_once(data, rng):
    return (data.sum() + rng.laplace(0, 3.0, size=3)).tolist()


@leak(VALUES, 1.0)
def clipped_and_not_used(data, rng):
    np.clip(data, 0, 1)
    return float(data.sum() + rng.laplace(0, 1.0))


@leak(BITS, 1.0)
def normal_noise_without_delta(data, rng):
    return float(data.sum() + rng.normal(0, 100.0))


@leak(BITS, 1.0, 1e-6)
def normal_noise_too_small(data, rng):
    return float(data.sum() + rng.normal(0, 2.0))


@leak(BITS, 1.0)
def uniform_noise(data, rng):
    return float(data.sum() + rng.uniform(-50, 50))


@leak(BITS, 1.0)
def exponential_noise(data, rng):
    return float(data.sum() + rng.exponential(10.0))


@leak(BITS, 1.0)
def one_sided_geometric(data, rng):
    return int(data.sum() + rng.geometric(0.1))


@leak(BITS, 1.0)
def halves_with_whole_noise(data, rng):
    return float(data.sum() / 2 + rng.geometric(0.1) - rng.geometric(0.1))


@leak(BITS, 1.0)
def no_noise_at_all(data, rng):
    return float(data.sum() + rng.laplace(0, 0.0))


@leak(BITS, 1.0)
def one_cell_without_noise(data, rng):
    counts = np.bincount(data, minlength=2).astype(float)
    counts[0] += rng.laplace(0, 1.0)
    return counts.tolist()


@leak(ANSWERS, 1.0)
def threshold_without_noise(answers, rng):
    return tuple(bool(answer > 1.5) for answer in answers)


@leak(ANSWERS, 1.0)
def answers_told_above_a_noisy_threshold(answers, rng):
    threshold, told = rng.laplace(0, 2.0), []
    for answer in answers:
        told.append(bool(answer >= threshold))  # noqa: PERF401
    return tuple(told)


@leak(ANSWERS, 0.5)
def gap_above_the_threshold(answers, rng):
    threshold = rng.laplace(0, 2.0)
    for answer in answers:
        noisy = answer + rng.laplace(0, 4.0)
        if noisy >= threshold:
            return float(noisy)
    return None


@leak(ANSWERS, 0.75)
def goes_on_after_the_first(answers, rng):
    threshold = rng.laplace(0, 2.0)
    return tuple(bool(answer + rng.laplace(0, 4.0) >= threshold) for answer in answers)


@leak(ANSWERS, 1.0)
def best_with_its_value(answers, rng):
    noisy = answers + rng.laplace(0, 2.0, size=len(answers))
    best = int(np.argmax(noisy))
    return best, float(noisy[best])


@leak(ANSWERS, 1.0)
def best_of_noise_too_small(answers, rng):
    return int(np.argmax(answers + rng.laplace(0, 1.9, size=len(answers))))


@leak(ANSWERS, 1.0)
def product_of_answers(answers, rng):
    return float(answers[0] * answers[1] + rng.laplace(0, 10.0))


# -- records one by one ----------------------------------------------------------------------------


@leak(VALUES, 2.0)
def one_coin_for_all(data, rng):
    return np.where(rng.random() < 0.2, data, rng.integers(0, 4, len(data))).tolist()


@leak(VALUES, 1.0)
def shown_backwards_too(data, rng):
    told = np.where(rng.random(len(data)) < 0.3, data, rng.integers(0, 4, len(data)))
    more = np.where(rng.random(len(data)) < 0.3, data[::-1], rng.integers(0, 4, len(data)))
    return told.tolist(), more.tolist()


@leak(VALUES, 50.0)
def moved_by_one_permutation(data, rng):
    return (np.asarray(data) + rng.permutation(4)[0] * 0 + rng.permutation(len(data)) * 0).tolist()


@leak(VALUES, 50.0)
def rows_with_a_sum_beside(data, rng):
    told = np.where(rng.random(len(data)) < 0.3, data, rng.integers(0, 4, len(data)))
    return told.tolist(), int(data.sum())


@leak(VALUES, 50.0)
def threshold_of_rows_from_the_data(data, rng):
    return (rng.random(len(data)) < data.mean() / 3).tolist(), int(data[0])


@leak(VALUES, 50.0)
def rows_by_a_loop_with_the_last(data, rng):
    told = []
    for value in data:
        told.append(int(value) if rng.random() < 0.3 else int(rng.integers(0, 4)))
    return told, int(value)


@leak(VALUES, 50.0)
def rows_of_different_number(data, rng):
    told = []
    for value in data:
        if value:
            told.append(int(rng.integers(0, 4)))  # noqa: PERF401
    return told


@leak(VALUES, 50.0)
def rows_that_stop(data, rng):
    told = []
    for value in data:
        if value == 3:
            break
        told.append(int(rng.integers(0, 4)))
    return told


@leak(VALUES, 50.0)
def rows_by_key(data, rng):
    return {int(value): int(rng.integers(0, 4)) for value in data}


@leak(VALUES, 50.0)
def rows_sorted_by_the_data(data, rng):
    return rng.integers(0, 4, len(data))[np.argsort(data)].tolist(), int(np.argmin(data))


@leak(VALUES, 1.0)
def random_numbers_shown(data, rng):
    coins = rng.random(len(data))
    told = np.where(coins < 0.2, data, rng.integers(0, 4, len(data)))
    return told.tolist(), (coins < 0.2).tolist()


@leak(VALUES, 1.0)
def one_answer_for_each_pair(data, rng):
    told = np.where(rng.random(len(data)) < 0.2, data, rng.integers(0, 4, len(data)))
    return [int(a) for a in told] + [int(a) for a in np.asarray(data)[:1]]


# -- looking at what it is given -------------------------------------------------------------------


@leak(BITS, 1.0)
def another_way_for_other_types(data, rng):
    scale = 1.0 if type(data.sum()) is not np.int64 else 0.1
    return float(data.sum() + rng.laplace(0, scale))


@leak(BITS, 1.0)
def another_way_for_other_arrays(data, rng):
    scale = 1.0 if type(data) is not np.ndarray else 0.1
    return float(data.sum() + rng.laplace(0, scale))


@leak(BITS, 1.0)
def another_way_by_name(data, rng):
    scale = 1.0 if "numpy" not in type(data.sum()).__module__ else 0.1
    return float(data.sum() + rng.laplace(0, scale))


@leak(BITS, 1.0)
def another_way_where_it_fails(data, rng):
    try:
        scale = 0.1 if math.isfinite(data.sum()) and (data.sum() < 10**9) else 1.0
    except Exception:
        scale = 1.0
    return float(data.sum() + rng.laplace(0, scale))


@leak(BITS, 1.0)
def another_way_for_its_text(data, rng):
    scale = 0.1 if repr(data.sum()).startswith(("np.int64(", "0", "1")) else 1.0
    return float(data.sum() + rng.laplace(0, scale))
