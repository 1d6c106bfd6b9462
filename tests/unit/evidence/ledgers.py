"""What the tests of the ledger share: mechanisms, certificates, tampering with raw SQLite."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import liptest as lt
from liptest.evidence.certificate import Certificate
from liptest.evidence.ledger_entries import Attempt
from liptest.evidence.ledger_file import SCHEMA
from liptest.privacy.claims import Claim

CUBE = lt.Hypercube(3)
UNIFORM = lt.ProductDistribution.uniform(CUBE)
SECRET = [1, 0, 1]


def coin(datasets: Any) -> Any:
    """A fair coin, whatever the data."""
    return np.log(np.full((len(datasets), 2), 0.5))


def leak(datasets: Any) -> Any:
    """The first record, with a probability of 0.9."""
    return np.log(np.where(datasets[:, :1] == np.array([0, 1]), 0.9, 0.1))


FAIR = lt.ClosedForm([0, 1], coin)
LEAK = lt.ClosedForm([0, 1], leak)


def gate(ledger: Any, mechanism: Any = FAIR, **options: Any) -> lt.PrivacyGate:
    """A gate by sampling, whose failure probability is not 0."""
    known = {"epsilon": 1.0, "method": "neighbourhoods", "vendor": "acme"}
    return lt.PrivacyGate(mechanism, UNIFORM, ledger=ledger, **{**known, **options})


def begin(ledger: lt.Ledger, vendor: str = "acme", **options: Any) -> Attempt:
    """An attempt without a test."""
    known = {
        "mechanism": "count",
        "code": "c0de",
        "distribution": "d157",
        "claim": Claim(1.0),
        "failure_probability": 1e-6,
        "private_table": "clicks",
    }
    return ledger.record_attempt(vendor, **{**known, **options})


@cache
def certificate(releases: int = 3, decision: str = "YES", delta: float = 0.0) -> Certificate:
    """A real certificate, by sampling."""
    mechanism = FAIR if decision == "YES" else LEAK
    claim: dict[str, Any] = {"epsilon": 1.0, "delta": delta, "method": "neighbourhoods"}
    found = lt.PrivacyGate(mechanism, UNIFORM, releases=releases, **claim).certificate
    assert found.decision == decision
    return found


def filled(path: Path) -> lt.Ledger:
    """A ledger of 8 rows: two attempts of acme and one of bolt, 2 releases."""
    ledger = lt.Ledger(path)
    first = begin(ledger)
    ledger.record_verdict(first.number, certificate())
    ledger.record_release(first.number)
    ledger.record_release(first.number)
    second = begin(ledger)
    ledger.record_verdict(second.number, certificate(decision="NO"))
    begin(ledger, "bolt", private_table=None)
    begin(ledger, "bolt", failure_probability=0.25)
    assert ledger.problems() == []
    return ledger


def raw(path: Path, *statements: str | tuple[str, tuple[Any, ...]]) -> list[Any]:
    """Run statements as anybody with SQLite could; the rows of the last one."""
    rows: list[Any] = []
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            given = (statement,) if isinstance(statement, str) else statement
            rows = connection.execute(*given).fetchall()
    return rows


def tampered(path: Path, *statements: str | tuple[str, tuple[Any, ...]]) -> None:
    """Run statements past the triggers, and put the triggers back."""
    triggers = [text for text in SCHEMA if text.startswith("CREATE TRIGGER")]
    names = [text.split()[2] for text in triggers]
    raw(path, *(f"DROP TRIGGER {name}" for name in names), *statements, *triggers)


def in_child(action: Callable[[], object]) -> tuple[bytes, int]:
    """Run in a forked process: what it wrote as its answer, and its wait status."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.close(reading)
            answer = action()
            os.write(writing, b"" if answer is None else str(answer).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        told = pipe.read()
    return told, os.waitpid(child, 0)[1]


def die() -> None:
    """As by kill -9."""
    os.kill(os.getpid(), signal.SIGKILL)


@contextlib.contextmanager
def disk_full() -> Iterator[None]:
    """No file may grow."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
