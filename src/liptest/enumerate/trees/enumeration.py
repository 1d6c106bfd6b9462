"""One law from the code: the tree of a function's random choices on one dataset.

Leaves are replayed with real random numbers, and laws that are known already are reused by what
the function has read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from liptest.enumerate.intercept.analysis_session import Session
from liptest.enumerate.intercept.draw_logs import RecordedDraws, ReplayedDraws, hand
from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.numbers.noise_outputs import nearby
from liptest.enumerate.trees.choice_tree import MAX_CUTS, MAX_LEAVES, ChoiceTree, differing
from liptest.enumerate.trees.law_memory import LawMemo, agree, law_key
from liptest.enumerate.trees.outputs import OutputKinds
from liptest.enumerate.trees.repeated_leaves import KeptLeaves, Repetition
from liptest.enumerate.trees.running import NotFollowed, RandomFunction, Run
from liptest.enumerate.trees.sums import make_law
from liptest.enumerate.trees.tracing import TracingTree
from liptest.enumerate.watch.access_tracking import WHOLE, Read, Reads, TrackedArray, Transcripts
from liptest.enumerate.watch.kept_state import is_looked_at
from liptest.enumerate.watch.surroundings import check_texts
from liptest.errors import (
    LiptestError,
    MechanismError,
    NonDeterministicError,
    UnlikeAnalysisError,
    UnsupportedRandomnessError,
)
from liptest.mechanisms.base import EQUAL_ARE_ONE
from liptest.mechanisms.laws import (
    Output,
    OutputLaw,
    Raised,
    distrust_trials,
    is_on_trial,
    laws_in_earnest,
)
from liptest.runs.interrupts import interruptions, raise_swallowed
from liptest.values.branching import Path, UnweightedBranches
from liptest.values.draws.grid import Split
from liptest.values.draws.inverse_cdf import TooCoarse

# Leaves run once more with real random numbers: the analysis must say what the code does.
#
# A random float of the analysis is known to lie in an interval of grid points at the end of a run.
# Any float of that interval must lead to the same output. So the run is repeated, first as it was,
# to note the intervals, and then with real floats from them, the ends among them, and the same
# outcome of every other draw.


# Kept: while a program is analysed the names stand for something else.
_GENERATOR, _BITS = np.random.Generator, np.random.PCG64


def repeat(
    tree: ChoiceTree,
    run: Run,
    path: Path,
    output: Output,
    draws: int = 1,
    *,
    checks_state: bool = False,
    watched: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> int:
    """Repeat a leaf of a walked tree as it was, and then so often with real floats.

    Returns how often it was run, but for looking for state. ``watched`` is a context of the first
    run with real floats and of those before it: later ones do the same with other floats.

    Raises NonDeterministicError when an output differs, or what the function holds.
    """
    noted = RecordedDraws()
    record = partial(_record, tree, run, path, output, noted)

    def repeat_for_real(numbers: range) -> None:
        with run.real_floats():
            for number in numbers:
                # Rare noise that a program makes by hand is repeated where floats are near enough.
                with suppress(TooCoarse):
                    _repeat_for_real(tree, run, path, output, noted, number)

    with watched():
        if checks_state:
            tree.repeat(run, path, output)
            run.check_keeps_no_state(record)
        else:
            record()
        if tree.noise is not None:
            tree.noise.check_possible()
        draws = draws if noted.born else 0
        repeat_for_real(range(draws)[:1])
    repeat_for_real(range(draws)[1:])
    return 1 + draws


def _record(tree: ChoiceTree, run: Run, path: Path, output: Output, noted: RecordedDraws) -> None:
    noted.begin()
    tree.draw_log = noted
    run.is_repeated = True
    try:
        tree.repeat(run, path, output)
    finally:
        tree.draw_log = None
        run.is_repeated = False


def _repeat_for_real(
    tree: ChoiceTree, run: Run, path: Path, output: Output, noted: RecordedDraws, number: int
) -> None:
    # The same budgets: whether a whole number is chosen or compared depends on them.
    budgets = {"max_leaves": tree.max_leaves, "max_choices": tree.max_choices}
    real = ChoiceTree(tree.name, **budgets)
    # The same floats whenever the leaf is met again, other ones for other leaves and repetitions.
    seed = crc32(repr([taken for _, taken in path]).encode())
    rng = _GENERATOR(_BITS([seed, number] if number else seed))
    real.draw_log = replayed = ReplayedDraws(tree, noted, rng)
    noise = tree.noise
    if noise is not None:
        # Real numbers of an output are near those that the analysis has, not equal.
        output = nearby(output, noise.value_at_point)
    run.follow(real)
    choices: Path = [(b, i) for b, i in path if not isinstance(b, (Split, UnweightedBranches))]
    try:
        real.repeat(run, choices, output)
        replayed.check_all_drawn(tree.name)
    except NonDeterministicError:
        raise UnlikeAnalysisError(
            f"{tree.name}: with real random numbers it answers otherwise than in its analysis: it "
            f"hands one to code that is not followed (json.dumps, compiled code), asks what kind "
            f"of object it is, or keeps state between calls; answer the numbers themselves"
        ) from None
    finally:
        real.close()
        run.follow(tree)


T = TypeVar("T")
# Leaves of a law of which it is looked for state.
_STATEFUL = 2


def with_room_for_noise(session: Session, enumerate_law: Callable[[], T]) -> T:
    """A law; where it is refused, once more with the program's own arrays open for noise."""
    try:
        return enumerate_law()
    except UnsupportedRandomnessError as error:
        if session.fills_symbolic:
            raise
        session.follow_arrays()
        session.fills_symbolic = True
        try:
            return enumerate_law()
        except LiptestError:
            raise error from None


