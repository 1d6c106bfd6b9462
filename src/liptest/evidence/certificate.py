"""One certificate: a verdict with hashes of exactly what was tested, to a document and back.

A document is a JSON object of one of two forms, described by ``schemas/certificate-1.json`` and
``schemas/sample-certificate-1.json`` and explained in docs/certificates.md. What it says in words
follows from the rest: nobody has to believe it, it is made again and compared.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic

import numpy as np
from typing_extensions import TypeVar

import liptest
from liptest.blackbox.samplers import check_sampler
from liptest.blackbox.verdicts import BlackBoxVerdict
from liptest.data.distributions import Distribution, distribution_or_domain
from liptest.data.domains import Domain
from liptest.data.product import ProductDistribution
from liptest.data.sampled import SampledDistribution
from liptest.errors import InputError, quote
from liptest.evidence.check_witness import Unreadable, strict_json
from liptest.evidence.domain_form import DomainForm, current_kind
from liptest.privacy.claims import Claim, text_above
from liptest.privacy.notions import of_releases
from liptest.privacy.verdicts import (
    BY_ALIGNMENT,
    BY_FILTER,
    BY_RECORDS,
    NOT_COVERED,
    PrivacyVerdict,
    proof_sentence,
    records_sentence,
    sampling_sentence,
    source_in_words,
)
from liptest.privacy.wording.sentences import (
    partial_sentence,
    statistic_sentence,
    write_aligned_sentence,
    write_excepted_sentence,
    write_refuted_sentence,
    write_seen_sentence,
)
from liptest.runs.fingerprints import Fingerprint, distribution_hash, fingerprint
from liptest.verdicts import (
    Decision,
    Described,
    Positive,
    Record,
    Text,
    Words,
    as_number,
    as_one_of,
    as_text,
    round_up,
)

VERSION = 1
_OS_SEED = "operating system, drawn after the code was hashed"
#: Where the seed was given.
CALLER_SEED = "caller: valid only if the code was written without knowing this seed"
_NO_SEED = "none: nothing was drawn"
_OS_SAMPLE_SEED = "operating system"
_CALLER_SAMPLE_SEED = "caller: valid only if the code did not know it"
#: Who may have chosen a seed.
SEED_SOURCES = (_OS_SEED, CALLER_SEED, _NO_SEED, _OS_SAMPLE_SEED, _CALLER_SAMPLE_SEED)
_LISTED = "pairs that the caller listed"
V = TypeVar("V", bound=PrivacyVerdict | BlackBoxVerdict, default=PrivacyVerdict)


@dataclass(frozen=True)
class Certificate(Generic[V]):
    """A verdict and what it is about; ``to_json`` and ``from_json`` are inverse.

    Parameters
    ----------
    verdict
        Of ``lt.check_privacy``, or of ``lt.check_samples``: then it rests on samples alone, its NO
        may be wrong with a stated probability, and nothing is released on its YES.
    code
        Of the mechanism or sampler. What compiled code or a service does is not hashed.
    data_hash, data_source
        Of the distribution of the data, or of the pairs that were listed.
    seed_source
        Who chose the seed: a test whose seed the author of the code could know proves nothing
        (theory 3.11).
    domain
        None for samples alone.
    releases
        How many outputs may be drawn under it.
    attempts
        Which of the vendor's attempts this was, as a ledger counted; None without one.
    decided
        When, in UTC.
    release_source
        What a gate draws outputs from; None without a release.
    """

    verdict: V
    code: Fingerprint
    data_hash: str
    data_source: str
    seed_source: str
    domain: Domain | None = None
    versions: dict[str, str] = field(default_factory=dict)
    releases: int = 1
    attempts: int | None = None
    decided: str = "1970-01-01T00:00:00Z"
    release_source: str | None = None

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
        made = (
            _SampleDocument.of(self, verdict)
            if isinstance(verdict, BlackBoxVerdict)
            else _Document.of(self, verdict)
        )
        document = made.to_dict()
        return document | {"digest": document_digest(document)}

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
    def from_json(cls, text: str) -> Certificate[Any]:
        """Inverse of ``to_json``; InputError for anything else, also for a changed certificate."""
        problems = document_problems(document := read_document(text))
        if problems:
            raise InputError(f"{problems[0]}; it was not written by liptest or is damaged")
        return load_certificate(document)


#: Its name of old for a verdict of ``lt.check_samples``.
SampleCertificate = Certificate


def certify(
    verdict: V,
    code: Fingerprint,
    data: Distribution | list[Any] | tuple[Any, ...],
    *,
    own_seed: bool,
    releases: int = 1,
    attempts: int | None = None,
    release_source: str = "",
) -> Certificate[V]:
    """Assemble a certificate; ``own_seed`` when liptest drew the seed itself."""
    domain = None
    if isinstance(verdict, BlackBoxVerdict):
        source = _OS_SAMPLE_SEED if own_seed else _CALLER_SAMPLE_SEED
    else:
        domain = data.domain  # type: ignore[union-attr]  # no privacy verdict rests on listed pairs
        source = _OS_SEED if own_seed else CALLER_SEED
        source = _NO_SEED if verdict.method == BY_FILTER else source
    return Certificate(
        verdict,
        code,
        *identify_data(data),
        source,
        domain,
        versions_here(),
        releases,
        attempts,
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        release_source or None,
    )


def certify_samples(
    verdict: BlackBoxVerdict,
    sampler: Any,
    data: Distribution | list[Any] | tuple[Any, ...],
    *,
    own_seed: bool = False,
) -> Certificate[BlackBoxVerdict]:
    """The certificate of a verdict of ``lt.check_samples(sampler, data, ..)``.

    ``own_seed``: whether the seed was drawn by liptest, after the code was written.

    Raises InputError when ``sampler`` is none.
    """
    return certify(verdict, fingerprint(check_sampler(sampler)), data, own_seed=own_seed)


def identify_data(data: Any) -> tuple[str, str]:
    """The hash of a distribution or of listed pairs, and where they came from."""
    data = distribution_or_domain(data)
    if isinstance(data, (ProductDistribution, SampledDistribution)):
        return distribution_hash(data), data.source
    listed = [[np.asarray(side).tolist() for side in pair] for pair in data]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest(), _LISTED


def versions_here() -> dict[str, str]:
    """What runs here, as far as it may change a number."""
    return {
        "liptest": liptest.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


Sha256 = Annotated[str, as_text(pattern="^[0-9a-f]{64}$")]
Attempts = Annotated[
    Positive | None,
    Described("Which of the vendor's attempts this was, as a ledger counted; null without one."),
]
Digest = Annotated[
    str,
    as_text(pattern="^sha256:[0-9a-f]{64}$"),
    Described(
        "sha256 of the document without this key: JSON with sorted keys, no spaces, ASCII. It "
        "shows accidents; it is not a signature."
    ),
]
SeedSource = Annotated[
    Words,
    Described("Who chose it. A seed that the author of the code could know proves nothing."),
]


@dataclass(frozen=True)
class _Code(Record):
    hash: Sha256
    files: dict[str, Sha256]
    packages: dict[str, Text]
    parameters: Sha256

    @classmethod
    def of(cls, code: Fingerprint) -> _Code:
        return cls(code.code, code.files, code.packages, code.parameters)

    def fingerprint(self) -> Fingerprint:
        return Fingerprint(self.hash, self.files, self.packages, self.parameters)


@dataclass(frozen=True)
class _Data(Record):
    hash: Sha256
    source: Text


@dataclass(frozen=True)
class _Time(Record):
    decided: Annotated[
        str, as_text(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")
    ]
    seconds: Annotated[float, as_number(ge=0)]


@dataclass(frozen=True)
class _Versions(Record):
    liptest: Text
    python: Text
    numpy: Text


@dataclass(frozen=True)
class _Document(Record):
    """Certificate of liptest, version 1.

    What was tested, what was answered, what the answer means and what it does not cover. An
    infinite number is the text inf. Whole numbers may exceed 64 bits.
    """

    certificate: Annotated[int, as_one_of(VERSION)]
    digest: Digest
    verdict: PrivacyVerdict
    domain: DomainForm
    comparison: Annotated[Words, Described("How the outputs of two datasets were compared.")]
    code: _Code
    distribution: _Data
    laws: Annotated[Words, Described("How the output probabilities were obtained.")]
    seed_source: SeedSource
    attempts: Attempts
    time: _Time
    releases: Positive
    release_guarantee: Annotated[Words, Described("What these releases satisfy together.")]
    not_covered: Annotated[Words, Described("What no test of output probabilities covers.")]
    versions: _Versions
    release_source: Annotated[
        Words | None, Described("What a gate draws outputs from; left out without a release.")
    ] = None

    optional: ClassVar[frozenset[str]] = frozenset({"release_source"})

    @classmethod
    def of(cls, certificate: Certificate[Any], verdict: PrivacyVerdict) -> _Document:
        return cls(
            certificate=VERSION,
            digest="",
            verdict=verdict,
            domain=DomainForm.of(certificate.domain),
            comparison=comparison_words(verdict),
            code=_Code.of(certificate.code),
            distribution=_Data(certificate.data_hash, verdict.distribution),
            laws=source_in_words(verdict.law_source),
            seed_source=certificate.seed_source,
            attempts=certificate.attempts,
            time=_Time(certificate.decided, verdict.cost.seconds),
            releases=certificate.releases,
            release_guarantee=certificate.release_guarantee,
            not_covered=NOT_COVERED,
            versions=_Versions(**certificate.versions),
            release_source=certificate.release_source,
        )

    def whole(self) -> Certificate[PrivacyVerdict]:
        return Certificate(
            verdict=self.verdict,
            code=self.code.fingerprint(),
            data_hash=self.distribution.hash,
            data_source=self.verdict.distribution,
            seed_source=self.seed_source,
            domain=self.domain.domain(),
            versions=vars(self.versions),
            releases=self.releases,
            attempts=self.attempts,
            decided=self.time.decided,
            release_source=self.release_source,
        )


@dataclass(frozen=True)
class _SampleDocument(Record):
    """Certificate of liptest on a mechanism known by samples only, version 1.

    What was sampled, what was answered at which confidence, and what that does not cover. An
    infinite number is the text inf or -inf.
    """

    sample_certificate: Annotated[int, as_one_of(VERSION)]
    digest: Digest
    evidence: Annotated[Words, Described("Samples used; follows from the verdict.")]
    verdict: BlackBoxVerdict
    code: _Code
    data: _Data
    seed_source: SeedSource
    attempts: Attempts
    time: _Time
    not_covered: Annotated[Words, Described("What no test of output probabilities covers.")]
    versions: _Versions

    @classmethod
    def of(cls, certificate: Certificate[Any], verdict: BlackBoxVerdict) -> _SampleDocument:
        return cls(
            sample_certificate=VERSION,
            digest="",
            evidence=evidence_words(verdict),
            verdict=verdict,
            code=_Code.of(certificate.code),
            data=_Data(certificate.data_hash, certificate.data_source),
            seed_source=certificate.seed_source,
            attempts=certificate.attempts,
            time=_Time(certificate.decided, verdict.cost.seconds),
            not_covered=NOT_COVERED,
            versions=_Versions(**certificate.versions),
        )

    def whole(self) -> Certificate[BlackBoxVerdict]:
        return Certificate(
            verdict=self.verdict,
            code=self.code.fingerprint(),
            data_hash=self.data.hash,
            data_source=self.data.source,
            seed_source=self.seed_source,
            versions=vars(self.versions),
            attempts=self.attempts,
            decided=self.time.decided,
        )


_FORMS: dict[str, type[_Document | _SampleDocument]] = {
    "certificate": _Document,
    "sample_certificate": _SampleDocument,
}


def read_documents(text: str) -> list[dict[str, Any]]:
    """The certificates of a text, one or a list, not judged yet; InputError for anything else."""
    try:
        data = strict_json(text)
    except Unreadable as error:
        named = f"; of a file give its text: Path({quote(text)}).read_text()"
        is_name = isinstance(text, str) and text.endswith(".json") and "\n" not in text
        raise InputError(f"certificate: {error}{named if is_name else ''}") from None
    documents = data if isinstance(data, list) else [data]
    for document in documents:
        _find_form(document)
    return documents


def read_document(text: str) -> dict[str, Any]:
    """The JSON object of one certificate, not judged yet; InputError for anything else."""
    documents = read_documents(text)
    if len(documents) != 1:
        raise InputError(f"certificate: {len(documents)} of them in one list; give one")
    return documents[0]


def _find_form(document: Any) -> str:
    keys = document.keys() & _FORMS if isinstance(document, dict) else set()
    if len(keys) != 1:
        raise InputError(f"certificate: {quote(document)} was not written by liptest")
    [key] = keys
    version = document[key]
    if isinstance(version, bool) or version != VERSION:
        raise InputError(f"{key}={quote(version)}: this liptest reads {VERSION}")
    return str(key)


def is_of_samples(document: dict[str, Any]) -> bool:
    """Whether a document says that it rests on samples alone."""
    return _find_form(document) == "sample_certificate"


def load_certificate(document: dict[str, Any]) -> Certificate[Any]:
    """The certificate of a document; InputError when it does not fit its form or cannot be."""
    key = _find_form(document)
    return _FORMS[key].read(document, key).whole()


def form_problems(document: dict[str, Any]) -> list[str]:
    """Where a document departs from its schema, in sentences; nothing when it fits."""
    try:
        key = _find_form(document)
        made = _FORMS[key].read(document, key)
    except InputError as error:
        return list(error.value or [str(error)])
    return list(_missing(document, made.to_dict(), key))


def _missing(stated: Any, made: Any, place: str) -> Iterator[str]:
    """What a document of today says and this one leaves out."""
    if isinstance(made, dict):
        yield from (f"{place} lacks {key!r}" for key in made if key not in stated)
        # What is empty may be stated, and left out.
        for key in (name for name in stated if name in made):
            yield from _missing(stated[key], made[key], f"{place}.{key}")
    elif isinstance(made, list):
        for number, (left, right) in enumerate(zip(stated, made, strict=True)):
            if isinstance(right, (dict, list)):  # of numbers there may be millions
                yield from _missing(left, right, f"{place}[{number}]")


def document_problems(document: dict[str, Any]) -> list[str]:
    """Where a document departs from its form, its digest, or from what follows from itself."""
    wrong = form_problems(document)
    if wrong:
        return wrong
    if document["digest"] != document_digest(document):
        wrong.append("the document was changed after it was written (its digest differs)")
    try:
        made = load_certificate(document).to_dict()
    except InputError as error:
        return [*wrong, str(error)]
    stated = _in_words_of_today(document)
    return wrong + list(_departures(stated, made | {"digest": document["digest"]}, ""))


def _in_words_of_today(document: dict[str, Any]) -> dict[str, Any]:
    """The document as it would be written today; one of samples has no domain and no releases."""
    domain = document.get("domain")
    if domain is None:
        return document
    return {
        **document,
        "domain": {**domain, "kind": current_kind(domain["kind"])},
        "release_guarantee": document["release_guarantee"].replace(_OFF, _EXCEPT, 1),
    }


def _departures(stated: Any, made: Any, place: str) -> Iterator[str]:
    if isinstance(stated, dict) and isinstance(made, dict) and stated.keys() == made.keys():
        for key, value in made.items():
            yield from _departures(stated[key], value, f"{place}.{key}".lstrip("."))
    elif not _is_same_json(stated, made):
        yield f"{place}: {quote(stated)} does not follow from the rest, which gives {quote(made)}"


def document_digest(document: dict[str, Any]) -> str:
    """sha256 of a document without its key "digest": sorted keys, no spaces, ASCII."""
    rest = {key: value for key, value in document.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _is_same_json(left: Any, right: Any) -> bool:
    """Whether two JSON values are one and the same: 1, 1.0 and true are three."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def schema(key: str = "certificate") -> dict[str, Any]:
    """The JSON Schema of a document that has this key, as it is shipped with liptest."""
    document: dict[str, Any] = json.loads(_schema_file(key).read_text(encoding="utf-8"))
    return document


