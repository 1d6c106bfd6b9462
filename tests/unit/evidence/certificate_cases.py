"""Certificates of every kind, each with the mechanism and the distribution it is about."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction as F
from functools import cache
from typing import Any

import numpy as np

import liptest as lt
from liptest.evidence.verify import problems
from liptest.gate.routes import FilterGate, SensitivityGate
from tests.unit.privacy.cases import closed, exact

CUBE = lt.Hypercube(2)
UNIFORM = lt.ProductDistribution.uniform(CUBE)
GRID = lt.ProductDistribution.uniform(lt.Hypergrid([3]))
RECORDS = lt.ProductDistribution.uniform(lt.RecordGrid([3, 2]))
RARE = lt.ProductDistribution.bernoulli([0.01, 0.01])
BITS = lt.ProductDistribution.bernoulli([0.5] * 6)
#: Tight at epsilon log(3).
RESPONSE = exact(CUBE, [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]] * 2)
FLOATS = closed(CUBE, [[0.75, 0.25], [0.25, 0.75]] * 2)
STEPS = exact(GRID.domain, [[F(1, 2), F(1, 2)], [F(2, 3), F(1, 3)], [F(5, 6), F(1, 6)]])
SHOWN = closed(CUBE, [[1, 0], [0, 1]] * 2)
OPEN_ZERO = closed(CUBE, [[0.5, 0.5, 0.0]] * 4, exact_zeros=False)
REPLACED = exact(RECORDS.domain, [[F(1, 2 + i % 3), 1 - F(1, 2 + i % 3)] for i in range(6)])
LAPLACE = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1))
GAUSS = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(1))


def count_logs(values: np.ndarray) -> np.ndarray:
    """Two-sided geometric weights about a count, cut at 0 and 6."""
    weights = np.exp(-np.abs(np.arange(7)[None, :] - np.asarray(values)[:, None]))
    return np.log(weights / weights.sum(axis=1, keepdims=True))


COUNTED = lt.StatisticMechanism(lt.Count(), range(7), count_logs)


def ones(datasets: np.ndarray) -> np.ndarray:
    return datasets.sum(axis=1).astype(float)


@dataclass(frozen=True)
class Case:
    """A certificate and what it is about."""

    certificate: lt.Certificate
    mechanism: Any
    distribution: lt.ProductDistribution


def gate(mechanism: Any, distribution: lt.ProductDistribution = UNIFORM, **options: Any) -> Case:
    """A case from a gate with numbers that keep it small."""
    numbers = {"epsilon": lt.log(3), "exception_mass": 0.1, "failure_probability": 0.05, "seed": 5}
    made = lt.PrivacyGate(mechanism, distribution, **{**numbers, **options})
    return Case(made.certificate, mechanism, distribution)


def routed(kind: Any, **options: Any) -> Case:
    """A case from one of the two other routes."""
    made = kind(ones, BITS, epsilon=1.0, sensitivity=1.0, **options)
    return Case(made.certificate, made.mechanism, BITS)


MAKERS = {
    "proof": lambda: gate(RESPONSE, method="exhaustive"),
    "proof-of-a-statistic": lambda: gate(COUNTED, BITS, epsilon=2.0),
    "neighbourhoods": lambda: gate(RESPONSE, method="neighbourhoods"),
    "light": lambda: gate(RESPONSE, method="light-neighbourhoods", releases=2),
    "edges": lambda: gate(RESPONSE, method="edges"),
    "group": lambda: gate(RESPONSE, method="group"),
    "tester": lambda: gate(RESPONSE, method=lt.testers.VarianceEdges()),
    "range-step": lambda: gate(
        RESPONSE, method=lt.testers.JR11(range_step=0.5), exception_mass=0.5, epsilon=2.0
    ),
    "delta": lambda: gate(RESPONSE, epsilon=1.0, delta=0.25, method="neighbourhoods"),
    "grid": lambda: gate(STEPS, GRID),
    "records": lambda: gate(REPLACED, RECORDS),
    "floats": lambda: gate(FLOATS, method="neighbourhoods"),
    "sensitivity": lambda: routed(SensitivityGate, seed=3, exception_mass=0.1),
    "filter": lambda: routed(FilterGate),
    "filter-excepted": lambda: routed(FilterGate, max_references=32, exception_mass=0.5),
    "no": lambda: gate(RESPONSE, epsilon=1.0, method="neighbourhoods"),
    "no-exhaustive": lambda: gate(RESPONSE, epsilon=1.0),
    "no-logarithm": lambda: gate(RESPONSE, epsilon=lt.log(2), tolerance=0.0),
    "no-floats": lambda: gate(FLOATS, epsilon=1.0),
    "no-delta": lambda: gate(RESPONSE, epsilon=1.0, delta=0.03),
    "no-infinite": lambda: gate(SHOWN),
    "no-tester": lambda: gate(RESPONSE, epsilon=1.0, method=lt.testers.VarianceEdges()),
    "no-grid": lambda: gate(STEPS, GRID, epsilon=0.5),
    "no-grid-lines": lambda: gate(STEPS, GRID, epsilon=0.5, method=lt.testers.CDJS15()),
    "no-records": lambda: gate(REPLACED, RECORDS, epsilon=0.5),
    "no-laplace": lambda: gate(LAPLACE, BITS, epsilon=0.9),
    "no-laplace-delta": lambda: gate(LAPLACE, BITS, epsilon=0.5, delta=0.25),
    "no-gauss": lambda: gate(GAUSS, BITS, epsilon=1.0),
    "no-gauss-delta": lambda: gate(GAUSS, BITS, epsilon=1.0, delta=0.001),
    "open-zero": lambda: gate(OPEN_ZERO),
    "open-budget": lambda: gate(RESPONSE, method="neighbourhoods", budget=20),
    "open-vacuous": lambda: gate(RESPONSE, RARE, method="edges"),
}
YES = [name for name in MAKERS if not name.startswith(("no", "open"))]
NO = [name for name in MAKERS if name.startswith("no")]


@cache
def case(name: str) -> Case:
    """A case by name, made once."""
    return MAKERS[name]()


def document(name: str) -> Any:
    """A certificate as a document of its own."""
    return json.loads(case(name).certificate.to_json())


def held(document: Any, name: str) -> list[str]:
    """What is wrong with a document, held against the mechanism and distribution of a case."""
    told = case(name)
    return problems(json.dumps(document), told.mechanism, told.distribution)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a JSON value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(pairs):
        yield (*path, key)
        if isinstance(item, (dict, list)):
            yield from places(item, (*path, key))


def put(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The document with another value at a path; ``...`` takes the key away."""
    place = document
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document
