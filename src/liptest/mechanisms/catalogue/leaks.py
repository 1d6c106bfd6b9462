"""Wrong mechanisms whose fault shows rarely, or on one dataset only (Hypercube(d))."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from liptest.domains import Hypercube, IntArray
from liptest.errors import InputError, check_count, check_open_unit, check_positive, shown
from liptest.mechanisms.catalogue.geometric import truncated_logs
from liptest.mechanisms.closed_form import ClosedForm
from liptest.mechanisms.laws import FloatArray

#: The output of ``leak`` that says nothing.
WITHHELD = "withheld"


@dataclass(frozen=True)
class _Leak:
    probability: float
    record: int

    def __call__(self, datasets: IntArray) -> FloatArray:
        logs = np.full((len(datasets), 3), -np.inf)
        logs[:, 0] = math.log1p(-self.probability)
        logs[np.arange(len(datasets)), 1 + datasets[:, self.record]] = math.log(self.probability)
        return logs


@dataclass(frozen=True)
class _Needle:
    epsilon: float
    dataset: tuple[int, ...]
    most: int

    def __call__(self, datasets: IntArray) -> FloatArray:
        counts = datasets.sum(axis=1, dtype=np.int64)
        logs = truncated_logs(counts, 0, self.most, self.most, self.epsilon)
        found = np.flatnonzero((datasets == np.asarray(self.dataset)).all(axis=1))
        logs[found] = -np.inf
        logs[found, np.minimum(counts[found], self.most)] = 0.0
        return logs


def leak(d: int, probability: float, *, record: int = 0) -> ClosedForm:
    """Wrong: shows the bit of one record with a small probability, else "withheld".

    Flip one bit: epsilon infinite; exactly (0, probability)-DP. The bad pairs are those that
    differ in that record. InputError unless 0 < probability < 1 and 0 <= record < d.
    """
    share = check_open_unit("probability", probability)
    if check_count("record", record, least=0) >= check_count("d", d):
        raise InputError(f"record={record} must be below d={d}", name="record", value=record)
    law = _Leak(share, record)
    name = f"leak(d={d}, probability={share:g})"
    return ClosedForm((WITHHELD, 0, 1), law, exact_zeros=True, name=name)


def needle(d: int, dataset: ArrayLike, epsilon: float, *, outputs: int | None = None) -> ClosedForm:
    """Wrong on one dataset: there the count is shown without noise.

    Elsewhere it is ``truncated_geometric_count(d, epsilon, outputs=outputs)``. Flip one bit:
    epsilon infinite, exactly epsilon on all pairs without the needle, so the exact exception
    mass is the lesser of the needle's mass and that of its neighbours.
    """
    epsilon = check_positive("epsilon", epsilon)
    most = check_count("d", d) if outputs is None else check_count("outputs", outputs, least=2) - 1
    points = Hypercube(d).check_points(dataset)
    if len(points) != 1:
        raise InputError(
            f"dataset={shown(dataset)} must be one dataset of {d} bits", name="dataset"
        )
    law = _Needle(epsilon, tuple(points[0].tolist()), most)
    name = f"needle(d={d}, epsilon={epsilon:g})"
    return ClosedForm(range(most + 1), law, exact_zeros=True, name=name)
