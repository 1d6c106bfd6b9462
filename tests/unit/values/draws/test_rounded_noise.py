"""Noise that is rounded before it is added to a sum: as if the noisy sum were rounded."""

from __future__ import annotations

import collections
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.trees.outputs import canonical_output, make_raised
from liptest.errors import SymbolicError, UnsupportedForm
from liptest.privacy.proofs.prices import align
from liptest.symbolic.exact_draws import probability_up_to
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.symbolic.probability import System
from liptest.symbolic.shifts import shift_cost
from liptest.verdicts import Decision
from tests.property.random_programs import without_repetition

Rounding = Callable[[Any], Any]
ROUNDINGS: dict[str, Rounding] = {
    "round": round,
    "int of rint": lambda noise: int(np.rint(noise)),
    "numpy.round": np.round,
    "numpy.rint": np.rint,
    "numpy.floor": np.floor,
    "numpy.ceil": np.ceil,
    "math.floor": lambda noise: math.floor(noise),
    "math.ceil": lambda noise: math.ceil(noise),
}
GROUPS = lt.RecordGrid([8] * 10_000)


def noisy_count(rounding: Rounding, family: str = "laplace", scale: float = 1.0) -> Any:
    def program(data: Any, rng: Any) -> Any:
        draw = getattr(rng, family)
        noise = draw(scale) if family == "exponential" else draw(0, scale)
        return int((data == 3).sum()) + rounding(noise)

    return lt.mechanism(program)


def decided(mechanism: Any, epsilon: float, delta: float = 0.0) -> Any:
    return lt.check_privacy(mechanism, GROUPS, epsilon=epsilon, delta=delta, seed=1).decision


@pytest.mark.slow
@pytest.mark.parametrize("name", ROUNDINGS)
def test_a_rounded_noise_costs_what_the_noise_costs(name: str) -> None:
    mechanism = noisy_count(ROUNDINGS[name])
    price = align(mechanism, GROUPS, Fraction(1), Fraction(0))
    assert price.epsilon == 1
    assert decided(mechanism, 1.0) is Decision.YES
    assert decided(mechanism, 0.95) is Decision.NO


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def laplace(x: float) -> float:
    return math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2


@pytest.mark.parametrize(("family", "share"), [("laplace", laplace), ("logistic", logistic)])
@pytest.mark.parametrize("start", [-0.5, 0.0])
def test_a_price_is_the_largest_loss_of_the_rounded_law(
    family: str, share: Callable[[float], float], start: float
) -> None:
    scale = 1.5
    law = [share((k + start + 1) / scale) - share((k + start) / scale) for k in range(-25, 0)]
    largest = max(abs(math.log(left / right)) for left, right in itertools.pairwise(law))
    mechanism = noisy_count(math.floor if start == 0 else round, family, scale)
    price = align(mechanism, GROUPS, Fraction(1), Fraction(0)).epsilon
    assert largest <= float(price) + 1e-9
    assert largest == pytest.approx(float(price), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["exponential", "gumbel", "normal"])
def test_noise_that_cannot_go_both_ways_is_refuted(family: str) -> None:
    assert decided(noisy_count(round, family), 1.0) is Decision.NO


@pytest.mark.slow
def test_rounded_normal_noise_has_the_delta_of_the_noise() -> None:
    mechanism = noisy_count(np.rint, "normal", 3.0)
    share = delta_of_normal(0.5, 1 / 3.0)
    assert decided(mechanism, 0.5, share * 1.001) is Decision.YES


def delta_of_normal(epsilon: float, moved: float) -> float:
    """Balle and Wang 2018, of one normal variable that moves by so many deviations."""

    def share(x: float) -> float:
        return 0.5 * math.erfc(-x / math.sqrt(2))

    low, high = moved / 2 - epsilon / moved, -moved / 2 - epsilon / moved
    return share(low) - math.exp(epsilon) * share(high)


@pytest.mark.slow
def test_cutting_off_towards_zero_doubles_zero() -> None:
    # P(0) / P(1) = 2 e: the cell of 0 is twice as wide.
    def program(data: Any, rng: Any) -> Any:
        return int((data == 3).sum()) + int(rng.laplace(0, 1.0))

    assert decided(lt.mechanism(program), 1.0) is Decision.NO
    assert decided(lt.mechanism(program), math.log(2) + 0.99) is not Decision.YES


