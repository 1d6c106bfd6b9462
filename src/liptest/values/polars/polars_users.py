"""One number for each user in polars: ``group_by(user).agg(..)``, and expressions of these.

Expressions of polars inside of ``agg`` make numbers of the rows of each user, and calculate with
them; those of the frame that comes out calculate on, and add up over all users (``user_totals``).
In which order polars adds floats of a user is not known, and may depend on the rows of others: of
such sums clips are followed, and their rounding is part of the price (docs/theory/tables.md, B16).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from liptest.values.branching import Branching
from liptest.values.pandas.of_pandas import CountsRows
from liptest.values.pandas.record_series import KeySeries, RecordSeries
from liptest.values.pandas.user_totals import UserTotals
from liptest.values.polars.polars_known import KnownFrame, OfPolars, flat
from liptest.values.polars.polars_nodes import is_plain_number, name_expressions, read_literal
from liptest.values.polars.polars_parts import ADVICE, Narrow, PlainEntry, RowsTotal
from liptest.values.protocol import find_branching, is_symbolic

_CLIPPED = (
    "clip what each user adds: frame.group_by(key).agg(pl.col('column').clip(0, 10).sum()"
    ".clip(0, 100)).select(pl.sum('column'))"
)
_COMPARED = {
    **{"Eq": np.equal, "NotEq": np.not_equal, "Lt": np.less, "LtEq": np.less_equal},
    **{"Gt": np.greater, "GtEq": np.greater_equal},
}
_SWAPPED = {"Lt": "Gt", "Gt": "Lt", "LtEq": "GtEq", "GtEq": "LtEq", "Eq": "Eq", "NotEq": "NotEq"}
_JOINED = {
    **{"And": np.logical_and, "LogicalAnd": np.logical_and},
    **{"Or": np.logical_or, "LogicalOr": np.logical_or},
}
_CALCULATED = {
    **{"Plus": np.add, "Minus": np.subtract, "Multiply": np.multiply},
    "TrueDivide": np.divide,
}
#: What polars makes of the rows of each user, as pandas calls it.
_MADE = {
    **{"Sum": "sum", "Mean": "mean", "Median": "median", "Max": "max", "Min": "min"},
    **{"First": "first", "Last": "last", "Count": "count", "NUnique": "nunique"},
}
# What numbers without a sign can hold.
_UNSIGNED = 1 << 32


class TotalsOfPolars(UserTotals):
    """A number of each user, signed or a float."""

    __slots__ = ()

    advice = _CLIPPED
    keeps_order = False
    #: Whether polars keeps them without a sign.
    is_unsigned = False

    @property
    def kind(self) -> Any:
        """What it stands for."""
        import polars

        return polars.Series

    def clip(self, lower_bound: Any = None, upper_bound: Any = None) -> Any:
        """Each number within two constants."""
        bounds = [bound for bound in (lower_bound, upper_bound) if bound is not None]
        if not bounds or not all(map(is_plain_number, bounds)):
            return self.refuse(".clip with bounds that are not finite constants")
        if bounds[0] > bounds[-1]:
            return self.refuse(".clip with a lower bound above the upper one", "exchange them")
        if self.is_whole and any(type(bound) is float for bound in bounds):
            return self.refuse(".clip of whole numbers with floats", "write 100 for 100.0")
        if self.is_unsigned and bounds[0] < 0:
            return self.refuse(".clip of counts, which have no sign in polars", "clip at 0")
        return super().clip(lower_bound, upper_bound)

    def filter(self, predicate: Any) -> Any:
        """The users for whom a comparison holds."""
        if type(predicate) is not TruthsOfUsers:
            return self.refuse(".filter with what is not a comparison")
        return self[predicate]

    def sum(self) -> Any:
        """The answer: each user adds a number between the ends, or nothing."""
        if self.is_unsigned and not self._ends[1] * self._column.answers.records < _UNSIGNED:
            return self.refuse(".sum of counts that are not clipped", _CLIPPED)
        total = super().sum()
        return total.item() if is_symbolic(total) else total

    def len(self) -> Any:
        """How many users there are."""
        return self.count_rows()

    def _like(self, recipe: Any, ends: tuple[float, float], *, is_whole: bool) -> Any:
        is_truth = recipe[0] in (*_COMPARED.values(), *_JOINED.values())
        kind = TruthsOfUsers if is_truth else type(self)
        return self._made(kind, ends, is_whole=is_whole, recipe=recipe)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return self.refuse(f"numpy.{ufunc.__name__}")

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        return self.refuse(f"numpy.{function.__name__}")


class CountsOfUsers(TotalsOfPolars):
    """Numbers without a sign: with them polars calculates otherwise."""

    __slots__ = ()

    is_unsigned = True

    def calculated(self, ufunc: Any, other: Any = None, *, swapped: bool = False) -> Any:
        """Bounds and comparisons only."""
        if ufunc not in (np.maximum, np.minimum, *_COMPARED.values()):
            return self.refuse(
                "arithmetic of counts, which have no sign in polars", ".cast(pl.Int64)"
            )
        return super().calculated(ufunc, other, swapped=swapped)


class TruthsOfUsers(TotalsOfPolars):
    """Whether a comparison holds for each user."""

    __slots__ = ()

    is_unsigned = True

    def calculated(self, ufunc: Any, other: Any = None, *, swapped: bool = False) -> Any:
        """Both of two truths, or one of them."""
        if ufunc in _JOINED.values():
            return super().calculated(ufunc, other)
        return self.refuse("arithmetic of truths", ".cast(pl.Int64)")


class UsersReader:
    """Calculates nodes with numbers of each user.

    Parameters
    ----------
    refuse
        ``(use, advice)`` ends the analysis.
    rows
        What reads columns of the rows, inside of ``agg``.
    totals
        By name the numbers of each user, after it.
    """

    def __init__(
        self,
        refuse: Callable[..., Any],
        rows: Any = None,
        totals: dict[str, Any] | None = None,
    ) -> None:
        self._refuse, self._rows, self._totals = refuse, rows, totals or {}

    def refuse(self, use: str, advice: str = ADVICE) -> Any:
        """End the analysis."""
        return self._refuse(f"an expression of polars: {use}", advice)

    def calculate(self, node: Any) -> Any:
        """A ``TotalsOfPolars``, a ``RowsTotal`` or a ``PlainEntry``."""
        if node == "Len":
            return self._count()
        if not isinstance(node, dict) or len(node) != 1:
            return self.refuse(f"{str(node)[:60]}")
        [(kind, inner)] = node.items()
        rule = _NODES.get(kind)
        return self.refuse(kind) if rule is None else rule(self, inner)

    def totals(self, node: Any, use: str) -> Any:
        """Numbers of each user."""
        found = self.calculate(node)
        if isinstance(found, TotalsOfPolars):
            return found
        return self.refuse(f"{use} of what is not a number of each user", _CLIPPED)

    def number(self, node: Any, use: str) -> Any:
        """A constant."""
        calculated = self.calculate(node)
        is_number = type(calculated) is PlainEntry and is_plain_number(calculated.value)
        return calculated.value if is_number else self.refuse(f"{use} with what is not a constant")

    def column(self, name: Any) -> Any:
        """Numbers of each user by name."""
        if self._rows is not None or name not in self._totals:
            return self.refuse(f"{name!r}, of which no number of each user is made", _CLIPPED)
        return self._totals[name]

    def _count(self) -> Any:
        if self._rows is None:
            return RowsTotal(next(iter(self._totals.values())).count_rows(), is_unsigned=True)
        return CountsOfUsers.of(self._rows.first, "size", self.refuse)

    def aggregated(self, kind: str, node: Any) -> Any:
        """What is made of all rows of each user, or of the numbers of all users."""
        if isinstance(node, dict) and "input" in node:
            node = node["input"]
        if self._rows is not None:
            return self._make_of_rows(kind, node)
        totals = self.totals(node, f".{kind.lower()}()")
        if kind == "Sum":
            return RowsTotal(totals.sum(), is_unsigned=totals.is_unsigned)
        if kind == "Count":
            return RowsTotal(totals.count_rows(), is_unsigned=True)
        return self.refuse(f".{kind.lower()}() over users", _CLIPPED)

    def _make_of_rows(self, kind: str, node: Any) -> Any:
        if kind not in _MADE:
            return self.refuse(f".{kind.lower()}()")
        column = self._rows.calculate(node)
        if kind == "Count" and type(column) is KeySeries:
            return CountsOfUsers.of(column, "size", self.refuse)
        if type(column) is Narrow:
            return self.refuse("numbers of 32 bits", "cast them: .cast(pl.Int64)")
        if type(column) is not RecordSeries:
            return self.refuse(f".{kind.lower()}() of what is not a column", _CLIPPED)
        is_truth = column.names is None and column.array.dtype.kind == "b"
        if is_truth and kind not in ("Sum", "Count", "NUnique"):
            return self.refuse(f".{kind.lower()}() of truths", "cast them: .cast(pl.Int64)")
        is_unsigned = is_truth or kind in ("Count", "NUnique")
        own = CountsOfUsers if is_unsigned else TotalsOfPolars
        return own.of(column, _MADE[kind], self.refuse)


def _alias(reader: UsersReader, inner: Any) -> Any:
    return reader.calculate(inner[0])


def _literal(reader: UsersReader, said: Any) -> Any:
    return read_literal(reader.refuse, said)


def _aggregate(reader: UsersReader, inner: Any) -> Any:
    if not isinstance(inner, dict) or len(inner) != 1:
        return reader.refuse(f"{str(inner)[:60]}")
    [(kind, node)] = inner.items()
    return reader.aggregated(kind, node)


def _binary(reader: UsersReader, inner: Any) -> Any:
    left, kind, right = inner["left"], inner["op"], inner["right"]
    if kind in _JOINED:
        pair = [reader.totals(side, kind) for side in (left, right)]
        return pair[0].calculated(_JOINED[kind], pair[1])
    swapped = isinstance(left, dict) and "Literal" in left
    if swapped:
        left, right = right, left
    if kind in _COMPARED:
        ufunc = _COMPARED[_SWAPPED[kind] if swapped else kind]
        return reader.totals(left, "a comparison").calculated(
            ufunc, reader.number(right, "a comparison")
        )
    if kind not in _CALCULATED:
        return reader.refuse(kind)
    found, number = reader.totals(left, kind), reader.number(right, kind)
    return found.calculated(_CALCULATED[kind], number, swapped=swapped)


def _call(reader: UsersReader, inner: Any) -> Any:
    said, inputs = inner["function"], inner["input"]
    if said == "Abs":
        return reader.totals(inputs[0], "abs").abs()
    if not isinstance(said, dict) or said.keys() != {"Clip"}:
        return reader.refuse(str(said)[:60])
    options = said["Clip"]
    bounds = iter([reader.number(bound, "clip") for bound in inputs[1:]])
    low = next(bounds) if options["has_min"] else None
    high = next(bounds) if options["has_max"] else None
    return reader.totals(inputs[0], "clip").clip(low, high)


def _cast(reader: UsersReader, inner: Any) -> Any:
    said, found = inner["dtype"], reader.totals(inner["expr"], "cast")
    name = said["Literal"] if isinstance(said, dict) and said.keys() == {"Literal"} else said
    if name != "Int64" or not found.is_whole:
        return reader.refuse(f"cast to {name}", "cast to pl.Int64, or calculate with floats")
    return found.as_kind(TotalsOfPolars)


def _filter(reader: UsersReader, inner: Any) -> Any:
    return reader.totals(inner["input"], "filter").filter(reader.calculate(inner["by"]))


def _column(reader: UsersReader, name: Any) -> Any:
    return reader.column(name)


_NODES: dict[str, Callable[[UsersReader, Any], Any]] = {
    "Agg": _aggregate,
    "Alias": _alias,
    "BinaryExpr": _binary,
    "Cast": _cast,
    "Column": _column,
    "Filter": _filter,
    "Function": _call,
    "Literal": _literal,
}


class UsersOfPolars(CountsRows, OfPolars):
    """A frame with a row for each user, in no order: numbers of each, by name."""

    __slots__ = ("_is_lazy", "_totals")

    described = UserTotals.described
    advice = _CLIPPED

    def __init__(self, totals: dict[str, Any], *, is_lazy: bool = False) -> None:
        self._totals, self._is_lazy = totals, is_lazy

    @classmethod
    def of(
        cls, rows: Any, aggs: Sequence[Any], named: dict[str, Any], *, is_lazy: bool
    ) -> UsersOfPolars:
        """``group_by(user).agg(..)``."""
        reader = UsersReader(rows.refuse_plainly, rows)
        nodes = _nodes(aggs, named, list(rows.columns), rows.refuse_plainly)
        found = {name: reader.totals(node, ".agg") for name, node in nodes.items()}
        if not found:
            rows.refuse(".agg of nothing")
        return cls(found, is_lazy=is_lazy)

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return next(iter(self._totals.values())).branching  # type: ignore[no-any-return]

    @property
    def kind(self) -> Any:
        """What it stands for."""
        import polars

        return polars.LazyFrame if self._is_lazy else polars.DataFrame

    def lazy(self) -> Any:
        """The same, to be collected."""
        return UsersOfPolars(self._totals, is_lazy=True)

    def collect(self) -> Any:
        """The frame itself."""
        if not self._is_lazy:
            return self.refuse(".collect of a frame that is not lazy")
        return UsersOfPolars(self._totals)

    def _calculate(self, exprs: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
        reader = UsersReader(self.refuse, totals=self._totals)
        nodes = _nodes(exprs, named, list(self._totals), self.refuse)
        return {name: reader.calculate(node) for name, node in nodes.items()}

    def totals_of(self, exprs: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
        """By name sums over all users."""
        calculated = self._calculate(exprs, named)
        if not calculated or not all(type(total) is RowsTotal for total in calculated.values()):
            self.refuse(".agg of what is not a sum over users")
        return calculated

    def select(self, *exprs: Any, **named_exprs: Any) -> Any:
        """Numbers of each user, or of all."""
        calculated = self._calculate(exprs, named_exprs)
        if calculated and all(type(total) is RowsTotal for total in calculated.values()):
            columns = {name: [total] for name, total in calculated.items()}
            return KnownFrame(self.branching, columns, set(), is_lazy=self._is_lazy)
        return UsersOfPolars(self._each(calculated, ".select"), is_lazy=self._is_lazy)

    def with_columns(self, *exprs: Any, **named_exprs: Any) -> Any:
        """With further numbers of each user."""
        made = self._each(self._calculate(exprs, named_exprs), ".with_columns")
        return UsersOfPolars(self._totals | made, is_lazy=self._is_lazy)

    def _each(self, made: dict[str, Any], use: str) -> dict[str, Any]:
        if not made or not all(isinstance(one, TotalsOfPolars) for one in made.values()):
            self.refuse(f"{use} of sums or constants beside numbers of each user")
        return made

    def filter(self, *predicates: Any) -> Any:
        """The users for whom a comparison holds."""
        conditions = list(self._calculate(predicates, {}).values())
        if len(conditions) != 1 or type(conditions[0]) is not TruthsOfUsers:
            return self.refuse(".filter of users but by one condition, as pl.col('n') > 1")
        left = {name: total[conditions[0]] for name, total in self._totals.items()}
        return UsersOfPolars(left, is_lazy=self._is_lazy)

    def __getitem__(self, key: Any) -> Any:
        return self.get_column(key)

    def get_column(self, name: Any) -> Any:
        """Numbers of each user."""
        if self._is_lazy:
            return self.refuse("an index of a lazy frame", "call .collect() before")
        if not isinstance(name, str) or name not in self._totals:
            return self.refuse(f"{name!r}, which is not a number of each user")
        return self._totals[name]

    def count_rows(self) -> Any:
        """How many users there are."""
        if self._is_lazy:
            return self.refuse(".height of a lazy frame", "call .collect() before")
        return next(iter(self._totals.values())).count_rows()

    @property
    def height(self) -> Any:
        """How many users there are."""
        return self.count_rows()


class AnyRowOfUsers(CountsRows, OfPolars):
    """``unique(user)``: a row of each user, which polars chooses, so that they are counted only."""

    __slots__ = ("_users",)

    described = "a row of each user (which one is not determined)"
    advice = "write frame.unique(key, keep='first', maintain_order=True)"

    def __init__(self, users: KeySeries) -> None:
        self._users = users

    branching = find_branching("_users")

    def count_rows(self) -> Any:
        """How many users there are."""
        return self._users.nunique()

    @property
    def height(self) -> Any:
        """How many users there are."""
        return self.count_rows()


def _nodes(
    positional: Sequence[Any], named: dict[str, Any], names: list[str], refuse: Any
) -> dict[str, Any]:
    """By name what expressions say."""
    nodes = name_expressions(flat(positional), names, refuse)
    for name, expression in named.items():
        [nodes[name]] = name_expressions([expression], names, refuse).values()
    return nodes
