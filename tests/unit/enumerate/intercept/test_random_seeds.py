"""Seeds that are drawn: 128 random bits are as good as no seed; fewer are not."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt

DATA = lt.Hypercube(1000)


def from_bits(data: Any) -> Any:
    return data.sum() + np.random.default_rng(secrets.randbits(128)).laplace()


def from_a_name(data: Any) -> Any:
    seed = random.SystemRandom().getrandbits(256)
    generator = np.random.Generator(np.random.PCG64(seed))
    return data.sum() + generator.laplace()


def from_entropy(data: Any) -> Any:
    seed = np.random.SeedSequence().entropy
    return data.sum() + np.random.default_rng(seed).laplace()


def from_a_sequence(data: Any) -> Any:
    first, second = np.random.SeedSequence(secrets.randbits(128)).spawn(2)
    both = (np.random.default_rng(part).laplace(scale=2) for part in (first, second))
    return [data.sum() + noise for noise in both]


def of_python(data: Any) -> Any:
    generator = random.Random(secrets.randbits(128))
    return int(data.sum()) + generator.expovariate(1) - generator.expovariate(1)


def unless_it_is_0(data: Any) -> Any:
    seed = secrets.randbits(128)
    return data.sum() + np.random.default_rng(seed if seed else None).laplace()


FRESH = [from_bits, from_a_name, from_entropy, from_a_sequence, of_python, unless_it_is_0]


@pytest.mark.slow
@pytest.mark.parametrize("released", FRESH)
def test_a_random_seed_of_128_bits_is_fresh(released: Callable[..., Any]) -> None:
    assert lt.check_privacy(lt.mechanism(released), DATA, epsilon=1).decision == "YES"
    assert lt.check_privacy(lt.mechanism(released), DATA, epsilon=0.9).decision == "NO"


def twice(data: Any) -> Any:
    seed = secrets.randbits(128)
    first, second = (np.random.default_rng(seed).laplace() for _ in range(2))
    return data.sum() + first - second


def told(data: Any) -> Any:
    seed = secrets.randbits(128)
    return seed, data.sum() + np.random.default_rng(seed).laplace()


def told_before(data: Any) -> Any:
    seed = secrets.randbits(128)
    out: list[Any] = [seed + 1]
    return [*out, data.sum() + np.random.default_rng(seed).laplace()]


def told_as_text(data: Any) -> Any:
    seed = secrets.randbits(128)
    return f"{seed} {data.sum() + np.random.default_rng(seed).laplace()}"


def told_in_part(data: Any) -> Any:
    seed = secrets.randbits(128)
    noisy = data.sum() + np.random.default_rng(seed).laplace()
    return seed % 1000, noisy


def told_in_part_before(data: Any) -> Any:
    seed = secrets.randbits(128)
    part = seed % 1000
    return part, data.sum() + np.random.default_rng(seed).laplace()


def told_with_noise(data: Any) -> Any:
    seed = secrets.randbits(128)
    more = seed * 2.0**-128 + np.random.default_rng().laplace()
    return more, data.sum() + np.random.default_rng(seed).laplace()


def added_to_noise(data: Any) -> Any:
    seed = secrets.randbits(128)
    noisy = data.sum() + np.random.default_rng(seed).laplace()
    return noisy + seed * 2.0**-128


def compared(data: Any) -> Any:
    seed = secrets.randbits(128)
    noisy = data.sum() + np.random.default_rng(seed).laplace()
    return seed < 1 << 127, noisy


def calculated(data: Any) -> Any:
    return data.sum() + np.random.default_rng(secrets.randbits(128) + 1).laplace()


def in_a_sequence_too(data: Any) -> Any:
    seed = secrets.randbits(128)
    first = np.random.default_rng(np.random.SeedSequence(seed)).laplace()
    return data.sum() + first - np.random.default_rng(seed).laplace()


def of_64_bits(data: Any) -> Any:
    return data.sum() + np.random.default_rng(secrets.randbits(64)).laplace()


def of_a_child(data: Any, rng: Any) -> Any:
    return data.sum() + np.random.default_rng(rng.integers(2**63)).laplace()


def of_a_state(data: Any) -> Any:
    return data.sum() + np.random.RandomState(secrets.randbits(32)).laplace()


def of_the_module(data: Any) -> Any:
    np.random.seed(random.randint(0, 2**32 - 1))
    return data.sum() + np.random.laplace()


LEAKING = [twice, told, told_before, told_as_text, told_in_part, told_in_part_before]
LEAKING += [told_with_noise, added_to_noise, compared, calculated, in_a_sequence_too]
LEAKING += [of_64_bits, of_a_child, of_a_state, of_the_module]


@pytest.mark.slow
@pytest.mark.parametrize("released", LEAKING)
def test_a_seed_that_is_known_or_short_is_not_fresh(released: Callable[..., Any]) -> None:
    found = lt.check_privacy(lt.mechanism(released), DATA, epsilon=2)
    assert found.decision == "INCONCLUSIVE"


def test_random_bits_seed_one_generator() -> None:
    law = lt.output_law(lt.mechanism(lambda data: bool(from_bits(data) > 0)), np.zeros(3, int))
    assert law.get(True) == 0.5


@pytest.mark.slow
@pytest.mark.parametrize("released", [of_64_bits, of_a_child, of_a_state, of_the_module])
def test_it_is_said_what_to_write_instead_of_short_seeds(released: Callable[..., Any]) -> None:
    found = lt.check_privacy(lt.mechanism(released), DATA, epsilon=2)
    assert "rng.spawn(n)" in found.reason


@pytest.mark.slow
def test_a_seed_of_few_bits_is_tried_out() -> None:
    def few(data: Any) -> Any:
        return data.sum() + np.random.default_rng(secrets.randbits(3)).laplace()

    assert lt.check_privacy(lt.mechanism(few), lt.Hypercube(5), epsilon=2).decision == "NO"


def test_entropy_of_the_operating_system_is_random_bits() -> None:
    def coin(data: Any) -> Any:
        return np.random.SeedSequence().entropy % 2  # type: ignore[operator]

    assert lt.output_law(lt.mechanism(coin), np.zeros(3, int)).get(1) == 0.5
