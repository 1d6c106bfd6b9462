"""A fair sign times exponential noise is Laplace noise; nothing else is taken for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.folded.signed_noise import may_multiply_draws
from liptest.privacy.proofs.prices import align

Program = Callable[..., Any]
KINDS = 5
RECORDS = lt.RecordGrid([KINDS] * 300)


def counted(data: Any) -> Any:
    return np.bincount(data, minlength=KINDS)


def product(data: Any, rng: Any) -> Any:
    noise = rng.choice([-1, 1], size=KINDS) * rng.exponential(2.0, size=KINDS)
    return (counted(data) + noise).tolist()


def swapped(data: Any, rng: Any) -> Any:
    return (counted(data) + rng.exponential(2.0, KINDS) * rng.choice([1, -1], KINDS)).tolist()


def of_numpy(data: Any) -> Any:
    signs = np.random.choice([-1, 1], size=KINDS) * np.random.exponential(2.0, size=KINDS)
    return (counted(data) + signs).tolist()


def scaled(data: Any, rng: Any) -> Any:
    noise = 2.0 * (rng.choice([-1.0, 1.0], size=KINDS) * rng.standard_exponential(size=KINDS))
    return np.round(counted(data) + noise).tolist()


def noise_of(rng: Any, scale: float) -> Any:
    return rng.choice([-1, 1], size=KINDS) * rng.exponential(scale, size=KINDS)


def by_helper(data: Any, rng: Any) -> Any:
    return (counted(data) + noise_of(rng, 2.0)).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("program", [product, swapped, of_numpy, scaled, by_helper])
def test_the_price_is_that_of_laplace_noise(program: Program) -> None:
    assert may_multiply_draws(program)
    found = align(lt.mechanism(program), RECORDS)
    assert found.price is not None, found.reason
    assert found.price.epsilon == pytest.approx(1.0)


def one_law(program: Program, dataset: list[int]) -> dict[Any, float]:
    law = lt.mechanism(program).law(dataset)
    return dict(zip(law.outputs, np.exp(law.log_probabilities), strict=True))


def rounded_sum(data: Any, rng: Any) -> Any:
    noise = rng.choice([-1, 1], size=2) * rng.exponential(2.0, size=2)
    return [bool(data.sum() + noise[0] > 1.5), bool(noise[1] > -0.5)]


def rounded_sum_by_signs(data: Any, rng: Any) -> Any:
    signs, sizes = rng.choice([-1, 1], size=2), rng.exponential(2.0, size=2)
    noise = [sign * size for sign, size in zip(signs.tolist(), sizes.tolist(), strict=True)]
    return [bool(data.sum() + noise[0] > 1.5), bool(noise[1] > -0.5)]


@pytest.mark.parametrize("dataset", [[0, 0], [0, 1], [1, 1]])
def test_the_law_is_that_of_all_signs(dataset: list[int]) -> None:
    own, by_signs = (one_law(one, dataset) for one in (rounded_sum, rounded_sum_by_signs))
    assert own.keys() == by_signs.keys()
    assert all(own[output] == pytest.approx(by_signs[output], rel=1e-12) for output in own)


def too_little(data: Any, rng: Any) -> Any:
    return (counted(data) + noise_of(rng, 1.5)).tolist()


def told_twice(data: Any, rng: Any) -> Any:
    noise = rng.choice([-1, 1], size=KINDS) * rng.exponential(2.0, size=KINDS)
    return (counted(data) + noise).tolist(), (2 * counted(data) + noise).tolist()


def uneven_weights(data: Any, rng: Any) -> Any:
    signs = rng.choice([-1, 1], size=KINDS, p=[0.25, 0.75]) * rng.exponential(2.0, size=KINDS)
    return (counted(data) + signs).tolist()


def uneven_numbers(data: Any, rng: Any) -> Any:
    return (counted(data) + rng.choice([-1, 2], KINDS) * rng.exponential(2.0, KINDS)).tolist()


def sign_for_all(data: Any, rng: Any) -> Any:
    return (counted(data) + rng.choice([-1, 1], 1) * rng.exponential(2.0, KINDS)).tolist()


def sign_is_told(data: Any, rng: Any) -> Any:
    signs = rng.choice([-1, 1], KINDS)
    return (counted(data) + signs * rng.exponential(2.0, KINDS)).tolist(), signs.tolist()


def other_sizes(data: Any, rng: Any) -> Any:
    return (counted(data) + rng.choice([-1, 1], KINDS) * rng.random(KINDS)).tolist()


class Keeping:
    """Draws, and keeps the sizes."""

    def __init__(self, rng: Any) -> None:
        self.rng = rng
        self.sizes: Any = None

    def choice(self, *arguments: Any) -> Any:
        return self.rng.choice(*arguments)

    def exponential(self, *arguments: Any) -> Any:
        self.sizes = self.rng.exponential(*arguments)
        return self.sizes


def sizes_are_kept(data: Any, rng: Any) -> Any:
    keeping = Keeping(rng)
    noise = keeping.choice([-1, 1], KINDS) * keeping.exponential(2.0, KINDS)
    return (counted(data) + noise).tolist(), keeping.sizes.tolist()


WRONG = [too_little, told_twice, uneven_weights, uneven_numbers]
WRONG += [sign_for_all, sign_is_told, other_sizes, sizes_are_kept]


@pytest.mark.slow
@pytest.mark.parametrize("program", WRONG)
def test_nothing_else_is_proved(program: Program) -> None:
    found = align(lt.mechanism(program), RECORDS)
    assert found.price is None or not found.price.epsilon or found.price.epsilon > 1, found.price


@pytest.mark.slow
@pytest.mark.parametrize("program", [too_little, told_twice])
def test_wrong_claims_are_refuted(program: Program) -> None:
    assert lt.check_privacy(program, RECORDS, epsilon=1, seed=1).decision == "NO"


@pytest.mark.slow
def test_right_claims_are_proved_of_many_numbers() -> None:
    def many(data: Any, rng: Any) -> Any:
        counts = np.repeat(counted(data), 4)
        return (counts + rng.choice([-1, 1], size=20) * rng.exponential(8.0, size=20)).tolist()

    verdict = lt.check_privacy(many, RECORDS, epsilon=1, seed=1)
    assert (verdict.decision, verdict.guarantee.kind) == ("YES", "proof"), str(verdict)
