"""Services and databases as samplers: a dataset goes in, outputs come out."""

from __future__ import annotations

import http.client
import json
import os
import re
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol
from urllib.parse import urlsplit

import numpy as np

from liptest.blackbox.freshness import Freshness
from liptest.blackbox.programs import read_answer
from liptest.blackbox.samplers import Sampler
from liptest.data.coding import extra
from liptest.data.domains import IntArray
from liptest.errors import InputError, LiptestError, MechanismError, check_count, quote
from liptest.runs.jail import MOST_BYTES

#: The table that a query finds its dataset in: columns ``position``, from 0, and ``value``.
TABLE = "liptest_data"


@dataclass(frozen=True)
class HttpEndpoint:
    """A service as a function ``(dataset, n, rng) -> n outputs``; ``sampler()`` wraps it.

    It is sent ``{"dataset": [0, 1], "n": 100, "seed": 7}`` by POST and answers as a program does,
    ``{"outputs": [..]}``.

    Raises InputError for what is not an http or https address, or holds a password.
    """

    url: str
    batch: int = field(default=1000, compare=False)
    seconds: float = field(default=60.0, compare=False)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            is_http = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            is_http = False
        if not is_http:
            raise InputError(f"endpoint={quote(self.url)} is not an http or https address")
        if parts.username or parts.password:
            raise InputError("endpoint: an address with a password would stand in certificates")
        check_count("batch", self.batch)
        _check_seconds(self.seconds)

    @property
    def name(self) -> str:
        """The address, without what follows a question mark."""
        return self.url.partition("?")[0]

    def sampler(self) -> Sampler:
        """What ``lt.check_samples`` takes."""
        return Sampler(self, name=self.name)

    def __call__(self, dataset: IntArray, n: int, rng: np.random.Generator) -> list[Any]:
        values = [int(value) for value in dataset]
        outputs: list[Any] = []
        if self not in _probed:
            fresh = Freshness(self.name, self.batch)
            fresh.probe(values, lambda count, number: self._asked(values, count, number))
            _probed[self] = fresh
        while len(outputs) < n:
            seed, count = int(rng.integers(1 << 53)), min(self.batch, n - len(outputs))
            answer = self._asked(values, count, seed)
            _probed[self].compare(values, seed, answer)
            outputs += answer
        return outputs

    def _asked(self, dataset: list[int], count: int, seed: int) -> list[Any]:
        content = json.dumps({"dataset": dataset, "n": count, "seed": seed}).encode()
        deadline = time.monotonic() + self.seconds
        request = urllib.request.Request(
            self.url, data=content, headers={"Content-Type": "application/json"}, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=self.seconds) as answer:
                return read_answer(self._read(answer, deadline), count)
        except urllib.error.HTTPError as error:
            error.close()
            raise MechanismError(f"{self.name}: it answered {error.code}") from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise MechanismError(f"{self.name}: {quote(str(error), 200)}") from None

    def _read(self, answer: Any, deadline: float) -> bytes:
        """All of an answer; the time limit of a connection is one of each part."""
        whole = bytearray()
        while part := answer.read1(1 << 16):
            whole += part
            if len(whole) > MOST_BYTES:
                raise MechanismError(f"{self.name}: it said more than {MOST_BYTES >> 20} MiB")
            if time.monotonic() > deadline:
                raise MechanismError(f"{self.name}: its answer took longer than --seconds")
        return bytes(whole)


def _check_seconds(seconds: float) -> None:
    if not 0 < seconds < float("inf"):
        raise InputError(f"seconds={quote(seconds)} must be above 0", name="seconds")


# Texts, quoted names and comments of a query; its first word where it only reads.
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_READING = re.compile(r"[\s(]*(select|with|from|values|table)\b", re.IGNORECASE)


