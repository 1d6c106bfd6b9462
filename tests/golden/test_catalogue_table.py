"""The table of examples/catalogue against golden numbers and other ways to compute them."""

from __future__ import annotations

import importlib
import math
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.verdicts import Decision
from tests.golden.catalogue_cases import ENTRIES, GOLDEN, catalogue
from tests.golden.independent import (
    Floats,
    Noise,
    above_or_below,
    grid,
    largest_loss,
    largest_place,
    losses,
    neighbours,
    stopping_outputs,
    with_fresh_thresholds,
)
from tests.shares import mostly_slow

FIVE = grid(5)
EVERY = list(product((0, 1), repeat=5))
KINDS = {"": "laplace", ", geometric noise": "geometric"}
# Scale of the threshold's noise and of the answers' noise, and whether it stops (c = 1).
SPARSE = {"svt1": (2, 4, True), "svt4": (4, 4 / 3, True), "svt6": (2, 2, False)}


def outputs_of(name: str) -> list[tuple[int, ...]]:
    if name.startswith(("svt5", "svt6")):
        return EVERY
    return stopping_outputs(5, 2 if "c = 2" in name else 1)


def chances(name: str) -> Floats:
    """Chances of the outputs on {0, 1, 2}^5 of an entry with finitely many; (243, outputs)."""
    noise = ENTRIES[name].noise
    kind = "geometric" if noise == "two_sided_geometric" else "laplace"
    base = name.partition(",")[0]
    c = 2 if "c = 2" in name else 1
    outputs = outputs_of(name)
    if base.startswith("noisy max"):
        return largest_place(FIVE, Noise("exponential" if base[-1] == "2" else kind, 2))
    if base == "svt2":
        return with_fresh_thresholds(FIVE, outputs, Noise(kind, 2 * c), Noise(kind, 4 * c))
    if base == "svt5":
        return above_or_below(FIVE, outputs, Noise(kind, 2), Noise("none", 1))
    rho, nu, _ = SPARSE[base]
    return above_or_below(FIVE, outputs, Noise(kind, rho), Noise(kind, nu * c))


FINITE = [name for name, entry in ENTRIES.items() if entry.outputs == "finite"]


@pytest.mark.parametrize("name", mostly_slow(FINITE, 3))
def test_sums_and_quadrature_give_the_table(name: str) -> None:
    found = chances(name)
    assert np.abs(found.sum(axis=1) - 1).max() < 1e-14
    for relation in ("all", "one"):
        exact = ENTRIES[name].true(relation)
        assert largest_loss(found, FIVE, relation) == pytest.approx(exact, rel=1e-12), relation


def test_no_node_too_few() -> None:
    """The integrals are those of another rule, strips of equal width."""
    z, step = np.linspace(-80, 82, 162 * 400, endpoint=False) + 0.00125, 0.0025
    rho = np.exp(-np.abs(z) / 2) / 4 * step
    nu = Noise("laplace", 4)
    for point in ([1, 1, 1, 1, 1], [2, 0, 1, 2, 0]):
        by_strips = []
        for output in outputs_of("svt1"):
            chance = rho
            for answer, bit in zip(point, output, strict=False):
                chance = chance * (nu.at_least if bit else nu.below)(z - answer)
            by_strips.append(float(chance.sum()))
        by_nodes = chances("svt1")[FIVE.tolist().index(point)]
        assert by_strips == pytest.approx(by_nodes, abs=2e-6)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: f"{case['name']}-{case['relation']}")
def test_the_table_has_the_golden_numbers(case: dict[str, Any]) -> None:
    entry = ENTRIES[case["name"]]
    exact = entry.true(case["relation"])
    assert exact == pytest.approx(float(case["true"]), rel=1e-6 if "opendp" in entry.name else 1e-9)
    assert entry.claimed == pytest.approx(case["claimed"])
    assert (exact <= entry.claimed * (1 + 1e-9)) == (case["verdict"] == "YES")


