"""Mechanisms of installed libraries as functions of one dataset. Libraries are used as they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

import liptest as lt
from liptest.data.domains import Domain

#: (mechanism, domain)
Program = tuple[Any, Domain]


def _of_one_value(privatise: Callable[[int], Any], values: int = 4) -> Program:
    made = lt.mechanism(lambda data: privatise(int(data[0])), deterministic=["xxhash"])
    return made, lt.RecordGrid([values])


def unary_encoding(*, optimised: bool) -> Program:
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    client = UEClient(1.0, 4, use_oue=optimised)
    return _of_one_value(lambda value: client.privatise(value + 1))


def direct_encoding() -> Program:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(1.0, 4)
    return _of_one_value(lambda value: client.privatise(value + 1))


def local_hashing() -> Program:
    """Its seed is one of 2**63 and part of the output: one of them, which is all that matters."""
    from pure_ldp.frequency_oracles.local_hashing import LHClient

    client = LHClient(1.0, 4, use_olh=True)
    return _of_one_value(lambda value: client._perturb(value + 1, 7))


def fast_local_hashing() -> Program:
    from pure_ldp.frequency_oracles.local_hashing import FastLHClient

    client = FastLHClient(1.0, 4, k=6, use_olh=True)
    return _of_one_value(lambda value: client.privatise(value + 1))


def hadamard_response() -> Program:
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient

    client = HadamardResponseClient(1.0, 4, None)
    return _of_one_value(lambda value: client.privatise(value + 1))


def subset_selection() -> Program:
    from ldp_toolbox.protocols.frequency.ss import SubsetSelection

    return _of_one_value(SubsetSelection(6, 1.0).obfuscate, 6)


def generalised_response() -> Program:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    return _of_one_value(lambda value: GRR_Client(value, 4, 1.0))


def binary() -> Program:
    from diffprivlib.mechanisms import Binary

    mechanism = Binary(epsilon=1.0, value0="0", value1="1")
    return lt.mechanism(lambda data: mechanism.randomise(str(data[0]))), lt.Hypercube(1)


def histogram(records: list[int], epsilon: float) -> Any:
    """Noisy counts of the records 0 and the records 1."""
    from diffprivlib.tools import histogram as noisy

    return noisy(records, epsilon=epsilon, bins=2, range=(0, 1))[0]


def quantile(records: int) -> Any:
    """Whether the median of that many bits is given, rather than an exception, by their sum."""
    from snsql.sql._mechanisms.approx_bounds import quantile as noisy

    def answered(ones: int) -> bool:
        return bool(noisy([1] * ones + [0] * (records - ones), 0.5, 1, 0, 1) >= 0)

    return lt.mechanism(answered, statistic=lt.Count())


def truncated_geometric(epsilon: float, most: int = 5) -> Program:
    """The exact law of dp-sniper's sampler: whole numbers over a common denominator."""
    k = math.ceil(math.log(2 / epsilon))
    low, high = 2**k, 2**k + 1
    total = (2 ** (k + 1) + 1) * high ** (most - 1)

    def below_or_at(count: int, output: int) -> int:
        if output == most:
            return total
        if output < count:
            return low ** (count - output) * high ** (most - count + output)
        return total - int(low ** (output - count + 1) * high ** (most - 1 - output + count))

    def log_pmf(counts: Any) -> Any:
        cumulative = [[0, *(below_or_at(int(c), z) for z in range(most + 1))] for c in counts[:, 0]]
        return [[_log(Fraction(b - a, total)) for a, b in pairwise(r)] for r in cumulative]

    return lt.ClosedForm(range(most + 1), log_pmf), lt.Hypergrid([most + 1])


def _log(value: Fraction) -> float:
    return math.log(value) if value else -np.inf


PROGRAMS: dict[str, Callable[[], Program]] = {
    **{
        f"pure-ldp-{version}-{name}": lambda o=optimised: unary_encoding(optimised=o)
        for version in ("1.1.2", "1.2.0")
        for name, optimised in (("sue", False), ("oue", True))
    },
    "pure-ldp-de": direct_encoding,
    "pure-ldp-olh": local_hashing,
    "pure-ldp-flh": fast_local_hashing,
    "pure-ldp-hr": hadamard_response,
    "ldp-toolbox-ss": subset_selection,
    "multi-freq-ldpy-grr": generalised_response,
    "diffprivlib-binary": binary,
    "dp-sniper-geometric-0.1": lambda: truncated_geometric(0.1),
    "dp-sniper-geometric-1.0": lambda: truncated_geometric(1.0),
}
