"""What code asks of its process, or of the generator that it is given, as its byte code shows.

Which modules are loaded, which warnings are on, how many digits decimals have, how often a cache
was hit: another answer at another time or in another process. And an analysis hands out a generator
of its own: a program may draw from it, and ask whether it is a Generator, but nothing else.
Functions that tell such things have stand-ins (``asked_of_machine``); attributes have none, so they
are found in the code.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

from liptest.enumerate.intercept.replaceable_names import GENERATORS
from liptest.enumerate.watch.set_orders import CodeStep, find_steps

LEAVE_OUT = "leave it out"
_OF_MODULES: dict[ModuleType, frozenset[str]] = {
    sys: frozenset({"modules", "path", "meta_path", "path_importer_cache"}),
    warnings: frozenset({"filters", "onceregistry", "defaultaction"}),
    inspect: frozenset(name for name in vars(inspect) if name.startswith(("is", "get"))),
}
_NAMED = frozenset(name for names in _OF_MODULES.values() for name in names)
_CONTEXTS = frozenset({"getcontext", "localcontext"})
_OF_CONTEXTS = frozenset({"prec", "rounding", "Emin", "Emax", "capitals", "clamp", "flags"})
CONTEXT_ADVICE = "use a decimal.Context(prec=..) of your own"
_COUNTS = "cache_info"
_LOADS = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
# Functions that tell more of an object than what it can do, and those that may ask for a name.
_OF_KINDS = frozenset({"type", "dir", "vars"})
_BY_NAME = frozenset({"hasattr", "getattr"})
_DRAW_ONLY = "only draw from it, or ask isinstance(rng, numpy.random.Generator)"
#: Names of attributes that the stand-ins for generators have, and NumPy's have not.
PRIVATE_NAMES: set[str] = set()
#: Their classes, which name themselves as NumPy's do.
STAND_INS: set[type] = set()
#: Line, what is asked, what to write instead.
Question = tuple[int | None, str, str]


@lru_cache(maxsize=1 << 12)
def may_ask(code: CodeType) -> bool:
    """Whether code may ask one of these questions, from what it names."""
    names = set(code.co_names)
    if not names.isdisjoint(_NAMED | _CONTEXTS | {_COUNTS}):
        return True
    is_named = any(name.startswith("__") for name in names) or not names.isdisjoint(
        PRIVATE_NAMES | _OF_KINDS | _BY_NAME
    )
    return is_named and any(True for _ in _find_asked_names(code))


def questions_of_process(code: CodeType, space: Mapping[str, Any]) -> Iterator[Question]:
    """What code asks of its process; ``space`` are its globals and free variables."""
    if not may_ask(code):
        return
    is_of_contexts = not _CONTEXTS.isdisjoint(code.co_names)
    imported, own = None, dict[str, Any]()  # by code itself
    before: CodeStep | None = None
    for step in find_steps(code):
        if step.name == "IMPORT_NAME":
            imported = sys.modules.get(step.value)
        elif before and before.name == "IMPORT_NAME" and step.name.startswith("STORE_"):
            own[step.value] = imported
        named = before.value if before and isinstance(before.value, str) else ""
        owner = own.get(named, space.get(named))
        owner = imported if step.name == "IMPORT_FROM" else owner
        for module, names in _OF_MODULES.items():
            is_attribute = step.name in (*_LOADS, "IMPORT_FROM") and owner is module
            is_global = step.name == "LOAD_GLOBAL" and step.value in vars(module)
            is_global = is_global and space.get(step.value) is vars(module)[step.value]
            if step.value in names and (is_attribute or is_global):
                yield step.line, f"looks at {module.__name__}.{step.value}", LEAVE_OUT
        if is_of_contexts and step.name in _LOADS and step.value in _OF_CONTEXTS:
            yield step.line, f"looks at the decimal context: {step.value}", CONTEXT_ADVICE
        if step.name in _LOADS and step.value == _COUNTS:
            yield step.line, "asks what a cache has counted", LEAVE_OUT
        before = step


def questions_of_generators(code: CodeType, held: Mapping[str, Any]) -> Iterator[Question]:
    """What code asks of the generators among its variables, but for numbers."""
    if not may_ask(code):
        return
    for step in _find_asked_names(code):
        if isinstance(held.get(step.value), GENERATORS):
            yield step.line, f"looks at what kind of object {step.value} is", _DRAW_ONLY


def _find_asked_names(code: CodeType) -> Iterator[CodeStep]:
    """Where code asks more of something that it names than a number."""
    steps = find_steps(code)
    for place, step in enumerate(steps):
        is_loaded = isinstance(step.value, str) and step.name.startswith("LOAD_")
        if is_loaded and _asks_kind(steps, place):
            yield step


def _is_inner(name: str) -> bool:
    """Whether an attribute is one that a stand-in has otherwise than a generator of NumPy."""
    return name.startswith("__") or name in PRIVATE_NAMES


def _asks_kind(steps: tuple[CodeStep, ...], place: int) -> bool:
    """``type(rng)``, ``rng.__class__``, ``rng._name``, ``hasattr(rng, "_name")``; of methods."""
    before = steps[place - 1] if place else steps[place]
    called = before.value if before.name == "LOAD_GLOBAL" and before.is_called else ""
    after, then, *more = (*steps[place + 1 : place + 5], *4 * steps[place : place + 1])[:4]
    if after.name in _LOADS:
        is_inner = then.name in _LOADS and str(then.value).startswith("__")
        # Of the method, not of what it draws: ``type(rng.random)``, ``getattr(rng.random, "x")``.
        is_kind = called in _OF_KINDS and then.name == "CALL" and then.number == 1
        is_text = then.name == "LOAD_CONST" and isinstance(then.value, str)
        two, three = ((step.name, step.number) for step in more)
        is_whole = two == ("CALL", 2) or (more[0].name, three) == ("LOAD_CONST", ("CALL", 3))
        is_named = called in _BY_NAME and is_text and is_whole
        return _is_inner(str(after.value)) or is_inner or is_kind or is_named
    if called in _OF_KINDS:
        return after.name == "CALL" and after.number == 1
    is_text = after.name == "LOAD_CONST" and isinstance(after.value, str)
    return called in _BY_NAME and is_text and after.value.startswith("_")
