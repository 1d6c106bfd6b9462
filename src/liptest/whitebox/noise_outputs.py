"""Outputs that are numbers with continuous noise: the place where their laws would be found."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from liptest.mechanisms.laws import Output
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.whitebox.choices import ChoiceTree
from liptest.whitebox.noise_ways import Known

ADVICE = (
    "round it (numpy.round(x), or to a grid: step * round(x / step)), answer only comparisons of "
    "it, draw discrete noise (rng.geometric(p) - rng.geometric(p)), or sample the mechanism with "
    "lt.check_samples"
)


@dataclass(frozen=True)
class NoisyValue:
    """In the place of a number with continuous noise, in an output in its canonical form."""

    form: Form


def continuous_leaf(
    tree: ChoiceTree, output: Output, weight: Fraction, noises: list[Noise], constraints: Known
) -> NoReturn:
    """Take a leaf whose output has continuous noise in it: refused.

    ``output`` is canonical, with a ``NoisyValue`` for each such number. The leaf is reached with
    probability ``weight`` times that of the constraints on the variables ``noises``.
    """
    tree.unsupported("an output that is a number with continuous noise", ADVICE)
