"""The stand-in generator: exact laws of NumPy's finite draws, its types, its errors."""

from __future__ import annotations

import copy
import math
import pickle
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
import pytest

from liptest.enumerate.intercept.generator import UNUSED_BITS
from liptest.errors import BudgetError, UnsupportedRandomnessError
from liptest.values.draws.grid import GRID
from tests.unit.enumerate.bits import generator_at, law_of

Program = Callable[[Any], Any]


def uniform_over(outputs: Any) -> dict[Any, Fraction]:
    counted = Counter(outputs)
    return {output: Fraction(n, counted.total()) for output, n in counted.items()}


def listed(array: Any) -> Any:
    return array if not isinstance(array, np.ndarray) else nested(array.tolist())


def nested(value: Any) -> Any:
    return tuple(map(nested, value)) if isinstance(value, list) else value


def binomial(n: int, p: float) -> dict[int, Fraction]:
    success = Fraction(p)
    law = {k: math.comb(n, k) * success**k * (1 - success) ** (n - k) for k in range(n + 1)}
    return {k: mass for k, mass in law.items() if mass}


def cells(p: list[float]) -> list[tuple[int, int]]:
    """Grid intervals of the items of ``choice(p=p)``, from the documented float cdf."""
    cdf = np.cumsum(p)
    cdf /= cdf[-1]
    cuts = [0, *(math.ceil(Fraction(c) * GRID) for c in cdf.tolist())]
    return list(pairwise(cuts))


def masses(p: list[float]) -> list[Fraction]:
    return [Fraction(high - low, GRID) for low, high in cells(p)]


P = [0.1, 0.2, 0.7]
MASS = masses(P)


def counts_of(drawn: Any) -> tuple[int, ...]:
    return tuple(drawn.count(colour) for colour in range(3))


