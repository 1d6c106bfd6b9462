"""Independent Bernoulli variables of one run: what is known of them, and of their sums.

A variable has whole-number weights and is free, known, or in a group: variables of which the sum
of a function of them is known to be one of some totals (``sum_laws.SumLaw``). Every question
chooses in the tree by exact weights given all that was answered before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from liptest.errors import BudgetError
from liptest.values.binary.truth_tables import TruthTables
from liptest.values.branching import Branching, make_used_again_error
from liptest.values.draws.grid import split_weights
from liptest.values.draws.interval_points import IntervalPoints

if TYPE_CHECKING:
    from liptest.values.binary.sum_laws import SumLaw
    from liptest.values.binary.sum_rows import Row, Rows

# Kept: while a program is analysed the names may stand for something else.
_NONZERO, _LARGER = np.nonzero, np.maximum
# Of outcomes of a probability below 2**-_LIGHT no budget allows as many as matter.
_LIGHT = 44


@dataclass(eq=False)
class Group:
    """Variables, by places, of which a sum is known in part; ``origin`` is of what, as it began."""

    law: SumLaw
    variables: NDArray[np.int64]
    origin: bytes | None = None

    def total(self) -> int:
        """The one exponent that the sum has."""
        (exponent,) = self.law.allowed
        return exponent


@dataclass(frozen=True)
class Match:
    """Rows of a sum that are ``shift + slope * exponent`` of some parts of a group."""

    group: int
    numbers: tuple[int, ...]
    slope: Fraction
    shift: Fraction

    def value(self, exponent: int) -> int:
        """Of the rows, where the exponents of the parts add up to this."""
        return int(self.shift + self.slope * exponent)


class BernoulliVariables:
    """All variables of one run; ``of(branching)`` gives those of the run that is under way."""

    def __init__(self, tree: Branching) -> None:
        self.tree = tree
        self.zeros = np.empty(0, dtype=np.int64)
        self.ones = np.empty(0, dtype=np.int64)
        self.known = np.empty(0, dtype=np.int8)
        self._group = np.empty(0, dtype=np.int32)
        self._place = np.empty(0, dtype=np.int32)
        self._groups: list[Group] = []
        self._sampled: NDArray[np.int8] | None = None
        #: Whether any variable is known.
        self.some_known = False

    @classmethod
    def of(cls, tree: Branching) -> BernoulliVariables:
        """The variables of the run that is under way."""
        if tree.bits is None:
            tree.bits = cls(tree)
        variables: BernoulliVariables = tree.bits
        return variables

    def new(self, zeros: NDArray[np.int64], ones: NDArray[np.int64]) -> NDArray[np.int64]:
        """New variables with these weights of 0 and 1; their identities."""
        first, count = len(self.known), len(zeros)
        self.zeros = np.concatenate([self.zeros, zeros])
        self.ones = np.concatenate([self.ones, ones])
        bits = np.where(ones == 0, 0, np.where(zeros == 0, 1, -1))
        self.some_known = self.some_known or bool((bits >= 0).any())
        self.known = np.concatenate([self.known, bits.astype(np.int8)])
        self._group = np.concatenate([self._group, np.full(count, -1, dtype=np.int32)])
        self._place = np.concatenate([self._place, np.zeros(count, dtype=np.int32)])
        return np.arange(first, first + count)

    def check_current(self) -> None:
        """Abort where a variable of an earlier run is used."""
        if self.tree.bits is not self:
            self._stale()

    def _stale(self) -> NoReturn:
        self.tree.fail(make_used_again_error(self.tree.name))

    def current(self, entries: TruthTables) -> TruthTables:
        """Entries with all that is known."""
        self.check_current()
        return entries.given(self.known) if self.some_known else entries

    def resolve(self, variable: int) -> int:
        """The bit of a variable, chosen where it is not known."""
        self.check_current()
        if self.known[variable] >= 0:
            return int(self.known[variable])
        if self._group[variable] >= 0:
            bit = self._resolve_in_group(variable)
        else:
            weights = split_weights(int(self.zeros[variable]), int(self.ones[variable]))
            bit = self.tree.choose(weights)
        self.known[variable] = bit
        self._group[variable] = -1
        self.some_known = True
        return bit

    def _resolve_in_group(self, variable: int) -> int:
        group, place = self._groups[self._group[variable]], int(self._place[variable])
        number = group.law.owners[place]
        weights = group.law.weights_of(number, place)
        # What the sum determines is not a choice.
        bit = self.tree.choose(weights) if all(weights) else int(weights[0] == 0)
        group.law, group.origin = group.law.given(number, place, bit), None
        return bit

    def are_ungrouped(self, variables: NDArray[np.int64]) -> bool:
        """Whether no sum of these is known."""
        return not bool((self._group[variables] >= 0).any())

    def are_free(self, variables: NDArray[np.int64]) -> bool:
        """Whether nothing is known of these."""
        return self.are_ungrouped(variables) and not bool((self.known[variables] >= 0).any())

    def are_fair(self, variables: NDArray[np.int64]) -> bool:
        """Whether these are different ones, as often 0 as 1, of which nothing is known."""
        if (variables < 0).any() or len(np.unique(variables)) < len(variables):
            return False
        are_even = bool((self.zeros[variables] == self.ones[variables]).all())
        return are_even and self.are_free(variables)

    def largest_share(self, variables: NDArray[np.int64], are_ones: NDArray[Any]) -> Fraction:
        """The largest probability that one is 1, or 0 where that is wanted."""
        zeros, ones = self.zeros[variables], self.ones[variables]
        if (
            (zeros == zeros[0]).all()
            and (ones == ones[0]).all()
            and (are_ones == are_ones[0]).all()
        ):
            zeros, ones, are_ones = zeros[:1], ones[:1], are_ones[:1]
        pairs = zip(zeros.tolist(), ones.tolist(), strict=True)
        kinds = set(zip(pairs, are_ones.tolist(), strict=True))
        return max(Fraction(ends[bool(is_one)], sum(ends)) for ends, is_one in kinds)

    def draw(self, variables: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Draw bits that are free, at a point: without choices in the tree."""
        open_variables = find_distinct(variables)
        open_variables = open_variables[self.known[open_variables] < 0]
        weight = self.ones[open_variables] / (
            self.zeros[open_variables] + self.ones[open_variables].astype(np.float64)
        )
        self.known[open_variables] = rng.random(len(open_variables)) < weight
        self.some_known = self.some_known or len(open_variables) > 0

    def _are_hopeless(self, variables: list[int]) -> bool:
        """Whether all outcomes that a budget allows have next to no probability together."""
        if len(variables) <= _LIGHT or not self.tree.walks_all:
            return False
        zeros = self.zeros[variables].astype(np.float64)
        ones = self.ones[variables].astype(np.float64)
        return bool(-np.log2(_LARGER(zeros, ones) / (zeros + ones)).sum() > _LIGHT)

    def resolve_all(self, variables: Iterable[int]) -> None:
        """Choose all of some variables, in their order."""
        unknown = [variable for variable in variables if self.known[variable] < 0]
        are_hopeless = self._are_hopeless(unknown)
        if are_hopeless and not self.tree.depth:  # nothing else is in any other run
            self.tree.fail(_too_many_bits(self.tree, len(unknown)))
        if are_hopeless or len(unknown) > self.tree.max_choices:
            self.tree.leave_out()
        for variable in unknown:
            self.resolve(variable)

    def decide(
        self, entries: TruthTables, key: Hashable, function: Callable[[int], Hashable]
    ) -> int:
        """Choose what a function of the sum of entries, whole numbers, is.

        ``key`` stands for the function. Returns one of the totals that lead to its result.
        """
        from liptest.values.binary.sum_rows import rows_of_tables

        constant = 0
        while True:
            rows = rows_of_tables(self.current(entries.flat()))
            if isinstance(rows, int):
                self.resolve(rows)
                continue
            constant += rows.constant
            whole = self._whole_group(rows)
            if whole is not None:
                shifted = replace(whole, shift=whole.shift + constant)
                return self._choose(shifted, key, function)
            if not len(rows.variables):
                return constant
            settled, entries = self._settle_groups(rows)
            constant += settled

    def _choose(self, match: Match, key: Hashable, function: Callable[[int], Hashable]) -> int:
        """Choose among the results of a function of a whole group; a value that leads to it."""
        group = self._groups[match.group]
        outcomes = group.law.outcomes(
            (match.slope, match.shift, key), lambda exponent: function(match.value(exponent))
        )
        taken = self.tree.choose(outcomes.weights) if len(outcomes.weights) > 1 else 0
        group.law = group.law.restricted(outcomes.allowed[taken])
        return match.value(outcomes.allowed[taken][0])

    def _whole_group(self, rows: Rows) -> Match | None:
        """The group that the rows are, a new one where all variables are free."""
        groups = np.unique(self._group[rows.variables])
        if len(groups) != 1:
            return None
        if groups[0] < 0:
            return self._new_group(rows)
        group = self._groups[groups[0]]
        if group.origin == rows.origin():
            return Match(int(groups[0]), (), Fraction(group.law.step), Fraction(group.law.low))
        match = self._match(int(groups[0]), rows.listed())
        return match if match and len(match.numbers) == len(group.law.parts) else None

    def _new_group(self, rows: Rows) -> Match | None:
        from liptest.values.binary.sum_laws import sum_law

        law = sum_law(rows.key(self.zeros, self.ones))
        if law is None:
            return None
        self._add_group(Group(law, rows.variables, rows.origin()), np.arange(len(rows.variables)))
        return Match(len(self._groups) - 1, (), Fraction(law.step), Fraction(law.low))

    def _add_group(self, group: Group, places: Any) -> None:
        self._group[group.variables[places]] = len(self._groups)
        self._place[group.variables[places]] = places
        self._groups.append(group)

    def _settle_groups(self, rows: Rows) -> tuple[int, TruthTables]:
        """Choose the sums of all rows in groups; their total, and the rows that are left."""
        from liptest.values.binary.sum_rows import Rows

        by_group: dict[int, list[Row]] = {}
        for row in rows.listed():
            by_group.setdefault(self._common_group(row), []).append(row)
        total, left = 0, by_group.pop(-1, [])
        if not by_group:  # too many totals
            self.resolve_all(rows.variables.tolist())
        for number, some in by_group.items():
            match = self._match(number, some) if number >= 0 else None
            if match is None:
                self.resolve_all(variable for row in some for variable in row.variables)
                left += some
            else:
                total += self._part_of_group(match)
        return total, Rows.of(left).entries()

    def _common_group(self, row: Row) -> int:
        """The group of all its variables; -2 where they are in several."""
        groups = {int(self._group[variable]) for variable in row.variables}
        return groups.pop() if len(groups) == 1 else -2

    def _match(self, number: int, rows: list[Row]) -> Match | None:
        """Rows as parts of a group, if they are that except for one factor."""
        group = self._groups[number]
        numbers, slope, shift = [], None, Fraction(0)
        for row in rows:
            part_number = group.law.owners[int(self._place[row.variables[0]])]
            part = group.law.parts[part_number]
            values = row.values_by([int(group.variables[place]) for place in part.places])
            if values is None:
                return None
            line = _line_through(part.exponents, values, slope)
            if line is None:
                return None
            slope, shift = line[0], shift + line[1]
            numbers.append(part_number)
        assert slope is not None
        return Match(number, tuple(sorted(numbers)), slope, shift)

    def _part_of_group(self, match: Match) -> int:
        """Choose the sum of some parts of a group, which become a group of their own."""
        group = self._groups[match.group]
        identity = Match(match.group, (), Fraction(1), Fraction(0))
        self._choose(identity, "exponent", lambda exponent: exponent)
        if len(match.numbers) == len(group.law.parts):
            return match.value(group.total())
        split = group.law.split(match.numbers)
        taken = self.tree.choose(split.weights) if len(split.weights) > 1 else 0
        some, group.law = group.law.halves(match.numbers, split.results[taken])
        group.origin = None
        places = [place for part in some.parts.values() for place in part.places]
        self._add_group(Group(some, group.variables), np.array(places))
        return match.value(split.results[taken])

    def forget_point(self) -> None:
        """Let ``sample`` choose anew."""
        self._sampled = None

    def sample(self, point_in: Callable[[int, int], int]) -> NDArray[np.int8]:
        """Bits of all variables that are possible, chosen by ``point_in(start, stop)``.

        The same each time, until they are forgotten.
        """
        if self._sampled is None:
            bits = self.known.copy()
            for group in self._groups:
                for place, bit in group.law.sample(point_in).items():
                    bits[group.variables[place]] = bit
            unknown = _NONZERO(bits < 0)[0]
            zeros, ends = self.zeros[unknown], self.zeros[unknown] + self.ones[unknown]
            if type(point_in) is IntervalPoints:
                points = point_in.many(zeros * 0, ends)
            else:
                points = np.array([point_in(0, end) for end in ends.tolist()], dtype=np.int64)
            bits[unknown] = points >= zeros
            self._sampled = bits
        return self._sampled


def _line_through(
    exponents: tuple[int, ...], values: tuple[int, ...], slope: Fraction | None
) -> tuple[Fraction, Fraction] | None:
    """(slope, shift) with values = shift + slope * exponents; of ``slope`` unless it is None."""
    if slope is None:
        low, high = exponents.index(min(exponents)), exponents.index(max(exponents))
        if exponents[low] == exponents[high]:
            return None
        slope = Fraction(values[high] - values[low], exponents[high] - exponents[low])
    shift = values[0] - slope * exponents[0]
    pairs = zip(exponents, values, strict=True)
    if slope == 0 or any(value != shift + slope * exponent for exponent, value in pairs):
        return None
    return slope, shift


def find_distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """``numpy.unique`` of numbers in a line, which mostly rise already."""
    return numbers if bool((numbers[1:] > numbers[:-1]).all()) else np.unique(numbers)


def _too_many_bits(tree: Branching, count: int) -> BudgetError:
    return BudgetError(
        f"{tree.name}: {count:,} random bits are looked at, so no output has a probability that "
        f"counts; add them up, or sum up what they choose, or declare the law with lt.ClosedForm",
        budget=_LIGHT,
    )
