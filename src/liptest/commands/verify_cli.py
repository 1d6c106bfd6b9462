"""The command ``verify``; only its arguments, what it does is in ``liptest.commands.verify``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

# Nothing heavy is imported here: --help must answer at once.

_DATA = Group("Distribution that was tested with")


Where = Annotated[Path | None, Parameter(group=_DATA)]


Text = Annotated[str | None, Parameter(group=_DATA)]


@Parameter(name="*")
@dataclass(frozen=True)
class Data:
    """Domain and distribution as ``check`` takes them; the domain may be left to the certificate.

    The certificate holds a hash of both, so that no other ones are taken for them.
    """

    domain: Annotated[
        Literal["cube", "grid", "records", "answers"] | None, Parameter(group=_DATA)
    ] = None
    relation: Annotated[Literal["all", "one"] | None, Parameter(group=_DATA)] = None
    dimension: Annotated[int | None, Parameter(group=_DATA)] = None
    sizes: Text = None
    probabilities: Text = None
    uniform: Annotated[bool, Parameter(group=_DATA, negative="")] = False
    table: Where = None
    column: Text = None
    group: Annotated[str | None, Parameter(group=_DATA, name="--group")] = None
    rows: Text = None
    records: Where = None
    record_rows: Text = None
    columns: Text = None
    sql: Text = None
    sql_table: Text = None
    query: Text = None
    histogram_of: Annotated[float | None, Parameter(group=_DATA)] = None


def verify(
    certificate: Annotated[Path, Parameter(help="JSON file that check or release wrote.")],
    /,
    *,
    mechanism: Annotated[
        str | None, Parameter(help="file.py:name or package.module:name; without, only the file.")
    ] = None,
    config: Annotated[
        Path | None, Parameter(help="liptest.toml with the mechanism and its distribution.")
    ] = None,
    scalar: Annotated[
        bool, Parameter(help="Of samples: (dataset, rng) gives one output.", negative="")
    ] = False,
    data: Data = Data(),
) -> int:
    """Check a certificate: its witness is asked for again, its test repeated from its seed.

    Exit code 0 it holds, 1 it does not, 2 no certificate, 3 nothing wrong found but not enough
    given to tell.

    Example: liptest verify vendor.json --mechanism vendor.py:count --dimension 20
    --probabilities 0.1
    """
    from liptest.commands.verify import run_verify

    return run_verify(certificate, mechanism, config, asdict(data), scalar=scalar)
