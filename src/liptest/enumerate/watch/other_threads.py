"""Threads and processes: what code does in them while it is analysed cannot be followed.

Random numbers of another thread or process are real, nobody knows their law, and two runs that
agree do not show them. So code under analysis may neither start a thread or a process nor wait
for one, and a stand-in that another thread of the program calls ends the analysis.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

from liptest.enumerate.intercept.replaceable_names import is_foreign
from liptest.errors import NonDeterministicError
from liptest.values.lines import is_of_packages, line_in_words

#: Audit events of Python, with what code does that raises them.
STARTS = {
    "cpython.PyInterpreterState_New": "runs another interpreter",
    "os.fork": "forks",
    "os.forkpty": "forks",
    "os.exec": "starts a program",
    "os.posix_spawn": "starts a program",
    "os.spawn": "starts a program",
    "os.startfile": "starts a program",
    "os.system": "starts a command",
    "pty.spawn": "starts a program",
    "subprocess.Popen": "starts a program",
}
#: Audit events, and a file that is not a plain one, with what code does there: it asks others.
ASKS = {
    **dict.fromkeys(("socket.connect", "socket.bind"), "connects to another program"),
    **dict.fromkeys(("socket.sendto", "socket.sendmsg"), "connects to another program"),
    **dict.fromkeys(("socket.getaddrinfo", "socket.gethostbyname"), "asks the network"),
    "builtins.input": "asks for input",
    "live file": "opens a pipe, a device or a file of /proc",
}
_ADVICE = {
    **dict.fromkeys(ASKS.values(), "hand in what it says as a parameter"),
    "forks": "do the work in the process that calls it",
    "starts a program": "call Python code for it, or hand in what the program says",
    "starts a command": "call Python code for it, or hand in what the command says",
    "runs another interpreter": "do the work in the one that calls it",
    "starts a process": "call the function in place: [f(x) for x in xs] for pool.map(f, xs)",
    "starts a thread": "call the function in place: [f(x) for x in xs] for pool.map(f, xs)",
    "hands work to another thread": (
        "call the function in place: [f(x) for x in xs] for pool.map(f, xs)"
    ),
    "waits for another thread": "let nothing that it answers come from there",
}
_TOLD = frozenset(ASKS.values())
#: Attributes that lead to the calls under way.
FRAMES = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame"})
#: The folder of stand-ins for what the program calls.
_STAND_INS = str(Path(__file__).resolve().parents[1] / "intercept") + os.sep
_WHY = ("random numbers of other threads and processes", "what is said there")
# Class by module and name, its method, and what is done by calling it. What was not imported
# before an analysis cannot do its work without starting a thread or a process.
_METHODS = (
    ("threading", "Thread", "start", "starts a thread"),
    ("threading", "Thread", "join", "waits for another thread"),
    ("threading", "Condition", "wait", "waits for another thread"),
    ("multiprocessing.process", "BaseProcess", "start", "starts a process"),
    ("multiprocessing.pool", "Pool", "_check_running", "hands work to another thread"),
    ("concurrent.futures.thread", "ThreadPoolExecutor", "submit", "hands work to another thread"),
    ("concurrent.futures.process", "ProcessPoolExecutor", "submit", "hands work to another thread"),
)
_FUNCTIONS = {
    ("_thread", "start_new_thread"): "starts a thread",
    ("_thread", "start_joinable_thread"): "starts a thread",
    ("_posixsubprocess", "fork_exec"): "starts a program",
    # One that was made before; the module is named _interpreters from Python 3.13 on.
    **{
        (module, name): "runs another interpreter"
        for module in ("_interpreters", "_xxsubinterpreters")
        for name in ("call", "exec", "run_func", "run_string")
    },
}
# Modules of Dask and Tornado that run functions which they are given.
_RUN_FUNCTIONS = frozenset(
    {"distributed.worker", "distributed.threadpoolexecutor", "distributed.utils", "tornado.ioloop"}
    | {"dask.local", "dask.utils", "dask._task_spec", "dask.core", "distributed.client"}
)
_OWN_ROOMS = ("liptest.enumerate", "liptest.values")


def starting_methods() -> Iterator[tuple[type, str, str]]:
    """Classes with the names of methods, and what is done by calling them."""
    for module, kind, name, what in _METHODS:
        owner = getattr(sys.modules.get(module), kind, None)
        if isinstance(owner, type):
            yield owner, name, what


def starting_functions() -> Iterator[tuple[Callable[..., Any], str]]:
    """Functions that start threads or processes, and what is done by calling them."""
    for (module, name), what in _FUNCTIONS.items():
        original = vars(sys.modules.get(module, _thread)).get(name)
        if original is not None:
            yield original, what


def program_line(frame: FrameType | None) -> str:
    """File, line and text of the program's own code that called a frame."""
    while frame is not None and _is_not_the_programs(frame):
        frame = frame.f_back
    return "" if frame is None else line_in_words(frame.f_code.co_filename, frame.f_lineno)


