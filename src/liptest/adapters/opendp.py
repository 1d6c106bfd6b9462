"""Measurements of OpenDP: closed forms of its exact samplers, its own claim and relation.

An OpenDP measurement is an opaque pointer: it can be called and mapped, but it has no
probabilities. Its Python object keeps a record of the constructor and its arguments, from which the
law is taken; domain and metric are asked of the library itself. Because anybody may alter a Python
object, the law is compared with draws of the measurement before it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from liptest.adapters import opendp_domains as domains
from liptest.adapters import opendp_laws as laws
from liptest.adapters.agreement import RADIUS_FAILURE, check_draws
from liptest.adapters.opendp_chains import Chained, chained
from liptest.adapters.opendp_claims import require_measurement
from liptest.adapters.opendp_domains import refused, require_metric
from liptest.adapters.opendp_records import (
    Adapted,
    Record,
    no_category,
    noise_of,
    record_of,
    terms_of,
    uncalibrated,
)
from liptest.adapters.terms import AdaptedMechanism, attach
from liptest.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.errors import check_count
from liptest.mechanisms.noise import Noise
from liptest.mechanisms.shift import ShiftMechanism


def opendp(
    measurement: Any,
    *,
    domain: Domain | None = None,
    delta: float | None = None,
    draws: int = 30_000,
) -> AdaptedMechanism:
    """An OpenDP measurement as a mechanism, with ``.domain``, ``.epsilon``, ``.delta``, ``.notes``.

    Randomised response (bool and categorical); ``make_noisy_max`` of whole numbers;
    ``make_laplace``, ``make_geometric``, ``make_gaussian`` and ``make_noise`` on whole numbers, one
    or a vector; a sum (also of clamped records), a count or counts by category followed by one of
    them. OpenDP's samplers are exact, so are the
    laws: rational for randomised response, closed forms for the rest. The last cast to the type of
    the measurement, which clips at its ends, is left out: it is post-processing.

    Datasets are whole numbers. A bool is one bit; a category is its place in the list, with one
    more value for everything that is no category; a whole number is itself, counted from the
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
    core = uncalibrated(measurement)
    record = record_of(core)
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
    return cast(AdaptedMechanism, attach(adapted.mechanism, terms))


@dataclass(frozen=True)
class _Clipped:
    """A number as it looks after the last cast to the type of the measurement."""

    ends: tuple[int, int] | None

    def __call__(self, output: Any) -> Any:
        if self.ends is None or isinstance(output, (bool, str)):
            return output
        return min(max(output, self.ends[0]), self.ends[1])


def _of_core(
    measurement: Any, record: Record, domain: Domain | None, delta: float | None
) -> Adapted:
    if record.function == "make_randomized_response_bool":
        return _of_response([False, True], False, measurement, record, domain)
    if record.function == "make_randomized_response":
        return _of_response(list(record.arguments["categories"]), True, measurement, record, domain)
    inner = str(measurement.input_domain)
    if record.function == "make_noisy_max":
        return _of_selection(measurement, record, domain, delta)
    noise = noise_of(record, measurement)
    require_metric(measurement, "AbsoluteDistance", "L1Distance", "L2Distance")
    where = domains.chosen(domain, inner, Hypergrid)
    lowest = domains.numbers(inner)[0]
    terms = terms_of(measurement, record, where, 1, delta)
    bounds, name = record.arguments.get("bounds"), str(record)
    if not inner.startswith("AtomDomain"):
        if bounds is not None:
            raise refused(f"{name}: bounded noise on a vector")
        made = laws.noisy_vector(noise, where, lowest, name)
        return Adapted(
            made, terms, lambda data: tuple(measurement([int(x) + lowest for x in data])), inner
        )
    if bounds is None:
        made = laws.noisy_number(noise, lowest, name)
    else:
        made = laws.bounded_number(record.arguments["scale"], lowest, bounds, name)
    return Adapted(made, terms, lambda data: measurement(int(data[0]) + lowest), inner)