def whole_cells(data: Any, rng: Any) -> Any:
    return np.bincount(data, minlength=8) + np.rint(rng.laplace(0, 2.0, 8)).astype(int)


def a_list(data: Any, rng: Any) -> Any:
    counts = np.bincount(data, minlength=8)
    return [max(0, int(count) + round(rng.laplace(0, 2.0))) for count in counts]


def the_place(data: Any, rng: Any) -> Any:
    return int(np.argmax(np.bincount(data, minlength=8) + np.floor(rng.laplace(0, 2.0, 8))))


def subtracted(data: Any, rng: Any) -> Any:
    both = int((data == 3).sum()) - round(rng.laplace(0, 2.0)), round(rng.laplace(0, 2.0))
    return both[0] - 3, -both[1] + int((data == 4).sum())


@pytest.mark.slow
@pytest.mark.parametrize("program", [whole_cells, a_list, the_place, subtracted])
def test_histograms_and_differences_are_followed(program: Any) -> None:
    assert decided(lt.mechanism(program), 1.0) is Decision.YES


@pytest.mark.slow
@pytest.mark.parametrize("program", [whole_cells, subtracted])
def test_too_little_of_it_is_refuted(program: Any) -> None:
    assert decided(lt.mechanism(program), 0.95) is Decision.NO


def told_beside(data: Any, rng: Any) -> Any:
    noise = round(rng.laplace(0, 1.0))
    return int((data == 3).sum()) + noise, noise


def told_twice(data: Any, rng: Any) -> Any:
    noise = round(rng.laplace(0, 1.0))
    return int((data == 3).sum()) + noise, int((data == 3).sum()) - noise


def told_as_floats(data: Any, rng: Any) -> Any:
    noise = rng.laplace(0, 1.0)
    return int((data == 3).sum()) + round(noise), noise


def both_ends(data: Any, rng: Any) -> Any:
    noise, count = rng.laplace(0, 1.0), int((data == 3).sum())
    return count + math.floor(noise), count + math.ceil(noise) + count


def of_halves(data: Any, rng: Any) -> Any:
    return (data == 3).sum() / 2 + round(rng.laplace(0, 0.5))


def of_one_sign(data: Any, rng: Any) -> Any:
    return int((data == 3).sum()) + abs(round(rng.laplace(0, 1.0)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "program", [told_beside, told_twice, told_as_floats, both_ends, of_halves, of_one_sign]
)
def test_a_noise_that_is_told_or_does_not_fit_proves_nothing(program: Any) -> None:
    assert decided(lt.mechanism(program), 5.0) is not Decision.YES
    price = align(lt.mechanism(program), GROUPS, Fraction(5), Fraction(0))
    assert not price.has_price


def test_a_noise_in_two_roundings_is_priced_once() -> None:
    def program(data: Any, rng: Any) -> Any:
        noise, count = rng.laplace(0, 1.0), int((data == 3).sum())
        return count + math.floor(noise), count + math.ceil(noise)

    assert decided(lt.mechanism(program), 1.0) is Decision.YES


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.float32])
def test_types_that_wrap_or_round_are_not_followed(kind: Any) -> None:
    def program(data: Any, rng: Any) -> Any:
        noise = np.rint(rng.laplace(0, 1.0, 1)).astype(kind)
        return int((data == 3).sum()) + noise

    assert not align(lt.mechanism(program), GROUPS, Fraction(5), Fraction(0)).has_price


