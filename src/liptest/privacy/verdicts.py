"""Verdicts on mechanisms: plan and verdict; frozen, printable, JSON both ways."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field, fields
from typing import Any, NoReturn, Self

from liptest.errors import InputError, shown
from liptest.privacy.claims import Claim
from liptest.privacy.witnesses import PrivacyWitness
from liptest.privacy.wording import (
    NOT_COVERED,
    SOURCES,
    coordinate_noun,
    counted,
    open_pair_text,
    witness_text,
)
from liptest.verdicts import Cost, Decision, Guarantee, Record, jsonable

#: The method of a verdict that rests on a local filter, not on a test (theory 3.13).
BY_FILTER = "filter"
# Readable on light and on dark paper.
_COLOURS = {Decision.YES: "#2f8f57", Decision.NO: "#d0453b", Decision.INCONCLUSIVE: "#a87a14"}
#: The method of a verdict that rests on a search alone (theory 3.10).
BY_SEARCH = "search"


@dataclass(frozen=True)
class PrivacyPlan(Record):
    """What a method will do, and what the paper's algorithm would cost.

    ``laws`` is the expected number of output laws; ``paper_laws`` the number that A_test with
    Algorithm 3, as printed, needs for the same task (inf where it does not apply).
    """

    method: str
    draws: int
    laws: float
    laws_per_draw: float
    source: str
    paper_laws: float = math.inf


@dataclass(frozen=True)
class Settings(Record):
    """What was asked beside claim and seed: with them a test can be repeated.

    ``parameters`` are those of a Lipschitz tester, such as range_step, or of a route;
    ``search_laws`` is the budget of the search after a YES, None for a share of the plan.
    """

    exception_mass: float
    failure_probability: float
    budget: int | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    search_laws: int | None = 0


@dataclass(frozen=True)
class PrivacyVerdict:
    """The answer of ``check_privacy``.

    YES by sampling is not a proof; NO is certain; INCONCLUSIVE promises nothing. There is no
    truth value: compare ``verdict.decision`` with ``Decision.YES``.
    """

    decision: Decision
    mechanism: str
    claim: Claim
    method: str
    witness: PrivacyWitness | None
    guarantee: Guarantee
    cost: Cost
    plan: PrivacyPlan
    seed: int
    largest_loss: float
    relation: str
    distribution: str
    law_source: str
    reason: str = ""
    exception_mass_found: float | None = None
    settings: Settings | None = None

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a verdict has no truth value (a NO would be true); compare "
            "verdict.decision == liptest.Decision.YES"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        data = {item.name: jsonable(getattr(self, item.name)) for item in fields(self)}
        data["claim"] = self.claim.to_dict()
        data["witness"] = None if self.witness is None else self.witness.to_dict()
        for part in ("guarantee", "cost", "plan"):
            data[part] = getattr(self, part).to_dict()
        data["settings"] = None if self.settings is None else self.settings.to_dict()
        return data

    def to_json(self) -> str:
        """One JSON object."""
        import json

        return json.dumps(self.to_dict(), indent=1)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Inverse of ``to_dict``; InputError when a key is missing or unknown."""
        parts = dict(data)
        try:
            parts["decision"] = Decision(parts["decision"])
            parts["claim"] = Claim.from_dict(parts["claim"])
            witness = parts["witness"]
            parts["witness"] = None if witness is None else PrivacyWitness.from_dict(witness)
            parts["guarantee"] = Guarantee.from_dict(parts["guarantee"])
            parts["cost"] = Cost.from_dict(parts["cost"])
            parts["plan"] = PrivacyPlan.from_dict(parts["plan"])
            known = parts.get("settings")
            parts["settings"] = None if known is None else Settings.from_dict(known)
            parts["largest_loss"] = float(parts["largest_loss"])
            return cls(**parts)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"verdict JSON: {shown(error)}; it was not written by liptest"
            ) from None

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Inverse of ``to_json``."""
        import json

        return cls.from_dict(json.loads(text))

    def __str__(self) -> str:
        return verdict_text(self)

    def _repr_html_(self) -> str:
        """For notebooks: the same words, beside a bar in the decision's colour."""
        return notebook_html(self.decision, str(self))


def notebook_html(decision: Decision, text: str) -> str:
    """The lines of a verdict: its name, its headline, and the rest beside a bar."""
    title, first, *rest = map(html.escape, text.splitlines())
    body = "<br>".join(rest)
    return (
        f'<div style="border-left: 4px solid {_COLOURS[decision]}; padding-left: 1em">'
        f'<div>{title}</div><div style="font-weight: bold">{first}</div>'
        f'<div style="white-space: pre-wrap">{body}</div></div>'
    )


