"""Methods of objects that a function makes, written out where it calls them.

``server = Server(1.0); server.add_all(data)``: the loop over the records stands in the method. Its
statements are written in the place of the call, with names of their own, so that what the loop
adds to ``self.counts`` is seen as what it adds to ``server.counts`` (docs/theory/records.md, P2d).
What is written out here has to be what is called: that is checked when it runs (``OwnMethod``).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import getattr_static
from types import FunctionType
from typing import Any, NamedTuple

from liptest.enumerate.syntax.function_source import (
    REFLECTION,
    list_parameters,
    names_anywhere,
    names_assigned,
)
from liptest.enumerate.syntax.source import (
    LOOKING,
    OWN_NAMES,
    names_stored,
    read_source,
    stored_by_name,
)
from liptest.enumerate.syntax.tree_pieces import name_node

# Methods that call each other so deep.
_DEEPEST = 8
_PLAIN = (int, float, bool, str, type(None))
# Statements that a method may be made of.
_STATEMENTS = (
    *(ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.While, ast.Pass),
    *(ast.Break, ast.Continue),
)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.NamedExpr)


class OwnMethod(NamedTuple):
    """A method that was written out: asked of the object in ``owner``, it must be ``function``."""

    owner: str
    kind: type
    name: str
    function: FunctionType


@dataclass
class WrittenOut:
    """A function with the methods that it calls written out.

    ``names`` are names that stand for names of other modules: with their namespace there.
    """

    definition: ast.FunctionDef
    methods: list[OwnMethod] = field(default_factory=list)
    names: dict[str, tuple[dict[str, Any], str]] = field(default_factory=dict)


def write_out_methods(
    function: FunctionType,
    definition: ast.FunctionDef,
    kind_of: Callable[[ast.expr], type | None],
) -> WrittenOut:
    """The same function, in which calls of methods of its own objects are written out.

    ``kind_of`` gives the class of the program that an expression names, or None.
    """
    made = copy.copy(definition)
    written = WrittenOut(made)
    writer = _Writer(written, function, _made_objects(definition.body, kind_of))
    made.body = writer.body(definition.body, 0)
    return written


def _made_objects(
    body: list[ast.stmt], kind_of: Callable[[ast.expr], type | None]
) -> dict[str, type]:
    """Names that are assigned once, a new object of a class of the program."""
    made: dict[str, type] = {}
    for node in body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        kind, target = kind_of(node.value.func), node.targets[0]
        if kind is not None and len(node.targets) == 1 and isinstance(target, ast.Name):
            made[target.id] = kind
    every = stored_by_name(*body)
    return {name: kind for name, kind in made.items() if every.count(name) == 1}


class _NotWritten(Exception):
    """The call stays as it is."""


class _Writer:
    def __init__(
        self, written: WrittenOut, function: FunctionType, owners: dict[str, type]
    ) -> None:
        self._written, self._owners = written, owners
        self._count = 0
        code = function.__code__
        self._space = function.__globals__
        self._scope = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}

    def body(self, statements: list[ast.stmt], depth: int) -> list[ast.stmt]:
        return [part for node in statements for part in self._statement(node, depth)]

    def _statement(self, node: ast.stmt, depth: int) -> list[ast.stmt]:
        call = node.value if isinstance(node, (ast.Expr, ast.Assign, ast.Return)) else None
        if isinstance(call, ast.Call) and depth < _DEEPEST:
            try:
                body, value = self._called(call)
            except _NotWritten:
                return [node]
            return [*self.body(body, depth + 1), *_with_value(node, value)]
        if isinstance(node, (ast.For, ast.While, ast.If)):
            made = copy.copy(node)
            made.body = self.body(node.body, depth)
            made.orelse = self.body(node.orelse, depth)
            return [made]
        return [node]

    def _called(self, call: ast.Call) -> tuple[list[ast.stmt], ast.expr]:
        """The statements of the method that is called, and what it returns. Raises _NotWritten."""
        asked = call.func
        if not isinstance(asked, ast.Attribute) or not isinstance(asked.value, ast.Name):
            raise _NotWritten
        owner = asked.value.id
        function = _find_method(self._owners.get(owner), asked.attr)
        definition = _read_plain(function)
        number = self._count + 1
        renamed = _Renamed(definition, owner, number, self._kept_names(function))
        values = _values_of(definition, function, call)
        stored = names_assigned(*definition.body)
        before: list[ast.stmt] = []
        for name, value in values.items():
            if isinstance(value, (ast.Name, ast.Constant)) and name not in stored:
                renamed.values[name] = value
            else:
                target = name_node(renamed.own(name), ast.Store())
                before.append(ast.Assign([target], value))
        statements, value = _taken_apart(definition.body)
        body = [renamed.visit(copy.deepcopy(node)) for node in statements]
        returned: ast.expr = renamed.visit(copy.deepcopy(value))
        names = {new: (function.__globals__, name) for name, new in renamed.outside.items()}
        self._count = number
        self._written.names |= names
        kind = self._owners[owner]
        self._written.methods.append(OwnMethod(owner, kind, asked.attr, function))
        for statement in (*before, *body):
            for part in ast.walk(statement):
                ast.copy_location(part, call)
            ast.fix_missing_locations(ast.copy_location(statement, call))
        ast.fix_missing_locations(ast.copy_location(returned, call))
        return [*before, *body], returned

    def _kept_names(self, function: FunctionType) -> set[str]:
        """Names of a method's module, or of Python, that mean the same where it is called."""
        names = set(function.__code__.co_names)
        space = function.__globals__
        if space is not self._space:
            names = {name for name in names if name not in space and name not in self._space}
        return {name for name in names if name not in self._scope}


