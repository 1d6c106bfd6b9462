"""The law of code on the grid of floats that its uniform numbers are on, as it is implemented.

Noise that a program makes of ``rng.random()`` by an inverse cdf has an ideal law, that of the
formula. As implemented it is a function of one of 2**53 grid points, and so is what is rounded or
compared of it: all points are counted (docs/theory/floats.md, I7).
"""

from __future__ import annotations

from liptest.enumerate.choice_tree import ChoiceTree
from liptest.mechanisms.laws import Output

#: Runs of one law.
MOST_RUNS = 1 << 10


class GridTree(ChoiceTree):
    """Takes no number for the noise that it stands for."""

    __slots__ = ()
    inverts = False

    def _leaf_of(self, output: Output) -> Output:
        if self.noise is not None:
            self.unsupported("noise beside numbers of rng.random()", "make all of it by hand")
        return super()._leaf_of(output)
