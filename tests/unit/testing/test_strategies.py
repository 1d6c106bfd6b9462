"""The strategies draw what they say, reach the awkward cases, and test liptest itself."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import Phase, assume, event, find, given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.gate.gate import Refused
from liptest.mechanisms.base import check_mechanism
from liptest.mechanisms.declared import ExactForm
from liptest.report.text import law_expressions, witness_lines
from liptest.testing import strategies
from liptest.testing.pytest_plugin import ClaimNotConfirmed, assert_private
from liptest.verdicts import Decision
from tests.unit.privacy.cases import all_datasets, breaks, neighbouring, ratio

SMALL = strategies.domains(max_dimension=2)
CLAIMS = st.tuples(
    st.sampled_from([0.1, 0.7, lt.log(2), lt.log("3/2"), 3.0, 600.0]),
    st.sampled_from([0.0, 0.0, 0.1, 0.6]),
    st.sampled_from([0.0, 1e-9]),
)


@st.composite
def cases(draw):
    """A domain, a mechanism on it, and its exact laws in index order."""
    domain = draw(SMALL)
    mechanism = draw(strategies.mechanisms(domain))
    rows = [strategies.exact_row(mechanism, dataset) for dataset in all_datasets(domain)]
    return domain, mechanism, rows


def truth(domain, rows, claim):
    answers = [breaks(rows[i], rows[j], *claim) for i, j in neighbouring(domain)]
    return True if any(answers) else None if None in answers else False


@pytest.mark.slow
@given(st.data())
def test_datasets_and_pairs_lie_in_the_domain(data):
    domain = data.draw(strategies.domains())
    dataset = data.draw(strategies.datasets(domain))
    assert dataset.dtype == domain.dtype
    assert domain.check_points(dataset).tolist() == [dataset.tolist()]
    assume(domain.neighbouring_pairs)
    x, y = data.draw(strategies.neighbouring_pairs(domain))
    domain.check_points([x, y])
    assert domain.distance(x, y).tolist() == [1]


@pytest.mark.slow
@given(st.data())
def test_distributions_are_product_laws_on_their_domain(data):
    domain = data.draw(SMALL)
    law = data.draw(strategies.product_distributions(domain))
    assert law.domain == domain
    total = sum(law.exact_mass(point) for point in all_datasets(domain))
    assert total == 1
    assert data.draw(strategies.product_distributions()).domain.dimension <= 3


@pytest.mark.slow
@given(cases())
def test_laws_are_the_exact_ones(case):
    domain, mechanism, rows = case
    check_mechanism(mechanism)
    event(type(mechanism).__name__)
    for dataset, row in zip(all_datasets(domain), rows, strict=True):
        assert sum(row) == 1
        law = lt.output_law(mechanism, np.array(dataset, dtype=domain.dtype))
        assert set(law) <= set(mechanism.outputs)
        for output, p in zip(mechanism.outputs, row, strict=True):
            assert law.get(output, 0.0) == pytest.approx(float(p), rel=1e-12, abs=5e-324)
            if isinstance(mechanism, ExactForm):
                assert law.exact(output) == p


@pytest.mark.slow
@given(cases(), CLAIMS)
def test_a_proof_agrees_with_a_double_loop(case, claim):
    domain, mechanism, rows = case
    epsilon, delta, tolerance = claim
    verdict = lt.check_privacy(
        mechanism,
        lt.ProductDistribution.uniform(domain),
        epsilon=epsilon,
        delta=delta,
        tolerance=tolerance,
        method="exhaustive",
    )
    event(f"{type(mechanism).__name__} {verdict.decision}")
    expected = truth(domain, rows, claim)
    if verdict.decision is Decision.NO:
        assert expected is True
        assert verdict.witness.verify(mechanism)
    if verdict.decision is Decision.YES:
        assert expected is not True
    if isinstance(mechanism, ExactForm) and expected is not None:
        assert verdict.decision is (Decision.NO if expected else Decision.YES)


@pytest.mark.slow
@given(cases())
def test_the_exact_epsilon_is_that_of_the_rows(case):
    domain, mechanism, rows = case
    found = lt.exact_epsilon(mechanism, domain)
    ratios = [ratio(rows[i], rows[j]) for i, j in neighbouring(domain)]
    if None in ratios:
        assert found.value == np.inf
    else:
        worst = max(ratios, default=Fraction(1))
        # In logs of two 1000-bit numbers; floats would overflow.
        from liptest.mechanisms.laws import log_fraction

        assert found.value == pytest.approx(log_fraction(worst), rel=1e-12, abs=1e-12)


@pytest.mark.slow
@given(cases(), st.sampled_from([0.1, lt.log(2), 3.0]), st.data())
@settings(max_examples=50)
def test_the_gate_releases_only_possible_outputs_of_private_mechanisms(case, epsilon, data):
    domain, mechanism, rows = case
    law = lt.ProductDistribution.uniform(domain)
    gate = lt.PrivacyGate(mechanism, law, epsilon=epsilon, method="exhaustive")
    dataset = data.draw(strategies.datasets(domain))
    answer = gate.release(dataset)
    event(type(answer).__name__)
    if isinstance(answer, Refused):
        assert gate.certificate.decision is not Decision.YES
        return
    assert truth(domain, rows, (epsilon, 0.0, 1e-9)) is False
    row = strategies.exact_row(mechanism, dataset)
    assert row[mechanism.outputs.index(answer.output)] > 0


@pytest.mark.slow
@given(cases(), st.sampled_from([0.1, 1.0]))
@settings(max_examples=50)
def test_an_assertion_fails_exactly_where_the_answer_is_not_yes(case, epsilon):
    domain, mechanism, _ = case
    law = lt.ProductDistribution.uniform(domain)
    verdict = lt.check_privacy(mechanism, law, epsilon=epsilon, seed=1)
    if verdict.decision is Decision.YES:
        assert assert_private(mechanism, law, epsilon=epsilon).decision is Decision.YES
        return
    with pytest.raises(ClaimNotConfirmed) as caught:
        assert_private(mechanism, law, epsilon=epsilon)
    assert caught.value.verdict.decision is verdict.decision
    witness = caught.value.verdict.witness
    if witness is not None:
        assert witness_lines(witness)[-1].startswith("Certain")
        names = {"lt": lt, "np": np, "m": mechanism}
        laws = [eval(text, names) for text in law_expressions(witness, "m")]
        given_laws = [mechanism.law(np.array(s)) for s in (witness.dataset, witness.neighbour)]
        assert [dict(found) for found in laws] == [dict(found) for found in given_laws]


def reached(strategy, condition):
    return find(
        strategy,
        condition,
        settings=settings(
            max_examples=2000, database=None, derandomize=True, phases=[Phase.generate]
        ),
    )


@pytest.mark.parametrize(
    "condition",
    [
        lambda domain: domain.neighbouring_pairs == 0,
        lambda domain: 1 in domain.sizes and domain.neighbouring_pairs > 0,
        lambda domain: isinstance(domain, lt.RecordGrid) and domain.sizes == (3, 3, 3),
    ],
)
def test_awkward_domains_are_reached(condition):
    assert condition(reached(strategies.domains(), condition))


@pytest.mark.parametrize(
    "condition",
    [
        lambda row: 0 in row,
        lambda row: row[0] == row[1] > 0,
        lambda row: any(0 < p < Fraction(1, 2**1080) for p in row),
        lambda row: max(row) == 1,
    ],
)
def test_awkward_laws_are_reached(condition):
    assert condition(reached(strategies.exact_laws(3), condition))


@pytest.mark.slow
def test_ties_at_a_claim_are_reached():
    tables = strategies.law_tables(2)
    assert reached(tables, lambda rows: ratio(*rows) == 2)
    assert reached(tables, lambda rows: ratio(*rows) is None)
    assert reached(tables, lambda rows: rows[0] == rows[1])


@pytest.mark.slow
@given(st.data())
def test_count_mechanisms_see_the_count_only(data):
    d = data.draw(st.integers(1, 5))
    domain = lt.Hypercube(d)
    mechanism = data.draw(strategies.count_mechanisms(domain))
    rows = [strategies.exact_row(mechanism, [1] * k + [0] * (d - k)) for k in range(d + 1)]
    mixed = [strategies.exact_row(mechanism, [0] * (d - k) + [1] * k) for k in range(d + 1)]
    assert rows == mixed
    found = lt.exact_epsilon(mechanism, domain).value
    assert (found == np.inf) == (None in [ratio(p, q) for p, q in pairwise(rows)])


def test_what_does_not_fit_is_refused():
    with pytest.raises(lt.errors.InputError, match="no neighbouring datasets"):
        strategies.neighbouring_pairs(lt.RecordGrid([1, 1]))
    with pytest.raises(lt.errors.InputError, match="Hypercube"):
        strategies.count_mechanisms(lt.Hypergrid([3]))
    with pytest.raises(lt.errors.InputError, match="max_dimension=0"):
        strategies.domains(max_dimension=0)
    foreign = lt.ClosedForm([0], lambda x: np.zeros((len(x), 1)))
    with pytest.raises(lt.errors.InputError, match="was not drawn"):
        strategies.exact_row(foreign, [0])


@pytest.mark.slow
def test_without_hypothesis_the_import_says_what_to_install():
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "try:\n import liptest.testing.strategies\n"
        "except ImportError as error:\n sys.exit('pip install hypothesis' not in str(error))\n"
        "sys.exit(2)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
