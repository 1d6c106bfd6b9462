"""JUnit XML: every outcome once, nothing unconfirmed green, well-formed whatever the text."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.report.findings import Outcome
from liptest.report.machine import write_junit
from tests.unit.report.outcomes import every_kind

# What readers of the format rely on: element -> (attributes it must have, children it may have).
STRUCTURE = {
    "testsuites": ({"tests", "failures", "errors", "time"}, {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped", "time"}, {"testcase"}),
    "testcase": (
        {"name", "classname", "time"},
        {"properties", "skipped", "error", "failure", "system-out"},
    ),
    "properties": (set(), {"property"}),
    "property": ({"name", "value"}, set()),
    "failure": ({"type", "message"}, set()),
    "error": ({"type", "message"}, set()),
    "skipped": ({"type", "message"}, set()),
    "system-out": (set(), set()),
}


def check_structure(element):
    attributes, children = STRUCTURE[element.tag]
    assert attributes <= set(element.keys())
    for child in element:
        assert child.tag in children
        check_structure(child)


def parsed(outcomes, **options):
    root = ElementTree.fromstring(write_junit(outcomes, **options).encode())
    check_structure(root)
    return root


def cases(root):
    return {case.get("name").split(" ")[0]: case for case in root.iter("testcase")}


def properties(case):
    return {p.get("name"): p.get("value") for p in case.iter("property")}


@pytest.mark.slow
def test_every_outcome_is_a_case_of_its_kind():
    root = parsed(every_kind())
    kinds = [
        (case.get("name"), [child.tag for child in case if child.tag != "properties"])
        for case in root.iter("testcase")
    ]
    assert kinds == [
        ("noisy [epsilon 1.2]", ["system-out"]),
        ("noisy [epsilon 1.2]", ["system-out"]),
        ("leaks [epsilon 1.2]", ["failure"]),
        ("slow [epsilon 1.2]", ["failure"]),
        ("large", ["failure"]),
        ("broken", ["error"]),
        ("lost", ["error"]),
        ("late", ["skipped"]),
    ]
    for suite in (root, root[0]):
        counts = [suite.get(key) for key in ("tests", "failures", "errors", "skipped")]
        assert counts == ["8", "3", "2", "1"]
        assert suite.get("time") == "1.000"


@pytest.mark.slow
def test_a_refutation_shows_its_witness():
    case = cases(parsed(every_kind()))["leaks"]
    failure = case.find("failure")
    assert failure.get("type") == "NO"
    assert failure.get("message") == "NO refuted with a witness"
    assert "probability of output" in failure.text
    assert "\n+ " in failure.text
    found = properties(case)
    assert found["decision"] == "NO"
    assert found["largest_loss"] == "inf"
    assert found["seed"] == "1"
    assert found["code"] == "1"
    assert len(found["code_hash"]) >= 32


@pytest.mark.slow
def test_a_sampled_yes_says_that_it_is_no_proof():
    first, second = list(parsed(every_kind()).iter("testcase"))[:2]
    assert "by proof" in first.find("system-out").text
    assert "by sampling - not a proof" in second.find("system-out").text
    assert properties(second)["exception_mass"] == "0.1"
    assert second.get("classname") == "package.module"


@pytest.mark.slow
def test_where_the_mechanism_is():
    case = cases(parsed(every_kind()))["broken"]
    assert (case.get("file"), case.get("line")) == ("vendors/good one.py", "30")
    assert case.get("classname") == "vendors.good one"
    lost = cases(parsed(every_kind()))["lost"]
    assert lost.get("file") is None
    assert lost.get("line") is None


def test_files_below_the_root_are_relative_and_others_are_not(tmp_path):
    inside = Outcome("a.py:f", 3, file=tmp_path / "deep" / "a.py")
    outside = Outcome("b.py:f", 3, file=tmp_path.parent / "b.py")
    first, second = parsed([inside, outside], root=tmp_path).iter("testcase")
    assert first.get("file") == "deep/a.py"
    assert Path(second.get("file")) == tmp_path.parent / "b.py"


@pytest.mark.slow
def test_what_xml_cannot_hold_is_written_as_an_escape():
    message = cases(parsed(every_kind()))["broken"].find("error").get("message")
    assert message.endswith(r"sums to 2 <\x00 & \x1b[31m\ud800 >")


@pytest.mark.slow
@given(st.text(st.characters(), max_size=30), st.text(st.characters(), max_size=30))
def test_any_text_gives_a_document_that_can_be_read(asked, words):
    text = write_junit([Outcome(asked, 2, error=lt.errors.InputError(words))])
    root = ElementTree.fromstring(text.encode("utf-8"))
    [error] = root.iter("error")
    assert error.text.startswith("bad input: ")


def test_no_checks_give_an_empty_suite():
    root = parsed([])
    assert root.get("tests") == "0"
    assert list(root.iter("testcase")) == []
