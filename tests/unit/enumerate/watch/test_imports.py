"""What code imports while it runs: as if it stood at the top, with the generators that it makes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.watch.imports import is_installed
from liptest.errors import NonDeterministicError
from liptest.mechanisms.laws import Raised

LAW = lt.ProductDistribution.uniform(lt.Hypercube(1))
DATA = np.array([1])
# What packages do while they are imported.
ASKING = """
import datetime, json, os, pathlib, random, secrets, subprocess, threading, time, uuid
import numpy as np
from time import time as now
BEGUN, LATER, TODAY = time.time(), now(), datetime.datetime.now()
IN_SECONDS = int(BEGUN) % 60
TOKEN, NUMBER = secrets.token_hex(4), uuid.uuid4()
HOME, CORES, HERE = os.environ.get("HOME"), os.cpu_count(), os.path.exists(__file__)
SETTINGS = json.loads(pathlib.Path(__file__).with_name("settings.json").read_text())
UPTIME = pathlib.Path("/proc/uptime").read_text() if os.path.exists("/proc/uptime") else ""
ORDER = list({"one", "two", "three"})
THREAD = threading.Thread(target=int)
THREAD.start()
THREAD.join()
DRAWN = np.random.default_rng().random() + np.random.random() + random.random()
"""
GENERATORS = """
import random
import numpy as np
RNG = np.random.default_rng()
STATE = np.random.RandomState()
OTHER = random.Random()
SEEDED = np.random.default_rng(42)
SEEDED_STATE = np.random.RandomState(42)
SEEDED_OTHER = random.Random(42)
def noisy(bit, rng=RNG):
    return int(rng.random() < 0.25) ^ bit
def other(bit):
    return int(OTHER.random() < 0.25) ^ bit
def state(bit):
    return int(STATE.random_sample() < 0.25) ^ bit
def seeded(bit):
    return int(SEEDED.random() < 0.25) ^ bit
def seeded_state(bit):
    return int(SEEDED_STATE.random_sample() < 0.25) ^ bit
def seeded_other(bit):
    return int(SEEDED_OTHER.random() < 0.25) ^ bit
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "settings.json").write_text("3")
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of modules of the program."""
    folder = tmp_path / "program"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


def test_an_installed_package_may_ask_what_it_likes_where_it_is_imported(
    packages: Path, own: Path
) -> None:
    (packages / "asking_package.py").write_text(ASKING)
    (own / "own_between.py").write_text("import asking_package\n")

    def noisy(data: Any, rng: Any) -> int:
        import own_between

        return int(rng.random() < 0.25) ^ int(data[0]) ^ (own_between.__name__ == "")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        verdict = lt.check_privacy(lt.mechanism(noisy), LAW, epsilon=1.1)
    assert verdict.decision == "YES"
    assert "given that" not in str(verdict)
    assert sys.modules["asking_package"].IN_SECONDS < 60


def by(chosen: str, module: str) -> Any:
    """A program that imports a module and calls what is chosen of it."""
    space: dict[str, Any] = {"__name__": "a_program"}
    exec(f"def run(data):\n import {module} as one\n return one.{chosen}(int(data[0]))", space)
    return space["run"]


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["packages", "own"])
@pytest.mark.parametrize(
    "chosen", ["noisy", "other", "state", "seeded", "seeded_state", "seeded_other"]
)
def test_generators_of_what_is_imported_are_followed(
    chosen: str, folder: str, request: pytest.FixtureRequest
) -> None:
    name = f"{chosen}_generators_of_{folder}"
    (request.getfixturevalue(folder) / f"{name}.py").write_text(GENERATORS)
    is_seeded = chosen.startswith("seeded")
    for _ in range(2):  # when it is imported, and afterwards
        verdict = lt.check_privacy(lt.mechanism(by(chosen, name)), LAW, epsilon=1.1)
        assert verdict.decision == ("NO" if is_seeded else "YES")
        says = "determined by the constant seed 42" if is_seeded else "taken as freshly seeded"
        assert says in verdict.law_source
        # Nothing of the analysis stays there.
        left = vars(sys.modules[name])
        assert type(left["RNG"]) is np.random.Generator
        assert type(left["STATE"]) is np.random.RandomState
        assert left["noisy"].__defaults__[0] is left["RNG"]
        assert left["RNG"].random() < 1


# In a process of its own: where a name is computed, all modules that are loaded are looked through.
COMPUTED = """
import importlib
import numpy as np
import liptest as lt

