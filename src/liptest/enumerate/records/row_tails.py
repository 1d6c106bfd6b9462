"""Functions that calculate further with private answers of their records, and with nothing else.

``noisy = ..; return noisy.mean()``: the rows of ``noisy`` are the output of a function of its own,
the first statements of this one; what follows reads the rows, constants and fresh random numbers
only, and so is post-processing, whatever it calls (docs/theory/records.md, P2).
"""

from __future__ import annotations

import ast
import builtins
import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from liptest.enumerate.intercept.replaceable_names import is_drawing, is_foreign, names_in
from liptest.enumerate.loops.adding_loops import (
    NotedChanges,
    makes_object,
    with_lists_of_parts,
    with_split_tuples,
)
from liptest.enumerate.loops.plain_loops import with_lists
from liptest.enumerate.loops.written_out import WrittenOut, write_out_methods
from liptest.enumerate.records.changed_attributes import Outside, makes_plain_objects
from liptest.enumerate.records.number_tails import sees_only_numbers
from liptest.enumerate.records.record_code import DRAWS, NotAlike, analyse_loop
from liptest.enumerate.records.record_values import look_up_name
from liptest.enumerate.syntax.function_source import (
    REFLECTION,
    find_source,
    list_parameters,
    names_anywhere,
    names_assigned,
    names_read,
)
from liptest.enumerate.syntax.tree_pieces import is_name, name_called, root_name
from liptest.enumerate.syntax.untold_states import STATES, may_tell_states

#: The name of the rows in what is calculated later.
ROWS = "__rows_of_records__"
# What tells of the memory behind a view.
_MEMORY = frozenset(
    {"base", "ctypes", "__array_interface__", "__array_struct__", "stride_tricks", "as_strided"}
    | {"strides", "flags", "_mgr", "_cacher", "_item_cache"}
)
_FORBIDDEN = REFLECTION | STATES | _MEMORY | {"state"}
_TYPES = frozenset(
    {"type", "isinstance", "__class__", "hasattr", "getattr", "issubclass", "id", "repr"}
)
_BUILTINS = frozenset(
    {"len", "int", "float", "bool", "list", "tuple", "zip", "range", "abs", "round", "min", "max"}
    | {"enumerate"}
)
_NUMBERS = (
    *(ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Tuple, ast.Name, ast.Attribute),
    *(ast.Call, ast.Subscript, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context),
)
#: Types of parameters that nothing can be put into.
_PLAIN = (int, float, bool, str, type(None))
# Functions called by functions, this deep.
_DEEPEST = 6


