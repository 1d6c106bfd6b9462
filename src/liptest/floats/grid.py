"""Generators of the installed NumPy, made to return a chosen grid point as their next uniform.

Both bit generators give j * 2**-53 with j uniform on 0 .. 2**53 - 1: PCG64 by the top 53 bits of a
word of 64, MT19937 by 27 and 26 bits of two words. Over the full period all words are equally
frequent. The state before a given word has a closed form for PCG64 (O'Neill 2014, XSL-RR: the word
is the low half where the high half is 0), and for MT19937 by undoing the tempering (Matsumoto and
Nishimura 1998).
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: Grid points of a uniform float.
GRID = 1 << 53
GENERATOR, RANDOM_STATE = "Generator", "RandomState"
# Of PCG64.
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_INVERSE = pow(_MULTIPLIER, -1, 1 << 128)
_INCREMENT = 0xDA3E39CB94B95BDB0000000000000001
_WORD = (1 << 32) - 1
_WORDS = 624
# Kept: while a program is analysed the names stand for something else.
_GENERATOR, _PCG64 = np.random.Generator, np.random.PCG64
_STATE, _MT19937 = np.random.RandomState, np.random.MT19937


def words_at(origin: str, point: int) -> tuple[int, int]:
    """The words of a state in which the next uniform of a generator is a grid point.

    State and increment of a PCG64; the first two words of a Mersenne Twister, whose others are 0.
    """
    if origin == GENERATOR:
        return (((point << 11) - _INCREMENT) * _INVERSE) % (1 << 128), _INCREMENT
    high, low = point >> 26, point & ((1 << 26) - 1)
    return _untemper((high << 5) & _WORD), _untemper((low << 6) & _WORD)


def state_words(generator: Any) -> tuple[int, int]:
    """The words of the state of a Generator with a PCG64."""
    state = generator.bit_generator.state["state"]
    return int(state["state"]), int(state["inc"])


def generator_in(origin: str, words: tuple[int, ...]) -> Any:
    """A Generator, else a RandomState, of the installed NumPy in a state of these words."""
    if origin == GENERATOR:
        generator = _GENERATOR(_PCG64(0))
        generator.bit_generator.state = pcg64_state(words)
        return generator
    state = _STATE(_MT19937(0))
    key = np.zeros(_WORDS, dtype=np.uint32)
    key[:2] = words
    state.set_state(("MT19937", key, 0, 0, 0.0))
    return state


def pcg64_state(words: tuple[int, ...]) -> dict[str, Any]:
    """What ``rng.bit_generator.state`` is set to."""
    return {
        "bit_generator": "PCG64",
        "state": {"state": words[0], "inc": words[1]},
        "has_uint32": 0,
        "uinteger": 0,
    }


def fresh(origin: str, seed: int = 0) -> Any:
    """A real generator of the installed NumPy."""
    return _GENERATOR(_PCG64(seed)) if origin == GENERATOR else _STATE(_MT19937(seed))


class GridSource:
    """A real generator of NumPy that is put before any grid point.

    A RandomState has the same samplers over any bit generator; this one is over PCG64, whose state
    is set a hundred times as fast as that of a Mersenne Twister.
    """

    def __init__(self, origin: str) -> None:
        self._bits = _PCG64(0)
        self._state: Any = pcg64_state((0, _INCREMENT))
        make: Any = _GENERATOR if origin == GENERATOR else _STATE
        self._generator = make(self._bits)

    def at(self, point: int) -> Any:
        """The generator, whose next uniform is ``point * 2**-53``."""
        before = (((point << 11) - _INCREMENT) * _INVERSE) % (1 << 128)
        self._state["state"]["state"] = before
        self._bits.state = self._state
        return self._generator


def _untemper(word: int) -> int:
    """The word of a Mersenne Twister's state whose tempering gives a word."""
    word ^= word >> 18
    word ^= (word << 15) & 0xEFC60000
    restored = word
    for _ in range(5):
        restored = word ^ ((restored << 7) & 0x9D2C5680)
    word = restored & _WORD
    restored = word
    for _ in range(3):
        restored = word ^ (restored >> 11)
    return restored & _WORD
