"""The options of a privacy check, validated once; everything inside takes this object."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from liptest.errors import (
    InputError,
    check_count,
    check_open_unit,
    check_positive,
    check_seed,
    quote,
)
from liptest.lipschitz.testers import known_testers, named_tester
from liptest.lipschitz.testers.base import LipschitzTester
from liptest.privacy.claims import Claim, ExactLog
from liptest.privacy.notions import StatedClaim, find_stated_claim
from liptest.runs.driver import Progress

#: How mechanisms with output distributions are tested, Lipschitz testers apart.
METHODS = [
    *("auto", "exhaustive", "neighbourhoods", "light-neighbourhoods", "edges", "group", "search"),
]
#: Methods that neither visit a domain nor draw from a distribution; parts of "auto".
AT_ANY_SIZE = ("alignment", "per-record", "refutation")
#: Whether noise is ideal, or the floats that the installed NumPy returns, or both, in two lines.
BOTH, IDEAL, IMPLEMENTED = "both", "ideal", "implemented"
FLOATS = (BOTH, IDEAL, IMPLEMENTED)
#: For samplers, which have no output distributions.
BLACK_BOX = "black-box"


@dataclass(frozen=True, kw_only=True)
class CheckSettings:
    """What a check takes beside the mechanism and the distribution.

    The fields are the keyword arguments of ``liptest.check_privacy``, which documents them;
    ``epsilon`` is a number or an ``ExactLog`` once it is validated.

    Raises
    ------
    InputError
        A value is out of range, or there is no such method.
    """

    epsilon: float | str | ExactLog | None = None
    delta: float = 0.0
    rho: float | None = None
    renyi: Any = None
    mu: float | None = None
    curve: Mapping[float | str | ExactLog, float] | None = None
    exception_mass: float = 1e-3
    failure_probability: float = 1e-6
    method: str | LipschitzTester = "auto"
    tolerance: float = 1e-9
    budget: int | None = None
    search_laws: int | None = None
    floats: str = "both"
    seed: int | None = None
    max_seconds: float | None = None
    executor: Executor | None = None
    progress: Progress | None = None
    checkpoint: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        valid: dict[str, Any] = {
            "seed": check_seed(self.seed),
            "method": _valid_method(self.method),
            "floats": _valid_floats(self.floats),
            "tolerance": self.claim.tolerance,
            "exception_mass": check_open_unit("exception_mass", self.exception_mass),
            "failure_probability": check_open_unit("failure_probability", self.failure_probability),
        }
        claim = self.claim
        if isinstance(claim, Claim):
            valid |= {"epsilon": claim.epsilon, "delta": claim.delta}
        if self.budget is not None:
            valid["budget"] = check_count("budget", self.budget)
        if self.search_laws is not None:
            valid["search_laws"] = check_count("search_laws", self.search_laws, least=0)
        if self.max_seconds is not None:
            valid["max_seconds"] = check_positive("max_seconds", self.max_seconds)
        for name, value in valid.items():
            object.__setattr__(self, name, value)

    @cached_property
    def claim(self) -> StatedClaim:
        """The claim under test."""
        return find_stated_claim(
            self.epsilon,
            self.delta,
            self.tolerance,
            rho=self.rho,
            renyi=self.renyi,
            mu=self.mu,
            curve=self.curve,
        )

    def arguments(self) -> dict[str, Any]:
        """As keyword arguments, without those that are left open."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def tester(self) -> LipschitzTester | None:
        """The Lipschitz tester that is the method; None for methods that have a name."""
        return None if isinstance(self.method, str) else self.method


def _valid_floats(floats: object) -> str:
    if isinstance(floats, str) and floats in FLOATS:
        return str(floats)
    raise InputError(
        f"floats={quote(floats)} is unknown; use one of {', '.join(FLOATS)}",
        name="floats",
        value=floats,
    )


def _valid_method(method: str | LipschitzTester) -> str | LipschitzTester:
    if isinstance(method, LipschitzTester) and not isinstance(method, (str, type)):
        return method
    if isinstance(method, str) and method in (*METHODS, *AT_ANY_SIZE, BLACK_BOX):
        return method
    tester = named_tester(method) if isinstance(method, str) else None
    if tester is None:
        raise unknown_method(method)
    return tester


def unknown_method(method: object) -> InputError:
    """The error for a method that does not exist."""
    return InputError(
        f"method={quote(method)} is unknown; use one of "
        f"{', '.join((*METHODS, *AT_ANY_SIZE))}, or a Lipschitz tester: "
        f"{', '.join(known_testers())}",
        name="method",
        value=method,
    )
