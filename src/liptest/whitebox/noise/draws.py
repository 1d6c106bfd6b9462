"""Noise that a stand-in generator hands out: symbolic, with the ideal laws of NumPy's methods."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from math import isfinite
from typing import Any

import numpy as np

from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.values.array import array_of
from liptest.values.branching import Branching
from liptest.values.noise import value_of
from liptest.values.noise_run import NoiseRun
from liptest.whitebox.stand_ins.finite import NUMPY

_ADVICE = "give a finite scale"


class NoiseDraws:
    """Methods of a Generator for noise that stays symbolic."""

    _tree: Branching
    shape_of: Callable[[Any], tuple[int, ...]]

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._located("laplace", loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._located("normal", loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._located("gumbel", loc, scale, size)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._located("logistic", loc, scale, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._noise("exponential", (scale,), size, partial(_scaled, "exponential"))

    def standard_exponential(
        self, size: Any = None, dtype: Any = np.float64, method: Any = "zig", out: Any = None
    ) -> Any:
        self._refuse_options("standard_exponential", dtype, out)
        return self.exponential(1.0, size)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        self._refuse_options("standard_normal", dtype, out)
        return self.normal(0.0, 1.0, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        return self._noise("geometric", (p,), size, _geometric)

    def _located(self, family: str, loc: Any, scale: Any, size: Any) -> Any:
        return self._noise(family, (loc, scale), size, partial(_moved, family))

    def _refuse_options(self, method: str, dtype: Any, out: Any) -> None:
        if np.dtype(dtype) != np.float64 or out is not None:
            self._tree.unsupported(f"rng.{method}(dtype=, out=)", "leave both away")

    def _noise(
        self,
        method: str,
        parameters: tuple[Any, ...],
        size: Any,
        draw: Callable[..., Form | float | None],
    ) -> Any:
        """One variable, or one for each entry of the broadcast parameters."""
        tree = self._tree
        tree.count_draws(1)
        if size is not None:
            self.shape_of(size)
        plain = size is None and all(type(one) is float for one in parameters)
        model = _model(method, *parameters) if plain else _modelled(method, parameters, size)
        run = NoiseRun.of(tree)
        kind: Any = int if method == "geometric" else float

        def one(*entry: Any) -> Any:
            form = draw(run, *map(float, entry))
            if form is None:
                tree.unsupported(f"rng.{method} of infinite scale", _ADVICE)
            return value_of(run, form, kind) if isinstance(form, Form) else form

        if not isinstance(model, np.ndarray):
            found = one(*parameters)
        else:
            cells = [np.broadcast_to(np.asarray(p), model.shape).ravel() for p in parameters]
            drawn = np.empty(model.size, dtype=object)
            for place, entry in enumerate(zip(*cells, strict=True)):
                drawn[place] = one(*entry)
            found = array_of(tree, drawn.reshape(model.shape), model.dtype)
        if tree.draw_log is None or type(found) in (float, int, np.ndarray):
            return found
        return tree.draw_log.hand_out(found)


def _modelled(method: str, parameters: tuple[Any, ...], size: Any) -> Any:
    """What NumPy itself gives: the type, the shape, or its error."""
    return getattr(NUMPY, method)(*parameters, size=size)


@lru_cache(maxsize=256)
def _model(method: str, *parameters: float) -> Any:
    return _modelled(method, parameters, None)


def _moved(family: str, run: NoiseRun, loc: float, scale: float) -> Form | float | None:
    found = _scaled(family, run, scale)
    if found is None or not isfinite(loc):
        return None if found is None else loc
    return found + Fraction(loc) if loc else found


def _scaled(family: str, run: NoiseRun, scale: float) -> Form | None:
    if not isfinite(scale):
        return None
    return run.new(_variable(family, scale)) if scale else Form.of(0)


def _geometric(run: NoiseRun, p: float) -> Form:
    return run.new(_variable("geometric", p)) if p < 1 else Form.of(1)


@lru_cache(maxsize=256)
def _variable(family: str, parameter: float) -> Noise:
    return Noise(family, Fraction(parameter))
