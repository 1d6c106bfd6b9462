"""The exact laws behind noiseless privacy: sums with one record left out or given (theory 3.15).

The law of a sum of independent whole numbers, each of them left out in turn, comes by halving:
what is outside of a half is what is outside of the whole times the other half. Every number is a
product or sum of positive ones, so each probability keeps a small relative error, however small it
is itself (``relative_error``); dividing one factor out of the total would not. The law of an output
given the value of one record is a mixture over the other records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from liptest.data.distributions import Distribution
from liptest.data.domains import Domain
from liptest.data.points import PointBatch
from liptest.data.product import ProductDistribution
from liptest.errors import BudgetError, InputError
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.declared import StatisticMechanism
from liptest.mechanisms.laws import LawTable, Output, default_error
from liptest.mechanisms.neighbourhoods import laws_of_batch
from liptest.mechanisms.shift import ShiftMechanism
from liptest.privacy.proofs.domain_laws import DistinctLaws
from liptest.privacy.proofs.exhaustive import law_rows
from liptest.statistics.protocol import Statistic, has_values_of
from liptest.statistics.sums import Count, WeightedSum

FloatArray = NDArray[np.float64]

#: Values that a sum may range over.
MAX_RANGE = 1 << 20
# Below this a probability is set to 0: subnormal floats are slow, and nothing adds up to 1e-200.
_NEGLIGIBLE = 1e-290
#: Domains up to this size are enumerated.
MAX_POINTS = 1 << 14
# Values that are computed together; positive probabilities that are kept; products with them.
_TOGETHER = 256
_MOST_ENTRIES = 1 << 26
_MOST_PRODUCTS = 1 << 33
# Ways that the random choices of code fall out, over all values.
_MOST_LEAVES = 1 << 21
_MOST_TABLE_PRODUCTS = 1 << 37
# Far more than all probabilities together that are set to 0 because they are too small.
_UNDERFLOW = 1e-270
_NOISE_WINDOW = 1 << 16
_NOISE_LEFT_OUT = 2.0**-60


@dataclass(frozen=True, eq=False)
class RecordLaw:
    """Records of one law: ``law[k]`` is the chance to add ``k`` to the sum, in units of ``step``.

    ``record`` is the first of the ``count`` records, ``values`` its (value, steps added) of
    positive mass.
    """

    law: FloatArray
    record: int
    count: int
    values: tuple[tuple[int, int], ...]


def is_additive(statistic: object) -> TypeGuard[Count | WeightedSum]:
    """Whether a statistic is a sum over the records of which all is known."""
    return has_values_of(statistic, Count) or has_values_of(statistic, WeightedSum)


def additive_parts(
    statistic: Count | WeightedSum, distribution: ProductDistribution
) -> tuple[list[RecordLaw], int]:
    """The distinct laws of what a record adds, and the least value of the sum.

    Raises BudgetError when the sum ranges over more than ``MAX_RANGE`` values.
    """
    domain = distribution.domain
    statistic.check(domain)
    weights, constant = np.ones(domain.dimension, dtype=np.int64), 0
    if isinstance(statistic, WeightedSum):
        weights, constant = statistic.weights, statistic.constant
    spread = int(np.abs(weights) @ (domain.size_array - 1)) + 1
    if spread > MAX_RANGE:
        raise BudgetError(
            f"the statistic ranges over {spread:,} values, more than {MAX_RANGE:,}; use smaller "
            f"weights",
            needed=spread,
            budget=MAX_RANGE,
        )
    lowest = constant + int(np.minimum(weights, 0) @ (domain.size_array - 1))
    groups: dict[tuple[int, bytes], list[int]] = {}
    for r, weight in enumerate(weights.tolist()):
        groups.setdefault((weight, distribution.marginal(r).tobytes()), []).append(r)
    parts = [
        _part(members, weight, np.frombuffer(marginal))
        for (weight, marginal), members in groups.items()
    ]
    return parts, lowest


def _part(members: list[int], weight: int, marginal: FloatArray) -> RecordLaw:
    law = np.zeros(abs(weight) * (len(marginal) - 1) + 1)
    top = max(0, -weight * (len(marginal) - 1))
    steps = [top + weight * value for value in range(len(marginal))]
    for step, mass in zip(steps, marginal.tolist(), strict=True):
        law[step] += mass
    held = tuple((v, s) for v, (s, mass) in enumerate(zip(steps, marginal, strict=True)) if mass)
    return RecordLaw(law, members[0], len(members), held)


def leave_one_out_laws(parts: list[RecordLaw]) -> Iterator[tuple[RecordLaw, FloatArray]]:
    """Each part with the law of the sum of all records but one of its own."""
    powers = [_power(part.law, part.count) for part in parts]
    yield from _descend(parts, powers, np.ones(1))


def _descend(
    parts: list[RecordLaw], powers: list[FloatArray], outside: FloatArray
) -> Iterator[tuple[RecordLaw, FloatArray]]:
    if len(parts) == 1:
        yield parts[0], _product(outside, _power(parts[0].law, parts[0].count - 1))
        return
    half = len(parts) // 2
    for here, there in ((slice(None, half), slice(half, None)), (slice(half, None), slice(half))):
        rest = _product(outside, _multiply(powers[there]))
        yield from _descend(parts[here], powers[here], rest)


def _multiply(laws: list[FloatArray]) -> FloatArray:
    if len(laws) == 1:
        return laws[0]
    half = len(laws) // 2
    return _product(_multiply(laws[:half]), _multiply(laws[half:]))


def _product(left: FloatArray, right: FloatArray) -> FloatArray:
    law = np.convolve(left, right)
    law[law < _NEGLIGIBLE] = 0.0
    return law


def _power(law: FloatArray, count: int) -> FloatArray:
    result, square = np.ones(1), law
    while count:
        if count & 1:
            result = _product(result, square)
        count >>= 1
        if count:
            square = _product(square, square)
    return result


def relative_error(dimension: int, spread: int) -> float:
    """Bound on the relative error of each probability of ``leave_one_out_laws``.

    A product of length n adds at most n * 2**-53 to the errors of its factors. The errors of the
    leaves of a tree of products add up to at most n for each of its levels, and a law left out
    goes through two such trees.
    """
    size = dimension + spread + 1
    return 2.0**-53 * size * (4 * math.ceil(math.log2(size)) + 8)


@dataclass(frozen=True)
class Divergence:
    """Bounds of the hockey-stick divergence of one record's values, at one epsilon."""

    lower: float
    upper: float
    record: int
    values: tuple[int, int]


