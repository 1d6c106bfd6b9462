"""The drawings of a report as matplotlib figures."""

from __future__ import annotations

import math

import pytest

import liptest as lt
from liptest.errors import InputError
from liptest.report.plots import claim_figure, exposure_figure, profile_figure, witness_figure
from tests.unit.report.pages import LAW, LONG_LAW, NO, WIDE, YES


def widths(figure):
    return [bar.get_width() for bar in figure.axes[0].patches]


@pytest.mark.slow
def test_the_profile_is_a_curve_with_a_mark():
    profile = lt.privacy_profile(NO.mechanism, LAW, epsilons=[0.5, 1.0])
    lines = profile_figure(profile, claimed=1.0).axes[0].lines
    assert lines[0].get_ydata().tolist() == [0.3, 0.3]
    assert len(lines) == 2
    with pytest.raises(InputError, match="no points"):
        profile_figure(lt.privacy_profile(NO.mechanism, LAW, epsilons=[1.0]).__class__((), 0.0))


@pytest.mark.slow
def test_bars_of_losses():
    figure = exposure_figure(NO.mechanism, LAW, claimed=1.0)
    assert [width > 0 for width in widths(figure)] == [False, False, True, False]
    assert "infinite" in figure.axes[0].texts[2].get_text()
    assert widths(exposure_figure(WIDE.mechanism, LONG_LAW)) == pytest.approx([3, 1])
    assert widths(claim_figure(YES.certificate.verdict)) == pytest.approx([1, 1])
    assert all(map(math.isfinite, widths(claim_figure(NO.certificate.verdict))))
    with pytest.raises(InputError, match="would have to be visited"):
        exposure_figure(YES.mechanism, lt.ProductDistribution.uniform(lt.Hypercube(20)))


def test_both_laws_of_the_witness():
    drawn = witness_figure(NO.certificate.verdict, NO.mechanism).axes[0]
    assert sorted(bar.get_height() for bar in drawn.patches) == pytest.approx([0, 0.5, 0.5, 1])
    figure = witness_figure(WIDE.certificate.verdict, WIDE.mechanism)
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert math.fsum(heights) == pytest.approx(2)
    figure.canvas.draw()
    with pytest.raises(InputError, match="no witness"):
        witness_figure(YES.certificate.verdict, NO.mechanism)
    with pytest.raises(InputError, match="does not give the probabilities"):
        witness_figure(NO.certificate.verdict, YES.mechanism)
