"""Loops over records that add up what they make of each, as loops that fill a list.

``for v in data: total += f(v)``, ``counts[f(v)] += 1``, ``noisy[i] = f(data[i])`` and appends under
a condition: all that such a loop leaves behind follows from what each pass adds, so it is later
code of a list with an entry for each record (docs/theory/records.md, P2). Here the loop is written
as one that fills this list; the statements after it stand for what is calculated from the list, and
are never run.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field
from typing import Any, Protocol

from liptest.enumerate.loops.pass_forms import split_tuple
from liptest.enumerate.records.record_code import NotAlike, analyse_loop
from liptest.enumerate.syntax.function_source import (
    list_parameters,
    names_anywhere,
    names_assigned,
)
from liptest.enumerate.syntax.tree_pieces import (
    attribute_node,
    dotted_name,
    flat_statements,
    is_name,
    name_called,
    name_node,
    only_argument,
    plain_name,
    reads_keys,
    tuple_node,
)

#: How names of lists of what loops add begin.
PREFIX = "__added_by_records"
_ADDING = frozenset({"append", "extend", "add", "update", "appendleft"})
_MAKING = frozenset(
    {"zeros", "ones", "full", "list", "dict", "set", "Counter", "defaultdict", "deque", "range"}
    | {"zeros_like", "ones_like", "int", "float", "array"}
)
# Of NumPy: arrays of fixed types, into which whole numbers of all types point alike.
_ARRAYS = frozenset({"zeros", "ones", "full"})
#: How the note of a change ends whose key points to a place of an array or a list.
AT_PLACE = " at a place"
_COPYING = frozenset({"copy", "array", "list"})


class NamesOfOutside(Protocol):
    """What names of outside stand for in a function."""

    def is_numpy(self, name: str) -> bool:
        """Whether a name stands for NumPy."""

    def kind_of(self, node: ast.expr) -> type | None:
        """The class of the program that an expression names."""


@dataclass(frozen=True)
class NotedChanges:
    """What the entries of the list of a loop mean.

    An entry is a tuple of the list of what a pass changes, each with the place of its name in
    ``names``, and of one number for each of ``cells``: what is added to it.
    """

    names: tuple[str, ...]
    cells: tuple[str, ...]


@dataclass
class AddedUp:
    """A function whose loops over records that add up fill lists of what they add.

    ``lists`` are their names; ``sums`` those that hold what is added to whole numbers only, with
    these numbers; ``attributes`` those of loops that change attributes, as "server.counts";
    ``changes`` what their entries mean, but of loops that write into places of records.
    """

    definition: ast.FunctionDef
    lists: set[str] = field(default_factory=set)
    sums: dict[str, frozenset[str]] = field(default_factory=dict)
    attributes: dict[str, frozenset[str]] = field(default_factory=dict)
    changes: dict[str, NotedChanges] = field(default_factory=dict)


def with_lists_of_parts(
    definition: ast.FunctionDef, naming: NamesOfOutside, until: str = ""
) -> AddedUp:
    """The same function, whose loops over records that add up fill lists of what they add.

    ``until``: the list of the last loop that is written so.
    """
    made = copy.copy(definition)
    added = AddedUp(made)
    parameters = list_parameters(definition.args)
    body = definition.body
    place = 0
    if any(name.startswith(PREFIX) for name in names_anywhere(definition)):
        return added  # whose names these are would not be clear
    while place < len(body) and parameters:
        node = body[place]
        if isinstance(node, ast.For) and parameters[0] not in names_assigned(*body):
            loop = _AddingLoop(body, place, parameters[0], naming)
            found = loop.listed()
            if found is not None:
                body, place = found
                added.lists.add(loop.told)
                added.sums |= loop.lists_of_sums
                added.attributes |= loop.lists_of_attributes
                added.changes |= loop.lists_of_changes
                if loop.told == until:
                    break
        place += 1
    made.body = body
    return added


def with_split_tuples(definition: ast.FunctionDef) -> ast.FunctionDef:
    """The same function with ``a, b = c, d`` as two statements, where that is the same."""
    made = copy.copy(definition)
    made.body = [part for node in definition.body for part in split_tuple(node, _are_apart)]
    return made


def _are_apart(targets: list[ast.expr], values: list[ast.expr]) -> bool:
    names = names_assigned(*targets)
    return len(names) == len(targets) and not names & names_anywhere(*values)


@dataclass(frozen=True)
class _Effect:
    """A statement that changes an object from outside of the loop."""

    statement: ast.stmt
    #: With attributes, as "server.counts".
    name: str
    #: How often the name occurs in what is replaced.
    occurrences: int
    key: ast.expr | None
    amount: ast.expr
    #: How many keys one after the other: ``counts[i][j]``.
    depth: int = 1

    @property
    def owner(self) -> str:
        """The name of the object that is changed, or whose attribute is."""
        return self.name.partition(".")[0]

    @property
    def adds(self) -> bool:
        """``name += amount``."""
        return self.key is None and isinstance(_operation(self.statement), ast.Add)

    @property
    def subtracts(self) -> bool:
        """``name -= amount``."""
        node = self.statement
        is_left = isinstance(node, ast.AugAssign) or (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.BinOp)
            and node.value.right is self.amount
        )
        return self.key is None and is_left and isinstance(_operation(node), ast.Sub)

    def is_write_at(self, index: str) -> bool:
        """Whether it is ``name[index] = amount``."""
        is_key = is_name(self.key, index)
        return is_key and isinstance(self.statement, ast.Assign)


def _operation(node: ast.stmt) -> ast.operator | None:
    """How a statement changes what it names: ``x += 1``, ``x = x + 1``; None for other ways."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
        name = dotted_name(node.targets[0])
        if name and name in (dotted_name(node.value.left), dotted_name(node.value.right)):
            return node.value.op
    return node.op if isinstance(node, ast.AugAssign) else None


