"""Dependence of columns: numbers against plain arithmetic, proofs against laws that are known."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

import liptest as lt
from liptest.data.dependence import column_dependence, shares_lower, variation_radius
from liptest.data.sources import SqlTable
from liptest.report.plots import dependence_figure
from tests.statistical.binomial import SEEDS, STARVED, is_plausible


def twins(n: int, share: float = 0.5) -> pd.DataFrame:
    """b repeats a in a share of the rows, c is alone; exactly, no draws."""
    a = np.arange(n) % 2
    b = np.where(np.arange(n) < share * n, a, (np.arange(n) // 2) % 2)
    return pd.DataFrame({"a": a, "b": b, "c": (np.arange(n) // 4) % 2})


def test_the_numbers_of_a_small_table() -> None:
    frame = pd.DataFrame({"a": [0, 0, 0, 1], "b": [0, 0, 1, 1]})
    law = lt.ProductDistribution.bernoulli([0.25, 0.5])
    found = column_dependence(frame, distribution=law)
    (pair,) = found.pairs
    # Shares 1/2, 1/4, 0, 1/4 against 3/8, 3/8, 1/8, 1/8.
    assert pair.total_variation == float(Fraction(1, 4))
    assert found.kappa_estimate == pytest.approx(2.0)
    # chi-square of the table itself: expected 3/2, 3/2, 1/2, 1/2.
    assert pair.cramers_v == pytest.approx(math.sqrt(4 / 3 / 4))
    assert found.tau_lower == 0.0
    assert found.tau_upper is None
    assert found.rows == 4
    assert found.matrix().tolist() == [[0, 0.25], [0.25, 0]]


@pytest.mark.slow
def test_a_dependence_is_found_and_said() -> None:
    found = column_dependence(twins(40_000))
    first = found.pairs[0]
    assert (first.first, first.second) == ("a", "b")
    assert 0.22 < first.proved < first.total_variation == pytest.approx(0.25, abs=1e-3)
    assert found.tau_lower == first.proved
    assert found.tau_upper is not None
    assert found.tau_lower < 0.25 < found.tau_upper < 0.28
    assert 1.4 < found.kappa_lower < found.kappa_estimate == pytest.approx(1.5, abs=1e-2)
    text = str(found)
    assert (
        "a = 0 comes with b = 0 in 37.50% of the rows, in 25.00% if they were independent" in text
    )
    assert "The product law is not the true one" in text
    assert f"at most beta + {found.tau_upper:.3g} under the true law" in text


@pytest.mark.slow
def test_independent_columns_are_not_accused() -> None:
    found = column_dependence(twins(40_000, share=0.0))
    assert found.tau_lower == 0.0
    assert found.kappa_lower == pytest.approx(1.0)
    assert "No pair of columns differs" in found.sentence
    assert "three columns or more" in found.sentence


def test_parity_of_three_columns_shows_in_the_joint_law_only() -> None:
    points = [[a, b, a ^ b] for a, b in itertools.product((0, 1), repeat=2)]
    frame = pd.DataFrame(points * 5000, columns=list("abc"))
    found = column_dependence(frame)
    assert max(pair.total_variation for pair in found.pairs) < 1e-12
    assert found.tau_upper is not None
    assert found.tau_upper > 0.5


@pytest.mark.slow
def test_values_read_off_the_table_prove_nothing_unless_they_are_named() -> None:
    frame = twins(40_000).assign(b=lambda t: np.where(t.b == 1, "yes", "no"))
    read = column_dependence(frame, columns=["a", "b"])
    named = column_dependence(frame, columns=["a", "b"], categories={"b": ["no", "yes"]})
    assert read.pairs[0].total_variation == named.pairs[0].total_variation
    assert (read.tau_lower, read.tau_upper, read.kappa_lower) == (0.0, None, 1.0)
    assert named.tau_lower > 0.1
    law = lt.ProductDistribution.fit(frame, columns=["a", "b"])
    assert column_dependence(frame, distribution=law).tau_lower == 0.0
    other = lt.ProductDistribution.fit(frame.head(20_000), columns=["a", "b"])
    assert column_dependence(frame, distribution=other).tau_lower > 0.1


def test_a_value_of_probability_zero_makes_kappa_infinite() -> None:
    law = lt.ProductDistribution.bernoulli([0.0, 0.5])
    found = column_dependence(twins(1000), columns=["a", "b"], distribution=law)
    assert found.kappa_lower == math.inf
    assert found.tau_lower > 0.3


def test_a_database_counts_pairs_itself() -> None:
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    twins(4000).to_sql("public", engine, index=False)
    found = column_dependence(SqlTable(engine, table="public"))
    assert found == column_dependence(twins(4000))
    engine.dispose()


def test_what_cannot_be_compared() -> None:
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 0]})
    with pytest.raises(lt.errors.InputError, match="must be a ProductDistribution"):
        column_dependence(frame, distribution=lt.SampledDistribution.bootstrap(frame))  # type: ignore[arg-type]
    with pytest.raises(lt.errors.InputError, match="must be a dict"):
        column_dependence(frame, categories=["a"])  # type: ignore[arg-type]
    with pytest.raises(lt.errors.InputError, match="1 columns make 0 pairs"):
        column_dependence(twins(8), columns="a")
    law = lt.ProductDistribution.uniform(lt.Hypercube(3))
    with pytest.raises(lt.errors.InputError, match="2 columns do not fit"):
        column_dependence(twins(8), columns=["a", "b"], distribution=law)
    with pytest.raises(lt.errors.InputError, match="must be a frame"):
        column_dependence([[0, 1]])


@pytest.mark.slow
def test_the_picture_has_a_cell_per_pair() -> None:
    found = column_dependence(twins(40_000))
    figure = dependence_figure(found)
    axes = figure.axes[0]
    assert np.array_equal(np.asarray(axes.images[0].get_array()), found.matrix())
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]
    xs, ys = axes.lines[0].get_data()
    assert sorted(zip(xs, ys, strict=True)) == [(0, 1), (1, 0)]


def test_bounds_hold_as_often_as_they_say_and_starved_ones_do_not() -> None:
    masses, n, failure = np.array([0.5, 0.25, 0.125, 0.125]), 400, 0.1
    draws = np.random.default_rng(11).multinomial(n, masses, size=SEEDS) / n
    variation = np.abs(draws - masses).sum(axis=1) / 2

    def share(rows: int) -> int:
        return int(np.sum(variation <= variation_radius(4, rows, failure)))

    assert is_plausible(share(n), SEEDS, at_least=1 - failure)
    assert not is_plausible(share(n * STARVED), SEEDS, at_least=1 - failure)

    def held(rows: int) -> int:
        return int(np.sum(shares_lower(draws[:, 1], rows, failure) <= masses[1]))

    assert is_plausible(held(n), SEEDS, at_least=1 - failure)
    assert not is_plausible(held(n * STARVED), SEEDS, at_least=1 - failure)


def test_lower_bounds_of_shares_at_the_ends() -> None:
    found = shares_lower(np.array([0.0, 1.0, 0.5]), 100, 1e-3)
    assert found[0] == 0.0
    # All of n rows: p^n <= failure exactly at the bound.
    assert found[1] == pytest.approx(1e-3 ** (1 / 100))
    assert found[1] <= 1e-3 ** (1 / 100)
    assert 0.3 < found[2] < 0.5
