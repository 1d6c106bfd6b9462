"""Which truths comparisons of one record with released numbers have together.

``x > w - 1`` and ``x < w + 1`` of one record x and one released w are never both false. Comparisons
with numbers that differ by constants are a *group*: where x lies among these numbers says all of
them. Other comparisons may be true or false whatever the others are (docs/theory/tables.md, B9).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liptest.values.recipes import RowCondition

Truths = NDArray[np.bool_]
_MIRRORED: dict[Any, Any] = {
    np.less: np.greater,
    np.less_equal: np.greater_equal,
    np.greater: np.less,
    np.greater_equal: np.less_equal,
}
# What floats of numbers with noise may be off by, relatively.
_APART = Fraction(1, 1 << 30)


class ConditionGroup(NamedTuple):
    """Comparisons, and the truths (ways, comparisons) that they may have."""

    conditions: tuple[RowCondition, ...]
    truths: Truths

    def places_of(self, rows: NDArray[np.int64], entries: Mapping[Any, Any]) -> NDArray[np.intp]:
        """By record the first way in which it has what is known already, where there is one."""
        known = [k for k, one in enumerate(self.conditions) if one.keys <= entries.keys()]
        if not known:
            return np.zeros(len(rows), dtype=np.intp)
        codes, first = np.unique(_codes(self.truths[:, known]), return_index=True)
        held = np.stack([self.conditions[k].holds(rows, entries) for k in known], axis=1)
        places = np.searchsorted(codes, _codes(held))
        return first[np.minimum(places, len(codes) - 1)]


def _codes(truths: Truths) -> NDArray[np.int64]:
    return truths.astype(np.int64) @ (1 << np.arange(truths.shape[1], dtype=np.int64))


def groups_of(
    conditions: Iterable[RowCondition], limits: Mapping[str, tuple[float, float]]
) -> list[ConditionGroup]:
    """All comparisons in groups; ``limits`` are those of the real columns."""
    own: dict[Any, list[RowCondition]] = {}
    for condition in conditions:
        sides = _sides(condition)
        own.setdefault(condition if sides is None else sides[:2], []).append(condition)
    return [made for group in own.values() for made in _split(group, limits)]


def _split(
    conditions: list[RowCondition], limits: Mapping[str, tuple[float, float]]
) -> list[ConditionGroup]:
    sides = [one for one in map(_sides, conditions) if one is not None]
    if not sides:
        return [ConditionGroup((one,), np.array([[False], [True]])) for one in conditions]
    number, name = sides[0][:2]
    compared = [one[2:] for one in sides]
    steps = sorted({offset for _, offset in compared})
    room = _APART * (_largest(number, limits) + max(map(abs, steps)))
    if any(after - before <= room for before, after in pairwise(steps)):
        pairs = list(zip(conditions, compared, strict=True))
        alone = [[one for one, (_, offset) in pairs if offset == step] for step in steps]
        return [made for own in alone for made in _split(own, limits)]
    ways = []
    for place in range(2 * len(steps) + 1):
        signs = {step: place - 2 * k - 1 for k, step in enumerate(steps)}
        ways.append([bool(comparison(signs[step], 0)) for comparison, step in compared])
    if name[0] == "value":  # which may be no number
        ways.append([comparison is np.not_equal for comparison, _ in compared])
    return [ConditionGroup(tuple(conditions), np.unique(np.array(ways), axis=0))]


def _sides(condition: RowCondition) -> tuple[Any, Any, Any, Fraction] | None:
    """What is compared of a record, with which released number and how; None for all else.

    The released number is one by its name, and a constant that is added to it.
    """
    comparison, left, right = condition
    if left[0] == "known":
        comparison, left, right = _MIRRORED.get(comparison, comparison), right, left
    if right[0] != "known" or left[0] not in ("table", "real"):
        return None
    name = right[1]
    if name[0] == "sum":
        return left, name[:3], comparison, Fraction(name[3])
    return left, name, comparison, Fraction(0)


def _largest(recipe: Any, limits: Mapping[str, tuple[float, float]]) -> Fraction:
    """The largest size of a number of a record."""
    if recipe[0] == "real":
        return Fraction(max(map(abs, limits[recipe[1]])))
    table = np.frombuffer(recipe[2], dtype=recipe[1])
    return Fraction(float(np.max(np.abs(table.astype(np.float64)))))
