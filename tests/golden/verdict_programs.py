"""Programs of the verdict record: every kind of code that is analysed, small enough for a proof.

Each has a domain on which it is run and a claim that is either true or false of it. Only public
names of liptest are used, and nothing that is refused or wrong on purpose is left out: a refusal is
recorded by the kind of its error.
"""

from __future__ import annotations

import math
import random
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import liptest as lt

Code = Callable[..., Any]
E1 = math.exp(-1.0)
THIRD = 1 / 3
CUBE = lt.Hypercube(4)
COUNTS = lt.Hypergrid([3, 2])
RECORDS = lt.RecordGrid([3, 3])
ALL = lt.AnswerGrid([3, 3], relation="all")
ONE = lt.AnswerGrid([3, 3], relation="one")
AGES = lt.RecordGrid([4] * 3)


@dataclass(frozen=True)
class Program:
    """A function (data, rng) with the domain it runs on and what is claimed of it."""

    code: Code
    domain: Any
    epsilon: float
    delta: float


PROGRAMS: dict[str, Program] = {}


def program(domain: Any, epsilon: float = 1.0, delta: float = 0.0) -> Callable[[Code], Code]:
    """Keep the function under its name."""

    def keep(code: Code) -> Code:
        assert code.__name__ not in PROGRAMS
        PROGRAMS[code.__name__] = Program(code, domain, epsilon, delta)
        return code

    return keep


# -- uniform numbers that are compared -------------------------------------------------------------
@program(CUBE)
def response_of_one_bit(data, rng):
    return int(rng.random() < (0.75 if data[0] else 0.25))


@program(CUBE, epsilon=1.2)
def response_of_one_bit_enough(data, rng):
    return int(rng.random() < (0.75 if data[0] else 0.25))


@program(RECORDS, epsilon=1.5)
def chained_comparisons(data, rng):
    u = rng.random()
    if u < 0.2:
        return "low"
    return "middle" if 0.2 + 0.1 * data[0] <= u < 0.8 else "high"


@program(CUBE)
def monotone_functions_of_a_uniform(data, rng):
    return int(-math.log(rng.random()) > 1 + data.sum() / 4)


@program(COUNTS)
def a_uniform_as_a_whole_number(data, rng):
    return (int(rng.random() * 4) + int(data[0])) % 4


@program(CUBE, epsilon=2.0)
def two_uniforms(data, rng):
    first, second = rng.random(), rng.random()
    return (first < 0.5 + 0.1 * data[0], second < 0.3 + 0.2 * data[1])


@program(CUBE)
def a_uniform_of_python(data):
    return random.random() < 0.4 + 0.05 * data.sum()


@program(CUBE)
def inverse_distribution_function(data, rng):
    steps = 0
    u = rng.random()
    while steps < 3 and u < E1 ** (steps + 1):
        steps += 1
    return min(int(data.sum()) + steps, 4)


@program(RECORDS, epsilon=2.0)
def uniform_between_two_ends(data, rng):
    return bool(rng.uniform(-1.0, 1.0) < 0.25 * data[0] - 0.25)


# -- bits, their sums and arrays -------------------------------------------------------------------
@program(CUBE, epsilon=1.1)
def a_noisy_bit_for_each_record(data, rng):
    return ((rng.random(len(data)) < 0.25) ^ (data == 1)).tolist()


@program(CUBE)
def sum_of_flipped_bits(data, rng):
    return int(np.where(rng.random(len(data)) < 0.75, data, 1 - data).sum())


@program(CUBE, epsilon=1.2)
def sum_of_flipped_bits_enough(data, rng):
    return int(np.where(rng.random(len(data)) < 0.75, data, 1 - data).sum())


@program(CUBE)
def count_and_bits(data, rng):
    return int(data.sum() + rng.integers(0, 2, 6).sum())


@program(CUBE)
def subsample_that_is_counted(data, rng):
    return int(data[rng.random(len(data)) < 0.5].sum())


@program(CUBE)
def some_of_the_bits(data, rng):
    return bool((rng.random(4) < 0.1 + 0.2 * data).any())


@program(CUBE, epsilon=1.5)
def binomial_of_the_count(data, rng):
    return int(rng.binomial(3, 0.3 + 0.05 * data.sum()))


@program(CUBE)
def binomial_beside_the_count(data, rng):
    return int(data.sum() + rng.binomial(5, 0.5))


@program(RECORDS, epsilon=1.4)
def responses_of_categories(data, rng):
    return np.where(rng.random(len(data)) < 0.5, data, rng.integers(0, 3, len(data))).tolist()


@program(RECORDS, epsilon=1.3)
def responses_in_a_loop(data, rng):
    told = []
    for value in data:
        if rng.random() < 0.5:
            told.append(int(value))
        else:
            told.append(int(rng.integers(0, 3)))
    return told


