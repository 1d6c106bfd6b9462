"""The examples of docs/adapters.md print what the page says."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "adapters.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```\n\n```\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
WITH_DIFFPRIVLIB = os.environ.get("LIPTEST_LIBRARIES") == "diffprivlib-0.6.6"


def needs(code: str) -> bool:
    return code.startswith("# needs: diffprivlib")


def test_every_example_has_its_output() -> None:
    assert PAGE.count("```python\n") == len(EXAMPLES) == 3


@pytest.mark.parametrize(
    ("code", "printed"), [e for e in EXAMPLES if needs(e[0]) is WITH_DIFFPRIVLIB]
)
@pytest.mark.filterwarnings("default" if WITH_DIFFPRIVLIB else "error")
def test_an_example_prints_what_the_page_says(code: str, printed: str) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "docs/adapters.md", "exec"), {})
    assert out.getvalue() == printed