@pytest.mark.parametrize(
    "case",
    [c for c in GOLDEN if "pair" in c],
    ids=lambda case: f"{case['name']}-{case['relation']}",
)
def test_the_worst_pairs(case: dict[str, Any]) -> None:
    found = chances(case["name"])
    rows = [FIVE.tolist().index(point) for point in case["pair"]]
    column = outputs_of(case["name"]).index(tuple(case["output"]))
    assert found[rows, column] == pytest.approx(case["probabilities"], rel=1e-12)
    assert losses(found[rows])[0, 1].max() == pytest.approx(case["true"], rel=1e-12)


def test_numerical_sparse_vector() -> None:
    """The comparison is svt1 at 2/3 of epsilon; the shown answer adds epsilon/3 where it moves."""
    outputs = stopping_outputs(5, 1)
    found = losses(above_or_below(FIVE, outputs, Noise("laplace", 3), Noise("laplace", 6)))
    for relation in ("all", "one"):
        near = neighbours(FIVE, relation)
        worst = 0.0
        for k, output in enumerate(outputs):
            last = FIVE[:, len(output) - 1]
            moved = (last[:, None] != last[None]) * output[-1] / 3
            worst = max(worst, float((found[:, :, k] + moved)[near].max()))
        assert worst == pytest.approx(ENTRIES["numerical svt"].true(relation), rel=1e-12)


@pytest.mark.parametrize("kind", ["laplace", "geometric"])
def test_the_value_of_the_maximum(kind: str) -> None:
    """P(max < t) is a product of chances; below all answers each falls by e^(1/2)."""
    noise = Noise(kind, 2)
    for t in (0.0, -3.0, -30.0):
        below = [float(noise.below(np.array(t - a))) for a in (0, 1)]
        assert 5 * math.log(below[0] / below[1]) == pytest.approx(2.5, rel=1e-12)
    assert ENTRIES["noisy max 3"].true_all == 2.5


@pytest.mark.parametrize("kind", ["laplace", "geometric"])
def test_the_shown_answer_of_svt3(kind: str) -> None:
    """Four answers below and v shown: e^(1/2) for each, reached or approached as v falls."""
    noise, v = Noise(kind, 2), -60.0
    z, weights = noise.nodes({0.0, 1.0, 2.0, v}, 2)
    inside = weights * (z <= v)
    density = {a: math.exp(-abs(v - a) / 2) for a in (0, 1)}
    shown = {a: float(np.sum(inside * noise.below(z - a) ** 4)) * density[a] for a in (0, 1)}
    assert math.log(shown[0] / shown[1]) == pytest.approx(2.5, rel=1e-9)


