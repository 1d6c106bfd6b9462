"""Search for a violation where sampling does not look (theory 3.10).

A YES by sampling says nothing about datasets of little mass. A bounded search starts at
structured datasets (constant ones, corners, repeated records) and at draws, walks between corners,
and moves to the neighbours of largest loss. It can only turn a YES into a NO, with a witness
that is certified like any other; that it finds nothing promises nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from liptest.data.domains import IntArray, require_one_at_a_time
from liptest.mechanisms.base import Mechanism
from liptest.privacy.proofs.exhaustive import exhaustive_size
from liptest.privacy.proofs.proof import run_exhaustive
from liptest.privacy.request import (
    Meaning,
    Task,
    find_mass,
    make_refuted,
    make_verdict,
    meaning_of_pair,
    nothing,
    with_paper_cost,
)
from liptest.privacy.searches.search_explorer import (
    Explorer,
    Proposals,
    constant_dataset,
    find_path,
    make_structured_datasets,
)
from liptest.privacy.verdicts import BY_SEARCH, PrivacyPlan, PrivacyVerdict
from liptest.privacy.wording.sentences import say_count
from liptest.runs.driver import Judgement, RunOutcome
from liptest.runs.workers import elsewhere, has_processes
from liptest.verdicts import Decision

_SOURCE = "theory 3.10"
# Laws of a search alone: seconds.
_BUDGET = {"declared": 100_000, "enumerated": 10_000}
# After a YES: at most this share of the laws that the sampling planned, and at most so many.
SEARCH_SHARE = 0.1
_MOST = {"declared": 20_000, "enumerated": 2_000}
# Streams of a run: chunks of sampling have small numbers.
_SPAWN_KEY = (1 << 31, 0)
# Good datasets that are kept, how many are looked at in one round, and how many climb apart.
_BEAM, _ROUND, _CLIMBERS = 16, 8, 8
# Datasets that are looked at together.
_TOGETHER = 24
# Rounds between walks from the best dataset to a corner.
_WALK_EVERY = 8
_WALK_SHARE = 4


@dataclass(frozen=True)
class SearchOutcome:
    """What a search did. ``ended``: "violation", "budget", "everything" or "interrupted"."""

    total: Judgement
    datasets: int
    ended: str
    seconds: float

    @property
    def laws(self) -> int:
        """How many output distributions were needed."""
        return self.total.queries


def search(task: Task, budget: int) -> SearchOutcome:
    """Look for a violated pair with at most ``budget`` laws; the same seed finds the same."""
    started = time.perf_counter()
    sequence = np.random.SeedSequence(task.seed, spawn_key=_SPAWN_KEY)
    rng = np.random.Generator(np.random.SFC64(sequence))
    domain = task.distribution.domain
    explorer = Explorer(task.mechanism, domain, task.claim, budget=budget, rng=rng)
    ended = "budget"
    try:
        _Search(task, explorer, rng).run()
    except KeyboardInterrupt:
        ended = "interrupted"
    if explorer.total.violation is not None:
        ended = "violation"
    return SearchOutcome(explorer.total, explorer.datasets, ended, time.perf_counter() - started)


class _Search:
    """The order of moves, and the beam of good datasets."""

    def __init__(self, task: Task, explorer: Explorer, rng: np.random.Generator) -> None:
        self._explorer = explorer
        self._task = task
        self._rng = rng
        self._moves = Proposals(task.distribution, rng)
        self._domain = task.distribution.domain
        self._climbers: list[tuple[float, IntArray]] = []
        # (score, tie-break, dataset), best first; and neighbours to move to.
        self._beam: list[tuple[float, float, IntArray]] = []
        self._next: list[tuple[float, float, IntArray]] = []

    def run(self) -> None:
        """Structured starts, walks, then rounds until the budget ends."""
        self._visit(make_structured_datasets(self._task.distribution, self._rng))
        self._walk(
            constant_dataset(self._domain, 0),
            constant_dataset(self._domain, max(self._domain.sizes) - 1),
        )
        idle = 0
        rounds = 0
        while not self._explorer.is_over and idle < _WALK_EVERY:
            before = self._explorer.total.queries
            self._climb()
            self._visit(np.array(self._round(), dtype=self._domain.dtype))
            rounds += 1
            if rounds % _WALK_EVERY == 0 and self._beam:
                self._walk(self._beam[0][2], self._corner())
            # A small domain may have nothing new to offer.
            idle = idle + 1 if self._explorer.total.queries == before else 0
            self._report()

    def _report(self) -> None:
        if self._task.settings.progress is not None:
            self._task.settings.progress(self._explorer.total.queries, self._explorer.budget)

    def _visit(self, points: IntArray) -> dict[bytes, tuple[float, IntArray]]:
        """Score of each new dataset, and its neighbour to move to."""
        seen: dict[bytes, tuple[float, IntArray]] = {}
        for start in range(0, len(points), _TOGETHER):
            if self._explorer.is_over:
                break
            explored = self._explorer.neighbourhoods(points[start : start + _TOGETHER])
            for point, score, other in zip(*explored, strict=True):
                tie = float(self._rng.random())
                self._beam.append((-float(score), tie, point.copy()))
                self._next.append((-float(score), tie, other.copy()))
                seen[point.tobytes()] = float(score), other.copy()
        for kept in (self._beam, self._next):
            kept.sort(key=lambda entry: entry[:2])
            del kept[_BEAM:]
        return seen

    def _climb(self) -> None:
        """Each climber moves to its best neighbour; one that gains nothing starts afresh."""
        while len(self._climbers) < _CLIMBERS:
            self._climbers.append((-1.0, self._fresh()))
        points = np.array([point for _, point in self._climbers], dtype=self._domain.dtype)
        seen = self._visit(points)
        moved = []
        for before, point in self._climbers:
            score, other = seen.get(point.tobytes(), (before, point))
            if score > before:
                moved.append((score, other))
        self._climbers = moved

    def _walk(self, start: IntArray, end: IntArray) -> None:
        steps = int(self._domain.distance(start[None, :], end[None, :])[0])
        if self._explorer.is_over or steps == 0 or steps > self._explorer.left // _WALK_SHARE:
            return
        way = find_path(self._domain, start, end, self._rng)
        scores = self._explorer.walk(way)
        if len(scores) and not self._explorer.is_over:
            best = int(np.argmax(scores))
            self._visit(way[best : best + 2])

    def _corner(self) -> IntArray:
        sizes = self._domain.size_array
        ends = np.where(self._rng.random(len(sizes)) < 0.5, 0, sizes - 1)
        return np.asarray(ends.astype(self._domain.dtype))

    def _round(self) -> list[IntArray]:
        """One round: the best neighbours, and the other moves in equal parts."""
        greedy = [entry[2] for entry in self._next[: _ROUND // 3]]
        self._next = self._next[_ROUND // 3 :]
        moves = (self._block, self._learn, self._cross, self._fresh)
        others = [moves[k % len(moves)]() for k in range(_ROUND - len(greedy))]
        return greedy + others

    def _good(self) -> IntArray:
        # Better ones more often.
        place = min(self._rng.geometric(0.3) - 1, len(self._beam) - 1)
        return self._beam[place][2] if self._beam else self._moves.restart()

    def _block(self) -> IntArray:
        return self._moves.block(self._good())

    def _learn(self) -> IntArray:
        if not self._explorer.learns_values:
            return self._fresh()
        return self._moves.learnt(self._explorer.value_score)

    def _cross(self) -> IntArray:
        return self._moves.crossed(self._good(), self._good())

    def _fresh(self) -> IntArray:
        kinds = (self._moves.restart, self._moves.uniform, self._moves.few_values)
        return kinds[int(self._rng.integers(0, 3))]()


def run_search(task: Task) -> PrivacyVerdict:
    """``method="search"``: NO with a witness, or INCONCLUSIVE.

    Where the budget pays for all neighbouring pairs they are all compared instead, which is a
    proof (method "exhaustive").
    """
    budget = task.settings.budget
    if budget is None:
        budget = _BUDGET.get(task.mechanism.source, _BUDGET["enumerated"])
    size = exhaustive_size(task.mechanism, task.distribution.domain)
    if size.possible and size.laws <= budget and size.pairs <= 100 * budget:
        return run_exhaustive(task)
    require_one_at_a_time(task.distribution.domain, "method='search' over so many datasets")
    plan = with_paper_cost(task, PrivacyPlan(BY_SEARCH, 0, float(budget), 0.0, _SOURCE))
    outcome = search(task, budget)
    verdict = make_verdict(
        task,
        plan,
        RunOutcome(outcome.total, outcome.ended, outcome.seconds),
        *_meaning(task, outcome),
    )
    return replace(verdict, cost=replace(verdict.cost, search_datasets=outcome.datasets))


def then_search(task: Task, verdict: PrivacyVerdict) -> PrivacyVerdict:
    """Search where a YES by sampling does not look; only a violation changes the decision."""
    if not task.distribution.domain.one_at_a_time:
        return verdict  # its moves are changes of one coordinate
    laws = _phase_budget(task, verdict)
    if verdict.guarantee.kind != "sampling" or laws < 2:
        return verdict
    outcome = search_in_worker(task, laws)
    cost = replace(
        verdict.cost,
        search_laws=outcome.laws,
        search_datasets=outcome.datasets,
        seconds=verdict.cost.seconds + outcome.seconds,
    )
    violation = outcome.total.violation
    if violation is None:
        return replace(verdict, cost=cost)
    return replace(
        verdict,
        decision=Decision.NO,
        witness=violation.evidence,
        guarantee=make_refuted(task, _SOURCE),
        cost=cost,
        largest_loss=max(verdict.largest_loss, outcome.total.largest),
        exception_mass_found=find_mass(task, verdict.plan, Decision.NO),
    )


def default_search_laws(mechanism: Mechanism, planned: float) -> int:
    """Laws of the search after a YES for which ``planned`` laws were planned."""
    most = _MOST.get(mechanism.source, _MOST["enumerated"])
    return int(min(most, SEARCH_SHARE * planned))


def _phase_budget(task: Task, verdict: PrivacyVerdict) -> int:
    laws = task.settings.search_laws
    if laws is None:
        laws = default_search_laws(task.mechanism, verdict.plan.laws)
    return (
        laws
        if task.settings.budget is None
        else min(laws, task.settings.budget - verdict.cost.laws)
    )


def _meaning(task: Task, search: SearchOutcome) -> Meaning:
    meaning = meaning_of_pair(task, _SOURCE, search.total)
    if meaning is not None:
        return meaning
    words = "interrupted: " if search.ended == "interrupted" else ""
    reason = f"{words}search over {say_count(search.datasets, 'dataset')} found no violation"
    return nothing("nothing is promised: a search proves only what it finds.", _SOURCE), reason


@dataclass(frozen=True, eq=False)
class _SearchTask:
    task: Task
    budget: int

    def __call__(self) -> SearchOutcome:
        return search(self.task, self.budget)


def search_in_worker(task: Task, budget: int) -> SearchOutcome:
    """``search`` by one worker, without progress; Ctrl-C here ends the waiting."""
    alone = task.alone()
    if not has_processes(task.settings.executor):
        return search(alone, budget)
    try:
        return elsewhere(_SearchTask(alone, budget), task.settings.executor)
    except KeyboardInterrupt:
        return SearchOutcome(Judgement(), 0, "interrupted", 0.0)
