"""The command line: exit codes, what is printed where, what is never printed."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from cyclopts import App

from liptest.cli import main
from liptest.cli.app import COMMANDS, find_module
from liptest.errors import InputError
from liptest.evidence.certificate import Certificate
from tests.unit.cli import messages

VENDOR = '''
import liptest as lt
import helper

@lt.mechanism
def rr(data, rng):
    """Randomised response, exactly epsilon = 1."""
    return tuple(helper.flip(int(bit), rng) for bit in data)

def plain(data, rng):
    print("YES by proof")
    return int(data.sum())

@lt.mechanism
def raises(data, rng):
    raise ValueError("always")

@lt.mechanism
def unhashable(data, rng):
    return bytearray(b"a")

@lt.mechanism
def leaks(data, rng):
    if data.sum() > 2:
        raise ValueError(f"secret {data.tolist()}")
    print("secret", data.tolist())
    return 0

@lt.mechanism
def endless(data, rng):
    while rng.integers(2) < 2:
        pass
    return 0

broken_sum = lt.ClosedForm([0, 1], lambda x: x[:, :1] * [[0.0, 0.0]])
NOT_ONE = 3
'''
HELPER = "def flip(b, rng):\n    return b if rng.random() < 0.7310585786300049 else 1 - b\n"
CUBE = ["--dimension", "4", "--probabilities", "0.3"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "vendor.py").write_text(VENDOR)
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "private.csv").write_text("click\n0\n1\n1\n0\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in [n for n in sys.modules if n == "helper" or n.startswith("_liptest_")]:
        del sys.modules[name]
    sys.path[:] = [path for path in sys.path if path != str(tmp_path)]


def check(*arguments: str) -> int:
    return main(["check", *arguments])


@pytest.mark.slow
def test_a_true_claim_is_yes_and_exit_code_0(folder, capsys):
    assert check("vendor.py:rr", "--epsilon", "1", *CUBE) == 0
    out, err = capsys.readouterr()
    assert out.startswith("vendor:rr   claim: epsilon 1\nYES by proof - every case checked\n")
    assert "flipping one bit changes the probability of any output" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 100
    assert err == ""
    assert "\x1b" not in out


@pytest.mark.slow
def test_a_false_claim_is_no_and_exit_code_1(folder, capsys):
    assert check("vendor.py:rr", "--epsilon", "0.9", *CUBE) == 1
    out = capsys.readouterr().out
    assert "NO refuted with a witness" in out
    assert "Certain: certified arithmetic" in out


@pytest.mark.slow
def test_an_undecorated_function_is_taken_and_cannot_print_a_verdict(folder, capsys):
    assert check("vendor.py:plain", "--epsilon", "1", *CUBE) == 1
    assert "YES" not in capsys.readouterr().out


@pytest.mark.slow
def test_a_budget_that_ends_is_exit_code_3(folder, capsys):
    arguments = ["--method", "neighbourhoods", "--budget", "2000", "--seed", "1"]
    assert check("vendor.py:rr", "--epsilon", "1", *CUBE, *arguments) == 3
    out = capsys.readouterr().out
    assert "INCONCLUSIVE the budget ended" in out
    assert "this much is certified" in " ".join(out.split())


@pytest.mark.slow
def test_an_exact_epsilon_can_be_written_as_a_logarithm(folder, capsys):
    assert check("vendor.py:rr", "--epsilon", "log(3)", *CUBE) == 0
    assert "claim: epsilon log(3)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["vendor.py:missing", "--epsilon", "1"], 2, "has no object 'missing'"),
        (["nowhere.py:rr", "--epsilon", "1"], 2, "there is no such file"),
        (["vendor.py", "--epsilon", "1"], 2, "write vendor.py:rr; it has: rr, plain"),
        (["no.such.package:rr", "--epsilon", "1"], 2, "ModuleNotFoundError"),
        (["vendor.py:NOT_ONE", "--epsilon", "1"], 2, "mechanism=3 is not a mechanism"),
        (["vendor.py:rr"], 2, "epsilon: the claim is missing"),
        (["vendor.py:rr", "--epsilon", "0"], 2, "epsilon=0.0 must be"),
        (["vendor.py:rr", "--epsilon", "nan"], 2, "epsilon=nan must be"),
        (["vendor.py:rr", "--epsilon", "much"], 2, "epsilon='much'"),
        (["vendor.py:rr", "--epsilon", "1", "--delta", "1"], 2, "delta=1.0 must be"),
        (["vendor.py:rr", "--epsilon", "1", "--exception-mass", "0"], 2, "exception_mass=0.0"),
        (["vendor.py:rr", "--epsilon", "1", "--failure-probability", "1"], 2, "failure_prob"),
        (["vendor.py:rr", "--epsilon", "1", "--method", "magic"], 2, "method='magic'"),
        (["vendor.py:rr", "--epsilon", "1", "--budget", "0"], 2, "budget=0"),
        (["vendor.py:raises", "--epsilon", "1"], 4, "raised an exception on every dataset"),
        (["vendor.py:unhashable", "--epsilon", "1"], 4, "return a number"),
        (["vendor.py:broken_sum", "--epsilon", "1"], 4, "sums to"),
        pytest.param(["vendor.py:endless", "--epsilon", "1"], 3, "choices", marks=pytest.mark.slow),
        (["vendor.py:rr", "--epsilon", "1", "--unknown"], 2, "--unknown"),
    ],
)
def test_bad_input_gets_one_clear_line_and_no_verdict(folder, capsys, arguments, code, words):
    assert check(*arguments, *CUBE) == code
    out, err = capsys.readouterr()
    assert words in err
    assert err.startswith("error: ")
    assert len(messages(err)) == 1
    assert "YES" not in out
    assert "NO " not in out


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ([], "domain.records is missing"),
        (["--probabilities", "0.3"], "domain.records is missing"),
        (["--probabilities", "1.5", "--dimension", "4"], "1.5"),
        (["--probabilities", "0.1,0.2", "--dimension", "4"], "do not fit"),
        (["--uniform", "--dimension", "0"], "dimension=0"),
        (["--uniform", "--domain", "hypergrid"], "domain.sizes is missing"),
        (["--table", "none.csv", "--column", "click", "--dimension", "4"], "no such file"),
        (["--table", "private.csv", "--column", "x", "--dimension", "4"], "column='x'"),
        (["--table", "empty.csv", "--column", "click", "--dimension", "4"], "empty"),
        (["--table", "text.csv", "--column", "click", "--dimension", "4"], "'often'"),
        (["--table", "high.csv", "--column", "click", "--dimension", "4"], "7"),
    ],
)
def test_bad_distributions_are_refused(folder, capsys, law, words):
    (folder / "empty.csv").write_text("click\n")
    (folder / "text.csv").write_text("click\noften\n")
    (folder / "high.csv").write_text("click\n7\n")
    assert check("vendor.py:rr", "--epsilon", "1", *law) == 2
    out, err = capsys.readouterr()
    assert words in err
    assert out == ""


def test_import_errors_of_a_vendor_are_named_without_a_traceback(folder, capsys):
    (folder / "bad.py").write_text("import sys\nsys.exit('bye')\n")
    (folder / "worse.py").write_text("def f(:\n")
    for file, words in (("bad.py", "SystemExit"), ("worse.py", "SyntaxError")):
        assert check(f"{file}:x", "--epsilon", "1", *CUBE) == 2
        err = capsys.readouterr().err
        assert words in err
        assert "Traceback" not in err


@pytest.mark.slow
def test_several_checks_the_worst_wins_and_none_is_lost(folder, capsys):
    (folder / "liptest.toml").write_text(
        """
