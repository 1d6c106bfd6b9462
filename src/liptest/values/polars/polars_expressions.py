"""Expressions of polars, calculated with columns of records: one symbolic array, one way.

A program makes real expressions, wherever it likes: ``pl.col("age").clip(18, 90).sum()``. What one
says is read from polars' own JSON of it. Each kind of node is followed by the NumPy function of
columns that gives the same (``record_series``), for types where it does; a node, an option or a
type that is not known is refused, so that a later version of polars can only be refused more.
Over users, ``.over(user)``, it may say which row of its user each one is.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from liptest.values.array import SymbolicArray
from liptest.values.pandas.record_series import BinSeries, KeySeries, RecordSeries
from liptest.values.polars.polars_nodes import is_plain_number, read_literal
from liptest.values.polars.polars_parts import ADVICE, Narrow, PlainEntry, RowsTotal
from liptest.values.protocol import is_symbolic
from liptest.values.reals.real_column import RealColumn
from liptest.values.records.column import Column, find_column
from liptest.values.records.row_places import PlaceAmongRows, RowsLeft, find_codes, rows_of_users

_INT32 = 1 << 31
_COMPARING = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtEq": operator.le,
    "Gt": operator.gt,
    "GtEq": operator.ge,
}
_ARITHMETIC = {
    "Plus": operator.add,
    "Minus": operator.sub,
    "Multiply": operator.mul,
    "TrueDivide": operator.truediv,
}
_OF_WHOLE = {"FloorDivide": operator.floordiv, "Modulus": operator.mod}
_LOGICAL = {"And": operator.and_, "Or": operator.or_, "Xor": operator.xor}
_CASTS: dict[str, Any] = {"Int64": np.int64, "Float64": np.float64}
_CLOSED = {
    "Both": (operator.ge, operator.le),
    "Left": (operator.ge, operator.lt),
    "Right": (operator.gt, operator.le),
    "None": (operator.gt, operator.lt),
}


class Reader:
    """Calculates nodes with the columns of one frame.

    Parameters
    ----------
    columns
        By name.
    refuse
        ``(use, advice)`` ends the analysis.
    """

    def __init__(self, columns: dict[str, Any], refuse: Callable[..., Any]) -> None:
        self._columns = columns
        self._refuse = refuse

    @property
    def columns(self) -> dict[str, Any]:
        """By name."""
        return self._columns

    @property
    def first(self) -> Any:
        """One of the columns."""
        return next(iter(self._columns.values()))

    @property
    def refuse_plainly(self) -> Callable[..., Any]:
        """What ends the analysis, of frames."""
        return self._refuse

    def refuse(self, use: str, advice: str = ADVICE) -> Any:
        """End the analysis."""
        return self._refuse(f"an expression of polars: {use}", advice)

    def calculate(self, node: Any) -> Any:
        """A series, a ``Narrow``, a ``RowsTotal`` or a ``PlainEntry``."""
        if node == "Len":
            return RowsTotal(self.first.count(), is_unsigned=True)
        if not isinstance(node, dict) or len(node) != 1:
            return self.refuse(f"{str(node)[:60]}")
        [(kind, inner)] = node.items()
        rule = _NODES.get(kind)
        if rule is None:
            return self.refuse(kind)
        return rule(self, inner)

    def rows(self, node: Any, use: str) -> Any:
        """The numbers, or names, of a node that gives an entry for each record."""
        column = self.calculate(node)
        if type(column) is RecordSeries:
            return column
        if type(column) is Narrow:
            return self.refuse(f"{use} of numbers of 32 bits", "cast them: .cast(pl.Int64)")
        if type(column) is RowsTotal:
            return self.refuse(f"{use} of a sum of all rows", "calculate with it after .item()")
        if type(column) in (KeySeries, BinSeries, PlaceAmongRows):
            return column.refuse(use)
        return self.refuse(f"{use} of a constant")

    def condition(self, node: Any, use: str) -> RecordSeries:
        """A truth for each record."""
        series = self.rows(node, use)
        if series.names is not None or find_letter(series) != "b":
            return self.refuse(f"{use} that is not a comparison")  # type: ignore[no-any-return]
        return series  # type: ignore[no-any-return]

    def selection(self, node: Any, use: str) -> Any:
        """Which rows are left: a condition of each, or a bound of those of each user."""
        selected = self.calculate(node)
        is_bound = type(selected) is PlaceAmongRows and selected.rows.most
        return selected if is_bound else self.condition(node, use)

    def numbers(self, node: Any, use: str) -> RecordSeries:
        """A number for each record, no truth."""
        series = self.rows(node, use)
        if series.names is not None:
            return self.refuse(f"{use} of names", "compare them with ==, != or .is_in([..])")  # type: ignore[no-any-return]
        if find_letter(series) not in "if":
            return self.refuse(f"{use} of truths", "cast them: .cast(pl.Int64)")  # type: ignore[no-any-return]
        return series  # type: ignore[no-any-return]

    def operand(self, node: Any, use: str) -> Any:
        """Numbers, or a constant number."""
        if isinstance(node, dict) and "Literal" in node:
            value = self.literal(node["Literal"]).value
            if not is_plain_number(value):
                return self.refuse(f"{use} with {value!r}")
            return value
        return self.numbers(node, use)

    def literal(self, said: Any) -> PlainEntry:
        """A constant of Python, of a type that a column may have."""
        return read_literal(self.refuse, said)


def find_letter(series: RecordSeries) -> str:
    """The letter of the type: "b", "i", "f"."""
    return series.array.dtype.kind  # type: ignore[no-any-return]


# ---- what nodes give

Rule = Callable[[Reader, Any], Any]
_NODES: dict[str, Rule] = {}
_FUNCTIONS: dict[str, Callable[[Reader, list[Any], Any], Any]] = {}


def _node(*kinds: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        _NODES.update(dict.fromkeys(kinds, rule))
        return rule

    return register


def _function(*kinds: str) -> Callable[[Any], Any]:
    def register(rule: Any) -> Any:
        _FUNCTIONS.update(dict.fromkeys(kinds, rule))
        return rule

    return register


@_node("Column")
def _column(reader: Reader, name: Any) -> Any:
    column = reader._columns.get(name)
    return reader.refuse(f"the column {name!r}, which is not there") if column is None else column


@_node("Literal")
def _literal(reader: Reader, said: Any) -> Any:
    return reader.literal(said)


@_node("Alias")
def _alias(reader: Reader, inner: Any) -> Any:
    return reader.calculate(inner[0])


@_node("BinaryExpr")
def _binary(reader: Reader, inner: Any) -> Any:
    left, kind, right = inner["left"], inner["op"], inner["right"]
    if kind in _LOGICAL:
        of_rows = reader.selection if _LOGICAL[kind] is operator.and_ else reader.condition
        pair = [of_rows(side, kind) for side in (left, right)]
        return _LOGICAL[kind](*pair)
    if kind in _COMPARING:
        return _compare(reader, _COMPARING[kind], left, right)
    if kind == "Plus" and {"Over"} & ({*left} | {*right}):
        places = [reader.calculate(side) for side in (left, right)]
        return operator.add(
            *(place.value if type(place) is PlainEntry else place for place in places)
        )
    if kind in _ARITHMETIC or kind in _OF_WHOLE:
        first, second = (reader.operand(side, kind) for side in (left, right))
        return calculate_rows(reader.refuse, kind, first, second)
    return reader.refuse(kind)


def calculate_rows(refuse: Any, kind: str, left: Any, right: Any) -> Any:
    """Arithmetic of numbers of records, one of them a constant perhaps."""
    pair = left, right
    if not any(type(side) is RecordSeries for side in pair):
        return refuse("arithmetic of constants")
    if kind in _ARITHMETIC:
        return _ARITHMETIC[kind](left, right)
    kinds = [find_letter(side) if type(side) is RecordSeries else type(side) for side in pair]
    if not all(letter in ("i", int) for letter in kinds) or type(left) is not RecordSeries:
        return refuse(f"{kind} of floats, or of a constant", "(x / y).floor()")
    return _OF_WHOLE[kind](left, right)


def _compare(reader: Reader, operation: Any, left: Any, right: Any) -> Any:
    sides = [reader.calculate(operand) for operand in (left, right)]
    if PlaceAmongRows in map(type, sides):
        return operation(*(one.value if type(one) is PlainEntry else one for one in sides))
    pair = []
    for side, node in zip(sides, (left, right), strict=True):
        is_constant = type(side) is PlainEntry
        pair.append(side.value if is_constant else reader.rows(node, "a comparison"))
    return compare_rows(reader.refuse, operation, *pair)


def compare_rows(refuse: Any, operation: Any, left: Any, right: Any) -> Any:
    """A comparison of records with a constant, or with others of the same type."""
    if type(left) is not RecordSeries:
        left, right, operation = right, left, _SWAPPED[operation]
    if type(left) is not RecordSeries:
        return refuse("a comparison of constants")
    if left.names is not None:
        if not isinstance(right, str):
            return refuse("a comparison of names", "compare them with a string")
        return operation(left, right)
    if type(right) is RecordSeries:
        if right.names is not None or (find_letter(left) == "b") != (find_letter(right) == "b"):
            return refuse("a comparison of columns of different types")
        return operation(left, right)
    if find_letter(left) == "b":
        is_truth = type(right) is bool and operation in (operator.eq, operator.ne)
        return operation(left, right) if is_truth else refuse("a comparison of truths")
    return (
        operation(left, right) if is_plain_number(right) else refuse(f"a comparison with {right!r}")
    )


_SWAPPED = {
    operator.eq: operator.eq,
    operator.ne: operator.ne,
    operator.lt: operator.gt,
    operator.gt: operator.lt,
    operator.le: operator.ge,
    operator.ge: operator.le,
}


@_node("Ternary")
def _ternary(reader: Reader, inner: Any) -> Any:
    condition = reader.condition(inner["predicate"], "when()")
    pair = [inner["truthy"], inner["falsy"]]
    sides = [reader.operand(branch, "when()") for branch in pair]
    if all(type(side) is int for side in sides):
        if any(abs(side) >= _INT32 for side in sides):
            return reader.refuse("when() between numbers of 64 bits", "pl.lit(1).cast(pl.Int64)")
        return Narrow(condition.like(np.where(condition.array, *sides)))
    plain = [side.array if type(side) is RecordSeries else side for side in sides]
    return condition.like(np.where(condition.array, *plain))


@_node("Cast")
def _cast(reader: Reader, inner: Any) -> Any:
    said = inner["dtype"]
    name = said["Literal"] if isinstance(said, dict) and said.keys() == {"Literal"} else said
    if name == "String" and (bins := _find_bins(inner["expr"])):
        return _names_of_bins(reader, *bins)
    if inner.get("options") not in ("Strict", "NonStrict") or name not in _CASTS:
        return reader.refuse(f"cast to {name}", "cast to pl.Int64 or pl.Float64")
    column = reader.calculate(inner["expr"])
    if type(column) is RowsTotal:
        return _cast_total(reader, column, name)
    if type(column) is Narrow:
        column = column.series
    if type(column) is not RecordSeries:
        column = reader.rows(inner["expr"], "cast")
    return cast_rows(reader.refuse, column, name)


def _find_bins(node: Any) -> tuple[Any, dict[str, Any]] | None:
    """What is put into bins, and the options as ``cut`` has them; None where nothing is."""
    called = node.get("Function", {}) if isinstance(node, dict) else {}
    said = called.get("function")
    if not isinstance(said, dict) or not said.keys() <= {"Cut", "Bin"}:
        return None
    [(kind, options)] = said.items()
    if kind == "Bin":
        own = options["method"].get("Intervals", {})
        options = {
            "breaks": _breaks_in(own.get("spec")),
            "labels": options["labels"],
            "left_closed": not own.get("right_closed"),
            "include_breaks": options["include_intervals"],
        }
    return called["input"][0], options


def _breaks_in(said: Any) -> list[Any]:
    """The numbers of a series in an expression, which are bytes of Arrow; none of all else."""
    import polars

    if not isinstance(said, dict) or said.keys() != {"Breaks"}:
        return []
    return polars.read_ipc_stream(bytes(said["Breaks"])).to_series().to_list()


def _names_of_bins(reader: Reader, cut: Any, options: dict[str, Any]) -> RecordSeries:
    """The label of the bin of each record: as many breaks are below it as bins come before."""
    series = reader.numbers(cut, "bins")
    breaks, labels = options["breaks"], options["labels"]
    are_known = all(map(is_plain_number, breaks)) and breaks == sorted(set(breaks))
    if not are_known or options.get("include_breaks") is not False or not breaks:
        return reader.refuse("bins with these breaks", "write constants that rise")  # type: ignore[no-any-return]
    if labels is None or len(set(labels)) != len(breaks) + 1:
        return reader.refuse("bins without a label for each", "name all: labels=[..]")  # type: ignore[no-any-return]
    is_above = np.greater_equal if options["left_closed"] else np.greater
    above = [is_above(series.array, end).astype(np.int64) for end in breaks]
    return RecordSeries(reduce(operator.add, above), series.name, tuple(labels))


@_function("Cut", "Bin")
def _cut(reader: Reader, inputs: list[Any], options: Any) -> Any:
    return reader.refuse("bins that are categories", "cast them: .cast(pl.String)")


def cast_rows(refuse: Any, series: RecordSeries, name: str) -> Any:
    """Numbers of another type."""
    if series.names is not None or name not in _CASTS:
        return refuse("a cast of names, or to another type", "cast to pl.Int64 or pl.Float64")
    if type(series.array.storage) is RealColumn:
        return series if name == "Float64" else refuse("cast of real numbers to whole ones")
    return series.astype(_CASTS[name])


def _cast_total(reader: Reader, found: RowsTotal, name: str) -> Any:
    kind = found.value.kind if is_symbolic(found.value) else type(found.value)
    if name != "Int64" or not np.issubdtype(np.dtype(kind), np.integer):
        return reader.refuse("cast of a sum", "cast it to pl.Int64, or before")
    return RowsTotal(found.value)


@_node("Filter")
def _filter(reader: Reader, inner: Any) -> Any:
    condition = reader.condition(inner["by"], "filter")
    column = reader.calculate(inner["input"])
    if type(column) is Narrow:
        return Narrow(column.series[condition])
    if type(column) not in (RecordSeries, KeySeries):
        return reader.refuse("filter of what is not a column")
    return column[condition]


@_node("Agg")
def _aggregate(reader: Reader, inner: Any) -> Any:
    if not isinstance(inner, dict) or len(inner) != 1:
        return reader.refuse(f"{str(inner)[:60]}")
    [(kind, node)] = inner.items()
    if kind == "Count":
        return RowsTotal(_any_rows(reader, _count_input(node)).count(), is_unsigned=True)
    if kind == "NUnique":
        users = reader.calculate(node)
        if type(users) is not KeySeries:
            return reader.refuse("n_unique() of what is not the column of users")
        return RowsTotal(users.nunique(), is_unsigned=True)
    if kind not in ("Sum", "Mean"):
        return reader.refuse(f".{kind.lower()}()")
    if kind == "Mean":
        return RowsTotal(average_rows(reader.refuse, reader.rows(node, ".mean()")))
    return add_column(reader, reader.calculate(node))


def _count_input(node: Any) -> Any:
    return node["input"] if isinstance(node, dict) and "input" in node else node


def _any_rows(reader: Reader, node: Any) -> Any:
    column = reader.calculate(node)
    column = column.series if type(column) is Narrow else column
    is_column = type(column) in (RecordSeries, KeySeries)
    return column if is_column else reader.refuse("count() of what is not a column")


def add_column(reader: Reader, found: Any) -> RowsTotal:
    """The sum of a column."""
    if type(found) is Narrow:
        column = find_column(found.series.array)
        assert column is not None
        largest = int(np.abs(column.table).max(initial=0))
        if largest * column.answers.records >= _INT32:
            reader.refuse("a sum of 32 bits, which may overflow", "cast before: .cast(pl.Int64)")
        return RowsTotal(add_rows(reader.refuse, found.series))
    if type(found) is not RecordSeries:
        return reader.refuse(".sum() of what is not a column of numbers")  # type: ignore[no-any-return]
    return RowsTotal(add_rows(reader.refuse, found), is_unsigned=find_letter(found) == "b")


def add_rows(refuse: Any, series: RecordSeries) -> Any:
    """The sum; in which order polars adds floats is not known."""
    storage = series.numbers(".sum()").storage
    use = storage.branching.noise.in_own_order(".sum()")
    if type(storage) is RealColumn:
        return storage.sum_up(use, in_pairs=False)
    if type(storage) is not Column or storage.own.ndim > 1:
        return refuse(".sum() of this column")
    return _plain(storage.sums(None, use))


def average_rows(refuse: Any, series: RecordSeries) -> Any:
    """The mean, where the number of rows is public."""
    storage: Any = series.numbers(".mean()").storage
    if storage.kept is not None:
        return refuse(".mean() where the number of rows is private", "divide noisy sums")
    records = storage.read_length()
    use = storage.branching.noise.in_own_order(".mean()")
    if type(storage) is RealColumn:
        return storage.sum_up(use, in_pairs=False, scale=Fraction(1, records))
    return _plain(storage.sums(None, use, scale=Fraction(1, records), kind=np.float64))


def _plain(value: Any) -> Any:
    """A number as polars hands it out, of Python's types."""
    return value.item() if is_symbolic(value) or isinstance(value, np.generic) else value


