"""The exit codes of answers and of errors, as ``liptest.cli.app`` tells them."""

from __future__ import annotations

from collections.abc import Collection

from liptest.errors import BudgetError, GateError, LiptestError, MechanismError
from liptest.verdicts import Decision

#: Of an answer.
ANSWERED = {
    **dict.fromkeys((Decision.YES, Decision.ACCEPT), 0),
    **dict.fromkeys((Decision.NO, Decision.REJECT), 1),
    Decision.INCONCLUSIVE: 3,
}


def find_worst(codes: Collection[int]) -> int:
    """The code of a command whose parts ended with these."""
    return next(code for code in (4, 1, 3, 2, 0) if code in codes)


def find_code(error: LiptestError) -> int:
    """The exit code of an error."""
    if isinstance(error, MechanismError):
        return 4
    if isinstance(error, BudgetError):
        return 3
    return 1 if isinstance(error, GateError) else 2
