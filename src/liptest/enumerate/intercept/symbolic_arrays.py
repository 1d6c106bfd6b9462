"""Functions of libraries that look into what they are given before NumPy is asked, kept symbolic.

``numpy.array`` and the like ask for plain numbers at once. So during an analysis of symbolic data
the names stand for functions that keep a symbolic array, and make one of a list of symbolic
numbers. Where data are plain, and a program writes noise into an array of its own, its analysis
begins anew, and arrays have room for symbolic numbers from then on.

Inverse cdfs of SciPy take arrays apart, and those of Python's statistics need floats. Location and
scale are steps after the inverse cdf, as the libraries' own code has it.
"""

from __future__ import annotations

import _random
import linecache
import re
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from inspect import signature
from itertools import islice
from statistics import NormalDist
from types import CodeType, FrameType
from typing import Any

import numpy as np

from liptest.enumerate.folded.later_records import find_walked
from liptest.enumerate.intercept.analysis_session import (
    Session,
    class_for,
    follower,
    kept_follower,
)
from liptest.enumerate.intercept.replaceable_names import is_frame, is_others, is_own_module
from liptest.values.answers.weights import log_of_total
from liptest.values.array import ROOMY, CellStorage, SymbolicArray, as_cells, fill_array, make_array
from liptest.values.draws.quantile_steps import INVERSE_NORMAL, of_scipy
from liptest.values.draws.uniform import UniformValue
from liptest.values.faults import call_original, raises_as_numpy
from liptest.values.lines import find_place, is_ours, line_in_words
from liptest.values.pandas.frames import SymbolicFrame
from liptest.values.pandas.keyed_series import KeyedSeries
from liptest.values.pandas.made_frames import is_line_of_cells, make_noisy_frame, make_noisy_series
from liptest.values.pandas.moving_methods import join_frames, merge_frames
from liptest.values.pandas.of_pandas import OfPandas
from liptest.values.pandas.record_series import RecordSeries
from liptest.values.polars.occurring_keys import OccurringKeys
from liptest.values.protocol import is_symbolic
from liptest.values.records.record_list import EntryOfRecord, RecordList

# Of constants, into which numbers that data determine may be written.
_FILLED = (np.zeros, np.ones, np.full, np.empty)
_LIKE = (np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.bincount)
_MOST_FILLED = 4096
_CALL = re.compile(r"(?:\w+\.)*(\w+)\s*\(")
_MAKING = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
# Of objects they compare each with each, and numbers of other types keep them.
_OF_LISTS: tuple[Callable[..., Any], ...] = (
    *(np.argmax, np.argmin, np.argsort, np.max, np.min, np.sort),
    *(np.round, np.around, np.clip, np.isinf, np.isnan, np.isfinite),
)
_UNFILLED = (np.empty, np.empty_like)
# Kept: while a program is analysed the name stands for something else.
_COPYING, _FROM_ITERATOR = np.array, np.fromiter
# Where NumPy has the functions that methods of arrays call.
_METHODS: Any = next(
    sys.modules[name]
    for name in ("numpy._core._methods", "numpy.core._methods")
    if name in sys.modules
)
_MEAN = _METHODS._mean
_CONCATENATOR: Any = type(np.c_).__mro__[1]
_IN_BRACKETS = _CONCATENATOR.__getitem__
_MOST_BYTES = 1 << 16
_ZEROS = "use numpy.zeros or numpy.array"


def replacements() -> dict[int, Any]:
    """Stand-ins by the id of the original; of pandas and SciPy, too, where these are loaded."""
    names = vars(sys.modules["pandas"]) if "pandas" in sys.modules else {}
    known = [(names[name], name) for name in _OF_FRAMES if name in names]
    special = vars(sys.modules["scipy.special"]) if "scipy.special" in sys.modules else {}
    scores = tuple(special.get(name) for name in ("softmax", "logsumexp", "log_softmax"))
    classes = tuple((names[name], name) for name in _CLASSES if name in names)
    of_pandas = _of_pandas(tuple(known)) | _of_classes(classes)
    joined = tuple((names[name], name) for name in _JOINING if name in names)
    return _of_numpy() | of_pandas | _of_joining(joined) | _of_scores(*scores)


