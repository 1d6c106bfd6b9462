"""OpenDP's measurements through their adapter: law, claim and neighbours of the real library."""

from __future__ import annotations

import math
import pickle
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import opendp.prelude as dp
import pytest

import liptest as lt
from liptest.adapters.opendp_laws import noisy_max
from liptest.gate.gate import Released

dp.enable_features("contrib")

NUMBER = (dp.atom_domain(T=int), dp.absolute_distance(T=int))
BITS = (dp.vector_domain(dp.atom_domain(bounds=(0, 1))), dp.symmetric_distance())


def vector(size: int | None = None) -> Any:
    return dp.vector_domain(dp.atom_domain(T=int), size=size)


def sized(low: int, high: int, size: int) -> Any:
    return (
        dp.vector_domain(dp.atom_domain(bounds=(low, high)), size=size),
        dp.symmetric_distance(),
    )


#: measurement, arguments of the adapter, domain, claim, exact loss of neighbours.
CASES: dict[str, tuple[Callable[[], Any], dict[str, Any], Any, float, float]] = {
    "bool": (
        lambda: dp.m.make_randomized_response_bool(prob=0.75),
        {},
        lt.Hypercube(1),
        math.log(3),
        math.log(3),
    ),
    "categories": (
        lambda: dp.m.make_randomized_response(categories=["a", "b", "c"], prob=0.5),
        {},
        lt.RecordGrid([4]),
        math.log(2),
        math.log(2),
    ),
    "laplace": (lambda: dp.m.make_laplace(*NUMBER, scale=2.0), {}, lt.Hypergrid([2]), 0.5, 0.5),
    "laplace of a bounded number": (
        lambda: dp.m.make_laplace(dp.atom_domain(bounds=(-2, 5)), NUMBER[1], scale=0.5),
        {},
        lt.Hypergrid([8]),
        2.0,
        2.0,
    ),
    "geometric": (
        lambda: dp.m.make_geometric(*NUMBER, scale=3.0),
        {},
        lt.Hypergrid([2]),
        1 / 3,
        1 / 3,
    ),
    "geometric with bounds": (
        lambda: dp.m.make_geometric(*NUMBER, scale=2.0, bounds=(1, 7)),
        {"domain": lt.Hypergrid([10])},
        lt.Hypergrid([10]),
        0.5,
        0.5,
    ),
    "vector": (
        lambda: dp.m.make_laplace(vector(3), dp.l1_distance(T=int), scale=2.0),
        {},
        lt.Hypergrid([2, 2, 2]),
        0.5,
        0.5,
    ),
    "sum, records added or removed": (
        lambda: BITS >> dp.t.then_sum() >> dp.m.then_laplace(scale=1.0),
        {"domain": lt.Hypergrid([4, 3])},
        lt.Hypergrid([4, 3]),
        1.0,
        1.0,
    ),
    "sum, records replaced": (
        lambda: sized(0, 1, 6) >> dp.t.then_sum() >> dp.m.then_laplace(scale=1.0),
        {},
        lt.Hypercube(6),
        1.0,
        1.0,
    ),
    "sum of larger numbers": (
        lambda: sized(-1, 2, 3) >> dp.t.then_sum() >> dp.m.then_laplace(scale=2.0),
        {},
        lt.RecordGrid([4, 4, 4]),
        1.5,
        1.5,
    ),
    "count": (
        lambda: BITS >> dp.t.then_count() >> dp.m.then_laplace(scale=1.0),
        {},
        lt.Hypergrid([2, 2]),
        1.0,
        1.0,
    ),
}
#: Draws of a vector take seconds.
DEAR = pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[pytest.mark.slow] * (case == "vector")) for case in CASES],
)


@pytest.mark.slow
@DEAR
def test_the_claim_is_exact_and_its_relation_is_the_metric(case: str) -> None:
    make, arguments, domain, claim, loss = CASES[case]
    mechanism = lt.adapters.opendp(make(), draws=2000, **arguments)
    assert mechanism.domain == domain
    assert (mechanism.epsilon, mechanism.delta) == (pytest.approx(claim, abs=1e-12), 0.0)
    law = lt.ProductDistribution.uniform(domain)
    verdict = lt.check_privacy(mechanism, law, epsilon=mechanism.epsilon, seed=1)
    assert verdict.decision == "YES"
    assert verdict.method == "exhaustive"
    assert verdict.largest_loss == pytest.approx(loss, abs=1e-9)
    below = lt.check_privacy(mechanism, law, epsilon=0.99 * loss, seed=1)
    assert below.decision == "NO"
    assert below.witness is not None
    assert below.witness.verify(mechanism)


