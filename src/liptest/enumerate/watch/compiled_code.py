"""Compiled code: what is not known to be deterministic is named, or ends the analysis.

Random numbers that compiled code draws by itself cannot be followed, and two runs that agree do
not show them: a draw may be rare. So compiled code is known (the standard library's, NumPy's and
a few packages', which draw through Python), or the caller says that it draws nothing, or it may
not be used by code under analysis.

Use is seen in three ways. The profiling hook of Python tells of calls of built-in functions and
methods. What it is silent of (classes, functions of Cython, pybind11 or nanobind, objects of
compiled classes) is looked for among what the code that runs names and holds. Functions of shared
libraries that ctypes calls are replaced for the time of an analysis.
"""

from __future__ import annotations

import builtins
import ctypes
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FrameType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from liptest.enumerate.intercept.replaceable_names import BARE_KINDS, find_attribute, find_imported
from liptest.errors import InputError, UnsupportedRandomnessError, quote
from liptest.values.lines import is_of_packages, line_in_words

# Of the standard library: SQLite has a random() of its own, and others tell of the machine.
_DRAWING_OR_TELLING = {"sqlite3", "_sqlite3", "dbm", "_dbm", "_gdbm", "mmap", "pwd", "grp"}
_DRAWING_OR_TELLING |= {"_tkinter", "_curses", "_posixshmem", "termios", "fcntl"}
#: Packages whose compiled code draws nothing but through what is followed.
KNOWN = frozenset(
    sys.stdlib_module_names - _DRAWING_OR_TELLING
    | {"numpy", "scipy", "pandas", "sklearn", "threadpoolctl", "numba", "llvmlite", "matplotlib"}
    | {"liptest", "flint", "pydantic", "pydantic_core"}
    | {"wrapt", "markupsafe", "yaml", "_yaml", "msgpack"}
    | {"pytest", "_pytest", "pluggy", "hypothesis", "coverage"}
)
#: Packages that draw nothing where the package beside them calls: pandas keeps strings so.
_PARTS = {"pyarrow": "pandas"}
#: Packages whose finalizers give memory back in compiled code, and do nothing else.
_FREEING = frozenset({"opendp"})
#: What code may call of it is looked at call by call (``polars_calls``).
POLARS = "polars"
_IMPORTING = "importlib._bootstrap"
_BUILT_IN = (BuiltinFunctionType, MethodDescriptorType, ClassMethodDescriptorType)
_SLOTS = (MethodDescriptorType, WrapperDescriptorType, ClassMethodDescriptorType)
_PYTHONS = (FunctionType, MethodType, ModuleType, CodeType, str, bytes, int, float)
_HEAP_TYPE = 1 << 9
_NAMELESS = "compiled code without a name"


