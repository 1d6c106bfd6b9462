"""Early stop at the first violated pair, budgets, and Ctrl-C."""

import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.methods import edge_pairs, full_neighbourhoods, light_neighbourhoods
from liptest.privacy.samples.intervals import certify_mass
from liptest.verdicts import Decision

D = 40
UNIFORM = lt.ProductDistribution.uniform(lt.Hypercube(D))


def coin(datasets):
    return np.log(np.full((len(datasets), 2), 0.5))


FAIR = lt.ClosedForm([0, 1], coin)


def rare(limit):
    """A coin, biased when the first bit is 1 and the others have at least ``limit`` ones."""

    def log_pmf(datasets):
        ones = datasets[:, 1:].sum(axis=1, dtype=np.int64)
        p = np.where((ones >= limit) & (datasets[:, 0] == 1), 0.9, 0.5)
        return np.log(np.stack([p, 1 - p], axis=1))

    return lt.ClosedForm([0, 1], log_pmf, name="rare")


def is_bad(x, y, limit):
    tells = [sum(point[1:]) >= limit and point[0] == 1 for point in (x, y)]
    return tells[0] != tells[1]


def check(mechanism, method="neighbourhoods", **options):
    return lt.check_privacy(
        mechanism,
        UNIFORM,
        **{
            "epsilon": 0.5,
            "exception_mass": 1e-3,
            "failure_probability": 1e-6,
            "seed": 3,
            "method": method,
            **options,
        },
    )


DRAWS = {
    "neighbourhoods": (full_neighbourhoods, 1 + D),
    "light-neighbourhoods": (light_neighbourhoods, 1 + D / 2),
    "edges": (edge_pairs, 2.0),
}


@pytest.mark.parametrize("method", DRAWS)
def test_the_witness_is_the_first_violated_pair_in_draw_order(method):
    """Replays the chunks: chunk k draws from SeedSequence(seed, spawn_key=(0, k))."""
    limit = 28
    verdict = check(rare(limit), method)
    assert verdict.decision is Decision.NO
    law, per_draw = DRAWS[method]
    chunk = int((1 << 16) / per_draw)
    draws = pairs = 0
    for number in range(math.ceil(verdict.plan.draws / chunk)):
        sequence = np.random.SeedSequence(3, spawn_key=(0, number))
        count = min(chunk, verdict.plan.draws - draws)
        batch = law(UNIFORM, np.random.Generator(np.random.SFC64(sequence)), count)
        left, right = batch.pair_positions()
        for at, (i, j) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            x, y = batch.points.point(i).tolist(), batch.points.point(j).tolist()
            if is_bad(x, y, limit):
                found = verdict.witness.dataset, verdict.witness.neighbour
                assert found == (tuple(x), tuple(y))
                assert verdict.cost.draws == draws + batch.draw_of(j) + 1
                assert verdict.cost.pairs == pairs + at + 1
                return
        draws, pairs = draws + count, pairs + len(left)
    raise AssertionError("no violated pair was drawn")


@pytest.mark.parametrize("method", [*DRAWS, "group", lt.testers.VarianceEdges()])
def test_a_budget_ends_without_a_verdict_and_is_kept(method):
    for budget in (50, 5_000):
        verdict = check(FAIR, method, budget=budget)
        assert verdict.decision is Decision.INCONCLUSIVE
        assert "budget" in verdict.reason
        assert verdict.cost.laws > 0
        if method != "light-neighbourhoods":
            assert verdict.cost.laws <= budget
        else:
            # Drawn for the mean; at most 1 + D laws each.
            assert verdict.cost.laws <= budget / per_light_draw() * (1 + D)
        assert verdict.plan.laws > budget


def per_light_draw():
    return 1 + D / 2


def test_a_budget_that_suffices_changes_nothing():
    free = check(FAIR, exception_mass=0.01)
    paid = check(FAIR, exception_mass=0.01, budget=int(free.plan.laws))
    assert paid.decision is Decision.YES
    assert paid.cost.laws == free.cost.laws == free.plan.laws


def test_a_violation_within_the_budget_is_a_no():
    verdict = check(rare(0), budget=100)
    assert verdict.decision is Decision.NO
    assert verdict.cost.laws <= 100


