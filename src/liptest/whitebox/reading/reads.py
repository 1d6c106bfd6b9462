"""What can be read of a dataset: a read, its answer on any dataset, and lists of them.

A read is ``(steps, kind)``: steps that lead from the dataset to an array (a slice, a comparison
with a number, ..) and what is then asked of it (an entry, the sum, everything). A function that
sees its dataset only through such reads, and whose random choices are known, runs alike on all
datasets that give the same answers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

Step = tuple[Hashable, ...]


Read = tuple[tuple[Step, ...], tuple[Hashable, ...]]


#: Reads of one law beyond which the whole dataset counts as read.
MAX_READS = 64


#: Everything that can be known of a dataset.
WHOLE: Read = ((), ("whole",))


COMPARISONS = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}


ARITHMETIC = {name: getattr(operator, name) for name in ("add", "sub", "mul")}


#: Questions without further arguments, as methods and as functions of NumPy.
METHODS = ("sum", "mean", "max", "min", "any", "all")


FUNCTIONS = {getattr(np, name): name for name in (*METHODS, "count_nonzero", "amax", "amin")}


_KINDS: dict[Hashable, Callable[..., Any]] = {
    **{name: operator.methodcaller(name) for name in METHODS},
    "amax": np.max,
    "amin": np.min,
    "count_nonzero": np.count_nonzero,
    "entry": lambda array, place: array[place],
    "whole": lambda array: array,
    "bincount": lambda array, least: np.bincount(array, minlength=least),
    "dot": lambda array, weights, kind: np.dot(array, np.frombuffer(weights, dtype=kind)),
}


# On bits these depend on the number of ones alone, whatever was done entry by entry before;
# float sums do not, their rounding depends on the order.
_SYMMETRIC = frozenset({*METHODS, "amax", "amin", "count_nonzero", "bincount"})


def taken(array: NDArray[Any], step: Step) -> NDArray[Any]:
    """The array after one step."""
    name, *rest = step
    found: Any
    if name == "slice":
        found = array[slice(*rest)]
    elif name == "take":
        found = array[list(rest[0])]  # type: ignore[call-overload]
    elif name == "astype":
        found = array.astype(rest[0])  # type: ignore[call-overload]
    elif name == "invert":
        found = ~array
    else:
        action: Any = (COMPARISONS | ARITHMETIC)[str(name)]
        number, reflected = rest
        found = action(number, array) if reflected else action(array, number)
    return np.asarray(found)


def asked(array: NDArray[Any], kind: tuple[Hashable, ...]) -> Any:
    """The answer to a question about an array, as NumPy gives it."""
    name, *arguments = kind
    return _KINDS[name](array, *arguments)


def answer(dataset: NDArray[Any], read: Read) -> Any:
    """The answer to a read on any dataset."""
    steps, kind = read
    for step in steps:
        dataset = taken(dataset, step)
    return asked(dataset, kind)


def state_after(state: bytes, read: Read, found: Any) -> bytes:
    """A hash of all answers so far; no dataset can be had from it."""
    if isinstance(found, np.ndarray):
        content = found.dtype.str.encode() + np.ascontiguousarray(found).tobytes()
    else:
        content = f"{type(found).__name__} {found!r}".encode()
    return blake2b(state + content, digest_size=24).digest()


def reads_only_a_count(reads: list[Read]) -> bool:
    """Whether on bits every answer is a function of the number of ones."""
    return all(_is_symmetric(read) for read in reads)


def _is_symmetric(read: Read) -> bool:
    steps, kind = read
    probe = np.zeros(2, dtype=np.int64)
    for step in steps:
        if step[0] in ("slice", "take"):
            return False
        probe = taken(probe, step)
    arithmetic = any(step[0] in ARITHMETIC for step in steps)
    return (
        kind[0] in _SYMMETRIC
        and probe.dtype.kind in "bi"
        and not (arithmetic and kind == ("mean",))
    )


def coordinates_read(reads: list[Read]) -> set[int] | None:
    """The coordinates that were read one by one; None when anything else was read."""
    if any(steps or kind[0] != "entry" for steps, kind in reads):
        return None
    return {int(str(kind[1])) for _, kind in reads}
