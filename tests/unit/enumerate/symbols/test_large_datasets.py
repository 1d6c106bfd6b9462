"""What datasets of many records cost less for is the same as for few."""

from __future__ import annotations

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_datasets import Records
from liptest.privacy.proofs.by_records import _example
from liptest.privacy.searches.plain_pairs import _all_of, record_pairs

ALIKE = [lt.RecordGrid([7] * 23), lt.Hypercube(9), lt.RecordGrid([300] * 5)]
MIXED = [lt.RecordGrid([7, 2, 5]), lt.RecordGrid([1, 300]), lt.RecordGrid([2, 2, 3])]


@pytest.mark.parametrize("domain", [*ALIKE, *MIXED], ids=repr)
def test_numbers_of_values_are_those_of_all_coordinates(domain: lt.RecordGrid) -> None:
    assert domain.are_alike == (domain in ALIKE)
    assert domain.size_array.dtype == np.int64
    assert domain.size_array.tolist() == list(domain.sizes)
    assert domain.dtype == np.min_scalar_type(-max(domain.sizes))
    example = _example(domain)
    assert example.dtype == domain.dtype
    assert example.tolist() == [k % size for k, size in enumerate(domain.sizes)]


@pytest.mark.parametrize("domain", [*ALIKE, *MIXED], ids=repr)
def test_pairs_of_one_value_stay_within_the_domain(domain: lt.RecordGrid) -> None:
    sizes = np.array(domain.sizes)
    for left, right in record_pairs(domain, 1, 1, 4):
        assert left.dtype == right.dtype == np.int64
        assert ((left < sizes) & (right < sizes)).all()
        assert np.count_nonzero(left != right) == 1
    for value in (0, 1, 4, 500):
        made = _all_of(value, domain)
        assert made.dtype == np.int64
        assert made.tolist() == np.minimum(value, sizes - 1).tolist()


@pytest.mark.slow
def test_records_of_a_repeated_dataset_are_counted_by_what_it_repeats() -> None:
    data = Records(lt.RecordGrid([7] * 250_001))
    rng = np.random.default_rng(4)
    answer = data._answers.of(np.array([0, 3, 1, 4, 1, 5, 9]))
    for _ in range(3):
        dataset = data.plain(rng)
        assert data._repeated is not None
        expected = int(np.array([0, 3, 1, 4, 1, 5, 9])[dataset].sum())
        assert data.value(answer, dataset) == expected
        copied = dataset.copy()
        assert data.value(answer, copied) == expected
        copied[:9] = 6
        assert data.value(answer, copied.copy()) == int(
            np.array([0, 3, 1, 4, 1, 5, 9])[copied].sum()
        )
