"""Claims in other forms on the command line and in liptest.toml."""

from __future__ import annotations

import json

import pytest

import liptest as lt
from liptest.cli import main

VENDOR = """
import liptest as lt
count = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(2))
"""
DATA = ["--dimension", "5", "--probabilities", "0.1"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vendor.py").write_text(VENDOR)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "code"),
    [
        (["--rho", "0.13"], 0),
        (["--rho", "0.12"], 1),
        (["--renyi", "2:0.24,8:1"], 0),
        (["--renyi", "2:0.2"], 1),
        (["--mu", "0.63"], 0),
        (["--mu", "0.6"], 1),
        (["--curve", "log(2):1e-9,0.25:0.14"], 0),
        (["--curve", "0.25:0.1"], 1),
        (["--renyi", "2"], 2),
        (["--curve", "1:"], 2),
        (["--rho", "0.1", "--epsilon", "1"], 2),
        (["--rho", "0.1", "--delta", "1e-6"], 2),
        (["--rho", "-1"], 2),
    ],
)
def test_claims_as_arguments(claim, code, folder, capsys):
    assert main(["check", "vendor.py:count", *DATA, *claim, "--json", "c.json"]) == code
    if code < 2:
        certificate = lt.Certificate.from_json((folder / "c.json").read_text())
        assert certificate.decision == ("NO" if code else "YES")
        # 3: without a distribution a YES is not repeated.
        assert main(["verify", "c.json", "vendor.py:count"]) == (0 if code else 3)
        assert "epsilon" not in json.loads((folder / "c.json").read_text())["verdict"]["claim"]
    else:
        assert "error" in capsys.readouterr().err


def test_claims_in_a_file(folder, capsys):
    (folder / "liptest.toml").write_text(
        '[domain]\nkind = "hypercube"\ndimension = 5\n[distribution]\nprobabilities = 0.1\n'
        + "".join(
            f'[[check]]\nmechanism = "vendor.py:count"\n{claim}\n'
            for claim in ("rho = 0.13", "renyi = [[2, 0.24]]", "mu = 0.63", "curve = [[0.5, 1e-9]]")
        )
    )
    assert main(["check", "--html", "page.html"]) == 0
    said = capsys.readouterr().out
    for words in (
        "rho 0.13 (zCDP)",
        "Renyi (2, 0.24)",
        "mu 0.63 (Gaussian DP)",
        "curve epsilon 0.5",
    ):
        assert words in said
    assert "Gaussian DP" in (folder / "page.html").read_text()


UNBOUNDED = """
def real(data, rng):
    return data.sum() + rng.laplace(0.0, 1.0)

def whole(data, rng):
    return int(data.sum()) + rng.geometric(0.5) - rng.geometric(0.5)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "claim", "code"),
    [
        ("real", ["--rho", "0.37"], 0),
        ("real", ["--rho", "0.36"], 1),
        pytest.param("real", ["--renyi", "2:0.62"], 0, marks=pytest.mark.slow),
        pytest.param("real", ["--renyi", "2:0.61"], 1, marks=pytest.mark.slow),
        pytest.param("real", ["--mu", "1.04"], 0, marks=pytest.mark.slow),
        ("real", ["--mu", "1.02"], 1),
        pytest.param("real", ["--curve", "0.5:0.3,1:0"], 0, marks=pytest.mark.slow),
        pytest.param("real", ["--curve", "0.5:0.01"], 1, marks=pytest.mark.slow),
        pytest.param("whole", ["--rho", "0.24"], 0, marks=pytest.mark.slow),
        ("whole", ["--rho", "0.23"], 1),
        pytest.param("whole", ["--mu", "0.87"], 0, marks=pytest.mark.slow),
        pytest.param("whole", ["--mu", "0.86"], 1, marks=pytest.mark.slow),
    ],
)
def test_numbers_without_bound(name, claim, code, folder, capsys):
    """Everything that is written of finite laws is written of these, and verified again."""
    (folder / "unbounded.py").write_text(UNBOUNDED)
    target, files = f"unbounded.py:{name}", ["c.json", "c.html", "c.sarif", "c.xml"]
    outputs = [
        part
        for option, file in zip(("json", "html", "sarif", "junit"), files, strict=True)
        for part in (f"--{option}", file)
    ]
    assert main(["check", target, "--dimension", "3", *claim, *outputs]) == code
    assert all((folder / file).stat().st_size for file in files)
    assert main(["verify", "c.json", target]) == 0
    said = json.loads((folder / "c.json").read_text())["verdict"]
    assert said["decision"] == ("NO" if code else "YES")
    assert claim[0][2:] in said["claim"] or "points" in said["claim"] or "orders" in said["claim"]