LAWS: list[tuple[Program, dict[Any, Fraction]]] = [
    (lambda rng: rng.integers(3), uniform_over(range(3))),
    (lambda rng: rng.integers(-2, 2), uniform_over(range(-2, 2))),
    (lambda rng: rng.integers(1, 6, endpoint=True), uniform_over(range(1, 7))),
    (lambda rng: rng.integers(0, 2, size=3), uniform_over(product(range(2), repeat=3))),
    (lambda rng: rng.integers([1, 2, 3]), uniform_over(product(range(1), range(2), range(3)))),
    (
        lambda rng: rng.integers(0, [[2], [3]]),
        uniform_over(((a,), (b,)) for a in range(2) for b in range(3)),
    ),
    (lambda rng: rng.choice(4), uniform_over(range(4))),
    (lambda rng: rng.choice(["a", "b", "a"]), uniform_over("aba")),
    (lambda rng: rng.choice([[1, 2], [3, 4]]), uniform_over([(1, 2), (3, 4)])),
    (lambda rng: rng.choice([[1, 2], [3, 4]], axis=1), uniform_over([(1, 3), (2, 4)])),
    (lambda rng: rng.choice(3, size=2), uniform_over(product(range(3), repeat=2))),
    (lambda rng: rng.choice(3, p=P), dict(enumerate(MASS))),
    (lambda rng: rng.choice(["x", "y"], p=[1.0, 0.0]), {"x": Fraction(1)}),
    (
        lambda rng: rng.choice(3, 2, p=P),
        {(a, b): MASS[a] * MASS[b] for a in range(3) for b in range(3)},
    ),
    (lambda rng: rng.choice(4, 2, replace=False), uniform_over(permutations(range(4), 2))),
    (lambda rng: rng.choice(3, 3, replace=False), uniform_over(permutations(range(3)))),
    (lambda rng: rng.choice(3, replace=False, p=P), dict(enumerate(MASS))),
    (
        # Floyd's algorithm keeps an order: the second draw is last + 1 with probability 1/2.
        lambda rng: rng.choice(3, 2, replace=False, shuffle=False),
        uniform_over([(0, 2), (0, 1), (0, 2), (1, 0), (1, 2), (1, 2)]),
    ),
    (lambda rng: rng.binomial(5, 0.5), binomial(5, 0.5)),
    (lambda rng: rng.binomial(4, 0.3), binomial(4, 0.3)),
    (lambda rng: rng.binomial(3, 0.0), {0: Fraction(1)}),
    (lambda rng: rng.binomial(3, 1), {3: Fraction(1)}),
    (lambda rng: rng.binomial(0, 0.3), {0: Fraction(1)}),
    (
        lambda rng: rng.binomial([1, 2], 0.3),
        {
            (a, b): p * q
            for (a, p), (b, q) in product(binomial(1, 0.3).items(), binomial(2, 0.3).items())
        },
    ),
    (
        lambda rng: rng.hypergeometric(3, 2, 2),
        {0: Fraction(1, 10), 1: Fraction(6, 10), 2: Fraction(3, 10)},
    ),
    (lambda rng: rng.hypergeometric(1, 4, [0, 5]), {(0, 1): Fraction(1)}),
    (
        lambda rng: rng.multinomial(2, [0.5, 0.25, 0.25]),
        {
            (2, 0, 0): Fraction(1, 4),
            (0, 2, 0): Fraction(1, 16),
            (0, 0, 2): Fraction(1, 16),
            (1, 1, 0): Fraction(1, 4),
            (1, 0, 1): Fraction(1, 4),
            (0, 1, 1): Fraction(1, 8),
        },
    ),
    (
        lambda rng: rng.multinomial(1, [0.5, 0.5], size=2),
        uniform_over(product([(1, 0), (0, 1)], repeat=2)),
    ),
    (
        lambda rng: rng.multinomial([1, 2], [0.5, 0.5]),
        {
            ((a, 1 - a), (b, 2 - b)): Fraction(1, 2) * mass
            for a in range(2)
            for b, mass in binomial(2, 0.5).items()
        },
    ),
    (
        lambda rng: rng.multinomial(1, [[0.25, 0.75], [1.0, 0.0]]),
        {((1, 0), (1, 0)): Fraction(1, 4), ((0, 1), (1, 0)): Fraction(3, 4)},
    ),
    (
        lambda rng: rng.multivariate_hypergeometric([2, 1, 1], 2),
        uniform_over(counts_of(pair) for pair in permutations([0, 0, 1, 2], 2)),
    ),
    (
        lambda rng: rng.multivariate_hypergeometric([1, 1], 1, size=2, method="count"),
        uniform_over(product([(1, 0), (0, 1)], repeat=2)),
    ),
    (lambda rng: rng.multivariate_hypergeometric([2, 0], 2), {(2, 0): Fraction(1)}),
    (lambda rng: rng.multivariate_hypergeometric([2, 3], 0), {(0, 0): Fraction(1)}),
    (lambda rng: rng.permutation(3), uniform_over(permutations(range(3)))),
    (lambda rng: rng.permutation(["a", "b"]), uniform_over(permutations("ab"))),
    (lambda rng: rng.permutation([[1, 2], [3, 4]]), uniform_over(permutations([(1, 2), (3, 4)]))),
    (
        lambda rng: rng.permutation([[1, 2], [3, 4]], axis=1),
        uniform_over([((1, 2), (3, 4)), ((2, 1), (4, 3))]),
    ),
    (lambda rng: rng.permuted([1, 2, 3]), uniform_over(permutations([1, 2, 3]))),
    (
        lambda rng: rng.permuted([[1, 2], [3, 4]], axis=1),
        uniform_over(product([(1, 2), (2, 1)], [(3, 4), (4, 3)])),
    ),
    (
        lambda rng: rng.permuted([[1, 2], [3, 4]], axis=0),
        uniform_over(
            ((a, b), (c, d)) for (a, c), (b, d) in product([(1, 3), (3, 1)], [(2, 4), (4, 2)])
        ),
    ),
    (
        lambda rng: rng.permuted([[1, 2], [3, 4]]),
        uniform_over(((a, b), (c, d)) for a, b, c, d in permutations([1, 2, 3, 4])),
    ),
    (lambda rng: rng.bytes(1), uniform_over(bytes([i]) for i in range(256))),
    (lambda rng: rng.bytes(0), {b"": Fraction(1)}),
]