def check_packages(names: Any) -> tuple[str, ...]:
    """Packages that a caller says draw nothing; raises InputError for what are not names."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"deterministic={quote(names)} must be a list of names of packages, as ['opendp']",
            name="deterministic",
        )
    return tuple(names)


def find_package(module: Any) -> str:
    """The name before the first dot."""
    return module.partition(".")[0] if isinstance(module, str) else ""


def is_always_known(module: str) -> bool:
    """Whether a module uses no compiled code but what is known, whoever calls it."""
    return find_package(module) in KNOWN


def _package_at(frame: FrameType) -> str:
    return find_package(frame.f_globals.get("__name__"))


def find_compiled_package(value: Any) -> str | None:
    """The package of compiled code that is not known, where a value is such code, or made by it."""
    if id(type(value)) in BARE_KINDS:
        return None
    if isinstance(value, type):
        return _of_class(value)
    if isinstance(value, _PYTHONS):
        return None
    if isinstance(value, _BUILT_IN):
        return _unknown(_of_built_in(value))
    package = _of_class(type(value))
    if package is not None and callable(value):
        # Functions of Cython have a type of their own, and say where they are from.
        return _unknown(find_package(find_attribute(value, "__module__")) or package)
    return package


def _unknown(package: str) -> str | None:
    return None if package in KNOWN else package


def _of_built_in(function: Any) -> str:
    module = find_attribute(function, "__module__")
    if isinstance(module, str):
        return find_package(module)
    owner = find_attribute(function, "__objclass__") or find_attribute(function, "__self__")
    if isinstance(owner, ModuleType):
        return find_package(owner.__name__)
    if owner is None:
        return _NAMELESS
    kind = owner if isinstance(owner, type) else type(owner)
    return _of_class(kind) or "builtins"


# By id; classes are kept so that no id is used twice.
_classes: dict[int, tuple[type, str | None]] = {}
_MOST_CLASSES = 1 << 13


def _of_class(kind: type) -> str | None:
    cached = _classes.get(id(kind))
    if cached is None:
        if len(_classes) > _MOST_CLASSES:
            _classes.clear()
        packages = (_home(base) for base in type.mro(kind) if _is_compiled(base))
        foreign = next((package for package in packages if package not in KNOWN), None)
        cached = _classes[id(kind)] = kind, foreign
    return cached[1]


def is_known_kind(kind: type) -> bool:
    """Whether no object of a class is compiled code, or made by code, that is not known."""
    is_of_polars = find_package(type.__dict__["__module__"].__get__(kind)) == POLARS
    is_known = not issubclass(kind, (type, *_BUILT_IN)) and _of_class(kind) is None
    return is_known and not is_of_polars


def is_of_polars(value: Any) -> bool:
    """Whether it is polars, or a function, a class or an object of it."""
    if isinstance(value, ModuleType):
        return find_package(value.__name__) == POLARS
    owner = value if isinstance(value, (type, FunctionType)) else type(value)
    return find_package(find_attribute(owner, "__module__")) == POLARS


def _is_compiled(kind: type) -> bool:
    if not type.__dict__["__flags__"].__get__(kind) & _HEAP_TYPE:
        return True
    inside = type.__dict__["__dict__"].__get__(kind)
    if any(
        isinstance(member, _SLOTS) and member.__objclass__ is kind for member in inside.values()
    ):
        return True
    new = inside.get("__new__")
    return isinstance(new, BuiltinFunctionType) and new.__self__ is kind


def _home(kind: type) -> str:
    package = find_package(type.__dict__["__module__"].__get__(kind))
    is_heap = type.__dict__["__flags__"].__get__(kind) & _HEAP_TYPE
    if package == "builtins" and is_heap and vars(builtins).get(kind.__name__) is not kind:
        return f"{_NAMELESS} (class {kind.__name__})"  # compilers that do not say where
    return package


def find_named_values(code: CodeType, space: dict[str, Any]) -> Iterator[Any]:
    """What code names: globals, and attributes of modules that are not known packages."""
    names = code.co_names
    modules = []
    for name in names:
        if name in space:
            value = space[name]
            yield value
            if isinstance(value, ModuleType) and not _is_known(value):
                modules.append(value)
    modules += [
        module
        for module in find_imported(code, space)
        if module is not None and not _is_known(module)
    ]
    seen = set(map(id, modules))
    while modules:
        inside = vars(modules.pop())
        for name in names:
            if name in inside:
                value = inside[name]
                yield value
                is_module = isinstance(value, ModuleType) and id(value) not in seen
                if is_module and not _is_known(value):
                    seen.add(id(value))
                    modules.append(value)


def _is_known(module: ModuleType) -> bool:
    return find_package(module.__name__) in KNOWN


def makes_names(module: ModuleType | None) -> bool:
    """Whether more may be found in a module than it holds now; None is one that is not loaded."""
    return module is None or (not _is_known(module) and "__getattr__" in vars(module))


def not_known(name: str, package: str, line: str) -> UnsupportedRandomnessError:
    """The error of code that uses compiled code of a package that is not known."""
    said = package if package.isidentifier() else "..."
    return UnsupportedRandomnessError(
        f"{name}: compiled code was called: {package}{f' ({line})' if line else ''}; random "
        f"numbers that it may draw cannot be followed. Use lt.adapters for mechanisms of OpenDP "
        f"and diffprivlib, sample with lt.check_samples, draw in Python code, or, if it draws "
        f'nothing, say so: @lt.mechanism(deterministic=["{said}"])'
    )


class CompiledCode:
    """Looks for compiled code during one analysis.

    ``refuse(error)`` ends the analysis. Packages in ``trusted`` draw nothing, as the caller says;
    which of them were used is in ``used``.
    """

    def __init__(self, name: str, trusted: frozenset[str], refuse: Callable[[Any], Any]) -> None:
        self._name = name
        self._trusted = trusted
        self._refuse = refuse
        self.used: set[str] = set()

    def is_named_by(self, code: CodeType, space: dict[str, Any]) -> bool:
        """Whether code names compiled code that is not known."""
        return any(find_compiled_package(value) for value in find_named_values(code, space))

    def is_unknown(self, value: Any) -> bool:
        """Whether a value is compiled code that is not known, or was made by it."""
        return find_compiled_package(value) is not None

    def check(self, value: Any, frame: FrameType | None) -> None:
        """End the analysis where a value is compiled code that is not known."""
        package = find_compiled_package(value)
        if package is not None:
            self._note(package, frame)

    def note_begin(self, frame: FrameType) -> None:
        """A function of Python begins for the first time: what it names."""
        for value in find_named_values(frame.f_code, frame.f_globals):
            self.check(value, frame)

    def returned(
        self, frame: FrameType, held: dict[str, Any], insides: list[dict[str, Any]]
    ) -> None:
        """A function of Python ends: what it holds, and attributes of that which it names.

        ``held`` are its variables, ``insides`` the attributes of their values.
        """
        for value in held.values():
            self.check(value, frame)
        for inside in insides:
            for name in frame.f_code.co_names:
                if name in inside:
                    self.check(inside[name], frame)

    @staticmethod
    def is_by_caller(frame: FrameType) -> bool:
        """Whether it depends on the caller of a frame's code if it is looked at."""
        return _package_at(frame) in _PARTS

    def is_looked_at(self, frame: FrameType) -> bool:
        """Whether a frame's code may use compiled code that is not known."""
        package = find_package(frame.f_globals.get("__name__"))
        if package == POLARS:
            return False
        if package in _PARTS:
            caller: FrameType | None = frame
            while caller is not None and _package_at(caller) == package:
                caller = caller.f_back
            return caller is None or _package_at(caller) != _PARTS[package]
        return package not in KNOWN

    def _note(self, package: str, frame: FrameType | None) -> None:
        if _only_frees(frame):
            return
        if package.startswith(_NAMELESS) and frame is not None:
            package = find_package(frame.f_globals.get("__name__")) or package
        if package in self._trusted:
            self.used.add(package)
            return
        line = "" if frame is None else line_in_words(frame.f_code.co_filename, frame.f_lineno)
        self._refuse(not_known(self._name, package, line))

    def note_library_call(self, frame: FrameType | None) -> None:
        """A function of a shared library is called through ctypes."""
        while frame is not None and not self.is_looked_at(frame):
            if frame.f_globals.get("__name__") == _IMPORTING:
                return  # a known package that is imported, on its own account
            frame = frame.f_back
        if frame is not None:
            package = find_package(frame.f_globals.get("__name__"))
            self._note(package or _NAMELESS, frame)


