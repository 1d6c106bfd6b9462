"""Series with known keys: what is done with noisy counts, where data are symbolic and where not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from liptest.values.answers.kinds_of_values import two_of_each
from liptest.values.pandas.keyed_series import KeyedSeries

SCHOOLS = ["hs", "ba", "ma"]
TABLE = lt.Table({"school": lt.Category(SCHOOLS), "age": lt.Integer(0, 99)}, rows=2000)


def noisy_counts(frame: Any, rng: Any) -> tuple[Any, Any]:
    counts = frame["school"].value_counts().reindex(SCHOOLS, fill_value=0)
    return counts, counts + rng.laplace(0, 2.0, 3)


def clipped(frame: Any, rng: Any) -> Any:
    return noisy_counts(frame, rng)[1].clip(lower=0).tolist()


def kept_where_positive(frame: Any, rng: Any) -> Any:
    noisy = noisy_counts(frame, rng)[1]
    return noisy.where(noisy > 0, 0).to_dict()


def masked_where_negative(frame: Any, rng: Any) -> Any:
    noisy = noisy_counts(frame, rng)[1]
    return noisy.mask(noisy < 0, 0).round().tolist()


def where_the_true_count_is_large(frame: Any, rng: Any) -> Any:
    counts, noisy = noisy_counts(frame, rng)
    return noisy.where(counts >= 10, 0).tolist()


def masked_where_the_true_count_is_small(frame: Any, rng: Any) -> Any:
    counts, noisy = noisy_counts(frame, rng)
    return noisy.mask(counts < 10, -1).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("program", [clipped, kept_where_positive, masked_where_negative])
def test_noisy_counts_are_proved_and_refuted(program: Callable[..., Any]) -> None:
    """A replaced row moves two counts by one each: epsilon 2 / 2."""
    assert lt.check_privacy(program, TABLE, epsilon=1.0).guarantee.kind == "proof"
    assert lt.check_privacy(program, TABLE, epsilon=0.95).decision == "NO"


@pytest.mark.slow
@pytest.mark.parametrize(
    "program", [where_the_true_count_is_large, masked_where_the_true_count_is_small]
)
def test_what_the_true_count_decides_is_refuted(program: Callable[..., Any]) -> None:
    verdict = lt.check_privacy(program, TABLE, epsilon=1.0)
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.loss_lower > 1.0


@pytest.mark.parametrize("other", [0, 1.5, pd.Series([7, 8, 9], index=SCHOOLS)])
def test_where_and_mask_are_those_of_pandas(other: Any) -> None:
    series = pd.Series([3, -1, 0], index=SCHOOLS)
    keyed = KeyedSeries(SCHOOLS, series.to_numpy())
    for name in ("where", "mask"):
        ours = getattr(keyed, name)(series > 0, other)
        theirs = getattr(series, name)(series > 0, other)
        assert list(ours.keys_) == theirs.index.tolist()
        assert ours.array.tolist() == theirs.tolist()


@pytest.mark.slow
def test_where_without_another_number_leaves_entries_missing() -> None:
    def nothing_for_the_others(frame: Any, rng: Any) -> Any:
        noisy = noisy_counts(frame, rng)[1]
        return noisy.where(noisy > 0).tolist()

    verdict = lt.check_privacy(nothing_for_the_others, TABLE, epsilon=1.0)
    assert verdict.decision == "YES"


def test_two_values_of_each_kind_are_listed() -> None:
    tables = [np.array([0, 1, 0, 0, 1, 2, 1]), np.array([0.0, 0.5, 0.0, 0.0, 0.5, 0.5, 0.25])]
    assert two_of_each(tables, 7) == [0, 1, 2, 4, 5, 6]
    assert two_of_each([], 4) == [0, 1]
