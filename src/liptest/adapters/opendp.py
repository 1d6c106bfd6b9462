"""Measurements of OpenDP: closed forms of its exact samplers, its own claim and relation.

An OpenDP measurement is an opaque pointer: it can be called and mapped, but it has no
probabilities. Its Python object keeps a record of the constructor and its arguments, from which the
law is taken; domain and metric are asked of the library itself. Because anybody may alter a Python
object, the law is compared with draws of the measurement before it is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from liptest.adapters import opendp_laws as laws
from liptest.adapters.agreement import RADIUS_FAILURE, check_draws
from liptest.adapters.opendp_chains import Chained, chained
from liptest.adapters.opendp_claims import claim, require_measurement
from liptest.adapters.terms import AdaptedMechanism, Terms, attach
from liptest.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.errors import InputError, check_count, shown
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.gaussian import DiscreteGaussian
from liptest.mechanisms.noise import DiscreteLaplace, Noise
from liptest.mechanisms.shift import ShiftMechanism

_CALIBRATIONS = ("make_fix_delta", "make_zCDP_to_approxDP")
_WHOLE = re.compile(r"\bT=[iu](8|16|32|64|128|size)\b")
_NOISES: dict[str, Callable[[float], Noise]] = {
    "make_laplace": DiscreteLaplace,
    "make_geometric": DiscreteLaplace,
    "make_gaussian": DiscreteGaussian,
}


@dataclass(frozen=True)
class _Record:
    """The constructor that made a measurement, and its arguments."""

    function: str
    arguments: dict[str, Any]

    def __str__(self) -> str:
        plain = {
            key: value
            for key, value in self.arguments.items()
            if isinstance(value, (int, float, str, list, tuple)) and key not in ("MO", "T")
        }
        words = ", ".join(f"{key}={shown(value)}" for key, value in plain.items())
        return f"{self.function}({words})"


def opendp(
    measurement: Any,
    *,
    domain: Domain | None = None,
    delta: float | None = None,
    draws: int = 30_000,
) -> AdaptedMechanism:
    """An OpenDP measurement as a mechanism, with ``.domain``, ``.epsilon``, ``.delta``, ``.notes``.

    Randomised response (bool and categorical); ``make_laplace``, ``make_geometric`` and
    ``make_gaussian`` on whole numbers, one or a vector; a sum or a count followed by one of them.
    OpenDP's samplers are exact, so are the laws: rational for randomised response, closed forms for
    the noise. The last cast to the type of the measurement, which clips at its ends, is left out:
    it is post-processing.

    Datasets are whole numbers. A bool is one bit; a category is its place in the list, with one
    more value for everything that is no category; a whole number is itself, counted from the
    lower bound of the measurement's domain, if it has one; records before a sum or a count are
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
        For a claim that OpenDP states as zCDP or as a profile: which (epsilon, delta) of it.
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
    core = _uncalibrated(measurement)
    record = _record(core)
    if record.function == "make_chain_mt":
        adapted = _of_chain(measurement, record, domain, delta)
    else:
        adapted = _of_core(measurement, record, domain, delta)
    sizes = np.asarray(adapted.terms.domain.sizes)
    ends = [np.zeros(len(sizes), dtype=np.int64), sizes - 1]
    radius = check_draws(adapted.mechanism, ends, adapted.answer, draws)
    compared = (
        f"Compared with {draws:,} draws on each of {len(ends)} datasets: no cumulative probability "
        f"is off by more than {radius:.3f}; a right law fails this with probability at most "
        f"{RADIUS_FAILURE:g}."
    )
    terms = replace(adapted.terms, notes=(*adapted.terms.notes, compared))
    return cast(AdaptedMechanism, attach(adapted.mechanism, terms))


@dataclass(frozen=True)
class _Adapted:
    """A mechanism before its draws were looked at, and the library's answer on a dataset."""

    mechanism: Mechanism
    terms: Terms
    answer: Callable[[Any], Any]


def _of_core(
    measurement: Any, record: _Record, domain: Domain | None, delta: float | None
) -> _Adapted:
    if record.function == "make_randomized_response_bool":
        return _of_response([False, True], False, measurement, record, domain)
    if record.function == "make_randomized_response":
        return _of_response(list(record.arguments["categories"]), True, measurement, record, domain)
    noise, inner = _noise(record, measurement), str(measurement.input_domain)
    _require_metric(measurement, "AbsoluteDistance", "L1Distance", "L2Distance")
    lowest, default = _numbers(inner)
    chosen = _chosen(domain, default, Hypergrid)
    terms = _terms(measurement, record, chosen, 1, delta)
    bounds, name = record.arguments.get("bounds"), str(record)
    if not inner.startswith("AtomDomain"):
        if bounds is not None:
            raise _refused(f"{name}: bounded noise on a vector")
        made = laws.noisy_vector(noise, chosen, lowest, name)
        return _Adapted(
            made, terms, lambda data: tuple(measurement([int(x) + lowest for x in data]))
        )
    if bounds is None:
        made = laws.noisy_number(noise, lowest, name)
    else:
        made = laws.bounded_number(record.arguments["scale"], lowest, bounds, name)
    return _Adapted(made, terms, lambda data: measurement(int(data[0]) + lowest))


