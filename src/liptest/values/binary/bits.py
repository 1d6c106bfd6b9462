"""Numbers and arrays that are functions of independent Bernoulli variables (0/1).

``rng.random(n) < p`` gives an array of them. What NumPy calculates entry by entry stays one, packed
as truth tables (``truth_tables``); a sum is a number that nobody has looked at yet
(``sum_formulas``). Where the code looks at a number, one choice is made among its values, of which
a comparison has two (``bernoulli``); every other use is answered with a plain array, after one
choice for each entry.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.array import Move, Storage, SymbolicArray
from liptest.values.binary.bernoulli import BernoulliVariables
from liptest.values.binary.sum_formulas import (
    MOST,
    AppliedFunction,
    Formula,
    Scaled,
    combination,
    entry_of_two,
    fits,
    has_ends,
    token,
    whole_numbers,
)
from liptest.values.binary.sum_rows import join_tables
from liptest.values.binary.truth_tables import (
    TruthTables,
    as_input,
    cast_to,
    combine_entries,
    is_ordered,
    plain_tables,
)
from liptest.values.branching import Branching
from liptest.values.draws.coins import Coins, record_coins
from liptest.values.faults import raises_as_numpy
from liptest.values.protocol import (
    ARITHMETIC,
    COMPARISONS,
    Operation,
    Symbolic,
    SymbolicValue,
    concretise_all,
    symbolic_in,
)

# Different values among which a largest one is looked for one by one.
_MOST_VALUES = 16
_CONSTANTS = (int, float, bool, np.integer, np.float64, np.float32, np.bool_)
_OPERATIONS = (
    *("add", "sub", "mul", "truediv", "floordiv", "and", "or", "xor"),
    *("lt", "le", "gt", "ge", "eq", "ne"),
)
_UFUNCS = ARITHMETIC | COMPARISONS
_NAMES: dict[Any, str] = {
    function: operation.__name__.strip("_")
    for ufunc, operation in _UFUNCS.items()
    for function in (ufunc, operation)
    if operation.__name__.strip("_") in _OPERATIONS
}
_SIGNS = frozenset({np.negative, np.positive, np.absolute, np.invert})

# ---- numbers -------------------------------------------------------------------------------------


class BernoulliValue(SymbolicValue):
    """An entry of an array of variables, or a sum; calculating with constants keeps it."""

    __slots__ = ("_value", "branching", "formula", "variables")

    __hash__ = SymbolicValue.__hash__
    family = "bits"
    calculates_with_its_own = True
    is_discrete = True
    described = "a number made of random bits"
    described_in_arrays = "an array made of random bits"
    advice = "compare it, add it up, or copy the bits to a list first"

    def __init__(self, variables: BernoulliVariables, formula: Formula) -> None:
        self.branching = variables.tree
        self.variables = variables
        self.formula = formula
        # Once it is known; it stays, as an output may be kept.
        self._value: Any = None

    @property
    def kind(self) -> Any:
        """The type of its values."""
        return type(self.formula.example)

    def concretise(self, use: str) -> Any:
        if self._value is None:
            formula = self.formula
            with np.errstate(all="ignore"):
                total = self.variables.decide(
                    formula.entries, formula.key, lambda number: token(formula.at(number))
                )
            self._value = formula.at(total)
        return self._value

    def entry_tables(self) -> TruthTables | None:
        """As an entry of an array, with all that is known; None where it is none."""
        entry = self.formula.entry()
        return None if entry is None else self.variables.current(entry)

    def after(self, step: AppliedFunction) -> Any:
        """What a step makes of the number: such a number again, or a plain one."""
        if self._value is not None:
            return step(self._value)
        made = self.formula.after(step)
        return step(self.concretise("")) if made is None else BernoulliValue(self.variables, made)

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        name = _NAMES.get(operation)
        outcome = None if name is None else self._with(name, operation, other, swapped)
        if outcome is None:
            plain, other = self.concretise(operation.__name__), concretise_all(other, "")
            return operation(other, plain) if swapped else operation(plain, other)
        return outcome

    def compare(self, comparison: Operation, other: Any) -> Any:
        return self.binary(comparison, other, swapped=False)

    def _with(self, name: str, function: Any, other: Any, swapped: bool) -> Any:
        """An operation with a constant or another such number; None with anything else."""
        if issubclass(type(other), BernoulliValue):
            if self._value is None and other._value is None:
                pair = (other, self) if swapped else (self, other)
                joint = _of_two(name, function, *pair)
                if joint is not None:
                    return joint
            other = other.concretise("")
        if issubclass(type(other), Symbolic) or not isinstance(other, _CONSTANTS):
            return None
        step = AppliedFunction.of(function, other, swapped)
        if not self.formula.is_one_entry and not has_ends(name, other, swapped):
            return step(self.concretise(""))
        folded = self.formula.folded(name, step) if self._value is None else None
        return self.after(step) if folded is None else BernoulliValue(self.variables, folded)

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if any(np.ndim(operand) for operand in inputs if type(operand) is not BernoulliValue):
            return _entrywise(self.variables, ufunc, inputs)
        return self.apply(ufunc, inputs)

    def apply(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        name, outcome = _NAMES.get(ufunc, ""), None
        if len(inputs) == 1 and (ufunc in _SIGNS or self.formula.is_one_entry):
            outcome = self.after(AppliedFunction(ufunc)) if ufunc.nout == 1 else None
        elif len(inputs) == 2:
            swapped = inputs[1] is self and inputs[0] is not self
            outcome = self._with(name, ufunc, inputs[0] if swapped else inputs[1], swapped)
        return NotImplemented if outcome is None else outcome

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        return _answer(self.variables, function, arguments, options)

    def typed(self, kind: Any) -> Any:
        if kind is self.kind:
            return self
        return (
            self.after(AppliedFunction(kind))
            if self.branching.keeps_parts
            else kind(self.concretise(""))
        )

    def __bool__(self) -> bool:
        truth = self.after(AppliedFunction(operator.truth))
        return bool(truth.concretise("bool()") if issubclass(type(truth), Symbolic) else truth)

    def __neg__(self) -> Any:
        return self.after(AppliedFunction(operator.neg))

    def __pos__(self) -> Any:
        return self.after(AppliedFunction(operator.pos))

    def __abs__(self) -> Any:
        return self.after(AppliedFunction(operator.abs))

    def __invert__(self) -> Any:
        return self.after(AppliedFunction(operator.invert))

    @raises_as_numpy
    def __round__(self, *digits: Any) -> Any:
        return round(self.concretise("round()"), *digits)

    def __floor__(self) -> Any:
        return math.floor(self.concretise("floor()"))

    def __ceil__(self) -> Any:
        return math.ceil(self.concretise("ceil()"))

    def __trunc__(self) -> Any:
        return math.trunc(self.concretise("trunc()"))

    def __int__(self) -> int:
        return int(self.concretise("int()"))

    @raises_as_numpy
    def round(self, *decimals: Any) -> Any:
        return self.concretise("round()").round(*decimals)

    def __getitem__(self, index: Any) -> Any:
        return self.concretise("an index")[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.concretise("iteration"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.concretise("numpy.array()"), dtype=dtype)


def _make_number(variables: BernoulliVariables, entry: TruthTables) -> Any:
    """One entry of an array, of no dimensions, as a number: a plain one where nothing is random."""
    if not entry.count:
        return entry.table[0]
    return BernoulliValue(variables, Formula.of_entry(entry))


def _of_two(name: str, function: Any, left: BernoulliValue, right: BernoulliValue) -> Any:
    """An operation on two such numbers as one; None where it is none."""
    entries = left.entry_tables(), right.entry_tables()
    if entries[0] is not None and entries[1] is not None:
        entry = entry_of_two(name, function, entries[0], entries[1])
        if entry is not None:
            return _make_number(left.variables, entry)
    if name not in ("add", "sub", *(comparison.__name__ for comparison in COMPARISONS.values())):
        return None
    formula = combination(name, function, left.formula, right.formula)
    return None if formula is None else BernoulliValue(left.variables, formula)


# ---- arrays --------------------------------------------------------------------------------------


class _Shared:
    """The truth tables that an array and its views have in common."""

    __slots__ = ("tables",)

    def __init__(self, tables: TruthTables) -> None:
        self.tables = tables


@dataclass(frozen=True, eq=False)
class DrawnBits:
    """Entries as they were drawn, for a run with real numbers in their place."""

    variables: BernoulliVariables
    tables: TruthTables

    def replay(self, point_in: Callable[[int, int], int]) -> NDArray[Any]:
        """A plain array that it may be, of bits that ``point_in(start, stop)`` chooses."""
        return self.tables.given(self.variables.sample(point_in)).model().copy()


class PackedBits(Storage):
    """Truth tables of all entries; ``places`` are those of a view in line, None for all."""

    __slots__ = ("_places", "_shared", "_variables")

    is_discrete = True

    def __init__(
        self,
        variables: BernoulliVariables,
        shared: _Shared,
        places: NDArray[np.int64] | None = None,
    ) -> None:
        self.branching = variables.tree
        self._variables = variables
        self._shared = shared
        self._places = places

    @property
    def dtype(self) -> np.dtype[Any]:  # type: ignore[override]
        """The type of the values."""
        return self._shared.tables.table.dtype

    @property
    def tables(self) -> TruthTables:
        """With all that is known by now."""
        return self._variables.current(self._written)

    @property
    def _written(self) -> TruthTables:
        tables = self._shared.tables
        return tables if self._places is None else tables.flat().at(self._places)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shared.tables.shape if self._places is None else self._places.shape

    @property
    def all_places(self) -> NDArray[np.int64]:
        """Of the entries, in line, in the shape of the array."""
        if self._places is None:
            return np.arange(math.prod(self.shape)).reshape(self.shape)
        return self._places

    def cells(self) -> NDArray[Any]:
        flat = self.tables.flat()
        cells = (_make_number(self._variables, flat.at(place)) for place in range(len(flat.table)))
        return np.fromiter(cells, object, len(flat.table)).reshape(self.shape)

    def moved(self, move: Move) -> Any:
        places = self.all_places
        moved = move(places)
        if not isinstance(moved, np.ndarray):
            entry = self._shared.tables.flat().at(moved)
            return _make_number(self._variables, self._variables.current(entry))
        view = PackedBits(self._variables, self._shared, moved)
        if np.may_share_memory(moved, places):
            return view
        return PackedBits(self._variables, _Shared(view._written))

    def write(self, index: Any, value: Any) -> None:
        if _is_packed(index) and index.dtype == np.bool_ and np.ndim(value) == 0:
            whole = SymbolicArray(self)
            chosen = _entrywise(self._variables, np.where, (index, value, whole))
            if chosen is not NotImplemented:
                index, value = ..., chosen
        places = np.asarray(self.all_places[concretise_all(index, "an index")])
        given = _find_tables(value)
        if given is not None:
            given = combine_entries(lambda array: np.asarray(array).astype(self.dtype), (given,))
        if given is None:
            plain = concretise_all(value, "an assignment")
            given = plain_tables(cast_to(plain, places.shape, self.dtype))
        self._shared.tables = self._shared.tables.written(places, given)

    def shares_memory(self, other: Storage) -> bool:
        return type(other) is PackedBits and other._shared is self._shared

    def astype(self, dtype: np.dtype[Any]) -> Any:
        return _entrywise(
            self._variables, lambda array: np.asarray(array).astype(dtype), (SymbolicArray(self),)
        )

    def concretise(self, use: str) -> NDArray[Any]:
        variables, flat = self._variables, self.tables.flat()
        if flat.count == 1:
            variables.resolve_all(flat.variables[flat.variables >= 0].tolist())
            flat = variables.current(flat)
        values = flat.table[:, 0].copy()
        for place in range(len(values) if flat.count else 0):
            entry = variables.current(flat.at(place))
            values[place] = concretise_all(_make_number(variables, entry), use)
        return values.reshape(self.shape)

    def coins(self) -> Coins | None:
        return record_coins(self._variables, self._written)

    def as_drawn(self) -> DrawnBits:
        return DrawnBits(self._variables, self.tables)

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if ufunc is np.matmul:
            return _dot_products(self._variables, *inputs)
        if ufunc.nout != 1 or ufunc.signature is not None:
            return NotImplemented
        return _entrywise(self._variables, ufunc, inputs)

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        return _answer(self._variables, function, arguments, options)


def _is_packed(value: Any) -> bool:
    return type(value) is SymbolicArray and type(value.storage) is PackedBits


def _make_array(variables: BernoulliVariables, tables: TruthTables) -> Any:
    """What NumPy gives: an array, a plain one where nothing is random, or a number."""
    if not tables.shape:
        return _make_number(variables, tables)
    if not tables.count or not tables.table.size:
        return tables.model().copy()
    return SymbolicArray(PackedBits(variables, _Shared(tables)))


def _find_tables(value: Any) -> TruthTables | None:
    """An array, or a number, of functions of variables; None for anything else."""
    if _is_packed(value):
        tables: TruthTables = value.storage.tables
        return tables
    return value.entry_tables() if type(value) is BernoulliValue else None


def draw_bits(branching: Branching, weights: Sequence[Sequence[int]], values: NDArray[Any]) -> Any:
    """Independent draws of one of two values each, ``values`` being (shape, 2).

    ``weights`` are whole numbers for all of them, or for each in line. None where these have too
    many digits, or NumPy's array would have no dimensions or hold objects.
    """
    shape = values.shape[:-1]
    if not shape or values.dtype.hasobject or max(map(sum, weights)) >= MOST:
        return None
    pairs = np.broadcast_to(np.array(weights, dtype=np.int64), (math.prod(shape), 2))
    lowest = pairs // np.gcd(pairs[:, 0], pairs[:, 1])[:, None]
    variables = BernoulliVariables.of(branching)
    drawn = variables.new(lowest[:, 0], lowest[:, 1]).reshape(*shape, 1)
    array = _make_array(variables, variables.current(TruthTables(drawn, values)).used())
    if branching.draw_log is None or type(array) is np.ndarray:
        return array
    return branching.draw_log.hand_out(array, (lowest.tobytes(), values.shape, values.tobytes()))


def array_of_tables(variables: BernoulliVariables, tables: TruthTables) -> Any:
    """Truth tables as what NumPy gives, with all that is known."""
    return _make_array(variables, variables.current(tables))


# ---- entry by entry ------------------------------------------------------------------------------


def _entrywise(
    variables: BernoulliVariables, function: Callable[..., Any], inputs: tuple[Any, ...]
) -> Any:
    """A function that NumPy calculates entry by entry; NotImplemented with other random numbers."""
    given: list[Any] = []
    for operand in inputs:
        tables = _find_tables(operand)
        if tables is None and issubclass(type(operand), Symbolic):
            if type(operand) is not BernoulliValue:
                return NotImplemented
            operand = operand.concretise("")
        given.append(as_input(operand) if tables is None else tables)
    entries = combine_entries(function, tuple(given))
    if entries is None:
        return _of_plain(function, concretise_all(inputs, getattr(function, "__name__", "")))
    return _make_array(variables, entries)


@raises_as_numpy
def _of_plain(function: Any, arguments: Any, **options: Any) -> Any:
    return function(*arguments, **options)


# ---- NumPy's functions ---------------------------------------------------------------------------

#: Calculated entry by entry, by how many arguments.
_ENTRYWISE = {np.where: 3, np.clip: 3, np.round: 1, np.around: 1}
#: Looked at first: their order of questions would only be longer.
_LOOKED_AT = frozenset(
    {np.sort, np.argsort, np.cumsum, np.diff, np.dot, np.inner, np.searchsorted, np.digitize}
    | {np.sum, np.mean, np.max, np.min, np.argmax, np.argmin, np.any, np.all, np.count_nonzero}
)


def _answer(
    variables: BernoulliVariables, function: Any, arguments: Any, options: dict[str, Any]
) -> Any:
    """A function of NumPy with bits among its arguments; NotImplemented for no way of its own."""
    if not all(_is_ours(argument) for argument in symbolic_in((*arguments, *options.values()))):
        return NotImplemented
    rule = _FUNCTIONS.get(function)
    if rule is not None:
        answer = rule(variables, *arguments, **options)
        if answer is not NotImplemented:
            return answer
    if function in _ENTRYWISE and not options and len(arguments) == _ENTRYWISE[function]:
        return _entrywise(variables, function, tuple(arguments))
    if function in _LOOKED_AT and options.get("out") is None:
        use = f"numpy.{function.__name__}"
        return _of_plain(
            function, concretise_all(tuple(arguments), use), **concretise_all(options, use)
        )
    return NotImplemented


def _is_ours(value: Any) -> bool:
    return type(value) is BernoulliValue or _is_packed(value)


Reduction = Callable[[BernoulliVariables, PackedBits], Any]


def _reducing(reduce: Reduction) -> Callable[..., Any]:
    """A reduction of all entries, or along one axis, of which each result is looked at."""

    def reduction(
        variables: BernoulliVariables, array: Any, axis: Any = None, *more: Any, **options: Any
    ) -> Any:
        given = [option for option in (*more, *options.values()) if option is not None]
        if not _is_packed(array) or any(option is not np._NoValue for option in given):
            return NotImplemented
        packed: PackedBits = array.storage
        if axis is None or (array.ndim == 1 and axis in (0, -1)):
            return reduce(variables, packed)
        if not isinstance(axis, int) or array.ndim < 2:
            return NotImplemented
        lanes = np.moveaxis(packed.all_places, axis, -1)
        reduced = [
            reduce(variables, PackedBits(variables, packed._shared, lane))
            for lane in lanes.reshape(-1, lanes.shape[-1])
        ]
        if any(entry is NotImplemented for entry in reduced):
            return NotImplemented
        return np.array(concretise_all(reduced, "a sum along an axis")).reshape(lanes.shape[:-1])

    return reduction


def _sum_up(
    variables: BernoulliVariables,
    tables: TruthTables,
    whole: tuple[NDArray[np.int64], int] | None,
    kind: Any,
) -> Any:
    """The sum of whole numbers and a power of two, where every order of adding is exact."""
    if whole is None:
        return NotImplemented
    table, shift = whole
    largest = sum(np.abs(table).max(axis=1, initial=0).tolist())
    if not fits(kind, -largest if (table < 0).any() else 0, largest):
        return NotImplemented
    formula = Formula(TruthTables(tables.variables, table), Scaled(kind, shift))
    return BernoulliValue(variables, formula)


def _sum(variables: BernoulliVariables, array: PackedBits) -> Any:
    tables = array.tables.flat()
    kind = type(np.sum(np.zeros(1, dtype=array.dtype)))
    return _sum_up(variables, tables, whole_numbers(tables.table), kind)


def _mean(variables: BernoulliVariables, array: PackedBits) -> Any:
    if array.dtype.kind not in "biu" and array.dtype != np.float64:
        return NotImplemented
    tables = array.tables.flat()
    total = _sum_up(variables, tables, whole_numbers(tables.table), np.float64)
    return total if total is NotImplemented else total / math.prod(array.shape)


def _count(variables: BernoulliVariables, array: PackedBits, kind: Any) -> BernoulliValue:
    tables = array.tables.flat()
    truth = tables.table.astype(bool).astype(np.int64)
    return BernoulliValue(variables, Formula(TruthTables(tables.variables, truth), Scaled(kind)))


def _count_nonzero(variables: BernoulliVariables, array: PackedBits) -> Any:
    return _count(variables, array, type(np.count_nonzero(np.zeros(1))))


def _any(variables: BernoulliVariables, array: PackedBits) -> Any:
    return _count(variables, array, np.int64).after(AppliedFunction.of(np.greater, 0, False))


def _all(variables: BernoulliVariables, array: PackedBits) -> Any:
    size = math.prod(array.shape)
    return _count(variables, array, np.int64).after(AppliedFunction.of(np.equal, size, False))


def _extreme(sign: int) -> Reduction:
    def find(variables: BernoulliVariables, array: PackedBits) -> Any:
        tables = array.tables
        values = np.unique(tables.table)[::-sign]
        if not is_ordered(tables.table) or not 0 < len(values) <= _MOST_VALUES:
            return NotImplemented
        for value in values[:-1]:
            now = array.tables
            equal = TruthTables(now.variables, now.table == value)
            if _any(variables, PackedBits(variables, _Shared(equal))):
                return value
        return values[-1]

    return find


def _place_of_extreme(sign: int) -> Reduction:
    def find(variables: BernoulliVariables, array: PackedBits) -> Any:
        table = array.tables.table
        if not is_ordered(table) or not table.size:
            return NotImplemented
        best = table.max() if sign > 0 else table.min()
        line = array.moved(np.ravel)
        for place in range(line.shape[0]):
            if line.moved(lambda places, place=place: places[place]) == best:
                return np.intp(place)
        plain = line.concretise("argmax")
        return plain.argmax() if sign > 0 else plain.argmin()

    return find


def _dot_products(variables: BernoulliVariables, left: Any, right: Any, *out: Any) -> Any:
    """``numpy.dot`` of vectors, or of a vector and a matrix, of which one may be plain."""
    if out or not all(_is_ours(operand) for operand in symbolic_in((left, right))):
        return NotImplemented
    shapes = np.shape(left), np.shape(right)
    dimensions = len(shapes[0]), len(shapes[1])
    if dimensions == (1, 1) and shapes[0] == shapes[1]:
        product = _dot(variables, left, right)
        if product is not NotImplemented:
            return product
    elif dimensions == (1, 2) and _is_packed(left):
        columns = np.asarray(concretise_all(right, "numpy.dot")).T
        return _each(_dot_products(variables, left, column) for column in columns)
    elif dimensions == (2, 1) and _is_packed(right):
        rows = np.asarray(concretise_all(left, "numpy.dot"))
        return _each(_dot_products(variables, row, right) for row in rows)
    return _of_plain(np.dot, concretise_all((left, right), "numpy.dot"))


def _each(sums: Iterator[Any]) -> NDArray[Any]:
    return np.array([concretise_all(total, "numpy.dot") for total in sums])


def _inner(variables: BernoulliVariables, left: Any, right: Any) -> Any:
    if np.ndim(left) == np.ndim(right) == 1:
        return _dot_products(variables, left, right)
    return NotImplemented


def _dot(variables: BernoulliVariables, left: Any, right: Any) -> Any:
    pair = [_tables_or_plain(operand) for operand in (left, right)]
    kind: Any = type(np.dot(*(operand.model() for operand in pair)))
    whole = [whole_numbers(operand.table) for operand in pair]
    if kind not in {np.int64, np.float64} or whole[0] is None or whole[1] is None:
        return NotImplemented
    if int(np.abs(whole[0][0]).max()) * int(np.abs(whole[1][0]).max()) >= MOST:
        return NotImplemented
    numbers = [
        TruthTables(operand.variables, table)
        for operand, (table, _) in zip(pair, (whole[0], whole[1]), strict=True)
    ]
    products = combine_entries(np.multiply, tuple(numbers))
    if products is None:
        return NotImplemented
    return _sum_up(variables, products, (products.table, whole[0][1] + whole[1][1]), kind)


def _tables_or_plain(one: Any) -> TruthTables:
    tables = _find_tables(one)
    return plain_tables(np.asarray(one)) if tables is None else tables


def _joining(function: Callable[..., Any]) -> Callable[..., Any]:
    def join(variables: BernoulliVariables, arrays: Any, *arguments: Any, **options: Any) -> Any:
        """As places of all the entries in line, joined likewise."""
        if options.keys() - {"axis"} or not isinstance(arrays, (list, tuple)):
            return NotImplemented
        given = [_tables_or_plain(array) for array in arrays]
        models = [part.model() for part in given]
        dtype = _of_plain(function, (models, *arguments), **options).dtype
        ends = np.cumsum([model.size for model in models])
        places = [
            np.arange(end - model.size, end).reshape(model.shape)
            for end, model in zip(ends, models, strict=True)
        ]
        line = join_tables(
            [TruthTables(part.flat().variables, part.flat().table.astype(dtype)) for part in given]
        )
        return _make_array(variables, line.at(function(places, *arguments, **options)))

    return join


def _append(variables: BernoulliVariables, array: Any, values: Any, axis: Any = None) -> Any:
    if axis is not None:
        return NotImplemented
    return _JOINED(variables, [np.ravel(array), np.ravel(values)])


def _array_equal(variables: BernoulliVariables, left: Any, right: Any, **options: Any) -> Any:
    if options:
        return NotImplemented
    return np.shape(left) == np.shape(right) and bool(np.all(np.equal(left, right)))


_JOINED = _joining(np.concatenate)
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _reducing(_sum),
    np.mean: _reducing(_mean),
    np.any: _reducing(_any),
    np.all: _reducing(_all),
    np.count_nonzero: _reducing(_count_nonzero),
    np.max: _reducing(_extreme(1)),
    np.amax: _reducing(_extreme(1)),
    np.min: _reducing(_extreme(-1)),
    np.amin: _reducing(_extreme(-1)),
    np.argmax: _reducing(_place_of_extreme(1)),
    np.argmin: _reducing(_place_of_extreme(-1)),
    np.dot: _dot_products,
    np.inner: _inner,
    np.append: _append,
    np.array_equal: _array_equal,
    np.concatenate: _JOINED,
    **{one: _joining(one) for one in (np.stack, np.hstack, np.vstack, np.column_stack)},
}
