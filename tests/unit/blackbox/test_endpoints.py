"""Services and databases as samplers."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

import liptest as lt
from liptest.blackbox.endpoints import HttpEndpoint, SqlQuery
from liptest.cli import main
from liptest.errors import InputError, MechanismError
from liptest.verdicts import Decision
from tests.unit.data.postgres import running_server

PAIR = [([0], [1])]
DATA = np.array([0, 1, 1])


class _Service(BaseHTTPRequestHandler):
    """Randomised response of the first record; other paths misbehave."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_fixed = self.path == "/fixed"
        rng, share = random.Random(3 if is_fixed else asked["seed"]), 0.4 if is_fixed else 0.1
        draws = [asked["dataset"][0] ^ (rng.random() < share) for _ in range(asked["n"])]
        content = {
            "/short": json.dumps({"outputs": draws[1:]}),
            "/text": "hello\nthere",
        }.get(self.path, json.dumps({"outputs": draws}))
        self.send_response(500 if self.path == "/fails" else 200)
        self.end_headers()
        while self.path == "/drips" and not self.server.is_over.wait(0.02):  # type: ignore[attr-defined]
            with suppress(OSError):
                self.wfile.write(b" ")
        self.wfile.write(content.encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Service)
    server.is_over = threading.Event()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.is_over.set()  # type: ignore[attr-defined]
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_service_is_sampled(service: str) -> None:
    sampler = HttpEndpoint(f"{service}/draw?token=3", batch=200).sampler()
    assert sampler.name == f"{service}/draw"
    verdict = lt.check_samples(sampler, PAIR, epsilon=1.0, samples=4_000, seed=1, sequential=True)
    assert verdict.decision == Decision.NO


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("short", "outputs"),
        ("text", "not JSON"),
        ("fails", "500"),
        ("fixed", "not independent"),
    ],
)
def test_services_that_misbehave(service: str, path: str, words: str) -> None:
    with pytest.raises(MechanismError, match=words) as caught:
        HttpEndpoint(f"{service}/{path}")(DATA, 100, np.random.default_rng(1))
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_service_that_answers_without_an_end_is_left(service: str) -> None:
    with pytest.raises(MechanismError, match="longer than --seconds"):
        HttpEndpoint(f"{service}/drips", seconds=0.3)(DATA, 100, np.random.default_rng(1))


def test_addresses_that_are_none() -> None:
    for url in ("", "file:///etc/passwd", "ftp://a/b", "http://", "http://u:p@host/", "http://[x"):
        with pytest.raises(InputError, match="endpoint"):
            HttpEndpoint(url)
    for seconds in (0, -1, float("nan"), float("inf")):
        with pytest.raises(InputError, match="seconds"):
            HttpEndpoint("http://host/", seconds=seconds)
    with pytest.raises(MechanismError):
        HttpEndpoint("http://127.0.0.1:1/", seconds=2)(DATA, 1, np.random.default_rng(1))


def draw(query: SqlQuery, n: int = 3) -> list[Any]:
    try:
        return query(DATA, n, np.random.default_rng(1))
    finally:
        query.close()


@pytest.mark.slow
@pytest.mark.parametrize("url", ["duckdb://", "sqlite://"])
def test_queries_see_the_dataset(url: str) -> None:
    assert draw(SqlQuery(url, "SELECT SUM(value) FROM liptest_data")) == [2, 2, 2]
    both = "SELECT COUNT(*), 'a:b' FROM liptest_data WHERE position > 0"
    assert draw(SqlQuery(url, both)) == [(2, "a:b")] * 3
    assert len(set(draw(SqlQuery(url, "SELECT random()"), 20))) == 20
    for wrong, words in (
        ("SELECT nothing", "query failed"),
        ("SELECT value FROM liptest_data", "one row"),
        ("SELECT value FROM liptest_data WHERE value > 7", "0 rows"),
    ):
        with pytest.raises(MechanismError, match=words):
            draw(SqlQuery(url, wrong))


ENDLESS = (
    "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT (i + 1) % 7 FROM t) SELECT max(i) FROM t"
)


