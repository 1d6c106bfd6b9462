"""The scoreboard: its page says what is stored, and what is stored agrees with the other figures.

The libraries are installed by ``python -m benchmarks.world`` only; here a row of what the
development environment has is run.
"""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from benchmarks.world.board import ENVIRONMENTS, ROWS, environment_of
from benchmarks.world.page import PAGE, page, read_results
from benchmarks.world.rows import answer
from tests.shares import mostly_slow

KNOWN: dict[str, Any] = json.loads(
    Path(__file__).with_name("real_libraries.json").read_text(encoding="utf-8")
)
BY_NAME = {row.name: row for row in ROWS}


def test_the_page_is_written_from_the_stored_answers() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(read_results())


def test_every_row_and_version_has_an_environment_and_an_answer() -> None:
    stored = {(result["row"], result["version"]) for result in read_results()}
    assert stored == {(row.name, version) for row in ROWS for version in row.versions}
    for row in ROWS:
        for one in row.versions:
            assert environment_of(row, one) in ENVIRONMENTS


def test_a_no_stands_where_a_public_report_documents_a_bug_and_nowhere_else() -> None:
    for result in read_results():
        if "seconds" in result:
            expected = result["version"] in BY_NAME[result["row"]].broken
            assert (result["verdict"] == "NO") == expected, result


def test_figures_are_those_of_the_golden_cases() -> None:
    exact = {
        (result["row"], result["version"]): (result["epsilon"], result["verdict"])
        for result in read_results()
        if isinstance(result.get("epsilon"), float)
    }
    compared = 0
    for case in KNOWN["cases"]:
        environment = case["environment"]
        row = case["id"].replace("-1.1.2-", "-").replace("-1.2.0-", "-")
        found = exact.get((row, environment.rsplit("-", 1)[-1]))
        if found is not None:
            compared += 1
            assert found[0] == pytest.approx(case["epsilon"], abs=1e-9)
            assert found[1] == case["verdict"]
    assert compared >= 9


def test_the_goal_of_mechanisms_libraries_and_documented_bugs() -> None:
    ran = [result for result in read_results() if "seconds" in result]
    rows = [BY_NAME[result["row"]] for result in ran]
    refuted = {
        (BY_NAME[r["row"]].library, BY_NAME[r["row"]].report) for r in ran if r["verdict"] == "NO"
    }
    assert len({row.name for row in rows}) >= 25
    assert len({row.library for row in rows}) >= 10
    assert len(refuted) >= 10


@pytest.mark.parametrize("name", mostly_slow(["opendp-rr-bool", "opendp-laplace-3"], 2))
def test_a_row_runs_here_and_gives_the_stored_answer(name: str) -> None:
    row = BY_NAME[name]
    try:
        installed = version(row.library)
    except PackageNotFoundError:
        pytest.skip(f"{row.library} is not installed")
    if installed not in row.versions:
        pytest.skip(f"{row.library} {installed} is not on the scoreboard")
    stored = next(
        result
        for result in read_results()
        if (result["row"], result["version"]) == (name, installed)
    )
    found = answer(row, installed)
    assert found["epsilon"] == pytest.approx(stored["epsilon"], abs=1e-12)
    assert found["claim"] == pytest.approx(stored["claim"])
    for key in ("verdict", "by", "method"):
        assert found[key] == stored[key]
