"""Hashes of what is tested: code, the local modules it imports, parameters, data distribution.

A fingerprint is taken before the seed of a test is drawn and again before a release. It covers
source files on disk, the byte code and constants in memory, and the values that functions close
over. It cannot see files that the code reads while it runs, or what C extensions do. The state of
a function is described in the same way, to see whether a call has changed it.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import queue
import random
import re
import sys
import sysconfig
import threading
import types
import warnings
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import chain, count, islice, repeat
from pathlib import Path
from typing import Any

import numpy as np

from liptest.data.answers import Answers
from liptest.data.distributions import Distribution, DomainAlone
from liptest.data.product import ProductDistribution
from liptest.data.sampled import SampledDistribution
from liptest.data.tables import RowsOfUsers

_PARSING = threading.Lock()
_PACKAGE = Path(__file__).resolve().parents[1]
_OF_FILE = re.compile(r"_liptest_(.+)_[0-9a-f]{12}")
#: What was described so far: its number and itself, by id.
Seen = dict[int, tuple[int, Any]]
# Objects of these note what happens, and no program's answer depends on it.
_NOTING = frozenset({"logging", "pytest", "_pytest", "pluggy", "hypothesis"})
_MOST_LINES = 20_000
# What an object is made of, as pickling sees it.
_PARTS = frozenset({"name", "made from", "state", "items"})
_ATOMS = {type(None), bool, int, float, complex, str, bytes}
_STANDARD = {Path(sysconfig.get_paths()[key]).resolve() for key in ("stdlib", "platstdlib")}


@dataclass(frozen=True)
class Fingerprint:
    """``code`` is the hash of everything below it.

    ``files`` maps source file names to their sha256, ``packages`` names to versions,
    ``parameters`` is the sha256 of parameters, byte code and closures.
    """

    code: str
    files: dict[str, str]
    packages: dict[str, str]
    parameters: str


def fingerprint(mechanism: object) -> Fingerprint:
    """Fingerprint of a mechanism as it is now, on disk and in memory."""
    paths: dict[Path, str] = {}
    packages: dict[str, str] = {}
    for path in _roots(mechanism):
        _follow(path, paths, packages)
    # Named from the folder of the mechanism, so that a certificate holds on another machine.
    folder = next(iter(paths), _PACKAGE).parent
    files = {os.path.relpath(path, folder): digest for path, digest in paths.items()}
    parameters = _digest("\n".join(_describe(mechanism, {})))
    return Fingerprint(code_hash(files, packages, parameters), files, packages, parameters)


def module_of_file(path: Path) -> str:
    """The name of the module of a file, one per file: two may have one stem."""
    return f"_liptest_{path.stem}_{_digest(str(path))[:12]}"


def _tell_module(value: Any) -> Any:
    """Where a function or class is from; on another machine its file lies in another folder."""
    module = value.__module__
    found = _OF_FILE.fullmatch(module) if isinstance(module, str) else None
    return module if found is None else found[1]


class _Live(dict[int, tuple[int, Any]]):
    """What was described of the state of a function: numbers of an analysis by their kinds only."""

    is_read: Callable[[types.CodeType, str, Any], bool]
    unread: frozenset[str]
    left_out: frozenset[str] = frozenset()
    #: Whether what objects of other libraries keep for themselves counts.
    has_caches = True


def describe_state(
    function: object,
    is_read: Callable[[types.CodeType, str, Any], bool],
    unread: frozenset[str] = frozenset(),
    left_out: frozenset[str] | None = None,
) -> list[str]:
    """Lines that determine what a function holds now, anywhere that it names or closes over.

    They change only where a call leaves something behind; what an analysis has put there, and
    what logs or runs tests, counts by its kind. Names of which code is not
    ``is_read(code, name, value)`` and attributes that are ``unread`` are left out. With
    ``left_out`` they do not change either where a call fills caches of other libraries, or imports
    modules of these names.
    """
    seen = _Live()
    seen.is_read, seen.unread = is_read, unread
    seen.left_out, seen.has_caches = left_out or frozenset(), left_out is None
    return list(islice(_describe(function, seen), _MOST_LINES))


def code_hash(files: dict[str, str], packages: dict[str, str], parameters: str) -> str:
    """The hash of everything in a fingerprint."""
    return _digest(repr((sorted(files.items()), sorted(packages.items()), parameters)))


def distribution_hash(distribution: Distribution) -> str:
    """sha256 of a distribution: domain and exact marginals, or the sampler's code."""
    if isinstance(distribution, ProductDistribution):
        digest = hashlib.sha256(_domain_text(distribution).encode())
        if "probabilities" in distribution.__dict__:
            digest.update(distribution.probabilities.tobytes())
        else:
            for mass in distribution.marginals():
                digest.update(mass.tobytes())
        return digest.hexdigest()
    if isinstance(distribution, DomainAlone):
        return _digest(f"no distribution\n{_domain_text(distribution)}")
    lines = [_domain_text(distribution), *_describe(distribution.sampler, {})]
    return _digest("\n".join(lines))


