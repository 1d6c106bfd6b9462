"""The tables of section 5 for one's own numbers, and their texts."""

import math

import pytest

import liptest as lt
from liptest.errors import InputError
from liptest.lipschitz.plans import PlanRow, plan_table
from liptest.lipschitz.testers import ALL_TESTERS
from liptest.lipschitz.testers.djt12 import DJT12
from liptest.privacy.plans import PrivacyPlanRow, privacy_plan_table
from liptest.report.text import columns_text, plan_text, privacy_plan_text

CUBE = lt.ProductDistribution.uniform(lt.Hypercube(10))
SKEWED = lt.ProductDistribution.bernoulli([0.1, 0.2, 0.0])
GRID = lt.ProductDistribution.uniform(lt.Hypergrid([4, 4]))
RECORDS = lt.ProductDistribution.uniform(lt.RecordGrid([3, 3]))
CORRELATED = lt.SampledDistribution(lt.Hypercube(2), lambda n, rng: rng.integers(0, 2, (n, 2)))
NUMBERS = {"proximity": 0.01, "failure_probability": 1e-6}
CLAIM = {"epsilon": 1.0, "exception_mass": 0.01, "failure_probability": 1e-6}


def rows_of_testers(law, **more):
    return {row.tester: row for row in plan_table(law, **{**NUMBERS, **more})}


def rows_of_methods(law, outputs=3, **more):
    rows = privacy_plan_table(law, outputs, **{**CLAIM, **more})
    return {row.method: row for row in rows}


def test_the_papers_rows_come_first():
    rows = plan_table(CUBE, **NUMBERS)
    assert [row.tester for row in rows if row.in_paper] == ["JR11", "AJMR12", "CS12", "DJT12"]
    assert [row.in_paper for row in rows] == [True] * 4 + [False] * (len(ALL_TESTERS) - 4)
    assert rows[2].running_time == "O(d / proximity)"
    assert rows[3].law == "product"


def test_queries_by_hand():
    rows = rows_of_testers(CUBE)
    # (10 / 0.01) ln 1e6 = 13815.5 pairs
    assert rows["CS12"].plan.queries == 2 * 13816
    # e' = 0.005: (2/0.005) ln 2e6 = 5803.5 points, (100/(5e-5 * 0.005)) ln 2e6 pairs
    assert rows["DJT12"].range_step == 1 / 20000
    assert rows["DJT12"].plan.diameter_draws == 5804
    assert rows["DJT12"].plan.draws == math.ceil(100 / (5e-5 * 0.005) * math.log(2e6))
    assert rows["JR11"].range_step == 0.1
    assert rows["CS12"].range_step is None


def test_why_a_tester_does_not_apply():
    assert "needs a RecordGrid" in rows_of_testers(CUBE)["HammingLines"].not_applicable
    assert "needs the uniform law" in rows_of_testers(SKEWED)["CS12"].not_applicable
    usable = {name for name, row in rows_of_testers(RECORDS).items() if row.plan is not None}
    assert usable == {"HammingLines"}
    assert {name for name, row in rows_of_testers(GRID).items() if row.plan} == {"AJMR12", "CDJS15"}
    assert all(row.plan is None for row in rows_of_testers(CORRELATED).values())


@pytest.mark.parametrize(
    ("asked", "taken"), [(0.3, 1 / 4), (0.25, 1 / 4), (7.0, 1.0), (1 / 49, 1 / 49)]
)
def test_the_largest_admissible_step_below(asked, taken):
    row = rows_of_testers(GRID, range_step=asked)["AJMR12"]
    assert row.range_step == taken
    assert row.plan.approximation_factor == 1 + taken
    assert bool(row.note) == (asked != taken)
    if row.note:
        assert f"range_step={asked:g} is not 1 over a whole number" in row.note
        assert f"1/{round(1 / taken)}" in row.note


def test_a_step_without_room_is_replaced_and_explained():
    row = rows_of_testers(CUBE, range_step=0.25)["DJT12"]
    assert row.range_step == DJT12.best_step(CUBE, 0.01)
    assert "-24.99 must be above 0; use range_step <= 1/10001" in row.note
    assert "Planned with 1/20000" in row.note


def test_a_step_with_room_is_kept():
    row = rows_of_testers(CUBE, range_step=1 / 12000)["DJT12"]
    assert row.range_step == 1 / 12000
    assert row.note == ""


