"""``liptest law``: the output law of a mechanism on one dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from liptest.errors import InputError, LiptestError, check_count
from liptest.jobs import code_of, muted, numbers
from liptest.loading import load_mechanism
from liptest.report.text import Screen


def run_law(where: str, dataset: str | None, ones: int | None, dimension: int | None) -> int:
    """``liptest law``: outputs, probabilities, exact fractions, error, source."""
    screen = Screen()
    try:
        with muted():
            mechanism, label = load_mechanism(where)
            law = mechanism.law(_dataset(dataset, ones, dimension))
    except LiptestError as error:
        return screen.error(error, code_of(error))
    screen.law(label, law)
    return 0


def _dataset(dataset: str | None, ones: int | None, dimension: int | None) -> Any:
    if (dataset is None) == (ones is None):
        raise InputError("dataset: give either --dataset 0,1,1 or --ones 3 --dimension 20")
    if dataset is not None:
        values = np.array(numbers(dataset, always_list=True))
        if np.any(values != np.floor(values)):
            raise InputError(f"dataset={dataset!r} must be whole numbers", name="dataset")
        return values.astype(np.int64)
    d = check_count("dimension", dimension if dimension is not None else 0)
    k = check_count("ones", ones if ones is not None else 0, least=0)
    if k > d:
        raise InputError(f"ones={k} is more than dimension={d}", name="ones", value=k)
    return (np.arange(d) < k).astype(np.int64)
