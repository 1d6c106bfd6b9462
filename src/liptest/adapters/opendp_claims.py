"""Which OpenDP this is, and what its measurements claim."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import version
from typing import Any

from liptest.adapters.terms import library
from liptest.errors import InputError, check_non_negative, shown

#: The first version whose whole-number noise has the law that is claimed.
_RIGHT_NOISE = (0, 14, 2)


def require_measurement(measurement: Any) -> None:
    """InputError unless it is a measurement of an OpenDP that draws what it claims to draw."""
    if not isinstance(measurement, library("opendp", "opendp.mod").Measurement):
        raise InputError(
            f"measurement={shown(measurement)} is no OpenDP measurement; give what a constructor "
            f"of opendp.measurements returns",
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
        raise InputError(f"delta={shown(delta)} must be at least 0 and below 1", name="delta")
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