@pytest.mark.slow
@pytest.mark.parametrize("wrapped", [True, False])
@pytest.mark.parametrize("size", [None, 2])
def test_gaussian_noise_at_a_delta(wrapped: bool, size: int | None) -> None:
    space = (vector(size), dp.l2_distance(T=float)) if size else NUMBER
    measurement = dp.m.make_gaussian(*space, scale=2.0)
    arguments: dict[str, Any] = {"delta": 1e-6}
    if wrapped:
        measurement = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(measurement), 1e-6)
        arguments = {}
    mechanism = lt.adapters.opendp(measurement, draws=2000, **arguments)
    assert mechanism.epsilon == pytest.approx(2.4190931768671953, abs=1e-9)
    assert mechanism.delta == 1e-6
    law = lt.ProductDistribution.uniform(mechanism.domain)
    for factor, decision in ((1.0, "YES"), (0.7, "NO")):
        verdict = lt.check_privacy(
            mechanism, law, epsilon=factor * mechanism.epsilon, delta=mechanism.delta
        )
        assert verdict.decision == decision
    assert verdict.witness is not None
    assert verdict.witness.verify(mechanism)


@pytest.mark.slow
@pytest.mark.parametrize("size", [None, 2])
def test_a_claim_of_zcdp_is_tested_as_it_is(size: int | None) -> None:
    space = (vector(size), dp.l2_distance(T=float)) if size else NUMBER
    mechanism = lt.adapters.opendp(dp.m.make_gaussian(*space, scale=2.0), draws=1000)
    assert mechanism.claim == {"rho": mechanism.rho}
    assert mechanism.rho == pytest.approx(0.125)
    assert mechanism.epsilon == math.inf
    law = lt.ProductDistribution.uniform(mechanism.domain)
    assert lt.check_privacy(mechanism, law, **mechanism.claim).decision == "YES"
    assert lt.exact_rho(mechanism, mechanism.domain).value == pytest.approx(0.125)
    below = lt.check_privacy(mechanism, law, rho=0.999 * 0.125)
    assert below.decision == "NO"
    assert below.witness is not None
    assert below.witness.verify(mechanism)
    gate = lt.PrivacyGate(mechanism, law, **mechanism.claim)
    assert isinstance(gate.release([0] * mechanism.domain.dimension), Released)
    pure = lt.adapters.opendp(dp.m.make_laplace(*NUMBER, scale=2.0), draws=1000)
    assert pure.claim == {"epsilon": pure.epsilon, "delta": 0.0}


@pytest.mark.slow
def test_selection_under_zcdp_keeps_its_rho() -> None:
    bounded = dp.vector_domain(dp.atom_domain(T=int, bounds=(0, 2)), size=2)
    measure = dp.zero_concentrated_divergence()
    gumbel = dp.m.make_noisy_max(bounded, dp.linf_distance(T=int), measure, scale=1.0)
    mechanism = lt.adapters.opendp(gumbel, draws=1000)
    law = lt.ProductDistribution.uniform(mechanism.domain)
    assert lt.check_privacy(mechanism, law, **mechanism.claim).decision == "YES"
    exact = lt.exact_rho(mechanism, mechanism.domain)
    assert exact.value <= mechanism.claim["rho"]
    assert lt.check_privacy(mechanism, law, rho=0.99 * exact.value).decision == "NO"


@pytest.mark.slow
def test_half_the_noise_does_not_keep_the_claim() -> None:
    half = lt.adapters.opendp(dp.m.make_laplace(*NUMBER, scale=1.0), draws=1000)
    claimed = lt.adapters.opendp(dp.m.make_laplace(*NUMBER, scale=2.0), draws=1000)
    law = lt.ProductDistribution.uniform(half.domain)
    verdict = lt.check_privacy(half, law, epsilon=claimed.epsilon)
    assert verdict.decision == "NO"


