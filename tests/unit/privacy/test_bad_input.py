"""Bad input gets an error of the right class that says what to do, and never a verdict."""

import math
import re

import numpy as np
import pytest

import liptest as lt
from liptest.errors import (
    BudgetError,
    DatasetError,
    InputError,
    LawError,
    MechanismError,
    NonDeterministicError,
)
from liptest.mechanisms.laws import Raised

UNIFORM = lt.ProductDistribution.uniform(lt.Hypercube(3))
METHODS = ["exhaustive", "neighbourhoods", "light-neighbourhoods", "edges", "group"]


def coin(datasets):
    return np.log(np.full((len(datasets), 2), 0.5))


FAIR = lt.ClosedForm([0, 1], coin)


def check(mechanism=FAIR, distribution=UNIFORM, **options):
    return lt.check_privacy(
        mechanism,
        distribution,
        **{"epsilon": 1.0, "exception_mass": 0.1, "failure_probability": 0.1, "seed": 1, **options},
    )


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": True}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": "one"}, "epsilon"),
        ({"epsilon": "nan"}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"delta": -1e-9}, "delta"),
        ({"delta": "0.1"}, "delta"),
        ({"delta": True}, "delta"),
        ({"tolerance": 1.0}, "tolerance"),
        ({"tolerance": -1e-9}, "tolerance"),
        ({"exception_mass": 0.0}, "exception_mass"),
        ({"exception_mass": 1.0}, "exception_mass"),
        ({"exception_mass": math.nan}, "exception_mass"),
        ({"exception_mass": "0.1"}, "exception_mass"),
        ({"failure_probability": 0.0}, "failure_probability"),
        ({"failure_probability": 1}, "failure_probability"),
        ({"failure_probability": False}, "failure_probability"),
        ({"method": "exhaustiv"}, "method"),
        ({"method": None}, "method"),
        ({"method": []}, "method"),
        ({"method": lt.testers.VarianceEdges}, "method"),
        ({"budget": 0}, "budget"),
        ({"budget": 1.5}, "budget"),
        ({"budget": True}, "budget"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.0}, "seed"),
        ({"seed": "1"}, "seed"),
        ({"method": "edges", "executor": 2}, "executor"),
    ],
)
def test_wrong_numbers_and_names(options, name):
    with pytest.raises(InputError) as caught:
        check(**options)
    assert name in str(caught.value)
    assert re.search(r"=\S", str(caught.value))
    assert caught.value.name in (None, name, "argument")


@pytest.mark.parametrize("mechanism", [None, 1, lt.ClosedForm, "vendor.py", UNIFORM])
def test_what_is_no_mechanism(mechanism):
    for ask in (
        lambda: check(mechanism),
        lambda: lt.exact_epsilon(mechanism, lt.Hypercube(2)),
        lambda: lt.PrivacyGate(mechanism, UNIFORM, epsilon=1.0),
    ):
        with pytest.raises(InputError, match="mechanism="):
            ask()


@pytest.mark.parametrize("mechanism", [None, 1, lt.ClosedForm, "vendor.py", UNIFORM])
def test_what_has_no_law(mechanism):
    with pytest.raises(InputError, match="mechanism="):
        lt.output_law(mechanism, [0])


@pytest.mark.parametrize("distribution", [None, 0.5, lt.Hypercube, lt.ProductDistribution])
def test_what_is_no_distribution(distribution):
    with pytest.raises(InputError, match="distribution="):
        check(distribution=distribution)


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_a_distribution_on_another_domain(method):
    counted = lt.StatisticMechanism(lt.Count(), [0, 1], lambda values: coin(values[:, None]))
    grid = lt.ProductDistribution.uniform(lt.Hypergrid([3, 3]))
    with pytest.raises(InputError, match=r"statistic=Count\(\).*Hypergrid"):
        check(counted, grid, method=method)
    voted = lt.catalogue.exponential_mechanism(3, 1.0)
    with pytest.raises(InputError, match="statistic="):
        check(voted, UNIFORM, method=method)


