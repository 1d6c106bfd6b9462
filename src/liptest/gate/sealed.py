"""Sealed laws: all that a release can need, fixed as plain numbers before private data are opened.

Theory 3.19: a draw from T[s(x)] is as private as the comparison of all rows of T
says, however T was computed, if T was fixed without access to x, has a row for every value of s,
and s and the draw are computed by trusted code. So nothing that a vendor's code does in or after
the analysis can bend a release. What is lost: that T is the law of that code elsewhere.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import (
    AllAnswers,
    Domain,
    Hypercube,
    Hypergrid,
    IntArray,
    OneAnswer,
    RecordGrid,
)
from liptest.data.points import PointBatch
from liptest.data.real_tables import (
    AddedRealRows,
    AddedRealUsers,
    ReplacedRealRows,
    ReplacedRealUsers,
)
from liptest.data.tables import AddedRows, AddedUsers, ReplacedRows, ReplacedUsers
from liptest.errors import GateError
from liptest.evidence.domain_form import domain_to_dict, read_domain
from liptest.evidence.ledger_file import canonical_json, text_digest
from liptest.gate.plain import LONGEST, PlainOutput, read_output, write_drawn, write_text
from liptest.mechanisms.additive import AdditiveNoise, DiscreteGaussian, DiscreteLaplace
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.declared import distinct_rows, statistic_value
from liptest.mechanisms.laws import (
    ZERO_LOG,
    LawTable,
    OutputLaw,
    default_error,
    find_released_weights,
    log_fraction,
)
from liptest.mechanisms.shift import ShiftMechanism, VectorShift
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.statistics.protocol import Statistic, Values, values_at
from liptest.statistics.trusted import read_statistic, statistic_spec

RandomBelow = Callable[[int], int]
Indices = NDArray[np.int64]

#: Most rows of a table, probabilities in it, and bits of one weight.
MOST_ROWS = 1 << 16
MOST_ENTRIES = 1 << 22
MOST_BITS = 1 << 14
# Weights with more binary digits are rounded.
_MOST_EXACT_BITS = 1 << 10
#: Domains whose datasets and neighbours are known here, by exact type.
DOMAINS = (Hypercube, Hypergrid, RecordGrid, OneAnswer, AllAnswers)
#: Tables, of which only sums over rows are sealed.
TABLES = (
    *(ReplacedRows, AddedRows, ReplacedUsers, AddedUsers),
    *(ReplacedRealRows, AddedRealRows, ReplacedRealUsers, AddedRealUsers),
)
SUM_DOMAINS = (*DOMAINS, *TABLES)
_NOISES: dict[str, type[Any]] = {"laplace": DiscreteLaplace, "gaussian": DiscreteGaussian}
#: Of what is written down of them.
VERSION = 1
# Edges of a statistic that are walked through for its values.
_MOST_EDGES = 1 << 21


class Sealed(ABC):
    """What releases are drawn from: plain numbers, and code of this package alone."""

    domain: Domain

    @property
    def grid_step(self) -> Fraction | None:
        """Of the grid of all numbers that are told; None where they are those of the program."""
        return None

    @property
    @abstractmethod
    def mechanism(self) -> Mechanism:
        """The same laws as a mechanism of this package, for the comparison of all of them."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What was sealed, in some words."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; ``read_sealed`` is the inverse."""

    @abstractmethod
    def draw(self, dataset: IntArray, below: RandomBelow) -> str:
        """The text of one output on a dataset, (d,); ``below(n)`` is uniform on 0 .. n-1."""

    @cached_property
    def digest(self) -> str:
        """sha256 of the numbers."""
        return text_digest(canonical_json(self.to_dict()))


@dataclass(frozen=True, eq=False)
class SealedTable(Sealed):
    """A law for each dataset, or for each value that a statistic of this package has.

    Parameters
    ----------
    domain
        Of the datasets.
    statistic
        None: a row for each dataset, in the order of their indices. Else a row for each value, in
        ascending order.
    rows
        (m,) which of the u laws each row has.
    outputs
        k texts.
    laws
        u laws: whole weights by position of the output.
    name
        Printed in verdicts.
    """

    domain: Domain
    statistic: Statistic | None
    rows: Indices
    outputs: tuple[str, ...]
    laws: tuple[dict[int, int], ...]
    name: str = "sealed table"

    @cached_property
    def mechanism(self) -> Mechanism:
        return TableMechanism(self, self.name)

    @property
    def words(self) -> str:
        of = "datasets" if self.statistic is None else f"values of the {self.statistic.name}"
        return f"a table of {len(self.laws):,} output distributions for {len(self.rows):,} {of}"

    def to_dict(self) -> dict[str, Any]:
        laws = [[[k, f"{weight:x}"] for k, weight in sorted(law.items())] for law in self.laws]
        return {
            "sealed": "table",
            "version": VERSION,
            "domain": domain_to_dict(self.domain),
            "statistic": None if self.statistic is None else statistic_spec(self.statistic),
            "rows": self.rows.tolist(),
            "outputs": list(self.outputs),
            "laws": laws,
        }

    def draw(self, dataset: IntArray, below: RandomBelow) -> str:
        law = self.laws[int(self.laws_at(dataset[None])[0])]
        ticket = below(sum(law.values()))
        for k, weight in law.items():
            ticket -= weight
            if ticket < 0:
                return self.outputs[k]
        raise AssertionError("weights do not add up")

    def laws_at(self, points: IntArray) -> Indices:
        """Which law each of (n, d) datasets has; (n,)."""
        if self.statistic is None:
            return np.asarray(self.rows[self.domain.index(points)])
        return self.laws_at_values(values_at(self.statistic, points))

    def laws_at_values(self, values: Values) -> Indices:
        """Which law each of (m,) or (m, k) values has; (m,)."""
        places = self._places
        rows = [places.get(value) for value in _hashable(values)]
        if None in rows:
            # Without the value, and outside of any except clause: it may be that of private data.
            raise GateError("a value of the statistic has no row; this is an error of liptest")
        return np.asarray(self.rows[np.array(rows, dtype=np.int64)])

    @cached_property
    def _places(self) -> dict[Any, int]:
        assert self.statistic is not None
        values, _ = find_values(self.statistic, self.domain)
        return {value: k for k, value in enumerate(_hashable(values))}


def _hashable(values: Values) -> list[Any]:
    return values.tolist() if values.ndim == 1 else list(map(tuple, values.tolist()))


@dataclass(frozen=True, eq=False)
class TableMechanism(Mechanism):
    """A sealed table as a mechanism: exact laws, outputs by their texts."""

    table: SealedTable
    name: str
    outputs: Any = field(init=False)
    statistic: Any = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "outputs", tuple(map(PlainOutput, self.table.outputs)))
        object.__setattr__(self, "statistic", self.table.statistic)

    def points_per_slice(self, domain: Domain) -> int:
        """So many that laws stay near 2 MiB."""
        return max(64, (1 << 18) // max(1, len(self.outputs)))

    def laws(self, points: PointBatch) -> LawTable:
        """One law per different one."""
        return self._table_of(self.table.laws_at(points.array()))

    def laws_of(self, values: Values) -> LawTable:
        """Laws given m values of the statistic."""
        return self._table_of(self.table.laws_at_values(values))

    def law(self, dataset: IntArray) -> OutputLaw:
        """The exact law on one dataset."""
        law = self.table.laws[int(self.table.laws_at(np.asarray(dataset)[None])[0])]
        total = sum(law.values())
        shares = {self.outputs[k]: Fraction(weight, total) for k, weight in law.items()}
        return OutputLaw.from_fractions(shares, source=self.source)

    def _table_of(self, laws: Indices) -> LawTable:
        used, rows = distinct_rows(laws)
        logs = np.full((len(used), len(self.outputs)), ZERO_LOG)
        for row, which in enumerate(used.tolist()):
            places, entries = self._logs[which]
            logs[row, places] = entries
        errors = default_error(np.where(logs == ZERO_LOG, 0.0, logs)).max(axis=1, initial=0.0)
        return LawTable(self.outputs, logs, rows, errors, exact=tuple(used.tolist()))

    @cached_property
    def _logs(self) -> list[tuple[list[int], list[float]]]:
        logs = []
        for law in self.table.laws:
            total = sum(law.values())
            logs.append(
                (list(law), [log_fraction(Fraction(weight, total)) for weight in law.values()])
            )
        return logs


@dataclass(frozen=True, eq=False)
class SealedNoise(Sealed):
    """A statistic of this package, or a table of one, plus whole-number noise of this package."""

    domain: Domain
    statistic: Statistic
    noise: AdditiveNoise
    vector: bool = False
    name: str = ""

    @cached_property
    def mechanism(self) -> ShiftMechanism | VectorShift:
        kind = VectorShift if self.vector else ShiftMechanism
        return kind(self.statistic, self.noise, name=self.name)

    @property
    def words(self) -> str:
        return f"the formula {self.statistic.name} + {self.noise!r}, which this package computes"

    def to_dict(self) -> dict[str, Any]:
        kind = next(key for key, noise_type in _NOISES.items() if type(self.noise) is noise_type)
        [width] = self.noise.__getstate__().values()
        return {
            "sealed": "noise",
            "version": VERSION,
            "domain": domain_to_dict(self.domain),
            "statistic": statistic_spec(self.statistic),
            "noise": [kind, f"{width.numerator:x}", f"{width.denominator:x}"],
            "vector": self.vector,
        }

    def draw(self, dataset: IntArray, below: RandomBelow) -> str:
        return write_drawn(self.mechanism.draw(dataset, below))


def in_plain_values(verdict: PrivacyVerdict) -> PrivacyVerdict:
    """The verdict on sealed laws with the outputs of its witness as values, not as texts."""
    witness = verdict.witness
    if witness is None:
        return verdict
    event = tuple(read_output(o.text) if type(o) is PlainOutput else o for o in witness.event)
    return replace(verdict, witness=replace(witness, event=event))


def read_table(document: dict[str, Any], name: str) -> SealedTable:
    """The inverse of ``to_dict``; ValueError and its like for anything else."""
    domain, statistic = _read_place(document)
    if statistic is not None and not has_few_edges(statistic, domain):
        raise ValueError
    count = domain.size if statistic is None else len(find_values(statistic, domain)[0])
    laws = tuple(map(_read_law, document["laws"]))
    outputs = tuple(document["outputs"])
    rows = np.array(document["rows"])
    entries = sum(map(len, laws))
    if rows.dtype != np.int64 or rows.shape != (count,) or count > MOST_ROWS:
        raise ValueError
    if rows.min() < 0 or rows.max() >= len(laws) or entries > MOST_ENTRIES:
        raise ValueError
    if len(set(outputs)) != len(outputs) or max(map(max, laws)) >= len(outputs):
        raise ValueError
    for text in outputs:
        read_output(text, longest=LONGEST)
    return SealedTable(domain, statistic, rows, outputs, laws, name)


def _read_law(listed: list[Any]) -> dict[int, int]:
    law = {k: int(text, 16) for k, text in listed}
    whole = all(type(k) is int and k >= 0 for k in law)
    fitting = all(w > 0 and w.bit_length() <= MOST_BITS for w in law.values())
    if not law or len(law) != len(listed) or not whole or not fitting:
        raise ValueError
    return law


def read_noise(document: dict[str, Any], name: str) -> SealedNoise:
    """The inverse of ``to_dict``; ValueError and its like for anything else."""
    domain, statistic = _read_place(document)
    kind, above, below = document["noise"]
    noise = _NOISES[kind](Fraction(int(above, 16), int(below, 16)))
    if statistic is None or type(document["vector"]) is not bool:
        raise ValueError
    return SealedNoise(domain, statistic, noise, document["vector"], name)


def _read_place(document: dict[str, Any]) -> tuple[Domain, Statistic | None]:
    domain = read_domain(document["domain"])
    if type(domain) not in DOMAINS:
        raise ValueError
    spec = document["statistic"]
    return domain, None if spec is None else read_statistic(spec, domain)


def has_few_edges(statistic: Statistic, domain: Domain) -> bool:
    """Whether a statistic has so few values that each can have a row."""
    count = statistic.edge_count(domain)
    if count is None or count > _MOST_EDGES:
        return False
    return count < MOST_ROWS or len(find_values(statistic, domain)[0]) <= MOST_ROWS


def find_values(
    statistic: Statistic, domain: Domain
) -> tuple[Values, list[tuple[Any, Any] | None]]:
    """All values of a trusted statistic, ascending, and a neighbouring value of each.

    The domain is connected: if there are two values, then between a dataset of either and one of
    the other lies an edge that leaves it. So the ends of all edges are all values; without an edge
    there is one value, that of any dataset.
    """
    ends = [statistic_value(statistic, np.zeros(domain.dimension, dtype=domain.dtype))]
    others = [ends[0]]
    for left, right in statistic.edges(domain):
        ends += [left, right]
        others += [right, left]
    every, partners = np.concatenate(ends), np.concatenate(others)
    values, rows = distinct_rows(every)
    chosen = np.zeros(len(values), dtype=np.int64)
    chosen[rows[::-1]] = np.arange(len(rows))[::-1]
    pairs = zip(every[chosen], partners[chosen], strict=True)
    return values, [None if np.array_equal(a, b) else (a, b) for a, b in pairs]


class LawCollector:
    """Laws in plain numbers, equal ones once."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._distinct: list[OutputLaw] = []
        self._known: dict[Any, int] = {}
        self._entries = 0

    def add(self, law: OutputLaw) -> None:
        """The next row. GateError for a law that cannot be drawn from, and for too many."""
        if law.unexplored:
            raise GateError(
                "on some dataset outputs of positive probability were not explored, so there is no "
                "complete law to draw from; bound the loops of the code, or declare "
                "lt.ShiftMechanism(statistic, lt.DiscreteLaplace(scale))"
            )
        fractions = law.fractions
        probabilities = law.log_probabilities.tobytes() if fractions is None else fractions
        # By identity, which the kept laws keep: equal outputs may have different texts.
        key = (tuple(map(id, law.outputs)), probabilities)
        place = self._known.setdefault(key, len(self._distinct))
        self._rows.append(place)
        if place < len(self._distinct):
            return
        self._distinct.append(law)
        self._entries += len(law.outputs)
        if self._entries > MOST_ENTRIES:
            raise GateError(
                f"its laws hold more than {MOST_ENTRIES:,} probabilities, too many to be sealed; "
                f"clip the outputs to fewer values, or declare "
                f"lt.ShiftMechanism(statistic, lt.DiscreteLaplace(scale))"
            )

    def table(self, domain: Domain, statistic: Statistic | None, name: str) -> SealedTable:
        """The table of all rows that were added; GateError for outputs that are not plain."""
        outputs: dict[str, int] = {}
        laws = tuple(_plain_law(law, outputs) for law in self._distinct)
        rows = np.array(self._rows, dtype=np.int64)
        return SealedTable(domain, statistic, rows, tuple(outputs), laws, name)


