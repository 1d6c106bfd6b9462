"""Options that commands share: each is declared once, with its help."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

# Nothing heavy is imported here: --help must answer at once.

#: What was typed, so that a command can say how to go on.
typed: list[str] = []


_CLAIM = Group("Claim")


_DATA = Group("Domain and distribution of the data")


_RUN = Group("Running")


_OUT = Group("What is kept")


Mechanism = Annotated[str | None, Parameter(help="file.py:name or package.module:name.")]


Epsilon = Annotated[str | None, Parameter(group=_CLAIM, help="Number above 0, or log(3).")]


Delta = Annotated[float, Parameter(group=_CLAIM, help="In [0, 1).")]


Mass = Annotated[
    float,
    Parameter(group=_CLAIM, help="Probability of the datasets a sampled YES says nothing about."),
]


Failure = Annotated[float, Parameter(group=_CLAIM, help="Chance of a wrong YES.")]


Method = Annotated[
    str,
    Parameter(
        group=_CLAIM,
        help="auto, exhaustive, neighbourhoods, light-neighbourhoods, edges, group, search, or a "
        "tester such as VarianceEdges.",
    ),
]


Kind = Annotated[
    Literal["cube", "grid", "records", "answers"],
    Parameter(
        group=_DATA, help="Bits flipped, counts moved by 1, records replaced, or query answers."
    ),
]


Relation = Annotated[
    Literal["all", "one"] | None, Parameter(group=_DATA, help="Of answers: how many may move.")
]


Dimension = Annotated[int | None, Parameter(group=_DATA, help="Number of bits of a cube.")]


Sizes = Annotated[str | None, Parameter(group=_DATA, help="Values per coordinate: 3,3,2.")]


Probabilities = Annotated[
    str | None, Parameter(group=_DATA, help="Chance of a 1: one number, or one per bit.")
]


Uniform = Annotated[bool, Parameter(group=_DATA, help="The uniform law.", negative="")]


Table = Annotated[Path | None, Parameter(group=_DATA, help="Public CSV or Parquet file to fit on.")]


Column = Annotated[str | None, Parameter(group=_DATA, help="Its column of 0, 1, ..")]


GroupBy = Annotated[str | None, Parameter(group=_DATA, name="--group", help="One rate per group.")]


Rows = Annotated[str | None, Parameter(group=_DATA, help="Rows to fit on, first:stop.")]


Records = Annotated[
    Path | None, Parameter(group=_DATA, help="Table whose groups are modelled (only read those).")
]


RecordRows = Annotated[str | None, Parameter(group=_DATA, help="Rows of it, first:stop.")]


Columns = Annotated[
    str | None, Parameter(group=_DATA, help="Each row is a dataset of these columns: a,b,c.")
]


Sql = Annotated[
    str | None, Parameter(group=_DATA, help="URL of a public database, or '$NAME' of a variable.")
]


SqlName = Annotated[str | None, Parameter(group=_DATA, help="Its table to fit on ..")]


Query = Annotated[str | None, Parameter(group=_DATA, help=".. or a SELECT.")]


HistogramOf = Annotated[
    float | None, Parameter(group=_DATA, help="Model histograms of so many records on average.")
]


Config = Annotated[Path | None, Parameter(group=_RUN, help="Default: liptest.toml beside you.")]


Budget = Annotated[int | None, Parameter(group=_RUN, help="Most output laws to ask for.")]


SearchLaws = Annotated[
    int | None,
    Parameter(
        group=_RUN,
        help="Most output laws of the search after a YES by sampling; 0: no search. Default: a "
        "tenth of the test, at most 20,000.",
    ),
]


Seed = Annotated[
    int | None, Parameter(group=_RUN, help="For reproduction; default: operating system.")
]


Json = Annotated[Path | None, Parameter(group=_OUT, name="--json", help="Write certificates.")]


Html = Annotated[Path | None, Parameter(group=_OUT, name="--html", help="Write a report.")]


Junit = Annotated[
    Path | None, Parameter(group=_OUT, name="--junit", help="Write a test report, JUnit XML.")
]


Sarif = Annotated[
    Path | None, Parameter(group=_OUT, name="--sarif", help="Write findings, SARIF 2.1.0.")
]


LedgerFile = Annotated[
    Path | None,
    Parameter(group=_OUT, name="--ledger", help="Note attempts and releases in this file."),
]


Vendor = Annotated[
    str | None,
    Parameter(group=_OUT, help="Whose attempt it is in the ledger; default: the mechanism."),
]


Checkpoint = Annotated[
    Path | None,
    Parameter(group=_RUN, help="Keep what is done in this file; it goes after the last answer."),
]


Resume = Annotated[
    bool, Parameter(group=_RUN, help="Go on where the run of --checkpoint ended.", negative="")
]


Workers = Annotated[int, Parameter(group=_RUN, help="Processes; results do not depend on it.")]


@Parameter(name="*")
@dataclass(frozen=True)
class Options:
    """What ``check`` and ``release`` share."""

    epsilon: Epsilon = None
    delta: Delta = 0.0
    exception_mass: Mass = 1e-3
    failure_probability: Failure = 1e-6
    method: Method = "auto"
    domain: Kind = "cube"
    relation: Relation = None
    dimension: Dimension = None
    sizes: Sizes = None
    probabilities: Probabilities = None
    uniform: Uniform = False
    table: Table = None
    column: Column = None
    group: GroupBy = None
    rows: Rows = None
    records: Records = None
    record_rows: RecordRows = None
    columns: Columns = None
    sql: Sql = None
    sql_table: SqlName = None
    query: Query = None
    histogram_of: HistogramOf = None
    config: Config = None
    budget: Budget = None
    search_laws: SearchLaws = None
    seed: Seed = None
    json: Json = None
    html: Html = None
    junit: Junit = None
    sarif: Sarif = None
    ledger: LedgerFile = None
    vendor: Vendor = None
    workers: Workers = 1


_TESTED = Group("Distribution that was tested with")


Where = Annotated[Path | None, Parameter(group=_TESTED)]


Text = Annotated[str | None, Parameter(group=_TESTED)]


@Parameter(name="*")
@dataclass(frozen=True)
class Data:
    """Domain and distribution as ``check`` takes them; the domain may be left to the certificate.

    The certificate holds a hash of both, so that no other ones are taken for them.
    """

    domain: Annotated[
        Literal["cube", "grid", "records", "answers"] | None, Parameter(group=_TESTED)
    ] = None
    relation: Annotated[Literal["all", "one"] | None, Parameter(group=_TESTED)] = None
    dimension: Annotated[int | None, Parameter(group=_TESTED)] = None
    sizes: Text = None
    probabilities: Text = None
    uniform: Annotated[bool, Parameter(group=_TESTED, negative="")] = False
    table: Where = None
    column: Text = None
    group: Annotated[str | None, Parameter(group=_TESTED, name="--group")] = None
    rows: Text = None
    records: Where = None
    record_rows: Text = None
    columns: Text = None
    sql: Text = None
    sql_table: Text = None
    query: Text = None
    histogram_of: Annotated[float | None, Parameter(group=_TESTED)] = None


#: Where nothing is said.
DEFAULTS = Options()
NOTHING = Data()
