"""Objects of OpenDP say their own domain, where the command line says nothing of the data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import liptest as lt
from liptest.cli import main
from liptest.cli.own_domain import find_options, words_for_options

pytest.importorskip("opendp")

OBJECTS = """\
import opendp.prelude as dp

dp.enable_features("contrib")
answer = dp.m.make_randomized_response_bool(0.75)


def flips(data, rng):
    return int(data[0]) ^ int(rng.random() < 0.25)


of_mine = lambda data, rng: flips(data, rng)
"""


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether objects draw from their law is asked in the tests of their adapter."""
    monkeypatch.setitem(lt.adapters.opendp.__kwdefaults__, "draws", 1000)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("objects.py").write_text(OBJECTS)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "code"), [("log(3)", 0), ("1", 1)])
def test_its_data_are_its_own(
    epsilon: str, code: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = ["check", "objects.py:answer", "--epsilon", epsilon, "--json", "c.json"]
    assert main([*typed, "--in-process"]) == code
    said = " ".join(capsys.readouterr().out.split())
    assert "(The data are what the object itself says, the same as --records 1.)" in said
    assert json.loads(Path("c.json").read_text())["domain"]["dimension"] == 1
    assert main(["check", "objects.py:answer", "--epsilon", epsilon, "--records", "1"]) == code


@pytest.mark.slow
def test_a_process_that_is_confined_says_it_too(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "objects.py:answer", "--epsilon", "log(3)"]) == 0
    assert "the same as --records 1.)" in " ".join(capsys.readouterr().out.split())
    assert main(["init", "objects.py:answer", "--epsilon", "log(3)"]) == 0
    assert "dimension = 1 " in Path("liptest.toml").read_text()
    assert main(["check", "--in-process"]) == 0


@pytest.mark.slow
def test_a_confined_check_loads_an_object_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("objects.py").write_text(f"{OBJECTS}\nimport sys\n\nprint('loaded', file=sys.stderr)\n")
    typed = ["check", "objects.py:answer", "--epsilon", "log(3)", "--ledger", "ledger.db"]
    assert main(typed) == 0
    assert capsys.readouterr().err.count("loaded") == 1
    [attempt] = lt.Ledger("ledger.db").attempts()
    assert attempt.decision == "YES"
    # Laws of another process are asked for by domain, which another process has said.
    assert main([*typed, "--sealed"]) == 0
    assert "the same as --records 1.)" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
@pytest.mark.parametrize("place", [[], ["--in-process"]])
def test_who_releases_says_what_the_data_are(
    place: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a vendor's word on neighbours nothing private depends."""
    Path("private.csv").write_text("click\n1\n")
    typed = ["release", "objects.py:answer", "--epsilon", "log(3)", *place]
    typed += ["--private", "private.csv", "--private-column", "click"]
    assert main(typed) == 2
    said = capsys.readouterr().err
    assert "the object says --records 1: give that if it is true of the private data" in said
    assert said.endswith("Example: liptest init objects.py:answer --epsilon 1\n")
    assert main([*typed, "--records", "1"]) == 0
    assert "RELEASED" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["flips", "of_mine"])
def test_a_function_has_none(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"objects.py:{name}", "--epsilon", "2", "--in-process"]) == 2
    assert "domain.records is missing" in capsys.readouterr().err


@pytest.mark.slow
def test_the_example_of_an_error_is_one_that_works(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = ["check", "objects.py:answer", "--epsilon", "2", "--records", "9", "--in-process"]
    assert main(typed) == 2
    said = capsys.readouterr().err
    assert "leave that out, or give --records 1" in said
    assert said.endswith("Example: liptest check objects.py:answer --epsilon 1\n")


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        (lt.Hypercube(7), "--records 7"),
        (lt.RecordGrid([4] * 9), "--records 9 --values 4"),
        (lt.RecordGrid([4, 2]), "--domain recordgrid --sizes 4,2"),
        (lt.Hypergrid([3, 2]), "--domain hypergrid --sizes 3,2"),
        (lt.AnswerGrid([3, 3], relation="all"), "--domain answergrid --relation all --sizes 3,3"),
        (lt.AnswerGrid([3, 3], relation="one"), "--domain answergrid --relation one --sizes 3,3"),
    ],
)
def test_options_say_the_same_domain(domain: lt.data.domains.Domain, words: str) -> None:
    said = find_options(domain)
    assert said is not None
    assert said.build() == domain
    assert words_for_options(domain) == words


@pytest.mark.slow
def test_in_python_the_example_names_its_domain(folder: Path) -> None:
    objects: dict[str, object] = {}
    exec(OBJECTS, objects)
    example = r"For example: lt\.check_privacy\(measurement, lt\.Hypercube\(1\), epsilon=1\.1\)$"
    with pytest.raises(TypeError, match=example):
        lt.check_privacy(objects["answer"], epsilon=1.1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"check_privacy\(count, lt\.Hypercube\(5000\), epsilon=1"):
        lt.check_privacy(objects["flips"], epsilon=1.1)  # type: ignore[call-arg]
    assert lt.check_privacy(objects["answer"], lt.Hypercube(1), epsilon=1.1).decision == "YES"