class _Session(Protocol):
    """A connection that holds a dataset in ``TABLE``."""

    def fill(self, rows: list[tuple[int, int]]) -> None: ...

    def rows(self, query: str) -> list[tuple[Any, ...]]: ...

    def interrupt(self) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class SqlQuery:
    """A query with noise in it as a function ``(dataset, n, rng) -> n outputs``.

    The dataset is put into the temporary table ``liptest_data`` (``position``, ``value``), and the
    query run once for each output; its one row is the output, a number or text where it has one
    column. Nothing is committed.

    Parameters
    ----------
    url
        ``duckdb://`` in memory, ``duckdb:///file.db``, or what SQLAlchemy connects to.
    query
        One SELECT.
    seconds
        Of one request, which runs the query many times.

    Raises InputError for what is not one SELECT.
    """

    # No part of a certificate: it may hold a password.
    url: str = field(compare=False)
    query: str
    seconds: float = field(default=60.0, compare=False)

    def __post_init__(self) -> None:
        plain = _QUOTED.sub(" ", self.query).strip().removesuffix(";")
        if not _READING.match(plain) or ";" in plain:
            raise InputError(
                f"select={quote(self.query)} is not one query; write SELECT .. FROM {TABLE}, which "
                f"changes nothing",
                name="select",
            )
        _check_seconds(self.seconds)

    def sampler(self) -> Sampler:
        """What ``lt.check_samples`` takes."""
        return Sampler(self, name=" ".join(self.query.split()))

    def __call__(self, dataset: IntArray, n: int, rng: np.random.Generator) -> list[Any]:
        rows = [(place, int(value)) for place, value in enumerate(dataset)]
        deadline = time.monotonic() + self.seconds
        try:
            session = self._session()
            session.fill(rows)
            watch = threading.Timer(self.seconds, session.interrupt)
            watch.start()
            try:
                return [self._one(session.rows(self.query)) for _ in range(n)]
            finally:
                watch.cancel()
        except LiptestError:
            raise
        except Exception as error:  # each database has its own
            self.close()  # of an interrupted transaction nothing can be had
            said = " ".join(str(error).split())
            if time.monotonic() >= deadline:
                raise MechanismError(
                    f"the query took longer than --seconds for {n} outputs, and was ended"
                ) from None
            raise MechanismError(f"the query failed: {quote(said, 200)}") from None

    def close(self) -> None:
        """Close this thread's connection; nothing of it stays in the database."""
        session = _sessions.pop((os.getpid(), threading.get_ident(), self.url), None)
        if session is not None:
            session.close()

    def _one(self, rows: list[tuple[Any, ...]]) -> Any:
        if len(rows) != 1:
            raise MechanismError(f"the query gave {len(rows)} rows; an output is one row")
        values = tuple(float(v) if isinstance(v, Decimal) else v for v in rows[0])
        return values[0] if len(values) == 1 else values

    def _session(self) -> _Session:
        key = (os.getpid(), threading.get_ident(), self.url)
        if key not in _sessions:
            made = _DuckDb if urlsplit(self.url).scheme == "duckdb" else _Database
            _sessions[key] = made(self.url)
        return _sessions[key]


_probed: dict[HttpEndpoint, Freshness] = {}
_sessions: dict[tuple[int, int, str], _Session] = {}
_CREATE = f"CREATE TEMPORARY TABLE {TABLE} (position INTEGER, value BIGINT)"
_DELETE = f"DELETE FROM {TABLE}"


class _DuckDb:
    def __init__(self, url: str) -> None:
        duckdb = extra("duckdb", "sampling a query")
        path = urlsplit(url).path.removeprefix("/")
        self._connection = duckdb.connect(path or ":memory:", read_only=bool(path))
        self._connection.execute(_CREATE)

    def fill(self, rows: list[tuple[int, int]]) -> None:
        self._connection.execute(_DELETE)
        self._connection.executemany(f"INSERT INTO {TABLE} VALUES (?, ?)", rows)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._connection.execute(query).fetchmany(2)
        return rows

    def interrupt(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()


class _Database:
    def __init__(self, url: str) -> None:
        self._sa = extra("sqlalchemy", "sampling a query")
        self._connection = self._sa.create_engine(url, poolclass=self._sa.NullPool).connect()
        self._connection.execute(self._sa.text(_CREATE))

    def fill(self, rows: list[tuple[int, int]]) -> None:
        self._connection.execute(self._sa.text(_DELETE))
        insert = self._sa.text(f"INSERT INTO {TABLE} VALUES (:p, :v)")
        self._connection.execute(insert, [{"p": place, "v": value} for place, value in rows])

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        # A colon is the start of a parameter in SQLAlchemy's text, not in the user's query.
        asked = self._sa.text(query.replace(":", r"\:"))
        rows = self._connection.execute(asked).fetchmany(2)
        return [tuple(row) for row in rows]

    def interrupt(self) -> None:
        driver = self._connection.connection.driver_connection
        kind = self._connection.dialect.driver
        if kind == "pysqlite":
            driver.interrupt()
        elif kind in ("psycopg", "psycopg2"):
            driver.cancel()

    def close(self) -> None:
        self._connection.close()
