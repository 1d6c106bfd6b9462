"""Laws of outputs whose parts are independent: products of factors, compared factor by factor.

Of two laws of one structure the factors that both have drop out. What is left tells the two apart
by the ratio of their probabilities alone, and outputs of one ratio may be counted as one: every
divergence stays what it is (docs/theory/records.md, P5). So the law of 128 random bits, of which
neighbours change 16, is one of a few dozen outputs.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from liptest.errors import LiptestError, UnsupportedForm
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.declared import ExactForm
from liptest.mechanisms.laws import Output

#: Outputs of several parts together, and of two laws that are compared.
MOST_TOGETHER = 4_096
#: Up to so many outputs are listed each by itself.
FEW = 64
Outcomes = tuple[Output, ...]


@dataclass(frozen=True)
class PartPlace:
    """In the place of a part where an output is described."""

    number: int


@dataclass(frozen=True)
class ListOfParts:
    """A list or an array of parts, where the type counts."""

    kind: str
    parts: Output

    def __repr__(self) -> str:
        return f"{self.kind}({self.parts!r})"


@dataclass(frozen=True)
class Anything:
    """In the place of a part that both laws have alike: whatever it is."""

    def __repr__(self) -> str:
        return "any"


@dataclass(frozen=True)
class OneOf:
    """An output that stands for others, so many in all, which tell two laws apart as it does."""

    output: Output
    count: int

    def __repr__(self) -> str:
        return f"{self.output!r} or one of {self.count - 1:,} alike"


@dataclass(frozen=True)
class PartsLaw:
    """What the parts at some places are together, independent of all others."""

    places: tuple[int, ...]
    law: frozenset[tuple[Outcomes, Fraction]]

    @classmethod
    def of(cls, places: tuple[int, ...], law: dict[Outcomes, Fraction]) -> PartsLaw:
        """From probabilities by outcomes; outcomes of probability 0 are left out."""
        return cls(places, frozenset((key, mass) for key, mass in law.items() if mass))


@dataclass(frozen=True)
class ProductLaw:
    """Outputs of one structure: ``skeleton`` with a ``PartPlace`` for each part."""

    skeleton: Output
    factors: tuple[PartsLaw, ...]

    @property
    def size(self) -> int:
        """How many outputs there are."""
        return math.prod(len(factor.law) for factor in self.factors)

    def probability(self, found: Outcomes) -> Fraction:
        """The probability of an output with these parts."""
        masses = (
            dict(factor.law).get(tuple(found[place] for place in factor.places), Fraction(0))
            for factor in self.factors
        )
        return math.prod(masses, start=Fraction(1))


def take_together(factors: list[PartsLaw], places: tuple[int, ...]) -> PartsLaw:
    """Several factors as one, over these places."""
    if math.prod(len(factor.law) for factor in factors) > MOST_TOGETHER:
        raise UnsupportedForm("parts of an output that depend on each other in too many ways")
    law: dict[Outcomes, Fraction] = {}
    for chosen in product(*(factor.law for factor in factors)):
        at = {
            place: outcome
            for factor, (outcomes, _) in zip(factors, chosen, strict=True)
            for place, outcome in zip(factor.places, outcomes, strict=True)
        }
        mass = math.prod((mass for _, mass in chosen), start=Fraction(1))
        key = tuple(at[place] for place in places)
        law[key] = law.get(key, Fraction(0)) + mass
    return PartsLaw.of(places, law)


def merge(leaves: list[tuple[Fraction, ProductLaw]]) -> ProductLaw | None:
    """A mixture of products as one product; None where they differ in too many parts.

    What all of them have alike stays as it is, what they differ in becomes one factor.
    """
    leaves = _merge_by_one(leaves)
    if len(leaves) == 1:
        return leaves[0][1]
    first = leaves[0][1]
    if any(law.skeleton != first.skeleton for _, law in leaves):
        return None
    same = set(first.factors).intersection(*(law.factors for _, law in leaves))
    rest = [[factor for factor in law.factors if factor not in same] for _, law in leaves]
    places = tuple(sorted(place for factor in rest[0] for place in factor.places))
    total: dict[Outcomes, Fraction] = {}
    for (weight, _), factors in zip(leaves, rest, strict=True):
        try:
            together = take_together(factors, places)
        except UnsupportedForm:
            return None
        for key, mass in together.law:
            total[key] = total.get(key, Fraction(0)) + weight * mass
    kept = [factor for factor in first.factors if factor in same]
    return ProductLaw(first.skeleton, (*kept, PartsLaw.of(places, total)))


def _merge_by_one(leaves: list[tuple[Fraction, ProductLaw]]) -> list[tuple[Fraction, ProductLaw]]:
    """Leaves that differ in one factor become one, as long as there are such."""
    widest = max(len(law.factors) for _, law in leaves)
    count = 0
    while count != len(leaves) > 1:
        count = len(leaves)
        for number in range(widest):
            leaves = list(_merge_at(number, leaves))
    return leaves


def _merge_at(
    number: int, leaves: list[tuple[Fraction, ProductLaw]]
) -> Iterator[tuple[Fraction, ProductLaw]]:
    alike: dict[Hashable, list[tuple[Fraction, ProductLaw]]] = {}
    for weight, law in leaves:
        if number >= len(law.factors):
            alike.setdefault((weight, law), []).append((weight, law))
            continue
        others = law.factors[:number] + law.factors[number + 1 :]
        key: Hashable = (law.skeleton, law.factors[number].places, others)
        alike.setdefault(key, []).append((weight, law))
    for several in alike.values():
        if len(several) == 1:
            yield several[0]
            continue
        total, law = sum((weight for weight, _ in several), Fraction(0)), several[0][1]
        masses: dict[Outcomes, Fraction] = {}
        for weight, one in several:
            for key, mass in one.factors[number].law:
                masses[key] = masses.get(key, Fraction(0)) + mass * weight / total
        mixed = PartsLaw.of(law.factors[number].places, masses)
        factors = (*law.factors[:number], mixed, *law.factors[number + 1 :])
        yield total, ProductLaw(law.skeleton, factors)


#: The factors in which two laws differ, each with that of the other law at the same places.
Differences = list[tuple[PartsLaw, PartsLaw]]


def differences(left: ProductLaw, right: ProductLaw) -> Differences:
    """The factors in which two laws of one structure differ, over the same places."""
    if left.skeleton != right.skeleton:
        raise UnsupportedForm("outputs whose structure depends on the record")
    both = set(left.factors) & set(right.factors)
    one, other = ([f for f in law.factors if f not in both] for law in (left, right))
    group: dict[int, set[int]] = {}
    for factor in (*one, *other):
        together = set(factor.places).union(*(group.get(place, set()) for place in factor.places))
        group |= dict.fromkeys(together, together)
    pairs: Differences = []
    for places in {min(together): tuple(sorted(together)) for together in group.values()}.values():
        sides = ([f for f in side if f.places[0] in places] for side in (one, other))
        pairs.append(tuple(take_together(side, places) for side in sides))  # type: ignore[arg-type]
    return [(p, q) for p, q in pairs if p.law != q.law]


def _compare(
    left: ProductLaw, right: ProductLaw, source: str, values: tuple[int, int]
) -> ExactForm:
    """Two laws by what tells them apart, as a mechanism of datasets of one record.

    ``values`` are the records that have these laws. Raises UnsupportedForm.
    """
    pairs = differences(left, right)
    listed = math.prod(len({key for law in pair for key, _ in law.law}) for pair in pairs)
    cells: dict[Any, Any] = {(): (Fraction(1), Fraction(1), {}, 1)}
    for pair in pairs:
        cells = _times(cells, pair, is_merged=listed > FEW)
    outputs, rows = [], {value: list[Fraction]() for value in values}
    for p, q, told, count in cells.values():
        output = describe_parts(left.skeleton, told)
        outputs.append(output if count == 1 else OneOf(output, count))
        rows[values[0]].append(p)
        rows[values[1]].append(q)
    mechanism = ExactForm(tuple(outputs), lambda record: rows[int(record[0])], "one record")
    object.__setattr__(mechanism, "source", source)
    return mechanism


def comparable(mechanism: Mechanism, left: int, right: int) -> Mechanism:
    """What compares two values of a record: by the parts of their outputs, if these come apart."""
    try:
        if mechanism.product_law(0).size <= FEW:
            return mechanism
        pair = min(left, right), max(left, right)
        return make_pair(mechanism, pair, pair)
    except LiptestError:
        return mechanism


def make_pair(mechanism: Mechanism, pair: tuple[int, int], values: tuple[int, int]) -> Mechanism:
    """Two records by what tells them apart, as ``values``. Raises a LiptestError."""
    laws = [mechanism.product_law(value) for value in pair]
    return _compare(laws[0], laws[1], mechanism.law_source, values)


def _times(
    cells: dict[Any, Any], pair: tuple[PartsLaw, PartsLaw], *, is_merged: bool
) -> dict[Any, Any]:
    """All that was told before together with one more factor; of one ratio as one."""
    places, (one, other) = pair[0].places, (dict(factor.law) for factor in pair)
    more: dict[Any, Any] = {}
    zero = Fraction(0)
    for key, (p, q, told, count) in cells.items():
        for outcomes in sorted({*one, *other}, key=repr):
            mine, its = p * one.get(outcomes, zero), q * other.get(outcomes, zero)
            if not mine and not its:
                continue
            at = (mine / its if its else None) if is_merged else (*key, outcomes)
            if at not in more:
                more[at] = mine, its, told | dict(zip(places, outcomes, strict=True)), count
            else:
                left, right, first, before = more[at]
                more[at] = left + mine, right + its, first, before + count
    if len(more) > MOST_TOGETHER:
        raise UnsupportedForm("outputs with too many different ratios of probabilities")
    return more


def describe_parts(skeleton: Output, told: dict[int, Output]) -> Output:
    """An output of which some parts are known."""
    if isinstance(skeleton, PartPlace):
        return told.get(skeleton.number, Anything())
    if isinstance(skeleton, ListOfParts):
        return ListOfParts(skeleton.kind, describe_parts(skeleton.parts, told))
    if type(skeleton) is tuple:
        return tuple(describe_parts(part, told) for part in skeleton)
    return skeleton
