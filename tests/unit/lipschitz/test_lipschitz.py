"""``check_lipschitz`` with one-stage testers: verdicts, witnesses, counts, errors."""

import math

import numpy as np
import pytest

import liptest as lt
from liptest.lipschitz.testers.cdjs15 import CDJS15
from liptest.lipschitz.testers.cs12 import CS12
from liptest.lipschitz.testers.hamming_lines import HammingLines
from liptest.lipschitz.testers.variance_edges import VarianceEdges
from liptest.lipschitz.verdicts import LipschitzVerdict
from liptest.verdicts import round_up

CUBE = lt.ProductDistribution.uniform(lt.Hypercube(5))
GRID = lt.ProductDistribution.uniform(lt.Hypergrid([9, 9]))
RECORDS = lt.ProductDistribution.uniform(lt.RecordGrid([4, 3]))
NUMBERS = {"proximity": 0.1, "failure_probability": 0.01}


def check(function, law, seed=0, **more):
    return lt.check_lipschitz(function, law, seed=seed, **{**NUMBERS, **more})


@pytest.mark.parametrize("law", [CUBE, GRID, RECORDS], ids=lambda law: type(law.domain).__name__)
def test_accepting(law):
    verdict = check(lambda points: 0.5 * (points[:, 0] > 0), law)
    assert verdict.decision == "ACCEPT"
    assert verdict.witness is None
    assert verdict.cost.queries <= verdict.plan.queries
    assert verdict.cost.draws == verdict.plan.draws
    assert verdict.guarantee.exception_mass == 0.1
    assert verdict.guarantee.failure_probability == 0.01
    assert verdict.largest_ratio == 0.5
    assert LipschitzVerdict.from_json(verdict.to_json()) == verdict


@pytest.mark.parametrize("law", [CUBE, GRID, RECORDS], ids=lambda law: type(law.domain).__name__)
def test_rejecting_with_neighbours(law):
    def steep(points):
        return 1.25 * points[:, 1] ** 2

    verdict = check(steep, law)
    assert verdict.decision == "REJECT"
    assert verdict.witness.distance == 1
    assert verdict.witness.verify(steep, law.domain)
    assert verdict.witness.limit == pytest.approx(1.0)
    assert verdict.largest_ratio >= verdict.witness.difference
    assert verdict.guarantee.kind == "refutation"
    assert LipschitzVerdict.from_json(verdict.to_json()) == verdict


def test_the_queries_of_narrowing_are_counted():
    asked = []

    def steep(points):
        asked.append(len(points))
        return 2.0 * points.sum(axis=1)

    verdict = check(steep, GRID)
    assert verdict.cost.queries + verdict.cost.repeats == sum(asked)
    narrowing = verdict.cost.queries - verdict.plan.queries
    assert narrowing == len(asked) - 3  # all pairs, the first again, .., the witness again
    assert 0 <= narrowing <= math.ceil(math.log2(8))


def test_a_pair_far_apart_was_narrowed():
    seeds = [check(lambda p: 2.0 * p.sum(axis=1), GRID, seed=s).cost.queries for s in range(20)]
    assert max(seeds) > CDJS15().plan(GRID, **NUMBERS).queries


def test_a_line_of_records_is_rejected_by_its_range():
    def far(points):  # 0.6 off the centre either way: only the two ends are violated
        return 0.6 * (points[:, 0] - 1.0) * (points[:, 0] < 3)

    verdict = check(far, RECORDS)
    assert verdict.decision == "REJECT"
    assert {verdict.witness.value, verdict.witness.neighbour_value} == {-0.6, 0.6}


@pytest.mark.parametrize(
    ("law", "tester"),
    [
        (lt.ProductDistribution.bernoulli([0.0, 1.0]), VarianceEdges()),
        (lt.ProductDistribution.bernoulli([0.0, 1.0]), CDJS15()),
        (lt.ProductDistribution(lt.RecordGrid([2, 2]), [[0, 1], [1, 0]]), HammingLines()),
    ],
)
def test_nothing_to_query(law, tester):
    verdict = check(lambda points: 100.0 * points[:, 0], law, tester=tester)
    assert verdict.decision == "ACCEPT"
    assert (verdict.cost.queries, verdict.guarantee.kind) == (0, "proof")
    assert verdict.reason == "nothing to test"


