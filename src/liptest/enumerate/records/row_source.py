"""Functions of a dataset, rewritten so that loops over its records are seen.

``for value in data: told.append(..)`` and ``[f(value) for value in data]`` become one pass, for the
record under study, and a list of rows; ``list``, ``tuple`` and ``numpy.asarray`` of rows are rows.
All else is left as it is. The rewritten function is a copy; the function itself is not touched.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from liptest.enumerate.intercept.replaceable_names import is_foreign
from liptest.enumerate.loops.plain_loops import simplify
from liptest.enumerate.records.changed_attributes import Outside, changed_names
from liptest.enumerate.records.record_code import (
    NotAlike,
    RecordCode,
    analyse_entry,
    analyse_loop,
    check_function_around,
)
from liptest.enumerate.records.record_values import (
    changes_seen,
    check_record_code,
    is_number,
    look_up_name,
)
from liptest.enumerate.syntax.function_source import TREATMENT, find_source
from liptest.enumerate.syntax.source import FunctionSource, read_source
from liptest.enumerate.syntax.tree_pieces import name_called, read_applied, takes_one_name
from liptest.values.pandas.row_frames import RowFrame, column_of_entry, has_fields
from liptest.values.pandas.row_series import RowSeries
from liptest.values.records.rows import (
    RowArray,
    RowList,
    RowRun,
    holds_rows,
    is_of_rows,
)
from liptest.values.row_functions import entry_of_table

_NAME = TREATMENT
_OWNER, _ITEM = f"{TREATMENT}owner", f"{TREATMENT}item"
_OF_NUMPY = frozenset({"array", "asarray", "asanyarray", "ascontiguousarray"})
# Functions that look at the frame they are called from, or that are called most.
_AS_THEY_ARE = frozenset({"locals", "vars", "dir", "super", "len", "int", "float", "range", "zip"})
_STOPPING = (
    *(ast.Try, ast.TryStar, ast.With, ast.While, ast.For, ast.AsyncFor, ast.AsyncWith),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


@dataclass(frozen=True)
class RecordPass:
    """A loop or comprehension that may go over the records: its code, or why it is refused."""

    code: RecordCode | None
    problem: str = ""


@dataclass(frozen=True, eq=False)
class RowSource:
    """A function with the definition that is to be run in its place.

    ``make(rows)`` is the function for one run. Of a part of a function, ``is_part``, all loops must
    go over the records: what they call is known then.
    """

    source: FunctionSource
    code: CodeType
    passes: tuple[RecordPass, ...]
    is_part: bool = False
    outside: Outside = field(default_factory=Outside)

    def make(self, rows: RowRun) -> Callable[..., Any]:
        """The rewritten function, bound to the rows of one run."""
        rows.sources.add(self)
        treatment = Treatment(rows, self)
        if rows.rewriting is not None:
            return rows.rewriting.made(self, treatment)  # type: ignore[no-any-return]
        return self.made(treatment)

    def made(self, treatment: Treatment) -> FunctionType:
        """The function that calls ``treatment``."""
        made = self.source.with_code(self.code, {_NAME: treatment, **self.outside.values()})
        assert made is not None
        return made


class RowRewriting:
    """Loops in functions of records, rewritten once for all runs."""

    def __init__(self, rewrite: Callable[[Any], Any]) -> None:
        self.rewrite = rewrite
        self._made: dict[RowSource, FunctionType] = {}

    def made(self, source: RowSource, treatment: Treatment) -> FunctionType:
        """A function of records with its loops rewritten, which calls ``treatment``."""
        if source not in self._made:
            self._made[source] = self.rewrite(source.made(treatment))
        rewritten = self._made[source]
        cells = zip(rewritten.__code__.co_freevars, rewritten.__closure__ or (), strict=True)
        closure = tuple(CellType(treatment) if name == _NAME else cell for name, cell in cells)
        bound = FunctionType(
            rewritten.__code__,
            rewritten.__globals__,
            rewritten.__name__,
            rewritten.__defaults__,
            closure,
        )
        bound.__kwdefaults__, bound.__qualname__ = rewritten.__kwdefaults__, rewritten.__qualname__
        return bound


class Treatment:
    """What rewritten code calls."""

    def __init__(self, rows: RowRun, source: RowSource) -> None:
        self.rows = rows
        self.source = source

    def each(self, number: int, values: Any) -> Any:
        """What a loop goes over: of rows only the kept one, if all passes are alike."""
        return self._each(number, values, sys._getframe(1))

    def is_applied(self, number: int, owner: Any, by_rows: bool, function: Any = len) -> bool:
        """Whether ``owner.apply(function)`` goes over the records."""
        kind = RowFrame if by_rows else RowSeries
        if type(owner) is not kind or self.rows.in_record:
            return False
        if type(function) is dict:
            self.rows.passes.add((self.source, number))
        return type(function) is not dict

    def each_row(self, number: int, owner: Any) -> Any:
        """What ``owner.apply(function)`` goes over."""
        values = owner.each_row() if type(owner) is RowFrame else owner
        return self._each(number, values, sys._getframe(1))

    def _each(self, number: int, values: Any, frame: Any) -> Any:
        if not is_of_rows(values) or not values.is_walked:
            return values
        if values.kind not in (list, tuple) and type(values) is RowList:
            values.refuse("an iteration")
        record_pass = self.source.passes[number]
        if record_pass.code is None:
            self.rows.refuse(record_pass.problem)
        if frame.f_code.co_qualname != self.source.code.co_qualname:
            self.rows.refuse("a loop over the records that is not where it is written")
        local, space = frame.f_locals, frame.f_globals
        self.rows.passes.add((self.source, number))
        return self._pass(
            record_pass.code,
            lambda name: local[name] if name in local else look_up_name(name, space),
            values,
        )

    def _pass(self, code: RecordCode, lookup: Callable[[str], Any], values: Any) -> Iterator[Any]:
        if code.is_of_numbers and not is_number(values.first()):
            self.rows.refuse("a change in place of a record that is not a number")
        if code.fields and not has_fields(values.first(), code.fields):
            self.rows.refuse(f"the attribute .{min(code.fields)} of a record")
        try:
            changed = changes_seen(self._check(code, lookup))
        except NotAlike as problem:
            self.rows.refuse(str(problem))
        yield from self.rows.treat_record(values.first())
        if changed():
            self.rows.refuse("a change to an object of outside in the treatment of a record")

    def _check(self, code: RecordCode, lookup: Callable[[str], Any]) -> list[Any]:
        """The objects that the treatment of a record reads, and which could be changed."""
        outside, told = self.source.outside, code.told or ""
        outside.check_methods(lookup)
        changed = changed_names(outside.attributes.get(told, frozenset()))
        read = list(check_record_code(code, lookup, changed))
        self.rows.with_places |= outside.check_changes(told, lookup, read)
        return read

    def listed(self, number: int, told: Any) -> Any:
        """The list that a loop over the records has filled."""
        if (self.source, number) not in self.rows.passes:
            return told
        if type(told) is not list or len(told) != 1:
            self.rows.refuse("a list that has not one entry for each record")
        return self._rows_of(told[0])

    def series_of(self, number: int, told: Any) -> Any:
        """The series that ``owner.apply(function)`` gives."""
        entry = self.listed(number, told).entry
        kinds = self.rows.kinds.setdefault((self.source, number), set())
        return RowSeries(column_of_entry(entry, self.rows, kinds))

    def _rows_of(self, entry: Any) -> RowList:
        if holds_rows(entry):
            self.rows.refuse("a list of all records for each record")
        return RowList(entry, self.rows)

    def zipped(self, own: Any, *values: Any, **options: Any) -> Any:
        """``zip`` of arrays and lists of rows."""
        if own is not zip or options.keys() - {"strict"} or not any(map(is_of_rows, values)):
            return own(*values, **options)
        if not all(map(is_of_rows, values)):
            self.rows.refuse("zip() of records with something else")
        return RowList(tuple(sequence.first() for sequence in values), self.rows)

    def call(self, own: Any, *values: Any, **options: Any) -> Any:
        """``list``, ``tuple``, ``numpy.array`` and functions of rows; of all else what they are."""
        every = (*values, *options.values())
        if self.rows.in_record or not any(map(is_of_rows, every)):
            if self.rows.rewriting is not None and isinstance(own, FunctionType):
                own = self.rows.rewriting.rewrite(own)
            if self.source.is_part and any(map(holds_rows, every)):
                self.rows.refuse("a list of arrays with one entry for each record")
            return own(*values, **options)
        if isinstance(own, FunctionType):
            source = _source_of_helper(own, self.source.is_part, _is_like_data(values))
            if source is None:
                return own(*values, **options)
            return source.make(self.rows)(*values, **options)
        if not values or not is_of_rows(values[0]):
            return own(*values, **options)
        given = values[0]
        if type(given) is RowFrame:
            return own(*values, **options)
        if own in (list, tuple) and len(values) == 1 and not options:
            if type(given) is RowList and given.kind is np.ndarray:
                given.refuse(own.__name__)
            return RowList(given.first(), self.rows, own)
        if own not in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray):
            return own(*values, **options)
        if options.keys() - {"dtype"} or len(values) > 2 or (options and len(values) > 1):
            given.refuse("numpy.array() with options")
        dtype = options.get("dtype", values[1] if len(values) > 1 else None)
        if type(given) is RowSeries:
            given = given.plain
        if type(given) is RowList:
            if dtype is not None or given.kind is np.ndarray:
                given.refuse("numpy.array() with options")
            return RowList(given.entry, self.rows, np.ndarray)
        if dtype is not None and np.dtype(dtype) != given.dtype:
            return given.astype(dtype)
        return given.copy() if own is np.array else given.view(lambda row: row)

    def item(self, table: Any, index: Any) -> Any:
        """``table[index]``."""
        if type(index) is RowArray and type(table) is np.ndarray:
            return entry_of_table(table, index)
        return table[index]


def _is_like_data(values: tuple[Any, ...]) -> bool:
    """Whether a helper is given a whole number for each record, as the function itself is."""
    first = values[0] if values else None
    return type(first) is RowArray and first.ndim == 1 and first.dtype == np.int64


@lru_cache(maxsize=64)
def _source_of_helper(function: FunctionType, is_part: bool, is_of_data: bool) -> RowSource | None:
    definition = find_source(function)
    if definition is None:
        return None
    body = definition.body
    return rewrite_function(function, definition, body, is_part=is_part, is_of_data=is_of_data)


def rewrite_function(
    function: FunctionType,
    definition: ast.FunctionDef,
    body: list[ast.stmt],
    *,
    is_part: bool = False,
    is_of_data: bool = True,
    outside: Outside | None = None,
) -> RowSource | None:
    """The function with another body, in which loops over records are seen.

    ``is_of_data``: whether its first parameter is a whole number for each record. ``outside``: what
    the body names beyond the names of the function.
    None where a name of it was another function's.
    """
    source = read_source(function)
    if source is None:
        return None
    passes: list[RecordPass] = []
    whole = copy.copy(definition)
    whole.body = simplify(body, function, is_of_data=is_of_data)
    statements = [statement for node in whole.body for statement in _rewrite(node, passes, whole)]
    statements = [_Calls(function.__globals__).visit(node) for node in statements]
    node = source.with_body(statements)
    outside = outside or Outside()
    further = (_NAME, *outside.names)
    code = source.code_of(node, further)
    if code is None or not {*code.co_freevars} <= {*further, *function.__code__.co_freevars}:
        return None
    source.remember(code, node)
    return RowSource(source, code, tuple(passes), is_part, outside)


def _rewrite(
    original: ast.stmt, passes: list[RecordPass], whole: ast.FunctionDef
) -> Iterator[ast.stmt]:
    """A copy of a statement of the function's own body, with loops over records marked."""
    node = copy.deepcopy(original)
    if not isinstance(node, ast.For) or not isinstance(original, ast.For):
        _Comprehensions(passes).visit(node)
        yield node
        return
    number = len(passes)
    code: RecordCode | None = None
    try:
        code = analyse_loop(original, has_fields=True)
        check_function_around(whole, original, code.told or "")
        passes.append(RecordPass(code))
    except NotAlike as problem:
        passes.append(RecordPass(None, str(problem)))
        code = None
    node.iter = _make_question("each", ast.Constant(number), _zip(node.iter))
    yield node
    if code is not None and code.told is not None:
        told = ast.Name(code.told, ast.Store())
        value = _make_question("listed", ast.Constant(number), ast.Name(code.told, ast.Load()))
        yield ast.copy_location(ast.Assign([told], value), node)


