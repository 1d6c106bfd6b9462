"""What a row of the scoreboard is, and how it is answered."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import liptest as lt

#: Chance that a NO by samples is wrong.
FAILURE = 1e-6


@dataclass(frozen=True)
class Report:
    """Where a bug is documented, publicly."""

    words: str
    url: str


@dataclass(frozen=True)
class Environment:
    """A version of a library and what it needs beside."""

    library: str
    version: str
    pins: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        return f"{self.library}-{self.version}"

    @property
    def packages(self) -> list[str]:
        return [f"{self.library}=={self.version}", *self.pins]


@dataclass(frozen=True)
class Laws:
    """A mechanism whose output distributions can be had: from its code, or from an adapter."""

    mechanism: Any
    domain: Any
    options: dict[str, Any] = field(default_factory=dict)
    #: The library's own claim, where the row has none.
    claim: dict[str, Any] | None = None


@dataclass(frozen=True)
class Samples:
    """A mechanism that is compiled, or that no run follows: outputs and nothing else."""

    draw: Callable[..., Any]
    pairs: Sequence[tuple[Sequence[int], Sequence[int]]]
    sequential: bool = True
    samples: int = 200_000
    #: Whether the lowest bits of numbers are compared, too.
    floats: str = "ideal"
    claim: dict[str, Any] | None = None


@dataclass(frozen=True)
class Row:
    """One mechanism of some versions of a library.

    Parameters
    ----------
    name
        With the version it names an answer.
    mechanism, relation
        In words, for the page.
    claim
        Arguments of ``check_privacy``; ``claims`` gives it where the library says it.
    versions
        Those that it is run with.
    make
        Version -> what is tested. It imports the library.
    report
        Of a bug, with the versions that have it.
    """

    name: str
    library: str
    mechanism: str
    relation: str
    claim: dict[str, float]
    versions: tuple[str, ...]
    make: Callable[[str], Laws | Samples]
    report: Report | None = None
    broken: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert set(self.broken) <= set(self.versions), self.name
        assert bool(self.broken) == (self.report is not None), self.name


def answer(row: Row, version: str) -> dict[str, Any]:
    """Run one row here; what is found, ready for JSON."""
    made = row.make(version)
    claim = {key: float(size) for key, size in (made.claim or row.claim).items()}
    started = time.process_time()
    found = _by_laws(made, claim) if isinstance(made, Laws) else _by_samples(made, claim)
    return {"claim": claim, **found, "seconds": round(time.process_time() - started, 2)}


def _by_laws(made: Laws, claim: dict[str, float]) -> dict[str, Any]:
    verdict = lt.check_privacy(made.mechanism, made.domain, **claim, **made.options)
    implemented = made.options.get("floats") == "implemented"
    found: dict[str, Any] = {
        "verdict": verdict.decision.value,
        "by": {"NO": "witness", "YES": "proof"}.get(verdict.decision.value, "none"),
        "epsilon": None,
        "method": verdict.method,
    }
    if verdict.decision == "YES" and made.mechanism.source == "declared":
        found["by"] = "closed form"
    if implemented and verdict.implemented is not None and verdict.decision == "NO":
        found["epsilon"] = "inf"
        found["witness"] = _floats_of(verdict.implemented)
        return found
    if set(claim) == {"epsilon"} or claim.get("delta") == 0.0:
        found["epsilon"] = _exact(made)
    if verdict.witness is not None:
        found["witness"] = _pair_of(verdict.witness)
        if found["epsilon"] is None and math.isfinite(verdict.witness.loss):
            found["at_least"] = round(float(verdict.witness.loss), 6)
        assert verdict.witness.verify(made.mechanism)
    return found


def _exact(made: Laws) -> float | str | list[float] | None:
    """The largest loss over the domain, or its certified ends."""
    try:
        exact = lt.exact_epsilon(made.mechanism, made.domain)
    except lt.errors.LiptestError:
        return None
    low, high = float(exact.lower), float(exact.upper)
    if math.isinf(low):
        return "inf"
    if math.isinf(high):
        return None
    value = float(exact.value)
    return value if high - low <= 1e-9 * max(1.0, high) else [low, high]


def _floats_of(implemented: Any) -> dict[str, Any]:
    witness = implemented.witness
    return {
        "dataset": [int(k) for k in witness.dataset],
        "neighbour": [int(k) for k in witness.neighbour],
        "output": str(witness.output),
    }


def _pair_of(witness: Any) -> dict[str, Any]:
    return {
        "dataset": [int(k) for k in witness.dataset],
        "neighbour": [int(k) for k in witness.neighbour],
        "output": str(witness.output),
    }


def _by_samples(made: Samples, claim: dict[str, float]) -> dict[str, Any]:
    verdict = lt.check_samples(
        lt.Sampler(made.draw),
        list(made.pairs),
        **claim,
        sequential=made.sequential,
        samples=made.samples,
        failure_probability=FAILURE,
        floats=made.floats,
        seed=1,
    )
    found: dict[str, Any] = {
        "verdict": verdict.decision.value,
        "by": "samples" if verdict.decision != "INCONCLUSIVE" else "none",
        "epsilon": None,
        "at_least": round(verdict.largest_loss, 4),
        "samples": verdict.cost.draws,
    }
    if verdict.witness is not None:
        found["witness"] = {
            "dataset": [int(k) for k in verdict.witness.dataset],
            "neighbour": [int(k) for k in verdict.witness.neighbour],
            "event": str(verdict.witness.event)[:200],
        }
    return found