@_node("Function")
def _call(reader: Reader, inner: Any) -> Any:
    if not inner.keys() <= {"input", "function", "options"}:
        return reader.refuse(f"{str(inner)[:60]}")
    said, inputs = inner["function"], inner["input"]
    kind: Any = said
    options: Any = None
    if isinstance(said, dict) and len(said) == 1:
        [(kind, options)] = said.items()
    if kind in ("Boolean", "Pow"):
        [(own, options)] = {options: None}.items() if isinstance(options, str) else options.items()
        kind = f"{kind}.{own}"
    rule = _FUNCTIONS.get(kind) if isinstance(kind, str) else None
    if rule is None:
        return reader.refuse(f"{kind}")
    return rule(reader, inputs, options)


@_function("Boolean.Not")
def _not(reader: Reader, inputs: list[Any], options: Any) -> Any:
    return ~reader.condition(inputs[0], "not")


@_function("Boolean.IsBetween")
def _is_between(reader: Reader, inputs: list[Any], options: Any) -> Any:
    series = reader.numbers(inputs[0], "is_between")
    low, high = (reader.operand(bound, "is_between") for bound in inputs[1:])
    above, below = _CLOSED[options["closed"]]
    return above(series, low) & below(series, high)


@_function("Boolean.IsIn")
def _is_in(reader: Reader, inputs: list[Any], options: Any) -> Any:
    series = reader.rows(inputs[0], "is_in")
    said = inputs[1]
    if options not in (None, {"nulls_equal": False}) or "Literal" not in said:
        return reader.refuse("is_in of what is not a list of constants")
    return is_in(reader.refuse, series, _read_list(said, reader))


