"""``liptest check`` runs code in a jail; what comes out is held against the request."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import liptest as lt
from liptest.cli import main
from liptest.cli.confined_check import begin_late
from liptest.evidence.certificate import document_digest
from liptest.runs import jail
from tests.golden.situations import FILES

SLOW = pytest.mark.slow  # each of these starts a process, which imports the package
ASKED = ["check", "mine.py:flips", "--epsilon", "1.2", "--records", "3"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LIPTEST_IN_PROCESS", raising=False)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the other process answers; it can be changed before the check."""
    assert main([*ASKED, "--in-process", "--json", "honest.json"]) == 0
    certificate = json.loads(Path("honest.json").read_text()) | {"attempts": None}
    certificate["digest"] = document_digest(certificate)
    found: dict[str, Any] = {"certificate": certificate, "file": None, "line": None}
    found["findings"] = None

    def said(*arguments: object, **options: object) -> jail.ChildReply:
        return jail.ChildReply(json.dumps(found).encode(), jail.CONFINED)

    monkeypatch.setattr("liptest.cli.confined_check.run_confined", said)
    return found


@pytest.mark.slow
def test_an_honest_answer_is_shown_with_whose_word_it_is(
    answer: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(ASKED) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "YES by proof" in said
    assert "(Bubblewrap: no network, no other files, no other processes." in said
    assert "what the process that ran this code reports" in said


LIES = {
    "another claim": ("check", "mine.py:flips", "--epsilon", "1.1", "--records", "3"),
    "another domain": ("check", "mine.py:flips", "--epsilon", "1.2", "--records", "4"),
    "another mechanism": ("check", "mine.py:leaks", "--epsilon", "1.2", "--records", "3"),
    "another file": ("check", "his.py:flips", "--epsilon", "1.2", "--records", "3"),
    "another seed": (*ASKED, "--seed", "5"),
    "another distribution": (*ASKED, "--probabilities", "0.1"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", LIES)
def test_a_certificate_of_another_request_decides_nothing(
    answer: dict[str, Any], capsys: pytest.CaptureFixture[str], what: str
) -> None:
    Path("his.py").write_text("")
    capsys.readouterr()
    assert main([*LIES[what]]) == 4
    out, err = capsys.readouterr()
    assert "YES" not in out
    assert "answered another request" in err


@pytest.mark.slow
def test_code_that_is_not_the_code_on_disk(
    answer: dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder / "mine.py").open("a") as file:
        file.write("\n# changed\n")
    assert main(ASKED) == 4
    assert "its files is not the requested one" in capsys.readouterr().err


def changed(answer: dict[str, Any], **verdict: Any) -> None:
    certificate = answer["certificate"]
    certificate["verdict"] |= verdict
    certificate["digest"] = document_digest(certificate)


BENT = {
    "a NO without a pair": {"decision": "NO"},
    "a guarantee that does not follow": {"decision": "INCONCLUSIVE"},
    "control sequences": {"law_source": "declared \x1b[2J\x1b]0;owned\x07"},
    "a fraction of a billion digits": {"largest_loss": "1e999999999"},
    "no number": {"largest_loss": "nan"},
    "a key of its own": {"release": True},
    "nested": {"plan": {"a": [[[[[]]]]]}},
}


@pytest.mark.slow
@pytest.mark.parametrize("what", BENT)
def test_a_bent_certificate_decides_nothing(
    answer: dict[str, Any], capsys: pytest.CaptureFixture[str], what: str
) -> None:
    capsys.readouterr()
    changed(answer, **BENT[what])
    assert main(ASKED) == 4
    out, err = capsys.readouterr()
    assert "YES" not in out
    assert "\x1b" not in out + err
    assert "nothing was decided" in err


SAID = {
    "no certificate": ({"certificate": None}, 4),
    "a release": ({"released": 7}, 4),
    "an error": ({"error": "LawError", "text": "its law \x1b[2J"}, 4),
    "an error of usage": ({"error": "InputError", "text": "no"}, 2),
    "a budget": ({"error": "BudgetError", "text": "more"}, 3),
    "an error that is none": ({"error": "__class__", "text": "x"}, 4),
    "an error without a text": ({"error": 3}, 4),
    "an interruption": ({"interrupted": True}, 130),
    "a fault of ours": ({"internal": "KeyError", "text": "'x'"}, 70),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", SAID)
def test_what_is_no_certificate_is_no_verdict(
    answer: dict[str, Any], capsys: pytest.CaptureFixture[str], what: str
) -> None:
    capsys.readouterr()
    said, code = SAID[what]
    answer.clear()
    answer |= said
    assert main(ASKED) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert "\x1b" not in err


def test_two_places_are_not_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASKED, "--sealed", "--in-process"]) == 2
    assert "give one of them" in capsys.readouterr().err


def test_a_database_is_out_of_reach(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A jail has no network; the code is not started."""
    from liptest.data.distributions import ProductDistribution
    from liptest.data.domains import Hypercube

    law = ProductDistribution.uniform(Hypercube(3))
    monkeypatch.setattr("liptest.cli.check.make_distribution", lambda *_, **__: law)
    words = ["--sql", "postgresql://host/people", "--sql-table", "people", "--column", "click"]
    assert main([*ASKED, *words]) == 2
    assert "reaches no database" in capsys.readouterr().err


# The same commands in this process and in a jail.

NOTE = re.compile(r"\((?:Bubblewrap|Not confined)[:\s].*?--in-process is enough\.\)\n\n", re.DOTALL)
BOTH = (
    "check mine.py:flips --epsilon 'log(3)' --records 3 --seed 1",
    "check mine.py:regions --epsilon 1 --table people.csv --columns age:0..120,region "
    "--floats ideal --seed 1",
    "check mine.py:leaks --epsilon 1 --records 3 --seed 1 --html found --sarif found.sarif",
    "check mine.py:raises --epsilon 1 --records 3",
    "check mine.py:coumt --epsilon 1 --records 5",
    "check mine.py:flips --epsilon 2 --records 3 --probabilities 0.1 --method neighbourhoods "
    "--exception-mass 0.1 --seed 1 --workers 2 --junit found.xml --html found",
    "check",
)


@SLOW
@pytest.mark.parametrize("typed", BOTH)
def test_a_jail_changes_nothing_that_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:

    def said() -> tuple[int, str, str, list[str]]:
        code = main(shlex.split(typed))
        out, err = capsys.readouterr()
        # Progress is told of what takes ten seconds.
        err = re.sub(r"(?m)^mine:\w+: [\d,]+ of .*\n", "", err)
        return code, out, err, [plain(path.read_text()) for path in sorted(folder.glob("found*"))]

    capsys.readouterr()
    monkeypatch.setenv("LIPTEST_IN_PROCESS", "1")
    here = said()
    monkeypatch.setenv("LIPTEST_IN_PROCESS", "0")
    code, out, err, files = said()
    assert bool(NOTE.search(out)) == (code in (0, 1, 3))
    assert (code, NOTE.sub("", out), err, files) == here


def plain(text: str) -> str:
    """Without what differs from run to run: times and digests."""
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z|\b\d+(\.\d+)? (?:s|ms)\b|time=\"[\d.]+\"", "", text)
    text = re.sub(r"sha256:[0-9a-f]{64}", "", text)
    text = re.sub(r'(?m)^.*<th scope="row">seconds</th>.*$', "", text)
    return re.sub(r'"(?:seconds|time)": [\d.e-]+', "", text)


FORGES = """
import sys
child = sys.modules["__main__"]
honest = getattr(child, "check_with_settings", None)
def bent(mechanism, law, settings):
    import liptest as lt
    fair = lt.mechanism(lambda data, rng: int(data[0]) ^ int(rng.random() < 0.25))
    return honest(fair, law, settings)
child.check_with_settings = bent
def flips(data, rng):
    return int(data[0])
"""


@SLOW
def test_what_a_word_is_worth(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Code that replaces the analysis gets the YES that is its word; sealed laws are compared."""
    (folder / "mine.py").write_text(FORGES)
    assert main(ASKED) == 0
    assert "what the process that ran this code reports" in " ".join(
        capsys.readouterr().out.split()
    )
    assert main([*ASKED, "--sealed"]) == 1
    assert "NO" in capsys.readouterr().out


ATTACKS = {
    "ends the process": "import os\nos._exit(0)\n",
    "prints a verdict and ends": (
        "import os\nfor n in (1, 2):\n    os.write(n, b'YES by proof\\n')\nos._exit(0)\n"
    ),
    "answers for the check": (
        "import os\nfor n in range(3, 20):\n    try: os.write(n, b'0' * 15 + b'2{}')\n"
        "    except OSError: pass\nos._exit(0)\n"
    ),
    "replaces the analysis": (
        "import sys\nsys.modules['__main__'].check_with_settings = lambda *a, **o: 'YES'\n"
        "def flips(data, rng):\n    return int(data[0])\n"
    ),
    "writes control sequences": (
        "import sys\nsys.stderr.write('\\x1b[2J\\x1b]0;x\\x07YES\\n')\n"
        "raise ValueError('\\x1b[2J')\n"
    ),
    "reads the ledger": "open('ledger.db').read()\n",
    "reads data": "open('private.csv').read()\n",
    "calls out": "import socket\nsocket.create_connection(('127.0.0.1', 22))\n",
    "starts a program": "import subprocess\nsubprocess.run(['true'])\n",
}


@SLOW
@pytest.mark.parametrize("what", ATTACKS)
def test_hostile_code_gets_no_yes(
    folder: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    (folder / "mine.py").write_text(ATTACKS[what])
    code = main([*ASKED, "--ledger", "ledger.db"])
    out, err = capsys.readouterr()
    assert code in (2, 4, 70)
    assert "YES" not in out
    assert "\x1b" not in out + err
    if what.startswith("reads") and jail.find_bubblewrap():
        assert "add --in-process" in " ".join(err.split())
    capsys.readouterr()
    main(["ledger", "show", "ledger.db"])
    assert "mine.py:flips" in capsys.readouterr().out


@SLOW
def test_modules_beside_the_code_take_no_place(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A json.py of the author's is not what the two processes talk by."""
    for name in ("json", "signal", "tempfile", "numpy"):
        (folder / f"{name}.py").write_text("import os\nos._exit(0)\n")
    assert main([*ASKED]) in (0, 4)


@pytest.mark.slow
def test_modules_in_the_folder_take_no_place_of_packages(tmp_path: Path) -> None:
    """Where ``python -m liptest`` is started in the folder of others' files."""
    for name in ("cyclopts", "numpy", "rich", "json", "pathlib", "dataclasses"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('other code ran')\n")
    command = [sys.executable, "-m", "liptest", "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, lt.__version__), done.stderr


@SLOW
def test_a_plain_child_says_that_it_is_not_confined(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jail, "find_bubblewrap", lambda: None)
    assert main(ASKED) == 0
    assert "(Not confined: a plain process" in " ".join(capsys.readouterr().out.split())


HELD = """
import time
def hold():
    time.sleep({seconds})
"""


@SLOW
def test_interrupted_and_resumed(folder: Path) -> None:
    """Ctrl-C is passed on; what was done is kept here, and the run goes on to the same answer."""
    packages = folder / "site-packages"
    packages.mkdir()
    (packages / "held.py").write_text(HELD.format(seconds=0.001))
    (folder / "slow.py").write_text(
        "from held import hold\ndef flips(data, rng):\n    hold()\n    values = data.tolist()\n"
        "    return (values[0] ^ values[-1]) ^ int(rng.random() < 0.25)\n"
    )
    words = "check slow.py:flips --epsilon 2 --records 12 --probabilities 0.5 --seed 1 "
    words += "--method neighbourhoods --exception-mass 0.05 --checkpoint kept.json --search-laws 0"
    command = [sys.executable, "-m", "liptest", *words.split()]
    paths = [str(packages), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as child:
        kept = Path("kept.json")
        while '"chunks"' not in (kept.read_text() if kept.exists() else ""):
            time.sleep(0.05)
            assert child.poll() is None, child.communicate()
        os.kill(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=300)
    assert child.returncode == 3, out + err
    assert "interrupted" in out
    assert "--resume" in out

    done = subprocess.run(
        [*command, "--resume"], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not kept.exists()
    assert "(Bubblewrap" in done.stdout or "(Not confined" in done.stdout


@pytest.mark.parametrize(("silence", "speaks", "is_told"), [(0.0, False, True), (1e4, True, False)])
def test_silence_is_broken_once(
    silence: float, speaks: bool, is_told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with begin_late(lambda: nullcontext(None), silence=silence) as progress:
        if speaks:
            progress(1, 2)
        waiting = [one for one in threading.enumerate() if isinstance(one, threading.Timer)]
        for thread in waiting:
            thread.join()
    assert ("still at work; Ctrl-C ends the check" in capsys.readouterr().err) == is_told
