"""Verdicts on mechanisms and their sentences; frozen, printable, JSON both ways."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from pkgutil import resolve_name
from typing import Annotated, ClassVar, NoReturn
from weakref import finalize

from liptest.data.domains import Domain, Hypergrid
from liptest.floats.records import AsImplemented
from liptest.privacy.claims import AnyClaim, Claim, NotionClaim, exact_text, text_above
from liptest.privacy.notions import StatedClaim
from liptest.privacy.witnesses import (
    PrivacyWitness,
    loss_text,
    open_notion_words,
    output_lines,
    refuting_notion_words,
)
from liptest.privacy.wording.explanation import check_level, one_line, theorem_lines
from liptest.privacy.wording.sentences import proof_words, say_count
from liptest.verdicts import (
    BelowOne,
    Cost,
    Count,
    Decision,
    Guarantee,
    Positive,
    Record,
    Scalar,
    Share,
    Size,
    Text,
    Words,
    as_number,
    as_one_of,
)

#: The method of a verdict that rests on a local filter, not on a test (theory 3.13).
BY_FILTER = "filter"
#: What a verdict looks like in a notebook; named here, as its room is built on this one.
NOTEBOOK = "liptest.report.notebook:verdict_html"
#: The method of a verdict on records that are treated one by one.
BY_RECORDS = "per-record"
#: Methods whose YES is a proof.
PROVING = ("exhaustive", "alignment", BY_RECORDS, BY_FILTER)
#: The method of a verdict that rests on a search alone (theory 3.10).
BY_SEARCH = "search"
#: The method of a proof that shifts the noise, for data of any size (theory S1).
BY_ALIGNMENT = "alignment"
#: The method of a NO at one of a fixed number of pairs (theory 3.10).
BY_REFUTATION = "refutation"


@dataclass(frozen=True)
class PrivacyPlan(Record):
    """What a method will do, and what the paper's algorithm would cost.

    ``laws`` is the expected number of output distributions; ``paper_laws`` the number that A_test
    with Algorithm 3, as printed, needs for the same task (inf where it does not apply).
    """

    method: Words
    draws: Count
    laws: Size
    laws_per_draw: Size
    source: Words
    paper_laws: Size = math.inf


@dataclass(frozen=True)
class Remedy(Record):
    """What is known to be enough, on the whole domain, where a claim fails or is left open.

    Parameters
    ----------
    epsilon
        With it and the claimed delta it holds.
    delta
        With it and the claimed epsilon it holds.
    apart
        Where the loss is infinite: (epsilon, delta) that hold, the largest finite loss and the most
        that the outputs of infinite loss weigh together.
    """

    epsilon: Annotated[float, as_number(gt=0)] | None = None
    delta: BelowOne | None = None
    apart: tuple[Annotated[float, as_number(gt=0)], BelowOne] | None = None


@dataclass(frozen=True)
class Settings(Record):
    """What was asked beside claim and seed: with them a test can be repeated.

    ``parameters`` are those of a Lipschitz tester, such as range_step, or of a route, or what a
    proof by alignment came to: "price", "paths", "shifts" and "holds";
    ``search_laws`` is the budget of the search after a YES, None for a share of the plan;
    ``floats`` is None where both ideal noise and the floats of NumPy were requested.
    """

    exception_mass: Annotated[float, as_number(gt=0, lt=1)]
    failure_probability: BelowOne
    budget: Positive | None = None
    parameters: dict[str, Scalar] = field(default_factory=dict)
    search_laws: Count | None = 0
    floats: Annotated[str, as_one_of("ideal", "implemented")] | None = None

    optional: ClassVar[frozenset[str]] = frozenset({"floats"})


@dataclass(frozen=True)
class PrivacyVerdict(Record):
    """The answer of ``check_privacy``.

    YES by sampling is not a proof; NO is certain; INCONCLUSIVE promises nothing. There is no
    truth value: compare ``verdict.decision`` with ``Decision.YES``.
    """

    decision: Annotated[Decision, as_one_of(Decision.YES, Decision.NO, Decision.INCONCLUSIVE)]
    mechanism: Text
    claim: StatedClaim
    method: Words
    witness: PrivacyWitness | None
    guarantee: Guarantee
    cost: Cost
    plan: PrivacyPlan
    seed: Count
    largest_loss: Size
    relation: Text
    distribution: Text
    law_source: Words
    reason: Text = ""
    exception_mass_found: Share | None = None
    settings: Settings | None = None
    remedy: Remedy | None = None
    implemented: AsImplemented | None = None

    optional: ClassVar[frozenset[str]] = frozenset({"remedy", "implemented"})

    @property
    def sufficient_epsilon(self) -> float | None:
        """An epsilon with which, at the claimed delta, it is proved; None where none is known."""
        return None if self.remedy is None else self.remedy.epsilon

    @property
    def sufficient_delta(self) -> float | None:
        """A delta with which, at the claimed epsilon, it is proved; None where none is known."""
        return None if self.remedy is None else self.remedy.delta

    @property
    def is_decided_by_floats(self) -> bool:
        """Whether it is a NO of the code as it is implemented (``floats="implemented"``)."""
        implemented = self.implemented
        is_no = self.decision is Decision.NO and self.witness is None
        return is_no and implemented is not None and implemented.decision is Decision.NO

    @property
    def was_cut_off(self) -> bool:
        """Whether Ctrl-C or the end of its time ended the check."""
        return self.reason.startswith(("interrupted", "max_seconds"))

    @property
    def proof(self) -> str:
        """What a YES by proof rests on, in short; "" for any other verdict."""
        if self.guarantee.kind != "proof":
            return ""
        if self.method != BY_ALIGNMENT or self.settings is None:
            return "every case checked"
        return proof_words(self.settings.parameters)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a verdict has no truth value (a NO would be true); compare verdict.decision == 'YES'"
        )

    def __str__(self) -> str:
        return verdict_text(self)

    def explain(self, level: str = "text") -> str:
        """The verdict in one of three levels.

        "line": one line for those who decide; "text": what ``print`` shows; "theorems": the
        statements that it rests on, in order, with their numbers in docs/theory.
        """
        levels = {"line": _line, "text": verdict_text, "theorems": _theorems}
        return levels[check_level(level)](self)

    def _repr_html_(self) -> str:
        """For notebooks: the same words beside a bar, with the pictures of the report."""
        return str(resolve_name(NOTEBOOK)(self))


# Mechanisms of the verdicts that were decided in this process, as long as these live. A verdict
# is what was written of it: copies and those that were read have none.
_TESTED: dict[int, object] = {}


def keep_mechanism(verdict: PrivacyVerdict, mechanism: object) -> None:
    """Remember what a verdict is about, for pictures that ask it again."""
    _TESTED[id(verdict)] = mechanism
    finalize(verdict, _TESTED.pop, id(verdict), None)


def find_kept_mechanism(verdict: PrivacyVerdict) -> object | None:
    """The mechanism of a verdict that was decided in this process, else None."""
    return _TESTED.get(id(verdict))


def verdict_text(verdict: PrivacyVerdict) -> str:
    """A verdict as plain lines: decision, what was tested, meaning, fine print."""
    lines = [
        f"{verdict.mechanism}   claim: {verdict.claim}",
        headline(verdict),
        say_tested(verdict),
    ]
    if verdict.witness is not None:
        lines.append(pair_text(verdict, verdict.witness))
    lines.extend(remedy_lines(verdict))
    lines.append(f"Meaning: {verdict.guarantee.sentence}")
    if verdict.implemented is not None:
        lines.append(str(verdict.implemented))
    lines.extend(fine_print(verdict))
    return "\n".join(lines)


def _line(verdict: PrivacyVerdict) -> str:
    implemented, name = verdict.implemented, verdict.mechanism
    floats = f"As implemented, with NumPy's floats: {implemented.decision}." if implemented else ""
    return one_line(name, str(verdict.claim), verdict.decision, verdict.guarantee, floats)


def _theorems(verdict: PrivacyVerdict) -> str:
    lines = theorem_lines(
        method=verdict.method,
        decision=verdict.decision,
        guarantee=verdict.guarantee,
        claim=str(verdict.claim),
        tolerance=verdict.claim.tolerance,
        is_pure=isinstance(verdict.claim, Claim),
        law_source=source_in_words(verdict.law_source),
        implemented="" if verdict.implemented is None else str(verdict.implemented),
        not_covered=[NOT_COVERED],
    )
    return "\n".join([f"{verdict.mechanism}   {headline(verdict)}", *lines])


def pair_text(verdict: PrivacyVerdict, witness: PrivacyWitness) -> str:
    """The verdict's pair of datasets: what refutes the claim, or what was left open."""
    words = witness_text if verdict.decision is Decision.NO else open_pair_text
    return words(witness, verdict.relation)


