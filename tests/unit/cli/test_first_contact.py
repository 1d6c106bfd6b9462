"""The first minutes: what to do next, init, doctor, completion."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.cli import doctor, main
from liptest.cli import init as first_config
from liptest.cli.first_contact import mechanisms_in, next_commands
from liptest.cli.init import _quote
from tests.unit.cli import messages

VENDOR = """
import numpy as np
import liptest as lt

print("YES by proof")

def plain(data, rng):
    return int(data.sum()) % 2 if rng.random() < 0.5 else 0

@lt.mechanism(statistic=lt.Count())
def count(k, rng):
    return k % 2 if rng.random() < 0.5 else 1 - k % 2

weighted = lt.StatisticMechanism(
    lt.statistics.WeightedSum([1, 2, 1]), [0], lambda v: np.zeros((len(v), 1)), name="weighted"
)
replaced = lt.StatisticMechanism(lt.Histogram(3), [0], lambda v: np.zeros((len(v), 1)))
counted = lt.StatisticMechanism(
    lt.Histogram(2, given="counts"), [0], lambda v: np.zeros((len(v), 1))
)
closed = lt.ClosedForm(["a", "b"], lambda x: np.full((len(x), 2), np.log(0.5)))

def first(data, rng):
    return int(data[0]) if rng.random() < 0.5 else 0

def loop(data, rng):
    return sum(int(bit) for bit in data) % 2 if rng.random() < 0.5 else 0

def raises(data, rng):
    raise KeyError("always")

NOT_ONE = 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "vendor.py").write_text(VENDOR)
    (tmp_path / "public.csv").write_text("id,click,colour\n" + "1,0,2\n2,1,0\n3,0,1\n" * 2)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def init(*arguments):
    return main(["init", *arguments])


# liptest alone


def commands(out):
    return [line.split("   ")[-1].strip() for line in out.splitlines() if line.startswith("  ")]


def test_alone_it_says_what_to_do_next(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert len(out.splitlines()) == 7
    demo, check, start = commands(out)
    assert demo == "liptest demo clicks"
    assert start == "liptest init file.py:name"
    assert main(shlex.split(check)[1:]) == 0
    assert "YES by proof" in capsys.readouterr().out


def test_in_a_folder_with_a_mechanism_the_commands_are_about_it(folder, capsys):
    main([])
    first, second, _ = commands(capsys.readouterr().out)
    assert first == "liptest init vendor.py:plain"
    assert main(shlex.split(first)[1:]) == 0
    assert second == "liptest check"
    capsys.readouterr()
    main([])
    assert commands(capsys.readouterr().out)[0] == "liptest check"


def test_in_a_folder_with_checks_in_its_pyproject_they_are_what_is_next(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n")
    assert next_commands(tmp_path)[0][1] == "liptest demo clicks"
    (tmp_path / "pyproject.toml").write_text("[[tool.liptest.check]]\n")
    assert next_commands(tmp_path)[0] == ("test the claims of this pyproject.toml", "liptest check")


def test_mechanisms_are_found_without_running_anything(folder):
    (folder / "bomb.py").write_text("raise SystemExit\ndef f(data, rng): ...\n")
    (folder / "broken.py").write_text("def f(:\n")
    (folder / "binary.py").write_bytes(b"\0\xff")
    (folder / "other.py").write_text(
        "import functools\n@functools.cache\ndef g(data, rng): ...\ndef h(rng): ...\nx = y = 3\n"
    )
    (folder / "folder.py").mkdir()
    found = list(mechanisms_in(folder))
    assert found[0] == "bomb.py:f"
    assert found[1:] == [
        f"vendor.py:{name}"
        for name in (
            "plain",
            "count",
            "weighted",
            "replaced",
            "counted",
            "closed",
            "first",
            "loop",
            "raises",
        )
    ]
    assert len(next_commands(folder)) == 3


def test_alone_it_loads_no_numpy(tmp_path):
    code = "import sys; from liptest.cli import main; main([]); sys.exit('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0
    alone = subprocess.run(
        [sys.executable, "-m", "liptest"], cwd=tmp_path, capture_output=True, check=True
    )
    assert alone.stdout == done.stdout


# init


def read(path):
    return tomllib.loads(path.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "known", "domain"),
    [
        ("plain", ["--dimension", "3"], {"kind": "hypercube", "dimension": 3}),
        ("count", ["--dimension", "4"], {"kind": "hypercube", "dimension": 4}),
        ("weighted", [], {"kind": "hypercube", "dimension": 3}),
        ("replaced", ["--dimension", "2"], {"kind": "recordgrid", "sizes": [3, 3]}),
        ("counted", ["--sizes", "3,4"], {"kind": "hypergrid", "sizes": [3, 4]}),
        ("closed", ["--domain", "hypergrid", "--sizes", "3"], {"kind": "hypergrid", "sizes": [3]}),
        (
            "closed",
            ["--domain", "recordgrid", "--sizes", "3,1"],
            {"kind": "recordgrid", "sizes": [3, 1]},
        ),
    ],
)
def test_with_all_values_it_can_be_checked_at_once(folder, capsys, name, known, domain):
    assert init(f"vendor.py:{name}", "--epsilon", "log(3)", *known) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "Next: liptest check"
    assert "YES" not in out
    data = read(folder / "liptest.toml")
    assert data["domain"] == domain
    assert data["check"] == [{"mechanism": f"vendor.py:{name}", "epsilon": "log(3)"}]
    assert main(["check"]) in (0, 1)
    assert f"vendor:{name}   claim: epsilon log(3)" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "count", "weighted", "replaced", "counted"])
