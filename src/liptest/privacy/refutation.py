"""A search for a refutation at any size, of a fixed number of laws (theory 3.10).

Pairs of plain datasets come first, at the size that was asked for: constant ones and balanced
ones with one record changed, answers that move all one way or apart. Then small instances of the
same code are compared completely, and their worst pairs are padded with further records or
answers to the size asked for. Only what is certain there is told. Counts limit the search, not
clocks: the same code gives the same answer everywhere.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.answers import Answers
from liptest.data.domains import (
    AllAnswers,
    AnswerGrid,
    Domain,
    Hypercube,
    Hypergrid,
    OneAnswer,
    RecordGrid,
)
from liptest.errors import LiptestError
from liptest.mechanisms.base import Mechanism, through_densities
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import Answer
from liptest.privacy.exhaustive import exhaustive_size, pair_blocks
from liptest.privacy.judge import LossJudge
from liptest.privacy.proof import largest_over
from liptest.privacy.request import Task, nothing, refuted, verdict_of, with_paper_cost
from liptest.privacy.verdicts import BY_REFUTATION, PrivacyPlan, PrivacyVerdict, counted
from liptest.runs.driver import Finding, Judgement, RunOutcome

Dataset = NDArray[np.int64]
Pair = tuple[Dataset, Dataset]

_SOURCE = "theory 3.10"
# Pairs of plain datasets, small instances, their datasets, and pairs that are padded.
_PLAIN, _SMALL, _DATASETS, _PADDED = 20, 3, 64, 12
# Runs for one law of a small instance, and of the size asked for, where long data take longer.
_RUNS, _MOST_RUNS, _RECORDS = 400, 4096, 20_000_000
# Values of a record that are tried, and answers that move together.
_VALUES, _ANSWERS = 5, 3
# So many pairs in a row whose laws cannot be had, or in part: the next ones cannot, either.
_REFUSED = 3


@dataclass
class Refutation:
    """What a search came to: the pair that breaks the claim, or the largest exact loss seen."""

    finding: Finding | None = None
    pairs: int = 0
    laws: int = 0
    largest: float = 0.0
    seconds: float = 0.0
    law_source: str = ""
    refusals: list[str] = field(default_factory=list)

    def verdict(self, task: Task) -> PrivacyVerdict:
        """The NO; only where there is a finding."""
        assert self.finding is not None
        total = Judgement(
            queries=self.laws,
            pairs=self.pairs,
            largest=max(self.largest, self.finding.evidence.loss_lower),
            answered=True,
            violation=self.finding,
        )
        plan = with_paper_cost(task, PrivacyPlan(BY_REFUTATION, 0, float(self.laws), 0.0, _SOURCE))
        outcome = RunOutcome(total, "violation", self.seconds)
        verdict = verdict_of(task, plan, outcome, refuted(task, _SOURCE), "")
        # Whether noise was integrated is known to the mechanism that was asked.
        return replace(verdict, law_source=self.law_source)


def search_refutation(task: Task) -> Refutation:
    """Look for a pair of neighbours, at the size asked for, that certainly breaks the claim."""
    started = time.perf_counter()
    found = Refutation()
    if not isinstance(task.claim, Claim):
        return found  # of other notions other pairs tell most
    runs = max(_RUNS, min(_MOST_RUNS, _RECORDS // task.distribution.domain.dimension))
    at_size = task.mechanism.within(runs)
    is_over = through_densities(at_size, lambda seen: _Search(seen, task, found).try_plain())
    if not is_over:
        small = task.mechanism.within(_RUNS)
        through_densities(small, lambda seen: _Search(seen, task, found).try_small_instances())
    found.law_source = at_size.law_source
    found.seconds = time.perf_counter() - started
    return found


def run_refutation(task: Task) -> PrivacyVerdict:
    """``method="refutation"``: NO with a witness, or INCONCLUSIVE."""
    found = search_refutation(task)
    if found.finding is not None:
        return found.verdict(task)
    plan = PrivacyPlan(BY_REFUTATION, 0, float(found.laws), 0.0, _SOURCE)
    total = Judgement(queries=found.laws, pairs=found.pairs, largest=found.largest, answered=True)
    outcome = RunOutcome(total, "complete", found.seconds)
    reason = f"none of {counted(found.pairs, 'pair')} of plain datasets breaks the claim"
    guarantee = nothing("nothing is promised: a search proves only what it finds.", _SOURCE)
    return verdict_of(task, plan, outcome, guarantee, reason)


@dataclass(frozen=True, eq=False)
class _Search:
    mechanism: Mechanism
    task: Task
    found: Refutation

    @property
    def domain(self) -> Domain:
        return self.task.distribution.domain

    @property
    def claim(self) -> Claim:
        assert isinstance(self.task.claim, Claim)
        return self.task.claim

    def try_plain(self) -> bool:
        """``try_pairs`` with plain pairs."""
        return self.try_pairs(islice(plain_pairs(self.domain), _PLAIN))

    def try_pairs(self, pairs: Iterator[Pair]) -> bool:
        """Whether the search is over: a violation was found, or laws cannot be had."""
        judge = LossJudge(self.mechanism, self.domain, self.claim)
        refused = 0
        for left, right in pairs:
            self.found.pairs += 1
            self.found.laws += 2
            try:
                answer, finding = judge.certify(left, right, keep_doubt=False)
            except LiptestError as error:
                _pass_on(error)
                self.found.refusals.append(str(error))
                answer, finding = Answer.DOUBT, None
            if answer is Answer.VIOLATED:
                self.found.finding = finding
                return True
            refused = refused + 1 if answer is Answer.DOUBT else 0
            if refused >= _REFUSED:
                return True
        return False

    def try_small_instances(self) -> None:
        """All pairs of instances of few records or answers; the worst ones, padded."""
        padded: list[tuple[float, list[Pair]]] = []
        for small in islice(small_domains(self.domain), _SMALL):
            with suppress(LiptestError):
                size = exhaustive_size(self.mechanism, small)
                if not size.possible or size.laws > _DATASETS:
                    continue
                # A program may look at how many records there are: its own law of each size.
                with closing(pair_blocks(self.mechanism.afresh(), small)) as blocks:  # type: ignore[type-var]
                    worst = largest_over(self.mechanism, blocks)
                self.found.laws += worst.laws
                self.found.largest = max(self.found.largest, worst.lower)
                if worst.witness is not None and worst.upper > self.claim.threshold:
                    ends = worst.witness.dataset, worst.witness.neighbour
                    pads = islice(padded_pairs(self.domain, *ends), _PADDED)
                    padded.append((-worst.lower, list(pads)))
        for _, pairs in sorted(padded, key=lambda one: one[0]):
            if self.try_pairs(iter(pairs)):
                return


def _pass_on(error: LiptestError) -> None:
    # What another view of the mechanism can do is not refused.
    from liptest.errors import ContinuousOutputs, NonDeterministicError

    if isinstance(error, (ContinuousOutputs, NonDeterministicError)):
        raise error


def plain_pairs(domain: Domain) -> Iterator[Pair]:
    """Neighbours that are easily said, those most likely to tell first."""
    if isinstance(domain, Answers):
        return _answer_pairs(domain)
    if isinstance(domain, AllAnswers):
        return _all_move_pairs(domain)
    if isinstance(domain, (OneAnswer, Hypergrid)):
        return _step_pairs(domain)
    if isinstance(domain, (Hypercube, RecordGrid)):
        return _record_pairs(domain)
    return iter(())


def _record_pairs(domain: Domain) -> Iterator[Pair]:
    """One record changed: among equal ones, and among balanced ones."""
    sizes = domain.size_array
    n = domain.dimension
    places = dict.fromkeys((0, n - 1, n // 2))
    balanced = np.arange(n) % sizes
    for low, high in _value_pairs(int(sizes.max())):
        for place in places:
            values = [min(value, int(sizes[place]) - 1) for value in (low, high)]
            if values[0] == values[1]:
                continue
            for base in (
                np.minimum(low, sizes - 1),
                np.minimum(high, sizes - 1),
                balanced,
            ):
                yield _changed(base, place, values[0], values[1])


def _value_pairs(size: int) -> Iterator[tuple[int, int]]:
    few = sorted(dict.fromkeys((0, size - 1, 1, size // 2, size - 2))) if size > 1 else []
    values = [value for value in few if 0 <= value < size][:_VALUES]
    yield from sorted(combinations(values, 2), key=lambda pair: pair[0] - pair[1])


def _changed(base: Any, place: int, one: int, other: int) -> Pair:
    left = np.array(base, dtype=np.int64)
    right = left.copy()
    left[place], right[place] = one, other
    return left, right


def _step_pairs(domain: Domain) -> Iterator[Pair]:
    """One count or answer raised by 1, from low, high and balanced ones."""
    sizes, n = domain.size_array, domain.dimension
    for base in (np.zeros(n, dtype=np.int64), sizes - 1, sizes // 2, np.arange(n) % sizes):
        for place in dict.fromkeys((0, n - 1, n // 2)):
            value = min(int(base[place]), int(sizes[place]) - 2)
            if value >= 0:
                yield _changed(base, place, value, value + 1)


def _answer_pairs(domain: Answers) -> Iterator[Pair]:
    m, step = domain.dimension, max(1, int(domain.sensitivity))
    moves = (
        _directions(m)
        if domain.kind == "all" and domain.sensitivity >= 1
        else (np.array(move) // step for move in domain.whole_moves())
        if domain.kind == "one"
        else (np.array(move) for move in domain.whole_moves())
    )
    scale = step if domain.kind != "moves" else 1
    for move in moves:
        reach = int(np.abs(move).max()) * scale
        yield np.full(m, reach), reach + scale * move
    for move in islice(_directions(m) if domain.kind == "all" else iter(()), _ANSWERS):
        if domain.sensitivity >= 1:
            # Answers far from each other.
            base = step * (1 + 8 * (np.arange(m) % 2))
            yield base, base + scale * move


def _all_move_pairs(domain: AllAnswers) -> Iterator[Pair]:
    sizes = domain.size_array
    for base in (np.minimum(1, sizes - 1), sizes // 2, np.zeros_like(sizes)):
        for move in islice(_directions(domain.dimension), _PLAIN // 2):
            right = np.clip(base + move, 0, sizes - 1)
            if (right != base).any():
                yield base.copy(), right


def _directions(m: int) -> Iterator[NDArray[np.int64]]:
    """Moves by -1, 0 or 1: apart from the last or first few answers, together, one alone."""
    seen: set[bytes] = set()
    for move in _every_direction(m):
        if move.tobytes() not in seen and move.any():
            seen |= {move.tobytes(), (-move).tobytes()}
            yield move


def _every_direction(m: int) -> Iterator[NDArray[np.int64]]:
    up = np.ones(m, dtype=np.int64)
    for few in range(1, _ANSWERS + 1):
        if few <= m:
            for part in (slice(m - few, None), slice(0, few)):
                move = up.copy()
                move[part] = -1
                yield move
    yield up
    for part in (slice(m // 2), slice(None, None, 2)):
        move = up.copy()
        move[part] = -1
        yield move
    for place in (0, m - 1):
        alone = np.zeros(m, dtype=np.int64)
        alone[place] = 1
        yield alone


def small_domains(domain: Domain) -> Iterator[Domain]:
    """Few records or answers of the same kind, all of whose datasets are compared."""
    m = domain.dimension
    if isinstance(domain, Answers):
        relation = domain.kind if domain.kind in ("all", "one") else None
        if relation and domain.sensitivity >= 1:
            for few in (2, 3):
                if few < m:
                    yield AnswerGrid([3] * few, relation=relation)
        return
    sizes = domain.sizes
    if len(set(sizes)) > 1:
        return
    for few in (1, 2, 3):
        if few < m and sizes[0] ** few <= _DATASETS:
            if isinstance(domain, Hypercube):
                yield Hypercube(few)
            elif isinstance(domain, (AllAnswers, OneAnswer)):
                relation = "all" if isinstance(domain, AllAnswers) else "one"
                yield AnswerGrid([min(3, sizes[0])] * few, relation=relation)
            elif type(domain) in (Hypergrid, RecordGrid):
                kind: Any = type(domain)
                yield kind([sizes[0]] * few)


def padded_pairs(
    domain: Domain, dataset: tuple[int, ...], neighbour: tuple[int, ...]
) -> Iterator[Pair]:
    """Both ends with the same further records or answers, so many that they fit the domain."""
    rest = domain.dimension - len(dataset)
    top = max(domain.sizes) - 1
    if isinstance(domain, (Answers, AnswerGrid)):
        values: list[Any] = sorted({0, min(1, top), min(2, top), min(1 << 20, top)})
    else:
        values = sorted({*dataset, *neighbour, 0, top, top // 2})
    pads = [np.full(rest, value, dtype=np.int64) for value in values]
    pads.append(np.arange(rest, dtype=np.int64) % (min(top, 1 << 20) + 1))
    for pad in pads:
        yield np.concatenate([dataset, pad]), np.concatenate([neighbour, pad])
        yield np.concatenate([pad, dataset]), np.concatenate([pad, neighbour])
