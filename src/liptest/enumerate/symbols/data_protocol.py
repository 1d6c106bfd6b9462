"""How a domain's datasets reach a program that is followed with symbolic data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from liptest.enumerate.symbols.symbolic_paths import Pairs
from liptest.symbolic.answers import Answer, Differences, ManyDifferences, Move
from liptest.values.answers.aligned import AlignedRun
from liptest.values.branching import Branching


class Data(Protocol):
    """How a domain's datasets reach a program."""

    def symbolic(self, tree: Branching, run: AlignedRun) -> Any:
        """What stands for a dataset."""
        ...

    def plain(self, rng: np.random.Generator) -> NDArray[Any]:
        """Some dataset."""
        ...

    def value(self, answer: Answer, dataset: NDArray[Any]) -> Fraction:
        """An answer of a dataset."""
        ...

    def differences(self) -> Differences | ManyDifferences:
        """How far neighbours move the answers."""
        ...

    def added(self, number: int) -> dict[int, Fraction] | None:
        """What is added up to an answer, by values of records or by places; None where not so."""
        ...

    def change_of_move(self, move: Move) -> tuple[int, int, int] | None:
        """A position and two values of its record that move the answers so, where known."""
        ...

    def pairs_at(self, table: dict[int, Fraction], offset: Fraction) -> Pairs:
        """Neighbours between which a sum of answers, times factors, and an offset crosses 0."""
        ...

    @property
    def reads_length(self) -> bool:
        """Whether the number of records was read."""
        ...

    @property
    def is_of_released(self) -> bool:
        """Whether some answer depends on a number that was released before (tables, B9)."""
        ...

    @property
    def are_answers_alike(self) -> bool:
        """Whether an exchange of answers makes differences differences."""
        ...
