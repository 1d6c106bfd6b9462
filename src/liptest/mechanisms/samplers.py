"""Functions that draw from a law that is named: ``@lt.sampler(lt.DiscreteLaplace(2))``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import FunctionType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from liptest.balls import CERTIFIED_BITS, precision
from liptest.errors import InputError, LawError, quote
from liptest.mechanisms.additive import AdditiveNoise

#: Whole-number noise, or the probability of each value.
Law = AdditiveNoise | Mapping[Any, float]
Function = TypeVar("Function", bound=Callable[..., Any])

# What the probabilities of a law may be off by, as they are floats; nothing is proved with them.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-15


def sampler(law: Law | Callable[..., Law]) -> Callable[[Function], Function]:
    """Declare that a function does nothing but draw from a law, anew at each call.

    The analysis then takes a call of it as one draw, also where its code does more than is known
    to only draw (tables, closures, calls of libraries). It is enumerated once for its arguments,
    and must draw nothing more often than the law says; proofs use what was enumerated, not the
    law. That it keeps nothing from call to call is believed, and verdicts say so.

    Parameters
    ----------
    law
        Whole-number noise such as ``lt.DiscreteLaplace(2)``, a mapping from values to
        probabilities, or a function of the arguments other than the generator that gives one.

    Raises
    ------
    InputError
        law is nothing of that, or what is decorated is not a function.
    LawError
        When it is analysed: the function draws something more often than its law says.

    Examples
    --------
    >>> @lt.sampler(lambda p: {True: p, False: 1 - p})
    ... def coin(rng, p):
    ...     return rng.random() < p
    """
    if not isinstance(law, (AdditiveNoise, Mapping)) and not callable(law):
        raise InputError(
            f"law={quote(law)} must be noise such as lt.DiscreteLaplace(2), a mapping from values "
            f"to probabilities, or a function that gives one"
        )

    def declare(function: Function) -> Function:
        plain: Any = function
        if type(plain) is not FunctionType:
            raise InputError(f"@lt.sampler on {quote(function)}: decorate a plain function")
        _DECLARED[plain] = DeclaredSampler(plain.__qualname__, _find_place(plain), law)
        return function

    return declare


@dataclass(frozen=True)
class DeclaredSampler:
    """The name of a sampler, where it stands, and its law."""

    name: str
    place: str
    law: Law | Callable[..., Law]

    @property
    def condition(self) -> str:
        """What is taken for granted."""
        return f"given that {self.name} ({self.place}) keeps nothing from call to call, as said"

    def check(self, arguments: Iterable[Any], masses: Mapping[Any, Fraction]) -> None:
        """Raise LawError where it draws something more often than its law says."""
        law: Any = self.law
        if not isinstance(law, (AdditiveNoise, Mapping)):
            try:
                law = law(*arguments)
            except Exception as error:
                raise LawError(
                    f"the law that {self.name} ({self.place}) is declared with raised "
                    f"{type(error).__name__}: {error}; it gets the arguments but for the generator"
                ) from error
        for value, mass in masses.items():
            allowed = _probability(law, value)
            if not float(mass) <= allowed * (1 + _RELATIVE) + _ABSOLUTE:
                raise LawError(
                    f"{self.name} ({self.place}) is declared as {quote(law)}, which has {value!r} "
                    f"with probability {allowed:.6g}, and draws it with {float(mass):.6g} or more; "
                    f"mend it, or declare the law that it draws from"
                )


def find_declared_sampler(function: FunctionType) -> DeclaredSampler | None:
    """What a function is declared as, if anything."""
    return _DECLARED.get(function)


def _probability(law: Any, value: Any) -> float:
    if isinstance(law, Mapping):
        return float(law.get(value, 0.0))
    if not isinstance(law, AdditiveNoise):
        raise LawError(f"a law must be whole-number noise or a mapping; it is {quote(law)}")
    if not isinstance(value, (int, np.integer)):
        return 0.0
    with precision(CERTIFIED_BITS):
        return float(law.log_pmf_ball(int(value)).exp().mid())


def _find_place(function: FunctionType) -> str:
    code = function.__code__
    return f"{code.co_filename.replace(chr(92), '/').rpartition('/')[2]}:{code.co_firstlineno}"


_DECLARED: WeakKeyDictionary[FunctionType, DeclaredSampler] = WeakKeyDictionary()
