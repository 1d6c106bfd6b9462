"""Imports in runs that are given up: no module stays that is half made."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import BudgetError

DATA = np.array([1])
RIGHT = {0: 0.25, 1: 0.75}
# Installed. Gives up the run that is under way at some step, as a timer does.
GIVING_UP = """
import signal
from liptest.enumerate.watch import run_watch
steps, last = 0, 0
def step():
    global steps
    steps += 1
    if steps == last:
        [watch] = run_watch._watches
        watch.is_hurried = True
        signal.raise_signal(watch.timer.number)
"""
OUTSIDE = """
from giving_up import step
step()
from slowly_made import inside
step()
LAST = 1
"""
INSIDE = """
from giving_up import step
step()
try:
    step()
    FIRST = 1
except BaseException:
    FIRST = 0
step()
"""
STEPS = 5


@pytest.fixture
def giving_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, and a folder of a package that calls it."""
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "giving_up.py").write_text(GIVING_UP)
    monkeypatch.syspath_prepend(installed)
    import giving_up  # type: ignore[import-not-found]

    yield giving_up
    for name in ("giving_up", "slowly_made", "slowly_made.inside"):
        sys.modules.pop(name, None)


def make_package(folder: Path) -> None:
    package = folder / "slowly_made"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(OUTSIDE)
    (package / "inside.py").write_text(INSIDE)


def noisy(data: Any, rng: Any) -> int:
    import slowly_made.inside  # type: ignore[import-not-found]

    is_whole = slowly_made.LAST + slowly_made.inside.FIRST == 2
    return (int(rng.random() < 0.25) ^ int(data[0])) + 2 * (not is_whole)


@pytest.mark.parametrize("last", range(1, STEPS + 1))
def test_a_module_of_the_program_is_imported_anew(
    last: int, giving_up: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_package(tmp_path / "own")
    monkeypatch.syspath_prepend(tmp_path / "own")
    giving_up.last = last
    with suppress(BudgetError):  # or analysed in another way
        assert dict(lt.mechanism(noisy).law(DATA)) == RIGHT
    assert giving_up.steps >= last
    assert dict(lt.mechanism(noisy).law(DATA)) == RIGHT
    assert sys.modules["slowly_made"].LAST + sys.modules["slowly_made.inside"].FIRST == 2


@pytest.mark.slow
def test_an_installed_package_is_waited_for(giving_up: Any, tmp_path: Path) -> None:
    make_package(tmp_path / "site-packages")
    for giving_up.last in range(1, STEPS + 1):
        giving_up.steps = 0
        assert dict(lt.mechanism(noisy).law(DATA)) == RIGHT
        assert giving_up.steps == STEPS
        del sys.modules["slowly_made"], sys.modules["slowly_made.inside"]