def sum_excess(left: FloatArray, right: FloatArray, factor: float) -> float:
    """sum_o max(0, left(o) - factor right(o))."""
    return float(np.maximum(left - factor * right, 0.0).sum())


def bound_divergence(
    left: FloatArray,
    right: FloatArray,
    factor: float,
    *,
    relative: float,
    missing: float,
    record: int,
    values: tuple[int, int],
) -> Divergence:
    """The divergence of laws known to a relative error, except for a probability ``missing``."""
    up, down = 1.0 + relative, max(0.0, 1.0 - relative)
    upper = sum_excess(left * up, right * down, factor) + missing * (1.0 + factor)
    lower = sum_excess(left * down, right * up, factor) - missing * (1.0 + factor)
    return Divergence(max(0.0, lower), upper, record, values)


def enumerate_divergences(
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
            yield bound_divergence(
                mixtures[a][1],
                mixtures[b][1],
                factor,
                relative=relative,
                missing=missing,
                record=record,
                values=(a, b),
            )


def sample_divergences(
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
    table, rows = _collect_laws(mechanism, points)
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
                excess = sum_excess(every[a][1], every[b][1], factor)
                upper = min(1.0, excess + margin + slack)
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
    mixtures = {}
    for value in range(size):
        held = column == value
        total = float(weights[held].sum())
        if total > 0:
            shares = np.bincount(rows[held], weights[held], minlength=len(probabilities)) / total
            mixtures[value] = (total, shares @ probabilities)
    return mixtures


def _collect_laws(
    mechanism: Mechanism, points: NDArray[np.signedinteger]
) -> tuple[LawTable, NDArray[np.int64]]:
    distinct, rows = DistinctLaws(), []
    for _, _, part in PointBatch(points).parts(1 << 12):
        laws = laws_of_batch(mechanism, part)
        _finite(laws)
        rows.append(distinct.add(laws, len(part)))
    return distinct.laws(), np.concatenate(rows)


def _finite(laws: object) -> LawTable:
    if isinstance(laws, LawTable):
        return laws
    raise InputError(
        "mechanism: its outputs are unbounded and its statistic is not a sum of the records; give "
        "a mechanism with finitely many outputs",
        name="mechanism",
    )


def _errors(table: LawTable) -> tuple[float, float]:
    """Relative error of each probability, and what was not followed at most."""
    error = float(np.max(table.errors, initial=0.0))
    missing = 0.0 if table.unexplored is None else float(np.max(table.unexplored, initial=0.0))
    return math.expm1(min(error, 700.0)), missing


@dataclass(frozen=True, eq=False)
class ReleaseTable:
    """Positive probabilities of outputs given the value of a sum.

    Parameters
    ----------
    values, outputs, masses
        (k,) which value, which output, and its probability.
    size
        Number of different outputs.
    error
        Relative error of each probability at most.
    missing
        Probability that no output accounts for, at most.
    """

    values: NDArray[np.int64]
    outputs: NDArray[np.int64]
    masses: FloatArray
    size: int
    error: float
    missing: float

    def given(self, law: FloatArray) -> FloatArray:
        """The law of the output, (size,), where the sum has this law."""
        weights = law[self.values] * self.masses
        return np.asarray(np.bincount(self.outputs, weights, minlength=self.size), dtype=float)


def affordable(mechanism: Any, domain: Domain, spread: int) -> bool:
    """Whether code is enumerated for every value of the sum."""
    law = mechanism.law(np.zeros(domain.dimension, dtype=domain.dtype))
    # Code that was only seen to read a sum is run on whole datasets.
    size = domain.dimension // 64 if mechanism.reads_only else 0
    return int(spread * (law.leaves or len(law)) * (1 + size)) <= _MOST_LEAVES


def release_table(mechanism: Any, lowest: int, spread: int, parts: int) -> ReleaseTable:
    """The laws given ``lowest`` .. ``lowest + spread - 1``, for ``parts`` different records.

    Raises InputError for unbounded outputs, BudgetError for too many of them.
    """
    numbers: dict[Output, int] = {}
    blocks: list[tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]] = []
    error = missing = 0.0
    entries = 0
    for start in range(0, spread, _TOGETHER):
        asked = np.arange(start, min(spread, start + _TOGETHER))
        laws = mechanism.laws_of(lowest + asked)
        if not isinstance(laws, LawTable):
            raise InputError(
                "mechanism: its outputs are not finitely many; round them in the code",
                name="mechanism",
            )
        for output in laws.outputs:
            numbers.setdefault(output, len(numbers))
        columns = np.array([numbers[output] for output in laws.outputs], dtype=np.int64)
        masses = np.exp(laws.logs)[laws.distinct(np.arange(len(asked)))]
        rows, places = np.nonzero(masses)
        blocks.append((asked[rows], columns[places], masses[rows, places]))
        error = max(error, float(np.max(laws.errors, initial=0.0)))
        if laws.unexplored is not None:
            missing = max(missing, float(np.max(laws.unexplored, initial=0.0)))
        entries += len(rows)
        if entries > _MOST_ENTRIES or 2 * parts * entries > _MOST_PRODUCTS:
            raise BudgetError(
                f"mechanism: more than {entries:,} outputs with positive probability, over "
                f"{spread:,} values of the statistic and for {parts:,} different records, are too "
                f"many; use fewer outputs",
                needed=2 * parts * entries,
                budget=_MOST_PRODUCTS,
            )
    values, outputs, chances = map(np.concatenate, zip(*blocks, strict=True))
    relative = math.expm1(min(error + 2.0**-52 * spread, 700.0))
    return ReleaseTable(values, outputs, chances, len(numbers), relative, missing)


def _noise_window(mechanism: ShiftMechanism) -> tuple[FloatArray, float, float]:
    """Probabilities of the noise around 0, their relative error, and a bound of the rest."""
    window = 1
    while mechanism.noise.tail(window) > _NOISE_LEFT_OUT and window < _NOISE_WINDOW:
        window *= 2
    logs = mechanism.noise.log_pmf(np.arange(-window, window + 1))
    error = math.expm1(min(float(default_error(logs).max()), 700.0))
    return np.exp(logs), error, float(mechanism.noise.tail(window)) + _UNDERFLOW


def knows_law_given_sum(mechanism: Any, statistic: Any, distribution: ProductDistribution) -> bool:
    """Whether the laws given all values of the sum are had; those of code may be too dear."""
    if isinstance(mechanism, (StatisticMechanism, ShiftMechanism)):
        return True
    domain = distribution.domain
    parts, _ = additive_parts(statistic, distribution)
    return affordable(mechanism, domain, _spread(parts))


def _spread(parts: list[RecordLaw]) -> int:
    """How many values the sum can have."""
    return sum(part.count * (len(part.law) - 1) for part in parts) + 1


@dataclass(frozen=True, eq=False)
class Sums:
    """A sum over independent records, released as it is or through a law given its value."""

    mechanism: Any
    statistic: Any
    distribution: ProductDistribution

    def divergences(self, factors: list[float]) -> Iterator[list[Divergence]]:
        parts, lowest = additive_parts(self.statistic, self.distribution)
        spread = _spread(parts)
        release, error, missing = self._release(lowest, spread, len(parts))
        relative = error + relative_error(self.distribution.domain.dimension, spread)
        for part, others in leave_one_out_laws(parts):
            laws = {value: release(others, step, spread) for value, step in part.values}
            for pair in permutations(laws, 2):
                left, right = (laws[value] for value in pair)
                yield [
                    bound_divergence(
                        left,
                        right,
                        factor,
                        relative=relative,
                        missing=missing,
                        record=part.record,
                        values=pair,
                    )
                    for factor in factors
                ]

    def _release(
        self, lowest: int, spread: int, parts: int
    ) -> tuple[Callable[[FloatArray, int, int], FloatArray], float, float]:
        """From the law of the others and what the record adds to the law of the output.

        Also its relative error, and the probability of the outputs that are left out.
        """
        if isinstance(self.mechanism, ShiftMechanism):
            noise, error, left_out = _noise_window(self.mechanism)

            def noisy(others: FloatArray, step: int, size: int) -> FloatArray:
                return np.convolve(_move(others, step, size), noise)

            return noisy, error + 2.0**-52 * spread, left_out
        if isinstance(self.mechanism, Statistic):
            return _move, 0.0, _UNDERFLOW
        if not isinstance(self.mechanism, StatisticMechanism):
            released = release_table(self.mechanism, lowest, spread, parts)

            def write(others: FloatArray, step: int, size: int) -> FloatArray:
                return released.given(_move(others, step, size))

            return write, released.error, _UNDERFLOW + released.missing
        table, error = self._table(lowest, spread, parts)

        def answer(others: FloatArray, step: int, size: int) -> FloatArray:
            return np.asarray(_move(others, step, size) @ table)

        return answer, error, _UNDERFLOW

    def _table(self, lowest: int, spread: int, parts: int) -> tuple[FloatArray, float]:
        entries = spread * len(self.mechanism.outputs)
        if entries > _MOST_ENTRIES or 2 * parts * entries > _MOST_TABLE_PRODUCTS:
            raise BudgetError(
                f"mechanism: {spread:,} values of the statistic times "
                f"{len(self.mechanism.outputs):,} outputs, for {parts:,} different records, are "
                f"too many; use fewer outputs",
                needed=2 * parts * entries,
                budget=_MOST_TABLE_PRODUCTS,
            )
        laws = self.mechanism.laws_of(lowest + np.arange(spread))
        assert isinstance(laws, LawTable)
        rows = laws.distinct(np.arange(spread))
        error = float(np.max(laws.errors, initial=0.0)) + 2.0**-52 * spread
        return np.exp(laws.logs)[rows], math.expm1(min(error, 700.0))


def _move(others: FloatArray, step: int, size: int) -> FloatArray:
    law = np.zeros(size)
    law[step : step + len(others)] = others
    return law
