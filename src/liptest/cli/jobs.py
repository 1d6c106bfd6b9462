"""The request of a command, from arguments or a liptest.toml, ready to run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any

from liptest.cli.claim_options import NOTIONS, from_arguments, to_arguments
from liptest.cli.config import CheckModel, config_beside, read_config, validate
from liptest.cli.data_options import NOTHING, DataOptions, DistributionOptions, DomainOptions
from liptest.cli.loading import check_names_object, load_mechanism, mute_output
from liptest.cli.own_domain import own_domain, says_no_data, with_own_domain, words_for_options
from liptest.data.distributions import Distribution
from liptest.data.domains import Domain
from liptest.errors import InputError, check_count
from liptest.mechanisms.base import Mechanism
from liptest.privacy.settings import CheckSettings

#: Processes of one check; more than machines have cores.
_MOST_WORKERS = 1024


class CodePlace(Enum):
    """Where the code under test runs: here, in a jail, or there for its laws alone."""

    HERE = auto()
    CONFINED = auto()
    SEALED = auto()


@dataclass(frozen=True)
class CommandJob:
    """What one command was asked: checks, the folder that their paths start from, and how."""

    models: list[CheckModel]
    folder: Path
    workers: int
    ledger: Path | None
    is_from_file: bool = False
    place: CodePlace = CodePlace.HERE

    @property
    def hidden(self) -> tuple[Path, ...]:
        """Files that code in a jail must not see."""
        return () if self.ledger is None else (self.ledger,)


@dataclass(frozen=True)
class Job:
    """One check, ready to run; ``words`` where its data are what its object says."""

    model: CheckModel
    where: str
    mechanism: Mechanism
    label: str
    distribution: Distribution
    words: str = ""


def read_task(options: dict[str, Any]) -> CommandJob:
    """The requested checks, from arguments or from a file."""
    workers, ledger = check_count("workers", options["workers"]), options["ledger"]
    if workers > _MOST_WORKERS:
        raise InputError(
            f"workers={workers} is more than {_MOST_WORKERS:,} processes; give the number of cores",
            name="workers",
        )
    if options["mechanism"] is not None:
        if options["config"] is not None:
            raise InputError(
                "config: give a mechanism or a file of checks, not both",
                name="config",
            )
        check_names_object(options["mechanism"])
        if all(options.get(key) is None for key in ("epsilon", *NOTIONS)):
            raise InputError("epsilon: the claim is missing; give --epsilon 1", name="epsilon")
        model = validate(CheckModel, _from_arguments(options), "arguments")
        return CommandJob([model], Path(), workers, ledger)
    path = options["config"] or config_beside(Path())
    if path is None:
        raise InputError(
            "mechanism: none given, and there is no liptest.toml here, nor [tool.liptest] in "
            "a pyproject.toml; name your function, file.py:name, or write that file with liptest "
            "init file.py:name"
        )
    whole = read_config(path)
    defaults = {
        "domain": whole.domain,
        "distribution": whole.distribution,
        "vendor": options["vendor"],
    }
    models = [
        check.model_copy(update={k: v for k, v in defaults.items() if getattr(check, k) is None})
        for check in whole.check
    ]
    if ledger is None and whole.ledger is not None:
        ledger = path.parent / whole.ledger
    return CommandJob(models, path.parent, workers, ledger, is_from_file=True)


_RUNNING = ("budget", "search_laws", "floats", "seed")
#: What a claim and its test are without a word on the command line.
_UNSAID: dict[str, Any] = {
    "epsilon": None,
    "delta": 0.0,
    "exception_mass": 1e-3,
    "failure_probability": 1e-6,
    "method": "auto",
    "statistic": None,
    "budget": None,
    "search_laws": None,
    "floats": "both",
    "seed": None,
    "data": asdict(NOTHING),
}


def check_file_says_it_all(options: dict[str, Any]) -> None:
    """Raise InputError for a claim on the command line that the checks of a file do not take."""
    said = [key for key, unsaid in _UNSAID.items() if options.get(key, unsaid) != unsaid]
    if said:
        option = (
            "domain and distribution" if said[0] == "data" else f"--{said[0].replace('_', '-')}"
        )
        raise InputError(
            f"{option}: each check of a file says that itself; write it there, or name the "
            f"mechanism on the command line",
            name=said[0],
        )


def _from_arguments(options: dict[str, Any]) -> dict[str, Any]:
    plain = ("mechanism", "epsilon", "delta", "exception_mass", "failure_probability", "method")
    data = {key: options[key] for key in (*plain, *_RUNNING, "vendor")}
    data |= {key: options.get(key) for key in ("max_seconds", "statistic")}
    return {**data, **from_arguments(options), **options["data"]}


def load_job(
    model: CheckModel, folder: Path, *, alone: bool = False, law: Distribution | None = None
) -> Job:
    """Load the mechanism and build the distribution of one check, unless it is there already.

    ``alone``: a domain is enough, as it is for a proof and for a refutation. Where nothing is said
    of the data, an object of another library says what they are.
    """
    where, words = where_is(model, folder), ""

    def find_given_domain() -> Domain:
        return (make_distribution(model, folder, alone=alone) if law is None else law).domain

    with mute_output():
        mechanism, label = load_mechanism(where, model.statistic, model.library, find_given_domain)
    if law is None and alone and says_no_data(model, where):
        model, words = with_own_domain(model, own_domain(mechanism))
    distribution = make_distribution(model, folder, alone=alone) if law is None else law
    _check_domain_of_library(mechanism, label, distribution.domain)
    return Job(model, where, mechanism, label, distribution, words)


def _check_domain_of_library(mechanism: Mechanism, label: str, domain: Domain) -> None:
    """InputError where an object of another library is about another number of coordinates."""
    library_domain = own_domain(mechanism)
    if library_domain is None or library_domain.dimension == domain.dimension:
        return
    raise InputError(
        f"{label} takes datasets of {library_domain}, as its library says, and {domain} was given; "
        f"leave "
        f"that out, or give {words_for_options(library_domain)}",
        name="domain",
        value=domain,
    )


def where_is(model: CheckModel, folder: Path) -> str:
    """The mechanism of a check, seen from here; InputError where its file is not."""
    where = str(folder / model.mechanism) if ".py:" in model.mechanism else model.mechanism
    check_names_object(where)
    return where


def make_distribution(model: CheckModel, folder: Path, *, alone: bool = False) -> Distribution:
    """The distribution of one check, which needs none of the code."""
    space, law = model.domain or DomainOptions(), model.distribution or DistributionOptions()
    return DataOptions(space, law).build(folder, alone=alone)


def make_settings(model: CheckModel) -> CheckSettings:
    """The settings of one check, without workers and progress; raises InputError."""
    claim = ("epsilon", "delta", "exception_mass", "failure_probability", "tolerance")
    options: dict[str, Any] = {
        key: getattr(model, key) for key in (*claim, *_RUNNING, "max_seconds")
    }
    return CheckSettings(**options, **to_arguments(model), method=model.method)
