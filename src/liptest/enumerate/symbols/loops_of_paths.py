"""Loops that start over where data are symbolic: what a path asks in the pass that leaves one.

``while True: v = count + rng.laplace(scale=2); if v >= 0: return v`` has paths without an end. Its
passes are independent and alike, so the loop has the law of one pass given that it leaves. The
paths of one pass are followed, and beside their prices that of leaving is paid for
(docs/theory/loops.md, L9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from liptest.enumerate.intercept.generator import is_generator
from liptest.enumerate.samplers.loop_passes import NoisyLoops, PlainPasses, is_of_data
from liptest.symbolic.answers import AlignedPath, Answer
from liptest.values.answers.aligned import AlignedRun
from liptest.values.answers.weight_choices import Selection
from liptest.values.branching import Path, UnweightedBranches

NOISE_BEFORE = "a loop that starts over, and reads noise of before it"
NO_LOOPS = "write it as one loop"
DRAW_INSIDE = "draw all noise that it compares inside of it"


class LoopTree(Protocol):
    """A tree of which runs may be left out."""

    path: Path
    depth: int

    def meet(self) -> Any:
        """End a run, of which all that it may come to is known from other ones."""
        ...

    def forbid(self, what: str, advice: str) -> Any:
        """End the analysis."""
        ...


class LoopsOfPaths:
    """The loops that a run has entered, and what it asked where it left them.

    ``begin`` starts a run. In a run at a point, which makes all its passes, ``goes_on``.
    """

    def __init__(self, *, goes_on: bool = False) -> None:
        self._goes_on = goes_on
        #: Whether runs make no choice before they have left their loops but by the noise of these.
        self.leaves_by_noise = True
        #: Whether any run has entered a loop.
        self.is_used = False
        #: Of a run that goes on: the choices of passes that did not leave, as (first, last + 1).
        self.left_out: list[tuple[int, int]] = []
        self._run: AlignedRun | None = None

    def begin(self, tree: LoopTree, run: AlignedRun) -> None:
        """Start a run."""
        self._tree, self._run = tree, run
        self._owner: Any = None
        self._exits: list[AlignedPath] = []
        self._first_noise = self._depth = self._entered = 0
        self._before: Any = None
        self._known: set[Any] = set()

    def begin_pass(self, passes: Any) -> None:
        """A pass of a loop begins."""
        assert self._run is not None
        if self._owner is not passes:
            if self._owner is not None:
                self._tree.forbid("a loop that starts over inside of another one", NO_LOOPS)
            self._owner, self.is_used = passes, True
            self.leaves_by_noise &= self._entered == self._tree.depth
            self._entered = self._tree.depth
            self._first_noise = len(self._run.noises)
            self._before, self._known = _beside_sums(self._run), set(self._run.released)
            self._depth = len(self._tree.path)
        elif self._goes_on:
            self.left_out.append((self._depth, len(self._tree.path)))
            self._depth = len(self._tree.path)
        else:
            self._tree.meet()

    def end_loop(self, passes: Any) -> None:
        """The loop is left, if it was entered."""
        if self._owner is passes:
            asked = self._asked()
            self._exits.append(asked)
            self._owner = None
            self.leaves_by_noise &= self._asks_noise_alone(asked)
            self._entered = self._tree.depth

    def exits_of_run(self) -> tuple[AlignedPath, ...]:
        """What the run asked in the passes that left its loops, one after another."""
        if self._owner is not None:
            self.end_loop(self._owner)  # by return, or by an exception
        return tuple(self._exits)

    def _asks_noise_alone(self, asked: AlignedPath) -> bool:
        """Whether the pass that leaves made no other choices than by conditions on its noise."""
        of_noise = not any(
            isinstance(asked.noises[v], Answer)
            for condition in asked.conditions
            for v, _ in condition.terms
        )
        made = self._tree.path[self._entered : self._tree.depth]
        by_noise = all(isinstance(branches, UnweightedBranches) for branches, _ in made)
        return of_noise and by_noise and not asked.places

    def _asked(self) -> AlignedPath:
        """All conditions on the noise of the pass, and what it made known."""
        run = self._run
        assert run is not None
        if _beside_sums(run) != self._before:
            self._tree.forbid(
                "a loop that starts over, and does more with noise than compare sums of it",
                "compare the noise with numbers in it",
            )
        if any(isinstance(branches, Selection) for branches, _ in self._tree.path[self._depth :]):
            self._tree.forbid(
                "a choice with weights of the data in a loop that starts over",
                "choose after the loop",
            )
        conditions = run.conditions()
        own = tuple(
            condition for condition in conditions if self._is_of_pass(v for v, _ in condition.terms)
        )
        known = [form for terms, form in run.released.items() if terms not in self._known]
        if not all(self._is_of_pass(v for v, _ in form.terms) for form in known):
            self._tree.forbid(NOISE_BEFORE, DRAW_INSIDE)
        return AlignedPath(tuple(run.noises), own, tuple(known))

    def _is_of_pass(self, variables: Iterable[int]) -> bool:
        """Whether a condition is on noise of the pass."""
        assert self._run is not None
        noises = [v for v in variables if not isinstance(self._run.noises[v], Answer)]
        noises_of_pass = [v for v in noises if v >= self._first_noise]
        if noises_of_pass and len(noises_of_pass) < len(noises):
            self._tree.forbid(NOISE_BEFORE, DRAW_INSIDE)
        return bool(noises_of_pass)

    def without_passes(self, branches: tuple[int, ...]) -> tuple[int, ...]:
        """The branches of a run that went on, as those of one pass."""
        kept = list(branches)
        for first, end in reversed(self.left_out):
            del kept[first:end]
        return tuple(kept)


def join_exits(ends: Iterable[tuple[AlignedPath, ...]]) -> tuple[AlignedPath, ...] | None:
    """What to pay for where runs leave these loops; None where it is not known.

    Of one loop each way to leave it. Of several, which one move of the answers may all concern,
    they are one path, if each can be left in one way only.
    """
    runs = list(dict.fromkeys(ends))
    if all(len(run) <= 1 for run in runs):
        return tuple(dict.fromkeys(left for run in runs for left in run))
    ways = [
        dict.fromkeys(run[k] for run in runs if k < len(run))
        for k in range(len(max(runs, key=len)))
    ]
    if any(len(way) > 1 for way in ways):
        return None
    lefts = [next(iter(way)) for way in ways]
    conditions = tuple(condition for left in lefts for condition in left.conditions)
    places = tuple(place for left in lefts for place in left.places)
    return (AlignedPath(lefts[-1].noises, conditions, places),)


class PassesOfPath:
    """The passes of one loop in one run; ``begin`` is called at the beginning of each."""

    starts_over = True

    def __init__(self, loops: LoopsOfPaths) -> None:
        self._loops = loops

    def begin(self) -> None:
        """A pass begins."""
        self._loops.begin_pass(self)

    def end(self) -> None:
        """The loop is left."""
        self._loops.end_loop(self)


class PathSamplers(NoisyLoops):
    """Says to ``folds`` where the passes of loops are; ``tree_of`` what the draws of values ask."""

    def __init__(self, tree_of: Callable[[tuple[Any, ...]], Any]) -> None:
        super().__init__()
        self._tree_of = tree_of

    def passes_of(self, values: tuple[Any, ...] | None, *, in_place: bool, loop: Any) -> Any:
        """The passes of a loop that starts over, and reads these values of outside."""
        tree = None if values is None else self._tree_of(values)
        loops: LoopsOfPaths | None = None if tree is None else tree.loops
        if tree is None or loops is None or values is None:
            return PlainPasses()
        others = [value for value in values if not is_generator(value)]
        if not all(is_of_data(value, in_place=in_place) for value in others):
            tree.forbid(NOISE_BEFORE, DRAW_INSIDE)
        return PassesOfPath(loops)


def _beside_sums(run: AlignedRun) -> Any:
    """What a run knows beside sums that it compared or made known."""
    of_choices = len(run.contests), len(run.orders), len(run.coins), run.rounding
    return *of_choices, len(run.missing), len(run.nonzero), len(run.wholes)
