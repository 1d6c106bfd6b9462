"""Choices whose probabilities are noisy numbers: synthetic records from a noisy histogram."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest

import liptest as lt
from liptest.values.draws import known_draws
from liptest.verdicts import Decision

PEOPLE = lt.RecordGrid([3] * 2000)


def noisy(data: Any, rng: Any, scale: float = 2.0) -> Any:
    return np.bincount(data, minlength=3) + rng.laplace(0, scale, 3)


def shares(data: Any, rng: Any, scale: float = 2.0) -> Any:
    positive = np.clip(noisy(data, rng, scale), 0, None)
    return positive / positive.sum()


def records(data: Any, rng: Any) -> Any:
    return rng.choice(3, 50, p=shares(data, rng))


def global_records(data: Any, rng: Any) -> Any:
    return np.random.choice([10.0, 20.0, 40.0], (5, 2), p=shares(data, rng)).tolist()


def one_text(data: Any, rng: Any) -> Any:
    return str(rng.choice(["north", "south", "east"], p=list(shares(data, rng))))


def one_place(data: Any, rng: Any) -> Any:
    names = {0: "north", 1: "south", 2: "east"}
    return names[rng.choice(3, p=shares(data, rng))]


def counts(data: Any, rng: Any) -> Any:
    return rng.multinomial(1000, shares(data, rng))


def several_counts(data: Any, rng: Any) -> Any:
    return rng.multinomial(10, shares(data, rng), size=4).sum(axis=0)


def many_and_their_statistics(data: Any, rng: Any) -> Any:
    rows = rng.choice(3, 1000, p=shares(data, rng))
    return np.bincount(rows, minlength=3), rows.mean()


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        *(records, global_records, one_text, one_place, counts, several_counts),
        many_and_their_statistics,
    ],
    ids=lambda program: str(program.__name__),
)
def test_what_is_drawn_from_noisy_shares_tells_no_more_than_they_do(program: Any) -> None:
    verdict = lt.check_privacy(program, PEOPLE, epsilon=1)
    assert verdict.decision is Decision.YES
    assert verdict.method == "alignment"
    assert verdict.largest_loss == pytest.approx(1)


def half_the_noise(data: Any, rng: Any) -> Any:
    return rng.choice(3, 50, p=shares(data, rng, 1.0))


def shares_of_data(data: Any, rng: Any) -> Any:
    exact = np.bincount(data, minlength=3)
    return rng.choice(3, 5, p=exact / exact.sum())


def told_where_the_choice_fails(data: Any, rng: Any) -> Any:
    try:
        return rng.choice(3, 5, p=shares(data, rng)).tolist()
    except ValueError:
        return [int(data[0])]


def used_again_on_data(data: Any, rng: Any) -> Any:
    place = rng.choice(3, p=shares(data, rng))
    return int(place), (data == place).sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [half_the_noise, shares_of_data, told_where_the_choice_fails, used_again_on_data],
    ids=lambda program: str(program.__name__),
)
def test_what_tells_more_is_not_proved(program: Any) -> None:
    assert lt.check_privacy(program, PEOPLE, epsilon=1).decision is not Decision.YES


def test_several_texts_are_refused_with_what_to_write() -> None:
    def texts(data: Any, rng: Any) -> Any:
        return rng.choice(["north", "south", "east"], 2, p=shares(data, rng)).tolist()

    verdict = lt.check_privacy(texts, PEOPLE, epsilon=1)
    assert verdict.decision is Decision.INCONCLUSIVE
    assert "choose whole numbers" in verdict.reason


@pytest.mark.slow
@pytest.mark.parametrize("program", [records, counts, one_place])
def test_another_draw_than_numpys_is_noticed(program: Any) -> None:
    def other(method: str, first: Any, size: Any, weights: Any, seed: int) -> Any:
        if method == "choice":
            return np.zeros(size, int) if size else 0
        return np.array([first, 0, 0])

    with mock.patch.object(known_draws, "draw_with_known", other):
        verdict = lt.check_privacy(program, PEOPLE, epsilon=1)
    assert verdict.decision is Decision.INCONCLUSIVE
    assert "on plain data" in verdict.reason


@pytest.mark.slow
def test_a_refusal_of_numpy_is_an_output() -> None:
    def of_noise(data: Any, rng: Any) -> Any:
        return rng.choice(3, p=noisy(data, rng))  # these do not add up to 1

    assert lt.check_privacy(of_noise, PEOPLE, epsilon=1).decision is not Decision.NO


def no_number(data: Any, rng: Any) -> Any:
    return rng.choice(3, 10, p=noisy(data, rng) * np.nan)


def too_few_shares(data: Any, rng: Any) -> Any:
    return rng.choice(4, 10, p=shares(data, rng))


def an_exception_after_them(data: Any, rng: Any) -> Any:
    raise ValueError(records(data, rng))


@pytest.mark.slow
@pytest.mark.parametrize("program", [no_number, too_few_shares, an_exception_after_them])
def test_code_that_never_answers_is_not_called_private(program: Any) -> None:
    verdict = lt.check_privacy(program, PEOPLE, epsilon=1)
    assert verdict.decision is Decision.INCONCLUSIVE
    assert "runs on drawn data it raised an exception (ValueError)" in verdict.reason


@pytest.mark.slow
def test_an_exception_that_is_next_to_never_raised_is_not_compared() -> None:
    def program(data: Any, rng: Any) -> Any:
        if data.sum() + rng.laplace(0, 4) > 10**9 + rng.laplace(0, 4):
            raise ValueError("there are not so many people")
        return data.sum() + rng.laplace(0, 4)

    verdict = lt.check_privacy(program, PEOPLE, epsilon=4)
    assert verdict.decision is Decision.INCONCLUSIVE
    assert "raises an exception (ValueError) on a path that none of" in verdict.reason
