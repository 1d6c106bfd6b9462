"""rho, Renyi divergences and mu for data of any size: closed forms, ties, and what refutes."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.privacy.notions import MuClaim, RenyiClaim, RhoClaim
from liptest.privacy.proofs.shift_notions import align_notion, is_kept, measure_shift
from liptest.symbolic.joint_shifts import JointShift

MANY = lt.Hypercube(5000)
KINDS = lt.RecordGrid([4] * 10_000)
STEP = 2e-3
GRID = np.arange(-40, 40, STEP) + STEP / 2
SIZES = st.floats(0.25, 4).map(Fraction)


def rho_of(shift: JointShift) -> float:
    return measure_shift(RhoClaim(1.0), shift)


def mu_of(shift: JointShift) -> float:
    return measure_shift(MuClaim(1.0), shift)


def renyi_of(shift: JointShift, order: float) -> float:
    return measure_shift(RenyiClaim(((order, 1.0),)), shift)


def laplace(shift: float) -> tuple[Any, Any]:
    """Cells of both laws, by their densities."""
    return np.exp(-np.abs(GRID)) * STEP / 2, np.exp(-np.abs(GRID - shift)) * STEP / 2


def response(loss: float) -> tuple[Any, Any]:
    p = np.array([math.exp(loss), 1]) / (1 + math.exp(loss))
    return p, p[::-1]


def divergence(pair: tuple[Any, Any], order: float) -> float:
    p, q = pair
    logs = order * np.log(p) + (1 - order) * np.log(q)
    return (math.log(np.sum(np.exp(logs - logs.max()))) + logs.max()) / (order - 1)


def mu_by_events(pair: tuple[Any, Any]) -> float:
    """The largest over events of likely outputs (Dong et al. 2019)."""
    order = np.argsort(-(pair[0] / pair[1]), kind="stable")
    p, q = (np.cumsum(one[order])[:-1] for one in pair)
    inner = (p > 1e-6) & (p < 1 - 1e-6) & (q > 1e-6) & (q < 1 - 1e-6)
    normal = NormalDist()
    step = max(1, int(inner.sum()) // 3000)
    pairs = zip(p[inner][::step], q[inner][::step], strict=True)
    return max(normal.inv_cdf(a) - normal.inv_cdf(b) for a, b in pairs)


@settings(max_examples=12)
@given(size=SIZES)
def test_laplace_noise_by_integration(size: Fraction) -> None:
    shift, pair = JointShift(laplace=(size,)), laplace(float(size))
    assert renyi_of(shift, 3) == pytest.approx(divergence(pair, 3), rel=1e-4)
    quotients = [divergence(pair, order) / order for order in (1.02, 1.1, 2, 5, 20)]
    assert max(quotients) <= rho_of(shift) * (1 + 1e-4)
    assert quotients[0] == pytest.approx(rho_of(shift), rel=0.05)
    assert mu_of(shift) == pytest.approx(mu_by_events(pair), rel=5e-3)


@settings(max_examples=12)
@given(loss=SIZES)
def test_a_loss_tells_no_more_than_randomised_response(loss: Fraction) -> None:
    shift, pair = JointShift(loss=loss), response(float(loss))
    assert renyi_of(shift, 3) == pytest.approx(divergence(pair, 3))
    quotients = [divergence(pair, order) / order for order in (1.02, 1.1, 2, 5, 20)]
    assert max(quotients) <= rho_of(shift)
    assert quotients[0] == pytest.approx(rho_of(shift), rel=0.05)
    assert mu_of(shift) == pytest.approx(2 * NormalDist().inv_cdf(pair[0][0]))


@settings(max_examples=12)
@given(size=SIZES, more=SIZES)
def test_a_part_of_a_loss_tells_no_more_than_all_of_it(size: Fraction, more: Fraction) -> None:
    parts = JointShift(laplace=(size, more))
    for dearer in (JointShift(laplace=(size,), loss=more), JointShift(loss=size + more)):
        assert rho_of(parts) <= rho_of(dearer) * (1 + 1e-12)
        assert mu_of(parts) <= mu_of(dearer) * (1 + 1e-12)
        assert renyi_of(parts, 2.5) <= renyi_of(dearer, 2.5) * (1 + 1e-12)


def test_ties_are_kept_at_tolerance_0() -> None:
    third = JointShift(square=Fraction(1, 3))
    assert is_kept(RhoClaim(math.nextafter(1 / 6, 1), 0), third)
    assert not is_kept(RhoClaim(math.nextafter(1 / 6, 0), 0), third)
    assert is_kept(RhoClaim(0.5, 0), JointShift(square=Fraction(1)))
    assert is_kept(MuClaim(0.5, 0), JointShift(square=Fraction(1, 4)))
    assert not is_kept(MuClaim(0.5, 0), JointShift(square=Fraction(1, 4) + Fraction(1, 10**30)))
    assert is_kept(RenyiClaim(((2.0, 1.0),), 0), JointShift(square=Fraction(1)))


def test_parts_of_several_paths_are_not_added_as_squares() -> None:
    several = JointShift(square=Fraction(1), loss=Fraction(1, 10), are_independent=False)
    assert rho_of(several) == pytest.approx(0.6)
    assert mu_of(several) == math.inf
    assert renyi_of(several, 2) == pytest.approx(1.1)


def counts(data: Any, rng: Any) -> Any:
    return np.bincount(data, minlength=4) + rng.normal(0, 2, size=4)


def mean(data: Any, rng: Any) -> Any:
    return data.mean() + rng.normal(0, 1e-3)


def count(data: Any, rng: Any) -> Any:
    return int(data.sum()) + rng.laplace(0, 1)


def both(data: Any, rng: Any) -> Any:
    return (data == 0).sum() + rng.normal(0, 1), (data == 1).sum() + rng.laplace(0, 2)


def in_turn(data: Any, rng: Any) -> Any:
    """The second only where the first is large."""
    first = (data == 0).sum() + rng.normal(0, 1)
    return (first, (data == 1).sum() + rng.normal(0, 1)) if first > 50 else (first, None)


def threshold(data: Any, rng: Any) -> Any:
    return bool((data == 1).sum() + rng.laplace(0, 2) > 100 + rng.laplace(0, 2))


BOTH_RHO = 0.5 + 0.5 + math.exp(-0.5) - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "domain", "claim"),
    [
        (counts, KINDS, {"mu": math.sqrt(0.5)}),
        (counts, KINDS, {"rho": 0.25}),
        (counts, KINDS, {"renyi": [(2, 0.5), (10, 2.5)]}),
        (counts, KINDS, {"curve": {1.0: 0.1, 4.0: 1e-5}}),
        (mean, KINDS, {"mu": 0.3}),
        (count, MANY, {"rho": math.exp(-1)}),
        (count, MANY, {"mu": 1.0301}),
        (both, KINDS, {"rho": BOTH_RHO}),
        (in_turn, KINDS, {"mu": math.sqrt(2)}),
        (threshold, KINDS, {"rho": math.tanh(0.25) / 2}),
    ],
)
def test_claims_are_proved_at_any_size_and_a_little_less_is_not(
    function: Any, domain: Any, claim: dict[str, Any]
) -> None:
    verdict = lt.check_privacy(lt.mechanism(function), domain, method="alignment", **claim)
    assert verdict.decision == "YES", verdict.reason
    assert verdict.guarantee.kind == "proof"
    ((kind, value),) = claim.items()
    if kind in ("rho", "mu"):
        less = {kind: value * 0.999}
        assert align_notion(lt.mechanism(function), domain, verdict.claim).said in str(verdict)
        found = lt.check_privacy(lt.mechanism(function), domain, method="alignment", **less)
        assert found.decision == "INCONCLUSIVE"
        assert "more than was claimed" in found.reason


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "domain", "claim"),
    [
        (counts, KINDS, {"mu": 0.7}),
        (counts, KINDS, {"rho": 0.24}),
        (mean, KINDS, {"mu": 0.29}),
        (count, MANY, {"rho": 0.367}),
        pytest.param(counts, KINDS, {"curve": {1.0: 0.1, 4.0: 1e-9}}, marks=pytest.mark.slow),
    ],
)
def test_less_is_refuted_at_its_size(function: Any, domain: Any, claim: dict[str, Any]) -> None:
    mechanism = lt.mechanism(function)
    verdict = lt.check_privacy(mechanism, domain, **claim)
    assert verdict.decision == "NO", verdict.reason
    assert verdict.witness is not None
    assert verdict.witness.verify(mechanism)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "domain", "rho", "mu"),
    [
        (counts, KINDS, 0.25, math.sqrt(0.5)),
        pytest.param(
            count,
            MANY,
            math.exp(-1),
            2 * NormalDist().inv_cdf(1 - math.exp(-0.5) / 2),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_both_ends_meet_at_any_size(function: Any, domain: Any, rho: float, mu: float) -> None:
    for exact, expected in ((lt.exact_rho, rho), (lt.exact_mu, mu)):
        found = exact(lt.mechanism(function), domain)
        assert found.lower <= expected * (1 + 1e-12)
        assert expected * (1 - 1e-12) <= found.upper
        assert found.upper == pytest.approx(found.lower, rel=1e-9)
        assert found.witness is not None
        assert found.pairs > 0


@pytest.mark.slow
def test_ends_that_do_not_meet_are_told() -> None:
    """Two kinds of noise: mu is bounded by squares that are added up, and found below it."""
    found = lt.exact_mu(lt.mechanism(both), KINDS)
    assert found.lower <= found.upper < math.inf
    assert found.value == pytest.approx(found.lower)


def test_sums_without_noise_have_no_bound() -> None:
    found = align_notion(lt.mechanism(lambda data, rng: data.sum()), MANY, RhoClaim(1.0))
    assert not found.is_kept
    assert "without noise" in found.reason


@pytest.mark.slow
def test_choices_with_weights_in_floats_have_none() -> None:
    def choose(data: Any, rng: Any) -> Any:
        scores = np.bincount(data, minlength=4)
        weights = np.exp((scores - scores.max()) / 2)
        return int(rng.choice(4, p=weights / weights.sum()))

    found = align_notion(lt.mechanism(choose), KINDS, MuClaim(5.0))
    assert not found.is_kept
    assert "floats" in found.reason


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(
    factors=st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=1, max_size=2),
    sizes=st.lists(st.floats(0.5, 3), min_size=2, max_size=2),
    family=st.sampled_from(["normal", "laplace"]),
)
def test_what_is_proved_is_what_the_pairs_show(
    factors: Any, sizes: list[float], family: str
) -> None:
    """rho of small instances, by the densities of every pair."""
    tables = [np.array(one) for one in factors]

    def release(data: Any, rng: Any) -> Any:
        draw = getattr(rng, family)
        pairs = zip(tables, sizes, strict=False)
        return [table[data].sum() + draw(0, size) for table, size in pairs]

    claim = RhoClaim(1.0)
    found = align_notion(lt.mechanism(release), lt.RecordGrid([3] * 2), claim)
    rhos = []
    for v in range(3):
        for w in range(3):
            moved = [abs(int(t[v] - t[w])) / s for t, s in zip(tables, sizes, strict=False)]
            normal = [one**2 / 2 for one in moved]
            others = [one + math.exp(-one) - 1 for one in moved]
            rhos.append(sum(normal if family == "normal" else others))
    assert found.measured == pytest.approx(max(rhos), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ({"rho": 0.125}, "at most rho 0.125\n"),
        ({"mu": 0.5}, "at most mu 0.5\n"),
        ({"rho": 0.124}, "proved at most rho 0.125, which is more than was claimed"),
    ],
)
def test_a_tie_is_not_told_as_more_than_was_claimed(claim: dict[str, float], words: str) -> None:
    @lt.mechanism
    def count(data: Any, rng: Any) -> Any:
        return data.sum() + rng.normal(0, 2)

    method = "auto" if "\n" in words else "alignment"
    said = str(lt.check_privacy(count, MANY, floats="ideal", method=method, **claim))
    assert words in said or words in " ".join(said.split()), said