@pytest.mark.parametrize(("program", "expected"), LAWS)
def test_exact_law(program: Program, expected: dict[Any, Fraction]) -> None:
    assert law_of(lambda rng: listed(program(rng))) == expected


@pytest.mark.parametrize("kind", [list, np.array])
def test_shuffle_is_a_uniform_order_in_place(kind: Any) -> None:
    def program(rng: Any) -> Any:
        items = kind([1, 2, 3])
        assert rng.shuffle(items) is None
        return tuple(int(item) for item in items)

    assert law_of(program) == uniform_over(permutations([1, 2, 3]))


def test_shuffle_along_an_axis() -> None:
    def program(rng: Any) -> Any:
        items = np.array([[1, 2], [3, 4]])
        rng.shuffle(items, axis=1)
        return listed(items)

    assert law_of(program) == uniform_over([((1, 2), (3, 4)), ((2, 1), (4, 3))])


@pytest.mark.parametrize(
    "p", [P, [0.3, 0.3, 0.3, 0.1], [1 / 3] * 3, [0.0, 0.5, 0.0, 0.5], [1e-20, 1]]
)
def test_choice_cuts_the_grid_where_numpy_does(p: list[float]) -> None:
    for item, (low, high) in enumerate(cells(p)):
        if low < high:
            ends = generator_at([low, high - 1])
            assert [ends.choice(len(p), p=p), ends.choice(len(p), p=p)] == [item, item]
    expected = {item: mass for item, mass in enumerate(masses(p)) if mass}
    assert law_of(lambda rng: rng.choice(len(p), p=p)) == expected


def test_choice_by_weight_without_replacement_is_numpys_algorithm() -> None:
    # NumPy itself, driven through one grid point of every cell, weighted by the cells.
    expected: Counter[Any] = Counter()
    for a, b in product(range(3), repeat=2):
        mass = MASS[a] * MASS[b]
        firsts = [cells(P)[a][0], cells(P)[b][0]]
        rest = [0.0 if item == a else p for item, p in enumerate(P)]
        thirds = [(0, Fraction(1))]
        if a == b:
            thirds = [(low, Fraction(high - low, GRID)) for low, high in cells(rest) if low < high]
        for third, weight in thirds:
            real = generator_at([*firsts, third]).choice(3, 2, replace=False, p=P)
            expected[tuple(real.tolist())] += mass * weight
    found = law_of(lambda rng: tuple(rng.choice(3, 2, replace=False, p=P).tolist()))
    assert found == dict(expected)
    # And it is not what drawing one by one without replacement would give by symmetry.
    assert found[0, 1] != found[1, 0]


def test_float32_probabilities_are_accepted_as_numpy_accepts_them() -> None:
    p = np.array([0.3, 0.3, 0.4002], dtype=np.float32)
    np.random.default_rng(0).choice(3, p=p)
    assert law_of(lambda rng: rng.choice(3, p=p)) == dict(
        enumerate(masses(p.astype(float).tolist()))
    )


