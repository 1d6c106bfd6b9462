"""Mechanisms that query a database: verdicts on small tables, and what no query may do."""

from __future__ import annotations

import gc
import pickle
import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest
import sqlalchemy as sa

import liptest as lt
from liptest.enumerate.sql import databases
from liptest.enumerate.sql.databases import authorize_reading
from liptest.enumerate.sql.handing import find_database, find_handing
from liptest.enumerate.sql.sql_statements import find_fault
from liptest.errors import InputError, UnsupportedRandomnessError
from tests.unit.data.postgres import running_server

pytest.importorskip("duckdb")
REGIONS = ["north", "south"]
COLUMNS = {"region": lt.Category(REGIONS), "age": lt.Integer(0, 2)}
SMALL = lt.Table(COLUMNS, rows=2)
BY_REGION = "SELECT region, COUNT(*) FROM data GROUP BY region"


def counts(con: sqlite3.Connection, rng: Any) -> Any:
    found = dict(con.execute(BY_REGION).fetchall())
    return {one: found.get(one, 0) + rng.laplace(scale=2) for one in REGIONS}


def keys_of_the_data(con: Any, rng: Any) -> Any:
    return {one: n + rng.laplace(scale=2) for one, n in con.execute(BY_REGION).fetchall()}


def few_old(con: Any, rng: Any) -> Any:
    (old,) = con.execute("SELECT COUNT(*) FROM data WHERE age >= 2").fetchone()
    return bool(rng.random() < (1 + old) / 4)


@pytest.mark.slow
def test_verdicts_on_small_tables() -> None:
    assert (
        lt.check_privacy(lt.mechanism(counts), SMALL, epsilon=1, floats="ideal").decision == "YES"
    )
    verdict = lt.check_privacy(lt.mechanism(frame="sqlite")(few_old), SMALL, epsilon=0.6)
    assert verdict.decision == "NO"
    assert verdict.largest_loss == pytest.approx(0.6931471805599453)
    assert "given that queries answer as sqlite does" in str(verdict)


WEIGHTED = (
    "SELECT SUM(w * age) FROM data JOIN (VALUES ('north', 2), ('south', 1)) AS t(region, w) "
    "USING (region)"
)


def weighted(con: Any, rng: Any) -> Any:
    return (con.execute(WEIGHTED).fetchone()[0] or 0) + rng.laplace(scale=4)


def too_little_noise(con: Any, rng: Any) -> Any:
    return (con.execute(WEIGHTED).fetchone()[0] or 0) + rng.laplace(scale=2)


@pytest.mark.slow
def test_a_join_with_constants_on_small_tables() -> None:
    for function, decision, loss in ((weighted, "YES", 1.0), (too_little_noise, "NO", 2.0)):
        mechanism = lt.mechanism(frame="duckdb")(function)
        verdict = lt.check_privacy(mechanism, SMALL, epsilon=1, floats="ideal")
        assert verdict.decision == decision
        assert verdict.largest_loss == pytest.approx(loss)


@pytest.mark.slow
@pytest.mark.parametrize("frame", ["sqlite", "duckdb"])
def test_all_engines_agree(frame: str) -> None:
    _check_all(frame)


def _check_all(frame: str) -> None:
    made = lt.mechanism(frame=frame)
    for rows in ("replace", "add_remove"):
        table = lt.Table(COLUMNS, rows=2, relation=rows)
        right = lt.check_privacy(made(counts), table, epsilon=1, floats="ideal")
        assert right.decision == "YES", str(right)
        wrong = lt.check_privacy(made(keys_of_the_data), table, epsilon=1, floats="ideal")
        assert wrong.decision == "NO", str(wrong)
        assert wrong.witness is not None
        told = lt.check_privacy(made(few_old), table, epsilon=0.6)
        assert told.largest_loss == pytest.approx(0.6931471805599453)