def _with_value(node: ast.stmt, value: ast.expr) -> list[ast.stmt]:
    """What a statement does with what its call returns."""
    if isinstance(node, ast.Expr):
        return []
    made = copy.copy(node)
    made.value = value  # type: ignore[attr-defined]
    return [made]


class _Renamed(ast.NodeTransformer):
    """The names of a method as names of the function that it is written into."""

    def __init__(
        self, definition: ast.FunctionDef, owner: str, number: int, kept: set[str]
    ) -> None:
        self._number, self._kept = number, kept
        parameters = list_parameters(definition.args)
        #: What stands for parameters; for others see ``own``.
        self.values: dict[str, ast.expr] = {parameters[0]: name_node(owner)}
        self._own = set(parameters[1:]) | {
            part.id
            for node in definition.body
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
        }
        #: Names of the method's module, and what stands for them.
        self.outside: dict[str, str] = {}

    def own(self, name: str) -> str:
        """What stands for a name of the method's own."""
        return f"{OWN_NAMES}in_{self._number}_{name}"

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id in self.values:
            return copy.deepcopy(self.values[node.id])
        if node.id in self._own:
            return ast.Name(self.own(node.id), node.ctx)
        if node.id in self._kept:
            return node
        new = self.outside.setdefault(node.id, f"{OWN_NAMES}of_{self._number}_{node.id}")
        return ast.Name(new, node.ctx)


def _find_method(kind: type | None, name: str) -> FunctionType:
    if kind is None:
        raise _NotWritten
    method = getattr_static(kind, name, None)
    if type(method) is not FunctionType or method.__code__.co_freevars:
        raise _NotWritten
    return method


def _read_plain(function: FunctionType) -> ast.FunctionDef:
    """The definition of a method that names nothing but its own and its module's."""
    source = read_source(function)
    definition = None if source is None else source.node
    if not isinstance(definition, ast.FunctionDef):
        raise _NotWritten
    arguments = definition.args
    others = arguments.vararg, arguments.kwarg, *arguments.kwonlyargs, *arguments.posonlyargs
    if any(others) or not arguments.args:
        raise _NotWritten
    body, value = _taken_apart(definition.body)
    parts = [part for node in (*body, value) for part in ast.walk(node)]
    statements = [part for part in parts if isinstance(part, ast.stmt)]
    is_plain = all(isinstance(part, _STATEMENTS) for part in statements)
    if not is_plain or any(isinstance(part, _SCOPES) for part in parts):
        raise _NotWritten
    if names_anywhere(*body, value) & (REFLECTION | LOOKING | {"super", "__class__"}):
        raise _NotWritten
    # A name of a comprehension's that is one of the module's elsewhere would be taken for its own.
    stored = names_stored(*statements)
    if arguments.args[0].arg in stored or not stored.isdisjoint(function.__code__.co_names):
        raise _NotWritten
    return definition


def _taken_apart(body: list[ast.stmt]) -> tuple[list[ast.stmt], ast.expr]:
    """Statements without a text before them and a return after them, and what that returns."""
    statements, value = list(body), None
    first, last = statements[0], statements[-1]
    if isinstance(last, ast.Return):
        statements, value = statements[:-1], last.value
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        statements = statements[1:]
    return statements, value or ast.Constant(None)


def _values_of(
    definition: ast.FunctionDef, function: FunctionType, call: ast.Call
) -> dict[str, ast.expr]:
    """What the parameters of a method are given, its object apart."""
    names = [argument.arg for argument in definition.args.args[1:]]
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        raise _NotWritten
    if len(call.args) > len(names):
        raise _NotWritten
    values = dict(zip(names, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg not in names or keyword.arg in values:
            raise _NotWritten
        values[keyword.arg] = keyword.value
    defaults = function.__defaults__ or ()
    given = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)) if names else {}
    for name in names:
        if name not in values:
            if name not in given or type(given[name]) not in _PLAIN:
                raise _NotWritten
            values[name] = ast.Constant(given[name])
    return values
