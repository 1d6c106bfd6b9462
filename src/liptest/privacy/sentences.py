"""Sentences of verdicts that need nothing but what they say."""

from __future__ import annotations

from collections.abc import Mapping

from liptest.privacy.claims import AnyClaim
from liptest.verdicts import Scalar


def statistic_sentence(statistic: str, pairs: int) -> str:
    """Why the pairs of a statistic's values are enough; ``statistic`` is its quoted name."""
    return (
        f" The mechanism receives only the statistic {statistic}, so the {_pairs(pairs, 'its')} "
        f"all neighbouring datasets."
    )


def seen_sentence(what: str, laws: int, pairs: int) -> str:
    """Why the pairs of the values that code was seen to read are enough."""
    return (
        f" On {laws:,} datasets, one for each value, the code was seen to read nothing but {what}, "
        f"so the {_pairs(pairs)} all neighbouring datasets."
    )


def _pairs(count: int, whose: str = "") -> str:
    of_them = " ".join(word for word in ("of", whose, "neighbouring values") if word)
    return f"one pair {of_them} covers" if count == 1 else f"{count:,} pairs {of_them} cover"


def excepted_sentence(mass: float, most: int) -> str:
    """Which datasets a filter excepts; nothing when it excepts none."""
    if not mass:
        return ""
    return (
        f" Excepted are datasets on which the filter needs more than {most:,} values of the "
        f"query, where a release fails; they have a total probability <= {mass:.3g}."
    )


def partial_sentence(sentence: str) -> str:
    """The meaning of the clean part of a run that ended early."""
    return f"less than was requested, but this much is certified: {sentence}"


def refuted_sentence(claim: AnyClaim) -> str:
    """The meaning of a NO."""
    return (
        f"the mechanism is not private as claimed ({claim}); the witness proves it for any "
        f"distribution of the data."
    )


def proof_words(parameters: Mapping[str, Scalar]) -> str:
    """For which data a proof by alignment holds, its price, and the shifts of the dearest path."""
    shifts = parameters.get("shifts")
    told = f", shifts: {shifts}" if shifts else ""
    return f"{parameters.get('holds')}: price {_price_text(parameters)}{told}"


def _price_text(parameters: Mapping[str, Scalar]) -> str:
    """Six digits after the point, and the delta where there is one."""
    price, delta = parameters.get("price"), parameters.get("delta")
    if isinstance(price, str):
        return price  # of a claim in another form
    shown = f"{price:.6f}" if isinstance(price, (int, float)) else "unknown"
    return f"{shown} at delta {delta:g}" if isinstance(delta, float) and delta else shown


def aligned_sentence(parameters: Mapping[str, Scalar]) -> str:
    """What a proof by alignment says beside its claim; it holds for more data than the domain."""
    values, given = parameters.get("values"), parameters.get("given")
    holds, taken = parameters.get("holds"), f", {given}" if given else ""
    if isinstance(values, int):
        return (
            f" The code draws whole-number noise itself and adds it to sums over the records. The "
            f"law of that noise was enumerated ({counted(values, 'value')}; all others count as "
            f"delta) and moved by all that a neighbour can change: {_price_text(parameters)}. That "
            f"holds {holds}{taken}."
        )
    if isinstance(moves := parameters.get("moves"), int):
        return (
            f" The data only move the answer, by a sum over the records. For each of "
            f"{counted(moves, 'difference')} of neighbours one pair of datasets was compared, and "
            f"the loss is at most {_price_text(parameters)}. That holds {holds}{taken}."
        )
    paths = parameters.get("paths")
    count = counted(paths, "path") if isinstance(paths, int) else "its paths"
    if parameters.get("curves"):
        least = parameters.get("least")
        reached = f"{least:.6f}" if isinstance(least, float) else "unknown"
        return (
            f" Data and noise were followed as symbols: on {count} the probabilities of outputs "
            f"are functions of sums of the data. Their largest loss over all neighbouring values "
            f"of these sums was bounded in ball arithmetic: {_price_text(parameters)}, of which "
            f"{reached} is taken. That holds {holds}{taken}."
        )
    if parameters.get("ends"):
        return (
            f" Data and noise were followed as symbols: the probability of each of {count} is a "
            f"log-concave function of sums of the data, whose loss is largest where they are least "
            f"or greatest: {_price_text(parameters)}. That holds {holds}{taken}."
        )
    return (
        f" Data and noise were followed as symbols: on {count} the noise can be shifted so that "
        f"data of any neighbour lead to the same output, at a price of at most "
        f"{_price_text(parameters)}. That holds {holds}{taken}."
    )


def counted(number: int, noun: str) -> str:
    """The number with its noun: 1 dataset, 2 datasets."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
