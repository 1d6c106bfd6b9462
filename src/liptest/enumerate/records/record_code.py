"""Code that treats one record: is every pass of it alike, and independent of the other passes?

The body of a loop over the records, the entry of a comprehension, and the functions that they call.
Such code may read its record, draw random numbers and use constants. What it could carry from one
record to the next is refused: a name that is read before the same pass assigns it, a change to an
object from outside, an iterator, a call of unknown code (docs/theory/records.md). Names are
analysed here; the objects behind them in ``record_values``.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from liptest.enumerate.syntax.function_source import (
    REFLECTION,
    list_parameters,
    names_anywhere,
    names_assigned,
    names_read,
)
from liptest.enumerate.syntax.source import FunctionNode
from liptest.enumerate.syntax.tree_pieces import dotted_name, is_name, name_called, name_chain
from liptest.symbolic.noise import CONTINUOUS_DRAWS

#: A name of outside and attributes of it.
Chain = tuple[str, ...]
#: Methods that change nothing and carry nothing on, whatever object they are asked of.
READING = frozenset(
    {"item", "tolist", "astype", "copy", "index", "count", "get", "keys", "values", "items", "sum"}
    | {"bit_length", "bit_count", "is_integer", "mean", "max", "min", "any", "all", "argmax"}
    | {"argmin", "round", "clip", "reshape", "ravel", "flatten", "transpose", "dot", "cumsum"}
    | {"startswith", "endswith", "lower", "upper", "strip", "split", "join", "format", "encode"}
    | {"decode", "hex", "to_bytes", "zfill", "isdigit", "union", "intersection", "difference"}
    | {"hexdigest", "digest"}
)
#: Draws of a generator, of numpy.random, random and secrets.
DRAWS = frozenset(
    CONTINUOUS_DRAWS
    | {"random", "integers", "choice", "binomial", "hypergeometric"}
    | {"geometric", "poisson", "negative_binomial", "logseries", "zipf", "permutation"}
    | {"multinomial", "multivariate_hypergeometric", "random_sample", "rand", "randn", "randint"}
    | {"ranf", "sample", "randrange", "getrandbits", "choices", "randbytes", "randbelow"}
    | {"randbits", "triangular", "expovariate", "paretovariate", "weibullvariate", "gauss"}
    | {"normalvariate"}
)
# Positional arguments of these, before one that could be written to.
_MOST_ARGUMENTS = {"clip": 2, "get": 2, "to_bytes": 2, "split": 2, "reshape": 98, "format": 98}
_CHANGING = frozenset(
    {"append", "extend", "insert", "pop", "remove", "reverse", "sort", "clear", "add", "discard"}
    | {"update", "setdefault"}
)
_ATTRIBUTES = frozenset({"real", "imag", "T", "shape", "size", "ndim", "dtype"})
_FRESH = (ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Set, ast.SetComp)
#: Constructors of hashlib.
HASHES = frozenset(hashlib.algorithms_guaranteed)
#: Calls that make a new object, where they are of Python or NumPy.
FRESH_CALLS = HASHES | {"list", "dict", "set", "zeros", "ones", "full", "array", "copy"}
_EXPRESSIONS = (
    *(ast.Constant, ast.Name, ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.Call),
    *(ast.IfExp, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.ListComp),
    *(ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Attribute, ast.JoinedStr),
    *(ast.FormattedValue, ast.Starred, ast.keyword, ast.comprehension, ast.operator, ast.unaryop),
    *(ast.boolop, ast.cmpop, ast.expr_context),
)


_WITH_LINE = (ast.expr, ast.stmt)


def most_arguments(method: str) -> int:
    """Positional arguments of a method that changes none of them."""
    return _MOST_ARGUMENTS.get(method, 1)


class NotAlike(Exception):
    """The passes may differ, or depend on each other; the message says by what."""


def refuse(node: ast.AST, what: str) -> None:
    """Raise NotAlike with the line."""
    line = next((part.lineno for part in ast.walk(node) if isinstance(part, _WITH_LINE)), 0)
    raise NotAlike(f"{what}, line {line}")


class CallResult(NamedTuple):
    """What a call of a function of outside returns, or a place of it where that is a tuple."""

    function: Chain
    place: int | None = None
    #: Whether it is taken for new by the name of the function, which is true of libraries alone.
    is_new_by_name: bool = False


@dataclass
class RecordCode:
    """What code for one record uses of outside; ``told`` is the list that it appends to."""

    told: str | None = None
    #: Names that are read as values, alone or with attributes.
    read: set[Chain] = field(default_factory=set)
    #: What is called, with the number of positional arguments.
    called: set[tuple[Chain, int]] = field(default_factory=set)
    #: Whether it changes the record in place, which has to be a number.
    is_of_numbers: bool = False
    #: Objects of outside that a method is asked of, which must be a constant or a generator.
    asked: set[tuple[Chain, str]] = field(default_factory=set)
    #: Lists of outside of which some function is called, any of them.
    called_in: set[Chain] = field(default_factory=set)
    #: Calls that must make their result anew: it is changed, or taken for new.
    changed: set[CallResult] = field(default_factory=set)
    #: Attributes of the record, which has to be a row of a frame.
    fields: set[str] = field(default_factory=set)


@dataclass
class _State:
    """On the paths that lead here: names certainly assigned, and how often was appended."""

    assigned: frozenset[str]
    appended: frozenset[int] = frozenset({0})


def _join(states: list[_State]) -> _State | None:
    if not states:
        return None
    assigned = frozenset.intersection(*(state.assigned for state in states))
    return _State(assigned, frozenset().union(*(state.appended for state in states)))


def analyse_loop(loop: ast.For, *, has_fields: bool = False) -> RecordCode:
    """A loop over the records. Raises NotAlike.

    ``has_fields``: whether the records may be rows of a frame, whose attributes are read.
    """
    if loop.orelse:
        refuse(loop, "a loop with else")
    targets = _targets(loop.target)
    code = RecordCode()
    walk = _Walk(code, local=targets | names_assigned(*loop.body), targets=targets, is_loop=True)
    walk.rows = targets if has_fields else set()
    walk.note_fresh(loop.body)
    end = walk.statements(loop.body, _State(frozenset(targets)))
    ends = _join([*walk.continued, *([end] if end else [])])
    if code.told is None or ends is None or ends.appended != frozenset({1}):
        refuse(loop, "a loop that does not append exactly once for each record")
    used = {chain[0] for chain in code.read}
    used |= {chain[0] for chain, _ in (*code.called, *code.asked)}
    if code.told in used:
        refuse(loop, f"{code.told} is read within the loop that fills it")
    return code


def analyse_entry(
    entry: ast.expr, comprehension: ast.comprehension, *, has_fields: bool = False
) -> RecordCode:
    """The entry of a comprehension over the records. Raises NotAlike."""
    if comprehension.ifs or comprehension.is_async:
        refuse(entry, "a comprehension with 'if', whose length tells of the records")
    targets = _targets(comprehension.target)
    code = RecordCode()
    walk = _Walk(code, local=targets, targets=targets)
    walk.rows = targets if has_fields else set()
    walk.expression(entry, frozenset(targets))
    return code


@lru_cache(maxsize=1 << 8)  # once, not in each run
def analyse_function(definition: FunctionNode, *, is_method: bool = False) -> RecordCode:
    """A function that is called for one record. Raises NotAlike.

    The first parameter of a method is a name of outside: the object that it is asked of.
    """
    parameters = set(list_parameters(definition.args)[is_method:])
    code = RecordCode()
    if isinstance(definition, ast.Lambda):
        _Walk(code, local=parameters, targets=set()).expression(
            definition.body, frozenset(parameters)
        )
        return code
    walk = _walk_of(definition, code, parameters)
    walk.statements(definition.body, _State(frozenset(walk.local)))
    return code


def _walk_of(definition: ast.FunctionDef, code: RecordCode, parameters: set[str]) -> _Walk:
    local = parameters | names_assigned(*definition.body)
    walk = _Walk(code, local=local, targets=set(), parameters=parameters)
    walk.note_fresh(definition.body)
    return walk


@lru_cache(maxsize=1 << 8)
def makes_anew(definition: FunctionNode, place: int | None, *, is_method: bool = False) -> bool:
    """Whether all that a function returns, or a place of it, is an object that it made itself."""
    parameters = set(list_parameters(definition.args)[is_method:])
    if isinstance(definition, ast.Lambda):
        made, returned = set[str](), [definition.body]
    else:
        walk = _walk_of(definition, RecordCode(), parameters)
        made = {name for name, results in walk.results.items() if not results}
        returned = list(_returned(definition.body))
    for value in returned:
        part: ast.expr | None = value
        if place is not None:
            is_long = isinstance(value, ast.Tuple) and place < len(value.elts)
            part = value.elts[place] if is_long else None  # type: ignore[attr-defined]
        if not (is_fresh(part) or (isinstance(part, ast.Name) and part.id in made)):
            return False
    return bool(returned)


def _returned(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """What the statements return; without those of functions inside."""
    for statement in body:
        if isinstance(statement, ast.Return):
            yield statement.value or ast.Constant(None)
        elif not isinstance(statement, ast.FunctionDef):
            for name in ("body", "orelse"):
                yield from _returned(getattr(statement, name, []))


def _targets(target: ast.expr) -> set[str]:
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    if not all(isinstance(part, ast.Name) for part in parts):
        refuse(target, "a loop over the records into something else than names")
    return {part.id for part in parts if isinstance(part, ast.Name)}


class _Walk:
    def __init__(
        self,
        code: RecordCode,
        *,
        local: set[str],
        targets: set[str],
        is_loop: bool = False,
        parameters: set[str] | None = None,
    ) -> None:
        self.code = code
        self.local, self.targets = local, targets
        self.is_loop, self.is_function = is_loop, parameters is not None
        self.parameters = parameters or set()
        self.continued: list[_State] = []
        #: Names of the record, where that may be a row of a frame.
        self.rows: set[str] = set()
        #: Names that may hold any object; and that hold items of lists of outside.
        self.any: set[str] = set()
        self.items: dict[str, set[Chain]] = {}
        #: Names that hold objects made in the same pass, where these calls of outside make them.
        self.results: dict[str, set[CallResult]] = {}
        #: Functions that are made in the same pass; names that hold something else.
        self.made: set[str] = set()
        self.stored: set[str] = set()
        self.depth = 0
        self.breaks: list[list[_State]] = []

    def note_fresh(self, body: list[ast.stmt]) -> None:
        """Which local names hold objects that the pass itself made."""
        values = _find_values(body)
        self.stored = set(values)
        for name, given in values.items():
            if any(place is not None or not _is_new_number(v, self.targets) for v, place in given):
                self.any.add(name)
            if name in self.parameters or name in self.targets:
                continue
            items = [self.list_of(value) for value, place in given if place is None]
            if len(items) == len(given) and None not in items:
                self.items[name] = {chain for chain in items if chain is not None}
            others = [part for part in given if part[1] is not None or not is_fresh(part[0])]
            results = [self.result_of(*part) for part in others]
            if None not in results:
                self.results[name] = {result for result in results if result is not None}
        self.any |= self.parameters

    def list_of(self, node: ast.expr | None) -> Chain | None:
        """The list of outside that ``node`` takes an item of, as ``self.functions[j]``."""
        if not isinstance(node, ast.Subscript):
            return None
        while isinstance(node, ast.Subscript):
            node = node.value
        chain = name_chain(node)
        return None if not chain or chain[0] in self.local else chain

    def result_of(self, node: ast.expr | None, place: int | None) -> CallResult | None:
        """What ``node`` is of a function of outside, where it is a call."""
        chain = name_chain(node.func) if isinstance(node, ast.Call) else ()
        return None if not chain or chain[0] in self.local else CallResult(chain, place)

    def is_own(self, node: ast.expr) -> bool:
        """Whether a name holds an object that the pass made; notes which calls have to make it."""
        if not isinstance(node, ast.Name):
            return False
        self.code.changed |= self.results.get(node.id, set())
        return node.id in self.results

    # ---- statements

    def statements(self, body: list[ast.stmt], state: _State) -> _State | None:
        here: _State | None = state
        for statement in body:
            if here is None:
                refuse(statement, "code that is never reached")
            else:
                here = self.statement(statement, here)
        return here

    def statement(self, node: ast.stmt, state: _State) -> _State | None:
        assigned = state.assigned
        if isinstance(node, ast.Assign):
            self.expression(node.value, assigned)
            for target in node.targets:
                state = self.assign(target, state)
            return state
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            self.expression(node.value, assigned)
            return self.assign(node.target, state)
        if isinstance(node, ast.AugAssign):
            self.expression(node.value, assigned)
            return self.augment(node, state)
        if isinstance(node, ast.Expr):
            return self.bare(node, state)
        if isinstance(node, ast.If):
            self.expression(node.test, assigned)
            ends = [self.statements(node.body, state), self.statements(node.orelse, state)]
            return _join([end for end in ends if end is not None])
        if isinstance(node, (ast.For, ast.While)):
            return self.inner_loop(node, state)
        if isinstance(node, ast.FunctionDef) and self.is_function:
            return self.inner_function(node, state)
        if isinstance(node, ast.Pass):
            return state
        if isinstance(node, ast.Continue):
            if self.depth == 0:
                self.continued.append(state)
            return None
        if isinstance(node, ast.Break) and self.depth:
            self.breaks[-1].append(state)
            return None
        if isinstance(node, (ast.Return, ast.Raise)) and self.is_function:
            for part in ast.iter_child_nodes(node):
                self.expression(part, assigned)
            return None
        refuse(node, f"'{type(node).__name__.lower()}' in the treatment of a record")
        return None

    def assign(self, target: ast.expr, state: _State) -> _State:
        if isinstance(target, ast.Name):
            return _State(state.assigned | {target.id}, state.appended)
        if isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                state = self.assign(part, state)
            return state
        self.check_own(target, state)
        return state

    def augment(self, node: ast.AugAssign, state: _State) -> _State:
        if not isinstance(node.target, ast.Name):
            self.check_own(node.target, state)
            return state
        name = node.target.id
        self.check_assigned(node.target, name, state.assigned)
        if name in self.any and not self.is_own(node.target):
            refuse(node, f"an operation in place on {name}, which may be an object of outside")
        self.code.is_of_numbers |= name not in self.results
        return state

    def check_own(self, target: ast.expr, state: _State) -> None:
        """Items of objects that the pass itself made may be written."""
        if not (isinstance(target, ast.Subscript) and self.is_own(target.value)):
            refuse(target, "a write to an object of outside, or of another pass")
        self.expression(target.value, state.assigned)  # type: ignore[attr-defined]
        self.expression(target.slice, state.assigned)  # type: ignore[attr-defined]

    def bare(self, node: ast.Expr, state: _State) -> _State:
        call = node.value
        appended = _appends_to(call)
        if self.is_loop and appended is not None and appended not in self.local:
            if self.depth:
                refuse(node, f"{appended}.append within an inner loop")
            if self.code.told not in (None, appended):
                refuse(node, "two lists that the loop appends to")
            self.code.told = appended
            self.expression(call.args[0], state.assigned)  # type: ignore[attr-defined]
            return _State(state.assigned, frozenset(count + 1 for count in state.appended))
        self.expression(call, state.assigned)
        return state

    def inner_function(self, node: ast.FunctionDef, state: _State) -> _State:
        """A function that is made anew for each record; it may use what is the record's own."""
        is_plain = node.name not in self.stored | self.parameters
        if not is_plain or node.decorator_list or node.args.defaults or node.args.kw_defaults:
            refuse(node, f"{node.name}, a function with defaults, decorators or another meaning")
        parameters = set(list_parameters(node.args))
        own = parameters | names_assigned(*node.body)
        walk = _Walk(self.code, local=self.local | own, targets=set(), parameters=parameters)
        walk.note_fresh(node.body)
        walk.any |= self.any
        walk.made = self.made - own
        walk.statements(node.body, _State(frozenset(walk.local)))
        self.made.add(node.name)
        return _State(state.assigned | {node.name}, state.appended)

    def inner_loop(self, node: ast.For | ast.While, state: _State) -> _State | None:
        if node.orelse:
            refuse(node, "a loop with else")
        self.depth += 1
        self.breaks.append([])
        inside = state
        if isinstance(node, ast.For):
            self.expression(node.iter, state.assigned)
            inside = self.assign(node.target, state)
            is_endless = False
        else:
            self.expression(node.test, state.assigned)
            is_endless = isinstance(node.test, ast.Constant) and node.test.value is True
        self.statements(node.body, inside)
        self.depth -= 1
        breaks = self.breaks.pop()
        return _join(breaks) if is_endless else state

    # ---- expressions

    def expression(self, node: ast.AST, assigned: frozenset[str]) -> None:
        if not isinstance(node, _EXPRESSIONS):
            refuse(node, f"'{type(node).__name__.lower()}' in the treatment of a record")
        if isinstance(node, ast.Call):
            self.call(node, assigned)
            return
        if isinstance(node, (ast.Name, ast.Attribute)):
            self.name(node, assigned)
            return
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            self.comprehension(node, assigned)
            return
        for child in ast.iter_child_nodes(node):
            self.expression(child, assigned)

    def comprehension(self, node: ast.AST, assigned: frozenset[str]) -> None:
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        bound: set[str] = set()
        for generator in generators:
            bound |= _targets(generator.target)
        before = self.local, self.any, self.items, self.results, self.rows
        self.expression(generators[0].iter, assigned)
        self.rows = self.rows - bound
        self.local = self.local | bound
        self.any = self.any | bound
        self.items = {name: held for name, held in self.items.items() if name not in bound}
        self.results = {name: held for name, held in self.results.items() if name not in bound}
        inside = assigned | bound
        for place, generator in enumerate(generators):
            if generator.is_async:
                refuse(node, "'async' in the treatment of a record")
            for asked in (*generator.ifs, *([generator.iter] if place else [])):
                self.expression(asked, inside)
        for part in ast.iter_child_nodes(node):
            if not isinstance(part, ast.comprehension):
                self.expression(part, inside)
        self.local, self.any, self.items, self.results, self.rows = before

    def name(self, node: ast.AST, assigned: frozenset[str]) -> None:
        chain = name_chain(node)
        is_field = len(chain) == 2 and chain[0] in self.rows - self.stored
        if is_field and chain[1] not in _ATTRIBUTES:
            self.code.fields.add(chain[1])
            return
        if not chain or (chain[0] in self.local and len(chain) > 1):
            if node.attr not in _ATTRIBUTES:  # type: ignore[attr-defined]
                refuse(node, f"the attribute .{node.attr}")  # type: ignore[attr-defined]
            self.expression(node.value, assigned)  # type: ignore[attr-defined]
            return
        if chain[0] in self.local:
            self.check_assigned(node, chain[0], assigned)
        elif chain[0] == self.code.told:
            refuse(node, f"{chain[0]} is read within the loop that fills it")
        else:
            self.code.read.add(chain)

    def check_assigned(self, node: ast.AST, name: str, assigned: frozenset[str]) -> None:
        if name not in assigned:
            refuse(node, f"{name} is read before it is assigned for the same record")

    def call(self, node: ast.Call, assigned: frozenset[str]) -> None:
        chain = name_chain(node.func)
        is_length = chain == ("len",) and len(node.args) == 1 and not node.keywords
        if not (is_length and isinstance(node.args[0], ast.Name)):
            for part in (*node.args, *node.keywords):
                self.expression(part, assigned)
        if any(keyword.arg in ("out", "key", "default") for keyword in node.keywords):
            refuse(node, "a call with out= or key=")
        result = self.result_of(node, None)
        if result is not None and is_fresh(node):
            self.code.changed.add(result._replace(is_new_by_name=True))
        spread = any(isinstance(argument, ast.Starred) for argument in node.args)
        count = 99 if spread else len(node.args)
        if isinstance(node.func, ast.Name):
            if node.func.id in self.made:
                return
            if node.func.id in self.local:
                self.call_item(node.func, assigned)
                return
            if is_length and isinstance(node.args[0], ast.Name):
                self.length(node.args[0], assigned)
            self.code.called.add(((node.func.id,), count))
        elif chain and chain[0] not in self.local:
            if chain[0] == self.code.told:
                refuse(node, f"{chain[0]} is used within the loop that fills it")
            self.code.called.add((chain, count))
        elif isinstance(node.func, ast.Attribute):
            self.method(node.func, count, assigned)
        else:
            self.call_item(node.func, assigned)

    def call_item(self, function: ast.expr, assigned: frozenset[str]) -> None:
        """A call of a function in a list of outside, ``self.functions[j](value)``."""
        base, chain = function, self.list_of(function)
        while isinstance(base, ast.Subscript):
            self.expression(base.slice, assigned)
            base = base.value
        lists = {chain} if chain is not None else None
        if lists is None and isinstance(base, ast.Name) and base.id in self.items:
            self.check_assigned(base, base.id, assigned)
            lists = self.items[base.id]
        if lists is None:
            what = f"{base.id}, which the pass itself assigns" if isinstance(base, ast.Name) else ""
            refuse(function, f"a call of {what or 'what is calculated'}")
        self.code.called_in |= lists or set()

    def length(self, node: ast.Name, assigned: frozenset[str]) -> None:
        """``len(data)`` is a constant; the length of anything else is read as its value is."""
        if node.id in self.local or node.id == self.code.told:
            self.name(node, assigned)
        else:
            self.code.asked.add(((node.id,), "len"))

    def method(self, node: ast.Attribute, count: int, assigned: frozenset[str]) -> None:
        self.expression(node.value, assigned)
        reads = node.attr in DRAWS or (node.attr in READING and count <= most_arguments(node.attr))
        if not reads and not (node.attr in _CHANGING and self.is_own(node.value)):
            refuse(node, f"the method .{node.attr}")