@pytest.mark.parametrize(
    "method", ["group", lt.testers.VarianceEdges(), lt.testers.JR11(range_step=1.0)]
)
def test_delta_with_a_lipschitz_tester(method):
    with pytest.raises(InputError, match=r"delta=0\.1.*covers only delta=0") as caught:
        check(delta=0.1, method=method)
    assert caught.value.name == "delta"


@pytest.mark.parametrize("method", ["group", lt.testers.VarianceEdges()])
def test_outputs_without_end_have_no_tester_per_output(method):
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(2))
    with pytest.raises(InputError, match="finite range"):
        check(noisy, method=method)


def rows(*row):
    return lambda datasets: np.tile(np.array(row, dtype=float), (len(datasets), 1))


@pytest.mark.parametrize(
    ("log_pmf", "words"),
    [
        (rows(math.log(0.5), math.log(0.4)), "sums to 0.9"),
        (rows(math.log(0.5), math.log(0.5 + 1e-9)), "sums to 1.00000000"),
        (rows(0.0, 0.0), "sums to 2"),
        (rows(0.5, -math.inf), "sums to 1.64"),
        (rows(1000.0, 0.0), "sums to"),
        (rows(-math.inf, -math.inf), "sums to 0.0"),
        (rows(math.nan, 0.0), "NaN"),
        (rows(-math.inf, math.nan), "NaN"),
        (rows(math.inf, -math.inf), "inf"),
        (rows(math.log(0.5)), r"shape=\(\d+, 1\)"),
        (rows(-1.1, -1.1, -1.1), r"shape=\(\d+, 3\)"),
        (lambda datasets: np.log(np.full(2, 0.5)), r"shape=\(2,\)"),
        (lambda datasets: coin(datasets[1:]), "shape="),
        (lambda datasets: None, r"shape=\(\)"),
        (lambda datasets: [[0.0, 1.0], [0.0]], "array of natural logs"),
        (lambda datasets: [["a", "b"]] * len(datasets), "array of natural logs"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_broken_laws(log_pmf, words, method):
    with pytest.raises(LawError, match=words):
        check(lt.ClosedForm([0, 1], log_pmf), method=method)


@pytest.mark.parametrize("method", METHODS)
def test_one_broken_law_among_many(method):
    def log_pmf(datasets):
        logs = coin(datasets)
        logs[datasets.sum(axis=1) == 2] = math.log(0.6)
        return logs

    with pytest.raises(LawError, match=r"sums to 1\.2"):
        check(lt.ClosedForm([0, 1], log_pmf), method=method)


class Counter:
    """Answers a little differently each time."""

    def __init__(self):
        self.calls = 0

    def __call__(self, datasets):
        self.calls += 1
        p = 0.5 + 0.001 * self.calls
        return np.log(np.tile([p, 1 - p], (len(datasets), 1)))


@pytest.mark.parametrize("method", ["auto", *METHODS, lt.testers.VarianceEdges()])
@pytest.mark.parametrize("epsilon", [1e-9, 1.0])
def test_an_answer_that_changes(method, epsilon):
    seen = lt.StatisticMechanism(lt.Count(), [0, 1], Counter())
    for mechanism in (lt.ClosedForm([0, 1], Counter()), seen):
        with pytest.raises(NonDeterministicError, match="changed between two calls"):
            check(mechanism, method=method, epsilon=epsilon)
    with pytest.raises(NonDeterministicError):
        lt.exact_epsilon(lt.ClosedForm([0, 1], Counter()), lt.Hypercube(2))


class TwoFaces(lt.Mechanism):
    """A mechanism of a third party: its single laws are not those of its tables."""

    name, outputs = "two faces", (0, 1)

    def points_per_slice(self, domain):
        return 100

    def laws(self, points):
        return FAIR.laws(points)

    def law(self, dataset):
        return lt.ClosedForm([0, 1], rows(math.log(0.9), math.log(0.1))).law(dataset)


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_a_table_that_is_not_made_of_the_single_laws(method):
    with pytest.raises(NonDeterministicError):
        check(TwoFaces(), method=method)


@pytest.mark.parametrize("method", ["auto", *METHODS, lt.testers.VarianceEdges()])
def test_a_mechanism_that_raises_on_every_dataset(method):
    silent = lt.ClosedForm([Raised("ValueError"), 0], rows(0.0, -math.inf), exact_zeros=True)
    with pytest.raises(MechanismError, match="raised an exception on every dataset"):
        check(silent, method=method)


def test_a_mechanism_that_raises_on_some_datasets_is_judged():
    def log_pmf(datasets):
        with np.errstate(divide="ignore"):
            return np.log(np.stack([datasets[:, 0], 1 - datasets[:, 0]], axis=1))

    some = lt.ClosedForm([Raised("ValueError"), 0], log_pmf, exact_zeros=True)
    verdict = check(some, method="neighbourhoods")
    assert verdict.decision == "NO"
    assert verdict.witness.loss == math.inf


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ([], "empty"),
        ([[0], [1]], "hashable; write lists as tuples"),
        ([{}, 1], "hashable"),
        ([np.zeros(2), 1], "hashable"),
        ([0, 0], "duplicates"),
        ([1, True], "duplicates"),
        ([1, 1.0], "duplicates"),
        ([0.0, -0.0], "duplicates"),
    ],
)
def test_outputs_that_cannot_be_told_apart_or_hashed(outputs, words):
    with pytest.raises(InputError, match=words):
        lt.ClosedForm(outputs, coin)
    with pytest.raises(InputError, match=words):
        lt.StatisticMechanism(lt.Count(), outputs, coin)


@pytest.mark.parametrize(
    "error",
    [-1e-9, math.nan, math.inf, [1e-9, -1.0], [1e-9] * 3, [[1e-9]], "1e-9", True, [None, 1]],
)
def test_wrong_declared_errors(error):
    with pytest.raises(InputError, match="error="):
        lt.ClosedForm([0, 1], coin, error=error)


def test_an_exhaustive_pass_over_budget():
    with pytest.raises(BudgetError, match="budget=7") as caught:
        check(method="exhaustive", budget=7)
    assert (caught.value.needed, caught.value.budget) == (8, 7)
    with pytest.raises(BudgetError):
        lt.exact_epsilon(FAIR, lt.Hypercube(3), budget=7)
    assert check(method="exhaustive", budget=8).decision == "YES"


def test_an_exhaustive_pass_over_a_domain_without_end():
    for d in (40, 5000):
        with pytest.raises(InputError, match=r"too (many|large)"):
            check(FAIR, lt.ProductDistribution.uniform(lt.Hypercube(d)), method="exhaustive")
    with pytest.raises(InputError, match="domain="):
        lt.exact_epsilon(FAIR, UNIFORM)


@pytest.mark.parametrize(
    "dataset", [[0, 1, 2], [0, 1], [0.5, 0, 0], [math.nan, 0, 0], ["0", "1", "1"], [-1, 0, 0]]
)
def test_a_dataset_outside_of_the_domain(dataset):
    with pytest.raises(DatasetError):
        lt.Hypercube(3).check_points(dataset)


def test_masses_are_needed_by_the_methods_that_weigh():
    sampled = lt.SampledDistribution(lt.Hypercube(3), lambda n, rng: rng.integers(0, 2, (n, 3)))
    for method in ("light-neighbourhoods", "edges", "group", lt.testers.VarianceEdges()):
        with pytest.raises(InputError, match="ProductDistribution") as caught:
            check(FAIR, sampled, method=method)
        assert "product" in str(caught.value).lower()
