"""The processes of a service: started, started again when they die, and ended together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

_PAUSE = 0.25
# A process that ends within this time of its start is not started again at once.
_SOON = 2.0


def end_with(parent: int) -> None:
    """End this process when its parent is another one than at the start; 0: it goes on."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(0)

    if parent:
        threading.Thread(target=watch, daemon=True).start()


def limit_memory(count: int) -> None:
    """Give this process, and what it starts, so many bytes of addresses at most."""
    try:
        import resource
    except ImportError:  # Windows has none
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (count, count))


@dataclass
class Process:
    """One process by its module and arguments; ``running`` is the one that runs now."""

    name: str
    module: str
    arguments: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    running: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    deaths: int = 0

    def start(self) -> None:
        """Start it, or start it again."""
        # Not the folder it is started in: what lies there could be imported, and is shown to code.
        command = [sys.executable, "-P", "-m", self.module, *self.arguments]
        self.running = subprocess.Popen(
            [*command, "--parent", str(os.getpid())], env={**os.environ, **self.environment}
        )
        self.started = time.monotonic()


@dataclass
class Supervisor:
    """Keeps processes running until it is told to stop."""

    processes: Sequence[Process]
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Start all, and start again what ends, until ``stop`` is set; then end all."""
        try:
            while not self.stop.is_set():
                for process in self.processes:
                    self._look_after(process)
                self.stop.wait(_PAUSE)
        finally:
            self._end()

    def _look_after(self, one: Process) -> None:
        if one.running is None:
            one.start()
            return
        if one.running.poll() is None:
            return
        if time.monotonic() - one.started < _SOON and one.deaths % 2 == 1:
            return  # it ends at once: not in a circle without pause
        one.deaths += 1
        code = one.running.returncode
        print(f"{one.name}: ended ({code}); it is started again", file=sys.stderr)
        one.start()

    def _end(self) -> None:
        alive = [started.running for started in self.processes if started.running is not None]
        for process in alive:
            process.terminate()
        deadline = time.monotonic() + 5.0
        for process in alive:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def stop_on_signals(stop: threading.Event) -> None:
    """Ctrl-C and a request to end stop the supervisor."""
    for which in (signal.SIGINT, signal.SIGTERM):
        signal.signal(which, lambda *_: stop.set())
