"""Loops that take places out of a list at random, and coins that functions throw."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.samplers.exp_coins import ExpCoin
from liptest.enumerate.samplers.told_sums import ToldLaw

_DOMAIN = lt.RecordGrid([3] * 40)


def counts(data: Any) -> Any:
    return np.bincount(data, minlength=3)


def exp_coin(g: Any, rng: Any) -> int:
    while g > 1:
        g -= 1
        if not exp_coin(1, rng):
            return 0
    k = 1
    while rng.random() <= g / k:
        k += 1
    return k % 2


def by_popping(data: Any, rng: Any) -> Any:
    q = counts(data)
    m = max(q)
    left = [0, 1, 2]
    while left:
        k = left.pop(rng.integers(len(left)))
        if rng.random() < math.exp(0.5 * (q[k] - m)):
            return k
    return None


def by_removing(data: Any, rng: Any) -> int:
    q = [int((data == k).sum()) for k in range(3)]
    m = max(q)
    ids = list(range(len(q)))
    while len(ids) > 0:
        i = ids[int(rng.random() * len(ids))]
        ids.remove(i)
        if rng.random() <= math.exp(-0.5 * (m - q[i])):
            return i
    raise RuntimeError("none")


def by_choosing(data: Any, rng: Any) -> int:
    q = counts(data)
    m = q.max()
    remaining = list(range(3))
    while True:
        r = int(rng.choice(remaining))
        p = np.exp(1.0 / 2 * (q[r] - m))
        if rng.random() <= p:
            return r
        remaining.remove(r)


def by_index(data: Any, rng: Any) -> Any:
    q = counts(data)
    m = q.max()
    left = list(range(3))
    while left:
        i = rng.integers(0, len(left))
        k = left.pop(i)
        if exp_coin(0.5 * (m - q[k]), rng):
            return k
    return None


def by_coins_in_order(data: Any, rng: Any) -> Any:
    q = counts(data)
    m = q.max()
    for i in rng.permutation(3):
        if exp_coin(0.5 * (m - q[i]), rng):
            return int(i)
    return None


def by_shuffled_array(data: Any, rng: Any) -> Any:
    q = counts(data)
    m = q.max()
    order = np.arange(3)
    rng.shuffle(order)
    for k in order:
        if rng.random() < np.exp(0.5 * (q[k] - m)):
            return k
    return None


class Picker:
    """As libraries write it: the weights and the generator are attributes."""

    def __init__(self, scores: Any, rng: Any) -> None:
        self.scores = np.array(scores)
        self.weights = -0.5 * (self.scores - max(self.scores))
        self.rng = rng

    def pick(self) -> Any:
        left = list(range(len(self.scores)))
        while left:
            k = left[int(self.rng.random() * len(left))]
            left.remove(k)
            if exp_coin(self.weights[k], self.rng):
                return k
        return None


def by_object(data: Any, rng: Any) -> Any:
    return Picker(counts(data).tolist(), rng).pick()


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    [
        by_removing,
        by_choosing,
        pytest.param(by_popping, marks=pytest.mark.slow),
        pytest.param(by_index, marks=pytest.mark.slow),
        pytest.param(by_coins_in_order, marks=pytest.mark.slow),
        by_object,
        by_shuffled_array,
    ],
)
def test_permute_and_flip_is_proved_at_any_size(function: Any) -> None:
    verdict = lt.check_privacy(
        lt.mechanism(function), _DOMAIN, epsilon=1.0, delta=1e-12, method="alignment"
    )
    assert verdict.decision == "YES"
    assert verdict.largest_loss == pytest.approx(1.0)


@pytest.mark.slow
def test_half_of_it_is_refuted() -> None:
    verdict = lt.check_privacy(lt.mechanism(by_popping), _DOMAIN, epsilon=0.5, delta=1e-12)
    assert verdict.decision == "NO"
    assert verdict.witness is not None


@pytest.mark.slow
def test_half_of_a_coin_by_a_function_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its counts are told before anything is drawn: no noise of them is looked for."""
    walked: list[Any] = []
    monkeypatch.setattr(ToldLaw, "add", lambda law, end, weight: walked.append(end))
    domain = lt.RecordGrid([3] * 300)
    verdict = lt.check_privacy(lt.mechanism(by_coins_in_order), domain, epsilon=0.5)
    assert verdict.decision == "NO"
    assert verdict.witness.verify(lt.mechanism(by_coins_in_order))
    assert not walked


# ---- which coins are recognised


