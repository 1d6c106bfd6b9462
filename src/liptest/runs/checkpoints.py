"""The file of a long run: what is done, so that a run that was cut off goes on where it was.

A run is a sum over numbered chunks (``liptest.runs.driver``), each with a seed of its own, so the
sum so far and the number of the next chunk are all that must be kept. A violation ends a run and is
never kept: its chunk is run again, and so is the chunk of the first undecided pair. The file is
JSON; a digest in it notices accidents, not forgers: who can write it can write a verdict.
"""

from __future__ import annotations

import glob
import hashlib
import json
import math
import os
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from liptest.errors import InputError, quote
from liptest.runs.driver import Judgement, Sampling

_KIND = "liptest checkpoint"
_FORMAT = 1
# Least time between two writes, except for the last one of a stage.
SECONDS = 1.0
_DIGEST_LENGTH = 64
Encode = Callable[[Any], Any]


@dataclass
class Checkpoint:
    """A checkpoint file and what it holds.

    ``identity`` is everything that fixes a run (code, distribution, claim, method and its numbers,
    seed, versions); ``stages`` what is done of each stage, by name.
    """

    path: Path
    identity: dict[str, Any] = field(default_factory=dict)
    stages: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Checkpoint:
        """Read a file, or begin where there is none.

        Raises InputError for a file that cannot be read, is not a checkpoint, is damaged, or has
        another format; it stays as it is.
        """
        place = Path(path)
        try:
            text = place.read_text(encoding="utf-8")
        except FileNotFoundError:
            return cls(place)
        except (OSError, ValueError) as error:
            raise _unreadable(place, str(error)) from None
        return cls(place, **_parse(place, text))

    @property
    def seed(self) -> int | None:
        """The seed of the run in the file; None for a new one."""
        return None if not self.identity else int(self.identity["seed"])

    def claim(self, identity: dict[str, Any]) -> None:
        """Make the file that of one run; written at once, so that a bad place is noticed first.

        Raises InputError when it belongs to another run, and when it cannot be written.
        """
        wanted = json.loads(json.dumps(identity))
        for key in {**self.identity, **wanted} if self.identity else ():
            there, here = self.identity.get(key), wanted.get(key)
            if there != here:
                raise InputError(
                    f"checkpoint={str(self.path)!r} belongs to another test: {key} is "
                    f"{_tell(there)} there and {_tell(here)} here; give another file, or remove "
                    f"this one to begin again",
                    name="checkpoint",
                )
        self.identity = wanted
        self._tidy()
        try:
            self.write()
        except OSError as error:
            raise InputError(
                f"checkpoint={str(self.path)!r} cannot be written: {error}; give a file in a "
                f"folder that you may write to",
                name="checkpoint",
            ) from None

    def _tidy(self) -> None:
        """Remove what processes left that were killed in the middle of a write."""
        with suppress(OSError):
            for left in self.path.parent.glob(f"{glob.escape(self.path.name)}.*.new"):
                number = left.name[len(self.path.name) + 1 : -len(".new")]
                if number.isdecimal() and _has_ended(int(number)):
                    left.unlink(missing_ok=True)

    def write(self) -> None:
        """Replace the file, whole or not at all; OSError when that fails."""
        body = {"identity": self.identity, "stages": self.stages}
        whole = {"kind": _KIND, "format": _FORMAT, "digest": _digest(body), **body}
        new = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        try:
            with new.open("w", encoding="utf-8") as file:
                json.dump(whole, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, self.path)
        except BaseException:
            with suppress(OSError):
                new.unlink()
            raise

    def journal(self, stage: str, encode: Encode, decode: Encode) -> StageJournal:
        """The notes of one stage; ``encode`` and ``decode`` turn evidence into JSON and back."""
        return StageJournal(self, stage, encode, decode)


