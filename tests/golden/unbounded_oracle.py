"""The catalogue's mechanisms with real or whole numbers without bound, as tables of cells.

Nothing of liptest is used. Densities are written by hand from the published algorithms; a cell of
width 1/256 holds three Gauss-Legendre nodes, and every place where a density changes its formula
is the end of a cell. Independent numbers of one output are convolved as losses on a fine grid.
"""

from __future__ import annotations

import importlib
import math
from itertools import product
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tests.golden.catalogue_cases import catalogue
from tests.golden.independent import Noise, above_or_below
from tests.golden.notion_oracle import divergence

Floats = NDArray[np.float64]

CELLS_A_UNIT, REACH = 256, 72
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)
_UNIT, _UNIT_WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2
_QUANTILE = NormalDist().inv_cdf
#: Epsilon is 1: scales of the noise of each number, by which the answers' moves are divided.
ADDITIVE = {
    "noisy hist 1": (1.0, "each"),
    "noisy hist 1, geometric noise": (1.0, "each"),
    "noisy hist 2": (0.5, "each"),
    "partial sum": (1.0, "sum"),
    "bad partial sum": (0.5, "sum"),
    "bad partial sum, geometric noise": (0.5, "sum"),
    "prefix sum": (1.0, "each"),
    "smart sum": (1.0, "blocks"),
}
COMPARED = ("svt3", "noisy max 3", "numerical svt")
GAPS = ("gap svt", "gap noisy max")
WHOLE = ("svt3, geometric noise", "noisy max 3, geometric noise")


def moves(name: str, relation: str) -> list[float]:
    """How far each noisy number moves at most, in scales of its noise."""
    scale, kind = ADDITIVE[name]
    everything = relation == "all"
    if kind == "each":
        shifts = [1] * (5 if everything else 1)
    elif kind == "sum":
        shifts = [5 if everything else 1]
    else:  # the first of a block, and the sum of the block of two
        shifts = [1, 2, 1, 2] if everything else [1, 1]
    return [shift / scale for shift in shifts]


class Grid:
    """Cells of equal width with three nodes each."""

    def __init__(self, low: float, high: float, cells_a_unit: int = CELLS_A_UNIT) -> None:
        self.width = 1 / cells_a_unit
        self.edges = np.arange(round((high - low) * cells_a_unit)) * self.width + low
        self.points = self.edges[:, None] + self.width * _UNIT
        self.weights = np.broadcast_to(self.width * _UNIT_WEIGHTS, self.points.shape)


def laplace(t: Floats, scale: float) -> Floats:
    return np.asarray(np.exp(-np.abs(t) / scale) / (2 * scale))


def svt3(answers: tuple[int, ...], grid: Grid) -> list[Floats]:
    """Densities of the number that is shown, by its place; then the chance of none."""
    noise, found = Noise("laplace", 2), []
    below = lambda z: np.exp(-np.abs(z) / 2) / 4  # noqa: E731
    hidden = lambda z, n: below(z) * math.prod(noise.below(z - a) for a in answers[:n])  # noqa: E731
    for n, answer in enumerate(answers):
        cells = np.sum(hidden(grid.points, n) * grid.weights, axis=1)
        sums = np.concatenate([[0.0], np.cumsum(cells)[:-1]])
        # From the edge of a cell to each of its nodes.
        inside = np.stack(
            [
                np.sum(
                    hidden(grid.edges[:, None] + grid.width * u * _UNIT, n)
                    * (grid.width * u * _UNIT_WEIGHTS),
                    axis=1,
                )
                for u in _UNIT
            ],
            axis=1,
        )
        found.append((sums[:, None] + inside) * laplace(grid.points - answer, 2))
    return found


def numerical_svt(answers: tuple[int, ...], grid: Grid) -> list[Floats]:
    outputs = [(0,) * k + (1,) for k in range(len(answers))]
    weights = above_or_below(
        np.array([answers]), outputs, Noise("laplace", 3), Noise("laplace", 6)
    )[0]
    return [w * laplace(grid.points - a, 3) for w, a in zip(weights, answers, strict=True)]


