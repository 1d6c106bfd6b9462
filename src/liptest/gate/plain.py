"""Outputs as plain values: what is released is made anew from a text, never handed on.

Two outputs are one exactly when their texts are equal. So 1, 1.0 and True are three outputs, 0.0
and -0.0 are two, and whatever a class of a vendor's calls equal is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from liptest.enumerate.numbers.noise_outputs import list_entries, with_entries
from liptest.enumerate.trees.outputs import Fields, Items
from liptest.errors import GateError, InputError, quote
from liptest.evidence.ledger_file import canonical_json
from liptest.mechanisms.laws import Output, Raised

#: Longest text of one output. A release that spells out more is neither a number, nor a name, nor
# a table of counts.
LONGEST = 1 << 20
# Python refuses to read or write longer decimal numbers.
_DIGITS = 4_000
_DEEPEST = 50


@dataclass(frozen=True)
class PlainOutput:
    """An output by its text alone."""

    text: str

    def __repr__(self) -> str:
        return repr(read_output(self.text))


@dataclass(frozen=True)
class SumPlace:
    """In the place of a number of an output that is filled in later, by its number."""

    number: int


def with_numbers(
    output: Output, numbers: Sequence[int | float] | Mapping[int, int | float]
) -> Output:
    """The output with these numbers in the places of ``SumPlace``; LookupError for too few."""
    if type(output) is SumPlace:
        return numbers[output.number]
    entries = list_entries(output)
    if entries is None:
        return output
    filled: Output = with_entries(output, [with_numbers(entry, numbers) for entry in entries])
    return filled


def write_text(output: Output) -> str:
    """The text of an output made of plain values; GateError, which quotes nothing, for others."""
    text = write_drawn(output)
    if len(text) > LONGEST:
        raise GateError(f"an output of more than {LONGEST:,} characters is not released")
    return text


def write_drawn(output: Output) -> str:
    """The same of any length: of an output that is drawn, whose length may tell about the data."""
    return canonical_json(_encode(output, 0))


def read_output(text: str, *, longest: int | None = None) -> Any:
    """The output that has this text; InputError for a text that none has, or a longer one."""
    try:
        output = _decode(json.loads(text), 0)
        if write_drawn(output) == text and (longest is None or len(text) <= longest):
            return output
    except (ValueError, TypeError, LookupError, RecursionError, GateError):
        pass
    raise InputError(f"output={quote(text)} is not the text of an output")


def _encode(output: Any, depth: int) -> Any:
    """JSON that tells plain values of different kinds apart."""
    kind = type(output)
    if depth > _DEEPEST:
        raise GateError("an output of more than 50 levels is not released")
    if output is None or kind is bool or kind is str:
        return output
    if kind is int:
        if abs(output).bit_length() > 3 * _DIGITS:
            raise GateError(f"a number of more than {_DIGITS:,} digits is not released")
        return output
    if kind is float:
        # As text: 1 and 1.0 are two JSON texts, and there are no infinite JSON numbers.
        return {"float": repr(output)}
    if kind is bytes:
        return {"bytes": output.hex()}
    if kind is complex:
        return {"complex": [repr(output.real), repr(output.imag)]}
    # By identity: a class of a vendor's may call itself equal to one of these.
    coder = next((code for known, code in _CONTAINERS.items() if known is kind), None)
    if coder is None:
        raise GateError(
            f"an output of type {_name(kind)} is not released: it is not a plain value, and what "
            f"its class calls equal may be written in two ways; return a number, a string, or a "
            f"tuple, list, set or dict of them"
        )
    return coder(output, lambda entry: _encode(entry, depth + 1))


_Entry = Callable[[Any], Any]
#: The text of a failure whose reason is withheld; it counts as a release.
FAILED = '{"raised":"withheld"}'


def _encode_fields(output: Fields, entry: _Entry) -> Any:
    return {"fields": [entry(output.kind), [[entry(n), entry(v)] for n, v in output.values]]}


_CONTAINERS: dict[type, Callable[[Any, _Entry], Any]] = {
    tuple: lambda output, entry: [entry(one) for one in output],
    frozenset: lambda output, entry: {
        "set": sorted((entry(one) for one in output), key=canonical_json)
    },
    Items: lambda output, entry: {
        "items": sorted(([entry(k), entry(v)] for k, v in output.items), key=canonical_json)
    },
    Fields: _encode_fields,
    Raised: lambda output, entry: {"raised": entry(output.exception)},
    SumPlace: lambda output, entry: {"place": output.number},
}


def _decode(coded: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ValueError("too deep")
    if isinstance(coded, list):
        return tuple(_decode(part, depth + 1) for part in coded)
    if not isinstance(coded, dict):
        if coded is not None and type(coded) not in (bool, int, str):
            raise ValueError("floats are written as text")
        return coded
    [(tag, value)] = coded.items()
    output: Output = _READERS[tag](value, lambda part: _decode(part, depth + 1))
    return output


def _read_items(value: Any, read: _Entry) -> Items:
    return Items(frozenset((read(k), read(v)) for k, v in value))


_READERS: dict[str, Callable[[Any, _Entry], Any]] = {
    "float": lambda value, read: math.nan if value == "nan" else float(value),
    "bytes": lambda value, read: bytes.fromhex(value),
    "complex": lambda value, read: complex(float(value[0]), float(value[1])),
    "set": lambda value, read: frozenset(map(read, value)),
    "items": _read_items,
    "fields": lambda value, read: Fields(value[0], tuple((n, read(one)) for n, one in value[1])),
    "raised": lambda value, read: Raised(value),
    "place": lambda value, read: SumPlace(value),
}


def _name(kind: type) -> str:
    return quote(type.__getattribute__(kind, "__qualname__"))
