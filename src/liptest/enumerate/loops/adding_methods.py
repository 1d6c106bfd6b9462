"""Methods that only add to what their object holds: ``acc.add(v)`` in a loop over records.

The statements of such a method are those of a pass: what it adds is noted as if they stood in the
loop (docs/theory/loops.md, L1).
"""

from __future__ import annotations

import ast
import inspect
from types import FunctionType
from typing import Any

from liptest.enumerate.intercept.replaceable_names import names_in
from liptest.enumerate.loops.fold_passes import Assigned, Pass
from liptest.enumerate.loops.pass_forms import NotFolded, call_in
from liptest.enumerate.syntax.pure_code import (
    NotPlain,
    NotPure,
    check_in_loop,
    is_builtin,
    is_plain,
    without_docstring,
)
from liptest.enumerate.syntax.source import LOOKING, OWN_NAMES, FunctionSource, read_source
from liptest.enumerate.syntax.tree_pieces import FOLDS, is_name, name_node

# Methods that call each other so deep.
_DEEPEST = 8


# Before the name of a method of a base, which no method is called.
_NEXT = "super "


class AddingMethod:
    """The calls of one method of one object, in the passes of one loop.

    ``loop`` notes what they add, and ``folds`` is asked for what they read. Raises TypeError for a
    method that does more than to add.
    """

    def __init__(
        self,
        loop: Any,
        folds: Any,
        owner: Any,
        name: str,
        depth: int = 0,
        before: type | None = None,
    ) -> None:
        self._loop, self._folds, self._owner = loop, folds, owner
        self._depth = depth
        self._calls: dict[str, AddingMethod] = {}
        function = _find_method(owner, name) if before is None else _find_next(owner, name, before)
        source = None if depth >= _DEEPEST else _find_source(function)
        if source is None:
            raise _make_refusal(owner, name)
        try:
            one_pass = _PassOfMethod(source)
            body = one_pass.rewritten(without_docstring(source.body))
        except (NotPure, NotFolded):
            raise _make_refusal(owner, name) from None
        #: What it adds to: names as "self.total", by how they are added up after the loop.
        self.sums = one_pass.sums()
        for other in one_pass.calls:
            called, is_next = other.partition(".")[2], other in one_pass.next_calls
            kind = _find_class(function) if is_next else None
            called = called.removeprefix(_NEXT) if is_next else called
            if is_next and kind is None:
                raise _make_refusal(owner, name)
            self._calls[other] = loop.calls(owner, called, self._depth + 1, kind)
        helpers = {FOLDS: folds, one_pass.loop: self}
        self._function = source.compiled(source.with_body(body or [ast.Pass()]), helpers)
        if self._function is None:
            raise _make_refusal(owner, name)

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
        arguments = [argument.arg for argument in source.node.args.args]
        self._owner = arguments[0]
        assert isinstance(source.node, ast.FunctionDef)
        super().__init__(_Method(source), source.node, arguments[1:], 0, set())
        #: Calls of methods of the same name in a base: ``super().add(..)``.
        self.next_calls: set[str] = set()

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
            is_itself = is_name(value, self._owner)
            if value is None or is_itself or (isinstance(value, ast.Constant)):
                return ast.Return(None), None
            raise NotFolded
        following = self._next_in(node)
        if following is not None:
            name, call = following
            self.next_calls.add(name)
            return self._call(name, call, assigned), assigned
        return super()._statement(node, assigned)

    def _next_in(self, node: ast.stmt) -> tuple[str, ast.Call] | None:
        """The name of what ``super().method(..)`` calls, and the call."""
        call = node.value if isinstance(node, ast.Expr) else None
        function = call.func if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not isinstance(function, ast.Attribute):
            return None
        asked = function.value
        if not isinstance(asked, ast.Call) or asked.args or asked.keywords:
            return None
        if not is_builtin(self._folding.source, asked.func, super):
            return None
        made = ast.Attribute(name_node(self._owner), function.attr, ast.Load())
        plain = ast.copy_location(ast.Call(made, call.args, call.keywords), call)
        if call_in(ast.copy_location(ast.Expr(plain), node)) is None:
            raise NotFolded
        return f"{self._owner}.{_NEXT}{function.attr}", plain


class _Method:
    """See ``fold_passes.Rewriting``."""

    def __init__(self, source: FunctionSource) -> None:
        self.source = source
        self.own = Assigned(source.function.__code__.co_varnames)

    def check(self, node: ast.expr, own: Assigned, *, calls: bool = False) -> None:
        check_in_loop(self.source, node, self.own, own, calls=calls)

    def names_read_later(self, node: ast.AST) -> Assigned:
        return Assigned()


def _find_method(owner: Any, name: str) -> FunctionType:
    """A function of the class of an object, which is found without code of it."""
    kind = type(owner)
    function = inspect.getattr_static(kind, name, None)
    reader: Any = kind.__getattribute__
    is_its_own = inspect.getattr_static(owner, name, None) is function and not is_plain(owner)
    if type(function) is FunctionType and reader is object.__getattribute__ and is_its_own:
        return function
    raise _make_refusal(owner, name)


def _find_class(function: FunctionType) -> type | None:
    """The class that a method which calls ``super()`` is of."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    kind = cells["__class__"].cell_contents if "__class__" in cells else None
    return kind if isinstance(kind, type) else None


def _find_next(owner: Any, name: str, before: type) -> FunctionType:
    """What ``super().name`` is in a method of the class ``before``."""
    kinds = type.mro(type(owner))
    following = kinds[kinds.index(before) + 1 :] if before in kinds else []
    function = next((vars(kind)[name] for kind in following if name in vars(kind)), None)
    if type(function) is not FunctionType or is_plain(owner):
        raise _make_refusal(owner, name)
    return function


def _find_source(function: FunctionType) -> FunctionSource | None:
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


def _make_refusal(owner: Any, name: str) -> NotPlain:
    kind = type(owner).__name__
    return NotPlain(
        f".{name} of a {kind} is called in a loop over the records, and does more than to add up"
    )
