"""Proofs through statistics and over whole domains; what a declared edge is worth."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

import liptest as lt
from liptest.errors import InputError
from liptest.mechanisms.laws import LawTable
from liptest.privacy import exception_mass as count_mass
from liptest.privacy.claims import Claim
from liptest.privacy.exception_mass import count_exception_mass, lightest_cover
from liptest.privacy.proofs import exhaustive
from liptest.privacy.proofs.domain_laws import DistinctLaws
from liptest.verdicts import Decision
from tests.unit.privacy.cases import closed, exact

CUBE = lt.Hypercube(3)


def check(mechanism, domain=CUBE, **options):
    return lt.check_privacy(
        mechanism,
        lt.ProductDistribution.uniform(domain),
        **{"epsilon": 1.0, "method": "exhaustive", "seed": 1, **options},
    )


def maximum(points):
    return points.max(axis=1)


def by_level(values):
    """Level 2 is told from all others, levels 0 and 1 are within ln 1.5."""
    p = np.array([0.4, 0.6, 0.99])[values]
    return np.log(np.stack([p, 1 - p], axis=1))


def on_maximum(pairs):
    statistic = lt.statistics.UserStatistic(maximum, edge_pairs=pairs, name="maximum")
    return lt.StatisticMechanism(statistic, [0, 1], by_level)


GRID = lt.Hypergrid([3, 3])


def test_declared_edges_make_a_conditional_proof():
    verdict = check(on_maximum(lambda domain: [(0, 1)]), GRID)
    assert verdict.decision is Decision.YES
    assert "declared" in verdict.guarantee.condition
    assert "condition" in verdict.guarantee.sentence
    assert "conditional" in str(verdict)
    assert (verdict.cost.laws, verdict.cost.pairs) == (2, 1)


def test_proved_edges_make_an_unconditional_one():
    verdict = check(lt.catalogue.truncated_geometric_count(3, 1.0))
    assert (verdict.decision, verdict.guarantee.condition) == (Decision.YES, "")
    assert "conditional" not in str(verdict)
    assert verdict.guarantee.exception_mass == verdict.guarantee.failure_probability == 0


def test_a_no_through_declared_edges_shows_datasets():
    mechanism = on_maximum(lambda domain: [(0, 1), (1, 2)])
    verdict = check(mechanism, GRID)
    assert verdict.decision is Decision.NO
    sides = [np.array(side) for side in (verdict.witness.dataset, verdict.witness.neighbour)]
    assert sorted(int(side.max()) for side in sides) == [1, 2]
    assert GRID.distance(*sides)[0] == 1
    assert verdict.witness.verify(mechanism)


def test_a_declared_edge_that_no_datasets_realise_is_no_refutation():
    verdict = check(on_maximum(lambda domain: [(0, 1), (0, 2)]), GRID)
    assert verdict.decision is Decision.INCONCLUSIVE
    assert verdict.witness is None
    assert "no datasets" in verdict.reason


def test_a_realised_violation_counts_beside_one_that_is_not():
    verdict = check(on_maximum(lambda domain: [(0, 2), (1, 2)]), GRID)
    assert verdict.decision is Decision.NO


def test_a_statistic_without_edges_is_visited_dataset_by_dataset():
    verdict = check(on_maximum(None), GRID)
    assert verdict.decision is Decision.NO
    assert verdict.cost.pairs <= GRID.neighbouring_pairs
    calm = lt.StatisticMechanism(
        lt.statistics.UserStatistic(maximum), [0, 1], lambda values: by_level(np.minimum(values, 1))
    )
    proof = check(calm, GRID)
    assert (proof.decision, proof.guarantee.condition) == (Decision.YES, "")
    assert (proof.cost.laws, proof.cost.pairs) == (9, 12)


def parity_of_cell_one(tables):
    p = np.array([0.3, 0.5, 0.3])[tables[:, 1]]
    return np.log(np.stack([p, 1 - p], axis=1))


@pytest.mark.parametrize("method", ["exhaustive", "auto"])
def test_few_records_of_many_cells_are_visited_dataset_by_dataset(method):
    # 3**64 vectors bound the values of the tables, but there are 4,096 datasets.
    mechanism = lt.StatisticMechanism(
        lt.statistics.ContingencyTables([8, 8]), [0, 1], parity_of_cell_one
    )
    domain = lt.RecordGrid([64, 64])
    verdict = check(mechanism, domain, method=method)
    assert (verdict.method, verdict.decision) == ("exhaustive", Decision.YES)
    assert verdict.cost.pairs == domain.neighbouring_pairs == 64 * 64 * 63
    assert lt.exact_epsilon(mechanism, domain).value == pytest.approx(math.log(5 / 3))
    refused = lt.RecordGrid([64] * 5)
    with pytest.raises(
        lt.errors.BudgetError, match="up to 169,114,337,280 pairs of neighbouring values"
    ):
        check(mechanism, refused)


def test_unbounded_outputs_need_edges_for_a_proof():
    def counted(pairs):
        return lt.ShiftMechanism(
            lt.statistics.UserStatistic(lambda x: x.sum(axis=1), edge_pairs=pairs),
            lt.DiscreteLaplace(2),
        )

    with pytest.raises(InputError, match="unbounded outputs"):
        check(counted(None), epsilon=0.5)
    assert check(counted(None), epsilon=0.5, method="auto").method == "neighbourhoods"
    known = check(counted(lambda domain: [(k, k + 1) for k in range(3)]), epsilon=0.5)
    assert known.decision is Decision.YES
    proved = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(2))
    assert check(proved, epsilon=0.5).decision is Decision.YES
    refuted = check(proved, epsilon=0.49)
    assert refuted.decision is Decision.NO
    assert refuted.witness.verify(proved)


@pytest.mark.slow
@pytest.mark.parametrize(
    "domain", [lt.Hypercube(13), lt.Hypergrid([70, 70]), lt.RecordGrid([70, 70])]
)
def test_more_different_laws_than_are_marked(domain):
    """Above 4096 laws the pairs are walked through axis by axis."""
    p = 0.25 + 0.5 * np.arange(domain.size) / domain.size
    p[-1] = 0.01
    mechanism = closed(domain, np.stack([p, 1 - p], axis=1))
    verdict = check(mechanism, domain, epsilon=2.5)
    assert verdict.decision is Decision.NO
    last = tuple(n - 1 for n in domain.sizes)
    assert last in (verdict.witness.dataset, verdict.witness.neighbour)
    assert check(mechanism, domain, epsilon=5.0).cost.pairs == domain.neighbouring_pairs
    beside = p[domain.index(domain.neighbours(last))]
    worst = float(np.log(beside / p[-1]).max())
    assert lt.exact_epsilon(mechanism, domain).value == pytest.approx(worst, rel=1e-12)


def test_the_worst_pair_is_the_witness():
    rows = (
        [[F(1, 2), F(1, 2)]] * 4
        + [[F(1, 5), F(4, 5)], [F(1, 5), F(4, 5)], [F(1, 50), F(49, 50)]]
        + [[F(1, 5), F(4, 5)]]
    )
    verdict = check(exact(CUBE, rows), epsilon=0.1)
    assert verdict.witness.loss == pytest.approx(math.log(25), rel=1e-12)
    assert {verdict.witness.dataset, verdict.witness.neighbour} == {(0, 1, 0), (1, 1, 0)}
    assert verdict.largest_loss == pytest.approx(math.log(25), rel=1e-12)


def test_exact_epsilon_of_a_constant_mechanism_is_0():
    found = lt.exact_epsilon(closed(CUBE, [[0.3, 0.7]] * 8), CUBE)
    assert (found.value, found.lower, found.witness) == (0.0, 0.0, None)
    assert found.upper < 1e-14
    assert float(found) == 0.0


class TestCountMass:
    @pytest.mark.parametrize("seed", range(8))
    def test_the_lightest_cover_by_brute_force(self, seed):
        rng = np.random.default_rng(seed)
        masses, bad = rng.random(6), rng.random(5) < 0.6
        best = min(
            sum(masses[i] for i in range(6) if chosen >> i & 1)
            for chosen in range(64)
            if all(chosen >> k & 3 for k in range(5) if bad[k])
        )
        assert lightest_cover(masses, bad) == pytest.approx(best, rel=1e-14)

    @pytest.mark.parametrize("seed", range(6))
    def test_levels_suffice(self, seed):
        """The lightest exceptional set of datasets, over all 2^8 sets, is one of levels."""
        rng = np.random.default_rng(seed)
        law = lt.ProductDistribution.bernoulli(rng.random(3).round(2))
        p = rng.choice([0.2, 0.5, 0.8], 4)
        mechanism = lt.StatisticMechanism(
            lt.Count(), [0, 1], lambda values: np.log(np.stack([p[values], 1 - p[values]], axis=1))
        )
        points = next(CUBE.all_points())
        weight, ones = law.mass(points), points.sum(axis=1)
        bad = [
            (i, j)
            for i in range(8)
            for j in range(8)
            if CUBE.distance(points[i], points[j])[0] == 1 and p[ones[i]] != p[ones[j]]
        ]
        best = min(
            sum(weight[i] for i in range(8) if chosen >> i & 1)
            for chosen in range(256)
            if all(chosen >> i & 1 or chosen >> j & 1 for i, j in bad)
        )
        found = count_exception_mass(mechanism, law, Claim(0.3))
        assert found == pytest.approx((best, best), abs=1e-12)

    @pytest.mark.slow
    def test_a_million_records(self):
        law = lt.ProductDistribution.uniform(lt.Hypercube(10**6))
        # Two laws: below half the records, and from there on.
        mechanism = lt.StatisticMechanism(
            lt.Count(),
            "ab",
            lambda values: np.log(np.where(values[:, None] < 500_000, [0.2, 0.8], [0.8, 0.2])),
        )
        lower, upper = count_exception_mass(mechanism, law, Claim(1.0))
        # One of the levels 499,999 and 500,000; the first is the lighter one.
        exact = math.exp(
            math.lgamma(1e6 + 1) - math.lgamma(5e5) - math.lgamma(5e5 + 2) - 1e6 * math.log(2)
        )
        assert lower == upper == pytest.approx(exact, rel=1e-8)
        assert count_exception_mass(mechanism, law, Claim(2.0)) == (0.0, 0.0)

    def test_of_very_many_ties_all_are_left_open(self, monkeypatch):
        monkeypatch.setattr(count_mass, "_MOST_CERTIFIED", 2)
        law = lt.ProductDistribution.uniform(lt.Hypercube(6))
        mechanism = lt.catalogue.truncated_geometric_count(6, 1.0)
        lower, upper = count_exception_mass(mechanism, law, Claim(1.0, 0.0, 0.0))
        assert (lower, upper) == (0.0, 0.5)

    def test_ties_that_errors_leave_open_are_bounded_on_both_sides(self):
        law = lt.ProductDistribution.uniform(lt.Hypercube(6))
        tight = lt.catalogue.truncated_geometric_count(6, 1.0)
        assert count_exception_mass(tight, law, Claim(1.0, 0.0, 0.0)) == (0.0, 0.5)
        assert count_exception_mass(tight, law, Claim(1.0)) == (0.0, 0.0)
        assert count_exception_mass(tight, law, Claim(0.99)) == (0.5, 0.5)

    def test_delta_is_decided_pair_by_pair(self):
        law = lt.ProductDistribution.uniform(lt.Hypercube(6))
        leaky = lt.catalogue.one_sided_noise_count(6, 1.0)
        limit = 1 - math.exp(-1)
        assert count_exception_mass(leaky, law, Claim(1.0, limit - 1e-6)) == (0.5, 0.5)
        assert count_exception_mass(leaky, law, Claim(1.0, limit + 1e-6)) == (0.0, 0.0)

    def test_a_no_prints_it(self):
        rare = lt.StatisticMechanism(
            lt.Count(), [0, 1], lambda values: by_level(np.where(values == 3, 2, 0))
        )
        verdict = check(rare)
        assert verdict.decision is Decision.NO
        assert verdict.exception_mass_found == pytest.approx(1 / 8, rel=1e-12)
        assert "0.125" in str(verdict)


def test_how_many_pairs_are_visited_depends_on_what_is_claimed():
    """Windows bound losses and tell nothing of delta; a shift needs one edge of each difference."""
    from liptest.privacy.claims import Claim
    from liptest.privacy.proofs.exhaustive import exhaustive_size

    pure, approximate = Claim(1.0), Claim(1.0, 0.1)
    few = exhaustive_size(lt.catalogue.truncated_geometric_count(5, 1.0), lt.Hypercube(5))
    assert few.visits(pure) == few.visits(approximate) == few.pairs == 5
    many = lt.Hypercube(40)
    weighted = lt.statistics.WeightedSum([3**k % 9973 for k in range(1, 41)])
    shift = exhaustive_size(lt.ShiftMechanism(weighted, lt.DiscreteLaplace(9999)), many)
    assert shift.pairs > 1 << 20
    assert shift.visits(pure) == shift.visits(approximate) == shift.laws < 1000
    coin = lt.StatisticMechanism(
        weighted, [0, 1], lambda values: np.full((len(values), 2), np.log(0.5))
    )
    windows = exhaustive_size(coin, many)
    assert windows.windows
    assert windows.visits(pure) == 32 * windows.laws
    assert windows.visits(approximate) == windows.pairs


@pytest.mark.parametrize(
    "domain", [lt.Hypercube(4), lt.Hypergrid([3, 1, 4]), lt.RecordGrid([3, 3])], ids=str
)
def test_pairs_that_are_walked_are_those_that_are_marked(monkeypatch, domain):
    p = 0.25 + 0.5 * np.random.default_rng(1).random(domain.size)
    mechanism = closed(domain, np.stack([p, 1 - p], axis=1))
    marked = lt.exact_epsilon(mechanism, domain)
    monkeypatch.setattr(exhaustive, "_MARKED_LAWS", 0)
    monkeypatch.setattr(DistinctLaws, "pairs_per_slice", lambda self: 3)
    walked = lt.exact_epsilon(mechanism, domain)
    assert walked == marked
    assert (walked.pairs, walked.laws) == (domain.neighbouring_pairs, domain.size)


class Partly:
    """A mechanism by sums of which one value has a law that was not explored to its end."""

    outputs = (0, 1)

    def __init__(self, value):
        self.value = value

    def laws_of(self, values):
        parts = np.where(values == self.value, 0.25, 0.0)
        logs = np.log(np.full((len(values), 2), 0.5))
        return LawTable(self.outputs, logs, None, np.zeros(len(values)), unexplored=parts)


def test_one_partial_law_is_enough_for_no_windows():
    sets = lt.statistics.WeightedSum([1, 2, 3]).difference_sets(CUBE)
    assert exhaustive.laws_by_position(Partly(99), sets) is not None
    assert exhaustive.laws_by_position(Partly(3), sets) is None


def test_laws_over_other_outputs_have_no_windows():
    mechanism = Partly(99)
    mechanism.outputs = (1, 0)
    sets = lt.statistics.WeightedSum([1, 2, 3]).difference_sets(CUBE)
    mechanism.laws_of = lambda values: Partly(99).laws_of(values)
    assert exhaustive.laws_by_position(mechanism, sets) is None
    mechanism.outputs = None
    assert exhaustive.laws_by_position(mechanism, sets) is None


def test_one_pair_of_zeros_that_may_be_underflows_has_no_upper_end():
    rows = [[0.5, 0.5, 0.0], [0.4, 0.6, 0.0], [0.2, 0.3, 0.5], [0.2, 0.4, 0.4]]
    mechanism = closed(lt.Hypergrid([4]), rows, exact_zeros=False)
    listed = [([0], [1]), ([2], [3])]
    assert lt.exact_loss(mechanism, listed).upper == math.inf
    assert lt.exact_loss(mechanism, listed[1:]).upper == pytest.approx(math.log(4 / 3))


@pytest.mark.parametrize("place", range(5))
def test_a_violation_in_any_block_is_found(monkeypatch, place):
    monkeypatch.setattr(DistinctLaws, "pairs_per_slice", lambda self: 1)
    p = np.array([0.5, 0.52, 0.45, 0.55, 0.48])
    grid = lt.Hypergrid([5])
    proof = check(closed(grid, np.stack([p, 1 - p], axis=1)), grid)
    assert (proof.decision, proof.largest_loss) == ("YES", pytest.approx(math.log(55 / 45)))
    p[place] = 0.1
    assert check(closed(grid, np.stack([p, 1 - p], axis=1)), grid).decision == "NO"


def test_a_witness_of_noise_has_the_probabilities_of_its_own_sides():
    mechanism = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(2))
    witness = check(mechanism, epsilon=0.4).witness
    sides = (witness.dataset, witness.neighbour)
    masses = [
        math.exp(float(lt.DiscreteLaplace(2).log_pmf(witness.output - sum(side)))) for side in sides
    ]
    assert (witness.probability, witness.neighbour_probability) == pytest.approx(masses)
    assert witness.verify(mechanism)


def by_sign(datasets):
    p = np.where(datasets[:, 0] < 0, 0.75, 0.25)
    return np.log(np.stack([p, 1 - p], axis=1))


@pytest.mark.parametrize("number", [-1, -128, -129, -40_000])
def test_datasets_of_negative_numbers_reach_the_mechanism(number):
    found = lt.exact_loss(lt.ClosedForm([0, 1], by_sign), [([number], [-number - 1])])
    assert found.value == pytest.approx(math.log(3))
    assert (found.pairs, found.laws) == (1, 2)


def test_neighbours_share_all_records_but_one():
    mechanism = closed(lt.Hypercube(2), [[0.5, 0.5], [0.4, 0.6], [0.2, 0.8], [0.1, 0.9]])
    found = lt.exact_loss(mechanism, [([0, 1], [1, 1])], domain=lt.Hypercube(2))
    assert found.value == pytest.approx(math.log(4))
    with pytest.raises(InputError, match=r"pairs\[1\].*not a neighbour of itself"):
        lt.exact_loss(mechanism, [([0, 1], [1, 1]), ([1, 1], [1, 1])])


def certain_at_zero(data, rng):
    return bool(data.sum()) and rng.random() < 0.5


@pytest.mark.slow
def test_many_counts_are_compared_part_by_part() -> None:
    """What is broken early ends the rest: most laws are not computed."""
    verdict = lt.check_privacy(
        lt.mechanism(certain_at_zero), lt.Hypercube(2000), epsilon=1.0, method="exhaustive"
    )
    assert verdict.decision == "NO"
    assert {sum(verdict.witness.dataset), sum(verdict.witness.neighbour)} == {0, 1}
    assert verdict.cost.pairs < 2000
