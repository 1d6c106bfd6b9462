"""Programs that answer a whole number of the data plus whole noise of their own making.

Whatever draws the noise - rejection loops, series of coins, inverse cdfs of floats - its law is
enumerated once, with symbolic data: every run answers ``a + c``, where a is the same sum over the
records in all of them, and c a constant of the run. So the law under any data is that of c, moved
by a, and two neighbours differ by a move of the differences of a alone, whatever their size
(docs/theory/loops.md, L4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
from flint import fmpq

from liptest.balls import CERTIFIED_BITS, precision, to_fmpq, to_fraction
from liptest.enumerate.folded.column_rows import find_record_rows
from liptest.enumerate.folded.folding import fold_loops
from liptest.enumerate.folded.folds import Folds
from liptest.enumerate.intercept.analysis_session import Session
from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.numbers.noise_outputs import RealPlace, forms_in, replace_numbers
from liptest.enumerate.samplers.restarts import RestartingTree
from liptest.enumerate.samplers.sub_samplers import SamplerLaws
from liptest.enumerate.samplers.told_sums import ToldLaw, ToldRun, find_told_end
from liptest.enumerate.trees.choice_tree import (
    Abort,
    ChoiceTree,
    too_many_choices,
    too_many_leaves,
)
from liptest.enumerate.trees.running import Run
from liptest.errors import BudgetError, LawError, LiptestError, UnsupportedRandomnessError
from liptest.mechanisms.laws import Output, as_fraction, exact_ball, sum_of_fractions
from liptest.symbolic.answer_functions import answer_value, with_functions
from liptest.symbolic.answers import Answer, Differences, ManyDifferences
from liptest.symbolic.forms import Form
from liptest.values.answers.aligned import AlignedRun
from liptest.values.answers.decisions import Alternative
from liptest.values.branching import Branching, Path, UnweightedBranches

_MAX_LEAVES, _MAX_CHOICES, _MOST_MOVES = 20_000, 400, 1000
# A walk is given up whose first runs are all cut, and one with so many choices in all its runs.
_NONE_ENDS, _MOST_STEPS = 64, 1_000_000
# After as many runs, and again after as many more, a walk is given up that by its draws with at
# least so many outcomes would take so many times the most runs.
_LOOKED_AT, _MANY_OUTCOMES, _FAR_TOO_MANY = 1000, 8, 10
# Datasets on which the function is run as it is written, and how often.
_DATASETS, _FEWEST, _MOST_LEAVES, _ENTRIES = 2, 20, 500, 2_000_000
# Kept: while a program is analysed the names stand for something else.
_GENERATOR, _BITS = np.random.Generator, np.random.PCG64
Constants = tuple[Fraction, ...]


@dataclass(frozen=True)
class AddedLaw:
    """The law of what is added to answers, and how the answers move.

    Parameters
    ----------
    places
        For each number of the output the answers that it is a sum of, with their factors.
    masses
        What was enumerated of the law of the constants.
    unexplored
        The probability of all other constants.
    moves
        What neighbours change of the places; with each move there is the opposite one.
    skeleton
        The output, except for its numbers.
    reads_length
        Whether the number of records was read.
    conditions
        What is taken for granted of functions that are declared to only draw.
    """

    places: tuple[tuple[tuple[int, Fraction], ...], ...]
    masses: dict[Constants, Fraction]
    unexplored: Fraction
    moves: tuple[Constants, ...]
    skeleton: Output
    reads_length: bool = False
    conditions: frozenset[str] = frozenset()

    def excess(self, epsilon: Fraction) -> tuple[Fraction, Constants]:
        """The largest hockey-stick divergence of what was enumerated, from above, and its move."""
        factor = _exp_below(epsilon)
        pairs = [(self._excess(move, factor), move) for move in self.moves]
        return max(pairs, default=(Fraction(0), ()))

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """A delta that is proved at epsilon: P <= P' + unexplored <= e^epsilon Q' + that."""
        return min(Fraction(1), self.excess(epsilon)[0] + self.unexplored)

    def _excess(self, move: Constants, factor: Fraction) -> Fraction:
        times, total = to_fmpq(factor), fmpq(0)
        for constants, mass in self._quick_masses.items():
            there = tuple(constant - by for constant, by in zip(constants, move, strict=True))
            moved = self._quick_masses.get(there)
            gap = mass if moved is None else mass - times * moved
            if gap > 0:
                total += gap
        return to_fraction(total)

    @cached_property
    def _quick_masses(self) -> dict[Constants, fmpq]:
        return {constants: to_fmpq(mass) for constants, mass in self.masses.items()}


def _exp_below(epsilon: Fraction) -> Fraction:
    with precision(CERTIFIED_BITS):
        return as_fraction(exact_ball(epsilon).exp().lower())


class _WrittenTree(ChoiceTree):
    """Walks a program as it is written, on the grid of its floats."""

    inverts = False


class _WeightTree(RestartingTree):
    """Walks a program whose choices have weights, but for questions about what is told."""

    inverts = False
    __slots__ = ("end_of",)

    def __init__(self, name: str, end_of: Callable[[ChoiceTree, Output], Any]) -> None:
        super().__init__(name, max_choices=_MAX_CHOICES)
        self.end_of = end_of

    def choose(self, branches: Any) -> int:
        is_free = type(branches) is Alternative and type(self.noise) is ToldRun
        if isinstance(branches, UnweightedBranches) and (self.is_in_loop or not is_free):
            self.forbid("a comparison of data or noise", "compare nothing before it is added")
        return super().choose(branches)

    def forbid(self, what: str, advice: str) -> Any:
        self.fail(UnsupportedRandomnessError(f"{self.name}: {what} is not enumerated; {advice}"))

    def ends_of(self, run: Run) -> Iterator[tuple[Any, Fraction]]:
        """What runs end with (``end_of``), with their probabilities; some may be left out.

        Raises BudgetError for one that is far from its end.
        """
        steps, is_cut = 0, True
        for number in range(_MAX_LEAVES):
            if (is_cut and number >= _NONE_ENDS) or steps > _MOST_STEPS:
                raise too_many_choices(self.name, self.max_choices)
            if number and number % _LOOKED_AT == 0 and self._is_far_from_its_end(number):
                raise too_many_leaves(self.name, _MAX_LEAVES)
            output = self._run(run)
            has_ended = self._restarted is None and not self._cut
            steps, is_cut = steps + len(self.path), is_cut and self._cut and not self._restarted
            # While the run is there that its sums are of: it is settled after later ones.
            self._end(self.end_of(self, output) if has_ended else None)
            more = self._advance()
            self._leave_loops(len(self.path) if more else 0)
            yield from self.settled()
            if not more:
                return
        self._leave_loops(0)
        yield from self.settled()

    def _is_far_from_its_end(self, runs: int) -> bool:
        """Whether so many runs have seen next to nothing of draws that have many outcomes each.

        Three noises of ninety values each have 700,000 outcomes, and those that the walk has no
        time for weigh more than any delta that is claimed. Coins do not count: the runs of a loop
        that they end are few, however long it is.
        """
        seen, part = 0.0, 1.0
        for branches, branch in self.path:
            many = branches if isinstance(branches, int) else len(branches)
            if many >= _MANY_OUTCOMES:
                part /= many
                seen += branch * part
        most = _FAR_TOO_MANY * _MAX_LEAVES
        return part * most < 1 and seen * most < runs

    def _may_skip(self) -> bool:
        return True


@dataclass(frozen=True)
class Adding:
    """A function as it is called, and its analysis."""

    name: str
    function: Any
    takes_generator: bool
    canonical: Callable[[Any], Output]
    session: Session


class AnyDataset(Protocol):
    """How datasets reach a program (``data_protocol.Data``)."""

    def symbolic(self, tree: Branching, run: AlignedRun) -> Any:
        """What stands for a dataset."""
        ...

    def plain(self, rng: np.random.Generator) -> Any:
        """Some dataset."""
        ...

    def value(self, answer: Answer, dataset: Any) -> Fraction:
        """An answer of a dataset."""
        ...

    def differences(self) -> Differences | ManyDifferences:
        """How far neighbours move the answers."""
        ...

    @property
    def reads_length(self) -> bool:
        """Whether the number of records was read."""
        ...


def find_added_law(program: Adding, data: AnyDataset) -> AddedLaw | str:
    """The law of what a program adds to its data, or why there is none.

    Raises LawError where a declared sampler has another law.
    """
    law = _find_or_refuse(_find, program, data)
    if isinstance(law, AddedLaw) or isinstance(law.error, BudgetError):
        return law if isinstance(law, AddedLaw) else str(law.error)
    told = _find_or_refuse(_find_told, program, data)
    return told if isinstance(told, AddedLaw) else str(law.error)


def _find_or_refuse(
    find: Callable[[Adding, AnyDataset], AddedLaw | str], program: Adding, data: AnyDataset
) -> AddedLaw | Abort:
    try:
        law = find(program, data)
    except LawError:
        raise
    except Abort as abort:
        if isinstance(abort.error, LawError):
            raise abort.error from None
        return abort
    except LiptestError as error:
        return Abort(error)
    if isinstance(law, str):
        return Abort(UnsupportedRandomnessError(law))
    return law


class _Walk:
    """A program whose runs are walked, with what they end with."""

    def __init__(
        self,
        program: Adding,
        data: AnyDataset,
        kind: Callable[[ChoiceTree], AlignedRun],
        end_of: Callable[[ChoiceTree, Output], Any],
    ) -> None:
        self.laws = SamplerLaws(program.name)
        self.functions: dict[Any, Answer] = {}
        self.tree = tree = _WeightTree(program.name, end_of)
        folds = Folds(find_record_rows, self.laws.summarised, samplers=self.laws)
        function = fold_loops(program.function, folds)
        called = function if program.takes_generator else lambda data, rng: function(data)
        program.session.follow(tree)

        def begin() -> Any:
            tree.noise = kind(tree)
            tree.noise.functions = self.functions
            return data.symbolic(tree, tree.noise)

        own = program.name, program.canonical, program.session
        self._run = Run(called, begin, ChoiceGenerator(tree), *own)

    def ends(self) -> Iterator[tuple[Any, Fraction]]:
        """What runs end with, with their probabilities."""
        try:
            yield from self.tree.ends_of(self._run)
        finally:
            self.tree.close()


def _find(program: Adding, data: AnyDataset) -> AddedLaw | str:
    walk = _Walk(program, data, partial(AlignedRun, releases=False), _find_end)
    name, functions = program.name, walk.functions
    masses: dict[Constants, Fraction] = {}
    shapes: set[Any] = set()
    template: Output = None
    for (shape, constants, output), weight in walk.ends():
        shapes.add(shape)
        template = output
        if len(shapes) > 1 or not constants:
            return f"{name}: its answers are not one sum plus noise"
        masses[constants] = masses.get(constants, Fraction(0)) + weight
    if not shapes:
        return f"{name}: no run of it ends"
    ((skeleton, places),) = shapes
    differences = with_functions(data.differences(), functions.values())
    law = _law(walk, data, differences, masses, places, skeleton)
    if isinstance(law, str):
        return law
    numbered = {answer.number: answer for answer in functions.values()}
    return _check(program, data, law, partial(_fill, template), numbered)


def _find_told(program: Adding, data: AnyDataset) -> AddedLaw | str:
    """The law of sums that all else follows from; what follows costs nothing."""
    walk = _Walk(program, data, ToldRun, find_told_end)
    law_told = ToldLaw()
    for end, weight in walk.ends():
        law_told.add(end, weight)
    masses = law_told.masses()
    if masses is None or not law_told.shapes:
        return f"{program.name}: what it makes of its sums depends on more than their noise"
    law = _law(walk, data, data.differences(), masses, next(iter(law_told.shapes)).places)
    return law if isinstance(law, str) else _check(program, data, law, law_told.output, {})


def _law(
    walk: _Walk,
    data: AnyDataset,
    differences: Differences | ManyDifferences,
    masses: dict[Constants, Fraction],
    places: Any,
    skeleton: Output = None,
) -> AddedLaw | str:
    """The law of these constants at these places, or why it is not compared."""
    moves = _moves(differences, places) if places else None
    if moves is None:
        return f"{walk.tree.name}: its sums are not whole numbers, or have too many differences"
    return AddedLaw(
        places,
        masses,
        1 - sum_of_fractions(masses.values()),
        moves,
        skeleton,
        data.reads_length,
        frozenset(walk.laws.conditions),
    )


def _check(
    program: Adding,
    data: AnyDataset,
    law: AddedLaw,
    output_at: Callable[[Constants, list[Fraction]], Output],
    functions: dict[int, Answer],
) -> AddedLaw | str:
    """The law, where what is enumerated of the function as it is written fits under it."""
    rng = _GENERATOR(_BITS(0))
    for _ in range(_DATASETS):
        dataset = data.plain(rng)
        plain_law = _enumerate_as_written(program, dataset)
        expected = _expect(data, law, output_at, functions, dataset)
        for answer, mass in plain_law.items():
            if not isinstance(mass, Fraction):
                return f"{program.name}: it draws noise that has no weights"
            if mass > expected.get(answer, Fraction(0)) + law.unexplored:
                return f"{program.name}: on plain data its answers have another law"
    return law


def _enumerate_as_written(program: Adding, dataset: Any) -> Mapping[Output, Any]:
    """What is enumerated of the law of the function on a dataset."""
    name, written = program.name, program.function
    called = written if program.takes_generator else lambda data, rng: written(data)
    leaves = max(_FEWEST, _ENTRIES // len(dataset))
    tree = _WrittenTree(name, max_leaves=min(leaves, _MOST_LEAVES), max_choices=_MAX_CHOICES)
    program.session.follow(tree)
    own = name, program.canonical, program.session
    run = Run(called, lambda: dataset, ChoiceGenerator(tree), *own)
    ended: list[tuple[Path, Output]] = []

    def note() -> Output:
        output = run()
        ended[:] = [([*tree.path], output)]
        return output

    try:
        plain_law = tree.law(note)
        for leaf in ended:
            # A run that is made once more may change nothing that the function holds.
            tree.repeat(run, *leaf)
            program.session.check_keeps_no_state(partial(tree.repeat, run, *leaf))
    finally:
        tree.close()
    return plain_law


def _expect(
    data: AnyDataset,
    law: AddedLaw,
    output_at: Callable[[Constants, list[Fraction]], Output],
    functions: dict[int, Answer],
    dataset: Any,
) -> dict[Output, Fraction]:
    """The probabilities of outputs on a dataset, by the law."""

    def value(number: int) -> Fraction:
        own = functions.get(number, Answer(number, True))
        return answer_value(own, lambda part: data.value(part, dataset))

    sums = [
        sum((by * value(summand) for summand, by in place), Fraction(0)) for place in law.places
    ]
    expected: dict[Output, Fraction] = {}
    for at, share in law.masses.items():
        output = output_at(at, sums)
        expected[output] = expected.get(output, Fraction(0)) + share
    return expected


def _fill(template: Output, constants: Constants, sums: list[Fraction]) -> Output:
    """The output with these constants where the answers are known."""
    numbers = iter([int(constant + by) for constant, by in zip(constants, sums, strict=True)])
    filled: Output = replace_numbers(template, lambda form: next(numbers))
    return filled


def _find_end(tree: ChoiceTree, output: Output) -> tuple[Any, Constants, Output]:
    """The shape of an output, its constants, and itself."""
    run: AlignedRun = tree.noise
    if run.conditions() or run.released:
        tree.forbid("a comparison of data", "compare nothing before it is added")
    forms = list(forms_in(tree, output))
    places, constants = [], []
    for form in forms:
        if not isinstance(form, Form) or not form.terms:
            tree.forbid("an output that is more than a sum", "answer the noisy number")
        kinds = [run.noises[variable] for variable, _ in form.terms]
        if not all(type(kind) is Answer for kind in kinds) or not run.is_whole(form):
            tree.forbid("an output that is not a whole number", "round it")
        terms = zip(kinds, form.terms, strict=True)
        places.append(tuple(sorted((answer.number, Fraction(by)) for answer, (_, by) in terms)))
        constants.append(Fraction(form.constant))
    skeleton = replace_numbers(output, lambda form: RealPlace())
    return (skeleton, tuple(places)), tuple(constants), output


def _moves(differences: Differences | ManyDifferences, places: Any) -> tuple[Constants, ...] | None:
    if isinstance(differences, ManyDifferences):
        return None
    answers = sorted({number for place in places for number, _ in place})
    if differences.box or differences.is_between(answers):
        return None
    moves: set[Constants] = set()
    for move in differences.moves(answers):
        by = dict(move)
        moves.add(
            tuple(
                sum((factor * by.get(number, 0) for number, factor in place), Fraction(0))
                for place in places
            )
        )
        if len(moves) > _MOST_MOVES or any(Fraction(step).denominator != 1 for step in by.values()):
            return None
    return tuple(sorted(change for change in moves if any(change)))
