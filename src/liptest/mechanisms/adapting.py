"""Objects that are not mechanisms, and what makes mechanisms of them.

Functions, bound methods and other objects to call are enumerated; objects of a library are known by
the package of their class. Makers stand here by name, as they belong to rooms that are built on
this one, and are imported when they are used. Other packages offer theirs by entry points
``liptest.adapters``: the name is that of the package whose objects it takes, the object a function
``(value, *, domain=None)`` that returns a ``Mechanism`` or raises InputError.
"""

from __future__ import annotations

import sys
from pkgutil import resolve_name
from typing import Any

from liptest.data.domains import Domain
from liptest.runs.extensions import ADAPTERS, load_offered

_OF_FUNCTIONS = "liptest.enumerate.decorator:mechanism"
_OWN = {name: f"liptest.adapters.{name}:{name}" for name in ("opendp", "diffprivlib")}


def domain_expression(value: object) -> str:
    """The domain that an object of a library has of its own, in Python; "" of all others.

    Raises InputError where its adapter needs to be told one.
    """
    if type(value).__module__.partition(".")[0] not in _OWN:
        return ""
    domain = vars(adapt(value)).get("domain")
    return f"lt.{domain!r}" if isinstance(domain, Domain) else ""


def adapt(value: object, domain: object = None) -> Any:
    """A mechanism made of an object, with datasets of a domain; None where nothing takes it."""
    if isinstance(value, type):
        return None
    package = type(value).__module__.partition(".")[0]
    maker = _find_maker(package)
    if maker is not None:
        return maker(value, domain=domain)
    return resolve_name(_OF_FUNCTIONS)(value) if callable(value) else None


def _find_maker(package: str) -> Any:
    if package in _OWN:
        return resolve_name(_OWN[package])
    return None if package in sys.stdlib_module_names else load_offered(ADAPTERS, package)
