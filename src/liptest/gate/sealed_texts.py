"""Sealed laws of all kinds from plain JSON values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from liptest.data.domains import Domain
from liptest.errors import InputError, LiptestError, shown
from liptest.evidence.domain_form import domain_of
from liptest.gate.sealed import VERSION, Sealed, read_noise, read_table
from liptest.gate.sealed_sums import read_sums

_READERS: dict[str, Callable[[dict[str, Any], str], Sealed]] = {
    "table": read_table,
    "noise": read_noise,
    "sums": read_sums,
}


# What reading raises of values that nothing sealed; 0 as a denominator is one of ArithmeticError.
_NOT_SEALED = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, LiptestError)


def read_sealed(document: Any, name: str, domain: Domain | None = None) -> Sealed:
    """What plain JSON values say, of a domain if one is given; InputError for anything else."""
    try:
        stated = domain_of(document["domain"])
        if document["version"] == VERSION and domain in (None, stated):
            return _READERS[document["sealed"]](document, name)
    except _NOT_SEALED:
        pass
    raise InputError(f"sealed={shown(document)} is not what liptest seals")
