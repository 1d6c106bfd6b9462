"""The statements of a function with the places where it can be cut in two.

Between two statements at the top of a function all that goes on is in its names. A ``return`` at
the end is taken apart first: ``return json.dumps({"count": x + noise})`` becomes two statements,
of which the second only writes down what the first has made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from liptest.enumerate.syntax.liveness import names_read_from
from liptest.enumerate.syntax.pure_code import NotPure, find_constant
from liptest.enumerate.syntax.source import OWN_NAMES, FunctionSource, copy_tree, names_loaded
from liptest.enumerate.syntax.tree_pieces import name_node

_LEFT = (ast.Name, ast.Constant)


class FunctionParts:
    """A function as statements; a cut at k is before statement k.

    ``statements`` are nobody's to change.
    """

    def __init__(self, source: FunctionSource) -> None:
        self.source = source
        self.statements = list(_take_apart(source))
        code = source.function.__code__
        own = {*code.co_varnames, *code.co_cellvars}
        self._names = [
            sorted(
                name
                for name in names_read_from(self.statements[place:])
                if name in own or name.startswith(OWN_NAMES)
            )
            for place in range(len(self.statements))
        ]

    def names_at(self, place: int) -> list[str]:
        """Names of the function's own that the rest of it reads."""
        return self._names[place]

    def with_calls(self, calls: dict[int, list[ast.stmt]]) -> list[ast.stmt]:
        """All statements, with others before some of them."""
        statements: list[ast.stmt] = []
        for place, statement in enumerate(self.statements):
            statements += [*calls.get(place, ()), copy_tree(statement)]
        return statements

    def rest(self, place: int) -> FunctionType | None:
        """A function of the names that the rest reads, which does the rest."""
        names = [ast.arg(name) for name in self.names_at(place)]
        arguments = ast.arguments(
            posonlyargs=[], args=names, kwonlyargs=[], kw_defaults=[], defaults=[]
        )
        made = self.source.with_body(
            [copy_tree(statement) for statement in self.statements[place:]]
        )
        made.args = arguments
        return self.source.compiled(made, {})


def _take_apart(source: FunctionSource) -> Iterator[ast.stmt]:
    *first, last = source.body
    yield from first
    if not isinstance(last, ast.Return) or last.value is None:
        yield last
        return
    if any(isinstance(node, ast.NamedExpr) for node in ast.walk(last)):
        yield last
        return
    parts = _Parts(source)
    value = parts.without_parts(copy_tree(last.value), is_alone=True)
    for name, part in parts.found:
        made = ast.copy_location(ast.Assign([name_node(name, ast.Store())], part), part)
        yield ast.fix_missing_locations(made)
    yield ast.fix_missing_locations(ast.copy_location(ast.Return(value), last))