def _make_question(method: str, *arguments: ast.expr) -> ast.Call:
    asked = ast.Attribute(ast.Name(_NAME, ast.Load()), method, ast.Load())
    return ast.Call(asked, list(arguments), [])


def find_applied(node: ast.Call) -> tuple[str, ast.expr, bool] | None:
    """Of ``series.apply(function)``, ``.map`` and ``frame.apply(function, axis=1)``.

    The name of an entry, or a row, what is made of it, and whether by rows; None for all else.
    """
    applied = read_applied(node)
    if applied is None:
        return None
    _, function, by_rows = applied
    if isinstance(function, ast.Lambda):
        if not takes_one_name(function.args):
            return None
        return function.args.args[0].arg, copy.deepcopy(function.body), by_rows
    if not isinstance(function, (ast.Name, ast.Attribute)):
        return None
    called = ast.Call(copy.deepcopy(function), [ast.Name(_ITEM, ast.Load())], [])
    return _ITEM, ast.copy_location(called, node), by_rows


def _zip(node: ast.expr) -> ast.expr:
    """What a loop goes over, with ``zip`` of rows seen."""
    if isinstance(node, ast.Call) and name_called(node) == "zip":
        return ast.copy_location(
            ast.Call(_make_question("zipped").func, [node.func, *node.args], node.keywords), node
        )
    return node