def bounded_geometric(value: int, scale: float, low: int, high: int) -> dict[int, Fraction]:
    """OpenDP's sampler step by step, in fractions; 1-q is the float that it uses, to an ulp."""
    success = Fraction(-math.expm1(-1.0 / scale))
    start = min(max(value, low), high)
    found: dict[int, Fraction] = {}
    for direction in (1, -1):
        at, left = start, Fraction(1, 2)
        # upper - lower trials; after a success, or at the last, the number stays.
        for _ in range(high - low):
            place = min(max(at, low), high)
            if direction == 1 or at != start:
                found[place] = found.get(place, Fraction(0)) + left * success
            left *= 1 - success
            at += direction
        place = min(max(at, low), high)
        found[place] = found.get(place, Fraction(0)) + left
    total = sum(found.values())
    return {output: mass / total for output, mass in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "bounds"), [(2.0, (1, 7)), (0.3, (-2, 1)), (40.0, (0, 1))])
def test_bounded_geometric_noise_is_that_of_the_sampler(
    scale: float, bounds: tuple[int, int]
) -> None:
    measurement = dp.m.make_geometric(
        dp.atom_domain(bounds=(-3, 9)), NUMBER[1], scale=scale, bounds=bounds
    )
    mechanism = lt.adapters.opendp(measurement, draws=1000)
    for place in range(13):
        law = lt.output_law(mechanism, np.array([place]))
        wanted = bounded_geometric(place - 3, scale, *bounds)
        assert set(law) == set(wanted)
        for output, mass in wanted.items():
            assert abs(math.log(law[output]) - math.log(mass)) <= law.error + 1e-14


@pytest.mark.slow
def test_what_is_no_category_is_a_dataset_too() -> None:
    mechanism = lt.adapters.opendp(
        dp.m.make_randomized_response(categories=[3, 5, 9], prob=0.75), draws=1000
    )
    law = lt.output_law(mechanism, np.array([3]))
    assert [law.exact(k) for k in (3, 5, 9)] == [Fraction(1, 3)] * 3
    law = lt.output_law(mechanism, np.array([1]))
    assert [law.exact(k) for k in (3, 5, 9)] == [Fraction(1, 8), Fraction(3, 4), Fraction(1, 8)]


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (
            lambda: dp.m.make_laplace(
                dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=1.0
            ),
            r"T=f64\) \(not a whole number\) is not known here",
        ),
        (lambda: dp.m.make_laplace(*NUMBER, scale=0.0), "adds no noise"),
        (
            lambda: dp.m.make_noisy_max(
                vector(), dp.linf_distance(T=int), dp.max_divergence(), scale=1.0
            ),
            "the scores have no bounds",
        ),
        (
            lambda: dp.m.make_noisy_max(
                vector(), dp.linf_distance(T=int, monotonic=True), dp.max_divergence(), scale=1.0
            ),
            "all move in one direction",
        ),
        (
            lambda: dp.m.make_noisy_top_k(
                vector(), dp.linf_distance(T=int), dp.max_divergence(), k=1, scale=1.0
            ),
            "the output distribution of make_noisy_top_k is not known here",
        ),
        (
            lambda: dp.m.make_geometric(vector(2), dp.l1_distance(T=int), scale=1.0, bounds=(0, 3)),
            "bounded noise on a vector",
        ),
        (lambda: dp.m.make_laplace(vector(), dp.l1_distance(T=int), scale=1.0), "any length"),
        (
            lambda: (
                (vector(3), dp.symmetric_distance())
                >> dp.t.then_count()
                >> dp.m.then_laplace(scale=1.0)
            ),
            "have no bounds",
        ),
        (
            lambda: (
                (vector(3), dp.symmetric_distance())
                >> dp.t.then_count_by_categories(categories=[0, 1])
                >> dp.m.then_laplace(scale=1.0)
            ),
            "of a fixed number of records",
        ),
        (
            lambda: BITS >> dp.t.then_count_distinct() >> dp.m.then_laplace(scale=1.0),
            "begins with make_count_distinct",
        ),
    ],
)
def test_what_has_no_closed_form_is_refused_with_a_reason(make: Any, why: str) -> None:
    with pytest.raises(lt.errors.InputError, match=why):
        lt.adapters.opendp(make())


