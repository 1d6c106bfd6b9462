"""``liptest law``: the output distribution on one dataset."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from liptest.cli.codes import find_code
from liptest.cli.data_options import WHOLE, read_numbers
from liptest.cli.loading import load_mechanism, mute_output
from liptest.enumerate.numbers.whole_numbers import with_formula
from liptest.enumerate.trees.tracing import MAX_RUNS
from liptest.errors import MOST_RECORDS, BudgetError, InputError, LiptestError, check_count, quote
from liptest.mechanisms.laws import Output, OutputLaw
from liptest.privacy.witnesses import fraction_text
from liptest.report.text import Screen


def law(
    mechanism: Annotated[str, Parameter(help="file.py:name or package.module:name.")],
    /,
    *,
    dataset: Annotated[str | None, Parameter(help="One dataset: 0,1,1.")] = None,
    ones: Annotated[
        int | None, Parameter(help="Or a dataset of bits with this many ones ..", **WHOLE)
    ] = None,
    dimension: Annotated[
        int | None,
        Parameter(name=("--records", "--dimension"), help=".. and this many records.", **WHOLE),
    ] = None,
    trace: Annotated[
        str | None, Parameter(help="Print the random choices that lead to this output instead.")
    ] = None,
) -> int:
    """Print the exact output distribution on one dataset.

    Example: liptest law vendor.py:count --ones 3 --records 20
    """
    return run_law(mechanism, dataset, ones, dimension, trace)


def run_law(
    where: str,
    dataset: str | None,
    ones: int | None,
    dimension: int | None,
    trace: str | None = None,
) -> int:
    """``liptest law``: outputs, probabilities, exact fractions, error, source."""
    screen = Screen()
    try:
        data = _dataset(dataset, ones, dimension)
        with mute_output():
            mechanism, label = load_mechanism(where)
            law = with_formula(mechanism, mechanism.law(data), data)
            traced = None if trace is None else _trace(mechanism, law, data, trace)
    except LiptestError as error:
        return screen.error(error, find_code(error))
    if traced is None:
        screen.law(label, law)
    else:
        screen.paragraph(_words(f"{label}: {trace}", law, *traced))
    return 0


def _trace(mechanism: Any, law: OutputLaw, data: Any, text: str) -> tuple[Output, list[Any]]:
    """The output that a text stands for, and the choices that lead there."""
    if not mechanism.has_trace:
        raise InputError(
            "--trace: the law of this mechanism is declared, not enumerated from code; there are "
            "no choices to show",
            name="trace",
        )
    wanted = [output for output in law.outputs if text in (repr(output), str(output))]
    if not wanted:
        near = ", ".join(repr(output) for output in law.outputs[:12])
        raise InputError(f"trace={quote(text)} is not an output on this dataset; it has: {near}")
    choices: list[Any] | None = mechanism.trace(data, wanted[0])
    if choices is None:
        raise BudgetError(f"trace={quote(text)}: not found in {MAX_RUNS:,} runs; it is too rare")
    return wanted[0], choices


def _words(title: str, law: OutputLaw, output: Output, choices: list[Any]) -> str:
    # Choices about noise have no probabilities of their own: only all of them together have one.
    noisy = law.fractions is None
    lines = [
        f"{number}. branch {choice.chosen} of {_count(choice.branches)}"
        f"{'' if noisy else _probability(choice)}   {choice.draw}"
        for number, choice in enumerate(choices, 1)
    ]
    probability = math.prod((choice.probability for choice in choices), start=Fraction(1))
    ends = f"All of them together: probability {float(probability):.6g}."
    if noisy:
        ends = f"All ways to this output together: probability {law[output]:.6g}, integrated."
    return "\n".join([title, *lines, ends if lines else "No random choice leads there."])


def _probability(choice: Any) -> str:
    exactly = fraction_text(choice.probability) or "about"
    return f", probability {exactly} ({float(choice.probability):.6g})"


def _count(branches: Any) -> int:
    return branches if isinstance(branches, int) else len(branches)


def _numbers(text: str) -> Any:
    try:
        return read_numbers(text)
    except InputError as error:
        raise InputError(f"dataset={error}, as in 0,1,1", name="dataset") from None


def _dataset(dataset: str | None, ones: int | None, dimension: int | None) -> Any:
    if (dataset is None) == (ones is None):
        raise InputError("dataset: give either --dataset 0,1,1 or --ones 3 --records 20")
    if dataset is not None:
        values = np.array(_numbers(dataset))
        if np.any(values != np.floor(values)):
            raise InputError(f"dataset={dataset!r} must be whole numbers", name="dataset")
        return values.astype(np.int64)
    d = check_count("records", dimension if dimension is not None else 0, most=MOST_RECORDS)
    k = check_count("ones", ones if ones is not None else 0, least=0)
    if k > d:
        raise InputError(f"ones={k} is more than records={d}", name="ones", value=k)
    return (np.arange(d) < k).astype(np.int64)
