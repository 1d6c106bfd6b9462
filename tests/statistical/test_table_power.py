"""Tables that are drawn: a YES about too many bad tables is as rare as promised (tables, B13).

The program compares a count without noise, and the number of rows is just enough with a probability
that is known exactly, just above the claimed mass. Such tables are never proved; all others are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.request import validate_request
from liptest.privacy.samples.intervals import clean_draws
from liptest.privacy.samples.sampled_tables import ProvedTables, draw_table
from liptest.privacy.settings import CheckSettings
from tests.statistical.binomial import is_plausible

pytestmark = pytest.mark.slow

FAILURE, BAD, OF = 0.2, 2, 8
MASS = BAD / OF * (1 - 1e-9)
# With a third of the draws a wrong YES is far more likely.
FEWER = 3
SEEDS = 2_000
TABLE = lt.Table({"age": lt.Real(0, 10)}, rows=60, relation="add_remove")
PUBLIC = {"age": np.linspace(1, 9, 40)}
# From 36 to 43 rows, each as likely: those of 39 and 40 have a neighbour on the other side.
DRAWN = lt.SampledDistribution.of_rows(TABLE, PUBLIC, rows=range(36, 44))


@lt.mechanism
def if_enough(frame: Any, rng: Any) -> Any:
    noisy = frame["age"].sum() + rng.laplace(scale=10)
    return noisy if len(frame) >= 40 else "too few"


# Sums of 180, 185, .., 215, of which a row changes 10: from 190 to 205 one may cross the jump.
EQUAL = lt.SampledDistribution.of_rows(TABLE, {"age": np.full(40, 5.0)}, rows=range(36, 44))
NEAR_JUMP = {38, 39, 40, 41}


@lt.mechanism
def scale_of_the_data(frame: Any, rng: Any) -> Any:
    total = frame["age"].sum()
    scale = 20 + total / 20 if total > 197.5 else 20.0
    return bool(total + rng.laplace(0, scale) > 200)


@dataclass
class Seeds:
    """Runs of the test for many seeds; what was proved for one is known to all."""

    draws: int
    program: Any = if_enough
    drawn: Any = DRAWN
    bad: frozenset[int] = frozenset({39, 40})
    mass: float = MASS

    def count_accepted(self) -> int:
        settings = CheckSettings(epsilon=1, exception_mass=self.mass, failure_probability=FAILURE)
        task = validate_request(self.program, self.drawn, settings)
        walk = ProvedTables(task)
        refused: set[int] = set()
        accepted = 0
        for seed in range(SEEDS):
            own = replace(task, seed=seed)
            accepted += all(self._is_proved(walk, refused, own, k) for k in range(self.draws))
        assert refused == self.bad
        return accepted

    def _is_proved(self, walk: ProvedTables, refused: set[int], task: Any, number: int) -> bool:
        dataset = draw_table(task, number)
        rows = int((TABLE.slots_in(dataset) > 0).sum())  # type: ignore[attr-defined]
        # Only so that the same is not tried again and again: of these all were refused before.
        if rows in refused:
            return False
        why = walk.why_not(dataset)
        if why:
            refused.add(rows)
        return not why


def test_a_wrong_yes_is_as_rare_as_promised() -> None:
    draws = clean_draws(MASS, FAILURE)
    accepted = Seeds(draws).count_accepted()
    assert is_plausible(SEEDS - accepted, SEEDS, at_least=1 - FAILURE)
    starved = Seeds(draws // FEWER).count_accepted()
    assert not is_plausible(SEEDS - starved, SEEDS, at_least=1 - FAILURE)
    # And it is not that nothing is ever accepted.
    assert accepted > SEEDS * FAILURE / 3


def test_the_same_of_laws_whose_scale_the_data_determine() -> None:
    """Each drawn table is proved with all its real neighbours by branch and bound (tables, B17)."""
    mass = len(NEAR_JUMP) / OF * (1 - 1e-9)
    draws = clean_draws(mass, FAILURE)
    of_curves: Any = (scale_of_the_data, EQUAL, frozenset(NEAR_JUMP), mass)
    accepted = Seeds(draws, *of_curves).count_accepted()
    assert is_plausible(SEEDS - accepted, SEEDS, at_least=1 - FAILURE)
    starved = Seeds(draws // FEWER, *of_curves).count_accepted()
    assert not is_plausible(SEEDS - starved, SEEDS, at_least=1 - FAILURE)
    assert accepted > SEEDS * FAILURE / 3
