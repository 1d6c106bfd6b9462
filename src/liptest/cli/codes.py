"""The exit codes of errors; those of answers are in ``liptest.cli.app``."""

from __future__ import annotations

from liptest.errors import BudgetError, GateError, LiptestError, MechanismError


def find_code(error: LiptestError) -> int:
    """The exit code of an error."""
    if isinstance(error, MechanismError):
        return 4
    if isinstance(error, BudgetError):
        return 3
    return 1 if isinstance(error, GateError) else 2
