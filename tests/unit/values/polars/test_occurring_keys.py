"""Groups of polars that occur: numbers by constant key, and loops that tell large groups only.

Prices are compared with polars' own changes over all neighbouring small tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.privacy.proofs.prices import align
from tests.shares import mostly_slow
from tests.told_groups import check_delta, check_has_no_such_price
from tests.unit.values.frame_prices import change_of
from tests.unit.values.pandas.test_counted_groups import KEYS, SMALL

SIZES = lt.Table({"key": lt.Category(KEYS), "age": lt.Integer(-3, 6, step=3)}, rows=2)
OPEN = lt.Table(
    {"key": lt.Category(KEYS), "age": lt.Integer(-3, 6, step=3)}, rows=2, relation="add_remove"
)
LARGE = lt.Table({"key": lt.Category(KEYS), "age": lt.Integer(17, 90)}, rows=500)
AGE = pl.col("age")


def summed(frame: Any) -> Any:
    return frame.group_by("key").agg(AGE.clip(0, 3).sum())


def copied(frame: Any) -> Any:
    sizes = {}
    for key, size in frame.group_by("key").len().iter_rows():
        sizes[key] = size  # noqa: PERF403
    return sizes.get("c", 0)


def counted(frame: Any) -> Any:
    found = frame["key"].value_counts(sort=True)
    return dict(zip(found["key"].to_list(), found["count"].to_list(), strict=True)).get("a", 0)


def zipped(frame: Any) -> Any:
    found = frame.group_by("key").len()
    return dict(zip(found["key"], found["len"], strict=True)).get("b", 0)


def asked(frame: Any) -> Any:
    sizes = dict(frame.group_by("key").len().rows())
    return sizes["a"] if "a" in sizes else 0  # noqa: SIM401


EXPRESSIONS: dict[str, Callable[[Any], Any]] = {
    "zip of columns": zipped,
    "rows": lambda f: dict(f.filter(AGE > 0).group_by("key").len().rows()).get("a", 0),
    "lazy": lambda f: dict(
        f.lazy().group_by("key").agg(n=pl.len()).sort("key").collect().iter_rows()
    ).get("a", 0),
    "sums": lambda f: dict(summed(f).iter_rows()).get("b", 0),
    "the row of a key": lambda f: summed(f).filter(pl.col("key") == "c")["age"].sum(),
    "a number as key": lambda f: dict(f.group_by("age").len().rows()).get(3, 0),
    "a key that is never there": lambda f: dict(f.group_by("age").len().rows()).get(4, 0),
    "named rows": lambda f: {
        row["key"]: row["len"] for row in f.group_by("key").len().to_dicts()
    }.get("a", 0),
    "copied": copied,
    "value counts": counted,
    "where it is there": asked,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("table", [SIZES, OPEN], ids=["replace", "add_remove"])
def test_the_price_is_the_sensitivity(name: str, table: lt.Table) -> None:
    expression = EXPRESSIONS[name]

    def release(frame: pl.DataFrame, rng: Any) -> Any:
        return expression(frame) + rng.laplace()

    found = align(lt.mechanism(release).on_domain(table), table)
    assert found.price is not None, found.reason
    assert math.isclose(found.epsilon, change_of(expression, table, "polars"), rel_tol=1e-9)


NOT_FOLLOWED: dict[str, Callable[[Any], Any]] = {
    "how many groups": lambda f: f.group_by("key").len().height,
    "how many rows": lambda f: len(f.group_by("key").len()),
    "a place": lambda f: f.group_by("key").len().sort("key")["len"][0],
    "all sizes": lambda f: f.group_by("key").len()["len"].sum(),
    "another default": lambda f: dict(f.group_by("key").len().rows()).get("a", 1),
    "without a default": lambda f: dict(f.group_by("key").len().rows())["a"],
    "a key of another type": lambda f: dict(f.group_by("age").len().rows()).get(3.0, 0),
    "sorted by size": lambda f: f.group_by("key").len().sort("len")["key"].to_list()[0],
    "keys alone": lambda f: next(iter(f.group_by("key").len()["key"])),
    "zip of two frames": lambda f: dict(
        zip(f.group_by("key").len()["key"], f.group_by("key").len()["len"], strict=True)
    ).get("a", 0),
    "a lazy frame": lambda f: dict(f.lazy().group_by("key").len().rows()).get("a", 0),
}


@pytest.mark.parametrize("name", mostly_slow(NOT_FOLLOWED, 4))
def test_what_tells_which_groups_there_are_is_refused(name: str) -> None:
    expression = NOT_FOLLOWED[name]

    def release(frame: pl.DataFrame, rng: Any) -> Any:
        return expression(frame) + rng.laplace()

    assert isinstance(lt.mechanism(release).on_domain(SIZES).align_paths(SIZES), NoPaths)


# ---- loops that tell large groups only


def in_their_order(scale: float, bound: float) -> Any:
    def told(frame: pl.DataFrame, rng: Any) -> Any:
        out = {}
        for key, size in frame.group_by("key").len().sort("key").iter_rows():
            noisy = size + rng.laplace(0, scale)
            if noisy > bound:
                out[key] = noisy
        return out

    return told


def in_any_order(scale: float, bound: float) -> Any:
    def told(frame: pl.DataFrame, rng: Any) -> Any:
        found = frame["key"].value_counts()
        pairs = zip(found["key"], found["count"], strict=True)
        return {key: n for key, size in pairs if (n := size + rng.laplace(0, scale)) > bound}

    return told


def by_names(scale: float, bound: float) -> Any:
    def told(frame: pl.DataFrame, rng: Any) -> Any:
        out = {}
        for row in frame.group_by("key").agg(n=pl.len()).iter_rows(named=True):
            noisy = row["n"] + rng.laplace(0, scale)
            if noisy > bound:
                out[row["key"]] = noisy
        return out

    return told


TOLD = {"in their order": in_their_order, "in any order": in_any_order, "by names": by_names}


@pytest.mark.slow
@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize(("scale", "bound"), [(1.0, 6.0), (4.0, 6.0)])
def test_no_delta_is_below_the_exact_one(name: str, scale: float, bound: float) -> None:
    epsilon = Fraction(2) / Fraction(scale)
    mechanism = lt.mechanism(TOLD[name](scale, bound)).on_domain(SMALL)
    found = align(mechanism, SMALL, epsilon, Fraction(9, 10))
    check_delta(found, scale, bound, float(epsilon))


def without_bound(frame: pl.DataFrame, rng: Any) -> Any:
    groups = frame.group_by("key").len().sort("key")
    return {key: size + rng.laplace(0, 2.0) for key, size in groups.iter_rows()}


def exact_test(frame: pl.DataFrame, rng: Any) -> Any:
    out = {}
    for key, size in frame.group_by("key").len().sort("key").iter_rows():
        noisy = size + rng.laplace(0, 2.0)
        if size > 35:
            out[key] = noisy
    return out


def sums(frame: pl.DataFrame, rng: Any) -> Any:
    out = {}
    for key, size in frame.group_by("key").agg(AGE.sum()).sort("key").iter_rows():
        noisy = size + rng.laplace(0, 2.0)
        if noisy > 135:
            out[key] = noisy
    return out


def in_a_list(frame: pl.DataFrame, rng: Any) -> Any:
    out = []
    for key, size in frame.group_by("key").len().iter_rows():
        noisy = size + rng.laplace(0, 2.0)
        if noisy > 35:
            out.append((key, noisy))
    return out


WRONG = {
    **{"low bound": in_their_order(2.0, 10.0), "small noise": in_any_order(1.9, 35.0)},
    **{"without bound": without_bound, "exact test": exact_test, "sums": sums, "list": in_a_list},
}


@pytest.mark.slow
@pytest.mark.parametrize("program", WRONG.values(), ids=WRONG)
def test_wrong_variants_have_no_such_price(program: Any) -> None:
    check_has_no_such_price(program, LARGE)


def halved_noise(frame: pl.DataFrame, rng: Any) -> Any:
    sizes = dict(frame.group_by("key").len().iter_rows())
    return [sizes.get(key, 0) + rng.laplace(0, 1.0) for key in KEYS]


@pytest.mark.slow
@pytest.mark.parametrize("program", [without_bound, exact_test, halved_noise])
def test_wrong_programs_are_refuted(program: Any) -> None:
    verdict = lt.check_privacy(program, LARGE, epsilon=1, seed=1)
    assert verdict.decision == "NO", str(verdict)


def sorted_by_size(frame: pl.DataFrame, rng: Any) -> Any:
    return frame.group_by("key").len().sort("len")["key"].to_list()


def sorted_later(frame: pl.DataFrame, rng: Any) -> Any:
    groups = frame.group_by("key").len()
    first = groups["key"].to_list()
    return first, groups.sort("key")["key"].to_list()


def summed_and_sorted(frame: pl.DataFrame, rng: Any) -> Any:
    return frame.group_by("key").agg(AGE.cast(pl.Float64).sum()).sort("key")["key"].to_list()


def sorted_by_another(frame: pl.DataFrame, rng: Any) -> Any:
    return frame.sort("age").group_by("key").len().sort("key")["key"].to_list()


@pytest.mark.parametrize(
    "program", [sorted_by_size, sorted_later, summed_and_sorted, sorted_by_another]
)
def test_an_order_that_is_not_known_is_refused(program: Any) -> None:
    with pytest.raises(lt.errors.MechanismError, match="order"):
        lt.mechanism(program).on_domain(SMALL).law([0, 1, 2])


def test_counts_that_are_sorted_at_once_are_followed() -> None:
    def keys_there(frame: pl.DataFrame, rng: Any) -> Any:
        return frame.group_by("key").agg(pl.len().alias("n")).sort("key")["key"].to_list()

    law = lt.mechanism(keys_there).on_domain(SMALL).law([0, 0, 1])
    assert list(law.outputs) == [("a", "b")]
