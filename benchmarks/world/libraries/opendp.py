"""OpenDP: measurements of compiled Rust, with random numbers of their own.

Versions that the adapter knows are read as their closed forms; of all others samples are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

import liptest as lt
from benchmarks.world.rows import Environment, Laws, Report, Row, Samples

_OLD = ("0.3.0", "0.4.0", "0.5.0", "0.6.2", "0.7.0")
_NEW = ("0.8.0", "0.9.2", "0.10.0", "0.12.1", "0.14.1", "0.14.2", "0.15.1", "0.16.0")
VERSIONS = _OLD + _NEW
ADAPTED = ("0.14.2", "0.15.1", "0.16.0")
ENVIRONMENTS = tuple(Environment("opendp", version, ("numpy==1.26.4",)) for version in VERSIONS)
_ISSUES = "https://github.com/opendp/opendp/issues/"
_CHANGES = "https://github.com/opendp/opendp/blob/main/CHANGELOG.md#040---2021-12-10"


def since(first: str) -> tuple[str, ...]:
    return VERSIONS[VERSIONS.index(first) :]


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _modules(version: str) -> tuple[Any, Any]:
    """Measurements and transformations, under whatever name."""
    if version in _NEW:
        import opendp.prelude as dp

        dp.enable_features("contrib", *([] if number(version) >= (0, 15) else ["floating-point"]))
        return dp.m, dp.t
    from opendp.mod import enable_features

    enable_features("contrib", "floating-point", "honest-but-curious")
    if version in ("0.3.0", "0.4.0", "0.5.0"):
        import opendp.meas as measurements
        import opendp.trans as transformations
    else:
        from opendp import measurements, transformations
    return measurements, transformations


def each(measurement: Callable[[Any], Any], arrange: Callable[[Any], Any]) -> Callable[..., Any]:
    """A sampler that calls the measurement once an output."""

    def draw(dataset: Any, count: int, rng: Any) -> list[Any]:
        argument = arrange(dataset)
        return [measurement(argument) for _ in range(count)]

    return draw


def _response(version: str) -> Laws | Samples:
    measurement = _modules(version)[0].make_randomized_response_bool(0.75)
    if version in ADAPTED:
        adapted = lt.adapters.opendp(measurement, draws=5_000)
        return Laws(adapted, adapted.domain)
    return Samples(each(measurement, lambda data: bool(data[0])), [((0,), (1,))])


def _noise(scale: float, version: str) -> Laws | Samples:
    """Two-sided geometric noise on a whole number: a vector of equal numbers draws many at once."""
    measurements, _ = _modules(version)
    if version in ADAPTED:
        import opendp.prelude as dp

        space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
        adapted = lt.adapters.opendp(measurements.make_laplace(*space, scale=scale), draws=5_000)
        return Laws(adapted, lt.Hypergrid([20]))
    if version in _NEW:
        import opendp.prelude as dp

        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
        measurement = measurements.make_laplace(*space, scale=scale)
    else:
        measurement = measurements.make_base_geometric(scale, D="VectorDomain<AllDomain<i32>>")

    def draw(dataset: Any, count: int, rng: Any) -> Any:
        return np.array(measurement([int(dataset[0])] * count))

    return Samples(draw, [((0,), (1,))])


def _float_noise(version: str) -> Samples:
    measurements, _ = _modules(version)
    if version in _NEW:
        import opendp.prelude as dp

        options = {"nan": False} if number(version) >= (0, 13) else {}
        bare = dp.atom_domain(T=float, **options)
        space = dp.vector_domain(bare), dp.l1_distance(T=float)
        measurement = measurements.make_laplace(*space, scale=1.0)
    else:
        measurement = measurements.make_base_laplace(1.0, D="VectorDomain<AllDomain<f64>>")

    def draw(dataset: Any, count: int, rng: Any) -> Any:
        return np.array(measurement([float(dataset[0])] * count))

    return Samples(draw, [((0,), (1,))], floats="implemented")


def _sized_sum(version: str) -> Samples:
    """Four bits, of which one changes: a change of one record is 2 in the symmetric distance."""
    measurements, transformations = _modules(version)
    total = transformations.make_sized_bounded_sum(4, (0, 1))
    measurement = total >> measurements.make_base_geometric(1.0)
    # The library takes it for 0.5-private, or it does not; the row is what it says.
    claim = 0.5 if measurement.check(2, 0.5) else 1.0
    assert measurement.check(2, claim)
    return Samples(
        each(measurement, lambda data: [int(bit) for bit in data]),
        [((0, 0, 0, 0), (1, 0, 0, 0))],
        claim={"epsilon": claim},
    )


def _threshold(version: str) -> Samples:
    """Counts of words, of which those above a threshold are given."""
    import opendp.prelude as dp

    measurements, transformations = _modules(version)
    space = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    counts = transformations.make_count_by(*space)
    measurement = counts >> measurements.then_laplace_threshold(scale=1.0, threshold=5)
    epsilon, delta = measurement.map(1)

    # Every user has a word of their own, so that one release says of each whether it is given.
    def draw(dataset: Any, count: int, rng: Any) -> list[Any]:
        users = [f"user{k}" for k in range(count)] if dataset[0] else []
        given = measurement(users)
        return [given.get(f"user{k}", -1) for k in range(count)]

    claim = {"epsilon": float(epsilon), "delta": float(delta)}
    return Samples(draw, [((0,), (1,))], samples=2_000_000, sequential=False, claim=claim)


def _bit_vector(version: str) -> Samples:
    """RAPPOR of one byte and of two: how long the answer is."""
    import opendp.prelude as dp

    measurements, _ = _modules(version)
    space = dp.bitvector_domain(max_weight=1), dp.discrete_distance()
    measurement = measurements.make_randomized_response_bitvec(*space, f=0.5)
    draw = each(
        lambda argument: len(measurement(argument)), lambda data: bytes([1, 0][: 1 + int(data[0])])
    )
    return Samples(
        draw, [((0,), (1,))], samples=2_000, claim={"epsilon": float(measurement.map(1))}
    )


def _float_sum(version: str) -> Samples:
    """Two floats in [2^53, 2^53 + 2]: their sum is rounded to a multiple of 4."""
    measurements, transformations = _modules(version)
    low = 2.0**53
    total = transformations.make_sized_bounded_sum(2, (low, low + 2))
    measurement = total >> measurements.make_base_laplace(2.0)
    assert measurement.check(2, 1.0)

    def arrange(data: Any) -> list[float]:
        return [low + 2 * int(bit) for bit in data]

    draw = each(lambda argument: measurement(argument) - 2 * low, arrange)
    return Samples(draw, [((0, 1), (1, 1))])


def _noisy_max(concentrated: bool, version: str) -> Laws | Samples:
    import opendp.prelude as dp

    measurements, _ = _modules(version)
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    measure = dp.zero_concentrated_divergence() if concentrated else dp.max_divergence()
    measurement = measurements.make_noisy_max(*space, measure, scale=1.0)
    adapted = lt.adapters.opendp(
        measurement, domain=lt.AnswerGrid([3, 3], relation="all"), draws=5_000
    )
    return Laws(adapted, adapted.domain, claim=dict(adapted.claim))


def _gaussian(version: str) -> Laws:
    import opendp.prelude as dp

    measurements, _ = _modules(version)
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    adapted = lt.adapters.opendp(measurements.make_gaussian(*space, scale=2.0), draws=5_000)
    return Laws(adapted, adapted.domain, claim=dict(adapted.claim))


def _counting(version: str) -> Laws:
    import opendp.prelude as dp

    _modules(version)
    space = dp.vector_domain(dp.atom_domain(bounds=(0, 1)), size=100), dp.symmetric_distance()
    measurement = space >> dp.t.then_sum() >> dp.m.then_laplace(scale=2.0)
    adapted = lt.adapters.opendp(measurement, draws=5_000)
    return Laws(adapted, adapted.domain, claim=dict(adapted.claim))


def _row(
    name: str, words: str, relation: str, make: Any, versions: Iterable[str], **more: Any
) -> Row:
    options = {"claim": {"epsilon": 1.0}, **more}
    return Row(
        f"opendp-{name}", "opendp", words, relation, versions=tuple(versions), make=make, **options
    )


ROWS = (
    _row(
        "rr-bool",
        "make_randomized_response_bool, prob 3/4",
        "any two bits",
        _response,
        since("0.4.0"),
        claim={"epsilon": math.log(3)},
        report=Report("opendp issue 480", _ISSUES + "480"),
        broken=("0.4.0",),
    ),
    _row(
        "laplace-3",
        "whole numbers, two-sided geometric noise of scale 3",
        "numbers 1 apart",
        partial(_noise, 3.0),
        ("0.4.0", "0.7.0", *since("0.8.0")),
        claim={"epsilon": 1 / 3},
        report=Report("opendp issue 2638, fixed in 0.14.2", _ISSUES + "2638"),
        broken=("0.9.2", "0.10.0", "0.12.1", "0.14.1"),
    ),
    _row(
        "laplace-1",
        "the same of scale 1",
        "numbers 1 apart",
        partial(_noise, 1.0),
        ("0.14.1", "0.16.0"),
    ),
    _row(
        "sized-sum",
        "sum of 4 bits, two-sided geometric noise of scale 1",
        "one bit changes",
        _sized_sum,
        ("0.3.0", "0.4.0"),
        report=Report("CHANGELOG of 0.4.0, Security", _CHANGES),
        broken=("0.3.0",),
    ),
    _row(
        "float-laplace",
        "floats, Laplace noise of scale 1: their lowest bits",
        "numbers 1 apart",
        _float_noise,
        ("0.3.0", "0.4.0", "0.5.0", "0.7.0", "0.9.2", "0.12.1", "0.16.0"),
        report=Report(
            "Haney et al., arXiv 2207.13793, which names OpenDP; CHANGELOG of 0.5.0",
            "https://arxiv.org/abs/2207.13793",
        ),
        broken=("0.3.0", "0.4.0"),
    ),
    _row(
        "float-sum",
        "sum of two floats in [2^53, 2^53 + 2], Laplace noise of scale 2",
        "one record changes",
        _float_sum,
        ("0.3.0", "0.4.0"),
        report=Report(
            "Casacuberta et al., arXiv 2207.10635, of OpenDP's authors",
            "https://arxiv.org/abs/2207.10635",
        ),
        broken=("0.3.0", "0.4.0"),
    ),
    _row(
        "bit-vector",
        "make_randomized_response_bitvec: the length of its answer",
        "inputs at distance 1, of any length",
        _bit_vector,
        ("0.14.2", "0.16.0"),
        claim={},
        report=Report("opendp issue 2930", _ISSUES + "2930"),
        broken=("0.14.2", "0.16.0"),
    ),
    _row(
        "threshold",
        "counts of words, Laplace noise 1, given above 5",
        "one record more",
        _threshold,
        ("0.14.2", "0.16.0"),
        claim={},
        report=Report("opendp issue 2922", _ISSUES + "2922"),
        broken=("0.14.2", "0.16.0"),
    ),
    _row(
        "noisy-max-zcdp",
        "make_noisy_max under zCDP, two scores",
        "each score moves by 1",
        partial(_noisy_max, True),
        ADAPTED,
        claim={},
    ),
    _row(
        "noisy-max",
        "make_noisy_max, two scores",
        "each score moves by 1",
        partial(_noisy_max, False),
        ("0.16.0",),
        claim={},
    ),
    _row(
        "gaussian",
        "whole numbers, discrete Gaussian noise of scale 2",
        "numbers 1 apart",
        _gaussian,
        ("0.16.0",),
        claim={},
    ),
    _row(
        "count",
        "sum of 100 bits, geometric noise of scale 2",
        "one bit changes",
        _counting,
        ("0.16.0",),
        claim={},
    ),
)
