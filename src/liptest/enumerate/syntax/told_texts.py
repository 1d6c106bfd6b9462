"""A function that answers a text, as one that answers the words of the text.

What it tells is a function of what the function as it is written tells, so a violation of the one
is a violation of the other (docs/theory/whole.md, W6). Only what makes texts is written anew:
f-strings, ``str``, ``format``, ``%``, ``join`` and ``json.dumps`` in the function itself.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from types import FunctionType
from typing import Any

from liptest.enumerate.syntax.source import OWN_NAMES, FunctionSource, copy_tree, read_source
from liptest.values.texts import (
    dump_json,
    format_parts,
    format_percent,
    format_text,
    join_texts,
    tell_words,
    write,
)

_HELPERS: dict[str, Callable[..., Any]] = {
    f"{OWN_NAMES}{made.__name__}": made
    for made in (dump_json, format_parts, format_percent, format_text, join_texts, write)
}
#: What a verdict says of it.
BY_WORDS = "texts are compared, and shown, as their words and numbers"
_TELL = f"{OWN_NAMES}{tell_words.__name__}"


def tell_texts_by_words(function: Any) -> FunctionType | None:
    """Such a function; None where the source is not known, or makes no texts."""
    if type(function) is not FunctionType:
        return None
    source = read_source(function)
    if source is None:
        return None
    rewriting = _Texts(source)
    body = [rewriting.visit(copy_tree(statement)) for statement in source.body]
    if not rewriting.has_texts:
        return None
    body = [_Returns().visit(statement) for statement in body]
    return source.compiled_again(source.with_body(body), {**_HELPERS, _TELL: tell_words})


class _Texts(ast.NodeTransformer):
    """Writes what makes texts anew."""

    def __init__(self, source: FunctionSource) -> None:
        self._source = source
        self.has_texts = False

    def _leave(self, node: ast.AST) -> ast.AST:
        return node

    # Of an exception only the type is told.
    visit_Raise = visit_Assert = _leave

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        parts: list[ast.expr] = []
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                conversion = "" if value.conversion < 0 else chr(value.conversion)
                spec = value.format_spec or ast.Constant("")
                own = [self.visit(value.value), ast.Constant(conversion), spec]
                parts.append(ast.Tuple(own, ast.Load()))
            else:
                parts.append(value)
        return self._call("format_parts", node, parts)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        is_text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        if not is_text or not isinstance(node.op, ast.Mod):
            return node
        return self._call("format_percent", node, [node.left, node.right])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Name(id=name) if self._is(name, str):
                return self._call("write", node, node.args, node.keywords)
            case ast.Name(id=name) if self._is(name, json.dumps):
                return self._call("dump_json", node, node.args, node.keywords)
            case ast.Attribute(value=ast.Name(id=name), attr="dumps") if self._is(name, json):
                return self._call("dump_json", node, node.args, node.keywords)
            case ast.Attribute(value=text, attr="format"):
                return self._call("format_text", node, [text, *node.args], node.keywords)
            case ast.Attribute(value=ast.Constant() as text, attr="join"):
                return self._call("join_texts", node, [text, *node.args], node.keywords)
        return node

    def _is(self, name: str, value: Any) -> bool:
        try:
            return self._source.value_of(name) is value
        except KeyError:
            return False

    def _call(
        self,
        name: str,
        node: ast.expr,
        arguments: list[ast.expr],
        keywords: list[ast.keyword] | None = None,
    ) -> ast.Call:
        self.has_texts = True
        helper = ast.Name(f"{OWN_NAMES}{name}", ast.Load())
        return ast.copy_location(ast.Call(helper, arguments, keywords or []), node)


class _Returns(ast.NodeTransformer):
    """Lets the function itself answer words."""

    def visit_Return(self, node: ast.Return) -> ast.Return:
        if node.value is not None:
            node.value = ast.copy_location(
                ast.Call(ast.Name(_TELL, ast.Load()), [node.value], []), node.value
            )
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node