def test_without_values_the_marked_lines_are_all_that_is_missing(folder, capsys, name):
    assert init(f"vendor.py:{name}") == 0
    out = capsys.readouterr().out
    path = folder / "liptest.toml"
    text = path.read_text()
    marked = [line for line in text.splitlines() if line.startswith("# ") and "# FILL IN" in line]
    assert [line in out for line in marked] == [True] * len(marked) != []
    assert main(["check"]) == 2
    error = capsys.readouterr().err
    assert "epsilon" in error
    assert "is missing; write epsilon = 1.0" in error
    fewer = {"# dimension = 1000": "dimension = 5", "# sizes = [3, 3, 2]": "sizes = [3, 3]"}
    for line in marked:
        filled = line.removeprefix("# ")
        for old, new in fewer.items():
            filled = new if line.startswith(old) else filled
        text = text.replace(line, filled)
    path.write_text(text)
    assert main(["check"]) in (0, 1)


def test_the_header_says_what_the_mechanism_is(folder):
    init("vendor.py:count")
    text = (folder / "liptest.toml").read_text()
    assert "#   sees: only the statistic 'count' of the dataset" in text
    assert "#   outputs: found by running it" in text
    assert "enumerated from the code" in text
    init("vendor.py:closed", "--force")
    text = (folder / "liptest.toml").read_text()
    assert "#   sees: the whole dataset" in text
    assert "#   outputs: 2, from 'a' to 'b'" in text
    assert "declared by the vendor as a formula" in text


@pytest.mark.slow
def test_a_table_gives_distribution_and_number_of_records(folder, capsys):
    table = ["--table", "public.csv", "--column"]
    assert init("vendor.py:plain", "--epsilon", "1", *table, "click") == 0
    data = read(folder / "liptest.toml")
    assert data["domain"] == {"kind": "hypercube", "dimension": 6}
    assert data["distribution"] == {"table": "public.csv", "column": "click"}
    assert main(["check"]) in (0, 1)
    assert init("vendor.py:closed", "--domain", "recordgrid", *table, "colour", "--force") == 0
    assert read(folder / "liptest.toml")["domain"] == {"kind": "recordgrid", "sizes": [3] * 6}
    assert init("vendor.py:plain", *table, "click", "--group", "id", "--force") == 0
    assert read(folder / "liptest.toml")["distribution"]["group"] == "id"


