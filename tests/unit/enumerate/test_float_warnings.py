"""Warnings of NumPy about floats change no law; errors that the code makes of them do.

They are errors here, as under ``python -W error``: pyproject.toml asks for it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import liptest as lt
from liptest.mechanisms.laws import OutputLaw


def law_of(program: Callable[[Any, Any], Any]) -> OutputLaw:
    return lt.output_law(lt.mechanism(program), np.array([0]))


def test_the_end_of_what_random_numbers_can_be_gives_none() -> None:
    found = law_of(lambda data, rng: np.log(rng.random()) < -1.0)
    assert set(found.outputs) == {True, False}


def test_code_that_makes_errors_of_them_gets_them() -> None:
    def program(data: Any, rng: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                return bool(np.log(rng.random()) < -1.0)
            except RuntimeWarning:
                return "zero"

    found = law_of(program)
    assert found.exact("zero") == Fraction(1, 2**53)
    assert set(found.outputs) == {True, False, "zero"}


def test_filters_are_as_they_were() -> None:
    before = list(warnings.filters)
    law_of(lambda data, rng: warnings.simplefilter("ignore"))
    assert warnings.filters == before
