"""Noisy sums on a grid: what a program tells, drawn by this package for data of any size.

Where all data reach a program through sums with fresh noise, its output is made of these sums
(docs/theory/size.md, S6). Each sum is calculated exactly, gets exact noise of the program's law,
and is rounded to a multiple of a stated step: post-processing of what was proved (S15).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from liptest.data.domains import AllAnswers, Domain, Hypercube, Hypergrid, IntArray, RecordGrid
from liptest.data.points import PointBatch
from liptest.enumerate.symbolic_data import SymbolicPaths
from liptest.errors import GateError
from liptest.evidence.domain_form import domain_of, domain_to_dict
from liptest.gate.plain import (
    LONGEST,
    SumPlace,
    drawn_text,
    read_output,
    text_of,
    with_numbers,
)
from liptest.gate.sealed import DOMAINS, VERSION, RandomBelow, Sealed
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import ComparableLaws, OutputLaw
from liptest.symbolic.answers import AlignedPath, Answer, Differences
from liptest.symbolic.exact_draws import ExactDraw, draw_cell
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise

# Most sums, noises of one, and numbers of all tables together.
_MOST_SUMS, _MOST_TERMS, _MOST_NUMBERS = 1 << 12, 1 << 8, 1 << 20
# Of a numerator or denominator: what is told is far inside the range of floats.
_MOST_DIGITS = 100
# Datasets that are records, each of a value.
_BY_RECORDS = (Hypercube, RecordGrid)


@dataclass(frozen=True)
class NoisySum:
    """offset + what the data add + the sum of factors times noises.

    ``added``: by value of a record what it adds; of counts and answers by their place a factor.
    ``noises``: (number, factor).
    """

    added: tuple[tuple[int, Fraction], ...]
    offset: Fraction
    noises: tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True, eq=False)
class SealedSums(Sealed):
    """Sums of the data with noise of this package, each told as a multiple of ``step``.

    ``shape`` is the text of an output with ``SumPlace`` in the places of the numbers.
    """

    domain: Domain
    step: Fraction
    noises: tuple[Noise, ...]
    sums: tuple[NoisySum, ...]
    shape: str
    name: str = ""

    def __post_init__(self) -> None:
        # So that whatever is drawn is inside the range of floats: a draw that fails would tell.
        if max(map(_digits, self._numbers())) > _MOST_DIGITS:
            raise GateError(
                f"a number of its sums has more than {_MOST_DIGITS} hexadecimal digits, as a "
                f"fraction; it is too large or too fine for noisy sums on a grid"
            )

    def _numbers(self) -> Iterator[Fraction]:
        """All that its sums are calculated from."""
        yield self.step
        yield from (noise.parameter for noise in self.noises)
        for one in self.sums:
            yield one.offset
            yield from (by for _, by in (*one.added, *one.noises))

    @property
    def grid_step(self) -> Fraction:
        return self.step

    @property
    def is_whole(self) -> bool:
        """Whether all sums are multiples of the step before they are rounded."""
        numbers = [by for one in self.sums for _, by in (*one.added, *one.noises)]
        numbers += [one.offset for one in self.sums]
        is_discrete = all(noise.is_discrete for noise in self.noises)
        return is_discrete and all((by / self.step).denominator == 1 for by in numbers)

    @cached_property
    def mechanism(self) -> SumsMechanism:
        return SumsMechanism(self, self.name or "sealed sums")

    @property
    def words(self) -> str:
        count = "a noisy sum" if len(self.sums) == 1 else f"{len(self.sums):,} noisy sums"
        drawn = f"{count} of the data, which this package computes, with exact noise of the code's"
        if self.is_whole:
            return f"{drawn} law"
        return (
            f"{drawn} law, each rounded to a multiple of {self.step}: within half of that of the "
            f"ideal answer"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "sealed": "sums",
            "version": VERSION,
            "domain": domain_to_dict(self.domain),
            "step": _written(self.step),
            "noises": [[noise.family, *_written(noise.parameter)] for noise in self.noises],
            "sums": [
                {
                    "added": [[v, *_written(by)] for v, by in noisy.added],
                    "offset": _written(noisy.offset),
                    "noises": [[v, *_written(by)] for v, by in noisy.noises],
                }
                for noisy in self.sums
            ],
            "shape": self.shape,
        }

    def draw(self, dataset: IntArray, below: RandomBelow) -> str:
        draws = [ExactDraw(noise, below) for noise in self.noises]
        cells = [
            draw_cell(value, [(draws[v], factor) for v, factor in noisy.noises], self.step)
            for noisy, value in zip(self.sums, self.values(dataset), strict=True)
        ]
        numbers = [_number(k * self.step) for k in cells]
        return drawn_text(with_numbers(read_output(self.shape), numbers))

    def values(self, dataset: IntArray) -> list[Fraction]:
        """Each sum without its noise, exactly, on a dataset, (d,)."""
        if isinstance(self.domain, _BY_RECORDS):
            numbers = np.bincount(dataset, minlength=int(self.domain.size_array.max())).tolist()
        else:
            numbers = dataset.tolist()
        return [
            noisy.offset + sum((by * numbers[v] for v, by in noisy.added), Fraction(0))
            for noisy in self.sums
        ]

    @cached_property
    def differences(self) -> Differences:
        """By how much neighbours move what the data add: of records the sums, else the answers."""
        d = self.domain.dimension
        if isinstance(self.domain, AllAnswers):
            return Differences.of_box([1] * d, is_whole=True)
        if isinstance(self.domain, Hypergrid):
            return Differences.of_one([1] * d, is_whole=True)
        rows: list[dict[int, Fraction]] = [{} for _ in range(int(self.domain.size_array.max()))]
        for number, noisy in enumerate(self.sums):
            for v, by in noisy.added:
                rows[v][number] = by
        return Differences.of_tables(rows, size=len(self.sums))

    @cached_property
    def path(self) -> AlignedPath:
        """What is told, with data and noise as symbols, before it is rounded."""
        size = self.differences.size
        places = []
        for number, noisy in enumerate(self.sums):
            answers = noisy.added
            if answers and isinstance(self.domain, _BY_RECORDS):
                answers = ((number, Fraction(1)),)
            terms = [*answers, *((size + v, factor) for v, factor in noisy.noises)]
            form = Form(noisy.offset)
            for v, factor in terms:
                form = form + Form.variable(v) * factor
            places.append(form)
        return AlignedPath((*map(Answer, range(size)), *self.noises), (), tuple(places))


@dataclass(frozen=True, eq=False)
class SumsMechanism(Mechanism):
    """Sealed sums as a mechanism: compared by the price of their noise, not by laws."""

    sums: SealedSums
    name: str
    source: str = "enumerated"
    outputs: None = field(init=False, default=None)
    statistic: None = field(init=False, default=None)

    @property
    def is_drawn_as_followed(self) -> bool:
        return True

    def aligned_paths(self, domain: Domain, *, way: str = "released") -> SymbolicPaths:
        """The one path of the sums; the same in both ways, as nothing is compared."""
        return SymbolicPaths((self.sums.path,), self.sums.differences, way, reads_length=True)

    def laws(self, points: PointBatch) -> ComparableLaws:
        raise GateError(f"{self.name}: of sealed sums no laws are computed")

    def law(self, dataset: IntArray) -> OutputLaw:
        raise GateError(f"{self.name}: of sealed sums no laws are computed")


def seal_sums(
    mechanism: Mechanism, domain: Domain, step: Fraction, name: str, *, as_output: bool = False
) -> SealedSums:
    """The noisy sums of which a program makes its output; GateError where it is not such.

    ``as_output``: only where they are its output, and not what that is calculated from.
    """
    if type(domain) not in DOMAINS:
        raise GateError(f"datasets of {domain} are not sums of whole numbers")
    followed = mechanism.aligned_paths(domain, way="released")
    if followed is None or not followed.paths:
        why = "there is no code to follow" if followed is None else followed.reason
        raise GateError(f"on a grid only noisy sums are released: {why}")
    [path, *more] = followed.paths
    is_plain = not (followed.rounding or followed.missing or followed.sample)
    if more or path.conditions or not is_plain:
        raise GateError(
            "on a grid only noisy sums are released, the same ones in every run; here which sums "
            "are looked at depends on chance or on noise"
        )
    numbers, noises = _renumbered(path)
    forms = sorted(path.places, key=lambda form: _order(form, numbers))
    sums = tuple(_sum_of(form, path, numbers, followed) for form in forms)
    places = {_key_of(form): k for k, form in enumerate(forms)}
    shape = _own_shape(followed, places)
    if shape is None:
        if as_output:
            raise GateError("its output is calculated from noisy sums")
        every = tuple(map(SumPlace, range(len(places))))
        shape = text_of(every[0] if len(every) == 1 else every)
    return SealedSums(domain, step, noises, sums, shape, name)


def _renumbered(path: AlignedPath) -> tuple[dict[int, int], tuple[Noise, ...]]:
    """The noises that are told, by their variables."""
    told = {v for form in path.places for v, _ in form.terms}
    kept = [v for v, noise in enumerate(path.noises) if v in told and isinstance(noise, Noise)]
    noises = tuple(noise for v, noise in enumerate(path.noises) if v in set(kept))
    return {v: k for k, v in enumerate(kept)}, noises  # type: ignore[return-value]


def _order(form: Form, numbers: dict[int, int]) -> tuple[int, Any]:
    return min((numbers[v] for v, _ in form.terms if v in numbers), default=-1), form.terms


def _sum_of(
    form: Form, path: AlignedPath, numbers: dict[int, int], followed: SymbolicPaths
) -> NoisySum:
    added: dict[int, Fraction] = {}
    for v, factor in form.terms:
        source = path.noises[v]
        if isinstance(source, Noise):
            continue
        table = None if source.function is not None else followed.added(source.number)
        if table is None:
            raise GateError(
                f"on a grid only noisy sums over all records are released, and {source} is not one"
            )
        for value, by in table.items():
            added[value] = added.get(value, Fraction(0)) + factor * by
    noises = tuple((numbers[v], Fraction(factor)) for v, factor in form.terms if v in numbers)
    listed = tuple((value, Fraction(by)) for value, by in sorted(added.items()) if by)
    return NoisySum(listed, Fraction(form.constant), noises)


def _key_of(form: Any) -> Any:
    """Of a sum; of what is calculated from sums it is the key of none."""
    return (form.constant, form.terms) if isinstance(form, Form) else None


def _own_shape(followed: SymbolicPaths, places: dict[Any, int]) -> str | None:
    """The code's own output where it consists of the sums, all of them."""
    seen: set[int] = set()

    def place(one: Any) -> SumPlace:
        number = places[_key_of(one)]
        seen.add(number)
        return SumPlace(number)

    if followed.output is not None:
        with suppress(KeyError, GateError):  # of an output that is calculated from the sums
            shape = text_of(followed.output(place))
            if len(seen) == len(places):
                return shape
    return None


