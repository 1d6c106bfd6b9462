"""Sums of products of numbers of a record against NumPy: no price is below what one changes."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from liptest.symbolic.answers import SecondMoments, is_semidefinite
from liptest.symbolic.direct_sums import normal_epsilon
from tests.unit.values.frame_prices import price_of, reason_of

PAIR = ["x", "z"]
COLUMNS: dict[str, Any] = {"x": lt.Real(-1, 1), "z": lt.Real(-3, 4), "w": lt.Real(), "m": lt.Bit()}
TABLE: Any = lt.Table(COLUMNS, rows=2)
XS, ZS, WS = (-1.0, 0.0, 1.0), (-3.0, 4.0), (-1e6, -0.5, 2.0, 1e200)
ROWS = [(x, z, w, m) for x, z, w, m in product(XS, ZS, WS, (0, 1))]


def rows_of(frame: Any, names: Any = PAIR) -> Any:
    return frame[names].to_numpy()


def scaled(frame: Any, names: Any = ("x", "w")) -> Any:
    """Rows of a norm of at most 2."""
    rows = frame[list(names)].to_numpy()
    return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True) / 2)


def matrix(rows: Any) -> Any:
    return rows.T @ rows


def by_outer_axes(frame: Any) -> Any:
    rows, numbers = rows_of(frame), frame["x"].to_numpy()
    return (rows.T * numbers) @ rows


def halves(frame: Any) -> Any:
    x, z = rows_of(frame).T
    return x @ z, np.dot(z, z)


#: With Laplace noise of scale 1 on each number the sum of all largest changes.
PRODUCTS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "matmul": (lambda f: matrix(rows_of(f)), 1 + 2 * 8 + 16),
    "dot": (lambda f: rows_of(f).T.dot(rows_of(f)), 33),
    "np.dot": (lambda f: np.dot(np.transpose(rows_of(f)), rows_of(f)), 33),
    "two memories": (lambda f: rows_of(f).T @ rows_of(f).copy(), 33),
    "einsum": (lambda f: np.einsum("ni,nj->ij", rows_of(f), rows_of(f)), 33),
    "einsum, turned": (lambda f: np.einsum("na, nb -> ba", rows_of(f), rows_of(f)), 33),
    "three": (lambda f: np.einsum("n,ni,nj->ij", f["x"].to_numpy(), *(2 * [rows_of(f)])), 2 + 50),
    "squares": (lambda f: np.einsum("ni,ni->i", rows_of(f), rows_of(f)), 17),
    "with a line": (lambda f: rows_of(f).T @ f["z"].to_numpy(), 8 + 16),
    "a line with rows": (lambda f: f["z"].to_numpy() @ rows_of(f), 8 + 16),
    "np.dot of a line": (lambda f: np.dot(f["z"].to_numpy(), rows_of(f)), 8 + 16),
    "weighted": (by_outer_axes, 2 + 2 * 4 + 32),
    # Rows with another bit change less: z and 1, where z is at most 4.
    "a bit": (lambda f: rows_of(f, ["z", "m"]).T @ f["m"].to_numpy(), 7),
    "ones": (lambda f: rows_of(f).T @ np.ones(len(f)), 2 + 7),
    "transposed": (lambda f: rows_of(f).T.sum(axis=1), 9),
    "turned back": (lambda f: rows_of(f).T.T.sum(axis=0), 9),
    "unpacked": (halves, 8 + 16),
    "selected": (lambda f: matrix(rows_of(f)[f["m"].to_numpy() == 1]), 33),
    "square": (lambda f: (f["z"] * f["z"]).sum(), 16),
    "scaled": (lambda f: matrix(scaled(f)), 1 + 2 * 4 + 4),
    "by weights": (lambda f: np.array([1.0, 2.0]) @ rows_of(f).T @ f["x"].to_numpy(), 18),
}


OTHER = (0.25, 3.0, 0.5, 1)
FRAMES = [pd.DataFrame([row, OTHER], columns=list(COLUMNS)) for row in ROWS]


def numbers(value: Any) -> np.ndarray:
    return np.concatenate(
        [np.ravel(part) for part in value] if type(value) is tuple else [np.ravel(value)]
    )


def changes(expression: Callable[[Any], Any]) -> np.ndarray:
    """By pair of rows what a replaced one changes of each number, beside one other row."""
    with np.errstate(all="ignore"):
        found = np.array([numbers(expression(frame)) for frame in FRAMES])
    return np.abs(found[:, None] - found[None])


def flat(expression: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def told(frame: Any) -> Any:
        found = expression(frame)
        parts = found if isinstance(found, tuple) else (found,)
        every = [
            cell for part in parts for cell in (part.flat if getattr(part, "ndim", 0) else [part])
        ]
        return tuple(every)

    return told


@pytest.mark.slow
@pytest.mark.parametrize("name", PRODUCTS)
def test_no_price_is_below_the_largest_change(name: str) -> None:
    expression, bound = PRODUCTS[name]
    proved = price_of(flat(expression), TABLE)
    assert proved >= changes(expression).sum(axis=2).max() * (1 - 1e-9)
    assert math.isclose(proved, bound, rel_tol=1e-8)


def normal(expression: Callable[[Any], Any], scale: float = 1.0) -> Any:
    def released(frame: Any, rng: Any) -> Any:
        return [one + rng.normal(scale=scale) for one in flat(expression)(frame)]

    return lt.mechanism(released).on_domain(TABLE)


def epsilon_of(length: float) -> float:
    found = normal_epsilon(Fraction(length), Fraction(1, 10**5), Fraction(0))
    assert found is not None
    return float(found)


ROOT = math.sqrt(2)
#: What a record changes at most, in the Euclidean norm.
LENGTHS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "rows of a norm": (lambda f: matrix(scaled(f)), 4 * ROOT),
    "of two memories": (lambda f: scaled(f).T @ scaled(f).copy(), 4 * ROOT),
    "einsum": (lambda f: np.einsum("ni,nj->ij", scaled(f), scaled(f)), 4 * ROOT),
    "a triangle": (lambda f: matrix(scaled(f))[np.triu_indices(2)], 4 * ROOT),
    "rows of a norm, and a count": (
        lambda f: (matrix(scaled(f)), f["m"].sum()),
        math.hypot(4 * ROOT, 1),
    ),
    "clipped": (lambda f: matrix(np.clip(rows_of(f), -1, 1)), 2 * ROOT),
    "scaled, with ones": (
        lambda f: matrix(np.column_stack([scaled(f)[:, 0], scaled(f)[:, 1], f["m"].to_numpy()])),
        5 * ROOT,
    ),
    "with ones": (lambda f: matrix(np.column_stack([np.ones(len(f)), scaled(f)])), 5 * ROOT),
    "beside": (lambda f: matrix(np.hstack([scaled(f), np.ones((len(f), 1))])), 5 * ROOT),
    "both moments": (lambda f: (scaled(f).sum(axis=0), matrix(scaled(f))), math.hypot(4, 4 * ROOT)),
    "a line": (lambda f: scaled(f).T @ np.clip(f["z"].to_numpy(), -1, 1), 4.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LENGTHS)
def test_normal_noise_pays_for_the_norm_of_the_row(name: str) -> None:
    expression, length = LENGTHS[name]
    true = np.sqrt((changes(expression) ** 2).sum(axis=2).max())
    assert true <= length * (1 + 1e-9)
    proved = align(normal(expression), TABLE, delta=1e-5).epsilon
    assert epsilon_of(float(true)) * (1 - 1e-9) <= proved
    assert math.isclose(proved, epsilon_of(length), rel_tol=1e-7)


@pytest.mark.slow
def test_rows_that_come_and_go_change_no_more_than_their_own_squares() -> None:
    table = lt.Table(COLUMNS, rows=2, relation="add_remove")

    def released(frame: Any, rng: Any) -> Any:
        return matrix(scaled(frame)) + rng.normal(size=(2, 2))

    found = align(lt.mechanism(released).on_domain(table), table, delta=1e-5)
    assert math.isclose(found.epsilon, epsilon_of(4.0), rel_tol=1e-7)


def mirrored(frame: Any, rng: Any, rows: Any = scaled) -> Any:
    noise = np.triu(rng.normal(size=(2, 2)))
    noise = noise + np.triu(noise, 1).T
    return matrix(rows(frame)) + noise


def mirrored_by_diagonals(frame: Any, rng: Any) -> Any:
    noise = np.triu(rng.normal(size=(2, 2)))
    noise = noise + noise.T - np.diag(np.diag(noise))
    return matrix(scaled(frame)) + noise


def mirrored_in_place(frame: Any, rng: Any) -> Any:
    noise = rng.normal(size=(2, 2))
    lower = np.tril_indices(2, -1)
    noise[lower] = noise.T[lower]
    return scaled(frame).T.dot(scaled(frame)) + noise


def of_sum_of_both(frame: Any, rng: Any) -> Any:
    noise = rng.normal(size=(2, 2))
    return matrix(scaled(frame)) + (noise + noise.T) / ROOT  # of variance 2 and 1


@pytest.mark.slow
def test_noise_of_one_triangle_is_enough_where_numpy_calculates_one() -> None:
    for function, length in (
        (mirrored, 4 * ROOT),
        (mirrored_by_diagonals, 4 * ROOT),
        (of_sum_of_both, 4.0),
    ):
        found = align(lt.mechanism(function).on_domain(TABLE), TABLE, delta=1e-5)
        assert math.isclose(found.epsilon, epsilon_of(length), rel_tol=1e-7)
    # Of two memories NumPy calculates all four numbers, which may differ in their last digits.
    found = align(lt.mechanism(mirrored_in_place).on_domain(TABLE), TABLE, delta=1e-5)
    assert found.epsilon == math.inf


@pytest.mark.slow
def test_rows_of_which_numbers_are_left_out_are_two_memories() -> None:
    def turned(frame: Any) -> Any:
        return rows_of(frame, ["x", "m", "z"])[:, ::2].T.T

    def released(frame: Any, rng: Any) -> Any:
        return mirrored(frame, rng, turned)

    assert align(lt.mechanism(released).on_domain(TABLE), TABLE, delta=1e-5).epsilon == math.inf


@pytest.mark.slow
def test_what_has_no_noise_is_not_proved() -> None:
    def diagonal(frame: Any, rng: Any) -> Any:
        total = matrix(scaled(frame))
        return total + np.eye(2) * rng.normal()

    def one_noise(frame: Any, rng: Any) -> Any:
        return matrix(scaled(frame)) + rng.normal(scale=100)

    def inverse(frame: Any, rng: Any) -> Any:
        return np.linalg.inv(matrix(scaled(frame)) + np.eye(2))

    for function in (diagonal, one_noise, inverse):
        found = align(lt.mechanism(function).on_domain(TABLE), TABLE, delta=1e-5)
        assert found.epsilon == math.inf, function


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (lambda f: rows_of(f) @ rows_of(f).T, "numpy.dot"),
        (lambda f: np.dot(rows_of(f), rows_of(f).T), "numpy.dot"),
        (lambda f: rows_of(f).T[:, 0], "index"),
        (lambda f: rows_of(f).reshape(-1).sum(), "moves records"),
        (lambda f: rows_of(f)[::-1].T.sum(), "single records"),
        (lambda f: np.einsum("ni,nj->nij", rows_of(f), rows_of(f)), "einsum"),
        (lambda f: np.einsum("ni,ni->", rows_of(f), rows_of(f)), "einsum"),
        (lambda f: np.einsum("ni,mj->ij", rows_of(f), rows_of(f)), "einsum"),
        (lambda f: rows_of(f, ["x", "w"]).T @ rows_of(f), "infinite"),
        (lambda f: np.cov(rows_of(f).T), "cov"),
    ],
)
def test_all_else_is_refused(expression: Any, words: str) -> None:
    def released(frame: Any, rng: Any) -> Any:
        return expression(frame) + rng.laplace()

    assert words in reason_of(lt.mechanism(released), TABLE)


def regression(frame: Any, rng: Any) -> Any:
    rows, target = scaled(frame), np.clip(frame["z"].to_numpy(), -1, 1)
    return solved(matrix(rows) + rng.normal(0, 30, (2, 2)), rows.T @ target + rng.normal(0, 30, 2))


def solved(moments: Any, products: Any) -> Any:
    moments = moments + 10 * np.eye(2)
    _, vectors = np.linalg.eigh((moments + moments.T) / 2)
    return np.linalg.solve(moments, products), np.linalg.inv(moments).dot(products), vectors[:, -1]


def caught(frame: Any, rng: Any) -> Any:
    noisy = matrix(scaled(frame)) + rng.laplace(0, 30, (2, 2))
    try:
        return np.linalg.inv(noisy)
    except np.linalg.LinAlgError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize("rows", [2, 5_000])
def test_what_is_calculated_of_noisy_matrices_costs_nothing(rows: int) -> None:
    table = lt.Table(COLUMNS, rows=rows)
    length = math.hypot(4 * ROOT, 4) / 30
    found = align(lt.mechanism(regression).on_domain(table), table, delta=1e-5)
    assert math.isclose(found.epsilon, epsilon_of(length), rel_tol=1e-7)


@pytest.mark.slow
def test_a_matrix_that_cannot_be_inverted_is_a_path_of_its_own() -> None:
    table = lt.Table(COLUMNS, rows=50)
    verdict = lt.check_privacy(caught, table, epsilon=26 / 30 + 1e-6, floats="ideal")
    assert verdict.decision == "YES", str(verdict)


def with_library(frame: Any, rng: Any) -> Any:
    a = frame["x"].to_numpy().sum() + rng.laplace(0, 2)
    b = frame["m"].sum() + rng.laplace(0, 1)
    return np.linalg.lstsq(np.array([[a, b], [b, a]]), np.array([a, b]), rcond=None)[0]


@pytest.mark.slow
def test_what_follows_the_last_noise_of_a_table_is_not_followed_but_free() -> None:
    verdict = lt.check_privacy(with_library, lt.Table(COLUMNS, rows=50), epsilon=2.01)
    assert "not followed" not in str(verdict)


TOO_LITTLE: dict[str, Callable[[Any, Any], Any]] = {
    "half the noise": lambda f, rng: matrix(rows_of(f)) + rng.laplace(0, 33 / 2, (2, 2)),
    "products": lambda f, rng: np.dot(f["x"], f["z"]) + rng.laplace(0, 4),
    "one for all": lambda f, rng: matrix(rows_of(f)) + rng.laplace(0, 1000),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TOO_LITTLE)
def test_too_little_noise_is_shown_by_two_tables(name: str) -> None:
    table = lt.Table(COLUMNS, rows=200)
    verdict = lt.check_privacy(lt.mechanism(TOO_LITTLE[name]), table, epsilon=1, floats="ideal")
    assert verdict.decision == "NO", str(verdict)
    assert verdict.witness is not None
    assert verdict.witness.verify(lt.mechanism(TOO_LITTLE[name]).on_domain(table))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_finite_records_against_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, labels = rng.integers(-3, 4, (4, 3)) / 2, rng.integers(-2, 3, 4)

    def told(data: Any) -> Any:
        rows = features[data]
        return rows.T @ rows, rows.T @ labels[data], np.einsum("ni,n->i", rows, labels[data])

    def released(data: Any, noise: Any) -> Any:
        return [one + noise.laplace() for one in flat(told)(data)]

    added = [numbers(told(np.array([value]))) for value in range(4)]
    true = max(np.abs(one - other).sum() for one in added for other in added)
    grid = lt.RecordGrid([4] * 3)
    proved = align(lt.mechanism(released).on_domain(grid), grid).epsilon
    assert true * (1 - 1e-12) <= proved <= true * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("seed", range(40))
def test_moments_of_random_vectors_are_never_above_what_is_known(seed: int) -> None:
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, 4))
    pairs = [(i, j) for i in range(width) for j in range(width)]
    shared = bool(rng.integers(2))
    places = tuple(
        (pair, pairs.index((min(pair), max(pair)) if shared else pair)) for pair in pairs
    )
    weights = {answer: Fraction(int(rng.integers(0, 4))) for _, answer in places}
    found = SecondMoments(places, Fraction(1)).square(weights, is_replaced=True)
    alone = SecondMoments(places, Fraction(1)).square(weights, is_replaced=False)
    vectors = rng.normal(size=(300, width))
    vectors /= np.maximum(1, np.linalg.norm(vectors, axis=1))[:, None]
    answers = {answer: pair for pair, answer in places}
    table = np.array([[v[i] * v[j] for i, j in answers.values()] for v in vectors])
    factors = np.array([float(weights[answer]) for answer in answers])
    single = (table**2 * factors).sum(axis=1).max()
    double = ((table[:, None] - table[None]) ** 2 * factors).sum(axis=2).max()
    assert alone is not None
    assert single <= float(alone) + 1e-12
    if found is not None:
        assert double <= float(found) + 1e-12


def test_which_forms_are_never_negative() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        size = int(rng.integers(1, 5))
        entries = rng.integers(-2, 3, (size, size))
        exact = {(i, j): Fraction(int(entries[i, j])) for i in range(size) for j in range(size)}
        least = np.linalg.eigvalsh((entries + entries.T) / 2).min()
        if abs(least) > 1e-9:
            assert is_semidefinite(exact) == (least > 0)
    assert is_semidefinite(
        {(0, 0): Fraction(1), (0, 1): Fraction(1), (1, 0): Fraction(1), (1, 1): Fraction(1)}
    )
    assert not is_semidefinite({(0, 1): Fraction(1), (1, 0): Fraction(1)})
