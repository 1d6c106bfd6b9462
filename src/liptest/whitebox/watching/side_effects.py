"""Files, sockets, programs and more that code uses while it is analysed: noticed, and warned of.

Python's audit events tell of the first three. A hook cannot be taken away again, so there is one
for all, which listens only during an analysis, to the thread that is analysed.
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


_OPENED = (
    "; the verdict is about its outputs only, and what a file or another machine says may "
    "change later"
)


# What importing a module opens, and reading lines of it for a message.
_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd", ".zip")


#: By thread: what was noticed, in words, and what follows from it.
_listening: dict[int, dict[str, str]] = {}


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
    seen: dict[str, str] = {}
    _listening[thread] = seen
    try:
        yield
    finally:
        del _listening[thread]
    for words, meaning in seen.items():
        if words not in known:
            known.add(words)
            warnings.warn(
                f"{name}: while it was analysed its code {words}{meaning}",
                SideEffectWarning,
                stacklevel=2,
            )


def notice(words: str, meaning: str) -> None:
    """Warn at the end of the analysis of this thread of what its code did, and what follows."""
    seen = _listening.get(threading.get_ident())
    if seen is not None:
        seen.setdefault(words, meaning)


def _install() -> None:
    global _is_installed
    if not _is_installed:
        _is_installed = True
        sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if not _listening or event not in _WORDS:
        return
    target = arguments[1] if event.startswith("socket.") else arguments[0]
    if event == "open" and (isinstance(target, int) or str(target).endswith(_CODE)):
        return
    notice(f"{_WORDS[event]} {target!r}", _OPENED)
