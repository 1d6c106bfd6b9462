"""What a server calculates of the notes of all records, followed with totals in their place.

The statements behind the treatment of records (``row_tails``) are compiled as a function of their
own, in which the list of notes stands for all lists of so many notes (``note_lists``).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from liptest.enumerate.loops.adding_loops import PREFIX, NotedChanges, with_lists_of_parts
from liptest.enumerate.records.entries_of_totals import call_entry_by_entry
from liptest.enumerate.records.note_changes import changed_object
from liptest.enumerate.records.note_lists import Notes, call_with_notes
from liptest.enumerate.records.note_totals import NoteTotals
from liptest.enumerate.records.record_code import NotAlike, RecordCode, analyse_loop
from liptest.enumerate.records.record_values import (
    changes_seen,
    check_record_code,
    look_up_name,
    original_of,
)
from liptest.enumerate.records.row_tails import RowsBody, looks_at_types
from liptest.enumerate.syntax.function_source import names_anywhere, names_assigned, names_read
from liptest.enumerate.syntax.source import OWN_NAMES, copy_tree, read_source
from liptest.enumerate.syntax.tree_pieces import (
    flat_statements,
    is_name,
    lambda_node,
    name_node,
    plain_name,
    tuple_node,
)

_TOLD = f"{OWN_NAMES}told"
_ITEM, _EVERY = f"{OWN_NAMES}item", f"{OWN_NAMES}every"
# What entries of comprehensions may call.
_CALLED = frozenset({"int", "float", "abs", "len", "round", "sum", "min", "max", "tuple"})
_ASKING = frozenset({"type", "isinstance", "hasattr", "getattr", "issubclass", "id", "repr"})
_PLAIN = (int, float, bool, str, type(None), np.int64, np.float64)


class NotTold(Exception):
    """The rest of a function is not followed with totals."""


@dataclass(frozen=True, eq=False)
class NoteTail:
    """The rest of a function, compiled to be followed.

    ``changes`` is what notes of a loop mean, or None where the rows are the notes.
    """

    code: Any
    source: Any
    changes: NotedChanges | None
    takes_generator: bool
    passes: tuple[tuple[RecordCode, NotedChanges], ...] = ()

    def function(self, told: ToldNotes) -> FunctionType:
        """The function that is followed."""
        made = self.source.with_code(self.code, {_TOLD: told})
        if made is None:
            raise NotTold
        return made  # type: ignore[no-any-return]


def compile_tail(function: Any, body: RowsBody, *, takes_generator: bool) -> NoteTail:
    """The rest of a function behind its rows; raises NotTold where it is not followed."""
    source = read_source(function)
    later = list(body.later)
    names = names_anywhere(*later)
    if not later or any(one.startswith(PREFIX) and body.told not in one for one in names):
        raise NotTold
    is_asking = names & _ASKING or any(
        looks_at_types(value) or _is_shared(value, name, later)
        for name, value in _values_of(source, names)
    )
    kinds = (ast.Is, ast.IsNot, ast.NamedExpr, ast.Try, ast.With, ast.While)
    parts = [part for node in later for part in ast.walk(node)]
    if source is None or is_asking or any(isinstance(part, kinds) for part in parts):
        raise NotTold
    if body.outside.names or (body.are_notes and body.changes is None):
        raise NotTold
    loops = _Loops(function, body, source.node)
    rewriting = _Rewriting(body, loops)
    statements = flat_statements(rewriting.visit(copy_tree(node)) for node in loops.body)
    if body.are_notes and body.told in names_anywhere(*statements):
        raise NotTold
    if not body.are_notes:
        rows = ast.Attribute(name_node(_TOLD), "notes", ast.Load())
        statements.insert(0, ast.Assign([name_node(body.told, ast.Store())], rows))
    code = source.code_of(source.with_body(statements), (_TOLD,))
    if code is None:
        raise NotTold
    return NoteTail(code, source, body.changes, takes_generator, tuple(rewriting.passes))


def _values_of(source: Any, names: set[str]) -> Iterator[tuple[str, Any]]:
    for name in sorted(names):
        try:
            yield name, source.value_of(name)
        except (KeyError, AttributeError):
            continue


def _is_shared(value: Any, name: str, later: list[ast.stmt]) -> bool:
    """Whether an object that the module holds is put into a new one, and may be changed there."""
    if not isinstance(value, (list, dict, set, np.ndarray)):
        return False
    kinds = (ast.List, ast.Tuple, ast.Dict, ast.Set)
    displays = [part for node in later for part in ast.walk(node) if isinstance(part, kinds)]
    return any(is_name(part, name) for one in displays for part in ast.iter_child_nodes(one))


class _Loops:
    """The statements with loops over the rows that add up as loops that fill lists of notes."""

    def __init__(self, function: Any, body: RowsBody, definition: Any) -> None:
        self.body = list(body.later)
        self.lists: set[str] = set()
        self.changes: dict[str, NotedChanges] = {}
        self.space: dict[str, Any] = function.__globals__
        for place, node in enumerate(self.body):
            if isinstance(node, ast.Assign) and is_name(node.value, body.told):
                self._rewrite(place, plain_name(node.targets[0]), definition)
                return

    def _rewrite(self, place: int, name: str, definition: Any) -> None:
        if not name or not isinstance(definition, ast.FunctionDef):
            return
        made = copy_tree(definition)
        made.args = ast.arguments([], [ast.arg(name)], None, [], [], None, [])
        # Other loops are run as they are written.
        made.body = [
            ast.copy_location(ast.If(ast.Constant(True), [node], []), node)
            if isinstance(node, ast.For) and name not in names_anywhere(node.iter)
            else node
            for node in self.body[place + 1 :]
        ]
        added = with_lists_of_parts(made, self)
        if added.attributes:
            return
        self.body = [*self.body[: place + 1], *added.definition.body]
        self.lists, self.changes = added.lists, added.changes

    def is_numpy(self, name: str) -> bool:
        """Whether a name stands for NumPy."""
        return self.space.get(name) is np

    def kind_of(self, node: ast.expr) -> type | None:
        """No objects of the program are changed here."""
        return None


class _Rewriting(ast.NodeTransformer):
    """Hands calls, comprehensions and changed objects to ``ToldNotes``."""

    def __init__(self, body: RowsBody, loops: _Loops) -> None:
        self.body, self.loops = body, loops
        self.passes: list[tuple[RecordCode, NotedChanges]] = []
        self._numbers: dict[str, int] = {}

    def visit_For(self, node: ast.For) -> Any:
        told = _find_told(node) if self.loops.lists else None
        if told is None or told.told not in self.loops.changes:
            return self.generic_visit(node)
        name = told.told
        number = self._numbers[name] = len(self.passes)
        self.passes.append((told, self.loops.changes[name]))
        node.iter = _ask("passes", ast.Constant(number), self.visit(node.iter))
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        value = node.value
        if not isinstance(value, ast.Tuple) or len(value.elts) != 2:
            return self.generic_visit(node)
        held, told = value.elts
        owner, notes = plain_name(held), plain_name(told)
        number = self._numbers.get(notes)
        if owner and number is not None:
            node.value = _ask("added", ast.Constant(number), held, ast.Constant(owner), told)
        elif owner and self.body.are_notes and notes == self.body.told:
            owner = owner.removeprefix(f"{self.body.told}_")
            node.value = _ask("changed", held, ast.Constant(owner))
        else:
            return self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        lazy = node.args[0] if len(node.args) == 1 and not node.keywords else None
        self.generic_visit(node)
        if isinstance(lazy, ast.GeneratorExp):
            # Elsewhere it could be walked in parts.
            node.args[0] = self._comprehension(lazy, is_visited=True)
        if isinstance(node.func, (ast.Name, ast.Attribute)):
            asked = _ask("call", node.func, *node.args)
            asked.keywords = node.keywords
            return ast.copy_location(asked, node)
        return node

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        return self._comprehension(node)

    def _comprehension(
        self, node: ast.ListComp | ast.GeneratorExp, *, is_visited: bool = False
    ) -> Any:
        names = _names_beside(node)
        if len(node.generators) != 1 or names is None:
            return node if is_visited else self.generic_visit(node)
        own = node.generators[0]
        tests = list(map(copy_tree, own.ifs))
        one = ast.comprehension(copy_tree(own.target), tuple_node([name_node(_ITEM)]), tests, 0)
        entry = lambda_node(_ITEM, ast.ListComp(copy_tree(node.elt), [one]))
        beside = lambda_node(None, tuple_node([name_node(name) for name in sorted(names)]))
        if not is_visited:
            self.generic_visit(node)
        walked, own.iter = own.iter, name_node(_EVERY)
        is_lazy = ast.Constant(isinstance(node, ast.GeneratorExp))
        every = lambda_node(_EVERY, node)
        return ast.copy_location(_ask("each", walked, entry, beside, every, is_lazy), node)


def _find_told(node: ast.For) -> RecordCode | None:
    """A loop that fills a list with one entry for each of what it goes over."""
    try:
        code = analyse_loop(node)
    except NotAlike:
        return None
    return code if code.told is not None else None


def _names_beside(node: ast.ListComp | ast.GeneratorExp) -> set[str] | None:
    """What a comprehension reads beside its entries; None where it does more than calculate."""
    own = node.generators[0]
    inside = [node.elt, *own.ifs]
    names = names_read(*inside) - names_assigned(own.target)
    for part in (part for one in inside for part in ast.walk(one)):
        if isinstance(part, (ast.Attribute, ast.Lambda, ast.Await, ast.Yield, ast.JoinedStr)):
            return None
        if isinstance(part, ast.Call) and plain_name(part.func) not in _CALLED:
            return None
    return names


def _ask(method: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(name_node(_TOLD), method, ast.Load()), list(arguments), [])


class ToldNotes:
    """What the rewritten rest of a function asks."""

    def __init__(
        self, totals: NoteTotals, notes: list[Any], rows: Notes | None, tail: NoteTail
    ) -> None:
        self._totals, self._notes, self._tail = totals, notes, tail
        #: The rows.
        self.notes = rows

    def passes(self, number: int, walked: Any) -> Iterator[Any]:
        """What a loop goes over that fills a list of notes: of each note once."""
        code, _ = self._tail.passes[number]
        frame = sys._getframe(1)
        local, space = frame.f_locals, frame.f_globals
        if type(walked) is not Notes:
            self._totals.refuse("a loop that is not over the notes")
        try:
            read = check_record_code(
                code, lambda name: local[name] if name in local else look_up_name(name, space)
            )
            changed = changes_seen(list(read))
        except NotAlike as problem:
            self._totals.refuse(str(problem))
        yield from walked.items()
        if changed():
            self._totals.refuse("a change to an object of outside in a loop over the notes")

    def added(self, number: int, held: Any, owner: str, told: list[Any]) -> Any:
        """An object as such a loop leaves it."""
        if len(told) != len(self._notes):
            self._totals.refuse("a loop that is left before its end")
        return changed_object(held, owner, told, self._tail.passes[number][1], self._totals)

    def changed(self, held: Any, owner: str) -> Any:
        """An object as the loop over the records leaves it."""
        assert self._tail.changes is not None
        return changed_object(held, owner, self._notes, self._tail.changes, self._totals)

    def call(self, called: Any, *arguments: Any, **options: Any) -> Any:
        """A call, which may be of notes."""
        every = (*arguments, *options.values())
        if not any(type(one) is Notes for one in every):
            return call_entry_by_entry(called, arguments, options)
        if type(arguments[0] if arguments else None) is not Notes:
            self._totals.refuse("a call with notes among its arguments")
        return call_with_notes(called, *arguments, **options)

    def each(
        self,
        walked: Any,
        entry: Callable[[Any], list[Any]],
        beside: Callable[[], tuple[Any, ...]],
        every: Callable[[Any], Any],
        is_lazy: bool,
    ) -> Any:
        """A comprehension, which may be over the notes."""
        if type(walked) is not Notes:
            return every(walked)
        if walked.is_lazy:
            self._totals.refuse("a generator of the notes")
        if not all(map(_is_plain, beside())):
            self._totals.refuse("a loop over the notes that reads more than numbers")
        made = walked.mapped(entry)
        made.is_lazy = is_lazy
        return made


def _is_plain(value: Any) -> bool:
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    is_array = type(value) is np.ndarray and value.dtype.kind in "biuf"
    own = original_of(value)
    return is_array or type(value) in _PLAIN or any(own is one for one in _BUILT_IN)


_BUILT_IN = (int, float, abs, len, round, sum, min, max, tuple)
