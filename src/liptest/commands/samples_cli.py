"""``liptest samples``; only its arguments, what it does is in ``liptest.commands.samples``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from liptest.commands.verify_cli import Data

# Nothing heavy is imported here: --help must answer at once.

_CLAIM = Group("Claim")


_RUN = Group("Running")


_OUT = Group("Results")


_NOTHING = Data()


def samples(
    sampler: Annotated[str, Parameter(help="file.py:name or package.module:name.")],
    /,
    *,
    epsilon: Annotated[str, Parameter(group=_CLAIM, help="Number above 0, or log(3).")],
    delta: Annotated[float, Parameter(group=_CLAIM, help="In [0, 1).")] = 0.0,
    resolution: Annotated[
        float, Parameter(group=_CLAIM, help="What a YES may add to delta.")
    ] = 0.05,
    failure_probability: Annotated[
        float, Parameter(group=_CLAIM, help="Chance of a wrong answer.")
    ] = 1e-6,
    data: Data = _NOTHING,
    samples: Annotated[int, Parameter(group=_RUN, help="Outputs to draw at most.")] = 1_000_000,
    scalar: Annotated[
        bool,
        Parameter(group=_RUN, help="(dataset, rng) gives one output, not n.", negative=""),
    ] = False,
    seed: Annotated[
        int | None, Parameter(group=_RUN, help="For reproduction; default: operating system.")
    ] = None,
    workers: Annotated[
        int, Parameter(group=_RUN, help="Processes; results do not depend on it.")
    ] = 1,
    json: Annotated[
        Path | None, Parameter(group=_OUT, name="--json", help="Write the certificate.")
    ] = None,
    html: Annotated[
        Path | None, Parameter(group=_OUT, name="--html", help="Write a report.")
    ] = None,
    ledger: Annotated[
        Path | None,
        Parameter(group=_OUT, name="--ledger", help="Note the attempt in this file."),
    ] = None,
    vendor: Annotated[
        str | None,
        Parameter(group=_OUT, help="Whose attempt it is in the ledger; default: the sampler."),
    ] = None,
) -> int:
    """Test a mechanism of which only samples can be had: (dataset, n, rng) -> n outputs.

    Exit code 0 YES at the resolution, 1 NO, 3 neither, 2 wrong input, 4 broken mechanism. The
    answer is statistical; where the output law can be had, check says more.

    Example: liptest samples vendor.py:draw --epsilon 1 --dimension 10 --probabilities 0.5
    """
    from liptest.commands.samples import run_samples

    return run_samples(dict(locals()))
