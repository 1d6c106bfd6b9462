"""The ledger of releases as operators see it; it is only read here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from liptest.errors import LedgerError
from liptest.evidence.ledger import Ledger
from liptest.evidence.ledger_entries import Attempt
from liptest.evidence.ledger_file import START
from liptest.service.records import Places


@dataclass(frozen=True)
class Budget:
    """What the releases of a private table have cost, and may cost in all.

    Or those of ``tables`` about the same people; ``table`` is then the name of the group.
    """

    table: str
    cap: float
    delta: float
    spent: float
    releases: int
    tables: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The budget as pages name it."""
        return f"{self.table} ({', '.join(self.tables)})" if self.tables else self.table

    @property
    def left(self) -> float:
        """Not below 0."""
        return max(0.0, self.cap - self.spent)

    @property
    def share(self) -> float:
        """The share of the cap that is spent, between 0 and 1."""
        return min(1.0, self.spent / self.cap)


@dataclass(frozen=True)
class LedgerView:
    """The ledger of releases as operators see it: its head, its problems, budgets, attempts."""

    head: str
    rows: int
    problems: tuple[str, ...]
    budgets: tuple[Budget, ...]
    attempts: tuple[Attempt, ...]


def view_ledger(places: Places, *, verify: bool = False) -> LedgerView:
    """The ledger as it is now; one that is not there yet is empty. ``verify`` checks every row."""
    if isinstance(places.ledger, Path) and not places.ledger.exists():
        return LedgerView(START, 0, (), (), ())
    try:
        ledger = Ledger(places.ledger, create=False)
        problems = tuple(ledger.problems()) if verify else ()
        summary = ledger.summary()
        budgets = _budgets(places.ledger, summary.head)
        attempts = tuple(reversed(ledger.attempts())) if verify else ()
        return LedgerView(summary.head, summary.rows, problems, budgets, attempts)
    except LedgerError as error:
        return LedgerView("", 0, (str(error),), (), ())


@lru_cache(maxsize=8)
def _budgets(path: Path | str, head: str) -> tuple[Budget, ...]:
    """They change with the last row only; adding up many releases takes a while."""
    budgets = []
    ledger = Ledger(path, create=False)
    attempts = ledger.attempts()
    caps = [capped for _, capped in sorted(ledger.caps().items())]
    for cap in (*caps, *(capped for _, capped in sorted(ledger.people().items()))):
        cost = cap.cost(attempts)
        spent = cost.epsilon if math.isfinite(cost.epsilon) else float(cap.epsilon)
        ends = float(cap.epsilon), float(cap.delta)
        budgets.append(Budget(cap.private_table, *ends, spent, cost.releases, cap.people))
    return tuple(budgets)