def test_the_other_laws(folder):
    init("vendor.py:plain", "--dimension", "2")
    assert read(folder / "liptest.toml")["distribution"] == {"uniform": True}
    for text, value in (("0.25", 0.25), ("0.25,0.5", [0.25, 0.5])):
        known = ["--dimension", "2", "--probabilities", text]
        assert init("vendor.py:plain", *known, "--force") == 0
        assert read(folder / "liptest.toml")["distribution"] == {"probabilities": value}


@pytest.mark.slow
def test_a_claim_with_delta(folder, capsys):
    known = ["--dimension", "2", "--delta", "0.25"]
    assert init("vendor.py:plain", "--epsilon", "1", *known) == 0
    assert read(folder / "liptest.toml")["check"][0]["delta"] == 0.25
    assert main(["check"]) in (0, 1)
    assert "claim: epsilon 1, delta 0.25" in capsys.readouterr().out


def test_nothing_is_overwritten_without_force(folder, capsys):
    (folder / "liptest.toml").write_text("# mine\n")
    assert init("vendor.py:plain") == 2
    err = capsys.readouterr().err
    assert 'mechanism = "vendor.py:plain"' in err
    assert "--force" in err
    assert (folder / "liptest.toml").read_text() == "# mine\n"
    assert init("vendor.py:plain", "--force") == 0
    assert "# mine" not in (folder / "liptest.toml").read_text()


@pytest.mark.slow
def test_files_are_named_as_seen_from_the_new_file(folder, capsys):
    (folder / "deep").mkdir()
    known = ["--epsilon", "1", "--table", "public.csv", "--column", "click"]
    assert init("vendor.py:plain", *known, "--output", "deep/mine.toml") == 0
    assert "Next: liptest check --config deep/mine.toml" in capsys.readouterr().out
    data = read(folder / "deep" / "mine.toml")
    assert data["check"][0]["mechanism"] == "../vendor.py:plain"
    assert data["distribution"]["table"] == "../public.csv"
    assert main(["check", "--config", "deep/mine.toml"]) in (0, 1)


def test_a_mechanism_of_a_package_keeps_its_name(folder):
    where = "liptest.examples.clicks.vendor_a:count"
    assert init(where, "--epsilon", "1", "--dimension", "5") == 0
    assert read(folder / "liptest.toml")["check"][0]["mechanism"] == where
    assert main(["check"]) == 0


@pytest.mark.slow
def test_odd_file_names_survive(folder, capsys):
    name = 'a "b" \\ ü\x7f.py'
    (folder / name).write_text(VENDOR)
    assert init(f"{name}:plain", "--epsilon", "1", "--dimension", "2") == 0
    assert read(folder / "liptest.toml")["check"][0]["mechanism"] == f"{name}:plain"
    assert main(["check"]) in (0, 1)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_can_be_quoted(text):
    assert tomllib.loads(f"x = {_quote(text)}") == {"x": text}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.py:plain"], "there is no such file"),
        (["vendor.py:plan"], "did you mean 'plain'"),
        (["vendor.py:NOT_ONE"], "is not a mechanism"),
        (["vendor.py:plain", "--epsilon", "0"], "epsilon=0.0 must be"),
        (["vendor.py:plain", "--epsilon", "nan"], "epsilon=nan must be"),
        (["vendor.py:plain", "--epsilon", "much"], "epsilon='much'"),
        (["vendor.py:plain", "--epsilon", "1", "--delta", "1"], "delta=1.0"),
        (["vendor.py:plain", "--delta", "1"], "delta=1.0"),
        (["vendor.py:plain", "--dimension", "0"], "dimension=0"),
        (["vendor.py:plain", "--records", "0"], ": records=0 must be a whole number of at least 1"),
        (["vendor.py:plain", "--probabilities", "x"], "must be numbers"),
        (["vendor.py:plain", "--probabilities", "1.5", "--dimension", "2"], "1.5"),
        (["vendor.py:plain", "--probabilities", "0.1,0.2", "--dimension", "3"], "do not fit"),
        (["vendor.py:plain", "--sizes", "2,2"], "--domain hypergrid or --domain recordgrid"),
        (["vendor.py:plain", "--domain", "hypergrid", "--sizes", "2.5"], "sizes"),
        (["vendor.py:plain", "--table", "none.csv"], "no such file"),
        (["vendor.py:plain", "--table", "public.csv", "--column", "klick"], "no such column"),
        (["vendor.py:plain", "--table", "public.csv", "--column", "colour"], "2"),
        (["vendor.py:weighted", "--dimension", "4"], "weights"),
        (["vendor.py:count", "--domain", "hypergrid", "--sizes", "3"], "Hypercube"),
        (["vendor.py:plain", "--output", "no/such/file.toml"], "there is no folder"),
    ],
)
def test_bad_input_writes_no_file_and_one_line(folder, capsys, arguments, words):
    assert init(*arguments) == 2
    out, err = capsys.readouterr()
    assert words in err
    assert err.startswith("error: ")
    assert len(messages(err)) == 1
    assert out == ""
    assert not (folder / "liptest.toml").exists()