@lru_cache
def _of_scores(softmax: Any, logsumexp: Any, log_softmax: Any) -> dict[int, Any]:
    """``softmax`` of ``scipy.special`` and the like, which take arrays apart."""
    if softmax is None:
        return {}

    def make(session: Session, x: Any, axis: Any = None) -> Any:
        """In the steps of its own code."""
        array = _symbolic_array(session, x)
        if array is None or array.ndim != 1 or axis not in (None, 0, -1):
            return softmax(x, axis=axis)
        weights = np.exp(array - np.max(array))
        return weights / np.sum(weights)

    def make_log(session: Session, a: Any, axis: Any = None, **options: Any) -> Any:
        array = None if options else _line_of_scores(session, a, axis)
        total = None if array is None else log_of_total(array.cells.tolist())
        return logsumexp(a, axis=axis, **options) if total is None else total

    def make_difference(session: Session, x: Any, axis: Any = None) -> Any:
        array = _line_of_scores(session, x, axis)
        total = None if array is None else log_of_total(array.cells.tolist())
        return log_softmax(x, axis=axis) if total is None else array - total

    makers = (softmax, make), (logsumexp, make_log), (log_softmax, make_difference)
    return {id(one): follower(one, made, draws=False) for one, made in makers if one is not None}


def _line_of_scores(session: Session, given: Any, axis: Any) -> Any:
    array = _symbolic_array(session, given)
    is_line = array is not None and array.ndim == 1 and axis in (None, 0, -1)
    return array if is_line and type(array.storage) is CellStorage else None


#: Functions of pandas: what their first parameter is called, and what follows them.
_OF_FRAMES: dict[str, tuple[str, type[OfPandas], Callable[..., Any]]] = {
    "cut": ("x", RecordSeries, RecordSeries.cut_at),
    "crosstab": ("index", RecordSeries, RecordSeries.cross_with),
    "get_dummies": ("data", RecordSeries, RecordSeries.dummies),
    "merge": ("left", SymbolicFrame, SymbolicFrame.merge),
    "pivot_table": ("data", SymbolicFrame, SymbolicFrame.pivot_table),
}


#: Functions of pandas that put frames together, and what gives None where none is symbolic.
_JOINING: dict[str, Callable[..., Any]] = {"concat": join_frames, "merge": merge_frames}


@lru_cache
def _of_joining(known: tuple[tuple[Any, str], ...]) -> dict[int, Any]:
    return {id(one): follower(one, _joining_frames(one, name), draws=False) for one, name in known}


def _joining_frames(original: Callable[..., Any], name: str) -> Callable[..., Any]:
    known = _OF_FRAMES.get(name)
    of_records = None if known is None else _of_symbolic_frames(original, *known)

    def make(session: Session, *given: Any, **options: Any) -> Any:
        made = _JOINING[name](*given, **options)
        if made is not None:
            return made
        if of_records is None:
            return original(*given, **options)
        return of_records(session, *given, **options)

    return make


@lru_cache
def _of_classes(known: tuple[tuple[Any, str], ...]) -> dict[int, Any]:
    return {id(one): class_for(one, _CLASSES[name]) for one, name in known}


def _categorise(
    session: Session, values: Any = None, categories: Any = None, ordered: Any = None, **more: Any
) -> Any:
    """``pandas.Categorical`` of a column of records, whose categories are named."""
    if type(values) is not RecordSeries:
        return None
    if more or type(categories) not in (list, tuple) or is_symbolic(categories):
        return values.refuse("pandas.Categorical without a list of categories")
    kind = sys.modules["pandas"].CategoricalDtype(list(categories))
    return values.astype(kind)


def _made_of_noise(make: Callable[..., Any]) -> Callable[..., Any]:
    """What takes the arguments that ``make`` knows; pandas makes the rest as it is."""

    def made(session: Session, *arguments: Any, **options: Any) -> Any:
        try:
            bound = signature(make).bind(*arguments, **options)
        except TypeError:
            return None
        return make(*bound.args, **bound.kwargs)

    return made


#: Classes of pandas, and what makes something else of what is symbolic, or gives None.
_CLASSES: dict[str, Callable[..., Any]] = {
    "Categorical": _categorise,
    "Series": _made_of_noise(make_noisy_series),
    "DataFrame": _made_of_noise(partial(make_noisy_frame, SymbolicFrame)),
}


