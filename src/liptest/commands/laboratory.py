"""What the commands of the laboratory do; imported only when one of them runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.commands.jobs import muted
from liptest.commands.laboratory_input import load_function, read_law
from liptest.commands.workers import pool
from liptest.data.distributions import ProductDistribution
from liptest.data.domains import Hypercube
from liptest.errors import BudgetError, FunctionError, InputError, LiptestError, shown
from liptest.lipschitz.check import check_lipschitz
from liptest.lipschitz.covers import ExactTable
from liptest.lipschitz.distance import Distance, distance_to_lipschitz, violated_edges
from liptest.lipschitz.plans import plan_table, with_step
from liptest.lipschitz.repair import Table, exact_table, mcshane, repair
from liptest.lipschitz.testers import ALL_TESTERS
from liptest.lipschitz.testers.base import LipschitzTester
from liptest.lipschitz.testers.diameter import DiameterTester
from liptest.privacy.plans import privacy_plan_table
from liptest.report.text import Screen, plan_text, privacy_plan_text
from liptest.verdicts import Decision

Options = dict[str, Any]


_BROKEN_TIES = ", which moves {} edges over the line by a unit in the last place"


_CODES = {Decision.ACCEPT: 0, Decision.REJECT: 1, Decision.INCONCLUSIVE: 3}


def run_lipschitz(options: Options) -> int:
    """``liptest lipschitz``: 0 ACCEPT, 1 REJECT, 3 INCONCLUSIVE."""
    return _guarded(lambda screen: _lipschitz(screen, options))


def run_distance(options: Options) -> int:
    """``liptest distance``: the exact distance, or bounds."""
    return _guarded(lambda screen: _distance(screen, options))


def run_repair(options: Options) -> int:
    """``liptest repair``: a table of floats."""
    return _guarded(lambda screen: _repair(screen, options))


def run_plan(options: Options) -> int:
    """``liptest plan``: one or two tables."""
    return _guarded(lambda screen: _plan(screen, options))


def run_paper(share: float, path: Path | None) -> int:
    """``liptest paper``: 0 when every row is as documented, else 1."""
    return _guarded(lambda screen: _paper(screen, share, path))


def _guarded(action: Callable[[Screen], int]) -> int:
    screen = Screen()
    try:
        return action(screen)
    except LiptestError as error:
        return screen.error(error, _code_of(error))


def _code_of(error: LiptestError) -> int:
    if isinstance(error, FunctionError):
        return 4
    return 3 if isinstance(error, BudgetError) else 2


def _lipschitz(screen: Screen, options: Options) -> int:
    function, label = load_function(options["function"])
    law = read_law(options, function)
    tester = _tester(options, law)
    with pool(options["workers"]) as executor, screen.progress(label) as progress, muted():
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
    return _CODES[verdict.decision]


def _tester(options: Options, law: ProductDistribution) -> LipschitzTester | str:
    name, step = options["tester"], options["range_step"]
    known: dict[str, LipschitzTester] = {tester.name: tester for tester in ALL_TESTERS}
    stepped = [n for n, tester in known.items() if isinstance(tester, DiameterTester)]
    if name != "auto" and name not in known:
        raise InputError(
            f"tester={shown(name)} is no tester; use auto, {', '.join(known)}", name="tester"
        )
    if step is not None and name not in stepped:
        raise InputError(
            f"range_step={step:g}: tester={name} rounds no values; leave --range-step out, or "
            f"use --tester {', '.join(stepped)}",
            name="range_step",
        )
    if name == "auto":
        return "auto"
    if step is not None:
        return type(known[name])(range_step=step)  # type: ignore[call-arg]
    reason = known[name].not_applicable(law)
    return known[name] if reason else with_step(known[name], law, options["proximity"])[0]


def _distance(screen: Screen, options: Options) -> int:
    function, label = load_function(options["function"])
    law = read_law(options, function)
    with muted():
        found = distance_to_lipschitz(
            function,
            law,
            lipschitz_constant=options["lipschitz_constant"],
            tolerance=options["tolerance"],
        )
    lines = [f"{label}   on {law.domain}, {law.source}", str(found)]
    if found.value is not None:
        lines.append(f"exactly {found.value}" if len(str(found.value)) <= 60 else "")
    if found.violated_pairs is not None:
        lines.append(f"{found.violated_pairs:,} violated pairs of points")
    lines.append(
        f"Off {len(found.cover):,} of {law.domain.size:,} points the function is "
        f"{options['lipschitz_constant']:g}-Lipschitz (tolerance {options['tolerance']:g})."
    )
    screen.paragraph("\n".join(line for line in lines if line))
    _write(options["json"], found.to_dict())
    return 0


def _repair(screen: Screen, options: Options) -> int:
    function, label = load_function(options["function"])
    law = read_law(options, function)
    path: Path = options["output"]
    if path.suffix != ".npy":
        raise InputError(f"output={str(path)!r} must end in .npy", name="output")
    with muted():
        before = exact_table(function, law.domain)
        found = distance_to_lipschitz(before, law)
        after = _repaired(before, law, options, found)
    floats = after.astype(np.float64)
    _save(path, floats)
    broken = len(violated_edges(ExactTable.of(floats, law.domain, Fraction(1))))
    changed = np.flatnonzero((before != after).reshape(-1))
    mass = sum(map(law.exact_mass, law.domain.points(changed)), Fraction(0))
    screen.paragraph(
        f"{label}   on {law.domain}, {law.source}\n"
        f"Changed {len(changed):,} of {law.domain.size:,} points, total probability "
        f"{float(mass):.6g}. No repair changes less than the {found}.\n"
        f"Written to {path}: the table of a 1-Lipschitz function, each value rounded to the "
        f"nearest float{_BROKEN_TIES.format(broken) if broken else ''}."
    )
    return 0


def _save(path: Path, table: NDArray[np.float64]) -> None:
    try:
        np.save(path, table)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", name="output") from None


def _repaired(table: Table, law: ProductDistribution, options: Options, found: Distance) -> Table:
    if options["least"]:
        return mcshane(table, law.domain, found.cover)
    if not isinstance(law.domain, Hypercube):
        raise InputError(
            f"domain={options['domain']}: the paper's operators work on the cube; add --least, "
            f"which works on any domain",
            name="domain",
        )
    return repair(table, law, range_step=options["range_step"], symmetric=options["symmetric"])


def _plan(screen: Screen, options: Options) -> int:
    law = read_law(options, None)
    failure = options["failure_probability"]
    testers = plan_table(
        law,
        proximity=options["proximity"],
        failure_probability=failure,
        range_step=options["range_step"],
    )
    screen.paragraph(
        f"Lipschitz testing on {law.domain}, {law.source}; proximity {options['proximity']:g}, "
        f"failure_probability {failure:g}\n\n{plan_text(testers)}"
    )
    answer = {"testers": [row.to_dict() for row in testers]}
    if options["outputs"] is not None:
        claim = {key: options[key] for key in ("epsilon", "exception_mass")}
        methods = privacy_plan_table(law, options["outputs"], failure_probability=failure, **claim)
        screen.paragraph(
            f"Testing epsilon {options['epsilon']} of a mechanism with {options['outputs']} "
            f"outputs; exception_mass {options['exception_mass']:g}, failure_probability "
            f"{failure:g}\n\n{privacy_plan_text(methods)}"
        )
        answer["methods"] = [row.to_dict() for row in methods]
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