def _domain_text(distribution: Distribution) -> str:
    # Not its repr, which is shortened: two domains may print alike.
    domain = distribution.domain
    if isinstance(domain, Answers):
        return f"Answers{(domain.dimension, domain.sensitivity, domain.kind, domain.moves)}"
    unit = repr(domain) if isinstance(domain, RowsOfUsers) else ""
    return f"{type(domain).__name__}{domain.sizes}{unit}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _roots(value: object) -> list[Path]:
    files: list[Path] = []
    for function in _callables(value, set()):
        module = sys.modules.get(getattr(function, "__module__", "") or "")
        path = getattr(module, "__file__", None)
        code = getattr(function, "__code__", None)
        names = [name for name in (path, code.co_filename if code else None) if name]
        files.extend(
            Path(name).resolve()
            for name in names
            if Path(name).suffix == ".py" and Path(name).is_file()
        )
    return list(dict.fromkeys(files))


def _callables(value: object, seen: set[int]) -> Iterator[Any]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, types.FunctionType):
        yield value
        for item in _cells(value):
            yield from _callables(item, seen)
    elif isinstance(value, types.MethodType):
        yield from _callables(value.__func__, seen)
        yield from _callables(value.__self__, seen)
    elif isinstance(value, partial):
        for item in (value.func, *value.args, *value.keywords.values()):
            yield from _callables(item, seen)
    elif is_dataclass(value) and not isinstance(value, type):
        yield type(value)
        for item in fields(value):
            yield from _callables(getattr(value, item.name), seen)
    elif hasattr(value, "__dict__") and not isinstance(value, types.ModuleType):
        yield type(value)
        for item in vars(value).values() if not isinstance(value, type) else ():
            yield from _callables(item, seen)


def _follow(path: Path, files: dict[Path, str], packages: dict[str, str]) -> None:
    if path in files or not is_local(path):
        return
    # A file that is gone, or no longer Python, is a changed file, not an error.
    source = path.read_bytes() if path.is_file() else b""
    files[path] = hashlib.sha256(source).hexdigest()
    for imported in _imports(source, path):
        target = _locate(imported, path)
        if target is not None and is_local(target):
            _follow(target, files, packages)
        else:
            _note_package(imported.partition(".")[0], packages)


def is_local(path: Path) -> bool:
    """Whether a file belongs to nobody's installed package: code that may be under test."""
    inside = [*_STANDARD, _PACKAGE]
    if any(path.is_relative_to(folder) for folder in inside):
        # Examples and catalogues that ship with the package are code under test.
        return path.is_relative_to(_PACKAGE / "examples")
    return not {"site-packages", "dist-packages"} & set(path.parts)


@lru_cache(maxsize=1 << 12)
def _is_local_at(path: str) -> bool:
    """As ``is_local``, of an absolute path that may lead over links."""
    return is_local(Path(path).resolve())


def _imports(source: bytes, path: Path) -> list[str]:
    names: list[str] = []
    try:
        # CPython 3.11 may fail when two threads build syntax trees at once (SystemError).
        with _PARSING:
            tree = ast.parse(source, filename=str(path))
    except (SyntaxError, ValueError):
        return []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            names.append(base)
            joint = base if base.endswith(".") else f"{base}."
            names.extend(f"{joint}{alias.name}" for alias in node.names)
    return names


