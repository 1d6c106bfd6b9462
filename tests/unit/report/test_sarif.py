"""SARIF 2.1.0: the required structure, problems on the line of their mechanism."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.report.findings import Outcome
from liptest.report.machine import write_sarif
from tests.unit.report.outcomes import every_kind

LEVELS = {"none", "note", "warning", "error"}


def check_structure(log):
    """What the specification requires of the objects written here; numbers are its sections."""
    assert log["version"] == "2.1.0"  # 3.13.2
    assert log["$schema"].endswith("/sarif-schema-2.1.0.json")  # 3.13.3
    [run] = log["runs"]  # 3.13.4
    driver = run["tool"]["driver"]  # 3.14.6, 3.18.2
    assert driver["name"]  # 3.19.8
    rules = driver["rules"]  # 3.19.23
    assert len({rule["id"] for rule in rules}) == len(rules)  # 3.49.3
    for rule in rules:
        assert rule["name"].isidentifier()  # 3.49.7
        for text in ("shortDescription", "fullDescription", "help"):  # 3.49.9, 10, 13
            assert rule[text]["text"]  # 3.12.3
            assert rule[text]["text"].endswith(".")
        assert rule["defaultConfiguration"]["level"] in LEVELS  # 3.49.14, 3.50.3
    for invocation in run["invocations"]:
        assert isinstance(invocation["executionSuccessful"], bool)  # 3.20.14
        for notification in invocation["toolConfigurationNotifications"]:  # 3.20.22
            assert notification["message"]["text"]  # 3.58.5
            assert notification["level"] in LEVELS  # 3.58.6
            check_locations(notification["locations"], run)
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")  # 3.14.27
    for result in run["results"]:  # 3.14.23
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]  # 3.27.5, 3.27.6
        assert result["message"]["text"]  # 3.27.11
        assert result["level"] in LEVELS  # 3.27.10
        assert result["kind"] == "fail"  # 3.27.9: any other kind needs level none
        check_locations(result["locations"], run)
        for name, value in result["partialFingerprints"].items():  # 3.27.17
            assert re.fullmatch(r"\w+/v\d+", name)
            assert isinstance(value, str)


def check_locations(locations, run):
    for location in locations:
        for logical in location["logicalLocations"]:  # 3.33
            assert logical["name"] is not None
        if "physicalLocation" in location:
            artifact = location["physicalLocation"]["artifactLocation"]  # 3.29.3
            assert re.fullmatch(r"[\w\-./%~:]+", artifact["uri"])  # 3.4.3, a URI reference
            if "uriBaseId" in artifact:  # 3.4.4
                assert artifact["uriBaseId"] in run["originalUriBaseIds"]
                assert not re.match(r"[a-z]+:|/|\.\.", artifact["uri"])
            else:
                assert artifact["uri"].startswith("file:///")
            region = location["physicalLocation"].get("region", {"startLine": 1})
            assert region["startLine"] >= 1  # 3.30.5


def log_of(outcomes, **options):
    log = json.loads(write_sarif(outcomes, **options))
    check_structure(log)
    return log["runs"][0]


@pytest.mark.slow
def test_problems_are_results_and_confirmed_claims_are_none():
    run = log_of(every_kind())
    found = [(r["ruleId"], r["level"]) for r in run["results"]]
    assert found == [
        ("claim-refuted", "error"),
        ("claim-undecided", "warning"),
        ("claim-undecided", "warning"),
        ("mechanism-broken", "error"),
    ]
    checks = [check["outcome"] for check in run["properties"]["checks"]]
    assert checks[:3] == ["YES", "YES", "NO"]
    assert len(checks) == 8


@pytest.mark.slow
def test_the_witness_is_on_the_line_of_the_mechanism():
    result = log_of(every_kind())["results"][0]
    text = result["message"]["text"]
    assert text.startswith("vendors/good one.py:leaks: NO refuted with a witness\n")
    assert "probability of output" in text
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {
        "uri": "vendors/good%20one.py",
        "uriBaseId": "%SRCROOT%",
    }
    assert physical["region"] == {"startLine": 12}
    assert result["properties"]["largest_loss"] == "inf"


@pytest.mark.slow
def test_bad_input_is_a_notification_and_the_run_no_success():
    [invocation] = log_of(every_kind())["invocations"]
    assert not invocation["executionSuccessful"]
    said = [n["message"]["text"] for n in invocation["toolConfigurationNotifications"]]
    assert said == [
        "vendors/none.py:lost: bad input: vendors/none.py: no such file",
        "vendors/good one.py:late: not run",
    ]
    [clean] = log_of(every_kind()[:3])["invocations"]
    assert clean == {"executionSuccessful": True, "toolConfigurationNotifications": []}


@pytest.mark.slow
def test_a_fingerprint_is_of_the_claim_not_of_the_witness():
    def fingerprints(outcomes):
        return [r["partialFingerprints"]["claim/v1"] for r in log_of(outcomes)["results"]]

    first = fingerprints(every_kind())
    assert len(set(first)) == len(first)
    assert fingerprints(every_kind()) == first


def test_files_elsewhere_have_an_absolute_uri(tmp_path):
    error = lt.errors.LawError("bad")
    for file, uri in (
        (tmp_path / "a b" / "ü#?.py", "a%20b/%C3%BC%23%3F.py"),
        (tmp_path.parent / "b.py", (tmp_path.parent / "b.py").as_uri()),
        (Path("c:d.py"), "c%3Ad.py"),
    ):
        run = log_of([Outcome("x:f", 4, error=error, file=file)], root=tmp_path)
        artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
        assert artifact["uri"] == uri
        if "uriBaseId" in artifact:
            assert (tmp_path / unquote(uri)).name == file.name


def test_without_a_file_there_is_a_name_only():
    run = log_of([Outcome("package.module:f", 4, error=lt.errors.LawError("bad"))])
    [location] = run["results"][0]["locations"]
    assert location == {
        "logicalLocations": [
            {"name": "f", "fullyQualifiedName": "package.module:f", "kind": "function"}
        ]
    }


@given(st.text(st.characters(), max_size=30), st.text(st.characters(), max_size=30))
def test_any_text_gives_a_log_that_can_be_written(asked, words):
    text = write_sarif([Outcome(asked, 4, error=lt.errors.MechanismError(words))])
    assert json.loads(text.encode("ascii"))["runs"][0]["results"]


def test_no_checks_give_an_empty_run():
    assert log_of([])["results"] == []
