"""Batches of sampled outputs, whatever they are: numbers, vectors, texts, exceptions.

A batch keeps one exact key for each output (for events on finite outputs) and a matrix of
numbers (for events on large or continuous outputs). Equal outputs have equal keys; 0.0 and -0.0,
1 and 1.0, and all NaNs are one output each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from liptest.errors import InputError, MechanismError, quote
from liptest.mechanisms.laws import Output
from liptest.privacy.witnesses import outputs_schema
from liptest.verdicts import Json, Number, Record, Text

# Numbers by which outputs are told apart: coordinates, sums, extremes, places, differences.


FloatArray = NDArray[np.float64]
# Wider vectors are not compared coordinate by coordinate, or at all beyond the second number.
_MOST_COMPARED = 6
_MOST_SINGLE = 32


def feature_names(outputs: Outputs, *, low_bits: bool = False) -> list[str]:
    """The features that may tell such outputs apart; ``low_bits``: of floats as such, too."""
    width = outputs.numbers.shape[1]
    names = [f"x[{i}]" for i in range(min(width, _MOST_SINGLE))]
    if low_bits and outputs.has_fractions:
        names += [f"low bit of {name}" for name in names]
    if not outputs.is_numeric:
        names.append("length")
    if width > 1:
        names += ["sum", "max", "min", "argmax", "argmin", "nonzeros"]
    if 1 < width <= _MOST_COMPARED:
        names += [f"x[{i}]-x[{j}]" for i in range(width) for j in range(i)]
    return names


def feature(outputs: Outputs, name: str) -> FloatArray:
    """(n,) values of a feature; NaN where an output has none."""
    if name == "length":
        return outputs.lengths
    numbers = outputs.numbers
    if name.startswith(_LOW_BIT):
        return low_bits(feature(outputs, name.removeprefix(_LOW_BIT)))
    if not name.startswith("x["):
        return np.asarray(_WHOLE[name](numbers), dtype=np.float64)
    parts = [_column(numbers, int(part.strip("x[]"))) for part in name.split("-")]
    with np.errstate(invalid="ignore"):
        return parts[0] if len(parts) == 1 else parts[0] - parts[1]


_LOW_BIT = "low bit of "


def low_bits(values: FloatArray) -> FloatArray:
    """(n,) exponents k of the largest powers 2^k that divide the values; NaN for 0 and no numbers.

    A program that adds its noise to x in floats returns multiples of the grid at x, which is finer
    where x is smaller: sequential, B5.
    """
    with np.errstate(invalid="ignore"):
        mantissas, exponents = np.frexp(values)
        scaled = np.where(np.isfinite(values), np.abs(mantissas) * 2.0**53, 0.0).astype(np.int64)
    # The lowest bit that is set, as a float: a power of two.
    lowest = np.frexp((scaled & -scaled).astype(np.float64))[1] - 1
    return np.where(scaled == 0, np.nan, (lowest + exponents - 53).astype(np.float64))


def _column(numbers: FloatArray, place: int) -> FloatArray:
    if place >= numbers.shape[1]:
        return np.full(len(numbers), np.nan)
    return numbers[:, place]


def _sum(numbers: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.where(np.isnan(numbers), 0.0, numbers).sum(axis=1))


def _low(numbers: FloatArray) -> FloatArray:
    return np.where(np.isnan(numbers), -np.inf, numbers)


def _high(numbers: FloatArray) -> FloatArray:
    return np.where(np.isnan(numbers), np.inf, numbers)


def _nonzeros(numbers: FloatArray) -> Any:
    return (np.nan_to_num(numbers) != 0).sum(axis=1)


_WHOLE: dict[str, Callable[[FloatArray], Any]] = {
    "sum": _sum,
    "max": lambda numbers: _low(numbers).max(axis=1),
    "min": lambda numbers: _high(numbers).min(axis=1),
    "argmax": lambda numbers: _low(numbers).argmax(axis=1),
    "argmin": lambda numbers: _high(numbers).argmin(axis=1),
    "nonzeros": _nonzeros,
}
# Views: ways to sort outputs into finitely many cells; an event is a set of cells.
#
# A view is fixed on some samples and used on others, so that what is claimed about its cells does
# not depend on the samples that chose them.


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
class Values(Record):
    """One cell for each listed output, and a last one for all others."""

    view: ClassVar[str] = "values"
    derived: ClassVar[Mapping[str, Any]] = {"view": Text}

    outputs: Annotated[tuple[Output, ...], Json(outputs_schema)]

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
            return f"no output of {_list(rest)}"
        return f"output in {_list([repr(self.outputs[k]) for k in cells])}"


@dataclass(frozen=True)
class Bins(Record):
    """Intervals of one feature: some single values, the intervals between edges, and "none".

    Cell k < len(atoms) is the value ``atoms[k]``; the next ones are (-inf, edges[0]),
    [edges[0], edges[1]), ..; the last cell holds the outputs without such a number (NaN).
    """

    view: ClassVar[str] = "bins"
    derived: ClassVar[Mapping[str, Any]] = {"view": Text}

    feature: Text
    edges: tuple[Number, ...]
    atoms: tuple[Number, ...] = ()

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
        return _list(parts, " or ", braces=False)


@dataclass(frozen=True)
class CellTree(Record):
    """A binary tree of comparisons; the leaves are the cells, numbered in order of ``cells``.

    Node k asks ``feature[k] < threshold[k]`` and goes on to 2k+1 (yes) or 2k+2 (no, or NaN);
    "" marks a leaf.
    """

    view: ClassVar[str] = "tree"
    derived: ClassVar[Mapping[str, Any]] = {"view": Text}

    features: tuple[Text, ...]
    thresholds: tuple[Number, ...]

    @property
    def size(self) -> int:
        return len(self._leaves)

    @cached_property
    def _leaves(self) -> list[int]:
        leaves, open_nodes = [], [0]
        while open_nodes:
            node = open_nodes.pop()
            if node >= len(self.features) or not self.features[node]:
                leaves.append(node)
            else:
                open_nodes += [2 * node + 2, 2 * node + 1]
        return leaves

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
        return _list([self._path(self._leaves[k]) for k in cells], " or ", braces=False, most=3)

    def _path(self, node: int) -> str:
        steps = []
        while node:
            parent = (node - 1) // 2
            sign = "<" if node == 2 * parent + 1 else ">="
            steps.append(f"{self.features[parent]} {sign} {self.thresholds[parent]:.6g}")
            node = parent
        return "(" + " and ".join(reversed(steps)) + ")"


def view_from_dict(data: dict[str, Any]) -> View:
    """Inverse of ``to_dict``; InputError for anything else."""
    kind = _VIEWS.get(str(data.get("view")))
    if kind is None:
        raise InputError(f"event: {quote(data)} was not written by liptest")
    view: View = kind.from_dict(data)
    return view


_VIEWS: dict[str, Any] = {kind.view: kind for kind in (Values, Bins, CellTree)}


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


def fit_tree(left: Outputs, right: Outputs) -> CellTree:
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
    return CellTree(tuple(features), tuple(thresholds))


def _best_split(
    columns: list[Codes], edges: list[NDArray[np.float64]], side: NDArray[np.bool_], rows: Codes
) -> tuple[int, int] | None:
    total, right = len(rows), int(side[rows].sum())
    best, split = 1e-9, None
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
            best, split = float(gain.max()), (which, int(gain.argmax()))
    return split


def _list(parts: list[str], between: str = ", ", *, braces: bool = True, most: int = 6) -> str:
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


# Longer vectors are looked at through their first coordinates; keys keep all of them.
_MOST_COORDINATES = 64
_NAN = ("nan",)


class Outputs:
    """n outputs of one dataset.

    Parameters
    ----------
    array
        (n,) or (n, k) numbers, or (n,) objects, each hashable or a list or array.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def part(self, first: int, last: int) -> Outputs:
        """The outputs ``first .. last - 1``."""
        return Outputs(self.array[first:last])

    @property
    def is_numeric(self) -> bool:
        """Whether every output is a number or a vector of one length."""
        return self.array.dtype.kind in "biuf"

    @property
    def has_fractions(self) -> bool:
        """Whether any number is not whole."""
        finite = self.numbers[np.isfinite(self.numbers)]
        return bool((finite != np.rint(finite)).any())

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """(n, k) floats, NaN where an output has no such number."""
        if self.is_numeric:
            return self.array.reshape(len(self), -1)[:, :_MOST_COORDINATES].astype(np.float64)
        rows = [_numbers(output) for output in self.array]
        width = max(1, min(_MOST_COORDINATES, max(map(len, rows), default=1)))
        table = np.full((len(rows), width), np.nan)
        for row, numbers in zip(table, rows, strict=True):
            row[: len(numbers)] = numbers[:width]
        return table

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """(n,) how many numbers each output has, -1 if it is not a number; 0 for a lone number."""
        if self.is_numeric:
            length = 0 if self.array.ndim == 1 else self.array.shape[1]
            return np.full(len(self), float(length))
        return np.array([_length(output) for output in self.array], dtype=np.float64)

    def distinct(self) -> tuple[list[Output], NDArray[np.int64]]:
        """Keys of the distinct outputs, and which of them each output is."""
        if not self.is_numeric:
            return _distinct_keys(canonical_key(output) for output in self.array)
        array = self.array + 0.0 if self.array.dtype.kind == "f" else self.array
        if array.ndim == 1:
            values, rows = np.unique(array, return_inverse=True)
            return [canonical_key(value) for value in values.tolist()], rows.reshape(-1)
        return _distinct_rows(np.ascontiguousarray(array))


