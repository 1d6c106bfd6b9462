"""pure-ldp: frequency oracles of local differential privacy; all random numbers are NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import liptest as lt
from benchmarks.world.rows import Environment, Laws, Report, Row

VERSIONS = ("1.0.6", "1.1.0", "1.1.2", "1.2.0")
_PINS = ("scikit-learn==1.9.1", "statsmodels==0.15.0", "xxhash==3.5.0", "numpy==2.4.6")
ENVIRONMENTS = tuple(Environment("pure-ldp", version, _PINS) for version in VERSIONS)
_NEWEST = ("1.2.0",)
_BUG = Report(
    "pure-LDP issue 11 (found by LDP-Auditor, arXiv 2309.01597)",
    "https://github.com/Samuel-Maddock/pure-LDP/issues/11",
)


def one_value(privatise: Callable[[int], Any], values: int = 4) -> Laws:
    """One user's value, of 0 .. values - 1; any two are neighbours."""
    made = lt.mechanism(lambda data: privatise(int(data[0])), deterministic=["xxhash"])
    return Laws(made, lt.RecordGrid([values]))


def _unary(optimised: bool) -> Callable[[str], Laws]:
    def make(version: str) -> Laws:
        from pure_ldp.frequency_oracles.unary_encoding import UEClient

        client = UEClient(1.0, 4, use_oue=optimised)
        return one_value(lambda value: client.privatise(value + 1))

    return make


def _direct(version: str) -> Laws:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(1.0, 4)
    return one_value(lambda value: client.privatise(value + 1))


def _local_hashing(version: str) -> Laws:
    from pure_ldp.frequency_oracles.local_hashing import LHClient

    # The seed is one of 2**63 and part of the output: one of them is all that matters.
    client = LHClient(1.0, 4, use_olh=True)
    return one_value(lambda value: client._perturb(value + 1, 7))


def _fast_local_hashing(version: str) -> Laws:
    from pure_ldp.frequency_oracles.local_hashing import FastLHClient

    client = FastLHClient(1.0, 4, k=6, use_olh=True)
    return one_value(lambda value: client.privatise(value + 1))


def _hadamard(version: str) -> Laws:
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient

    client = HadamardResponseClient(1.0, 4, None)
    return one_value(lambda value: client.privatise(value + 1))


def _row(name: str, words: str, make: Callable[[str], Laws], **more: Any) -> Row:
    options = {"versions": _NEWEST, **more}
    return Row(
        f"pure-ldp-{name}",
        "pure-ldp",
        words,
        "one user's value",
        {"epsilon": 1.0},
        make=make,
        **options,
    )


ROWS = (
    _row(
        "sue",
        "symmetric unary encoding, 4 values",
        _unary(False),
        versions=VERSIONS,
        report=_BUG,
        broken=("1.1.0", "1.1.2"),
    ),
    _row(
        "oue",
        "optimised unary encoding, 4 values",
        _unary(True),
        versions=VERSIONS,
        report=_BUG,
        broken=("1.1.0", "1.1.2"),
    ),
    _row("de", "direct encoding (randomised response), 4 values", _direct),
    _row("olh", "optimised local hashing, 4 values, one seed", _local_hashing),
    _row("flh", "fast local hashing, 4 values, 6 seeds", _fast_local_hashing),
    _row("hr", "Hadamard response, 4 values", _hadamard),
)
