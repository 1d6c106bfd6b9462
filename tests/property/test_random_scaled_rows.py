"""Random pipelines that scale rows by their norm: prices against the largest change by NumPy.

Each begins with columns, a norm and a factor, and ends with sums; neighbours differ in a row, in
its presence, or in the rows of one user.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.privacy.proofs.prices import align
from liptest.symbolic.direct_sums import normal_epsilon

COLUMNS: dict[str, Any] = {"x": lt.Real(), "y": lt.Real(-2, 5), "z": lt.Real(), "m": lt.Bit()}
VALUES = {
    "x": (0.0, 3.0, -1e9, 1e300),
    "y": (-2.0, 0.0, 1.0, 5.0),
    "z": (1e-200, -0.5, 1e9),
    "m": (0, 1),
}
FACTORS: dict[str, Callable[[Any, float], Any]] = {
    "minimum": lambda norm, c: np.minimum(1, c / norm),
    "above": lambda norm, c: c / np.maximum(norm, c),
    "small": lambda norm, c: np.clip(c / (norm + 1e-6), None, 1.0),
    "half": lambda norm, c: np.minimum(0.5, 0.5 * (c / np.maximum(norm, 1e-9))),
}
LAST: dict[str, Callable[[Any], Any]] = {
    "as they are": lambda rows: rows,
    "times": lambda rows: 3 * rows,
    "divided": lambda rows: -rows / 4,
    "sizes": lambda rows: abs(rows),
    "clipped": lambda rows: np.clip(rows, -1, 0.5),
    "first": lambda rows: rows[:, :1],
}
SELECTED: dict[str, Callable[[Any], Any]] = {
    "all": lambda frame: frame,
    "bits": lambda frame: frame[frame["m"] == 1],
    "cut": lambda frame: frame[frame["y"] > 0],
    "zero": lambda frame: frame[frame["x"] != 0],
}


@st.composite
def pipelines(draw: Any) -> Callable[[Any], Any]:
    names = draw(st.sampled_from([["x", "y"], ["x", "z"], ["x", "y", "z"], ["x", "m"]]))
    order = draw(st.sampled_from([None, 1, np.inf]))
    bound = draw(st.sampled_from([0.25, 1.0, 3.0]))
    factor = FACTORS[draw(st.sampled_from(sorted(FACTORS)))]
    last = LAST[draw(st.sampled_from(sorted(LAST)))]
    selected = SELECTED[draw(st.sampled_from(sorted(SELECTED)))]
    counts = draw(st.sampled_from([(), ("y",), ("y", "m")]))

    def expression(frame: Any) -> Any:
        chosen = selected(frame)
        rows = chosen[names].to_numpy()
        scaled = last(rows * factor(np.linalg.norm(rows, order, axis=1), bound)[:, None])
        sums = list(scaled.sum(axis=0))
        return [*sums, *((frame[name] == 1).sum() for name in counts)]

    return expression


REST = (0.5, 1.0, 0.25, 1.0)


@cache
def _frames() -> list[Any]:
    """Of another row alone, and of each row beside it."""
    import pandas as pd

    every = [[REST], *([row, REST] for row in product(*VALUES.values()))]
    return [pd.DataFrame(rows, columns=list(COLUMNS)).astype(float) for rows in every]


def _largest(expression: Any, relation: str) -> tuple[float, float]:
    """In 1-norm and 2-norm."""
    with np.errstate(all="ignore"):
        alone, *others = (np.array(expression(frame), dtype=float) for frame in _frames())
    distinct = np.unique(np.array([one - alone for one in others]), axis=0)
    changes = distinct if relation == "add_remove" else distinct[:, None] - distinct[None]
    flat = changes.reshape(-1, distinct.shape[1])
    return float(np.abs(flat).sum(axis=1).max()), float(np.sqrt((flat**2).sum(axis=1)).max())


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(pipelines(), st.sampled_from(["replace", "add_remove", "user"]))
def test_prices_are_no_less_than_the_largest_change(expression: Any, relation: str) -> None:
    one, two = _largest(expression, "add_remove" if relation == "add_remove" else "replace")
    table: Any = lt.Table(COLUMNS, rows=2, relation=relation.replace("user", "replace"))
    times = 1
    if relation == "user":
        table = lt.Table(COLUMNS | {"user": lt.Key()}, rows=4, unit="user", at_most=2)
        times = 2

    def price(noise: str, delta: float) -> Any:
        def released(frame: Any, rng: Any) -> Any:
            # Not by getattr: of code that uses it all calls are looked at, which takes as long.
            draw = rng.laplace if noise == "laplace" else rng.normal
            return [value + draw(scale=4) for value in expression(frame)]

        found = align(lt.mechanism(released).on_domain(table), table, delta=delta)
        assert found.price is not None, found.reason
        return found.epsilon

    assert price("laplace", 0) >= times * one / 4 * (1 - 1e-9)
    least = normal_epsilon(Fraction(times * two / 4), Fraction(1, 1000), Fraction(0))
    assert least is not None
    assert price("normal", 0.001) >= float(least) * (1 - 1e-7)


def test_the_oracle_finds_the_change_of_a_bare_clip() -> None:
    def clipped(frame: Any) -> Any:
        return [frame["y"].clip(0, 1).sum()]

    assert _largest(clipped, "replace") == (1.0, 1.0)
