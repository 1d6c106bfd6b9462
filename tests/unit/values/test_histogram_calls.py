"""A histogram of one column is made of its different entries, whatever the others are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.values import column_functions


@lt.mechanism
def ages(frame: Any, rng: Any) -> Any:
    counts, edges = np.histogram(frame["age"], bins=[0, 2, 4, 6])
    return (counts + rng.laplace(scale=2, size=3)).tolist(), edges.tolist()


@pytest.mark.slow
def test_entries_are_looked_at_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    real = np.histogram

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        def histogram(self, array: Any, *rest: Any) -> Any:
            seen.extend(array.tolist())
            return real(array, *rest)

    monkeypatch.setattr(column_functions, "np", Counting())
    columns = {"age": lt.Integer(0, 6), "other": lt.Integer(0, 99)}
    verdict = lt.check_privacy(ages, lt.Table(columns, rows=1000), epsilon=1, floats="ideal")
    assert verdict.decision == "YES", str(verdict)
    assert verdict.largest_loss == pytest.approx(1)
    assert set(seen) == set(range(7))
    # Seven entries for each time that the program is followed, which are few.
    assert len(seen) % 7 == 0
    assert len(seen) < 700


EDGES = [np.arange(4), np.arange(3)]


@lt.mechanism
def table_by_edges(data: Any, rng: Any) -> Any:
    table, _, _ = np.histogram2d(data // 2, data % 2, bins=EDGES)
    return (table + rng.laplace(scale=2, size=table.shape)).tolist()


@lt.mechanism
def table_by_range(data: Any, rng: Any) -> Any:
    table, _, _ = np.histogram2d(data // 2, data % 2, bins=(3, 2), range=[[0, 2], [0, 1]])
    return table + rng.laplace(scale=2, size=(3, 2))


@lt.mechanism
def table_by_data(data: Any, rng: Any) -> Any:
    table, _, _ = np.histogram2d(data // 2, data % 2, bins=(3, 2))
    return table + rng.laplace(scale=2, size=(3, 2))


@pytest.mark.slow
@pytest.mark.parametrize("program", [table_by_edges, table_by_range])
def test_cells_of_two_columns(program: Any) -> None:
    domain = lt.RecordGrid([6] * 4000)
    verdict = lt.check_privacy(program, domain, epsilon=1, floats="ideal")
    assert verdict.decision == "YES", str(verdict)
    assert verdict.largest_loss == pytest.approx(1)
    assert lt.check_privacy(program, domain, epsilon=0.95, floats="ideal").decision == "NO"


def test_cells_whose_edges_are_of_the_data() -> None:
    domain = lt.RecordGrid([6] * 4000)
    verdict = lt.check_privacy(table_by_data, domain, epsilon=1, method="alignment")
    assert "edges that depend on the data" in verdict.reason
