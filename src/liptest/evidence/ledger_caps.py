"""Caps of private tables: what all their releases may cost together, at a named delta.

A cap is a row of the ledger. It is checked in the transaction that writes a release, before the
draw; what it says depends on the ledger only, never on the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from liptest.errors import GateError, check_open_unit, check_positive
from liptest.evidence.ledger_cost import cost_of_table
from liptest.evidence.ledger_entries import CAP, Attempt, cap_ends, checked_name, decimal_text
from liptest.evidence.ledger_file import Row


@dataclass(frozen=True)
class Cap:
    """All releases from a private table together may cost epsilon at delta; never more."""

    private_table: str
    epsilon: Fraction
    delta: Fraction

    @classmethod
    def checked(cls, private_table: str, epsilon: float, delta: float) -> Cap:
        """As an operator names it; InputError for numbers out of range."""
        checked_name("private_table", private_table)
        ends = check_positive("epsilon", epsilon), check_open_unit("delta", delta)
        return cls(private_table, *(Fraction(decimal_text(end)) for end in ends))

    def fields(self) -> dict[str, Any]:
        """The JSON fields of its row."""
        return {"epsilon": decimal_text(self.epsilon), "delta": decimal_text(self.delta)}

    @classmethod
    def of_row(cls, row: Row) -> Cap:
        """Read from its row; raises one of ``NOT_OURS`` for one that no ledger wrote."""
        return cls(row.vendor, *cap_ends(row))

    def check(self, attempts: Iterable[Attempt], following: int) -> None:
        """Raise GateError if one more release after the attempt ``following`` is beyond the cap."""
        after = [
            replace(one, used=one.used + 1) if one.number == following else one for one in attempts
        ]
        cost = cost_of_table(after, self.private_table, float(self.delta))
        if not cost.is_within(float(self.epsilon)):
            would = (
                f"would cost {cost.epsilon:.6g}"
                if math.isfinite(cost.epsilon)
                else "have no epsilon at that delta"
            )
            raise GateError(
                f"the cap of private table {self.private_table!r} is epsilon "
                f"{float(self.epsilon):g} at delta {float(self.delta):g}; with this release all "
                f"releases {would}. Nothing was drawn"
            )

    def __str__(self) -> str:
        return f"cap: epsilon {float(self.epsilon):g} at delta {float(self.delta):g}"


def caps_of(rows: Iterable[Row]) -> dict[str, Cap]:
    """The last cap of each private table."""
    return {row.vendor: Cap.of_row(row) for row in rows if row.kind == CAP}
