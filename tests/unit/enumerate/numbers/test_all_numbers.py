"""Whole numbers with noise without an end as outputs, compared over all of them (T6 to T8)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import arb

import liptest as lt
from liptest.balls import precision
from liptest.data.points import PointBatch
from liptest.enumerate.numbers.whole_numbers import WholeFunction
from liptest.enumerate.numbers.whole_outputs import WholeTree
from liptest.mechanisms.laws import OutputLaw
from liptest.values.draws.noise_run import NoiseRun

SMALL = lt.Hypercube(3)
LOW, HIGH = np.zeros(3, dtype=np.int64), np.array([1, 0, 0])
LN2 = math.log(2)
Program = Callable[[Any, Any], Any]


def two_geometrics(x: Any, rng: Any) -> Any:
    return int(x.sum()) + rng.geometric(0.5) - rng.geometric(0.5)


def without_negatives(x: Any, rng: Any) -> Any:
    return max(0, int(x.sum()) + rng.geometric(0.5) - rng.geometric(0.5))


def above_a_threshold(x: Any, rng: Any) -> Any:
    z = int(x.sum()) + rng.geometric(0.5) - rng.geometric(0.5)
    return z if z > 1 else None


def sometimes_of_nothing(x: Any, rng: Any) -> Any:
    count = int(x.sum()) if rng.integers(2) else 0
    return count + rng.geometric(0.5) - rng.geometric(0.5)


def asked_again(x: Any, rng: Any) -> Any:
    count = int(x.sum())
    if count + rng.geometric(0.5) - rng.geometric(0.5) > 2:
        return "many", count + rng.geometric(0.5) - rng.geometric(0.5)
    return "few", 0


def two_places(x: Any, rng: Any) -> Any:
    return [int(one) + rng.geometric(0.5) - rng.geometric(0.5) for one in x[:2]]


def in_a_dict(x: Any, rng: Any) -> Any:
    numbers = two_places(x, rng)
    return {"clicks": numbers[0], "views": [numbers[1], "views"]}


def three_added(x: Any, rng: Any) -> Any:
    up = rng.geometric(0.5) + rng.geometric(0.5) + rng.geometric(0.5)
    return int(x.sum()) + up - rng.geometric(0.5) - rng.geometric(0.5) - rng.geometric(0.5)


def negated(x: Any, rng: Any) -> Any:
    return 7 - 1 * (int(x.sum()) + rng.geometric(0.5) - rng.geometric(0.5))


def gap_above(x: Any, rng: Any) -> Any:
    gap = int(x.sum()) + rng.geometric(0.5) - rng.geometric(0.5) - 1
    return (True, gap) if gap >= 0 else (False, 0)


PURE: list[tuple[Program, float]] = [
    (two_geometrics, LN2),
    (without_negatives, LN2),
    (above_a_threshold, LN2),
    (sometimes_of_nothing, LN2),
    (asked_again, 2 * LN2),
    (two_places, LN2),
    (in_a_dict, LN2),
    (three_added, LN2),
    (negated, LN2),
    (gap_above, LN2),
]


def over_all(program: Program) -> WholeFunction:
    seen = lt.mechanism(program).over_all_numbers(LOW)
    assert isinstance(seen, WholeFunction)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize(("program", "epsilon"), PURE)
def test_pure_epsilon_is_proved_and_a_little_less_is_refuted(
    program: Program, epsilon: float
) -> None:
    mechanism = lt.mechanism(program)
    exact = lt.exact_epsilon(mechanism, SMALL)
    assert exact.upper <= epsilon + 1e-12
    assert exact.upper - exact.lower < 1e-12
    claims = {exact.upper: "YES", exact.lower * 0.999: "NO"}
    for claim, decision in claims.items():
        verdict = lt.check_privacy(mechanism, SMALL, epsilon=claim, method="exhaustive", seed=1)
        assert verdict.decision == decision
        if verdict.witness is not None:
            assert verdict.witness.verify(mechanism)
            assert verdict.witness.loss_lower > claim


ONE_PLACE = [p for p, _ in PURE if p not in (two_places, in_a_dict)]


@pytest.mark.slow
@pytest.mark.parametrize("program", ONE_PLACE)
def test_every_listed_probability_is_that_of_the_function(program: Program) -> None:
    """The function's own enumeration, value by value, is the other side."""
    seen = over_all(program)
    listed: OutputLaw = seen.plain.law(HIGH)
    with precision(128):
        for output in listed.outputs[:60]:
            low, high = listed.log_bounds(output)
            found = whole_probability(seen, output).log()
            assert low <= found + 1e-12
            assert found <= high + 1e-12


