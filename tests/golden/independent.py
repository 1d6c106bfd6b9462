"""Laws of the catalogue's mechanisms by other means: sums, Gauss-Legendre quadrature.

Nothing of liptest is used. An expectation over a noise becomes a weighted sum over nodes: whole
numbers for geometric noise (cut where the tail is below 1e-40), Gauss-Legendre nodes between the
places where the integrand changes its formula for Laplace and exponential noise. On the unbounded
pieces u = exp(-t / L) makes the integrand a polynomial in u, of which 64 nodes integrate degrees up
to 127 exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_UNIT, _UNIT_WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2


@dataclass(frozen=True)
class Noise:
    """``kind`` laplace, exponential or geometric (two-sided, P(k) ~ exp(-|k| / scale)), or none."""

    kind: str
    scale: float

    def at_least(self, t: Floats) -> Floats:
        """P(noise >= t)."""
        if self.kind == "none":
            return (t <= 0).astype(float)
        if self.kind == "exponential":
            return np.exp(-np.maximum(t, 0) / self.scale)
        if self.kind == "geometric":
            q = math.exp(-1 / self.scale)
            low = 1 - q ** (1 - np.minimum(t, 1)) / (1 + q)
            return np.where(t > 0, q ** np.maximum(t, 0) / (1 + q), low)
        return np.where(
            t > 0,
            np.exp(-np.maximum(t, 0) / self.scale) / 2,
            1 - np.exp(np.minimum(t, 0) / self.scale) / 2,
        )

    def below(self, t: Floats) -> Floats:
        """P(noise < t), without cancellation in the lower tail."""
        if self.kind in ("none", "exponential"):
            flat = self.kind == "none"
            return 1 - self.at_least(t) if flat else -np.expm1(-np.maximum(t, 0) / self.scale)
        if self.kind == "geometric":
            return self.at_least(1 - t)
        return self.at_least(-t)

    def nodes(self, breaks: Iterable[float], widest: float) -> tuple[Floats, Floats]:
        """Nodes and weights of an expectation of what has its breaks at ``breaks``."""
        if self.kind == "geometric":
            k = np.arange(-400, 401)
            q = math.exp(-1 / self.scale)
            return k.astype(float), (1 - q) / (1 + q) * q ** np.abs(k)
        points = sorted({0.0, *breaks})
        two_sided = self.kind == "laplace"
        if not two_sided:
            points = [p for p in points if p >= 0]
        factor = 1 / (2 * self.scale) if two_sided else 1 / self.scale
        found, weights = [], []
        for a, b in pairwise(points):
            z = a + (b - a) * _UNIT
            found.append(z)
            weights.append((b - a) * _UNIT_WEIGHTS * factor * np.exp(-np.abs(z) / self.scale))
        wide = max(widest, self.scale)
        t = -wide * np.log(_UNIT)
        tail = wide / _UNIT * _UNIT_WEIGHTS * factor
        ends = [(points[-1], 1)] + ([(points[0], -1)] if two_sided else [])
        for end, direction in ends:
            z = end + direction * t
            found.append(z)
            weights.append(tail * np.exp(-np.abs(z) / self.scale))
        return np.concatenate(found), np.concatenate(weights)


def grid(m: int, values: int = 3) -> NDArray[np.int64]:
    """All vectors of m answers, (values^m, m)."""
    return np.array(list(product(range(values), repeat=m)))


def stopping_outputs(m: int, c: int) -> list[tuple[int, ...]]:
    """What a sparse vector mechanism that stops after c answers above may say."""
    every = [o for n in range(1, m + 1) for o in product((0, 1), repeat=n)]
    return [o for o in every if (sum(o) == c and o[-1]) or (len(o) == m and sum(o) < c)]


def above_or_below(
    points: NDArray[np.int64],
    outputs: list[tuple[int, ...]],
    rho: Noise,
    nu: Noise,
    threshold: float = 0.0,
) -> Floats:
    """Chances of the outputs with one noisy threshold; (points, outputs)."""
    breaks = {float(v) - threshold for v in np.unique(points)}
    z, weights = rho.nodes(breaks, nu.scale)
    values = np.unique(points)
    level = threshold + z
    high = {int(v): nu.at_least(level - v) for v in values}
    low = {int(v): nu.below(level - v) for v in values}
    known: dict[Any, Floats] = {(): weights}

    def weight(point: tuple[int, ...], output: tuple[int, ...]) -> Floats:
        key = (point, output)
        if not output:
            return weights
        if key not in known:
            last = (high if output[-1] else low)[point[-1]]
            known[key] = weight(point[:-1], output[:-1]) * last
        return known[key]

    found = np.empty((len(points), len(outputs)))
    for i, point in enumerate(points.tolist()):
        for k, output in enumerate(outputs):
            found[i, k] = weight(tuple(point[: len(output)]), output).sum()
    return found


def with_fresh_thresholds(
    points: NDArray[np.int64], outputs: list[tuple[int, ...]], rho: Noise, nu: Noise
) -> Floats:
    """As ``above_or_below`` with a new threshold after each 1 (threshold 0)."""
    found = np.ones((len(points), len(outputs)))
    for k, output in enumerate(outputs):
        start = 0
        for stop in range(1, len(output) + 1):
            if output[stop - 1] or stop == len(output):
                part = [output[start:stop]]
                found[:, k] *= above_or_below(points[:, start:stop], part, rho, nu)[:, 0]
                start = stop
    return found


def largest_place(points: NDArray[np.int64], noise: Noise) -> Floats:
    """Chances that each place has the largest noisy answer, the first of equals; (points, m)."""
    m = points.shape[1]
    found = np.empty(points.shape)
    for row, point in enumerate(points.tolist()):
        for i in range(m):
            z, weights = noise.nodes({float(v - point[i]) for v in point}, noise.scale)
            for j in range(m):
                if j != i:
                    # An equal one wins when it comes first: only whole numbers can be equal.
                    late = 1.0 if noise.kind == "geometric" and j > i else 0.0
                    weights = weights * noise.below(z + point[i] - point[j] + late)
            found[row, i] = weights.sum()
    return found


def neighbours(points: NDArray[np.int64], relation: str) -> NDArray[np.bool_]:
    """Which pairs of points are neighbours; (n, n)."""
    moves = np.abs(points[:, None].astype(np.int8) - points[None].astype(np.int8))
    if relation == "all":
        return np.asarray(moves.max(axis=2) == 1)
    return np.asarray(moves.sum(axis=2) == 1)


def losses(chances: Floats) -> Floats:
    """|ln p - ln q| of each pair of rows, inf for a one-sided 0; (n, n, outputs)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(chances)
        apart = np.abs(logs[:, None] - logs[None])
    return np.nan_to_num(apart, nan=0.0, posinf=np.inf)


def largest_loss(chances: Floats, points: NDArray[np.int64], relation: str) -> float:
    """Exact epsilon by brute force."""
    return float(losses(chances)[neighbours(points, relation)].max())
