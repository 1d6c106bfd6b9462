"""What a comparison of noise asks the choice tree: which of several ways, without weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from flint import arb

from liptest.errors import LiptestError
from liptest.symbolic.forms import Constraint
from liptest.symbolic.noise import Noise
from liptest.symbolic.probability import System
from liptest.values.branching import UnweightedBranches

#: All of them hold.
Known = tuple[Constraint, ...]


# Weights that are shown of ways are in these units.
_SHOWN = 1 << 53


class Asked(NamedTuple):
    """When a question is asked: noise drawn since the last one, all noise, what is known, and
    ``refuse``, which aborts with an error and the line that asks, which is at ``place``."""

    drawn: tuple[Noise, ...]
    noises: tuple[Noise, ...]
    before: Known
    refuse: Callable[[LiptestError], NoReturn]
    place: tuple[str, int]


class Question(UnweightedBranches):
    """Base of questions about noise: what was drawn before, and all that is known."""

    __slots__ = ("_asked", "_before", "_drawn", "_noises")

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._drawn = asked.drawn
        self._noises = asked.noises
        self._before = asked.before

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the program that asked first."""
        return self._asked.place

    def way(self, place: int) -> Known | None:
        """The constraints of one way; None where it is impossible."""
        raise NotImplementedError

    def probability(self, way: Known) -> arb:
        """Of all that is known, and one way."""
        try:
            return System(self._noises).probability((*self._before, *way))
        except LiptestError as error:
            self._asked.refuse(error)

    def is_possible(self, way: Known) -> bool:
        """Whether one way has a probability above 0, given all that is known."""
        if len(way) == 1 and self._is_free(way[0]):
            return True
        try:
            return System(self._noises).is_possible((*self._before, *way))
        except LiptestError as error:
            self._asked.refuse(error)

    def _is_free(self, constraint: Constraint) -> bool:
        """Whether some variable of a constraint is not known at all, and can be that large."""
        used = {variable for known in self._before for variable, _ in known.terms}
        return any(
            variable not in used and _reaches(self._noises[variable], factor > 0, constraint)
            for variable, factor in constraint.terms
        )

    def weights(self) -> tuple[int, ...]:
        ways = [self.way(place) if self[place] else None for place in range(len(self))]
        masses = [0.0 if way is None else float(self.probability(way)) for way in ways]
        total = sum(masses) or 1.0
        return tuple(
            0 if way is None else max(1, round(mass / total * _SHOWN))
            for way, mass in zip(ways, masses, strict=True)
        )


class Listed(Question):
    """Exactly one of some ways holds.

    ``key`` is what is asked, equal for equal questions; ``ways()`` their constraints.
    """

    __slots__ = ("_key", "_made", "_possible", "_ways")

    __hash__ = None

    def __init__(
        self, asked: Asked, key: Any, ways: Callable[[], tuple[Known | None, ...]]
    ) -> None:
        super().__init__(asked)
        self._key = key
        self._ways = ways
        self._made: tuple[Known | None, ...] | None = None
        self._possible: dict[int, bool] = {}

    @property
    def ways(self) -> tuple[Known | None, ...]:
        """None is an impossible one. Made when it is first needed: most questions are repeated."""
        if self._made is None:
            self._made = self._ways()
        return self._made

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is Listed:
            return self.is_asked_by(other._key, other._drawn)
        if type(other) is tuple:  # as it was written down
            return len(other) == len(self) and all(
                bool(weight) == bool(self[place]) for place, weight in enumerate(other)
            )
        return False

    def is_asked_by(self, key: Any, drawn: tuple[Noise, ...]) -> bool:
        """Whether this is the question of that key, after that noise was drawn."""
        return bool(self._key == key) and self._drawn == drawn

    def __len__(self) -> int:
        return len(self.ways)

    def __getitem__(self, place: int) -> int:
        found = self._possible.get(place)
        if found is None:
            found = self._possible[place] = self._find(place)
        return int(found)

    def way(self, place: int) -> Known | None:
        return self.ways[place]

    def following(self, branch: int) -> int | None:
        return next((k for k in range(branch + 1, len(self.ways)) if self[k]), None)

    def _find(self, place: int) -> bool:
        way = self.ways[place]
        if way is None:
            return False
        others = [self._possible.get(k) for k in range(len(self.ways)) if k != place]
        # One of them holds: where no other can, this one does.
        return all(known is False for known in others) or self.is_possible(way)


def _reaches(noise: Noise, rising: bool, constraint: Constraint) -> bool:
    """Whether a variable alone, with a factor of this sign, takes a sum to where it must be."""
    low, high = noise.support if rising else noise.support[::-1]
    if constraint.low is not None and constraint.high is not None:
        wide = constraint.low < constraint.high and not noise.is_discrete
        return wide and low is None and high is None
    return high is None if constraint.high is None else low is None
