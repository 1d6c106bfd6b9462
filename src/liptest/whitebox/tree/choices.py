"""The choice tree of a random program, walked by replay: one run per leaf, depth first.

A program that asks ``choose`` for every random decision has a law that is a finite tree. It is
run again and again: the last open choice moves to its next branch, everything before it is
answered as before, everything after it takes its first branch. Weights are whole numbers and
multiply along the path; fractions appear only when all leaves are counted. Memory holds one
path and one number for each output, never the tree. Where a budget ends, what was not walked
stays as unexplored probability.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn

from flint import arb

from liptest.errors import LiptestError, MechanismError, UnsupportedRandomnessError
from liptest.mechanisms.laws import Output
from liptest.values.branching import Branches, DrawLog, Path, UnweightedBranches, used_again
from liptest.whitebox.tree import budgets, paths
from liptest.whitebox.tree.budgets import MAX_CHOICES, MAX_CUTS, MAX_DRAWS, MAX_LEAVES
from liptest.whitebox.tree.paths import Abort, is_sample, next_branch
from liptest.whitebox.tree.sums import LawSum

# Products of weights are carried along the first choices of a path only: on a path of k choices
# they need k^2 words.
_CARRIED = 512


class ChoiceTree:
    """Answers the choices of one program on one input, and adds up the law of its output.

    Parameters
    ----------
    name
        Of the program, for error messages.
    max_leaves, max_choices
        Budgets: runs in all, and choices in one run.
    max_seconds
        Budget for all runs; None for none. The law then depends on the speed of the machine.
    """

    __slots__ = (
        "_complete",
        "_cut",
        "_cuts",
        "_deep",
        "_light",
        "_weights",
        "bits",
        "depth",
        "draw_log",
        "draws",
        "failure",
        "leaves",
        "max_choices",
        "max_leaves",
        "max_seconds",
        "name",
        "noise",
        "path",
        "samples",
        "sum",
        "unexplored",
    )

    def __init__(
        self,
        name: str,
        *,
        max_leaves: int = MAX_LEAVES,
        max_choices: int = MAX_CHOICES,
        max_seconds: float | None = None,
    ) -> None:
        self.name, self.max_leaves = name, max_leaves
        self.max_choices = max_choices
        self.max_seconds = max_seconds
        #: Probability of the runs that a budget left out; known after ``law``.
        self.unexplored = Fraction(0)
        #: Runs that came to their end.
        self.leaves = 0
        self.draws = 0
        #: Set once and for all by ``fail``; even a bare ``except:`` cannot undo it.
        self.failure: LiptestError | None = None
        self.depth = 0
        # Whether this run was cut off, and one before for its length; how many were, how many of
        # these for their weight; whether all paths were walked so far.
        self._cut = self._deep = False
        self._cuts = self._light = 0
        self.path: Path = []
        self._weights: list[tuple[int, int]] = [(1, 1)]
        #: Sum of all leaves.
        self.sum = LawSum()
        self._complete = False
        #: Some leaves, the first ones among them: their choices and outputs.
        self.samples: list[tuple[Path, Output]] = []
        #: Sees every random float that is made, and may put another one in its place.
        self.draw_log: DrawLog | None = None
        #: What a run keeps of its 0/1 variables, and of noise; each run begins with nothing.
        self.bits: Any = None
        self.noise: Any = None

    def choose(self, branches: Branches) -> int:
        """The branch to take, 0 .. n-1; branches of weight 0 are never taken."""
        depth = self.depth
        self.depth = depth + 1
        if depth < len(self.path):
            known, branch = self.path[depth]
            if known is branches or known == branches:
                return branch
            self._differs("the same choices led to a different draw")
        return self._open(branches)

    def count_draws(self, count: int) -> None:
        """Note draws that may never lead to a choice; aborts beyond MAX_DRAWS in one run."""
        self.draws += count
        if self.draws > MAX_DRAWS:
            self.fail(budgets.too_many_draws(self.name))

    def leave_out(self) -> NoReturn:
        """End this run, which stands for values that no budget allows: it stays unexplored."""
        self._cut = True
        raise Abort(budgets.too_many_leaves(self.name, self.max_leaves))

    def fail(self, error: LiptestError) -> NoReturn:
        """End this run and all later ones with ``error``, whatever the program catches."""
        if self.failure is None:
            self.failure = error
            budgets.hurry()
        self.path.clear()
        raise Abort(self.failure)

    def unsupported(self, what: str, advice: str) -> NoReturn:
        """Abort: the program draws or uses randomness that has no exact finite law here."""
        self.fail(
            UnsupportedRandomnessError(
                f"{self.name}: {what} cannot be enumerated exactly; {advice}, or declare the law "
                f"with lt.ClosedForm(outputs, log_pmf)"
            )
        )

    def law(self, run: Callable[[], Output]) -> dict[Output, Fraction] | dict[Output, arb]:
        """Run the program once per leaf; its outputs with their exact probabilities.

        They add up to 1 with ``unexplored``, which is not 0 where a budget ended; where symbolic
        noise was drawn they are balls, and that is a bound.

        Raises
        ------
        BudgetError
            A budget ended before a single run did, or one run does not end.
        NonDeterministicError
            The program draws differently after the same choices.
        LiptestError
            Whatever ``fail`` was called with, and what ``run`` raises.
        """
        seconds = budgets.MAX_SECONDS_A_RUN
        try:
            with budgets.watched_for_progress(
                lambda: self.leaves + self._cuts,
                lambda: self.fail(budgets.endless(self.name, seconds)),
                ChoiceTree._walk.__code__,
                seconds,
            ):
                ended = self._walk(run)
        except Abort as abort:
            ended = abort.error
        if self.failure is not None:
            raise self.failure
        if ended is not None and not self.samples:
            raise ended
        probabilities, self.unexplored = self.sum.fractions()
        if self.sum.balls is None:
            return probabilities
        cuts = self._cuts if self._complete else None
        balls, self.unexplored = self.sum.balls.joined(probabilities, cuts=cuts)
        return balls

    def _walk(self, run: Callable[[], Output]) -> LiptestError | None:
        """Run until all leaves are counted, or to the budget whose error is returned."""
        deadline = None if self.max_seconds is None else time.monotonic() + self.max_seconds
        while True:
            output = self._run(run)
            if self._cut:
                self._cuts += 1
                if self.noise is not None:
                    self.sum.leave_out_noisy(self.noise, *self._leaf_weight())
                if self._goes_nowhere():
                    return budgets.too_many_choices(self.name, self.max_choices)
            else:
                self.leaves += 1
                self.sum.add_leaf(self.noise, output, *self._leaf_weight())
                if is_sample(self.leaves, output, self.samples):
                    self.samples.append((list(self.path), output))
            if not self._advance():
                self._complete = True
                return budgets.too_many_choices(self.name, self.max_choices) if self._cuts else None
            if self.leaves >= self.max_leaves:
                return budgets.too_many_leaves(self.name, self.max_leaves)
            if deadline is not None and time.monotonic() > deadline:
                return budgets.endless(self.name, self.max_seconds or 0.0)

    def _goes_nowhere(self) -> bool:
        deep = self._cuts - self._light
        return (
            deep >= max(MAX_CUTS, self.leaves + 1) or self._light > self.max_choices + self.leaves
        )

    def repeat(self, run: Callable[[], Output], path: Path, output: Output) -> None:
        """Run a leaf again. NonDeterministicError when its output is another one."""
        self.path = list(path)
        again = self._run(run)
        if len(self.path) != len(path) or not (again is output or again == output):
            self._differs("the same choices led to a different output", aborts=False)

    def close(self) -> None:
        """Refuse every later use, so that a random number kept from this analysis is noticed."""
        self.failure = used_again(self.name)
        self.path.clear()

    def _open(self, branches: Branches) -> int:
        if self.failure is not None:
            raise Abort(self.failure)
        deep = len(self.path) >= self.max_choices
        if deep or (self._deep and budgets.is_light(*self._weights[-1])):
            self._cut = self._deep = True
            self._light += not deep
            raise Abort(budgets.too_many_choices(self.name, self.max_choices))
        if isinstance(branches, int):
            if branches > self.max_leaves:
                self.fail(budgets.too_many_leaves(self.name, self.max_leaves, branches))
            weight, total, branch = 1, branches, 0
        elif isinstance(branches, UnweightedBranches):
            weight, total, branch = 1, 1, branches.following(-1) or 0
        else:
            total, branch = sum(branches), 0
            while not branches[branch]:
                branch += 1
            weight = branches[branch]
        self.path.append((branches, branch))
        if len(self.path) <= _CARRIED:
            numerator, denominator = self._weights[-1]
            self._weights.append((numerator * weight, denominator * total))
        return branch

    def _advance(self) -> bool:
        path, weights = self.path, self._weights
        while path:
            branches, branch = path.pop()
            carried = len(path) < _CARRIED
            _, denominator = weights.pop() if carried else (0, 0)
            following = next_branch(branches, branch)
            if following is None:
                continue
            path.append((branches, following))
            if carried:
                weight = 1 if isinstance(branches, int) else branches[following]
                weights.append((weights[-1][0] * weight, denominator))
            return True
        return False

    def _leaf_weight(self) -> tuple[int, int]:
        numerator, denominator = self._weights[-1]
        if len(self.path) <= _CARRIED:
            return numerator, denominator
        weight, total = paths.weight_of(self.path[_CARRIED:])
        return numerator * weight, denominator * total

    def _run(self, run: Callable[[], Output]) -> Output:
        # Errors are raised outside of the except clauses: no frames, with data, stay attached.
        self.depth = self.draws = 0
        self._cut = False
        self.bits = self.noise = None
        output: Output = None
        error: LiptestError | None = None
        try:
            output = run()
        except Abort as abort:
            error = abort.error
        except MechanismError as broken:
            error = broken.with_traceback(None)
        if self.failure is not None:
            raise self.failure
        if self._cut:
            return None
        if error is not None:
            raise error
        if self.depth != len(self.path):
            self._differs("the same choices led to fewer draws", aborts=False)
        return output

    def _differs(self, what: str, *, aborts: bool = True) -> NoReturn:
        error = paths.differing(self.name, what)
        if aborts:
            self.fail(error)
        raise error
