"""The inverse cdfs of SciPy and of Python's statistics, as operations on one random float.

Each is the library's own function of a plain number. That it is an inverse cdf is what makes noise
of a uniform number (``inverse_cdf``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache, partial
from statistics import NormalDist
from typing import Any

from liptest.values.draws.images import Quantiles, Step

# Of the distributions of scipy.stats without a shape.
_OF_SCIPY = {
    "norm": Quantiles("normal"),
    "laplace": Quantiles("laplace"),
    "logistic": Quantiles("logistic"),
    "gumbel_r": Quantiles("gumbel"),
    "gumbel_l": Quantiles("gumbel", factor=-1, turned=True),
    "expon": Quantiles("exponential", factor=-1, turned=True),
}
_UFUNCS = {"ndtri": Quantiles("normal"), "logit": Quantiles("logistic")}
# Kept: while a program is analysed another method stands there.
_INVERSE_NORMAL, _STANDARD = NormalDist.inv_cdf, NormalDist()


def _grows(x: Any) -> int:
    return 1


def _falls(x: Any) -> int:
    return -1


@lru_cache(maxsize=256)
def of_ufunc(ufunc: Any) -> Step | None:
    """The step of a function of scipy.special; None for what is not an inverse cdf."""
    special, name = sys.modules.get("scipy.special"), ufunc.__name__
    is_known = name in _UFUNCS and getattr(special, name, None) is ufunc
    return Step(name, ufunc, _grows, quantile=_UFUNCS[name]) if is_known else None


def _standard_normal(p: float) -> float:
    return _INVERSE_NORMAL(_STANDARD, p)


#: ``statistics.NormalDist().inv_cdf``.
INVERSE_NORMAL = Step("inv_cdf", _standard_normal, _grows, quantile=Quantiles("normal"))


def of_scipy(method: Callable[..., Any], law: Any) -> Step | None:
    """The step of SciPy's own ``ppf`` or ``isf``; None for a distribution that is not known."""
    stats = sys.modules["scipy.stats"]
    for name in _OF_SCIPY:
        if type(law) is type(getattr(stats, name)):
            return _of_scipy(method, name)
    return None


@lru_cache(maxsize=64)
def _of_scipy(method: Callable[..., Any], name: str) -> Step:
    function = partial(method, getattr(sys.modules["scipy.stats"], name))
    how, quantile = method.__name__, _OF_SCIPY[name]
    if how == "ppf":
        return Step(f"{name}.ppf", function, _grows, quantile=quantile)
    turned = Quantiles(quantile.family, quantile.factor, not quantile.turned)
    return Step(f"{name}.isf", function, _falls, quantile=turned)
