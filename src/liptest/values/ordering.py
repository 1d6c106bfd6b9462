"""The largest of some values, and their order: one question of noise, with a branch for each."""

from __future__ import annotations

import math
import operator
from functools import partial
from itertools import chain, pairwise, permutations
from typing import Any

import numpy as np

from liptest.symbolic.forms import Form
from liptest.values.draws.noise import exact_number
from liptest.values.draws.noise_run import NoiseRun, constrain_sum
from liptest.values.draws.questions import PathCondition
from liptest.values.promotion import promote
from liptest.values.protocol import compare, current, is_nan, is_symbolic

_ZERO: Any = 0
#: So many numbers are sorted at once, with a branch for each order.
MOST_SORTED = 6


def place_of_largest(lane: Any, sign: int) -> int:
    """The place of the largest entry, or smallest; the first of equal ones, or of those NaN."""
    if not len(lane):
        np.zeros(0).argmax()  # NumPy's own error
    for place, entry in enumerate(lane):
        if is_nan(entry):
            return place
    infinite = {k for k, entry in enumerate(lane) if _is_infinite(entry)}
    places = [k for k in range(len(lane)) if k not in infinite]
    pair = _as_sums([lane[k] for k in places]) if places else None
    if pair is None:
        return _largest_one_by_one(lane, sign)
    largest = [k for k in infinite if bool(lane[k] > 0) is (sign > 0)]
    if largest or len(places) == 1:
        return min(largest, default=places[0])
    run, forms = pair
    sums = [run.current(form if sign > 0 else -form) for form in forms]
    return places[run.first_of(sums, partial(_is_first, sums))]


def _is_infinite(entry: Any) -> bool:
    return isinstance(entry, float) and not is_symbolic(entry) and math.isinf(entry)


def find_order(lane: Any) -> list[int]:
    """Places in ascending order, the first of equal ones first, NaN last."""
    last = [place for place, entry in enumerate(lane) if is_nan(entry)]
    if last:
        places = [place for place in range(len(lane)) if place not in last]
        return [places[k] for k in find_order([lane[place] for place in places])] + last
    pair = _as_sums(lane) if 2 <= len(lane) <= MOST_SORTED else None
    if pair is None:
        return _order_one_by_one(lane)
    run, forms = pair
    sums = [run.current(form) for form in forms]
    orders = list(permutations(range(len(sums))))
    return list(orders[run.take(("order", sums), partial(_ascending, sums, orders))])


def _as_sums(lane: Any) -> tuple[NoiseRun, list[Form]] | None:
    """All entries as sums of noise of one sort, discrete or not; None where they are not that."""
    values = [current(entry) for entry in lane if is_symbolic(entry)]
    if not values or any(value.is_discrete != values[0].is_discrete for value in values):
        return None
    if values[0].is_discrete and not all(value.family == "noise" for value in values):
        return None
    if len(values) == 1 and values[0].family != "noise":
        return None  # compared with numbers only
    noises = {id(value): promote(value) for value in values}
    first = noises[id(values[0])]
    # The current values are asked again: what was promoted is noise by now.
    forms = [_find_form(entry) for entry in lane]
    if first is None or any(form is None for form in forms):
        return None
    return first.run, [form for form in forms if form is not None]


def _find_form(one: Any) -> Form | None:
    if is_symbolic(one):
        noise = promote(current(one))
        form: Form | None = None if noise is None else noise.linear()
        return form
    return Form.of(exact_number(one)) if np.isfinite(one) else None


def _is_first(sums: list[Form], place: int) -> PathCondition | None:
    """That a sum is above all before it, and none after it is above it; None: impossible."""
    constraints = []
    for other, rival in enumerate(sums):
        gap, closed = sums[place] - rival, other > place
        if other == place:
            continue
        if gap.terms:
            constraints.append(constrain_sum(gap, low=_ZERO, low_closed=closed))
        elif gap.constant < 0 or (gap.constant == 0 and not closed):
            return None
    return tuple(constraints)


def _largest_one_by_one(lane: Any, sign: int) -> int:
    above = operator.gt if sign > 0 else operator.lt
    best = 0
    for place in range(1, len(lane)):
        if compare(above, lane[place], lane[best]):
            best = place
    return best


def _ascending(sums: list[Form], orders: list[tuple[int, ...]]) -> tuple[PathCondition | None, ...]:
    pairs = permutations(range(len(sums)), 2)
    gaps = {pair: _not_above(sums, *pair) for pair in pairs}
    return tuple(_all_of([gaps[pair] for pair in pairwise(order)]) for order in orders)


def _not_above(sums: list[Form], low: int, high: int) -> PathCondition | None:
    """That one sum comes before another."""
    gap, closed = sums[high] - sums[low], low < high
    if gap.terms:
        return (constrain_sum(gap, low=_ZERO, low_closed=closed),)
    return () if gap.constant > 0 or (gap.constant == 0 and closed) else None


def _all_of(parts: list[PathCondition | None]) -> PathCondition | None:
    possible = [part for part in parts if part is not None]
    return tuple(chain.from_iterable(possible)) if len(possible) == len(parts) else None


def _order_one_by_one(lane: Any) -> list[int]:
    left, order = list(range(len(lane))), []
    while left:
        place = place_of_largest([lane[k] for k in left], -1) if len(left) > 1 else 0
        order.append(left.pop(place))
    return order
