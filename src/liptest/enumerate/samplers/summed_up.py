"""Laws of code that draws until it is content, once its loops are summed up (theory L3 to L5).

As it is written such code has runs without an end, and what is left of its law may be most of it.
Loops that start over count as one pass that leaves them, loops of coins as geometric numbers, and
functions that only draw as one choice. A part of the law of the code as it is written is
enumerated beside it, and must fit below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from liptest.enumerate.folded.folding import SUMMED_UP, Rewritten
from liptest.enumerate.folded.folds import Folds
from liptest.enumerate.folded.signed_noise import may_multiply_draws
from liptest.enumerate.loops.coin_masks import with_chosen_entries
from liptest.enumerate.samplers.restarts import RestartingTree
from liptest.enumerate.samplers.single_passes import LEFT_AT_ONCE, SinglePasses
from liptest.enumerate.samplers.sub_samplers import SamplerLaws
from liptest.enumerate.trees.choice_tree import (
    MAX_CHOICES,
    MAX_LEAVES,
    ChoiceTree,
    branch_by_chance,
    find_weight,
    too_many_leaves,
)
from liptest.enumerate.trees.repeated_leaves import Repetition
from liptest.errors import BudgetError, LiptestError
from liptest.mechanisms.laws import Output, OutputLaw
from liptest.values.branching import Branches

if TYPE_CHECKING:
    from liptest.enumerate.intercept.analysis_session import Session
    from liptest.enumerate.trees.enumeration import Enumerated, Enumeration

_DRAWN_ONCE = "functions that only draw are enumerated once for their arguments (theory L4)"
# Kept as they are: an analysis replaces both.
_GENERATOR, _BITS = np.random.Generator, np.random.PCG64
# Runs of code as it is written, such that show whether there is anything to sum up, and such that
# are met by chance.
_SOME_RUNS, _FEW_RUNS, _RUNS_BY_CHANCE = 400, 64, 64
# Choices in all of the first together: runs of a loop that starts over grow longer and longer.
_SOME_WORK = 20_000
# Choices in a run of code with loops that draw noise and are not left at once: each of them asks
# for what is known of all noise before it.
_SOME_CHOICES = 100
# Of the program as it is written, which is compared with its first passes.
_FEW_CHOICES = (8, _SOME_CHOICES)


class ChanceTree(ChoiceTree):
    """Some runs in which each branch is taken with its own chance; each is counted once."""

    #: How many.
    RUNS = _RUNS_BY_CHANCE
    walks_all = False
    __slots__ = ("_rng",)

    def __init__(self, name: str, **budgets: Any) -> None:
        super().__init__(name, **budgets)
        self._rng = _GENERATOR(_BITS(0))

    def _open(self, branches: Branches) -> int:
        super()._open(branches)
        taken = branch_by_chance(branches, self._rng)
        self.path[-1] = branches, taken
        if len(self.path) < len(self._weights):
            (numerator, denominator), (weight, total) = (
                self._weights[-2],
                find_weight(self.path[-1:]),
            )
            self._weights[-1] = numerator * weight, denominator * total
        return taken

    def _walk(self, run: Callable[[], Output]) -> LiptestError | None:
        met = set()
        for _ in range(self.RUNS):
            self.path, self._weights = [], [(1, 1)]
            output = self._run(run)
            way = tuple(taken for _, taken in self.path)
            if self._cut or way in met:
                continue
            met.add(way)
            self.leaves += 1
            self.sum.add_leaf(self.noise, self._leaf_of(output), *self._leaf_weight())
            self.kept.offer(self.leaves, self.path, output)
        return too_many_leaves(self.name, self.RUNS)


def enumerate_with_loops(
    function: Any, as_written: Enumeration, argument: NDArray[Any], session: Session
) -> Enumerated:
    """One law of a Python function, with its loops summed up where it is not whole otherwise."""
    way = "recorded" if function._known.records else "plain"

    def enumerate_anew(one: Enumeration) -> Enumerated:
        outcome: Enumerated = getattr(one, way)(argument, session)
        return outcome

    if function._rewrite is not None:
        return enumerate_anew(replace(as_written, function=function._rewrite(session)))
    if may_multiply_draws(function.function):
        memory = function._known
        if memory.signed is None:
            memory.signed = Rewritten(function, Folds(lambda value: None))
        return enumerate_anew(replace(as_written, function=memory.signed(session)))
    if function._tree.keeps_whole or function.max_seconds is not None:
        return enumerate_anew(as_written)
    as_written = replace(as_written, function=_with_masks(function, as_written.function, session))
    summed = _find_known(function, session)
    outcome = summed.law(as_written, session, enumerate_anew)
    function._known.conditions |= summed.conditions
    return outcome


def _with_masks(function: Any, called: Any, session: Session) -> Any:
    """What is called, with entries that random bits choose of it not looked at."""
    memory = function._known
    if memory.masked is None:
        memory.masked = with_chosen_entries(function.function)
    made = memory.masked
    if made is function.function:
        return called
    session.surroundings.reach(made)
    return function._present(made if function._takes_generator else lambda data, rng: made(data))


def of_first_passes(function: Any, as_written: Enumeration, session: Session) -> Enumeration:
    """An enumeration with loops that start over left at once, whose runs lead to all outputs."""
    if (
        function._rewrite is not None
        or function._tree.keeps_whole
        or function.max_seconds is not None
    ):
        return as_written
    summed = _find_known(function, session)
    single = None if summed.second_passes_differ else summed.passes.of_session(session)
    return as_written if single is None else replace(as_written, function=single)


def draws_noise_again(function: Any) -> bool:
    """Whether a loop of a Python function that starts over draws noise."""
    with function._session() as session:
        return _find_known(function, session).draws_again


def _find_known(function: Any, session: Session) -> _SummedUp:
    memory = function._known
    if memory.summed_up is None:
        memory.summed_up = _SummedUp.of(function, session)
    known: _SummedUp = memory.summed_up
    return known


@dataclass(eq=False)
class _SummedUp:
    """A function with its loops summed up; ``helps`` is known once it was tried."""

    rewritten: Rewritten
    folds: Folds
    samplers: SamplerLaws
    passes: SinglePasses
    budgets: dict[str, Any]
    #: Whether a loop of it that starts over draws noise.
    draws_again: bool
    helps: bool | None = None
    #: In how many laws loops that draw noise were left in their first passes; whether in one of
    #: them second passes changed the law.
    left_at_once: int = 0
    #: How many laws were summed up.
    summed_laws: int = 0
    second_passes_differ: bool = False

    @classmethod
    def of(cls, function: Any, session: Session) -> _SummedUp:
        """Make one of a Python function."""
        samplers = SamplerLaws(function.name)
        folds = Folds(lambda value: None, samplers.summarised, samplers=samplers)
        rewritten, passes = Rewritten(function, folds), SinglePasses(function)
        # Loops of functions that only draw count on both sides.
        only_numbers = SamplerLaws(function.name)
        Rewritten(function, Folds(lambda value: None, samplers=only_numbers))(session)
        draws_again = passes.count_loops(session) > only_numbers.loops
        return cls(rewritten, folds, samplers, passes, function._budgets, draws_again)

    @property
    def conditions(self) -> set[str]:
        """What its laws rest on."""
        conditions = {LEFT_AT_ONCE} if self.left_at_once else set()
        if not self.helps:
            return conditions
        conditions |= {SUMMED_UP} if self.folds.loops_summed_up else set()
        return (
            conditions
            | ({_DRAWN_ONCE} if self.samplers.is_used else set())
            | self.samplers.conditions
        )

    def law(
        self,
        as_written: Enumeration,
        session: Session,
        enumerated: Callable[[Enumeration], Enumerated],
    ) -> Enumerated:
        """A law, as it is written where that is whole or there is nothing to sum up."""
        if self.draws_again:
            once = self._leave_at_once(as_written, session, enumerated)
            if once is not None and not once.law.unexplored:
                return once
            if once is None:
                limited = partial(_short, as_written.new_tree, choices=_SOME_CHOICES)
                as_written = replace(as_written, new_tree=limited)
        if self.helps is False:
            return enumerated(as_written)
        try:
            short = partial(_short, as_written.new_tree, runs=_SOME_RUNS, work=_SOME_WORK)
            part = enumerated(replace(as_written, new_tree=short))
        except BudgetError:
            return enumerated(as_written)
        if not part.law.unexplored:
            return part
        summed = (
            None if part.law.fractions is None else self._summed(as_written, session, enumerated)
        )
        self.helps = (
            summed is not None
            and _fits(part.law, summed.law)
            and self._fits_by_chance(summed.law, as_written, enumerated)
        )
        return summed if summed is not None and self.helps else enumerated(as_written)

    def _fits_by_chance(
        self,
        law: OutputLaw,
        as_written: Enumeration,
        enumerated: Callable[[Enumeration], Enumerated],
    ) -> bool:
        """Whether runs that are met by chance fit below a law, too: the first ones are all alike.

        Of some laws, as each run costs as much as one of the summary.
        """
        self.summed_laws += 1
        if self.summed_laws & (self.summed_laws - 1):
            return True
        tree = partial(ChanceTree, as_written.name, max_choices=self.budgets["max_choices"])
        runs = replace(as_written, new_tree=tree, repetition=Repetition())
        with suppress(BudgetError):
            return _fits(enumerated(runs).law, law)
        return True  # not one of them ends within so many choices

    def _leave_at_once(
        self,
        as_written: Enumeration,
        session: Session,
        enumerated: Callable[[Enumeration], Enumerated],
    ) -> Enumerated | None:
        """The law of a program whose loops draw noise, from their first passes; None if refused.

        Of some laws it is looked whether second passes change them, and whether the program as it
        is written, followed for a few passes, fits below.
        """
        if self.second_passes_differ:
            return None

        def law(passes: int) -> Enumerated | None:
            function = self.passes.of_session(session, passes)
            if function is None:
                return None
            tree = partial(self.passes.tree, as_written.name, **self.budgets)
            changes: dict[str, Any] = {"function": function, "new_tree": tree}
            with suppress(LiptestError):
                return enumerated(replace(as_written, **changes, repetition=Repetition()))
            return None

        found = law(1)
        if found is None or found.law.unexplored:
            return found
        self.left_at_once += 1
        if self.left_at_once & (self.left_at_once - 1) == 0:
            longer = law(2)
            self.second_passes_differ = (
                longer is None
                or not _are_near(found.law, longer.law)
                or not _is_above(found.law, as_written, enumerated)
            )
        return None if self.second_passes_differ else found

    def _summed(
        self,
        as_written: Enumeration,
        session: Session,
        enumerated: Callable[[Enumeration], Enumerated],
    ) -> Enumerated | None:
        summed = None
        runs = self.budgets["max_leaves"]
        for most in (_FEW_RUNS, runs) if self.helps is None else (runs,):
            options: Any = {**self.budgets, "max_leaves": most, "skips_light": True}
            tree = partial(RestartingTree, as_written.name, **options)
            function = self.rewritten(session)
            changes: Any = {"function": function, "new_tree": tree, "repetition": Repetition()}
            try:
                summed = enumerated(replace(as_written, **changes))
            except LiptestError:
                return None
            if not self.folds.loops_summed_up and not self.samplers.is_used:
                return None
            if not summed.law.unexplored:
                break
        return summed


def _are_near(one: OutputLaw, other: OutputLaw) -> bool:
    from liptest.enumerate.numbers.half_lines import are_near

    return are_near(one, other)


def _is_above(
    law: OutputLaw, as_written: Enumeration, enumerated: Callable[[Enumeration], Enumerated]
) -> bool:
    """Whether what a few runs of the program as it is written come to fits below a law."""
    from liptest.enumerate.numbers.half_lines import is_below

    for choices in _FEW_CHOICES:
        budgets: Any = {"runs": _FEW_RUNS, "choices": choices, "work": _SOME_WORK}
        short = partial(_short, as_written.new_tree, **budgets)
        with suppress(LiptestError):
            part = enumerated(replace(as_written, new_tree=short, repetition=Repetition())).law
            return is_below(part, law)
    return False


def _short(
    new_tree: Callable[[], ChoiceTree],
    *,
    runs: int = MAX_LEAVES,
    choices: int = MAX_CHOICES,
    work: float = math.inf,
) -> ChoiceTree:
    tree = new_tree()
    tree.most_work = min(tree.most_work, work)
    tree.max_leaves = min(tree.max_leaves, runs)
    tree.max_choices = min(tree.max_choices, choices)
    return tree


def _fits(part: OutputLaw, law: OutputLaw) -> bool:
    """Whether a part of a law lies below another law that leaves less of it open."""
    if part.fractions is None or law.fractions is None or part.unexplored <= law.unexplored:
        return False
    masses = dict(zip(law.outputs, law.fractions, strict=True))
    return all(
        mass <= masses.get(output, Fraction(0)) + law.unexplored
        for output, mass in zip(part.outputs, part.fractions, strict=True)
    )
