"""Mechanisms whose output probabilities are declared as exact fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.domains import Domain, IntArray
from liptest.data.points import PointBatch, compact_codes, pack_bits
from liptest.errors import InputError, LawError, MechanismError, call_user_code, quote
from liptest.lipschitz.oracles import PackedFunction, points_at_once
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import (
    ZERO_LOG,
    LawTable,
    Output,
    OutputLaw,
    Raised,
    check_error,
    default_error,
    log_fraction,
    normalise_logs,
)
from liptest.mechanisms.neighbourhoods import Changes
from liptest.statistics.protocol import (
    Statistic,
    check_is_statistic,
    find_changed_values,
    values_at,
)

LogPmf = Callable[[Any], ArrayLike]


def check_outputs(outputs: Sequence[Output]) -> tuple[Output, ...]:
    """Return distinct hashable outputs as a tuple, or raise InputError."""
    listed = tuple(o.item() if isinstance(o, np.generic) else o for o in outputs)
    if not listed:
        raise InputError("outputs=() is empty; list every possible output", name="outputs")
    try:
        distinct = len(set(listed))
    except TypeError:
        raise InputError(
            f"outputs={quote(listed)} must be hashable; write lists as tuples and arrays as "
            f"tuple(array.tolist())",
            name="outputs",
        ) from None
    if distinct != len(listed):
        raise InputError(
            f"outputs={quote(listed)} has duplicates (1, 1.0 and True are equal)", name="outputs"
        )
    return listed


def check_among(
    name: str, outputs: Sequence[Output], declared: tuple[Output, ...], exception: str
) -> None:
    """Raise MechanismError where an output of a law is not among the declared ones.

    ``exception`` is type and message of an exception that was raised, if any.
    """
    extra = [output for output in outputs if output not in set(declared)]
    if extra:
        said = f" ({exception})" if isinstance(extra[0], Raised) else ""
        raise MechanismError(
            f"{name}: output={quote(extra[0])}{said} is not among outputs={quote(declared)}; "
            f"declare it (an exception as liptest.mechanisms.laws.Raised(type)), or leave out "
            f"outputs="
        )


@dataclass(frozen=True, eq=False)
class _Declared(Mechanism):
    """What the two declared kinds share: a checked, normalised table."""

    def _table(self, argument: Any, count: int) -> LawTable:
        logs, errors = normalise_logs(
            self._call_formula(argument), len(self.outputs), count, self.error, self.name
        )
        worst = np.broadcast_to(errors.max(axis=1), (count,))
        return LawTable(self.outputs, logs, None, worst, self._zeros_exact)

    def _single(self, argument: Any) -> OutputLaw:
        logs, errors = normalise_logs(
            self._call_formula(argument), len(self.outputs), 1, self.error, self.name, each=True
        )
        row = np.where(logs[0] == ZERO_LOG, -np.inf, logs[0])
        spread = np.broadcast_to(errors[0], row.shape)
        return OutputLaw(
            self.outputs, row, spread, source="declared", exact_zeros=self._zeros_exact
        )

    def _call_formula(self, argument: Any) -> ArrayLike:
        return call_user_code(self.name, "log_pmf", self._formula, argument)

    @property
    def _formula(self) -> LogPmf:
        return self.log_pmf

    @property
    def _zeros_exact(self) -> bool:
        return self.exact_zeros or (self.error is not None and not np.any(self.error))

    outputs: tuple[Output, ...] = field()
    log_pmf: LogPmf = field()
    error: Any = None
    name: str = ""
    exact_zeros: bool = False


@dataclass(frozen=True, eq=False, init=False)
class ClosedForm(_Declared):
    """A mechanism declared by the logs of its output probabilities.

    Parameters
    ----------
    outputs
        The k possible outputs, hashable and distinct.
    log_pmf
        (n, d) datasets -> (n, k) natural logs of the probabilities; in ``packed`` it gets the
        bits of datasets of a Hypercube, 64 in a word.
    error
        Bound on the absolute error of each log, a number or (k,) numbers; None means
        4 ulp of max(1, |log|). 0 declares every log, and every -inf, exact.
    exact_zeros
        True declares that -inf means probability 0. Otherwise it counts as "0 or too small
        for a float" (theory 1.4), and a pair that has -inf twice stays INCONCLUSIVE.
    name
        Printed in verdicts.

    Raises
    ------
    InputError
        Outputs empty, unhashable or duplicated; log_pmf not callable; error negative.
    """

    def __init__(
        self,
        outputs: Sequence[Output],
        log_pmf: LogPmf,
        *,
        error: ArrayLike | None = None,
        exact_zeros: bool = False,
        name: str = "",
    ) -> None:
        _fill(self, outputs, log_pmf, error, exact_zeros, name)

    def points_per_slice(self, domain: Domain) -> int:
        """So many that datasets and laws together stay near 2 MiB."""
        few = 64 if self._takes_bits else 16
        return max(few, points_at_once(self.log_pmf, domain.dimension, 8 * len(self.outputs)))

    def laws(self, points: PointBatch) -> LawTable:
        """One law per point. LawError when a law is broken."""
        return self._table(points.packed() if self._takes_bits else points.array(), len(points))

    def law(self, dataset: IntArray) -> OutputLaw:
        """The law on one dataset, in floats with their error."""
        rows = np.ascontiguousarray(dataset)[None, :]
        return self._single(pack_bits(rows) if self._takes_bits else rows)

    @property
    def _takes_bits(self) -> bool:
        return isinstance(self.log_pmf, PackedFunction)

    @property
    def _formula(self) -> LogPmf:
        return self.log_pmf.function if isinstance(self.log_pmf, PackedFunction) else self.log_pmf


@dataclass(frozen=True, eq=False, init=False)
class StatisticMechanism(_Declared):
    """A mechanism that receives only a statistic and declares its law given the value.

    Parameters
    ----------
    statistic
        ``lt.Count()``, ``lt.statistics.WeightedSum(w)``, ``lt.Histogram(n)`` or your own
        (``liptest.statistics.Statistic``).
    outputs, error, exact_zeros, name
        As for ``ClosedForm``.
    log_pmf
        (m, ...) statistic values -> (m, k) natural logs.
    """

    statistic: Statistic = None  # type: ignore[assignment]

    def __init__(
        self,
        statistic: Statistic,
        outputs: Sequence[Output],
        log_pmf: LogPmf,
        *,
        error: ArrayLike | None = None,
        exact_zeros: bool = False,
        name: str = "",
    ) -> None:
        check_is_statistic(statistic)
        if isinstance(log_pmf, PackedFunction):
            raise InputError(
                "log_pmf: packed is for formulas of whole datasets; a StatisticMechanism gives "
                "its formula the values of the statistic",
                name="log_pmf",
            )
        object.__setattr__(self, "statistic", statistic)
        _fill(self, outputs, log_pmf, error, exact_zeros, name)

    def points_per_slice(self, domain: Domain) -> int:
        """Large: neighbours cost an addition each, and equal values share a law."""
        return 1 << 16

    def laws(self, points: PointBatch) -> LawTable:
        """One law per distinct value of the statistic."""
        values, rows = distinct_values(self.statistic, points)
        table = self.laws_of(values)
        return LawTable(table.outputs, table.logs, rows, table.errors, table.zeros_exact)

    def neighbour_laws(self, dataset: IntArray, changes: Changes) -> LawTable:
        """Laws at a dataset and at changed copies of it; an addition and a look-up each."""
        return self.laws(changes.of(dataset))

    def laws_of(self, values: NDArray[np.int64]) -> LawTable:
        """Laws given m values of the statistic, in the order given."""
        return self._table(values, len(values))

    def law(self, dataset: IntArray) -> OutputLaw:
        """The law on one dataset."""
        return self._single(statistic_value(self.statistic, dataset))


def distinct_values(
    statistic: Statistic, points: PointBatch
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct statistic values of a batch, and which of them each point has."""
    centres = values_at(statistic, points.centres)
    return distinct_rows(np.concatenate([centres, find_changed_values(statistic, points, centres)]))


