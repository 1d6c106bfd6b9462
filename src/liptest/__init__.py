"""liptest tests a privacy claim before the code touches the data.

``import liptest as lt`` loads nothing but this file; each name is imported on first use, so
that the command line answers quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from liptest.certificates import Certificate, verify
    from liptest.covers import Cover, minimum_cover, minimum_cover_of_pairs
    from liptest.diameters import image_diameter, sample_diameter
    from liptest.distributions import ProductDistribution, SampledDistribution
    from liptest.domains import Hypercube, Hypergrid, RecordGrid
    from liptest.edges import edge_distribution
    from liptest.errors import (
        BudgetError,
        CodeChangedError,
        ConfigError,
        DatasetError,
        FunctionError,
        GateError,
        InputError,
        LawError,
        LiptestError,
        MechanismError,
        NonDeterministicError,
        UnsupportedRandomnessError,
    )
    from liptest.exact import Distance, distance_to_lipschitz
    from liptest.gate import PrivacyGate, Refused, Released
    from liptest.lipschitz import check_lipschitz
    from liptest.local_filter import LocalFilter
    from liptest.mechanisms import catalogue
    from liptest.mechanisms.base import Mechanism, output_law
    from liptest.mechanisms.closed_form import ClosedForm, StatisticMechanism
    from liptest.mechanisms.exact_table import ExactForm
    from liptest.mechanisms.gaussian import DiscreteGaussian
    from liptest.mechanisms.histogram import Histogram
    from liptest.mechanisms.laws import OutputLaw, Raised
    from liptest.mechanisms.noise import DiscreteLaplace
    from liptest.mechanisms.shift import ShiftMechanism
    from liptest.mechanisms.statistics import Count
    from liptest.mechanisms.user_statistic import UserStatistic
    from liptest.mechanisms.weighted_sum import WeightedSum
    from liptest.oracles import scalar
    from liptest.privacy.check import check_privacy
    from liptest.privacy.claims import log
    from liptest.privacy.profile import exception_mass, privacy_profile
    from liptest.privacy.proof import exact_epsilon
    from liptest.privacy.verdicts import PrivacyVerdict, PrivacyWitness
    from liptest.repairs import mcshane, repair
    from liptest.routes import FilterGate, SensitivityGate
    from liptest.testers import (
        AJMR12,
        CDJS15,
        CS12,
        DJT12,
        JR11,
        HammingLines,
        VarianceEdges,
    )
    from liptest.verdicts import Cost, Decision, Guarantee, LipschitzVerdict, Witness
    from liptest.whitebox.function import mechanism

__version__ = "0.1.0"

_HOME = {
    "catalogue": "mechanisms.catalogue",
    **dict.fromkeys(("Certificate", "verify"), "certificates"),
    **dict.fromkeys(("ProductDistribution", "SampledDistribution"), "distributions"),
    **dict.fromkeys(("Hypercube", "Hypergrid", "RecordGrid"), "domains"),
    "edge_distribution": "edges",
    **dict.fromkeys(
        (
            "BudgetError",
            "CodeChangedError",
            "ConfigError",
            "DatasetError",
            "FunctionError",
            "GateError",
            "InputError",
            "LawError",
            "LiptestError",
            "MechanismError",
            "NonDeterministicError",
            "UnsupportedRandomnessError",
        ),
        "errors",
    ),
    **dict.fromkeys(("PrivacyGate", "Refused", "Released"), "gate"),
    "check_lipschitz": "lipschitz",
    **dict.fromkeys(("Mechanism", "output_law"), "mechanisms.base"),
    **dict.fromkeys(("ClosedForm", "StatisticMechanism"), "mechanisms.closed_form"),
    **dict.fromkeys(("OutputLaw", "Raised"), "mechanisms.laws"),
    "DiscreteGaussian": "mechanisms.gaussian",
    "DiscreteLaplace": "mechanisms.noise",
    "ShiftMechanism": "mechanisms.shift",
    "Count": "mechanisms.statistics",
    "ExactForm": "mechanisms.exact_table",
    "Histogram": "mechanisms.histogram",
    "UserStatistic": "mechanisms.user_statistic",
    "WeightedSum": "mechanisms.weighted_sum",
    "scalar": "oracles",
    **dict.fromkeys(("FilterGate", "SensitivityGate"), "routes"),
    **dict.fromkeys(("Cover", "minimum_cover", "minimum_cover_of_pairs"), "covers"),
    **dict.fromkeys(("distance_to_lipschitz", "Distance"), "exact"),
    **dict.fromkeys(("mcshane", "repair"), "repairs"),
    "LocalFilter": "local_filter",
    **dict.fromkeys(("image_diameter", "sample_diameter"), "diameters"),
    "check_privacy": "privacy.check",
    "log": "privacy.claims",
    "exact_epsilon": "privacy.proof",
    **dict.fromkeys(("exception_mass", "privacy_profile"), "privacy.profile"),
    **dict.fromkeys(("PrivacyVerdict", "PrivacyWitness"), "privacy.verdicts"),
    **dict.fromkeys(
        ("AJMR12", "CDJS15", "CS12", "DJT12", "HammingLines", "JR11", "VarianceEdges"), "testers"
    ),
    **dict.fromkeys(("Cost", "Decision", "Guarantee", "LipschitzVerdict", "Witness"), "verdicts"),
    "mechanism": "whitebox.function",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'liptest' has no attribute {name!r}")
    module = import_module(f"liptest.{home}")
    value = module if home.endswith(f".{name}") else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