def _find_effect(node: ast.stmt) -> _Effect | None:
    if isinstance(node, ast.AugAssign):
        return _change(node, node.target, node.value, 1)
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(node.value, ast.BinOp) and dotted_name(target):
            sides = [node.value.left, node.value.right]
            is_target = [dotted_name(side) == dotted_name(target) for side in sides]
            if is_target.count(True) == 1:
                return _change(
                    node, target, sides[not is_target[1]] if is_target[0] else sides[0], 2
                )
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            return _change(node, target, node.value, 1)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return _call(node, node.value)
    return None


def _change(node: ast.stmt, target: ast.expr, amount: ast.expr, occurrences: int) -> _Effect | None:
    keys: list[ast.expr] = []
    while isinstance(target, ast.Subscript):
        keys.insert(0, target.slice)
        target = target.value
    name = dotted_name(target)
    if not name or (len(keys) > 1 and any(isinstance(part, ast.Slice) for part in keys)):
        return None
    key = None if not keys else keys[0] if len(keys) == 1 else tuple_node(keys)
    return _Effect(node, name, occurrences, key, amount, max(1, len(keys)))


def _call(node: ast.stmt, call: ast.Call) -> _Effect | None:
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr not in _ADDING:
        return None
    is_plain = len(call.args) == 1 and not call.keywords
    if not is_plain or isinstance(call.args[0], ast.Starred):
        return None
    return _change(node, function.value, call.args[0], 1)


