"""The source of a function, and the function compiled again from a changed tree.

What is read off the source is trusted only where the source is that of the function: the tree as
written is compiled, and must give the very code that the function has. A function that is compiled
again keeps its globals, closure cells, defaults and line numbers.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import copy
import inspect
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, ref

from liptest.enumerate.intercept.parsing import parse_text
from liptest.enumerate.syntax.private_names import with_private_names

#: A function as a tree; line numbers are those of its file.
FunctionNode = ast.FunctionDef | ast.Lambda
Node = TypeVar("Node", bound=ast.AST)
#: With these prefixes begin the names that a rewritten function has more.
OWN_NAMES = "_liptest_"
# Code with these may look at frames, cells or namespaces, and tell a rewritten function apart.
LOOKING = frozenset(
    {"locals", "vars", "globals", "dir", "eval", "exec", "__import__", "breakpoint"}
    | {"_getframe", "_current_frames", "currentframe", "getframeinfo", "inspect"}
    | {"f_locals", "f_back", "f_code", "f_globals", "gi_frame", "tb_frame", "__traceback__", "gc"}
    | {"__code__", "__closure__", "__globals__", "__dict__", "__defaults__", "cell_contents"}
    | {"get_objects", "get_referrers", "settrace", "setprofile", "exc_info", "__builtins__"}
)
_FUTURE = 0
for _feature in __future__.all_feature_names:
    _FUTURE |= vars(__future__)[_feature].compiler_flag
# A function within a function says so; it changes nothing.
_NOT_COMPARED = inspect.CO_NESTED
_OUTER = f"{OWN_NAMES}outer"
_ALIKE = (
    *("co_code", "co_exceptiontable", "co_names", "co_varnames", "co_freevars", "co_cellvars"),
    *("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_name"),
)


@dataclass(frozen=True, eq=False)
class FunctionSource:
    """A function with the tree of its source; ``node`` is nobody's to change."""

    function: FunctionType
    node: FunctionNode
    #: Names that its module imports: methods of these are called in another way.
    imported: tuple[str, ...]

    @property
    def body(self) -> list[ast.stmt]:
        """Its statements; a lambda returns its expression."""
        if isinstance(self.node, ast.FunctionDef):
            return self.node.body
        return [ast.copy_location(ast.Return(self.node.body), self.node.body)]

    @cached_property
    def bindings(self) -> dict[str, list[ast.AST]]:
        """By name what binds it in the function: its arguments first, then nodes of its body."""
        own = [node for node in ast.walk(self.node.args) if isinstance(node, ast.arg)]
        bound: dict[str, list[ast.AST]] = {node.arg: [node] for node in own}
        for statement in self.body:
            for node in ast.walk(statement):
                for name in _names_bound_by(node):
                    bound.setdefault(name, []).append(node)
        return bound

    def with_body(self, body: list[ast.stmt]) -> ast.FunctionDef:
        """The function with other statements, as a ``def`` of the same name and arguments."""
        name = self.node.name if isinstance(self.node, ast.FunctionDef) else _OUTER
        made = ast.FunctionDef(name, copy_tree(self.node.args), body, [])
        ast.copy_location(made, self.node)
        return ast.fix_missing_locations(made)

    def compiled(self, node: FunctionNode, helpers: dict[str, Any]) -> FunctionType | None:
        """The function with another tree; ``helpers`` are further names that it may use.

        None where the tree uses a name that was another function's.
        """
        code = self.code_of(node, tuple(helpers))
        return None if code is None else self.with_code(code, helpers)

    def compiled_again(self, node: ast.FunctionDef, helpers: dict[str, Any]) -> FunctionType | None:
        """The same, a function that has a source of its own: ``node``."""
        function = self.compiled(node, helpers)
        if function is not None:
            self.remember(function.__code__, node)
        return function

    def remember(self, code: CodeType, node: ast.FunctionDef) -> None:
        """Let ``read_source`` know the tree of a function that is compiled again."""
        _TREES[code] = node, self.imported

    def code_of(self, node: FunctionNode, helpers: tuple[str, ...]) -> CodeType | None:
        """The code of the function with another tree, which may use further names."""
        original = self.function.__code__
        code = _compile(node, original, self.imported, helpers)
        # Its first line stays that of the ``def``: lines count from there, not from a decorator.
        return code and code.replace(co_name=original.co_name, co_qualname=original.co_qualname)

    def with_code(self, code: CodeType, helpers: dict[str, Any]) -> FunctionType | None:
        """The function with other code, and what its further names stand for."""
        original = self.function
        cells = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
        cells |= {name: CellType(value) for name, value in helpers.items()}
        if not set(code.co_freevars) <= cells.keys():
            return None
        closure = tuple(cells[name] for name in code.co_freevars)
        function = FunctionType(
            code, original.__globals__, original.__name__, original.__defaults__, closure
        )
        function.__kwdefaults__ = original.__kwdefaults__
        function.__qualname__, function.__module__ = original.__qualname__, original.__module__
        return function

    @property
    def local_names(self) -> frozenset[str]:
        """Names of its own, arguments among them, that no function inside it sees."""
        code = self.function.__code__
        return frozenset(code.co_varnames) - frozenset(code.co_cellvars)

    def is_own(self, name: str) -> bool:
        """Whether a name is of its own, also where functions inside it see it."""
        code = self.function.__code__
        return name in code.co_varnames or name in code.co_cellvars

    def value_of(self, name: str) -> Any:
        """What a name stands for that is not its own: of a cell, a global, or built in.

        Raises KeyError for its own names, and for none.
        """
        code = self.function.__code__
        if name in code.co_varnames or name in code.co_cellvars:
            raise KeyError(name)
        if name in code.co_freevars:
            cell = (self.function.__closure__ or ())[code.co_freevars.index(name)]
            try:
                return cell.cell_contents
            except ValueError:
                raise KeyError(name) from None
        space = self.function.__globals__
        return space[name] if name in space else vars(builtins)[name]


