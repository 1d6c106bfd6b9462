"""Outputs of Python functions in a form in which equal ones compare equal.

Outputs that are equal and yet not the same (of other types, with -0.0 for 0.0, in another order)
count as one output, and a verdict says so where a program has such outputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from itertools import islice
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from liptest.errors import MechanismError
from liptest.foreign import has_names, list_attributes, type_of_cell
from liptest.mechanisms.laws import Output, Raised
from liptest.values.draws.noise_run import NoisyValue
from liptest.values.pandas.labelled import NAMES, Labelled, as_labelled
from liptest.values.protocol import Symbolic, is_symbolic
from liptest.values.rounding import is_negative_zero

_PLAIN = frozenset({int, str, bool, bytes, type(None)})
# Instances of these hold nothing else, but those of subclasses may.
_HOLDING = frozenset(
    {int, float, complex, str, bytes, tuple, list, dict, set, frozenset, np.ndarray, np.matrix}
)
# Each of these is one object with one meaning, so that identity is equality.
_SINGLE = (Enum, type, FunctionType, BuiltinFunctionType, type(...), type(NotImplemented))


@dataclass(frozen=True)
class Items:
    """A dict as an output: its keys and values, in no order."""

    items: frozenset[tuple[Output, Output]]

    def __repr__(self) -> str:
        pairs = sorted(f"{key!r}: {value!r}" for key, value in self.items)
        return f"{{{', '.join(pairs)}}}"


@dataclass(frozen=True)
class Fields:
    """A dataclass that is not frozen, or not hashable, as an output: its class and its values."""

    kind: str
    values: tuple[tuple[str, Output], ...]

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(f'{name}={value!r}' for name, value in self.values)})"


class EndlessOutput(MechanismError):
    """An iterator as an output that gives more than is looked at."""


class Walked:
    """All that an iterator or generator gives, as an output: its type's name, and the entries."""

    def __init__(self, kind: str, entries: tuple[Any, ...]) -> None:
        self.kind = kind
        self.entries = entries


#: Entries of an iterator that is answered.
MOST_ENTRIES = 1 << 16
_ITERATING = frozenset({"builtins", "itertools"})
# In no order that the program decides.
_UNORDERED = frozenset({"set_iterator"})


def walk_output(output: Any, name: str) -> Any:
    """What a function returns, an iterator of Python's own walked to its end.

    A generator runs meanwhile. Raises EndlessOutput where it does not end.
    """
    kind = type(output)
    if kind.__module__ not in _ITERATING or not isinstance(output, Iterator):
        return output
    if kind.__name__ in _UNORDERED:
        return output
    entries = tuple(islice(output, MOST_ENTRIES + 1))
    if len(entries) > MOST_ENTRIES:
        raise EndlessOutput(
            f"{name}: an output of type {kind.__name__} has more than {MOST_ENTRIES:,} entries; "
            f"return a list of fewer"
        )
    return Walked(kind.__name__, entries)


@dataclass(frozen=True, eq=False)
class Typed:
    """An output whose type counts, and for dicts the order."""

    kind: str
    value: Output

    def __eq__(self, other: object) -> bool:
        # As tuples, which hold NaN for equal to itself; dataclasses of Python 3.13 do not.
        if not isinstance(other, Typed):
            return NotImplemented
        return (self.kind, self.value) == (other.kind, other.value)

    def __hash__(self) -> int:
        return hash((self.kind, self.value))

    def __repr__(self) -> str:
        return f"{self.kind}({self.value!r})"


def canonical_output(output: Any, name: str, *, typed: bool = False) -> Output:
    """The output as a hashable value.

    NumPy scalars become Python's, lists and arrays tuples, sets frozensets, dicts ``Items``,
    dataclasses that are unhashable ``Fields``, every NaN ``math.nan``; entries alike. So 1, 1.0
    and True are one output, and a list and a tuple of equal entries are. With ``typed`` those of
    different types are different ones, and so are dicts in another order.

    Raises
    ------
    MechanismError
        The output is unhashable, or compares by identity; the message says what to return.
        It begins with ``name``, the mechanism's, and does not quote the output.
    """
    if typed:
        return _give_type(output, name)
    kind = type(output)
    if kind in _PLAIN:
        return output  # type: ignore[no-any-return]
    if kind is tuple and _PLAIN.issuperset(map(type, output)):
        return output  # type: ignore[no-any-return]
    if kind is float:
        return output if output == output else math.nan
    if issubclass(kind, Symbolic):
        return canonical_output(output.concretise("the output"), name)
    _check_attributes(output, kind, name)
    if isinstance(output, np.generic):
        plain = output.item()
        return (
            _hashable(plain, name)
            if isinstance(plain, np.generic)
            else canonical_output(plain, name)
        )
    contained = _container(output, lambda entry: canonical_output(entry, name))
    return _hashable(output, name) if contained is None else contained


