"""Output distributions of OpenDP's measurements, and the datasets of its domains and metrics."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.data.domains import AnswerGrid, Domain, Hypercube, Hypergrid, IntArray, RecordGrid
from liptest.errors import InputError, LawError
from liptest.mechanisms.additive import AdditiveNoise
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.declared import ClosedForm, ExactForm, StatisticMechanism
from liptest.mechanisms.shift import ShiftMechanism, VectorShift
from liptest.statistics.coordinates import Coordinates
from liptest.statistics.sums import WeightedSum

_TYPE = re.compile(r"\bT=([iu])(8|16|32|64|128|size)\b")


def refuse_measurement(what: str) -> InputError:
    """The error of a measurement whose law is not known here."""
    return InputError(
        f"measurement: the output distribution of {what} is not known here; known are randomised "
        f"response (bool, categorical), make_noisy_max, and make_laplace, make_geometric, "
        f"make_gaussian and make_noise on whole numbers, alone or after a sum or counts. "
        f"lt.check_samples tests any measurement by its samples",
        name="measurement",
    )


def require_metric(measurement: Any, *known: str) -> None:
    """InputError when inputs are not as far apart as one of the known metrics says."""
    metric = str(measurement.input_metric)
    if metric.partition("(")[0] not in known:
        raise refuse_measurement(f"the input metric {metric}")


def number_bounds(inner: str) -> tuple[int, Domain | None]:
    """Lower bound of each number of a domain as OpenDP prints it, and the smallest datasets."""
    low, high = domain_bounds(inner) or (0, 1)
    size = re.search(r"size=(\d+)", inner)
    if inner.startswith("AtomDomain"):
        return low, Hypergrid([high - low + 1])
    return low, Hypergrid([min(high - low + 1, 2)] * int(size.group(1))) if size else None


def domain_bounds(inner: str) -> tuple[int, int] | None:
    """Least and largest whole number of a domain as OpenDP prints it, where it has bounds."""
    match = re.search(r"bounds=\[(-?\d+), (-?\d+)\]", inner)
    return (int(match[1]), int(match[2])) if match else None


def ends_of_type(inner: str) -> tuple[int, int] | None:
    """The ends at which the whole-number type of a domain clips; None for other types."""
    match = _TYPE.search(inner)
    if match is None:
        return None
    bits = 64 if match[2] == "size" else int(match[2])
    return (0, 2**bits - 1) if match[1] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def answers(inner: str, given: Domain | None) -> Domain:
    """The vectors of scores of a selection; InputError unless every score may move by 1."""
    low, default = number_bounds(inner)
    within = domain_bounds(inner)
    if given is None and within and default is not None:
        given = AnswerGrid([within[1] - low + 1] * default.dimension, relation="all")
    if given is None:
        raise InputError(
            "domain=None: the scores have no bounds, or there is any number of them; give "
            "domain=, such as AnswerGrid([5, 5, 5], relation='all')",
            name="domain",
        )
    if not (isinstance(given, AnswerGrid) and "every" in given.relation):
        raise misfit(given, "its metric needs an AnswerGrid with relation='all'")
    _fits(given, default, inner)
    return given


def choose_domain(given: Domain | None, inner: str, kind: type[Domain]) -> Domain:
    """The domain that was given, or the smallest that shows all pairs of the noise."""
    default = number_bounds(inner)[1]
    chosen = given or default
    if chosen is None:
        raise InputError(
            "domain=None: the measurement takes vectors of any length; give domain=, such as "
            "Hypergrid([10, 10, 10])",
            name="domain",
        )
    if not isinstance(chosen, kind):
        raise misfit(chosen, f"its metric needs a {kind.__name__}")
    _fits(chosen, default, inner)
    return chosen


def _fits(domain: Domain, default: Domain | None, inner: str) -> None:
    within = domain_bounds(inner)
    if default is not None and default.dimension != domain.dimension:
        raise misfit(domain, f"it has {default.dimension} numbers")
    if within and max(domain.sizes) > within[1] - within[0] + 1:
        raise misfit(domain, f"its numbers are {within[0]} .. {within[1]}")


def misfit(domain: Domain, why: str) -> InputError:
    """The error of a domain that is not the measurement's."""
    return InputError(f"domain={domain} does not fit the measurement: {why}", name="domain")


# Datasets on which the transformation is compared with the statistic.
_COMPARED = 32


@dataclass(frozen=True)
class Chained:
    """A deterministic step: its datasets, their distance, and the statistic that it computes."""

    name: str
    domain: Domain
    distance: int
    statistic: WeightedSum
    records: Callable[[Any], list[Any]]


