"""Leaves run once more with real random numbers: the analysis must say what the code does.

A random float of the analysis is known to lie in an interval of grid points at the end of a run.
Any float of that interval must lead to the same output. So the run is repeated, first as it was,
to note the intervals, and then with real floats from them, the ends among them, and the same
outcome of every other draw.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

from liptest.errors import NonDeterministicError
from liptest.mechanisms.laws import Output
from liptest.values.branching import Path, UnweightedBranches
from liptest.values.grid import Split
from liptest.whitebox.noise.outputs import nearby
from liptest.whitebox.tree.choices import ChoiceTree
from liptest.whitebox.tree.running import Run

# Kept: while a program is analysed the names stand for something else.
_GENERATOR, _BITS = np.random.Generator, np.random.PCG64


_ENDS = 0.25


class Noted:
    """Keeps every random float of a run, and hands it on as it is."""

    def __init__(self) -> None:
        self.born: list[Any] = []

    def hand_out(self, number: Any) -> Any:
        """Note a number or an array of numbers."""
        self.born.append(number.as_drawn())
        return number


class Given:
    """Hands out real floats in place of those that were noted, in their order."""

    def __init__(self, noted: Noted, rng: np.random.Generator) -> None:
        self._real = [born.replay(lambda low, high: _point(rng, low, high)) for born in noted.born]
        self._next = 0

    def hand_out(self, number: Any) -> Any:
        """A real number for a new one; itself beyond those that were noted."""
        self._next += 1
        return self._real[self._next - 1] if self._next <= len(self._real) else number


def repeat(tree: ChoiceTree, run: Run, path: Path, output: Output) -> None:
    """Repeat a leaf of a walked tree as it was, and then with real floats.

    Raises NonDeterministicError when an output differs.
    """
    noted = Noted()
    tree.draw_log = noted
    try:
        tree.repeat(run, path, output)
    finally:
        tree.draw_log = None
    with run.real_floats():
        if noted.born:
            _repeat_for_real(tree, run, path, output, noted)


def _repeat_for_real(tree: ChoiceTree, run: Run, path: Path, output: Output, noted: Noted) -> None:
    real = ChoiceTree(tree.name, max_choices=tree.max_choices)
    # The same floats whenever the leaf is met again, other ones for other leaves.
    seed = crc32(repr([taken for _, taken in path]).encode())
    real.draw_log = Given(noted, _GENERATOR(_BITS(seed)))
    noise = tree.noise
    if noise is not None:
        # Real numbers of an output are near those that the analysis has, not equal.
        output = nearby(output, noise.value_at_point)
    run.follow(real)
    try:
        real.repeat(
            run, [(b, i) for b, i in path if not isinstance(b, (Split, UnweightedBranches))], output
        )
    except NonDeterministicError:
        raise NonDeterministicError(
            f"{tree.name}: with real random numbers it answers otherwise than in its analysis; a "
            f"mechanism may not look at what kind of object a random number is, and must keep no "
            f"state between calls"
        ) from None
    finally:
        real.close()
        run.follow(tree)


def _point(rng: np.random.Generator, low: int, high: int) -> int:
    """A grid point of an interval: an end of it with some probability, else any."""
    chosen = rng.random()
    if chosen < _ENDS:
        return low
    if chosen < 2 * _ENDS:
        return high - 1
    # More points than NumPy's integers can tell apart where whole numbers are drawn.
    bits = rng.bytes(8 + (high - low).bit_length() // 8)
    return low + int.from_bytes(bits, "little") % (high - low)
