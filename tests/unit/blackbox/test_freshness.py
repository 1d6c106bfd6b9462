"""Draws that come again are refused, and draws that are new are not."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count

import pytest

from liptest.blackbox.freshness import Freshness
from liptest.errors import MechanismError

DATA = [0, 1]


class Clock:
    """Stands for ``time``; a request takes ``step`` seconds."""

    def __init__(self, now: float, step: float) -> None:
        self.now, self.step = now, step

    def time(self) -> float:
        return self.now

    monotonic = time

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def seeded(self, size: int, share: float) -> list[int]:
        """Outputs of a program that is seeded from the clock in seconds when it starts."""
        rng = random.Random(int(self.now))
        self.now += self.step
        return [int(rng.random() < share) for _ in range(size)]


Make = Callable[..., Clock]


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Make:
    def made(now: float, step: float = 0.01) -> Clock:
        clock = Clock(now, step)
        monkeypatch.setattr("liptest.blackbox.freshness.time", clock)
        return clock

    return made


@pytest.mark.parametrize("step", [0.01, 0.2, 0.45])
def test_what_is_seeded_by_the_second_is_refused_wherever_the_second_ends(
    clocks: Make, step: float
) -> None:
    """Also where a second ends between the first two requests."""
    for begin in range(40):
        clock = clocks(100 + begin / 40, step)
        with pytest.raises(MechanismError, match="same 64 outputs, so its draws are not indep"):
            Freshness("it", 1000).probe(DATA, lambda size, _, c=clock: c.seeded(size, 0.3))


def test_slower_ones_are_refused_when_a_request_comes_again() -> None:
    fresh = Freshness("it", 1000)
    fresh.compare(DATA, 1, [0, 1] * 20)
    fresh.compare([1, 1], 2, [0, 1] * 20)  # of another dataset
    fresh.compare(DATA, 1, [0, 1] * 20)  # of the same seed
    fresh.compare(DATA, 3, [0, 1] * 12)  # too few
    fresh.compare(DATA, 4, [7] * 40)
    fresh.compare(DATA, 5, [7] * 50)  # no noise at all
    fresh.compare(DATA, 6, [0, 1] * 500)
    with pytest.raises(MechanismError, match="it: two requests gave the same 40 outputs"):
        fresh.compare(DATA, 7, [0, 1] * 20)


@pytest.mark.parametrize("begin", range(0, 100, 7))
@pytest.mark.parametrize("batch", [1, 3])
def test_small_requests_are_watched_for_a_second(clocks: Make, begin: int, batch: int) -> None:
    clock = clocks(100 + begin / 100)
    rng, fresh = random.Random(begin), Freshness("it", batch)
    fresh.probe(DATA, lambda size, _: [int(rng.random() < 0.3) for _ in range(size)])
    fresh.probe(DATA, lambda size, _: [5] * size)
    changing = count()
    fresh.probe(DATA, lambda size, _: [next(changing)] * size)

    def by_the_second(size: int, _: int) -> list[int]:
        clock.now += 0.01
        return [int(clock.now - 0.01) % 2] * size

    with pytest.raises(MechanismError, match="clock's seconds only"):
        fresh.probe(DATA, by_the_second)


def test_few_rare_outputs_say_nothing() -> None:
    fresh = Freshness("it", 1000)
    for seed in range(5):
        fresh.compare(DATA, seed, [0] * 57 + [1] * 7)
