"""Notices random numbers that a mechanism does not draw from rng. Nothing is patched."""

from __future__ import annotations

import os
import pickle
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from liptest.errors import NonDeterministicError
from liptest.whitebox.generator import UNUSED_BITS

# Functions called by functions that the mechanism calls: deeper ones are seldom its own.
_DEPTH = 3
_SYSTEM_SOURCES = tuple(
    source for source in (os.urandom, getattr(os, "getrandom", None)) if source is not None
)
#: Generators with the words that name them.
Held = list[tuple[str, Any]]

_GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


class RandomnessWatch:
    """States of all random generators a function can reach without rng: they must stand still.

    These are the global ones of ``random`` and ``numpy.random``, and generators held in global
    names, closures, defaults or attributes of what the function uses.
    """

    def __init__(self, name: str, function: Any) -> None:
        self._name = name
        self._held: Held = [
            ("the module random", getattr(random, "_inst", None)),
            ("numpy.random", np.random.mtrand._rand),
            ("rng past its public methods", UNUSED_BITS),
        ]
        _collect(function, self._held, set(), _DEPTH)

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """NonDeterministicError when a state changed meanwhile."""
        before = self._states()
        yield
        for (where, _), state, known in zip(self._held, self._states(), before, strict=True):
            if state != known:
                raise self._drew_from(where)

    @contextmanager
    def no_system_randomness(self) -> Iterator[None]:
        """NonDeterministicError when the operating system was asked for random bytes.

        ``secrets`` and unseeded generators do that. Calls are seen through the profiling hook
        of this thread; when that is taken, by a profiler, nothing is watched.
        """
        seen: list[Any] = []

        def note(frame: Any, event: str, argument: Any) -> None:
            if event == "c_call" and argument in _SYSTEM_SOURCES:
                seen.append(argument)

        free = sys.getprofile() is None
        if free:
            sys.setprofile(note)
        try:
            yield
        finally:
            if free:
                sys.setprofile(None)
        if seen:
            raise self._drew_from("the operating system (secrets, or an unseeded generator)")

    def _states(self) -> list[bytes]:
        return [_state(generator) for _, generator in self._held]

    def _drew_from(self, where: str) -> NonDeterministicError:
        return NonDeterministicError(
            f"{self._name}: non-deterministic: it drew random numbers from {where} while it was "
            f"analysed; draw every random number from the rng argument"
        )


def _state(generator: Any) -> bytes:
    if isinstance(generator, random.SystemRandom):
        return b""
    if isinstance(generator, random.Random):
        return pickle.dumps(generator.getstate())
    if isinstance(generator, np.random.RandomState):
        return pickle.dumps(generator.get_state(legacy=False))
    if isinstance(generator, np.random.Generator):
        return pickle.dumps(generator.bit_generator.state)
    return pickle.dumps(getattr(generator, "state", None))


def _collect(value: Any, held: Held, seen: set[int], depth: int) -> None:
    if id(value) in seen or depth < 0:
        return
    seen.add(id(value))
    if isinstance(value, FunctionType):
        for name, item in _used_by(value):
            _note(name, item, held, seen, depth)
        return
    for part in ("__func__", "func", "__wrapped__"):
        _collect(getattr(value, part, None), held, seen, depth)
    owner = getattr(value, "__self__", value)
    for name, item in getattr(owner, "__dict__", {}).items():
        _note(str(name), item, held, seen, depth)
    _collect(vars(type(value)).get("__call__"), held, seen, depth)


def _note(name: str, item: Any, held: Held, seen: set[int], depth: int) -> None:
    if isinstance(item, _GENERATORS):
        held.append((f"a generator that it holds ({name})", item))
    elif isinstance(item, FunctionType):
        _collect(item, held, seen, depth - 1)


def _used_by(function: FunctionType) -> Iterator[tuple[str, Any]]:
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue
    for item in function.__defaults__ or ():
        yield "a default argument", item
    yield from (function.__kwdefaults__ or {}).items()


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
