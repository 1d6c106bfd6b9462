"""Adapters as people write them: a lambda over the records, helpers that make a generator."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.python_function import PythonFunction
from liptest.enumerate.records.row_replay import GivenGenerator
from liptest.values.records.rows import NotByRecords

BITS = lt.Hypercube(3000)
TRUTH = math.e / (1 + math.e)


def response(bit: int, chance: float, rng: Any = None) -> int:
    rng = rng or np.random.default_rng()
    if rng.random() < chance:
        return bit
    return 1 - bit


def seeded(bit: int, chance: float) -> int:
    return bit if np.random.default_rng(7).random() < chance else 1 - bit


class Client:
    def __init__(self, chance: float) -> None:
        self.chance = chance

    def answer(self, bit: int) -> int:
        return response(bit, self.chance)


client, open_client = Client(TRUTH), Client(0.9)

GOOD: dict[str, Any] = {
    "given": lambda data, rng: [response(int(bit), TRUTH, rng=rng) for bit in data],
    "own": lambda data, rng: [response(int(bit), TRUTH) for bit in data],
    "own alone": lambda data: [response(int(bit), TRUTH) for bit in data],
    "method": lambda data, rng: [client.answer(int(bit)) for bit in data],
    "arrays": lambda data, rng: np.where(rng.random(len(data)) < TRUTH, data, 1 - data).tolist(),
}
BAD: dict[str, Any] = {
    "given": lambda data, rng: [response(int(bit), 0.9, rng=rng) for bit in data],
    "own": lambda data, rng: [response(int(bit), 0.9) for bit in data],
    "method": lambda data: [open_client.answer(int(bit)) for bit in data],
}
JOINT: dict[str, Any] = {
    "one coin": lambda data, rng: (lambda coin: [int(bit) ^ coin for bit in data])(rng.integers(2)),
    "a total": lambda data, rng: [response(int(bit), TRUTH) + int(data.sum()) for bit in data],
    "a seed": lambda data, rng: [seeded(int(bit), TRUTH) for bit in data],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", GOOD)
def test_they_are_proved_record_by_record(name: str) -> None:
    verdict = lt.check_privacy(lt.mechanism(GOOD[name]), BITS, epsilon=1)
    assert (verdict.decision, verdict.method) == ("YES", "per-record")


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
def test_too_little_noise_is_refuted(name: str) -> None:
    verdict = lt.check_privacy(lt.mechanism(BAD[name]), BITS, epsilon=1)
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.loss == pytest.approx(math.log(9))


@pytest.mark.slow
@pytest.mark.parametrize("name", JOINT)
def test_what_records_share_is_refused(name: str) -> None:
    example = np.arange(20) % 2
    one = PythonFunction(JOINT[name]).of_one_record(example)
    assert one is not None
    with pytest.raises(NotByRecords):
        one.law(example[:1])
    domain = lt.Hypercube(6)
    assert lt.check_privacy(lt.mechanism(JOINT[name]), domain, epsilon=1).decision != "YES"


def test_numpy_makes_generators_as_before() -> None:
    before = np.random.default_rng
    lt.check_privacy(lt.mechanism(GOOD["own"]), BITS, epsilon=1)
    assert np.random.default_rng is before


def test_other_threads_make_generators_of_their_own() -> None:
    given, made = np.random.default_rng(), []
    with GivenGenerator(given):
        other = threading.Thread(target=lambda: made.append(np.random.default_rng()))
        other.start()
        other.join()
        assert np.random.default_rng() is given
    assert made[0] is not given
    assert np.random.default_rng() is not given
