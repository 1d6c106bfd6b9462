"""What does not visit, and what visits, very many datasets: seconds and memory of fresh processes.

Every pair of 2^24 datasets, by a formula of all records and by a statistic whose neighbouring
values are not declared, so that its values are walked through dataset by dataset; proofs through
statistics that visit no dataset; and a formula of a million records, of which some draws' worth of
laws are asked for, because all of them would be 10^9.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from exhaustive import Result, formula, plain_numpy, timed
from figures import SECONDS, Figure, Row, fresh_process, medians, peak_megabytes, report

CUBE, PLAIN_CUBE, RECORDS, WEIGHTS, REPETITIONS = 24, 20, 1_000_000, 1000, 3
EXCEPTION_MASS, FAILURE = 1e-2, 1e-6


def walked(d: int) -> Result:
    """A count of which only the values are known: every dataset is visited."""
    from workloads import EPSILON, NoisyWindow

    import liptest as lt

    class Undeclared(lt.Count):
        def edge_count(self, domain: Any) -> None:
            return None

    window, check = NoisyWindow(0), lt.check_privacy
    mechanism = lt.StatisticMechanism(Undeclared(), window.outputs, window.of_counts)
    distribution = lt.ProductDistribution.uniform(lt.Hypercube(d))

    def proof() -> tuple[int, int]:
        verdict = check(mechanism, distribution, epsilon=EPSILON, method="exhaustive")
        assert verdict.decision == "YES"
        return verdict.cost.pairs, verdict.cost.laws

    return timed(proof)


def weighted(d: int) -> Result:
    """A sum with d distinct weights 1 .. d, 21 outputs: exact epsilon."""
    import numpy as np
    from workloads import NoisyWindow

    import liptest as lt

    width = max(1, d * (d + 1) // 40)
    window, exact = NoisyWindow(0), lt.exact_epsilon
    mechanism = lt.StatisticMechanism(
        lt.statistics.WeightedSum(np.arange(1, d + 1)),
        window.outputs,
        lambda v: window.of_counts(v // width),
    )

    def proof() -> tuple[int, int]:
        found = exact(mechanism, lt.Hypercube(d))
        assert found.value > 0
        return found.pairs, found.laws

    return timed(proof)


def mass(d: int) -> Result:
    """Exact exception mass of a claim that a noisy count breaks in the middle."""
    import numpy as np
    from workloads import NoisyWindow

    import liptest as lt

    window = NoisyWindow(d // 2 - 10)
    mechanism = lt.StatisticMechanism(lt.Count(), window.outputs, window.of_counts)
    law = lt.ProductDistribution.bernoulli(np.random.default_rng(1).random(d))

    def exact() -> tuple[int, int]:
        found = lt.exception_mass(mechanism, law, epsilon=0.9)
        assert found.lower == found.upper
        return d, d + 1

    return timed(exact)


def drawn_counts(d: int) -> Result:
    """All draws of the full neighbourhoods of a noisy count: the count alone is drawn."""
    from workloads import EPSILON, NoisyWindow

    import liptest as lt

    window, check = NoisyWindow(d // 2 - 10), lt.check_privacy
    mechanism = lt.StatisticMechanism(lt.Count(), window.outputs, window.of_counts)
    distribution = lt.ProductDistribution.uniform(lt.Hypercube(d))
    options: dict[str, Any] = {"exception_mass": EXCEPTION_MASS, "failure_probability": FAILURE}
    options |= {"method": "neighbourhoods", "search_laws": 0}

    def sampling() -> tuple[int, int]:
        verdict = check(mechanism, distribution, epsilon=EPSILON, **options)
        assert verdict.decision == "YES"
        return verdict.cost.pairs, verdict.cost.laws

    return timed(sampling)


def unknown(d: int) -> Result:
    """A formula of all records: one draw, and the laws of some of its neighbours."""
    from workloads import NoisyWindow

    return _slice(d, NoisyWindow(d // 2 - 10).formula)


def unknown_bits(d: int) -> Result:
    """The same formula, which takes packed bits."""
    import numpy as np
    from workloads import NoisyWindow

    from liptest.lipschitz.oracles import packed

    window = NoisyWindow(d // 2 - 10)
    count = lambda words: np.bitwise_count(words).sum(axis=1, dtype=np.int64)  # noqa: E731
    return _slice(d, packed(lambda words: window.of_counts(count(words))))


def _slice(d: int, log_pmf: Any) -> Result:
    import numpy as np
    from workloads import EPSILON, NoisyWindow

    import liptest as lt
    from liptest.data.points import PointBatch
    from liptest.lipschitz.oracles import PackedFunction
    from liptest.privacy.claims import Claim
    from liptest.privacy.judge import LossJudge
    from liptest.privacy.methods import full_neighbourhoods
    from liptest.runs.driver import QueryBatch

    is_packed = isinstance(log_pmf, PackedFunction)
    domain, laws = lt.Hypercube(d), min(2000, d) + 1
    mechanism = lt.ClosedForm(NoisyWindow(d // 2 - 10).outputs, log_pmf)
    drawn = full_neighbourhoods(
        lt.ProductDistribution.uniform(domain), np.random.default_rng(1), 1
    ).points
    changes = (drawn.rows, drawn.coordinates, drawn.values)
    batch = PointBatch(drawn.centres, *(part[: laws - 1] for part in changes))
    judge, alone = LossJudge(mechanism, domain, Claim(EPSILON, 0.0, 1e-9)), 0.0
    found = timed(lambda: (judge.judge(QueryBatch(batch)).pairs, laws))
    for _, _, part in batch.parts(mechanism.points_per_slice(domain)):
        array = part.packed() if is_packed else part.array()
        started = time.process_time()
        (log_pmf.function if is_packed else log_pmf)(array)
        alone += time.process_time() - started
    return {**found, "throughput": alone / found["seconds"], "peak": peak_megabytes()}


def neighbours_known(d: int) -> Result:
    """A noisy count that has ``neighbour_laws``, beside the same formula without."""
    import numpy as np
    from workloads import EPSILON, NoisyWindow

    import liptest as lt
    from liptest.mechanisms.laws import LawTable

    window, check = NoisyWindow(d // 2 - 10), lt.check_privacy

    class Knows(lt.ClosedForm):
        def points_per_slice(self, domain: Any) -> int:
            return 1 << 16  # no array of neighbours is made

        def neighbour_laws(self, dataset: Any, changes: Any) -> LawTable:
            own = int(dataset.sum())
            logs = window.of_counts(np.array([own - 1, own, own + 1]))
            moved = 1 + changes.values - dataset[changes.coordinates]
            return LawTable(self.outputs, logs, np.append(1, moved), np.full(3, 1e-13))

    distribution = lt.ProductDistribution.uniform(lt.Hypercube(d))
    seconds, costs = {}, {}
    for kind in (lt.ClosedForm, Knows):
        mechanism: Any = kind(window.outputs, window.formula)

        def sampling(mechanism: Any = mechanism) -> tuple[int, int]:
            verdict = check(
                mechanism,
                distribution,
                epsilon=EPSILON,
                exception_mass=EXCEPTION_MASS,
                failure_probability=FAILURE,
                method="neighbourhoods",
                search_laws=0,
                seed=1,
            )
            assert verdict.decision == "YES"
            return verdict.cost.pairs, verdict.cost.laws

        costs[kind] = timed(sampling)
        seconds[kind] = costs[kind]["seconds"]
    return {**costs[Knows], "plain / incremental": seconds[lt.ClosedForm] / seconds[Knows]}


@dataclass(frozen=True)
class Case:
    """One measurement, its planned counts, and limits by the name of the figure."""

    words: str
    task: Callable[[int], Result]
    d: int
    pairs: int
    laws: int
    limits: dict[str, Figure] = field(default_factory=dict)


def at_most(seconds: float, megabytes: float | None = None) -> dict[str, Figure]:
    return {"seconds": Figure(0, at_most=seconds), "peak": Figure(0, at_most=megabytes)}


def cases(quick: bool) -> list[Case]:
    cube, loop, records, weights = (10, 8, 70_000, 40) if quick else SIZES
    draws = 1375
    some = min(2000, records)
    share = {"throughput": Figure(0, at_least=0.5), "peak": Figure(0, at_most=1000)}
    return [
        cube_case("plain NumPy loop", plain_numpy, loop),
        cube_case("exhaustive, a formula of all records", formula, cube, at_most(25, 200)),
        cube_case("exhaustive, values walked through", walked, cube, at_most(25, 200)),
        Case(f"weighted sum 1 .. {weights}", weighted, weights, *sums(weights), at_most(5)),
        Case(
            f"exact exception mass, d = {records:,}",
            mass, records, records, records + 1, at_most(5),
        ),
        Case(
            f"neighbourhoods, the count drawn, d = {records:,}",
            drawn_counts, records, draws * records, draws * (records + 1),
        ),
        Case(f"some laws of a formula, d = {records:,}", unknown, records, some, some + 1, share),
        Case(f"the same in bits, d = {records:,}", unknown_bits, records, some, some + 1, share),
        Case(
            "neighbourhoods by neighbour_laws, d = 1000",
            neighbours_known, 1000, draws * 1000, draws * 1001,
        ),
    ]  # fmt: skip


SIZES = CUBE, PLAIN_CUBE, RECORDS, WEIGHTS


def sums(weights: int) -> tuple[int, int]:
    """Neighbouring pairs of values of a sum with the weights 1 .. n > 2, and laws asked for.

    (v, v + w) for all v in 0 .. total - w, but that v = 1 and v = total - w - 1 need the weight 1,
    and likewise for 2. Few pairs are visited by difference, a law at a time.
    """
    total = weights * (weights + 1) // 2
    pairs = (total + 1) * weights - total - 4
    return pairs, (total + 1) * (weights if pairs <= 1 << 20 else 1)


def cube_case(
    words: str, task: Callable[[int], Result], d: int, limits: dict[str, Figure] | None = None
) -> Case:
    return Case(f"{words}, d = {d}", task, d, d * 2 ** (d - 1), 2**d, limits or {})


def measure(quick: bool) -> list[Row]:
    every = cases(quick)
    found = medians(
        1 if quick else REPETITIONS,
        lambda: {(case.words, key): value for case in every for key, value in run(case).items()},
    )
    rows = [row(case, found) for case in every]
    return [compared(every, row, found) for row in rows]


def run(case: Case) -> Result:
    """The case in a process of its own."""
    return fresh_process(__file__, "--one", case.task.__name__, str(case.d))


def row(case: Case, found: dict[tuple[str, str], float]) -> Row:
    names = {"seconds": SECONDS, "peak": "peak MB", "throughput": "of the formula alone"}
    figures = {}
    for key in ("seconds", "peak", "throughput", "plain / incremental"):
        if (case.words, key) in found:
            limit = case.limits.get(key, Figure(0))
            value = found[case.words, key]
            figures[names.get(key, key)] = Figure(value, limit.at_least, limit.at_most)
    return Row(
        case.words,
        counts={key: found[case.words, key] for key in ("pairs", "laws")},
        planned={"pairs": case.pairs, "laws": case.laws},
        figures=figures,
    )


def compared(every: list[Case], row: Row, found: dict[tuple[str, str], float]) -> Row:
    """For the walk: how many times as fast, a pair, as the loop and as the formula."""
    loop, whole, walk = (found[case.words, "seconds"] / case.pairs for case in every[:3])
    if row.case != every[2].words:
        return row
    more = {
        "plain / incremental": Figure(loop / walk, at_least=10),
        "formula / incremental": Figure(whole / walk, at_least=10),
    }
    return Row(row.case, row.counts, row.planned, {**row.figures, **more})


if __name__ == "__main__":
    if "--one" in sys.argv:
        name, size = sys.argv[2:4]
        print(json.dumps(globals()[name](int(size))))
    else:
        report("Large domains: 21 outputs; what is visited, and what need not be", measure)