def make_schema(key: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) that the form of a document gives."""
    form = _FORMS[key]
    title, _, description = (form.__doc__ or "").partition(".")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:liptest:{key.replace('_', '-')}:{VERSION}",
        **form.json_schema(),
        "title": title,
        "description": " ".join(description.split()),
    }


def write_schemas() -> None:
    """Write the files that are shipped, after a form was changed."""
    for key in _FORMS:
        path = Path(str(_schema_file(key)))
        path.write_text(json.dumps(make_schema(key), indent=1) + "\n", encoding="utf-8")


def _schema_file(key: str) -> Any:
    name = f"{key.replace('_', '-')}-{VERSION}.json"
    return resources.files("liptest").joinpath("schemas", name)


def evidence_words(verdict: BlackBoxVerdict) -> str:
    """What the verdict rests on, in one sentence."""
    return (
        f"black box: {verdict.cost.draws:,} samples of the output, and nothing else; a statistical "
        f"answer, and no ground for a release"
    )


def comparison_words(verdict: PrivacyVerdict) -> str:
    """How the outputs of two datasets were compared, in one sentence."""
    if verdict.method == BY_FILTER:
        return "nothing was compared: the noise is wide enough for every query that was filtered"
    if verdict.method == BY_ALIGNMENT:
        return (
            "no outputs were compared: for each path of the code, a shift of its noise that keeps "
            "path and output is checked in rationals; exceptions are outputs by type"
        )
    if not isinstance(verdict.claim, Claim):
        how = f"output distributions as wholes, by {verdict.claim.measure}"
    elif verdict.claim.delta > 0:
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


# Where releases are not private, today and in certificates of before.
_EXCEPT, _OFF = "except on datasets of total probability", "off datasets of total probability"


def release_words(verdict: PrivacyVerdict | BlackBoxVerdict, releases: int) -> str:
    """What a number of releases satisfy together (theory 3.11)."""
    if isinstance(verdict, BlackBoxVerdict) or verdict.decision is not Decision.YES:
        return "nothing is released"
    guarantee, claim = verdict.guarantee, verdict.claim
    mass = guarantee.exception_mass or 0.0
    where = f"{_EXCEPT} {text_above(mass)}" if mass else "on every dataset"
    given = f", provided that {guarantee.condition}" if guarantee.condition else ""
    many = "s together" if releases > 1 else ""
    if not isinstance(claim, Claim):
        failure = guarantee.failure_probability or 0.0
        unless = f", but for an event of probability {text_above(failure)}" if failure else ""
        return f"{releases} release{many}: {of_releases(claim, releases)} {where}{unless}{given}"
    epsilon = releases * float(guarantee.epsilon or 0.0)
    delta = max(releases * claim.delta, guarantee.failure_probability or 0.0)
    terms = f"({text_above(epsilon)}, {text_above(delta)})"
    return f"{releases} release{many}: {terms}-private {where}{given}"


# What certificates said for their domain until it was part of the sentence.
_BEFORE = "whatever the data"


def sentence_follows(verdict: PrivacyVerdict, domain: Domain) -> bool:
    """Whether the sentence of the guarantee is the one that its numbers give.

    A guarantee that promises nothing says why in its own words; those are not judged.
    """
    guarantee, claim = verdict.guarantee, verdict.claim
    sentence = guarantee.sentence
    mass, failure = guarantee.exception_mass or 0.0, guarantee.failure_probability or 0.0
    if guarantee.kind == "refutation":
        return sentence == write_refuted_sentence(claim)
    if guarantee.kind == "proof":
        now = proof_sentence(claim, domain, guarantee.condition)
        before = now.replace(f"for all datasets of {domain.dataset_words}", _BEFORE, 1)
        starts = [start for start in (now, before) if sentence.startswith(start)]
        return any(_ends_well(verdict, sentence[len(start) :], mass) for start in starts)
    if guarantee.kind == "sampling":
        factor = guarantee.approximation_factor
        group = _is_group(verdict)
        return sentence == sampling_sentence(mass, failure, group=group, factor=factor)
    if guarantee.exception_mass is None:
        return not sentence.startswith(partial_sentence(""))
    certified = sampling_sentence(round_up(mass), failure, group=False, factor=1.0)
    return sentence == partial_sentence(certified)


def _ends_well(verdict: PrivacyVerdict, rest: str, mass: float) -> bool:
    if verdict.method == BY_FILTER:
        most = 0 if verdict.settings is None else verdict.settings.parameters.get("max_references")
        return isinstance(most, int) and rest == write_excepted_sentence(mass, most)
    if verdict.method == BY_ALIGNMENT:
        parameters = {} if verdict.settings is None else verdict.settings.parameters
        return rest == write_aligned_sentence(parameters)
    cost = verdict.cost
    if verdict.method == BY_RECORDS:
        return rest in [records_sentence(cost.pairs, is_later=later) for later in (False, True)]
    sentences = (
        statistic_sentence("\n", cost.pairs),
        write_seen_sentence("\n", cost.laws, cost.pairs),
    )
    return rest == "" or any(
        re.fullmatch(re.escape(sentence).replace(re.escape("\n"), ".+"), rest)
        for sentence in sentences
    )
