"""Loops over the parts of one record, pass by pass: each pass comes to a number of its own law.

``[flip(bit) for bit in bits]`` draws for each bit by itself. Where all passes are alike and
independent of each other (``record_code``, as for loops over records), and a pass leaves behind
nothing but one entry of a list or an array, the law of that entry is enumerated while the rest of
the run waits, and the entry becomes a number of this law (``factor_values``). So 32 passes with two
ways each are 64 short walks, and not 2**32 runs (docs/theory/records.md, P5).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from types import FunctionType
from typing import Any

import numpy as np

from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.intercept.replaceable_names import names_in
from liptest.enumerate.loops.own_places import OwnPlace, own_place
from liptest.enumerate.records.record_code import (
    DRAWS,
    READING,
    NotAlike,
    RecordCode,
    analyse_entry,
    analyse_loop,
)
from liptest.enumerate.records.record_values import changes_seen, check_record_code, look_up_name
from liptest.enumerate.syntax.called_methods import read_program, rewrite_object
from liptest.enumerate.syntax.function_source import TREATMENT, names_read
from liptest.enumerate.syntax.outside_names import exactly, is_atom
from liptest.enumerate.syntax.source import (
    LOOKING,
    OWN_NAMES,
    FunctionSource,
    copy_tree,
    names_stored,
)
from liptest.enumerate.syntax.tree_pieces import flat_statements, place_in_file
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.enumerate.trees.product_leaves import find_variables, is_bit, value_given
from liptest.enumerate.trees.sums import LawSum
from liptest.mechanisms.laws import integer_weights
from liptest.values.array import CellStorage, SymbolicArray, as_cells
from liptest.values.binary.bits import BernoulliValue
from liptest.values.binary.sum_formulas import Formula
from liptest.values.binary.truth_tables import TruthTables
from liptest.values.draws.factor_values import FactorValue, Variable
from liptest.values.protocol import concretise_all, is_symbolic, symbolic_in
from liptest.values.records.rows import DrawsRows

_PARTS = f"{OWN_NAMES}parts"
# Of one pass.
_MOST_WAYS, _MOST_BITS = 256, 2
_WALKED = (list, tuple, range, zip, enumerate, reversed, np.ndarray, str)
# Called as they are written.
_AS_THEY_ARE = DRAWS | READING | {"super", "len", "range", "zip", "enumerate", "append", "int"}


class PartsTree(ChoiceTree):
    """Of runs whose outputs keep parts that nobody has looked at.

    While a pass is walked its choices are those of a tree of its own.
    """

    keeps_parts = True
    __slots__ = ("pass_walk",)

    pass_walk: ChoiceTree | None

    def choose(self, branches: Any) -> int:
        walk = self.pass_walk
        return super().choose(branches) if walk is None else walk.choose(branches)

    def _run_once(self, run: Callable[[], Any]) -> Any:
        self.pass_walk = None
        return super()._run_once(run)


class Factoring:
    """Rewrites the functions of one program, each once; the tree is that of its runs."""

    def __init__(self, tree: PartsTree) -> None:
        self._tree = tree
        self._known: dict[FunctionType, Any] = {}

    def rewritten(self, called: Any) -> Any:
        """A function, bound or with some arguments given, or else what it is."""
        if type(called) is partial:
            return partial(self.rewritten(called.func), *called.args, **called.keywords)
        if type(called) is not FunctionType:
            return rewrite_object(called, self.rewritten)
        if called not in self._known:
            self._known[called] = called  # while it is looked at: it may call itself
            self._known[called] = self._compile(called) or called
        return self._known[called]

    def _compile(self, function: FunctionType) -> FunctionType | None:
        source = read_program(function)
        if source is None or not names_in(function.__code__).isdisjoint(LOOKING):
            return None
        marks = _Marks(source)
        flat = flat_statements(marks.visit(copy_tree(statement)) for statement in source.body)
        runtime = PartPasses(self._tree, tuple(marks.passes), self.rewritten)
        return source.compiled(source.with_body(flat), {_PARTS: runtime})


class _Marks(ast.NodeTransformer):
    """Marks comprehensions and loops of one function, and what it calls."""

    def __init__(self, source: FunctionSource) -> None:
        self.source = source
        self.passes: list[tuple[RecordCode, OwnPlace | None]] = []

    def _leave(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _leave

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        """As a function of what it walks over, where its passes are alike."""
        generator = node.generators[0]
        if _is_over_records(generator.iter):
            node.elt = self.visit(node.elt)
            return node
        code: RecordCode | None = None
        if len(node.generators) == 1:
            try:
                code = analyse_entry(_as_written(node.elt), generator)
            except NotAlike:
                code = None
        if code is None:
            generator.iter = self.visit(generator.iter)
            return node
        target = generator.target
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        given = [ast.arg(name.id) for name in names if isinstance(name, ast.Name)]
        arguments = ast.arguments([], given, None, [], [], None, [])
        number = len(self.passes)
        self.passes.append((code, None))
        made = ast.Lambda(arguments, node.elt)
        several = ast.Constant(isinstance(target, ast.Tuple))
        walked = self.visit(generator.iter)
        return ast.copy_location(
            _make_question("mapped", ast.Constant(number), made, walked, several), node
        )

    def visit_For(self, node: ast.For) -> Any:
        """With what it walks over given pass by pass, where its passes are alike."""
        marked = None if _is_over_records(node.iter) else self._pass_of(node)
        if marked is None:
            return self.generic_visit(node)
        number = len(self.passes)
        self.passes.append(marked)
        code, place = marked
        node.iter = self.visit(node.iter)
        if place is None:
            assert code.told is not None
            told = ast.Name(code.told, ast.Load())
            node.iter = _make_question("each", ast.Constant(number), told, node.iter)
            return node
        array = ast.Name(place.array, ast.Load())
        node.iter = _make_question("places", ast.Constant(number), array, node.iter)
        if not place.is_fresh:
            return node
        put = ast.Assign([ast.Name(place.array, ast.Store())], _make_question("filled", array))
        return [node, ast.copy_location(put, node)]

    def _pass_of(self, node: ast.For) -> tuple[RecordCode, OwnPlace | None] | None:
        written = _as_written(node)
        place = own_place(written, self.source)
        try:
            code = analyse_loop(written if place is None else place.loop)
        except NotAlike:
            return None
        own = names_stored(node) - {code.told}
        return None if own & _read_beside(self.source.body, node) else (code, place)

    def visit_Call(self, node: ast.Call) -> Any:
        """What is called may have loops, too."""
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, (ast.Name, ast.Attribute)) or _is_of_records(node):
            return node
        name = function.id if isinstance(function, ast.Name) else function.attr
        if name in _AS_THEY_ARE:
            return node
        node.func = ast.copy_location(_make_question("of", function), function)
        return node


def _make_question(method: str, *arguments: ast.expr) -> ast.Call:
    asked = ast.Attribute(ast.Name(_PARTS, ast.Load()), method, ast.Load())
    return ast.Call(asked, list(arguments), [])


def _is_of_records(node: ast.AST) -> bool:
    """Whether it is asked of the treatment of records (``row_source``), or of this module."""
    asked = node.func if isinstance(node, ast.Call) else node
    owner = asked.value if isinstance(asked, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id in (TREATMENT, _PARTS)


def _is_over_records(node: ast.expr) -> bool:
    """Whether a loop may go over the records."""
    asked = node.func if isinstance(node, ast.Call) and _is_of_records(node) else None
    return isinstance(asked, ast.Attribute) and asked.attr == "each"


class _AsWritten(ast.NodeTransformer):
    """Takes out what ``row_source`` has marked."""

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if not _is_of_records(node) or not isinstance(node.func, ast.Attribute):
            return node
        first, *more = node.args
        if node.func.attr == "item":
            return ast.copy_location(ast.Subscript(first, more[0], ast.Load()), node)
        if node.func.attr == "call":
            return ast.copy_location(ast.Call(first, more, node.keywords), node)
        return node


def _as_written(node: Any) -> Any:
    return _AsWritten().visit(copy_tree(node))


def _read_beside(body: list[ast.stmt], loop: ast.For) -> set[str]:
    """Names that are read in a function outside of a loop of it."""
    place = place_in_file(loop)
    without = [_Without(place).visit(copy_tree(statement)) for statement in body]
    return names_read(*without)


class _Without(ast.NodeTransformer):
    """Takes a loop out."""

    def __init__(self, place: tuple[int, int]) -> None:
        self.place = place

    def visit_For(self, node: ast.For) -> Any:
        if place_in_file(node) == self.place:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)


class PartPasses:
    """What rewritten code asks while it runs."""

    def __init__(
        self,
        tree: PartsTree,
        passes: tuple[tuple[RecordCode, OwnPlace | None], ...],
        rewritten: Callable[[Any], Any],
    ) -> None:
        self._tree = tree
        self._passes = passes
        self._outcome: list[Any] = []
        #: Of the pass that was walked last: bits that it is given, their variables, and its laws.
        self._told: tuple[tuple[Any, ...], list[Any], list[Any]] = (), [], []
        self._filled: dict[int, tuple[Any, dict[int, Any]]] = {}
        #: What is called instead of a function.
        self.of = rewritten

    def mapped(self, number: int, entry: Any, values: Any, several: bool) -> list[Any]:
        """``[entry(value) for value in values]``."""

        def result(value: Any) -> Any:
            if not several:
                return entry(value)
            first, *more = value
            return entry(first, *more)

        items = self._items(values)
        if items is None:
            return [result(value) for value in values]
        changed = self._find_change(number, sys._getframe(1))
        if changed is None:
            return [result(value) for value in items]
        told = []
        known: dict[Any, Any] = {}
        for value in items:
            for plain in self._ways(value, known):
                self._note(result(plain))
            told.append(self._entry())
        self._require(not changed(), "a change to an object of outside")
        return told

    def each(self, number: int, told: Any, values: Any) -> Iterator[Any]:
        """What a loop walks over that appends one entry to a list in each pass."""
        frame = sys._getframe(1)
        items = self._items(values) if type(told) is list else None
        changed = None if items is None else self._find_change(number, frame)
        if items is None or changed is None:
            yield from values if items is None else items
            return
        known: dict[Any, Any] = {}
        for value in items:
            before = len(told)
            for plain in self._ways(value, known):
                yield plain
                self._require(len(told) == before + 1, "a list that is changed elsewhere")
                self._note(told.pop())
            told.append(self._entry())
        self._require(not changed(), "a change to an object of outside")

    def places(self, number: int, array: Any, values: Any) -> Iterator[Any]:
        """What a loop walks over that writes to its own place of a list or an array."""
        frame = sys._getframe(1)
        place = self._passes[number][1]
        assert place is not None
        may_hold = type(array) is list or (type(array) is np.ndarray and place.is_fresh)
        items = self._items(values) if may_hold else None
        indices = None if items is None else _own_indices(items, place, array)
        changed = None if indices is None else self._find_change(number, frame)
        if items is None or indices is None or changed is None:
            yield from values if items is None else items
            return
        known: dict[Any, Any] = {}
        entries = {}
        for index, value in zip(indices, items, strict=True):
            first = array[index]
            for plain, _ in self._ways((value, first), known):
                yield plain
                self._note(array[index])
                array[index] = first
            entries[index] = self._entry()
            if type(array) is list or not is_symbolic(entries[index]):
                array[index] = entries.pop(index)
        if entries:
            self._filled[id(array)] = array, entries
        self._require(not changed(), "a change to an object of outside")

    def filled(self, array: Any) -> Any:
        """An array with the numbers that a loop has left in it."""
        filled_before = self._filled.pop(id(array), None)
        if filled_before is None or filled_before[0] is not array:
            return array
        cells = as_cells(array)
        for index, entry in filled_before[1].items():
            cells[index] = entry.typed(array.dtype.type)
        return SymbolicArray(CellStorage(self._tree, cells, array.dtype))

    def _items(self, values: Any) -> list[Any] | None:
        """What is walked over; None where it is not known beforehand."""
        if type(values) not in _WALKED or self._tree.pass_walk is not None:
            return None
        return None if type(values) is np.ndarray and not values.ndim else list(values)

    def _find_change(self, number: int, frame: Any) -> Callable[[], bool] | None:
        """Whether a loop has changed what it found; None where its passes are not alike."""
        code = self._passes[number][0]
        local, space = frame.f_locals, frame.f_globals

        def look_up(name: str) -> Any:
            value = local[name] if name in local else look_up_name(name, space)
            # While one record is treated there is no other that a generator could draw for.
            return DrawsRows() if type(value) is ChoiceGenerator else value

        try:
            return changes_seen(list(check_record_code(code, look_up)))
        except NotAlike:
            return None

    def _ways(self, value: Any, known: dict[Any, Any]) -> Iterator[Any]:
        """What a pass is given, once for each way that it goes; nothing where its law is known.

        Of bits that were drawn before the loop it is given each value, and may draw no others.
        """
        bits = list(symbolic_in([value]))
        self._require(all(map(is_bit, bits)), "random numbers that are drawn before a loop")
        variables = list(dict.fromkeys(one for bit in bits for one in find_variables(bit)))
        self._require(len(variables) <= _MOST_BITS, "a pass that is given many random bits")
        told = []
        for chosen in product((0, 1), repeat=len(variables)):
            plain = _give_bits(value, dict(zip(variables, chosen, strict=True)))
            key = exactly(plain) if is_atom(plain) else None
            if key is None or key not in known:
                yield from self._ways_of(plain, key, known)
            told.append(known[key])
        self._told = tuple(bits[:1]), variables, told

    def _ways_of(self, value: Any, key: Any, known: dict[Any, Any]) -> Iterator[Any]:
        tree = self._tree
        walk = ChoiceTree(tree.name, max_leaves=_MOST_WAYS, max_choices=tree.max_choices)
        masses = LawSum()
        ways: dict[Any, Any] = {}
        while True:
            walk.depth = 0
            tree.pass_walk, self._outcome = walk, []
            yield value
            tree.pass_walk = None
            self._require(walk.depth == len(walk.path), "a pass that draws otherwise when repeated")
            [outcome] = self._outcome
            name = exactly(outcome) if is_atom(outcome) else (id(outcome), None)
            ways[name] = outcome
            masses.add(name, *walk._leaf_weight())
            walk.leaves += 1
            if not walk._advance():
                break
            self._require(walk.leaves < _MOST_WAYS, "a pass with many ways")
        self._require(len(ways) == 1 or all(map(is_atom, ways.values())), "parts that are lists")
        law, _ = masses.fractions()
        known[key] = tuple(ways.values()), tuple(integer_weights([law[name] for name in ways]))

    def _note(self, outcome: Any) -> None:
        """What a pass came to, while its choices are still those of its walk."""
        self._outcome.append(concretise_all(outcome, "a pass of a loop"))

    def _entry(self) -> Any:
        """A number of the law of the pass that was just walked."""
        bits, variables, told = self._told
        if not variables:
            [(values, weights)] = told
            variable = Variable(self._tree, weights)
            return values[0] if len(values) == 1 else FactorValue(variable, values)
        outcomes = [values[0] for values, _ in told]
        is_plain = (
            len({type(outcome) for outcome in outcomes}) == max(len(law[0]) for law in told) == 1
        )
        table = np.array(outcomes)
        is_plain = is_plain and table.ndim == 1 and table.dtype.kind in "biuf"
        self._require(is_plain, "a pass that draws, too")
        entry = TruthTables(np.array(variables), table)
        number = BernoulliValue(bits[0].variables, Formula.of_entry(entry))
        return number if isinstance(outcomes[0], np.generic) else number.item()

    def _require(self, fine: bool, what: str) -> None:
        if not fine:
            self._tree.forbid(f"{what}: parts of a record", "")


def _give_bits(value: Any, at: dict[Any, int]) -> Any:
    """What a pass is given, with bits of these values."""
    if type(value) is tuple:
        return tuple(_give_bits(part, at) for part in value)
    return value_given(value, at) if type(value) is BernoulliValue else value


def _own_indices(items: list[Any], place: OwnPlace, array: Any) -> list[int] | None:
    """The place that each pass writes to; None unless these are different places."""
    indices = [item[0] if place.is_first else item for item in items]
    fine = all(type(index) is int and 0 <= index < len(array) for index in indices)
    plain = type(array) is list or (array.ndim == 1 and array.dtype.kind in "biuf")
    return indices if fine and plain and len(set(indices)) == len(indices) else None
