"""Ways to outputs of several numbers that the outputs tell apart: exact losses, and what is not."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.numbers.boxes import are_told_apart
from liptest.verdicts import Decision
from tests.unit.written_programs import program

CUBE = lt.Hypercube(3)

#: Programs, and the largest loss by hand: the sum of what the numbers of the dearest way lose.
CONTINUOUS = {
    "two steps": (
        "first = data.sum() + rng.laplace()\n"
        "second = (data.sum() if first > 10 else -data.sum()) + rng.laplace()\n"
        "return first, second",
        2,
    ),
    "noise that follows": (
        "first = data.sum() + rng.laplace()\n"
        "return first, data.sum() + rng.laplace(0, 1 if first > 2 else 4)",
        2,
    ),
    "a way without the data": (
        "first = data.sum() + rng.laplace()\n"
        "return first, (2 * data.sum() if first < 0 else 5) + rng.laplace()",
        3,
    ),
    "three steps": (
        "a = data.sum() + rng.laplace()\n"
        "b = (data.sum() if a > 3 else 0) + rng.laplace()\n"
        "c = (data.sum() if b > 5 else 0) + rng.laplace()\n"
        "return [a, b, c]",
        3,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTINUOUS)
def test_the_largest_loss_is_that_of_the_dearest_way(name: str) -> None:
    text, loss = CONTINUOUS[name]
    found = lt.exact_epsilon(program(text), CUBE)
    assert found.value == pytest.approx(loss, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTINUOUS)
def test_less_is_refuted_at_any_size(name: str) -> None:
    text, loss = CONTINUOUS[name]
    mechanism = program(text)
    verdict = lt.check_privacy(mechanism, lt.Hypercube(40), epsilon=0.97 * loss, floats="ideal")
    assert verdict.decision is Decision.NO
    assert verdict.witness.verify(mechanism)


@pytest.mark.slow
def test_probabilities_of_a_way_are_those_of_its_box() -> None:
    """Beyond both thresholds the loss is known in closed form, and so are the probabilities."""
    text, _ = CONTINUOUS["two steps"]
    verdict = lt.check_privacy(program(text), lt.Hypercube(1), epsilon=1.9, floats="ideal")
    assert verdict.decision is Decision.NO
    p, q = verdict.witness.probability, verdict.witness.neighbour_probability
    assert abs(math.log(p / q)) == pytest.approx(2, abs=0.1)


def geometric(rng: Any) -> int:
    return int(rng.geometric(0.5)) - int(rng.geometric(0.5))


WHOLE = "first = int(data.sum()) + noise(rng)\nreturn first, {} + noise(rng)"


@pytest.mark.slow
def test_whole_numbers_are_told_apart_as_well() -> None:
    text = WHOLE.format("(int(data.sum()) if first > 2 else -int(data.sum()))")
    found = lt.exact_epsilon(program(text, noise=geometric), lt.Hypercube(1))
    assert found.value == pytest.approx(2 * math.log(2), rel=1e-9)


def brute_force(data: list[int], way: Any, reach: int = 40) -> dict[tuple[int, int], float]:
    mass = {k: math.tanh(math.log(2) / 2) * 2.0 ** -abs(k) for k in range(-reach, reach + 1)}
    law: dict[tuple[int, int], float] = {}
    for a, p in mass.items():
        for b, q in mass.items():
            first = sum(data) + a
            at = (first, way(first, sum(data)) + b)
            law[at] = law.get(at, 0.0) + p * q
    return law


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [-1, 0, 3])
@pytest.mark.parametrize("factors", [(1, -1), (2, 0), (3, 1)])
def test_losses_are_those_of_all_values(threshold: int, factors: tuple[int, int]) -> None:
    text = WHOLE.format(
        f"({factors[0]} if first > {threshold} else {factors[1]}) * int(data.sum())"
    )
    mechanism = program(text, noise=geometric)
    laws = [brute_force([bit], lambda first, n: factors[first <= threshold] * n) for bit in (0, 1)]
    near = [at for at in laws[0] if max(map(abs, at)) < 20 and at in laws[1]]
    largest = max(abs(math.log(laws[0][at] / laws[1][at])) for at in near)
    found = lt.exact_epsilon(mechanism, lt.Hypercube(1))
    assert found.value == pytest.approx(largest, rel=1e-6)


#: Ways that no number of an output tells: their densities would have to be added.
MIXED = {
    "a hidden coin": (
        "a, b = (1, 0) if rng.random() < 0.5 else (0, 1)\n"
        "return a * data.sum() + rng.laplace(), b * data.sum() + rng.laplace()"
    ),
    "a hidden number": (
        "hidden = data.sum() + rng.laplace()\n"
        "a, b = (1, 0) if hidden > 1 else (0, 1)\n"
        "return a * data.sum() + rng.laplace(), b * data.sum() + rng.laplace()"
    ),
    "a threshold that the data move": (
        "noise = rng.laplace()\n"
        "return data.sum() + noise, (data.sum() if noise > 0 else 0) + rng.laplace()"
    ),
}


@pytest.mark.parametrize("name", MIXED)
def test_other_ways_are_not_taken_for_such(name: str) -> None:
    with pytest.raises((lt.errors.LiptestError, lt.errors.InputError), match="several ways"):
        lt.exact_loss(program(MIXED[name]), [([0, 0, 0], [1, 0, 0])], domain=CUBE)


@pytest.mark.slow
def test_divergences_of_ways_add_up() -> None:
    """Normal noise: half of the outputs tell of the data, by that much by the closed form."""
    text = "first = rng.normal()\nreturn first, (data.sum() if first > 0 else 0) + rng.normal()"
    below = NormalDist().cdf
    half = (below(0.5 - 0.5) - math.exp(0.5) * below(-0.5 - 0.5)) / 2
    for share, decision in ((1 + 1e-9, Decision.YES), (1 - 1e-6, Decision.NO)):
        claim: Any = {"epsilon": 0.5, "delta": half * share, "floats": "ideal"}
        verdict = lt.check_privacy(program(text), lt.Hypercube(1), **claim)
        assert verdict.decision is decision


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([((0, 1), (None, None)), ((1, None), (None, None))], [((0, 1), (None, None))], True),
        ([((0, 2), (None, None)), ((1, None), (None, None))], [((0, 1), (None, None))], False),
        ([((0, 1), (None, None))], [((0, Fraction(1, 2)), (None, None))], False),
        ([((0, 1), (None, None))], [None], False),
        ([((0, 1),), ((1, 2),)], [((0, 1),)], False),
    ],
)
def test_boxes_are_the_same_or_apart(left: Any, right: Any, expected: bool) -> None:
    assert are_told_apart(left, right) is expected
    assert are_told_apart(right, left) is expected


@pytest.mark.slow
def test_samples_fall_into_the_told_events() -> None:
    """A control of the exact probabilities by the unmodified program."""
    text, _ = CONTINUOUS["a way without the data"]
    verdict = lt.check_privacy(program(text), lt.Hypercube(1), epsilon=0.5, floats="ideal")
    witness = verdict.witness
    rng, count = np.random.default_rng(5), 20_000
    made = program(text)
    for data, p in (
        (witness.dataset, witness.probability),
        (witness.neighbour, witness.neighbour_probability),
    ):
        outputs = np.array([made(np.array(data), rng) for _ in range(count)])
        inside = np.ones(count, dtype=bool)
        for column, ends in zip(outputs.T, witness.output, strict=True):
            low = -math.inf if ends.low is None else float(ends.low)
            high = math.inf if ends.high is None else float(ends.high)
            inside &= (column >= low) & (column < high)
        assert abs(inside.mean() - p) < 6 * math.sqrt(p * (1 - p) / count) + 1e-3
