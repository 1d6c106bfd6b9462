"""Sums between known ends that are compared with noise: prices beside sums over grids of pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.symbolic.answers import AlignedPath, Answer, Differences
from liptest.symbolic.forms import Form
from liptest.symbolic.log_concave import price_by_ends
from liptest.symbolic.noise import Noise

CDFS: dict[str, Callable[[float], float]] = {
    "normal": NormalDist().cdf,
    "logistic": lambda z: 1 / (1 + math.exp(-z)),
    "laplace": lambda z: math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2,
    "gumbel": lambda z: math.exp(-math.exp(-z)),
    "uniform": lambda z: min(max(z, 0.0), 1.0),
    "exponential": lambda z: 1 - math.exp(-z) if z > 0 else 0.0,
}


def _answer(low: float, high: float, number: int = 0) -> Answer:
    return Answer(number, ends=(Fraction(low), Fraction(high)))


def _path(noise: Noise, answer: Answer, factor: Fraction, ends: tuple[Any, Any]) -> AlignedPath:
    """low <= noise + factor * answer <= high."""
    form = Form.variable(0) + Form.variable(1) * factor
    return AlignedPath((noise, answer), (form.between(*ends),))


def _largest_on_a_grid(mass: Callable[[float], float], top: float, step: float) -> float:
    at = [top * k / 200 for k in range(201)]
    logs = [math.log(mass(t)) for t in at]
    found = (
        abs(logs[j] - logs[k])
        for j in range(201)
        for k in range(j, 201)
        if at[k] - at[j] <= step + 1e-12
    )
    return max(found)


@pytest.mark.parametrize("family", CDFS)
@pytest.mark.parametrize("seed", range(6))
def test_prices_are_those_of_pairs_on_a_grid(family: str, seed: int) -> None:
    rng = np.random.default_rng([seed, *family.encode()])
    # Multiples of the grid's step, so that the ends of a difference are on it.
    top, steps = int(rng.integers(1, 4)), int(rng.integers(1, 60))
    step = top * steps / 200
    scale = Fraction(int(rng.integers(1, 4))) if family != "uniform" else Fraction(1)
    factor = Fraction(int(rng.integers(1, 5)), 4 * top) * (1 if rng.random() < 0.5 else -1)
    # Where nothing vanishes: "uniform" and "exponential" have ends.
    cut = {"uniform": 1.2 if factor > 0 else 0.3, "exponential": 2.0}.get(
        family, float(rng.integers(-6, 7)) / 2
    )
    sides: list[tuple[float | None, float | None]] = [(None, cut), (cut, None)]
    if family not in ("uniform", "exponential"):
        sides.append((cut, cut + 1.5))
    for low, high in sides[seed % len(sides) :][:1]:
        noise, cdf = Noise(family, scale), CDFS[family]

        def mass(t: float, low: Any = low, high: Any = high, cdf: Any = cdf) -> float:
            ends = [
                None if end is None else cdf((end - float(factor) * t) / float(scale))
                for end in (low, high)
            ]
            return (1.0 if ends[1] is None else ends[1]) - (ends[0] or 0.0)

        exact = [None if end is None else Fraction(end) for end in (low, high)]
        path = _path(noise, _answer(0, top), factor, (exact[0], exact[1]))
        if min(mass(0.0), mass(float(top))) <= 0:
            assert price_by_ends([path], Differences.of_box([Fraction(step)])) is None
            continue
        found = price_by_ends([path], Differences.of_box([Fraction(step)]))
        # The margin of a box counts on both sides of the ends.
        wide = Answer(0, ends=(Fraction(step), Fraction(top) - Fraction(step)))
        inside = _path(noise, wide, factor, (exact[0], exact[1])) if 2 * step < top else None
        assert found is not None
        assert found.epsilon is not None
        largest = _largest_on_a_grid(mass, float(top), step)
        assert float(found.epsilon) >= largest - 1e-12
        if inside is not None and (low is None or high is None):
            same = price_by_ends([inside], Differences.of_box([Fraction(step)]))
            assert same is not None
            assert same.epsilon is not None
            assert float(same.epsilon) == pytest.approx(largest, abs=1e-9)


def test_what_cannot_happen_costs_nothing_and_what_may_vanish_has_no_price() -> None:
    noise, answer, moves = (
        Noise("uniform", Fraction(1)),
        _answer(0, 1),
        Differences.listed([{0: 1}]),
    )
    never = _path(noise, answer, Fraction(1, 2), (Fraction(2), None))
    found = price_by_ends([never], moves)
    assert found is not None
    assert found.epsilon == 0
    for ends in ((Fraction(1), None), (None, Fraction(1, 2))):
        assert price_by_ends([_path(noise, answer, Fraction(1), ends)], moves) is None
    # Between the ends it may happen.
    high = Form.variable(0) + Form.variable(1) * 4
    low = Form.variable(0) - Form.variable(1) * 4
    tent = AlignedPath((noise, answer), (high.between(2, None), low.between(-2, None)))
    assert price_by_ends([tent], moves) is None


def test_what_is_only_released_is_left_to_shifts() -> None:
    told = AlignedPath(
        (Noise("laplace", Fraction(1)), _answer(0, 1)),
        places=(Form.variable(0) + Form.variable(1),),
    )
    assert price_by_ends([told], Differences.listed([{0: 1}])) is None


def test_sums_that_are_compared_apart_or_have_no_ends_have_no_price() -> None:
    noise, moves = Noise("normal", Fraction(1)), Differences.of_box([1, 1])
    both = AlignedPath(
        (noise, _answer(0, 1), _answer(0, 1, 1)),
        (
            (Form.variable(0) + Form.variable(1)).between(0, None),
            (Form.variable(0) + Form.variable(2)).between(None, 3),
        ),
    )
    assert price_by_ends([both], moves) is None
    free = _path(noise, Answer(0), Fraction(1), (Fraction(0), None))
    assert price_by_ends([free], moves) is None
    bare = AlignedPath((noise, _answer(0, 1)), (Form.variable(1).between(0, None),))
    assert price_by_ends([bare], moves) is None


# ---- programs

SMALL = lt.Table({"a": lt.Integer(0, 2), "b": lt.Bit()}, rows=3)


def coin_by_a_count(frame: Any, rng: Any) -> bool:
    return bool(rng.random() < (frame["b"].sum() + 1) / 5)


def coins_by_a_sum(frame: Any, rng: Any) -> list[bool]:
    share = 0.25 + frame["a"].sum() / 12
    return [bool(u < share) for u in rng.random(size=2)]


def normal_above(frame: Any, rng: Any) -> bool:
    return bool(frame["a"].sum() + rng.normal(scale=4) > 3)


def coin_and_sum(frame: Any, rng: Any) -> Any:
    is_high = bool(rng.random() < 0.2 + frame["a"].sum() / 20)
    noise = rng.laplace(scale=1 if is_high else 2)
    return is_high, float(frame["b"].sum() + noise)


@pytest.mark.slow
@pytest.mark.parametrize("program", [coin_by_a_count, coins_by_a_sum, normal_above, coin_and_sum])
def test_prices_are_the_largest_losses_of_all_tables(program: Any) -> None:
    options: dict[str, Any] = {"floats": "ideal"}
    mechanism = lt.mechanism(program)
    proved = lt.check_privacy(mechanism, SMALL, epsilon=9, method="alignment", **options)
    assert proved.decision == "YES", str(proved)
    visited = lt.check_privacy(mechanism, SMALL, epsilon=9, method="exhaustive", **options)
    assert proved.largest_loss == pytest.approx(visited.largest_loss, abs=1e-9)


PEOPLE = lt.Table({"age": lt.Real(0, 120)}, rows=100_000)


@lt.mechanism
def coin_by_a_mean(frame: Any, rng: Any) -> bool:
    return bool(rng.random() < 0.25 + frame["age"].clip(0, 90).mean() / 180)


@pytest.mark.slow
def test_a_coin_by_a_mean_is_proved_and_refuted_at_its_epsilon() -> None:
    exact = math.log1p(0.5 / 100_000 / 0.25)
    for epsilon, decision in ((exact, "YES"), (0.999 * exact, "NO")):
        verdict = lt.check_privacy(coin_by_a_mean, PEOPLE, epsilon=epsilon, floats="ideal")
        assert verdict.decision == decision, str(verdict)
    assert verdict.witness is not None
    assert verdict.witness.verify(coin_by_a_mean.on_domain(PEOPLE))
    assert "age" in str(verdict)


VISITS = {"user": lt.Key(), "spend": lt.Real(0, 50)}


@lt.mechanism
def coin_by_visits(frame: Any, rng: Any) -> bool:
    spent = frame.groupby("user").head(3)["spend"].sum()
    return bool(rng.random() < 0.25 + spent / 100_000)


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_a_coin_by_the_rows_of_users_is_proved_and_refuted(relation: str) -> None:
    table = lt.Table(VISITS, rows=1_000, unit="user", relation=relation)
    exact = math.log1p(3 * 50 / 100_000 / 0.25)
    for epsilon, decision in ((exact, "YES"), (0.99 * exact, "NO")):
        verdict = lt.check_privacy(coin_by_visits, table, epsilon=epsilon, floats="ideal")
        assert verdict.decision == decision, str(verdict)
    assert verdict.witness is not None
    assert verdict.witness.verify(coin_by_visits.on_domain(table))


@lt.mechanism
def certain_at_an_end(frame: Any, rng: Any) -> bool:
    return bool(rng.random() < frame["age"].clip(0, 90).mean() / 90)


@lt.mechanism
def another_coin_where_a_sum_is_large(frame: Any, rng: Any) -> bool:
    total = frame["age"].clip(0, 90).sum()
    return bool(rng.random() < (0.9 if total > 1e6 else 0.1))


@pytest.mark.slow
@pytest.mark.parametrize("program", [certain_at_an_end, another_coin_where_a_sum_is_large])
def test_jumps_and_what_vanishes_are_refuted(program: Any) -> None:
    verdict = lt.check_privacy(program, PEOPLE, epsilon=2, floats="ideal")
    assert verdict.decision == "NO", str(verdict)
