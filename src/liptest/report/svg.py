"""Inline SVG without script or font: lengths along the width in percent, letters in pixels.

So a drawing fits any screen and its letters never shrink. Each has a title and a description.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

#: Width of a letter in pixels, rather more than on average.
LETTER = 8
_LONGEST = 44


def drawing(
    name: str,
    title: str,
    description: str,
    height: float,
    body: Sequence[str],
    *,
    before: float = 0,
    after: float = 0,
) -> str:
    """A picture; ``before`` and ``after`` pixels beside it are left for letters.

    ``name`` makes its ids unique on the page.
    """
    style = f"margin-left:{before:g}px;width:calc(100% - {before + after:g}px)"
    return (
        f'<svg role="img" aria-labelledby="{name}-t {name}-d" height="{height:g}" '
        f'style="{style}"><title id="{name}-t">{escape(title)}</title>'
        f'<desc id="{name}-d">{escape(description)}</desc>{"".join(body)}</svg>'
    )


def percent(share: float) -> str:
    """A share of the width; never outside of it."""
    return f"{100 * min(1.0, max(0.0, share)):.2f}%"


def bar(share: float, y: float, height: float, kind: str, *, fill: str = "") -> str:
    """A bar from the left edge; a positive one is never invisible."""
    width = percent(max(share, 0.003) if share > 0 else 0.0)
    style = f' style="fill:{fill}"' if fill else ""
    return f'<rect class="{kind}" y="{y:g}" width="{width}" height="{height:g}"{style}/>'


def arrow(y: float, height: float, kind: str) -> str:
    """The tip of a bar that runs off the right edge: it has no end."""
    return (
        f'<svg x="100%" y="{y:g}" overflow="visible" aria-hidden="true">'
        f'<path class="{kind}" d="M0 -3 L9 {height / 2:g} L0 {height + 3:g}Z"/></svg>'
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A line; x as shares of the width, y in pixels."""
    ends = f'x1="{percent(x1)}" y1="{y1:g}" x2="{percent(x2)}" y2="{y2:g}"'
    return f'<line class="{kind}" {ends}/>'


def area(left: float, right: float, top: float, bottom: float, kind: str) -> str:
    """A rectangle; left and right as shares of the width."""
    width = percent(max(0.0, right - left))
    return (
        f'<rect class="{kind}" x="{percent(left)}" y="{top:g}" width="{width}" '
        f'height="{max(0.0, bottom - top):g}"/>'
    )


def words(
    share: float, y: float, text: str, kind: str = "", *, dx: float = 0, anchor: str = "start"
) -> str:
    """Letters at a share of the width, ``dx`` pixels further on."""
    shift = f' dx="{dx:g}"' if dx else ""
    return (
        f'<text class="{kind}" x="{percent(share)}" y="{y:g}"{shift} text-anchor="{anchor}">'
        f"{escape(short(text))}</text>"
    )


def mark(share: float, top: float, bottom: float, text: str) -> str:
    """A dashed line across a drawing with its name above it."""
    anchor = "start" if share < 0.2 else "end" if share > 0.8 else "middle"
    return line(share, top, share, bottom, "mark") + words(
        share, top - 6, text, "strong", anchor=anchor
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
