"""Certificates of what samples say: a ``BlackBoxVerdict`` with hashes of what was sampled, in JSON.

The document is described by ``schemas/sample-certificate-1.json``. It says that it rests on
samples: its NO may be wrong with a stated probability, and nothing is released on its YES.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from liptest.blackbox.check import check_samples
from liptest.blackbox.samplers import Sampler, check_sampler
from liptest.blackbox.verdicts import BlackBoxVerdict, count_problems
from liptest.data.distributions import Distribution, ProductDistribution
from liptest.data.sampled import SampledDistribution
from liptest.errors import InputError, shown
from liptest.evidence.certificate import (
    SAMPLES,
    VERSION,
    digest,
    own_problems,
    schema_problems,
    versions_here,
)
from liptest.evidence.check_witness import Unreadable, strict_json
from liptest.evidence.verify import Examination
from liptest.privacy.verdicts import NOT_COVERED
from liptest.runs.fingerprints import Fingerprint, code_hash, distribution_hash, fingerprint
from liptest.verdicts import Cost, Decision

KEY = "sample_certificate"


_LISTED = "pairs that the caller listed"


@dataclass(frozen=True)
class SampleCertificate:
    """A verdict from samples and what it is about; ``to_json`` and ``from_json`` are inverse.

    Parameters
    ----------
    verdict
        Of ``lt.check_samples``.
    code
        Of the sampler's function. What compiled code or a service does is not hashed.
    data_hash, data_source
        Of the distribution, or of the pairs that were listed.
    seed_source
        Who chose the seed.
    decided
        When, in UTC.
    attempts
        Which of the vendor's attempts this was, as a ledger counted; None without one.
    """

    verdict: BlackBoxVerdict
    code: Fingerprint
    data_hash: str
    data_source: str
    seed_source: str
    versions: dict[str, str]
    decided: str
    attempts: int | None = None

    @property
    def decision(self) -> Decision:
        """The verdict's decision."""
        return self.verdict.decision

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as the schema describes them."""
        document = {
            KEY: VERSION,
            "evidence": evidence_words(self.verdict),
            "verdict": self.verdict.to_dict(),
            "code": {
                "hash": self.code.code,
                "files": self.code.files,
                "packages": self.code.packages,
                "parameters": self.code.parameters,
            },
            "data": {"hash": self.data_hash, "source": self.data_source},
            "seed_source": self.seed_source,
            "attempts": self.attempts,
            "time": {"decided": self.decided, "seconds": self.verdict.cost.seconds},
            "not_covered": NOT_COVERED,
            "versions": self.versions,
        }
        return {KEY: VERSION, "digest": digest(document), **document}

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict(), indent=1)

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, and the hash of what was sampled."""
        return f"{self.verdict._repr_html_()}<div>code sha256 {self.code.code}</div>"

    def write(self, path: str | Path) -> None:
        """Write the JSON to a file."""
        Path(path).write_text(self.to_json() + "\n", encoding="utf-8")

    @classmethod
    def from_json(cls, text: str) -> SampleCertificate:
        """Inverse of ``to_json``; InputError for anything else, also for a changed one."""
        document = _document(text)
        wrong = _document_problems(document)
        if wrong:
            raise InputError(f"{wrong[0]}; it was not written by liptest or is damaged")
        return _built(document)


def evidence_words(verdict: BlackBoxVerdict) -> str:
    """What the verdict rests on, in one sentence."""
    return (
        f"black box: {verdict.cost.draws:,} samples of the output, and nothing else; a statistical "
        f"answer, and no ground for a release"
    )


