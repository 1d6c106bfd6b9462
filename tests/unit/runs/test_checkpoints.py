"""Files of long runs: what was cut off goes on, and ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.samples import sampling_run
from liptest.runs import checkpoints

D = 9
LAW = lt.ProductDistribution.uniform(lt.Hypercube(D))


def coin(data: np.ndarray) -> np.ndarray:
    """Two outputs; the claim epsilon=1 holds."""
    first = 0.4 + 0.2 * data[:, :1]
    return np.log(np.concatenate([first, 1 - first], axis=1))


def needle(data: np.ndarray) -> np.ndarray:
    """Violated around one dataset in 512."""
    first = np.where(np.all(data == 1, axis=1, keepdims=True), 1e-3, 0.4 + 0.2 * data[:, :1])
    return np.log(np.concatenate([first, 1 - first], axis=1))


def blurred(data: np.ndarray) -> np.ndarray:
    """Where all bits are 1 the declared error leaves the claim epsilon=1 open."""
    edge = 1 / (1 + np.exp(1))
    first = np.where(np.all(data == 1, axis=1, keepdims=True), edge, np.e * edge)
    return np.log(np.concatenate([first, 1 - first], axis=1))


MECHANISMS = {
    "yes": lt.ClosedForm([0, 1], coin),
    "no": lt.ClosedForm([0, 1], needle),
    "open": lt.ClosedForm([0, 1], blurred, error=0.05),
}


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """14 draws a chunk, and the file written after each."""
    monkeypatch.setitem(sampling_run._CHUNK_POINTS, "declared", 140)
    monkeypatch.setattr(checkpoints, "SECONDS", 0.0)


def check(name: str, **options: Any) -> lt.PrivacyVerdict:
    wanted: dict[str, Any] = {"epsilon": 1.0, "method": "neighbourhoods", "seed": 4}
    wanted |= {"exception_mass": 0.05} | options
    return lt.check_privacy(MECHANISMS[name], LAW, **wanted)


def facts(verdict: lt.PrivacyVerdict) -> dict[str, Any]:
    """All of it, but for the time it took."""
    return replace(verdict, cost=replace(verdict.cost, seconds=0.0)).to_dict()


class Stop:
    """A progress callback that ends the run after so many chunks."""

    def __init__(self, chunks: int, kind: type[BaseException] = KeyboardInterrupt) -> None:
        self.left, self.kind = chunks, kind

    def __call__(self, done: int, planned: int) -> None:
        self.left -= 1
        if self.left == 0:
            raise self.kind


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("chunks", [1, 2, 5])
def test_a_run_that_was_cut_off_ends_as_if_it_had_not_been(
    name: str, chunks: int, tmp_path: Path
) -> None:
    file = tmp_path / "run.json"
    whole = facts(check(name))
    cut = check(name, checkpoint=file, progress=Stop(chunks))
    assert (cut.reason.startswith("interrupted"), cut.decision) in {
        (True, "INCONCLUSIVE"),
        (False, whole["decision"]),
    }
    seen: list[int] = []
    with ThreadPoolExecutor(2) as pool:
        again = check(
            name, checkpoint=file, executor=pool, progress=lambda done, planned: seen.append(done)
        )
    assert facts(again) == whole
    if cut.cost.draws < whole["cost"]["draws"] and cut.decision == "INCONCLUSIVE":
        assert seen[0] > cut.cost.draws  # nothing was done twice
    assert facts(check(name, checkpoint=file)) == whole  # and once more, when all is done


def test_the_three_answers_are_what_the_tests_above_need(tmp_path: Path) -> None:
    verdicts = {name: check(name) for name in MECHANISMS}
    assert [verdicts[name].decision for name in MECHANISMS] == ["YES", "NO", "INCONCLUSIVE"]
    assert verdicts["open"].witness is not None
    assert verdicts["no"].cost.draws > 14
    check("yes", checkpoint=tmp_path / "run.json", progress=Stop(3))
    stages = json.loads((tmp_path / "run.json").read_text())["stages"]
    assert [stage["chunks"] for stage in stages.values()] == [3]


def test_ctrl_c_certifies_the_draws_of_both_runs(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    cuts = [check("yes", checkpoint=file, progress=Stop(2)) for _ in range(2)]
    assert [cut.cost.draws for cut in cuts] == [28, 56]
    assert "interrupted after 56 of" in cuts[1].reason
    assert (cuts[1].guarantee.exception_mass or 1) < (cuts[0].guarantee.exception_mass or 0)


def test_an_error_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    with pytest.raises(ZeroDivisionError):
        check("yes", checkpoint=file, progress=Stop(3, ZeroDivisionError))
    stages = json.loads(file.read_text())["stages"]
    assert [stage["chunks"] for stage in stages.values()] == [3]


def test_the_seed_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    first = check("yes", checkpoint=file, seed=None, progress=Stop(1))
    second = check("yes", checkpoint=file, seed=None)
    assert first.seed == second.seed
    assert facts(second) == facts(check("yes", seed=first.seed))


def test_a_budget_ends_both_runs_at_the_same_draw(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    whole = check("yes", budget=250)
    check("yes", budget=250, checkpoint=file, progress=Stop(1))
    for _ in range(2):
        assert facts(check("yes", budget=250, checkpoint=file)) == facts(whole)
    assert "budget" in whole.reason


@pytest.mark.slow
def test_a_tester_per_output_goes_on_with_the_output_it_was_at(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    options: dict[str, Any] = {"method": lt.testers.VarianceEdges(), "epsilon": 2.0}
    whole = facts(check("yes", **options))
    chunks = []
    check("yes", **options, progress=lambda done, planned: chunks.append(done))
    after_first = chunks.index(chunks[-1]) + 2
    cut = check("yes", **options, checkpoint=file, progress=Stop(after_first))
    assert cut.decision == "INCONCLUSIVE"
    assert len(json.loads(file.read_text())["stages"]) == 2
    assert facts(check("yes", **options, checkpoint=file)) == whole


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"epsilon": 1.5}, "claim"),
        ({"delta": 0.1}, "claim"),
        ({"tolerance": 1e-6}, "claim"),
        ({"exception_mass": 0.02}, "exception_mass"),
        ({"failure_probability": 1e-3}, "failure_probability"),
        ({"method": "edges"}, "method"),
        ({"budget": 300}, "budget"),
        ({"seed": 5}, "seed"),
    ],
)
def test_a_file_of_another_test_is_refused_and_kept(
    options: dict[str, Any], word: str, tmp_path: Path
) -> None:
    file = tmp_path / "run.json"
    check("yes", checkpoint=file, progress=Stop(2))
    before = file.read_bytes()
    with pytest.raises(lt.errors.InputError, match=rf"belongs to another test: {word} is"):
        check("yes", checkpoint=file, **options)
    assert file.read_bytes() == before


def test_other_code_another_distribution_or_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.json"
    check("yes", checkpoint=file, progress=Stop(2))
    with pytest.raises(lt.errors.InputError, match="belongs to another test: mechanism is"):
        check("no", checkpoint=file)
    changed = lt.ClosedForm([0, 1], coin, error=1e-9)
    monkeypatch.setitem(MECHANISMS, "yes", changed)
    with pytest.raises(lt.errors.InputError, match="belongs to another test: code is"):
        check("yes", checkpoint=file)
    monkeypatch.undo()
    other = lt.ProductDistribution.bernoulli([0.4] * D)
    shortened = r"belongs to another test: distribution is [0-9a-f]{12}\.\. there and [0-9a-f]{12}"
    with pytest.raises(lt.errors.InputError, match=shortened):
        lt.check_privacy(
            MECHANISMS["yes"],
            other,
            epsilon=1.0,
            method="neighbourhoods",
            seed=4,
            exception_mass=0.05,
            checkpoint=file,
        )
    monkeypatch.setattr("liptest.privacy.request.__version__", "0.0.0")
    with pytest.raises(lt.errors.InputError, match="belongs to another test: liptest is"):
        check("yes", checkpoint=file)


def test_other_chunks_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "run.json"
    check("yes", checkpoint=file, progress=Stop(2))
    monkeypatch.setitem(sampling_run._CHUNK_POINTS, "declared", 280)
    with pytest.raises(lt.errors.InputError, match="belongs to another test: its draws are"):
        check("yes", checkpoint=file)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"chunks": 2', '"chunks": 9'),
        lambda text: text.replace('"format": 1', '"format": 2'),
        lambda text: text.replace("liptest checkpoint", "something else"),
        lambda text: "",
        lambda text: "[]",
        lambda text: "\udcff",
    ],
)
def test_a_damaged_file_is_refused_and_kept(damage: Any, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    check("yes", checkpoint=file, progress=Stop(2))
    file.write_text(damage(file.read_text()), encoding="utf-8", errors="surrogateescape")
    before = file.read_bytes()
    with pytest.raises(lt.errors.InputError, match="is not a checkpoint that can be used"):
        check("yes", checkpoint=file)
    assert file.read_bytes() == before


def test_a_place_that_cannot_be_written_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(lt.errors.InputError, match="cannot be written"):
        check("yes", checkpoint=tmp_path / "no" / "run.json", progress=Stop(1, AssertionError))
    with pytest.raises(lt.errors.InputError, match="is not a checkpoint"):
        check("yes", checkpoint=tmp_path)


def test_a_disk_that_fills_up_costs_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = os.replace, []

    def full(source: Any, target: Any) -> None:
        calls.append(source)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", full)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        verdict = check("yes", checkpoint=tmp_path / "run.json")
    assert len(caught) == 1
    assert "the run goes on, the file holds what was done before" in str(caught[0].message)
    assert verdict.decision == "YES"
    assert os.listdir(tmp_path) == ["run.json"]  # no half-written file is left


# Ends itself with SIGKILL after the chunk that was asked for, as the kernel or a cluster would.
KILLED = """
import os, signal, sys
import numpy as np
import liptest as lt
from liptest.runs import checkpoints
from liptest.privacy.samples import sampling_run

