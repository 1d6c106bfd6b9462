"""Loops over records that change attributes of objects (docs/theory/records.md, P2d)."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import InputError
from liptest.verdicts import Decision
from tests.unit.enumerate.records import server_programs
from tests.unit.enumerate.records.server_programs import PROVED, REFUSED, Server
from tests.unit.written_programs import program

MANY = lt.Hypercube(3_000)
SLACK = 1e-9


def check(function: Any, epsilon: float, domain: Any = MANY, **options: Any) -> Any:
    return lt.check_privacy(
        lt.mechanism(function), domain, epsilon=epsilon, delta=1e-12, seed=1, **options
    )


@pytest.mark.slow
@pytest.mark.parametrize("function", PROVED, ids=lambda function: function.__name__)
def test_servers_are_proved_at_the_loss_of_one_record(function: Any) -> None:
    epsilon = PROVED[function]
    verdict = check(function, epsilon + SLACK, method="per-record")
    assert verdict.decision is Decision.YES
    assert verdict.largest_loss == pytest.approx(epsilon)
    with pytest.raises(InputError, match="have loss"):
        check(function, epsilon - 0.01, method="per-record")


@pytest.mark.parametrize("function", PROVED, ids=lambda function: function.__name__)
def test_the_loss_of_two_records_is_no_larger_by_enumeration(function: Any) -> None:
    if function.__name__ == "sketched":
        pytest.skip("its outputs are many")
    whole = check(function, 5.0, lt.Hypercube(2), method="exhaustive")
    assert whole.largest_loss <= PROVED[function] + SLACK


@pytest.mark.slow
@pytest.mark.parametrize("kind", REFUSED, ids=lambda kind: kind.__name__)
def test_what_passes_share_is_refused(kind: Any) -> None:
    text = f"server = {kind.__name__}()\nserver.add_all(data)\nreturn server"
    for later in (".counts", ".total", ".__class__.__name__"):
        function = program(text + later, **{kind.__name__: kind})
        with pytest.raises(InputError):
            check(function, 20.0, method="per-record")


SERVED = "server = Server()\n"
ELSEWHERE = {
    "twice": "server.add_all(data)\nserver.add_all(data)\nreturn server.counts",
    "and tells the data": "server.add_all(data)\nreturn server.counts, data.sum()",
    "another method": "server.add = print\nserver.add_all(data)\nreturn server.counts",
    "of the class": "Server.add = print\nserver.add_all(data)\nreturn server.counts",
    "with the first record": "server.add(data[0])\nserver.add_all(data)\nreturn server.counts",
    "read in the loop": "for v in data:\n    server.add(v + server.total % 2)\n"
    "return server.counts",
    "written in the loop": "for v in data:\n    server.add(v)\n    server = Server()\n"
    "return server.counts",
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_other_uses_of_the_object_are_refused(name: str) -> None:
    with pytest.raises(InputError):
        check(program(SERVED + ELSEWHERE[name], Server=Server), 20.0, method="per-record")


@pytest.mark.slow
def test_objects_of_other_modules_are_named_there() -> None:
    """What their methods name is looked up in their module, whatever the program calls so."""
    text = "server = module.Server()\nserver.add_all(data)\nreturn server.counts"
    function = program(text, module=server_programs, answer=lambda value: value)
    verdict = check(function, math.log(3) + SLACK, method="per-record")
    assert verdict.decision is Decision.YES


@pytest.mark.slow
def test_truth_values_are_no_places_of_an_array() -> None:
    """``counts[True] += 1`` adds to all entries; ``counts[1] += 1`` to one."""
    text = """counts = np.zeros(4)
for v in data.tolist():
    if rng.random() < 0.5:
        key = bool(v)
    else:
        key = 1
    counts[key] += 1
return counts"""
    with pytest.raises(InputError):
        check(program(text), 20.0, method="per-record")


@pytest.mark.slow
@pytest.mark.parametrize("made", ["{}", "dict()"])
def test_keys_of_a_dictionary_count_with_their_types(made: str) -> None:
    text = f"""counts = {made}
for v in data.tolist():
    if rng.random() < 0.5:
        key = v
    else:
        key = np.int64(rng.integers(0, 2))
    counts[key] = 1
return repr(counts)"""
    with pytest.raises(InputError):
        check(program(text), 20.0, method="per-record")


@pytest.mark.slow
def test_hashes_are_taken_of_the_value() -> None:
    text = """def tell(v):
    told = int(hashlib.md5(str(v).encode()).hexdigest(), 16) % 4
    return told if rng.random() < 0.5 else int(rng.integers(0, 4))
return [tell(v) for v in data]"""
    domain = lt.RecordGrid([6] * 500)
    verdict = check(
        program(text, hashlib=hashlib), math.log(5) + SLACK, domain, method="per-record"
    )
    assert verdict.decision is Decision.YES
    values = {int(hashlib.md5(str(v).encode()).hexdigest(), 16) % 4 for v in range(6)}
    assert len(values) > 1
    assert verdict.largest_loss == pytest.approx(math.log(5))
    assert np.isfinite(verdict.largest_loss)


LIKE_NOTES = {
    "a pair": """kept = []
for v in data.tolist():
    kept.append(("0 Add at a place", 1 if v == 1 else np.int64(1)))
return repr(kept)""",
    "beside counts": """kept = []
counts = np.zeros(4)
for v in data.tolist():
    kept.append(("0 Add at a place", 1 if v == 1 else np.int64(1)))
    counts[0] += 1
return repr(kept)""",
    "a list of them": """kept = []
for v in data.tolist():
    kept.append([("0 Add at a place", 1 if v == 1 else np.int64(1), 1)])
return repr(kept)""",
    "in a list of our name": """__added_by_records_0 = []
for v in data.tolist():
    __added_by_records_0.append(([("0 at a place", 1 if v == 1 else np.int64(1), 1)],))
return repr(__added_by_records_0)""",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LIKE_NOTES)
def test_what_a_program_writes_like_a_note_keeps_its_types(name: str) -> None:
    """The analysis notes changes as such tuples; of those of a program types are told."""
    with pytest.raises(InputError):
        check(program(LIKE_NOTES[name]), 20.0, method="per-record")
