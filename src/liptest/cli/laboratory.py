"""The laboratory: functions instead of mechanisms, and the claims of the paper."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Group, Parameter
from numpy.typing import NDArray

from liptest.cli.codes import ANSWERED
from liptest.cli.config import build_data
from liptest.cli.data_options import (
    KIND,
    ONE_OR_MORE,
    WHOLE,
    WHOLE_NUMBERS,
    DataOptions,
    DistributionOptions,
    DomainOptions,
)
from liptest.cli.loading import load_object, mute_output
from liptest.cli.options import RUN, Seed, Workers
from liptest.cli.paths import check_paths, list_files
from liptest.cli.workers import pool
from liptest.data.domains import Hypercube, IntArray
from liptest.data.product import ProductDistribution
from liptest.errors import BudgetError, FunctionError, InputError, LiptestError, quote
from liptest.lipschitz.check import check_lipschitz
from liptest.lipschitz.covers import ExactTable
from liptest.lipschitz.distance import Distance, distance_to_lipschitz, find_violated_edges
from liptest.lipschitz.plans import plan_table, with_step
from liptest.lipschitz.repair import Table, exact_table, mcshane
from liptest.lipschitz.repair import repair as repaired
from liptest.lipschitz.testers import ALL_TESTERS, known_testers, named_tester
from liptest.lipschitz.testers.base import DiameterTester, LipschitzTester
from liptest.privacy.plans import privacy_plan_table
from liptest.report.text import Screen, cost_text, plan_text, privacy_plan_text

_TASK = Group("Task")
_DATA = Group("Domain and distribution of the points")
Function = Annotated[
    str, Parameter(help="file.py:name, package.module:name, or a table in a .npy file.")
]
Kind = Annotated[
    Literal["hypercube", "hypergrid", "recordgrid"],
    Parameter(
        group=_DATA,
        help="Neighbours: bits flipped, counts moved by 1, or records replaced.",
        **KIND,
    ),
]
Dimension = Annotated[
    int | None,
    Parameter(
        name=("--dimension", "--records"),
        group=_DATA,
        help="Number of bits of a hypercube.",
        **WHOLE,
    ),
]
Sizes = Annotated[
    list[int] | None, Parameter(group=_DATA, help="Values per coordinate: 3,3,2.", **WHOLE_NUMBERS)
]
Probabilities = Annotated[
    float | list[float] | None,
    Parameter(
        group=_DATA,
        help="Chance of a 1: one number, or one per bit. Default: uniform.",
        **ONE_OR_MORE,
    ),
]
Proximity = Annotated[
    float,
    Parameter(
        group=_TASK, help="An accepted function is Lipschitz outside points of this probability."
    ),
]
Failure = Annotated[float, Parameter(group=_TASK, help="Chance of a wrong acceptance.")]
Constant = Annotated[float, Parameter(group=_TASK, help="The Lipschitz constant.")]
Tolerance = Annotated[
    float, Parameter(group=_TASK, help="Relative; 0 decides ties to the last bit.")
]
Tester = Annotated[
    str,
    Parameter(
        group=_TASK,
        help="auto, a tester such as VarianceEdges, or one that an installed package offers.",
    ),
]
Step = Annotated[
    float | None,
    Parameter(group=_TASK, help="For testers that round values: 1 over a whole number."),
]
Json = Annotated[Path | None, Parameter(group=RUN, name="--json", help="Write the answer.")]


@Parameter(name="*")
@dataclass(frozen=True)
class PointOptions:
    """Domain and distribution of the points of a function."""

    domain: Kind = "hypercube"
    dimension: Dimension = None
    sizes: Sizes = None
    probabilities: Probabilities = None


#: All points of a cube alike.
EVERYWHERE = PointOptions()


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
    points: PointOptions = EVERYWHERE,
    seed: Seed = None,
    json: Json = None,
    workers: Workers = 1,
) -> int:
    """Test whether a function is Lipschitz.

    Exit code 0: ACCEPT; 1: REJECT.

    Example: liptest lipschitz query.py:mean --dimension 20 --proximity 0.01
    """
    return run_lipschitz(dict(locals()))


def distance(
    function: Function,
    /,
    *,
    lipschitz_constant: Constant = 1.0,
    tolerance: Tolerance = 1e-9,
    points: PointOptions = EVERYWHERE,
    json: Json = None,
) -> int:
    """Print how far a function is from Lipschitz.

    Example: liptest distance query.py:mean --dimension 12 --probabilities 0.1
    """
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
        bool, Parameter(group=_TASK, help="Use JR11's symmetric operator instead.", negative="")
    ] = False,
    least: Annotated[
        bool,
        Parameter(
            group=_TASK,
            help="Change the least mass possible instead (exact minimum cover); any domain.",
            negative="",
        ),
    ] = False,
    points: PointOptions = EVERYWHERE,
) -> int:
    """Write a 1-Lipschitz function near the given one.

    Example: liptest repair query.py:mean --dimension 8 --output repaired.npy
    """
    return run_repair(dict(locals()))


def plan(
    *,
    proximity: Proximity = 0.01,
    failure_probability: Failure = 1e-6,
    range_step: Step = None,
    outputs: Annotated[
        int | None,
        Parameter(
            group=_TASK,
            help="Also plan privacy tests of a mechanism with this many outputs ..",
            **WHOLE,
        ),
    ] = None,
    epsilon: Annotated[str, Parameter(group=_TASK, help=".. at this claim ..")] = "1",
    exception_mass: Annotated[
        float, Parameter(group=_TASK, help=".. outside a set of datasets of this probability.")
    ] = 1e-3,
    law_seconds: Annotated[
        float | None,
        Parameter(group=_TASK, help="Seconds of one output distribution: what the fewest take .."),
    ] = None,
    workers: Annotated[int, Parameter(group=_TASK, help=".. on so many workers.", **WHOLE)] = 1,
    points: PointOptions = EVERYWHERE,
    json: Json = None,
) -> int:
    """Print what every tester would cost.

    Example: liptest plan --dimension 20 --probabilities 0.1 --proximity 0.01 --outputs 21
    """
    return run_plan(dict(locals()))


def paper(
    *,
    share: Annotated[
        float, Parameter(group=RUN, help="Share of the cases to check, up to 1.")
    ] = 1.0,
    json: Json = None,
) -> int:
    """Check the paper's claims on small domains.

    Exit code 0: all is as documented.

    The checks lie beside the package; in a checkout ``python -m paper`` does the same.

    Example: liptest paper
    """
    return run_paper(share, json)


Options = dict[str, Any]
_BROKEN_TIES = ", which moves {} edges over the line by a unit in the last place"


def run_lipschitz(options: Options) -> int:
    """``liptest lipschitz``: 0 ACCEPT, 1 REJECT, 3 INCONCLUSIVE."""
    return _guard(lambda screen: _lipschitz(screen, options), options)


def run_distance(options: Options) -> int:
    """``liptest distance``: the exact distance, or bounds."""
    return _guard(lambda screen: _distance(screen, options), options)


def run_repair(options: Options) -> int:
    """``liptest repair``: a table of floats."""
    return _guard(lambda screen: _repair(screen, options), options)


def run_plan(options: Options) -> int:
    """``liptest plan``: one or two tables."""
    return _guard(lambda screen: _plan(screen, options), options)


def run_paper(share: float, path: Path | None) -> int:
    """``liptest paper``: 0 when every row is as documented, else 1."""
    return _guard(lambda screen: _paper(screen, share, path), {"json": path})


def _guard(action: Callable[[Screen], int], options: Options) -> int:
    screen = Screen()
    try:
        check_paths(options, inputs=list_files(options))
        return action(screen)
    except LiptestError as error:
        return screen.error(error, _find_code(error))


def _find_code(error: LiptestError) -> int:
    if isinstance(error, FunctionError):
        return 4
    return 3 if isinstance(error, BudgetError) else 2


def _lipschitz(screen: Screen, options: Options) -> int:
    function, label = load_function(options["function"])
    law = read_law(options["points"], function)
    tester = _tester(options, law)
    with pool(options["workers"]) as executor, screen.progress(label) as progress, mute_output():
        verdict = check_lipschitz(
            function,
            law,
            proximity=options["proximity"],
            failure_probability=options["failure_probability"],
            lipschitz_constant=options["lipschitz_constant"],
            tester=tester,
            tolerance=options["tolerance"],
            seed=options["seed"],
            executor=executor,
            progress=progress,
        )
    verdict = replace(verdict, function=label)
    screen.paragraph(f"{verdict}\nDistribution: {law.source}.")
    _write(options["json"], verdict.to_dict())
    return ANSWERED[verdict.decision]


def _tester(options: Options, law: ProductDistribution) -> LipschitzTester | str:
    name, step = options["tester"], options["range_step"]
    stepped = [tester.name for tester in ALL_TESTERS if isinstance(tester, DiameterTester)]
    chosen = None if name == "auto" else named_tester(name)
    if name != "auto" and chosen is None:
        raise InputError(
            f"tester={quote(name)} is not a tester; use auto, {', '.join(known_testers())}",
            name="tester",
        )
    if step is not None and name not in stepped:
        raise InputError(
            f"range_step={step:g}: tester={name} rounds no values; leave --range-step out, or "
            f"use --tester {', '.join(stepped)}",
            name="range_step",
        )
    if chosen is None:
        return "auto"
    if step is not None:
        return type(chosen)(range_step=step)  # type: ignore[call-arg]
    reason = chosen.not_applicable(law)
    return chosen if reason else with_step(chosen, law, options["proximity"])[0]


def _distance(screen: Screen, options: Options) -> int:
    function, label = load_function(options["function"])
    law = read_law(options["points"], function)
    with mute_output():
        measured = distance_to_lipschitz(
            function,
            law,
            lipschitz_constant=options["lipschitz_constant"],
            tolerance=options["tolerance"],
        )
    lines = [f"{label}   on {law.domain}, {law.source}", str(measured)]
    if measured.value is not None:
        lines.append(f"exactly {measured.value}" if len(str(measured.value)) <= 60 else "")
    if measured.violated_pairs is not None:
        lines.append(f"{measured.violated_pairs:,} violated pairs of points")
    lines.append(
        f"Outside {len(measured.cover):,} of {law.domain.size:,} points the function is "
        f"{options['lipschitz_constant']:g}-Lipschitz (tolerance {options['tolerance']:g})."
    )
    screen.paragraph("\n".join(line for line in lines if line))
    _write(options["json"], measured.to_dict())
    return 0


def _repair(screen: Screen, options: Options) -> int:
    function, label = load_function(options["function"])
    law = read_law(options["points"], function)
    path: Path = options["output"]
    if path.suffix != ".npy":
        raise InputError(f"output={str(path)!r} must end in .npy", name="output")
    with mute_output():
        before = exact_table(function, law.domain)
        measured = distance_to_lipschitz(before, law)
        after = _repair_table(before, law, options, measured)
    floats = after.astype(np.float64)
    _save(path, floats)
    broken = len(find_violated_edges(ExactTable.of(floats, law.domain, Fraction(1))))
    changed = np.flatnonzero((before != after).reshape(-1))
    mass = sum(map(law.exact_mass, law.domain.points(changed)), Fraction(0))
    screen.paragraph(
        f"{label}   on {law.domain}, {law.source}\n"
        f"Changed {len(changed):,} of {law.domain.size:,} points, total probability "
        f"{float(mass):.6g}. No repair changes less than the {measured}.\n"
        f"Written to {path}: the table of a 1-Lipschitz function, each value rounded to the "
        f"nearest float{_BROKEN_TIES.format(broken) if broken else ''}."
    )
    return 0


def _save(path: Path, table: NDArray[np.float64]) -> None:
    try:
        np.save(path, table)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", name="output") from None


def _repair_table(
    table: Table, law: ProductDistribution, options: Options, found: Distance
) -> Table:
    if options["least"]:
        return mcshane(table, law.domain, found.cover)
    if not isinstance(law.domain, Hypercube):
        raise InputError(
            f"domain={options['points'].domain}: the paper's operators work on the hypercube; add "
            f"--least, which works on any domain",
            name="domain",
        )
    return repaired(table, law, range_step=options["range_step"], symmetric=options["symmetric"])


def _plan(screen: Screen, options: Options) -> int:
    law = read_law(options["points"], None)
    failure = options["failure_probability"]
    testers = plan_table(
        law,
        proximity=options["proximity"],
        failure_probability=failure,
        range_step=options["range_step"],
    )
    answer = {"testers": [row.to_dict() for row in testers]}
    lines = [
        f"Lipschitz testing on {law.domain}, {law.source}; proximity {options['proximity']:g}, "
        f"failure_probability {failure:g}\n\n{plan_text(testers)}"
    ]
    if options["outputs"] is not None:
        claim = {key: options[key] for key in ("epsilon", "exception_mass")}
        methods = privacy_plan_table(law, options["outputs"], failure_probability=failure, **claim)
        lines.append(
            f"Testing epsilon {options['epsilon']} of a mechanism with {options['outputs']} "
            f"outputs; exception_mass {options['exception_mass']:g}, failure_probability "
            f"{failure:g}\n\n{privacy_plan_text(methods)}"
        )
        if options["law_seconds"] is not None:
            lines.append(cost_text(methods, options["law_seconds"], options["workers"]))
        answer["methods"] = [row.to_dict() for row in methods]
    for text in lines:
        screen.paragraph(text)
    _write(options["json"], answer)
    return 0


def _paper(screen: Screen, share: float, path: Path | None) -> int:
    try:
        checks = import_module("paper.__main__")
    except ModuleNotFoundError as error:
        raise InputError(
            f"the checks of the paper lie beside the package, and {error.name!r} is not found; run "
            f"`python -m paper` in a checkout of liptest"
        ) from None
    code: int = checks.run(screen, share, path)
    return code


def _write(path: Path | None, answer: Any) -> None:
    if path is None:
        return
    try:
        path.write_text(json.dumps(answer, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        # The answer is on the screen already; a full disk must not lose its exit code.
        print(f"error: --json {path}: {error.strerror}", file=sys.stderr)


@dataclass(frozen=True)
class NamedFunction:
    """A function from a file: what it raises, or an attempt to exit, is its own fault."""

    function: Callable[[IntArray], Any]
    label: str

    @property
    def __name__(self) -> str:
        return self.label

    def __call__(self, points: IntArray) -> Any:
        try:
            return self.function(points)
        except (Exception, SystemExit) as error:
            said = f"{type(error).__name__}: {quote(str(error), 200)}"
            raise FunctionError(
                f"{self.label}: it raised {said}; it is called with an (n, d) array, wrap a "
                f"function of one point in lt.scalar(...)"
            ) from None


def load_function(where: str) -> tuple[Any, str]:
    """A callable or a table, and its label."""
    if where.endswith(".npy"):
        return _table(Path(where)), Path(where).stem
    with mute_output():
        loaded, label = load_object(where)
    return (NamedFunction(loaded, label) if callable(loaded) else loaded), label


def _table(path: Path) -> NDArray[Any]:
    if not path.is_file():
        raise InputError(f"{path}: there is no such file", name="function")
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (ValueError, OSError, EOFError):
        raise InputError(
            f"{path}: it is not a readable .npy table of numbers", name="function"
        ) from None


def read_law(points: PointOptions, function: Any) -> ProductDistribution:
    """The requested distribution; a table gives its own sizes."""
    sizes, dimension = points.sizes, points.dimension
    if isinstance(function, np.ndarray) and sizes is None and dimension is None:
        sizes, dimension = list(function.shape), function.ndim
    is_cube = points.domain == "hypercube"
    if is_cube and sizes is not None and set(sizes) != {2}:
        raise InputError(
            f"sizes={quote(sizes)}: coordinates of more values need --domain hypergrid (counts "
            f"moved by 1) or --domain recordgrid (records replaced)",
            name="sizes",
        )
    domain = DomainOptions(
        kind=points.domain,
        dimension=len(sizes) if is_cube and sizes is not None else dimension,
        sizes=None if is_cube else sizes,
    )
    law = DistributionOptions(
        probabilities=points.probabilities, uniform=points.probabilities is None
    )
    built = build_data(DataOptions(domain, law))
    assert isinstance(built, ProductDistribution)
    return built
