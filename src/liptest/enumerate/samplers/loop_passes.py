"""The passes of loops that start over, as a run makes them (``start_over``)."""

from __future__ import annotations

from fractions import Fraction
from types import FunctionType
from typing import Any

import numpy as np

from liptest.enumerate.intercept.generator import is_generator
from liptest.enumerate.samplers.restarts import RestartingTree
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.enumerate.watch.access_tracking import TrackedArray
from liptest.symbolic.answers import Answer
from liptest.values.answers.aligned import AlignedValue
from liptest.values.array import SymbolicArray
from liptest.values.records.column import Column

_PLAIN_KINDS = (
    *(int, float, bool, str, type(None)),
    *(Fraction, np.int64, np.float64, np.bool_),
)
# Entries of a list or tuple that are looked at.
_MOST_ENTRIES = 10_000


class Passes:
    """The passes of one loop in one run; ``begin`` is called at the beginning of each."""

    starts_over = True

    def __init__(self, tree: RestartingTree) -> None:
        self._tree = tree
        self._entered: tuple[Any, Any] | None = None

    def begin(self) -> None:
        """Begin a pass; at a second one the run ends."""
        if self._entered is not None:
            self._tree.restart(self._entered)
        self._entered = self._tree.enter_loop()

    def end(self) -> None:
        """The loop is left."""


class NoisyLoops:
    """Base of what says to ``folds`` where the passes of loops are, which may draw noise."""

    draws_noise = True

    def __init__(self) -> None:
        self.loops = 0

    def is_sampler(self, function: FunctionType) -> bool:
        """No function is summed up."""
        return False


class PlainPasses:
    """Of a loop that is run as it is written."""

    starts_over = False

    def begin(self) -> None:
        """A pass begins."""

    def end(self) -> None:
        """The loop is left."""


def find_passes(
    values: tuple[Any, ...], tree: ChoiceTree | None, *, in_place: bool
) -> Passes | PlainPasses:
    """The passes of a loop that reads these values of outside, its generator among them.

    ``tree`` is what its draws ask. ``in_place``: something is added to in the loop,
    which would change a list.
    """
    others = [value for value in values if not is_generator(value)]
    if not all(is_of_data(value, in_place=in_place) for value in others):
        return PlainPasses()
    return Passes(tree) if isinstance(tree, RestartingTree) else PlainPasses()


def is_plain_value(value: Any, *, in_place: bool) -> bool:
    """Whether a value is a number, a text or a table of them, which no pass changes."""
    kind = type(value)
    if kind in _PLAIN_KINDS:
        return True
    if kind is tuple or (kind is list and not in_place):
        few = len(value) <= _MOST_ENTRIES
        return few and all(is_plain_value(entry, in_place=in_place) for entry in value)
    if kind is np.ndarray:
        return not in_place and not value.dtype.hasobject
    return kind is TrackedArray and not in_place


def is_of_data(value: Any, *, in_place: bool) -> bool:
    """Whether a value is plain, or a column or a sum of the data: no pass changes it."""
    if is_plain_value(value, in_place=in_place):
        return True
    if type(value) is AlignedValue:
        return _has_only_answers(value)
    if type(value) is not SymbolicArray or in_place:
        return False
    return type(value.storage) is Column


def _has_only_answers(value: AlignedValue) -> bool:
    noises = value.run.noises
    return all(isinstance(noises[v], Answer) for v, _ in value.form.terms)
