"""Files, sockets and programs that code opens while it is analysed: noticed, and warned of.

Python's audit events tell of them. A hook cannot be taken away again, so there is one for all,
which listens only during an analysis, to the thread that is analysed.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class SideEffectWarning(UserWarning):
    """Code under analysis did something that no output law shows."""


_WORDS = {
    "open": "opened the file",
    "os.remove": "removed the file",
    "os.rename": "renamed the file",
    "os.mkdir": "made the folder",
    "socket.connect": "connected to",
    "socket.bind": "listens at",
    "subprocess.Popen": "started the program",
    "os.system": "started the command",
}
# What importing a module opens, and reading lines of it for a message.
_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd", ".zip")

_listening: dict[int, dict[str, None]] = {}
_is_installed = False


@contextmanager
def side_effects_noticed(name: str, known: set[str]) -> Iterator[None]:
    """Warn afterwards of what the code of mechanism ``name`` did, if not among ``known``.

    ``known`` grows by it. An analysis within an analysis belongs to the outer one.
    """
    thread = threading.get_ident()
    if thread in _listening:
        yield
        return
    _install()
    seen: dict[str, None] = {}
    _listening[thread] = seen
    try:
        yield
    finally:
        del _listening[thread]
    for words in seen:
        if words not in known:
            known.add(words)
            warnings.warn(
                f"{name}: while it was analysed its code {words}; the verdict is about its "
                f"outputs only, and what a file or another machine says may change later",
                SideEffectWarning,
                stacklevel=2,
            )


def _install() -> None:
    global _is_installed
    if not _is_installed:
        _is_installed = True
        sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if not _listening or event not in _WORDS:
        return
    seen = _listening.get(threading.get_ident())
    if seen is None:
        return
    target = arguments[1] if event.startswith("socket.") else arguments[0]
    if event == "open" and (isinstance(target, int) or str(target).endswith(_CODE)):
        return
    seen[f"{_WORDS[event]} {target!r}"] = None
