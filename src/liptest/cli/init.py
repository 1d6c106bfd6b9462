"""``liptest init``: a commented liptest.toml for one mechanism, and what its check would take."""

from __future__ import annotations

import json
import os
import sys
import time
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Group, Parameter

from liptest.cli.config import FileModel, validate
from liptest.cli.data_options import (
    KIND,
    WHOLE,
    DistributionOptions,
    DomainOptions,
    read_numbers,
)
from liptest.cli.loading import load_mechanism, mute_output
from liptest.cli.own_domain import find_options, own_domain
from liptest.cli.paths import check_writable
from liptest.cli.tables import read_column, read_whole_numbers
from liptest.data.distributions import DomainAlone
from liptest.data.product import ProductDistribution
from liptest.errors import InputError, LiptestError, check_count
from liptest.mechanisms.base import Mechanism, through_reads
from liptest.privacy.check import check_with_settings
from liptest.privacy.claims import Claim, parse_epsilon
from liptest.privacy.methods import light, neighbourhoods
from liptest.privacy.proofs.exhaustive import exhaustive_size
from liptest.privacy.request import Task
from liptest.privacy.settings import CheckSettings
from liptest.privacy.verdicts import SOURCES
from liptest.privacy.visits import choose_method
from liptest.report.text import printable
from liptest.verdicts import Decision

_KNOWN = Group("Known already")


def init(
    mechanism: Annotated[str, Parameter(help="file.py:name or package.module:name.")],
    /,
    *,
    epsilon: Annotated[str | None, Parameter(group=_KNOWN, help="The claim: 1, log(3).")] = None,
    delta: Annotated[float | None, Parameter(group=_KNOWN, help="Its delta, in [0, 1).")] = None,
    domain: Annotated[
        Literal["hypercube", "hypergrid", "recordgrid"] | None,
        Parameter(
            group=_KNOWN, help="Bits flipped, counts moved by 1, or records replaced.", **KIND
        ),
    ] = None,
    dimension: Annotated[
        int | None,
        Parameter(
            name=("--records", "--dimension"), group=_KNOWN, help="Number of records.", **WHOLE
        ),
    ] = None,
    values: Annotated[
        int | None,
        Parameter(
            group=_KNOWN, help="Whole numbers that each record takes: 8 means 0 to 7.", **WHOLE
        ),
    ] = None,
    sizes: Annotated[
        str | None, Parameter(group=_KNOWN, help="Values per coordinate: 3,3,2.")
    ] = None,
    probabilities: Annotated[
        str | None, Parameter(group=_KNOWN, help="Chance of a 1: one number, or one per bit.")
    ] = None,
    table: Annotated[
        Path | None, Parameter(group=_KNOWN, help="Public CSV file to fit a distribution on.")
    ] = None,
    column: Annotated[
        str | None, Parameter(group=_KNOWN, help="Column of the table that holds 0, 1, ..")
    ] = None,
    group: Annotated[
        str | None, Parameter(group=_KNOWN, help="Column of groups, each with a rate of its own.")
    ] = None,
    output: Annotated[Path, Parameter(help="File to write.")] = Path("liptest.toml"),
    force: Annotated[bool, Parameter(help="Replace the file if it exists.", negative="")] = False,
) -> int:
    """Write a liptest.toml for a mechanism.

    Example: liptest init vendor.py:count --epsilon 1 --records 1000
    """

    facts = StatedOptions(
        epsilon=epsilon,
        delta=delta,
        domain=domain,
        dimension=dimension,
        values=values,
        sizes=sizes,
        probabilities=probabilities,
        table=table,
        column=column,
        group=group,
    )
    return run_init(mechanism, facts, output, force=force)


_MARK = "FILL IN"
_KINDS = """\
# hypercube: records of one bit, one of which is flipped. hypergrid: counts, one of which moves
# by 1. recordgrid: records of several values (sizes), one of which is replaced."""
_OTHER_LAWS = """\
# Others: probabilities = 0.1 (of a 1; or a list, one number per record), or fitted on public rows:
# table = "public.csv", column = "click", and if you like group = "item" for one rate per item."""
_DEFAULTS = """\
# exception_mass = 0.001        # a YES by sampling says nothing about datasets of this probability
# failure_probability = 1e-6    # chance of a wrong YES by sampling
# method = "auto"               # a proof where affordable, else sampling; "exhaustive": a proof"""


