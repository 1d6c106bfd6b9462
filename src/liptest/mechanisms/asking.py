"""Calls of functions that a user wrote: what they raise becomes a MechanismError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from liptest.errors import LiptestError, MechanismError, shown

T = TypeVar("T")

_MOST_SHOWN = 200


def asked(who: str, what: str, function: Callable[..., T], *arguments: Any) -> T:
    """``function(*arguments)``; ``who`` and ``what`` name the mechanism and its function.

    Raises MechanismError, with type and message of whatever the function raised. KeyboardInterrupt
    and this package's own errors pass.
    """
    try:
        return function(*arguments)
    except (LiptestError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        raise MechanismError(
            f"{who}: {what} raised {type(error).__name__}: {_message(error)}; it must answer for "
            f"every dataset of the domain"
        ) from error


def _message(error: BaseException) -> str:
    try:
        return shown(str(error), _MOST_SHOWN)
    except Exception:
        return "(its message cannot be printed)"
