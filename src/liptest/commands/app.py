"""The commands and their options: arguments in, exit codes out; everything else lives elsewhere.

Exit codes: 0 YES or released, 1 NO or refused, 2 bad usage or input, 3 INCONCLUSIVE or budget
ended, 4 the mechanism is broken. Of several checks the worst wins, in the order 4, 1, 3, 2, 0: a
broken or refuted mechanism is never masked.
"""

from __future__ import annotations

import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, CycloptsError, Group, Parameter

from liptest.commands.first_contact_cli import COMMANDS as FIRST_COMMANDS
from liptest.commands.laboratory_cli import COMMANDS
from liptest.commands.ledger_cli import LEDGER
from liptest.commands.profile_cli import profile
from liptest.commands.samples_cli import samples
from liptest.commands.verify_cli import verify

# Nothing heavy is imported here: --help must answer at once.

app = App(
    name="liptest",
    help="Tests a claim of differential privacy before the code touches the data.",
    help_epilogue="Exit codes: 0 YES or released, 1 NO or refused, 2 bad usage or input, "
    "3 INCONCLUSIVE or budget ended, 4 the mechanism is broken.",
    help_format="plaintext",
    version_flags=["--version"],
    # Ctrl-C is told of as every error is, in one line.
    suppress_keyboard_interrupt=False,
)


# What was typed, so that a command can say how to go on.
_typed: list[str] = []


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


@app.command
def demo(name: Literal["clicks"] = "clicks", /) -> int:
    """Test three vendors' click counts on real data, and release one.

    Example: liptest demo clicks
    """
    from liptest.commands.main import run_demo

    return run_demo(name)


@app.command
def check(
    mechanism: Mechanism = None,
    /,
    *,
    checkpoint: Checkpoint = None,
    resume: Resume = False,
    options: Options = Options(),
) -> int:
    """Test one mechanism, or all checks of a liptest.toml.

    Example: liptest check vendor.py:count --epsilon 1 --dimension 20 --probabilities 0.1
    """
    from liptest.commands.main import run_check

    run = {"checkpoint": checkpoint, "resume": resume, "typed": [*_typed]}
    return run_check(asdict(options) | run | {"mechanism": mechanism})


@app.command
def release(
    mechanism: Mechanism = None,
    /,
    *,
    private: Annotated[Path, Parameter(help="Private dataset: CSV, .npy or JSON list.")],
    private_column: Annotated[str | None, Parameter(help="Column of the CSV.")] = None,
    private_rows: Annotated[str | None, Parameter(help="Rows of it, first:stop.")] = None,
    private_table: Annotated[
        str | None, Parameter(help="Its name in the ledger; default: the name of the file.")
    ] = None,
    options: Options = Options(),
) -> int:
    """Test a mechanism and, after a YES only, print one output on the private dataset.

    Example: liptest release vendor.py:count --epsilon 1 --dimension 3 --probabilities 0.1
    --private private.csv --private-column click
    """
    from liptest.commands.main import run_release

    dataset = {
        "private": private,
        "private_column": private_column,
        "private_rows": private_rows,
        "private_table": private_table or private.name,
    }
    return run_release(asdict(options) | dataset | {"mechanism": mechanism})


@app.command
def law(
    mechanism: Annotated[str, Parameter(help="file.py:name or package.module:name.")],
    /,
    *,
    dataset: Annotated[str | None, Parameter(help="One dataset: 0,1,1.")] = None,
    ones: Annotated[int | None, Parameter(help="Or a table of bits with so many ones ..")] = None,
    dimension: Annotated[int | None, Parameter(help=".. among so many.")] = None,
    trace: Annotated[
        str | None, Parameter(help="Print the random choices that lead to this output instead.")
    ] = None,
) -> int:
    """Print the exact output law of a mechanism on one dataset.

    Example: liptest law vendor.py:count --ones 3 --dimension 20
    """
    from liptest.commands.law import run_law

    return run_law(mechanism, dataset, ones, dimension, trace)


for _command in (*FIRST_COMMANDS, *COMMANDS):
    app.command(_command)


app.command(LEDGER)


app.command(verify)


app.command(profile)


app.command(samples)


def run(tokens: list[str]) -> int:
    """Run what was typed and return the exit code."""
    _typed[:] = tokens
    if not tokens:
        from liptest.commands.first_contact import run_welcome

        return run_welcome()
    try:
        answer = app(
            tokens,
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except CycloptsError as error:
        print(f"error: {_flat(error)}; see liptest --help", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output has gone, as in `liptest .. | head`; nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    return answer if isinstance(answer, int) else 0


def _flat(error: Exception) -> str:
    return " ".join(str(error).split())
