"""Ways to a false YES or an untested release that were found once and must stay shut."""

from __future__ import annotations

import numpy as np
import pytest

import liptest as lt
from liptest.gate.gate import Released
from liptest.runs.fingerprints import distribution_hash
from liptest.verdicts import Decision

LAW = lt.ProductDistribution.uniform(lt.Hypercube(3))


@pytest.mark.parametrize("high", [2**63 - 1, 2**62, 2**61])
def test_a_statistic_whose_differences_wrap_gets_no_verdict(high):
    leak = lt.statistics.UserStatistic(lambda x: np.where(x[:, 0] == 1, high, -high), name="leak")
    mechanism = lt.ShiftMechanism(leak, lt.DiscreteLaplace(1))
    with pytest.raises(lt.errors.InputError, match="2\\*\\*61"):
        lt.check_privacy(mechanism, LAW, epsilon=1.0, method="neighbourhoods", seed=1)


def test_a_large_statistic_that_fits_is_a_no():
    leak = lt.statistics.UserStatistic(
        lambda x: np.where(x[:, 0] == 1, 2**60, -(2**60)), name="leak"
    )
    mechanism = lt.ShiftMechanism(leak, lt.DiscreteLaplace(1))
    verdict = lt.check_privacy(mechanism, LAW, epsilon=1.0, method="neighbourhoods", seed=1)
    assert verdict.decision is Decision.NO


class NoNoise(lt.DiscreteLaplace):
    def draw(self, randbelow):
        return 0


class Silent(lt.ShiftMechanism):
    def draw(self, dataset, randbelow):
        return int(np.sum(dataset))


@pytest.mark.parametrize(
    "mechanism",
    [
        lt.ShiftMechanism(lt.Count(), NoNoise(1)),
        Silent(lt.Count(), lt.DiscreteLaplace(1)),
    ],
)
def test_noise_that_draws_otherwise_than_its_law_is_not_released(mechanism):
    with pytest.raises(lt.errors.InputError, match="only noise of this package is drawn"):
        lt.PrivacyGate(mechanism, LAW, epsilon=1.0)
    gate = lt.PrivacyGate(mechanism, LAW, epsilon=1.0, trust_code=True)
    assert gate.certificate.decision is Decision.YES
    with pytest.raises(lt.errors.GateError):
        gate.release([1, 1, 0])


def test_the_noise_of_the_package_is_released():
    gate = lt.PrivacyGate(lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1)), LAW, epsilon=1.0)
    assert isinstance(gate.release([1, 1, 0]), Released)


def test_domains_that_print_alike_have_different_hashes():
    sizes = [[2] * 60 + [1, 2], [2] * 60 + [2, 1]]
    domains = [lt.RecordGrid(one) for one in sizes]
    assert repr(domains[0]) == repr(domains[1])
    laws = [lt.SampledDistribution(one, np.zeros) for one in domains]
    assert distribution_hash(laws[0]) != distribution_hash(laws[1])