@dataclass
class StageJournal:
    """What the driver tells about one stage; writes the file now and then."""

    checkpoint: Checkpoint
    stage: str
    encode: Encode
    decode: Encode
    _written: float = -math.inf
    _pending: bool = False
    _warned: bool = False
    _doubt: int | None = None
    _numbers: dict[str, Any] = field(default_factory=dict)

    def begin(self, sampling: Sampling) -> tuple[Judgement, int]:
        """What is done, and the chunk to go on with.

        Raises InputError when the file is about other draws, or its undecided pair is not found.
        """
        self._numbers = {
            "draws": sampling.draws,
            "chunk_draws": sampling.chunk_draws,
            "pieces": sampling.pieces,
            "stage": sampling.stage,
        }
        kept = self.checkpoint.stages.get(self.stage)
        if kept is None:
            return Judgement(), 0
        if kept["numbers"] != self._numbers:
            raise _other_draws(self.checkpoint.path, kept["numbers"], self._numbers)
        self._doubt = kept["doubt"]
        total = _judgement(kept["total"], self.decode)
        if self._doubt is not None:
            doubt = sampling.chunk(self._doubt).doubt
            if doubt is None:
                raise _unreadable(self.checkpoint.path, f"chunk {self._doubt} has no open pair")
            total = replace(total, doubt=doubt)
        return total, kept["chunks"]

    def note(self, total: Judgement, chunks: int) -> None:
        """``total`` is the sum of the first ``chunks`` chunks."""
        if total.violation is not None:
            return
        if self._doubt is None and total.doubt is not None:
            self._doubt = chunks - 1
        kept = {"numbers": self._numbers, "chunks": chunks, "doubt": self._doubt}
        kept["total"] = _plain(total, self.encode)
        self.checkpoint.stages[self.stage] = kept
        self._pending = True
        if time.monotonic() - self._written >= SECONDS:
            self.end()

    def end(self) -> None:
        """Write what was not written; a full disk costs a warning, not the run."""
        if not self._pending:
            return
        try:
            self.checkpoint.write()
            self._pending = False
        except OSError as error:
            if not self._warned:
                warnings.warn(
                    f"{self.checkpoint.path} cannot be written ({error}); the run goes on, the "
                    f"file holds what was done before",
                    RuntimeWarning,
                    stacklevel=2,
                )
            self._warned = True
        self._written = time.monotonic()


def _has_ended(process: int) -> bool:
    """Whether there is certainly no such process here; where that cannot be asked, no."""
    if os.name != "posix":
        return False  # signal 0 is not a question there
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass  # another user's, or no number of a process
    return False


_COUNTS = ("draws", "queries", "pairs", "repeats")


def _plain(total: Judgement, encode: Encode) -> dict[str, Any]:
    counts = {name: getattr(total, name) for name in _COUNTS}
    flags = {"answered": bool(total.answered), "spent": bool(total.spent)}
    evidence = None if total.evidence is None else encode(total.evidence)
    return {**counts, **flags, "largest": float(total.largest).hex(), "evidence": evidence}


def _judgement(kept: dict[str, Any], decode: Encode) -> Judgement:
    evidence = None if kept["evidence"] is None else decode(kept["evidence"])
    counts: dict[str, Any] = {name: int(kept[name]) for name in _COUNTS}
    return Judgement(
        **counts,
        answered=kept["answered"],
        spent=kept["spent"],
        largest=float.fromhex(kept["largest"]),
        evidence=evidence,
    )


def _parse(place: Path, text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
        kind, version, digest = data["kind"], data["format"], data["digest"]
        body = {"identity": data["identity"], "stages": data["stages"]}
    except (ValueError, KeyError, TypeError) as error:
        raise _unreadable(place, f"{type(error).__name__}: {error}") from None
    if kind != _KIND or version != _FORMAT:
        raise _unreadable(place, f"kind={quote(kind)}, format={quote(version)}")
    if digest != _digest(body):
        raise _unreadable(place, "its digest does not fit, so it was changed or cut")
    return body


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _tell(value: Any) -> str:
    """A value in short; of a digest the beginning."""
    if isinstance(value, str) and len(value) == _DIGEST_LENGTH:
        return f"{value[:12]}.."
    return quote(value)


def _unreadable(place: Path, why: str) -> InputError:
    return InputError(
        f"checkpoint={str(place)!r} is not a checkpoint that can be used ({quote(why, 200)}); give "
        f"another file; this one was left as it is",
        name="checkpoint",
    )


def _other_draws(place: Path, there: Any, here: Any) -> InputError:
    return InputError(
        f"checkpoint={str(place)!r} belongs to another test: its draws are {there}, here they are "
        f"{here}; give another file, or remove this one to begin again",
        name="checkpoint",
    )