def verdict_text(verdict: PrivacyVerdict) -> str:
    """A verdict as plain lines: decision, what was tested, meaning, fine print."""
    lines = [f"{verdict.mechanism}   claim: {verdict.claim}", headline(verdict), tested(verdict)]
    if verdict.witness is not None:
        lines.append(pair_text(verdict, verdict.witness))
    lines.append(f"Meaning: {verdict.guarantee.sentence}")
    lines.extend(fine_print(verdict))
    return "\n".join(lines)


def pair_text(verdict: PrivacyVerdict, witness: PrivacyWitness) -> str:
    """The verdict's pair of datasets: what refutes the claim, or what was left open."""
    words = witness_text if verdict.decision is Decision.NO else open_pair_text
    return words(witness, verdict.relation)


def headline(verdict: PrivacyVerdict) -> str:
    """The decision with the few words that keep it from being misread."""
    kind = verdict.guarantee.kind
    notes = {
        "proof": "by proof - every case checked",
        "sampling": "by sampling - not a proof",
        "refutation": "refuted with a witness",
    }
    note = verdict.reason if kind == "none" else notes[kind]
    if kind == "proof" and verdict.guarantee.condition:
        note = "by proof - conditional on the declared edges"
    if verdict.method == BY_FILTER:
        note = "by construction - nothing was tested"
    return f"{verdict.decision} {note}" if note else str(verdict.decision)


def tested(verdict: PrivacyVerdict) -> str:
    """What was compared with what, and the largest loss."""
    cost, loss = verdict.cost, verdict.largest_loss
    shown = "infinite" if math.isinf(loss) else f"{loss:.6f}"
    if verdict.method == BY_FILTER:
        return f"The filter makes any query steady enough for the noise: loss at most {shown}."
    if verdict.method == "exhaustive":
        done = f"Compared all {cost.pairs:,} neighbouring pairs ({cost.laws:,} output laws)."
        if verdict.witness is not None or verdict.guarantee.kind == "none":
            pairs = counted(cost.pairs, "neighbouring pair")
            done = f"Compared {pairs} ({cost.laws:,} output laws)."
    elif verdict.method == BY_SEARCH:
        done = (
            f"Searched {counted(cost.search_datasets, 'dataset')}: {counted(cost.pairs, 'pair')}, "
            f"{cost.laws:,} output laws asked for."
        )
    else:
        done = (
            f"Tested {counted(cost.draws, 'dataset')} drawn from {verdict.distribution}, method "
            f"{verdict.method}: {counted(cost.pairs, 'pair')}, {cost.laws:,} output laws asked for."
        )
    clean = "" if verdict.witness is not None else " No violation."
    if verdict.guarantee.kind == "none":
        clean = ""
    if verdict.decision is Decision.NO and cost.search_laws:
        # What was drawn was clean; the largest loss is that of the search.
        return f"{done} No violation. {searched(verdict)} Largest loss {shown}."
    return f"{done} Largest loss {shown} (tolerance {verdict.claim.tolerance:g}).{clean}"


def searched(verdict: PrivacyVerdict) -> str:
    """What a search after a sampled YES came to; it never adds to what is promised."""
    cost = verdict.cost
    done = (
        f"Search over {counted(cost.search_datasets, 'dataset')} ({cost.search_laws:,} output laws)"
    )
    if verdict.decision is Decision.NO:
        return f"{done} found a violation."
    return f"{done} found no violation, which adds no promise."


def fine_print(verdict: PrivacyVerdict) -> list[str]:
    """Uncovered records, exception mass, source of the laws, cost, seed, limits."""
    lines = []
    missing = verdict.guarantee.not_covered
    if missing:
        shown = ", ".join(str(i) for i in missing[:10]) + (", .." if len(missing) > 10 else "")
        left_out = counted(len(missing), coordinate_noun(verdict.relation))
        lines.append(
            f"Not covered: {left_out} whose rarer values weigh no more than the exception mass "
            f" ({shown}); use method='neighbourhoods' for them."
        )
    if verdict.cost.search_laws and verdict.decision is Decision.YES:
        lines.append(searched(verdict))
    if verdict.exception_mass_found is not None:
        lines.append(
            f"Exact: the claim holds off datasets of total probability "
            f"{verdict.exception_mass_found:.3g} under {verdict.distribution}, off no lighter set."
        )
    source = SOURCES.get(verdict.law_source, verdict.law_source)
    lines.append(f"Output probabilities: {source}.")
    if math.isfinite(verdict.plan.paper_laws):
        lines.append(
            f"Cost: {verdict.cost.laws:,} output laws; the paper's algorithm as printed would ask "
            f"for {verdict.plan.paper_laws:.2g}."
        )
    if verdict.method not in ("exhaustive", BY_FILTER):
        lines.append(f"Seed: {verdict.seed}.")
    lines.append(NOT_COVERED)
    return lines