def remedy_lines(verdict: PrivacyVerdict) -> list[str]:
    """What would mend the claim: proved on the whole domain, or at least necessary."""
    remedy, claim = verdict.remedy, verdict.claim
    if verdict.decision is Decision.YES or not isinstance(claim, Claim):
        return []
    if remedy is None:
        return _necessary_lines(verdict)
    lines = []
    if remedy.apart is not None:
        epsilon, delta = map(text_above, remedy.apart)
        lines.append(
            f"Only outputs of total probability {delta} at most have an infinite loss; without "
            f"them it is {epsilon}: proved with epsilon {epsilon} and delta {delta}."
        )
    ways = []
    if remedy.epsilon is not None:
        also = f" and delta {exact_text(claim.delta)}" if claim.delta else ""
        ways.append(f"epsilon {exact_text(remedy.epsilon)}{also}")
    if remedy.delta is not None:
        at_least = ">= " if verdict.decision is Decision.NO else ""
        ways.append(
            f"epsilon {exact_text(claim.epsilon)} and delta {at_least}{exact_text(remedy.delta)}"
        )
    if ways:
        lines.append(f"It holds, proved on the same domain, with {', or with '.join(ways)}.")
    return lines


def _necessary_lines(verdict: PrivacyVerdict) -> list[str]:
    witness, claim = verdict.witness, verdict.claim
    if not isinstance(claim, Claim):
        return []
    if witness is None or verdict.decision is not Decision.NO or witness.distance > 1:
        return []
    least = witness.least_delta
    if least <= 0:
        return []
    return [f"With epsilon {exact_text(claim.epsilon)} no delta below {least:g} would be enough."]