def _of_response(
    categories: Sequence[Any], others: bool, measurement: Any, record: Record, domain: Any
) -> Adapted:
    require_metric(measurement, "DiscreteDistance")
    own: Domain = RecordGrid([len(categories) + 1]) if others else Hypercube(1)
    if domain is not None and domain != own:
        raise domains.misfit(domain, f"the measurement's own is {own}")
    terms = terms_of(measurement, record, own, 1, None)
    made = laws.response(categories, Fraction(record.arguments["prob"]), str(record))
    inputs = [*categories, *([no_category(categories)] if others else [])]
    return Adapted(made, terms, lambda data: measurement(inputs[int(data[0])]))


def _of_selection(
    measurement: Any, record: Record, domain: Domain | None, delta: float | None
) -> Adapted:
    inner, arguments = str(measurement.input_domain), record.arguments
    require_metric(measurement, "LInfDistance")
    if "monotonic" in str(measurement.input_metric):
        raise refused(f"{record}: scores that all move in one direction")
    if domains.ends_of_type(inner) is None or not arguments["scale"] > 0:
        raise refused(f"{record} on {inner}: scores that are no whole numbers, or no noise,")
    where = domains.answers(inner, domain)
    lowest = domains.numbers(inner)[0]
    gumbel = str(arguments["output_measure"]) == "ZeroConcentratedDivergence"
    made = laws.noisy_max(
        arguments["scale"], where.dimension, arguments["negate"], gumbel, str(record)
    )
    # Equal scores show nothing of the noise.
    first = np.minimum(np.arange(where.dimension), where.size_array - 1)
    return Adapted(
        made,
        terms_of(measurement, record, where, 1, delta),
        lambda data: measurement([int(x) + lowest for x in data]),
        datasets=(first, np.minimum(first[::-1] * 2, where.size_array - 1)),
    )


def _of_chain(
    measurement: Any, record: Record, domain: Domain | None, delta: float | None
) -> Adapted:
    second = record.arguments["measurement1"]
    noisy = record_of(second)
    noise = noise_of(noisy, second)
    if noisy.arguments.get("bounds") is not None:
        raise refused("make_geometric with bounds after a transformation")
    first = record.arguments["transformation0"]
    require_metric(measurement, "SymmetricDistance")
    if record_of(first).function == "make_count_by_categories":
        return _of_histogram(measurement, noisy, noise, record_of(first), domain, delta)
    last, inner, clamped = _after_clamp(first, str(measurement.input_domain))
    step: Chained = chained(last, first, inner, domain, clamped=clamped)
    terms = terms_of(measurement, noisy, step.domain, step.distance, delta)
    made = ShiftMechanism(step.statistic, noise, f"{step.name} >> {noisy}")
    kind = str(second.input_domain)
    return Adapted(made, terms, lambda data: measurement(step.records(data)), kind)


def _after_clamp(first: Any, inner: str) -> tuple[Record, str, bool]:
    """The step after a clamp, the records that it gets, and whether there is a clamp."""
    record = record_of(first)
    if record.function == "make_chain_tt":
        before, last = (record.arguments[f"transformation{k}"] for k in (0, 1))
        if record_of(before).function == "make_clamp":
            return record_of(last), str(last.input_domain), True
    return record, inner, False


def _of_histogram(
    measurement: Any,
    noisy: Record,
    noise: Noise,
    step: Record,
    domain: Domain | None,
    delta: float | None,
) -> Adapted:
    if "size=" in str(measurement.input_domain):
        raise refused("make_count_by_categories of a fixed number of records")
    categories = list(step.arguments["categories"])
    values = [*categories, *([no_category(categories)] if step.arguments["null_category"] else [])]
    where = domain or Hypergrid([2] * len(values))
    if not isinstance(where, Hypergrid) or where.dimension != len(values):
        raise domains.misfit(where, f"it counts {len(values)} kinds of records; give a Hypergrid")
    made = laws.noisy_vector(noise, where, 0, f"{step.function} >> {noisy}")
    return Adapted(
        made,
        terms_of(measurement, noisy, where, 1, delta),
        lambda data: tuple(
            measurement([v for v, n in zip(values, data, strict=True) for _ in range(int(n))])
        ),
        f"T={step.arguments['TOA']}",
    )
