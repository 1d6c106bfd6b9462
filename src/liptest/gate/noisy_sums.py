"""Sums of the data with noise, as plain numbers: what each is without noise, and with it.

Each sum is calculated exactly. As a symbol it is a form over answers and noises, of which the price
of a program is calculated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from liptest.data.domains import AllAnswers, Domain, Hypercube, Hypergrid, IntArray, RecordGrid
from liptest.data.tables import AddedRows, RowsOfUsers
from liptest.errors import GateError
from liptest.gate.row_answers import RowAnswers, read_row_answers
from liptest.symbolic.answers import Answer, Differences, ManyDifferences
from liptest.symbolic.exact_draws import ExactDraw
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise

# Most sums, noises of one, and numbers of all tables together.
_MOST_SUMS, _MOST_TERMS, _MOST_NUMBERS = 1 << 12, 1 << 8, 1 << 20
# Of a numerator or denominator: what is told is far inside the range of floats.
_MOST_DIGITS = 100
# Datasets that are records, each of a value.
_BY_RECORDS = (Hypercube, RecordGrid, AddedRows)


@dataclass(frozen=True)
class NoisySum:
    """offset + what the data add + the sum of factors times noises.

    ``added``: by value of a record what it adds; of counts and answers by their place a factor.
    ``noises``: (number, factor).
    """

    added: tuple[tuple[int, Fraction], ...]
    offset: Fraction
    noises: tuple[tuple[int, Fraction], ...]

    def numbers(self) -> Iterator[Fraction]:
        """All that it is calculated from, but for its noise."""
        yield self.offset
        yield from (by for _, by in (*self.added, *self.noises))

    def to_list(self) -> dict[str, Any]:
        """Plain JSON values; ``read_sum`` is the inverse."""
        return {
            "added": [[v, *in_hexadecimals(by)] for v, by in self.added],
            "offset": in_hexadecimals(self.offset),
            "noises": [[v, *in_hexadecimals(by)] for v, by in self.noises],
        }


@dataclass(frozen=True, eq=False)
class NoisySums:
    """Sums over datasets of a domain, and the noises that they have in common."""

    domain: Domain
    noises: tuple[Noise, ...]
    sums: tuple[NoisySum, ...]
    #: Of tables with real columns, or with users: what is added up.
    answers: RowAnswers | None = None

    def __post_init__(self) -> None:
        # So that whatever is drawn is inside the range of floats: a draw that fails would tell.
        require_few_digits(noise.parameter for noise in self.noises)
        for one in self.sums:
            require_few_digits(one.numbers())

    def is_whole(self, number: int, step: Fraction) -> bool:
        """Whether a sum is a multiple of a step."""
        noisy_sum = self.sums[number]
        sources: list[Answer | Noise] = [self.noises[v] for v, _ in noisy_sum.noises]
        sources += [] if self.is_by_records else [self.variables[v] for v, _ in noisy_sum.added]
        is_discrete = all(source.is_discrete for source in sources)
        return is_discrete and all((by / step).denominator == 1 for by in noisy_sum.numbers())

    def counted(self, dataset: IntArray) -> Sequence[int | Fraction]:
        """What sums add up: how many records have each value, or the numbers of a dataset, (d,).

        Of tables with real columns, or with users, the answers.
        """
        if self.answers is not None:
            return self.answers.totals(dataset)
        if self.is_by_records:
            sizes = int(self.domain.size_array.max())
            dataset = np.bincount(dataset, minlength=sizes)
        return list(map(int, dataset))

    def value(self, number: int, counted: Sequence[int | Fraction]) -> Fraction:
        """A sum without its noise, exactly."""
        one = self.sums[number]
        return one.offset + sum((by * counted[v] for v, by in one.added), Fraction(0))

    @property
    def is_by_records(self) -> bool:
        """Whether datasets are records, each of a value, or rows of a table that are listed."""
        return isinstance(self.domain, _BY_RECORDS)

    @cached_property
    def differences(self) -> Differences | ManyDifferences:
        """By how much neighbours move what the data add: of records the sums, else the answers."""
        d = self.domain.dimension
        if self.answers is not None:
            return self.answers.differences
        if isinstance(self.domain, AllAnswers):
            return Differences.of_box([1] * d, is_whole=True)
        if isinstance(self.domain, Hypergrid):
            return Differences.of_one([1] * d, is_whole=True)
        rows: list[dict[int, Fraction]] = [{} for _ in range(int(self.domain.size_array.max()))]
        for number, one in enumerate(self.sums):
            for v, by in one.added:
                rows[v][number] = by
        if isinstance(self.domain, AddedRows):
            return Differences.of_tables(rows[1:], relation="added", size=len(self.sums))
        return Differences.of_tables(rows, size=len(self.sums))

    @cached_property
    def variables(self) -> tuple[Answer | Noise, ...]:
        """What the variables of ``form`` are: all answers, and after them the noises."""
        if self.answers is not None:
            return (*self.answers.variables, *self.noises)
        if not self.is_by_records:
            whole = [True] * self.differences.size
        else:
            whole = [all(by.denominator == 1 for _, by in one.added) for one in self.sums]
        return (*(Answer(number, is_whole) for number, is_whole in enumerate(whole)), *self.noises)

    def form(self, number: int) -> Form:
        """A sum with data and noise as symbols."""
        noisy_sum = self.sums[number]
        answers = noisy_sum.added
        if answers and self.is_by_records:
            answers = ((number, Fraction(1)),)
        first = self.differences.size
        terms = [*answers, *((first + v, factor) for v, factor in noisy_sum.noises)]
        form = Form.of(noisy_sum.offset)
        for v, factor in terms:
            form = form + Form.variable(v) * factor
        return form

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; ``read_noisy_sums`` is the inverse."""
        return {
            "noises": [[noise.family, *in_hexadecimals(noise.parameter)] for noise in self.noises],
            "sums": [one.to_list() for one in self.sums],
        } | ({} if self.answers is None else {"table": self.answers.to_dict()})


