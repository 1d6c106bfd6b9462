"""Installed libraries, unmodified: their exact epsilons, their bugs found, their fixes accepted.

``LIPTEST_LIBRARIES`` names the environment of real_libraries.json that these tests run in; each
has a session of noxfile.py, which installs the pinned versions. Without it only the mechanisms
that are formulas are tested. A library that is missing, or of another version, is a failure.
"""

from __future__ import annotations

import json
import math
import os
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.mechanisms.laws import Raised
from liptest.privacy.exact import exact_epsilon
from tests.golden.library_programs import PROGRAMS, histogram, quantile

KNOWN: dict[str, Any] = json.loads(
    Path(__file__).with_name("real_libraries.json").read_text(encoding="utf-8")
)
HERE = os.environ.get("LIPTEST_LIBRARIES", "formulas")
CASES = [case for case in KNOWN["cases"] if case["environment"] == HERE]
# Libraries warn of their own dependencies.
pytestmark = pytest.mark.filterwarnings("default")


def only_in(environment: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(environment != HERE, reason=f"a session of its own: {environment}")


def test_the_environment_is_the_one_that_is_named() -> None:
    pinned = dict(one.split("==") for one in KNOWN["environments"][HERE] if "==" in one)
    assert {name: version(name) for name in pinned} == pinned


def test_every_case_has_a_program_and_an_environment() -> None:
    assert {case["id"] for case in KNOWN["cases"]} == set(PROGRAMS)
    assert {case["environment"] for case in KNOWN["cases"]} <= KNOWN["environments"].keys()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_exact_epsilon_and_the_verdict(case: dict[str, Any]) -> None:
    mechanism, domain = PROGRAMS[case["id"]]()
    assert exact_epsilon(mechanism, domain).value == pytest.approx(case["epsilon"], abs=1e-12)
    verdict = lt.check_privacy(
        mechanism, lt.ProductDistribution.uniform(domain), epsilon=case["claim"]
    )
    assert verdict.decision == case["verdict"]
    if case["verdict"] == "NO":
        assert verdict.witness is not None
        assert verdict.witness.verify(mechanism)


def of_scoreboard(name: str) -> Any:
    """A module of the scoreboard; some libraries install a package ``benchmarks`` of their own."""
    if HERE != "formulas":
        ours = sys.modules.setdefault("liptest_benchmarks", ModuleType("benchmarks"))
        ours.__path__ = [str(Path(__file__).parents[2] / "benchmarks")]
        sys.modules["benchmarks"] = ours
    return import_module(f"benchmarks.world.{name}")


#: Mechanisms of tables on the scoreboard, with a version of each that has a documented bug.
OF_TABLES = [row for row in of_scoreboard("board").ROWS if row.name in KNOWN["tables"]]


def test_three_documented_bugs_of_tables_have_a_broken_and_a_fixed_version() -> None:
    assert len({row.report for row in OF_TABLES}) >= 3
    for row in OF_TABLES:
        assert {*row.broken} < {*row.versions}
        environments = {f"{row.library}-{version}" for version in row.versions}
        assert environments <= KNOWN["environments"].keys()


TABLES_HERE = [row for row in OF_TABLES if HERE.rpartition("-")[0] == row.library]


@pytest.mark.parametrize("row", TABLES_HERE, ids=lambda row: row.name)
def test_documented_bugs_of_tables_are_refuted_and_the_fixed_versions_never(row: Any) -> None:
    library_version = HERE.rpartition("-")[2]
    found = of_scoreboard("rows").answer(row, library_version)
    assert (found["verdict"] == "NO") == (library_version in row.broken), found


@only_in("diffprivlib-0.6.6")
def test_the_histogram_of_diffprivlib_under_both_relations() -> None:
    known = KNOWN["histogram"]
    epsilon = known["claim"]
    changed = lt.mechanism(lambda data: histogram(data.tolist(), epsilon))
    left, right = (lt.output_law(changed, np.array(known[k])) for k in ("dataset", "neighbour"))
    output = tuple(known["output"])
    assert math.log(right[output] / left[output]) == pytest.approx(known["substitution"], abs=1e-9)
    # The floats of the sampler cost a mass of 1e-12, and an exception where log(0) is taken.
    counts = lt.mechanism(lambda data: histogram([0] * int(data[0]) + [1] * int(data[1]), epsilon))
    for mechanism, domain, decision in (
        (counts, lt.Hypergrid([2, 2]), "YES"),
        (changed, lt.Hypercube(1), "NO"),
    ):
        verdict = lt.check_privacy(
            mechanism,
            lt.ProductDistribution.uniform(domain),
            epsilon=epsilon,
            delta=1e-12,
            method="exhaustive",
        )
        assert verdict.decision == decision
    assert verdict.witness is not None
    assert verdict.witness.verify(mechanism)
    law = lt.output_law(counts, np.array([1, 1]))
    raised = [mass for seen, mass in law.items() if seen == Raised("OverflowError")]
    assert raised == [pytest.approx(2.0**-52, rel=1e-9)]


@only_in("smartnoise-sql-1.0.1")
def test_the_quantile_of_smartnoise_raises_on_typical_data() -> None:
    known = KNOWN["quantile"]
    mechanism = quantile(known["records"])
    rates = np.full(known["records"], known["click_rate"])
    verdict = lt.check_privacy(
        mechanism, lt.ProductDistribution.bernoulli(rates), epsilon=known["claim"]
    )
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.verify(mechanism)
    assert verdict.witness.output == Raised("ValueError")
    laws = mechanism.laws_of(np.arange(4))
    raising = [Raised("ValueError") in law for law in map(mechanism.law, _with_ones(known))]
    assert laws is not None
    assert raising == [True, True, False, False]
    n, rate = known["records"], known["click_rate"]
    mass = (1 - rate) ** n + n * rate * (1 - rate) ** (n - 1)
    assert mass == pytest.approx(known["mass_that_raises"], abs=5e-5)


def _with_ones(known: dict[str, Any]) -> list[Any]:
    return [np.arange(known["records"]) < ones for ones in range(4)]
