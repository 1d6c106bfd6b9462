"""Reports that machines read: JUnit XML for continuous integration, SARIF for code scanning."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import liptest
from liptest.report.findings import (
    Outcome,
    OutcomeKind,
    check_facts,
    explanation,
    find_kind,
    summary,
)


def relative_place(file: Path, root: Path | None = None) -> str | None:
    """The file seen from ``root`` (default: the current folder); None when it lies elsewhere."""
    start = (root or Path.cwd()).resolve()
    full = (start / file).resolve()
    return full.relative_to(start).as_posix() if full.is_relative_to(start) else None


def relative_uri(file: Path, root: Path | None = None) -> str | None:
    """The place of a file below the root, as a URI reference."""
    place = relative_place(file, root)
    return None if place is None else quote(place)


# NO and INCONCLUSIVE are failures, bad input and broken mechanisms errors. Only a check that was
# not run is skipped: most servers show a skipped case as success.
_ELEMENT = {
    OutcomeKind.REFUTED: "failure",
    OutcomeKind.UNDECIDED: "failure",
    OutcomeKind.BROKEN: "error",
    OutcomeKind.UNUSABLE: "error",
    OutcomeKind.NOT_RUN: "skipped",
}
# What XML 1.0 cannot hold, not even escaped; carriage returns would be read as line ends.
_FORBIDDEN = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(outcomes: Sequence[Outcome], *, root: Path | None = None) -> str:
    """The outcomes as one JUnit XML document.

    ``root`` is the folder that file names are relative to, the current one by default. What XML
    cannot hold is written as a Python escape.
    """
    kinds = Counter(_ELEMENT.get(find_kind(outcome), "") for outcome in outcomes)
    counts = {
        "tests": str(len(outcomes)),
        "failures": str(kinds["failure"]),
        "errors": str(kinds["error"]),
        "skipped": str(kinds["skipped"]),
        "time": f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    }
    suites = ElementTree.Element("testsuites", {"name": "liptest", **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "liptest", **counts})
    for outcome in outcomes:
        suite.append(_case(outcome, root))
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _case(outcome: Outcome, root: Path | None) -> ElementTree.Element:
    source, _, name = outcome.asked.rpartition(":")
    case = ElementTree.Element("testcase", _attributes(outcome, source, name, root))
    properties = ElementTree.SubElement(case, "properties")
    for key, value in check_facts(outcome).items():
        ElementTree.SubElement(properties, "property", {"name": key, "value": _clean(value)})
    words = _clean("\n".join(explanation(outcome)))
    kind = find_kind(outcome)
    if kind in _ELEMENT:
        said = {"type": str(kind), "message": _clean(summary(outcome))}
        ElementTree.SubElement(case, _ELEMENT[kind], said).text = words
    else:
        # Also a YES has small print: it may be by sampling, which is not a proof.
        ElementTree.SubElement(case, "system-out").text = words
    return case


def _attributes(outcome: Outcome, source: str, name: str, root: Path | None) -> dict[str, str]:
    claim = ""
    if outcome.certificate is not None:
        claim = f" [{outcome.certificate.verdict.claim}]"
    attributes = {
        "classname": _clean(source.removesuffix(".py").replace("/", ".").strip(".") or "liptest"),
        "name": _clean(name + claim),
        "time": f"{outcome.seconds:.3f}",
    }
    if outcome.file is not None:
        attributes["file"] = _clean(relative_place(outcome.file, root) or str(outcome.file))
    if outcome.line is not None:
        attributes["line"] = str(outcome.line)
    return attributes


def _clean(text: str) -> str:
    return _FORBIDDEN.sub(lambda match: ascii(match.group())[1:-1], text)


Json = dict[str, Any]
_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_BASE = "%SRCROOT%"
# identifier, name, level, what it means, what to do
_RULES = {
    OutcomeKind.REFUTED: (
        "claim-refuted",
        "ClaimRefuted",
        "error",
        "The mechanism is not differentially private as claimed.",
        "The message names two neighbouring datasets and an output whose probabilities on them "
        "differ by more than the claim allows. This is certain: both probabilities are known "
        "exactly or in certified bounds, and `liptest law` prints both output distributions again. "
        "Correct the mechanism, or claim a larger epsilon.",
    ),
    OutcomeKind.UNDECIDED: (
        "claim-undecided",
        "ClaimUndecided",
        "warning",
        "The claim was neither confirmed nor refuted.",
        "The message says why: a budget ended, the declared errors of the probabilities are too "
        "large to tell, or the method says nothing for these numbers. Nothing is promised.",
    ),
    OutcomeKind.BROKEN: (
        "mechanism-broken",
        "MechanismBroken",
        "error",
        "The mechanism could not be tested because it is broken.",
        "Its output probabilities are not a probability law, it answers differently for the same "
        "random choices, or it raises an exception on every dataset. Nothing is promised.",
    ),
}
_NUMBER = {kind: number for number, kind in enumerate(_RULES)}


def write_sarif(outcomes: Sequence[Outcome], *, root: Path | None = None) -> str:
    """The outcomes as one SARIF 2.1.0 log: what was found, on the line of the mechanism.

    Results are problems only; a run also lists every check, with its numbers, in its properties.
    Bad input concerns the command, not the code: it is a notification of the run.

    File names are URIs relative to ``root``, the current folder by default; a file that lies
    elsewhere has an absolute one.
    """
    bad = [
        outcome
        for outcome in outcomes
        if find_kind(outcome) in (OutcomeKind.UNUSABLE, OutcomeKind.NOT_RUN)
    ]
    run = {
        "tool": {"driver": _driver()},
        "invocations": [
            {
                "executionSuccessful": not bad,
                "toolConfigurationNotifications": [_notification(failed, root) for failed in bad],
            }
        ],
        "originalUriBaseIds": {
            _BASE: {"description": {"text": "The folder in which liptest was started."}}
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(checked, root) for checked in outcomes if find_kind(checked) in _RULES],
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


def _rule(kind: OutcomeKind) -> Json:
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
    identifier, _, level, *_ = _RULES[find_kind(outcome)]
    lines = [f"{outcome.asked}: {summary(outcome)}"]
    if outcome.certificate is not None:
        lines += ["", *explanation(outcome)]
    return {
        "ruleId": identifier,
        "ruleIndex": _NUMBER[find_kind(outcome)],
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
    parts = [_RULES[find_kind(outcome)][0], outcome.asked, claim]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
