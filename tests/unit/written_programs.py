"""Programs that tests write as text."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np


def program(text: str, **names: Any) -> Any:
    """A function of ``(data, rng)`` with lines that errors can name, and NumPy as ``np``."""
    lines = "".join(f"    {line}\n" for line in text.split("\n"))
    source = f"def mech(data, rng):\n{lines}"
    file = f"<program {text}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    space: dict[str, Any] = {"np": np, **names}
    exec(compile(source, file, "exec"), space)
    return space["mech"]
