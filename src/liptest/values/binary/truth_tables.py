"""Truth tables: entries of an array as functions of a few Bernoulli variables.

Entries of one shape have ``variables`` (shape, k), identities or -1, and ``table`` (shape, 2**k),
the value of the entry by the bits of its variables, the first foremost. Where a variable is -1
the table does not depend on its bit. NumPy's own functions of the tables calculate, so that
values and types are those of NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.faults import raises_as_numpy

#: Variables of one entry; with more its variables are chosen.
MOST_VARIABLES = 4
NO_VARIABLE = -1


@raises_as_numpy
def cast_to(value: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """A number or an array as NumPy writes it into an array of a shape and a type."""
    cast = np.empty(shape, dtype=dtype)
    cast[...] = value
    return cast


@dataclass(frozen=True, eq=False)
class TruthTables:
    """See the module. Nothing is written into the arrays of one that is shared."""

    variables: NDArray[np.int64]
    table: NDArray[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array that the entries form."""
        return self.variables.shape[:-1]

    @property
    def count(self) -> int:
        """Variables for each entry."""
        return int(self.variables.shape[-1])

    def at(self, index: Any) -> TruthTables:
        """Entries at an index of their array."""
        return TruthTables(self.variables[index], self.table[index])

    def flat(self) -> TruthTables:
        """In one line."""
        length = math.prod(self.shape)
        return TruthTables(
            self.variables.reshape(length, self.count),
            self.table.reshape(length, 1 << self.count),
        )

    def model(self) -> NDArray[Any]:
        """A plain array of the same type and shape."""
        return self.table[..., 0]

    def pad_with(self, count: int) -> TruthTables:
        """With more variables, on which nothing depends."""
        more = count - self.count
        if more == 0:
            return self
        free = np.full((*self.shape, more), NO_VARIABLE)
        return TruthTables(
            np.concatenate([self.variables, free], axis=-1),
            np.repeat(self.table, 1 << more, axis=-1),
        )

    def split(self) -> NDArray[Any]:
        """The table with an axis for each variable."""
        return self.table.reshape((*self.shape, *(2,) * self.count))

    def _after(self, column: int) -> int:
        """Ways of the bits of the variables after a column."""
        return 1 << (self.count - 1 - column)

    def given(self, known: NDArray[np.int8]) -> TruthTables:
        """With what is known of the variables, by their identities; -1 is unknown."""
        bits = np.where(self.variables >= 0, known[self.variables], -1)
        if (bits < 0).all():
            return self.used()
        variables, table = self.variables.copy(), self.table.copy()
        for column in range(self.count):
            halves = table.reshape((*self.shape, 1 << column, 2, self._after(column)))
            for bit in (0, 1):
                hit = bits[..., column] == bit
                halves[hit] = halves[hit][..., bit : bit + 1, :]
                variables[hit, column] = NO_VARIABLE
        return TruthTables(variables, table).used()

    def written(self, places: NDArray[np.int64], value: TruthTables) -> TruthTables:
        """A copy with other entries at places in line, of the same type."""
        count = max(self.count, value.count)
        line, value = self.flat().pad_with(count), value.pad_with(count)
        variables, table = line.variables.copy(), line.table.copy()
        variables[places], table[places] = value.variables, value.table
        return TruthTables(
            variables.reshape(*self.shape, count), table.reshape(*self.shape, 1 << count)
        )

    def used(self) -> TruthTables:
        """Without the variables on which no entry depends; -1 where one does not."""
        variables, kept = self.variables, []
        for column in range(self.count):
            halves = self.table.reshape((*self.shape, 1 << column, 2, self._after(column)))
            depends = _differ(halves[..., 0, :], halves[..., 1, :]).any(axis=(-2, -1))
            if not depends.all():
                if variables is self.variables:
                    variables = variables.copy()
                variables[~depends, column] = NO_VARIABLE
            if (variables[..., column] >= 0).any():
                kept.append(column)
        if len(kept) == self.count:
            return TruthTables(variables, self.table)
        which = tuple(slice(None) if c in kept else 0 for c in range(self.count))
        table = self.split()[(..., *which)]
        return TruthTables(variables[..., kept], table.reshape(*self.shape, 1 << len(kept)))


def _differ(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.bool_]:
    """Where two arrays differ; so do 0.0 and -0.0, and every NaN."""
    different = left != right
    if left.dtype.kind in "fc":
        different |= np.signbit(left.real) != np.signbit(right.real)
        if left.dtype.kind == "c":
            different |= np.signbit(left.imag) != np.signbit(right.imag)
    return np.asarray(different, dtype=np.bool_)


