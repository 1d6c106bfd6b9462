"""The paper's claims on fewer cases, and the parts that the checks rest on."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import liptest as lt
from liptest.lipschitz.repair import violation_scores
from paper import CHECKS, ClaimRow, reproduce
from paper.extensions import cube_ratio, line_ratio
from paper.lemma_4_3 import small_example
from paper.privacy_claims import rare_case
from paper.rejection import Task, near_task
from paper.repairing import amplified, repairs
from paper.rows import (
    cube_law,
    distance,
    in_steps,
    is_plausible,
    random_table,
    violated_shares,
)
from paper.sample_range import extremes_law, too_narrow

SHARE = 0.04
DOCS = Path(__file__).parents[2] / "docs" / "paper.md"


@pytest.fixture(scope="module")
def rows() -> list[ClaimRow]:
    return list(reproduce(SHARE))


@pytest.mark.slow
def test_every_row_comes_out_as_documented(rows):
    assert [row.claim for row in rows if not row.as_expected] == []
    assert sum(not row.expected for row in rows) == 7
    assert len({row.claim for row in rows}) == len(rows)


@pytest.mark.slow
def test_rows_survive_json(rows):
    for row in rows:
        assert ClaimRow.from_json(row.to_json()) == row


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_same_share_gives_the_same_rows(check, rows):
    again = check(SHARE)
    assert [row for row in rows if row.claim in {one.claim for one in again}] == again


def documented() -> list[tuple[str, str]]:
    """(claim, holds) of each row of the output that docs/paper.md shows."""
    text = DOCS.read_text(encoding="utf-8")
    block = re.search(r"^claim +checked on.*?(?=^All \d+ rows)", text, re.MULTILINE | re.DOTALL)
    assert block is not None
    lines = block.group().splitlines()
    starts = [lines[0].index(name) for name in ("claim", "checked on", "result", "holds")]
    entries, cells = [], ["", ""]
    for line in [*lines[1:], ""]:
        if line.strip():
            parts = line[: starts[1]], line[starts[3] :]
            cells = [f"{cell} {part}".strip() for cell, part in zip(cells, parts, strict=True)]
            cells = [" ".join(cell.split()) for cell in cells]
        elif any(cells):
            entries.append((cells[0], cells[1]))
            cells = ["", ""]
    return entries


@pytest.mark.slow
def test_the_page_shows_the_rows_that_there_are(rows):
    answers = {(True, True): "yes", (False, False): "no, as known"}
    assert documented() == [(row.claim, answers[row.holds, row.expected]) for row in rows]


def test_a_row_that_surprises_is_not_as_expected():
    assert ClaimRow("a", "b", "c", True).as_expected
    assert not ClaimRow("a", "b", "c", False).as_expected
    assert ClaimRow("a", "b", "c", False, expected=False).as_expected
    assert not ClaimRow("a", "b", "c", True, expected=False).as_expected


def test_the_example_against_the_printed_proof_by_hand():
    table, law = small_example(20)
    step = Fraction(1, 20)
    parts, _ = repairs(in_steps(table, 20), law, step)
    # Before: edge {10, 11} exceeds by a step, mass 1/2. After A_1: edge {00, 01} too.
    assert parts[0].before == [step / 2, step / 2]
    assert parts[0].rounded == [0, step]
    assert parts[1].before[1] - parts[0].before[1] == step / 2
    assert distance(table, law, 20) == Fraction(1, 4)


@pytest.mark.parametrize("steps", [1, 2, 5, 17, 100])
def test_the_example_works_for_every_step(steps):
    table, law = small_example(steps)
    parts, _ = repairs(in_steps(table, steps), law, Fraction(1, steps))
    assert (parts[1].before[1] - parts[0].before[1]) * steps == Fraction(1, 2)


def test_the_amplified_example_by_hand():
    table, law = amplified(4)
    step = Fraction(1, 4)
    parts, _ = repairs(in_steps(table, 4), law, step)
    assert parts[0].before[1] == step / 16
    assert parts[0].closed[1] <= parts[0].before[1]
    assert parts[0].rounded[1] == step


def test_shares_by_hand():
    law = lt.ProductDistribution.bernoulli([0.25, 0.5])
    table = np.array([[0, 3], [0, 5]])
    # Along 0 the edge at x_1 = 1 exceeds 1, mass 1/2; along 1 both do.
    assert violated_shares(table, law, 1) == [Fraction(1, 2), 1]
    assert violated_shares(np.array([0, 1]), lt.ProductDistribution.bernoulli([0.5]), 1) == [0]


def test_shares_agree_with_violation_scores():
    rng = np.random.default_rng(5)
    for d in (1, 2, 3, 4):
        law = cube_law(rng, d)
        table = random_table(rng, law.domain, 1) * 10
        # Gaps are multiples of 10: above 9 by d or more, so the score of f/9 sees the same edges.
        positive = [score > 0 for score in violation_scores(in_steps(table, 9), law)]
        assert [share > 0 for share in violated_shares(table, law, 9)] == positive


def test_the_law_of_the_extremes_against_all_samples():
    values, masses = np.array([2, 0, 2, 5]), np.array([0.1, 0.2, 0.3, 0.4])
    counted: dict[tuple[int, int], float] = {}
    for draw in product(range(4), repeat=3):
        key = int(values[list(draw)].min()), int(values[list(draw)].max())
        counted[key] = counted.get(key, 0.0) + float(np.prod(masses[list(draw)]))
    found = {(low, high): chance for low, high, chance in extremes_law(values, masses, 3)}
    assert found == pytest.approx(counted)
    assert math.fsum(found.values()) == pytest.approx(1.0)


def test_too_narrow_by_hand():
    # proximity 0.3, failure 0.5: ceil(6.67 ln 4) = 10 draws of two equally likely values.
    assert too_narrow(np.array([0.5, 0.5]), 0.3, 0.5) == pytest.approx(2 * 0.5**10)
    # Either value alone is enough where half the mass may be missed.
    assert too_narrow(np.array([0.5, 0.5]), 0.5, 0.5) == 0.0


def test_acceptance_by_hand():
    # One edge that is violated: the sample sees both ends, or r = 0 and Algorithm 3 accepts.
    law = lt.ProductDistribution.bernoulli([0.5])
    task = Task(np.array([0, 10]), law, 10, 0.5, 0.5)
    # r = 1: the edge is not a violation. e' = 0.4.
    assert task.acceptance() == pytest.approx(1.0)
    steep = Task(np.array([0, 11]), law, 10, 0.5, 0.5)
    draws = math.ceil(2 / 0.4 * math.log(4))
    assert steep.acceptance() == pytest.approx(2 * 0.5**draws)


@pytest.mark.slow
def test_a_formula_that_is_wrong_would_be_seen():
    task = near_task()
    chance, hits = 1.0 - task.acceptance(), task.rejections(400)
    assert is_plausible(hits, 400, chance)
    assert not is_plausible(hits, 400, chance / 2)
    assert not is_plausible(hits, 400, min(1.0, 2 * chance))


def test_the_chance_of_a_yes_is_neither_0_nor_1():
    assert 0.2 < rare_case().chance_of_yes() < 0.8


@pytest.mark.parametrize(("hits", "chance"), [(0, 0.0), (10, 1.0), (5, 0.5), (3, 0.4)])
def test_plausible(hits, chance):
    assert is_plausible(hits, 10, chance)


@pytest.mark.parametrize(("hits", "trials", "chance"), [(1, 10, 0.0), (9, 10, 1.0), (0, 100, 0.5)])
def test_implausible(hits, trials, chance):
    assert not is_plausible(hits, trials, chance)


def test_ratios_of_one_violated_edge():
    law = lt.ProductDistribution.bernoulli([0.25])
    # dist = 1/4, v V = 3/16, and the line is the whole domain.
    assert cube_ratio(np.array([0, 2]), law) == 0.75
    assert line_ratio(np.array([0, 2]), law) == 1.0
    assert cube_ratio(np.array([0, 1]), law) == line_ratio(np.array([0, 1]), law) == math.inf