@lru_cache
def _of_pandas(known: tuple[tuple[Any, str], ...]) -> dict[int, Any]:
    return {
        id(one): follower(one, _of_symbolic_frames(one, *_OF_FRAMES[name]), draws=False)
        for one, name in known
    }


def _of_symbolic_frames(
    original: Callable[..., Any], first: str, kind: type[OfPandas], followed: Callable[..., Any]
) -> Callable[..., Any]:
    """A function of pandas whose first argument may stand for a column or a frame."""

    def make(session: Session, /, *arguments: Any, **options: Any) -> Any:
        if not arguments and type(options.get(first)) is kind:
            arguments = (options.pop(first),)
        if not arguments or type(arguments[0]) is not kind:
            return call_original(original, *arguments, **options)
        try:
            bound = signature(followed).bind(*arguments, **options)
        except TypeError:
            return arguments[0].refuse(f"pandas.{original.__name__} with these options")
        return followed(*bound.args, **bound.kwargs)

    return make


def methods_meeting_data() -> Iterator[tuple[Any, str, Any]]:
    """What ``numpy.c_[..]`` calls, and methods of pandas and polars, where these are loaded."""
    yield _CONCATENATOR, "__getitem__", _in_brackets()
    yield _METHODS, "_mean", _of_means()
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        base = pandas.DataFrame.__base__
        change = vars(base).get("_inplace_method")
        if change is not None:
            yield base, "_inplace_method", kept_follower(change, _changing(change), draws=False)
        put = pandas.DataFrame.__setitem__
        yield pandas.DataFrame, "__setitem__", kept_follower(put, _putting(put), draws=False)
    polars = sys.modules.get("polars")
    if polars is not None:
        kind = polars.DataFrame
        yield kind, "join", kept_follower(kind.join, _joining(kind.join), draws=False)
        for one in (kind, polars.LazyFrame):
            yield one, "group_by", kept_follower(one.group_by, _grouping(one.group_by), draws=False)
        series = polars.Series
        counting = _counting_values(series.value_counts)
        yield series, "value_counts", kept_follower(series.value_counts, counting, draws=False)


@lru_cache
def _of_means() -> Any:
    return kept_follower(_MEAN, _mean_of_list, draws=False)


def _mean_of_list(session: Session, value: Any, *arguments: Any, **options: Any) -> Any:
    """What ``numpy.mean`` calls, of a list of answers."""
    is_list = type(value) in (list, tuple) and _has_answers(session)
    made = _of_symbols(session, value) if is_list else None
    every = (*arguments, *options.values())
    has_options = any(one is not None and one is not np._NoValue for one in every)
    if made is None or has_options:
        return call_original(_MEAN, value, *arguments, **options)
    return np.mean(made)


@lru_cache
def _in_brackets() -> Any:
    return kept_follower(_IN_BRACKETS, _join_in_brackets, draws=False)


def _join_in_brackets(session: Session, joiner: Any, key: Any) -> Any:
    """Arrays side by side, or one after another, where some of them are symbolic."""
    parts = key if type(key) is tuple else (key,)
    is_plain = not any(type(part) is SymbolicArray or is_symbolic(part) for part in parts)
    if (
        is_plain
        or joiner not in (np.c_, np.r_)
        or any(type(part) in (str, slice) for part in parts)
    ):
        return _IN_BRACKETS(joiner, key)
    made = [part if np.ndim(part) else _in_a_line(session, part) for part in parts]
    return np.column_stack(made) if joiner is np.c_ else np.concatenate(made)


def _in_a_line(session: Session, number: Any) -> Any:
    made = _of_symbols(session, [number])
    return _COPYING([number]) if made is None else made


@lru_cache
def _changing(original: Callable[..., Any]) -> Callable[..., Any]:
    """What ``series += noise`` calls: pandas leaves its operators to symbolic numbers."""

    def change(session: Session, series: Any, other: Any, operate: Callable[..., Any]) -> Any:
        is_plain = not (type(other) is SymbolicArray or is_symbolic(other))
        if is_plain or not is_frame(series) or series.ndim != 1:
            return original(series, other, operate)
        reflected = f"__r{operate.__name__.removeprefix('__')}"
        entries = _as_objects(getattr(other, reflected)(series))
        return original(series, entries, lambda own, given: type(own)(given, own.index))

    return change