BELOW = laplace(0) - laplace(-0.5)
TENTHS = laplace(0) - laplace(-0.05)
# NumPy 2.0 gives the bound where an entry equals it, later versions the entry.
KEPT = int(np.signbit(np.clip(-0.0, 0, 1)))
SIGNS: dict[str, tuple[Callable[[Any], Any], Any, float]] = {
    "text": (lambda x: str(np.clip(np.round(x), 0, 9)), "-0.0", BELOW * KEPT),
    "places": (lambda x: f"{np.clip(round(x, 1), 0, 1)}", "-0.0", TENTHS * KEPT),
    "sign bit": (lambda x: bool(np.signbit(np.clip(np.ceil(x), -1, 1))), True, 0.5),
    "copysign": (lambda x: math.copysign(1, np.clip(np.trunc(x), -1, 1)), -1, 0.5),
    "quotient": (lambda x: str(1 / np.clip(np.round(x), 0, 1)), "-inf", BELOW * KEPT),
    "negative": (lambda x: str(-np.clip(np.round(x), -1, 0)), "-0.0", 0.5 + BELOW * (1 - KEPT)),
    "bytes": (lambda x: np.clip(np.round(x), 0, 1).tobytes()[7], 128, BELOW * KEPT),
    "sum": (lambda x: str(np.clip(np.round(x), 0, 9) + 0.0), "-0.0", 0.0),
    "floor": (lambda x: str(np.clip(np.floor(x), 0, 1)), "-0.0", 0.0),
    "output": (lambda x: np.clip(np.round(x), 0, 9), 0.0, laplace(0.5)),
    "0 or it": (lambda x: str(np.minimum(np.maximum(0, np.round(x)), 1)), "-0.0", BELOW),
    "it or 0": (lambda x: str(np.minimum(np.maximum(np.round(x), 0), 1)), "-0.0", 0.0),
    "size": (lambda x: str(min(abs(np.round(x)), 1.0)), "-0.0", 0.0),
}


@pytest.mark.parametrize("name", SIGNS)
def test_what_is_rounded_to_zero_from_below_is_minus_zero(name: str) -> None:
    """A text, a sign or a quotient tells it; an output that is a number does not."""
    answer, output, expected = SIGNS[name]
    law = lt.mechanism(lambda data, rng: answer(rng.laplace(0, 1))).law(np.array([1, 0]))
    assert law.get(output, 0.0) == pytest.approx(expected, abs=1e-9)


