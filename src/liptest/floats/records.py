"""What is said of the floats that the installed NumPy returns: records with JSON both ways.

A witness is an output that occurs on one dataset and on no draw under its neighbour. It can be
replayed: a generator of NumPy in the state that is given, and the steps of the code.
"""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from liptest.errors import InputError, quote
from liptest.floats.chains import FloatChain, FloatStep, Number
from liptest.floats.grid import generator_in
from liptest.floats.impossible import CONSTANT, GRANULARITY, INVERSION, ROUNDING, Entry, exclude
from liptest.floats.samplers import SCALED, UNIFORM, Draw
from liptest.verdicts import (
    Count,
    Decision,
    Flag,
    Record,
    Share,
    Size,
    Text,
    Whole,
    Words,
    as_one_of,
    as_tuple,
)


@dataclass(frozen=True)
class RecordedStep(Record):
    """One float operation; the constant as ``float.hex`` writes it, or a whole number."""

    name: Words
    constant: Words
    of_whole: Flag
    to_whole: Flag

    @classmethod
    def of(cls, step: FloatStep) -> RecordedStep:
        """In JSON values."""
        return cls(step.name, write_number(step.constant), step.of_whole, step.to_whole)

    def step(self) -> FloatStep:
        """Back."""
        return FloatStep(self.name, number_from(self.constant), self.of_whole, self.to_whole)


@dataclass(frozen=True)
class RecordedNumber(Record):
    """A number of an output: one draw and what was done with it, or a constant."""

    constant: Words | None
    generator: Text = ""
    method: Text = ""
    parameters: tuple[Words, ...] = ()
    number: Count = 0
    steps: tuple[RecordedStep, ...] = ()

    @classmethod
    def of(cls, entry: Entry) -> RecordedNumber:
        """In JSON values."""
        if not isinstance(entry, FloatChain):
            return cls(write_number(entry))
        draw = entry.draw
        steps = tuple(map(RecordedStep.of, entry.steps))
        parameters = tuple(map(write_number, draw.parameters))
        return cls(None, draw.origin, draw.method, parameters, draw.number, steps)

    def entry(self) -> Entry:
        """Back."""
        if self.constant is not None:
            return number_from(self.constant)
        parameters = tuple(float(number_from(parameter)) for parameter in self.parameters)
        draw = Draw(self.generator, self.method, parameters, self.number)
        chain = FloatChain(draw, tuple(step.step() for step in self.steps))
        # A document may have been written by anyone: nothing else is ever called.
        is_known = len(parameters) in (1, 2) if self.method in SCALED else not parameters
        if self.method not in (*SCALED, UNIFORM) or not is_known or not chain.is_plain:
            raise InputError(f"number={chain}: liptest writes no such steps")
        return chain


@dataclass(frozen=True)
class ExcludedPath(Record):
    """A path on the neighbour, and why the output is not its number.

    ``way`` is "rounding": no float at all leads to it; "inversion": the grid points from ``first``
    to ``last``, and no others, could lead to it, and none does; "granularity": such a sum is a
    multiple of a power of 2; "constant": another number, or an output of another shape, for which
    ``number`` is None.
    """

    way: Annotated[str, as_one_of(ROUNDING, INVERSION, GRANULARITY, CONSTANT)]
    number: RecordedNumber | None
    first: Count = 0
    last: Whole = -1

    def holds(self, output: Number) -> bool:
        """Whether the installed NumPy excludes it, looked at again."""
        if self.number is None:
            return True
        exclusion = exclude(self.number.entry(), output)
        return exclusion is not None and exclusion.way == self.way


@dataclass(frozen=True)
class ImpossibleOutput(Record):
    """An output that occurs on ``dataset`` and on no draw under ``neighbour``.

    ``output`` is number ``place`` of the output as ``float.hex`` writes it. It is drawn from a
    Generator with a PCG64 (``state``: state and increment), or a RandomState (the first two words
    of its key, the others 0, position 0). ``point`` is the grid point of the first uniform, where
    that is all that is drawn; ``number`` how the output follows from it, where the code has one
    path. ``rows`` says of tables where they differ, in words.
    """

    dataset: tuple[Whole, ...]
    neighbour: tuple[Whole, ...]
    output: Words
    place: Count
    generator: Words
    state: tuple[Count, ...]
    point: Count | None
    number: RecordedNumber | None
    excluded: tuple[ExcludedPath, ...]
    rows: Annotated[tuple[str, ...], as_tuple(Text)] | None = None

    optional: ClassVar[frozenset[str]] = frozenset({"rows"})

    @property
    def value(self) -> Number:
        """The number."""
        return number_from(self.output)

    def generator_there(self) -> np.random.Generator | np.random.RandomState:
        """An unmodified generator of the installed NumPy in the state of the witness."""
        made: np.random.Generator = generator_in(self.generator, self.state)
        return made

    def problems(self) -> list[str]:
        """What the installed NumPy does otherwise; nothing where the witness holds on it."""
        problems = []
        if self.number is not None and self.point is not None:
            entry = self.number.entry()
            if isinstance(entry, FloatChain) and entry.run(self.generator_there()) != self.value:
                problems.append("from its state the output is another one")
        if not self.excluded or not all(path.holds(self.value) for path in self.excluded):
            problems.append("the output is not excluded for the neighbour")
        return problems


