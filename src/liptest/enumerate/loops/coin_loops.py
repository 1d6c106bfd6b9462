"""Loops that count coins, which are geometric noise: ``while rng.random() < q: k += 1``.

Each test of such a loop draws one new number of the grid {0, 1, .., 2**53 - 1} / 2**53, and goes on
for r = ceil(q 2**53) of them. Nothing that the test reads is assigned in the body, which only adds
constants to whole numbers. So the number T of passes has P(T >= t) = (r / 2**53)**t, and is
independent of all other draws: T + 1 is geometric noise of the run (docs/theory/loops.md, L3).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

from liptest.enumerate.syntax.source import OWN_NAMES, names_loaded
from liptest.enumerate.syntax.tree_pieces import call_of_folds, lambda_node, name_node, tuple_node
from liptest.symbolic.noise import Noise
from liptest.values.branching import Branching
from liptest.values.comparison_signs import MIRRORED
from liptest.values.draws.grid import GRID, UNIT
from liptest.values.draws.noise import find_value
from liptest.values.draws.noise_run import NoiseRun

_OPPOSITE = {"Lt": "GtE", "LtE": "Gt", "Gt": "LtE", "GtE": "Lt"}


@dataclass(frozen=True)
class CoinLoop:
    """A loop that adds ``steps`` as long as ``rng.random()`` compares so with ``threshold``."""

    rng: str
    comparison: str
    threshold: ast.expr
    #: By name, what a pass adds.
    steps: dict[str, int]
    #: Whether the first pass is made before the first coin is thrown.
    counts_last: bool

    def counted(self, node: ast.While, number: int, threshold: ast.expr) -> list[ast.stmt]:
        """The loop as a draw of the number of its passes; as it is written where that is none."""
        passes = f"{OWN_NAMES}passes_{number}"
        names = list(self.steps)
        values = tuple_node([threshold, *map(name_node, names)])
        call = call_of_folds(
            "coins",
            name_node(self.rng),
            lambda_node(None, values),
            ast.Constant(self.comparison),
            ast.Constant(self.counts_last),
        )
        added: list[ast.stmt] = []
        for name, step in self.steps.items():
            product = ast.BinOp(name_node(passes), ast.Mult(), ast.Constant(step))
            value = ast.BinOp(name_node(name), ast.Add(), product)
            added.append(ast.Assign([name_node(name, ast.Store())], value))
        is_none = ast.Compare(name_node(passes), [ast.Is()], [ast.Constant(None)])
        counting = ast.Assign([name_node(passes, ast.Store())], call)
        statements = [counting, ast.If(is_none, [node], added)]
        return [ast.copy_location(statement, node) for statement in statements]


def read_coins(node: ast.While) -> CoinLoop | None:
    """What a loop counts, if it does nothing but to throw a coin and to count."""
    if node.orelse:
        return None
    test, body, counts_last, negated = node.test, node.body, False, False
    if isinstance(test, ast.Constant) and (test.value is True or test.value == 1):
        leaving = [statement for statement in body if isinstance(statement, ast.If)]
        if len(leaving) != 1 or leaving[0] not in (body[0], body[-1]):
            return None
        only = leaving[0]
        if only.orelse or len(only.body) != 1 or not isinstance(only.body[0], ast.Break):
            return None
        test, negated, counts_last = only.test, True, only is not body[0]
        body = [statement for statement in body if statement is not only]
    coin = read_coin(test, negated=negated)
    steps = _steps(body)
    if coin is None or not steps:
        return None
    rng, comparison, threshold = coin
    if (names_loaded(threshold) | {rng}) & steps.keys():
        return None
    return CoinLoop(rng, comparison, threshold, steps, counts_last)


def read_coin(test: ast.expr, *, negated: bool = False) -> tuple[str, str, ast.expr] | None:
    """``(rng, comparison, threshold)`` of ``rng.random() < threshold``."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, negated = test.operand, not negated
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    left, kind, right = test.left, type(test.ops[0]), test.comparators[0]
    if kind not in MIRRORED:
        return None
    if _read_draw(left) is None:
        left, kind, right = right, MIRRORED[kind], left
    rng = _read_draw(left)
    if rng is None or any(isinstance(node, ast.NamedExpr) for node in ast.walk(right)):
        return None
    comparison = kind.__name__
    return rng, _OPPOSITE[comparison] if negated else comparison, right


def _read_draw(node: ast.expr) -> str | None:
    """The name of rng in ``rng.random()``."""
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return None
    function = node.func
    if not isinstance(function, ast.Attribute) or function.attr != "random":
        return None
    return function.value.id if isinstance(function.value, ast.Name) else None


def _steps(body: list[ast.stmt]) -> dict[str, int] | None:
    """What a body of ``name += constant`` adds; None for any other."""
    steps: dict[str, int] = {}
    for statement in body:
        if not isinstance(statement, ast.AugAssign) or not isinstance(statement.target, ast.Name):
            return None
        sign = {ast.Add: 1, ast.Sub: -1}.get(type(statement.op), 0)
        value = statement.value
        if not sign or not isinstance(value, ast.Constant) or type(value.value) is not int:
            return None
        steps[statement.target.id] = steps.get(statement.target.id, 0) + sign * value.value
    return steps


# Of how many grid points a float compares so with a threshold.
_PASSING: dict[str, Callable[[Fraction], int]] = {
    "Lt": lambda threshold: ceil(threshold * GRID),
    "LtE": lambda threshold: floor(threshold * GRID) + 1,
    "GtE": lambda threshold: GRID - ceil(threshold * GRID),
    "Gt": lambda threshold: GRID - floor(threshold * GRID) - 1,
}


def probability_of_a_pass(threshold: float, comparison: str) -> Fraction:
    """That a number of ``rng.random()`` compares so with a threshold, exactly."""
    return Fraction(_PASSING[comparison](Fraction(threshold)), GRID)


def draw_passes(tree: Branching, threshold: float, comparison: str, *, counts_last: bool) -> Any:
    """How many passes there are; None where they never end, or never begin.

    ``counts_last``: the pass in which the coin ends the loop is one of them.
    """
    going_on = probability_of_a_pass(threshold, comparison)
    if not 0 < going_on < 1:
        return None
    tree.count_draws(1)
    run = NoiseRun.of(tree)
    form = run.new(Noise("geometric", 1 - going_on))
    passes = find_value(run, form if counts_last else form - 1, int)
    if tree.draw_log is not None:
        coins = DrawnCoins(find_value(run, form, int), threshold, comparison)
        tree.draw_log.hand_out(coins, UNIT.law)
    return passes


class DrawnCoins:
    """The coins of a loop, for a run with real random numbers: as many floats as were thrown."""

    def __init__(self, thrown: Any, threshold: float, comparison: str) -> None:
        self._thrown = thrown
        self._threshold = Fraction(threshold)
        self._comparison = comparison

    def as_drawn(self) -> DrawnCoins:
        """What stays of it."""
        return self

    def replay(self, point_in: Callable[[int, int], int]) -> list[float]:
        """Floats of which all but the last go on with the loop."""
        going_on = _PASSING[self._comparison](self._threshold)
        below = self._comparison in ("Lt", "LtE")
        border = going_on if below else GRID - going_on
        ends = (0, border), (border, GRID)
        thrown = int(self._thrown.replay(point_in))
        passing, ending = ends if below else ends[::-1]
        points = [point_in(*passing) for _ in range(thrown - 1)] + [point_in(*ending)]
        return [point / GRID for point in points]