RECORDS = dp.symmetric_distance()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [bool, str, int, float])
def test_a_count_of_any_records(kind: type) -> None:
    atoms = dp.atom_domain(T=float, nan=False) if kind is float else dp.atom_domain(T=kind)
    made = (dp.vector_domain(atoms), RECORDS) >> dp.t.then_count() >> dp.m.then_laplace(scale=2.0)
    mechanism = lt.adapters.opendp(made, draws=2000, domain=lt.Hypergrid([4]))
    assert mechanism.epsilon == 0.5
    assert lt.exact_epsilon(mechanism, mechanism.domain).value == pytest.approx(0.5)
    assert lt.adapters.opendp(made, draws=2000).domain == lt.Hypergrid([2])
    with pytest.raises(lt.errors.InputError, match="the number of its records"):
        lt.adapters.opendp(made, domain=lt.Hypergrid([2, 2]))


@pytest.mark.slow
def test_types_of_records_and_of_counts_may_differ() -> None:
    records = dp.vector_domain(dp.atom_domain(T="u32")), RECORDS
    for kind in ("u32", "i32"):
        counted = records >> dp.t.then_count(TO=kind) >> dp.m.then_laplace(scale=2.0)
        assert lt.adapters.opendp(counted, draws=2000).epsilon == 0.5
        by_category = dp.t.then_count_by_categories(categories=[1, 2], TOA=kind)
        cells = records >> by_category >> dp.m.then_laplace(scale=2.0)
        assert lt.adapters.opendp(cells, draws=2000).domain == lt.Hypergrid([2] * 3)


@pytest.mark.slow
@pytest.mark.parametrize("null", [pytest.param(True, marks=pytest.mark.slow), False])
def test_a_histogram_of_categories(null: bool) -> None:
    counts = dp.t.then_count_by_categories(categories=["a", "b"], null_category=null)
    made = (dp.vector_domain(dp.atom_domain(T=str)), RECORDS) >> counts
    mechanism = lt.adapters.opendp(made >> dp.m.then_laplace(scale=2.0), draws=2000)
    cells = 3 if null else 2
    assert mechanism.domain == lt.Hypergrid([2] * cells)
    assert mechanism.epsilon == 0.5
    assert lt.exact_epsilon(mechanism, mechanism.domain).value == pytest.approx(0.5)
    with pytest.raises(lt.errors.InputError, match=f"it counts {cells} kinds"):
        lt.adapters.opendp(made >> dp.m.then_laplace(scale=2.0), domain=lt.Hypercube(cells))


@pytest.mark.slow
def test_a_sum_of_clamped_records() -> None:
    clamped = (vector(), RECORDS) >> dp.t.then_clamp((-1, 3)) >> dp.t.then_sum()
    mechanism = lt.adapters.opendp(clamped >> dp.m.then_laplace(scale=2.0), draws=2000)
    assert mechanism.domain == lt.Hypergrid([2] * 5)
    assert mechanism.epsilon == 1.5
    assert lt.exact_epsilon(mechanism, mechanism.domain).value == pytest.approx(1.5)
    forged = clamped >> dp.m.then_laplace(scale=2.0)
    first = forged.__opendp_dict__["__kwargs__"]["transformation0"]
    wide = (vector(), RECORDS) >> dp.t.then_clamp((-2, 4)) >> dp.t.then_sum()
    wide.__opendp_dict__ = first.__opendp_dict__
    forged.__opendp_dict__["__kwargs__"]["transformation0"] = wide
    with pytest.raises(lt.errors.LawError, match="was expected"):
        lt.adapters.opendp(forged, draws=2000)


def by_orders(scores: list[int], scale: float) -> list[float]:
    """Permute-and-flip as it is described: in a random order, each place is taken with its q."""
    chances = [math.exp((score - max(scores)) / scale) for score in scores]
    found = [0.0] * len(scores)
    for order in permutations(range(len(scores))):
        left = 1.0 / math.factorial(len(scores))
        for place in order:
            found[place] += left * chances[place]
            left *= 1.0 - chances[place]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize("scale", [0.4, 1.0, 30.0])
