"""Output laws given the value of one record: mixtures over the other records (theory 3.15)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from liptest.distributions import Distribution
from liptest.errors import InputError
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import LawTable
from liptest.mechanisms.neighbourhoods import laws_of_batch
from liptest.points import PointBatch
from liptest.privacy.exhaustive import law_rows
from liptest.privacy.pools import LawPool

FloatArray = NDArray[np.float64]

#: Domains up to this size are enumerated.
MAX_POINTS = 1 << 14


@dataclass(frozen=True)
class Divergence:
    """Bounds of the hockey-stick divergence of one record's values, at one epsilon."""

    lower: float
    upper: float
    record: int
    values: tuple[int, int]


def hockey_stick(left: FloatArray, right: FloatArray, factor: float) -> float:
    """sum_o max(0, left(o) - factor right(o))."""
    return float(np.maximum(left - factor * right, 0.0).sum())


def divergence(
    left: FloatArray,
    right: FloatArray,
    factor: float,
    *,
    relative: float,
    missing: float,
    record: int,
    values: tuple[int, int],
) -> Divergence:
    """The divergence of laws known to a relative error, but for a probability ``missing``."""
    up, down = 1.0 + relative, max(0.0, 1.0 - relative)
    upper = hockey_stick(left * up, right * down, factor) + missing * (1.0 + factor)
    lower = hockey_stick(left * down, right * up, factor) - missing * (1.0 + factor)
    return Divergence(max(0.0, lower), upper, record, values)


def enumerated(
    mechanism: Mechanism, distribution: Distribution, factor: float
) -> Iterator[Divergence]:
    """All records and values of a small domain whose masses are known."""
    domain = distribution.domain
    laws, rows = law_rows(mechanism, domain)
    table = _finite(laws)
    points = domain.points(np.arange(domain.size))
    masses = np.exp(distribution.log_mass(points))
    error, missing = _errors(table)
    relative = error + 2.0**-50 * (domain.size + domain.dimension)
    probabilities = np.exp(table.logs)
    for record in range(domain.dimension):
        mixtures = _mixtures(points[:, record], rows, masses, domain.sizes[record], probabilities)
        for a, b in permutations(mixtures, 2):
            yield divergence(
                mixtures[a][1],
                mixtures[b][1],
                factor,
                relative=relative,
                missing=missing,
                record=record,
                values=(a, b),
            )


def sampled(
    mechanism: Mechanism,
    distribution: Distribution,
    factor: float,
    *,
    draws: int,
    failure_probability: float,
    rng: np.random.Generator,
) -> Iterator[Divergence]:
    """Bounds that hold together with probability 1 - failure_probability.

    Above: the divergence of the empirical mixtures is convex in them, so its mean is at least
    the true one, and it moves by at most 1/n or e^epsilon/m with one draw (McDiarmid). Below: an
    event chosen on one half of the draws, counted on the other (Hoeffding).
    """
    domain = distribution.domain
    points = distribution.sample(rng, draws)
    table, rows = _pooled(mechanism, points)
    probabilities, slack = np.exp(table.logs), sum(_errors(table)) * (1.0 + factor)
    pairs = sum(size * (size - 1) for size in domain.sizes)
    half, weights = draws // 2, np.ones(draws)
    log_level = math.log(failure_probability / (2 * max(1, pairs)))
    for record in range(domain.dimension):
        column, size = points[:, record], domain.sizes[record]
        every = _mixtures(column, rows, weights, size, probabilities)
        first, second = (
            _mixtures(column[part], rows[part], weights[part], size, probabilities)
            for part in (slice(half), slice(half, None))
        )
        for a, b in permutations(range(size), 2):
            upper, lower = 1.0, 0.0
            if a in every and b in every:
                margin = _margin(every[a][0], every[b][0], factor, log_level)
                found = hockey_stick(every[a][1], every[b][1], factor)
                upper = min(1.0, found + margin + slack)
            if all(value in side for value in (a, b) for side in (first, second)):
                event = first[a][1] > factor * first[b][1]
                counted = float((second[a][1] - factor * second[b][1])[event].sum())
                margin = _margin(second[a][0], second[b][0], factor, log_level)
                lower = max(0.0, counted - margin - slack)
            yield Divergence(lower, upper, record, (a, b))


def _margin(left: float, right: float, factor: float, log_level: float) -> float:
    return math.sqrt((1.0 / left + factor * factor / right) * -log_level / 2.0)


def _mixtures(
    column: NDArray[np.signedinteger],
    rows: NDArray[np.signedinteger],
    weights: FloatArray,
    size: int,
    probabilities: FloatArray,
) -> dict[int, tuple[float, FloatArray]]:
    """Value -> (its weight, the mean law over the datasets that have it); weight 0 left out."""
    found = {}
    for value in range(size):
        held = column == value
        total = float(weights[held].sum())
        if total > 0:
            shares = np.bincount(rows[held], weights[held], minlength=len(probabilities)) / total
            found[value] = (total, shares @ probabilities)
    return found


def _pooled(
    mechanism: Mechanism, points: NDArray[np.signedinteger]
) -> tuple[LawTable, NDArray[np.int64]]:
    pool, found = LawPool(), []
    for _, _, part in PointBatch(points).parts(1 << 12):
        laws = laws_of_batch(mechanism, part)
        _finite(laws)
        found.append(pool.add(laws, len(part)))
    return pool.laws(), np.concatenate(found)


def _finite(laws: object) -> LawTable:
    if isinstance(laws, LawTable):
        return laws
    raise InputError(
        "mechanism: its outputs are unbounded and its statistic is no sum over the records; give "
        "a mechanism with finitely many outputs",
        name="mechanism",
    )


def _errors(table: LawTable) -> tuple[float, float]:
    """Relative error of each probability, and what was not followed at most."""
    error = float(np.max(table.errors, initial=0.0))
    missing = 0.0 if table.unexplored is None else float(np.max(table.unexplored, initial=0.0))
    return math.expm1(min(error, 700.0)), missing
