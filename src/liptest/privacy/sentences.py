"""Sentences of verdicts that need nothing but what they say."""

from __future__ import annotations

from liptest.privacy.claims import AnyClaim


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