def _find_values(body: list[ast.stmt]) -> dict[str, list[tuple[ast.expr | None, int | None]]]:
    """What names are given: a value, or a place of it; None for what is not known."""
    values: dict[str, list[tuple[ast.expr | None, int | None]]] = {}
    for node in (inner for statement in body for inner in ast.walk(statement)):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                places = _places_in(target)
                for name in names_assigned(target):
                    given = (node.value, places[name]) if name in places else (None, None)
                    values.setdefault(name, []).append(given)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            values.setdefault(node.target.id, []).append((node.value, None))
        elif isinstance(node, ast.For):
            for name in names_assigned(node.target):
                values.setdefault(name, []).append((None, None))
    return values


def _places_in(target: ast.expr) -> dict[str, int | None]:
    """The names of a target, with their places where a tuple is taken apart into names alone."""
    if isinstance(target, ast.Name):
        return {target.id: None}
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    is_plain = len(names) == len(parts) == len(set(names))
    return {name: place for place, name in enumerate(names)} if is_plain else {}


def is_fresh(value: ast.expr | None) -> bool:
    """Whether an expression makes a new object."""
    # Of numbers, texts, lists and arrays, and there is nothing else, an operation makes new ones.
    if isinstance(value, ast.BinOp):
        return True
    if isinstance(value, ast.IfExp):
        return is_fresh(value.body) and is_fresh(value.orelse)
    if isinstance(value, ast.Call) and not any(keyword.arg == "copy" for keyword in value.keywords):
        if isinstance(value.func, ast.Attribute) and value.func.attr == "copy":
            return not (value.args or value.keywords)
        called = dotted_name(value.func).rpartition(".")[2]
        return (called in DRAWS and _has_size(value)) or called in FRESH_CALLS - {"copy"}
    return isinstance(value, _FRESH)


