"""Sealed laws of a vendor's code, computed in another process: this one never imports the code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from liptest import errors
from liptest.cli.lines import plain_line
from liptest.data.domains import Domain
from liptest.errors import InputError, LiptestError, MechanismError
from liptest.evidence.domain_form import domain_to_dict
from liptest.gate.sealed import Sealed
from liptest.gate.sealing import read_sealed
from liptest.privacy.verdicts import SEALED_ELSEWHERE
from liptest.runs.fingerprints import Fingerprint
from liptest.runs.jail import run_confined
from liptest.runs.shown_code import code_files
from liptest.verdicts import Record, Text

_MODULE = "liptest.cli.sealing_child"


@dataclass(frozen=True)
class _Code(Record):
    hash: Text
    files: dict[str, Text]
    packages: dict[str, Text]
    parameters: Text


@dataclass(frozen=True)
class SealedCode:
    """What another process said of a vendor's code; all but ``sealed`` is its word alone.

    ``source`` says where the laws come from, and how the process was confined.
    """

    sealed: Sealed
    label: str
    source: str
    code: Fingerprint


@dataclass(frozen=True)
class NamedCode:
    """Code that is known by name only."""

    name: str


def code_on_disk(where: str) -> Fingerprint:
    """Of the file that is named, or of the name alone, without importing anything."""
    path = Path(where.rpartition(":")[0])
    text = path.read_bytes() if path.is_file() else b""
    digest = hashlib.sha256(where.rpartition(":")[2].encode() + b"\0" + text).hexdigest()
    return Fingerprint(digest, {}, {}, hashlib.sha256(text).hexdigest())


def seal_elsewhere(
    where: str,
    domain: Domain,
    *,
    hidden: Iterable[Path],
    seconds: float | None,
    statistic: str | None = None,
    frame: str | None = None,
    step: Fraction | None = None,
) -> SealedCode:
    """Have the laws of ``file.py:name`` or ``package.module:name`` sealed in another process.

    Raises MechanismError where it gives no answer, and what it says it raised.
    """
    file = Path(where.rpartition(":")[0])
    folder = file.resolve().parent if file.suffix == ".py" else None
    if folder is not None:
        where = f"{file.resolve()}:{where.rpartition(':')[2]}"
    said = {"mechanism": where, "statistic": statistic, "frame": frame}
    grid_step = None if step is None else str(step)
    request = {**said, "domain": domain_to_dict(domain), "grid_step": grid_step}
    answer = run_confined(
        _MODULE,
        json.dumps(request).encode(),
        readable=[] if folder is None else [file.resolve(), *code_files(folder)],
        hidden=hidden,
        folder=folder,
        seconds=seconds,
    )
    sealed_code = _read(answer.content, answer.confinement, domain)
    if step is not None and sealed_code.sealed.grid_step != step:
        raise MechanismError("the analysis sealed its sums on another grid")
    return sealed_code


def _read(content: bytes, confinement: str, domain: Domain) -> SealedCode:
    try:
        answer = json.loads(content)
        if "error" in answer:
            raise _make_error(answer)
        label = plain_line(answer["label"])
        sealed = read_sealed(answer["sealed"], label, domain)
        code = _Code.read(answer["code"], "code")
        source = plain_line(answer["source"])
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        if isinstance(error, LiptestError) and not isinstance(error, InputError):
            raise
        if isinstance(error, _Reported):
            raise
        raise MechanismError(
            "the analysis gave an answer that cannot be read, or laws of another domain"
        ) from None
    files = {plain_line(name): plain_line(digest) for name, digest in code.files.items()}
    packages = {plain_line(name): plain_line(version) for name, version in code.packages.items()}
    made = Fingerprint(_hash(code.hash), files, packages, _hash(code.parameters))
    told = f"{source}; {SEALED_ELSEWHERE} ({confinement})"
    return SealedCode(sealed, label, told, made)


class _Reported(InputError):
    """An InputError that the other process reported."""


def _make_error(found: dict[str, Any]) -> LiptestError:
    """The error that the other process reports, by name; its words are the code's, perhaps."""
    text = plain_line(found["text"])
    kind = getattr(errors, str(found["error"]), MechanismError)
    is_ours = isinstance(kind, type) and issubclass(kind, LiptestError)
    if not is_ours or kind is MechanismError:
        return MechanismError(text)
    if issubclass(kind, InputError):
        return _Reported(text)
    if issubclass(kind, errors.BudgetError | errors.GateError):
        return kind(text)
    return MechanismError(text)


def _hash(text: str) -> str:
    if len(text) != 64 or set(text) - set("0123456789abcdef"):
        raise MechanismError("the analysis gave an answer that cannot be read")
    return text