@program(CUBE)
def products_of_bits(data, rng):
    bits = rng.random(3) < 0.5
    return int(bits[0] and bits[1]) + 2 * int(bits[2] or data[0])


# -- finite draws ----------------------------------------------------------------------------------
@program(RECORDS)
def weighted_choice(data, rng):
    return int(rng.choice(3, p=[0.25 + 0.25 * (data[0] == v) for v in range(3)]))


@program(RECORDS, epsilon=0.9)
def choice_of_one_record(data, rng):
    return int(rng.choice(data))


@program(CUBE)
def a_permutation(data, rng):
    return int(data[rng.permutation(len(data))[0]])


@program(CUBE)
def shuffled_by_python(data):
    order = [0, 1, 2]
    random.shuffle(order)
    return order[0] + int(data[0])


@program(COUNTS)
def whole_numbers_with_wrap(data, rng):
    return int(data.sum() + rng.integers(0, 5)) % 5


@program(CUBE, epsilon=0.8)
def exponential_weights(data, rng):
    weights = np.exp(0.25 * np.array([data.sum(), len(data) - data.sum(), 2]))
    return int(rng.choice(3, p=weights / weights.sum()))


@program(CUBE)
def secret_tokens(data):
    return secrets.randbelow(3) + int(data[0])


@program(CUBE)
def choices_of_python(data):
    return random.choices(["a", "b"], weights=[2, 1 + int(data[0])])[0]


@program(CUBE)
def legacy_functions_of_numpy(data):
    return int(np.random.randint(0, 4) < 1 + data.sum() / 2)


@program(CUBE)
def a_generator_of_its_own(data):
    return bool(np.random.default_rng().random() < 0.3 + 0.1 * data.sum())


@program(CUBE)
def a_seeded_generator(data):
    return int(data.sum() + np.random.default_rng(7).integers(0, 5))


@program(CUBE)
def a_poisson_number(data, rng):
    return bool(rng.poisson(1.0) > data.sum())


@program(CUBE)
def geometric_against_a_bound(data, rng):
    return min(int(data.sum()) + int(rng.geometric(0.5)), 6)


@program(CUBE)
def coins_until_tails(data, rng):
    steps = 0
    while steps < 4 and rng.random() < E1:
        steps += 1
    return min(4, int(data.sum()) + steps)


# -- noise that stays symbolic ---------------------------------------------------------------------
@program(CUBE)
def noise_over_a_threshold(data, rng):
    return bool(data.sum() + rng.laplace(0, 1.0) > 2)


@program(CUBE)
def noise_over_a_threshold_too_little(data, rng):
    return bool(data.sum() + rng.laplace(0, 0.8) > 2)


@program(ALL)
def noisy_maximum(answers, rng):
    return int(np.argmax(answers + rng.laplace(0, 2.0, size=len(answers))))


@program(ALL, epsilon=0.5)
def noisy_maximum_half(answers, rng):
    return int(np.argmax(answers + rng.laplace(0, 2.0, size=len(answers))))


@program(ONE)
def noisy_maximum_with_gumbel(answers, rng):
    return int(np.argmax(answers / 2 + rng.gumbel(size=len(answers))))


@program(ALL)
def noisy_minimum_with_exponential(answers, rng):
    return int(np.argmin(answers + rng.exponential(2.0, size=len(answers))))


@program(ALL)
def sparse_vector(answers, rng):
    threshold, told = rng.laplace(0, 2.0), []
    for answer in answers:
        told.append(bool(answer + rng.laplace(0, 4.0) >= 1 + threshold))
        if told[-1]:
            break
    return tuple(told)


@program(ALL)
def sparse_vector_without_noise_of_its_own(answers, rng):
    threshold = rng.laplace(0, 2.0)
    return tuple(bool(answer >= 1 + threshold) for answer in answers)


@program(ALL, epsilon=1.5)
def order_of_noisy_answers(answers, rng):
    return np.argsort(answers + rng.laplace(0, 2.0, size=2)).tolist()


@program(CUBE)
def rounded_and_clipped(data, rng):
    return int(np.clip(np.round(data.sum() + rng.laplace(0, 1.0)), 0, 4))


@program(CUBE)
def rounded_and_clipped_too_little(data, rng):
    return int(np.clip(np.round(data.sum() + rng.laplace(0, 0.9)), 0, 4))


@program(CUBE, epsilon=1.0)
def rounded_down_and_clipped(data, rng):
    return min(4, max(0, math.floor(data.sum() + rng.laplace(0, 1.0))))


@program(CUBE)
def rounded_without_an_end(data, rng):
    return round(data.sum() + rng.laplace(0, 1.0))


