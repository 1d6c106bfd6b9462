"""Sums of probabilities that are balls, and the law that they make."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
from flint import arb

from liptest.balls import CERTIFIED_BITS, precision
from liptest.enumerate.outputs import Items, Typed
from liptest.errors import ContinuousOutputs, LawError
from liptest.mechanisms.laws import Output, OutputLaw, as_fraction, exact_ball
from liptest.symbolic.forms import Constraint, Form
from liptest.symbolic.noise import Noise
from liptest.values.branching import Branching
from liptest.values.noise import ADVICE
from liptest.values.noise_run import NoisyValue

# Outputs that are numbers with continuous noise: what a leaf with such an output is.


# Floats of the code differ from exact values by their rounding; more is another output.
_ROUNDING, _ONE = Fraction(1, 10**9), Fraction(1)


@dataclass(frozen=True)
class Real:
    """In the place of such a number where an output is described: any real number."""

    def __repr__(self) -> str:
        return "real"


@dataclass(frozen=True)
class Between:
    """In the place of such a number: any number between two ends, None where there is none."""

    low: Fraction | None
    high: Fraction | None

    def __repr__(self) -> str:
        if self.low is None and self.high is None:
            return "real"
        if self.high is None:
            return f"above {float(self.low or 0):.12g}"
        if self.low is None:
            return f"below {float(self.high):.12g}"
        return f"{float(self.low):.12g} to {float(self.high):.12g}"


@dataclass(frozen=True, eq=False)
class Near:
    """Equal to numbers that differ from it by no more than the rounding of floats."""

    value: Fraction
    size: Fraction

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (int, float)) or not math.isfinite(other):
            return False
        return bool(abs(Fraction(other) - self.value) <= _ROUNDING * max(self.size, _ONE))


class NearItems:
    """Equal to dicts with the same keys and near values."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: dict[Output, Any]) -> None:
        self._values = values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Items) and dict(other.items) == self._values


@dataclass(frozen=True)
class DensityLeaf:
    """An output with ``Real`` in the places of ``forms``, and what led to it.

    Every form is one continuous variable of its own, times a factor, plus a constant.
    """

    skeleton: Output
    forms: tuple[Form, ...]
    noises: tuple[Noise, ...]
    constraints: tuple[Constraint, ...]


def density_leaf(
    tree: Branching,
    output: Output,
    noises: list[Noise],
    constraints: tuple[Constraint, ...],
) -> DensityLeaf:
    """A leaf whose canonical output has a ``NoisyValue`` in it.

    Aborts where densities of such outputs are not compared: sums of several variables, a
    variable that occurs twice, numbers in sets or dataclasses.
    """
    forms = tuple(_forms_in(tree, output))
    variables = [variable for form in forms for variable, _ in form.terms]
    if any(len(form.terms) != 1 for form in forms):
        tree.unsupported("an output that is a sum of several continuous random numbers", ADVICE)
    if len(set(variables)) < len(variables):
        tree.unsupported("an output with one continuous random number in two places", ADVICE)
    skeleton = replaced(output, lambda form: Real())
    return DensityLeaf(skeleton, forms, tuple(noises), constraints)


def _forms_in(tree: Branching, output: Output) -> Iterator[Form]:
    if isinstance(output, NoisyValue):
        yield output.form
    elif (entries := _entries(output)) is not None:
        for entry in entries:
            yield from _forms_in(tree, entry)
    elif _hides_noise(output):
        tree.unsupported(
            f"continuous random numbers in a {type(output).__name__} as an output",
            "return a number, a list, a tuple, a dict or an array of them",
        )


def _entries(output: Output) -> tuple[Output, ...] | None:
    """What may have noise in it, in an order that does not depend on it; None for all other."""
    if type(output) is tuple:
        return output
    if type(output) is Typed:
        return (output.value,)
    if type(output) is Items:
        keys = {repr(key): (key, value) for key, value in output.items}
        # Keys that print alike have no order.
        if len(keys) == len(output.items) and not any(_hides_noise(key) for key, _ in output.items):
            return tuple(keys[one][1] for one in sorted(keys))
    return None


def _with_entries(output: Output, entries: list[Any]) -> Any:
    """The output with other entries, in the order of ``_entries``."""
    if isinstance(output, Typed):
        return Typed(output.kind, entries[0])
    if isinstance(output, Items):
        names = sorted((key for key, _ in output.items), key=repr)
        return _items(dict(zip(names, entries, strict=True)))
    return tuple(entries)


def _items(values: dict[Output, Any]) -> Any:
    """A dict as an output; numbers that are only near have no hash."""
    try:
        return Items(frozenset(values.items()))
    except TypeError:
        return NearItems(values)


def _hides_noise(output: Output) -> bool:
    """Whether something in the output, not in a plain tuple, has noise."""
    if isinstance(output, NoisyValue):
        return True
    if isinstance(output, (tuple, frozenset)):
        return any(map(_hides_noise, output))
    inner = getattr(output, "__dict__", {}) if hasattr(type(output), "__dataclass_fields__") else {}
    return any(map(_hides_noise, inner.values()))


