"""Which expressions only calculate: they draw nothing, keep nothing and change nothing.

A list of what is known to, everything else is not: operators, constants, names of plain data,
constant tables, functions of Python, ``math`` and NumPy that calculate, and functions of the
program that are made of the same. And which calls draw: those of a generator that a function is
given (``rng.integers(n)``) or that a module holds (``RNG = random.SystemRandom()``), and functions
of random and secrets.
"""

from __future__ import annotations

import ast
import bisect
import inspect
import math
import random
import secrets
from fractions import Fraction
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from liptest.enumerate.intercept.draw_logs import OF_PYTHON
from liptest.enumerate.intercept.replaceable_names import is_others, names_in
from liptest.enumerate.records.record_code import most_arguments
from liptest.enumerate.syntax.source import (
    LOOKING,
    FunctionSource,
    copy_tree,
    names_stored,
    read_source,
)
from liptest.enumerate.syntax.tree_pieces import plain_name


class NotPure(Exception):
    """What is not known to calculate only."""


#: Types of which an operation gives another number, or a piece of text, and changes nothing.
NUMBERS = (int, float, bool, np.int64, np.float64, np.bool_)
_ATOMS = frozenset((*NUMBERS, str, bytes, type(None), complex, range))
# Entries of a constant that are looked at.
_ENTRIES = 100_000
_BUILTINS = (
    *(abs, all, any, bool, divmod, float, int, isinstance, len, max, min, ord, pow, range),
    *(round, sorted, sum, tuple),
    # Iterators that are made anew by each call, over what a pass may read.
    *(enumerate, reversed, zip),
)
_OF_NUMPY = (
    *("abs", "all", "any", "append", "argmax", "argmin", "array", "asarray", "bool_", "clip"),
    *("concatenate", "cumsum", "digitize", "dot", "float64", "floor", "hstack", "int64"),
    *("isclose", "max", "maximum"),
    *("inner", "mean", "min", "minimum", "outer", "prod", "round", "searchsorted", "sum", "vdot"),
    "where",
)
_FUNCTIONS = (
    *_BUILTINS,
    *(one for one in vars(math).values() if callable(one)),
    *(vars(np)[name] for name in _OF_NUMPY),
    np.linalg.norm,
    Fraction,
    *(bisect.bisect_left, bisect.bisect_right),
)
# Where they are: this is asked in each pass, and they are never given up.
_PLACES_OF_FUNCTIONS = frozenset(map(id, _FUNCTIONS))
# How many arguments NumPy's functions have before the array that they write to.
_BEFORE_OUT = tuple(
    (vars(np)[name], most)
    for most, names in (
        (2, ("all", "any", "argmax", "argmin", "dot", "max", "min", "outer", "round")),
        (2, ("concatenate",)),
        (3, ("clip", "cumsum", "mean", "prod", "sum")),
    )
    for name in names
)
#: What numbers are made of, which is read only.
PARTS = frozenset({"numerator", "denominator"})
#: Methods of numbers and of tables of them that change nothing.
PLAIN_METHODS = frozenset(
    {"item", "is_integer", "bit_length", "sum", "max", "min", "any", "all"}
    | {"get", "index", "count", "dot", "copy"}
)
_METHODS_OF_DATA = frozenset(
    name
    for kind in (list, tuple, dict, set, frozenset, str, np.ndarray, np.float64, np.int64, float)
    for name in dir(kind)
    if callable(getattr(kind, name))
)
_EXPRESSIONS = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice),
    *(ast.Tuple, ast.Constant, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context),
)
_OTHER_DISPLAYS = (ast.List, ast.Set)
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp)
_STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.If, ast.Return, ast.Pass, ast.Raise)
# Functions that call each other so deep.
_DEEPEST = 8


class NotPlain(TypeError):
    """A pass over the records uses what may change, or more than numbers; the message says how."""