@pytest.mark.slow
def test_a_real_server_answers_as_the_others_do() -> None:
    pytest.importorskip("psycopg")
    with running_server() as engine:
        host = engine.url.query["host"]
        url = f"postgresql://{engine.url.username}@/{engine.url.database}?host={host}"
        _check_all(url)
        random = lt.mechanism(frame=url)(_asking("SELECT count(*) FROM data WHERE random() > 0"))
        with pytest.raises(UnsupportedRandomnessError, match="random"):
            lt.output_law(random.on_domain(SMALL), [0, 1])


def _asking(query: str) -> Any:
    def asked(con: Any, rng: Any) -> Any:
        return con.execute(query).fetchone()[0]

    return asked


JOIN = "SELECT COUNT(*) FROM data AS a JOIN data AS b ON a.region = b.region"
KEYS = (
    "WITH every(name) AS (VALUES ('north'), ('south')) SELECT name, COUNT(region) FROM every "
    "LEFT JOIN data ON region = name GROUP BY name ORDER BY name"
)


@pytest.mark.slow
def test_joins_are_decided_on_small_tables_and_refuted_on_large_ones() -> None:
    def joined(scale: float) -> Any:
        def counted(con: Any, rng: Any) -> Any:
            return con.execute(JOIN).fetchone()[0] + rng.laplace(scale=scale)

        return lt.mechanism(frame="sqlite")(counted)

    # Of two rows: 4 pairs, or 2; of one row 1.
    for relation, change in (("replace", 2), ("add_remove", 3)):
        table = lt.Table(COLUMNS, rows=2, relation=relation)
        for scale, decision in ((change, "YES"), (0.99 * change, "NO")):
            verdict = lt.check_privacy(joined(scale), table, epsilon=1, floats="ideal")
            assert verdict.decision == decision, str(verdict)
    large = lt.Table(COLUMNS, rows=100_000, relation="add_remove")
    assert lt.check_privacy(joined(9), large, epsilon=1, floats="ideal").decision == "NO"


@pytest.mark.slow
def test_keys_may_be_joined() -> None:
    @lt.mechanism(frame="sqlite")
    def counted(con: Any, rng: Any) -> Any:
        return [count + rng.laplace(scale=2) for _, count in con.execute(KEYS)]

    table = lt.Table(COLUMNS, rows=2)
    verdict = lt.check_privacy(counted, table, epsilon=1, floats="ideal")
    assert verdict.decision == "YES", str(verdict)
    assert find_fault(KEYS.replace("'north'", "random()"), ("data", *COLUMNS)) is not None
    assert find_fault("SELECT region, random(age) AS (SELECT 1)", ("data", *COLUMNS)) is not None


@pytest.mark.slow
def test_queries_that_take_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "_MOST_STEPS", 3_000_000)
    table = lt.Table(COLUMNS, rows=3_000)
    short = lt.mechanism(frame="sqlite")(_asking("SELECT COUNT(*) FROM data"))
    assert lt.output_law(short.on_domain(table), [0] * 3_000)
    long = lt.mechanism(frame="sqlite")(_asking(JOIN))
    with pytest.raises(UnsupportedRandomnessError, match="more than 3,000,000 steps"):
        lt.output_law(long.on_domain(table), [0] * 3_000)


@pytest.mark.slow
def test_keys_of_large_tables_are_refuted() -> None:
    table = lt.Table(COLUMNS, rows=5_000)
    made = lt.mechanism(frame="sqlite")
    wrong = lt.check_privacy(made(keys_of_the_data), table, epsilon=1, floats="ideal")
    assert wrong.decision == "NO", str(wrong)
    right = lt.check_privacy(made(counts), table, epsilon=1, floats="ideal")
    assert right.decision == "YES", str(right)


@pytest.mark.parametrize("frame", ["sqlite", "duckdb"])
def test_connections_are_used_as_their_libraries_have_it(frame: str) -> None:
    def used(con: Any) -> Any:
        cursor = con.cursor()
        cursor.execute("SELECT age, region FROM data WHERE age < ? ORDER BY age", (2,))
        names = tuple(one[0] for one in cursor.description)
        first, *others = cursor.fetchall()
        con.execute("SELECT max(age) AS top FROM data AS d")
        total = sum(row[0] for row in con.execute("select age from data;"))
        con.commit()
        con.close()
        return names, tuple(first), len(others), total

    asked = lt.mechanism(frame=frame)(used).on_domain(SMALL)
    for _ in range(2):
        assert lt.output_law(asked, [1, 3]).outputs == ((("age", "region"), (0, "south"), 1, 1),)


