"""Steps whose numbers are taken back into a ball: known numbers on the path that is taken."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from liptest.symbolic.direct_sums import normal_epsilon
from tests.shares import mostly_slow
from tests.unit.written_programs import program

DELTA = Fraction(1, 10**5)
TABLE: Any = lt.Table({"x": lt.Real(-1, 1), "z": lt.Real(-1, 1)}, rows=500)
SCALE = 20
#: Of a record a vector of norm 1, from where the program is to the record.
TOWARDS = (
    "rows = data[['x', 'z']].to_numpy()\n"
    "def towards(at):\n"
    "    away = at - rows\n"
    "    lengths = np.linalg.norm(away, axis=1, keepdims=True)\n"
    "    return (away / np.maximum(lengths, 1e-10)).sum(axis=0)\n"
    "at = np.zeros(2)\n"
)
STEP = f"    at = at - 0.01 * (towards(at) + rng.normal(0, {SCALE}, 2))\n"
LENGTH = "    length = np.linalg.norm(at)\n"
PROJECTED = {
    "a norm above 1": f"{LENGTH}    if length > 1:\n        at = at / length\n",
    "as a choice": f"{LENGTH}    at = at if length <= 1 else at / length\n",
    "the larger one": "    at = at / max(1.0, np.linalg.norm(at))\n",
    "clipped": "    at = np.clip(at, -1, 1)\n",
}


def loss_of(steps: int) -> float:
    """Each step moves by 2 of its 20 standard deviations."""
    epsilon = normal_epsilon(Fraction(math.sqrt(steps) * 2 / SCALE), DELTA, Fraction(0))
    assert epsilon is not None
    return float(epsilon)


def priced(text: str, wanted: float | None = None) -> Any:
    mechanism = lt.mechanism(program(text)).on_domain(TABLE)
    return align(mechanism, TABLE, Fraction(wanted) if wanted else None, DELTA)


@pytest.mark.parametrize("name", mostly_slow(PROJECTED, 4))
def test_projected_steps_cost_what_steps_do(name: str) -> None:
    text = f"{TOWARDS}for _ in range(3):\n{STEP}{PROJECTED[name]}return at"
    found = priced(text, 1.0)
    assert found.price is not None, found.reason
    assert found.epsilon == pytest.approx(loss_of(3), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [4, 5])
def test_of_many_paths_the_longest_one_counts(steps: int) -> None:
    """Each path has sums of its own; they are not added up over the paths (theory, size, S21)."""
    text = f"{TOWARDS}for _ in range({steps}):\n{STEP}{PROJECTED['a norm above 1']}return at"
    assert priced(text, loss_of(steps) * 1.01).epsilon == pytest.approx(loss_of(steps), rel=1e-6)


@pytest.mark.slow
def test_a_loop_that_ends_early_costs_all_its_steps() -> None:
    text = f"{TOWARDS}for _ in range(5):\n{STEP}    if at[0] > 0.5:\n        break\nreturn at"
    assert priced(text, loss_of(5) * 1.01).epsilon == pytest.approx(loss_of(5), rel=1e-6)


@pytest.mark.parametrize(
    "scaled",
    [
        "    at = at / np.linalg.norm(at)\n",
        f"{LENGTH}    if length > 0:\n        at = at / length\n",
        f"{LENGTH}    if length < 1:\n        at = at / length\n",
    ],
)
def test_by_a_length_that_may_be_0_nothing_is_known(scaled: str) -> None:
    assert priced(f"{TOWARDS}for _ in range(2):\n{STEP}{scaled}return at").price is None


#: What is known stands beside a sum of the data before that has noise.
DECAYED = {
    "added": "towards(at) + 0.5 * at",
    "added first": "0.5 * at + towards(at)",
    "subtracted": "towards(at) - at",
    "subtracted from": "at - towards(at)",
    "halved": "(towards(at) + at) / 2 * 2.0",
    "twice": "(towards(at) + at) + (at + np.ones(2))",
    "negative": "-(at - towards(at))",
}


@pytest.mark.parametrize("name", mostly_slow(DECAYED, 4))
def test_known_numbers_beside_a_sum_cost_nothing(name: str) -> None:
    step = STEP.replace("towards(at)", DECAYED[name])
    text = f"{TOWARDS}for _ in range(2):\n{step}{PROJECTED['clipped']}return at"
    found = priced(text)
    assert found.price is not None, found.reason
    assert found.epsilon == pytest.approx(loss_of(2), rel=1e-6)


@pytest.mark.parametrize(
    "told",
    ["towards(at) + at", "(towards(at) + at) > 0", "np.exp(towards(at) + at)", "at * towards(at)"],
)
def test_a_sum_beside_a_known_number_is_not_told(told: str) -> None:
    text = f"{TOWARDS}for _ in range(1):\n{STEP}{PROJECTED['clipped']}return ({told}).tolist()"
    assert priced(text).price is None
