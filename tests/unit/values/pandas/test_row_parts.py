"""Rows of a frame by their places: loss by brute force over all pairs of small tables."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import liptest as lt

Statistic = Callable[[Any], list[Any]]
SMALL = lt.Table({"x": lt.Integer(0, 2), "kind": lt.Category(["a", "b"])}, rows=4)
LARGE = lt.Table({"x": lt.Integer(0, 9), "kind": lt.Category(["a", "b"])}, rows=5000)


def halves(frame: Any) -> list[Any]:
    middle = len(frame) // 2
    return [frame[:middle]["x"].sum(), (frame.iloc[middle:]["kind"] == "a").sum()]


def overlapping(frame: Any) -> list[Any]:
    return [frame.iloc[:3]["x"].sum(), frame["x"].iloc[2:].sum()]


def strided(frame: Any) -> list[Any]:
    return [frame.iloc[::2]["x"].sum(), frame["x"].iloc[1::2].clip(0, 1).sum()]


def first_and_last(frame: Any) -> list[Any]:
    return [frame.head(1)["x"].sum(), frame["x"].tail(3).sum(), frame.tail(-1)["x"].sum()]


def selected(frame: Any) -> list[Any]:
    part = frame.iloc[1:3].assign(y=lambda rows: rows["x"] * 2)
    return [part[part["kind"] == "b"]["y"].sum(), part["y"].mean()]


def block_means(frame: Any) -> list[Any]:
    means = [frame.iloc[k : k + 2]["x"].mean() for k in range(0, len(frame), 2)]
    return [np.mean(np.clip(means, 0, 1))]


def counted(frame: Any) -> list[Any]:
    part = frame.iloc[:2]
    counts = part.groupby("kind").size().reindex(["a", "b"], fill_value=0)
    return [*counts, sum(1 for x in part["x"] if x > 0)]


def with_noise(statistic: Statistic) -> Any:
    def tested(frame: Any, rng: Any) -> list[Any]:
        return [answer + rng.laplace(0, 1) for answer in statistic(frame)]

    return lt.mechanism(tested, name=statistic.__name__)


def largest_change(statistic: Statistic) -> float:
    points = list(product(range(6), repeat=4))
    answers = {
        point: np.array(statistic(SMALL.frame(np.array(point))), dtype=float) for point in points
    }
    return max(
        float(np.abs(answers[point] - answers[(*point[:k], other, *point[k + 1 :])]).sum())
        for point in points
        for k in range(4)
        for other in range(6)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "statistic", [halves, overlapping, strided, first_and_last, selected, block_means, counted]
)
def test_the_loss_is_that_of_the_worst_tables(statistic: Statistic) -> None:
    exact, tested = largest_change(statistic), with_noise(statistic)
    assert lt.check_privacy(tested, SMALL, epsilon=exact, method="alignment").decision == "YES"
    assert (
        lt.check_privacy(tested, SMALL, epsilon=0.97 * exact, method="alignment").decision != "YES"
    )


@pytest.mark.slow
def test_blocks_of_many_rows_are_proved() -> None:
    def blocks(frame: Any, rng: Any) -> Any:
        means = [frame.iloc[k : k + 500]["x"].mean() for k in range(0, len(frame), 500)]
        return np.mean(np.clip(means, 2, 8)) + rng.laplace(0, 9 / 5000)

    verdict = lt.check_privacy(lt.mechanism(blocks), LARGE, epsilon=1.0)
    assert verdict.decision == "YES"
    assert verdict.guarantee.kind == "proof"


@pytest.mark.parametrize(
    "use",
    [
        lambda frame: (frame["x"].iloc[:2] + frame["x"].iloc[2:]).sum(),
        lambda frame: (frame["x"].iloc[:2] + frame["x"]).sum(),
        lambda frame: frame.iloc[:2][frame["x"] > 1]["x"].sum(),
        lambda frame: frame[frame["x"] > 1].iloc[:2]["x"].sum(),
        lambda frame: frame.iloc[frame["x"].sum() :]["x"].sum(),
        lambda frame: frame.iloc[0]["x"],
        lambda frame: frame.iloc[[0, 1]]["x"].sum(),
    ],
)
def test_what_pandas_does_by_the_index_is_not_followed(use: Any) -> None:
    def tested(frame: Any, rng: Any) -> Any:
        return use(frame) + rng.laplace(0, 1)

    verdict = lt.check_privacy(lt.mechanism(tested), LARGE, epsilon=100.0, method="alignment")
    assert verdict.decision == "INCONCLUSIVE"
