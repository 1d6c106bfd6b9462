"""Uniform whole numbers of very many: ``getrandbits(64)``, ``randrange(10**18)``, ``integers``.

They are compared as all that is uniform on a grid, or seed one generator. Beside that, by
counting: of n consecutive numbers so many leave each remainder for m; ``x ^ c`` on a block of 2**k
numbers and ``(x + c) % n`` are bijections, so what they give is uniform, too (docs/theory/bits.md).
Afterwards x is known through that alone.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.values.branching import Branching
from liptest.values.draws.grid import Line, Split, entry_line, whole_line
from liptest.values.draws.images import Image
from liptest.values.draws.noise_run import NoiseRun, WholeValue
from liptest.values.draws.transforms import AS_WHOLE
from liptest.values.draws.uniform import UniformValue
from liptest.values.protocol import Operation, SymbolicValue

_UNIFORM = Noise("uniform", Fraction(1))
# NumPy takes 128 bits of the operating system; a question whether it is 0 may have been asked.
_FEWEST_SEEDS = 1 << 127
SEED_ADVICE = (
    "leave the seed out (numpy.random.default_rng()), use rng.spawn(n), or seed one generator with "
    "secrets.randbits(128)"
)
#: Numbers that follow from another one.
Undo = Callable[[int], int]


class WholeDraw(UniformValue):
    """A random whole number ``first`` .. ``first + count - 1``, all of them equally likely."""

    __slots__ = ("_answered", "_instead", "is_seed", "kind")

    __hash__ = SymbolicValue.__hash__
    described = "a random whole number of very many"
    described_in_arrays = "an array of random whole numbers of very many"
    advice = (
        "compare it with a number (x < k), take its remainder for a small number (x % 10, x & 1) "
        "or draw from fewer values"
    )

    def __init__(self, branching: Branching, first: int, count: int, kind: Any) -> None:
        super().__init__(branching, _line(first, count, kind))
        self.kind = kind
        #: Through which number it is known by now, and how it follows from that.
        self._instead: tuple[WholeDraw, Undo] | None = None
        #: As noise on [0, high - low), where it is an output: the grid point, beyond low, and more.
        self._answered: Form | None = None
        #: Whether it seeds a generator.
        self.is_seed = False

    def __lt__(self, bound: Any) -> Any:
        return self._compare_exactly(np.less, bound)

    def typed(self, kind: Any) -> Any:
        if kind is int and self.kind is not int:
            return self.after(AS_WHOLE)
        return super().typed(kind)

    def rounded(self, how: str, kind: Any) -> Any:
        return self.typed(kind) if kind in (int, self.kind) else super().rounded(how, kind)

    def part(self, stops: Any) -> int:
        self.check_own("a calculation")
        return super().part(stops)

    def _below(self, cut: int) -> bool:
        self.check_own("a comparison")
        return super()._below(cut)

    def check_own(self, use: str) -> None:
        if self.is_seed:
            self.refuse(f"{use}, of a number that seeds a generator")
        if self._instead is not None:
            self.refuse(f"{use}, of a number that was taken apart by ^, & or % before")

    def become_seed(self) -> None:
        """Seed a generator, whose draws are as good as fresh ones where nothing else is known.

        Then nothing more is asked of the number: it would tell what the generator draws.
        """
        if self.is_seed:
            self.branching.forbid("two generators of one random seed", SEED_ADVICE)
        self.check_own("a seed")
        if self.noise is not None:
            self.refuse("a seed, after a sum with other noise")
        if self.high - self.low < _FEWEST_SEEDS:
            self.branching.forbid(
                "a seed of too few random bits, which can be found by trying all of them",
                SEED_ADVICE,
            )
        self.is_seed = True

    def answered(self, value: UniformValue) -> Any:
        """Uniform noise, rounded down: every whole number has the same mass of it."""
        span = _consecutive(value, self.low, self.high) if self.branching.keeps_whole else None
        if span is None:
            return None
        run = NoiseRun.of(self.branching)
        if self._answered is None:
            self._answered = run.new(_UNIFORM) * (self.high - self.low)
        run.symbolic = True
        return WholeValue(self._answered + span[0], "floor", Fraction(1), Fraction(0))

    def replay(self, point_in: Callable[[int, int], int]) -> Any:
        if self._answered is not None:
            beyond = self.branching.noise.value(self._answered, point_in)
            return self.line.value(self.low + math.floor(beyond))
        if self._instead is None:
            return super().replay(point_in)
        made, undo = self._instead
        return self.kind(undo(int(made.replay(point_in))))

    def of_whole(
        self, value: UniformValue, operation: Operation, other: Any, *, swapped: bool
    ) -> Any:
        is_plain = isinstance(other, (int, np.integer)) and not isinstance(other, bool)
        span = _consecutive(value, self.low, self.high) if is_plain and other >= 0 else None
        if span is None or (swapped and operation is operator.mod):
            return NotImplemented
        self.check_own(operation.__name__)
        first, count = span
        kind = _find_kind(operation, value.kind, (first, first + count - 1), other)
        if kind is None:
            return NotImplemented
        if operation is operator.xor:
            return self._exclusive(first, count, int(other), kind)
        if operation is operator.mod and other and first + count <= other and first >= 0:
            return value if kind is value.kind else NotImplemented
        if operation is operator.mod and count == other:
            back = lambda remainder: first + (remainder - first) % count  # noqa: E731
            return self._note_known_by(WholeDraw(self.branching, 0, count, kind), back, first)
        if operation is operator.mod and other:
            return self._remainder(operation, value.kind, first, count, int(other), other)
        if operation is operator.and_:
            modulus = 1 << int(other).bit_length()
            return self._remainder(operation, value.kind, first, count, modulus, other)
        return NotImplemented

    def _exclusive(self, first: int, count: int, other: int, kind: Any) -> Any:
        """``x ^ other`` on a block of numbers that differ in their last digits only."""
        if first < 0 or count & (count - 1) or first % count:
            return NotImplemented
        made = WholeDraw(self.branching, (first ^ other) // count * count, count, kind)
        return self._note_known_by(made, lambda number: number ^ other, first)

    def _remainder(
        self, operation: Operation, kind: Any, first: int, count: int, modulus: int, other: Any
    ) -> Any:
        """One of few remainders, chosen by how many of the numbers leave it."""
        places = min(modulus, count)
        if places > self.branching.max_leaves:
            return NotImplemented
        counts = [(count - place - 1) // modulus + 1 for place in range(places)]
        place = self.branching.choose(Split(counts)) if places > 1 else 0
        made = WholeDraw(self.branching, 0, counts[place], int)
        start = first + place
        self._note_known_by(made, lambda number: start + modulus * number, first)
        return operation(kind(start), other)

    def _note_known_by(self, made: WholeDraw, back: Undo, first: int) -> WholeDraw:
        """Say that it is known by another number; ``back`` gives what lies at ``first``, .."""
        away = int(self.line.value(self.low)) - first
        self._instead = made, lambda number: back(number) + away
        return made


def _line(first: int, count: int, kind: Any) -> Line:
    is_plain = kind is int and first == 0
    return whole_line(count) if is_plain else entry_line(first, count, kind)


def _find_kind(operation: Operation, kind: Any, ends: tuple[int, int], other: Any) -> Any:
    """The type of all outcomes; None where the ends have several, or NumPy refuses one of them."""
    try:
        kinds = {type(operation(kind(end), other)) for end in ends}
    except (OverflowError, ZeroDivisionError):
        return None
    return kinds.pop() if len(kinds) == 1 else None


def _consecutive(value: UniformValue, low: int, high: int) -> tuple[int, int] | None:
    """(first, count) where grid points low .. high-1 give so many numbers, one after another."""
    line: Any = value.line
    while isinstance(line, Image):
        linear = line.step.linear
        if linear is None or linear[0] != 1 or not issubclass(line.kind, (int, np.integer)):
            return None
        line = line.inner
    first, last = (int(value.line.value(point)) for point in (low, high - 1))
    return (first, high - low) if last - first == high - 1 - low else None


# ---- drawing


@contextmanager
def whole_numbers_compared() -> Iterator[None]:
    """Whole numbers that are drawn meanwhile are there to be compared: none is chosen."""
    _compared.append(True)
    try:
        yield
    finally:
        _compared.pop()


_compared: list[bool] = []


def _most_at_once(branching: Branching) -> int:
    """Of how many values a whole number is chosen when it is drawn."""
    return 1 if _compared else branching.max_leaves


def uniform_below(branching: Branching, count: int) -> Any:
    """A uniform whole number below ``count``: chosen, or where there are too many, compared."""
    if count <= _most_at_once(branching):
        return branching.choose(count)
    branching.count_draws(1)
    number = WholeDraw(branching, 0, count, int)
    return number if branching.draw_log is None else branching.draw_log.hand_out(number, count)


def uniform_entry(branching: Branching, first: int, count: int, kind: Any) -> Any:
    """A uniform whole number of one of NumPy's types: chosen, or where too many, compared."""
    if count <= _most_at_once(branching):
        return kind(first + branching.choose(count))
    branching.count_draws(1)
    number = WholeDraw(branching, first, count, kind)
    if branching.draw_log is None:
        return number
    return branching.draw_log.hand_out(number, number.line.law)
