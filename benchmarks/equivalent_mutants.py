"""Mutations that nobody could see, by the reason: "file: function: old -> new".

Read ``benchmarks/mutants.py`` first. What only costs time, or is one of two ways to the same
answer, stands here as well as what changes no bit.
"""

from __future__ import annotations

_RENYI, _SCREEN, _TRADE = (
    "privacy/divergences/renyi.py",
    "privacy/divergences/screening.py",
    "privacy/divergences/tradeoff.py",
)
_COMPARE, _EXHAUST = "privacy/comparison.py", "privacy/proofs/exhaustive.py"
_SHIFT, _NOISE = "mechanisms/shift.py", "mechanisms/additive.py"
_CHECKER, _JUDGE, _REMEDY = (
    "evidence/check_witness.py",
    "privacy/judge.py",
    "privacy/wording/remedies.py",
)
_LAWS, _PROOF = "privacy/proofs/domain_laws.py", "privacy/proofs/proof.py"
_EXACT = "privacy/exact.py"
_FOUND, _WITNESS = "privacy/searches/refutation.py", "privacy/witnesses.py"

BY_REASON: dict[str, tuple[str, ...]] = {
    "the other direction of a pair, where both are compared": (
        f"{_COMPARE}: certify_comparison: "
        "mechanism.pair_hockey_stick(dataset, neighbour, epsilon) -> "
        "mechanism.pair_hockey_stick(neighbour, dataset, epsilon)",
        f"{_SHIFT}: _Shift.pair_loss: self._pair(dataset, neighbour) -> "
        "self._pair(neighbour, dataset)",
        f"{_SHIFT}: _Shift.pair_loss: self._pair(dataset, neighbour).certify_loss(0, 1) -> "
        "self._pair(dataset, neighbour).certify_loss(1, 0)",
        f"{_COMPARE}: _compare: _compare_exact(left, right, factor ** distance) -> "
        "_compare_exact(right, left, factor ** distance)",
        f"{_COMPARE}: _screen_divergences: "
        "laws.hockey_sticks(left[where], right[where], claim.threshold) -> "
        "laws.hockey_sticks(right[where], left[where], claim.threshold)",
        f"{_COMPARE}: enclose_loss: _worst(left, right) -> _worst(right, left)",
        f"{_COMPARE}: screen_pairs: laws.losses(left, right) -> laws.losses(right, left)",
        f"{_JUDGE}: LossJudge._certify: self.certify(x, y, key[2], keep_doubt=doubt is None) -> "
        "self.certify(y, x, key[2], keep_doubt=doubt is None)",
        f"{_JUDGE}: LossJudge._narrow: "
        "self._breaks(path.point(low), path.point(middle), middle - low) -> "
        "self._breaks(path.point(middle), path.point(low), middle - low)",
        f"{_FOUND}: _Search.try_pairs: judge.certify(left, right, keep_doubt=False) -> "
        "judge.certify(right, left, keep_doubt=False)",
        f"{_REMEDY}: _largest_loss: "
        "block.laws.has_uncertain_zeros(block.left, block.right) -> "
        "block.laws.has_uncertain_zeros(block.right, block.left)",
        f"{_SCREEN}: _find_rho: _divergence(p, q, b) -> _divergence(q, p, b)",
        f"{_SCREEN}: _find_rho: laws.screen_error(left, right) -> laws.screen_error(right, left)",
        f"{_SCREEN}: screen_orders: _divergence(p, q, order) -> _divergence(q, p, order)",
        f"{_WITNESS}: PrivacyWitness.changed: zip(self.dataset, self.neighbour, strict=True) -> "
        "zip(self.neighbour, self.dataset, strict=True)",
        f"{_RENYI}: OrderSearch.settle: _between(a, b) -> _between(b, a)",
    ),
    "the other direction of all pairs of a block": (
        f"{_EXACT}: largest_over: block.laws.losses(block.left, block.right) -> "
        "block.laws.losses(block.right, block.left)",
        f"{_EXACT}: largest_over: block.laws.has_uncertain_zeros(block.left, block.right) -> "
        "block.laws.has_uncertain_zeros(block.right, block.left)",
    ),
    "a sign with two equal sides": (
        f"{_NOISE}: two_sided_geometric: randbelow(2) == 1 -> randbelow(2) != 1",
        f"{_NOISE}: DiscreteGaussian.distinguishing_value: shift > 0 -> shift >= 0",
    ),
    "a term of 0, or an equality that both branches answer alike": (
        f"{_COMPARE}: screen_pairs: losses >= INFINITE_LOSS -> losses > INFINITE_LOSS",
        f"{_COMPARE}: _compare_delta: total > limit -> total >= limit",
        f"{_COMPARE}: _log_ratio: p_low > 0 -> p_low >= 0",
        f"{_RENYI}: OrderSearch._is_below: rest >= 0 -> rest > 0",
        f"{_COMPARE}: _hockey_stick: gap > 0 -> gap >= 0",
        f"{_RENYI}: OrderSearch._is_below: end <= bound -> end < bound",
        f"{_RENYI}: PairOrders.renyi: least > 0 -> least >= 0",
        f"{_RENYI}: refute_rho: search.best > bound -> search.best >= bound",
        f"{_SCREEN}: _find_rho: above > limit -> above >= limit",
        "privacy/divergences/quantiles.py: quantiles_of_logs: tail < _BREAK -> tail <= _BREAK",
        f"{_TRADE}: gaussian_quantile: below <= above -> below < above",
        f"{_TRADE}: _positive: gap >= 0 -> gap > 0",
        f"{_TRADE}: _positive: gap <= 0 -> gap < 0",
        f"{_TRADE}: _of_part: p > 0 -> p >= 0",
        f"{_TRADE}: _hull_bound: y.lower() > 0 -> y.lower() >= 0",
        f"{_EXHAUST}: WorstPairs._cut: self.best > self._certain -> self.best >= self._certain",
        f"{_EXHAUST}: WorstPairs._leaf: losses > min(self._watched, self._cut) -> "
        "losses >= min(self._watched, self._cut)",
        f"{_FOUND}: _Search.try_small_instances: worst.upper > claim.threshold -> "
        "worst.upper >= claim.threshold",
        f"{_COMPARE}: check_same_law: abs(open_before - open_now) <= _SAME_LAW -> "
        "abs(open_before - open_now) < _SAME_LAW",
        f"{_REMEDY}: _few_digits: allowed(short) >= value -> allowed(short) > value",
        f"{_SHIFT}: _Shift._window: count * self.noise.tail(middle) < _LEFT_OUT -> "
        "count * self.noise.tail(middle) <= _LEFT_OUT",
    ),
    "the other branch, or the next check, gives the same": (
        f"{_TRADE}: _of_part: p > 0 and outside > 0 -> p > 0 or outside > 0",
        f"{_TRADE}: _of_part: 1 - outside -> 2 - outside",
        # The quantile of a ball about 0 is not finite, which is asked next.
        f"{_TRADE}: _hull_bound: y_rest.lower() -> y_rest.upper()",
        f"{_EXHAUST}: _shift_block: places + len(left) -> places - len(left)",
        f"{_EXHAUST}: _shift_block: bits & -bits -> bits | -bits",
        f"{_EXHAUST}: _Windows.__init__: pick(last[:, :-width], last[:, width:]) -> "
        "pick(last[:, width:], last[:, :-width])",
        f"{_EXHAUST}: WorstPairs._leaf: rows >> 3 -> rows >> 4",
        f"{_EXHAUST}: _worst_blocks: -math.inf -> math.inf",
        f"{_JUDGE}: LossJudge.certify: distance > 1 -> distance >= 1",
        f"{_EXACT}: _check: np.zeros(0) -> np.zeros(1)",
        f"{_SCREEN}: _chord: b - 1 -> b + 1",
        f"{_RENYI}: OrderSearch._is_below: b - 1 -> b + 1",
        f"{_RENYI}: OrderSearch._is_below: "
        "all((end <= bound for end in ends)) or bool(high_b <= bound) -> "
        "all((end <= bound for end in ends)) and bool(high_b <= bound)",
        f"{_RENYI}: PairOrders.renyi: q.lower() -> q.upper()",
        f"{_COMPARE}: _find_unexplored: "
        "0.0 if laws.unexplored is None else float(laws.unexplored[row]) -> "
        "1.0 if laws.unexplored is None else float(laws.unexplored[row])",
        f"{_PROOF}: judge_block: np.zeros(0, np.int8) -> np.zeros(1, np.int8)",
        f"{_PROOF}: judge_block: Finding(np.zeros(0, np.int8), np.zeros(0, np.int8), 1) -> "
        "Finding(np.zeros(0, np.int8), np.zeros(0, np.int8), 2)",
        f"{_CHECKER}: log_bounds: Fraction(2) -> Fraction(3)",
    ),
    "rounding of certified ends far below what a float or a declared slack holds": (
        f"{_COMPARE}: _log_ratio: (p_low / q_high).log().lower() -> (p_low / q_high).log().upper()",
        f"{_COMPARE}: _loss_bounds: (low - high).lower() -> (low - high).upper()",
        f"{_COMPARE}: _loss_bounds: (left_high - right_low).max(right_high - left_low).upper() -> "
        "(left_high - right_low).max(right_high - left_low).lower()",
        f"{_RENYI}: PairOrders.renyi: "
        "(a * p.upper().log() - (a - 1) * q.lower().log()).exp().upper() -> "
        "(a * p.upper().log() - (a - 1) * q.lower().log()).exp().lower()",
        f"{_TRADE}: _of_part: (p + p_last.lower()).lower() -> (p + p_last.lower()).upper()",
        f"{_TRADE}: _hull_bound: mu.upper() -> mu.lower()",
        # Rounding to the nearest float, and one up, is above both ends.
        f"{_REMEDY}: _certify_stick: ball.upper() -> ball.lower()",
        f"{_REMEDY}: _stick: largest * (1 + len(laws.outputs) * 2.0 ** (-50)) -> "
        "largest / (1 + len(laws.outputs) * 2.0 ** (-50))",
        f"{_SCREEN}: _find_rho: np.maximum(worst, bounds / a) * (1 + _ROUNDING) -> "
        "np.maximum(worst, bounds / a) / (1 + _ROUNDING)",
        f"{_COMPARE}: check_same_law: np.maximum(laws.logs[place], -745.0) -> "
        "np.maximum(laws.logs[place], -746.0)",
        f"{_NOISE}: DiscreteGaussian.hockey_stick_at: 2 * last - 1 -> 2 * last - 2",
    ),
    "a margin of safety, larger or smaller by little": (
        f"{_COMPARE}: stick_error: 2 * slack -> 3 * slack",
        f"{_EXHAUST}: _worst_blocks: 2 * laws.error -> 3 * laws.error",
        f"{_WITNESS}: PrivacyWitness.least_delta: 2 ** 40 -> 2 ** 41",
        f"{_WITNESS}: PrivacyWitness.least_delta: Fraction(1, 2 ** 40) -> Fraction(2, 2 ** 40)",
        f"{_CHECKER}: exp_bounds: 2 * halvings -> 3 * halvings",
    ),
    "a budget, the size of a slice, or what is looked at first": (
        f"{_SCREEN}: _find_rho: steps + 1 -> steps + 2",
        f"{_SCREEN}: _find_rho: np.any(above > limit) -> np.all(above > limit)",
        f"{_PROOF}: _find_mass: size.pairs <= _FEW_PAIRS and (not size.through_statistic) -> "
        "size.pairs <= _FEW_PAIRS or not size.through_statistic",
        f"{_FOUND}: _Search.try_pairs: refused >= _REFUSED -> refused > _REFUSED",
        f"{_SCREEN}: _find_rho: max(4.0, 2 * top / limit) -> max(5.0, 2 * top / limit)",
        f"{_EXHAUST}: _iterate_pair_blocks: len(distinct) <= _MARKED_LAWS -> "
        "len(distinct) < _MARKED_LAWS",
        f"{_SHIFT}: _Shift._window: 2 * middle + 3 -> 2 * middle + 4",
        f"{_SHIFT}: ShiftMechanism.points_per_slice: 1 << 16 -> 1 << 17",
        f"{_FOUND}: _Search.try_pairs: refused + 1 -> refused - 1",
        f"{_LAWS}: _mark_by_blocks: max(1, _SLICE // blocks.shape[1]) -> "
        "min(1, _SLICE // blocks.shape[1])",
        f"{_REMEDY}: _list: outputs * len(block.left) -> outputs / len(block.left)",
        f"{_EXACT}: _check: -1 - int(np.abs(array.astype(np.float64)).max()) -> "
        "-2 - int(np.abs(array.astype(np.float64)).max())",
        f"{_CHECKER}: _sum_bounds: common.bit_length() > _COMMON_BITS -> "
        "common.bit_length() >= _COMMON_BITS",
        f"{_CHECKER}: _check_cost: abs(int(text.partition('e')[2])) // 2 -> "
        "abs(int(text.partition('e')[2])) // 3",
        f"{_CHECKER}: decide_event: first[0] -> first[1]",
        f"{_SHIFT}: _Shift._window: _MOST_LISTED - 1 -> _MOST_LISTED - 2",
        f"{_SHIFT}: _Shift._window: low, high = (0, (_MOST_LISTED - 1) // 2) -> "
        "low, high = (1, (_MOST_LISTED - 1) // 2)",
        f"{_SHIFT}: _Shift._window: (2 * middle + 3) ** count > _MOST_LISTED -> "
        "(2 * middle + 3) ** count >= _MOST_LISTED",
        f"{_COMPARE}: screen_batch: laws.rows is None -> laws.rows is not None",
        f"{_LAWS}: DistinctLaws._columns: len(self._factors) < len(self._outputs) -> "
        "len(self._factors) <= len(self._outputs)",
        f"{_LAWS}: DistinctLaws.pairs_per_slice: max(1, len(self._outputs)) -> "
        "max(2, len(self._outputs))",
        f"{_LAWS}: _mark_by_blocks: _SLICE // blocks.shape[1] -> _SLICE * blocks.shape[1]",
        f"{_EXHAUST}: WorstPairs.__init__: self._kept = 0 -> self._kept = 1",
        f"{_EXHAUST}: WorstPairs._count: self.best <= self._certain -> self.best < self._certain",
        f"{_EXHAUST}: WorstPairs._leaf: max(self.best, float(losses.max())) -> "
        "min(self.best, float(losses.max()))",
        f"{_EXHAUST}: WorstPairs._leaf: min(self._watched, self._cut) -> "
        "max(self._watched, self._cut)",
        f"{_EXHAUST}: WorstPairs._promise: -1.0 -> 1.0",
        f"{_EXHAUST}: WorstPairs._promise: len(inside) // 16 -> len(inside) * 16",
        f"{_EXHAUST}: WorstPairs._promise: len(inside) // 16 -> len(inside) // 17",
        f"{_EXHAUST}: edges_by_difference: edges <= FEW_EDGES -> edges < FEW_EDGES",
        f"{_EXHAUST}: edges_by_difference: "
        "edges <= FEW_EDGES or mechanism.source != 'declared' -> "
        "edges <= FEW_EDGES and mechanism.source != 'declared'",
        f"{_EXHAUST}: edges_by_difference: sets.top + 1 -> sets.top + 2",
        f"{_EXHAUST}: edges_by_difference: small and small <= MOST_ENTRIES -> "
        "small or small <= MOST_ENTRIES",
        "privacy/samples/intervals.py: clean_quantile: math.ceil(trials * mass) + 1 -> "
        "math.ceil(trials * mass) + 2",
        f"{_PROOF}: _find_mass: size.pairs <= _FEW_PAIRS -> size.pairs < _FEW_PAIRS",
        f"{_FOUND}: _Search.try_pairs: judge.certify(left, right, keep_doubt=False) -> "
        "judge.certify(left, right, keep_doubt=True)",
        f"{_FOUND}: _Search.try_pairs: refused + 1 -> refused + 2",
        f"{_REMEDY}: _slices: max(1, _SLICE // max(1, outputs)) -> "
        "min(1, _SLICE // max(1, outputs))",
        f"{_REMEDY}: find_remedy: size.visits(claim) > _FEW_PAIRS -> "
        "size.visits(claim) >= _FEW_PAIRS",
        f"{_RENYI}: OrderSearch.settle: Fraction(64) -> Fraction(65)",
        f"{_RENYI}: _between: a * b -> a / b",
        f"{_RENYI}: refute_rho: (10, 20, 30, 40) if search.order == 1 else () -> "
        "(10, 20, 30, 41) if search.order == 1 else ()",
        f"{_RENYI}: refute_rho: 2 ** bits -> 3 ** bits",
        f"{_SCREEN}: _find_rho: last - 1 -> last - 2",
        f"{_SCREEN}: _find_rho: min(max(4.0, 2 * top / limit), _LAST) -> "
        "max(max(4.0, 2 * top / limit), _LAST)",
        f"{_SCREEN}: _find_rho: "
        "np.nanmax(np.where(np.isfinite(bounds), bounds, 0.0), initial=0.0) -> "
        "np.nanmax(np.where(np.isfinite(bounds), bounds, 0.0), initial=1.0)",
        f"{_SCREEN}: _slices: max(1, _ENTRIES // max(1, laws.logs.shape[1])) -> "
        "min(1, _ENTRIES // max(1, laws.logs.shape[1]))",
        f"{_SCREEN}: _slices: max(1, laws.logs.shape[1]) -> max(2, laws.logs.shape[1])",
        f"{_WITNESS}: PrivacyWitness.least_delta: any(map(_is_tiny, texts)) -> "
        "all(map(_is_tiny, texts))",
    ),
    "which numbers hash laws": (
        f"{_LAWS}: _keys: np.uint64(29) -> np.uint64(30)",
        f"{_LAWS}: _keys: bits >> np.uint64(29) -> bits << np.uint64(29)",
        f"{_LAWS}: _draw_factors: np.uint64(31) -> np.uint64(32)",
    ),
    "a loss is never just the stand-in for infinity: a log of 0 less than one of a probability": (
        f"{_SCREEN}: largest_losses: losses >= INFINITE_LOSS -> losses > INFINITE_LOSS",
    ),
    "the ends meet a little later, and the pairs are visited": (
        "privacy/exact.py: ExactMeasure.ends_meet: 1 + _MEET -> 1 - _MEET",
    ),
    "the size of a slice": (
        "privacy/proofs/domain_laws.py: DistinctLaws.pairs_per_slice: SLICE_BYTES // (8 * "
        "max(1, len(self._outputs))) -> SLICE_BYTES * (8 * max(1, len(self._outputs)))",
        "privacy/proofs/domain_laws.py: DistinctLaws.pairs_per_slice: max(64, SLICE_BYTES // "
        "(8 * max(1, len(self._outputs)))) -> max(65, SLICE_BYTES // (8 * max(1, "
        "len(self._outputs))))",
        "mechanisms/shift.py: VectorShift.points_per_slice: 1 << 14 -> 2 << 14",
    ),
    "one more term, and less rest": (
        f"{_NOISE}: DiscreteGaussian._hockey_stick: self._last(turn, 64) -> self._last(turn, 65)",
        "mechanisms/additive.py: DiscreteGaussian._last: -math.isqrt(top ** 2 + "
        "math.ceil(self._double * bits)) - 1 -> -math.isqrt(top ** 2 + "
        "math.ceil(self._double * bits)) - 2",
    ),
    "more factors than are taken": (
        "privacy/proofs/domain_laws.py: _factors: count - 1 -> count + 1",
    ),
    "one more bit than is needed": (
        "evidence/check_witness.py: exp_bounds: bits + 2 * halvings + 32 -> bits + 2 * "
        "halvings + 33",
    ),
    "a budget": (
        f"{_COMPARE}: _compute_anew: len(known) >= _KEPT -> len(known) > _KEPT",
        f"{_SCREEN}: _find_rho: last - 1 -> last + 1",
        "privacy/proofs/exhaustive.py: exhaustive_size: domain.size > _FEW_POINTS -> "
        "domain.size >= _FEW_POINTS",
        "privacy/proofs/exhaustive.py: laws_by_position: (sets.top + 1) * len(outputs) > "
        "MOST_ENTRIES -> (sets.top + 1) * len(outputs) >= MOST_ENTRIES",
    ),
    "twice what both roundings can be, or just that": (
        "privacy/samples/intervals.py: binomial_lower: 2.0 ** (-52) -> 2.0 ** (-53)",
    ),
    "a slack, whose own end may be on either side": (
        "privacy/comparison.py: check_same_law: before > now + open_now + _SAME_LAW -> "
        "before >= now + open_now + _SAME_LAW",
    ),
    "a budget: at just this many edges both ways are right": (
        f"{_EXHAUST}: check_affordable: size.pairs > _MOST_PAIRS -> size.pairs >= _MOST_PAIRS",
        "privacy/proofs/exhaustive.py: exhaustive_size: count <= EDGE_BUDGET -> count < "
        "EDGE_BUDGET",
    ),
    "one more column that no window holds": (
        "privacy/proofs/exhaustive.py: WorstPairs._segment: int(rows[-1]) + high + 1 -> "
        "int(rows[-1]) + high + 2",
    ),
    "one more width that no window has": (
        "privacy/proofs/exhaustive.py: WorstPairs._segment: high - low + 1 -> high - low + 2",
    ),
    "the sum is cut after as many nats, which are 1.44 bits each: enough either way": (
        "mechanisms/additive.py: DiscreteGaussian.hockey_stick_at: ctx.prec + "
        "_SPARE_BITS -> ctx.prec - _SPARE_BITS",
    ),
    "any scale above 0 gives the same law, at another speed": (
        "mechanisms/additive.py: DiscreteGaussian.draw: math.floor(self.sigma) + 1 -> "
        "math.floor(self.sigma) + 2",
    ),
    "where all trials are hits the bisection ends at 1, too": (
        "privacy/samples/intervals.py: binomial_upper: hits >= trials -> hits > trials",
    ),
    "a tie, whose first or last corner is shown": (
        f"{_TRADE}: largest_of_corners: mu.lower() > best.lower -> mu.lower() >= best.lower",
    ),
    "noise is symmetric about 0": (
        f"{_SHIFT}: _Shift.pair_witness: zip(numbers, values, strict=True) -> "
        "zip(values, numbers, strict=True)",
    ),
    "z is 1/3 at most either way, and both sums are bounds": (
        f"{_CHECKER}: log_bounds: Fraction(2) ** twos > value -> Fraction(2) ** twos >= value",
    ),
    "no loss is known to be harmful at so large a mu": (
        f"{_SCREEN}: harmless_loss: math.nextafter(loss, 0.0) if math.isfinite(loss) else 0.0 -> "
        "math.nextafter(loss, 0.0) if math.isfinite(loss) else 1.0",
    ),
    "what is tried first, or how often: another way to a valid answer": (
        f"{_RENYI}: refute_rho: (10, 20, 30, 40) if search.order == 1 else () -> "
        "(11, 20, 30, 40) if search.order == 1 else ()",
        f"{_RENYI}: enclose_rho: (gap, 1e-06, 0.001) if largest.is_finite() else () -> "
        "(gap, 1.000001, 0.001) if largest.is_finite() else ()",
        f"{_RENYI}: OrderSearch.settle: Fraction(2) -> Fraction(3)",
        f"{_RENYI}: OrderSearch.settle: len(self.seen) > most -> len(self.seen) >= most",
        f"{_COMPARE}: enclose_loss: _PRECISIONS[0] -> _PRECISIONS[1]",
        f"{_FOUND}: _Search.try_small_instances: not size.possible or size.laws > DATASETS -> "
        "not size.possible and size.laws > DATASETS",
        f"{_EXACT}: _enclose: min(max(lower * (1 - 1e-06), 1e-300), 1000000.0) -> "
        "min(max(lower * (1 - 1e-06), 1e-300), 1000001.0)",
        f"{_CHECKER}: StatedClaim.size: Fraction(0) -> Fraction(1)",
    ),
    "what has no finite bound stays without one, whatever the slack": (
        f"{_SCREEN}: _slack: np.where(np.isfinite(bounds), bounds, 0.0) -> "
        "np.where(np.isfinite(bounds), bounds, 1.0)",
    ),
    "a margin far above what rounding is": (
        f"{_SCREEN}: _find_rho: 1 + _ROUNDING -> 1 - _ROUNDING",
    ),
    "any number below 0 stands for the length that is left": (
        f"{_LAWS}: _block_pairs: which.reshape(-1, domain.sizes[axis], "
        "int(domain.strides[axis]) // inner) -> which.reshape(-2, domain.sizes[axis], "
        "int(domain.strides[axis]) // inner)",
        f"{_EXACT}: _block: ends.reshape(-1, ends.shape[2]) -> ends.reshape(-2, ends.shape[2])",
    ),
    "of a probability and its complement the smaller one counts, and this is the larger one": (
        f"{_TRADE}: _hull_bound: t * x -> t / x",
        f"{_TRADE}: _hull_bound: 1 - bottom -> 1 + bottom",
        f"{_TRADE}: _of_part: 1 - outside -> 1 + outside",
        f"{_TRADE}: mu_of_corners: arb(1) -> arb(2)",
    ),
    "noise is symmetric, and so is what a shift of it costs": (
        f"{_SHIFT}: _Shift.pair_hockey_stick: self._pair(dataset, neighbour)"
        ".certify_hockey_stick(0, 1, epsilon) -> self._pair(dataset, neighbour)"
        ".certify_hockey_stick(1, 0, epsilon)",
        f"{_SHIFT}: ShiftTable.hockey_sticks: self._shifts(left, right) -> "
        "self._shifts(right, left)",
        f"{_SHIFT}: ShiftTable.certify_loss: self._shifts(left, right) -> "
        "self._shifts(right, left)",
        f"{_EXACT}: _neighbours: domain.distance(left, right) -> domain.distance(right, left)",
    ),
    "both sides are equal only as numbers that balls with a factor e^epsilon never are": (
        f"{_WITNESS}: _largest_gaps: total > limit -> total >= limit",
        f"{_RENYI}: OrderSearch._is_below: psi_a <= bound * low * (low - 1) -> "
        "psi_a < bound * low * (low - 1)",
    ),
    "an order that nobody asks for: the divergence is 0 at all, or infinite": (
        f"{_RENYI}: enclose_rho: Fraction(1) -> Fraction(2)",
    ),
    "pairs that do not pass the line, which are looked at or not": (
        f"{_EXHAUST}: WorstPairs.blocks: min(self._watched, self._cut) -> "
        "max(self._watched, self._cut)",
    ),
    "one term of 0 more": (f"{_COMPARE}: _exact_stick: gap > 0 -> gap >= 0",),
    "the size of a slice or of a chunk": (
        f"{_LAWS}: DomainLaws._chunk_points: 16 * self.mechanism.points_per_slice(self.domain) -> "
        "17 * self.mechanism.points_per_slice(self.domain)",
        # Chunks beyond the end are empty.
        f"{_LAWS}: DomainLaws.parts: self.domain.size / self._chunk_points -> "
        "self.domain.size * self._chunk_points",
        f"{_LAWS}: DomainLaws._chunk_points: self.domain.size / _CHUNKS -> "
        "self.domain.size * _CHUNKS",
        f"{_SCREEN}: _slices: max(1, _ENTRIES // max(1, laws.logs.shape[1])) -> "
        "max(2, _ENTRIES // max(1, laws.logs.shape[1]))",
    ),
    "one bit more": (f"{_CHECKER}: exp_bounds: 1 << p -> 2 << p",),
    "more digits than the answer needs": (
        f"{_COMPARE}: compare_laws: result.answer is not Answer.DOUBT or not "
        "_is_exact(left, right) -> result.answer is not Answer.DOUBT and "
        "(not _is_exact(left, right))",
    ),
    "0 and 1 are both exponents that a number may have": (
        f"{_CHECKER}: read_rational: text.partition('e')[2] or 0 -> text.partition('e')[2] or 1",
    ),
    "bisection from the other end: a violated pair of neighbours, too": (
        f"{_JUDGE}: LossJudge.certify: self._narrow(x, y, distance) -> "
        "self._narrow(y, x, distance)",
    ),
    "a budget of pairs": (
        f"{_REMEDY}: _of_partial: sum((len(block.left) for block in blocks)) > _FEW_PARTIAL -> "
        "sum((len(block.left) for block in blocks)) >= _FEW_PARTIAL",
    ),
    "of all trials the tail is 1": (
        "privacy/samples/intervals.py: _tail_is_below: hits >= trials -> hits > trials",
    ),
    "an end that is farther out: more steps of a bisection": (
        "privacy/samples/intervals.py: clean_quantile: trials * mass -> trials / mass",
    ),
    "what is cut off is above 0 only where its factor is 0": (
        f"{_NOISE}: DiscreteLaplace.hockey_stick: np.minimum(gap + (turn + 1) / scale, 0.0) -> "
        "np.minimum(gap + (turn + 1) / scale, 1.0)",
    ),
    "which half is searched first": (
        f"{_EXHAUST}: WorstPairs._promise: self._bounds(windows, few, a, b).max(initial=-1.0) -> "
        "self._bounds(windows, few, a, b).min(initial=-1.0)",
    ),
    "less than the radius of a ball is rounded up by": (
        f"{_NOISE}: DiscreteGaussian.hockey_stick_at: rest.upper() -> rest.lower()",
    ),
    "no log is just -1e299": (
        "privacy/divergences/quantiles.py: _log_sums: logs <= -INFINITE_LOSS -> logs < "
        "-INFINITE_LOSS",
    ),
    "as -1, any number below 0 is the length that is left": (
        f"{_LAWS}: _mark_by_blocks: distinct.reshape(-1, domain.sizes[axis], "
        "int(domain.strides[axis])) -> distinct.reshape(-2, domain.sizes[axis], "
        "int(domain.strides[axis]))",
    ),
    "a ball that is not just one float": (
        "privacy/samples/intervals.py: _tail_is_below: tail <= arb(failure) -> tail < arb(failure)",
    ),
    "an error of a pair, which is the same in both orders": (
        f"{_REMEDY}: _stick: laws.screen_error(left, right) -> laws.screen_error(right, left)",
    ),
    "a row that no part has": (f"{_JUDGE}: LossJudge.judge_piece: counted = -1 -> counted = -2",),
    "used only where all of them are finite": (
        f"{_SCREEN}: _find_rho: np.where(np.isfinite(bounds), bounds, 0.0) -> "
        "np.where(np.isfinite(bounds), bounds, 1.0)",
    ),
    "at 0 the quantile is infinite, and so is the bound": (
        f"{_TRADE}: _hull_bound: middle > bottom * (1 + _SAME_RATIO) -> "
        "middle >= bottom * (1 + _SAME_RATIO)",
        f"{_TRADE}: _hull_bound: x.lower() > 0 and y_rest.lower() > 0 and (y.lower() > 0) and "
        "(x_rest.lower() > 0) -> x.lower() > 0 or y_rest.lower() > 0 or y.lower() > 0 or "
        "(x_rest.lower() > 0)",
        f"{_TRADE}: _hull_bound: x_rest.lower() > 0 -> x_rest.lower() >= 0",
        f"{_TRADE}: _hull_bound: middle < cuts[-1] * (1 - _SAME_RATIO) -> "
        "middle <= cuts[-1] * (1 - _SAME_RATIO)",
    ),
    "the number in the middle is the same, whichever is clipped": (
        f"{_SCREEN}: _chord: np.clip(np.where(np.isfinite(turn), turn, a), a, b) -> "
        "np.clip(a, np.where(np.isfinite(turn), turn, a), b)",
    ),
    "a tie, which both sides decide alike": (
        "privacy/divergences/quantiles.py: quantiles_of_logs: tail < _FAR -> tail <= _FAR",
        f"{_EXHAUST}: WorstPairs.blocks: losses > min(self._watched, self._cut) -> "
        "losses >= min(self._watched, self._cut)",
    ),
    "a bound that is larger: sound, and shown later": (
        f"{_RENYI}: OrderSearch._is_below: high - 1 -> high + 1",
    ),
    "one more law is checked": (f"{_JUDGE}: LossJudge.judge_piece: first + row -> first - row",),
}
