"""What is said about noiseless privacy (theory 3.15)."""

from __future__ import annotations

from dataclasses import dataclass

from liptest.privacy.wording import in_words
from liptest.verdicts import Record, rounded_up


@dataclass(frozen=True)
class NoiselessPrivacy(Record):
    """The (epsilon, delta) of a mechanism when only the data are random.

    For every record i and values a, b of positive mass, the law of the output given D_i = a and
    given D_i = b are within (epsilon, delta), D drawn from ``distribution``.

    Parameters
    ----------
    delta_lower, delta_upper
        Bounds of the least delta at ``epsilon``. They differ by rounding, declared errors, and,
        for ``method`` "sampled", by chance.
    record, values
        Where the divergence is largest, (a, b): output likelier given a.
    method
        "exact" (sum over records), "enumerated" (all datasets), "sampled".
    failure_probability
        None unless sampled: chance that a bound is wrong.
    """

    epsilon: float
    delta_lower: float
    delta_upper: float
    record: int
    values: tuple[int, int]
    method: str
    mechanism: str
    distribution: str
    records: int
    draws: int = 0
    failure_probability: float | None = None
    seed: int | None = None

    def __str__(self) -> str:
        total = rounded_up(self.delta_upper) if self.delta_upper > 0 else 0.0
        chance = ""
        if self.failure_probability is not None:
            chance = (
                f", or this run of {self.draws:,} datasets hit an event of probability <= "
                f"{in_words(self.failure_probability)}"
            )
        below = f" (at least {self.delta_lower:.4g})" if self.delta_lower > 0 else ""
        return (
            f"{self.mechanism}   noiseless privacy, {self.method}\n"
            f"({self.epsilon:g}, {total:.4g})-private by the randomness of the data alone"
            f"{below}{chance}.\n"
            f"Largest for record {self.record}, value {self.values[0]} against "
            f"{self.values[1]}.\n"
            f"Against an adversary who knows the distribution, {self.distribution}, and no record "
            f"of the dataset. One who knows other records, or data of another law: no promise. "
            f"This is not differential privacy and no case of the exception mass."
        )
