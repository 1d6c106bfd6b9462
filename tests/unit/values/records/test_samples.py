"""Random samples of the records: the price against exact laws, and when it falls with the share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.privacy.proofs.prices import align
from liptest.values.records.record_parts import DrawnPart, find_places

N, VALUES = 4, 3
SMALL = lt.RecordGrid([VALUES] * N)
DATASETS = list(product(range(VALUES), repeat=N))
#: Sums of a sample, given its records in their order.
Sums = Callable[[Any], list[Any]]
#: All samples, as positions, with probabilities.
Samples = list[tuple[float, list[int]]]
SHARE = 0.25


def price_of(function: Any, domain: lt.Domain = SMALL) -> float:
    found = align(lt.mechanism(function), domain)
    assert found.price is not None, found.reason
    return found.epsilon


def orders(length: int) -> Samples:
    every = list(permutations(range(N), length))
    return [(1 / len(every), list(one)) for one in every]


def coins() -> Samples:
    every = product((0, 1), repeat=N)
    return [
        (math.prod(SHARE if bit else 1 - SHARE for bit in bits), list(np.flatnonzero(bits)))
        for bits in every
    ]


def losses(sums: Sums, samples: Samples) -> Iterator[float]:
    """Log ratios of the densities of neighbours, with Laplace noise of scale 1, where they bend."""
    tables = {}
    for dataset in DATASETS:
        data = np.array(dataset)
        tables[dataset] = [(p, np.array(sums(data[one]), dtype=float)) for p, one in samples]
    reached = np.array([found for table in tables.values() for _, found in table])
    ends = [np.unique([*column, -50, 50]) for column in reached.T]
    points = np.array(list(product(*ends)))
    logs = {}
    for dataset, table in tables.items():
        density = sum(p * np.exp(-np.abs(points - found).sum(axis=1)) for p, found in table)
        logs[dataset] = np.log(density)
    for dataset in DATASETS:
        for place, value in product(range(N), range(VALUES)):
            other = (*dataset[:place], value, *dataset[place + 1 :])
            yield float((logs[dataset] - logs[other]).max())


def noisy(sums: Sums, sample: Callable[[Any, Any], Any]) -> Any:
    return lambda data, rng: [one + rng.laplace() for one in sums(sample(data, rng))]


def drawn(length: int) -> Callable[[Any, Any], Any]:
    return lambda data, rng: rng.choice(data, size=length, replace=False)


def shuffled(length: int) -> Callable[[Any, Any], Any]:
    return lambda data, rng: rng.permutation(data)[:length]


def tossed(data: Any, rng: Any) -> Any:
    return data[rng.random(len(data)) < SHARE]


SUMS: dict[str, Sums] = {
    "sum": lambda some: [some.sum()],
    "count": lambda some: [(some == 1).sum()],
    "several": lambda some: [(some == 1).sum(), (some * some).sum()],
}
PARTS: dict[str, Sums] = {
    "first": lambda some: [some[0], some.sum()],
    "halves": lambda some: [some[:1].sum(), some[1:].sum()],
    "overlapping": lambda some: [some[:2].sum(), some[1:].sum()],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_no_price_of_a_sample_is_below_the_exact_loss(name: str, length: int) -> None:
    exact = max(losses(SUMS[name], orders(length)))
    for sample in (drawn(length), shuffled(length)):
        found = price_of(noisy(SUMS[name], sample))
        assert found >= exact * (1 - 1e-9)
        if name != "several":
            assert found == pytest.approx(exact, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_no_price_of_parts_of_a_sample_is_below_the_exact_loss(name: str) -> None:
    exact = max(losses(PARTS[name], orders(3)))
    assert price_of(noisy(PARTS[name], shuffled(3))) >= exact * (1 - 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", SUMS)
def test_no_price_of_coins_is_below_the_exact_loss(name: str) -> None:
    exact = max(losses(SUMS[name], coins()))
    assert price_of(noisy(SUMS[name], tossed)) >= exact * (1 - 1e-9)


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(
    st.lists(
        st.lists(st.integers(-2, 2), min_size=VALUES, max_size=VALUES), min_size=1, max_size=2
    ),
    st.integers(1, N),
    st.booleans(),
)
def test_random_tables(tables: list[list[int]], length: int, by_coins: bool) -> None:
    numbers = np.array(tables).T

    def sums(some: Any) -> Any:
        return list(numbers[some].sum(axis=0)) if len(tables) > 1 else [numbers[:, 0][some].sum()]

    if not np.any(numbers):
        return
    exact = max(losses(sums, coins() if by_coins else orders(length)))
    assert price_of(noisy(sums, tossed if by_coins else drawn(length))) >= exact * (1 - 1e-9)


def one_coin_told(data: Any, rng: Any) -> Any:
    numbers = rng.random(len(data))
    return data[numbers < SHARE].sum() + rng.laplace(), bool(numbers[2] < 0.1)


def size_told(data: Any, rng: Any) -> Any:
    mask = rng.random(len(data)) < SHARE
    return data[mask].sum() + rng.laplace(), int(mask.sum())


def two_samples(data: Any, rng: Any) -> Any:
    some = [rng.choice(data, size=2, replace=False) for _ in range(2)]
    return [one.sum() + rng.laplace(0, 2) for one in some]


def sample_and_all(data: Any, rng: Any) -> Any:
    some = rng.choice(data, size=1, replace=False)
    return some.sum() + rng.laplace(0, 2), data.sum() + rng.laplace(0, 2)


def both_halves(data: Any, rng: Any) -> Any:
    some = rng.permutation(data)
    return some[:2].sum() + rng.laplace(), some[2:].sum() + rng.laplace()


def test_parts_of_one_order_cost_the_whole() -> None:
    assert price_of(both_halves) == VALUES - 1


def pairs(left: Samples, right: Samples) -> Samples:
    """Two samples that are drawn independently, the second one behind the first."""
    return [(p * q, [*one, *other]) for p, one in left for q, other in right]


#: Programs, their samples, their sums over the scale of the noise, and the shares of both samples.
TOGETHER: dict[str, Any] = {
    "two samples": (
        two_samples,
        pairs(orders(2), orders(2)),
        lambda some: [some[:2].sum() / 2, some[2:].sum() / 2],
        (0.5, 0.5),
    ),
    "a sample and all": (
        sample_and_all,
        pairs(orders(1), [(1.0, list(range(N)))]),
        lambda some: [some[:1].sum() / 2, some[1:].sum() / 2],
        (0.25, 1.0),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TOGETHER)
def test_samples_of_their_own_cost_the_sum(name: str) -> None:
    function, samples, sums, shares = TOGETHER[name]
    price = price_of(function)
    assert price == pytest.approx(sum(math.log1p(q * math.expm1(1)) for q in shares))
    assert price >= max(losses(sums, samples)) * (1 - 1e-9)


TOLD = [size_told, pytest.param(one_coin_told, marks=pytest.mark.slow)]


@pytest.mark.parametrize("function", TOLD)
def test_a_choice_that_is_told_makes_nothing_cheaper(function: Any) -> None:
    assert align(lt.mechanism(function), SMALL).epsilon >= VALUES - 1


@pytest.mark.slow
def test_orders_of_positions_are_followed_as_an_index() -> None:
    def split(data: Any, rng: Any) -> Any:
        order = rng.permutation(len(data))
        return [data[order[:10]].sum() + rng.laplace(), data[order[10:]].sum() + rng.laplace()]

    def some(data: Any, rng: Any) -> Any:
        order = rng.choice(40, size=8, replace=False)
        return float(data[order].mean() + rng.laplace(0, 1 / 8))

    bits = lt.Hypercube(40)
    assert price_of(split, bits) == 1
    assert price_of(some, bits) == pytest.approx(math.log1p(0.2 * math.expm1(1)))


def test_lists_of_python_are_sampled_too() -> None:
    def sampled(data: Any) -> Any:
        import random

        some = random.sample(data.tolist(), 10)
        return sum(some) + np.random.laplace()

    assert price_of(sampled, lt.Hypercube(40)) == pytest.approx(math.log1p(0.25 * math.expm1(1)))


def told_order(data: Any, rng: Any) -> Any:
    order = rng.permutation(len(data))
    return data[order[:10]].sum() + rng.laplace(), order[0]


def with_replacement(data: Any, rng: Any) -> Any:
    return rng.choice(data, size=10).sum() + rng.laplace()


def mean_of_coins(data: Any, rng: Any) -> Any:
    return data[rng.random(len(data)) < SHARE].mean() + rng.laplace()


def noise_as_coins(data: Any, rng: Any) -> Any:
    numbers = rng.laplace(size=len(data))
    return data[numbers > 0].sum() + numbers[0]


def part_of_a_selection(data: Any, rng: Any) -> Any:
    return rng.permutation(data[data > 0])[:3].sum() + rng.laplace()


@pytest.mark.parametrize(
    "function",
    [told_order, with_replacement, mean_of_coins, noise_as_coins, part_of_a_selection],
)
def test_what_is_no_sample_is_refused(function: Any) -> None:
    assert align(lt.mechanism(function), lt.Hypercube(40)).price is None


@pytest.mark.slow
def test_normal_noise_gets_the_delta_of_the_share() -> None:
    def sampled(data: Any, rng: Any) -> Any:
        return rng.choice(data, size=50, replace=False).sum() + rng.normal(0, 5)

    whole = lt.check_privacy(
        lt.mechanism(lambda data, rng: data.sum() + rng.normal(0, 5)),
        lt.Hypercube(5_000),
        epsilon=1.0,
        delta=1e-7,
    )
    assert whole.decision == "YES"
    found = lt.check_privacy(
        lt.mechanism(sampled),
        lt.Hypercube(5_000),
        epsilon=math.log1p(0.01 * math.expm1(1.0)),
        delta=1e-9,
    )
    assert found.decision == "YES"


def test_kinds_of_positions_in_an_order() -> None:
    halves = [DrawnPart(0, 4, range(2)), DrawnPart(0, 4, range(2, 4)), range(1), None]
    found = {one.answers for one in find_places(halves, 4) or ()}
    assert found == {(0, 2, 3), (1, 2, 3), (0, 3), (1, 3)}
    coin = [DrawnPart(1, 4, None), DrawnPart(1, 4, None)]
    assert {one.answers for one in find_places(coin, 4) or ()} == {(), (0, 1)}
    fewer = [DrawnPart(0, 3, range(2)), DrawnPart(1, 2, range(2))]
    assert {one.answers for one in find_places(fewer, 4) or ()} == {(), (0,), (1,), (0, 1)}
