"""Published mechanisms, rebuilt as exact tables and formulas: exact epsilon by a plain loop."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.mechanisms import catalogue
from liptest.mechanisms.additive import DiscreteLaplace
from liptest.mechanisms.declared import ClosedForm, ExactForm, StatisticMechanism
from liptest.mechanisms.laws import Raised
from liptest.mechanisms.shift import ShiftMechanism
from liptest.statistics.sums import Count, Histogram, WeightedSum
from tests.shares import mostly_slow

Loss = Callable[..., float]
PUBLISHED = json.loads(Path(__file__).with_name("published.json").read_text())
CASES = {case["key"]: case for case in PUBLISHED["cases"]}


def opendp_bool(dataset: np.ndarray) -> list[Fraction]:
    """lie ~ Bernoulli(3/4), honest ~ Bernoulli(3/4): the input if honest, else the lie."""
    p, bit = Fraction(3, 4), int(dataset[0])
    one = p * bit + (1 - p) * p
    return [1 - one, one]


def truncated_geometric(epsilon: float) -> Callable[[np.ndarray], list[Fraction]]:
    """Whole-number arithmetic: the ratio of neighbouring outputs is 1 + 2^-ceil(ln(2/epsilon))."""
    q = 1 / (1 + Fraction(1, 2 ** math.ceil(math.log(2 / epsilon))))
    n = 5

    def pmf(dataset: np.ndarray) -> list[Fraction]:
        count = int(dataset[0])
        middle = [(1 - q) / (1 + q) * q ** abs(o - count) for o in range(1, n)]
        return [q**count / (1 + q), *middle, q ** (n - count) / (1 + q)]

    return pmf


def unary(true_bit: float, other_bit: float) -> ClosedForm:
    """Each of 4 bits is set apart: the one of the value with another probability."""
    outputs = list(product((0, 1), repeat=4))

    def log_pmf(datasets: np.ndarray) -> np.ndarray:
        chance = np.where(datasets == np.arange(4), true_bit, other_bit)[:, None, :]
        return np.log(np.where(np.array(outputs) == 1, chance, 1 - chance)).sum(axis=2)

    return ClosedForm(outputs, log_pmf, error=1e-14)


def subset_selection(k: int, epsilon: float) -> ClosedForm:
    """A set of w of k values that has the true one with probability e^eps w / (e^eps w + k - w)."""
    w = max(1, round(k / (math.exp(epsilon) + 1)))
    outputs = list(combinations(range(k), w))
    share = math.exp(epsilon) * w / (math.exp(epsilon) * w + k - w)
    inside = math.log(share / math.comb(k - 1, w - 1))
    outside = math.log((1 - share) / math.comb(k - 1, w))

    def log_pmf(datasets: np.ndarray) -> np.ndarray:
        return np.where((np.array(outputs) == datasets[:, :1, None]).any(axis=2), inside, outside)

    return ClosedForm(outputs, log_pmf, error=1e-14)


def two_bins(given: str) -> StatisticMechanism:
    """Both counts of a two-bin histogram with geometric noise, cut to 0 .. 6."""
    single = catalogue.truncated_geometric_count(6, 1.0)

    def log_pmf(histograms: np.ndarray) -> np.ndarray:
        first, second = (single.log_pmf(histograms[:, k]) for k in (0, 1))
        return (first[:, :, None] + second[:, None, :]).reshape(len(histograms), -1)

    outputs = list(product(range(7), repeat=2))
    return StatisticMechanism(Histogram(2, given=given), outputs, log_pmf, error=1e-14)


def crash(dataset: np.ndarray) -> list[Fraction]:
    """An answer, or an exception when at most one bit is set."""
    fails = Fraction(int(dataset.sum() <= 1))
    return [fails, 1 - fails]


def built(key: str) -> tuple[Any, Domain]:
    half, bit = math.exp(0.5) / (1 + math.exp(0.5)), Hypercube(1)
    sum_of = ShiftMechanism(WeightedSum([1] * 4), DiscreteLaplace(1))
    five = ShiftMechanism(WeightedSum([1] * 5), DiscreteLaplace(Fraction(1, 2)))
    return {
        "opendp-rr-bool-0.75": (ExactForm([0, 1], opendp_bool), bit),
        "opendp-sized-sum-0-1": (sum_of, Hypercube(4)),
        "opendp-sized-sum-0-2": (sum_of, RecordGrid([3] * 4)),
        "opendp-laplace-1": (ShiftMechanism(Count(), DiscreteLaplace(1)), Hypercube(4)),
        "pure-ldp-112-SUE": (unary(1 - (1 - half) * half, 1 - half), RecordGrid([4])),
        "pure-ldp-120-SUE": (unary(half, 1 - half), RecordGrid([4])),
        "pure-ldp-DE": (catalogue.k_ary_randomised_response(4, 1.0), RecordGrid([4])),
        "mfldpy-GRR": (catalogue.k_ary_randomised_response(4, 1.0), RecordGrid([4])),
        "ldptoolbox-ss": (subset_selection(6, 1.0), RecordGrid([6])),
        "dpl-binary": (catalogue.randomised_response(1, 1.0), bit),
        "dpl-hist-sub": (two_bins("records"), RecordGrid([2] * 4)),
        "dpl-hist-rem": (two_bins("counts"), Hypergrid([5, 5])),
        "dpsniper-truncgeo-0.1": (
            ExactForm(tuple(range(6)), truncated_geometric(0.1)),
            Hypergrid([6]),
        ),
        "dpsniper-truncgeo-1.0": (
            ExactForm(tuple(range(6)), truncated_geometric(1.0)),
            Hypergrid([6]),
        ),
        "snsql-quantile-crash": (ExactForm((Raised("ValueError"), 0), crash), Hypercube(4)),
        "bad-partial-sum": (five, Hypergrid([3] * 5)),
        "noisy-hist-1": (ShiftMechanism(WeightedSum([1]), DiscreteLaplace(1)), Hypergrid([9])),
    }[key]


@pytest.mark.parametrize("key", mostly_slow(CASES, 3))
def test_exact_epsilon(largest_loss: Loss, key: str) -> None:
    case = CASES[key]
    loss = largest_loss(*built(key))
    digits = 1e-5 if key == "pure-ldp-112-SUE" else 1e-12
    assert loss == pytest.approx(float(case["true_epsilon"]), rel=digits)
    assert (loss <= case["claimed_epsilon"] * (1 + 1e-9)) == (case["verdict"] == "YES")


def test_published_witnesses() -> None:
    rr = built("opendp-rr-bool-0.75")[0]
    assert rr.law(np.array([0])).exact(0) == Fraction(13, 16)
    assert rr.law(np.array([1])).exact(0) == Fraction(1, 16)
    geometric = built("dpsniper-truncgeo-0.1")[0]
    assert geometric.law(np.array([4])).exact(5) == Fraction(8, 17)
    assert geometric.law(np.array([5])).exact(5) == Fraction(9, 17)
    unary_bug = built("pure-ldp-112-SUE")[0]
    shares = [unary_bug.law(np.array([x]))[1, 0, 1, 1] for x in (0, 1)]
    assert shares == pytest.approx([0.0678731, 0.0126464], rel=1e-5)
    bins = built("dpl-hist-sub")[0]
    shares = [bins.law(np.array(x))[0, 2] for x in ([0, 0, 0, 0], [0, 0, 0, 1])]
    assert shares == pytest.approx([8.374e-4, 6.188e-3], rel=1e-4)


def sparse_vector(kind: str) -> ClosedForm:
    """Threshold 0 with noise, five answers with noise, "above" or not; stops, but for SVT6.

    The sum over the threshold's noise is cut where its tail is below 1e-40.
    """
    threshold, answers = {"SVT1": (2, 4), "SVT4": (4, 4 / 3), "SVT6": (2, 2)}[kind]
    cut = np.arange(-400, 401)
    weights = np.exp(DiscreteLaplace(threshold).log_pmf(cut))
    stops = kind != "SVT6"
    outputs = (
        [(0,) * k + (1,) for k in range(5)] + [(0,) * 5]
        if stops
        else list(product((0, 1), repeat=5))
    )

    def above(answer: np.ndarray) -> np.ndarray:
        # Pr[noise >= t], t = threshold - answer, from the closed form of the tail.
        t, q = cut - answer, math.exp(-1 / answers)
        return np.where(t > 0, q ** np.maximum(t, 0), 1 + q - q ** (1 - np.minimum(t, 0))) / (1 + q)

    table = np.stack([above(np.array(a)) for a in range(3)])

    def log_pmf(datasets: np.ndarray) -> np.ndarray:
        chances = table[datasets]
        rows = [
            np.prod(
                [chances[:, j] if bit else 1 - chances[:, j] for j, bit in enumerate(o)], axis=0
            )
            for o in outputs
        ]
        return np.log(np.stack(rows, axis=1) @ weights)

    return ClosedForm(outputs, log_pmf, error=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "relation", "true_epsilon"), PUBLISHED["sparse_vector"]["true_epsilon"]
)
def test_sparse_vector(largest_loss: Loss, kind: str, relation: str, true_epsilon: float) -> None:
    domain = Hypergrid([3] * 5)
    moves = np.array(list(product((-1, 0, 1), repeat=5)), dtype=np.int8)

    def all_may_move(point: np.ndarray) -> np.ndarray:
        others = point + moves
        return others[((others >= 0) & (others <= 2)).all(axis=1)]

    neighbours = all_may_move if relation == "ALL" else None
    found = largest_loss(sparse_vector(kind), domain, neighbours)
    assert found == pytest.approx(true_epsilon, rel=1e-11)
