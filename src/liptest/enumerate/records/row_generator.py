"""Random numbers of records that are treated one by one: of n rows one is drawn.

An array of random numbers whose first side is the number of records has entries that are
independent and alike, one row for each record. Within the body of a loop over the records numbers
are drawn for the record at hand. Anything else would be shared by the records and is refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from liptest.enumerate.intercept.generator import ChoiceGenerator, present_as
from liptest.enumerate.intercept.random_state import ChoiceRandomState
from liptest.symbolic.noise import CONTINUOUS_DRAWS
from liptest.values.pandas.row_series import entries_of
from liptest.values.records.rows import PLAIN, DrawsRows, RowArray, RowRun

if TYPE_CHECKING:
    from liptest.enumerate.intercept.analysis_session import Session

#: Draws of which each entry is independent of all others: their parameters.
PARAMETERS: dict[str, tuple[str, ...]] = {
    "random": (),
    "integers": ("low", "high"),
    "uniform": ("low", "high"),
    "choice": (),
    "binomial": ("n", "p"),
    "hypergeometric": ("ngood", "nbad", "nsample"),
    "laplace": ("loc", "scale"),
    "normal": ("loc", "scale"),
    "gumbel": ("loc", "scale"),
    "logistic": ("loc", "scale"),
    "exponential": ("scale",),
    "standard_exponential": (),
    "standard_normal": (),
    "geometric": ("p",),
    "poisson": ("lam",),
    "negative_binomial": ("n", "p"),
    "logseries": ("p",),
    "zipf": ("a",),
}
# Of a RandomState, those that have a method of the same name and signature in a Generator.
_OF_STATE = CONTINUOUS_DRAWS | {
    *("random_sample", "random", "randint", "binomial", "hypergeometric"),
    *("geometric", "poisson", "choice"),
}
_STATE_PARAMETERS = PARAMETERS | {"random_sample": (), "randint": ("low", "high")}
Draw = Callable[..., Any]


def draw_rows(rows: RowRun, name: str, draw: Draw, given: dict[str, Any]) -> Any:
    """The kept row of a draw; ``given`` are its arguments by name."""
    if rows.in_record:
        return draw(**given)
    given = {key: entries_of(value) for key, value in given.items()}
    parameters = _STATE_PARAMETERS[name]
    row = next((given[key] for key in parameters if type(given.get(key)) is RowArray), None)
    shape = _row_shape(rows, name, given.get("size"), row)
    if name == "choice" and given.get("replace", True) is not True:
        rows.refuse("rng.choice(replace=False) over the records")
    if given.get("out") is not None:
        rows.refuse(f"rng.{name}(out=)")
    for key in parameters:
        given[key] = _parameter(rows, name, given.get(key), len(shape))
    if given.get("size") is not None:
        given["size"] = shape
    with rows.treating_rows():
        drawn = draw(**given)
    if type(drawn) in PLAIN or np.shape(drawn)[: len(shape)] != shape or given.get("axis"):
        rows.refuse(f"rng.{name}() for no record")
    return RowArray(drawn, rows)


def _row_shape(rows: RowRun, name: str, size: Any, row: RowArray | None) -> tuple[int, ...]:
    """The shape of the kept row of what is drawn."""
    if size is None:
        if row is None:
            rows.refuse(f"a number of rng.{name} that all records share")
        return tuple(row.row.shape)
    sides = tuple(size) if type(size) in (tuple, list) else (size,)
    if not sides or any(not isinstance(side, (int, np.integer)) for side in sides):
        rows.refuse(f"rng.{name}(size={size!r})")
    if sides[0] != rows.count or (row is not None and row.ndim != len(sides)):
        rows.refuse(f"rng.{name}(size={size!r}) beside {rows.count:,} records")
    return (1, *map(int, sides[1:]))


def _parameter(rows: RowRun, name: str, value: Any, axes: int) -> Any:
    """What one row sees of a parameter."""
    if type(value) is RowArray:
        if type(value.row) is not np.ndarray or value.ndim != axes:
            rows.refuse(f"rng.{name} with random parameters")
        return value.row
    if isinstance(value, np.ndarray) and value.ndim >= axes:
        rows.refuse(f"rng.{name} with a parameter for each record")
    return value


class RowGenerator(DrawsRows, ChoiceGenerator):
    """A generator that draws for the kept row; see the module."""

    @classmethod
    def of(cls, rows: RowRun) -> RowGenerator:
        """A generator for the rows of one run."""
        made = cls(rows.branching)
        made.rows = rows
        return made


class RowState(DrawsRows, ChoiceRandomState):
    """The same for numpy.random and RandomState."""


@lru_cache(maxsize=64)
def _signature(function: Any) -> inspect.Signature:
    return inspect.signature(function)


def _by_rows(name: str, inner: Draw) -> Draw:
    signature = _signature(inner)

    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        # Within a record as fast as ever.
        if self.rows.in_record:
            return inner(self, *arguments, **options)
        given = dict(signature.bind(self, *arguments, **options).arguments)
        del given["self"]
        return draw_rows(self.rows, name, lambda **asked: inner(self, **asked), given)

    return method


def _in_records_only(name: str, inner: Draw) -> Draw:
    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        if not self.rows.in_record:
            self.rows.refuse(f"rng.{name} over all records")
        return inner(self, *arguments, **options)

    return method


def _rand(self: Any, *shape: Any) -> Any:
    return self.random_sample(shape or None)


def _randn(self: Any, *shape: Any) -> Any:
    return self.standard_normal(shape or None)


present_as(RowGenerator, np.random.Generator)
present_as(RowState, np.random.RandomState)
_JOINT = ("permutation", "shuffle", "permuted", "multinomial", "multivariate_hypergeometric")
for _name in PARAMETERS:
    setattr(RowGenerator, _name, _by_rows(_name, getattr(ChoiceGenerator, _name)))
for _name in (*_JOINT, "bytes"):
    setattr(RowGenerator, _name, _in_records_only(_name, getattr(ChoiceGenerator, _name)))


def _of_state(name: str) -> Draw:
    """The method of a state, whose own generator draws single numbers and arrays as asked."""
    by_rows = _by_rows(name, getattr(ChoiceRandomState, name))

    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        if self._real is not None:
            self.rows.refuse("numpy.random with a seed")
        return by_rows(self, *arguments, **options)

    return method


for _name in dir(np.random.RandomState):
    if _name in _OF_STATE:
        setattr(RowState, _name, _of_state(_name))
    elif _name in ("rand", "randn"):
        setattr(RowState, _name, {"rand": _rand, "randn": _randn}[_name])
    elif _name[0] != "_" and callable(getattr(ChoiceRandomState, _name)):
        setattr(RowState, _name, _in_records_only(_name, getattr(ChoiceRandomState, _name)))


@contextmanager
def drawing_rows(session: Session, rows: RowRun) -> Iterator[RowGenerator]:
    """Let all generators of an analysis draw for the rows of one run."""
    changed: list[tuple[Any, type]] = []

    def change(generator: Any, kind: type) -> None:
        changed.append((generator, type(generator)))
        generator.__class__ = kind
        generator.rows = rows

    session.on_new = lambda made: change(
        made, RowGenerator if isinstance(made, ChoiceGenerator) else RowState
    )
    try:
        change(session.rng, RowGenerator)
        for state in session.states():
            change(state, RowState)
        yield RowGenerator.of(rows)
    finally:
        session.on_new = lambda made: None
        for generator, kind in changed:
            generator.__class__ = kind
            del generator.rows
