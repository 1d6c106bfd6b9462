"""Draws that fail: whether they do may tell about the data, so they are written, and they count."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import GateError, InputError
from liptest.evidence.domain_form import domain_to_dict
from liptest.evidence.ledger import Ledger
from liptest.gate.decisions import Tell
from liptest.gate.noisy_sums import NoisySum, NoisySums
from liptest.gate.plain import FAILED
from liptest.gate.sealed import SealedTable
from liptest.gate.sealed_sums import SealedSums
from liptest.gate.sealing import read_sealed
from liptest.symbolic.noise import Noise

N = 6
CUBE = lt.Hypercube(N)
DATA = lt.ProductDistribution.uniform(CUBE)
ONE = Fraction(1)


def count(data: Any, rng: Any) -> int:
    return int(data[0]) ^ (rng.random() < 0.3)


def fail(*_: Any) -> str:
    raise MemoryError("6 of 6 records are 1")


def sums(**changed: Any) -> dict[str, Any]:
    """A noisy sum of bits as plain values."""
    one = {"added": [[1, "1", "1"]], "offset": ["0", "1"], "noises": [[0, "1", "1"]]}
    plain = {"sealed": "sums", "version": 1, "domain": domain_to_dict(CUBE), "step": ["1", "1"]}
    more = {"noises": [["laplace", "1", "1"]], "sums": [one], "shape": '{"place":0}'}
    return {**plain, **more, **changed}


def test_a_draw_that_fails_is_a_release(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(tmp_path / "l.db")
    gate = lt.PrivacyGate(
        lt.mechanism(count), DATA, epsilon=1.0, releases=2, ledger=ledger, private_table="t"
    )
    assert gate.certificate.decision == "YES"
    with monkeypatch.context() as patch:
        patch.setattr(SealedTable, "draw", fail)
        with pytest.raises(GateError, match="the reason is withheld") as caught:
            gate.release([1] * N, key="monday")
    assert "6 of 6" not in str(caught.value)
    assert caught.value.__context__ is None
    assert [one.used for one in ledger.attempts()] == [1]
    assert ledger.released("t", "monday") == FAILED
    with pytest.raises(GateError, match="the reason is withheld"):
        gate.release([1] * N, key="monday")  # a retry asks no second time
    assert [one.used for one in ledger.attempts()] == [1]
    assert gate.releases_left == 1


@pytest.mark.slow
def test_the_length_of_a_number_decides_nothing(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long list of one number: with many digits it is beyond what is sealed, and is told."""
    monkeypatch.setattr("liptest.gate.plain.LONGEST", 2_000)

    def vendor(data: Any, rng: Any) -> Any:
        noisy = data.sum() * 10**12 + rng.laplace(0, 10**12)
        return [noisy] * 150

    ledger = Ledger(tmp_path / "l.db")
    gate = lt.PrivacyGate(
        *(lt.mechanism(vendor), DATA), epsilon=1.0, grid_step=1, ledger=ledger, private_table="t"
    )
    output = gate.release([1] * N).output
    assert len(output) == 150
    assert len(set(output)) == 1
    assert [one.used for one in ledger.attempts()] == [1]


@pytest.mark.parametrize(
    "changed",
    [
        {"step": Fraction(1, 1 << 401)},
        {"noises": (Noise("laplace", Fraction(1 << 401)),)},
        {"sums": (NoisySum(((1, ONE * (1 << 401)),), Fraction(0), ((0, ONE),)),)},
        {"sums": (NoisySum(((1, ONE),), Fraction(1 << 401), ((0, ONE),)),)},
    ],
)
def test_numbers_beyond_floats_are_not_sealed(changed: dict[str, Any]) -> None:
    plain: dict[str, Any] = {
        "step": ONE,
        "noises": (Noise("laplace", ONE),),
        "sums": (NoisySum(((1, ONE),), Fraction(0), ((0, ONE),)),),
    }

    def make(step: Fraction, noises: Any, sums: Any) -> SealedSums:
        return SealedSums(NoisySums(CUBE, noises, sums), step, (Tell('{"place":0}'),))

    make(**plain)
    with pytest.raises(GateError, match="hexadecimal digits"):
        make(**{**plain, **changed})


def test_the_largest_numbers_are_drawn() -> None:
    """At the ends of what is sealed no draw fails, on the datasets with the most ones and none."""
    most, least = "f" * 100, "1" + "0" * 99
    for shares in ([most, "1"], ["1", least]):
        one = {"added": [[1, *shares]], "offset": shares, "noises": [[0, *shares]]}
        sealed = read_sealed(sums(sums=[one], noises=[["laplace", *shares]]), "x", CUBE)
        for dataset in (np.zeros(N, dtype=np.int64), np.ones(N, dtype=np.int64)):
            assert sealed.draw(dataset, random.Random(3).randrange)


@pytest.mark.parametrize(
    "changed",
    [
        {"step": ["1", "0"]},
        {"noises": [["laplace", "1", "0"]]},
        {"noises": [["laplace", "-1", "1"]]},
        {"sealed": "noise", "statistic": None, "noise": ["laplace", "1", "0"], "vector": False},
        {"shape": "[" + ",".join(['{"place":0}'] * 90_000) + "]"},
    ],
)
def test_what_an_analysis_makes_up_is_refused(changed: dict[str, Any]) -> None:
    assert read_sealed(sums(), "x", CUBE).draw(
        np.zeros(N, dtype=np.int64), random.Random(3).randrange
    )
    with pytest.raises(InputError, match="is not what liptest seals"):
        read_sealed(sums(**changed), "x", CUBE)