@program(CUBE)
def difference_of_geometrics_clipped(data, rng):
    p = 1 - E1
    return int(np.clip(data.sum() + rng.geometric(p) - rng.geometric(p), 0, 4))


@program(CUBE)
def difference_of_geometrics(data, rng):
    p = 1 - E1
    return int(data.sum() + rng.geometric(p) - rng.geometric(p))


@program(ALL)
def sum_of_noisy_answers_compared(answers, rng):
    return bool((answers + rng.laplace(0, 2.0, size=2)).sum() > 2)


@program(ALL)
def noisy_answers_counted(answers, rng):
    return int((answers + rng.laplace(0, 2.0, size=2) > 1).sum())


@program(ALL)
def largest_of_noisy_answers_rounded(answers, rng):
    return int(np.clip(np.round(max(answers + rng.laplace(0, 2.0, size=2))), 0, 2))


@program(CUBE, epsilon=0.7)
def normal_noise_over_a_threshold(data, rng):
    return bool(data.sum() + rng.normal(0, 2.0) > 2)


@program(CUBE)
def logistic_noise_over_a_threshold(data, rng):
    return bool(data.sum() + rng.logistic(0, 1.0) > 1)


@program(CUBE)
def noise_of_python(data):
    return data.sum() + random.gauss(0, 2.0) > 2


@program(CUBE)
def absolute_noise(data, rng):
    return bool(abs(data.sum() + rng.laplace(0, 1.0)) < 1)


@program(CUBE)
def uniform_noise_over_a_threshold(data, rng):
    return bool(data.sum() + rng.uniform(-2, 2) > 1)


# -- real outputs ----------------------------------------------------------------------------------
@program(CUBE)
def laplace_noise(data, rng):
    return float(data.sum() + rng.laplace(0, 1.0))


@program(CUBE)
def laplace_noise_too_little(data, rng):
    return float(data.sum() + rng.laplace(0, 0.9))


@program(CUBE, delta=0.01)
def laplace_noise_with_delta(data, rng):
    return data.sum() + rng.laplace(0, 1.0)


@program(CUBE, delta=1e-5)
def normal_noise(data, rng):
    return data.sum() + rng.normal(0, 4.0)


@program(CUBE, delta=1e-5)
def normal_noise_too_little(data, rng):
    return data.sum() + rng.normal(0, 3.5)


@program(CUBE, delta=1e-5)
def normal_noise_that_is_clipped(data, rng):
    return np.clip(data.sum() + rng.normal(0, 3.5), 0, 4)


@program(CUBE)
def laplace_noise_that_is_clipped(data, rng):
    return np.clip(data.sum() + rng.laplace(0, 1.0), 0, 4)


@program(RECORDS, epsilon=1.0)
def noisy_histogram(data, rng):
    return (np.bincount(data, minlength=3) + rng.laplace(0, 2.0, size=3)).tolist()


@program(RECORDS, epsilon=1.0)
def noisy_histogram_half_noise(data, rng):
    return (np.bincount(data, minlength=3) + rng.laplace(0, 1.0, size=3)).tolist()


@program(RECORDS)
def noisy_histogram_as_a_dictionary(data, rng):
    return {cell: float((data == cell).sum() + rng.laplace(0, 2.0)) for cell in range(3)}


@program(RECORDS)
def large_cells_only(data, rng):
    noisy = np.bincount(data, minlength=3) + rng.laplace(0, 2.0, size=3)
    return [float(value) if value > 1 else None for value in noisy]


@program(RECORDS)
def most_frequent(data, rng):
    return int(np.argmax(np.bincount(data, minlength=3) + rng.laplace(0, 2.0, size=3)))


@program(ALL)
def same_noise_twice(answers, rng):
    noise = rng.laplace(0, 10.0)
    return float(answers[0] + noise), float(answers[1] + noise)


@program(ALL)
def running_sums(answers, rng):
    return np.cumsum(answers + rng.laplace(0, 2.0, size=len(answers))).tolist()


@program(CUBE)
def uniform_noise(data, rng):
    return data.sum() + rng.uniform(-3, 3)


@program(CUBE, epsilon=1.5)
def exponential_noise(data, rng):
    return data.sum() + rng.exponential(1.0)


@program(CUBE)
def mean_with_noise(data, rng):
    return float(data.mean() + rng.laplace(0, 0.25))


@program(AGES, epsilon=0.8)
def mean_of_ages(data, rng):
    ages = np.clip(data, 1, 3)
    return float(ages.mean() + rng.laplace(0, 2 / len(data)))


@program(AGES)
def mean_of_ages_unclipped(data, rng):
    ages = np.clip(data, 1, 3)
    return float(data.sum() / len(ages) + rng.laplace(0, 2 / len(data)))