# Kept: while a program is analysed the name stands for something else.
_BITS = np.random.PCG64


@dataclass(frozen=True)
class Enumerated:
    """A law, the words of the first exception, the runs that ended, and what was read."""

    law: OutputLaw
    exception: str | None
    leaves: int
    reads: dict[Read, Any]


class RaisingTree(ChoiceTree):
    """Gives up at the first run that answers: before its noise is looked at."""

    __slots__ = ()

    def _goes_nowhere(self) -> bool:
        return self._cuts >= MAX_CUTS

    def _leaf_of(self, output: Output) -> Output:
        if not isinstance(output, Raised):
            self.fail(MechanismError(f"{self.name}: it answers"))
        return super()._leaf_of(output)


# Choices of the one run of which only matters that it answers.
_MOST_CHOICES = 1 << 17


class QuickTree(ChoiceTree):
    """For one run of plain code: what takes longer is followed instead."""

    SECONDS_A_RUN = 1.0
    __slots__ = ()

    def _goes_nowhere(self) -> bool:
        return True  # the one run that counts was cut off


class RealDraws(np.random.Generator):
    """Draws real random numbers, for a run of which only matters that it ends."""

    _tree: ChoiceTree


@dataclass(frozen=True)
class Enumeration:
    """How the laws of one function are enumerated; ``new_tree`` knows the budgets.

    ``repetition`` counts what was repeated of all laws of the function.
    """

    name: str
    function: RandomFunction
    canonical: Callable[[Any], Output]
    new_tree: Callable[..., ChoiceTree]
    repetition: Repetition = field(default_factory=Repetition)

    def plain(self, argument: NDArray[Any], session: Session) -> Enumerated:
        """The law given a value of a statistic, or a dataset of which reads are not noted."""
        data = hand(argument)
        return with_room_for_noise(session, lambda: self._law(session, lambda: data, data))

    def answers_once(self, argument: NDArray[Any], session: Session) -> bool:
        """Whether one run with real random numbers answers: plain code is fast with such."""
        rng = RealDraws(_BITS(0))
        # Many records may make many choices: this is the only path that is walked.
        rng._tree = QuickTree(self.name, max_leaves=1, max_choices=_MOST_CHOICES)
        session.follow(rng._tree)
        data = hand(argument)
        run = Run(self.function, lambda: data, rng, self.name, self.canonical, session)
        before = interruptions()
        try:
            answers = not any(isinstance(output, Raised) for output in rng._tree.law(run))
        except LiptestError:
            return False
        finally:
            rng._tree.close()
        raise_swallowed(before)
        return answers

    def recorded(self, dataset: NDArray[Any], session: Session) -> Enumerated:
        """The law on a dataset, with the reads that it rests on.

        What raises an exception, or answers otherwise when it is given a real array, is
        enumerated on real arrays: it may be compiled code that knows no others.
        """
        return with_room_for_noise(session, lambda: self._record(dataset, session))

    def _record(self, dataset: NDArray[Any], session: Session) -> Enumerated:
        reads = Reads(hand(dataset))
        enumerated, error = self._note(reads, session)
        raises = enumerated is not None and any(
            isinstance(o, Raised) for o in enumerated.law.outputs
        )
        if enumerated is None or (raises and not reads.everything):
            noted, enumerated = enumerated, self.plain(dataset, session)
            reads.note(WHOLE, reads.array)
            if noted is None or not agree(noted.law, enumerated.law):
                self._check_stand_in(dataset, session, noted, error)
        return replace(enumerated, reads=reads.known)

    def _note(
        self, reads: Reads, session: Session
    ) -> tuple[Enumerated | None, NonDeterministicError | NotFollowed | None]:
        """The law on a dataset that notes its reads, or why there is none."""
        stand_in = TrackedArray(reads)

        def data() -> Any:
            return reads.array if reads.everything else stand_in

        try:
            return self._law(session, data, reads.array), None
        except (NonDeterministicError, NotFollowed) as error:
            return None, error.with_traceback(None)

    def _check_stand_in(
        self,
        dataset: NDArray[Any],
        session: Session,
        noted: Enumerated | None,
        error: NonDeterministicError | NotFollowed | None,
    ) -> None:
        """It must have been the stand-in that made the difference, not state between calls."""
        again, _ = self._note(Reads(hand(dataset)), session)
        if noted is None and again is None:
            return
        if noted is None or again is None or not agree(noted.law, again.law):
            raise error or differing(self.name, "the same choices led to a different output")

    def trace_outputs(
        self, argument: NDArray[Any], session: Session, use: Callable[[TracingTree, Run], T]
    ) -> T:
        """``use`` a tree that looks for outputs, and the run that it walks."""
        data = hand(argument)
        tree = TracingTree(self.name, max_choices=self.new_tree().max_choices)
        session.follow(tree)
        rng = ChoiceGenerator(tree)
        try:
            return use(
                tree,
                Run(self.function, lambda: data, rng, self.name, self.canonical, session),
            )
        finally:
            tree.close()

    def _law(self, session: Session, data: Callable[[], Any], real: Any) -> Enumerated:
        # The second time all runs are watched.
        enumerated = self._watch_law(session, data, real) or self._watch_law(session, data, real)
        assert enumerated is not None
        return enumerated

    def _watch_law(self, session: Session, data: Callable[[], Any], real: Any) -> Enumerated | None:
        tree = self.new_tree()
        tree.kept = KeptLeaves(self.repetition.laws)
        session.follow(tree)
        rng = ChoiceGenerator(tree)
        run = Run(self.function, data, rng, self.name, self.canonical, session)
        before = interruptions()
        try:
            probabilities = session.watching(lambda: tree.law(run))
            if probabilities is None:
                return None
            check_texts(self.name, probabilities)
            run.data = lambda: real
            counted = (0, 0) if is_on_trial() else self._repeat_some(tree, run, session, real)
        finally:
            tree.close()
        raise_swallowed(before)
        law = make_law(probabilities, tree.unexplored)
        law.leaves, (law.repeated, law.again) = tree.leaves, counted
        return Enumerated(law, run.exception, tree.leaves, {})

    def _repeat_some(
        self, tree: ChoiceTree, run: Run, session: Session, real: Any
    ) -> tuple[int, int]:
        """Repeat leaves of a law: how many, and how many runs that took."""
        chosen = self.repetition.chosen(tree.kept, tree.leaves, np.size(real))
        stateful = _STATEFUL if is_looked_at(self.repetition.laws) else 0
        try:
            watched = partial(session.calls_watched, always=True)
            again = repeat(tree, run, *chosen[0], checks_state=stateful > 0, watched=watched)
            for number, leaf in enumerate(chosen[1:], 1):
                again += repeat(tree, run, *leaf, checks_state=stateful > number)
        except LiptestError:
            distrust_trials()
            raise
        return len(chosen), again