def of_small_numbers(g: Any, rng: Any) -> int:
    k = 1
    while rng.random() <= g / k:
        k += 1
    return k % 2


def in_two_functions(g: Any, rng: Any) -> int:
    while g > 1:
        if not of_small_numbers(1.0, rng):
            return 0
        g -= 1
    return of_small_numbers(g, rng)


@pytest.mark.slow
@pytest.mark.parametrize("function", [exp_coin, in_two_functions])
def test_coins_of_an_exponential_are_recognised(function: Any) -> None:
    assert ExpCoin(function, 1).is_one()


def turned(g: Any, rng: Any) -> int:
    return 1 - exp_coin(g, rng)


def leaks(g: Any, rng: Any) -> int:
    if rng.random() < 1e-9:
        return 1
    k = 1
    while g > 1:
        g -= 1
        if not exp_coin(1, rng):
            return 0
    while rng.random() <= g / k:
        k += 1
    return k % 2


def fails_far_away(g: Any, rng: Any) -> int:
    if g > 1234:
        return 1
    while g > 1:
        g -= 1
        if not exp_coin(1, rng):
            return 0
    return of_small_numbers(g, rng)


def fails_at_one_number(g: Any, rng: Any) -> int:
    return 1 if g == 1.5 else exp_coin(g, rng)


def peels_too_late(g: Any, rng: Any) -> int:
    while g > 2:
        g -= 1
        if not exp_coin(1, rng):
            return 0
    return of_small_numbers(g, rng)


def fails_after_many(g: Any, rng: Any) -> int:
    while g > 1:
        g -= 1
        if not fails_after_many(1, rng):
            return 0
    k = 1
    while rng.random() <= g / k:
        k += 1
    return 0 if k == 13 else k % 2


def looks_at_the_type(g: Any, rng: Any) -> int:
    return 1 if isinstance(g, float) and g > 3 else exp_coin(g, rng)


def its_type(g: Any, rng: Any) -> int:
    return 1 if isinstance(g, float) and 0.2 < g < 0.3 else of_small_numbers(g, rng)


def asks_for_its_type(g: Any, rng: Any) -> int:
    while g > 1:
        g -= 1
        if not of_small_numbers(1, rng):
            return 0
    return its_type(g, rng)


def its_text(g: Any, rng: Any) -> int:
    return 1 if f"{g}"[:4] == "0.25" else of_small_numbers(g, rng)


def asks_for_its_text(g: Any, rng: Any) -> int:
    while g > 1:
        g -= 1
        if not of_small_numbers(1, rng):
            return 0
    return its_text(g, rng)


def its_pattern(g: Any, rng: Any) -> int:
    match g:
        case float() if 0.2 < g < 0.3:
            return 1
        case _:
            return of_small_numbers(g, rng)


def asks_for_its_pattern(g: Any, rng: Any) -> int:
    while g > 1:
        g -= 1
        if not of_small_numbers(1, rng):
            return 0
    return its_pattern(g, rng)


def its_size(g: Any, rng: Any) -> int:
    try:
        return 1 if 0.2 < abs(g) < 0.3 else of_small_numbers(g, rng)
    except TypeError:
        return of_small_numbers(g, rng)


def asks_for_its_size(g: Any, rng: Any) -> int:
    while g > 1:
        g -= 1
        if not of_small_numbers(1, rng):
            return 0
    return its_size(g, rng)


def its_generator(g: Any, rng: Any) -> int:
    return of_small_numbers(g, rng) if isinstance(rng, random.Random) else 1


def asks_for_its_generator(g: Any, rng: Any) -> int:
    while g > 1:
        g -= 1
        if not of_small_numbers(1, rng):
            return 0
    return its_generator(g, rng)


OTHERS = [turned, of_small_numbers, leaks, fails_far_away, fails_at_one_number]
OTHERS += [peels_too_late, fails_after_many, looks_at_the_type]
OTHERS += [asks_for_its_type, asks_for_its_text, asks_for_its_pattern]
OTHERS += [asks_for_its_size, asks_for_its_generator]


@pytest.mark.parametrize("function", OTHERS)
def test_other_coins_are_not(function: Any) -> None:
    assert not ExpCoin(function, 1).is_one()


# ---- loops that only look like it


def takes_the_wrong_score(data: Any, rng: Any) -> Any:
    q = counts(data)
    m = q.max()
    left = [0, 1, 2]
    while left:
        i = int(rng.integers(len(left)))
        k = left.pop(i)
        if rng.random() < math.exp(0.5 * (q[i] - m)):
            return k
    return None


