"""Programs of any language as samplers: a dataset goes in, outputs come out.

With ``{n}`` in its command a program is started for each request: each line of its standard output
is one output, a JSON value or else a text. Without, it is started once and answers requests line
by line in JSON. It runs in the jail of ``liptest.runs.jail``, and is started again when it ended.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import selectors
import shlex
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from liptest.blackbox.freshness import Freshness
from liptest.blackbox.samplers import Sampler
from liptest.data.domains import IntArray
from liptest.errors import InputError, MechanismError, check_count, quote
from liptest.mechanisms.laws import Raised
from liptest.runs.jail import (
    MOST_BYTES,
    NOT_ASKED_FOR,
    confinement,
    end_process,
    start_confined,
)

#: The output "the process ended", of programs that give one output at a time.
ENDED = Raised("ProcessEnded")
_PLACES = ("{n}", "{seed}", "{dataset}")
_TRIES = 3
# Bytes of standard error that are kept, and shown where a program ends.
_LAST_WORDS = 300


@dataclass(frozen=True)
class ExternalProgram:
    """A program as a function ``(dataset, n, rng) -> n outputs``; ``sampler()`` wraps it.

    Parameters
    ----------
    command
        Words, or one text that is split as a shell does; no shell is started. In each word
        ``{n}`` stands for how many outputs are wanted, ``{seed}`` for a whole number below 2^53,
        ``{dataset}`` for the numbers of the dataset with commas between. Without ``{n}`` it
        stays: it reads lines ``{"dataset": [0, 1], "n": 100, "seed": 7, "id": 1}`` and answers each
        with a line ``{"outputs": [..]}`` of n outputs, which may repeat the ``"id"``. The dataset
        goes to its standard input otherwise, too, as one JSON list.
    batch
        Outputs of one request at most. With 1 the end of a process without an answer is an output
        of its own; with more it cannot be told which draw ended it, and is an error.
    seconds, memory
        Of one request, and in MiB of addresses.
    confined
        Whether it runs in bubblewrap where there is one: no network, no files but the system's,
        those named in the command, and ``readable`` ones.

    Raises InputError when there is no such program.
    """

    command: tuple[str, ...]
    batch: int = field(default=1000, compare=False)
    seconds: float = field(default=60.0, compare=False)
    memory: int = field(default=8192, compare=False)
    confined: bool = field(default=True, compare=False)
    readable: tuple[Path, ...] = field(default=(), compare=False)
    #: sha256 of the files that the command names, so that a certificate tells of another program.
    files: tuple[tuple[str, str], ...] = field(default=(), init=False)
    _lines: bool = field(default=False, init=False, compare=False)
    _path: str = field(default="", init=False, compare=False)

    def __init__(
        self,
        command: str | tuple[str, ...] | list[str],
        *,
        batch: int = 1000,
        seconds: float = 60.0,
        memory: int = 8192,
        confined: bool = True,
        readable: tuple[Path | str, ...] = (),
    ) -> None:
        words = _split(command)
        program = shutil.which(words[0])
        if program is None:
            raise InputError(f"command: {_why_none(words[0])}", name="command")
        if not 0 < seconds < float("inf"):
            raise InputError(f"seconds={quote(seconds)} must be above 0", name="seconds")
        files = [Path(word) for word in words if Path(word).is_file()]
        for name, value in {
            "command": words,
            "batch": check_count("batch", batch, least=1),
            "seconds": float(seconds),
            "memory": check_count("memory", memory, least=1),
            "confined": bool(confined),
            "readable": tuple(Path(place).resolve() for place in readable),
            "files": tuple((file.name, _hash_file(file)) for file in files),
            "_lines": any("{n}" in word for word in words),
            "_path": os.path.abspath(program),
        }.items():
            object.__setattr__(self, name, value)

    def sampler(self) -> Sampler:
        """What ``lt.check_samples`` takes."""
        return Sampler(self, name=self.name)

    @property
    def name(self) -> str:
        """The command as one text."""
        return " ".join(self.command)

    @property
    def confinement(self) -> str:
        """How it is confined on this machine, in words."""
        return confinement() if self.confined else NOT_ASKED_FOR

    def __call__(self, dataset: IntArray, n: int, rng: np.random.Generator) -> list[Any]:
        outputs: list[Any] = []
        while len(outputs) < n:
            count = min(self.batch, n - len(outputs))
            seed = int(rng.integers(1 << 53))
            answers = self._asked([int(value) for value in dataset], count, seed)
            outputs += [ENDED] if answers is None else answers
        return outputs

    def close(self) -> None:
        """End the processes that this thread has started."""
        running = _running.pop(self._key, None)
        if running is not None:
            running.end()

    def _asked(self, dataset: list[int], count: int, seed: int) -> list[Any] | None:
        """``count`` outputs, or None when one was requested and the process ended."""
        if self not in _answered:
            _answered[self] = self._probe(dataset, seed)
        said = self._say(dataset, count, seed)
        if not isinstance(said, _Ended):
            _answered[self].compare(dataset, seed, said)
            return said
        if count > 1:
            raise MechanismError(
                f"{self.name}: it ended while {count} outputs were requested{said.words}; which "
                f"draw ended it cannot be told, with --batch 1 this is an output as any other"
            )
        return None

    def _probe(self, dataset: list[int], seed: int) -> Freshness:
        """See that it answers at all, and not the same twice; the outputs are thrown away."""
        for tried in range(1, _TRIES + 1):
            said = self._say(dataset, min(self.batch, 2), seed)
            if not isinstance(said, _Ended):
                break
            if tried == _TRIES:
                raise MechanismError(
                    f"{self.name}: it ended {_TRIES} times without an answer{said.words}; run it "
                    f"by hand, and where it needs files or the network see --readable and "
                    f"--unconfined"
                )

        def ask(count: int, number: int) -> list[Any]:
            answer = self._say(dataset, count, (seed + ((number + 1) << 40)) % (1 << 53))
            return [] if isinstance(answer, _Ended) else answer

        fresh = Freshness(self.name, self.batch)
        fresh.probe(dataset, ask)
        return fresh

    def _say(self, dataset: list[int], count: int, seed: int) -> list[Any] | _Ended:
        if self._lines:
            said = self._once(dataset, count, seed)
            return said if isinstance(said, _Ended) else _read_lines(said, count)
        try:
            return self._line(dataset, count, seed)
        except MechanismError:
            self.close()  # what it may say later answers nothing
            raise

    def _once(self, dataset: list[int], count: int, seed: int) -> bytes | _Ended:
        """All that a new process says, or how it failed."""
        values = (str(count), str(seed), ",".join(map(str, dataset)))
        words = [_fill(word, values) for word in (self._path, *self.command[1:])]
        running = self._start(words)
        try:
            request = json.dumps(dataset).encode() + b"\n"
            said, _ = running.talk(request, self.seconds, whole=True)
            return said if running.child.wait(timeout=self.seconds) == 0 else running.ended()
        except subprocess.TimeoutExpired:
            raise MechanismError(_TOO_LONG) from None
        finally:
            running.end()

    def _line(self, dataset: list[int], count: int, seed: int) -> list[Any] | _Ended:
        """The answer of the process that stays, of a new one where it ended since."""
        for _ in range(_TRIES):
            running = _running.get(self._key)
            if running is None:
                running = _running[self._key] = self._start([self._path, *self.command[1:]])
            request = running.request(dataset, count, seed)
            said, is_over = running.talk(request, self.seconds, whole=False)
            if not is_over:
                outputs, number = _read_numbered(said, count)
                if not running.repeats(number):
                    self._separate(running, dataset, count, seed)
                return outputs
            # Who ended before the request was read did not end because of it.
            is_unheard = running.is_deaf or running.waiting_in(running.child.stdin) == len(request)
            ended = running.ended()
            self.close()
            if not is_unheard:
                break
        return ended

    def _separate(self, running: _Running, dataset: list[int], before: int, seed: int) -> None:
        """Request another number of outputs than ``before``, and throw them away.

        For a program that does not repeat the numbers of requests. A second line for one, of as
        many outputs, comes here where it is late, and is not taken for the answer to the next.
        """
        count = 2 if before == 1 else 1
        request = running.request(dataset, count, (seed + (1 << 52)) % (1 << 53))
        said, is_over = running.talk(request, self.seconds, whole=False)
        if is_over:
            self.close()
        if said and _count_in(said) == before:
            raise MechanismError(_MORE_LINES)
        if not is_over:
            running.repeats(_read_numbered(said, count)[1])

    def _start(self, words: list[str]) -> _Running:
        named = [Path(word) for word in (self._path, *self.command) if Path(word).exists()]
        child = start_confined(
            words,
            readable=[*named, *self.readable],
            memory=self.memory << 20,
            confined=self.confined,
        )
        return _Running(child)

    @property
    def _key(self) -> _Key:
        how = (self.memory, self.confined, self.readable)
        return os.getpid(), threading.get_ident(), self, how


@dataclass(frozen=True)
class _Ended:
    """A process ended instead of an answer; ``words`` say how, for the middle of a sentence."""

    words: str


@dataclass
class _Running:
    """A process, and what is said to it and by it."""

    child: subprocess.Popen[bytes]
    is_deaf: bool = False
    #: How many requests it got, and whether its answers repeat their numbers.
    requests: int = 0
    is_numbered: bool | None = None
    #: The end of what it wrote to standard error.
    complaint: bytes = b""

    def request(self, dataset: list[int], count: int, seed: int) -> bytes:
        """The line of the next request."""
        self.requests += 1
        request = {"dataset": dataset, "n": count, "seed": seed, "id": self.requests}
        return json.dumps(request).encode() + b"\n"

    def repeats(self, number: Any) -> bool:
        """Whether its answers repeat the numbers of requests; the one with ``number`` came last.

        Raises MechanismError where it is that of another request, or missing unlike before.
        """
        is_numbered = number is not None
        is_other = is_numbered and (type(number) is not int or number != self.requests)
        if is_other or self.is_numbered not in (None, is_numbered):
            raise MechanismError(
                f"the program answered with id={quote(number)} where the request has "
                f"id={self.requests}; it answers each request once, in their order"
            )
        self.is_numbered = is_numbered
        return is_numbered

    def talk(self, request: bytes, seconds: float, *, whole: bool) -> tuple[bytes, bool]:
        """Its answer, one line or the ``whole`` of it, and whether it ended.

        Raises MechanismError when it takes too long, says too much or what it was not asked for.
        """
        deadline = time.monotonic() + seconds
        said, left = bytearray(), memoryview(request)
        source, sink, aside = self._pipes()
        # A process of its own may have answered before it was asked.
        if not whole and self.waiting_in(self.child.stdout):
            raise MechanismError(_MORE_LINES)
        with selectors.DefaultSelector() as selector:
            selector.register(source, selectors.EVENT_READ)
            selector.register(aside, selectors.EVENT_READ)
            selector.register(sink, selectors.EVENT_WRITE)
            while whole or not said.endswith(b"\n"):
                left_over = deadline - time.monotonic()
                ready = [key.fd for key, _ in selector.select(max(0.0, left_over))]
                if not ready or left_over < 0:
                    raise MechanismError(_TOO_LONG)
                if sink in ready:
                    left = self._write(left, sink, len(request))
                    if not left:
                        selector.unregister(sink)
                        if whole:
                            assert self.child.stdin is not None
                            self.child.stdin.close()
                if aside in ready and not self._overhear(aside):
                    selector.unregister(aside)
                if source in ready:
                    part = os.read(source, 1 << 16)
                    if not part:
                        return bytes(said), True
                    said += part
                    if len(said) > MOST_BYTES:
                        raise MechanismError(
                            f"the program said more than {MOST_BYTES >> 20} MiB for one request"
                        )
        return bytes(said), False

    def ended(self) -> _Ended:
        """How it ended, for readers."""
        assert self.child.stderr is not None
        with suppress(subprocess.TimeoutExpired):
            self.child.wait(timeout=1.0)
        while self.waiting_in(self.child.stderr) and self._overhear(self.child.stderr.fileno()):
            pass
        code = self.child.returncode
        words = (
            "" if code is None else f" (exit code {code})" if code >= 0 else f" (signal {-code})"
        )
        lines = self.complaint.decode("utf-8", "replace").splitlines()
        complaint = " / ".join(line.strip() for line in lines if line.strip())
        if complaint:
            words += f", the end of its standard error: {quote(complaint, _LAST_WORDS)}"
        return _Ended(words)

    def waiting_in(self, pipe: IO[bytes] | None) -> int:
        """Bytes of a pipe that nobody has read yet; 0 where this cannot be asked."""
        assert pipe is not None
        waiting = bytearray(4)
        try:
            import fcntl
            import termios

            fcntl.ioctl(pipe.fileno(), termios.FIONREAD, waiting)
        except (ImportError, OSError):
            return 0
        return int.from_bytes(waiting, sys.byteorder)

    def end(self) -> None:
        """End it, and close what was open to it."""
        end_process(self.child)
        for pipe in (self.child.stdin, self.child.stdout, self.child.stderr):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _pipes(self) -> tuple[int, int, int]:
        """Its standard output, input and error; no writing waits."""
        pipes = (self.child.stdout, self.child.stdin, self.child.stderr)
        source, sink, aside = (pipe.fileno() for pipe in pipes if pipe is not None)
        os.set_blocking(sink, False)
        return source, sink, aside

    def _overhear(self, aside: int) -> bool:
        """Keep the end of what it wrote to standard error; whether it may write more."""
        part = os.read(aside, 1 << 16)
        self.complaint = (self.complaint + part)[-_LAST_WORDS:]
        return bool(part)

    def _write(self, left: memoryview, sink: int, whole: int) -> memoryview:
        try:
            return left[os.write(sink, left) :]
        except BlockingIOError:
            return left
        except BrokenPipeError:
            self.is_deaf = len(left) == whole
            return left[len(left) :]  # what it says decides


_MORE_LINES = "the program said more than one line for a request; the answer is one line of JSON"
_TOO_LONG = "the program took longer than --seconds for one request, and was ended"
_Key = tuple[int, int, ExternalProgram, tuple[Any, ...]]
_running: dict[_Key, _Running] = {}
_answered: dict[ExternalProgram, Freshness] = {}


@atexit.register
def _end_all() -> None:
    for (process, *_), running in list(_running.items()):
        if process == os.getpid():
            with suppress(OSError):
                running.end()


def _split(command: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command)) if isinstance(command, str) else tuple(command)
    except ValueError as error:
        raise InputError(f"command={quote(command)}: {error}", name="command") from None
    if not words or not all(isinstance(word, str) and "\0" not in word for word in words):
        raise InputError(f"command={quote(command)} names no program", name="command")
    return words


def _why_none(word: str) -> str:
    """What is wrong with the name of a program."""
    if Path(word).is_file():
        return f"{quote(word)} is not executable; chmod +x, or name its interpreter first"
    if Path(word).is_dir():
        return f"{quote(word)} is a folder; name a program in it"
    return f"there is no program {quote(word)}"


def _fill(word: str, values: tuple[str, ...]) -> str:
    for place, value in zip(_PLACES, values, strict=True):
        word = word.replace(place, value)
    return word


def _hash_file(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _count_in(line: bytes) -> int | None:
    """How many outputs an answer has; None of one that is not understood."""
    try:
        outputs = json.loads(line)["outputs"]
    except (ValueError, RecursionError, TypeError, KeyError):
        return None
    return len(outputs) if isinstance(outputs, list) else None


def _read_lines(whole: bytes, count: int) -> list[Any]:
    # Not splitlines: a text may hold other ends of lines than the program's.
    lines = whole.decode("utf-8", "backslashreplace").removesuffix("\n").split("\n")
    if len(lines) != count:
        raise MechanismError(
            f"the program printed {len(lines)} lines where {count} outputs were requested, one "
            f"output a line; the first is {quote(lines[0])}"
        )
    return [_read_value(line) for line in lines]


def _read_value(line: str) -> Any:
    try:
        return _output(json.loads(line))
    except (ValueError, RecursionError):
        return line.strip()


def read_answer(line: bytes, count: int) -> list[Any]:
    """The outputs of an answer in JSON; MechanismError when there are not so many."""
    return _read_numbered(line, count)[0]


def _read_numbered(line: bytes, count: int) -> tuple[list[Any], Any]:
    """The outputs of an answer, and the number of the request that it repeats, or None."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        raise MechanismError(f"the program answered {quote(line)}, which is not JSON") from None
    if isinstance(answer, dict) and "error" in answer:
        raise MechanismError(f"the program reports an error: {quote(answer['error'], 200)}")
    outputs = answer.get("outputs") if isinstance(answer, dict) else None
    if not isinstance(outputs, list) or len(outputs) != count:
        raise MechanismError(
            f'the program answered {quote(answer)}; the answer is {{"outputs": [..]}} with {count} '
            f"outputs"
        )
    return [_output(value) for value in outputs], answer.get("id")


def _output(value: Any) -> Any:
    """A JSON value as an output; {"raised": "Overflow"} stands for an exception."""
    if isinstance(value, list):
        return tuple(_output(item) for item in value)
    if isinstance(value, dict):
        if set(value) == {"raised"} and isinstance(value["raised"], str):
            return Raised(value["raised"])
        return json.dumps(value, sort_keys=True)
    return value