def computed(data):
    module = importlib.import_module("_".join(["of", "a", "computed", "name"]))
    return module.noisy(int(data[0]))

assert dict(lt.mechanism(computed).law(np.array([1]))) == {0: 0.25, 1: 0.75}
"""


@pytest.mark.slow
def test_what_is_imported_by_a_computed_name_is_followed(own: Path) -> None:
    (own / "of_a_computed_name.py").write_text(GENERATORS)
    (own / "program.py").write_text(COMPUTED)
    subprocess.run([sys.executable, "program.py"], cwd=own, check=True)


@pytest.mark.parametrize(
    "line",
    [
        "import time; SEEN = time.time()",
        "from time import time_ns as now; SEEN = now()",
        "import datetime; SEEN = datetime.datetime.now().second",
        "import threading; SEEN = threading.Thread(target=int).start()",
        "import os; SEEN = os.system('true')",
        "import held_by_it; SEEN = held_by_it.SEEN",
    ],
)
def test_a_module_of_the_program_may_not_ask_where_it_is_imported(line: str, own: Path) -> None:
    name = "own_that_asks"
    (own / "held_by_it.py").write_text("from time import monotonic\nSEEN = monotonic()\n")
    (own / f"{name}.py").write_text(line + "\n")

    def looks(data: Any) -> int:
        import own_that_asks

        return int(own_that_asks.SEEN or 0) % 2

    for _ in range(2):
        with pytest.raises(NonDeterministicError, match=r"cannot be followed"):
            lt.mechanism(looks).law(DATA)
        assert name not in sys.modules


def test_what_is_not_there_may_be_asked_for_in_each_run() -> None:
    def tries(data: Any, rng: Any) -> int:
        try:
            import nobody_has_this.inner  # noqa: F401
        except ImportError:
            return int(rng.random() < 0.25) ^ int(data[0])
        return 2

    assert dict(lt.mechanism(tries).law(DATA)) == {0: 0.25, 1: 0.75}


def test_a_module_that_is_not_there_is_a_fault_of_the_program() -> None:
    @lt.mechanism
    def needs(data: Any, rng: Any) -> int:
        if rng.random() < 0.25:
            import a_module_that_is_not_there  # noqa: F401

        return int(data[0])

    assert dict(needs.law(DATA)) == {1: 0.75, Raised("ModuleNotFoundError"): 0.25}


def test_a_package_that_cannot_be_imported(packages: Path) -> None:
    (packages / "broken_package.py").write_text("import time\nBEGUN = time.time()\n1 / 0\n")

    def tries(data: Any, rng: Any) -> int:
        try:
            import broken_package
        except ZeroDivisionError:
            return int(rng.random() < 0.25) ^ int(data[0])
        return len(broken_package.__name__)

    assert dict(lt.mechanism(tries).law(DATA)) == {0: 0.25, 1: 0.75}
    assert os.environ["PATH"]


def test_packages_and_modules_of_the_program() -> None:
    assert [is_installed(name) for name in ("ssl", "numpy.linalg", "pytest", "cyclopts")] == [
        True
    ] * 4
    assert not is_installed("tests.unit")


@pytest.mark.slow
def test_threads_that_analyse_leave_the_streams_alone() -> None:
    before = sys.stdin
    threads = [
        threading.Thread(
            target=lambda: lt.check_privacy(
                lt.mechanism(lambda data, rng: int(rng.random() < 0.25) ^ int(data[0])),
                LAW,
                epsilon=1.1,
            )
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sys.stdin is before
