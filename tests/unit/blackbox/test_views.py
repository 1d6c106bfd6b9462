"""Views sort every output into one cell, say so, and come back from JSON."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.blackbox.events import (
    Bins,
    CellTree,
    Outputs,
    Values,
    collect_outputs,
    fit_bins,
    fit_tree,
    view_from_dict,
)
from liptest.blackbox.learning import Aim, Event, best_cells
from liptest.mechanisms.laws import Raised

NUMBERS = st.one_of(
    st.integers(-5, 5), st.floats(-5, 5), st.sampled_from([math.nan, math.inf, -math.inf])
)
ANYTHING = st.one_of(
    NUMBERS, st.tuples(NUMBERS, NUMBERS), st.sampled_from(["a", None, Raised("KeyError")])
)


@pytest.mark.slow
@given(st.lists(ANYTHING, min_size=1, max_size=40))
@settings(max_examples=80, deadline=None)
def test_cells_depend_on_the_output_alone(listed):
    """The same output lies in the same cell, alone or in a batch, before and after JSON."""
    outputs = Outputs(collect_outputs(listed))
    views = [Values((1, "a")), fit_bins(outputs, "x[0]"), fit_bins(outputs, "sum")]
    views.append(CellTree(("x[0]", "", "length"), (0.5, 0.0, 0.0)))
    for view in views:
        codes = view.codes(outputs)
        assert codes.min() >= 0
        assert codes.max() < view.size
        alone = [int(view.codes(Outputs(collect_outputs([item])))[0]) for item in listed]
        assert alone == codes.tolist()
        again = view_from_dict(json.loads(json.dumps(view.to_dict())))
        assert again == view
        assert again.codes(outputs).tolist() == codes.tolist()
        assert view.words(list(range(view.size)))


def test_bins_keep_values_that_come_back_apart():
    rng = np.random.default_rng(0)
    values = np.where(rng.random(20_000) < 0.01, 0.25, rng.normal(size=20_000))
    view = fit_bins(Outputs(values), "x[0]")
    assert view.atoms == (0.25,)
    codes = view.codes(Outputs(np.array([0.25, 0.2500001, -100.0, 100.0, math.nan])))
    assert codes[0] == 0
    assert len(set(codes.tolist())) == 5
    assert "x[0] = 0.25" in view.words([0])
    assert "x[0] >= " in view.words([int(codes[3])])
    assert "no x[0]" in view.words([view.size - 1])


def test_words_join_neighbouring_intervals():
    view = Bins("sum", (0.0, 1.0, 2.0))
    assert view.words([1, 2]) == "0 <= sum < 2"
    assert view.words([0, 3]) == "sum < 0 or sum >= 2"
    assert view.words([0, 1, 2, 3]) == "any sum"
    assert Values((1, 2)).words([0]) == "output in {1}"
    assert Values((1, 2)).words([1, 2]) == "no output of {1}"


def test_a_tree_finds_a_corner_that_no_single_number_shows():
    """Two uniform numbers; in one corner the left sample has twice the draws."""
    rng = np.random.default_rng(1)

    def draw(extra):
        every = rng.random((20_000, 2))
        corner = rng.random((extra, 2)) * 0.2 + [0.0, 0.8]
        return Outputs(np.concatenate([every, corner]))

    left, right = draw(800), draw(0)
    fresh = draw(800), draw(0)
    aim = Aim(0.0, 0.2, 20_000, 2.0)
    scores = {}
    for view in (fit_tree(left, right), fit_bins(left, "x[0]"), fit_bins(left, "sum")):
        order, judged = (
            tuple(np.bincount(view.codes(side), minlength=view.size) for side in sides)
            for sides in ((left, right), fresh)
        )
        scores[type(view).__name__, getattr(view, "feature", "")] = best_cells(order, judged, aim)
    best = max(scores.values(), key=lambda choice: choice.score)
    assert best is scores["CellTree", ""]
    assert best.forward


def test_the_best_event_has_the_cells_of_large_ratio():
    left, right = np.array([500, 300, 200]), np.array([100, 300, 600])
    aim = Aim(0.0, 0.5, 1000, 2.0)
    choice = best_cells((left, right), (left, right), aim)
    assert (choice.cells, choice.forward) in (((0,), True), ((2,), False))
    assert best_cells((left * 0, right * 0), (left, right), aim) is None


def test_a_bound_prefers_an_event_that_never_happens_on_one_side():
    left, right = np.array([730, 260, 10_000]), np.array([0, 260, 10_730])
    aim = Aim(0.0, None, 10_000, 2.0)
    assert best_cells((left, right), (left, right), aim).cells == (0,)


def test_an_event_counts_its_hits_and_comes_back_from_json():
    event = Event(Values((0, 1)), (1, 2))
    assert event.hits(Outputs(np.array([0, 1, 7, 0]))) == 2
    assert Event.from_dict(json.loads(json.dumps(event.to_dict()))) == event
    with pytest.raises(lt.errors.InputError, match="not written"):
        view_from_dict({"view": "moon"})
