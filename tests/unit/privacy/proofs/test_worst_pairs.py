"""Windows over sparse positions against a plain pass over all edges, in a few quick cases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from liptest.privacy.proofs import exhaustive
from liptest.privacy.proofs.exhaustive import ValueLaws, WorstPairs
from liptest.statistics.code_sets import DifferenceSets


def _case(seed: int) -> tuple[DifferenceSets, ValueLaws, dict[tuple[int, int], float]]:
    """Edges between some positions, random laws at those that are reached, losses by edge."""
    rng = np.random.default_rng(seed)
    top = 60
    known = rng.random(top + 1) < 0.7
    places = np.flatnonzero(known).tolist()
    top = places[-1]
    logs = np.log(rng.dirichlet([0.5] * 3, size=top + 1)).T
    logs[:, ~known[: top + 1]] = 0.0
    losses, lower = {}, {}
    for difference in (1, 2, 5, 9, 13, 30):
        bits = 0
        for low in places:
            if low + difference in places and rng.random() < 0.6:
                bits |= 1 << low
                gaps = np.abs(logs[:, low + difference] - logs[:, low])
                losses[low, low + difference] = float(gaps.max())
        if bits:
            lower[difference] = bits
    reached = sum(1 << place for place in places)
    laws = ValueLaws(("a", "b", "c"), logs, known[: top + 1], 0.0, True)
    return DifferenceSets(0, 1, top, reached, lower), laws, losses


def _blocks(worst: WorstPairs) -> list[tuple[int, int]]:
    return [
        pair
        for low, high in worst.blocks()
        for pair in zip(low.tolist(), high.tolist(), strict=True)
    ]


@pytest.fixture(params=[(7, 5), (1000, 1000)])
def _narrow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, window = request.param
    monkeypatch.setattr(exhaustive, "_ROWS", rows)
    monkeypatch.setattr(exhaustive, "_WINDOW", window)


@pytest.mark.usefixtures("_narrow")
@pytest.mark.parametrize("seed", range(12))
def test_the_worst_pair_is_among_them_and_all_are_edges(seed: int) -> None:
    sets, laws, losses = _case(seed)
    found = _blocks(WorstPairs(sets, laws, watched=math.inf, certain=-math.inf))
    assert set(found) <= set(losses)
    assert max(losses[pair] for pair in found) == max(losses.values())


@pytest.mark.usefixtures("_narrow")
@pytest.mark.parametrize("seed", range(12))
def test_below_what_is_certain_all_pairs_above_the_line_are_found(seed: int) -> None:
    sets, laws, losses = _case(seed)
    watched = float(np.median(list(losses.values())))
    found = set(_blocks(WorstPairs(sets, laws, watched=watched, certain=math.inf)))
    assert found <= set(losses)
    assert {pair for pair, loss in losses.items() if loss > watched} <= found


@pytest.mark.parametrize("seed", range(4))
def test_places_without_a_law_raise_no_bound(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many edges few are looked at one by one."""
    sets, laws, _losses = _case(seed)
    worst = WorstPairs(sets, laws, watched=math.inf, certain=-math.inf)
    leaves: list[float] = []
    leaf = worst._leaf

    def counted(rows: Any, bounds: Any, difference: int) -> list[Any]:
        assert np.all(np.isfinite(bounds[laws.known[rows + difference]]))
        leaves.extend(bounds.tolist())
        return leaf(rows, bounds, difference)

    monkeypatch.setattr(worst, "_leaf", counted)
    _blocks(worst)
    assert leaves
    assert all(math.isfinite(bound) for bound in leaves)
