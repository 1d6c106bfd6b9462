"""Series and frames of pandas as outputs: keys and entries in their order, and their names.

All that tells two of them apart is in it: names, declared categories and ``attrs`` too, since a
program may write data there.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

_PLAIN_TYPES = ("string", "str", "boolean", "category")
_NUMBER_TYPES = ("Int", "UInt", "Float")
#: Fields that a series with symbolic data does not know.
NAMES = frozenset({"name", "index_names", "column_names", "categories"})


class UnknownName:
    """What pandas calls a series or its keys, where that is not known; it is a constant."""

    __slots__ = ()


UNKNOWN = UnknownName()


class Labelled:
    """A series or a frame as an output: its type's name and its fields by name.

    ``dtype`` is what tells two with equal entries apart where types count.
    """

    def __init__(self, kind: str, fields: dict[str, Any], dtype: Any) -> None:
        self.kind = kind
        self.fields = fields
        self.dtype = dtype


def is_series(value: Any) -> bool:
    """Whether it is a plain series of pandas."""
    return _is_of_pandas(value, "Series")


def is_plain_frame(value: Any) -> bool:
    """Whether it is a plain frame of pandas."""
    return _is_of_pandas(value, "DataFrame")


def _is_of_pandas(value: Any, name: str) -> bool:
    kind = type(value)
    if kind.__name__ != name:
        return False
    pandas = sys.modules.get("pandas")
    known = None if pandas is None else vars(pandas).get(name)
    # While a program is analysed a subclass stands for the class.
    return known is not None and kind in (known, vars(known).get("original"))


def as_dict(series: Any) -> dict[Any, Any]:
    """The entries of a plain series by key; its keys and entries as Python's own."""
    return dict(zip(series.index.tolist(), series.tolist(), strict=True))


def as_labelled(output: Any) -> Labelled | None:
    """A plain series or frame as an output; None for others, and for types that are not plain."""
    if is_series(output):
        entries = output.tolist()
        axes = {"index": output.index.tolist()}
    elif is_plain_frame(output):
        entries = [column.tolist() for _, column in output.items()]
        axes = {"index": output.index.tolist(), "columns": output.columns.tolist()}
    else:
        return None
    dtypes = [part.dtype for part in _list_parts(output)]
    if not all(map(_is_plain_type, dtypes)):
        return None
    named = axes | {"values": entries} | describe(output)
    return Labelled(type(output).__name__, named, tuple(map(str, dtypes)))


def describe(output: Any) -> dict[str, Any]:
    """What a plain series or frame says beside its keys and entries, where it says something."""
    is_frame = is_plain_frame(output)
    declared = [_list_categories(part.dtype) for part in _list_parts(output)]
    said = {
        "name": None if is_frame else output.name,
        "index_names": _name_levels(output.index.names),
        "column_names": _name_levels(output.columns.names) if is_frame else None,
        "categories": declared if any(declared) else None,
        "attrs": dict(output.attrs) or None,
    }
    return {title: part for title, part in said.items() if part is not None}


def join_descriptions(left: Any, right: Any) -> Any:
    """Of what is made of two series: names that differ go; None where one is unknown."""
    if left is None or right is None:
        return None
    return {title: part for title, part in left.items() if right.get(title, part) == part}


def say_names(name: Any = None, index: Any = (), columns: Any = ()) -> dict[str, Any]:
    """What ``describe`` says of a series or a frame with these names."""
    said = {"name": name, "index_names": _name_levels(index), "column_names": _name_levels(columns)}
    return {title: part for title, part in said.items() if part is not None}


def _name_levels(names: Any) -> Any:
    levels = tuple(names)
    return levels if any(name is not None for name in levels) else None


def known_names(names: dict[str, Any] | None) -> dict[str, Any]:
    """What is said of a series or a frame, without what is not known."""
    return {
        title: part
        for title, part in (names or {}).items()
        if part is not UNKNOWN and not (type(part) is tuple and UNKNOWN in part)
    }


def is_named(value: Any) -> bool:
    """Whether all is known that is said of what stands for a series or a frame."""
    names = value.names_
    return names is not None and len(known_names(names)) == len(names)


def as_index(keys: Any, names: dict[str, Any] | None, title: str = "index_names") -> Any:
    """Plain keys as an index of pandas, with its names; not known ones for None."""
    import pandas

    listed = list(keys)
    index = pandas.Index(listed, dtype=None if listed else object)
    several = [UNKNOWN] * index.nlevels if names is None else names.get(title)
    return index if several is None else index.set_names(list(several))


def _list_parts(output: Any) -> list[Any]:
    if is_series(output):
        return [output.index, output]
    return [output.index, output.columns, *(column for _, column in output.items())]


def _is_plain_type(dtype: Any) -> bool:
    if isinstance(dtype, np.dtype):
        return True
    name = str(dtype)
    return name in _PLAIN_TYPES or name.startswith(_NUMBER_TYPES)


def _list_categories(dtype: Any) -> Any:
    """The declared categories, with whether they have an order; None for other types."""
    if str(dtype) != "category":
        return None
    return dtype.ordered, dtype.categories.tolist()