def certify_samples(
    verdict: BlackBoxVerdict,
    sampler: Sampler,
    data: Distribution | list[Any] | tuple[Any, ...],
    *,
    own_seed: bool = False,
) -> SampleCertificate:
    """The certificate of a verdict of ``lt.check_samples(sampler, data, ..)``.

    ``own_seed``: whether the seed was drawn by liptest, after the code was written.

    Raises InputError when ``sampler`` is none.
    """
    hashed, source = _data(data)
    chosen = "operating system" if own_seed else "caller: valid only if the code did not know it"
    return SampleCertificate(
        verdict=verdict,
        code=fingerprint(check_sampler(sampler)),
        data_hash=hashed,
        data_source=source,
        seed_source=chosen,
        versions=versions_here(),
        decided=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def _data(data: Any) -> tuple[str, str]:
    if isinstance(data, (ProductDistribution, SampledDistribution)):
        return distribution_hash(data), data.source
    listed = [[np.asarray(side).tolist() for side in pair] for pair in data]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest(), _LISTED


def examine_samples(
    certificate: SampleCertificate | str,
    sampler: Sampler | None = None,
    data: Distribution | list[Any] | tuple[Any, ...] | None = None,
) -> Examination:
    """Check a certificate as far as what is given allows; without a sampler, only itself.

    The counts must give the bounds. With the sampler the code must be the same; with the data, too,
    the test is repeated from its seed. Where a sampler draws from a source of its own it cannot be
    repeated, and a NO is then counted again on fresh samples.

    Raises
    ------
    InputError
        The text is no such certificate, or the sampler is none.
    """
    found = Examination([], [], [])
    document = _document(certificate) if isinstance(certificate, str) else certificate.to_dict()
    found.problems += _document_problems(document)
    found.checked.append("schema, digest and everything that follows from the rest")
    try:
        given = _built(document)
    except InputError:
        found.unchecked.append("anything more: the document cannot be read")
        found.readable = False
        return found
    found.problems += count_problems(given.verdict)
    found.checked.append("the counts give the bounds, the bounds the decision")
    if sampler is None:
        found.unchecked.append("whether the sampler gives these counts: none was named")
        return found
    now = fingerprint(check_sampler(sampler))
    code = given.code
    if code_hash(code.files, code.packages, code.parameters) != code.code:
        found.problems.append("code: the hash is not that of the files, packages and parameters")
    if now.code != code.code:
        found.problems.append("code: the sampler is not the one that was tested")
    found.checked.append("the code is that which was sampled")
    if data is None:
        found.unchecked.append("the counts: no data was given to repeat the test on")
    elif _data(data)[0] != given.data_hash:
        found.problems.append(f"data: not what was tested ({given.data_source})")
    else:
        _repeat(given.verdict, sampler, data, found)
    return found


def _repeat(verdict: BlackBoxVerdict, sampler: Sampler, data: Any, found: Examination) -> None:
    again = check_samples(
        sampler,
        data,
        epsilon=verdict.claim.epsilon,
        delta=verdict.claim.delta,
        resolution=verdict.resolution,
        failure_probability=float(verdict.guarantee.failure_probability or 0.0),
        samples=verdict.samples,
        tolerance=verdict.claim.tolerance,
        seed=verdict.seed,
    )
    found.certain = True
    if _timeless(again) == _timeless(verdict):
        found.checked.append("the test, repeated from its seed, gives the same counts")
    elif again.decision is verdict.decision:
        found.unchecked.append(
            "the counts themselves: the sampler draws from a source of its own; the test, made "
            "anew, gives the same answer"
        )
    else:
        found.problems.append(
            f"the test, made again, gives {again.decision} and not {verdict.decision}"
        )


def _timeless(verdict: BlackBoxVerdict) -> dict[str, Any]:
    cost = Cost(draws=verdict.cost.draws, pairs=verdict.cost.pairs)
    return replace(verdict, cost=cost, mechanism="").to_dict()


def is_of_samples(text: str) -> bool:
    """Whether a text is such a certificate, right or wrong."""
    try:
        return KEY in _document(text)
    except InputError:
        return False


def _document(text: str) -> dict[str, Any]:
    try:
        document = strict_json(text)
    except Unreadable as error:
        raise InputError(f"certificate: {error}") from None
    if not isinstance(document, dict) or document.get(KEY) != VERSION:
        raise InputError(f"certificate: {shown(document)} is no {KEY} of version {VERSION}")
    return document


def _built(document: dict[str, Any]) -> SampleCertificate:
    wrong = schema_problems(document, SAMPLES)
    if wrong:
        raise InputError(wrong[0])
    code = document["code"]
    return SampleCertificate(
        verdict=BlackBoxVerdict.from_dict(document["verdict"]),
        code=Fingerprint(code["hash"], code["files"], code["packages"], code["parameters"]),
        data_hash=document["data"]["hash"],
        data_source=document["data"]["source"],
        seed_source=document["seed_source"],
        versions=document["versions"],
        decided=document["time"]["decided"],
        attempts=document["attempts"],
    )


def _document_problems(document: dict[str, Any]) -> list[str]:
    return own_problems(document, lambda: _built(document).to_dict(), SAMPLES)
