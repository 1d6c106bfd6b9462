"""Measurements of OpenDP: closed forms of its exact samplers, its own claim and relation.

An OpenDP measurement is an opaque pointer: it can be called and mapped, but it has no
probabilities. Its Python object keeps a record of the constructor and its arguments, from which the
law is taken; domain and metric are asked of the library itself. Because anybody may alter a Python
object, the law is compared with draws of the measurement before it is used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

from liptest.adapters import opendp_laws as domains
from liptest.adapters.opendp_laws import Chained, read_chain, refuse_measurement, require_metric
from liptest.adapters.shared import (
    RADIUS_FAILURE,
    AdaptedMechanism,
    Terms,
    attach,
    check_draws,
    library,
)
from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.errors import InputError, check_count, check_non_negative, quote
from liptest.mechanisms.additive import AdditiveNoise, DiscreteGaussian, DiscreteLaplace
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.shift import ShiftMechanism

#: The first version whose whole-number noise has the law that is claimed.
_RIGHT_NOISE = (0, 14, 2)


def require_measurement(measurement: Any) -> None:
    """InputError unless it is a measurement of an OpenDP that draws what it claims to draw."""
    if not isinstance(measurement, library("opendp", "opendp.mod").Measurement):
        raise InputError(
            f"measurement={quote(measurement)} is not an OpenDP measurement; give what a "
            f"constructor of opendp.measurements returns",
            name="measurement",
        )
    installed = version("opendp")
    numbers = tuple(int(number) for number in re.findall(r"\d+", installed)[:3])
    if numbers < _RIGHT_NOISE:
        raise InputError(
            f"opendp={installed}: versions before 0.14.2 draw whole-number noise from another law "
            f"(opendp/opendp issue 2638); use 0.14.2 or newer",
            name="opendp",
            value=installed,
        )


def claim(measurement: Any, distance: int, delta: float | None) -> tuple[float, float]:
    """(epsilon, delta) of ``measurement.map``, for inputs at this distance.

    InputError where a delta is needed and not given.
    """
    measure = str(measurement.output_measure)
    if delta is not None and not 0 <= check_non_negative("delta", delta) < 1:
        raise InputError(f"delta={quote(delta)} must be at least 0 and below 1", name="delta")
    if measure == "ZeroConcentratedDivergence" and delta is not None:
        converted = import_module("opendp.combinators").make_zCDP_to_approxDP(measurement)
        return claim(converted, distance, delta)
    claimed = measurement.map(distance)
    if measure == "MaxDivergence":
        return float(claimed), 0.0
    if measure == "Approximate(MaxDivergence)":
        return float(claimed[0]), float(claimed[1])
    if measure == "SmoothedMaxDivergence" and delta is not None:
        return float(claimed.epsilon(delta)), delta
    raise InputError(
        f"delta=None: the measurement claims {measure}; give the delta at which its (epsilon, "
        f"delta) is to be tested",
        name="delta",
    )


_CALIBRATIONS = (
    "make_fix_delta",
    "make_zCDP_to_approxDP",
    "make_pureDP_to_zCDP",
    "make_approximate",
)
_NOISES: dict[str, Callable[[float], AdditiveNoise]] = {
    "make_laplace": DiscreteLaplace,
    "make_geometric": DiscreteLaplace,
    "make_gaussian": DiscreteGaussian,
}
_BY_MEASURE: dict[str, Callable[[float], AdditiveNoise]] = {
    "MaxDivergence": DiscreteLaplace,
    "ZeroConcentratedDivergence": DiscreteGaussian,
}


@dataclass(frozen=True)
class ConstructorRecord:
    """The constructor that made a measurement, and its arguments."""

    function: str
    arguments: dict[str, Any]

    def __str__(self) -> str:
        plain = {
            key: value
            for key, value in self.arguments.items()
            if isinstance(value, (int, float, str, list, tuple)) and key not in ("MO", "T")
        }
        words = ", ".join(f"{key}={quote(value)}" for key, value in plain.items())
        return f"{self.function}({words})"


@dataclass(frozen=True)
class Adapted:
    """A mechanism before its draws were looked at, and the library's answer on a dataset.

    ``datasets`` are those that are compared; default: the least and the largest. ``type_of`` is the
    domain, as OpenDP prints it, in whose type the noise is added.
    """

    mechanism: Mechanism
    terms: Terms
    answer: Callable[[Any], Any]
    type_of: str = ""
    datasets: tuple[Any, ...] = ()


def find_record(made: Any) -> ConstructorRecord:
    """The record that OpenDP's Python object keeps of its constructor, or InputError."""
    kept = getattr(made, "__opendp_dict__", None)
    if not isinstance(kept, dict) or not {"__function__", "__kwargs__"} <= kept.keys():
        raise InputError(
            f"measurement: this {type(made).__name__} keeps no record of its constructor, so that "
            f"its law is not known; build it with OpenDP 0.16 or newer, in this process",
            name="measurement",
        )
    return ConstructorRecord(str(kept["__function__"]), dict(kept["__kwargs__"]))


