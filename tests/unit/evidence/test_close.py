"""What counts as the same number when a test is repeated: nine digits, and no fewer."""

from __future__ import annotations

import pytest

from liptest.evidence.verify import _close_ends, _differences, _same

FLOATS = [1e-9, 0.3, 1.0, 12345.678, 1e12]


@pytest.mark.parametrize("value", FLOATS)
def test_floats(value):
    assert _same(value, value * (1 + 5e-10), "largest_loss")
    assert not _same(value, value * (1 + 2e-9), "largest_loss")
    assert not _same(value, value * (1 - 1e-6), "largest_loss")
    assert not _same(value, -value, "largest_loss")
    assert not _same(value, 0.0, "largest_loss")


@pytest.mark.parametrize("exponent", [-1, -20, -400])
def test_ends_of_intervals(exponent):
    def ends(digits):
        return [f"{digits}e{exponent}"] * 4

    known = ends("1.0000000000")
    assert _close_ends(known, ends("1.0000000005"))
    assert _close_ends(ends("1.0000000005"), known)
    assert not _close_ends(known, ends("1.0000000025"))
    assert not _close_ends(ends("1.0000000025"), known)
    assert not _close_ends(known, ends("1.1"))


def test_fractions_are_the_same_or_not():
    assert _close_ends(["1/3"] * 4, ["1/3"] * 4)
    assert _close_ends(["2/6"] * 4, ["1/3"] * 4)
    near = "333333333333/1000000000000"
    assert not _close_ends(["1/3"] * 4, [near] * 4)
    assert not _close_ends(["1/3"] * 4, ["3.333333333333e-1"] * 4)


def test_counts_and_words_are_the_same_or_not():
    assert not _same(1, 2, "cost.laws")
    assert not _same(1, True, "cost.laws")
    assert not _same(1, 1.0, "cost.laws")
    assert list(_differences({"a": 1, "b": {"c": 0.5}}, {"a": 1, "b": {"c": 0.5 + 1e-12}})) == []
    [line] = _differences({"a": 1, "b": {"c": 0.5}}, {"a": 1, "b": {"c": 0.51}})
    assert line.startswith("b.c: ")
