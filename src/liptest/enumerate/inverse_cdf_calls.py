"""Inverse cdfs of SciPy and of Python's statistics that a program calls with a random number.

SciPy's methods take apart what they are given as an array, before any function of NumPy is asked.
Location and scale are steps after the inverse cdf, as the libraries' own code has it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from statistics import NormalDist
from typing import Any

from liptest.enumerate.analysis_session import Session, kept_follower
from liptest.values.faults import raises_as_numpy
from liptest.values.protocol import is_symbolic
from liptest.values.quantile_steps import INVERSE_NORMAL, of_scipy
from liptest.values.uniform import UniformValue

# Kept: while a program is analysed another method stands there.
_INVERSE_NORMAL = NormalDist.inv_cdf


def inverse_cdf_methods() -> Iterator[tuple[Any, str, Any]]:
    """Classes, names of methods and what stands for them; of SciPy where it is loaded."""
    yield NormalDist, "inv_cdf", kept_follower(_INVERSE_NORMAL, _of_statistics, draws=False)
    names = vars(sys.modules["scipy.stats"]) if "scipy.stats" in sys.modules else {}
    kind = names.get("rv_continuous")
    for name in ("ppf", "isf") if kind is not None else ():
        method = getattr(kind, name)
        yield kind, name, kept_follower(method, _of_scipy(method), draws=False)


@raises_as_numpy
def _of_statistics(session: Session, law: Any, p: Any) -> Any:
    if not _is_uniform(p) or type(law) is not NormalDist or not law.stdev > 0:
        return _INVERSE_NORMAL(law, p)
    return p.after(INVERSE_NORMAL) * law.stdev + law.mean


@lru_cache
def _of_scipy(method: Callable[..., Any]) -> Callable[..., Any]:
    @raises_as_numpy
    def answer(session: Session, law: Any, q: Any, *given: Any, **options: Any) -> Any:
        step = of_scipy(method, law) if _is_uniform(q) else None
        moved = _location_and_scale(*given, **options) if step is not None else None
        if step is None or moved is None:
            return method(law, q, *given, **options)
        loc, scale = moved
        return q.after(step) * scale + loc

    return answer


def _location_and_scale(*given: Any, **options: Any) -> tuple[Any, Any] | None:
    named = dict(zip(("loc", "scale"), given, strict=False)) | options
    loc, scale = named.pop("loc", 0), named.pop("scale", 1)
    if len(given) > 2 or named or not _is_number(scale) or not scale > 0:
        return None
    return (loc, scale) if is_symbolic(loc) or _is_number(loc) else None


def _is_number(value: Any) -> bool:
    return not is_symbolic(value) and isinstance(value, (int, float))


def _is_uniform(value: Any) -> bool:
    return issubclass(type(value), UniformValue)
