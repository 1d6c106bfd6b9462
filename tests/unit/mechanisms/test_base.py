"""What a class of somebody else must say to be a mechanism, and what it need not say."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.data.domains import IntArray
from liptest.data.points import PointBatch
from liptest.mechanisms.base import Mechanism, check_mechanism
from liptest.mechanisms.laws import LawTable, OutputLaw
from liptest.privacy.noiseless import noiseless_privacy

LAW = lt.ProductDistribution.bernoulli([0.3, 0.5, 0.9])
METHODS = ["auto", "exhaustive", "neighbourhoods", "light-neighbourhoods", "edges", "search"]


class Flips:
    """Tells the first bit, or its opposite with probability ``lie``."""

    name, outputs, source, statistic = "flips", (0, 1), "declared", None

    def __init__(self, lie: float) -> None:
        self.lie = lie

    def points_per_slice(self, domain: lt.Hypercube) -> int:
        return 7

    def laws(self, points: PointBatch) -> LawTable:
        bits = points.array()[:, 0]
        logs = np.log(np.stack([1 - bits, bits], axis=1) * (1 - 2 * self.lie) + self.lie)
        return LawTable((0, 1), logs, None, np.full(len(bits), 1e-15))

    def law(self, dataset: IntArray) -> OutputLaw:
        lie, bit = Fraction(self.lie), int(dataset[0])
        return OutputLaw.from_fractions({bit: 1 - lie, 1 - bit: lie}, source=self.source)


class Least(lt.Mechanism):
    """Name, outputs, law and laws, and nothing else."""

    name, outputs = "least", (0, 1)

    def __init__(self, lie: float) -> None:
        self.flips = Flips(lie)

    def laws(self, points: PointBatch) -> LawTable:
        return self.flips.laws(points)

    def law(self, dataset: IntArray) -> OutputLaw:
        return self.flips.law(dataset)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lie", [0.25, 0.125])
def test_law_and_laws_make_a_mechanism(method: str, lie: float) -> None:
    options: dict[str, Any] = {"epsilon": lt.log(3), "method": method, "exception_mass": 0.1}
    verdict = lt.check_privacy(Least(lie), LAW, seed=1, **options)
    assert verdict.decision == ("YES" if lie == 0.25 else "NO")
    if verdict.witness is not None:
        assert verdict.witness.verify(Least(lie))
        assert verdict.witness.trace is None


def test_it_is_asked_for_in_all_other_ways() -> None:
    mechanism, cube = Least(0.25), LAW.domain
    assert lt.exact_epsilon(mechanism, cube).value == pytest.approx(np.log(3))
    assert lt.exact_loss(mechanism, [([0, 1, 1], [1, 1, 1])]).value == pytest.approx(np.log(3))
    assert lt.output_law(mechanism, [1, 0, 0])[1] == 0.75
    assert noiseless_privacy(mechanism, LAW, epsilon=1.0).delta_upper > 0
    assert lt.privacy_profile(mechanism, LAW, exception_mass=0.1, seed=1)
    assert lt.exception_mass(mechanism, LAW, epsilon=1.0).upper > 0
    gate = lt.PrivacyGate(mechanism, LAW, epsilon=lt.log(3))
    assert gate.release([0, 1, 1]).output in (0, 1)


def test_what_it_does_not_say_has_an_answer() -> None:
    mechanism, dataset = Least(0.25), np.zeros(3, dtype=np.int64)
    assert (mechanism.source, mechanism.law_source) == ("declared", "declared")
    assert mechanism.statistic is mechanism.first_exception is None
    assert mechanism.narrowed(LAW.domain) is mechanism.densities() is None
    assert not mechanism.reads_only
    assert not mechanism.has_trace
    assert mechanism.trace(dataset, 0) is None
    assert dict(mechanism.fresh_law(dataset)) == dict(mechanism.law(dataset))
    assert mechanism.afresh() is mechanism


def test_a_class_without_laws_is_none() -> None:
    with pytest.raises(TypeError, match="abstract"):
        type("Half", (Mechanism,), {"law": Least.law})()


def test_a_statistic_needs_laws_of_its_values() -> None:
    class Seen(Least):
        statistic = lt.Count()

    with pytest.raises(lt.errors.InputError, match=r"no laws_of\(values\); define it"):
        lt.check_privacy(Seen(0.25), LAW, epsilon=2.0, method="exhaustive")


def test_what_laws_gives_must_be_a_table_of_laws() -> None:
    class Listing(Least):
        def laws(self, points: PointBatch) -> Any:
            return [self.law(point) for point in points.array()]

    for method in ("exhaustive", "neighbourhoods"):
        with pytest.raises(lt.errors.LawError, match=r"laws gave .*; return a LawTable"):
            lt.check_privacy(Listing(0.25), LAW, epsilon=1.0, method=method)


def test_an_object_with_its_methods_is_taken_for_one_more_version() -> None:
    with pytest.warns(DeprecationWarning, match=r"Flips should be a subclass of lt\.Mechanism"):
        taken = check_mechanism(Flips(0.25))
    assert (taken.name, taken.outputs, taken.source) == ("flips", (0, 1), "declared")
    assert taken.points_per_slice(LAW.domain) == 7
    assert (taken.law_source, taken.reads_only, taken.first_exception) == ("declared", False, None)
    assert check_mechanism(taken) is taken
    assert lt.exact_epsilon(taken, LAW.domain).value == pytest.approx(np.log(3))
    assert lt.output_law(pickle.loads(pickle.dumps(taken)), [1, 0, 0])[1] == 0.75
    with pytest.warns(DeprecationWarning, match="Flips"):
        verdict = lt.check_privacy(Flips(0.125), LAW, epsilon=1.0)
    assert verdict.witness is not None
    with pytest.warns(DeprecationWarning, match="Flips"):
        assert verdict.witness.verify(Flips(0.125))


def test_an_object_that_lacks_one_is_told_how() -> None:
    class Half:
        name, outputs, source, statistic = "half", (0, 1), "declared", None
        laws = Flips.laws

    with pytest.raises(lt.errors.InputError, match="Flips is a class; make an object of it"):
        check_mechanism(Flips)
    for wrong in (Half(), 3, None):
        with pytest.raises(
            lt.errors.InputError, match=r"is not a mechanism; .* subclass lt\.Mechanism"
        ):
            check_mechanism(wrong)
