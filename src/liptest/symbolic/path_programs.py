"""What a path asks of a shift of its noise: linear conditions, in blocks that share no noise.

docs/theory/size.md, S1: for a difference t of the answers a shift s must keep each condition,
``l.s + d.t >= 0``, and leave each place of the output, ``e.s + g.t = 0``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from liptest.symbolic.answers import AlignedPath, Answer
from liptest.symbolic.forms import Rational, Terms, lean
from liptest.symbolic.noise import Noise
from liptest.symbolic.shifts import ShiftCost, shift_cost

#: Factors of variables, or of answers; none is 0.
Factors = dict[int, Rational]


class PathRow(NamedTuple):
    """``noise`` times the shifts plus ``answers`` times the difference."""

    noise: Terms
    answers: Terms


@dataclass(frozen=True)
class Block:
    """Conditions (>= 0) and equations (= 0) that share their noise with no other block.

    The first noise of each equation is in no other equation.
    """

    costs: dict[int, ShiftCost]
    conditions: tuple[PathRow, ...]
    equations: tuple[PathRow, ...]

    @cached_property
    def answers(self) -> frozenset[int]:
        """All that occur."""
        return frozenset(i for row in (*self.conditions, *self.equations) for i, _ in row.answers)

    @property
    def shifts_whole_noise(self) -> bool:
        """Whether some noise can be shifted by whole numbers only."""
        return any(cost.is_whole for cost in self.costs.values())

    @property
    def size(self) -> int:
        """Rows."""
        return len(self.conditions) + len(self.equations)

    def without_whole_noise(self) -> Block:
        """The same where whole noise stays as it is."""
        fixed = {v: ShiftCost(None, None) for v, cost in self.costs.items() if cost.is_whole}
        return Block({**self.costs, **fixed}, self.conditions, self.equations)


_MOST_KNOWN = 50_000


class RowReader:
    """Reads the rows of paths; what paths have in common is read once."""

    def __init__(self) -> None:
        # By the identity of the terms, which are kept so that it stays theirs.
        self._known: dict[int, tuple[Terms, list[Noise | Answer], PathRow, PathRow]] = {}

    def read(self, path: AlignedPath) -> tuple[list[PathRow], list[PathRow]]:
        """What must stay 0 or more, and what may not move; without what nothing moves."""
        sides: dict[PathRow, list[bool]] = {}
        noises = path.noises
        for condition in path.conditions:
            row, _ = self._row(condition.terms, noises)
            turned = (row.noise or row.answers or ((0, 1),))[0][1] < 0
            if turned:
                row = self._row(condition.terms, noises)[1]
            ends = sides.setdefault(row, [False, False])
            if condition.low is not None:
                ends[turned] = True
            if condition.high is not None:
                ends[not turned] = True
        conditions = []
        fixed = dict.fromkeys(self._row(place.terms, noises)[0] for place in path.places)
        for row, (low, high) in sides.items():
            if low and high:
                fixed[row] = None
            elif low or high:
                conditions.append(row if low else _opposite(row))
        return [row for row in conditions if any(row)], [row for row in fixed if any(row)]

    def _row(self, terms: Terms, noises: Sequence[Noise | Answer]) -> tuple[PathRow, PathRow]:
        """A row and its opposite."""
        cached = self._known.get(id(terms))
        here = [noises[v] for v, _ in terms]
        if cached is None or cached[1] != here:
            noise: list[tuple[int, Rational]] = []
            answers: dict[int, Rational] = {}
            for (v, factor), what in zip(terms, here, strict=True):
                if isinstance(what, Answer):
                    answers[what.number] = lean(answers.get(what.number, 0) + factor)
                else:
                    noise.append((v, factor))
            row = PathRow(tuple(noise), tuple(sorted((i, f) for i, f in answers.items() if f)))
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            cached = self._known[id(terms)] = terms, here, row, _opposite(row)
        return cached[2], cached[3]


def find_blocks(
    path: AlignedPath, reader: RowReader
) -> tuple[list[Block], list[PathRow], list[PathRow]]:
    """Blocks; conditions without noise; equations without noise."""
    conditions, equations = reader.read(path)
    variables = {v for row in (*conditions, *equations) for v, _ in row.noise}
    costs = {v: shift_cost(path.noises[v]) for v in variables}
    equations = solve_equations(equations, costs)
    group = _connect([row.noise for row in (*conditions, *equations)])
    members: dict[int, tuple[list[PathRow], list[PathRow]]] = {}
    bare: tuple[list[PathRow], list[PathRow]] = ([], [])
    for which, some in enumerate((conditions, equations)):
        for row in some:
            home = members.setdefault(group[row.noise[0][0]], ([], [])) if row.noise else bare
            home[which].append(row)
    blocks = []
    for own in members.values():
        inside = sorted({v for some in own for row in some for v, _ in row.noise})
        blocks.append(Block({v: costs[v] for v in inside}, tuple(own[0]), tuple(own[1])))
    return blocks, *bare


def solve_equations(equations: Sequence[PathRow], costs: Mapping[int, ShiftCost]) -> list[PathRow]:
    """Equations that say the same; the first noise of each is in no other, with factor 1.

    Gauss and Jordan, exactly. Prefix sums of noisy numbers become the numbers themselves, which
    share no noise. The noise solved for had best move both ways, be real, be in few equations
    (what is in several moves in all of them) and cost little.
    """
    shared = Counter(v for row in equations for v, _ in row.noise)
    solved: dict[int, tuple[Factors, Factors]] = {}
    bare: list[PathRow] = []
    for row in equations:
        noise, answers = dict(row.noise), dict(row.answers)
        for v in [v for v in noise if v in solved]:
            factor = noise.pop(v)
            add_factors(noise, solved[v][0], -factor)
            add_factors(answers, solved[v][1], -factor)
        if not noise:
            bare.append(PathRow((), _terms(answers)))
            continue
        pivot = min(noise, key=lambda v: (*_rank(costs[v], noise[v], shared[v]), v))
        lead = Fraction(noise.pop(pivot))
        noise = {v: lean(factor / lead) for v, factor in noise.items()}
        answers = {i: lean(factor / lead) for i, factor in answers.items()}
        for others, moved in solved.values():
            factor = others.pop(pivot, 0)
            if factor:
                add_factors(others, noise, -factor)
                add_factors(moved, answers, -factor)
        solved[pivot] = noise, answers
    rows = [
        PathRow(((p, 1), *_terms(noise)), _terms(answers)) for p, (noise, answers) in solved.items()
    ]
    return [*bare, *rows]


def add_factors(sums: Factors, more: Mapping[int, Rational], times: Rational) -> None:
    """Add a multiple of a sum to another; what becomes 0 is left out."""
    for i, factor in more.items():
        total = lean(sums.get(i, 0) + times * factor)
        if total:
            sums[i] = total
        else:
            sums.pop(i, None)


def _rank(cost: ShiftCost, factor: Rational, shared: int) -> tuple[bool, bool, bool, int, Fraction]:
    sided = cost.right is None or cost.left is None
    rate = cost.right or cost.left or Fraction(0)
    return cost.is_fixed, sided, cost.is_whole, shared, rate / abs(Fraction(factor))


def _terms(factors: Factors) -> Terms:
    return tuple(sorted(factors.items()))


def _opposite(row: PathRow) -> PathRow:
    noise, answers = (tuple((v, -factor) for v, factor in some) for some in row)
    return PathRow(noise, answers)


def _connect(forms: Iterable[Terms]) -> dict[int, int]:
    """One variable of the group of each: those that are in one form are in one group."""
    leader: dict[int, int] = {}

    def find(variable: int) -> int:
        while leader[variable] != variable:
            leader[variable] = leader[leader[variable]]
            variable = leader[variable]
        return variable

    for form in forms:
        for variable, _ in form:
            leader.setdefault(variable, variable)
            leader[find(variable)] = find(form[0][0])
    return {variable: find(variable) for variable in leader}
