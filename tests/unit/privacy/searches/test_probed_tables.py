"""Neighbours at probes, with a declared modulus, against fine grids of neighbours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import InputError

ROWS = 3
TABLE = lt.Table({"x": lt.Real(0, 1), "member": lt.Bit()}, rows=ROWS)
SETTINGS: dict[str, Any] = {
    "method": "neighbourhoods",
    "exception_mass": 0.5,
    "failure_probability": 0.3,
    "search_laws": 0,
    "floats": "ideal",
    "seed": 1,
}


def some(rng: Any) -> Any:
    return {"x": np.sort(rng.random(ROWS)), "member": rng.integers(0, 2, ROWS)}


def drawn(modulus: Any, table: Any = TABLE) -> Any:
    return lt.SampledDistribution.of_tables(table, some, modulus=modulus)


def weights(frame: Any) -> Any:
    middle = float(np.median(frame["x"].to_numpy()))
    share = float(frame["member"].mean())
    made = np.exp(np.array([middle, 1 - middle, share]))
    return made / made.sum()


@lt.mechanism
def chosen(frame: Any, rng: Any) -> int:
    return int(rng.choice(3, p=weights(frame)))


@lt.mechanism
def jumps(frame: Any, rng: Any) -> bool:
    return bool(rng.random() < (0.6 if np.median(frame["x"].to_numpy()) > 0.5 else 0.5))


@lt.mechanism
def leaks_in_a_small_interval(frame: Any, rng: Any) -> bool:
    middle = float(np.median(frame["x"].to_numpy()))
    return bool(rng.random() < (0.9 if abs(middle - 0.3) < 1e-12 else 0.1))


def largest_loss(columns: Any) -> float:
    """Over a fine grid of replaced rows."""
    own, most = np.log(weights(lt_frame(columns))), 0.0
    for row in range(ROWS):
        for number in np.linspace(0, 1, 101):
            for member in (0, 1):
                other = {name: np.array(one, dtype=float) for name, one in columns.items()}
                other["x"][row], other["member"][row] = number, member
                most = max(most, float(abs(np.log(weights(lt_frame(other))) - own).max()))
    return most


def lt_frame(columns: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(columns)


@pytest.mark.slow
def test_what_is_proved_is_true_between_the_probes() -> None:
    verdict = lt.check_privacy(chosen, drawn({"x": 2}), epsilon=1.3, **SETTINGS)
    assert verdict.decision == "YES", str(verdict)
    assert verdict.guarantee.kind == "sampling"
    assert "given the declared modulus: the log of any probability changes by at most 2" in str(
        verdict
    )
    assert "between them it was not tested" in str(verdict)
    rng = np.random.default_rng(0)
    assert max(largest_loss(some(rng)) for _ in range(5)) <= 1.3


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.2, 0.5])
def test_two_tables_refute_a_claim_whatever_is_declared(epsilon: float) -> None:
    verdict = lt.check_privacy(chosen, drawn({"x": 2}), epsilon=epsilon, **SETTINGS)
    assert verdict.decision == "NO"
    assert verdict.cost.draws >= 1
    assert verdict.witness is not None
    assert verdict.witness.verify(chosen.on_domain(TABLE))
    assert verdict.witness.loss > epsilon


@pytest.mark.slow
def test_nothing_is_said_without_a_modulus() -> None:
    verdict = lt.check_privacy(chosen, drawn(None), epsilon=1.3, **SETTINGS)
    assert verdict.decision == "INCONCLUSIVE"
    assert "median" in str(verdict)


@pytest.mark.slow
def test_a_modulus_that_probes_contradict_is_told() -> None:
    verdict = lt.check_privacy(jumps, drawn({"x": 0.01}), epsilon=0.5, **SETTINGS)
    assert verdict.decision == "INCONCLUSIVE"
    assert "the declared modulus does not hold" in str(verdict)


@pytest.mark.slow
def test_a_claim_without_room_for_the_modulus_is_not_decided() -> None:
    verdict = lt.check_privacy(chosen, drawn({"x": 4000}), epsilon=1.3, **SETTINGS)
    assert verdict.decision == "INCONCLUSIVE"
    assert "more than 2,000" in str(verdict)


@pytest.mark.slow
def test_a_small_interval_is_not_seen_and_the_verdict_says_what_it_takes_for_granted() -> None:
    verdict = lt.check_privacy(leaks_in_a_small_interval, drawn({"x": 1}), epsilon=1, **SETTINGS)
    assert verdict.decision == "YES"
    assert "given the declared modulus" in str(verdict)


@pytest.mark.slow
def test_what_probes_do_not_speak_of() -> None:
    coming = lt.Table({"x": lt.Real(0, 1), "member": lt.Bit()}, rows=ROWS, relation="add_remove")
    wide = lt.Table({"x": lt.Real(0), "member": lt.Bit()}, rows=ROWS)
    two = lt.Table({"x": lt.Real(0, 1), "y": lt.Real(0, 1), "member": lt.Bit()}, rows=ROWS)

    def of_two(rng: Any) -> Any:
        return {**some(rng), "y": rng.random(ROWS)}

    for law, claim, words in (
        (drawn({"x": 2}, coming), {"epsilon": 1.3}, "one row is replaced"),
        (drawn({"x": 2}), {"epsilon": 1.3, "delta": 0.01}, "with delta=0"),
        (drawn({"x": 2}), {"rho": 1.0}, "with delta=0"),
        (drawn({"x": 2}, wide), {"epsilon": 1.3}, "has no ends"),
        (
            lt.SampledDistribution.of_tables(two, of_two, modulus={"x": 2}),
            {"epsilon": 1.3},
            "no modulus is declared of column 'y'",
        ),
    ):
        verdict = lt.check_privacy(chosen, law, **claim, **SETTINGS)
        assert verdict.decision == "INCONCLUSIVE", str(verdict)
        assert words in str(verdict)


@pytest.mark.parametrize(
    "modulus", [{"y": 1}, {"member": 1}, {"x": -1}, {"x": math.inf}, {"x": math.nan}, [1], 2.0]
)
def test_declarations_that_say_nothing_are_refused(modulus: Any) -> None:
    with pytest.raises(InputError, match="modulus"):
        drawn(modulus)
