"""The click log of the demo, cut into parts, and two queries about it, for routes.py.

The private table is 5,000 impressions, 19 of them clicked. One click flipped changes the number
of clicks of one part by 1. Queries see these numbers:

* clicks: how many there are. Changes by 1, whatever the data.
* bursts: pairs of clicks in the same part or in two adjacent ones. Changes by the number of
  clicks in three parts: a few on typical tables, thousands on some.

All that a route must be told in advance is computed from the law fitted on the public rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sample_aggregate import FloatArray, IntArray, Query, block_answers

import liptest as lt
from liptest.cli.demo import private_clicks, public_distribution
from liptest.data.draws import hamming_weight_masses

# A test of 13,809 draws meets datasets of this mass with probability below 1 %.
RARE = 0.01 / 13_809


@dataclass(frozen=True)
class Effort:
    """Sizes of what is random; the quick ones are tiny."""

    exception_mass: float = 1e-3
    draws: int = 20_000
    tables: int = 2000
    partitions: int = 400


def clicks(x: IntArray) -> FloatArray:
    return np.asarray(x.sum(axis=1) * 1.0)


def bursts(x: IntArray) -> FloatArray:
    n = x.astype(np.float64)
    return np.asarray((n * (n - 1) / 2).sum(axis=1) + (n[:, 1:] * n[:, :-1]).sum(axis=1))


def masses_of_count(rates: FloatArray) -> FloatArray:
    """The law of the number of clicks of a part, of which nothing is left out."""
    masses, left_out = hamming_weight_masses(rates)
    assert not left_out
    return masses


@dataclass(frozen=True)
class Log:
    """The rows, cut into parts: the fitted law of a table, and the private table."""

    parts: int

    @cached_property
    def rates(self) -> list[FloatArray]:
        return np.array_split(public_distribution().probabilities, self.parts)

    @cached_property
    def law(self) -> lt.ProductDistribution:
        masses = [masses_of_count(rates) for rates in self.rates]
        return lt.ProductDistribution(lt.Hypergrid([len(mass) for mass in masses]), masses)

    @cached_property
    def part_of(self) -> IntArray:
        return np.repeat(np.arange(self.parts), [len(rates) for rates in self.rates])

    def near(self, part: int) -> FloatArray:
        """Rates of a part and of those adjacent to it."""
        return np.concatenate(self.rates[max(0, part - 1) : part + 2])

    def table(self, clicked: IntArray) -> IntArray:
        return np.bincount(self.part_of[clicked], minlength=self.parts)

    @cached_property
    def private(self) -> IntArray:
        return np.flatnonzero(private_clicks())


@dataclass(frozen=True)
class Task:
    """One query on one cut of the log; ``power`` as in ``SampleAggregate``."""

    name: str
    query: Query
    power: int
    log: Log
    effort: Effort

    @property
    def words(self) -> str:
        return f"{self.name}, {self.log.parts} parts"

    @cached_property
    def truth(self) -> float:
        return float(self.query(self.log.table(self.log.private)[None])[0])

    @property
    def worst(self) -> int:
        """The largest change on any two neighbouring tables."""
        if self.power == 1:
            return 1
        return max(len(self.log.near(part)) for part in range(self.log.parts)) - 1

    @cached_property
    def typical(self) -> int:
        """The largest change off datasets of mass RARE, by a union bound over the parts."""
        if self.power == 1:
            return 1
        above = np.zeros(100)
        for part in range(self.log.parts):
            masses = masses_of_count(self.log.near(part))
            above += np.cumsum(masses[::-1])[::-1][1:101]
        return int(np.argmax(above <= RARE))

    @cached_property
    def samples(self) -> list[IntArray]:
        """Clicked records of tables drawn from the fitted law."""
        rng = np.random.default_rng(1)
        drawn = public_distribution().sample(rng, self.effort.tables)
        return [np.flatnonzero(table) for table in drawn]

    def answers(self, blocks: int, clicked: IntArray, rng: np.random.Generator) -> FloatArray:
        where, parts = self.log.part_of, self.log.parts
        return block_answers(self.query, where[clicked], clicked, len(where), blocks, parts, rng)
