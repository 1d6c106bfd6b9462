"""Draws made of several choices, in the ways NumPy makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.errors import BudgetError
from liptest.values.bits import draw_bits
from liptest.values.branching import Branches, Branching
from liptest.values.faults import raises_as_numpy
from liptest.whitebox.stand_ins.finite import cdf_weights

# Weights of one binomial draw: 64 MiB.
_MAX_WEIGHT_BITS = 1 << 29


def check_digits(tree: Branching, method: str, trials: int, bits: int) -> None:
    """BudgetError when ``trials`` weights of ``trials * bits`` binary digits are too many."""
    if trials > 0 and trials * trials * bits > _MAX_WEIGHT_BITS:
        tree.fail(
            BudgetError(
                f"{tree.name}: the probabilities of rng.{method} have too many digits to be "
                f"enumerated exactly: about {trials:.3g} outcomes; draw fewer, use a p with few "
                f"binary digits, or declare the law with lt.ClosedForm",
                needed=trials,
            )
        )


def order(tree: Branching, count: int) -> list[int]:
    """A uniform order of 0 .. count-1."""
    left = list(range(count))
    return [left.pop(tree.choose(len(left))) for _ in range(count - 1)] + left


def distinct(tree: Branching, count: int, number: int, shuffle: bool) -> list[int]:
    """``number`` different ones of 0 .. count-1, ``choice(count, number, replace=False)``."""
    if shuffle:
        # A shuffle of which only the changed places are kept: count may be large.
        moved: dict[int, int] = {}
        drawn = []
        for last in range(count - 1, count - number - 1, -1):
            place = tree.choose(last + 1)
            drawn.append(moved.get(place, place))
            moved[place] = moved.get(last, last)
        return drawn
    # Floyd's algorithm, whose order is not uniform; NumPy has another way only for samples that
    # are far beyond any budget here.
    found: dict[int, None] = {}
    for last in range(count - number, count):
        one = tree.choose(last + 1)
        found[last if one in found else one] = None
    return list(found)


@raises_as_numpy
def distinct_by_weight(tree: Branching, p: NDArray[np.float64], number: int) -> list[int]:
    """As above with probabilities ``p``, which is used up.

    NumPy draws all that are missing at once, keeps what is new, sets its mass to 0 and draws
    again. Raises its ValueError when too few items have a mass.
    """
    if np.count_nonzero(p > 0) < number:
        raise ValueError("Fewer non-zero entries in p than size")
    found: list[int] = []
    while len(found) < number:
        p[found] = 0.0
        weights = cdf_weights(p)
        drawn = [tree.choose(weights) for _ in range(number - len(found))]
        found.extend(dict.fromkeys(drawn))
    return found


def taken(items: NDArray[Any], drawn: list[int], shape: tuple[int, ...] | None, axis: int) -> Any:
    """Items at drawn positions, with the types and shapes that NumPy returns."""
    if shape is None:
        return drawn[0] if items.ndim == 0 else items.take(drawn[0], axis=axis)
    positions = np.array(drawn, dtype=np.int64).reshape(shape)
    if items.ndim == 0:
        return positions
    if not shape and items.ndim == 1:
        entry = np.empty((), dtype=items.dtype)
        entry[()] = items[drawn[0]]
        return entry
    return items.take(positions, axis=axis)


def ranged(tree: Branching, model: Any, lows: Any, highs: Any, *, endpoint: bool) -> Any:
    """Uniform whole numbers from lows to highs in the place of those that NumPy drew, ``model``.

    Types and shapes are the model's; both limits are broadcast to its shape.
    """
    drawn = np.asarray(model)
    ends = [np.broadcast_to(np.asarray(a, dtype=object), drawn.shape) for a in (lows, highs)]
    if drawn.size and np.all(ends[1] - ends[0] + endpoint == 2):
        two = draw_bits(tree, [(1, 1)], np.stack([ends[0], ends[0] + 1], -1).astype(drawn.dtype))
        if two is not None:
            return two
    for cell, (first, last) in enumerate(zip(ends[0].flat, ends[1].flat, strict=True)):
        drawn.flat[cell] = int(first) + tree.choose(int(last) - int(first) + endpoint)
    if isinstance(model, np.ndarray):
        return drawn
    return type(model)(drawn[()])


def of_two(
    tree: Branching, items: NDArray[Any], shape: tuple[int, ...], weights: Branches | None
) -> Any:
    """``choice`` of two items, or of 0 and 1, as 0/1 variables; None where they are none."""
    if items.ndim > 1:
        return None
    pair = weights if isinstance(weights, tuple) else (1, 1)
    values = np.arange(2) if items.ndim == 0 else items
    return draw_bits(tree, [pair], np.broadcast_to(values, (*shape, 2)))


def trials_of_one(tree: Branching, model: NDArray[Any], n: Any, p: Any) -> Any:
    """``binomial(1, p)`` as 0/1 variables, in the shape of ``model``; None where they are none."""
    if not model.size or not np.all(np.asarray(n) == 1):
        return None
    each = p if np.ndim(p) == 0 else np.broadcast_to(p, model.shape).flat
    ratios = [float(one).as_integer_ratio() for one in np.atleast_1d(each)]
    weights = [(whole - part, part) for part, whole in ratios]
    values = np.arange(2).astype(model.dtype)
    return draw_bits(tree, weights, np.broadcast_to(values, (*model.shape, 2)))
