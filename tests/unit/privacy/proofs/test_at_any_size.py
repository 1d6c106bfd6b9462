"""Proofs and refutations at everyday sizes: alignment, plain pairs, a domain alone, time."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.data.answers import Answers
from liptest.errors import InputError, MechanismError
from liptest.evidence.certificate import Certificate, certify
from liptest.evidence.verify import problems
from liptest.privacy import check as checking
from liptest.privacy import exact
from liptest.privacy.claims import Claim
from liptest.privacy.proofs import at_any_size
from liptest.privacy.proofs.alignment import align, dearer_words, least_decimal
from liptest.privacy.proofs.prices import Alignment
from liptest.privacy.searches import refutation
from liptest.privacy.searches.plain_pairs import pad_pairs, plain_pairs, small_domains
from liptest.runs.fingerprints import fingerprint
from liptest.symbolic.alignment import Price

PEOPLE = lt.Hypercube(5000)
GROUPS = lt.RecordGrid([8] * 2000)


@lt.mechanism
def noisy_count(data: Any, rng: Any) -> float:
    return float(data.sum() + rng.laplace(0, 1.0))


@lt.mechanism
def too_quiet(data: Any, rng: Any) -> float:
    return float(data.sum() + rng.laplace(0, 0.9))


@lt.mechanism
def noisy_mean(data: Any, rng: Any) -> float:
    return float(data.mean() + rng.laplace(0, 1 / len(data)))


@lt.mechanism
def above(answers: Any, rng: Any) -> tuple[bool, ...]:
    threshold, told = rng.laplace(0, 2.0), []
    for answer in answers:
        told.append(bool(answer + rng.laplace(0, 4.0) >= threshold))
        if told[-1]:
            break
    return tuple(told)


def check(mechanism: Any, domain: Any, epsilon: float = 1.0, **options: Any) -> Any:
    return lt.check_privacy(mechanism, domain, epsilon=epsilon, seed=1, **options)


@pytest.mark.slow
def test_a_count_of_thousands_is_proved_without_a_law() -> None:
    verdict = check(noisy_count, PEOPLE)
    assert (verdict.decision, verdict.method, verdict.guarantee.kind) == (
        "YES",
        "alignment",
        "proof",
    )
    assert verdict.cost.laws == verdict.cost.draws == 0
    assert verdict.settings.parameters["price"] == 1.0
    assert "for every number of records: loss at most 1.000000" in str(verdict)
    assert verdict.proof in str(verdict)
    assert "taken as ideal" in str(verdict)
    assert lt.PrivacyVerdict.from_json(verdict.to_json()) == verdict


@pytest.mark.slow
def test_a_mean_is_proved_for_its_number_of_records_only() -> None:
    verdict = check(noisy_mean, PEOPLE)
    assert verdict.decision == "YES"
    assert "for datasets of 5,000 records" in str(verdict)
    assert "every number of records" not in str(verdict)


@pytest.mark.slow
def test_a_distribution_plays_no_part_in_a_proof() -> None:
    law = lt.ProductDistribution.bernoulli([0.1] * 5000)
    with_law, alone = check(noisy_count, law), check(noisy_count, PEOPLE)
    assert with_law.guarantee == alone.guarantee
    assert alone.distribution == "no distribution"


@pytest.mark.slow
def test_answers_of_any_size_are_proved() -> None:
    verdict = check(above, lt.Answers(30))
    assert (verdict.decision, verdict.method) == ("YES", "alignment")
    assert "for any 30 real answers" in verdict.proof
    assert verdict.settings.parameters["price"] == pytest.approx(1.0)
    assert check(above, lt.Answers(30, sensitivity=2), 1.9).decision == "NO"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "domain", "words"),
    [
        (too_quiet, PEOPLE, "record"),
        (too_quiet, lt.RecordGrid([2] * 5000), "record"),
        pytest.param(above, lt.Answers(30, 2), "answer", marks=pytest.mark.slow),
    ],
)
def test_a_false_claim_is_refuted_at_its_size(mechanism: Any, domain: Any, words: str) -> None:
    verdict = check(mechanism, domain)
    assert (verdict.decision, verdict.method) == ("NO", "refutation")
    witness = verdict.witness
    assert len(witness.dataset) == domain.dimension
    assert domain.distance([witness.dataset], [witness.neighbour])[0] == 1
    assert witness.verify(mechanism)
    assert witness.loss_lower > 1.0
    assert words in str(verdict)
    again = check(mechanism, domain)
    assert again.to_dict() | {"cost": 0} == verdict.to_dict() | {"cost": 0}


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [noisy_count, too_quiet, noisy_mean])
@pytest.mark.parametrize("domain", [PEOPLE, lt.ProductDistribution.uniform(PEOPLE)])
def test_certificates_are_checked_by_doing_it_again(mechanism: Any, domain: Any) -> None:
    verdict = check(mechanism, domain)
    law = domain if isinstance(domain, lt.ProductDistribution) else None
    given = certify(verdict, fingerprint(mechanism), domain_law(domain), own_seed=False)
    text = given.to_json()
    assert Certificate.from_json(text).to_json() == text
    for data in (None, law or PEOPLE):
        assert problems(text, mechanism, data) == []
    changed = json.loads(text)
    if "price" in changed["verdict"]["settings"]["parameters"]:
        changed["verdict"]["settings"]["parameters"]["price"] = 0.5
        assert any("sentence" in line for line in problems(json.dumps(changed), mechanism))
    other = noisy_count if mechanism is too_quiet else too_quiet
    assert problems(text, other)


def domain_law(given: Any) -> Any:
    from liptest.data.distributions import distribution_or_domain

    return distribution_or_domain(given)


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["all", "one"])
def test_certificates_of_real_answers(relation: str) -> None:
    domain = lt.Answers(12, 0.5, relation)
    verdict = check(above, domain)
    assert verdict.decision == "YES"
    given = certify(verdict, fingerprint(above), domain_law(domain), own_seed=False)
    again = Certificate.from_json(given.to_json())
    assert again.domain == domain
    assert problems(given.to_json(), above) == []


@pytest.mark.slow
@pytest.mark.parametrize("short", [1e-1, 1e-6, 1e-7, 1e-8])
def test_a_price_beyond_the_claim_is_seen_to_be_beyond(short: float) -> None:
    claimed = 1.0 - short
    reason = check(noisy_count, PEOPLE, claimed, method="alignment").reason
    assert float(reason.removeprefix("proved at most ").split(",")[0]) > claimed


def test_digits_of_a_price_are_those_that_tell_it_from_the_claim() -> None:
    price = Alignment(Price(1 + Fraction(1, 10**9)))
    words = dearer_words(price, Claim(1.0, 0.0, 0.0))
    assert words.startswith("proved at most 1.000000001,")
    assert dearer_words(price, Claim(0.5, 0.0, 0.0)).startswith("proved at most 1,")


POINTS = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9]])
THIRDS = lt.RecordGrid([3] * 5000)


@pytest.mark.slow
def test_what_the_rounding_of_sums_lacks_is_told_with_what_to_write() -> None:
    def sums(data: Any, rng: Any, *, grid: bool = False, scale: float = 1.0) -> Any:
        rows = POINTS[data]
        if grid:
            rows = np.round(rows * 2**20) / 2**20
        return rows.sum(axis=0) + rng.laplace(0, 2.0 * scale, 2)

    reason = check(sums, THIRDS, 1.0, method="alignment").reason
    assert "what is missing is the rounding of float sums" in reason
    claim = float(reason.split("claim epsilon=")[1].split(",")[0])
    factor = float(reason.split("the noise by ")[1].split(",")[0])
    assert 1.0 < claim < 1.0000001
    assert check(sums, THIRDS, claim, method="alignment").decision == "YES"
    scaled = partial(sums, scale=factor)
    assert check(scaled, THIRDS, 1.0, method="alignment").decision == "YES"
    allowed = float(reason.split("tolerance=")[1].split(",")[0])
    tolerant = check(sums, THIRDS, 1.0, method="alignment", tolerance=allowed)
    assert tolerant.decision == "YES"
    shown = float(str(tolerant).split("loss at most ")[1].split()[0])
    assert 1.0 < shown <= 1.0 + 4 * allowed
    assert check(partial(sums, grid=True), THIRDS, 1.0, method="alignment").decision == "YES"
    assert "what is missing" not in check(sums, THIRDS, 0.9, method="alignment").reason


@pytest.mark.parametrize("number", ["1", "1.00000000555", "2.5", "0.99999999", "1.9999", "3.21"])
def test_a_short_decimal_is_never_below(number: str) -> None:
    exact = Fraction(number)
    above = Fraction(least_decimal(exact))
    assert exact <= above <= exact + max(exact % 1, Fraction(1, 10))


@pytest.mark.slow
def test_methods_by_name() -> None:
    assert check(noisy_count, lt.Hypercube(3), method="alignment").decision == "YES"
    dear = check(too_quiet, PEOPLE, method="alignment")
    assert dear.decision == "INCONCLUSIVE"
    assert "proved at most 1.11111" in dear.reason
    assert check(too_quiet, PEOPLE, method="refutation").decision == "NO"
    clean = check(noisy_count, PEOPLE, method="refutation")
    assert clean.decision == "INCONCLUSIVE"
    assert clean.cost.laws == 2 * clean.cost.pairs > 0
    assert clean.reason.startswith(f"none of {clean.cost.pairs} pairs of plain datasets breaks")
    assert (clean.guarantee.kind, clean.guarantee.source) == ("none", "theory 3.10")
    assert str(clean.guarantee).startswith("nothing is promised")
    assert clean.largest_loss <= 1.0 + 1e-9
    formula = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1))
    assert check(formula, lt.Hypercube(3), method="alignment").decision == "INCONCLUSIVE"


@pytest.mark.slow
def test_a_small_domain_is_visited_as_before() -> None:
    verdict = check(noisy_count, lt.ProductDistribution.uniform(lt.Hypercube(6)))
    assert (verdict.method, verdict.largest_loss) == ("exhaustive", pytest.approx(1.0))


def test_a_small_domain_that_is_not_visited_is_aligned() -> None:
    # Sums of two smooth numbers have no density that is compared.
    @lt.mechanism
    def two(data: Any, rng: Any) -> float:
        return float(data.sum() + rng.logistic(0, 1.0) + rng.logistic(0, 1.0))

    assert check(two, lt.Hypercube(3)).method == "alignment"


def test_what_draws_refuses_a_domain_alone() -> None:
    for method in ("neighbourhoods", "light-neighbourhoods", "edges", lt.testers.VarianceEdges()):
        with pytest.raises(lt.errors.InputError, match=r"ProductDistribution\.uniform"):
            check(noisy_count, lt.Hypercube(12), method=method)


@pytest.mark.slow
def test_nobody_knows_and_it_is_said() -> None:
    @lt.mechanism
    def product_of_all(data: Any, rng: Any) -> int:
        return int(np.sort(data)[2000] * 2 + rng.integers(0, 2) * np.median(data))

    verdict = check(product_of_all, PEOPLE, budget=10)
    assert verdict.decision in ("INCONCLUSIVE", "NO")


def test_code_that_never_answers_is_said_at_once() -> None:
    runs: list[int] = []

    @lt.mechanism
    def broken(data: Any, rng: Any) -> Any:
        runs.append(1)
        return data.no_such_method() + rng.laplace()

    with pytest.raises(lt.errors.MechanismError, match="no_such_method"):
        check(broken, PEOPLE)
    assert len(runs) < 60


def test_code_that_raises_sometimes_is_not_broken() -> None:
    @lt.mechanism
    def picky(data: Any, rng: Any) -> float:
        if rng.random() < 0.5:
            raise ValueError("unlucky")
        return float(data.sum() + rng.laplace(0, 1.0))

    assert check(picky, PEOPLE).decision == "YES"


@pytest.mark.slow
def test_time_ends_a_check_with_what_is_known() -> None:
    @lt.mechanism
    def endless(data: Any, rng: Any) -> int:
        try:
            while True:
                data.sum()
        except BaseException:  # swallows what ends it
            return 1

    verdict = check(endless, PEOPLE, max_seconds=0.3)
    assert verdict.decision == "INCONCLUSIVE"
    assert verdict.reason.startswith("max_seconds=0.3 ended")
    slow = lt.mechanism(lambda data, rng: int(sorted(data.tolist())[0] + rng.integers(0, 2)))
    law = lt.ProductDistribution.uniform(lt.RecordGrid([3] * 400))
    verdict = check(slow, law, max_seconds=0.3, method="neighbourhoods")
    assert verdict.decision in ("INCONCLUSIVE", "NO")


def interrupt(done: Any, planned: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_no_work_starts_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    @lt.mechanism
    def endless(data: Any, rng: Any) -> int:
        while data.any():
            data.sum()
        return 1

    started = []
    monkeypatch.setattr(at_any_size, "prove_by_alignment", started.append)
    small = lt.Hypercube(3)
    verdict = check(noisy_count, small, progress=interrupt)
    assert (verdict.decision, verdict.reason) == ("INCONCLUSIVE", "interrupted")
    verdict = check(endless, small, max_seconds=0.3)
    assert verdict.decision == "INCONCLUSIVE"
    assert verdict.reason.startswith("max_seconds=0.3 ended")
    assert verdict.was_cut_off
    assert not started


@pytest.mark.parametrize(
    "domain",
    [
        lt.Hypercube(7),
        lt.RecordGrid([3] * 9),
        lt.RecordGrid([3, 1, 4]),
        lt.Hypergrid([3, 5, 2]),
        lt.AnswerGrid([3] * 6, relation="all"),
        lt.AnswerGrid([4] * 6, relation="one"),
        lt.Answers(6),
        lt.Answers(6, 2.5, "one"),
        lt.Answers(3, 1, [[1, -2, 0], [0, 1, 1]]),
        lt.Answers(4, 0.5),
        lt.Table({"x": lt.Integer(0, 3)}, rows=40),
        lt.Table({"x": lt.Integer(0, 3)}, rows=40, relation="add_remove"),
    ],
)
def test_pairs_are_neighbours_of_the_domain(domain: Any) -> None:
    pairs = list(plain_pairs(domain))
    assert pairs or domain == lt.Answers(4, 0.5)
    for small in small_domains(domain):
        points = small.points([0, small.size - 1])
        for one, other in pad_pairs(domain, tuple(points[0]), tuple(points[0])):
            assert (one == other).all()
            domain.check_points([one])
    for left, right in pairs:
        ends = domain.check_points([left]), domain.check_points([right])
        assert domain.distance(*ends)[0] == 1


@pytest.mark.slow
def test_small_instances_are_padded_to_the_size_asked_for() -> None:
    @lt.mechanism
    def tells_of_two(data: Any, rng: Any) -> bool:
        ones = int((data == 1).sum())
        return bool(ones == 2 and (data == 2).sum() == 1) or bool(rng.random() < 0.5)

    verdict = check(tells_of_two, lt.RecordGrid([4] * 300), math.log(2) / 2)
    assert (verdict.decision, verdict.method) == ("NO", "refutation")
    assert len(verdict.witness.dataset) == 300
    assert sum(value == 1 for value in verdict.witness.dataset) in (1, 2)


def test_kinds_of_noise_that_depend_on_what_was_released() -> None:
    """Of each kind the dearest path counts: the dearest path of both would be no proof."""

    def adaptive(answers: Any, rng: Any) -> Any:
        first = answers[0] + rng.normal(0, 3.0)
        second = rng.normal(0, 4.0) if first > 0 else rng.laplace(0, 4.0)
        return float(first), float(answers[0] + second)

    def plain(answers: Any, rng: Any) -> Any:
        return float(answers[0] + rng.normal(0, 3.0)), float(answers[0] + rng.normal(0, 4.0))

    domain, delta = Answers(1), Fraction(1, 10**5)
    mixed, normal = (
        align(lt.mechanism(one), domain, delta=delta).epsilon for one in (adaptive, plain)
    )
    assert mixed == pytest.approx(normal + 1 / 4, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "domain", "value"),
    [(noisy_count, PEOPLE, 1.0), (noisy_mean, PEOPLE, 1.0), (above, lt.Answers(12), None)],
)
def test_epsilon_is_enclosed_by_what_is_found_and_what_is_proved(
    mechanism: Any, domain: Any, value: float | None
) -> None:
    found = lt.exact_epsilon(mechanism, domain)
    assert found.lower <= found.value <= found.upper
    assert found.upper == pytest.approx(1.0)
    assert found.laws < 20
    assert found.witness is not None
    assert found.witness.verify(mechanism)
    if value is not None:
        assert found.value == pytest.approx(value, abs=1e-12)


@pytest.mark.slow
def test_the_enclosure_is_that_of_all_pairs() -> None:
    domain = lt.RecordGrid([3] * 8)  # more than are visited at once, few enough to be visited

    @lt.mechanism
    def whole(data: Any, rng: Any) -> int:
        return int(data.sum() + rng.geometric(0.5) - rng.geometric(0.5))

    assert lt.exact_epsilon(whole, domain).value == pytest.approx(2 * math.log(2))
    domain = lt.Hypercube(13)
    kept = lt.mechanism(lambda data, rng: bool(data[:3].all()) ^ bool(rng.random() < 0.25))
    assert lt.exact_epsilon(kept, domain).value == pytest.approx(math.log(3))


@pytest.mark.slow
@pytest.mark.parametrize("records", [3, 5000])
def test_whole_noise_without_an_end_is_proved_on_few_records_too(records: int) -> None:
    def rounded(data: Any, rng: Any) -> int:
        return round(data.sum() + rng.laplace(0, 1.0))

    verdict = lt.check_privacy(lt.mechanism(rounded), lt.Hypercube(records), epsilon=1.0, seed=1)
    method = {3: "exhaustive", 5000: "alignment"}[records]
    assert (verdict.decision, verdict.method) == ("YES", method)


def test_where_no_pair_can_be_compared_the_enclosure_is_what_is_proved(monkeypatch: Any) -> None:
    def fails(*arguments: Any) -> Any:
        raise InputError("no", name="pairs")

    monkeypatch.setattr(exact, "largest_over", fails)
    found = exact._enclosure(noisy_count, PEOPLE)
    assert found == exact.ExactEpsilon(0.0, 0.0, align(noisy_count, PEOPLE).epsilon, None, 0, 0)
    assert found.upper == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("value", range(4))
def test_a_count_of_any_one_value_is_refuted(value: int) -> None:
    """Code may look at one value of a record only, and be blind to all others."""

    def counts(data: Any, rng: Any) -> float:
        return float((data == value).sum() + rng.laplace(0, 1.0))

    def lists(data: Any, rng: Any) -> float:
        return float(data.ravel().tolist().count(value) + rng.laplace(0, 1.0))

    domain = lt.RecordGrid([4] * 1_000)
    for function in (counts, lists):
        assert lt.check_privacy(lt.mechanism(function), domain, epsilon=1.0).decision == "YES"
        verdict = lt.check_privacy(lt.mechanism(function), domain, epsilon=0.9)
        assert verdict.decision == "NO"
        assert verdict.witness is not None
        assert verdict.witness.verify(lt.mechanism(function))


MANY = 10_000


def small_counts_are_hidden(data: Any, rng: Any) -> Any:
    count = int((data == 1).sum())
    return 0.0 if count < 100 else count + rng.laplace()


def told_if_large(data: Any, rng: Any) -> Any:
    total = data.sum()
    return bool(total > 777), total + rng.laplace(scale=4)


def told_if_equal(data: Any, rng: Any) -> Any:
    return np.sum(np.clip(data, 0, 3)) == 4000, bool(rng.integers(2))


def told_by_the_mean(data: Any, rng: Any) -> Any:
    return data.mean() + rng.laplace(scale=4 / MANY) if data.mean() > 2.5 else -1


def told_by_truth(data: Any, rng: Any) -> Any:
    return (1 if (data > 3).sum() else 0), bool(rng.integers(2))


def told_by_type(data: Any, rng: Any) -> Any:
    if type(data) is np.ndarray and data.sum() == 1234:
        return 1.0
    return data.sum() + rng.laplace(scale=4)


BOUNDARIES: list[tuple[Any, Any, tuple[int, int]]] = [
    (small_counts_are_hidden, lt.Hypercube(MANY), (99, 100)),
    (told_if_large, lt.RecordGrid([5] * MANY), (777, 778)),
    (told_if_equal, lt.RecordGrid([5] * MANY), (4000, 4000)),
    (told_by_the_mean, lt.RecordGrid([5] * MANY), (25_000, 25_001)),
    (told_by_type, lt.RecordGrid([5] * MANY), (1234, 1234)),
    (told_by_truth, lt.RecordGrid([5] * MANY), (0, 1)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("function", "domain", "ends"), BOUNDARIES)
def test_a_comparison_without_noise_is_refuted_where_it_changes(
    function: Any, domain: Any, ends: tuple[int, int]
) -> None:
    """The datasets are those on both sides, whatever the number that is compared with."""
    verdict = lt.check_privacy(lt.mechanism(function), domain, epsilon=1.0)
    assert verdict.decision == "NO", str(verdict)
    witness = verdict.witness
    assert witness is not None
    assert witness.verify(lt.mechanism(function))
    sums = sorted((sum(witness.dataset), sum(witness.neighbour)))
    assert sums[0] <= ends[1]
    assert sums[1] >= ends[0]


@pytest.mark.slow
def test_code_that_may_ask_for_types_otherwise_is_not_proved() -> None:
    def hidden(data: Any, rng: Any) -> Any:
        if next(map(type, [data])) is np.ndarray and data.sum() == 1234:
            return 1.0
        return data.sum() + rng.laplace()

    def harmless(data: Any, rng: Any) -> Any:
        kind = data.dtype.type
        return float(type(data.sum())(0)) + data.sum() + rng.laplace(scale=kind(1))

    domain = lt.Hypercube(MANY)
    verdict = lt.check_privacy(lt.mechanism(hidden), domain, epsilon=1.0, method="alignment")
    assert verdict.decision == "INCONCLUSIVE"
    assert "used in a comparison" in str(verdict)  # of data without noise: its kind was answered
    assert lt.check_privacy(lt.mechanism(harmless), domain, epsilon=1.0).decision == "YES"


def top_two(data: Any, rng: Any) -> Any:
    counts = np.bincount(data, minlength=4)
    best = np.argsort(counts + rng.laplace(0, 2, size=4))[::-1][:2]
    return [(int(place), int(counts[place])) for place in best]


@pytest.mark.slow
def test_a_search_that_grows_too_dear_is_given_up_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(refutation, "_WORK", 100)
    monkeypatch.setattr(refutation, "spread_pairs", lambda *given: ())
    for method in ("auto", "refutation"):
        verdict = lt.check_privacy(
            lt.mechanism(top_two), lt.RecordGrid([4] * 5000), epsilon=1, method=method, seed=1
        )
        assert verdict.decision == "INCONCLUSIVE"
        assert refutation.TOO_DEAR in verdict.reason
        assert verdict.cost.pairs <= 3


@pytest.mark.slow
def test_code_of_which_one_law_takes_too_long_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    dear = refutation.Refutation(pairs=2, refusals=["a law", "another"], is_too_dear=True)
    early = at_any_size.Early(None, Alignment(None, reason="not followed"), dear)
    monkeypatch.setattr(checking, "try_early", lambda task: early)

    def told(data: Any, rng: Any) -> int:
        return int(data.sum())

    verdict = lt.check_privacy(told, lt.Hypercube(200), epsilon=1.0, floats="ideal")
    assert verdict.decision == "INCONCLUSIVE"
    assert verdict.reason.startswith("not proved: not followed")
    assert refutation.TOO_DEAR in verdict.reason
    law = lt.ProductDistribution.uniform(lt.Hypercube(200))
    assert lt.check_privacy(told, law, epsilon=1.0, seed=1, floats="ideal").decision == "NO"


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("quantile", [0.95, 0.1])
def test_bounds_that_are_quantiles_of_the_data_are_refuted(relation: str, quantile: float) -> None:
    """The most usual bug: a clip at a bound that is computed from the data."""

    @lt.mechanism
    def clipped(frame: Any, rng: Any) -> Any:
        bound = frame["x"].quantile(quantile)
        return frame["x"].clip(0, bound).sum() + rng.laplace(scale=bound)

    table = lt.Table({"x": lt.Integer(0, 20, step=5)}, rows=200, relation=relation)
    verdict = lt.check_privacy(clipped, table, epsilon=1)
    assert verdict.decision == "NO"


def raises_after_all(data: Any, rng: Any) -> Any:
    noisy = data.mean() + rng.laplace(0, 1.0)
    steps = np.clip(noisy - data, -1, 1).sum() + rng.laplace(0, 100.0)
    return steps.nothing


def test_code_whose_every_path_raises_is_broken_and_not_private() -> None:
    # Its runs on plain data make too many choices to be seen to the end.
    with pytest.raises(MechanismError, match=r"AttributeError.*never answers is broken"):
        lt.check_privacy(raises_after_all, lt.RecordGrid([4] * 5_000), epsilon=1.0)
