"""What an OpenDP measurement says of itself: its record, its noise, its claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from liptest.adapters import opendp_domains as domains
from liptest.adapters.opendp_claims import claim
from liptest.adapters.opendp_domains import refused
from liptest.adapters.terms import Terms
from liptest.domains import Domain
from liptest.errors import InputError, shown
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.gaussian import DiscreteGaussian
from liptest.mechanisms.noise import DiscreteLaplace, Noise

_CALIBRATIONS = (
    "make_fix_delta",
    "make_zCDP_to_approxDP",
    "make_pureDP_to_zCDP",
    "make_approximate",
)
_NOISES: dict[str, Callable[[float], Noise]] = {
    "make_laplace": DiscreteLaplace,
    "make_geometric": DiscreteLaplace,
    "make_gaussian": DiscreteGaussian,
}
_BY_MEASURE: dict[str, Callable[[float], Noise]] = {
    "MaxDivergence": DiscreteLaplace,
    "ZeroConcentratedDivergence": DiscreteGaussian,
}


@dataclass(frozen=True)
class Record:
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


def record_of(made: Any) -> Record:
    """The record that OpenDP's Python object keeps of its constructor, or InputError."""
    kept = getattr(made, "__opendp_dict__", None)
    if not isinstance(kept, dict) or not {"__function__", "__kwargs__"} <= kept.keys():
        raise InputError(
            f"measurement: this {type(made).__name__} keeps no record of its constructor, so that "
            f"its law is not known; build it with OpenDP 0.16 or newer, in this process",
            name="measurement",
        )
    return Record(str(kept["__function__"]), dict(kept["__kwargs__"]))


def uncalibrated(measurement: Any) -> Any:
    """The measurement inside of conversions that change the claim alone."""
    while record_of(measurement).function in _CALIBRATIONS:
        measurement = record_of(measurement).arguments["measurement"]
    return measurement


def noise_of(record: Record, measurement: Any) -> Noise:
    """The noise that a measurement on whole numbers adds, or InputError."""
    made = _NOISES.get(record.function)
    if record.function == "make_noise":
        made = _BY_MEASURE.get(str(record.arguments["output_measure"]))
    if made is None:
        raise refused(record.function)
    if domains.ends_of_type(str(measurement.input_domain)) is None:
        raise refused(f"{record.function} on {measurement.input_domain}, which is no whole number")
    scale = record.arguments["scale"]
    if not scale > 0:
        raise refused(f"{record.function} with scale={scale}, which adds no noise,")
    return made(scale)


def terms_of(
    measurement: Any, record: Record, domain: Domain, distance: int, delta: float | None
) -> Terms:
    """Domain, claim of inputs at this distance, and where both come from."""
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


def no_category(categories: Sequence[Any]) -> Any:
    """A value of the type of the categories that is none of them."""
    if isinstance(categories[0], str):
        return "".join(categories) + "?"
    if isinstance(categories[0], bool):
        raise refused("a list of categories that are bools")
    return next(i for i in range(len(categories) + 1) if i not in categories)
