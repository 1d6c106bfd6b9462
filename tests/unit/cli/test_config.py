"""liptest.toml: keys, defaults, and errors that name the key and the fix."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

import liptest as lt
from liptest.cli import main
from liptest.cli.app import app
from liptest.cli.config import read_config, validate
from liptest.cli.data_options import DATA, DataOptions, DistributionOptions, DomainOptions
from tests.unit.cli import messages

MINIMAL = '[[check]]\nmechanism = "m.py:f"\nepsilon = 1.0\n'


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "liptest.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "check is missing"),
        ("check = []\n", "check"),
        ("x = 1\n" + MINIMAL, "x: unknown key"),
        (MINIMAL + "epsylon = 2\n", "check.0.epsylon: unknown key; did you mean 'epsilon'?"),
        ('[[check]]\nmechanism = "m.py:f"\n', "check.0.epsilon is missing"),
        (MINIMAL + 'budget = "many"\n', "check.0.budget"),
        (MINIMAL + '[domain]\nkind = "sphere"\n', "domain.kind"),
        (MINIMAL + "[distribution]\nmarginals = 3\n", "distribution.marginals"),
        ("[[check\n", "it cannot be read as TOML"),
    ],
)
def test_schema_errors_name_the_key(tmp_path, text, words):
    with pytest.raises(lt.errors.ConfigError) as caught:
        read_config(written(tmp_path, text))
    assert words in str(caught.value)


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(lt.errors.InputError, match="no such file"):
        read_config(tmp_path / "none.toml")


def test_domains():
    assert DomainOptions(dimension=3).build() == lt.Hypercube(3)
    assert DomainOptions(kind="hypergrid", sizes=[3, 2]).build() == lt.Hypergrid([3, 2])
    assert DomainOptions(kind="recordgrid", sizes=[3, 2]).build() == lt.RecordGrid([3, 2])
    assert DomainOptions().build() is None
    with pytest.raises(lt.errors.ConfigError, match="no sizes"):
        DomainOptions(sizes=[2, 2]).build()


def test_given_laws(tmp_path):
    law = DistributionOptions(probabilities=[0.1, 0.2]).build(None, tmp_path)
    assert law.probabilities.tolist() == [0.1, 0.2]
    grid = lt.Hypergrid([2, 3])
    law = DistributionOptions(marginals=[[0.5, 0.5], [0.2, 0.3, 0.5]]).build(grid, tmp_path)
    assert law.marginal(1).tolist() == [0.2, 0.3, 0.5]
    assert DistributionOptions(uniform=True).build(grid, tmp_path).domain == grid


def test_fitted_laws_with_and_without_groups(tmp_path):
    (tmp_path / "t.csv").write_text("click,item\n1,a\n0,a\n0,b\n0,b\n0,c\n")
    plain = DistributionOptions(table=Path("t.csv"), column="click").build(
        lt.Hypercube(2), tmp_path
    )
    np.testing.assert_allclose(plain.probabilities, 0.2)
    grouped = DistributionOptions(
        table=Path("t.csv"), column="click", group="item", rows="0:4", record_rows="3:"
    ).build(None, tmp_path)
    # item b: (0 + 10/4) / 12; item c has no public record in rows 0-3: the overall rate 1/4.
    np.testing.assert_allclose(grouped.probabilities, [2.5 / 12, 0.25])
    assert "0:4" in grouped.source


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["--dimension", "3", "--probabilities", "0.1,0.2,0.3"],
            "[domain]\ndimension = 3\n[distribution]\nprobabilities = [0.1, 0.2, 0.3]\n",
        ),
        (
            ["--domain", "answers", "--sizes", "3,2", "--relation", "one", "--uniform"],
            '[domain]\nkind = "answers"\nsizes = [3, 2]\nrelation = "one"\n'
            "[distribution]\nuniform = true\n",
        ),
        (
            ["--table", "t.csv", "--columns", "a,b", "--histogram-of", "20"],
            '[distribution]\ntable = "t.csv"\ncolumns = ["a", "b"]\nhistogram_of = 20\n',
        ),
    ],
)
def test_the_command_line_and_the_file_say_the_same_of_the_data(tmp_path, arguments, text):
    _, bound, _ = app.parse_args(["check", "m.py:f", *arguments])
    typed = validate(DataOptions, asdict(bound.arguments["options"].data), "arguments")
    whole = read_config(written(tmp_path, text + MINIMAL))
    assert typed == DataOptions(whole.domain or DomainOptions(), whole.distribution)


def test_every_command_about_data_takes_the_same_options():
    names = {}
    for command in ("check", "release", "profile", "samples", "verify"):
        arguments = app[command].assemble_argument_collection()
        group = [one for one in arguments if DATA in one.parameter.group]
        names[command] = {one.name for one in group}
    assert len(names["check"]) == 22
    assert all(options == names["check"] for options in names.values())


@pytest.mark.parametrize("sizes", ["3,x", "3,2.5", "", "nan", "1e999"])
def test_sizes_that_are_no_whole_numbers_are_refused_in_one_line(sizes, capsys):
    where = ["check", "m.py:f", "--epsilon", "1", "--domain", "hypergrid", "--uniform"]
    assert main([*where, "--sizes", sizes]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert len(messages(error)) == 1
    assert "--sizes" in error


def test_python_says_it_too():
    law = DataOptions(DomainOptions(dimension=3), DistributionOptions(probabilities=0.2)).build()
    assert law.domain == lt.Hypercube(3)
    assert law.probabilities.tolist() == [0.2] * 3


@pytest.mark.slow
def test_a_pyproject_has_the_same_keys(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text("def f(data, rng):\n    return int(rng.random() < 0.5)\n")
    (tmp_path / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert main(["check"]) == 2
    assert "nor [tool.liptest] in a pyproject.toml" in capsys.readouterr().err
    assert main(["check", "--config", "pyproject.toml"]) == 2
    assert "no table [tool.liptest]" in capsys.readouterr().err
    table = '[[tool.liptest.check]]\nmechanism = "m.py:f"\nepsilon = 1\ndomain.records = 3\n'
    (tmp_path / "pyproject.toml").write_text(table)
    assert main(["check"]) == 0
    assert "m:f   claim: epsilon 1" in capsys.readouterr().out
    (tmp_path / "liptest.toml").write_text(table.replace("tool.liptest.", "").replace("1", "2"))
    assert main(["check"]) == 0
    assert "m:f   claim: epsilon 2" in capsys.readouterr().out
    (tmp_path / "liptest.toml").unlink()
    (tmp_path / "pyproject.toml").write_text(table.replace("records", "recrods"))
    assert main(["check"]) == 2
    assert "did you mean 'records'" in capsys.readouterr().err
