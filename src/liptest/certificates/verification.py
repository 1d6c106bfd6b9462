"""Certificates: a verdict with hashes of exactly what was tested, and whether one holds.

The document is described by ``schemas/certificate-1.json`` and explained in docs/certificates.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from liptest.certificates.consistency import verdict_problems, witness_problems
from liptest.certificates.document import (
    SEED_SOURCES,
    Certificate,
    certificate_of,
    certify,
    document_problems,
    read_document,
    versions_here,
)
from liptest.certificates.replay import (
    code_problems,
    law_source_problems,
    refutation_problems,
    repeated,
    silent_noise_problems,
)
from liptest.distributions import Distribution
from liptest.errors import InputError, shown
from liptest.fingerprints import code_hash, fingerprint
from liptest.mechanisms.base import Mechanism, check_mechanism
from liptest.privacy.verdicts import BY_FILTER, PrivacyVerdict
from liptest.verdicts import Decision


@dataclass
class Examination:
    """What came of looking at a certificate.

    ``problems`` is empty when it holds. ``unchecked`` says what could not be looked at, ``certain``
    whether nothing of that bears on the decision, ``readable`` whether it has the right form.
    """

    problems: list[str]
    checked: list[str]
    unchecked: list[str]
    certain: bool = False
    readable: bool = True


def examine(
    certificate: Certificate | str, mechanism: Any = None, distribution: Distribution | None = None
) -> Examination:
    """Check a certificate as far as what is given allows; without a mechanism, only itself.

    Raises
    ------
    InputError
        The text is no certificate of this version, or the mechanism is none.
    """
    found = Examination([], [], [])
    if isinstance(certificate, str):
        document = read_document(certificate)
        found.problems += document_problems(document)
        found.checked.append("schema, digest and everything that follows from the rest")
        try:
            given = certificate_of(document)
        except InputError:
            found.unchecked.append("anything more: the document cannot be read")
            found.readable = False
            return found
    else:
        given, document = certificate, certificate.to_dict()
    _examine_itself(given, document, found)
    if mechanism is None:
        found.unchecked.append("whether code gives these answers: no mechanism was named")
    else:
        _examine_mechanism(given, mechanism, distribution, found)
    return found


def _examine_itself(given: Certificate, document: dict[str, Any], found: Examination) -> None:
    found.problems += verdict_problems(given.verdict, given.domain)
    code = given.code
    if code_hash(code.files, code.packages, code.parameters) != code.code:
        found.problems.append("code: the hash is not that of the files, packages and parameters")
    if given.seed_source not in SEED_SOURCES:
        found.problems.append(f"seed_source={shown(given.seed_source)} is none that liptest writes")
    found.checked.append("guarantee, counts and losses against each other")
    witness = given.verdict.witness
    if given.decision is Decision.NO and witness is not None:
        wrong, decided = witness_problems(document, witness)
        found.problems += wrong
        if decided:
            found.checked.append("the witness's probabilities break the claim, by rationals alone")
        elif not wrong:
            found.unchecked.append("the witness from its intervals alone: they are too wide")


def _examine_mechanism(
    given: Certificate, mechanism: Any, distribution: Distribution | None, found: Examination
) -> None:
    checked, verdict = check_mechanism(mechanism), given.verdict
    found.problems += code_problems(given.code, fingerprint(checked))
    found.problems += law_source_problems(verdict, checked)
    found.checked.append("the code is that which was tested")
    if given.versions != (here := versions_here()):
        found.unchecked.append(
            f"what other versions change: written by {given.versions}, not {here}"
        )
    if given.decision is Decision.NO:
        found.problems += refutation_problems(verdict, checked, given.domain)
        found.checked.append("the mechanism, asked again, breaks the claim on the witness")
        found.certain = True
    if given.decision is Decision.INCONCLUSIVE and verdict.reason.startswith("interrupted"):
        found.unchecked.append("where the run was interrupted: that cannot be repeated")
    elif distribution is None:
        _look_for_noise(given, checked, found)
        found.unchecked.append("seed and counts: no distribution was given to repeat the test on")
    elif distribution.domain != given.domain:
        found.problems.append(f"the domain is {distribution.domain}, not {given.domain}")
    else:
        known = given.distribution_hash
        found.problems += repeated(verdict, checked, distribution, known)
        _note_repetition(verdict, distribution, found)


def _look_for_noise(given: Certificate, mechanism: Mechanism, found: Examination) -> None:
    if given.decision is Decision.NO:
        return  # the witness was asked for again
    silent = silent_noise_problems(given.verdict, mechanism, given.domain)
    guarantee = given.verdict.guarantee
    if guarantee.kind == "proof" and not guarantee.condition:
        found.problems += silent
    else:  # the datasets that were tested may have none
        found.unchecked += silent


def _note_repetition(
    verdict: PrivacyVerdict, distribution: Distribution, found: Examination
) -> None:
    found.certain = True
    if verdict.method == BY_FILTER:
        found.checked.append("filter, noise and excepted mass are as wide as the promise needs")
        found.unchecked.append(f"its condition: {verdict.guarantee.condition}")
    else:
        found.checked.append("the test, repeated from its seed, gives the same numbers")
    if distribution.source != verdict.distribution:
        found.unchecked.append(f"where the distribution came from: {shown(verdict.distribution)}")


def verify(
    certificate: Certificate | str, mechanism: Any, distribution: Distribution | None = None
) -> bool:
    """Whether a certificate holds for a mechanism; ``problems`` says what is wrong."""
    return not problems(certificate, mechanism, distribution)


def problems(
    certificate: Certificate | str, mechanism: Any, distribution: Distribution | None = None
) -> list[str]:
    """What is wrong with a certificate, in sentences; nothing when it holds.

    The document must agree with itself and the hash of the code with the code; a NO's witness is
    recomputed; with ``distribution`` the test is replayed from its seed and every number compared.

    Raises
    ------
    InputError
        The certificate was not written by liptest.
    """
    return examine(certificate, mechanism, distribution).problems


__all__ = ["Certificate", "Examination", "certify", "examine", "problems", "verify"]
