"""What code under analysis may call of polars: default deny, as its compiled code is not seen.

Polars calculates in compiled code with threads of its own. It draws random numbers there
(``sample``, ``shuffle``), and the order of rows is not determined where groups, joins and unique
rows are requested without an order. So the profiling hook looks at each call from the program into
polars: it must be one of these, which are deterministic, and ask for an order; and expressions that
it hands over, which may have been made before, must consist of known nodes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FrameType
from typing import Any

from liptest.enumerate.intercept.replaceable_names import find_attribute
from liptest.enumerate.watch.compiled_code import POLARS, find_package
from liptest.errors import MechanismError, NonDeterministicError, UnsupportedRandomnessError

#: Modules whose functions only hand on a call.
_HANDING_ON = (
    *("polars._utils.", "polars.utils."),
    *(
        "liptest.enumerate.intercept.analysis_session",
        "liptest.enumerate.intercept.symbolic_arrays",
    ),
)
_OPERATORS = (
    *("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__"),
    *("__rtruediv__", "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__pow__"),
    *("__rpow__", "__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__", "__neg__"),
    *("__pos__", "__invert__", "__abs__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__"),
    "__ge__",
)
# Of expressions and series: entry by entry, or one number of a column.
_OF_BOTH = (
    *("abs", "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "and_", "or_"),
    *("eq", "ne", "lt", "le", "gt", "ge", "not_", "xor", "sqrt", "exp", "log", "log1p", "sign"),
    *("alias", "cast", "ceil", "clip", "floor", "round", "fill_null", "fill_nan", "drop_nulls"),
    *("filter", "is_between", "is_in", "is_null", "is_not_null", "is_nan", "is_not_nan"),
    *("is_finite", "is_infinite", "replace_strict", "dot", "sum", "mean", "median", "min", "max"),
    *("std", "var", "quantile", "count", "len", "n_unique", "null_count", "arg_max", "arg_min"),
    *("any", "all", "first", "last", "head", "tail", "limit", "slice", "sort", "cum_sum"),
    *("cum_count", "reverse", "shift", "diff", "product", "implode", "cut"),
    "bin_intervals",
)
_OF_EXPRESSIONS = ("__init__", "__hash__", "over", "get")
_OF_SERIES = (
    *("__init__", "__len__", "__getitem__", "__iter__", "__array__", "__array_ufunc__", "__bool__"),
    *("__contains__", "__copy__", "__deepcopy__", "clone", "copy", "to_numpy", "to_list", "item"),
    *("rename", "name", "dtype", "shape", "len", "is_empty", "to_frame", "top_k", "bottom_k"),
    *("value_counts", "unique"),
    *("_from_pyseries", "_arithmetic", "_comp"),
)
_OF_FRAMES = (
    *("filter", "select", "with_columns", "group_by", "join", "unique", "drop", "drop_nulls"),
    *("fill_null", "fill_nan", "sort", "head", "tail", "limit", "slice", "sum", "mean", "median"),
    *("min", "max", "std", "var", "quantile", "count", "null_count", "columns", "schema", "width"),
    *("rename", "cast", "with_row_index", "lazy", "clone", "collect_schema", "dtypes", "reverse"),
    *("first", "last", "pipe", "__copy__", "__deepcopy__"),
)
_OF_EAGER = (
    *("__init__", "__len__", "__getitem__", "__contains__", "__array__", "height", "shape", "item"),
    *("row", "rows", "iter_rows", "rows_by_key", "to_numpy", "to_dict", "to_dicts", "to_series"),
    *("get_column", "get_columns", "iter_columns", "is_empty", "hstack", "vstack", "n_unique"),
    *("_from_pydf", "__iter__", "glimpse", "collect"),
)
_OF_GROUPS = ("agg", "len", "head", "sum", "mean", "count", "min", "max", "n_unique", "__init__")
_CONDITIONS = (
    *("When.then", "Then.when", "Then.otherwise", "ChainedWhen.then", "ChainedThen.when"),
    "ChainedThen.otherwise",
)
_FUNCTIONS = (
    *("lit", "len", "when", "sum", "mean", "min", "max", "count", "n_unique", "all", "exclude"),
    *("sum_horizontal", "max_horizontal", "min_horizontal", "all_horizontal", "any_horizontal"),
    *("mean_horizontal", "concat", "int_range", "zeros", "ones", "select", "coalesce", "nth"),
    *("col", "first", "last", "_create_col", "_polars_type_to_constructor"),
)
_COLUMNS = ("Col.__call__", "Col.__getattr__", "Column.__call__", "Column.__getattr__")
ALLOWED = frozenset(
    {
        *(f"{kind}.{one}" for kind in ("Expr", "Series") for one in (*_OF_BOTH, *_OPERATORS)),
        *(f"Expr.{one}" for one in _OF_EXPRESSIONS),
        *(f"Series.{one}" for one in _OF_SERIES),
        *(f"{kind}.{one}" for kind in ("DataFrame", "LazyFrame") for one in _OF_FRAMES),
        *(f"DataFrame.{one}" for one in _OF_EAGER),
        *("LazyFrame.collect", "LazyFrame.__init__"),
        *(f"{kind}.{one}" for kind in ("GroupBy", "LazyGroupBy") for one in _OF_GROUPS),
        *_CONDITIONS,
        *_FUNCTIONS,
        *_COLUMNS,
        *("Schema.names", "Schema.len", "Schema.__init__"),
    }
)
# Of which expressions consist, as polars writes them in JSON.
_NODES = frozenset(
    {
        "Column",
        "Literal",
        "Alias",
        "BinaryExpr",
        "Ternary",
        "Cast",
        "Filter",
        "Agg",
        "Over",
        "Slice",
    }
    | {"Sort", "Gather"}
)
_AGGREGATES = frozenset(
    {"Sum", "Mean", "Median", "Min", "Max", "Count", "NUnique", "Std", "Var", "Quantile", "First"}
    | {"Last", "Implode"}
)
_CALCULATED = frozenset(
    {"Abs", "Negate", "Boolean", "Pow", "Floor", "Ceil", "Round", "Clip", "FillNull", "DropNulls"}
    | {"SumHorizontal", "MaxHorizontal", "MinHorizontal", "MeanHorizontal", "Exp", "Log", "Sign"}
    | {"ReplaceStrict", "CumSum", "CumCount", "Shift", "Diff", "Reverse", "ArgMax", "ArgMin"}
    | {"NullCount", "Coalesce", "Range", "Product", "Log1p", "Cut", "Bin"}
)
#: Objects of polars that may be there before the function is called.
KEPT = frozenset(
    {"DataFrame", "Series", "Expr", "Then", "ChainedThen", "When", "ChainedWhen", "Selector"}
    | {"Schema", "Col", "DataTypeClass"}
)
# By what is called: the option that says in which order rows come, and its values that do.
_ORDERED = {
    "group_by": ("maintain_order", (True,)),
    "unique": ("maintain_order", (True,)),
    "sort": ("maintain_order", (True,)),
    "join": ("maintain_order", ("left", "right", "left_right", "right_left")),
}
#: What draws random numbers there.
_DRAWING = frozenset({"sample", "shuffle"})
_ADVICE = "write it with the methods of docs/tables.md, or in NumPy after .to_numpy()"


class UnorderedRowsError(NonDeterministicError):
    """Polars gives rows in an order that is not determined, on which an output may depend."""


def is_made_before(value: Any) -> bool:
    """Whether it is an object, as a lazy frame, that may hold what is not determined."""
    kind = type(value)
    is_object = find_package(kind.__module__) == POLARS and not isinstance(value, type)
    return is_object and kind.__name__ not in KEPT and not _is_data_type(kind)


def _is_data_type(kind: type) -> bool:
    return any(base.__name__ == "DataType" for base in kind.__mro__)


def find_refused_call(
    frame: FrameType, *, has_lazy_frames: bool = False, takes_any_order: bool = False
) -> tuple[FrameType, str, str, type[MechanismError]] | None:
    """The program's frame, what it does and what to write, where a call may not be; else None.

    ``frame`` has just been entered, and its code is polars'. The last is the kind of the refusal.
    ``takes_any_order``: what its result is used for depends on no order.
    """
    caller = find_program(frame)
    if caller is None or frame.f_globals.get("__name__", "").startswith(_HANDING_ON):
        return None
    name = _find_name(frame)
    if name == "<module>":
        return None
    if has_lazy_frames:
        what = "may use a lazy frame or groups of polars made before it was called"
        return caller, what, "make them inside", UnsupportedRandomnessError
    method = name.rpartition(".")[2]
    if name not in ALLOWED:
        kind = NonDeterministicError if method in _DRAWING else UnsupportedRandomnessError
        return caller, f"calls polars' {name}, which is not followed", _ADVICE, kind
    words = None if takes_any_order else _find_refused_options(method, frame.f_locals)
    if words is not None:
        return caller, *words, UnorderedRowsError
    if not all(map(_is_known, _expressions_in(_arguments(frame)))):
        what = "hands over an expression of polars that is not followed"
        return caller, what, _ADVICE, UnsupportedRandomnessError
    return None


def _arguments(frame: FrameType) -> list[Any]:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    return [frame.f_locals.get(name) for name in code.co_varnames[:count]]


def _expressions_in(values: Any) -> Iterator[Any]:
    for entry in values:
        if isinstance(entry, (list, tuple)):
            yield from _expressions_in(entry)
        elif isinstance(entry, dict):
            yield from _expressions_in(entry.values())
        elif type(entry).__name__ in ("Expr", "Then", "ChainedThen", "Selector") and (
            find_package(type(entry).__module__) == POLARS
        ):
            yield entry


def _is_known(expression: Any) -> bool:
    """Whether an expression consists of known nodes only."""
    if find_attribute(expression, "_pyexpr") is None:  # it is being made
        return True
    try:
        return _has_known_nodes(json.loads(expression.meta.serialize(format="json")))
    except Exception:  # functions of Python in it
        return False


def _has_known_nodes(node: Any) -> bool:
    if isinstance(node, list):
        return all(map(_has_known_nodes, node))
    return not isinstance(node, dict) or all(_is_known_node(*pair) for pair in node.items())


def _is_known_node(kind: str, inner: Any) -> bool:
    if kind in ("Literal", "Selector", "dtype"):
        return True
    if kind == "Function":
        said = inner["function"]
        name = said if isinstance(said, str) else next(iter(said))
        return name in _CALCULATED and _has_known_nodes(inner["input"])
    if kind == "Agg":
        is_known = isinstance(inner, dict) and inner.keys() <= _AGGREGATES
        return is_known and all(map(_has_known_nodes, inner.values()))
    return (kind in _NODES or not kind[:1].isupper()) and _has_known_nodes(inner)


def _find_refused_options(method: str, options: dict[str, object]) -> tuple[str, str] | None:
    """What is not determined, and what to write, by the options of a call."""
    if method in _ORDERED:
        name, allowed = _ORDERED[method]
        if name in options and options[name] not in allowed:
            return (
                f"calls polars' {method}, which gives rows in an order that is not determined",
                f"write {name}={allowed[0]!r}",
            )
    if method == "value_counts":
        what = "calls polars' value_counts, which gives rows in an order that is not determined"
        return what, "write frame.group_by(.., maintain_order=True).len()"
    if method == "unique" and options.get("keep", "first") not in ("first", "last", "none"):
        return "calls polars' unique, which keeps any row", "write keep='first'"
    return None


def find_program(frame: FrameType) -> FrameType | None:
    """Who called, where it is neither polars nor liptest."""
    caller = frame.f_back
    while caller is not None and str(caller.f_globals.get("__name__")).startswith(_HANDING_ON):
        caller = caller.f_back
    if caller is None:
        return None
    return None if find_package(caller.f_globals.get("__name__")) in (POLARS, "liptest") else caller


def _find_name(frame: FrameType) -> str:
    """What is called, with its class; of methods of series that hand it to expressions, too."""
    name = frame.f_code.co_qualname
    if name == "call_expr.<locals>.wrapper":
        return getattr(frame.f_locals.get("func"), "__qualname__", name)
    return name
