"""Neighbours of drawn tables at probes: where output distributions are known at points only.

A row may hold any real number of its column, and laws are computed at some of them, the *probes*.
Between probes nothing is known of the code; the user declares a modulus, by real column how much
the log of a probability changes at most while one row's number there changes by 1. All neighbours
are then within what the farthest of them is from its probe (docs/theory/tables.md, B18).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.balls import float_below
from liptest.data.domains import IntArray
from liptest.data.real_tables import RealRows
from liptest.data.sampled import SampledDistribution
from liptest.data.table_samples import DrawnFrames
from liptest.errors import LiptestError
from liptest.privacy.claims import Claim
from liptest.privacy.judge import LossJudge
from liptest.privacy.request import Task
from liptest.runs.driver import Judgement, QueryBatch

# Shares of epsilon that numbers between probes may take, and output distributions of one table.
_SHARES, _MOST_LAWS = (2, 4, 8, 16, 32), 2_000
# Losses that are told from a modulus.
_NEAR = 1e-9
# Columns that are wider have no ends.
_WIDEST = 1e100


def find_declared_modulus(task: Task) -> Mapping[str, float] | None:
    """What was declared of the code between probes; None where nothing was."""
    distribution = task.distribution
    sampler = distribution.sampler if isinstance(distribution, SampledDistribution) else None
    return sampler.modulus if isinstance(sampler, DrawnFrames) else None


def modulus_words(modulus: Mapping[str, float]) -> str:
    """The declaration, for verdicts."""
    rates = ", ".join(f"{rate:g} while {name} changes by 1" for name, rate in modulus.items())
    return (
        f"given the declared modulus: the log of any probability changes by at most {rates} in one "
        f"row. At the probes it holds, between them it was not tested"
    )


@dataclass
class ProbedTables:
    """See the module."""

    task: Task
    modulus: Mapping[str, float]
    #: What was compared of all tables.
    total: Judgement = field(default_factory=lambda: Judgement(answered=True))
    #: By how much numbers between probes may be worse than these, at most.
    between: Fraction = Fraction(0)
    #: Whether what was declared is not true.
    is_refuted: bool = False

    def why_not(self, dataset: IntArray) -> str:
        """Empty where all neighbours of a table keep the claim; else why not, a NO in ``total``."""
        why = self._cannot()
        try:
            return why or self._probe(dataset)
        except LiptestError as error:
            return str(error)

    def _cannot(self) -> str:
        domain, claim = self.task.distribution.domain, self.task.claim
        if not isinstance(domain, RealRows) or not domain.is_full:
            return "probes are for tables with real columns of which one row is replaced"
        if not isinstance(claim, Claim) or claim.delta > 0:
            return "probes are for claims of epsilon with delta=0"
        for name, kind in domain.reals.items():
            if name not in self.modulus:
                return f"no modulus is declared of column {name!r}"
            if kind.upper - kind.lower > _WIDEST:
                return f"column {name!r} has no ends, so that no probes are near all its numbers"
        return ""

    def _probe(self, dataset: IntArray) -> str:
        domain, claim = self.task.distribution.domain, self.task.claim
        assert isinstance(domain, RealRows)
        assert isinstance(claim, Claim)
        epsilon = Fraction(float(claim.epsilon))
        for share in _SHARES:
            cells = {name: self._cells(name, epsilon / share) for name in domain.reals}
            count = math.prod(cells.values()) * (domain.row_values - 1) * domain.rows
            if count > _MOST_LAWS:
                return f"{count:,} probes are more than {_MOST_LAWS:,}, which are tried at most"
            probes = {name: _probes(domain.reals[name], one) for name, one in cells.items()}
            between = sum(
                (Fraction(self.modulus[name]) * _reach(own, domain.reals[name]))
                for name, own in probes.items()
            )
            left = Claim(float_below(epsilon - between), 0.0, claim.tolerance)
            exceeds = self._compare(dataset, probes, left)
            if not exceeds or self.is_refuted or self.total.violation is not None:
                self.between = max(self.between, Fraction(between))
                return exceeds
        return exceeds

    def _cells(self, name: str, room: Fraction) -> int:
        domain: Any = self.task.distribution.domain
        kind, rate = domain.reals[name], Fraction(self.modulus[name])
        width = Fraction(kind.upper) - Fraction(kind.lower)
        return max(1, math.ceil(rate * width * len(domain.reals) / (2 * room)))

    def _compare(self, dataset: IntArray, probes: Mapping[str, Any], left: Claim) -> str:
        """Why a probe keeps the claim from what is left of it; a NO of all of it is noted."""
        for neighbour, allowed in self._neighbours(dataset, probes):
            judgement = self._judge(dataset, neighbour, left)
            self.total = self.total + replace(judgement, draws=0, violation=None, doubt=None)
            if judgement.violation is not None:
                whole = self._judge(dataset, neighbour, self.task.claim)
                self.total = self.total + replace(whole, draws=0, doubt=None)
            if judgement.violation is not None or judgement.doubt is not None or judgement.spent:
                return f"the loss at a probe exceeds {float(left.epsilon):g}, left of epsilon"
            if judgement.largest > float(allowed) * (1 + _NEAR) + _NEAR:
                self.is_refuted = True
                return (
                    f"the declared modulus does not hold: the loss is {judgement.largest:.6g} "
                    f"where a "
                    f"row is moved by so little that it says at most {float(allowed):.6g}"
                )
        return ""

    def _judge(self, dataset: IntArray, neighbour: IntArray, claim: Any) -> Judgement:
        domain, first = self.task.distribution.domain, np.zeros(1, dtype=np.int64)
        batch = QueryBatch.of_neighbourhoods(dataset[None], first, neighbour[None])
        return LossJudge(self.task.mechanism, domain, claim).judge(batch)

    def _neighbours(
        self, dataset: IntArray, probes: Mapping[str, Any]
    ) -> Iterator[tuple[IntArray, float]]:
        """The table with one row at a probe, and what the modulus says of the loss."""
        domain: Any = self.task.distribution.domain
        slots, entries = domain.slots_in(dataset), domain.entries_in(dataset)
        for row in range(domain.rows):
            for value, *numbers in product(range(1, domain.row_values), *probes.values()):
                others, own = slots.copy(), {name: one.copy() for name, one in entries.items()}
                others[row] = domain.slot(0, value)
                for name, number in zip(probes, numbers, strict=True):
                    own[name][row] = number
                moved = (self.modulus[name] * abs(own[name] - entries[name]).sum() for name in own)
                allowed = sum(moved) if others[row] == slots[row] else math.inf
                yield domain.made(others, own), allowed


def _probes(kind: Any, cells: int) -> NDArray[np.float64]:
    """The middles of so many cells."""
    places = (np.arange(cells) + 0.5) / cells
    low, high = kind.lower, kind.upper
    return np.unique(np.clip(low + places * (high - low), low, high))


def _reach(probes: NDArray[np.float64], kind: Any) -> Fraction:
    """How far a number of a column is from the nearest probe at most."""
    exact = [Fraction(number) for number in probes.tolist()]
    ends = exact[0] - Fraction(kind.lower), Fraction(kind.upper) - exact[-1]
    gaps = ((right - left) / 2 for left, right in pairwise(exact))
    return max(*ends, *gaps)
