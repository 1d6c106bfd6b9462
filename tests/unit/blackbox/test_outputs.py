"""Outputs of any kind become keys and numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import liptest as lt
from liptest.blackbox.events import Outputs, as_outputs, collect_outputs, feature, feature_names
from liptest.blackbox.events import canonical_key as canonical
from liptest.blackbox.learning import Census, frequent_values, join_batches, radius
from liptest.blackbox.learning import empirical_divergence as hockey_stick
from liptest.mechanisms.laws import Raised


def batch(listed):
    return Outputs(collect_outputs(listed))


def test_equal_outputs_have_one_key():
    outputs = Outputs(np.array([0.0, -0.0, 1.5, math.nan, math.nan, math.inf]))
    keys, rows = outputs.distinct()
    assert len(keys) == 4
    assert rows[0] == rows[1]
    assert rows[3] == rows[4]
    rows_of = Outputs(np.array([[0.0, math.nan], [-0.0, math.nan], [0.0, 1.0]])).distinct()[1]
    assert rows_of[0] == rows_of[1] != rows_of[2]


def test_a_number_has_the_same_key_in_every_container():
    for listed in ([1, 2], [True, 2.0], [1, "a"], [Raised("KeyError"), 1]):
        keys, rows = batch(listed).distinct()
        place = next(k for k, item in enumerate(listed) if item == 1)
        assert keys[rows[place]] == 1
    assert canonical([1, (2.0, [3])]) == (1, (2, (3,)))
    assert canonical(np.array([1.0, 2.0])) == (1, 2)


def test_whole_numbers_beyond_floats_stay_apart():
    keys, _ = batch([2**60, 2**60 + 1, 2**80, 2**80 + 1]).distinct()
    assert len(keys) == 4
    keys, _ = batch([2**60, 0.5, 2**60 + 1]).distinct()
    assert len(keys) == 3


def test_features_of_vectors():
    outputs = Outputs(np.array([[3, 1, 2], [0, 0, 5]]))
    expected = {
        "x[1]": [1, 0],
        "sum": [6, 5],
        "max": [3, 5],
        "min": [1, 0],
        "argmax": [0, 2],
        "argmin": [1, 0],
        "nonzeros": [3, 1],
        "x[2]-x[0]": [-1, 5],
    }
    assert set(expected) <= set(feature_names(outputs))
    for name, values in expected.items():
        assert feature(outputs, name).tolist() == values


def test_features_of_anything():
    outputs = batch([1.5, "text", (1, 2), None, Raised("ValueError"), (math.nan, math.inf)])
    assert feature(outputs, "length").tolist() == [0, -1, 2, -1, -1, 2]
    assert np.isnan(feature(outputs, "x[0]")).tolist() == [False, True, False, True, True, True]
    for name in feature_names(outputs):
        assert feature(outputs, name).shape == (6,)
    assert np.isnan(feature(outputs, "x[9]")).all()


def test_wrong_returns_are_named():
    for wrong in ("text", 3, None, np.array(3.0), np.zeros(4), [1, 2]):
        with pytest.raises(lt.errors.MechanismError, match="n"):
            as_outputs(wrong, 3, "f")
    with pytest.raises(lt.errors.MechanismError, match="not hashable"):
        Outputs(collect_outputs([{"a": 1}])).distinct()
    assert as_outputs(["a", None, (1, 2)], 3, "f").distinct()[0] == ["a", None, (1, 2)]
    assert len(as_outputs(np.array(["a", "b"]), 2, "f").distinct()[0]) == 2
    assert as_outputs(np.zeros((2, 2, 2)), 2, "f").numbers.shape == (2, 4)


def test_batches_of_different_kinds_are_joined():
    parts = [batch([1, 2]), batch(["a"]), Outputs(np.array([[1, 2]]))]
    assert join_batches(parts).distinct()[0] == [1, 2, "a", (1, 2)]
    assert join_batches(parts[:1]).is_numeric


def test_a_census_counts_everything_until_it_is_too_much():
    census = Census(2)
    census.add(0, batch([1, 1, "a"]))
    census.add(1, batch([2, "a"]))
    assert census.view.outputs == (1, "a", 2)
    assert census.counts.tolist() == [[2, 1, 0, 0], [0, 1, 1, 0]]
    census.add(0, Outputs(np.random.default_rng(0).random(20_000)))
    assert not census.is_complete


def test_frequent_values_are_those_that_come_back():
    assert frequent_values(batch([3, 1, 3, 2, 2, 2])).outputs == (2, 3)


def test_the_resolution_bounds_the_divergence():
    """Of two exactly known laws: never exceeded in 400 runs at level 1e-6."""
    p, q, epsilon = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5]), 0.5
    truth = hockey_stick(1e9 * p, 1e9 * q, epsilon)
    assert truth == pytest.approx(0.5 - math.exp(0.5) * 0.2)
    rng = np.random.default_rng(5)
    margin = radius(300, 300, epsilon, math.log(1e-6))
    tight = 0
    for _ in range(400):
        found = hockey_stick(rng.multinomial(300, p), rng.multinomial(300, q), epsilon)
        assert found + margin >= truth
        tight += found < truth
    assert tight > 20
