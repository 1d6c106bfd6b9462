"""Hostile code and ``liptest release``: it runs in a process of its own, which knows no data."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from liptest.cli import main
from liptest.cli.sealed_release import seal_elsewhere
from liptest.data.domains import Hypercube
from liptest.errors import GateError, LiptestError, MechanismError
from liptest.runs import jail

SLOW = pytest.mark.slow  # each of these starts a process or two, which import the package
FAIR = """
import numpy as np
import liptest as lt

def coin(rows):
    return np.log(np.full((len(rows), 2), 0.5))

fair = lt.ClosedForm([0, 1], coin)
"""
HOSTILE = {
    "ends the process at import": "import os\nos._exit(0)\n",
    "writes an answer of its own": (
        "import os\nfor n in range(3, 20):\n    try: os.write(n, b'0' * 15 + b'2{}')\n"
        "    except OSError: pass\nos._exit(0)\n"
    ),
    "prints as if it were released": "print('RELEASED 7')\nraise SystemExit(0)\n",
    "says too much": (
        "import os\nfor n in range(3, 20):\n    try: os.write(n, b'9' * 16)\n"
        "    except OSError: pass\nos._exit(0)\n"
    ),
    "takes all memory": "x = bytearray(1 << 40)\n",
    "looks for the private file": (
        FAIR + "\nprivate = open('private.csv').read()\n"
        "fair = lt.ClosedForm([private], lambda rows: np.zeros((len(rows), 1)))\n"
    ),
    "shows control sequences": (
        FAIR + "\nfair = lt.ClosedForm([chr(27) + '[2J'], lambda rows: np.zeros((len(rows), 1)),\n"
        "                     name=chr(27) + '[2J')\n"
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "private.csv").write_text("click\n1\n0\n1\n")
    (tmp_path / "vendor.py").write_text(FAIR)
    return tmp_path


def release(*more: str) -> int:
    data = ["--dimension", "3", "--probabilities", "0.5", "--private", "private.csv"]
    return main(["release", "vendor.py:fair", "--epsilon", "1", *data, *more])


@pytest.mark.slow
def test_the_code_is_never_imported_here(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = set(sys.modules)
    assert release("--json", "certificate.json") == 0
    out = capsys.readouterr().out
    assert "RELEASED " in out
    assert "no code of the mechanism runs" in " ".join(out.split())
    assert not [name for name in set(sys.modules) - before if "vendor" in name]
    assert "sealed in another process" in json.loads(Path("certificate.json").read_text())["laws"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        name if name == "ends the process at import" else pytest.param(name, marks=SLOW)
        for name in HOSTILE
    ],
)
def test_nothing_is_faked(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (folder / "vendor.py").write_text(HOSTILE[name])
    code = release()
    out, err = capsys.readouterr()
    assert "RELEASED 7" not in out
    assert "\x1b" not in out + err
    assert "1\\n0\\n1" not in out + err or jail.find_bubblewrap() is None
    if name.startswith(("looks", "shows")):
        assert code in (0, 2)  # a jail does not even let it open the file
    else:
        assert code in (2, 4)
        assert "RELEASED" not in out


@pytest.mark.slow
def test_a_plain_child_says_that_it_is_not_confined(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jail, "find_bubblewrap", lambda: None)
    assert release() == 0
    assert "not confined" in " ".join(capsys.readouterr().out.split())


@pytest.mark.skipif(jail.find_bubblewrap() is None, reason="there is no bubblewrap")
def test_in_the_jail_there_is_nothing_to_see(folder: Path) -> None:
    (folder / "vendor.py").write_text(
        FAIR + "\nimport os, socket\nfrom pathlib import Path\nfound = []\n"
        "for name in ('private.csv', 'other.csv'):\n"
        "    try: found += [Path(name).read_text()]\n"
        "    except OSError: pass\n"
        "found += [name for name in os.listdir('.') if name != 'vendor.py']\n"
        "if len([p for p in os.listdir('/proc') if p.isdigit()]) > 3: found.append('processes')\n"
        "for path in ('/home', '/etc/passwd', '/var/lib'):\n"
        "    if os.path.exists(path): found.append(path)\n"
        "for path in ('/usr/there', 'vendor.py', 'here'):\n"
        "    try: Path(path).write_text('x'); found.append('writes ' + path)\n"
        "    except OSError: pass\n"
        "try: socket.create_connection(('127.0.0.1', 22), 1); found.append('network')\n"
        "except OSError: pass\n"
        "found += [key for key in os.environ if 'SECRET' in key]\n"
        "import tempfile\nPath(tempfile.gettempdir(), 'here').write_text('in memory')\n"
        "fair = lt.ClosedForm([repr(found)], lambda rows: np.zeros((len(rows), 1)))\n"
    )
    (folder / "other.csv").write_text("private, too")
    os.environ["A_SECRET"] = "yes"
    try:
        found = seal_elsewhere(
            "vendor.py:fair", Hypercube(3), hidden=[Path("private.csv")], seconds=600
        )
    finally:
        del os.environ["A_SECRET"]
    assert found.sealed.to_dict()["outputs"] == ['"[]"']
    assert not (folder / "here").exists()


@SLOW
@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        ("fair = lambda data, rng: tuple(data)\n", None, ""),
        ("fair = 3\n", LiptestError, "not a mechanism"),
        ("while True: pass\nfair = 3\n", MechanismError, "too long"),
        ("def fair(data, rng):\n    return object()\n", LiptestError, "identity"),
        (FAIR + "from fractions import Fraction\n", None, ""),
    ],
)
def test_what_another_process_says(folder: Path, code: str, error: Any, words: str) -> None:
    (folder / "vendor.py").write_text(code)
    if error is None:
        seal_elsewhere("vendor.py:fair", Hypercube(3), hidden=[], seconds=600)
        return
    limit = 2 if "while True" in code else 600
    with pytest.raises(error, match=words):
        seal_elsewhere("vendor.py:fair", Hypercube(3), hidden=[], seconds=limit)


@SLOW
def test_what_cannot_be_sealed_is_refused_with_a_word_on_trust(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "def fair(data, rng):\n    return int(str(list(data))[1]) ^ int(rng.random() < 0.5)\n"
    (folder / "vendor.py").write_text(code)
    arguments = ["--dimension", "40", "--probabilities", "0.5", "--private", "private.csv"]
    assert main(["release", "vendor.py:fair", "--epsilon", "1", *arguments]) == 1
    out, err = capsys.readouterr()
    assert "RELEASED" not in out
    assert "--trust-code" in err


def test_a_release_is_not_made_when_its_certificate_cannot_be_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert release("--json", "/not/there") == 2
    assert "RELEASED" not in capsys.readouterr().out


@SLOW
def test_a_helper_beside_the_code_is_there(folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "__init__.py").write_text("")
    (folder / "inner" / "shares.py").write_text("SHARE = 0.25\n")
    (folder / "vendor.py").write_text(
        "from inner.shares import SHARE\n"
        "def fair(data, rng):\n    return int(rng.random() < SHARE)\n"
    )
    found = seal_elsewhere("vendor.py:fair", Hypercube(3), hidden=[], seconds=600)
    assert found.sealed.to_dict()["laws"] == [[[0, "1"], [1, "3"]]]


def test_a_key_needs_a_ledger(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert release("--key", "monday") == 2
    assert "--ledger" in capsys.readouterr().err


@SLOW
def test_a_key_gives_a_retry_the_stored_answer(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    released = []
    for _ in range(2):
        assert release("--ledger", "ledger.db", "--key", "monday") == 0
        lines = capsys.readouterr().out.splitlines()
        released += [line for line in lines if line.startswith("RELEASED")]
    assert released[0] == released[1]
    with sqlite3.connect("ledger.db") as connection:
        kinds = [kind for (kind,) in connection.execute("SELECT kind FROM entries")]
    assert kinds.count("release") == 1


@pytest.mark.slow
def test_an_answer_of_another_domain_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = seal_elsewhere("vendor.py:fair", Hypercube(3), hidden=[], seconds=600)
    document = whole.sealed.to_dict()

    def lies(*arguments: Any, **options: Any) -> jail.ChildReply:
        code = {"hash": "0" * 64, "files": {}, "packages": {}, "parameters": "0" * 64}
        told = {"sealed": document, "label": "x", "source": "y", "code": code}
        return jail.ChildReply(json.dumps(told).encode(), "")

    monkeypatch.setattr("liptest.cli.sealed_release.run_confined", lies)
    assert seal_elsewhere("vendor.py:fair", Hypercube(3), hidden=[], seconds=1).label == "x"
    with pytest.raises(MechanismError, match="another domain"):
        seal_elsewhere("vendor.py:fair", Hypercube(4), hidden=[], seconds=1)
    for change in (
        {"rows": [0] * 7},
        {"rows": [-1] * 8},
        {"rows": [9] * 8},
        {"laws": [[[0, "0"]]]},
        {"laws": [[[0, "-1"], [1, "2"]]]},
        {"outputs": ["0", "0"]},
        {"outputs": ["0", "1.0"]},
        {"version": 2},
    ):
        document = whole.sealed.to_dict() | change
        with pytest.raises((MechanismError, GateError)):
            seal_elsewhere("vendor.py:fair", Hypercube(3), hidden=[], seconds=1)


@SLOW
def test_check_sealed_compares_here(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leak = FAIR + "\ndef leak(data, rng):\n    return int(data[0])\n"
    (folder / "vendor.py").write_text(leak)
    data = ["--dimension", "3", "--sealed", "--epsilon", "1"]
    before = set(sys.modules)
    assert main(["check", "vendor.py:fair", *data]) == 0
    assert "sealed in another process" in " ".join(capsys.readouterr().out.split())
    assert main(["check", "vendor.py:leak", *data, "--json", "no.json"]) == 1
    assert not [name for name in set(sys.modules) - before if "vendor" in name]
    witness = json.loads(Path("no.json").read_text())["verdict"]["witness"]
    assert witness["event"] in ([0], [1])
    shown = ["--mechanism", "vendor.py:leak", "--dimension", "3"]
    assert main(["verify", "no.json", *shown]) == 0
    (folder / "vendor.py").write_text(HOSTILE["ends the process at import"])
    assert main(["check", "vendor.py:fair", *data]) in (2, 4)
    assert "YES" not in capsys.readouterr().out.split("vendor:leak")[-1]
