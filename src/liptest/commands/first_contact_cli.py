"""Commands of the first minutes: init, doctor, completion. Only their arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

# Nothing heavy is imported here: --help must answer at once.

_KNOWN = Group("Known already")


def init(
    mechanism: Annotated[str, Parameter(help="file.py:name or package.module:name.")],
    /,
    *,
    epsilon: Annotated[str | None, Parameter(group=_KNOWN, help="The claim: 1, log(3).")] = None,
    delta: Annotated[float | None, Parameter(group=_KNOWN, help="Its delta, in [0, 1).")] = None,
    domain: Annotated[
        Literal["cube", "grid", "records"] | None,
        Parameter(group=_KNOWN, help="Bits flipped, counts moved by 1, or records replaced."),
    ] = None,
    dimension: Annotated[int | None, Parameter(group=_KNOWN, help="Number of records.")] = None,
    sizes: Annotated[
        str | None, Parameter(group=_KNOWN, help="Values per coordinate: 3,3,2.")
    ] = None,
    probabilities: Annotated[
        str | None, Parameter(group=_KNOWN, help="Chance of a 1: one number, or one per bit.")
    ] = None,
    table: Annotated[
        Path | None, Parameter(group=_KNOWN, help="Public CSV file to fit a distribution on.")
    ] = None,
    column: Annotated[str | None, Parameter(group=_KNOWN, help="Its column of 0, 1, ..")] = None,
    group: Annotated[str | None, Parameter(group=_KNOWN, help="One rate per group.")] = None,
    output: Annotated[Path, Parameter(help="File to write.")] = Path("liptest.toml"),
    force: Annotated[bool, Parameter(help="Replace the file if it exists.", negative="")] = False,
) -> int:
    """Write a commented liptest.toml for a mechanism, to be filled in.

    Example: liptest init vendor.py:count --epsilon 1 --dimension 1000
    """
    from liptest.commands.first_config import Known, run_init

    known = Known(
        epsilon=epsilon,
        delta=delta,
        domain=domain,
        dimension=dimension,
        sizes=sizes,
        probabilities=probabilities,
        table=table,
        column=column,
        group=group,
    )
    return run_init(mechanism, known, output, force=force)


def doctor() -> int:
    """Say what is installed and whether it works here; exit code 0 or 1.

    Example: liptest doctor
    """
    from liptest.commands.doctor import run_doctor

    return run_doctor()


def completion(shell: Literal["bash", "zsh", "fish", "powershell"], /) -> int:
    """Print a script that completes commands and options in a shell.

    Example: liptest completion bash > ~/.local/share/bash-completion/completions/liptest
    """
    from liptest.commands.app import app

    print(app.generate_completion(shell=shell))
    return 0


COMMANDS = (init, doctor, completion)