class _Around:
    """What is known of a function: its own names, and which parameters are plain numbers."""

    def __init__(
        self,
        function: FunctionType,
        definition: ast.FunctionDef,
        within: tuple[Any, ...] = (),
        names: dict[str, tuple[dict[str, Any], str]] | None = None,
    ) -> None:
        self.within = (*within, function)
        self.space = function.__globals__
        if names:
            held_there = {new: look_up_name(*found[::-1]) for new, found in names.items()}
            self.space = {**self.space, **held_there}
        self.body = definition.body
        code = function.__code__
        self.scope = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        self.local = set(code.co_varnames)
        self.parameters = list_parameters(definition.args)
        self.data = self.parameters[0] if self.parameters else ""
        self.own = set(self.parameters) | names_assigned(*definition.body)
        positional = [
            parameter.arg for parameter in (*definition.args.posonlyargs, *definition.args.args)
        ]
        given = function.__defaults__ or ()
        defaults = dict(zip(positional[len(positional) - len(given) :], given, strict=True))
        defaults |= function.__kwdefaults__ or {}
        plain = {name for name, value in defaults.items() if type(value) in _PLAIN}
        # The second one is the generator, whose further numbers are fresh.
        generator = set(positional[1:2]) - defaults.keys()
        self.readable = plain | generator
        held = {name for name in code.co_names if is_drawing(self.space.get(name))}
        self.generators = generator | held

    def named(self, *nodes: ast.AST) -> set[str]:
        """Names of the function's own that are read, the length of its data apart."""
        lengths = [_Lengths(self.data).visit(copy.deepcopy(node)) for node in nodes]
        return names_read(*lengths) & self.own

    def constants(self, before: list[ast.stmt]) -> set[str]:
        """Names that hold numbers that come neither from data nor from random numbers."""
        numbers: set[str] = {ROWS}
        for node in before:
            targets = names_assigned(node)
            is_plain = isinstance(node, ast.Assign) and self.is_number(node.value, numbers)
            numbers = numbers | targets if is_plain else numbers - targets
        # Assigned once, so that no order of statements matters.
        every = [name for node in self.body for name in names_assigned(node)]
        return {name for name in numbers if every.count(name) <= 1} | self.readable

    def is_number(self, value: ast.expr, known: set[str]) -> bool:
        """Whether an expression calculates with constants only."""
        plain = _Lengths(self.data).visit(copy.deepcopy(value))
        numbers = all(isinstance(part, _NUMBERS) for part in ast.walk(plain))
        calls = [part for part in ast.walk(plain) if isinstance(part, ast.Call)]
        only_math = all(self.module_of(call.func) is math for call in calls)
        return numbers and only_math and self.named(plain) <= known | self.readable

    def is_numpy(self, name: str) -> bool:
        """Whether a name of outside stands for NumPy."""
        return name not in self.scope and look_up_name(name, self.space) is np

    def value_of(self, name: str) -> Any:
        """What a name of outside stands for. Raises KeyError for others."""
        if name in self.space:
            return self.space[name]
        return vars(builtins)[name]

    def kind_of(self, node: ast.expr) -> type | None:
        """The class of the program that an expression names; None for what is not plain."""
        value: Any = None
        if isinstance(node, ast.Name) and node.id not in self.scope:
            value = look_up_name(node.id, self.space)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = self.module_of(node)
            value = vars(module).get(node.attr) if isinstance(module, ModuleType) else None
        return value if isinstance(value, type) and makes_plain_objects(value) else None

    def module_of(self, node: ast.expr) -> Any:
        """What a function is an attribute of, as ``math`` of ``math.exp``."""
        root = root_name(node)
        return None if not root or root in self.scope else look_up_name(root, self.space)


@dataclass(frozen=True)
class RowsBody:
    """Statements that give rows, from which alone the rest of a function calculates.

    ``is_of_numbers``: of what the rows add up to values alone count, not types. ``are_notes``: the
    rows are what passes add, as ``adding_loops`` notes it. ``outside`` is what they name beyond the
    names of the function. ``later`` is the rest, with statements that give its constants before it,
    and ``told`` the name of the rows there; ``changes`` is what notes mean, where that is known.
    """

    statements: list[ast.stmt]
    is_of_numbers: bool
    are_notes: bool
    outside: Outside
    later: tuple[ast.stmt, ...] = ()
    told: str = ROWS
    changes: NotedChanges | None = None


def bodies_of_rows(function: FunctionType, definition: ast.FunctionDef) -> Iterator[RowsBody]:
    """Bodies that give rows, from which alone the rest of the function calculates.

    The largest first; and then those of the function with methods of its objects written out.
    """
    definition = with_split_tuples(with_lists(definition, function))
    yield from _bodies_of_rows(function, WrittenOut(definition))
    written = write_out_methods(function, definition, _Around(function, definition).kind_of)
    if written.methods:
        yield from _bodies_of_rows(function, written)