def test_a_step_finer_than_floats_is_no_plan():
    law = lt.ProductDistribution.uniform(lt.Hypercube(100_000))
    row = rows_of_testers(law, proximity=1e-7)["DJT12"]
    assert row.plan is None
    assert "range_step" in row.not_applicable


@pytest.mark.parametrize(
    "wrong", [{"proximity": 0.0}, {"failure_probability": 1.0}, {"range_step": -0.1}]
)
def test_wrong_numbers_of_testers(wrong):
    with pytest.raises(lt.errors.InputError, match=next(iter(wrong))):
        rows_of_testers(CUBE, **wrong)


@pytest.mark.parametrize(
    "wrong", [{"epsilon": 0.0}, {"exception_mass": 1.0}, {"failure_probability": 0.0}]
)
def test_wrong_numbers_of_methods(wrong):
    with pytest.raises(lt.errors.InputError, match=next(iter(wrong))):
        rows_of_methods(CUBE, **wrong)


@pytest.mark.parametrize("outputs", [0, 2.5, True])
def test_wrong_outputs(outputs):
    with pytest.raises(lt.errors.InputError, match="outputs"):
        rows_of_methods(CUBE, outputs)


@pytest.mark.parametrize("law", [CUBE, SKEWED, GRID, RECORDS, CORRELATED], ids=str)
def test_rows_survive_json_and_texts_name_each(law):
    rows = plan_table(law, **NUMBERS, range_step=0.3)
    text = plan_text(rows)
    for row in rows:
        assert PlanRow.from_json(row.to_json()) == row
        assert row.tester in text
        assert row.not_applicable in text
    claims = privacy_plan_table(law, 3, **CLAIM)
    text = privacy_plan_text(claims)
    for row in claims:
        assert PrivacyPlanRow.from_json(row.to_json()) == row
        assert row.method in text
        assert (row.not_applicable == "") == math.isfinite(row.laws)


def test_methods_for_correlated_data():
    usable = {name for name, row in rows_of_methods(CORRELATED).items() if math.isfinite(row.laws)}
    assert usable == {"exhaustive", "neighbourhoods"}


def test_empty_promises_are_no_plans():
    # S = 0.03 and 4 Q < 0.12: everything passes at these masses.
    law = lt.ProductDistribution.bernoulli([0.01] * 3)
    table = rows_of_methods(law, exception_mass=0.5, outputs=1)
    assert "says nothing here" in table["edges"].not_applicable
    assert "every mechanism passes" in table["group"].not_applicable
    assert "a YES would say nothing" in table["A_test, VarianceEdges"].not_applicable
    assert math.isfinite(table["neighbourhoods"].laws)


def test_too_many_datasets_are_not_visited():
    table = rows_of_methods(lt.ProductDistribution.uniform(lt.Hypercube(2000)))
    assert table["exhaustive"].not_applicable == "2^2000 datasets are too many to visit"
    wide = rows_of_methods(lt.ProductDistribution.uniform(lt.Hypergrid([99] * 8)))
    assert "too many to visit" in wide["exhaustive"].not_applicable


def test_an_exact_claim_is_in_the_sentence():
    row = rows_of_methods(CUBE, epsilon=lt.log(3))["exhaustive"]
    assert "a factor of at most e^log(3) = 3" in row.guarantee


def test_columns():
    text = columns_text(("name", "count"), [("a", "1"), ("longer", "1,000")], right=(1,))
    assert text.splitlines() == ["name    count", "a           1", "longer  1,000"]


def test_markup_in_cells_is_text():
    assert "[bold]" in columns_text(("x",), [("[bold]",)])


@pytest.mark.slow
def test_huge_counts_and_small_factors_are_readable():
    text = plan_text(plan_table(CUBE, **{**NUMBERS, "proximity": 1e-6}))
    assert "1 + 5e-09" in text
    assert "e+" in text


@pytest.mark.parametrize("proximity", [1e-300, 1e-12])
def test_a_plan_that_takes_years_is_not_begun(proximity: float) -> None:
    with pytest.raises(InputError, match=r"proximity=1e-\d+ asks for about 10\^\d+ draws"):
        lt.check_lipschitz(
            lambda points: points.mean(axis=1),
            lt.ProductDistribution.uniform(lt.Hypercube(40)),
            proximity=proximity,
            failure_probability=1e-6,
        )