[domain]
dimension = 4
[distribution]
probabilities = 0.3
[[check]]
mechanism = "vendor.py:rr"
epsilon = 1.0
[[check]]
mechanism = "vendor.py:missing"
epsilon = 1.0
[[check]]
mechanism = "vendor.py:rr"
epsilon = "log(2)"
"""
    )
    assert check("--json", "all.json") == 1
    out, err = capsys.readouterr()
    assert "YES by proof" in out
    assert "NO refuted" in out
    assert "missing" in err
    assert "vendor.py:missing: bad input (exit code 2)" in out
    written = json.loads((folder / "all.json").read_text())
    assert [one["verdict"]["decision"] for one in written] == ["YES", "NO"]


@pytest.mark.slow
def test_the_certificate_comes_back(folder, capsys):
    assert check("vendor.py:rr", "--epsilon", "1", *CUBE, "--json", "c.json", "--seed", "7") == 0
    certificate = Certificate.from_json((folder / "c.json").read_text())
    assert certificate.verdict.seed == 7
    assert certificate.seed_source.startswith("caller")
    assert set(certificate.code.files) == {"vendor.py", "helper.py"}


@pytest.mark.slow
def test_an_unwritable_json_file_loses_no_verdict(folder, capsys):
    assert check("vendor.py:rr", "--epsilon", "1", *CUBE, "--json", "/dev/full") == 2
    out, err = capsys.readouterr()
    assert "YES by proof" in out
    assert "--json /dev/full: No space left on device" in err


@pytest.mark.slow
def test_results_do_not_depend_on_workers(folder, capsys):
    arguments = ["--epsilon", "1", *CUBE, "--method", "neighbourhoods", "--seed", "3"]
    assert check("vendor.py:rr", *arguments) == 0
    alone = capsys.readouterr().out
    assert check("vendor.py:rr", *arguments, "--workers", "2") == 0
    assert capsys.readouterr().out == alone


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_each_vendor_is_tested_with_its_own_helper(folder, capsys, workers):
    for vendor, answer in [("first", "0"), ("second", "int(data[0])")]:
        (folder / vendor).mkdir()
        (folder / vendor / "helper.py").write_text(f"def answer(data):\n    return {answer}\n")
        (folder / vendor / "v.py").write_text(
            "from helper import answer\ndef f(data, rng):\n    return answer(data)\n"
        )
    check_of = '[[check]]\nmechanism = "{}/v.py:f"\nepsilon = 1\nmethod = "edges"\n'
    Path("liptest.toml").write_text(
        "[domain]\ndimension = 5\n[distribution]\nprobabilities = 0.3\n"
        + check_of.format("first")
        + check_of.format("second")
        + check_of.format("first")
    )
    assert check("--workers", workers) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if "(exit code" in line]
    assert [line.split(" ")[1] for line in lines] == ["YES", "NO", "YES"]


def release(*arguments: str) -> int:
    return main(["release", *arguments])


@pytest.mark.slow
def test_release_prints_an_output_after_a_yes(folder, capsys):
    arguments = ["--epsilon", "1", *CUBE, "--private", "private.csv"]
    assert release("vendor.py:rr", *arguments) == 0
    out = capsys.readouterr().out
    assert "RELEASED (" in out
    assert "(1, 0)-private on every dataset" in out


@pytest.mark.slow
def test_release_refuses_without_reading_the_private_table(folder, capsys):
    (folder / "private.csv").write_text("not a table at all")
    assert release("vendor.py:plain", "--epsilon", "1", *CUBE, "--private", "private.csv") == 1
    out = capsys.readouterr().out
    assert "REFUSED - the private table was not read" in out
    assert "RELEASED" not in out


@pytest.mark.slow
@pytest.mark.parametrize("content", ["click\n0\n1\n1\n77\n", "click\n0\nsecret\n1\n1\n"])
def test_private_values_outside_the_domain_are_never_shown(folder, capsys, content):
    (folder / "private.csv").write_text(content)
    assert release("vendor.py:rr", "--epsilon", "1", *CUBE, "--private", "private.csv") == 2
    out, err = capsys.readouterr()
    assert "RELEASED" not in out
    assert "77" not in err + out
    assert "secret" not in err + out


@pytest.mark.slow
def test_what_a_mechanism_prints_or_raises_on_private_data_stays_inside(folder, capsys):
    (folder / "private.csv").write_text("click\n1\n1\n1\n0\n")
    rare = ["--dimension", "4", "--probabilities", "0.0001", "--exception-mass", "0.4"]
    more = ["--failure-probability", "0.4", "--method", "neighbourhoods", "--seed", "1"]
    arguments = ["--epsilon", "1", *rare, *more, "--private", "private.csv"]
    assert release("vendor.py:leaks", *arguments) == 0
    out, err = capsys.readouterr()
    assert "RELEASED Raised('ValueError')" in out
    assert "secret" not in out + err
    assert "1, 1, 1" not in out + err


def test_law_prints_probabilities_and_where_they_come_from(folder, capsys):
    assert main(["law", "vendor.py:plain", "--ones", "3", "--dimension", "5"]) == 0
    out = capsys.readouterr().out
    assert "3\t1\t1" in out
    assert "source: enumerated" in out


@pytest.mark.parametrize(
    "arguments",
    [
        *([], ["--dataset", "0,x"], ["--dataset", "0.5"], ["--ones", "4", "--dimension", "3"]),
        ["--ones", "4", "--dimension", "99999999999"],
    ],
)
def test_law_wants_one_dataset(folder, capsys, arguments):
    assert main(["law", "vendor.py:plain", *arguments]) == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize("command", [[], ["check"], ["release"], ["law"], ["demo"]])
def test_help_shows_a_full_invocation(capsys, command):
    assert main([*command, "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert not command or f"Example: liptest {command[0]} " in out


@pytest.mark.slow
def test_help_does_not_load_numpy():
    code = (
        "import sys; from liptest.cli import main; main(['--help']); "
        "sys.exit('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0


@pytest.mark.slow
def test_the_module_runs_as_a_script(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-m", "liptest", "check", "x"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert issubclass(InputError, ValueError)


@pytest.mark.slow
def test_grids_of_answers_on_the_command_line(folder, capsys):
    """SVT4 of examples/catalogue: not 1-private where all answers may move, and where one does."""
    (folder / "svt.py").write_text(
        "def svt4(answers, rng):\n"
        "    threshold, told = rng.laplace(0, 4.0), []\n"
        "    for answer in answers:\n"
        "        told.append(bool(answer + rng.laplace(0, 4 / 3) >= threshold))\n"
        "        if told[-1]:\n"
        "            break\n"
        "    return told\n"
    )
    where = [
        "svt.py:svt4",
        "--epsilon",
        "1",
        "--domain",
        "answers",
        "--sizes",
        "3,3,3",
        "--uniform",
    ]
    assert main(["check", *where, "--relation", "all", "--json", "no.json"]) == 1
    assert main(["check", *where, "--relation", "one", "--json", "yes.json"]) == 0
    for name in ("no", "yes"):
        given = ["--mechanism", "svt.py:svt4", "--uniform"]
        assert main(["verify", f"{name}.json", *given]) == 0, capsys.readouterr().out
    assert main(["profile", *where[:1], *where[3:], "--relation", "all", "--epsilon", "1"]) == 0
    assert main(["check", *where]) == 2
    assert "domain.relation=None: say 'all' or 'one'" in capsys.readouterr().err


def test_the_list_of_commands_says_what_their_docstrings_say():
    for name, (_, summary) in COMMANDS.items():
        command = getattr(import_module(find_module(name)), name)
        text = command.help if isinstance(command, App) else inspect.getdoc(command)
        assert " ".join(text.partition("\n\n")[0].split()) == summary


@pytest.mark.slow
def test_help_loads_no_command():
    code = (
        "import sys; from liptest.cli import main; main(['--help']); "
        "loaded = sorted(one for one in sys.modules if one.startswith('liptest.cli.')); "
        "print(loaded, file=sys.stderr); "
        "sys.exit('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    # The list of commands, and what their lines are wrapped by.
    assert (done.returncode, done.stderr) == (0, "['liptest.cli.app', 'liptest.cli.lines']\n")
