"""``liptest profile``; only its arguments, what it does is in ``liptest.commands.profile``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

# Nothing heavy is imported here: --help must answer at once.

_PROFILE = Group("Profile")


_DATA = Group("Domain and distribution of the data")


_RUN = Group("Running")


def profile(
    mechanism: Annotated[
        str | None, Parameter(help="file.py:name or package.module:name; else every check.")
    ] = None,
    /,
    *,
    epsilon: Annotated[
        str | None, Parameter(group=_PROFILE, help="The grid: 0.5,1,2. Default: 40 values.")
    ] = None,
    claim: Annotated[
        float | None,
        Parameter(group=_PROFILE, help="Does this epsilon hold off --exception-mass? YES is 0."),
    ] = None,
    delta: Annotated[float, Parameter(group=_PROFILE, help="In [0, 1).")] = 0.0,
    exception_mass: Annotated[
        float, Parameter(group=_PROFILE, help="Mass that a sampled profile is to resolve.")
    ] = 1e-3,
    failure_probability: Annotated[
        float, Parameter(group=_PROFILE, help="Chance that anything in it is wrong.")
    ] = 1e-6,
    method: Annotated[
        str,
        Parameter(group=_PROFILE, help="auto, exact, neighbourhoods or light-neighbourhoods."),
    ] = "auto",
    domain: Annotated[
        Literal["cube", "grid", "records", "answers"],
        Parameter(
            group=_DATA, help="Bits flipped, counts moved by 1, records replaced, or query answers."
        ),
    ] = "cube",
    relation: Annotated[
        Literal["all", "one"] | None, Parameter(group=_DATA, help="Of answers: how many may move.")
    ] = None,
    dimension: Annotated[int | None, Parameter(group=_DATA, help="Number of bits of a cube.")] = (
        None
    ),
    sizes: Annotated[str | None, Parameter(group=_DATA, help="Values per coordinate: 3,3,2.")] = (
        None
    ),
    probabilities: Annotated[
        str | None, Parameter(group=_DATA, help="Chance of a 1: one number, or one per bit.")
    ] = None,
    uniform: Annotated[bool, Parameter(group=_DATA, help="The uniform law.", negative="")] = False,
    table: Annotated[Path | None, Parameter(group=_DATA, help="Public CSV file to fit on.")] = None,
    column: Annotated[str | None, Parameter(group=_DATA, help="Its column of 0, 1, ..")] = None,
    group: Annotated[str | None, Parameter(group=_DATA, help="One rate per group.")] = None,
    rows: Annotated[str | None, Parameter(group=_DATA, help="Rows to fit on, first:stop.")] = None,
    records: Annotated[
        Path | None,
        Parameter(group=_DATA, help="Table whose groups are modelled (only read those)."),
    ] = None,
    record_rows: Annotated[
        str | None, Parameter(group=_DATA, help="Rows of it, first:stop.")
    ] = None,
    columns: Annotated[
        str | None, Parameter(group=_DATA, help="Each row is a dataset of these columns: a,b,c.")
    ] = None,
    sql: Annotated[
        str | None,
        Parameter(group=_DATA, help="URL of a public database, or '$NAME' of a variable."),
    ] = None,
    sql_table: Annotated[str | None, Parameter(group=_DATA, help="Its table to fit on ..")] = None,
    query: Annotated[str | None, Parameter(group=_DATA, help=".. or a SELECT.")] = None,
    histogram_of: Annotated[
        float | None, Parameter(group=_DATA, help="Model histograms of so many records on average.")
    ] = None,
    config: Annotated[
        Path | None, Parameter(group=_RUN, help="Default: liptest.toml beside you.")
    ] = None,
    draws: Annotated[int | None, Parameter(group=_RUN, help="Datasets to draw.")] = None,
    budget: Annotated[
        int | None, Parameter(group=_RUN, help="Most output laws to ask for, on average.")
    ] = None,
    seed: Annotated[
        int | None, Parameter(group=_RUN, help="For reproduction; default: operating system.")
    ] = None,
    json: Annotated[
        Path | None, Parameter(group=_RUN, name="--json", help="Write the profiles.")
    ] = None,
    workers: Annotated[
        int, Parameter(group=_RUN, help="Processes; results do not depend on it.")
    ] = 1,
) -> int:
    """Print the exception mass against epsilon; with --claim, exit code 0 YES, 1 NO, 3 open.

    Example: liptest profile vendor.py:count --dimension 20 --probabilities 0.1 --epsilon 0.5,1,2
    """
    from liptest.commands.profile import run_profile

    return run_profile(dict(locals()))
