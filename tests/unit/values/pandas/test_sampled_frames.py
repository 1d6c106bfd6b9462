"""Random samples of the rows of a frame: proved with the loss of a sampled row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.verdicts import Decision
from tests.shares import mostly_slow
from tests.unit.written_programs import program

SHARE = 0.1
LOSS = math.log(1 + SHARE * (math.e - 1))
ROWS = 200
MASK = "mask = rng.random(len(data)) < 0.1\n"
END = "\nreturn total + rng.laplace(0, 1)"

#: Samples of rows, each with one answer that a sampled row changes by at most 1.
SAMPLES = {
    "rows by bits": f'{MASK}total = data[mask]["member"].sum(){END}',
    "entries by bits": f'{MASK}total = data["member"][mask].sum(){END}',
    "rows at places": f'{MASK}total = data.iloc[np.flatnonzero(mask)]["member"].sum(){END}',
    "rows in an order": (
        f'order = rng.permutation(len(data))\ntotal = data.iloc[order[:20]]["member"].sum(){END}'
    ),
    "a share": f'total = data.sample(frac=0.1)["member"].sum(){END}',
    "a number": f'total = data.sample(n=20)["member"].sum(){END}',
    "a generator": f'total = data.sample(n=20, random_state=rng)["member"].sum(){END}',
    "entries": f'total = data["member"].sample(n=20).sum(){END}',
    "a condition": f'{MASK}rows = data[mask]\ntotal = (rows["age"] > 50).sum(){END}',
    "chosen of them": f'{MASK}rows = data[mask]\ntotal = len(rows[rows["age"] > 50]){END}',
}
#: Samples with another share, or of rows that may come twice.
OTHERS = {
    "more rows": f'total = data.sample(n=40)["member"].sum(){END}',
    "rows twice": f'total = data.sample(n=20, replace=True)["member"].sum(){END}',
    "weights": f'total = data.sample(n=20, weights="age")["member"].sum(){END}',
    "a seed": f'total = data.sample(n=20, random_state=7)["member"].sum(){END}',
    "the first": f'total = data.head(20)["member"].sum(){END}',
    "two samples": (
        f'total = data.sample(n=20)["member"].sum() + data.sample(n=20)["member"].sum(){END}'
    ),
    "a sample and all": f'{MASK}total = data[mask]["member"].sum() + data["member"].sum(){END}',
}
CLAIM: Any = {"epsilon": LOSS * (1 + 1e-9), "floats": "ideal", "seed": 1}


def people(rows: int = ROWS, **options: Any) -> lt.Table:
    return lt.Table({"age": lt.Integer(0, 99), "member": lt.Bit()}, rows=rows, **options)


@pytest.mark.parametrize("name", mostly_slow(SAMPLES, 4))
def test_the_loss_of_a_sample_is_proved(name: str) -> None:
    verdict = lt.check_privacy(program(SAMPLES[name]), people(), **CLAIM, method="alignment")
    assert (verdict.decision, verdict.guarantee.kind) == (Decision.YES, "proof")


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_other_samples_are_not_proved(name: str) -> None:
    verdict = lt.check_privacy(program(OTHERS[name]), people(), **CLAIM, method="alignment")
    assert verdict.decision is not Decision.YES


def test_a_private_number_of_rows_has_no_share() -> None:
    """Where rows come and go, how many there are is private: pandas would say it."""
    private = people(20, relation="add_remove")
    number = program(SAMPLES["a number"])
    verdict = lt.check_privacy(number, private, **CLAIM, method="alignment")
    assert verdict.decision is not Decision.YES


def test_a_sample_is_what_pandas_draws() -> None:
    """``sample`` draws as ``choice`` does: the same rows with the same generator."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": range(50)})
    places = np.random.default_rng(3).choice(50, size=5, replace=False)
    rows = frame.sample(n=5, random_state=np.random.default_rng(3))
    assert rows["a"].tolist() == places.tolist()
    assert len(frame.sample(frac=0.13)) == round(0.13 * 50)