def is_in(refuse: Any, series: RecordSeries, values: Any) -> Any:
    """Whether each entry is one of some constants of its type."""
    kind: Any = str if series.names is not None else int
    if series.names is None and (
        find_letter(series) != "i" or type(series.array.storage) is not Column
    ):
        return refuse("is_in of what is not whole numbers or names", "compare with is_between")
    if not isinstance(values, list) or not all(type(constant) is kind for constant in values):
        return refuse("is_in with constants of another type")
    return series.isin(values)


def _read_list(node: Any, reader: Reader) -> Any:
    """The constants of a list, as polars itself reads them."""
    import polars

    try:
        made = polars.Expr.deserialize(json.dumps(node).encode(), format="json")
        series = polars.select(made).to_series()
        return series.explode().to_list() if series.dtype == polars.List else series.to_list()
    except Exception:
        return reader.refuse("is_in of what is not a list of constants")


@_function("Clip")
def _clip(reader: Reader, inputs: list[Any], options: Any) -> Any:
    series = reader.numbers(inputs[0], "clip")
    bounds = iter([reader.operand(bound, "clip") for bound in inputs[1:]])
    low = next(bounds) if options["has_min"] else None
    high = next(bounds) if options["has_max"] else None
    return clip_rows(reader.refuse, series, low, high)


