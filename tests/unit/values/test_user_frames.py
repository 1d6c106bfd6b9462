"""Frames of users against pandas: what the rows of one user change.

The oracle is pandas itself on all lists of rows and users, in any order, that are so short. Two are
neighbours where the rows of all other users are the same. A price below the largest change would be
a false proof.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from liptest.data.tables import RowsOfUsers
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.errors import DatasetError, InputError
from liptest.privacy.proofs.prices import align
from tests.unit.values.frame_prices import price_of

COLUMNS: dict[str, Any] = {"user": lt.Key(), "spend": lt.Integer(-3, 3, step=3)}
SPENDS = (-3, 0, 3)
ROWS, USERS = 3, 2
RELATIONS = ("replace", "add_remove")
KIND = ("replace", 2)
List = tuple[tuple[int, int], ...]


def table_of(relation: str, at_most: int | None, rows: int = ROWS) -> Any:
    return lt.Table(COLUMNS, rows=rows, unit="user", relation=relation, at_most=at_most)


def bounded_twice(frame: Any) -> Any:
    few = frame.groupby("user").head(2)
    return few[few["spend"] > 0].drop_duplicates("user")


def numbers_and_sums(users: Any) -> tuple[Any, Any]:
    made = users.agg(total=("spend", "sum"), rows=("spend", "size"))
    return made["total"].clip(0, 3).sum(), made.rows.gt(0).sum()


def those_above_0(totals: Any) -> Any:
    return totals[totals > 0]


# Each is some numbers of a frame.
EXPRESSIONS: dict[str, Callable[[Any], Any]] = {
    "two rows unsorted": lambda f: f.groupby(["user"], sort=False).head(2)["spend"].sum(),
    "rows": lambda f: len(f),
    "sum": lambda f: f["spend"].sum(),
    "clipped": lambda f: f["spend"].clip(0, 3).sum(),
    "users": lambda f: len(f.drop_duplicates("user")),
    "number of users": lambda f: f["user"].nunique(),
    "keyword": lambda f: f.drop_duplicates(subset=["user"])["spend"].sum(),
    "two rows": lambda f: f.groupby("user").head(2)["spend"].sum(),
    "two rows of some": lambda f: f[f["spend"] != 0].groupby("user").head(2)["spend"].sum(),
    "some of two rows": lambda f: f.groupby("user").head(2)["spend"].gt(0).sum(),
    "bounded twice": lambda f: bounded_twice(f)["spend"].sum(),
    "users and a sum": lambda f: (f["user"].nunique(), f.groupby("user").head(2)["spend"].sum()),
    "clipped sums of users": lambda f: f.groupby("user")["spend"].sum().clip(-3, 3).sum(),
    "clipped sums of some rows": lambda f: (
        f[f["spend"] != 0].groupby("user")["spend"].sum().clip(lower=0, upper=3).sum()
    ),
    "rows of each user": lambda f: f.groupby("user").size().clip(upper=2).sum(),
    "users with two rows": lambda f: (f.groupby("user")["spend"].count() >= 2).sum(),
    "last of two rows": lambda f: f.groupby("user").head(2).groupby("user")["spend"].last().sum(),
    "largest of each user": lambda f: f.groupby("user").spend.max().sum(),
    "mean of each user": lambda f: f.groupby("user")["spend"].mean().clip(-3, 3).sum(),
    "numbers and sums of users": lambda f: numbers_and_sums(f.groupby("user")),
    "different entries": lambda f: np.minimum(f.groupby("user").spend.nunique(), 2).sum(),
    "clipped above": lambda f: f[f["spend"] > 0].groupby("user")["spend"].sum().clip(upper=3).sum(),
    "first rows": lambda f: f.groupby("user").first()["spend"].clip(0, 3).sum(),
    "bounded rows": lambda f: f.groupby("user").head(2).groupby("user")["spend"].sum().sum(),
    "a part": lambda f: (f.groupby("user")["spend"].min() / 4).abs().sum(),
    "calculated": lambda f: (2 * f.groupby("user").size().clip(0, 1) - 3).abs().sum(),
    "some users": lambda f: those_above_0(f.groupby("user")["spend"].sum()).clip(0, 3).sum(),
    "two sums": lambda f: (f["spend"].clip(0, 3).sum(), f["spend"].clip(-3, 0).sum()),
}
#: What single rows change is not changed jointly by differently bounded sums.
AT_MOST_TWICE = {"users and a sum", "rows of each user", "different entries"}
#: What is made of all rows of a user is proved by its clip alone: a bound that rows may not reach.
BY_THE_CLIP = {"users with two rows": 1, "calculated": 3, "numbers and sums of users": 4}


@cache
def lists() -> list[List]:
    pairs = list(product(range(USERS), SPENDS))
    return [one for size in range(ROWS + 1) for one in product(pairs, repeat=size)]


@cache
def answers(name: str) -> dict[List, tuple[float, ...]]:
    found = {}
    for rows in lists():
        frame = pd.DataFrame(list(rows), columns=["user", "spend"], dtype=np.int64)
        value = (EXPRESSIONS | NOT_CLIPPED)[name](frame)
        found[rows] = tuple(map(float, value if isinstance(value, tuple) else (value,)))
    return found


def largest_change(name: str, relation: str, at_most: int | None) -> float:
    """In l1, over all pairs of lists of which all rows but those of one user are the same."""
    most = at_most or ROWS
    known = answers(name)
    alike: dict[Any, list[List]] = defaultdict(list)
    for rows in known:
        if max(Counter(user for user, _ in rows).values(), default=0) <= most:
            for user in range(USERS):
                rest = tuple(one for one in rows if one[0] != user)
                alike[user, rest].append(rows)
    largest = 0.0
    for (_, rest), group in alike.items():
        values = {known[one] for one in group}
        others = values if relation == "replace" else {known[rest]}
        for one, other in product(values, others):
            largest = max(largest, sum(abs(a - b) for a, b in zip(one, other, strict=True)))
    return largest


#: The others are among the slow tests.
FAST = {"sum", "clipped sums of users", "users", "two rows of some", "bounded twice"}
SLOW = pytest.mark.slow
CASES = [
    pytest.param(
        name, relation, most, marks=[] if name in FAST and (relation, most) == KIND else [SLOW]
    )
    for number, name in enumerate(EXPRESSIONS)
    for kind, (relation, most) in enumerate(product(RELATIONS, (1, 2, None)))
    if (name in FAST and (relation, most) == KIND) or (number + kind) % 3 == 0
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "relation", "at_most"), CASES)
def test_the_price_is_what_a_user_changes(name: str, relation: str, at_most: int | None) -> None:
    proved = price_of(EXPRESSIONS[name], table_of(relation, at_most))
    true = largest_change(name, relation, at_most)
    assert proved >= true - 1e-12
    if name in BY_THE_CLIP:
        assert proved <= BY_THE_CLIP[name] + 1e-12
    elif name in AT_MOST_TWICE:
        assert proved <= 2 * true
    else:
        assert math.isclose(proved, true, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.slow
def test_whole_noise_is_shifted_for_each_row_by_itself() -> None:
    """Where two rows change an even number, one row does not: there is no shift for it."""

    def released(frame: Any, rng: Any) -> Any:
        return len(frame) + 2 * int(rng.geometric(0.5) - rng.geometric(0.5))

    table = table_of("replace", 2)
    found = align(lt.mechanism(released).on_domain(table), table)
    assert math.isinf(found.epsilon)


@pytest.mark.slow
def test_normal_noise_is_shifted_by_all_rows_of_a_user() -> None:
    def released(frame: Any, rng: Any) -> Any:
        return len(frame.groupby("user").head(3)) + rng.normal(scale=6)

    def of_one(frame: Any, rng: Any) -> Any:
        return len(frame) + rng.normal(scale=2)

    users = table_of("add_remove", None, rows=1000)
    rows = lt.Table({"spend": COLUMNS["spend"]}, rows=1000, relation="add_remove")
    options: dict[str, Any] = {"epsilon": 3, "delta": 1e-5}
    found = [
        lt.check_privacy(lt.mechanism(released), users, **options),
        lt.check_privacy(lt.mechanism(of_one), rows, **options),
    ]
    assert found[0].decision == found[1].decision == "YES"
    assert math.isclose(found[0].largest_loss, found[1].largest_loss, rel_tol=1e-12)


NOT_FOLLOWED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "users as numbers": (lambda f: f["user"].sum(), r"\.sum"),
    "a user": (lambda f: (f["user"] == 3).sum(), r"column of users"),
    "rows of each user": (lambda f: f.groupby("user").size().max(), r"rows of each user"),
    "a mean over users": (
        lambda f: f.groupby("user")["spend"].sum().clip(0, 3).mean(),
        r"rows of each user.*\.mean",
    ),
    "the sum of one user": (
        lambda f: f.groupby("user")["spend"].sum().clip(0, 3)[7],
        r"rows of each user.*an index",
    ),
    "clips by data": (
        lambda f: f.groupby("user")["spend"].sum().clip(0, f["spend"].sum()).sum(),
        r"not a constant",
    ),
    "last rows": (lambda f: len(f.groupby("user").tail(1)), r"rows of each user.*\.tail"),
    "all rows at once": (lambda f: f.to_numpy().sum(), r"\.to_numpy of users"),
    "first rows": (lambda f: len(f.head(2)), r"\.head"),
    "other rows": (
        lambda f: f.assign(few=f.drop_duplicates("user")["spend"])["few"].count(),
        r"\.assign",
    ),
    "other condition": (
        lambda f: len(f.drop_duplicates("user")[f["spend"] > 0]),
        r"not a comparison of the same",
    ),
    "duplicates of rows": (lambda f: len(f.drop_duplicates("spend")), r"name the column of users"),
    "the last row": (
        lambda f: len(f.drop_duplicates("user", keep="last")),
        r"keep the first row of each",
    ),
    "groups as columns": (
        lambda f: len(f.groupby("user", as_index=False).head(1)),
        r"groupby with as_index",
    ),
    "mean": (lambda f: f["spend"].mean(), r"mean"),
}


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_all_else_is_refused_with_the_line(name: str) -> None:
    expression, words = NOT_FOLLOWED[name]

    def released(frame: Any, rng: Any) -> Any:
        return expression(frame) + rng.laplace()

    table = table_of("replace", 2)
    found = lt.mechanism(released).on_domain(table).align_paths(table)
    assert isinstance(found, NoPaths)
    assert re.search(words, found.reason), found.reason
    assert "test_user_frames.py" in found.reason


def counted(frame: Any, rng: Any) -> Any:
    return len(frame) + rng.laplace(scale=2)


def two_rows(frame: Any, rng: Any) -> Any:
    return len(frame.groupby("user").head(2)) + rng.laplace(scale=2)


def three_rows(frame: Any, rng: Any) -> Any:
    return len(frame.groupby("user").head(3)) + rng.laplace(scale=2)


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["replace", pytest.param("add_remove", marks=SLOW)])
def test_a_user_with_many_rows_refutes(relation: str) -> None:
    table = table_of(relation, None, rows=50_000)
    assert lt.check_privacy(lt.mechanism(two_rows), table, epsilon=1).decision == "YES"
    for function, few in ((counted, 50_000), (three_rows, 3)):
        verdict = lt.check_privacy(lt.mechanism(function), table, epsilon=1)
        assert verdict.decision == "NO", str(verdict)
        witness = verdict.witness
        assert witness is not None
        assert witness.rows is not None
        assert witness.verify(lt.mechanism(function).on_domain(table))
        assert any(f"user 0: {few:,} rows" in line for line in witness.rows)
        left, right = np.array(witness.dataset), np.array(witness.neighbour)
        assert table.distance(left, right).tolist() == [1]


@pytest.mark.slow
def test_where_nothing_bounds_a_user_the_reason_says_what_to_write() -> None:
    table = table_of("replace", None)
    verdict = lt.check_privacy(lt.mechanism(counted), table, epsilon=1, method="alignment")
    assert verdict.decision == "INCONCLUSIVE"
    assert "at_most=" in verdict.reason
    assert "groupby('user').head(k)" in verdict.reason
    large = lt.check_privacy(lt.mechanism(counted), table, epsilon=2)
    assert large.decision == "YES"
    assert "for datasets of 3 records" in str(large)
    bounded = table_of("replace", 2)
    assert "for every number of records" in str(
        lt.check_privacy(lt.mechanism(counted), bounded, epsilon=1)
    )


# ---- the domain


def test_frames_are_what_was_encoded() -> None:
    table = table_of("replace", 2, rows=5)
    frame = pd.DataFrame({"user": ["b", "a", "b"], "spend": [3, -3, 0]})
    dataset = table.encode(frame)
    again = table.frame(dataset)
    assert again["user"].tolist() == [0, 1, 0]
    assert again["spend"].tolist() == [3, -3, 0]
    with pytest.raises(DatasetError, match="more than 2 rows"):
        table.encode(pd.DataFrame({"user": ["b"] * 3, "spend": [0] * 3}))
    with pytest.raises(DatasetError, match="not at most 5"):
        table.encode(pd.DataFrame({"user": range(6), "spend": [0] * 6}))


@pytest.mark.parametrize("relation", RELATIONS)
def test_distances_are_those_of_lists(relation: str) -> None:
    table = table_of(relation, None)
    assert isinstance(table, RowsOfUsers)
    rng = np.random.default_rng(0)
    seen = Counter()
    for _ in range(400):
        left = table.draw(rng, 2)
        right = np.array(left)
        users = table.users_in(left)
        right[users == rng.integers(2)] = 0
        if rng.random() < 0.5:
            right[rng.integers(ROWS)] = table.slot(int(rng.integers(2)), int(rng.integers(1, 4)))
        sides = [
            list(zip(table.users_in(one)[one > 0], table.rows_in(one)[one > 0], strict=True))
            for one in (left, right)
        ]
        rest = [[[r for r in side if r[0] != user] for side in sides] for user in range(2)]
        owns = [[any(r[0] == user for r in side) for side in sides] for user in range(2)]
        alike = [
            rest[user][0] == rest[user][1] and (relation == "replace" or not all(owns[user]))
            for user in range(2)
        ]
        steps = int(table.distance(left, right)[0])
        seen[steps] += 1
        if steps == 1:
            assert any(alike)
    assert min(seen[0], seen[1], seen[2]) > 5


def test_units_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match="unit='user'"):
        lt.Table(COLUMNS, rows=3)
    with pytest.raises(InputError, match="only column that is an"):
        lt.Table(COLUMNS, rows=3, unit="spend")
    with pytest.raises(InputError, match="whose rows"):
        lt.Table({"spend": lt.Integer(0, 1)}, rows=3, at_most=2)
    with pytest.raises(InputError, match="not visited one by one"):
        table_of("replace", 2).neighbours(np.zeros(3))
    table = table_of("replace", 2)
    draws = lt.SampledDistribution(table, lambda n, rng: np.zeros((n, 3)))
    with pytest.raises(InputError, match="by method='neighbourhoods' only"):
        lt.check_privacy(lt.mechanism(counted), draws, epsilon=1, method="edges")


@pytest.mark.slow
def test_rows_that_are_all_left_are_not_bounded_anew() -> None:
    regions = ["north", "south", "east"]

    def users_by_region(frame: Any) -> Any:
        once = frame.drop_duplicates("user")
        counts = once.groupby("region")["user"].nunique().reindex(regions, fill_value=0)
        return tuple(counts.tolist())

    columns = {"user": lt.Key(), "region": lt.Category(regions)}
    table = lt.Table(columns, rows=3, unit="user")
    assert price_of(users_by_region, table) == 2  # of one region to another one


#: What only a bound of rows makes finite.
NOT_CLIPPED: dict[str, Callable[[Any], Any]] = {
    "sums of users": lambda f: f.groupby("user")["spend"].sum().sum(),
    "clipped below": lambda f: f.groupby("user")["spend"].sum().clip(lower=0).sum(),
    "numbers of rows": lambda f: f.groupby("user").size().sum(),
}
EXPRESSIONS_OF_ALL_ROWS = list(product(NOT_CLIPPED, RELATIONS, (1, 2)))


@pytest.mark.parametrize("name", NOT_CLIPPED)
def test_what_all_rows_of_users_make_is_to_be_clipped(name: str) -> None:
    def released(frame: Any, rng: Any) -> Any:
        return NOT_CLIPPED[name](frame) + rng.laplace()

    table = table_of("replace", None)
    found = lt.mechanism(released).on_domain(table).align_paths(table)
    assert isinstance(found, NoPaths)
    words = "rows of each user.*not clipped.*test_user_frames.py.*clip what each user adds"
    assert re.search(words, found.reason), found.reason


@pytest.mark.slow
@pytest.mark.parametrize(("name", "relation", "at_most"), EXPRESSIONS_OF_ALL_ROWS)
def test_the_table_bounds_what_users_add(name: str, relation: str, at_most: int) -> None:
    true = largest_change(name, relation, at_most)
    proved = price_of(NOT_CLIPPED[name], table_of(relation, at_most))
    assert math.isclose(proved, true, rel_tol=1e-9)


def clipped_users(frame: Any, rng: Any) -> Any:
    return frame.groupby("user")["spend"].sum().clip(0, 100).sum() + rng.laplace(scale=100)


def clip_above(frame: Any, rng: Any) -> Any:
    return frame.groupby("user")["spend"].sum().clip(0, 101).sum() + rng.laplace(scale=90)


def few_rows(frame: Any, rng: Any) -> Any:
    return frame.groupby("user").size().clip(upper=3).sum() + rng.laplace(scale=3)


def one_row_more(frame: Any, rng: Any) -> Any:
    return frame.groupby("user").size().clip(upper=4).sum() + rng.laplace(scale=3)


def keys_leak(frame: Any, rng: Any) -> Any:
    return frame.groupby("user").size()


LARGE = {
    clipped_users: "YES",
    clip_above: "NO",
    few_rows: "YES",
    one_row_more: "NO",
    keys_leak: "NO",
}
#: Rows of any size, and whole ones.
SPENT: dict[str, Any] = {"real": lt.Real(0), "whole": lt.Integer(-3, 50)}


@pytest.mark.slow
@pytest.mark.parametrize("spent", SPENT)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("released", LARGE)
def test_what_each_user_adds_is_clipped(released: Any, relation: str, spent: str) -> None:
    columns = {"user": lt.Key(), "spend": SPENT[spent]}
    table = lt.Table(columns, rows=50_000, unit="user", relation=relation)
    found = lt.check_privacy(lt.mechanism(released), table, epsilon=1, floats="ideal")
    assert found.decision == LARGE[released]


#: pandas rounds the sum of a user's floats by whether the rows of others are sorted.
ROUNDED: dict[str, Callable[[Any], Any]] = {
    "comparison": lambda f: (f.groupby("user")["spend"].sum() >= 12.3).sum(),
    "comparison of means": lambda f: (f.groupby("user")["spend"].mean() > 0.1).sum(),
    "steep": lambda f: (f.groupby("user")["spend"].sum() * 1e15).clip(0, 1).sum(),
    "rows of any sign": lambda f: f.groupby("user")["change"].sum().clip(0, 1).sum(),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_the_rounding_of_sums_of_floats_is_that_of_all_rows(name: str) -> None:
    def released(frame: Any, rng: Any) -> Any:
        return ROUNDED[name](frame) + rng.laplace()

    columns = {"user": lt.Key(), "spend": lt.Real(0, 9), "change": lt.Real()}
    table = lt.Table(columns, rows=40, unit="user")
    found = lt.mechanism(released).on_domain(table).align_paths(table)
    assert isinstance(found, NoPaths)
    assert "rounding is not known" in found.reason


@pytest.mark.slow
def test_whole_noise_does_not_hide_steps_of_users() -> None:
    """A user adds 0, 1 or 2: noise in steps of 2 tells 1 from 0, though not 2 from 0."""

    def released(frame: Any, rng: Any) -> Any:
        noise = int(rng.geometric(0.5) - rng.geometric(0.5))
        return frame.groupby("user").size().clip(upper=2).sum() + 2 * noise

    table = table_of("replace", 2)
    assert math.isinf(align(lt.mechanism(released).on_domain(table), table).epsilon)


@pytest.mark.slow
@pytest.mark.parametrize(("relation", "most"), [("add_remove", 10), ("replace", 12)])
def test_whole_noise_hides_whole_sums_of_users(relation: str, most: int) -> None:
    """Each step of 1 costs ln 2, and a user makes as many as the clip allows."""

    def released(frame: Any, rng: Any) -> Any:
        total = int(frame.groupby("user")["spend"].sum().clip(-2, 10).sum())
        return total + int(rng.geometric(0.5) - rng.geometric(0.5))

    table = table_of(relation, None)
    found = align(lt.mechanism(released).on_domain(table), table)
    assert math.isclose(found.epsilon, most * math.log(2), rel_tol=1e-9)
