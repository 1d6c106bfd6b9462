"""Numbers of each user in polars, against polars: what the rows of one user change.

The oracle is polars on all short lists of rows of two users. Two lists are neighbours where the
rows of all other users are the same. A price below the largest change would be a false proof.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.errors import NonDeterministicError
from liptest.privacy.proofs.prices import align
from tests.shares import in_turns, mostly_slow
from tests.unit.values.frame_prices import aligned

SPENDS, ROWS = (-3, 0, 3), 3
COLUMNS: dict[str, Any] = {"user": lt.Key(), "spend": lt.Integer(-3, 3, step=3)}
RELATIONS = ("replace", "add_remove")
SPEND, TOTAL, N = pl.col("spend"), pl.col("total"), pl.col("n")


def table_of(relation: str, columns: Any = None, **options: Any) -> Any:
    rows = options.pop("rows", ROWS)
    return lt.Table(columns or COLUMNS, rows=rows, unit="user", relation=relation, **options)


def totals(frame: Any, *conditions: Any) -> Any:
    kept = frame.filter(*conditions) if conditions else frame
    return kept.group_by("user").agg(SPEND.sum().alias("total"), pl.len().alias("n"))


def numbered(frame: Any) -> Any:
    return frame.with_columns(k=SPEND.cum_count().over("user") + 1)


# Each is a number of a frame, and what a user changes it by at most where one is replaced.
EXPRESSIONS: dict[str, Callable[[Any], Any]] = {
    "clipped sums": lambda f: totals(f).select(TOTAL.clip(-3, 3).sum()).item(),
    "clipped inside": lambda f: (
        f.group_by("user").agg(SPEND.sum().clip(-3, 3)).select(pl.sum("spend")).item()
    ),
    "clipped above": lambda f: (
        totals(f, SPEND > 0).with_columns(c=TOTAL.clip(upper_bound=4))["c"].sum()
    ),
    "in order": lambda f: (
        f.group_by("user", maintain_order=True).agg(SPEND.max()).get_column("spend").sum()
    ),
    "series": lambda f: totals(f)["total"].clip(0, 3).sum(),
    "numbers of rows": lambda f: totals(f).select(N.clip(upper_bound=2).sum()).item(),
    "rows by len": lambda f: f.group_by("user").len().select(pl.col("len").clip(0, 2).sum()).item(),
    "users with two rows": lambda f: totals(f).filter(N >= 2).height,
    "users who spend": lambda f: totals(f).select((TOTAL > 0).sum()).item(),
    "sums of some": lambda f: totals(f).filter(TOTAL > 0)["total"].clip(0, 3).sum(),
    "filtered in an expression": lambda f: (
        totals(f).select(TOTAL.clip(0, 3).filter(TOTAL > 2).sum()).item()
    ),
    "users": lambda f: totals(f).select(pl.len()).item(),
    "different entries": lambda f: (
        f.group_by("user").agg(k=SPEND.n_unique()).select(pl.col("k").clip(0, 2).sum()).item()
    ),
    "mean": lambda f: (
        f.group_by("user").agg(SPEND.mean().clip(-1.5, 1.5)).select(SPEND.sum()).item()
    ),
    "last": lambda f: f.group_by("user").agg(SPEND.last())["spend"].sum(),
    "calculated": lambda f: totals(f).select((2 * TOTAL.clip(0, 3) - 3).abs().sum()).item(),
    "cast": lambda f: totals(f).select((N.cast(pl.Int64).clip(1, 2) - 1).sum()).item(),
    "lazily": lambda f: (
        f.lazy().group_by("user").agg(SPEND.sum().clip(0, 3)).select(SPEND.sum()).collect().item()
    ),
    "places": lambda f: f.filter(pl.int_range(pl.len()).over("user") < 2)["spend"].sum(),
    "places from 1 on": lambda f: f.filter(
        (SPEND > 0) & (pl.int_range(1, pl.len() + 1).over("user") <= 1)
    )["spend"].sum(),
    "a column of places": lambda f: numbered(f).filter(pl.col("k") <= 2)["spend"].sum(),
    "users with few rows": lambda f: f.filter(pl.len().over("user") <= 2)["spend"].sum(),
    "users with one row": lambda f: f.filter(SPEND.count().over("user") < 2).height,
    "any rows": lambda f: f.unique("user").height,
    "rows of a frame of users": lambda f: len(totals(f).filter(TOTAL > 0)),
    "another column after a filter": lambda f: (
        totals(f).filter(N > 1).select(TOTAL.clip(0, 3).sum()).item()
    ),
    "two conditions": lambda f: totals(f).filter((N >= 2) & (TOTAL > 0)).height,
    "one of two conditions": lambda f: totals(f).select(((N < 2) | (TOTAL > 3)).sum()).item(),
    "first rows in any order": lambda f: f.unique("user", keep="first")["spend"].sum(),
    "heads in any order": lambda f: f.group_by("user").head(2).select(SPEND.sum()).item(),
}
#: What is proved by a clip that three rows of -3, 0 or 3 do not reach, or by ends of steps.
ABOVE = {"clipped above": 4, "calculated": 3, "users with two rows": 1}


def largest_change(expression: Callable[[Any], Any], relation: str, most: int) -> float:
    pairs = list(product(range(2), SPENDS))
    lists = [one for size in range(most + 1) for one in product(pairs, repeat=size)]
    values: dict[Any, float] = {}
    alike: dict[Any, set[float]] = {}
    for rows in lists:
        frame = pl.DataFrame(list(rows), schema={"user": pl.Int64, "spend": pl.Int64}, orient="row")
        values[rows] = float(expression(frame))
        for user in range(2):
            rest = tuple(one for one in rows if one[0] != user)
            alike.setdefault((user, rest), set()).add(values[rows])
    if relation == "replace":
        return max(max(own) - min(own) for own in alike.values())
    return max(abs(one - values[rest]) for (_, rest), own in alike.items() for one in own)


QUICK = [("clipped sums", "add_remove", 2), ("any rows", "replace", 2)]
CASES = [
    *QUICK,
    *(
        pytest.param(name, RELATIONS[number % 2], ROWS, marks=pytest.mark.slow)
        for number, name in enumerate(EXPRESSIONS)
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "relation", "rows"), CASES)
def test_the_price_is_what_a_user_changes(name: str, relation: str, rows: int) -> None:
    found = aligned(EXPRESSIONS[name], table_of(relation, rows=rows), "polars")
    assert found.price is not None, found.reason
    true = largest_change(EXPRESSIONS[name], relation, rows)
    assert found.epsilon >= true - 1e-12
    assert math.isclose(found.epsilon, ABOVE.get(name, true), rel_tol=1e-9)


IN_GROUPS: dict[str, Any] = {**COLUMNS, "vip": lt.Bit()}
BOTH = pl.DataFrame({"vip": [0, 1]})


def by_vip(groups: Any) -> Any:
    return BOTH.join(groups, on="vip", how="left").fill_null(0).sort("vip")


def cells(frame: Any) -> Any:
    return frame.group_by("user", "vip").agg(
        SPEND.sum().clip(-3, 3).alias("total"), pl.len().alias("n")
    )


# Each gives a number for both groups, and what is proved is that each may be at its worst.
OF_GROUPS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "sums": (lambda f: cells(f).group_by("vip").agg(TOTAL.sum()), 12),
    "users": (lambda f: cells(f).filter(N >= 2).group_by("vip").len(), 2),
    "clipped later": (
        lambda f: (
            f.group_by(["vip", "user"], maintain_order=True)
            .agg(SPEND.max())
            .with_columns(t=2 * SPEND.clip(0, 3))
            .filter(pl.col("t") > 1)
            .group_by("vip", maintain_order=True)
            .agg(pl.sum("t"))
        ),
        12,
    ),
    "numbers of rows": (
        lambda f: (
            f.group_by("user", "vip").len().group_by("vip").agg(pl.col("len").clip(0, 2).sum())
        ),
        4,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "relation"), in_turns(OF_GROUPS, RELATIONS, 1))
def test_a_number_in_each_group_is_one_for_each_user(name: str, relation: str) -> None:
    expression, proved = OF_GROUPS[name]

    def released(frame: pl.DataFrame, rng: Any) -> Any:
        rows = by_vip(expression(frame)).rows()
        return [number + rng.laplace() for _, number in rows]

    table = table_of(relation, IN_GROUPS, rows=2)
    found = align(lt.mechanism(released, frame="polars").on_domain(table), table)
    assert found.price is not None, found.reason
    true, alike = 0.0, {}
    pairs = list(product(range(2), SPENDS, (0, 1)))
    schema = dict.fromkeys(IN_GROUPS, pl.Int64)
    for rows in (one for size in range(3) for one in product(pairs, repeat=size)):
        frame = pl.DataFrame(list(rows), schema=schema, orient="row")
        numbers = [number for _, number in by_vip(expression(frame)).rows()]
        for user in range(2):
            rest = tuple(one for one in rows if one[0] != user)
            alike.setdefault((user, rest), {})[rows] = np.array(numbers, dtype=float)
    for (_, rest), own in alike.items():
        others = own.values() if relation == "replace" else [own[rest]]
        true = max(true, *(np.abs(a - b).sum() for a in own.values() for b in others))
    assert true - 1e-12 <= found.epsilon <= proved + 1e-12


def test_groups_of_users_that_occur_are_not_told() -> None:
    table = table_of("replace", IN_GROUPS)
    found = aligned(
        lambda f: cells(f).group_by("vip").agg(TOTAL.sum())["total"][0], table, "polars"
    )
    assert found.price is None
    assert "groups that occur" in found.reason


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "not clipped": (lambda f: totals(f).select(TOTAL.sum()).item(), "not clipped"),
    "users": (lambda f: totals(f)["user"].sum(), "not a number of each user"),
    "a key": (lambda f: totals(f).select(pl.col("user").sum()).item(), "no number of each user"),
    "one of them": (lambda f: totals(f)["total"][0], "an index"),
    "sorted": (lambda f: totals(f).sort("total")["total"].sum(), r"\.sort"),
    "a mean over users": (lambda f: totals(f).select(TOTAL.clip(0, 3).mean()).item(), "mean"),
    "entries": (lambda f: f.unique("user")["spend"].sum(), "which one is not determined"),
    "counts below 0": (lambda f: totals(f).select((N - 2).sum()).item(), "no sign"),
    "a condition and a number": (lambda f: totals(f).filter((N > 1) & N).height, "."),
    "truths added": (lambda f: totals(f).select(((N > 1) + 1).sum()).item(), "."),
}


@pytest.mark.parametrize("name", mostly_slow(REFUSED, 4))
def test_all_else_is_refused_with_the_line(name: str) -> None:
    expression, words = REFUSED[name]

    def released(frame: Any, rng: Any) -> Any:
        return expression(frame) + rng.laplace()

    table = table_of("replace")
    found = lt.mechanism(released, frame="polars").on_domain(table).align_paths(table)
    assert isinstance(found, NoPaths)
    assert re.search(words, found.reason), found.reason
    assert "test_polars_users.py" in found.reason


# ---- real numbers: in which order polars adds those of a user is not known

REAL: dict[str, Any] = {"user": lt.Key(), "spend": lt.Real()}


def test_rows_of_any_sign_have_no_sum_that_rounding_leaves() -> None:
    """1e300 - 1e300 + 1 is 0 or 1, by the order, which the rows of others may change."""

    def sums(frame: Any) -> Any:
        return frame.group_by("user").agg(SPEND.sum().clip(0, 3)).select(SPEND.sum()).item()

    found = aligned(sums, table_of("add_remove", REAL, rows=100), "polars")
    assert found.price is None
    assert "clip the rows, too" in found.reason


@pytest.mark.slow
@pytest.mark.parametrize("low", [0, -5])
def test_the_rounding_of_each_sum_is_part_of_the_price(low: int) -> None:
    """Against a bound in fractions: of sums of one sign that of their clips, of others of rows."""
    rows = 100

    def sums(frame: Any) -> Any:
        clipped = SPEND.clip(low, 5).sum().clip(-3, 3)
        return frame.group_by("user").agg(clipped).select(SPEND.sum()).item()

    found = aligned(sums, table_of("add_remove", REAL, rows=rows), "polars")
    unit = Fraction(1, 2**53)
    # Users have n rows together: one sum is off by n units times the clip, or n * n times 5.
    least = 2 * rows * unit * (3 if low == 0 else 5 * rows) + 2 * rows * rows * unit * 3
    above = Fraction(found.epsilon) - 3
    assert least <= above <= 5 * least


def test_sums_of_floats_are_not_compared() -> None:
    def those(frame: Any) -> Any:
        return frame.group_by("user").agg(SPEND.clip(0, 3).sum()).filter(SPEND > 1).height

    found = aligned(those, table_of("add_remove", REAL), "polars")
    assert found.price is None
    assert "rounding is not known" in found.reason


# ---- whole programs


def clipped(frame: pl.DataFrame, rng: Any) -> Any:
    sums = frame.group_by("user").agg(SPEND.sum().clip(0, 10))
    return sums.select(pl.sum("spend")).item() + rng.laplace(scale=10)


def clip_not_used(frame: pl.DataFrame, rng: Any) -> Any:
    sums = frame.group_by("user", maintain_order=True).agg(SPEND.sum())
    sums.with_columns(SPEND.clip(0, 10))
    return sums["spend"].sum() + rng.laplace(scale=10)


def one_row_more(frame: pl.DataFrame, rng: Any) -> Any:
    few = frame.group_by("user", maintain_order=True).head(3)
    return few.select(SPEND.clip(0, 5).sum()).item() + rng.laplace(scale=10)


LARGE = [
    (clipped, "YES"),
    pytest.param(clip_not_used, "NO", marks=pytest.mark.slow),
    pytest.param(one_row_more, "NO", marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize(("released", "decision"), LARGE)
def test_large_tables_of_users(released: Any, decision: str) -> None:
    columns = {"user": lt.Key(), "spend": lt.Integer(-3, 50)}
    table = table_of("add_remove", columns, rows=50_000)
    found = lt.check_privacy(lt.mechanism(released), table, epsilon=1, floats="ideal")
    assert found.decision == decision, str(found)


# ---- an order that is not determined, on plain frames


def in_order(frame: pl.DataFrame, rng: Any) -> Any:
    sums = frame.group_by("user", maintain_order=True).agg(SPEND.sum().clip(0, 10))
    return sums.select(pl.sum("spend")).item() + int(rng.integers(0, 3))


def in_any_order(frame: pl.DataFrame, rng: Any) -> Any:
    sums = frame.group_by("user").agg(SPEND.sum().clip(0, 10))
    return sums.select(pl.sum("spend")).item() + int(rng.integers(0, 3))


@pytest.mark.slow
def test_an_order_on_which_no_sum_depends_is_not_asked_for() -> None:
    """Sums of whole numbers: the laws are those of the program that keeps the order."""
    table = table_of("replace", at_most=2)
    ordered, free = (lt.mechanism(one).on_domain(table) for one in (in_order, in_any_order))
    rng = np.random.default_rng(0)
    points = [table.draw(rng, users) for users in (1, 3)]
    laws = [[dict(one.law(point)) for point in points] for one in (ordered, free)]
    assert laws[0] == laws[1]
    assert len(set(map(str, laws[0]))) > 1


@pytest.mark.slow
def test_too_little_noise_is_refuted_in_any_order() -> None:
    table = table_of("replace", at_most=2, rows=50_000)
    found = lt.check_privacy(lt.mechanism(clipped), table, epsilon=0.5)
    assert found.decision == "NO"


OF_ORDER: dict[str, tuple[Callable[[Any], Any], Any, str]] = {
    "rounded": (
        lambda f: f.group_by("user").agg(SPEND.mean().clip(0, 3))["spend"].sum(),
        COLUMNS["spend"],
        "rounded otherwise",
    ),
    "swapped": (
        lambda f: f.group_by("user").agg(SPEND.sum().clip(3, 0))["spend"].sum(),
        COLUMNS["spend"],
        "lower bound above",
    ),
    "not a number": (
        lambda f: f.group_by("user").agg(SPEND.sum().clip(0, math.nan))["spend"].sum(),
        lt.Real(),
        "NaN",
    ),
    "not clipped": (
        lambda f: f.group_by("user").agg(SPEND.sum())["spend"].sum(),
        COLUMNS["spend"],
        "not clipped",
    ),
    "listed": (
        lambda f: f.group_by("spend").len().rows()[0][1],
        COLUMNS["spend"],
        "groups that occur",
    ),
}


@pytest.mark.parametrize("name", OF_ORDER)
def test_what_is_wrong_is_told_before_an_order_that_is_not_determined(name: str) -> None:
    expression, spend, words = OF_ORDER[name]

    def released(frame: Any, rng: Any) -> Any:
        return expression(frame) + rng.laplace()

    table = table_of("add_remove", {"user": lt.Key(), "spend": spend})
    mechanism = lt.mechanism(released, frame="polars").on_domain(table)
    with pytest.raises(NonDeterministicError, match=f"{words}.*maintain_order=True"):
        mechanism.densities().law(table.zeros)
