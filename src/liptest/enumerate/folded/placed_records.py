"""Loops over random places that read only ``array[i]``: ``for i in rng.choice(n, k, False): ..``.

Where the places are drawn without the data, and no more is asked of one than the entries there, the
loop is one over these entries: ``for x, y in zip(X[places], y[places])`` (docs/theory/size.md, S9).
Both ways are written out; which one is taken is known when the places are there.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from liptest.enumerate.loops.index_reads import IsBuiltin, name_entries
from liptest.enumerate.loops.pass_forms import NotFolded
from liptest.enumerate.syntax.source import OWN_NAMES, copy_tree
from liptest.enumerate.syntax.tree_pieces import lambda_node, name_node, target_node, tuple_node
from liptest.values.array import SymbolicArray
from liptest.values.chosen_places import read_mask
from liptest.values.draws.drawn_order import DrawnOrder
from liptest.values.records.record_list import RecordList

RECORDS_AT, EITHER = f"{OWN_NAMES}records_at", f"{OWN_NAMES}at_places_or"
Arrays = Callable[[], tuple[Any, ...]]
Comprehension = TypeVar("Comprehension", ast.ListComp, ast.GeneratorExp)


# ---- what the rewritten program calls


def helpers_for_places(zipped: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """By name; ``zipped`` puts the records of several arrays together."""

    def records_at(places: Any, arrays: Arrays) -> Any:
        """What is at random places in arrays; None where the places are others."""
        if type(places) is not DrawnOrder and read_mask(places) is None:
            return None
        if places.dtype == bool:  # the bits themselves, which are walked one by one
            return None
        try:
            read = [_take(array, places) for array in arrays()]
        except NameError:
            return None
        return read[0] if len(read) == 1 else zipped(*read)

    def either(places: Any, arrays: Arrays, at_places: Any, as_written: Any) -> Any:
        """A comprehension over places, or over what is at them."""
        read = records_at(places, arrays)
        return as_written(places) if read is None else at_places(read)

    return {RECORDS_AT: records_at, EITHER: either}


def _take(array: Any, places: Any) -> Any:
    if type(array) is RecordList:
        return array.column()[places].tolist()
    if type(array) is not SymbolicArray:
        return places.refuse("an index of what is not an array of records")
    return array[places]


# ---- how a program is rewritten


@dataclass(frozen=True)
class PlacedLoop:
    """A loop over places, and the same over what is read there; names hold what is walked."""

    by_place: ast.For
    by_record: ast.For
    arrays: list[ast.expr]

    def joined(
        self, walked: ast.expr, by_place: list[ast.stmt], by_record: list[ast.stmt]
    ) -> list[ast.stmt]:
        """Both ways, rewritten, and what chooses one."""
        places, records = self.by_place.iter, self.by_record.iter
        assert isinstance(places, ast.Name)
        assert isinstance(records, ast.Name)
        read = ast.Call(
            name_node(RECORDS_AT), [places, lambda_node(None, tuple_node(self.arrays))], []
        )
        is_none = ast.Compare(records, [ast.Is()], [ast.Constant(None)])
        made: list[ast.stmt] = [
            ast.Assign([name_node(places.id, ast.Store())], walked),
            ast.Assign([name_node(records.id, ast.Store())], read),
            ast.If(is_none, by_place, by_record),
        ]
        return [ast.copy_location(statement, self.by_place) for statement in made]


def read_placed_loop(node: ast.For, number: int, is_builtin: IsBuiltin) -> PlacedLoop | None:
    """A loop whose places are used only to read arrays; None for all others."""
    if node.orelse or not isinstance(node.target, ast.Name) or _counts(node.iter, is_builtin):
        return None
    prefix = f"{OWN_NAMES}placed_{number}_"
    try:
        body, fields, arrays = name_entries(node.body, node.target.id, prefix)
    except NotFolded:
        return None
    by_place, by_record = copy_tree(node), copy_tree(node)
    by_place.iter, by_record.iter = name_node(f"{prefix}places"), name_node(f"{prefix}records")
    by_record.target, by_record.body = target_node(fields), body
    return PlacedLoop(by_place, by_record, arrays)


@dataclass(frozen=True)
class PlacedComprehension:
    """A comprehension over places, and the same over what is read there."""

    by_place: Any
    by_record: Any
    arrays: list[ast.expr]
    name: str

    def joined(self, walked: ast.expr, by_place: ast.expr, by_record: ast.expr) -> ast.expr:
        """Both ways, rewritten, and what chooses one."""
        ways = [lambda_node(self.name, way) for way in (by_record, by_place)]
        arrays = lambda_node(None, tuple_node(self.arrays))
        call = ast.Call(name_node(EITHER), [walked, arrays, *ways], [])
        return ast.copy_location(call, self.by_place)


def read_placed_comprehension(
    node: ast.ListComp | ast.GeneratorExp, is_builtin: IsBuiltin
) -> PlacedComprehension | None:
    """One whose places are used only to read arrays; None for all others."""
    part = node.generators[0]
    is_one = len(node.generators) == 1 and not part.is_async
    if not is_one or not isinstance(part.target, ast.Name) or _counts(part.iter, is_builtin):
        return None
    values: list[ast.stmt] = [ast.Expr(value) for value in (node.elt, *part.ifs)]
    try:
        named, fields, arrays = name_entries(values, part.target.id, f"{OWN_NAMES}placed_")
    except NotFolded:
        return None
    name = f"{OWN_NAMES}walked"
    by_place, by_record = copy_tree(node), copy_tree(node)
    for way in (by_place, by_record):
        way.generators[0].iter = name_node(name)
    own = by_record.generators[0]
    own.target = target_node(fields)
    by_record.elt, *own.ifs = [one.value for one in named]  # type: ignore[attr-defined]
    return PlacedComprehension(by_place, by_record, arrays, name)


def _counts(walked: ast.expr, is_builtin: IsBuiltin) -> bool:
    """Whether it is ``range(..)`` or ``enumerate(..)``, whose places are not random."""
    functions = builtins.range, builtins.enumerate
    return isinstance(walked, ast.Call) and any(is_builtin(walked.func, one) for one in functions)
