"""rho and mu of the catalogue's real and whole numbers without bound: golden numbers, an oracle."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from tests.golden.catalogue_cases import ENTRIES
from tests.golden.notion_oracle import largest_rho
from tests.golden.test_catalogue_table import FINITE
from tests.golden.unbounded_oracle import (
    ADDITIVE,
    COMPARED,
    GAPS,
    REACH,
    Grid,
    gap_rows,
    gaussian_mu,
    geometric_mu,
    geometric_rho,
    laplace_mu,
    laplace_rho,
    moves,
    mu_of_rows,
    opendp_rows,
    row,
    whole_row,
)

TABLE: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("notions.json").read_text(encoding="utf-8")
)["cases"]
UNBOUNDED = [case for case in TABLE if case["from"] == "unbounded"]
CLOSED = [case for case in TABLE if case["from"] == "closed"]


def name_of(case: dict[str, Any]) -> str:
    return f"{case['name']}-{case['relation']}"


def test_every_entry_of_the_catalogue_is_there() -> None:
    names = {(case["name"], case["relation"]) for case in TABLE if "relation" in case}
    assert names == {(name, relation) for name in ENTRIES for relation in ("one", "all")}
    rest = {case["name"] for case in (*UNBOUNDED, *CLOSED)}
    assert rest == set(ENTRIES) - set(FINITE)
    assert all(case["why"] for case in CLOSED)


def rows(name: str, pair: Any, *, by_cell: bool) -> list[Any]:
    if name in GAPS:
        few = Grid(0, 150 if name == "gap svt" else 90, 4)
        return [gap_rows(name, tuple(one), few, by_cell=by_cell) for one in pair]
    grid = Grid(-REACH, REACH + 2)
    sides = [
        row(name, tuple(one), grid, by_cell=by_cell)
        if name in COMPARED
        else whole_row(name, tuple(one))
        for one in pair
    ]
    kept = np.logical_and(*(side > 1e-290 for side in sides))
    return [side[kept] for side in sides]


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in UNBOUNDED if "rho_pair" in case], ids=name_of)
def test_quadrature_and_sums_give_the_golden_numbers(case: dict[str, Any]) -> None:
    p, q = rows(case["name"], case["rho_pair"], by_cell=False)
    rho = largest_rho(np.array([p, q]), np.array([q, p]))
    assert rho == pytest.approx(case["rho"], rel=1e-9)
    assert mu_of_rows(*rows(case["name"], case["mu_pair"], by_cell=True)) == pytest.approx(
        case["mu"], rel=1e-9
    )


@pytest.mark.parametrize(
    "case", [case for case in UNBOUNDED if case["name"] in ADDITIVE], ids=name_of
)
def test_closed_forms_give_the_golden_numbers(case: dict[str, Any]) -> None:
    shifts = moves(case["name"], case["relation"])
    is_whole = "geometric" in case["name"]
    found = (geometric_rho, geometric_mu) if is_whole else (laplace_rho, laplace_mu)
    assert found[0](shifts) == pytest.approx(case["rho"], rel=1e-9)
    assert found[1](shifts) == pytest.approx(case["mu"], rel=1e-9)


def test_the_laws_that_are_declared() -> None:
    golden = {case["name"]: case for case in CLOSED}
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(1))
    assert lt.exact_rho(noisy, lt.Hypercube(2)).value == golden["discrete gaussian"]["rho"]
    found = lt.exact_mu(noisy, lt.Hypercube(2))
    assert found.value == pytest.approx(golden["discrete gaussian"]["mu"], rel=1e-12)
    assert gaussian_mu(1.0) == pytest.approx(golden["discrete gaussian"]["mu"], rel=1e-12)
    whole = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1))
    # The staircase of epsilon 1, and OpenDP's law where its division was right.
    for name in ("staircase", "opendp integer laplace, scale 1"):
        for f, key in ((lt.exact_rho, "rho"), (lt.exact_mu, "mu")):
            assert f(whole, lt.Hypercube(2)).value == pytest.approx(golden[name][key], rel=1e-9)
    p, q = opendp_rows(3)
    case = golden["opendp integer laplace, scale 3"]
    assert largest_rho(np.array([p, q]), np.array([q, p])) == pytest.approx(case["rho"], rel=1e-9)
    assert mu_of_rows(p, q) == pytest.approx(case["mu"], rel=1e-9)


def on_one_bit(case: dict[str, Any], pair: Any) -> Any:
    """The entry on just this pair of answers."""
    build = ENTRIES[case["name"]].build()
    table = np.array(pair)

    def run(bit: Any, rng: Any) -> Any:
        return build(table[int(bit[0])], rng)

    return lt.mechanism(run, name=case["name"], max_seconds=1e6)


def pair_of(case: dict[str, Any], key: str) -> Any:
    if key in case:
        return case[key]
    count = len(ENTRIES[case["name"]].sizes)
    if case["relation"] == "all":
        return [0] * count, [1] * count
    return [0] * count, [1] + [0] * (count - 1)


#: Left out: with the other relation their pairs are alike.
DEAR = ("svt3, geometric noise-all", "noisy max 3, geometric noise-all")
QUICK = {"partial sum-one", "bad partial sum, geometric noise-all", "numerical svt-one"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(c, marks=[pytest.mark.slow] * (name_of(c) not in QUICK))
        for c in UNBOUNDED
        if name_of(c) not in DEAR
    ],
    ids=name_of,
)
def test_the_code_has_the_golden_numbers(case: dict[str, Any]) -> None:
    """Certified ends, around the oracle's number."""
    rho = lt.exact_rho(on_one_bit(case, pair_of(case, "rho_pair")), lt.Hypercube(1))
    assert rho.upper <= rho.lower * (1 + 1e-9)
    assert rho.value == pytest.approx(case["rho"], rel=1e-8)
    mu = lt.exact_mu(on_one_bit(case, pair_of(case, "mu_pair")), lt.Hypercube(1))
    is_sum = len(moves(case["name"], case["relation"])) > 1 if case["name"] in ADDITIVE else False
    is_sum |= case["name"] in GAPS  # parts of cells are interpolated
    assert mu.upper <= mu.lower * (1 + (2e-6 if is_sum else 1e-7))
    assert mu.value == pytest.approx(case["mu"], rel=1e-6)
    # Unions of cells are tests, which no certified upper end can miss.
    assert is_sum or case["mu"] <= mu.upper * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["one", "all"])
def test_the_maximum_with_one_sided_noise_has_neither(relation: str) -> None:
    mechanism = lt.mechanism(ENTRIES["noisy max 4"].build(), max_seconds=1e6)
    domain = lt.AnswerGrid([2] * 3, relation=relation)
    assert lt.exact_rho(mechanism, domain).value == math.inf
    assert lt.exact_mu(mechanism, domain).value == math.inf
