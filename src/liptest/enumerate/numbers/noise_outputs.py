"""Outputs that are numbers with continuous noise: what a leaf with such an output is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from liptest.enumerate.trees.outputs import Fields, Items, Typed
from liptest.errors import ContinuousOutputs
from liptest.foreign import has_names
from liptest.mechanisms.laws import Output, OutputLaw
from liptest.symbolic.forms import Constraint, Form
from liptest.symbolic.noise import EXPONENTIAL, Noise
from liptest.values.branching import Branching
from liptest.values.draws.noise import ADVICE
from liptest.values.draws.noise_run import NoisyValue, WholeValue
from liptest.values.rounding import Near


@dataclass(frozen=True)
class RealPlace:
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


@dataclass(frozen=True)
class Following:
    """In the place of a number that numbers before it tell, except for ``rest``.

    ``rest`` plus the sum of factors times ``RealPlace`` places, counted from 0, plus a constant;
    None where nothing is left to tell.
    """

    rest: RealPlace | Between | None
    factors: tuple[tuple[int, Fraction], ...]
    constant: Fraction

    def __repr__(self) -> str:
        parts = [] if self.rest is None else [f"({self.rest!r})"]
        parts += [f"{float(factor):.6g} * x{place}" for place, factor in self.factors]
        parts += [f"{float(self.constant):.6g}"] if self.constant or not parts else []
        return " + ".join(parts)


class NearItems:
    """Equal to dicts with the same keys and near values."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: dict[Output, Any]) -> None:
        self._values = values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Items) and dict(other.items) == self._values


@dataclass(frozen=True)
class DensityLeaf:
    """An output with ``RealPlace`` in the places of ``forms``, and what led to it.

    Every form has continuous variables of its own, times factors, plus a constant: one variable, or
    several whose densities are made of exponentials.
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

    A number is told less what the numbers before it say of it: (x, x + 1) is a real number and
    "that plus 1", and running sums are their steps. Both tell the same, and what remains of each
    must have variables of its own. Aborts for other sums, for numbers in sets or dataclasses, and
    where rounded constants would have to be compared exactly.
    """
    parts = iter(_reduce(tree, list(forms_in(tree, output)), noises))
    forms: list[Form] = []

    def place(_: Form) -> Any:
        rest, described = next(parts)
        forms.extend(rest)
        return described

    skeleton = replace_numbers(output, place)
    return DensityLeaf(skeleton, tuple(forms), tuple(noises), constraints)


def _reduce(
    tree: Branching, forms: list[Form], noises: list[Noise]
) -> Iterator[tuple[list[Form], Any]]:
    """For each number what is left of it, at most one form, and what describes its place."""
    earlier: list[Form] = []
    for form in forms:
        factors = []
        rest = form
        for place, other in enumerate(earlier):
            factor = _share(rest, other)
            if factor:
                rest = rest - other * factor
                factors.append((place, factor))
        if not _is_followed(rest, earlier, noises):
            tree.forbid("an output that is a sum of several continuous random numbers", ADVICE)
        constant = Fraction(0) if rest.terms else Fraction(rest.constant)
        if not (_is_plain(constant) and all(_is_plain(factor) for _, factor in factors)):
            tree.forbid(
                "an output with one continuous random number in two places, beside numbers that "
                "floats may have rounded",
                ADVICE,
            )
        if rest.terms:
            earlier.append(rest)
            yield (
                [rest],
                Following(RealPlace(), tuple(factors), constant) if factors else RealPlace(),
            )
        else:
            yield [], Following(None, tuple(factors), constant)


def _share(form: Form, known: Form) -> Fraction:
    """How often a known number is in a form: all of it where it is a sum."""
    mine = dict(form.terms)
    shares = {
        Fraction(mine.get(variable, 0)) / Fraction(factor) for variable, factor in known.terms
    }
    return shares.pop() if len(shares) == 1 else Fraction(0)


def _is_followed(rest: Form, known: list[Form], noises: list[Noise]) -> bool:
    """Whether no number before shares a variable with what is left, and its density has a form."""
    mine = {variable for variable, _ in rest.terms}
    if any(variable in mine for other in known for variable, _ in other.terms):
        return False
    return len(mine) < 2 or all(noises[number].family in EXPONENTIAL for number in mine)


def _is_plain(number: Fraction) -> bool:
    """Whether floats calculate with such numbers without rounding, so that they can be compared.

    Two roundings of one number never look like two plain numbers: these are 2**-20 apart.
    """
    return abs(number) < 2**30 and (number * 2**20).denominator == 1


def forms_in(tree: Branching, output: Output) -> Iterator[Form]:
    """What stands for the numbers with noise in an output, in their order."""
    return (noisy.form for noisy in noisy_in(tree, output))


