"""The two further routes to a release: what they refuse, what they release, what they say."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import liptest as lt
from liptest.data.points import PointBatch
from liptest.evidence.verify import problems
from liptest.gate.gate import Refused
from liptest.gate.routes import FilterGate, SensitivityGate
from liptest.lipschitz.oracles import FunctionOracle
from liptest.privacy.proofs.noisy_queries import unaffordable_mass
from liptest.verdicts import Decision

CUBE = lt.Hypercube(3)
UNIFORM = lt.ProductDistribution.uniform(CUBE)
#: So much epsilon that the noise is 0, but for an event of probability below e^-1000.
PLENTY = 1000.0
SECRET = [1, 0, 1]

Query = Callable[[np.ndarray], np.ndarray]
Gate = SensitivityGate | FilterGate


def count(x: np.ndarray) -> np.ndarray:
    return np.asarray(x.sum(axis=1) * 1.0)


def squared(x: np.ndarray) -> np.ndarray:
    return np.asarray(x.sum(axis=1) ** 2 * 1.0)


def fails_on_secret(failure: Callable[[], float]) -> Query:
    def query(x: np.ndarray) -> np.ndarray:
        values = count(x)
        for i in np.flatnonzero((x == SECRET).all(axis=1)):
            values[i] = failure()
        return values

    return query


def boom() -> float:
    raise ZeroDivisionError("secret 101")


def on_trial(query: object = count, **options: object) -> SensitivityGate:
    given: dict[str, object] = {"sensitivity": 1.0, "epsilon": 1.0, **options}
    return SensitivityGate(query, UNIFORM, **given)  # type: ignore[arg-type]


def filtered(query: object = count, **options: object) -> FilterGate:
    given: dict[str, object] = {"epsilon": 1.0, **options}
    return FilterGate(query, UNIFORM, **given)  # type: ignore[arg-type]


BOTH = pytest.mark.parametrize("route", [on_trial, filtered])


@BOTH
def test_the_release_is_in_units_of_the_query(route: Callable[..., Gate]) -> None:
    gate = route(count, epsilon=PLENTY, releases=3)
    assert gate.release(SECRET).output == 2.0
    assert isinstance(gate.release(SECRET).output, float)
    third = Fraction(1, 3)
    gate = route(lambda x: count(x) / 3, epsilon=PLENTY, sensitivity=third, grid_step=third / 4)
    assert gate.release(SECRET).output == float(2 * third)


@BOTH
def test_a_coarse_grid_rounds_half_up(route: Callable[..., Gate]) -> None:
    gate = route(count, epsilon=PLENTY, grid_step=4.0)
    assert gate.mechanism.noise.scale == 1 / Fraction(PLENTY)
    assert gate.release(SECRET).output == 4.0


@BOTH
def test_the_noise_is_that_of_theory(route: Callable[..., Gate]) -> None:
    gate = route(count, epsilon=0.3, sensitivity=1.5, grid_step=0.25)
    assert gate.mechanism.noise == lt.DiscreteLaplace(6 / Fraction(0.3))
    law = lt.output_law(gate.mechanism, np.array(SECRET))
    assert max(law, key=law.__getitem__) == 8
    assert law[9] / law[8] == pytest.approx(math.exp(-0.3 / 6))


@BOTH
def test_releases_are_counted(route: Callable[..., Gate]) -> None:
    gate = route(releases=2)
    assert gate.releases_left == 2
    gate.release(SECRET)
    gate.release(SECRET)
    with pytest.raises(lt.errors.GateError, match="releases=2: all are used"):
        gate.release(SECRET)


@BOTH
def test_a_dataset_outside_the_domain_is_refused_first(route: Callable[..., Gate]) -> None:
    gate = route()
    with pytest.raises(lt.errors.DatasetError, match="outside"):
        gate.release([0, 1, 2])
    assert gate.releases_left == 1


@BOTH
@pytest.mark.usefixtures("nothing_can_be_sealed")
@pytest.mark.parametrize("failure", [boom, lambda: math.nan, lambda: math.inf])
def test_a_query_that_fails_on_the_private_dataset_tells_nothing(
    route: Callable[..., Gate], failure: Callable[[], float]
) -> None:
    # The point where it fails has mass 0, so that no test meets it.
    law = lt.ProductDistribution.bernoulli([1.0, 1.0, 1.0])
    options = {"sensitivity": 5.0, "epsilon": 1.0, "trust_code": True}
    if route is on_trial:
        query = fails_on_secret(failure)

        def late(x: np.ndarray) -> np.ndarray:
            return query(x) if len(x) == 1 and x.tolist() == [SECRET] else count(x)

        gate: Gate = SensitivityGate(late, law, **options)
    else:
        gate = FilterGate(fails_on_secret(failure), law, **options)
    with pytest.raises(lt.errors.GateError, match="the reason is withheld") as caught:
        gate.release(SECRET)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert "101" not in str(error)
    assert "1, 0, 1" not in str(error)
    frames = [entry.name for entry in caught.traceback]
    assert not {"query", "late", "boom", "values"} & set(frames)


@BOTH
@pytest.mark.parametrize("failure", [boom, lambda: math.nan, lambda: math.inf])
def test_a_query_without_an_answer_for_every_dataset_is_never_released(
    route: Callable[..., Gate], failure: Callable[[], float]
) -> None:
    law = lt.ProductDistribution.bernoulli([1.0, 1.0, 1.0])
    with contextlib.suppress(lt.errors.LiptestError, ZeroDivisionError):
        gate = (SensitivityGate if route is on_trial else FilterGate)(
            fails_on_secret(failure), law, sensitivity=5.0, epsilon=1.0
        )
        for dataset in (SECRET, [0, 0, 0]):
            with pytest.raises(lt.errors.GateError, match="nothing is released"):
                gate.release(dataset)
        assert gate.releases_left == 1


@BOTH
def test_a_query_whose_code_changes_is_not_asked(route: Callable[..., Gate]) -> None:
    factor = [1.0]
    gate = route(lambda x: count(x) * factor[0], epsilon=PLENTY)
    factor[0] = 2.0
    assert gate.release(SECRET).output == 2.0


@pytest.mark.slow
@BOTH
@pytest.mark.usefixtures("nothing_can_be_sealed")
def test_a_query_whose_code_changes_is_not_released(route: Callable[..., Gate]) -> None:
    factor = [1.0]
    gate = route(lambda x: count(x) * factor[0], trust_code=True)
    factor[0] = 2.0
    with pytest.raises(lt.errors.CodeChangedError, match="changed after the test"):
        gate.release(SECRET)


@BOTH
def test_a_table_is_frozen(route: Callable[..., Gate]) -> None:
    table = count(CUBE.points(np.arange(8))).reshape(2, 2, 2)
    gate = route(table, epsilon=PLENTY)
    table[:] = 99.0
    assert gate.release(SECRET).output == 2.0


@BOTH
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_no_finite_number_is_an_error_not_a_verdict(route: Callable[..., Gate], bad: float) -> None:
    with pytest.raises(lt.errors.FunctionError, match="needs finite floats"):
        route(lambda x: np.where(x[:, 0] == 0, bad, 0.0))


@BOTH
def test_an_answer_that_changes_is_an_error_not_a_verdict(route: Callable[..., Gate]) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(lt.errors.FunctionError, match="must not depend on state, time or chance"):
        route(lambda x: count(x) + 1e-3 * rng.random(len(x)))


@BOTH
@pytest.mark.parametrize("epsilon", ["1.5", 1.5, "log(3)", lt.log(3)])
def test_epsilon_as_everywhere(route: Callable[..., Gate], epsilon: object) -> None:
    gate = route(epsilon=epsilon)
    assert gate.certificate.decision is Decision.YES
    exact = 1.5 if "1.5" in str(epsilon) else math.log(3)
    assert 0 <= exact - 1 / gate.mechanism.noise.scale < 1e-15
    assert str(gate.certificate.verdict.claim) == f"epsilon {epsilon}"


@BOTH
@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, "often", None])
def test_bad_epsilon(route: Callable[..., Gate], epsilon: object) -> None:
    with pytest.raises(lt.errors.InputError, match="epsilon="):
        route(epsilon=epsilon)


@BOTH
def test_bad_query_and_distribution(route: Callable[..., Gate]) -> None:
    with pytest.raises(lt.errors.InputError, match="must be a callable"):
        route("count")
    with pytest.raises(lt.errors.InputError, match="does not fit Hypercube"):
        route(np.zeros(8))
    with pytest.raises(lt.errors.InputError, match="releases=0"):
        route(releases=0)
    kind = type(route())
    with pytest.raises(lt.errors.InputError, match="distribution="):
        kind(count, CUBE, epsilon=1.0, sensitivity=1.0)


@pytest.mark.slow
@BOTH
def test_the_certificate_verifies_and_knows_its_query(route: Callable[..., Gate]) -> None:
    gate = route()
    text = gate.certificate.to_json()
    assert lt.verify(text, gate.mechanism)
    assert not lt.verify(text, route(squared, sensitivity=9.0).mechanism)
    assert lt.Certificate.from_json(text) == gate.certificate


def test_a_test_is_repeated_and_a_construction_is_looked_at() -> None:
    gate = on_trial()
    assert problems(gate.certificate, gate.mechanism, UNIFORM) == []
    made = filtered()
    assert problems(made.certificate, made.mechanism, UNIFORM) == []
    assert any("filter" in told for told in problems(made.certificate, gate.mechanism, UNIFORM))


def test_a_verdict_says_where_the_law_comes_from() -> None:
    text = str(on_trial().certificate.verdict)
    assert "count with noise   claim: epsilon 1\nYES by sampling" in text
    assert "the answer of the query, plus exact discrete Laplace noise" in text
    assert "by the vendor" not in text


def test_sensitivity_is_refuted_with_a_witness() -> None:
    gate = on_trial(squared, sensitivity=4.0, grid_step=1.0)
    certificate = gate.certificate
    assert certificate.decision is Decision.NO
    witness = certificate.verdict.witness
    assert witness is not None
    assert sorted((sum(witness.dataset), sum(witness.neighbour))) == [2, 3]
    assert witness.verify(gate.mechanism)
    assert witness.loss == pytest.approx(5 / 4)
    assert isinstance(gate.release(SECRET), Refused)
    assert isinstance(gate.release("no dataset at all"), Refused)
    assert lt.verify(certificate, gate.mechanism)


@pytest.mark.parametrize("method", ["neighbourhoods", "light-neighbourhoods", "edges", "auto"])
def test_sampling_methods(method: str) -> None:
    assert on_trial(method=method).certificate.decision is Decision.YES
    assert on_trial(squared, method=method).certificate.decision is Decision.NO


@pytest.mark.parametrize("method", ["exhaustive", "group"])
def test_methods_that_need_a_finite_law_say_so(method: str) -> None:
    with pytest.raises(lt.errors.InputError, match=r"method='(exhaustive|group)'"):
        on_trial(method=method)


@pytest.mark.parametrize(
    "tester",
    [
        lt.testers.VarianceEdges(),
        lt.testers.CS12(),
        lt.testers.CDJS15(),
        lt.testers.JR11(range_step=0.5),
    ],
)
def test_a_lipschitz_tester_tests_the_rounded_query(tester: lt.testers.VarianceEdges) -> None:
    options = {"method": tester, "exception_mass": 0.05, "failure_probability": 1e-3}
    gate = on_trial(**options)
    verdict = gate.certificate.verdict
    assert verdict.decision is Decision.YES
    assert verdict.method == tester.name
    assert verdict.guarantee.form == "group"
    theta = tester.approximation_factor
    assert gate.mechanism.noise.scale == pytest.approx(theta, rel=1e-15)
    assert verdict.guarantee.epsilon == pytest.approx(1.0, rel=1e-15)
    # What is guaranteed is at most the epsilon that was asked for, exactly.
    assert Fraction(verdict.claim.epsilon) * Fraction(theta) <= 1
    plan = tester.plan(UNIFORM, proximity=0.05, failure_probability=1e-3)
    assert verdict.cost.draws == plan.draws
    assert lt.verify(gate.certificate, gate.mechanism)
    refuted = on_trial(squared, sensitivity=4.0, grid_step=1.0, **options)
    witness = refuted.certificate.verdict.witness
    assert refuted.certificate.decision is Decision.NO
    assert witness is not None
    assert witness.verify(refuted.mechanism)
    assert witness.distance == 1


def test_a_tester_of_lines_and_a_violated_pair_far_apart() -> None:
    grid = lt.Hypergrid([9])
    law = lt.ProductDistribution.uniform(grid)
    jump = np.where(np.arange(9) > 4, 1.5, 0.0) + np.arange(9)
    gate = SensitivityGate(
        jump, law, sensitivity=1.0, grid_step=0.5, epsilon=1.0, method=lt.testers.CDJS15(), seed=4
    )
    witness = gate.certificate.verdict.witness
    assert witness is not None
    assert (min(witness.dataset), min(witness.neighbour)) in [((4), (5)), ((5), (4))]
    records = lt.RecordGrid([3, 3])
    values = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    uniform = lt.ProductDistribution.uniform(records)
    for sensitivity, decision in ((1.0, "YES"), (0.5, "NO")):
        lines = SensitivityGate(
            values, uniform, sensitivity=sensitivity, epsilon=1.0, method=lt.testers.HammingLines()
        )
        assert lines.certificate.decision == decision


def test_a_tester_with_delta_is_an_error() -> None:
    with pytest.raises(lt.errors.InputError, match="delta"):
        on_trial(method=lt.testers.VarianceEdges(), delta=1e-3)


def test_a_tester_class_is_no_method() -> None:
    with pytest.raises(lt.errors.InputError, match="method="):
        on_trial(method=lt.testers.DJT12)


def test_any_distribution_that_can_be_sampled() -> None:
    def twins(n: int, rng: np.random.Generator) -> np.ndarray:
        return np.repeat(rng.integers(0, 2, (n, 1)), 3, axis=1)

    law = lt.SampledDistribution(CUBE, twins)
    gate = SensitivityGate(count, law, sensitivity=1.0, epsilon=1.0)
    assert gate.certificate.decision is Decision.YES
    with pytest.raises(lt.errors.InputError, match="FilterGate needs a ProductDistribution"):
        FilterGate(count, law, epsilon=1.0)


def test_a_filter_leaves_a_lipschitz_query_alone() -> None:
    statistic = filtered(lambda x: count(x) / 2, grid_step=0.5).mechanism.statistic
    points = CUBE.points(np.arange(8))
    assert statistic.values(points).tolist() == points.sum(axis=1).tolist()


def test_a_filter_says_that_nothing_was_on_trial() -> None:
    verdict = filtered(squared).certificate.verdict
    text = str(verdict)
    assert "YES by construction - nothing was tested" in text
    assert "one and the same finite number" in text
    assert "Excepted" not in text
    assert "Seed" not in text
    assert verdict.guarantee.exception_mass == 0.0
    assert verdict.guarantee.failure_probability == 0.0
    promised = filtered().certificate.release_guarantee
    assert promised.startswith(
        "1 release: (1, 0)-private on every dataset, provided that the query"
    )


def test_a_release_that_needs_too_much_fails_and_is_excepted() -> None:
    law = lt.ProductDistribution.bernoulli([0.01] * 6)
    options = {"epsilon": PLENTY, "releases": 2, "max_references": 8}
    gate = FilterGate(count, law, **options)
    excepted = gate.certificate.verdict.guarantee.exception_mass
    assert excepted == unaffordable_mass(law, 8)
    exact = sum(math.comb(6, k) * 0.01**k * 0.99 ** (6 - k) for k in range(4, 7))
    assert excepted == pytest.approx(exact)
    text = str(gate.certificate.verdict)
    assert "more than 8 values of the query, where a release fails" in text
    assert "total probability <= 1.48e-07" in text
    assert gate.release([1, 1, 1, 0, 0, 0]).output == 3.0
    with pytest.raises(lt.errors.GateError, match="the reason is withheld"):
        gate.release([1, 1, 1, 1, 0, 0])


def test_a_filter_that_is_too_dear_is_refused_at_once() -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(30))
    with pytest.raises(
        lt.errors.InputError, match=r"above exception_mass=0[.]001; group the records"
    ):
        FilterGate(count, law, epsilon=1.0)
    with pytest.raises(lt.errors.InputError, match="max_references=0"):
        filtered(max_references=0)
    with pytest.raises(lt.errors.InputError, match="exception_mass=2"):
        filtered(exception_mass=2)


def test_a_filter_keeps_nothing_of_the_private_dataset(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    call = FunctionOracle._call

    def noted(oracle: FunctionOracle, part: PointBatch) -> np.ndarray:
        asked.append(len(part))
        return np.asarray(call(oracle, part))

    monkeypatch.setattr(FunctionOracle, "_call", noted)
    gate = filtered(lambda x: count(x), releases=2)
    del asked[:]
    gate.release([1, 1, 1])
    # 8 references, one at a time, the first one twice, checked behind the filter's own oracle.
    assert sorted(asked) == [1] * 9 + [8]
    gate.release([1, 1, 1])
    assert sorted(asked) == [1] * 18 + [8] * 2
