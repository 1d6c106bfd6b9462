"""Views: ways to sort outputs into finitely many cells; an event is a set of cells.

A view is fixed on some samples and used on others, so that what is claimed about its cells does
not depend on the samples that chose them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from liptest.blackbox.features import feature, feature_names
from liptest.blackbox.outputs import Outputs
from liptest.errors import InputError, shown
from liptest.mechanisms.laws import Output
from liptest.privacy.witnesses import output_from_json, output_to_json

Codes = NDArray[np.int64]

_ATOMS = 64
_BINS = 32
_LEAST_TAIL = 16
_DEPTH = 6
_LEAST_LEAF = 64


class View(Protocol):
    """Sorts outputs into ``size`` cells."""

    @property
    def size(self) -> int:
        """Number of cells."""
        ...

    def codes(self, outputs: Outputs) -> Codes:
        """(n,) cells, 0 .. size - 1."""
        ...

    def words(self, cells: Sequence[int]) -> str:
        """The event "the output lies in one of these cells", for readers."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; ``view_from_dict`` is the inverse."""
        ...


@dataclass(frozen=True)
class Values:
    """One cell for each listed output, and a last one for all others."""

    outputs: tuple[Output, ...]

    @property
    def size(self) -> int:
        return len(self.outputs) + 1

    @cached_property
    def _position(self) -> dict[Output, int]:
        return {output: k for k, output in enumerate(self.outputs)}

    def codes(self, outputs: Outputs) -> Codes:
        keys, rows = outputs.distinct()
        other = len(self.outputs)
        return np.array([self._position.get(key, other) for key in keys], dtype=np.int64)[rows]

    def words(self, cells: Sequence[int]) -> str:
        if len(self.outputs) in cells:
            rest = [repr(o) for k, o in enumerate(self.outputs) if k not in set(cells)]
            return f"no output of {_listed(rest)}"
        return f"output in {_listed([repr(self.outputs[k]) for k in cells])}"

    def to_dict(self) -> dict[str, Any]:
        return {"view": "values", "outputs": [output_to_json(o) for o in self.outputs]}


@dataclass(frozen=True)
class Bins:
    """Intervals of one feature: some single values, the intervals between edges, and "none".

    Cell k < len(atoms) is the value ``atoms[k]``; the next ones are (-inf, edges[0]),
    [edges[0], edges[1]), ..; the last cell holds the outputs without such a number (NaN).
    """

    feature: str
    edges: tuple[float, ...]
    atoms: tuple[float, ...] = ()

    @property
    def size(self) -> int:
        return len(self.atoms) + len(self.edges) + 2

    def codes(self, outputs: Outputs) -> Codes:
        values = feature(outputs, self.feature)
        codes = len(self.atoms) + np.searchsorted(np.array(self.edges), values, side="right")
        if self.atoms:
            atoms = np.array(self.atoms)
            near = np.minimum(np.searchsorted(atoms, values), len(atoms) - 1)
            codes = np.where(atoms[near] == values, near, codes)
        return np.asarray(np.where(np.isnan(values), self.size - 1, codes))

    def words(self, cells: Sequence[int]) -> str:
        chosen, base = set(cells), len(self.atoms)
        parts = [f"{self.feature} = {atom!r}" for k, atom in enumerate(self.atoms) if k in chosen]
        ends = [-np.inf, *self.edges, np.inf]
        first = None
        for k in range(len(self.edges) + 2):
            inside = k <= len(self.edges) and base + k in chosen
            if inside and first is None:
                first = k
            elif not inside and first is not None:
                parts.append(_interval(self.feature, ends[first], ends[k], bool(self.atoms)))
                first = None
        if self.size - 1 in chosen:
            parts.append(f"no {self.feature}")
        return _listed(parts, " or ", braces=False)

    def to_dict(self) -> dict[str, Any]:
        edges, atoms = ([output_to_json(v) for v in side] for side in (self.edges, self.atoms))
        return {"view": "bins", "feature": self.feature, "edges": edges, "atoms": atoms}


@dataclass(frozen=True)
class Tree:
    """A binary tree of comparisons; the leaves are the cells, numbered in order of ``cells``.

    Node k asks ``feature[k] < threshold[k]`` and goes on to 2k+1 (yes) or 2k+2 (no, or NaN);
    "" marks a leaf.
    """

    features: tuple[str, ...]
    thresholds: tuple[float, ...]

    @property
    def size(self) -> int:
        return len(self._leaves)

    @cached_property
    def _leaves(self) -> list[int]:
        found, open_nodes = [], [0]
        while open_nodes:
            node = open_nodes.pop()
            if node >= len(self.features) or not self.features[node]:
                found.append(node)
            else:
                open_nodes += [2 * node + 2, 2 * node + 1]
        return found

    def codes(self, outputs: Outputs) -> Codes:
        place = {leaf: k for k, leaf in enumerate(self._leaves)}
        codes = np.zeros(len(outputs), dtype=np.int64)
        used = {name: feature(outputs, name) for name in set(self.features) - {""}}
        todo: list[tuple[int, Codes]] = [(0, np.arange(len(outputs)))]
        while todo:
            node, rows = todo.pop()
            if node in place:
                codes[rows] = place[node]
                continue
            below = used[self.features[node]][rows] < self.thresholds[node]
            todo += [(2 * node + 1, rows[below]), (2 * node + 2, rows[~below])]
        return codes

    def words(self, cells: Sequence[int]) -> str:
        return _listed([self._path(self._leaves[k]) for k in cells], " or ", braces=False, most=3)

    def _path(self, node: int) -> str:
        steps = []
        while node:
            parent = (node - 1) // 2
            sign = "<" if node == 2 * parent + 1 else ">="
            steps.append(f"{self.features[parent]} {sign} {self.thresholds[parent]:.6g}")
            node = parent
        return "(" + " and ".join(reversed(steps)) + ")"

    def to_dict(self) -> dict[str, Any]:
        return {"view": "tree", "features": self.features, "thresholds": self.thresholds}