def biased_weight(x: Fraction, *, right: bool) -> float:
    """P(K odd) where K counts trials of chance x / k, divided as OpenDP 0.14.1 did or right."""
    odd, left, k = Fraction(0), Fraction(1), 1
    while k < 40 and left:
        g = math.gcd(x.numerator, k)
        chance = x / k if right else Fraction(x.numerator // g, (x.denominator // g) * k)
        odd += left * (1 - chance) * (k % 2)
        left *= chance
        k += 1
    return float(odd)


@pytest.mark.parametrize(("scale", "right"), [(3, False), (3, True), (1, False)])
def test_opendp_noise(scale: int, right: bool) -> None:
    parts = [biased_weight(Fraction(u, scale), right=right) for u in range(scale)]
    sizes = [parts[k % scale] * math.exp(-(k // scale)) for k in range(3 * scale + 1)]
    loss = max(abs(math.log(a / b)) for a, b in pairwise(sizes))
    wanted = 1 / 3 if right else ENTRIES[f"opendp integer laplace, scale {scale}"].true_one
    assert loss == pytest.approx(wanted, rel=1e-12)


def test_wrong_division_is_that_of_the_issue() -> None:
    port = importlib.import_module(f"{catalogue().__name__}.opendp_laplace")
    wrong_quotient, right_quotient = port.wrong_quotient, port.right_quotient
    assert wrong_quotient(Fraction(-2, 3), 4) == Fraction(-1, 4)
    assert right_quotient(Fraction(-2, 3), 4) == Fraction(-1, 6)
    assert all(wrong_quotient(Fraction(1, 3), k) == Fraction(1, 3 * k) for k in range(1, 9))


@pytest.mark.parametrize("relation", ["all", "one"])
@pytest.mark.parametrize("name", ["svt1", "svt4", "svt6", "svt4, geometric noise", "noisy max 1"])
def test_liptest_on_the_same_laws(name: str, relation: str) -> None:
    """AnswerGrid finds the worst pair of both relations, from laws given as a table."""
    table = chances(name)
    outputs = outputs_of(name) if name.startswith("svt") else list(range(5))
    answers = lt.AnswerGrid([3] * 5, relation=relation)
    mechanism = lt.ClosedForm(outputs, lambda x: np.log(table[answers.index(x)]), error=1e-14)
    found = lt.exact_epsilon(mechanism, answers)
    entry = ENTRIES[name]
    assert found.value == pytest.approx(entry.true(relation), abs=1e-9)
    assert found.pairs == answers.neighbouring_pairs
    verdict = lt.check_privacy(
        mechanism, lt.ProductDistribution.uniform(answers), epsilon=entry.claimed
    )
    holds = entry.true(relation) <= entry.claimed
    assert verdict.decision == (Decision.YES if holds else Decision.NO)
    assert holds or verdict.witness.verify(mechanism)


@pytest.mark.parametrize("name", ["svt1", "svt4", "svt6"])
def test_counting_queries_show_what_raw_answers_with_one_move_hide(name: str) -> None:
    """q_j(x) = 1 + s_j x_1: the pair (1,1,1,1,1) against (2,2,2,2,0) as two tables of one bit."""
    table, answers = chances(name), lt.AnswerGrid([3] * 5, relation="all")
    queries = lt.statistics.CountingQueries([[1], [1], [1], [1], [-1]], base=[1] * 5)
    mechanism = lt.StatisticMechanism(
        queries, outputs_of(name), lambda v: np.log(table[answers.index(v)]), error=1e-14
    )
    found = lt.exact_epsilon(mechanism, lt.Hypercube(1))
    rows = [FIVE.tolist().index(point) for point in ([1] * 5, [2, 2, 2, 2, 0])]
    assert found.value == pytest.approx(losses(table[rows])[0, 1].max(), abs=1e-9)
    assert (found.value <= 1) == (name == "svt1")
    if name == "svt4":
        assert found.witness.output == (0, 0, 0, 0, 1)
        assert found.value == pytest.approx(ENTRIES["svt4"].true_all, abs=1e-9)


@pytest.mark.parametrize("name", ["svt1", "svt4", "svt6"])
def test_counting_queries_of_disjoint_groups_are_cleared(name: str) -> None:
    """Each of five bits moves one answer: the relation "one" on the cube."""
    table, answers = chances(name), lt.AnswerGrid([3] * 5, relation="all")
    queries = lt.statistics.CountingQueries(np.eye(5, dtype=int), base=[1] * 5)
    mechanism = lt.StatisticMechanism(
        queries, outputs_of(name), lambda v: np.log(table[answers.index(v)]), error=1e-14
    )
    verdict = lt.check_privacy(
        mechanism, lt.ProductDistribution.uniform(lt.Hypercube(5)), epsilon=1.0
    )
    assert verdict.decision == Decision.YES
    assert verdict.guarantee.kind == "proof"


def test_the_table_is_whole() -> None:
    assert len(ENTRIES) == 37
    for entry in ENTRIES.values():
        assert entry.moves in ("all", "one")
        assert entry.outputs in ("finite", "whole numbers", "numbers")
        assert entry.source
        assert entry.how
        known = [value is not None for value in (entry.true_all, entry.true_one)]
        assert all(known) or not any(known)
        rng = np.random.default_rng(1)
        entry.build()(np.ones(len(entry.sizes), dtype=np.int64), rng)