def whole_probability(seen: WholeFunction, output: Any) -> arb:
    """Of one output, through the event that a law is compared on."""
    from liptest.enumerate.numbers.whole_outputs import numbers_within
    from liptest.symbolic.elimination import exact_rates

    law = seen.whole_law(HIGH)
    rates = exact_rates(law.noises)
    for skeleton in law.leaves:
        numbers = numbers_within(output, skeleton)
        if numbers is not None:
            return law.probability(rates, skeleton, tuple(int(one or 0) for one in numbers))
    raise AssertionError(f"{output} is of no description")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        *((0.3, 0.0), (0.5, 0.03)),
        *(pytest.param(*pair, marks=pytest.mark.slow) for pair in ((0.3, 0.1), (0.6, 0.2))),
    ],
)
def test_divergences_are_those_of_a_long_list(epsilon: float, delta: float) -> None:
    seen, plain = over_all(without_negatives), lt.mechanism(without_negatives)
    with precision(128):
        found = float(seen.pair_hockey_stick(LOW, HIGH, arb(epsilon)))
    laws = [plain.law(side) for side in (LOW, HIGH)]
    outputs = set(laws[0].outputs) | set(laws[1].outputs)
    sums = [
        sum(max(0.0, p.get(o, 0.0) - math.exp(epsilon) * q.get(o, 0.0)) for o in outputs)
        for p, q in (laws, laws[::-1])
    ]
    assert found == pytest.approx(max(sums), abs=1e-12)
    verdict = lt.check_privacy(
        plain, SMALL, epsilon=epsilon, delta=delta, method="exhaustive", seed=1
    )
    assert verdict.decision == ("NO" if max(sums) > delta else "YES")


@pytest.mark.slow
def test_parity_tells_the_count() -> None:
    """Noise times 2 (counterexample to T8 without factors of 1): a NO, not a limit of 1."""

    @lt.mechanism
    def even(x: Any, rng: Any) -> Any:
        return int(x.sum()) + 2 * (rng.geometric(0.5) - rng.geometric(0.5))

    verdict = lt.check_privacy(even, SMALL, epsilon=5.0, method="exhaustive", seed=1)
    assert verdict.decision == "NO"
    assert lt.exact_epsilon(even, SMALL).value == math.inf


@pytest.mark.slow
def test_a_multiple_that_hides_nothing_is_proved() -> None:
    @lt.mechanism
    def tens(x: Any, rng: Any) -> Any:
        return 10 * (int(x.sum()) + rng.geometric(0.5) - rng.geometric(0.5)) + 3

    assert lt.exact_epsilon(tens, SMALL).upper == pytest.approx(LN2, abs=1e-12)


@pytest.mark.slow
def test_rounded_halves_are_not_taken_for_a_law_in_pieces() -> None:
    """round(count + G/2), half-even: refused as a law in pieces, looked at value by value."""

    @lt.mechanism
    def halves(x: Any, rng: Any) -> Any:
        return round(int(x.sum()) + rng.geometric(0.5) / 2)

    verdict = lt.check_privacy(halves, SMALL, epsilon=5.0, method="exhaustive", seed=1)
    assert verdict.decision == "NO"


@pytest.mark.slow
def test_equal_answers_are_counted_together() -> None:
    """1, 1.0 and True are one output, and so is a plain 5 beside a whole number."""

    @lt.mechanism
    def mixed(x: Any, rng: Any) -> Any:
        which = int(rng.integers(4))
        plain: list[Any] = [5.0, True, 5]
        if which < 3:
            return plain[which]
        return int(x.sum()) + rng.geometric(0.5) - rng.geometric(0.5)

    seen: Any = mixed.over_all_numbers(LOW)
    law = seen.whole_law(LOW)
    assert len(law.leaves) == 1
    listed = seen.plain.law(LOW)
    assert float(listed[5]) == pytest.approx(0.5 + 0.25 * 2**-5 / 3, abs=1e-12)
    assert float(whole_probability_at(seen, 5)) == pytest.approx(float(listed[5]), abs=1e-12)
    assert lt.exact_epsilon(mixed, SMALL).upper < LN2 + 1e-12


def whole_probability_at(seen: WholeFunction, number: int) -> arb:
    from liptest.symbolic.elimination import exact_rates

    law = seen.whole_law(LOW)
    (skeleton,) = law.leaves
    return law.probability(exact_rates(law.noises), skeleton, (number,))


