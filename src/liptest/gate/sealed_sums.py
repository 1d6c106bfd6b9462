"""Noisy sums: what a program tells, drawn by this package for data of any size.

Where all data reach a program through sums with fresh noise, its output is made of these sums and
of what is decided on them (docs/theory/size.md, S6). Each sum is calculated exactly, gets exact
noise of the program's law, is compared as it is, and told as a multiple of a stated step:
post-processing of what was proved (S15, S17).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from liptest.data.domains import Domain, IntArray
from liptest.data.points import PointBatch
from liptest.enumerate.symbols.symbolic_paths import SymbolicPaths
from liptest.errors import GateError
from liptest.evidence.domain_form import domain_to_dict, read_domain
from liptest.gate.decisions import (
    Node,
    Tell,
    draw_leaf,
    find_told_sums,
    list_paths,
    path_of_all,
    read_nodes,
    tell,
)
from liptest.gate.noisy_sums import (
    DrawnSums,
    NoisySums,
    in_hexadecimals,
    read_fraction,
    read_noisy_sums,
    require_few_digits,
)
from liptest.gate.sealed import SUM_DOMAINS, VERSION, RandomBelow, Sealed
from liptest.mechanisms.base import MOST_PATHS, Mechanism
from liptest.mechanisms.laws import ComparableLaws, OutputLaw


@dataclass(frozen=True, eq=False)
class SealedSums(Sealed):
    """Sums of the data with noise of this package, each told as a multiple of ``step``.

    ``nodes`` is a tree of decisions on the sums, the first one its root; of sums that are told
    whatever they are it is a leaf.
    """

    sums: NoisySums
    step: Fraction
    nodes: tuple[Node, ...]
    name: str = ""

    def __post_init__(self) -> None:
        require_few_digits([self.step])

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return self.sums.domain

    @property
    def grid_step(self) -> Fraction:
        return self.step

    @cached_property
    def is_whole(self) -> bool:
        """Whether all sums that are told are multiples of the step before they are rounded."""
        return all(self.sums.is_whole(number, self.step) for number in find_told_sums(self.nodes))

    @property
    def decides(self) -> bool:
        """Whether what is told depends on comparisons of sums, or on chance."""
        return len(self.nodes) > 1

    @cached_property
    def mechanism(self) -> SumsMechanism:
        return SumsMechanism(self, self.name or "sealed sums")

    @property
    def words(self) -> str:
        total = len(self.sums.sums)
        count = "a noisy sum" if total == 1 else f"{total:,} noisy sums"
        what = f"decisions on {count}" if self.decides else count
        drawn = f"{what} of the data, which this package computes, with exact noise of the code's"
        if self.is_whole:
            return f"{drawn} law"
        each = "each number that is told" if self.decides else "each"
        return (
            f"{drawn} law, {each} rounded to a multiple of {self.step}: within half of that of the "
            f"ideal answer"
        )

    def to_dict(self) -> dict[str, Any]:
        root = self.nodes[0]
        output = (
            {"shape": root.shape}
            if isinstance(root, Tell)
            else {"nodes": [node.to_list() for node in self.nodes]}
        )
        return {
            "sealed": "sums",
            "version": VERSION,
            "domain": domain_to_dict(self.domain),
            "step": in_hexadecimals(self.step),
            **self.sums.to_dict(),
            **output,
        }

    def draw(self, dataset: IntArray, below: RandomBelow) -> str:
        drawn = DrawnSums(self.sums, dataset, below)
        return tell(draw_leaf(self.nodes, drawn, below), drawn, self.step)


@dataclass(frozen=True, eq=False)
class SumsMechanism(Mechanism):
    """Sealed sums as a mechanism: compared by the price of their noise, not by laws."""

    sums: SealedSums
    name: str
    source: str = "enumerated"
    outputs: None = field(init=False, default=None)
    statistic: None = field(init=False, default=None)

    @property
    def is_drawn_as_followed(self) -> bool:
        return True

    def on_domain(self, domain: Domain) -> Mechanism:
        """Itself: of a table, too, it gets datasets as they are."""
        return self

    def align_paths(
        self, domain: Domain, *, way: str = "released", max_paths: int = MOST_PATHS
    ) -> SymbolicPaths:
        """Its paths: "released" tells all sums, of which the output is a function."""
        sealed = self.sums
        if sealed.decides and way == "released":
            paths: Any = (path_of_all(sealed.sums),)
        else:
            paths = list_paths(sealed.nodes, sealed.sums)
        return SymbolicPaths(paths, sealed.sums.differences, way, reads_length=True)

    def laws(self, points: PointBatch) -> ComparableLaws:
        raise GateError(f"{self.name}: of sealed sums no laws are computed")

    def law(self, dataset: IntArray) -> OutputLaw:
        raise GateError(f"{self.name}: of sealed sums no laws are computed")


def read_sums(document: dict[str, Any], name: str) -> SealedSums:
    """The inverse of ``to_dict``; ValueError and its like for anything else."""
    domain = read_domain(document["domain"])
    if type(domain) not in SUM_DOMAINS:
        raise ValueError
    sums = read_noisy_sums(document, domain)
    step = read_fraction(*document["step"])
    listed = [["tell", document["shape"]]] if "shape" in document else document["nodes"]
    nodes = read_nodes(listed, len(sums.sums))
    if step <= 0:
        raise ValueError
    return SealedSums(sums, step, nodes, name)
