"""The stand-in for RandomState: laws, types, shapes and errors of NumPy's own."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from liptest.enumerate.intercept.random_state import ChoiceRandomState
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.errors import UnsupportedRandomnessError
from tests.unit.enumerate import bits


def law_of(program: Any) -> dict[Any, Fraction]:
    """Exact law of ``program(state)``; exceptions are outputs by their type."""
    tree = ChoiceTree("program")
    state = ChoiceRandomState(tree)

    def run() -> Any:
        state.forget_seed()
        try:
            return program(state)
        except Exception as error:
            return type(error)

    return tree.law(run)


def nested(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(map(nested, value)) if isinstance(value, list) else value


def uniform_over(outputs: Any) -> dict[Any, Fraction]:
    counted = Counter(outputs)
    return {output: Fraction(n, counted.total()) for output, n in counted.items()}


UNIFORM = [
    ("s.randint(3)", range(3)),
    ("s.randint(-1, 2)", range(-1, 2)),
    ("s.randint(0, 2, size=2)", product(range(2), repeat=2)),
    ("s.randint([1, 2], [2, 4])", product([1], [2, 3])),
    ("s.choice(4)", range(4)),
    ("s.choice(['a', 'b', 'a'])", "aba"),
    ("s.choice(3, 2)", product(range(3), repeat=2)),
    ("s.choice(3, 2, replace=False)", permutations(range(3), 2)),
    ("s.permutation(3)", permutations(range(3))),
    ("s.permutation([[1, 2], [3, 4]])", permutations([(1, 2), (3, 4)])),
    ("s.bytes(1)", [bytes([i]) for i in range(256)]),
    ("s.tomaxint() < 2**62", [True, False]),
    ("s.tomaxint() < 2**63", [True]),
    ("(s.rand(2) < 0.5).tolist()", product([True, False], repeat=2)),
    ("bool(s.random_sample() < 0.5)", [True, False]),
    ("bool(s.uniform(2, 6) < 4)", [True, False]),
]


@pytest.mark.parametrize(("call", "outputs"), UNIFORM)
def test_uniform_draws(call: str, outputs: Any) -> None:
    assert law_of(lambda s: nested(eval(call, {"s": s}))) == uniform_over(outputs)


@pytest.mark.skipif(not hasattr(np.random, "random_integers"), reason="NumPy has dropped it")
@pytest.mark.filterwarnings("ignore:This function is deprecated")
@pytest.mark.parametrize(
    ("call", "outputs"),
    [
        ("s.random_integers(3)", [1, 2, 3]),
        ("s.random_integers(-1, 1)", [-1, 0, 1]),
        ("s.random_integers(2, size=2)", product([1, 2], repeat=2)),
        ("isinstance(s.random_integers(2), np.integer)", [True]),
    ],
)
def test_deprecated_draws(call: str, outputs: Any) -> None:
    assert law_of(lambda s: nested(eval(call, {"s": s, "np": np}))) == uniform_over(outputs)


@pytest.mark.parametrize(
    "call",
    [
        "s.choice(3, p=[0.1, 0.2, 0.7])",
        "s.choice(3, 2, replace=False, p=[0.1, 0.2, 0.7])",
        "s.binomial(3, 0.3)",
        "s.hypergeometric(2, 3, 2)",
        "s.multinomial(2, [0.2, 0.8])",
        "s.uniform(0, 3) < 1",
    ],
)
def test_the_other_laws_are_those_of_a_generator(call: str) -> None:
    found = law_of(lambda s: nested(eval(call, {"s": s})))
    assert found == bits.law_of(lambda s: nested(eval(call, {"s": s})))


def test_shuffle_is_a_uniform_order_in_place() -> None:
    def program(state: Any) -> Any:
        items = [1, 2, 3]
        assert state.shuffle(items) is None
        return tuple(items)

    assert law_of(program) == uniform_over(permutations((1, 2, 3)))


CALLS = [
    "s.randint(1)",
    "s.randint(1, dtype=np.int64)",
    "s.randint(1, dtype=np.uint8)",
    "s.randint(1, size=())",
    "s.randint([1, 1])",
    "s.randint(1, size=(2, 1), dtype=np.int16)",
    "s.choice(1)",
    "s.choice([5])",
    "s.choice(1, ())",
    "s.choice(1, 2)",
    "s.choice(np.array(['ab']))",
    "s.choice([], 0)",
    "s.permutation(1)",
    "s.permutation([1.5])",
    "s.binomial(0, 0.5)",
    "s.binomial([0, 0], 0.5)",
    "s.hypergeometric(1, 0, 1)",
    "s.multinomial(0, [1.0])",
    "s.multinomial(0, [0.5, 0.5], 2)",
    "s.geometric(1.0)",
    "s.poisson(0.0, 2)",
    "s.rand()",
    "s.rand(2, 1)",
    "s.random_sample()",
    "s.random_sample(3)",
    "s.random(())",
    "s.uniform(0, 1, 2)",
    "s.bytes(0)",
]


@pytest.mark.parametrize("call", CALLS)
def test_types_and_shapes_are_numpys(call: str) -> None:
    def described(state: Any) -> Any:
        value = eval(call, {"s": state, "np": np})
        return value.__class__, getattr(value, "dtype", None), getattr(value, "shape", None)

    assert law_of(described) == {described(np.random.RandomState(0)): 1}


WRONG = [
    "s.randint(0)",
    "s.randint(2, 1)",
    "s.randint(1, dtype=float)",
    "s.choice(0)",
    "s.choice([])",
    "s.choice(2.5)",
    "s.choice([[1, 2], [3, 4]])",
    "s.choice(2, 3, replace=False)",
    "s.choice(2, p=[0.5, 0.6])",
    "s.choice(2, p=[1.5, -0.5])",
    "s.permutation('a')",
    "s.permutation(2.0)",
    "s.shuffle((1, 2))",
    "s.shuffle(5)",
    "s.binomial(-1, 0.5)",
    "s.binomial(1, 1.5)",
    "s.rand(-1)",
    "s.rand(2.0)",
    "s.seed(-1)",
    "s.seed('a')",
    "s.set_state(5)",
    "s.multinomial([1, 2], [0.5, 0.5])",
    "s.multinomial(1, [[0.5, 0.5]])",
    "s.nothing()",
]


@pytest.mark.parametrize("call", WRONG)
def test_wrong_arguments_raise_what_numpy_raises(call: str) -> None:
    with pytest.raises(Exception) as caught:
        eval(call, {"s": np.random.RandomState(0)})
    assert law_of(lambda s: eval(call, {"s": s, "np": np})) == {type(caught.value): 1}


FOLLOWED = {
    *("rand", "random", "random_sample", "randint", "choice", "permutation", "shuffle", "bytes"),
    *("uniform", "binomial", "multinomial", "hypergeometric", "tomaxint", "seed", "set_state"),
    *("geometric", "poisson", "negative_binomial", "logseries", "zipf"),
    *("laplace", "normal", "standard_normal", "randn", "exponential", "standard_exponential"),
    *("gumbel", "logistic", "random_integers"),
}


@pytest.mark.parametrize("name", sorted(set(dir(np.random.RandomState)) - FOLLOWED))
def test_every_other_method_aborts_until_it_is_seeded(name: str) -> None:
    if name.startswith("_"):
        return
    with pytest.raises(UnsupportedRandomnessError, match=rf"numpy\.random\.{name} "):
        law_of(lambda s: getattr(s, name)())


def test_a_seed_makes_it_real() -> None:
    def program(state: Any) -> Any:
        state.seed(3)
        return state.rand(), state.normal(), state.randint(100), str(state.get_state()[0])

    assert law_of(program) == {program(np.random.RandomState(0)): 1}


def test_a_seeded_state_can_be_seeded_again_and_set_free() -> None:
    def program(state: Any) -> Any:
        state.seed(3)
        state.seed(4)
        first = state.rand()
        state.set_state(np.random.RandomState(5).get_state())
        second = state.rand()
        state.seed(None)
        return first, second, state.randint(2)

    fourth, fifth = np.random.RandomState(4).rand(), np.random.RandomState(5).rand()
    assert law_of(program) == uniform_over([(fourth, fifth, 0), (fourth, fifth, 1)])
