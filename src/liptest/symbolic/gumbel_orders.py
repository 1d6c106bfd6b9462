"""The probability of an order of numbers with Gumbel noise, in closed form.

Let y_v = a_v + N_v with independent Gumbel noise of one scale b, and let a forest say that each
number is at least all those below it. With w_v = exp(a_v / b) the probability of this is

    prod_v  w_v / sum of w_u over v and all u below it.

For exp(-y_v / b) is exponential of rate w_v, and the least of independent exponential numbers is
the one of v with the share w_v of all rates, whatever its value; given that, each tree below v is
as if it were alone. A star is the softmax of the largest of n numbers (Gumbel, 1954), a chain with
a star at its end the law of Plackett and Luce of the k largest. docs/theory/symbolic.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from flint import arb

from liptest.balls import ball
from liptest.symbolic.forms import Constraint
from liptest.symbolic.noise import Noise

_FAMILY = "gumbel"
# Relations of all numbers with each other that are written down.
_MOST_RELATIONS = 100_000
#: What is above each number, directly.
Above = dict[int, set[int]]


def probability_of_order(noises: Sequence[Noise], constraints: Iterable[Constraint]) -> arb | None:
    """That all constraints hold, at the current precision; None where they are another thing."""
    read = _read_order(noises, constraints)
    if read is None:
        return None
    above, gaps = read
    locations = _find_locations(gaps)
    parents = _find_parents(above)
    if locations is None or parents is None:
        return None
    scale = noises[next(iter(above))].parameter
    weights = {v: ball(location / scale).exp() for v, location in locations.items()}
    totals = dict(weights)
    # Those furthest down first.
    for v in sorted(parents, key=lambda v: -parents[v][1]):
        parent = parents[v][0]
        if parent is not None:
            totals[parent] += totals[v]
    probability = arb(1)
    for v, weight in weights.items():
        probability *= weight / totals[v]
    return probability


def _read_order(
    noises: Sequence[Noise], constraints: Iterable[Constraint]
) -> tuple[Above, dict[tuple[int, int], Fraction]] | None:
    """What is above what, and by how much noise must differ at least for each pair."""
    above: Above = {}
    gaps: dict[tuple[int, int], Fraction] = {}
    laws: set[Noise] = set()
    for constraint in constraints:
        ends = constraint.low, constraint.high
        if [factor for _, factor in constraint.terms] != [1, -1] or None not in ends:
            return None
        (first, _), (second, _) = constraint.terms
        low, high = ends
        upper, lower, gap = (first, second, low) if low is not None else (second, first, high)
        if gap is None:
            return None
        gap = gap if low is not None else -gap
        laws.update((noises[first], noises[second]))
        if gaps.setdefault((upper, lower), gap) != gap:
            return None
        above.setdefault(upper, set())
        above.setdefault(lower, set()).add(upper)
    if len(laws) != 1 or next(iter(laws)).family != _FAMILY:
        return None
    return above, gaps


def _find_locations(gaps: Mapping[tuple[int, int], Fraction]) -> dict[int, Fraction] | None:
    """Locations whose differences all of them are; None where there are none."""
    near: dict[int, list[tuple[int, Fraction]]] = {}
    for (upper, lower), gap in gaps.items():
        # N_upper - N_lower >= a_lower - a_upper.
        near.setdefault(upper, []).append((lower, gap))
        near.setdefault(lower, []).append((upper, -gap))
    locations: dict[int, Fraction] = {}
    for start in near:
        waiting = [] if start in locations else [start]
        locations.setdefault(start, Fraction(0))
        while waiting:
            v = waiting.pop()
            for other, step in near[v]:
                location = locations[v] + step
                if other not in locations:
                    locations[other] = location
                    waiting.append(other)
                elif locations[other] != location:
                    return None
    return locations


def _find_parents(above: Above) -> dict[int, tuple[int | None, int]] | None:
    """The number right above each, and how many are above it; None where this is not a forest."""
    every: dict[int, set[int]] = {}
    relations = 0
    waiting = list(above)
    open_: set[int] = set()
    while waiting:
        v = waiting[-1]
        missing = [u for u in above[v] if u not in every]
        if v in every or not missing:
            waiting.pop()
            open_.discard(v)
            if v not in every:
                every[v] = above[v].union(*(every[u] for u in above[v]))
                relations += len(every[v])
                if relations > _MOST_RELATIONS:
                    return None
            continue
        if v in open_:
            return None  # a circle
        open_.add(v)
        waiting.extend(missing)
    parents: dict[int, tuple[int | None, int]] = {}
    for v, those in every.items():
        chain = sorted(those, key=lambda u: len(every[u]))
        if [len(every[u]) for u in chain] != list(range(len(chain))):
            return None
        parents[v] = (chain[-1] if chain else None), len(chain)
    return parents