CALLS = [
    "rng.integers(5)",
    "rng.integers(5, dtype=int)",
    "rng.integers(2, dtype=bool)",
    "rng.integers(5, dtype=np.uint8)",
    "rng.integers(5, dtype='int32')",
    "rng.integers(5, size=())",
    "rng.integers(5, size=(1, 2), dtype=np.int8)",
    "rng.integers(np.int64(5))",
    "rng.integers(np.array(5))",
    "rng.integers([3])",
    "rng.integers(True)",
    "rng.choice(5)",
    "rng.choice(np.int64(5))",
    "rng.choice(5, p=[.2] * 5)",
    "rng.choice(5, size=())",
    "rng.choice(5, 0)",
    "rng.choice(0, 0)",
    "rng.choice(5, replace=False)",
    "rng.choice(5, 2, replace=False)",
    "rng.choice([1.5, 2])",
    "rng.choice(['a', 'b'])",
    "rng.choice([None, (1, 2)][:1])",
    "rng.choice([1, 2], size=())",
    "rng.choice([[1, 2]], (2, 2))",
    "rng.choice([[1, 2]], (2, 1), axis=1)",
    "rng.binomial(3, .5)",
    "rng.binomial(np.int64(3), np.float64(.5))",
    "rng.binomial(np.array(3), .5)",
    "rng.binomial(3.0, .5)",
    "rng.binomial(3, .5, size=())",
    "rng.binomial([3], .5)",
    "rng.binomial(3, .5, 2)",
    "rng.hypergeometric(3, 3, 2)",
    "rng.hypergeometric(3, 3, 2, size=2)",
    "rng.multinomial(3, [.2, .8])",
    "rng.multinomial(0, [.2, .8])",
    "rng.permutation(3)",
    "rng.permutation(0)",
    "rng.permutation(-1)",
    "rng.permutation((3, 4))",
    "rng.permutation(np.eye(2))",
    "rng.permuted([1, 2])",
    "rng.bytes(1)",
    "rng.shuffle([1, 2])",
    "np.random.default_rng(rng) is rng",
    "isinstance(rng, np.random.Generator)",
]
WRONG = [
    "rng.integers(0)",
    "rng.integers(5, 3)",
    "rng.integers(5, size=-1)",
    "rng.integers(2**70)",
    "rng.integers(300, dtype=np.uint8)",
    "rng.integers(5, dtype=float)",
    "rng.integers('a')",
    "rng.choice([])",
    "rng.choice(0)",
    "rng.choice(2.0)",
    "rng.choice(None)",
    "rng.choice('abc')",
    "rng.choice(3, 5, replace=False)",
    "rng.choice(3, (2, 2), False)",
    "rng.choice(3, -1)",
    "rng.choice(3, size=2.0)",
    "rng.choice([1, 2], axis=2)",
    "rng.choice(2, p=[.5, .6])",
    "rng.choice(2, p=[.5])",
    "rng.choice(2, p=[[.5, .5]])",
    "rng.choice(2, p=[.5, float('nan')])",
    "rng.choice(2, p=[-.5, 1.5])",
    "rng.choice(2, p=['a', 'b'])",
    "rng.choice(2, p=np.array([.5, .5], dtype=np.longdouble))",
    "rng.choice(2, p=[.5j, .5])",
    "rng.choice(3, 2, False, [1, 0, 0])",
    "rng.binomial(-1, .5)",
    "rng.binomial(3, 1.1)",
    "rng.binomial(3, float('nan'))",
    "rng.binomial('a', .5)",
    "rng.hypergeometric(1, 1, 5)",
    "rng.hypergeometric(-1, 1, 1)",
    "rng.multinomial(3, [.5, .6, .1])",
    "rng.permutation(2.5)",
    "rng.permutation('abc')",
    "rng.permutation([1, 2], axis=1)",
    "rng.permuted([1, 2], axis=1)",
    "rng.shuffle((1, 2))",
    "rng.shuffle(5)",
    "rng.shuffle([1, 2], axis=1)",
    "rng.shuffle(np.zeros(2), axis=1)",
    "rng.shuffle(np.broadcast_to(1, 3))",
    "rng.nothing()",
    "rng.randint(3)",
]


def described(value: Any) -> Any:
    array = isinstance(value, np.ndarray)
    return (value.dtype, value.shape) if array else type(value)


