"""Each sampling method catches a mechanism just worse than its claim as often as it promises.

Every mechanism has an exactly known exceptional mass, a little above the claimed one, and is the
hardest case of its method: little else than that mass gives it away.
"""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pytest

import liptest as lt
from liptest.lipschitz.distance import distance_to_lipschitz
from liptest.privacy.exception_mass import exception_mass
from liptest.verdicts import Decision
from tests.statistical.binomial import SEEDS, is_plausible
from tests.unit.privacy.cases import closed, neighbouring

pytestmark = pytest.mark.slow

EPSILON = 1.0
FAILURE = 0.05
# The exact mass is this much above the claim.
ABOVE = 1 + 1e-6


@dataclass(frozen=True)
class Case:
    """A mechanism and the least mass of datasets off which its claim holds."""

    mechanism: object
    distribution: lt.ProductDistribution
    mass: float


def edge_case():
    """Bad pairs in one direction, told only where two other bits are 1.

    There output 0 has 0.01 e^0.75 or 0.01 e^-0.75, elsewhere 0.01: only bit 0 breaks the claim.
    """
    law = lt.ProductDistribution.bernoulli([0.45, 0.6, 0.55, 0.5])
    points = next(law.domain.all_points())
    told = (points[:, 1] == 1) & (points[:, 2] == 1)
    shift = np.where(told, 0.75, 0.0) * np.where(points[:, 0] == 1, 1.0, -1.0)
    p = 0.01 * np.exp(shift)
    # The lighter ends of the bad pairs: x_0 = 1, a matching, so nothing lighter covers them.
    return Case(closed(law.domain, np.stack([p, 1 - p], axis=1)), law, 0.45 * 0.6 * 0.55)


def line_case():
    """One of 8 values on a line of datasets: every two of them are told apart."""
    law = lt.ProductDistribution.uniform(lt.RecordGrid([8, 8]))
    points = next(law.domain.all_points())
    raised = np.zeros((64, 9))
    on_line = np.flatnonzero(points[:, 1] == 0)
    # 1.05 between two datasets of the line, at most 0.7 to any other dataset.
    raised[on_line] = -0.35
    raised[on_line, points[on_line, 0]] = 0.7
    weights = 0.01 * np.exp(raised)
    weights[:, 8] = 1 - weights[:, :8].sum(axis=1)
    # Any 7 of the 8 datasets must go, and all 8 give themselves away.
    return Case(closed(law.domain, weights), law, 7 / 64)


CASES = {
    "neighbourhoods": line_case(),
    "light-neighbourhoods": edge_case(),
    "edges": edge_case(),
    "group": edge_case(),
    "VarianceEdges": edge_case(),
}


def group_mass(case):
    """Sum over the outputs of the exact distance of ln mu(o) / epsilon to Lipschitz."""
    domain = case.distribution.domain
    logs = case.mechanism.log_pmf(next(domain.all_points()))
    tables = (logs[:, o].reshape(domain.sizes) / EPSILON for o in range(logs.shape[1]))
    return sum(distance_to_lipschitz(table, case.distribution).value for table in tables)


@dataclass(frozen=True)
class Tenth(lt.testers.VarianceEdges):
    """Makes a tenth of the draws."""

    def plan(self, distribution, **numbers):
        plan = super().plan(distribution, **numbers)
        draws = plan.draws // 10
        return replace(plan, draws=draws, queries=2 * draws)


def caught(method, case, *, failure=FAILURE, seeds=SEEDS, claim=None):
    """How many seeds end in a NO; the claim is EPSILON where none is given."""
    decisions = [
        lt.check_privacy(
            case.mechanism,
            case.distribution,
            **(claim or {"epsilon": EPSILON}),
            exception_mass=case.mass / ABOVE,
            failure_probability=failure,
            method=method,
            search_laws=0,
            seed=seed,
        ).decision
        for seed in range(seeds)
    ]
    assert set(decisions) <= {Decision.NO, Decision.YES}
    return decisions.count(Decision.NO)


def test_the_mass_of_the_edge_case_is_exact():
    case = CASES["edges"]
    found = exception_mass(case.mechanism, case.distribution, epsilon=EPSILON)
    assert found.lower == pytest.approx(case.mass, rel=1e-9)
    assert found.upper == pytest.approx(case.mass, rel=1e-9)
    assert case.mass / ABOVE < found.lower


def test_the_mass_of_the_line_case_is_exact():
    """The bad pairs are all pairs of 8 datasets: all but one of them must go."""
    case = CASES["neighbourhoods"]
    domain = case.distribution.domain
    logs = case.mechanism.log_pmf(next(domain.all_points()))
    bad = [(i, j) for i, j in neighbouring(domain) if np.abs(logs[i] - logs[j]).max() > EPSILON]
    line = [8 * value for value in range(8)]
    assert bad == list(combinations(line, 2))
    assert case.mass == 7 * case.distribution.exact_mass([0, 0])


def test_the_mass_of_the_group_form_is_exact():
    case = CASES["group"]
    assert group_mass(case) == pytest.approx(case.mass, rel=1e-9)
    assert case.mass / ABOVE < group_mass(case)


@pytest.mark.parametrize("name", CASES)
def test_a_mechanism_just_beyond_its_claim_is_caught(name):
    case = CASES[name]
    method = lt.testers.VarianceEdges() if name == "VarianceEdges" else name
    hits = caught(method, case)
    assert is_plausible(hits, SEEDS, at_least=1 - FAILURE)


@pytest.mark.parametrize("name", CASES)
def test_a_tenth_of_the_draws_would_not_do(name):
    """The number of draws is proportional to ln(1/failure)."""
    case = CASES[name]
    if name == "VarianceEdges":
        hits = caught(Tenth(), case)
    else:
        hits = caught(name, case, failure=FAILURE**0.1)
    assert not is_plausible(hits, SEEDS, at_least=1 - FAILURE)


def test_full_neighbourhoods_catch_a_rare_value_that_the_others_cannot_see():
    """x_0 = 1 has mass 0.02, below the claimed 0.1, but every pair of record 0 is bad."""
    law = lt.ProductDistribution.bernoulli([0.02, 0.5, 0.5])
    told = [[0.9, 0.1] if i < 4 else [0.1, 0.9] for i in range(8)]
    case = Case(closed(law.domain, told), law, 0.1)
    assert len([pair for pair in neighbouring(law.domain) if pair[0] // 4 != pair[1] // 4]) == 4
    assert caught("neighbourhoods", case, seeds=100) == 100
    light = caught("light-neighbourhoods", case, seeds=200)
    assert not is_plausible(light, 200, at_least=1 - FAILURE)