def noisy_maximum(answers: tuple[int, ...], grid: Grid) -> list[Floats]:
    noise, found = Noise("laplace", 2), np.zeros(grid.points.shape)
    for k, answer in enumerate(answers):
        others = (noise.below(grid.points - a) for j, a in enumerate(answers) if j != k)
        found += laplace(grid.points - answer, 2) * math.prod(others)
    return [found]


DENSITIES = {"svt3": svt3, "numerical svt": numerical_svt, "noisy max 3": noisy_maximum}


_INNER, _INNER_WEIGHTS = np.polynomial.legendre.leggauss(8)
# Of the parabola through the three nodes of a cell of width 1: its integrals over 64 parts.
_POWERS = np.arange(1, 4)
_PARTS = np.diff(np.linspace(0, 1, 65)[:, None] ** _POWERS / _POWERS, axis=0)
_PART_WEIGHTS = _PARTS @ np.linalg.inv(_UNIT[:, None] ** (_POWERS - 1))


def gap_rows(name: str, answers: tuple[int, ...], grid: Grid, *, by_cell: bool) -> Floats:
    """Masses of all gaps of the grid, by place; of "gap svt" also that no answer is above.

    With ``by_cell`` those of 64 parts of each cell. The density of a gap is an integral over the
    threshold, or over the second largest answer.
    """
    count, is_svt = len(answers), name == "gap svt"
    scale, reach = (4, 80) if is_svt else (2, 56)
    noise = Noise("laplace", scale)
    parts = []
    for place, answer in enumerate(answers):
        others = answers[:place] if is_svt else (*answers[:place], *answers[place + 1 :])
        density = np.zeros(grid.points.shape)
        for low in range(-reach, reach):
            # Where the density of the answer has its kink; all other kinks are whole numbers.
            kink = np.clip(answer - grid.points, low, low + 1)
            for start, end in ((low, kink), (kink, low + 1)):
                half, middle = (end - start) / 2, (end + start) / 2
                for node, weight in zip(_INNER, _INNER_WEIGHTS, strict=True):
                    z = middle + half * node
                    below = [noise.below(z - one) for one in others]
                    own = math.prod(below, start=np.ones(z.shape))
                    if is_svt:
                        own = own * laplace(z, 2)
                    else:  # one of the others is the second, at z
                        seconds = zip(others, below, strict=True)
                        own = own * sum(laplace(z - one, 2) / chance for one, chance in seconds)
                    density += weight * half * own * laplace(grid.points + z - answer, scale)
        parts.append(density @ _PART_WEIGHTS.T * grid.width if by_cell else density * grid.weights)
    found = np.concatenate([part.ravel() for part in parts])
    if not is_svt:
        return found
    nothing = np.zeros((1, count), dtype=int)
    chance = above_or_below(
        np.array([answers]), [tuple(nothing[0].tolist())], Noise("laplace", 2), noise
    )
    return np.append(found, float(chance[0, 0]))


def row(name: str, answers: tuple[int, ...], grid: Grid, *, by_cell: bool = False) -> Floats:
    """Masses of nodes, or of whole cells, and of the output that shows nothing, as one row."""
    parts = [density * grid.weights for density in DENSITIES[name](answers, grid)]
    if by_cell:
        parts = [part.sum(axis=1) for part in parts]
    found = np.concatenate([part.ravel() for part in parts])
    rest = 1 - found.sum()
    return found if name == "noisy max 3" else np.append(found, _none(name, answers, rest))


