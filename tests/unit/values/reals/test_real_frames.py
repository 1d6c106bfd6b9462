"""Frames with real columns against pandas: what a change of one row does to an answer.

The oracle is pandas on rows at all numbers that matter, their neighbours among the floats, and
others. A price below the largest change that is found would be a false proof.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.enumerate.symbols.real_rows import exact_sum
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.errors import DatasetError, InputError
from liptest.privacy.proofs.prices import align
from liptest.values.reals.recipes import RowCondition, find_cuts
from liptest.values.records.row_cells import RowCells
from tests.unit.values.frame_prices import price_of

REGIONS = ["north", "south"]
COLUMNS: dict[str, Any] = {
    "age": lt.Real(-2, 10),
    "income": lt.Real(),
    "region": lt.Category(REGIONS),
}
RELATIONS = ("replace", "add_remove")
UP, DOWN = (lambda one: math.nextafter(one, math.inf)), (lambda one: math.nextafter(one, -math.inf))
EDGES, BANDS = [0, 3, 10], ["low", "high"]
AGES = (-2.0, 0.0, 1.3, 3.0, UP(3.0), DOWN(3.0), 7.0, UP(7.0), 10.0)
INCOMES = (-1e300, 0.0, 0.7, 5.0, UP(5.0), 1e300)


def table_of(relation: str = "replace", rows: int = 2, **options: Any) -> Any:
    columns = {**COLUMNS, "user": lt.Key()} if options else COLUMNS
    return lt.Table(columns, rows=rows, relation=relation, **options)


# Each is some numbers of a frame; its largest change is found at the rows above.
EXACT: dict[str, Callable[[Any], Any]] = {
    "sum": lambda f: f["age"].sum(),
    "clipped": lambda f: f["income"].clip(0, 5).sum(),
    "np.clip": lambda f: np.clip(f["income"], -1, 5).sum(),
    "clipped above only": lambda f: f["age"].clip(upper=3).sum(),
    "clipped twice": lambda f: f["income"].clip(-7, 7).clip(0, 9).sum(),
    "bounds in the other order": lambda f: f["income"].clip(5, 0).sum(),
    "rows": lambda f: len(f),
    "count": lambda f: (f["age"] > 3).sum(),
    "at least": lambda f: (f["age"] >= 3).sum(),
    "equal": lambda f: (f["age"] == 3).sum(),
    "never": lambda f: (f["age"] > 11).sum() + len(f),
    "selected": lambda f: len(f[f["income"] > 5]),
    "selected sum": lambda f: f[f["age"] > 3]["age"].sum(),
    "selected by another": lambda f: f[f["age"] <= 3]["income"].clip(0, 5).sum(),
    "selected by name": lambda f: f[f["region"] == "north"]["age"].sum(),
    "between": lambda f: f["age"].between(3, 7).sum(),
    "two bins": lambda f: ((f["age"] <= 3).sum(), (f["age"] > 3).sum()),
    "three bins": lambda f: tuple(
        ((f["age"] >= low) & (f["age"] < low + 4)).sum() for low in (-1, 3, 7)
    ),
    "sum and count": lambda f: (f[f["age"] > 3]["age"].sum(), (f["age"] > 3).sum()),
    "affine": lambda f: (2 * f["age"] - 3).sum(),
    "minus": lambda f: (1 - f["age"]).sum(),
    "absolute": lambda f: f["age"].abs().sum(),
    "square": lambda f: (f["age"] ** 2).sum(),
    "product": lambda f: (f["age"] * f["income"].clip(0, 5)).sum(),
    "quotient": lambda f: (f["age"] / 4).sum(),
    "by name": lambda f: (f["age"] * f["region"].map({"north": 1, "south": 2})).sum(),
    "where": lambda f: f["age"].where(f["income"] > 5, 0).sum(),
    "np.where": lambda f: np.where(f["age"] > 3, f["age"], 1).sum(),
    "np.maximum": lambda f: np.maximum(f["age"], 3).sum(),
    "root": lambda f: np.sqrt(f["age"].clip(0, 7)).sum(),
    "floor": lambda f: np.floor(f["age"]).sum(),
    "groups": lambda f: tuple(
        f.groupby("region")["age"].sum().get(one, 0) for one in ("north", "south")
    ),
    "value counts": lambda f: f["age"].value_counts().get(3.0, 0),
    "bins": lambda f: tuple(
        pd.cut(f["age"], EDGES, labels=BANDS, include_lowest=True).value_counts(sort=False)[one]
        for one in BANDS
    ),
    "bins in an order": lambda f: (
        pd.cut(f["age"], EDGES, right=False, labels=BANDS).value_counts().reindex(BANDS)["low"]
    ),
    "bins without names": lambda f: (
        pd.cut(f["age"], EDGES).value_counts(sort=False).to_numpy().sum()
    ),
    "sums by bins": lambda f: tuple(
        f.assign(band=pd.cut(f["age"], EDGES, labels=BANDS))
        .groupby("band", observed=False)["age"]
        .sum()[one]
        for one in BANDS
    ),
    "sizes of bins": lambda f: f.groupby(
        pd.cut(f["age"], EDGES, labels=BANDS), observed=False
    ).size()["high"],
    "bins of selected rows": lambda f: f.assign(band=pd.cut(f["age"], EDGES, labels=BANDS))[
        f["income"] > 5
    ]["band"].value_counts(sort=False)["low"],
    "loop": lambda f: sum(one for one in f["age"]),
    "of what is made": lambda f: (f["age"] * 2 > 5).sum(),
    "turned round": lambda f: (5 - f["age"] >= 2).sum(),
    "of a square": lambda f: ((f["age"] - 3) * (f["age"] - 3) <= 4).sum(),
    "of two": lambda f: (f["age"] > f["income"]).sum(),
    "rows by two": lambda f: len(f[f["age"] + f["income"].clip(0, 5) > 6]),
    "sum by what is made": lambda f: f[f["age"] / 2 >= 1.5]["age"].sum(),
    "by the value of a name": lambda f: (
        f["age"] > f["region"].map({"north": 1, "south": 7})
    ).sum(),
    "histogram": lambda f: tuple(np.histogram(f["age"], bins=[-2, 3, 7, 10])[0]),
    "histogram of a range": lambda f: tuple(np.histogram(f["age"], bins=2, range=(3, 7))[0]),
    "assigned": lambda f: f.assign(more=f["age"] + 1)["more"].sum(),
}
#: Others may be priced above their largest change: ends are taken one by one.
ABOVE: dict[str, Callable[[Any], Any]] = {
    "differences": lambda f: (f["age"] - f["age"]).sum() + len(f),
    "moments": lambda f: (f["age"].sum(), (f["age"] ** 2).sum()),
}
MEANS: dict[str, Callable[[Any], Any]] = {
    "mean": lambda f: f["age"].mean(),
    "np.mean": lambda f: np.mean(f["income"].clip(0, 5)),
}
EXPRESSIONS = EXACT | ABOVE | MEANS


@cache
def values_of(name: str) -> tuple[tuple[tuple[float, ...], ...], tuple[float, ...]]:
    """Of a row beside another one, for all rows; and of that other one alone."""
    expression = EXPRESSIONS[name]

    def answer(*rows: tuple[float, float, str]) -> tuple[float, ...]:
        value = expression(pd.DataFrame(list(rows), columns=list(COLUMNS)))
        return tuple(map(float, value if isinstance(value, tuple) else (value,)))

    other = (1.0, 2.0, "north")
    rows = product(AGES, INCOMES, REGIONS)
    return tuple(dict.fromkeys(answer(row, other) for row in rows)), answer(other)


def largest_change(name: str, relation: str) -> float:
    beside, alone = values_of(name)
    pairs = product(beside, beside if relation == "replace" else [alone])
    return max(sum(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in pairs)


#: The others are among the slow tests.
FAST = {
    "clipped",
    "count",
    "equal",
    "selected sum",
    "three bins",
    "product",
    "where",
    "bins",
    "sums by bins",
}
SLOW = pytest.mark.slow
CASES = [
    pytest.param(name, relation, marks=[] if name in FAST and relation == "replace" else [SLOW])
    for number, (name, relation) in enumerate(product(EXACT | ABOVE, RELATIONS))
    if name in FAST or number % 4 in (0, 3)  # one relation each, in turns
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "relation"), CASES)
def test_the_price_is_no_less_than_the_largest_change(name: str, relation: str) -> None:
    proved, true = price_of(EXPRESSIONS[name], table_of(relation)), largest_change(name, relation)
    assert proved >= true * (1 - 1e-15)
    if name in EXACT:
        assert math.isclose(proved, true, rel_tol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", MEANS)
def test_means_are_followed_where_the_number_of_rows_is_public(name: str) -> None:
    proved, true = price_of(EXPRESSIONS[name], table_of()), largest_change(name, "replace")
    assert true * (1 - 1e-15) <= proved <= true * (1 + 1e-9)
    expression = MEANS[name]

    def released(frame: Any, rng: Any) -> Any:
        return expression(frame) + rng.laplace()

    open_table = table_of("add_remove")
    found = lt.mechanism(released).on_domain(open_table).align_paths(open_table)
    assert isinstance(found, NoPaths)


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["add_remove", pytest.param("replace", marks=SLOW)])
def test_users_bring_several_rows(relation: str) -> None:
    table = table_of(relation, rows=6, unit="user")

    def released(frame: Any, rng: Any) -> Any:
        few = frame.groupby("user").head(2)
        return few["income"].clip(0, 5).sum() + rng.laplace(), few[few.age > 3]["age"].count()

    def only_sum(frame: Any, rng: Any) -> Any:
        return (
            frame[frame.age > 3].groupby("user").head(2)["income"].clip(0, 5).sum() + rng.laplace()
        )

    assert math.isinf(align(lt.mechanism(released).on_domain(table), table).epsilon)
    found = align(lt.mechanism(only_sum).on_domain(table), table)
    assert math.isclose(found.epsilon, 10.0, rel_tol=1e-9)


@pytest.mark.slow
def test_whole_noise_is_not_shifted_by_what_is_not_whole() -> None:
    def released(frame: Any, rng: Any) -> Any:
        return frame["age"].clip(0, 1).sum() + rng.geometric(0.5) - rng.geometric(0.5)

    def counted(frame: Any, rng: Any) -> Any:
        return (frame["age"] > 3).sum() + rng.geometric(0.5) - rng.geometric(0.5)

    def both(frame: Any, rng: Any) -> Any:
        noisy = (frame["age"] > 3).sum() + rng.geometric(0.5) - rng.geometric(0.5)
        return noisy, frame["age"].clip(0, 1).sum() + rng.laplace()

    table = table_of()
    prices = [align(lt.mechanism(one).on_domain(table), table) for one in (released, counted, both)]
    assert math.isinf(prices[0].epsilon)
    assert math.isclose(prices[1].epsilon, math.log(2), rel_tol=1e-12)
    assert math.isclose(prices[2].epsilon, math.log(2) + 1, rel_tol=1e-9)


@pytest.mark.slow
def test_the_rounding_of_sums_is_part_of_the_price() -> None:
    prices = []
    for rows in (10, 100_000, 10_000_000):
        table = lt.Table({"age": lt.Real(0, 1)}, rows=rows)

        def released(frame: Any, rng: Any) -> Any:
            return frame["age"].sum() + rng.laplace()

        paths: Any = lt.mechanism(released).on_domain(table).align_paths(table)
        prices.append(float(dict(paths.differences.box)[0]))
        assert "rounding of float sums" in paths.hint
        if rows == 100_000:
            break
    assert 0 < prices[0] < 1e-13 < prices[1] < 1e-9


NOT_FOLLOWED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no bounds": (lambda f: f["income"].sum(), r"without bounds.*clip"),
    "product without bounds": (
        lambda f: (f["income"] * f["age"] * f["age"]).clip(0, 1).sum(),
        r"infinite",
    ),
    "comparison of norms": (
        lambda f: (np.linalg.norm(f[["age", "income"]].to_numpy(), axis=1) > 3).any() * 1,
        r"comparison of norms.*np\.where",
    ),
    "histogram of edges of the data": (
        lambda f: np.histogram(f["age"])[0].sum(),
        r"give its edges",
    ),
    "division": (lambda f: (1 / f["age"]).sum(), r"fails for some record"),
    "largest": (lambda f: f["age"].max(), r"\.max"),
    "median": (lambda f: np.median(f["age"]), r"median"),
    "half precision": (lambda f: f["age"].astype(np.float16).sum(), r"astype"),
    "whole": (lambda f: f["age"].astype("int32").sum(), r"astype"),
    "rows": (lambda f: f[["age", "region"]].to_numpy().sum(), r"to_numpy"),
    "dot": (lambda f: f["age"].dot(f["age"]), r"\.dot of real"),
    "bounds of the data": (lambda f: f["age"].clip(0, f["age"].sum()).sum(), r"not constants"),
    "other records": (lambda f: (f["age"] + f[f["age"] > 3]["age"]).sum(), r"other records"),
    "logarithm": (lambda f: np.log(f["age"].clip(0, 2)).sum(), r"numpy\.log"),
    "edges of the data": (lambda f: pd.cut(f["age"], 3).value_counts().sum(), r"constant edges"),
    "numbers of bins": (lambda f: pd.cut(f["age"], EDGES, labels=False).sum(), r"labels=False"),
    "bins that occur": (
        lambda f: f.groupby(pd.cut(f["age"], EDGES), observed=True).size().max(),
        r"observed=False",
    ),
    "largest bin": (
        lambda f: pd.cut(f["age"], EDGES).value_counts().iloc[0],
        r"order that depends",
    ),
    "names of numbers": (lambda f: f.groupby("age").size().max(), r"groups that occur"),
}


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_all_else_is_refused_with_the_line(name: str) -> None:
    expression, words = NOT_FOLLOWED[name]

    def released(frame: Any, rng: Any) -> Any:
        return expression(frame) + rng.laplace()

    table = table_of()
    found = lt.mechanism(released).on_domain(table).align_paths(table)
    assert isinstance(found, NoPaths)
    assert re.search(words, found.reason), found.reason
    assert "test_real_frames.py" in found.reason


def clip_not_used(frame: Any, rng: Any) -> Any:
    frame["income"].clip(0, 5)
    return frame["income"].sum() + rng.laplace(scale=5)


def noise_too_small(frame: Any, rng: Any) -> Any:
    return frame["income"].clip(0, 5).sum() + rng.laplace(scale=4.9)


def bounds_of_the_data(frame: Any, rng: Any) -> Any:
    return frame["age"].clip(0, frame["age"].max()).sum() + rng.laplace(scale=10)


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["replace", pytest.param("add_remove", marks=SLOW)])
@pytest.mark.parametrize("function", [pytest.param(clip_not_used, marks=SLOW), noise_too_small])
def test_bugs_are_shown_by_two_tables(function: Any, relation: str) -> None:
    table = table_of(relation, rows=2000)
    verdict = lt.check_privacy(lt.mechanism(function), table, epsilon=1, floats="ideal")
    assert verdict.decision == "NO", str(verdict)
    witness = verdict.witness
    assert witness is not None
    assert witness.rows is not None
    assert witness.verify(lt.mechanism(function).on_domain(table))
    assert any("income" in line for line in witness.rows)
    left, right = np.array(witness.dataset), np.array(witness.neighbour)
    assert table.distance(left, right).tolist() == [1]
    table.check_points(np.stack([left, right]))


def sum_without_noise(frame: Any, rng: Any) -> Any:
    return bool(frame["age"].sum() > 100)


def few_are_told(frame: Any, rng: Any) -> Any:
    old = frame[frame["age"] > 3]
    return 0 if len(old) < 70 else len(old) + rng.laplace()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "options"),
    [
        (sum_without_noise, {}),
        pytest.param(sum_without_noise, {"relation": "add_remove"}, marks=SLOW),
        pytest.param(few_are_told, {"unit": "user"}, marks=SLOW),
    ],
)
def test_comparisons_without_noise_are_shown_at_their_boundary(
    function: Any, options: dict[str, Any]
) -> None:
    columns = COLUMNS | ({"user": lt.Key()} if "unit" in options else {})
    table: Any = lt.Table(columns, rows=500, **options)
    verdict = lt.check_privacy(lt.mechanism(function), table, epsilon=1, floats="ideal")
    assert verdict.decision == "NO", str(verdict)
    assert math.isinf(verdict.largest_loss)
    assert verdict.witness is not None
    left, right = np.array(verdict.witness.dataset), np.array(verdict.witness.neighbour)
    assert table.distance(left, right).tolist() == [1]
    table.check_points(np.stack([left, right]))


# ---- the domain, and cells


@pytest.mark.slow
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=3),
    st.sampled_from([np.add, np.subtract, np.multiply, np.maximum, np.floor, np.absolute]),
    st.sampled_from([np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal]),
    st.floats(-1e6, 1e6),
    st.lists(st.floats(-1e3, 1e3), max_size=20),
)
def test_comparisons_change_at_their_cuts_only(
    constants: list[float], ufunc: Any, comparison: Any, bound: float, others: list[float]
) -> None:
    recipe: Any = ("real", "x")
    for one in constants:
        unary = ufunc.nin == 1
        recipe = (ufunc, recipe) if unary else (ufunc, recipe, ("number", float, one))
    condition = RowCondition(comparison, recipe, ("number", float, bound))
    cuts = find_cuts(condition, -1e3, 1e3)
    if cuts is None:
        return
    edges = [-1e3, *cuts, math.inf]
    numbers = np.array([*edges[:-1], *map(DOWN, cuts), *others, 1e3, 0.0, -0.0])
    truths = condition.holds(np.zeros(len(numbers), np.int64), {"x": numbers})
    places = np.searchsorted(edges, numbers, side="right")
    for place in set(places.tolist()):
        assert len(set(truths[places == place].tolist())) == 1
    for left, right in pairwise(sorted(set(places.tolist()))):
        assert truths[places == left][0] != truths[places == right][0]


@pytest.mark.slow
@given(st.data())
def test_cells_hold_every_float_once(data: st.DataObject) -> None:
    floats = st.floats(-3, 3)
    cuts = frozenset(data.draw(st.lists(floats, max_size=4)))
    limits = {"x": (-3.0, 3.0), "y": (0.0, 1.0)}
    first = data.draw(st.integers(0, 1))
    cells = RowCells(2, first, limits, {"x": cuts, "y": frozenset({0.5})})
    x = np.array(data.draw(st.lists(floats, min_size=1, max_size=5)) + sorted(cuts))
    y = np.full(len(x), data.draw(st.floats(0, 1)))
    rows = np.full(len(x), data.draw(st.integers(1, 2)))
    found = cells.of(rows, {"x": x, "y": y})
    assert (cells.row_values[found] == rows).all()
    for name, own in (("x", x), ("y", y)):
        assert (cells.low[name][found] <= own).all()
        assert (own <= cells.high[name][found]).all()
    for cut in cuts:
        [at] = cells.of(np.array([1]), {"x": np.array([cut]), "y": np.array([0.5])})
        assert cells.low["x"][at] == cells.high["x"][at] == cut
    if cells.first:
        assert cells.row_values[0] == 0


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8))
def test_sums_are_exact(numbers: list[float]) -> None:
    assert exact_sum(np.array(numbers)) == sum(map(Fraction, numbers), Fraction(0))


def test_frames_have_the_floats_of_a_dataset() -> None:
    table = table_of("add_remove", rows=4)
    ages = [1 / 3, -2.0, 5e-324]
    dataset = table.made([table.slot(0, 1), table.slot(0, 2), table.slot(0, 1)], {"age": ages})
    frame = table.frame(table.check_points(dataset)[0])
    assert frame["age"].tolist() == ages
    assert frame["region"].tolist() == ["north", "south", "north"]
    assert list(frame.columns) == list(COLUMNS)
    with pytest.raises(DatasetError, match="values outside Real"):
        table.check_points(table.made([table.slot(0, 1)], {"age": [11.0]}))
    with pytest.raises(InputError, match="is below"):
        lt.Real(3, 2)
    with pytest.raises(InputError, match="finite"):
        lt.Real(0, math.inf)
    assert table.encode(frame)[:9].tolist() == dataset[:9].tolist()
    assert table == table_of("add_remove", rows=4) != table_of("replace", rows=4)