def read_chain(
    record: Any, transformation: Any, inner: str, domain: Domain | None, *, clamped: bool = False
) -> Chained:
    """A sum of whole-number records, or a count of any; InputError for anything else.

    Where records may be added and removed, a dataset is the count of each value from the lower
    bound on, or of all records where a count knows no bounds. Where their number is fixed, OpenDP's
    distance is 2 for a record that is replaced. ``clamped``: values beyond the bounds of ``inner``
    count as the bounds.
    """
    bounds = re.search(r"bounds=\[(-?\d+), (-?\d+)\], T=[iu]\d+", inner)
    size = re.search(r"size=(\d+)\)$", inner)
    if record.function not in ("make_sum", "make_count"):
        raise InputError(
            f"measurement: a chain that begins with {record.function} is not known here; known "
            f"are make_count_by_categories, make_sum, make_count, and make_clamp before these two",
            name="measurement",
        )
    if bounds is None and size is None and record.function == "make_count":
        chain = _any_count(inner, domain)
        _compare(transformation, chain)
        return chain
    if bounds is None:
        raise InputError(
            f"measurement: its records, {inner}, have no bounds; give them some, such as "
            f"atom_domain(bounds=(0, 1))",
            name="measurement",
        )
    low, high = (int(end) for end in bounds.groups())
    chain = (
        _fix(record, low, high, int(size.group(1)), domain)
        if size
        else _free(record, low, high, domain)
    )
    _compare(transformation, chain)
    if clamped:
        beyond = replace(chain, records=_Beyond(chain.records, low, high))
        _compare(transformation, beyond)
    return chain


@dataclass(frozen=True)
class _Beyond:
    """Records at the bounds moved beyond them."""

    records: Callable[[Any], list[Any]]
    low: int
    high: int

    def __call__(self, data: Any) -> list[Any]:
        moved = {self.low: self.low - 7, self.high: self.high + 7}
        return [moved.get(value, value) for value in self.records(data)]


def _any_count(inner: str, domain: Domain | None) -> Chained:
    chosen = domain or Hypergrid([2])
    if not isinstance(chosen, Hypergrid) or chosen.dimension != 1:
        raise InputError(
            f"domain={chosen} does not fit: a dataset is the number of its records; give a "
            f"Hypergrid of one size",
            name="domain",
        )
    kind = re.search(r"T=(\w+)", inner)
    record = {"bool": False, "String": "", "f64": 0.0, "f32": 0.0}.get(kind[1] if kind else "", 0)
    return Chained("make_count", chosen, 1, WeightedSum([1]), lambda data: [record] * int(data[0]))


def _free(record: Any, low: int, high: int, domain: Domain | None) -> Chained:
    cells = high - low + 1
    chosen = domain or Hypergrid([2] * cells)
    if not isinstance(chosen, Hypergrid) or chosen.dimension != cells:
        raise InputError(
            f"domain={chosen} does not fit: records may be added and removed, so a dataset is a "
            f"count for each of the values {low} .. {high}; give a Hypergrid of {cells} sizes",
            name="domain",
        )
    counting = record.function == "make_count"
    weights = [1] * cells if counting else list(range(low, high + 1))
    values = np.arange(low, high + 1)
    return Chained(
        record.function,
        chosen,
        1,
        WeightedSum(weights),
        lambda data: np.repeat(values, np.asarray(data)).tolist(),
    )


def _fix(record: Any, low: int, high: int, size: int, domain: Domain | None) -> Chained:
    domain_fixed: Domain = (
        Hypercube(size) if high == low + 1 else RecordGrid([high - low + 1] * size)
    )
    if domain is not None and domain != domain_fixed:
        raise InputError(
            f"domain={domain} does not fit: the measurement's is {domain_fixed}", name="domain"
        )
    counting = record.function == "make_count"
    weights, constant = [0 if counting else 1] * size, size if counting else size * low
    statistic = WeightedSum(weights, constant=constant, name="sum")
    return Chained(
        record.function, domain_fixed, 2, statistic, lambda data: (np.asarray(data) + low).tolist()
    )


def _compare(transformation: Any, step: Chained) -> None:
    """The statistic is what the transformation computes, on datasets of all kinds."""
    rng = np.random.default_rng(0)
    sizes = step.domain.size_array
    tried = [sizes * 0, sizes - 1, *rng.integers(0, sizes, (_COMPARED, len(sizes)))]
    for dataset in tried:
        given, wanted = transformation(step.records(dataset)), step.statistic.values(dataset[None])
        if given != int(wanted[0]):
            raise LawError(
                f"{step.name}: gives {given} on {step.records(dataset)[:20]}, where "
                f"{int(wanted[0])} was expected; the object does not do what its record says"
            )


# For so many scores the nodes next to 1 are 0.002 off it, so that 40 factors 1 - t q are known to
# 40 x 1e-13 each: well below the error that is declared.
_MOST_SCORES = 40
_SELECTION_ERROR = 1e-10