def uncalibrate(measurement: Any) -> Any:
    """The measurement inside of conversions that change the claim alone."""
    while find_record(measurement).function in _CALIBRATIONS:
        measurement = find_record(measurement).arguments["measurement"]
    return measurement


def find_noise(record: ConstructorRecord, measurement: Any) -> AdditiveNoise:
    """The noise that a measurement on whole numbers adds, or InputError."""
    maker = _NOISES.get(record.function)
    if record.function == "make_noise":
        maker = _BY_MEASURE.get(str(record.arguments["output_measure"]))
    if maker is None:
        raise refuse_measurement(record.function)
    if domains.ends_of_type(str(measurement.input_domain)) is None:
        raise refuse_measurement(
            f"{record.function} on {measurement.input_domain} (not a whole number)"
        )
    scale = record.arguments["scale"]
    if not scale > 0:
        raise refuse_measurement(f"{record.function} with scale={scale} (it adds no noise)")
    return maker(scale)


def find_terms(
    measurement: Any, record: ConstructorRecord, domain: Domain, distance: int, delta: float | None
) -> Terms:
    """Domain, claim of inputs at this distance, and where both come from."""
    notes = (
        f"Claim: measurement.map({distance}), for {measurement.input_metric}.",
        f"Law: closed form of {record}, as recorded by the Python object.",
    )
    if str(measurement.output_measure) == "ZeroConcentratedDivergence" and delta is None:
        rho = float(measurement.map(distance))
        return Terms(domain, math.inf, 0.0, notes, rho)
    epsilon, claimed_delta = claim(measurement, distance, delta)
    return Terms(domain, epsilon, claimed_delta, notes)


def no_category(categories: Sequence[Any]) -> Any:
    """A value of the type of the categories that is not one of them."""
    if isinstance(categories[0], str):
        return "".join(categories) + "?"
    if isinstance(categories[0], bool):
        raise refuse_measurement("a list of categories that are bools")
    return next(i for i in range(len(categories) + 1) if i not in categories)


