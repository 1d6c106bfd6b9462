"""What the rows of a ledger say: attempts with their verdicts and releases; exact numbers.

Numbers are stored as the decimal text that a float prints as, which is what the user wrote: 1e-6
counts as exactly 1/1000000.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Annotated, Any

from liptest.blackbox.verdicts import BlackBoxVerdict
from liptest.errors import InputError, quote
from liptest.evidence.certificate import Certificate
from liptest.evidence.ledger_file import Row
from liptest.privacy.claims import AnyClaim, Claim, ExactLog
from liptest.privacy.compositions.release_costs import ReleaseTerms
from liptest.privacy.notions import CurveClaim, MuClaim, RenyiClaim, RhoClaim
from liptest.privacy.settings import BLACK_BOX
from liptest.privacy.verdicts import BY_REFUTATION, PROVING
from liptest.privacy.wording.sentences import say_count
from liptest.verdicts import Count, Decision, Json, Record, Text

_DIGITS = 6


def _sum_schema(core: Any, handler: Any) -> Any:
    """A Fraction as its exact decimal text."""
    written = core.plain_serializer_function_ser_schema(decimal_text)
    return core.no_info_after_validator_function(
        Fraction, core.str_schema(strict=True), serialization=written
    )


Sum = Annotated[Fraction, Json(_sum_schema)]


@dataclass(frozen=True)
class Totals(Record):
    """Sums over some attempts and the releases after them, as exact Fractions.

    ``failure_probability`` is the sum over all attempts: it bounds the probability that any of
    them ended in a wrong YES. ``epsilon`` and ``delta`` are the sums over all releases.
    ``joint_delta`` adds, for each attempt, the larger of its failure probability and the deltas
    of its releases; ``exception_mass`` counts once for each attempt that was followed by a
    release. All releases together are (epsilon, joint_delta)-private except on datasets of that
    mass, provided that the ``conditions`` of their proofs hold, and that there are no
    ``other_releases``: under claims of rho, Renyi divergences, mu or a curve. ``Ledger.cost`` says
    what these are together with the others.
    """

    attempts: Count
    decisions: dict[str, Count]
    failure_probability: Sum
    releases: Count
    epsilon: Sum
    delta: Sum
    joint_delta: Sum
    exception_mass: Sum
    other_releases: Count
    seeds_of_callers: Count
    conditions: tuple[Text, ...]

    @classmethod
    def of(cls, attempts: Iterable[Attempt]) -> Totals:
        """The sums over these attempts."""
        every = list(attempts)
        return cls(
            attempts=len(every),
            decisions=dict(sorted(Counter(attempt.decision for attempt in every).items())),
            failure_probability=_sum(attempt.failure_probability for attempt in every),
            releases=sum(attempt.used for attempt in every),
            epsilon=_sum(attempt.used * attempt.epsilon for attempt in every),
            delta=_sum(attempt.used * attempt.delta for attempt in every),
            joint_delta=_sum(
                max(attempt.used * attempt.delta, attempt.failure_probability) for attempt in every
            ),
            exception_mass=_sum(attempt.exception_mass for attempt in every if attempt.used),
            other_releases=sum(attempt.used for attempt in every if attempt.terms is not None),
            seeds_of_callers=sum(attempt.seed_source.startswith("caller") for attempt in every),
            conditions=tuple(
                sorted({attempt.condition for attempt in every if attempt.used} - {""})
            ),
        )


@dataclass(frozen=True)
class Summary(Record):
    """What a ledger adds up to, per vendor and per private table.

    A vendor's attempts are all its tests; a private table's are those that were made to release
    from it, whose code it was. ``head`` is the hash of the last row.
    """

    rows: Count
    head: Text
    vendors: dict[str, Totals]
    private_tables: dict[str, Totals]
    total: Totals

    @classmethod
    def of(cls, attempts: list[Attempt], *, rows: int, head: str) -> Summary:
        """Sums of all attempts."""
        aimed = [attempt for attempt in attempts if attempt.private_table is not None]
        return cls(
            rows=rows,
            head=head,
            vendors=_group(attempts, lambda attempt: attempt.vendor),
            private_tables=_group(aimed, lambda attempt: str(attempt.private_table)),
            total=Totals.of(attempts),
        )

    def __str__(self) -> str:
        return "\n\n".join(self.paragraphs())

    def paragraphs(self) -> list[str]:
        """The summary as text: one paragraph per vendor and per private table."""
        parts = [vendor_text(f"vendor {name}", totals) for name, totals in self.vendors.items()]
        if len(self.vendors) > 1:
            parts.append(vendor_text("all vendors", self.total))
        parts += [table_text(name, totals) for name, totals in self.private_tables.items()]
        return parts or ["no attempts, no releases"]


def vendor_text(heading: str, totals: Totals) -> str:
    """Attempts and releases of a vendor, in lines."""
    decisions = [f"{count} {_WORDS.get(name, name)}" for name, count in totals.decisions.items()]
    wrong = "none can be a wrong YES by chance"
    if totals.failure_probability:
        most = write_sum(totals.failure_probability)
        wrong = f"the probability that one of them is a wrong YES is at most {most}"
    lines = [
        heading,
        f"  {say_count(totals.attempts, 'attempt')} ({', '.join(decisions)}); {wrong}",
        f"  {say_count(totals.releases, 'release')}: epsilon {write_sum(totals.epsilon)}, "
        f"delta {write_sum(totals.delta)} together{_but_others(totals)}",
    ]
    return "\n".join(lines + _list_provided(totals))


def _but_others(totals: Totals) -> str:
    if not totals.other_releases:
        return ""
    return (
        f", but for {say_count(totals.other_releases, 'release')} under claims of other forms; "
        f"liptest ledger cost composes them all"
    )


def attempt_text(attempt: Attempt) -> str:
    """One line about an attempt."""
    decision = _WORDS.get(attempt.decision, attempt.decision)
    method = f" by {attempt.method}" if attempt.method else ""
    aim = f", {say_count(attempt.used, 'release')} from {attempt.private_table}"
    return (
        f"  {attempt.count}. {attempt.time} {attempt.mechanism}: {attempt.claim}: "
        f"{decision}{method}{aim if attempt.private_table is not None else ''}; "
        f"code {attempt.code[:12]}"
    )


def table_text(name: str, totals: Totals) -> str:
    """What was released from a private table, in lines."""
    lines = [f"private table {name}"]
    done = f"{say_count(totals.releases, 'release')} after {say_count(totals.attempts, 'attempt')}"
    if totals.releases == 0:
        return "\n".join([*lines, f"  {done}"])
    mass = totals.exception_mass
    # A bound of 1 is none: from there on the numbers say nothing.
    if totals.joint_delta >= 1 or mass >= 1:
        return "\n".join([*lines, f"  {done}: so many that together they promise nothing"])
    where = (
        f"outside datasets of total probability {write_sum(mass)}" if mass else "on every dataset"
    )
    together = " together" if totals.releases > 1 else ""
    pair = f"({write_sum(totals.epsilon)}, {write_sum(totals.joint_delta)})-private"
    if totals.other_releases:
        return "\n".join([*lines, f"  {done}{_but_others(totals)}", *_list_provided(totals)])
    return "\n".join([*lines, f"  {done}:{together} {pair} {where}", *_list_provided(totals)])


def _list_provided(totals: Totals) -> list[str]:
    lines = [f"  provided that {condition}" for condition in totals.conditions]
    if totals.seeds_of_callers:
        lines.append(
            f"  {say_count(totals.seeds_of_callers, 'attempt')} with a seed chosen by the caller: "
            f"valid only if the code was written without knowing it"
        )
    return lines


def write_sum(value: Fraction) -> str:
    """A sum in at most 6 significant digits, rounded up; a probability above 1 as 1 and more."""
    number = Context(prec=_DIGITS, rounding=ROUND_CEILING).create_decimal(
        Decimal(decimal_text(value))
    )
    if number and not -5 <= number.adjusted() < 9:
        return f"{number.normalize():e}"
    return f"{number.normalize():f}"


#: The kind of row that caps a private table, which stands in place of a vendor.
CAP = "cap"


def cap_ends(row: Row) -> tuple[Fraction, Fraction]:
    """Epsilon and delta of a cap; one of ``NOT_OURS`` for a row that no ledger wrote."""
    fields = row.fields
    epsilon, delta = read_number(fields["epsilon"]), read_number(fields["delta"])
    if row.attempt != row.number or not epsilon > 0 or not 0 < delta < 1:
        raise ValueError("a cap that no ledger would have written")
    return epsilon, delta


def cap_tables(row: Row) -> tuple[str, ...]:
    """The tables of a cap that several share, else none; one of ``NOT_OURS`` for no such names."""
    tables = row.fields.get("tables", ["one"])
    if (
        type(tables) is not list
        or not tables
        or tables != sorted({clean_name(table) for table in tables})
    ):
        raise ValueError("a cap of tables that no ledger would have written")
    return tuple(tables) if "tables" in row.fields else ()


#: The decision of a test that began and of which no verdict came: interrupted, failed or running.
NO_VERDICT = "none"
_WORDS = {NO_VERDICT: "without a verdict", **{str(one): str(one) for one in Decision}}


def _group(attempts: list[Attempt], key: Callable[[Attempt], str]) -> dict[str, Totals]:
    groups: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        groups.setdefault(key(attempt), []).append(attempt)
    return {name: Totals.of(groups[name]) for name in sorted(groups)}


def _sum(values: Iterable[Fraction]) -> Fraction:
    return sum(values, Fraction(0))


#: Methods that look at every case: whatever they answer, no wrong YES was possible.
_CERTAIN = (*PROVING, BY_REFUTATION)
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
    the digest that the certificate carries. ``terms`` is what a claim of another form says of one
    release; its ``epsilon`` and ``delta`` are 0 then, and say nothing.
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
    terms: ReleaseTerms | None = None

    @property
    def known_terms(self) -> ReleaseTerms:
        """What one release is known to satisfy."""
        return (
            ReleaseTerms(points=((self.epsilon, self.delta),)) if self.terms is None else self.terms
        )


def attempt_fields(
    *,
    mechanism: str,
    code: str,
    distribution: str,
    claim: AnyClaim,
    failure_probability: float,
    private_table: str | None,
    count: int,
) -> dict[str, Any]:
    """The JSON fields of an attempt's row."""
    return {
        "mechanism": clean_name(mechanism),
        "code": code,
        "distribution": distribution,
        "claim": claim_text(claim),
        "failure_probability": decimal_text(failure_probability),
        "private_table": private_table,
        "count": count,
    }


