"""Prices of published mechanisms, of programs by hand, and the counterexamples to vertices."""

from fractions import Fraction
from math import log

import pytest

import liptest as lt
from liptest.symbolic.alignment import price_paths
from liptest.symbolic.answers import AlignedPath, Answer, Differences
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from tests.unit.symbolic.programs import (
    laplace,
    noisy,
    noisy_answers,
    noisy_maximum,
    prefix_sums,
    sparse_vector,
)

HALF = Fraction(1, 2)
MOVED = Differences.of_tables([{i: 1} for i in range(5)])
ADDED = Differences.of_tables([{i: 1} for i in range(5)], relation="added")
ONE = Differences.of_one([1] * 5)
ALL = Differences.of_box([1] * 5)
COIN = Noise("two-sided geometric", HALF)
UP, DOWN = Noise("geometric", HALF), Noise("exponential", Fraction(1))


@pytest.mark.parametrize(
    ("paths", "differences", "limit"),
    [
        (sparse_vector(5, 2, 4), ALL, 1),
        (sparse_vector(5, 4, Fraction(4, 3)), ALL, Fraction(7, 4)),
        (sparse_vector(5, 2, None, stops=False), ALL, None),
        (sparse_vector(5, 2, 2, stops=False), ALL, Fraction(5, 2)),
        (sparse_vector(5, 2, 4, value=True), ALL, Fraction(5, 4)),
        (noisy_maximum(5, laplace(2)), ALL, 1),
        (noisy_maximum(5, laplace(2)), MOVED, 1),
        (noisy_maximum(5, laplace(2)), ONE, HALF),
        (noisy_maximum(5, laplace(2), value=True), ALL, Fraction(5, 2)),
        (noisy_maximum(5, Noise("exponential", Fraction(2))), ALL, 1),
        (noisy_maximum(5, Noise("gumbel", Fraction(2))), ALL, 1),
        (noisy_answers(5, laplace(1)), ADDED, 1),
        (noisy_answers(5, laplace(1)), ONE, 1),
        (noisy_answers(5, laplace(1)), MOVED, 2),
        (noisy_answers(5, laplace(2)), MOVED, 1),
        (noisy_answers(5, laplace(1)), ALL, 5),
        (noisy_answers(5, Noise("normal", Fraction(1))), ONE, None),
        (prefix_sums(5, laplace(1)), ONE, 1),
        (prefix_sums(5, laplace(1)), MOVED, 2),
    ],
)
def test_published_limits(
    paths: list[AlignedPath], differences: Differences, limit: Fraction | None
) -> None:
    price = price_paths(paths, differences)
    assert price.epsilon == limit
    assert price.move
    assert (limit is None) is bool(price.why)
    assert (limit is None) is not bool(price.shifts)


@pytest.mark.parametrize("step", [1, 3])
def test_a_row_and_a_box_may_be_dearest_at_different_ends(step: int) -> None:
    size = 8  # one answer moves by the row, all others within a box
    moves = Differences.listed([{0: step}], size=size).widen_by(dict.fromkeys(range(1, size), 2))
    paths = noisy_maximum(size, Noise("gumbel", Fraction(1)))
    worst = max(abs(low - high) for low, high in ((2, -2), (step, -2), (2, -step)))
    assert price_paths(paths, moves, wanted=Fraction(worst)).epsilon == worst
    assert price_paths(paths, moves, wanted=Fraction(worst) - 1).epsilon > worst - 1


@pytest.mark.slow
def test_many_answers_cost_what_few_do() -> None:
    size = 45
    box = Differences.of_box([1] * size)
    assert price_paths(sparse_vector(size, 2, 4), box).epsilon == 1
    assert price_paths(sparse_vector(size, 4, Fraction(4, 3)), box).epsilon == Fraction(7, 4)
    assert price_paths(noisy_maximum(size, laplace(2)), box).epsilon == 1
    cells = Differences.of_tables([{i: 1} for i in range(size)])
    assert price_paths(noisy_maximum(size, laplace(2)), cells).epsilon == 1
    assert price_paths(noisy_answers(size, laplace(1)), cells).epsilon == 2
    assert price_paths(prefix_sums(size, laplace(1)), cells).epsilon == 2
    assert price_paths(noisy_maximum(size, laplace(2), value=True), box).epsilon == size / 2
    whole = Differences.of_box([1] * size, is_whole=True)
    price = price_paths(noisy_maximum(size, COIN), whole).epsilon
    assert price is not None
    assert float(price) == pytest.approx(2 * log(2))