def _distinct_rows(array: NDArray[Any]) -> tuple[list[Output], NDArray[np.int64]]:
    if array.shape[1] == 0:
        return [()], np.zeros(len(array), dtype=np.int64)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array)
    whole = np.ascontiguousarray(array)
    packed = whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).reshape(-1)
    _, first, rows = np.unique(packed, return_index=True, return_inverse=True)
    return [canonical_key(tuple(row)) for row in array[first].tolist()], rows.reshape(-1)


def _distinct_keys(keys: Iterable[Output]) -> tuple[list[Output], NDArray[np.int64]]:
    places: dict[Output, int] = {}
    rows = [places.setdefault(key, len(places)) for key in keys]
    return list(places), np.array(rows, dtype=np.int64)


def canonical_key(output: Any) -> Output:
    """A hashable key, equal for equal outputs: lists and arrays become tuples."""
    if isinstance(output, (np.ndarray, np.generic)):
        output = output.tolist()
    if isinstance(output, (list, tuple)):
        return tuple(canonical_key(item) for item in output)
    if isinstance(output, float) and math.isnan(output):
        return _NAN
    if isinstance(output, Hashable):
        return output
    raise MechanismError(
        f"an output, {quote(output)}, is not hashable; return numbers, texts, tuples or arrays"
    )


