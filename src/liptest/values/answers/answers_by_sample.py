"""Answers by the random samples that they are of, and which of them are looked at together."""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from typing import Any, Literal

from liptest.symbolic.answers import AnswersOfSample, Differences
from liptest.values.answers.balls import BallOfAnswers
from liptest.values.records.record_parts import DrawnPart, Part

# Of several balls together, where each is looked at by itself.
_MANY_CORNERS = 256
#: What happens to a record of neighbours: it is replaced, it comes or goes, or either of these.
Relation = Literal["replaced", "added", "either"]


class AnswersBySample:
    """What ``AnswerBook`` knows of random samples."""

    #: How many records there are, and which of them an answer sums over.
    all_records: int
    parts: list[Part]
    #: What happens to a record, without samples.
    relation: Relation
    #: Of orders that coins make: what no record is in them with more than.
    shares: dict[int, Fraction | None]
    balls: dict[Any, BallOfAnswers]

    def differences(self) -> Differences:
        """How far neighbours move all answers."""
        raise NotImplementedError

    def differences_of(self, numbers: Collection[int], relation: Relation) -> Differences:
        """Of answers of the same records, of which one changes."""
        raise NotImplementedError

    def find_too_many(self, numbers: Collection[int]) -> list[int]:
        """Answers of real numbers that have too many corners together."""
        raise NotImplementedError

    @property
    def has_samples(self) -> bool:
        """See ``AnswersInGroups``."""
        return any(isinstance(part, DrawnPart) for part in self.parts)

    def sample(self) -> tuple[Fraction, Differences] | None:
        """What no record is sampled with more than, where all answers are of one random sample.

        The differences are those of neighbours where the record is sampled in both or in one of
        them (docs/theory/size.md, S11). None where answers are of other records, too.
        """
        parts = [part for part in self.parts if isinstance(part, DrawnPart)]
        if not parts or len(parts) < len(self.parts) or len({part.order for part in parts}) > 1:
            return None
        share = self._share_of(parts[0])
        if share is None or len({part.length for part in parts}) > 1:
            return None
        if parts[0].places is None:
            return share, self.differences_of(range(len(self.parts)), "either")
        return share, self.differences()

    def _share_of(self, drawn: DrawnPart) -> Fraction | None:
        """What no record is with more than in the parts of an order; None where not known."""
        if drawn.places is None:
            return self.shares[drawn.order]
        every = [part for part in self.parts if isinstance(part, DrawnPart)]
        own = [part.places or () for part in every if part.order == drawn.order]
        return Fraction(len({place for places in own for place in places}), self.all_records)

    def split_answers(self, numbers: frozenset[int]) -> list[frozenset[int]]:
        """Of one part each; where real numbers are too many, those of each ball by themselves."""
        by_part: dict[Part, set[int]] = {}
        for number in numbers:
            by_part.setdefault(self.parts[number], set()).add(number)
        groups = []
        for own in by_part.values():
            balls = [own & set(ball.places.values()) for ball in self.balls.values()]
            corners = math.prod(2 * len(ball) for ball in balls if ball)
            few = balls if corners > _MANY_CORNERS or self.find_too_many(own) else []
            groups += [*few, *self._split_in_order(own.difference(*few))]
        return [frozenset(group) for group in groups if group]

    def _split_in_order(self, numbers: set[int]) -> list[set[int]]:
        """As they were added up, in groups that are not too many; those of a step stay together."""
        if not self.find_too_many(numbers):
            return [numbers]
        groups: list[set[int]] = [set()]
        for number in sorted(numbers):
            if groups[-1] and self.find_too_many({*groups[-1], number}):
                groups.append(set())
            groups[-1].add(number)
        return groups

    def moves_of(self, numbers: frozenset[int]) -> AnswersOfSample | None:
        """See ``AnswersInGroups`` (docs/theory/size.md, S21)."""
        parts = {self.parts[number] for number in numbers if number < len(self.parts)}
        if len(parts) != 1 or max(numbers) >= len(self.parts):
            return None
        part, moves = parts.pop(), self.differences_of(numbers, self.relation)
        share = self._share_of(part) if isinstance(part, DrawnPart) else None
        if not isinstance(part, DrawnPart):
            places = part if isinstance(part, range) else None
            return AnswersOfSample(None, Fraction(1), moves, moves, places)
        if share is None:
            return AnswersOfSample(None, Fraction(1), moves, moves)
        missing = self.differences_of(numbers, "added") if part.places is None else moves
        return AnswersOfSample(part.order, share, moves, missing, part.places)
