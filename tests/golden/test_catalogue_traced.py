"""The catalogue run through lt.mechanism as it is: exact epsilon from the code, or a refusal."""

from __future__ import annotations

import importlib
import math
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.verdicts import Decision
from tests.golden.catalogue_cases import ENTRIES, catalogue
from tests.golden.test_catalogue_table import FINITE, outputs_of

# What the tracing refuses: endless loops.
REFUSED = {"staircase"}
# Sums of several continuous draws: test_unbounded_notions has their numbers.
SUMS = {"gap svt", "gap noisy max"}
# Whole numbers without bound, compared over all of them.
WHOLE = {"svt3, geometric noise", "noisy max 3, geometric noise"}
# Real numbers with one draw each: the loss of all answers up by 1, which is the worst pair for
# all but the numerical svt.
CONTINUOUS = {
    **{"svt3": 2.5, "numerical svt": 0.5707957468253917, "noisy max 3": 2.5},
    **{"noisy max 4": math.inf, "noisy hist 1": 5.0, "noisy hist 2": 10.0},
    **{"partial sum": 5.0, "bad partial sum": 10.0, "prefix sum": 5.0, "smart sum": 6.0},
}
# Every refusal says what to do instead.
ADVICE = "declare the law with lt.ClosedForm"
# Whole numbers without bound on few pairs: loss exact on what is listed, tails bounded.
UNBOUNDED = {"noisy max 3, geometric noise", "bad partial sum, geometric noise"}
# More outputs than are followed: a law in part, which says how much it leaves out.
PARTIAL = {
    *("noisy hist 1, geometric noise", "discrete gaussian"),
    *("opendp integer laplace, scale 3", "opendp integer laplace, scale 1"),
}


@cache
def traced(name: str) -> Any:
    entry = ENTRIES[name]
    return lt.mechanism(entry.build(), name=name, max_seconds=1e6)


def test_every_entry_is_somewhere() -> None:
    assert {*FINITE, *REFUSED, *SUMS, *CONTINUOUS, *UNBOUNDED, *PARTIAL, *WHOLE} == set(ENTRIES)
    kinds = (FINITE, REFUSED, SUMS, CONTINUOUS, UNBOUNDED, PARTIAL, WHOLE - UNBOUNDED)
    assert sum(map(len, kinds)) == len(ENTRIES)


# A second and less each; the rest have many outputs, or sums of whole numbers for each.
QUICK = {"svt1", "svt4", "svt5", "noisy max 2"}
# Half a minute each, and as their twins with fewer hits, or with noise on the real line.
LONG = {"svt1, c = 2", "svt2, c = 2"} | {
    f"{name}, geometric noise"
    for name in ("svt1", "svt2", "svt5", "svt6", "svt1, c = 2", "svt2, c = 2", "noisy max 1")
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] * (n not in QUICK)) for n in FINITE if n not in LONG],
)
def test_exact_epsilon_from_the_code(name: str) -> None:
    """Both relations on {0, 1, 2}^5 to 1e-9, enclosed; all 243 laws and all pairs."""
    entry, mechanism = ENTRIES[name], traced(name)
    for relation in ("all", "one"):
        grid = lt.AnswerGrid(entry.sizes, relation=relation)
        found = lt.exact_epsilon(mechanism, grid)
        exact = entry.true(relation)
        assert (found.laws, found.pairs) == (grid.size, grid.neighbouring_pairs)
        if math.isinf(exact):
            assert found.value == math.inf
        else:
            assert found.value == pytest.approx(exact, abs=1e-9)
            assert found.lower - 1e-12 <= exact <= found.upper + 1e-12
            assert found.upper - found.lower < 1e-12
        assert found.witness is not None
        assert found.witness.verify(mechanism)


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["all", "one"])
@pytest.mark.parametrize("name", ["svt4", "noisy max 1"])
def test_verdicts_on_the_code(name: str, relation: str) -> None:
    entry, grid = ENTRIES[name], lt.AnswerGrid([3] * 5, relation=relation)
    law = lt.ProductDistribution.uniform(grid)
    verdict = lt.check_privacy(traced(name), law, epsilon=entry.claimed)
    holds = entry.true(relation) <= entry.claimed
    assert verdict.decision == (Decision.YES if holds else Decision.NO)
    assert verdict.method == "exhaustive"
    assert holds or verdict.largest_loss == pytest.approx(entry.true(relation), abs=1e-9)
    assert holds or entry.claimed < verdict.witness.loss <= verdict.largest_loss + 1e-9


@pytest.mark.parametrize("name", FINITE)
def test_outputs_are_those_of_the_paper(name: str) -> None:
    possible = set(range(5)) if name.startswith("noisy max") else set(outputs_of(name))
    law = lt.output_law(traced(name), np.array([0, 1, 2, 1, 0]))
    assert set(law) <= possible
    if not name.startswith("svt5"):
        assert set(law) == possible
    assert math.fsum(law.values()) == pytest.approx(1.0, abs=1e-13)


def all_up(name: str) -> tuple[Any, Any]:
    count = len(ENTRIES[name].sizes)
    return np.zeros(count, dtype=int), np.ones(count, dtype=int)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_refusal_says_what_to_do_instead(name: str) -> None:
    with pytest.raises(
        (lt.errors.UnsupportedRandomnessError, lt.errors.BudgetError), match=ADVICE
    ) as caught:
        lt.exact_loss(traced(name), [all_up(name)])
    assert "listed_pairs.py" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CONTINUOUS))