def verdict_fields(certificate: Certificate[Any], attempt: Attempt) -> dict[str, Any]:
    """The JSON fields of a verdict's row.

    A test that ended without YES might have ended in a wrong one: it costs the requested
    probability.
    """
    verdict = certificate.verdict
    if isinstance(verdict, BlackBoxVerdict):
        return _list_sampled_fields(certificate, verdict, attempt)
    guarantee = verdict.guarantee
    failure = decimal_text(attempt.failure_probability)
    if verdict.method in _CERTAIN:
        failure = "0"
    elif verdict.decision is Decision.YES and guarantee.failure_probability is not None:
        failure = decimal_text(guarantee.failure_probability)
    allowed = verdict.decision is Decision.YES and attempt.private_table is not None
    terms = {} if isinstance(verdict.claim, Claim) else {"terms": _terms_fields(verdict.claim)}
    return {
        **terms,
        "certificate": certificate.to_dict()["digest"],
        "decision": str(verdict.decision),
        "method": verdict.method,
        "seed_source": certificate.seed_source,
        "failure_probability": failure,
        "exception_mass": decimal_text(guarantee.exception_mass or 0),
        "epsilon": decimal_text(_epsilon_above(certificate)),
        "delta": decimal_text(verdict.claim.delta if isinstance(verdict.claim, Claim) else 0),
        "condition": guarantee.condition,
        "releases": certificate.releases if allowed else 0,
    }


