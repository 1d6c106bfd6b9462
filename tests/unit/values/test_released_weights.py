"""Steps of gradient descent at weights of an earlier step, which are released.

The oracle is NumPy at rows and weights on a grid: what one row changes in a step, at any weight.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from tests.unit.values.frame_prices import reason_of

ROWS = 50
LINE = lt.Table({"x": lt.Real(-1, 1), "y": lt.Real(0, 2)}, rows=ROWS)
POINTS = lt.Table({"a": lt.Real(-10, 10), "b": lt.Real(-10, 10), "y": lt.Bit()}, rows=ROWS)
NUMBERS = list(product((-1.0, -0.3, 0.0, 1.0), (0.0, 0.7, 2.0)))
WEIGHTS = (-1e6, -2.0, -0.1, 0.0, 0.5, 3.0, 1e6)
#: By name the gradient of a row at a weight.
GRADIENTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "clipped": lambda w, x, y: np.clip((w * x - y) * x, -1, 1),
    "clipped error": lambda w, x, y: np.clip(x * w - y, -3, 0.5),
    "largest": lambda w, x, y: np.minimum(np.abs(x * w), 1) - y,
    "without weights": lambda w, x, y: x - y,
    "compared": lambda w, x, y: x + y > w,
    "chosen": lambda w, x, y: np.where(x > w, 1.5, -y),
    "squares": lambda w, x, y: np.clip(w * w * x, -1, 1),
    "scaled": lambda w, x, y: np.clip(w - y, 0, 1) * x,
}


def largest_change(name: str) -> float:
    """Of the first step, at weight 0, and of the second one, at its dearest weight."""
    found = []
    for weights in ((0.0,), WEIGHTS):
        steps = ([GRADIENTS[name](w, x, y) for x, y in NUMBERS] for w in weights)
        found.append(max(max(own) - min(own) for own in steps))
    return sum(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "largest",
        "scaled",
        "compared",
        "chosen",
        "squares",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("clipped", "clipped error", "without weights")
        ),
    ],
)
def test_each_step_costs_what_its_dearest_weights_do(name: str) -> None:
    gradient = GRADIENTS[name]

    def two_steps(frame: Any, rng: Any) -> Any:
        x, y, w = frame["x"].to_numpy(), frame["y"].to_numpy(), 0.0
        for _ in range(2):
            w = w - 0.1 * (gradient(w, x, y).sum() + rng.laplace())
        return w

    paths: Any = lt.mechanism(two_steps).on_domain(LINE).align_paths(LINE)
    proved = float(
        lt.check_privacy(lt.mechanism(two_steps), LINE, epsilon=20, floats="ideal").largest_loss
    )
    assert len(paths.paths) == 1
    assert len(paths.paths[0].places) == (1 if name == "without weights" else 2)
    assert proved >= largest_change(name) * (1 - 1e-12)
    assert math.isclose(proved, largest_change(name), rel_tol=1e-9)


def epoch(clip: float, scale: float, steps: int = 4) -> Any:
    """Rows of gradients, each of a length of at most ``clip``."""

    def descend(frame: Any, rng: Any) -> Any:
        rows, y, weights = frame[["a", "b"]].to_numpy(), frame["y"].to_numpy(), np.zeros(2)
        for _ in range(steps):
            gradients = rows * (rows @ weights - y)[:, None]
            lengths = np.linalg.norm(gradients, axis=1)
            own = gradients * np.minimum(1, clip / lengths)[:, None]
            weights = weights - 0.1 * (own.sum(axis=0) + rng.normal(scale=scale, size=2)) / ROWS
        return weights.tolist()

    return lt.mechanism(descend)


@pytest.mark.slow
def test_normal_steps_compose() -> None:
    mu = math.sqrt(4) * 2 / 16
    for claim, wanted in ((mu * (1 + 1e-6), "YES"), (mu * (1 - 1e-3), "INCONCLUSIVE")):
        verdict = lt.check_privacy(
            epoch(1, 16), POINTS, mu=claim, floats="ideal", method="alignment"
        )
        assert verdict.decision == wanted


def step(gradient: Callable[[Any, Any, Any], Any], noise: Any = None) -> Any:
    """The second step alone tells its gradient."""

    def descend(frame: Any, rng: Any) -> Any:
        x, y = frame["x"].to_numpy(), frame["y"].to_numpy()
        w = x.sum() + (rng.laplace(scale=2) if noise is None else noise(rng))
        return w, gradient(w, x, y).sum() + rng.laplace(scale=4)

    return lt.mechanism(descend)


REFUSED: dict[str, tuple[Any, str]] = {
    "not clipped": (step(lambda w, x, y: (w * x - y) * x), r"may overflow.*clip"),
    "weights without noise": (
        step(lambda w, x, y: np.clip(w * x, -1, 1), lambda rng: 0.0),
        r"without noise",
    ),
    "clipped at weights": (step(lambda w, x, y: np.minimum(x, w)), r"may overflow.*clip"),
    "a function of weights": (
        step(lambda w, x, y: np.clip(np.exp(w) * x, -1, 1)),
        r"with noise of any size",
    ),
    "noise that is far too large": (
        step(lambda w, x, y: np.clip(w * x, -1, 1), lambda rng: rng.laplace(scale=1e200)),
        r"noise of any size",
    ),
    "rows that are not all alike": (
        step(lambda w, x, y: x[[1, 1, 0]] * w),
        r"looks at single records",
    ),
    "a loop over the rows": (
        step(lambda w, x, y: np.array([one * w for one in x])),
        r"may overflow.*clip",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_all_else_is_refused_with_the_line(name: str) -> None:
    function, words = REFUSED[name]
    reason = reason_of(function, LINE)
    assert re.search(words, reason), reason
    assert "test_released_weights.py" in reason
