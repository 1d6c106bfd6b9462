"""The options of a check: one object, validated once, the same whoever is asked."""

import dataclasses
import inspect

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.check import check_with_settings
from liptest.privacy.settings import CheckSettings
from liptest.testing.pytest_plugin import assert_private

LAW = lt.ProductDistribution.bernoulli([0.2] * 6)
NOISY = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1))


@pytest.mark.parametrize("function", [lt.check_privacy, assert_private, lt.PrivacyGate])
def test_who_takes_options_takes_them_all_with_the_same_defaults(function):
    own = inspect.signature(function).parameters
    fields = {item.name: item for item in dataclasses.fields(CheckSettings)}
    if function is lt.PrivacyGate:
        del fields["checkpoint"]  # a gate tests once, in one go
    assert set(fields) <= set(own)
    for name, item in fields.items():
        assert own[name].kind is inspect.Parameter.KEYWORD_ONLY
        default = inspect.Parameter.empty if item.default is dataclasses.MISSING else item.default
        assert own[name].default == default


def test_values_are_normalised():
    settings = CheckSettings(epsilon="log(3)", budget=np.int64(10), seed=3)
    assert settings.claim.epsilon == settings.epsilon == lt.log(3)
    assert settings.budget == 10
    assert type(settings.budget) is int
    assert dataclasses.replace(settings, epsilon=2).claim.epsilon == 2.0


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"tolerance": -1}, "tolerance"),
        ({"exception_mass": 0.0}, "exception_mass"),
        ({"failure_probability": 1.0}, "failure_probability"),
        ({"method": "guess"}, "method"),
        ({"method": lt.testers.VarianceEdges}, "method"),
        ({"budget": 0}, "budget"),
        ({"search_laws": -1}, "search_laws"),
        ({"seed": -1}, "seed"),
        ({"max_seconds": 0}, "max_seconds"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(options, name):
    with pytest.raises(lt.errors.InputError, match=name) as refused:
        CheckSettings(**{"epsilon": 1.0, **options})
    assert refused.value.name == name
    for ask in (lt.check_privacy, assert_private, lt.PrivacyGate):
        with pytest.raises(lt.errors.InputError, match=name):
            ask(NOISY, LAW, **{"epsilon": 1.0, **options})


def test_the_object_asks_the_same_as_the_arguments():
    options = {"epsilon": 1.0, "method": "light-neighbourhoods", "exception_mass": 0.1, "seed": 5}
    one = lt.check_privacy(NOISY, LAW, **options)
    other = check_with_settings(NOISY, LAW, CheckSettings(**options))
    alike = [dataclasses.replace(each.cost, seconds=0.0) for each in (one, other)]
    assert alike[0] == alike[1]
    assert (one.decision, one.largest_loss, one.seed) == (
        other.decision,
        other.largest_loss,
        other.seed,
    )
    assert CheckSettings(**CheckSettings(**options).arguments()) == CheckSettings(**options)


def test_a_gate_knows_no_black_box():
    with pytest.raises(lt.errors.InputError, match="black-box"):
        lt.PrivacyGate(NOISY, LAW, epsilon=1.0, method="black-box")
