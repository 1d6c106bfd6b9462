"""The table of theory section 5, number by number, and that plans are what runs would cost."""

import math

import pytest

import liptest as lt
from liptest.privacy.plans import privacy_plan_table

# d, outputs, exception_mass -> the printed row; the last is the number of draws of 3.6b.
PRINTED = {
    (20, 21, 1e-2): ("2.1e15", "1.2e6", "2.8e4", "1.5e4", "2.9e4", "1.4e3"),
    (100, 101, 1e-3): ("1.6e22", "2.8e8", "1.4e6", "7.0e5", "1.4e6", "1.4e4"),
    (1000, 1001, 1e-4): ("1.7e31", "2.8e11", "1.4e8", "6.9e7", "1.4e8", "1.4e5"),
}


def rows(law, outputs, mass, epsilon=1.0):
    table = privacy_plan_table(
        law, outputs, epsilon=epsilon, exception_mass=mass, failure_probability=1e-6
    )
    return {row.method: row for row in table}


def as_printed(number):
    mantissa, exponent = f"{number:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


@pytest.mark.parametrize("case", PRINTED, ids=str)
def test_every_number_of_the_table(case):
    d, outputs, mass = case
    table = rows(lt.ProductDistribution.uniform(lt.Hypercube(d)), outputs, mass)
    laws = [
        table["A_test, DJT12, as printed"].laws,
        table["group"].laws,
        table["edges"].laws,
        table["light-neighbourhoods"].laws,
        table["neighbourhoods"].laws,
        table["neighbourhoods"].draws,
    ]
    assert tuple(map(as_printed, laws)) == PRINTED[case]


def test_forms_and_factors():
    table = rows(lt.ProductDistribution.uniform(lt.Hypercube(20)), 21, 1e-2)
    neighbour = {name for name, row in table.items() if row.form == "neighbour"}
    assert neighbour == {"exhaustive", "neighbourhoods", "light-neighbourhoods", "edges"}
    steps = {name for name, row in table.items() if row.approximation_factor > 1}
    assert steps == {"A_test, DJT12, as printed", "A_test, DJT12", "A_test, JR11", "A_test, AJMR12"}
    # e / (2 d^2) with e = 0.01 / 21.
    printed = table["A_test, DJT12, as printed"]
    assert printed.range_step == pytest.approx(0.01 / 21 / 800, rel=1e-12)
    assert printed.approximation_factor == 1 + printed.range_step
    assert printed.in_paper
    assert table["exhaustive"].laws == 2**20


def test_what_runs_as_printed_is_what_the_program_runs():
    # The admissible step is a little smaller, and the stage of the diameter is left out.
    table = rows(lt.ProductDistribution.uniform(lt.Hypercube(20)), 21, 1e-2)
    printed, run = table["A_test, DJT12, as printed"].laws, table["A_test, DJT12"].laws
    assert run == pytest.approx(printed, rel=1e-6)


def uniform_outputs(x):
    return 0.0 * x[:, [0, 0, 0]] - math.log(3)


def test_plans_are_those_of_the_verdicts():
    law = lt.ProductDistribution.bernoulli([0.5, 0.3, 0.2])
    table = rows(law, 3, 0.1)
    mechanism = lt.ClosedForm([0, 1, 2], uniform_outputs)
    methods = {
        name: name
        for name in ("exhaustive", "neighbourhoods", "light-neighbourhoods", "edges", "group")
    }
    methods["A_test, VarianceEdges"] = lt.testers.VarianceEdges()
    for name, method in methods.items():
        verdict = lt.check_privacy(
            mechanism, law, epsilon=1.0, exception_mass=0.1, method=method, seed=0
        )
        assert table[name].laws == pytest.approx(verdict.plan.laws)
        assert table[name].draws == verdict.plan.draws
        assert table[name].guarantee == verdict.guarantee.sentence
        assert table[name].form == verdict.guarantee.form