class _AddingLoop:
    """A loop among the statements of a function whose data have a name."""

    def __init__(self, body: list[ast.stmt], place: int, data: str, naming: NamesOfOutside) -> None:
        self._body, self._place, self._data = body, place, data
        self._naming = naming
        loop = body[place]
        assert isinstance(loop, ast.For)
        self._loop: ast.For = copy.deepcopy(loop)
        self._index = ""
        #: The record as it is at the start of a pass.
        self._record: ast.expr | None = None
        #: Reads of the place of the record in a copy of the data, by the name of the copy.
        self._reads: list[tuple[str, ast.expr]] = []
        #: The list that it fills instead.
        self.told = f"{PREFIX}_{place}"
        self.lists_of_sums: dict[str, frozenset[str]] = {}
        self.lists_of_attributes: dict[str, frozenset[str]] = {}
        self.lists_of_changes: dict[str, NotedChanges] = {}

    def listed(self) -> tuple[list[ast.stmt], int] | None:
        """The statements with a loop that fills a list, and the place of what follows it."""
        loop = self._loop
        if loop.orelse or _fills_one_list(loop):
            return None
        effects = self._effects()
        names = sorted({effect.owner for effect in effects})
        owners = {effect.owner for effect in effects if "." in effect.name}
        if not owners.isdisjoint(effect.name for effect in effects):
            return None  # an object is changed, and attributes of it
        starts = {name: self._start_of(name, is_owner=name in owners) for name in names}
        if not names or None in starts.values():
            return None
        copies = {name for name, at in starts.items() if self._is_copy(_value(self._body[at or 0]))}
        self._read_index(copies)
        effects = self._effects()
        if (
            self._is_record_changed()
            or not self._are_apart(effects)
            or not all(self._is_written_once(name, effects) for name in copies)
        ):
            return None
        return self._write(effects, {name: at or 0 for name, at in starts.items()}, copies)

    def _sums(self, effects: list[_Effect], starts: dict[str, int]) -> set[str]:
        """Numbers to which a pass adds at most once: what it adds is a number, 0 for nothing."""
        sums = set()
        for name in {effect.name for effect in effects} & starts.keys():
            own = [effect for effect in effects if effect.name == name]
            is_sum = all(effect.adds or effect.subtracts for effect in own)
            is_number = _is_whole(_value(self._body[starts[name]]))
            changed = {id(effect.statement) for effect in own}
            if is_sum and is_number and _most_reached(self._loop.body, changed) == 1:
                sums.add(name)
        return sums

    # ---- what the loop changes

    def _effects(self) -> list[_Effect]:
        """Changes of objects that the loop does not make itself."""
        nodes = [node for node in ast.walk(self._loop) if isinstance(node, ast.stmt)]
        effects = [effect for node in nodes if (effect := _find_effect(node)) is not None]
        changed = {id(effect.statement) for effect in effects if effect.key is None}
        own = names_assigned(self._loop.target)
        for node in nodes:
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.For)) and id(node) not in changed:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                own |= {name for target in targets for name in _names_bound(target)}
        return [effect for effect in effects if effect.owner not in own]

    def _are_apart(self, effects: list[_Effect]) -> bool:
        """Whether what is changed is used nowhere else in the loop.

        Of attributes the last name decides, whatever object it is asked of.
        """
        counts: dict[str, int] = {}
        for effect in effects:
            last = effect.name.rpartition(".")[2]
            counts[last] = counts.get(last, 0) + effect.occurrences
        counted = dict.fromkeys(counts, 0)
        for node in ast.walk(self._loop):
            name = node.id if isinstance(node, ast.Name) else ""
            name = node.attr if isinstance(node, ast.Attribute) else name
            if name in counted:
                counted[name] += 1
        return counted == counts

    def _start_of(self, name: str, *, is_owner: bool) -> int | None:
        """The only statement before the loop that names it, and makes a new object.

        Of a class of the program, where attributes of it are changed (``is_owner``).
        """
        before = [k for k in range(self._place) if not reads_keys(self._body[k])]
        naming = [k for k in before if name in names_anywhere(self._body[k])]
        if len(naming) != 1:
            return None
        node = self._body[naming[0]]
        value = _value(node)
        if isinstance(node, ast.Assign):
            targets = node.targets
        else:
            targets = [node.target] if isinstance(node, ast.AnnAssign) else []
        is_single = len(targets) == 1 and isinstance(targets[0], ast.Name)
        if value is None or not is_single or name in names_anywhere(value):
            return None
        is_made = self._is_copy(value) or makes_object(value)
        return naming[0] if (self._is_object(value) if is_owner else is_made) else None

    def _is_object(self, value: ast.expr) -> bool:
        """Whether it is a new object of a class of the program, which is given no data."""
        is_call = isinstance(value, ast.Call) and self._data not in names_anywhere(value)
        return is_call and self._naming.kind_of(value.func) is not None  # type: ignore[attr-defined]

    def _is_copy(self, value: ast.expr | None) -> bool:
        """``data.copy()``, ``np.array(data)``, ``list(data)``."""
        if not isinstance(value, ast.Call) or value.keywords:
            return False
        function, arguments = value.func, list(value.args)
        if isinstance(function, ast.Attribute) and not arguments and function.attr == "copy":
            arguments = [function.value]
        is_data = len(arguments) == 1 and plain_name(arguments[0]) == self._data
        return is_data and _last_name(function) in _COPYING

    def _has_places(self, value: ast.expr | None, depth: int) -> bool:
        """Whether an object is a list, or an array of a fixed type, that whole numbers point into:
        there 1 and ``np.int64(1)`` are one place. ``depth``: so are the lists in it."""
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            return value.func.attr in _ARRAYS and self._naming.is_numpy(
                plain_name(value.func.value)
            )
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
            value = value.left if isinstance(value.left, ast.List) else value.right
        inside: list[ast.expr] = []
        if isinstance(value, ast.List):
            inside = value.elts
        elif isinstance(value, ast.ListComp):
            inside = [value.elt]
        else:
            return False
        return depth == 1 or all(self._has_places(entry, depth - 1) for entry in inside)

    # ---- the index of a loop

    def _read_index(self, copies: set[str]) -> None:
        """``enumerate(data)`` and ``range(len(data))``, or of a copy of the data."""
        loop, alike = self._loop, {self._data, *copies}
        call, target = loop.iter, loop.target
        if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
            return
        inner, called = call.args[0], name_called(call)
        data: ast.expr = ast.copy_location(name_node(self._data), call)
        if called == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            index, record = target.elts
            if isinstance(inner, ast.Name) and inner.id in alike and isinstance(index, ast.Name):
                self._index, call.args = index.id, [data]
                self._record = copy.deepcopy(record)
        elif called == "range" and isinstance(target, ast.Name) and self._is_length(inner, alike):
            self._index = target.id
            call.args = [ast.copy_location(ast.Call(name_node("len"), [data], []), call)]
            place = name_node(self._index)
            self._record = ast.Subscript(data, place, ast.Load())
            ast.fix_missing_locations(ast.copy_location(self._record, call))
        if self._index and copies:
            entries = _Entries(copies, self._index, self._record, self._reads)
            loop.body = [entries.visit(node) for node in loop.body]

    def _is_length(self, node: ast.expr, alike: set[str]) -> bool:
        if isinstance(node, ast.Name):
            given = [one for one in self._body if node.id in names_assigned(one)]
            value = _value(given[0]) if len(given) == 1 else None
            return value is not None and self._is_length(value, alike)
        if isinstance(node, ast.Attribute):
            return node.attr == "size" and plain_name(node.value) == self._data
        measured = only_argument(node, "len")
        return measured is not None and plain_name(measured) in alike

    def _is_written_once(self, name: str, effects: list[_Effect]) -> bool:
        """Whether a pass writes into the place of its record at most once, and does not read it
        after that."""
        effects_on_name = [effect for effect in effects if effect.name == name]
        if (
            len(effects_on_name) != 1
            or not self._index
            or not effects_on_name[0].is_write_at(self._index)
        ):
            return False
        statement = effects_on_name[0].statement
        inner = [node for node in ast.walk(self._loop) if isinstance(node, (ast.For, ast.While))]
        if any(statement in ast.walk(node) for node in inner if node is not self._loop):
            return False
        reads = [node for read, node in self._reads if read == name]
        inside = list(ast.walk(statement))
        return all(node in inside or node.lineno < statement.lineno for node in reads)

    def _is_record_changed(self) -> bool:
        names = set() if self._record is None else names_anywhere(self._record)
        return not names.isdisjoint(names_assigned(*self._loop.body))

    # ---- the loop that fills a list

    def _write(
        self, effects: list[_Effect], starts: dict[str, int], copies: set[str]
    ) -> tuple[list[ast.stmt], int]:
        loop, told, own = self._loop, self.told, f"{self.told}_here"
        sums = self._sums(effects, starts)
        cells = {name: f"{own}_{name}" for name in sorted(copies | sums)}
        if sums == starts.keys():
            self.lists_of_sums = {told: frozenset(sums)}
        at_places = {
            id(effect.statement)
            for effect in effects
            if "." not in effect.name
            and self._has_places(_value(self._body[starts[effect.name]]), effect.depth)
        }
        writing = _Writing(effects, own, self._index, cells, at_places)
        if not copies:
            self.lists_of_changes = {told: NotedChanges(tuple(writing.names), tuple(cells))}
        parts: list[ast.expr] = [name_node(own), *map(name_node, cells.values())]
        writing.end = [_append(told, parts)]
        body = flat_statements(writing.visit(node) for node in loop.body)
        if not isinstance(body[-1], ast.Continue):
            body += writing.end
        begin: list[ast.stmt] = [_make_assignment(own, ast.List([], ast.Load()))]
        for name, cell in cells.items():
            record = ast.Constant(0) if name in sums or self._record is None else self._record
            begin.append(_make_assignment(cell, _to_load(record)))
        loop.body = [*begin, *body]
        made: list[ast.stmt] = [_make_assignment(told, ast.List([], ast.Load())), loop]
        attributes = {effect.name for effect in effects if "." in effect.name}
        owners = {effect.owner for effect in effects if "." in effect.name}
        self.lists_of_attributes = {told: frozenset(attributes)} if attributes else {}
        # Objects whose attributes change are there for the loop, too, and have another name later.
        later = _Later({name: f"{told}_{name}" for name in owners})
        at = {start for name, start in starts.items() if name not in owners}
        for name, start in starts.items():
            if name not in copies:
                made.append(later.visit(copy.deepcopy(self._body[start])))
        for name in starts:
            new = later.names.get(name, name)
            before = [] if name in copies else [name_node(new)]
            made.append(_make_assignment(new, tuple_node([*before, name_node(told)])))
        for node in made:
            ast.fix_missing_locations(ast.copy_location(node, self._body[self._place]))
        head = [node for k, node in enumerate(self._body[: self._place]) if k not in at]
        rest = self._body[self._place + 1 :]
        if owners:
            rest = [later.visit(copy.deepcopy(node)) for node in rest]
        return [*head, *made, *rest], len(head) + len(made) - 1


