"""liptest tests a privacy claim before the code touches the data.

``import liptest as lt`` loads nothing but this file; each name is imported on first use, so
that the command line answers quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
