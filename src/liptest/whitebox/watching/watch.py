"""Notices random numbers that no stand-in follows."""

from __future__ import annotations

import _random
import os
import pickle
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from liptest.errors import NonDeterministicError
from liptest.whitebox.stand_ins.generator import UNUSED_BITS
from liptest.whitebox.watching.surroundings import look

#: Functions that give random bytes of the operating system.
SYSTEM_SOURCES: tuple[Any, ...] = (os.urandom,)
if sys.platform == "linux":
    SYSTEM_SOURCES += (os.getrandom,)


#: Generators with the words that name them.
Held = list[tuple[str, Any]]


_GLOBAL: np.random.RandomState = np.random.mtrand._rand


class RandomnessWatch:
    """States of random generators that have no stand-in: they must stand still.

    These are the global ones, drawn from past the functions that are replaced, for example in
    compiled code or another thread, and generators held where nothing else can be put.
    """

    def __init__(self, name: str, held: Held) -> None:
        self._name = name
        self._held: Held = [
            ("the module random, past its functions", random._inst),
            ("numpy.random, past its functions", _GLOBAL),
            ("rng past its public methods", UNUSED_BITS),
            *((f"a generator that it holds ({where})", one) for where, one in held),
        ]

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """NonDeterministicError when a state changed meanwhile."""
        before = self._states()
        yield
        for (where, _), state, known in zip(self._held, self._states(), before, strict=True):
            if state != known:
                raise drawn_elsewhere(self._name, where)

    @contextmanager
    def no_system_randomness(self) -> Iterator[None]:
        """NonDeterministicError when the operating system was asked for random bytes.

        The clock and hashes of strings are warned of (``surroundings``).

        Calls are seen through the profiling hook of this thread, so that it does not matter where
        the function is held; when the hook is taken, by a profiler, nothing is watched.
        """
        seen: list[Any] = []

        def note(frame: Any, event: str, argument: Any) -> None:
            if event == "c_call" and argument in SYSTEM_SOURCES:
                seen.append(argument)
            else:
                look(frame, event, argument)

        free = sys.getprofile() is None
        if free:
            sys.setprofile(note)
        try:
            yield
        finally:
            if free:
                sys.setprofile(None)
        if seen:
            raise drawn_elsewhere(self._name, "the operating system")

    def _states(self) -> list[bytes]:
        return [_state(generator) for _, generator in self._held]


def drawn_elsewhere(name: str, where: str) -> NonDeterministicError:
    """The error that names randomness which has no stand-in."""
    return NonDeterministicError(
        f"{name}: non-deterministic: it drew random numbers from {where} while it was analysed, "
        f"which cannot be followed; draw every random number from the rng argument, or from "
        f"random, secrets or numpy.random in Python code"
    )


def _state(generator: Any) -> bytes:
    generator = getattr(generator, "__self__", generator)
    if isinstance(generator, random.SystemRandom):
        return b""
    if isinstance(generator, random.Random):
        return pickle.dumps(_random.Random.getstate(generator))
    if isinstance(generator, np.random.RandomState):
        return pickle.dumps(generator.get_state(legacy=False))
    if isinstance(generator, np.random.Generator):
        return pickle.dumps(generator.bit_generator.state)
    return pickle.dumps(generator.state if isinstance(generator, np.random.BitGenerator) else None)
