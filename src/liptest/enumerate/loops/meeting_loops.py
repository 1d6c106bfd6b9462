"""Loops in which runs meet: what a pass leaves behind is a few plain values and a list it fills.

``for answer in answers: if answer + noise > bound: told.append(True); hits += 1 ..``. Two runs that
begin the same pass with the same plain values go on in the same ways, whatever they have put into
the list, which is only read in a ``return``. ``alike_pasts`` says when one of them is enough
(docs/theory/loops.md, L8). This file says which loops are of that shape, and which functions a pass
may call: those that draw from a generator that they are given, calculate, and keep nothing, as
``def lap(rng, scale): return rng.laplace(scale=scale)``.
"""

from __future__ import annotations

import ast
import builtins
from functools import lru_cache
from types import FunctionType

from liptest.enumerate.loops.fold_passes import Rewriting, is_fresh_before
from liptest.enumerate.loops.start_over import Assigned, Names, OnePass, join_assigned
from liptest.enumerate.syntax.pure_code import (
    NotPure,
    check_expression,
    is_builtin,
    without_docstring,
)
from liptest.enumerate.syntax.source import (
    OWN_NAMES,
    FunctionSource,
    names_loaded,
    names_stored,
    read_source,
)
from liptest.enumerate.syntax.tree_pieces import call_of_folds, lambda_node, name_node, tuple_node
from liptest.symbolic.noise import CONTINUOUS_DRAWS

# What never raises, whatever a list holds.
_TELLING = (builtins.tuple, builtins.list, builtins.len)
_HIDING = (
    *(ast.Try, ast.With, ast.FunctionDef, ast.ClassDef, ast.Yield, ast.YieldFrom, ast.Await),
    *(ast.Global, ast.Nonlocal),
)
_WALKING = (builtins.enumerate, builtins.zip)
#: Methods of generators that give noise, or numbers that noise is made of.
DRAWING = CONTINUOUS_DRAWS | {"geometric", "random", "integers"}


class _Pass(OnePass):
    """The pass of one loop, which may also fill lists and carry names to the next pass."""

    draws, takes_keywords = DRAWING, True

    def __init__(self, folding: Rewriting, node: ast.For | ast.While) -> None:
        super().__init__(folding.source, node, only_draws)
        #: Names that a pass may read as an earlier one has left them.
        self.carried: set[str] = set()
        self.filled = frozenset(_find_filled(node))
        stored = names_stored(*folding.source.body)
        code = folding.source.function.__code__
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self._arguments = frozenset(arguments) - stored
        known = frozenset(names_stored(node.target)) if isinstance(node, ast.For) else Names()
        end = join_assigned(self._block(node.body, known), self._continued)
        if end is not None:
            if isinstance(node, ast.While):
                self._reads(node.test, end)
            self.left = join_assigned(self.left, end)

    def _draws(self, node: ast.AST) -> bool:
        """Also the call of an argument, of which it is looked at run time what it does."""
        called = node.func if isinstance(node, ast.Call) else None
        is_argument = isinstance(called, ast.Name) and called.id in self._arguments
        return is_argument or super()._draws(node)

    def carries(self, later: Names) -> Names:
        """Names that are read in a pass, or after the loop, as an earlier pass has left them."""
        left = self.stored if self.left is None else self.left
        return frozenset(self.carried) | ((later & self.stored) - left)

    def _statement(self, node: ast.stmt, known: Names) -> Assigned:
        if isinstance(node, ast.Return):
            read = names_loaded(node.value) if node.value is not None else set()
            self.carried |= (read & self.stored) - known
            return None  # what it tells of the lists is looked at for all of the function
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self._reads(node.value, known)
            self.carried |= {node.target.id} - known
            return known | {node.target.id}
        entry = _filling(node)
        if entry is not None:
            for part in entry[1]:
                self._reads(part, known)
            return known
        return super()._statement(node, known)

    def _reads(self, node: ast.expr, known: Names) -> None:
        self.carried |= (names_loaded(node) & self.stored) - known
        if names_loaded(node) & self.filled:
            raise NotPure("what the loop fills is read in it")
        super()._reads(node, known | self.stored)


class MeetingLoop:
    """Such a loop; raises NotPure for any other."""

    def __init__(self, folding: Rewriting, node: ast.For | ast.While) -> None:
        source = folding.source
        if node.orelse or not any(statement is node for statement in source.body):
            raise NotPure("not a loop at the top of the function")
        if any(isinstance(part, _HIDING) for line in source.body for part in ast.walk(line)):
            raise NotPure("not only plain statements")
        one_pass = _Pass(folding, node)
        later = folding.names_read_later(node)
        code = source.function.__code__
        own = frozenset(code.co_varnames)
        if code.co_name in code.co_names or not one_pass.stored <= source.local_names:
            raise NotPure("names of another function, or a call of itself")
        for name in one_pass.filled:
            fresh = name in source.local_names and is_fresh_before(folding, node, name)
            if not fresh or name in one_pass.stored:
                raise NotPure("a list that is not new")
        _check_told_only(folding, one_pass.filled)
        for part in _find_walked(folding, node.iter) if isinstance(node, ast.For) else ():
            folding.check(part, frozenset())
        self._counts = isinstance(node, ast.For)
        self.carried = sorted(one_pass.carries(later))
        self.filled = sorted(one_pass.filled)
        self._as_it_is = _is_told_as_it_is(folding, one_pass.filled)
        read = names_loaded(node) & own
        #: What a pass reads, and no pass assigns, generators among them.
        self.fixed = sorted(read - one_pass.stored - one_pass.filled)

    def rewritten(self, made: ast.stmt, number: int) -> list[ast.stmt]:
        """The loop with a call before it and one at the start of each pass."""
        assert isinstance(made, (ast.For, ast.While))
        name = f"{OWN_NAMES}heads_{number}"
        fixed, filled, carried = (
            lambda_node(None, tuple_node([name_node(word) for word in names]))
            for names in (self.fixed, self.filled, self.carried)
        )
        known = ast.Constant(self._counts), ast.Constant(self._as_it_is)
        call = call_of_folds("heads", fixed, filled, carried, *known)
        begin = ast.Call(ast.Attribute(name_node(name), "begin", ast.Load()), [], [])
        first = ast.Assign([name_node(name, ast.Store())], call)
        made.body.insert(0, ast.copy_location(ast.Expr(begin), made.body[0]))
        return [ast.copy_location(first, made), made]


