"""Output distributions that were enumerated before, and tables of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import IntArray
from liptest.mechanisms.laws import ZERO_LOG, LawTable, Output, OutputLaw, Raised

# Together about 64 MiB; a law costs its fractions and some hundred bytes for each output.
_MEMORY = 1 << 26
_BYTES_PER_OUTPUT = 400


class LawMemo:
    """Laws by dataset or statistic value, in bounded memory; equal laws are one object.

    Keys are hashes: no dataset is kept. ``first_exception`` is type and message of the first
    exception on a dataset on which every run raised.
    """

    def __init__(self) -> None:
        self.first_exception: str | None = None
        self._laws: dict[bytes, OutputLaw] = {}
        self._same: dict[frozenset[tuple[Any, ...]], OutputLaw] = {}
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._laws)

    def get(self, key: bytes) -> OutputLaw | None:
        """The law under a key, if it is known."""
        return self._laws.get(key)

    def add(self, key: bytes, law: OutputLaw, exception: str | None = None) -> OutputLaw:
        """Keep a law; returns the equal one that is known already, if there is one.

        ``exception`` is type and message of an exception that was raised, if there was one.
        """
        if self.first_exception is None and all(isinstance(o, Raised) for o in law.outputs):
            self.first_exception = exception
        if self._bytes > _MEMORY:
            self._laws.clear()
            self._same.clear()
            self._bytes = 0
        same = self._same.setdefault(frozenset(_entries(law)), law)
        if same is law:
            self._bytes += _BYTES_PER_OUTPUT * len(law.outputs)
            self._bytes += sum(p.denominator.bit_length() // 4 for p in law.fractions or ())
        self._bytes += _BYTES_PER_OUTPUT
        self._laws[key] = same
        return same


def _entries(law: OutputLaw) -> list[tuple[Any, ...]]:
    """Equal for equal laws only. Equal parts of partial laws are enough: what is missing is
    what is missing to 1, and of laws with noise it is a part of the entries."""
    if law.fractions is None:
        parts = zip(law.log_probabilities.tolist(), law.errors.tolist(), strict=True)
        rest = (None, law.unexplored)
        return [rest, *((o, *part) for o, part in zip(law.outputs, parts, strict=True))]
    digits = ((p.numerator, p.denominator) for p in law.fractions)
    return [(o, *both) for o, both in zip(law.outputs, digits, strict=True)]


def _exact_key(law: OutputLaw) -> Hashable:
    parts: Hashable = tuple(_entries(law)) if law.fractions is None else law.fractions
    return law.outputs, parts, law.unexplored


def agree(left: OutputLaw, right: OutputLaw) -> bool:
    """Whether two laws of one dataset are the same; up to their errors where they have noise."""
    if left.fractions is not None and right.fractions is not None:
        pairs = (zip(law.outputs, law.fractions or (), strict=True) for law in (left, right))
        first, second = map(dict, pairs)
        return first == second
    if set(left.outputs) != set(right.outputs):
        return False
    bounds = ((left.log_bounds(o), right.log_bounds(o)) for o in left.outputs)
    return all(a <= d and c <= b for (a, b), (c, d) in bounds)


def law_key(argument: IntArray) -> bytes:
    """Key of a dataset or of a statistic value."""
    kind = argument.dtype.str.encode()
    return blake2b(np.ascontiguousarray(argument).tobytes(), digest_size=32, person=kind).digest()


def law_table(
    laws: Sequence[OutputLaw], outputs: tuple[Output, ...] | None, rows: NDArray[np.int64] | None
) -> LawTable:
    """Table of enumerated laws, each object once, over ``outputs`` or all outputs they have.

    ``rows[i]`` says which of ``laws`` query i has; None means its own.
    """
    distinct = {id(law): law for law in laws}
    place = {key: row for row, key in enumerate(distinct)}
    positions = np.array([place[id(law)] for law in laws], dtype=np.int64)
    columns = {output: k for k, output in enumerate(outputs or ())}
    for law in distinct.values():
        for output in law.outputs:
            columns.setdefault(output, len(columns))
    logs = np.full((len(distinct), len(columns)), ZERO_LOG)
    errors, unexplored = np.zeros(len(distinct)), np.zeros(len(distinct))
    for row, law in enumerate(distinct.values()):
        logs[row, [columns[output] for output in law.outputs]] = law.log_probabilities
        # Of what was not explored nothing is known: such laws are never decided by screening.
        errors[row] = np.inf if law.unexplored else law.errors.max(initial=0.0)
        unexplored[row] = float(law.unexplored)
    index = positions if rows is None else positions[rows]
    exact = tuple(map(_exact_key, distinct.values()))
    return LawTable(tuple(columns), logs, index, errors, exact=exact, unexplored=unexplored)
