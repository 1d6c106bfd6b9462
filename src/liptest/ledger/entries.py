"""What the rows of a ledger say: attempts with their verdicts and releases; exact numbers.

Numbers are stored as the decimal text that a float prints as, which is what the user wrote: 1e-6
counts as exactly 1/1000000.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from liptest.certificates.samples import SampleCertificate
from liptest.certificates.verification import Certificate
from liptest.errors import InputError, shown
from liptest.ledger.rows import Row
from liptest.privacy.check import BLACK_BOX
from liptest.privacy.claims import Claim, ExactLog
from liptest.privacy.verdicts import BY_FILTER
from liptest.verdicts import Decision

#: The decision of a test that began and of which no verdict came: interrupted, failed or running.
NO_VERDICT = "none"
#: Methods that look at every case: whatever they answer, no wrong YES was possible.
_CERTAIN = ("exhaustive", BY_FILTER)
#: What reading a row raises that no ledger wrote.
NOT_OURS = (KeyError, TypeError, ValueError, AttributeError)
_LONGEST_NAME = 200
_DECIMAL = re.compile(r"[0-9]{1,400}(\.[0-9]{1,1200})?(e[+-]?[0-9]{1,3})?")


@dataclass(frozen=True)
class Attempt:
    """One test and what followed from it.

    ``number`` is its row, ``count`` says that it is the vendor's count-th attempt.
    ``private_table`` names the data that were to be released from, None for a test alone.
    ``failure_probability`` bounds the chance that this test ended in a wrong YES. ``decision`` is
    "none" until there is a verdict; the fields after it are the verdict's. ``epsilon`` and
    ``delta`` are those of one release, ``condition`` is what they rest on beside the test,
    ``releases`` is how many are allowed and ``used`` how many were recorded. ``certificate`` is
    the digest that the certificate carries.
    """

    number: int
    count: int
    vendor: str
    time: str
    mechanism: str
    private_table: str | None
    code: str
    distribution: str
    claim: str
    failure_probability: Fraction
    decision: str = NO_VERDICT
    method: str = ""
    seed_source: str = ""
    certificate: str = ""
    exception_mass: Fraction = Fraction(0)
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    condition: str = ""
    releases: int = 0
    used: int = 0


def attempt_fields(
    *,
    mechanism: str,
    code: str,
    distribution: str,
    claim: Claim,
    failure_probability: float,
    private_table: str | None,
    count: int,
) -> dict[str, Any]:
    """The JSON fields of an attempt's row."""
    return {
        "mechanism": clean_name(mechanism),
        "code": code,
        "distribution": distribution,
        "claim": _claim_text(claim),
        "failure_probability": decimal_text(failure_probability),
        "private_table": private_table,
        "count": count,
    }


def verdict_fields(
    certificate: Certificate | SampleCertificate, attempt: Attempt
) -> dict[str, Any]:
    """The JSON fields of a verdict's row.

    A test that ended without YES might have ended in a wrong one: it costs what was asked for.
    """
    if isinstance(certificate, SampleCertificate):
        return _sampled_fields(certificate, attempt)
    verdict = certificate.verdict
    guarantee = verdict.guarantee
    failure = decimal_text(attempt.failure_probability)
    if verdict.method in _CERTAIN:
        failure = "0"
    elif verdict.decision is Decision.YES and guarantee.failure_probability is not None:
        failure = decimal_text(guarantee.failure_probability)
    allowed = verdict.decision is Decision.YES and attempt.private_table is not None
    return {
        "certificate": certificate.to_dict()["digest"],
        "decision": str(verdict.decision),
        "method": verdict.method,
        "seed_source": certificate.seed_source,
        "failure_probability": failure,
        "exception_mass": decimal_text(guarantee.exception_mass or 0),
        "epsilon": decimal_text(_epsilon_above(certificate)),
        "delta": decimal_text(verdict.claim.delta),
        "condition": guarantee.condition,
        "releases": certificate.releases if allowed else 0,
    }


def _sampled_fields(certificate: SampleCertificate, attempt: Attempt) -> dict[str, Any]:
    """Of samples alone: nothing is released on them, and a YES adds its resolution to delta."""
    verdict = certificate.verdict
    return {
        "certificate": certificate.to_dict()["digest"],
        "decision": str(verdict.decision),
        "method": BLACK_BOX,
        "seed_source": certificate.seed_source,
        "failure_probability": decimal_text(attempt.failure_probability),
        "exception_mass": "0",
        "epsilon": decimal_text(_above(verdict.claim.epsilon, rounded=False)),
        "delta": decimal_text(verdict.guarantee.delta or 0),
        "condition": verdict.guarantee.condition,
        "releases": 0,
    }


def release_fields(attempt: Attempt) -> dict[str, Any]:
    """The JSON fields of the next release's row."""
    return {
        "certificate": attempt.certificate,
        "release": attempt.used + 1,
        "private_table": attempt.private_table,
        "epsilon": decimal_text(attempt.epsilon),
        "delta": decimal_text(attempt.delta),
    }