@lru_cache
def _putting(original: Callable[..., Any]) -> Callable[..., Any]:
    """``frame[name] = noisy`` of a plain frame, whose column is of objects then."""

    def put(session: Session, frame: Any, key: Any, value: Any) -> None:
        is_own = type(value) is KeyedSeries and list(value.keys_) == frame.index.tolist()
        is_line = is_line_of_cells(value) and len(value) == len(frame)
        original(frame, key, _as_objects(value) if is_own or is_line else value)

    return put


def _as_objects(numbers: Any) -> Any:
    """The numbers of a series or an array as objects, which pandas keeps as they are."""
    entries = np.empty(len(numbers), dtype=object)
    entries[:] = list(numbers)
    return entries


@lru_cache
def _joining(original: Callable[..., Any]) -> Callable[..., Any]:
    """``keys.join(groups, ..)`` of a plain frame with symbolic groups."""

    def join(
        session: Session, frame: Any, other: Any, on: Any = None, how: str = "inner", **options: Any
    ) -> Any:
        if type(other) is OccurringKeys:
            return other.join_to(frame, {"on": on, "how": how, **options})
        return original(frame, other, on, how, **options)

    return join


@lru_cache
def _grouping(original: Callable[..., Any]) -> Callable[..., Any]:
    """``frame.group_by(..)``: where any order of the groups will do, that of the records."""

    def group(session: Session, frame: Any, *by: Any, **options: Any) -> Any:
        if session.surroundings.takes_any_order:
            options["maintain_order"] = True
        return original(frame, *by, **options)

    return group


@lru_cache
def _counting_values(original: Callable[..., Any]) -> Callable[..., Any]:
    """``series.value_counts()``: where any order of its rows will do, that of the records."""

    def count(session: Session, series: Any, **options: Any) -> Any:
        if not session.surroundings.takes_any_order or options.get("normalize"):
            return original(series, **options)
        groups = series.to_frame().group_by(series.name, maintain_order=True)
        return groups.len(options.get("name") or "count")

    return count


@lru_cache
def _of_numpy() -> dict[int, Any]:
    followers = {
        id(function): follower(function, _keeping(function), draws=False) for function in _MAKING
    }
    followers[id(np.fromiter)] = follower(np.fromiter, _from_iterator, draws=False)
    return followers | {
        id(function): follower(function, _filling(function), draws=False)
        for function in _FILLED + _LIKE
    }


def _from_iterator(session: Session, iterable: Any, /, *arguments: Any, **options: Any) -> Any:
    """``numpy.fromiter``, of an iterator over records, too."""
    records = find_walked(iterable)
    if type(records) is not RecordList:
        return _FROM_ITERATOR(records, *arguments, **options)
    names = ("dtype", "count")
    given = {"count": -1, **dict(zip(names, arguments, strict=False)), **options}
    if given.keys() != {*names} or len(arguments) > len(names):
        records.refuse("numpy.fromiter with these arguments")
    if given["count"] != -1 and given["count"] != len(records):
        records.refuse("numpy.fromiter of another number of records")
    return records.column().astype(given["dtype"])


@lru_cache
def taking_lists() -> dict[int, Any]:
    """Stand-ins for functions to which a list of symbolic numbers is an array of objects."""
    return {
        id(function): follower(function, _of_list(function), draws=False) for function in _OF_LISTS
    }


def _of_list(original: Callable[..., Any]) -> Callable[..., Any]:
    def make(session: Session, value: Any, *arguments: Any, **options: Any) -> Any:
        made = _of_symbols(session, value)
        return call_original(original, value if made is None else made, *arguments, **options)

    return make


def _filling(original: Callable[..., Any]) -> Callable[..., Any]:
    def make(session: Session, *arguments: Any, **options: Any) -> Any:
        made = call_original(original, *arguments, **options)
        if original in _UNFILLED:
            _fill_unlike_before(session, made, sys._getframe(2))
        return _with_room(session, made, original.__name__)

    return make


@lru_cache
def leaving_unfilled() -> dict[int, Any]:
    """Stand-ins for what gives memory as it was: what the program reads of it differs each time."""
    every = (*_UNFILLED, np.ma.empty, np.ma.empty_like)
    return {
        id(function): follower(function, _leave_unfilled(function), draws=False)
        for function in every
    }


