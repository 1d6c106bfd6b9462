"""Programs whose answers the data only move: each number is a sum of answers plus noise.

The answers are the same on all paths, and no path asks anything of them. So the law under any data
is one law, moved by what the answers are there (docs/theory/size.md, S16).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from liptest.enumerate.numbers.noise_outputs import RealPlace, noisy_in, replace_numbers
from liptest.enumerate.symbols.symbolic_paths import Sums
from liptest.enumerate.syntax.post_processing import place_of_cut
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.mechanisms.laws import Output, Raised
from liptest.symbolic.answers import Answer
from liptest.symbolic.forms import Form
from liptest.values.answers.aligned import AlignedRun, ReleasedValue
from liptest.values.answers.decisions import Alternative
from liptest.values.answers.free_functions import to_whole
from liptest.values.answers.weight_choices import Selection
from liptest.values.draws.noise import KINDS

_ROUNDINGS = ("rint", "floor", "ceil")


@dataclass(frozen=True)
class RoundedPlace:
    """In the place of a number that is rounded where an output is described."""

    how: str


def find_moves(tree: ChoiceTree, output: Output) -> tuple[Any, Sums] | None:
    """What data move in the output of the run that a tree is at, and the rest of the output.

    None where data do more than that.
    """
    run: AlignedRun = tree.noise
    if place_of_cut(output) is not None:  # what is made of it is not moved
        return None
    if run.contests or run.missing or run.rounding or run.coins or run.orders or run.wholes:
        return None
    decided = Alternative if run.released else Selection
    if any(issubclass(type(branches), decided) for branches, _ in tree.path):
        return None
    asked = {variable for condition in run.conditions() for variable, _ in condition.terms}
    if any(isinstance(run.noises[variable], Answer) for variable in asked):
        return None
    described = [_describe(run, number.form) for number in noisy_in(tree, output)]
    forms = [form for form, _ in described if form is not None]
    told = {run.terms_of(form) for form in forms}
    if len(forms) < len(described) or not told.issuperset(run.released):
        return None
    words = iter([word for _, word in described])
    skeleton = replace_numbers(output, lambda _: next(words))
    return skeleton, tuple(_answers_in(run, form) for form in forms)


def _describe(run: AlignedRun, number: Any) -> tuple[Form | None, Any]:
    """A number of an output as a form, and how it is rounded; no form for other functions of one.

    A whole number goes in and out of a rounding, but for ties, which continuous noise never hits.
    """
    if isinstance(number, Form):
        return number, RealPlace()
    value = number.value
    # Others have a type that depends on numbers, and to ask for it is a question to the path.
    if type(value) is not ReleasedValue or not issubclass(value.kind, (int, np.integer)):
        return None, None  # of floats -0.0 is not always 0.0
    while type(value) is ReleasedValue and value.function in KINDS:
        (value,) = value.arguments
    function = value.function if type(value) is ReleasedValue else None
    if type(function) is not partial or function.func is not to_whole:
        return None, None
    (inner,) = value.arguments
    if type(inner) is not ReleasedValue or inner.function is not None:
        return None, None
    form, how = inner.arguments[0].form, function.args[0]
    answers = [term for term in form.terms if isinstance(run.noises[term[0]], Answer)]
    is_followed = (
        how in _ROUNDINGS
        and run.has_continuous_noise(form)
        and run.is_whole(Form(0, tuple(answers)))
    )
    return (form if is_followed else None), RoundedPlace(how)


def _answers_in(run: AlignedRun, form: Form) -> tuple[tuple[int, Fraction], ...]:
    terms = ((run.noises[variable], Fraction(factor)) for variable, factor in form.terms)
    return tuple(sorted((one.number, factor) for one, factor in terms if isinstance(one, Answer)))


def common_sums(moved: Iterable[tuple[Any, Sums] | None]) -> Sums | None:
    """What data move, where all outputs are alike but for the noise; None where they are not."""
    alike: tuple[Any, Sums] | None = None
    for one in moved:
        if one is None:
            return None
        if _is_no_number(one[0]):
            continue
        if alike is not None and one != alike:
            return None
        alike = one
    return None if alike is None else alike[1]


def _is_no_number(output: Any) -> bool:
    """Whether it is the same whatever the data are, and never what a number with noise is."""
    is_infinite = isinstance(output, float) and not math.isfinite(output)
    return output is None or is_infinite or isinstance(output, (Raised, str))
