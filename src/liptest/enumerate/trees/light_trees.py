"""Laws without what noise next to never does (``values.draws.light_ways``)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.mechanisms.laws import Output


class LightTree(ChoiceTree):
    """Leaves out light ways, and does not ask what is all but certain.

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
