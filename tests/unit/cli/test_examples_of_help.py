"""Every example that the help of a command shows runs as it is printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import liptest.cli
from liptest.cli import main

ROOM = Path(liptest.cli.__file__).parent
# They need a server, another library, minutes, or write to a place of the user's own.
ELSEWHERE = ("completion", "serve", "demo", "doctor", "audit", "paper")
EXAMPLES = [
    " ".join(found.split())
    for file in sorted(ROOM.glob("*.py"))
    for found in re.findall(
        r"Example: (liptest .+?)\n(?:\s*\n|\s*\"\"\")", file.read_text("utf-8"), re.DOTALL
    )
]
HERE = [one for one in EXAMPLES if one.split()[1] not in ELSEWHERE]
VENDOR = """
import numpy as np

def count(data, rng):
    return int(data[:1].sum()) ^ int(rng.random() < 0.3)

def draw(dataset, n, rng):
    return int(dataset.sum()) + rng.geometric(0.7, n) - rng.geometric(0.7, n)

def mean(data, rng):
    return data.sum() / 5000 + rng.laplace(0, 120 / 5000)

def report(people, rng):
    north = people[people["region"] == "north"]
    return float(north["age"].sum() + rng.laplace(0, 120))
"""
MINE = """
def count(data, rng):
    return float(data.sum() + rng.laplace(0, 1.0))

def groups(people, rng):
    counts = people.groupby("region").size().reindex(["north", "south"], fill_value=0)
    return counts + rng.laplace(0, 2.0, size=2)
"""
CONFIG = """
[domain]
records = 5000

[[check]]
mechanism = "mine.py:count"
epsilon = 1
"""
NOISER = """#!/bin/sh
# Randomised response of the first bit, the dataset on standard input: --n N --seed S
read dataset
echo "$dataset" | awk -v n="$2" -v seed="$4" 'BEGIN { srand(seed % 1000000007) } {
  x = substr($0, 2, 1); for (k = 0; k < n; k++) print (rand() < 0.9 ? x : 1 - x) }'
"""
QUERY = """
def mean(points):
    return points.mean(axis=1)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    (folder / "vendor.py").write_text(VENDOR)
    (folder / "mine.py").write_text(MINE)
    (folder / "query.py").write_text(QUERY)
    (folder / "noiser").write_text(NOISER)
    (folder / "noiser").chmod(0o755)
    key = Ed25519PrivateKey.generate()
    pem = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    (folder / "private.pem").write_bytes(key.private_bytes(*pem, serialization.NoEncryption()))
    (folder / "private.csv").write_text("click\n0\n1\n1\n")
    ages = "".join(f"{k % 121}\n" for k in range(5000))
    (folder / "ages.csv").write_text(f"age\n{ages}")
    people = "".join(f"{k % 121},{'north' if k % 3 else 'south'}\n" for k in range(5000))
    (folder / "people.csv").write_text(f"age,region\n{people}")
    np.save(folder / "public.npy", np.zeros((4, 3), dtype=np.int8))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        check = "check vendor.py:count --epsilon 1 --dimension 20 --probabilities 0.1"
        main([*shlex.split(check), "--json", "vendor.json"])
        main([*shlex.split(check), "--ledger", "ledger.db", "--vendor", "acme"])
    return folder


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 15
    assert len(HERE) >= 12


@pytest.mark.slow
@pytest.mark.parametrize("example", HERE, ids=lambda example: "-".join(example.split()[1:3]))
def test_an_example_runs_as_printed(
    example: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    if "--config" in example:
        (folder / "liptest.toml").write_text(CONFIG)
    else:
        (folder / "liptest.toml").unlink(missing_ok=True)
    capsys.readouterr()
    code = main(shlex.split(example)[1:])
    out, err = capsys.readouterr()
    assert code in (0, 1, 3), f"{out}{err}"
    assert "error:" not in err
