"""Arguments and laws of the catalogue; its epsilons are in tests/golden."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from liptest.errors import DatasetError, InputError
from liptest.mechanisms import catalogue
from liptest.mechanisms.catalogue import log_at_most, log_peak, make_truncated_logs


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 40.0, 900.0])
def test_logs_of_the_noise_against_exact_fractions(epsilon: float) -> None:
    q = Fraction(math.exp(-epsilon)) if epsilon < 700 else Fraction(0)
    if q:
        assert log_peak(epsilon) == pytest.approx(math.log((1 - q) / (1 + q)), abs=1e-6, rel=1e-7)
    for t in (-3, -1, 0, 2):
        tail = q**-t / (1 + q) if t <= 0 else 1 - q ** (t + 1) / (1 + q)
        if tail > 0:
            assert float(log_at_most(t, epsilon)) == pytest.approx(math.log(tail), abs=1e-12)
    assert float(log_at_most(-5, epsilon)) == pytest.approx(
        -5 * epsilon - math.log1p(math.exp(-epsilon))
    )


def test_laws_add_up_to_1_far_from_the_outputs() -> None:
    logs = make_truncated_logs(np.array([0, 3, 5000, 10**6]), 0, 20, 20, 1.0)
    assert np.exp(logs).sum(axis=1) == pytest.approx(np.ones(4), abs=1e-14)
    assert np.all(np.isfinite(logs))
    assert logs[3, 20] == 0.0


def test_truncated_count_by_hand() -> None:
    q = math.exp(-1.0)
    law = catalogue.truncated_geometric_count(3, 1.0).law(np.array([1, 0, 0]))
    middle = (1 - q) / (1 + q)
    by_hand = [q / (1 + q), middle, middle * q, q**2 / (1 + q)]
    assert [law[o] for o in range(4)] == pytest.approx(by_hand, rel=1e-14)


def test_clamped_count_does_not_see_beyond_its_bounds() -> None:
    mechanism = catalogue.clamped_geometric_count(5, 1.0, 1, 3)
    assert mechanism.outputs == (1, 2, 3)
    laws = [dict(mechanism.law(np.array([1] * k + [0] * (5 - k)))) for k in range(6)]
    assert laws[0] == laws[1] != laws[2]
    assert laws[3] == laws[4] == laws[5]


def test_subsampled_count_is_the_binomial_mixture() -> None:
    d, epsilon, rate = 6, 0.9, 0.3
    whole = catalogue.truncated_geometric_count(d, epsilon)
    laws = [whole.law(np.array([1] * k + [0] * (d - k))) for k in range(d + 1)]
    mechanism = catalogue.subsampled_count(d, epsilon, rate)
    for c in (0, 2, d):
        law = mechanism.law(np.array([1] * c + [0] * (d - c)))
        for output in range(d + 1):
            shares = [
                math.comb(c, k) * rate**k * (1 - rate) ** (c - k) * laws[k][output]
                for k in range(c + 1)
            ]
            assert law[output] == pytest.approx(sum(shares), rel=1e-13)


def test_a_subsampled_count_stays_in_logs() -> None:
    law = catalogue.subsampled_count(400, 3.0, 0.01).law(np.zeros(400, dtype=np.int8))
    assert law.log_probabilities[-1] == pytest.approx(-1200 - math.log1p(math.exp(-3.0)))


def test_subsampling_everything_is_the_plain_count() -> None:
    point = np.array([1, 0, 1])
    law = catalogue.subsampled_count(3, 1.0, 1.0).law(point)
    assert dict(law) == pytest.approx(
        dict(catalogue.truncated_geometric_count(3, 1.0).law(point)), rel=1e-13
    )


def test_exponential_mechanism_by_hand() -> None:
    law = catalogue.exponential_mechanism(4, 2.0).law(np.array([0, 0, 1, 0]))
    weights = [math.exp(votes) for votes in (3, 1, 0)]
    shares = [weight / sum(weights) for weight in weights]
    assert [law[o] for o in range(3)] == pytest.approx(shares, rel=1e-14)


def test_permute_and_flip_is_never_worse_than_the_exponential_mechanism() -> None:
    for votes in ([0, 0, 0], [0, 0, 1], [0, 1, 2]):
        best = votes.count(0)
        one, other = (
            kind(3, 1.0).law(np.array(votes))
            for kind in (catalogue.permute_and_flip, catalogue.exponential_mechanism)
        )
        expected = [sum(law[o] * votes.count(o) for o in range(3)) for law in (one, other)]
        assert expected[1] - 1e-12 <= expected[0] <= best


def test_the_needle_alone_is_shown() -> None:
    mechanism = catalogue.needle(3, [1, 0, 1], 1.0, outputs=3)
    assert dict(mechanism.law(np.array([1, 0, 1]))) == {0: 0.0, 1: 0.0, 2: 1.0}
    plain = catalogue.truncated_geometric_count(3, 1.0, outputs=3)
    point = np.array([1, 1, 1])
    assert dict(mechanism.law(point)) == dict(plain.law(point))


def test_leak_shows_its_record() -> None:
    law = catalogue.leak(3, 0.25, record=2).law(np.array([0, 0, 1]))
    assert dict(law) == pytest.approx({"withheld": 0.75, 0: 0.0, 1: 0.25})


def test_one_sided_noise_is_never_negative() -> None:
    q = math.exp(-1.0)
    law = catalogue.one_sided_noise_count(3, 1.0).law(np.array([1, 0, 0]))
    assert [law[o] for o in range(4)] == pytest.approx([0.0, 1 - q, (1 - q) * q, q**2])


def test_data_dependent_clamp_is_cut_at_twice_the_count() -> None:
    mechanism = catalogue.data_dependent_clamp(5, 1.0)
    for count, top in ((0, 0), (1, 2), (2, 4), (3, 5)):
        law = mechanism.law(np.array([1] * count + [0] * (5 - count)))
        assert [o for o in range(6) if not law.is_zero(o)] == list(range(top + 1))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: catalogue.randomised_response(13, 1.0), "d=13"),
        (lambda: catalogue.randomised_response(2, 0.0), "epsilon=0.0"),
        (lambda: catalogue.exact_randomised_response(2, Fraction(1)), "keep="),
        (lambda: catalogue.exact_randomised_response(2, "x"), "keep='x'"),
        (lambda: catalogue.k_ary_randomised_response(1, 1.0), "k=1"),
        (lambda: catalogue.truncated_geometric_count(0, 1.0), "d=0"),
        (lambda: catalogue.truncated_geometric_count(3, 1.0, outputs=1), "outputs=1"),
        (lambda: catalogue.clamped_geometric_count(3, 1.0, 2, 2), "lower=2, upper=2"),
        (lambda: catalogue.clamped_geometric_count(3, 1.0, 0, 4), "upper=4"),
        (lambda: catalogue.clamped_geometric_count(3, 1.0, -1, 2), "lower=-1"),
        (lambda: catalogue.one_sided_noise_count(3, math.inf), "epsilon=inf"),
        (lambda: catalogue.subsampled_count(3, 1.0, 0.0), "rate=0.0"),
        (lambda: catalogue.subsampled_count(3, 1.0, 1.5), "rate=1.5"),
        (lambda: catalogue.subsampled_count(501, 1.0, 0.5), "d=501"),
        (lambda: catalogue.exponential_mechanism(3, 1.0, choices=1), "choices=1"),
        (lambda: catalogue.permute_and_flip(3, 1.0, choices=65), "choices=65"),
        (lambda: catalogue.leak(3, 1.0), "probability=1.0"),
        (lambda: catalogue.leak(3, 0.5, record=3), "record=3"),
        (lambda: catalogue.needle(3, [[0, 0, 0], [1, 1, 1]], 1.0), "one dataset"),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


def test_a_needle_outside_the_cube() -> None:
    with pytest.raises(DatasetError):
        catalogue.needle(3, [0, 1, 2], 1.0)
