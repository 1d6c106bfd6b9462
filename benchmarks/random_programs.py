"""Random small programs of answers and noise, and what they leak by brute force.

A program is a tree: at each knot a sum of answers and noise is compared with a number, at each
leaf it ends with a label and, perhaps, some sums in the output. Its paths are priced by
``liptest.symbolic.alignment``; here all its losses are found by trying everything: whole noise by
enumeration, real noise by the exact probabilities of the package at one dataset after another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from liptest.symbolic.answers import AlignedPath, Answer, Differences
from liptest.symbolic.forms import Constraint, Form
from liptest.symbolic.noise import Noise
from liptest.symbolic.probability import System

# Whole noise is cut off here (for up to two, for three); what is left out counts as it hurts most.
REACH = (30, 30, 12)
WHOLE = (
    *(Noise("two-sided geometric", Fraction(1, q)) for q in (2, 3, 4, 5)),
    *(Noise("geometric", Fraction(1, 2)), Noise("geometric", Fraction(2, 3))),
)
REAL = (
    *(Noise("laplace", Fraction(scale)) for scale in (1, 2, 4)),
    *(Noise("exponential", Fraction(1)), Noise("exponential", Fraction(2))),
)
Dataset = tuple[Fraction, ...]


@dataclass(frozen=True)
class Leaf:
    """An end."""

    label: int
    places: tuple[Form, ...] = ()


@dataclass(frozen=True)
class Knot:
    """``form >= 0`` or not."""

    form: Form
    yes: Knot | Leaf
    no: Knot | Leaf


@dataclass(frozen=True)
class SmallProgram:
    """Variables are first the answers, then the noises."""

    answers: int
    noises: tuple[Noise, ...]
    tree: Knot | Leaf
    differences: Differences
    #: The numbers that answers are tried at, whole or halves.
    grid: tuple[Fraction, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all noise is."""
        return all(noise.is_discrete for noise in self.noises)

    @property
    def has_whole_answers(self) -> bool:
        """Whether they are whole in every dataset."""
        return all(a.denominator == 1 for a in self.grid)

    def leaves(self) -> Iterator[tuple[tuple[Constraint, ...], Leaf]]:
        """With the conditions that lead there."""
        yield from _leaves(self.tree, ())

    def paths(self) -> list[AlignedPath]:
        """As the analysis sees them."""
        answers = (Answer(i, is_whole=self.has_whole_answers) for i in range(self.answers))
        variables: tuple[Noise | Answer, ...] = (*answers, *self.noises)
        return [
            AlignedPath(variables, conditions, leaf.places, str(leaf.label))
            for conditions, leaf in self.leaves()
        ]

    def datasets(self) -> list[Dataset]:
        """All that are tried."""
        return list(product(self.grid, repeat=self.answers))


def _leaves(
    tree: Knot | Leaf, before: tuple[Constraint, ...]
) -> Iterator[tuple[tuple[Constraint, ...], Leaf]]:
    if isinstance(tree, Leaf):
        yield before, tree
        return
    yield from _leaves(tree.yes, (*before, tree.form.between(low=0, low_closed=True)))
    yield from _leaves(tree.no, (*before, tree.form.between(high=0)))


def random_program(
    rng: np.random.Generator, *, whole: bool, halves: bool | None = None
) -> SmallProgram:
    """With one to three noises, one to three answers and at most three comparisons.

    Answers are whole as the noise is, unless ``halves`` says.
    """
    halves = not whole if halves is None else halves
    answers = int(rng.integers(1, 3)) if whole or rng.random() < 0.5 else 3
    size = int(rng.choice([1, 2, 2, 3])) if whole else int(rng.integers(1, 4))
    family = WHOLE if whole else REAL
    noises = tuple(family[i] for i in rng.integers(0, len(family), size))
    depth = int(rng.choice([0, 1, 1, 2, 2])) if whole else int(rng.choice([1, 1, 2, 2, 3]))
    tree = _random_tree(rng, answers, size, depth, None, whole)
    step = Fraction(1, 2) if halves else Fraction(1)
    grid = tuple(step * i for i in range(-2, 3 if answers < 3 else 1))
    return SmallProgram(answers, noises, tree, _random_differences(rng, answers, not halves), grid)


