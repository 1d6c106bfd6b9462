"""Who is exposed: the largest loss over neighbouring datasets that differ in one record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.domains import Domain
from liptest.mechanisms.base import ComparableLaws, Mechanism, through_reads
from liptest.mechanisms.laws import INFINITE_LOSS
from liptest.mechanisms.shift import ShiftMechanism
from liptest.privacy.exact_mass import is_partial
from liptest.privacy.exhaustive import law_rows
from liptest.privacy.pairs import ClosedFormLosses, shown_loss
from liptest.report.missing import Missing
from liptest.statistics.coordinates import Coordinates
from liptest.statistics.protocol import Count
from liptest.statistics.weighted_sum import WeightedSum

#: Datasets that are looked at for a picture: a second or two.
MOST_DATASETS = 1 << 12
#: How exactly a loss must be known, at least, to be shown.
CLOSE = 1e-6
# Records that get a row each; more are taken together where their losses are equal.
_MOST_ROWS = 20
# More records than this are not drawn one by one where all are alike.
_FEW = 5
_MOST_LEVELS = 1 << 15
_SLICE = 1 << 9
# Probabilities in one table of laws: 256 MiB.
_MOST_NUMBERS = 1 << 25
# Ways that the random choices of code fall out, over all counts.
_MOST_LEAVES = 1 << 18


@dataclass(frozen=True)
class ExposureRow:
    """Records of one largest loss; ``records`` are the first of them, ``count`` how many."""

    loss: float
    records: tuple[int, ...]
    count: int
    is_rest: bool = False

    def label(self, noun: str = "record") -> str:
        """``record 3``, or how many they are."""
        if self.is_rest:
            return f"{self.count:,} others, at most"
        return f"{noun} {self.records[0]}" if self.count == 1 else f"{self.count:,} {noun}s"


def losses_by_record(mechanism: Mechanism, domain: Domain) -> NDArray[np.float64]:
    """Largest loss over all neighbouring datasets that differ in each record; (d,), inf allowed.

    Exact up to errors of ``CLOSE`` at most (theory 3.7, 3.8). Raises Missing where
    that is too dear or not known, and what the mechanism raises.
    """
    return through_reads(mechanism, domain, lambda seen: _losses(seen, domain))


def exposure_rows(losses: Sequence[float]) -> list[ExposureRow]:
    """One row per record; of many records one per loss, largest first, equal ones together."""
    alike = len(losses) > _FEW and len({f"{loss:.6g}" for loss in losses}) == 1
    if len(losses) <= _MOST_ROWS and not alike:
        return [ExposureRow(loss, (record,), 1) for record, loss in enumerate(losses)]
    groups: dict[str, list[int]] = {}
    for record, loss in enumerate(losses):
        groups.setdefault(f"{loss:.6g}", []).append(record)
    ranked = sorted(groups.values(), key=lambda some: -losses[some[0]])
    rows = [ExposureRow(losses[some[0]], tuple(some[:6]), len(some)) for some in ranked]
    if len(rows) <= _MOST_ROWS:
        return rows
    rest = rows[_MOST_ROWS - 1 :]
    joined = ExposureRow(rest[0].loss, rest[0].records, sum(r.count for r in rest), is_rest=True)
    return [*rows[: _MOST_ROWS - 1], joined]


def can_visit_levels(mechanism: Mechanism, domain: Domain) -> bool:
    """Whether all counts of a mechanism that sees only a count are visited for a picture."""
    levels = domain.dimension + 1
    if isinstance(mechanism, ClosedFormLosses):
        return levels <= _MOST_LEVELS
    law = mechanism.law(np.zeros(domain.dimension, dtype=domain.dtype))
    if mechanism.source != "declared":
        # Code that was only seen to read a count is run on whole datasets.
        size = domain.dimension // 64 if getattr(mechanism, "reads_only", False) else 0
        if levels * (law.leaves or len(law)) * (1 + size) > _MOST_LEAVES:
            return False
    # Code may have as many further outputs as there are counts.
    outputs = len(law) if mechanism.outputs is not None else levels + len(law)
    return levels * outputs <= _MOST_NUMBERS


def _losses(mechanism: Mechanism, domain: Domain) -> NDArray[np.float64]:
    statistic = mechanism.statistic
    if isinstance(statistic, Count):
        return _of_count(mechanism, domain)
    if isinstance(statistic, Coordinates):
        return _of_coordinates(mechanism, statistic, domain)
    if isinstance(mechanism, ShiftMechanism) and isinstance(statistic, WeightedSum):
        return _of_weights(mechanism, statistic, domain)
    if not domain.one_at_a_time:
        raise Missing("one record may move every answer, so that no answer is exposed alone")
    if isinstance(mechanism, ClosedFormLosses):
        raise Missing("its outputs are unbounded")
    if domain.size > MOST_DATASETS:
        size = f"{domain.size:,}" if domain.size < 10**12 else "too many"
        raise Missing(f"{size} datasets would have to be visited, at most {MOST_DATASETS:,} are")
    laws, rows = law_rows(mechanism, domain)
    return _by_axis(laws, rows.astype(np.int64), domain)


def _of_count(mechanism: Any, domain: Domain) -> NDArray[np.float64]:
    # Each record can be flipped at each count, so all are exposed alike.
    if not can_visit_levels(mechanism, domain):
        raise Missing(f"enumerating the code for {domain.dimension + 1:,} counts is too dear here")
    levels = np.arange(domain.dimension + 1)
    laws = mechanism.laws_of(levels)
    rows = laws.distinct(levels)
    return np.full(domain.dimension, _largest(laws, rows[:-1], rows[1:]))


def _of_coordinates(mechanism: Any, statistic: Coordinates, domain: Domain) -> NDArray[np.float64]:
    # A record that is not read changes nothing.
    inner = statistic.inner(domain)
    if inner.size > MOST_DATASETS:
        raise Missing(f"the records that are read take {inner.size:,} values")
    values = inner.points(np.arange(inner.size)).astype(np.int64)
    laws = mechanism.laws_of(values)
    found = np.zeros(domain.dimension)
    found[list(statistic.chosen)] = _by_axis(laws, laws.distinct(np.arange(inner.size)), inner)
    return found


def _of_weights(
    mechanism: ShiftMechanism, statistic: WeightedSum, domain: Domain
) -> NDArray[np.float64]:
    # A change of record r by t moves the sum by t times its weight, whatever the others are.
    statistic.check(domain)
    known = {
        size: np.abs(np.diff(domain.value_pairs(domain.sizes.index(size)), axis=1)).ravel()
        for size in set(domain.sizes)
    }
    found = np.zeros(domain.dimension)
    for record, size in enumerate(domain.sizes):
        steps = np.unique(known[size]) * abs(int(statistic.weights[record]))
        if len(steps):
            laws = mechanism.laws_of(np.concatenate([[0], steps]))
            at = np.arange(1, len(steps) + 1)
            found[record] = _largest(laws, np.zeros_like(at), at)
    return found


def _by_axis(laws: ComparableLaws, rows: NDArray[np.int64], domain: Domain) -> NDArray[np.float64]:
    found = np.zeros(domain.dimension)
    for axis in range(domain.dimension):
        view = rows.reshape(-1, domain.sizes[axis], int(domain.strides[axis]))
        for a, b in domain.value_pairs(axis):
            left, right = (view[:, k, :].reshape(-1) for k in (a, b))
            found[axis] = max(found[axis], _largest(laws, left, right))
    return found


def _largest(laws: ComparableLaws, left: NDArray[np.int64], right: NDArray[np.int64]) -> float:
    if is_partial(laws):
        raise Missing("the budget for one law leaves some of its probability unexplored")
    largest, error, open_zeros = 0.0, 0.0, False
    for start in range(0, len(left), _SLICE):
        pairs = left[start : start + _SLICE], right[start : start + _SLICE]
        largest = max(largest, float(np.max(laws.losses(*pairs), initial=0.0)))
        error = max(error, float(np.max(laws.screen_error(*pairs), initial=0.0)))
        open_zeros = open_zeros or bool(np.any(laws.has_uncertain_zeros(*pairs)))
    if open_zeros or (largest >= INFINITE_LOSS and not getattr(laws, "zeros_exact", True)):
        raise Missing("probabilities of 0 were not declared exact")
    if error > CLOSE * max(1.0, largest):
        raise Missing(f"the probabilities are known only up to errors of {error:.2g} in their logs")
    return shown_loss(largest)
