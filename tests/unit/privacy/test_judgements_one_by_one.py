"""What a judgement counts, which hop is broken, and what is kept of doubts and partial laws."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.balls import precision
from liptest.data.points import PointBatch
from liptest.evidence import check_witness
from liptest.mechanisms.laws import INFINITE_LOSS, ZERO_LOG, LawTable, OutputLaw, exact_ball
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import (
    Answer,
    _log_ratio,
    compare_laws,
    enclose_loss,
    screen_batch,
    screen_pairs,
    show_loss,
)
from liptest.privacy.divergences.likelihoods import LikelihoodPair
from liptest.privacy.divergences.noise_likelihoods import GaussianOrders
from liptest.privacy.divergences.renyi import PairOrders, enclose_rho, refute_rho
from liptest.privacy.divergences.screening import screen_mu, screen_orders, screen_rho
from liptest.privacy.divergences.tradeoff import _hull_bound, enclose_mu
from liptest.privacy.judge import LossJudge, Unexplored
from liptest.privacy.searches import refutation
from liptest.privacy.witnesses import PrivacyWitness
from liptest.runs.driver import QueryBatch
from tests.unit.privacy.divergences.test_divergences import corners, laws

LINE = lt.Hypergrid([12])


def _logs(logits: Any) -> np.ndarray:
    logit = np.asarray(logits, dtype=float)
    return np.stack([-np.logaddexp(0, -logit), -np.logaddexp(0, logit)], axis=-1)


def _of_table(logits: list[float], **options: Any) -> lt.ClosedForm:
    return lt.ClosedForm([0, 1], lambda points: _logs(np.array(logits)[points[:, 0]]), **options)


def _listed(pairs: list[tuple[int, int]], distances: list[int] | None = None) -> QueryBatch:
    points = np.arange(12, dtype=LINE.dtype)[:, None]
    far = np.array(distances or [abs(a - b) for a, b in pairs])
    return QueryBatch(PointBatch(points), pairs=np.array(pairs), distances=far)


@pytest.mark.parametrize("hop", range(1, 9))
@pytest.mark.parametrize("turn", [1, -1])
def test_a_long_pair_is_narrowed_to_the_hop_that_breaks_the_claim(hop: int, turn: int) -> None:
    logits = [-2.5 * turn] * hop + [2.5 * turn] * (12 - hop)
    judge = LossJudge(_of_table(logits), LINE, Claim(0.27))
    for pair in ((0, 9), (9, 0), (hop - 1, hop + 1), (hop, hop - 1)):
        found = judge.judge(_listed([pair])).violation
        assert found is not None
        assert found.distance == 1
        assert {found.evidence.dataset, found.evidence.neighbour} == {(hop - 1,), (hop,)}


def test_pairs_are_counted_up_to_the_one_that_breaks_the_claim() -> None:
    judge = LossJudge(_of_table([0.0] * 6 + [3.0] * 6), LINE, Claim(0.5))
    pairs = [(0, 1), (1, 2), (5, 6), (7, 8), (6, 5)]
    found = judge.judge(_listed(pairs))
    assert (found.pairs, found.repeats) == (3, 1)
    assert found.violation is not None
    clear = judge.judge(_listed([(0, 1), (1, 2)]))
    assert (clear.pairs, clear.violation, clear.largest) == (2, None, 0.0)


def test_a_doubt_about_one_pair_is_none_about_another() -> None:
    """The laws of 1 are in both pairs, the other ends differ."""
    loss = float(_logs(2.0)[0] - _logs(0.0)[0]), float(_logs(0.0)[1] - _logs(2.0)[1])
    judge = LossJudge(_of_table([2.0, 0.0, 9.0] + [0.0] * 9, error=1e-3), LINE, Claim(max(loss)))
    for pairs in ([(0, 1), (2, 1)], [(1, 0), (1, 2)], [(0, 1), (1, 0), (1, 2)]):
        found = judge.judge(_listed(pairs, [1] * len(pairs)))
        assert found.doubt is not None
        assert found.violation is not None
        assert (2,) in (found.violation.evidence.dataset, found.violation.evidence.neighbour)
        assert found.pairs == len(pairs)


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_one_law_of_a_batch_is_asked_for_again(limit: int) -> None:
    class Small(lt.ClosedForm):
        def points_per_slice(self, domain: Any) -> int:
            return limit

    mechanism = Small([0, 1], lambda points: _logs(0.1 * points[:, 0]))
    centres = np.array([[3], [5], [7]], dtype=LINE.dtype)
    rows = np.repeat(np.arange(3), 2)
    values = (centres[rows, 0] + np.tile([1, -1], 3)).astype(LINE.dtype)
    batch = QueryBatch(PointBatch(centres, rows, np.zeros(6, dtype=np.int64), values))
    found = LossJudge(mechanism, LINE, Claim(0.5)).judge(batch)
    assert (found.repeats, found.draws, found.pairs) == (1, 3, 6)


def test_the_largest_part_that_is_open_counts() -> None:
    table = LawTable(
        (0,), np.zeros((3, 1)), None, np.zeros(3), unexplored=np.array([0.1, 0.3, 0.0])
    )
    found = Unexplored.of(table)
    assert found is not None
    assert found.mass == 0.3
    assert (found + Unexplored(0.2)).mass == (Unexplored(0.2) + found).mass == 0.3
    assert Unexplored.of(LawTable((0,), np.zeros((1, 1)), None, np.zeros(1))) is None


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30))
def test_equal_pairs_of_laws_are_screened_once_and_all_told(pairs: list[tuple[int, int]]) -> None:
    rows = np.array([0, 1, 2, 0, 3, 1])
    logs = _logs([0.0, 1.0, 3.0, 7.0])
    table = LawTable((0, 1), logs, rows, np.full(4, 1e-15))
    points = np.arange(6, dtype=np.int8)[:, None]
    far = np.arange(len(pairs)) % 3 + 1
    batch = QueryBatch(PointBatch(points), pairs=np.array(pairs), distances=far)
    claims = [Claim(1.0)]
    found = screen_batch(table, batch, claims)
    left, right = (rows[np.array(pairs)[:, side]] for side in (0, 1))
    plain = screen_pairs(table, left, right, claims, far)
    for name in ("losses", "above", "may", "must"):
        assert getattr(found, name).tolist() == getattr(plain, name).tolist()


def test_a_stand_in_for_infinity_is_shown_as_infinite() -> None:
    assert show_loss(INFINITE_LOSS) == math.inf
    assert show_loss(1e6) == 1e6


def test_exact_laws_and_declared_ones_are_compared_with_each_other() -> None:
    exact = OutputLaw.from_fractions(
        {0: check_witness.Fraction(3, 4), 1: check_witness.Fraction(1, 4)}
    )
    stated = OutputLaw([0, 1], np.log([0.25, 0.75]), np.full(2, 1e-15))
    for ends in ((exact, stated), (stated, exact)):
        assert compare_laws(*ends, Claim(lt.log(3), 0.0, 0.0)).answer is Answer.DOUBT
        assert compare_laws(*ends, Claim(lt.log(4), 0.0, 0.0)).answer is Answer.CLEAR
        assert compare_laws(*ends, Claim(lt.log(2), 0.0, 0.0)).answer is Answer.VIOLATED


def test_what_may_be_impossible_on_one_side_has_no_largest_loss() -> None:
    half = math.log(0.5)
    maybe = OutputLaw([0, 1], np.array([0.0, -np.inf]), np.zeros(2), exact_zeros=False)
    sure = OutputLaw([0, 1], np.array([half, half]), np.zeros(2), exact_zeros=False)
    for ends in ((maybe, sure), (sure, maybe)):
        found = enclose_loss(*ends)
        assert found.upper == math.inf
        assert found.lower > 700


def test_the_log_of_a_mass_that_may_be_zero_is_no_number() -> None:
    with precision(128):
        maybe, sure = arb(0.25, 0.25), arb(0.5)
        zero = arb(0).union(arb(0.25))
        assert float(_log_ratio(zero, sure)[0]) == 0.0
        low, high = (float(end) for end in _log_ratio(sure, zero))
        assert (low, high) == (pytest.approx(math.log(2)), math.inf)
        assert float(_log_ratio(maybe, sure)[1]) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_a_law_known_in_part_has_a_value_that_is_certain() -> None:
    def leaves(data: Any, rng: Any) -> int:
        return sum(2**i for i in range(5) if rng.random() < 0.4 + 0.2 * int(data[0]))

    found = lt.exact_loss(lt.mechanism(leaves, max_leaves=12), [([0], [1])])
    assert found.upper == math.inf
    assert found.value == found.lower < 5 * math.log(1.5)


def test_every_order_holds_for_laws_within_the_declared_error() -> None:
    error = 0.01
    rows = np.log(np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]]))
    stated = LawTable((0, 1, 2), rows, None, np.full(2, error))
    ends = np.array([0]), np.array([1])
    for turns in ([1, 1, 1], [1, 0, -1], [-1, 1, 1], [1, -1, -1]):
        moved = rows + error / 2 * np.array([turns, -np.array(turns)])
        moved -= np.log(np.exp(moved).sum(axis=1, keepdims=True))
        assert np.abs(moved - rows).max() <= error
        true = LawTable((0, 1, 2), moved, None, np.zeros(2))
        for limit in (0.01, 0.5):
            assert (
                screen_rho(true, *ends, limit).measured[0]
                <= screen_rho(stated, *ends, limit).above[0]
            )
        orders = [1.5, 4.0, 20.0]
        found = screen_orders(true, *ends, orders).measured
        assert (found <= screen_orders(stated, *ends, orders).above).all()
        assert screen_mu(true, *ends).measured[0] <= screen_mu(stated, *ends).above[0]


def test_outputs_that_neither_law_gives_tell_nothing() -> None:
    rows = np.array(
        [[math.log(0.6), math.log(0.4), ZERO_LOG], [math.log(0.4), math.log(0.6), ZERO_LOG]]
    )
    both = LawTable((0, 1, 2), rows, None, np.zeros(2), zeros_exact=True)
    short = LawTable((0, 1), rows[:, :2], None, np.zeros(2), zeros_exact=True)
    ends = np.array([0]), np.array([1])
    for screen in (
        lambda table: screen_rho(table, *ends, 1e-3),
        lambda table: screen_orders(table, *ends, [3.0]),
        lambda table: screen_mu(table, *ends),
    ):
        long, plain = screen(both), screen(short)
        assert long.measured == pytest.approx(plain.measured, rel=1e-12)
        assert long.above == pytest.approx(plain.above, rel=1e-6)
    kullback = 0.2 * math.log(1.5)
    assert screen_rho(short, *ends, 10.0).measured[0] >= kullback * (1 - 1e-12)


@settings(max_examples=30)
@given(st.floats(0.05, 0.45), st.floats(0.0, 0.04))
def test_mass_that_may_be_on_one_side_only_leaves_mu_without_a_bound(p: float, wide: float) -> None:
    with precision(192):
        only = arb(wide).union(arb(0))
        atoms = [(arb(0.5), arb(p)), (arb(0.5), 1 - arb(p))]
        for sides in ({"left_only": only}, {"right_only": only}):
            found = enclose_mu(LikelihoodPair(None, lambda: atoms, **sides))
            assert math.isinf(float(found.upper)) == (wide > 0)
            assert float(found.lower) < math.inf


def test_an_open_rest_leaves_rho_without_a_bound() -> None:
    share = check_witness.Fraction
    left = OutputLaw.from_fractions({0: share(3, 4), 1: share(1, 8)}, unexplored=share(1, 8))
    right = OutputLaw.from_fractions({0: share(1, 8), 1: share(3, 4)}, unexplored=share(1, 8))
    found = enclose_rho(PairOrders(LikelihoodPair.of_laws(left, right)))
    assert 0 < float(found.lower) < float(found.upper) == math.inf
    assert refute_rho(PairOrders(LikelihoodPair.of_laws(left, right)), share(5))[0] is None


def test_a_witness_keeps_its_trace_and_counts_what_is_open() -> None:
    trace = {
        "dataset": [{"branches": 1, "chosen": 0}, {"branches": [3], "chosen": 0}],
        "neighbour": [{"branches": 2, "chosen": 1, "draw": "random()"}],
    }
    row = ("1/2", "1/2", "1/100", "1/100")
    stated = PrivacyWitness(
        (0,), (1,), (0,), 0.5, 0.01, 3.9, 4.0, Claim(1.0), bounds=(row,), trace=trace
    )
    again = PrivacyWitness.from_json(stated.to_json())
    assert again == stated
    assert json.loads(stated.to_json())["trace"] == trace
    assert stated.least_delta == pytest.approx(0.5 - math.e / 100, rel=1e-3)
    for rest in (("0", "1/10"), ("1/10", "0")):
        whole = PrivacyWitness(
            (0,), (1,), (0,), 0.5, 0.01, 3.9, 4.0, Claim(1.0), bounds=(row,), unexplored=rest
        )
        assert whole.least_delta == 0.0


def test_a_witness_of_rho_says_what_it_shows_of_rho() -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    verdict = lt.check_privacy(_of_table([2.0, -2.0]), law, rho=0.5)
    assert verdict.witness is not None
    order = verdict.witness.order
    assert verdict.witness.measured == pytest.approx(verdict.witness.loss_lower / order)
    assert verdict.witness.measured > 0.5
    assert verdict.plan.laws_per_draw == 0.0


@pytest.mark.parametrize("centre", [0, 1, 2])
def test_draws_are_counted_up_to_the_one_that_breaks_the_claim(centre: int) -> None:
    centres = np.array([[2], [5], [8]], dtype=LINE.dtype)
    logits = [0.0] * 12
    logits[int(centres[centre, 0]) + 1] = 5.0
    rows = np.arange(3)
    batch = QueryBatch(PointBatch(centres, rows, np.zeros(3, dtype=np.int64), centres[:, 0] + 1))
    found = LossJudge(_of_table(logits), LINE, Claim(0.5)).judge(batch)
    assert found.violation is not None
    assert (found.draws, found.pairs) == (centre + 1, centre + 1)


def test_a_gap_that_may_be_positive_counts_in_full() -> None:
    loss = 1.0
    p = 1 / (1 + math.exp(-loss))
    logs = np.log([[p, 1 - p], [1 - p, p]])
    left, right = (OutputLaw([0, 1], row, np.full(2, 0.01)) for row in logs)
    for ends in ((left, right), (right, left)):
        assert compare_laws(*ends, Claim(loss, 0.001, 0.0)).answer is Answer.DOUBT
        assert compare_laws(*ends, Claim(loss, 0.1, 0.0)).answer is Answer.CLEAR
    with precision(128):
        assert float(_log_ratio(arb(0), arb(0.5))[0]) == 0.0


@settings(max_examples=40)
@given(laws(1), st.sampled_from([1e-4, 1e-3, 0.01]))
def test_lines_above_wide_balls_hold_all_that_they_hold(
    pair: tuple[list[Any], list[Any]], radius: float
) -> None:
    with precision(192):
        atoms = [
            (exact_ball(a) + arb(0, radius / 20), exact_ball(b) + arb(0, radius / 20))
            for a, b in zip(*pair, strict=True)
        ]
        atoms.sort(key=lambda atom: float((atom[0] / atom[1]).mid()), reverse=True)
        found = float(_hull_bound(atoms))
    assert found >= corners(*pair) - 1e-12


def test_a_remedy_of_a_rare_infinite_loss_covers_declared_errors() -> None:
    rows = [[0.5, 0.5 - 1e-9, 1e-9], [0.45, 0.55, 0.0]]

    def log_pmf(points: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(np.array(rows))[points[:, 0]]

    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    plain = lt.ClosedForm([0, 1, 2], log_pmf, exact_zeros=True)
    stated = lt.ClosedForm([0, 1, 2], log_pmf, exact_zeros=True, error=0.01)
    first, second = (lt.check_privacy(one, law, epsilon=0.5).remedy for one in (plain, stated))
    assert first is not None
    assert second is not None
    assert second.apart[0] >= first.apart[0] + 0.019
    assert second.apart[1] >= first.apart[1] * 1.019


def test_what_noise_keeps_of_rho_is_told_at_the_order_2() -> None:
    orders = GaussianOrders(check_witness.Fraction(2), 1)
    known = orders.known_rho()
    assert known is not None
    answer, order, (low, high) = refute_rho(orders, known)
    assert (answer, order) == (False, 2)
    assert float(low) <= 2 * float(known) <= float(high)


def test_the_claim_of_the_worst_pair_is_just_below_its_loss() -> None:
    found = lt.exact_epsilon(_of_table([0.0, 1.0, 3.0] + [3.0] * 9), LINE)
    assert found.witness is not None
    assert found.witness.claim.epsilon == pytest.approx(found.lower, rel=1e-5)
    assert found.witness.claim.epsilon < found.lower


@pytest.mark.slow
def test_a_search_that_finds_nothing_draws_nothing() -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(3))
    mechanism = lt.mechanism(lambda data, rng: int(data[0]) ^ int(rng.random() < 0.4))
    verdict = lt.check_privacy(mechanism, law, epsilon=1.0, method="refutation")
    assert verdict.decision == "INCONCLUSIVE"
    assert (verdict.plan.draws, verdict.plan.laws_per_draw) == (0, 0.0)
    assert (verdict.guarantee.kind, verdict.guarantee.source) == ("none", "theory 3.10")
    assert str(verdict.guarantee).startswith("nothing is promised")
    told = f"none of {verdict.cost.pairs} pairs of plain datasets breaks the claim"
    assert verdict.reason.startswith(told)


@pytest.mark.slow
def test_a_search_asks_for_two_laws_of_each_plain_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(3))
    mechanism = lt.mechanism(lambda data, rng: int(data[0]) ^ int(rng.random() < 0.4))
    monkeypatch.setattr(refutation._Search, "try_small_instances", lambda search, claim: None)
    cost = lt.check_privacy(mechanism, law, epsilon=1.0, method="refutation").cost
    assert cost.laws == 2 * cost.pairs > 0
    monkeypatch.undo()
    more = lt.check_privacy(mechanism, law, epsilon=1.0, method="refutation").cost
    assert more.laws > cost.laws, "all pairs of few records are tried, too"


@pytest.mark.slow
def test_a_remedy_counts_what_one_of_two_laws_leaves_open() -> None:
    def waits(data: Any, rng: Any) -> int:
        if not data[0]:
            return int(rng.random() < 0.5)
        k = 0
        while rng.random() < 0.5:
            k += 1
        return min(k, 1)

    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    mechanism = lt.mechanism(waits, max_choices=5)
    assert mechanism.law(np.array([1])).unexplored == check_witness.Fraction(1, 32)
    verdict = lt.check_privacy(mechanism, law, epsilon=0.01, method="exhaustive")
    assert verdict.decision != "YES"
    assert verdict.sufficient_delta is not None
    assert verdict.sufficient_delta >= 1 / 32
    again = lt.check_privacy(
        mechanism, law, epsilon=0.01, delta=verdict.sufficient_delta, method="exhaustive"
    )
    assert again.decision == "YES"


def test_draws_that_were_not_made_certify_nothing() -> None:
    from liptest.privacy.samples.intervals import certify_mass

    assert certify_mass(0, 0.1) == 1.0
    assert certify_mass(1, 0.1) == pytest.approx(0.9)
    assert certify_mass(2, 0.25) == pytest.approx(0.5)


def test_the_only_place_of_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liptest.privacy.proofs.exhaustive.FEW_EDGES", 0)
    mechanism = lt.ShiftMechanism(lt.statistics.WeightedSum([3]), lt.DiscreteLaplace(3))
    found = lt.exact_epsilon(mechanism, lt.Hypercube(1))
    assert found.witness is not None
    assert {found.witness.dataset, found.witness.neighbour} == {(0,), (1,)}
    assert found.value == pytest.approx(1.0)


def test_as_many_hits_as_trials_have_no_tail() -> None:
    from liptest.privacy.samples.intervals import _tail_is_below

    assert not _tail_is_below(5, 5, 0.5, 0.9)
    assert _tail_is_below(1, 50, 0.5, 0.9)


class TestCheckerOfWitnesses:
    @pytest.mark.parametrize("row", [["1/2", "3/2", "0", "1"], ["0", "1", "1/2", "3/2"]])
    def test_more_than_1_is_no_probability(self, row: list[str]) -> None:
        with pytest.raises(check_witness.Unreadable, match="four numbers"):
            check_witness.masses({"event": [1], "bounds": [row], "unexplored": ["0", "0"]})

    @pytest.mark.parametrize(
        ("codes", "worst"), [((3, 2), 3), ((1, 3), 1), ((0, 2), 2), ((0, 3), 3), ((0, 0), 0)]
    )
    def test_the_worst_of_several_wins(
        self, codes: tuple[int, int], worst: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        told = iter([(code, "so") for code in codes])
        monkeypatch.setattr(check_witness, "_tell", lambda document: next(told))
        (tmp_path / "c.json").write_text('[{"certificate": 1}, {"certificate": 1}]')
        monkeypatch.setattr(check_witness, "VERSION", 1)
        assert check_witness.check_files([str(tmp_path / "c.json")]) == worst

    def test_a_probability_is_at_most_1(self) -> None:
        witness = {"event": [1], "bounds": [["3/4"] * 4], "unexplored": ["1/2", "0"]}
        (low, high), second = check_witness.masses(witness)
        assert (low, high, second) == (0.75, 1, (0.75, 0.75))

    def test_what_no_line_can_hold_is_escaped_whole(self) -> None:
        assert check_witness._printable("a\x1b[2J\nb") == "a\\x1b[2J\\nb"
        assert len(check_witness._printable("x" * 10**5)) == check_witness._LONGEST
