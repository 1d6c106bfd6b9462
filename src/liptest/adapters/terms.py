"""What a library says of a mechanism: its claim, its datasets, and what is known of its law."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, TypeVar

from liptest.domains import Domain
from liptest.errors import InputError
from liptest.mechanisms.base import Mechanism

M = TypeVar("M", bound=Mechanism)


@dataclass(frozen=True)
class Terms:
    """The claim of a library's mechanism, in the words of this program.

    Parameters
    ----------
    domain
        Datasets and neighbours that the claim is about.
    epsilon, delta
        The claim; epsilon is ``inf`` or 0 where the library says so.
    notes
        Sentences: where the law comes from, and what was compared with what.
    """

    domain: Domain
    epsilon: float
    delta: float = 0.0
    notes: tuple[str, ...] = ()


class AdaptedMechanism(Mechanism, Protocol):
    """A mechanism with the terms of the library that it comes from."""

    @property
    def domain(self) -> Domain:
        """Datasets and neighbours that the claim is about."""
        ...

    @property
    def epsilon(self) -> float:
        """The claimed epsilon, natural log units."""
        ...

    @property
    def delta(self) -> float:
        """The claimed delta."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Where the law comes from, and what was compared with what."""
        ...


def attach(mechanism: M, terms: Terms) -> M:
    """The mechanism, with the terms as attributes; gates draw from its class, not from others."""
    for key in ("domain", "epsilon", "delta", "notes"):
        object.__setattr__(mechanism, key, getattr(terms, key))
    return mechanism


def library(extra: str, module: str) -> Any:
    """A module of the library that an adapter is for; InputError says which extra holds it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f"lt.adapters.{extra} needs the package {error.name}; install liptest with its extra: "
            f"pip install 'liptest[{extra}]'",
            name=extra,
        ) from None
