"""The commands on functions: lipschitz, distance, repair, plan, paper."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import liptest as lt
from liptest.cli import main
from liptest.lipschitz.verdicts import LipschitzVerdict
from tests.unit.cli import messages

QUERY = """
import sys
import numpy as np
import liptest as lt

print("REJECT")

def count(x):
    print("REJECT")
    return x.sum(axis=1) * 1.0

def jump(x):
    return 3.0 * x[:, 0]

@lt.scalar
def one(point):
    return float(point.sum())

def nan(x):
    return np.full(len(x), np.nan)

def leaves(x):
    sys.exit(0)

def unwrapped(point):
    return float(point[0])

def rare(x):
    return 9.0 * x.all(axis=1)

table = np.array([[0.0, 1.0], [1.0, 5.0]])
NOT_ONE = 3
"""
QUICK = ["--proximity", "0.1", "--failure-probability", "0.01", "--seed", "1"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "query.py").write_text(QUERY)
    np.save(tmp_path / "steep.npy", np.array([[0.0, 1.0], [1.0, 5.0]]))
    np.save(tmp_path / "wide.npy", np.array([[0.0, 4.0, 1.0], [1.0, 2.0, 0.0]]))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in [n for n in sys.modules if n.startswith("_liptest_query")]:
        del sys.modules[name]
    sys.path[:] = [path for path in sys.path if path != str(tmp_path)]


def one_error(capsys):
    out, err = capsys.readouterr()
    assert err.startswith("error: ")
    assert len(messages(err)) == 1
    assert out == ""
    return err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["query.py:count", "--dimension", "5"], 0),
        (["query.py:one", "--dimension", "5"], 0),
        (["query.py:jump", "--dimension", "5"], 1),
        (["query.py:jump", "--dimension", "5", "--lipschitz-constant", "3"], 0),
        (["query.py:jump", "--dimension", "2", "--probabilities", "0,0.5"], 0),
        (["query.py:table", "--dimension", "2"], 1),
        (["query.py:table"], 1),
        (["steep.npy"], 1),
        (["wide.npy", "--domain", "hypergrid"], 1),
        (["wide.npy", "--domain", "recordgrid", "--sizes", "2,3"], 1),
        (["query.py:count", "--domain", "hypergrid", "--sizes", "3,4"], 0),
        (["query.py:count", "--domain", "recordgrid", "--sizes", "3,4"], 1),
    ],
)
def test_exit_codes_of_lipschitz(folder, capsys, arguments, code):
    assert main(["lipschitz", *arguments, *QUICK]) == code
    out, err = capsys.readouterr()
    assert out.splitlines()[1].split()[0] == ("REJECT" if code else "ACCEPT")
    assert ("Witness: " in out) == bool(code)
    assert out.count("REJECT") == code  # what the file prints is not shown
    assert err == ""


@pytest.mark.parametrize(
    "tester", ["JR11", "AJMR12", "CS12", "DJT12", "CDJS15", "VarianceEdges", "auto"]
)
def test_every_tester_of_the_cube_by_name(folder, capsys, tester):
    arguments = ["query.py:jump", "--dimension", "2", *QUICK, "--tester", tester]
    assert main(["lipschitz", *arguments]) == 1
    name = "VarianceEdges" if tester == "auto" else tester
    assert f"\n{name}: " in capsys.readouterr().out


def test_the_verdict_as_json(folder, capsys):
    arguments = ["lipschitz", "query.py:jump", "--dimension", "3", *QUICK, "--json", "v.json"]
    assert main(arguments) == 1
    verdict = LipschitzVerdict.from_json((folder / "v.json").read_text())
    assert verdict.function == "query:jump"
    assert verdict.seed == 1
    assert verdict.witness.difference == 3.0


def test_an_unwritable_json_file_loses_no_exit_code(folder, capsys):
    arguments = ["lipschitz", "query.py:jump", "--dimension", "3", *QUICK, "--json", "/dev/full"]
    assert main(arguments) == 1
    assert "--json /dev/full" in capsys.readouterr().err


@pytest.mark.slow
def test_workers_change_nothing(folder, capsys):
    arguments = ["lipschitz", "query.py:count", "--dimension", "6", *QUICK]
    assert main(arguments) == 0
    alone = capsys.readouterr().out
    assert main([*arguments, "--workers", "2"]) == 0
    assert capsys.readouterr().out == alone


def test_an_interrupted_run_is_exit_code_3(folder, capsys, monkeypatch):
    def interrupted(self, points):
        raise KeyboardInterrupt

    monkeypatch.setattr("liptest.cli.laboratory.NamedFunction.__call__", interrupted)
    assert main(["lipschitz", "query.py:count", "--dimension", "5", *QUICK]) == 3
    assert capsys.readouterr().out.splitlines()[1].startswith("INCONCLUSIVE")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["query.py:nan", "--dimension", "3"], 4, "value=nan"),
        (["query.py:leaves", "--dimension", "3"], 4, "SystemExit"),
        (["query.py:unwrapped", "--dimension", "3"], 4, "lt.scalar"),
        (["query.py:NOT_ONE", "--dimension", "3"], 2, "function=3"),
        (["query.py:missing", "--dimension", "3"], 2, "no object 'missing'"),
        (["none.py:f", "--dimension", "3"], 2, "no such file"),
        (["none.npy"], 2, "no such file"),
        (["text.npy"], 2, "is not a readable .npy"),
        (["query.py:count"], 2, "records is missing"),
        (["query.py:count", "--dimension", "0"], 2, "dimension=0"),
        (["query.py:count", "--sizes", "3,3"], 2, "need --domain hypergrid"),
        (["query.py:count", "--domain", "hypergrid", "--sizes", "a"], 2, "commas"),
        (["query.py:count", "--dimension", "3", "--probabilities", "2"], 2, "between 0 and 1"),
        (["wide.npy"], 2, "need --domain hypergrid"),
        (["steep.npy", "--dimension", "3"], 2, "does not fit"),
        (["query.py:count", "--dimension", "3", "--tester", "magic"], 2, "tester='magic'"),
        (["query.py:count", "--dimension", "3", "--tester", "HammingLines"], 2, "RecordGrid"),
        (["query.py:count", "--dimension", "3", "--range-step", "0.1"], 2, "rounds no values"),
        (
            ["query.py:count", "--dimension", "3", "--tester", "JR11", "--range-step", "0.3"],
            2,
            "nearest is 1/3",
        ),
        (["query.py:count", "--dimension", "3", "--workers", "0"], 2, "workers=0"),
    ],
)
def test_bad_input_of_lipschitz(folder, capsys, arguments, code, words):
    (folder / "text.npy").write_text("no table")
    assert main(["lipschitz", *arguments, *QUICK]) == code
    assert words in one_error(capsys)


@pytest.mark.parametrize("wrong", ["0", "1", "nan"])
def test_proximity_out_of_range(folder, capsys, wrong):
    assert main(["lipschitz", "query.py:count", "--dimension", "3", "--proximity", wrong]) == 2
    assert "proximity=" in one_error(capsys)


def test_proximity_is_required(folder, capsys):
    assert main(["lipschitz", "query.py:count", "--dimension", "3"]) == 2
    assert "--proximity" in one_error(capsys)


def test_distance_prints_the_exact_number(folder, capsys):
    arguments = ["distance", "query.py:rare", "--dimension", "3", "--json", "d.json"]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "distance 0.125 (maximum flow" in out
    assert "exactly 1/8" in out
    assert "Outside 1 of 8 points the function is 1-Lipschitz (tolerance 1e-09)." in out
    assert json.loads((folder / "d.json").read_text())["value"] == "1/8"


def test_distance_beyond_what_can_be_enumerated_is_exit_code_3(folder, capsys):
    assert main(["distance", "query.py:rare", "--dimension", "21"]) == 3
    assert "use check_lipschitz" in one_error(capsys)


@pytest.mark.parametrize(
    ("arguments", "sizes"),
    [
        (["query.py:rare", "--dimension", "3"], (2, 2, 2)),
        (["query.py:rare", "--dimension", "3", "--symmetric", "--range-step", "0.25"], (2, 2, 2)),
        (["query.py:rare", "--dimension", "3", "--least"], (2, 2, 2)),
        (["wide.npy", "--domain", "hypergrid", "--least"], (2, 3)),
        (["wide.npy", "--domain", "recordgrid", "--least"], (2, 3)),
    ],
)
def test_what_repair_writes_is_lipschitz(folder, capsys, arguments, sizes):
    assert main(["repair", *arguments, "--output", "table.npy"]) == 0
    table = np.load(folder / "table.npy")
    assert (table.shape, table.dtype) == (sizes, np.float64)
    kind = arguments[arguments.index("--domain") + 1] if "--domain" in arguments else "hypercube"
    domain = {"hypergrid": lt.Hypergrid, "recordgrid": lt.RecordGrid}.get(kind, lt.Hypergrid)(sizes)
    law = lt.ProductDistribution.uniform(domain)
    assert lt.distance_to_lipschitz(table, law).value == 0
    assert "No repair changes less than the distance" in capsys.readouterr().out


def test_floats_that_break_a_tie_are_announced(folder, capsys):
    tenths = ["repair", "query.py:rare", "--dimension", "3", "--range-step", "0.1"]
    assert main([*tenths, "--output", "t.npy"]) == 0
    assert "edges over the line by a unit in the last place" in capsys.readouterr().out
    assert main(["distance", "t.npy", "--tolerance", "0"]) == 0
    assert "distance 0 " not in capsys.readouterr().out
    assert main(["distance", "t.npy"]) == 0
    assert "distance 0 " in capsys.readouterr().out
    assert main(["lipschitz", "t.npy", *QUICK]) == 0


def test_the_least_repair_changes_the_distance(folder, capsys):
    assert (
        main(["repair", "query.py:rare", "--dimension", "3", "--least", "--output", "t.npy"]) == 0
    )
    assert "Changed 1 of 8 points, total probability 0.125." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["query.py:rare", "--dimension", "3", "--output", "t.txt"], "must end in .npy"),
        (["query.py:rare", "--dimension", "3", "--output", "no/t.npy"], "no/t.npy"),
        (["wide.npy", "--domain", "hypergrid", "--output", "t.npy"], "add --least"),
        (["query.py:rare", "--dimension", "3", "--output", "t.npy", "--range-step", "0.3"], "1/3"),
    ],
)
def test_bad_input_of_repair(folder, capsys, arguments, words):
    assert main(["repair", *arguments]) == 2
    assert words in one_error(capsys)


def test_plan_prints_both_tables(folder, capsys):
    arguments = ["--dimension", "20", "--exception-mass", "0.01", "--outputs", "21"]
    assert main(["plan", *arguments, "--range-step", "0.3", "--json", "p.json"]) == 0
    out = capsys.readouterr().out
    assert "Planned with 1/4 = 0.25" in out
    assert "2.1e+15" in out
    assert "HammingLines: not applicable: needs a RecordGrid" in out
    assert max(map(len, out.splitlines())) <= 100
    written = json.loads((folder / "p.json").read_text())
    assert len(written["testers"]) == 7
    assert len(written["methods"]) == 13


def test_plan_of_a_job_of_a_thousand_million_laws(capsys):
    """What one law takes is the user's to measure; the rest is arithmetic."""
    big = ["plan", "--dimension", "1000", "--outputs", "2", "--exception-mass", "7e-6"]
    assert main([*big, "--law-seconds", "0.004", "--workers", "64"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "At 0.004 s a law: light-neighbourhoods computes 988,792,638" in told
    assert "laws, 46 days of one core, 17 h on 64 workers." in told
    assert main([*big, "--law-seconds", "1e-9"]) == 0
    assert "laws, 1 s of one core." in " ".join(capsys.readouterr().out.split())


def test_plan_of_testers_only(folder, capsys):
    assert main(["plan", "--domain", "hypergrid", "--sizes", "4,4"]) == 0
    out = capsys.readouterr().out
    assert "CDJS15" in out
    assert "output distributions" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--dimension", "3", "--proximity", "2"], "proximity=2.0"),
        (["--dimension", "3", "--outputs", "0"], "outputs=0"),
        (["--dimension", "3", "--outputs", "2", "--epsilon", "much"], "epsilon='much'"),
        ([], "records is missing"),
        (["--dimension", "3", "--outputs", "2", "--law-seconds", "0"], "law_seconds=0.0"),
        (["--dimension", "3", "--outputs", "2", "--law-seconds=1", "--workers=0"], "workers=0"),
    ],
)
def test_bad_input_of_plan(capsys, arguments, words):
    assert main(["plan", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_paper_says_where_its_checks_are(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "paper", None)
    monkeypatch.delitem(sys.modules, "paper.__main__", raising=False)
    assert main(["paper"]) == 2
    assert "run `python -m paper` in a checkout" in one_error(capsys)


@pytest.mark.parametrize("command", ["lipschitz", "distance", "repair", "plan", "paper"])
def test_help_shows_a_full_invocation(capsys, command):
    assert main([command, "--help"]) == 0
    assert f"Example: liptest {command}" in " ".join(capsys.readouterr().out.split())