class _Comprehensions(ast.NodeTransformer):
    """Marks comprehensions over what may be rows, where they are evaluated once.

    ``series.apply(function)`` is one whose entry the function makes.
    """

    def __init__(self, passes: list[RecordPass]) -> None:
        self.passes = passes

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.ListComp) and len(node.generators) == 1:
            return self.mark_walked(node, node.elt, node.generators[0])
        if isinstance(node, ast.Call):
            found = find_applied(node)
            if found is not None:
                return self.mark_applied(node, *found)
        return node if isinstance(node, _STOPPING) else self.generic_visit(node)

    def mark_applied(self, node: ast.Call, item: str, made: ast.expr, by_rows: bool) -> ast.expr:
        number = ast.Constant(len(self.passes))
        method: ast.Attribute = node.func  # type: ignore[assignment]
        owner = ast.Name(_OWNER, ast.Load())
        part = ast.comprehension(ast.Name(item, ast.Store()), owner, [], 0)
        try:
            self.passes.append(RecordPass(analyse_entry(made, part, has_fields=True)))
        except NotAlike as problem:
            self.passes.append(RecordPass(None, str(problem)))
        held = ast.NamedExpr(ast.Name(_OWNER, ast.Store()), self.visit(method.value))
        part.iter = _make_question("each_row", number, owner)
        given = [] if isinstance(node.args[0], ast.Lambda) else [copy.deepcopy(node.args[0])]
        asked = _make_question("is_applied", number, held, ast.Constant(by_rows), *given)
        listed = _make_question("series_of", number, ast.ListComp(made, [part]))
        method.value = owner
        return ast.copy_location(ast.IfExp(asked, listed, node), node)

    def mark_walked(self, node: ast.ListComp, entry: ast.expr, generator: ast.comprehension) -> Any:
        number = len(self.passes)
        try:
            self.passes.append(RecordPass(analyse_entry(entry, generator, has_fields=True)))
        except NotAlike as problem:
            self.passes.append(RecordPass(None, str(problem)))
        generator.iter = _make_question("each", ast.Constant(number), _zip(generator.iter))
        return ast.copy_location(_make_question("listed", ast.Constant(number), node), node)


class _Calls(ast.NodeTransformer):
    """Marks calls that make lists and arrays of others, calls of helpers, and items of tables."""

    def __init__(self, space: dict[str, Any]) -> None:
        self.space = space

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        function = node.func
        is_making = isinstance(function, ast.Name) and function.id not in _AS_THEY_ARE
        is_numpy = isinstance(function, ast.Attribute) and function.attr in _OF_NUMPY
        if not is_making and not is_numpy and not self._is_of_module(function):
            return node
        call = ast.Call(_make_question("call").func, [function, *node.args], node.keywords)
        return ast.copy_location(call, node)

    def _is_of_module(self, function: ast.expr) -> bool:
        """``helpers.respond``, with a module of the program."""
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
            return False
        module = self.space.get(function.value.id)
        return isinstance(module, ModuleType) and not is_foreign(module.__name__)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or isinstance(node.slice, (ast.Slice, ast.Tuple)):
            return node
        return ast.copy_location(_make_question("item", node.value, node.slice), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node
