"""A search for a refutation at any size, of a fixed number of laws (theory 3.10).

Pairs of plain datasets come first, at the requested size: constant ones and balanced
ones with one record changed, answers that move all one way or apart. Then small instances of the
same code are compared completely, and their worst pairs are padded with further records or
answers to the requested size. Only what is certain there is told. Counts limit the search, not
clocks: the same code gives the same answer everywhere.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from liptest.data.answers import Answers
from liptest.data.domains import Domain
from liptest.data.real_tables import RealRows
from liptest.errors import LiptestError, UnsupportedForm
from liptest.mechanisms.base import LIGHT_RUNS, Mechanism, through_densities
from liptest.mechanisms.laws import laws_of_one_decision, laws_on_trial
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import Answer
from liptest.privacy.judge import LossJudge
from liptest.privacy.proofs.exhaustive import exhaustive_size, pair_blocks
from liptest.privacy.proofs.prices import Alignment
from liptest.privacy.request import Task, make_refuted, make_verdict, nothing, with_paper_cost
from liptest.privacy.searches.far_pairs import far_pairs
from liptest.privacy.searches.plain_pairs import (
    DATASETS,
    Pair,
    pad_pairs,
    pairs_at_quantiles,
    plain_pairs,
    rare_pairs,
    record_pairs,
    small_domains,
)
from liptest.privacy.searches.spread_pairs import spread_pairs
from liptest.privacy.verdicts import BY_REFUTATION, PrivacyPlan, PrivacyVerdict
from liptest.privacy.wording.sentences import say_count
from liptest.runs.driver import Finding, Judgement, RunOutcome
from liptest.symbolic.work import TooDearError, limit_work

if TYPE_CHECKING:
    from liptest.privacy.exact import ExactEpsilon

_SOURCE = "theory 3.10"
# Pairs of plain datasets, of tables of real numbers, small instances, and pairs that are padded.
_PLAIN, _OF_REALS, _SMALL, _PADDED = 24, 48, 3, 12
# Pairs with the change of one record that is dearest to align.
_DEAREST = 4
# Pairs where the rounding of float sums is all that a proof misses: no others lose much more.
_NEARLY_PROVED = 6
# Steps of one line of tables.
_STEPS = 3
# Runs for one law of a small instance, and of the requested size, where long data take longer.
_RUNS, _MOST_RUNS, _RECORDS = 400, 4096, 20_000_000
_FEW_RUNS = 64
# Runs for one law of many answers that are tried first, and how many pairs of plain ones.
_FEW_PATHS, _FIRST = 256, 2
#: What is said where laws were given up.
TOO_DEAR = (
    "the search for a refutation was given up where an output distribution needs too much work; "
    "compare fewer noisy numbers with each other, or fewer records, answers or categories"
)
# So many pairs in a row whose laws cannot be had, or in part: the next ones cannot, either.
_REFUSED = 3
# Work that the laws of one pair, or of one small instance, may ask for: a few seconds.
_WORK = 600_000
# The same where a search must be short.
_FEW_WORK = 60_000


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
    #: Whether laws were given up because they ask for more work than a search is given.
    is_too_dear: bool = False
    #: Whether densities were met that are not compared with each other.
    has_other_densities: bool = False

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
        verdict = make_verdict(task, plan, outcome, make_refuted(task, _SOURCE), "")
        # Whether noise was integrated is known to the mechanism that was asked.
        return replace(verdict, law_source=self.law_source)


def search_refutation(task: Task, known: Alignment | None) -> Refutation:
    """Look for a pair of neighbours, at the requested size, that certainly breaks the claim.

    First where alignment has failed: on both sides of a comparison of data without noise, or with
    the change of a record for which it pays most. Of code that answers texts by their words first.
    """
    words = task.mechanism.telling_words()
    if words is not None:
        refutation = _search(replace(task, mechanism=words), known)
        if refutation.finding is not None:
            return refutation
    return _search(task, known)


def _search(task: Task, known: Alignment | None) -> Refutation:
    started = time.perf_counter()
    refutation = Refutation()
    runs = max(_RUNS, min(_MOST_RUNS, _RECORDS // task.distribution.domain.dimension))
    if known is not None and known.has_far_too_many:
        runs = _FEW_RUNS  # of such a law they are as little as more of them
    at_size = task.mechanism.within(runs)
    is_over = (
        _tries_all_numbers(at_size, task, known, refutation)
        or (_is_too_dear(at_size, task) and _tries_dearest_path(task, refutation))
        or _tries_far_answers(task, known, refutation)
        or through_densities(
            at_size, lambda seen: _Search(seen, task, refutation).try_at_size(known)
        )
        or _tries_dearest_path(task, refutation)
    )
    if refutation.finding is None and refutation.has_other_densities:
        is_over = _tries_cells(task, known, refutation) or is_over
    claim = task.claim
    if not is_over and isinstance(claim, Claim):  # of other notions other pairs tell most
        small = task.mechanism.within(_RUNS)
        through_densities(
            small, lambda seen: _Search(seen, task, refutation).try_small_instances(claim)
        )
    refutation.law_source = at_size.law_source
    refutation.seconds = time.perf_counter() - started
    return refutation


@dataclass(frozen=True, eq=False)
class SpreadSearch:
    """A short search where counts are spread, so that orders of them are few (theory 3.10)."""

    task: Task
    found: Refutation = field(default_factory=Refutation)

    def finds(self) -> bool:
        """Whether a violation was found; looked for once."""
        task, claim = self.task, self.task.claim
        if self.found.pairs or not isinstance(claim, Claim):
            return self.found.finding is not None
        light = task.mechanism.without_light(_FEW_RUNS)
        pairs = list(spread_pairs(task.distribution.domain, float(claim.epsilon)))
        if light is None or not pairs:
            return False
        started = time.perf_counter()
        with suppress(LiptestError):
            through_densities(light, lambda seen: self._try(seen, pairs))
        self.found.law_source = light.law_source
        self.found.seconds = time.perf_counter() - started
        return self.found.finding is not None

    def _try(self, seen: Mechanism, pairs: list[Pair]) -> bool:
        return _Search(seen, self.task, self.found).try_pairs(iter(pairs), len(pairs), _FEW_WORK)


def _tries_all_numbers(
    at_size: Mechanism, task: Task, known: Alignment | None, found: Refutation
) -> bool:
    """Whether whole numbers with noise, compared over all of them, break the claim.

    Value by value the law of several of them has too many values. Of noise of the code's own
    samplers the laws are known nearly.
    """
    zeros = task.distribution.domain.zeros
    for view in (at_size.over_all_numbers, at_size.near_all_numbers):
        with suppress(LiptestError):
            numbers = view(zeros)
            if numbers is not None:
                _Search(numbers, task, found).try_plain(known)
        if found.finding is not None:
            return True
    return False


def _tries_far_answers(task: Task, known: Alignment | None, found: Refutation) -> bool:
    """Whether one of many answers breaks the claim: where whole laws are short, or few are near."""
    pairs = far_pairs(task.distribution.domain)
    light = task.mechanism.without_light(LIGHT_RUNS)
    first = next(pairs, None)
    if light is None or first is None:
        return False
    if known is None or not known.has_far_too_many:  # else no whole law is short
        with suppress(LiptestError):
            _Search(task.mechanism.within(_FEW_PATHS), task, found).try_plain(known, most=_FIRST)
    listed = [first, *pairs]
    if found.finding is None:
        with suppress(LiptestError):
            # A law that is not whole leaves in doubt what it does not break.
            through_densities(
                light,
                lambda seen: _Search(seen, task, found).try_pairs(iter(listed), len(listed)),
            )
    return found.finding is not None


def _is_too_dear(at_size: Mechanism, task: Task) -> bool:
    """Whether the laws of any answers ask for more work than a short search is given."""
    domain = task.distribution.domain
    if not isinstance(domain, Answers):
        return False
    probe = Refutation()
    with suppress(LiptestError):
        _Search(at_size, task, probe).try_pairs(islice(plain_pairs(domain), 1), 1, _FEW_WORK)
    return probe.is_too_dear


def _tries_dearest_path(task: Task, found: Refutation) -> bool:
    """Whether the output of the dearest path breaks the claim: no law is needed (theory S20)."""
    domain, claim = task.distribution.domain, task.claim
    if not isinstance(domain, Answers) or not isinstance(claim, Claim):
        return False
    from liptest.privacy.searches.dearest_pairs import find_violation

    witness = find_violation(task.mechanism, domain, claim)
    found.pairs += 1
    if witness is not None:
        left, right = (np.array(side) for side in (witness.dataset, witness.neighbour))
        found.finding = Finding(left, right, 1, witness)
    return witness is not None


def _tries_cells(task: Task, known: Alignment | None, found: Refutation) -> bool:
    """Whether outputs of which less is told break the claim: one number by its cell, else none.

    To tell less is a function of the output, so its loss is one of the mechanism (theory N10).
    """
    cells = task.mechanism.without_light(LIGHT_RUNS)
    if cells is not None:
        with suppress(LiptestError):
            through_densities(cells, lambda seen: _Search(seen, task, found).try_plain(known))
    return found.finding is not None


def run_refutation(task: Task, known: Alignment | None = None) -> PrivacyVerdict:
    """``method="refutation"``: NO with a witness, or INCONCLUSIVE."""
    refutation = search_refutation(task, known)
    if refutation.finding is not None:
        return refutation.verdict(task)
    plan = PrivacyPlan(BY_REFUTATION, 0, float(refutation.laws), 0.0, _SOURCE)
    total = Judgement(
        queries=refutation.laws, pairs=refutation.pairs, largest=refutation.largest, answered=True
    )
    outcome = RunOutcome(total, "complete", refutation.seconds)
    reason = f"none of {say_count(refutation.pairs, 'pair')} of plain datasets breaks the claim"
    if refutation.is_too_dear:
        reason += f"; {TOO_DEAR}"
    guarantee = nothing("nothing is promised: a search proves only what it finds.", _SOURCE)
    return make_verdict(task, plan, outcome, guarantee, reason)


@dataclass(frozen=True, eq=False)
class _Search:
    mechanism: Mechanism
    task: Task
    found: Refutation

    @property
    def domain(self) -> Domain:
        return self.task.distribution.domain

    def try_at_size(self, known: Alignment | None) -> bool:
        """Plain pairs, the steepest steps along lines of tables, and values that are rare."""
        if self.try_plain(known):
            return True
        if self._lacks_rounding(known):
            return False
        return self.try_lines() or self.try_pairs(rare_pairs(self.domain))

    def _lacks_rounding(self, known: Alignment | None) -> bool:
        """Whether all that the claim misses is the rounding of float sums."""
        return known is not None and known.rounding_beyond(self.task.claim) is not None

    def try_lines(self) -> bool:
        """``try_pairs`` with neighbours between which outputs change most."""
        from liptest.privacy.searches.lines_of_tables import Descent, list_lines

        claim = self.task.claim
        if not isinstance(claim, Claim):
            return False
        for line in list_lines(self.domain):
            descent = Descent(self.mechanism, line, claim)
            try:
                with limit_work(_WORK), laws_of_one_decision(), laws_on_trial():
                    steps = list(islice(descent.steepest(), _STEPS))
            except LiptestError as error:
                _pass_on(error)
                continue
            finally:
                self.found.laws += descent.laws
            if self.try_pairs(iter(steps)):
                return True
        return False

    def try_plain(self, known: Alignment | None, most: int | None = None) -> bool:
        """``try_pairs`` with plain pairs, with the first ones only where it is said how many."""
        first: Iterator[Pair] = iter(())
        if known is not None:
            first = iter(known.boundary)
            if known.dearest is not None:
                first = chain(first, islice(record_pairs(self.domain, *known.dearest), _DEAREST))
        if most is None:
            most = _OF_REALS if isinstance(self.domain, RealRows) else _PLAIN
            most += pairs_at_quantiles(self.domain)
            most = _NEARLY_PROVED if self._lacks_rounding(known) else most
        return self.try_pairs(islice(chain(first, plain_pairs(self.domain)), most))

    def try_pairs(
        self, pairs: Iterator[Pair], most_refused: int = _REFUSED, work: int | None = None
    ) -> bool:
        """Whether the search is over: a violation was found, or laws cannot be had."""
        judge = LossJudge(self.mechanism, self.domain, self.task.claim)
        refused = 0
        for number, (left, right) in enumerate(pairs):
            self.found.pairs += 1
            self.found.laws += 2
            try:
                with limit_work(_WORK if work is None else work):
                    # Of the first pair, and of one that breaks the claim, runs are repeated.
                    if number:
                        answer, finding = judge.try_first(left, right)
                    else:
                        answer, finding = judge.certify(left, right, keep_doubt=False)
            except LiptestError as error:
                _pass_on(error)
                self.found.has_other_densities |= isinstance(error, UnsupportedForm)
                if isinstance(error, TooDearError):
                    self.found.is_too_dear = True
                    refused += 1  # the next one takes as long
                self.found.refusals.append(str(error))
                answer, finding = Answer.DOUBT, None
            if answer is Answer.VIOLATED:
                self.found.finding = finding
                return True
            refused = refused + 1 if answer is Answer.DOUBT else 0
            if refused >= most_refused:
                return True
        return False

    def try_small_instances(self, claim: Claim) -> None:
        """All pairs of instances of few records or answers; the worst ones, padded."""
        padded: list[tuple[float, list[Pair]]] = []
        for small in islice(small_domains(self.domain), _SMALL):
            with suppress(LiptestError):
                size = exhaustive_size(self.mechanism, small)
                if not size.possible or size.laws > DATASETS:
                    continue
                worst = self._worst_of(small)
                self.found.laws += worst.laws
                self.found.largest = max(self.found.largest, worst.lower)
                if worst.witness is not None and worst.upper > claim.threshold:
                    ends = worst.witness.dataset, worst.witness.neighbour
                    pads = islice(pad_pairs(self.domain, *ends), _PADDED)
                    padded.append((-worst.lower, list(pads)))
        for _, pairs in sorted(padded, key=lambda entry: entry[0]):
            if self.try_pairs(iter(pairs)):
                return

    def _worst_of(self, small: Domain) -> ExactEpsilon:
        # A program may look at how many records there are: its own law of each size.
        from liptest.privacy.exact import largest_over

        blocks = pair_blocks(self.mechanism.afresh(), small)
        try:
            with limit_work(_WORK), closing(blocks):  # type: ignore[type-var]
                return largest_over(self.mechanism, blocks)
        except TooDearError:
            self.found.is_too_dear = True
            raise


def _pass_on(error: LiptestError) -> None:
    # What another view of the mechanism can do is not refused.
    from liptest.errors import ContinuousOutputs, NonDeterministicError

    if isinstance(error, (ContinuousOutputs, NonDeterministicError)):
        raise error
