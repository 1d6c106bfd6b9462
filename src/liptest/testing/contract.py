"""Contract suites for extensions: what passes keeps the promises of what is shipped.

::

    from liptest.testing import check_statistic, check_tester

    def test_my_tester():
        check_tester(MyTester())

    def test_my_statistic():
        check_statistic(MyStatistic(), lt.Hypercube(6))
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.distributions import Distribution
from liptest.data.domains import Domain, Hypercube, Hypergrid, IntArray, RecordGrid
from liptest.data.points import PointBatch
from liptest.data.product import ProductDistribution
from liptest.data.sampled import SampledDistribution
from liptest.errors import InputError
from liptest.lipschitz.check import DifferenceJudge, check_lipschitz
from liptest.lipschitz.oracles import FunctionOracle
from liptest.lipschitz.testers.base import LipschitzTester, PairTester
from liptest.lipschitz.verdicts import LipschitzVerdict, QueryPlan
from liptest.runs.driver import QueryBatch, Sampling, run
from liptest.statistics.protocol import Statistic
from liptest.verdicts import Decision

Row = tuple[int, ...]
Edge = tuple[Row, Row]

_PROXIMITY, _FAILURE = 0.2, 0.1
#: A power check fails only when chance explains it with probability below this.
_TAIL = 1e-12
_POWER_SEEDS = 60


def sample_distributions() -> tuple[Distribution, ...]:
    """Small laws on every kind of domain: uniform, skewed, with constant coordinates."""
    return (
        ProductDistribution.uniform(Hypercube(3)),
        ProductDistribution.bernoulli([0.5, 0.1, 1.0, 0.7]),
        ProductDistribution.uniform(Hypergrid([4, 4])),
        ProductDistribution(Hypergrid([3, 1, 5]), [[0.2, 0.7, 0.1], [1.0], [0.4, 0, 0.2, 0, 0.4]]),
        ProductDistribution.uniform(RecordGrid([3, 3])),
        ProductDistribution(RecordGrid([2, 4, 3]), [[0.9, 0.1], [0.25] * 4, [0.0, 1.0, 0.0]]),
        SampledDistribution(Hypercube(2), _twins),
    )


def check_tester(
    tester: LipschitzTester,
    *,
    distributions: Sequence[Distribution] | None = None,
    seeds: int = 8,
) -> None:
    """Assert everything that ``LipschitzTester`` promises, on small laws.

    It is frozen, picklable and stateless; ``not_applicable`` and ``plan`` agree; draws lie in
    the domain, with true distances; results do not depend on the workers; Lipschitz functions
    with all their differences on ties are accepted for every seed at the planned cost; functions
    of known distance above proximity are rejected as often as promised, each with a pair of
    neighbours that verifies.

    Parameters
    ----------
    tester
        Must be able to plan proximity 0.2 and failure_probability 0.1.
    distributions
        Laws to try; default ``sample_distributions()``. The tester must apply to one of them.
    seeds
        Runs per Lipschitz function.

    Raises
    ------
    AssertionError
        Names the broken promise.
    """
    _check_value(tester)
    usable = 0
    for distribution in distributions or sample_distributions():
        if not _check_applicability(tester, distribution):
            continue
        usable += 1
        plan = _plan(tester, distribution)
        _check_plan(tester, plan)
        if plan.draws:
            _check_draws(tester, distribution, plan)
            _check_workers(tester, distribution)
        _check_accepts(tester, distribution, plan, seeds)
        _check_rejects(tester, distribution)
    _require(usable > 0, tester, "applies to none of the distributions; give distributions=")


def check_statistic(statistic: Statistic, domain: Domain) -> None:
    """Assert everything that ``Statistic`` promises, on all datasets of a small domain.

    Values are whole numbers; those of changed datasets agree; edges, where they are known, are
    exactly the pairs of different values of neighbours, each once, and realised both ways; records
    of one kind may be exchanged; counts and differences say the same.

    Raises
    ------
    AssertionError
        Names the broken promise.
    """
    statistic.check(domain)
    points = domain.points(np.arange(domain.size))
    values = statistic.values(points)
    shape = len(values) == len(points) and values.ndim in (1, 2) and values.dtype == np.int64
    _require(shape, statistic, "values must be (n,) or (n, k) int64")
    batch = PointBatch(points, *domain.neighbour_changes(points))
    neighbours = statistic.values(batch.array()[len(points) :])
    changed = statistic.changed_values(batch, values.copy())
    _require(np.array_equal(changed, neighbours), statistic, "changed_values differ from values")
    count = statistic.edge_count(domain)
    if count is None:
        _require(not statistic.proved_edges, statistic, "edges are proved, but none are known")
    else:
        own = _as_rows(values)
        pairs = {
            _edge(own[row], end) for row, end in zip(batch.rows, _as_rows(neighbours), strict=True)
        }
        _check_edges(statistic, domain, count, {pair for pair in pairs if pair[0] != pair[1]})
    _check_kinds(statistic, domain, points, values)


def _check_edges(statistic: Statistic, domain: Domain, count: int, wanted: set[Edge]) -> None:
    chunks = list(statistic.edges(domain))
    ends = [pair for left, right in chunks for pair in zip(left, right, strict=True)]
    listed = [_edge(*_as_rows(np.stack(pair))) for pair in ends]
    _require(set(listed) >= wanted, statistic, f"edges lack {_few(wanted - set(listed))}")
    _require(set(listed) <= wanted, statistic, f"not an edge: {_few(set(listed) - wanted)}")
    _require(len(listed) == len(wanted) == count, statistic, f"edge_count={count} is wrong")
    for a, b in [*ends, *[pair[::-1] for pair in ends]]:
        pair = np.stack(statistic.realise(domain, a, b))
        near = domain.distance(pair[:1], pair[1:])[0] == 1
        same = np.array_equal(statistic.values(pair), np.stack([a, b]))
        _require(near and same, statistic, f"realise is wrong for {a} and {b}")
    sets = statistic.difference_sets(domain)
    if sets is not None:
        gaps = [(gap, place) for gap, bits in sets.lower.items() for place in _ones(bits)]
        lower = [(sets.base + sets.unit * place, sets.unit * gap) for gap, place in gaps]
        same = {((low,), (low + gap,)) for low, gap in lower} == wanted
        _require(same, statistic, "difference_sets are not those of the edges")


def _check_kinds(
    statistic: Statistic, domain: Domain, points: IntArray, values: NDArray[np.int64]
) -> None:
    kinds = statistic.kinds(domain)
    if kinds is None:
        return
    for kind in set(kinds.tolist()):
        first, *others = np.flatnonzero(kinds == kind)
        for other in others:
            swapped = points.copy()
            swapped[:, [first, other]] = swapped[:, [other, first]]
            same = np.array_equal(statistic.values(swapped), values)
            _require(same, statistic, f"records {first} and {other} are not of one kind")
    of_counts = statistic.of_counts(domain)
    if of_counts is not None:
        widest = max(domain.sizes)
        cells = np.arange((int(kinds.max()) + 1) * widest)
        counts = (kinds * widest + points)[:, :, None] == cells
        same = np.array_equal(of_counts.values(counts.sum(axis=1)), values)
        _require(same, statistic, "of_counts gives other values")


def _as_rows(values: NDArray[np.int64]) -> list[Row]:
    return [tuple(row) for row in (values[:, None] if values.ndim == 1 else values).tolist()]


def _edge(first: Row, second: Row) -> Edge:
    return (first, second) if first <= second else (second, first)


def _ones(bits: int) -> list[int]:
    return [place for place in range(bits.bit_length()) if bits >> place & 1]


def _few(pairs: set[Edge]) -> list[Edge]:
    return sorted(pairs)[:3]


def _check_value(tester: LipschitzTester) -> None:
    _require(isinstance(tester, LipschitzTester), tester, "lacks a member of LipschitzTester")
    _require(isinstance(tester.name, str) and tester.name != "", tester, "has no name")
    _require(tester.approximation_factor >= 1.0, tester, "approximation_factor is below 1")
    _require(pickle.loads(pickle.dumps(tester)) == tester, tester, "changes when pickled")
    hash(tester)
    try:
        tester.liptest_probe = 1  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        return
    _require(False, tester, "is not frozen; make it a frozen dataclass")


def _check_applicability(tester: LipschitzTester, distribution: Distribution) -> bool:
    reason = tester.not_applicable(distribution)
    _require(isinstance(reason, str), tester, f"not_applicable gives {reason!r}, not a sentence")
    wrong: list[dict[str, float]] = [
        {"proximity": 0.0, "failure_probability": _FAILURE},
        {"proximity": 1.0, "failure_probability": _FAILURE},
        {"proximity": _PROXIMITY, "failure_probability": 0.0},
        {"proximity": _PROXIMITY, "failure_probability": math.nan},
    ]
    if reason:
        wrong = [{"proximity": _PROXIMITY, "failure_probability": _FAILURE}]
    for numbers in wrong:
        try:
            tester.plan(distribution, **numbers)
        except InputError:
            continue
        _require(False, tester, f"plans {numbers} on {distribution}; InputError expected")
    return not reason


def _check_plan(tester: LipschitzTester, plan: QueryPlan) -> None:
    _require(plan.tester == tester.name, tester, f"its plan is called {plan.tester}")
    factor = plan.approximation_factor
    _require(factor == tester.approximation_factor, tester, f"its plan has theta {factor}")
    counted = plan.diameter_draws + plan.draws * plan.points_per_draw
    _require(plan.queries == counted, tester, f"{plan.queries} queries, not {counted}")
    _require(plan.queries >= 0, tester, "negative number of queries")


def _check_draws(tester: LipschitzTester, distribution: Distribution, plan: QueryPlan) -> None:
    draw: Callable[..., QueryBatch] = partial(tester.draw, distribution)
    copy = pickle.loads(pickle.dumps(draw))
    for count in (1, 7, 100):
        batch, again = (drawing(np.random.default_rng(count), count) for drawing in (draw, copy))
        points = distribution.domain.check_points(batch.points.array())
        _require(
            np.array_equal(points, again.points.array()), tester, "equal generators, other draws"
        )
        centres = len(batch.points.centres)
        _require(centres == count, tester, f"{centres} centres for {count} draws")
        _require(
            len(points) <= count * plan.points_per_draw, tester, "more points than points_per_draw"
        )
        left, right = batch.pair_positions()
        true = distribution.domain.distance(points[left], points[right])
        _require(np.array_equal(true, batch.pair_distances()), tester, "wrong distances")
        same = all(batch.draw_of(i) == batch.draw_of(j) for i, j in zip(left, right, strict=True))
        _require(same, tester, "compares points of different draws")


def _check_workers(tester: LipschitzTester, distribution: Distribution) -> None:
    oracle = FunctionOracle(_steep(0, 0.9), distribution.domain)
    sampling = Sampling(
        draw=partial(tester.draw, distribution),
        judge=DifferenceJudge(oracle, 1.0),
        draws=200,
        points_per_draw=2,
        dimension=distribution.domain.dimension,
        seed=1,
        chunk_points=16,
    )
    with ThreadPoolExecutor(2) as executor:
        pooled = run(sampling, executor=executor).total
    _require(repr(pooled) == repr(run(sampling).total), tester, "results depend on the workers")


def _check_accepts(
    tester: LipschitzTester, distribution: Distribution, plan: QueryPlan, seeds: int
) -> None:
    for seed in range(seeds):
        constant = (1.0, 0.1, 1.0 / 3.0, 2.7)[seed % 4]
        function = lipschitz_on_ties(distribution, constant, seed)
        verdict = _run(tester, distribution, function, seed, constant)
        where = f"seed {seed}, constant {constant}, {distribution}"
        _require(
            verdict.decision is Decision.ACCEPT, tester, f"rejects a Lipschitz function ({where})"
        )
        cost = verdict.cost
        _require(cost.queries <= plan.queries, tester, f"{cost.queries} queries ({where})")
        if isinstance(tester, PairTester):
            _require(cost.draws == plan.draws, tester, f"{cost.draws} draws ({where})")


def _check_rejects(tester: LipschitzTester, distribution: Distribution) -> None:
    if not isinstance(distribution, ProductDistribution):
        return
    free = [1.0 - float(mass.max()) for mass in distribution.marginals()]
    coordinate = int(np.argmax(free))
    if free[coordinate] <= _PROXIMITY:
        return
    # Off a set of mass <= proximity the coordinate takes two values on some line.
    function = _steep(coordinate, 1.5 * tester.approximation_factor)
    rejected = 0
    for seed in range(_POWER_SEEDS):
        verdict = _run(tester, distribution, function, seed)
        if verdict.decision is Decision.REJECT:
            rejected += 1
            _check_witness(tester, distribution, function, verdict)
    tail = binomial_tail(rejected, _POWER_SEEDS, 1.0 - _FAILURE)
    _require(
        tail >= _TAIL,
        tester,
        f"rejects a function at distance {free[coordinate]:g} only {rejected} times in "
        f"{_POWER_SEEDS} on {distribution}",
    )


def _check_witness(
    tester: LipschitzTester, distribution: Distribution, function: Any, verdict: LipschitzVerdict
) -> None:
    witness = verdict.witness
    _require(
        witness is not None
        and witness.distance == 1
        and witness.verify(function, distribution.domain),
        tester,
        f"rejects without a pair of neighbours that verifies: {witness}",
    )


def lipschitz_on_ties(
    distribution: Distribution, constant: float, seed: int
) -> Callable[[IntArray], NDArray[np.float64]]:
    """A Lipschitz function with most of its differences at the limit: a maximum of cones."""
    domain = distribution.domain
    rng = np.random.default_rng(seed)
    tops = np.column_stack([rng.integers(0, size, 3) for size in domain.sizes])
    heights = rng.integers(0, domain.diameter + 1, 3)

    def function(points: IntArray) -> NDArray[np.float64]:
        cones = [
            height - domain.distance(points, np.broadcast_to(top, points.shape))
            for top, height in zip(tops, heights, strict=True)
        ]
        return np.asarray(constant * np.max(cones, axis=0))

    return function


def binomial_tail(successes: int, trials: int, probability: float) -> float:
    """P[at most ``successes`` of ``trials``] at this probability of one."""
    return math.fsum(
        math.comb(trials, k) * probability**k * (1.0 - probability) ** (trials - k)
        for k in range(successes + 1)
    )


def _steep(coordinate: int, slope: float) -> Callable[[IntArray], NDArray[np.float64]]:
    """f(x) = slope * x_r; above slope 1 its distance is 1 - max D_r, exactly."""
    return lambda points: slope * points[:, coordinate].astype(np.float64)


def _plan(tester: LipschitzTester, distribution: Distribution) -> QueryPlan:
    return tester.plan(distribution, proximity=_PROXIMITY, failure_probability=_FAILURE)


def _run(
    tester: LipschitzTester,
    distribution: Distribution,
    function: Any,
    seed: int,
    constant: float = 1.0,
) -> LipschitzVerdict:
    return check_lipschitz(
        function,
        distribution,
        proximity=_PROXIMITY,
        failure_probability=_FAILURE,
        tester=tester,
        seed=seed,
        lipschitz_constant=constant,
    )


def _twins(count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.repeat(rng.integers(0, 2, (count, 1)), 2, axis=1)


def _require(condition: bool, tester: object, message: str) -> None:
    if not condition:
        named = tester.name if isinstance(tester, (LipschitzTester, Statistic)) else ""
        name = named or type(tester).__name__
        raise AssertionError(f"{name}: {message}")
