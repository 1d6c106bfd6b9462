"""What expressions of polars say, as nodes: lists and dicts of polars' own JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from liptest.values.polars.polars_parts import PlainEntry

# Whole numbers up to here are floats.
_LARGEST = 1 << 53


def name_expressions(expressions: Any, names: list[str], refuse: Any) -> dict[str, Any]:
    """By the name of what it gives each expression, as nodes."""
    nodes: dict[str, Any] = {}
    for expression in expressions:
        if isinstance(expression, str):
            pairs = {expression: {"Column": expression}}
        elif not _is_expression(expression):
            return refuse(f"what is not an expression ({type(expression).__name__})")  # type: ignore[no-any-return]
        else:
            pairs = _nodes(expression, names, refuse)
        if nodes.keys() & pairs.keys():
            return refuse("two columns of one name", ".alias('another name')")  # type: ignore[no-any-return]
        nodes |= pairs
    return nodes


def _is_expression(value: Any) -> bool:
    kind = type(value)
    return kind.__name__ in ("Expr", "Then", "ChainedThen", "Selector") and (
        kind.__module__.partition(".")[0] == "polars"
    )


def _nodes(expression: Any, names: list[str], refuse: Any) -> dict[str, Any]:
    node = read_node(expression)
    chosen = _find_selected(node, names)
    if chosen is None:
        return {expression.meta.output_name(): node}
    if not chosen or _has_alias(node):
        return refuse("a selector")  # type: ignore[no-any-return]
    return {name: _put(node, {"Column": name}) for name in chosen}


def read_node(expression: Any) -> Any:
    """What polars says of an expression, as lists and dicts."""
    return json.loads(expression.meta.serialize(format="json"))


def _selector_in(node: Any) -> Any:
    """The only selector of a chain of functions of one column; None where there is none."""
    if isinstance(node, dict):
        if "Selector" in node:
            return node["Selector"]
        selectors = [_selector_in(child) for child in node.values()]
    elif isinstance(node, list):
        selectors = [_selector_in(child) for child in node]
    else:
        return None
    there = [selector for selector in selectors if selector is not None]
    return there[0] if len(there) == 1 else (False if there else None)


def _find_selected(node: Any, names: list[str]) -> list[str] | None:
    selector = _selector_in(node)
    if selector is None:
        return None
    if selector == "Wildcard":
        return names
    if isinstance(selector, dict) and selector.keys() == {"ByName"}:
        said = selector["ByName"]
        if said.get("strict") is True and set(said["names"]) <= set(names):
            return list(said["names"])
    return []


def _has_alias(node: Any) -> bool:
    if isinstance(node, dict):
        return "Alias" in node or any(map(_has_alias, node.values()))
    return isinstance(node, list) and any(map(_has_alias, node))


def _put(node: Any, column: Any) -> Any:
    if isinstance(node, dict):
        if "Selector" in node:
            return column
        return {key: _put(child, column) for key, child in node.items()}
    return [_put(child, column) for child in node] if isinstance(node, list) else node


def read_literal(refuse: Callable[..., Any], said: Any) -> PlainEntry:
    """A constant of Python, of a type that a column may have."""
    value = _plain_literal(said)
    if value is None and _holds_no_number(said):
        refuse("a constant that is NaN or infinite", "write a finite one")
    if value is None:
        refuse("a constant of another type than int, float, str or bool")
    return PlainEntry(value)


def is_plain_number(value: Any) -> bool:
    """Whether it is a finite number that a column of polars takes as it is."""
    if type(value) is int:
        return abs(value) < _LARGEST
    return type(value) is float and math.isfinite(value)


def _holds_no_number(said: Any) -> bool:
    """Whether it is a float that JSON does not have."""
    while isinstance(said, dict) and said:
        kind, inner = list(said.items())[-1]
        if kind in ("Float", "Float64", "Float32"):
            return inner is None
        said = inner
    return False


def _plain_literal(said: Any) -> Any:
    if not isinstance(said, dict) or len(said) != 1:
        return None
    [(kind, value)] = said.items()
    if kind in ("Scalar", "Dyn"):
        if isinstance(value, dict) and value.keys() == {"dtype", "value"}:
            value = value["value"]
        return _plain_literal(value)
    types = {"Int": int, "Int64": int, "Int32": int, "Float": float, "Float64": float}
    types |= {"String": str, "Boolean": bool}
    if kind not in types:
        return None
    if types[kind] is float and type(value) is int:
        return float(value)
    return value if type(value) is types[kind] else None
