"""The verdict record: a few hundred checks with everything that they answer, written down.

A change of the house changes none of them. ``test_verdict_record`` compares them one by one; where
a verdict changes for a reason, say the reason in the commit and write the record anew:

    python -m tests.golden.verdict_record --write
    python -m tests.golden.verdict_record            # lists what differs, to the last digit

Only public names of liptest are used, so that the record outlives any move.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction as F
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import liptest as lt
from liptest.lipschitz import testers
from liptest.lipschitz.distance import image_diameter, sample_diameter
from liptest.lipschitz.local_filter import LocalFilter
from liptest.lipschitz.oracles import packed
from liptest.mechanisms.declared import ExactForm
from liptest.privacy.noiseless import noiseless_privacy
from tests.golden.catalogue_cases import ENTRIES
from tests.golden.verdict_programs import ALL, COUNTS, ONE, PROGRAMS, RECORDS

PATH = Path(__file__).with_name("verdict_record.json")
CUBE = lt.Hypercube(3)
SEED = 7
#: Numbers of a verdict's cost; seconds are left out.
COUNTED = ("queries", "laws", "draws", "pairs", "repeats", "search_laws", "search_datasets")
PROMISED = (
    *("kind", "form", "exception_mass", "failure_probability", "approximation_factor"),
    *("epsilon", "delta", "tolerance", "not_covered"),
)

DEAR = (
    *("published: svt", "published: noisy max", "code by ", "code: one_of_many", "code: endless"),
    *("exact epsilon of code: ", "code: count_of_many_bits_too", "code: mean_and_square"),
    *("method DJT12", "code: difference_of_geom", "code: rounded_without", "code: histogram_of_m"),
    *("statistic: count of very many + discrete Gaussian", "method group: rationals on records"),
)

Check = Callable[[], Any]
CHECKS: dict[str, Check] = {}


# -- what is written down --------------------------------------------------------------------------
def plain(value: Any) -> Any:
    """JSON values that compare exactly; long vectors by a hash."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, F):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list | tuple):
        if len(value) > 48:
            digest = hashlib.sha256(repr(list(map(plain, value))).encode()).hexdigest()
            return f"{len(value)} values, sha256 {digest[:16]}"
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return output_text(value)


def output_text(output: Any) -> str:
    """An output as one line; sets in order."""
    if isinstance(output, set | frozenset):
        return "{" + ", ".join(sorted(map(output_text, output))) + "}"
    text = repr(output)
    return (
        text if len(text) <= 200 else f"{text[:160]}.. {hashlib.sha256(text.encode()).hexdigest()}"
    )


def privacy_witness(witness: Any, mechanism: Any) -> dict[str, Any] | None:
    if witness is None:
        return None
    return {
        "dataset": plain(witness.dataset),
        "neighbour": plain(witness.neighbour),
        "event": [output_text(output) for output in witness.event[:8]],
        "outputs": len(witness.event),
        "probability": plain(witness.probability),
        "neighbour_probability": plain(witness.neighbour_probability),
        "loss": plain(witness.loss),
        "distance": witness.distance,
        "verifies": witness.verify(mechanism),
    }


def numbers_of(record: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: plain(getattr(record, name)) for name in names}


def privacy(mechanism: Any, distribution: Any, **options: Any) -> dict[str, Any]:
    """What ``check_privacy`` answers."""
    verdict = lt.check_privacy(mechanism, distribution, seed=SEED, **options)
    return {
        "decision": str(verdict.decision),
        "method": verdict.method,
        "witness": privacy_witness(verdict.witness, mechanism),
        "largest_loss": plain(verdict.largest_loss),
        "law_source": verdict.law_source,
        "guarantee": numbers_of(verdict.guarantee, PROMISED),
        "cost": numbers_of(verdict.cost, COUNTED),
        "planned_draws": verdict.plan.draws,
        "exception_mass_found": plain(verdict.exception_mass_found),
    }


