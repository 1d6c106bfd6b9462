"""Real answers on a page: both densities, the event shaded."""

from __future__ import annotations

import re
from typing import Any

import pytest

import liptest as lt
from liptest.data.distributions import DomainAlone
from liptest.enumerate.numbers.density_curves import DensityCurves
from liptest.report.density_picture import density_picture
from liptest.report.html import report_html
from liptest.report.svg import Drawn


def noisy(data: Any, rng: Any) -> float:
    return float(data.sum() + rng.laplace(0, 0.9))


def flip(data: Any, rng: Any) -> int:
    return int(data[0]) ^ int(rng.random() < 0.25)


def page_of(function: Any) -> str:
    mechanism = lt.mechanism(function)
    verdict = lt.check_privacy(mechanism, lt.Hypercube(3), epsilon=0.9, seed=1)
    assert verdict.decision == "NO"
    return str(report_html(verdict, mechanism))


@pytest.mark.slow
def test_the_page_of_a_real_answer_has_both_densities() -> None:
    page = page_of(noisy)
    for kind in ("first-line", "second-line", "first-event", "second-event"):
        assert page.count(f'"density {kind}"') + page.count(f'class="{kind}"') == 1
    assert "Both densities between" in page
    assert "below 0, have the probability 0.5 on the first dataset and 0.1646 on the second" in page
    assert "Meaning: the mechanism" not in page  # the section is called that
    assert "The mechanism is not private as claimed" in page


def test_the_page_of_a_discrete_answer_has_none() -> None:
    assert 'class="density' not in page_of(flip)


CURVES = DensityCurves(
    edges=(0.0, 1.0, 2.0, 3.0, 4.0),
    first=(0.0, 0.5, 0.5, 0.0),
    second=(0.25, 0.25, 0.25, 0.25),
    shaded=((1.0, 2.0), (3.5, None)),
    place=0,
    numbers=1,
    is_rare=False,
)


def everything(shapes: tuple[Drawn, ...]) -> list[Drawn]:
    return [each for one in shapes for each in (one, *everything(one.inside))]


def test_shapes_stay_inside_and_heights_are_to_scale() -> None:
    shapes = everything(density_picture("x", CURVES, (0.5, 0.4), "1 to 2").shapes)
    lines = [one for one in shapes if one.tag == "polyline"]
    tops = []
    for one in lines:
        points = [tuple(map(float, p.split(","))) for p in one.attributes["points"].split()]
        assert all(0 <= x <= 1000 and 0 <= y <= 1000 for x, y in points)
        tops.append(1000 - min(y for _, y in points))
    assert tops[0] == 2 * tops[1] > 0
    grounds = [one.attributes for one in shapes if one.attributes.get("class") == "ground"]
    assert [(one["x"], one["width"]) for one in grounds] == [
        ("25.00%", "25.00%"),
        ("87.50%", "12.50%"),
    ]
    marks = [one for one in shapes if one.attributes.get("class") == "mark"]
    assert len(marks) == 3
    ticks = [one.text for one in shapes if re.fullmatch(r"\d", one.text)]
    assert ticks == ["1", "2", "3"]


def regions(people: Any, rng: Any) -> Any:
    counts = people.groupby("region").size().reindex(["north", "south"], fill_value=0)
    return counts + rng.laplace(0, 0.5, size=2)


@pytest.mark.slow
def test_a_pipeline_is_drawn_on_the_frames_of_its_table() -> None:
    pytest.importorskip("pandas")
    table = lt.Table({"region": lt.Category(["north", "south"])}, rows=3)
    mechanism = lt.mechanism(regions)
    verdict = lt.check_privacy(mechanism, table, epsilon=1, seed=1)
    page = report_html(verdict, mechanism, distribution=DomainAlone(table))
    assert "Both densities between" in page
    assert "number 0 of the output, from 0" in page
    assert "row 0: region" in page
    assert "not drawn: the mechanism at hand" not in page
    assert 'aria-label="Both datasets"' not in page  # rows are said as a difference of frames
