"""Claim 4.8 of the paper: rounding is safe - one way of it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from liptest.lipschitz.repair import Table, round_to_step
from paper.rows import ClaimRow, scaled

Rounding = Callable[[Table, Fraction], Table]
_FINENESS = 20
_STEPS = 12


def claim_4_8(share: float = 1.0) -> list[ClaimRow]:
    """All rationals of small denominator; then two readings under which the claim fails."""
    whole = [Fraction(1, k) for k in range(1, scaled(_STEPS, share) + 1)]
    broken = [Fraction(2, 5), Fraction(3, 10), Fraction(2, 3), Fraction(3, 4)]
    where = f"steps 1, 1/2 .. {whole[-1]}"
    return [
        _row("Claim 4.8: rounding is safe, ties upwards", where, whole, round_to_step, True),
        _row("Claim 4.8 with ties to even", where, whole, _half_even, False),
        _row(
            "Claim 4.8 when 1/step is not a whole number",
            "steps " + ", ".join(map(str, broken)),
            broken,
            round_to_step,
            False,
        ),
    ]


def _row(
    claim: str, where: str, steps: list[Fraction], rounding: Rounding, expected: bool
) -> ClaimRow:
    pairs, failed, example = 0, 0, ""
    for step in steps:
        count, gaps, first = _broken_pairs(step, rounding)
        pairs, failed = pairs + count, failed + gaps
        example = example or first
    checked = f"{pairs:,} pairs: {where}; all a, b with |a-b| <= 1 in [0, 3], in {_FINENESS}ths"
    result = f"{failed:,} pairs end up further apart than 1" + (f"; {example}" if example else "")
    return ClaimRow(claim, checked + " of a step", result, failed == 0, expected)


def _broken_pairs(step: Fraction, rounding: Rounding) -> tuple[int, int, str]:
    """Pairs looked at, pairs broken, the first of them."""
    fine = step / _FINENESS
    values = np.array([fine * i for i in range(int(3 / fine) + 1)], dtype=object)
    rounded = rounding(values, step)
    count, failed, example = 0, 0, ""
    for hop in range(int(1 / fine) + 1):
        count += len(values) - hop
        wrong = np.flatnonzero(rounded[hop:] - rounded[: len(values) - hop] > 1)
        failed += len(wrong)
        if len(wrong) and not example:
            i = int(wrong[0])
            a, b, c, d = values[i], values[i + hop], rounded[i], rounded[i + hop]
            example = f"step {step}: {a} -> {c}, {b} -> {d}"
    return count, failed, example


def _half_even(table: Table, range_step: Fraction) -> Table:
    return np.array([round(value / range_step) * range_step for value in table], dtype=object)
