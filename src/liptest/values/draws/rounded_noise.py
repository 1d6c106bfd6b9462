"""Noise that is rounded before whole numbers are added to it: ``count + round(noise)``.

Whole numbers go in and out of a rounding: ``count + floor(noise)`` is ``floor(count + noise)``, and
so with ``ceil`` and, except where noise is halfway between two whole numbers (probability 0), with
``round``. So the rounded noise waits for what is added to it, and the sum is made known as a whole
(docs/theory/size.md, S7). Cutting off towards 0 is one of these on either side of 0.

Two rounded noises are added as whole noises of their own, which take the place of what they were
rounded from: it must not occur in the output or in a condition beside them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from liptest.symbolic.answers import Answer
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.values.answers.aligned import AlignedRun, AlignedValue, NoisyData, ReleasedValue
from liptest.values.answers.functions_of_answers import OF_SCORES, result_kind
from liptest.values.draws.noise import KINDS, exact_number
from liptest.values.protocol import Operation, SymbolicValue, is_symbolic

_LINEAR = (operator.add, operator.sub)
#: Noise that costs nothing to move down, or up, only.
_ONE_SIDED = ("exponential", "gumbel")
#: What to add to a number so that its floor is the rounded number, but for ties.
_AS_FLOOR = {"floor": Fraction(0), "ceil": Fraction(1), "rint": Fraction(1, 2)}
#: What is minus the rounding of minus a number.
_OPPOSITE = {"floor": "ceil", "ceil": "floor", "rint": "rint"}


class RoundedNoise(NoisyData):
    """``form``, with continuous noise and else whole numbers in it, rounded as ``how`` says."""

    __slots__ = ("_known", "form", "how")

    __hash__ = SymbolicValue.__hash__

    def __init__(self, run: AlignedRun, form: Form, how: str, kind: Any) -> None:
        self.run = run
        self.form = form
        self.how = how
        self.kind = kind
        self._known: ReleasedValue | None = None

    def linear(self) -> Form | None:
        return None

    def released(self, use: str) -> ReleasedValue:
        if self._known is None:
            known = AlignedValue(self.run, self.form).released(use)
            self._known = known.rounded(self.how, self.kind)
        return self._known

    def in_output(self) -> Any:
        return self.released("the output").in_output()

    def evaluate(self) -> Any:
        return self.released("a run at a point").evaluate()

    def entry(self) -> Any:
        return self if issubclass(self.kind, np.generic) else super().entry()

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        if operation in _LINEAR and type(other) is RoundedNoise:
            pair = [_whole_form(one._settled()) for one in (self, other)]
            if None not in pair:
                kind = result_kind(operation, self.kind, other.kind)
                return self.run.own_value(operation(*pair), kind)
        added = self._whole_part(other) if operation in _LINEAR else None
        if added is not None:
            kinds = [self.kind, other.kind if is_symbolic(other) else type(other)]
            kind = result_kind(operation, *(reversed(kinds) if swapped else kinds))
            settled = self._settled() if added.terms else self
            if operation is operator.add:
                return settled._with(settled.form + added, settled.how, kind)
            if not swapped:
                return settled._with(settled.form - added, settled.how, kind)
            if settled.how in _OPPOSITE:
                return settled._with(added - settled.form, _OPPOSITE[settled.how], kind)
        if operation is operator.mul and not is_symbolic(other) and other == -1:
            settled = self._settled()
            kind = result_kind(operation, self.kind, type(other))
            return settled._with(-settled.form, _OPPOSITE[settled.how], kind)
        return self.released(operation.__name__).binary(operation, other, swapped=swapped)

    def _whole_part(self, other: Any) -> Form | None:
        """A whole number as a form; None for what is not known to be one."""
        if type(other) is AlignedValue:
            return other.form if self.run.is_whole(other.form) else None
        if is_symbolic(other) or not math.isfinite(other) or self.how == "trunc":
            return None
        number = exact_number(other)
        return Form(number) if type(number) is int else None

    def _settled(self) -> RoundedNoise:
        """The same, where cutting off is going down or up."""
        if self.how != "trunc":
            return self
        least = _least(self.run, self.form)
        is_positive = (least is not None and least >= 0) or self.run.holds(operator.ge, self.form)
        return self._with(self.form, "floor" if is_positive else "ceil", self.kind)

    def _with(self, form: Form, how: str, kind: Any) -> RoundedNoise:
        return RoundedNoise(self.run, form, how, kind)

    def compare(self, comparison: Operation, other: Any) -> Any:
        return self.released("a comparison").compare(comparison, other)

    def typed(self, kind: Any) -> Any:
        if kind is self.kind:
            return self
        if kind not in KINDS:
            return self.released(f"{kind.__name__}()").typed(kind)
        return self._with(self.form, self.how, kind)

    def rounded(self, how: str, kind: Any) -> Any:
        return self.typed(kind)

    def rounded_to(self, decimals: int, kind: Any, own: Any) -> Any:
        if decimals >= 0:
            return self.typed(kind)
        return self.released("round()").rounded_to(decimals, kind, own)

    def is_integer(self) -> bool:
        return True


def _least(run: AlignedRun, form: Form) -> Fraction | None:
    """What a sum of noise is at least; None where there is no bound."""
    least = Fraction(form.constant)
    for variable, factor in form.terms:
        end = run.noises[variable].support[factor < 0]
        if end is None:
            return None
        least += factor * end
    return least


def _whole_form(rounded: RoundedNoise) -> Form | None:
    """With a whole noise in the place of the rounded one; None for what is not one of one side.

    Whole numbers beside it stay what they are. An exchange of floor for ceil matters where the
    noise is a whole number: with probability 0.
    """
    run, form = rounded.run, rounded.form
    drawn = [term for term in form.terms if not run.noises[term[0]].is_discrete]
    if type(run) is not AlignedRun or len(drawn) != 1:
        return None
    ((variable, factor),) = drawn
    if run.noises[variable].family not in _ONE_SIDED:
        return None
    sign = 1 if factor > 0 else -1
    how = rounded.how if sign > 0 else _OPPOSITE.get(rounded.how, rounded.how)
    whole, part = divmod(sign * Fraction(form.constant) + _AS_FLOOR[how], 1)
    noise = _whole_noise(run, variable, abs(Fraction(factor)), part)
    if noise is None:
        return None
    beside = Form(sign * whole, tuple(term for term in form.terms if term != drawn[0]))
    return beside + noise * sign


def _whole_noise(run: AlignedRun, variable: int, factor: Fraction, part: Fraction) -> Form | None:
    """``floor(factor * variable + part)``, the same for the same; None where another one exists."""
    whole = run.wholes.get(variable)
    if whole is not None:
        return whole[1] if whole[0] == (factor, part) else None
    source = run.noises[variable]
    run.noises.append(_find_rounded_family(source.family, factor * source.parameter))
    made = Form.variable(len(run.noises) - 1)
    if run.point is not None:
        at_point = factor * run.at_point(Form.variable(variable)) + part
        run.values.append(Fraction(math.floor(at_point)))
    run.wholes[variable] = (factor, part), made
    return made


@lru_cache(maxsize=1024)
def _find_rounded_family(family: str, scale: Fraction) -> Noise:
    return Noise(f"rounded {family}", scale)


def check_wholes(run: AlignedRun, told: Iterable[Form]) -> None:
    """Abort where noise is in a condition or in the output beside what it was rounded to."""
    if not run.wholes:
        return
    asked = [one.terms for one in (*run.conditions(), *run.conditions_of_contests())]
    used = {v for terms in (*asked, *(form.terms for form in told)) for v, _ in terms}
    if not used.isdisjoint(run.wholes):
        run.tree.forbid(
            "noise that is used beside what it was rounded to", "use the rounded noise alone"
        )


def round_number(number: AlignedValue, how: str, kind: Any) -> Any:
    """A number with noise in it, rounded: kept until it is used, where it is noise alone."""
    run, form = number.run, number.form
    has_answers = any(type(run.noises[variable]) is Answer for variable, _ in form.terms)
    if has_answers or not run.has_continuous_noise(form):
        return number.released(how).rounded(how, kind)
    return RoundedNoise(run, form, how, kind)


OF_SCORES.rounded = round_number
OF_SCORES.types |= {RoundedNoise}