GROUPS = sa.text("SELECT region, COUNT(*) AS n FROM data GROUP BY region")
OLD = sa.text("SELECT count(*) FROM data WHERE age >= :low")


def by_text(con: sa.Connection, rng: Any) -> Any:
    found = {row.region: row.n for row in con.execute(GROUPS)}
    (old,) = con.execute(OLD, {"low": 2}).fetchone() or ()
    assert old == con.scalar(OLD, {"low": 2}) == con.execute(OLD, {"low": 2}).scalar_one()
    return bool(rng.random() < (1 + found.get("north", 0) + old) / 8)


def in_a_function(con: sa.Connection, rng: Any) -> Any:
    return con.scalars(sa.text("SELECT age FROM data ORDER BY age")).all()


@pytest.mark.slow
def test_texts_of_sqlalchemy_are_asked() -> None:
    table = lt.Table(COLUMNS, rows=1)
    # One old row of the north has a true with 3/8, one young row of the south with 1/8.
    found = lt.exact_loss(lt.mechanism(by_text), [([2], [3])], domain=table)
    assert found.value == pytest.approx(1.0986122886681098)
    asked = lt.mechanism(in_a_function).on_domain(SMALL)
    assert lt.output_law(asked, [2, 0]).outputs == ((0, 2),)


def after_close(con: Any) -> Any:
    con.close()
    con.execute("SELECT age FROM data")


def with_rows(con: Any) -> Any:
    con.row_factory = sqlite3.Row


