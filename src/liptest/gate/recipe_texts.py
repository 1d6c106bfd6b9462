"""Recipes as plain values: how numbers are calculated from numbers, by few functions of NumPy.

They fail for no number, and what they give for a row or a user does not depend on others, to the
last digit: they are rounded correctly, and none tells 0.0 and -0.0 apart by where they stand.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.errors import GateError
from liptest.values.protocol import COMPARISONS
from liptest.values.reals.recipes import ENDS, Recipe

Floats = NDArray[np.float64]
Functions = Mapping[str, tuple[Any, int]]
_LOGICAL = (np.logical_and, np.logical_or, np.logical_not)
_OF_NUMBERS = (np.maximum, np.minimum, np.add, np.subtract, np.multiply, np.divide, np.absolute)
#: By name with how many operands. Powers are not rounded alike in all places of an array.
OF_ROWS: Functions = {
    "where": (np.where, 3),
    **{ufunc.__name__: (ufunc, ufunc.nin) for ufunc in ENDS if ufunc is not np.power},
}
#: Those of what is made of the rows of each user.
OF_USERS: Functions = {
    ufunc.__name__: (ufunc, ufunc.nin) for ufunc in (*_OF_NUMBERS, *COMPARISONS, *_LOGICAL)
}
# Levels of a recipe, and numbers in all tables together.
_DEEPEST, _MOST_NUMBERS = 200, 1 << 21


def hexadecimals(numbers: Floats) -> list[str]:
    """The hexadecimal text of each number; ``ReadingBudget.floats`` is the inverse."""
    return [number.hex() for number in numbers.tolist()]


def list_recipe(recipe: Recipe) -> list[Any]:
    """Plain JSON values; ``RecipeReader`` is the inverse."""
    kind, *rest = recipe
    if kind in ("real", "number"):
        return ["real", rest[0]] if kind == "real" else ["number", float(rest[1]).hex()]
    if kind == "table":
        return ["table", hexadecimals(np.frombuffer(rest[1]))]
    if kind == "cells":
        return ["cells", *map(list_recipe, rest[0])]
    return [kind.__name__, *map(list_recipe, rest)]


def plain_recipe(recipe: Recipe, functions: Functions = OF_ROWS) -> Recipe:
    """The same with all its numbers as floats; GateError where it is not of single rows."""
    kind, *rest = recipe
    if kind == "real":
        return recipe
    if kind == "number" and np.ndim(rest[1]) == 0:
        return ("number", np.float64, np.float64(rest[1]))
    if kind == "table":
        floats = np.frombuffer(rest[1], dtype=rest[0]).astype(np.float64)
        return ("table", np.float64, floats.tobytes())
    if kind == "cells":
        return ("cells", tuple(plain_recipe(part, functions) for part in rest[0]))
    if kind is np.power and rest[1][0] == "number" and rest[1][2] == 2:
        return plain_recipe((np.square, rest[0]), functions)
    if not callable(kind) or functions.get(kind.__name__, ())[:1] != (kind,):
        raise GateError("what a row adds to a sum depends on more than this row, or on noise")
    return (kind, *(plain_recipe(part, functions) for part in rest))


class ReadingBudget:
    """Counts what is read; ValueError beyond it."""

    def __init__(self) -> None:
        self._left = _MOST_NUMBERS

    def take(self, count: int) -> None:
        """So many more."""
        self._left -= count
        if self._left < 0:
            raise ValueError

    def floats(self, listed: list[str], low: float, high: float) -> list[float]:
        """So many finite ones between two."""
        self.take(len(listed))
        numbers = list(map(float.fromhex, listed))
        if not all(low <= number <= high for number in numbers):
            raise ValueError
        return numbers


def require_shallow(depth: int) -> None:
    """ValueError for too many levels."""
    if depth > _DEEPEST:
        raise ValueError


@dataclass(frozen=True)
class RecipeReader:
    """Reads recipes of these real numbers, with these functions.

    ``places``: how long their tables are, 0 where there are none; ``has_cells``: whether they may
    have a part by cell.
    """

    reals: Collection[str]
    places: int
    budget: ReadingBudget
    functions: Functions
    has_cells: bool = False

    def read(self, listed: list[Any], depth: int = 0) -> Recipe:
        """The inverse of ``list_recipe``; ValueError and its like for anything else."""
        self.budget.take(1)
        require_shallow(depth)
        kind, *rest = listed
        if kind == "real":
            [name] = rest
            if name not in self.reals:
                raise ValueError
            return ("real", name)
        if kind == "number":
            [number] = self.budget.floats(rest, -np.inf, np.inf)
            return ("number", np.float64, np.float64(number))
        if kind == "table":
            [numbers] = rest
            table = np.array(self.budget.floats(numbers, -np.inf, np.inf), dtype=np.float64)
            if not self.places or len(table) != self.places:
                raise ValueError
            return ("table", np.float64, table.tobytes())
        if kind == "cells":
            if not self.has_cells or len(rest) != self.places:
                raise ValueError
            return ("cells", tuple(self.read(part, depth + 1) for part in rest))
        function, operands = self.functions[kind]
        if len(rest) != operands:
            raise ValueError
        return (function, *(self.read(part, depth + 1) for part in rest))
