"""Tables that are drawn, each proved together with all its neighbours (docs/theory/tables.md, B13).

Near a table, and on its neighbours, sums of the data lie between numbers that are close to each
other. A proof by alignment that takes them to lie there decides comparisons of data without noise,
and is true for every table whose sums, and those of its neighbours, lie between the same numbers.
So a few proofs are enough for many tables; each other table costs its sums.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from liptest.data.distributions import DomainAlone
from liptest.data.domains import IntArray
from liptest.data.tables import NearTables, Table
from liptest.errors import InputError
from liptest.privacy.proofs.alignment import prove_by_alignment, say_unproved
from liptest.privacy.proofs.prices import Alignment
from liptest.privacy.request import Meaning, Task, make_refuted, make_verdict, nothing
from liptest.privacy.samples.intervals import clean_draws
from liptest.privacy.samples.sampling_run import make_sampled_promise, partial_promise
from liptest.privacy.searches.probed_tables import (
    ProbedTables,
    find_declared_modulus,
    modulus_words,
)
from liptest.privacy.searches.refutation import search_refutation
from liptest.privacy.verdicts import PrivacyPlan, PrivacyVerdict
from liptest.runs.driver import Judgement, RunOutcome

_SOURCE = "theory B13"
_METHOD = "neighbourhoods"
# Tables that are looked at together at first, groups that are kept, and proofs that are tried.
_FIRST, _GROUPS, _MOST_PROOFS = 48, 24, 2000
# Streams of a run: chunks of other methods have small numbers.
_SPAWN_KEY = 1 << 29


def speaks_of_tables(task: Task) -> bool:
    """Whether tables are drawn whose rows cannot be visited one by one."""
    domain = task.distribution.domain
    if not isinstance(domain, Table) or isinstance(task.distribution, DomainAlone):
        return False
    return bool(domain.first) or not domain.one_at_a_time


def run_sampled_tables(task: Task) -> PrivacyVerdict:
    """YES of all but a few tables, NO with two tables, or INCONCLUSIVE."""
    if task.settings.method not in ("auto", _METHOD):
        raise InputError(
            f"method={task.settings.method!r}: tables whose rows come and go, of users and of "
            f"real numbers are drawn by method={_METHOD!r} only",
            name="method",
            value=task.settings.method,
        )
    started = time.perf_counter()
    numbers = task.settings.exception_mass, task.settings.failure_probability
    planned = clean_draws(*numbers)
    plan = PrivacyPlan(_METHOD, planned, float(planned), 1.0, _SOURCE)
    walk, modulus = ProvedTables(task), find_declared_modulus(task)
    probed = None if modulus is None else ProbedTables(task, modulus)
    done, ended, why = _walk_tables(task, walk, probed, planned)
    total = Judgement(draws=done, largest=walk.largest, answered=True)
    if probed is not None:
        total = total + probed.total
    if total.violation is not None:
        total = replace(total, draws=done + 1)
    outcome = RunOutcome(total, ended, time.perf_counter() - started)
    promised = _promise_of(task, outcome, planned, why)
    if probed is not None and probed.between and promised[0].kind == "sampling":
        sentence = f"{promised[0].sentence} All this is {modulus_words(probed.modulus)}."
        promised = replace(promised[0], sentence=sentence), ""
    if ended != "interrupted" and total.violation is None and task.settings.method == _METHOD:
        searched = _search(task)
        if searched is not None:
            return searched
    if total.pairs:
        return make_verdict(task, plan, outcome, *promised)
    source = task.mechanism.source.replace("enumerated", "aligned", 1)
    return replace(make_verdict(task, plan, outcome, *promised), law_source=source)


def _walk_tables(
    task: Task, walk: ProvedTables, probed: ProbedTables | None, planned: int
) -> tuple[int, str, str]:
    """How many drawn tables are done, how the run ended, and why the one after them is not."""
    budget, progress = task.settings.budget, task.settings.progress
    draws = planned if budget is None else min(planned, budget)
    first = [draw_table(task, number) for number in range(min(draws, _FIRST))]
    done, why = 0, ""
    try:
        walk.prove_together(first)
        for done in range(draws):
            table = first[done] if done < len(first) else draw_table(task, done)
            if probed is None or not probed.total.pairs:
                why = walk.why_not(table)
            if probed is not None and (why or probed.total.pairs):
                why = probed.why_not(table)
            if why:
                break
            if progress is not None:
                progress(done + 1, draws)
        else:
            done = draws
    except KeyboardInterrupt:
        return done, "interrupted", why
    return done, "complete" if draws == planned else "budget", why


def _promise_of(task: Task, outcome: RunOutcome, planned: int, why: str) -> Meaning:
    """What the tables that were drawn promise."""
    total, ended = outcome.total, outcome.ended
    if total.violation is not None:
        return make_refuted(task, _SOURCE), ""
    if not why and ended == "complete":
        return make_sampled_promise(task, _SOURCE, group=False, per_record=True), ""
    if not why:
        return partial_promise(task, total.draws, planned, ended, _SOURCE)
    words = f"not all neighbours of drawn table {total.draws + 1:,} were proved: {why}"
    return nothing("nothing is promised.", _SOURCE), words


def draw_table(task: Task, number: int) -> IntArray:
    """The table of one draw: the same for the same seed."""
    sequence = np.random.SeedSequence(task.seed, spawn_key=(_SPAWN_KEY, number))
    rng = np.random.Generator(np.random.SFC64(sequence))
    return np.asarray(task.distribution.sample(rng, 1)[0])


def _search(task: Task) -> PrivacyVerdict | None:
    """The NO of two tables that break the claim, wherever they are; none with search_laws=0."""
    if task.settings.search_laws == 0:
        return None
    aligned = prove_by_alignment(task)
    if isinstance(aligned, PrivacyVerdict):
        return None
    refutation = search_refutation(task, aligned)
    return None if refutation.finding is None else refutation.verdict(task)


@dataclass
class ProvedTables:
    """What was proved near some tables; see the module."""

    task: Task
    proofs: int = 0
    #: The largest price that was proved.
    largest: float = 0.0
    #: The tables that each proof was made near, and what says where else it holds.
    groups: list[NearTables] = field(default_factory=list)

    def prove_together(self, tables: Sequence[IntArray]) -> None:
        """One proof near some tables, which most others will then be near, if there is one."""
        proved = self._prove(tables)
        if not isinstance(proved, str):
            self.groups.append(proved)

    def why_not(self, dataset: IntArray) -> str:
        """Empty where all neighbours of a table are proved; else why not."""
        for place, group in enumerate(self.groups):
            if group.holds_for(dataset):
                self.groups.insert(0, self.groups.pop(place))
                return ""
        for place, group in enumerate(self.groups):
            wider = self._prove([*group.tables, dataset])
            if not isinstance(wider, str):
                self.groups[place] = wider
                return ""
        alone = self._prove([dataset])
        if isinstance(alone, str):
            return alone
        self.groups.insert(0, alone)
        del self.groups[_GROUPS:]
        return ""

    def _prove(self, tables: Sequence[IntArray]) -> NearTables | str:
        """The claim near some tables, or why it is not proved."""
        if self.proofs >= _MOST_PROOFS:
            return f"after {self.proofs:,} proofs the tables are still too different"
        self.proofs += 1
        domain = self.task.distribution.domain
        assert isinstance(domain, Table)
        near = domain.around(tables)
        outcome = prove_by_alignment(replace(self.task, distribution=DomainAlone(near)))
        if isinstance(outcome, Alignment):
            return say_unproved(outcome, self.task.claim)
        assert near.near is not None
        if not all(near.near.holds_for(table) for table in tables):
            return "sums of floats are rounded in an unknown order"
        self.largest = max(self.largest, outcome.largest_loss)
        return near.near
