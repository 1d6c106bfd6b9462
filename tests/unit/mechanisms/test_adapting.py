"""What is taken as a mechanism without being one: functions, objects of libraries."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.mechanisms import adapting
from liptest.mechanisms.base import Mechanism, check_mechanism
from liptest.runs.extensions import find_offered
from liptest.testing import assert_private

PEOPLE = lt.Hypercube(200)


def noisy_count(data: Any, rng: Any) -> float:
    return float(data.sum() + rng.laplace(0, 1.0))


def scaled_count(scale: float, data: Any, rng: Any) -> float:
    return float(data.sum() + rng.laplace(0, scale))


class Vendor:
    scale = 1.0

    def release(self, data: Any, rng: Any) -> float:
        return float(data.sum() + rng.laplace(0, self.scale))

    def __call__(self, data: Any, rng: Any) -> float:
        return self.release(data, rng)


COUNTS: dict[str, Any] = {
    "function": noisy_count,
    "partial": partial(scaled_count, 1.0),
    "bound method": Vendor().release,
    "object to call": Vendor(),
    "lambda": lambda data, rng: float(data.sum() + rng.laplace()),
}


@pytest.mark.slow
@pytest.mark.parametrize("count", COUNTS.values(), ids=COUNTS)
def test_what_can_be_called_is_checked_as_it_is(count: Any) -> None:
    assert str(lt.check_privacy(count, PEOPLE, epsilon=1).decision) == "YES"
    assert str(lt.check_privacy(count, PEOPLE, epsilon=0.99).decision) == "NO"


@pytest.mark.slow
@pytest.mark.parametrize("count", COUNTS.values(), ids=COUNTS)
def test_every_question_takes_it(count: Any) -> None:
    assert lt.exact_epsilon(count, PEOPLE).value == pytest.approx(1.0)
    assert_private(count, lt.Hypercube(3), epsilon=1)


def test_functions_are_composed() -> None:
    def response(data: Any, rng: Any) -> int:
        return int(data[0]) ^ int(rng.random() < 0.25)

    both = lt.compose([response, response], domain=lt.Hypercube(1))
    assert both.epsilon_at(1e-12).upper == pytest.approx(2 * np.log(3), abs=1e-6)


def test_laws_of_a_plain_function() -> None:
    law = lt.output_law(lambda data, rng: bool(rng.random() < 0.25), np.array([0, 1]))
    assert dict(law) == {True: 0.25, False: 0.75}


@pytest.mark.parametrize("thing", [3, "count", None, [noisy_count]])
def test_what_is_nothing_of_the_kind_is_refused(thing: Any) -> None:
    with pytest.raises(lt.errors.InputError, match=r"mechanism=.* is not a mechanism; give a func"):
        lt.check_privacy(thing, PEOPLE, epsilon=1)


def test_a_class_is_refused() -> None:
    with pytest.raises(lt.errors.InputError, match=r"mechanism=Vendor is a class; make an object"):
        lt.check_privacy(Vendor, PEOPLE, epsilon=1)


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An installed package with a class of its own, and an adapter at the entry point."""
    (tmp_path / "otherlib.py").write_text(
        "import liptest as lt\n"
        "class Response:\n"
        "    truth = 0.75\n"
        "def adapt(value, *, domain=None):\n"
        "    if domain is not None and domain.dimension != 1:\n"
        "        raise lt.errors.InputError('domain: one record', name='domain')\n"
        "    def run(data, rng):\n"
        "        return int(data[0]) ^ int(rng.random() >= value.truth)\n"
        "    return lt.mechanism(run)\n"
    )
    information = tmp_path / "otherlib-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: otherlib\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[liptest.adapters]\notherlib = otherlib:adapt\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    find_offered.cache_clear()
    yield importlib.import_module("otherlib")
    find_offered.cache_clear()
    sys.modules.pop("otherlib")


@pytest.mark.slow
def test_another_package_offers_an_adapter(library: Any) -> None:
    one = lt.Hypercube(1)
    assert isinstance(check_mechanism(library.Response()), Mechanism)
    assert str(lt.check_privacy(library.Response(), one, epsilon=1.1).decision) == "YES"
    assert str(lt.check_privacy(library.Response(), one, epsilon=1.09).decision) == "NO"
    with pytest.raises(lt.errors.InputError, match="one record"):
        lt.check_privacy(library.Response(), PEOPLE, epsilon=1)


def test_own_adapters_are_where_they_are_said_to_be() -> None:
    for name in (*adapting._OWN.values(), adapting._OF_FUNCTIONS):
        made: Callable[..., Any] = resolve_name(name)
        assert callable(made)


@pytest.mark.slow  # its draws are compared with its law, twice
def test_a_measurement_of_opendp_is_checked_as_it_is() -> None:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    response = dp.m.make_randomized_response_bool(0.75)
    assert str(lt.check_privacy(response, lt.Hypercube(1), epsilon=1.0987).decision) == "YES"
    assert str(lt.check_privacy(response, lt.Hypercube(1), epsilon=1.098).decision) == "NO"
