"""Programs whose answers the data only move: each number is a sum of answers plus noise.

The answers are the same on all paths, and no path asks anything of them. So the law under any data
is one law, moved by what the answers are there (docs/theory/size.md, S14).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from liptest.enumerate.choice_tree import ChoiceTree
from liptest.enumerate.noise_outputs import RealPlace, noisy_in, replaced
from liptest.mechanisms.laws import Output, Raised
from liptest.symbolic.answers import Answer
from liptest.symbolic.forms import Form
from liptest.values.aligned import AlignedRun
from liptest.values.weights import Selection

#: For each number of an output the answers that it is a sum of, with their factors.
Sums = tuple[tuple[tuple[int, Fraction], ...], ...]


def moved_by(tree: ChoiceTree, output: Output) -> tuple[Any, Sums] | None:
    """What data move in the output of the run that a tree is at, and the rest of the output.

    None where data do more than that.
    """
    run: AlignedRun = tree.noise
    if run.released or run.contests or run.missing or run.rounding or run.coins or run.orders:
        return None
    if any(type(branches) is Selection for branches, _ in tree.path):
        return None
    asked = {variable for condition in run.conditions() for variable, _ in condition.terms}
    if any(isinstance(run.noises[variable], Answer) for variable in asked):
        return None
    sums = []
    for number in noisy_in(tree, output):
        if not isinstance(number.form, Form):
            return None
        sums.append(_answers_in(run, number.form))
    skeleton = replaced(output, lambda _: RealPlace())
    return skeleton, tuple(sums)


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
