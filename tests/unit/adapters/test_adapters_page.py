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
# The sessions of other libraries (noxfile.py) run this file too, and have neither of the two.
HERE = os.environ.get("LIPTEST_LIBRARIES", "opendp")
WITH_DIFFPRIVLIB = HERE == "diffprivlib-0.6.6"


def needs(code: str) -> bool:
    return code.startswith("# needs: diffprivlib")


RUNNING = [
    example
    for example in EXAMPLES
    if needs(example[0]) is WITH_DIFFPRIVLIB and HERE in ("opendp", "diffprivlib-0.6.6")
]


def test_every_example_has_its_output() -> None:
    assert PAGE.count("```python\n") == len(EXAMPLES) == 3


@pytest.mark.slow
@pytest.mark.parametrize(("code", "printed"), RUNNING)
@pytest.mark.filterwarnings("default" if WITH_DIFFPRIVLIB else "error")
def test_an_example_prints_what_the_page_says(code: str, printed: str) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "docs/adapters.md", "exec"), {})
    assert out.getvalue() == printed
