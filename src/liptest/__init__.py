"""liptest tests a privacy claim before the code touches the data.

``import liptest as lt`` loads nothing but this file; each name is imported on first use, so
that the command line answers quickly.
"""

from __future__ import annotations

import warnings as _warnings
from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from liptest import adapters as adapters
    from liptest import errors as errors
    from liptest import statistics as statistics
    from liptest.blackbox.check import check_samples as check_samples
    from liptest.blackbox.samplers import Sampler as Sampler
    from liptest.data.answers import Answers as Answers
    from liptest.data.domains import AnswerGrid as AnswerGrid
    from liptest.data.domains import Hypercube as Hypercube
    from liptest.data.domains import Hypergrid as Hypergrid
    from liptest.data.domains import RecordGrid as RecordGrid
    from liptest.data.product import ProductDistribution as ProductDistribution
    from liptest.data.real_tables import Real as Real
    from liptest.data.sampled import SampledDistribution as SampledDistribution
    from liptest.data.tables import Bit as Bit
    from liptest.data.tables import Category as Category
    from liptest.data.tables import Integer as Integer
    from liptest.data.tables import Key as Key
    from liptest.data.tables import Table as Table
    from liptest.enumerate.decorator import mechanism as mechanism
    from liptest.enumerate.numbers.whole_numbers import output_law as output_law
    from liptest.evidence.certificate import Certificate as Certificate
    from liptest.evidence.ledger import Ledger as Ledger
    from liptest.evidence.verify import verify as verify
    from liptest.gate.gate import PrivacyGate as PrivacyGate
    from liptest.lipschitz import testers as testers
    from liptest.lipschitz.check import check_lipschitz as check_lipschitz
    from liptest.lipschitz.distance import distance_to_lipschitz as distance_to_lipschitz
    from liptest.lipschitz.oracles import scalar as scalar
    from liptest.lipschitz.repair import repair as repair
    from liptest.mechanisms import catalogue as catalogue
    from liptest.mechanisms.additive import DiscreteGaussian as DiscreteGaussian
    from liptest.mechanisms.additive import DiscreteLaplace as DiscreteLaplace
    from liptest.mechanisms.base import Mechanism as Mechanism
    from liptest.mechanisms.declared import ClosedForm as ClosedForm
    from liptest.mechanisms.declared import StatisticMechanism as StatisticMechanism
    from liptest.mechanisms.samplers import sampler as sampler
    from liptest.mechanisms.shift import ShiftMechanism as ShiftMechanism
    from liptest.privacy.check import check_privacy as check_privacy
    from liptest.privacy.claims import log as log
    from liptest.privacy.composition import compose as compose
    from liptest.privacy.exact import exact_epsilon as exact_epsilon
    from liptest.privacy.exact import exact_loss as exact_loss
    from liptest.privacy.exact_notions import exact_mu as exact_mu
    from liptest.privacy.exact_notions import exact_rho as exact_rho
    from liptest.privacy.exception_mass import exception_mass as exception_mass
    from liptest.privacy.profile import privacy_profile as privacy_profile
    from liptest.privacy.verdicts import PrivacyVerdict as PrivacyVerdict
    from liptest.statistics.sums import Count as Count
    from liptest.statistics.sums import Histogram as Histogram
    from liptest.testing import strategies as strategies

__version__ = "0.1.0"

