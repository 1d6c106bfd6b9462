"""Whatever is changed in a certificate is noticed, and what a forger could change is listed."""

import json

import pytest

import liptest as lt
from liptest.evidence.certificate import certify
from liptest.evidence.certificate import document_digest as digest
from liptest.evidence.verify import examine
from liptest.runs.fingerprints import fingerprint
from tests.unit.evidence.certificate_cases import document, held, places, put

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
    "records that do not exist": ("light", (*G, "not_covered"), [7], "are not coordinates"),
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
    "counts of a filter": ("filter", (*V, "cost", "pairs"), 9, "nothing was drawn or counted"),
    "loss of a filter": ("filter", (*V, "largest_loss"), 0.5, "the noise is made for the claim"),
    "theorem of a filter": ("filter", (*G, "source"), "theory 9", "but a filter's is"),
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


#: What a forger with a new digest can change: words and numbers that took no part in the answer.
FREE = {
    *("verdict.mechanism", "verdict.distribution", "verdict.cost.seconds", "verdict.seed"),
    *("versions.liptest", "versions.python", "versions.numpy"),
    *("verdict.settings.search_laws", "releases", "release_source"),
}
FREE_OF_A_FILTER = {
    *("verdict.settings.exception_mass", "verdict.settings.failure_probability"),
}


def nudged(value):
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1 if isinstance(value, int) else value * 0.75 + 0.01
    return 0.01 if value is None else value + "x"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("range-step", marks=pytest.mark.slow),
        "filter-excepted",
        "no-delta",
        "sensitivity",
    ],
)
def test_what_is_left_to_a_forger(name):
    """Every number and word in turn, with a new digest and the copies of it changed alike."""
    free = set()
    for path in places(document(name)):
        changed = place = document(name)
        for key in path:
            place = place[key]
        if isinstance(place, (dict, list)) or path == ("digest",):
            continue
        put(changed, path, nudged(place))
        changed["time"]["seconds"] = changed["verdict"]["cost"]["seconds"]
        changed["distribution"]["source"] = changed["verdict"]["distribution"]
        if changed == document(name):
            continue
        changed["digest"] = digest(changed)
        try:
            told = held(changed, name)
        except lt.errors.InputError:
            told = ["refused"]
        if told == []:
            free.add(".".join(map(str, path)))
    assert free <= FREE | (FREE_OF_A_FILTER if "filter" in name else set())
    assert "verdict.mechanism" in free


@pytest.mark.slow
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
        except lt.errors.InputError:
            told = ["refused"]
        assert told != [], path


@pytest.mark.parametrize(
    ("remedy", "says"),
    [
        ({"epsilon": 0.01, "delta": None, "apart": None}, "less than what was claimed"),
        ({"epsilon": None, "delta": 1e-9, "apart": None}, "less than what the witness needs"),
    ],
)
def test_a_remedy_that_cannot_be_is_found(remedy, says):
    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    mechanism = lt.mechanism(lambda data, rng: int(data[0] ^ (rng.random() < 0.25)))
    gate = lt.check_privacy(mechanism, law, epsilon=0.5)

    document = certify(gate, fingerprint(mechanism), law, own_seed=True).to_dict()
    document["verdict"]["remedy"] = remedy
    found = examine(json.dumps(document)).problems
    assert any(says in line for line in found)
