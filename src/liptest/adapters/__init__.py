"""Mechanisms of other libraries: their claims, their neighbours, their exact output distributions.

A library is imported only where its objects are handed in.
"""

from liptest.adapters.diffprivlib import diffprivlib
from liptest.adapters.opendp import opendp

__all__ = ["diffprivlib", "opendp"]