#: Public names that are modules.
_NAMESPACES = {
    "testers": "lipschitz.testers",
    "errors": "errors",
    "statistics": "statistics",
    "catalogue": "mechanisms.catalogue",
    "adapters": "adapters",
    "strategies": "testing.strategies",
}
#: Where each public name is defined.
_HOME = {
    "check_samples": "blackbox.check",
    "Sampler": "blackbox.samplers",
    "Answers": "data.answers",
    **dict.fromkeys(("AnswerGrid", "Hypercube", "Hypergrid", "RecordGrid"), "data.domains"),
    "ProductDistribution": "data.product",
    "SampledDistribution": "data.sampled",
    "Real": "data.real_tables",
    **dict.fromkeys(("Bit", "Category", "Integer", "Key", "Table"), "data.tables"),
    "mechanism": "enumerate.decorator",
    "output_law": "enumerate.numbers.whole_numbers",
    "Certificate": "evidence.certificate",
    "Ledger": "evidence.ledger",
    "verify": "evidence.verify",
    "PrivacyGate": "gate.gate",
    "check_lipschitz": "lipschitz.check",
    "distance_to_lipschitz": "lipschitz.distance",
    "scalar": "lipschitz.oracles",
    "repair": "lipschitz.repair",
    **dict.fromkeys(("DiscreteGaussian", "DiscreteLaplace"), "mechanisms.additive"),
    "Mechanism": "mechanisms.base",
    **dict.fromkeys(("ClosedForm", "StatisticMechanism"), "mechanisms.declared"),
    "sampler": "mechanisms.samplers",
    "ShiftMechanism": "mechanisms.shift",
    "check_privacy": "privacy.check",
    "log": "privacy.claims",
    **dict.fromkeys(("exact_mu", "exact_rho"), "privacy.exact_notions"),
    "exception_mass": "privacy.exception_mass",
    "compose": "privacy.composition",
    "privacy_profile": "privacy.profile",
    **dict.fromkeys(("exact_epsilon", "exact_loss"), "privacy.exact"),
    "PrivacyVerdict": "privacy.verdicts",
    **dict.fromkeys(("Count", "Histogram"), "statistics.sums"),
}
#: Names of version 0.1 that moved, and where they are now; until version 0.3.
_MOVED = {
    "epsilon_lower_bound": "blackbox.check",
    "BlackBoxVerdict": "blackbox.verdicts",
    "LossBound": "blackbox.verdicts",
    "Dependence": "data.dependence",
    "column_dependence": "data.dependence",
    "edge_distribution": "data.edges",
    "Fitted": "data.fitted",
    "SqlTable": "data.sources",
    "BudgetError": "errors",
    "CodeChangedError": "errors",
    "ConfigError": "errors",
    "ContinuousOutputs": "errors",
    "DatasetError": "errors",
    "FunctionError": "errors",
    "GateError": "errors",
    "InputError": "errors",
    "LawError": "errors",
    "LedgerError": "errors",
    "LiptestError": "errors",
    "MechanismError": "errors",
    "NonDeterministicError": "errors",
    "SymbolicError": "errors",
    "UnsupportedForm": "errors",
    "UnsupportedRandomnessError": "errors",
    "SampleCertificate": "evidence.certificate",
    "certify_samples": "evidence.certificate",
    "examine_samples": "evidence.verify",
    **dict.fromkeys(("Refused", "Released"), "gate.gate"),
    **dict.fromkeys(("FilterGate", "SensitivityGate"), "gate.routes"),
    "Cover": "lipschitz.covers",
    "minimum_cover": "lipschitz.covers",
    "minimum_cover_of_pairs": "lipschitz.covers",
    "Distance": "lipschitz.distance",
    "image_diameter": "lipschitz.distance",
    "sample_diameter": "lipschitz.distance",
    "LocalFilter": "lipschitz.local_filter",
    "mcshane": "lipschitz.repair",
    "AJMR12": "lipschitz.testers.ajmr12",
    "CDJS15": "lipschitz.testers.cdjs15",
    "CS12": "lipschitz.testers.cs12",
    "DJT12": "lipschitz.testers.djt12",
    "HammingLines": "lipschitz.testers.hamming_lines",
    "JR11": "lipschitz.testers.jr11",
    "VarianceEdges": "lipschitz.testers.variance_edges",
    "ExactForm": "mechanisms.declared",
    "OutputLaw": "mechanisms.laws",
    "Raised": "mechanisms.laws",
    "NoiselessPrivacy": "privacy.noiseless",
    "noiseless_privacy": "privacy.noiseless",
    "privacy_plan_table": "privacy.plans",
    "PrivacyWitness": "privacy.witnesses",
    "OrderStatistic": "statistics.order_statistics",
    **dict.fromkeys(("ContingencyTables", "Contributions", "WeightedSum"), "statistics.sums"),
    "CountingQueries": "statistics.counting_queries",
    "UserStatistic": "statistics.user_statistic",
    "Cost": "verdicts",
    "Decision": "verdicts",
    "Guarantee": "verdicts",
    "Witness": "lipschitz.verdicts",
    "LipschitzVerdict": "lipschitz.verdicts",
    "packed": "lipschitz.oracles",
    "plan_table": "lipschitz.plans",
}

__all__ = sorted({*_HOME, *_NAMESPACES})


def __getattr__(name: str) -> object:
    if name in _NAMESPACES:
        value: object = _import_module(f"liptest.{_NAMESPACES[name]}")
    elif name in _HOME:
        value = getattr(_import_module(f"liptest.{_HOME[name]}"), name)
    elif name in _MOVED:
        return _find_moved(name)
    else:
        raise AttributeError(f"module 'liptest' has no attribute {name!r}{_near(name)}")
    globals()[name] = value
    return value


def _near(name: str) -> str:
    """Which public names may be meant; what else asks for attributes asks for __names__."""
    if name.startswith("_"):
        return ""
    from difflib import get_close_matches

    low = {one.lower(): one for one in __all__}
    alike = [*get_close_matches(name.lower(), low, 3), *(one for one in low if name.lower() in one)]
    meant = [low[one] for one in dict.fromkeys(alike)][:3]
    return f"; did you mean {' or '.join(meant)}?" if meant else ""


def _find_moved(name: str) -> object:
    home = _MOVED[name]
    namespace = next((space for space, place in _NAMESPACES.items() if _is_in(home, place)), None)
    new = f"lt.{namespace}.{name}" if namespace else f"from liptest.{home} import {name}"
    _warnings.warn(f"lt.{name} is deprecated, write {new}", DeprecationWarning, stacklevel=3)
    return getattr(_import_module(f"liptest.{home}"), name)


def _is_in(home: str, place: str) -> bool:
    return f"{home}.".startswith(f"{place}.")


def __dir__() -> list[str]:
    return __all__
