"""Loops over the records that fill an array, or a list, place by place, as loops that append.

Of ``out = np.zeros(len(data), int)`` and ``for i, value in enumerate(data): out[i] = E`` is made
``for i, value in enumerate(data): entry = 0; entry = E; told.append(np.int64(entry))``, and then
``out = np.asarray(told)``: the array is read and written at ``i`` alone, and has one place for each
value that the loop goes over. ``data`` is the function's own, an array of a whole number for each
record, and never assigned (docs/theory/records.md, P2c).
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import NamedTuple

import numpy as np

from liptest.enumerate.loops.own_places import EntriesAt, written_arrays
from liptest.enumerate.syntax.function_source import names_assigned, names_read
from liptest.enumerate.syntax.source import OWN_NAMES, copy_tree
from liptest.enumerate.syntax.tree_pieces import is_name, only_argument

_TOLD, _ENTRY = f"{OWN_NAMES}filled", f"{OWN_NAMES}place"
#: What makes of a number what arrays of a type do, by how the type is named.
_CASTS = {"int": "int64", "int64": "int64", "float": "float64", "float64": "float64"}
_CASTS |= {"bool": "bool_", "bool_": "bool_"}
_BUILTINS = frozenset({"len", "list", "range", "enumerate", "int", "float", "bool"})


class _Maker(NamedTuple):
    """How an array begins: what is in its places, None for anything, and what is written there."""

    first: ast.expr | None
    cast: str
    is_array: bool
    #: What a loop over it goes over, where it is a copy of the data.
    copied: ast.expr | None = None


def fill_lists(body: list[ast.stmt], function: FunctionType, data: set[str]) -> list[ast.stmt]:
    """The statements, with such loops as loops that append; they are not changed."""
    code, space = function.__code__, function.__globals__
    own = {*code.co_varnames, *code.co_freevars, *code.co_cellvars}
    if len(data) != 1 or _BUILTINS & {*space, *own}:
        return body
    names_own = {name for node in body for name in names_assigned(node)}
    if {_TOLD, _ENTRY} & names_own:
        return body
    numpy = next((n for n in ("np", "numpy") if space.get(n) is np and n not in own), "")
    made = list(body)
    for loop in body:
        if isinstance(loop, ast.For):
            # What functions inside see may be read before the loop has ended.
            arrays = written_arrays(loop)
            if len(arrays) == 1 and not arrays & {*code.co_cellvars, *code.co_freevars}:
                made = _with_filled(made, loop, numpy, *data)
    return made


def _with_filled(body: list[ast.stmt], loop: ast.For, numpy: str, data: str) -> list[ast.stmt]:
    place, index, walked = body.index(loop), _index_of(loop), _walked(loop)
    [array] = written_arrays(loop)
    if index is None or walked is None or loop.orelse:
        return body
    found = [k for k in range(place) if array in names_assigned(body[k])]
    if (
        _ends_early(loop.body)
        or array == data
        or len(found) != 1
        or array in names_read(*body[found[0] : place])
    ):
        return body
    maker = _read_maker(body[found[0]], numpy, data)
    # The loop goes over the data, or over the copy of them that it fills.
    goes_over = maker is not None and walked == (data if maker.copied is None else walked)
    if maker is None or not goes_over or walked not in (data, array):
        return body
    if (maker.is_array and not numpy) or index in names_assigned(*loop.body):
        return body
    entries = EntriesAt(array, index, _ENTRY)
    inner = [entries.visit(copy_tree(statement)) for statement in loop.body]
    if entries.is_left:
        return body
    return [
        *body[: found[0]],
        *body[found[0] + 1 : place],
        *_statements(loop, inner, array, index, walked, maker, numpy),
        *body[place + 1 :],
    ]


def _ends_early(body: list[ast.stmt]) -> bool:
    """Whether a pass may end before its last statement, or the loop before its last pass."""
    for statement in body:
        if isinstance(statement, (ast.Break, ast.Continue)):
            return True
        if isinstance(statement, (ast.With, ast.Try, ast.Match)):
            return True  # nobody follows these
        if isinstance(statement, ast.If) and _ends_early([*statement.body, *statement.orelse]):
            return True
        if isinstance(statement, (ast.For, ast.While)) and _ends_early(statement.orelse):
            return True
    return False


def _statements(
    loop: ast.For,
    inner: list[ast.stmt],
    array: str,
    index: str,
    walked: str,
    maker: _Maker,
    numpy: str,
) -> list[ast.stmt]:
    told = ast.Name(_TOLD, ast.Load())
    entry: ast.expr = ast.Name(_ENTRY, ast.Load())
    first = maker.first
    if maker.copied is not None:
        is_pair = isinstance(loop.target, ast.Tuple)
        value = loop.target.elts[1] if is_pair else None  # type: ignore[attr-defined]
        first = (
            ast.Name(value.id, ast.Load())
            if isinstance(value, ast.Name)
            else ast.Subscript(copy_tree(maker.copied), ast.Name(index, ast.Load()), ast.Load())
        )
    begin: list[ast.stmt] = []
    if first is not None:
        begin = [ast.Assign([ast.Name(_ENTRY, ast.Store())], first)]
    if maker.cast:
        kind = ast.Attribute(ast.Name(numpy, ast.Load()), maker.cast, ast.Load())
        entry = ast.Call(kind, [entry], [])
    tell = ast.Expr(ast.Call(ast.Attribute(told, "append", ast.Load()), [entry], []))
    goes_over = copy_tree(loop.iter)
    if walked == array and maker.copied is not None and isinstance(goes_over, ast.Call):
        goes_over.args = [copy_tree(maker.copied)]
    made = ast.For(copy_tree(loop.target), goes_over, [*begin, *inner, tell], [])
    kept: ast.expr = told
    if maker.is_array:
        module = ast.Name(numpy, ast.Load())
        kept = ast.Call(ast.Attribute(module, "asarray", ast.Load()), [told], [])
    statements: list[ast.stmt] = [
        ast.Assign([ast.Name(_TOLD, ast.Store())], ast.List([], ast.Load())),
        made,
        ast.Assign([ast.Name(array, ast.Store())], kept),
    ]
    return [
        ast.fix_missing_locations(ast.copy_location(statement, loop)) for statement in statements
    ]


def _index_of(loop: ast.For) -> str | None:
    target = loop.target
    first = target.elts[0] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else target
    return first.id if isinstance(first, ast.Name) else None


def _walked(loop: ast.For) -> str | None:
    """The name of ``enumerate(name)``, ``range(len(name))`` or ``range(name.shape[0])``."""
    given = only_argument(loop.iter, "enumerate")
    if given is not None and isinstance(loop.target, ast.Tuple):
        return given.id if isinstance(given, ast.Name) else None
    given = only_argument(loop.iter, "range")
    if given is None or not isinstance(loop.target, ast.Name):
        return None
    return measured(given)


def measured(node: ast.expr) -> str | None:
    """The name in ``len(name)``, ``name.shape[0]`` and ``name.size``."""
    given = only_argument(node, "len")
    if isinstance(node, ast.Subscript) and ast.unparse(node.slice) == "0":
        node, word = node.value, "shape"
    else:
        word = "size"
    if given is None and isinstance(node, ast.Attribute) and node.attr == word:
        given = node.value
    return given.id if isinstance(given, ast.Name) else None


def _shape_of(node: ast.expr) -> str | None:
    """The name in ``name.shape``, of an array with one axis."""
    is_shape = isinstance(node, ast.Attribute) and node.attr == "shape"
    value = node.value if is_shape else None  # type: ignore[attr-defined]
    return value.id if isinstance(value, ast.Name) else None


def _read_maker(statement: ast.stmt, numpy: str, data: str) -> _Maker | None:
    """What an array begins with, if it has a place for each of the data."""
    is_own = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    if not is_own or not isinstance(statement.targets[0], ast.Name):  # type: ignore[attr-defined]
        return None
    value = statement.value  # type: ignore[attr-defined]
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        return _of_repeated(value, data)
    if not isinstance(value, ast.Call):
        return None
    given = only_argument(value, "list")
    if is_name(given, data):
        return _Maker(None, "", False, value)
    asked = value.func
    if not isinstance(asked, ast.Attribute) or not isinstance(asked.value, ast.Name):
        return None
    if asked.value.id == data and not value.args and not value.keywords:
        own = ast.Name(data, ast.Load())
        makers = {
            "tolist": _Maker(None, "", False, value),
            "copy": _Maker(None, "int64", True, own),
        }
        return makers.get(asked.attr)
    return _of_numpy(value, asked, data) if asked.value.id == numpy else None


def _of_repeated(value: ast.BinOp, data: str) -> _Maker | None:
    """``[0] * len(data)``."""
    entries = value.left.elts if isinstance(value.left, ast.List) else []
    is_long = measured(value.right) == data
    if not is_long or len(entries) != 1 or not isinstance(entries[0], ast.Constant):
        return None
    return _Maker(entries[0], "", False)


def _of_numpy(value: ast.Call, asked: ast.Attribute, data: str) -> _Maker | None:
    """``np.zeros(len(data), int)``, ``np.empty_like(data)`` and the like."""
    name, given = asked.attr, list(value.args)
    options = {option.arg: option.value for option in value.keywords}
    types = [*given[1:], *([options.pop("dtype")] if "dtype" in options else [])]
    if not given or options or len(types) > 1:
        return None
    if name in ("zeros_like", "empty_like"):
        is_long = is_name(given[0], data)
        cast: str | None = "int64"
    else:
        is_long = data in (measured(given[0]), _shape_of(given[0]))
        cast = "float64"
    if types:
        named = types[0]
        cast = _CASTS.get(ast.unparse(named).rpartition(".")[2])
    if not is_long or cast is None or name not in ("zeros", "empty", "zeros_like", "empty_like"):
        return None
    return _Maker(ast.Constant(0) if "zeros" in name else None, cast, True)
