"""The demo: its data, its vendors, and that an unexpected outcome is noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import liptest as lt
from liptest.cli import main
from liptest.cli.demo import CHECKS, FOLDER, TABLE, private_clicks, public_distribution, run_clicks
from liptest.cli.loading import load_mechanism
from liptest.cli.tables import read_column
from liptest.cli.tables import read_whole_numbers as whole_numbers
from liptest.verdicts import Decision


def vendor(letter: str):
    return load_mechanism(f"{FOLDER}/vendor_{letter}.py:count")[0]


def test_the_fitted_rates_predict_the_clicks_and_plain_add_one_does_not():
    rates = public_distribution().probabilities
    assert rates.shape == (5000,)
    assert rates.sum() == pytest.approx(19.128, abs=1e-3)
    assert private_clicks().sum() == 19
    clicks = whole_numbers(read_column(TABLE, "click", "0:5000"), TABLE)
    public = read_column(TABLE, "item", "0:5000")
    items = read_column(TABLE, "item", "5000:10000")
    add_one = [
        (clicks[public == item].sum() + 1) / ((public == item).sum() + 2) for item in set(items)
    ]
    weights = [(items == item).sum() for item in set(items)]
    assert np.dot(add_one, weights) == pytest.approx(96.97, abs=0.01)


@pytest.mark.parametrize("clicks", [0, 19, 50, 60, 5000])
def test_vendor_a_is_the_truncated_geometric_mechanism(clicks):
    data = (np.arange(5000) < clicks).astype(np.int64)
    law = lt.output_law(vendor("a"), data)
    a, centre = np.exp(-1.0), min(clicks, 60)
    inner = {o: (1 - a) / (1 + a) * a ** abs(o - centre) for o in range(1, 60)}
    assert all(law[o] == pytest.approx(p, rel=1e-12) for o, p in inner.items())
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.slow
def test_vendor_c_is_exact_up_to_its_bug_and_the_bug_is_rarer_than_one_in_a_million():
    mechanism, law = vendor("c"), public_distribution()
    levels = mechanism.laws_of(np.arange(51))
    left = levels.distinct(np.arange(50))
    right = levels.distinct(np.arange(1, 51))
    assert levels.losses(left, right).max() == pytest.approx(1.0, abs=1e-9)
    found = lt.exception_mass(mechanism, law, epsilon=1.0)
    assert 0 < found.lower == found.upper < 1e-6
    assert found.upper == pytest.approx(5.70e-10, rel=2e-3)


@pytest.fixture(scope="module")
def output():
    lines: list[str] = []
    good = run_clicks(lines.append, lambda verdict: lines.append(str(verdict)))
    return good, "\n\n".join(lines)


@pytest.mark.slow
def test_every_outcome_is_the_expected_one(output):
    good, text = output
    assert good
    assert "vendor_a:count: RELEASED" in text
    assert "vendor_b:count: REFUSED - the private table was not read" in text
    assert "vendor_c:count: REFUSED - the private table was not read" in text
    assert "Tested 13,809 datasets" in text
    assert "total probability of 5.7e-10" in text


@pytest.mark.slow
def test_an_unexpected_outcome_is_said():
    wrong = (replace(CHECKS[1], decision=Decision.YES),)
    lines: list[str] = []
    assert not run_clicks(lines.append, lambda verdict: None, checks=wrong)
    assert lines[-1].startswith("NOT every outcome")


@pytest.mark.slow
def test_the_configuration_beside_the_vendors_runs(capsys):
    assert main(["check", "--config", str(FOLDER / "liptest.toml")]) == 1
    out = capsys.readouterr().out
    assert "vendor_a.py:count: YES" in out
    assert "vendor_b.py:count: NO" in out