def _round(shares: list[Fraction]) -> list[Fraction]:
    """Weights of fewer digits, where they have many; none that is not 0 becomes 0.

    Each is moved by less than a 2**-254th of it, and so a loss by less than 2**-252, which the
    comparison of what is sealed allows for: it is these weights that are compared and drawn from.
    """
    if max(p.denominator.bit_length() for p in shares) <= _MOST_EXACT_BITS:
        return shares
    least = min(p for p in shares if p)
    bits = least.denominator.bit_length() - least.numerator.bit_length() + 256
    scale = 1 << bits
    return [Fraction(round(p * scale), scale) for p in shares]


def _plain_law(law: OutputLaw, outputs: dict[str, int]) -> dict[int, int]:
    """Whole weights by position of the output, which is noted among all ``outputs``."""
    shares = _round(find_released_weights(law))
    common = math.lcm(*(p.denominator for p in shares))
    if common.bit_length() > MOST_BITS:
        raise GateError(
            f"a probability has more than {MOST_BITS:,} binary digits, too many to be sealed; "
            f"draw less in the code, or declare the law with lt.ClosedForm"
        )
    weights: dict[int, int] = {}
    for output, share in zip(law.outputs, shares, strict=True):
        weight = share.numerator * (common // share.denominator)
        if weight:
            place = outputs.setdefault(write_text(output), len(outputs))
            weights[place] = weights.get(place, 0) + weight
    return weights
