"""Every error that liptest raises on purpose, and the argument checks that raise them.

::

    LiptestError
    ├── InputError (ValueError)        an argument is wrong; carries .name and .value
    │   ├── ConfigError                a key of liptest.toml is wrong; carries .key
    │   └── DatasetError               a dataset lies outside the domain; never carries the data
    ├── FunctionError                  the function under test gave NaN, infinity or a wrong shape
    ├── MechanismError                 the mechanism under test is broken
    │   ├── LawError                   its output distribution is not a probability law
    │   ├── NonDeterministicError      it answers differently for the same dataset
    │   │   └── UnlikeAnalysisError    with real random numbers it answers otherwise
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

import functools
import inspect
import math
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar

import numpy as np

T = TypeVar("T")
P = ParamSpec("P")
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
    """An output distribution is not a probability law (NaN, above 1, or a wrong sum)."""


class NonDeterministicError(MechanismError):
    """The mechanism answers differently for the same dataset and the same random choices."""


class UnlikeAnalysisError(NonDeterministicError):
    """With real random numbers the mechanism answers otherwise than in its analysis.

    Nothing is said against the mechanism: it may hand numbers to code that is not followed.
    """


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


def quote(value: object, limit: int = 80) -> str:
    """``repr(value)`` cut to ``limit`` characters, for error messages."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def meant_number(text: str, *, whole: bool = False) -> str:
    """What to write instead of a text that a reader takes for a number: "; write 1.5", or ""."""
    plain = text.strip().replace(" ", "")
    is_percent = plain.endswith("%")
    plain = plain.removesuffix("%").replace(",", "" if whole else ".")
    try:
        number = float(plain) / (100 if is_percent else 1)
    except ValueError:
        return ""
    if not math.isfinite(number) or (whole and not number.is_integer()):
        return ""
    return f"; write {int(number) if whole else number}"


def check_open_unit(name: str, value: float) -> float:
    """Return ``value`` as a float if it lies strictly between 0 and 1, else raise InputError."""
    number = _as_float(name, value)
    if not 0.0 < number < 1.0:
        raise InputError(
            f"{name}={quote(value)} must lie strictly between 0 and 1; "
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
            f"{name}={quote(value)} must be a finite number above 0", name=name, value=value
        )
    return number


def check_non_negative(name: str, value: float, *, below: float = math.inf) -> float:
    """Return ``value`` as a float if ``0 <= value < below``, else raise InputError."""
    number = _as_float(name, value)
    if not (0.0 <= number < below):
        limit = "finite" if below == math.inf else f"below {below:g}"
        raise InputError(
            f"{name}={quote(value)} must be 0 or more and {limit}", name=name, value=value
        )
    return number


def check_count(name: str, value: int, *, least: int = 1, most: int | None = None) -> int:
    """Return ``value`` as an int if it is a whole number from ``least`` to ``most``."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not whole or int(value) < least:
        meant = meant_number(str(value), whole=True) if isinstance(value, (str, float)) else ""
        raise InputError(
            f"{name}={quote(value)} must be a whole number of at least {least}{meant}",
            name=name,
            value=value,
        )
    if most is not None and int(value) > most:
        raise InputError(
            f'{name}={quote(value)} is more than {most:,}; a proof that says "for every number of '
            f'records" holds for more, so ask for fewer',
            name=name,
            value=value,
        )
    return int(value)


def check_seed(seed: int | None) -> int | None:
    """Return the seed if it is None or a non-negative whole number."""
    return None if seed is None else check_count("seed", seed, least=0)


#: Domains hold a number for each record.
MOST_RECORDS = 10**8
_TYPICAL = {"proximity": "0.01", "exception_mass": "1e-3", "failure_probability": "1e-6"}


def _as_float(name: str, value: float) -> float:
    if isinstance(value, (bool, np.bool_, str, bytes)):
        meant = meant_number(value) if isinstance(value, str) else ""
        raise InputError(
            f"{name}={quote(value)} must be a number, not {type(value).__name__}{meant}",
            name=name,
            value=value,
        )
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{name}={quote(value)} must be a number, not {type(value).__name__}",
            name=name,
            value=value,
        ) from None


def with_example(
    example: str, of: Callable[..., str] | None = None
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A function whose TypeError for missing and unknown arguments ends with a complete call.

    ``of`` makes the call of the arguments that were given; "" where it knows nothing better.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def call(*arguments: P.args, **named: P.kwargs) -> T:
            signature = inspect.signature(function)
            try:
                signature.bind(*arguments, **named)
            except TypeError as error:
                unknown = [name for name in named if name not in signature.parameters]
                near = [one for word in unknown for one in _starting(word, signature)]
                meant = f"; did you mean {near[0]}=?" if near else "."
                # Of a constructor the name of its class.
                name = function.__qualname__.removesuffix(".__init__").removesuffix(".__new__")
                name = name.rpartition(".")[2]
                best = of(*arguments, **named) if of is not None else ""
                raise TypeError(f"{name}() {error}{meant} For example: {best or example}") from None
            return function(*arguments, **named)

        return call

    return decorate


def build_as(example: str) -> Callable[[type[T]], type[T]]:
    """A class whose constructor ends its TypeErrors with a complete call."""

    def decorate(kind: type[T]) -> type[T]:
        setattr(kind, "__init__", with_example(example)(kind.__init__))  # noqa: B010
        return kind

    return decorate


def _starting(word: str, signature: inspect.Signature) -> list[str]:
    """Parameters that begin as a word does, or are spelled much like it."""
    names = list(signature.parameters)
    begun = [name for name in names if name.startswith(word)]
    return begun or get_close_matches(word, names, 1)


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
        return quote(str(error), _LONGEST_MESSAGE)
    except Exception:
        return "(its message cannot be printed)"
