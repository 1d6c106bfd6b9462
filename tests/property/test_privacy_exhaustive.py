"""Proofs and samples against a plain double loop over all neighbouring pairs."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import liptest as lt
from liptest.verdicts import Decision
from tests.unit.privacy.cases import (
    breaks,
    closed,
    exact,
    from_weights,
    log_of,
    neighbouring,
    ratio,
)

DOMAINS = st.sampled_from(
    [
        lt.Hypercube(1),
        lt.Hypercube(3),
        lt.Hypergrid([4]),
        lt.Hypergrid([1, 3, 2]),
        lt.RecordGrid([3]),
        lt.RecordGrid([3, 1, 2]),
        lt.RecordGrid([1]),
    ]
)


@st.composite
def mechanisms(draw):
    """A domain and one row of exact probabilities per dataset, few of them different."""
    domain = draw(DOMAINS)
    outputs = draw(st.integers(1, 3))
    weights = st.lists(st.integers(0, 5), min_size=outputs, max_size=outputs)
    known = draw(st.lists(weights, min_size=2, max_size=3))
    known = [row if any(row) else [1] * outputs for row in known]
    rows = draw(st.lists(st.sampled_from(known), min_size=domain.size, max_size=domain.size))
    return domain, [from_weights(row) for row in rows]


CLAIMS = st.tuples(
    st.sampled_from([1e-9, 0.3, math.log(2), lt.log(2), lt.log("3/2"), 1.5, 700.0]),
    st.sampled_from([0.0, 0.0, 1e-300, 0.1, 0.999]),
    st.sampled_from([0.0, 1e-9]),
)


def truth(domain, rows, claim):
    """Whether some pair breaks the claim; None where brute force cannot tell."""
    answers = [breaks(rows[i], rows[j], *claim) for i, j in neighbouring(domain)]
    if any(answers):
        return True
    return None if None in answers else False


def check(mechanism, domain, method, claim, **options):
    epsilon, delta, tolerance = claim
    return lt.check_privacy(
        mechanism,
        lt.ProductDistribution.uniform(domain),
        epsilon=epsilon,
        delta=delta,
        tolerance=tolerance,
        method=method,
        seed=1,
        **options,
    )


@pytest.mark.slow
@given(mechanisms(), CLAIMS)
def test_a_proof_is_what_a_double_loop_finds(case, claim):
    domain, rows = case
    verdict = check(exact(domain, rows), domain, "exhaustive", claim)
    expected = truth(domain, rows, claim)
    event(str(verdict.decision))
    if expected is None:
        assert verdict.decision is not Decision.NO
        return
    assert verdict.decision is (Decision.NO if expected else Decision.YES)
    assert verdict.cost.laws == (domain.size if domain.neighbouring_pairs else 0)
    if expected:
        assert verdict.witness.verify(exact(domain, rows))
        x, y = (
            int(domain.index(side)[0])
            for side in (verdict.witness.dataset, verdict.witness.neighbour)
        )
        assert (min(x, y), max(x, y)) in neighbouring(domain)
        assert breaks(rows[x], rows[y], *claim)
    else:
        assert verdict.cost.pairs == domain.neighbouring_pairs == len(neighbouring(domain))
        assert verdict.guarantee.kind == "proof"


@pytest.mark.slow
@given(mechanisms(), CLAIMS)
def test_floats_never_contradict_exact_laws(case, claim):
    """The same mechanism in floats: at most less is known."""
    domain, rows = case
    floats = closed(domain, np.array(rows, dtype=float))
    verdict = check(floats, domain, "exhaustive", claim)
    expected = truth(domain, rows, claim)
    event(str(verdict.decision))
    if expected is not None and verdict.decision is not Decision.INCONCLUSIVE:
        assert verdict.decision is (Decision.NO if expected else Decision.YES)
    if claim[2] > 0 and claim[1] == 0:
        # No loss of these laws lies within the tolerance of a claim but on its near side.
        assert verdict.decision is not Decision.INCONCLUSIVE


@pytest.mark.slow
@given(mechanisms())
def test_exact_epsilon_is_the_largest_loss(case):
    domain, rows = case
    pairs = [ratio(rows[i], rows[j]) for i, j in neighbouring(domain)]
    for mechanism in (exact(domain, rows), closed(domain, np.array(rows, dtype=float))):
        found = lt.exact_epsilon(mechanism, domain)
        if None in pairs:
            assert found.value == found.lower == found.upper == math.inf
            continue
        worst = log_of(max(pairs, default=Fraction(1)))
        assert Fraction(found.lower) <= worst <= Fraction(found.upper)
        assert found.lower <= found.value <= found.upper
        # Declared 4 ulp, and outputs + 5 ulp of normalising, at both ends and on both sides.
        assert found.upper - found.lower < 2e-14
        assert found.pairs == len(pairs)
        if worst > 0:
            assert found.witness.verify(mechanism)


@pytest.mark.slow
@given(
    mechanisms(),
    CLAIMS,
    st.sampled_from(["neighbourhoods", "light-neighbourhoods", "edges", "group", "auto"]),
)
def test_a_sample_says_no_only_where_a_double_loop_does(case, claim, method):
    domain, rows = case
    if method == "group" and claim[1] > 0:
        return
    verdict = check(
        exact(domain, rows), domain, method, claim, exception_mass=0.2, failure_probability=0.1
    )
    event(f"{method} {verdict.decision}")
    if verdict.decision is Decision.NO:
        assert truth(domain, rows, claim)
        assert verdict.witness.verify(exact(domain, rows))
        assert verdict.witness.distance == 1
    else:
        assert verdict.witness is None
