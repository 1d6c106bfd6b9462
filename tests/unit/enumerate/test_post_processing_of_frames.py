"""What follows the last noise of a function of a frame is free, unless it has kept its rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align

TABLE: Any = lt.Table({"x": lt.Real(-1, 1), "m": lt.Bit(), "r": lt.Category(["a", "b"])}, rows=50)
KEPT: list[Any] = []


class Holder:
    """Has an attribute."""

    kept: Any = None


def solved(frame: Any, rng: Any) -> Any:
    a, b = frame["x"].sum() + rng.laplace(0, 2), frame["m"].sum() + rng.laplace(0, 1)
    return np.linalg.lstsq(np.array([[a, b], [b, a]]), np.array([a, b]), rcond=None)[0]


def in_a_list(frame: Any, rng: Any) -> Any:
    KEPT[:] = [frame]
    a, b = frame["x"].sum() + rng.laplace(0, 2), frame["m"].sum() + rng.laplace(0, 1)
    return np.linalg.lstsq(
        np.array([[a, b], [b, a]]), np.array([a, KEPT[0]["m"].sum()]), rcond=None
    )


def in_an_attribute(frame: Any, rng: Any) -> Any:
    Holder.kept = frame["m"]
    a, b = frame["x"].sum() + rng.laplace(0, 2), frame["m"].sum() + rng.laplace(0, 1)
    return np.linalg.lstsq(np.array([[a, b], [b, a]]), np.array([a, Holder.kept.sum()]), rcond=None)


def of_keys(frame: Any, rng: Any) -> Any:
    Holder.kept = frame["r"]
    a, b = frame["x"].sum() + rng.laplace(0, 2), frame["m"].sum() + rng.laplace(0, 1)
    return np.linalg.lstsq(np.array([[a, b], [b, a]]), [a, (Holder.kept == "a").sum()], rcond=None)


def in_a_closure(frame: Any, rng: Any) -> Any:
    count: Callable[[], Any] = lambda: frame["m"].sum()  # noqa: E731
    a, b = frame["x"].sum() + rng.laplace(0, 2), frame["m"].sum() + rng.laplace(0, 1)
    return np.linalg.lstsq(np.array([[a, b], [b, a]]), np.array([a, count()]), rcond=None)


@pytest.mark.slow
def test_it_is_free() -> None:
    found = align(lt.mechanism(solved).on_domain(TABLE), TABLE)
    assert 2 <= found.epsilon <= 2.0001


@pytest.mark.parametrize("function", [in_a_list, in_an_attribute, of_keys, in_a_closure])
def test_what_is_kept_is_found(function: Any) -> None:
    found = align(lt.mechanism(function).on_domain(TABLE), TABLE)
    assert found.epsilon == np.inf


def of_polars(frame: Any, rng: Any) -> Any:
    KEPT[:] = [frame]
    a, b = frame["x"].sum() + rng.laplace(0, 2), frame["m"].sum() + rng.laplace(0, 1)
    return np.linalg.lstsq(
        np.array([[a, b], [b, a]]), np.array([a, KEPT[0]["m"].sum()]), rcond=None
    )


def of_an_expression(frame: Any, rng: Any) -> Any:
    Holder.kept = frame["m"] + 1
    a, b = frame["x"].sum() + rng.laplace(0, 2), frame["m"].sum() + rng.laplace(0, 1)
    return np.linalg.lstsq(np.array([[a, b], [b, a]]), np.array([a, Holder.kept.sum()]), rcond=None)


@pytest.mark.slow
@pytest.mark.parametrize("function", [of_polars, of_an_expression])
def test_what_is_kept_of_frames_of_polars_is_found(function: Any) -> None:
    pytest.importorskip("polars")
    found = align(lt.mechanism(function, frame="polars").on_domain(TABLE), TABLE)
    assert found.epsilon == np.inf
    free = align(lt.mechanism(solved, frame="polars").on_domain(TABLE), TABLE)
    assert 2 <= free.epsilon <= 2.0001
