"""The mechanisms of ShadowDP's and CheckDP's evaluations, from plain NumPy: verdicts and seconds.

Each is written as anybody would, without annotations, and priced for five real answers that all
move by at most 1 (or one of them does). Wang and others report: ShadowDP "type checking and
verification in total takes at most 3 seconds" (PLDI 2019), with annotations of each noise;
CheckDP proofs and counterexamples "within 70 seconds" (CCS 2020), from a subset of C. Theirs hold
for lists of any length, ours for any number of records behind a stated number of answers. Those
that are wrong get a price above their claim, or none; a NO shows two datasets and an output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from figures import SECONDS, Figure, Row, cpu_seconds, report

import liptest as lt
from liptest.data.answers import Answers
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.symbolic.alignment import price_paths

SIZE = 5
VERDICTS = {"YES": 1, "NO": 0, "INCONCLUSIVE": -1}
LINE = 3.0
Mechanism = Callable[[Any, Any], Any]


def noisy_maximum(answers: Any, rng: Any) -> int:
    """Which noisy answer is the largest."""
    return int(np.argmax(answers + rng.laplace(0, 2.0, len(answers))))


def noisy_maximum_value(answers: Any, rng: Any) -> float:
    """Wrong: the largest noisy answer itself."""
    return float(np.max(answers + rng.laplace(0, 2.0, len(answers))))


def sparse_vector(threshold: float, query: float | None, most: int, shown: str = "") -> Mechanism:
    """Which answers exceed a noisy line, until ``most`` did; with what is ``shown`` of these."""

    def released(answers: Any, rng: Any) -> list[Any]:
        line = LINE + rng.laplace(0, threshold)
        outputs: list[Any] = []
        above = 0
        for answer in answers:
            noisy = answer if query is None else answer + rng.laplace(0, query)
            if noisy < line:
                outputs.append(False)
                continue
            if shown == "fresh":
                outputs.append(answer + rng.laplace(0, 3.0 * most))
            else:
                outputs.append({"": True, "value": noisy, "gap": noisy - line}[shown])
            above += 1
            if above == most:
                break
        return outputs

    return released


def adaptive_sparse_vector(leak: bool) -> Mechanism:
    """Two tests of each answer, the first with more noise and a margin; gaps are shown."""

    def released(answers: Any, rng: Any) -> list[Any]:
        line = LINE + rng.laplace(0, 2.0)
        outputs: list[Any] = []
        spent = 2.0
        for answer in answers:
            first = answer + rng.laplace(0, 8.0)
            if first - line >= 16:
                outputs.append(first if leak else first - line)
                spent += 1
            else:
                second = answer + rng.laplace(0, 4.0)
                if second - line >= 0:
                    outputs.append(second - line)
                    spent += 2
                else:
                    outputs.append(False)
            if spent > 2:
                break
        return outputs

    return released


def partial_sum(scale: float) -> Mechanism:
    """One noisy sum."""
    return lambda answers, rng: float(answers.sum() + rng.laplace(0, scale))


def prefix_sums(answers: Any, rng: Any) -> list[float]:
    """Running sums of noisy answers."""
    return list(np.cumsum(answers + rng.laplace(0, 1.0, len(answers))))


def smart_sum(noise_of_blocks: bool) -> Mechanism:
    """Running sums, with one noise for each full block of two."""

    def released(answers: Any, rng: Any) -> list[Any]:
        outputs, following, block = [], 0.0, 0.0
        for i, answer in enumerate(answers):
            if (i + 1) % 2 == 0:
                noise = rng.laplace(0, 1.0) if noise_of_blocks else 0.0
                following = block + answer + noise
                block = 0.0
            else:
                following = following + answer + rng.laplace(0, 1.0)
                block = block + answer
            outputs.append(following)
        return outputs

    return released


@dataclass(frozen=True)
class Case:
    """``price`` is what our alignment comes to; above ``claim`` where the mechanism is wrong.

    For five answers it may be below the claim: 5/8 moves the noise of each of five answers by 1.
    """

    name: str
    mechanism: Mechanism
    price: float
    relation: str = "all"
    claim: float = 1.0
    #: YES 1, NO 0; -1 where a wrong one is not refuted: INCONCLUSIVE, with its price.
    verdict: int = 1


CASES = (
    Case("noisy maximum", noisy_maximum, 1.0),
    Case("sparse vector, 1", sparse_vector(2.0, 4.0, 1), 1.0),
    Case("sparse vector, 2", sparse_vector(2.0, 8.0, 2), 0.625),
    Case("sparse vector with fresh answers, 1", sparse_vector(3.0, 6.0, 1, "fresh"), 1.0),
    Case("sparse vector with fresh answers, 2", sparse_vector(3.0, 12.0, 2, "fresh"), 0.75),
    Case("sparse vector with gaps, 1", sparse_vector(2.0, 4.0, 1, "gap"), 1.0),
    Case("sparse vector with gaps, 2", sparse_vector(2.0, 8.0, 2, "gap"), 0.625),
    Case("adaptive sparse vector", adaptive_sparse_vector(leak=False), 1.0),
    Case("partial sum", partial_sum(1.0), 1.0, "one"),
    Case("prefix sums", prefix_sums, 1.0, "one"),
    Case("smart sum", smart_sum(noise_of_blocks=True), 2.0, "one", claim=2.0),
    Case("wrong: noisy maximum with its value", noisy_maximum_value, 2.5, verdict=0),
    Case(
        "wrong: sparse vector, no noise on answers",
        sparse_vector(2.0, None, 99),
        math.inf,
        verdict=0,
    ),
    Case("wrong: sparse vector, no end", sparse_vector(2.0, 2.0, 99), 2.5, verdict=0),
    Case("wrong: sparse vector, noise not scaled", sparse_vector(4.0, 4 / 3, 2), 3.25, verdict=0),
    Case(
        "wrong: sparse vector with its answer", sparse_vector(2.0, 4.0, 1, "value"), 1.25, verdict=0
    ),
    Case("wrong: adaptive, with its answer", adaptive_sparse_vector(leak=True), 1.625, verdict=0),
    Case("wrong: partial sum, half the noise", partial_sum(0.5), 2.0, "one", verdict=0),
    Case(
        "wrong: smart sum, blocks without noise",
        smart_sum(False),
        math.inf,
        "one",
        claim=2.0,
        verdict=0,
    ),
)


def price(case: Case) -> float:
    """The lower price of both ways to follow the code."""
    domain = Answers(SIZE, relation=case.relation)
    best = math.inf
    for way in ("released", "branches"):
        followed = lt.mechanism(case.mechanism).align_paths(domain, way=way)
        if isinstance(followed, NoPaths):
            continue  # what has no noise is not followed
        found = price_paths(followed.paths, followed.differences).epsilon
        best = min(best, math.inf if found is None else float(found))
        if best <= case.claim:
            break
    return best


def row(case: Case) -> Row:
    found: list[Any] = []
    domain = Answers(SIZE, relation=case.relation)
    mechanism = lt.mechanism(case.mechanism)
    seconds = cpu_seconds(
        lambda: found.append(lt.check_privacy(mechanism, domain, epsilon=case.claim, seed=1))
    )
    epsilon = price(case)
    return Row(
        case.name,
        {"millionths": millionths(epsilon), "verdict": VERDICTS[str(found[0].decision)]},
        {"millionths": millionths(case.price), "verdict": case.verdict},
        {SECONDS: Figure(seconds, at_most=3.0), "price": Figure(epsilon)},
    )


def millionths(value: float) -> int:
    """-1 where there is no price."""
    return -1 if value == math.inf else round(value * 10**6)


def measure(quick: bool) -> Sequence[Row]:
    return [row(case) for case in (CASES[:2] if quick else CASES)]


if __name__ == "__main__":
    report("Mechanisms of ShadowDP and CheckDP", measure)
