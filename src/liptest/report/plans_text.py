"""Plain tables: what each tester, and each privacy method, would cost."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence

from liptest.plans import PlanRow
from liptest.privacy_plans import PrivacyPlanRow

_WIDTH = 100


def columns_text(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Sequence[int] = (),
    spaced: bool = False,
) -> str:
    """A table without lines, 100 wide; long cells wrap at spaces.

    ``right`` columns hold numbers; ``spaced`` leaves an empty line between rows.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, int(spaced), 0), header_style="")
    for number, name in enumerate(header):
        table.add_column(name, justify="right" if number in right else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    stream = io.StringIO()
    Console(file=stream, width=_WIDTH, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in stream.getvalue().rstrip().splitlines())


def plan_text(rows: Sequence[PlanRow]) -> str:
    """The table of ``plan_table``, its notes, and what an acceptance means."""
    header = ("tester", "domain", "law", "theta", "queries", "running time")
    usable = [row for row in rows if row.plan is not None]
    cells = [_plan_cells(row) for row in usable]
    parts = [columns_text(header, cells, right=(4,))]
    parts += [f"{row.tester}: {row.plan.source}." for row in usable if row.plan is not None]
    parts += [f"{row.tester}: {row.note}." for row in usable if row.note]
    parts += _reasons((row.tester, row.not_applicable) for row in rows if row.plan is None)
    parts += [
        f"Meaning at theta {theta}: {meaning}." for theta, meaning in _meanings(usable).items()
    ]
    printed = ", ".join(row.tester for row in rows if row.in_paper)
    parts.append(f"The rows {printed} are the paper's section 5, running times as printed there.")
    return "\n".join(parts)


def _plan_cells(row: PlanRow) -> list[str]:
    assert row.plan is not None
    plan = row.plan
    theta, queries = _theta(plan.approximation_factor), _count(plan.queries)
    return [row.tester, row.functions, row.law, theta, queries, row.running_time]


def _meanings(rows: Sequence[PlanRow]) -> dict[str, str]:
    plans = [row.plan for row in rows if row.plan is not None]
    return {_theta(plan.approximation_factor): plan.guarantee for plan in plans}


def privacy_plan_text(rows: Sequence[PrivacyPlanRow]) -> str:
    """The table of ``privacy_plan_table``, and what a YES means."""
    header = ("method", "output laws", "draws", "theta", "form", "source")
    usable = [row for row in rows if math.isfinite(row.laws)]
    cells = [
        [
            row.method,
            _count(row.laws),
            _count(row.draws) if row.draws else "",
            _theta(row.approximation_factor),
            row.form,
            row.source,
        ]
        for row in usable
    ]
    parts = [columns_text(header, cells, right=(1, 2))]
    parts += _reasons((row.method, row.not_applicable) for row in rows if math.isinf(row.laws))
    best = min(usable, key=lambda row: row.laws, default=None)
    if best is not None:
        parts.append(f"Fewest laws: {best.method}. A YES means: {best.guarantee}")
    parts.append(
        "Neighbours' laws that a mechanism finds incrementally are nearly free: then "
        "neighbourhoods costs its draws only."
    )
    return "\n".join(parts)


def _reasons(rows: Iterable[tuple[str, str]]) -> list[str]:
    """One line for each reason."""
    names: dict[str, list[str]] = {}
    for name, reason in rows:
        names.setdefault(reason, []).append(name)
    return [f"{', '.join(who)}: not applicable: {reason}" for reason, who in names.items()]


def _theta(factor: float) -> str:
    text = f"{factor:.6g}"
    return f"1 + {factor - 1:.2g}" if text == "1" and factor > 1 else text


def _count(number: float) -> str:
    """Whole below a billion, else two digits."""
    return f"{number:,.0f}" if number < 1e9 else f"{number:.1e}"