class _Later(ast.NodeTransformer):
    """Names of objects after a loop that changed attributes of theirs."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> Any:
        new = self.names.get(node.id, node.id)
        return ast.copy_location(ast.Name(new, node.ctx), node)


class _Writing(ast.NodeTransformer):
    """Writes what is added into the list of the pass, and that into the list of all."""

    def __init__(
        self,
        effects: list[_Effect],
        own: str,
        index: str,
        cells: dict[str, str],
        at_places: set[int],
    ) -> None:
        self._at_places = at_places
        self._effects = {id(effect.statement): effect for effect in effects}
        self._own, self._index, self._cells = own, index, cells
        self.names = sorted({effect.name for effect in effects})
        self._depth = 0
        self.end: list[ast.stmt] = []

    def visit(self, node: ast.AST) -> Any:
        effect = self._effects.get(id(node))
        if effect is not None:
            return ast.copy_location(self._entry(effect), node)
        if isinstance(node, ast.Continue) and not self._depth:
            return [*copy.deepcopy(self.end), node]
        is_loop = isinstance(node, (ast.For, ast.While))
        self._depth += is_loop
        made = self.generic_visit(node)
        self._depth -= is_loop
        return made

    def _entry(self, effect: _Effect) -> ast.stmt:
        cell = self._cells.get(effect.name)
        if cell is not None and effect.subtracts:
            return _make_assignment(cell, ast.BinOp(ast.Constant(0), ast.Sub(), effect.amount))
        if cell is not None:
            return _make_assignment(cell, effect.amount)
        node, how = effect.statement, type(_operation(effect.statement)).__name__
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            how = node.value.func.attr  # type: ignore[attr-defined]
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
            how += " on the left" if node.value.left is effect.amount else ""
        what = f"{self.names.index(effect.name)} {how}"
        is_keyed = effect.key is not None and not effect.is_write_at(self._index)
        if effect.depth > 1:
            what += f" by {effect.depth} keys"
        if is_keyed and id(effect.statement) in self._at_places:
            what += AT_PLACE
        elif is_keyed and "." in effect.name:
            what += f" of {effect.name}"
        parts: list[ast.expr] = [ast.Constant(what)]
        if effect.key is not None and is_keyed:
            parts.append(effect.key)
        parts.append(effect.amount)
        return _append(self._own, parts)


class _Entries(ast.NodeTransformer):
    """``noisy[i]``, read before it is written, as the record."""

    def __init__(
        self, names: set[str], index: str, record: Any, reads: list[tuple[str, ast.expr]]
    ) -> None:
        self._names, self._index, self._record = names, index, record
        self._reads = reads

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if plain_name(node.value) not in self._names or plain_name(node.slice) != self._index:
            return node
        if not isinstance(node.ctx, ast.Load):
            return node
        loaded: Any = ast.copy_location(_to_load(self._record), node)
        ast.fix_missing_locations(loaded)
        self._reads.append((plain_name(node.value), loaded))
        return loaded


def _fills_one_list(loop: ast.For) -> bool:
    try:
        analyse_loop(loop)
    except NotAlike:
        return False
    return True


def _names_bound(target: ast.AST) -> set[str]:
    if isinstance(target, ast.Name):
        return {target.id}
    if isinstance(target, (ast.Tuple, ast.List)):
        return set[str]().union(*map(_names_bound, target.elts))
    return set()


def makes_object(value: ast.expr) -> bool:
    """Whether an expression makes an object of its own of constants and lengths."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and _last_name(node.func) not in _MAKING | {"len"}:
            return False
    bare = isinstance(value, (ast.Name, ast.Attribute, ast.Subscript))
    return not bare and not isinstance(value, (ast.Lambda, ast.GeneratorExp, ast.NamedExpr))


def _is_whole(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) is int


def _most_reached(body: list[ast.stmt], ids: set[int]) -> int:
    """How many of some statements a pass reaches at most; 2 stands for more."""
    most = 0
    for node in body:
        if isinstance(node, ast.If):
            most += max(_most_reached(node.body, ids), _most_reached(node.orelse, ids))
        elif isinstance(node, (ast.For, ast.While)):
            most += 2 * _most_reached(node.body, ids)
        else:
            most += id(node) in ids
    return min(most, 2)


def _value(node: ast.stmt) -> ast.expr | None:
    return node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else plain_name(node)


def _make_assignment(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([name_node(name, ast.Store())], value)


def _append(name: str, entries: list[ast.expr]) -> ast.stmt:
    return ast.Expr(ast.Call(attribute_node(name, "append"), [tuple_node(entries)], []))


def _to_load(node: ast.expr) -> ast.expr:
    made = copy.deepcopy(node)
    for part in ast.walk(made):
        if isinstance(part, (ast.Name, ast.Tuple, ast.Subscript)):
            part.ctx = ast.Load()
    return made
