"""Loops over records that only add up, rewritten so that a column is walked value by value.

``for v in data: total += E`` adds the same for all records of the same value, whatever their order,
if the pass reads nothing but the record, constants, and what it assigned before itself (definite
assignment), and if nothing that it assigns but the sums is read later. So each possible value is
walked once, and the loop is the sum of its contributions. Everything else is left as it is written;
and what is rewritten asks at run time whether it is given a column (``folds``).
"""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import Any

from liptest.enumerate.folded.column_builtins import (
    OVER_COLUMNS,
    find_walked_arguments,
    over_columns,
)
from liptest.enumerate.folded.folds import COMPARISONS, Folds, Samplers
from liptest.enumerate.folded.later_records import (
    collecting,
    is_generator_function,
    reads_fixed_names,
)
from liptest.enumerate.folded.placed_records import (
    helpers_for_places,
    read_placed_comprehension,
    read_placed_loop,
)
from liptest.enumerate.intercept.replaceable_names import names_in
from liptest.enumerate.loops.coin_filters import with_coins_first
from liptest.enumerate.loops.coin_loops import read_coins
from liptest.enumerate.loops.flip_loops import read_flips, with_orders_in_loops
from liptest.enumerate.loops.fold_passes import Assigned, Pass, Wrapping
from liptest.enumerate.loops.index_reads import (
    counts_up,
    has_start,
    last_place,
    name_entries,
    parts_of_walk,
    read_at_index,
)
from liptest.enumerate.loops.key_tests import with_plain_loops
from liptest.enumerate.loops.meeting_loops import MeetingLoop
from liptest.enumerate.loops.pass_forms import NotFolded, read_addition, without_names
from liptest.enumerate.loops.popping_loops import with_pops_in_loops
from liptest.enumerate.loops.ranked_calls import find_calls_read_by_rank, with_sorted_lists
from liptest.enumerate.loops.running_best import running_best_of
from liptest.enumerate.loops.spellings import (
    Spellings,
    names_when_called,
    with_returns_behind_loops,
)
from liptest.enumerate.loops.start_over import begin_before, passes_that_start_over, with_passes
from liptest.enumerate.loops.threshold_loops import fill_dict, threshold_loop
from liptest.enumerate.syntax.called_methods import is_known_when_run, is_of_program, rewrite_object
from liptest.enumerate.syntax.liveness import find_captured_names, names_read_after
from liptest.enumerate.syntax.post_processing import CUT, Tail
from liptest.enumerate.syntax.pure_code import (
    NotPure,
    check_in_loop,
    find_constant,
    is_builtin,
    is_whole_draw,
)
from liptest.enumerate.syntax.signatures import ByName
from liptest.enumerate.syntax.source import (
    LOOKING,
    OWN_NAMES,
    FunctionSource,
    copy_tree,
    names_loaded,
    names_stored,
    read_source,
)
from liptest.enumerate.syntax.tree_pieces import (
    FOLDS,
    attribute_node,
    call_of_folds,
    flat_statements,
    lambda_node,
    name_node,
    nodes_in,
    place_in_file,
    root_name,
    tuple_node,
)
from liptest.runs.surroundings import without_hooks

_FOLD = f"{OWN_NAMES}rewritten"
SUMMED_UP = (
    "loops that start over are counted as one pass that leaves them, and loops of coins as "
    "geometric numbers (theory L3, L5)"
)


def fold_loops(
    function: Any,
    folds: Folds,
    tail: Tail | None = None,
    reach: Callable[[Any], None] = lambda made: None,
) -> Any:
    """The function with loops that ask ``folds``; itself where there is nothing to rewrite.

    What it calls by name, of the program's own, is rewritten, too. To be called within the
    analysis that runs it: what names stand for is looked up here. With a ``tail``, of this
    function, it is cut there. ``reach`` is told of each function that is made.
    """
    return _Rewriter(folds, tail, reach).rewritten(function)


