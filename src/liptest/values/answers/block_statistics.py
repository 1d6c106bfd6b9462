"""One number of a block of the records, of which nothing but its range is known.

The median of a block, its largest record or its standard deviation may become any number of its
range when a record of the block is replaced, and stays as it is when another record is. So it is
an answer like a sum over the block to which a record adds anything between 0 and the length of the
range: sample and aggregate (Nissim, Raskhodnikova and Smith, 2007; docs/theory/size.md, S9).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.symbolic.answers import Answer
from liptest.symbolic.forms import Form
from liptest.values.answers.functions_of_answers import OF_BLOCKS

# Of which neighbours are looked for.
_MOST_BLOCKS = 2


@dataclass(frozen=True)
class BlockStatistic:
    """A function of the records of a part, and between what it lies.

    Parameters
    ----------
    name, arguments
        Of the function, and what it is given beside the records.
    table
        Of a record's number by its value: type and bytes.
    low, high
        Its range.
    reach
        How far one record of the block moves it at most.
    is_whole
        Whether it is 0 or 1.
    """

    name: str
    arguments: tuple[Any, ...]
    table: tuple[str, bytes]
    low: Fraction
    high: Fraction
    reach: Fraction
    is_whole: bool
    book: Any = field(compare=False, repr=False)
    function: Callable[..., Any] = field(compare=False, repr=False)

    def value(self, records: NDArray[Any]) -> Fraction:
        """The statistic of the records of a dataset."""
        kind, raw = self.table
        return self.of_numbers(np.frombuffer(raw, dtype=kind)[records])

    def of_numbers(self, numbers: NDArray[Any]) -> Fraction:
        """The statistic of the numbers of the records."""
        found = Fraction(float(self.function(numbers, *self.arguments)))
        return min(max(found, self.low), self.high)

    def answer(self) -> Answer:
        """The answer that it is."""
        answer: Answer = self.book.of_block(self)
        return answer

    def clipped(self, low: Fraction | None, high: Fraction | None) -> BlockStatistic:
        """The same, kept between two numbers; the first one counts where they cross."""
        ends = self.low, self.high
        if low is not None:
            ends = max(ends[0], low), max(ends[1], low)
        if high is not None:
            ends = min(ends[0], high), min(ends[1], high)
        return replace(self, low=ends[0], high=ends[1])

    def tested(
        self, comparison: Callable[[Any, Any], Any], factor: Fraction, constant: Fraction
    ) -> BlockStatistic:
        """1 where a comparison of it, times a factor and plus a constant, with 0 holds, else 0."""

        def truth(numbers: NDArray[Any], *_: Any) -> int:
            return int(bool(comparison(self.of_numbers(numbers) * factor + constant, 0)))

        words = repr((comparison.__name__, factor, constant, self))
        ends = Fraction(0), Fraction(1)
        return BlockStatistic(words, (), self.table, *ends, ends[1], True, self.book, truth)


def is_block(column: Any) -> bool:
    """Whether a column is of the records at some places that the program names."""
    book = column.answers
    is_part = type(book.part) is range and len(book.part) > 0 and book.has_positions
    return is_part and column.kept is None and column.own.ndim == 1 and not column.is_off


def form_of_block(
    column: Any,
    function: Callable[..., Any],
    ends: tuple[Fraction, Fraction],
    *given: Any,
    reach: Fraction | None = None,
) -> Form:
    """A function of the records of a block, whose range is known."""
    column.read_length()
    table = column.table.dtype.char, column.table.tobytes()
    name = f"{function.__module__}.{function.__qualname__}"
    reach = ends[1] - ends[0] if reach is None else reach
    block = BlockStatistic(name, given, table, *ends, reach, False, column.answers, function)
    form: Form = column.run.answer(block.answer())
    return form


def _find_block(run: Any, form: Form) -> tuple[BlockStatistic | None, Fraction]:
    """The statistic of a block that a form is a multiple of, beside a constant, and its factor."""
    if len(form.terms) != 1:
        return None, Fraction(0)
    [(variable, factor)] = form.terms
    noise = run.noises[variable]
    return (noise.block if type(noise) is Answer else None), Fraction(factor)


def clip_block(run: Any, form: Form, low: Fraction | None, high: Fraction | None) -> Form | None:
    """A statistic of a block, or its opposite, kept between two numbers; None for other sums."""
    block, factor = _find_block(run, form)
    if block is None or factor not in (1, -1) or form.constant:
        return None
    if factor < 0:
        low, high = (None if end is None else -end for end in (high, low))
    made: Form = run.answer(block.clipped(low, high).answer())
    return made * factor


def truth_of_block(run: Any, comparison: Any, form: Form) -> Form | None:
    """Whether a statistic of a block is above a constant; None for other sums."""
    block, factor = _find_block(run, form)
    if block is None or block.name in ("numpy.var", "numpy.std"):
        return None  # whose last digits depend on how floats are added
    made: Form = run.answer(block.tested(comparison, factor, Fraction(form.constant)).answer())
    return made


def pairs_of_blocks(book: Any, values: int) -> tuple[tuple[Any, Any], ...]:
    """Neighbours between which the statistic of some block moves much, by one of its records."""
    pairs = []
    for block in islice(book.blocks.values(), _MOST_BLOCKS):
        places = np.asarray(block.book.part)
        steps = []
        for low, high in ((0, values - 1), (values - 1, 0)):
            records = np.repeat(np.int64(low), len(places))
            value = [block.value(records)]
            for place in range(len(places)):
                records[place] = high
                value.append(block.value(records))
                steps.append((abs(value[-1] - value[-2]), place, low, high))
        _, place, low, high = max(steps)
        left = np.repeat(np.int64(low), book.all_records)
        left[places[:place]] = high
        right = left.copy()
        right[places[place]] = high
        pairs += [(left, right), (right, left)]
    return tuple(pairs)


OF_BLOCKS.clipped, OF_BLOCKS.truth = clip_block, truth_of_block
