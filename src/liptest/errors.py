"""Every error that liptest raises on purpose, and the argument checks that raise them.

::

    LiptestError
    ├── InputError (ValueError)        an argument is wrong; carries .name and .value
    │   ├── ConfigError                a key of liptest.toml is wrong; carries .key
    │   └── DatasetError               a dataset lies outside the domain; never carries the data
    ├── FunctionError                  the function under test gave NaN, infinity or a wrong shape
    ├── MechanismError                 the mechanism under test is broken
    │   ├── LawError                   its output law is not a probability law
    │   ├── NonDeterministicError      it answers differently for the same dataset
    │   └── UnsupportedRandomnessError it draws what cannot be enumerated exactly
    │       ├── UnsupportedForm        it compares noise in a way that is not followed
    │       └── ContinuousOutputs      its outputs have densities, not probabilities
    ├── SymbolicError                  a probability of noise was not found precisely enough
    ├── BudgetError                    more work than the budget allows; carries .needed and .budget
    ├── LedgerError                    the ledger cannot be read or written; nothing is released
    └── GateError                      the gate refuses to be used this way
        └── CodeChangedError           the code is no longer the code that was tested

A message says ``name=value``, what is wrong, and what to do instead. No error yields a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
_LONGEST_MESSAGE = 200


class LiptestError(Exception):
    """Root of the tree."""


class InputError(LiptestError, ValueError):
    """An argument is wrong. ``name`` and ``value`` are the offending argument's."""

    def __init__(self, message: str, *, name: str | None = None, value: Any = None) -> None:
        super().__init__(message)
        self.name = name
        self.value = value


class ConfigError(InputError):
    """A key of liptest.toml is wrong; ``key`` is its dotted path."""

    def __init__(self, message: str, *, key: str | None = None) -> None:
        super().__init__(message, name=key)
        self.key = key


class DatasetError(InputError):
    """A dataset lies outside the declared domain. The message never quotes the dataset."""


class FunctionError(LiptestError):
    """The function gave NaN, infinity, a wrong shape or another answer; ``point`` is where."""

    def __init__(self, message: str, *, point: Any = None) -> None:
        super().__init__(message)
        self.point = point


class MechanismError(LiptestError):
    """The mechanism under test is broken, so nothing can be said about its privacy."""


class LawError(MechanismError):
    """An output law is not a probability law (NaN, above 1, or a wrong sum)."""


class NonDeterministicError(MechanismError):
    """The mechanism answers differently for the same dataset and the same random choices."""


class UnsupportedRandomnessError(MechanismError):
    """The mechanism draws something that has no exact finite enumeration here."""


class UnsupportedForm(UnsupportedRandomnessError):
    """Conditions on symbolic noise that are not followed; the message says which."""


class ContinuousOutputs(UnsupportedRandomnessError):
    """Outputs that have densities and no probabilities, where probabilities are needed."""


class SymbolicError(LiptestError):
    """A probability of symbolic noise was not found as precisely as a law needs."""


class BudgetError(LiptestError):
    """More work is ``needed`` than the ``budget`` allows."""

    def __init__(
        self, message: str, *, needed: int | None = None, budget: int | None = None
    ) -> None:
        super().__init__(message)
        self.needed = needed
        self.budget = budget


class LedgerError(LiptestError):
    """The ledger cannot be read or written, or is none; without its record nothing is released."""


class GateError(LiptestError):
    """The gate refuses to be used this way (a second release, a private dataset it cannot run)."""


class CodeChangedError(GateError):
    """The code is no longer the code that was tested, so nothing is released."""


def shown(value: object, limit: int = 80) -> str:
    """``repr(value)`` cut to ``limit`` characters, for error messages."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def check_open_unit(name: str, value: float) -> float:
    """Return ``value`` as a float if it lies strictly between 0 and 1, else raise InputError."""
    number = _as_float(name, value)
    if not 0.0 < number < 1.0:
        raise InputError(
            f"{name}={shown(value)} must lie strictly between 0 and 1; "
            f"a typical value is {_TYPICAL.get(name, '0.01')}",
            name=name,
            value=value,
        )
    return number


def check_positive(name: str, value: float) -> float:
    """Return ``value`` as a float if it is finite and above 0, else raise InputError."""
    number = _as_float(name, value)
    if not (0.0 < number < math.inf):
        raise InputError(
            f"{name}={shown(value)} must be a finite number above 0", name=name, value=value
        )
    return number


def check_non_negative(name: str, value: float, *, below: float = math.inf) -> float:
    """Return ``value`` as a float if ``0 <= value < below``, else raise InputError."""
    number = _as_float(name, value)
    if not (0.0 <= number < below):
        limit = "finite" if below == math.inf else f"below {below:g}"
        raise InputError(
            f"{name}={shown(value)} must be 0 or more and {limit}", name=name, value=value
        )
    return number


def check_count(name: str, value: int, *, least: int = 1) -> int:
    """Return ``value`` as an int if it is a whole number of at least ``least``."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not whole or int(value) < least:
        raise InputError(
            f"{name}={shown(value)} must be a whole number of at least {least}",
            name=name,
            value=value,
        )
    return int(value)


def check_seed(seed: int | None) -> int | None:
    """Return the seed if it is None or a non-negative whole number."""
    return None if seed is None else check_count("seed", seed, least=0)


_TYPICAL = {"proximity": "0.01", "exception_mass": "1e-3", "failure_probability": "1e-6"}


def _as_float(name: str, value: float) -> float:
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise InputError(
            f"{name}={shown(value)} must be a number, not {type(value).__name__}",
            name=name,
            value=value,
        )
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{name}={shown(value)} must be a number, not {type(value).__name__}",
            name=name,
            value=value,
        ) from None


def call_user_code(who: str, what: str, function: Callable[..., T], *arguments: Any) -> T:
    """``function(*arguments)``, a function that a user wrote; what it raises: MechanismError.

    ``who`` and ``what`` name the mechanism and its function. The error holds type and message of
    whatever the function raised; KeyboardInterrupt and this package's own errors pass.
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
        return shown(str(error), _LONGEST_MESSAGE)
    except Exception:
        return "(its message cannot be printed)"
