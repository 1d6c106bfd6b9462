"""Sampled checks and profiles as they were: the same seed gives the same draws and counts.

Recorded before samplers and judges were merged. Each entry is what a run must say, witness
included; floats are compared to twelve digits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.mechanisms.shift import VectorShift
from tests.shares import mostly_slow

RECORD = Path(__file__).parent / "recorded_runs.json"

CUBE = lt.ProductDistribution.bernoulli(np.linspace(0.1, 0.7, 9))
GRID = lt.ProductDistribution(lt.Hypergrid([3, 4]), [[0.2, 0.5, 0.3], [0.1, 0.4, 0.3, 0.2]])
RECORDS = lt.ProductDistribution(lt.RecordGrid([3, 3]), [[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])
THIRDS = lt.ProductDistribution(
    lt.RecordGrid([3] * 600), [[0.2, 0.5, 0.3] if r % 2 else [0.6, 0.3, 0.1] for r in range(600)]
)
MANY = lt.ProductDistribution(
    lt.RecordGrid([3] * (1 << 14)),
    [[0.2, 0.8, 0.0] if r % 2 else [0.5, 0.25, 0.25] for r in range(1 << 14)],
)
SAMPLER = lt.SampledDistribution(CUBE.domain, lambda n, rng: CUBE.sample(rng, n))
WEIGHED = lt.SampledDistribution(CUBE.domain, lambda n, rng: CUBE.sample(rng, n), CUBE.log_mass)


def by_remainder(modulus: int) -> Callable[[np.ndarray], np.ndarray]:
    """Two laws, far apart at one last number in ``modulus``."""

    def log_pmf(values: np.ndarray) -> np.ndarray:
        last = values.reshape(len(values), -1)[:, -1]
        p = np.where(last % modulus == 0, 0.05, 0.3)
        return np.log(np.stack([p, 1 - p], axis=1))

    return log_pmf


def seen(statistic: Any, modulus: int = 11) -> lt.StatisticMechanism:
    return lt.StatisticMechanism(statistic, [0, 1], by_remainder(modulus))


def table(domain: Any, seed: int = 3) -> lt.ClosedForm:
    rows = np.random.default_rng(seed).integers(1, 30, (domain.size, 3)).astype(float)
    logs = np.log(rows / rows.sum(axis=1, keepdims=True))
    return lt.ClosedForm(range(3), lambda x: logs[domain.index(x)], name="table")


@lt.mechanism(outputs=[0, 1])
def coin(data: Any, rng: Any) -> int:
    return int(data[0]) if rng.random() < 0.75 else int(rng.random() < 0.5)


def loud() -> lt.ShiftMechanism:
    return lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(2))


MECHANISMS: dict[str, tuple[Any, Any]] = {
    "count": (seen(lt.Count(), 4), CUBE),
    "noisy count": (loud(), CUBE),
    "noisy count of a sampler": (loud(), SAMPLER),
    "table": (table(CUBE.domain), CUBE),
    "table of a grid": (table(GRID.domain), GRID),
    "table of records": (table(RECORDS.domain), RECORDS),
    "table of a sampler": (table(CUBE.domain), WEIGHED),
    "table of a blind sampler": (table(CUBE.domain), SAMPLER),
    "weighted": (
        lt.ShiftMechanism(lt.statistics.WeightedSum(range(1, 10)), lt.DiscreteLaplace(2)),
        CUBE,
    ),
    "code": (coin, lt.ProductDistribution.bernoulli([0.3, 0.6, 0.1])),
    "histogram": (seen(lt.Histogram(3)), THIRDS),
    "order": (seen(lt.statistics.OrderStatistic(300)), THIRDS),
    "histogram of many": (seen(lt.Histogram(3), 97), MANY),
    "noisy histogram of many": (VectorShift(lt.Histogram(3), lt.DiscreteLaplace(2)), MANY),
}
SAMPLED = ("neighbourhoods", "light-neighbourhoods", "edges", "group")
FEW: dict[str, Any] = {"seed": 5, "exception_mass": 0.1, "search_laws": 0}


def checks() -> dict[str, dict[str, Any]]:
    """The options of every recorded check."""
    listed: dict[str, dict[str, Any]] = {}
    for name, (_, law) in MECHANISMS.items():
        for method in SAMPLED if isinstance(law, lt.ProductDistribution) else SAMPLED[:1]:
            if method != "neighbourhoods" and law.domain.dimension > 500:
                continue
            if (method == "group" and "noisy" in name) or (name, method) == ("weighted", "group"):
                continue
            for epsilon, delta in ((0.4, 0.0), (1.0, 0.0), (2.2, 0.0), (0.9, 0.05), (3.0, 0.1)):
                if delta == 0 or (method != "group" and name != "noisy histogram of many"):
                    key = f"{name}, {method}, {epsilon}, {delta}"
                    listed[key] = {"epsilon": epsilon, "delta": delta, "method": method, **FEW}
    listed["table, neighbourhoods, budget"] = {
        **(FEW | {"epsilon": 9.0, "method": "neighbourhoods", "budget": 200}),
    }
    listed["table, A_test"] = {**FEW, "epsilon": 9.0, "method": lt.testers.VarianceEdges()}
    listed["table, A_test that refutes"] = {
        **FEW,
        "epsilon": 0.5,
        "method": lt.testers.VarianceEdges(),
    }
    listed["table, search"] = {**FEW, "epsilon": 2.0, "method": "search", "budget": 5000}
    listed["histogram, search"] = {**FEW, "epsilon": 1.0, "method": "search", "budget": 5000}
    return listed


def profiles() -> dict[str, dict[str, Any]]:
    """The options of every recorded profile."""
    names = ("table", "table of a grid", "table of records", "table of a sampler", "weighted")
    listed: dict[str, dict[str, Any]] = {}
    for name in (*names, "table of a blind sampler", "code", "noisy count"):
        for delta in (0.0, 0.05):
            options = {"seed": 5, "draws": 900, "delta": delta, "exception_mass": 0.1}
            options["epsilons"] = [0.3, 0.8, 1.5, 2.5]
            listed[f"{name}, neighbourhoods, {delta}"] = options | {"method": "neighbourhoods"}
            if isinstance(MECHANISMS[name][1], lt.ProductDistribution):
                light = options | {"method": "light-neighbourhoods"}
                listed[f"{name}, light-neighbourhoods, {delta}"] = light
    listed["table, pilot"] = {"seed": 5, "draws": 400, "method": "neighbourhoods"}
    return listed


def said_by_check(name: str) -> dict[str, Any]:
    mechanism, law = MECHANISMS[name.split(",")[0]]
    verdict = lt.check_privacy(mechanism, law, **checks()[name])
    cost, witness = verdict.cost, verdict.witness
    shown = None
    if witness is not None:
        pair = json.dumps([list(witness.dataset), list(witness.neighbour)])
        shown = {
            "pair": hashlib.sha256(pair.encode()).hexdigest()[:16],
            "event": [str(output) for output in witness.event],
            "distance": witness.distance,
            "probabilities": [witness.probability, witness.neighbour_probability],
            "loss": [witness.loss_lower, witness.loss_upper],
        }
    return {
        "decision": str(verdict.decision),
        "counts": [cost.laws, cost.draws, cost.pairs, cost.repeats],
        "plan": [verdict.plan.draws, verdict.plan.laws],
        "largest": verdict.largest_loss,
        "witness": shown,
    }


def said_by_profile(name: str) -> dict[str, Any]:
    mechanism, law = MECHANISMS[name.split(",")[0]]
    found = lt.privacy_profile(mechanism, law, **profiles()[name])
    return {
        "points": [[p.epsilon, p.lower, p.upper] for p in found.points],
        "largest": found.largest_loss,
        "certified": found.certified_epsilon,
        "counts": [found.draws, found.laws],
    }


def rounded(value: Any) -> Any:
    """The same value as JSON keeps it, floats to twelve digits."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


