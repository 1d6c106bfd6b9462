"""One certificate as a document: a verdict with hashes of exactly what was tested, in JSON.

The document is described by ``schemas/certificate-1.json`` and explained in docs/certificates.md.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

import liptest
from liptest.data.distributions import Distribution
from liptest.data.domains import AllAnswers, Domain, Hypercube, Hypergrid, OneAnswer, RecordGrid
from liptest.errors import InputError, shown
from liptest.evidence.check_witness import Unreadable, strict_json
from liptest.privacy.claims import text_above
from liptest.privacy.verdicts import (
    BY_FILTER,
    NOT_COVERED,
    SOURCES,
    PrivacyVerdict,
    excepted_sentence,
    partial_sentence,
    proof_sentence,
    refuted_sentence,
    sampling_sentence,
    seen_sentence,
    statistic_sentence,
)
from liptest.runs.fingerprints import Fingerprint, distribution_hash
from liptest.verdicts import Decision, rounded_up

# What a certificate says in words and numbers that follow from its verdict and domain.
#
# These parts are written for readers. Nobody has to believe them: they are made again from the rest
# and compared.


_KINDS: dict[str, type[Domain]] = {
    "cube": Hypercube,
    "grid": Hypergrid,
    "records": RecordGrid,
    "answers, all move": AllAnswers,
    "answers, one moves": OneAnswer,
}


def domain_to_json(domain: Domain) -> dict[str, Any]:
    """Kind, dimension, sizes (one number where all are equal) and the neighbours in words.

    InputError for a domain that is not of this package.
    """
    kind = next((key for key, known in _KINDS.items() if type(domain) is known), None)
    if kind is None:
        raise InputError(
            f"domain={domain} is not one of this package, so no certificate can say what its "
            f"neighbours are; the verdict can be written: verdict.to_json()",
            name="domain",
        )
    sizes: Any = domain.sizes[0] if len(set(domain.sizes)) == 1 else list(domain.sizes)
    return {
        "kind": kind,
        "dimension": domain.dimension,
        "sizes": sizes,
        "neighbours": domain.neighbour_words,
    }


def domain_from_json(data: dict[str, Any]) -> Domain:
    """Inverse of ``domain_to_json``; InputError when sizes and dimension contradict each other."""
    kind, dimension, sizes = data["kind"], data["dimension"], data["sizes"]
    if kind == "cube":
        return Hypercube(dimension)
    listed = [sizes] * dimension if isinstance(sizes, int) else sizes
    if len(listed) != dimension:
        raise InputError(f"sizes={shown(sizes)}: {len(listed)} sizes for {dimension} coordinates")
    made: Any = _KINDS[kind]
    domain: Domain = made(listed)
    return domain


def comparison_words(verdict: PrivacyVerdict) -> str:
    """How the outputs of two datasets were compared, in one sentence."""
    if verdict.method == BY_FILTER:
        return "nothing was compared: the noise is wide enough for every query that was filtered"
    if verdict.claim.delta > 0:
        how = "sets of outputs, by the probability of one law beyond e^epsilon times the other's"
    else:
        how = "each output on its own, by the ratio of its two probabilities"
    far = ", k times the loss for datasets k changes apart" if _is_group(verdict) else ""
    return (
        f"{how}{far}; floats screen, exact fractions or certified intervals decide; outputs that "
        f"compare equal are one output, exceptions are outputs by type"
    )


def _is_group(verdict: PrivacyVerdict) -> bool:
    return verdict.guarantee.form == "group"


def release_words(verdict: PrivacyVerdict, releases: int) -> str:
    """What a number of releases satisfy together (theory 3.11)."""
    if verdict.decision is not Decision.YES:
        return "nothing is released"
    guarantee = verdict.guarantee
    epsilon = releases * float(guarantee.epsilon or 0.0)
    delta = max(releases * verdict.claim.delta, guarantee.failure_probability or 0.0)
    mass = guarantee.exception_mass or 0.0
    where = f"off datasets of total probability {text_above(mass)}" if mass else "on every dataset"
    given = f", provided that {guarantee.condition}" if guarantee.condition else ""
    many = "s together" if releases > 1 else ""
    terms = f"({text_above(epsilon)}, {text_above(delta)})"
    return f"{releases} release{many}: {terms}-private {where}{given}"


def sentence_follows(verdict: PrivacyVerdict, domain: Domain) -> bool:
    """Whether the sentence of the guarantee is the one that its numbers give.

    A guarantee that promises nothing says why in its own words; those are not judged.
    """
    guarantee, claim = verdict.guarantee, verdict.claim
    sentence = guarantee.sentence
    mass, failure = guarantee.exception_mass or 0.0, guarantee.failure_probability or 0.0
    if guarantee.kind == "refutation":
        return sentence == refuted_sentence(claim)
    if guarantee.kind == "proof":
        start = proof_sentence(claim, domain.neighbour_words, guarantee.condition)
        return sentence.startswith(start) and _ends_well(verdict, sentence[len(start) :], mass)
    if guarantee.kind == "sampling":
        factor = guarantee.approximation_factor
        group = _is_group(verdict)
        return sentence == sampling_sentence(mass, failure, group=group, factor=factor)
    if guarantee.exception_mass is None:
        return not sentence.startswith(partial_sentence(""))
    certified = sampling_sentence(rounded_up(mass), failure, group=False, factor=1.0)
    return sentence == partial_sentence(certified)


def _ends_well(verdict: PrivacyVerdict, rest: str, mass: float) -> bool:
    if verdict.method == BY_FILTER:
        most = 0 if verdict.settings is None else verdict.settings.parameters.get("max_references")
        return isinstance(most, int) and rest == excepted_sentence(mass, most)
    cost = verdict.cost
    known = statistic_sentence("\n", cost.pairs), seen_sentence("\n", cost.laws, cost.pairs)
    return rest == "" or any(
        re.fullmatch(re.escape(one).replace(re.escape("\n"), ".+"), rest) for one in known
    )


# The schemas of certificates, and a validator for the part of JSON Schema that they use.
#
# They are the files ``schemas/certificate-1.json`` and ``schemas/sample-certificate-1.json`` (draft
# 2020-12), for any validator. This one knows the keywords that occur there and refuses others, so
# that none is passed over silently.


VERSION = 1


#: Names of the schemas.
PLAIN, SAMPLES = "certificate", "sample-certificate"


_WORDS = {"$schema", "$id", "$defs", "title", "description", "then"}


@cache
def schema(name: str = PLAIN) -> dict[str, Any]:
    """The JSON Schema of a certificate, ``PLAIN`` or ``SAMPLES``."""
    file = resources.files("liptest").joinpath("schemas", f"{name}-{VERSION}.json")
    text = file.read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def schema_problems(document: Any, name: str = PLAIN) -> list[str]:
    """Where a document departs from a schema, in sentences; nothing when it fits."""
    return list(_problems(document, _rules(name), name))


@cache
def _rules(name: str) -> dict[str, Any]:
    """The schema with its name in each reference."""
    text = json.dumps(schema(name)).replace('"#/', f'"{name}#/')
    found: dict[str, Any] = json.loads(text)
    return found


def digest(document: dict[str, Any]) -> str:
    """sha256 of a document without its key "digest": sorted keys, no spaces, ASCII."""
    rest = {key: value for key, value in document.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def same_json(left: Any, right: Any) -> bool:
    """Whether two JSON values are one and the same: 1, 1.0 and true are three."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def own_problems(
    document: dict[str, Any], again: Callable[[], dict[str, Any]], name: str = PLAIN
) -> list[str]:
    """Where a document departs from its schema, its digest, or from what follows from itself.

    ``again()`` is the document made anew from what it says; it may raise InputError.
    """
    wrong = schema_problems(document, name)
    if wrong:
        return wrong
    if document["digest"] != digest(document):
        wrong.append("the document was changed after it was written (its digest differs)")
    try:
        made = again()
    except InputError as error:
        return [*wrong, str(error)]
    for key in document.keys() - {"digest"}:
        if not same_json(document[key], made[key]):
            wrong.append(f"{key}: {shown(document[key])} does not follow from the rest")
    return wrong


