"""Commands of the laboratory: functions instead of mechanisms, and the paper's claims.

Only their arguments; what they do is in ``liptest.commands.laboratory``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

# Nothing heavy is imported here: --help must answer at once.

_TASK = Group("Task")


_DATA = Group("Domain and distribution of the points")


_RUN = Group("Running")


Function = Annotated[
    str, Parameter(help="file.py:name, package.module:name, or a table in a .npy file.")
]


Kind = Annotated[
    Literal["cube", "grid", "records"],
    Parameter(
        group=_DATA,
        name=["--domain", "--relation"],
        help="Neighbours: bits flipped, counts moved by 1, or records replaced.",
    ),
]


Dimension = Annotated[int | None, Parameter(group=_DATA, help="Number of bits of a cube.")]


Sizes = Annotated[str | None, Parameter(group=_DATA, help="Values per coordinate: 3,3,2.")]


Probabilities = Annotated[
    str | None,
    Parameter(group=_DATA, help="Chance of a 1: one number, or one per bit. Default: uniform."),
]


Proximity = Annotated[
    float, Parameter(group=_TASK, help="Mass off which an accepted function is Lipschitz.")
]


Failure = Annotated[float, Parameter(group=_TASK, help="Chance of a wrong acceptance.")]


Constant = Annotated[float, Parameter(group=_TASK, help="The Lipschitz constant.")]


Tolerance = Annotated[
    float, Parameter(group=_TASK, help="Relative; 0 decides ties to the last bit.")
]


Tester = Annotated[str, Parameter(group=_TASK, help="auto, or a name such as VarianceEdges.")]


Step = Annotated[
    float | None,
    Parameter(group=_TASK, help="For testers that round values: 1 over a whole number."),
]


Seed = Annotated[
    int | None, Parameter(group=_RUN, help="For reproduction; default: operating system.")
]


Json = Annotated[Path | None, Parameter(group=_RUN, name="--json", help="Write the answer.")]


Workers = Annotated[int, Parameter(group=_RUN, help="Processes; results do not depend on it.")]


def lipschitz(
    function: Function,
    /,
    *,
    proximity: Proximity,
    failure_probability: Failure = 1e-6,
    lipschitz_constant: Constant = 1.0,
    tolerance: Tolerance = 1e-9,
    tester: Tester = "auto",
    range_step: Step = None,
    domain: Kind = "cube",
    dimension: Dimension = None,
    sizes: Sizes = None,
    probabilities: Probabilities = None,
    seed: Seed = None,
    json: Json = None,
    workers: Workers = 1,
) -> int:
    """Test whether a function is Lipschitz; exit code 0 ACCEPT, 1 REJECT.

    Example: liptest lipschitz query.py:mean --dimension 20 --proximity 0.01
    """
    from liptest.commands.laboratory import run_lipschitz

    return run_lipschitz(dict(locals()))


def distance(
    function: Function,
    /,
    *,
    lipschitz_constant: Constant = 1.0,
    tolerance: Tolerance = 1e-9,
    domain: Kind = "cube",
    dimension: Dimension = None,
    sizes: Sizes = None,
    probabilities: Probabilities = None,
    json: Json = None,
) -> int:
    """Print how far a function is from Lipschitz, exactly or in bounds.

    Example: liptest distance query.py:mean --dimension 12 --probabilities 0.1
    """
    from liptest.commands.laboratory import run_distance

    return run_distance(dict(locals()))


def repair(
    function: Function,
    /,
    *,
    output: Annotated[Path, Parameter(help="Where the table of the repaired function goes, .npy.")],
    range_step: Annotated[
        float, Parameter(group=_TASK, help="Step of the paper's operators, 1 over a whole number.")
    ] = 0.125,
    symmetric: Annotated[
        bool, Parameter(group=_TASK, help="JR11's operator instead.", negative="")
    ] = False,
    least: Annotated[
        bool,
        Parameter(
            group=_TASK,
            help="Change the least mass possible instead (exact minimum cover); any domain.",
            negative="",
        ),
    ] = False,
    domain: Kind = "cube",
    dimension: Dimension = None,
    sizes: Sizes = None,
    probabilities: Probabilities = None,
) -> int:
    """Write a 1-Lipschitz function near the given one.

    Example: liptest repair query.py:mean --dimension 8 --output repaired.npy
    """
    from liptest.commands.laboratory import run_repair

    return run_repair(dict(locals()))


def plan(
    *,
    proximity: Proximity = 0.01,
    failure_probability: Failure = 1e-6,
    range_step: Step = None,
    outputs: Annotated[
        int | None, Parameter(group=_TASK, help="Also plan privacy tests of so many outputs ..")
    ] = None,
    epsilon: Annotated[str, Parameter(group=_TASK, help=".. at this claim ..")] = "1",
    exception_mass: Annotated[
        float, Parameter(group=_TASK, help=".. off datasets of this probability.")
    ] = 1e-3,
    domain: Kind = "cube",
    dimension: Dimension = None,
    sizes: Sizes = None,
    probabilities: Probabilities = None,
    json: Json = None,
) -> int:
    """Print what every tester would cost: the paper's section 5 for your numbers.

    Example: liptest plan --dimension 20 --probabilities 0.1 --proximity 0.01 --outputs 21
    """
    from liptest.commands.laboratory import run_plan

    return run_plan(dict(locals()))


def paper(
    *,
    share: Annotated[
        float, Parameter(group=_RUN, help="Part of the cases to look at, up to 1.")
    ] = 1.0,
    json: Json = None,
) -> int:
    """Check the paper's claims on small domains; exit code 0 when all is as documented.

    The checks lie beside the package; in a checkout ``python -m paper`` does the same.

    Example: liptest paper
    """
    from liptest.commands.laboratory import run_paper

    return run_paper(share, json)


COMMANDS = (lipschitz, distance, repair, plan, paper)
