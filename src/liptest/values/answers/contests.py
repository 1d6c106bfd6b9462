"""Which of some sums is the largest, and when two paths with contests cost the same.

Where sums are alike, an exchange of answers and of their noise makes any of them any other. So of
paths that ask nothing else only the order of winners counts, and not who they are: all n (n - 1)
ways to the two largest of n numbers have one price (docs/theory/size.md, S7).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from liptest.symbolic.answers import Answer
from liptest.symbolic.forms import Constraint, Form
from liptest.symbolic.noise import Noise
from liptest.values.branching import UnweightedBranches
from liptest.values.draws.questions import PathCondition

_ZERO = Fraction(0)


class Contest:
    """Which of some sums is the largest, the first of equal ones."""

    __slots__ = ("_ways", "alternative", "answers", "kind", "sums", "variables")

    def __init__(
        self, sums: list[Form], alternative: UnweightedBranches, noises: Sequence[Noise | Answer]
    ) -> None:
        self.sums = sums
        self.alternative: Any = alternative
        self._ways: dict[int, PathCondition] = {}
        self.variables = frozenset(variable for form in sums for variable, _ in form.terms)
        #: What each sum is made of, where an exchange of variables makes each of them any other,
        #: except for constants; else None.
        self.kind = _find_kind_of_all(sums, noises)
        #: The variable of the one answer in each of such sums.
        self.answers = () if self.kind is None else _find_answers(sums, noises)

    def way(self, place: int) -> PathCondition:
        """The conditions that it is the one at a place."""
        way = self._ways.get(place)
        if way is None:
            best = self.sums[place]
            way = self._ways[place] = tuple(
                (best - rival).between(_ZERO, low_closed=other > place)
                for other, rival in enumerate(self.sums)
                if other != place
            )
        return way


def find_winners(
    contests: Sequence[tuple[Contest, int]],
    conditions: Sequence[Constraint],
    places: Sequence[Form],
    *,
    are_answers_alike: bool,
) -> Any:
    """Who won on a path with these other conditions and places, equal where the prices are.

    Of contests of sums that are alike, and of nothing else, it does not matter which answers won,
    but in which order, and against whom.
    """
    parts = (*(condition.terms for condition in conditions), *(one.terms for one in places))
    others = {variable for terms in parts for variable, _ in terms}
    if are_answers_alike and all(
        contest.answers and contest.variables.isdisjoint(others) for contest, _ in contests
    ):
        groups = _find_groups([contest for contest, _ in contests])
        if groups is not None:
            return _name_winners(contests, groups)
    return tuple((id(contest), place) for contest, place in contests)


def _find_groups(contests: Sequence[Contest]) -> list[int] | None:
    """A number for each contest, the same for those among the same sums; None where sums of
    several contests share noise and are not the same."""
    known: list[tuple[dict[Form, int], set[int]]] = []
    groups = []
    for contest in contests:
        noises = contest.variables.difference(contest.answers)
        for number, (sums, own) in enumerate(known):
            if own.isdisjoint(noises):
                continue
            if not all(form in sums for form in contest.sums):
                return None
            groups.append(number)
            break
        else:
            groups.append(len(known))
            known.append((dict.fromkeys(contest.sums, 0), set(noises)))
    return groups


def _name_winners(contests: Sequence[tuple[Contest, int]], groups: list[int]) -> Any:
    """The same for paths of which an exchange of answers makes one the other.

    Of each answer it counts in which contests it is, and which it wins.
    """
    if len(contests) == 1:
        return id(contests[0][0])
    roles: dict[int, list[int]] = {}
    for number, (contest, place) in enumerate(contests):
        for answer in contest.answers:
            role = roles.setdefault(answer, [0] * len(contests))
            role[number] = 1
        roles[contest.answers[place]][number] = 2
    kinds = tuple(contest.kind for contest, _ in contests)
    return kinds, tuple(groups), frozenset(Counter(map(tuple, roles.values())).items())


def _find_kind_of_all(sums: list[Form], noises: Sequence[Noise | Answer]) -> Any:
    kinds = {
        tuple((_find_kind(noises[v]), factor) for v, factor in terms)
        for terms in (form.terms for form in sums)
    }
    variables = [variable for form in sums for variable, _ in form.terms]
    if len(kinds) != 1 or len(set(variables)) < len(variables):
        return None
    (kind,) = kinds
    return kind if sum(family is Answer for family, _ in kind) == 1 else None


def _find_kind(one: Noise | Answer) -> Any:
    """The same for numbers of which an exchange changes nothing."""
    return Answer if type(one) is Answer and one.function is None else one


def _find_answers(sums: list[Form], noises: Sequence[Noise | Answer]) -> tuple[int, ...]:
    return tuple(v for form in sums for v, _ in form.terms if type(noises[v]) is Answer)
