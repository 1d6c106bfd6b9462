"""The examples of docs/data.md run, in their order, and print what the page shows."""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from liptest.cli.app import app
from liptest.cli.data_options import DistributionOptions

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```(?:\n```text\n(.*?)```)?", PAGE, re.DOTALL)


@pytest.mark.slow
def test_the_examples_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code, expected in EXAMPLES:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "docs/data.md", "exec"), names)
        assert printed.getvalue() == expected
    names["engine"].dispose()
    assert len(EXAMPLES) == 11


def test_the_keys_and_options_of_the_page_exist() -> None:
    (toml,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    keys = re.findall(r"^(\w+) =", toml, re.MULTILINE)
    assert len(keys) == 6
    assert set(keys) <= {item.name for item in fields(DistributionOptions)}
    options = set(re.findall(r" (--[a-z-]+)", PAGE))
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        app(["check", "--help"], result_action="return_value")
    assert options == {option for option in options if option in text.getvalue()}
    assert "--sql-table" in options
