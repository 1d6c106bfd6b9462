"""The catalogue of examples/ and its golden numbers, for the tests beside."""

from __future__ import annotations

import importlib
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"
GOLDEN: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("catalogue.json").read_text(encoding="utf-8")
)["cases"]


@cache
def catalogue() -> Any:
    """The package ``catalogue`` of the folder examples."""
    if str(EXAMPLES) not in sys.path:
        sys.path.append(str(EXAMPLES))
    return importlib.import_module("catalogue")


ENTRIES: dict[str, Any] = {entry.name: entry for entry in catalogue().entries()}
