"""``liptest ledger``: what a ledger adds up to, and whether it is intact."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from fractions import Fraction
from typing import Annotated

from cyclopts import App, Parameter

from liptest.errors import InputError, LedgerError
from liptest.evidence.ledger import Ledger
from liptest.evidence.ledger_entries import Attempt, Totals, attempt_text, decimal_text, vendor_text
from liptest.evidence.postgres import is_url, show_url
from liptest.report.text import Screen

ledger = App(name="ledger", help="Read a ledger of attempts and releases; cap a private table.")
File = Annotated[str, Parameter(help="The ledger: a file, or postgresql://host/name.")]


@ledger.command
def show(
    file: File,
    /,
    *,
    vendor: Annotated[str | None, Parameter(help="List this vendor's attempts.")] = None,
    json: Annotated[
        bool, Parameter(name="--json", help="As JSON, sums as exact decimals.", negative="")
    ] = False,
) -> int:
    """Print what a ledger adds up to; exit code 1 when it is not intact.

    Example: liptest ledger show ledger.db --vendor acme
    """
    return run_show(file, vendor, json)


@ledger.command
def verify(
    file: File,
    /,
    *,
    head: Annotated[
        str | None, Parameter(help="Hash of a row, noted elsewhere, that must still be there.")
    ] = None,
) -> int:
    """Check every row of a ledger; exit code 0 intact, 1 not intact, 2 no ledger.

    Example: liptest ledger verify ledger.db
    """
    return run_ledger_verify(file, head)


@ledger.command
def cost(
    file: File,
    private_table: Annotated[str, Parameter(help="Name of a private table in the ledger.")],
    /,
    *,
    delta: Annotated[
        float | None, Parameter(help="At which delta; by default that of the table's cap.")
    ] = None,
    json: Annotated[
        bool, Parameter(name="--json", help="As JSON, rounded up to floats.", negative="")
    ] = False,
) -> int:
    """Print what all releases from a private table cost together; exit code 1 beyond its cap.

    Example: liptest ledger cost ledger.db clicks --delta 1e-6
    """
    return run_cost(file, private_table, delta, json)


@ledger.command
def cap(
    file: File,
    private_table: Annotated[str, Parameter(help="Name of a private table in the ledger.")],
    /,
    *,
    epsilon: Annotated[float, Parameter(help="What all releases together may cost.")],
    delta: Annotated[float, Parameter(help="The delta at which they are added up.")],
) -> int:
    """Cap what all releases from a private table may cost together.

    The cap is a row of the ledger; a release beyond it is refused before anything is drawn. The
    last cap of a table counts.

    Example: liptest ledger cap ledger.db clicks --epsilon 3 --delta 1e-6
    """
    return run_cap(file, private_table, epsilon, delta)


@ledger.command
def people(
    file: File,
    name: Annotated[str, Parameter(help="Name of the group of people.")],
    tables: Annotated[list[str], Parameter(help="Private tables that concern them.")],
    /,
    *,
    epsilon: Annotated[float, Parameter(help="What all releases together may cost.")],
    delta: Annotated[float, Parameter(help="The delta at which they are added up.")],
) -> int:
    """Cap what all releases from tables about the same people may cost together.

    The caps of the tables hold, too. The last cap under a name counts.

    Example: liptest ledger people ledger.db visitors clicks orders --epsilon 3 --delta 1e-6
    """
    return run_people(file, name, tables, epsilon, delta)


_MOST_PROBLEMS = 20


def run_show(file: str, vendor: str | None, as_json: bool) -> int:
    """``liptest ledger show``."""
    screen = Screen()
    wrong: list[str] = []
    try:
        book = Ledger(file, create=False)
        wrong = book.problems()
        _show(screen, book, vendor, as_json)
    except (LedgerError, InputError) as error:
        return screen.error(error, 1 if wrong else 2)
    if wrong:
        told = (
            f"{_name(file)} is not intact, do not rely on these numbers; see liptest ledger verify"
        )
        return screen.error(LedgerError(told), 1)
    return 0


def _show(screen: Screen, ledger: Ledger, vendor: str | None, as_json: bool) -> None:
    entries = ledger.attempts(vendor) if vendor is not None else []
    if vendor is not None and not entries:
        raise InputError(_unknown(ledger, vendor), name="vendor")
    if as_json:
        print(_json(ledger, entries))
    elif vendor is None:
        screen.paragraph(str(ledger.summary()))
        for table, capped in sorted(ledger.caps().items()):
            screen.paragraph(f"private table {table}\n  {capped}")
        attempts = ledger.attempts()
        for _, shared in sorted(ledger.people().items()):
            screen.paragraph(f"{shared.cost(attempts)}\n  {shared}")
    else:
        lines = [attempt_text(attempt) for attempt in entries]
        screen.paragraph("\n".join([vendor_text(f"vendor {vendor}", Totals.of(entries)), *lines]))


def run_ledger_verify(file: str, head: str | None) -> int:
    """``liptest ledger verify``."""
    screen = Screen()
    try:
        book = Ledger(file, create=False)
        wrong = book.problems(head=head)
        summary = None if wrong else book.summary()
    except LedgerError as error:
        return screen.error(error, 2)
    if summary is None:
        more = len(wrong) - _MOST_PROBLEMS
        lines = [*wrong[:_MOST_PROBLEMS], *([f"and {more:,} more"] if more > 0 else [])]
        screen.paragraph(f"NOT INTACT: {_name(file)}\n" + "\n".join(f"  {line}" for line in lines))
        return 1
    screen.paragraph(f"INTACT: {_name(file)}, {summary.rows:,} rows\nhead {summary.head}")
    if head is None:
        screen.paragraph(
            "Removed rows at the end of the file cannot be detected this way. Keep the head "
            "elsewhere, and give it next time: liptest ledger verify --head HASH"
        )
    return 0


def _name(place: str) -> str:
    """Without a password."""
    return show_url(place) if is_url(place) else place


def run_cost(file: str, private_table: str, delta: float | None, as_json: bool) -> int:
    """``liptest ledger cost``."""
    screen = Screen()
    try:
        book = Ledger(file, create=False)
        capped = book.caps().get(private_table)
        if delta is None and capped is None:
            raise InputError(
                f"delta: private table {private_table!r} has no cap; name --delta", name="delta"
            )
        at = float(capped.delta) if delta is None and capped is not None else delta
        assert at is not None
        spent = book.cost(private_table, delta=at)
        within = capped is None or book.cost(private_table, delta=float(capped.delta)).is_within(
            float(capped.epsilon)
        )
    except (LedgerError, InputError) as error:
        return screen.error(error, 2)
    if as_json:
        data = {
            "private_table": private_table,
            "releases": spent.releases,
            "epsilon": spent.epsilon if math.isfinite(spent.epsilon) else None,
            "delta": spent.delta,
            "exception_mass": decimal_text(spent.exception_mass),
            "cap": None if capped is None else capped.fields(),
            "within_cap": within,
        }
        print(json.dumps(data, indent=1))
    else:
        screen.paragraph("\n".join([str(spent), *([f"  {capped}"] if capped is not None else [])]))
    return 0 if within else 1


def run_cap(file: str, private_table: str, epsilon: float, delta: float) -> int:
    """``liptest ledger cap``."""
    screen = Screen()
    try:
        book = Ledger(file, create=False)
        set_cap = book.set_cap(private_table, epsilon=epsilon, delta=delta)
        spent = book.cost(private_table, delta=delta)
    except (LedgerError, InputError) as error:
        return screen.error(error, 2)
    screen.paragraph(f"{spent}\n  {set_cap}")
    return 0


def run_people(file: str, name: str, tables: list[str], epsilon: float, delta: float) -> int:
    """``liptest ledger people``."""
    screen = Screen()
    try:
        book = Ledger(file, create=False)
        cap = book.set_people(name, tables, epsilon=epsilon, delta=delta)
        spent = cap.cost(book.attempts())
    except (LedgerError, InputError) as error:
        return screen.error(error, 2)
    screen.paragraph(f"{spent}\n  {cap}")
    return 0


def _unknown(ledger: Ledger, vendor: str) -> str:
    vendors = ", ".join(sorted({attempt.vendor for attempt in ledger.attempts()})) or "none"
    return f"vendor={vendor!r} is not in the ledger; known: {vendors}"


def _json(ledger: Ledger, attempts: list[Attempt]) -> str:
    if not attempts:
        return json.dumps(ledger.summary().to_dict(), indent=1)
    data = {
        "vendor": attempts[0].vendor,
        "totals": Totals.of(attempts).to_dict(),
        "attempts": [_plain(attempt) for attempt in attempts],
    }
    return json.dumps(data, indent=1)


def _plain(attempt: Attempt) -> dict[str, object]:
    values = asdict(attempt).items()
    return {key: decimal_text(v) if isinstance(v, Fraction) else v for key, v in values}