sampling_run._CHUNK_POINTS["declared"] = 140
checkpoints.SECONDS = 0.0
last = int(sys.argv[2])

def coin(data):
    first = np.where(np.all(data == 1, axis=1, keepdims=True), float(sys.argv[3]), 0.5)
    return np.log(np.concatenate([first, 1 - first], axis=1))

def told(done, planned):
    if last and done >= 14 * last:
        os.kill(os.getpid(), signal.SIGKILL)

verdict = lt.check_privacy(
    lt.ClosedForm([0, 1], coin), lt.ProductDistribution.uniform(lt.Hypercube(9)), epsilon=1.0,
    method="neighbourhoods", exception_mass=0.05, seed=4, progress=told,
    checkpoint=sys.argv[1] or None,
)
cost = verdict.cost
print(verdict.decision, verdict.witness, cost.laws, cost.draws, cost.pairs, cost.repeats,
      verdict.largest_loss, verdict.guarantee)
"""


@pytest.mark.slow
@pytest.mark.parametrize("probability", ["0.4", "0.001"])
def test_kill_9_between_chunks_changes_nothing(tmp_path: Path, probability: str) -> None:
    script, file = tmp_path / "run.py", tmp_path / "run.json"
    script.write_text(KILLED)

    def run(path: Path | str, last: int) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, str(script), str(path), str(last), probability],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    code, whole = run("", 0)
    assert code == 0
    assert run(file, 2)[0] == -signal.SIGKILL
    kept = json.loads(file.read_text())["stages"]
    assert [stage["chunks"] for stage in kept.values()] == [2]
    assert run(file, 0) == (0, whole)
    assert ("YES" in whole) == (probability == "0.4")


@lt.mechanism
def reads_one(data: Any, rng: Any) -> int:
    """Seen through one coordinate: few laws, in chunks of another size."""
    return int(rng.random() < (0.25 if data[0] else 0.5))


@lt.mechanism
def reads_more(data: Any, rng: Any) -> int:
    """Looks like the one above until a dataset begins with three ones."""
    chance = 0.25 if data[0] else 0.5
    if data[0] and data[1] and data[2]:
        chance += 0.01 * int(data[3])
    return int(rng.random() < chance)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [reads_one, reads_more])
@pytest.mark.parametrize("chunks", [1, 3])
def test_code_that_is_seen_through_what_it_reads_goes_on_too(
    mechanism: Any, chunks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sampling_run._CHUNK_POINTS, "enumerated", 140)
    monkeypatch.setattr("liptest.runs.driver._CHUNK_POINTS", 140)
    monkeypatch.setitem(MECHANISMS, "code", mechanism)
    file = tmp_path / "run.json"
    whole = facts(check("code"))
    check("code", checkpoint=file, progress=Stop(chunks))
    assert facts(check("code", checkpoint=file)) == whole
    assert whole["decision"] == "YES"


def test_what_killed_processes_left_goes_with_the_next_start(tmp_path: Path) -> None:
    file = tmp_path / "run[1].json"
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    stale = tmp_path / f"run[1].json.{ended.pid}.new"
    living = tmp_path / f"run[1].json.{os.getppid()}.new"
    others = [
        tmp_path / f"run1.json.{ended.pid}.new",
        tmp_path / f"run[1].json.{ended.pid}",
        tmp_path / "run[1].json.new",
        tmp_path / "run[1].json.mine.new",
        tmp_path / f"run[1].json.{10**30}.new",
    ]
    for path in (stale, living, *others):
        path.write_text("half")
    check("yes", checkpoint=file, seed=1)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {file.name, living.name, *(path.name for path in others)}


def test_another_test_removes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    check("yes", checkpoint=file, seed=1)
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    stale = tmp_path / f"run.json.{ended.pid}.new"
    stale.write_text("half")
    with pytest.raises(lt.errors.InputError, match="belongs to another test"):
        check("no", checkpoint=file, seed=1)
    assert stale.exists()
