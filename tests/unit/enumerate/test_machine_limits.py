"""Where stack or memory end is not an output: it depends on the machine and on who calls."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import liptest as lt

LAW = lt.ProductDistribution.uniform(lt.Hypercube(2))


def down(steps: int) -> int:
    return 0 if steps == 0 else down(steps - 1)


def frames() -> int:
    frame, count = sys._getframe(), 0
    while frame.f_back is not None:
        frame, count = frame.f_back, count + 1
    return count


def check(function: Any) -> lt.PrivacyVerdict:
    return lt.check_privacy(lt.mechanism(function), LAW, epsilon=1, method="exhaustive")


def test_a_stack_that_is_deeper_under_the_analysis_refutes_nothing() -> None:
    # Deep enough for the plain call below, too deep with the frames of the analysis under it.
    steps = sys.getrecursionlimit() - frames() - 15

    def deep(data: Any, rng: Any) -> int:
        down(steps if data.tolist()[0] else 3)
        return int(rng.random() < 0.5)

    assert deep(np.array([1, 0]), np.random.default_rng(0)) in (0, 1)
    with pytest.raises(lt.errors.MechanismError, match="raised RecursionError"):
        check(deep)


def test_memory_that_ends_refutes_nothing() -> None:
    def greedy(data: Any, rng: Any) -> int:
        if data.tolist()[0]:
            raise MemoryError
        return int(rng.random() < 0.5)

    with pytest.raises(
        lt.errors.MechanismError, match=r"raised MemoryError.*depends on the machine"
    ):
        check(greedy)


def test_code_that_catches_it_answers() -> None:
    def careful(data: Any, rng: Any) -> int:
        try:
            down(10**6 if data.tolist()[0] else 3)
        except RecursionError:
            return 0
        return 0

    assert check(careful).decision == "YES"
