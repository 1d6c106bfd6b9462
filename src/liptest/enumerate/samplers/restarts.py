"""Loops that start over, counted as one pass given that it leaves the loop (theory L5).

In the tree of a program a loop that starts over is entered at a node. A run that would begin a
second pass ends there instead, and what all runs through the node add is enlarged by the share of
the first pass that did not end so: an exact rational number, with no tail at all.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NoReturn

from liptest.enumerate.trees.choice_tree import (
    Abort,
    ChoiceTree,
    too_many_choices,
    too_many_leaves,
)
from liptest.enumerate.watch.run_watch import endless
from liptest.errors import LiptestError
from liptest.mechanisms.laws import Output, find_quotient
from liptest.symbolic.work import spend_on_choices
from liptest.values.branching import Path
from liptest.values.draws.noise_run import NoiseRun


@dataclass(eq=False)
class _Entered:
    """A loop at a node: the weight of the node, and what ended in a second pass."""

    depth: int
    weight: Fraction
    restarted: Fraction = Fraction(0)
    #: What waits to be enlarged: a leaf, or the second pass of a loop around this one.
    waiting: list[_Ended] = field(default_factory=list)


@dataclass
class _Ended:
    """The end of a run: an output, or a second pass of a loop."""

    weight: Fraction
    leaf: tuple[NoiseRun | None, Output] | None
    loop: _Entered | None


class RestartingTree(ChoiceTree):
    """A choice tree in which loops may start over."""

    __slots__ = ("_begun", "_entered", "_repeats", "_restarted", "_restarts", "_settled")

    def __init__(self, name: str, *, skips_light: bool = False, **budgets: Any) -> None:
        super().__init__(name, **budgets)
        #: Paths below 2**-LIGHT are not walked to their ends, from the first run on.
        self._deep = skips_light
        self._entered: list[_Entered] = []
        self._begun = self._restarts = 0
        self._repeats = False
        self._restarted: _Entered | None = None
        self._settled: list[_Ended] = []

    @property
    def is_in_loop(self) -> bool:
        """Whether this run has entered a loop that starts over."""
        return self._begun > 0

    def enter_loop(self) -> tuple[Any, Any]:
        """The first pass of a loop begins: what ``restart`` is given."""
        if self._repeats:
            return None, ()
        number, self._begun = self._begun, self._begun + 1
        if number == len(self._entered):
            if self.depth != len(self.path):
                self._differs("the same choices led to another loop")
            self._entered.append(_Entered(self.depth, find_quotient(*self._leaf_weight())))
        entered = self._entered[number]
        if entered.depth != self.depth:
            self._differs("the same choices led to another loop")
        return entered, self._find_known_of_noise()

    def restart(self, entered: tuple[Any, Any]) -> NoReturn:
        """A second pass would begin."""
        if self._repeats:
            self._differs("the same choices led to another pass of a loop")
        if entered[1] != self._find_known_of_noise():
            self.forbid(
                "noise that is compared in a loop that starts over",
                "draw it before the loop, or bound the loop",
            )
        self._restarted, self._cut = entered[0], True
        raise Abort(too_many_choices(self.name, self.max_choices))

    def repeat(self, run: Any, path: Path, output: Output) -> None:
        """As ``ChoiceTree.repeat``: of a leaf every loop has one pass."""
        self._repeats = True
        super().repeat(run, path, output)

    def _find_known_of_noise(self) -> Any:
        return () if self.noise is None else self.noise.constraints

    def _run(self, run: Any) -> Output:
        self._begun, self._restarted = 0, None
        return super()._run(run)

    def _walk(self, run: Any) -> LiptestError | None:
        deadline = None if self.max_seconds is None else time.monotonic() + self.max_seconds
        while True:
            output = self._run(run)
            spend_on_choices(len(self.path))
            if self._restarted is not None:
                self._count_restart()
            elif self._cut:
                # What is left out of a loop is enlarged, too: it is found as what is missing.
                self._skipped = self._skipped or bool(self._entered)
                if self._leave_out():
                    return too_many_choices(self.name, self.max_choices)
            else:
                self.leaves += 1
                self._count_leaf(self._leaf_of(output))
                self.kept.offer(self.leaves, self.path, output)
            more = self._advance()
            self._leave_loops(len(self.path) if more else 0)
            self._add_settled()
            if not more:
                self._complete = True
                is_part = self._cuts or not self.leaves
                return too_many_choices(self.name, self.max_choices) if is_part else None
            if self._ended() >= self.max_leaves:
                self._give_up_loops()
                return too_many_leaves(self.name, self.max_leaves)
            if deadline is not None and time.monotonic() > deadline:
                self._give_up_loops()
                return endless(self.name, self.max_seconds or 0.0)

    def _end(self, output: Output) -> None:
        """Note the end of a run, whose output is settled once its loops are left."""
        if self._restarted is not None:
            self._count_restart()
        elif not self._cut:
            self._note(_Ended(find_quotient(*self._leaf_weight()), (self.noise, output), None))

    def _ended(self) -> int:
        return self.leaves + self._restarts

    def _count_leaf(self, leaf: Output) -> None:
        if not self._entered:
            self.sum.add_leaf(self.noise, leaf, *self._leaf_weight())
            return
        self._note(_Ended(find_quotient(*self._leaf_weight()), (self.noise, leaf), None))

    def _count_restart(self) -> None:
        self._restarts += 1
        self._note(_Ended(find_quotient(*self._leaf_weight()), None, self._restarted))

    def _note(self, ended: _Ended) -> None:
        """Of a run that passed through all loops that are entered."""
        self._hand_over(ended, len(self._entered) - 1)

    def _hand_over(self, ended: _Ended, number: int) -> None:
        if number < 0:
            self._settled.append(ended)
        elif ended.loop is self._entered[number]:
            ended.loop.restarted += ended.weight
        else:
            self._entered[number].waiting.append(ended)

    def _leave_loops(self, length: int) -> None:
        """The last choice of a path of this length was changed, or the walk is over."""
        while self._entered and (self._entered[-1].depth >= length or length == 0):
            self._leave_last()

    def _leave_last(self) -> None:
        last = self._entered.pop()
        leaving = last.weight - last.restarted
        if not leaving:
            return  # it never ends: what is left out
        for ended in last.waiting:
            ended.weight *= last.weight / leaving
            self._hand_over(ended, len(self._entered) - 1)

    def _give_up_loops(self) -> None:
        """Of loops that were not walked to their end what is known is a lower bound."""
        while self._entered:
            self._leave_last()
        self._add_settled()

    def _add_settled(self) -> None:
        for ended in self._settled:
            if ended.leaf is not None:
                run, leaf = ended.leaf
                self.sum.add_leaf(run, leaf, *ended.weight.as_integer_ratio())
        self._settled.clear()

    def settled(self) -> Iterator[tuple[Output, Fraction]]:
        """Outputs with their final weights, each once."""
        pending, self._settled = self._settled, []
        for ended in pending:
            if ended.leaf is not None:
                yield ended.leaf[1], ended.weight
