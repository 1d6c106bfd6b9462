"""The syntax tree of a function that is loaded, where its source is known to be its own."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from liptest.enumerate.syntax.source import FunctionNode, read_source

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: What rewritten functions call.
TREATMENT = "__liptest_rows__"
#: Names by which code reaches what it does not name.
REFLECTION = frozenset(
    {"locals", "vars", "globals", "eval", "exec", "dir", "compile", "__import__", "breakpoint"}
    | {"_getframe", "currentframe", "stack", "gc", "get_objects", "get_referrers", "f_locals"}
    | {"f_back", "__closure__", "__globals__", "__dict__", "settrace", "setprofile"}
)


def read_definition(function: FunctionType) -> FunctionNode | None:
    """The definition of a function; None where no source compiles to its very code."""
    source = read_source(function)
    return None if source is None else source.node


def find_source(function: Any) -> ast.FunctionDef | None:
    """The definition of a function that may be rewritten; None for another.

    A lambda is a function that returns its expression.
    """
    source = read_source(function)
    if source is None:
        return None
    own = source.node
    definition = own if isinstance(own, ast.FunctionDef) else source.with_body(source.body)
    if TREATMENT in names_anywhere(definition):
        return None
    for node in ast.walk(definition):
        if isinstance(node, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await)):
            return None
    # A copy would lose the meaning of names of a class.
    if names_anywhere(definition) & (REFLECTION | {"__class__", "super"}):
        return None
    return definition


def list_parameters(arguments: ast.arguments) -> list[str]:
    """Names of all parameters."""
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [
        parameter for parameter in (arguments.vararg, arguments.kwarg) if parameter is not None
    ]
    return [parameter.arg for parameter in every]


def names_assigned(*nodes: ast.AST) -> set[str]:
    """Names that statements assign in their own scope, imports and definitions too."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, (*_COMPREHENSIONS, ast.Lambda)):
            names.update(
                inner.target.id for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)
            )
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        if isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        if isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        names |= names_assigned(*ast.iter_child_nodes(node))
    return names


def names_read(*nodes: ast.AST) -> set[str]:
    """Names that are read from outside of the comprehensions and functions that bind them."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                names.add(node.id)
        elif isinstance(node, _COMPREHENSIONS):
            inner = names_read(*ast.iter_child_nodes(node))
            names |= inner - names_assigned(*(generator.target for generator in node.generators))
            names |= names_read(node.generators[0].iter)
        elif isinstance(node, _SCOPES):
            inside = node.body if isinstance(node.body, list) else [node.body]
            bound = set(list_parameters(node.args)) | names_assigned(*inside)
            names |= names_read(*inside) - bound
            names |= names_read(node.args)
            if not isinstance(node, ast.Lambda):
                names |= names_read(*node.decorator_list)
        else:
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                names.add(node.target.id)
            names |= names_read(*ast.iter_child_nodes(node))
    return names


def names_anywhere(*nodes: ast.AST) -> set[str]:
    """All names and attributes that occur."""
    names = set()
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                names.add(part.id)
            elif isinstance(part, ast.Attribute):
                names.add(part.attr)
            elif isinstance(part, ast.MatchClass):
                names.update(part.kwd_attrs)
    return names