DIVISIONS: list[tuple[Callable[[int], Any], str]] = [
    (lambda k: 7 // k, "of Python"),
    (lambda k: divmod(7, k)[1], "of Python, by name"),
    (lambda k: k % 0, "by nothing"),
    (lambda k: 1 << k, "a shift"),
    (lambda k: np.floor_divide(7, k), "of NumPy"),
    (lambda k: np.divide(1, k), "of NumPy, true"),
    (lambda k: np.left_shift(1, k), "a shift of NumPy"),
    (lambda k: np.power(2, k), "a power of NumPy"),
]


@pytest.mark.parametrize(
    "answer", [one for one, _ in DIVISIONS], ids=[word for _, word in DIVISIONS]
)
def test_what_a_number_raises_is_an_output(answer: Callable[[int], Any]) -> None:
    """Python raises for 7 // 0 and 1 << -1, NumPy answers; both as in the program."""

    def mech(_: Any, rng: Any) -> Any:
        return answer(min(max(round(rng.laplace(0, 1)), -1), 1))

    with without_repetition(), np.errstate(all="ignore"):
        law = dict(lt.output_law(lt.mechanism(mech), [0]))
        expected = collections.Counter[Any]()
        for k, weight in (
            (-1, math.exp(-0.5) / 2),
            (0, 1 - math.exp(-0.5)),
            (1, math.exp(-0.5) / 2),
        ):
            try:
                expected[canonical_output(answer(k), "answer")] += weight
            except (ArithmeticError, ValueError) as error:
                expected[make_raised(error)] += weight
    assert set(law) == set(expected)
    assert all(math.isclose(law[one], expected[one], rel_tol=1e-9) for one in law)


@pytest.mark.slow
def test_whole_numbers_of_numpy_wrap() -> None:
    """k * 2**62 is above 0 where k is 1 more than a multiple of 4, and not for all k > 0."""

    def wrapping(data: Any, rng: Any) -> bool:
        k = np.round(10 + data[0] + rng.laplace(0, 1, size=2)).astype(np.int64)[0]
        return bool(k * np.int64(2**62) > 0)

    claim = {"epsilon": 0.3, "delta": 1e-3, "floats": "ideal"}
    verdict = lt.check_privacy(lt.mechanism(wrapping), lt.Hypercube(1), **claim)
    assert verdict.decision is Decision.NO
    law = dict(lt.output_law(lt.mechanism(wrapping), [0]))
    assert math.isclose(law[True], 0.22170472099251845, rel_tol=1e-9)


def floors_of_exponentials(data: Any, rng: Any) -> Any:
    noise = np.floor(rng.exponential(2.0)) - np.floor(rng.exponential(2.0))
    return int(np.count_nonzero(data) + noise)


def ints_of_exponentials(data: Any, rng: Any) -> Any:
    first, second = int(rng.exponential(2.0)), int(rng.exponential(2.0))
    return int((data == 3).sum()) + first - second


def halves_of_exponentials(data: Any, rng: Any) -> Any:
    noise = np.rint(rng.exponential(4.0, 2) / 2 + 0.2).astype(int)
    return int((data == 3).sum()) - noise[0] + noise[1]


def ceilings_of_gumbel_noise(data: Any, rng: Any) -> Any:
    return int((data == 3).sum()) + math.ceil(rng.gumbel(0, 2.0)) - math.ceil(rng.gumbel(0, 2.0))


DIFFERENCES = [
    floors_of_exponentials,
    ints_of_exponentials,
    halves_of_exponentials,
    ceilings_of_gumbel_noise,
]


@pytest.mark.slow
@pytest.mark.parametrize("program", DIFFERENCES)
def test_differences_of_noise_that_goes_one_way_are_proved(program: Any) -> None:
    price = align(lt.mechanism(program), GROUPS, Fraction(1), Fraction(0))
    assert price.epsilon == Fraction(1, 2)
    assert decided(lt.mechanism(program), 0.5) is Decision.YES


@pytest.mark.parametrize(("factor", "part"), [(1.0, 0.0), (0.7, 0.4), (2.0, 0.9)])
def test_the_price_of_a_rounded_exponential_is_its_largest_loss(factor: float, part: float) -> None:
    def below(k: int) -> float:  # P(floor(factor E + part) < k)
        return 1 - math.exp(-max(k - part, 0) / factor)

    law = [below(k + 1) - below(k) for k in range(12)]
    losses = [math.log(law[k] / law[k + 1]) for k in range(11)]
    noise = Noise("rounded exponential", Fraction(factor))
    price = shift_cost(noise).price(1)
    assert price is not None
    assert max(losses) == pytest.approx(float(price), abs=1e-9)
    assert shift_cost(noise).price(-1) is None
    assert noise.support[0] == 0


def beside_its_float(data: Any, rng: Any) -> Any:
    own = rng.exponential(1.0)
    return int((data == 3).sum()) + math.floor(rng.exponential(1.0)) - math.floor(own), own


def beside_a_comparison(data: Any, rng: Any) -> Any:
    own = rng.exponential(1.0)
    noise = math.floor(rng.exponential(1.0)) - math.floor(own)
    return int((data == 3).sum()) + noise, own > 3.5


def after_a_comparison(data: Any, rng: Any) -> Any:
    own = rng.exponential(1.0)
    is_small = own < 3.5
    noise = math.floor(rng.exponential(1.0)) - math.floor(own)
    return int((data == 3).sum()) + noise if is_small else 0


def rounded_two_ways(data: Any, rng: Any) -> Any:
    own, other = rng.exponential(1.0), rng.exponential(1.0)
    count = int((data == 3).sum())
    return count + math.floor(2 * own) - math.floor(other), math.floor(own) - math.floor(other)


def the_same_noise_twice(data: Any, rng: Any) -> Any:
    own = rng.exponential(1.0)
    return int((data == 3).sum()) + math.floor(own) - math.floor(own)


def both_upwards(data: Any, rng: Any) -> Any:
    noise = math.floor(rng.exponential(1.0)) + math.floor(rng.exponential(1.0))
    return int((data == 3).sum()) + noise


@pytest.mark.parametrize(
    "program",
    [
        beside_its_float,
        beside_a_comparison,
        after_a_comparison,
        rounded_two_ways,
        the_same_noise_twice,
        both_upwards,
    ],
)
def test_noise_that_is_used_beside_its_rounded_value_proves_nothing(program: Any) -> None:
    assert not align(lt.mechanism(program), GROUPS, Fraction(9), Fraction(0)).has_price


def test_rounded_noise_of_a_path_has_no_law() -> None:
    noise = Noise("rounded exponential", Fraction(1, 2))
    with pytest.raises(UnsupportedForm, match="no law"):
        System([noise]).probability([Form.variable(0).between(1, None)])
    with pytest.raises(SymbolicError, match="no law"):
        probability_up_to(noise, Fraction(1))
