"""Small libraries of local privacy: multi-freq-ldpy and ldp-toolbox."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.world.libraries.pure_ldp import one_value
from benchmarks.world.rows import Environment, Laws, Row

# What Numba compiles draws random numbers of its own: its documented switch runs the same
# functions as Python.
_PLAIN = (("NUMBA_DISABLE_JIT", "1"),)
ENVIRONMENTS = (
    Environment("multi-freq-ldpy", "0.2.5", (), _PLAIN),
    Environment("ldp-toolbox", "0.1.3", (), _PLAIN),
)


def _multi(module: str, client: str, **options: Any) -> Callable[[str], Laws]:
    def make(version: str) -> Laws:
        from importlib import import_module

        found = import_module(f"multi_freq_ldpy.pure_frequency_oracles.{module}")
        privatise = getattr(found, client)
        return one_value(lambda value: privatise(value, 4, 1.0, **options))

    return make


def _toolbox(module: str, protocol: str, **options: Any) -> Callable[[str], Laws]:
    def make(version: str) -> Laws:
        from importlib import import_module

        found = import_module(f"ldp_toolbox.protocols.frequency.{module}")
        return one_value(getattr(found, protocol)(4, 1.0, **options).obfuscate)

    return make


def _row(library: str, version: str, name: str, words: str, make: Any) -> Row:
    return Row(
        f"{library}-{name}",
        library,
        words,
        "one user's value",
        {"epsilon": 1.0},
        (version,),
        make,
    )


_M, _T = ("multi-freq-ldpy", "0.2.5"), ("ldp-toolbox", "0.1.3")
ROWS = (
    _row(*_M, "grr", "randomised response, 4 values", _multi("GRR", "GRR_Client")),
    _row(*_M, "sue", "symmetric unary encoding", _multi("UE", "UE_Client", optimal=False)),
    _row(*_M, "oue", "optimised unary encoding", _multi("UE", "UE_Client", optimal=True)),
    _row(*_M, "ss", "subset selection", _multi("SS", "SS_Client")),
    _row(
        *_T,
        "grr",
        "randomised response, 4 values",
        _toolbox("grr", "GeneralizedRandomizedResponse"),
    ),
    _row(*_T, "sue", "symmetric unary encoding", _toolbox("ue", "UnaryEncoding", optimal=False)),
    _row(*_T, "oue", "optimised unary encoding", _toolbox("ue", "UnaryEncoding", optimal=True)),
    _row(*_T, "ss", "subset selection", _toolbox("ss", "SubsetSelection")),
)
