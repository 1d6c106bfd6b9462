"""The law of an output whose parts are independent, part by part.

At the end of a run, numbers that nobody has looked at are not chosen: those that depend on random
variables of their own are factors of the law, and the output is told by its structure. So a record
of 32 random bits is one run, and not 2**32 (docs/theory/records.md, P5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from liptest.enumerate.trees.outputs import Typed, canonical_output
from liptest.errors import UnsupportedForm
from liptest.mechanisms.laws import Output
from liptest.mechanisms.product_laws import ListOfParts, Outcomes, PartPlace, PartsLaw, ProductLaw
from liptest.values.binary.bits import BernoulliValue
from liptest.values.draws.factor_values import FactorValue
from liptest.values.protocol import Symbolic, is_symbolic
from liptest.values.rounding import is_negative_zero

# Variables of the run that parts share, at most.
_MOST_SHARED = 10


@dataclass
class _Parts:
    """The parts of one output, in their order."""

    name: str
    typed: bool
    #: What is done with each number first.
    plain: Callable[[Any], Any]
    entries: list[Any] = field(default_factory=list)
    #: Entries of arrays, whose type is told with the array.
    in_arrays: set[int] = field(default_factory=set)

    def place(self, entry: Any, *, in_array: bool = False) -> PartPlace:
        self.entries.append(entry)
        place = len(self.entries) - 1
        self.in_arrays |= {place} if in_array else set()
        return PartPlace(place)

    def skeleton(self, output: Any) -> Output:
        """The structure of an output, with its numbers in places."""
        kind = type(output)
        if issubclass(kind, Symbolic) and not is_symbolic(output):
            return self._of_array(output)
        if kind in (list, tuple):
            inner = tuple(map(self.skeleton, output))
            return ListOfParts(kind.__name__, inner) if self.typed else inner
        if kind.__name__ == "ndarray" and output.dtype.kind in "biuf" and output.ndim:
            words = f"ndarray of {output.dtype} {output.shape}"
            return self._give_type(words, self._nest(list(output), output.ndim))
        return self.place(output)

    def _of_array(self, output: Any) -> Output:
        cells = output.storage.cells()
        words = f"ndarray of {output.dtype} {output.shape}"
        return self._give_type(words, self._nest(list(cells), cells.ndim))

    def _nest(self, rows: list[Any], depth: int) -> Output:
        if depth == 1:
            return tuple(self.place(entry, in_array=True) for entry in rows)
        return tuple(self._nest(list(row), depth - 1) for row in rows)

    def _give_type(self, words: str, inner: Output) -> Output:
        return ListOfParts(words, inner) if self.typed else inner

    def outcome(self, value: Any, place: int) -> Output:
        plain = self.plain(value)
        if isinstance(plain, (float, np.floating)) and is_negative_zero(plain):
            raise UnsupportedForm("parts of an output that may be -0.0")
        typed = self.typed and place not in self.in_arrays
        return canonical_output(plain, self.name, typed=typed)


def product_leaf(output: Any, name: str, plain: Callable[[Any], Any], *, typed: bool) -> ProductLaw:
    """An output as a product, given what is known in its run."""
    parts = _Parts(name, typed, plain)
    skeleton = parts.skeleton(output)
    entries = parts.entries
    # What is chosen may make more known, so that comes first.
    while any(is_symbolic(entry) and not is_open(entry) for entry in entries):
        entries = [entry if is_open(entry) else _look_at(entry) for entry in entries]
    factors = [
        PartsLaw.of((place,), {(parts.outcome(entry, place),): Fraction(1)})
        for place, entry in enumerate(entries)
        if not is_symbolic(entry)
    ]
    for places in _dependent({k: entry for k, entry in enumerate(entries) if is_symbolic(entry)}):
        law = _law([entries[place] for place in places], places, parts)
        factors.append(PartsLaw.of(places, law))
    ordered = sorted(factors, key=lambda factor: factor.places)
    return ProductLaw(skeleton, tuple(ordered))


def parts_in(skeleton: Output, output: Output) -> Outcomes | None:
    """The parts of a canonical output, by its structure; None where it has another one."""
    found = _match(skeleton, output)
    return None if found is None else tuple(part for _, part in sorted(found))


def _match(skeleton: Output, output: Output) -> list[tuple[int, Output]] | None:
    if isinstance(skeleton, PartPlace):
        return [(skeleton.number, output)]
    if isinstance(skeleton, ListOfParts):
        if not isinstance(output, Typed) or output.kind != skeleton.kind:
            return None
        return _match(skeleton.parts, output.value)
    if not (type(skeleton) is tuple and type(output) is tuple and len(skeleton) == len(output)):
        return None
    found: list[tuple[int, Output]] = []
    for pair in zip(skeleton, output, strict=True):
        inner = _match(*pair)
        if inner is None:
            return None
        found += inner
    return found


def _look_at(entry: Any) -> Any:
    return entry.concretise("the output") if issubclass(type(entry), Symbolic) else entry


def is_open(entry: Any) -> bool:
    """Whether it depends on a few variables of which nothing is known."""
    if type(entry) is FactorValue:
        return entry.variable.taken is None
    return is_bit(entry)


def is_bit(entry: Any) -> bool:
    """Whether it is a number of a few random bits of which nothing is known."""
    if type(entry) is not BernoulliValue or entry._value is not None:
        return False
    own = np.array(find_variables(entry), dtype=np.int64)
    is_alone = entry.formula.is_one_entry and entry.variables.are_ungrouped(own)
    return is_alone and len(own) > 0


def find_variables(entry: Any) -> list[Any]:
    """What it depends on, and is not known."""
    if type(entry) is FactorValue:
        return [entry.variable]
    named = entry.formula.entries.variables[0]
    return [int(one) for one in named if one >= 0 and entry.variables.known[one] < 0]


def _dependent(entries: dict[int, Any]) -> Iterator[tuple[int, ...]]:
    """Places whose entries share variables, directly or by others between them."""
    groups: dict[Any, set[int]] = {}
    for place, entry in entries.items():
        own = find_variables(entry)
        together = {place}.union(*(groups.get(one, set()) for one in own))
        for member in together:
            groups |= dict.fromkeys(find_variables(entries[member]), together)
    yield from sorted({tuple(sorted(together)) for together in groups.values()})


def _law(entries: list[Any], places: tuple[int, ...], parts: _Parts) -> dict[Outcomes, Fraction]:
    """What entries are together, by all values of their variables."""
    variables = list(dict.fromkeys(one for entry in entries for one in find_variables(entry)))
    if len(variables) > _MOST_SHARED:
        entries[0].refuse("an output with many parts that depend on each other")
    weighed = [_weights(variable, entries) for variable in variables]
    law: dict[Outcomes, Fraction] = {}
    for chosen in product(*(range(len(weights)) for weights in weighed)):
        mass = Fraction(1)
        for weights, taken in zip(weighed, chosen, strict=True):
            mass *= Fraction(weights[taken], sum(weights))
        at = dict(zip(variables, chosen, strict=True))
        key = tuple(
            parts.outcome(value_given(entry, at), place)
            for entry, place in zip(entries, places, strict=True)
        )
        law[key] = law.get(key, Fraction(0)) + mass
    return law


def _weights(variable: Any, entries: list[Any]) -> tuple[int, ...]:
    if not isinstance(variable, int):
        weights: tuple[int, ...] = variable.weights
        return weights
    bits = next(entry.variables for entry in entries if type(entry) is BernoulliValue)
    return int(bits.zeros[variable]), int(bits.ones[variable])


def value_given(entry: Any, at: dict[Any, int]) -> Any:
    """What an entry is where its variables have these values."""
    if type(entry) is FactorValue:
        return entry.values[at[entry.variable]]
    row, known = 0, entry.variables.known
    for one in entry.formula.entries.variables[0].tolist():
        # Of a column without a variable both halves are alike.
        row = 2 * row + (0 if one < 0 else at[one] if known[one] < 0 else int(known[one]))
    return entry.formula.at(int(entry.formula.entries.table[0][row]))
