"""What is asked, and in which order, where several answers would be true."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy import proof, refutation
from liptest.privacy.claims import Claim
from liptest.privacy.proof import visited_or_enclosed
from liptest.privacy.refutation import Refutation, _Search
from liptest.privacy.witnesses import find_distinguishing_event


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
    monkeypatch.setattr(refutation, "padded_pairs", lambda domain, *ends: iter([ends]))
    monkeypatch.setattr(_Search, "_worst_of", worst_of)
    monkeypatch.setattr(_Search, "try_pairs", lambda search, pairs: tried.extend(pairs))
    task: Any = SimpleNamespace(distribution=SimpleNamespace(domain=lt.Hypercube(2)))
    _Search(lt.mechanism(flipped), task, Refutation()).try_small_instances(Claim(0.5))
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
    assert visited_or_enclosed(mechanism, lt.Hypercube(2), None, **options) == "visited"


def test_code_is_left_to_workers_where_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = lt.mechanism(flipped)
    options: Any = {"enclose": never, "visit": lambda seen: "visited"}
    monkeypatch.setattr(proof, "has_processes", lambda executor: True)
    monkeypatch.setattr(proof, "try_in_worker", lambda mechanism, domain, executor: None)
    assert visited_or_enclosed(mechanism, lt.Hypercube(5000), None, **options) == "visited"


@pytest.mark.parametrize("tau", [0.125, 0.25])
def test_a_witness_measures_a_divergence_in_shares_of_its_claim(tau: float) -> None:
    verdict = lt.check_privacy(flipped, lt.Hypercube(1), renyi=(2, tau))
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.measured == pytest.approx(verdict.witness.loss_lower / tau, rel=1e-12)
    assert verdict.witness.measured > 1
