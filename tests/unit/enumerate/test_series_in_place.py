"""``series += noise``, which pandas does by a way of its own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt

PEOPLE = lt.Table({"group": lt.Integer(0, 2), "member": lt.Bit()}, rows=300)
ONE = np.array([0])


def other_name_too(data: Any, rng: Any) -> Any:
    series = pd.Series([1, 2], index=["a", "b"])
    same = series
    series += rng.integers(0, 2, size=2)
    series *= 2
    return same.tolist(), list(series.index)


def column_of_a_frame(data: Any, rng: Any) -> Any:
    frame = pd.DataFrame({"count": [1, 2]})
    frame["count"] -= rng.integers(0, 3)
    frame.loc[frame["count"] < 0, "count"] = 0
    return frame["count"].tolist()


def by_a_plain_number(data: Any, rng: Any) -> Any:
    series = pd.Series([1.0, 2.0])
    series /= 2
    return series.tolist(), int(rng.integers(0, 2))


LAWS: list[tuple[Any, dict[Any, Fraction]]] = [
    (
        other_name_too,
        {((a, b), ("a", "b")): Fraction(1, 4) for a in (2, 4) for b in (4, 6)},
    ),
    (column_of_a_frame, {pair: Fraction(1, 3) for pair in ((1, 2), (0, 1), (0, 0))}),
    (by_a_plain_number, {((0.5, 1.0), coin): Fraction(1, 2) for coin in (0, 1)}),
]


@pytest.mark.parametrize(("program", "expected"), LAWS)
def test_the_law_is_that_of_pandas(program: Any, expected: dict[Any, Fraction]) -> None:
    law = lt.output_law(lt.mechanism(program), ONE)
    assert {output: law.exact(output) for output in law.outputs} == expected


def counts_that_occur(frame: Any, rng: Any) -> Any:
    counts = frame.groupby(["group", "member"]).size().reset_index(name="count")
    counts["count"] += np.random.laplace(0, scale=1, size=counts.index.size)
    return counts["count"].tolist()


def no_data(frame: Any, rng: Any) -> Any:
    counts = pd.DataFrame({"count": [1.0, 2.0, 3.0]})
    counts["count"] += rng.laplace(0, scale=1, size=3)
    return counts["count"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("program", "decision"), [(counts_that_occur, "NO"), (no_data, "YES")])
def test_real_noise_is_followed(program: Any, decision: str) -> None:
    assert lt.check_privacy(lt.mechanism(program), PEOPLE, epsilon=1).decision == decision
