"""What strangers type first and where they stumble: each is told the way out, or just works."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

import liptest as lt
from liptest.cli import main
from liptest.cli.config import read_config
from liptest.cli.data_options import FORMER_KINDS, DomainOptions
from liptest.evidence.certificate import document_digest, document_problems
from liptest.evidence.check_witness import check_files
from liptest.evidence.domain_form import DomainForm
from tests.shares import mostly_slow

FILES = {
    "a.py": """
import numpy as np
import liptest

async def waits(data, rng):
    return int(data[0])

class Counter:
    def release(self, data, rng):
        return int(data[0]) ^ int(rng.random() < 0.25)

    @staticmethod
    def flat(data, rng):
        return int(data[0]) ^ int(rng.random() < 0.25)

def flips(data, rng):
    return int(data[0]) ^ int(rng.random() < 0.25)

def swapped(rng, data):
    return 1

def late(data, epsilon, rng=None):
    return 1

def by_name(data, *, rng):
    return 1

def older(people, rng):
    return len(people[people.age > 30])

def missing(people, rng):
    return int(people["Age"].sum())

def forgot(data, rng):
    int(data[0]) ^ int(rng.random() < 0.25)

def one_number(people, rng):
    return 1

def scaled(data, scale):
    return int(data.sum()) / scale

def raises(data, rng):
    raise ValueError("never")

def many(data, n, rng):
    return rng.integers(2, size=n)

def prints(data, rng):
    print(int(data[0]) ^ int(rng.random() < 0.25))

def yields(data, rng):
    yield 1

counter = Counter()
""",
    "library.py": """
import liptest
from liptest.adapters.shared import Terms, attach

def made(domain):
    statistic = liptest.statistics.WeightedSum([1] * domain.dimension)
    mechanism = liptest.ShiftMechanism(statistic, liptest.DiscreteLaplace(1))
    return attach(mechanism, Terms(domain, 1.0))