class DrawnSums:
    """The sums on one dataset with one draw of each noise that is asked for.

    ``below(n)`` is uniform on 0 .. n-1.
    """

    def __init__(self, sums: NoisySums, dataset: IntArray, below: Any) -> None:
        self._sums = sums
        self._counted = sums.counted(dataset)
        self._below = below
        self._draws: dict[int, ExactDraw] = {}

    def parts(self, number: int) -> tuple[Fraction, list[tuple[ExactDraw, Fraction]]]:
        """A sum as its value without noise, and its draws with their factors."""
        terms = [(self._draw(v), factor) for v, factor in self._sums.sums[number].noises]
        return self._sums.value(number, self._counted), terms

    def _draw(self, noise: int) -> ExactDraw:
        if noise not in self._draws:
            self._draws[noise] = ExactDraw(self._sums.noises[noise], self._below)
        return self._draws[noise]


def read_noisy_sums(document: dict[str, Any], domain: Domain) -> NoisySums:
    """The inverse of ``to_dict``; ValueError and its like for anything else."""
    noises = tuple(Noise(family, read_fraction(*number)) for family, *number in document["noises"])
    sums = tuple(map(read_sum, document["sums"]))
    answers = None
    if isinstance(domain, RowsOfUsers):
        answers = read_row_answers(document["table"], domain)
    made = NoisySums(domain, noises, sums, answers)
    places = domain.dimension if answers is None else len(answers.answers)
    if made.is_by_records:
        places = int(domain.size_array.max())
    total = sum(len(one.added) + len(one.noises) for one in sums)
    if not 0 < len(sums) <= _MOST_SUMS or total > _MOST_NUMBERS:
        raise ValueError
    for one in sums:
        _require_below(one.added, places)
        if isinstance(domain, AddedRows) and any(v == 0 for v, _ in one.added):
            raise ValueError  # a sum over what is not there
        _require_below(one.noises, len(noises))
        if len(one.noises) > _MOST_TERMS:
            raise ValueError
    return made


def read_sum(document: dict[str, Any]) -> NoisySum:
    """The inverse of ``NoisySum.to_list``."""
    added, noises = (
        tuple((v, read_fraction(*number)) for v, *number in document[key])
        for key in ("added", "noises")
    )
    return NoisySum(added, read_fraction(*document["offset"]), noises)


def _require_below(terms: Sequence[tuple[int, Fraction]], most: int) -> None:
    numbers = [v for v, _ in terms]
    whole = all(type(v) is int and 0 <= v < most for v in numbers)
    if not whole or len(set(numbers)) < len(numbers):
        raise ValueError


def require_few_digits(numbers: Any) -> None:
    """GateError for numbers that are too large or too fine."""
    if max(map(_digits, numbers), default=0) > _MOST_DIGITS:
        raise GateError(
            f"a number of its sums has more than {_MOST_DIGITS} hexadecimal digits, as a "
            f"fraction; it is too large or too fine for exact noisy sums"
        )


def _digits(number: Fraction) -> int:
    """Hexadecimal ones of the longer part of a fraction."""
    return -(-max(number.numerator.bit_length(), number.denominator.bit_length()) // 4)


def in_hexadecimals(number: Fraction) -> list[str]:
    """A fraction in plain JSON values; ``read_fraction`` is the inverse."""
    return [f"{number.numerator:x}", f"{number.denominator:x}"]


def read_fraction(above: str, below: str) -> Fraction:
    """ValueError for long ones."""
    if max(len(above), len(below)) > _MOST_DIGITS:
        raise ValueError
    return Fraction(int(above, 16), int(below, 16))