def as_outputs(drawn: Any, count: int, who: str) -> Outputs:
    """Check what a sampler returned for ``count`` draws; MechanismError when it is not that."""
    array = drawn if isinstance(drawn, np.ndarray) else _list_outputs(drawn, who)
    if array.dtype.kind not in "biuf" and not (array.dtype.kind == "O" and array.ndim == 1):
        array = _objects(list(array))
    if array.ndim == 0 or len(array) != count:
        raise MechanismError(
            f"{who}: {count} outputs were requested, got shape {array.shape}; a vectorised sampler "
            f"(dataset, n, rng) returns n outputs, along the first axis"
        )
    return Outputs(array.reshape(count, -1) if array.ndim > 2 else array)


def _list_outputs(drawn: Any, who: str) -> NDArray[Any]:
    if isinstance(drawn, (str, bytes)) or not isinstance(drawn, Sequence):
        raise MechanismError(
            f"{who}: a vectorised sampler returned {quote(drawn)}; return an array or list of n "
            f"outputs, or pass vectorised=False for a function (dataset, rng) -> one output"
        )
    return collect_outputs(list(drawn))


def collect_outputs(outputs: list[Any]) -> NDArray[Any]:
    """Single outputs as one array: of numbers where all are of one kind, else of objects."""
    shapes = {_shape(output) for output in outputs}
    if len(shapes) == 1 and None not in shapes:
        array = np.array(outputs)
        # Whole numbers beyond 64 bits would turn into floats or objects.
        if array.dtype.kind in "bi" or all(_has_floats(output) for output in outputs):
            return array
    return _objects(outputs)


def _has_floats(output: Any) -> bool:
    if isinstance(output, (list, tuple)):
        return all(_has_floats(item) for item in output)
    return isinstance(output, (float, np.floating)) or (
        isinstance(output, np.ndarray) and output.dtype.kind == "f"
    )


def _objects(outputs: list[Any]) -> NDArray[Any]:
    array = np.empty(len(outputs), dtype=object)
    for k, output in enumerate(outputs):
        array[k] = output
    return array


def _shape(output: Any) -> tuple[int, ...] | None:
    """() for a number, (k,) for k of them, None for anything else."""
    if _is_number(output):
        return ()
    if isinstance(output, np.ndarray):
        return output.shape if output.dtype.kind in "biuf" and output.ndim == 1 else None
    if isinstance(output, (list, tuple)) and all(map(_is_number, output)):
        return (len(output),)
    return None


def _is_number(output: Any) -> bool:
    return isinstance(output, (bool, int, float, np.bool_, np.integer, np.floating))


def _numbers(output: Any) -> list[float]:
    shape = _shape(output)
    if shape is None:
        return []
    return [_as_float(item) for item in ([output] if shape == () else output)]


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _length(output: Any) -> float:
    shape = _shape(output)
    return -1.0 if shape is None else float(sum(shape))
