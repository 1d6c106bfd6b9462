"""A share of many cases for the quick run of the tests; the others are slow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def mostly_slow(cases: Iterable[Any], every: int) -> list[Any]:
    """The first case and each ``every``-th after it as they are, the others marked slow."""
    marks = [pytest.mark.slow]
    return [
        case if number % every == 0 else pytest.param(case, marks=marks)
        for number, case in enumerate(cases)
    ]


def in_turns(cases: Iterable[Any], others: Iterable[Any], every: int) -> list[Any]:
    """Each case with one of the others, which take turns; ``mostly_slow`` of these."""
    turns = list(others)
    marks = [pytest.mark.slow]
    return [
        pytest.param(case, turns[number % len(turns)], marks=[] if number % every == 0 else marks)
        for number, case in enumerate(cases)
    ]