@dataclass(frozen=True)
class AsImplemented(Record):
    """What is known of the code as it is implemented: with NumPy's floats, not with ideal noise.

    ``decision`` is NO with a witness, YES where the exact law of all neighbouring pairs holds the
    claim, INCONCLUSIVE else, with a ``reason``. At least ``share`` of all draws on the first
    dataset of the witness are impossible on the second, but for an event of probability
    ``failure_probability``. Of rounded outputs ``loss`` encloses the largest loss over ``pairs``
    of datasets, and ``delta`` is enough for the claimed epsilon on them.
    """

    decision: Annotated[Decision, as_one_of(Decision.YES, Decision.NO, Decision.INCONCLUSIVE)]
    reason: Text = ""
    witness: ImpossibleOutput | None = None
    share: Share | None = None
    failure_probability: Share | None = None
    loss: tuple[Size, Size] | None = None
    delta: Size | None = None
    pairs: Count = 0
    rests_on: Text = ""

    optional: ClassVar[frozenset[str]] = frozenset(
        {"witness", "share", "failure_probability", "loss", "delta"}
    )

    def __str__(self) -> str:
        return f"As implemented: {self._tell()}"

    def _tell(self) -> str:
        """The decision, the witness, what was counted, and what that rests on."""
        if self.witness is None and self.loss is None:
            return f"{self.reason}."
        parts = [f"{self.decision}."]
        if self.witness is not None:
            parts += self._witness_words(self.witness)
        elif self.reason:
            parts.append(f"{self.reason[0].upper()}{self.reason[1:]}.")
        if self.loss is not None:
            parts += self._say_counted(*self.loss)
        return " ".join([*parts, f"It rests on: {self.rests_on}."])

    def _say_counted(self, low: float, high: float) -> list[str]:
        pairs = f"{self.pairs:,} neighbouring pair{'s' * (self.pairs != 1)}"
        told = [f"Loss {'infinite' if math.isinf(high) else f'{high:.9g}'} over {pairs}."]
        if self.delta and self.decision is not Decision.YES:
            told.append(f"With the claimed epsilon, a delta of {_above(self.delta)} is enough.")
        return told

    def _witness_words(self, witness: ImpossibleOutput) -> list[str]:
        point = "" if witness.point is None else f" (grid point j = {witness.point})"
        place = f" in place {witness.place}" if witness.place else ""
        share = self.share or 0.0
        many = (
            f"; {math.floor(100 * share)} % or more of all draws are of this kind "
            f"(but for an event of probability {self.failure_probability or 0.0:g})"
            if share > 0.01
            else ""
        )
        return [
            f"Output {witness.value!r}{place} occurs on the first dataset{point} and on no draw "
            f"under the second{many}.",
            f"Datasets: {_short(witness)}.",
        ]


# From here on a number of a dataset stands for a row and its user, or for half a float.
_CODED = 1 << 20


def _above(number: float) -> str:
    """Two digits, never less than the number."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 1)
    return f"{math.ceil(number / unit) * unit:.2g}"


def _short(witness: ImpossibleOutput) -> str:
    """Both datasets, or where they differ."""
    sides = (witness.dataset, witness.neighbour)
    if witness.rows:
        lines = "; ".join(line for line in witness.rows if not line.startswith(" "))
        return f"(- the first, + the second) {lines}"
    if len(witness.dataset) <= 6:
        return " / ".join(f"[{', '.join(map(str, side))}]" for side in sides)
    changed = [
        (place, pair)
        for place, pair in enumerate(zip(witness.dataset, witness.neighbour, strict=True))
        if pair[0] != pair[1]
    ]
    if max(*witness.dataset, *witness.neighbour) >= _CODED:
        return f"they differ in {len(changed)} of the numbers that tell their rows"
    words = ", ".join(f"record {place} ({one} / {other})" for place, (one, other) in changed[:3])
    ones = f", sums {sum(witness.dataset)} / {sum(witness.neighbour)}"
    return f"they differ in {words}{ones}"


def not_analysed(reason: str) -> AsImplemented:
    """Nothing is said, and why."""
    return AsImplemented(Decision.INCONCLUSIVE, f"not analysed: {reason}")


def write_number(number: Number) -> str:
    """A float as ``float.hex`` writes it, a whole number in digits."""
    return number.hex() if isinstance(number, float) else str(int(number))


def number_from(text: str) -> Number:
    """Inverse of ``write_number``."""
    is_float = "x" in text or text in ("nan", "inf", "-inf")
    try:
        return float.fromhex(text) if is_float else int(text)
    except ValueError:
        raise InputError(f"number={quote(text)}: it is not one as liptest writes it") from None


def conditions(*ways: str) -> str:
    """What is taken for granted, in words."""
    parts = ["uniforms on NumPy's grid of 2^-53", "floats rounded to nearest"]
    if INVERSION in ways:
        parts.append("logarithms of the math library within a relative error of 2^-45")
    parts.append(f"NumPy {np.__version__} on {platform.system()} {platform.machine()}")
    return ", ".join(parts)
