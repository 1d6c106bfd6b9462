"""Code that does more with its data than add noise to them: verdicts, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import liptest as lt

pytestmark = pytest.mark.slow
ROWS = lt.Table({"x": lt.Real(0, 1)}, rows=20)
LOSS = 1e-9


def check(code: Any, epsilon: float, domain: Any = ROWS, **options: Any) -> Any:
    return lt.check_privacy(lt.mechanism(code), domain, epsilon=epsilon, floats="ideal", **options)


def scale_of_the_mean(frame, rng):
    mean = frame["x"].mean()
    return bool(mean + rng.laplace(0, 1 + mean) > 0.5)


def bounded_scale(frame, rng):
    total = frame["x"].sum()
    noisy = rng.laplace(total, np.maximum(2, total / 4))
    if noisy > 8:
        return "much"
    return "some" if noisy > 4 else "few"


def builtin_bounds(frame, rng):
    total = frame["x"].sum()
    return bool(total + max(2, min(total, 5)) * rng.laplace() > 4)


def logistic(frame, rng):
    return bool(rng.random() < 1 / (1 + np.exp(-frame["x"].mean())))


def logistic_of_the_sum(frame, rng):
    return bool(rng.random() < 1 / (1 + math.exp(-(frame["x"].sum() - 10))))


def two_coins(frame, rng):
    return int(rng.random() < np.exp(-frame["x"].sum() / 10) and rng.random() < 0.5)


def calibrated_by_exp(frame, rng):
    return bool(rng.exponential(np.exp(frame["x"].mean())) > 1)


# The largest losses by hand: at the ends of the sums.
TIGHT = [
    (scale_of_the_mean, 1 / 14),
    (bounded_scale, 0.5),
    (logistic, math.log((1 + math.e) / (1 + math.exp(0.95)))),
    (logistic_of_the_sum, math.log((1 + math.exp(10)) / (1 + math.exp(9)))),
    (two_coins, 0.1),
]


@pytest.mark.parametrize(("code", "loss"), TIGHT, ids=lambda one: getattr(one, "__name__", ""))
def test_the_largest_loss_is_proved_and_a_smaller_claim_is_refuted(code, loss) -> None:
    proved = check(code, loss + LOSS)
    assert proved.decision == "YES"
    assert proved.guarantee.kind == "proof"
    assert proved.largest_loss == pytest.approx(loss, abs=LOSS)
    refuted = check(code, loss - 1e-4)
    assert refuted.decision == "NO"
    assert refuted.witness.loss == pytest.approx(loss, abs=1e-6)


@pytest.mark.parametrize("code", [builtin_bounds, calibrated_by_exp])
def test_other_spellings_are_followed(code) -> None:
    assert check(code, 3.0).decision == "YES"


def test_the_verdict_says_what_was_bounded_and_for_how_many_rows() -> None:
    said = str(check(scale_of_the_mean, 0.1))
    assert "largest loss over all values that neighbours give these sums was bounded" in said
    assert "for datasets of 20 records" in said


def jump(frame, rng):
    scale = 1 if frame["x"].sum() > 5 else 2
    return bool(rng.laplace(0, scale) > 1)


def tells_a_number(frame, rng):
    mean = frame["x"].mean()
    return float(mean + rng.laplace(0, 1 + mean))


def product_of_noises(frame, rng):
    return bool(rng.laplace() * rng.laplace() * (1 + frame["x"].mean()) > 1)


def two_noises(frame, rng):
    mean = frame["x"].mean()
    return bool((1 + mean) * rng.laplace() + (2 - mean) * rng.normal() > 1)


def rounded_scale(frame, rng):
    return bool(rng.laplace(0, 1 + round(frame["x"].sum())) > 1)


def scale_that_vanishes(frame, rng):
    return bool(rng.laplace(0, frame["x"].sum()) > 1)


def probability_that_vanishes(frame, rng):
    return bool(rng.random() < frame["x"].mean() ** 2)


def logarithm_that_fails(frame, rng):
    mean = frame["x"].mean()
    unused = math.log(mean - 0.5)
    return bool(rng.random() < 0.5 + mean * mean / 10) or unused is None


def near_nothing(frame, rng):
    return bool(rng.random() < 1 / (1 + np.exp(-5 * frame["x"].sum())))


REFUSED = [
    jump,
    tells_a_number,
    product_of_noises,
    two_noises,
    rounded_scale,
    scale_that_vanishes,
    probability_that_vanishes,
    logarithm_that_fails,
    near_nothing,
]


@pytest.mark.parametrize("code", REFUSED)
def test_what_is_no_curve_or_is_not_bounded_is_never_proved(code) -> None:
    assert check(code, 50.0, method="alignment").decision == "INCONCLUSIVE"


def test_rows_of_users_move_a_sum_by_all_of_them() -> None:
    users = lt.Table(
        {"x": lt.Real(0, 1), "user": lt.Key()},
        rows=20,
        relation="add_remove",
        unit="user",
        at_most=3,
    )
    assert check(bounded_scale, 1.5 + LOSS, users).decision == "YES"
    assert check(bounded_scale, 1.4, users, method="alignment").decision == "INCONCLUSIVE"


def test_whole_answers_are_sums_too() -> None:
    def counted(data, rng):
        return bool(rng.random() < 1 / (1 + np.exp(-(data.sum() - 50) / 10)))

    assert check(counted, 0.1, lt.Hypercube(100)).decision == "YES"
    assert check(counted, 0.09, lt.Hypercube(100)).decision == "NO"


def test_tails_far_out_are_bounded_at_100_000_rows() -> None:
    """A threshold 5,000 scales away: what floats add to a loss is told by slopes, not by masses."""

    def vote(frame, rng):
        mean = frame["x"].clip(0, 100).mean()
        return bool(mean + rng.laplace(0, 0.01 + mean / 1000) > 50)

    many = lt.Table({"x": lt.Real(0, 120)}, rows=100_000)
    assert check(vote, 1.0, many).decision == "YES"
    assert check(vote, 0.59, many).decision == "NO"
