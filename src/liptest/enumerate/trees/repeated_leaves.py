"""Which leaves of a walk are run once more, and how many.

Every leaf of a small law; of a larger one random leaves, and leaves of different outputs. The
first laws of a function are repeated so without counting; later ones within a tenth of all runs,
each with one random leaf at least, so that no law goes without. A leaf of a law of few leaves
gets real random numbers several times: what it answers wrongly may show with some of them only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from liptest.mechanisms.laws import Output, Raised
from liptest.values.branching import Path

Leaf = tuple[Path, Output]
#: Laws with no more leaves are repeated wholly, while there is share for it.
SMALL = 16
# Of larger ones are kept: leaves of so many different outputs, of so many exceptions, random ones.
_OUTPUTS, _EXCEPTIONS, _RANDOM = 32, 16, 16
# Of those are repeated: as many as of a small law, and another one for so many leaves.
_LEAVES_FOR_ANOTHER = 1_000
#: Leaves of a function that are repeated without counting; later ones cost their share.
FREE = 2_000
# A run with real numbers over so many more entries of data counts as one more.
_ENTRIES = 25
#: Runs of repetition among all runs.
SHARE = 0.1
# A leaf is run as it was, and then with real numbers: of a law with one leaf so often, of one with
# k leaves a k-th of that, once at least.
_DRAWS = 8
# Kept: while a program is analysed the names stand for something else.
_GENERATOR, _BITS = np.random.Generator, np.random.PCG64


class KeptLeaves:
    """Keeps some leaves of one walk; ``seed`` decides which random ones."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._first: list[Leaf] = []
        self._by_output: dict[Output, Leaf] = {}
        self._exceptions: dict[Output, list[Leaf]] = {}
        self._random: list[Leaf] = []
        self._rng: np.random.Generator | None = None
        #: Number of the next leaf that is taken into the random ones (algorithm L, Li 1994).
        self._next = SMALL + 1
        self._weight = 1.0

    def offer(self, number: int, path: Path, output: Output) -> None:
        """A leaf of the walk, the first of which has number 1; its path is copied if kept."""
        if number <= SMALL:
            self._first.append((list(path), output))
            return
        if len(self._by_output) < _OUTPUTS and output not in self._by_output:
            self._by_output[output] = list(path), output
        if isinstance(output, Raised):
            # What takes real floats only, as json.dumps, may raise one just because it meets what
            # stands for a random number.
            leaves = self._exceptions.setdefault(output, [])
            if len(leaves) < _EXCEPTIONS:
                leaves.append((list(path), output))
        if number == self._next:
            self._take(number, (list(path), output))

    def _take(self, number: int, leaf: Leaf) -> None:
        if self._rng is None:
            self._rng = _GENERATOR(_BITS(self._seed))
        if len(self._random) < _RANDOM:
            self._random.append(leaf)
            self._next += 1
            if len(self._random) < _RANDOM:
                return
        else:
            self._random[int(self._rng.integers(_RANDOM))] = leaf
        # How many are left out before the next one is geometric.
        first, second = 1 - float(self._rng.random()), 1 - float(self._rng.random())
        self._weight *= min(first ** (1 / _RANDOM), 1 - 2.0**-50)
        self._next = number + 1 + int(math.log(second) / math.log1p(-self._weight))

    @property
    def leaves(self) -> list[Leaf]:
        """All that were kept, each once: some random ones, one for each output, and the others."""
        if self._random:
            few = _RANDOM // 4
            by_output = {leaf[1]: leaf for leaf in (*self._first, *self._by_output.values())}
            every = [*self._random[:few], *by_output.values(), *self._random[few:]]
            every += [leaf for leaves in self._exceptions.values() for leaf in leaves]
        else:
            turn = self._seed % max(len(self._first), 1)
            every = self._first[turn:] + self._first[:turn]
        distinct = {id(path): (path, output) for path, output in every}
        return list(distinct.values())


@dataclass
class Repetition:
    """Runs of one function, leaves among them that were repeated, and how many runs that took."""

    laws: int = 0
    runs: int = 0
    leaves: int = 0
    again: int = 0

    def chosen(
        self, kept: KeptLeaves, runs: int, entries: int = 0
    ) -> list[tuple[Path, Output, int]]:
        """The leaves of a law of so many runs that are repeated, counted from now on.

        Each with how often it is run with real random numbers. A run over data of many ``entries``
        takes long, and counts as more.
        """
        self.laws += 1
        self.runs += runs
        left = max(FREE - self.leaves, self._within_share())
        leaves = kept.leaves
        raising = sum(isinstance(output, Raised) for _, output in leaves)
        most = SMALL + raising + runs // _LEAVES_FOR_ANOTHER
        chosen = leaves[: min(max(1, left), most)]
        draws = max(1, min(left, _DRAWS) // max(len(chosen), 1))
        self.leaves += len(chosen) * (1 + entries // _ENTRIES * draws)
        self.again += len(chosen) * (1 + draws)
        return [(path, output, draws) for path, output in chosen]

    def _within_share(self) -> int:
        """Leaves that may be repeated now: twice, as they were and with real numbers."""
        return (int(SHARE * self.runs / (1 - SHARE)) - self.again) // 2

    @property
    def share(self) -> float:
        """Of all runs, those that repeated a leaf."""
        return self.again / max(self.again + self.runs, 1)