REFUSED = {
    "UPDATE data SET age = 0": "begins with 'update'",
    "SELECT 1; DELETE FROM data": "more than one statement",
    "PRAGMA table_info(data)": "begins with 'pragma'",
    "SELECT age FROM data ORDER BY RANDOM() LIMIT 1": "the function 'random'",
    'SELECT "random"()': "the function 'random'",
    "SELECT CURRENT_TIMESTAMP": "'current_timestamp', which is not of the data",
    "SELECT date('now')": "the function 'date'",
    "SELECT * FROM data TABLESAMPLE (50)": "'tablesample', which is not",
    "SELECT * FROM other": "'other', which is not a column",
    "SELECT 1 AS sqlite_master FROM sqlite_master": "not of the data",
    "SELECT * FROM pg_stat_activity": "not of the data",
    "SELECT count(*) INTO made FROM data": "'into', which is not",
    "SELECT nextval('made')": "the function 'nextval'",
    "SELECT $$a$$": "the sign '\\$'",
    "SELECT e'a' FROM data": "a string that begins with 'e'",
    "": "nothing",
    "SELECT /* random() */ count(*) -- now()\nFROM data; DROP TABLE data": "more than one",
    "SELECT rowid FROM data": "'rowid', which is not a column",
    "SELECT load_extension('a')": "the function 'load_extension'",
    "WITH RECURSIVE a AS (SELECT randomblob(3)) SELECT * FROM a": "the function 'randomblob'",
    "SELECT * FROM read_csv('a.csv')": "the function 'read_csv'",
    "SELECT a FROM (SELECT 1) AS t(a, 2)": "'a', which is not a column",
    "SELECT random(a) FROM (SELECT 1) AS random(a)": "the function 'random'",
    "SELECT x FROM (SELECT 1) AS t(a)": "'x', which is not a column",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_statements_that_do_more_than_read_are_refused(statement: str) -> None:
    found = find_fault(statement, ("data", *COLUMNS))
    assert found is not None
    assert re.search(REFUSED[statement], found), found


@pytest.mark.parametrize(
    "statement",
    [
        BY_REGION,
        "select d.region, sum(d.age * 2) as total from data d where d.age between 1 and 2 "
        "group by d.region having count(*) > 1 order by total desc limit 3",
        "WITH few AS (SELECT region r, age FROM data WHERE region IN ('north', 'it''s')) "
        "SELECT r, row_number() OVER (PARTITION BY r ORDER BY age) AS place FROM few",
        "SELECT CASE WHEN age > :low THEN 1 ELSE 0 END FROM data -- random()",
        'SELECT "age", age::double precision, CAST(age AS REAL) FROM data JOIN data b USING (age)',
        "SELECT SUM(w * age) FROM data JOIN (VALUES ('north', 2)) AS t(region, w) USING (region)",
        'SELECT r FROM (VALUES (1), (2)) t("r")',
        "SELECT count(*) FILTER (WHERE age >= ?2) FROM (SELECT age FROM data) x /* now() */;",
    ],
)
def test_statements_that_read_are_known(statement: str) -> None:
    assert find_fault(statement, ("data", *COLUMNS)) is None


def resets(con: Any) -> Any:
    con.set_authorizer(None)


def makes_functions(con: Any) -> Any:
    con.create_function("count", 1, id)


def runs_a_script(con: Any) -> Any:
    con.cursor().executescript("DELETE FROM data")


def attaches(con: Any) -> Any:
    con.install_extension("httpfs")


@pytest.mark.parametrize(
    ("frame", "function", "words"),
    [
        ("sqlite", after_close, "a connection that is closed"),
        ("sqlite", with_rows, "a row_factory"),
        ("sqlite", resets, "set_authorizer"),
        ("sqlite", makes_functions, "create_function"),
        ("sqlite", runs_a_script, "executescript"),
        ("duckdb", attaches, "install_extension"),
    ],
)
def test_connections_do_nothing_else(frame: str, function: Any, words: str) -> None:
    made = lt.mechanism(frame=frame)(function).on_domain(SMALL)
    with pytest.raises(UnsupportedRandomnessError, match=rf"{words} \(test_databases\.py:\d+: con"):
        lt.output_law(made, [0, 1])


def test_the_authorizer_stops_what_words_do_not() -> None:
    """The words alone are not what keeps a database as it is."""
    with closing(sqlite3.connect(":memory:")) as made:
        made.execute("CREATE TABLE data (age INTEGER)")
        made.set_authorizer(authorize_reading)
        for statement in (
            "DELETE FROM data",
            "SELECT random()",
            "PRAGMA user_version",
            "SELECT date()",
        ):
            with pytest.raises(sqlite3.DatabaseError):
                made.execute(statement)
        assert made.execute("SELECT count(*) FROM data").fetchall() == [(0,)]


@pytest.mark.slow
def test_a_database_that_is_not_used_any_more_is_closed() -> None:
    named = find_database("sqlite")
    assert named is not None
    store: Any = databases._SqliteStore(named, SMALL)
    made = store._made
    assert made.execute("SELECT 1").fetchall() == [(1,)]
    del store
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        made.execute("SELECT 1")


def test_what_a_function_gets_is_said_or_annotated() -> None:
    def annotated(con: sqlite3.Connection, rng: Any) -> Any: ...

    def of_frames(frame: Any, rng: Any) -> Any: ...

    assert [find_handing(one) for one in (annotated, of_frames)] == ["sqlite", "pandas"]
    assert find_handing(annotated, "polars") == "polars"
    named = find_database(find_handing(of_frames, "duckdb:people"))
    assert named is not None
    assert (named.engine, named.table) == ("duckdb", "people")
    assert find_database("pandas") is None
    with pytest.raises(InputError, match="must be 'pandas', 'polars', 'sqlite'"):
        lt.mechanism(frame="oracle")(of_frames)
    with pytest.raises(InputError, match="must name the table"):
        lt.mechanism(frame="sqlite:two words")(of_frames).on_domain(SMALL)


def test_another_name_of_the_table_and_other_processes() -> None:
    made = lt.mechanism(frame="sqlite:people")(counts_people).on_domain(SMALL)
    again = pickle.loads(pickle.dumps(made))
    assert again.frame == "sqlite:people"
    assert lt.output_law(again, [1, 5]).outputs == (2,)


def counts_people(con: Any) -> Any:
    return con.execute("SELECT count(*) FROM people").fetchone()[0]
