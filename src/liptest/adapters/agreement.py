"""Whether a library draws from the law that it is said to have."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from liptest.errors import LawError, shown
from liptest.mechanisms.base import Mechanism

#: Probability, at most, that draws from the right law are taken for draws from another one.
RADIUS_FAILURE = 1e-12
# Rounding of cumulative sums of floats.
_ROUNDING = 1e-9


def check_draws(
    mechanism: Mechanism, datasets: list[Any], answer: Callable[[Any], Any], draws: int
) -> float:
    """Compare draws on each dataset with the exact law; the radius within which they agree.

    By the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart all cumulative frequencies of n
    independent draws lie within sqrt(ln(2/w) / (2n)) of the cumulative probabilities, but for
    probability w. w is RADIUS_FAILURE, shared by all comparisons. Outputs that are vectors are
    compared number by number.

    Raises
    ------
    LawError
        They do not: the law is not that of the library's mechanism.
    """
    width = 1
    for dataset in datasets:
        law = mechanism.law(dataset)
        found = [answer(dataset) for _ in range(draws)]
        first = next(iter(law))
        parts = range(len(first)) if isinstance(first, tuple) else [None]
        width = max(width, len(parts))
        radius = _radius(draws, len(datasets) * len(parts))
        left_out = float(law.unexplored)
        for part in parts:
            off = _distance(_marginal(law, part), Counter(_part(one, part) for one in found), draws)
            if off > radius + left_out + _ROUNDING:
                raise LawError(
                    f"{mechanism.name}: {draws:,} draws on dataset={shown(list(dataset))} are off "
                    f"its law by {off:.3f}, which chance explains with probability below "
                    f"{RADIUS_FAILURE:g}; the object does not do what its record says"
                )
    return _radius(draws, len(datasets) * width)


def _radius(draws: int, comparisons: int) -> float:
    return math.sqrt(math.log(2 * comparisons / RADIUS_FAILURE) / (2 * draws))


def _part(output: Any, part: int | None) -> Any:
    return output if part is None else output[part]


def _marginal(law: Mapping[Any, float], part: int | None) -> dict[Any, float]:
    found: dict[Any, float] = {}
    for output, mass in law.items():
        key = _part(output, part)
        found[key] = found.get(key, 0.0) + mass
    return found


def _distance(law: Mapping[Any, float], found: Counter[Any], draws: int) -> float:
    """Largest difference of cumulative sums, in the order of the outputs; strange outputs count."""
    worst = total = 0.0
    for output in _ordered({*law, *found}):
        total += found[output] / draws - law.get(output, 0.0)
        worst = max(worst, abs(total))
    strange = sum(count for output, count in found.items() if output not in law)
    return max(worst, strange / draws)


def _ordered(outputs: set[Any]) -> list[Any]:
    try:
        return sorted(outputs)
    except TypeError:
        return sorted(outputs, key=repr)
