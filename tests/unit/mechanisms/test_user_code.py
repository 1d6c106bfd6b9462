"""What a user's function raises is a broken mechanism, never a verdict and never a traceback."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import MechanismError, call_user_code
from liptest.mechanisms.declared import ExactForm

CUBE = lt.Hypercube(3)
LONG = "x" * 500


def broken(*_: Any) -> Any:
    raise ValueError("no such thing " + LONG)


def coin(values: np.ndarray) -> np.ndarray:
    return np.log(np.full((len(values), 2), 0.5))


def count(points: np.ndarray) -> np.ndarray:
    return points.sum(axis=1)


class BrokenStatistic(type(lt.Count())):
    changed_values = broken


class BrokenNoise(type(lt.DiscreteLaplace(1))):
    loss = broken


CASES = {
    "log_pmf": lt.ClosedForm("ab", broken),
    "log_pmf of a statistic": lt.StatisticMechanism(lt.Count(), "ab", broken),
    "pmf": ExactForm(("a", "b"), broken),
    "compute": lt.StatisticMechanism(lt.statistics.UserStatistic(broken), "ab", coin),
    "compute of a shift": lt.ShiftMechanism(
        lt.statistics.UserStatistic(broken), lt.DiscreteLaplace(1)
    ),
    "edge_pairs": lt.StatisticMechanism(lt.statistics.UserStatistic(count, broken), "ab", coin),
    "changed_values": lt.StatisticMechanism(BrokenStatistic(), "ab", coin),
    "loss": lt.ShiftMechanism(lt.Count(), BrokenNoise(1)),
}


# A proof through proved edges never asks for changed values, and sampling never asks for edges.
ASKED = [
    (name, method)
    for name in CASES
    for method in ("auto", "neighbourhoods")
    if (name, method) not in {("changed_values", "auto"), ("edge_pairs", "neighbourhoods")}
]


@pytest.mark.parametrize(("name", "method"), ASKED)
def test_what_a_users_function_raises_ends_as_mechanism_error(name: str, method: str) -> None:
    with pytest.raises(MechanismError, match="ValueError: 'no such thing xxx") as caught:
        lt.check_privacy(
            CASES[name], lt.ProductDistribution.uniform(CUBE), epsilon=1.0, method=method, seed=1
        )
    assert len(str(caught.value)) < 400
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize("mechanism", [CASES[k] for k in ("log_pmf", "pmf", "compute")])
def test_so_does_one_law(mechanism: Any) -> None:
    with pytest.raises(MechanismError, match="ValueError"):
        lt.output_law(mechanism, [0, 1, 0])


@pytest.mark.parametrize("raised", [KeyboardInterrupt, GeneratorExit])
def test_an_interrupt_passes(raised: type[BaseException]) -> None:
    def interrupted() -> None:
        raise raised

    with pytest.raises(raised):
        call_user_code("name", "f", interrupted)


def test_an_exit_is_a_broken_mechanism() -> None:
    def leaves() -> None:
        raise SystemExit(3)

    with pytest.raises(MechanismError, match="name: f raised SystemExit: '3'"):
        call_user_code("name", "f", leaves)


def test_own_errors_pass_as_they_are() -> None:
    def wrong() -> None:
        raise lt.errors.InputError("shape", name="shape")

    with pytest.raises(lt.errors.InputError, match=r"^shape$"):
        call_user_code("name", "f", wrong)


def test_a_message_that_cannot_be_printed() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def mute() -> None:
        raise Mute

    with pytest.raises(MechanismError, match=r"Mute: \(its message cannot be printed"):
        call_user_code("name", "f", mute)