# Runs spent on laws that stay partial before the rest of a batch is left out.
_MAX_PARTIAL_LEAVES = 4 * MAX_LEAVES
# Nothing is known of a law that was left out.
_UNKNOWN = Enumerated(OutputLaw.from_fractions({}, unexplored=Fraction(1)), None, 0, {})
Enumerate = Callable[[NDArray[Any], Session], Enumerated]


class KnownLaws:
    """Laws by place in the tree of reads, or, where reads are not noted, by argument."""

    def __init__(self, name: str, records: bool) -> None:
        self.records = records
        #: Whether one of them was integrated over noise.
        self.noisy = False
        #: Leaves that were repeated.
        self.repetition = Repetition()
        #: What was taken for granted, in words.
        self.conditions: set[str] = set()
        #: Whether a run did something of which only a watch of all runs tells.
        self.sees_all = False
        #: Whether it was seen to read its data record by record.
        self.walks_records = False
        #: Of the outputs that were seen.
        self.kinds = OutputKinds()
        #: What is known of the function with its loops summed up (``SummedUp``).
        self.summed_up: Any = None
        #: The function with products of fair signs and exponential noise as one draw.
        self.signed: Any = None
        #: The function with entries that random bits choose not looked at.
        self.masked: Any = None
        #: Where it was found not to treat its records one by one (``refused_places``).
        self.refused: set[tuple[tuple[int, int, int, int], str]] = set()
        self._memo = LawMemo()
        self._transcripts = Transcripts(name)

    @property
    def first_exception(self) -> str | None:
        """Type and message of an exception, where a dataset made every run raise one."""
        return self._memo.first_exception

    @contextmanager
    def watched(self, session: Session) -> Iterator[None]:
        """A session for laws of the function; it begins with what earlier ones have found out."""
        session.surroundings.sees_all |= self.sees_all
        yield
        self.sees_all |= session.surroundings.sees_all
        self.walks_records |= session.walks_records

    def list_conditions(self) -> list[str]:
        """All that a verdict has to say of them, in order."""
        return sorted(self.conditions) + [EQUAL_ARE_ONE] * self.kinds.differ

    def noted(self, found: Enumerated) -> Enumerated:
        """What was found, with its source noted."""
        self.noisy = self.noisy or found.law.source == "integrated"
        return found

    def get(self, argument: NDArray[Any]) -> OutputLaw | None:
        """The law, if it is known."""
        return self._memo.get(self._place(argument))

    def reads_of(self, dataset: NDArray[Any]) -> list[Read]:
        """What is known to be read of a dataset."""
        return self._transcripts.reads_of(dataset)

    def laws(
        self,
        arguments: list[NDArray[Any]],
        begin: Callable[[], AbstractContextManager[Session]],
        enumerate_one: Enumerate,
    ) -> list[OutputLaw]:
        """The laws of all arguments; those that are not known are enumerated in one session."""
        laws = [self.get(argument) for argument in arguments]
        missing = [position for position, law in enumerate(laws) if law is None]
        if missing:
            with begin() as session:
                fresh = self._fresh([arguments[k] for k in missing], enumerate_one, session)
            # Kept only after the session found nothing: a memo must not hide a later error.
            for position, (place, enumerated) in zip(missing, fresh, strict=True):
                laws[position] = self._memo.get(place) or self._kept(place, enumerated)
        return [law for law in laws if law is not None]

    def learn(
        self,
        arguments: list[NDArray[Any]],
        begin: Callable[[], AbstractContextManager[Session]],
        enumerate_one: Enumerate,
    ) -> list[Enumerated] | None:
        """The laws that were not known, for other processes; None where that cannot be told.

        Of a law that stays partial it depends on those before it how much of it is walked.
        """
        missing = [argument for argument in arguments if self.get(argument) is None]
        if not missing:
            return []
        with begin() as session:
            fresh = dict(self._fresh(missing, enumerate_one, session))
        if any(enumerated.law.unexplored for enumerated in fresh.values()):
            return None
        for place, enumerated in fresh.items():
            self._kept(place, enumerated)
        return list(fresh.values())

    def learner(
        self,
        effects: set[str],
        begin: Callable[[], AbstractContextManager[Session]],
        enumerate_one: Enumerate,
    ) -> LawLearner | None:
        """Who shares these laws with other processes; None where reads are not noted."""
        return LawLearner(self, effects, begin, enumerate_one) if self.records else None

    def absorb(self, learnt: list[Enumerated]) -> list[Enumerated]:
        """Keep what another process has learnt; the same with equal laws as one object."""
        kept = []
        for enumerated in map(self.noted, learnt):
            law = self._kept(self._transcripts.add(enumerated.reads), enumerated)
            kept.append(replace(enumerated, law=law))
        return kept

    def _kept(self, place: bytes, known: Enumerated) -> OutputLaw:
        if known is _UNKNOWN:
            return known.law
        return self._memo.add(place, known.law, known.exception)

    def _fresh(
        self, arguments: list[NDArray[Any]], enumerate_one: Enumerate, session: Session
    ) -> list[tuple[bytes, Enumerated]]:
        with laws_in_earnest():
            return self._fresh_ones(arguments, enumerate_one, session)

    def _fresh_ones(
        self, arguments: list[NDArray[Any]], enumerate_one: Enumerate, session: Session
    ) -> list[tuple[bytes, Enumerated]]:
        done: dict[bytes, Enumerated] = {}
        fresh, spent = [], 0
        for argument in arguments:
            place = self._place(argument)
            enumerated = done.get(place)
            if enumerated is None and spent > _MAX_PARTIAL_LEAVES:
                # The rest is left out, so that a hopeless mechanism is noticed in a minute or two.
                fresh.append((place, _UNKNOWN))
                continue
            if enumerated is None:
                enumerated = enumerate_one(argument, session)
                place = self._transcripts.add(enumerated.reads) if self.records else place
                spent += enumerated.leaves if enumerated.law.unexplored else 0
                done[place] = enumerated
            fresh.append((place, enumerated))
        return fresh

    def _place(self, argument: NDArray[Any]) -> bytes:
        return self._transcripts.place_of(argument) if self.records else law_key(argument)


