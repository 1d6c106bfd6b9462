"""Verdicts on a terminal (panels, tables, a progress bar) and in a pipe (plain quiet text).

Also plain text elsewhere: remaining time, a witness in the manner of a diff, tables of plans.
"""

from __future__ import annotations

import io
import math
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from textwrap import wrap

from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from liptest.blackbox.verdicts import BlackBoxVerdict, bound_lines
from liptest.errors import InputError, LiptestError, check_count
from liptest.lipschitz.plans import PlanRow
from liptest.mechanisms.laws import OutputLaw
from liptest.privacy.claims import Claim
from liptest.privacy.plans import PrivacyPlanRow
from liptest.privacy.verdicts import (
    PrivacyVerdict,
    coordinate_noun,
    headline,
    open_loss_words,
    remedy_lines,
    say_tested,
)
from liptest.privacy.witnesses import (
    PrivacyWitness,
    fraction_text,
    loss_text,
    refuting_notion_words,
)
from liptest.privacy.wording.sentences import say_count
from liptest.runs.driver import Progress as ProgressCallback
from liptest.runs.progress import Pace, duration_text
from liptest.verdicts import Decision

# A dataset of so many records is shown whole; of a longer one the records around the change.
_WHOLE = 24
_AROUND = 8
_LONG_TEXT = 60
_DIFF_WIDTH = 92
_MOST = 4


def finding_lines(verdict: PrivacyVerdict | BlackBoxVerdict) -> list[str]:
    """Headline, what was tested, the witness if there is one, the meaning."""
    if isinstance(verdict, BlackBoxVerdict):
        return _write_sampled_lines(verdict)
    lines = [f"claim: {verdict.claim}", *wrap(headline(verdict), _DIFF_WIDTH)]
    lines += wrap(say_tested(verdict), _DIFF_WIDTH)
    if verdict.witness is not None:
        is_certain = verdict.decision is Decision.NO
        lines += [
            "",
            *witness_lines(verdict.witness, relation=verdict.relation, is_certain=is_certain),
            "",
        ]
    for line in remedy_lines(verdict):
        lines += wrap(line, _DIFF_WIDTH)
    lines += wrap(f"Meaning: {verdict.guarantee.sentence}", _DIFF_WIDTH)
    return (
        lines
        if verdict.implemented is None
        else lines + wrap(str(verdict.implemented), _DIFF_WIDTH)
    )


def _write_sampled_lines(verdict: BlackBoxVerdict) -> list[str]:
    lines = [f"claim: {verdict.claim}", *wrap(f"{verdict.decision} {verdict.note}", _DIFF_WIDTH)]
    lines += wrap(verdict.tested, _DIFF_WIDTH)
    if verdict.shown_bound is not None:
        lines += ["", *bound_lines(verdict.shown_bound, coordinate_noun(verdict.relation)), ""]
    return lines + wrap(f"Meaning: {verdict.guarantee.sentence}", _DIFF_WIDTH)


def witness_lines(
    witness: PrivacyWitness, *, relation: str = "", is_certain: bool = True
) -> list[str]:
    """The two datasets and the two probabilities, one above the other; the loss, the claim.

    ``relation`` is that of the domain. Where it is not certain, the pair is one left open.
    """
    noun = "row" if witness.rows else coordinate_noun(relation)
    changed = ", ".join(map(str, witness.changed[:_MOST])) + (
        ", .." if len(witness.changed) > _MOST else ""
    )
    plural = "" if len(witness.changed) == 1 else "s"
    total = say_count(len(witness.dataset), noun)
    head = [
        f"{'' if is_certain else 'left open: '}two datasets of {total}, equal except for "
        f"{noun}{plural} {changed} (counted from 0):",
        *(witness.rows or _dataset_lines(witness, noun)),
    ]
    probabilities = [
        f"probability of {_event(witness)}:",
        f"- {_probability(witness.probability, witness.exact[0])}",
        f"+ {_probability(witness.neighbour_probability, witness.exact[1])}",
    ]
    if not is_certain:
        return [*head, *(probabilities if witness.event else []), open_loss_words(witness)]
    certain = "Certain: certified arithmetic, not a statistical estimate."
    return [*head, *probabilities, _loss(witness), certain]