def test_the_noisy_maximum_is_permute_and_flip(scale: float, negate: bool) -> None:
    made = dp.m.make_noisy_max(
        vector(), dp.linf_distance(T=int), dp.max_divergence(), scale=scale, negate=negate
    )
    grid = lt.AnswerGrid([4] * 4, relation="all")
    mechanism = lt.adapters.opendp(made, domain=grid, draws=2000)
    assert mechanism.epsilon == pytest.approx(2 / scale)
    for scores in ([0, 1, 2, 3], [3, 3, 0, 1], [0, 0, 0, 0]):
        law = lt.output_law(mechanism, np.array(scores))
        signed = [-score for score in scores] if negate else scores
        assert [law[r] for r in range(4)] == pytest.approx(by_orders(signed, scale), rel=1e-12)


@pytest.mark.slow
def test_the_noisy_maximum_of_scores_with_bounds() -> None:
    bounded = dp.vector_domain(dp.atom_domain(bounds=(2, 6)), size=3)
    pure = dp.m.make_noisy_max(bounded, dp.linf_distance(T=int), dp.max_divergence(), scale=1.0)
    mechanism = lt.adapters.opendp(pure, draws=2000)
    assert mechanism.domain == lt.AnswerGrid([5] * 3, relation="all")
    assert lt.exact_epsilon(mechanism, mechanism.domain).value == pytest.approx(2.0)
    for wrong in (lt.AnswerGrid([5] * 3, relation="one"), lt.AnswerGrid([6] * 3, relation="all")):
        with pytest.raises(lt.errors.InputError, match="does not fit"):
            lt.adapters.opendp(pure, domain=wrong)
    measure = dp.zero_concentrated_divergence()
    gumbel = dp.m.make_noisy_max(bounded, dp.linf_distance(T=int), measure, scale=2.0)
    exponential = lt.adapters.opendp(gumbel, delta=1e-3, draws=2000)
    weights = np.exp(np.array([0, 1, 4]) / 2.0)
    law = lt.output_law(exponential, np.array([0, 1, 4]))
    assert [law[r] for r in range(3)] == pytest.approx((weights / weights.sum()).tolist())


def test_the_law_of_many_scores_is_as_exact_as_declared() -> None:
    scores = np.arange(40) % 7
    law = noisy_max(3.0, 40, False, False, "max").law(scores)
    chances = [Fraction(math.exp((int(score) - 6) / 3.0)) for score in scores]
    polynomial = [Fraction(1)]  # of all places but the last one
    for chance in chances[:-1]:
        moved = [Fraction(0), *(-chance * factor for factor in polynomial)]
        polynomial = [a + b for a, b in zip([*polynomial, Fraction(0)], moved, strict=True)]
    integral = sum(factor / (k + 1) for k, factor in enumerate(polynomial))
    assert law[39] == pytest.approx(float(chances[-1] * integral), rel=1e-11)
    with pytest.raises(lt.errors.InputError, match="41 scores are more than the 40"):
        noisy_max(3.0, 41, False, False, "max")


@pytest.mark.slow
@pytest.mark.parametrize("wrap", [dp.c.make_approximate, dp.c.make_pureDP_to_zCDP])
def test_a_claim_in_other_words_is_of_the_same_law(wrap: Any) -> None:
    plain = dp.m.make_noise(*NUMBER, dp.max_divergence(), scale=2.0)
    mechanism = lt.adapters.opendp(wrap(plain), delta=1e-6, draws=2000)
    assert mechanism.name == "make_noise(scale=2.0)"
    assert lt.exact_epsilon(mechanism, mechanism.domain).value == pytest.approx(0.5)
    assert mechanism.epsilon >= 0.5


@pytest.mark.slow
def test_noise_that_clips_at_the_ends_of_its_type() -> None:
    small = dp.m.make_laplace(dp.atom_domain(T="u32"), dp.absolute_distance(T="u32"), scale=2.0)
    mechanism = lt.adapters.opendp(small, draws=2000)
    data = lt.ProductDistribution.uniform(mechanism.domain)
    assert lt.check_privacy(mechanism, data, epsilon=0.5).decision == "YES"


@pytest.mark.slow
def test_bounds_that_leave_one_output() -> None:
    certain = lt.adapters.opendp(dp.m.make_geometric(*NUMBER, scale=2.0, bounds=(4, 4)), draws=1000)
    assert dict(lt.output_law(certain, np.array([1]))) == {4: 1.0}