def _random_tree(
    rng: np.random.Generator, answers: int, size: int, depth: int, above: Form | None, whole: bool
) -> Knot | Leaf:
    if depth == 0 or (above is not None and rng.random() < 0.2):
        count = int(rng.choice([0, 0, 1, 2])) if whole else 0
        if above is None:
            count = max(count, 1)
        places = tuple(_random_form(rng, answers, size, whole) for _ in range(count))
        return Leaf(int(rng.integers(0, 6)), places)
    form = _random_form(rng, answers, size, whole)
    if above is not None and rng.random() < 0.4:
        form = above + Fraction(int(rng.integers(-2, 3)))
    yes, no = (_random_tree(rng, answers, size, depth - 1, form, whole) for _ in range(2))
    return Knot(form, yes, no)


def _random_form(rng: np.random.Generator, answers: int, size: int, whole: bool) -> Form:
    """Some noise is in it, most often with factor 1 or -1."""
    factors = [int(f) for f in rng.choice([0, 0, 1, 1, -1, 2], answers)]
    noise = [0] * size
    while not any(noise):
        noise = [int(f) for f in rng.choice([0, 0, 1, 1, -1, -1, 2], size)]
    form = Form(Fraction(int(rng.integers(-2, 3)), 1 if whole else 2))
    for variable, factor in enumerate([*factors, *noise]):
        form = form + factor * Form.variable(variable)
    return form


def _random_differences(rng: np.random.Generator, answers: int, whole: bool) -> Differences:
    kind = int(rng.integers(0, 5))
    bounds = [int(b) for b in rng.choice([1, 1, 2], answers)]
    if kind == 0:
        return Differences.of_box(bounds, is_whole=whole)
    if kind == 1:
        return Differences.of_one(bounds, is_whole=whole)
    step = Fraction(1) if whole else Fraction(int(rng.integers(1, 3)), 2)
    rows = [[step * int(f) for f in rng.integers(-1, 2, answers)] for _ in range(3)]
    if not whole and rng.random() < 0.3:
        margins = {i: Fraction(1, 2) for i in range(answers)}
        return Differences.of_tables(rows).widen_by(margins)
    if kind == 2:
        return Differences.of_tables(rows)
    if kind == 3:
        return Differences.of_tables(rows, relation="added")
    return Differences.listed(rows)


def moves_between(program: SmallProgram) -> Iterator[tuple[int, int]]:
    """Numbers of neighbouring datasets, in both orders."""
    datasets = program.datasets()
    number = {dataset: i for i, dataset in enumerate(datasets)}
    for move in _every_move(program):
        for i, dataset in enumerate(datasets):
            moved = tuple(a + t for a, t in zip(dataset, move, strict=True))
            if moved in number:
                yield i, number[moved]


def _every_move(program: SmallProgram) -> set[Dataset]:
    """Differences of data on the grid, from what the sets are and not from how they are stored."""
    found = set()
    size = program.differences.size
    steps = {a - b for a, b in product(program.grid, repeat=2)}
    core = {_dense(move, size) for move in program.differences.moves()}
    if program.differences.spans:
        core |= {t for t in product(steps, repeat=size) if any(_between(t, end) for end in core)}
    box = dict(program.differences.box)
    core.add((Fraction(0),) * size)
    for move in core:
        sides = [[s for s in steps if abs(s) <= box.get(i, 0)] for i in range(size)]
        for aside in product(*sides):
            found.add(tuple(a + b for a, b in zip(move, aside, strict=True)))
    found.discard((Fraction(0),) * size)
    return found


def _dense(move: tuple[tuple[int, Fraction], ...], size: int) -> Dataset:
    return tuple(dict(move).get(i, Fraction(0)) for i in range(size))


def _between(t: Dataset, end: Dataset) -> bool:
    """Whether t = r end with -1 <= r <= 1."""
    ratios = {a / b for a, b in zip(t, end, strict=True) if b}
    still = all(a == 0 for a, b in zip(t, end, strict=True) if not b)
    return still and len(ratios) == 1 and abs(ratios.pop()) <= 1


