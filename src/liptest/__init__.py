"""liptest tests a privacy claim before the code touches the data.

``import liptest as lt`` loads nothing but this file; each name is imported on first use, so
that the command line answers quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from liptest import adapters as adapters
    from liptest.blackbox.check import check_samples as check_samples
    from liptest.blackbox.check import epsilon_lower_bound as epsilon_lower_bound
    from liptest.blackbox.samplers import Sampler as Sampler
    from liptest.blackbox.verdicts import BlackBoxVerdict as BlackBoxVerdict
    from liptest.blackbox.verdicts import LossBound as LossBound
    from liptest.data.dependence import Dependence as Dependence
    from liptest.data.dependence import column_dependence as column_dependence
    from liptest.data.distributions import ProductDistribution as ProductDistribution
    from liptest.data.domains import AnswerGrid as AnswerGrid
    from liptest.data.domains import Hypercube as Hypercube
    from liptest.data.domains import Hypergrid as Hypergrid
    from liptest.data.domains import RecordGrid as RecordGrid
    from liptest.data.edges import edge_distribution as edge_distribution
    from liptest.data.fitted import Fitted as Fitted
    from liptest.data.sampled import SampledDistribution as SampledDistribution
    from liptest.data.sources import SqlTable as SqlTable
    from liptest.errors import BudgetError as BudgetError
    from liptest.errors import CodeChangedError as CodeChangedError
    from liptest.errors import ConfigError as ConfigError
    from liptest.errors import ContinuousOutputs as ContinuousOutputs
    from liptest.errors import DatasetError as DatasetError
    from liptest.errors import FunctionError as FunctionError
    from liptest.errors import GateError as GateError
    from liptest.errors import InputError as InputError
    from liptest.errors import LawError as LawError
    from liptest.errors import LedgerError as LedgerError
    from liptest.errors import LiptestError as LiptestError
    from liptest.errors import MechanismError as MechanismError
    from liptest.errors import NonDeterministicError as NonDeterministicError
    from liptest.errors import SymbolicError as SymbolicError
    from liptest.errors import UnsupportedForm as UnsupportedForm
    from liptest.errors import UnsupportedRandomnessError as UnsupportedRandomnessError
    from liptest.evidence.certificate import Certificate as Certificate
    from liptest.evidence.certificate import SampleCertificate as SampleCertificate
    from liptest.evidence.certificate import certify_samples as certify_samples
    from liptest.evidence.ledger import Ledger as Ledger
    from liptest.evidence.verify import examine_samples as examine_samples
    from liptest.evidence.verify import verify as verify
    from liptest.gate.gate import PrivacyGate as PrivacyGate
    from liptest.gate.gate import Refused as Refused
    from liptest.gate.gate import Released as Released
    from liptest.gate.routes import FilterGate as FilterGate
    from liptest.gate.routes import SensitivityGate as SensitivityGate
    from liptest.lipschitz.check import check_lipschitz as check_lipschitz
    from liptest.lipschitz.covers import Cover as Cover
    from liptest.lipschitz.covers import minimum_cover as minimum_cover
    from liptest.lipschitz.covers import minimum_cover_of_pairs as minimum_cover_of_pairs
    from liptest.lipschitz.distance import Distance as Distance
    from liptest.lipschitz.distance import distance_to_lipschitz as distance_to_lipschitz
    from liptest.lipschitz.distance import image_diameter as image_diameter
    from liptest.lipschitz.distance import sample_diameter as sample_diameter
    from liptest.lipschitz.local_filter import LocalFilter as LocalFilter
    from liptest.lipschitz.oracles import packed as packed
    from liptest.lipschitz.oracles import scalar as scalar
    from liptest.lipschitz.plans import plan_table as plan_table
    from liptest.lipschitz.repair import mcshane as mcshane
    from liptest.lipschitz.repair import repair as repair
    from liptest.lipschitz.testers.ajmr12 import AJMR12 as AJMR12
    from liptest.lipschitz.testers.cdjs15 import CDJS15 as CDJS15
    from liptest.lipschitz.testers.cs12 import CS12 as CS12
    from liptest.lipschitz.testers.djt12 import DJT12 as DJT12
    from liptest.lipschitz.testers.hamming_lines import HammingLines as HammingLines
    from liptest.lipschitz.testers.jr11 import JR11 as JR11
    from liptest.lipschitz.testers.variance_edges import VarianceEdges as VarianceEdges
    from liptest.mechanisms import catalogue as catalogue
    from liptest.mechanisms.additive import DiscreteGaussian as DiscreteGaussian
    from liptest.mechanisms.additive import DiscreteLaplace as DiscreteLaplace
    from liptest.mechanisms.base import Mechanism as Mechanism
    from liptest.mechanisms.base import output_law as output_law
    from liptest.mechanisms.declared import ClosedForm as ClosedForm
    from liptest.mechanisms.declared import ExactForm as ExactForm
    from liptest.mechanisms.declared import StatisticMechanism as StatisticMechanism
    from liptest.mechanisms.laws import OutputLaw as OutputLaw
    from liptest.mechanisms.laws import Raised as Raised
    from liptest.mechanisms.shift import ShiftMechanism as ShiftMechanism
    from liptest.privacy.check import check_privacy as check_privacy
    from liptest.privacy.claims import log as log
    from liptest.privacy.exception_mass import exception_mass as exception_mass
    from liptest.privacy.noiseless import NoiselessPrivacy as NoiselessPrivacy
    from liptest.privacy.noiseless import noiseless_privacy as noiseless_privacy
    from liptest.privacy.plans import privacy_plan_table as privacy_plan_table
    from liptest.privacy.profile import privacy_profile as privacy_profile
    from liptest.privacy.proof import exact_epsilon as exact_epsilon
    from liptest.privacy.proof import exact_loss as exact_loss
    from liptest.privacy.verdicts import PrivacyVerdict as PrivacyVerdict
    from liptest.privacy.witnesses import PrivacyWitness as PrivacyWitness
    from liptest.statistics.order_statistics import OrderStatistic as OrderStatistic
    from liptest.statistics.sums import ContingencyTables as ContingencyTables
    from liptest.statistics.sums import Contributions as Contributions
    from liptest.statistics.sums import Count as Count
    from liptest.statistics.sums import CountingQueries as CountingQueries
    from liptest.statistics.sums import Histogram as Histogram
    from liptest.statistics.sums import WeightedSum as WeightedSum
    from liptest.statistics.user_statistic import UserStatistic as UserStatistic
    from liptest.verdicts import Cost as Cost
    from liptest.verdicts import Decision as Decision
    from liptest.verdicts import Guarantee as Guarantee
    from liptest.verdicts import LipschitzVerdict as LipschitzVerdict
    from liptest.verdicts import Witness as Witness
    from liptest.whitebox.decorator import mechanism as mechanism

__version__ = "0.1.0"

#: Public names that are modules.
_NAMESPACES = frozenset({"adapters", "catalogue"})
_HOME = {
    "adapters": "adapters",
    **dict.fromkeys(("check_samples", "epsilon_lower_bound"), "blackbox.check"),
    "Sampler": "blackbox.samplers",
    **dict.fromkeys(("BlackBoxVerdict", "LossBound"), "blackbox.verdicts"),
    **dict.fromkeys(("Dependence", "column_dependence"), "data.dependence"),
    "ProductDistribution": "data.distributions",
    **dict.fromkeys(("AnswerGrid", "Hypercube", "Hypergrid", "RecordGrid"), "data.domains"),
    "edge_distribution": "data.edges",
    "Fitted": "data.fitted",
    "SampledDistribution": "data.sampled",
    "SqlTable": "data.sources",
    **dict.fromkeys(
        (
            "BudgetError",
            "CodeChangedError",
            "ConfigError",
            "ContinuousOutputs",
            "DatasetError",
            "FunctionError",
            "GateError",
            "InputError",
            "LawError",
            "LedgerError",
            "LiptestError",
            "MechanismError",
            "NonDeterministicError",
            "SymbolicError",
            "UnsupportedForm",
            "UnsupportedRandomnessError",
        ),
        "errors",
    ),
    **dict.fromkeys(
        ("Certificate", "SampleCertificate", "certify_samples"), "evidence.certificate"
    ),
    "Ledger": "evidence.ledger",
    **dict.fromkeys(("examine_samples", "verify"), "evidence.verify"),
    **dict.fromkeys(("PrivacyGate", "Refused", "Released"), "gate.gate"),
    **dict.fromkeys(("FilterGate", "SensitivityGate"), "gate.routes"),
    "check_lipschitz": "lipschitz.check",
    **dict.fromkeys(("Cover", "minimum_cover", "minimum_cover_of_pairs"), "lipschitz.covers"),
    **dict.fromkeys(
        ("Distance", "distance_to_lipschitz", "image_diameter", "sample_diameter"),
        "lipschitz.distance",
    ),
    "LocalFilter": "lipschitz.local_filter",
    **dict.fromkeys(("packed", "scalar"), "lipschitz.oracles"),
    "plan_table": "lipschitz.plans",
    **dict.fromkeys(("mcshane", "repair"), "lipschitz.repair"),
    "AJMR12": "lipschitz.testers.ajmr12",
    "CDJS15": "lipschitz.testers.cdjs15",
    "CS12": "lipschitz.testers.cs12",
    "DJT12": "lipschitz.testers.djt12",
    "HammingLines": "lipschitz.testers.hamming_lines",
    "JR11": "lipschitz.testers.jr11",
    "VarianceEdges": "lipschitz.testers.variance_edges",
    **dict.fromkeys(("DiscreteGaussian", "DiscreteLaplace"), "mechanisms.additive"),
    **dict.fromkeys(("Mechanism", "output_law"), "mechanisms.base"),
    "catalogue": "mechanisms.catalogue",
    **dict.fromkeys(("ClosedForm", "ExactForm", "StatisticMechanism"), "mechanisms.declared"),
    **dict.fromkeys(("OutputLaw", "Raised"), "mechanisms.laws"),
    "ShiftMechanism": "mechanisms.shift",
    "check_privacy": "privacy.check",
    "log": "privacy.claims",
    "exception_mass": "privacy.exception_mass",
    **dict.fromkeys(("NoiselessPrivacy", "noiseless_privacy"), "privacy.noiseless"),
    "privacy_plan_table": "privacy.plans",
    "privacy_profile": "privacy.profile",
    **dict.fromkeys(("exact_epsilon", "exact_loss"), "privacy.proof"),
    "PrivacyVerdict": "privacy.verdicts",
    "PrivacyWitness": "privacy.witnesses",
    "ContingencyTables": "statistics.sums",
    "Contributions": "statistics.sums",
    "CountingQueries": "statistics.sums",
    "Histogram": "statistics.sums",
    "OrderStatistic": "statistics.order_statistics",
    "Count": "statistics.sums",
    "UserStatistic": "statistics.user_statistic",
    "WeightedSum": "statistics.sums",
    **dict.fromkeys(("Cost", "Decision", "Guarantee", "LipschitzVerdict", "Witness"), "verdicts"),
    "mechanism": "whitebox.decorator",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'liptest' has no attribute {name!r}")
    module = import_module(f"liptest.{home}")
    value = module if name in _NAMESPACES else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