def opendp(
    measurement: Any,
    *,
    domain: Domain | None = None,
    delta: float | None = None,
    draws: int = 30_000,
) -> AdaptedMechanism:
    """An OpenDP measurement as a mechanism, with ``.domain``, ``.claim``, ``.notes``.

    ``.claim`` holds ``rho``, or ``epsilon`` and ``delta``, as arguments of ``check_privacy``; they
    are attributes, too.

    Randomised response (bool and categorical); ``make_noisy_max`` of whole numbers;
    ``make_laplace``, ``make_geometric``, ``make_gaussian`` and ``make_noise`` on whole numbers, one
    or a vector; a sum (also of clamped records), a count or counts by category followed by one of
    them. OpenDP's samplers are exact, so are the
    laws: rational for randomised response, closed forms for the rest. The last cast to the type of
    the measurement, which clips at its ends, is left out: it is post-processing.

    Datasets are whole numbers. A bool is one bit; a category is its place in the list, with one
    more value for everything that is not a category; a whole number is itself, counted from the
    lower bound of the measurement's domain, if it has one; scores are such numbers, of which all
    may move by 1 at once (``AnswerGrid(.., relation="all")``); records before a sum or a count are
    counts of each value where they may be added and removed, and a list of them where their number
    is fixed.

    Parameters
    ----------
    measurement
        ``opendp.mod.Measurement``. OpenDP before 0.14.2 is refused: it drew whole-number noise
        from another law (opendp/opendp issue 2638).
    domain
        Which datasets; default the smallest that shows all pairs of neighbours of the noise.
    delta
        For a claim that OpenDP states as a profile: which (epsilon, delta) of it. A claim of zCDP
        is converted to one where a delta is given, and is tested as it is, by rho, where none is.
    draws
        Draws that are compared with the law on each of two datasets; at least 1,000.

    Raises
    ------
    InputError
        Not a measurement, one that has no law here (with the reason), a domain that does not fit.
    LawError
        The measurement does not draw from the law of its record.
    """
    require_measurement(measurement)
    check_count("draws", draws, least=1000)
    core = uncalibrate(measurement)
    record = find_record(core)
    if record.function == "make_chain_mt":
        adapted = _of_chain(measurement, record, domain, delta)
    else:
        adapted = _of_core(measurement, record, domain, delta)
    sizes = np.asarray(adapted.terms.domain.sizes)
    ends = list(adapted.datasets) or [np.zeros(len(sizes), dtype=np.int64), sizes - 1]
    seen = _Clipped(domains.ends_of_type(adapted.type_of))
    radius = check_draws(adapted.mechanism, ends, adapted.answer, draws, seen=seen)
    compared = (
        f"Compared with {draws:,} draws on each of {len(ends)} datasets: no cumulative probability "
        f"is off by more than {radius:.3f}; a right law fails this with probability at most "
        f"{RADIUS_FAILURE:g}."
    )
    terms = replace(adapted.terms, notes=(*adapted.terms.notes, compared))
    return attach(adapted.mechanism, terms)


@dataclass(frozen=True)
class _Clipped:
    """A number as it looks after the last cast to the type of the measurement."""

    ends: tuple[int, int] | None

    def __call__(self, output: Any) -> Any:
        if self.ends is None or isinstance(output, (bool, str)):
            return output
        return min(max(output, self.ends[0]), self.ends[1])


def _of_core(
    measurement: Any, record: ConstructorRecord, domain: Domain | None, delta: float | None
) -> Adapted:
    if record.function == "make_randomized_response_bool":
        return _of_response([False, True], False, measurement, record, domain)
    if record.function == "make_randomized_response":
        return _of_response(list(record.arguments["categories"]), True, measurement, record, domain)
    inner = str(measurement.input_domain)
    if record.function == "make_noisy_max":
        return _of_selection(measurement, record, domain, delta)
    noise = find_noise(record, measurement)
    require_metric(measurement, "AbsoluteDistance", "L1Distance", "L2Distance")
    where = domains.choose_domain(domain, inner, Hypergrid)
    lowest = domains.number_bounds(inner)[0]
    terms = find_terms(measurement, record, where, 1, delta)
    bounds, name = record.arguments.get("bounds"), str(record)
    if not inner.startswith("AtomDomain"):
        if bounds is not None:
            raise refuse_measurement(f"{name}: bounded noise on a vector")
        mechanism = domains.noisy_vector(noise, where, lowest, name)
        return Adapted(
            mechanism,
            terms,
            lambda data: tuple(measurement([int(x) + lowest for x in data])),
            inner,
        )
    if bounds is None:
        mechanism = domains.noisy_number(noise, lowest, name)
    else:
        mechanism = domains.make_bounded_number(record.arguments["scale"], lowest, bounds, name)
    return Adapted(mechanism, terms, lambda data: measurement(int(data[0]) + lowest), inner)


def _of_response(
    categories: Sequence[Any],
    others: bool,
    measurement: Any,
    record: ConstructorRecord,
    domain: Any,
) -> Adapted:
    require_metric(measurement, "DiscreteDistance")
    own: Domain = RecordGrid([len(categories) + 1]) if others else Hypercube(1)
    if domain is not None and domain != own:
        raise domains.misfit(domain, f"the measurement's own is {own}")
    terms = find_terms(measurement, record, own, 1, None)
    made = domains.response(categories, Fraction(record.arguments["prob"]), str(record))
    inputs = [*categories, *([no_category(categories)] if others else [])]
    return Adapted(made, terms, lambda data: measurement(inputs[int(data[0])]))