@dataclass(frozen=True)
class StatedOptions:
    """What the command line said; None where it said nothing."""

    epsilon: str | None = None
    delta: float | None = None
    domain: str | None = None
    dimension: int | None = None
    values: int | None = None
    sizes: str | None = None
    probabilities: str | None = None
    table: Path | None = None
    column: str | None = None
    group: str | None = None


def run_init(where: str, stated: StatedOptions, output: Path, *, force: bool) -> int:
    """Write the file; 0 when it is there, 2 when something is wrong, with one line why."""
    try:
        _check_free(output, where, force)
        text, advice = write_config(where, stated, output.parent)
        with output.open("w" if force else "x", encoding="utf-8") as stream:
            stream.write(text)
    except LiptestError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: --output {output}: {error.strerror}", file=sys.stderr)
        return 2
    lines = enumerate(text.splitlines(), start=1)
    missing = [f"  line {n}: {line}" for n, line in lines if f"# {_MARK}" in line]
    print(f"{output} is written for {where}.")
    if missing:
        print("Remove the first # of these lines and put your values:", *missing, sep="\n")
    if advice:
        print(fill(advice, 96))
    config = "" if output == Path("liptest.toml") else f" --config {output}"
    print(f"{'Then' if missing else 'Next'}: liptest check{config}")
    return 0


def write_config(where: str, stated: StatedOptions, folder: Path) -> tuple[str, str]:
    """The text of a liptest.toml that lies in ``folder``, and advice about it or "".

    The text is checked as far as it is complete.

    Raises InputError for arguments that do not fit the mechanism or each other, and what
    loading the mechanism raises.
    """
    with mute_output():
        mechanism, _ = load_mechanism(where)
    stated = _with_own_domain(mechanism, stated)
    kind, dimension, sizes = _domain(mechanism, stated)
    parts = [
        _header(where, mechanism),
        _domain_lines(kind, dimension, sizes, stated),
        _distribution_lines(stated, folder),
        _check_lines(_from_folder(where, folder), stated),
    ]
    text = "\n\n".join(parts) + "\n"
    return text, _try_out(text, mechanism, folder)


def _check_free(output: Path, where: str, force: bool) -> None:
    check_writable(output, "--output")
    if output.exists() and not force:
        raise InputError(
            f"{output}: it exists; add to it [[check]] with mechanism = {_quote(where)}, or give "
            f"--force to replace it, or --output for another name",
            name="output",
        )


def _header(where: str, mechanism: Mechanism) -> str:
    sees = "the whole dataset"
    if mechanism.statistic is not None:
        sees = f"only the statistic {mechanism.statistic.name!r} of the dataset"
    outputs = "found by running it"
    if mechanism.outputs is not None:
        count = len(mechanism.outputs)
        outputs = f"{count:,}, from {mechanism.outputs[0]!r} to {mechanism.outputs[-1]!r}"
    lines = [
        "What `liptest check` tests: a privacy claim, and the datasets it is about.",
        "",
        where,
        f"  sees: {sees}",
        f"  outputs: {outputs}",
        f"  output probabilities: {SOURCES.get(mechanism.source, mechanism.source)}",
        "",
        f'Lines marked {_MARK} start with "#": remove it and put your value.',
    ]
    return "\n".join(f"# {printable(line)}".rstrip() for line in lines)


def _with_own_domain(mechanism: Mechanism, stated: StatedOptions) -> StatedOptions:
    """With the domain of an object of another library, where nothing is said of the data."""
    own = own_domain(mechanism)
    said = None if own is None else find_options(own)
    if (
        said is None
        or replace(stated, epsilon=None, delta=None) != StatedOptions()
        or said.relation
    ):
        return stated
    sizes = None if said.sizes is None else ",".join(map(str, said.sizes))
    return replace(
        stated, domain=said.kind, dimension=said.dimension, values=said.values, sizes=sizes
    )