def clip_rows(refuse: Any, series: RecordSeries, low: Any, high: Any) -> Any:
    """Each entry within two constants, of whole numbers whole ones."""
    bounds = [bound for bound in (low, high) if bound is not None]
    if any(type(bound) not in (int, float) for bound in bounds):
        return refuse("clip with bounds that are not constants")
    if find_letter(series) == "i" and any(type(bound) is float for bound in bounds):
        return refuse("clip of whole numbers with floats", "cast them: .cast(pl.Float64)")
    if not bounds or (len(bounds) == 2 and low > high):
        return refuse("clip with these bounds")
    return series.clip(low, high)


@_function("FillNull")
def _fill_null(reader: Reader, inputs: list[Any], options: Any) -> Any:
    column = reader.calculate(inputs[0])
    if type(column) is RowsTotal:
        return column  # a sum of no rows is 0, and a mean of none is refused
    series = reader.numbers(inputs[0], "fill_null")
    value = reader.operand(inputs[1], "fill_null")
    if type(value) is not int and not (type(value) is float and find_letter(series) == "f"):
        return reader.refuse("fill_null with a number of another type")
    return series


def _entrywise(name: str, calculate: Callable[[RecordSeries], Any], kinds: str = "if") -> None:
    def rule(reader: Reader, inputs: list[Any], options: Any) -> Any:
        return calculate(reader.numbers(inputs[0], name.lower()))

    _FUNCTIONS[name] = rule


