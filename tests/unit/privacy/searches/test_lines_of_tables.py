"""Code that looks at its data without noise breaks between two tables of a line (theory 1.2)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.claims import Claim
from liptest.privacy.searches.lines_of_tables import Descent, list_lines

ROWS = 150
COLUMNS = {"x": lt.Integer(0, 4), "region": lt.Category(["north", "south", "east"])}
REALS = {**COLUMNS, "y": lt.Real(-5, 5)}
OF_USERS = {**COLUMNS, "user": lt.Key()}
TABLES = {
    "replaced": lt.Table(COLUMNS, rows=ROWS),
    "added": lt.Table(COLUMNS, rows=ROWS, relation="add_remove"),
    "real": lt.Table(REALS, rows=ROWS),
    "real added": lt.Table(REALS, rows=ROWS, relation="add_remove"),
    "users": lt.Table(OF_USERS, rows=ROWS, unit="user"),
    "real users": lt.Table({**REALS, "user": lt.Key()}, rows=ROWS, unit="user"),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_steps_of_a_line_are_neighbours(table: lt.Table) -> None:
    for line in list_lines(table):
        tables = [line.at(step) for step in range(line.length + 1)]
        assert all(len(table.check_points(one[None, :])) for one in (tables[0], tables[-1]))
        pairs = itertools.pairwise(tables)
        assert all(table.distance(one[None, :], other[None, :])[0] == 1 for one, other in pairs)
    assert list(list_lines(table))


def test_tables_of_few_rows_have_no_lines() -> None:
    assert not list(list_lines(lt.Table(COLUMNS, rows=99)))
    assert not list(list_lines(lt.Hypercube(1_000)))


@pytest.mark.parametrize("at", [1, 2, 5, 40, 74, 75, 76, 111, 149, 150])
def test_the_step_at_which_outputs_change_is_found(at: int) -> None:
    table = TABLES["replaced"]

    def law(dataset: Any) -> list[float]:
        is_there = np.count_nonzero(dataset) >= at
        return [0.0, -np.inf] if is_there else [-np.inf, 0.0]

    mechanism = lt.ClosedForm([0, 1], lambda data: np.array([law(one) for one in data]))
    [line] = list_lines(table)
    [(left, right)] = Descent(mechanism, line, Claim(epsilon=1.0)).steepest()
    assert (np.count_nonzero(left), np.count_nonzero(right)) == (at - 1, at)


def most_frequent(frame: Any, rng: Any) -> Any:
    return frame["region"].mode()[0]


def clipped_at_a_quantile(frame: Any, rng: Any) -> Any:
    return frame["x"].clip(0, frame["x"].quantile(0.9)).sum() + rng.laplace(scale=4)


def without_outliers(frame: Any, rng: Any) -> Any:
    x = frame["y"] if "y" in frame else frame["x"] - 2
    x = x[(x - x.mean()).abs() < 3 * x.std()]
    return x.sum() + rng.laplace(scale=10)


def in_order(frame: Any, rng: Any) -> Any:
    return frame["x"].diff().abs().sum() + rng.laplace(scale=4)


def from_the_mean(frame: Any, rng: Any) -> Any:
    x = frame["x"] - frame.groupby("region")["x"].transform("mean")
    return x.clip(-1, 1).sum() + rng.laplace(scale=2)


def large_groups(frame: Any, rng: Any) -> Any:
    return frame.groupby("region").filter(lambda g: len(g) >= 5)["x"].sum() + rng.laplace(scale=4)


WRONG: list[tuple[Callable[[Any, Any], Any], str]] = [
    (most_frequent, "users"),
    (most_frequent, "real added"),
    (clipped_at_a_quantile, "replaced"),
    (without_outliers, "users"),
    (in_order, "replaced"),
    (in_order, "real"),
    (from_the_mean, "replaced"),
    (large_groups, "replaced"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("program", "name"), WRONG)
def test_code_that_looks_at_its_data_is_refuted(
    program: Callable[[Any, Any], Any], name: str
) -> None:
    mechanism = lt.mechanism(program).on_domain(TABLES[name])
    verdict = lt.check_privacy(mechanism, TABLES[name], epsilon=1, floats="ideal")
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.verify(mechanism)


@pytest.mark.slow
def test_a_mode_is_refuted_at_a_delta() -> None:
    verdict = lt.check_privacy(lt.mechanism(most_frequent), TABLES["real"], epsilon=1, delta=1e-5)
    assert verdict.decision == "NO"


def largest(frame: Any, rng: Any) -> Any:
    return frame["y"].max() + rng.laplace(scale=10)


@pytest.mark.slow
def test_private_code_that_is_not_followed_stays_open() -> None:
    verdict = lt.check_privacy(lt.mechanism(largest), TABLES["real"], epsilon=1, floats="ideal")
    assert verdict.decision == "INCONCLUSIVE"
