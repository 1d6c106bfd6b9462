"""``max(1.0, norm / c)`` of a real number of one record, in a loop over records.

Python's own ``max`` compares, and what has been calculated of real numbers is not compared in a
pass. The larger one of two numbers needs no comparison: it is ``np.maximum`` of them, with its
ends, and with what is known of norms. So it stands for ``max`` of two numbers in passes, and in
the functions of the program that passes call.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any

import numpy as np

from liptest.enumerate.loops.fold_passes import Wrapping, choice_in
from liptest.enumerate.syntax.pure_code import NUMBERS, NotPlain, calculates, is_plain
from liptest.enumerate.syntax.source import copy_tree, names_stored, read_source
from liptest.enumerate.syntax.tree_pieces import FOLDS
from liptest.values.answers.aligned import AlignedValue, ReleasedValue
from liptest.values.array import CellStorage, SymbolicArray
from liptest.values.faults import call_original
from liptest.values.protocol import is_symbolic
from liptest.values.records.record_list import EntryOfRecord, RowOfRecord, TruthOfRecord


def either_side(truth: Any, value: Any, holds: Any, fails: Any) -> Any:
    """``holds(value) if truth else fails(value)``, where the truth compares the value."""
    if isinstance(truth, TruthOfRecord):
        return truth.either(value, holds, fails)
    return holds(value) if truth else fails(value)


def larger_end(*values: Any, **named: Any) -> Any:
    """``max(..)``."""
    return _end(builtins.max, np.maximum, values, named)


def smaller_end(*values: Any, **named: Any) -> Any:
    """``min(..)``."""
    return _end(builtins.min, np.minimum, values, named)


def _end(written: Any, ufunc: Any, values: tuple[Any, ...], named: dict[str, Any]) -> Any:
    # A column itself is cut where it is compared with a constant.
    made = [value for value in values if isinstance(value, EntryOfRecord) and value.is_calculated]
    if not made or len(values) != 2 or named:
        return call_original(written, *values, **named)
    return made[0].calculated(ufunc, *values)


def is_released(value: Any) -> bool:
    """Whether it is a number with noise, or several of such and constants: no pass changes it."""
    is_array = type(value) is SymbolicArray and type(value.storage) is CellStorage
    if is_array or type(value) in (list, tuple):
        cells = value.cells.flat if is_array else value
        return all(is_plain(cell) or is_released(cell) for cell in cells)
    if type(value) is ReleasedValue:
        return True
    return type(value) is AlignedValue and value.run.has_noise(value.form)


def with_ends(function: Any, folds: Any) -> Any:
    """A function that only calculates, with these in the place of Python's."""
    source = read_source(function)
    if source is None:
        return function
    statements = list(map(copy_tree, source.body))
    for place, statement in enumerate(statements):
        chosen, after = choice_in(statement), statements[place + 1 : place + 2]
        own = names_stored(*statements[:place]) | {
            argument.arg for argument in source.node.args.args
        }
        if chosen is not None and names_stored(chosen) <= own:
            statements[place] = ast.copy_location(chosen, statement)
        elif after and (returned := returns_either(statement, after[0])) is not None:
            statements[place] = ast.copy_location(returned, statement)
    wrap = Wrapping(source, frozenset())
    body = [wrap.visit(statement) for statement in statements]
    made = source.compiled(source.with_body(body), {FOLDS: folds})
    return function if made is None else made


def returns_either(first: ast.stmt, after: ast.stmt) -> ast.Return | None:
    """``if test: return a`` before ``return b``, as ``return a if test else b``."""
    if not isinstance(first, ast.If) or len(first.body) != 1 or first.orelse:
        return None
    [inner] = first.body
    if not isinstance(inner, ast.Return) or not isinstance(after, ast.Return):
        return None
    if inner.value is None or after.value is None:
        return None
    return ast.Return(ast.IfExp(first.test, inner.value, copy_tree(after.value)))


class PassEnds:
    """What ``Folds`` answers of such comparisons, and of names of outside."""

    #: By function, how passes call it.
    helpers: dict[Any, Any]
    either = staticmethod(either_side)
    larger, smaller = staticmethod(larger_end), staticmethod(smaller_end)

    def own_row(self, value: Any) -> Any:
        """What a pass may change in place: a number, or a row that it has just calculated."""
        if type(value) in NUMBERS or isinstance(value, RowOfRecord):
            return value
        raise NotPlain(f"a {type(value).__name__} is changed in a loop over the records")

    def plain(self, value: Any) -> Any:
        """What a loop over records may read of the rest: constant data, and what calculates."""
        if is_plain(value) or is_released(value):
            return value
        if calculates(value):
            if value not in self.helpers:
                self.helpers[value] = with_ends(value, self)
            return self.helpers[value]
        words = value.described if is_symbolic(value) else f"a {type(value).__name__}"
        raise NotPlain(f"{words} is read in a loop over the records")
