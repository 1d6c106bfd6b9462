"""Histograms of whole numbers with half the noise: NO at any size, over all whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt

CELLS = 6
PEOPLE = lt.RecordGrid([CELLS] * 3000)
SUCCESS = 1 - math.exp(-1)


def geometric(data: Any, rng: Any) -> Any:
    counts = np.bincount(data, minlength=CELLS)
    return (counts + rng.geometric(SUCCESS, CELLS) - rng.geometric(SUCCESS, CELLS)).tolist()


def rounded(data: Any, rng: Any) -> Any:
    return {cell: round(int((data == cell).sum()) + rng.laplace(0, 1)) for cell in range(CELLS)}


@pytest.mark.slow
@pytest.mark.parametrize("program", [geometric, rounded])
def test_a_replaced_record_moves_two_cells(program: Callable[..., Any]) -> None:
    mechanism = lt.mechanism(program)
    verdict = lt.check_privacy(mechanism, PEOPLE, epsilon=1.9, floats="ideal")
    assert verdict.decision == "NO", str(verdict)
    assert verdict.witness is not None
    assert verdict.witness.verify(mechanism)
    assert verdict.cost.laws <= 4


@pytest.mark.parametrize("program", [geometric, rounded])
def test_a_claim_of_both_cells_holds(program: Callable[..., Any]) -> None:
    verdict = lt.check_privacy(lt.mechanism(program), PEOPLE, epsilon=2, floats="ideal")
    assert verdict.decision == "YES", str(verdict)