def _is_not_the_programs(frame: FrameType) -> bool:
    module = frame.f_globals.get("__name__")
    return is_foreign(module) or str(module).startswith(_OWN_ROOMS)


# What opens a file for whoever asks it to.
_OPENERS = frozenset({"io", "_pyio", "codecs", "pathlib", "os", "fileinput", "shutil", "liptest"})


def is_opened_by_program() -> bool:
    """Whether the program itself opens a file, and not a library that looks at the machine."""
    return _is_of_program(_skip(sys._getframe(1), lambda frame: _top(frame) in _OPENERS))


def is_read_by_program(own_code: str) -> bool:
    """Whether the program itself reads an attribute, and no file below ``own_code``; of a hook.

    A stand-in, such as that for ``getattr``, reads it for who called it.
    """
    frame = _skip(sys._getframe(2), lambda one: one.f_code.co_filename.startswith(_STAND_INS))
    is_own = frame is not None and frame.f_code.co_filename.startswith(own_code)
    return not is_own and _is_of_program(frame)


def _skip(frame: FrameType | None, is_between: Callable[[FrameType], bool]) -> FrameType | None:
    """The first caller that does not stand between the program and what is done for it."""
    while frame is not None and is_between(frame):
        frame = frame.f_back
    return frame


def _is_of_program(frame: FrameType | None) -> bool:
    if frame is None:
        return False
    is_others = is_foreign(frame.f_globals.get("__name__"))
    return not (is_others or is_of_packages(frame.f_code.co_filename))


def _top(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def not_alone(name: str, what: str) -> NonDeterministicError:
    """The error of code that does in another thread or process what cannot be followed."""
    line, why = program_line(sys._getframe(1)), _WHY[what in _TOLD]
    return NonDeterministicError(
        f"{name}: non-deterministic: it {what}{f' ({line})' if line else ''}; {why} "
        f"cannot be followed: {_ADVICE[what]}, or sample it with lt.check_samples"
    )


def make_thread_error(name: str) -> NonDeterministicError:
    """The error of an analysis during which another thread draws."""
    line = program_line(sys._getframe(1))
    return NonDeterministicError(
        f"{name}: non-deterministic: while it was analysed the thread "
        f"{threading.current_thread().name!r} drew random numbers{f' ({line})' if line else ''}, "
        f"which cannot be followed; let the function draw by itself, and let nothing else draw "
        f"meanwhile"
    )


def works_for_itself() -> bool:
    """Whether the thread that calls works for liptest, as that of a service may, or a cluster."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_not_the_programs(frame):
        frame = frame.f_back
    if frame is not None and _is_of_a_cluster(str(frame.f_globals.get("__name__"))):
        return True
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] == "liptest" and not module.startswith(_OWN_ROOMS):
            return True
        frame = frame.f_back
    return False


def _is_of_a_cluster(module: str) -> bool:
    """Whether a module of Dask works for itself; some run functions that they are given."""
    package = module.partition(".")[0]
    return package in ("dask", "distributed", "tornado") and module not in _RUN_FUNCTIONS


@lru_cache
def refusing(what: str) -> Callable[..., Any]:
    """An answer of a stand-in that ends the analysis."""

    def answer(session: Any, *arguments: Any, **options: Any) -> Any:
        session.tree.fail(not_alone(session.name, what))

    return answer
