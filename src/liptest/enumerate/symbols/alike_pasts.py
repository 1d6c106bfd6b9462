"""Runs that meet at a pass of a loop with alike pasts, of which one is followed.

What a run asked in earlier passes are conditions on noise and answers of which nothing is asked
again. Where two runs begin a pass with the same plain values, and their conditions are the same but
for an exchange of such variables, all ways to go on have the same prices (docs/theory/loops.md,
L8). So three hits among fifty answers are two hundred places to go on from, and not 20,000 paths.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any, NoReturn, Protocol

import numpy as np

from liptest.enumerate.loops.meeting_loops import only_draws
from liptest.enumerate.symbols.told_lists import ToldLists
from liptest.enumerate.syntax.pure_code import is_plain
from liptest.mechanisms.laws import Output
from liptest.symbolic.answers import AlignedPath, Answer
from liptest.symbolic.forms import Terms
from liptest.values.answers.aligned import AlignedRun, AlignedValue
from liptest.values.array import CellStorage, SymbolicArray
from liptest.values.branching import Path

Values = Callable[[], tuple[Any, ...]]
Branches = tuple[int, ...]
_NUMBERS = (int, float, bool, str, type(None), np.int64, np.float64, np.bool_)
# Times that an analysis begins again with what it has learnt to be asked in several passes.
_MOST_ATTEMPTS = 8
_WALKED = (list, tuple)


class MeetingTree(Protocol):
    """A tree of which runs may be left out."""

    depth: int
    path: Path

    def meet(self) -> NoReturn:
        """End a run, of which all that it may come to is known from another one."""
        ...


@dataclass(frozen=True)
class _Head:
    """What a run was at the start of a pass: the next run, which repeats it, is the same there."""

    depth: int
    pasts: Counter[Any]
    key: Any
    last: int


class Pasts:
    """What the runs of one analysis did before the passes of a loop; ``None`` where none is told.

    ``begin`` starts a run, ``enter`` its loop, ``note`` is told of each sum that is compared.
    """

    def __init__(self) -> None:
        #: Variables of which several passes ask something, as they are called on all paths.
        self.shared: set[Any] = set()
        #: Whether the analysis is of no use, as something was asked again.
        self.is_stale = False
        #: Whether it is not known which variables are asked again.
        self.has_failed = False
        self._attempts = 0
        self.begin_again()

    def begin_again(self) -> None:
        """Start an analysis."""
        self.is_stale = False
        self._attempts += 1
        self._known: dict[Any, Branches] = {}
        #: The branches that lead to a pass, and those of the run that was followed instead.
        self.met: dict[Branches, Branches] = {}
        #: Whether runs have met that asked something of answers, which are exchanged.
        self.exchanges_answers = False
        #: What the runs have put into their lists.
        self.told = ToldLists()
        # The starts of passes of the last run, one after the other.
        self._heads: list[_Head] = []
        # A bit for each name, so that a set of thousands of them is one number.
        self._bits: dict[Any, int] = {}
        self._tree: MeetingTree | None = None

    @property
    def may_begin_again(self) -> bool:
        """Whether another analysis may tell more."""
        return not self.has_failed and self._attempts < _MOST_ATTEMPTS

    def begin(self, tree: MeetingTree, run: AlignedRun) -> None:
        """Start a run."""
        self._tree, self._run = tree, run
        self._pass = self._last_head = 0
        self.told.begin()
        run.notes_asked = None

    def enter(self, *, counts: bool) -> bool:
        """The loop begins; False where it began before in this run.

        ``counts``: whether what a pass does may depend on how many there were.
        """
        if self._tree is None or self._run.notes_asked is not None:
            return False
        run = self._run
        self._counts = counts
        self._entered = tuple(branch for _, branch in self._tree.path[: self._tree.depth])
        self._before = {v for terms in _find_asked_in(run) for v, _ in terms}
        self._first_noise = len(run.noises)
        self._noted = _other_knowledge(run)
        #: The pass in which a variable was asked for.
        self._pass_of: dict[int, int] = {}
        #: Bits of the names that variables of these would have.
        self._own_names = 0
        self._asked_now: dict[Terms, None] = {}
        #: Sums of what is known by its name, which may be asked again.
        self._common: dict[Terms, None] = {}
        self._pasts: Counter[Any] = Counter()
        run.notes_asked = self.note
        return True

    def note(self, terms: Terms) -> None:
        """A sum is compared in this pass, or later."""
        own = False
        for v, _ in terms:
            if self._name_of(v) is None:
                own = True
                if v not in self._pass_of:
                    self._own_names |= self._bit_of(self._possible_name(v))
                if self._pass_of.setdefault(v, self._pass) != self._pass:
                    self._ask_again(v)
        (self._asked_now if own else self._common).setdefault(terms)

    def _bit_of(self, name: Any) -> int:
        """The bit of a name; 0 for what has none."""
        return 0 if name is None else self._bits.setdefault(name, 1 << len(self._bits))

    def _ask_again(self, v: int) -> None:
        """Something is asked in two passes of what was thought to be asked in one."""
        self.is_stale = True
        name = self._possible_name(v)
        if name is None:
            self.has_failed = True
        else:
            self.shared.add(name)

    def _possible_name(self, v: int) -> Any:
        """What a variable is called on all paths that enter the loop; None where it has no name."""
        what = self._run.noises[v]
        if type(what) is Answer:
            return "answer", what.number
        return ("noise", v) if v < self._first_noise else None

    def _name_of(self, v: int) -> Any:
        """The name of a variable that is not exchanged; None for others."""
        name = self._possible_name(v)
        return name if v in self._before or name in self.shared else None

    def begin_pass(self, values: Values, filled: Values, *, as_it_is: bool = False) -> None:
        """Another pass begins; the run ends where one of the same past was followed.

        ``as_it_is``: whether each output is the one list that the loop fills at its end.
        """
        self._pass += 1
        assert self._tree is not None
        tree = self._tree
        is_at_end = tree.depth == len(tree.path)
        if not is_at_end and self._repeats():
            return
        self._put_away()
        key = self._key(values, filled)
        del self._heads[self._pass - 1 :]
        if key is not None:
            self._last_head = self._pass
        self._heads.append(_Head(tree.depth, self._pasts, key, self._last_head))
        if key is not None:
            self._reach(key, filled() if as_it_is else None, is_at_end=is_at_end)

    def _repeats(self) -> bool:
        """Whether this run begins the pass as the last one did, whose branches it repeats.

        Runs are walked in depth first: up to the last branch that is set, all is as it was.
        """
        assert self._tree is not None
        if self.is_stale or self._pass > len(self._heads):
            return False
        head = self._heads[self._pass - 1]
        if head.depth != self._tree.depth:
            return False
        self._asked_now.clear()
        self._pasts, self._last_head = head.pasts, head.last
        if head.key is not None:
            self.told.repeat(head.key)
        return True

    def _key(self, values: Values, filled: Values) -> Any:
        """The same for runs that go on alike; None where that is not seen."""
        state = _make_state(values, filled)
        if self.is_stale or state is None or self._noted != _other_knowledge(self._run):
            return None
        common = frozenset(self._describe(terms, {}) for terms in self._common)
        place = self._pass if self._counts else 0
        return (
            *(self._entered, place, state),
            *(frozenset(self._pasts.items()), self._own_names, common),
        )

    def _reach(self, key: Any, lists: Any, *, is_at_end: bool) -> None:
        """The run has come to a head, and ends there where another one was followed from it."""
        assert self._tree is not None
        tree = self._tree
        branches = tuple([branch for _, branch in tree.path[: tree.depth]])
        self.told.reach(key, lists, branches)
        first = self._known.setdefault(key, branches)
        if first != branches and is_at_end:
            self.met[branches] = first
            self.exchanges_answers |= any(
                kind == "answer" and self._own_names & bit for (kind, _), bit in self._bits.items()
            )
            tree.meet()

    def _put_away(self) -> None:
        """What was asked in the pass that has ended becomes a part of the past."""
        if self._asked_now:
            own: dict[int, Any] = {}
            past = tuple(self._describe(terms, own) for terms in self._asked_now)
            if not self._is_of_noise_alone():
                # A new one: that of the last head is kept.
                self._pasts = self._pasts + Counter([past])
            self._asked_now.clear()

    def _is_of_noise_alone(self) -> bool:
        """Whether nothing in a pass was asked of data, nor of what other passes ask for.

        Then no shift is needed to keep it.
        """
        asked = {v for terms in self._asked_now for v, _ in terms}
        return all(type(self._run.noises[v]) is not Answer and not self._name_of(v) for v in asked)

    def _describe(self, terms: Terms, own: dict[int, Any]) -> Any:
        """A condition, in which variables of a pass are numbered."""
        named = []
        for v, factor in terms:
            name = self._name_of(v)
            if name is None:
                number, kind = own.setdefault(v, (len(own), _find_kind(self._run.noises[v])))
                name = "own", number, kind
            named.append((name, factor))
        return tuple(named), self._run.find_known_of(terms)

    def check_end(self, path: AlignedPath, output: Output) -> None:
        """A run has ended: what was asked in a pass must not be told, or compared otherwise."""
        assert self._tree is not None
        self.told.end(output, tuple([branch for _, branch in self._tree.path]))
        if not self._last_head:
            return
        conditions = *self._run.more, *self._run.conditions_of_contests()
        for terms in (
            *(condition.terms for condition in conditions),
            *(place.terms for place in path.places),
        ):
            for v, _ in terms:
                if self._pass_of.get(v, self._last_head) < self._last_head:
                    self._ask_again(v)
                    self.has_failed = True

    def representative(self, branches: Branches) -> Branches:
        """The branches of the path that was followed in the place of these."""
        place = 0
        while place <= len(branches):
            first = self.met.get(branches[:place])
            if first is None:
                place += 1
            else:
                branches, place = (*first, *branches[place:]), 0
        return branches


@dataclass(frozen=True)
class Heads:
    """What a loop calls at the start of each pass (``meeting_loops``)."""

    filled: Values
    carried: Values
    pasts: Pasts | None = None
    #: Whether each output is the list that is filled.
    as_it_is: bool = False

    def begin(self) -> None:
        """A pass begins."""
        if self.pasts is not None:
            self.pasts.begin_pass(self.carried, self.filled, as_it_is=self.as_it_is)


def make_heads(pasts: Pasts | None, fixed: Iterable[Any], lists: Heads, *, counts: bool) -> Heads:
    """``lists`` with what is told of passes, where they change nothing of these values."""
    if pasts is None or not all(map(_is_fixed, fixed)) or _is_called_within():
        return lists
    return replace(lists, pasts=pasts) if pasts.enter(counts=counts) else lists


def _is_called_within() -> bool:
    """Whether the function with the loop is run within another run of itself."""
    frame = sys._getframe(3)  # of this function, make_heads, Folds.heads
    code, outer = frame.f_code, frame.f_back
    while outer is not None:
        if outer.f_code is code:
            return True
        outer = outer.f_back
    return False


def _is_fixed(value: Any) -> bool:
    """Whether a pass cannot change it, nor what is known of it but by comparing sums."""
    if type(value) is AlignedValue or is_plain(value):
        return True
    if type(value) is FunctionType:
        return only_draws(value)
    if type(value) is SymbolicArray and isinstance(value.storage, CellStorage):
        return all(type(cell) is AlignedValue or is_plain(cell) for cell in value.cells.flat)
    return type(value) in _WALKED and all(type(part) is AlignedValue for part in value)


def _make_state(values: Values, filled: Values) -> Any:
    """Plain values, as keys; None where one is not plain, or a list has more than plain values."""
    try:
        carried, lists = values(), filled()
    except NameError:
        return None
    if not all(type(value) in _NUMBERS for value in carried) or not all(map(is_plain, lists)):
        return None
    # A store at a place beyond the end of a list raises.
    return tuple((type(value), repr(value)) for value in carried), tuple(map(_length, lists))


def _length(filled: Any) -> int:
    return len(filled) if type(filled) is list else 0


def _other_knowledge(run: AlignedRun) -> Any:
    """What a run knows beside the ends of sums that it compared."""
    sizes = run.more, run.contests, run.released, run.missing, run.orders, run.coins, run.nonzero
    counts = [len(known) for known in sizes]
    return (*counts, len(run.wholes), run.known_ways, run.rounding)


def _find_asked_in(run: AlignedRun) -> list[Terms]:
    """Sums of which a run knows something."""
    conditions = (*run.conditions(), *run.conditions_of_contests())
    return [*(constraint.terms for constraint in conditions), *run.released]


def _find_kind(what: Any) -> Any:
    """The same for variables of which an exchange changes nothing."""
    if type(what) is not Answer:
        return what
    return "answer", what.is_whole, what.ends, what.real_ends