def _with_array(function: Any) -> Callable[[RecordSeries], Any]:
    return lambda series: series.like(function(series.array))


def _whole_stay(function: Any) -> Callable[[RecordSeries], Any]:
    return lambda series: (
        series if find_letter(series) == "i" else series.like(function(series.array))
    )


_entrywise("Abs", _with_array(np.abs))
_entrywise("Negate", lambda series: -series)
_entrywise("Pow.Sqrt", _with_array(np.sqrt))
_entrywise("Floor", _whole_stay(np.floor))
_entrywise("Ceil", _whole_stay(np.ceil))


@_function("Round")
def _round(reader: Reader, inputs: list[Any], options: Any) -> Any:
    series = reader.numbers(inputs[0], "round")
    if find_letter(series) == "f" and options != {"decimals": 0, "mode": "HalfToEven"}:
        return reader.refuse("round to decimals", ".round(0, mode='half_to_even')")
    return _whole_stay(np.rint)(series)


@_function("Pow.Generic")
def _power(reader: Reader, inputs: list[Any], options: Any) -> Any:
    series = reader.numbers(inputs[0], "pow")
    exponent = reader.operand(inputs[1], "pow")
    if type(exponent) is not int or exponent < 0:
        return reader.refuse("pow with what is not a constant whole number")
    if find_letter(series) == "i":
        return series**exponent
    if type(series.array.storage) is RealColumn and exponent == 2:
        return series**2
    return reader.refuse("pow of floats", "x * x")


