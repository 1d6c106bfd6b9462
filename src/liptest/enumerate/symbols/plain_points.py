"""A program that is followed with symbolic data, and what it does as written, at some points."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.enumerate.folded.passing import PassedTable
from liptest.enumerate.intercept.analysis_session import Session
from liptest.enumerate.intercept.draw_logs import DrawnAtOnce, RecordedDraws, ReplayedDraws, hand
from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.numbers.noise_outputs import replace_numbers
from liptest.enumerate.symbols.alike_pasts import Pasts
from liptest.enumerate.symbols.data_protocol import Data
from liptest.enumerate.symbols.loops_of_paths import LoopsOfPaths
from liptest.enumerate.symbols.path_trees import (
    MAX_CHOICES_OF_PATHS,
    PlainTree,
    PointTree,
)
from liptest.enumerate.symbols.symbolic_datasets import Records
from liptest.enumerate.symbols.symbolic_paths import (
    PathEnd,
)
from liptest.enumerate.syntax.post_processing import Tail, place_of_cut
from liptest.enumerate.trees.choice_tree import Abort, differing
from liptest.enumerate.trees.outputs import are_same, forget_names
from liptest.enumerate.trees.running import RandomFunction, Run
from liptest.errors import UnsupportedRandomnessError
from liptest.mechanisms.laws import Output, Raised
from liptest.runs.interrupts import interruptions, raise_swallowed
from liptest.symbolic.answer_functions import answer_value
from liptest.symbolic.answers import Answer
from liptest.symbolic.noise import Noise, draw_value
from liptest.values.answers.aligned import AlignedRun
from liptest.values.answers.weight_choices import Selection
from liptest.values.branching import Branches, UnweightedBranches
from liptest.values.draws.grid import Split
from liptest.values.draws.noise_run import ReleasedNumber
from liptest.values.rounding import Near

# Kept: while a program is analysed the names stand for something else.
_GENERATOR, _BITS = np.random.Generator, np.random.PCG64
# Points at which the program is run on plain data; fewer where there are many records, or many
# answers and noises, each of which costs as much as some records.
_POINTS, _FEWEST, _ENTRIES, _VARIABLE = 20, 3, 200_000, 16
# What pandas takes to make a row of a frame, in records that are read.
_ROW = 20
# Points at which places that are tried have chances of about the same size.
_TIED = 6
# Where the law of the unmodified program is enumerated.
_FEW_DATASETS, _FEW_RECORDS = 2, 7
# Paths that raise and that no point has met, each of which is then taken.
_MOST_RARE = 8


def _as_it_is(function: RandomFunction) -> RandomFunction:
    return function


@dataclass(frozen=True)
class Program:
    """What is run: the function, and the same rewritten for symbolic data."""

    name: str
    function: RandomFunction
    rewritten: RandomFunction
    canonical: Callable[[Any], Output]
    session: Session
    tail: Tail | None = None
    takes_generator: bool = True
    #: What makes a function of datasets of one of what the program gets.
    presented: Callable[[RandomFunction], RandomFunction] = _as_it_is
    #: Makes the function with loops that try places as one choice, and says later which were.
    at_once: Callable[[], tuple[RandomFunction, set[str]]] | None = None

    def as_written(self, output: Output) -> RandomFunction:
        """What answers, on plain data, what a run with symbolic data has answered."""
        place = place_of_cut(output)
        if place is None or self.tail is None:
            return self.function
        rest = self.tail.checked(place, self.canonical, takes_generator=self.takes_generator)
        return self.presented(rest)


@dataclass(frozen=True)
class WayOfRuns:
    """How a program is followed: whether what is looked at is told, and where runs end early."""

    run: type[AlignedRun]
    releases: bool
    pasts: Pasts | None
    counts_passes: bool
    #: Whether places are tried in turn, so that points with ties are looked at, too.
    has_tries: bool


def check_points(
    program: Program,
    data: Data,
    leaves: list[PathEnd],
    dimension: int,
    way: WayOfRuns,
) -> None:
    """Compare with what the unmodified program does at some points; raises LiptestError."""
    followed = {leaf.branches for leaf in leaves}
    raising = dict.fromkeys(leaf.branches for leaf in leaves if leaf.raises)
    variables = max(len(leaf.path.noises) for leaf in leaves)
    before = interruptions()
    entries = dimension * (_ROW if program.session.makes_rows else 1)
    points = max(_FEWEST, min(_POINTS, _ENTRIES // max(entries, _VARIABLE * variables)))
    answers = False
    tries = _TIED if way.has_tries else 0
    for seed in range(-tries, points):
        last = _check_point(program, data, way, abs(seed), is_tied=seed < 0)
        branches, answer = last.branches, last.answer
        answers = answers or not isinstance(answer, Raised)
        raise_swallowed(before)
        if way.pasts is not None and branches not in followed:
            branches = way.pasts.representative(branches)
        if branches not in followed:
            raise _differs(program, "takes another path")
        raising.pop(branches, None)
    for rare in list(islice(raising, _MOST_RARE)):
        # Only random choices may lead there, such as one number of 2**53.
        if _check_point(program, data, way, points, rare).branches == rare:
            del raising[rare]
    _check_calls(program, last, partial(_check_point, program, data, way, seed))
    if not answers or raising:
        told = None if answers else answer
        _check_exceptions(program, leaves, raising, told, tries + points)


def _check_calls(program: Program, first: _Point, call: Callable[..., _Point]) -> None:
    """NonDeterministicError where a later call is not as a first one with the same draws.

    The call before it has the same data and other draws, so noise that is kept is seen.
    """

    def repeat() -> None:
        again = call()
        if (again.draws, again.orders) != (first.draws, first.orders):
            raise differing(program.name, "a call made once more led to other draws")
        if not (again.answer == first.answer or repr(again.answer) == repr(first.answer)):
            raise differing(program.name, "a call made once more led to a different output")

    call(has_other_draws=True)
    program.session.check_keeps_no_state(repeat)


def _check_exceptions(
    program: Program,
    leaves: list[PathEnd],
    unmet: Collection[Any],
    only: Output,
    runs: int,
) -> None:
    """Refuse code that raises on a path that no run took, or of which no run answered.

    ``only`` is then what a run came to, else None.
    """
    # Where each path raises, and was met, whoever asks says that it never answers.
    if only is not None and (unmet or not all(leaf.raises for leaf in leaves)):
        raise UnsupportedRandomnessError(
            f"{program.name}: in each of {runs} runs on drawn data it raised an "
            f"exception ({_name_raised(only)}), so no answer was seen; run it on a dataset"
        )
    if unmet:
        met_never = next(leaf.output for leaf in leaves if leaf.branches in unmet)
        raise UnsupportedRandomnessError(
            f"{program.name}: it raises an exception ({_name_raised(met_never)}) on a path that "
            f"none "
            f"of {runs} runs on drawn data took, so it was not compared with the "
            f"unmodified code there; write code that cannot raise"
        )


def _name_raised(output: Output) -> str:
    return output.exception if isinstance(output, Raised) else str(output)


def draw_some(data: Data) -> Iterator[NDArray[Any]]:
    """A dataset, and some with a few records of which many ways are likely."""
    dataset = data.plain(_GENERATOR(_BITS(0)))
    yield dataset
    if type(data) is Records:
        several = range(0, min(len(dataset), _FEW_DATASETS * _FEW_RECORDS), _FEW_RECORDS)
        yield from (hand(dataset[first : first + _FEW_RECORDS]) for first in several)


@dataclass(frozen=True)
class _Point:
    """What the unmodified program does at a point."""

    branches: tuple[int, ...]
    answer: Output
    #: How often it drew noise, and how many positions it put in a random order each time.
    draws: int
    orders: list[int]


def _check_point(
    program: Program,
    data: Data,
    way: WayOfRuns,
    seed: int,
    taken: tuple[int, ...] = (),
    *,
    is_tied: bool = False,
    has_other_draws: bool = False,
) -> _Point:
    """The branches that are taken at a point, and the answer of the unmodified program."""
    rng = _GENERATOR(_BITS(seed))
    dataset = data.make_balanced(rng) if is_tied and type(data) is Records else data.plain(rng)
    if has_other_draws:
        rng = _GENERATOR(_BITS((seed, 1)))
    tree = PointTree(program.name, rng, taken)
    tree.loops = LoopsOfPaths(goes_on=True) if way.counts_passes else None
    program.session.follow(tree)
    noted = RecordedDraws()
    tree.draw_log = noted

    def begin() -> Any:
        point = partial(_at, rng, data, dataset)
        tree.noise = way.run(tree, releases=way.releases, point=point)
        tree.noise.rng = rng
        if tree.loops is not None:
            tree.loops.begin(tree, tree.noise)
        return data.symbolic(tree, tree.noise)

    generator = ChoiceGenerator(tree)
    session, name, canonical = program.session, program.name, program.canonical
    run = Run(program.rewritten, begin, generator, name, canonical, session)
    predicted = tree._run(run)
    choices = list(tree.path)
    expected = replace_numbers(predicted, partial(_expect, tree.noise))
    replay = ReplayedDraws(tree, noted, rng)
    tree.close()
    plain = PlainTree(name, max_choices=MAX_CHOICES_OF_PATHS)
    plain.draw_log = replay
    session.follow(plain)
    written = program.as_written(predicted)
    again = Run(written, lambda: dataset, ChoiceGenerator(plain), name, canonical, session)
    plain.path = list(_with_weights(choices))
    try:
        with session.real_floats():
            answer = plain._run(again)
        replay.check_all_drawn(name)
        if not are_same(answer, expected) and forget_names(answer) != forget_names(expected):
            raise _differs(program, "answers otherwise")
    finally:
        plain.close()
    branches = tuple(branch for _, branch in choices)
    if tree.loops is not None:
        branches = tree.loops.without_passes(branches)
    return _Point(branches, answer, len(noted.laws), [total for total, _ in noted.orders])


def answers_at_a_point(program: Program, dataset: NDArray[Any]) -> bool:
    """Whether the program answers on a dataset where its noise is drawn; not whether it may."""
    rng = _GENERATOR(_BITS(0))
    tree = PointTree(program.name, rng)
    tree.noise = AlignedRun(tree, releases=False, point=partial(draw_value, rng=rng))
    tree.draw_log = DrawnAtOnce(rng)
    program.session.follow(tree)
    data, draws = hand(dataset), ChoiceGenerator(tree)
    own = program.name, program.canonical, program.session
    run = Run(program.function, lambda: data, draws, *own)
    before = interruptions()
    try:
        with program.session.real_floats():
            answers = not isinstance(tree._run(run), Raised)
    except Abort:
        return False
    finally:
        tree.close()
    raise_swallowed(before)
    return answers


def _with_weights(choices: list[tuple[Branches, int]]) -> Iterator[tuple[Any, int]]:
    """Those choices that plain data leave to be made."""
    for branches, taken in choices:
        if isinstance(branches, Selection):
            for own, place in branches.with_plain_data():
                yield own, taken if place is None else place
        elif not isinstance(branches, (Split, UnweightedBranches)):
            yield branches, taken


def _differs(program: Program, what: str) -> UnsupportedRandomnessError:
    return UnsupportedRandomnessError(
        f"{program.name}: on plain data it {what} than where data are symbolic; it may look at "
        f"what kind of object its data are"
    )


def _at(
    rng: np.random.Generator, data: Data, dataset: NDArray[Any], one: Noise | Answer
) -> Fraction:
    """A value of a variable."""
    if not isinstance(one, Answer):
        return draw_value(one, rng)
    return answer_value(one, lambda answer: data.value(answer, dataset))


def _expect(run: AlignedRun, one: Any) -> Any:
    if isinstance(one, ReleasedNumber):
        if isinstance(one.value, PassedTable):
            return one.value.expected
        value, size = one.value.at_point
        return Near(value.item() if isinstance(value, np.generic) else value, size)
    return Near(run.at_point(one), run.size_of(one))