def noisy_in(tree: Branching, output: Output) -> Iterator[NoisyValue]:
    """The numbers with noise in an output, in their order."""
    if isinstance(output, NoisyValue):
        yield output
    elif (entries := list_entries(output)) is not None:
        for entry in entries:
            yield from noisy_in(tree, entry)
    elif _hides_noise(output):
        tree.forbid(
            f"continuous random numbers in a {type(output).__name__} as an output",
            "return a number, a list, a tuple, a dict or an array of them",
        )


def list_entries(output: Output) -> tuple[Output, ...] | None:
    """What may have noise in it, in an order that does not depend on it; None for all other."""
    if isinstance(output, tuple) and (type(output) is tuple or _is_named_tuple(output)):
        return tuple(output)
    if type(output) is Fields:
        return tuple(value for _, value in output.values)
    if type(output) is Typed:
        return (output.value,)
    if type(output) is Items:
        keys = {repr(key): (key, value) for key, value in output.items}
        # Keys that print alike have no order.
        if len(keys) == len(output.items) and not any(_hides_noise(key) for key, _ in output.items):
            return tuple(keys[text][1] for text in sorted(keys))
    return None


def with_entries(output: Output, entries: list[Any]) -> Any:
    """The output with other entries, in the order of ``list_entries``."""
    if isinstance(output, Typed):
        return Typed(output.kind, entries[0])
    if isinstance(output, Items):
        names = sorted((key for key, _ in output.items), key=repr)
        return make_items(dict(zip(names, entries, strict=True)))
    if isinstance(output, Fields):
        fields = [name for name, _ in output.values]
        return Fields(output.kind, tuple(zip(fields, entries, strict=True)))
    kind: Any = type(output)
    return kind._make(entries) if _is_named_tuple(output) else tuple(entries)


def _is_named_tuple(output: Output) -> bool:
    """Whether it compares as the tuple of its entries."""
    kind: Any = type(output)
    is_alike = issubclass(kind, tuple) and kind.__eq__ is tuple.__eq__
    return bool(is_alike and kind.__hash__ is tuple.__hash__ and has_names(kind))


def make_items(values: dict[Output, Any]) -> Any:
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


def replace_numbers(output: Output, number: Callable[[Form], Any]) -> Any:
    """The output with something else in the place of each number with noise."""
    return replace_values(output, lambda noisy: number(noisy.form))


def replace_values(output: Output, number: Callable[[NoisyValue], Any]) -> Any:
    """The same, where more than the form tells."""
    if isinstance(output, NoisyValue):
        return number(output)
    entries = list_entries(output)
    if entries is None:
        return output
    return with_entries(output, [replace_values(entry, number) for entry in entries])


def replace_by(skeleton: Output, ends: tuple[tuple[Any, Any], ...]) -> Output:
    """A description of an output, with an interval for each number, in their order."""
    from liptest.enumerate.numbers.boxes import InBox

    if isinstance(skeleton, InBox):
        return replace_by(skeleton.skeleton, skeleton.cut(ends))
    left = iter(ends)

    def fill(part: Output) -> Any:
        if isinstance(part, RealPlace):
            return Between(*next(left))
        if isinstance(part, Following):
            return part if part.rest is None else replace(part, rest=Between(*next(left)))
        entries = list_entries(part)
        return part if entries is None else with_entries(part, [fill(entry) for entry in entries])

    output: Output = fill(skeleton)
    return output


def list_intervals(output: Output) -> tuple[tuple[Any, Any], ...]:
    """The intervals in such a description, in the order in which ``replace_by`` takes them."""
    if isinstance(output, Following):
        return () if output.rest is None else list_intervals(output.rest)
    if isinstance(output, Between):
        return ((output.low, output.high),)
    return tuple(pair for entry in list_entries(output) or () for pair in list_intervals(entry))


def nearby(output: Output, value: Callable[[Form], Fraction]) -> Any:
    """The output that a run gives with real floats: numbers near the values of their sums."""

    def near(noisy: NoisyValue) -> Near | int | float:
        number = value(noisy.form)
        if isinstance(noisy, WholeValue):
            return noisy.number(number)
        return Near(number, abs(number) + abs(Fraction(noisy.form.constant)))

    return replace_values(output, near)


def is_continuous(law: OutputLaw) -> bool:
    """Whether some output has continuous noise in it."""
    return any(isinstance(output, DensityLeaf) for output in law.outputs)


def make_refusal(name: str) -> ContinuousOutputs:
    """The error where laws are needed that have no probabilities of single outputs."""
    return ContinuousOutputs(
        f"{name}: its output is a number with continuous noise, of which no single value has a "
        f"probability; {ADVICE}; lt.check_privacy and lt.exact_epsilon compare densities"
    )
