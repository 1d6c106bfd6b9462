"""What a program draws, noted in one run and handed out as real numbers in another.

The other run must draw the same laws in the same order: else it is another program that answers.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.errors import NonDeterministicError
from liptest.values.branching import KNOWN, Branching
from liptest.values.draws.interval_points import IntervalPoints
from liptest.values.protocol import Symbolic

#: What a choice by weights is noted as, in place of how many positions an order has.
CHOICE = -1
#: The same of a number below a total of weights (KNOWN is one less).
TOTAL = -3
#: Types of generators of the module random that are followed.
OF_PYTHON = (random.Random, random.SystemRandom)


class RecordedDraws:
    """Keeps every random float of a run, and hands it on as it is."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget the draws of a run before."""
        self.born: list[Any] = []
        #: Of each of them.
        self.laws: list[Any] = []
        #: Random orders of positions, with how many positions there are.
        self.orders: list[tuple[int, NDArray[Any]]] = []

    def hand_out(self, number: Any, law: Any) -> Any:
        """Note a number or an array of numbers."""
        self.born.append(number.as_drawn())
        self.laws.append(law)
        return number

    def is_seed(self, number: Any) -> bool:
        """None is real."""
        return False

    def next_order(self, total: int, length: int) -> None:
        """None is known before."""

    def note_order(self, total: int, positions: NDArray[Any]) -> None:
        """Keep positions in a random order."""
        self.orders.append((total, positions))


class DrawnAtOnce:
    """Hands out real floats in place of all that a run draws."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._points = IntervalPoints(rng, ends=0.0)

    def hand_out(self, number: Any, law: Any) -> Any:
        """A real number, or an array of them."""
        return number.as_drawn().replay(self._points)

    def is_seed(self, number: Any) -> bool:
        """A generator that is seeded with a real number draws real ones."""
        return False

    def next_order(self, total: int, length: int) -> NDArray[Any] | None:
        """Positions in a random order; a draw by plain weights is none."""
        if total == KNOWN:
            return None
        return self._rng.permutation(total)[:length]

    def note_order(self, total: int, positions: NDArray[Any]) -> None:
        """Nothing is kept of real ones."""


class ReplayedDraws:
    """Hands out real floats in place of those that were noted in a run, in their order."""

    def __init__(self, run: Branching, noted: RecordedDraws, rng: np.random.Generator) -> None:
        # One point of all variables for one repetition.
        for variables in (run.bits, run.noise):
            if variables is not None:
                variables.forget_point()
        self._real: list[Any] = []
        self._seeds: set[int] = set()
        self._laws: list[Any] = []
        points = IntervalPoints(rng)
        for born, law in zip(noted.born, noted.laws, strict=True):
            real = born.replay(points)
            # The coins of a loop are several floats.
            coins = real if type(real) is list else [real]
            self._real.extend(coins)
            if isinstance(born, Symbolic) and born.is_seed:
                self._seeds.add(real)
            self._laws.extend([law] * len(coins))
        self._next = 0
        self._orders = list(reversed(noted.orders))

    def next_order(self, total: int, length: int) -> NDArray[Any] | None:
        """Positions that were noted; None where the next ones are other ones."""
        if not self._orders:
            return None
        recorded, positions = self._orders[-1]
        return self._orders.pop()[1] if (recorded, len(positions)) == (total, length) else None

    def note_order(self, total: int, positions: NDArray[Any]) -> None:
        """Nothing is kept of real ones."""

    def hand_out(self, number: Any, law: Any) -> Any:
        """A real number for a new one; aborts where another one was noted, or none."""
        place = self._next
        self._next += 1
        if place >= len(self._real) or self._laws[place] != law:
            number.branching.fail(draws_otherwise(number.branching.name))
        return self._real[place]

    def is_seed(self, number: Any) -> bool:
        """Whether it stands for one that seeded a generator."""
        return type(number) is int and number in self._seeds

    def check_all_drawn(self, name: str) -> None:
        """Raise NonDeterministicError where a program drew fewer than were noted."""
        if self._next < len(self._real) or self._orders:
            raise draws_otherwise(name)


def draws_otherwise(name: str) -> NonDeterministicError:
    """What is said where a program draws other random numbers when it is repeated."""
    return NonDeterministicError(
        f"{name}: with plain data and real random numbers it draws otherwise than in its "
        f"analysis; a mechanism may not look at what kind of object it is given"
    )


def hand(argument: NDArray[Any]) -> Any:
    """What the function gets: an int, or an array over bytes, which nobody can make writeable."""
    if argument.ndim == 0:
        return int(argument)
    numbers: Any = argument.base
    is_handed = type(numbers) is bytes and argument.flags.c_contiguous
    if not (is_handed and argument.dtype == np.int64 and argument.nbytes == len(numbers)):
        numbers = argument.astype(np.int64, copy=False).tobytes()
    return np.frombuffer(numbers, dtype=np.int64)