def are_same(one: Output, other: Output) -> bool:
    """Whether two canonical outputs are one; every NaN is the same object."""
    return one is other or one == other


def _check_attributes(output: Any, kind: type, name: str) -> None:
    """Refuse what holds more than it is compared by: attributes, or numbers under a mask."""
    if kind in _HOLDING or isinstance(output, Enum):
        return
    held: Any = list_attributes(output) if isinstance(output, tuple(_HOLDING)) else {}
    if is_dataclass(output) and not isinstance(output, type):
        held = list_attributes(output).keys() - {item.name for item in fields(output)}
    if held:
        raise MechanismError(
            f"{name}: an output of type {kind.__name__} holds attributes, which == does not "
            f"compare; return a plain number, text, list or dict, or a plain array (of a masked "
            f"one array.filled(0))"
        )


def forget_names(output: Output) -> Output:
    """The output without what series and frames are called.

    Where data are symbolic it is not known: a name is a constant there.
    """
    if type(output) is tuple:
        return tuple(map(forget_names, output))
    if type(output) is Typed:
        return Typed(output.kind, forget_names(output.value))
    if type(output) is Items:
        return Items(frozenset((key, forget_names(value)) for key, value in output.items))
    if type(output) is Fields:
        kept = [(title, part) for title, part in output.values if title not in NAMES]
        return Fields(output.kind, tuple((title, forget_names(part)) for title, part in kept))
    return output


def make_raised(error: BaseException) -> Raised:
    """The output "an exception of this type was raised"."""
    kind = type(error)
    if kind.__module__ == "builtins":
        return Raised(kind.__qualname__)
    # The main module of a worker process has another name.
    module = "__main__" if kind.__module__ == "__mp_main__" else kind.__module__
    return Raised(f"{module}.{kind.__qualname__}")


def _container(output: Any, entry: Any) -> Output | None:
    """A container with its entries made canonical by ``entry``; None for anything else."""
    kind = type(output)
    if isinstance(output, tuple):
        entries = map(entry, output)
        return kind._make(entries) if has_names(kind) else tuple(entries)
    if isinstance(output, (set, frozenset)):
        return frozenset(map(entry, output))
    if isinstance(output, list):
        return tuple(map(entry, output))
    if kind is Walked:
        return tuple(map(entry, output.entries))
    if isinstance(output, np.ndarray):
        return _of_plain_array(output, entry)
    if isinstance(output, dict):
        return Items(frozenset((entry(key), entry(value)) for key, value in output.items()))
    labelled = output if kind is Labelled else as_labelled(output)
    if labelled is not None:
        return Fields(labelled.kind, tuple((n, entry(one)) for n, one in labelled.fields.items()))
    if is_dataclass(output) and _compares_by_value(kind) and kind.__hash__ is None:
        return Fields(_find_name(kind), _values(output, entry))
    return None


def _of_plain_array(array: Any, entry: Any) -> Output:
    """Its entries as those of a list, and what a list does not tell; of a 0-d array its entry."""
    entries: Output = entry(array.tolist())
    if array.dtype.names:
        return Fields("ndarray", (("names", array.dtype.names), ("values", entries)))
    if 0 in array.shape[:-1]:
        return Fields("ndarray", (("shape", array.shape),))
    return entries


