"""What an installed package offers is found by its name, keeps its contract and runs a check."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import liptest as lt
from liptest.cli import main
from liptest.lipschitz.testers import known_testers, named_tester
from liptest.runs.extensions import find_offered
from liptest.statistics.named import find_named_statistic
from liptest.testing import check_statistic, check_tester

EXTENDING = Path(__file__).parents[2] / "docs" / "extending.md"
POINTS = """\
[liptest.testers]
LighterEdges = theirs.testers:LighterEdges
AnotherName = theirs.testers:LighterEdges
Nothing = theirs.testers:lighter
VarianceEdges = theirs.testers:LighterEdges
Gone = theirs.nowhere:Gone

[liptest.statistics]
LimitedCount = theirs.statistics:LimitedCount
upto3 = theirs.statistics:UP_TO_THREE
word = theirs.statistics:word

[liptest.adapters]
theirs = theirs.adapters:adapt
"""
ADAPTERS = """\
import liptest as lt

class Response:
    def __init__(self, truth):
        self.truth = truth

def adapt(value, *, domain=None):
    return lt.mechanism(lambda data, rng: int(data[0]) ^ int(rng.random() >= value.truth))

SPUN = Response(0.75)
"""
MINE = """\
import liptest as lt

def is_many(count, rng):
    return int(count >= 2) ^ int(rng.random() < 0.25)

@lt.mechanism(outputs=[0, 1])
def is_first(data, rng):
    return int(data[0]) ^ int(rng.random() < 0.25)

def first(x):
    return 2.0 * x[:, 0]
"""


def block(name: str) -> str:
    """The block of docs/extending.md below the name of a file."""
    after = EXTENDING.read_text(encoding="utf-8").split(f"`ours/{name}`:\n\n```python\n")[1]
    return after.split("\n```\n")[0] + "\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with the tester and the statistic of the documentation, as if installed."""
    theirs = tmp_path / "site" / "theirs"
    theirs.mkdir(parents=True)
    own = "\n\nUP_TO_THREE = LimitedCount(3)\n\n\ndef word():\n    return 'count'\n"
    (theirs / "__init__.py").touch()
    (theirs / "testers.py").write_text(block("testers.py"))
    (theirs / "statistics.py").write_text(block("statistics.py") + own)
    (theirs / "adapters.py").write_text(ADAPTERS)
    information = tmp_path / "site" / "theirs-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(tmp_path / "site")
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    importlib.invalidate_caches()
    find_offered.cache_clear()
    yield tmp_path
    find_offered.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "theirs"]:
        del sys.modules[name]


@pytest.mark.slow
def test_a_tester_is_found_and_keeps_the_contract(package: Path) -> None:
    tester = named_tester("LighterEdges")
    assert tester is not None
    assert "LighterEdges" in known_testers()
    law = lt.ProductDistribution.bernoulli([0.1, 0.5, 0.3])
    check_tester(tester, distributions=[law], seeds=2)
    task: dict[str, Any] = {"proximity": 0.1, "failure_probability": 1e-6, "seed": 1}
    by_name = lt.check_lipschitz(lambda x: 2.0 * x[:, 1], law, tester="LighterEdges", **task)
    assert by_name.decision == "REJECT"
    assert "LighterEdges" in str(by_name)


@pytest.mark.slow
def test_a_tester_from_the_command_line(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--dimension", "4", "--proximity", "0.1", "--tester", "LighterEdges", "--seed", "1"]
    assert main(["lipschitz", "mine.py:first", *words]) == 1
    assert "LighterEdges" in capsys.readouterr().out
    data = ["--records", "3", "--probabilities", "0.3", "--exception-mass", "0.05", "--seed", "1"]
    claim = ["--epsilon", "1.1", "--method", "LighterEdges", *data, "--json", "found.json"]
    assert main(["check", "mine.py:is_first", *claim]) == 0
    assert json.loads(Path("found.json").read_text())["verdict"]["method"] == "LighterEdges"
    assert main(["verify", "found.json", "mine.py:is_first", "--probabilities", "0.3"]) == 0
    assert "repeated from its seed" in capsys.readouterr().out


def test_names_of_testers(package: Path) -> None:
    assert type(named_tester("VarianceEdges")) is lt.testers.VarianceEdges  # ours stays ours
    assert named_tester("unheard") is None
    for name in ("AnotherName", "Nothing"):
        with pytest.raises(lt.errors.InputError, match="not a tester of that name"):
            named_tester(name)
    with pytest.raises(lt.errors.InputError, match=r"Gone.*cannot be loaded: ModuleNotFound"):
        named_tester("Gone")
    with pytest.raises(lt.errors.InputError, match="LighterEdges"):
        lt.check_privacy(MINE, lt.Hypercube(2), epsilon=1, method="unheard")


def test_a_statistic_is_found_and_keeps_the_contract(package: Path) -> None:
    for name in ("LimitedCount(3)", "upto3", "Count", "Histogram(2)", "OrderStatistic(2)"):
        domain = lt.RecordGrid([2] * 5) if name[:1] in "HO" else lt.Hypercube(5)
        check_statistic(find_named_statistic(name), domain)


@pytest.mark.parametrize("name", ["unheard", "LimitedCount", "upto3(2)", "word", "Count(", "", "1"])
def test_what_is_no_statistic(package: Path, name: str) -> None:
    with pytest.raises(lt.errors.InputError, match=r"statistic="):
        find_named_statistic(name)


@pytest.mark.slow
def test_a_statistic_from_the_command_line(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--epsilon", "1.1", "--records", "500", "--statistic", "LimitedCount(3)"]
    assert main(["check", "mine.py:is_many", *words, "--json", "found.json"]) == 0
    said = capsys.readouterr().out
    assert "Compared all 3 neighbouring pairs (4 output distributions)" in said
    assert "conditional on the declared edges" in said
    with_it = ["mine.py:is_many", "--statistic", "LimitedCount(3)"]
    assert main(["verify", "found.json", *with_it]) == 0
    assert main(["verify", "found.json", "mine.py:is_many"]) == 1
    settings = '[[check]]\nmechanism = "mine.py:is_many"\nepsilon = 1.1\nstatistic = "upto3"\n'
    Path("liptest.toml").write_text(f'[domain]\nkind = "hypercube"\ndimension = 500\n{settings}')
    assert main(["check"]) == 0
    assert main(["check", "theirs.adapters:SPUN", *words]) == 2
    assert "is not a plain function" in capsys.readouterr().err


@pytest.mark.slow
def test_an_adapter_from_the_command_line(package: Path) -> None:
    object_of_theirs = ["check", "theirs.adapters:SPUN", "--records", "1", "--epsilon"]
    assert main([*object_of_theirs, "1.1"]) == 0
    assert main([*object_of_theirs, "1.09"]) == 1
