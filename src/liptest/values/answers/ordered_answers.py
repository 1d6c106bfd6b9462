"""Answers in their order: the median of some sums, a quantile of them, ``np.sort(counts)[-3:]``.

The k-th smallest of some sums moves by no less than the sum that moves least, and no more than
the one that moves most: it is an answer itself (``answer_functions.SumOfRank``; theory S14). Which
sum it is, is never told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.symbolic.answer_functions import SumOfRank
from liptest.symbolic.forms import Form
from liptest.values.answers.functions_of_answers import AnsweringRun
from liptest.values.array import SymbolicArray, fill_array, make_array
from liptest.values.protocol import is_symbolic

# Kept: while a program is analysed the names may stand for something else.
_SORT, _MEDIAN, _RANGE = np.sort, np.median, np.ptp
_SHARES = {np.percentile: 100, np.quantile: 1}
#: Functions of NumPy of answers in a line.
OF_ORDERS = frozenset({_SORT, _MEDIAN, _RANGE, *_SHARES})


def answer_in_order(
    function: Any, array: SymbolicArray, more: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Such a function of an array of answers; NotImplemented where that is not followed."""
    lane = list(array.cells)
    run = next((cell.run for cell in lane if is_symbolic(cell)), None)
    has_options = any(option is not None and option != -1 for option in options.values())
    if run is None or run.is_curved or has_options:
        return NotImplemented
    forms = [cell.form if is_symbolic(cell) else Form(Fraction(cell.item())) for cell in lane]
    found = _forms_of_order(run, function, forms, more)
    if found is None:
        return NotImplemented
    dtype = np.asarray(function(np.ones(len(lane), array.dtype), *more)).dtype
    if isinstance(found, Form):
        return _as_value(run, found, dtype.type)
    cells = fill_array([_as_value(run, form, dtype.type) for form in found], (len(found),), object)
    return make_array(array.branching, cells, dtype)


def sort_answers(run: AnsweringRun, forms: Sequence[Form], kind: Any) -> list[Any]:
    """These sums, all of one type, in ascending order."""
    return [_as_value(run, form_of_rank(run, forms, rank), kind) for rank in range(len(forms))]


def median_of_answers(run: AnsweringRun, forms: Sequence[Form], kind: Any) -> Any:
    """Their median, as Python's module of statistics gives it."""
    made = kind if len(forms) % 2 else type((kind(0) + kind(0)) / 2)
    return _as_value(run, median_form(run, forms), made)


def _as_value(run: AnsweringRun, form: Form, kind: Any) -> Any:
    return run.own_value(form, kind) if form.terms else kind(form.constant)


def form_of_rank(run: AnsweringRun, forms: Sequence[Form], rank: int) -> Form:
    """The sum at a place of the ascending order, from 0 on."""
    if len(forms) == 1:
        return forms[0]
    parts = tuple(run.sum_of_answers(form) for form in forms)
    return run.function_of_answers(SumOfRank(parts, rank))


def _forms_of_order(
    run: AnsweringRun, function: Any, forms: Sequence[Form], more: tuple[Any, ...]
) -> list[Form] | Form | None:
    if function is _SORT and more in ((), (-1,), (0,), (None,)):
        return [form_of_rank(run, forms, rank) for rank in range(len(forms))]
    if function is _MEDIAN and not more:
        return median_form(run, forms)
    if function is _RANGE and not more:
        return form_of_rank(run, forms, len(forms) - 1) - form_of_rank(run, forms, 0)
    if function in _SHARES and len(more) == 1:
        return _forms_of_shares(run, forms, more[0], _SHARES[function])
    return None


def median_form(run: AnsweringRun, forms: Sequence[Form]) -> Form:
    """The one in the middle, or half of both."""
    middle = len(forms) // 2
    above = form_of_rank(run, forms, middle)
    if len(forms) % 2:
        return above
    return (form_of_rank(run, forms, middle - 1) + above) * Fraction(1, 2)


def _forms_of_shares(
    run: AnsweringRun, forms: Sequence[Form], shares: Any, whole: int
) -> list[Form] | Form | None:
    asked = np.asarray(shares)
    if asked.dtype.kind not in "if" or asked.ndim > 1 or not (asked >= 0).all():
        return None
    places = asked / whole * (len(forms) - 1)
    if not (places <= len(forms) - 1).all():
        return None
    found = [_form_between(run, forms, float(place)) for place in np.atleast_1d(places)]
    return found if asked.ndim else found[0]


def _form_between(run: AnsweringRun, forms: Sequence[Form], place: float) -> Form:
    """Between two places of the order, as NumPy interpolates."""
    low = math.floor(place)
    lower = form_of_rank(run, forms, low)
    if place == low:
        return lower
    share = Fraction(place) - low
    return lower * (1 - share) + form_of_rank(run, forms, low + 1) * share