@dataclass(frozen=True)
class ResponseLaw:
    """The truth with a probability, else another category, all alike.

    What is not a category, the last value, is answered by any category, all alike.
    """

    truth: Fraction
    count: int

    def __call__(self, dataset: IntArray) -> list[Fraction]:
        value = int(dataset[0])
        if value == self.count:
            return [Fraction(1, self.count)] * self.count
        lie = (1 - self.truth) / (self.count - 1)
        return [self.truth if k == value else lie for k in range(self.count)]


def response(categories: Sequence[Any], truth: Fraction, name: str) -> Mechanism:
    """Randomised response with the float ``prob`` as the binary fraction that it is."""
    return ExactForm(tuple(categories), ResponseLaw(truth, len(categories)), name)


@dataclass(frozen=True)
class BoundedLaw:
    """OpenDP's geometric sampler with bounds: a fixed number of trials, ends clipped.

    With q = exp(-1/scale), m = upper - lower and both ends included, the input is clipped to the
    bounds; |noise| = k has weight q^k (1-q) for k < m and q^m for k = m, on either side, where a
    negative 0 is drawn again; so the noise k has 1/(2 - (1-q)) times this weight. The output is
    clipped again. OpenDP rounds 1-q down to a float, which is what ``error`` is for.
    """

    scale: float
    lower: int
    upper: int

    @property
    def error(self) -> float:
        """Bound on what rounding 1-q to a float moves a log: m + 1 times that of ln q."""
        stay = -math.expm1(-1.0 / self.scale)
        return (self.upper - self.lower + 2) * 2.0**-49 * max(1.0, math.exp(1 / self.scale) / stay)

    def __call__(self, values: Any) -> Any:
        count, rate = self.upper - self.lower, 1.0 / self.scale
        if count == 0:
            return np.zeros((len(values), 1))
        stay = -math.expm1(-rate)
        steps = np.arange(count + 1)
        size = -rate * steps + np.where(steps < count, math.log(stay), 0.0)
        tail = -rate * steps
        rows = []
        for value in np.clip(values, self.lower, self.upper) - self.lower:
            inner = size[np.abs(steps - value)]
            # All that reaches an end, or goes beyond it, is at the end.
            inner[0], inner[-1] = tail[value], tail[count - value]
            rows.append(inner - math.log(2.0 - stay))
        return np.array(rows)


@dataclass(frozen=True)
class NoisyMaxLaw:
    """The place of the largest of k scores with noise on each.

    Gumbel noise: P(r) is proportional to exp(score_r / scale), the exponential mechanism.
    Exponential noise: with q_r = exp((score_r - largest) / scale) the place is r with probability
    q_r times the integral over t in 0 .. 1 of the product over j != r of 1 - t q_j, the law of
    permute-and-flip (Ding, Kifer and others 2021; McKenna and Sheldon 2020). The integrand is a
    polynomial of degree k - 1, so that Gauss and Legendre's rule is exact, and without signs.
    """

    scale: float
    negate: bool
    gumbel: bool

    def __call__(self, datasets: Any) -> Any:
        scores = np.asarray(datasets, dtype=np.float64) * (-1.0 if self.negate else 1.0)
        logs = (scores - scores.max(axis=1, keepdims=True)) / self.scale
        if self.gumbel:
            return logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
        count = logs.shape[1]
        nodes, weights = np.polynomial.legendre.leggauss(count // 2 + 1)
        factors = 1.0 - np.exp(logs)[:, :, None] * ((nodes + 1) / 2)
        rest = np.stack([np.delete(factors, r, axis=1).prod(axis=1) for r in range(count)], axis=1)
        return logs + np.log(rest @ (weights / 2))


def noisy_max(scale: float, count: int, negate: bool, gumbel: bool, name: str) -> Mechanism:
    """The place of the largest, or least, of ``count`` scores."""
    if count > _MOST_SCORES:
        raise InputError(
            f"domain: {count} scores are more than the {_MOST_SCORES} that a law is computed for",
            name="domain",
        )
    return ClosedForm(
        range(count), NoisyMaxLaw(scale, negate, gumbel), error=_SELECTION_ERROR, name=name
    )


def noisy_vector(noise: AdditiveNoise, domain: Domain, lowest: int, name: str) -> Mechanism:
    """Noise on each number of the dataset."""
    every = tuple(range(domain.dimension))
    return VectorShift(Coordinates(every, domain.sizes, constant=lowest), noise, name)


def noisy_number(noise: AdditiveNoise, lowest: int, name: str) -> Mechanism:
    """Noise on the one number of the dataset."""
    return ShiftMechanism(WeightedSum([1], constant=lowest, name="sum"), noise, name)


def make_bounded_number(scale: float, lowest: int, bounds: Sequence[int], name: str) -> Mechanism:
    """Noise on the one number of the dataset that ends at bounds."""
    low, high = (int(end) for end in bounds)
    law = BoundedLaw(scale, low, high)
    number, outputs = WeightedSum([1], constant=lowest, name="sum"), range(low, high + 1)
    return StatisticMechanism(number, outputs, law, error=law.error, exact_zeros=True, name=name)
