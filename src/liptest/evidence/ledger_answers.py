"""Outputs in a ledger: drawn and written in one transaction, and found again by a key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from liptest.errors import GateError, quote
from liptest.evidence.ledger_entries import Attempt
from liptest.evidence.ledger_file import Past, Row

# What one request of a release has in common with a retry of it.
_SAME = ("code", "claim", "distribution")


@dataclass
class StoredAnswer:
    """What a release gives out, written with its row.

    Parameters
    ----------
    draw
        The text of an output; None where code is asked only after the row is written. It may be
        called again when the row could not be written at once: what counts is ``text``.
    key
        Names the request: a retry with the same key gets what was written, and draws nothing.
    text
        What is written, once it is.
    """

    draw: Callable[[], str | None]
    key: str | None = None
    text: str | None = field(default=None, init=False)

    def recall(self, past: Past, attempt: Attempt) -> None:
        """Raises Recalled when this request has its answer, GateError when another one has."""
        if self.key is not None:
            text = find_stored_text(
                past.of_kind("release", attempt.vendor), past, attempt, self.key
            )
            if text is not None:
                raise Recalled(text)

    def fields(self) -> dict[str, Any]:
        """What is added to the row of the release."""
        self.text = self.draw()
        added = {"output": self.text, "key": self.key}
        return {name: value for name, value in added.items() if value is not None}


class Recalled(Exception):
    """The request was answered before; nothing is written."""

    def __init__(self, text: str) -> None:
        super().__init__("answered before")
        self.text = text


def find_stored_text(rows: Iterable[Row], past: Past, attempt: Attempt, key: str) -> str | None:
    """The output that was released under a key; GateError when that was another request."""
    for row in rows:
        fields = row.fields
        if fields.get("key") != key or fields["private_table"] != attempt.private_table:
            continue
        before = past.of_attempt(row.attempt)[0].fields
        if any(before[name] != getattr(attempt, name) for name in _SAME):
            raise GateError(
                f"key={quote(key)} named another request for the private table "
                f"{attempt.private_table!r}: other code, claim or distribution; use a new key"
            )
        return str(fields["output"])
    return None