def law_expressions(witness: PrivacyWitness, name: str) -> list[str]:
    """Python expressions of both output distributions; ``lt`` is liptest, ``np`` numpy."""
    return [
        f"lt.output_law({name}, {dataset_expression(side)})"
        for side in (witness.dataset, witness.neighbour)
    ]


def dataset_expression(dataset: Sequence[int]) -> str:
    """A dataset as Python: a list, or shorter where it is long and of few values other than 0."""
    text = repr(list(dataset))
    if len(text) <= _LONG_TEXT:
        return text
    values = sorted(set(dataset) - {0})
    base = f"np.arange({len(dataset)})"
    terms = [
        f"{v} * np.isin({base}, {[i for i, w in enumerate(dataset) if w == v]})" for v in values
    ]
    short = " + ".join(terms) or f"0 * {base}"
    return short if len(short) < len(text) else text


def _dataset_lines(witness: PrivacyWitness, noun: str) -> list[str]:
    start, stop = _window(len(witness.dataset), witness.changed)
    width = max(len(str(v)) for v in witness.dataset[start:stop] + witness.neighbour[start:stop])
    ends = (f".. (from {noun} {start}) " if start else "", " .." * (stop < len(witness.dataset)))
    rows = []
    for sign, side in (("-", witness.dataset), ("+", witness.neighbour)):
        cells = " ".join(f"{value:{width}d}" for value in side[start:stop])
        rows.append(f"{sign} {ends[0]}{cells}{ends[1]}{_sum(side)}")
    marks = " ".join(("^" if i in witness.changed else " ") * width for i in range(start, stop))
    return [*rows, f"? {' ' * len(ends[0])}{marks}".rstrip()]


def _window(length: int, changed: tuple[int, ...]) -> tuple[int, int]:
    if length <= _WHOLE:
        return 0, length
    start = max(0, min(changed[0] - _AROUND, length - 2 * _AROUND - 1))
    return start, min(length, start + 2 * _AROUND + 1)


def _sum(side: tuple[int, ...]) -> str:
    """What the eye cannot add up."""
    return f"   (sum {sum(side)})" if len(side) > _WHOLE else ""


def _event(witness: PrivacyWitness) -> str:
    if len(witness.event) == 1:
        return f"output {witness.output!r}"
    some = ", ".join(repr(output) for output in witness.event[:_MOST])
    more = ", .." if len(witness.event) > _MOST else ""
    return f"one of {len(witness.event)} outputs ({some}{more})"


def _probability(value: float, exact: str) -> str:
    # A certified ball is "[midpoint +/- radius]".
    is_fraction = "/" in exact and not exact.startswith("[")
    shown = f"   exactly {exact}" if is_fraction and len(exact) <= _LONG_TEXT else ""
    return f"{value:.9g}{shown}"


def _loss(witness: PrivacyWitness) -> str:
    claim = witness.claim
    if not isinstance(claim, Claim):
        return refuting_notion_words(witness)
    if claim.delta > 0:
        return (
            f"excess over e^epsilon times the other: at least {witness.excess:.9g}, claim "
            f"{claim.delta:g}"
        )
    limit = float(claim.epsilon) * witness.distance
    return f"{loss_text(witness, 12)}, claim at most {limit:.12g} ({claim})"


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
    Console(file=stream, width=_TEXT_WIDTH, color_system=None).print(table)
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
    header = ("method", "distributions", "draws", "theta", "form", "source")
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


