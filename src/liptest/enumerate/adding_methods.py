"""Methods that only add to what their object holds: ``acc.add(v)`` in a loop over records.

The statements of such a method are those of a pass: what it adds is noted as if they stood in the
loop (docs/theory/loops.md, L1).
"""

from __future__ import annotations

import ast
import inspect
from types import FunctionType
from typing import Any

from liptest.enumerate.fold_passes import Assigned, Pass
from liptest.enumerate.pass_forms import NotFolded
from liptest.enumerate.pure_code import NotPure, check_in_loop, is_docstring, is_plain
from liptest.enumerate.replaceable_names import names_in
from liptest.enumerate.source import LOOKING, OWN_NAMES, FunctionSource, read_source
from liptest.enumerate.tree_pieces import FOLDS

# Methods that call each other so deep.
_DEEPEST = 8


class AddingMethod:
    """The calls of one method of one object, in the passes of one loop.

    ``loop`` notes what they add, and ``folds`` is asked for what they read. Raises TypeError for a
    method that does more than to add.
    """

    def __init__(self, loop: Any, folds: Any, owner: Any, name: str, depth: int = 0) -> None:
        self._loop, self._folds, self._owner = loop, folds, owner
        self._depth = depth
        self._calls: dict[str, AddingMethod] = {}
        function = _method_of(owner, name)
        source = None if depth >= _DEEPEST else _source_of(function)
        if source is None:
            raise _refused(owner, name)
        try:
            one_pass = _PassOfMethod(source)
            body = one_pass.rewritten(_without_docstring(source.body))
        except (NotPure, NotFolded):
            raise _refused(owner, name) from None
        #: What it adds to: names as "self.total", by how they are added up after the loop.
        self.sums = one_pass.sums()
        for other in one_pass.calls:
            self._calls[other] = loop.calls(owner, other.partition(".")[2], self._depth + 1)
        helpers = {FOLDS: folds, one_pass.loop: self}
        self._function = source.compiled(source.with_body(body or [ast.Pass()]), helpers)
        if self._function is None:
            raise _refused(owner, name)

    def __call__(self, *arguments: Any, **named: Any) -> None:
        self._function(self._owner, *arguments, **named)  # type: ignore[misc]

    def _name_of(self, name: str) -> str:
        return name_of_held(self._owner, name.partition(".")[2])

    def call(self, name: str, *arguments: Any, **named: Any) -> None:
        """A call of another method of the same object."""
        self._calls[name](*arguments, **named)

    def __getattr__(self, method: str) -> Any:
        note = getattr(self._loop, method)

        def noted(name: str, *parts: Any) -> None:
            note(self._name_of(name), *parts)

        return noted

    def leave(self, how: str) -> None:
        """See ``Loop``."""
        self._loop.leave(how)


def name_of_held(owner: Any, attribute: str) -> str:
    """The name of what methods of an object add to, whatever names the object has."""
    return f"{id(owner)}.{attribute}"


class _PassOfMethod(Pass):
    """The body of a method; its object is its first argument."""

    def __init__(self, source: FunctionSource) -> None:
        arguments = [one.arg for one in source.node.args.args]
        self._owner = arguments[0]
        assert isinstance(source.node, ast.FunctionDef)
        super().__init__(_Method(source), source.node, arguments[1:], 0, set())

    def sums(self) -> list[tuple[str, str]]:
        """The attributes that are added to, each with the way."""
        return [(method, name.partition(".")[2]) for method, name in self.accumulators()]

    def rewritten(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made = super().rewritten(body)
        names = {name for _, name in self.accumulators()} | self.calls
        if {name.rpartition(".")[0] for name in names} <= {self._owner}:
            return made
        raise NotFolded

    def _statement(self, node: ast.stmt, assigned: Assigned) -> tuple[ast.stmt, Assigned | None]:
        if isinstance(node, ast.Return):
            value = node.value
            is_itself = isinstance(value, ast.Name) and value.id == self._owner
            if value is None or is_itself or (isinstance(value, ast.Constant)):
                return ast.Return(None), None
            raise NotFolded
        return super()._statement(node, assigned)


class _Method:
    """See ``fold_passes.Rewriting``."""

    def __init__(self, source: FunctionSource) -> None:
        self.source = source
        self.own = Assigned(source.function.__code__.co_varnames)

    def check(self, node: ast.expr, own: Assigned) -> None:
        check_in_loop(self.source, node, self.own, own)

    def names_read_later(self, node: ast.AST) -> Assigned:
        return Assigned()


def _method_of(owner: Any, name: str) -> FunctionType:
    """A function of the class of an object, which is found without code of it."""
    kind = type(owner)
    function = inspect.getattr_static(kind, name, None)
    reader: Any = kind.__getattribute__
    is_its_own = inspect.getattr_static(owner, name, None) is function and not is_plain(owner)
    if type(function) is FunctionType and reader is object.__getattribute__ and is_its_own:
        return function
    raise _refused(owner, name)


def _source_of(function: FunctionType) -> FunctionSource | None:
    code = function.__code__
    defaults = function.__defaults__, function.__kwdefaults__
    source = read_source(function)
    if source is None or not names_in(code).isdisjoint(LOOKING) or not is_plain(defaults):
        return None
    if code.co_cellvars or any(name.startswith(OWN_NAMES) for name in code.co_varnames):
        return None
    arguments = source.node.args
    others = arguments.vararg, arguments.kwarg, *arguments.kwonlyargs, *arguments.posonlyargs
    is_def = isinstance(source.node, ast.FunctionDef)
    return source if is_def and arguments.args and not any(others) else None


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    return body[1:] if is_docstring(body[0]) else body


def _refused(owner: Any, name: str) -> TypeError:
    kind = type(owner).__name__
    return TypeError(f".{name} of a {kind} is called in a loop over the records")
