"""The choice tree of a random program, walked by replay: one run per leaf, depth first.

A program that asks ``choose`` for every random decision has a law that is a finite tree. It is
run again and again: the last open choice moves to its next branch, everything before it is
answered as before, everything after it takes its first branch. Weights are whole numbers and
multiply along the path; fractions appear only when all leaves are counted. Memory holds one
path and one number for each output, never the tree. Where a budget ends, what was not walked
stays as unexplored probability.

Such a law is ideal where uniform numbers are real, and the law of the code as it is implemented
where each is one of the 2**53 grid points of ``rng.random()`` (docs/theory/floats.md, I7).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

import numpy as np
from flint import arb

from liptest.enumerate.numbers.noise_outputs import density_leaf
from liptest.enumerate.trees.outputs import are_same
from liptest.enumerate.trees.repeated_leaves import KeptLeaves
from liptest.enumerate.trees.sums import LawSum, multiply_all
from liptest.enumerate.watch.run_watch import (
    REMEDY,
    endless,
    hurry,
    is_watched,
    watch_progress,
)
from liptest.errors import (
    BudgetError,
    LiptestError,
    MechanismError,
    NonDeterministicError,
    UnsupportedRandomnessError,
)
from liptest.mechanisms.laws import Output
from liptest.symbolic.work import spend_on_choices
from liptest.values.branching import (
    Branches,
    DrawLog,
    Path,
    UnweightedBranches,
    make_used_again_error,
)
from liptest.values.lines import advice_on


class Abort(BaseException):
    """Ends a run. No ``except Exception`` of the program under analysis catches it."""

    def __init__(self, error: LiptestError) -> None:
        super().__init__(str(error))
        self.error = error


_ADVICE = "draw every random number from rng and keep no state between calls"


def differing(name: str, what: str, advice: str = _ADVICE) -> NonDeterministicError:
    """The error of a program that answers otherwise after the same choices."""
    return NonDeterministicError(f"{name}: non-deterministic: {what} on one dataset; {advice}")


def next_branch(branches: Branches, branch: int) -> int | None:
    """The next branch after one that has a weight; None after the last."""
    if isinstance(branches, int):
        return branch + 1 if branch + 1 < branches else None
    if isinstance(branches, UnweightedBranches):
        return branches.following(branch)
    for following in range(branch + 1, len(branches)):
        if branches[following]:
            return following
    return None


def branch_by_chance(branches: Branches, rng: np.random.Generator) -> int:
    """A branch, each with its own chance."""
    if isinstance(branches, int):
        return int(rng.integers(branches))
    weights = branches.weights() if isinstance(branches, UnweightedBranches) else branches
    left = Fraction(rng.random()) * sum(weights)
    for place, weight in enumerate(weights):
        left -= weight
        if left < 0 and weight:
            return place
    return max(place for place, weight in enumerate(weights) if weight)


def find_weight(path: Path) -> tuple[int, int]:
    """The probability of a path as numerator and denominator, not reduced."""
    weights = [1 if isinstance(branches, int) else branches[branch] for branches, branch in path]
    return multiply_all(weights), multiply_all([find_total(branches) for branches, _ in path])


def find_total(branches: Branches) -> int:
    """The sum of the weights; 1 for ways, which have none."""
    if isinstance(branches, int):
        return branches
    return 1 if isinstance(branches, UnweightedBranches) else sum(branches)


#: Runs for one law: twenty fair coins, under a minute and under 1 GB if all outputs differ.
MAX_LEAVES = 1 << 20
#: Choices in one run. A path of k choices has at least k leaves beside it, each replayed from
#: the start with weights of up to 53 k digits: a loop that never ends is noticed in seconds.
MAX_CHOICES = 1_000
#: Draws in one run, whether they lead to a choice or not: ends ``while rng.random() < 1``.
MAX_DRAWS = 1_000_000
#: Random floats of one call that count as one draw, where nothing is chosen by them.
REAL_AT_ONCE = 64
#: Runs that are cut off at ``max_choices`` before the law is given up, unless more runs end.
MAX_CUTS = 16
#: Once a run was cut off at ``max_choices`` the law is known in part only, and paths of a
#: probability below 2**-LIGHT are not walked to their ends: two loops have a million of them.
LIGHT = 64
#: Seconds without the end of a run, after which a loop is taken for endless.
MAX_SECONDS_A_RUN = 60.0


def is_light(numerator: int, denominator: int) -> bool:
    """Whether a probability is below 2**-LIGHT, or a little above."""
    return denominator.bit_length() - numerator.bit_length() > LIGHT


def too_many_draws(name: str, most: int = MAX_DRAWS) -> BudgetError:
    """More than ``most`` in one run."""
    return BudgetError(
        f"{name}: more than {most:,} random numbers drawn in one run; does it loop for "
        f"ever? Draw fewer, {REMEDY}",
        budget=most,
    )


def too_many_choices(name: str, max_choices: int) -> BudgetError:
    """No run ends within ``max_choices``."""
    return BudgetError(
        f"{name}: more than max_choices={max_choices:,} random choices in one run; does a loop "
        f"never end? Bound the loop, raise it with @lt.mechanism(max_choices=...), {REMEDY}",
        budget=max_choices,
    )


def too_many_leaves(name: str, max_leaves: int, needed: int | None = None) -> BudgetError:
    """More runs than ``max_leaves``; ``needed`` outcomes of one draw alone."""
    what = f"more than max_leaves={max_leaves:,} runs"
    if needed is not None:
        what = "one draw has too many outcomes"
        if needed < 10**30:
            what = f"one draw has {needed:,} outcomes, more than max_leaves={max_leaves:,}"
    return BudgetError(
        f"{name}: {what} to enumerate its random choices on one dataset; draw from fewer values, "
        f"hand it a statistic of the data only (statistic=lt.Count()), raise it with "
        f"@lt.mechanism(max_leaves=...), {REMEDY}",
        needed=needed,
        budget=max_leaves,
    )


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

    #: Seconds without the end of a run, where a kind of tree allows fewer than MAX_SECONDS_A_RUN.
    SECONDS_A_RUN = math.inf
    keeps_whole = False
    inverts = True
    keeps_parts = False
    #: Whether ways that noise next to never takes are left out (``LightTree``).
    leaves_out_light = False
    #: Whether data are symbolic, or were so in the run that this one repeats.
    follows_data = False
    #: Whether nothing that was concluded depends on an order of rows that polars may choose.
    takes_any_order = False
    #: What is told of the passes of loops in which runs may meet (``alike_pasts``).
    pasts: Any = None
    #: Draws in one run.
    most_draws = MAX_DRAWS
    #: Whether runs are walked for a law, and not in search of one of them, or by chance.
    walks_all = True
    #: What is told of loops that start over (``loops_of_paths``).
    loops: Any = None
    #: Runs that came to an end, of all trees: one tree may be walked within a run of another.
    ended_runs: ClassVar[int] = 0

    __slots__ = (
        "_complete",
        "_cut",
        "_cuts",
        "_deep",
        "_light",
        "_skipped",
        "_weights",
        "advice",
        "bits",
        "depth",
        "draw_log",
        "draws",
        "exported",
        "failure",
        "keeps_room",
        "kept",
        "leaves",
        "makes_rows",
        "max_choices",
        "max_leaves",
        "max_seconds",
        "most_work",
        "name",
        "noise",
        "path",
        "sum",
        "unexplored",
        "walks_records",
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
        #: Choices in all runs together, for a part of a law.
        self.most_work = math.inf
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
        # Whether branches were left out without a run of their own.
        self._skipped = False
        self.path: Path = []
        self._weights: list[tuple[int, int]] = [(1, 1)]
        #: Whether its program reads symbolic data record by record.
        self.walks_records = self.makes_rows = False
        #: Sum of all leaves.
        self.sum = LawSum()
        self._complete = False
        #: Some leaves, the first ones among them: their choices and outputs.
        self.kept = KeptLeaves()
        #: Sees every random float that is made, and may put another one in its place.
        self.draw_log: DrawLog | None = None
        #: What a run keeps of its 0/1 variables, and of noise; each run begins with nothing.
        self.bits: Any = None
        self.noise: Any = None
        #: What to write instead, where the same choices lead to another output.
        self.advice = _ADVICE
        #: Whether plain arrays that the program makes have room for symbolic numbers.
        self.keeps_room = False
        #: Arrays of this run that numpy.asarray() gave plain copies of.
        self.exported: list[Any] = []

    @property
    def floats_at_once(self) -> int:
        """So many random floats of one call count as one draw; real ones cost less."""
        return 1 if self.draw_log is None else REAL_AT_ONCE

    def choose(self, branches: Branches) -> int:
        """The branch to take, 0 .. n-1; branches of weight 0 are never taken."""
        depth = self.depth
        self.depth = depth + 1
        if depth < len(self.path):
            recorded, branch = self.path[depth]
            if recorded is branches or recorded == branches:
                return branch
            self._differs("the same choices led to a different draw")
        return self._open(branches)

    def count_draws(self, count: int) -> None:
        """Note draws that may never lead to a choice; aborts beyond most_draws in one run."""
        self.draws += count
        if self.draws > self.most_draws:
            self.fail(too_many_draws(self.name, self.most_draws))

    def leave_out(self) -> NoReturn:
        """End this run, which stands for values that no budget allows: it stays unexplored."""
        self._cut = True
        raise Abort(too_many_leaves(self.name, self.max_leaves))

    def fail(self, error: LiptestError) -> NoReturn:
        """End this run and all later ones with ``error``, whatever the program catches."""
        if self.failure is None:
            self.failure = error
            hurry()
        self.path.clear()
        raise Abort(self.failure)

    def forbid(self, what: str, advice: str) -> NoReturn:
        """Abort: the program draws or uses randomness that has no exact finite law here."""
        self.fail(
            UnsupportedRandomnessError(
                f"{self.name}: {what} cannot be enumerated exactly; {advice_on(what, advice)}, or "
                f"declare the law with lt.ClosedForm(outputs, log_pmf)"
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
        seconds = min(MAX_SECONDS_A_RUN, self.SECONDS_A_RUN)
        try:
            with watch_progress(
                lambda: ChoiceTree.ended_runs,
                self.fail,
                self._walk.__code__,
                seconds,
                self.name,
            ):
                ended = self._walk(run)
        except Abort as abort:
            ended = abort.error
        except SystemError:
            # What flint makes of a walk that is given up within one of its integrals.
            if self.failure is None:
                raise
        if self.failure is not None:
            raise self.failure
        if ended is not None and not self.leaves:
            raise ended
        probabilities, self.unexplored = self.sum.fractions()
        if self.sum.balls is None:
            return probabilities
        cuts = self._cuts if self._complete and not self._skipped else None
        balls, self.unexplored = self.sum.balls.joined(probabilities, cuts=cuts)
        return balls

    def _walk(self, run: Callable[[], Output]) -> LiptestError | None:
        """Run until all leaves are counted, or to the budget whose error is returned."""
        deadline = None if self.max_seconds is None else time.monotonic() + self.max_seconds
        work = 0
        while True:
            output = self._run(run)
            work += len(self.path)  # each of them was made again
            spend_on_choices(len(self.path))
            if self._cut:
                if self._leave_out():
                    return too_many_choices(self.name, self.max_choices)
            else:
                self.leaves += 1
                self.sum.add_leaf(self.noise, self._leaf_of(output), *self._leaf_weight())
                self.kept.offer(self.leaves, self.path, output)
            if not self._advance():
                self._complete = True
                return too_many_choices(self.name, self.max_choices) if self._cuts else None
            if self.leaves >= self.max_leaves or (work > self.most_work and self.leaves):
                return too_many_leaves(self.name, self.max_leaves)
            if deadline is not None and time.monotonic() > deadline:
                return endless(self.name, self.max_seconds or 0.0)

    def _leaf_of(self, output: Output) -> Output:
        """What is counted: with symbolic noise, how the output follows from it."""
        if self.noise is None or not self.noise.symbolic:
            return output
        return density_leaf(self, output, self.noise.noises, self.noise.constraints)

    def _leave_out(self) -> bool:
        """A run was given up: it is counted, and whether the walk goes nowhere is said."""
        self._cuts += 1
        if self.noise is not None:
            self.sum.leave_out_noisy(self.noise, *self._leaf_weight())
        return self._goes_nowhere()

    def _goes_nowhere(self) -> bool:
        deep, ended = self._cuts - self._light, self._ended()
        return deep >= max(MAX_CUTS, ended + 1) or self._light > self.max_choices + ended

    def _ended(self) -> int:
        """Runs that ended in a way that tells."""
        return self.leaves

    def leaves_of(self, run: Callable[[], Output]) -> Iterator[Output]:
        """The outputs of all paths, one run after the other, without their weights."""
        while True:
            output = self._run(run)
            if self._cut:
                raise too_many_choices(self.name, self.max_choices)
            self.leaves += 1
            yield output
            if not self._advance():
                return

    def repeat(self, run: Callable[[], Output], path: Path, output: Output) -> None:
        """Run a leaf again. NonDeterministicError when its output is another one."""
        self.path = list(path)
        again = self._run(run)
        if len(self.path) != len(path) or not are_same(again, output):
            self._differs("the same choices led to a different output", aborts=False)

    def close(self) -> None:
        """Refuse every later use, so that a random number kept from this analysis is noticed."""
        self.failure = make_used_again_error(self.name)
        self.path.clear()

    def _open(self, branches: Branches) -> int:
        if self.failure is not None:
            raise Abort(self.failure)
        deep = len(self.path) >= self.max_choices
        if deep or (self._deep and is_light(*self._weights[-1])):
            self._cut = self._deep = True
            self._light += not deep
            raise Abort(too_many_choices(self.name, self.max_choices))
        if isinstance(branches, int):
            if branches > self.max_leaves:
                self.fail(too_many_leaves(self.name, self.max_leaves, branches))
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
            if self._deep and self._may_skip() and is_light(*weights[-1]):
                # What leads here is too light already: so are all other branches.
                self._skipped = True
                continue
            path.append((branches, following))
            if carried:
                weight = 1 if isinstance(branches, int) else branches[following]
                weights.append((weights[-1][0] * weight, denominator))
            return True
        return False

    def _may_skip(self) -> bool:
        """Whether what is left out is known by what is not."""
        return self.noise is None

    def _leaf_weight(self) -> tuple[int, int]:
        numerator, denominator = self._weights[-1]
        if len(self.path) <= _CARRIED:
            return numerator, denominator
        weight, total = find_weight(self.path[_CARRIED:])
        return numerator * weight, denominator * total

    def _run(self, run: Callable[[], Output]) -> Output:
        if is_watched():
            return self._run_once(run)
        seconds = min(MAX_SECONDS_A_RUN, self.SECONDS_A_RUN)
        inside = ChoiceTree._run_once.__code__
        with watch_progress(lambda: ChoiceTree.ended_runs, self.fail, inside, seconds, self.name):
            return self._run_once(run)

    def _run_once(self, run: Callable[[], Output]) -> Output:
        # Errors are raised outside of the except clauses: no frames, with data, stay attached.
        self.depth = self.draws = 0
        self._cut = False
        self.bits = self.noise = None
        self.exported.clear()
        output: Output = None
        error: LiptestError | None = None
        try:
            output = run()
        except Abort as abort:
            error = abort.error
        except MechanismError as broken:
            error = broken.with_traceback(None)
        ChoiceTree.ended_runs += 1
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
        error = differing(self.name, what, self.advice)
        if aborts:
            self.fail(error)
        raise error


class GridTree(ChoiceTree):
    """Takes no number for the noise that it stands for."""

    __slots__ = ()
    inverts = False

    def _leaf_of(self, output: Output) -> Output:
        if self.noise is not None:
            self.forbid("noise beside numbers of rng.random()", "make all of it by hand")
        return super()._leaf_of(output)


class LightTree(ChoiceTree):
    """Leaves out what noise next to never does, and does not ask what is all but certain.

    All of that, and what the leaves miss to 1, is ``unexplored``.
    """

    __slots__ = ("_left_out",)

    leaves_out_light = True

    def law(self, run: Callable[[], Output]) -> dict[Output, Fraction] | dict[Output, arb]:
        """The law that ``ChoiceTree.law`` gives, without what is light."""
        # So what is unexplored is what is missing, not what was noted as cut off.
        self._skipped = True
        self._left_out = Fraction(0)
        law = super().law(run)
        self.unexplored = min(Fraction(1), self.unexplored + self._left_out)
        return law

    def _leaf_of(self, output: Output) -> Output:
        if self.noise is not None:
            self._left_out += self.noise.left_out
        return super()._leaf_of(output)
