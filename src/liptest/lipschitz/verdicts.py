"""Verdicts on functions: plan, witness and verdict; frozen, printable, JSON both ways."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from liptest.data.points import from_array
from liptest.errors import quote
from liptest.lipschitz.oracles import as_oracle
from liptest.verdicts import Cost, Decision, Guarantee, Number, Record, Text, Whole


@dataclass(frozen=True)
class QueryPlan(Record):
    """What a tester will do: ``queries`` function evaluations at most, in ``draws`` draws.

    A tester with a diameter stage first queries ``diameter_draws`` single points, which
    ``queries`` includes; ``draws`` is then its largest number of pairs, at the largest sample
    diameter that it does not reject. A rejection may add ceil(log2(diameter of the domain))
    queries, which narrow the violated pair to neighbours.
    """

    tester: Text
    draws: Whole
    queries: Whole
    points_per_draw: Number
    approximation_factor: Number
    guarantee: Text
    source: Text
    diameter_draws: Whole = 0


@dataclass(frozen=True)
class Witness(Record):
    """Two points that prove a function is not Lipschitz: |value - neighbour_value| > limit.

    ``limit`` is lipschitz_constant * distance, tolerance included.
    """

    point: tuple[Whole, ...]
    neighbour: tuple[Whole, ...]
    value: Number
    neighbour_value: Number
    distance: Whole
    limit: Number

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
            f"{self.limit:.6g}; point {quote(list(self.point))}"
        )


@dataclass(frozen=True)
class LipschitzVerdict(Record):
    """The answer of ``check_lipschitz``.

    Decision.ACCEPT does not mean that the function is Lipschitz: see ``guarantee``.
    """

    decision: Decision
    function: Text
    lipschitz_constant: Number
    witness: Witness | None
    guarantee: Guarantee
    cost: Cost
    plan: QueryPlan
    seed: Whole
    largest_ratio: Number
    reason: Text = ""

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a verdict has no truth value (a REJECT would be true); compare "
            "verdict.decision == 'ACCEPT'"
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
