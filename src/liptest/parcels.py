"""A task on its way to other processes: pickled once, unpickled once per process.

Code travels by value where cloudpickle is installed: functions of ``__main__`` (scripts, notebook
cells), lambdas, and modules that are no installed package, such as a vendor's file. A worker that
started before a function was written, or that runs on another machine, then has the code that the
caller sees, and never an older one of the same name. Without cloudpickle, and for workers that
were forked after the code was loaded, functions travel by their names.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import sysconfig
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from liptest.errors import InputError, shown

# Unpickled tasks that a process keeps: one run has one, its stages a few.
_KEPT = 4
_opened: OrderedDict[str, Any] = OrderedDict()
_by_value: ContextVar[bool] = ContextVar("by_value", default=False)
_PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Parcel:
    """A pickled task; ``digest`` is the sha256 of its bytes, which lie in ``data`` or a file."""

    digest: str
    data: bytes
    path: str = ""

    def filed(self) -> Parcel:
        """The same, in a file: for workers on this machine that want it again and again."""
        handle, path = tempfile.mkstemp(prefix="liptest-")
        with os.fdopen(handle, "wb") as file:
            file.write(self.data)
        return replace(self, data=b"", path=path)

    def open(self) -> Any:
        """The task; the same object for each call in one process."""
        if self.digest not in _opened:
            data = Path(self.path).read_bytes() if self.path else self.data
            _opened[self.digest] = pickle.loads(data)
            while len(_opened) > _KEPT:
                _opened.popitem(last=False)
        return _opened[self.digest]


def travels_by_value() -> bool:
    """Whether what is being pickled must not rely on the modules of the other process."""
    return _by_value.get()


def pack(task: Any, *, by_name: bool = False) -> Parcel:
    """Pickle a task.

    ``by_name`` is for workers that are known to have the modules of this process. Raises
    InputError when the task holds something that no pickler takes.
    """
    ways: list[Callable[[Any], bytes]] = [*_value_ways(), _named]
    problem: Exception | None = None
    for way in (_named, *ways) if by_name else ways:
        try:
            data = way(task)
        except Exception as error:  # picklers raise whatever the objects raise
            problem = problem or error
            continue
        return Parcel(hashlib.sha256(data).hexdigest(), data)
    advice = "" if len(ways) > 1 else "; install cloudpickle (extra 'cluster') for lambdas"
    raise InputError(
        f"executor: what is tested cannot be sent to another process "
        f"({shown(str(problem), 200)}); define it in a file without open files or locks, or test "
        f"it without executor={advice}",
        name="executor",
    )


def packed_answer(answer: Any) -> bytes:
    """An answer on its way back; classes that travelled by value travel back by value."""
    try:
        return _named(answer)
    except Exception:
        ways = _value_ways()
        if not ways:
            raise
        return ways[-1](answer)


def _named(task: Any) -> bytes:
    return pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL)


def _value_ways() -> list[Callable[[Any], bytes]]:
    try:
        import cloudpickle
    except ImportError:
        return []

    def whole(task: Any) -> bytes:
        with _registered(cloudpickle):
            return bytes(cloudpickle.dumps(task))

    return [whole, cloudpickle.dumps]


@contextmanager
def _registered(cloudpickle: Any) -> Iterator[None]:
    """Within, the modules that are no installed package travel by value."""
    before = set(cloudpickle.list_registry_pickle_by_value())
    ours = [m for name, m in list(sys.modules.items()) if name not in before and _is_local(name, m)]
    token = _by_value.set(True)
    try:
        for module in ours:
            cloudpickle.register_pickle_by_value(module)
        yield
    finally:
        _by_value.reset(token)
        for module in ours:
            with suppress(ValueError):
                cloudpickle.unregister_pickle_by_value(module)


def _is_local(name: str, module: ModuleType) -> bool:
    # cloudpickle looks modules up by their own names.
    known = getattr(module, "__name__", None) == name and name != "__main__"
    path = getattr(module, "__file__", None)
    return known and isinstance(path, str) and _is_users(path)


@cache
def _is_users(path: str) -> bool:
    full = Path(path).resolve()
    if "site-packages" in full.parts or "dist-packages" in full.parts:
        return False
    return not any(full.is_relative_to(folder) for folder in _installed())


@cache
def _installed() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    keys = ("stdlib", "platstdlib", "purelib", "platlib")
    return (_PACKAGE, *(Path(paths[key]).resolve() for key in keys))
