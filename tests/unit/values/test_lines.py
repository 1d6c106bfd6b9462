"""Refusals name a line of the program, also where Python's own modules ask in its place."""

from __future__ import annotations

import functools
import importlib
import re
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt


def test_a_line_of_python_itself_is_not_the_programs() -> None:
    def normal(data: Any, rng: Any) -> float:
        return int(data.sum()) + statistics.NormalDist(0, 2.0).cdf(rng.random())

    with pytest.raises(lt.errors.UnsupportedRandomnessError, match=r"\(test_lines\.py:\d+: return"):
        lt.mechanism(normal).law(np.zeros(3, dtype=int))


PACKAGE = """\
import numpy as np


def mean(values, epsilon, rng):
    flat = np.ravel(values)
    return np.mean(flat) + rng.laplace(0, 8 / flat.size / epsilon)
"""


@pytest.mark.slow
def test_of_an_installed_package_the_line_that_calls_it_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "their_means.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(folder))
    their_means = importlib.import_module("their_means")

    def of_mine(data: Any, rng: Any) -> float:
        return float(their_means.mean(data, 1.0, rng))

    domain = lt.RecordGrid([8] * 50)
    told = lt.check_privacy(of_mine, domain, epsilon=1.0, method="alignment").reason
    line = r"test_lines\.py:\d+: return float\(their_means\.mean\(data, 1\.0, rng\)\)"
    assert re.search(rf"\({line}, in their_means\.py:5\)", told or "")
    # Of a function of the package itself there is no other line.
    direct = functools.partial(their_means.mean, epsilon=1.0)
    told = lt.check_privacy(direct, domain, epsilon=1.0, method="alignment").reason
    assert "(their_means.py:5: flat = np.ravel(values))" in (told or "")


@pytest.mark.slow
def test_a_line_that_only_prints_is_to_be_left_out() -> None:
    def tells(data: Any, rng: Any) -> float:
        count = data.sum()
        print("so far", count)
        return float(count + rng.laplace(0, 1.0))

    verdict = lt.check_privacy(tells, lt.Hypercube(5000), epsilon=1.0, method="alignment")
    assert verdict.decision == "INCONCLUSIVE"
    assert 'print("so far", count)) is not followed' in verdict.reason
    assert verdict.reason.endswith(
        "leave that line out: it only prints, and what counts is what the function returns"
    )
