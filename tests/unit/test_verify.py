"""Certificates of every kind: honest ones hold, whatever was changed in them is noticed."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import liptest as lt
from liptest.certificate_schema import digest, schema, schema_problems
from liptest.certificates import certify, examine, problems
from liptest.fingerprints import fingerprint
from tests.unit.certificate_cases import MAKERS, NO, RESPONSE, UNIFORM, YES, case

EVERY = pytest.mark.parametrize("name", MAKERS)
VALIDATOR = Draft202012Validator(schema())


def document(name):
    return json.loads(case(name).certificate.to_json())


def held(document, name):
    """What is wrong with a document, held against the mechanism and distribution of a case."""
    told = case(name)
    return problems(json.dumps(document), told.mechanism, told.distribution)


class TestHonest:
    @EVERY
    def test_it_fits_the_schema(self, name):
        VALIDATOR.validate(document(name))
        assert schema_problems(document(name)) == []

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

    def test_the_schema_is_itself_one(self):
        Draft202012Validator.check_schema(schema())
        objects = [part for part in walk(schema()) if part.get("type") == "object"]
        assert len(objects) > 10
        assert all("additionalProperties" in part for part in objects)


def walk(value):
    """All objects in a JSON value."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, (dict, list)):
            yield from walk(item)


def places(value, path=()):
    """The path of every value in a JSON value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(pairs):
        yield (*path, key)
        if isinstance(item, (dict, list)):
            yield from places(item, (*path, key))


def put(document, path, value):
    """The document with another value at a path; ``...`` takes the key away."""
    place = document
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document


ODD = [None, True, -1, 0.5, 10**30, "", "inf", [], {}, [[]], {"tuple": [1]}, "1/2"]


@pytest.mark.parametrize("name", ["tester", "no-floats"])
def test_both_validators_agree_on_damage(name):
    """Ours is short; the library decides whether it understands the schema."""
    verdicts = set()
    for path in places(document(name)):
        for odd in ODD:
            damaged = put(document(name), path, odd)
            fits = VALIDATOR.is_valid(damaged)
            assert (schema_problems(damaged) == []) == fits, (path, odd)
            verdicts.add(fits)
    assert verdicts == {True, False}


V, G, W, S = ("verdict",), ("verdict", "guarantee"), ("verdict", "witness"), ("verdict", "settings")
#: case, place, new value, a word of the sentence that must be among the answers.
TAMPERED = {
    "decision of a YES": ("light", (*V, "decision"), "INCONCLUSIVE", "cannot rest on"),
    "decision of a NO": ("no", (*V, "decision"), "YES", "a YES with a witness"),
    "a NO that becomes undecided": ("no", (*V, "decision"), "INCONCLUSIVE", "cannot rest on"),
    "an undecided one that becomes YES": ("open-budget", (*V, "decision"), "YES", "cannot rest"),
    "epsilon": ("light", (*V, "claim", "epsilon"), 1.0, "largest_loss"),
    "a larger epsilon": ("light", (*V, "claim", "epsilon"), 2.0, "guarantee: epsilon="),
    "epsilon of both claims of a NO": ("no", (*V, "claim", "epsilon"), 1.01, "another claim"),
    "delta": ("light", (*V, "claim", "delta"), 0.25, "guarantee: delta="),
    "tolerance": ("light", (*V, "claim", "tolerance"), 1e-6, "guarantee: tolerance="),
    "method": ("light", (*V, "method"), "neighbourhoods", "plan: method"),
    "method that proves": ("light", (*V, "method"), "exhaustive", "does not go with"),
    "method that tests nothing": ("light", (*V, "method"), "filter", "does not go with"),
    "method that does not exist": ("light", (*V, "method"), "magic", "no such method"),
    "seed": ("light", (*V, "seed"), 7, "repeated from its seed: cost.laws"),
    "largest loss": ("light", (*V, "largest_loss"), 1.0, "largest_loss: 1.0 became 1.09"),
    "largest loss of a NO": ("no", (*V, "largest_loss"), 0.5, "less than that of the witness"),
    "relation": ("light", (*V, "relation"), "replace one record", "is not that of the domain"),
    "reason": ("open-budget", (*V, "reason"), "all was well", "reason: 'all was well' became"),
    "a reason not to repeat": ("light", (*V, "reason"), "interrupted", "only an INCONCLUSIVE has"),
    "mass of a part": ("open-budget", (*G, "exception_mass"), 0.01, "guarantee: exception_mass="),
    "where the laws come from": ("light", (*V, "law_source"), "enumerated", "law_source="),
    "mass on which a NO holds": ("no-exhaustive", (*V, "exception_mass_found"), 0.0, "mass_found"),
    "mass found without a NO": ("light", (*V, "exception_mass_found"), 0.1, "without a NO"),
    "sentence": ("light", (*G, "sentence"), "the claim holds.", "sentence is not the one"),
    "sentence of a proof": ("proof", (*G, "sentence"), "the claim holds.", "sentence is not"),
    "sentence of a NO": ("no", (*G, "sentence"), "all is well.", "sentence is not the one"),
    "kind of the promise": ("light", (*G, "kind"), "proof", "does not go with"),
    "source of the theorem": ("light", (*G, "source"), "theory 3.7", "guarantee.source"),
    "exception mass": ("light", (*G, "exception_mass"), 0.01, "guarantee: exception_mass="),
    "failure probability": ("light", (*G, "failure_probability"), 1e-6, "failure_probability="),
    "approximation factor": ("range-step", (*G, "approximation_factor"), 1.0, "factor=1.0"),
    "epsilon of the promise": ("range-step", (*G, "epsilon"), 2.0, "guarantee: epsilon="),
    "form": ("light", (*G, "form"), "group", "guarantee: form="),
    "promise per record": ("light", (*G, "per_record"), True, "guarantee: per_record="),
    "records not covered": ("light", (*G, "not_covered"), [1], "not_covered"),
    "records that do not exist": ("light", (*G, "not_covered"), [7], "no coordinates"),
    "condition": ("filter", (*G, "condition"), "", "sentence is not the one"),
    "excepted mass of a filter": ("filter-excepted", (*G, "exception_mass"), 0.001, "excepted"),
    "laws counted": ("no", (*V, "cost", "laws"), 10**6, "cost.laws"),
    "pairs counted": ("light", (*V, "cost", "pairs"), 10**6, "cost.pairs"),
    "pairs of a proof": ("proof", (*V, "cost", "pairs"), 99, "cost.pairs: 99 became"),
    "draws counted": ("light", (*V, "cost", "draws"), 10**6, "planned ones give no YES"),
    "draws planned": ("light", (*V, "plan", "draws"), 10**6, "these numbers need"),
    "cost of the paper": ("light", (*V, "plan", "paper_laws"), 1.0, "plan.paper_laws"),
    "exception mass asked": ("light", (*S, "exception_mass"), 0.01, "guarantee: exception_mass"),
    "chance asked": ("light", (*S, "failure_probability"), 1e-6, "guarantee: failure"),
    "exception mass of a refuted test": ("no-tester", (*S, "exception_mass"), 0.2, "repeated"),
    "budget": ("open-budget", (*S, "budget"), 40, "repeated from its seed"),
    "no settings": ("light", S, None, "settings are missing"),
    "range_step": ("range-step", (*S, "parameters", "range_step"), 0.25, "factor=1.5"),
    "no range_step": ("range-step", (*S, "parameters"), {}, "factor=1.5"),
    "a parameter that is none": ("range-step", (*S, "parameters"), {"x": 1}, "no such parameters"),
    "filter's limit": ("filter-excepted", (*S, "parameters", "max_references"), 8, "8, but it is"),
    "witness gone": ("no", W, None, "witness"),
    "witness on a YES": ("light", W, document("no")["verdict"]["witness"], "a YES with a witness"),
    "dataset": ("no", (*W, "dataset"), [1, 1], "distance"),
    "another pair": ("no-records", (*W, "dataset"), [2, 1], "distance"),
    "neighbour": ("no", (*W, "neighbour"), [1, 0], "at distance 2"),
    "neighbour outside": ("no", (*W, "neighbour"), [0, 2], "outside"),
    "distance": ("no", (*W, "distance"), 2, "at distance 1, not 2"),
    "output": ("no", (*W, "event"), [1], "witness: event"),
    "an output added": ("no-delta", (*W, "event"), [0, 1], "2 outputs with 1"),
    "probability": ("no", (*W, "probability"), 0.9, "outside of its own bounds"),
    "neighbour's probability": ("no", (*W, "neighbour_probability"), 0.01, "own bounds"),
    "exact probabilities": ("no", (*W, "exact"), ["1/8", "7/8"], "exact="),
    "bounds": ("no", (*W, "bounds"), [["1/8", "1/8", "7/8", "7/8"]], "own bounds"),
    "bounds that break nothing": ("no", (*W, "bounds"), [["1/2"] * 4], "do not break"),
    "wider intervals": ("no-floats", (*W, "bounds", 0), ["0", "1", "0", "1"], "witness: bounds"),
    "loss": ("no", (*W, "loss_lower"), 5.0, "the loss cannot lie"),
    "a smaller loss": ("no", (*W, "loss_lower"), 0.1, "does not exceed the claim"),
    "loss above": ("no", (*W, "loss_upper"), 9.0, "witness: loss_upper"),
    "claim of the witness": ("no", (*W, "claim", "epsilon"), 0.1, "another claim"),
    "excess": ("no-delta", (*W, "excess"), 0.9, "witness: excess"),
    "excess below delta": ("no-delta", (*W, "excess"), 0.0, "does not exceed delta"),
    "unexplored mass": ("no", (*W, "unexplored"), ["1/100", "1/100"], "witness: unexplored"),
    "a trace": ("no", (*W, "trace"), {"dataset": [], "neighbour": []}, "witness: trace"),
    "domain": ("light", ("domain", "dimension"), 3, "the domain is"),
    "kind of domain": ("light", ("domain", "kind"), "records", "relation="),
    "neighbours in words": ("light", ("domain", "neighbours"), "a friend", "does not follow"),
    "how outputs are compared": ("light", ("comparison",), "by eye", "does not follow"),
    "hash of the code": ("light", ("code", "hash"), "0" * 64, "hash is not that of the files"),
    "hash of a file": ("light", ("code", "files", "cases.py"), "0" * 64, "file cases.py"),
    "a file less": ("light", ("code", "files", "cases.py"), ..., "file cases.py"),
    "version of a package": ("light", ("code", "packages", "numpy"), "0.1", "package numpy"),
    "parameters of the code": ("light", ("code", "parameters"), "0" * 64, "byte code or closures"),
    "hash of the distribution": (
        "light",
        ("distribution", "hash"),
        "0" * 64,
        "the distribution is",
    ),
    "source of the distribution": ("light", ("distribution", "source"), "mine", "does not follow"),
    "laws in words": ("light", ("laws",), "proved", "does not follow"),
    "who chose the seed": ("light", ("seed_source",), "a fair die", "seed_source="),
    "seconds": ("light", ("time", "seconds"), 1e6, "does not follow"),
    "releases": ("light", ("releases",), 1, "release_guarantee: "),
    "what releases satisfy": ("light", ("release_guarantee",), "all is private", "does not follow"),
    "limits": ("light", ("not_covered",), "Everything is covered.", "does not follow"),
    "an unknown key": ("light", ("note",), "trust me", "unknown key 'note'"),
    "an unknown key inside": ("light", (*G, "note"), "trust me", "unknown key 'note'"),
    "a missing key": ("light", ("not_covered",), ..., "lacks 'not_covered'"),
    "a missing key inside": ("light", (*V, "seed"), ..., "lacks 'seed'"),
    "no time": ("light", ("time", "decided"), "yesterday", "time.decided"),
}


@pytest.mark.parametrize(("name", "path", "value", "words"), TAMPERED.values(), ids=TAMPERED)
def test_tampering_is_noticed(name, path, value, words):
    """Also when whoever tampers knows how to renew the digest."""
    changed = put(document(name), path, value)
    assert changed != document(name)
    plain = held(changed, name)
    assert plain != []
    changed["digest"] = digest(changed)
    told = held(changed, name)
    assert told != []
    assert any(words in line for line in told), told
    assert not any("digest" in line for line in told)


#: Nothing else in the document, and nothing that can be repeated, says what these were.
BY_DIGEST_ALONE = {
    "time": (("time", "decided"), "2020-01-01T00:00:00Z"),
    "attempts": (("attempts",), 3),
    "version of liptest": (("versions", "liptest"), "9.9"),
    "version of Python": (("versions", "python"), "2.7"),
    "who chose the seed": (("seed_source",), "operating system, drawn after the code was hashed"),
    "name": ((*V, "mechanism"), "somebody else's"),
    "repeats of the clock": ((*V, "cost", "seconds"), 3.5),
}


@pytest.mark.parametrize(("path", "value"), BY_DIGEST_ALONE.values(), ids=BY_DIGEST_ALONE)
def test_the_digest_shows_accidents_and_is_no_signature(path, value):
    changed = put(document("light"), path, value)
    if path == (*V, "cost", "seconds"):
        changed["time"]["seconds"] = value
    assert changed != document("light")
    assert held(changed, "light") == [
        "the document was changed after it was written (its digest differs)"
    ]
    changed["digest"] = digest(changed)
    assert held(changed, "light") == []


def test_every_value_of_the_document_is_guarded():
    """Each place in turn gets another value of its type: nothing goes unnoticed."""
    for path in places(document("no-delta")):
        place = document("no-delta")
        for key in path:
            place = place[key]
        other = {bool: not place, int: 7, float: 0.123, str: "x"}.get(type(place))
        if other is None or other == place:
            continue
        try:
            told = held(put(document("no-delta"), path, other), "no-delta")
        except lt.InputError:
            told = ["refused"]
        assert told != [], path


def test_another_version_or_a_key_twice_is_no_certificate():
    text = case("light").certificate.to_json()
    for broken, words in (
        (text.replace('"certificate": 1', '"certificate": 2'), "this liptest reads 1"),
        (text.replace('"certificate": 1', '"certificate": 1, "certificate": 1'), "twice"),
        (text.replace('"releases": 2', '"releases": NaN'), "NaN"),
        (text[:-2], "not JSON"),
    ):
        with pytest.raises(lt.InputError, match=words):
            problems(broken, RESPONSE, UNIFORM)


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


@pytest.mark.parametrize("method", ["search", "neighbourhoods", lt.VarianceEdges()], ids=str)
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
