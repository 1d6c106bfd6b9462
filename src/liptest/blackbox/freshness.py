"""Whether the draws of a program or a service are new ones each time.

What is seeded from the clock in seconds gives the same outputs to all requests of one second. Such
samples are not independent, and a test of them would refute claims that hold.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from liptest.errors import MechanismError

# Outputs of a request that are compared, and the fewest that say something.
_COMPARED, _LEAST = 64, 32
# First requests: of four, each within half a second, two follow each other in one second.
_REQUESTS, _WHILE = 4, 2.0
# Requests of less outputs in one second, and the fewest of them that say something.
_SMALL, _LEAST_SMALL = 16, 12

#: ``(number of outputs, seed) -> outputs``.
Ask = Callable[[int, int], list[Any]]


@dataclass(eq=False)
class Freshness:
    """Compares requests for the same dataset; ``who`` answers them, at most ``batch`` at once.

    Two requests of equal outputs are refused where at least 8 of 32 or more differ from the most
    frequent one. Independent ones are equal with probability below 1e-8, whatever their law.
    """

    who: str
    batch: int
    _earlier: dict[tuple[int, ...], tuple[int, list[Any]]] = field(default_factory=dict)

    def probe(self, dataset: list[int], ask: Ask) -> None:
        """Make first requests, whose outputs are thrown away."""
        if self.batch < _LEAST:
            self._probe_small(ask)
            return
        began = time.monotonic()
        for number in range(_REQUESTS):
            if number < 2 or time.monotonic() - began < _WHILE:
                self.compare(dataset, number, ask(min(self.batch, _COMPARED), number))

    def compare(self, dataset: list[int], seed: int, outputs: list[Any]) -> None:
        """Raise MechanismError where these are the outputs of an earlier request once more.

        Of the same seed they should be.
        """
        if len(outputs) < _LEAST:
            return
        now = outputs[:_COMPARED]
        before, earlier = self._earlier.get(tuple(dataset), (seed, now))
        self._earlier[tuple(dataset)] = seed, now
        size = min(len(now), len(earlier))
        both = now[:size]
        rare = size - max(map(both.count, both))
        if before != seed and rare >= 8 and both == earlier[:size]:
            raise self._not_independent(f"two requests gave the same {size} outputs")

    def _probe_small(self, ask: Ask) -> None:
        """Requests of one second that agree, and others of a later one that agree on another."""
        began = time.monotonic()
        first = [ask(self.batch, number) for number in range(_SMALL)]
        changes = sum(a != b for a, b in pairwise(first))
        if changes > 1 + time.monotonic() - began:
            return
        seconds = [self._of_one_second(ask, number) for number in (1, 2)]
        if min(map(len, seconds)) < _LEAST_SMALL or seconds[0][0] == seconds[1][0]:
            return
        if all(second.count(second[0]) == len(second) for second in seconds):
            raise self._not_independent("its outputs change with the clock's seconds only")

    def _of_one_second(self, ask: Ask, number: int) -> list[list[Any]]:
        """Answers to requests within one second of the clock, from its begin."""
        time.sleep(1.0 - time.time() % 1.0)
        second = int(time.time())
        answers: list[list[Any]] = []
        while len(answers) < _SMALL:
            answer = ask(self.batch, number * _SMALL + len(answers))
            if int(time.time()) != second:
                break
            answers.append(answer)
        return answers

    def _not_independent(self, what: str) -> MechanismError:
        return MechanismError(
            f"{self.who}: {what}, so its draws are not independent: seed it with the seed of the "
            f"request, or from the operating system, not from the clock"
        )