@pytest.mark.slow
@pytest.mark.parametrize("url", ["duckdb://", "sqlite://"])
def test_a_query_without_an_end_is_ended(url: str) -> None:
    query = SqlQuery(url, ENDLESS, seconds=0.2)
    with pytest.raises(MechanismError, match="longer than --seconds for 3 outputs"):
        draw(query)
    again = SqlQuery(url, "SELECT 1", seconds=0.2)
    assert draw(again) == [1, 1, 1]


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        ";",
        "DROP TABLE liptest_data",
        "/* SELECT */ DELETE FROM liptest_data",
        "SELECT 1; SELECT 2",
        "SELECT '--'; COMMIT",
        "SELECT 1 -- ;\n; COMMIT",
    ],
)
def test_what_is_not_one_query_is_refused(query: str) -> None:
    with pytest.raises(InputError, match="is not one query"):
        SqlQuery("duckdb://", query)


@pytest.mark.slow
def test_queries_are_read_with_their_texts_and_comments() -> None:
    for query, found in (
        ("-- a; b\n SELECT ';' ;", ";"),
        ("(SELECT SUM(value) FROM liptest_data)", 2),
        ("WITH t AS (SELECT 5 AS a) SELECT a FROM t", 5),
        ("SELECT 'it''s; one'", "it's; one"),
    ):
        assert draw(SqlQuery("duckdb://", query)) == [found] * 3


@pytest.mark.slow
def test_a_database_in_a_file_is_not_changed(tmp_path: Path) -> None:
    import duckdb

    file = tmp_path / "a.db"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE shift AS SELECT 5 AS s")
    query = SqlQuery(f"duckdb:///{file}", "SELECT SUM(value) + MAX(s) FROM liptest_data, shift")
    assert draw(query) == [7, 7, 7]
    with duckdb.connect(str(file)) as connection:
        assert connection.execute("SHOW TABLES").fetchall() == [("shift",)]
    with pytest.raises(MechanismError, match="failed"):
        draw(SqlQuery(f"duckdb:///{tmp_path}/none.db", "SELECT 1"))
    with pytest.raises(MechanismError, match="failed") as caught:
        draw(SqlQuery("nothing://user:secret@host/x", "SELECT 1"))
    assert "secret" not in str(caught.value)


@pytest.mark.slow
def test_noise_in_floats_in_a_database_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    """A textbook's Laplace noise in SQL: an exponential with a random sign."""
    noise = "(CASE WHEN random() < 0.5 THEN 1 ELSE -1 END) * ln(1 - random())"
    query = f"SELECT SUM(value) + {noise} FROM liptest_data"
    words = ["samples", "--endpoint", "duckdb://", "--select", query, "--epsilon", "1"]
    more = ["--records", "1", "--uniform", "--sequential", "--samples", "6000", "--seed", "1"]
    assert main([*words, *more]) == 1
    assert "low bit" in capsys.readouterr().out
    SqlQuery("duckdb://", query).close()


@pytest.mark.slow
def test_noise_in_floats_in_postgresql_is_found() -> None:
    noise = "(CASE WHEN random() < 0.5 THEN 1 ELSE -1 END) * ln(1 - random())"
    with running_server() as engine:
        url = engine.url.render_as_string(hide_password=False)
        assert draw(SqlQuery(url, "SELECT SUM(value), '%' FROM liptest_data")) == [(2, "%")] * 3
        for noisy, expected in (
            (noise, Decision.NO),
            (f"ROUND(({noise})::numeric * 4) / 4", Decision.INCONCLUSIVE),
        ):
            query = SqlQuery(url, f"SELECT SUM(value) + {noisy} FROM liptest_data")
            verdict = lt.check_samples(
                query.sampler(), PAIR, epsilon=1.0, samples=4_000, seed=1, sequential=True
            )
            query.close()
            assert verdict.decision == expected
        with engine.connect() as connection:
            told = connection.execute(sa.text("SELECT to_regclass('liptest_data')")).scalar()
        assert told is None
