"""The files that checks leave behind: certificates, reports, findings."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from liptest.report.findings import Outcome

Format = Callable[[Sequence[Outcome]], str]


def write_outcomes(options: Mapping[str, Any], outcomes: Sequence[Outcome]) -> bool:
    """Write what ``--json``, ``--html``, ``--junit`` and ``--sarif`` ask for.

    The verdicts are on the screen already: a full disk must not lose them, nor the other files.
    False when something could not be written.
    """
    whole = True
    for name, text_of in _FORMATS.items():
        path: Path | None = options.get(name)
        if path is None:
            continue
        try:
            text = text_of(outcomes)
            if text:
                path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
        except OSError as error:
            print(f"error: --{name} {path}: {error.strerror}", file=sys.stderr)
            whole = False
        except Exception as error:
            words = f"{type(error).__name__}: {error}"
            print(f"error: --{name} {path}: it could not be written: {words}", file=sys.stderr)
            whole = False
    return whole


def _certificates(outcomes: Sequence[Outcome]) -> str:
    whole = [
        outcome.certificate.to_dict() for outcome in outcomes if outcome.certificate is not None
    ]
    if not whole:
        return ""
    return json.dumps(whole[0] if len(whole) == 1 else whole, indent=1)


def _html(outcomes: Sequence[Outcome]) -> str:
    from liptest.report.html import page

    return page(outcomes)


def _junit(outcomes: Sequence[Outcome]) -> str:
    from liptest.report.machine import write_junit

    return write_junit(outcomes, root=Path.cwd())


def _sarif(outcomes: Sequence[Outcome]) -> str:
    from liptest.report.machine import write_sarif

    return write_sarif(outcomes, root=Path.cwd())


_FORMATS: dict[str, Format] = {
    "json": _certificates,
    "html": _html,
    "junit": _junit,
    "sarif": _sarif,
}