def headline(verdict: PrivacyVerdict) -> str:
    """The decision with the few words that keep it from being misread."""
    kind = verdict.guarantee.kind
    notes = {
        "proof": "by proof - every case checked",
        "sampling": "by sampling - not a proof",
        "refutation": "refuted with a witness",
    }
    note = verdict.reason if kind == "none" else notes[kind]
    if verdict.is_decided_by_floats:
        note = "as implemented, with a witness"
    if verdict.method == BY_ALIGNMENT and kind == "proof":
        return f"{verdict.decision} by proof, {verdict.proof}"
    if kind == "proof" and verdict.guarantee.condition:
        note = "by proof - conditional on the declared edges"
    if verdict.method == BY_FILTER:
        note = "by construction - nothing was tested"
    return f"{verdict.decision} {note}" if note else str(verdict.decision)


def say_tested(verdict: PrivacyVerdict) -> str:
    """What was compared with what, and the largest loss."""
    loss = verdict.largest_loss
    if verdict.is_decided_by_floats and not verdict.cost.laws and verdict.method == "auto":
        return "The law of the code is not followed; its floats are, on a few plain datasets."
    shown = "infinite" if math.isinf(loss) else f"{loss:.6f}"
    if verdict.method == BY_FILTER:
        return f"The filter makes any query steady enough for the noise: loss at most {shown}."
    done = _say_compared(verdict)
    if verdict.method == BY_ALIGNMENT or (verdict.guarantee.kind == "none" and not loss):
        return done  # the loss of pairs which break no claim was not kept
    return done + _say_largest(verdict, shown)


def _say_compared(verdict: PrivacyVerdict) -> str:
    """What was compared with what."""
    cost = verdict.cost
    pairs, laws = say_count(cost.pairs, "pair"), f"{cost.laws:,} output distributions"
    promises_nothing = verdict.guarantee.kind == "none"
    if verdict.method == "exhaustive":
        every = f"all {cost.pairs:,} neighbouring pairs"
        if cost.pairs == 1:
            every = "the only neighbouring pair there is"
        if verdict.witness is not None or promises_nothing:
            every = say_count(cost.pairs, "neighbouring pair")
        return f"Compared {every} ({laws})."
    if verdict.method == BY_RECORDS and not cost.pairs:
        return "Priced the noise of one record for all of its values."
    if verdict.method == BY_RECORDS:
        every = pairs if verdict.witness is not None else f"all {pairs}"
        return f"Compared {every} of values of one record ({laws})."
    if verdict.method == BY_ALIGNMENT:
        shifts = "" if verdict.settings is None else verdict.settings.parameters.get("shifts")
        sentence = f" Noise shifted: {shifts}." if shifts else ""
        done = "Followed the code with data and noise as symbols"
        return f"{done} (tolerance {verdict.claim.tolerance:g}).{sentence}"
    if verdict.method == BY_REFUTATION:
        return f"Compared {pairs} of plain datasets, computed {laws}."
    if verdict.method == BY_SEARCH:
        searched = say_count(cost.search_datasets, "dataset")
        return f"Searched {searched}: {pairs}, computed {laws}."
    if not cost.draws and promises_nothing:
        return f"Compared {pairs} of datasets, computed {laws}."
    drawn = f"{say_count(cost.draws, 'dataset')} drawn from {verdict.distribution}"
    return f"Tested {drawn}, method {verdict.method}: {pairs}, computed {laws}."