@pytest.mark.parametrize(
    ("adapter", "module"),
    [(lt.adapters.opendp, "opendp.mod"), (lt.adapters.diffprivlib, "diffprivlib.mechanisms")],
)
def test_a_missing_library_is_named(
    adapter: Any, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        lt.errors.InputError, match=r"pip install 'liptest\[(opendp|diffprivlib)\]'"
    ):
        adapter(3)


def test_bad_arguments() -> None:
    laplace = dp.m.make_laplace(*NUMBER, scale=1.0)
    for delta in (1.0, -1e-6, math.nan):
        gaussian = dp.m.make_gaussian(*NUMBER, scale=1.0)
        with pytest.raises(lt.errors.InputError, match="delta="):
            lt.adapters.opendp(gaussian, delta=delta)
    bounded = dp.m.make_laplace(dp.atom_domain(bounds=(3, 6)), NUMBER[1], scale=1.0)
    with pytest.raises(lt.errors.InputError, match=r"its numbers are 3 \.\. 6"):
        lt.adapters.opendp(bounded, domain=lt.Hypergrid([5]))
    with pytest.raises(lt.errors.InputError, match="not an OpenDP measurement"):
        lt.adapters.opendp(len)
    with pytest.raises(lt.errors.InputError, match="draws"):
        lt.adapters.opendp(laplace, draws=10)
    for wrong in (lt.Hypercube(1), lt.Hypergrid([2, 2])):
        with pytest.raises(lt.errors.InputError, match="does not fit"):
            lt.adapters.opendp(laplace, domain=wrong)
    with pytest.raises(lt.errors.InputError, match="does not fit"):
        lt.adapters.opendp(CASES["sum, records replaced"][0](), domain=lt.Hypercube(5))
    with pytest.raises(lt.errors.InputError, match="a count for each of the values"):
        lt.adapters.opendp(CASES["count"][0](), domain=lt.Hypergrid([3]))


@pytest.mark.slow
def test_a_record_that_is_not_the_truth_is_found_out() -> None:
    forged = dp.m.make_laplace(*NUMBER, scale=2.0)
    forged.__opendp_dict__["__kwargs__"]["scale"] = 1.0
    with pytest.raises(lt.errors.LawError, match="does not do what its record says"):
        lt.adapters.opendp(forged, draws=5000)
    forged = CASES["sum, records replaced"][0]()
    first = forged.__opendp_dict__["__kwargs__"]["transformation0"]
    first.__opendp_dict__["__function__"] = "make_count"
    with pytest.raises(lt.errors.LawError, match="was expected"):
        lt.adapters.opendp(forged)
    bare = dp.m.make_laplace(*NUMBER, scale=2.0)
    del bare.__opendp_dict__
    with pytest.raises(lt.errors.InputError, match="keeps no record"):
        lt.adapters.opendp(bare)


@pytest.mark.parametrize("installed", ["0.10.0", "0.14.1"])
def test_versions_that_draw_another_law_are_refused(
    installed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["liptest.adapters.opendp"]
    monkeypatch.setattr(module, "version", lambda name: installed)
    with pytest.raises(lt.errors.InputError, match="issue 2638"):
        lt.adapters.opendp(dp.m.make_laplace(*NUMBER, scale=2.0))


@pytest.mark.slow
def test_the_notes_say_where_the_law_comes_from() -> None:
    mechanism = lt.adapters.opendp(dp.m.make_laplace(*NUMBER, scale=2.0), draws=2000)
    claim, law, compared = mechanism.notes
    assert claim == "Claim: measurement.map(1), for AbsoluteDistance(i32)."
    assert "make_laplace(scale=2.0)" in law
    assert "Compared with 2,000 draws on each of 2 datasets" in compared
    assert "at most 1e-12" in compared


@pytest.mark.slow
@DEAR
def test_a_gate_releases_from_the_tested_law(case: str) -> None:
    make, arguments, domain, claim, _ = CASES[case]
    mechanism = pickle.loads(pickle.dumps(lt.adapters.opendp(make(), draws=1000, **arguments)))
    gate = lt.PrivacyGate(
        mechanism, lt.ProductDistribution.uniform(domain), epsilon=claim, search_laws=0
    )
    released = gate.release(np.zeros(domain.dimension, dtype=int))
    assert isinstance(released, Released)
    assert lt.verify(gate.certificate, mechanism)