def combine_entries(function: Callable[..., Any], inputs: tuple[Any, ...]) -> TruthTables | None:
    """A function that NumPy calculates entry by entry, of entries and plain arrays or numbers.

    None where the result may depend on more than the entries: too many variables, an error or a
    warning for values that need not occur, a type that depends on values. An error that occurs
    for all values is raised as NumPy does.
    """
    models = [
        operand.model() if isinstance(operand, TruthTables) else operand for operand in inputs
    ]
    try:
        shape = np.broadcast_shapes(*map(_shape, inputs))
    except ValueError:
        _try_as_numpy(function, models)  # raises NumPy's own error
        return None
    columns: list[NDArray[np.int64]] = []
    places = [_places(operand, shape, columns) for operand in inputs]
    if len(columns) > MOST_VARIABLES:
        return None
    tables = [
        _spread(operand, where, len(columns)) for operand, where in zip(inputs, places, strict=True)
    ]
    try:
        with np.errstate(all="raise", under="ignore"):
            table, model = function(*tables), function(*models)
    except TypeError:
        table = model = None
    except (ArithmeticError, ValueError, Warning):
        return None
    if table is None:
        _try_as_numpy(function, models)  # it may raise whatever the values are
    if not isinstance(table, np.ndarray) or table.dtype != np.asarray(model).dtype:
        return None
    if table.dtype.hasobject:
        return None
    full = np.broadcast_to(table, shape + (2,) * len(columns))
    variables = np.stack(columns, axis=-1) if columns else np.empty((*shape, 0), dtype=np.int64)
    return _without_repetitions(variables, np.array(full)).used()


@raises_as_numpy
def _try_as_numpy(function: Callable[..., Any], models: list[Any]) -> None:
    function(*models)


def _shape(one: Any) -> tuple[int, ...]:
    return one.shape if isinstance(one, TruthTables) else np.shape(one)


def _places(one: Any, shape: tuple[int, ...], columns: list[NDArray[np.int64]]) -> list[int]:
    """Where the variables of an input are among the columns of all, which grow."""
    if not isinstance(one, TruthTables):
        return []
    places = []
    for column in range(one.count):
        variables = np.broadcast_to(one.variables[..., column], shape)
        unused = (k for k, other in enumerate(columns) if k not in places)
        same = next((k for k in unused if np.array_equal(columns[k], variables)), None)
        if same is None:
            columns.append(variables)
            same = len(columns) - 1
        places.append(same)
    return places


def _spread(one: Any, places: list[int], count: int) -> Any:
    """A table, or a plain input, with an axis for each of all variables."""
    if not isinstance(one, TruthTables):
        return one if np.ndim(one) == 0 else one.reshape((*one.shape, *(1,) * count))
    first = len(one.shape)
    order = sorted(range(one.count), key=lambda column: places[column])
    table = one.split().transpose((*range(first), *(first + column for column in order)))
    axes = (2 if k in places else 1 for k in range(count))
    return table.reshape((*one.shape, *axes))


def _without_repetitions(variables: NDArray[np.int64], split: NDArray[Any]) -> TruthTables:
    """One variable has one bit: what another bit of it would give is dropped."""
    count, first = variables.shape[-1], variables.ndim - 1
    for one in range(count):
        for other in range(one + 1, count):
            twice = (variables[..., one] == variables[..., other]) & (variables[..., one] >= 0)
            if not twice.any():
                continue
            table = np.moveaxis(split, (first + one, first + other), (first, first + 1))
            for bit in (0, 1):
                table[twice, bit, 1 - bit] = table[twice, bit, bit]
            variables[twice, other] = NO_VARIABLE
    return TruthTables(variables, split.reshape(*variables.shape[:-1], 1 << count))


def plain_tables(array: NDArray[Any]) -> TruthTables:
    """A plain array as entries without variables."""
    return TruthTables(np.empty((*array.shape, 0), dtype=np.int64), array[..., None])


def is_ordered(table: NDArray[Any]) -> bool:
    """Whether equal numbers are the same, and there is no NaN."""
    if table.dtype.kind == "f":
        return not bool(np.isnan(table).any() or (np.signbit(table) & (table == 0)).any())
    return table.dtype.kind in "biu"


def as_input(one: Any) -> Any:
    """Constants as they are, all other as plain arrays."""
    if isinstance(one, (bool, int, float, complex, str, bytes, np.generic, np.ndarray)):
        return one if type(one).__module__ in ("builtins", "numpy") else np.asarray(one)
    return np.asarray(one)
