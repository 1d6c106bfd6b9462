"""``@lt.mechanism``: makes a mechanism of a Python function, of a dataset or of one record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, overload

from liptest.data.domains import IntArray
from liptest.enumerate.python_function import OneRecord, PythonFunction
from liptest.enumerate.records.by_records import FirstRecord, MappedFunction
from liptest.enumerate.syntax.signatures import takes_generator
from liptest.enumerate.trees.choice_tree import MAX_CHOICES, MAX_LEAVES
from liptest.enumerate.trees.running import RandomFunction
from liptest.errors import InputError
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import Output
from liptest.statistics.protocol import Statistic


@dataclass(frozen=True, eq=False)
class PerRecordFunction(PythonFunction):
    """A function ``(value, rng) -> output`` of one record, mapped over those of a dataset.

    ``outputs`` are those of one record. The function must keep no state from record to record.
    """

    of_record: Any = None

    @property
    def is_per_record(self) -> bool:
        return True

    def of_one_record(self, example: IntArray) -> Mechanism:
        """The law of the function itself; values of records are Python's integers."""
        inner = self.of_record
        first = FirstRecord(inner.function, takes_generator(inner.function))
        one_record = OneRecord(first, outputs=inner.outputs, name=self.name, **inner.options)
        one_record.examples.append(example)
        return one_record


@dataclass(frozen=True, eq=False)
class _OfRecord:
    """A function of one record, its outputs, and how its law is enumerated."""

    function: Any
    outputs: tuple[Output, ...] | None
    options: dict[str, Any]


def _per_record(function: Any, outputs: Any = None, name: str = "", **options: Any) -> Any:
    if options.pop("statistic", None) is not None:
        raise InputError(
            "statistic= with per_record=True: the function sees one record already; leave one out",
            name="statistic",
        )
    words = name or getattr(function, "__name__", "")
    inner = _OfRecord(function, None if outputs is None else tuple(outputs), options)
    return PerRecordFunction(MappedFunction(function), name=words, of_record=inner, **options)


@overload
def mechanism(function: RandomFunction, /) -> PythonFunction: ...


@overload
def mechanism(
    *,
    outputs: Sequence[Output] | None = None,
    statistic: Statistic | None = None,
    name: str = "",
    typed_outputs: bool = False,
    max_leaves: int = MAX_LEAVES,
    max_choices: int = MAX_CHOICES,
    max_seconds: float | None = None,
    deterministic: Sequence[str] = (),
    frame: str = "",
    per_record: bool = False,
) -> Callable[[RandomFunction], PythonFunction]: ...


def mechanism(function: RandomFunction | None = None, /, **options: Any) -> Any:
    """Make a mechanism of a Python function ``(data, rng) -> output``.

    Use as ``@lt.mechanism`` or ``@lt.mechanism(outputs=[...], statistic=lt.Count(), name=...,
    frame="polars", ..)``; parameters and errors as for ``PythonFunction``.

    With ``per_record=True`` the function is of one record, ``(value, rng) -> output``, and the
    mechanism gives the list of its outputs for all records of a dataset; ``outputs`` are then those
    of one record. Its privacy is proved by the law of one record, however many there are.
    """
    make = _per_record if options.pop("per_record", False) else PythonFunction
    if function is not None:
        return make(function, **options)
    return lambda decorated: make(decorated, **options)
