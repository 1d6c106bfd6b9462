"""Drawings of what the benchmarks measured: laws and seconds along each axis (extra ``plots``)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]

# What is drawn upwards, and the names under which scripts print it, the first that there is.
LAWS = "laws", "planned laws"
SECONDS = "CPU s", "wall s"
QUANTITIES = {"laws": LAWS, "seconds": SECONDS}
MISSING = "No drawings: matplotlib is not installed (extra 'plots'); the tables are all."


def draw(rows: Rows, folder: Path) -> list[Path]:
    """Write a drawing for each axis and quantity; the files, none without matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    placed = [row for row in rows if row.get("place")]
    axes = dict.fromkeys(row["place"]["axis"] for row in placed)
    files = []
    for axis in axes:
        here = [row for row in placed if row["place"]["axis"] == axis]
        for quantity, names in QUANTITIES.items():
            lines = lines_of(here, names)
            if any(len(points) > 1 for points in lines.values()):
                file = folder / f"{quantity} against {axis}.svg".replace(" ", "_")
                words = next(name for name in names if any(has(row, name) for row in here))
                save(lines, axis, words, file)
                files.append(file)
    return files


Point = tuple[float, float, bool]


def lines_of(rows: Rows, names: tuple[str, ...]) -> dict[str, list[Point]]:
    """(at, value, measured) of each line, in the order of the axis."""
    lines: dict[str, list[Point]] = {}
    for row in rows:
        found = value_of(row, names)
        if found is not None:
            point = (row["place"]["at"], *found)
            lines.setdefault(row["place"]["line"], []).append(point)
    return {line: sorted(points) for line, points in lines.items()}


def has(row: dict[str, Any], name: str) -> bool:
    return name in row["counts"] or name in row["figures"]


def value_of(row: dict[str, Any], names: tuple[str, ...]) -> tuple[float, bool] | None:
    """A value above zero, and whether it was counted or measured in this run."""
    for name in names:
        value = row["counts"].get(name, row["figures"].get(name, {}).get("value"))
        if value is not None and value > 0:
            return float(value), bool(row["counts"])
    return None


def save(lines: dict[str, list[Point]], axis: str, quantity: str, file: Path) -> None:
    """Both scales logarithmic; hollow marks are formulas."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    plot = figure.subplots()
    for line, points in lines.items():
        at, values, _ = zip(*points, strict=True)
        (drawn,) = plot.plot(at, values, label=line, linewidth=1)
        for x, y, full in points:
            colour = drawn.get_color()
            plot.plot(x, y, "o", color=colour, markerfacecolor=colour if full else "white")
    plot.set(xscale="log", yscale="log", xlabel=axis, ylabel=quantity)
    plot.set_title(f"{quantity} against {axis} (hollow: formula)", fontsize="medium")
    plot.grid(alpha=0.3)
    plot.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    with rc_context({"svg.hashsalt": re.sub(r"\W", "", file.stem), "svg.fonttype": "none"}):
        figure.savefig(file, metadata={"Date": None})
