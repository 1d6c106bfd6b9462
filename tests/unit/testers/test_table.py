import pytest

import liptest as lt
from liptest.errors import InputError
from liptest.testers.table import PlanRow, plan_table

NUMBERS = {"proximity": 0.1, "failure_probability": 0.01}


def rows(distribution, **more):
    return {row.tester: row for row in plan_table(distribution, **NUMBERS, **more)}


def test_uniform_cube():
    table = rows(lt.ProductDistribution.uniform(lt.Hypercube(4)))
    assert [name for name, row in table.items() if row.plan is None] == ["HammingLines"]
    assert table["HammingLines"].not_applicable == "needs a RecordGrid, not Hypercube(4)"
    assert table["DJT12"].range_step == 1 / 320
    assert table["JR11"].range_step == 0.1
    assert table["CS12"].range_step is None
    assert table["JR11"].plan.approximation_factor == pytest.approx(1.1)


def test_a_step_without_room_is_explained():
    table = rows(lt.ProductDistribution.uniform(lt.Hypercube(4)), range_step=0.5)
    assert table["JR11"].range_step == table["DJT12"].range_step == 0.5
    assert table["DJT12"].plan is None
    assert "range_step <= 1/161" in table["DJT12"].not_applicable


def test_rows_survive_json():
    for row in rows(lt.ProductDistribution.uniform(lt.Hypergrid([3, 3]))).values():
        assert PlanRow.from_json(row.to_json()) == row


def test_correlated_laws_have_no_tester():
    law = lt.SampledDistribution(lt.Hypercube(2), lambda n, rng: rng.integers(0, 2, (n, 2)))
    assert all("needs a Product" in row.not_applicable for row in rows(law).values())


@pytest.mark.parametrize("wrong", [{"proximity": 0.0}, {"failure_probability": 1.0}])
def test_wrong_numbers(wrong):
    law = lt.ProductDistribution.uniform(lt.Hypercube(4))
    with pytest.raises(InputError):
        plan_table(law, **{**NUMBERS, **wrong})


def test_a_wrong_step():
    law = lt.ProductDistribution.uniform(lt.Hypercube(4))
    with pytest.raises(InputError, match="nearest is 1/3"):
        plan_table(law, **NUMBERS, range_step=0.3)