#: Trees of code that was compiled again, for as long as it is there.
_TREES: WeakKeyDictionary[CodeType, tuple[FunctionNode, tuple[str, ...]]] = WeakKeyDictionary()
# Of code whose source was read before: of itself, not of code that is equal.
_READ: WeakKeyDictionary[CodeType, tuple[ref[CodeType], FunctionNode, tuple[str, ...]]]
_READ = WeakKeyDictionary()


def read_source(function: Any, *, gives_generators: bool = False) -> FunctionSource | None:
    """The source of a Python function; None where it is not known to be the function's.

    None for functions that give generators, too, or else for all others.
    """
    if type(function) is not FunctionType:
        return None
    code = function.__code__
    if bool(code.co_flags & inspect.CO_GENERATOR) is not gives_generators:
        return None
    if code in _TREES:
        return FunctionSource(function, *_TREES[code])
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return None
    read_before = _READ.get(code)
    if read_before is not None and read_before[0]() is code:
        return FunctionSource(function, *read_before[1:])
    try:
        nodes, imported = _find_functions("".join(_lines_of_file(function)))
    except (OSError, TypeError, IndexError, SyntaxError, ValueError, RecursionError):
        return None
    for node in nodes:
        if _first_line(node) == code.co_firstlineno and _gives(node, code, imported):
            _READ[code] = ref(code), node, imported
            return FunctionSource(function, node, imported)
    return None


def _lines_of_file(function: FunctionType) -> list[str]:
    """The lines of the file of a function, or of a cell of a notebook; none where there are none.

    ``inspect.findsource`` asks the file system for the places of all modules first.
    """
    name = function.__code__.co_filename
    linecache.checkcache(name)
    return linecache.getlines(name, function.__globals__)


# Equal code has the same first line; whatever file it is of, it does the same.
@lru_cache(maxsize=1 << 10)
def _gives(node: FunctionNode, code: CodeType, imported: tuple[str, ...]) -> bool:
    """Whether a tree, as it is written, is the source of this code."""
    compiled = _compile(node, code, imported, ())
    return compiled is not None and is_same_code(compiled, code)


def is_same_code(one: CodeType, other: CodeType) -> bool:
    """Whether two pieces of code do the same, step by step."""
    if (one.co_flags ^ other.co_flags) & ~_NOT_COMPARED:
        return False
    if any(_part(one, name) != _part(other, name) for name in _ALIKE):
        return False
    return _is_same(one.co_consts, other.co_consts)


def copy_tree(node: Node) -> Node:
    """A tree that may be changed; ten times as fast as ``copy.deepcopy``."""
    made = type(node).__new__(type(node))
    for name, value in vars(node).items():
        setattr(made, name, _copy_part(value))
    return made


def _copy_part(value: Any) -> Any:
    if isinstance(value, ast.AST):
        # Operators and the like have nothing that could be changed.
        return copy_tree(value) if vars(value) else value
    return list(map(_copy_part, value)) if isinstance(value, list) else value


def names_loaded(*nodes: ast.AST) -> set[str]:
    """Names that are read, or deleted, anywhere inside."""
    return {name.id for name in _names_in(nodes) if isinstance(name.ctx, (ast.Load, ast.Del))}


def stored_by_name(*nodes: ast.AST) -> list[str]:
    """Names that stand where something is assigned or deleted, each as often as it does."""
    return [name.id for name in _names_in(nodes) if not isinstance(name.ctx, ast.Load)]


