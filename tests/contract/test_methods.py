"""What every method of check_privacy must do, over mechanisms of every kind and all domains."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction as F

import numpy as np
import pytest

import liptest as lt
from liptest.lipschitz.testers import ALL_TESTERS
from liptest.lipschitz.testers.ajmr12 import AJMR12
from liptest.lipschitz.testers.cdjs15 import CDJS15
from liptest.lipschitz.testers.cs12 import CS12
from liptest.lipschitz.testers.djt12 import DJT12
from liptest.lipschitz.testers.hamming_lines import HammingLines
from liptest.lipschitz.testers.jr11 import JR11
from liptest.lipschitz.testers.variance_edges import VarianceEdges
from liptest.privacy.settings import METHODS
from liptest.verdicts import Decision
from tests.shares import mostly_slow
from tests.unit.privacy.cases import closed, exact

catalogue = lt.catalogue


@dataclass(frozen=True)
class Case:
    """A mechanism with its exact epsilon on a domain (inf when outputs rule datasets out)."""

    mechanism: object
    distribution: lt.ProductDistribution
    epsilon: float


def table(domain, rows, epsilon, make=exact):
    return Case(make(domain, rows), lt.ProductDistribution.uniform(domain), epsilon)


@lt.mechanism(outputs=[0, 1])
def honest(data, rng):
    return int(rng.random() < 0.25 + 0.5 * data[0])


@lt.mechanism(outputs=range(4), statistic=lt.Count())
def of_the_count(count, rng):
    return count if rng.random() < 0.5 else int(rng.integers(4))


CUBE, COUNTS, RECORDS = lt.Hypercube(3), lt.Hypergrid([3, 2]), lt.RecordGrid([3, 2])
UNIFORM = lt.ProductDistribution.uniform(CUBE)
THIRDS = [[F(1, 3), F(2, 3)], [F(1, 2), F(1, 2)], [F(2, 3), F(1, 3)]]
CASES = {
    "rationals on a cube": table(CUBE, [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]] * 4, math.log(3)),
    "floats on a cube": table(CUBE, [[0.75, 0.25], [0.25, 0.75]] * 4, math.log(3), closed),
    "rationals on counts": table(COUNTS, np.repeat(THIRDS, 2, axis=0), math.log(1.5)),
    "rationals on records": table(RECORDS, np.repeat(THIRDS, 2, axis=0), math.log(2)),
    "an output that tells": table(CUBE, [[1, 0], [F(1, 2), F(1, 2)]] * 4, math.inf),
    "a statistic": Case(catalogue.truncated_geometric_count(3, 1.0), UNIFORM, 1.0),
    "a Python function": Case(honest, UNIFORM, math.log(3)),
    "a Python function of a count": Case(of_the_count, UNIFORM, math.log(5)),
    "unbounded noise": Case(lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1)), UNIFORM, 1.0),
    "a catalogue leak": Case(catalogue.leak(3, 0.25), UNIFORM, math.inf),
}
# Large steps and modest promises: the published testers take many draws.
TESTERS = [
    JR11(range_step=0.5),
    AJMR12(range_step=0.5),
    CS12(),
    DJT12(range_step=1 / 100),
    CDJS15(),
    VarianceEdges(),
    HammingLines(),
]
# Only of code that treats its records one by one; tests/unit/privacy/proofs/test_by_records.py.
NAMES = [method for method in METHODS if method != "per-record"]
NAMED = [*NAMES, *TESTERS]


def applies(method, case, delta=0.0):
    """Whether a method takes this mechanism; the refusals are tested on their own."""
    tester = not isinstance(method, str)
    if tester and method.not_applicable(case.distribution):
        return False
    if delta and (tester or method == "group"):
        return False
    laplace = isinstance(case.mechanism, lt.ShiftMechanism)
    return not (laplace and method == "group")


def promise(method):
    """Exception mass and failure probability to ask for."""
    return (0.02, 0.01) if isinstance(method, str) else (0.5, 0.25)


def check(case, method, epsilon, **options):
    mass, failure = promise(method)
    return lt.check_privacy(
        case.mechanism,
        case.distribution,
        epsilon=epsilon,
        exception_mass=mass,
        failure_probability=failure,
        method=method,
        seed=7,
        **options,
    )


#: Published testers differ by the domain; of the rest one kind of mechanism is enough.
FOR_TESTERS = {
    *("rationals on a cube", "rationals on counts", "rationals on records", "a Python function"),
    "an output that tells",
}


def word(method):
    return method if isinstance(method, str) else method.name


PAIRS = [
    pytest.param(method, case, id=f"{word(method)}-{name}")
    for method in NAMED
    for name, case in CASES.items()
    if applies(method, case) and (isinstance(method, str) or name in FOR_TESTERS)
]
EACH = pytest.mark.parametrize(
    ("method", "case"),
    [
        one if n % 3 == 1 else pytest.param(*one.values, marks=pytest.mark.slow, id=one.id)
        for n, one in enumerate(PAIRS)
    ],
)


def some():
    """A case of each method, and each case under some method."""
    names, chosen = list(CASES), []
    for number, method in enumerate(NAMED):
        wanted = [*names[number % len(names) :], *names]
        name = next(n for n in wanted if applies(method, CASES[n]))
        chosen.append(pytest.param(method, CASES[name], id=f"{word(method)}-{name}"))
    return chosen


SOME = pytest.mark.parametrize(("method", "case"), some())


def test_every_method_and_every_case_takes_part():
    assert [type(tester) for tester in TESTERS] == [type(tester) for tester in ALL_TESTERS]
    for params, least in ((PAIRS, len(CASES)), (some(), 7)):
        assert {str(param.values[0]) for param in params} == {str(method) for method in NAMED}
        assert len({id(param.values[1]) for param in params}) >= least


@pytest.mark.slow
@EACH
def test_a_true_claim_is_never_refused(method, case):
    if case.epsilon == math.inf:
        for epsilon in (1.0, 700.0):
            assert check(case, method, epsilon).decision is not Decision.YES
        return
    for factor in (1.0, 1 + 1e-9, 2.0):
        verdict = check(case, method, case.epsilon * factor)
        assert verdict.decision is Decision.YES
        assert verdict.witness is None
        assert verdict.largest_loss <= case.epsilon * (1 + 1e-9)


def _mass(mechanism, dataset, event):
    law = lt.output_law(mechanism, list(dataset))
    return math.fsum(law.get(output, 0.0) for output in event)


@EACH
def test_a_false_claim_is_refuted_with_a_witness(method, case):
    epsilon = 1.0 if case.epsilon == math.inf else case.epsilon * (1 - 1e-6)
    verdict = check(case, method, epsilon)
    assert verdict.decision is Decision.NO
    witness = verdict.witness
    assert witness.verify(case.mechanism)
    assert witness.distance == 1
    ends = (np.array([side]) for side in (witness.dataset, witness.neighbour))
    assert case.distribution.domain.distance(*ends)[0] == 1
    assert witness.loss_lower > witness.claim.threshold
    # The output that is shown refutes by itself, by the laws of the two datasets alone.
    p, q = (
        _mass(case.mechanism, side, witness.event) for side in (witness.dataset, witness.neighbour)
    )
    assert p == pytest.approx(witness.probability, rel=1e-9, abs=1e-300)
    assert q == pytest.approx(witness.neighbour_probability, rel=1e-9, abs=1e-300)
    assert max(p, q) > math.exp(epsilon) * min(p, q)
    assert witness.least_delta <= max(p, q) - math.exp(epsilon) * min(p, q)
    assert verdict.guarantee.kind == "refutation"
    assert verdict.guarantee.exception_mass is None


@SOME
def test_the_same_seed_gives_the_same_verdict(method, case):
    kept = []
    for _ in range(2):
        data = check(case, method, 0.5).to_dict()
        del data["cost"]["seconds"]
        kept.append(json.dumps(data))
    assert kept[0] == kept[1]


@pytest.mark.slow
@SOME
def test_verdicts_come_back_from_json_and_print(method, case):
    for epsilon in (0.5, 5.0):
        verdict = check(case, method, epsilon)
        assert lt.PrivacyVerdict.from_json(verdict.to_json()) == verdict
        text = str(verdict)
        assert text.splitlines()[1].startswith(str(verdict.decision))
        assert case.mechanism.name in text


@pytest.mark.slow
@SOME
def test_a_yes_says_what_it_means(method, case):
    if case.epsilon == math.inf:
        return
    verdict = check(case, method, case.epsilon)
    guarantee = verdict.guarantee
    if verdict.method == "exhaustive":
        assert (guarantee.kind, guarantee.exception_mass) == ("proof", 0.0)
        assert guarantee.failure_probability == 0.0
        assert (
            f"for all datasets of {case.distribution.domain.dataset_words}." in guarantee.sentence
        )
    else:
        mass, failure = promise(method)
        assert (guarantee.kind, guarantee.exception_mass) == ("sampling", mass)
        assert guarantee.failure_probability == failure
        assert f"probability <= {mass:g}" in guarantee.sentence
        assert f"1 in {round(1 / failure)}" in guarantee.sentence
        assert "no promise" in guarantee.sentence
    group = verdict.method in {"group", *(tester.name for tester in TESTERS)}
    assert guarantee.form == ("group" if group else "neighbour")
    factor = guarantee.approximation_factor
    assert guarantee.epsilon == pytest.approx(case.epsilon * factor)
    assert guarantee.tolerance == 1e-9


@pytest.mark.parametrize("method", [m for m in NAMES if m != "group"])
@pytest.mark.parametrize("name", mostly_slow(CASES, 2))
def test_delta_makes_up_for_what_is_lost(method, name):
    """At a delta of 0.99 every case here is private, at 1e-6 none at this epsilon."""
    case = CASES[name]
    assert check(case, method, 0.3, delta=0.99).decision is Decision.YES
    verdict = check(case, method, 0.3, delta=1e-6)
    assert verdict.decision is Decision.NO
    assert verdict.witness.verify(case.mechanism)
    assert verdict.witness.excess > 1e-6


@pytest.mark.slow
def test_delta_is_refused_where_it_means_nothing():
    for method in ("group", *TESTERS):
        for case in CASES.values():
            with pytest.raises(lt.errors.InputError):
                check(case, method, 1.0, delta=0.1)


def test_a_tester_on_the_wrong_domain_says_why():
    for tester in TESTERS:
        for case in CASES.values():
            reason = tester.not_applicable(case.distribution)
            if reason:
                with pytest.raises(lt.errors.InputError, match="not applicable"):
                    check(case, tester, 1.0)
