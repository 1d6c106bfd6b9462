"""``liptest profile``: tables, JSON and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import liptest as lt
from liptest.cli import main
from liptest.privacy.wording.profile_result import GdpAnswer, PrivacyProfile

VENDOR = """
import numpy as np
import liptest as lt

count = lt.catalogue.truncated_geometric_count(8, 1.0)
leak = lt.catalogue.leak(40, 0.1)

@lt.mechanism
def broken(data, rng):
    raise ValueError("no")
"""


@pytest.fixture
def vendor(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "vendor.py"
    path.write_text(VENDOR)
    return path


def test_a_table_of_exact_masses(vendor, capsys):
    code = main(
        ["profile", "vendor.py:count", "--dimension", "8", "--uniform", "--epsilon", "0.5,0.9,1"]
    )
    text = capsys.readouterr().out
    assert code == 0
    assert "Exact" in text
    rows = [line.split() for line in text.splitlines() if line.startswith("   ")]
    assert rows == [["0.5", "0.5"], ["0.9", "0.5"], ["1", "0"]]
    assert "Largest loss 1.000000: the exact epsilon" in text


@pytest.mark.parametrize(("claim", "code", "word"), [(0.5, 1, "NO: "), (1.0, 0, "YES: ")])
def test_a_claim_decides_the_exit_code(vendor, capsys, claim, code, word):
    line = f"profile vendor.py:count --dimension 8 --uniform --claim {claim}"
    assert main(line.split()) == code
    assert word in capsys.readouterr().out


@pytest.mark.slow
def test_a_sampled_profile_says_with_which_chance_it_holds(vendor, capsys):
    line = (
        "profile vendor.py:leak --probabilities 0.1 --dimension 40 --epsilon 1 --claim 1 --seed 3 "
        "--draws 2000 --json out.json"
    )
    assert main(line.split()) == 1
    text = capsys.readouterr().out
    assert "Sampled: 2,000 datasets" in text
    assert "1 in 1,000,000" in text
    assert "statistical" in text
    data = json.loads((vendor.parent / "out.json").read_text())
    answer = GdpAnswer.from_dict(data.pop("claim"))
    profile = PrivacyProfile.from_dict(data)
    assert (answer.decision, answer.kind) == ("NO", "statistical")
    assert profile.points[0].lower <= 0.1 <= profile.points[0].upper
    law = lt.ProductDistribution.bernoulli([0.1] * 40)
    options = {"epsilons": [1.0], "seed": 3, "draws": 2000}
    again = lt.privacy_profile(lt.catalogue.leak(40, 0.1), law, **options)
    assert again.points == profile.points


@pytest.mark.slow
def test_curves_need_no_distribution(vendor, capsys):
    line = "profile vendor.py:count --dimension 8 --curves --json c.json"
    assert main(line.split()) == 0
    text = capsys.readouterr().out
    for title in ("epsilon  delta", "order  Renyi divergence", "misses of the best test"):
        assert title in text
    data = json.loads((vendor.parent / "c.json").read_text())
    found = PrivacyProfile.from_dict(data)
    assert found.points == ()
    assert found.curves.deltas[-1].upper < 1e-9
    law = "--probabilities 0.1 --dimension 8 --epsilon 1"
    assert main(f"profile vendor.py:count {law} --curves".split()) == 0
    text = capsys.readouterr().out
    assert "exception mass" in text
    assert "misses of the best test" in text


def test_a_claim_that_a_small_sample_leaves_open(vendor):
    line = "profile vendor.py:leak --probabilities 0.1 --dimension 40 --epsilon 1 --claim 1"
    assert main([*line.split(), "--draws", "100", "--exception-mass", "0.1"]) == 3


@pytest.mark.slow
def test_every_check_of_a_file_is_profiled(vendor, capsys):
    (vendor.parent / "liptest.toml").write_text(
        "[domain]\ndimension = 8\n[distribution]\nuniform = true\n"
        '[[check]]\nmechanism = "vendor.py:count"\nepsilon = 1.0\n'
        '[[check]]\nmechanism = "vendor.py:broken"\nepsilon = 1.0\n'
    )
    assert main(["profile", "--epsilon", "1", "--method", "neighbourhoods"]) == 4
    captured = capsys.readouterr()
    assert "vendor:count" in captured.out
    assert "every dataset" in captured.err


@pytest.mark.parametrize(
    "line",
    [
        "profile",
        "profile vendor.py:nothing --dimension 8 --uniform",
        "profile vendor.py:count --dimension 8 --uniform --epsilon much",
        "profile vendor.py:count --dimension 8 --uniform --method edges",
        "profile vendor.py:count --dimension 8",
    ],
)
def test_bad_input_is_exit_code_2(vendor, capsys, line):
    assert main(line.split()) == 2
    assert "error" in capsys.readouterr().err


@pytest.mark.slow
def test_every_command_takes_every_source_of_a_distribution(tmp_path, monkeypatch, capsys):
    """What ``check`` takes, ``profile``, ``verify`` and ``samples`` take too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clicks.csv").write_text("a,b,c\n0,1,0\n1,0,0\n0,0,1\n0,1,1\n")
    (tmp_path / "v.py").write_text(
        "def even(data, rng):\n    return int(rng.integers(2))\n"
        "def draw(data, n, rng):\n    return rng.integers(0, 2, n)\n"
    )
    law = ["--table", "clicks.csv", "--columns", "a,b,c"]
    assert main(["check", "v.py:even", "--epsilon", "1", *law, "--json", "even.json"]) == 0
    assert main(["profile", "v.py:even", "--epsilon", "1", *law]) == 0
    assert main(["verify", "even.json", "--mechanism", "v.py:even", *law]) == 0
    more = ["--samples", "40000", "--resolution", "0.4", "--failure-probability", "0.01"]
    assert main(["samples", "v.py:draw", "--epsilon", "1", *law, *more, "--json", "s.json"]) == 0
    assert main(["verify", "s.json", "--mechanism", "v.py:draw", *law]) == 0
