"""Verdicts and witnesses: no truth value, JSON both ways, witnesses that can be checked again."""

import json
import math
from fractions import Fraction as F

import numpy as np
import pytest

import liptest as lt
from liptest.errors import InputError
from liptest.mechanisms.laws import Raised
from liptest.privacy.witnesses import output_from_json, output_to_json
from liptest.verdicts import Decision
from tests.unit.privacy.cases import closed, exact

CUBE = lt.Hypercube(2)
UNIFORM = lt.ProductDistribution.uniform(CUBE)
BOUNDARY = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]] * 2
ZERO = [[1, 0], [F(1, 2), F(1, 2)]] * 2


def check(mechanism, **options):
    options = {"epsilon": 0.5, "exception_mass": 0.1, "failure_probability": 0.1, **options}
    return lt.check_privacy(mechanism, UNIFORM, seed=1, **options)


def raises_on_ones():
    logs = np.where(np.arange(4)[:, None] % 2 == np.array([0, 1]), 0.0, -math.inf)
    table = closed(CUBE, np.exp(logs))
    outputs = [(0, (math.inf, "a", None)), Raised("ValueError")]
    return lt.ClosedForm(outputs, table.log_pmf, exact_zeros=True)


def tight(datasets):
    p = np.where(datasets[:, 0] == 1, 1 / (1 + np.exp(-0.5)), 1 / (1 + np.exp(0.5)))
    return np.log(np.stack([p, 1 - p], axis=1))


def interrupt(done, planned):
    raise KeyboardInterrupt


VERDICTS = {
    "proof": check(exact(CUBE, BOUNDARY), epsilon=lt.log(3), tolerance=0.0),
    "refuted": check(exact(CUBE, BOUNDARY), epsilon=lt.log("29/10")),
    "refuted for delta": check(closed(CUBE, BOUNDARY), epsilon=lt.log(2), delta=0.1),
    "infinite loss": check(exact(CUBE, ZERO), method="neighbourhoods"),
    "undeclared zero": check(closed(CUBE, ZERO, exact_zeros=False), method="edges"),
    "tuples and exceptions": check(raises_on_ones(), method="group"),
    "sampled": check(closed(CUBE, BOUNDARY), epsilon=2.0, method="light-neighbourhoods"),
    "tester": check(closed(CUBE, BOUNDARY), epsilon=2.0, method=lt.testers.VarianceEdges()),
    "undecided": check(lt.ClosedForm([0, 1], tight, error=1e-6)),
    "budget": check(closed(CUBE, BOUNDARY), method="neighbourhoods", epsilon=2.0, budget=2),
    "numpy outputs": check(lt.ClosedForm(np.arange(2), closed(CUBE, BOUNDARY).log_pmf)),
    "unbounded outputs": check(lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1))),
    "shift proof": check(lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(3))),
    "count": check(lt.catalogue.one_sided_noise_count(2, 1.0)),
}
EACH = pytest.mark.parametrize("verdict", VERDICTS.values(), ids=VERDICTS)


def test_the_cases_cover_all_decisions():
    assert {str(verdict.decision) for verdict in VERDICTS.values()} == {"YES", "NO", "INCONCLUSIVE"}


@EACH
def test_no_truth_value(verdict):
    with pytest.raises(TypeError, match="decision"):
        bool(verdict)
    with pytest.raises(TypeError):
        assert verdict


@EACH
def test_json_both_ways(verdict):
    text = verdict.to_json()
    json.loads(text, parse_constant=pytest.fail)
    again = lt.PrivacyVerdict.from_json(text)
    assert again == verdict
    assert again.to_json() == text
    assert str(again) == str(verdict)
    assert type(again.decision) is Decision


@EACH
def test_a_verdict_is_frozen_and_hides_nothing(verdict):
    with pytest.raises(AttributeError):
        verdict.decision = "YES"
    text = str(verdict)
    assert str(verdict.decision) in text
    assert f"claim: {verdict.claim}" in text
    assert "Not covered: timing, side effects, reuse." in text
    assert "Meaning: " in text


@pytest.mark.parametrize(
    "key", ["decision", "claim", "guarantee", "cost", "plan", "seed", "witness"]
)
def test_a_missing_key_is_an_input_error(key):
    data = VERDICTS["refuted"].to_dict()
    del data[key]
    with pytest.raises(InputError, match=f"PrivacyVerdict lacks '{key}'"):
        lt.PrivacyVerdict.from_dict(data)