def _locate(name: str, importer: Path) -> Path | None:
    level = len(name) - len(name.lstrip("."))
    parts = [part for part in name.lstrip(".").split(".") if part]
    folders = [importer.parents[level - 1]] if level else [importer.parent]
    for folder in folders:
        candidate = folder.joinpath(*parts)
        for path in (candidate.with_suffix(".py"), candidate / "__init__.py"):
            if parts and path.is_file():
                return path.resolve()
    loaded = getattr(sys.modules.get(name), "__file__", None)
    if loaded:
        return Path(loaded).resolve()
    return None if level else _find(name)


def _find(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name.partition(".")[0])
    except (ImportError, ValueError):
        return None
    origin = None if spec is None else spec.origin
    return Path(origin).resolve() if origin and Path(origin).is_file() else None


def _note_package(name: str, packages: dict[str, str]) -> None:
    if not name or name in packages or name in sys.stdlib_module_names:
        return
    from importlib import metadata

    try:
        packages[name] = metadata.version(name)
    except (metadata.PackageNotFoundError, ValueError):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some packages warn of those who ask
            version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            packages[name] = str(version)


def _describe(value: Any, seen: Seen) -> Iterator[str]:
    """Lines that determine a value: data by content, functions by code and what they see.

    ``seen`` keeps what was described before, so that no other object can take its id.
    """
    if isinstance(seen, _Live) and type(value) not in _ATOMS and _is_beside(value):
        yield type(value).__name__
        return
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, Fraction)):
        yield repr(value)
        return
    if id(value) in seen:
        yield f"as number {seen[id(value)][0]}"
        return
    seen[id(value)] = len(seen), value
    if isinstance(seen, _Live) and (short := _in_short(value)) is not None:
        yield f"{type(value).__name__} {short}"
    elif isinstance(value, np.ndarray) and value.dtype.hasobject and isinstance(seen, _Live):
        # One by one: there may be random numbers of an analysis among them.
        yield f"array {value.shape}"
        yield from _describe(value.tolist(), seen)
    elif isinstance(value, np.ndarray):
        content = repr(value.tolist()) if value.dtype.hasobject else value.tobytes()
        body = content.encode() if isinstance(content, str) else content
        yield f"array {value.dtype} {value.shape} {hashlib.sha256(body).hexdigest()}"
    elif isinstance(value, (list, tuple)):
        yield f"{type(value).__name__} of {len(value)}"
        for item in value:
            yield from _describe(item, seen)
    elif isinstance(value, (set, frozenset)):
        yield f"set of {len(value)}"
        yield from sorted("|".join(_describe(item, _see_set(seen))) for item in value)
    elif isinstance(value, dict):
        yield f"dict of {len(value)}"
        for key, item in value.items():
            yield repr(key)
            yield from _describe(item, seen)
    elif isinstance(value, types.FunctionType):
        yield from _describe_function(value, seen)
    elif isinstance(value, (types.ModuleType, types.BuiltinFunctionType)):
        yield getattr(value, "__name__", "")
    else:
        yield from _describe_object(value, seen)


def _see_set(seen: Seen) -> Seen:
    """What a member of a set is described with, by itself: a set may be in what it holds."""
    if not isinstance(seen, _Live):
        return {}
    seen_here = _Live(
        (key, entry) for key, entry in seen.items() if isinstance(entry[1], (set, frozenset))
    )
    seen_here.is_read, seen_here.unread, seen_here.left_out = (
        seen.is_read,
        seen.unread,
        seen.left_out,
    )
    seen_here.has_caches = seen.has_caches
    return seen_here


def _describe_function(function: types.FunctionType, seen: Seen) -> Iterator[str]:
    yield f"function {_tell_module(function)}.{function.__qualname__}"
    yield from _describe_code(function.__code__)
    yield from _describe(function.__defaults__, seen)
    yield from _describe(function.__kwdefaults__, seen)
    code = function.__code__
    for name, item in zip(code.co_freevars, _cells(function), strict=True):
        if isinstance(seen, _Live):
            if not seen.is_read(code, name, item):
                continue
            yield f"global {name}"
        yield from _describe(item, seen)
    for key, item in vars(function).items():
        yield f"attribute {key}"
        yield from _describe(item, seen)
    names, space = set(_names(code)), dict(function.__globals__)
    if isinstance(seen, _Live):
        names |= {constant for constant in _constants(code) if isinstance(constant, str)}
        imported = (names & sys.modules.keys()) - seen.left_out
        space = {name: sys.modules[name] for name in imported} | space
    for name in sorted(names & set(space)):
        target = space[name]
        is_module = isinstance(target, types.ModuleType)
        if isinstance(seen, _Live) and not is_module and not seen.is_read(code, name, target):
            continue
        if _is_stand_in(target):
            continue
        yield f"global {name}"
        if isinstance(target, types.ModuleType):
            yield from _describe_module(target, names, seen)
        else:
            yield from _describe(target, seen)


