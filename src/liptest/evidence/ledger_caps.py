"""Caps of private tables: what all their releases may cost together, at a named delta.

Tables about the same people can share a cap beside their own (theory 6.20). A cap is a row of the
ledger. It is checked in the transaction that writes a release, before the draw; what it says
depends on the ledger only, never on the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from liptest.errors import GateError, InputError, check_open_unit, check_positive
from liptest.evidence.ledger_cost import TableCost, cost_of_tables
from liptest.evidence.ledger_entries import (
    CAP,
    Attempt,
    cap_ends,
    cap_tables,
    check_name,
    decimal_text,
)
from liptest.evidence.ledger_file import Row


@dataclass(frozen=True)
class Cap:
    """All releases from a private table together may cost epsilon at delta; never more.

    With ``people``, all releases from these ``people`` tables together, which concern the same
    people; ``private_table`` is then the name of the group.
    """

    private_table: str
    epsilon: Fraction
    delta: Fraction
    people: tuple[str, ...] = ()

    @classmethod
    def checked(cls, private_table: str, epsilon: float, delta: float) -> Cap:
        """As an operator names it; InputError for numbers out of range."""
        check_name("private_table", private_table)
        ends = check_positive("epsilon", epsilon), check_open_unit("delta", delta)
        above, at = (Fraction(decimal_text(end)) for end in ends)
        return cls(private_table, above, at)

    @classmethod
    def of_people(cls, name: str, tables: Iterable[str], epsilon: float, delta: float) -> Cap:
        """A cap that tables about the same people share; InputError where none is named."""
        named = tuple(sorted({check_name("tables", table) for table in tables}))
        if not named:
            raise InputError("tables: name the private tables that concern these people")
        return replace(cls.checked(name, epsilon, delta), people=named)

    @property
    def tables(self) -> tuple[str, ...]:
        """The private tables that it caps."""
        return self.people or (self.private_table,)

    @property
    def title(self) -> str:
        """The cap as messages name it."""
        if not self.people:
            return f"private table {self.private_table!r}"
        return f"the people {self.private_table!r} (private tables {', '.join(self.people)})"

    def fields(self) -> dict[str, Any]:
        """The JSON fields of its row."""
        ends = {"epsilon": decimal_text(self.epsilon), "delta": decimal_text(self.delta)}
        return {**ends, "tables": list(self.people)} if self.people else ends

    def widens(self, known: Cap) -> bool:
        """Whether it caps no less than a known one of the same numbers."""
        same = (known.epsilon, known.delta) == (self.epsilon, self.delta)
        return same and set(known.people) <= set(self.people)

    @classmethod
    def of_row(cls, row: Row) -> Cap:
        """Read from its row; raises one of ``NOT_OURS`` for one that no ledger wrote."""
        return cls(row.vendor, *cap_ends(row), people=cap_tables(row))

    def check(self, attempts: Iterable[Attempt], following: int) -> None:
        """Raise GateError if one more release after the attempt ``following`` is beyond the cap.

        Attempts on other tables say nothing here.
        """
        after = [
            replace(attempt, used=attempt.used + 1) if attempt.number == following else attempt
            for attempt in attempts
        ]
        cost = self.cost(after)
        if not cost.is_within(float(self.epsilon)):
            would = (
                f"would cost {cost.epsilon:.6g}"
                if math.isfinite(cost.epsilon)
                else "have no epsilon at that delta"
            )
            raise GateError(
                f"the cap of {self.title} is epsilon "
                f"{float(self.epsilon):g} at delta {float(self.delta):g}; with this release all "
                f"releases {would}. Nothing was drawn"
            )

    def cost(self, attempts: Iterable[Attempt]) -> TableCost:
        """What all releases that it caps cost together, at its delta."""
        title = self.title if self.people else ""
        return cost_of_tables(attempts, self.private_table, self.tables, float(self.delta), title)

    def __str__(self) -> str:
        return f"cap: epsilon {float(self.epsilon):g} at delta {float(self.delta):g}"


def list_caps(rows: Iterable[Row]) -> dict[str, Cap]:
    """The last cap of each private table."""
    return {cap.private_table: cap for cap in _caps(rows) if not cap.people}


def find_people(rows: Iterable[Row]) -> dict[str, Cap]:
    """The last cap of each group of people."""
    return {cap.private_table: cap for cap in _caps(rows) if cap.people}


def _caps(rows: Iterable[Row]) -> Iterator[Cap]:
    return (Cap.of_row(row) for row in rows if row.kind == CAP)