def _give_type(output: Any, name: str) -> Output:
    kind = type(output)
    if issubclass(kind, Symbolic):
        return _give_symbolic_type(output, name)
    _check_attributes(output, kind, name)
    words = _find_name(kind)
    if isinstance(output, np.ndarray):
        kinds = {type(cell) for cell in output.flat} if output.dtype == object else set()
        if any(issubclass(kind, Symbolic) for kind in kinds):
            dtype = np.result_type(*map(type_of_cell, output.flat))
            return Typed(f"{words} of {dtype} {output.shape}", canonical_output(output, name))
        kind_words = f"{words} of {output.dtype} {output.shape}"
        if output.dtype == object:
            return Typed(kind_words, _give_types(output.ravel().tolist(), name))
        if output.dtype.kind == "f" and (zeros := np.flatnonzero(is_negative_zero(output))).size:
            kind_words += f" with -0.0 at {zeros.tolist()}"
        return Typed(kind_words, canonical_output(output, name))
    if isinstance(output, dict):
        return Typed(words, tuple(_give_types(pair, name) for pair in output.items()))
    if isinstance(output, (set, frozenset)):
        return Typed(words, frozenset(_give_types(output, name)))
    if isinstance(output, (tuple, list)):
        return Typed(words, _give_types(output, name))
    if kind is Walked:
        return Typed(output.kind, _give_types(output.entries, name))
    if is_dataclass(output) and not isinstance(output, type) and _compares_by_value(kind):
        return Typed(words, _values(output, lambda entry: _give_type(entry, name)))
    labelled = output if kind is Labelled else as_labelled(output)
    if labelled is not None:
        typed = _container(labelled, lambda entry: _give_type(entry, name))
        return Typed(f"{labelled.kind} of {labelled.dtype}", typed)
    if kind in (Decimal, range):
        words = repr(output)
    value = canonical_output(output, name)
    negative = isinstance(value, float) and bool(is_negative_zero(value))
    return Typed(f"-{words}" if negative else words, value)


def _give_symbolic_type(output: Any, name: str) -> Output:
    """A number that stays symbolic has the type that it stands for."""
    # Of floats that are rounded the type tells -0.0 from 0.0.
    tells = is_symbolic(output) and output.is_discrete and issubclass(output.kind, float)
    settled = output.concretise("an output and its type" if tells else "the output")
    if isinstance(settled, np.ndarray) and settled.dtype.kind != "f":
        words = _find_name(np.ndarray)
        return Typed(f"{words} of {output.dtype} {output.shape}", canonical_output(settled, name))
    if isinstance(settled, NoisyValue):
        return Typed(_find_name(output.kind), settled)
    return _give_type(settled, name)


def _give_types(entries: Iterable[Any], name: str) -> tuple[Output, ...]:
    return tuple(_give_type(entry, name) for entry in entries)


def _values(output: Any, entry: Any) -> tuple[tuple[str, Output], ...]:
    compared = [item.name for item in fields(output) if item.compare]
    return tuple((item, entry(getattr(output, item))) for item in compared)


def _compares_by_value(kind: type) -> bool:
    equality: Any = kind.__eq__
    return equality is not object.__eq__


def _find_name(kind: type) -> str:
    return kind.__qualname__.rpartition(".")[2]


def _hashable(output: Any, name: str) -> Output:
    kind = type(output)
    if not _compares_by_value(kind) and not isinstance(output, _SINGLE):
        raise MechanismError(
            f"{name}: an output of type {kind.__name__} compares by identity, so no two runs give "
            f"the same; return a number, a string or a tuple of them"
        )
    try:
        hash(output)
    except Exception:
        pass
    else:
        return output  # type: ignore[no-any-return]
    raise MechanismError(
        f"{name}: an output of type {kind.__name__} is unhashable; return a number, a string, or "
        f"a list, dict or array of them"
    )


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
            self._note(canonical, _find_kind(output))
        return canonical

    def learn(self, others: OutputKinds) -> None:
        """Note what another process has seen."""
        self.differ = self.differ or others.differ
        for output, kind in others.seen.items():
            self._note(output, kind)

    def _note(self, made: Output, kind: Any) -> None:
        if kind is not None and (made in self.seen or len(self.seen) < _MOST):
            self.differ = self.differ or self.seen.setdefault(made, kind) != kind


def _find_kind(output: Any) -> Any:
    """What ``==`` does not tell of an output; NumPy's numbers count as Python's. None: unknown."""
    kind = type(output)
    if issubclass(kind, Symbolic):
        return None
    if isinstance(output, np.generic):
        output = output.item()
        kind = type(output)
    if kind in (Decimal, range):
        return repr(output)
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
    kinds = tuple(map(_find_kind, entries))
    if None in kinds:
        return None
    named = kind if isinstance(kind, str) else kind.__qualname__
    # One for all where all are alike, which is less to keep.
    return named, kinds[:1] if len(set(kinds)) == 1 else kinds, order