def view_from_dict(data: dict[str, Any]) -> View:
    """Inverse of ``to_dict``; InputError for anything else."""
    kind = data.get("view") if isinstance(data, dict) else None
    if kind == "values":
        return Values(tuple(map(output_from_json, data["outputs"])))
    if kind == "bins":
        edges, atoms = (tuple(map(output_from_json, data[side])) for side in ("edges", "atoms"))
        return Bins(data["feature"], edges, atoms)  # type: ignore[arg-type]
    if kind == "tree":
        return Tree(tuple(data["features"]), tuple(map(float, data["thresholds"])))
    raise InputError(f"event: {shown(data)} was not written by liptest")


def fit_bins(outputs: Outputs, name: str) -> Bins:
    """Intervals of about equal share, finer in both tails, and the values that come back often."""
    values = feature(outputs, name)
    values = np.sort(values[~np.isnan(values)])
    if len(values) == 0:
        return Bins(name, ())
    distinct, counts = np.unique(values, return_counts=True)
    often = distinct[counts >= max(3, len(values) >> 12)]
    if len(often) > _ATOMS:
        often = distinct[np.sort(np.argsort(-counts, kind="stable")[:_ATOMS])]
    shares = np.arange(1, _BINS) / _BINS
    tails = 0.5 ** np.arange(1, max(2, int(np.log2(len(values) / _LEAST_TAIL))))
    places = np.unique(np.concatenate([shares, tails, 1.0 - tails]))
    edges = np.unique(values[(places * (len(values) - 1)).astype(np.int64)])
    atoms = often[np.isfinite(often)]
    return Bins(name, tuple(edges[np.isfinite(edges)].tolist()), tuple(atoms.tolist()))


def fit_tree(left: Outputs, right: Outputs) -> Tree:
    """A tree that tells two samples apart: greedy splits of largest drop in Gini impurity."""
    names = feature_names(left)
    columns: list[Codes] = []
    edges: list[NDArray[np.float64]] = []
    for name in names:
        both = np.concatenate([feature(left, name), feature(right, name)])
        finite = both[np.isfinite(both)]
        shares = np.arange(1, _BINS) / _BINS if len(finite) else np.zeros(0)
        edges.append(np.unique(np.quantile(finite, shares)) if len(finite) else shares)
        codes = np.searchsorted(edges[-1], both, side="right")
        columns.append(np.where(np.isnan(both), len(edges[-1]), codes))
    side = np.concatenate([np.zeros(len(left), dtype=bool), np.ones(len(right), dtype=bool)])
    nodes = 2**_DEPTH - 1
    features, thresholds = [""] * nodes, [0.0] * nodes
    todo: list[tuple[int, Codes]] = [(0, np.arange(len(side)))]
    while todo:
        node, rows = todo.pop()
        split = _best_split(columns, edges, side, rows) if node < nodes else None
        if split is None:
            continue
        which, cut = split
        features[node], thresholds[node] = names[which], float(edges[which][cut])
        below = columns[which][rows] <= cut
        todo += [(2 * node + 1, rows[below]), (2 * node + 2, rows[~below])]
    return Tree(tuple(features), tuple(thresholds))


def _best_split(
    columns: list[Codes], edges: list[NDArray[np.float64]], side: NDArray[np.bool_], rows: Codes
) -> tuple[int, int] | None:
    total, right = len(rows), int(side[rows].sum())
    best, found = 1e-9, None
    if total < 2 * _LEAST_LEAF:
        return None
    for which, (column, cuts) in enumerate(zip(columns, edges, strict=True)):
        if len(cuts) == 0:
            continue
        codes = column[rows]
        every = np.cumsum(np.bincount(codes, minlength=len(cuts) + 1))[: len(cuts)]
        ones = np.cumsum(np.bincount(codes[side[rows]], minlength=len(cuts) + 1))[: len(cuts)]
        rest = total - every
        fits = (every >= _LEAST_LEAF) & (rest >= _LEAST_LEAF)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = ones**2 / every + (right - ones) ** 2 / rest - right**2 / total
        gain = np.where(fits, gain, 0.0)
        if gain.max() > best:
            best, found = float(gain.max()), (which, int(gain.argmax()))
    return found


def _listed(parts: list[str], between: str = ", ", *, braces: bool = True, most: int = 6) -> str:
    text = between.join(parts[:most])
    if len(parts) > most:
        text += f"{between}.. ({len(parts)} in all)"
    return f"{{{text}}}" if braces else text


def _interval(name: str, low: float, high: float, has_atoms: bool) -> str:
    other = " (other than the values listed)" if has_atoms else ""
    if low == -np.inf:
        return f"{name} < {high:.6g}{other}" if high < np.inf else f"any {name}{other}"
    if high == np.inf:
        return f"{name} >= {low:.6g}{other}"
    return f"{low:.6g} <= {name} < {high:.6g}{other}"
