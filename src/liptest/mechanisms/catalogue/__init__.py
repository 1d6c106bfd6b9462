"""Mechanisms whose true privacy is known: right ones, and wrong ones with realistic faults.

Each function returns a mechanism; its docstring gives the neighbouring relation and the exact
epsilon of the mechanism, whatever number it was called with.
"""

from liptest.mechanisms.catalogue.counts import (
    clamped_geometric_count,
    data_dependent_clamp,
    one_sided_noise_count,
    subsampled_count,
    truncated_geometric_count,
)
from liptest.mechanisms.catalogue.leaks import leak, needle
from liptest.mechanisms.catalogue.responses import (
    exact_randomised_response,
    k_ary_randomised_response,
    randomised_response,
)
from liptest.mechanisms.catalogue.selection import exponential_mechanism, permute_and_flip

__all__ = [
    "clamped_geometric_count",
    "data_dependent_clamp",
    "exact_randomised_response",
    "exponential_mechanism",
    "k_ary_randomised_response",
    "leak",
    "needle",
    "one_sided_noise_count",
    "permute_and_flip",
    "randomised_response",
    "subsampled_count",
    "truncated_geometric_count",
]
