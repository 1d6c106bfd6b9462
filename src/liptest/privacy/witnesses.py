"""Witnesses against privacy claims, and outputs in JSON."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from liptest.errors import shown
from liptest.mechanisms.base import check_mechanism, through_densities
from liptest.mechanisms.laws import Output, Raised
from liptest.privacy.certify import Answer
from liptest.privacy.claims import Claim
from liptest.privacy.enclosures import Bounds
from liptest.privacy.pairs import certified_comparison
from liptest.verdicts import jsonable

#: {"dataset": choices, "neighbour": choices}: branches or weights, and the number chosen.
Trace = dict[str, list[dict[str, Any]]]


class Printed(str):
    """An output that JSON knows only by how it prints."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, repr=False)
class PrivacyWitness:
    """Two neighbouring datasets and an output that break the claim.

    Parameters
    ----------
    dataset, neighbour
        Whole-number tuples at ``distance`` (1 for neighbours).
    event
        The output that decides; for delta > 0 the set of outputs.
    probability, neighbour_probability
        Of the event, as floats; ``exact`` holds both as "p/q" or as a certified ball.
    loss_lower, loss_upper
        Certified enclosure of |ln probability - ln neighbour_probability|.
    excess
        For delta > 0: certified lower bound of mu(event) - e^epsilon' mu'(event).
    bounds
        For each output of the event: lower and upper bound of its probability, then of that on
        the neighbour, as text: "p/q" twice where it is exact, decimal numbers otherwise.
    unexplored
        Of both laws: mass that no output accounts for, which may lie on the event as well.
    trace
        Random choices that lead to the output on the dataset and on the neighbour, or None.
    """

    dataset: tuple[int, ...]
    neighbour: tuple[int, ...]
    event: tuple[Output, ...]
    probability: float
    neighbour_probability: float
    loss_lower: float
    loss_upper: float
    claim: Claim
    exact: tuple[str, str] = ("", "")
    excess: float = 0.0
    distance: int = 1
    bounds: tuple[Bounds, ...] = ()
    unexplored: tuple[str, str] = ("0", "0")
    trace: Trace | None = None

    @property
    def output(self) -> Output:
        """The output; for delta > 0 with several outputs, the tuple of them."""
        return self.event[0] if len(self.event) == 1 else self.event

    @property
    def loss(self) -> float:
        """The loss in floats, inf when an output is impossible on one side."""
        return self.loss_upper if math.isinf(self.loss_lower) else self.loss_lower

    @property
    def changed(self) -> tuple[int, ...]:
        """Coordinates in which the datasets differ."""
        pairs = enumerate(zip(self.dataset, self.neighbour, strict=True))
        return tuple(i for i, (a, b) in pairs if a != b)

    def __repr__(self) -> str:
        return (
            f"PrivacyWitness(dataset={shown(list(self.dataset))}, changed={self.changed}, "
            f"output={self.output!r}, probability={self.probability!r}, "
            f"neighbour_probability={self.neighbour_probability!r}, loss={self.loss!r})"
        )

    def verify(self, mechanism: Any) -> bool:
        """Ask the mechanism for both laws again; True when the claim is certainly broken."""
        checked = check_mechanism(mechanism)
        # The integer type of the test, where the mechanism's arithmetic may depend on it.
        kind = np.min_scalar_type(-1 - max(*self.dataset, *self.neighbour))
        left, right = (np.array(side, dtype=kind) for side in (self.dataset, self.neighbour))
        found = through_densities(
            checked,
            lambda seen: certified_comparison(seen, left, right, self.claim, self.distance),
        )
        return found.answer is Answer.VIOLATED

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; outputs in the notation of ``output_to_json``."""
        data = {item.name: jsonable(getattr(self, item.name)) for item in fields(self)}
        data["event"] = [output_to_json(output) for output in self.event]
        data["claim"] = self.claim.to_dict()
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PrivacyWitness:
        """Inverse of ``to_dict``."""
        parts = dict(data)
        parts["event"] = tuple(output_from_json(output) for output in parts["event"])
        parts["claim"] = Claim.from_dict(parts["claim"])
        for listed in ("exact", "unexplored", "dataset", "neighbour"):
            parts[listed] = tuple(parts[listed])
        parts["bounds"] = tuple(tuple(ends) for ends in parts["bounds"])
        for number in ("loss_lower", "loss_upper", "excess"):
            parts[number] = float(parts[number])
        return cls(**parts)


def output_to_json(output: Hashable) -> Any:
    """An output as JSON: scalars as they are, tuples and exceptions tagged, the rest by repr."""
    if isinstance(output, Printed):
        return {"repr": str(output)}
    if isinstance(output, tuple):
        return {"tuple": [output_to_json(item) for item in output]}
    if isinstance(output, Raised):
        return {"raised": output.exception}
    if isinstance(output, np.generic):
        return output_to_json(output.item())
    if isinstance(output, float) and not math.isfinite(output):
        return {"float": str(output)}
    if output is None or isinstance(output, (bool, int, float, str)):
        return output
    return {"repr": repr(output)}


def output_from_json(value: Any) -> Output:
    """Inverse of ``output_to_json``; outputs known only by repr come back as ``Printed``."""
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    [(kind, content)] = value.items()
    if kind == "tuple":
        return tuple(output_from_json(item) for item in content)
    if kind == "raised":
        return Raised(content)
    return float(content) if kind == "float" else Printed(str(content))
