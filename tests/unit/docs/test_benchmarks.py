"""The benchmarks in their tiny mode: what they count is what theory foretells. No times.

Two ratios of CPU seconds are compared, loosely (factor 3 on top of a generous bound): medians of
turns in one process, which slow down together when others use the machine.
"""

from __future__ import annotations

import importlib
import json
import math
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).parents[3] / "benchmarks"

# (case, counts) by hand: N * d bits; d 2^(d-1) pairs and 2^d laws of a cube; k pairs and one law
# per count, a shared one twice per started 65,536; n = ceil(ln w / ln(1 - mass)) draws with all
# their neighbours; 2 laws an edge; 2^coins leaves, of which 16 are repeated, with floats twice.
COUNTS: dict[str, list[tuple[str, dict[str, int]]]] = {
    "startup": [("import liptest", {"heavy modules": 0})],
    "sampler": [
        ("d = 20, random p", {"bits": 50_000}),
        ("d = 1,000, random p", {"bits": 50_000}),
        ("d = 5,000, p about 0.004, as of clicks", {"bits": 50_000}),
        ("d = 1,000, p = 1/2", {"bits": 50_000}),
    ],
    "exhaustive": [
        ("imports only", {"pairs": 0, "laws": 0}),
        ("plain NumPy, d = 8", {"pairs": 1024, "laws": 256}),
        ("check_privacy exhaustive, formula, d = 8", {"pairs": 1024, "laws": 256}),
        ("check_privacy exhaustive, lookup, d = 8", {"pairs": 1024, "laws": 256}),
        ("exact_epsilon of a count, window, d = 70,000", {"pairs": 70_000, "laws": 70_002}),
        ("exact_epsilon of a count, catalogue, d = 70,000", {"pairs": 70_000, "laws": 70_002}),
    ],
    "neighbourhoods": [
        ("formula", {"draws": 20, "laws": 20 * 51, "laws alone": 20 * 51}),
        ("table lookup", {"draws": 20, "laws": 20 * 51, "laws alone": 20 * 51}),
        ("declared on the count", {"draws": 20, "laws": 20 * 51}),
    ],
    "methods_cost": [
        ("uniform, d = 20: edges", {"draws": 13_816, "laws": 2 * 13_816}),
        ("uniform, d = 20: neighbourhoods", {"draws": 1375, "laws": 1375 * 21}),
        ("uniform, d = 20: exhaustive (a proof)", {"draws": 0, "laws": 21}),
        ("uniform, d = 1000: exhaustive (a proof)", {"draws": 0, "laws": 1001}),
    ],
    "scaling": [
        ("d = 8: plain NumPy loop", {"pairs": 1024, "laws": 256}),
        ("d = 8: exhaustive", {"pairs": 1024, "laws": 256}),
        ("d = 50: proof for the count", {"pairs": 50, "laws": 51}),
        ("d = 50: neighbourhoods", {"laws": 20 * 51}),
        # 2 (d / 2) / mass * ln(1 / failure) laws of edges; group with one more factor 2 outputs.
        ("d = 50: edges", {"laws": 2 * 691}),
        ("d = 50: group", {"laws": 2 * 2764}),
        # 2 outputs, each 2 d^2 / (step e') ln(4 / w): step 1/32, e' = 1/4 - 4/32.
        ("d = 2: paper's A_test", {"laws": 2 * 2 * 15_567}),
        ("outputs = 3: edges", {"laws": 112}),
        ("exception mass = 0.1: neighbourhoods", {"laws": 132 * 5}),
    ],
    "large_domains": [
        ("exhaustive, values walked through, d = 10", {"laws": 1024, "pairs": 5120}),
        ("weighted sum 1 .. 40", {"laws": 821 * 40, "pairs": 821 * 40 - 824}),
        (
            "neighbourhoods, the count drawn, d = 70,000",
            {"laws": 1375 * 70_001, "pairs": 1375 * 70_000},
        ),
    ],
    "faster_sampler": [
        ("check_privacy neighbourhoods, formula, d = 20", {"draws": 20}),
        ("check_lipschitz, a sum, d = 20", {"draws": 546}),
    ],
    "sizes": [
        (
            "told only the count, d = 1,000, uniform: exhaustive, proof",
            {"laws": 1001, "pairs": 1000},
        ),
        (
            "formula of all records, d = 10, uniform: exhaustive, proof",
            {"laws": 1024, "pairs": 5120},
        ),
        ("Python code, d = 10, uniform: exhaustive, proof", {"laws": 1024, "pairs": 5120}),
    ],
    "replay": [
        ("noisy_count, 6 coins", {"calls": 98}),
        ("noisy_bits, 6 coins", {"calls": 98}),
        ("sampled_count, 6 coins", {"calls": 82}),
        ("uniform_comparisons, 6 records", {"leaves": 64}),
        ("held_setting, 6 records", {"leaves": 64}),
        ("packed_bits, 6 records", {"leaves": 64}),
        ("bit_sum, 10 records", {"leaves": 11}),
        ("bit_sum_compared, 100 records", {"leaves": 2}),
        ("sparse_vector, 3 records", {"leaves": 4}),
        ("noise_array, 3 records", {"leaves": 8}),
        ("uniforms_meet_noise, 2 records", {"leaves": 4}),
    ],
    "randomised_response": [
        ("counted, 5 records", {"runs": 6}),
        ("estimated, 5 records", {"runs": 6}),
    ],
    "routes": [
        ("clicks, 8 parts: gate, vendor's counts", {"laws": 5001}),
        ("bursts, 40 parts: gate, vendor's counts", {"laws": 40 * 126}),
        ("bursts, 8 parts: sensitivity, c = 25", {"draws": 132}),
    ],
    "black_box": [("leak 1e-3, claim 1, failure 1e-06", {"pairs": 1})],
    "alignment": [
        ("SVT1, 45 answers", {"price, millionths": 1_000_000}),
        ("SVT4, 45 answers", {"price, millionths": 1_750_000}),
        ("noisy maximum, 45", {"price, millionths": 1_000_000}),
        ("histogram, 45 cells", {"price, millionths": 2_000_000}),
        ("20 random programs, whole noise and answers", {"below the loss": 0}),
        ("20 random programs, real noise and answers", {"below the loss": 0}),
        ("20 random programs, whole noise, real answers", {"below the loss": 0}),
    ],
    "checkdp": [
        ("noisy maximum", {"millionths": 1_000_000, "verdict": 1}),
        ("sparse vector, 1", {"millionths": 1_000_000, "verdict": 1}),
    ],
    "recorder_peer": [
        ("divided_by_the_size", {"NO": 1}),
        ("noise_of_scale_zero", {"NO": 1}),
    ],
    "dprivbench_theorems": [
        ("question 3: YES", {"agrees": 1}),
        ("question 4: NO", {"agrees": 1}),
    ],
    "dprivbench": [
        ("Laplace noise", {"questions": 2, "YES": 1, "NO": 1}),
        ("normal noise, GDP", {"questions": 2, "YES": 1, "NO": 1}),
        ("normal noise, zCDP", {"questions": 2, "YES": 1, "NO": 1}),
        ("exponential mechanism", {"questions": 2, "YES": 1, "NO": 1}),
        ("noisy maximum", {"questions": 2, "YES": 1, "NO": 1}),
        ("permute and flip", {"questions": 2, "YES": 1, "NO": 1}),
    ],
    "search": [
        ("needle at all ones, 2^20", {"found": 1}),
        ("needle at a random dataset, 2^20", {"found": 0}),
        ("empty histogram, 6^10", {"found": 1}),
    ],
    "profile_bands": [
        ("clicks, d = 5000: vendor A (a count), exact", {"draws": 0, "laws": 0}),
        ("coverage, failure 0.2: a needle, neighbourhoods", {"runs": 5}),
    ],
    "executors": [
        ("waiting: 1 process", {"verdicts": 1, "laws": 420}),
        ("waiting: 4 processes", {"verdicts": 1, "laws": 420}),
        ("computing: 2 processes", {"verdicts": 1, "laws": 420}),
        ("waiting, with search: 2 processes", {"verdicts": 1, "laws": 420}),
        ("computing, 20 bits: CPU of 2 processes", {"laws": 420}),
        ("whole, 12 bits: laws walked by 4 processes", {"laws": 13 * 49}),
        ("chunks of 10 ms on 2 workers: Dask", {"chunks": 4}),
        ("driver, a mechanism of 1 us a dataset, one process", {"draws": 1000}),
    ],
    "fit": [
        ("polars", {"rows": 1000, "same law": True}),
        ("Parquet, duckdb", {"rows": 1000, "same law": True}),
    ],
    # 2^d bits and d 2^(d-1) flips; vectors of n answers in 0 .. 2: 3^n of them, (7^n - 3^n) / 2
    # neighbouring pairs when all may move, 2 n 3^(n-1) when one does.
    "published_exact": [
        ("randomised response, d=10, from formula", {"laws": 1024, "pairs": 5120}),
        ("noisy max (place), 5 queries, from code", {"laws": 27, "pairs": 158}),
        ("SVT4, 10 queries, from code", {"laws": 9, "pairs": 10}),
        ("SVT4, any real answers", {"pairs": 1}),
        ("one law: SVT1", {"laws": 6}),
        ("all of {0,1,2}^2, all: svt6", {"laws": 9, "pairs": 20}),
        ("all of {0,1,2}^2, one: svt6", {"laws": 9, "pairs": 12}),
        ("3 queries, worst pairs: svt4", {"laws": 7, "pairs": 6}),
    ],
    "published_suite": [
        ("randomised response, d=5, epsilon 1", {"samples": 20_000}),
        ("truncated geometric count, d=20, epsilon 1", {"samples": 20_000}),
    ],
}