def _domain(
    mechanism: Mechanism, stated: StatedOptions
) -> tuple[str, int | None, list[int] | None]:
    """Kind, dimension and sizes, as far as arguments, mechanism and table tell."""
    statistic = mechanism.statistic
    name = "" if statistic is None else statistic.name
    dimension = stated.dimension
    if dimension is None and name == "weighted sum":
        dimension = len(statistic.weights)
    if dimension is None and stated.table is not None:
        dimension = len(_values(stated))
    kind = stated.domain
    if kind is None and name == "histogram":
        kind = "hypergrid" if statistic.given == "counts" else "recordgrid"
    if kind is None and stated.values not in (None, 2):
        kind = "recordgrid"
    if kind is None and stated.sizes is not None:
        raise InputError("sizes: say which neighbours, --domain hypergrid or --domain recordgrid")
    sizes = _sizes(stated.sizes)
    if kind == "recordgrid" and sizes is None and dimension is not None and stated.values is None:
        values = _cells(statistic, stated)
        sizes = None if values is None else [values] * check_count("dimension", dimension)
    return kind or "hypercube", dimension, sizes


def _sizes(text: str | None) -> list[Any] | None:
    return None if text is None else read_numbers(text)


def _cells(statistic: Any, stated: StatedOptions) -> int | None:
    if statistic is not None and statistic.name == "histogram":
        return int(statistic.cells)
    return None if stated.table is None else max(2, int(_values(stated).max()) + 1)


def _values(stated: StatedOptions) -> Any:
    assert stated.table is not None
    return read_whole_numbers(read_column(stated.table, stated.column), stated.table)


def _domain_lines(
    kind: str, dimension: int | None, sizes: list[int] | None, stated: StatedOptions
) -> str:
    lines = ["[domain]", _KINDS, f'kind = "{kind}"']
    if kind == "hypercube":
        words = "number of records"
        if dimension is None:
            lines.append(f"# dimension = 1000   # {_MARK}: {words}")
        else:
            if stated.dimension is None and stated.table is not None:
                words += f", here as many as {stated.table.name} has; yours may be other"
            lines.append(f"dimension = {dimension}   # {printable(words)}")
    elif stated.values is not None:
        count = f"dimension = {dimension}   # number of records"
        lines.append(
            f"# dimension = 1000   # {_MARK}: number of records" if dimension is None else count
        )
        lines.append(f"values = {stated.values}   # each record is a whole number below this")
    elif sizes is None:
        lines.append(f"# sizes = [3, 3, 2]   # {_MARK}: values of each coordinate")
    else:
        lines.append(f"sizes = {sizes}   # values of each coordinate")
    return "\n".join(lines)


def _distribution_lines(stated: StatedOptions, folder: Path) -> str:
    lines = [
        "[distribution]",
        "# Of the data, from public sources, never from the table to be protected. A YES by proof",
        "# does not depend on it, a YES by sampling does.",
    ]
    if stated.table is not None:
        lines.append(f"table = {_quote(_from_folder(str(stated.table), folder))}")
        said = {"column": stated.column, "group": stated.group}
        lines += [f"{key} = {_quote(name)}" for key, name in said.items() if name is not None]
    elif stated.probabilities is not None:
        values = [float(value) for value in read_numbers(stated.probabilities)]
        lines.append(f"probabilities = {values if len(values) > 1 else values[0]}")
    else:
        lines.append("uniform = true")
    return "\n".join([*lines, _OTHER_LAWS])


def _check_lines(where: str, stated: StatedOptions) -> str:
    lines = ["[[check]]", f"mechanism = {_quote(where)}"]
    epsilon = parse_epsilon("1" if stated.epsilon is None else stated.epsilon)
    Claim(epsilon, stated.delta or 0.0)
    if stated.epsilon is None:
        lines.append(f'# epsilon = 1.0   # {_MARK}: the claim; an exact one is "log(3)"')
    elif isinstance(epsilon, float):
        lines.append(f"epsilon = {epsilon!r}")
    else:
        lines.append(f'epsilon = "{epsilon!r}"')
    lines.append("# delta = 0.0" if stated.delta is None else f"delta = {stated.delta}")
    return "\n".join([*lines, _DEFAULTS])


