"""The scale of two laws shows what decides, and the second panel the loss of each row."""

from __future__ import annotations

import math

import pytest

from liptest.report.law_rows import LawRow
from liptest.report.svg import Scale, law_bars, row_losses


def rows(*pairs, decides=0):
    return [LawRow(str(i), p, q, i == decides) for i, (p, q) in enumerate(pairs)]


def test_a_plain_scale_where_all_that_decides_is_seen():
    scale = Scale.of(rows((0.5, 0.1), (0.5, 0.9)))
    assert scale.floor == 0
    assert scale.share(0.45) == pytest.approx(0.5)
    assert Scale.of(rows((1e-9, 0), (0.5, 0.5), decides=1)).floor == 0


@pytest.mark.parametrize("tiny", [1.9e-7, 1e-3, 1e-300])
def test_what_decides_is_seen_on_a_logarithmic_scale(tiny):
    found = rows((tiny, 0.0), (0.6, 0.7), (0.4 - tiny, 0.3))
    scale = Scale.of(found)
    assert 0 < scale.floor < 0.01
    assert "logarithmic from" in scale.title
    assert scale.share(0.0) == 0
    assert 0 < scale.share(tiny) < scale.share(0.4) < scale.share(0.7) == 1
    if tiny > 1e-30:
        assert scale.share(tiny) > 0.02
    drawn = law_bars("x", found)
    assert any("logarithmic" in one.text for one in drawn.shapes)


def test_losses_of_rows_are_held_against_the_claim():
    found = rows((0.5, 0.25), (0.0, 0.0), (0.1, 0.0), (0.4, 0.75))
    _, bars = row_losses("x", found, 0.65)
    assert [bar.value for bar in bars] == [
        pytest.approx(math.log(2)),
        0.0,
        math.inf,
        pytest.approx(math.log(0.75 / 0.4)),
    ]
    assert [bar.kind for bar in bars] == ["over", "within", "over", "within"]