@pytest.mark.parametrize("call", CALLS)
def test_types_and_shapes_are_numpys(call: str) -> None:
    def program(rng: Any) -> Any:
        return described(eval(call, {"rng": rng, "np": np}))

    assert law_of(program) == {program(np.random.default_rng(0)): 1}


@pytest.mark.parametrize("call", WRONG)
def test_wrong_arguments_raise_what_numpy_raises(call: str) -> None:
    with pytest.raises(Exception) as caught:
        eval(call, {"rng": np.random.default_rng(0), "np": np})
    assert law_of(lambda rng: eval(call, {"rng": rng, "np": np})) == {type(caught.value): 1}


def test_permuted_writes_into_out() -> None:
    def program(rng: Any) -> Any:
        out = np.zeros(2, dtype=int)
        assert rng.permuted([1, 2], out=out) is out
        return tuple(out.tolist())

    assert law_of(program) == uniform_over(permutations([1, 2]))


FINITE = {
    *("random", "uniform", "integers", "choice", "binomial", "multinomial", "hypergeometric"),
    *("multivariate_hypergeometric", "spawn"),
    *("permutation", "permuted", "shuffle", "bytes"),
    *("geometric", "poisson", "negative_binomial", "logseries", "zipf"),
    *("laplace", "normal", "standard_normal", "exponential", "standard_exponential"),
    *("gumbel", "logistic"),
}


@pytest.mark.parametrize("name", sorted(set(dir(np.random.Generator)) - FINITE))
def test_every_other_method_of_numpy_aborts(name: str) -> None:
    if name.startswith("_"):
        return
    with pytest.raises(UnsupportedRandomnessError, match=rf"rng\.{name} .*lt\.ClosedForm"):
        law_of(lambda rng: getattr(rng, name)())


@pytest.mark.parametrize(
    "program",
    [
        copy.copy,
        copy.deepcopy,
        pickle.dumps,
        lambda rng: rng._bit_generator,
        lambda rng: rng.integers(2.5),
        lambda rng: rng.binomial(2.5, 0.5),
        lambda rng: rng.bytes(-1),
    ],
)
def test_what_cannot_be_followed_aborts(program: Program) -> None:
    with pytest.raises(UnsupportedRandomnessError):
        law_of(program)


@pytest.mark.parametrize(
    "program",
    [
        lambda rng: rng.integers(10**9),
        lambda rng: rng.integers(2**40, size=2),
        lambda rng: rng.integers(2, size=10**9),
        lambda rng: rng.choice(10**8),
        lambda rng: rng.choice(10**9, 10**8, replace=False),
        lambda rng: rng.choice(10**9, 2, replace=False),
        lambda rng: rng.hypergeometric(10**8, 10**8, 10**8),
        lambda rng: rng.permutation(10**9),
        lambda rng: rng.bytes(10**9),
        lambda rng: rng.binomial(10**9, 0.5),
        lambda rng: rng.binomial(10**6, 0.5),
        lambda rng: rng.binomial(3, 0.5, size=10**9),
    ],
)
def test_large_draws_are_over_budget_before_memory_is(program: Program) -> None:
    with pytest.raises(BudgetError):
        law_of(program)


def test_random_bytes_of_very_many_values_are_refused_with_their_line() -> None:
    with pytest.raises(BudgetError, match=r"8 random bytes \(test_generator\.py.*randbits\(64\)"):
        law_of(lambda rng: (rng.bytes(8), rng.integers(2)))


def test_shuffling_read_only_data_fails_before_it_draws() -> None:
    fixed = np.broadcast_to(1, 500)
    assert law_of(lambda rng: rng.shuffle(fixed), max_leaves=1) == {ValueError: 1}


def test_a_stand_in_draws_no_bits() -> None:
    before = UNUSED_BITS.state
    for program, _ in LAWS:
        law_of(lambda rng, program=program: listed(program(rng)))
    assert UNUSED_BITS.state == before
