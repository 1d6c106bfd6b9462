"""Random programs: the price of the paths is never below the exact epsilon of small instances."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.errors import LiptestError
from liptest.symbolic.alignment import price_paths

DOMAIN = lt.RecordGrid([3, 3])
ANSWERS: list[Callable[[Any], Any]] = [
    lambda data: data.sum(),
    lambda data: (data == 1).sum(),
    lambda data: np.clip(data, 0, 1).sum(),
    lambda data: np.bincount(data, minlength=3)[2],
    lambda data: 2 - np.count_nonzero(data),
]


@dataclass(frozen=True)
class RandomProgram:
    """A program that compares sums of answers and noise, and goes on by what it finds."""

    seed: int

    def __call__(self, data: Any, rng: Any) -> Any:
        made = np.random.Generator(np.random.PCG64(self.seed))
        noise: list[Any] = []
        numbers: list[Any] = []
        for _ in range(int(made.integers(1, 4))):
            if not noise or made.random() < 0.7:
                noise.append(self.draw(made, rng))
            sign = int(made.choice([1, 1, -1]))
            answer = ANSWERS[int(made.integers(len(ANSWERS)))](data)
            numbers.append(answer * sign + noise[int(made.integers(len(noise)))])
        told: list[Any] = []
        for _ in range(int(made.integers(1, 4))):
            told.append(self.tell(made, numbers))
            if type(told[-1]) is bool and told[-1] and made.random() < 0.4:
                break
        return tuple(told)

    def draw(self, made: Any, rng: Any) -> Any:
        """Noise of some scale."""
        if self.seed % 2:
            p = float(made.choice([0.3, 0.5, 0.8]))
            return rng.geometric(p) - rng.geometric(p)
        return rng.laplace(0, float(made.choice([0.5, 1.0, 2.0])))

    def tell(self, made: Any, numbers: list[Any]) -> Any:
        """Something of the numbers."""
        first, second = (int(made.integers(len(numbers))) for _ in range(2))
        one, other = numbers[first], numbers[second]
        kind = int(made.integers(5))
        if kind == 0:
            return bool(one > int(made.integers(-1, 3)))
        if kind == 1:
            return bool(one >= other) if first != second else bool(one <= 1)
        if kind == 2 and len(numbers) > 1:
            return int(np.argmax(np.array(numbers)))
        if kind == 3:
            return bool(round(one) >= 1)
        return bool(max(0, one) > 1)


def prices(program: RandomProgram) -> list[float]:
    """Of both ways, where they are followed."""
    found = []
    for way in ("released", "branches"):
        paths = lt.mechanism(program).align_paths(DOMAIN, way=way)
        if isinstance(paths, NoPaths):
            assert "without noise" in paths.reason
            return [math.inf]
        price = price_paths(paths.paths, paths.differences)
        found.append(math.inf if price.epsilon is None else float(price.epsilon))
    return found


def check(seed: int) -> int:
    """1 where a price is the exact epsilon, 0 where it is above; raises where it is below."""
    program = RandomProgram(seed)
    lowest = min(prices(program))
    try:
        exact = lt.exact_epsilon(lt.mechanism(program), DOMAIN).lower
    except LiptestError:
        return 0
    assert lowest >= exact - 1e-9, (seed, lowest, exact)
    return int(lowest <= exact + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_price_is_never_too_low(seed: int) -> None:
    check(seed)


@pytest.mark.slow
def test_the_price_is_never_too_low_of_many_programs() -> None:
    assert sum(map(check, range(6, 9))) > 0


def test_noise_on_both_sides_of_a_comparison_tells_of_data() -> None:
    """``noisy_a >= noisy_b`` with one noise compares the data: no error of ours, and no proof."""

    def compares(data: Any, rng: Any) -> bool:
        noise = rng.laplace()
        return bool((data == 1).sum() + noise >= data.sum() + noise)

    paths = lt.mechanism(compares).align_paths(DOMAIN, way="released")
    assert isinstance(paths, NoPaths)
    assert "without noise" in paths.reason
    assert lt.check_privacy(lt.mechanism(compares), DOMAIN, epsilon=1, seed=1).decision == "NO"
