"""Certificates: JSON both ways, damage noticed, verdicts checked again, forgeries caught."""

import json
import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

import liptest as lt
from liptest.errors import InputError
from liptest.evidence.verify import problems
from tests.unit.privacy.cases import closed, exact

CUBE = lt.Hypercube(2)
UNIFORM = lt.ProductDistribution.uniform(CUBE)
GRID = lt.ProductDistribution.uniform(lt.Hypergrid([3]))
BOUNDARY = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]] * 2
RESPONSE = exact(CUBE, BOUNDARY)
STEPS = exact(GRID.domain, [[F(1, 2), F(1, 2)], [F(2, 3), F(1, 3)], [F(5, 6), F(1, 6)]])
METHODS = [
    "auto",
    "exhaustive",
    "neighbourhoods",
    "light-neighbourhoods",
    "edges",
    "group",
    lt.testers.VarianceEdges(),
    lt.testers.CDJS15(),
]


def certificate(mechanism=RESPONSE, distribution=UNIFORM, **options):
    options = {
        "epsilon": lt.log(3),
        "exception_mass": 0.1,
        "failure_probability": 0.05,
        **options,
    }
    return lt.PrivacyGate(mechanism, distribution, **options).certificate


def noted(datasets):
    return np.log(np.full((len(datasets), 2), 0.5))


YES, NO = certificate(), certificate(epsilon=1.0)
OPEN = certificate(closed(CUBE, [[0.5, 0.5, 0.0]] * 4, exact_zeros=False))
EACH = pytest.mark.parametrize("given", [YES, NO, OPEN], ids=["YES", "NO", "INCONCLUSIVE"])


@EACH
def test_json_both_ways(given, tmp_path):
    again = lt.Certificate.from_json(given.to_json())
    assert again == given
    assert again.to_json() == given.to_json()
    path = tmp_path / "certificate.json"
    given.write(path)
    assert lt.Certificate.from_json(path.read_text()) == given
    json.loads(given.to_json(), parse_constant=pytest.fail)


def test_it_says_what_was_tested_and_with_what():
    data = json.loads(YES.to_json())
    assert data["certificate"] == 1
    assert data["verdict"]["decision"] == "YES"
    assert data["verdict"]["seed"] == YES.verdict.seed
    assert data["versions"] == {
        "liptest": lt.__version__,
        "python": YES.versions["python"],
        "numpy": np.__version__,
    }
    assert set(data["code"]) == {"hash", "files", "packages", "parameters"}
    assert "cases.py" in data["code"]["files"]
    assert len(data["distribution"]["hash"]) == len(data["code"]["hash"]) == 64


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '"YES"', "{}", '{"certificate": 0}'])
def test_what_is_no_certificate(text):
    with pytest.raises(InputError):
        lt.Certificate.from_json(text)


def test_another_version_is_refused():
    data = json.loads(YES.to_json()) | {"certificate": 99}
    with pytest.raises(InputError, match="certificate=99"):
        lt.Certificate.from_json(json.dumps(data))


KEYS = ["verdict", "code", "distribution", "seed_source", "versions", "releases"]


@EACH
@pytest.mark.parametrize("key", KEYS)
def test_a_missing_key_is_an_input_error(given, key):
    data = json.loads(given.to_json())
    del data[key]
    with pytest.raises(InputError):
        lt.Certificate.from_json(json.dumps(data))


def paths(data, prefix=()):
    """Every key of nested objects."""
    for key, value in data.items():
        yield (*prefix, key)
        if isinstance(value, dict):
            yield from paths(value, (*prefix, key))


@EACH
def test_damage_anywhere_is_an_input_error_or_changes_the_certificate(given):
    """Each key of the JSON in turn becomes an object that does not belong there."""
    text = given.to_json()
    for path in paths(json.loads(text)):
        data = json.loads(text)
        place = data
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = {"un": "known"}
        try:
            again = lt.Certificate.from_json(json.dumps(data))
        except InputError:
            continue
        # Derived words are written, not read.
        assert again != given or path in [("liptest",), ("release_guarantee",)]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_yes_is_repeated_from_its_seed(method):
    given = certificate(method=method)
    assert given.decision == "YES"
    for copy in (given, given.to_json()):
        assert lt.verify(copy, RESPONSE)
        assert lt.verify(copy, RESPONSE, UNIFORM)
    other = lt.ProductDistribution.bernoulli([0.5, 0.25])
    assert lt.verify(given, RESPONSE, other) is False
    assert "distribution" in problems(given, RESPONSE, other)[0]


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_no_is_recomputed(method):
    given = certificate(epsilon=1.0, method=method)
    assert given.decision == "NO"
    assert lt.verify(given.to_json(), RESPONSE)
    assert lt.verify(given.to_json(), RESPONSE, UNIFORM)


