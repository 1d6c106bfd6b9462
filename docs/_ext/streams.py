"""What a cell prints comes in pieces of any length; here they are put together as they are.

The merging of myst-nb ends each piece with a new line, also in the middle of one.
"""

from __future__ import annotations

from typing import Any

from myst_nb.core import render
from sphinx.application import Sphinx


def joined(outputs: list[Any]) -> list[Any]:
    """Outputs of one cell with all pieces of a stream in its first one."""
    first: dict[str, Any] = {}
    kept = []
    for output in outputs:
        if output["output_type"] == "stream" and output["name"] in first:
            first[output["name"]]["text"] += output["text"]
            continue
        if output["output_type"] == "stream":
            first[output["name"]] = output
        kept.append(output)
    return kept


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    render.coalesce_streams = joined
    return {"parallel_read_safe": True, "parallel_write_safe": True}
