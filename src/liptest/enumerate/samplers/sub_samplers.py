"""Functions of a program that only draw: their law is known once it is enumerated.

``_coin(rng, 1, 2)`` that throws coins until one falls otherwise has one law for its arguments,
independent of all else, if it reads nothing but them, keeps nothing, and draws from ``rng`` alone.
So in the tree of the program a call of it is one choice, weighted by what was enumerated of the
function itself, as it is written; what was not enumerated is left out there, too
(docs/theory/loops.md, L4).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import FunctionType
from typing import Any

from liptest.enumerate.intercept.analysis_session import active
from liptest.enumerate.intercept.draw_logs import OF_PYTHON
from liptest.enumerate.intercept.generator import ChoiceGenerator, is_generator
from liptest.enumerate.intercept.replaceable_names import names_in
from liptest.enumerate.samplers.loop_passes import Passes, PlainPasses, find_passes
from liptest.enumerate.samplers.restarts import RestartingTree
from liptest.enumerate.syntax.opening_statements import may_hand_on, only_hands_on
from liptest.enumerate.syntax.outside_names import OutsideNames, exactly, is_atom
from liptest.enumerate.syntax.pure_code import (
    PARTS,
    NotPure,
    find_constant,
    find_original,
    is_docstring,
    is_draw,
)
from liptest.enumerate.syntax.signatures import bound_in_order
from liptest.enumerate.syntax.source import LOOKING, FunctionSource, read_source
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.errors import LawError, LiptestError

_DRAWING = frozenset({"random", "integers", "binomial"})
_TYPES = (bool, float, int, str, Fraction)
_FUNCTIONS = (
    *(abs, divmod, isinstance, len, max, min, pow, range, round, sum, *_TYPES),
    *(one for one in vars(math).values() if callable(one)),
)
_EXCEPTIONS = (AssertionError, TypeError, ValueError)
_STATEMENTS = (
    *(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.If, ast.While, ast.Return, ast.Pass),
    *(ast.Break, ast.Continue, ast.For, ast.Assert, ast.Raise),
)
_EXPRESSIONS = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.Constant),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context),
)
# Statements before the draws that may do more, so many.
_LONGEST_OPENING = 8
_MAX_LEAVES, _MAX_CHOICES = 20_000, 400
# Functions with their arguments, of which the laws are kept.
_MOST_LAWS = 50_000
# Weights of laws that are known in part; common denominators of others may be so large.
_UNITS, _LONGEST = 1 << 192, 1 << 4096
Outcomes = tuple[tuple[Any, ...], tuple[int, ...]]


@dataclass
class _Sampler:
    """A function that only draws after its first statements, where these hand on what is given."""

    source: FunctionSource | None
    opening: list[ast.stmt]
    #: What it reads of outside; None where its law is declared.
    outside: OutsideNames | None = None
    #: Whether it calls others with such first statements; whether it, or one that it calls, draws.
    calls_opened: bool = False
    draws: bool = False

    @property
    def is_opened(self) -> bool:
        """Whether something in it is to be looked at in each call."""
        return bool(self.opening) or self.calls_opened


class SamplerLaws:
    """The laws of functions that only draw, each enumerated once."""

    draws_noise = False

    def __init__(self, name: str) -> None:
        self.loops = 0
        self._name = name
        self._laws: dict[Any, Outcomes | None] = {}
        # Each function that was asked for; None where it is not a sampler.
        self._samplers: dict[FunctionType, _Sampler | None] = {}
        # The trees of the samplers that are enumerated now, one within the other.
        self._enumerated_now: list[RestartingTree] = []
        self._rewritten: dict[FunctionType, Any] = {}
        #: What is taken for granted of functions that are declared to only draw.
        self.conditions: set[str] = set()
        self._looked_at: _Sampler | None = None

    @property
    def is_used(self) -> bool:
        """Whether the law of some function has taken the place of its runs."""
        return any(law is not None for law in self._laws.values())

    def summarised(self, function: Any, rewrite: Callable[[Any], Any]) -> Callable[..., Any] | None:
        """A stand-in for a function that only draws; None for any other.

        ``rewrite`` gives a function with what it calls replaced, or None.
        """
        if type(function) is not FunctionType or not self.is_sampler(function):
            return None

        count = function.__code__.co_argcount

        def call(*arguments: Any, **options: Any) -> Any:
            given: tuple[Any, ...] | None = arguments
            if options or len(arguments) != count:
                given = bound_in_order(function, arguments, options)
            key = None if given is None else _make_key(given)
            tree = None if given is None or key is None else find_tree(given)
            if function not in self._rewritten:
                self._rewritten[function] = rewrite(function) or function
            now = None if given is None else self._read_now(function, given)
            if given is None or tree is None or now is None:
                self._check_inner(function)
                # It may call others that only draw, with arguments of their own.
                return self._rewritten[function](*arguments, **options)
            key = function, key, now
            if key not in self._laws:
                if len(self._laws) >= _MOST_LAWS:
                    return self._rewritten[function](*arguments, **options)
                try:
                    self._laws[key] = self._law_of(function, given)
                except LawError as error:
                    tree.fail(error)
            law = self._laws[key]
            if law is None:
                self._check_inner(function)
                return function(*arguments, **options)
            return self.drawn(tree, law)

        return call

    def read_now(self, function: FunctionType, given: tuple[Any, ...]) -> Any:
        """What a sampler that calls no other with openings reads of outside, as ``_read_now``."""
        sampler = self._samplers[function]
        if sampler is None or sampler.outside is None or sampler.calls_opened:
            return None
        return self._read_now(function, given)

    def _read_now(self, function: FunctionType, given: tuple[Any, ...]) -> Any:
        """What a sampler reads of outside in a call with these arguments.

        None where it does more than to draw.
        """
        sampler = self._samplers[function]
        if sampler is None or (sampler.calls_opened and self._rewritten[function] is function):
            return None
        now = () if sampler.outside is None else sampler.outside.atoms()
        if now is None or sampler.source is None or not sampler.opening:
            return now
        return now if only_hands_on(sampler.source, sampler.opening, given) else None

    def _check_inner(self, function: FunctionType) -> None:
        """Give up a sampler that calls one whose first statements may do more than draw."""
        sampler = self._samplers[function]
        if self._enumerated_now and sampler is not None and sampler.is_opened:
            self._enumerated_now[-1].forbid(
                f"{function.__name__}, which may make a generator of its own", ""
            )

    def drawn(self, tree: ChoiceTree, outcomes: Outcomes) -> Any:
        """A value, by one choice."""
        values, weights = outcomes
        taken = tree.choose(weights)
        if taken == len(values):
            tree.leave_out()
        return values[taken]

    def _law_of(self, function: FunctionType, given: tuple[Any, ...]) -> Outcomes | None:
        from liptest.mechanisms.samplers import find_declared_sampler

        outcomes = self._enumerated(self._rewritten[function], given)
        declared = find_declared_sampler(function)
        if declared is not None and outcomes is not None:
            values, weights = outcomes
            total = sum(weights)
            masses = {
                value: Fraction(weight, total)
                for value, weight in zip(values, weights[:-1], strict=True)
            }
            declared.check([argument for argument in given if not is_generator(argument)], masses)
        return outcomes

    def _enumerated(self, function: FunctionType, arguments: tuple[Any, ...]) -> Outcomes | None:
        tree = RestartingTree(
            self._name, skips_light=True, max_leaves=_MAX_LEAVES, max_choices=_MAX_CHOICES
        )
        rng = ChoiceGenerator(tree)
        # Of a record, too: that is one generator as any other.
        given = [
            rng if isinstance(argument, ChoiceGenerator) else argument for argument in arguments
        ]
        values: dict[Any, Any] = {}

        def run() -> Any:
            try:
                outcome = function(*given)
            except Exception as error:
                outcome = error
            if not is_atom(outcome) or tree.noise is not None:
                tree.forbid("a function that draws more than numbers", "")
            key = type(outcome).__name__, repr(outcome)
            values[key] = outcome
            return key

        session = active()
        outer = None if session is None else session.tree
        if session is not None:
            session.follow(tree)
        self._enumerated_now.append(tree)
        try:
            law = tree.law(run)
        except LawError:
            raise
        except LiptestError:
            return None
        finally:
            self._enumerated_now.pop()
            tree.close()
            if session is not None and outer is not None:
                session.follow(outer)
        masses = [mass for mass in law.values() if isinstance(mass, Fraction)]
        if len(masses) < len(law):
            return None
        return tuple(values[key] for key in law), _weights(masses, tree.unexplored)

    def passes_of(
        self, values: tuple[Any, ...] | None, *, in_place: bool, loop: Any
    ) -> Passes | PlainPasses:
        """The passes of a loop that starts over, and reads these values of outside."""
        if values is None:
            return PlainPasses()
        return find_passes(values, find_tree(values), in_place=in_place)

    def is_sampler(self, function: FunctionType) -> bool:
        """Whether a function draws, and calculates from its arguments, and nothing else.

        What its first statements do is looked at in each call.
        """
        from liptest.mechanisms.samplers import find_declared_sampler

        if function not in self._samplers:
            declared = find_declared_sampler(function)
            if declared is None:
                self._samplers[function] = self._sampler_of(function)
            else:
                self._samplers[function] = _Sampler(None, [], draws=True)
                self.conditions.add(declared.condition)
        return self._samplers[function] is not None

    def _sampler_of(self, function: FunctionType) -> _Sampler | None:
        source = read_source(function)
        code = function.__code__
        if source is None or not names_in(code).isdisjoint(LOOKING) or code.co_cellvars:
            return None
        if function.__kwdefaults__ or not all(map(is_atom, function.__defaults__ or ())):
            return None
        self._samplers[function] = None  # while it is looked at
        sampler = _Sampler(source, [], OutsideNames(source, source.body))
        outer, self._looked_at = self._looked_at, sampler
        try:
            for place, statement in enumerate(source.body):
                try:
                    self._check_statement(source, statement)
                except NotPure:
                    if place >= _LONGEST_OPENING or not may_hand_on(source, statement):
                        return None
                    sampler.opening = source.body[: place + 1]
        finally:
            self._looked_at = outer
        return sampler if sampler.draws or not sampler.opening else None

    def _check_statement(self, source: FunctionSource, node: ast.stmt) -> None:
        if is_docstring(node):
            return
        if not isinstance(node, _STATEMENTS):
            raise NotPure(type(node).__name__)
        for name, part in ast.iter_fields(node):
            for child in part if isinstance(part, list) else [part]:
                if isinstance(child, ast.stmt):
                    self._check_statement(source, child)
                elif name in ("target", "targets"):
                    _check_target(child)
                elif isinstance(child, ast.expr) and name != "annotation":
                    self._check_expression(source, child)

    def _check_expression(self, source: FunctionSource, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            if not _is_own(source, node.id) and not _is_constant(source, node):
                raise NotPure(node.id)
        elif isinstance(node, ast.Attribute):
            if node.attr in PARTS:
                self._check_expression(source, node.value)
            elif not _is_constant(source, node):
                raise NotPure(node.attr)
        elif isinstance(node, ast.Call):
            self._check_call(source, node)
        elif isinstance(node, _EXPRESSIONS):
            for child in ast.iter_child_nodes(node):
                self._check_expression(source, child)
        else:
            raise NotPure(type(node).__name__)

    def _check_call(self, source: FunctionSource, node: ast.Call) -> None:
        if any(keyword.arg is None for keyword in node.keywords):
            raise NotPure("keywords")
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            self._check_expression(source, part)
        if is_draw(source, node, _DRAWING) and not node.keywords:
            self._note(draws=True)
            return
        function = find_original(find_constant(source, node.func))
        if any(function is listed for listed in _FUNCTIONS) and not node.keywords:
            return
        if isinstance(function, type) and function in _EXCEPTIONS:
            return
        if function is source.function:
            return  # whether that one only draws is what is asked
        if type(function) is not FunctionType or not self.is_sampler(function):
            raise NotPure(ast.unparse(node.func))
        inner = self._samplers[function]
        if inner is not None:
            self._note(draws=inner.draws, calls_opened=inner.is_opened)

    def _note(self, *, draws: bool = False, calls_opened: bool = False) -> None:
        looked_at = self._looked_at
        if looked_at is not None:
            looked_at.draws |= draws
            looked_at.calls_opened |= calls_opened


def find_tree(values: tuple[Any, ...]) -> ChoiceTree | None:
    """The tree that the draws of code ask, whose values these are; None where that is not known."""
    drawn = {id(value): value for value in values if is_generator(value)}
    session = active()
    if len(drawn) > 1 or (session is not None and session.seeded):
        return None
    for generator in drawn.values():
        if isinstance(generator, ChoiceGenerator):
            tree: ChoiceTree = generator._tree  # type: ignore[assignment]
            return tree
    return None if session is None else session.tree


def _make_key(given: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Equal for arguments of one law; None for others than plain values and generators."""
    parts: list[Any] = []
    for argument in given:
        if is_atom(argument):
            parts.append(exactly(argument))
        elif is_generator(argument):
            parts.append(None)
        else:
            return None
    return tuple(parts)


def _is_constant(source: FunctionSource, node: ast.expr) -> bool:
    """Whether an expression is constant data, a type, or a generator of the module random."""
    value = find_original(find_constant(source, node))
    return is_atom(value) or any(value is kind for kind in _TYPES) or type(value) in OF_PYTHON


def _weights(masses: list[Fraction], unexplored: Fraction) -> tuple[int, ...]:
    """Whole-number weights of masses and of the rest; short lower bounds where a rest is left."""
    common = math.lcm(*(mass.denominator for mass in masses)) if not unexplored else 0
    if 0 < common < _LONGEST:
        return *(int(mass * common) for mass in masses), 0
    weights = [math.floor(mass * _UNITS) for mass in masses]
    return *weights, _UNITS - sum(weights)


def _is_own(source: FunctionSource, name: str) -> bool:
    return name in source.function.__code__.co_varnames


def _check_target(node: Any) -> None:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    if not all(isinstance(part, ast.Name) for part in parts):
        raise NotPure("an assignment to more than names")
