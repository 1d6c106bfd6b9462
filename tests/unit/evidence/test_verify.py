"""Certificates of every kind fit their schema and hold; forged ones do not."""

import re
from dataclasses import replace

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import liptest as lt
from liptest.evidence.certificate import certify, form_problems, make_schema, schema
from liptest.evidence.verify import examine, problems
from liptest.runs.fingerprints import fingerprint
from tests.unit.evidence.certificate_cases import (
    MAKERS,
    NO,
    RESPONSE,
    UNIFORM,
    YES,
    case,
    document,
    places,
    put,
)

EVERY = pytest.mark.parametrize("name", MAKERS)
FORMS = pytest.mark.parametrize("form", ["certificate", "sample_certificate"])
VALIDATOR = Draft202012Validator(schema())


class TestHonest:
    @EVERY
    def test_it_fits_the_schema(self, name):
        VALIDATOR.validate(document(name))
        assert form_problems(document(name)) == []

    @EVERY
    def test_json_both_ways(self, name):
        certificate = case(name).certificate
        again = lt.Certificate.from_json(certificate.to_json())
        assert again == certificate
        assert again.to_json() == certificate.to_json()

    @EVERY
    def test_it_holds(self, name):
        told = case(name)
        found = examine(told.certificate.to_json(), told.mechanism, told.distribution)
        assert found.problems == []
        assert found.certain

    @EVERY
    def test_alone_it_is_never_certain(self, name):
        found = examine(case(name).certificate.to_json())
        assert found.problems == []
        assert not found.certain
        assert "no mechanism was named" in found.unchecked[-1]

    @pytest.mark.parametrize("name", NO)
    def test_a_no_needs_no_distribution(self, name):
        found = examine(case(name).certificate, case(name).mechanism)
        assert (found.problems, found.certain) == ([], True)

    @pytest.mark.parametrize("name", YES)
    def test_a_yes_is_not_certain_without_its_distribution(self, name):
        found = examine(case(name).certificate, case(name).mechanism)
        assert (found.problems, found.certain) == ([], False)

    def test_a_filter_says_what_it_rests_on(self):
        told = case("filter")
        found = examine(told.certificate, told.mechanism, told.distribution)
        assert any("filter, noise and excepted mass" in line for line in found.checked)
        assert any("one and the same finite number" in line for line in found.unchecked)

    @FORMS
    def test_the_schema_is_itself_one(self, form):
        Draft202012Validator.check_schema(schema(form))
        objects = [part for part in walk(schema(form)) if part.get("type") == "object"]
        assert len(objects) > 8
        assert all("additionalProperties" in part for part in objects)

    @FORMS
    def test_the_schema_that_is_shipped_is_that_of_the_code(self, form):
        """After a change of the code: ``liptest.evidence.certificate.write_schemas()``."""
        assert schema(form) == make_schema(form)