class Rewritten:
    """A function with loops that are not run as they are written, once for a session."""

    def __init__(self, mechanism: Any, folds: Folds) -> None:
        self._mechanism, self._folds = mechanism, folds
        self._known: tuple[Any, Any] | None = None

    def __call__(self, session: Any) -> Any:
        if self._known is None or self._known[0] is not session:
            reach = session.surroundings.reach
            made = fold_loops(self._mechanism.function, self._folds, reach=reach)
            called = made if self._mechanism._takes_generator else lambda data, rng: made(data)
            self._known = session, self._mechanism._present(called)
        return self._known[1]


class _Rewriter:
    """Rewrites functions, each once."""

    def __init__(self, folds: Folds, tail: Tail | None, reach: Callable[[Any], None]) -> None:
        self._folds = folds
        self._tail = tail
        self._reach = reach
        self._known: dict[FunctionType, FunctionType] = {}
        # The function that is called first, whose output is that of the program.
        self._first: FunctionType | None = None

    def rewritten(self, function: Any) -> Any:
        """A function, bound or with some arguments given, or else what it is."""
        if type(function) is partial:
            return partial(self.rewritten(function.func), *function.args, **function.keywords)
        if type(function) is ByName:
            return replace(function, function=self.rewritten(function.function))
        folds = self._folds
        if type(function) is not FunctionType:
            return over_columns(function, folds) or rewrite_object(function, self.rewritten)
        if self._tail is not None and function is self._tail.written:
            function = self._tail.parts.source.function
        # The program itself, which is given data, is not taken for a sampler.
        if folds.summarised and self._first is not None:
            summary = folds.summarised(function, self._compile)
            if summary is not None:
                return summary
        if function not in self._known:
            self._known[function] = function  # while it is looked at: it may call itself
            self._first = self._first or function
            with without_hooks():  # a whole library may be rewritten while the program runs
                self._known[function] = self._made(function)
        return self._known[function]

    def _made(self, function: FunctionType) -> Any:
        rewritten = with_coins_first(with_plain_loops(function))
        self._first = rewritten if function is self._first else self._first
        return self._compile(rewritten) or rewritten

    def _compile(self, function: FunctionType) -> Any:
        if not is_of_program(function):
            return None
        source = read_source(function)
        if source is None:
            return self._collecting(function)
        if not names_in(function.__code__).isdisjoint(LOOKING):
            return None
        if any(name.startswith(OWN_NAMES) for name in function.__code__.co_varnames):
            return None
        is_cut = self._tail is not None and self._tail.parts.source.function is function
        if not is_cut and self._folds.moves_returns:
            source = with_returns_behind_loops(source)
        if not is_cut and self._folds.place_by_flips:
            source = with_pops_in_loops(with_orders_in_loops(with_sorted_lists(source)))
        return self._with_folds(source)

    def _collecting(self, function: FunctionType) -> Any:
        """A generator function that gives what is walked later where it is given a column."""
        source = collecting(function)
        if source is None:
            return None
        made = self._with_folds(source) or source.function
        return partial(self._folds.generated, function, made)

    def _with_folds(self, source: FunctionSource) -> FunctionType | None:
        """The function with what asks ``folds``; None where nothing of it does."""
        function = source.function
        rewriting = _Folding(source, self.rewritten, self._folds.samplers)
        rewriting.folds = self._folds
        rewriting.may_meet = function is self._first and not (self._tail or self._folds.samplers)
        helpers: dict[str, Any] = {FOLDS: self._folds}
        statements, calls = source.body, dict[int, list[ast.stmt]]()
        tail = self._tail
        if tail is not None and tail.parts.source.function is function:
            statements, calls = tail.parts.statements, tail.calls()
            helpers[CUT] = tail.at
        body: list[Any] = []
        for place, statement in enumerate(statements):
            body += [*calls.get(place, ()), rewriting.visit(copy_tree(statement))]
        if not rewriting.changes and not calls:
            return None
        made = source.compiled(
            source.with_body(begin_before(flat_statements(body))), helpers | rewriting.helpers
        )
        self._reach(made)
        return made


