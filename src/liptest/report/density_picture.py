"""Two densities over one axis, with the event that decides shaded; the same rules as ``svg``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from liptest.enumerate.numbers.density_curves import DensityCurves
from liptest.report.svg import Drawing, Drawn, area, drawing, line, number, words

_TOP, _BOTTOM = 30, 220
# What a logarithmic scale shows at most.
_DECADES = 70
# Beyond so many intervals only the ground is drawn, without ends.
_NAMED = 3
Array = NDArray[np.float64]


def density_picture(
    name: str, curves: DensityCurves, shares: tuple[float, float], event: str
) -> Drawing:
    """Both curves; ``shares`` are the probabilities of the event, ``event`` says what it is."""
    low, high = curves.edges[0], curves.edges[-1]
    edges = np.asarray(curves.edges)
    at = (edges[:-1] + edges[1:]) / 2
    sides = [np.asarray(curves.first), np.asarray(curves.second)]
    top = max(float(side.max()) for side in sides) or 1.0
    height = _logarithmic(sides, top) if curves.is_rare else lambda values: values / top
    across = [
        (
            low if first is None else min(max(first, low), high),
            high if last is None else min(max(last, low), high),
        )
        for first, last in curves.shaded
    ]

    def share(value: float) -> float:
        return (value - low) / (high - low)

    body: list[Drawn] = []
    for first, last in across:
        body.append(area(share(first), share(last), _TOP, _BOTTOM, "ground"))
    plane: list[Drawn] = []
    for side, kind in zip(sides, ("first", "second"), strict=True):
        for first, last in across:
            inside = at[(at > first) & (at < last)]
            xs = np.concatenate([[first], inside, [last]])
            plane.append(_fill(share, xs, height(np.interp(xs, at, side)), kind))
    for side, kind in zip(sides, ("first", "second"), strict=True):
        plane.append(_curve(share, at, height(side), kind))
    body.append(_plane(plane))
    body.append(line(0, _BOTTOM, 1, _BOTTOM, "axis"))
    if len(across) <= _NAMED:
        for pair in curves.shaded:
            ends = [end for end in pair if end is not None and low <= end <= high]
            body += [line(share(end), _TOP, share(end), _BOTTOM, "mark") for end in ends]
    for tick in _round_numbers(low, high):
        body.append(words(share(tick), _BOTTOM + 17, number(tick), "small soft", anchor="middle"))
    scale = ", logarithmic" if curves.is_rare else ""
    body.append(words(0, 14, f"density{scale}", "small soft"))
    which = "output" if curves.numbers == 1 else f"number {curves.place} of the output, from 0"
    body.append(words(1, _BOTTOM + 34, which, "small soft", anchor="end"))
    described = (
        f"Both densities between {number(low)} and {number(high)}. The outputs that decide, "
        f"{event}, have the probability {number(shares[0], 4)} on the first dataset and "
        f"{number(shares[1], 4)} on the second."
    )
    title = "Densities of the output on the first and on the second dataset"
    return drawing(name, title, described, _BOTTOM + 40, body, after=14)


def _logarithmic(sides: Sequence[Array], top: float) -> Callable[[Array], Array]:
    least = min((float(side[side > 0].min()) for side in sides if (side > 0).any()), default=top)
    decades = min(max(math.log10(top / least), 1.0), _DECADES)

    def height(values: Array) -> Array:
        with np.errstate(divide="ignore"):
            heights: Array = np.log10(values / top) / decades + 1
        return np.clip(heights, 0.0, 1.0)

    return height


def _plane(inside: Sequence[Drawn]) -> Drawn:
    """A drawing of a thousand by a thousand, stretched over all of the width."""
    placed = {
        "x": "0",
        "y": f"{_TOP}",
        "width": "100%",
        "height": f"{_BOTTOM - _TOP}",
        "viewBox": "0 0 1000 1000",
        "preserveAspectRatio": "none",
        "aria-hidden": "true",
    }
    return Drawn("svg", placed, inside=tuple(inside))


def _places(share: Callable[[float], float], xs: Array, heights: Array) -> str:
    # The highest point is left room for the width of the line.
    pairs = zip(xs, heights, strict=True)
    return " ".join(f"{1000 * share(float(x)):.1f},{1000 - 985 * float(h):.1f}" for x, h in pairs)


def _curve(share: Callable[[float], float], xs: Array, heights: Array, kind: str) -> Drawn:
    places = {"class": f"density {kind}-line", "points": _places(share, xs, heights)}
    return Drawn("polyline", {**places, "vector-effect": "non-scaling-stroke"})


def _fill(share: Callable[[float], float], xs: Array, heights: Array, kind: str) -> Drawn:
    ends = f"{1000 * share(float(xs[0])):.1f},1000", f"{1000 * share(float(xs[-1])):.1f},1000"
    points = f"{ends[0]} {_places(share, xs, heights)} {ends[1]}"
    return Drawn("polygon", {"class": f"{kind}-event", "points": points})


def _round_numbers(low: float, high: float) -> Iterator[float]:
    """Round numbers inside of an interval, with room at both ends."""
    rough = (high - low) / 6
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * k for k in (1, 2, 5, 10) if unit * k >= rough * (1 - 1e-9))
    for k in range(math.ceil(low / step), math.floor(high / step) + 1):
        if low + 0.03 * (high - low) <= step * k <= high - 0.03 * (high - low):
            yield round(step * k, 12)
