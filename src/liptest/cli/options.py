"""Options that commands share: each is declared once, with its help."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from liptest.cli.claim_options import CLAIM, Curve, Mu, Renyi, Rho
from liptest.cli.data_options import NOTHING, WHOLE, DataOptions

RUN = Group("Running")
OUT = Group("What is kept")

Mechanism = Annotated[str | None, Parameter(help="file.py:name or package.module:name.")]
Epsilon = Annotated[str | None, Parameter(group=CLAIM, help="Number above 0, or log(3).")]
Delta = Annotated[float, Parameter(group=CLAIM, help="In [0, 1).")]
Mass = Annotated[
    float,
    Parameter(group=CLAIM, help="Probability of datasets that a sampled YES leaves out."),
]
Failure = Annotated[float, Parameter(group=CLAIM, help="Chance of a wrong YES.")]
Method = Annotated[
    str,
    Parameter(
        group=CLAIM,
        help="auto, alignment, per-record, refutation, exhaustive, neighbourhoods, "
        "light-neighbourhoods, edges, group, search, or a tester.",
    ),
]
Statistic = Annotated[
    str | None,
    Parameter(
        group=CLAIM,
        help="All that the function gets: Count, Histogram(4), OrderStatistic(3).",
    ),
]
Config = Annotated[
    Path | None,
    Parameter(group=RUN, help="Default: liptest.toml here, or [tool.liptest] in pyproject.toml."),
]
Budget = Annotated[
    int | None, Parameter(group=RUN, help="Output distributions to compute at most.", **WHOLE)
]
SearchLaws = Annotated[
    int | None,
    Parameter(
        group=RUN,
        help="The same for the search after a YES by sampling; 0: no search.",
        **WHOLE,
    ),
]
Floats = Annotated[
    str,
    Parameter(
        group=CLAIM,
        help="What decides: ideal noise, or implemented, NumPy's floats. both: ideal noise; "
        "floats are a second line.",
    ),
]
Seed = Annotated[
    int | None,
    Parameter(group=RUN, help="Seed of all draws; default: a new one.", **WHOLE),
]
Json = Annotated[Path | None, Parameter(group=OUT, name="--json", help="Write certificates.")]
Html = Annotated[Path | None, Parameter(group=OUT, name="--html", help="Write a report.")]
Junit = Annotated[Path | None, Parameter(group=OUT, name="--junit", help="Write JUnit XML.")]
Sarif = Annotated[Path | None, Parameter(group=OUT, name="--sarif", help="Write SARIF 2.1.0.")]
LedgerFile = Annotated[
    Path | None,
    Parameter(group=OUT, name="--ledger", help="Note attempts and releases here."),
]
Vendor = Annotated[
    str | None,
    Parameter(group=OUT, help="Vendor's name in the ledger; default: the mechanism."),
]
Checkpoint = Annotated[
    Path | None,
    Parameter(group=RUN, help="Save progress in this file until the last answer."),
]
Resume = Annotated[bool, Parameter(group=RUN, help="Continue from --checkpoint.", negative="")]
Workers = Annotated[
    int, Parameter(group=RUN, help="Processes; results do not depend on it.", **WHOLE)
]


MaxSeconds = Annotated[float | None, Parameter(group=RUN, help="End each check after this time.")]


@Parameter(name="*")
@dataclass(frozen=True)
class Options:
    """What ``check`` and ``release`` share."""

    epsilon: Epsilon = None
    delta: Delta = 0.0
    rho: Rho = None
    renyi: Renyi = None
    mu: Mu = None
    curve: Curve = None
    exception_mass: Mass = 1e-3
    failure_probability: Failure = 1e-6
    method: Method = "auto"
    statistic: Statistic = None
    data: DataOptions = NOTHING
    config: Config = None
    budget: Budget = None
    search_laws: SearchLaws = None
    floats: Floats = "both"
    seed: Seed = None
    max_seconds: MaxSeconds = None
    json: Json = None
    html: Html = None
    junit: Junit = None
    sarif: Sarif = None
    ledger: LedgerFile = None
    vendor: Vendor = None
    workers: Workers = 1


#: Where nothing is said.
DEFAULTS = Options()