def cost_text(rows: Sequence[PrivacyPlanRow], law_seconds: float, workers: int) -> str:
    """What the method with the fewest laws takes, where one law takes so many seconds.

    Raises InputError for seconds that are none, and for less than one worker.
    """
    if not 0 < law_seconds < math.inf:
        raise InputError(f"law_seconds={law_seconds} must be above 0", name="law_seconds")
    count = check_count("workers", workers)
    best = min(rows, key=lambda row: row.laws)
    seconds = best.laws * law_seconds
    text = f"At {law_seconds:g} s a law: {best.method} computes {_count(best.laws)} laws, "
    text += f"{duration_text(seconds)} of one core"
    return (
        f"{text}, {duration_text(seconds / count)} on {count:,} workers."
        if count > 1
        else f"{text}."
    )


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


_COLOURS = {Decision.YES: "green", Decision.NO: "red", Decision.INCONCLUSIVE: "yellow"}
_WORDS = {
    0: "YES",
    1: "NO",
    2: "bad input",
    3: "INCONCLUSIVE or budget ended",
    4: "broken mechanism",
}
_MOST_OUTPUTS = 200
# Of a law with a formula the likeliest, in their order.
_LIKELIEST = 21
_SHORT = 24
_TEXT_WIDTH = 100


def _say(text: str) -> None:
    """Print; where nobody reads any more, as in ``liptest .. | head``, the command goes on."""
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
            _say("\n".join(_wrap(line) for line in text.splitlines()) + "\n\n")

    def command(self, text: str) -> None:
        """What can be copied and run: one line, however long."""
        self._console.print(Text(text), soft_wrap=True) if self._rich else _say(text + "\n")

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
        """Outputs with probabilities, most likely first beyond 200; with a formula the centre."""
        items = list(law.items())
        most = _LIKELIEST if law.formula else _MOST_OUTPUTS
        hidden = max(0, len(items) - most)
        if hidden:
            likely = {output for output, _ in sorted(items, key=lambda item: -item[1])[:most]}
            items = [item for item in items if item[0] in likely]
            items = items if law.formula else sorted(items, key=lambda item: -item[1])
        if law.formula and all(isinstance(output, (int, float)) for output, _ in items):
            items.sort()
        rows = [(repr(output), f"{p:.10g}", _exact(law, output)) for output, p in items]
        notes = [f"source: {law.source}", f"largest error of a log probability: {law.error:.2g}"]
        if law.leaves is not None:
            notes.append(
                f"runs, one for each outcome of the random choices: {law.leaves:,}; repeated with "
                f"real random numbers: {law.repeated:,} of them"
            )
        if hidden:
            notes.append(f"{hidden} less likely outputs not shown")
        if law.formula:
            notes.append("the law of all whole numbers n (docs/theory/whole.md):")
            notes += [f"  {line}" for line in law.formula]
        elif law.unexplored:
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
        said = _in_commands(" ".join(str(error).split()), where)
        prefix = f"{where}: " if where else ""
        if where:
            said = said.removeprefix(prefix).removeprefix(f"{where.rpartition(':')[2]}: ")
        line = printable(f"error: {prefix}{said}")
        print(line, file=sys.stderr)
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


def _in_commands(said: str, where: str) -> str:
    """What is said with names of Python, for a reader of the command line."""
    if "liptest samples" not in said:
        said = re.sub(r"lt\.check_samples(?![\w(])", "liptest samples", said)
    if where:
        said = said.replace("lt.output_law", f"liptest law {where} --dataset 0,1,1")
    return said


def printable(text: str) -> str:
    """A line that shows what it holds: names of others' documents may hold line ends and more."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _tell(line: str) -> None:
    if line:
        print(line, file=sys.stderr, flush=True)


def _wrap(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    return (
        textwrap.fill(line, _TEXT_WIDTH, subsequent_indent=indent, break_on_hyphens=False) or line
    )


def _exact(law: OutputLaw, output: object) -> str:
    value = law.exact(output)
    text = fraction_text(value) if isinstance(value, Fraction) else ""
    return text if len(text) <= _SHORT else ""
