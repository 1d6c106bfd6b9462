"""Inline SVG without script or font: lengths along the width in percent, letters in pixels.

So a drawing fits any screen and its letters never shrink. Each has a title and a description.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from liptest.report.law_rows import LawRow

#: Width of a letter in pixels, rather more than on average.
LETTER = 8
_LONGEST = 44
# Controls, lone surrogates, and marks that turn the direction of writing around.
_UNSEEN = ("Cc", "Cs", "Cf")


@dataclass(frozen=True)
class Drawn:
    """One element of a drawing."""

    tag: str
    attributes: dict[str, str]
    text: str = ""
    inside: tuple[Drawn, ...] = ()


@dataclass(frozen=True)
class Drawing:
    """A picture; ``name`` makes its ids unique on the page, ``style`` leaves room for letters."""

    name: str
    title: str
    description: str
    height: str
    style: str
    shapes: tuple[Drawn, ...]


def drawing(
    name: str,
    title: str,
    description: str,
    height: float,
    body: Sequence[Drawn],
    *,
    before: float = 0,
    after: float = 0,
) -> Drawing:
    """A picture; ``before`` and ``after`` pixels beside it are left for letters."""
    style = f"margin-left:{before:g}px;width:calc(100% - {before + after:g}px)"
    return Drawing(name, title, description, f"{height:g}", style, tuple(body))


def percent(share: float) -> str:
    """A share of the width; never outside of it."""
    return f"{100 * min(1.0, max(0.0, share)):.2f}%"


def bar(share: float, y: float, height: float, kind: str, *, fill: str = "") -> Drawn:
    """A bar from the left edge; a positive one is never invisible."""
    width = percent(max(share, 0.003) if share > 0 else 0.0)
    placed = {"class": kind, "y": f"{y:g}", "width": width, "height": f"{height:g}"}
    return Drawn("rect", placed | ({"style": f"fill:{fill}"} if fill else {}))


def arrow(y: float, height: float, kind: str) -> Drawn:
    """The tip of a bar that runs off the right edge: it has no end."""
    tip = Drawn("path", {"class": kind, "d": f"M0 -3 L9 {height / 2:g} L0 {height + 3:g}Z"})
    placed = {"x": "100%", "y": f"{y:g}", "overflow": "visible", "aria-hidden": "true"}
    return Drawn("svg", placed, inside=(tip,))


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Drawn:
    """A line; x as shares of the width, y in pixels."""
    start = {"class": kind, "x1": percent(x1), "y1": f"{y1:g}"}
    return Drawn("line", {**start, "x2": percent(x2), "y2": f"{y2:g}"})


def area(left: float, right: float, top: float, bottom: float, kind: str) -> Drawn:
    """A rectangle; left and right as shares of the width."""
    size = {"width": percent(max(0.0, right - left)), "height": f"{max(0.0, bottom - top):g}"}
    return Drawn("rect", {"class": kind, "x": percent(left), "y": f"{top:g}", **size})


def words(
    share: float, y: float, text: str, kind: str = "", *, dx: float = 0, anchor: str = "start"
) -> Drawn:
    """Letters at a share of the width, ``dx`` pixels further on."""
    placed = {"class": kind, "x": percent(share), "y": f"{y:g}"}
    shift = {"dx": f"{dx:g}"} if dx else {}
    return Drawn("text", {**placed, **shift, "text-anchor": anchor}, short(text))


def mark(share: float, top: float, bottom: float, text: str) -> list[Drawn]:
    """A dashed line across a drawing with its name above it."""
    anchor = "start" if share < 0.2 else "end" if share > 0.8 else "middle"
    named = words(share, top - 6, text, "strong", anchor=anchor)
    return [line(share, top, share, bottom, "mark"), named]


def visible(text: str) -> str:
    """What cannot be seen or written as UTF-8 as its code point."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        f"\\u{ord(letter):04x}"
        if unicodedata.category(letter) in _UNSEEN and letter not in "\n\t"
        else letter
        for letter in text
    )


