"""Options of programs, services and databases, which are sampled through input and output."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from liptest.blackbox.endpoints import HttpEndpoint, SqlQuery
from liptest.blackbox.programs import ExternalProgram
from liptest.cli.data_options import WHOLE
from liptest.errors import InputError

_PROGRAM = Group("A program instead of a sampler")


@Parameter(name="*")
@dataclass(frozen=True)
class ProgramOptions:
    """How a program is started."""

    command: Annotated[
        str | None,
        Parameter(
            group=_PROGRAM,
            help="A command line; {n}, {seed}, {dataset} are filled in, and each line of the "
            "output is one output. Without {n}: JSON lines, docs/black_box.md.",
        ),
    ] = None
    batch: Annotated[
        int, Parameter(group=_PROGRAM, help="Outputs of one request at most.", **WHOLE)
    ] = 1000
    seconds: Annotated[float, Parameter(group=_PROGRAM, help="Limit of one request.")] = 60.0
    memory: Annotated[int, Parameter(group=_PROGRAM, help="Limit in MiB.", **WHOLE)] = 8192
    readable: Annotated[
        tuple[Path, ...],
        Parameter(group=_PROGRAM, help="A file or folder it may read in its jail.", negative=""),
    ] = ()
    unconfined: Annotated[
        bool, Parameter(group=_PROGRAM, help="Run it outside of the jail.", negative="")
    ] = False

    endpoint: Annotated[
        str | None,
        Parameter(
            group=_PROGRAM,
            help="An http or https address that answers the same JSON, or with --select the URL of "
            "a database: duckdb://, or what SQLAlchemy connects to.",
        ),
    ] = None
    select: Annotated[
        str | None,
        Parameter(
            group=_PROGRAM,
            help="A query with noise in it, run once for each output; the dataset is in the "
            "temporary table liptest_data (position, value).",
        ),
    ] = None

    def build(self) -> ExternalProgram | HttpEndpoint | SqlQuery | None:
        """What is sampled, or None where nothing was named; InputError when it cannot be."""
        if self.endpoint is not None:
            if self.command is not None:
                raise InputError("--command, --endpoint: give one of them")
            if self.select is not None:
                return SqlQuery(self.endpoint, self.select, seconds=self.seconds)
            return HttpEndpoint(self.endpoint, batch=self.batch, seconds=self.seconds)
        if self.command is None:
            if self != NO_PROGRAM:
                raise InputError("--batch, --select, ..: give their --command or --endpoint")
            return None
        return ExternalProgram(
            self.command,
            batch=self.batch,
            seconds=self.seconds,
            memory=self.memory,
            confined=not self.unconfined,
            readable=self.readable,
        )


#: Where no program is named.
NO_PROGRAM = ProgramOptions()