def distinct_rows(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct values of (n,) or (n, k), ascending, and which of them each one is."""
    if values.ndim == 1:
        lowest = int(values.min(initial=0))
        codes, rows = compact_codes(values - lowest)
        return codes + lowest, rows
    distinct, rows = np.unique(values, axis=0, return_inverse=True)
    return distinct, rows.reshape(-1)


def statistic_value(statistic: Statistic, dataset: IntArray) -> NDArray[np.int64]:
    """Value of the statistic at one dataset, (1,) or (1, k)."""
    return values_at(statistic, np.asarray(dataset)[None, :])


def _fill(
    self: Any,
    outputs: Sequence[Output],
    log_pmf: LogPmf,
    error: ArrayLike | None,
    exact_zeros: bool,
    name: str,
) -> None:
    if not callable(log_pmf):
        raise InputError(
            f"log_pmf={quote(log_pmf)} must be callable: datasets -> natural logs",
            name="log_pmf",
        )
    listed = check_outputs(outputs)
    if error is not None:
        check_error(error, len(listed))
    fields = {
        "outputs": listed,
        "log_pmf": log_pmf,
        "error": error,
        "exact_zeros": bool(exact_zeros),
        "name": name or getattr(log_pmf, "__name__", type(self).__name__),
    }
    for key, value in fields.items():
        object.__setattr__(self, key, value)


Pmf = Callable[[IntArray], Sequence[Fraction]]


@dataclass(frozen=True, eq=False)
class ExactForm(Mechanism):
    """A mechanism declared by the exact output probabilities of each dataset.

    Slower than ``ClosedForm``, which takes many datasets at once, but a claim is decided in
    rational numbers, and a probability of 0 is 0.

    Parameters
    ----------
    outputs
        The k possible outputs, hashable and distinct.
    pmf
        One dataset, (d,) whole numbers -> k Fractions (or ints) that sum to exactly 1.
    name
        Printed in verdicts.

    Raises
    ------
    InputError
        Outputs empty, unhashable or duplicated; pmf not callable.
    LawError
        On use: probabilities that are not fractions, negative, or do not sum to exactly 1.
    """

    outputs: tuple[Output, ...] = field()
    pmf: Pmf = field()
    name: str = ""

    def __post_init__(self) -> None:
        if not callable(self.pmf):
            raise InputError(
                f"pmf={quote(self.pmf)} must be callable: dataset -> Fractions", name="pmf"
            )
        object.__setattr__(self, "outputs", check_outputs(self.outputs))
        words = self.name or getattr(self.pmf, "__name__", type(self).__name__)
        object.__setattr__(self, "name", words)

    def points_per_slice(self, domain: Domain) -> int:
        """Few: each dataset costs k fractions."""
        return 1 << 10

    def laws(self, points: PointBatch) -> LawTable:
        """One law per different list of probabilities. LawError when one is broken."""
        distinct: dict[tuple[Fraction, ...], int] = {}
        rows = [distinct.setdefault(self._row(point), len(distinct)) for point in points.array()]
        logs = np.array([[_log(p) for p in row] for row in distinct]).reshape(-1, len(self.outputs))
        errors = default_error(np.where(logs == ZERO_LOG, 0.0, logs)).max(axis=1, initial=0.0)
        index = np.array(rows, dtype=np.int64)
        return LawTable(self.outputs, logs, index, errors, exact=tuple(distinct))

    def law(self, dataset: IntArray) -> OutputLaw:
        """The exact law on one dataset."""
        row = self._row(np.asarray(dataset))
        return OutputLaw.from_fractions(
            dict(zip(self.outputs, row, strict=True)), source=self.source
        )

    def _row(self, dataset: IntArray) -> tuple[Fraction, ...]:
        given = call_user_code(self.name, "pmf", lambda: tuple(self.pmf(dataset)))
        if len(given) != len(self.outputs) or not all(isinstance(p, Rational) for p in given):
            raise LawError(
                f"{self.name}: pmf gave {quote(given)}; return {len(self.outputs)} Fractions"
            )
        row = tuple(Fraction(p) for p in given)
        if min(row) < 0 or sum(row) != 1:
            raise LawError(
                f"{self.name}: the probabilities {quote([str(p) for p in row])} must be 0 or more "
                f"and sum to exactly 1"
            )
        return row


def _log(probability: Fraction) -> float:
    return log_fraction(probability) if probability else ZERO_LOG
