"""Which random choices lead to an output: found, shown with their source lines, and replayed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from liptest.enumerate.trees.choice_tree import MAX_CHOICES, Abort, ChoiceTree
from liptest.enumerate.trees.outputs import are_same
from liptest.errors import InputError, LiptestError, NonDeterministicError
from liptest.mechanisms.laws import Output
from liptest.values.branching import Branches, UnweightedBranches
from liptest.values.draws.grid import Split
from liptest.values.lines import find_place, line_in_words
from liptest.verdicts import Count, Positive, Record, Text

#: Runs in search of an output; an output that is rarer than that has no trace.
MAX_RUNS = 1 << 16
# Binary digits of a weight that Python writes as a decimal, and of all those of a choice.
_LONGEST = 1 << 13
_MOST_DIGITS = 1 << 20
Run = Callable[[], Output]


@dataclass(frozen=True)
class TracedChoice(Record):
    """One random choice on the way to an output.

    ``branches`` is how many equal ones there were, or their whole-number weights, which are only
    about right where noise is compared; ``chosen`` the branch that was taken; ``draw`` the file,
    line and text of the code that asked.
    """

    branches: Positive | tuple[Count, ...]
    chosen: Count
    draw: Text = ""

    @property
    def probability(self) -> Fraction:
        """The probability of the branch that was taken."""
        if isinstance(self.branches, int):
            return Fraction(1, self.branches)
        return Fraction(self.branches[self.chosen], sum(self.branches))

    @property
    def is_long(self) -> bool:
        """Whether its weights have too many digits to be written down."""
        if isinstance(self.branches, int):
            return False
        digits = [weight.bit_length() for weight in self.branches]
        return max(digits) > _LONGEST or sum(digits) > _MOST_DIGITS


class TracingTree(ChoiceTree):
    """A tree that is walked in search of one output, and then once more with notes."""

    walks_all = False

    def __init__(self, name: str, *, max_choices: int = MAX_CHOICES) -> None:
        super().__init__(name, max_leaves=MAX_RUNS, max_choices=max_choices)
        self._notes: list[TracedChoice] | None = None

    def choose(self, branches: Branches) -> int:
        branch = super().choose(branches)
        if self._notes is not None:
            # As it was asked first: it knows its ways.
            asked, _ = self.path[self.depth - 1]
            shown = asked.weights() if isinstance(asked, UnweightedBranches) else asked
            self._notes.append(
                TracedChoice(shown, branch, line_in_words(*find_place(sys._getframe(1))))
            )
        return branch

    def find(self, run: Run, wanted: Sequence[Output]) -> list[TracedChoice] | None:
        """The choices of the first run with one of the outputs; None when none is found."""
        while True:
            output = self._run(run)
            if not self._cut and output in wanted:
                self._notes = []
                self._again(run, output)
                return self._notes
            self.leaves += 1
            if self.leaves >= MAX_RUNS or not self._goes_on():
                return None

    def _goes_on(self) -> bool:
        """Whether there is another run. Raises what ends the search for it."""
        error: LiptestError
        try:
            return self._advance()
        except Abort as abort:  # between two runs nobody else sees it
            error = abort.error
        raise error

    def replay(self, run: Run, choices: Sequence[TracedChoice]) -> Output:
        """The output after the given choices; InputError when the program asks for others."""
        self.path = [(choice.branches, choice.chosen) for choice in choices]
        self._weights = [(1, 1)]
        try:
            output = self._run(run)
        except NonDeterministicError:
            self.path.clear()
        if len(self.path) != len(choices) or self._cut:
            raise InputError(
                f"{self.name}: the choices are not those that it makes on this dataset; they "
                f"are of another dataset or another version",
                name="choices",
            )
        return output

    def _again(self, run: Run, output: Output) -> None:
        # Equal but not the same weights: what is compared by identity takes a short cut past us.
        self.path = [(_copy(branches), branch) for branches, branch in self.path]
        if not are_same(self._run(run), output):
            self._differs("the same choices led to a different output", aborts=False)


def _copy(branches: Branches) -> Branches:
    return Split(branches) if isinstance(branches, Split) else branches
