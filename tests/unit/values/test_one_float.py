"""Numbers that differ only by how floats are rounded are not compared as real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import UnsupportedRandomnessError
from tests.unit.written_programs import program


def law(text: str) -> dict[Any, float]:
    """Of a program, whose lines errors can name."""
    return dict(lt.output_law(lt.mechanism(program(text.replace("; ", "\n"))), np.array([0, 1])))


# Without the rounding each is True, or False, for certain; each tells a record now and then.
DRAWS = ("x = rng.random()", "x = rng.random(2)[0]", "x = rng.laplace()", "x = rng.normal()")
COMPARISONS = (
    *("x * 3 / 3 == x", "x + 1 - 1 >= x", "x * 49 / 49 < x", "(x + 100) - 100 > x"),
    *("x + 1e-17 > x", "(x + 1) - x == 1", "max(x, x * 3 / 3) > x", "0.1 * x + 0.2 * x == 0.3 * x"),
)


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("comparison", COMPARISONS)
def test_what_only_rounding_decides_is_refused(draw: str, comparison: str) -> None:
    with pytest.raises(UnsupportedRandomnessError):
        law(f"{draw}; return bool({comparison})")


@pytest.mark.parametrize("comparison", ["x * 3 / 3 == x", "x + 1 - 1 >= x", "x * 49 / 49 < x"])
def test_the_rounding_is_there(comparison: str) -> None:
    drawn = np.random.default_rng(0).random(1000)
    assert 10 < np.sum(eval(comparison, {"x": drawn})) < 990


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize(
    "comparison",
    ["x == x", "x >= x", "max(x, x) == x", "x + 1 > x", "3 * x == x * 3", "x * 2 + 1 == 1 + 2 * x"],
)
def test_one_float_is_equal_to_itself(draw: str, comparison: str) -> None:
    assert law(f"{draw}; return bool({comparison})") == {True: 1.0}


def test_noise_that_counts_share_is_compared() -> None:
    assert law(
        "x = np.arange(3) + rng.laplace(); return int(np.argmax(x)), bool(x[0] == x[0])"
    ) == {(2, True): 1.0}


@pytest.mark.parametrize(
    "comparison", ["g / 49 * 49 == g", "g * 0.1 * 3 == g * 0.3", "g / 49 * 49 - g == 0"]
)
def test_whole_noise_is_asked_for_its_value(comparison: str) -> None:
    found = law(f"g = rng.geometric(0.5); return bool({comparison})")
    expected = sum(0.5**g for g in range(1, 60) if eval(comparison, {"g": g}))
    assert 0.01 < expected < 0.99
    assert found[True] == pytest.approx(expected, abs=1e-9)