@program(AGES)
def mean_and_square(data, rng):
    ages = np.clip(data, 0, 2)
    total = ages.sum() + rng.laplace(0, 4.0)
    squares = (ages**2).sum() + rng.laplace(0, 8.0)
    return float(total / len(data)), float(squares / len(data))


FEATURES = np.array([[0.6, -2.0, 1.0], [3.0, 0.5, 0.0], [0.0, 0.0, 0.2], [-1.0, 4.0, 0.3]])


@program(lt.RecordGrid([4] * 3), delta=1e-5)
def clipped_gradients(data, rng):
    gradients = FEATURES[data]
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    return (np.sum(gradients / np.maximum(1.0, norms), axis=0) + rng.normal(0, 8.0, 3)).tolist()


@program(lt.RecordGrid([4] * 3), delta=1e-5)
def unclipped_gradients(data, rng):
    gradients = FEATURES[data]
    return (np.sum(gradients, axis=0) + rng.normal(0, 4.0, size=3)).tolist()


# -- what is read, what is answered ----------------------------------------------------------------
@program(lt.Hypercube(40))
def count_of_many_bits(data, rng):
    return float(data.sum() + rng.laplace(0, 1.0))


@program(lt.Hypercube(40), epsilon=0.9)
def count_of_many_bits_too_little(data, rng):
    return int(np.clip(np.round(np.sum(data) + rng.laplace(0, 1.0)), 0, 40))


@program(lt.Hypercube(40), epsilon=1.2)
def only_two_records_are_read(data, rng):
    return int(rng.random() < 0.25 + 0.25 * data[3] + 0.25 * data[17])


@program(lt.RecordGrid([3] * 7), epsilon=1.0)
def histogram_of_many_records(data, rng):
    return (np.bincount(data, minlength=3) + rng.laplace(0, 2.0, size=3)).tolist()


@program(lt.Hypercube(12))
def one_of_many_is_told(data, rng):
    return int(data[int(rng.integers(0, 12))])


@program(CUBE)
def an_exception_for_some(data, rng):
    if data.sum() == 0:
        raise ValueError("nobody")
    return bool(rng.random() < 0.5)


@program(CUBE)
def an_exception_for_all(data, rng):
    raise RuntimeError(str(rng.random() < 0.5))


@program(CUBE)
def constant(data, rng):
    return "always"


@program(CUBE)
def the_data_itself(data, rng):
    return data.tolist()


@program(CUBE, epsilon=3.0)
def sets_and_tuples(data, rng):
    return frozenset({(int(bit) + int(rng.random() < 0.5)) % 2 for bit in data[:2]})


@dataclass(frozen=True)
class Answer:
    """An output with two parts."""

    over: bool
    label: str


@program(CUBE)
def a_dataclass(data, rng):
    return Answer(bool(data.sum() + rng.laplace(0, 1.0) > 1), "count")


@program(CUBE)
def none_or_a_number(data, rng):
    return 1 if rng.random() < 0.5 + 0.1 * data[0] else None


# -- refused ---------------------------------------------------------------------------------------
@program(CUBE)
def noise_as_an_exponent(data, rng):
    return bool(math.exp(data.sum() + rng.laplace()) > 2)


@program(CUBE)
def noise_as_text(data, rng):
    return f"{data.sum() + rng.laplace()}"


@program(CUBE)
def product_of_noise(data, rng):
    return bool(rng.laplace() * rng.laplace() > data.sum())


@program(CUBE)
def endless_loop_of_draws(data, rng):
    while rng.random() < 2:
        pass
    return 0


# -- a count, written in many ways -----------------------------------------------------------------
WAYS: dict[str, Callable[[Any], Any]] = {
    "sum_method": lambda d: d.sum(),
    "numpy_sum": lambda d: np.sum(d),
    "python_sum": lambda d: sum(d),
    "python_ints": lambda d: sum(int(v) for v in d),
    "clip": lambda d: np.clip(d, 0, 1).sum(),
    "asarray": lambda d: np.asarray(d).sum(),
    "astype": lambda d: d.astype(float).sum(),
    "equal": lambda d: (d == 1).sum(),
    "minimum": lambda d: np.minimum(d, 1).sum(),
    "filter_length": lambda d: len(d[d == 1]),
    "dot": lambda d: np.dot(d, np.ones(len(d))),
    "generator": lambda d: sum(1 for v in d if v),
    "bincount": lambda d: np.bincount(d, minlength=2)[1],
}


def _count_by(name: str, way: Callable[[Any], Any]) -> None:
    def count(data, rng):
        return float(way(data) + rng.laplace(0, 1.0))

    count.__name__ = f"count_by_{name}"
    program(lt.Hypercube(6))(count)


for _name, _way in WAYS.items():
    _count_by(_name, _way)
