"""What docs/routes.md compares: sample-and-aggregate, and every number that needs no long run."""

from __future__ import annotations

import importlib
import itertools
import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "routes.md").read_text(encoding="utf-8")


@pytest.fixture
def aggregate(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("sample_aggregate")


@pytest.fixture
def routes(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("routes")


def error(row: object) -> float:
    return float(row.figures["mean error"].value)  # type: ignore[attr-defined]


@pytest.mark.slow
def test_the_page_has_the_exact_numbers(routes: ModuleType) -> None:
    log, effort = routes.Log(8), routes.Effort(0.1, 100, 2, 2)
    clicks = routes.Task("clicks", routes.clicks, 1, log, effort)
    bursts = routes.Task("bursts", routes.bursts, 2, log, effort)
    fine = routes.Task("bursts", routes.bursts, 2, routes.Log(40), effort)
    assert [task.truth for task in (clicks, bursts, fine)] == [19, 56, 15]
    assert [task.typical for task in (clicks, bursts, fine)] == [1, 25, 12]
    assert [task.worst for task in (clicks, bursts, fine)] == [1, 1874, 374]
    for row in (routes.gate_row(clicks), routes.sensitivity_row(clicks), routes.filter_row(clicks)):
        assert f"{error(row):.3f}" == "0.851"
    assert f"{error(routes.sensitivity_row(bursts)):.1f}" == "25.0"
    assert f"{error(routes.filter_row(bursts)):.1f}" == "25.0"
    assert f"{error(routes.sensitivity_row(fine)):.1f}" == "12.0"
    refused = routes.filter_row(fine)
    assert refused.case.endswith("refused")
    assert refused.figures["queries asked"].value == 124_416
    assert routes.filter_row(bursts).counts == {"queries": 432}
    untypical = routes.untypical_row(bursts)
    assert untypical.counts == {"queries": 12_696}
    assert {name: figure.value for name, figure in untypical.figures.items()} == {
        "true": 1431,
        "filtered": 1003,
    }
    for number in ("0.851", "432 values", "124,416", "12,696", "1,431", "1,003", "1,874", "374"):
        assert number in PAGE


def test_the_planned_work_on_rows(routes: ModuleType) -> None:
    rows = routes.public_distribution()
    assert round(routes.neighbourhoods(rows, 1e-3, 1e-6).plan.laws) == 13_809 * 5001
    planned = routes.light(rows, 1e-3, 1e-6)
    assert round(planned.plan.laws, -3) == 278_000
    assert len(planned.not_covered) == 3909
    assert "69 million" in PAGE
    assert "278,000" in PAGE
    assert "3,909" in PAGE


def test_the_burst_query_is_what_it_says(routes: ModuleType) -> None:
    parts = np.random.default_rng(0).integers(0, 4, (20, 5))
    for table, answer in zip(parts, routes.bursts(parts), strict=True):
        clicks = np.repeat(np.arange(5), table)
        assert answer == sum(abs(a - b) <= 1 for a, b in itertools.combinations(clicks, 2))


def test_the_mean_error_of_laplace_noise(aggregate: ModuleType) -> None:
    noise = np.linspace(-200, 200, 400_001)
    density = np.exp(-np.abs(noise) / 3) / 6 * (noise[1] - noise[0])
    for centre in (5.0, 7.5, 0.0):
        found = aggregate.Release(centre, 3.0).mean_error(5.0)
        assert found == pytest.approx(float(density @ np.abs(centre + noise - 5.0)), rel=1e-5)


def test_one_block_moves_the_mean_by_what_the_noise_hides(aggregate: ModuleType) -> None:
    made = aggregate.SampleAggregate(blocks=4, cap=3.0, power=2, epsilon=0.5)
    answers = np.array([0.0, 2.0, 9.0, 1.0])
    release = made.release(answers)
    assert release.centre == 16 * 6 / 4
    moved = made.release(np.array([99.0, 2.0, 9.0, 1.0]))
    assert abs(moved.centre - release.centre) == release.scale * made.epsilon
    assert moved.scale == release.scale


@pytest.mark.parametrize("beta", [0.03, 0.5, 2.0])
@pytest.mark.parametrize("count", [3, 5])
def test_smooth_sensitivity_by_brute_force(aggregate: ModuleType, beta: float, count: int) -> None:
    values, cap = np.random.default_rng(count).random(count) * 4, 4.0
    best = 0.0
    for k in range(count + 1):
        for changed in itertools.combinations(range(count), k):
            for ends in itertools.product((0.0, cap), repeat=k):
                other = values.copy()
                other[list(changed)] = ends
                best = max(best, math.exp(-beta * k) * local_sensitivity(other, cap))
    assert aggregate.smooth_sensitivity_of_median(values, cap, beta) == pytest.approx(best)


def local_sensitivity(values: np.ndarray, cap: float) -> float:
    found = 0.0
    for i, end in itertools.product(range(len(values)), (0.0, cap)):
        other = values.copy()
        other[i] = end
        found = max(found, abs(float(np.median(other) - np.median(values))))
    return found


def test_blocks_share_the_records_evenly(aggregate: ModuleType) -> None:
    records, blocks = 100, 8
    everyone = np.arange(records)
    sizes = aggregate.block_answers(
        lambda tables: tables.sum(axis=1) * 1.0,
        everyone % 5,
        everyone,
        records,
        blocks,
        5,
        np.random.default_rng(0),
    )
    assert sizes.sum() == records
    assert sizes.max() - sizes.min() <= 1