@pytest.mark.parametrize(
    ("key", "value"),
    [("decision", "MAYBE"), ("claim", {}), ("claim", None), ("guarantee", {"x": 1}), ("cost", 3)],
)
def test_a_damaged_key_is_an_input_error(key, value):
    data = VERDICTS["refuted"].to_dict() | {key: value}
    with pytest.raises(InputError):
        lt.PrivacyVerdict.from_dict(data)


@pytest.mark.parametrize(
    "output",
    [
        0,
        -1,
        2**80,
        True,
        None,
        "a",
        "inf",
        1.5,
        math.inf,
        -math.inf,
        (),
        (1, (2.0, "b"), None),
        (math.inf, True),
        Raised("ValueError"),
        (Raised("vendor.Wrong"), 1),
    ],
)
def test_outputs_survive_json(output):
    again = output_from_json(json.loads(json.dumps(output_to_json(output))))
    assert again == output
    assert type(again) is type(output)


def test_other_outputs_are_shown():
    assert output_from_json(output_to_json(F(1, 3))) == "Fraction(1, 3)"
    assert math.isnan(output_from_json(output_to_json(math.nan)))
    assert output_from_json(output_to_json(np.float32(0.5))) == 0.5
    assert output_from_json(output_to_json((np.bool_(True), np.int8(3)))) == (True, 3)


REFUTED = [key for key, verdict in VERDICTS.items() if verdict.decision == "NO"]


class TestWitness:
    def test_it_breaks_the_claim_on_the_mechanism_and_not_on_a_fixed_one(self):
        broken, fixed = exact(CUBE, BOUNDARY), exact(CUBE, [[F(2, 3), F(1, 3)]] * 4)
        witness = VERDICTS["refuted"].witness
        assert witness.verify(broken)
        assert not witness.verify(fixed)
        assert lt.PrivacyVerdict.from_json(VERDICTS["refuted"].to_json()).witness.verify(broken)

    def test_a_mechanism_on_the_line_is_not_broken_by_it(self):
        witness = VERDICTS["refuted"].witness
        assert not witness.verify(exact(CUBE, [[F(29, 39), F(10, 39)], [F(10, 39), F(29, 39)]] * 2))

    @pytest.mark.parametrize("key", REFUTED)
    def test_its_datasets_are_neighbours_and_its_numbers_agree(self, key):
        witness = VERDICTS[key].witness
        assert len(witness.changed) == witness.distance == 1
        assert witness.event
        p, q = witness.probability, witness.neighbour_probability
        if min(p, q) > 0:
            loss = abs(math.log(p) - math.log(q))
            assert witness.loss_lower - 1e-9 <= loss <= witness.loss_upper + 1e-9
        else:
            assert witness.loss > 743
        if witness.claim.delta == 0:
            assert witness.loss_lower > witness.claim.threshold
        else:
            assert witness.excess > witness.claim.delta_threshold
            assert p - math.exp(witness.claim.threshold) * q == pytest.approx(witness.excess)

    def test_it_is_checked_in_the_integers_of_the_test(self):
        """2 * 100 is -56 in 8 bits: a fault of the mechanism, which the witness must show."""

        def overflows(datasets):
            p = 0.5 + (datasets[:, 0] * datasets.dtype.type(100)) / 1000
            return np.log(np.stack([p, 1 - p], axis=1))

        law = lt.ProductDistribution.uniform(lt.Hypergrid([4]))
        mechanism = lt.ClosedForm([0, 1], overflows)
        verdict = lt.check_privacy(mechanism, law, epsilon=0.3, seed=1)
        assert verdict.decision == "NO"
        assert verdict.witness.verify(mechanism)

    def test_exact_probabilities_are_shown_as_fractions(self):
        assert sorted(VERDICTS["refuted"].witness.exact) == ["1/4", "3/4"]
        assert sorted(VERDICTS["infinite loss"].witness.exact) == ["0", "1/2"]

    def test_the_text_says_which_dataset_is_ruled_out(self):
        text = str(VERDICTS["infinite loss"])
        witness = VERDICTS["infinite loss"].witness
        which = "second" if witness.neighbour_probability == 0 else "first"
        assert f"rules out the {which} dataset" in text

    def test_outputs(self):
        witness = VERDICTS["tuples and exceptions"].witness
        assert witness.output in ((0, (math.inf, "a", None)), Raised("ValueError"))
        many = check(
            closed(CUBE, [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]] * 2), epsilon=1.0, delta=0.1
        ).witness
        assert len(many.event) == 2
        assert many.output == many.event
