"""Outputs that are equal and differ by type, sign of zero or order: a verdict says that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.trees.outputs import OutputKinds
from liptest.mechanisms.base import EQUAL_ARE_ONE

BITS = lt.Hypercube(4)


@dataclass
class Answer:
    count: Any


def _heads(rng: Any) -> bool:
    return bool(rng.random() < 0.5)


def by_type(data: Any, rng: Any) -> Any:
    return True if data[0] and _heads(rng) else 1


def by_sign_of_zero(data: Any, rng: Any) -> Any:
    return -0.0 if data[0] else 0.0


def by_order(data: Any, rng: Any) -> Any:
    return {"a": 1, "b": 2} if data[0] else {"b": 2, "a": 1}


def list_or_tuple(data: Any, rng: Any) -> Any:
    return [1, 2] if data[0] else (1, 2)


def entries(data: Any, rng: Any) -> Any:
    return [1.0, 2] if data[0] else [1, 2.0]


def sign_in_array(data: Any, rng: Any) -> Any:
    return np.array([1.0, -0.0]) if data[0] else np.array([1.0, 0.0])


def in_array_of_objects(data: Any, rng: Any) -> Any:
    return np.array([1, "a"] if data[0] else [True, "a"], dtype=object)


def in_a_dataclass(data: Any, rng: Any) -> Any:
    return Answer(1) if data[0] else Answer(True)


def on_paths(data: Any, rng: Any) -> Any:
    noisy = data.sum() + rng.laplace(0, 1)
    return True if noisy > 2 else 1 if noisy > 1 else 0


def one_type(data: Any, rng: Any) -> Any:
    return [int(data[0]) ^ _heads(rng)]


def of_numpy(data: Any, rng: Any) -> Any:
    return np.int64(1) if _heads(rng) else 1


def different_values(data: Any, rng: Any) -> Any:
    return None if _heads(rng) else 2.5 if _heads(rng) else "2.5"


def _source(function: Callable[..., Any], domain: Any = BITS, **options: Any) -> str:
    return lt.check_privacy(function, domain, epsilon=1.2, **options).law_source


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    [
        by_type,
        by_sign_of_zero,
        by_order,
        list_or_tuple,
        entries,
        sign_in_array,
        in_a_dataclass,
        in_array_of_objects,
    ],
)
def test_it_is_said(function: Callable[..., Any]) -> None:
    assert _source(function) == f"enumerated; {EQUAL_ARE_ONE}"
    # Told apart, it is what gives the first record away.
    typed = lt.mechanism(function, typed_outputs=True)
    verdict = lt.check_privacy(typed, BITS, epsilon=1.2)
    assert verdict.decision == "NO"
    assert EQUAL_ARE_ONE not in verdict.law_source


@pytest.mark.parametrize("function", [one_type, of_numpy, different_values])
def test_it_is_not_said_of_others(function: Callable[..., Any]) -> None:
    assert _source(function) == "enumerated"


def test_what_is_made_of_a_noisy_number_is_private_whatever_its_type() -> None:
    assert _source(on_paths, lt.Hypercube(3000), method="alignment") == "aligned"


def test_what_the_reader_names_is_not_an_output_of_the_program() -> None:
    mechanism = lt.mechanism(list_or_tuple)
    assert mechanism.trace(np.zeros(4, dtype=int), (1, 2)) is not None
    assert mechanism.law_source == "enumerated"


def test_what_another_process_saw_is_taken_in() -> None:
    here, there = OutputKinds(), OutputKinds()
    here.noted(True, True)
    there.noted(1, 1)
    assert not here.differ
    here.learn(there)
    assert here.differ