def _terms_fields(claim: AnyClaim) -> dict[str, Any]:
    """What a claim of another form says, as it was written; tolerances are left out."""
    if isinstance(claim, RhoClaim):
        return {"rho": decimal_text(claim.rho)}
    if isinstance(claim, MuClaim):
        return {"mu": decimal_text(claim.mu)}
    if isinstance(claim, RenyiClaim):
        return {"orders": [[decimal_text(end) for end in pair] for pair in claim.orders]}
    assert isinstance(claim, CurveClaim)
    points = [
        (_above(corner.epsilon, rounded=isinstance(corner.epsilon, ExactLog)), corner.delta)
        for corner in claim.points
    ]
    return {"points": [[decimal_text(end) for end in point] for point in points]}


def _read_terms(fields: dict[str, Any]) -> ReleaseTerms:
    ((kind, value),) = fields.items()
    if kind in ("rho", "mu"):
        number = read_number(value)
        if number <= 0:
            raise ValueError(f"{kind} {quote(value)}")
        return ReleaseTerms(rho=number) if kind == "rho" else ReleaseTerms(mu=number)
    pairs = tuple((read_number(one), read_number(other)) for one, other in value)
    if kind == "orders" and pairs and all(order > 1 for order, _ in pairs):
        return ReleaseTerms(orders=pairs)
    if kind == "points" and pairs and all(delta < 1 for _, delta in pairs):
        return ReleaseTerms(points=pairs)
    raise ValueError(f"terms {quote(str(kind))}")


def _list_sampled_fields(
    certificate: Certificate[Any], verdict: BlackBoxVerdict, attempt: Attempt
) -> dict[str, Any]:
    """Of samples alone: nothing is released on them, and a YES adds its resolution to delta."""
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


