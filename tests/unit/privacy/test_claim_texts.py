"""What is claimed is printed as it is; what is promised is never rounded down."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.privacy.claims import Claim, exact_text, text_above

NUMBERS = st.floats(1e-12, 1e6)


@given(NUMBERS)
def test_a_claim_is_that_number(value: float) -> None:
    assert float(exact_text(value)) == value


@given(NUMBERS)
def test_a_promise_is_not_less_and_hardly_more(value: float) -> None:
    shown = float(text_above(value))
    assert value <= shown <= value * (1 + 1.1e-5)


def test_short_numbers_stay_short() -> None:
    for text in ("1", "0.1", "0.3", "1e-06", "2.5", "1000"):
        assert exact_text(float(text)) == text_above(float(text)) == text
    assert exact_text(lt.log(3)) == "log(3)"
    assert (text_above(math.log(3)), text_above(0.0)) == ("1.09862", "0")
    assert str(Claim(1.00000001, 1e-7)) == "epsilon 1.00000001, delta 1e-07"


def test_sentences_of_a_release_promise_no_more_than_was_tested() -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(2))
    response = lt.catalogue.randomised_response(2, math.log(3))
    gate = lt.PrivacyGate(response, law, epsilon=lt.log(3), releases=2)
    assert gate.certificate.decision == "YES"
    assert gate.certificate.release_guarantee.startswith("2 releases together: (2.19723, 0)")
    assert "e^log(3) = 3" in gate.certificate.verdict.guarantee.sentence
    close = lt.check_privacy(response, law, epsilon=1.0986124)
    assert "e^1.0986124 = 3" in close.guarantee.sentence


def test_a_yes_by_samples_names_the_epsilon_that_was_tested() -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    even = lt.Sampler(lambda x, n, rng: np.zeros(n))
    verdict = lt.check_samples(even, law, epsilon=lt.log(3), samples=60_000, resolution=0.4, seed=1)
    assert verdict.decision == "YES"
    assert "(log(3), 0." in verdict.guarantee.sentence