def geometric_price(paths: list[AlignedPath], differences: Differences) -> float | None:
    price = price_paths(paths, differences).epsilon
    return None if price is None else float(price) / log(2)


def one_place(form: Form, *noises: Noise | Answer) -> list[AlignedPath]:
    return [AlignedPath((Answer(0, is_whole=True), *noises), (), (form,))]


X, N, M = (Form.variable(v) for v in range(3))


def test_what_is_in_many_places_is_not_moved() -> None:
    """All gaps to a noisy line: the line's noise is in all of them, each answer's in one."""
    size = 12
    noises, forms = noisy(size, laplace(4))
    line = Form.variable(len(noises))
    noises = (*noises, laplace(1))
    paths = [AlignedPath(noises, (), tuple(form - line for form in forms))]
    assert price_paths(paths, Differences.of_box([1] * size)).epsilon == 3
    whole = Noise("two-sided geometric", HALF)
    noises, forms = noisy(size, whole)
    real = price_paths([AlignedPath(noises, (), tuple(forms))], Differences.of_box([1] * size))
    assert real.epsilon is None
    assert real.move
    assert "by" in real.why


def test_whole_noise_at_every_whole_difference() -> None:
    """Output 2N + a: the ends -2 and 2 have shifts, 1 has none: losses are infinite."""
    twice = one_place(X + N * 2, COIN)
    for differences in (
        Differences.of_box([2], is_whole=True),
        Differences.of_one([2], is_whole=True),
        Differences.of_tables([[0], [1], [2]]),
        Differences.of_box([2]),
        Differences.of_one([2]),
    ):
        assert geometric_price(twice, differences) is None
    assert geometric_price(twice, Differences.of_tables([[0], [2]])) == pytest.approx(1)
    assert geometric_price(twice, Differences.of_tables([[7], [9], [11]])) == pytest.approx(2)


def test_whole_noise_and_real_answers_have_different_supports() -> None:
    plain = one_place(X + N, COIN)
    assert geometric_price(plain, Differences.of_one([1], is_whole=True)) == pytest.approx(1)
    assert geometric_price(plain, Differences.of_box([3], is_whole=True)) == pytest.approx(3)
    for differences in (
        Differences.of_one([1]),
        Differences.of_box([1]),
        Differences.of_tables([[0], [1]]).widen_by({0: Fraction(1, 1 << 50)}),
        Differences.of_tables([[0], [HALF]]),
    ):
        assert geometric_price(plain, differences) is None


def test_whole_noise_may_be_shifted_by_a_constant_for_real_answers() -> None:
    """A noisy threshold in whole numbers keeps "below" where answers move by less than 1."""
    below = (X - N).between(high=0)
    above = (X - N).between(low=0)
    both = [AlignedPath((Answer(0), COIN), (one,)) for one in (below, above)]
    for size, cost in ((HALF, 1), (Fraction(1), 1), (Fraction(3, 2), 2)):
        for differences in (Differences.of_box([size]), Differences.of_one([size])):
            assert geometric_price(both, differences) == pytest.approx(cost)


def test_one_sided_noise_moves_one_way() -> None:
    """An exponential variable tells that the answer is no larger; a difference of two does not."""
    alone = one_place(X + N, DOWN)
    assert price_paths(alone, Differences.of_one([1])).epsilon is None
    both = one_place(X + N - M, DOWN, DOWN)
    assert price_paths(both, Differences.of_one([1])).epsilon == 1
    both = one_place(X + N - M, UP, UP)
    assert geometric_price(both, Differences.of_one([2], is_whole=True)) == pytest.approx(2)
    # Of three exponentials the largest answer moves up, never down.
    assert price_paths(noisy_maximum(3, DOWN), Differences.of_box([1] * 3)).epsilon == 2