@pytest.mark.parametrize("constant", [1e-6, 0.1, 1 / 3, 7.0, 1e6])
def test_ties_at_the_constant_are_accepted(constant):
    verdict = check(lambda points: constant * points.sum(axis=1), GRID, lipschitz_constant=constant)
    assert verdict.decision == "ACCEPT"
    assert verdict.largest_ratio == pytest.approx(constant)
    over = check(
        lambda points: constant * (1 + 1e-8) * points.sum(axis=1),
        GRID,
        lipschitz_constant=constant,
    )
    assert over.decision == "REJECT"


def test_tolerance_is_the_users():
    steep = lambda points: 1.01 * points[:, 0]  # noqa: E731
    assert check(steep, CUBE).decision == "REJECT"
    assert check(steep, CUBE, tolerance=0.006).decision == "ACCEPT"


def test_rounding_of_matrix_products_is_no_change_of_answers():
    law = lt.ProductDistribution.uniform(lt.Hypercube(57))
    weights = np.random.default_rng(0).normal(size=57) / 4
    for seed in range(20):
        assert check(lambda points: points @ weights, law, seed=seed).decision == "ACCEPT"


def test_a_function_that_changes_its_answers_is_an_error():
    noise = np.random.default_rng(0)
    with pytest.raises(lt.errors.FunctionError, match="at the same point"):
        check(lambda points: noise.normal(size=len(points)), CUBE)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_are_finite(value):
    with pytest.raises(lt.errors.FunctionError, match="finite"):
        check(lambda points: np.where(points[:, 0] == 1, value, 0.0), CUBE)


def test_an_interrupted_run_certifies_its_clean_draws():
    law = lt.ProductDistribution.uniform(lt.Hypercube(100))
    numbers = {"proximity": 0.002, "failure_probability": 1e-6}
    done = []

    def interrupt(draws, planned):
        done.append((draws, planned))
        raise KeyboardInterrupt

    verdict = check(
        lambda points: 0.5 * points[:, 0], law, tester=CS12(), progress=interrupt, **numbers
    )
    draws, planned = done[0]
    assert verdict.decision == "INCONCLUSIVE"
    assert verdict.reason == "interrupted"
    assert 0 < verdict.cost.draws == draws < planned == verdict.plan.draws
    mass = verdict.guarantee.exception_mass
    assert numbers["proximity"] < mass < 1
    # The plan for that mass asks for no more draws than were made.
    assert (1 - mass / 100) ** draws == pytest.approx(1e-6)
    assert f"{round_up(mass):.4g}" in verdict.guarantee.sentence


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("proximity", 0.0),
        ("proximity", 1.5),
        ("failure_probability", math.nan),
        ("lipschitz_constant", 0.0),
        ("lipschitz_constant", math.inf),
        ("tolerance", -1e-9),
        ("seed", -1),
        ("tester", "DJT99"),
        ("executor", 2),
    ],
)
def test_wrong_arguments(name, value):
    with pytest.raises(lt.errors.InputError, match=name):
        check(lambda points: points[:, 0], CUBE, **{name: value})


def test_wrong_function_and_distribution():
    with pytest.raises(lt.errors.InputError, match="function"):
        check(np.zeros((2, 2)), CUBE)
    with pytest.raises(lt.errors.InputError, match="distribution"):
        check(lambda points: points[:, 0], lt.Hypercube(3))


def test_same_seed_same_verdict():
    first, again = (check(lambda p: 1.1 * p[:, 0], CUBE, seed=4) for _ in range(2))
    assert first.witness == again.witness
    unseeded = lt.check_lipschitz(lambda p: 1.1 * p[:, 0], CUBE, **NUMBERS)
    repeated = check(lambda p: 1.1 * p[:, 0], CUBE, seed=unseeded.seed)
    assert repeated.witness == unseeded.witness