def _is_stand_in(value: Any) -> bool:
    """Whether an analysis in another thread has put it there, for as long as it lasts."""
    module = sys.modules.get("liptest.enumerate.intercept.program_modules")
    return module is not None and any(value is one for one in module.ALL_STAND_INS)


def _is_beside(value: Any) -> bool:
    """Whether it is part of an analysis, a generator, or of what logs or runs tests."""
    if isinstance(value, types.FunctionType):
        module = value.__globals__.get("__name__")
    elif isinstance(value, type):
        module = "liptest" if "original" in vars(value) else value.__module__
    else:
        module = type(value).__module__
    first, _, rest = str(module).partition(".")
    is_drawing = isinstance(value, random.Random) or str(module).startswith("numpy.random")
    return (
        is_drawing or first in _NOTING or (first == "liptest" and not rest.startswith("examples"))
    )


def _in_short(value: Any) -> int | None:
    """A number that tells numbers and texts from others, however many; None for all else."""
    if type(value) is np.ndarray and not value.dtype.hasobject:
        return zlib.crc32(value.tobytes()) + value.size
    if type(value) in (list, tuple, deque) and _ATOMS.issuperset(map(type, value)):
        return hash(tuple(value))
    if type(value) is dict and _ATOMS.issuperset(map(type, chain(value, value.values()))):
        return hash(tuple(value.items()))
    return None