# docs/theory, section 5: group, edges, light, full; last the paper as printed.
THEORY = {
    "uniform, d = 20": ("1.2e+06", "2.8e+04", "1.5e+04", "2.9e+04", "2.1e+15"),
    "uniform, d = 100": ("2.8e+08", "1.4e+06", "7.0e+05", "1.4e+06", "1.6e+22"),
    "uniform, d = 1000": ("2.8e+11", "1.4e+08", "6.9e+07", "1.4e+08", "1.7e+31"),
}
METHODS = ("group", "edges", "light-neighbourhoods", "neighbourhoods")


def rows_of(script: str, *options: str) -> dict[str, Any]:
    command = [sys.executable, str(FOLDER / f"{script}.py"), "--quick", "--json", *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {row["case"]: row for row in json.loads(done.stdout)}


@pytest.fixture(scope="module")
def costs() -> dict[str, Any]:
    return rows_of("methods_cost")


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("figures")


@pytest.mark.slow
@pytest.mark.parametrize("script", COUNTS)
def test_counts_are_those_of_the_plan(script: str, costs: dict[str, Any]) -> None:
    rows = costs if script == "methods_cost" else rows_of(script)
    for case, counts in COUNTS[script]:
        assert rows[case]["counts"] == counts, case
    for row in rows.values():
        assert row["counts"] == row["planned"], row["case"]


@pytest.mark.slow
def test_laws_are_compared_with_those_of_another_checkout() -> None:
    source = FOLDER.parent / "src"
    rows = rows_of("replay", f"--baseline={source}")
    assert "speed of the baseline" in rows["sparse_vector, 3 records"]["figures"]


@pytest.mark.slow
def test_planned_laws_are_those_of_the_theory(costs: dict[str, Any]) -> None:
    for setting, (*planned, paper) in THEORY.items():
        figures = [costs[f"{setting}: {method}"]["figures"] for method in METHODS]
        assert [two_digits(found, "planned laws") for found in figures] == planned
        assert {two_digits(found, "paper laws") for found in figures} == {paper}


def two_digits(figures: dict[str, Any], name: str) -> str:
    return f"{figures[name]['value']:.1e}"


@pytest.mark.slow
def test_light_neighbourhoods_ask_for_a_random_number_of_laws(costs: dict[str, Any]) -> None:
    row = costs["uniform, d = 20: light-neighbourhoods"]
    assert row["counts"]["draws"] == 1375
    assert row["figures"]["planned laws"]["value"] == 1375 * 11
    assert row["counts"]["laws"] != 1375 * 11
    assert row["figures"]["sd off the mean"]["value"] < 5


def test_run_all_knows_every_script(figures: ModuleType) -> None:
    run_all = importlib.import_module("run_all")
    scripts = {path.name for path in FOLDER.glob("*.py") if "__main__" in path.read_text()}
    assert scripts == {*run_all.SCRIPTS, *run_all.TEXTS, *run_all.ALONE, "run_all.py"}
    assert {Path(script).stem for script in run_all.SCRIPTS} == set(COUNTS)


#: Measured: at most 2.1 and 2.4, on a machine that others used; twice that is the generous bound.
RATIOS = {"exhaustive": 3 * 5.0, "neighbourhoods": 3 * 5.0}


@pytest.mark.slow
def test_ratios_of_cpu_seconds_are_not_out_of_hand(figures: ModuleType) -> None:
    found = importlib.import_module("scaling").ratios()
    assert found.keys() == RATIOS.keys()
    assert all(0 < found[name] <= most for name, most in RATIOS.items()), found


@pytest.mark.slow
def test_the_paper_is_a_formula_where_it_cannot_be_run() -> None:
    row = rows_of("scaling")["d = 50: paper's A_test (formula)"]
    assert (row["counts"], row["place"]["at"]) == ({}, 50)
    step, rest = 1 / (8 * 50**2), 1 / 8
    laws = 2 * (2 / rest + 2 * 50**2 / (step * rest)) * math.log(4e6)
    assert row["figures"]["planned laws"]["value"] == pytest.approx(laws)


def test_a_wrong_count_fails_the_run(figures: ModuleType) -> None:
    good = figures.Row("case", {"laws": 12}, {"laws": 12}, {})
    assert figures.faults(good) == []
    wrong = figures.Row("case", {"laws": 12}, {"laws": 13}, {})
    assert figures.faults(wrong) == ["case: laws is 12, planned 13"]


def test_a_limit_is_judged_loosely(figures: ModuleType) -> None:
    Figure = figures.Figure
    near, far = Figure(5.9, at_most=2.0), Figure(6.1, at_most=2.0)
    assert not near.reached
    faults = figures.faults(figures.Row("case", {}, {}, {"near": near, "far": far}))
    assert faults == ["case: far is 6.1 (<= 2: NOT reached)"]
    slow = figures.Row("case", {}, {}, {"speed-up": Figure(0.5, at_least=1.8)})
    assert len(figures.faults(slow)) == 1


@pytest.mark.slow
def test_one_command_prints_the_tables_and_draws(tmp_path: Path) -> None:
    done = run_all("--only", "scaling.py", "sampler.py", "--plots", str(tmp_path))
    assert "== scaling.py" in done.stdout
    assert "d = 8: exhaustive" in done.stdout
    assert done.stdout.endswith("every count is the planned one\n")
    assert {file.name for file in tmp_path.iterdir()} == {
        f"{what}_against_{axis}.svg"
        for what in ("laws", "seconds")
        for axis in ("d", "exception_mass", "outputs")
    }
    drawing = (tmp_path / "laws_against_d.svg").read_text(encoding="utf-8")
    assert all(f">{line}<" in drawing for line in ("exhaustive", "group", "paper's A_test"))


@pytest.mark.slow
def test_without_matplotlib_the_tables_are_all(tmp_path: Path) -> None:
    done = run_all("--only", "sampler.py", "--plots", str(tmp_path / "drawings"), hide=True)
    assert "d = 1,000, p = 1/2" in done.stdout
    assert "matplotlib is not installed" in done.stdout
    assert not (tmp_path / "drawings").exists()


def run_all(*options: str, hide: bool = False) -> subprocess.CompletedProcess[str]:
    begin = "import sys; sys.modules['matplotlib'] = None; " if hide else ""
    code = f"{begin}import runpy, sys; runpy.run_path(sys.argv[0], run_name='__main__')"
    script = f"import sys; sys.argv = sys.argv[1:]; sys.path.insert(0, {str(FOLDER)!r}); {code}"
    command = [sys.executable, "-c", script, str(FOLDER / "run_all.py"), "--quick", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True)


def test_hollow_marks_are_formulas(figures: ModuleType) -> None:
    plots = importlib.import_module("plots")
    place = {"axis": "d", "at": 2, "line": "ours"}
    counted = {"counts": {"laws": 7}, "figures": {"planned laws": {"value": 9.0}}, "place": place}
    formula = {**counted, "counts": {}, "place": {**place, "at": 1}}
    assert plots.lines_of([counted, formula], plots.LAWS) == {
        "ours": [(1, 9.0, False), (2, 7.0, True)]
    }
    assert plots.lines_of([counted], plots.SECONDS) == {}
    waited = {**counted, "figures": {"wall s": {"value": 0.5}}}
    assert plots.lines_of([waited], plots.SECONDS) == {"ours": [(2, 0.5, True)]}


def test_a_figure_says_whether_it_is_reached(figures: ModuleType) -> None:
    Figure = figures.Figure
    assert str(Figure(4.25, at_least=3.5)) == "4.25 (>= 3.5: reached)"
    assert str(Figure(3.25, at_least=3.5)) == "3.25 (>= 3.5: NOT reached)"
    assert str(Figure(2.5, at_most=2.0)) == "2.5 (<= 2: NOT reached)"
    assert str(Figure(12345.6)) == "12,346"


def test_a_count_off_the_plan_is_shown_with_the_plan(figures: ModuleType) -> None:
    row = figures.Row("case", {"laws": 12}, {"laws": 13}, {"ratio": figures.Figure(2.0)})
    assert figures.table([row])[1].split() == ["case", "12", "(planned", "13)", "2"]


def test_medians_measure_in_turns(figures: ModuleType) -> None:
    seen: list[str] = []

    def note(name: str, value: float) -> float:
        seen.append(name)
        return value * len(seen)

    found = figures.medians(3, lambda: {"a": note("a", 1.0), "b": note("b", 10.0)})
    assert seen == ["a", "b"] * 3
    assert found == {"a": 3.0, "b": 40.0}