@dataclass(frozen=True)
class Lesson:
    """Laws that one process has learnt for others, what they rest on, what the code did beside."""

    laws: list[Enumerated]
    conditions: frozenset[str]
    effects: frozenset[str]
    kinds: OutputKinds


@dataclass(frozen=True)
class LawLearner:
    """Learns laws for other processes, and takes in what they have learnt.

    ``effects`` are those that the function has on its surroundings, in words.
    """

    known: KnownLaws
    effects: set[str]
    begin: Callable[[], AbstractContextManager[Session]]
    enumerate_one: Enumerate

    def learn(self, datasets: NDArray[Any]) -> Lesson | None:
        """What was not known of datasets, (n, d); None where it does not travel."""
        learnt = self.known.learn(list(datasets.astype(np.int64)), self.begin, self.enumerate_one)
        if learnt is None:
            return None
        return Lesson(
            learnt, frozenset(self.known.conditions), frozenset(self.effects), self.known.kinds
        )

    def absorb(self, lesson: Lesson) -> Lesson:
        """Know what another process has learnt; the lesson, equal laws as one object."""
        self.known.conditions |= lesson.conditions
        self.effects.update(lesson.effects)
        self.known.kinds.learn(lesson.kinds)
        return replace(lesson, laws=self.known.absorb(lesson.laws))


def copy_with(mechanism: T, **changes: Any) -> T:
    """A copy with other attributes."""
    # Not copy(), which pickles by name: the name leads to the mechanism itself.
    seen = object.__new__(type(mechanism))
    seen.__dict__.update(vars(mechanism) | changes)
    return seen
