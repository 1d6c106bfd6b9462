"""What a program is where its data are symbolic: its paths, or why they are not known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from liptest.data.domains import IntArray
from liptest.mechanisms.laws import Output
from liptest.symbolic.answers import (
    AlignedPath,
    Answer,
    AnswersInGroups,
    Differences,
    ManyDifferences,
    Move,
)
from liptest.symbolic.curves import Curve
from liptest.symbolic.noise import Noise
from liptest.values.branching import Branches

if TYPE_CHECKING:
    from liptest.symbolic.curved_masses import CurvedCondition

#: Pairs of neighbours, each (d,) whole numbers.
Pairs = tuple[tuple[IntArray, IntArray], ...]
#: For each number of an output the answers that it is a sum of, with their factors.
Sums = tuple[tuple[tuple[int, Fraction], ...], ...]
ASKS_TYPES = (
    "it hands on type, or asks eval (for frame.eval write the arithmetic of its columns), so that "
    "it may see what kind of object its data are"
)

#: Where functions of the data are followed; more paths have no price by them.
MAX_PATHS_CURVED = 64


def _unknown(move: Move) -> None:
    return None


def _refuse_unlisted(number: int) -> None:
    return None


def _no_pairs(moves: tuple[Move, ...]) -> Pairs:
    return ()


def _unseen(path: AlignedPath) -> None:
    return None


def _nowhere(factors: dict[int, Fraction], constant: Fraction) -> Pairs:
    return ()


@dataclass(frozen=True)
class CurvedEnd:
    """What a path of the way "curved" asks, and what its code takes for granted of its data."""

    conditions: tuple[CurvedCondition, ...]
    positive: tuple[Curve, ...]
    finite: tuple[tuple[Curve, Fraction], ...]


@dataclass(frozen=True)
class SymbolicPaths:
    """All paths of a program, and the differences of their answers.

    ``way`` is "released", where what the program looks at counts as told to the outside (T26),
    "branches", where comparisons are conditions, "every branch", where runs that meet are followed
    one by one, "curved", where data may be used otherwise than added to noise (tables, B17), or
    "passes", where a loop that starts over counts as the pass that leaves it, and
    ``exits`` say what these passes ask (docs/theory, loops, L9). ``reads_length``: the number of
    records was read, which is public.
    """

    paths: tuple[AlignedPath, ...]
    differences: Differences | ManyDifferences
    way: str
    reads_length: bool
    #: By a move of the answers: a position and two values of its record that differ by it.
    change_of_move: Callable[[Move], tuple[int, int, int] | None] = _unknown
    #: Neighbours that differ by moves, one of each part of ``ManyDifferences``.
    pairs_of_moves: Callable[[tuple[Move, ...]], Pairs] = _no_pairs
    #: What would make the price smaller, in a sentence.
    hint: str = ""
    #: What the rounding of float sums adds to the differences, in words.
    rounded: str = ""
    #: What the paths rest on beside the code as it is written, with its lines.
    rules: tuple[str, ...] = ()
    #: How far choices of a path are from what it says, in total variation at most.
    rounding: Fraction = Fraction(0)
    #: Of one random sample: what no record is in it with more than (``AnswerBook.sample``).
    sample: tuple[Fraction, Differences] | None = None
    #: How far answers of one sample move by themselves (``AnswersInGroups``).
    in_groups: AnswersInGroups | None = None
    #: Of values that may be missing (``DecidingRun.missing``), and the differences where one goes.
    missing: tuple[Fraction, Differences] | None = None
    #: What records add to an answer by their values, or numbers of the data by their places.
    added: Callable[[int], dict[int, Fraction] | None] = _refuse_unlisted
    #: The output, where all runs give the same one but for what is put in the places of its sums.
    output: Callable[[Callable[[Any], Any]], Output] | None = None
    #: The answers in each number of the output, where data only move it (``moved_outputs``).
    moved: Sums | None = None
    #: Of a table with real columns, or with users: its rows as symbols (``UserRows``).
    rows: Any = None
    #: All runs, in the order of their choices; ``paths`` has equal ones once. None where some met.
    ends: tuple[PathEnd, ...] = ()
    #: The output of a path that no other run has (``told_lists``); None where that is not seen.
    alone: Callable[[AlignedPath], tuple[Output] | None] = _unseen
    #: Whether the program as a whole has more paths than were to be followed.
    has_too_many: bool = False
    #: Of the way "passes": what is asked where its loops are left.
    exits: tuple[AlignedPath, ...] = ()
    #: Whether passes leave its loops by their noise alone: whatever the data are, with the same
    #: probability (docs/theory, loops, L10).
    leaves_by_noise: bool = False
    #: Neighbours on both sides of where factors times answers, by number, plus a number are 0.
    pairs_at: Callable[[dict[int, Fraction], Fraction], Pairs] = _nowhere


@dataclass(frozen=True)
class NoPaths:
    """Why a program is not followed with symbolic data, in a sentence with its line."""

    reason: str
    #: Whether a budget ended: trying again in another way takes as long.
    is_budget: bool = False
    #: Neighbours on both sides of a comparison of data without noise, where that was the reason.
    boundary: tuple[tuple[IntArray, IntArray], ...] = ()
    #: A position and two values of its record, whose exchange changes what is told without noise.
    dearest: tuple[int, int, int] | None = None
    #: Whether its paths are so many that no law of it can be enumerated, either.
    has_far_too_many: bool = False
    #: As of ``SymbolicPaths``.
    has_too_many: bool = False
    #: None of them.
    paths: ClassVar[tuple[AlignedPath, ...]] = ()
    exits: ClassVar[tuple[AlignedPath, ...]] = ()


@dataclass(frozen=True)
class PathEnd:
    """A path, the choices that lead to it, and whether it ends with an exception.

    Those of the choices that it shares with other ends are one object. ``noises``: its own ones.
    """

    path: AlignedPath
    choices: tuple[tuple[Branches, int], ...]
    noises: tuple[Noise | Answer, ...]
    raises: bool
    rounding: Fraction
    #: Whether nothing tells which records were chosen by coins.
    keeps_sample: bool
    missing: tuple[tuple[Fraction, tuple[tuple[int, ...], ...]], ...]
    output: Output
    moved: tuple[Any, Sums] | None
    #: What was asked where loops that start over were left.
    exits: tuple[AlignedPath, ...] = ()
    #: Of the way "curved"; None where more than curves was asked.
    curved: CurvedEnd | None = None

    @property
    def branches(self) -> tuple[int, ...]:
        """What was taken of each choice."""
        return tuple([branch for _, branch in self.choices])
