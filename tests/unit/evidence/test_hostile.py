"""Certificates that somebody wrote to hurt: an answer in a line, never a traceback or an hour."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import liptest as lt
from liptest.cli import main
from liptest.evidence import check_witness
from liptest.evidence.certificate import certify, document_digest
from liptest.runs.fingerprints import fingerprint

LAW = lt.ProductDistribution.uniform(lt.Hypercube(1))


def _honest(delta: float = 0.0) -> dict[str, Any]:
    mechanism = lt.mechanism(lambda data, rng: int(data[0] ^ (rng.random() < 0.25)))
    verdict = lt.check_privacy(mechanism, LAW, epsilon=0.5, delta=delta)
    return certify(verdict, fingerprint(mechanism), LAW, own_seed=True).to_dict()


def _with(path: str, value: Any, delta: float = 0.0) -> str:
    document = _honest(delta)
    *where, last = path.split(".")
    inner: Any = document
    for key in where:
        inner = inner[key]
    inner[last] = value
    document["digest"] = document_digest(document)
    return json.dumps(document)


def _many_bounds() -> str:
    """300 fractions of 4,000 digits that have nothing in common."""
    document = json.loads(_with("digest", "", 0.01))
    rows = []
    for k in range(300):
        fraction = f"{10**3996 + 2 * k + 1}/{10**3999 + 6 * k + 7}"
        rows.append([fraction] * 4)
    document["verdict"]["witness"] |= {"event": list(range(300)), "bounds": rows}
    document["digest"] = document_digest(document)
    return json.dumps(document)


def _nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = {"tuple": [value]}
    return value


#: What is written, made when a test asks for it.
HOSTILE: dict[str, Callable[[], str]] = {
    "empty list": lambda: "[]",
    "empty object": lambda: "{}",
    "nothing": lambda: "",
    "a number": lambda: "1",
    "deep lists": lambda: "[" * 200_000,
    "deep objects": lambda: '{"a":' * 50_000,
    "deep but closed": lambda: "[" * 900 + "]" * 900,
    "dimension of 4e8": lambda: _with("domain.dimension", 400_000_000),
    "grid of 4e8": lambda: _with(
        "domain", {"kind": "grid", "dimension": 400_000_000, "sizes": 2, "neighbours": "x"}
    ),
    "dimension of 4,000 digits": lambda: _with("domain.dimension", 10**3999),
    "300 bounds of 4,000 digits": lambda: _many_bounds(),
    "tiny bounds": lambda: _with("verdict.witness.bounds", [["1e-99999"] * 4] * 300),
    "deep output": lambda: _with("verdict.witness.event", [_nested(90)]),
    "deeper output": lambda: _with("verdict.witness.event", [_nested(400)]),
    "half a character": lambda: _with("verdict.mechanism", "\ud800"),
    "half a character in a key": lambda: json.dumps({**_honest(), "\ud800": 1}),
    "epsilon of 1e308": lambda: _with("verdict.claim.epsilon", 1e308),
    "epsilon of 4,000 digits": lambda: _with("verdict.claim.epsilon", f"log({10**3999})"),
    "an endless number": lambda: _with("verdict.largest_loss", 10**400),
    "a huge seed": lambda: _with("verdict.seed", 10**4000),
    "no number": lambda: _with("verdict.largest_loss", "nan"),
    "line ends": lambda: _with("verdict.mechanism", "x\nHOLDS"),
    "a list of lists": lambda: "[[]]",
    "datasets of 50,000 records in a domain of 3": lambda: _with(
        "verdict.witness.dataset", [0] * 50_000
    ),
    "two of them, one of which is nothing": lambda: f"[{json.dumps(_honest())}, {{}}]",
}


@pytest.fixture
def file(tmp_path):
    def write(text: str) -> str:
        (tmp_path / "c.json").write_text(text, encoding="utf-8", errors="surrogatepass")
        return str(tmp_path / "c.json")

    return write


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_verify_answers(name, file, capsys):
    assert main(["verify", file(HOSTILE[name]())]) in (1, 2, 3)
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    assert "internal error" not in err
    assert out.strip() or err.startswith("error: ")
    assert "\nHOLDS" not in out
    assert max(map(len, (out + err).splitlines())) < 2000


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_the_checker_of_witnesses_answers(name, file, capsys):
    expected = (
        (0,)
        if name in ("a huge seed", "line ends", "an endless number", "no number")
        else (1, 2, 3)
    )
    assert check_witness.check_files([file(HOSTILE[name]())]) in expected
    out, err = capsys.readouterr()
    assert out or err.startswith("error: ")
    assert max(map(len, (out + err).splitlines())) < 2000


@pytest.mark.slow
def test_sums_of_unlike_fractions_are_enclosed():
    values = [Fraction(10**3000 + k, 10**3010 + 7 * k + 1) for k in range(1, 60)]
    low, high = check_witness._sum_bounds(values)
    exact = sum(values)
    assert low <= exact <= high
    assert high - low < exact / 2**4000
    few = values[:3]
    assert check_witness._sum_bounds(few) == (sum(few), sum(few))


@pytest.mark.slow
def test_sums_of_tiny_fractions_are_enclosed():
    values = [Fraction(1, 10**20000 + k) for k in range(1, 9)] + [Fraction(1, 3**30000)]
    low, high = check_witness._sum_bounds(values)
    assert 0 < low <= sum(values) <= high < low * 2


@pytest.mark.skipif(sys.version_info < (3, 11), reason="digits are bounded from 3.11 on")
def test_numbers_of_too_many_digits_are_no_json():
    with pytest.raises(check_witness.Unreadable, match="not JSON"):
        check_witness.strict_json("9" * 5000)
