"""One certificate as a document: a verdict with hashes of exactly what was tested, in JSON.

The document is described by ``schemas/certificate-1.json`` and explained in docs/certificates.md.
"""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

import liptest
from liptest.certificates import words
from liptest.certificates.schema import VERSION, digest, own_problems, schema_problems
from liptest.check_witness import Unreadable, strict_json
from liptest.distributions import Distribution
from liptest.domains import Domain
from liptest.errors import InputError, shown
from liptest.fingerprints import Fingerprint, distribution_hash
from liptest.privacy.verdicts import BY_FILTER, PrivacyVerdict
from liptest.privacy.wording import NOT_COVERED, SOURCES
from liptest.verdicts import Decision

_OS_SEED = "operating system, drawn after the code was hashed"
_CALLER_SEED = "caller: valid only if the code was written without knowing this seed"
_NO_SEED = "none: nothing was drawn"
#: Who may have chosen a seed.
SEED_SOURCES = (_OS_SEED, _CALLER_SEED, _NO_SEED)


@dataclass(frozen=True)
class Certificate:
    """A verdict and what it is about; ``to_json`` and ``from_json`` are inverse.

    ``seed_source`` says who chose the seed: a test whose seed the author of the code could
    know proves nothing (theory 3.11). ``attempts`` is which of the vendor's attempts this was, as
    a ledger counted; None without one. ``decided`` is when, in UTC.
    """

    verdict: PrivacyVerdict
    code: Fingerprint
    distribution_hash: str
    seed_source: str
    domain: Domain
    versions: dict[str, str] = field(default_factory=dict)
    releases: int = 1
    attempts: int | None = None
    decided: str = "1970-01-01T00:00:00Z"

    @property
    def decision(self) -> Decision:
        """The verdict's decision."""
        return self.verdict.decision

    @property
    def release_guarantee(self) -> str:
        """What a release under this certificate satisfies (theory 3.11)."""
        return words.release_words(self.verdict, self.releases)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as the schema describes them."""
        verdict = self.verdict
        document = {
            "certificate": VERSION,
            "verdict": verdict.to_dict(),
            "domain": words.domain_to_json(self.domain),
            "comparison": words.comparison_words(verdict),
            "code": {
                "hash": self.code.code,
                "files": self.code.files,
                "packages": self.code.packages,
                "parameters": self.code.parameters,
            },
            "distribution": {"hash": self.distribution_hash, "source": verdict.distribution},
            "laws": SOURCES.get(verdict.law_source, verdict.law_source),
            "seed_source": self.seed_source,
            "attempts": self.attempts,
            "time": {"decided": self.decided, "seconds": verdict.cost.seconds},
            "releases": self.releases,
            "release_guarantee": self.release_guarantee,
            "not_covered": NOT_COVERED,
            "versions": self.versions,
        }
        return {"certificate": VERSION, "digest": digest(document), **document}

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict(), indent=1)

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, what was tested, what a release satisfies."""
        facts = (f"code sha256 {self.code.code}", f"release: {self.release_guarantee}")
        lines = "<br>".join(escape(fact) for fact in facts)
        return f"{self.verdict._repr_html_()}<div>{lines}</div>"

    def write(self, path: str | Path) -> None:
        """Write the JSON to a file."""
        Path(path).write_text(self.to_json() + "\n", encoding="utf-8")

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Inverse of ``to_json``; InputError for anything else, also for a changed certificate."""
        found = document_problems(document := read_document(text))
        if found:
            raise InputError(f"{found[0]}; it was not written by liptest or is damaged")
        return _built(document)


def certificate_of(data: dict[str, Any]) -> Certificate:
    """The certificate of a document; InputError when it does not fit the schema or cannot be."""
    wrong = schema_problems(data)
    if wrong:
        raise InputError(wrong[0])
    return _built(data)


def _built(data: dict[str, Any]) -> Certificate:
    code = data["code"]
    return Certificate(
        verdict=PrivacyVerdict.from_dict(data["verdict"]),
        code=Fingerprint(code["hash"], code["files"], code["packages"], code["parameters"]),
        distribution_hash=data["distribution"]["hash"],
        seed_source=data["seed_source"],
        domain=words.domain_from_json(data["domain"]),
        versions=data["versions"],
        releases=data["releases"],
        attempts=data["attempts"],
        decided=data["time"]["decided"],
    )


def versions_here() -> dict[str, str]:
    """What runs here, as far as it may change a number."""
    return {
        "liptest": liptest.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def certify(
    verdict: PrivacyVerdict,
    code: Fingerprint,
    distribution: Distribution,
    *,
    own_seed: bool,
    releases: int = 1,
    attempts: int | None = None,
) -> Certificate:
    """Assemble a certificate; ``own_seed`` when the gate drew the seed itself."""
    source = _OS_SEED if own_seed else _CALLER_SEED
    return Certificate(
        verdict,
        code,
        distribution_hash(distribution),
        _NO_SEED if verdict.method == BY_FILTER else source,
        distribution.domain,
        versions_here(),
        releases,
        attempts,
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def read_document(text: str) -> dict[str, Any]:
    """The JSON object of one certificate, not judged yet; InputError for anything else."""
    try:
        document = strict_json(text)
    except Unreadable as error:
        raise InputError(f"certificate: {error}") from None
    if not isinstance(document, dict) or "certificate" not in document:
        raise InputError(f"certificate: {shown(document)} was not written by liptest")
    version = document["certificate"]
    if isinstance(version, bool) or version != VERSION:
        raise InputError(f"certificate={shown(version)}: this liptest reads {VERSION}")
    return document


def document_problems(document: dict[str, Any]) -> list[str]:
    """Where a document departs from its schema, its digest, or from what follows from itself."""
    return own_problems(document, lambda: _built(document).to_dict())
