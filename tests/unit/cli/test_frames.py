"""Data frames on the command line: the table in one option, its verdicts, its certificates."""

from __future__ import annotations

from pathlib import Path

import pytest

from liptest.cli import main

PIPE = """
def count(frame, rng):
    return len(frame[frame.age > 60]) + rng.laplace()

def keys(frame, rng):
    return (frame.groupby("region").size() + rng.laplace(scale=2)).to_dict()
"""
TABLE = ["--domain", "table", "--fields", "age=0..120,region=north|south"]
SIZE = ["--dimension", "5000"]


def run(*arguments: str) -> int:
    return main(list(arguments))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pipe.py").write_text(PIPE)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    "relation", ["replace", pytest.param("add_remove", marks=pytest.mark.slow)]
)
def test_pipelines_are_tested_on_a_declared_table(
    folder: Path, relation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = ["--epsilon", "1", *TABLE, *SIZE, "--relation", relation]
    assert run("check", "pipe.py:count", *claim) == 0
    assert "YES by proof, for every number of records" in capsys.readouterr().out
    assert run("check", "pipe.py:keys", *claim, "--json", "no.json") == 1
    out = capsys.readouterr().out
    assert "row 0: age 120, region 'south'" in out
    assert run("verify", "no.json") == 3  # whether code gives these answers is not checked
    assert run("verify", "no.json", "pipe.py:keys") == 0
    (folder / "pipe.py").write_text(PIPE.replace("scale=2", "scale=3"))
    assert run("verify", "no.json", "pipe.py:keys") != 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*TABLE], "needs columns and the number of its rows"),
        (["--domain", "table", *SIZE], "needs columns and the number of its rows"),
        ([*TABLE, *SIZE, "--relation", "all"], "of a table say 'replace' or 'add_remove'"),
        (["--domain", "table", "--fields", "age", *SIZE], "as age=0..120"),
        (["--domain", "table", "--fields", "age=3", *SIZE], "must be a range"),
        (["--domain", "table", "--fields", "age=5..3", *SIZE], "high=3 is below low=5"),
        (["--fields", "age=0..3", *SIZE], "those of kind='table'"),
        (["--domain", "answers", "--relation", "replace", *SIZE], "domain.relation='replace'"),
    ],
)
def test_wrong_tables_are_named(
    folder: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check", "pipe.py:count", "--epsilon", "1", *arguments) == 2
    printed = capsys.readouterr()
    assert words in " ".join((printed.out + printed.err).split())


@pytest.mark.slow
def test_a_file_declares_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "liptest.toml").write_text(
        '[[check]]\nmechanism = "pipe.py:count"\nepsilon = 1.0\n\n[domain]\nkind = "table"\n'
        'dimension = 300\nfields = {age = "0..120:5", region = ["north", "south"]}\n'
    )
    assert run("check") == 0
    assert "300 rows with columns age, region" in " ".join(capsys.readouterr().out.split())


REAL_PIPE = """
def total(frame, rng):
    few = frame.groupby("user").head(2)
    return few["income"].clip(0, 100).sum() + rng.laplace(scale=201)

def not_clipped(frame, rng):
    return frame["income"].sum() + rng.laplace(scale=201)
"""


@pytest.mark.slow
def test_users_and_real_numbers_are_said_as_columns(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pipe.py").write_text(REAL_PIPE)
    fields = "user=key,income=real:-1e3..2500.5,age=real,paid=0..1"
    claim = ["--epsilon", "1", "--domain", "table", "--fields", fields, "--dimension", "400"]
    ideal = ["--floats", "ideal"]
    assert run("check", "pipe.py:total", *claim, *ideal) == 0
    assert run("check", "pipe.py:not_clipped", *claim, *ideal, "--json", "no.json") == 1
    assert "user 0: 400 rows of income" in capsys.readouterr().out
    assert run("verify", "no.json", "pipe.py:not_clipped") == 0
    few = [*claim, *ideal, "--at-most", "2", "--json", "few.json"]
    assert run("check", "pipe.py:not_clipped", *few) == 1
    assert "user 0: 2 rows of income" in capsys.readouterr().out
    assert run("verify", "few.json", "pipe.py:not_clipped") == 0


POLARS_PIPE = """
import polars as pl

def count(frame, rng):
    return frame.filter(pl.col("age") > 60).height + rng.laplace()

def keys(frame, rng):
    counts = frame.group_by("region", maintain_order=True).len()
    return {one: many + rng.laplace(scale=2) for one, many in counts.iter_rows()}
"""


@pytest.mark.slow
def test_frames_of_polars_are_said_by_an_option(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pipe.py").write_text(POLARS_PIPE)
    claim = ["--epsilon", "1", *TABLE, *SIZE]
    polars = ["--frame", "polars"]
    assert run("check", "pipe.py:count", *claim, *polars) == 0
    assert "YES by proof, for every number of records" in capsys.readouterr().out
    assert run("check", "pipe.py:keys", *claim, *polars, "--json", "no.json") == 1
    assert run("verify", "no.json", "pipe.py:keys", *polars) == 0
    assert run("check", "pipe.py:count", "--epsilon", "1", "--records", "9", *polars) == 2
    assert "kind='table'" in capsys.readouterr().err


@pytest.mark.slow
def test_a_file_says_the_frames(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pipe.py").write_text(POLARS_PIPE)
    (folder / "liptest.toml").write_text(
        '[[check]]\nmechanism = "pipe.py:count"\nepsilon = 1.0\n\n[domain]\nkind = "table"\n'
        'dimension = 300\nframe = "polars"\n'
        'fields = {age = "0..120:5", region = ["north", "south"]}\n'
    )
    assert run("check") == 0
    assert "YES by proof" in " ".join(capsys.readouterr().out.split())
