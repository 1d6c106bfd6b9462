"""The scoreboard: its page says what is stored, and what is stored agrees with the other figures.

The libraries are installed by ``python -m benchmarks.world`` only; here a row of what the
development environment has is run.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from benchmarks.world import __main__ as command
from benchmarks.world.board import ENVIRONMENTS, ROWS, environment_of
from benchmarks.world.page import PAGE, page, read_results
from benchmarks.world.rows import answer

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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["opendp-rr-bool", "opendp-laplace-3"])
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


class Stopped(Exception):
    """Somebody has pressed Ctrl-C."""


@pytest.fixture
def small_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], Path]:
    """The command over two rows, whose answers are counted; the third call of a row stops it."""
    rows = tuple(row for row in ROWS if row.name in ("pure-ldp-oue", "pure-ldp-sue"))
    ran: list[str] = []

    def run(row: Any, pinned: str, folder: Path) -> dict[str, Any]:
        ran.append(f"{row.name} {pinned}")
        if len(ran) == 3:
            raise Stopped
        stored = stored_answers[row.name, pinned]
        return {key: stored[key] for key in stored if key not in ("row", "version")}

    results = tmp_path / "results.jsonl"
    stored_answers = {(r["row"], r["version"]): r for r in read_results()}
    monkeypatch.setattr(command, "ROWS", rows)
    monkeypatch.setattr(command, "RESULTS", results)
    monkeypatch.setattr(command, "read_results", lambda path=results: read_results(path))
    monkeypatch.setattr(command, "run", run)
    monkeypatch.setattr(command, "write_page", lambda: None)
    return ran, results


def test_the_command_goes_on_where_it_was_cut_off(
    small_world: tuple[list[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran, results = small_world
    monkeypatch.setattr(sys, "argv", ["world", "--folder", str(tmp_path / "folder")])
    with pytest.raises(Stopped):
        command.main()
    assert len(read_results(results)) == 2
    command.main()
    whole = sum(len(BY_NAME[name].versions) for name in ("pure-ldp-oue", "pure-ldp-sue"))
    assert len(ran) == whole + 1
    assert sorted({*ran}) == sorted(f"{r['row']} {r['version']}" for r in read_results(results))
    assert f"{whole} answers" in capsys.readouterr().out
    command.main()
    assert len(ran) == whole + 1


def test_an_installation_that_fails_is_tried_again_and_replaces_nothing(
    small_world: tuple[list[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, results = small_world
    arguments = ["world", "--folder", str(tmp_path / "folder"), "--only", "oue 1.2.0"]
    monkeypatch.setattr(sys, "argv", arguments)
    command.main()
    [before] = read_results(results)
    monkeypatch.setattr(sys, "argv", [*arguments, "--again"])
    failed = {"verdict": "not installable here", "by": "none", "reason": "no network"}
    monkeypatch.setattr(command, "run", lambda *_: failed)
    command.main()
    assert read_results(results) == [before]
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.setattr(command, "run", lambda *_: {**before, "verdict": "NO"})
    command.main()
    assert [r["verdict"] for r in read_results(results)] == ["NO"]


def test_answers_are_alike_but_for_their_seconds() -> None:
    one = next(r for r in read_results() if isinstance(r.get("epsilon"), float))
    assert command.alike(one, {**one, "seconds": 99, "epsilon": one["epsilon"] * (1 + 1e-13)})
    assert not command.alike(one, {**one, "epsilon": one["epsilon"] + 1e-6})
    assert not command.alike(one, {**one, "verdict": "NO"})
