"""Data described as people have them: --records, --values, --table with --columns."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

import liptest as lt
from liptest.cli import main
from liptest.cli.app import COMMANDS
from liptest.cli.config import read_config
from liptest.cli.data_options import DataOptions, DistributionOptions, DomainOptions
from liptest.cli.usage_examples import example_for
from liptest.data.distributions import DomainAlone
from liptest.errors import ConfigError

MINE = """
import numpy as np

def count(data, rng):
    return float(data.sum() + rng.laplace(0, 1.0))

def histogram(data, rng):
    return np.bincount(data, minlength=8) + rng.laplace(0, 2.0, size=8)

def regions(people, rng):
    counts = people.groupby("region").size().reindex(["north", "south"], fill_value=0)
    return counts + rng.laplace(0, 2.0, size=2)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "people.csv").write_text("age,region,code\n3,south,1\n120,north,2\n7,south,1\n")
    (tmp_path / "holes.csv").write_text("age,region\n3,south\n4,\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def built(**domain):
    columns, table = domain.pop("columns", None), domain.pop("table", None)
    law = DistributionOptions(columns=columns, table=None if table is None else Path(table))
    return DataOptions(DomainOptions(**domain), law).build(alone=True)


@pytest.mark.parametrize(
    ("said", "domain"),
    [
        ({"dimension": 3}, lt.Hypercube(3)),
        ({"dimension": 3, "values": 2}, lt.Hypercube(3)),
        ({"dimension": 3, "values": 8}, lt.RecordGrid([8] * 3)),
        ({"dimension": 2, "values": 3, "kind": "hypergrid"}, lt.Hypergrid([3, 3])),
        ({"dimension": 2, "values": 2, "kind": "recordgrid"}, lt.RecordGrid([2, 2])),
    ],
)
def test_records_and_values_are_a_domain(said, domain):
    law = built(**said)
    assert isinstance(law, DomainAlone)
    assert law.domain == domain


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"values": 8}, "needs the number of records"),
        ({"values": 8, "dimension": 3, "sizes": [8, 8, 8]}, "no sizes"),
        ({"values": 0, "dimension": 3}, "values=0"),
        ({"values": 3, "dimension": 3, "kind": "hypercube"}, "a bit has 2 values"),
        ({}, "domain.records is missing"),
    ],
)
def test_what_contradicts_itself_is_refused(said, words):
    with pytest.raises(lt.errors.InputError, match=words):
        built(**said)


def test_columns_of_a_frame_are_read_from_the_table_where_they_are_not_said(folder):
    law = built(columns=["age:0..120", "region"], table="people.csv")
    expected = {"age": lt.Integer(0, 120), "region": lt.Category(["north", "south"])}
    assert law.domain == lt.Table(expected, rows=3)
    alone = built(columns=["age:0..120", "region:north|south"], dimension=3)
    assert alone.domain == law.domain
    longer = built(columns=["age:0..120", "region"], table="people.csv", dimension=9)
    assert longer.domain == lt.Table(expected, rows=9)
    only_names = built(columns=["region"], table="people.csv", kind="table")
    assert only_names.domain == lt.Table({"region": expected["region"]}, rows=3)


@pytest.mark.parametrize(
    ("columns", "table", "words"),
    [
        (["age:0..119", "region"], "people.csv", "1 row with something else"),
        (["age:0..120", "region:south|west"], "people.csv", "1 row with something else"),
        (["age:0..120", "code"], "people.csv", "say a range, code:0..120"),
        (["age:0..120", "region"], "holes.csv", "empty cells"),
        (["age:0..120", "region"], None, "name a public table"),
        (["age:0..120", "age:0..7"], "people.csv", "said once"),
        (["age:0..120"], None, "domain.records is missing"),
    ],
)
def test_columns_that_do_not_fit_the_table_are_refused(folder, columns, table, words):
    with pytest.raises(ConfigError, match=words):
        built(columns=columns, table=table)


@pytest.mark.slow
def test_names_alone_still_say_that_rows_are_datasets(folder):
    """The meaning that --columns had before."""
    law = DataOptions(
        DomainOptions(), DistributionOptions(columns=["region", "code"], table=Path("people.csv"))
    ).build()
    assert law.domain.dimension == 2