def test_a_no_on_a_grid_is_recomputed():
    given = certificate(STEPS, GRID, epsilon=0.5)
    assert given.decision == "NO"
    assert problems(given, STEPS) == []


def test_an_open_verdict_has_nothing_to_check_but_the_code():
    mechanism = closed(CUBE, [[0.5, 0.5, 0.0]] * 4, exact_zeros=False)
    assert problems(OPEN, mechanism, UNIFORM) == []
    assert problems(OPEN, RESPONSE, UNIFORM) != []


def test_other_code_is_noticed():
    fixed = exact(CUBE, [[F(1, 2), F(1, 2)]] * 4)
    [reason] = problems(YES, fixed)
    assert reason.startswith("the code is not the code that was tested (hash differs): param")
    wrong = problems(NO, fixed)
    assert len(wrong) == 2
    assert "does not break the claim" in wrong[1]


FORGERIES = {
    "a better claim": lambda v: replace(v, claim=replace(v.claim, epsilon=0.1)),
    "a higher count": lambda v: replace(v, cost=replace(v.cost, laws=v.cost.laws + 1)),
    "no exception mass": lambda v: replace(v, guarantee=replace(v.guarantee, exception_mass=0.01)),
    "a proof": lambda v: replace(v, guarantee=replace(v.guarantee, kind="proof")),
    "a nicer sentence": lambda v: replace(v, guarantee=replace(v.guarantee, sentence="Fine.")),
    "all covered": lambda v: replace(v, guarantee=replace(v.guarantee, not_covered=(1,))),
    "a smaller loss": lambda v: replace(v, largest_loss=0.0),
    "no test at all": lambda v: replace(v, method="filter"),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_yes_is_not_repeated(forge):
    given = certificate(method="light-neighbourhoods")
    forged = replace(given, verdict=forge(given.verdict))
    assert problems(given, RESPONSE, UNIFORM) == []
    assert problems(forged, RESPONSE, UNIFORM) != []


def test_a_forged_no_is_caught():
    """Neither datasets far apart nor a witness of a smaller claim refute a mechanism."""
    witness = NO.verdict.witness
    far = replace(witness, dataset=(0, 1), neighbour=(1, 0))
    little = replace(witness, claim=replace(witness.claim, epsilon=0.01))
    for forged in (far, little, None):
        verdict = replace(NO.verdict, witness=forged)
        assert problems(replace(NO, verdict=verdict), RESPONSE) != []
    given = certificate(STEPS, GRID, epsilon=0.5)
    jump = replace(given.verdict.witness, dataset=(0,), neighbour=(2,))
    assert jump.verify(STEPS)
    assert (
        "distance 2, not 1"
        in problems(replace(given, verdict=replace(given.verdict, witness=jump)), STEPS)[0]
    )


EXCEPT = "except on datasets of total probability "


class TestReleaseGuarantee:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (
                {"epsilon": 2.0, "method": "exhaustive"},
                "1 release: (2, 0)-private on every dataset",
            ),
            (
                {"epsilon": 2.0, "method": "neighbourhoods", "releases": 3},
                "3 releases together: (6, 0.05)-private " + EXCEPT + "0.1",
            ),
            (
                {"epsilon": 2.0, "delta": 0.125, "method": "neighbourhoods", "releases": 2},
                "2 releases together: (4, 0.25)-private " + EXCEPT + "0.1",
            ),
            (
                {"epsilon": 2.0, "method": lt.testers.JR11(range_step=0.5), "exception_mass": 0.5},
                "1 release: (3, 0.05)-private " + EXCEPT + "0.5",
            ),
        ],
    )
    def test_it_adds_up(self, options, words):
        assert certificate(**options).release_guarantee == words

    def test_a_condition_is_repeated(self):
        first = lt.statistics.UserStatistic(
            lambda x: x[:, 0].astype(int), edge_pairs=lambda domain: [(0, 1)]
        )
        told = lt.StatisticMechanism(first, [0, 1], lambda values: noted(values[:, None]))
        words = certificate(told, epsilon=1.0).release_guarantee
        assert words.startswith("1 release: (1, 0)-private on every dataset, provided that ")
        assert "declared" in words

    def test_nothing_is_promised_without_a_yes(self):
        assert NO.release_guarantee == OPEN.release_guarantee == "nothing is released"


def test_an_infinite_loss_survives():
    given = certificate(closed(CUBE, [[1, 0], [0, 1]] * 2))
    assert lt.Certificate.from_json(given.to_json()).verdict.witness.loss == math.inf
