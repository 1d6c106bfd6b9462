"""A verdict in a notebook: the words that ``print`` shows, and the pictures of the report.

Notebooks drop style sheets, and are dark without telling: so every shape carries its own style,
letters have the colour around them, and other colours are readable on light and on dark ground.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from liptest.blackbox.verdicts import BlackBoxVerdict
from liptest.enumerate.numbers.density_curves import DensityCurves
from liptest.errors import LiptestError
from liptest.mechanisms.base import Mechanism
from liptest.privacy.verdicts import PrivacyVerdict, coordinate_noun, find_kept_mechanism
from liptest.privacy.witnesses import PrivacyWitness
from liptest.report.figures import (
    Figure,
    bound_figure,
    density_figure,
    finding_figures,
    law_figure,
    share_figure,
)
from liptest.report.html import templates
from liptest.report.law_rows import rows_in_two, witness_densities
from liptest.report.svg import Drawn
from liptest.verdicts import Decision

# Readable on light and on dark paper.
_COLOURS = {Decision.YES: "#2f8f57", Decision.NO: "#d0453b", Decision.INCONCLUSIVE: "#a87a14"}
_FIRST, _SECOND, _GREY = "#4a86c8", "#cf7a24", "#8a919b"
_STYLES = {
    "claim": f"fill:{_GREY}",
    "within": f"fill:{_FIRST}",
    "over": "fill:#d0453b",
    "first": f"fill:{_FIRST}",
    "second": f"fill:{_SECOND}",
    "stripe": "fill:#f3c999",
    "axis": f"stroke:{_GREY}",
    "mark": "stroke:currentColor;stroke-width:1.5;stroke-dasharray:4 3",
    "ground": f"fill:{_GREY};opacity:0.15",
    "density": "fill:none;stroke-width:2.4;stroke-linejoin:round",
    "first-line": f"stroke:{_FIRST}",
    "second-line": f"stroke:{_SECOND};stroke-dasharray:7 3",
    "first-event": f"fill:{_FIRST};opacity:0.28",
    "second-event": f"fill:{_SECOND};opacity:0.45",
    "edge": "fill:#d0453b",
    "strong": "font-weight:650",
    "small": "font-size:12px",
    "soft": "opacity:0.75",
}
_LETTERS = "fill:currentColor;font-size:13px;font-family:system-ui,sans-serif"


def verdict_html(verdict: PrivacyVerdict | BlackBoxVerdict) -> str:
    """The words beside a bar in the decision's colour, the pictures below them."""
    title, headline, *rest = str(verdict).splitlines()
    template = templates().get_template("notebook.html")
    return template.render(
        colour=_COLOURS[verdict.decision],
        title=title,
        headline=headline,
        rest=rest,
        figures=[_style_figure(figure) for figure in _figures(verdict)],
        first=_FIRST,
        second=_SECOND,
    )


def _figures(verdict: PrivacyVerdict | BlackBoxVerdict) -> list[Figure]:
    # Ids hold for the whole notebook, in which another verdict has other words.
    name = f"liptest-{hashlib.sha256(str(verdict).encode()).hexdigest()[:10]}"
    if isinstance(verdict, BlackBoxVerdict):
        bound = verdict.shown_bound
        shares = [] if bound is None else [share_figure(name, bound)]
        return [*shares, bound_figure(name, verdict)]
    witness = verdict.witness
    if witness is None or not witness.event:
        return finding_figures(name, verdict)
    noun = coordinate_noun(verdict.relation)
    changed = noun if len(witness.changed) == 1 else f"{noun}s"
    drawn = [law_figure(name, rows_in_two(witness), changed), *finding_figures(name, verdict)]
    curves = _densities(verdict, witness)
    return drawn if curves is None else [density_figure(name, curves, witness), *drawn]


def _densities(verdict: PrivacyVerdict, witness: PrivacyWitness) -> DensityCurves | None:
    """Both densities, of real answers of a mechanism that is at hand; a picture never fails."""
    mechanism = find_kept_mechanism(verdict)
    if not isinstance(mechanism, Mechanism):
        return None
    try:
        return witness_densities(mechanism, witness)
    except LiptestError:
        return None


def _style_figure(figure: Figure) -> Figure:
    drawn = figure.drawing
    style = f"{drawn.style};display:block;overflow:visible"
    return replace(
        figure, drawing=replace(drawn, style=style, shapes=tuple(map(_style, drawn.shapes)))
    )


def _style(shape: Drawn) -> Drawn:
    attributes = dict(shape.attributes)
    kinds = attributes.pop("class", "").split()
    classes = [] if shape.tag != "text" else [_LETTERS]
    classes += [_STYLES[kind] for kind in kinds if kind in _STYLES]
    classes += [attributes.pop("style")] if "style" in attributes else []
    styled = {**attributes, "style": ";".join(classes)} if classes else attributes
    return replace(shape, attributes=styled, inside=tuple(map(_style, shape.inside)))
