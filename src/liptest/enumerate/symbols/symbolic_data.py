"""Paths of a program whose data are symbolic: one run for each, for data of any size.

Data reach the program as a column of records (``values.records.column``) or as answers; noise is
symbolic as ever. Nothing is asked of a branch but its condition: whether it is possible is not
(impossible paths only cost a run). A run at some points follows what the unmodified program does
there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from liptest.data.domains import Domain
from liptest.data.real_tables import RealRows
from liptest.data.tables import Table
from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.loops.flip_checks import check_tries, is_of_tries
from liptest.enumerate.numbers.noise_outputs import forms_in, replace_numbers
from liptest.enumerate.symbols.alike_pasts import Pasts
from liptest.enumerate.symbols.data_protocol import Data
from liptest.enumerate.symbols.loops_of_paths import LoopsOfPaths, join_exits
from liptest.enumerate.symbols.moved_outputs import common_sums, find_moves
from liptest.enumerate.symbols.path_trees import (
    MAX_CHOICES_OF_PATHS,
    PathTree,
    ProbeTree,
)
from liptest.enumerate.symbols.plain_points import Program, WayOfRuns, check_points, draw_some
from liptest.enumerate.symbols.real_rows import RealData
from liptest.enumerate.symbols.symbolic_datasets import Numbers, Records, find_data
from liptest.enumerate.symbols.symbolic_paths import (
    CurvedEnd,
    NoPaths,
    Pairs,
    PathEnd,
    SymbolicPaths,
)
from liptest.enumerate.symbols.told_lists import find_output_alone, is_plain_list
from liptest.enumerate.symbols.user_rows import UserRows
from liptest.enumerate.syntax.post_processing import old_objects_apart, place_of_cut
from liptest.enumerate.trees.choice_tree import Abort, ChoiceTree
from liptest.enumerate.trees.running import Run
from liptest.enumerate.watch.run_watch import watch_progress
from liptest.errors import BudgetError, LiptestError
from liptest.mechanisms.base import MOST_PATHS
from liptest.mechanisms.laws import Output, Raised
from liptest.runs.interrupts import interruptions, raise_swallowed
from liptest.symbolic.alignment import find_bare_move
from liptest.symbolic.answer_functions import with_functions
from liptest.symbolic.answers import AlignedPath, Answer, Differences, Move, are_told_once
from liptest.symbolic.forms import Constraint, Form
from liptest.symbolic.path_programs import RowReader
from liptest.values.answers.aligned import AlignedRun
from liptest.values.answers.contests import find_winners
from liptest.values.answers.curved import CurvedRun
from liptest.values.draws.known_draws import ends_refused
from liptest.values.draws.rounded_noise import check_wholes
from liptest.values.records.row_cells import MOST_CELLS

# Kept: while a program is analysed the names stand for something else.
_GENERATOR, _BITS = np.random.Generator, np.random.PCG64
#: Where what is looked at is released, most programs have one path.
MAX_PATHS_RELEASED, FEW_PATHS = 600, 20
_FEWER = (
    "compare fewer numbers, or look at no more of them than is told: "
    "next((i for i, x in enumerate(noisy) if x > t), None), np.flatnonzero(noisy > t)[:1]"
)
_NO_LOOP = "no loop of it starts over where data are symbolic"
_MANY_EXITS = "several loops of it start over, and are left in several ways each"
_MORE_THAN_SUMS = "beside a loop that starts over it does more with its data than add them up"
_TWICE = "counts of values that may be missing are told beside the loop that walks them"
_MAX_SECONDS = 60.0
# Times that a program is followed, with the comparisons of real columns that were seen before.
_MOST_REFINED = 6
# Choices and variables of all paths.
_MOST_WORK, _MOST_WORK_RELEASED = 4_000_000, 40_000
# So many terms of conditions, as of sums that grow, cost what one choice does.
_TERMS = 4
# When runs by chance look how many paths there are, and how many of them.
_PROBED_LEAVES, _PROBED_WORK, _PROBES, _FAR_TOO_MANY = 64, 2_000, 6, 1 << 18


def follow_paths(
    program: Program, domain: Domain, way: str, max_paths: int = MOST_PATHS
) -> SymbolicPaths | NoPaths:
    """All paths of a program, or why they are not known."""
    data = find_data(domain)
    if data is None:
        why = (
            f"beside its real columns a row takes more than {MOST_CELLS:,} values"
            if isinstance(domain, RealRows)
            else f"data of {domain} are not made symbolic"
        )
        return NoPaths(f"{program.name}: {why}")
    for _ in range(_MOST_REFINED):
        with old_objects_apart():
            paths = _follow(program, data, way, max_paths, domain.dimension)
        finer = data.refine_cells() if isinstance(data, (Records, RealData)) else None
        if finer is None:
            near = domain.near if isinstance(domain, Table) else None
            if near is not None and isinstance(data, (Records, UserRows)):
                near.checks.append(data.is_near)
            return paths
        if finer.is_too_fine:
            break
        data = finer
    what = "real columns with too many constants, or records with too many released numbers"
    return NoPaths(f"{program.name}: it compares {what}")


def follow_first(
    programs: Iterable[tuple[Program, int]], domain: Domain, way: str
) -> SymbolicPaths | NoPaths:
    """The paths of the first of some forms of a program that is followed, each with so many paths.

    Where none is: why the first is not, and no other is tried once a budget ended. With far too
    many paths it may still be cut before them, and is not followed as a whole again.
    """
    reasons: list[NoPaths] = []
    for program, max_paths in programs:
        if program.tail is None and any(reason.has_far_too_many for reason in reasons):
            break
        session = program.session
        session.fills_symbolic = session.filled_plain = False
        while True:
            tried = follow_paths(program, domain, way, max_paths)
            if isinstance(tried, SymbolicPaths):
                is_rest = any(reason.has_too_many for reason in reasons)
                return replace(tried, has_too_many=True) if is_rest else tried
            reasons.append(tried)
            if tried.is_budget and not tried.has_far_too_many:
                return reasons[0]
            if session.fills_symbolic or not session.filled_plain:
                break
            session.fills_symbolic = True
    return reasons[0]


def _follow(
    program: Program, data: Data, way: str, max_paths: int, dimension: int
) -> SymbolicPaths | NoPaths:
    releases = way == "released"
    most = min(max_paths, MAX_PATHS_RELEASED) if releases else max_paths
    pasts = Pasts() if way == "branches" else None
    loops = LoopsOfPaths() if way == "passes" else None
    kind = CurvedRun if way == "curved" else AlignedRun
    tree = PathTree(program.name)
    path_run = kind(tree, releases=releases)
    try:
        while True:
            tree = PathTree(program.name, max_choices=MAX_CHOICES_OF_PATHS)
            tree.pasts, tree.loops = pasts, loops
            path_run = kind(tree, releases=releases)
            leaves = _explore(program, data, path_run, tree, most)
            if pasts is None or not (pasts.is_stale or _are_not_alike(pasts, data, path_run)):
                break
            if pasts.may_begin_again and pasts.is_stale:
                pasts.begin_again()
            else:
                pasts = None
        if loops is not None and not loops.is_used:
            return NoPaths(f"{program.name}: {_NO_LOOP}")
        has_tries = any(map(is_of_tries, leaves))
        way_of_runs = WayOfRuns(kind, releases, pasts, loops is not None, has_tries)
        check_points(program, data, leaves, dimension, way_of_runs)
        rules = check_tries(program, draw_some(data)) if has_tries else ()
    except _ToldBare as told:
        return NoPaths(str(told), dearest=data.change_of_move(told.move))
    except _FarTooMany:
        why = f"more than {most:,} paths are not followed where data are symbolic"
        why = f"{program.name}: {why}; {_FEWER}"
        return NoPaths(why, is_budget=True, has_far_too_many=True, has_too_many=True)
    except (Abort, LiptestError) as raised:
        error = raised.error if isinstance(raised, Abort) else raised
        is_budget, many = isinstance(error, BudgetError), tree.leaves + tree.met > most
        boundary = _find_boundary(path_run, data)
        return NoPaths(str(error), is_budget, boundary, has_too_many=many)
    except Exception as fault:  # of liptest itself: what it does not follow is not a proof
        return NoPaths(_fault_in_words(program.name, fault))
    followed = replace(_find_paths(data, path_run, leaves, way, pasts), rules=rules)
    if loops is not None:
        exits = join_exits(leaf.exits for leaf in leaves)
        if exits is None:
            return NoPaths(f"{program.name}: {_MANY_EXITS}")
        if data.is_of_released or not _are_paths_of_sums(followed, leaves):
            return NoPaths(f"{program.name}: {_MORE_THAN_SUMS}")
        followed = replace(followed, exits=exits, leaves_by_noise=loops.leaves_by_noise)
    return _add_facts_of_data(program.name, followed, data, path_run, leaves)


def _find_paths(
    data: Data, path_run: AlignedRun, leaves: list[PathEnd], way: str, pasts: Pasts | None
) -> SymbolicPaths:
    """What the ends of the runs say together, whatever the kind of the data."""
    paths = {id(leaf.path): leaf.path for leaf in leaves}
    functions = tuple(path_run.functions.values())
    lists = pasts.told if pasts is not None and pasts.met else None
    is_plain = lists is None and not functions and not data.is_of_released
    return SymbolicPaths(
        tuple(paths.values()),
        with_functions(data.differences(), functions),
        way,
        data.reads_length or path_run.depends_on_size,
        data.change_of_move,
        rounding=max(leaf.rounding for leaf in leaves),
        added=data.added,
        output=_find_output(leaves) if lists is None else None,
        moved=common_sums(leaf.moved for leaf in leaves) if is_plain else None,
        rows=data if isinstance(data, UserRows) else None,
        ends=tuple(leaves) if lists is None else (),
        alone=partial(find_output_alone, leaves, lists),
        pairs_at=data.pairs_at,
    )


def _add_facts_of_data(
    name: str, followed: SymbolicPaths, data: Data, path_run: AlignedRun, leaves: list[PathEnd]
) -> SymbolicPaths | NoPaths:
    """With what records, users and values that may be missing add to the paths."""
    functions = tuple(path_run.functions.values())
    if isinstance(data, Numbers) and functions:
        followed = replace(followed, pairs_of_moves=data.pairs_of_functions(functions))
    if type(data) is Records and (functions or data.has_blocks):
        followed = replace(followed, pairs_of_moves=data.pairs_of_functions(functions))
    missing = [gap for leaf in leaves for gap in leaf.missing]
    if missing:
        told = [numbers for _, values in missing for numbers in values]
        every = frozenset(number for numbers in told for number in numbers)
        told_once = are_told_once(followed.paths, every) and not functions
        if not isinstance(data, Records) or not told_once:
            return NoPaths(f"{name}: {_TWICE}")
        gone = (
            max(mass for mass, _ in missing),
            data.vanishing({numbers[0]: numbers for numbers in told}),
        )
        return replace(followed, missing=gone)
    if isinstance(data, Records | UserRows):
        followed = _add_samples(followed, data, path_run, leaves)
    if isinstance(data, UserRows):
        followed = replace(followed, pairs_of_moves=data.pairs_of_moves, hint=data.hint)
    if isinstance(data, UserRows | Records):
        followed = replace(followed, rounded=data.rounded)
    return followed


def _add_samples(
    followed: SymbolicPaths, data: Records | UserRows, path_run: AlignedRun, leaves: list[PathEnd]
) -> SymbolicPaths:
    """With how answers move by themselves, and random samples that nothing tells."""
    if not all(leaf.keeps_sample for leaf in leaves):
        return followed
    functions = tuple(path_run.functions.values())
    sample: Any = data.sample
    if sample is not None:
        sample = sample[0], with_functions(sample[1], functions)
    return replace(followed, sample=sample, in_groups=None if functions else data.in_groups)


def _are_paths_of_sums(followed: SymbolicPaths, leaves: list[PathEnd]) -> bool:
    """Whether paths with loops ask nothing but of sums of the data and noise."""
    is_exact = not any(leaf.rounding or leaf.missing for leaf in leaves)
    has_functions = any(
        isinstance(noise, Answer) and noise.function is not None
        for path in followed.paths
        for noise in path.noises
    )
    return is_exact and not has_functions and isinstance(followed.differences, Differences)


def _are_not_alike(pasts: Pasts, data: Data, run: AlignedRun) -> bool:
    """Whether runs have met whose answers must not be exchanged."""
    return pasts.exchanges_answers and (not data.are_answers_alike or bool(run.functions))


def _find_output(leaves: list[PathEnd]) -> Callable[[Callable[[Any], Any]], Output] | None:
    is_one = len(leaves) == 1 and place_of_cut(leaves[0].output) is None
    return partial(replace_numbers, leaves[0].output) if is_one else None


def _fault_in_words(name: str, error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = ""
    if trace is not None:
        place = f" ({Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})"
    return (
        f"{name}: liptest itself raised {type(error).__name__}{place} where it followed symbolic "
        f"data, which is not a fault of the program"
    )


class _FarTooMany(Exception):
    """Runs by chance end at leaves that are met next to never."""


class _ToldBare(Exception):
    """A path tells a sum of the data without noise, which no shift of noise can keep."""

    def __init__(self, why: str, move: Move) -> None:
        super().__init__(why)
        self.move = move


def _find_boundary(run: AlignedRun, data: Data) -> Pairs:
    """Neighbours on both sides of the comparison that was refused."""
    form = run.boundary
    if form is None or not all(isinstance(run.noises[v], Answer) for v, _ in form.terms):
        return ()
    if any(run.noises[v].function for v, _ in form.terms):
        return ()
    factors = {run.noises[v].number: Fraction(factor) for v, factor in form.terms}
    return data.pairs_at(factors, Fraction(form.constant))


def _explore(
    program: Program, data: Data, path_run: AlignedRun, tree: PathTree, max_paths: int
) -> list[PathEnd]:
    """All paths."""
    before = interruptions()
    releases = path_run.releases
    program.session.follow(tree)

    def begin() -> Any:
        path_run.begin()
        tree.noise = path_run
        if tree.pasts is not None:
            tree.pasts.begin(tree, path_run)
        if tree.loops is not None:
            tree.loops.begin(tree, path_run)
        return data.symbolic(tree, path_run)

    rng = ChoiceGenerator(tree)
    run = Run(program.rewritten, begin, rng, program.name, program.canonical, program.session)
    leaves: list[PathEnd] = []
    work, most_work = 0, _MOST_WORK_RELEASED if releases else _MOST_WORK
    maker = PathMaker(data)
    is_probed = False
    try:
        with watch_progress(
            lambda: tree.leaves + tree.met + ChoiceTree.ended_runs,
            tree.fail,
            _explore.__code__,
            _MAX_SECONDS,
            program.name,
        ):
            for output in tree.leaves_of(run):
                raise_swallowed(before)
                path = maker.path_of(tree, output)
                if tree.pasts is not None:
                    tree.pasts.check_end(path, output)
                    if tree.pasts.is_stale:
                        break
                end = _end_of(tree, path_run, path, output)
                leaves.append(end)
                work += len(tree.path) + len(path_run.noises)
                work += sum(len(condition.terms) for condition in path.conditions) // _TERMS
                _check_no_bare_place(path, path_run, data)
                if not (is_probed or tree.met) and (
                    len(leaves) >= _PROBED_LEAVES or work > _PROBED_WORK
                ):
                    is_probed = True
                    if _has_far_too_many_paths(program, data, type(path_run), releases=releases):
                        raise _FarTooMany
                    program.session.follow(tree)
                if len(leaves) > max_paths or work > most_work:
                    tree.forbid(f"more than {len(leaves) - 1:,} paths", _FEWER)
    finally:
        tree.close()
        program.session.walks_records |= tree.walks_records
        program.session.makes_rows |= tree.makes_rows
    return leaves


def _end_of(tree: PathTree, run: AlignedRun, path: AlignedPath, output: Output) -> PathEnd:
    """What is kept of a run: its path, and what it met on the way."""
    raises = isinstance(output, Raised) and not ends_refused(tree.path, output.exception)
    noted = run.rounding, run.keeps_sample, tuple(run.missing)
    moved = find_moves(tree, output)
    exits = () if tree.loops is None else tree.loops.exits_of_run()
    choices, noises = tuple(tree.path), tuple(run.noises)
    end = PathEnd(path, choices, noises, raises, *noted, output, moved, exits)
    asked = run.end() if isinstance(run, CurvedRun) else None
    return end if asked is None else replace(end, curved=CurvedEnd(*asked))


def _check_no_bare_place(path: AlignedPath, run: AlignedRun, data: Data) -> None:
    """Raise ``_ToldBare`` for a path that no further path can make a proof of."""
    noises = path.noises
    bare = [
        form
        for form in path.places
        if all(isinstance(noises[v], Answer) for v, _ in form.terms)  # one term at least
    ]
    # Functions of answers, and users, have other pairs to look at than a dearest one.
    if not bare or run.functions or not isinstance(data, (Records, Numbers)):
        return
    _, rows = RowReader().read(AlignedPath(noises, (), tuple(bare)))
    bare_move = find_bare_move(path, rows, data.differences())
    if bare_move is not None:
        raise _ToldBare(bare_move[1], bare_move[0])


def _has_far_too_many_paths(
    program: Program, data: Data, kind: type[AlignedRun], *, releases: bool
) -> bool:
    """Whether a few runs with branches by chance all end at leaves that are met next to never.

    Of a program with ``MOST_PATHS`` paths that has a chance of 2**-6 for each run.
    """
    for seed in range(_PROBES):
        tree = ProbeTree(program.name, _GENERATOR(_BITS(seed)))
        program.session.follow(tree)

        def begin(tree: ProbeTree = tree) -> Any:
            tree.noise = kind(tree, releases=releases)
            return data.symbolic(tree, tree.noise)

        draws = ChoiceGenerator(tree)
        own = program.name, program.canonical, program.session
        try:
            tree._run(Run(program.rewritten, begin, draws, *own))
        except (Abort, LiptestError):
            return False
        finally:
            tree.close()
        if tree.ways < _FAR_TOO_MANY:
            return False
    return True


class PathMaker:
    """Makes the paths of leaves; those that are equal except for names are one."""

    def __init__(self, data: Data) -> None:
        self._data = data
        # By the ids of objects, which are kept with them.
        self._twins: dict[Any, tuple[AlignedPath, Any]] = {}

    def path_of(self, tree: ChoiceTree, output: Output) -> AlignedPath:
        """The path of the leaf that a tree is at."""
        run: AlignedRun = tree.noise
        places = dict(run.released)
        for place in () if is_plain_list(output) else forms_in(tree, output):
            if isinstance(place, Form) and place.terms:
                places.setdefault(run.terms_of(place), place)
        forms = tuple(sorted(places.values(), key=lambda form: form.terms))
        noises, conditions = tuple(run.noises), run.conditions()
        check_wholes(run, forms)
        twin = self._identity_of_twins(run, conditions, forms)
        if twin not in self._twins:
            path = AlignedPath(noises, (*conditions, *run.conditions_of_contests()), forms)
            self._twins[twin] = path, (noises, conditions, run.contests)
        return self._twins[twin][0]

    def _identity_of_twins(
        self, run: AlignedRun, conditions: tuple[Constraint, ...], places: tuple[Form, ...]
    ) -> Any:
        """Equal where the prices of two paths are (docs/theory/size.md, S7)."""
        are_alike = self._data.are_answers_alike and not run.functions
        winners = find_winners(run.contests, conditions, places, are_answers_alike=are_alike)
        # What is equal is mostly the same object.
        return tuple(map(id, run.noises)), tuple(map(id, conditions)), places, winners
