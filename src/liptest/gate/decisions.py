"""Decisions on noisy sums: a tree that is walked down, and what its leaves tell.

Whatever the numbers are, exactly one leaf is reached: each node is a question that has one answer.
So the conditions of the leaves are a partition by construction, and the price of all leaves is that
of what is told (docs/theory/size.md, S17).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from liptest.gate.noisy_sums import (
    DrawnSums,
    NoisySums,
    in_hexadecimals,
    read_fraction,
    require_few_digits,
)
from liptest.gate.plain import LONGEST, read_output, with_numbers, write_drawn
from liptest.mechanisms.laws import Output
from liptest.symbolic.answers import AlignedPath
from liptest.symbolic.exact_draws import draw_cell, draw_sign
from liptest.symbolic.forms import Constraint
from liptest.values.answers.contests import Contest, find_winners
from liptest.values.answers.decisions import Alternative, LargestOf

# Of one tree, and of all ways from its root to its leaves together.
MOST_NODES, _MOST_STEPS = 1 << 14, 1 << 22


@dataclass(frozen=True)
class Tell:
    """A leaf: the text of an output with ``SumPlace`` in the places of the numbers."""

    shape: str

    children = ()

    def to_list(self) -> list[Any]:
        """Plain JSON values, as of all nodes; ``_read_node`` is the inverse."""
        return ["tell", self.shape]


@dataclass(frozen=True)
class Reaches:
    """Whether a sum is at least a bound, or above it where ``strictly``; yes, no."""

    sum: int
    bound: Fraction
    strictly: bool
    children: tuple[int, ...]

    def to_list(self) -> list[Any]:
        return [
            "reaches",
            self.sum,
            in_hexadecimals(self.bound),
            self.strictly,
            list(self.children),
        ]

    def choose(self, drawn: DrawnSums, below: Callable[[int], int]) -> int:
        """Which child is next, as of all nodes that have some."""
        value, terms = drawn.parts(self.sum)
        sign = draw_sign(value - self.bound, terms)
        return 0 if sign > 0 or (sign == 0 and not self.strictly) else 1


@dataclass(frozen=True)
class FirstLargest:
    """Which of some sums is the largest, the first of equal ones."""

    sums: tuple[int, ...]
    children: tuple[int, ...]

    def to_list(self) -> list[Any]:
        return ["largest", list(self.sums), list(self.children)]

    def choose(self, drawn: DrawnSums, below: Callable[[int], int]) -> int:
        best = 0
        value, terms = drawn.parts(self.sums[0])
        for place, number in enumerate(self.sums[1:], 1):
            rival, more = drawn.parts(number)
            if draw_sign(rival - value, [*more, *((draw, -by) for draw, by in terms)]) > 0:
                best, value, terms = place, rival, more
        return best


@dataclass(frozen=True)
class Chance:
    """A random choice that asks nothing of the data, with whole weights."""

    weights: tuple[int, ...]
    children: tuple[int, ...]

    def to_list(self) -> list[Any]:
        return ["chance", [f"{weight:x}" for weight in self.weights], list(self.children)]

    def choose(self, drawn: DrawnSums, below: Callable[[int], int]) -> int:
        ticket = below(sum(self.weights))
        for place, weight in enumerate(self.weights):
            ticket -= weight
            if ticket < 0:
                return place
        raise AssertionError("weights do not add up")


Node = Tell | Reaches | FirstLargest | Chance


def draw_leaf(nodes: Sequence[Node], drawn: DrawnSums, below: Callable[[int], int]) -> Tell:
    """The leaf that the numbers lead to. It ends: a continuous tie has probability 0."""
    node = nodes[0]
    while not isinstance(node, Tell):
        node = nodes[node.children[node.choose(drawn, below)]]
    return node


def tell(leaf: Tell, drawn: DrawnSums, step: Fraction) -> str:
    """The text of the output of a leaf, each of its numbers as a multiple of the step."""
    shape = read_output(leaf.shape)
    numbers: dict[int, int | float] = {}
    for number in sums_told_in(shape):
        number_told = draw_cell(*drawn.parts(number), step) * step
        numbers[number] = int(number_told) if number_told.denominator == 1 else float(number_told)
    return write_drawn(with_numbers(shape, numbers))


def sums_told_in(shape: Output) -> list[int]:
    """The sums that an output tells, each once, in ascending order."""
    seen: set[int] = set()

    class Noted(dict[int, int]):
        """Notes what is asked for."""

        def __missing__(self, number: int) -> int:
            seen.add(number)
            return 0

    with_numbers(shape, Noted())
    return sorted(seen)


def find_told_sums(nodes: Sequence[Node]) -> list[int]:
    """All sums that some leaf tells."""
    leaves = (node for node in nodes if isinstance(node, Tell))
    return sorted({number for leaf in leaves for number in sums_told_in(read_output(leaf.shape))})


def list_paths(nodes: Sequence[Node], sums: NoisySums) -> tuple[AlignedPath, ...]:
    """A path for each leaf, those of equal price once; data and noise are symbols."""
    paths: dict[Any, AlignedPath] = {}
    are_alike = not sums.is_by_records
    for leaf, asked, won in list_leaves(nodes, sums):
        places = tuple(map(sums.form, sums_told_in(read_output(leaf.shape))))
        key = asked, places, find_winners(won, asked, places, are_answers_alike=are_alike)
        if key not in paths:
            of_contests = (one for contest, place in won for one in contest.way(place))
            paths[key] = AlignedPath(sums.variables, (*asked, *of_contests), places)
    return tuple(paths.values())


def list_leaves(
    nodes: Sequence[Node], sums: NoisySums
) -> Iterator[tuple[Tell, tuple[Constraint, ...], list[tuple[Contest, int]]]]:
    """All leaves, with what comparisons say and which sums are the largest where each is reached.

    Of all leaves that chance leaves possible exactly one is reached, whatever the numbers are.
    """
    sides = {
        (number, child): _side(node, child, sums)
        for number, node in enumerate(nodes)
        if isinstance(node, Reaches)
        for child in range(2)
    }
    contests = {
        number: _find_contest(node, sums)
        for number, node in enumerate(nodes)
        if isinstance(node, FirstLargest)
    }
    for leaf, taken in _ways_down(nodes):
        asked = _join(sides[step] for step in taken if step in sides)
        yield leaf, asked, [(contests[k], child) for k, child in taken if k in contests]


def path_of_all(sums: NoisySums) -> AlignedPath:
    """The path that tells all sums of all leaves and nodes, of which the output is a function."""
    return AlignedPath(sums.variables, (), tuple(map(sums.form, range(len(sums.sums)))))


def _ways_down(nodes: Sequence[Node]) -> Iterator[tuple[Tell, list[tuple[int, int]]]]:
    """All leaves with what leads to each: nodes by number, and which child comes next."""
    waiting: list[tuple[int, Any]] = [(0, None)]
    while waiting:
        number, trail = waiting.pop()
        node = nodes[number]
        if not isinstance(node, Tell):
            ways = [(after, (trail, number, way)) for way, after in enumerate(node.children)]
            waiting += reversed(ways)
            continue
        taken = []
        while trail is not None:
            trail, *step = trail
            taken.append((step[0], step[1]))
        yield node, taken[::-1]


def _side(node: Reaches, child: int, sums: NoisySums) -> Constraint:
    form = sums.form(node.sum) - node.bound
    if child == 0:
        return form.between(0, None, low_closed=not node.strictly)
    return form.between(None, 0, high_closed=node.strictly)


def _find_contest(node: FirstLargest, sums: NoisySums) -> Contest:
    forms = list(map(sums.form, node.sums))
    asked = Alternative(LargestOf(tuple(forms)), len(forms), lambda: 0)
    return Contest(forms, asked, sums.variables)


def _join(conditions: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """All that is asked of the same terms as one constraint: the narrower ends."""
    joined: dict[Any, Constraint] = {}
    for condition in conditions:
        known = joined.get(condition.terms)
        joined[condition.terms] = condition if known is None else _narrower(known, condition)
    return tuple(joined.values())


def _narrower(known: Constraint, one: Constraint) -> Constraint:
    """What both say: of ends that are equal the one that does not belong to it."""
    lows = [(end.low, not end.low_closed) for end in (known, one) if end.low is not None]
    highs = [(end.high, end.high_closed) for end in (known, one) if end.high is not None]
    low, is_open = max(lows, default=(None, True))
    high, is_closed = min(highs, default=(None, False))
    return Constraint(one.terms, low, high, not is_open, is_closed)


# ---- reading


def read_nodes(listed: list[Any], sums: int) -> tuple[Node, ...]:
    """The inverse of ``to_list`` of each; ValueError and its like for what is not a tree."""
    if not 0 < len(listed) <= MOST_NODES:
        raise ValueError
    nodes = tuple(map(_read_node, listed))
    depths = [0] + [-1] * (len(nodes) - 1)
    for number, node in enumerate(nodes):
        # Each has one parent, before it: so it is a tree, and a walk ends.
        for child in node.children:
            if type(child) is not int or not number < child < len(nodes) or depths[child] >= 0:
                raise ValueError
            depths[child] = depths[number] + 1
        asked = _sums_asked(node)
        if depths[number] < 0 or any(type(k) is not int or not 0 <= k < sums for k in asked):
            raise ValueError
    if sum(depths) > _MOST_STEPS:
        raise ValueError
    return nodes


def _sums_asked(node: Node) -> Sequence[int]:
    if isinstance(node, Reaches):
        return (node.sum,)
    if isinstance(node, FirstLargest):
        return node.sums
    return sums_told_in(read_output(node.shape, longest=LONGEST)) if isinstance(node, Tell) else ()


def _read_node(listed: list[Any]) -> Node:
    kind, *said = listed
    if kind == "tell":
        [shape] = said
        if type(shape) is not str:
            raise ValueError
        return Tell(shape)
    *asked, children = said
    ways = tuple(children)
    if kind == "reaches":
        number, bound, strictly = asked
        made: Node = Reaches(number, read_fraction(*bound), strictly, ways)
        if type(strictly) is not bool or len(ways) != 2:
            raise ValueError
        return made
    [parts] = asked
    if len(parts) != len(ways) or not ways:
        raise ValueError
    if kind == "largest":
        if len(set(parts)) < len(parts):
            raise ValueError
        return FirstLargest(tuple(parts), ways)
    if kind != "chance":
        raise ValueError
    weights = tuple(int(text, 16) for text in parts)
    require_few_digits(map(Fraction, weights))
    if min(weights) <= 0:
        raise ValueError
    return Chance(weights, ways)