bits = made(liptest.Hypercube(4))
digits = made(liptest.RecordGrid([3] * 4))
counts = made(liptest.Hypergrid([5, 5]))
scores = made(liptest.AnswerGrid([5, 5], relation="all"))
""",
    "needs.py": "import numpy\nimport not_here\n",
    "runs.py": "import sys\nname = sys.argv[1000]\n",
    "folder/inner.csv": "age\n3\n",
    "no_header.csv": "3,north\n",
    "people.csv": "age,region\n3,north\n",
    "book.xlsx": "PK",
    "side.py": "import sys\ndef flips(data, rng):\n    return 1\nsys.exit(3)\n",
    "box/__init__.py": "",
    "box/const.py": "CHANCE = 0.25\n",
    "box/inner.py": "from .const import CHANCE\n\ndef flips(data, rng):\n"
    "    return int(data[0]) ^ int(rng.random() < CHANCE)\n",
    "book.ipynb": "{}",
    "semicolons.csv": "age;region\n3;north\n",
    "header.csv": "age,region\n",
    "real.csv": "income\n1.5\n2e3\n",
    "ragged.csv": "age,region\n3,north\n4\n",
    "dirty.csv": "age,region\n3,north\nold,south\n",
    "unfilled.toml": "[[check]]\nmechanism = 'a.py:flips'\n",
    "windows.csv": "\ufeffAge Years,region\r\n31,north\r\n",
    "windows.py": "def flips(data, rng):\r\n    return int(data[0]) ^ int(rng.random() < 0.25)\r\n",
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])


STUMBLES = {
    "check a.py:waits --epsilon 2 --records 3": "async def returns a coroutine; write def",
    "check a.py:Counter --epsilon 2 --records 3": "Counter is a class; make an object of it",
    "check a.py:Counter.release --epsilon 2 --records 3": "it is a method of a class",
    "check a.py:swapped --epsilon 2 --records 3": "here rng is first; write (data, rng)",
    "check a.py:late --epsilon 2 --records 3": "here rng comes later; write (data, rng)",
    "check a.py:by_name --epsilon 2 --records 3": "here rng is passed by its name alone",
    "check a.py:older --epsilon 2 --records 3": "a data frame is given where its columns are said",
    "check a.py:scaled --epsilon 2 --records 3": "Its second parameter is the random generator",
    "check library.py:bits --epsilon 2 --records 3": "give --records 4\n",
    "check library.py:digits --epsilon 2 --records 3": "give --records 4 --values 3\n",
    "check library.py:counts --epsilon 2 --records 3": "give --domain hypergrid --sizes 5,5\n",
    "check library.py:scores --epsilon 2 --records 3": (
        "give --domain answergrid --relation all --sizes 5,5\n"
    ),
    "check a.py --epsilon 2 --records 3": "write a.py:flips; it has: flips, swapped",
    "check a.py flips --epsilon 2": "'flips' is too much",
    "check a.py::flips --epsilon 2 --records 3": "has one colon too many; write a.py:flips",
    "a.py:flips --epsilon 2 --records 3": "Example: liptest check a.py:flips --epsilon 1",
    "check a.py flips --epsilon 2 --records 3": "write a.py:flips",
    "check a.flips --epsilon 2 --records 3": "write a.py:flips",
    "check a.py": "write a.py:flips; it has: flips, swapped",
    "check none.py:flips --epsilon 2 --records 3": "none.py: there is no such file",
    "check none.py --epsilon 2": "there is no such file here",
    "check folder --epsilon 2 --records 3": "write a file in this folder, file.py:name",
    "check a.py:counter.relase --epsilon 2 --records 3": "did you mean 'release'?",
    "check a.py:flips epsilon=1 records=3": "write --epsilon 1 --records 3",
    "check a.py:flips people.csv --epsilon 1": "a public table is named by --table people.csv",
    "check a.py:flips --epsilon 1 --data people.csv": "Did you mean --table?",
    "check a.py:flips --eps 1 --records 3": "Did you mean --epsilon?",
    "check a.py:flips -e 1 --records 3": "Did you mean --epsilon?",
    "check a.py:flips --epsilon": "--epsilon needs a value after it",
    "check a.py:flips --epsilon 1,5 --records 3": "epsilon='1,5' must be a number such as 1.0, or "
    "log(3); write 1.5",
    "check a.py:flips --epsilon 50% --records 3": "; write 0.5",
    "check a.py:flips --epsilon 1 --delta 1,5e-6 --records 3": "--delta='1,5e-6' must be a number; "
    "write 1.5e-06",
    "check a.py:flips --epsilon 1 --records 10,000": "must be a whole number; write 10000",
    "check a.py:flips --epsilon 1 --records 1e4": "must be a whole number; write 10000",
    "check a.py:flips --epsilon 1 --records 10000000000000": "is more than 100,000,000",
    "check a.py:flips --epsilon 1 --records 1000000000 --values 8": "is more than 100,000,000",
    "a.py --epsilon 1": "'a.py' is not a command; write liptest check a.py",
    "-v": "Unknown option: -v. Did you mean --version?",
    "check needs.py:flips --epsilon 1 --records 3": "(needs.py:2: import not_here); install it",
    "check runs.py:flips --epsilon 1 --records 3": "(runs.py:2: name = sys.argv[1000]); put what "
    "runs a program below if __name__ == '__main__':",
    "check a.py:older --epsilon 2 --table people.csv": "people.csv: say which of its columns, it "
    "has: age, region",
    "check a.py:older --epsilon 2 --table people.csv --columns age:0-9": "age='0-9' must be a ran",
    "check a.py:older --epsilon 2 --table people.csv --columns age:int": "age='int' must be a ran",
    "check a.py:older --epsilon 2 --table people.csv --columns Age:0..9": "did you mean 'age'?",
    "check a.py:older --epsilon 2 --table no_header.csv --columns age:0..9": "its first line must "
    "hold the names of the columns",
    "check a.py:older --epsilon 2 --table book.xlsx --columns age:0..9": "save the sheet as CSV",
    "check a.py:older --epsilon 2 --table folder --columns age:0..9": "it is a folder; name a file",
    "check a.py:missing --epsilon 2 --table people.csv --columns age:0..9": "Its frame has the "
    "columns age.",
    "check side.py:flips --epsilon 2 --records 3": "below if __name__ == '__main__'",
    "check box/inner.py:flips --epsilon 2 --records 3": "name it box.inner:.. in the folder",
    "check book.ipynb:flips --epsilon 2 --records 3": "put the function into a .py file",
    "check a.py:older --epsilon 2 --table semicolons.csv --columns age:0..9": "save it with commas",
    "check a.py:older --epsilon 2 --table header.csv --columns age:0..9": "no rows, only a header",
    "check a.py:older --epsilon 2 --table real.csv --columns income:0..9": "income:real:0..9e4",
    "release a.py:flips --epsilon 2 --records 3 --private real.csv --private-column x": "1 columns",
    "check a.py:older --epsilon 2 --table ragged.csv --columns age:0..9,region": "line 3 has 1 "
    "cell, and there are 2 names",
    "check a.py:older --epsilon 2 --table dirty.csv --columns age:0..9": "column 'age' holds",
    "check --config unfilled.toml": "check.0.epsilon is missing; write epsilon = 1.0",
    "check people.csv --epsilon 2 --records 3": "it is a table, not code; name the function first, "
    "mine.py:count, and a public table by --table people.csv",
    "check many --epsilon 2 --records 3": "'many' does not name an object; write a.py:many\n",
    "check flips --epsilon 2 --records 3": "write file.py:name or package.module:name",
    "version": "Unknown command 'version'; write liptest --version",
    "init a.py:older --table people.csv": "Example: liptest check a.py:older --epsilon 1 --table "
    "people.csv --columns 'age:0..120,region'",
    "init a.py:older --columns age:0..9": "Example: liptest check a.py:older --epsilon 1 --table ",
    "check a.py:missing --epsilon 1 --table people.csv --columns age:0..9": "at a.py:32: return "
    'int(people["Age"].sum())',
    "check people.csv:flips --epsilon 2 --records 3": "it is not a Python file; name the .py file",
    "check a.py:counter --epsilon 2 --records 3": "mechanism=Counter(..) is not a mechanism",
    "check a.py:raises --epsilon 2 --records 3": "with liptest law a.py:raises --dataset 0,1,1\n",
    "release a.py:flips --epsilon 2 --records 3": "--private is missing",
    "init": "MECHANISM is missing",
    "samples a.py:flips --epsilon 1 --records 3 --uniform": "give vectorised=False (--scalar) for "
    "(dataset, rng), one output a call\nExample: liptest samples a.py:flips --scalar --epsilon 1",
    "samples a.py:many --scalar --epsilon 1 --records 3 --uniform": "leave vectorised=False",
}


@pytest.mark.parametrize("typed", mostly_slow(STUMBLES, 4))
def test_the_way_out_is_told(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(typed)) in (2, 4)
    said = capsys.readouterr().err
    assert STUMBLES[typed] in said
    # What is said to work is not what was refused just now.
    refused = ("waits", "Counter", "swapped", "by_name", "counter")
    assert not [name for name in refused if f"Example: liptest check a.py:{name} " in said]


def test_help_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    for typed, shown in ((["help"], "Usage: liptest COMMAND"), (["help", "law"], "liptest law")):
        assert main(typed) == 0
        assert shown in capsys.readouterr().out


@pytest.mark.slow
def test_an_example_does_not_repeat_a_method_that_is_not_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["check", "a.py:counter.relase", "--epsilon", "2", "--records", "3"])
    assert "Example: liptest check mine.py:count " in capsys.readouterr().err
    main(["check", "a.py:counter.release", "--epsilon", "no", "--records", "3"])
    assert "Example: liptest check a.py:counter.release " in capsys.readouterr().err


@pytest.mark.slow
def test_columns_may_have_spaces_between_them(capsys: pytest.CaptureFixture[str]) -> None:
    columns = "age: 0..9, region: north|south"
    given = ["--epsilon", "1", "--table", "people.csv", "--columns", columns]
    assert main(["check", "a.py:one_number", *given]) == 0
    assert "columns age, region" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["a.py:counter.release", "a.py:Counter.flat", "box.inner:flips", "a:flips", "windows.py:flips"],
)
def test_other_forms_just_work(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", name, "--epsilon", "2", "--records", "3"]) == 0
    assert "YES by proof" in capsys.readouterr().out


def test_a_module_that_is_installed_is_not_shadowed(capsys: pytest.CaptureFixture[str]) -> None:
    Path("numpy.py").write_text("def flips(data, rng):\n    return 1\n")
    assert main(["check", "numpy:flips", "--epsilon", "2", "--records", "3"]) == 2
    assert "has no object 'flips'" in capsys.readouterr().err


@pytest.mark.slow
def test_a_mark_of_a_spreadsheet_and_a_space_in_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    Path("frame.py").write_text(
        "def old(people, rng):\n"
        "    return float((people['Age Years'] > 30).sum() + rng.laplace(0, 1.0))\n"
    )
    data = ["--table", "windows.csv", "--columns", "Age Years:0..120", "--floats", "ideal"]
    assert main(["check", "frame.py:old", "--epsilon", "1", *data]) == 0
    assert "YES by proof" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:prints. while it was analysed")
@pytest.mark.filterwarnings("default")
def test_who_forgets_return_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.warns(UserWarning, match="a:forgot returns no value: every output is None"):
        assert main(["check", "a.py:forgot", "--epsilon", "2", "--records", "3"]) == 0
    with pytest.warns(UserWarning, match="is None; write return in place of print"):
        main(["check", "a.py:prints", "--epsilon", "2", "--records", "3"])


@pytest.mark.slow
def test_what_yields_is_not_told_to_return_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "a.py:yields", "--epsilon", "2", "--records", "3"]) == 2
    said = capsys.readouterr().err
    assert "must return its output, not yield it" in said
    assert "returns no value" not in said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("domain = 50", "check.0.domain: it is a table of keys, such as domain = {records = 5000}"),
        ("records = 50", "check.0.records: not here, but in domain = {records = ..}"),
        ("probabilities = 0.5", "not here, but in distribution = {probabilities = ..}"),
        ("ledger = 'x.db'", "check.0.ledger: not here, but above the first table"),
    ],
)
def test_a_key_at_the_wrong_place_is_sent_home(line: str, said: str) -> None:
    file = Path("liptest.toml")
    file.write_text(f'[[check]]\nmechanism = "a.py:flips"\nepsilon = 2\n{line}\n')
    with pytest.raises(lt.errors.ConfigError) as caught:
        read_config(file)
    assert said in str(caught.value)


# One name for each kind of domain: that of its class, in small letters.


@pytest.mark.parametrize(
    ("kind", "domain"),
    [
        ("hypercube", lt.Hypercube(2)),
        ("hypergrid", lt.Hypergrid([3, 2])),
        ("recordgrid", lt.RecordGrid([3, 2])),
        ("answergrid", lt.AnswerGrid([3, 2], relation="all")),
        ("answers", lt.Answers(2, relation="all")),
    ],
)
def test_the_command_line_files_and_certificates_say_the_name_of_the_class(
    kind: str, domain: lt.Hypercube
) -> None:
    sizes = {"sizes": [3, 2]} if kind.endswith("grid") else {"dimension": 2}
    moves = {"relation": "all"} if kind.startswith("answer") else {}
    for said in (kind, type(domain).__name__ if "answer" not in kind else kind.title()):
        built = lt_domain(said, sizes, moves)
        assert built == domain
    made = DomainForm.of(domain).kind
    assert made.partition(",")[0] == kind


def lt_domain(kind: str, sizes: dict[str, object], moves: dict[str, str]) -> object:
    """The domain that a file says."""
    lines = [
        f"{key} = {json.dumps(value)}" for key, value in ({"kind": kind} | sizes | moves).items()
    ]
    Path("domain.toml").write_text(
        "[domain]\n" + "\n".join(lines) + '\n[[check]]\nmechanism = "a.py:flips"\nepsilon = 1\n'
    )
    read = read_config(Path("domain.toml")).domain
    assert read is not None
    return read.build()


@pytest.mark.slow
@pytest.mark.parametrize("former", FORMER_KINDS)
def test_former_names_are_understood(former: str, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = {"dimension": 2} if former == "cube" else {"sizes": [2, 2]}
    now = DomainOptions(kind=FORMER_KINDS[former], **sizes)  # type: ignore[arg-type]
    assert lt_domain(former, sizes, {}) == now.build()
    data = ["--records", "2"] if former == "cube" else ["--sizes", "2,2"]
    check = ["check", "a.py:flips", "--epsilon", "1", "--domain", former, *data]
    assert main([*check, "--json", "no.json"]) == 1
    document = json.loads(Path("no.json").read_text())
    assert document["domain"]["kind"] == FORMER_KINDS[former]
    document["domain"]["kind"] = former
    document["digest"] = document_digest(document)
    assert document_problems(document) == []
    assert lt.Certificate.from_json(json.dumps(document)).domain == now.build()
    Path("before.json").write_text(json.dumps(document))
    assert check_files(["before.json"]) == 0
    capsys.readouterr()
    assert main(["verify", "before.json", "a.py:flips"]) == 0
    assert "HOLDS" in capsys.readouterr().out


def test_answers_with_sizes_are_the_grid() -> None:
    before = DomainOptions(kind="answers", sizes=[3, 2], relation="one").build()
    assert before == lt.AnswerGrid([3, 2], relation="one")