def walk(value):
    """All objects in a JSON value."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, (dict, list)):
            yield from walk(item)


ODD = [None, True, -1, 0.5, 10**30, "", "inf", [], {}, [[]], {"tuple": [1]}, "1/2"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tester", pytest.param("no-floats", marks=pytest.mark.slow)])
def test_both_validators_agree_on_damage(name):
    """Ours is short; the library decides whether it understands the schema."""
    verdicts = set()
    for path in places(document(name)):
        for odd in ODD:
            damaged = put(document(name), path, odd)
            fits = VALIDATOR.is_valid(damaged)
            assert (form_problems(damaged) == []) == fits, (path, odd)
            verdicts.add(fits)
    assert verdicts == {True, False}


def test_another_version_or_a_key_twice_is_no_certificate():
    text = case("light").certificate.to_json()
    for broken, words in (
        (text.replace('"certificate": 1', '"certificate": 2'), "this liptest reads 1"),
        (text.replace('"certificate": 1', '"certificate": 1, "certificate": 1'), "twice"),
        (text.replace('"releases": 2', '"releases": NaN'), "NaN"),
        (text[:-2], "not JSON"),
    ):
        with pytest.raises(lt.errors.InputError, match=words):
            problems(broken, RESPONSE, UNIFORM)


def test_the_name_of_a_certificate_is_answered_with_what_to_write():
    with pytest.raises(
        TypeError, match=r"For example: lt\.verify\(Path\(.cert\.json.\)\.read_text"
    ):
        lt.verify("cert.json")
    with pytest.raises(
        lt.errors.InputError, match=r"give its text: Path\('cert\.json'\)\.read_text"
    ):
        lt.verify("cert.json", RESPONSE)


def test_the_whole_story_told_otherwise():
    """A forger who changes numbers, sentence and digest alike meets the repetition."""
    told = case("neighbourhoods")
    verdict = told.certificate.verdict
    better = lt.PrivacyGate(
        RESPONSE,
        UNIFORM,
        epsilon=lt.log(3),
        exception_mass=0.01,
        failure_probability=0.05,
        method="neighbourhoods",
        seed=5,
    ).certificate.verdict
    dressed = replace(
        verdict, guarantee=better.guarantee, settings=better.settings, plan=better.plan
    )
    dressed = replace(dressed, cost=replace(verdict.cost, draws=better.plan.draws))
    forged = replace(told.certificate, verdict=dressed)
    assert examine(forged.to_json()).problems == []
    wrong = problems(forged.to_json(), RESPONSE, UNIFORM)
    assert any(re.search(r"cost\.laws: \d+ became \d+", line) for line in wrong)


def test_an_honest_range_step_is_repeated_with_the_same_tester():
    """A replay once took the default step and refused such a certificate."""
    told = case("range-step")
    assert told.certificate.verdict.settings.parameters == {"range_step": 0.5}
    assert problems(told.certificate, RESPONSE, UNIFORM) == []


def stop(done, planned):
    raise KeyboardInterrupt


def test_an_interrupted_run_is_not_repeated_and_not_certain():
    mechanism = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1))
    law = lt.ProductDistribution.bernoulli([0.3] * 50)
    task = {"epsilon": 1.0, "method": "neighbourhoods", "exception_mass": 1e-5}
    certificate = lt.PrivacyGate(mechanism, law, progress=stop, **task).certificate
    assert certificate.verdict.reason.startswith("interrupted")
    found = examine(certificate.to_json(), mechanism, law)
    assert (found.problems, found.certain) == ([], False)
    more = replace(certificate.verdict.cost, draws=certificate.verdict.cost.draws * 2)
    forged = replace(certificate, verdict=replace(certificate.verdict, cost=more))
    assert any("guarantee: exception_mass=" in line for line in examine(forged).problems)


def test_correlated_records_are_repeated_too():
    law = lt.SampledDistribution(
        lt.Hypercube(2), lambda n, rng: np.repeat(rng.integers(0, 2, (n, 1)), 2, axis=1)
    )
    certificate = lt.PrivacyGate(
        RESPONSE, law, epsilon=lt.log(3), method="neighbourhoods", exception_mass=0.1
    ).certificate
    found = examine(certificate.to_json(), RESPONSE, law)
    assert (found.problems, found.certain) == ([], True)


@pytest.mark.parametrize(
    "method", ["search", "neighbourhoods", lt.testers.VarianceEdges()], ids=str
)
def test_a_search_is_repeated_with_its_budget(method):
    """A bug at one dataset that sampling does not meet."""
    mechanism = lt.catalogue.needle(6, (1,) * 6, 1.0)
    law = lt.ProductDistribution.bernoulli([0.05] * 6)
    verdict = lt.check_privacy(
        mechanism, law, epsilon=1.0, exception_mass=0.1, method=method, search_laws=500, seed=3
    )
    assert verdict.decision == "NO"
    certificate = certify(verdict, fingerprint(mechanism), law, own_seed=False)
    found = examine(certificate.to_json(), mechanism, law)
    assert (found.problems, found.certain) == ([], True)
    other = replace(verdict, settings=replace(verdict.settings, search_laws=0))
    wrong = problems(replace(certificate, verdict=other), mechanism, law)
    assert (wrong == []) == (method == "search")


def test_a_tester_of_somebody_elses_cannot_be_repeated():
    """Nothing is taken on trust because its method is not known."""
    verdict = replace(case("tester").certificate.verdict, method="Mine")
    forged = replace(case("tester").certificate, verdict=verdict)
    assert any("no such method" in line for line in examine(forged).problems)


def test_a_distribution_of_another_domain():
    other = lt.ProductDistribution.uniform(lt.Hypercube(3))
    [reason] = problems(case("light").certificate, RESPONSE, other)
    assert reason == "the domain is Hypercube(3), not Hypercube(2)"


def test_other_words_for_the_same_distribution_are_no_problem():
    same = lt.ProductDistribution.bernoulli([0.5, 0.5])
    found = examine(case("light").certificate, RESPONSE, same)
    assert found.problems == []
    assert any("where the distribution came from" in line for line in found.unchecked)


@pytest.mark.slow
def test_a_proof_of_code_that_reads_one_record_of_three_values():
    mechanism = lt.mechanism(lambda data, rng: int(rng.random() < 0.5) if data[0] > 4 else 0)
    law = lt.ProductDistribution.uniform(lt.RecordGrid([3, 2]))
    verdict = lt.check_privacy(mechanism, law, epsilon=1)
    assert "On 3 datasets, one for each value" in verdict.guarantee.sentence
    held = certify(verdict, fingerprint(mechanism), law, own_seed=True)
    assert problems(held, mechanism, law) == []


def noise_where_the_first_is_1(data, rng):
    if sum(int(bit) for bit in data) and data[0]:
        return int(rng.laplace() > 1)
    return int(rng.random() < 0.25)


def its_certificate(epsilon):
    mechanism = lt.mechanism(noise_where_the_first_is_1)
    law = lt.ProductDistribution.uniform(lt.Hypercube(4))
    verdict = lt.check_privacy(
        *(mechanism, law),
        epsilon=epsilon,
        method="neighbourhoods",
        exception_mass=0.3,
        failure_probability=0.05,
        seed=1,
        search_laws=0,
    )
    return mechanism, law, certify(verdict, fingerprint(mechanism), law, own_seed=True)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [2, 0.01])
def test_noise_of_which_the_certificate_is_silent(epsilon):
    mechanism, law, held = its_certificate(epsilon)
    assert held.verdict.law_source == "integrated"
    assert problems(held, mechanism, law) == []
    silent = replace(held, verdict=replace(held.verdict, law_source="enumerated"))
    afresh = lt.mechanism(noise_where_the_first_is_1)
    for checked in (mechanism, afresh):
        assert any("the code has noise" in told for told in problems(silent, checked, law))


@pytest.mark.slow
def test_noise_of_a_proof_is_seen_without_its_distribution():
    mechanism = lt.mechanism(lambda data, rng: bool(data[0] + rng.laplace(0, 1.1) > 0.5))
    law = lt.ProductDistribution.uniform(lt.Hypercube(2))
    verdict = lt.check_privacy(mechanism, law, epsilon=1, method="exhaustive")
    held = certify(verdict, fingerprint(mechanism), law, own_seed=True)
    assert verdict.decision == "YES"
    assert problems(held, mechanism) == []
    silent = replace(held, verdict=replace(verdict, law_source="enumerated"))
    assert any("the code has noise" in told for told in problems(silent, mechanism))


@pytest.mark.slow
def test_noise_that_no_draw_met_is_only_told():
    mechanism = lt.mechanism(
        lambda data, rng: bool(data[0] + rng.laplace(0, 9) > 0.5) if data.all() else 0
    )
    law = lt.ProductDistribution.bernoulli([0.01] * 12)
    verdict = lt.check_privacy(
        mechanism,
        law,
        epsilon=1,
        method="neighbourhoods",
        exception_mass=0.3,
        search_laws=0,
        seed=1,
    )
    held = certify(verdict, fingerprint(mechanism), law, own_seed=True)
    assert (verdict.decision, verdict.law_source) == ("YES", "enumerated")
    found = examine(held, mechanism)
    assert found.problems == []
    assert any("the code has noise" in told for told in found.unchecked)
    assert problems(held, mechanism, law) == []


@pytest.mark.slow
def test_noise_on_other_datasets_is_no_problem():
    mechanism = lt.mechanism(lambda data, rng: int(rng.laplace(0, 9) > 1) if data[0] > 4 else 0)
    law = lt.ProductDistribution.uniform(lt.RecordGrid([3, 2]))
    verdict = lt.check_privacy(mechanism, law, epsilon=1)
    held = certify(verdict, fingerprint(mechanism), law, own_seed=True)
    assert held.verdict.law_source == "enumerated"
    lt.output_law(mechanism, [5, 0])
    assert mechanism.law_source == "integrated"
    assert problems(held, mechanism, law) == []
