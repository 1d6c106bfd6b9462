"""Sentences of docs/code.md are tried: what is followed has its law, what is refused is refused."""

from __future__ import annotations

import datetime
import logging
import os
import random
import secrets
import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.mechanisms.laws import Raised

PAGE = (Path(__file__).parents[3] / "docs" / "code.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())
DATA = np.array([1, 0])


def law(function: Any, **options: Any) -> dict[Any, Any]:
    return dict(lt.output_law(lt.mechanism(**options)(function), DATA))


def rolled(data: Any, rng: Any) -> Any:
    return [1, 1.0, True][rng.integers(3)]


def kinds_of_lists(data: Any, rng: Any) -> Any:
    return [[1], (1,), np.array([1])][rng.integers(3)]


def into_zeros(data: Any, rng: Any) -> int:
    numbers = np.zeros(2)
    numbers += rng.laplace(size=2)
    return int(np.argmax(numbers))


def into_one_place(data: Any, rng: Any) -> int:
    numbers = np.array([0.0, 0.0])
    numbers[0] = rng.laplace()
    return int(numbers[0] > 0)


def through_a_view(data: Any, rng: Any) -> int:
    numbers = np.zeros(4)
    half = numbers[:2]
    half += rng.laplace(size=2)
    return int(np.argmax(numbers) < 2)


HELD = np.zeros(2)


def into_what_is_held(data: Any, rng: Any) -> int:
    HELD[0] = rng.laplace()
    return int(HELD[0] > 0)


def filled(data: Any) -> Any:
    numbers = np.empty(3)
    numbers[:] = 2
    return numbers.tolist()


def optional(data: Any, rng: Any = None) -> int:
    return int(rng.random() < 0.5)


def by_generator(data: Any, generator: Any = None) -> int:
    return int(generator.random() < 0.5)


def other_default(data: Any, noise: Any = None) -> bool:
    return noise is None


def logged(data: Any) -> int:
    logging.info("%s", time.time())
    return 0


HALVES = {0: 0.5, 1: 0.5}
FOLLOWED: list[tuple[str, Any, Any]] = [
    ("its name, annotation or default says `rng` or `generator`", optional, HALVES),
    ("its name, annotation or default says `rng` or `generator`", by_generator, HALVES),
    ("Further parameters keep their defaults", other_default, {True: 1.0}),
    ("`RandomState`", lambda data: int(np.random.RandomState().randint(2)), HALVES),
    ("`numpy.random.*`", lambda data: int(np.random.rand() < 0.5), HALVES),
    ("`secrets`", lambda data: secrets.randbelow(2), HALVES),
    ("`SystemRandom` objects", lambda data: random.SystemRandom().randrange(2), HALVES),
    (
        "a generator that the code seeds itself",
        lambda data: int(np.random.default_rng(3).integers(10)),
        {8: 1.0},
    ),
    ("added up and logged (`logging.info", logged, {0: 1.0}),
    ("`sorted` are fine", lambda data: sorted({"a", "b"}), {("a", "b"): 1.0}),
    ("`sort`, `argsort`", lambda data, rng: int(np.argsort(rng.laplace(size=2))[0]), HALVES),
    ("`numbers += noise` and", into_zeros, HALVES),
    ("`numbers[i] = noise` are followed", into_one_place, HALVES),
    ("and in their views", through_a_view, {1: 0.75, 0: 0.25}),
    ("so are 1, 1.0 and True", rolled, {1: 1.0}),
    ("Lists, tuples and arrays with equal entries are one output", kinds_of_lists, {(1,): 1.0}),
    ("generators of Python are walked", lambda data: (i for i in range(3)), {(0, 1, 2): 1.0}),
    ("exceptions by type", lambda data: 1 // 0, {Raised("ZeroDivisionError"): 1.0}),
    ("the grid of 2**53 floats", lambda data, rng: rng.random() == 0.5, None),
    ("Memory that nobody has filled", filled, {(2.0, 2.0, 2.0): 1.0}),
    ('`hasattr(rng, "integers")` are', lambda data, rng: hasattr(rng, "integers"), {True: 1.0}),
]
REFUSED: list[tuple[str, Any, str]] = [
    ("`os.urandom`", lambda data: os.urandom(1)[0], "the operating system"),
    ("`uuid.uuid4()`", lambda data: uuid.uuid4().hex, "the operating system"),
    ("`datetime.now()`", lambda data: datetime.datetime.now().year, "reads the clock"),
    ("`id()`", lambda data: id(data) % 2, "an address"),
    ("outputs like `<x at 0x..>`", lambda data: str(object()), "an address"),
    ("`os.environ`", lambda data: os.environ.get("LIPTEST"), "the environment"),
    ("files of `/proc`", lambda data: len(Path("/proc/self/stat").read_text()), "of /proc"),
    ("printing", lambda data, rng: str(rng.laplace()), r"str\(\)"),
    ("hashing", lambda data, rng: len({rng.laplace()}), r"hash\(\)"),
    ("products of noise", lambda data, rng: rng.laplace() * rng.laplace() > 0, "mul"),
    ("functions such as `exp`", lambda data, rng: np.exp(rng.laplace()) > 1, "exp"),
    ("elsewhere they are refused: write `numbers =", into_what_is_held, "list"),
    ("`lt.output_law` and the gates", lambda data, rng: rng.laplace(), "continuous noise"),
    ("`np.empty`", lambda data: float(np.empty(64)[9]), "non-deterministic"),
]


@pytest.mark.parametrize("place", range(len(FOLLOWED)))
def test_what_the_page_calls_followed(place: int) -> None:
    words, function, expected = FOLLOWED[place]
    assert words in WORDS
    found = law(function)
    if expected is None:
        assert found[True] == 2.0**-53
    else:
        assert found == expected


@pytest.mark.parametrize("place", range(len(REFUSED)))
def test_what_the_page_calls_refused(place: int) -> None:
    words, function, error = REFUSED[place]
    assert words in WORDS
    with pytest.raises(lt.errors.LiptestError, match=error):
        law(function)


def test_outputs_by_type() -> None:
    assert "`typed_outputs=True` tells them apart" in WORDS
    assert len(law(rolled, typed_outputs=True)) == 3


def test_budgets_say_what_was_not_walked() -> None:
    assert "`law.unexplored` is the probability that was not walked" in WORDS

    def many(data: Any, rng: Any) -> int:
        return sum(int(rng.random() < 0.5) << i for i in range(8))

    found = lt.output_law(lt.mechanism(max_leaves=10)(many), DATA)
    assert 0 < found.unexplored < 1
    assert float(found.unexplored) + sum(dict(found).values()) == pytest.approx(1)


@pytest.mark.slow
def test_a_sum_of_many_coins_has_few_leaves() -> None:
    assert "a sum over 2,000 of them has 2,001 leaves" in WORDS
    found = lt.output_law(lt.mechanism(lambda data, rng: int((rng.random(2000) < 0.5).sum())), DATA)
    assert len(dict(found)) == 2001


@pytest.mark.slow
def test_a_sampler_that_draws_what_its_law_does_not_say() -> None:
    assert "an error that names both probabilities" in WORDS

    @lt.sampler({True: 0.25, False: 0.75})
    def coin(rng: Any) -> bool:
        return bool(rng.random() < 0.3)

    def noisy(data: Any, rng: Any) -> int:
        return int(data.sum()) + int(coin(rng))

    with pytest.raises(lt.errors.LawError, match=r"with probability 0\.25.*0\.3"):
        lt.check_privacy(lt.mechanism(noisy), lt.Hypercube(500), epsilon=1.1, delta=0.9)
    assert law(lambda data, rng: bool(coin(rng)))[True] == pytest.approx(0.3)