@pytest.mark.slow
def test_a_mechanism_that_fails_is_told_and_the_file_is_written(folder, capsys, monkeypatch):
    known = ["--epsilon", "1", "--dimension", "3"]
    assert init("vendor.py:raises", *known) == 0
    assert main(["check"]) == 4


@pytest.mark.slow
def test_what_takes_too_long_is_told_beforehand(folder, capsys, monkeypatch):
    monkeypatch.setattr(first_config, "_time_one_law", lambda mechanism, law: 0.01)
    known = ["--epsilon", "1", "--dimension", "300", "--force"]
    assert init("vendor.py:loop", *known) == 0
    out = " ".join(capsys.readouterr().out.split())
    # 13,809 draws, each with the 150 neighbours of which it is the lighter end
    assert "method light-neighbourhoods needs about 2,085,159 output distributions" in out
    assert "one took 0.01 s here, so a YES takes about 6 hours." in out
    assert "@lt.mechanism(statistic=lt.Count()) above def loop(count, rng)" in out
    for quick in ("count", "closed", "first"):
        assert init(f"vendor.py:{quick}", *known) == 0
        assert "Slow:" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("dimension", "method"), [(3, "exhaustive"), (100, "light-neighbourhoods")]
)
def test_the_estimate_is_about_the_laws_that_a_check_asks_for(dimension, method):
    @lt.mechanism
    def parity(data, rng):
        return int(data.sum()) % 2

    law = lt.ProductDistribution.uniform(lt.Hypercube(dimension))
    numbers = first_config._plan(parity, law)
    assert numbers[0] == method
    verdict = lt.check_privacy(
        lt.catalogue.truncated_geometric_count(dimension, 1.0),
        law,
        epsilon=1,
        method=method,
        seed=1,
    )
    if method == "exhaustive":
        assert numbers[1] == 2**dimension
    else:
        assert numbers[1] == pytest.approx(verdict.cost.laws, rel=0.01)


@pytest.mark.parametrize(
    ("seconds", "words"), [(90, "2 minutes"), (7300, "2 hours"), (3e6, "35 days")]
)
def test_durations_in_words(seconds, words):
    assert first_config._in_words(seconds) == words


# doctor


@pytest.mark.slow
def test_the_doctor_finds_everything_well(capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"liptest {lt.__version__}   ")
    assert out.count("  good   ") == 5
    assert re.search(r"numpy +\d+\.\d+", out)
    assert out.splitlines()[-1].startswith("Everything works.")


