"""Where a service is: its folder, and the URL of its database, which no list of processes shows."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from liptest.errors import InputError, quote
from liptest.evidence.ledger_postgres import PostgresChain
from liptest.evidence.postgres import is_url
from liptest.service.records import Places
from liptest.service.store import Store

#: The environment variable that holds the URL: arguments of a process can be seen by others.
VARIABLE = "LIPTEST_DATABASE"


def places_here(folder: Path) -> Places:
    """The places of a process: its folder, and the database that its environment names."""
    return Places(folder, os.environ.get(VARIABLE) or None)


def check_url(database: str | None) -> str | None:
    """The URL of a PostgreSQL database, or none; InputError for anything else."""
    if not database:
        return None
    if not is_url(database):
        kind = database.partition(":")[0]
        raise InputError(
            f"database={kind[:40]}: give postgresql://account@host/name, or leave it out for a "
            f"file in the folder",
            name="database",
        )
    return database


def read_whole(_: Any, tokens: Sequence[Any]) -> int:
    """A whole number of a command line, as it is written: nothing is rounded."""
    text = str(tokens[0].value)
    if re.fullmatch(r"[+-]?[0-9]{1,20}", text) is None:
        raise ValueError(f"{quote(text)} is not a whole number")
    return int(text)


def unusable(folder: Path | None, error: Exception) -> InputError:
    """The error of a folder that cannot be used, or of a name that no system takes."""
    reason = error.strerror if isinstance(error, OSError) else type(error).__name__
    return InputError(f"folder={quote(str(folder or ''))}: not usable: {reason}", name="folder")


def prepare_all(store: Store, places: Places) -> list[str]:
    """Make folders and tables, in PostgreSQL those of the ledgers too.

    Returns the accounts of the database that were given their rights.
    """
    places.make()
    store.prepare()
    if places.url is None:
        return []
    for ledger in (places.ledger, places.tests):
        PostgresChain(str(ledger)).prepare()
    return store.grant()