def is_plain(value: Any, left: int = _ENTRIES) -> bool:
    """Whether it is constant data: numbers, text, and tables of them."""
    kind = type(value)
    if kind in _ATOMS or (issubclass(kind, np.generic) and kind.__module__ == "numpy"):
        return True
    if kind in (tuple, list, set, frozenset):
        if len(value) <= left and _ATOMS.issuperset(map(type, value)):
            return True  # thousands of numbers, asked for at each pass of a loop
        return len(value) <= left and all(is_plain(entry, left // 10) for entry in value)
    if kind is dict:
        return len(value) <= left and all(
            is_plain(entry, left // 10) for pair in value.items() for entry in pair
        )
    return kind is np.ndarray and not value.dtype.hasobject


def plain_attribute(owner: Any, name: str) -> Any:
    """An attribute that an object, or its class, holds as constant data, read without code of it.

    Raises NotPlain for all others, as for properties and what ``__getattr__`` makes.
    """
    missing = object()
    held = inspect.getattr_static(owner, name, missing)
    reader: Any = type(owner).__getattribute__
    if reader in (object.__getattribute__, type.__getattribute__) and is_plain(held):
        return held
    raise NotPlain(f".{name} of a {type(owner).__name__} is read in a loop over the records")


def find_original(function: Any) -> Any:
    """What a name stands for outside of an analysis: stand-ins have what they stand for."""
    if isinstance(function, FunctionType):
        own = str(function.__globals__.get("__name__")).startswith("liptest.")
        return vars(function).get("__wrapped__", function) if own else function
    if isinstance(function, type) and function.__bases__ in ((float,), (int,)):
        return vars(function).get("original", function)
    return function


def is_builtin(source: FunctionSource, node: ast.expr, function: Any) -> bool:
    """Whether an expression is the name of a function that is built in, or of a module's."""
    try:
        return find_original(find_constant(source, node)) is function
    except NotPure:
        return False


def find_constant(source: FunctionSource, node: ast.expr) -> Any:
    """What a name, or a name in a module, stands for. Raises NotPure where that is not known."""
    if isinstance(node, ast.Name):
        try:
            return source.value_of(node.id)
        except KeyError:
            raise NotPure(f"{node.id} is not a constant") from None
    if isinstance(node, ast.Attribute):
        owner = find_constant(source, node.value)
        if type(owner) is ModuleType and node.attr in vars(owner):
            return vars(owner)[node.attr]
    raise NotPure(f"{ast.unparse(node)} is not known")


def check_expression(
    source: FunctionSource, node: ast.AST, own: frozenset[str], depth: int = 0
) -> None:
    """Raise NotPure unless an expression only calculates.

    ``own`` are the local names that it may read, of which it is looked at run time what they are.
    """
    if isinstance(node, ast.Name):
        if node.id not in own and not _is_constant(find_constant(source, node)):
            raise NotPure(f"{node.id} is not constant data")
    elif isinstance(node, ast.Attribute):
        # Of plain data, and of rows, attributes are only read.
        if not node.attr.startswith("__") and _root(node) in own:
            if node.attr in _METHODS_OF_DATA:
                # Whoever is handed it may call it: ``max([v], key=told.append)``.
                raise NotPure(f"the method {node.attr} is not called where it is read")
            check_expression(source, node.value, own, depth)
        elif not _is_constant(find_constant(source, node)):
            raise NotPure(f"{ast.unparse(node)} is not constant data")
    elif isinstance(node, ast.Call):
        _check_call(source, node, own, depth)
    elif isinstance(node, _COMPREHENSIONS):
        _check_comprehension(source, node, own, depth)
    elif isinstance(node, (*_EXPRESSIONS, *_OTHER_DISPLAYS)):
        for inner in ast.iter_child_nodes(node):
            check_expression(source, inner, own, depth)
    else:
        raise NotPure(f"{type(node).__name__} is not followed")


def _is_constant(value: Any) -> bool:
    return is_plain(value) or find_original(value) in _TYPES


_TYPES = (int, float, bool, str, np.int64, np.float64, np.bool_, np.integer, np.floating)


def _check_call(source: FunctionSource, node: ast.Call, own: frozenset[str], depth: int) -> None:
    inner = [*node.args, *(keyword.value for keyword in node.keywords)]
    if any(keyword.arg in (None, "out", "where") for keyword in node.keywords):
        raise NotPure("out= is not followed")
    for argument in inner:
        check_expression(source, argument, own, depth)
    most: float = math.inf
    if isinstance(node.func, ast.Attribute) and _is_of_own(node.func, own):
        if node.func.attr not in PLAIN_METHODS:
            raise NotPure(f"the method {node.func.attr} is not followed")
        check_expression(source, node.func.value, own, depth)
        most = most_arguments(node.func.attr)
    elif isinstance(node.func, ast.Name) and node.func.id in own:
        _check_local_function(source, node.func.id, own, depth)
    elif _is_method_of_plain(source, node.func):
        most = most_arguments(_find_attribute(node.func))
    else:
        function = find_constant(source, node.func)
        if not _calculates(function, depth):
            raise NotPure(f"{ast.unparse(node.func)} is not known to calculate only")
        most = _arguments_before_out(find_original(function))
    if len(node.args) > most:
        raise NotPure("what is written to by its place is not followed")


def _is_of_own(node: ast.Attribute, own: frozenset[str]) -> bool:
    """Whether it is an attribute of a name of the program's own, or of what is calculated."""
    is_calculated = isinstance(node.value, (ast.BinOp, ast.Call, ast.Compare, ast.Subscript))
    return is_calculated or _root(node) in own


def _arguments_before_out(function: Any) -> float:
    """How many arguments by their place a function has before the one that it writes to."""
    if isinstance(function, np.ufunc):
        return function.nin
    return next((most for one, most in _BEFORE_OUT if one is function), math.inf)


def _is_method_of_plain(source: FunctionSource, node: ast.expr) -> bool:
    """Whether it is one of a constant table: ``TABLE.get``."""
    if not isinstance(node, ast.Attribute) or node.attr not in PLAIN_METHODS:
        return False
    return isinstance(node.value, ast.Name) and is_plain(find_constant(source, node.value))


def _check_local_function(
    source: FunctionSource, name: str, own: frozenset[str], depth: int
) -> None:
    """Raise NotPure unless a local name stands for one function that is made here and calculates.

    At run time ``calculates`` is asked of the function itself, with what it has in its cells.
    """
    node = local_function(source, name)
    if node is None or depth >= _DEEPEST:
        raise NotPure(f"{name} is not known to calculate only")
    arguments = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
    if isinstance(node, ast.Lambda):
        check_expression(source, node.body, own | arguments, depth + 1)
        return
    inner = own | arguments | names_stored(*node.body)
    for statement in node.body:
        _check_statement(source, statement, inner, depth + 1)


def local_function(source: FunctionSource, name: str) -> ast.FunctionDef | ast.Lambda | None:
    """The function that a local name always stands for; None where that is not seen."""
    found = source.bindings.get(name, [])
    if len(found) != 1:
        return None
    [one] = found
    if isinstance(one, ast.FunctionDef) and not one.decorator_list:
        return one
    if not isinstance(one, ast.Assign) or not isinstance(one.value, ast.Lambda):
        return None
    return one.value if len(one.targets) == 1 and isinstance(one.targets[0], ast.Name) else None


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return plain_name(node)


def _check_comprehension(
    source: FunctionSource, node: ast.ListComp | ast.GeneratorExp, own: frozenset[str], depth: int
) -> None:
    in_scope = own
    for part in node.generators:
        check_expression(source, part.iter, in_scope, depth)
        in_scope |= names_stored(part.target)
        for test in part.ifs:
            check_expression(source, test, in_scope, depth)
        if part.is_async:
            raise NotPure("async")
    check_expression(source, node.elt, in_scope, depth)


def calculates(function: Any) -> bool:
    """Whether a function only calculates, with what it reads of the names around it."""
    return type(function) is FunctionType and _calculates(function, 0)


def _calculates(function: Any, depth: int) -> bool:
    function = find_original(function)
    if isinstance(function, np.ufunc) or id(function) in _PLACES_OF_FUNCTIONS:
        return True
    return depth < _DEEPEST and _is_pure_function(function, depth + 1)


def calculates_with_object(function: FunctionType, *, bound: bool) -> bool:
    """Whether a method only calculates, if what it reads and calls of its object does.

    A ``bound`` one has its object as its first argument, of which it only reads attributes.
    """
    return _is_pure_function(function, 1, of_object=bound)


def _find_attribute(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""


def check_in_loop(
    source: FunctionSource,
    node: ast.expr,
    own: frozenset[str],
    inner: frozenset[str],
    *,
    calls: bool = False,
) -> None:
    """Raise NotPure unless an expression of a pass only calculates.

    ``inner`` are the names of the pass, ``own`` all local names. Of what names of outside stand for
    it is looked at run time what is read of it, and that a method that is called only calculates.
    ``calls``: also that a function does that such a name stands for, as a parameter ``rule`` in
    ``sum(1 for v in data if rule(v))``: each call asks ``calculates`` of what it calls.
    """
    outside = own - inner
    given = frozenset(name for name in outside if calls and local_function(source, name) is None)
    shown = WithoutMethods(outside, functions=given).visit(copy_tree(node))
    shown = WithoutMethods(objects_in(source, node), only_attributes=True).visit(shown)
    check_expression(source, shown, own | inner)


def objects_in(source: FunctionSource, node: ast.AST) -> frozenset[str]:
    """Global names in an expression that stand for objects and classes of the program."""
    owners = {
        inner.value.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name)
    }
    return frozenset(name for name in owners if is_object(source, name))


def is_object(source: FunctionSource, name: str) -> bool:
    """Whether a name that is not a local stands for an object, or a class, of the program."""
    try:
        value = source.value_of(name)
    except KeyError:
        return False
    kind = value if isinstance(value, type) else type(value)
    return not is_others(kind.__module__) and kind.__module__ != "builtins"


class WithoutMethods(ast.NodeTransformer):
    """Puts the arguments alone for calls of methods of some names, which are looked at when run.

    With ``only_attributes`` these names have no other use, or NotPure is raised. The same for calls
    of ``functions``, which are names.
    """

    def __init__(
        self,
        owners: frozenset[str],
        *,
        only_attributes: bool = False,
        functions: frozenset[str] = frozenset(),
    ) -> None:
        self._owners = owners
        self._only_attributes = only_attributes
        self._functions = functions

    def visit_Call(self, node: ast.Call) -> Any:
        is_plain_method = not self._only_attributes and _find_attribute(node.func) in PLAIN_METHODS
        is_given = isinstance(node.func, ast.Name) and node.func.id in self._functions
        if not is_given and (not self._is_of_owner(node.func) or is_plain_method):
            return self.generic_visit(node)
        if any(keyword.arg is None for keyword in node.keywords):
            raise NotPure("unknown arguments")
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        made = ast.Tuple([self.visit(argument) for argument in arguments], ast.Load())
        return ast.copy_location(made, node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if not self._only_attributes or not self._is_of_owner(node):
            return self.generic_visit(node)
        return ast.copy_location(ast.Constant(0), node)

    def visit_Name(self, node: ast.Name) -> Any:
        if self._only_attributes and node.id in self._owners:
            raise NotPure(f"{node.id} is used as a whole")
        return node

    def _is_of_owner(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return False
        is_read = isinstance(node.ctx, ast.Load) and not node.attr.startswith("__")
        return is_read and node.value.id in self._owners


def _is_pure_function(function: Any, depth: int, *, of_object: bool = False) -> bool:
    """Of a function of the program: its statements assign local names and return."""
    source = read_source(function)
    if source is None or not names_in(function.__code__).isdisjoint(LOOKING):
        return False
    code = function.__code__
    if not is_plain((function.__defaults__, function.__kwdefaults__)):
        return False
    # Names that comprehensions read are in cells; what else might use these is not pure.
    own, body = frozenset((*code.co_varnames, *code.co_cellvars)), source.body
    try:
        if of_object:
            owner = frozenset(code.co_varnames[: min(1, code.co_argcount)])
            of_owner = WithoutMethods(owner, only_attributes=True)
            body = [of_owner.visit(copy_tree(statement)) for statement in body]
            own -= owner
        for statement in body:
            _check_statement(source, statement, own, depth)
    except NotPure:
        return False
    return True


def _check_statement(
    source: FunctionSource, node: ast.stmt, own: frozenset[str], depth: int
) -> None:
    if not isinstance(node, _STATEMENTS):
        if not is_docstring(node):
            raise NotPure(f"{type(node).__name__} is not followed")
        return
    if isinstance(node, ast.AugAssign):
        # It would change a list that is an argument or a default.
        raise NotPure("an assignment in place")
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    if not all(isinstance(target, ast.Name) for target in targets):
        raise NotPure("an assignment to more than a name")
    if isinstance(node, ast.If):
        check_expression(source, node.test, own, depth)
        for inner in (*node.body, *node.orelse):
            _check_statement(source, inner, own, depth)
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.Return)) and node.value is not None:
        check_expression(source, node.value, own, depth)
    elif isinstance(node, ast.Raise):
        raise NotPure("raise")


def is_docstring(node: ast.stmt) -> bool:
    """Whether a statement is a constant alone."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a function that do something."""
    return body[1:] if is_docstring(body[0]) else body


_DRAWING_METHODS = frozenset({"random", "randrange", "randint", "getrandbits"})
_WHOLE = frozenset({"integers", "randrange", "randint", "getrandbits"})
_DRAWING = (
    *(random.random, random.randrange, random.randint, random.getrandbits),
    *(secrets.randbelow, secrets.randbits),
)


def is_draw(source: FunctionSource, node: ast.AST, methods: frozenset[str]) -> bool:
    """Whether it is a call that draws; ``methods`` are those of NumPy's generators."""
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    owner = function.value if isinstance(function, ast.Attribute) else None
    if isinstance(owner, ast.Name) and isinstance(function, ast.Attribute):
        if owner.id in source.function.__code__.co_varnames:
            return function.attr in methods | _DRAWING_METHODS
        if type(_constant(source, owner)) in OF_PYTHON:
            return function.attr in _DRAWING_METHODS
    called = _constant(source, function)
    return any(called is drawing for drawing in _DRAWING)


def is_whole_draw(source: FunctionSource, node: ast.AST) -> bool:
    """Whether it is a call that draws one whole number, with parameters by place."""
    if not is_draw(source, node, _WHOLE) or not isinstance(node, ast.Call) or node.keywords:
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in _WHOLE:
        return len(node.args) <= 2
    return any(_constant(source, node.func) is drawing for drawing in _DRAWING[1:])


def _constant(source: FunctionSource, node: ast.expr) -> Any:
    try:
        return find_original(find_constant(source, node))
    except NotPure:
        return None
