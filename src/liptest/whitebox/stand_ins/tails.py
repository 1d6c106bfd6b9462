"""Draws of a Generator from distributions without an end; the tail stays unexplored."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from liptest.values.branching import Branching
from liptest.values.tails import draw_tailed


class TailedDraws:
    """Methods of a Generator for distributions without an end; the tail stays unexplored."""

    _tree: Branching
    _entries: Callable[..., Any]

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        return self._tailed("poisson", (lam,), size)

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        return self._tailed("negative_binomial", (n, p), size)

    def logseries(self, p: Any, size: Any = None) -> Any:
        return self._tailed("logseries", (p,), size)

    def zipf(self, a: Any, size: Any = None) -> Any:
        return self._tailed("zipf", (a,), size)

    def _tailed(self, method: str, parameters: tuple[Any, ...], size: Any) -> Any:
        draw = partial(draw_tailed, self._tree, method)
        return self._entries(method, draw, parameters, (float,) * len(parameters), size)
