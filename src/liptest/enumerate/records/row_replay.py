"""A guard: the function itself must do with its records what it does with each of them alone.

The function is run once on a real dataset with a real generator. Place i of its output must be what
the function of one record gives for record i and the random numbers that belong to it. A wrong rule
of ``values.records.rows`` shows here as a refusal, never as a wrong law.
"""

from __future__ import annotations

import math
import pickle
import random
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.enumerate.intercept.analysis_session import LOCK
from liptest.enumerate.records.by_records import FirstRecord, RowFunction
from liptest.enumerate.records.record_code import DRAWS
from liptest.enumerate.records.row_generator import RowGenerator
from liptest.enumerate.records.row_tails import looks_at_types
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.errors import LiptestError, NonDeterministicError
from liptest.values.pandas.labelled import is_plain_frame, is_series
from liptest.values.pandas.row_frames import RowFrame
from liptest.values.pandas.row_series import RowSeries
from liptest.values.records.rows import NotByRecords, RowArray, RowList, RowRun, is_of_rows

# Records of a replayed dataset, and how many of them are run alone.
_RECORDS, _ALONE = 400, 60
# Vectorised functions may round otherwise than those of one number.
_ROUNDING = 1e-9


class _Recording(np.random.Generator):
    """A real generator that keeps what it gave: arrays of one row for each record, and others."""

    def __init__(self, count: int) -> None:
        super().__init__(np.random.PCG64(count))
        self.count = count
        self.columns: list[NDArray[Any]] = []
        self.others: list[Any] = []
        self.is_drawing = False

    def note(self, draw: Callable[[], Any]) -> Any:
        """Keep a draw, but none of the draws that it is made of."""
        if self.is_drawing:
            return draw()
        self.is_drawing = True
        try:
            drawn = draw()
        finally:
            self.is_drawing = False
        if isinstance(drawn, np.ndarray) and drawn.shape[:1] == (self.count,):
            self.columns.append(drawn.copy())
        else:
            self.others.append(drawn)
        return drawn


class _Replaying(RowGenerator):
    """Hands out the rows of one record, and for its loops what was drawn next."""

    def begin(self, source: _Recording, place: int) -> None:
        """Go on with the record at a place."""
        self.source, self.place, self.column = source, place, 0

    def next(self, drawn_alone: Iterator[Any]) -> Any:
        """The next draw of this record."""
        if self.rows.in_record:
            return next(drawn_alone)
        with self.rows.treating_rows():
            column = self.source.columns[self.column]
        self.column += 1
        return RowArray(column[self.place : self.place + 1].copy(), self.rows)


class GivenGenerator:
    """``numpy.random.default_rng`` while records are replayed: without a seed it is ``given``.

    A function that takes a generator, and makes others as well, is replayed like one that does not.
    Other threads get one of their own.
    """

    def __init__(self, given: np.random.Generator) -> None:
        self.given, self.own, self.thread = given, np.random.default_rng, get_ident()

    def __call__(self, seed: Any = None) -> Any:
        is_given = seed is None and get_ident() == self.thread
        return self.given if is_given else self.own(seed)

    def __enter__(self) -> None:
        np.random.default_rng = self

    def __exit__(self, *error: object) -> None:
        np.random.default_rng = self.own


def _record(name: str) -> Callable[..., Any]:
    def method(self: _Recording, *arguments: Any, **options: Any) -> Any:
        draw = getattr(np.random.Generator, name)
        return self.note(lambda: draw(self, *arguments, **options))

    return method


def _replay(self: _Replaying, *arguments: Any, **options: Any) -> Any:
    return self.next(self.drawn_alone)  # type: ignore[attr-defined]


for _name in DRAWS & vars(np.random.Generator).keys():
    setattr(_Recording, _name, _record(_name))
    setattr(_Replaying, _name, _replay)


def check_replayed(one: RowFunction, name: str, example: NDArray[Any]) -> None:
    """Compare the function with that of one record, place by place. Raises NotByRecords.

    Functions that draw from elsewhere than ``rng`` cannot be: they may not look at types.
    """
    if not one.takes_generator:
        if looks_at_types(one.function):
            raise NotByRecords(
                f"{name}: it asks what kind of object its data are; take rng as well"
            )
        return
    width = 1 if one.table is None else one.table.dimension
    dataset = np.array(example[: _RECORDS * width], dtype=np.int64).reshape(-1, width)
    # Whatever the example: all its values, in an order that neighbours do not share.
    kinds = np.unique(np.concatenate([dataset, example[-width:].reshape(1, -1)]), axis=0)
    dataset = np.resize(kinds, dataset.shape)
    dataset.flags.writeable = False
    real = _Recording(len(dataset))
    function: Any = one.function
    with LOCK, _shared_generators_kept() as begin_again:
        try:
            with GivenGenerator(real):
                output = function(_as_given(one, dataset), real)
        except Exception:
            return  # its law says so
        draws_in_order = begin_again() or bool(real.others)
        problem = _difference(one, name, dataset, real, output, draws_in_order)
    if problem:
        raise NotByRecords(f"{name}: with recorded random numbers {problem}")


def _as_given(one: RowFunction, dataset: NDArray[Any]) -> Any:
    """What the function gets of a dataset, (records, numbers of each)."""
    if one.table is None:
        [column] = dataset.T
        column.flags.writeable = False
        return column
    return one.table.resized(len(dataset)).frame(dataset.reshape(-1))


def _states() -> tuple[Any, Any]:
    return random.getstate(), np.random.get_state(legacy=False)