def fold_rows(rows: Iterable[Row]) -> dict[int, Attempt]:
    """Attempts by number, each with its verdict and releases.

    Raises one of ``NOT_OURS`` for rows that no ledger would have appended.
    """
    attempts: dict[int, Attempt] = {}
    for row in rows:
        if row.kind != CAP:
            attempts[row.attempt] = add_row(attempts.get(row.attempt), row)
    return attempts


def row_order_problems(rows: Iterable[Row]) -> list[str]:
    """Rows that fit the chain and yet say what no ledger would have appended."""
    attempts: dict[int, Attempt] = {}
    counts: Counter[str] = Counter()
    wrong = []
    for row in rows:
        try:
            if row.kind == CAP:
                cap_ends(row)
                cap_tables(row)
                continue
            attempt = attempts[row.attempt] = add_row(attempts.get(row.attempt), row)
            counts[row.vendor] += row.kind == "attempt"
            if row.kind == "attempt" and attempt.count != counts[row.vendor]:
                raise ValueError(f"says attempt {attempt.count}, is {counts[row.vendor]}")
        except NOT_OURS as error:
            wrong.append(f"row {row.number}: {quote(str(error))}")
    return wrong


def add_row(known: Attempt | None, row: Row) -> Attempt:
    """The attempt with one more row; raises one of ``NOT_OURS`` when the row cannot follow."""
    fields = row.fields
    if row.kind == "attempt":
        return _begin(row, fields)
    if known is None or known.vendor != row.vendor:
        raise ValueError(f"a {row.kind} of no attempt of this vendor")
    if row.kind == "verdict":
        return _decide(known, fields)
    next_one = known.used + 1
    if next_one > known.releases or release_fields(known).items() - fields.items():
        raise ValueError(f"a release that attempt {known.number} does not allow")
    return replace(known, used=next_one)


def _begin(row: Row, fields: dict[str, Any]) -> Attempt:
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
        failure_probability=read_number(fields["failure_probability"]),
    )


def _decide(known: Attempt, fields: dict[str, Any]) -> Attempt:
    if known.decision != NO_VERDICT:
        raise ValueError(f"a second verdict on attempt {known.number}")
    return replace(
        known,
        decision=fields["decision"],
        method=fields["method"],
        seed_source=fields["seed_source"],
        certificate=fields["certificate"],
        failure_probability=read_number(fields["failure_probability"]),
        exception_mass=read_number(fields["exception_mass"]),
        epsilon=read_number(fields["epsilon"]),
        delta=read_number(fields["delta"]),
        condition=fields["condition"],
        releases=_whole(fields["releases"]),
        terms=_read_terms(fields["terms"]) if "terms" in fields else None,
    )


def check_name(name: str, value: str) -> str:
    """A vendor or a table as the caller names it; InputError unless it is one printable line."""
    if not isinstance(value, str) or value != clean_name(value) or value != value.strip():
        raise InputError(
            f"{name}={quote(value)} must be one line of 1 to {_LONGEST_NAME} printable "
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


def read_number(text: str) -> Fraction:
    """A decimal number as the ledger writes them; ValueError for anything else."""
    if not _DECIMAL.fullmatch(text):
        raise ValueError(f"{quote(text)} is not a decimal number")
    return Fraction(text)


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{quote(value)} is not a whole number")
    return value


def claim_text(claim: AnyClaim) -> str:
    """A claim as the rows of a ledger name it."""
    if not isinstance(claim, Claim):
        return f"{claim}, tolerance {claim.tolerance!r}"
    epsilon = repr(claim.epsilon)
    delta = f", delta {claim.delta!r}" if claim.delta else ""
    return f"epsilon {epsilon}{delta}, tolerance {claim.tolerance!r}"


def _epsilon_above(certificate: Certificate) -> float:
    """Epsilon of one release; never below the exact one where a float had to be rounded."""
    verdict = certificate.verdict
    guarantee, claim = verdict.guarantee, verdict.claim
    if not isinstance(claim, Claim):
        return 0.0
    epsilon = guarantee.epsilon or claim.epsilon
    exact = isinstance(claim.epsilon, ExactLog)
    return _above(epsilon, rounded=exact or guarantee.approximation_factor != 1)


def _above(epsilon: float | ExactLog, *, rounded: bool) -> float:
    number = float(epsilon)
    if rounded or isinstance(epsilon, ExactLog):
        for _ in range(4):  # log_fraction is good to 4 ulp
            number = math.nextafter(number, math.inf)
    return number
