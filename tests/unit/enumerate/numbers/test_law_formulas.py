"""Laws of whole numbers without an end are told as formulas, which are the laws that are listed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.cli.law import run_law
from liptest.cli.loading import load_mechanism

DATA = np.array([1, 1, 1, 0])
Program = Callable[[Any, Any], Any]


def two_sided(data: Any, rng: Any) -> Any:
    return int(data.sum() + rng.geometric(0.5) - rng.geometric(0.5))


def without_negatives(data: Any, rng: Any) -> Any:
    return max(0, int(data.sum()) + rng.geometric(0.25) - rng.geometric(0.5))


def summed(data: Any, rng: Any) -> Any:
    return int(data.sum()) + rng.geometric(0.3) + rng.geometric(0.3) - rng.geometric(0.5)


def value_of(lines: tuple[str, ...], n: int) -> float:
    """The formula at a number, read as it is printed."""
    for line in lines:
        words = line.partition("P(n) = ")[2]
        found = re.match(r"(.*) for (?:(-?\d+) <= )?n(?: (=|<=|>=) (-?\d+))?$", words)
        assert found is not None
        formula, low, sign, end = found.groups()
        holds = {"=": n == int(end), "<=": n <= int(end), ">=": n >= int(end)}[sign]
        if holds and (low is None or int(low) <= n):
            return float(eval(formula.replace("^", "**"), {"n": n}))
    return 0.0


@pytest.mark.slow
@pytest.mark.parametrize("program", [two_sided, without_negatives, summed])
def test_a_formula_is_the_law_that_is_listed(program: Program) -> None:
    law = lt.output_law(lt.mechanism(program), DATA)
    assert law.formula
    for output in range(-6, 20):
        assert value_of(law.formula, output) == pytest.approx(law.get(output, 0.0), abs=1e-9)


@pytest.mark.slow
def test_short_numbers_are_fractions() -> None:
    assert lt.output_law(lt.mechanism(two_sided), DATA).formula == (
        "whole number: P(n) = 1/3 * 2^(n - 3) for n <= 2",
        "whole number: P(n) = 1/3 * (1/2)^(n - 3) for n >= 3",
    )


@pytest.mark.slow
def test_rounded_noise_is_told_by_what_is_rounded() -> None:
    @lt.mechanism
    def rounded(data: Any, rng: Any) -> Any:
        return round(data.sum() - 2 * rng.logistic(0, 1.5))

    (line,) = lt.output_law(rounded, DATA).formula
    assert line == "whole number: P(n) = P(n <= -2 * logistic(3/2) + 7/2 < n + 1)"


def test_laws_with_an_end_have_no_formula() -> None:
    @lt.mechanism
    def finite(data: Any, rng: Any) -> Any:
        return bool(rng.random() < 0.5)

    assert lt.output_law(finite, DATA).formula == ()


@pytest.mark.slow
def test_the_command_prints_the_centre_and_the_formula(tmp_path: Any, capsys: Any) -> None:
    file = tmp_path / "noisy.py"
    file.write_text(
        "def noisy(data, rng):\n"
        "    return int(data.sum()) + rng.geometric(0.5) - rng.geometric(0.5)\n",
        encoding="utf-8",
    )
    assert run_law(f"{file}:noisy", None, 3, 5) == 0
    printed = capsys.readouterr().out
    numbers = [int(line.split()[0]) for line in printed.splitlines() if re.match(r"-?\d+\t", line)]
    assert numbers == list(range(-7, 14))
    assert "P(n) = 1/3 * (1/2)^(n - 3) for n >= 3" in printed
    assert "unexplored" not in printed
    assert math.isclose(load_mechanism(f"{file}:noisy")[0].law(DATA)[3], 1 / 3)