def read_sums(document: dict[str, Any], name: str) -> SealedSums:
    """The inverse of ``to_dict``; ValueError and its like for anything else."""
    domain = domain_of(document["domain"])
    noises = tuple(Noise(family, _read(*number)) for family, *number in document["noises"])
    sums = tuple(map(_read_sum, document["sums"]))
    size = int(domain.size_array.max())
    places = size if isinstance(domain, _BY_RECORDS) else domain.dimension
    total = sum(len(noisy.added) + len(noisy.noises) for noisy in sums)
    if type(domain) not in DOMAINS or not 0 < len(sums) <= _MOST_SUMS or total > _MOST_NUMBERS:
        raise ValueError
    for noisy in sums:
        _require_below(noisy.added, places)
        _require_below(noisy.noises, len(noises))
        if len(noisy.noises) > _MOST_TERMS:
            raise ValueError
    step = _read(*document["step"])
    shape = read_output(document["shape"], longest=LONGEST)
    with_numbers(shape, [0] * len(sums))
    if step <= 0:
        raise ValueError
    return SealedSums(domain, step, noises, sums, document["shape"], name)


def _read_sum(document: dict[str, Any]) -> NoisySum:
    added, noises = (
        tuple((v, _read(*number)) for v, *number in document[key]) for key in ("added", "noises")
    )
    return NoisySum(added, _read(*document["offset"]), noises)


def _require_below(terms: Sequence[tuple[int, Fraction]], most: int) -> None:
    numbers = [v for v, _ in terms]
    whole = all(type(v) is int and 0 <= v < most for v in numbers)
    if not whole or len(set(numbers)) < len(numbers):
        raise ValueError


def _digits(number: Fraction) -> int:
    """Hexadecimal ones of the longer part of a fraction."""
    return -(-max(number.numerator.bit_length(), number.denominator.bit_length()) // 4)


def _written(number: Fraction) -> list[str]:
    return [f"{number.numerator:x}", f"{number.denominator:x}"]


def _read(above: str, below: str) -> Fraction:
    if max(len(above), len(below)) > _MOST_DIGITS:
        raise ValueError
    return Fraction(int(above, 16), int(below, 16))


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
