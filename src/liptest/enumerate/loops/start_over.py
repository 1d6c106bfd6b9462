"""Which loops start over: what a pass does says nothing of the passes before it.

In a pass every name is assigned before it is read, or is not assigned in the loop at all; and what
is read after the loop was assigned in the pass that leaves it. The pass only calculates and draws.
So passes are independent and have one law, and the loop has that of a pass, given that it leaves
(docs/theory/loops.md, L5). The test of the loop is the end of a pass.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

import numpy as np

from liptest.enumerate.syntax.liveness import find_assigned_names, free_names
from liptest.enumerate.syntax.outside_names import OutsideNames
from liptest.enumerate.syntax.pure_code import (
    NotPure,
    check_expression,
    find_constant,
    find_original,
    is_docstring,
    is_draw,
)
from liptest.enumerate.syntax.source import (
    OWN_NAMES,
    FunctionSource,
    copy_tree,
)
from liptest.enumerate.syntax.tree_pieces import call_of_folds, lambda_node, name_node, tuple_node
from liptest.symbolic.noise import CONTINUOUS_DRAWS

_DRAWING = frozenset({"random", "integers", "binomial", "geometric", "choice"})
_DRAWING_NOISE = _DRAWING | CONTINUOUS_DRAWS
_COMPOSITE = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context),
)
_MAKING_ANEW = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare)
Names = frozenset[str]
#: Names that are assigned for certain; None where a place is not reached.
Assigned = Names | None
_NONE: Names = frozenset()


class OnePass:
    """The pass of one loop, which only calculates and draws; raises NotPure for any other."""

    #: Methods of generators that it may call, and whether by the names of their parameters.
    draws: Names = _DRAWING
    takes_keywords = False
    #: Names of generators of the function around it, which are asked for at run time.
    generators: Names = _NONE

    def __init__(
        self,
        source: FunctionSource,
        node: ast.For | ast.While,
        is_sampler: Callable[[Any], bool],
    ) -> None:
        self._source = source
        self._is_sampler = is_sampler
        self._own = frozenset(source.function.__code__.co_varnames)
        self.stored = find_assigned_names(node)
        self._fresh = _fresh_names(node)
        #: Assigned for certain wherever the loop is left without leaving the function.
        self.left: Assigned = None
        self._continued: Assigned = None
        self.in_place = False

    def _block(self, body: list[ast.stmt], known: Assigned) -> Assigned:
        for statement in body:
            if known is None:
                raise NotPure("a place that is not reached")
            known = self._statement(statement, known)
        return known

    def _statement(self, node: ast.stmt, known: Names) -> Assigned:
        if isinstance(node, ast.Pass) or is_docstring(node):
            return known
        if isinstance(node, ast.Break):
            self.left = join_assigned(self.left, known)
            return None
        if isinstance(node, ast.Continue):
            self._continued = join_assigned(self._continued, known)
            return None
        if isinstance(node, ast.Return):
            if node.value is not None:
                self._reads(node.value, known)
            return None
        if isinstance(node, ast.Assign):
            self._reads(node.value, known)
            return known.union(*(_find_names(target) for target in node.targets))
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            self._reads(node.value, known)
            return known | _find_names(node.target)
        if isinstance(node, ast.AugAssign):
            self.in_place = self.in_place or not _find_names(node.target) <= self._fresh
            self._reads(node.value, known)
            if not _find_names(node.target) <= known:
                raise NotPure("a name is added to from pass to pass")
            return known
        if isinstance(node, ast.If):
            self._reads(node.test, known)
            return join_assigned(self._block(node.body, known), self._block(node.orelse, known))
        if isinstance(node, ast.While) and not node.orelse:
            return self._inner(node, known)
        raise NotPure(type(node).__name__)

    def _inner(self, node: ast.While, known: Names) -> Assigned:
        """A loop in the pass: it may be left before anything is assigned in it."""
        before = self.left, self._continued
        self.left = self._continued = None
        self._reads(node.test, known)
        self._block(node.body, known)
        inner, (self.left, self._continued) = self.left, before
        is_endless = isinstance(node.test, ast.Constant) and node.test.value is True
        return inner if is_endless else known

    def _reads(self, node: ast.expr, known: Names) -> None:
        if (free_names(node) & self.stored) - known:
            raise NotPure("a name is read that an earlier pass may have assigned")
        if any(isinstance(part, (ast.NamedExpr, ast.Lambda, ast.List)) for part in ast.walk(node)):
            raise NotPure("an assignment or a list in an expression")
        self._check(node)

    def _check(self, node: ast.AST) -> None:
        if not any(map(self._draws, ast.walk(node))):
            check_expression(self._source, node, self._own)
        elif isinstance(node, ast.Call):
            named = [keyword.value for keyword in node.keywords]
            if any(isinstance(argument, ast.Starred) for argument in node.args) or any(
                keyword.arg is None for keyword in node.keywords
            ):
                raise NotPure("arguments in a list")
            if named and not self.takes_keywords and self._is_draw(node):
                raise NotPure("a draw with keywords")
            if not self._draws(node):
                check_expression(self._source, _without_values(node), self._own)
            for argument in (*node.args, *named):
                if not self._is_generator(argument):
                    self._check(argument)
        elif isinstance(node, _COMPOSITE):
            for part in ast.iter_child_nodes(node):
                self._check(part)
        else:
            raise NotPure(type(node).__name__)

    def _draws(self, node: ast.AST) -> bool:
        """Whether it is a draw, or the call of a function that only draws."""
        if not isinstance(node, ast.Call):
            return False
        if self._is_draw(node):
            return True
        try:
            callee = find_original(find_constant(self._source, node.func))
        except NotPure:
            return False
        return type(callee) is FunctionType and self._is_sampler(callee)

    def _is_draw(self, node: ast.Call) -> bool:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in self.draws:
            owner = function.value
            if isinstance(owner, ast.Name) and owner.id in self.generators:
                return True
        return is_draw(self._source, node, self.draws)

    def _is_generator(self, node: ast.expr) -> bool:
        """Whether it may be a generator: a name that is handed on as it is."""
        names = (self._own | self.generators) - self.stored
        return isinstance(node, ast.Name) and node.id in names


class _PassThatStartsOver(OnePass):
    """A pass that reads nothing that an earlier one has assigned."""

    def __init__(
        self,
        source: FunctionSource,
        node: ast.While,
        is_sampler: Callable[[Any], bool],
        *,
        draws_noise: bool,
    ) -> None:
        super().__init__(source, node, is_sampler)
        self.generators = _generators_around(source)
        if draws_noise:
            self.draws, self.takes_keywords = _DRAWING_NOISE, True
        end = join_assigned(self._block(node.body, _NONE), self._continued)
        if end is not None:
            self._reads(node.test, end)
            if not (isinstance(node.test, ast.Constant) and node.test.value is True):
                self.left = join_assigned(self.left, end)


def _without_values(node: ast.Call) -> ast.Call:
    """The call with constants for what it is given: where it would write to counts."""
    none = ast.Constant(None)
    named = [ast.keyword(keyword.arg, none) for keyword in node.keywords]
    return ast.Call(node.func, [none] * len(node.args), named)


def _generators_around(source: FunctionSource) -> Names:
    """Names of the function around a function that stand for generators."""
    function = source.function
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return frozenset(name for name, cell in cells if _holds_generator(cell))


def _holds_generator(cell: CellType) -> bool:
    try:
        return isinstance(cell.cell_contents, np.random.Generator)
    except ValueError:
        return False  # nothing, as yet


def passes_that_start_over(
    source: FunctionSource,
    node: ast.While,
    read_later: Names,
    number: int,
    is_sampler: Callable[[Any], bool],
    helpers: dict[str, Any],
    *,
    draws_noise: bool = False,
) -> tuple[ast.stmt, ast.stmt, ast.stmt]:
    """What comes before a loop, at the beginning of each pass, and after the loop.

    Raises NotPure where it does not start over. ``read_later`` are the names that may be read
    after it, as it left them. ``helpers`` are names of the rewritten function, to which what
    the loop reads of outside is added. ``draws_noise``: whether its draws may be noise, too.
    """
    code = source.function.__code__
    if node.orelse or any(isinstance(part, ast.Try) for part in ast.walk(source.node)):
        raise NotPure("else or try")
    one_pass = _PassThatStartsOver(source, node, is_sampler, draws_noise=draws_noise)
    if not one_pass.stored <= frozenset(code.co_varnames) - frozenset(code.co_cellvars):
        raise NotPure("a name of another function")
    if one_pass.left is not None and (read_later & one_pass.stored) - one_pass.left:
        raise NotPure("a name is read later that an earlier pass may have assigned")
    outside = free_names(node) - one_pass.stored
    outside &= one_pass.generators.union(code.co_varnames)
    name = f"{OWN_NAMES}passes_over_{number}"
    values = lambda_node(None, tuple_node([name_node(free_name) for free_name in sorted(outside)]))
    read = f"{OWN_NAMES}read_by_{number}"
    helpers[read] = OutsideNames(source, [node])
    call = call_of_folds("passes", values, ast.Constant(one_pass.in_place), name_node(read))
    first = ast.Assign([name_node(name, ast.Store())], call)
    begin, end = (
        ast.Expr(ast.Call(ast.Attribute(name_node(name), method, ast.Load()), [], []))
        for method in ("begin", "end")
    )
    place = ast.copy_location
    return place(first, node), place(begin, node.body[0]), place(end, node)


def with_passes(loop: ast.While, begin: ast.stmt, end: ast.stmt) -> ast.While:
    """The loop, which says where its passes begin, and where a ``return`` leaves it."""
    returned = _Returned(end)
    body = [returned.visit(statement) for statement in loop.body]
    loop.body = [begin]
    for made in body:
        loop.body += made if isinstance(made, list) else [made]
    return loop


class _Returned(ast.NodeTransformer):
    """Says that a loop is left once it is known what it returns."""

    def __init__(self, end: ast.stmt) -> None:
        self._end = end

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        """``told = ..; passes.end(); return told``."""
        told = f"{OWN_NAMES}told"
        value = node.value or ast.Constant(None)
        first = ast.copy_location(ast.Assign([name_node(told, ast.Store())], value), node)
        return [first, copy_tree(self._end), ast.copy_location(ast.Return(name_node(told)), node)]


def begin_before(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Statements where ``v = ..; while bad(v): v = ..``, with the same twice, has one more pass.

    The first pass is then what comes before the loop.
    """
    rewritten = list(statements)
    for place in range(len(rewritten) - 2):
        before, first, loop = rewritten[place : place + 3]
        if not isinstance(loop, ast.While) or not _is_of_passes(first):
            continue
        begin, *body = loop.body
        if len(body) == 1 and ast.dump(body[0]) == ast.dump(before):
            rewritten[place : place + 2] = [first, copy_tree(begin), before]
            return [*rewritten[: place + 3], *begin_before(rewritten[place + 3 :])]
    return rewritten


def _is_of_passes(node: ast.stmt) -> bool:
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    return isinstance(target, ast.Name) and target.id.startswith(f"{OWN_NAMES}passes_over_")


def _fresh_names(loop: ast.For | ast.While) -> Names:
    """Names that are only given what an expression makes anew: never a list that others hold."""
    nodes = list(ast.walk(loop))
    made = [
        target
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, _MAKING_ANEW)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    added_to = [node.target for node in nodes if isinstance(node, ast.AugAssign)]
    kept = {id(target) for target in (*made, *added_to)}
    others = {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in kept
    }
    return frozenset(target.id for target in made) - others


def _find_names(target: ast.expr) -> Names:
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    if not all(isinstance(part, ast.Name) for part in parts):
        raise NotPure("an assignment to more than names")
    return frozenset(part.id for part in parts if isinstance(part, ast.Name))


def join_assigned(one: Assigned, other: Assigned) -> Assigned:
    """Names that are assigned for certain where two ways meet."""
    if one is None or other is None:
        return other if one is None else one
    return one & other
