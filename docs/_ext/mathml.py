"""Formulas as MathML, written when the site is built: no script, no font, nothing from elsewhere.

The translation from TeX is that of docutils, on which Sphinx rests.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import SphinxError


def formula(tex: str, *, block: bool) -> str:
    """A formula as one ``<math>`` element; SphinxError when it cannot be translated."""
    try:
        return str(tex2mathml(tex, as_block=block))
    except MathError as error:
        raise SphinxError(f"the formula {tex!r} cannot be translated: {error}") from None


def inline(translator: Any, node: nodes.math) -> None:
    """Write a formula of a line."""
    translator.body.append(formula(node.astext(), block=False))
    raise nodes.SkipNode


def display(translator: Any, node: nodes.math_block) -> None:
    """Write a formula of its own."""
    text = formula(node.astext(), block=True)
    translator.body.append(f'<div class="formula" tabindex="0">{text}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