def _has_size(call: ast.Call) -> bool:
    """Whether an array is drawn: NumPy alone takes the option."""
    return any(keyword.arg == "size" for keyword in call.keywords)


def _is_new_number(value: ast.expr | None, targets: set[str]) -> bool:
    """Whether a value is not an object of outside that could be changed in place."""
    if isinstance(value, ast.Name):
        return value.id in targets
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("int", "float", "bool", "len", "abs", "str")
    new = (ast.Constant, ast.Compare, ast.UnaryOp, ast.JoinedStr, ast.BinOp, *_FRESH)
    return isinstance(value, new)


def _appends_to(node: ast.expr) -> str | None:
    """The name of the list in ``told.append(value)``."""
    if not isinstance(node, ast.Call) or node.keywords or len(node.args) != 1:
        return None
    function = node.func
    if not isinstance(function, ast.Attribute) or function.attr != "append":
        return None
    if isinstance(node.args[0], ast.Starred) or not isinstance(function.value, ast.Name):
        return None
    return function.value.id


def check_function_around(definition: ast.FunctionDef, loop: ast.For, told: str) -> None:
    """What else the function does with names of a loop: nothing. Raises NotAlike.

    ``told`` is created empty before the loop and used nowhere before; names of the loop are read
    nowhere else.
    """
    place = definition.body.index(loop)
    others = [statement for statement in definition.body if statement is not loop]
    own = {name for name in names_assigned(loop) if name != told}
    leaked = own & names_read(*others, definition.args)
    if leaked:
        refuse(loop, f"{sorted(leaked)[0]}, of the last record, is read outside of the loop")
    created = [
        statement for statement in definition.body[:place] if told in names_anywhere(statement)
    ]
    if len(created) != 1 or not _creates(created[0], told):
        refuse(loop, f"{told} is not an empty list of its own before the loop ({told} = [])")
    for node in ast.walk(definition):
        inner = isinstance(node, (ast.FunctionDef, ast.Lambda)) and node is not definition
        if inner and names_read(node) & (own | {told}):
            refuse(node, "a function inside that reads names of the loop")
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            refuse(node, "'global' or 'nonlocal'")
    if names_anywhere(definition) & REFLECTION:
        refuse(definition, "code that looks up names itself")


def _creates(node: ast.stmt, name: str) -> bool:
    """Whether a statement makes an empty list of that name."""
    if isinstance(node, ast.AnnAssign):
        targets: list[ast.expr] = [node.target]
    elif isinstance(node, ast.Assign):
        targets = node.targets
    else:
        return False
    if len(targets) != 1 or node.value is None:
        return False
    target, value = targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        if len(target.elts) != len(value.elts):
            return False
        pairs = list(zip(target.elts, value.elts, strict=True))
    else:
        pairs = [(target, value)]
    made = [v for t, v in pairs if is_name(t, name)]
    elsewhere = [v for t, v in pairs if not (is_name(t, name))]
    if any(name in names_anywhere(v) for v in elsewhere):
        return False
    return len(made) == 1 and _is_empty_list(made[0])


def _is_empty_list(value: ast.expr) -> bool:
    if isinstance(value, ast.List):
        return not value.elts
    is_plain = isinstance(value, ast.Call) and not value.args and not value.keywords
    return is_plain and name_called(value) == "list"
