"""The error of mechanisms that raise an exception whatever the data are: broken, not private."""

from __future__ import annotations

import re
from difflib import get_close_matches

import numpy as np

from liptest.data.domains import Domain
from liptest.data.tables import Table
from liptest.errors import MechanismError
from liptest.mechanisms.base import Mechanism


def check_answered(
    mechanism: Mechanism, *, is_answered: bool, domain: Domain | None = None
) -> None:
    """MechanismError when nothing but exceptions came back."""
    if is_answered:
        return
    raise never_answered(mechanism.name, mechanism.first_exception, domain)


def never_answered(name: str, first: str | None, domain: Domain | None = None) -> MechanismError:
    """The error of a mechanism that raises always; ``first`` is what it raised first."""
    said = f" (the first one: {first})" if first else ""
    trial = "" if isinstance(domain, Table) else "Test it on one dataset with lt.output_law"
    hint = _OF_A_FRAME if first and _WANTS_A_FRAME.search(first) else ""
    if first and (missing := _NO_ATTRIBUTE.search(first)):
        near = get_close_matches(missing[1], dir(np.ndarray), 1, cutoff=0.65)
        is_typo = near and missing[1] not in _OF_FRAMES and not near[0].startswith("_")
        hint = f"Did you mean .{near[0]}? " if is_typo else _OF_A_FRAME
    if first and "KeyError" in first and isinstance(domain, Table):
        hint = f"Its frame has the columns {', '.join(domain.columns)}. "
    if first and "'Generator'" in first:
        hint = _OF_A_GENERATOR
    if first and "read-only" in first:
        hint = _OF_A_CHANGE
    return MechanismError(
        f"{name}: it raised an exception on every dataset seen{said}; a mechanism that "
        f"never answers is broken, not private. {hint}{trial}".rstrip()
    )


# What an array of records says to code that wants a data frame.
_WANTS_A_FRAME = re.compile(r"only integers, slices \(`:`\)|no field of name")
# What frames have, and arrays have something that is spelled much like it.
_OF_FRAMES = {"at", "count", "fillna", "filter", "items", "map", "median"}
_NO_ATTRIBUTE = re.compile(r"'numpy\.ndarray' object has no attribute '(\w+)'")
_OF_A_GENERATOR = (
    "Its second parameter is the random generator, as in (data, rng); give others a default, or "
    "bind them with functools.partial. "
)
_OF_A_CHANGE = (
    "The dataset may not be changed in place, since the caller would see it; begin with a copy: "
    "data = data.copy(), or write np.sort(data) for data.sort(). "
)
_OF_A_FRAME = (
    "It gets an array of records; a data frame is given where its columns are said: --columns "
    "'age:0..120,region:north|south', or lt.Table. "
)
