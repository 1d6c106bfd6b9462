"""Very many edges, found by bounds over windows, against visiting each of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.errors import BudgetError
from liptest.privacy.proofs import exhaustive as difference_pairs
from liptest.privacy.proofs import exhaustive as edge_blocks
from liptest.privacy.request import Task
from liptest.privacy.settings import CheckSettings
from liptest.privacy.visits import choose_method

small = settings(max_examples=40, deadline=None)


class Lookup:
    """Laws of values by a table, so that they may be anything; refuses values nothing has."""

    def __init__(self, seed: int, outputs: int, zeros: float, reached: set[int]) -> None:
        self.seed, self.outputs, self.zeros, self.reached = seed, outputs, zeros, reached

    def __call__(self, values: np.ndarray) -> np.ndarray:
        assert set(values.tolist()) <= self.reached, "a value that no dataset has"
        rows = [self._row(int(value)) for value in values]
        with np.errstate(divide="ignore"):
            return np.log(np.array(rows).reshape(-1, self.outputs))

    def _row(self, value: int) -> np.ndarray:
        rng = np.random.default_rng([self.seed, value % 2**32])
        # Few different numbers: ties are the normal case.
        weights = rng.integers(1, 4, size=self.outputs) * (rng.random(self.outputs) >= self.zeros)
        weights[0] = max(weights[0], 1)
        return weights / weights.sum()


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, lt.Hypercube | lt.Hypergrid | lt.RecordGrid]:
    kind = draw(st.sampled_from([lt.Hypercube, lt.Hypergrid, lt.RecordGrid]))
    d = draw(st.integers(1, 5))
    domain = (
        lt.Hypercube(d)
        if kind is lt.Hypercube
        else kind(draw(st.lists(st.integers(1, 4), min_size=d, max_size=d)))
    )
    weight = st.integers(-9, 9)
    if draw(st.booleans()):
        statistic: Any = lt.statistics.WeightedSum(draw(st.lists(weight, min_size=d, max_size=d)))
    else:
        tables = [draw(st.lists(weight, min_size=n, max_size=n)) for n in domain.sizes]
        statistic = lt.statistics.Contributions.each(tables)
    points = domain.points(np.arange(domain.size))
    reached = set(statistic.values(points).tolist())
    zeros = draw(st.sampled_from([0.0, 0.0, 0.3]))
    exact = draw(st.booleans())
    law = Lookup(draw(st.integers(0, 999)), draw(st.integers(2, 5)), zeros, reached)
    outputs = range(law.outputs)
    return lt.StatisticMechanism(statistic, outputs, law, exact_zeros=exact), domain


def with_windows(task: Any) -> Any:
    """The task where every edge goes through windows, and these are narrow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edge_blocks, "FEW_EDGES", -1)
        patch.setattr(difference_pairs, "_ROWS", 7)
        patch.setattr(difference_pairs, "_WINDOW", 5)
        patch.setattr(difference_pairs, "_SLICE", 9)
        return task()


@pytest.mark.slow
@given(cases())
@small
def test_exact_epsilon_is_that_of_a_plain_pass(case: tuple[Any, Any]) -> None:
    mechanism, domain = case
    plain = lt.exact_epsilon(mechanism, domain)
    found = with_windows(lambda: lt.exact_epsilon(mechanism, domain))
    assert found.pairs == plain.pairs == mechanism.statistic.edge_count(domain)
    assert found.upper == pytest.approx(plain.upper, rel=1e-12)
    # Among zeros that may be underflows the worst pair is whichever comes first.
    if math.isfinite(plain.upper) or mechanism.exact_zeros:
        assert found.lower == pytest.approx(plain.lower, rel=1e-12)
        assert found.value == pytest.approx(plain.value, rel=1e-12)
    if found.witness is not None:
        assert found.witness.verify(mechanism)


@pytest.mark.slow
@given(cases(), st.sampled_from([0.5, 1 - 1e-6, 1.0, 1 + 1e-6, 2.0]), st.booleans())
@small
def test_verdicts_are_those_of_a_plain_pass(
    case: tuple[Any, Any], factor: float, tolerant: bool
) -> None:
    mechanism, domain = case
    value = lt.exact_epsilon(mechanism, domain).value
    epsilon = 1.0 if value == 0 or math.isinf(value) else factor * value

    def check() -> lt.PrivacyVerdict:
        return lt.check_privacy(
            mechanism,
            lt.ProductDistribution.uniform(domain),
            epsilon=epsilon,
            tolerance=1e-9 if tolerant else 0.0,
            method="exhaustive",
            seed=1,
        )

    plain, found = check(), with_windows(check)
    assert found.decision == plain.decision
    assert found.cost.pairs == plain.cost.pairs or found.decision == "NO"
    if found.witness is not None and found.decision == "NO":
        assert found.witness.verify(mechanism)


