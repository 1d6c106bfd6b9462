"""``if value in counts: counts[value] += 1``, with a test of keys that the loop does not change.

Adding to an entry of a dict makes no new key. So in a loop that does nothing else to ``counts`` its
keys are those of before, and a record's test does not depend on other records.
"""

from __future__ import annotations

import ast
from dis import get_instructions
from types import CodeType, FunctionType
from typing import Any

from liptest.enumerate.intercept.replaceable_names import names_in
from liptest.enumerate.loops.reduction_loops import with_reductions_as_loops
from liptest.enumerate.syntax.called_methods import read_program
from liptest.enumerate.syntax.source import copy_tree, stored_by_name
from liptest.enumerate.syntax.tree_pieces import KEYS_OF, name_node

_HARMLESS = frozenset({"int", "float", "str", "bool", "len", "abs", "min", "max", "round"})
_MAKING = (
    *(ast.Delete, ast.With, ast.Await, ast.Yield, ast.YieldFrom, ast.FunctionDef, ast.Lambda),
    *(ast.ClassDef, ast.Import, ast.ImportFrom, ast.AnnAssign, ast.NamedExpr),
)
#: What reads names later than where it is written.
LATER = (ast.GeneratorExp, ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def with_plain_loops(function: Any) -> Any:
    """The function with loops for calls of ``reduce``, and such tests; itself where it has none.

    To be called within the analysis that runs it: what names stand for is looked up here.
    """
    function = with_reductions_as_loops(function)
    if type(function) is not FunctionType or not _may_test(function.__code__):
        return function
    source = read_program(function)
    if source is None:
        return function
    body = list(map(copy_tree, source.body))
    with_keys = _WithKeys(names_in(function.__code__), body)
    node = with_keys.visit(source.with_body(body))
    if not with_keys.changes:
        return function
    return source.compiled_again(node, {KEYS_OF: _keys_of}) or function


def _may_test(code: CodeType) -> bool:
    return any(step.opname == "CONTAINS_OP" for step in get_instructions(code))


def _keys_of(counts: Any) -> Any:
    """A dict of the same keys; anything else as it is, which is asked as it is written."""
    return dict.fromkeys(counts) if type(counts) is dict else counts


class _WithKeys(ast.NodeTransformer):
    def __init__(self, taken: frozenset[str], body: list[ast.stmt]) -> None:
        self._taken = taken
        self._parts = [part for statement in body for part in ast.walk(statement)]
        self.changes = 0

    def _leave(self, node: ast.AST) -> ast.AST:
        return node

    # What comes behind such a loop may run before it.
    visit_While = visit_AsyncFor = visit_Lambda = visit_ClassDef = _leave

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node if node in self._parts else self.generic_visit(node)

    def _is_met_elsewhere(self, name: str, loop: ast.For) -> bool:
        """Whether something of before the loop could change it meanwhile, or code inside others."""
        place = loop.lineno, loop.col_offset
        later = (part for part in self._parts if isinstance(part, LATER))
        hidden = {part.id for one in later for part in ast.walk(one) if isinstance(part, ast.Name)}
        names = (part for part in self._parts if isinstance(part, ast.Name) and part.id == name)
        loads = (part for part in names if isinstance(part.ctx, ast.Load))
        return name in hidden or any((part.lineno, part.col_offset) < place for part in loads)

    def visit_For(self, node: ast.For) -> Any:
        before: list[ast.stmt] = []
        for name in sorted(_tested_dicts(node)):
            if self._is_met_elsewhere(name, node):
                continue
            self.changes += 1
            keys = f"keys_of_{name}"
            while keys in self._taken:
                keys += "_"
            for test in _tests_of(node, name):
                test.comparators = [ast.copy_location(name_node(keys), test.comparators[0])]
            call = ast.Call(name_node(KEYS_OF), [name_node(name)], [])
            before.append(ast.Assign([name_node(keys, ast.Store())], call))
        return [*(ast.copy_location(one, node) for one in before), node]


def _tested_dicts(loop: ast.AST) -> set[str]:
    """Names of what is tested and added to in a loop, and nothing else."""
    assert isinstance(loop, ast.For)
    body = [part for statement in loop.body for part in ast.walk(statement)]
    names = {name for part in body if (name := _tested_name(part))}
    if not names or loop.orelse or not all(map(_keeps_keys, body)):
        return set()
    return {
        name
        for name in names.difference(stored_by_name(loop))
        if _is_only_added_to(loop, body, name)
    }


def _tested_name(part: ast.AST) -> str:
    """The name in ``.. in name``."""
    if not isinstance(part, ast.Compare) or len(part.ops) > 1:
        return ""
    keys = part.comparators[0]
    is_test = isinstance(part.ops[0], (ast.In, ast.NotIn)) and isinstance(keys, ast.Name)
    return keys.id if is_test and isinstance(keys, ast.Name) else ""


def _tests_of(loop: ast.For, name: str) -> list[ast.Compare]:
    parts = (part for statement in loop.body for part in ast.walk(statement))
    return [part for part in parts if isinstance(part, ast.Compare) and _tested_name(part) == name]


def _keeps_keys(part: ast.AST) -> bool:
    """Whether a part of a loop makes no new entry anywhere: nothing is called that could."""
    if isinstance(part, ast.Call):
        return isinstance(part.func, ast.Name) and part.func.id in _HARMLESS
    if isinstance(part, ast.AugAssign):
        return not isinstance(part.op, ast.BitOr)  # of two dicts
    if isinstance(part, ast.Assign):
        return all(isinstance(target, ast.Name) for target in part.targets)
    others = (
        ast.Delete,
        ast.With,
        ast.Await,
        ast.Yield,
        ast.YieldFrom,
        ast.FunctionDef,
        ast.Lambda,
    )
    return not isinstance(part, (*others, ast.ClassDef, ast.Import, ast.ImportFrom, ast.AnnAssign))


def _is_only_added_to(loop: ast.For, body: list[ast.AST], name: str) -> bool:
    uses = sum(isinstance(part, ast.Name) and part.id == name for part in ast.walk(loop))
    added = [part.target for part in body if isinstance(part, ast.AugAssign)]
    targets = [one.value for one in added if isinstance(one, ast.Subscript)]
    known = sum(isinstance(one, ast.Name) and one.id == name for one in targets)
    return known > 0 and uses == known + len(_tests_of(loop, name))