def _bodies_of_rows(function: FunctionType, written: WrittenOut) -> Iterator[RowsBody]:
    naming = _Around(function, written.definition, names=written.names)
    added = with_lists_of_parts(written.definition, naming)
    definition = added.definition
    outside = Outside(written.names, tuple(written.methods), added.attributes)
    around = _Around(function, definition, names=written.names)
    body = definition.body
    for place in reversed(range(len(body))):
        before, node = body[:place], body[place]
        told_list = _find_told_in(node)
        constants = around.constants(before)
        are_notes = told_list in added.lists
        for rows, later in [*_loop_cut(node, told_list), *_cuts(node, around, constants)]:
            tail = [*later, *body[place + 1 :]]
            fine = all(_keeps(statement, around) for statement in (*before, *rows))
            fine = fine and not _are_data(rows, around, before)
            if fine and _is_later(tail, around, constants | {told_list or ROWS}, before):
                sums = added.sums.get(told_list or "")
                is_of_numbers = _adds_numbers(sums, tail, around, constants)
                parts = [*before, *rows], is_of_numbers, are_notes, outside
                rest = _Rest(written.definition, around, constants)
                if are_notes and told_list is not None:
                    plain = rest.behind_loop(told_list)
                    yield RowsBody(*parts, plain, told_list, added.changes.get(told_list))
                else:
                    yield RowsBody(*parts, rest.behind_cut(node, later))


@dataclass(frozen=True)
class _Rest:
    """The rest of a function as it is written, but for a loop that fills a list of notes.

    () where it reads more than rows, constants, and objects that were made of constants.
    """

    definition: ast.FunctionDef
    around: _Around
    constants: set[str]

    def behind_loop(self, told: str) -> tuple[ast.stmt, ...]:
        """Behind a loop that fills this list."""
        body = with_lists_of_parts(self.definition, self.around, until=told).definition.body
        places = [k for k, node in enumerate(body) if _find_told_in(node) == told]
        if len(places) != 1:
            return ()
        [place] = places
        return self._with_given(body[:place], body[place + 1 :], told)

    def behind_cut(self, node: ast.stmt, later: list[ast.stmt]) -> tuple[ast.stmt, ...]:
        """Behind a statement, of which ``later`` is left."""
        body = self.definition.body
        places = [k for k, one in enumerate(body) if one is node]
        if not places:
            return ()
        return self._with_given(body[: places[0]], [*later, *body[places[0] + 1 :]], ROWS)

    def _with_given(
        self, before: list[ast.stmt], rest: list[ast.stmt], told: str
    ) -> tuple[ast.stmt, ...]:
        mine = [node for node in before if told not in names_assigned(node)]
        given = [node for node in mine if self._is_given(node, before)]
        known = self.constants | {told, ROWS} | names_assigned(*given)
        fresh = names_assigned(*rest) - names_assigned(*before) - set(self.around.parameters)
        return (*given, *rest) if self.around.named(*rest) <= known | fresh else ()

    def _is_given(self, node: ast.stmt, before: list[ast.stmt]) -> bool:
        """Whether it gives a constant, or an object of constants that nothing else names yet."""
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            return False
        names = names_assigned(node)
        if names <= self.constants:
            return True
        named = [one for one in before if names & names_anywhere(one)]
        is_plain = isinstance(node.targets[0], ast.Name) and makes_object(node.value)
        return is_plain and len(named) == 1 and self.around.named(node.value) <= self.constants


def _are_data(rows: list[ast.stmt], around: _Around, before: list[ast.stmt]) -> bool:
    """Whether the rows are the data as they are given, which tell all of them."""
    [*others, last] = rows
    is_name = isinstance(last, ast.Return) and isinstance(last.value, ast.Name)
    if others or not is_name or around.data in names_assigned(*before):
        return False
    return around.data in names_read(last)


def _adds_numbers(
    sums: frozenset[str] | None, tail: list[ast.stmt], around: _Around, known: set[str]
) -> bool:
    if sums is None:
        return False
    given = {
        target.id: statement.value
        for statement in around.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and target.id in known
    }

    def look_up(name: str) -> Any:
        return None if name in around.own else around.space.get(name)

    # The first statements of the rest, two for each, give the sums.
    return sees_only_numbers(tail[2 * len(sums) :], sums, given.get, look_up)


def _loop_cut(node: ast.stmt, told: str | None) -> Iterator[tuple[list[ast.stmt], list[ast.stmt]]]:
    if told is not None:
        yield [node, ast.copy_location(ast.Return(ast.Name(told, ast.Load())), node)], []


def _find_told_in(node: ast.stmt) -> str | None:
    """The list that a loop over records fills."""
    if not isinstance(node, ast.For):
        return None
    try:
        return analyse_loop(node, has_fields=True).told
    except NotAlike:
        return None


