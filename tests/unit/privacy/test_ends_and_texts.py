"""Ends, texts and codes that a small mistake would change without another test failing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from flint import arb

import liptest as lt
from liptest.balls import precision
from liptest.enumerate.python_function import PythonFunction
from liptest.errors import NonDeterministicError
from liptest.evidence.check_witness import _tell
from liptest.mechanisms.laws import AtPlace, OutputLaw, Raised
from liptest.privacy.divergences.renyi import OrderSearch
from liptest.privacy.divergences.tradeoff import mu_of_corners
from liptest.privacy.exact import _enclose
from liptest.privacy.proofs.exhaustive import exhaustive_size
from liptest.privacy.witnesses import ball_text, output_from_json, output_to_json
from tests.unit.evidence.certificate_cases import case
from tests.unit.privacy.cases import exact

BIT = lt.Hypercube(1)
RESPONSE = [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]


@pytest.mark.parametrize(
    "output", [AtPlace("of a sum", 3), AtPlace("x", (1, "a")), Raised("KeyError"), (1, (2.5, None))]
)
def test_an_output_comes_back_from_json_as_it_was(output: Any) -> None:
    assert output_from_json(output_to_json(output)) == output


def test_a_ball_is_written_as_a_fraction_only_where_it_is_one_number() -> None:
    assert ball_text(arb(3) / 4) == "3/4"
    third = arb(1) / 3
    assert "+/-" in ball_text(third)


def test_a_certificate_that_contradicts_itself_keeps_no_claim() -> None:
    document = case("no").certificate.to_dict()
    assert _tell(document)[0] == 0
    document["verdict"]["claim"]["epsilon"] = "much"
    code, words = _tell(document)
    assert (code, words[:33]) == (1, "the certificate contradicts itsel")


def test_another_pair_may_lose_as_much_as_screening_may_err() -> None:
    """The upper end of an exact epsilon leaves room for it, for laws and for closed forms."""
    counted = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1))
    for mechanism, value in ((exact(BIT, RESPONSE), np.log(3)), (counted, 1.0)):
        found = _enclose(mechanism, (np.array([0]), np.array([1])), value, 0.25, 1, 2)
        assert found.upper == pytest.approx(value + 0.25, rel=1e-12)
        assert found.lower == pytest.approx(value, rel=1e-9)


def test_as_many_laws_as_values_of_a_chain() -> None:
    """Values that follow one another have one more law than there are pairs."""
    mechanism = lt.StatisticMechanism(
        lt.statistics.OrderStatistic(2), [0, 1], lambda values: values
    )
    size = exhaustive_size(mechanism, lt.Hypergrid([4, 4, 4]))
    assert (size.through_statistic, size.laws) == (True, size.pairs + 1)


@pytest.mark.slow
def test_a_search_that_finds_nothing_promises_nothing() -> None:
    bits = lt.ProductDistribution.uniform(lt.Hypercube(2))
    verdict = lt.check_privacy(
        lt.mechanism(lambda data, rng: int(data[0]) ^ int(rng.random() < 0.25)),
        bits,
        epsilon=1.2,
        method="refutation",
    )
    assert verdict.decision == "INCONCLUSIVE"
    assert verdict.guarantee.sentence.startswith("nothing is promised")
    assert not verdict.guarantee.source.startswith("nothing")


@dataclass
class Changing(lt.Mechanism):
    """Its law of one dataset is another one than that of a batch."""

    name: str = "changing"
    outputs: Any = (0, 1)

    def laws(self, batch: Any) -> Any:
        return exact(BIT, RESPONSE).laws(batch)

    def law(self, dataset: Any) -> OutputLaw:
        return OutputLaw.from_fractions({0: Fraction(1, 2), 1: Fraction(1, 2)})


def test_laws_that_change_have_no_exact_loss() -> None:
    with pytest.raises(NonDeterministicError):
        lt.exact_loss(Changing(), [([0], [1])])


def test_a_corner_of_very_little_probability_keeps_its_digits() -> None:
    with precision(256):
        p, q = arb(10) ** -90, arb(10) ** -91
        [mu] = mu_of_corners([(p, q), (1 - p, 1 - q)])
    expected = NormalDist().inv_cdf(1e-90) - NormalDist().inv_cdf(1e-91)
    assert float(mu) == pytest.approx(expected, rel=1e-9)


class Bent:
    """Divergences that keep a bound at both ends of an interval, and may exceed it between."""

    def kullback_leibler(self) -> tuple[arb, arb]:
        return arb("0.5"), arb("0.5")

    def renyi(self, order: Fraction) -> tuple[arb, arb]:
        return arb(1), arb(order.numerator) / arb(order.denominator)

    def curvature(self, last: Fraction) -> arb:
        return arb(10)


def test_orders_close_to_1_are_below_a_bound_only_with_their_curvature() -> None:
    search: Any = OrderSearch(Bent())  # type: ignore[arg-type]
    assert not search._is_below(Fraction(1), Fraction(3, 2), arb("0.5"))
    assert search._is_below(Fraction(1), Fraction(3, 2), arb(5))


def test_the_worst_pair_is_computed_anew_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, ...]] = []
    anew = PythonFunction.fresh_law

    def noted(mechanism: PythonFunction, dataset: Any) -> Any:
        if mechanism is answer:  # and not what looks whether it answers whole numbers
            asked.append(tuple(dataset.tolist()))
        return anew(mechanism, dataset)

    monkeypatch.setattr(PythonFunction, "fresh_law", noted)

    @lt.mechanism
    def answer(data: Any, rng: Any) -> int:
        return int(data[0]) ^ int(rng.random() < 0.25)

    found = lt.exact_loss(answer, [([0, 1], [1, 1])])
    assert found.value == pytest.approx(math.log(3))
    assert sorted(set(asked)) == [(0, 1), (1, 1)]
    # Once for the check of what is known, and the enclosure and the witness take both as they are.
    assert len(asked) == 2
