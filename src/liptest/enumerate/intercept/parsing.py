"""Python's parser, also where several threads use it at once.

Python 3.11 counts the depth of the tree that it makes for all threads together. A thread that takes
its turn within another one's parse makes that fail with SystemError ("AST constructor recursion
depth mismatch"). The same text parses when it is tried again.
"""

from __future__ import annotations

import ast
import threading

_LOCK = threading.RLock()
_TRIES = 8


def parse_text(text: str) -> ast.Module:
    """The tree of a text; raises what ``ast.parse`` raises."""
    with _LOCK:  # what other packages parse does not ask for it
        for _ in range(_TRIES - 1):
            try:
                return ast.parse(text)
            except SystemError:
                continue
        return ast.parse(text)
