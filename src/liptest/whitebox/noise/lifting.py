"""Uniform random floats that meet other noise: from then on they are noise themselves.

``rng.random()`` is a point of a grid of floats, cut at each comparison (``floats.uniforms``). Where
it is compared with or added to another random number there is no cut of the grid; it is then taken
for an ideal uniform number of the interval in which it is known to lie.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from liptest.symbolic.noise import Noise
from liptest.values.branching import Branching
from liptest.values.grid import GRID
from liptest.values.noise_run import NoiseRun
from liptest.whitebox.floats.uniforms import ArrayUniform, Uniform
from liptest.whitebox.noise.numbers import Noisy, number_of

_UNIFORM = Noise("uniform", Fraction(1))


# How Python itself changes the type of an object; stand-ins say otherwise what they are.
_PUT_TYPE: Any = vars(object)["__class__"].__set__


class Lifted(Uniform):
    """What a uniform random float becomes: all that is asked of it, its noise is asked."""

    __slots__ = ()

    __hash__ = Uniform.__hash__

    def as_born(self) -> Any:
        """Itself: its noise does not change."""
        return self

    def concrete(self, point_in: Callable[[int, int], int]) -> Any:
        """A float that it may be."""
        return self._line.concrete(point_in)

    def settled(self, use: str, settle: Any = None) -> Any:
        return self._line.settled(use)


def lifted(value: Any) -> Noisy | None:
    """A uniform random float as noise; None for what is none, or was calculated from one."""
    kind = type(value)
    if kind is Lifted:
        found: Noisy = value._line
        return found
    if kind not in (Uniform, ArrayUniform):
        return None
    tree: Branching = value._tree
    run, line = NoiseRun.of(tree), value._line
    low, width = Fraction(line.low), Fraction(line.width)
    start, stop = Fraction(value._low, GRID), Fraction(value._high, GRID)
    form = run.new(_UNIFORM) * (width * (stop - start)) + (low + width * start)
    noise: Noisy = number_of(run, form, value._looks_like)
    value._line = noise
    _PUT_TYPE(value, Lifted)
    return noise


def _asked_of_noise(name: str) -> Callable[..., Any]:
    return lambda self, *arguments: getattr(self._line, name)(*arguments)


for _name in (
    *("lt", "le", "gt", "ge", "eq", "ne", "bool", "int", "trunc", "floor", "ceil", "round"),
    *("neg", "pos", "abs", "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv"),
    *("floordiv", "rfloordiv", "mod", "rmod", "pow", "rpow", "copy", "deepcopy"),
):
    setattr(Lifted, f"__{_name}__", _asked_of_noise(f"__{_name}__"))


for _name in ("item", "entry"):
    setattr(Lifted, _name, _asked_of_noise(_name))