def epsilon_of(mechanism: Any, domain: Any) -> dict[str, Any]:
    """What ``exact_epsilon`` answers."""
    found = lt.exact_epsilon(mechanism, domain)
    return {
        **numbers_of(found, ("value", "lower", "upper", "pairs", "laws")),
        "witness": privacy_witness(found.witness, mechanism),
    }


def law_of(mechanism: Any, dataset: Any) -> dict[str, Any]:
    """What ``output_law`` answers."""
    law = lt.output_law(mechanism, dataset)
    rows = sorted((output_text(output), plain(chance)) for output, chance in law.items())
    shown = rows if len(rows) <= 12 else [*rows[:12], f"and {len(rows) - 12} more"]
    return {"law": plain(shown), "unexplored": str(law.unexplored), "source": law.source}


def lipschitz(function: Any, distribution: Any, **options: Any) -> dict[str, Any]:
    """What ``check_lipschitz`` answers."""
    verdict = lt.check_lipschitz(
        function, distribution, proximity=0.3, failure_probability=0.1, seed=SEED, **options
    )
    witness = verdict.witness
    points = ("point", "neighbour", "value", "neighbour_value", "distance", "limit")
    return {
        "decision": str(verdict.decision),
        "tester": verdict.plan.tester,
        "witness": None if witness is None else numbers_of(witness, points),
        "largest_ratio": plain(verdict.largest_ratio),
        "guarantee": numbers_of(verdict.guarantee, PROMISED),
        "cost": numbers_of(verdict.cost, COUNTED),
        "planned_queries": verdict.plan.queries,
    }


def observed(check: Check) -> dict[str, Any]:
    """The answer of a check, or the kind of its refusal."""
    try:
        found = check()
    except lt.errors.LiptestError as error:
        found = {"refused": type(error).__name__}
    entry: dict[str, Any] = json.loads(json.dumps(found))
    return entry


