"""Exact rho and mu of published mechanisms and of the catalogue: golden numbers, and an oracle."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.numbers.whole_numbers import output_law
from liptest.mechanisms.shift import ShiftMechanism
from tests.golden.catalogue_cases import ENTRIES
from tests.golden.independent import grid, neighbours
from tests.golden.notion_oracle import Floats, largest_mu, largest_rho
from tests.golden.test_catalogue_table import FINITE, chances
from tests.golden.test_published import CASES, built, sparse_vector

TABLE: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("notions.json").read_text(encoding="utf-8")
)["cases"]
PUBLISHED = [case for case in TABLE if case["from"] == "published"]
CATALOGUE = [case for case in TABLE if case["from"] == "catalogue"]
FIVE = grid(5)
_WINDOW = np.arange(-60, 61)


def geometric_pairs(mechanism: Any, domain: Any) -> tuple[Floats, Floats]:
    """Laws of whole noise around each two neighbouring values of a statistic, by its formula."""
    values = mechanism.statistic.values(domain.points(np.arange(domain.size)))
    index = {point.tobytes(): k for k, point in enumerate(domain.points(np.arange(domain.size)))}
    sizes = {
        abs(int(values[index[point.tobytes()]]) - int(values[index[other.tobytes()]]))
        for point in domain.points(np.arange(domain.size))
        for other in domain.neighbours(point)
    }
    q = math.exp(-1 / float(mechanism.noise.scale))
    law = lambda at: (1 - q) / (1 + q) * q ** np.abs(_WINDOW - at)  # noqa: E731
    return np.array([law(0) for _ in sizes]), np.array([law(size) for size in sorted(sizes)])


def listed_pairs(mechanism: Any, domain: Any) -> tuple[Floats, Floats]:
    """Laws of all ordered neighbouring pairs, as floats."""
    points = domain.points(np.arange(domain.size))
    laws = {point.tobytes(): output_law(mechanism, point) for point in points}
    outputs = list(dict.fromkeys(o for law in laws.values() for o in law))
    rows = {key: [float(law.get(o, 0.0)) for o in outputs] for key, law in laws.items()}
    pairs = [(p.tobytes(), q.tobytes()) for p in points for q in domain.neighbours(p)]
    pairs = list(dict.fromkeys(pairs))
    return np.array([rows[p] for p, _ in pairs]), np.array([rows[q] for _, q in pairs])


def pairs_of(case: dict[str, Any]) -> tuple[Floats, Floats]:
    if case["from"] == "catalogue":
        table = chances(case["name"])
        near = np.argwhere(neighbours(FIVE, case["relation"]))
        return table[near[:, 0]], table[near[:, 1]]
    mechanism, domain = built(case["name"])
    if isinstance(mechanism, ShiftMechanism):
        return geometric_pairs(mechanism, domain)
    return listed_pairs(mechanism, domain)


def name_of(case: dict[str, Any]) -> str:
    return f"{case['name']}-{case.get('relation', '')}"


def check(found: float, golden: float | str, digits: float) -> None:
    if math.isinf(float(golden)):
        assert math.isinf(found)
    else:
        assert found == pytest.approx(float(golden), rel=digits)


def test_every_case_is_there() -> None:
    assert {case["name"] for case in PUBLISHED} == set(CASES)
    wanted = set(product(FINITE, ("one", "all")))
    assert {(case["name"], case["relation"]) for case in CATALOGUE} == wanted


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case, marks=[pytest.mark.slow] if case.get("relation") == "all" or number % 2 else []
        )
        for number, case in enumerate(PUBLISHED + CATALOGUE)
    ],
    ids=name_of,
)
def test_the_oracle_gives_the_golden_numbers(case: dict[str, Any]) -> None:
    p, q = pairs_of(case)
    check(largest_rho(p, q), case["rho"], 1e-8)
    check(largest_mu(p, q), case["mu"], 1e-8)


@pytest.mark.parametrize("case", PUBLISHED, ids=name_of)
def test_published_mechanisms_have_the_golden_numbers(case: dict[str, Any]) -> None:
    mechanism, domain = built(case["name"])
    rho, mu = lt.exact_rho(mechanism, domain), lt.exact_mu(mechanism, domain)
    check(rho.value, case["rho"], 1e-8)
    check(mu.value, case["mu"], 1e-8)
    if math.isfinite(rho.value) and rho.value:
        assert rho.upper - rho.lower <= 1e-9 * rho.upper


#: Code of which all 243 laws take seconds; test_catalogue_traced.py compares more of them.
TRACED = ("svt4", "noisy max 2")


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [case for case in CATALOGUE if case["relation"] == "all" and case["name"] in TRACED],
    ids=name_of,
)
def test_traced_code_has_the_golden_numbers(case: dict[str, Any]) -> None:
    domain = lt.AnswerGrid([3] * 5, relation=case["relation"])
    mechanism = lt.mechanism(ENTRIES[case["name"]].build())
    check(lt.exact_rho(mechanism, domain).value, case["rho"], 1e-8)
    check(lt.exact_mu(mechanism, domain).value, case["mu"], 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "relation"), [("SVT1", "all"), ("SVT4", "one"), ("SVT4", "all"), ("SVT6", "all")]
)
def test_sparse_vector_with_whole_noise(kind: str, relation: str) -> None:
    domain = lt.AnswerGrid([3] * 5, relation=relation)
    mechanism = sparse_vector(kind)
    rows = np.exp(mechanism.log_pmf(FIVE))
    near = np.argwhere(neighbours(FIVE, relation))
    p, q = rows[near[:, 0]], rows[near[:, 1]]
    found = lt.exact_rho(mechanism, domain), lt.exact_mu(mechanism, domain)
    # The formula is declared with an error, which shows close to order 1.
    for one, exact in zip(found, (largest_rho(p, q), largest_mu(p, q)), strict=True):
        assert one.lower * (1 - 1e-9) <= exact <= one.upper * (1 + 1e-9)
        assert one.upper <= one.lower * (1 + 1e-5)
