"""What a checkpoint says about a privacy check: whose it is, and the notes of each stage."""

from __future__ import annotations

from typing import Any

import numpy as np

from liptest import __version__
from liptest.data.distributions import Distribution
from liptest.mechanisms.base import Mechanism
from liptest.privacy.judge import Unexplored
from liptest.runs.checkpoints import Checkpoint, Journal


def identity_of(
    mechanism: Mechanism, distribution: Distribution, method: Any, numbers: dict[str, Any]
) -> dict[str, Any]:
    """Everything that fixes verdict, witness and counts; plain JSON values.

    Workers are not in it: they change nothing.
    """
    from liptest.runs.fingerprints import distribution_hash, fingerprint

    return {
        "liptest": __version__,
        "numpy": np.__version__,
        "mechanism": mechanism.name,
        "code": fingerprint(mechanism).code,
        "distribution": distribution_hash(distribution),
        "method": method if isinstance(method, str) else repr(method),
        **numbers,
    }


def journal_of(
    checkpoint: Checkpoint | None, mechanism: Mechanism, method: str, stage: int
) -> Journal | None:
    """The notes of one stage; a mechanism seen through what it reads has notes of its own."""
    if checkpoint is None:
        return None
    seen = mechanism.statistic
    through = "the dataset" if seen is None else f"{type(seen).__name__} {seen.name}"
    name = f"{method}, stage {stage}, {type(mechanism).__name__} of {through}"
    return checkpoint.journal(name, lambda found: found.mass, Unexplored)