def keep(name: str, check: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    assert name not in CHECKS, name
    CHECKS[name] = partial(check, *arguments, **options)


def is_slow(name: str) -> bool:
    """Whether a check takes a third of a second and more, or others cover most of it."""
    return name.startswith(DEAR)


# -- every method on mechanisms of every kind ------------------------------------------------------
THIRDS = [[F(1, 3), F(2, 3)], [F(1, 2), F(1, 2)], [F(2, 3), F(1, 3)]]
METHODS: dict[str, Any] = {
    **{
        name: name
        for name in (
            *("auto", "exhaustive", "neighbourhoods", "light-neighbourhoods"),
            *("edges", "group", "search"),
        )
    },
    "JR11": testers.JR11(range_step=0.5),
    "AJMR12": testers.AJMR12(range_step=0.5),
    "CS12": testers.CS12(),
    "DJT12": testers.DJT12(range_step=1 / 50),
    "CDJS15": testers.CDJS15(),
    "VarianceEdges": testers.VarianceEdges(),
    "HammingLines": testers.HammingLines(),
}


def table(domain: Any, rows: Any) -> ExactForm:
    """A mechanism of exact probabilities, one row of Fractions per dataset in index order."""
    index = {point: k for k, point in enumerate(product(*map(range, domain.sizes)))}

    def pmf(dataset: Any) -> Any:
        return tuple(map(F, rows[index[tuple(map(int, dataset))]]))

    return ExactForm(tuple(range(len(rows[0]))), pmf)


def formula(rows: Any, name: str) -> lt.ClosedForm:
    """The same on a cube, declared by logarithms."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(rows, dtype=float))

    def log_pmf(points: Any) -> Any:
        return logs[points @ (1 << np.arange(points.shape[1])[::-1])]

    return lt.ClosedForm(range(logs.shape[1]), log_pmf, exact_zeros=True, name=name)


def random_rows(count: int, outputs: int, seed: int) -> list[list[F]]:
    weights = np.random.default_rng(seed).integers(1, 9, (count, outputs))
    return [[F(int(w), int(row.sum())) for w in row] for row in weights]


@lt.mechanism(outputs=[0, 1])
def response(data: Any, rng: Any) -> int:
    return int(rng.random() < 0.25 + 0.5 * data[0])


@lt.mechanism(outputs=range(4), statistic=lt.Count())
def of_the_count(count: Any, rng: Any) -> int:
    return count if rng.random() < 0.5 else int(rng.integers(4))


UNIFORM = lt.ProductDistribution.uniform(CUBE)
SKEWED = lt.ProductDistribution.bernoulli([0.2, 0.7, 1.0, 0.5])


def kinds() -> dict[str, tuple[Any, Any, float]]:
    """Mechanism, distribution and exact epsilon, one of each kind."""
    uniform = lt.ProductDistribution.uniform
    return {
        "rationals on a cube": (
            table(CUBE, [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]] * 4),
            UNIFORM,
            math.log(3),
        ),
        "floats on a cube": (formula([[0.75, 0.25], [0.25, 0.75]] * 4, "f"), UNIFORM, math.log(3)),
        "rationals on counts": (
            table(COUNTS, np.repeat(THIRDS, 2, axis=0)),
            uniform(COUNTS),
            math.log(1.5),
        ),
        "rationals on records": (
            table(RECORDS, np.repeat(THIRDS, 3, axis=0)),
            uniform(RECORDS),
            math.log(2),
        ),
        "all answers move": (table(ALL, np.repeat(THIRDS, 3, axis=0)), uniform(ALL), math.log(1.5)),
        "one answer moves": (table(ONE, np.repeat(THIRDS, 3, axis=0)), uniform(ONE), math.log(1.5)),
        "an output that tells": (table(CUBE, [[1, 0], [F(1, 2), F(1, 2)]] * 4), UNIFORM, math.inf),
        "a statistic": (lt.catalogue.truncated_geometric_count(3, 1.0), UNIFORM, 1.0),
        "a Python function": (response, UNIFORM, math.log(3)),
        "a Python function of a count": (of_the_count, UNIFORM, math.log(5)),
        "unbounded noise": (lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1)), UNIFORM, 1.0),
        "a catalogue leak": (lt.catalogue.leak(3, 0.25), UNIFORM, math.inf),
        "skewed records": (lt.catalogue.randomised_response(4, 1.0), SKEWED, 1.0),
    }


for (_kind, (_mechanism, _law, _exact)), (_name, _method) in product(
    kinds().items(), METHODS.items()
):
    # One refusal of a tester is enough.
    _takes = isinstance(_method, str) or not _method.not_applicable(_law)
    if not _takes and _mechanism is not response:
        continue
    _mass, _failure = (0.02, 0.01) if isinstance(_method, str) else (0.5, 0.25)
    _options = {"method": _method, "exception_mass": _mass, "failure_probability": _failure}
    _true = 2.0 if math.isinf(_exact) else _exact
    keep(
        f"method {_name}: {_kind}, at its epsilon",
        privacy,
        _mechanism,
        _law,
        epsilon=_true,
        **_options,
    )
    keep(
        f"method {_name}: {_kind}, below",
        privacy,
        _mechanism,
        _law,
        epsilon=0.7 * _true,
        **_options,
    )
    if isinstance(_method, str) and _name not in ("auto", "group"):
        keep(
            f"method {_name}: {_kind}, with delta",
            *(privacy, _mechanism, _law),
            **{"epsilon": 0.3, "delta": 0.2, **_options},
        )

for _seed, _domain in product((1, 2), (CUBE, COUNTS, RECORDS, ALL, ONE)):
    _made = table(_domain, random_rows(_domain.size, 4, _seed))
    _where = f"random table {_seed} on {type(_domain).__name__}{list(_domain.sizes)}"
    keep(f"exact epsilon: {_where}", epsilon_of, _made, _domain)
    _law = lt.ProductDistribution.uniform(_domain)
    for _delta in (0.0, 0.05):
        keep(f"auto: {_where}, delta {_delta}", privacy, _made, _law, epsilon=0.8, delta=_delta)


# -- statistics with discrete noise ----------------------------------------------------------------
TABLE = [[0, 0], [1, 0], [1, 2]]
NUMBERS: dict[str, tuple[Any, Any]] = {
    "count": (lt.Count(), lt.Hypercube(6)),
    "count of very many": (lt.Count(), lt.Hypercube(5000)),
    "weighted sum": (lt.statistics.WeightedSum([1, 2, -1, 0]), lt.Hypercube(4)),
    "weighted sum of counts": (lt.statistics.WeightedSum([2, 1]), COUNTS),
    "contributions": (lt.statistics.Contributions([0, 1, 5]), lt.RecordGrid([3] * 4)),
    "median": (lt.statistics.OrderStatistic(2), lt.RecordGrid([5] * 3)),
    "a maximum of the user": (
        lt.statistics.UserStatistic(lambda x: x.max(axis=1), name="maximum"),
        lt.RecordGrid([4] * 3),
    ),
}
VECTORS: dict[str, tuple[Any, Any]] = {
    "histogram of records": (lt.Histogram(3), RECORDS),
    "histogram of counts": (lt.Histogram(2, given="counts"), lt.Hypergrid([3, 3])),
    "histogram of many": (lt.Histogram(4), lt.RecordGrid([4] * 12)),
    "counting queries": (
        lt.statistics.CountingQueries([[1, 0, -1], [1, 1, 0]], base=[1, 0]),
        lt.Hypercube(3),
    ),
    "contingency tables": (
        lt.statistics.ContingencyTables((2, 2), margins=[(0,), (1,)]),
        lt.RecordGrid([4] * 3),
    ),
    "contributions": (lt.statistics.Contributions(TABLE), lt.RecordGrid([3] * 4)),
    "range": (lt.statistics.OrderStatistic([1, 3]), lt.RecordGrid([4] * 3)),
    "pairs of the user": (
        lt.statistics.UserStatistic(lambda x: x[:, :2], name="first two"),
        lt.RecordGrid([4] * 3),
    ),
}


def by_first_and_last(values: Any) -> Any:
    """Logarithms of the probabilities of 0, 1, 2, as a vector of a statistic has them."""
    scores = np.stack([0.3 * values[:, 0], 0.2 * values[:, -1], np.zeros(len(values))], axis=1)
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


NOISES: dict[str, Any] = {
    "discrete Laplace": lt.DiscreteLaplace(2),
    "discrete Gaussian": lt.DiscreteGaussian(2),
}
for (_kind, (_statistic, _domain)), (_name, _noise) in product(NUMBERS.items(), NOISES.items()):
    _made = lt.ShiftMechanism(_statistic, _noise)
    _law = lt.ProductDistribution.uniform(_domain)
    for _epsilon, _delta in ((1.0, 0.0), (0.4, 0.0), (1.0, 1e-3), (0.4, 0.3)):
        keep(
            f"statistic: {_kind} + {_name}, epsilon {_epsilon}, delta {_delta}",
            *(privacy, _made, _law),
            epsilon=_epsilon,
            delta=_delta,
        )
    keep(f"exact epsilon: {_kind} + {_name}", epsilon_of, _made, _domain)

for _kind, (_statistic, _domain) in VECTORS.items():
    _made = lt.StatisticMechanism(_statistic, range(3), by_first_and_last, error=1e-14)
    _law = lt.ProductDistribution.uniform(_domain)
    for _epsilon, _delta in ((1.0, 0.0), (0.1, 0.0), (0.1, 0.1)):
        keep(
            f"statistic of vectors: {_kind}, epsilon {_epsilon}, delta {_delta}",
            *(privacy, _made, _law),
            epsilon=_epsilon,
            delta=_delta,
        )
    keep(f"exact epsilon of vectors: {_kind}", epsilon_of, _made, _domain)

CATALOGUE: dict[str, tuple[Any, Any]] = {
    "clamped geometric": (lt.catalogue.clamped_geometric_count(5, 1.0, 1, 4), lt.Hypercube(5)),
    "data-dependent clamp": (lt.catalogue.data_dependent_clamp(5, 1.0), lt.Hypercube(5)),
    "exact response": (lt.catalogue.exact_randomised_response(3, F(3, 4)), CUBE),
    "exponential mechanism": (lt.catalogue.exponential_mechanism(5, 1.0), lt.RecordGrid([3] * 5)),
    "k-ary response": (lt.catalogue.k_ary_randomised_response(4, 1.0), lt.RecordGrid([4])),
    "leak": (lt.catalogue.leak(4, 0.01), lt.Hypercube(4)),
    "needle": (lt.catalogue.needle(4, [0, 1, 1, 0], 1.0), lt.Hypercube(4)),
    "one-sided noise": (lt.catalogue.one_sided_noise_count(5, 1.0), lt.Hypercube(5)),
    "permute and flip": (lt.catalogue.permute_and_flip(5, 1.0), lt.RecordGrid([3] * 5)),
    "response": (lt.catalogue.randomised_response(4, 1.0), lt.Hypercube(4)),
    "subsampled count": (lt.catalogue.subsampled_count(5, 1.0, 0.25), lt.Hypercube(5)),
}
for _kind, (_made, _domain) in CATALOGUE.items():
    keep(f"exact epsilon: {_kind}", epsilon_of, _made, _domain)
    _law = lt.ProductDistribution.uniform(_domain)
    for _epsilon, _delta in ((1.0, 0.0), (0.6, 0.1)):
        keep(
            f"catalogue: {_kind}, epsilon {_epsilon}, delta {_delta}",
            *(privacy, _made, _law),
            epsilon=_epsilon,
            delta=_delta,
        )


# -- Python functions ------------------------------------------------------------------------------
def code(name: str) -> Any:
    """Made anew for each check: what one has learnt of the laws is not there for the next."""
    return lt.mechanism(PROGRAMS[name].code, name=name)


def program_verdict(name: str, **options: Any) -> dict[str, Any]:
    known = PROGRAMS[name]
    law = lt.ProductDistribution.uniform(known.domain)
    claim = {"epsilon": known.epsilon, "delta": known.delta}
    return privacy(code(name), law, **claim, **options)


def program_epsilon(name: str) -> dict[str, Any]:
    return epsilon_of(code(name), PROGRAMS[name].domain)


def program_law(name: str) -> dict[str, Any]:
    sizes = PROGRAMS[name].domain.sizes
    return law_of(code(name), [k % size for k, size in enumerate(sizes)])


SAMPLED = (
    *("response_of_one_bit", "responses_of_categories", "noisy_maximum_half"),
    *("rounded_and_clipped_too_little", "an_exception_for_some", "laplace_noise_too_little"),
    *("one_of_many_is_told", "sum_of_flipped_bits_enough", "noisy_histogram", "mean_and_square"),
)
for _name in PROGRAMS:
    keep(f"code: {_name}", program_verdict, _name)
    if _name != "endless_loop_of_draws":
        keep(f"exact epsilon of code: {_name}", program_epsilon, _name)
        keep(f"law of code: {_name}", program_law, _name)
#: A law of these takes seconds: one method that draws datasets is enough.
LONG = ("mean_and_square", "noisy_histogram", "responses_of_categories")
for _name, _method in product(
    SAMPLED, ("neighbourhoods", "light-neighbourhoods", "edges", "search")
):
    if _name in LONG and _method not in ("edges", "search"):
        continue
    keep(f"code by {_method}: {_name}", program_verdict, _name, method=_method, exception_mass=0.02)


def published(name: str, relation: str) -> dict[str, Any]:
    """A mechanism of the catalogue of examples, run as it is on answers 0, 1, 2."""
    entry = ENTRIES[name]
    made = lt.mechanism(entry.build(), name=name)
    sizes = entry.sizes[:3]
    return epsilon_of(made, lt.AnswerGrid(sizes, relation=relation))


# Endless loops, and more outputs or longer densities than are quickly followed.
LEFT_OUT = {
    *("gap svt", "gap noisy max"),
    *("svt3, geometric noise", "smart sum", "staircase", "noisy hist 1, geometric noise"),
    *("discrete gaussian", "bad partial sum, geometric noise", "noisy max 3, geometric noise"),
    *("opendp integer laplace, scale 3", "opendp integer laplace, scale 1"),
}
for _name, _relation in product(ENTRIES, ("all", "one")):
    if _name not in LEFT_OUT:
        keep(f"published: {_name}, {_relation}", published, _name, _relation)


# -- other answers ---------------------------------------------------------------------------------
def exception(mechanism: Any, distribution: Any, **claim: Any) -> dict[str, Any]:
    found = lt.exception_mass(mechanism, distribution, **claim)
    return numbers_of(found, ("epsilon", "delta", "lower", "upper"))


def profile(mechanism: Any, distribution: Any, **options: Any) -> dict[str, Any]:
    found = lt.privacy_profile(mechanism, distribution, seed=SEED, **options)
    parts = ("epsilon", "delta", "lower", "upper")
    return {
        "points": [[plain(getattr(point, part)) for part in parts] for point in found.points],
        **numbers_of(found, ("largest_loss", "method", "certified_epsilon", "draws", "laws")),
    }


def noiseless(mechanism: Any, distribution: Any, **options: Any) -> dict[str, Any]:
    found = noiseless_privacy(mechanism, distribution, seed=SEED, **options)
    parts = ("epsilon", "delta_lower", "delta_upper", "record", "values", "method", "draws")
    return numbers_of(found, parts)


def samples(function: Any, distribution: Any, **options: Any) -> dict[str, Any]:
    sampler = lt.Sampler(function)
    verdict = lt.check_samples(sampler, distribution, seed=SEED, **options)
    witness = verdict.witness
    parts = ("dataset", "neighbour", "draws", "hits", "lower_bound", "failure_probability")
    return {
        "decision": str(verdict.decision),
        "witness": None if witness is None else numbers_of(witness, parts),
        "largest_loss": plain(verdict.largest_loss),
        "resolution_reached": plain(verdict.resolution_reached),
        "guarantee": numbers_of(verdict.guarantee, PROMISED),
        "cost": numbers_of(verdict.cost, COUNTED),
    }


def listed_loss(mechanism: Any, pairs: Any) -> dict[str, Any]:
    found = lt.exact_loss(mechanism, pairs)
    return numbers_of(found, ("value", "lower", "upper", "pairs", "laws"))


THREE = lt.catalogue.truncated_geometric_count(3, 1.0)
LEAK = lt.catalogue.leak(3, 0.25)
CLAMP = lt.catalogue.data_dependent_clamp(4, 1.0)
OF_FOUR = lt.ProductDistribution.bernoulli([0.1, 0.3, 0.5, 0.2])
WHOLE = {
    "a count": (THREE, UNIFORM),
    "a leak": (LEAK, UNIFORM),
    "a needle": (lt.catalogue.needle(4, [0, 1, 1, 0], 1.0), OF_FOUR),
    "a clamp": (CLAMP, OF_FOUR),
    "a table of records": (
        table(RECORDS, random_rows(9, 3, 3)),
        lt.ProductDistribution(RECORDS, [[0.5, 0.3, 0.2], [0.9, 0.1, 0.0]]),
    ),
    "a Python function": (response, UNIFORM),
}
for _kind, (_made, _law) in WHOLE.items():
    for _epsilon, _delta in ((0.5, 0.0), (1.0, 0.0), (0.2, 0.1)):
        keep(
            f"exception mass: {_kind}, epsilon {_epsilon}, delta {_delta}",
            *(exception, _made, _law),
            epsilon=_epsilon,
            delta=_delta,
        )
    keep(f"profile: {_kind}", profile, _made, _law, epsilons=[0.2, 0.6, 1.0])
    for _method in ("neighbourhoods", "light-neighbourhoods"):
        keep(
            f"profile by {_method}: {_kind}",
            *(profile, _made, _law),
            epsilons=[0.2, 0.6, 1.0],
            method=_method,
            exception_mass=0.05,
            draws=400,
        )

SUMS: dict[str, Any] = {
    "a count": lt.Count(),
    "a weighted sum": lt.statistics.WeightedSum([1, 2, 0, -1]),
    "a noisy count": lt.catalogue.truncated_geometric_count(4, 1.0),
    "unbounded noise": lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(2)),
    "responses": lt.catalogue.randomised_response(4, 1.0),
}
for _kind, _made in SUMS.items():
    for _claim in ({"epsilon": 0.3}, {"epsilon": 1.0}, {"delta": 0.3}):
        keep(f"noiseless: {_kind}, {_claim}", noiseless, _made, OF_FOUR, **_claim)


def told(data: Any, n: int, rng: Any) -> Any:
    return (rng.random(n) < (0.75 if data[0] else 0.25)).astype(int)


def noisy(data: Any, n: int, rng: Any) -> Any:
    return data.sum() + rng.laplace(0, 1.0, n)


BIT = lt.ProductDistribution.uniform(lt.Hypercube(1))
for _function, _law in ((told, BIT), (noisy, BIT), (noisy, UNIFORM)):
    for _epsilon, _delta in ((0.5, 0.0), (2.0, 0.0), (0.5, 0.1)):
        keep(
            f"samples: {_function.__name__} on {_law.domain.dimension}, {_epsilon}, {_delta}",
            *(samples, _function, _law),
            epsilon=_epsilon,
            delta=_delta,
            samples=60_000,
        )

keep(
    "listed pairs: Laplace",
    listed_loss,
    code("laplace_noise"),
    [([0, 1], [1, 1]), ([0, 0], [1, 1])],
)
keep("listed pairs: normal", listed_loss, code("normal_noise"), [([0, 1], [1, 1])])
keep("listed pairs: a clamp", listed_loss, CLAMP, [([0, 0, 0, 0], [0, 0, 0, 1])])


# -- distributions that are not products -----------------------------------------------------------
MIXED = lt.SampledDistribution.mixture(
    [UNIFORM, lt.ProductDistribution.bernoulli([0.9, 0.1, 0.5])], weights=[0.5, 0.5]
)
CHAIN = lt.SampledDistribution.markov_chain(
    CUBE, initial=[0.5, 0.5], transitions=[[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.3, 0.7]]]
)
for (_kind, _law), _method in product(
    {"mixture": MIXED, "chain": CHAIN}.items(), ("auto", "neighbourhoods", "exhaustive", "search")
):
    for _epsilon in (1.0, 0.5):
        keep(
            f"{_kind}: a count by {_method}, epsilon {_epsilon}",
            *(privacy, THREE, _law),
            epsilon=_epsilon,
            method=_method,
            exception_mass=0.02,
            failure_probability=0.01,
        )


# -- functions -------------------------------------------------------------------------------------
def total(points: Any) -> Any:
    return points.sum(axis=1, dtype=float)


def steep_at_one(points: Any) -> Any:
    return points.sum(axis=1) + 2.0 * (points[:, 0] == 1)


def rough(points: Any) -> Any:
    return np.sin(points @ np.arange(1.0, points.shape[1] + 1) * 1.7) * 2


def bits_set(words: Any) -> Any:
    return np.bitwise_count(words).sum(axis=1).astype(float)


FUNCTIONS = {"sum": total, "steep": steep_at_one, "rough": rough}
UNEVEN = [[0.2, 0.7, 0.1], [1.0], [0.4, 0.0, 0.2, 0.0, 0.4]]
LAWS = {
    "cube": UNIFORM,
    "skewed cube": SKEWED,
    "grid": lt.ProductDistribution(lt.Hypergrid([3, 1, 5]), UNEVEN),
    "records": lt.ProductDistribution(lt.RecordGrid([3, 1, 5]), UNEVEN),
    "mixture": MIXED,
}
TESTERS = {
    "auto": "auto",
    **{name: tester for name, tester in METHODS.items() if not isinstance(tester, str)},
}
for (_where, _law), (_kind, _function), (_name, _tester) in product(
    LAWS.items(), FUNCTIONS.items(), TESTERS.items()
):
    if _law is not MIXED if _tester == "auto" else not _tester.not_applicable(_law):
        keep(
            f"Lipschitz by {_name}: {_kind} on {_where}", lipschitz, _function, _law, tester=_tester
        )
for _where in ("cube", "grid"):
    keep(
        f"constant 3: steep on {_where}",
        lipschitz,
        steep_at_one,
        LAWS[_where],
        lipschitz_constant=3.0,
    )
keep("packed sum on a cube", lipschitz, packed(bits_set), UNIFORM)
keep("a table on a cube", lipschitz, np.arange(8.0).reshape(2, 2, 2), UNIFORM)


def distance_of(function: Any, distribution: Any) -> dict[str, Any]:
    found = lt.distance_to_lipschitz(function, distribution)
    return numbers_of(found, ("value", "lower", "upper", "cover", "violated_pairs"))


def repaired(function: Any, distribution: Any, **options: Any) -> dict[str, Any]:
    return {"table": plain(lt.repair(function, distribution, **options).ravel())}


def filtered(function: Any, distribution: Any) -> dict[str, Any]:
    made = LocalFilter(function, distribution)
    points = np.array(list(product(*map(range, distribution.domain.sizes))))
    return {"values": plain(made(points)), "queries": made.queries}


for (_where, _law), (_kind, _function) in product(LAWS.items(), FUNCTIONS.items()):
    keep(f"distance: {_kind} on {_where}", distance_of, _function, _law)
    if "cube" in _where:
        keep(f"repair: {_kind} on {_where}", repaired, _function, _law, range_step=F(1, 4))
    if _law is not MIXED:
        keep(f"filter: {_kind} on {_where}", filtered, _function, _law)
    keep(
        f"diameters: {_kind} on {_where}",
        lambda f=_function, law=_law: {
            "image": plain(image_diameter(f, law.domain)),
            "sample": plain(sample_diameter(f, law, draws=20, seed=SEED)),
        },
    )


# -- the record ------------------------------------------------------------------------------------
def recorded() -> dict[str, Any]:
    """The record as it was written."""
    found: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return found


def differences(was: Any, now: Any, *, to: float, path: str = "") -> Iterator[str]:
    """Where two entries differ; floats may be apart by ``to``, relatively."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in sorted({*was, *now}):
            yield from differences(was.get(key), now.get(key), to=to, path=f"{path}.{key}")
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for k, (left, right) in enumerate(zip(was, now, strict=True)):
            yield from differences(left, right, to=to, path=f"{path}[{k}]")
    elif isinstance(was, float) and isinstance(now, float):
        if not (was == now or math.isclose(was, now, rel_tol=to, abs_tol=to)):
            yield f"{path}: {was!r} -> {now!r}"
    elif type(was) is not type(now) or was != now:
        yield f"{path}: {was!r} -> {now!r}"


def main(arguments: list[str]) -> int:
    """Write the record, or list what differs from it."""
    now = {name: observed(check) for name, check in CHECKS.items()}
    if arguments == ["--write"]:
        lines = [f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in now.items()]
        PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        return 0
    was = recorded()
    count = 0
    for name in [*was, *(name for name in now if name not in was)]:
        for line in differences(was.get(name), now.get(name), to=0.0):
            print(f"{name}: {line}")
            count += 1
    print(f"{len(now)} checks, {count} differences")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
