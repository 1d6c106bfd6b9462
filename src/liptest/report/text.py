"""Verdicts on a terminal (panels, tables, a progress bar) and in a pipe (plain quiet text)."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from liptest.driver import Progress as ProgressCallback
from liptest.errors import LiptestError
from liptest.mechanisms.laws import OutputLaw
from liptest.privacy.enclosures import fraction_text
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.report.pace import Pace
from liptest.verdicts import Decision

_COLOURS = {Decision.YES: "green", Decision.NO: "red", Decision.INCONCLUSIVE: "yellow"}
_WORDS = {
    0: "YES",
    1: "NO",
    2: "bad input",
    3: "INCONCLUSIVE or budget ended",
    4: "broken mechanism",
}
_MOST_OUTPUTS = 200
_SHORT = 24
_WIDTH = 100


class Screen:
    """Where a command prints: standard output for answers, standard error for the rest."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)
        self._rich = sys.stdout.isatty()

    def paragraph(self, text: str) -> None:
        """Text, wrapped at 100 columns, or by the terminal."""
        if self._rich:
            self._console.print(Text(text), end="\n\n")
        else:
            print("\n".join(_wrapped(line) for line in text.splitlines()), end="\n\n")

    def command(self, text: str) -> None:
        """What can be copied and run: one line, however long."""
        self._console.print(Text(text), soft_wrap=True) if self._rich else print(text)

    def verdict(self, verdict: PrivacyVerdict) -> None:
        """A whole verdict."""
        if not self._rich:
            return self.paragraph(str(verdict))
        title, headline, *rest = str(verdict).splitlines()
        colour = _COLOURS[verdict.decision]
        body = Text.assemble((headline, f"bold {colour}"), "\n" + "\n".join(rest))
        return self._console.print(
            Panel(body, title=title, title_align="left", border_style=colour)
        )

    def summary(self, rows: list[tuple[str, int]]) -> None:
        """One line per check."""
        if not self._rich:
            lines = [f"{name}: {_WORDS[code]} (exit code {code})" for name, code in rows]
            return self.paragraph("\n".join(lines))
        table = Table("mechanism", "answer", "exit code")
        for name, code in rows:
            table.add_row(name, _WORDS[code], str(code))
        return self._console.print(table)

    def law(self, label: str, law: OutputLaw) -> None:
        """Outputs with probabilities, most likely first beyond 200."""
        items = list(law.items())
        hidden = max(0, len(items) - _MOST_OUTPUTS)
        if hidden:
            items = sorted(items, key=lambda item: -item[1])[:_MOST_OUTPUTS]
        rows = [(repr(output), f"{p:.10g}", _exact(law, output)) for output, p in items]
        notes = [f"source: {law.source}", f"largest error of a log probability: {law.error:.2g}"]
        if law.leaves is not None:
            notes.append(
                f"runs, one for each way the random choices fall out: {law.leaves:,}; repeated "
                f"with real random numbers: {law.repeated:,}"
            )
        if hidden:
            notes.append(f"{hidden} less likely outputs not shown")
        if law.unexplored:
            notes.append(f"unexplored probability: {float(law.unexplored):.2g}")
        if self._rich:
            table = Table("output", "probability", "exactly", title=label, title_justify="left")
            for row in rows:
                table.add_row(*(Text(cell) for cell in row))
            self._console.print(table)
        else:
            print(label)
            for row in rows:
                print("\t".join(cell for cell in row if cell))
        self.paragraph("\n".join(notes))

    def error(self, error: LiptestError, code: int, where: str = "") -> int:
        """One line on standard error; returns the exit code."""
        prefix = f"{where}: " if where else ""
        print(f"error: {prefix}{' '.join(str(error).split())}", file=sys.stderr)
        return code

    @contextmanager
    def progress(self, label: str) -> Iterator[ProgressCallback | None]:
        """A progress bar on a terminal, elsewhere a line on standard error every 10 seconds."""
        pace = Pace(label)
        if not sys.stderr.isatty():
            yield lambda done, planned: _tell(pace.line(done, planned))
            return
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rest]}"))
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(label, rest="")

            def update(done: int, planned: int) -> None:
                bar.update(task, completed=done, total=planned, rest=pace.words(done, planned))

            yield update


def _tell(line: str) -> None:
    if line:
        print(line, file=sys.stderr, flush=True)


def _wrapped(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(line, _WIDTH, subsequent_indent=indent, break_on_hyphens=False) or line


def _exact(law: OutputLaw, output: object) -> str:
    value = law.exact(output)
    text = fraction_text(value) if isinstance(value, Fraction) else ""
    return text if len(text) <= _SHORT else ""