def _cuts(
    node: ast.stmt, around: _Around, known: set[str]
) -> Iterator[tuple[list[ast.stmt], list[ast.stmt]]]:
    """Statements that give a part of an expression, and the rest of it that is calculated later."""
    if not isinstance(node, (ast.Return, ast.Assign, ast.AnnAssign)) or node.value is None:
        return
    part: ast.expr | None = node.value
    while part is not None:
        if isinstance(part, ast.Starred):
            part = part.value
        if part is not node.value or not isinstance(node, ast.Return):
            rows = ast.copy_location(ast.Return(part), part)
            yield [rows], [_Replaced(part).visit(_deep(node, part))]
        inside = [
            operand for operand in _find_evaluated(part) if not around.named(operand) <= known
        ]
        part = inside[0] if len(inside) == 1 else None


def _deep(node: ast.stmt, kept: ast.expr) -> ast.stmt:
    """A copy in which one part is still the same object."""
    return copy.deepcopy(node, {id(kept): kept})


class _Replaced(ast.NodeTransformer):
    def __init__(self, part: ast.expr) -> None:
        self.part = part

    def visit(self, node: ast.AST) -> Any:
        if node is self.part:
            return ast.copy_location(ast.Name(ROWS, ast.Load()), node)
        return self.generic_visit(node)


def _find_evaluated(node: ast.expr) -> list[ast.expr]:
    """Parts of an expression that are calculated once and in any case."""
    if isinstance(node, ast.Call):
        inner = node.func.value if isinstance(node.func, ast.Attribute) else None
        keywords = [keyword.value for keyword in node.keywords]
        return [*([] if inner is None else [inner]), *node.args, *keywords]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Compare):
        return [node.left, node.comparators[0]]
    if isinstance(node, (ast.Tuple, ast.List)):
        return list(node.elts)
    if isinstance(node, ast.Dict):
        return list(node.values)
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
        return [node.value]
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return [node.generators[0].iter]
    return []


# ---- what later code may read


class _Lengths(ast.NodeTransformer):
    """``len(data)``, ``data.size`` and ``data.shape`` are constants."""

    def __init__(self, data: str) -> None:
        self.data = data

    def _is_data(self, node: ast.AST) -> bool:
        return is_name(node, self.data)

    def visit_Call(self, node: ast.Call) -> Any:
        if name_called(node) == "len" and len(node.args) == 1 and self._is_data(node.args[0]):
            return ast.Constant(0)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if node.attr in ("size", "shape") and self._is_data(node.value):
            return ast.Constant(0)
        return self.generic_visit(node)


def _is_later(
    tail: list[ast.stmt], around: _Around, known: set[str], before: list[ast.stmt]
) -> bool:
    """Whether statements read rows, constants and fresh random numbers only."""
    # Names of the rest may be read once the rest has assigned them.
    fresh = names_assigned(*tail) - names_assigned(*before) - set(around.parameters)
    anywhere = names_anywhere(*tail)
    if not around.named(*tail) <= fresh | known or anywhere & _FORBIDDEN:
        return False
    if not all(_draws_only(node, around.generators) for node in tail):
        return False
    if may_tell_states(tail, around.scope | fresh | known | around.own, around.value_of):
        return False
    values = [look_up_name(name, around.space) for name in names_read(*tail)]
    for module in [value for value in values if isinstance(value, ModuleType)]:
        if not is_foreign(module.__name__):
            values += [vars(module)[name] for name in anywhere & vars(module).keys()]
    return not any(_looks_around(value, _DEEPEST) for value in values)


def _draws_only(node: ast.AST, generators: set[str]) -> bool:
    """Whether generators give further numbers only, never handed on with their state."""
    if isinstance(node, ast.Name):
        return node.id not in generators
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id not in generators or node.attr in DRAWS | {"shuffle", "permuted"}
    return all(_draws_only(child, generators) for child in ast.iter_child_nodes(node))


