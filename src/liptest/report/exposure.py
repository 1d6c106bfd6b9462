"""What a report shows beyond the verdict, where it is known at little cost.

Output laws of the witness's datasets, the largest loss by record, the exact privacy profile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.distributions import Distribution, ProductDistribution
from liptest.errors import LiptestError
from liptest.mechanisms.base import Mechanism, through_reads
from liptest.mechanisms.laws import Output
from liptest.privacy.count_mass import has_count_mass
from liptest.privacy.exact_mass import mass_source
from liptest.privacy.exhaustive import law_rows
from liptest.privacy.pairs import ClosedFormLosses, shown_loss
from liptest.privacy.profile import privacy_profile
from liptest.privacy.profile_result import PrivacyProfile
from liptest.privacy.witnesses import PrivacyWitness

# Datasets and pairs that are looked at for a picture: a second or two.
_MOST_DATASETS = 1 << 12
_MOST_PAIRS = 1 << 15
_MOST_COUNTS = 64
_MOST_OUTPUTS = 14
_GRID = 60


@dataclass(frozen=True)
class LawRow:
    """An output with its probability on both datasets of a witness."""

    output: Output
    probability: float
    neighbour_probability: float
    decides: bool


@dataclass(frozen=True)
class Laws:
    """The likelier outputs of two laws, those that decide among them, and what is left out."""

    rows: tuple[LawRow, ...]
    left_out: int
    left_out_mass: float


def witness_laws(mechanism: Mechanism | None, witness: PrivacyWitness) -> Laws | None:
    """Both laws of a witness; None where they are unbounded or the mechanism is not at hand."""
    if mechanism is None or isinstance(mechanism, ClosedFormLosses):
        return None
    try:
        left, right = (
            mechanism.law(np.array(side)) for side in (witness.dataset, witness.neighbour)
        )
    except LiptestError:
        return None
    outputs = list(dict.fromkeys((*left.outputs, *right.outputs)))
    masses = {o: (left.get(o, 0.0), right.get(o, 0.0)) for o in outputs}
    event = set(witness.event)
    ranked = sorted(outputs, key=lambda o: (o in event, max(masses[o])), reverse=True)
    chosen = set(ranked[:_MOST_OUTPUTS])
    rows = tuple(LawRow(o, *masses[o], o in event) for o in _ordered(outputs) if o in chosen)
    rest = [masses[o] for o in outputs if o not in chosen]
    return Laws(rows, len(rest), max((max(pair) for pair in rest), default=0.0))


def losses_by_record(mechanism: Mechanism | None, law: Distribution | None) -> list[float] | None:
    """Largest loss over the neighbouring datasets that differ in each record, (d,).

    None where not all datasets were looked at, because there are too many.
    """
    if mechanism is None or law is None or law.domain.size > _MOST_DATASETS:
        return None
    if isinstance(mechanism, ClosedFormLosses):
        return None
    try:
        laws, rows = law_rows(mechanism, law.domain)
    except LiptestError:
        return None
    return [_loss_at(laws, rows, law.domain, axis) for axis in range(law.domain.dimension)]


def exact_profile(
    mechanism: Mechanism | None, law: Distribution | None, claimed: float, delta: float
) -> PrivacyProfile | None:
    """The exact exception mass around the claimed epsilon, where it is cheap; else None."""
    if mechanism is None or law is None:
        return None
    try:
        return through_reads(
            mechanism, law.domain, lambda seen: _profile(seen, law, claimed, delta)
        )
    except LiptestError:
        return None


def _profile(
    mechanism: Mechanism, law: Distribution, claimed: float, delta: float
) -> PrivacyProfile | None:
    if not _is_cheap(mechanism, law):
        return None
    source = mass_source(mechanism, law)
    if source.partial:
        return None  # each pair would have to be decided anew for each epsilon
    losses = source.losses
    finite = losses[losses < 1e6]
    # A level of the curve begins just above each loss.
    top = 1.4 * max(claimed, float(finite.max(initial=0.0)))
    grid = np.linspace(top / _GRID, top, _GRID).tolist()
    return privacy_profile(
        mechanism, law, epsilons=sorted({*grid, claimed}), delta=delta, method="exact"
    )


def _is_cheap(mechanism: Mechanism, law: Distribution) -> bool:
    if has_count_mass(mechanism, law):
        most = _MOST_PAIRS if mechanism.source == "declared" else _MOST_COUNTS
        return law.domain.dimension <= most
    small = law.domain.size <= _MOST_DATASETS and law.domain.neighbouring_pairs <= _MOST_PAIRS
    return small and isinstance(law, ProductDistribution)


def _loss_at(laws: Any, rows: NDArray[np.int32], domain: Any, axis: int) -> float:
    view = rows.reshape(-1, domain.sizes[axis], int(domain.strides[axis]))
    worst = 0.0
    for a, b in domain.value_pairs(axis):
        left, right = (view[:, k, :].reshape(-1).astype(np.int64) for k in (a, b))
        worst = max(worst, float(np.max(laws.losses(left, right), initial=0.0)))
    return shown_loss(worst)


def _ordered(outputs: Sequence[Output]) -> list[Output]:
    if all(isinstance(output, (int, float)) for output in outputs):
        return sorted(outputs)  # type: ignore[type-var]
    return list(outputs)
