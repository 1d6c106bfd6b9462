"""Rows of tables that are treated one by one: against whole laws, and against pandas row by row."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.python_function import PythonFunction
from liptest.enumerate.records.row_replay import _agree
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.enumerate.trees.outputs import Fields
from liptest.errors import InputError
from liptest.privacy.proofs.table_rows import rows_by
from liptest.values.pandas.row_frames import UnseenPlace, frame_of_rows
from liptest.values.records.rows import NotByRecords, RowRun
from tests.shares import mostly_slow
from tests.unit.enumerate import table_row_programs as programs

COLUMNS: dict[str, Any] = {
    "age": lt.Integer(0, 8, step=4),
    "smoker": lt.Bit(),
    "kind": lt.Category(["a", "b"]),
}
TABLE = lt.Table(COLUMNS, rows=1000)
REAL = lt.Table({"pay": lt.Real(0, 100), "smoker": lt.Bit()}, rows=1000)


def by_records(function: Any, table: Any = TABLE, **claim: Any) -> Any:
    mechanism = lt.mechanism(name=function.__name__)(function)
    return lt.check_privacy(
        mechanism, table, method="per-record", seed=1, **claim or {"epsilon": 1}
    )


def entries(output: Any) -> Any:
    """The places of an output, one for each row."""
    if not isinstance(output, Fields):
        return output
    held = dict(output.values)["values"]
    return tuple(zip(*held, strict=True)) if output.kind == "DataFrame" else held


@pytest.mark.slow
@pytest.mark.parametrize("function", programs.EXACT, ids=lambda f: f.__name__)
def test_the_law_of_all_rows_is_the_product(function: Any) -> None:
    table = lt.Table(COLUMNS, rows=2)
    mechanism = PythonFunction(function).on_domain(table)
    for dataset in (np.array([0, 11]), np.array([5, 6])):
        one = mechanism.of_one_record(dataset)
        assert one is not None
        laws: list[Any] = [one.law(dataset[place : place + 1]) for place in range(2)]
        whole = mechanism.law(dataset)
        found = {entries(output): whole.exact(output) for output in whole.outputs}
        expected = {
            pair: math.prod(
                (law.exact(out) for law, out in zip(laws, pair, strict=True)), start=Fraction(1)
            )
            for pair in itertools.product(*(law.outputs for law in laws))
        }
        assert {k: p for k, p in found.items() if p} == {k: p for k, p in expected.items() if p}


@pytest.mark.slow
@pytest.mark.parametrize("function", programs.EXACT[:-1], ids=lambda f: f.__name__)
def test_randomised_response_has_the_loss_of_one_answer(function: Any) -> None:
    found = by_records(function, epsilon=1.1)
    assert found.decision == "YES"
    assert found.largest_loss == pytest.approx(math.log(3))
    assert by_records(function, epsilon=1.09).decision == "NO"


@pytest.mark.slow
@pytest.mark.parametrize("function", programs.PRIVATE, ids=lambda f: f.__name__)
def test_noise_for_each_row_is_proved(function: Any) -> None:
    assert by_records(function, epsilon=1).decision == "YES"
    if function not in (programs.noisy_mean, programs.noisy_in_order):  # later code may lessen it
        assert by_records(function, epsilon=0.9).decision == "NO"


@pytest.mark.slow
@pytest.mark.parametrize("function", programs.LEAKING, ids=lambda f: f.__name__)
def test_what_one_row_gives_away_is_refuted(function: Any) -> None:
    found = by_records(function)
    assert found.decision == "NO"
    assert found.witness.verify(lt.mechanism(function).on_domain(TABLE))
    assert len(found.witness.changed) == 1


@pytest.mark.parametrize("function", mostly_slow(programs.JOINT, 5), ids=lambda f: f.__name__)
def test_rows_that_meet_are_refused(function: Any) -> None:
    with pytest.raises(InputError, match="method='per-record'"):
        by_records(function, epsilon=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("function", programs.REAL_PRIVATE, ids=lambda f: f.__name__)
def test_real_columns_have_the_price_of_one_row(function: Any) -> None:
    found = by_records(function, REAL, epsilon=1)
    assert found.decision == "YES"
    assert "Priced the noise of one record" in str(found)
    assert "0 pair" not in str(found)
    assert by_records(function, REAL, epsilon=0.9).decision == "NO"


@pytest.mark.slow
@pytest.mark.parametrize("function", programs.REAL_LEAKING, ids=lambda f: f.__name__)
def test_real_columns_that_are_given_away_are_refuted(function: Any) -> None:
    found = by_records(function, REAL)
    assert found.decision == "NO"
    assert found.witness.verify(lt.mechanism(function).on_domain(REAL))
    left, right = (np.array(side) for side in (found.witness.dataset, found.witness.neighbour))
    assert REAL.distance([left], [right]).tolist() == [1]


@pytest.mark.slow
def test_columns_that_meet_noise_together_are_not_one_number() -> None:
    with pytest.raises(InputError, match="method='per-record'"):
        by_records(programs.real_and_whole_at_once, REAL)


@pytest.mark.parametrize(
    "table",
    [
        lt.Table(COLUMNS, rows=1000, relation="add_remove"),
        lt.Table({**COLUMNS, "who": lt.Key()}, rows=1000, unit="who", at_most=2),
    ],
    ids=["added rows", "users"],
)
def test_rows_that_come_and_go_are_not_treated_one_by_one(table: Any) -> None:
    with pytest.raises(InputError, match="method='per-record'"):
        by_records(programs.noisy_column, table)


def big(frame: Any, rng: Any) -> Any:
    """Of 24,000 rows those that differ in one column are looked at."""
    return frame["age"] + rng.laplace(0, 100, len(frame))


@pytest.mark.slow
def test_rows_differ_in_the_columns_that_are_read() -> None:
    columns = {"age": lt.Integer(0, 100), "a": lt.Integer(0, 99), "b": lt.Bit()}
    found = by_records(big, lt.Table(columns, rows=50))
    assert found.decision == "YES"
    assert found.cost.pairs == 101 * 100 // 2


@pytest.mark.parametrize("ends", [False, True])
def test_rows_by_columns(ends: bool) -> None:
    table = lt.Table(COLUMNS, rows=3)
    rows = rows_by(table, {"age", "kind"}, ends=ends)
    found = [table.row(int(row)) for row in rows]
    ages = [0, 8] if ends else [0, 4, 8]
    assert found == [{"age": a, "smoker": 0, "kind": k} for a in ages for k in "ab"]


# ---- entry by entry as pandas does it

FRAME = TABLE.resized(12).frame(np.arange(12))
EXPRESSIONS: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda f: (f["age"] * 2 - 1) / 4 + f.smoker,
    "reflected": lambda f: 1 - f["smoker"] + 2 ** f["smoker"],
    "by a number": lambda f: f["age"] // 3 + f["age"] % 3,
    "texts": lambda f: (f["kind"] == "a") & (f["kind"] != "b"),
    "with truth": lambda f: f["smoker"] ^ (f["age"] > 3),
    "not": lambda f: ~(f["age"] >= 4) | (f["smoker"] == 1),
    "isin": lambda f: f["kind"].isin(["b", "c"]),
    "isin numbers": lambda f: f["age"].isin([4, 5]),
    "between": lambda f: f["age"].between(1, 4, inclusive="left"),
    "clip": lambda f: f["age"].clip(1, 5).abs(),
    "numpy clip": lambda f: np.clip(f["age"], 1, None),
    "numpy where": lambda f: np.where(f["age"] > 3, f["smoker"], f["age"]),
    "where": lambda f: f["age"].where(f["smoker"] == 1, 9.5),
    "mask": lambda f: f["age"].mask(f["smoker"] == 1, f["smoker"]),
    "texts chosen": lambda f: f["kind"].where(f["smoker"] == 1, "z"),
    "round": lambda f: (f["age"] / 3).round(1),
    "as type": lambda f: (f["age"] / 3).astype(int) + (f["age"] > 1).astype("float64"),
    "map": lambda f: f["kind"].map({"a": 1, "b": 2.5}),
    "map to texts": lambda f: f["age"].map({0: "x", 4: "y", 8: "z"}),
    "numbers": lambda f: np.sqrt(f["age"]).to_numpy(),
    "values": lambda f: f["age"].values.astype(float).tolist(),
    "frame": lambda f: f[["age", "smoker"]] * 2 + 1,
    "frames": lambda f: (f[["age", "smoker"]] - f[["age", "smoker"]].clip(0, 1)).round(),
    "assign": lambda f: f.assign(one=1, both=lambda own: own.age + own["one"]),
    "drop": lambda f: f.drop(columns=["age"]).rename(columns={"smoker": "s"}),
    "set_index": lambda f: f.set_index("kind")[["age"]],
    "reset_index": lambda f: f.set_index("kind").reset_index(drop=True),
    "to_numpy": lambda f: f[["age", "smoker"]].to_numpy(),
    "records": lambda f: f.to_dict("records"),
    "dict": lambda f: f[["age", "kind"]].to_dict(),
    "lists": lambda f: f.to_dict("list"),
    "series": lambda f: {"a": f["age"], "k": f["kind"]},
    "new index": lambda f: with_index(f["smoker"].copy(), f["age"]),
    "written": lambda f: written(f),
    "pipe": lambda f: f.pipe(lambda own: own["age"] * 1.5).rename("x"),
}


def with_index(series: Any, keys: Any) -> Any:
    series.index = keys
    series.name = "told"
    return series


def written(frame: Any) -> Any:
    frame.loc[frame["smoker"] == 1, "age"] = 3
    frame["age"] += 1
    frame.smoker = frame["age"] * 2
    return frame


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_one_row_is_what_pandas_makes_of_it(name: str) -> None:
    make = EXPRESSIONS[name]
    real = make(FRAME.copy())
    table = TABLE.resized(1)
    for place in range(len(FRAME)):
        rows = RowRun(ChoiceTree(name), len(FRAME))
        alone = make(frame_of_rows(table.entries(np.array([place])), rows, lambda _: None))
        assert _agree(real, alone, place, len(FRAME))


REFUSED: dict[str, Callable[[Any], Any]] = {
    "sum": lambda f: f["age"].sum(),
    "mean of a frame": lambda f: f[["age"]].mean(),
    "order": lambda f: f.sort_values("age"),
    "rows": lambda f: f[f["age"] > 3],
    "first rows": lambda f: f.head(3),
    "by place": lambda f: f["age"].iloc[0],
    "shift": lambda f: f["age"].shift(1),
    "by 0": lambda f: f["age"] // f["smoker"],
    "two types": lambda f: f["age"].where(f["smoker"] == 1, "x"),
    "missing": lambda f: f["kind"].map({"a": 1}),
    "truth": lambda f: bool(f["age"].all()),
    "in": lambda f: 3 in f["age"],
    "keys": lambda f: f.set_index("kind")["age"] + 1,
    "keys looked at": lambda f: f.index[0],
    "places": lambda f: f.assign(place=np.arange(len(f))),
    "attribute": lambda f: setattr(f["age"], "note", 1),
    "unknown option": lambda f: f["age"].clip(0, 1, axis=0),
    "text order": lambda f: f["kind"] < "b",
    "truths added": lambda f: (f["age"] > 1) - (f["age"] > 2),
    "walked": lambda f: list(iter(f["age"])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_looks_at_other_rows_is_refused(name: str) -> None:
    tree = ChoiceTree(name)
    rows = RowRun(tree, 12)
    with pytest.raises(BaseException) as told:
        REFUSED[name](frame_of_rows(TABLE.resized(1).entries(np.array([3])), rows, lambda _: None))
    assert isinstance(tree.failure or told.value, NotByRecords)


@pytest.mark.parametrize(
    "use",
    [
        *(lambda p: p == 0, lambda p: p != 0, lambda p: p < 1, bool, int, float, hash, str, repr),
        *(lambda p: p + 1, lambda p: 1 - p, lambda p: [1, 2][p], lambda p: f"{p}", np.asarray),
        *(lambda p: np.add(p, 1), lambda p: p in [0], lambda p: p.bit_length(), lambda p: {p: 1}),
    ],
)
def test_where_a_row_stands_is_not_looked_at(use: Any) -> None:
    tree = ChoiceTree("place")
    with pytest.raises(BaseException):  # noqa: B017
        use(UnseenPlace(RowRun(tree, 12)))
    assert isinstance(tree.failure, NotByRecords)
