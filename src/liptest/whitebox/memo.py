"""Output laws that were enumerated before, and tables of them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from liptest.domains import IntArray
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
        self._same: dict[frozenset[tuple[Output, int, int]], OutputLaw] = {}
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
        assert law.fractions is not None
        if self.first_exception is None and all(isinstance(o, Raised) for o in law.outputs):
            self.first_exception = exception
        if self._bytes > _MEMORY:
            self._laws.clear()
            self._same.clear()
            self._bytes = 0
        digits = [(p.numerator, p.denominator) for p in law.fractions]
        entries = zip(law.outputs, digits, strict=True)
        # Two partial laws with equal parts are equal, too: what is missing is what is missing to 1.
        same = self._same.setdefault(frozenset((o, n, m) for o, (n, m) in entries), law)
        if same is law:
            self._bytes += sum(m.bit_length() // 4 + _BYTES_PER_OUTPUT for _, m in digits)
        self._bytes += _BYTES_PER_OUTPUT
        self._laws[key] = same
        return same


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
    exact = tuple((law.outputs, law.fractions) for law in distinct.values())
    return LawTable(tuple(columns), logs, index, errors, exact=exact, unexplored=unexplored)
