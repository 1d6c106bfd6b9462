"""Refusals name a line of the program, also where Python's own modules ask in its place."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import pytest

import liptest as lt


def test_a_line_of_python_itself_is_not_the_programs() -> None:
    def normal(data: Any, rng: Any) -> float:
        return int(data.sum()) + statistics.NormalDist(0, 2.0).cdf(rng.random())

    with pytest.raises(lt.errors.UnsupportedRandomnessError, match=r"\(test_lines\.py:\d+: return"):
        lt.mechanism(normal).law(np.zeros(3, dtype=int))


def test_a_line_that_only_prints_is_to_be_left_out() -> None:
    def tells(data: Any, rng: Any) -> float:
        count = data.sum()
        print("so far", count)
        return float(count + rng.laplace(0, 1.0))

    verdict = lt.check_privacy(tells, lt.Hypercube(5000), epsilon=1.0, method="alignment")
    assert verdict.decision == "INCONCLUSIVE"
    assert 'print("so far", count)) is not followed' in verdict.reason
    assert verdict.reason.endswith(
        "leave that line out: it only prints, and what counts is what the function returns"
    )
