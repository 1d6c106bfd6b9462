"""Which datasets OpenDP's domains and metrics stand for."""

from __future__ import annotations

import re
from typing import Any

from liptest.answers import AnswerGrid
from liptest.domains import Domain, Hypergrid
from liptest.errors import InputError

_TYPE = re.compile(r"\bT=([iu])(8|16|32|64|128|size)\b")


def refused(what: str) -> InputError:
    """The error of a measurement whose law is not known here."""
    return InputError(
        f"measurement: {what} has no closed form here; known are randomised response (bool, "
        f"categorical), make_noisy_max, and make_laplace, make_geometric, make_gaussian and "
        f"make_noise on whole numbers, alone or after a sum or counts. lt.check_samples tests any "
        f"measurement by its samples",
        name="measurement",
    )


def require_metric(measurement: Any, *known: str) -> None:
    """InputError when inputs are not as far apart as one of the known metrics says."""
    metric = str(measurement.input_metric)
    if metric.partition("(")[0] not in known:
        raise refused(f"the input metric {metric}")


def numbers(inner: str) -> tuple[int, Domain | None]:
    """Lower bound of each number of a domain as OpenDP prints it, and the smallest datasets."""
    low, high = bounds_of(inner) or (0, 1)
    size = re.search(r"size=(\d+)", inner)
    if inner.startswith("AtomDomain"):
        return low, Hypergrid([high - low + 1])
    return low, Hypergrid([min(high - low + 1, 2)] * int(size.group(1))) if size else None


def bounds_of(inner: str) -> tuple[int, int] | None:
    """Least and largest whole number of a domain as OpenDP prints it, where it has bounds."""
    found = re.search(r"bounds=\[(-?\d+), (-?\d+)\]", inner)
    return (int(found[1]), int(found[2])) if found else None


def ends_of_type(inner: str) -> tuple[int, int] | None:
    """The ends at which the whole-number type of a domain clips; None for other types."""
    found = _TYPE.search(inner)
    if found is None:
        return None
    bits = 64 if found[2] == "size" else int(found[2])
    return (0, 2**bits - 1) if found[1] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def answers(inner: str, given: Domain | None) -> Domain:
    """The vectors of scores of a selection; InputError unless every score may move by 1."""
    low, default = numbers(inner)
    within = bounds_of(inner)
    if given is None and within and default is not None:
        given = AnswerGrid([within[1] - low + 1] * default.dimension, relation="all")
    if given is None:
        raise InputError(
            "domain=None: the scores have no bounds, or there is any number of them; give "
            "domain=, such as AnswerGrid([5, 5, 5], relation='all')",
            name="domain",
        )
    if not (isinstance(given, AnswerGrid) and "every" in given.relation):
        raise misfit(given, "its metric asks for an AnswerGrid with relation='all'")
    _fits(given, default, inner)
    return given


def chosen(given: Domain | None, inner: str, kind: type[Domain]) -> Domain:
    """The domain that was given, or the smallest that shows all pairs of the noise."""
    default = numbers(inner)[1]
    found = given or default
    if found is None:
        raise InputError(
            "domain=None: the measurement takes vectors of any length; give domain=, such as "
            "Hypergrid([10, 10, 10])",
            name="domain",
        )
    if not isinstance(found, kind):
        raise misfit(found, f"its metric asks for a {kind.__name__}")
    _fits(found, default, inner)
    return found


def _fits(domain: Domain, default: Domain | None, inner: str) -> None:
    within = bounds_of(inner)
    if default is not None and default.dimension != domain.dimension:
        raise misfit(domain, f"it has {default.dimension} numbers")
    if within and max(domain.sizes) > within[1] - within[0] + 1:
        raise misfit(domain, f"its numbers are {within[0]} .. {within[1]}")


def misfit(domain: Domain, why: str) -> InputError:
    """The error of a domain that is not the measurement's."""
    return InputError(f"domain={domain} does not fit the measurement: {why}", name="domain")
