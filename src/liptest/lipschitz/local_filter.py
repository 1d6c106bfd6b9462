"""A local filter: any function, made Lipschitz point by point, without a test (theory 3.13).

After the local filters of Jha and Raskhodnikova (JR11): the value at a point depends on the
function and the point only, never on what was asked before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.distributions import Distribution, check_distribution, require_product
from liptest.data.domains import Hypergrid
from liptest.data.points import from_array
from liptest.errors import BudgetError, check_count, check_positive
from liptest.lipschitz.oracles import SLICE_BYTES, as_oracle
from liptest.lipschitz.testers.search_trees import search_tree

#: Every float is a whole multiple of 1 / _UNIT, so the filter computes with Python ints.
_UNIT = 1 << 1074
#: Points that the value at one point may depend on.
MAX_REFERENCES = 2**16
_LITTLE = 1e-9


def reference_chains(mass: NDArray[np.float64], *, ordered: bool) -> list[list[int]]:
    """For each value i of a coordinate the values A(i) that its filter refers to, i last.

    Values that differ by one replaced record refer to all heavier ones. ``ordered`` values
    refer to their ancestors in a search tree: any two have a common one between them.
    """
    if not ordered:
        ranks = np.argsort(-mass, kind="stable").tolist()
        return [ranks[: ranks.index(value) + 1] for value in range(len(mass))]
    # A little mass for all, or the values without any would hang in one long chain.
    tree = search_tree(mass + _LITTLE / len(mass))
    chains: list[list[int]] = [[] for _ in mass]
    for value in np.argsort(tree.depths).tolist():
        parent = int(tree.parents[value])
        chains[value] = [*(chains[parent] if parent >= 0 else ()), value]
    return chains


class LocalFilter:
    """The filtered function g: Lipschitz for EVERY function f, and equal to f if f is Lipschitz.

    N(x) is the product of the chains A_r(x_r) (``reference_chains``), and g(x) is f(x) clipped
    to what g at the other points of N(x) allows. Of these only the points that differ from x
    in one coordinate matter: from any other one a shortest path to x runs through one of them
    inside N(x), where g is Lipschitz.

    An instance is a function of batches, (n, d) points -> (n,) floats, each the float nearest
    to the exact value; ``exact`` gives that value. Values are kept, so that no point is asked
    twice; ``queries`` counts the points at which f was asked.

    Parameters
    ----------
    function
        f, as for ``check_lipschitz``.
    distribution
        A product law. It decides the chains: typical points have short ones, and for x drawn
        from it E|N(x)| = product of (1 + expected depth). The guarantee holds for any law.
    lipschitz_constant
        c: |g(x) - g(y)| <= c d(x, y), exactly.
    max_references
        Largest |N(x)|, which is exponential in d in the worst case.

    Raises
    ------
    InputError
        A wrong argument.
    """

    def __init__(
        self,
        function: Any,
        distribution: Distribution,
        *,
        lipschitz_constant: float = 1.0,
        max_references: int = MAX_REFERENCES,
    ) -> None:
        self.distribution = require_product(check_distribution(distribution), "LocalFilter")
        self.domain = self.distribution.domain
        self.max_references = check_count("max_references", max_references)
        self.queries = 0
        self._constant = _whole(check_positive("lipschitz_constant", lipschitz_constant))
        self._oracle = as_oracle(function, self.domain)
        self._chains: dict[int, list[list[int]]] = {}
        self._known: dict[tuple[tuple[int, int], ...], int] = {}
        self.__name__ = f"filtered {self._oracle.name}"

    def __call__(self, points: ArrayLike) -> NDArray[np.float64]:
        """Values at (n, d) points; raises as ``exact``."""
        array = self.domain.check_points(points)
        return np.array([float(self.exact(point)) for point in array], dtype=np.float64)

    def references(self, point: ArrayLike) -> int:
        """|N(x)|: how many values of f the value at a point depends on."""
        return math.prod(len(chain) for chain in self._point_chains(point).values())

    def exact(self, point: ArrayLike) -> Fraction:
        """g at one point, exactly.

        Raises
        ------
        BudgetError
            The value depends on more than ``max_references`` points; quotes no data.
        DatasetError, FunctionError
            A point outside the domain; f gives NaN, infinity or a wrong shape.
        """
        chains = self._point_chains(point)
        needed = math.prod(len(chain) for chain in chains.values())
        if needed > self.max_references:
            raise BudgetError(
                f"the filter needs {needed} values of the function, more than "
                f"max_references={self.max_references}; raise it, or use a gate that tests",
                needed=needed,
                budget=self.max_references,
            )
        return Fraction(self._filter(chains), _UNIT)

    def _point_chains(self, point: ArrayLike) -> dict[int, list[int]]:
        # Only coordinates off their root count.
        values = self.domain.check_points(point, private=True)[0].tolist()
        chains = {r: self._coordinate_chains(r)[value] for r, value in enumerate(values)}
        return {r: chain for r, chain in chains.items() if len(chain) > 1}

    def _coordinate_chains(self, coordinate: int) -> list[list[int]]:
        if coordinate not in self._chains:
            self._chains[coordinate] = reference_chains(
                self.distribution.marginal(coordinate), ordered=isinstance(self.domain, Hypergrid)
            )
        return self._chains[coordinate]

    def _filter(self, chains: dict[int, list[int]]) -> int:
        # In product order the references of a point come before it.
        strides = [math.prod(map(len, list(chains.values())[k + 1 :])) for k in range(len(chains))]
        nodes = list(product(*(range(len(chain)) for chain in chains.values())))
        keys = [_key(chains, node) for node in nodes]
        raw = self._ask([key for key in keys if key not in self._known])
        values: list[int] = []
        for position, (node, key) in enumerate(zip(nodes, keys, strict=True)):
            if key not in self._known:
                allowed = list(self._allowances(chains, node, position, strides, values))
                floor = max((value - room for value, room in allowed), default=raw[key])
                ceiling = min((value + room for value, room in allowed), default=raw[key])
                self._known[key] = min(max(raw[key], floor), ceiling)
            values.append(self._known[key])
        return values[-1]

    def _allowances(
        self,
        chains: dict[int, list[int]],
        node: tuple[int, ...],
        position: int,
        strides: list[int],
        values: list[int],
    ) -> Iterable[tuple[int, int]]:
        """(g(z), c d(x, z)) for the z of N(x) that differ from x in one coordinate."""
        on_line = isinstance(self.domain, Hypergrid)
        for chain, depth, stride in zip(chains.values(), node, strides, strict=True):
            for other in range(depth):
                hops = abs(chain[depth] - chain[other]) if on_line else 1
                yield values[position - (depth - other) * stride], self._constant * hops

    def _ask(self, keys: list[tuple[tuple[int, int], ...]]) -> dict[tuple[Any, ...], int]:
        self.queries += len(keys)
        step = max(1, SLICE_BYTES // self.domain.dimension)
        answers: list[int] = []
        for start in range(0, len(keys), step):
            part = keys[start : start + step]
            points = np.repeat(self._roots[None, :], len(part), axis=0)
            for row, key in zip(points, part, strict=True):
                for coordinate, value in key:
                    row[coordinate] = value
            answers += map(_whole, self._oracle.values(from_array(points)).tolist())
        return dict(zip(keys, answers, strict=True))

    @property
    def _roots(self) -> NDArray[Any]:
        roots = [self._coordinate_chains(r)[0][0] for r in range(self.domain.dimension)]
        return np.array(roots, dtype=self.domain.dtype)


def _key(chains: dict[int, list[int]], node: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    return tuple(
        (r, chain[depth]) for (r, chain), depth in zip(chains.items(), node, strict=True) if depth
    )


def _whole(value: float) -> int:
    top, bottom = value.as_integer_ratio()
    return top * (_UNIT // bottom)
