"""Which names code assigns and reads, comprehensions apart."""

from __future__ import annotations

import ast

import pytest

from liptest.enumerate.syntax.liveness import find_assigned_names, free_names

CASES = [
    ("x = sum(v for v in data)", {"x"}, {"sum", "data"}),
    ("v = [v for v in data]", {"v"}, {"data"}),
    ("v = {k: v for k, v in v}", {"v"}, {"v"}),
    ("x = [(last := v) for v in data]", {"x", "last", "v"}, {"data"}),
    ("while any(w for w in x): x = {v for v in x}", {"x"}, {"any", "x"}),
    ("if a:\n    b = 1\nelse:\n    c, d = [e for e in f]", {"b", "c", "d"}, {"a", "f"}),
    ("for i in range(3): total += i", {"i", "total"}, {"range", "total", "i"}),
    ("try:\n    pass\nexcept ValueError as error:\n    pass", {"error"}, {"ValueError"}),
]


@pytest.mark.parametrize(("text", "assigned", "read"), CASES)
def test_names(text: str, assigned: set[str], read: set[str]) -> None:
    (node,) = ast.parse(text).body
    before = ast.dump(node)
    assert find_assigned_names(node) == assigned
    assert free_names(node) == read
    assert ast.dump(node) == before
