"""SARIF 2.1.0: what was found, on the line of the mechanism, as code scanning reads it.

Results are problems only; a run also lists every check, with its numbers, in its properties. Bad
input concerns the command, not the code: it is a notification of the run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import liptest
from liptest.certificates.outcomes import Outcome
from liptest.report.facts import Kind, check_facts, explanation, kind_of, summary
from liptest.report.places import relative_uri

Json = dict[str, Any]

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_BASE = "%SRCROOT%"

# identifier, name, level, what it means, what to do
_RULES = {
    Kind.REFUTED: (
        "claim-refuted",
        "ClaimRefuted",
        "error",
        "The mechanism is not differentially private as claimed.",
        "The message names two neighbouring datasets and an output whose probabilities on them "
        "differ by more than the claim allows. This is certain: both probabilities are known "
        "exactly or in certified bounds, and `liptest law` prints both output laws again. "
        "Correct the mechanism, or claim a larger epsilon.",
    ),
    Kind.UNDECIDED: (
        "claim-undecided",
        "ClaimUndecided",
        "warning",
        "The claim was neither confirmed nor refuted.",
        "The message says why: a budget ended, the declared errors of the probabilities are too "
        "large to tell, or the method says nothing at these numbers. Nothing is promised.",
    ),
    Kind.BROKEN: (
        "mechanism-broken",
        "MechanismBroken",
        "error",
        "The mechanism could not be tested because it is broken.",
        "Its output probabilities are no probability law, it answers differently for the same "
        "random choices, or it raises an exception on every dataset. Nothing is promised.",
    ),
}
_NUMBER = {kind: number for number, kind in enumerate(_RULES)}


def document(outcomes: Sequence[Outcome], *, root: Path | None = None) -> str:
    """The outcomes as one SARIF log.

    File names are URIs relative to ``root``, the current folder by default; a file that lies
    elsewhere has an absolute one.
    """
    bad = [outcome for outcome in outcomes if kind_of(outcome) in (Kind.UNUSABLE, Kind.NOT_RUN)]
    run = {
        "tool": {"driver": _driver()},
        "invocations": [
            {
                "executionSuccessful": not bad,
                "toolConfigurationNotifications": [_notification(one, root) for one in bad],
            }
        ],
        "originalUriBaseIds": {
            _BASE: {"description": {"text": "The folder in which liptest was started."}}
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, root) for one in outcomes if kind_of(one) in _RULES],
        "properties": {"checks": [check_facts(outcome) for outcome in outcomes]},
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _driver() -> Json:
    return {
        "name": "liptest",
        "version": liptest.__version__,
        "semanticVersion": liptest.__version__,
        "rules": [_rule(kind) for kind in _RULES],
    }


def _rule(kind: Kind) -> Json:
    identifier, name, level, meaning, advice = _RULES[kind]
    return {
        "id": identifier,
        "name": name,
        "shortDescription": {"text": meaning},
        "fullDescription": {"text": f"{meaning} {advice.replace('`', '')}"},
        "help": {"text": advice.replace("`", ""), "markdown": advice},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": ["privacy", "security"]},
    }


def _result(outcome: Outcome, root: Path | None) -> Json:
    identifier, _, level, *_ = _RULES[kind_of(outcome)]
    lines = [f"{outcome.asked}: {summary(outcome)}"]
    if outcome.certificate is not None:
        lines += ["", *explanation(outcome)]
    return {
        "ruleId": identifier,
        "ruleIndex": _NUMBER[kind_of(outcome)],
        "kind": "fail",
        "level": level,
        "message": {"text": "\n".join(lines)},
        "locations": [_location(outcome, root)],
        "partialFingerprints": {"claim/v1": _identity(outcome)},
        "properties": check_facts(outcome),
    }


def _notification(outcome: Outcome, root: Path | None) -> Json:
    return {
        "level": "error",
        "message": {"text": f"{outcome.asked}: {summary(outcome)}"},
        "locations": [_location(outcome, root)],
    }


def _location(outcome: Outcome, root: Path | None) -> Json:
    name = outcome.asked.rpartition(":")[2]
    place: Json = {
        "logicalLocations": [
            {"name": name, "fullyQualifiedName": outcome.asked, "kind": "function"}
        ]
    }
    if outcome.file is not None:
        physical: Json = {"artifactLocation": _artifact(outcome.file, root)}
        if outcome.line is not None:
            physical["region"] = {"startLine": outcome.line}
        place["physicalLocation"] = physical
    return place


def _artifact(file: Path, root: Path | None) -> Json:
    uri = relative_uri(file, root)
    if uri is None:
        return {"uri": ((root or Path.cwd()) / file).resolve().as_uri()}
    return {"uri": uri, "uriBaseId": _BASE}


def _identity(outcome: Outcome) -> str:
    """The same for the same claim in later runs, whatever the witness."""
    claim = "" if outcome.certificate is None else str(outcome.certificate.verdict.claim)
    parts = [_RULES[kind_of(outcome)][0], outcome.asked, claim]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
