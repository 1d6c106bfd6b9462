"""Certificates of claims on users: what they say of a domain, and what the small checker knows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import InputError
from liptest.evidence import check_witness
from liptest.evidence.domain_form import domain_to_dict, read_domain

COLUMNS: dict[str, Any] = {"user": lt.Key(), "spend": lt.Integer(0, 2)}
RELATIONS = ("replace", "add_remove")


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("at_most", [None, 2])
def test_a_domain_is_read_as_it_was_written(relation: str, at_most: int | None) -> None:
    table = lt.Table(COLUMNS, rows=4, unit="user", relation=relation, at_most=at_most)
    document = json.loads(json.dumps(domain_to_dict(table)))
    assert read_domain(document) == table
    with pytest.raises(InputError, match="does not fit the columns"):
        read_domain({**document, "kind": "table, a row replaced", "at_most": None})


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_small_checker_has_the_distances_of_the_domain(relation: str) -> None:
    table: Any = lt.Table(COLUMNS, rows=4, unit="user", relation=relation)
    document = domain_to_dict(table)
    rng = np.random.default_rng(1)
    for _ in range(200):
        left, right = table.draw(rng, 2), table.draw(rng, 2)
        if rng.random() < 0.7:
            right = np.where(table.users_in(left) == 0, 0, left)
        steps = int(table.distance(left, right)[0])
        witness = {"dataset": left.tolist(), "neighbour": right.tolist(), "distance": steps}
        if steps:
            assert check_witness._distance(document, witness) == steps
        else:
            with pytest.raises(check_witness.Unreadable, match="at distance 0"):
                check_witness._distance(document, witness)


REALS: dict[str, Any] = {"age": lt.Real(0, 120), "income": lt.Real(), "paid": lt.Bit()}


@pytest.mark.parametrize("unit", ["row", "user"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_tables_with_real_columns_are_written_read_and_compared(relation: str, unit: str) -> None:
    columns = REALS if unit == "row" else {**REALS, "user": lt.Key()}
    table: Any = lt.Table(columns, rows=4, unit=unit, relation=relation)
    document = json.loads(json.dumps(domain_to_dict(table)))
    assert read_domain(document) == table
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(200):
        left = table.draw(rng, 2)
        right = np.array(left).reshape(4, -1)
        row = int(rng.integers(4))
        if rng.random() < 0.5:
            right[row] = table.draw(rng, 2).reshape(4, -1)[row]
        elif not table.is_full:
            right[row] = 0
        right = right.reshape(-1)
        steps = int(table.distance(left, right)[0])
        seen.add(steps)
        witness = {"dataset": left.tolist(), "neighbour": right.tolist(), "distance": steps}
        if steps:
            assert check_witness._distance(document, witness) == steps
    assert {0, 1} <= seen
    far = table.made([table.slot(0, 1)] * 4, {"age": 121.0}).tolist()
    near = table.made([table.slot(0, 1)] * 4, {"age": [120.0, 121.0, 121.0, 121.0]}).tolist()
    witness = {"dataset": far, "neighbour": near, "distance": 1}
    with pytest.raises(check_witness.Unreadable, match=r"121\.0 in a column of 0"):
        check_witness._distance(document, witness)


def test_a_user_of_too_many_rows_is_no_witness() -> None:
    table: Any = lt.Table(COLUMNS, rows=4, unit="user", at_most=1)
    rows = [table.slot(0, 1), table.slot(0, 2), 0, 0]
    witness = {"dataset": rows, "neighbour": [0] * 4, "distance": 1}
    with pytest.raises(check_witness.Unreadable, match="more than 1 rows of one user"):
        check_witness._distance(domain_to_dict(table), witness)


def test_rows_of_a_user_are_counted_beside_real_numbers() -> None:
    columns = {"age": lt.Real(-1, 120), "paid": lt.Bit(), "user": lt.Key()}
    table: Any = lt.Table(columns, rows=3, unit="user", relation="add_remove", at_most=1)

    def distance(*users: int) -> int:
        slots = [table.slot(user, 1) for user in users]
        left = table.made([*slots, table.slot(2, 1)], {"age": 3.0}).tolist()
        right = table.made([*slots, 0], {"age": [3.0, 3.0, 0.0]}).tolist()
        right[-(len(right) // 3) :] = [0] * (len(right) // 3)
        witness = {"dataset": left, "neighbour": right, "distance": 1}
        return check_witness._distance(domain_to_dict(table), witness)

    assert distance(0, 1) == 1
    with pytest.raises(check_witness.Unreadable, match="more than 1 rows of one user"):
        distance(0, 0)


@pytest.mark.parametrize("unit", ["row", "user"])
def test_rows_that_a_table_of_real_columns_cannot_have(unit: str) -> None:
    columns = {"age": lt.Real(-1, 120), "paid": lt.Bit()}
    if unit == "user":
        columns["user"] = lt.Key()
    for relation in RELATIONS:
        table: Any = lt.Table(columns, rows=2, unit=unit, relation=relation)
        document = domain_to_dict(table)
        slots = [table.slot(0, 1)] * 2
        good = table.made(slots, {"age": 3.0}).tolist()
        width = len(good) // 2

        def distance(*sides: list[int], document: Any = document) -> int:
            witness = {"dataset": sides[0], "neighbour": sides[1], "distance": 1}
            return check_witness._distance(document, witness)

        numbers = ((3.0, False), (-1.0, True), (120.0, True), (121.0, False), (-1.5, False))
        for number, is_held in numbers:
            other = table.made(slots, {"age": [3.0, number]}).tolist()
            if relation == "replace" and is_held:
                assert distance(good, other) == distance(other, good) == 1
            elif number != 3.0 and not is_held:
                for sides in ((good, other), (other, good)):
                    with pytest.raises(check_witness.Unreadable, match=r"in a column of -1\.0 to"):
                        distance(*sides)
        # A slot without a row holds no numbers, and a table of fixed length has none.
        empty, ghost = [*good[:width], *[0] * width], [*good[:width], 0, *good[width + 1 :]]
        one = [*good[:width], *table.made([table.slot(1, 1)] * 2, {"age": 3.0}).tolist()[:width]]
        if relation == "add_remove":
            whole = good if unit == "row" else one
            assert distance(whole, empty) == distance(empty, whole) == 1
        for wrong in [ghost] + [empty] * (relation == "replace" and unit == "row"):
            with pytest.raises(check_witness.Unreadable, match="is not a row of the table"):
                distance(good, wrong)