def is_import_of_parts(frame: FrameType | None, name: str) -> bool:
    """Whether a package imports a module for itself, as pandas does pyarrow.

    One of its functions that another one of them calls asks Python's ``importlib``, in ``frame``:
    what a program asks it to import is for the program.
    """
    owner = _PARTS.get(find_package(name))
    while frame is not None and _package_at(frame) == "importlib":
        frame = frame.f_back
    asker = None if frame is None else frame.f_back
    return owner is not None and all(
        one is not None and _package_at(one) == owner for one in (frame, asker)
    )


def _only_frees(frame: FrameType | None) -> bool:
    """Whether an object is freed by a finalizer that does nothing else.

    Python does so at any time, with what tests or other programs left.
    """
    while frame is not None:
        if frame.f_code.co_name == "__del__" and _package_at(frame) in _FREEING:
            module = sys.modules.get(frame.f_globals["__name__"])
            is_its_own = find_attribute(module, "__dict__") is frame.f_globals
            return is_its_own and is_of_packages(frame.f_code.co_filename)
        frame = frame.f_back
    return False


def library_classes() -> Iterator[type]:
    """Classes of functions of shared libraries: one for each that ctypes has opened."""
    todo: list[Any] = [ctypes._CFuncPtr]  # type: ignore[attr-defined]
    while todo:
        below: list[type] = todo.pop().__subclasses__()
        todo.extend(below)
        yield from (kind for kind in below if "__call__" not in vars(kind))


def replace_library_calls(
    watching: Callable[[], CompiledCode | None],
) -> Iterator[Callable[[], None]]:
    """Put a stand-in for calls through ctypes; functions that take it back are given."""
    original = ctypes._CFuncPtr.__call__  # type: ignore[attr-defined]

    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        compiled = watching()
        if compiled is not None:
            compiled.note_library_call(sys._getframe(1))
        return original(self, *arguments, **options)

    for kind in list(library_classes()):
        setattr(kind, "__call__", call)  # noqa: B010
        yield partial(delattr, kind, "__call__")
