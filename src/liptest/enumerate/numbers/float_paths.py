"""All paths of code whose floats are followed one by one: what each number of an output is.

A path is excluded for an output by its numbers alone, whatever led to it, so paths need no weights,
and comparisons simply take both branches (docs/theory/floats.md). Where anything is not followed
there is a reason instead: nothing is said then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from liptest.enumerate.intercept.analysis_session import Session
from liptest.enumerate.intercept.draw_logs import hand
from liptest.enumerate.intercept.generator import ChoiceGenerator, present_as
from liptest.enumerate.numbers.float_chains import ChainRun
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.enumerate.trees.outputs import Fields, Items, canonical_output, make_raised
from liptest.enumerate.trees.running import Run
from liptest.enumerate.watch.run_watch import watch_progress
from liptest.errors import LiptestError, UnsupportedRandomnessError
from liptest.floats.chains import FloatChain
from liptest.floats.counts import Condition
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import Output, Raised
from liptest.runs.interrupts import interruptions, raise_swallowed
from liptest.values.draws.noise_run import NoiseRun, NoisyValue

#: Paths of one dataset, and choices on one of them.
MAX_PATHS, MAX_CHOICES = 64, 64
_SECONDS = 10.0
Entry = float | FloatChain
RealRun = Callable[[Any], tuple[Output, tuple[float, ...]]]


@dataclass(frozen=True)
class FloatPath:
    """A path: its output as a shape and numbers, and the comparisons that led to it.

    ``is_followed``: whether nothing else led to it.
    """

    shape: Output
    entries: tuple[Entry, ...]
    conditions: tuple[Condition, ...]
    is_followed: bool


@dataclass(frozen=True)
class FloatPaths:
    """All paths on one dataset; none, and a ``reason``, where they are not followed."""

    paths: tuple[FloatPath, ...] = ()
    reason: str = ""
    #: Shape and numbers of one real run with a Generator, where the code is handed one.
    run: RealRun | None = None
    #: The code with laws of the grid, where all its random numbers are on it.
    on_grid: Mechanism | None = field(default=None, compare=False)


class _FloatTree(ChoiceTree):
    """Walks all paths, without weights."""

    __slots__ = ()

    def forbid(self, what: str, advice: str) -> Any:
        self.fail(UnsupportedRandomnessError(what.rstrip(",")))


class _GridGenerator(ChoiceGenerator):
    """Hands out the numbers of ``random`` as draws whose floats are followed."""

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        run: Any = NoiseRun.of(self._tree)
        if size is not None or dtype is not np.float64 or out is not None:
            return super().random(size, dtype, out)
        self._tree.count_draws(1)
        return run.uniform(self.origin)


present_as(_GridGenerator, np.random.Generator)


def follow_floats(
    name: str, function: Callable[[Any, Any], Any], argument: Any, session: Session, *, runs: bool
) -> FloatPaths:
    """The paths of a function ``(data, rng)`` on one argument; ``runs``: it draws from ``rng``.

    Numbers of ``random`` are coins where that is all that is done with them, else draws.
    """
    # Made once, so that each run gets it without a copy.
    argument = hand(np.asarray(argument)) if np.ndim(argument) else argument
    paths = _follow(name, function, argument, session, ChoiceGenerator)
    if not paths.paths and paths.reason != str(_TOO_LONG):
        again = _follow(name, function, argument, session, _GridGenerator)
        paths = again if again.paths or "rng.random()" in paths.reason else paths
    run_once = partial(_run_for_real, name, function, argument)
    return replace(paths, run=run_once if runs else None)


def _follow(
    name: str,
    function: Callable[[Any, Any], Any],
    argument: Any,
    session: Session,
    generator: type[ChoiceGenerator],
) -> FloatPaths:
    tree = _FloatTree(name, max_choices=MAX_CHOICES)
    session.follow(tree)

    def begin() -> Any:
        tree.noise = ChainRun(tree)
        return hand(argument)

    run = Run(
        function,
        begin,
        generator(tree),
        name,
        lambda output: canonical_output(output, name),
        session,
    )
    paths: list[FloatPath] = []
    before = interruptions()
    try:
        with watch_progress(
            lambda: tree.leaves,
            lambda error: tree.fail(_TOO_LONG),
            _follow.__code__,
            _SECONDS,
            name,
        ):
            for output in tree.leaves_of(run):
                raise_swallowed(before)
                if len(paths) >= MAX_PATHS:
                    return FloatPaths(reason=f"more than {MAX_PATHS} paths")
                shape, entries = flatten_output(output)
                noise: ChainRun = tree.noise
                is_followed = len(noise.conditions) == len(tree.path)
                paths.append(FloatPath(shape, entries, tuple(noise.conditions), is_followed))
    except LiptestError as error:
        return FloatPaths(reason=str(error).removeprefix(f"{name}: "))
    finally:
        tree.close()
    return FloatPaths(tuple(paths))


def _run_for_real(
    name: str, function: Callable[[Any, Any], Any], argument: Any, generator: Any
) -> tuple[Output, tuple[float, ...]]:
    try:
        with np.errstate(all="ignore"):
            output = function(hand(np.asarray(argument)), generator)
    except Exception as error:
        output = make_raised(error)
    flat: Any = flatten_output(canonical_output(output, name))
    return flat  # type: ignore[no-any-return]


_TOO_LONG = UnsupportedRandomnessError("a run that takes long")


class Hole:
    """In the place of a number in the shape of an output."""

    def __repr__(self) -> str:
        return "number"


_HOLE = Hole()
_KEYS = (str, int, bytes, type(None))


def flatten_output(output: Output) -> tuple[Output, tuple[Entry, ...]]:
    """An output in its canonical form as a shape and its numbers, in their order."""
    entries: list[Entry] = []
    shape = _shape(output, entries)
    return shape, tuple(entries)


def _shape(output: Any, entries: list[Entry]) -> Any:
    kind = type(output)
    if kind is FloatChain or kind in (bool, int, float):
        entries.append(output)
        return _HOLE
    if kind is tuple:
        return tuple(_shape(entry, entries) for entry in output)
    if kind is Items:
        if not all(type(key) in _KEYS for key, _ in output.items):
            raise UnsupportedRandomnessError("a dict with such keys as an output")
        pairs = sorted(output.items, key=lambda pair: repr(pair[0]))
        return Items, tuple((key, _shape(value, entries)) for key, value in pairs)
    if kind is Fields:
        return output.kind, tuple((title, _shape(part, entries)) for title, part in output.values)
    if output is None or kind in (str, bytes, Raised):
        return output
    if kind is NoisyValue:
        is_one = len(output.form.terms) == 1
        of_one = "a function of one random number that is not followed float by float"
        raise UnsupportedRandomnessError(of_one if is_one else "a sum of several continuous draws")
    raise UnsupportedRandomnessError(f"an output of type {kind.__name__}")