def test_sums_between_two_bounds_may_not_move() -> None:
    """A rounded number is a place of the output; so are two conditions that say it."""
    cell = (X + N).between(low=0, high=1, low_closed=True)
    one = [AlignedPath((Answer(0), laplace(1)), (cell,))]
    low, high = (X + N).between(low=0), (X + N).between(high=1)
    two = [AlignedPath((Answer(0), laplace(1)), (low, high))]
    turned = [AlignedPath((Answer(0), laplace(1)), (low, (-(X + N)).between(low=-1)))]
    for paths in (one, two, turned):
        assert price_paths(paths, Differences.of_one([3])).epsilon == 3
        assert price_paths(paths, Differences.of_box([3])).epsilon == 3
    # Kept apart, each is cheaper than both: a path's conditions hold together.
    loose = [AlignedPath((Answer(0), laplace(1)), (low,))]
    assert price_paths(loose, Differences.of_one([3])).epsilon == 3


def test_data_without_noise_have_no_price() -> None:
    noises = (Answer(0, words="the count"), laplace(1))
    for path in (
        AlignedPath(noises, (X.between(low=0),), (), "yes"),
        AlignedPath(noises, (), (X,), "yes"),
        AlignedPath(noises, (), (N, N + X), "yes"),
        AlignedPath(noises, (N.between(low=0),), (N, N + X), "yes"),
        AlignedPath(noises, (X.between(low=0, high=1),), (X + N,), "yes"),
    ):
        price = price_paths([path], Differences.of_one([1]))
        assert price.epsilon is None
        assert price.move in (((0, Fraction(1)),), ((0, Fraction(-1)),))
        assert "the count" in price.why
        assert "'yes'" in price.why
    # What does not move may be seen.
    path = AlignedPath((Answer(0), Answer(1), laplace(1)), (X.between(low=0),), (X, N + M))
    assert price_paths([path], Differences.listed([[0, 1]])).epsilon == 1


def test_an_answer_in_two_variables_is_one_answer() -> None:
    noises = (Answer(0), Answer(0), laplace(1), laplace(1))
    a, b, n, m = (Form.variable(v) for v in range(4))
    same = [AlignedPath(noises, (), (a - b + n,))]
    assert price_paths(same, Differences.of_one([1])).epsilon == 0
    twice = [AlignedPath(noises, (), (a + n, b + m))]
    assert price_paths(twice, Differences.of_one([1])).epsilon == 2


def test_noise_used_twice() -> None:
    """The difference of two answers with one noise is without noise."""
    noises = (Answer(0), Answer(1), laplace(1))
    paths = [AlignedPath(noises, (), (X + M, N + M))]
    price = price_paths(paths, Differences.of_one([1, 1]))
    assert price.epsilon is None
    together = Differences.listed([[1, 1]])
    assert price_paths(paths, together).epsilon == 1


def test_every_path_counts_and_no_paths_are_no_program() -> None:
    """N ~ Exp(1), `if a + N < 5: raise`: the path without the exception alone has price 1."""
    noises = (Answer(0), DOWN)
    fine, raised = (X + N).between(low=5), (X + N).between(high=5)
    half = [AlignedPath(noises, (fine,))]
    assert price_paths(half, Differences.of_one([1])).epsilon == 1
    both = [*half, AlignedPath(noises, (raised,))]
    assert price_paths(both, Differences.of_one([1])).epsilon is None
    with pytest.raises(lt.errors.InputError, match="not a program"):
        price_paths([], Differences.of_one([1]))
    with pytest.raises(lt.errors.InputError, match="answer 0 is unknown"):
        price_paths(half, Differences.of_one([]))


def test_data_of_any_size_and_no_differences() -> None:
    noises, forms = noisy(2, laplace(1))
    paths = [AlignedPath(noises, (), tuple(forms))]
    assert price_paths(paths, Differences.of_tables([[3, 4]])).epsilon == 0
    assert price_paths(paths, Differences.of_tables([[0, 0], [1, -1]])).epsilon == 2
    margins = {0: Fraction(1, 1000), 1: Fraction(1, 1000)}
    wider = Differences.of_tables([[0, 0], [1, -1]]).widen_by(margins)
    assert price_paths(paths, wider).epsilon == Fraction(2002, 1000)


def test_words() -> None:
    price = price_paths(sparse_vector(3, 4, Fraction(4, 3)), ALL)
    assert str(price) == "price 1.750000, shifts: laplace noise 1 by 1, laplace noise 4 by 2"
    raw = price_paths(sparse_vector(2, 2, None, stops=False), ALL)
    assert "no shift of the noise keeps" in str(raw)
    assert "answer 0" in str(raw)