def _of_response(
    categories: Sequence[Any], others: bool, measurement: Any, record: _Record, domain: Any
) -> _Adapted:
    _require_metric(measurement, "DiscreteDistance")
    default: Domain = RecordGrid([len(categories) + 1]) if others else Hypercube(1)
    chosen = _chosen(domain, default, type(default))
    if chosen != default:
        raise _misfit(chosen, f"the measurement's own is {default}")
    terms = _terms(measurement, record, chosen, 1, None)
    made = laws.response(categories, Fraction(record.arguments["prob"]), str(record))
    inputs = [*categories, *([_no_category(categories)] if others else [])]
    return _Adapted(made, terms, lambda data: measurement(inputs[int(data[0])]))


def _of_chain(
    measurement: Any, record: _Record, domain: Domain | None, delta: float | None
) -> _Adapted:
    noisy = _record(record.arguments["measurement1"])
    noise = _noise(noisy, record.arguments["measurement1"])
    if noisy.arguments.get("bounds") is not None:
        raise _refused("make_geometric with bounds after a transformation")
    first = record.arguments["transformation0"]
    _require_metric(measurement, "SymmetricDistance")
    step: Chained = chained(_record(first), first, str(measurement.input_domain), domain)
    terms = _terms(measurement, noisy, step.domain, step.distance, delta)
    made = ShiftMechanism(step.statistic, noise, f"{step.name} >> {noisy}")
    return _Adapted(made, terms, lambda data: measurement(step.records(data)))


def _record(made: Any) -> _Record:
    """The record that OpenDP's Python object keeps of its constructor, or InputError."""
    kept = getattr(made, "__opendp_dict__", None)
    if not isinstance(kept, dict) or not {"__function__", "__kwargs__"} <= kept.keys():
        raise InputError(
            f"measurement: this {type(made).__name__} keeps no record of its constructor, so that "
            f"its law is not known; build it with OpenDP 0.16 or newer, in this process",
            name="measurement",
        )
    return _Record(str(kept["__function__"]), dict(kept["__kwargs__"]))


def _uncalibrated(measurement: Any) -> Any:
    """The measurement inside of conversions that change the claim alone."""
    while _record(measurement).function in _CALIBRATIONS:
        measurement = _record(measurement).arguments["measurement"]
    return measurement


def _noise(record: _Record, measurement: Any) -> Noise:
    if record.function not in _NOISES:
        raise _refused(record.function)
    if not _WHOLE.search(str(measurement.input_domain)):
        raise _refused(f"{record.function} on {measurement.input_domain}, which is no whole number")
    scale = record.arguments["scale"]
    if not scale > 0:
        raise _refused(f"{record.function} with scale={scale}, which adds no noise,")
    return _NOISES[record.function](scale)


def _refused(what: str) -> InputError:
    return InputError(
        f"measurement: {what} has no closed form here; known are randomised response (bool, "
        f"categorical), make_laplace, make_geometric and make_gaussian on whole numbers, and a sum "
        f"or a count before them. lt.check_samples tests any measurement by its samples",
        name="measurement",
    )


def _require_metric(measurement: Any, *known: str) -> None:
    metric = str(measurement.input_metric)
    if metric.partition("(")[0] not in known:
        raise _refused(f"the input metric {metric}")


def _numbers(inner: str) -> tuple[int, Domain | None]:
    """Lower bound of each number of a domain as OpenDP prints it, and the smallest datasets."""
    bounds = re.search(r"bounds=\[(-?\d+), (-?\d+)\]", inner)
    low, high = (int(end) for end in bounds.groups()) if bounds else (0, 1)
    size = re.search(r"size=(\d+)", inner)
    if inner.startswith("AtomDomain"):
        return low, Hypergrid([high - low + 1])
    return low, Hypergrid([min(high - low + 1, 2)] * int(size.group(1))) if size else None


def _chosen(given: Domain | None, default: Domain | None, kind: type[Domain]) -> Domain:
    chosen = given or default
    if chosen is None:
        raise InputError(
            "domain=None: the measurement takes vectors of any length; give domain=, such as "
            "Hypergrid([10, 10, 10])",
            name="domain",
        )
    if not isinstance(chosen, kind):
        raise _misfit(chosen, f"its metric asks for a {kind.__name__}")
    if default is not None and default.dimension != chosen.dimension:
        raise _misfit(chosen, f"it has {default.dimension} numbers")
    return chosen


def _misfit(domain: Domain, why: str) -> InputError:
    return InputError(f"domain={domain} does not fit the measurement: {why}", name="domain")


def _terms(
    measurement: Any, record: _Record, domain: Domain, distance: int, delta: float | None
) -> Terms:
    epsilon, found = claim(measurement, distance, delta)
    return Terms(
        domain,
        epsilon,
        found,
        (
            f"Claim: measurement.map({distance}), for {measurement.input_metric}.",
            f"Law: closed form of {record}, as recorded by the Python object.",
        ),
    )


def _no_category(categories: Sequence[Any]) -> Any:
    """A value of the type of the categories that is none of them."""
    if isinstance(categories[0], str):
        return "".join(categories) + "?"
    if isinstance(categories[0], bool):
        raise _refused("make_randomized_response of bools")
    return next(i for i in range(len(categories) + 1) if i not in categories)
