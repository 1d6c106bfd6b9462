"""What a task can say, and what code may import."""

from __future__ import annotations

import pytest

from liptest.errors import InputError
from liptest.service.tasks import (
    ALLOWED,
    check_file,
    find_seconds,
    foreign_imports,
    from_json,
    read_check,
    to_json,
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epsilon = ", "TOML"),
        ("[domain]\nrecords = 3", "epsilon is missing"),
        ("epsilon = 1\nmechanism = 'x.py:y'", "mechanism is not said by a task"),
        ("epsilon = 1\nseed = 3", "seed is not said"),
        ("epsilon = 1\ntrust_code = true", "unknown key"),
        ("epsilon = -1\n[domain]\nrecords = 3", "epsilon"),
        ("epsilon = 1\nmax_seconds = 1e9", "max_seconds"),
        *[
            (f"epsilon = 1\ngrid_step = {step}", "grid_step")
            for step in ("0", "-1", "nan", "'x'", "'1/0'", "1e40", "'1e999999999'", "'1e-99999999'")
        ],
        ("epsilon = 1\n[distribution]\nsql = '$HOME'\nquery = 'x'", "no database"),
        ("epsilon = 1\n[distribution]\ntable = '../private/x.csv'", "without a folder"),
        ("epsilon = 1\n[distribution]\ntable = 'a.csv'\nrecords = '/etc/x'", "without a folder"),
    ],
)
def test_what_a_task_cannot_say(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_check(text)


def test_a_check_comes_back() -> None:
    model = read_check("epsilon = 'log(3)'\n[domain]\nrecords = 8\nvalues = 4")
    assert from_json(to_json(model)) == model
    assert find_seconds(model) == 120


def test_names_of_files() -> None:
    assert check_file("clicks 2024.csv") == "clicks 2024.csv"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (b"import os, numpy.random, liptest as lt", []),
        (b"import pandas as pd\nfrom sklearn.x import y", ["pandas", "sklearn"]),
        (b"def f():\n    import requests", ["requests"]),
        (b"from . import secret", ["."]),
    ],
)
def test_imports(code: bytes, found: list[str]) -> None:
    assert foreign_imports(code, ALLOWED) == found


@pytest.mark.parametrize("code", [b"def (", b"\0", b"(" * 5000, b"\xff\xfe", b"-" * 200_000 + b"1"])
def test_what_is_no_python(code: bytes) -> None:
    with pytest.raises(InputError, match="the file is not Python"):
        foreign_imports(code, ALLOWED)