@pytest.mark.slow
def test_the_doctor_names_what_is_missing_and_what_to_install(capsys, monkeypatch):
    declared = [
        "numpy>=99.5",
        "no-such-package>=2; python_version < '4'",
        "no-such-extra>=1; extra == 'plots'",
        'pytest[dev]>=7 ; extra == "test"',
    ]
    monkeypatch.setattr(metadata, "requires", lambda name: declared)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "is too old, >=99.5 is needed: pip install 'numpy>=99.5'" in out
    assert "missing: pip install 'no-such-package>=2'" in out
    assert "missing: pip install 'liptest[plots]'" in out
    assert re.search(r"pytest +\d", out)
    last = out.splitlines()[-1]
    assert last.startswith("2 problems: numpy ")
    assert "no-such-extra" not in last


@pytest.mark.slow
def test_the_doctor_works_without_an_installation(capsys, monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", missing)
    assert main(["doctor"]) == 0
    assert "liptest runs from its source" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer", [False, lt.errors.LawError("broken"), TypeError("numpy changed")]
)
def test_the_doctor_notices_a_wrong_answer(capsys, monkeypatch, answer):
    def test():
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(doctor, "_check_known_no", test)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert ("WRONG" in out) == (answer is False)
    assert ("FAILED" in out) == (answer is not False)
    assert "1 problem: " in out.splitlines()[-1]


def test_the_self_test_would_notice_a_tester_that_always_agrees(capsys, monkeypatch):
    """Each known answer differs from that of a tester that says YES, or NO, to everything."""
    honest = lt.check_privacy
    bits = lt.ProductDistribution.uniform(lt.Hypercube(1))
    response = lt.catalogue.randomised_response(1, 1.0)
    for epsilon, wrong in ((2.0, 2), (0.5, 2)):
        same = honest(response, bits, epsilon=epsilon)
        monkeypatch.setattr(lt, "check_privacy", lambda *a, verdict=same, **k: verdict)
        problems: list[str] = []
        assert list(doctor._self_test(problems))
        assert len(problems) >= wrong


@pytest.mark.slow
def test_the_doctor_notices_that_processes_cannot_be_used(capsys, monkeypatch):
    def refused(workers):
        raise OSError("no semaphores here")

    monkeypatch.setattr("liptest.cli.workers.pool", refused)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "FAILED   OSError: no semaphores here" in out
    assert "--workers 1 needs none" in out


# completion


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shell", "mark"), [("zsh", "#compdef liptest"), ("fish", "complete"), ("powershell", "Regi")]
)
def test_completion_scripts(capsys, shell, mark):
    assert main(["completion", shell]) == 0
    assert mark in capsys.readouterr().out


@pytest.mark.slow
def test_bash_completes_commands_options_and_values(tmp_path, capsys):
    bash = shutil.which("bash")
    assert bash is not None
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "liptest.bash"
    script.write_text(capsys.readouterr().out)
    test = f"""
source {script}
try() {{
  COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); COMP_LINE="$*"; COMP_POINT=${{#COMP_LINE}}
  COMPREPLY=(); _liptest liptest "${{COMP_WORDS[COMP_CWORD]}}"; echo "${{COMPREPLY[*]}}"
}}
try liptest che
try liptest init --eps
try liptest check --domain ""
"""
    done = subprocess.run([bash, "-c", test], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "check",
        "--epsilon",
        "hypercube hypergrid recordgrid answergrid answers table",
    ]


# errors that suggest the fix


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["chekc"], 'Did you mean "check"'),
        (["check", "vendor.py:plain", "--epsilom", "1"], "Did you mean --epsilon"),
        (["check", "vendor.py:coumt", "--epsilon", "1"], "did you mean 'count'"),
        (["check", "--domain", "hypercubes"], 'Did you mean "hypercube"'),
        (["init"], "MECHANISM is missing"),
        (["completion", "bsh"], 'Did you mean "bash"'),
    ],
)
def test_errors_suggest_the_fix(folder, capsys, arguments, words):
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert words in err
    assert len(messages(err)) == 1
