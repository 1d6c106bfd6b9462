"""Correlated laws: exact masses against fractions, samples against masses, what cannot be."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

import liptest as lt
from liptest.data.sources import SqlTable
from liptest.runs.fingerprints import distribution_hash
from liptest.verdicts import Decision
from tests.statistical.binomial import fits

Sampled = lt.SampledDistribution
CUBE = lt.Hypercube(3)
EVERY = np.array(list(itertools.product([0, 1], repeat=3)))
LOW = lt.ProductDistribution.bernoulli([0.1, 0.2, 0.1])
HIGH = lt.ProductDistribution.bernoulli([0.8, 0.9, 1.0])
STAY = [[0.75, 0.25], [0.5, 0.5]]


def chain() -> Sampled:
    return Sampled.markov_chain(CUBE, initial=[0.25, 0.75], transitions=STAY)


def mixture() -> Sampled:
    return Sampled.mixture([LOW, HIGH], weights=[0.75, 0.25])


def table() -> Sampled:
    return Sampled.bootstrap([[0, 0, 0], [1, 1, 0], [1, 1, 0], [1, 1, 1]], domain=CUBE)


LAWS = {"chain": chain, "mixture": mixture, "bootstrap": table}


def test_the_masses_of_a_chain_are_products_along_it() -> None:
    for point, found in zip(EVERY.tolist(), np.exp(chain().log_mass(EVERY)), strict=True):
        mass = Fraction([1, 3][point[0]], 4)
        for before, after in itertools.pairwise(point):
            mass *= Fraction(STAY[before][after])
        assert found == pytest.approx(float(mass), rel=1e-12)


def test_a_chain_of_unequal_coordinates() -> None:
    domain = lt.RecordGrid([2, 3, 2])
    steps = [[[0.5, 0.25, 0.25], [0, 0, 1]], [[1, 0], [0, 1], [0.5, 0.5]]]
    law = Sampled.markov_chain(domain, initial=[0.5, 0.5], transitions=steps)
    every = domain.points(np.arange(domain.size))
    assert np.exp(law.log_mass(every)).sum() == pytest.approx(1)
    assert np.exp(law.log_mass([[1, 2, 0], [1, 1, 0]])).tolist() == [0.25, 0.0]
    drawn = law.sample(np.random.default_rng(1), 500)
    assert np.all(np.isfinite(law.log_mass(drawn)))


def test_the_masses_of_a_mixture_are_weighted_means() -> None:
    expected = 0.75 * LOW.mass(EVERY) + 0.25 * HIGH.mass(EVERY)
    assert np.exp(mixture().log_mass(EVERY)) == pytest.approx(expected, rel=1e-12)
    certain = Sampled.mixture([HIGH], weights=[1.0])
    assert certain.log_mass([0, 0, 0]).tolist() == [-np.inf]
    nested = Sampled.mixture([mixture(), LOW], weights=[0.5, 0.5])
    assert np.exp(nested.log_mass(EVERY)).sum() == pytest.approx(1)


def test_the_masses_of_a_bootstrap_are_shares_of_rows() -> None:
    found = np.exp(table().log_mass([[1, 1, 0], [0, 0, 0], [0, 1, 0]]))
    assert found.tolist() == [0.5, 0.25, 0.0]


@pytest.mark.parametrize("name", LAWS)
def test_masses_sum_to_one_and_samples_follow_them(name: str) -> None:
    law = LAWS[name]()
    masses = np.exp(law.log_mass(EVERY))
    assert masses.sum() == pytest.approx(1)
    drawn = np.bincount(CUBE.index(law.sample(np.random.default_rng(7), 20_000)), minlength=8)
    assert fits(drawn.tolist(), masses.tolist())
    # Another law of the same marginals does not fit.
    rates = (EVERY * masses[:, None]).sum(axis=0)
    product = lt.ProductDistribution.bernoulli(rates).mass(EVERY)
    assert not fits(drawn.tolist(), product.tolist())
    assert law.has_log_mass


@pytest.mark.parametrize("name", LAWS)
def test_one_seed_one_sample_and_one_hash(name: str) -> None:
    law = LAWS[name]()
    first, again = (law.sample(np.random.default_rng(3), 50) for _ in range(2))
    assert np.array_equal(first, again)
    assert law.sample(np.random.default_rng(3), 0).shape == (0, 3)
    copy = pickle.loads(pickle.dumps(law))
    assert np.array_equal(copy.sample(np.random.default_rng(3), 50), first)
    assert distribution_hash(law) == distribution_hash(LAWS[name]()) == distribution_hash(copy)


def test_different_laws_have_different_hashes() -> None:
    other = Sampled.markov_chain(CUBE, initial=[0.5, 0.5], transitions=STAY)
    turned = Sampled.mixture([LOW, HIGH], weights=[0.25, 0.75])
    fewer = Sampled.bootstrap([[0, 0, 0], [1, 1, 0], [1, 1, 1]], domain=CUBE)
    laws = [chain(), mixture(), table(), other, turned, fewer]
    assert len({distribution_hash(law) for law in laws}) == 6


def test_a_bootstrap_of_a_frame_and_of_a_database() -> None:
    frame = pd.DataFrame({"a": [0, 1, 1, 1], "b": ["x", "y", "y", "x"]})
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    frame.to_sql("public", engine, index=False)
    for source in (frame, SqlTable(engine, table="public")):
        law = Sampled.bootstrap(source)
        assert law.domain == lt.RecordGrid([2, 2])
        assert np.exp(law.log_mass([[1, 1], [0, 1]])).tolist() == [0.5, 0.0]
        assert law.fitted is not None
        assert law.fitted.rows == 4
        assert law.source.startswith("whole rows of ")
    engine.dispose()


@pytest.mark.slow
def test_a_verdict_by_neighbourhoods_of_a_chain() -> None:
    bits = lt.catalogue.randomised_response(3, 1.0)
    for law in (chain(), mixture(), table()):
        verdict = lt.check_privacy(
            bits, law, epsilon=1.0, method="neighbourhoods", exception_mass=0.05, seed=1
        )
        assert verdict.decision == Decision.YES
        assert law.source in str(verdict)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Sampled.mixture([], weights=[]), "0 laws on 0 domains"),
        (
            lambda: Sampled.mixture(
                [LOW, lt.ProductDistribution.uniform(lt.Hypercube(2))], weights=[0.5, 0.5]
            ),
            "2 laws on 2 domains",
        ),
        (lambda: Sampled.mixture([LOW, HIGH], weights=[0.5, 0.4]), r"weights sums to 0.9, not 1"),
        (lambda: Sampled.mixture([LOW, HIGH], weights=[1.0]), "weights: shape=.1,."),
        (lambda: Sampled.mixture([3], weights=[1.0]), "must be distributions"),
        (lambda: Sampled.mixture(LOW, weights=[1.0]), "0 laws on 0 domains"),  # type: ignore
        (
            lambda: Sampled.markov_chain(CUBE, initial=[1, 0], transitions=None),
            "transitions=None must be",
        ),
        (lambda: Sampled.fit_mixture(DAYS, by=None), "by=None must be the name"),  # type: ignore
        (
            lambda: Sampled.mixture([Sampled(CUBE, lambda n, rng: EVERY[:n])], weights=[1.0]),
            "one of them has no masses",
        ),
        (
            lambda: Sampled.markov_chain(CUBE, initial=[1, 0], transitions=[STAY]),
            "1 matrices for 3 coordinates",
        ),
        (
            lambda: Sampled.markov_chain(CUBE, initial=[1, 0], transitions=[[0.5, 0.5]]),
            r"transitions\[0\]: shape=\(1, 2\)",
        ),
        (
            lambda: Sampled.markov_chain(CUBE, initial=[1, 0], transitions=[[1, 0], [0.5, 0.4]]),
            r"transitions\[0\]\[1\] sums to 0.9",
        ),
        (
            lambda: Sampled.markov_chain(CUBE, initial=[2, -1], transitions=STAY),
            "initial=.*between",
        ),
        (lambda: Sampled.bootstrap(np.zeros((0, 3)), domain=CUBE), "has no rows"),
        (lambda: Sampled.bootstrap([[0, 0, 2]], domain=CUBE), "outside"),
        (lambda: Sampled.bootstrap([[0, 0, 1]]), "domain=None must be"),
    ],
)
def test_what_is_no_law(build: Any, message: str) -> None:
    with pytest.raises(lt.errors.InputError, match=message):
        build()


DAYS = pd.DataFrame(
    {
        "day": ["work"] * 4 + ["free"] * 2,
        "a": [0, 0, 0, 1, 1, 1],
        "b": [0, 0, 1, 1, 1, 0],
        "c": list("xxyyxy"),
    }
)


def test_a_chain_is_fitted_step_by_step() -> None:
    law = Sampled.fit_markov_chain(DAYS, columns=["a", "b", "c"], shrinkage=2)
    assert law.domain == lt.RecordGrid([2, 2, 2])
    # b after a = 0: counts 2, 1, shrunk towards 3, 3 of 6; c after b = 1: counts 1, 2.
    mass = Fraction(1, 2) * Fraction(1 + 1, 5) * Fraction(2 + 1, 5)
    assert np.exp(law.log_mass([0, 1, 1])) == pytest.approx([float(mass)])
    every = law.domain.points(np.arange(8))
    assert np.exp(law.log_mass(every)).sum() == pytest.approx(1)
    assert law.source.startswith("a Markov chain fitted on the rows of a pandas frame (6 rows, ")


def test_a_mixture_is_fitted_class_by_class() -> None:
    law = Sampled.fit_mixture(DAYS, by="day", columns=["day", "a", "b"], shrinkage=2)
    assert law.domain == lt.Hypercube(2)
    # Both columns have rate 1/2 overall; of work days 1 and 2 of 4, of free ones 2 and 1 of 2.
    work = Fraction(2, 3) * Fraction(2, 6) * Fraction(3, 6)
    free = Fraction(1, 3) * Fraction(3, 4) * Fraction(2, 4)
    assert np.exp(law.log_mass([1, 1])) == pytest.approx([float(work + free)])
    assert "a mixture of 2 product laws, one per day" in law.source


def test_fits_of_a_database_are_those_of_the_frame() -> None:
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    DAYS.to_sql("days", engine, index=False)
    table = SqlTable(engine, table="days")
    for build in (
        lambda source: Sampled.fit_mixture(source, by="day"),
        lambda source: Sampled.fit_markov_chain(source, columns=["day", "a", "c"]),
    ):
        assert distribution_hash(build(table)) == distribution_hash(build(DAYS))
    engine.dispose()


def test_values_without_a_row_are_drawn_only_if_smoothed() -> None:
    names = {"c": ["x", "y", "z"]}
    sharp = Sampled.fit_markov_chain(DAYS, columns=["a", "c"], categories=names)
    smooth = Sampled.fit_markov_chain(DAYS, columns=["a", "c"], categories=names, smoothing=3)
    assert sharp.log_mass([0, 2]).tolist() == [-np.inf]
    assert np.exp(smooth.log_mass([0, 2])) == pytest.approx([0.5 * (10 / 9) / 13])
    assert "values without a row are drawn only if they were smoothed" in sharp.source
    with pytest.raises(lt.errors.InputError, match="no column is left besides by='a'"):
        Sampled.fit_mixture(DAYS, by="a", columns="a")
    with pytest.raises(lt.errors.InputError, match="has no column 'night'"):
        Sampled.fit_mixture(DAYS, by="night")
    with pytest.raises(lt.errors.InputError, match="has no rows"):
        Sampled.fit_markov_chain(DAYS[:0])