def names_stored(*nodes: ast.AST) -> set[str]:
    """Names that are assigned or deleted anywhere inside, by statements that name them."""
    names = set(stored_by_name(*nodes))
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names.add(part.name)
            elif isinstance(part, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
                names.add(part.name or "")
            elif isinstance(part, ast.alias):
                names.add((part.asname or part.name).partition(".")[0])
            elif isinstance(part, ast.MatchMapping):
                names.add(part.rest or "")
            elif isinstance(part, (ast.Global, ast.Nonlocal)):
                names.update(part.names)
    names.discard("")
    return names


def _names_in(nodes: tuple[ast.AST, ...]) -> Iterator[ast.Name]:
    for node in nodes:
        yield from (part for part in ast.walk(node) if isinstance(part, ast.Name))


@lru_cache(maxsize=64)
def _find_functions(text: str) -> tuple[tuple[FunctionNode, ...], tuple[str, ...]]:
    """All functions of a file, and the names that it imports at its top."""
    tree = with_private_names(parse_text(text))
    nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Lambda))]
    return tuple(nodes), tuple(sorted(_find_imported(tree)))


def _find_imported(node: ast.AST) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return set()
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return names_stored(node) - {"*"}
    return set[str]().union(*map(_find_imported, ast.iter_child_nodes(node)))


_HOLDING_STATEMENTS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)


def _names_bound_by(node: ast.AST) -> set[str]:
    """Names that a node binds by itself, and not by statements inside of it."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, ast.For):
        return names_stored(node.target)
    if isinstance(node, ast.stmt) and not isinstance(node, _HOLDING_STATEMENTS):
        return names_stored(node)
    if isinstance(node, ast.NamedExpr | ast.withitem | ast.ExceptHandler | ast.pattern):
        bound = node.target if isinstance(node, ast.NamedExpr) else node
        return names_stored(bound) if not isinstance(node, ast.ExceptHandler) else {node.name or ""}
    return set()


def _first_line(node: FunctionNode) -> int:
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        return min(node.lineno, *(decorator.lineno for decorator in node.decorator_list))
    return node.lineno


def _compile(
    node: FunctionNode, original: CodeType, imported: tuple[str, ...], helpers: tuple[str, ...]
) -> CodeType | None:
    """The code of a function within one that has the free names of the original."""
    bare = _without_what_is_run_before(node)
    names = (*original.co_freevars, *helpers)
    body: list[ast.stmt] = [ast.Return(bare)] if isinstance(bare, ast.Lambda) else [bare]
    if isinstance(bare, ast.FunctionDef):
        body.append(ast.Return(ast.Name(bare.name, ast.Load())))
        if bare.name not in names:
            # Where it calls itself its name is a global one, as in the original.
            body.insert(0, ast.Global([bare.name]))
    arguments = ast.arguments(
        posonlyargs=[], args=list(map(ast.arg, names)), kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    outer = ast.FunctionDef(_OUTER, arguments, body, [])
    tops: list[ast.stmt] = [ast.Import([ast.alias(name)]) for name in imported]
    module = ast.fix_missing_locations(ast.Module([*tops, ast.copy_location(outer, node)], []))
    flags = original.co_flags & _FUTURE
    try:
        compiled = compile(module, original.co_filename, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    inside = next(constant for constant in compiled.co_consts if isinstance(constant, CodeType))
    codes = [constant for constant in inside.co_consts if isinstance(constant, CodeType)]
    return codes[0] if len(codes) == 1 else None


def _without_what_is_run_before(node: FunctionNode) -> FunctionNode:
    """The same without decorators, defaults and annotations, which are run where it is defined.

    Its statements are those of ``node``, not copies.
    """
    nothing: Any = ast.Constant(None)
    bare, arguments = copy.copy(node), copy.copy(node.args)
    arguments.posonlyargs = list(map(_without_annotation, arguments.posonlyargs))
    arguments.args = list(map(_without_annotation, arguments.args))
    arguments.kwonlyargs = list(map(_without_annotation, arguments.kwonlyargs))
    arguments.vararg = arguments.vararg and _without_annotation(arguments.vararg)
    arguments.kwarg = arguments.kwarg and _without_annotation(arguments.kwarg)
    arguments.defaults = [nothing for _ in arguments.defaults]
    arguments.kw_defaults = [default and nothing for default in arguments.kw_defaults]
    bare.args = arguments
    if isinstance(bare, ast.FunctionDef):
        bare.returns, bare.decorator_list = None, []
    return bare


def _without_annotation(argument: ast.arg) -> ast.arg:
    return ast.copy_location(ast.arg(argument.arg), argument)


def _part(code: CodeType, name: str) -> Any:
    return object.__getattribute__(code, name)


def _is_same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, CodeType):
        return is_same_code(one, other)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, frozenset):
        return sorted(map(repr, one)) == sorted(map(repr, other))
    # -0.0 is not 0.0.
    return bool(repr(one) == repr(other))