def record() -> dict[str, Any]:
    """What all runs say now."""
    return {
        "checks": {name: rounded(said_by_check(name)) for name in checks()},
        "profiles": {name: rounded(said_by_profile(name)) for name in profiles()},
    }


def one_run_per_line(runs: dict[str, Any]) -> str:
    """JSON that a diff shows run by run."""
    parts = []
    for kind, said in runs.items():
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in said.items())
        parts.append(f"{json.dumps(kind)}: {{\n{lines}\n}}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(RECORD.read_text())
    return kept


def approximately(value: Any) -> Any:
    """Equal up to the last digits, which another processor may round otherwise."""
    if isinstance(value, dict):
        return {key: approximately(item) for key, item in value.items()}
    if isinstance(value, list):
        return [approximately(item) for item in value]
    return pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value


@pytest.mark.parametrize("name", mostly_slow(MECHANISMS, 4))
def test_checks_say_what_they_said(recorded: dict[str, Any], name: str) -> None:
    names = [key for key in checks() if key.split(",")[0] == name]
    assert names
    for key in names:
        assert said_by_check(key) == approximately(recorded["checks"][key]), key


@pytest.mark.slow
def test_profiles_say_what_they_said(recorded: dict[str, Any]) -> None:
    for key in profiles():
        assert said_by_profile(key) == approximately(recorded["profiles"][key]), key


if __name__ == "__main__":
    RECORD.write_text(one_run_per_line(record()))
