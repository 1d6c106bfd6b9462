"""The table of theory section 5: output laws at failure_probability 1e-6 on uniform cubes."""

import pytest

import liptest as lt
from liptest.privacy.costs import CostRow, cost_table
from liptest.testers.base import no_product

# d, outputs, exception_mass: paper, group, edges, light-neighbourhoods, neighbourhoods.
PRINTED = {
    (20, 21, 1e-2): ("2.1e+15", "1.2e+06", "2.8e+04", "1.5e+04", "2.9e+04"),
    (100, 101, 1e-3): ("1.6e+22", "2.8e+08", "1.4e+06", "7.0e+05", "1.4e+06"),
    (1000, 1001, 1e-4): ("1.7e+31", "2.8e+11", "1.4e+08", "6.9e+07", "1.4e+08"),
}


def table(law, outputs, mass):
    rows = cost_table(law, outputs, exception_mass=mass, failure_probability=1e-6)
    return {row.method: row for row in rows}


@pytest.mark.parametrize("case", PRINTED, ids=str)
def test_uniform_cubes(case):
    d, outputs, mass = case
    rows = table(lt.ProductDistribution.uniform(lt.Hypercube(d)), outputs, mass)
    names = ("DJT12", "group", "edges", "light-neighbourhoods", "neighbourhoods")
    assert tuple(f"{rows[name].laws:.1e}" for name in names) == PRINTED[case]
    assert rows["DJT12"].approximation_factor > 1 == rows["CS12"].approximation_factor
    assert "needs a RecordGrid" in rows["HammingLines"].not_applicable


def test_costs_are_those_of_the_plans():
    law = lt.ProductDistribution.uniform(lt.Hypergrid([3, 3]))
    rows = table(law, 3, 0.1)
    mechanism = lt.ClosedForm([0, 1, 2], lambda x: x[:, [0, 0, 0]] * 0.0 - 1.0986122886681098)
    for name in ("group", "edges", "light-neighbourhoods", "neighbourhoods"):
        verdict = lt.check_privacy(
            mechanism, law, epsilon=1.0, exception_mass=0.1, method=name, seed=0
        )
        assert rows[name].laws == pytest.approx(verdict.plan.laws)
        assert CostRow.from_json(rows[name].to_json()) == rows[name]


def test_correlated_laws_leave_one_method():
    law = lt.SampledDistribution(lt.Hypercube(2), lambda n, rng: rng.integers(0, 2, (n, 2)))
    rows = table(law, 3, 0.1)
    assert [name for name, row in rows.items() if row.laws is not None] == ["neighbourhoods"]
    assert rows["edges"].not_applicable == no_product(law)


@pytest.mark.parametrize(("outputs", "mass"), [(0, 0.1), (3, 0.0), (2.5, 0.1)])
def test_wrong_numbers(outputs, mass):
    with pytest.raises(lt.InputError):
        table(lt.ProductDistribution.uniform(lt.Hypercube(2)), outputs, mass)