def _leave_unfilled(original: Callable[..., Any]) -> Callable[..., Any]:
    def make(session: Session, *arguments: Any, **options: Any) -> Any:
        made = call_original(original, *arguments, **options)
        frame = sys._getframe(2)
        if not is_others(frame.f_globals.get("__name__")):
            _fill_unlike_before(session, made, frame)
        return made

    return make


def _fill_unlike_before(session: Session, made: Any, frame: FrameType) -> None:
    """In one of two runs with zeros, as memory that nobody has used, in the other with bytes."""
    kind = made.dtype.kind if issubclass(type(made), np.ndarray) else ""
    is_plain = kind in tuple("biufcmMS") or (kind == "V" and not _holds_text(made.dtype))
    if not is_plain or not made.size or not made.itemsize:
        return
    made = made.view(np.ndarray)
    row = made if made.flags.c_contiguous else made.T
    if row.flags.c_contiguous:
        session.unfilled, session.touched = session.unfilled + 1, True
        if not is_own_module(frame.f_globals.get("__name__")):
            session.tree.advice = _advice_on_memory(frame.f_code.co_filename, frame.f_lineno)
        if (session.runs + session.unfilled) % 2:
            row.reshape(-1).view(np.uint8)[:] = 0
            return
        size = min(row.nbytes, _MOST_BYTES)
        seen = _random.Random(session.runs << 32 | session.unfilled)
        raw = np.frombuffer(seen.getrandbits(8 * size).to_bytes(size, "little"), np.uint8)
        row.reshape(-1).view(np.uint8)[:size] = raw & 1 if made.dtype.kind == "b" else raw


@lru_cache(maxsize=1 << 8)
def _advice_on_memory(file: str, line: int) -> str:
    """Made once: a walk over the rows of a frame makes an array for each."""
    where = line_in_words(file, line)
    return f"it may read memory that nobody has filled ({where}): {_ZEROS}"


def _holds_text(dtype: np.dtype[Any]) -> bool:
    """Whether not every byte is one of a record: objects, and texts of which some do not exist."""
    if dtype.hasobject or dtype.kind == "U":
        return True
    inner = [field[0] for field in (dtype.fields or {}).values()]
    return any(map(_holds_text, [part.subdtype[0] if part.subdtype else part for part in inner]))


def _with_room(session: Session, made: Any, name: str) -> Any:
    """A new plain array as one into which symbolic numbers can be written, if it was requested.

    For use in what a stand-in calls, for the function of that name.
    """
    if type(made) is not np.ndarray or not _is_called_by_program(sys._getframe(3), name):
        return made
    if not session.fills_symbolic:
        session.filled_plain = True
        return made
    if made.dtype not in ROOMY or made.size > _MOST_FILLED:
        return made
    return SymbolicArray(CellStorage(session.tree, as_cells(made), made.dtype))


def _is_called_by_program(frame: FrameType, name: str) -> bool:
    """Whether a line of the program calls it, and not compiled code, which needs plain arrays."""
    file = frame.f_code.co_filename
    if is_ours(file) or find_place(frame)[0] != file:
        return False
    return _name_called(frame.f_code, frame.f_lasti) == name


