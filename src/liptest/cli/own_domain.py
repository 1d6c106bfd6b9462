"""The domain that an object of OpenDP or diffprivlib has of its own, where none is given."""

from __future__ import annotations

from liptest.cli.config import CheckModel
from liptest.cli.data_options import NOTHING, DataOptions, DistributionOptions, DomainOptions
from liptest.cli.usage_examples import is_function
from liptest.data.domains import AllAnswers, AnswerGrid, Domain, Hypercube, Hypergrid, RecordGrid
from liptest.mechanisms.base import Mechanism


def own_domain(mechanism: Mechanism) -> Domain | None:
    """The domain of an object of another library, which its adapter has read from it."""
    own = vars(mechanism).get("domain")
    return own if isinstance(own, Domain) else None


def says_no_data(model: CheckModel, where: str) -> bool:
    """Whether a check says nothing of the data, and its mechanism may say that itself."""
    said = DataOptions(model.domain or DomainOptions(), model.distribution or DistributionOptions())
    return said == NOTHING and model.statistic is None and not is_function(where)


def find_options(domain: Domain) -> DomainOptions | None:
    """The same as a file of settings says it; None where it has no words for it."""
    sizes = [int(size) for size in domain.sizes]
    if isinstance(domain, Hypercube):
        return DomainOptions(dimension=domain.dimension)
    if isinstance(domain, RecordGrid) and len(set(sizes)) == 1:
        return DomainOptions(dimension=domain.dimension, values=sizes[0])
    if isinstance(domain, AnswerGrid):
        are_all = isinstance(domain, AllAnswers)
        return DomainOptions("answergrid", "all" if are_all else "one", sizes=sizes)
    if isinstance(domain, Hypergrid):
        return DomainOptions("hypergrid", sizes=sizes)
    return DomainOptions("recordgrid", sizes=sizes) if isinstance(domain, RecordGrid) else None


def words_for_options(domain: Domain) -> str:
    """A domain as the command line says it."""
    said = find_options(domain)
    if said is None:
        return str(domain)
    words = [] if said.kind is None else [f"--domain {said.kind}"]
    words += [] if said.relation is None else [f"--relation {said.relation}"]
    words += [] if said.dimension is None else [f"--records {said.dimension}"]
    words += [] if said.values is None else [f"--values {said.values}"]
    words += [] if said.sizes is None else [f"--sizes {','.join(map(str, said.sizes))}"]
    return " ".join(words)


def with_own_domain(model: CheckModel, own: Domain | None) -> tuple[CheckModel, str]:
    """A check that says nothing of the data, with the domain of its object; a word on that."""
    said = None if own is None else find_options(own)
    if own is None or said is None:
        return model, ""
    words = f"(The data are what the object itself says, the same as {words_for_options(own)}.)"
    return model.model_copy(update={"domain": said}), words
