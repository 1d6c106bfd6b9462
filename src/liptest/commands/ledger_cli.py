"""Commands about a ledger; only their arguments, what they do is in ``liptest.commands.ledger``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

# Nothing heavy is imported here: --help must answer at once.

LEDGER = App(name="ledger", help="Read a ledger of attempts and releases.")


File = Annotated[Path, Parameter(help="The ledger.")]


@LEDGER.command
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
    from liptest.commands.ledger import run_show

    return run_show(file, vendor, json)


@LEDGER.command
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
    from liptest.commands.ledger import run_verify

    return run_verify(file, head)
