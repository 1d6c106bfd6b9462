"""A handler of a signal, as the time limit of a test has one, does not belong to the program."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

import liptest as lt

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="signals of POSIX")


class OutOfTime(Exception):
    """What the handler raises."""


@pytest.fixture
def called() -> Iterator[list[float]]:
    times: list[float] = []

    def handler(number: int, frame: Any) -> None:
        times.append(time.time())  # a real one, not the clock of the program
        raise OutOfTime

    before = signal.signal(signal.SIGUSR1, handler)
    yield times
    assert signal.getsignal(signal.SIGUSR1) is handler
    signal.signal(signal.SIGUSR1, before)


def swallowing(data: Any, rng: Any) -> int:
    try:
        signal.raise_signal(signal.SIGUSR1)
    except BaseException:
        return 5
    return int(rng.random() < 0.5)


def raising(data: Any, rng: Any) -> int:
    signal.raise_signal(signal.SIGUSR1)
    return int(rng.random() < 0.5)


@pytest.mark.parametrize("program", [swallowing, raising])
def test_what_it_raises_ends_the_check(program: Any, called: list[float]) -> None:
    with pytest.raises(OutOfTime):
        lt.check_privacy(program, lt.Hypercube(2), epsilon=1)
    assert len(called) == 1
    assert type(called[0]) is float


def test_one_that_raises_nothing_changes_nothing() -> None:
    numbers: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: numbers.append(number))
    try:
        verdict = lt.check_privacy(raising, lt.Hypercube(2), epsilon=1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert verdict.decision.value == "YES"
    assert set(numbers) == {signal.SIGUSR1}