def _problems(value: Any, rule: dict[str, Any], where: str) -> Iterator[str]:
    if "$ref" in rule:
        name, _, place = rule["$ref"].partition("#/$defs/")
        yield from _problems(value, _rules(name)["$defs"][place], where)
    for keyword, expected in rule.items():
        if keyword in _CHECKS:
            yield from _CHECKS[keyword](value, expected, rule, where)
        elif keyword not in _WORDS and keyword != "$ref":
            raise AssertionError(f"schema: keyword {keyword!r} is not known here")


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, _KINDS_OF_SCHEMA[kind])


def _type(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    kinds = expected if isinstance(expected, list) else [expected]
    if not any(_is(value, kind) for kind in kinds):
        yield f"{where}={shown(value)} must be of type {' or '.join(kinds)}"


def _const(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    yield from _enum(value, [expected], rule, where)


def _enum(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    if not any(value == one and _is(value, "boolean") == _is(one, "boolean") for one in expected):
        yield f"{where}={shown(value)} must be {' or '.join(map(repr, expected))}"


def _any_of(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    found = [list(_problems(value, one, where)) for one in expected]
    if all(found):
        # Of alternatives one of which has the type of the value, that one says what is wrong.
        inner = [told for told in found if not told[0].startswith(f"{where}=")]
        yield from inner[0] if len(inner) == 1 else [f"{where}={shown(value)} is not allowed there"]


def _if(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    if not any(_problems(value, expected, where)):
        yield from _problems(value, rule["then"], where)


def _properties(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key in expected.keys() & value.keys():
            yield from _problems(value[key], expected[key], f"{where}.{key}")


def _additional(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key in sorted(value.keys() - rule.get("properties", {}).keys()):
            if expected is False:
                yield f"{where} has an unknown key {shown(key)}"
            else:
                yield from _problems(value[key], expected, f"{where}.{key}")


def _required(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{where} lacks {key!r}" for key in expected if key not in value)


def _items(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _problems(item, expected, f"{where}[{number}]")


def _limit(
    kind: str, measure: Callable[[Any], Any], fits: Callable[[Any, Any], bool], words: str
) -> Callable[[Any, Any, Any, str], Iterator[str]]:
    def check(value: Any, expected: Any, rule: Any, where: str) -> Iterator[str]:
        if _is(value, kind) and not fits(measure(value), expected):
            yield f"{where}={shown(value)} must {words} {expected}"

    return check


_KINDS_OF_SCHEMA: dict[str, Any] = {
    "null": type(None),
    "number": (int, float),
    "string": str,
    "array": list,
    "object": dict,
    "boolean": bool,
}


_CHECKS: dict[str, Callable[[Any, Any, Any, str], Iterator[str]]] = {
    "type": _type,
    "const": _const,
    "enum": _enum,
    "anyOf": _any_of,
    "if": _if,
    "properties": _properties,
    "additionalProperties": _additional,
    "required": _required,
    "items": _items,
    "minimum": _limit("number", lambda v: v, lambda v, e: v >= e, "be at least"),
    "maximum": _limit("number", lambda v: v, lambda v, e: v <= e, "be at most"),
    "exclusiveMinimum": _limit("number", lambda v: v, lambda v, e: v > e, "be above"),
    "exclusiveMaximum": _limit("number", lambda v: v, lambda v, e: v < e, "be below"),
    "minItems": _limit("array", len, lambda v, e: v >= e, "have a length of at least"),
    "maxItems": _limit("array", len, lambda v, e: v <= e, "have a length of at most"),
    "minLength": _limit("string", len, lambda v, e: v >= e, "have a length of at least"),
    "pattern": _limit("string", str, lambda v, e: re.search(e, v) is not None, "match"),
}


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
        return release_words(self.verdict, self.releases)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as the schema describes them."""
        verdict = self.verdict
        document = {
            "certificate": VERSION,
            "verdict": verdict.to_dict(),
            "domain": domain_to_json(self.domain),
            "comparison": comparison_words(verdict),
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
        domain=domain_from_json(data["domain"]),
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
