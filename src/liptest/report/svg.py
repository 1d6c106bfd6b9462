"""Drawings of a report as inline SVG: no script, no font, each with a title and a description."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

Row = tuple[str, float, float, bool]

# So narrow that the letters stay readable on a telephone.
_WIDTH = 420
_LABELS = 112
_MOST_LABEL = 17


def drawing(name: str, title: str, description: str, height: float, body: Sequence[str]) -> str:
    """A picture of its own width; ``name`` makes its ids unique on the page."""
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height:g}" role="img" '
        f'aria-labelledby="{name}-t {name}-d" preserveAspectRatio="xMinYMin meet">'
        f'<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(description)}'
        f"</desc>{''.join(body)}</svg>"
    )


def scale_of_losses(name: str, claimed: float, found: Sequence[tuple[str, float]]) -> str:
    """Bars of losses against the claimed epsilon; an infinite one runs off the right edge."""
    finite = [loss for _, loss in found if math.isfinite(loss)]
    top = 1.25 * max([claimed, *finite, 1e-300])
    left, right = _LABELS, _WIDTH - 74
    body = []
    for row, (words, loss) in enumerate(found):
        y = 30 + 34 * row
        infinite = math.isinf(loss)
        end = right + 6 if infinite else left + (right - left) * min(1.0, loss / top)
        body.append(_text(left - 10, y + 14, words, anchor="end"))
        kind = "accent" if infinite or loss > claimed else "first"
        body.append(_bar(left, y, max(end - left, 1.5), 20, kind))
        if infinite:
            body.append(f'<path class="accent" d="M{end} {y - 3}l12 13l-12 13z"/>')
        shown = "infinite" if infinite else f"{loss:.6g}"
        body.append(_text(end + (18 if infinite else 6), y + 14, shown, strong=True))
    height = 42 + 34 * len(found)
    x = left + (right - left) * claimed / top
    body.append(f'<path class="mark" stroke-dasharray="5 4" d="M{x:.1f} 18V{height - 12}"/>')
    body.append(_text(x, 12, f"claimed {claimed:.6g}", anchor="middle", strong=True))
    words = "; ".join(f"{what} {_number(loss)}" for what, loss in found)
    return drawing(
        name, "Claim and finding", f"Claimed epsilon {claimed:.6g}; {words}.", height, body
    )


def law_bars(name: str, rows: Sequence[Row]) -> str:
    """Two laws side by side: (output, probability, probability on the neighbour, decides)."""
    top = max([max(p, q) for _, p, q, _ in rows] + [1e-300])
    left, right = _LABELS, _WIDTH - 62
    body = []
    for row, (output, p, q, decides) in enumerate(rows):
        y = 8 + 38 * row
        if decides:
            body.append(f'<rect class="hit" x="2" y="{y - 5}" width="{_WIDTH - 4}" height="37"/>')
        body.append(_text(left - 10, y + 18, _short(output), anchor="end", strong=decides))
        for k, (value, kind) in enumerate(((p, "first"), (q, "second"))):
            length = (right - left) * value / top
            body.append(_bar(left, y + 14 * k, max(length, 1.0 if value else 0.0), 12, kind))
            body.append(_text(left + length + 6, y + 10 + 14 * k, f"{value:.4g}", small=True))
    words = "; ".join(f"{_short(o)}: {p:.4g} against {q:.4g}" for o, p, q, _ in rows[:12])
    return drawing(name, "Output laws of the two datasets", words + ".", 14 + 38 * len(rows), body)


def profile_curve(
    name: str, points: Sequence[tuple[float, float]], claimed: float, mass: float | None
) -> str:
    """Exception mass against epsilon, as steps; the claim is a vertical mark."""
    left, right, top, bottom = 52, _WIDTH - 8, 16, 170
    far = 1.08 * max([claimed, *(epsilon for epsilon, _ in points)])
    high = max([value for _, value in points] + [1e-300])

    def x(epsilon: float) -> float:
        return left + (right - left) * epsilon / far

    def y(value: float) -> float:
        return bottom - (bottom - top) * value / high

    steps = [f"M{x(points[0][0]):.1f} {y(points[0][1]):.1f}"]
    for epsilon, value in points[1:]:
        steps.append(f"H{x(epsilon):.1f}V{y(value):.1f}")
    steps.append(f"H{right}")
    outline = "".join(steps)
    body = [
        f'<path class="axis" d="M{left} {top}V{bottom}H{right}" fill="none"/>',
        f'<path class="area" d="{outline}V{bottom}H{x(points[0][0]):.1f}Z"/>',
        f'<path class="path" d="{outline}"/>',
        f'<path class="mark" stroke-dasharray="5 4" d="M{x(claimed):.1f} {top - 4}V{bottom}"/>',
        _text(left - 8, top + 10, f"{high:.3g}", anchor="end", small=True),
        _text(left - 8, bottom, "0", anchor="end", small=True),
        _text(left, bottom + 18, "0", small=True),
        _text(right, bottom + 18, f"epsilon {far:.3g}", anchor="end", small=True),
        _text(min(x(claimed) + 6, right - 90), top + 4, f"claimed {claimed:.4g}", strong=True),
    ]
    at = "" if mass is None else f" At the claimed epsilon it is {mass:.4g}."
    description = (
        f"Total probability of the datasets that must be left out, from {points[0][1]:.4g} at "
        f"epsilon {points[0][0]:.4g} down to {points[-1][1]:.4g} at {points[-1][0]:.4g}.{at}"
    )
    return drawing(name, "Privacy profile", description, bottom + 26, body)


def exposure_bars(name: str, losses: Sequence[tuple[str, float]], claimed: float) -> str:
    """Largest loss by record, with the claim as a mark."""
    finite = [loss for _, loss in losses if math.isfinite(loss)]
    top = 1.15 * max([claimed, *finite, 1e-300])
    left, right = _LABELS, _WIDTH - 74
    body = []
    for row, (words, loss) in enumerate(losses):
        y = 22 + 22 * row
        infinite = math.isinf(loss)
        length = right - left if infinite else (right - left) * loss / top
        body.append(_text(left - 10, y + 12, words, anchor="end", small=True))
        body.append(
            _bar(left, y, max(length, 1.0), 14, "accent" if infinite or loss > claimed else "first")
        )
        body.append(_text(left + length + 6, y + 12, _number(loss), small=True))
    x = left + (right - left) * claimed / top
    height = 30 + 22 * len(losses)
    body.append(f'<path class="mark" stroke-dasharray="5 4" d="M{x:.1f} 16V{height - 6}"/>')
    body.append(_text(x, 11, f"claimed {claimed:.4g}", anchor="middle", small=True))
    words = "; ".join(f"{what} {_number(loss)}" for what, loss in losses)
    return drawing(name, "Largest loss by record", words + ".", height, body)


def _number(loss: float) -> str:
    return "infinite" if math.isinf(loss) else f"{loss:.6g}"


def _bar(x: float, y: float, width: float, height: float, kind: str) -> str:
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:g}" '
        f'rx="2"/>'
    )


def _text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    strong: bool = False,
    small: bool = False,
) -> str:
    kinds = " ".join(kind for kind, on in (("strong", strong), ("soft", small)) if on)
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kinds}">'
        f"{escape(words)}</text>"
    )


def _short(text: str) -> str:
    return text if len(text) <= _MOST_LABEL else text[: _MOST_LABEL - 1] + "…"