def _none(name: str, answers: tuple[int, ...], rest: float) -> float:
    """The chance that no answer is above: by quadrature, as 1 minus the rest has few digits."""
    scales = (2, 2) if name == "svt3" else (3, 6)
    rho, nu = (Noise("laplace", scale) for scale in scales)
    outputs = [(0,) * len(answers)]
    chance = float(above_or_below(np.array([answers]), outputs, rho, nu)[0, 0])
    assert abs(chance - rest) < 1e-7
    return chance


def whole_row(name: str, answers: tuple[int, ...]) -> Floats:
    """Chances of all whole numbers of a window, by place, with two-sided geometric noise."""
    noise, window = Noise("geometric", 2), np.arange(-120, 123)
    q = math.exp(-1 / 2)
    mass = lambda k: (1 - q) / (1 + q) * q ** np.abs(k)  # noqa: E731
    if name.startswith("noisy max"):
        upto = lambda v: math.prod(noise.below(v + 1 - a) for a in answers)  # noqa: E731
        one = lambda v: np.asarray(upto(v))  # noqa: E731
        # P(max <= v) - P(max < v), without cancellation where all are far below.
        parts = []
        for k, answer in enumerate(answers):
            first = math.prod(noise.below(window - a) for a in answers[:k])
            later = math.prod(noise.below(window + 1 - a) for a in answers[k + 1 :])
            parts.append(mass(window - answer) * first * later)
        assert np.abs(sum(parts)[100:140] - (one(window) - one(window - 1))[100:140]).max() < 1e-13
        return np.asarray(sum(parts))
    found = []
    for n, answer in enumerate(answers):
        hidden = mass(window) * math.prod(noise.below(window - a) for a in answers[:n])
        found.append(np.cumsum(hidden) * mass(window - answer))
    z = np.arange(-400, 401)
    none = np.sum(mass(z) * math.prod(noise.below(z - a) for a in answers))
    return np.append(np.concatenate(found), none)


_POINTS = np.linspace(-34.0, 0.0, 20_001)
_LOGS = np.array([math.log(math.erfc(-z / math.sqrt(2)) / 2) for z in _POINTS])


def mu_of_rows(p: Floats, q: Floats) -> float:
    """The best test, as ``notion_oracle.largest_mu``, of rows that are long.

    All tests are looked at with quantiles from a table, the best of these with exact ones.
    """
    order = np.argsort(-np.log(p / q), kind="stable")
    sums = [np.cumsum(side[order])[:-1] for side in (p, q)]
    rests = [np.cumsum(side[order][::-1])[::-1][1:] for side in (p, q)]
    near = [_near_quantiles(s, r) for s, r in zip(sums, rests, strict=True)]
    best = np.argsort(near[1] - near[0], kind="stable")[:200]

    def value(k: int) -> float:
        ends = [(float(s[k]), float(r[k])) for s, r in zip(sums, rests, strict=True)]
        if min(min(pair) for pair in ends) < 1e-250:
            return 0.0
        a, b = (_QUANTILE(s) if s <= r else -_QUANTILE(r) for s, r in ends)
        return a - b

    return max(map(value, best.tolist()), default=0.0)


def _near_quantiles(below: Floats, above: Floats) -> Floats:
    """Normal quantiles to some digits, from a table of the logarithm of the lower tail."""
    low, high = (np.log(np.maximum(side, 1e-250)) for side in (below, above))
    near_low, near_high = (np.interp(side, _LOGS, _POINTS) for side in (low, high))
    return np.where(below <= above, near_low, -near_high)


def laplace_rho(shifts: list[float]) -> float:
    """Closed form of D_a (Mironov 2017, proposition 6); sums over independent numbers."""

    def quotient(a: float) -> float:
        total = 0.0
        for s in shifts:
            if a == 1:
                total += s + math.expm1(-s)
            else:
                near, far = a / (2 * a - 1), (a - 1) / (2 * a - 1)
                total += math.log(near * math.exp((a - 1) * s) + far * math.exp(-a * s)) / (a - 1)
        return total / a

    return max(quotient(1 + k / 64) for k in range(2000))


