"""Real numbers with noise for delta > 0, against sums over fine grids of densities of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import liptest as lt
from liptest.evidence.certificate import certify
from liptest.evidence.check_witness import BREAKS
from liptest.evidence.check_witness import check_certificate as check
from liptest.evidence.verify import examine
from liptest.runs.fingerprints import fingerprint

Floats = NDArray[np.float64]
CUBE = lt.Hypercube(2)
LAW = lt.ProductDistribution.uniform(CUBE)
GRID = np.arange(-40, 42, 2.0**-9) + 2.0**-10
STEP = 2.0**-9


def found(function: Any, one: list[int], other: list[int], epsilon: float) -> tuple[float, float]:
    """The ends of the ball."""
    view = lt.mechanism(function).densities()
    ball = view.pair_hockey_stick(np.array(one), np.array(other), arb(epsilon))
    return float(ball.lower()), float(ball.upper())


def of_normal(distance: float, epsilon: float) -> float:
    """Balle and Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018."""
    first = below(distance / 2 - epsilon / distance)
    return first - math.exp(epsilon) * below(-distance / 2 - epsilon / distance)


def below(z: float) -> float:
    """The standard normal distribution function, with the digits of its tail."""
    return math.erfc(-z / math.sqrt(2)) / 2


def laplace(t: Floats, scale: float = 1.0) -> Floats:
    return np.asarray(np.exp(-np.abs(t) / scale) / (2 * scale))


def laplace_below(t: Floats, scale: float = 1.0) -> Floats:
    return np.asarray(np.where(t < 0, np.exp(t / scale) / 2, 1 - np.exp(-t / scale) / 2))


#: A law: probabilities of single outputs, and the density of one number.
Law = tuple[dict[str, float], Floats]


def of_count(data: list[int]) -> Law:
    return {}, laplace(GRID - sum(data))


def of_mixture(data: list[int]) -> Law:
    return {}, laplace(GRID - sum(data)) / 4 + 3 * laplace(GRID - 1, 0.5) / 4


def of_maximum(data: list[int]) -> Law:
    (a, b), scale = data, 2.0
    first = laplace(GRID - a, scale) * laplace_below(GRID - b, scale)
    return {}, first + laplace(GRID - b, scale) * laplace_below(GRID - a, scale)


def of_shown(data: list[int]) -> Law:
    shown = np.where(GRID > 1, laplace(GRID - sum(data), 2.0), 0.0)
    return {"low": float(laplace_below(np.array(1.0 - sum(data)), 2.0))}, shown


def of_clipped(data: list[int]) -> Law:
    inside = np.where((GRID > 0) & (GRID < 1), laplace(GRID - sum(data)), 0.0)
    ends = laplace_below(np.array([-sum(data), sum(data) - 1.0]))
    return {"0": float(ends[0]), "1": float(ends[1])}, inside


def of_exponential(data: list[int]) -> Law:
    t = GRID - sum(data)
    return {}, np.where(t > 0, np.exp(-np.abs(t)), 0.0)


def of_scaled(data: list[int]) -> Law:
    return {}, laplace(GRID, 1.0 + data[0])


CODE: list[tuple[Callable[[Any, Any], Any], Callable[[list[int]], Law]]] = [
    (lambda d, g: d.sum() + g.laplace(), of_count),
    (
        lambda d, g: d.sum() + g.laplace() if g.random() < 0.25 else 1 + g.laplace(0, 0.5),
        of_mixture,
    ),
    (lambda d, g: np.max(d + g.laplace(0, 2.0, size=2)), of_maximum),
    (lambda d, g: (lambda x: x if x > 1 else "low")(d.sum() + g.laplace(0, 2.0)), of_shown),
    (lambda d, g: np.clip(d.sum() + g.laplace(), 0, 1), of_clipped),
    (lambda d, g: d.sum() + g.exponential(), of_exponential),
    (lambda d, g: g.laplace(0, 1.0 + d[0]), of_scaled),
]


def on_grid(left: Law, right: Law, epsilon: float) -> float:
    factor = math.exp(epsilon)
    sizes = []
    for (atoms, density), (others, other) in ((left, right), (right, left)):
        gaps = [atoms[key] - factor * others[key] for key in atoms]
        smooth = np.maximum(density - factor * other, 0).sum() * STEP
        sizes.append(sum(max(gap, 0.0) for gap in gaps) + float(smooth))
    return max(sizes)


@pytest.mark.slow
@pytest.mark.parametrize(("function", "law"), CODE, ids=[law.__name__ for _, law in CODE])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 0.9, 1.7])
def test_the_divergence_is_that_of_a_fine_grid(
    function: Any, law: Callable[[list[int]], Law], epsilon: float
) -> None:
    for one, other in (([0, 0], [1, 0]), ([0, 1], [1, 1])):
        low, high = found(function, one, other, epsilon)
        expected = on_grid(law(one), law(other), epsilon)
        # Pieces end on the grid; elsewhere the midpoint rule is off by the square of its step.
        assert low - 1e-5 < expected < high + 1e-5
        assert high - low < 1e-13


SIZES = st.fractions(Fraction(1, 8), 8, max_denominator=8)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(SIZES, SIZES, st.floats(0.001, 6))
@example(Fraction(1), Fraction(1), 1.0)
def test_normal_and_laplace_numbers_against_closed_forms(
    move: Fraction, scale: Fraction, epsilon: float
) -> None:
    ratio = float(move / scale)
    ends = found(lambda d, g: d[0] * float(move) + g.normal(0, scale), [0], [1], epsilon)
    assert of_normal(ratio, epsilon) == pytest.approx(sum(ends) / 2, rel=1e-9, abs=1e-17)
    ends = found(lambda d, g: d[0] * float(move) - g.laplace(0, scale), [0], [1], epsilon)
    expected = max(0.0, -math.expm1((epsilon - ratio) / 2))
    assert ends[0] - 1e-14 <= expected <= ends[1] + 1e-14
    assert ends[1] - ends[0] < 1e-13


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(SIZES, SIZES, st.floats(0.001, 3), st.integers(-8, 4), st.integers(1, 8), st.booleans())
def test_clipped_normal_numbers_against_a_grid(
    move: Fraction, scale: Fraction, epsilon: float, start: int, width: int, turned: bool
) -> None:
    """At delta > 0, and the loss at delta = 0, with the two ends as outputs of their own."""
    first, last = start / 2, (start + width) / 2
    # Floats have no digits of what is further out.
    assume(all(abs(x - y) < 35 * scale for x in (first, last) for y in (0, float(move))))
    sign = -1 if turned else 1

    def clipped(d: Any, g: Any) -> Any:
        return np.clip(float(move) * d[0] + sign * g.normal(0, float(scale)), first, last)

    grid = np.linspace(first, last, 8001)
    t = (grid[1:] + grid[:-1]) / 2
    laws = []
    for centre in (0.0, float(move)):
        law = NormalDist(centre, float(scale))
        ends = [below((first - centre) / law.stdev), below((centre - last) / law.stdev)]
        density = np.exp(-(((t - centre) / law.stdev) ** 2) / 2) / law.stdev
        laws.append((ends, density / math.sqrt(2 * math.pi) * (grid[1] - grid[0])))
    factor = math.exp(epsilon)
    sizes = [
        sum(max(0.0, a - factor * b) for a, b in zip(one[0], other[0], strict=True))
        + float(np.maximum(one[1] - factor * other[1], 0).sum())
        for one, other in (laws, laws[::-1])
    ]
    low, high = found(clipped, [0], [1], epsilon)
    assert low - 1e-5 < max(sizes) < high + 1e-5
    view = lt.mechanism(clipped).densities()
    loss = view.pair_loss(np.array([0]), np.array([1]))
    edges = [abs(math.log(a / b)) for a, b in zip(laws[0][0], laws[1][0], strict=True)]
    centre = float(move) / 2
    inside = [abs(float(move) * (end - centre)) / float(scale) ** 2 for end in (first, last)]
    assert float(loss) == pytest.approx(max(*edges, *inside), rel=1e-9)


def of_two_scales(data: Any, rng: Any) -> Any:
    return int(data[0]) + rng.normal(scale=1 + 0.75 * int(data[1]))


def of_a_test_and_two_scales(data: Any, rng: Any) -> Any:
    if rng.random() < 0.25 + 0.5 * int(data[1]):
        return None
    return of_two_scales(data, rng)


@pytest.mark.parametrize("epsilon", [0.0, 0.25, 0.5596157879354227, 1.0, 3.0])
@pytest.mark.parametrize(("one", "other"), [([0, 0], [0, 1]), ([1, 0], [0, 1]), ([1, 1], [0, 1])])
def test_normal_numbers_of_two_scales_against_a_grid(
    one: list[int], other: list[int], epsilon: float
) -> None:
    def density(data: list[int], share: float) -> Floats:
        width = 1 + 0.75 * data[1]
        z = (GRID - data[0]) / width
        return np.asarray(share * np.exp(-z * z / 2) / (width * math.sqrt(2 * math.pi)))

    for function, drops in ((of_two_scales, 0.0), (of_a_test_and_two_scales, 1.0)):
        shares = [1 - drops * (0.25 + 0.5 * data[1]) for data in (one, other)]
        p, q = (density(data, share) for data, share in zip((one, other), shares, strict=True))
        sides = []
        for first, second, kept in ((p, q, shares), (q, p, shares[::-1])):
            gone = max(1 - kept[0] - math.exp(epsilon) * (1 - kept[1]), 0.0)
            sides.append(gone + np.maximum(first - math.exp(epsilon) * second, 0).sum() * STEP)
        low, high = found(function, one, other, epsilon)
        assert low - 1e-5 <= max(sides) <= high + 1e-5
        assert high - low < 1e-9


@pytest.mark.slow
def test_a_scale_of_the_data_is_refuted_at_a_delta() -> None:
    def program(data: Any, rng: Any) -> Any:
        return rng.normal(scale=5 * (1 + 20 * float(np.max(data) - np.min(data))))

    verdict = lt.check_privacy(lt.mechanism(program), CUBE, epsilon=1, delta=1e-5)
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.verify(lt.mechanism(program))


def test_a_tiny_divergence_keeps_its_digits() -> None:
    low, high = found(lambda d, g: d[0] + g.normal(), [0], [1], 20.0)
    assert 0 < low < high < low * (1 + 1e-12)
    # Mills: the tail at z is phi(z) / z (1 - 1/z^2 + 3/z^4 ..).
    z = 19.5
    tails = [
        math.exp(-x * x / 2) / math.sqrt(2 * math.pi) / x * (1 - x**-2 + 3 * x**-4 - 15 * x**-6)
        for x in (z, z + 1)
    ]
    assert low == pytest.approx(tails[0] - math.exp(20) * tails[1], rel=1e-4)


def test_several_normal_numbers_by_their_distance() -> None:
    def moves_both(d: Any, g: Any) -> Any:
        return [d[0] + g.normal(0, 1.0), 3 - 2 * d[0] + g.normal(0, 4.0), g.normal()]

    low, high = found(moves_both, [0], [1], 0.7)
    assert low - 1e-15 <= of_normal(math.hypot(1.0, 0.5), 0.7) <= high + 1e-15


def test_a_test_before_the_number_changes_the_weight() -> None:
    """Given the test, the normal densities are as always; e^epsilon is moved by the masses."""

    def tested(d: Any, g: Any) -> Any:
        above = d.sum() + g.laplace() > 1
        return d.sum() + g.normal(0, 2.0) if above else None

    low, high = found(tested, [0, 0], [1, 0], 0.4)
    masses = [math.exp(-1) / 2, 0.5]
    sides = []
    for (a, b), (x, y) in (((0, 1), (0, 1)), ((1, 0), (1, 0))):
        p, q = masses[a], masses[b]
        density = [NormalDist(x, 2.0), NormalDist(y, 2.0)]
        t = np.arange(-30, 30, 1 / 128)
        one, other = (np.array([law.pdf(float(k)) for k in t]) for law in density)
        smooth = np.maximum(p * one - math.exp(0.4) * q * other, 0).sum() / 128
        sides.append(float(smooth) + max(0.0, (1 - p) - math.exp(0.4) * (1 - q)))
    assert low - 1e-4 < max(sides) < high + 1e-4


GAUSS = lt.mechanism(lambda d, g: d.sum() + g.normal(0, 2.0))
BOTH = lt.mechanism(lambda d, g: np.array([d[0], d[0] + d[1]]) + g.normal(0, 2.0, size=2))
LAPLACE = lt.mechanism(lambda d, g: d.sum() + g.laplace())
EDGES = [
    (GAUSS, of_normal(0.5, 0.5)),
    (BOTH, of_normal(math.sqrt(0.5), 0.5)),
    (LAPLACE, -math.expm1(-0.25)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "delta"), EDGES, ids=["one", "two", "laplace"])
@pytest.mark.parametrize("method", ["exhaustive", "neighbourhoods"])
def test_verdicts_on_both_sides_of_the_line(mechanism: Any, delta: float, method: str) -> None:
    options: dict[str, Any] = {"epsilon": 0.5, "method": method, "exception_mass": 0.1, "seed": 1}
    yes = lt.check_privacy(mechanism, LAW, delta=delta * (1 + 1e-7), **options)
    assert yes.decision == "YES"
    no = lt.check_privacy(mechanism, LAW, delta=delta * (1 - 1e-7), **options)
    assert no.decision == "NO"
    witness = no.witness
    assert witness is not None
    assert witness.verify(mechanism)
    gap = witness.probability - math.exp(0.5) * witness.neighbour_probability
    back = witness.neighbour_probability - math.exp(0.5) * witness.probability
    assert max(gap, back) == pytest.approx(delta, rel=1e-6)
    one = certify(no, fingerprint(mechanism), LAW, own_seed=False)
    assert check(one.to_dict()) == BREAKS
    assert examine(one, mechanism, LAW).problems == []


@pytest.mark.slow
@pytest.mark.parametrize("move", [1e3, 1e15])
@pytest.mark.parametrize("law", ["laplace", "normal"])
def test_laws_that_are_far_apart(move: float, law: str) -> None:
    low, high = found(lambda d, g: move * d[0] + getattr(g, law)(), [0], [1], 1.0)
    assert low <= 1 <= high + 1e-15
    assert high - low < 1e-14


def test_noise_too_far_out_for_any_number_ends_with_an_error() -> None:
    mechanism = lt.mechanism(lambda d, g: np.clip(d[0] + g.normal(), 1e8, 1e8 + 1))
    with pytest.raises(lt.errors.LiptestError, match="rescale"):
        lt.exact_epsilon(mechanism, lt.Hypercube(1))


@pytest.mark.slow
def test_a_tail_is_shown_without_an_end() -> None:
    verdict = lt.check_privacy(LAPLACE, LAW, epsilon=0.999999, delta=1e-12, method="exhaustive")
    assert verdict.witness is not None
    assert repr(verdict.witness.output).startswith("below 4.99")


@pytest.mark.slow
def test_the_event_is_shown() -> None:
    told = str(lt.check_privacy(GAUSS, LAW, epsilon=0.5, delta=0.05, method="exhaustive", seed=1))
    assert "output below -1.5" in told
    both = str(lt.check_privacy(BOTH, LAW, epsilon=0.5, delta=0.1, method="exhaustive", seed=1))
    assert "(real, real) with -0.25 * x0 + -0.25 * x1 above 0.25" in both


REFUSED = {
    "two Laplace numbers": lambda d, g: d[0] + g.laplace(size=2),
    "gumbel": lambda d, g: d[0] + g.gumbel(),
    "logistic": lambda d, g: d[0] + g.logistic(),
}


@pytest.mark.parametrize("function", REFUSED.values(), ids=REFUSED)
def test_other_numbers_are_refused_with_what_to_do(function: Any) -> None:
    with pytest.raises(
        lt.errors.InputError, match=r"compared for delta = 0 only; round the output"
    ):
        lt.check_privacy(lt.mechanism(function), LAW, epsilon=0.5, delta=0.1, method="exhaustive")


def test_numbers_that_do_not_depend_on_the_data_cancel() -> None:
    low, high = found(lambda d, g: [d[0] + g.laplace(), g.gumbel(), g.logistic()], [0], [1], 0.5)
    assert low - 1e-14 <= -math.expm1(-0.25) <= high + 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("view", ["densities", "whole numbers"])
def test_laws_of_a_pair_are_enumerated_once_for_all_epsilon(
    view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def noisy(data: Any, rng: Any) -> float:
        noise = rng.laplace(0, 1.0) if view == "densities" else rng.geometric(0.5)
        return data.sum() + noise

    function = lt.mechanism(noisy)
    seen: Any = (
        function.densities() if view == "densities" else function.over_all_numbers(np.array([0, 0]))
    )
    assert seen is not None
    ends = np.array([0, 0]), np.array([1, 0])
    each = [seen.pair_hockey_stick(*ends, arb(epsilon)) for epsilon in (0.0, 0.25, 0.5)]
    back = seen.pair_hockey_stick(*reversed(ends), arb(0.25))
    assert (back.lower(), back.upper()) == (each[1].lower(), each[1].upper())
    runs = []
    inner, original = type(seen.inner), type(seen.inner).fresh_law
    monkeypatch.setattr(inner, "fresh_law", lambda *ends: runs.append(1) or original(*ends))
    curve = seen.pair_curve(*ends)
    together = [curve(arb(epsilon)) for epsilon in (0.0, 0.25, 0.5)]
    assert len(runs) == 2
    assert [(a.lower(), a.upper()) for a in together] == [(b.lower(), b.upper()) for b in each]
