"""Outputs that are equal and yet not the same: of other types, with -0.0 for 0.0, in another order.

They count as one output, and a verdict says so where a program has such outputs.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from liptest.enumerate.outputs import Walked, is_negative_zero
from liptest.mechanisms.laws import Output
from liptest.values.protocol import Symbolic

# Of so many different outputs the kinds are kept.
_MOST = 1 << 12


class OutputKinds:
    """The kinds of the first outputs of a program, and whether equal ones were of two kinds."""

    def __init__(self) -> None:
        self.differ = False
        self.seen: dict[Output, Any] = {}

    def noted(self, output: Any, canonical: Output) -> Output:
        """The canonical form of an output, whose kind is noted."""
        if not self.differ:
            self._note(canonical, _kind_of(output))
        return canonical

    def learn(self, others: OutputKinds) -> None:
        """Note what another process has seen."""
        self.differ = self.differ or others.differ
        for output, kind in others.seen.items():
            self._note(output, kind)

    def _note(self, made: Output, kind: Any) -> None:
        if kind is not None and (made in self.seen or len(self.seen) < _MOST):
            self.differ = self.differ or self.seen.setdefault(made, kind) != kind


def _kind_of(output: Any) -> Any:
    """What ``==`` does not tell of an output; NumPy's numbers count as Python's. None: unknown."""
    kind = type(output)
    if issubclass(kind, Symbolic):
        return None
    if isinstance(output, np.generic):
        output = output.item()
        kind = type(output)
    if issubclass(kind, float):
        return "-0.0" if is_negative_zero(output) else "float"
    if isinstance(output, np.ndarray):
        return _of_array(output)
    if isinstance(output, dict):
        return _of_entries(kind, [*output, *output.values()], tuple(map(repr, output)))
    if isinstance(output, (set, frozenset)):
        return _of_entries(kind, sorted(output, key=repr))
    if isinstance(output, (tuple, list)):
        return _of_entries(kind, output)
    if kind is Walked:
        return _of_entries(output.kind, output.entries)
    if is_dataclass(output) and not isinstance(output, type):
        values = [getattr(output, item.name) for item in fields(output) if item.compare]
        return _of_entries(kind, values)
    return kind.__qualname__


def _of_array(output: Any) -> Any:
    if output.dtype == object:
        return _of_entries(np.ndarray, output.ravel().tolist())
    signs = np.packbits(is_negative_zero(output)).tobytes() if output.dtype.kind == "f" else b""
    return "ndarray", output.dtype.kind, signs.strip(b"\0")


def _of_entries(kind: Any, entries: Any, order: Any = ()) -> Any:
    kinds = tuple(map(_kind_of, entries))
    if None in kinds:
        return None
    named = kind if isinstance(kind, str) else kind.__qualname__
    # One for all where all are alike, which is less to keep.
    return named, kinds[:1] if len(set(kinds)) == 1 else kinds, order
