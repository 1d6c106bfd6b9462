"""What a comparison of columns with a product law says, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Pair:
    """Two columns: how far their joint law is from the product law's.

    ``total_variation`` is that of the rows, an estimate; ``proved`` a lower bound on that of the
    true law; ``cramers_v`` 0 for independent columns and 1 for columns that tell each other.
    ``sentence`` shows the combination of values that is most above it.
    """

    first: str
    second: str
    total_variation: float
    proved: float
    cramers_v: float
    sentence: str


@dataclass(frozen=True)
class Dependence:
    """What a table says against a product law, in numbers and in words.

    Parameters
    ----------
    pairs
        All pairs of columns, the most dependent first.
    tau_lower, tau_upper
        Proved bounds on the total variation of the true law and the product law; the upper one is
        None where the table is too small for the number of its possible rows. About columns whose
        values were read off the table nothing is proved, except bits: name them in categories.
    kappa_estimate, kappa_lower
        The largest ratio of both laws on a combination of two values: as in the rows, and a
        proved lower bound. No table gives an upper bound.
    failure_probability
        Off an event of this probability all proved numbers hold together, if the rows are
        independent draws from the true law.
    """

    rows: int
    columns: tuple[str, ...]
    pairs: tuple[Pair, ...]
    tau_lower: float
    tau_upper: float | None
    kappa_estimate: float
    kappa_lower: float
    failure_probability: float

    @property
    def sentence(self) -> str:
        """What it means for a verdict that assumes the product law."""
        return f"{_lower_words(self)} {_upper_words(self)} {_KAPPA.format(self)}"

    def __str__(self) -> str:
        shown = [f"  {pair.sentence}" for pair in self.pairs[:5]]
        head = f"{len(self.columns)} columns, {self.rows:,} rows, most dependent pairs:"
        return "\n".join([head, *shown, self.sentence])

    def matrix(self) -> NDArray[np.float64]:
        """(d, d) total variation of each pair, 0 on the diagonal."""
        place = {name: i for i, name in enumerate(self.columns)}
        found = np.zeros((len(place), len(place)))
        for pair in self.pairs:
            i, j = place[pair.first], place[pair.second]
            found[i, j] = found[j, i] = pair.total_variation
        return found


_KAPPA = (
    "The ratio kappa of the two laws is about {0.kappa_estimate:.3g} on one combination of two "
    "values (an estimate; proved: at least {0.kappa_lower:.3g}); a table gives no upper bound."
)


def _lower_words(found: Dependence) -> str:
    if found.tau_lower > 0:
        return (
            f"The product law is not the true one: they are at least {found.tau_lower:.3g} apart "
            f"in total variation ({_sure(found)})."
        )
    return (
        "No pair of columns differs from the product law by more than that many independent rows "
        "may show by chance; a dependence of three columns or more would not be seen in pairs."
    )


def _upper_words(found: Dependence) -> str:
    if found.tau_upper is not None:
        return (
            f"An exception mass of beta under the product law is at most beta + "
            f"{found.tau_upper:.3g} under the true law ({_sure(found)}; theory 3.17)."
        )
    advice = (
        "; better draw from SampledDistribution.bootstrap, .mixture or .markov_chain"
        if found.tau_lower > 0
        else ""
    )
    return (
        f"An exception mass of beta under the product law may be one of beta + tau under the true "
        f"law, and this table bounds tau by nothing below 1 (theory 3.17){advice}."
    )


def _sure(found: Dependence) -> str:
    return (
        f"proved off an event of probability {found.failure_probability:g}, if the rows are "
        f"independent draws"
    )
