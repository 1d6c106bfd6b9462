"""Searches: what they find, how they count, and that they promise nothing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import liptest as lt
from liptest.lipschitz.testers.variance_edges import VarianceEdges
from liptest.privacy.verdicts import Settings
from liptest.verdicts import Cost, Decision
from tests.unit.privacy.cases import exact, from_weights

CUBE = lt.ProductDistribution.uniform(lt.Hypercube(20))
CORNER = lt.catalogue.needle(20, [1] * 20, 1.0)
HIDDEN = lt.catalogue.needle(20, np.random.default_rng(7).integers(0, 2, 20), 1.0)
RIGHT = lt.catalogue.truncated_geometric_count(20, 1.0)


def search(mechanism, distribution=CUBE, **options):
    options = {"epsilon": 1.0, "seed": 1, "method": "search", "budget": 20_000} | options
    return lt.check_privacy(mechanism, distribution, **options)


def flagged(is_bad, name="boundary"):
    """1/3 against 2/3 on the bad datasets, a fair coin elsewhere: loss ln(4/3) and more."""

    def log_pmf(datasets):
        bad = np.array([is_bad(row) for row in datasets], dtype=bool)
        return np.log(np.where(bad[:, None], [0.1, 0.9], [0.5, 0.5]))

    return lt.ClosedForm([0, 1], log_pmf, name=name)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_needle_at_a_corner_is_found_where_sampling_says_yes(seed):
    plain = lt.check_privacy(
        CORNER, CUBE, epsilon=1.0, seed=seed, method="neighbourhoods", search_laws=0
    )
    verdict = search(CORNER, seed=seed)
    assert plain.decision is Decision.YES
    assert verdict.decision is Decision.NO
    assert verdict.cost.laws < 20_000
    assert verdict.witness.verify(CORNER)
    assert [1] * 20 in [list(verdict.witness.dataset), list(verdict.witness.neighbour)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_needle_anywhere_is_honestly_not_found(seed):
    verdict = search(HIDDEN, seed=seed)
    assert verdict.decision is Decision.INCONCLUSIVE
    assert verdict.guarantee.kind == "none"
    assert verdict.guarantee.exception_mass is None
    assert f"search over {verdict.cost.search_datasets:,} datasets found no violation" in str(
        verdict
    )
    assert "nothing is promised" in verdict.guarantee.sentence


BOUNDARY = {
    "empty histogram": (lt.Hypergrid([6] * 10), lambda x: x.sum() == 0),
    "one cell only": (lt.Hypergrid([6] * 10), lambda x: (x > 0).sum() == 1 and x[3] > 4),
    "every cell full": (lt.Hypergrid([6] * 10), lambda x: x.min() == 5),
    "one distinct value": (lt.RecordGrid([5] * 12), lambda x: len(set(x.tolist())) == 1),
    "one odd record": (lt.RecordGrid([5] * 12), lambda x: (x != 2).sum() == 1 and x[4] == 0),
    "all zeros": (lt.Hypercube(40), lambda x: not x.any()),
    "more than most": (lt.Hypercube(40), lambda x: x.sum() >= 37),
    "halves": (lt.Hypercube(40), lambda x: x[:20].all() and not x[20:].any()),
}


@pytest.mark.parametrize("name", BOUNDARY)
@pytest.mark.parametrize("seed", range(3))
def test_faults_at_the_boundary_are_found(name, seed):
    domain, is_bad = BOUNDARY[name]
    mechanism, law = flagged(is_bad, name), lt.ProductDistribution.uniform(domain)
    verdict = search(mechanism, law, epsilon=0.5, seed=seed)
    assert verdict.decision is Decision.NO
    assert verdict.witness.verify(mechanism)
    assert verdict.cost.laws <= 20_000


def above(shift, ratio):
    """Pr[two-sided geometric noise >= shift]."""
    return np.where(
        shift >= 1, ratio**shift / (1 + ratio), 1 - ratio ** (1.0 - shift) / (1 + ratio)
    )


def sparse_vector(signs, threshold, epsilon):
    """Above or below, for each of k signed counts; nobody counts the answers above.

    The variant without a cutoff of Lyu, Su and Li, "Understanding the sparse vector technique for
    differential privacy", 2017 (algorithm 6), with whole-number noise that ends at 60.
    """
    bits = np.array(list(itertools.product((0, 1), repeat=len(signs))))
    ratio, noise = np.exp(-epsilon), np.arange(-60, 61)
    weights = ratio ** np.abs(noise)
    weights /= weights.sum()

    def log_pmf(datasets):
        counts = datasets.astype(np.int64) @ np.asarray(signs).T
        up = above((threshold + noise)[None, :, None] - counts[:, None, :], ratio)
        both = np.log(np.stack([1 - up, up], axis=-1))
        logs = sum(both[:, :, i, bits[:, i]] for i in range(bits.shape[1]))
        law = np.einsum("nro,r->no", np.exp(logs), weights)
        return np.log(law / law.sum(axis=1, keepdims=True))

    return lt.ClosedForm([tuple(b) for b in bits.tolist()], log_pmf, error=1e-9, name="sparse")


@pytest.mark.slow
def test_the_sparse_vector_is_refuted_through_signed_counts():
    signs = np.random.default_rng(3).choice([-1, 1], size=(4, 30))
    mechanism = sparse_vector(signs, 8, 0.5)
    law = lt.ProductDistribution.uniform(lt.Hypercube(30))
    drawn = lt.check_privacy(
        mechanism, law, epsilon=1.96, exception_mass=0.02, method="neighbourhoods", seed=1
    )
    assert drawn.decision is Decision.YES
    verdict = search(mechanism, law, epsilon=1.96)
    assert verdict.decision is Decision.NO
    assert verdict.witness.verify(mechanism)


def test_a_search_of_everything_is_a_proof():
    law = lt.ProductDistribution.uniform(lt.Hypercube(3))
    mechanism = exact(law.domain, [from_weights([2, 1])] * 4 + [from_weights([1, 2])] * 4)
    verdict = search(mechanism, law, epsilon="log(2)", tolerance=0.0)
    assert (verdict.decision, verdict.method) == (Decision.YES, "exhaustive")
    assert verdict.guarantee.kind == "proof"
    assert search(RIGHT).guarantee.kind == "proof"


@pytest.mark.parametrize("mechanism", [CORNER, HIDDEN, lt.catalogue.leak(20, 0.1)])
def test_the_same_seed_finds_the_same(mechanism):
    runs = [search(mechanism, budget=5000).to_dict() for _ in range(2)]
    for run in runs:
        del run["cost"]["seconds"]
    assert runs[0] == runs[1]


class Counting:
    """How many laws were asked for, and at which datasets."""

    def __init__(self, mechanism):
        self.inner, self.laws, self.datasets = mechanism, 0, set()

    def __call__(self, datasets):
        self.laws += len(datasets)
        self.datasets |= {row.tobytes() for row in datasets}
        return self.inner.log_pmf(datasets)


@pytest.mark.parametrize("budget", [2, 21, 500, 3001])
@pytest.mark.parametrize(
    "domain", [lt.Hypercube(20), lt.Hypergrid([4] * 12), lt.RecordGrid([7] * 9)], ids=str
)
def test_laws_and_datasets_are_what_was_asked_for(domain, budget):
    counting = Counting(flagged(lambda row: False))
    mechanism = lt.ClosedForm([0, 1], counting)
    law = lt.ProductDistribution.uniform(domain)
    verdict = search(mechanism, law, budget=budget, epsilon=0.1)
    cost = verdict.cost
    # Repeated evaluations are counted apart.
    assert counting.laws == cost.laws + cost.repeats
    assert cost.laws <= budget
    assert cost.search_datasets == len(counting.datasets)


@pytest.mark.parametrize("domain", [lt.Hypercube(20), lt.Hypercube(3000)], ids=str)
@pytest.mark.parametrize("broken", [lambda x: x.all(), lambda x: x.sum() == 1], ids=["all", "one"])
def test_datasets_before_a_violation_are_counted(domain, broken):
    counting = Counting(flagged(broken))
    law = lt.ProductDistribution.uniform(domain)
    verdict = search(lt.ClosedForm([0, 1], counting), law, epsilon=0.1)
    assert verdict.decision is Decision.NO
    assert 0 < verdict.cost.search_datasets <= verdict.cost.laws
    assert verdict.cost.search_datasets == len(counting.datasets)


def test_correlated_records_are_searched_too():
    domain = lt.RecordGrid([4] * 10)
    law = lt.SampledDistribution(
        domain, lambda n, rng: np.repeat(rng.integers(0, 4, (n, 1)), 10, axis=1)
    )
    found = search(flagged(lambda x: (x == 3).sum() == 9), law, epsilon=0.5)
    assert found.decision is Decision.NO
    right = search(flagged(lambda x: False), law, epsilon=0.5, budget=2000)
    assert right.decision is Decision.INCONCLUSIVE


def test_delta_steers_by_divergence():
    leak = lt.catalogue.leak(200, 0.1, record=150)
    law = lt.ProductDistribution.uniform(lt.Hypercube(200))
    assert search(leak, law, delta=0.05).decision is Decision.NO
    assert search(leak, law, delta=0.2, budget=3000).decision is Decision.INCONCLUSIVE


@pytest.mark.slow
def test_a_yes_that_survives_a_search_promises_no_more():
    with_search, without = (
        lt.check_privacy(HIDDEN, CUBE, epsilon=1.0, seed=1, method="neighbourhoods", search_laws=n)
        for n in (2000, 0)
    )
    assert with_search.decision is without.decision is Decision.YES
    assert with_search.guarantee == without.guarantee
    assert with_search.plan == without.plan
    assert with_search.cost.laws == without.cost.laws
    assert 0 < with_search.cost.search_laws <= 2000
    assert without.cost.search_laws == without.cost.search_datasets == 0
    line = f"Search over {with_search.cost.search_datasets:,} datasets"
    assert (
        f"{line} ({with_search.cost.search_laws:,} output distributions) found no violation"
        in str(with_search)
    )
    assert "Search" not in str(without)


@pytest.mark.parametrize("method", ["neighbourhoods", "light-neighbourhoods", VarianceEdges()])
def test_a_search_turns_a_yes_into_a_certain_no(method):
    law = lt.ProductDistribution.uniform(lt.Hypercube(40))
    mechanism = lt.catalogue.needle(40, [1] * 40, 1.0, outputs=2)
    options = {"epsilon": 1.0, "seed": 1, "method": method, "exception_mass": 0.2}
    before = lt.check_privacy(mechanism, law, **options, search_laws=0)
    after = lt.check_privacy(mechanism, law, **options, search_laws=20_000)
    assert (before.decision, after.decision) == (Decision.YES, Decision.NO)
    assert after.witness.verify(mechanism)
    assert (after.guarantee.kind, after.guarantee.source) == ("refutation", "theory 3.10")
    assert after.largest_loss == np.inf
    assert after.cost.laws == before.cost.laws
    assert "found a violation" in str(after)
    assert lt.PrivacyVerdict.from_json(after.to_json()) == after


@pytest.mark.slow
def test_the_default_share_is_a_tenth_of_the_plan():
    verdict = lt.check_privacy(
        HIDDEN, CUBE, epsilon=1.0, seed=1, method="neighbourhoods", search_laws=None
    )
    assert 0.9 * 20_000 < verdict.cost.search_laws <= min(20_000, verdict.plan.laws / 10)
    few = lt.check_privacy(
        HIDDEN,
        CUBE,
        epsilon=1.0,
        seed=1,
        method="neighbourhoods",
        exception_mass=0.1,
        search_laws=None,
    )
    assert 0 < few.cost.search_laws <= few.plan.laws / 10


def test_a_search_stays_within_the_budget_of_all():
    verdict = lt.check_privacy(
        HIDDEN,
        CUBE,
        epsilon=1.0,
        seed=1,
        method="neighbourhoods",
        exception_mass=0.1,
        budget=3000,
        search_laws=5000,
    )
    assert verdict.decision is Decision.YES
    assert verdict.cost.laws + verdict.cost.search_laws <= 3000


def test_what_is_known_keeps_its_verdict():
    assert search(lt.catalogue.leak(20, 0.1), search_laws=100).cost.search_laws == 0
    proved = lt.check_privacy(RIGHT, CUBE, epsilon=1.0, search_laws=1000)
    assert (proved.guarantee.kind, proved.cost.search_laws) == ("proof", 0)


@pytest.mark.parametrize("laws", [-1, 2.5, "many"])
def test_a_wrong_budget_is_refused(laws):
    with pytest.raises(lt.errors.InputError, match="search_laws"):
        search(RIGHT, search_laws=laws)


def test_documents_from_before_searches_can_be_read():
    old = {"queries": 0, "laws": 5, "draws": 2, "pairs": 3, "repeats": 1, "seconds": 0.5}
    assert Cost.from_dict(old).search_laws == 0
    kept = {"exception_mass": 0.1, "failure_probability": 0.1, "budget": None, "parameters": {}}
    assert Settings.from_dict(kept).search_laws == 0


def test_ctrl_c_keeps_what_was_decided():
    def stop(done, planned):
        raise KeyboardInterrupt

    verdict = search(HIDDEN, progress=stop)
    assert verdict.decision is Decision.INCONCLUSIVE
    assert verdict.reason.startswith("interrupted: search over")
