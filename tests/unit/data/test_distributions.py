"""Product laws with exact masses, and samplers of any other law."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from liptest.data.distributions import check_distribution, require_product
from liptest.data.domains import Hypercube, Hypergrid, RecordGrid
from liptest.data.product import ProductDistribution
from liptest.data.sampled import SampledDistribution
from liptest.errors import InputError

CUBE = Hypercube(2)


def laws() -> list[ProductDistribution]:
    return [
        ProductDistribution.uniform(Hypercube(4)),
        ProductDistribution.bernoulli([0.1, 0.5, 1 / 3, 1e-9]),
        ProductDistribution.bernoulli([0.0, 1.0, 0.3]),
        ProductDistribution.bernoulli([1.0, 0.0]),
        ProductDistribution(Hypercube(2), [[0.9, 0.1], [0.3, 0.7]]),
        ProductDistribution.uniform(Hypergrid([3, 1, 4])),
        ProductDistribution(Hypergrid([3, 2]), [[0.2, 0.7, 0.1], [0.0, 1.0]]),
        ProductDistribution(RecordGrid([4, 3]), [[0.1] * 2 + [0.4] * 2, [1 / 3] * 3]),
    ]


@pytest.mark.parametrize("law", laws(), ids=lambda law: str(law.domain))
def test_exact_masses_sum_to_one_and_floats_agree(law: ProductDistribution) -> None:
    points = law.domain.points(np.arange(law.domain.size))
    masses = [law.exact_mass(point) for point in points]
    assert sum(masses) == 1
    logs = law.log_mass(points)
    for mass, log, plain in zip(masses, logs, law.mass(points), strict=True):
        if mass == 0:
            assert log == -math.inf
            assert plain == 0.0
        else:
            assert log == pytest.approx(math.log(mass), rel=1e-14, abs=1e-15)
            assert plain == pytest.approx(float(mass), rel=1e-13)


@pytest.mark.parametrize("law", laws(), ids=lambda law: str(law.domain))
def test_marginals_in_all_forms_agree(law: ProductDistribution) -> None:
    for r, marginal in enumerate(law.marginals()):
        exact = law.exact_marginal(r)
        assert sum(exact) == 1
        assert len(exact) == law.domain.sizes[r]
        assert marginal.tolist() == law.marginal(r).tolist()
        assert [float(mass) for mass in exact] == pytest.approx(marginal, rel=1e-15, abs=0)
        assert [mass == 0 for mass in exact] == [mass == 0 for mass in marginal]


def test_a_cube_answers_the_same_before_and_after_sampling() -> None:
    law = ProductDistribution(Hypercube(2), [[0.9, 0.1], [0.3, 0.7]])
    before = [law.exact_mass([0, 1]), law.exact_marginal(0), law.marginal(1).tolist()]
    law.sample(np.random.default_rng(1), 3)
    assert law.probabilities.tolist() == [0.1, 0.7]
    assert before == [law.exact_mass([0, 1]), law.exact_marginal(0), law.marginal(1).tolist()]
    assert before[1] == ProductDistribution.bernoulli([0.1, 0.7]).exact_marginal(0)


def test_both_ways_to_give_bits_draw_the_same() -> None:
    drawn = [
        law.sample(np.random.default_rng(4), 100)
        for law in (
            ProductDistribution(Hypercube(2), np.array([[0.75, 0.25], [0.5, 0.5]])),
            ProductDistribution.bernoulli([0.25, 0.5]),
        )
    ]
    assert np.array_equal(*drawn)


def test_sums_that_are_off_by_rounding_are_normalised() -> None:
    law = ProductDistribution(RecordGrid([10]), [[0.1] * 10])
    assert sum(law.exact_marginal(0)) == 1
    nearly = ProductDistribution(RecordGrid([2]), [[0.5, 0.5 + 9e-10]])
    assert nearly.marginal(0) == pytest.approx([0.5, 0.5], rel=1e-9)
    assert sum(nearly.exact_marginal(0)) == 1


@pytest.mark.parametrize("law", laws(), ids=lambda law: str(law.domain))
def test_draws_are_points_of_the_support(law: ProductDistribution) -> None:
    points = law.sample(np.random.default_rng(8), 500)
    assert points.shape == (500, law.domain.dimension)
    assert points.dtype == law.domain.dtype
    assert np.all(np.isfinite(law.log_mass(points)))
    assert law.sample(np.random.default_rng(8), 0).shape == (0, law.domain.dimension)


def test_a_stream_is_in_chunks_and_has_every_point() -> None:
    law = ProductDistribution.bernoulli([1.0, 0.0, 0.5])
    chunks = list(law.stream(np.random.default_rng(1), 25, chunk_bytes=30))
    assert [len(chunk) for chunk in chunks] == [10, 10, 5]
    assert all(chunk[:, :2].tolist() == [[1, 0]] * len(chunk) for chunk in chunks)
    assert list(law.stream(np.random.default_rng(1), 0)) == []


@pytest.mark.slow
def test_a_million_bits_stream() -> None:
    d = 1_000_000
    law = ProductDistribution.bernoulli(np.full(d, 0.25))
    chunks = list(law.stream(np.random.default_rng(1), 6))
    assert sum(len(chunk) for chunk in chunks) == 6
    assert max(chunk.nbytes for chunk in chunks) <= 1 << 22
    shares = np.concatenate([chunk.mean(axis=1) for chunk in chunks])
    # 20 standard deviations: sqrt(3/16 / d) = 0.00043.
    assert np.all(np.abs(shares - 0.25) < 0.009)
    log = law.log_mass(np.ones((1, d)))[0]
    assert log == pytest.approx(d * math.log(0.25), rel=1e-12)
    assert law.mass(np.ones((1, d)))[0] == 0.0
    assert law.marginal(d - 1).tolist() == [0.75, 0.25]


def test_probabilities_cannot_be_changed_behind_the_sampler() -> None:
    given = np.array([0.25, 0.5])
    law = ProductDistribution.bernoulli(given)
    given[:] = 0.9
    law.marginal(0)[:] = 0.9
    assert law.probabilities.tolist() == [0.25, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        law.probabilities[0] = 0.9
    grid = ProductDistribution.uniform(Hypergrid([2, 2]))
    grid.marginal(0)[:] = 0.9
    assert grid.marginal(0).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("law", laws(), ids=lambda law: str(law.domain))
def test_pickling_keeps_the_law_and_its_draws(law: ProductDistribution) -> None:
    law.sample(np.random.default_rng(1), 1)
    again = pickle.loads(pickle.dumps(law))
    assert (again.domain, again.source, repr(again)) == (law.domain, law.source, repr(law))
    drawn = [x.sample(np.random.default_rng(2), 20) for x in (law, again)]
    assert np.array_equal(*drawn)
    assert again.exact_marginal(0) == law.exact_marginal(0)


def test_pickles_do_not_carry_the_sampler() -> None:
    law = ProductDistribution.bernoulli(np.full(10_000, 0.5))
    small = len(pickle.dumps(law))
    law.sample(np.random.default_rng(1), 1)
    assert len(pickle.dumps(law)) == small


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ProductDistribution(CUBE, [[0.5, 0.5]]), "1 laws for the 2 coordinates"),
        (lambda: ProductDistribution(CUBE, [[0.5, 0.5], [1.0]]), r"marginals\[1\]: shape=\(1,\)"),
        (lambda: ProductDistribution(CUBE, [[0.5, 0.5], [0.5, 0.6]]), "sums to 1.1, not 1"),
        (lambda: ProductDistribution(CUBE, [[0.5, 0.5], [-0.5, 1.5]]), "between 0 and 1"),
        (lambda: ProductDistribution(CUBE, [[0.5, 0.5], [math.nan, 1]]), "between 0 and 1"),
        (lambda: ProductDistribution(CUBE, [[0.5, 0.5], ["a", "b"]]), r"marginals\[1\]="),
        (lambda: ProductDistribution(CUBE, [[0.5, 0.5], [0, 0]]), "sums to 0"),
        (lambda: ProductDistribution(CUBE, 0.5), "marginals=0.5"),
        (lambda: ProductDistribution(CUBE, None), "marginals=None"),  # type: ignore[arg-type]
        (lambda: ProductDistribution((2, 2), [[1.0]]), "domain="),  # type: ignore[arg-type]
        (lambda: ProductDistribution.bernoulli([]), "shape"),
        (lambda: ProductDistribution.bernoulli([[0.5]]), "shape"),
        (lambda: ProductDistribution.bernoulli([0.5, 1.5]), r"probabilities\[1\]=1.5"),
        (lambda: ProductDistribution.bernoulli([math.nan]), r"probabilities\[0\]=nan"),
        (lambda: ProductDistribution.bernoulli("0.5"), "probabilities='0.5'"),
        (lambda: ProductDistribution.bernoulli([-1e-300]), "between 0 and 1"),
    ],
)
def test_bad_laws_are_refused(build: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()


@pytest.mark.parametrize("count", [-1, 1.5, None])
def test_bad_counts_are_refused(count: Any) -> None:
    rng = np.random.default_rng(1)
    sampled = SampledDistribution(CUBE, lambda n, rng: np.zeros((n, 2)))
    for law in (ProductDistribution.uniform(CUBE), sampled):
        with pytest.raises(InputError, match="count="):
            law.sample(rng, count)
    with pytest.raises(InputError, match="count="):
        list(ProductDistribution.uniform(CUBE).stream(rng, count))


def test_only_cubes_have_probabilities() -> None:
    law = ProductDistribution.uniform(Hypergrid([2, 2]))
    with pytest.raises(InputError, match="not a Hypercube"):
        law.probabilities  # noqa: B018
    assert "not a Hypercube" not in repr(law)


def twins(count: int, rng: np.random.Generator) -> np.ndarray:
    bit = rng.integers(0, 2, size=(count, 1))
    return np.repeat(bit, 2, axis=1)


def twins_rng_first(rng: np.random.Generator, count: int) -> np.ndarray:
    return twins(count, rng)


def twins_generator(generator: np.random.Generator, size: int) -> np.ndarray:
    return twins(size, generator)


class Bound:
    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        return twins(count, rng)


@pytest.mark.parametrize(
    "sampler", [twins, twins_rng_first, twins_generator, Bound().draw, lambda n, g: twins(n, g)]
)
def test_a_sampler_may_take_its_arguments_in_either_order(sampler: Any) -> None:
    law = SampledDistribution(CUBE, sampler)
    points = law.sample(np.random.default_rng(3), 40)
    assert np.array_equal(points, twins(40, np.random.default_rng(3)))
    assert points.dtype == np.int8
    assert not law.is_exact


def test_a_sampler_without_a_signature_is_called_with_the_count_first() -> None:
    sampler = np.random.default_rng(1).bytes
    law = SampledDistribution(CUBE, sampler)  # type: ignore[arg-type]
    assert "bytes" in repr(law)


@pytest.mark.parametrize(
    "drawn", [np.zeros((3, 2)), np.zeros((4, 3)), np.full((4, 2), 2), np.zeros(4), [[0, 1], [1]]]
)
def test_a_wrong_draw_is_an_input_error(drawn: Any) -> None:
    law = SampledDistribution(CUBE, lambda n, rng: drawn)
    with pytest.raises(InputError):
        law.sample(np.random.default_rng(1), 4)


def test_masses_of_a_sampler_are_checked() -> None:
    def law(log_mass: Any) -> SampledDistribution:
        return SampledDistribution(CUBE, twins, log_mass)

    points = [[0, 0], [0, 1]]
    right = law(lambda x: np.where(x[:, 0] == x[:, 1], math.log(0.5), -math.inf))
    assert right.log_mass(points).tolist() == [math.log(0.5), -math.inf]
    with pytest.raises(InputError, match="log_mass=None"):
        SampledDistribution(CUBE, twins).log_mass(points)
    for wrong in (
        lambda x: 0.0,
        lambda x: np.zeros((len(x), 1)),
        lambda x: np.full(len(x), math.nan),
        lambda x: np.full(len(x), 0.5),
        lambda x: ["a"] * len(x),
    ):
        with pytest.raises(InputError, match="log_mass"):
            law(wrong).log_mass(points)


@pytest.mark.parametrize("wrong", [None, 3, "sampler"])
def test_a_sampler_must_be_callable(wrong: Any) -> None:
    with pytest.raises(InputError, match="sampler="):
        SampledDistribution(CUBE, wrong)
    with pytest.raises(InputError, match="domain="):
        SampledDistribution(wrong, twins)


def test_what_is_and_what_is_no_distribution() -> None:
    law, sampled = ProductDistribution.uniform(CUBE), SampledDistribution(CUBE, twins)
    assert check_distribution(law, Hypercube(2)) is law
    assert check_distribution(sampled) is sampled
    assert require_product(law, "me") is law
    with pytest.raises(InputError, match="must be a ProductDistribution"):
        check_distribution(CUBE)
    with pytest.raises(InputError, match=r"on Hypercube\(2\), not on Hypergrid"):
        check_distribution(law, Hypergrid([2, 2]))
    with pytest.raises(InputError, match="me needs a ProductDistribution"):
        require_product(sampled, "me")


def test_exact_mass_of_one_point_only_needs_that_point() -> None:
    law = ProductDistribution.bernoulli([0.25, 0.5])
    assert law.exact_mass([1, 0]) == Fraction(1, 8)
    with pytest.raises(InputError):
        law.exact_mass([1, 2])


@pytest.mark.parametrize("wrong", [None, 3, (2, 2), Hypercube])
def test_a_domain_is_needed(wrong: Any) -> None:
    for build in (
        lambda: ProductDistribution(wrong, [[1.0]]),
        lambda: ProductDistribution.uniform(wrong),
        lambda: ProductDistribution.fit([[0, 1]], domain=wrong),
        lambda: SampledDistribution(wrong, twins),
    ):
        with pytest.raises(InputError, match=r"domain=.*must be a Hypercube"):
            build()


def test_the_expected_clicks_of_the_page_on_distributions() -> None:
    """docs/distributions.md: shrinkage predicts the private clicks, adding one does not."""
    text = (files("liptest") / "examples/clicks/open_bandit_clicks.csv").read_text()
    rows = np.loadtxt(text.splitlines(), delimiter=",", skiprows=1, dtype=int)
    item, click = rows[:, 1], rows[:, 4]
    public, private = slice(0, 5000), slice(5000, 10_000)
    fitted = ProductDistribution.fit(
        click[public], domain=Hypercube(5000), groups=item[public], record_groups=item[private]
    )
    clicks = np.bincount(item[public], weights=click[public], minlength=item.max() + 1)
    shown = np.bincount(item[public], minlength=item.max() + 1)
    add_one = ((clicks + 1) / (shown + 2))[item[private]].sum()
    assert (click[public].sum(), click[private].sum()) == (19, 19)
    assert f"{fitted.probabilities.sum():.1f}" == "19.1"
    assert f"{add_one:.1f}" == "97.0"