def looks_at_types(function: Any) -> bool:
    """Whether a function, or one that it names, asks what kind of object it is given."""
    return _looks_around(function, _DEEPEST, _TYPES | _FORBIDDEN)


def _looks_around(value: Any, deep: int, forbidden: frozenset[str] = _FORBIDDEN) -> bool:
    """Whether a function of the program, or one that it names, uses a forbidden name."""
    if isinstance(value, type) and not is_foreign(value.__module__):
        return any(_looks_around(member, deep, forbidden) for member in vars(value).values())
    if not isinstance(value, FunctionType) or is_foreign(value.__module__):
        return False
    names = names_in(value.__code__)
    if names & forbidden or deep == 0:
        return True
    inner = [value.__globals__[name] for name in names & value.__globals__.keys()]
    return any(_looks_around(held, deep - 1, forbidden) for held in inner if held is not value)


# ---- what comes before must keep data to itself


def _keeps(node: ast.stmt, around: _Around, *, is_top: bool = True) -> bool:
    """Whether a statement hands data to nothing that later code could ask."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.For):
        # Its body is that of a loop over records, which is seen when it runs.
        return is_top and _find_told_in(node) is not None and _calls_keep(node.iter, around)
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return all(map(_is_own, targets)) and (
            node.value is None or _calls_keep(node.value, around)
        )
    if isinstance(node, ast.Return):
        return node.value is not None and _calls_keep(node.value, around)
    if isinstance(node, ast.If):
        inner = [*node.body, *node.orelse]
        kept = all(_keeps(statement, around, is_top=False) for statement in inner)
        return kept and _calls_keep(node.test, around)
    return isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.Pass))


def _is_own(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple):
        return all(map(_is_own, target.elts))
    if isinstance(target, ast.Subscript):
        return isinstance(target.value, ast.Name)
    return isinstance(target, ast.Name)


def _calls_keep(node: ast.AST, around: _Around, *, is_seen: bool = True) -> bool:
    """Whether an expression calls only what keeps nothing of its arguments.

    Functions of the program may be called for single records, by comprehensions that are seen when
    they run (``is_seen``: where the source is rewritten).
    """
    if isinstance(node, ast.ListComp) and len(node.generators) == 1 and is_seen:
        return _calls_keep(node.generators[0].iter, around)
    if isinstance(node, (ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.ListComp, ast.Lambda)):
        is_seen = False
    if isinstance(node, ast.Call) and not _is_known(node.func, around):
        return _is_given_constants(node, around)
    return all(_calls_keep(child, around, is_seen=is_seen) for child in ast.iter_child_nodes(node))


def _is_given_constants(node: ast.Call, around: _Around) -> bool:
    """Whether a call of the program's, as ``Client(1.0, 10)``, is not given data to keep."""
    is_of_module = isinstance(node.func, ast.Name) and node.func.id not in around.scope
    is_of_module = is_of_module or around.kind_of(node.func) is not None
    return is_of_module and around.named(node) <= around.readable


def _helper_keeps(function: Any, around: _Around) -> bool:
    """Whether a function of the program keeps nothing: it is rewritten for rows, too."""
    definition = find_source(function)
    if definition is None or not _has_plain_defaults(function) or function in around.within:
        return False
    inner = _Around(function, definition, around.within)
    return all(_keeps(node, inner) for node in definition.body)


def _has_plain_defaults(function: Any) -> bool:
    """Whether nothing can be put into what parameters are where they are not given."""
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return all(type(value) in _PLAIN for value in defaults)


def _is_known(node: ast.expr, around: _Around) -> bool:
    if isinstance(node, ast.Name):
        if node.id in around.scope:
            return False
        helper = around.space.get(node.id)
        return _helper_keeps(helper, around) if node.id in around.space else node.id in _BUILTINS
    if not isinstance(node, ast.Attribute):
        return False
    root = root_name(node)
    if not root:
        return True  # a method of what was calculated
    if root in around.scope:
        return root in around.local
    module = around.module_of(node)
    is_known = any(module is known for known in (np, math))
    return is_known or isinstance(module, (np.random.Generator, np.random.RandomState))
