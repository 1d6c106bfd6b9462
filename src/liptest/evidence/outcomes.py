"""What became of each check that was asked for; every format of a report is written from this."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from liptest.data.distributions import Distribution
from liptest.errors import LiptestError
from liptest.evidence.certificate import Certificate
from liptest.mechanisms.base import Mechanism


@dataclass(frozen=True)
class Outcome:
    """One check: a certificate, or the error that prevented it.

    ``asked`` is the mechanism as it was asked for (``vendor.py:count``), ``code`` the exit code
    of this check alone, ``file`` and ``line`` where the mechanism is defined, if that is known.
    ``mechanism`` and ``distribution`` are None when loading them failed.
    """

    asked: str
    code: int
    certificate: Certificate | None = None
    error: LiptestError | None = None
    mechanism: Mechanism | None = None
    distribution: Distribution | None = None
    file: Path | None = None
    line: int | None = None
    seconds: float = 0.0