def _try_out(text: str, mechanism: Mechanism, folder: Path) -> str:
    """What ``liptest check`` would refuse is refused now; what would be slow is told."""
    data = tomllib.loads(text)
    domain = validate(DomainOptions, data["domain"], "[domain]")
    law = validate(DistributionOptions, data["distribution"], "[distribution]")
    data["check"][0].setdefault("epsilon", 1.0)
    validate(FileModel, data, "liptest.toml")
    if not {"dimension", "sizes"} & set(data["domain"]):
        return ""
    built = law.build(domain.build(), folder)
    if mechanism.statistic is not None:
        mechanism.statistic.check(built.domain)
    with mute_output():
        return warning(mechanism, built)


def _from_folder(where: str, folder: Path) -> str:
    """A file, or ``file.py:name``, as it is called from the folder of the configuration."""
    source, colon, name = where.rpartition(":") if ".py:" in where else (where, "", "")
    if not (colon or Path(where).exists()):
        return where
    return Path(os.path.relpath(source, folder)).as_posix() + colon + name


def _quote(text: str) -> str:
    """A TOML string; JSON strings are TOML strings except for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


# What is faster needs no warning.
_PATIENCE = 60.0
_ADVICE = (
    "If the function needs only the number of ones, let it say so: "
    "@lt.mechanism(statistic=lt.Count()) above def {name}(count, rng); each count is "
    "then computed once. Probabilities given as a formula (lt.ClosedForm, "
    "lt.StatisticMechanism) are faster still."
)


def warning(mechanism: Mechanism, law: ProductDistribution) -> str:
    """Advice where method "auto" takes more than a minute on one worker, or what went wrong.

    Only for laws that are enumerated from code that sees the whole dataset: those of formulas
    and statistics are either quick or shared by most datasets. Runs the mechanism once.
    """
    try:
        told = through_reads(mechanism, law.domain, lambda seen: _warning(seen, law))
        return "" if told and _is_followed(mechanism, law) else told
    except LiptestError as error:
        return f"The first dataset that was tried: {' '.join(str(error).split())}"


def _warning(mechanism: Mechanism, law: ProductDistribution) -> str:
    if not mechanism.source.startswith("enumerated") or mechanism.statistic is not None:
        return ""
    seconds = _time_one_law(mechanism, law)
    method, laws = _plan(mechanism, law)
    if seconds * laws <= _PATIENCE:
        return ""
    return (
        f"Slow: method {method} needs about {laws:,.0f} output distributions, and one took "
        f"{seconds:.2g} s here, so a YES takes about {_in_words(seconds * laws)}. "
        f"{_ADVICE.format(name=mechanism.name)}"
    )


def _is_followed(mechanism: Mechanism, law: ProductDistribution) -> bool:
    """Whether method "alignment", which "auto" tries first, decides, without computing any law."""
    settings = CheckSettings(epsilon=1.0, method="alignment", max_seconds=_PATIENCE / 10)
    try:
        verdict = check_with_settings(mechanism, DomainAlone(law.domain), settings)
    except LiptestError:
        return False
    return verdict.decision is not Decision.INCONCLUSIVE


def _time_one_law(mechanism: Mechanism, law: ProductDistribution) -> float:
    [dataset] = law.sample(np.random.default_rng(0), 1)
    start = time.perf_counter()
    mechanism.law(dataset)
    return time.perf_counter() - start


def _plan(mechanism: Mechanism, law: ProductDistribution) -> tuple[str, float]:
    # The claim plays no part in the choice of a method.
    settings = CheckSettings(epsilon=1.0)
    method = choose_method(Task(mechanism, law, settings, seed=0))
    if method == "exhaustive":
        return method, float(exhaustive_size(mechanism, law.domain).laws)
    build = {"neighbourhoods": neighbourhoods, "light-neighbourhoods": light}[method]
    return method, build(law, settings.exception_mass, settings.failure_probability).plan.laws


def _in_words(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("hours", 3600.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds / 60:.0f} minutes"