def combine(conditions: list[Any]) -> Any:
    """All of some conditions."""
    return reduce(operator.and_, conditions)


def array_of_series(series: RecordSeries) -> SymbolicArray:
    """The numbers, which nobody may write, as those of polars."""
    array = series.numbers(".to_numpy()")
    column = find_column(array)
    if column is None:
        return array
    table = column.table.view()
    table.flags.writeable = False
    made = column.other(table)
    made.is_strided = True
    return SymbolicArray(made)


ADVICE = (
    "bound the rows of users: pl.int_range(pl.len()).over(key) < 3, pl.len().over(key) <= 3; or "
    "clip what each user adds: group_by(key).agg(pl.col('x').sum().clip(0, 100))"
)
_ONE = {"Literal": {"Dyn": {"Int": 1}}}
#: By what a range of whole numbers goes from and to, the place of the first row.
_RANGES = (
    ([{"Literal": {"Dyn": {"Int": 0}}}, "Len"], 0),
    ([_ONE, {"BinaryExpr": {"left": "Len", "op": "Plus", "right": _ONE}}], 1),
)


@_node("Over")
def place_over(reader: Any, inner: Any) -> Any:
    """The places that rows have among those of their user, or of their user in their group."""
    partition = [
        reader.columns.get(one.get("Column")) if isinstance(one, dict) else None
        for one in inner["partition_by"]
    ]
    kinds = [type(one) for one in partition]
    users = [one for one in partition if type(one) is KeySeries]
    others = [one for one in partition if type(one) is RecordSeries]
    is_plain = inner.get("order_by") is None and inner.get("mapping") == "GroupsToRows"
    if not is_plain or len(users) != 1 or len(others) + 1 < len(kinds):
        return reader.refuse("over() but of users", ADVICE)
    said = inner["function"]
    if not others and (said == "Len" or _counts_column(reader, said)):
        return rows_of_users(users[0])
    first = _first_place(reader, said)
    if first is None:
        return reader.refuse("over() of what does not say which row of its user each is", ADVICE)
    by = find_codes(others) if others else b""
    return PlaceAmongRows(users[0], first=first, rows=RowsLeft(0, by=by))


def _first_place(reader: Any, said: Any) -> int | None:
    """What the first row of each user has, where the others follow; None for all else."""
    called = said.get("Function") if isinstance(said, dict) else None
    if called is None:
        return None
    function, given = called["function"], called["input"]
    if function == {"CumCount": {"reverse": False}} and _is_column(reader, given[0]):
        return 1
    whole = {"step": 1, "dtype": {"Literal": "Int64"}}
    if function == {"Range": {"IntRange": whole}}:
        return next((first for ends, first in _RANGES if given == ends), None)
    return None


def _counts_column(reader: Any, said: Any) -> bool:
    counted = said.get("Agg", {}).get("Count") if isinstance(said, dict) else None
    return counted is not None and _is_column(reader, counted["input"])


def _is_column(reader: Any, node: Any) -> bool:
    """Whether it is a column of the frame, where nothing is missing."""
    return isinstance(node, dict) and node.keys() == {"Column"} and node["Column"] in reader.columns
