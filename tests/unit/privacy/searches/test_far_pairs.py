"""Wrong claims about many answers: a few are near each other, the others far from all."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import LiptestError
from liptest.mechanisms.base import through_densities
from liptest.privacy.comparison import Answer, certify_comparison
from liptest.privacy.searches.far_pairs import far_pairs
from liptest.privacy.settings import CheckSettings

TWENTY = lt.Answers(20)


@pytest.mark.parametrize("domain", [TWENTY, lt.Answers(9, 3), lt.Answers(30, relation="one")])
def test_they_are_neighbours(domain: lt.Answers) -> None:
    pairs = list(far_pairs(domain))
    assert len(pairs) >= 4
    for left, right in pairs:
        moved = np.abs(left - right)
        assert 0 < moved.max() <= domain.sensitivity
        assert domain.kind == "all" or (moved > 0).sum() == 1


@pytest.mark.parametrize(
    "domain", [lt.Answers(8), lt.Answers(20, 0.5), lt.Hypercube(20), lt.RecordGrid([3] * 20)]
)
def test_other_domains_have_none(domain: Any) -> None:
    assert not list(islice(far_pairs(domain), 1))


def index_of_the_largest(answers: Any, rng: Any, scale: float = 1.0) -> int:
    noisy = [answer + rng.laplace(0, scale) for answer in answers]
    return noisy.index(max(noisy))


def loop_over_all(answers: Any, rng: Any, scale: float = 1.0) -> int:
    best, place = -np.inf, -1
    for i in range(len(answers)):
        noisy = answers[i] + rng.laplace(0, scale)
        if noisy > best:
            best, place = noisy, i
    return place


def never_stops(answers: Any, rng: Any) -> Any:
    threshold = rng.laplace(0, 2)
    return (answers + rng.laplace(0, 4, size=len(answers)) >= threshold).tolist()


def tells_the_largest(answers: Any, rng: Any) -> float:
    return float(max(answers + rng.laplace(0, 2, len(answers))))


def tells_place_and_value(answers: Any, rng: Any) -> tuple[int, float]:
    noisy = answers + rng.laplace(0, 2, len(answers))
    place = int(np.argmax(noisy))
    return place, float(noisy[place])


def tells_what_passed(answers: Any, rng: Any) -> Any:
    threshold = rng.laplace(0, 2)
    for i, answer in enumerate(answers):
        noisy = answer + rng.laplace(0, 4)
        if noisy >= threshold:
            return i, float(noisy)
    return None


WRONG = [index_of_the_largest, tells_the_largest, loop_over_all, never_stops]
WRONG += [tells_place_and_value, tells_what_passed]


@pytest.mark.slow
@pytest.mark.parametrize("program", WRONG, ids=lambda f: f.__name__)
def test_wrong_claims_are_refuted(program: Any) -> None:
    mechanism = lt.mechanism(program)
    verdict = lt.check_privacy(mechanism, TWENTY, epsilon=1, floats="ideal")
    assert verdict.decision == "NO", str(verdict)
    assert verdict.witness is not None
    assert verdict.witness.loss > 1
    assert verdict.witness.verify(mechanism)


def place(answers: Any, rng: Any) -> int:
    return index_of_the_largest(answers, rng, 2.0)


def looped(answers: Any, rng: Any) -> int:
    return loop_over_all(answers, rng, 2.0)


def stops(answers: Any, rng: Any) -> Any:
    threshold = rng.laplace(0, 2)
    for i, answer in enumerate(answers):
        if answer + rng.laplace(0, 4) >= threshold:
            return i
    return None


def all_with_enough_noise(answers: Any, rng: Any) -> float:
    return float(max(answers + rng.laplace(0, 20, len(answers))))


@pytest.mark.slow
@pytest.mark.parametrize("program", [place, looped, stops, all_with_enough_noise])
def test_right_claims_are_not_refuted(program: Any) -> None:
    light = lt.mechanism(program).without_light(256)
    claim = CheckSettings(epsilon=1.0).claim
    for pair in far_pairs(TWENTY):
        with suppress(LiptestError):  # laws with too many paths
            answer = through_densities(
                light, lambda seen, pair=pair: certify_comparison(seen, *pair, claim).answer
            )
            assert answer is not Answer.VIOLATED