def _filling(node: ast.stmt) -> tuple[str, list[ast.expr]] | None:
    """The name and the parts of ``name.append(part)`` and ``name[part] = part``."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            if isinstance(target.slice, (ast.Slice, ast.Tuple)):
                return None
            return target.value.id, [target.slice, node.value]
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    owner = call.func.value
    is_append = call.func.attr == "append" and len(call.args) == 1 and not call.keywords
    return (owner.id, call.args) if is_append and isinstance(owner, ast.Name) else None


def _find_filled(node: ast.AST) -> set[str]:
    entries = (_filling(part) for part in ast.walk(node) if isinstance(part, ast.stmt))
    return {entry[0] for entry in entries if entry is not None}


def _find_walked(folding: Rewriting, node: ast.expr) -> list[ast.expr]:
    """What ``enumerate`` and ``zip`` walk, or the expression itself."""
    if not isinstance(node, ast.Call) or node.keywords:
        return [node]
    is_walked = any(is_builtin(folding.source, node.func, one) for one in _WALKING)
    return node.args if is_walked else [node]


def _check_told_only(folding: Rewriting, filled: Names) -> None:
    """Raise NotPure where a list is read elsewhere than in what a ``return`` tells."""
    allowed = 0
    for statement in folding.source.body:
        for part in ast.walk(statement):
            if isinstance(part, ast.Return) and part.value is not None:
                allowed += _count_told(folding, part.value, filled)
            elif isinstance(part, ast.stmt) and _filling(part) is not None:
                allowed += _filling(part)[0] in filled  # type: ignore[index]
    names = [
        part
        for statement in folding.source.body
        for part in ast.walk(statement)
        if isinstance(part, ast.Name) and part.id in filled
    ]
    stored = sum(isinstance(part.ctx, ast.Store) for part in names)
    if stored != len(filled) or len(names) - stored != allowed:
        raise NotPure("what the loop fills is read")


def _is_told_as_it_is(folding: Rewriting, filled: Names) -> bool:
    """Whether a function that fills one list by ``append`` answers it, and never anything else."""
    body = folding.source.body
    parts = [part for statement in body for part in ast.walk(statement)]
    stores = any(isinstance(part, ast.Assign) and _filling(part) for part in parts)
    told = [_read_list(folding, part.value) for part in parts if isinstance(part, ast.Return)]
    names = {one.id if isinstance(one, ast.Name) else "" for one in told}
    return not stores and len(filled) == 1 and isinstance(body[-1], ast.Return) and names == filled


def _read_list(folding: Rewriting, node: ast.expr | None) -> ast.expr | None:
    """What ``tuple(node)`` and ``list(node)`` are made of, or the expression itself."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return node
    is_copy = any(is_builtin(folding.source, node.func, kind) for kind in (tuple, list))
    return node.args[0] if is_copy else node


def _count_told(folding: Rewriting, node: ast.expr, filled: Names) -> int:
    """How often a value that is told names lists as they are."""
    if isinstance(node, ast.Name):
        return int(node.id in filled)
    if isinstance(node, (ast.Tuple, ast.List)):
        return sum(_count_told(folding, part, filled) for part in node.elts)
    if isinstance(node, ast.Dict):
        return sum(_count_told(folding, part, filled) for part in node.values)
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return 0
    tells = any(is_builtin(folding.source, node.func, telling) for telling in _TELLING)
    return _count_told(folding, node.args[0], filled) if tells else 0


@lru_cache(maxsize=1 << 8)
def only_draws(function: FunctionType) -> bool:
    """Whether a function consists of assignments to names and a ``return``, and does no more."""
    source = read_source(function)
    if source is None or function.__closure__:
        return False
    body = without_docstring(source.body)
    if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
        return False
    try:
        for statement in body[:-1]:
            if not isinstance(statement, ast.Assign) or not _names_only(statement.targets):
                return False
            _check(source, statement.value)
        _check(source, body[-1].value)
    except NotPure:
        return False
    return True


def _names_only(targets: list[ast.expr]) -> bool:
    return all(isinstance(target, ast.Name) for target in targets)


def _check(source: FunctionSource, node: ast.expr) -> None:
    """Raise NotPure unless an expression calculates, and draws from an argument."""
    own = frozenset(source.function.__code__.co_varnames)
    draws = [part for part in ast.walk(node) if _is_draw(part, own)]
    if not draws:
        check_expression(source, node, own)
    elif isinstance(node, ast.Call) and node is draws[0]:
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            _check(source, part)
    elif isinstance(node, (ast.BinOp, ast.UnaryOp)):
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.expr):
                _check(source, inner)
    else:
        raise NotPure("a draw in another expression")


def _is_draw(node: ast.AST, own: frozenset[str]) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    owner = function.value if isinstance(function, ast.Attribute) else None
    is_named = isinstance(owner, ast.Name) and owner.id in own
    return is_named and isinstance(function, ast.Attribute) and function.attr in DRAWING