def largest_loss(program: SmallProgram) -> float:
    """Over all neighbours among the datasets: never more than the true epsilon."""
    laws = _whole_laws(program) if program.is_whole else _real_laws(program)
    worst = 0.0
    for left, right in moves_between(program):
        for output, (low, _) in laws[left].items():
            high = laws[right].get(output, laws[right][None])[1]
            if low > 1e-9 * (1 + high):
                worst = max(worst, math.log(low / high) if high > 0 else math.inf)
    return worst


Law = dict[int | None, tuple[float, float]]


def _real_laws(program: SmallProgram) -> list[Law]:
    """Lower and upper ends of the probability of each label; None: of any other."""
    found = []
    for dataset in program.datasets():
        law: Law = {None: (0.0, 0.0)}
        for conditions, leaf in program.leaves():
            system = System(program.noises)
            at = [_at(one, dataset) for one in conditions]
            ball = system.probability(at)
            low, high = law.get(leaf.label, (0.0, 0.0))
            law[leaf.label] = (low + float(ball.lower()), high + float(ball.upper()))
        found.append(law)
    return found


def _at(condition: Constraint, dataset: Dataset) -> Constraint:
    """With the answers put in."""
    size = len(dataset)
    constant = sum((f * dataset[v] for v, f in condition.terms if v < size), Fraction(0))
    return Constraint.make(
        [(v - size, factor) for v, factor in condition.terms if v >= size],
        None if condition.low is None else condition.low - constant,
        None if condition.high is None else condition.high - constant,
        low_closed=condition.low_closed,
        high_closed=condition.high_closed,
    )


def _whole_laws(program: SmallProgram) -> list[Law]:
    values, weights, missing = _noise_points(program.noises)
    found = []
    for dataset in program.datasets():
        columns = [np.full(len(weights), int(2 * a)) for a in dataset] + list(2 * values)
        every, which = np.unique(_outputs(program.tree, columns), return_inverse=True)
        masses = np.bincount(which, weights=weights)
        law: Law = {None: (0.0, missing)}
        for output, mass in zip(every.tolist(), masses.tolist(), strict=True):
            law[output] = (mass, mass + missing)
        found.append(law)
    return found


def _noise_points(
    noises: tuple[Noise, ...],
) -> tuple[NDArray[np.int64], NDArray[np.float64], float]:
    """All combinations of values up to ``REACH``, their weights, and what they leave out."""
    supports, masses = [], []
    reach = REACH[len(noises) - 1]
    for noise in noises:
        ratio = float(noise.parameter)
        if noise.family == "geometric":
            support = np.arange(1, reach)
            mass = ratio * (1 - ratio) ** (support - 1)
        else:
            support = np.arange(-reach, reach + 1)
            mass = (1 - ratio) / (1 + ratio) * ratio ** np.abs(support)
        supports.append(support)
        masses.append(mass)
    points = np.array(np.meshgrid(*supports, indexing="ij")).reshape(len(noises), -1)
    weights = np.array(np.meshgrid(*masses, indexing="ij")).prod(axis=0).ravel()
    return points, weights, max(0.0, 1 - float(weights.sum())) + 1e-12


_ABSENT = 1 << 16


def _outputs(tree: Knot | Leaf, columns: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Label and places at each point, in one number."""
    size = len(columns[0])
    found = np.full((size, 3), _ABSENT, dtype=np.int64)
    _fill(tree, columns, np.arange(size), found)
    assert (np.abs(found) <= _ABSENT).all()
    return (found[:, 0] * 4 * _ABSENT + found[:, 1]) * 4 * _ABSENT + found[:, 2]


def _fill(
    tree: Knot | Leaf,
    columns: list[NDArray[np.int64]],
    rows: NDArray[np.int64],
    found: NDArray[np.int64],
) -> None:
    if isinstance(tree, Leaf):
        found[rows, 0] = tree.label
        for number, place in enumerate(tree.places):
            found[rows, 1 + number] = _value(place, columns, rows)
        return
    holds = _value(tree.form, columns, rows) >= 0
    _fill(tree.yes, columns, rows[holds], found)
    _fill(tree.no, columns, rows[~holds], found)


def _value(
    form: Form, columns: list[NDArray[np.int64]], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Twice the value, from twice what the variables are: halves are whole then."""
    total = np.full(len(rows), int(2 * form.constant))
    for v, factor in form.terms:
        total = total + int(factor) * columns[v][rows]
    return total