class _Parts:
    """Takes what is calculated out of what only writes it down, in the order of evaluation."""

    def __init__(self, source: FunctionSource) -> None:
        self._source = source
        self.found: list[tuple[str, ast.expr]] = []

    def without_parts(self, node: ast.expr, *, is_alone: bool = False) -> ast.expr:
        """The expression with names in the places of its parts.

        ``is_alone`` is whether nothing else of the return is calculated before or after it.
        """
        if isinstance(node, _LEFT):
            return node
        if isinstance(node, ast.Dict):
            # A key is evaluated before its value.
            pairs = [
                (key and self.without_parts(key), self.without_parts(value))
                for key, value in zip(node.keys, node.values, strict=True)
            ]
            node.keys, node.values = [key for key, _ in pairs], [value for _, value in pairs]
        elif isinstance(node, (ast.List, ast.Tuple)):
            node.elts = [self.without_parts(entry) for entry in node.elts]
        elif isinstance(node, ast.JoinedStr):
            several = [one for one in node.values if isinstance(one, ast.FormattedValue)]
            is_alone = is_alone and len(several) == 1
            node.values = [self.without_parts(entry, is_alone=is_alone) for entry in node.values]
        elif isinstance(node, ast.FormattedValue):
            node.value = self.without_parts(node.value, is_alone=is_alone)
        elif isinstance(node, ast.Call) and self._only_writes(node):
            inner = [*node.args, *(keyword.value for keyword in node.keywords)]
            is_alone = is_alone and sum(not isinstance(one, _LEFT) for one in inner) == 1
            node.args = [self.without_parts(one, is_alone=is_alone) for one in node.args]
            for keyword in node.keywords:
                keyword.value = self.without_parts(keyword.value, is_alone=is_alone)
        elif is_alone and (link := _first_link(node)) is not None:
            # What methods are called of comes first, and nothing else is calculated.
            _set_source(link, self.without_parts(_source_of(link), is_alone=True))
        else:
            first = _first_generator(node)
            if first is not None and self._draws(first.iter):
                # What is looped over comes first, also of what gives its entries one by one.
                first.iter = self.without_parts(first.iter)
            name = f"{OWN_NAMES}part_{len(self.found)}"
            self.found.append((name, node))
            return ast.copy_location(name_node(name), node)
        return node

    def _draws(self, node: ast.expr) -> bool:
        """Whether the generator, the second argument of the function, is named in it."""
        code = self._source.function.__code__
        generator = code.co_varnames[1:2] if code.co_argcount > 1 else ()
        return not names_loaded(node).isdisjoint(generator)

    def _only_writes(self, node: ast.Call) -> bool:
        """Whether it is a call by name, of more than names."""
        inner = [*node.args, *(keyword.value for keyword in node.keywords)]
        if any(isinstance(argument, (ast.Starred, ast.GeneratorExp)) for argument in inner):
            return False
        if any(keyword.arg is None for keyword in node.keywords) or all(
            isinstance(argument, _LEFT) for argument in inner
        ):
            return False
        try:
            function = find_constant(self._source, node.func)
        except NotPure:
            return False
        return callable(function) and not isinstance(function, ModuleType)


def _first_generator(node: ast.expr) -> ast.comprehension | None:
    """What a comprehension loops over first, or one that is all that a function is given."""
    if isinstance(node, ast.Call) and _is_left(node.func) and not node.keywords:
        node = node.args[0] if len(node.args) == 1 else node
    if not isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return None
    return None if node.generators[0].is_async else node.generators[0]


def _source_of(node: ast.expr) -> ast.expr:
    """What a method is called of, or an entry or attribute taken of."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.value  # type: ignore[attr-defined,no-any-return]


def _set_source(node: ast.expr, source: ast.expr) -> None:
    inner: Any = node.func if isinstance(node, ast.Call) else node
    inner.value = source


def _is_link(node: ast.expr) -> bool:
    """Whether it only takes a method, an entry or an attribute, with constants and names."""
    if isinstance(node, ast.Call):
        inner = [*node.args, *(keyword.value for keyword in node.keywords)]
        is_named = all(keyword.arg is not None for keyword in node.keywords)
        is_plain = all(map(_is_left, inner))
        return isinstance(node.func, ast.Attribute) and is_named and is_plain
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, _LEFT)
    return isinstance(node, ast.Attribute)


def _is_left(node: ast.expr) -> bool:
    """Whether it calculates nothing: a name, a constant or its method, a function."""
    is_method = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Constant)
    return is_method or isinstance(node, (*_LEFT, ast.Lambda))


def _first_link(node: ast.expr) -> ast.expr | None:
    """The link of a chain of methods, ``x(..).round().to_json()``, whose source is calculated."""
    links = []
    while _is_link(node):
        links.append(node)
        node = _source_of(node)
    if isinstance(node, ast.Name):
        # Of a name the first call is what is calculated.
        calls = [place for place, link in enumerate(links) if isinstance(link, ast.Call)]
        links = links[: calls[-1]] if calls else []
    return links[-1] if links else None


def cut_call(function: str, place: int, names: list[str]) -> list[ast.stmt]:
    """``found = function(place, lambda: {names})``, and a return of what is found."""
    cut = f"{OWN_NAMES}cut"
    keys: list[Any] = [ast.Constant(name) for name in names]
    values = ast.Dict(keys, [name_node(name) for name in names])
    arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    call = ast.Call(name_node(function), [ast.Constant(place), ast.Lambda(arguments, values)], [])
    is_found = ast.Compare(name_node(cut), [ast.IsNot()], [ast.Constant(None)])
    return [
        ast.Assign([name_node(cut, ast.Store())], call),
        ast.If(is_found, [ast.Return(name_node(cut))], []),
    ]