def _has_slices(node: ast.expr) -> bool:
    entries = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(isinstance(entry, (ast.Slice, ast.Starred)) for entry in entries)


class _Folding(Spellings):
    """Rewrites the statements of one function."""

    folds: Folds

    def __init__(self, source: FunctionSource, fold: Any, samplers: Samplers | None) -> None:
        self.source = source
        self._samplers = samplers
        self.changes = 0
        self.helpers: dict[str, Any] = {_FOLD: fold}
        self._fold = fold
        code = source.function.__code__
        #: Names of its own, comprehensions around the place among them.
        self._own = frozenset(code.co_varnames) | frozenset(code.co_cellvars)
        self._loops = 0
        #: Whether a loop may be looked at in which runs meet, which is one at most.
        self.may_meet = False
        self._catches = any(isinstance(node, ast.Try) for s in source.body for node in ast.walk(s))
        # The statements as they are written: loops are looked for in these.
        self._written = source.body
        self._read_by_rank = find_calls_read_by_rank(source)
        self._originals = {
            place_in_file(loop): loop for loop in nodes_in(source.body, ast.For, ast.While)
        }

    def _leave(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _leave

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """A generator function that is made here is looked at when it is there."""
        if not is_generator_function(node):
            return node
        self.changes += 1
        made = ast.Call(name_node(_FOLD), [name_node(node.name)], [])
        put = ast.Assign([name_node(node.name, ast.Store())], made)
        return [node, ast.copy_location(put, node.body[-1])]

    # ---- expressions

    def visit_Call(self, node: ast.Call) -> Any:
        for name, function in OVER_COLUMNS.items():
            if self._is_builtin(node.func, function):
                return self._call_of_builtin(node, name, function)
        applied = self.visit_applied(node)
        if applied is not None:
            return applied
        later = self.visit_mapper(node)
        if later is not node:
            return later
        when_run = is_known_when_run(self.source, node.func, is_free=self.is_free(node.func))
        if not when_run:
            self._replace_function(node)
        made = self.generic_visit(node)
        if when_run:
            self.changes += 1
            call = ast.Call(name_node(_FOLD), [node.func], [])
            node.func = ast.copy_location(call, node.func)
        return made

    def _call_of_builtin(self, node: ast.Call, name: str, function: Any) -> Any:
        arguments = node.args
        starred = any(isinstance(argument, ast.Starred) for argument in arguments)
        is_open = any(keyword.arg is None for keyword in node.keywords)
        if not arguments or is_open or (starred and function is not builtins.zip):
            return self.generic_visit(node)
        inner = self.set_in(node) if function is builtins.len else None
        if inner is not None:
            node, name, arguments = inner, "len_of_set", inner.args
        parts = self._parts_added(node) if function is functools.reduce else None
        self.changes += 1
        walks = slice(1) if inner is not None else find_walked_arguments(function)
        places = range(*walks.indices(len(arguments)))
        node.args = [
            self.walked(one)
            if place in places and not isinstance(one, ast.Starred)
            else self.visit(one)
            for place, one in enumerate(arguments)
        ]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        if place_in_file(node) in self._read_by_rank:
            node.keywords.append(ast.keyword("by_rank", ast.Constant(True)))
        node.func = ast.copy_location(attribute_node(FOLDS, name), node.func)
        node.keywords += [] if parts is None else [ast.keyword("parts", parts)]
        return node

    def _parts_added(self, node: ast.Call) -> ast.expr | None:
        """Of ``reduce(lambda total, item: total + part, ..)`` what makes a list of the parts."""
        added = read_addition(node)
        if added is None:
            return None
        try:
            for term in (added.part, *added.tests):
                check_in_loop(self.source, term, self._own, frozenset({added.item}))
        except NotPure:
            return None
        wrap = Wrapping(self.source, self._own - {added.item})
        part, *tests = (wrap.visit(copy_tree(term)) for term in (added.part, *added.tests))
        hidden = f"{OWN_NAMES}iterable"
        walk = ast.comprehension(name_node(added.item, ast.Store()), name_node(hidden), tests, 0)
        return lambda_node(hidden, ast.ListComp(part, [walk]))

    def _replace_function(self, node: ast.Call) -> None:
        """Put the rewritten function in the place of one of the program's."""
        try:
            function = find_constant(self.source, node.func)
        except NotPure:
            return
        rewritten = self._fold(function)
        if rewritten is not function:
            name = f"{OWN_NAMES}function_{len(self.helpers)}"
            self.helpers |= {name: rewritten, f"{name}_as_written": function}
            self.changes += 1
            # The name may stand for another function by then.
            written = name_node(f"{name}_as_written")
            is_same = ast.Compare(copy_tree(node.func), [ast.Is()], [written])
            other = ast.Call(name_node(_FOLD), [copy_tree(node.func)], [])
            call = ast.IfExp(is_same, name_node(name), other)
            node.func = ast.copy_location(call, node.func)

    def visit_Compare(self, node: ast.Compare) -> Any:
        """``rng.integers(n) < k``: the draw is there for this comparison only."""
        visited = self.generic_visit(node)
        if self._samplers is None or len(node.ops) != 1:
            return visited
        sides = [node.left, node.comparators[0]]
        drawn = [is_whole_draw(self.source, side) for side in sides]
        comparison = type(node.ops[0]).__name__
        if drawn.count(True) != 1 or comparison not in COMPARISONS:
            return visited
        draw, other = sides if drawn[0] else reversed(sides)
        try:
            assert isinstance(draw, ast.Call)
            for part in (other, *draw.args):
                self.check(part, frozenset())
        except NotPure:
            return visited
        self.changes += 1
        read = sorted(names_loaded(node) & self._own)
        call = call_of_folds(
            "compared",
            ast.Constant(comparison),
            *(lambda_node(None, side) for side in (draw, other)),
            ast.Constant(not drawn[0]),
            lambda_node(None, tuple_node([name_node(name) for name in read])),
        )
        return ast.copy_location(call, node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """``array[index]`` as ``folds.item(array, index)``: NumPy would ask for plain places."""
        visited = self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or _has_slices(node.slice):
            return visited
        self.changes += 1
        assert isinstance(visited, ast.Subscript)
        call = ast.Call(attribute_node(FOLDS, "item"), [visited.value, visited.slice], [])
        return ast.copy_location(call, node)

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        return self.comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        iterable = self.visit(copy_tree(node.generators[0].iter))
        filled = fill_dict(self, node, self._in_scope)
        if filled is None:
            return self._in_scope(node)
        self.changes += 1
        assert isinstance(filled, ast.Call)
        filled.args[0] = iterable
        return filled

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return self.comprehension(node, is_later=True)

    def comprehension(
        self, node: ast.ListComp | ast.GeneratorExp, *, is_later: bool = False
    ) -> Any:
        """``_comprehension``, over places or over what is there."""
        placed = read_placed_comprehension(node, self._is_builtin)
        if placed is None or (
            is_later and not reads_fixed_names(self.source, node, placed.arrays, self._own)
        ):
            return self._comprehension(node, is_later)
        self.changes += 1
        self.helpers |= helpers_for_places(self.folds.zip)
        ways = [self._comprehension(way, is_later) for way in (placed.by_place, placed.by_record)]
        return placed.joined(self.walked(copy_tree(node.generators[0].iter)), *ways)

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, is_later: bool) -> Any:
        """``folds.comprehension(iterable, as written, checked)``, or as it is written.

        One that is kept in a variable, and walked later, as ``folds.later(..)``.
        """
        first, looked = node.generators[0], without_names(node, self.source)
        looked, arrays = read_at_index(looked, self._is_builtin)
        try:
            if len(node.generators) > 1 or first.is_async:
                raise NotPure("several iterables")
            inner = frozenset(names_stored(looked.generators[0].target))
            for each in (looked.elt, *looked.generators[0].ifs):
                check_in_loop(self.source, each, self._own, inner, calls=True)
            read = [looked.elt, *looked.generators[0].ifs, *arrays]
            if is_later and not reads_fixed_names(self.source, node, read, self._own - inner):
                raise NotPure("what a walk over it may change")
        except NotPure:
            return self._in_scope(node)
        iterable = self.visit(first.iter) if is_later or arrays else self.walked(first.iter)
        if arrays:
            iterable = call_of_folds("at_index", iterable, lambda_node(None, tuple_node(arrays)))
        names = sorted(names_loaded(*read) & self._own - inner)
        self.changes += 1
        hidden = f"{OWN_NAMES}iterable"
        checked = copy_tree(looked)
        wrap = Wrapping(self.source, self._own - inner)
        part = checked.generators[0]
        checked.elt, part.ifs = wrap.visit(checked.elt), [wrap.visit(test) for test in part.ifs]
        first.iter, part.iter = name_node(hidden), name_node(hidden)
        lambdas = [lambda_node(hidden, version) for version in (self._in_scope(node), checked)]
        if is_later:
            call = call_of_folds("later", iterable, *lambdas, names_when_called(names))
        else:
            call = call_of_folds("comprehension", iterable, *lambdas)
        return ast.copy_location(call, node)

    def _in_scope(self, node: Any) -> Any:
        before = self._own
        for part in node.generators:
            self._own |= names_stored(part.target)
        try:
            return self.generic_visit(node)
        finally:
            self._own = before

    visit_SetComp = _in_scope

    def is_free(self, node: ast.expr) -> bool:
        root = root_name(node)
        return bool(root) and root not in self._own

    # ---- loops

    def visit_For(self, node: ast.For) -> Any:
        flips = self._flipping(node)
        if flips is not None:
            return flips
        passing = threshold_loop(self, node)
        if passing is not None:
            self.changes += 1
            self.helpers[f"{OWN_NAMES}exception"] = Exception
            iterable = self.visit(copy_tree(node.iter))
            passing = replace(passing, value=self.visit(passing.value))
            return passing.rewritten(self._next(), iterable, self._loop_over_records)
        return self._loop_over_records(node)

    def _loop_over_records(self, node: ast.For) -> list[ast.stmt]:
        placed = read_placed_loop(node, self._next(), self._is_builtin)
        if placed is None or names_stored(node.target) & self.names_read_later(node):
            return self._loop_as_written(node)
        self.changes += 1
        self.helpers |= helpers_for_places(self.folds.zip)
        ways = placed.by_place, placed.by_record
        return placed.joined(self.walked(copy_tree(node.iter)), *map(self._loop_as_written, ways))

    def _loop_as_written(self, node: ast.For) -> list[ast.stmt]:
        try:
            return self._fold_for(node)
        except (NotPure, NotFolded):
            return self._keeping_best(node)

    def _keeping_best(self, node: ast.For) -> list[ast.stmt]:
        """The loop as it is written, or where it keeps a best candidate, noting them."""
        best = running_best_of(node, self._is_builtin)
        shared = self.source.function.__code__.co_cellvars
        if best is None or self._catches or {best.best, *best.others}.intersection(shared):
            return self._meeting(node)
        if not {best.best, *best.others} <= self.source.local_names:
            return [self._plain_loop(node)]
        self.changes += 1
        noted = best.noted(node, self._next())
        made: list[Any] = [self.generic_visit(statement) for statement in noted]
        return made

    def visit_While(self, node: ast.While) -> Any:
        flips = self._flipping(node)
        if flips is not None:
            return flips
        try:
            return self._fold_while(node)
        except (NotPure, NotFolded):
            return self._loop_of_coins(node)

    def _flipping(self, node: ast.For | ast.While) -> list[ast.stmt] | None:
        """One choice with weights; None for other loops."""
        flips = read_flips(self.source, node) if self.folds.place_by_flips else None
        try:
            parts = None if flips is None else flips.parts(self, self._next(), node.lineno)
        except NotPure:
            return None
        if parts is None:
            return None
        self.changes += 1
        return parts.rewritten(node, self._plain_loop(node))

    def _loop_of_coins(self, node: ast.While) -> Any:
        over = self._starting_over(node)
        if over is not None:
            return over
        coins = read_coins(node)
        try:
            if coins is None or not coins.steps.keys() <= self.source.local_names:
                raise NotPure("no loop of coins")
            self.check(coins.threshold, frozenset())
        except NotPure:
            return self._meeting(node)
        self.changes += 1
        wrap = Wrapping(self.source, self._own)
        return coins.counted(node, self._next(), wrap.visit(copy_tree(coins.threshold)))

    def _starting_over(self, node: ast.While) -> list[ast.stmt] | None:
        """The loop with what counts its passes; None where it does not start over."""
        if self._samplers is None:
            return None
        try:
            first, begin, end = passes_that_start_over(
                self.source,
                node,
                self.names_read_later(node),
                self._next(),
                self._samplers.is_sampler,
                self.helpers,
                draws_noise=self._samplers.draws_noise,
            )
        except NotPure:
            return None
        self.changes += 1
        self._samplers.loops += 1
        made = self._plain_loop(node)
        assert isinstance(made, ast.While)
        return [first, with_passes(made, begin, end), end]

    def _fold_for(self, node: ast.For) -> list[ast.stmt]:
        if node.orelse:
            raise NotFolded
        index, record, iterable = parts_of_walk(node, self._is_builtin)
        number = self._next()
        parts = node.target.elts if isinstance(node.target, ast.Tuple) and not index else []
        hidden, entries = f"{OWN_NAMES}iterable_{number}", f"{OWN_NAMES}record_{number}_"
        if index and not record:
            body, fields, arrays = name_entries(node.body, index, entries)
            call = call_of_folds(
                "indexed", name_node(hidden), lambda_node(None, tuple_node(arrays))
            )
        elif index and index in names_loaded(*node.body) and not has_start(iterable):
            body, fields, arrays = name_entries(node.body, index, entries)
            fields = [record, *fields]
            call = call_of_folds(
                "enumerated", name_node(hidden), lambda_node(None, tuple_node(arrays))
            )
        elif parts:
            body, fields = node.body, [part.id for part in parts if isinstance(part, ast.Name)]
            call = call_of_folds("unpacked", name_node(hidden), ast.Constant(len(fields)))
        else:
            body, fields = node.body, [record]
            call = call_of_folds("loop", name_node(hidden))
        places = {index} if index else set()
        one_pass = Pass(self, node, fields, number, places, read_later=places)
        made = one_pass.rewritten(body)
        end = last_place(one_pass.loop, index, iterable) if index else []
        end = end if places & self.names_read_later(node) else []
        written = copy_tree(node)
        walked: ast.expr = name_node(hidden)
        if index and isinstance(iterable, ast.Call):
            more = iterable.args[1:], iterable.keywords
            walked, iterable = (
                ast.Call(iterable.func, [walked, *more[0]], more[1]),
                iterable.args[0],
            )
        written.iter = walked
        plain = self._keeping_best(written)
        start = ast.Assign([name_node(hidden, ast.Store())], self.walked(copy_tree(iterable)))
        return self._either(node, [start], call, plain, one_pass, made, end)

    def _fold_while(self, node: ast.While) -> list[ast.stmt]:
        """``while i < count: ..; i += 1``, where i is used in ``array[i]`` only."""
        test = node.test
        if node.orelse or not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name):
            raise NotFolded
        index, last = test.left.id, node.body[-1]
        limit = test.comparators[0]
        if len(test.ops) > 1 or not isinstance(test.ops[0], ast.Lt):
            raise NotFolded
        if not counts_up(last, index) or any(nodes_in(node.body, ast.Continue)):
            raise NotFolded
        if len(node.body) < 2 or names_loaded(limit) & names_stored(*node.body):
            raise NotFolded
        if not isinstance(limit, (ast.Name, ast.Constant)):
            if not isinstance(limit, ast.Call) or len(limit.args) != 1 or limit.keywords:
                raise NotFolded
            if not isinstance(limit.args[0], ast.Name) or not self._is_builtin(limit.func, len):
                raise NotFolded
        number = self._next()
        body, fields, arrays = name_entries(node.body[:-1], index, f"{OWN_NAMES}record_{number}_")
        one_pass = Pass(self, node, fields, number, {index}, read_later={index})
        made = one_pass.rewritten(body)
        limits = lambda_node(None, tuple_node([name_node(index), self.visit(copy_tree(limit))]))
        call = call_of_folds("counted", limits, lambda_node(None, tuple_node(arrays)))
        plain = self._meeting(copy_tree(node))
        end = ast.Assign([name_node(index, ast.Store())], attribute_node(one_pass.loop, "length"))
        return self._either(node, [], call, plain, one_pass, made, [end])

    def _is_builtin(self, node: ast.expr, function: Any) -> bool:
        return self.is_free(node) and is_builtin(self.source, node, function)

    def _plain_loop(self, node: ast.For | ast.While) -> ast.stmt:
        """The loop as it is written, with what is inside it rewritten."""
        made = self.generic_visit(node)
        assert isinstance(made, ast.stmt)
        return made

    def _meeting(self, node: ast.For | ast.While) -> list[ast.stmt]:
        """The loop as it is written, saying where its passes begin if runs may meet there."""
        try:
            if not self.may_meet:
                raise NotPure("not the first")
            meeting = MeetingLoop(self, self._originals[place_in_file(node)])
        except NotPure:
            return [self._plain_loop(node)]
        self.may_meet = False
        self.changes += 1
        number = self._next()
        return meeting.rewritten(self._plain_loop(node), number)

    def _either(
        self,
        node: ast.stmt,
        start: list[ast.stmt],
        found: ast.expr,
        plain: list[ast.stmt],
        one_pass: Pass,
        made: list[ast.stmt],
        end: list[ast.stmt],
    ) -> list[ast.stmt]:
        """As it is written where no column is walked, else its passes, and the sums of them."""
        self.changes += 1
        loop, guarded = one_pass.loop, one_pass.guarded(made)
        choice = ast.If(
            ast.Compare(name_node(loop), [ast.Is()], [ast.Constant(None)]), plain, [guarded, *end]
        )
        self.helpers[f"{OWN_NAMES}exception"] = Exception
        statements = [*start, ast.Assign([name_node(loop, ast.Store())], found), choice]
        for statement in statements:
            ast.copy_location(statement, node)
        return statements

    def _next(self) -> int:
        self._loops += 1
        return self._loops

    def check(self, node: ast.expr, own: Assigned, *, calls: bool = False) -> None:
        """Raise NotPure unless an expression of a pass only calculates."""
        check_in_loop(self.source, node, self._own, own, calls=calls)

    @property
    def own(self) -> Assigned:
        """Names of the function's own."""
        return self._own

    def names_read_later(self, node: ast.stmt) -> Assigned:
        """Names that may be read after a loop, or by what is called later."""
        written = self._originals[place_in_file(node)]
        later = names_read_after(self._written, written)
        return later | find_captured_names(self._written, written)
