"""Draws of a Generator that give a vector of counts: one count after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from liptest.whitebox.stand_ins.finite import NUMPY


class CountVectorDraws:
    """``multinomial`` and ``multivariate_hypergeometric``, by the laws of one count."""

    _guard: Callable[[Any], None]
    require_whole: Callable[..., None]
    binomial: Callable[..., Any]
    hypergeometric: Callable[..., Any]

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        self.require_whole("multinomial", n)
        self._guard(size)
        model = NUMPY.multinomial(n, pvals, size)
        trials = np.broadcast_to(n, model.shape[:-1])
        masses = np.broadcast_to(np.asarray(pvals, dtype=np.float64), model.shape)
        for place in np.ndindex(trials.shape):
            model[place] = self._multinomial_row(int(trials[place]), masses[place].tolist())
        return model

    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Any = None, method: Any = "marginals"
    ) -> Any:
        self.require_whole("multivariate_hypergeometric", colors, nsample)
        self._guard(size)
        # The other method of NumPy has the same law, but makes a list of all items.
        checked: Any = method if method != "count" else "marginals"
        model = NUMPY.multivariate_hypergeometric(colors, nsample, size, method=checked)
        counts = np.asarray(colors).tolist()
        for place in np.ndindex(model.shape[:-1]):
            model[place] = self._drawn_row(int(nsample), counts)
        return model

    def _multinomial_row(self, n: int, masses: Sequence[float]) -> list[int]:
        # As NumPy: one binomial after the other, with the float probabilities it computes.
        counts, left, mass = [0] * len(masses), n, 1.0
        for place, p in enumerate(masses[:-1]):
            if left <= 0:
                break
            counts[place] = self.binomial(left, min(p / mass, 1.0))
            left -= counts[place]
            mass -= p
        counts[-1] += left
        return counts

    def _drawn_row(self, n: int, colors: Sequence[int]) -> list[int]:
        counts, left, others = [0] * len(colors), n, sum(colors)
        for place, here in enumerate(colors):
            if left == 0:
                break
            others -= here
            counts[place] = left if others == 0 else self.hypergeometric(here, others, left)
            left -= counts[place]
        return counts