def replaced(output: Output, number: Callable[[Form], Any]) -> Any:
    """The output with something else in the place of each number with noise."""
    if isinstance(output, NoisyValue):
        return number(output.form)
    entries = _entries(output)
    if entries is None:
        return output
    return _with_entries(output, [replaced(entry, number) for entry in entries])


def replaced_by(skeleton: Output, ends: tuple[tuple[Any, Any], ...]) -> Output:
    """A description of an output, with an interval for each number, in their order."""
    left = iter(ends)

    def filled(part: Output) -> Any:
        if isinstance(part, Real):
            return Between(*next(left))
        entries = _entries(part)
        return part if entries is None else _with_entries(part, [filled(one) for one in entries])

    found: Output = filled(skeleton)
    return found


def nearby(output: Output, value: Callable[[Form], Fraction]) -> Any:
    """The output that a run gives with real floats: numbers near the values of their sums."""

    def near(form: Form) -> Near:
        found = value(form)
        return Near(found, abs(found) + abs(Fraction(form.constant)))

    return replaced(output, near)


def is_continuous(law: OutputLaw) -> bool:
    """Whether some output has continuous noise in it."""
    return any(isinstance(output, DensityLeaf) for output in law.outputs)


def refused(name: str) -> ContinuousOutputs:
    """The error where output laws are asked for that have no probabilities of single outputs."""
    return ContinuousOutputs(
        f"{name}: its output is a number with continuous noise, of which no single value has a "
        f"probability; {ADVICE}; lt.check_privacy and lt.exact_epsilon compare densities"
    )


# More than this and the parts cannot be those of a law, whatever was rounded.
_FAR = 1e-9
# What is left out is not known closer than this.
_LEAST_BITS = 4096
_LEAST = arb(2) ** -_LEAST_BITS


class BallSum:
    """Probabilities of outputs of runs with symbolic noise, and of the runs that were cut off."""

    __slots__ = ("_left_out", "_masses", "cuts")

    def __init__(self) -> None:
        self._masses: dict[Output, arb] = {}
        self._left_out = arb(0)
        #: Runs that were noted as cut off.
        self.cuts = 0

    def add(self, output: Output, weight: Fraction, probability: arb) -> None:
        """Add weight * probability to the probability of an output."""
        with precision(CERTIFIED_BITS):
            mass = exact_ball(weight) * probability
            known = self._masses.get(output)
            self._masses[output] = mass if known is None else known + mass

    def leave_out(self, weight: Fraction, probability: arb) -> None:
        """Note a run that was cut off."""
        self.cuts += 1
        with precision(CERTIFIED_BITS):
            self._left_out += exact_ball(weight) * probability

    def joined(
        self, exact: Mapping[Output, Fraction], *, cuts: int | None
    ) -> tuple[dict[Output, arb], Fraction]:
        """The probabilities with others, which are exact, and a bound on what is unexplored.

        ``cuts`` is how many runs were cut off where every other one has ended; else None.
        """
        with precision(CERTIFIED_BITS):
            masses = {output: exact_ball(mass) for output, mass in exact.items()}
            for output, mass in self._masses.items():
                masses[output] = masses.get(output, arb(0)) + mass
            rest = 1 - sum(masses.values(), arb(0))
            if cuts == self.cuts:
                _check_sum(rest - self._left_out)
                rest = self._left_out
            return masses, _above(rest)


def _check_sum(rest: arb) -> None:
    if not rest.contains(0) or float(rest.rad()) > _FAR:
        raise LawError(
            f"the probabilities of the ways that noise can fall out add up to 1 - {rest}: this is "
            f"a fault of liptest, please report it"
        )


def _above(rest: arb) -> Fraction:
    if rest == 0 or rest <= 0:
        return Fraction(0)
    if rest < _LEAST:
        return Fraction(1, 1 << _LEAST_BITS)  # a fraction of its own would not fit into memory
    return min(max(as_fraction(rest.upper()), Fraction(0)), Fraction(1))


def law_of(
    probabilities: dict[Output, Fraction] | dict[Output, arb], unexplored: Fraction
) -> OutputLaw:
    """The law with probabilities that are all fractions or all balls."""
    if all(isinstance(mass, Fraction) for mass in probabilities.values()):
        exact = cast(dict[Output, Fraction], probabilities)
        return OutputLaw.from_fractions(exact, unexplored=unexplored, source="enumerated")
    return _integrated(cast(dict[Output, arb], probabilities), unexplored)


def _integrated(probabilities: Mapping[Output, arb], unexplored: Fraction) -> OutputLaw:
    """Logs with certified errors."""
    logs, errors = np.empty(len(probabilities)), np.empty(len(probabilities))
    with precision(CERTIFIED_BITS):
        for place, mass in enumerate(probabilities.values()):
            logs[place], errors[place] = _log(mass)
    return OutputLaw(tuple(probabilities), logs, errors, unexplored=unexplored, source="integrated")


def _log(mass: arb) -> tuple[float, float]:
    if not mass > 0:
        raise LawError(f"a probability is {mass}: it is not known to be above 0")
    ball = mass.log()
    middle = float(ball.mid())
    error = math.nextafter(float((ball - arb(middle)).abs_upper()), math.inf)
    return middle, error