def _say_largest(verdict: PrivacyVerdict, shown: str) -> str:
    """The largest loss, and whether anything breaks the claim, behind what was compared."""
    claim, kind = verdict.claim, verdict.guarantee.kind
    if not isinstance(claim, Claim):
        return f" Largest {claim.measure} {shown} (tolerance {claim.tolerance:g})."
    if claim.delta and math.isinf(verdict.largest_loss):
        # No output alone decides such a claim, and of real numbers none has a probability.
        return "" if kind in ("none", "refutation") else " No violation."
    if verdict.decision is Decision.NO and verdict.cost.search_laws:
        # What was drawn was clean; the largest loss is that of the search.
        return f" No violation. {search_text(verdict)} Largest loss {shown}."
    clean = "" if verdict.witness is not None or kind == "none" else " No violation."
    return f" Largest loss {shown} (tolerance {claim.tolerance:g}).{clean}"


def search_text(verdict: PrivacyVerdict) -> str:
    """What a search after a sampled YES came to; it never adds to what is promised."""
    cost = verdict.cost
    done = (
        f"Search over {say_count(cost.search_datasets, 'dataset')} "
        f"({cost.search_laws:,} output distributions)"
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
        left_out = say_count(len(missing), coordinate_noun(verdict.relation))
        lines.append(
            f"Not covered: {left_out} whose rarer values weigh no more than the exception mass "
            f" ({shown}); use method='neighbourhoods' for them."
        )
    if verdict.cost.search_laws and verdict.decision is Decision.YES:
        lines.append(search_text(verdict))
    if verdict.exception_mass_found is not None:
        lines.append(
            f"Exact: the claim holds excluding a set of probability "
            f"{verdict.exception_mass_found:.3g} under {verdict.distribution}; no set of smaller "
            f"probability is enough."
        )
    if not verdict.is_decided_by_floats:
        lines.append(f"Output probabilities: {source_in_words(verdict.law_source)}.")
    if math.isfinite(verdict.plan.paper_laws):
        lines.append(
            f"Cost: {verdict.cost.laws:,} output distributions; the paper's algorithm as printed "
            f"would need {verdict.plan.paper_laws:.2g}."
        )
    if verdict.method not in (*PROVING, BY_REFUTATION):
        lines.append(f"Seed: {verdict.seed}.")
    lines.append(NOT_COVERED)
    return lines


_IDEAL = (
    "its noise (Laplace, normal, geometric, ..) is taken as ideal, so the rounding of floats is "
    "not covered"
)


def source_in_words(law_source: str) -> str:
    """Where laws come from, with what was taken for granted."""
    source, *conditions = law_source.split("; ")
    return "; ".join([SOURCES.get(source, source), *conditions])


_FROM_CODE = ("enumerated", "integrated", "aligned")
_BY_TYPE = "outputs of different types, or dicts in another order, are different ones"
SOURCES = {
    "declared": "declared by the vendor as a formula; its code was not examined, and a release "
    "draws from the formula",
    "enumerated": "enumerated from the code, every random choice followed",
    "integrated": f"from the code; {_IDEAL}",
    "aligned": f"from the code; {_IDEAL}",
}
SOURCES |= {f"{source} by type": f"{SOURCES[source]}; {_BY_TYPE}" for source in _FROM_CODE}
#: Where the laws of a query with noise come from.
NOISY_QUERY = "the answer of the query, plus exact discrete Laplace noise that liptest draws"
# What a loop without an end leaves of a law, or a tail of NumPy's draws, is less than this.
_TAIL = 2.0**-40
# Below this floats lose digits, then the number; how many digits of a probability are shown.
_SMALLEST, _DIGITS = 1e-300, (6, 9, 12, 17)
#: Among the conditions of laws that another process sealed, before how it was confined.
SEALED_ELSEWHERE = "sealed in another process"
NOT_COVERED = "Not covered: timing, side effects, reuse."


def claim_in_words(claim: AnyClaim, change: str) -> str:
    """One clause: what the claim means for one change."""
    if isinstance(claim, NotionClaim):
        return claim.in_words(change)
    factor = math.exp(min(float(claim.epsilon), 700.0))
    plus = f", plus {exact_text(claim.delta)}" if claim.delta else ""
    what = "set of outputs" if claim.delta else "output"
    return (
        f"{change} changes the probability of any {what} by a "
        f"factor of at most e^{exact_text(claim.epsilon)} = {factor:.4g}{plus}"
    )


def proof_sentence(claim: AnyClaim, domain: Domain, condition: str) -> str:
    """The meaning of a YES by proof: it holds on this domain, and says so."""
    given = f" This rests on a condition: {condition}." if condition else ""
    return (
        f"{claim_in_words(claim, domain.neighbour_words)}, for all datasets of "
        f"{domain.dataset_words}. No sampling, no assumed data distribution.{given}"
    )


def sampling_sentence(mass: float, failure: float, *, group: bool, factor: float) -> str:
    """The meaning of a YES by sampling."""
    pairs = "all pairs of datasets, each change counted," if group else "all neighbouring datasets"
    scale = f"at {text_above(factor)} times epsilon " if factor != 1 else ""
    return (
        f"either the claim holds {scale}for {pairs} outside a set of untypical datasets of total "
        f"probability <= {text_above(mass)}, or this test hit an event of probability <= "
        f"{in_words(failure)}. Inside that set, or for data that follow another distribution: "
        f"no promise."
    )


def records_sentence(pairs: int, *, is_later: bool = False) -> str:
    """Why one record is enough where the records are treated one by one.

    ``is_later``: where the output is calculated from what they then are, and from nothing else.
    """
    made = ", and the output is calculated from the list of their outputs alone" if is_later else ""
    most = "at most " if is_later else ""
    # Where no pair was compared, the noise of one record was priced for all of its values.
    cases = (
        f"the {say_count(pairs, 'pair')} of its values are all cases"
        if pairs
        else "its noise is enough for all of its values"
    )
    return (
        f" The records are treated one by one{made}, so the loss is {most}that of one record, and "
        f"{cases}: the number of records does not matter."
    )


def open_law_sentence(mass: float) -> str:
    """What to do where up to ``mass`` of the probability of a law was not explored."""
    if mass > _TAIL:
        return "nothing is promised; raise max_leaves=, max_choices= or max_seconds=."
    return (
        "nothing is promised. Noise without a bound has a tail that no budget explores, so a claim "
        "with delta=0 stays open: bound the noise or clip the output, claim a delta, or hand the "
        "noise over as lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(scale))."
    )


def in_words(probability: float) -> str:
    """1e-6 -> "1 in 1,000,000" where that is exact enough, else the number."""
    inverse = 1.0 / probability
    if inverse >= 2 and abs(inverse - round(inverse)) < 1e-6 * inverse:
        return f"1 in {round(inverse):,}"
    return text_above(probability)


def witness_text(witness: PrivacyWitness, relation: str = "") -> str:
    """The witness in the words of the design: which record, which output, both probabilities.

    Datasets whose ``relation`` is one of answers consist of answers.
    """
    lines = [
        f"Two test datasets differ only in {_say_changed(witness, relation)}:",
        *(f"  {line}" for line in witness.rows or ()),
        *(f"  {line}" for line in event_lines(witness)),
        f"  {_loss_words(witness)}",
        "Certain: certified arithmetic, not a statistical estimate.",
    ]
    return "\n".join(lines)


def open_pair_text(witness: PrivacyWitness, relation: str = "") -> str:
    """The pair that an INCONCLUSIVE could not decide: nothing about it is refuted."""
    where = _say_changed(witness, relation)
    lines = [f"Left open: two test datasets that differ only in {where}:"]
    lines += [f"  {line}" for line in witness.rows or ()]
    if witness.event:
        lines += [f"  {line}" for line in event_lines(witness)]
    lines.append(f"  {open_loss_words(witness)}")
    return "\n".join(lines)


def open_loss_words(witness: PrivacyWitness) -> str:
    """What is known of the loss of an undecided pair, against what the claim allows."""
    claim = witness.claim
    if not isinstance(claim, Claim):
        return open_notion_words(witness)
    if not witness.event:
        return "outputs that were not explored may tell them apart."
    if claim.delta > 0:
        return (
            f"over the outputs that distinguish the two, one probability exceeds e^epsilon times "
            f"the other by {max(witness.excess, 0.0):.6g} or more; the claim allows "
            f"{claim.delta:g}."
        )
    limit = float(claim.epsilon) * witness.distance
    if math.isinf(witness.loss_upper):
        return f"loss {witness.loss_lower:.9g} or more; the claim allows {limit:.9g}."
    return (
        f"loss between {witness.loss_lower:.9g} and {witness.loss_upper:.9g}; the claim allows "
        f"{limit:.9g}."
    )


def _say_changed(witness: PrivacyWitness, relation: str) -> str:
    where = ", ".join(str(i) for i in witness.changed[:6])
    if witness.rows and not witness.rows[0].startswith("- row "):
        return "the rows of one user" if "user" in relation else "one row"
    if witness.rows:
        return f"row{'' if len(witness.changed) == 1 else 's'} {where} (counted from 0)"
    values = ", ".join(
        f"{witness.dataset[i]} / {witness.neighbour[i]}" for i in witness.changed[:6]
    )
    noun = coordinate_noun(relation)
    plural = "" if len(witness.changed) == 1 else "s"
    return f"{noun}{plural} {where} ({values}){_ones(witness)}"


def event_lines(witness: PrivacyWitness) -> list[str]:
    """What the witness shows of outputs; nothing where laws are compared in closed form."""
    if witness.order is None and (witness.event or isinstance(witness.claim, Claim)):
        return [_event_words(witness)]
    return output_lines(witness)


def _event_words(witness: PrivacyWitness) -> str:
    event = f"output {witness.output!r}"
    if len(witness.event) > 1:
        event = f"one of {len(witness.event)} outputs"
    left, right = _both_probabilities(witness)
    return f"{event}: probability {left} against {right}"


def _both_probabilities(witness: PrivacyWitness) -> tuple[str, str]:
    """In so many digits that they differ where they do; floats have no number below 1e-308."""
    numbers: list[float | Decimal] = [witness.probability, witness.neighbour_probability]
    for side, text in enumerate(witness.exact):
        middle = text[1:].split()[0].rstrip("]") if text.startswith("[") else ""
        # "[+/- radius]" has none: nothing is known but that it is small.
        if numbers[side] < _SMALLEST and middle not in ("", "+/-"):
            numbers[side] = Decimal(middle)
            continue
        top, bar, bottom = text.partition("/")
        if numbers[side] < _SMALLEST and bar and top.isdigit() and bottom.isdigit():
            numbers[side] = Decimal(top) / Decimal(bottom)
    for digits in _DIGITS:
        left, right = (f"{number:.{digits}g}" for number in numbers)
        if left != right:
            break
    return left, right


def _ones(witness: PrivacyWitness) -> str:
    # A long table of bits is best told by its sum.
    if len(witness.dataset) < 20 or max(witness.dataset + witness.neighbour) > 1:
        return ""
    return f", {sum(witness.dataset)} ones against {sum(witness.neighbour)}"


def _loss_words(witness: PrivacyWitness) -> str:
    claim = witness.claim
    if not isinstance(claim, Claim):
        return refuting_notion_words(witness)
    if claim.delta > 0:
        return (
            f"over the outputs that distinguish the two, one probability exceeds e^epsilon times "
            f"the other by at least {witness.excess:.6g}, claim {claim.delta:g}."
        )
    if math.isinf(witness.loss_lower):
        which = "second" if witness.neighbour_probability == 0 else "first"
        return f"Seeing it rules out the {which} dataset: loss infinite, claim {claim}."
    limit = float(claim.epsilon) * witness.distance
    if witness.loss_lower <= limit:
        return (
            f"loss {witness.loss_lower:.9g}, and without bound further out: more than "
            f"{limit:.9g} (claim {claim})."
        )
    words = loss_text(witness, 9)
    if words.startswith("loss "):
        words += " (log of the ratio)"
    return f"{words}, more than {limit:.9g} (claim {claim})."


def coordinate_noun(relation: str) -> str:
    """What one coordinate of a dataset is, by the domain's relation: record, count or answer."""
    if "answer" in relation:
        return "answer"
    return "count" if relation == Hypergrid.relation else "record"
