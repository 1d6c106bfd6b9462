"""Selections by places and their shapes, tables of two columns, and centres that are drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.shares import mostly_slow
from tests.unit.values.frame_prices import check_price, price_of
from tests.unit.written_programs import program

TABLE: Any = lt.Table({"x": lt.Real(-1, 1), "z": lt.Real(-1, 1), "m": lt.Bit()}, rows=50)
EDGES = [-1.0, 0.0, 0.5, 1.0]


def rows_of(frame: Any) -> Any:
    return frame[["x", "z"]].to_numpy()


def by_places(frame: Any) -> Any:
    return tuple(rows_of(frame)[np.where(frame["m"].to_numpy() == 1)[0]].sum(axis=0))


def by_all_places(frame: Any) -> Any:
    return rows_of(frame)[np.where(frame["m"].to_numpy() == 1)][:, 0].sum()


def by_flat_places(frame: Any) -> Any:
    x = frame["x"].to_numpy()
    return x[np.flatnonzero(x > 0)].sum()


def of_a_line(frame: Any) -> Any:
    own = frame["m"].to_numpy()
    return own[np.nonzero(own)[0]].sum()


def of_two_axes(frame: Any) -> Any:
    return tuple(np.atleast_2d(np.asarray(rows_of(frame), dtype=float)).sum(axis=0))


def shape_of_rows(frame: Any) -> Any:
    count, width = rows_of(frame)[frame["m"].to_numpy() == 1].shape
    return count * width


def shape_of_a_line(frame: Any) -> Any:
    own = frame["m"].to_numpy()
    return own[own == 1].shape[0] + 0.0


def in_a_table(frame: Any) -> Any:
    x, z = frame["x"].to_numpy(), frame["z"].to_numpy()
    counts, *_ = np.histogram2d(x, z, bins=[EDGES, [-1, 1]])
    return tuple(counts.ravel())


#: The largest change of one record.
SELECTED: dict[str, tuple[Callable[[Any], Any], float]] = {
    "places": (by_places, 4.0),
    "all places": (by_all_places, 2.0),
    "flat places": (by_flat_places, 1.0),
    "a line": (of_a_line, 1.0),
    "two axes": (of_two_axes, 4.0),
    "shape of rows": (shape_of_rows, 2.0),
    "shape of a line": (shape_of_a_line, 1.0),
    "a table": (in_a_table, 2.0),
}


@pytest.mark.parametrize("name", mostly_slow(SELECTED, 3))
def test_selections_cost_the_largest_change(name: str) -> None:
    expression, change = SELECTED[name]
    assert price_of(expression, TABLE) == pytest.approx(change, rel=1e-9)


@pytest.mark.parametrize("bins", ["4", "np.array([4, 4])", "[4, 4]", "[EDGES, 4]"])
def test_edges_of_the_data_are_refused(bins: str) -> None:
    columns = "data['x'].to_numpy(), data['z'].to_numpy()"
    text = (
        f"counts = np.histogram2d({columns}, bins={bins})[0]\n"
        "return counts + rng.laplace(0, 2, counts.shape)"
    )
    mechanism = lt.mechanism(program(text, EDGES=EDGES)).on_domain(TABLE)
    alignment = align(mechanism, TABLE)
    assert alignment.price is None
    assert "edges" in alignment.reason


@pytest.mark.parametrize("told", ["own.shape[0]", "own.shape", "own.shape[0] == 0"])
def test_the_length_of_a_selection_is_not_told(told: str) -> None:
    text = f"x = data['x'].to_numpy()\nown = x[x > 0]\nreturn {told}"
    assert align(lt.mechanism(program(text)).on_domain(TABLE), TABLE).epsilon == math.inf


CENTRES = (
    "rows = np.clip(data[['x', 'z']].to_numpy(), -1, 1)\n"
    "centres = {start}\n"
    "for _ in range({steps}):\n"
    "    away = ((rows[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)\n"
    "    nearest = np.argmin(away, axis=1)\n"
    "    for k in range(2):\n"
    "        own = nearest == k\n"
    "        total = rows[own].sum(axis=0) + rng.laplace(0, 6, 2)\n"
    "        count = float(own.sum()) + rng.laplace(0, 6)\n"
    "        if count < 1.0:\n"
    "            centres[k] = rng.uniform(-1, 1, 2)\n"
    "        else:\n"
    "            centres[k] = np.clip(total / count, -1, 1)\n"
    "return centres"
)
DRAWN = {
    "uniform": "rng.uniform(-1.0, 1.0, size=(2, 2))",
    "random": "2 * rng.random((2, 2)) - 1",
    "normal": "np.clip(rng.normal(0, 1, (2, 2)), -1, 1)",
}


@pytest.mark.slow
@pytest.mark.parametrize("start", DRAWN)
def test_clusters_begin_at_centres_that_are_drawn(start: str) -> None:
    """A record moves two sums of two numbers by 1 each, and two counts by 1."""
    text = CENTRES.format(start=DRAWN[start], steps=1)
    found = align(lt.mechanism(program(text)).on_domain(TABLE), TABLE)
    assert found.epsilon == pytest.approx(1.0, rel=1e-9)


@pytest.mark.slow
def test_two_steps_of_clusters_cost_twice_as_much() -> None:
    """Sums that are too many for corners are in groups of a step each (theory, size, S21)."""
    text = CENTRES.format(start=DRAWN["uniform"], steps=2)
    mechanism = lt.mechanism(program(text)).on_domain(TABLE)
    assert align(mechanism, TABLE).epsilon == pytest.approx(2.0, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["places", "flat places", "a line"])
def test_prices_are_the_largest_change_by_pandas(name: str) -> None:
    finite: Any = lt.Table({"x": lt.Integer(-1, 1), "z": lt.Integer(0, 2), "m": lt.Bit()}, rows=2)

    def single(frame: Any) -> Any:
        made = SELECTED[name][0](frame)
        return made[0] if isinstance(made, tuple) else made

    check_price(single, finite)


@pytest.mark.parametrize("place", mostly_slow([-1.5, 1.0, 0.0, 0.25, 0.5, -1.0, 1.5], 3))
def test_numbers_on_the_edges_are_in_the_bins_of_numpy(place: float) -> None:
    """A record at the place and one beside all bins: what changes is the bin of the place."""
    told = "np.histogram2d(data['x'].to_numpy(), data['z'].to_numpy(), bins=[EDGES, [0, 1]])[0]"
    table: Any = lt.Table({"x": lt.Real(place, place), "z": lt.Real(0, 2)}, rows=2)
    counts = np.histogram2d([place], [0.0], bins=[EDGES, [0, 1]])[0]
    text = f"return ({told} * np.array([[1.0], [2.0], [4.0]])).sum() + rng.laplace()"
    mechanism = lt.mechanism(program(text, EDGES=EDGES)).on_domain(table)
    weight = float((counts * [[1.0], [2.0], [4.0]]).sum())
    assert align(mechanism, table).epsilon == pytest.approx(weight, abs=1e-9)