@pytest.mark.slow
def test_one_name_alone_is_not_a_dataset_of_one_record(folder, capsys):
    alone = "check mine.py:count --epsilon 1 --table people.csv --columns age"
    assert main(shlex.split(alone)) == 2
    error = capsys.readouterr().err
    assert "age:0..120" in error
    assert "--column age --records 1000" in error
    for advised in ("--columns age:0..120", "--column age --records 1000 --values 121"):
        main(shlex.split(alone.replace("--columns age", advised)))
        assert "distribution.columns" not in capsys.readouterr().err


@pytest.mark.parametrize("records", ["records = 5", "dimension = 5"])
def test_a_file_says_records_or_dimension(folder, records):
    check = '[[check]]\nmechanism = "mine.py:count"\nepsilon = 1\n'
    (folder / "liptest.toml").write_text(f"[domain]\n{records}\nvalues = 8\n\n{check}")
    domain = read_config(folder / "liptest.toml").domain
    assert domain.build() == lt.RecordGrid([8] * 5)


def test_a_file_that_says_both_is_refused(folder):
    check = '[[check]]\nmechanism = "mine.py:count"\nepsilon = 1\n'
    (folder / "liptest.toml").write_text(f"{check}[check.domain]\nrecords = 5\ndimension = 5\n")
    with pytest.raises(ConfigError, match="the same as dimension"):
        read_config(folder / "liptest.toml")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("mine.py:count --records 5000", "all datasets of 5,000 bits"),
        ("mine.py:count --dimension 5000", "all datasets of 5,000 bits"),
        ("mine.py:histogram --records 10000 --values 8", "10,000 records in 0..7"),
        ("mine.py:regions --table people.csv --columns age:0..120,region", "3 rows with columns"),
    ],
)
def test_a_proof_asks_for_no_distribution(folder, capsys, words, says):
    assert main(["check", *words.split(), "--epsilon", "1"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "YES by proof" in out
    assert says in out


def test_an_old_use_of_records_is_told_its_new_name(folder, capsys):
    words = ["check", "mine.py:count", "--epsilon", "1", "--table", "people.csv"]
    assert main([*words, "--records", "people.csv"]) == 2
    assert "--record-table" in capsys.readouterr().err


TYPED = [
    "check mine.py:count --epsilon 1",
    "check mine.py:count --records 5",
    "check mine.py:regions --epsilon 1 --table people.csv --columns age",
    "check mine.py:histogram --epsilon 1 --values 8",
    "check mine.py:count --rho 1 --domain answers",
    "check --config no.toml",
    "check mine.py:count --delta x",
    "release mine.py:count",
    "init",
    "law mine.py:count",
    "nonsense",
    *COMMANDS,
    *(f"ledger {part}" for part in ("show", "verify", "nonsense")),
]


@pytest.mark.parametrize("typed", TYPED)
def test_the_example_after_bad_usage_names_real_options(typed):
    from liptest.cli.app import app

    example = example_for(shlex.split(typed), COMMANDS)
    words = shlex.split(example)[1:]
    assert words[0] in app
    command = app[words[0]]
    for word in words[1:]:
        if word in command:
            command = command[word]
    known = {name for one in command.assemble_argument_collection() for name in one.names}
    assert {word for word in words if word.startswith("--")} <= known | {"--help"}


@pytest.mark.slow
def test_the_example_keeps_what_was_right(folder, capsys):
    assert main(["check", "mine.py:count", "--rho", "1"]) == 2
    example = capsys.readouterr().err.splitlines()[-1]
    assert example == "Example: liptest check mine.py:count --rho 0.5 --records 20"
    assert main(["check", "mine.py:histogram", "--epsilon", "1", "--values", "8"]) == 2
    example = capsys.readouterr().err.splitlines()[-1].removeprefix("Example: ")
    assert main(shlex.split(example)[1:]) == 0


def test_a_range_with_a_step_is_a_column(folder):
    domain = built(columns=["income:0..100:50"], dimension=2).domain
    assert np.array_equal(domain.columns["income"].values, [0, 50, 100])