def folded(rows: Iterable[Row]) -> dict[int, Attempt]:
    """Attempts by number, each with its verdict and releases.

    Raises one of ``NOT_OURS`` for rows that no ledger would have appended.
    """
    found: dict[int, Attempt] = {}
    for row in rows:
        found[row.attempt] = followed_by(found.get(row.attempt), row)
    return found


def row_order_problems(rows: Iterable[Row]) -> list[str]:
    """Rows that fit the chain and yet say what no ledger would have appended."""
    found: dict[int, Attempt] = {}
    counts: Counter[str] = Counter()
    wrong = []
    for row in rows:
        try:
            attempt = found[row.attempt] = followed_by(found.get(row.attempt), row)
            counts[row.vendor] += row.kind == "attempt"
            if row.kind == "attempt" and attempt.count != counts[row.vendor]:
                raise ValueError(f"says attempt {attempt.count}, is {counts[row.vendor]}")
        except NOT_OURS as error:
            wrong.append(f"row {row.number}: {shown(str(error))}")
    return wrong


def followed_by(known: Attempt | None, row: Row) -> Attempt:
    """The attempt with one more row; raises one of ``NOT_OURS`` when the row cannot follow."""
    fields = row.fields
    if row.kind == "attempt":
        return _begun(row, fields)
    if known is None or known.vendor != row.vendor:
        raise ValueError(f"a {row.kind} of no attempt of this vendor")
    if row.kind == "verdict":
        return _decided(known, fields)
    next_one = known.used + 1
    if next_one > known.releases or release_fields(known).items() - fields.items():
        raise ValueError(f"a release that attempt {known.number} does not allow")
    return replace(known, used=next_one)


def _begun(row: Row, fields: dict[str, Any]) -> Attempt:
    if row.attempt != row.number:
        raise ValueError("an attempt under the number of another row")
    return Attempt(
        number=row.number,
        count=_whole(fields["count"]),
        vendor=row.vendor,
        time=fields["time"],
        mechanism=fields["mechanism"],
        private_table=fields["private_table"],
        code=fields["code"],
        distribution=fields["distribution"],
        claim=fields["claim"],
        failure_probability=_number(fields["failure_probability"]),
    )


def _decided(known: Attempt, fields: dict[str, Any]) -> Attempt:
    if known.decision != NO_VERDICT:
        raise ValueError(f"a second verdict on attempt {known.number}")
    return replace(
        known,
        decision=fields["decision"],
        method=fields["method"],
        seed_source=fields["seed_source"],
        certificate=fields["certificate"],
        failure_probability=_number(fields["failure_probability"]),
        exception_mass=_number(fields["exception_mass"]),
        epsilon=_number(fields["epsilon"]),
        delta=_number(fields["delta"]),
        condition=fields["condition"],
        releases=_whole(fields["releases"]),
    )


def checked_name(name: str, value: str) -> str:
    """A vendor or a table as the caller names it; InputError unless it is one printable line."""
    if not isinstance(value, str) or value != clean_name(value) or value != value.strip():
        raise InputError(
            f"{name}={shown(value)} must be one line of 1 to {_LONGEST_NAME} printable "
            f"characters, such as 'acme'",
            name=name,
            value=value,
        )
    return value


def clean_name(text: str) -> str:
    """A name from somebody's code, made fit to be stored and printed."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in text)
    return printable.strip()[:_LONGEST_NAME].strip() or "unnamed"


def decimal_text(value: float | Fraction) -> str:
    """The shortest decimal text of a float, and the exact one of a sum of decimal numbers."""
    if not isinstance(value, Fraction):
        return repr(float(value)) if value else "0"
    if not value:
        return "0"
    digits = 0
    while 10**digits % value.denominator:
        digits += 1
    whole = value.numerator * (10**digits // value.denominator)
    text = str(whole).rjust(digits + 1, "0")
    return f"{text[:-digits]}.{text[-digits:]}" if digits else text


def _number(text: str) -> Fraction:
    if not _DECIMAL.fullmatch(text):
        raise ValueError(f"{shown(text)} is no decimal number")
    return Fraction(text)


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{shown(value)} is no whole number")
    return value


def _claim_text(claim: Claim) -> str:
    epsilon = repr(claim.epsilon)
    delta = f", delta {claim.delta!r}" if claim.delta else ""
    return f"epsilon {epsilon}{delta}, tolerance {claim.tolerance!r}"


def _epsilon_above(certificate: Certificate) -> float:
    """Epsilon of one release; never below the exact one where a float had to be rounded."""
    verdict = certificate.verdict
    guarantee = verdict.guarantee
    epsilon = guarantee.epsilon or verdict.claim.epsilon
    exact = isinstance(verdict.claim.epsilon, ExactLog)
    return _above(epsilon, rounded=exact or guarantee.approximation_factor != 1)


def _above(epsilon: float | ExactLog, *, rounded: bool) -> float:
    found = float(epsilon)
    if rounded or isinstance(epsilon, ExactLog):
        for _ in range(4):  # log_fraction is good to 4 ulp
            found = math.nextafter(found, math.inf)
    return found
