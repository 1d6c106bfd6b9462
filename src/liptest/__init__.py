"""liptest tests a privacy claim before the code touches the data.

``import liptest as lt`` loads nothing but this file; each name is imported on first use, so
that the command line answers quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from liptest import adapters as adapters
    from liptest.answers import AnswerGrid as AnswerGrid
    from liptest.blackbox.check import check_samples as check_samples
    from liptest.blackbox.check import epsilon_lower_bound as epsilon_lower_bound
    from liptest.blackbox.samplers import Sampler as Sampler
    from liptest.blackbox.verdicts import BlackBoxVerdict as BlackBoxVerdict
    from liptest.blackbox.verdicts import LossBound as LossBound
    from liptest.certificates.samples import SampleCertificate as SampleCertificate
    from liptest.certificates.samples import certify_samples as certify_samples
    from liptest.certificates.samples import examine_samples as examine_samples
    from liptest.certificates.verification import Certificate as Certificate
    from liptest.certificates.verification import verify as verify
    from liptest.data.dependence import column_dependence as column_dependence
    from liptest.data.dependence_result import Dependence as Dependence
    from liptest.data.fitted import Fitted as Fitted
    from liptest.data.sql import SqlTable as SqlTable
    from liptest.distributions import ProductDistribution as ProductDistribution
    from liptest.distributions import SampledDistribution as SampledDistribution
    from liptest.domains import Hypercube as Hypercube
    from liptest.domains import Hypergrid as Hypergrid
    from liptest.domains import RecordGrid as RecordGrid
    from liptest.edges import edge_distribution as edge_distribution
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
    from liptest.gate import PrivacyGate as PrivacyGate
    from liptest.gate import Refused as Refused
    from liptest.gate import Released as Released
    from liptest.ground_truth.covers import Cover as Cover
    from liptest.ground_truth.covers import minimum_cover as minimum_cover
    from liptest.ground_truth.covers import minimum_cover_of_pairs as minimum_cover_of_pairs
    from liptest.ground_truth.diameters import image_diameter as image_diameter
    from liptest.ground_truth.diameters import sample_diameter as sample_diameter
    from liptest.ground_truth.exact import Distance as Distance
    from liptest.ground_truth.exact import distance_to_lipschitz as distance_to_lipschitz
    from liptest.ground_truth.local_filter import LocalFilter as LocalFilter
    from liptest.ground_truth.repairs import mcshane as mcshane
    from liptest.ground_truth.repairs import repair as repair
    from liptest.ledger.book import Ledger as Ledger
    from liptest.lipschitz.check import check_lipschitz as check_lipschitz
    from liptest.mechanisms import catalogue as catalogue
    from liptest.mechanisms.base import Mechanism as Mechanism
    from liptest.mechanisms.base import output_law as output_law
    from liptest.mechanisms.closed_form import ClosedForm as ClosedForm
    from liptest.mechanisms.closed_form import StatisticMechanism as StatisticMechanism
    from liptest.mechanisms.exact_table import ExactForm as ExactForm
    from liptest.mechanisms.gaussian import DiscreteGaussian as DiscreteGaussian
    from liptest.mechanisms.laws import OutputLaw as OutputLaw
    from liptest.mechanisms.laws import Raised as Raised
    from liptest.mechanisms.noise import DiscreteLaplace as DiscreteLaplace
    from liptest.mechanisms.shift import ShiftMechanism as ShiftMechanism
    from liptest.oracles import packed as packed
    from liptest.oracles import scalar as scalar
    from liptest.plans import plan_table as plan_table
    from liptest.privacy.check import check_privacy as check_privacy
    from liptest.privacy.claims import log as log
    from liptest.privacy.listed_pairs import exact_loss as exact_loss
    from liptest.privacy.noiseless import noiseless_privacy as noiseless_privacy
    from liptest.privacy.noiseless_result import NoiselessPrivacy as NoiselessPrivacy
    from liptest.privacy.profile import exception_mass as exception_mass
    from liptest.privacy.profile import privacy_profile as privacy_profile
    from liptest.privacy.proof import exact_epsilon as exact_epsilon
    from liptest.privacy.verdicts import PrivacyVerdict as PrivacyVerdict
    from liptest.privacy.witnesses import PrivacyWitness as PrivacyWitness
    from liptest.privacy_plans import privacy_plan_table as privacy_plan_table
    from liptest.routes import FilterGate as FilterGate
    from liptest.routes import SensitivityGate as SensitivityGate
    from liptest.statistics.contingency import ContingencyTables as ContingencyTables
    from liptest.statistics.contributions import Contributions as Contributions
    from liptest.statistics.counting_queries import CountingQueries as CountingQueries
    from liptest.statistics.histogram import Histogram as Histogram
    from liptest.statistics.order_statistics import OrderStatistic as OrderStatistic
    from liptest.statistics.protocol import Count as Count
    from liptest.statistics.user_statistic import UserStatistic as UserStatistic
    from liptest.statistics.weighted_sum import WeightedSum as WeightedSum
    from liptest.testers import AJMR12 as AJMR12
    from liptest.testers import CDJS15 as CDJS15
    from liptest.testers import CS12 as CS12
    from liptest.testers import DJT12 as DJT12
    from liptest.testers import JR11 as JR11
    from liptest.testers import HammingLines as HammingLines
    from liptest.testers import VarianceEdges as VarianceEdges
    from liptest.verdicts import Cost as Cost
    from liptest.verdicts import Decision as Decision
    from liptest.verdicts import Guarantee as Guarantee
    from liptest.verdicts import LipschitzVerdict as LipschitzVerdict
    from liptest.verdicts import Witness as Witness
    from liptest.whitebox.decorator import mechanism as mechanism

__version__ = "0.1.0"

_HOME = {
    "adapters": "adapters",
    **dict.fromkeys(
        ("SampleCertificate", "certify_samples", "examine_samples"), "certificates.samples"
    ),
    "AnswerGrid": "answers",
    **dict.fromkeys(("check_samples", "epsilon_lower_bound"), "blackbox.check"),
    "Sampler": "blackbox.samplers",
    **dict.fromkeys(("BlackBoxVerdict", "LossBound"), "blackbox.verdicts"),
    "catalogue": "mechanisms.catalogue",
    **dict.fromkeys(("Certificate", "verify"), "certificates.verification"),
    **dict.fromkeys(("ProductDistribution", "SampledDistribution"), "distributions"),
    **dict.fromkeys(("Hypercube", "Hypergrid", "RecordGrid"), "domains"),
    "Dependence": "data.dependence_result",
    "Fitted": "data.fitted",
    "SqlTable": "data.sql",
    "column_dependence": "data.dependence",
    "edge_distribution": "edges",
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
    **dict.fromkeys(("PrivacyGate", "Refused", "Released"), "gate"),
    "Ledger": "ledger.book",
    "check_lipschitz": "lipschitz.check",
    **dict.fromkeys(("Mechanism", "output_law"), "mechanisms.base"),
    **dict.fromkeys(("ClosedForm", "StatisticMechanism"), "mechanisms.closed_form"),
    **dict.fromkeys(("OutputLaw", "Raised"), "mechanisms.laws"),
    "DiscreteGaussian": "mechanisms.gaussian",
    "DiscreteLaplace": "mechanisms.noise",
    "ShiftMechanism": "mechanisms.shift",
    "ContingencyTables": "statistics.contingency",
    "Contributions": "statistics.contributions",
    "CountingQueries": "statistics.counting_queries",
    "Count": "statistics.protocol",
    "ExactForm": "mechanisms.exact_table",
    "Histogram": "statistics.histogram",
    "OrderStatistic": "statistics.order_statistics",
    "UserStatistic": "statistics.user_statistic",
    "WeightedSum": "statistics.weighted_sum",
    "packed": "oracles",
    "scalar": "oracles",
    **dict.fromkeys(("FilterGate", "SensitivityGate"), "routes"),
    **dict.fromkeys(("Cover", "minimum_cover", "minimum_cover_of_pairs"), "ground_truth.covers"),
    **dict.fromkeys(("distance_to_lipschitz", "Distance"), "ground_truth.exact"),
    **dict.fromkeys(("mcshane", "repair"), "ground_truth.repairs"),
    "LocalFilter": "ground_truth.local_filter",
    **dict.fromkeys(("image_diameter", "sample_diameter"), "ground_truth.diameters"),
    "check_privacy": "privacy.check",
    "plan_table": "plans",
    "privacy_plan_table": "privacy_plans",
    "log": "privacy.claims",
    "exact_epsilon": "privacy.proof",
    "exact_loss": "privacy.listed_pairs",
    "NoiselessPrivacy": "privacy.noiseless_result",
    "noiseless_privacy": "privacy.noiseless",
    **dict.fromkeys(("exception_mass", "privacy_profile"), "privacy.profile"),
    "PrivacyVerdict": "privacy.verdicts",
    "PrivacyWitness": "privacy.witnesses",
    **dict.fromkeys(
        ("AJMR12", "CDJS15", "CS12", "DJT12", "HammingLines", "JR11", "VarianceEdges"), "testers"
    ),
    **dict.fromkeys(("Cost", "Decision", "Guarantee", "LipschitzVerdict", "Witness"), "verdicts"),
    "mechanism": "whitebox.decorator",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'liptest' has no attribute {name!r}")
    module = import_module(f"liptest.{home}")
    value = module if f".{home}".endswith(f".{name}") else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
