"""Mechanisms whose output probabilities are declared as exact fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import ClassVar

import numpy as np

from liptest.domains import Domain, IntArray
from liptest.errors import InputError, LawError, call_user_code, shown
from liptest.mechanisms.closed_form import check_outputs
from liptest.mechanisms.laws import (
    ZERO_LOG,
    LawTable,
    Output,
    OutputLaw,
    default_error,
    log_fraction,
)
from liptest.points import PointBatch

Pmf = Callable[[IntArray], Sequence[Fraction]]


@dataclass(frozen=True, eq=False)
class ExactForm:
    """A mechanism declared by the exact output probabilities of each dataset.

    Slower than ``ClosedForm``, which takes many datasets at once, but a claim is decided in
    rational numbers, and a probability of 0 is 0.

    Parameters
    ----------
    outputs
        The k possible outputs, hashable and distinct.
    pmf
        One dataset, (d,) whole numbers -> k Fractions (or ints) that sum to exactly 1.
    name
        Printed in verdicts.

    Raises
    ------
    InputError
        Outputs empty, unhashable or duplicated; pmf not callable.
    LawError
        On use: probabilities that are no fractions, negative, or do not sum to exactly 1.
    """

    outputs: tuple[Output, ...]
    pmf: Pmf
    name: str = ""

    source: ClassVar[str] = "declared"
    statistic: ClassVar[None] = None

    def __post_init__(self) -> None:
        if not callable(self.pmf):
            raise InputError(
                f"pmf={shown(self.pmf)} must be callable: dataset -> Fractions", name="pmf"
            )
        object.__setattr__(self, "outputs", check_outputs(self.outputs))
        words = self.name or getattr(self.pmf, "__name__", type(self).__name__)
        object.__setattr__(self, "name", words)

    def points_per_slice(self, domain: Domain) -> int:
        """Few: each dataset costs k fractions."""
        return 1 << 10

    def laws(self, points: PointBatch) -> LawTable:
        """One law per different list of probabilities. LawError when one is broken."""
        known: dict[tuple[Fraction, ...], int] = {}
        rows = [known.setdefault(self._row(point), len(known)) for point in points.array()]
        logs = np.array([[_log(p) for p in row] for row in known]).reshape(-1, len(self.outputs))
        errors = default_error(np.where(logs == ZERO_LOG, 0.0, logs)).max(axis=1, initial=0.0)
        index = np.array(rows, dtype=np.int64)
        return LawTable(self.outputs, logs, index, errors, exact=tuple(known))

    def law(self, dataset: IntArray) -> OutputLaw:
        """The exact law on one dataset."""
        row = self._row(np.asarray(dataset))
        return OutputLaw.from_fractions(
            dict(zip(self.outputs, row, strict=True)), source=self.source
        )

    def _row(self, dataset: IntArray) -> tuple[Fraction, ...]:
        given = call_user_code(self.name, "pmf", lambda: tuple(self.pmf(dataset)))
        if len(given) != len(self.outputs) or not all(isinstance(p, Rational) for p in given):
            raise LawError(
                f"{self.name}: pmf gave {shown(given)}; return {len(self.outputs)} Fractions"
            )
        row = tuple(Fraction(p) for p in given)
        if min(row) < 0 or sum(row) != 1:
            raise LawError(
                f"{self.name}: the probabilities {shown([str(p) for p in row])} must be 0 or more "
                f"and sum to exactly 1"
            )
        return row


def _log(probability: Fraction) -> float:
    return log_fraction(probability) if probability else ZERO_LOG
