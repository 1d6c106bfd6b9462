"""What is asked, and in which order, where several answers would be true."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.mechanisms.laws import AtPlace
from liptest.privacy import exact
from liptest.privacy.claims import Claim
from liptest.privacy.divergences.screening import _chord
from liptest.privacy.exact import visit_or_enclosed
from liptest.privacy.judge import LossJudge
from liptest.privacy.samples.intervals import clean_quantile
from liptest.privacy.searches import refutation
from liptest.privacy.searches.refutation import Refutation, _Search
from liptest.privacy.witnesses import find_distinguishing_event, loss_text


def flipped(data: Any, rng: Any) -> int:
    return int(data[0]) ^ int(rng.random() < 0.25)


def never(*_: Any) -> Any:
    raise AssertionError("this must not be asked")


def test_the_worst_small_instance_is_padded_first(monkeypatch: pytest.MonkeyPatch) -> None:
    losses = {(3,): 0.25, (0,): 1.0, (1,): 3.0}
    tried: list[Any] = []

    def worst_of(search: Any, small: Any) -> Any:
        ends = SimpleNamespace(dataset=small, neighbour=small)
        loss = losses[small]
        return SimpleNamespace(lower=loss, upper=loss, witness=ends, laws=1)

    monkeypatch.setattr(refutation, "small_domains", lambda domain: iter(losses))
    size = SimpleNamespace(possible=True, laws=1)
    monkeypatch.setattr(refutation, "exhaustive_size", lambda mechanism, small: size)
    monkeypatch.setattr(refutation, "pad_pairs", lambda domain, *ends: iter([ends]))
    monkeypatch.setattr(_Search, "_worst_of", worst_of)
    monkeypatch.setattr(_Search, "try_pairs", lambda search, pairs: tried.extend(pairs))
    task: Any = SimpleNamespace(distribution=SimpleNamespace(domain=lt.Hypercube(2)))
    found = Refutation()
    _Search(lt.mechanism(flipped), task, found).try_small_instances(Claim(0.5))
    assert (found.largest, found.laws) == (3.0, 3)
    # One that keeps the claim is not padded.
    assert [left for left, _ in tried] == [(1,), (0,)]


def test_a_claim_without_delta_is_refuted_by_one_output() -> None:
    mechanism: Any = SimpleNamespace(
        pair_event=never, pair_witness=lambda dataset, neighbour, line: (7, "p", "q")
    )
    ends = np.array([0]), np.array([1])
    found = find_distinguishing_event(mechanism, *ends, Claim(1.0), 1)
    assert found == ((7,), [("p", "q")])


def test_a_small_domain_is_visited_and_not_enclosed() -> None:
    mechanism = lt.mechanism(flipped)
    options: Any = {"enclose": never, "visit": lambda seen: "visited"}
    assert visit_or_enclosed(mechanism, lt.Hypercube(2), None, **options) == "visited"


def test_code_is_left_to_workers_where_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = lt.mechanism(flipped)
    options: Any = {"enclose": never, "visit": lambda seen: "visited"}
    monkeypatch.setattr(exact, "has_processes", lambda executor: True)
    monkeypatch.setattr(exact, "try_in_worker", lambda mechanism, domain, executor: None)
    assert visit_or_enclosed(mechanism, lt.Hypercube(5000), None, **options) == "visited"


@pytest.mark.parametrize("tau", [0.125, 0.25])
def test_a_witness_measures_a_divergence_in_shares_of_its_claim(tau: float) -> None:
    verdict = lt.check_privacy(flipped, lt.Hypercube(1), renyi=(2, tau))
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.measured == pytest.approx(verdict.witness.loss_lower / tau, rel=1e-12)
    assert verdict.witness.measured > 1


@pytest.mark.slow
def test_an_event_is_at_a_place_where_all_of_its_outputs_are() -> None:
    verdict = lt.check_privacy(flipped, lt.Hypercube(1), epsilon=0.5)
    assert verdict.witness is not None
    for event, is_at_place in (
        ((AtPlace(0, 1),), True),
        ((AtPlace(0, 1), AtPlace(0, 2)), True),
        ((AtPlace(0, 1), 2), False),
        ((1,), False),
    ):
        assert replace(verdict.witness, event=event).is_at_place is is_at_place


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (2.0, "loss 2"),
        (2.0000005, "loss 2"),
        (2.5, "largest loss 2.5 (this output: 2)"),
        (math.inf, "loss infinite"),
    ],
)
def test_the_loss_of_what_is_shown_stands_beside_a_larger_one(loss: float, text: str) -> None:
    verdict = lt.check_privacy(flipped, lt.Hypercube(1), epsilon=0.5)
    assert verdict.witness is not None
    shares = {"probability": 0.5, "neighbour_probability": 0.5 * math.exp(-2)}
    witness = replace(verdict.witness, loss_lower=loss, loss_upper=loss, **shares)
    assert loss_text(witness, 4) == text


def test_a_pair_that_is_farther_apart_than_told_is_not_bisected() -> None:
    judge = LossJudge(lt.mechanism(flipped), lt.Hypercube(4), Claim(0.5))
    ends = np.array([0, 0, 0, 0]), np.array([1, 1, 1, 0])
    left, right, distance = judge._narrow(*ends, 3)
    # Only the first bit tells: one of the three steps breaks the claim.
    assert distance == 1
    assert (left[0], right[0]) == (0, 1)
    assert judge._narrow(*ends, 2) == (*ends, 2)


@pytest.mark.slow
@given(
    st.integers(1, 40),
    st.sampled_from([0.05, 0.3, 0.5, 0.9]),
    st.sampled_from([1e-3, 0.1, 0.4, 0.49]),
)
def test_a_quantile_that_only_few_samples_pass(trials: int, mass: float, failure: float) -> None:
    p = Fraction(mass)
    below = [math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)]
    clean = [k for k in range(1, trials + 2) if sum(below[:k]) <= Fraction(failure)]
    assert clean_quantile(mass, trials, failure) == max(clean, default=0)


@given(
    st.floats(1.1, 4), st.floats(0.1, 8), st.floats(1e-3, 5), st.floats(0, 5), st.integers(0, 50)
)
def test_a_chord_is_below_its_bound(
    a: float, width: float, low: float, rise: float, step: int
) -> None:
    b = a + width
    psi_a, psi_b = low, low + rise
    x = a + width * step / 50
    line = psi_a + (psi_b - psi_a) * (x - a) / width
    bound = float(_chord(a, b, np.array([psi_a]), np.array([psi_b]))[0])
    assert line / (x * (x - 1)) <= bound * (1 + 1e-9)