def window(weights: Any, error: float | None = None) -> Any:
    """A sum with rounded noise of scale the largest weight: epsilon 1 exactly at that weight."""
    top, scale = int(np.sum(weights)), int(np.max(weights))
    outputs = np.arange(0, top + 1, max(1, top // 7))

    def log_pmf(values: np.ndarray) -> np.ndarray:
        logs = -np.abs(outputs - values[:, None]) / (2 * scale)
        return logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))

    return lt.StatisticMechanism(
        lt.statistics.WeightedSum(weights), outputs.tolist(), log_pmf, error=error, name="window"
    )


@pytest.mark.slow
def test_millions_of_edges_are_not_visited() -> None:
    mechanism, domain = window(np.arange(1, 201)), lt.Hypercube(200)
    found = lt.exact_epsilon(mechanism, domain)
    assert found.pairs == mechanism.statistic.edge_count(domain) == 4_000_096
    assert found.laws == 20_101
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edge_blocks, "FEW_EDGES", 10**9)
        plain = lt.exact_epsilon(mechanism, domain)
    assert found.lower == plain.lower
    assert found.pairs == plain.pairs


@pytest.mark.slow
def test_auto_proves_what_no_enumeration_could() -> None:
    mechanism, law = (
        window(np.arange(1, 1001)),
        lt.ProductDistribution.uniform(lt.Hypercube(1000)),
    )
    verdict = lt.check_privacy(mechanism, law, epsilon=1.0)
    assert (verdict.decision, verdict.method) == ("YES", "exhaustive")
    assert verdict.cost.pairs == 500_000_496
    task = Task(mechanism, law, CheckSettings(epsilon=1.0, delta=1e-3), 1)
    assert choose_method(task) == "neighbourhoods"
    with pytest.raises(BudgetError, match="500,000"):
        lt.check_privacy(mechanism, law, epsilon=1.0, delta=1e-3, method="exhaustive")


@pytest.mark.slow
def test_a_shift_needs_one_edge_of_each_difference() -> None:
    domain = lt.Hypercube(1000)
    mechanism = lt.ShiftMechanism(
        lt.statistics.WeightedSum(np.arange(1, 1001)), lt.DiscreteLaplace(1000)
    )
    law = lt.ProductDistribution.uniform(domain)
    yes = lt.check_privacy(mechanism, law, epsilon=1.0)
    assert (yes.decision, yes.method) == ("YES", "exhaustive")
    assert (yes.cost.laws, yes.cost.pairs) == (2000, 500_000_496)
    no = lt.check_privacy(mechanism, law, epsilon=0.999)
    assert no.decision == "NO"
    assert no.witness.verify(mechanism)
    assert lt.check_privacy(mechanism, law, epsilon=0.9, delta=0.2).method == "exhaustive"


def test_too_many_pairs_at_the_line_are_refused() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(difference_pairs, "MOST_KEPT", 100)
        mechanism = window(np.arange(1, 201), error=0.2)
        with pytest.raises(BudgetError, match="smaller error="):
            lt.check_privacy(
                mechanism, lt.ProductDistribution.uniform(lt.Hypercube(200)), epsilon=0.9
            )


@pytest.mark.slow
def test_an_underflow_twice_is_never_a_yes() -> None:
    def log_pmf(values: np.ndarray) -> np.ndarray:
        logs = np.full((len(values), 2), -np.inf)
        logs[:, 0] = 0.0
        far = values < 19_000
        logs[far] = np.log(0.5)
        return logs

    for exact, decision in ((False, "INCONCLUSIVE"), (True, "NO")):
        mechanism = lt.StatisticMechanism(
            lt.statistics.WeightedSum(np.arange(1, 201)), "ab", log_pmf, exact_zeros=exact
        )
        found = lt.check_privacy(
            mechanism, lt.ProductDistribution.uniform(lt.Hypercube(200)), epsilon=800.0
        )
        assert found.decision == decision
