"""Grids of query answers: both relations, what works on them and what refuses."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.blackbox.race import choose_pairs
from liptest.cli.data_options import DomainOptions
from liptest.data.domains import AllAnswers, OneAnswer
from liptest.data.edges import edge_distribution
from liptest.errors import InputError
from liptest.evidence import check_witness
from liptest.gate.routes import SensitivityGate
from liptest.lipschitz.local_filter import LocalFilter
from liptest.lipschitz.repair import mcshane
from liptest.privacy.noiseless import noiseless_privacy
from liptest.privacy.plans import privacy_plan_table
from liptest.privacy.proofs.exhaustive import neighbour_rows
from liptest.report.html import report_html
from liptest.runs.fingerprints import distribution_hash
from liptest.verdicts import Decision


def apart(x: Any, y: Any, relation: str) -> bool:
    moves = [abs(int(a) - int(b)) for a, b in zip(x, y, strict=True)]
    return max(moves) == 1 if relation == "all" else sum(moves) == 1


SIZES = [[3], [1], [2, 2], [3, 1, 2], [3, 3, 3], [2, 5, 1, 3]]


@pytest.mark.parametrize("relation", ["all", "one"])
@pytest.mark.parametrize("sizes", SIZES)
def test_pairs_are_those_of_the_definition(sizes: list[int], relation: str) -> None:
    grid = lt.AnswerGrid(sizes, relation=relation)
    points = list(product(*map(range, sizes)))
    wanted = {frozenset(p) for p in combinations(points, 2) if apart(*p, relation)}
    rows = neighbour_rows(grid)
    ends = [[tuple(p.tolist()) for p in grid.points(rows[:, side])] for side in (0, 1)]
    found = [frozenset(pair) for pair in zip(*ends, strict=True)]
    assert set(found) == wanted
    assert len(found) == len(wanted) == grid.neighbouring_pairs
    for point in points:
        near = {tuple(q.tolist()) for q in grid.neighbours(point)}
        assert near == {q for q in points if apart(point, q, relation)}


@pytest.mark.parametrize("sizes", SIZES)
def test_the_metric_of_all_answers_is_the_largest_difference(sizes: list[int]) -> None:
    grid = lt.AnswerGrid(sizes, relation="all")
    points = grid.points(np.arange(grid.size))
    table = np.abs(points[:, None].astype(int) - points[None].astype(int)).max(axis=2)
    assert np.array_equal(grid.distances(points, points), table)
    assert table.max() == grid.diameter
    assert np.array_equal(grid.distance(points, points[::-1]), np.diag(table[:, ::-1]))


def test_it_says_what_it_is() -> None:
    every, one = (lt.AnswerGrid([3] * 5, relation=r) for r in ("all", "one"))
    assert repr(every) == "AnswerGrid([3] * 5, relation='all')"
    assert repr(lt.AnswerGrid([3, 2], relation="one")) == "AnswerGrid([3, 2], relation='one')"
    assert isinstance(every, AllAnswers)
    assert isinstance(one, OneAnswer)
    assert isinstance(one, lt.Hypergrid)
    assert not isinstance(every, lt.Hypergrid)
    assert all(isinstance(grid, lt.AnswerGrid) for grid in (every, one))
    assert len({every, one, lt.Hypergrid([3] * 5)}) == 3
    for grid in (every, one):
        assert pickle.loads(pickle.dumps(grid)) == grid
        assert type(grid)([3] * 5) == grid


@pytest.mark.parametrize("relation", [None, "both", 1])
def test_a_relation_must_be_given(relation: Any) -> None:
    with pytest.raises(InputError, match=r"relation=.* must be 'all' .* or 'one'"):
        lt.AnswerGrid([3], relation=relation)
    with pytest.raises(InputError, match="sizes"):
        lt.AnswerGrid([0], relation="all")


def rounded_sum(width: int) -> lt.ClosedForm:
    """An output that a mass function of the sum of m answers decides: loss grows with the sum."""

    def log_pmf(points: np.ndarray) -> np.ndarray:
        chance = 0.5 + 0.04 * (points.sum(axis=1) - width)
        return np.log(np.stack([chance, 1 - chance], axis=1))

    return lt.ClosedForm([0, 1], log_pmf)


def largest(mechanism: Any, grid: Any) -> float:
    laws = {p: lt.output_law(mechanism, np.array(p)) for p in product(*map(range, grid.sizes))}
    relation = "all" if isinstance(grid, AllAnswers) else "one"
    return max(
        abs(math.log(laws[x][o] / laws[y][o]))
        for x, y in combinations(laws, 2)
        if apart(x, y, relation)
        for o in (0, 1)
    )


@pytest.mark.parametrize("relation", ["all", "one"])
def test_exact_epsilon_depends_on_the_relation(relation: str) -> None:
    grid, mechanism = lt.AnswerGrid([3] * 3, relation=relation), rounded_sum(3)
    found = lt.exact_epsilon(mechanism, grid)
    assert found.value == pytest.approx(largest(mechanism, grid), rel=1e-12)
    assert found.pairs == grid.neighbouring_pairs
    assert found.witness is not None
    assert apart(found.witness.dataset, found.witness.neighbour, relation)


@pytest.mark.parametrize(
    "method",
    ["exhaustive", "auto", pytest.param("neighbourhoods", marks=pytest.mark.slow), "search"],
)
def test_the_verdict_depends_on_the_relation(method: str) -> None:
    mechanism = rounded_sum(3)
    one, every = (
        lt.ProductDistribution.uniform(lt.AnswerGrid([3] * 3, relation=r)) for r in ("one", "all")
    )
    claim = largest(mechanism, one.domain) * 1.01
    assert largest(mechanism, every.domain) > 2 * claim
    how: Any = {"epsilon": claim, "method": method, "exception_mass": 0.01, "seed": 1}
    kept = lt.check_privacy(mechanism, one, **how)
    broken = lt.check_privacy(mechanism, every, **how)
    assert (kept.decision, broken.decision) == (Decision.YES, Decision.NO)
    assert broken.witness.verify(mechanism)
    assert broken.witness.distance == 1
    assert broken.relation == "every answer moves by at most 1"
    assert "moving every answer by at most 1" not in str(kept)


def test_neighbourhoods_visit_all_neighbours() -> None:
    grid = lt.AnswerGrid([3, 2, 4], relation="all")
    law = lt.ProductDistribution(grid, [[0.2, 0.3, 0.5], [0.5, 0.5], [0.1, 0.2, 0.3, 0.4]])
    mechanism = rounded_sum(3)
    claim = largest(mechanism, grid) * 1.01
    found = lt.check_privacy(mechanism, law, epsilon=claim, method="neighbourhoods", seed=3)
    assert found.decision == Decision.YES
    assert found.cost.draws == found.plan.draws == 13809
    assert found.cost.laws == found.cost.draws + found.cost.pairs
    assert found.cost.laws == pytest.approx(found.plan.laws, rel=0.02)
    assert found.cost.search_laws == 0
    points = grid.points(np.arange(grid.size))
    near = np.array([len(grid.neighbours(p)) for p in points])
    assert found.plan.laws == pytest.approx(13809 * (1 + near @ law.mass(points)), rel=1e-9)


@pytest.mark.slow
def test_a_run_of_neighbourhoods_counts_draws_up_to_the_violation() -> None:
    grid = lt.AnswerGrid([9, 9], relation="all")

    def log_pmf(points: np.ndarray) -> np.ndarray:
        special = (points == 4).all(axis=1)
        return np.log(np.where(special[:, None], [0.9, 0.1], [0.5, 0.5]))

    law = lt.ProductDistribution.uniform(grid)
    runs = [
        lt.check_privacy(
            lt.ClosedForm([0, 1], log_pmf), law, epsilon=0.5, method="neighbourhoods", seed=s
        )
        for s in range(40)
    ]
    assert all(run.decision == Decision.NO for run in runs)
    assert all(run.witness.verify(lt.ClosedForm([0, 1], log_pmf)) for run in runs)
    # Nine of 81 datasets show it: 9 draws are needed on average.
    assert 3 < np.mean([run.cost.draws for run in runs]) < 27


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "edges": lambda m, d: lt.check_privacy(m, d, epsilon=1.0, method="edges"),
    "light": lambda m, d: lt.check_privacy(m, d, epsilon=1.0, method="light-neighbourhoods"),
    "group": lambda m, d: lt.check_privacy(m, d, epsilon=1.0, method="group"),
    "tester": lambda m, d: lt.check_privacy(m, d, epsilon=1.0, method=lt.testers.CDJS15()),
    "search": lambda m, d: lt.check_privacy(m, d, epsilon=1.0, method="search", budget=5),
    "profile": lambda m, d: lt.privacy_profile(m, d, method="neighbourhoods"),
    "noiseless": lambda m, d: noiseless_privacy(m, d, epsilon=1.0),
    "lipschitz": lambda m, d: lt.check_lipschitz(
        np.zeros(d.domain.sizes), d, proximity=0.1, failure_probability=0.1
    ),
    "distance": lambda m, d: lt.distance_to_lipschitz(np.zeros(d.domain.sizes), d),
    "mcshane": lambda m, d: mcshane(np.zeros(d.domain.sizes), d.domain, [0]),
    "repair": lambda m, d: lt.repair(np.zeros(d.domain.sizes), d, range_step=1),
    "filter": lambda m, d: LocalFilter(np.zeros(d.domain.sizes), d, lipschitz_constant=1.0),
    "sensitivity": lambda m, d: SensitivityGate(
        np.zeros(d.domain.sizes), d, sensitivity=1, epsilon=1
    ),
    "edge law": lambda m, d: edge_distribution(d),
    "sum": lambda m, d: lt.check_privacy(
        lt.ShiftMechanism(lt.statistics.WeightedSum([1] * 3), lt.DiscreteLaplace(3)), d, epsilon=1.0
    ),
    "sum, exact": lambda m, d: lt.exact_epsilon(
        lt.ShiftMechanism(lt.statistics.WeightedSum([1] * 3), lt.DiscreteLaplace(3)), d.domain
    ),
    "declared edges": lambda m, d: lt.exact_epsilon(
        lt.StatisticMechanism(
            lt.statistics.UserStatistic(lambda x: x.sum(axis=1), edge_pairs=lambda d: [([0], [1])]),
            [0],
            lambda v: np.zeros((len(v), 1)),
        ),
        d.domain,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_changes_one_coordinate_at_a_time_refuses(name: str) -> None:
    law = lt.ProductDistribution.uniform(lt.AnswerGrid([3] * 3, relation="all"))
    with pytest.raises(InputError) as error:
        REFUSED[name](rounded_sum(3), law)
    assert "exhaustive" in str(error.value) or "needs a" in str(error.value), error.value


def test_very_large_neighbourhoods_refuse() -> None:
    law = lt.ProductDistribution.uniform(lt.AnswerGrid([3] * 14, relation="all"))
    with pytest.raises(InputError, match=r"4\.78e\+06 neighbours"):
        lt.check_privacy(rounded_sum(14), law, epsilon=1.0, method="neighbourhoods")


def test_very_many_pairs_refuse() -> None:
    """2^20 vectors are few, their pairs are not."""
    with pytest.raises(InputError, match=r"5\.5e\+11 neighbouring pairs .* lt\.exact_loss"):
        lt.exact_epsilon(rounded_sum(20), lt.AnswerGrid([2] * 20, relation="all"))
    assert lt.exact_loss(rounded_sum(10), [([0] * 10, [1] * 10)]).pairs == 1


def test_exact_exception_mass() -> None:
    grid = lt.AnswerGrid([3, 3], relation="all")

    def log_pmf(points: np.ndarray) -> np.ndarray:
        special = (points == 2).all(axis=1)
        return np.log(np.where(special[:, None], [0.9, 0.1], [0.5, 0.5]))

    law = lt.ProductDistribution(grid, [[0.5, 0.4, 0.1], [0.5, 0.4, 0.1]])
    found = lt.exception_mass(lt.ClosedForm([0, 1], log_pmf), law, epsilon=1.0)
    # (2, 2) alone meets its three bad pairs.
    assert found.lower == found.upper == pytest.approx(0.01)
    profile = lt.privacy_profile(lt.ClosedForm([0, 1], log_pmf), law, epsilons=[1.0, 2.0])
    assert [point.upper for point in profile.points] == pytest.approx([0.01, 0.0])


@pytest.mark.parametrize("relation", ["all", "one"])
def test_certificates(relation: str) -> None:
    mechanism = rounded_sum(3)
    law = lt.ProductDistribution.uniform(lt.AnswerGrid([3] * 3, relation=relation))
    gate = lt.PrivacyGate(mechanism, law, epsilon=0.05, method="exhaustive")
    document = gate.certificate.to_json()
    read = lt.Certificate.from_json(document)
    assert lt.verify(read, mechanism)
    data = json.loads(document)
    kinds = {"all": "answergrid, all move", "one": "answergrid, one moves"}
    assert data["domain"]["kind"] == kinds[relation]
    assert check_witness.check_certificate(data) == check_witness.BREAKS
    other = kinds["one" if relation == "all" else "all"]
    data["domain"]["kind"] = other
    if relation == "all":
        with pytest.raises(check_witness.Unreadable, match="distance"):
            check_witness.check_certificate(data)
    data["domain"]["kind"] = ["grid"]
    with pytest.raises(check_witness.Unreadable, match="kind"):
        check_witness.check_certificate(data)


def test_the_same_code_has_other_fingerprints_on_other_relations() -> None:
    grids = [lt.AnswerGrid([3] * 3, relation=r) for r in ("all", "one")]
    hashes = {distribution_hash(lt.ProductDistribution.uniform(g)) for g in grids}
    assert len(hashes) == 2


@pytest.mark.parametrize("relation", ["all", "one"])
def test_reports_and_plans(relation: str) -> None:
    mechanism = rounded_sum(3)
    law = lt.ProductDistribution.uniform(lt.AnswerGrid([3] * 3, relation=relation))
    verdict = lt.check_privacy(mechanism, law, epsilon=0.05, method="exhaustive")
    page = report_html(verdict, mechanism=mechanism, distribution=law)
    exposed = "no answer is exposed alone" in page
    assert exposed == (relation == "all")
    rows = privacy_plan_table(
        law, outputs=2, epsilon=1.0, exception_mass=1e-2, failure_probability=1e-6
    )
    possible = {row.method for row in rows if not row.not_applicable}
    assert {"exhaustive", "neighbourhoods"} <= possible
    assert relation == "one" or possible == {"exhaustive", "neighbourhoods"}


def test_a_file_names_the_relation() -> None:
    built = DomainOptions(kind="answers", sizes=[3, 2], relation="all").build()
    assert built == lt.AnswerGrid([3, 2], relation="all")
    for wrong in ({"kind": "answers"}, {"kind": "grid", "relation": "one"}):
        with pytest.raises(lt.errors.ConfigError, match=r"domain\.relation"):
            DomainOptions(sizes=[3, 2], **wrong).build()  # type: ignore[arg-type]


def test_listed_pairs() -> None:
    mechanism, grid = rounded_sum(3), lt.AnswerGrid([3] * 3, relation="all")
    pairs = [((0, 0, 0), (1, 1, 1)), ((1, 1, 1), (2, 2, 2)), ((0, 0, 0), (0, 0, 1))]
    found = lt.exact_loss(mechanism, pairs, domain=grid)
    laws = {p: lt.output_law(mechanism, np.array(p)) for pair in pairs for p in pair}
    losses = [max(abs(math.log(laws[x][o] / laws[y][o])) for o in (0, 1)) for x, y in pairs]
    assert found.value == pytest.approx(max(losses), rel=1e-12)
    assert (found.pairs, found.laws) == (3, 4)
    assert found.witness.verify(mechanism)
    whole = neighbour_rows(grid)
    listed = np.stack([grid.points(whole[:, side]) for side in (0, 1)], axis=1)
    assert lt.exact_loss(mechanism, listed).value == lt.exact_epsilon(mechanism, grid).value


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [((0, 0, 0), (1, 1))],
        [((0, 0, 0), (0, 0, 0))],
        [((0, 0, 0), (0, 0, 2))],
        [((0, 0, 0), (0, 0, 0.5))],
        [((0, 0, 3), (0, 0, 2))],
        None,
    ],
)
def test_listed_pairs_must_be_neighbours(pairs: Any) -> None:
    with pytest.raises(lt.errors.LiptestError):
        lt.exact_loss(rounded_sum(3), pairs, domain=lt.AnswerGrid([3] * 3, relation="all"))


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        (lt.AnswerGrid([2, 2], relation="all"), "answer 1 (0 / 1):"),
        (lt.AnswerGrid([2, 2], relation="one"), "answer 0 (0 / 1):"),
        (lt.Hypergrid([2, 2]), "count 0 (0 / 1):"),
    ],
)
def test_a_witness_speaks_of_answers_where_they_are_answers(domain: Any, words: str) -> None:
    seen = lt.mechanism(lambda data, rng: bool(data[0] and data[1]))
    law = lt.ProductDistribution.uniform(domain)
    verdict = lt.check_privacy(seen, law, epsilon=1, method="exhaustive")
    assert verdict.decision == "NO"
    assert f"Two test datasets differ only in {words}" in str(verdict)


@pytest.mark.parametrize("sizes", [[3, 3], [50] * 6])
def test_samples_move_all_answers(sizes: list[int]) -> None:
    law = lt.ProductDistribution.uniform(lt.AnswerGrid(sizes, relation="all"))
    pairs = choose_pairs(law, 100, np.random.default_rng(1))
    ends = [(pairs.datasets[a], pairs.datasets[b]) for a, b in pairs.pairs]
    assert all(int(law.domain.distance(a, b)[0]) == 1 for a, b in ends)
    moved = [tuple(int(step) for step in b - a) for a, b in ends]
    assert any(len(set(one)) == 1 and one[0] for one in moved)  # all together
    assert len(set(moved)) > 3
    assert pairs.is_all is (len(sizes) == 2)
    if pairs.is_all:
        assert len(ends) == law.domain.neighbouring_pairs == (7 * 7 - 9) // 2


def test_samples_refute_what_only_moves_of_all_answers_show() -> None:
    """The sum of d answers moves by d: noise for 1 is refuted under "all", not under "one"."""
    sampler = lt.Sampler(
        lambda x, n, rng: x.sum() + rng.geometric(0.63, n) - rng.geometric(0.63, n)
    )
    for relation, decision in (("all", "NO"), ("one", "INCONCLUSIVE")):
        law = lt.ProductDistribution.uniform(lt.AnswerGrid([2, 2, 2], relation=relation))
        verdict = lt.check_samples(sampler, law, epsilon=1.0, samples=200_000, seed=3)
        assert verdict.decision == decision
    assert verdict.relation == law.domain.relation
