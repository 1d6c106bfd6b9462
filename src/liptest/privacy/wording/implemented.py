"""The second line of a verdict: what the floats that NumPy really returns give away.

Ideal noise is a proof about real numbers. The floats of ``x + rng.laplace()`` are others: most
outputs on one dataset cannot occur on its neighbour (Mironov, CCS 2012). Here such an output is
looked for at a few plain pairs, and certified (docs/theory/floats.md). Counts limit the search, not
clocks; where anything is not followed, nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain
from liptest.data.tables import Table
from liptest.errors import LiptestError, UnsupportedRandomnessError
from liptest.floats.chains import FloatChain, Number
from liptest.floats.counts import NotCounted, runs_over
from liptest.floats.grid import (
    GENERATOR,
    GRID,
    RANDOM_STATE,
    fresh,
    generator_in,
    state_words,
    words_at,
)
from liptest.floats.impossible import CONSTANT, MOST_POINTS, exclude, grid_source, leading_to
from liptest.floats.records import (
    AsImplemented,
    ExcludedPath,
    ImpossibleOutput,
    RecordedNumber,
    conditions,
    not_analysed,
    write_number,
)
from liptest.mechanisms.base import Mechanism
from liptest.privacy.claims import Claim
from liptest.privacy.notions import CurveClaim, StatedClaim
from liptest.privacy.proofs.counted_floats import (
    FloatPathsOf,
    count_floats,
    remember_paths,
    tell_of_counts,
)
from liptest.privacy.request import Task, make_refuted, nothing, vacuous_verdict
from liptest.privacy.samples.intervals import binomial_lower
from liptest.privacy.searches.plain_pairs import plain_pairs
from liptest.privacy.settings import BOTH, IDEAL, IMPLEMENTED
from liptest.privacy.verdicts import PrivacyPlan, PrivacyVerdict
from liptest.runs.interrupts import deadline
from liptest.verdicts import Decision

#: Chance that the share of impossible draws is told too large.
FAILURE = 1e-6
# Pairs that are looked at, places of an output, draws until an impossible one, at both ends of the
# grid, and runs that must agree with what was followed.
_PAIRS, _PLACES, _TRIED, _ENDS, _CHECKED, _COMPARED = 4, 3, 12, 6, 8, 64
# For this line alone: records that are walked one by one, and numbers that a dataset has.
_WALKED, _MOST_NUMBERS = 100_000, 2_000_000
#: How many draws measure the share of impossible ones, beside the ideal verdict and without it.
FEW_DRAWS, MANY_DRAWS = 64, 400
_SOURCE = "theory I2"
_NOTHING = "not refuted: at plain pairs no outputs were found that tell them apart"
# Of laws of noise that is taken as ideal.
_IDEAL = ("integrated", "aligned")
Dataset = NDArray[Any]


def has_ideal_noise(verdict: PrivacyVerdict) -> bool:
    """Whether the verdict takes noise as ideal: other random choices are followed as they are."""
    return verdict.law_source.startswith(_IDEAL)


def with_floats(task: Task, verdict: PrivacyVerdict) -> PrivacyVerdict:
    """The verdict with what is known of the floats; under "implemented" that decides."""
    floats = task.settings.floats
    if floats == IDEAL or verdict.was_cut_off:
        return verdict
    is_open = floats == IMPLEMENTED and verdict.decision is Decision.INCONCLUSIVE
    if not has_ideal_noise(verdict) and not is_open:
        return verdict
    if floats == BOTH and verdict.decision is Decision.NO:
        return verdict
    draws = MANY_DRAWS if floats == IMPLEMENTED else FEW_DRAWS
    most = task.settings.max_seconds
    with deadline(None if most is None else max(most - verdict.cost.seconds, most / 10)) as limit:
        try:
            domain = task.distribution.domain
            examined = examine_floats(task.mechanism, domain, task.claim, draws=draws)
        except KeyboardInterrupt:
            limit.close()
            examined = not_analysed("the time ended" if limit.is_over else "interrupted")
    if floats == IMPLEMENTED:
        return _decide_by_floats(task, verdict, examined)
    return replace(verdict, implemented=examined)


def decide_without_law(task: Task, error: UnsupportedRandomnessError) -> PrivacyVerdict:
    """The verdict on the floats of code whose ideal law is not followed, or that refusal."""
    plan = PrivacyPlan("auto", 0, 0.0, 0.0, _SOURCE)
    sentence = "nothing is promised: the law of the code is not followed."
    verdict = with_floats(task, vacuous_verdict(task, plan, sentence, str(error)))
    if verdict.decision is not Decision.NO:
        raise error
    return verdict


def _decide_by_floats(task: Task, verdict: PrivacyVerdict, found: AsImplemented) -> PrivacyVerdict:
    """The verdict on the code as it is implemented."""
    if found.decision is Decision.YES and verdict.decision is Decision.YES:
        return replace(verdict, implemented=found)
    ideal = f"with ideal noise: {verdict.decision}"
    if found.decision is Decision.NO:
        guarantee, reason = make_refuted(task, _SOURCE), ""
        if found.share is not None and _largest_delta(task.claim) > 0:
            # The output is certain, how much such outputs weigh is not.
            guarantee = replace(guarantee, failure_probability=FAILURE)
    else:
        guarantee = nothing("nothing is promised of the floats.", _SOURCE)
        reason = f"as implemented: {found.reason}; {ideal}"
    return replace(
        verdict,
        decision=Decision.NO if found.decision is Decision.NO else Decision.INCONCLUSIVE,
        guarantee=guarantee,
        reason=reason,
        witness=None,
        remedy=None,
        exception_mass_found=None,
        implemented=found,
    )


def examine_floats(
    mechanism: Mechanism, domain: Domain, claim: StatedClaim, *, draws: int
) -> AsImplemented:
    """What is known of the code as it is implemented; ``draws`` measure the share."""
    try:
        return _examine(mechanism, domain, claim, draws)
    except LiptestError as error:
        return not_analysed(str(error))
    except ArithmeticError as error:
        return not_analysed(f"its numbers are too large for floats ({error})")


def _examine(mechanism: Mechanism, domain: Domain, claim: StatedClaim, draws: int) -> AsImplemented:
    many = draws == MANY_DRAWS
    too_large = "" if many else _too_large(mechanism, domain)
    if too_large:
        return not_analysed(f'{too_large}: with floats="implemented" they are examined')
    counted, why = None, ""
    paths_of = remember_paths(mechanism)
    try:
        sizes = {"pairs": 8, "datasets": 256} if many else {"pairs": 2, "datasets": 32}
        counted = tell_of_counts(count_floats(paths_of, domain, claim, **sizes), claim)
    except NotCounted as error:
        why = str(error)
    if counted is not None and not math.isinf((counted.loss or (0.0, 0.0))[1]):
        return counted
    searched = _search(paths_of, domain, claim, draws)
    if counted is not None:
        # A claim with a delta may hold, whatever single outputs give away.
        return replace(counted, witness=searched.witness if counted.decision == "NO" else None)
    if searched.reason == _NOTHING:
        return replace(searched, reason=f"{_NOTHING}; its exact law is not counted: {why}")
    return searched


def _too_large(mechanism: Mechanism, domain: Domain) -> str:
    """Why each run of the code takes long, as it must not beside a proof of any size; or empty."""
    records = domain.rows if isinstance(domain, Table) else domain.dimension
    if domain.dimension > _MOST_NUMBERS:
        return f"its datasets have {domain.dimension:,} numbers"
    is_walked = records > _WALKED and mechanism.walks_records
    return f"its code reads {records:,} records one by one" if is_walked else ""


def _search(
    paths_of: FloatPathsOf, domain: Domain, claim: StatedClaim, draws: int
) -> AsImplemented:
    for ends in islice(plain_pairs(domain), runs_over(domain.dimension, _PAIRS)):
        followed: list[Any] = []
        for end in ends:
            traced = paths_of(end)
            if traced is None:
                return not_analysed("there is no code to follow")
            if not traced.paths:
                return not_analysed(traced.reason)
            followed.append(traced)
        if not any(
            isinstance(e, FloatChain)
            for traced in followed
            for p in traced.paths
            for e in p.entries
        ):
            return not_analysed("its outputs have no float noise that is followed")
        sides = [_Side(end, traced) for end, traced in zip(ends, followed, strict=True)]
        for one, other in (sides, sides[::-1]):
            search = _Search(one, other)
            if search.places:
                witness = search.witness()
                if witness is not None:
                    if not (one.agrees() and other.agrees() and other.never_gives(witness)):
                        return not_analysed("real runs differ from what was followed")
                    words = domain.pair_words(witness.dataset, witness.neighbour)
                    return _verdict(search, replace(witness, rows=words or None), claim, draws)
    return AsImplemented(Decision.INCONCLUSIVE, _NOTHING)


def _verdict(
    search: _Search, found: ImpossibleOutput, claim: StatedClaim, draws: int
) -> AsImplemented:
    ways = {exclusion.way for exclusion in found.excluded}
    hits = 0
    if search.chain is None and draws != MANY_DRAWS:
        draws = search.one.runs_of(draws)
    for _, shape, numbers in search.outputs(draws):
        used = search.ways(shape, numbers)
        hits += bool(used)
        ways |= used
    share = max(binomial_lower(hits, draws, FAILURE), 0.0)
    most = _largest_delta(claim)
    refuted = most == 0 or share > most
    return AsImplemented(
        Decision.NO if refuted else Decision.INCONCLUSIVE,
        "" if refuted else f"not refuted: impossible outputs weigh {share:.2g} or more",
        found if refuted else None,
        share,
        FAILURE,
        rests_on=conditions(*ways),
    )


def _largest_delta(claim: StatedClaim) -> float:
    """A mass of infinite loss above it breaks the claim."""
    if isinstance(claim, Claim):
        return claim.delta
    if isinstance(claim, CurveClaim):
        return min(part.delta for part in claim.points)
    return 0.0


def float_witness_problems(mechanism: Mechanism, witness: ImpossibleOutput) -> list[str]:
    """What the code and the installed NumPy do otherwise than a witness says."""
    try:
        problems = witness.problems()
    except LiptestError as error:
        return [str(error)]
    ends = [np.array(end, dtype=np.int64) for end in (witness.dataset, witness.neighbour)]
    one, other = (mechanism.float_paths(end) for end in ends)
    if one is None or not one.paths or not other.paths:
        return [*problems, "the floats of the code are not followed"]
    search = _Search(_Side(ends[0], one), _Side(ends[1], other))
    shape, numbers = one.paths[0].shape, None
    if one.run is not None:
        shape, numbers = one.run(witness.generator_there())
    elif search.chain is not None:
        numbers = (search.chain.run(witness.generator_there()),)
    if numbers is None or not witness.place < len(numbers):
        return [*problems, "from its state the code gives another output"]
    if numbers[witness.place] != witness.value:
        return [*problems, "from its state the code gives another output"]
    if search.excluded(shape, numbers, witness.place) is None:
        problems.append("on the neighbour the code may give the output, too")
    return problems


class _Side:
    """A dataset with the paths of the code on it."""

    def __init__(self, dataset: Dataset, followed: Any) -> None:
        self._dataset = np.asarray(dataset, dtype=np.int64)
        self.paths = followed.paths
        self.run = followed.run

    @cached_property
    def dataset(self) -> tuple[int, ...]:
        """Its numbers, as a witness records them."""
        return tuple(self._dataset.tolist())

    def runs_of(self, most: int) -> int:
        """How many of so many real runs are made, by the number of records that each reads."""
        return runs_over(len(self._dataset), most)

    def agrees(self) -> bool:
        """Whether real runs give outputs that its paths do not exclude."""
        if self.run is None:
            return True
        rng = fresh(GENERATOR, 1)
        chain = self.single_chain(0) if len(self.paths[0].entries) == 1 else None
        if chain is not None:
            for _ in range(self.runs_of(_COMPARED)):
                words = words_at(GENERATOR, int(rng.integers(1, GRID)))
                _, numbers = self.run(generator_in(GENERATOR, words))
                if numbers != (chain.run(generator_in(GENERATOR, words)),):
                    return False
        for _ in range(self.runs_of(_CHECKED)):
            shape, numbers = self.run(rng)
            fits = (
                path.shape == shape
                and not any(
                    exclude(entry, number)
                    for entry, number in zip(path.entries, numbers, strict=True)
                )
                for path in self.paths
            )
            if not any(fits):
                return False
        return True

    def single_chain(self, place: int) -> FloatChain | None:
        """How a number of the output follows from the first draw, where there is one path."""
        if len(self.paths) != 1 or place >= len(self.paths[0].entries):
            return None
        entry = self.paths[0].entries[place]
        is_first = isinstance(entry, FloatChain) and not entry.draw.number
        return entry if is_first and entry.draw.origin == GENERATOR else None

    def never_gives(self, witness: ImpossibleOutput) -> bool:
        """Whether the code gives another output from all grid points near enough.

        By its steps, and by real runs; of many records from some of the points.
        """
        chain = self.single_chain(witness.place)
        if self.run is None or chain is None or chain.draw.sampler() is None:
            return True
        points = chain.points_near(float(witness.value))
        if len(points) > MOST_POINTS:
            return False
        source = grid_source(GENERATOR)
        if leading_to(chain, float(witness.value), points) is not None:
            return False
        step = max(1, -(-len(points) // self.runs_of(MOST_POINTS)))
        return all(
            self.run(source.at(point))[1][witness.place :][:1] != (witness.value,)
            for point in points[::step]
        )

    def entries_at(self, place: int) -> set[Any]:
        """Numbers of all paths at a place."""
        return {path.entries[place] for path in self.paths if place < len(path.entries)}


@dataclass(frozen=True)
class _Search:
    """Outputs on one dataset that may be impossible on another."""

    one: _Side
    other: _Side

    @cached_property
    def places(self) -> list[int]:
        """Where the numbers of the paths differ, a few."""
        length = max(len(path.entries) for path in self.one.paths)
        every = (
            place
            for place in range(length)
            if self.one.entries_at(place) != self.other.entries_at(place)
        )
        return list(islice(every, _PLACES))

    @cached_property
    def chain(self) -> FloatChain | None:
        """How the one number follows from the one draw, where that is all that happens."""
        if len(self.one.paths) != 1 or len(self.one.paths[0].entries) != 1:
            return None
        [entry] = self.one.paths[0].entries
        if not isinstance(entry, FloatChain) or entry.draw.number or not entry.is_plain:
            return None
        return entry if entry.draw.origin in (GENERATOR, RANDOM_STATE) else None

    def witness(self) -> ImpossibleOutput | None:
        """The first impossible output of some draws, or at an end of the grid."""
        tried = _TRIED if self.chain is not None else self.one.runs_of(_TRIED)
        for draws in (self._drawn(tried), self._at_ends()):
            for state, shape, numbers in draws:
                for place in self.places:
                    excluded = self.excluded(shape, numbers, place)
                    if excluded is not None:
                        return self._record(state, numbers[place], place, excluded)
        return None

    def _record(
        self, state: _State, number: Number, place: int, excluded: tuple[ExcludedPath, ...]
    ) -> ImpossibleOutput:
        return ImpossibleOutput(
            self.one.dataset,
            self.other.dataset,
            write_number(number),
            place,
            state.origin,
            state.words,
            state.point,
            None if self.chain is None else RecordedNumber.of(self.chain),
            excluded,
        )

    def excluded(
        self, shape: Any, numbers: tuple[Number, ...], place: int
    ) -> tuple[ExcludedPath, ...] | None:
        """Why no path on the other dataset has this number at a place; None where one may."""
        paths = []
        if place >= len(numbers):
            return None
        for path in self.other.paths:
            if path.shape != shape:
                paths.append(ExcludedPath(CONSTANT, None))
                continue
            entry = path.entries[place]
            why = exclude(entry, numbers[place])
            if why is None:
                return None
            paths.append(ExcludedPath(why.way, RecordedNumber.of(entry), why.first, why.last))
        return tuple(paths)

    def ways(self, shape: Any, numbers: tuple[Number, ...]) -> set[str]:
        """How it is known that no path on the other dataset has this output; none: it is not."""
        for place in self.places:
            excluded = self.excluded(shape, numbers, place)
            if excluded is not None:
                return {exclusion.way for exclusion in excluded}
        return set()

    def outputs(self, draws: int) -> Iterator[tuple[_State, Any, tuple[Number, ...]]]:
        """Independent outputs; by the steps of the code alone, where real runs agreed with them."""
        return self._drawn(draws, seed=2, runs=False)

    def _drawn(self, draws: int, seed: int = 0, *, runs: bool = True) -> Iterator[Any]:
        chain = self.chain
        rng = fresh(GENERATOR, seed)
        if chain is not None and chain.draw.sampler() is not None:
            for _ in range(draws):
                yield from self._at(int(rng.integers(1, GRID)), runs=runs)
        elif self.one.run is not None:
            for _ in range(draws):
                state = _State(GENERATOR, state_words(rng), None)
                yield (state, *self.one.run(rng))

    def _at_ends(self) -> Iterator[Any]:
        chain = self.chain
        if chain is not None and chain.draw.sampler() is not None:
            for step in range(_ENDS):
                yield from self._at(1 + step)
                yield from self._at(GRID - 1 - step)

    def _at(self, point: int, *, runs: bool = True) -> Iterator[Any]:
        chain = self.chain
        assert chain is not None
        state = _State(chain.draw.origin, words_at(chain.draw.origin, point), point)
        if runs and self.one.run is not None:
            yield (state, *self.one.run(generator_in(state.origin, state.words)))
        else:
            yield state, self.one.paths[0].shape, (chain.run(state.generator()),)


@dataclass(frozen=True)
class _State:
    """Of a generator before an output; the grid point of its next uniform, where that is known."""

    origin: str
    words: tuple[int, ...]
    point: int | None

    def generator(self) -> np.random.Generator | np.random.RandomState:
        """In this state."""
        made: np.random.Generator = generator_in(self.origin, self.words)
        return made