def _cells(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            yield "empty cell"


def _describe_module(module: types.ModuleType, names: set[str], seen: Seen) -> Iterator[str]:
    path = getattr(module, "__file__", None)
    if not path or not _is_local_at(os.path.abspath(path)):
        if isinstance(seen, _Live):
            yield from _describe_left_in(vars(module), names)
        return
    for name in sorted(names & set(vars(module))):
        yield from _describe(vars(module)[name], seen)


def _describe_left_in(space: Mapping[str, Any], names: set[str], depth: int = 4) -> Iterator[str]:
    """Numbers and texts that a module of others, or what is in it, has by a name."""
    for name in sorted(names & space.keys()):
        value = space[name]
        if type(value) in _ATOMS or (short := _in_short(value)) is not None:
            yield f"attribute {name}\n{value if type(value) in _ATOMS else short!r}"
        elif depth and isinstance(inside := getattr(value, "__dict__", None), Mapping):
            yield from _describe_left_in(inside, names, depth - 1)


def _describe_code(code: types.CodeType) -> Iterator[str]:
    yield hashlib.sha256(code.co_code + code.co_exceptiontable).hexdigest()
    yield repr((code.co_names, code.co_varnames, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _describe_code(constant)
        else:
            # By content: the repr of a set of strings is another one in the next process.
            yield from _describe(constant, {})


def _constants(code: types.CodeType) -> Iterator[Any]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _constants(constant)
        else:
            yield constant


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _describe_object(value: Any, seen: Seen) -> Iterator[str]:
    if isinstance(value, type):
        yield f"type {_tell_module(value)}.{value.__qualname__}"
        yield from _describe_type(value, seen)
        return
    yield "object"
    yield from _describe(type(value), seen)
    if isinstance(value, types.MethodType):
        yield from _describe(value.__func__, seen)
        yield from _describe(value.__self__, seen)
    elif isinstance(value, types.GeneratorType):
        frame = value.gi_frame
        yield f"{value.gi_code.co_qualname} at {None if frame is None else frame.f_lasti}"
        yield from _describe({} if frame is None else dict(frame.f_locals), seen)
        yield from _describe(value.gi_yieldfrom, seen)
    elif isinstance(value, ContextVar):
        yield from _describe(value.get(None), seen)
    elif isinstance(value, queue.SimpleQueue):
        yield str(value.qsize())
    elif isinstance(value, _LOCKS):
        yield repr(value).partition(" ")[0]  # <locked or <unlocked
    elif isinstance(value, (ProductDistribution, SampledDistribution)):
        yield distribution_hash(value)
    else:
        is_live = isinstance(seen, _Live)
        is_of_others = isinstance(seen, _Live) and not (seen.has_caches or _is_own(type(value)))
        if is_of_others and (content := _hash_content(value)) is not None:
            yield str(content)
            return
        for key, item in _state(value):
            if isinstance(seen, _Live) and key in seen.unread:
                continue
            if is_of_others and key.startswith("_") and key not in _SWITCHES:
                continue
            yield f"attribute {key}" if is_live and key not in _PARTS else key
            yield from _describe(item, seen)
        if is_live and type(value).__module__ == "itertools" and not _state(value):
            yield f"a place that cannot be seen, {next(_TIMES)}"  # from Python 3.14 on


# How often a place was asked for: two that nobody can compare count as different.
_TIMES = count()


_LOCKS = (type(threading.Lock()), type(threading.RLock()))
# What events and semaphores of threads tell.
_SWITCHES = frozenset({"_flag", "_value"})


def _hash_content(value: Any) -> int | None:
    """A number that tells frames, series and indices from others; None for all else."""
    if any(kind.__name__ == "CDLL" for kind in type(value).__mro__):
        return 0  # it keeps functions that were asked for
    if str(type(value).__module__).partition(".")[0] not in ("pandas", "polars"):
        return None
    try:
        cells = np.asarray(value)
        content = repr(cells.tolist()).encode() if cells.dtype.hasobject else cells.tobytes()
        return zlib.crc32(content) + cells.size
    except Exception:  # such as groups, of which nothing is made
        return 0


def _is_own(kind: type) -> bool:
    """Whether a class is of the user's, or of no file."""
    path = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if path:
        return _is_local_at(os.path.abspath(path))
    return kind.__module__.partition(".")[0] not in sys.stdlib_module_names


def _describe_type(kind: type, seen: Seen) -> Iterator[str]:
    """Methods and attributes of a class of the user's; a generated method has no file."""
    if not _is_own(kind):
        return
    yield from _describe(kind.__bases__, seen)
    for name, member in sorted(vars(kind).items()):
        inner = _plain_function(member)
        code = getattr(inner, "__code__", None)
        generated = code is not None and code.co_filename == "<string>" and is_dataclass(kind)
        is_python = name.startswith("__") or name.startswith("_abc_")
        if not generated and (code is not None or not is_python):
            yield name
            yield from _describe(inner, seen)


def _plain_function(member: Any) -> Any:
    if isinstance(member, (staticmethod, classmethod)):
        return member.__func__
    return member.fget if isinstance(member, property) else member


def _state(value: Any) -> list[tuple[str, Any]]:
    """What makes an object what it is: everything but caches that say that they are caches."""
    if is_dataclass(value):
        return [(item.name, getattr(value, item.name)) for item in fields(value) if item.compare]
    try:
        kept = dict(vars(value))
    except Exception:  # it has none, or refuses to be looked at
        kept = {}
    lazy = (cached_property,)
    named = [
        (key, kept[key])
        for key in sorted(kept)
        if not isinstance(getattr(type(value), key, None), lazy)
    ]
    return named + _hidden_state(value)


def _hidden_state(value: Any) -> list[tuple[str, Any]]:
    """What an object keeps outside of its ``__dict__``, as pickling sees it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of itertools, from 3.12 on
            reduced = value.__reduce_ex__(2)
    except Exception:
        return [("state", repr(value))] if isinstance(value, (count, repeat)) else []
    if isinstance(reduced, str):
        return [("name", reduced)]
    _, arguments, *rest = reduced
    state = rest[0] if rest else None
    if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):
        state = state[1] or None  # slots; what comes before them is the __dict__
    elif isinstance(state, dict):
        state = None
    items = [("items", list(part)) for part in rest[1:3] if part is not None]
    return [("made from", arguments), ("state", state), *items]
