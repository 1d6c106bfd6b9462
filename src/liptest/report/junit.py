"""JUnit XML: one test case for each check, as continuous integration reads it.

NO and INCONCLUSIVE are failures, bad input and broken mechanisms errors. Only a check that was
not run is skipped: most servers show a skipped case as success.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from liptest.certificates.outcomes import Outcome
from liptest.report.facts import Kind, check_facts, explanation, kind_of, summary
from liptest.report.places import relative_place

_ELEMENT = {
    Kind.REFUTED: "failure",
    Kind.UNDECIDED: "failure",
    Kind.BROKEN: "error",
    Kind.UNUSABLE: "error",
    Kind.NOT_RUN: "skipped",
}
# What XML 1.0 cannot hold, not even escaped; carriage returns would be read as line ends.
_FORBIDDEN = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def document(outcomes: Sequence[Outcome], *, root: Path | None = None) -> str:
    """The outcomes as one JUnit XML document.

    ``root`` is the folder that file names are relative to, the current one by default. What XML
    cannot hold is written as a Python escape.
    """
    kinds = Counter(_ELEMENT.get(kind_of(outcome), "") for outcome in outcomes)
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
    kind = kind_of(outcome)
    if kind in _ELEMENT:
        said = {"type": str(kind), "message": _clean(summary(outcome))}
        ElementTree.SubElement(case, _ELEMENT[kind], said).text = words
    else:
        # Also a YES has small print: it may be by sampling, which is no proof.
        ElementTree.SubElement(case, "system-out").text = words
    return case


def _attributes(outcome: Outcome, source: str, name: str, root: Path | None) -> dict[str, str]:
    claim = ""
    if outcome.certificate is not None:
        claim = f" [{outcome.certificate.verdict.claim}]"
    found = {
        "classname": _clean(source.removesuffix(".py").replace("/", ".").strip(".") or "liptest"),
        "name": _clean(name + claim),
        "time": f"{outcome.seconds:.3f}",
    }
    if outcome.file is not None:
        found["file"] = _clean(relative_place(outcome.file, root) or str(outcome.file))
    if outcome.line is not None:
        found["line"] = str(outcome.line)
    return found


def _clean(text: str) -> str:
    return _FORBIDDEN.sub(lambda found: ascii(found.group())[1:-1], text)
