"""What is answered: decisions, witnesses, guarantees and costs; frozen, printable, JSON.

The verdicts on mechanisms add to these in ``liptest.privacy.verdicts``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any, NoReturn, Self

import numpy as np

from liptest.data.points import from_array
from liptest.errors import InputError, shown
from liptest.lipschitz.oracles import as_oracle


class Decision(StrEnum):
    """ACCEPT/REJECT for functions, YES/NO for privacy, INCONCLUSIVE for both.

    Neither ACCEPT nor YES by sampling is a proof; INCONCLUSIVE promises nothing at all.
    """

    ACCEPT = "ACCEPT"
    REJECT = "REJECT"
    YES = "YES"
    NO = "NO"
    INCONCLUSIVE = "INCONCLUSIVE"


def rounded_up(mass: float) -> float:
    """A positive mass to four digits, never to less: what a sentence says must be certified."""
    unit = 10.0 ** (math.floor(math.log10(mass)) - 3)
    return math.ceil(mass / unit) * unit


def jsonable(value: Any) -> Any:
    """Plain JSON values: arrays to lists, Fractions to "p/q", infinities to "inf"."""
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    return value


class Record:
    """Mixin for frozen dataclasses: JSON both ways, checked keys."""

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        return {str(key): jsonable(item) for key, item in asdict(self).items()}  # type: ignore[call-overload]

    def to_json(self) -> str:
        """The fields as one JSON object."""
        return json.dumps(self.to_dict(), indent=1)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Inverse of ``to_dict``; InputError names an unknown or missing key."""
        if not isinstance(data, dict):
            raise InputError(f"{cls.__name__}: {shown(data)} is no JSON object")
        texts = {item.name: item.type == "str" for item in fields(cls)}  # type: ignore[arg-type]
        unknown = set(data) - set(texts)
        if unknown:
            raise InputError(
                f"{cls.__name__}: unknown key {min(map(str, unknown))!r}; known are "
                f"{', '.join(sorted(texts))}"
            )
        try:
            return cls(**{k: v if texts[k] else _restored(v) for k, v in data.items()})
        except TypeError as error:
            raise InputError(f"{cls.__name__}: {error}") from None

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Inverse of ``to_json``; InputError when the text is no JSON object of this kind."""
        try:
            data = json.loads(text)
        except ValueError as error:
            raise InputError(f"{cls.__name__}: not JSON: {error}") from None
        return cls.from_dict(data)


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_restored(item) for item in value)
    if value in ("inf", "-inf", "nan"):
        return float(value)
    return value


@dataclass(frozen=True)
class Cost(Record):
    """What a verdict cost.

    ``queries`` counts function evaluations asked for, ``laws`` output laws asked for (equal
    ones are computed once, but counted); ``repeats`` are extra evaluations that check that an
    answer stays the same. ``seconds`` is wall-clock time and differs from run to run.
    ``search_laws`` are the laws of a search (theory 3.10) after a sampled YES, on top of ``laws``,
    ``search_datasets`` the different datasets that a search looked at.
    """

    queries: int = 0
    laws: int = 0
    draws: int = 0
    pairs: int = 0
    repeats: int = 0
    seconds: float = 0.0
    search_laws: int = 0
    search_datasets: int = 0


@dataclass(frozen=True)
class Guarantee(Record):
    """Exactly what a verdict promises: one plain sentence and every number in it.

    ``kind`` is "proof", "sampling", "refutation" or "none"; ``source`` the theorem. A number
    that plays no part is None. ``not_covered`` lists coordinates about which it says nothing.
    """

    sentence: str
    kind: str
    source: str
    exception_mass: float | None = None
    failure_probability: float | None = None
    approximation_factor: float = 1.0
    epsilon: float | None = None
    delta: float | None = None
    tolerance: float = 0.0
    form: str = "neighbour"
    per_record: bool = False
    not_covered: tuple[int, ...] = ()
    condition: str = ""

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class QueryPlan(Record):
    """What a tester will do: ``queries`` function evaluations at most, in ``draws`` draws.

    A tester with a diameter stage first queries ``diameter_draws`` single points, which
    ``queries`` includes; ``draws`` is then its largest number of pairs, at the largest sample
    diameter that it does not reject. A rejection may add ceil(log2(diameter of the domain))
    queries, which narrow the violated pair to neighbours.
    """

    tester: str
    draws: int
    queries: int
    points_per_draw: float
    approximation_factor: float
    guarantee: str
    source: str
    diameter_draws: int = 0


@dataclass(frozen=True)
class Witness(Record):
    """Two points that prove a function is not Lipschitz: |value - neighbour_value| > limit.

    ``limit`` is lipschitz_constant * distance, tolerance included.
    """

    point: tuple[int, ...]
    neighbour: tuple[int, ...]
    value: float
    neighbour_value: float
    distance: int
    limit: float

    @property
    def difference(self) -> float:
        """|value - neighbour_value|."""
        return abs(self.value - self.neighbour_value)

    def verify(self, function: Any, domain: Any) -> bool:
        """Ask the function again; True when it still breaks the limit, decided exactly."""
        oracle = as_oracle(function, domain)
        points = domain.check_points([self.point, self.neighbour])
        if int(domain.distance(points[:1], points[1:])[0]) != self.distance:
            return False
        left, right = oracle.values(from_array(points))
        return abs(Fraction(float(left)) - Fraction(float(right))) > Fraction(self.limit)

    def __str__(self) -> str:
        moved = [
            i for i, (a, b) in enumerate(zip(self.point, self.neighbour, strict=True)) if a != b
        ]
        where = f"coordinate {moved[0]}" if len(moved) == 1 else f"{len(moved)} coordinates"
        return (
            f"two points that differ in {where}, distance {self.distance}: values "
            f"{self.value!r} and {self.neighbour_value!r}, difference {self.difference:.6g} > "
            f"{self.limit:.6g}; point {shown(list(self.point))}"
        )


def _decision(value: str) -> Decision:
    try:
        return Decision(value)
    except ValueError:
        raise InputError(
            f"decision={shown(value)} is none of {', '.join(Decision)}", name="decision"
        ) from None


@dataclass(frozen=True)
class LipschitzVerdict(Record):
    """The answer of ``check_lipschitz``.

    Decision.ACCEPT does not mean that the function is Lipschitz: see ``guarantee``.
    """

    decision: Decision
    function: str
    lipschitz_constant: float
    witness: Witness | None
    guarantee: Guarantee
    cost: Cost
    plan: QueryPlan
    seed: int
    largest_ratio: float
    reason: str = ""

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        if not isinstance(data, dict):
            return super().from_dict(data)
        parts = dict(data)
        restore: dict[str, Callable[[Any], Any]] = {
            "decision": _decision,
            "witness": Witness.from_dict,
            "guarantee": Guarantee.from_dict,
            "cost": Cost.from_dict,
            "plan": QueryPlan.from_dict,
        }
        if parts.get("witness") is None:
            del restore["witness"]
        parts.update({key: restore[key](parts[key]) for key in restore.keys() & parts.keys()})
        return super().from_dict(parts)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a verdict has no truth value (a REJECT would be true); compare "
            "verdict.decision == liptest.Decision.ACCEPT"
        )

    def __str__(self) -> str:
        lines = [
            f"{self.function}   claim: {self.lipschitz_constant:g}-Lipschitz",
            str(self.decision) + (f" - {self.reason}" if self.reason else ""),
            f"{self.plan.tester}: {self.cost.queries:,} values queried in {self.cost.draws:,} "
            f"draws, {self.cost.pairs:,} pairs compared, seed {self.seed}.",
        ]
        if self.witness is not None:
            lines.append(f"Witness: {self.witness}.")
        lines.append(f"Meaning: {self.guarantee}")
        return "\n".join(lines)