@pytest.mark.slow
def test_one_sided_noise_is_refuted_by_its_first_number() -> None:
    @lt.mechanism
    def one_sided(x: Any, rng: Any) -> Any:
        return int(x.sum()) + rng.geometric(0.5)

    verdict = lt.check_privacy(one_sided, SMALL, epsilon=3.0, method="exhaustive", seed=1)
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.output == 1
    assert math.isinf(lt.exact_epsilon(one_sided, SMALL).value)


@pytest.mark.slow
def test_different_rates_are_refuted_far_out() -> None:
    """No output near the counts breaks the claim: the first beyond it is named."""

    @lt.mechanism
    def scaled_by_data(x: Any, rng: Any) -> Any:
        p = 0.5 if x[0] else 0.49
        return rng.geometric(p) - rng.geometric(p)

    verdict = lt.check_privacy(scaled_by_data, SMALL, epsilon=1.0, method="exhaustive", seed=1)
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert abs(verdict.witness.output) > 20
    assert verdict.witness.verify(scaled_by_data)


@pytest.mark.slow
def test_dependent_places_are_looked_at_value_by_value() -> None:
    """Two numbers of one noise variable: not compared over all numbers, and never by mistake."""

    @lt.mechanism
    def repeated(x: Any, rng: Any) -> Any:
        z = int(x.sum()) + rng.geometric(0.5) - rng.geometric(0.5)
        return z, z + int(x[0])

    verdict = lt.check_privacy(repeated, SMALL, epsilon=LN2, method="exhaustive", seed=1)
    assert verdict.decision == "NO"


@pytest.mark.slow
def test_a_release_is_drawn_from_a_law_that_is_listed() -> None:
    """A gate draws from listed outputs, so it may not rest on a proof over all numbers."""
    from liptest.privacy.check import check_with_settings
    from liptest.privacy.settings import CheckSettings

    settings = CheckSettings(epsilon=LN2, method="exhaustive", seed=1)
    mechanism = lt.mechanism(two_geometrics)
    found = check_with_settings(mechanism, SMALL, settings, for_release=True)
    assert found.decision == "INCONCLUSIVE"
    assert check_with_settings(mechanism, SMALL, settings).decision == "YES"


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1.0, 2.0])
def test_tight_claims_are_not_refuted(epsilon: float) -> None:
    """Discrete Laplace noise, unclipped, whose claim is exactly tight (up to rounding of p)."""

    @lt.mechanism
    def tight(x: Any, rng: Any) -> Any:
        p = 1 - math.exp(-epsilon)
        return int(x.sum()) + rng.geometric(p) - rng.geometric(p)

    verdict = lt.check_privacy(tight, SMALL, epsilon=epsilon, method="exhaustive", seed=1)
    assert verdict.decision == "YES"


NAMES = ["north", "south"]


@pytest.mark.slow
def test_counts_of_a_small_table_are_compared_over_all_numbers() -> None:
    """The function is asked with a frame, where its loops are looked for too."""

    def report(frame: Any, rng: Any) -> Any:
        draw = rng.geometric
        return {r: int((frame["region"] == r).sum()) + draw(0.4) - draw(0.4) for r in NAMES}

    table = lt.Table({"region": lt.Category(NAMES)}, rows=3)
    mechanism = lt.mechanism(report).on_domain(table)
    assert isinstance(mechanism.over_all_numbers(table.zeros), WholeFunction)
    found = lt.exact_epsilon(mechanism, table)
    assert found.upper == pytest.approx(2 * math.log(1 / 0.6))
    assert found.lower == pytest.approx(found.upper)


def test_nothing_is_integrated_to_see_that_no_whole_numbers_are_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def above(data: Any, rng: Any) -> tuple[bool, ...]:
        return tuple(bool(x + rng.laplace() > 0) for x in data)

    monkeypatch.setattr(NoiseRun, "probability", None)
    assert lt.mechanism(above).over_all_numbers(np.array([0, 1, 2])) is None


def test_a_law_that_was_looked_at_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def count(data: Any, rng: Any) -> int:
        return int(data.sum() + rng.geometric(0.5) - rng.geometric(0.5))

    walked: list[Any] = []
    law = WholeTree.law

    def noted(tree: WholeTree, run: Any) -> Any:
        walked.append(tree)
        return law(tree, run)

    monkeypatch.setattr(WholeTree, "law", noted)
    seen: Any = lt.mechanism(count).over_all_numbers(np.array([0, 1]))
    before = len(walked)
    seen.laws(PointBatch(np.array([[0, 1]])))
    assert len(walked) == before
    seen.laws(PointBatch(np.array([[1, 1]])))
    assert len(walked) == before + 1
