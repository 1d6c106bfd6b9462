"""``rng.choice([-1, 1], size=n) * rng.exponential(scale, size=n)``: Laplace noise, entry by entry.

Let s be a fair sign and E exponential noise of a scale, independent. Then s E has the density
exp(-|x| / scale) / (2 scale): it is Laplace noise L of that scale, and s and E are the sign and the
size of L (docs/theory/loops.md, L12). The program multiplies both draws on the spot, so that it has
neither of them but in the product, which is one Laplace variable for each entry. A run with real
random numbers draws the sign and the size of each L.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from liptest.enumerate.folded.passing import is_known_source
from liptest.enumerate.intercept.draw_logs import RecordedDraws
from liptest.symbolic.noise import Noise
from liptest.values.answers.aligned import AlignedValue
from liptest.values.array import SymbolicArray, fill_array, make_array
from liptest.values.binary.bernoulli import BernoulliVariables
from liptest.values.binary.bits import PackedBits
from liptest.values.draws.noise import NoiseValue, find_value
from liptest.values.draws.noise_run import NoiseRun


def may_multiply_draws(function: Any) -> bool:
    """Whether a function, or one that it calls by name, names a choice and exponential noise."""
    if type(function) is not FunctionType:
        return False
    called = [function.__globals__.get(name) for name in function.__code__.co_names]
    functions = [function, *(one for one in called if type(one) is FunctionType)]
    return any(_names_both({*one.__code__.co_names}) for one in functions)


def _names_both(names: set[str]) -> bool:
    return "choice" in names and not names.isdisjoint(("exponential", "standard_exponential"))


def multiply_draws(
    left: Callable[[], Any], right: Callable[[], Any], sources: Callable[[], tuple[Any, ...]]
) -> Any:
    """The product of what two sources draw, which nothing else has where these are generators."""
    first = left()
    log = _log_of(first)
    before = _count_noted(log)
    second = right()
    is_noted = type(log) is RecordedDraws and len(log.born) == before + 1
    if _log_of(second) is not log or (log is not None and not is_noted):
        return first * second
    if not all(
        map(is_known_source, sources())
    ):  # an object of the program's may keep what it gives
        return first * second
    made = _as_laplace(*((first, second) if _are_signs(first) else (second, first)))
    if made is None:
        return first * second
    if log is not None:
        parts = _Signs(made), _Sizes(made)
        log.born[-2:] = parts if _are_signs(first) else parts[::-1]
    return made


def _log_of(array: Any) -> Any:
    return array.branching.draw_log if type(array) is SymbolicArray else None


def _count_noted(log: Any) -> int:
    return len(log.born) if type(log) is RecordedDraws else 0


def _are_signs(array: Any) -> bool:
    """Whether it is an array of fair signs that nobody has looked at, each of its own."""
    if type(array) is not SymbolicArray or type(array.storage) is not PackedBits:
        return False
    tables = array.storage.tables
    if tables.count != 1 or not np.all(np.sort(tables.table) == [-1, 1]):
        return False
    return BernoulliVariables.of(array.branching).are_fair(tables.variables.reshape(-1))


def _as_laplace(signs: Any, sizes: Any) -> Any:
    """New Laplace noise in the place of both; None where they are something else."""
    if not _are_signs(signs) or type(sizes) is not SymbolicArray or signs.shape != sizes.shape:
        return None
    run = NoiseRun.of(signs.branching)
    scales = [_scale_of(run, cell) for cell in sizes.cells.flat]
    if not scales or any(scale is None for scale in scales):
        return None
    made = [find_value(run, run.new(Noise("laplace", scale)), float) for scale in scales]
    cells = fill_array(made, sizes.shape, object)
    return make_array(signs.branching, cells, np.dtype(np.float64))


def _scale_of(run: NoiseRun, cell: Any) -> Any:
    """The scale of exponential noise as it was drawn."""
    if type(cell) not in (NoiseValue, AlignedValue):
        return None
    form = cell.form
    if form.constant or len(form.terms) != 1 or form.terms[0][1] != 1:
        return None
    noise = run.noises[form.terms[0][0]]
    is_it = type(noise) is Noise and noise.family == "exponential"
    return noise.parameter if is_it else None


class _Signs:
    """The signs of Laplace noise, for a run with real random numbers."""

    def __init__(self, noise: Any) -> None:
        self._noise = noise.as_drawn()

    def as_drawn(self) -> Any:
        """What stays of it."""
        return self

    def replay(self, point_in: Callable[[int, int], int]) -> Any:
        """What ``choice`` gives."""
        return np.where(self._noise.replay(point_in) > 0, 1, -1)


class _Sizes(_Signs):
    """Its sizes."""

    def replay(self, point_in: Callable[[int, int], int]) -> Any:
        """What ``exponential`` gives."""
        return np.abs(self._noise.replay(point_in))
