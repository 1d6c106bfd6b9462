"""The page: what the stored answers say, and no figure that is not in ``results.jsonl``."""

from __future__ import annotations

import json
import statistics
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.world.board import ROWS
from benchmarks.world.rows import FAILURE, Row

RESULTS = Path(__file__).with_name("results.jsonl")
PAGE = Path(__file__).parents[2] / "docs" / "scoreboard.md"

_INTRODUCTION = Path(__file__).with_name("introduction.md").read_text(encoding="utf-8") + "\n"
_TABLE = """\
## {library}

| versions | mechanism | neighbours | claim | epsilon | verdict | s | documented in |
|---|---|---|---|---|---|---|---|
"""


def read_results(path: Path = RESULTS) -> list[dict[str, Any]]:
    """The answers of a file, none where there is none."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_page() -> None:
    PAGE.write_text(page(read_results()), encoding="utf-8")


def page(results: list[dict[str, Any]]) -> str:
    """The whole text."""
    rows = {row.name: row for row in ROWS}
    ran = [r for r in results if r["row"] in rows and "seconds" in r]
    broken = [r for r in ran if r["version"] in rows[r["row"]].broken]
    found = [r for r in broken if r["verdict"] == "NO"]
    parts = [
        _INTRODUCTION.format(
            mechanisms=len({r["row"] for r in ran}),
            libraries=len({rows[r["row"]].library for r in ran}),
            answers=len(ran),
            bugs=len({_bug(rows[r["row"]]) for r in found}),
            found=len(found),
            broken=len(broken),
            failure=FAILURE,
        )
    ]
    for library, group in groupby(ROWS, key=lambda row: row.library):
        parts.append(_TABLE.format(library=library))
        parts += [line for row in group for line in _lines(row, results)]
        parts.append("\n")
    return "".join(parts).rstrip() + "\n"


def _bug(row: Row) -> tuple[str, str]:
    """One report of one library is one bug, also where two mechanisms have it."""
    return row.library, "" if row.report is None else row.report.words


def _lines(row: Row, results: list[dict[str, Any]]) -> list[str]:
    """Versions with the same answer stand in one line."""
    order = {version: k for k, version in enumerate(row.versions)}
    own = [r for r in results if r["row"] == row.name and r["version"] in order]
    own.sort(key=lambda r: order[r["version"]])
    lines = []
    for _, group in groupby(own, key=lambda r: (_verdict(r, exact=False), _claim(r, row))):
        same = list(group)
        first, last = same[0]["version"], same[-1]["version"]
        versions = ", ".join(r["version"] for r in same) if len(same) < 4 else f"{first} to {last}"
        seconds = [r["seconds"] for r in same if "seconds" in r]
        cost = f"{statistics.median(seconds):.1f}" if seconds else ""
        report = ""
        if row.report is not None and first in row.broken:
            report = f"[{row.report.words}]({row.report.url})"
        cells = (
            versions, row.mechanism, row.relation, _claim(same[0], row), _epsilon(same),
            _verdict(same[0], exact=len(same) == 1), cost, report,
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |\n")
    return lines


def _claim(result: dict[str, Any], row: Row) -> str:
    claim = result.get("claim", row.claim)
    return (
        ", ".join(f"{key} {size:.4g}" for key, size in claim.items() if key == "epsilon" or size)
        or "its own"
    )


def _epsilon(same: list[dict[str, Any]]) -> str:
    values = {json.dumps(r.get("epsilon")) for r in same}
    exact = [r.get("epsilon") for r in same]
    if None not in exact:
        value = exact[0]
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return f"{value[0]:.6f} to {value[1]:.6f}"
        if len({round(number, 9) for number in exact}) == 1:
            return f"{value:.6f}"
        return " / ".join(sorted(values))
    least = [r["at_least"] for r in same if r.get("at_least") and r["verdict"] == "NO"]
    return f"at least {min(least):.4g}" if least else ""


def _verdict(result: dict[str, Any], *, exact: bool) -> str:
    verdict, by = result["verdict"], result["by"]
    if verdict == "INCONCLUSIVE":
        drawn = result.get("samples", 0)
        return f"not refuted, {drawn:,} samples" if exact else "not refuted"
    return f"{verdict}, {by}" if by != "none" else verdict
