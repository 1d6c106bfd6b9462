"""What loops over records leave in the objects that they add to, for all that passes may add.

A pass is known by its note (``adding_loops``): which objects it changes, how, at which place and by
how much. Of notes that add numbers at places that are there from the start, the objects after the
loop are those before it with totals (docs/theory/records.md, P7).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import Any

import numpy as np

from liptest.enumerate.loops.adding_loops import AT_PLACE, NotedChanges
from liptest.enumerate.records.note_totals import Added, NoteTotals
from liptest.enumerate.records.record_values import attribute_in_place

_PLUS, _MINUS = ("Add", "Add on the left"), ("Sub",)
_DICTS = (dict, Counter, defaultdict)
Place = tuple[Any, ...]


def changed_object(
    held: Any, owner: str, notes: list[Any], changes: NotedChanges, totals: NoteTotals
) -> Any:
    """An object as the loop leaves it; ``owner`` is its name in the loop."""
    if owner in changes.cells:
        cell = 1 + changes.cells.index(owner)
        return totals.number(held, [(note[cell],) for note in notes], in_order=True)
    for number, name in enumerate(changes.names):
        first, *path = name.split(".")
        if first != owner or name in changes.cells:
            continue
        added = [_read_changes(note[0], number, name, totals) for note in notes]
        if not path:
            return _with_totals(held, added, totals)
        *inner, last = path
        target = held
        for attribute in inner:
            target = attribute_in_place(target, attribute)
        before = attribute_in_place(target, last)
        object.__setattr__(target, last, _with_totals(before, added, totals))
    return held


def _read_changes(
    entries: list[Any], number: int, name: str, totals: NoteTotals
) -> dict[Place, tuple[Any, ...]]:
    """What one pass adds at which places of an object, in order."""
    added: dict[Place, tuple[Any, ...]] = {}
    for what, *parts in entries:
        own, _, how = what.partition(" ")
        if int(own) != number:
            continue
        how = how.removesuffix(AT_PLACE).removesuffix(f" of {name}")
        how, _, depth = how.partition(" by ")
        if how not in _PLUS + _MINUS:
            totals.refuse("a loop that does not only add")
        amount = int(parts[-1]) if type(parts[-1]) is bool else parts[-1]
        amount = -amount if how in _MINUS else amount
        place = () if len(parts) == 1 else (parts[0],)
        if depth:
            place = tuple(parts[0])
        added[place] = (*added.get(place, ()), amount)
    return added


def _with_totals(held: Any, added: list[dict[Place, tuple[Any, ...]]], totals: NoteTotals) -> Any:
    places = list(dict.fromkeys(place for own in added for place in own))
    if type(held) is np.ndarray:
        cells: dict[tuple[int, ...], Added] = {}
        indices = {place: _index_in(held, place, totals) for place in places}
        for index in dict.fromkeys(indices.values()):
            here = [place for place in places if indices[place] == index]
            cells[index] = [sum((own.get(one, ()) for one in here), ()) for own in added]
        return totals.array(held, cells, in_order=True)
    if not places:
        return held
    if places == [()]:
        return totals.number(held, [own.get((), ()) for own in added], in_order=True)
    if () in places:
        totals.refuse("an object that is changed as a whole, and at places")
    return _with_entries(held, added, totals)


def _with_entries(held: Any, added: list[dict[Place, tuple[Any, ...]]], totals: NoteTotals) -> Any:
    """A list or a dict, or one of lists, with totals."""
    made = _copy(held, totals)
    firsts: dict[Any, Any] = {}
    for own in added:
        for place in own:
            firsts[_key_of(made, place[0], totals)] = None
    for first in firsts:
        inner: list[dict[Place, tuple[Any, ...]]] = []
        for own in added:
            here: dict[Place, tuple[Any, ...]] = {}
            for place, amounts in own.items():
                if _key_of(made, place[0], totals) == first:
                    here[place[1:]] = (*here.get(place[1:], ()), *amounts)
            inner.append(here)
        made[first] = _with_totals(made[first], inner, totals)
    return made


def _copy(held: Any, totals: NoteTotals) -> Any:
    if type(held) is not list and type(held) not in _DICTS:
        totals.refuse("an object that is not a list, a dict or an array")
    entries = held if type(held) is list else held.values()
    inner = [entry for entry in entries if type(entry) in (list, *_DICTS, np.ndarray)]
    if any(one is other for one, other in combinations(inner, 2)):
        totals.refuse("a list that holds another one twice")
    return held.copy()


def _key_of(held: Any, key: Any, totals: NoteTotals) -> Any:
    """A key that is there from the start."""
    if type(held) is list:
        is_place = type(key) in (int, np.int64) and -len(held) <= key < len(held)
        return int(key) % len(held) if is_place else totals.refuse("a place that is not there")
    if type(key) not in (int, str, np.int64) or key not in held:
        totals.refuse("a key that is not there from the start")
    return key


def _index_in(held: Any, place: Place, totals: NoteTotals) -> tuple[int, ...]:
    index = place[0] if len(place) == 1 and type(place[0]) is tuple else place
    is_whole = all(type(one) in (int, np.int64) for one in index) and len(index) == held.ndim
    sides = zip(index, held.shape, strict=False)
    if not is_whole or not all(-side <= one < side for one, side in sides):
        totals.refuse("places of an array that are not one each")
    return tuple(int(one) % side for one, side in zip(index, held.shape, strict=True))
