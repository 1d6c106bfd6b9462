"""What code under analysis may call of polars: nothing that draws, or gives rows in any order."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from polars import col

import liptest as lt
from liptest.errors import NonDeterministicError, UnsupportedRandomnessError
from tests.shares import mostly_slow

TABLE = lt.Table({"age": lt.Integer(0, 3), "member": lt.Bit()}, rows=2)
SHUFFLED = pl.col("age").shuffle()
CLIPPED = pl.col("age").clip(0, 2).sum()
OF_PYTHON = pl.col("age").map_elements(lambda one: one, return_dtype=pl.Int64)
LAZY = pl.LazyFrame({"age": [1, 2, 3]}).group_by("age").len()
GROUPS = pl.DataFrame({"age": [1, 2, 3]}).group_by("age")

NOT_DETERMINED: dict[str, tuple[Callable[..., Any], str]] = {
    "sample": (lambda f: f.sample(1)["age"].item(), r"DataFrame\.sample"),
    "a shuffle made before": (lambda f: f.select(SHUFFLED)["age"][0], "an expression of polars"),
    "groups": (lambda f: f.group_by("age").len()["len"].to_list(), "maintain_order=True"),
    "counts": (lambda f: f["age"].value_counts().rows(), "order that is not determined"),
    "a lazy frame made before": (lambda f: LAZY.collect().rows(), "made before"),
    "shuffle": (lambda f: f["age"].shuffle()[0], r"Series\.shuffle"),
    "in a list": (lambda f: f.with_columns([SHUFFLED]).row(0), "an expression of polars"),
    "by keyword": (lambda f: f.with_columns(a=SHUFFLED).row(0), "an expression of polars"),
    "inside another": (lambda f: f.select(SHUFFLED + 1).row(0), "an expression of polars"),
    "an imported name": (lambda f: f.select(col("age").sample(1)).item(), r"Expr\.sample"),
    "functions of Python": (lambda f: f.select(OF_PYTHON)["age"].sum(), "an expression of polars"),
    "unique entries": (lambda f: f.select(pl.col("age").unique())["age"][0], r"Expr\.unique"),
    "unique rows": (lambda f: f.unique().rows(), "order that is not determined"),
    "any of some rows": (
        lambda f: f.unique("age", maintain_order=True).rows(),
        "keeps any row",
    ),
    "sorted, with ties": (lambda f: f.sort("age").rows(), "maintain_order=True"),
    "joined": (lambda f: f.join(f, on="age").rows(), "maintain_order='left'"),
    "groups made before": (lambda f: GROUPS.len().rows(), "made before"),
    "ranks": (lambda f: f.select(pl.col("age").rank("random")).rows(), r"Expr\.rank"),
    "compiled": (lambda f: f._df.height(), "compiled code was called"),
    "seeded": (lambda f: pl.set_random_seed(3), "set_random_seed"),
    "mapped": (lambda f: next(map(pl.DataFrame.sample, [f])).height, r"DataFrame\.sample"),
    "reduced": (
        lambda f: functools.reduce(lambda a, b: a.sample(b), [1, 1], f).height,
        r"DataFrame\.sample",
    ),
    "in SQL": (lambda f: pl.sql("SELECT 1").collect().item(), "sql"),
}


@pytest.mark.parametrize("name", mostly_slow(NOT_DETERMINED, 4))
def test_what_is_not_determined_is_refused(name: str) -> None:
    function, words = NOT_DETERMINED[name]

    def release(frame: pl.DataFrame, rng: Any) -> Any:
        return function(frame)

    with pytest.raises((NonDeterministicError, UnsupportedRandomnessError), match=words) as caught:
        lt.output_law(lt.mechanism(release).on_domain(TABLE), [3, 6])
    assert "test_polars_calls.py" in str(caught.value)


DETERMINED: dict[str, Callable[[Any], Any]] = {
    "an expression made before": lambda f: f.select(CLIPPED).item(),
    "a lazy frame": lambda f: f.lazy().select(pl.col("age").sum()).collect().item(),
    "series": lambda f: f["age"].clip(0, 2).abs().sum(),
    "groups in order": lambda f: f.group_by("age", maintain_order=True).len().rows(),
    "sorted": lambda f: f.sort("age", maintain_order=True).rows(),
}


@pytest.mark.parametrize("name", mostly_slow(DETERMINED, 2))
def test_the_rest_is_run_with_real_frames(name: str) -> None:
    function, dataset = DETERMINED[name], [3, 6]

    def release(frame: pl.DataFrame, rng: Any) -> Any:
        return function(frame)

    law = lt.output_law(lt.mechanism(release).on_domain(TABLE), dataset)
    found = function(TABLE.frame(dataset, "polars"))
    assert len(law.outputs) == 1
    assert law.outputs[0] == found or list(law.outputs[0]) == [tuple(one) for one in found]


def test_frames_that_code_makes_itself_are_looked_at_too() -> None:
    def sampled(data: Any, rng: Any) -> Any:
        return pl.DataFrame({"a": data}).sample(1).item()

    def summed(data: Any, rng: Any) -> Any:
        return bool(pl.DataFrame({"a": data})["a"].sum() > rng.integers(2))

    with pytest.raises(NonDeterministicError, match="sample"):
        lt.output_law(lt.mechanism(sampled), [0, 1])
    assert len(lt.output_law(lt.mechanism(summed), [0, 1]).outputs) == 2