def interrupt_after(calls):
    seen = []

    def progress(done, planned):
        seen.append((done, planned))
        if len(seen) == calls:
            raise KeyboardInterrupt

    return progress, seen


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("method", ["neighbourhoods", "light-neighbourhoods"])
@pytest.mark.parametrize("calls", [1, 3])
def test_ctrl_c_keeps_what_the_clean_draws_certify(method, calls, workers):
    progress, seen = interrupt_after(calls)
    executor = ThreadPoolExecutor(workers) if workers else None
    verdict = check(FAIR, method, progress=progress, executor=executor)
    assert len(seen) == calls
    assert verdict.decision is Decision.INCONCLUSIVE
    assert verdict.guarantee.kind == "none"
    m = verdict.cost.draws
    assert (m, verdict.plan.draws) == seen[-1]
    assert "interrupted" in verdict.reason
    # Theory 3.9b: exception_mass <= 1 - w^(1/m), that is (1 - mass)^m <= w.
    mass = verdict.guarantee.exception_mass
    assert mass == certify_mass(m, 1e-6) > 1e-3
    assert mass == pytest.approx(1 - 1e-6 ** (1 / m), rel=1e-9)
    assert verdict.guarantee.failure_probability == 1e-6
    printed = float(verdict.guarantee.sentence.split("probability <= ")[1].split(",")[0])
    assert mass <= printed <= mass * 1.01


def test_a_printed_mass_is_never_below_the_certified_one():
    for calls in range(1, 6):
        progress, _ = interrupt_after(calls)
        guarantee = check(FAIR, progress=progress).guarantee
        printed = guarantee.sentence.split("probability <= ")[1].split(",")[0]
        assert Fraction(printed) >= Fraction(guarantee.exception_mass) * (1 - Fraction(1, 10**9))


@pytest.mark.parametrize("method", ["edges", "group", lt.testers.VarianceEdges()])
def test_ctrl_c_in_a_method_of_edges_certifies_nothing(method):
    progress, _ = interrupt_after(1)
    verdict = check(FAIR, method, progress=progress)
    assert verdict.decision is Decision.INCONCLUSIVE
    assert verdict.guarantee.exception_mass is None


def test_ctrl_c_in_a_proof_certifies_nothing():
    progress, seen = interrupt_after(1)
    law = lt.ProductDistribution.uniform(lt.Hypercube(13))
    spread = lt.ClosedForm([0, 1], one_law_per_dataset)
    verdict = lt.check_privacy(
        spread, law, epsilon=1.0, method="exhaustive", progress=progress, seed=1
    )
    assert len(seen) == 1
    assert (verdict.decision, verdict.guarantee.kind) == (Decision.INCONCLUSIVE, "none")
    assert verdict.guarantee.exception_mass is None
    assert 0 < verdict.cost.pairs < law.domain.neighbouring_pairs


def one_law_per_dataset(datasets):
    index = datasets.astype(float) @ 0.5 ** np.arange(2, 2 + datasets.shape[1])
    p = 0.25 + 0.1 * index
    return np.log(np.stack([p, 1 - p], axis=1))


def test_ctrl_c_after_a_violation_is_a_no():
    progress, _ = interrupt_after(1)
    for method in ("neighbourhoods", "exhaustive"):
        verdict = lt.check_privacy(
            rare(0),
            lt.ProductDistribution.uniform(lt.Hypercube(4)),
            epsilon=0.5,
            exception_mass=0.1,
            method=method,
            progress=progress,
            seed=1,
        )
        assert verdict.decision is Decision.NO


@pytest.mark.slow
def test_progress_counts_up_to_the_plan():
    seen = []
    verdict = check(FAIR, progress=lambda done, planned: seen.append((done, planned)))
    assert seen[-1] == (verdict.plan.draws, verdict.plan.draws)
    assert seen == sorted(seen)
    rounds = math.ceil(verdict.plan.draws / int((1 << 16) / (1 + D)))
    # Each is judged in pieces of at most 4,096 laws.
    assert len(seen) == rounds * 16
