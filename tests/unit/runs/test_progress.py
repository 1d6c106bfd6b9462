"""A plain bar for terminals and notebooks."""

from __future__ import annotations

import io
import re

import pytest

import liptest as lt
from liptest.runs.progress import PlainBar, check_progress

LAW = lt.ProductDistribution.uniform(lt.Hypercube(3))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_bar_is_written_over_and_goes() -> None:
    stream, clock = io.StringIO(), Clock()
    bar = PlainBar(stream, clock=clock, is_shown=True)
    for done in range(0, 1001, 10):
        bar(done, 1000)
        clock.now += 0.1
    said = stream.getvalue()
    assert "\n" not in said
    lines = [line for line in said.split("\r") if line.strip()]
    assert lines[0] == f"[{' ' * 20}] 0 of 1,000"
    told = r"\[(#*) *\] (\d+) of 1,000, 100 a second, about \d s left"
    found = [match for line in lines if (match := re.fullmatch(told, line.rstrip()))]
    assert 20 <= len(found) <= 50
    assert all(len(match[1]) == int(match[2]) // 50 for match in found)
    # The last one is erased.
    assert said.endswith(f"\r{' ' * len(lines[-1].rstrip())}\r")


def test_elsewhere_a_line_every_ten_seconds() -> None:
    stream, clock = io.StringIO(), Clock()
    bar = PlainBar(stream, clock=clock, is_shown=False)
    for done in range(25):
        bar(done, 1000)
        clock.now += 1
    assert stream.getvalue().splitlines() == [
        "liptest: 10 of 1,000, 1 a second, about 16 min left",
        "liptest: 20 of 1,000, 1 a second, about 16 min left",
    ]


def test_what_may_be_given() -> None:
    assert check_progress(None) is None
    assert check_progress(False) is None
    assert isinstance(check_progress(True), PlainBar)
    assert check_progress(print) is print
    with pytest.raises(lt.errors.InputError, match=r"progress='bar' must be True"):
        check_progress("bar")


def flip(data, rng):
    return int(data[0]) ^ int(rng.random() < 0.25)


@pytest.mark.slow
def test_every_check_takes_it(capsys: pytest.CaptureFixture[str]) -> None:
    task = {"proximity": 0.1, "failure_probability": 0.01, "progress": True}
    assert lt.check_lipschitz(lambda x: 0.0 * x[:, 0], LAW, **task).decision == "ACCEPT"
    options = {"epsilon": 1.2, "progress": True, "seed": 1}
    sampled = lt.check_privacy(flip, LAW, method="neighbourhoods", exception_mass=0.1, **options)
    assert sampled.decision == "YES"
    sampler = lt.Sampler(lambda data, n, rng: data[0] ^ (rng.random(n) < 0.25))
    assert lt.check_samples(sampler, LAW, samples=2000, **options).decision != "NO"
    assert lt.privacy_profile(flip, LAW, epsilons=[1.0], progress=True).points
    assert capsys.readouterr().out == ""