def short(text: str, most: int = _LONGEST) -> str:
    """At most so many letters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def number(value: float, digits: int = 6) -> str:
    """A number as the page writes it."""
    return "infinite" if math.isinf(value) else f"{value:.{digits}g}"


def ticks(top: float, most: int = 5) -> list[float]:
    """Round numbers from 0 to at most ``top``, no more than ``most`` steps."""
    rough = top / most
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * k for k in (1, 2, 5, 10) if unit * k >= rough * (1 - 1e-9))
    return [step * k for k in range(int(top / step + 1e-9) + 1)]


# Labels up to so many letters stand beside their bars, longer ones above.
_BESIDE = 15
_AFTER = 66
_DESCRIBED = 12


@dataclass(frozen=True)
class Bar:
    """One bar; ``kind`` is a class of the style sheet: claim, within, over."""

    label: str
    value: float
    kind: str


def bars(
    name: str,
    title: str,
    rows: Sequence[Bar],
    *,
    claimed: float | None = None,
    height: float = 16,
    axis: str = "",
) -> Drawing:
    """Horizontal bars; an infinite one has an arrow for an end. ``claimed`` is a mark across.

    ``axis`` says below them what their lengths are.
    """
    finite = [row.value for row in rows if math.isfinite(row.value)]
    top = max([*finite, claimed or 0.0, 1e-300])
    endless = any(math.isinf(row.value) for row in rows)
    full = 1.4 * top if endless else top
    before, label_line = _gutter([row.label for row in rows])
    step = height + 12 + label_line
    start = 28 if claimed is not None else 6
    body: list[Drawn] = []
    for place, row in enumerate(rows):
        y = start + step * place + label_line
        body.append(_label(row.label, y, height, before))
        infinite = math.isinf(row.value)
        share = 1.0 if infinite else row.value / full
        body.append(bar(share, y, height, row.kind))
        if infinite:
            body.append(arrow(y, height, row.kind))
        shown = number(row.value)
        dx = 15 if infinite else 7
        body.append(words(share, y + height / 2 + 4.5, shown, "value", dx=dx))
    bottom = start + step * len(rows) - 4
    if claimed is not None:
        body = [*mark(claimed / full, start - 6, bottom, f"claimed {number(claimed)}"), *body]
    description = "; ".join(f"{row.label}: {number(row.value)}" for row in rows)
    if claimed is not None:
        description = f"Claimed: {number(claimed)}. {description}"
    below = 24 if axis else 2
    body += _axis(axis, bottom + 2) if axis else []
    return drawing(
        name, title, f"{description}.", bottom + below, body, before=before, after=_AFTER
    )


# A bar below this share of the width is hardly seen.
_SEEN = 0.01
_DECADES = 1e-30


@dataclass(frozen=True)
class Scale:
    """Probabilities along the width, up to ``top``; logarithmic from ``floor`` on, if not 0."""

    top: float
    floor: float = 0.0

    @classmethod
    def of(cls, rows: Sequence[LawRow]) -> Scale:
        """Plain, unless a row that decides would be too short to be seen."""
        sides = [(row.probability, row.neighbour_probability) for row in rows]
        top = max([max(pair) for pair in sides] + [1e-300])
        told = [p for row, pair in zip(rows, sides, strict=True) if row.decides for p in pair]
        if not any(0 < p < _SEEN * top for p in told):
            return cls(top)
        least = min(p for pair in sides for p in pair if p > 0)
        return cls(top, 10.0 ** (math.floor(math.log10(max(least, _DECADES))) - 1))

    def share(self, value: float) -> float:
        """Share of the width; 0 for probability 0, and below the floor as little as can be seen."""
        if not self.floor or value <= 0:
            return value / self.top
        across = math.log10(self.top / self.floor)
        return max(math.log10(value / self.floor) / across, 0.003)

    @property
    def title(self) -> str:
        """The words at the axis."""
        if not self.floor:
            return "probability"
        return f"probability, logarithmic from {self.floor:.0e}"


def _axis(title: str, y: float) -> list[Drawn]:
    return [line(0, y, 1, y, "axis"), words(0, y + 16, title, "small soft")]


def law_bars(
    name: str,
    rows: Sequence[LawRow],
    *,
    title: str = "Output distributions of the first and of the second dataset",
) -> Drawing:
    """Two laws, one above the other at each output; those that decide have a grey background.

    The scale is logarithmic where a row that decides would not be seen on a plain one.
    """
    scale = Scale.of(rows)
    before, label_line = _gutter([row.label for row in rows])
    step = 38 + label_line
    hatch = f"{name}-h"
    body = [_hatching(hatch)]
    for place, row in enumerate(rows):
        y = 5 + step * place + label_line
        if row.decides:
            body += _ground(y - label_line - 3, step - 2, before)
        body.append(_label(row.label, y, 27, before, strong=row.decides))
        values = (row.probability, row.neighbour_probability)
        for k, (value, fill) in enumerate(zip(values, ("", f"url(#{hatch})"), strict=True)):
            share, at = scale.share(value), y + 14 * k
            body.append(bar(share, at, 12, "second" if k else "first", fill=fill))
            body.append(words(share, at + 10.5, number(value, 4), "value small", dx=6))
    told = "; ".join(
        f"{short(row.label)}: {row.probability:.4g} and {row.neighbour_probability:.4g}"
        for row in rows[:_DESCRIBED]
    )
    more = "" if len(rows) <= _DESCRIBED else " The rest is in the table."
    return drawing(
        name,
        title,
        f"Probability on the first and on the second dataset, by output: {told}.{more}",
        30 + step * len(rows),
        [*body, *_axis(scale.title, 8 + step * len(rows))],
        before=before,
        after=_AFTER,
    )


def row_losses(name: str, rows: Sequence[LawRow], limit: float) -> tuple[Drawing, list[Bar]]:
    """The loss of each row as a bar, held against ``limit``; and the bars themselves."""
    losses = []
    for row in rows:
        loss = _loss(row.probability, row.neighbour_probability)
        losses.append(Bar(row.label, loss, "over" if loss > limit * (1 + 1e-9) else "within"))
    axis = "loss of an output: |ln(first / second)|"
    return bars(name, "Loss of each row", losses, claimed=limit, height=12, axis=axis), losses


def _loss(first: float, second: float) -> float:
    if first == second:
        return 0.0
    return abs(math.log(first / second)) if min(first, second) > 0 else math.inf


def profile_curve(
    name: str, points: Sequence[tuple[float, float]], claimed: float, mass: tuple[float, float]
) -> Drawing:
    """Exception mass against epsilon, as steps; the claim is a mark, its mass a dot.

    ``mass`` is that of the claim, from below and above.
    """
    far, high = points[-1][0], max([value for _, value in points] + [mass[1], 1e-300])
    top, bottom = 34, 210

    def y(value: float) -> float:
        return round(bottom - (bottom - top) * value / high, 2)

    body: list[Drawn] = []
    for tick in ticks(high, 4):
        body.append(line(0, y(tick), 1, y(tick), "grid" if tick else "axis"))
        body.append(words(0, y(tick) + 4, number(tick, 3), "small soft", dx=-8, anchor="end"))
    body += [
        words(tick / far, bottom + 17, number(tick, 3), "small soft", anchor="middle")
        for tick in ticks(far)
    ]
    body.append(words(1, bottom + 34, "epsilon", "small soft", anchor="end"))
    body.append(words(0, 12, "exception mass", "small soft", dx=-44))
    body += _steps(points, far, y, bottom)
    at = claimed / far
    body.append(line(at, top - 4, at, bottom, "mark"))
    dot = {"class": "dot", "cx": percent(at), "cy": f"{y(mass[1]):g}", "r": "4.5"}
    body.append(Drawn("circle", dot))
    side = "end" if at > 0.5 else "start"
    shift = -9 if side == "end" else 9
    at_claim = " to ".join(dict.fromkeys(number(bound, 4) for bound in mass))
    body.append(words(at, top - 10, f"claimed {number(claimed)}", "strong", dx=shift, anchor=side))
    # Two short labels: one long one would not fit a narrow screen.
    below = 20 if y(mass[1]) < (top + bottom) / 2 else -10
    body.append(
        words(at, y(mass[1]) + below, f"mass {at_claim}", "value strong", dx=shift, anchor=side)
    )
    told = (
        f"Exception mass falls from {points[0][1]:.4g} at epsilon {points[0][0]:.4g} to "
        f"{points[-1][1]:.4g} at epsilon {far:.4g}. At the claimed epsilon {number(claimed)} it "
        f"is {at_claim}."
    )
    return drawing(name, "Privacy profile", told, bottom + 40, body, before=46, after=14)


def _steps(
    points: Sequence[tuple[float, float]],
    far: float,
    y: Callable[[float], float],
    bottom: float,
) -> list[Drawn]:
    body, outline = [], []
    ends = [epsilon for epsilon, _ in points[1:]] + [far]
    starts = [0.0, *(epsilon for epsilon, _ in points[1:])]
    before: float | None = None
    for (_, value), start, end in zip(points, starts, ends, strict=True):
        at = y(value)
        body.append(area(start / far, end / far, at, bottom, "under"))
        outline.append(line(start / far, at, end / far, at, "curve"))
        if before is not None and before != at:
            outline.append(line(start / far, before, start / far, at, "curve"))
        before = at
    return body + outline


def _gutter(labels: Sequence[str]) -> tuple[float, float]:
    """Pixels beside the bars, and above each, that labels take."""
    longest = max((len(short(label)) for label in labels), default=0)
    if longest <= _BESIDE:
        return round(longest * LETTER + 12), 0
    return 0, 17


def _label(text: str, y: float, height: float, before: float, *, strong: bool = False) -> Drawn:
    kind = "strong" if strong else ""
    if before:
        return words(0, y + height / 2 + 4.5, text, kind, dx=-10, anchor="end")
    return words(0, y - 5, text, kind)


def _ground(y: float, height: float, before: float) -> list[Drawn]:
    placed = {"x": f"{-before - 10:g}", "y": f"{y:g}"}
    width = f"width:calc(100% + {before + 10 + _AFTER:g}px)"
    tall = {"height": f"{height:g}"}
    return [
        Drawn("rect", {"class": "ground", **placed, **tall, "style": width}),
        Drawn("rect", {"class": "edge", **placed, "width": "4", **tall}),
    ]


def _hatching(name: str) -> Drawn:
    stripes = (
        Drawn("rect", {"class": "second", "width": "5", "height": "5"}),
        Drawn("rect", {"class": "stripe", "width": "1.6", "height": "5"}),
    )
    size = {"width": "5", "height": "5", "patternUnits": "userSpaceOnUse"}
    turned = {"id": name, **size, "patternTransform": "rotate(45)"}
    return Drawn("defs", {}, inside=(Drawn("pattern", turned, inside=stripes),))
