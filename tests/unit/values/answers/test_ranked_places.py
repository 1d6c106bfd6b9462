"""Places in the order of noisy numbers: found as far as they are looked at."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.python_function import PythonFunction
from liptest.values.answers.ranked_places import Ranking

SEVEN = np.zeros(7, dtype=np.int64)


def two_largest(answers: Any, rng: Any) -> tuple[int, int]:
    order = np.argsort(answers + rng.laplace(0, 8.0, size=len(answers)))
    return int(order[-1]), int(order[-2])


def set_of_two(answers: Any, rng: Any) -> list[int]:
    return sorted(np.argsort(-(answers + rng.laplace(0, 8.0, size=len(answers))))[:2].tolist())


@pytest.mark.slow
def test_equal_numbers_have_all_orders_alike() -> None:
    law = PythonFunction(two_largest).law(SEVEN)
    chances = {tuple(output): float(law.exact(output)) for output in law.outputs}
    assert chances == pytest.approx(dict.fromkeys(permutations(range(7), 2), 1 / 42))


def test_the_largest_by_order_is_the_largest() -> None:
    def last(answers: Any, rng: Any) -> int:
        return int(np.argsort(answers + rng.laplace(0, 2.0, size=len(answers)))[-1])

    def largest(answers: Any, rng: Any) -> int:
        return int(np.argmax(answers + rng.laplace(0, 2.0, size=len(answers))))

    dataset = np.arange(7)
    laws = [PythonFunction(program).law(dataset) for program in (last, largest)]
    chances = [[float(law.exact(place)) for place in range(7)] for law in laws]
    assert chances[0] == pytest.approx(chances[1], abs=1e-12)


@pytest.mark.parametrize("program", [two_largest, set_of_two])
def test_a_few_of_many_are_proved(program: Any) -> None:
    verdict = lt.check_privacy(lt.mechanism(program), lt.Answers(8), epsilon=1.0, floats="ideal")
    assert (verdict.decision, verdict.method) == ("YES", "alignment")


@pytest.mark.parametrize("asked", list(permutations(range(4))))
def test_places_are_the_same_in_any_order_of_questions(asked: tuple[int, ...]) -> None:
    numbers = [2.5, -1.0, 7.0, 0.0]
    ranking = Ranking(numbers)
    expected = np.argsort(numbers).tolist()
    assert [ranking.place(rank) for rank in asked] == [expected[rank] for rank in asked]