@contextmanager
def _shared_generators_kept() -> Iterator[Callable[[], bool]]:
    """The generators that ``random`` and ``numpy.random`` share keep their states.

    What is handed out puts them back to where they were; it says whether they were used. Loops over
    the records then draw again what they drew, record by record.
    """
    states = _states()

    def put_back() -> bool:
        used = pickle.dumps(_states()) != pickle.dumps(states)
        random.setstate(states[0])
        np.random.set_state(states[1])
        return used

    try:
        yield put_back
    finally:
        put_back()


def check_stateless(one: FirstRecord, name: str, example: NDArray[Any]) -> None:
    """Run a function of one record on records in order, and in the order back.

    Raises NonDeterministicError where the order makes a difference: it keeps state.
    """
    if not one.takes_generator:
        return
    values = np.resize(np.unique(example[:_RECORDS]), _ALONE).tolist()
    try:
        runs = [_run_with(one.function, value, seed) for seed, value in enumerate(values)]
        back = [_run_with(one.function, values[k], k) for k in reversed(range(_ALONE))]
    except Exception:
        return  # its law says so
    if not all(_is_same(*pair) for pair in zip(runs, reversed(back), strict=True)):
        raise NonDeterministicError(
            f"{name}: with the same random numbers it gives other outputs after other records; a "
            f"function of one record must keep no state"
        )


def _run_with(function: Any, value: int, seed: int) -> Any:
    return function(value, np.random.Generator(np.random.PCG64(seed)))


def _difference(
    one: RowFunction,
    name: str,
    dataset: NDArray[Any],
    real: _Recording,
    output: Any,
    draws_in_order: bool,
) -> str:
    """Where one record by itself does something else; "" where nothing is seen."""
    drawn_alone = iter(real.others)
    places = range(len(dataset)) if draws_in_order else _spread(len(dataset))
    for place in list(places)[:_ALONE]:
        try:
            alone = _run_alone(one, name, dataset, real, place, drawn_alone)
        except (LiptestError, NotImplementedError):
            return ""  # the law of one record says why
        except (IndexError, StopIteration, RuntimeError):
            return f"record {place} draws more than it is given"
        except Exception as error:
            return f"record {place} by itself raises {type(error).__name__}"
        if not _agree(output, alone, place, len(dataset)):
            return f"record {place} by itself gives another output than among others"
    return ""


def _spread(count: int) -> Iterator[int]:
    step = max(1, count // _ALONE)
    yield from (count - 1, *range(0, count - 1, step))


def _run_alone(
    one: RowFunction,
    name: str,
    dataset: NDArray[Any],
    real: _Recording,
    place: int,
    drawn_alone: Iterator[Any],
) -> Any:
    tree = _Quiet(name)
    rows = RowRun(tree, len(dataset))
    generator = _Replaying.of(rows)
    assert isinstance(generator, _Replaying)
    generator.begin(real, place)
    generator.drawn_alone = drawn_alone  # type: ignore[attr-defined]
    given = one.given(dataset[place].copy(), rows)
    try:
        with GivenGenerator(generator):
            return one.bound(rows)(given, generator)
    except BaseException as error:
        failed = tree.failure
        if failed is not None:
            raise failed from None
        raise error


class _Quiet(ChoiceTree):
    """A tree of which nothing is asked."""


def _agree(real: Any, alone: Any, place: int, count: int) -> bool:
    """Whether the place of a record in a real output is what the record has by itself."""
    if type(alone) in (RowFrame, RowSeries) or (type(alone) is RowList and alone.kind is dict):
        return _agrees_in_pandas(real, alone, place, count)
    if type(alone) is dict and type(real) is dict:
        columns = zip(real.values(), alone.values(), strict=False)
        return list(real) == list(alone) and all(_agree(*both, place, count) for both in columns)
    if not is_of_rows(alone):
        pairs = isinstance(alone, (list, tuple)) and isinstance(real, (list, tuple))
        return (
            pairs
            and len(real) == len(alone)
            and all(_agree(*both, place, count) for both in zip(real, alone, strict=True))
        )
    if is_series(real) and type(alone) is RowList:
        real = real.tolist()
    is_column = isinstance(real, (list, tuple, np.ndarray)) and len(real) == count
    return is_column and _is_same(real[place], alone.first())


def _kept_entry(held: Any) -> Any:
    return held.entry if type(held) is RowList else held.tolist().entry


def _agrees_in_pandas(real: Any, alone: Any, place: int, count: int) -> bool:
    """The same of series, frames and dicts by the places of rows."""
    if type(alone) is RowList:
        is_by_place = type(real) is dict and list(real) == list(range(count))
        return is_by_place and _is_same(real[place], alone.entry)
    is_frame = type(alone) is RowFrame
    if len(real) != count or not (is_plain_frame(real) if is_frame else is_series(real)):
        return False
    keys = place if alone.keys_ is None else alone.keys_.tolist().entry
    if not _is_same(real.index[place], keys):
        return False
    if not is_frame:
        return _is_same(real.iloc[place], alone.array.tolist().entry)
    columns = {name: _kept_entry(held) for name, held in alone.entries().items()}
    is_like = list(real.columns) == list(columns)
    return is_like and all(_is_same(real[name].iloc[place], columns[name]) for name in columns)


def _is_same(real: Any, alone: Any) -> bool:
    if isinstance(alone, np.ndarray):
        alone = alone.tolist()
    if isinstance(real, np.ndarray):
        real = real.tolist()
    if isinstance(alone, (list, tuple)) and isinstance(real, (list, tuple)):
        pairs = zip(real, alone, strict=False)
        return len(real) == len(alone) and all(_is_same(*pair) for pair in pairs)
    if isinstance(real, (float, np.floating)) and isinstance(alone, (int, float, np.number)):
        return math.isclose(real, alone, rel_tol=_ROUNDING, abs_tol=_ROUNDING) or (
            real != real and alone != alone
        )
    return bool(real == alone)
