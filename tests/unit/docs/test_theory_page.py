"""docs/theory: every result of the table has a proof, a function and a test, and links lead on."""

from __future__ import annotations

import ast
import importlib
import re
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.mechanisms.declared import ExactForm

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs" / "theory"
PAGE = (FOLDER / "theory.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| \[(\S+)\]\((\S+)\) \| (.+?) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
NUMBERS = (
    "1.1 1.1b 1.2 1.3 1.4 1.5 2.1 2.2 2.3 2.4 3.1 3.2 3.3 3.4 3.5 3.6 3.6b 3.7 3.8 3.8b 3.9 3.9b "
    "3.10 3.11 3.12 3.13 3.14 3.15 3.16 3.17 3.18 3.19 4 5 "
    "6.1 6.2 6.3 6.4 6.5 6.6 6.7 6.8 6.9 6.10 6.11 6.12 6.13"
)


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def resolve(name: str) -> Any:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            module = importlib.import_module("liptest." + ".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        return reduce(getattr, parts[length:], module)
    raise AssertionError(f"liptest.{name} does not exist")


def functions_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_number_is_listed() -> None:
    assert [row[0] for row in ROWS] == NUMBERS.split()


@pytest.mark.parametrize(("number", "link", "words", "names", "tests"), ROWS)
def test_a_result_has_a_proof_a_function_and_a_test(
    number: str, link: str, words: str, names: str, tests: str
) -> None:
    file, _, anchor = link.partition("#")
    headings = re.findall(r"^#+ (.+)$", (FOLDER / (file or "theory.md")).read_text("utf-8"), re.M)
    assert not anchor or anchor in map(slug, headings)
    assert quoted(names)
    assert all(callable(resolve(name)) for name in quoted(names))
    assert quoted(tests)
    for test in quoted(tests):
        file, _, name = test.partition("::")
        assert name in functions_of(ROOT / "tests" / file), test


def test_a_name_that_does_not_exist_is_noticed() -> None:
    with pytest.raises(AttributeError):
        resolve("lipschitz.distance.nothing")
    with pytest.raises(AssertionError):
        resolve("nothing.at_all")


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda page: page.name)
def test_links_of_the_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def response(truth: Fraction) -> ExactForm:
    """Tells how many ones there are, of the first two bits; the third bit is told with noise."""
    table = [[1 - truth, truth], [truth, 1 - truth]]
    return ExactForm(
        [(a, b) for a in range(3) for b in range(2)],
        lambda x: [
            table[int(x[2])][b] if a == int(x[0]) + int(x[1]) else Fraction(0)
            for a in range(3)
            for b in range(2)
        ],
    )


@pytest.mark.parametrize("seed", range(8))
def test_another_distribution_changes_a_mass_by_its_ratio(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 60, (8, 2))

    def pmf(x: Any) -> list[Fraction]:
        left, right = (int(n) for n in table[int(x @ (4, 2, 1))])
        return [Fraction(left, left + right), Fraction(right, left + right)]

    mechanism = ExactForm([0, 1], pmf)
    first, second = (lt.ProductDistribution.bernoulli(rng.random(3)) for _ in range(2))
    every = lt.Hypercube(3).points(np.arange(8))
    here, there = (np.exp(law.log_mass(every)) for law in (first, second))
    kappa, variation = float((there / here).max()), float(np.abs(there - here).sum() / 2)
    for epsilon in (0.3, 1.0, 2.0):
        known, other = (
            float(lt.exception_mass(mechanism, law, epsilon=epsilon).upper)
            for law in (first, second)
        )
        assert other <= kappa * known + 1e-9
        assert other <= known + variation + 1e-9


def test_losses_and_masses_add_up_under_composition() -> None:
    law = lt.ProductDistribution.bernoulli([0.1, 0.2, 0.4])
    truths = Fraction(3, 4), Fraction(2, 3)
    first, second = (response(truth) for truth in truths)
    joint = ExactForm(
        [(a, b) for a in first.outputs for b in second.outputs],
        lambda x: [p * q for p in first.pmf(x) for q in second.pmf(x)],
    )
    masses = [
        float(lt.exception_mass(mechanism, law, epsilon=epsilon).upper)
        for mechanism, epsilon in ((first, 1.1), (second, 0.7), (joint, 1.8))
    ]
    assert masses[2] <= masses[0] + masses[1] + 1e-12
    # Both fail on the same datasets: tested on one sample, their mass counts once.
    assert masses[2] == pytest.approx(masses[0])
    assert masses[0] > 0
