"""What expressions of a file may come to where they follow from its constants alone.

``default_rng(10**6)``, ``default_rng(CONFIG["seed"])``, ``[default_rng(s) for s in SEEDS]`` and
``make(7)`` with ``def make(seed): return default_rng(seed)`` have seeds that whoever reads the
source can calculate. Nothing of the file is run: each name stands for all constants that it is
given anywhere, so there may be values too many. Too many only cost time, since each is compared
with the generator.
"""

from __future__ import annotations

import ast
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product
from typing import Any

from liptest.enumerate.intercept.constant_draws import MADE, MadeGenerator

# Values of one name or expression, entries that a loop walks, and bits of a whole number.
_MOST, _MOST_BITS, _ROUNDS = 256, 4096, 3
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.BitXor: operator.xor,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
}
_UNARY: dict[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_CALLS: dict[str, Callable[[Any], Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "abs": abs,
    "round": round,
    "len": len,
    "sum": sum,
    "list": list,
    "tuple": tuple,
    "range": lambda end: list(range(min(end, _MOST))),
    "hash": lambda value: hash(value) if isinstance(value, (int, float)) else None,
}
#: Of NumPy, and of those that hand on what they are given.
_SAME = frozenset(
    {
        "int64",
        "int32",
        "uint64",
        "uint32",
        "array",
        "asarray",
        "get",
        "enumerate",
        "Field",
        "Option",
    }
)


class FileConstants:
    """The constants of some files, by the names that they are given in any of them.

    Parameters are given their defaults and what calls hand them, loops what they walk.
    """

    def __init__(self, trees: Iterable[ast.AST]) -> None:
        self._named: dict[str, dict[str, Any]] = defaultdict(dict)
        nodes = [node for tree in trees for node in ast.walk(tree)]
        parameters = _find_parameters(nodes)
        given = [pair for node in nodes for pair in _find_given(node, parameters)]
        loops = [(n.target, n.iter) for n in nodes if isinstance(n, (ast.For, ast.comprehension))]
        for _ in range(_ROUNDS):
            for name, value in given:
                self._note(name, self.values_of(value))
            for target, walked in loops:
                entries = [*_entries_of(self.values_of(walked))]
                for name in filter(None, map(find_node_name, ast.walk(target))):
                    self._note(name, entries)

    def _note(self, name: str, values: Iterable[Any]) -> None:
        known = self._named[name]
        for value in values:
            if len(known) < _MOST:
                known.setdefault(repr(value), value)

    def values_of(self, node: ast.AST) -> list[Any]:
        """All that an expression may come to, as far as it is known; none twice."""
        values = {repr(value): value for value in islice(self._walk(node), _MOST)}
        return [*values.values()]

    def _walk(self, node: ast.AST) -> Iterator[Any]:
        name = find_node_name(node)
        if name:
            yield from [*self._named.get(name, {}).values()]
        elif isinstance(node, ast.Constant):
            yield node.value
        elif isinstance(node, (ast.List, ast.Tuple)):
            parts = [self.values_of(part) for part in node.elts]
            yield from map(list, product(*parts))
        elif isinstance(node, ast.Dict):
            values = [entry for value in node.values for entry in self.values_of(value)]
            yield {repr(value): value for value in values}
        elif isinstance(node, (ast.Subscript, ast.Starred)):
            yield from _entries_of(self.values_of(node.value))
        elif isinstance(node, ast.IfExp):
            yield from (*self.values_of(node.body), *self.values_of(node.orelse))
        elif isinstance(node, ast.BoolOp):
            yield from (entry for value in node.values for entry in self.values_of(value))
        elif isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            yield from _calculated(_UNARY[type(node.op)], self.values_of(node.operand))
        elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            sides = self.values_of(node.left), self.values_of(node.right)
            yield from _calculated(_BINARY[type(node.op)], *sides)
        elif isinstance(node, ast.Call):
            yield from self._walk_call(node)

    def _walk_call(self, call: ast.Call) -> Iterator[Any]:
        name = find_node_name(call.func)
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if name in _CALLS and len(call.args) == 1:
            yield from _calculated(_CALLS[name], self.values_of(call.args[0]))
        if name == "get" and owner is not None:
            yield from _entries_of(self.values_of(owner))
        if name in _SAME and call.args:
            yield from self.values_of(call.args[-1 if name == "get" else 0])
        named = {word.arg: self.values_of(word.value) for word in call.keywords if word.arg}
        yield from named.get("default", [])
        if name in MADE:
            for seed in self.values_of(call.args[0]) if call.args else named.get("seed", []):
                yield MadeGenerator(name, seed)
        if owner is not None:
            yield from self._find_draws(call, owner, named)

    def _find_draws(
        self, call: ast.Call, owner: ast.expr, named: dict[str, list[Any]]
    ) -> Iterator[Any]:
        """What a call draws first from a generator whose seed is known."""
        words = {word: values for word, values in named.items() if values}
        for made in self.values_of(owner):
            if isinstance(made, MadeGenerator):
                for given in product(*map(self.values_of, call.args), *words.values()):
                    places, rest = given[: len(call.args)], given[len(call.args) :]
                    options = dict(zip(words, rest, strict=True))
                    yield from made.draws(find_node_name(call.func), [*places], options)


def find_node_name(node: ast.AST) -> str:
    """The name, or the last part of a dotted one; empty where it is another expression."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def find_assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What is given a name: ``a = b``, ``a: T = b``, ``a := b``, ``a, b = c, d``, imports."""
    if isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        yield find_node_name(node.target), node.value
    if isinstance(node, ast.ImportFrom):
        yield from ((alias.asname, ast.Name(alias.name)) for alias in node.names if alias.asname)
    if not isinstance(node, ast.Assign):
        return
    for target in node.targets:
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = [*zip(target.elts, node.value.elts, strict=False)]
        yield from ((find_node_name(name), value) for name, value in pairs)


def _find_given(node: ast.AST, parameters: dict[str, list[str]]) -> Iterator[tuple[str, ast.expr]]:
    """Names with what they are given: by assignments, as defaults, and in calls."""
    yield from find_assignments(node)
    if isinstance(node, ast.arguments):
        every = [*node.posonlyargs, *node.args]
        first = len(every) - len(node.defaults)
        pairs = [*zip(every[first:], node.defaults, strict=True)]
        pairs += [(a, d) for a, d in zip(node.kwonlyargs, node.kw_defaults, strict=True) if d]
        yield from ((argument.arg, default) for argument, default in pairs)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "seed":
            yield find_node_name(node.func.value), node  # np.random.seed(3)
        yield from ((keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg)
        yield from _find_options(node)
        yield from _find_handed(node.func, node.args, node.keywords, parameters)
        for place, value in enumerate(node.args, 1):  # functools.partial(make, 7)
            yield from _find_handed(value, node.args[place:], node.keywords, parameters)


def _find_handed(
    function: ast.expr,
    values: list[ast.expr],
    words: list[ast.keyword],
    parameters: dict[str, list[str]],
) -> Iterator[tuple[str, ast.expr]]:
    """Parameters of a function of the program, with what a call hands them by place or unpacked."""
    names = parameters.get(find_node_name(function), [])
    yield from zip(names, values, strict=False)
    for place, value in enumerate(values):
        if isinstance(value, ast.Starred):
            yield from ((name, value) for name in names[place:])
    for word in words:
        if word.arg is None:
            yield from ((name, ast.Starred(word.value)) for name in names)


def _find_options(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """``add_argument("--seed", default=42)``."""
    for word in call.keywords:
        if word.arg == "default":
            for text in call.args:
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield text.value.lstrip("-").replace("-", "_"), word.value


def _find_parameters(nodes: list[ast.AST]) -> dict[str, list[str]]:
    """Functions and classes, with their parameters in order, by all names that they have."""
    parameters: dict[str, list[str]] = {}
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = [parameter.arg for parameter in (*node.args.posonlyargs, *node.args.args)]
            parameters.setdefault(node.name, names[names[:1] == ["self"] :])
        if isinstance(node, ast.ClassDef):
            parameters[node.name] = [*_find_fields(node)]
    for node in nodes:
        for name, value in find_assignments(node):
            parameters.setdefault(name, parameters.get(find_node_name(value), []))
    return parameters


def _find_fields(node: ast.ClassDef) -> list[str]:
    """Parameters of a class: of ``__init__``, or what it annotates, as a dataclass does."""
    for inner in node.body:
        if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
            return [argument.arg for argument in inner.args.args][1:]
    return [
        find_node_name(statement.target)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    ]


def _entries_of(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, dict):
            yield from value.values()
        if isinstance(value, (list, tuple)):
            yield from value


def _calculated(function: Callable[..., Any], *operands: list[Any]) -> Iterator[Any]:
    for given in product(*operands):
        if all(map(_is_small, given)) and _is_quick(function, given):
            try:
                result = function(*given)
            except (ArithmeticError, TypeError, ValueError, AttributeError):
                continue
            if _is_small(result):
                yield result


def _is_small(value: Any) -> bool:
    if isinstance(value, int):
        return value.bit_length() <= _MOST_BITS
    if isinstance(value, (list, tuple, str, bytes)):
        return len(value) <= _MOST_BITS
    return isinstance(value, float)


def _is_quick(function: Callable[..., Any], given: tuple[Any, ...]) -> bool:
    """Whether what is calculated stays small: texts and lists may be repeated very often."""
    if function not in (operator.mul, operator.pow, operator.lshift):
        return True
    if not all(isinstance(value, (int, float)) for value in given):
        return False
    if function is operator.mul or any(isinstance(value, float) for value in given):
        return True
    base, by = given
    bits = 1 if function is operator.lshift else base.bit_length()
    return bool(abs(by) * max(bits, 1) <= _MOST_BITS)
