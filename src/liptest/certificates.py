"""Certificates: a verdict together with hashes of exactly what was tested."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import liptest
from liptest.distributions import Distribution
from liptest.domains import Hypergrid
from liptest.errors import InputError, shown
from liptest.fingerprints import Fingerprint, distribution_hash, fingerprint
from liptest.privacy.check import METHODS, check_privacy
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.testers import ALL_TESTERS, LipschitzTester
from liptest.verdicts import Decision

VERSION = 0
_OS_SEED = "operating system, drawn after the code was hashed"
_CALLER_SEED = "caller: valid only if the code was written without knowing this seed"


@dataclass(frozen=True)
class Certificate:
    """A verdict and what it is about; ``to_json`` and ``from_json`` are inverse.

    ``seed_source`` says who chose the seed: a test whose seed the author of the code could
    know proves nothing (theory 3.11).
    """

    verdict: PrivacyVerdict
    code: Fingerprint
    distribution_hash: str
    seed_source: str
    versions: dict[str, str] = field(default_factory=dict)
    releases: int = 1

    @property
    def decision(self) -> Decision:
        """The verdict's decision."""
        return self.verdict.decision

    @property
    def release_guarantee(self) -> str:
        """What a release under this certificate satisfies (theory 3.11)."""
        if self.decision is not Decision.YES:
            return "nothing is released"
        verdict, k = self.verdict, self.releases
        guarantee = verdict.guarantee
        epsilon = k * float(guarantee.epsilon or 0.0)
        delta = max(k * verdict.claim.delta, guarantee.failure_probability or 0.0)
        mass = guarantee.exception_mass or 0.0
        where = f"off datasets of total probability {mass:g}" if mass else "on every dataset"
        given = f", provided that {guarantee.condition}" if guarantee.condition else ""
        many = "s together" if k > 1 else ""
        return f"{k} release{many}: ({epsilon:g}, {delta:g})-private {where}{given}"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "certificate": VERSION,
            "liptest": self.versions.get("liptest", ""),
            "verdict": self.verdict.to_dict(),
            "code": {
                "hash": self.code.code,
                "files": self.code.files,
                "packages": self.code.packages,
                "parameters": self.code.parameters,
            },
            "distribution": self.distribution_hash,
            "seed_source": self.seed_source,
            "versions": self.versions,
            "releases": self.releases,
            "release_guarantee": self.release_guarantee,
        }

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict(), indent=1)

    def write(self, path: str | Path) -> None:
        """Write the JSON to a file."""
        Path(path).write_text(self.to_json() + "\n", encoding="utf-8")

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Inverse of ``to_json``; InputError for anything else."""
        try:
            data = json.loads(text)
            version = data["certificate"]
            if version != VERSION:
                raise InputError(f"certificate={shown(version)}: this liptest reads {VERSION}")
            code = data["code"]
            return cls(
                verdict=PrivacyVerdict.from_dict(data["verdict"]),
                code=Fingerprint(code["hash"], code["files"], code["packages"], code["parameters"]),
                distribution_hash=data["distribution"],
                seed_source=data["seed_source"],
                versions=data["versions"],
                releases=data["releases"],
            )
        except InputError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"certificate: {shown(error)}; it was not written by liptest or is damaged"
            ) from None


def certify(
    verdict: PrivacyVerdict,
    code: Fingerprint,
    distribution: Distribution,
    *,
    own_seed: bool,
    releases: int = 1,
) -> Certificate:
    """Assemble a certificate; ``own_seed`` when the gate drew the seed itself."""
    versions = {
        "liptest": liptest.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    source = _OS_SEED if own_seed else _CALLER_SEED
    return Certificate(verdict, code, distribution_hash(distribution), source, versions, releases)


def verify(
    certificate: Certificate | str, mechanism: Any, distribution: Distribution | None = None
) -> bool:
    """Whether a certificate holds for a mechanism; ``problems`` says what is wrong."""
    return not problems(certificate, mechanism, distribution)


def problems(
    certificate: Certificate | str, mechanism: Any, distribution: Distribution | None = None
) -> list[str]:
    """What is wrong with a certificate, in sentences; nothing when it holds.

    The hash of the code is compared; a NO's witness is recomputed; with ``distribution`` a YES
    is replayed from its seed and every count compared.

    Raises
    ------
    InputError
        The certificate was not written by liptest.
    """
    given = Certificate.from_json(certificate) if isinstance(certificate, str) else certificate
    wrong = []
    if fingerprint(mechanism).code != given.code.code:
        wrong.append("the code is not the code that was tested (hash differs)")
    if given.decision is Decision.NO:
        wrong.extend(_refutation_problems(given.verdict, mechanism))
    elif distribution is not None and given.decision is Decision.YES:
        wrong.extend(_replayed(given, mechanism, distribution))
    return wrong


def _refutation_problems(verdict: PrivacyVerdict, mechanism: Any) -> list[str]:
    witness = verdict.witness
    if witness is None:
        return ["a NO without a witness"]
    wrong = []
    if witness.claim != verdict.claim:
        wrong.append("the witness is about another claim")
    pairs = zip(witness.dataset, witness.neighbour, strict=True)
    moves = [abs(a - b) for a, b in pairs if a != b]
    apart = sum(moves) if verdict.relation == Hypergrid.relation else len(moves)
    if apart != witness.distance:
        wrong.append(f"the witness's datasets are at distance {apart}, not {witness.distance}")
    if not witness.verify(mechanism):
        wrong.append("the witness does not break the claim on this mechanism")
    return wrong


def _replayed(given: Certificate, mechanism: Any, distribution: Distribution) -> list[str]:
    if distribution_hash(distribution) != given.distribution_hash:
        return ["the distribution is not the one that was tested with (hash differs)"]
    old = given.verdict
    known = old.guarantee
    testers: dict[str, LipschitzTester] = {tester.name: tester for tester in ALL_TESTERS}
    if old.method not in (*METHODS, *testers):
        return [f"method={shown(old.method)}: this was no test, so it cannot be repeated"]
    new = check_privacy(
        mechanism,
        distribution,
        epsilon=old.claim.epsilon,
        delta=old.claim.delta,
        exception_mass=known.exception_mass or 1e-3,
        failure_probability=known.failure_probability or 1e-6,
        method=testers.get(old.method, old.method),
        tolerance=old.claim.tolerance,
        seed=old.seed,
    )
    pairs = {
        "decision": (old.decision, new.decision),
        "laws": (old.cost.laws, new.cost.laws),
        "pairs": (old.cost.pairs, new.cost.pairs),
        "largest loss": (old.largest_loss, new.largest_loss),
        "guarantee": (old.guarantee, new.guarantee),
    }
    return [f"{name}: {a} became {b}" for name, (a, b) in pairs.items() if a != b]
