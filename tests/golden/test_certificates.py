"""Certificates that were written before one kind of record was: they can still be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import liptest as lt
from liptest.evidence.certificate import document_digest, form_problems
from liptest.evidence.verify import examine

WRITTEN: dict[str, Any] = json.loads(
    (Path(__file__).parent / "certificates.json").read_text(encoding="utf-8")
)
EACH = pytest.mark.parametrize("name", WRITTEN)


@EACH
def test_they_hold_and_are_written_again_as_they_were(name: str) -> None:
    text = json.dumps(WRITTEN[name])
    assert examine(text).problems == []
    again = json.loads(lt.Certificate.from_json(text).to_json())
    # They were written when a Hypercube was a cube, and in words of then; all else is as it was.
    expected = json.loads(text)
    if "domain" in expected:
        assert expected["domain"]["kind"] == "cube"
        expected["domain"]["kind"] = "hypercube"
        released = expected["release_guarantee"]
        expected["release_guarantee"] = released.replace("off datasets", "except on datasets")
    expected["digest"] = document_digest(expected)
    assert json.dumps(again, sort_keys=True) == json.dumps(expected, sort_keys=True)


@EACH
def test_each_key_is_needed(name: str) -> None:
    for part in (WRITTEN[name], WRITTEN[name]["verdict"], WRITTEN[name]["verdict"]["cost"]):
        for key in list(part):
            value = part.pop(key)
            assert form_problems(WRITTEN[name]) != [], key
            part[key] = value
