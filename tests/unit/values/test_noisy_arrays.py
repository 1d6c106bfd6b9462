"""What is made of an array of noisy counts costs nothing: the price is that of the counts.

The analysis itself runs each program beside its symbols, so what is made is NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align

MANY = lt.RecordGrid([4] * 5000)
PUBLIC = np.array([1.0, 2.0, 3.0])
Made = Callable[[Any], Any]

MADE: dict[str, Made] = {
    "so far the largest": lambda x: np.maximum.accumulate(x) / 5000,
    "from behind the smallest": lambda x: np.minimum.accumulate(x[::-1])[::-1],
    "products so far": np.multiply.accumulate,
    "what is left": np.subtract.accumulate,
    "along rows": lambda x: np.maximum.accumulate(x.reshape(2, 2), axis=1),
    "along columns": lambda x: np.fmin.accumulate(x.reshape(2, 2)),
    "outer": lambda x: np.outer(x, PUBLIC) / 5000,
    "outer, in the other order": lambda x: np.outer(PUBLIC, x),
    "with itself": lambda x: np.outer(x, x),
    "outer of a ufunc": lambda x: np.multiply.outer(x, PUBLIC),
    "differences of all": lambda x: np.subtract.outer(PUBLIC, x),
    "with one number": lambda x: np.maximum.outer(x, 2.0),
    "of a matrix": lambda x: np.add.outer(x.reshape(2, 2), PUBLIC),
    "in a line": lambda x: np.ravel(x.reshape(2, 2)),
}


@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize("name", MADE)
def test_what_is_made_of_noisy_counts_is_free(name: str, is_cut: bool) -> None:
    made = MADE[name]

    def release(data: Any, rng: Any) -> Any:
        noisy = np.bincount(data, minlength=4) + rng.laplace(0, 2.0, size=4)
        return made(np.maximum(noisy, 0) if is_cut else noisy).tolist()

    assert align(lt.mechanism(release), MANY).epsilon == pytest.approx(1.0)


def written_through_a_line(data: Any, rng: Any) -> Any:
    noisy = np.maximum(np.bincount(data, minlength=4) + rng.laplace(0, 2.0, size=4), 0)
    line = np.ravel(noisy)
    line[0] = data.sum()
    return noisy.tolist()


def of_the_records(data: Any, rng: Any) -> Any:
    return np.maximum.accumulate(data).sum() + rng.laplace(0, 3.0)


def into_an_array(data: Any, rng: Any) -> Any:
    kept = np.zeros(4)
    np.maximum.accumulate(np.bincount(data, minlength=4) + rng.laplace(0, 2.0, 4), out=kept)
    return kept.tolist()


def outer_of_records(data: Any, rng: Any) -> Any:
    return (np.add.outer(PUBLIC, data).max(axis=1) + rng.laplace(0, 2.0, size=3)).tolist()


@pytest.mark.parametrize(
    "release", [written_through_a_line, of_the_records, into_an_array, outer_of_records]
)
def test_other_uses_have_no_price(release: Any) -> None:
    assert align(lt.mechanism(release), MANY).price is None


def test_the_largest_so_far_of_counts_without_noise_has_its_own_price() -> None:
    """A replaced record moves each of the four by 1 at most, and one of them up or down alone."""

    def release(data: Any, rng: Any) -> Any:
        largest = np.maximum.accumulate(np.bincount(data, minlength=4))
        return (largest + rng.laplace(0, 4.0, size=4)).tolist()

    assert align(lt.mechanism(release), MANY).epsilon == pytest.approx(1.0)