def knows_the_largest_left(data: Any, rng: Any) -> Any:
    q = counts(data).tolist()
    left = [0, 1, 2]
    while left:
        m = max(q[j] for j in left)
        k = left.pop(rng.integers(len(left)))
        if rng.random() < math.exp(0.5 * (q[k] - m)):
            return k
    return None


def has_another_scale_once(data: Any, rng: Any) -> Any:
    q = counts(data)
    m = q.max()
    left = [0, 1, 2]
    while left:
        k = left.pop(rng.integers(len(left)))
        if rng.random() < math.exp((0.5 if k else 5.0) * (q[k] - m)):
            return k
    return None


def leaks_a_little(data: Any, rng: Any) -> Any:
    q = counts(data)
    m = q.max()
    left = [0, 1, 2]
    while left:
        k = left.pop(rng.integers(len(left)))
        if rng.random() < math.exp(0.5 * (q[k] - m)) + 1e-9 * (k == 0):
            return k
    return None


def draws_biased_places(data: Any, rng: Any) -> Any:
    q = counts(data)
    m = q.max()
    left = [0, 1, 2]
    while left:
        k = left[int(rng.random() ** 2 * len(left))]
        left.remove(k)
        if rng.random() < math.exp(0.5 * (q[k] - m)):
            return k
    return None


def takes_the_first(data: Any, rng: Any) -> Any:
    q = counts(data)
    m = q.max()
    left = [0, 1, 2]
    while left:
        k = left.pop(0)
        if rng.random() < math.exp(0.5 * (q[k] - m)):
            return k
    return None


def tells_how_many_are_left(data: Any, rng: Any) -> Any:
    q = counts(data)
    m = q.max()
    left = [0, 1, 2]
    while left:
        k = left.pop(rng.integers(len(left)))
        if rng.random() < math.exp(0.5 * (q[k] - m)):
            return k, len(left)
    return None


def has_a_coin_of_its_own(data: Any, rng: Any) -> Any:
    q = counts(data)
    m = q.max()
    left = [0, 1, 2]
    while left:
        k = left.pop(rng.integers(len(left)))
        if peels_too_late(0.5 * (m - q[k]), rng):
            return k
    return None


class Growing:
    """Its scale is another one each time that it is read."""

    def __init__(self) -> None:
        self.reads = 0

    @property
    def scale(self) -> float:
        self.reads += 1
        return 0.5 if self.reads < 2 else 9.0

    def pick(self, q: Any, rng: Any) -> Any:
        left = list(range(3))
        m = max(q)
        while left:
            k = left.pop(rng.integers(len(left)))
            if rng.random() < math.exp(self.scale * (q[k] - m)):
                return k
        return None


def shuffles_a_part(data: Any, rng: Any) -> Any:
    q = counts(data)
    order = np.arange(3)
    rng.shuffle(order[1:])
    for k in order:
        if rng.random() < np.exp(0.5 * (q[k] - q.max())):
            return int(k)
    return None


def shuffles_two_places(data: Any, rng: Any) -> Any:
    q = counts(data)
    order = np.arange(2)
    rng.shuffle(order)
    for k in order:
        if rng.random() < np.exp(0.5 * (q[k] - q.max())):
            return int(k)
    return 2


def tells_the_first_place(data: Any, rng: Any) -> Any:
    q = counts(data)
    order = np.arange(3)
    rng.shuffle(order)
    for k in order:
        if rng.random() < np.exp(0.5 * (q[k] - q.max())):
            return int(k), int(order[0])
    return None


def grows(data: Any, rng: Any) -> Any:
    return Growing().pick(counts(data), rng)


HOSTILE = [takes_the_wrong_score, knows_the_largest_left, has_another_scale_once, leaks_a_little]
HOSTILE += [shuffles_a_part, shuffles_two_places, tells_the_first_place]
HOSTILE += [draws_biased_places, takes_the_first, tells_how_many_are_left, grows]
HOSTILE += [pytest.param(has_a_coin_of_its_own, marks=pytest.mark.slow)]


@pytest.mark.slow
@pytest.mark.parametrize("function", HOSTILE)
def test_what_only_looks_like_it_is_not_taken_for_it(function: Any) -> None:
    domain = lt.RecordGrid([3] * 12)
    verdict = lt.check_privacy(
        lt.mechanism(function), domain, epsilon=1.0, delta=1e-11, method="alignment", max_seconds=2
    )
    assert verdict.decision == "INCONCLUSIVE"
