"""What generators with a constant seed draw first: a seed that is drawn from one is known, too.

``MASTER = default_rng(0)`` and ``RNG = default_rng(MASTER.integers(2**31))``, or numbers of
``SeedSequence(5).generate_state(4)``. How often the first was asked before is not followed: each of
its first draws is taken for possible. Too many only cost time, since each is compared with the
generator.
"""

from __future__ import annotations

import _random
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from liptest.enumerate.intercept.replaceable_names import find_attribute

# Draws of a generator that are looked at, and numbers or bits of one draw.
_DRAWS, _MOST = 32, 512


class _PlainRandom(_random.Random):
    """As ``random.Random``, whose methods stand for others while a program is analysed."""

    randrange = random.Random.randrange
    randint = random.Random.randint
    _randbelow = random.Random._randbelow_with_getrandbits  # type: ignore[attr-defined]


# Kept, for the same reason. They begin with 0: without a seed they would ask the operating system,
# and the watch would hear that.
_GENERATOR, _PCG64, _STATE = np.random.Generator, np.random.PCG64, np.random.RandomState
_SEQUENCE, _MT19937 = np.random.SeedSequence, np.random.MT19937
_PYTHON, _SEED = random.Random, random.Random.seed
_METHODS = frozenset({"integers", "randint", "getrandbits", "randrange", "generate_state"})
#: Makers whose draws are followed, and what seeds the generators of modules.
MADE = frozenset({"default_rng", "PCG64", "RandomState", "Random", "SeedSequence", "seed"})


def make_python(seed: Any) -> random.Random:
    """``random.Random(seed)``. Raises TypeError for what is not a seed."""
    made: Any = _random.Random.__new__(_PYTHON, 0)  # type: ignore[call-arg]
    _SEED(made, seed)
    return made  # type: ignore[no-any-return]


def make_state(seed: Any) -> np.random.RandomState:
    """``numpy.random.RandomState(seed)``. Raises TypeError or ValueError as that does."""
    made = _STATE(_MT19937(0))
    made.seed(seed)
    return made


@dataclass(frozen=True)
class MadeGenerator:
    """A generator that a call makes of a seed, by the name of its maker."""

    maker: str
    seed: Any

    def draws(self, method: str, arguments: list[Any], named: dict[str, Any]) -> list[Any]:
        """What the first calls of a method draw, numbers and lists of numbers."""
        if method not in _METHODS or not _is_short(method, arguments, named):
            return []
        draws = []
        for generator in self._make():
            draw: Any = find_attribute(generator, method)
            try:
                draws += [draw(*arguments, **named) for _ in range(_DRAWS)]
            except (ArithmeticError, TypeError, ValueError):
                continue  # no arguments of such a method
        return [np.asarray(value).tolist() for value in draws]

    def _make(self) -> Iterator[Any]:
        try:
            if self.maker == "SeedSequence":
                yield _SEQUENCE(self.seed)
            if self.maker in ("Random", "seed"):
                plain: Any = _PlainRandom.__new__(_PlainRandom, 0)  # type: ignore[call-arg]
                plain.setstate(_random.Random.getstate(make_python(self.seed)))
                yield plain
            if self.maker in ("RandomState", "seed"):
                yield make_state(self.seed)
            if self.maker in ("default_rng", "PCG64"):
                yield _GENERATOR(_PCG64(self.seed))
        except (TypeError, ValueError):
            return  # no seed of such a generator


def _is_short(method: str, arguments: list[Any], named: dict[str, Any]) -> bool:
    """Whether a draw is of few numbers, which are not large."""
    every = [*arguments, *named.values()]
    if not all(isinstance(x, int) and x.bit_length() <= 64 for x in every):
        return False
    sizes: list[int] = [named.get("size", 0), *arguments[2:3]]
    if method in ("getrandbits", "generate_state"):
        sizes += arguments
    return max(sizes) <= _MOST
