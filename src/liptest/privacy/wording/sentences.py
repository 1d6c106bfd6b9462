"""Sentences of verdicts that need nothing but what they say."""

from __future__ import annotations

from collections.abc import Mapping

from liptest.privacy.claims import AnyClaim
from liptest.verdicts import Scalar

# Losses that differ by less are printed alike: it is the tolerance of claims, unless set.
_TIE = 1e-9


def statistic_sentence(statistic: str, pairs: int) -> str:
    """Why the pairs of a statistic's values are enough; ``statistic`` is its quoted name."""
    return (
        f" The mechanism receives only the statistic {statistic}, so the {_pairs(pairs, 'its')} "
        f"all neighbouring datasets."
    )


def write_seen_sentence(what: str, laws: int, pairs: int) -> str:
    """Why the pairs of the values that code was seen to read are enough."""
    return (
        f" On {laws:,} datasets, one for each value, the code was seen to read nothing but {what}, "
        f"so the {_pairs(pairs)} all neighbouring datasets."
    )


def _pairs(count: int, whose: str = "") -> str:
    of_them = " ".join(word for word in ("of", whose, "neighbouring values") if word)
    return f"one pair {of_them} covers" if count == 1 else f"{count:,} pairs {of_them} cover"


def write_excepted_sentence(mass: float, most: int) -> str:
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


def write_refuted_sentence(claim: AnyClaim) -> str:
    """The meaning of a NO."""
    return (
        f"the mechanism is not private as claimed ({claim}); the witness proves it for any "
        f"distribution of the data."
    )


def proof_words(parameters: Mapping[str, Scalar]) -> str:
    """For which data a proof by alignment holds, and the loss that it shows."""
    return f"{parameters.get('holds')}: {_bound_text(parameters)}"


def _bound_text(parameters: Mapping[str, Scalar]) -> str:
    """A loss in six digits after the point, or so many that it is not below what is proved."""
    price, delta = parameters.get("price"), parameters.get("delta")
    if isinstance(price, str):
        return f"at most {price}"  # of a claim in another form
    shown = _show_price(price) if isinstance(price, (int, float)) else "unknown"
    at_delta = f" at delta {delta:g}" if isinstance(delta, float) and delta else ""
    return f"loss at most {shown}{at_delta}"


def _show_price(price: float) -> str:
    texts = [f"{price:.{digits}f}" for digits in range(6, 13)]
    return next((text for text in texts if float(text) >= price - _TIE), texts[-1])


def write_aligned_sentence(parameters: Mapping[str, Scalar]) -> str:
    """What a proof by alignment says beside its claim; it holds for more data than the domain."""
    values, given = parameters.get("values"), parameters.get("given")
    taken = f", {given}" if given else ""
    bound = f"{_bound_text(parameters)}, {parameters.get('holds')}{taken}."
    if isinstance(values, int):
        return (
            f" The code draws whole-number noise itself and adds it to sums over the records. That "
            f"noise was enumerated ({say_count(values, 'value')}; all others count as delta) and "
            f"moved by all that a neighbour can change: {bound}"
        )
    if isinstance(moves := parameters.get("moves"), int):
        return (
            f" The data only move the answer, by a sum over the records. For each of "
            f"{say_count(moves, 'difference')} of neighbours one pair of datasets was compared: "
            f"{bound}"
        )
    paths = parameters.get("paths")
    way = f"each of {paths:,} paths" if isinstance(paths, int) and paths != 1 else "the only path"
    if parameters.get("curves"):
        least = parameters.get("least")
        reached = f"{least:.6f}" if isinstance(least, float) else "unknown"
        return (
            f" On {way} of the code the probabilities of outputs are functions of sums of the "
            f"data. Their largest loss over all values that neighbours give these sums was bounded "
            f"in ball arithmetic; {reached} is reached: {bound}"
        )
    if parameters.get("ends"):
        return (
            f" The probability of {way} of the code is a log-concave function of sums of the data, "
            f"whose loss is largest where they are least or greatest: {bound}"
        )
    return (
        f" On {way} of the code, shifting the noise makes up for whatever a neighbour changes: "
        f"{bound}"
    )


def say_count(number: int, noun: str) -> str:
    """The number with its noun: 1 dataset, 2 datasets."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