def _of_selection(
    measurement: Any, record: ConstructorRecord, domain: Domain | None, delta: float | None
) -> Adapted:
    inner, arguments = str(measurement.input_domain), record.arguments
    require_metric(measurement, "LInfDistance")
    if "monotonic" in str(measurement.input_metric):
        raise refuse_measurement(f"{record}: scores that all move in one direction")
    if domains.ends_of_type(inner) is None or not arguments["scale"] > 0:
        raise refuse_measurement(
            f"{record} on {inner}: scores that are not whole numbers, or no noise,"
        )
    where = domains.answers(inner, domain)
    lowest = domains.number_bounds(inner)[0]
    gumbel = str(arguments["output_measure"]) == "ZeroConcentratedDivergence"
    made = domains.noisy_max(
        arguments["scale"], where.dimension, arguments["negate"], gumbel, str(record)
    )
    # Equal scores show nothing of the noise.
    first = np.minimum(np.arange(where.dimension), where.size_array - 1)
    return Adapted(
        made,
        find_terms(measurement, record, where, 1, delta),
        lambda data: measurement([int(x) + lowest for x in data]),
        datasets=(first, np.minimum(first[::-1] * 2, where.size_array - 1)),
    )


def _of_chain(
    measurement: Any, record: ConstructorRecord, domain: Domain | None, delta: float | None
) -> Adapted:
    second = record.arguments["measurement1"]
    noisy = find_record(second)
    noise = find_noise(noisy, second)
    if noisy.arguments.get("bounds") is not None:
        raise refuse_measurement("make_geometric with bounds after a transformation")
    first = record.arguments["transformation0"]
    require_metric(measurement, "SymmetricDistance")
    if find_record(first).function == "make_count_by_categories":
        return _of_histogram(measurement, noisy, noise, find_record(first), domain, delta)
    last, inner, clamped = _after_clamp(first, str(measurement.input_domain))
    step: Chained = read_chain(last, first, inner, domain, clamped=clamped)
    terms = find_terms(measurement, noisy, step.domain, step.distance, delta)
    made = ShiftMechanism(step.statistic, noise, f"{step.name} >> {noisy}")
    kind = str(second.input_domain)
    return Adapted(made, terms, lambda data: measurement(step.records(data)), kind)


def _after_clamp(first: Any, inner: str) -> tuple[ConstructorRecord, str, bool]:
    """The step after a clamp, the records that it gets, and whether there is a clamp."""
    record = find_record(first)
    if record.function == "make_chain_tt":
        before, last = (record.arguments[f"transformation{k}"] for k in (0, 1))
        if find_record(before).function == "make_clamp":
            return find_record(last), str(last.input_domain), True
    return record, inner, False


def _of_histogram(
    measurement: Any,
    noisy: ConstructorRecord,
    noise: AdditiveNoise,
    step: ConstructorRecord,
    domain: Domain | None,
    delta: float | None,
) -> Adapted:
    if "size=" in str(measurement.input_domain):
        raise refuse_measurement("make_count_by_categories of a fixed number of records")
    categories = list(step.arguments["categories"])
    values = [*categories, *([no_category(categories)] if step.arguments["null_category"] else [])]
    where = domain or Hypergrid([2] * len(values))
    if not isinstance(where, Hypergrid) or where.dimension != len(values):
        raise domains.misfit(where, f"it counts {len(values)} kinds of records; give a Hypergrid")
    made = domains.noisy_vector(noise, where, 0, f"{step.function} >> {noisy}")
    return Adapted(
        made,
        find_terms(measurement, noisy, where, 1, delta),
        lambda data: tuple(
            measurement([v for v, n in zip(values, data, strict=True) for _ in range(int(n))])
        ),
        f"T={step.arguments['TOA']}",
    )