def test_real_numbers_with_noise_by_their_densities(name: str) -> None:
    """All answers up by 1."""
    entry, exact = ENTRIES[name], CONTINUOUS[name]
    found = lt.exact_loss(traced(name), [all_up(name)])
    assert exact == entry.true_all or (name == "numerical svt" and exact <= entry.true_all)
    if math.isinf(exact):
        assert found.lower == math.inf
    else:
        assert found.lower - 1e-12 <= exact <= found.upper + 1e-12
        assert found.upper - found.lower < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(UNBOUNDED))
def test_whole_numbers_without_bound(name: str) -> None:
    """The pair of the closed form: the loss of every output that is listed, never above it."""
    entry = ENTRIES[name]
    low, high = np.zeros(5, dtype=np.int64), np.ones(5, dtype=np.int64)
    laws = [lt.output_law(traced(name), point) for point in (low, high)]
    common = set(laws[0]) & set(laws[1])
    losses = [abs(math.log(laws[0][k] / laws[1][k])) for k in common]
    assert max(losses) == pytest.approx(entry.true_all, abs=1e-9)
    assert all(float(law.unexplored) < 1e-15 for law in laws)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(WHOLE))
def test_whole_numbers_are_compared_over_all_of_them(name: str) -> None:
    """The answer of a query is released; its noise is a difference of two draws."""
    seen: Any = traced(name).over_all_numbers(all_up(name)[0])
    found = seen.pair_loss(*all_up(name))
    assert abs(float(found.mid()) - ENTRIES[name].true_all) < 1e-12
    assert float(found.rad()) < 1e-12


@pytest.mark.slow
def test_counting_queries_expose_svt4_and_svt6() -> None:
    """All signs of five queries on one bit, base (1,1,1,1,1): the worst is the table's."""
    for name, entry in ((n, ENTRIES[n]) for n in ("svt1", "svt4", "svt6")):
        worst = 0.0
        for ups in range(6):
            signs = [[1]] * ups + [[-1]] * (5 - ups)
            queries = lt.statistics.CountingQueries(signs, base=[1] * 5)
            mechanism = lt.mechanism(entry.build(), statistic=queries, name=name)
            worst = max(worst, lt.exact_epsilon(mechanism, lt.Hypercube(1)).value)
        assert worst == pytest.approx(entry.true_all, abs=1e-9), name
    queries = lt.statistics.CountingQueries([[1], [1], [1], [1], [-1]], base=[1] * 5)
    mechanism = lt.mechanism(ENTRIES["svt4"].build(), statistic=queries)
    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    verdict = lt.check_privacy(mechanism, law, epsilon=1.0)
    assert verdict.decision == Decision.NO
    assert verdict.witness.output == (0, 0, 0, 0, 1)
    assert verdict.witness.verify(mechanism)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["svt4", "svt6"])
def test_counting_queries_of_disjoint_groups_are_cleared(name: str) -> None:
    queries = lt.statistics.CountingQueries(np.eye(3, dtype=int), base=[0, 1, 1])
    mechanism = lt.mechanism(ENTRIES[name].build(), statistic=queries)
    law = lt.ProductDistribution.uniform(lt.Hypercube(3))
    verdict = lt.check_privacy(mechanism, law, epsilon=1.0)
    assert verdict.decision == Decision.YES
    assert verdict.guarantee.kind == "proof"


@pytest.mark.parametrize("name", ["svt1", "svt4", pytest.param("svt6", marks=pytest.mark.slow)])
def test_ten_queries_on_the_worst_pairs(name: str) -> None:
    """Threshold 1, half of the queries up and half down: figures of the published suite."""
    known = {"svt1": 0.991422, "svt4": 1.749754, "svt6": 4.486180}
    mechanism = lt.mechanism(partial(ENTRIES[name].build(), threshold=1), name=name)
    middle = [1] * 10
    others = [[0] * 5 + [2] * 5] if name == "svt6" else [[2] * 9 + [0]]
    grid = lt.AnswerGrid([3] * 10, relation="all")
    found = lt.exact_loss(mechanism, [(middle, other) for other in others], domain=grid)
    assert found.value == pytest.approx(known[name], abs=1e-6)


@pytest.mark.parametrize(("scale", "claim"), [(3, 1 / 3), (1, 1.0)])
def test_opendp_noise_as_a_formula(scale: int, claim: float) -> None:
    """A count of 0 .. 3 with the noise, cut to 0 .. 3: what the library's clamped count shows."""
    port = importlib.import_module(f"{catalogue().__name__}.opendp_laplace")
    weight = port.sizes_law(scale)
    noise = np.arange(-400, 401)
    chance = np.array([weight(int(k)) for k in noise])
    chance /= chance.sum()

    def log_pmf(points: np.ndarray) -> np.ndarray:
        rows = []
        for (count,) in points:
            ends = np.clip(count + noise, 0, 12)
            rows.append(np.bincount(ends, weights=chance, minlength=13))
        return np.log(np.array(rows))

    grid = lt.AnswerGrid([13], relation="one")
    mechanism = lt.ClosedForm(range(13), log_pmf, error=1e-12)
    found = lt.exact_epsilon(mechanism, grid)
    assert found.value == pytest.approx(ENTRIES[f"opendp integer laplace, scale {scale}"].true_one)
    verdict = lt.check_privacy(mechanism, lt.ProductDistribution.uniform(grid), epsilon=claim)
    assert verdict.decision == (Decision.YES if scale == 1 else Decision.NO)
