"""Outputs with whole numbers that have noise without an end: what a leaf with such an output is.

A number is slope * k + shift, where k is a sum of discrete noise, or a sum that was rounded, or the
float that is nearest. It is told by m, where the number is step * m + offset; the step and offset
are part of the description of the output. Leaves are counted one by one, with exact weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from flint import arb

from liptest.enumerate.numbers.noise_outputs import (
    list_entries,
    noisy_in,
    replace_values,
    with_entries,
)
from liptest.enumerate.samplers.restarts import RestartingTree
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.enumerate.trees.sums import LawSum
from liptest.errors import MechanismError
from liptest.mechanisms.laws import Output
from liptest.symbolic.elimination import normalise
from liptest.symbolic.forms import Constraint, Form
from liptest.symbolic.noise import Noise
from liptest.values.draws.noise_run import NoiseRun, NoisyValue, WholeValue, nearest_number

#: Leaves of a law: what has more is enumerated value by value.
MOST_LEAVES = 1 << 12


@dataclass(frozen=True)
class Whole:
    """In the place of such a number where an output is described: step * m + offset, any m.

    It is the float that is nearest where these are not whole.
    """

    step: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    def __repr__(self) -> str:
        if self.step == 1 and not self.offset:
            return "whole number"
        added = f" + {self._short(self.offset)}" if self.offset else ""
        return f"{self._short(self.step)} * whole number{added}"

    @staticmethod
    def _short(number: Fraction) -> str:
        return str(nearest_number(number))

    @property
    def is_exact(self) -> bool:
        """Whether its numbers are whole, not floats that are nearest."""
        return self.step.denominator == self.offset.denominator == 1

    def number(self, m: int) -> int | float:
        """The one of m."""
        number = self.step * m + self.offset
        return int(number) if self.is_exact else float(number)

    def find(self, number: object) -> int | None:
        """The m of a plain number; None where it is not one of these."""
        if not isinstance(number, (int, float)) or not math.isfinite(number):
            return None
        m = round((Fraction(number) - self.offset) / self.step)
        return m if self.number(m) == number else None

    def meets(self, other: Whole) -> bool:
        """Whether both may have a number in common; True where that is not known."""
        if not (self.is_exact and other.is_exact):
            return True
        gap, common = self.offset - other.offset, math.gcd(int(self.step), int(other.step))
        return gap % common == 0


@dataclass(frozen=True)
class WholePlace:
    """m = sign * (form, rounded as ``how``) + shift."""

    form: Form
    how: str
    sign: int
    shift: int


@dataclass(frozen=True)
class WholeLeaf:
    """An output with ``Whole`` in its places, what led to it, and its weight.

    The weight is that of all choices that have one; ``number`` tells equal leaves apart.
    ``rounding`` is how far, in total variation, what was drawn may be from what the code draws.
    """

    skeleton: Output
    places: tuple[WholePlace, ...]
    noises: tuple[Noise, ...]
    constraints: tuple[Constraint, ...]
    weight: Fraction
    number: int
    rounding: Fraction = Fraction(0)


class WholeTree(RestartingTree):
    """Keeps whole numbers with noise in outputs; its law is of leaves."""

    __slots__ = ()

    keeps_whole = True

    def law(self, run: Callable[[], Output]) -> dict[Output, Fraction] | dict[Output, arb]:
        """The law that ``ChoiceTree.law`` gives, with leaves for outputs."""
        self.sum = _LeafSum(self)
        return super().law(run)

    def _leaf_of(self, output: Output) -> Output:
        return output


class WholeSeen(MechanismError):
    """Ends a walk that looks for whole numbers without an end, and says whether there are any."""

    def __init__(self, name: str, *, is_seen: bool) -> None:
        super().__init__(f"{name}: whether it answers whole numbers with noise is known")
        self.is_seen = is_seen


class SeeingTree(WholeTree):
    """Looks at the outputs of some runs, weighs and repeats none, and ends with ``WholeSeen``."""

    __slots__ = ()

    def law(self, run: Callable[[], Output]) -> NoReturn:
        """Raises ``WholeSeen``, or what the runs raise."""
        self.sum = _SeeingSum(self)
        ChoiceTree.law(self, run)
        raise WholeSeen(self.name, is_seen=False)


class _LeafSum(LawSum):
    """Every run is a leaf of its own."""

    __slots__ = ("_leaves", "_tree")

    def __init__(self, tree: WholeTree) -> None:
        super().__init__()
        self._tree = tree
        self._leaves = 0

    def add_leaf(
        self, run: NoiseRun | None, output: Output, numerator: int, denominator: int
    ) -> None:
        weight = Fraction(numerator, denominator)
        self._leaves += 1
        leaf = _leaf(self._tree, run, output, weight, self._leaves)
        mass = arb(1) if run is None or not run.constraints else run.probability()
        self.with_balls().add(leaf, weight, mass)


class _SeeingSum(_LeafSum):
    """Gives up at the first leaf with whole numbers without an end."""

    __slots__ = ()

    def add_leaf(
        self, run: NoiseRun | None, output: Output, numerator: int, denominator: int
    ) -> None:
        if has_no_end(_leaf(self._tree, run, output, Fraction(numerator, denominator), 0)):
            self._tree.fail(WholeSeen(self._tree.name, is_seen=True))


def _leaf(
    tree: WholeTree, run: NoiseRun | None, output: Output, weight: Fraction, number: int
) -> WholeLeaf:
    noises = () if run is None else tuple(run.noises)
    constraints = () if run is None else run.constraints
    places = []
    for noisy in noisy_in(tree, output):
        if not isinstance(noisy, WholeValue):
            tree.forbid("whole numbers beside continuous random numbers", "round these too")
        sign = 1 if noisy.slope > 0 else -1
        offset = noisy.shift % abs(noisy.slope)
        places.append(
            WholePlace(noisy.form, noisy.how, sign, (noisy.shift - offset) // abs(noisy.slope))
        )
    skeleton = replace_values(output, _describe)
    rounding = Fraction(0) if run is None else run.rounding
    return WholeLeaf(skeleton, tuple(places), noises, constraints, weight, number, rounding)


def _describe(one: NoisyValue) -> Whole:
    assert isinstance(one, WholeValue)
    return Whole(abs(one.slope), one.shift % abs(one.slope))


def parts_of_whole(leaf: WholeLeaf) -> tuple[tuple[int, ...], Hashable]:
    """The whole number that is added to each place, and all else of the leaf.

    Whole numbers are added after rounding as well as before, ties apart, which continuous noise
    never meets.
    """
    wholes, rests = [], []
    for place in leaf.places:
        whole = math.floor(place.form.constant)
        wholes.append(place.sign * whole + place.shift)
        rest = Fraction(place.form.constant) - whole
        rests.append((place.form.terms, rest, place.how, place.sign))
    return tuple(wholes), (tuple(rests), leaf.noises, leaf.constraints, leaf.weight)


def has_no_end(leaf: WholeLeaf) -> bool:
    """Whether a leaf has whole numbers, and not only rounded ones between two known ends."""
    for place in leaf.places:
        terms = place.form.terms
        if place.how == "exact" or not terms:
            return True
        form = normalise(terms, False)[0]
        inside = [constraint for constraint in leaf.constraints if constraint.terms == form]
        if all(constraint.low is None for constraint in inside) or all(
            constraint.high is None for constraint in inside
        ):
            return True
    return False


def numbers_within(one: Output, other: Output) -> list[int | None] | None:
    """What the places of another description are for the outputs of one; None within a place.

    None altogether where it is not within the other.
    """
    if isinstance(other, Whole):
        if one == other:
            return [None]
        m = other.find(one)
        if m is not None:
            return [m]
        return None
    parts, others = list_entries(one), list_entries(other)
    if parts is None or others is None:
        return [] if one == other else None
    if len(parts) != len(others) or with_entries(one, list(others)) != other:
        return None
    numbers: list[int | None] = []
    for part, its in zip(parts, others, strict=True):
        inner = numbers_within(part, its)
        if inner is None:
            return None
        numbers += inner
    return numbers


def may_meet(one: Output, other: Output) -> bool:
    """Whether some output may be of both descriptions."""
    if isinstance(one, Whole) or isinstance(other, Whole):
        if isinstance(one, Whole) and isinstance(other, Whole):
            return one.meets(other)
        place, plain = (one, other) if isinstance(one, Whole) else (other, one)
        return isinstance(place, Whole) and place.find(plain) is not None
    parts, others = list_entries(one), list_entries(other)
    if parts is None or others is None:
        return one == other
    same = len(parts) == len(others) and with_entries(one, list(others)) == other
    return same and all(may_meet(*pair) for pair in zip(parts, others, strict=True))


def number_output(skeleton: Output, numbers: tuple[int, ...]) -> Output:
    """The output with numbers in its places."""
    left = iter(numbers)

    def fill(part: Output) -> Any:
        if isinstance(part, Whole):
            return part.number(next(left))
        entries = list_entries(part)
        return part if entries is None else with_entries(part, [fill(entry) for entry in entries])

    output: Output = fill(skeleton)
    return output
