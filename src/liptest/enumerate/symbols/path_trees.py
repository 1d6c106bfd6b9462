"""Choice trees of programs whose data are symbolic: all paths, one by chance, one at a point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from liptest.enumerate.symbols.alike_pasts import Pasts
from liptest.enumerate.symbols.loops_of_paths import LoopsOfPaths
from liptest.enumerate.trees.choice_tree import (
    REAL_AT_ONCE,
    ChoiceTree,
    branch_by_chance,
    too_many_choices,
)
from liptest.errors import UnsupportedRandomnessError
from liptest.mechanisms.laws import Output
from liptest.values.answers.decisions import Alternative
from liptest.values.branching import Branches, UnweightedBranches
from liptest.values.lines import advice_on

MAX_CHOICES_OF_PATHS = 1 << 13
#: Draws in one run: a loop without an end is noticed in a second.
MAX_DRAWS_OF_PATHS = 1 << 16


class PathTree(ChoiceTree):
    """Walks all paths, without asking which are possible."""

    follows_data = True
    most_draws = MAX_DRAWS_OF_PATHS
    walks_all = False
    pasts: Pasts | None = None
    #: Of the way "passes": the loop that a run has entered.
    loops: LoopsOfPaths | None = None

    def __init__(self, name: str, **budgets: Any) -> None:
        super().__init__(name, **budgets)
        #: Runs that met another one, which was followed in their place.
        self.met = 0
        self._meets = False

    @property
    def floats_at_once(self) -> int:
        """As of any tree: they are packed, and masks of records need no choices."""
        return REAL_AT_ONCE

    def meet(self) -> NoReturn:
        """End a run, of which all that it may come to is known from another one."""
        self._meets = True
        self.met += 1
        self.leave_out()

    def leaves_of(self, run: Callable[[], Output]) -> Iterator[Output]:
        """As ``ChoiceTree.leaves_of``, without runs that meet another one."""
        while True:
            self._meets = False
            output = self._run(run)
            if self._cut and not self._meets:
                raise too_many_choices(self.name, self.max_choices)
            if not self._cut:
                self.leaves += 1
                yield output
            if not self._advance():
                return

    def forbid(self, what: str, advice: str) -> Any:
        self.fail(
            UnsupportedRandomnessError(
                f"{self.name}: {what} is not followed where data are symbolic; "
                f"{advice_on(what, advice)}"
            )
        )


class ProbeTree(PathTree):
    """One run that takes each branch with the same chance, and counts what was to be chosen from.

    A leaf is met with the chance 1 / ``ways``.
    """

    __slots__ = ("_rng", "ways")

    def __init__(self, name: str, rng: np.random.Generator) -> None:
        super().__init__(name, max_choices=MAX_CHOICES_OF_PATHS)
        self._rng = rng
        self.ways = 1

    def choose(self, branches: Branches) -> int:
        self.depth += 1
        if self.depth > self.max_choices:
            self.fail(too_many_choices(self.name, self.max_choices))
        weights = branches.weights() if isinstance(branches, UnweightedBranches) else branches
        several = range(weights) if isinstance(weights, int) else np.flatnonzero(weights).tolist()
        self.ways *= len(several)
        taken = int(several[int(self._rng.integers(len(several)))])
        self.path.append((branches, taken))
        return taken


class PointTree(PathTree):
    """One run at a point: decisions follow from it, and other choices are drawn, or ``taken``."""

    __slots__ = ("_rng", "_wanted")

    def __init__(self, name: str, rng: np.random.Generator, taken: tuple[int, ...] = ()) -> None:
        super().__init__(name, max_choices=MAX_CHOICES_OF_PATHS)
        self._rng = rng
        self._wanted = taken

    def choose(self, branches: Branches) -> int:
        self.depth += 1
        if self.depth > self.max_choices:
            self.fail(too_many_choices(self.name, self.max_choices))
        taken = self._take(branches)
        if self._wanted[len(self.path) : len(self.path) + 1] != (taken,):
            self._wanted = ()  # the point leads elsewhere
        self.path.append((branches, taken))
        return taken

    def _take(self, branches: Branches) -> int:
        if isinstance(branches, Alternative):
            return branches.at_point()
        if len(self.path) < len(self._wanted):
            return self._wanted[len(self.path)]
        return branch_by_chance(branches, self._rng)


class PlainTree(ChoiceTree):
    """The same run with plain data: where symbolic data have any order, these have one."""

    __slots__ = ()
    follows_data = takes_any_order = True
    walks_all = False
