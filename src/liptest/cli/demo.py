"""``liptest demo clicks``: three vendors, one distribution fitted to real clicks, one gate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from liptest.cli.loading import load_mechanism
from liptest.cli.tables import read_column, read_whole_numbers
from liptest.data.domains import Hypercube
from liptest.data.product import ProductDistribution
from liptest.gate.gate import PrivacyGate, Released
from liptest.privacy.check import check_privacy
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.report.text import Screen
from liptest.runs.driver import Progress
from liptest.verdicts import Decision

FOLDER = Path(__file__).parents[1] / "examples" / "clicks"
TABLE = FOLDER / "open_bandit_clicks.csv"
PUBLIC, PRIVATE = "0:5000", "5000:10000"
EPSILON = 1.0
# The sampled verdicts are reproducible; the gate draws its own seed from the operating system.
SEED = 20120918
Print = Callable[[str], None]
Show = Callable[[PrivacyVerdict], None]


@dataclass(frozen=True)
class Expected:
    """A check of the demo and the answer it must get."""

    vendor: str
    method: str
    decision: Decision


CHECKS = (
    Expected("vendor_a", "auto", Decision.YES),
    Expected("vendor_b", "neighbourhoods", Decision.NO),
    Expected("vendor_c", "neighbourhoods", Decision.YES),
    Expected("vendor_c", "exhaustive", Decision.NO),
)
_INTRODUCTION = """\
A platform holds 5,000 ad impressions (Open Bandit Dataset, rows 5000-9999) and wants to know how
many were clicked. Three vendors send code and claim epsilon = 1. The claims are tested on tables
drawn from a distribution fitted on the public rows 0-4999: one click rate per item, {expected:.1f}
clicks expected. The private table is not touched before a YES."""
_DIFFERENCE = """\
Vendor C gets both answers, and both are right. Its bug sits on tables with more than 50 clicks,
to which the fitted distribution gives a total probability of {mass:.2g}. Sampling promises nothing
about so rare a set, and says so; the exhaustive method visits every count and finds it. Where a
proof is affordable a gate should rest on the proof: with method="auto" it does."""


def public_distribution() -> ProductDistribution:
    """Per-item click rates of the public rows, shrunk towards the overall rate."""
    clicks = read_whole_numbers(read_column(TABLE, "click", PUBLIC), TABLE)
    items = [read_column(TABLE, "item", rows).astype(str) for rows in (PUBLIC, PRIVATE)]
    return ProductDistribution.fit(
        clicks,
        domain=Hypercube(len(items[1])),
        groups=items[0],
        record_groups=items[1],
        shrinkage=10.0,
        source="the distribution fitted on public rows 0-4999",
    )


def private_clicks() -> NDArray[np.int64]:
    """The private table: the clicks of rows 5000-9999."""
    return read_whole_numbers(read_column(TABLE, "click", PRIVATE), TABLE, private=True)


def run_clicks(
    print_line: Print,
    show: Show,
    *,
    checks: tuple[Expected, ...] = CHECKS,
    progress: Progress | None = None,
) -> bool:
    """Run the demo; True when every outcome is the expected one."""
    distribution = public_distribution()
    expected = float(distribution.probabilities.sum())
    print_line(_INTRODUCTION.format(expected=expected))
    verdicts = [_check(check, distribution, show, progress) for check in checks]
    masses = [v.exception_mass_found for v in verdicts if v.exception_mass_found is not None]
    print_line(_DIFFERENCE.format(mass=min(masses, default=0.0)))
    print_line("The gate: each vendor asks for one release on the private table.")
    released = [_gate(vendor, distribution, print_line) for vendor in ("a", "b", "c")]
    as_expected = [v.decision is c.decision for v, c in zip(verdicts, checks, strict=True)]
    good = all(as_expected) and released == [True, False, False]
    print_line(
        "Every outcome is the expected one (only the released number differs from run to run)."
        if good
        else "NOT every outcome is the expected one."
    )
    return good


def _check(
    one: Expected, distribution: ProductDistribution, show: Show, progress: Progress | None
) -> PrivacyVerdict:
    mechanism, label = load_mechanism(f"{FOLDER / one.vendor}.py:count")
    verdict = check_privacy(
        mechanism,
        distribution,
        epsilon=EPSILON,
        method=one.method,
        search_laws=0,  # to show what sampling alone can say
        seed=SEED,
        progress=progress,
    )
    verdict = replace(verdict, mechanism=label)
    show(verdict)
    return verdict


def _gate(vendor: str, distribution: ProductDistribution, print_line: Print) -> bool:
    mechanism, label = load_mechanism(f"{FOLDER / f'vendor_{vendor}'}.py:count")
    method = "neighbourhoods" if vendor == "b" else "exhaustive"
    gate = PrivacyGate(mechanism, distribution, epsilon=EPSILON, method=method)
    if gate.certificate.decision is not Decision.YES:
        print_line(f"  {label}: REFUSED - the private table was not read")
        return False
    answer = gate.release(private_clicks())
    assert isinstance(answer, Released)
    print_line(
        f"  {label}: RELEASED {answer.output} clicks (noisy, one draw; "
        f"{gate.certificate.release_guarantee})"
    )
    return True


def demo(name: Literal["clicks"] = "clicks", /) -> int:
    """Test three vendors' click counts, and release one.

    Example: liptest demo clicks
    """
    screen = Screen()
    with screen.progress(name) as progress:
        good = run_clicks(screen.paragraph, screen.verdict, progress=progress)
    return 0 if good else 1
