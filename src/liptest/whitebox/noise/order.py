"""The largest of some numbers with noise, and their order: one question, with a way for each."""

from __future__ import annotations

import operator
from functools import partial
from itertools import chain, pairwise, permutations
from typing import Any

import numpy as np

from liptest.symbolic.forms import Form
from liptest.values.noise_run import NoiseRun, bounded
from liptest.values.questions import Known
from liptest.whitebox.noise.arithmetic import compared_any
from liptest.whitebox.noise.numbers import is_nan, is_noisy, rational

_ZERO: Any = 0


# So many numbers are sorted at once, with a way for each order.
_MOST_SORTED = 6


def largest(run: NoiseRun, lane: Any, sign: int = 1) -> int:
    """The place of the largest entry, or smallest; the first of equal ones, or of those NaN."""
    if not len(lane):
        np.zeros(0).argmax()  # NumPy's own error
    for place, one in enumerate(lane):
        if is_nan(one):
            return place
    forms = [_form_of(one) for one in lane]
    if any(form is None for form in forms):
        return _one_by_one(lane, sign)
    sums = [run.current(form if sign > 0 else -form) for form in forms if form is not None]
    return run.take(sums, lambda: tuple(_is_first(sums, place) for place in range(len(sums))))


def _form_of(one: Any) -> Form | None:
    if is_noisy(one):
        form: Form | None = one.linear()
        return form
    return Form.of(rational(one)) if np.isfinite(one) else None


def _is_first(sums: list[Form], place: int) -> Known | None:
    """That a sum is above all before it, and none after it is above it; None: impossible."""
    found = []
    for other, one in enumerate(sums):
        gap, closed = sums[place] - one, other > place
        if other == place:
            continue
        if gap.terms:
            found.append(bounded(gap, low=_ZERO, low_closed=closed))
        elif gap.constant < 0 or (gap.constant == 0 and not closed):
            return None
    return tuple(found)


def _one_by_one(lane: Any, sign: int) -> int:
    above = operator.gt if sign > 0 else operator.lt
    best = 0
    for place in range(1, len(lane)):
        if compared_any(above, lane[place], lane[best]):
            best = place
    return best


def order(run: NoiseRun, lane: Any) -> list[int]:
    """Places in ascending order, the first of equal ones first, NaN last."""
    last = [place for place, one in enumerate(lane) if is_nan(one)]
    if last:
        places = [place for place in range(len(lane)) if place not in last]
        return [places[k] for k in order(run, [lane[place] for place in places])] + last
    forms = [_form_of(one) for one in lane]
    if len(lane) < 2 or len(lane) > _MOST_SORTED or any(form is None for form in forms):
        return _order_one_by_one(run, lane)
    sums = [run.current(form) for form in forms if form is not None]
    orders = list(permutations(range(len(sums))))
    ways = partial(_ascending, sums, orders)
    return list(orders[run.take(("order", sums), ways)])


def _ascending(sums: list[Form], orders: list[tuple[int, ...]]) -> tuple[Known | None, ...]:
    pairs = permutations(range(len(sums)), 2)
    gaps = {pair: _not_above(sums, *pair) for pair in pairs}
    return tuple(_all_of([gaps[pair] for pair in pairwise(one)]) for one in orders)


def _not_above(sums: list[Form], low: int, high: int) -> Known | None:
    """That one sum comes before another."""
    gap, closed = sums[high] - sums[low], low < high
    if gap.terms:
        return (bounded(gap, low=_ZERO, low_closed=closed),)
    return () if gap.constant > 0 or (gap.constant == 0 and closed) else None


def _all_of(parts: list[Known | None]) -> Known | None:
    known = [part for part in parts if part is not None]
    return tuple(chain.from_iterable(known)) if len(known) == len(parts) else None


def _order_one_by_one(run: NoiseRun, lane: Any) -> list[int]:
    left, found = list(range(len(lane))), []
    while left:
        place = largest(run, [lane[k] for k in left], -1) if len(left) > 1 else 0
        found.append(left.pop(place))
    return found