@lru_cache(maxsize=1 << 12)
def _name_called(code: CodeType, at: int) -> str:
    """The name in the text of the call that is under way; "" where it is not known."""
    line, _, start, _ = next(islice(code.co_positions(), at // 2, None))
    if line is None or start is None:
        return ""
    text = linecache.getline(code.co_filename, line).encode()[start:].decode(errors="replace")
    call = _CALL.match(text)
    return call[1] if call else ""


def _keeping(original: Callable[..., Any]) -> Callable[..., Any]:
    def make(session: Session, value: Any, dtype: Any = None, *more: Any, **options: Any) -> Any:
        is_list = type(value) in (list, tuple) and _has_answers(session)
        if is_list and dtype in (None, float) and not (more or options):
            row = EntryOfRecord.in_row(value)
            if row is not None:
                return row
        array = _symbolic_array(session, value)
        if array is None or more or options.keys() - {"copy"}:
            made = call_original(original, value, dtype, *more, **options)
            is_new = original is _COPYING and type(value) in (list, tuple)
            return _with_room(session, made, original.__name__) if is_new else made
        copy = options.get("copy", original is _COPYING)
        if dtype is not None and np.dtype(dtype) != array.dtype:
            return array.astype(dtype)
        return array.copy() if copy and array is value else array

    return make


def _has_answers(session: Session) -> bool:
    run = session.tree.noise
    return run is not None and run.has_answers


def _symbolic_array(session: Session, value: Any) -> Any:
    """The value as a symbolic array; None for all else."""
    if not (session.fills_symbolic or _has_answers(session)):
        return None
    if type(value) is SymbolicArray:
        return value
    if type(value) is RecordList:
        return value.column()
    return _of_symbols(session, value)


def _of_symbols(session: Session, value: Any) -> Any:
    """Numbers of a list, or of NumPy's array of objects, as an array; None: none is symbolic."""
    is_array = type(value) is np.ndarray and value.dtype == object
    entries = value.ravel().tolist() if is_array else value
    if type(entries) not in (list, tuple):
        return None
    if not any(map(is_symbolic, entries)):
        return None if is_array else _of_rows(session, value)
    if not all(
        is_symbolic(entry) or isinstance(entry, (int, float, np.generic)) for entry in entries
    ):
        return None
    kinds = [entry.kind if is_symbolic(entry) else type(entry) for entry in entries]
    dtype = np.array([kind(1) for kind in kinds]).dtype
    shape = value.shape if is_array else (len(entries),)
    return make_array(session.tree, fill_array(list(entries), shape, object), dtype)


def _of_rows(session: Session, value: Any) -> Any:
    """Arrays and lists of one shape as the rows of an array; None: none is symbolic."""
    rows = []
    for entry in value:
        made = entry if type(entry) is SymbolicArray else _of_symbols(session, entry)
        is_plain = isinstance(entry, np.ndarray) or type(entry) in (list, tuple)
        rows.append(_COPYING(entry) if made is None and is_plain else made)
    if not any(type(row) is SymbolicArray for row in rows):
        return None
    if any(row is None or row.ndim == 0 for row in rows) or len({row.shape for row in rows}) > 1:
        return None
    return np.stack(rows)


# Kept: while a program is analysed another method stands there.
_INVERSE_NORMAL = NormalDist.inv_cdf


def inverse_cdf_methods() -> Iterator[tuple[Any, str, Any]]:
    """Classes, names of methods and what stands for them; of SciPy where it is loaded."""
    yield NormalDist, "inv_cdf", kept_follower(_INVERSE_NORMAL, _of_statistics, draws=False)
    names = vars(sys.modules["scipy.stats"]) if "scipy.stats" in sys.modules else {}
    kind = names.get("rv_continuous")
    for name in ("ppf", "isf") if kind is not None else ():
        method = getattr(kind, name)
        yield kind, name, kept_follower(method, _of_scipy(method), draws=False)


@raises_as_numpy
def _of_statistics(session: Session, law: Any, p: Any) -> Any:
    if not _is_uniform(p) or type(law) is not NormalDist or not law.stdev > 0:
        return _INVERSE_NORMAL(law, p)
    return p.after(INVERSE_NORMAL) * law.stdev + law.mean


@lru_cache
def _of_scipy(method: Callable[..., Any]) -> Callable[..., Any]:
    @raises_as_numpy
    def answer(session: Session, law: Any, q: Any, *given: Any, **options: Any) -> Any:
        step = of_scipy(method, law) if _is_uniform(q) else None
        moved = _location_and_scale(*given, **options) if step is not None else None
        if step is None or moved is None:
            return method(law, q, *given, **options)
        loc, scale = moved
        return q.after(step) * scale + loc

    return answer


def _location_and_scale(*given: Any, **options: Any) -> tuple[Any, Any] | None:
    named = dict(zip(("loc", "scale"), given, strict=False)) | options
    loc, scale = named.pop("loc", 0), named.pop("scale", 1)
    if len(given) > 2 or named or not _is_number(scale) or not scale > 0:
        return None
    return (loc, scale) if is_symbolic(loc) or _is_number(loc) else None


def _is_number(value: Any) -> bool:
    return not is_symbolic(value) and isinstance(value, (int, float))


def _is_uniform(value: Any) -> bool:
    return issubclass(type(value), UniformValue)
