"""Why something that a report could show is not there."""

from __future__ import annotations


class Missing(Exception):
    """A drawing cannot be made; the message, a clause in words, takes its place."""