def geometric_rho(shifts: list[float]) -> float:
    """Sums over the outputs of each number; the largest quotient is in the limit of order 1."""
    pairs = [geometric_rows(shift) for shift in shifts]
    return max(sum(float(divergence(p, q, a)) for p, q in pairs) / a for a in (1.0, 1.01, 2.0, 8.0))


def geometric_rows(shift: float) -> tuple[Floats, Floats]:
    """Noise of scale 1 / 2 or 1 that moves by whole numbers: ``shift`` is in scales."""
    scale = 1.0 if shift == 1 else 0.5
    k = np.arange(-200, 211)
    mass = lambda at: np.exp(-np.abs(k - at) / scale)  # noqa: E731
    p, q = mass(0), mass(round(shift * scale))
    return p / p.sum(), q / q.sum()


def laplace_losses(shift: float, step: float) -> Floats:
    """Loss of Laplace noise that moves by ``shift``: masses at multiples of the step, the mean
    kept; from -shift to shift."""
    count = round(shift / step)
    # t from 0 to shift has the loss shift - 2 t and the density e^-t / 2.
    ends = np.linspace(0, shift, 2 * count + 1)
    t = ends[:-1, None] + np.diff(ends)[:, None] * _UNIT
    weights = np.exp(-t) / 2 * (np.diff(ends)[:, None] * _UNIT_WEIGHTS)
    places = (shift - 2 * t) / step + count
    cells = np.floor(places).astype(int)
    share = places - cells
    found = np.bincount(cells.ravel(), (weights * (1 - share)).ravel(), 2 * count + 2)
    found[1:] += np.bincount(cells.ravel(), (weights * share).ravel(), 2 * count + 2)[:-1]
    found = found[: 2 * count + 1]
    found[-1] += 0.5
    found[0] += math.exp(-shift) / 2
    return found


def laplace_mu(shifts: list[float], step: float = 2.0**-12) -> float:
    """Losses of independent numbers added up on a grid."""
    total = np.ones(1)
    for shift in shifts:
        total = np.convolve(total, laplace_losses(shift, step))
    losses = (np.arange(len(total)) - (len(total) - 1) / 2) * step
    kept = total > 1e-300
    return mu_of_rows(total[kept], total[kept] * np.exp(-losses[kept]))


def geometric_mu(shifts: list[float]) -> float:
    """All outputs of independent numbers by their ratios."""
    pairs = [geometric_rows(shift) for shift in shifts]
    atoms = []
    for p, q in pairs:
        ratios = np.round(np.log(p / q), 9)
        atoms.append([(p[ratios == r].sum(), q[ratios == r].sum()) for r in np.unique(ratios)])
    rows = [(math.prod(a for a, _ in s), math.prod(b for _, b in s)) for s in product(*atoms)]
    merged: dict[float, list[float]] = {}
    for a, b in rows:
        known = merged.setdefault(round(math.log(a / b), 7), [0.0, 0.0])
        known[0] += a
        known[1] += b
    p, q = np.array(list(merged.values())).T
    return mu_of_rows(p, q)


def gaussian_mu(sigma: float) -> float:
    """Discrete Gaussian noise and the same moved by 1: the best of all half-lines."""
    k = np.arange(-30, 32)
    mass = np.exp(-(k**2) / (2 * sigma**2))
    mass /= mass.sum()
    p, q = np.append(mass, 0.0), np.append(0.0, mass)
    return mu_of_rows(q[1:-1], p[1:-1])


def opendp_rows(scale: int) -> tuple[Floats, Floats]:
    """The law that OpenDP 0.14.1 drew from, around 0 and around 1."""
    port = importlib.import_module(f"{catalogue().__name__}.opendp_laplace")
    weight = port.sizes_law(scale)
    k = np.arange(-300, 302)
    p, q = (np.array([weight(int(abs(j - at))) for j in k]) for at in (0, 1))
    return p / p.sum(), q / q.sum()
