"""Programs as data engineers type them, in other spellings than those of benchmarks/everyday.py."""

# Nobody's notebook is tidy.
# ruff: noqa: B905
# ruff: noqa: SIM300

from __future__ import annotations

import heapq
import itertools
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

import liptest as lt

YES, NO = "YES", "NO"
#: By name: the program, its domain, the decision that is right, epsilon and delta.
SPELLED: dict[str, tuple[Callable[..., Any], Callable[[], Any], str, float, float]] = {}


def spelled(
    domain: Callable[[], Any], expected: str = YES, epsilon: float = 1.0, delta: float = 0.0
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a program in the list."""

    def enter(program: Callable[..., Any]) -> Callable[..., Any]:
        SPELLED[program.__name__] = program, domain, expected, epsilon, delta
        return program

    return enter


def bits() -> Any:
    return lt.Hypercube(5_000)


def groups() -> Any:
    return lt.RecordGrid([8] * 10_000)


def ages() -> Any:
    return lt.RecordGrid([101] * 20_000)


def answers() -> Any:
    return lt.Answers(50)


@spelled(bits)
def count_if_generator(data: Any, rng: Any) -> Any:
    return sum(1 for x in data if x) + rng.laplace(scale=1.0)


@spelled(bits, NO)
def count_rounded_before(data: Any, rng: Any) -> Any:
    n = sum(1 for x in data if x == 1)
    return round(n + rng.laplace(0, 1 / 2))


@spelled(ages)
def count_over_65_list(data: Any, rng: Any) -> Any:
    old = [a for a in data if a >= 65]
    return len(old) + rng.laplace(0, 1)


@spelled(ages, NO)
def fraction_over_65_of_adults(data: Any, rng: Any) -> Any:
    adults = [a for a in data if a >= 18]
    old = [a for a in adults if a >= 65]
    return len(old) / len(adults) + rng.laplace(0, 1 / len(adults))


@spelled(ages)
def ratio_of_noisy(data: Any, rng: Any) -> Any:
    adults = np.sum(data >= 18) + rng.laplace(0, 2)
    old = np.sum(data >= 65) + rng.laplace(0, 2)
    return old / max(adults, 1.0)


@spelled(bits)
def count_map_filter(data: Any, rng: Any) -> Any:
    return len(list(filter(lambda x: x == 1, data))) + rng.laplace(0, 1)


@spelled(bits)
def count_tolist_count(data: Any, rng: Any) -> Any:
    return data.tolist().count(1) + rng.laplace(0, 1)


@spelled(groups)
def count_isin(data: Any, rng: Any) -> Any:
    return int(np.isin(data, [1, 3, 5]).sum()) + rng.laplace(0, 1)


@spelled(ages)
def mean_np_average(data: Any, rng: Any) -> Any:
    clipped = np.clip(data, 0, 100)
    return float(np.average(clipped) + rng.laplace(0, 100 / data.size))


@spelled(ages)
def mean_noisy_sum_over_noisy_count(data: Any, rng: Any) -> Any:
    s = sum(min(a, 90) for a in data if a >= 18) + rng.laplace(0, 2 * 90)
    c = sum(1 for a in data if a >= 18) + rng.laplace(0, 2)
    return s / c if c > 1 else 0.0


@spelled(ages)
def variance_two_moments(data: Any, rng: Any) -> Any:
    x = np.clip(data, 0, 100) / 100
    m1 = x.sum() + rng.laplace(0, 2)
    m2 = (x**2).sum() + rng.laplace(0, 2)
    n = len(data)
    return float(m2 / n - (m1 / n) ** 2)


@spelled(ages, NO)
def std_with_mean_noise(data: Any, rng: Any) -> Any:
    return float(np.std(data) + rng.laplace(0, 1 / len(data)))


@spelled(groups)
def hist_counter_loop(data: Any, rng: Any) -> Any:
    counts = Counter(data.tolist())
    out = {}
    for g in range(8):
        out[g] = counts[g] + rng.laplace(0, 2)
    return out


@spelled(groups)
def hist_counter_get(data: Any, rng: Any) -> Any:
    counts = Counter(data.tolist())
    return {g: counts.get(g, 0) + rng.laplace(0, 2) for g in range(8)}


@spelled(groups, NO)
def hist_counter_items(data: Any, rng: Any) -> Any:
    counts = Counter(data.tolist())
    return {k: v + rng.laplace(0, 2) for k, v in counts.items()}


@spelled(groups)
def hist_defaultdict(data: Any, rng: Any) -> Any:
    counts = defaultdict(int)
    for v in data.tolist():
        counts[v] += 1
    return [counts[g] + rng.laplace(0, 2) for g in range(8)]


@spelled(groups)
def hist_dict_fromkeys(data: Any, rng: Any) -> Any:
    counts = dict.fromkeys(range(8), 0)
    for v in data:
        counts[int(v)] += 1
    return {k: c + rng.laplace(0, 2) for k, c in counts.items()}


@spelled(groups)
def hist_list_index(data: Any, rng: Any) -> Any:
    counts = [0] * 8
    for v in data:
        counts[v] += 1
    return [c + rng.laplace(0, 2.0) for c in counts]


@spelled(ages)
def hist_np_histogram_bins(data: Any, rng: Any) -> Any:
    counts, edges = np.histogram(data, bins=[0, 18, 30, 45, 65, 101])
    return dict(zip(edges[:-1].tolist(), (counts + rng.laplace(0, 2, len(counts))).tolist()))


@spelled(ages)
def hist_np_histogram_range(data: Any, rng: Any) -> Any:
    counts, _edges = np.histogram(data, bins=10, range=(0, 100))
    return [max(0, round(c)) for c in counts + rng.laplace(0, 2, 10)]


@spelled(ages, NO)
def hist_np_histogram_auto(data: Any, rng: Any) -> Any:
    counts, edges = np.histogram(data, bins=10)
    return (counts + rng.laplace(0, 2, 10)).tolist(), edges.tolist()


@spelled(ages)
def hist_decades(data: Any, rng: Any) -> Any:
    counts = np.bincount(data // 10, minlength=11)
    return (counts + rng.laplace(0, 2, size=11)).tolist()


@spelled(ages)
def hist_digitize(data: Any, rng: Any) -> Any:
    idx = np.digitize(data, [18, 30, 45, 65])
    return [int((idx == b).sum()) + rng.laplace(0, 2) for b in range(5)]


@spelled(ages)
def quantile_loop(data: Any, rng: Any) -> Any:
    target = len(data) / 2
    acc = 0.0
    for v in range(101):
        acc += (data == v).sum() + rng.laplace(0, 2)
        if acc >= target:
            return v
    return 100


@spelled(ages, NO)
def median_np(data: Any, rng: Any) -> Any:
    return float(np.median(data) + rng.laplace(0, 1))


@spelled(ages, NO)
def median_sorted(data: Any, rng: Any) -> Any:
    s = sorted(data)
    return s[len(s) // 2] + rng.laplace(0, 1)


@spelled(ages, NO)
def percentile_np(data: Any, rng: Any) -> Any:
    return float(np.percentile(data, 95)) + rng.laplace(0, 1)


@spelled(ages)
def median_range_scaled(data: Any, rng: Any) -> Any:
    return float(np.median(data)) + rng.laplace(0, 100)


@spelled(ages)
def max_range_scaled(data: Any, rng: Any) -> Any:
    return int(data.max()) + rng.laplace(0, 100)


@spelled(ages, NO)
def max_small(data: Any, rng: Any) -> Any:
    return int(max(data)) + rng.laplace(0, 1)


@spelled(ages, NO)
def trimmed_mean(data: Any, rng: Any) -> Any:
    s = np.sort(data)[100:-100]
    return float(s.mean() + rng.laplace(0, 100 / (100 * len(s))))


@spelled(groups)
def noisy_max_python(data: Any, rng: Any) -> Any:
    counts = Counter(data.tolist())
    return max(range(8), key=lambda g: counts[g] + rng.laplace(0, 2))


@spelled(groups, NO)
def most_common_noisy_count(data: Any, rng: Any) -> Any:
    value, count = Counter(data.tolist()).most_common(1)[0]
    return value, count + rng.laplace(0, 1)


@spelled(groups)
def top3_argsort(data: Any, rng: Any) -> Any:
    noisy = np.bincount(data, minlength=8) + rng.laplace(0, 2, size=8)
    return np.argsort(noisy)[::-1][:3].tolist()


@spelled(groups)
def top3_sorted(data: Any, rng: Any) -> Any:
    counts = np.bincount(data, minlength=8)
    noisy = {g: counts[g] + rng.laplace(0, 2) for g in range(8)}
    return sorted(noisy, key=noisy.get, reverse=True)[:3]


@spelled(groups)
def top3_heapq(data: Any, rng: Any) -> Any:
    noisy = [(c + rng.laplace(0, 2), g) for g, c in enumerate(np.bincount(data, minlength=8))]
    return [g for _, g in heapq.nlargest(3, noisy)]


@spelled(groups, NO)
def top_true_count(data: Any, rng: Any) -> Any:
    counts = np.bincount(data, minlength=8)
    best = int(np.argmax(counts + rng.laplace(0, 2, size=8)))
    return best, int(counts[best])


@spelled(groups)
def top_then_fresh_noise(data: Any, rng: Any) -> Any:
    counts = np.bincount(data, minlength=8)
    best = np.argmax(counts + rng.laplace(0, 4, size=8))
    return int(best), float(counts[best] + rng.laplace(0, 2))


@spelled(groups, NO)
def top_then_too_little_noise(data: Any, rng: Any) -> Any:
    counts = np.bincount(data, minlength=8)
    best = np.argmax(counts + rng.laplace(0, 4, size=8))
    return int(best), float(counts[best] + rng.laplace(0, 0.5))


@spelled(groups)
def threshold_dict(data: Any, rng: Any) -> Any:
    counts = Counter(data.tolist())
    noisy = {g: counts[g] + rng.laplace(0, 2) for g in range(8)}
    return {k: v for k, v in noisy.items() if v > 20}


@spelled(groups)
def threshold_dict_loop(data: Any, rng: Any) -> Any:
    counts = Counter(data.tolist())
    result = {}
    for g in range(8):
        v = counts.get(g, 0) + rng.laplace(0, 2)
        if v >= 20:
            result[g] = round(v)
    return result


@spelled(groups)
def threshold_filter(data: Any, rng: Any) -> Any:
    noisy = {g: float(np.sum(data == g)) + rng.laplace(0, 2) for g in range(8)}
    return dict(filter(lambda kv: kv[1] > 20, noisy.items()))


@spelled(groups)
def threshold_pop(data: Any, rng: Any) -> Any:
    noisy = {g: float(np.sum(data == g)) + rng.laplace(0, 2) for g in range(8)}
    for g in list(noisy):
        if noisy[g] < 20:
            del noisy[g]
    return noisy


@spelled(groups, delta=1e-6)
def threshold_counter_items(data: Any, rng: Any) -> Any:
    counts = Counter(data.tolist())
    noisy = {k: v + rng.laplace(0, 2) for k, v in counts.items()}
    return {k: v for k, v in noisy.items() if v > 50}


@spelled(groups, NO, delta=1e-6)
def threshold_counter_low(data: Any, rng: Any) -> Any:
    counts = Counter(data.tolist())
    noisy = {k: v + rng.laplace(0, 2) for k, v in counts.items()}
    return {k: v for k, v in noisy.items() if v > 2}


@spelled(groups, delta=1e-6)
def threshold_counter_comp(data: Any, rng: Any) -> Any:
    return {k: n for k, c in Counter(data.tolist()).items() if (n := c + rng.laplace(0, 2)) > 50}


@spelled(groups, NO)
def threshold_true_counts(data: Any, rng: Any) -> Any:
    counts = Counter(data.tolist())
    return {g: counts[g] + rng.laplace(0, 2) for g in range(8) if counts[g] > 20}


@spelled(groups)
def threshold_mask_where(data: Any, rng: Any) -> Any:
    noisy = np.bincount(data, minlength=8) + rng.laplace(0, 2, 8)
    keep = np.flatnonzero(noisy > 20)
    return keep.tolist(), noisy[keep].tolist()


@spelled(answers)
def svt_enumerate(answers: Any, rng: Any) -> Any:
    t = 10 + rng.laplace(0, 2)
    for i, a in enumerate(answers):
        if a + rng.laplace(0, 4) > t:
            return i
    return None


@spelled(answers, NO)
def svt_no_query_noise(answers: Any, rng: Any) -> Any:
    t = rng.laplace(0, 2)
    return [bool(a >= t) for a in answers]


@spelled(bits)
def local_flip_xor(data: Any, rng: Any) -> Any:
    flips = rng.random(len(data)) < 1 / (1 + math.e)
    return np.logical_xor(data, flips).astype(int).tolist()


@spelled(bits)
def local_comprehension(data: Any, rng: Any) -> Any:
    p = math.e / (1 + math.e)
    return [int(x) if rng.random() < p else 1 - int(x) for x in data]


@spelled(groups)
def local_sum_of_reports(data: Any, rng: Any) -> Any:
    keep = rng.random(len(data)) < (math.e - 1) / (math.e + 7)
    reports = np.where(keep, data, rng.integers(0, 8, size=len(data)))
    return np.bincount(reports, minlength=8).tolist()


@spelled(bits)
def local_laplace(data: Any, rng: Any) -> Any:
    return (data + rng.laplace(0, 1, size=len(data))).mean()


@spelled(groups)
def local_unary(data: Any, rng: Any) -> Any:
    onehot = np.eye(8)[data]
    p = math.exp(0.5) / (1 + math.exp(0.5))
    keep = rng.random(onehot.shape) < p
    return np.where(keep, onehot, 1 - onehot).tolist()


@spelled(groups)
def accumulate_prefix(data: Any, rng: Any) -> Any:
    noisy = [int((data == g).sum()) + rng.laplace(0, 2) for g in range(8)]
    return list(itertools.accumulate(noisy))


@spelled(groups, NO)
def prefix_then_noise(data: Any, rng: Any) -> Any:
    counts = [int((data == g).sum()) for g in range(8)]
    return [c + rng.laplace(0, 2) for c in itertools.accumulate(counts)]


@spelled(groups)
def normalised_histogram(data: Any, rng: Any) -> Any:
    noisy = np.maximum(np.bincount(data, minlength=8) + rng.laplace(0, 2, 8), 0)
    total = noisy.sum()
    return (noisy / total).tolist() if total > 0 else [1 / 8] * 8


@spelled(ages, NO)
def minmax_scaling(data: Any, rng: Any) -> Any:
    lo, hi = data.min(), data.max()
    if hi == lo:
        return 0.0
    x = (data - lo) / (hi - lo)
    return float(x.sum() + rng.laplace(0, 1))


@spelled(bits, NO)
def seeded_noise(data: Any, rng: Any) -> Any:
    r = np.random.default_rng(0)
    return int(data.sum()) + r.laplace(0, 1)


@spelled(bits, NO)
def noise_scale_from_data(data: Any, rng: Any) -> Any:
    return data.mean() + rng.laplace(0, data.std() / len(data) + 1e-9)


@spelled(bits)
def released_if_large(data: Any, rng: Any) -> Any:
    noisy = data.sum() + rng.laplace(0, 1)
    return float(noisy) if noisy > 100 else None


@spelled(bits, NO)
def fewer_than_ten_suppressed(data: Any, rng: Any) -> Any:
    n = int(data.sum())
    if n < 10:
        return "suppressed"
    return n + rng.laplace(0, 1)


@spelled(groups)
def clamp_max_float(data: Any, rng: Any) -> Any:
    noisy = np.bincount(data, minlength=8) + rng.laplace(0, 2, 8)
    return [max(0, c) for c in noisy]


@spelled(lambda: lt.RecordGrid([40] * 10_000))
def clamp_max_float_forty(data: Any, rng: Any) -> Any:
    noisy = np.bincount(data, minlength=40) + rng.laplace(0, 2, 40)
    return {i: max(0.0, float(c)) for i, c in enumerate(noisy)}


@spelled(groups)
def clamp_then_divide(data: Any, rng: Any) -> Any:
    noisy = [max(0, c + rng.laplace(0, 2)) for c in np.bincount(data, minlength=8)]
    total = sum(noisy)
    return [c / total for c in noisy] if total > 0 else None


@spelled(groups)
def clamp_min_max_int(data: Any, rng: Any) -> Any:
    return [
        min(max(0, round(c + rng.laplace(0, 2))), len(data)) for c in np.bincount(data, minlength=8)
    ]


@spelled(groups, delta=1e-6)
def thr_loop_items(data: Any, rng: Any) -> Any:
    out = {}
    for k, c in Counter(data.tolist()).items():
        noisy = c + rng.laplace(0, 2)
        if noisy > 50:
            out[k] = noisy
    return out


@spelled(groups, delta=1e-6)
def thr_loop_keys(data: Any, rng: Any) -> Any:
    counts = Counter(data)
    out = {}
    for k in counts:
        noisy = counts[k] + rng.laplace(0, 2)
        if noisy >= 50:
            out[int(k)] = round(noisy)
    return out


@spelled(groups, delta=1e-6)
def thr_two_loops(data: Any, rng: Any) -> Any:
    counts = Counter(data.tolist())
    noisy = {}
    for k, c in counts.items():
        noisy[k] = c + rng.laplace(0, 2)
    out = {}
    for k in noisy:
        if 50 < noisy[k]:
            out[k] = noisy[k]
    return out


@spelled(groups, NO, delta=1e-6)
def thr_list_of_items(data: Any, rng: Any) -> Any:
    return [(k, n) for k, c in Counter(data.tolist()).items() if (n := c + rng.laplace(0, 2)) > 50]


@spelled(groups, NO, delta=1e-6)
def thr_noise_shared(data: Any, rng: Any) -> Any:
    z = rng.laplace(0, 2)
    return {k: c + z for k, c in Counter(data.tolist()).items() if c + z > 50}


@spelled(groups, NO, delta=1e-6)
def thr_true_values(data: Any, rng: Any) -> Any:
    return {k: c for k, c in Counter(data.tolist()).items() if c + rng.laplace(0, 2) > 50}


@spelled(ages, delta=1e-6)
def thr_decades(data: Any, rng: Any) -> Any:
    counts = Counter(a // 10 for a in data.tolist())
    noisy = {f"{10 * d}s": c + rng.laplace(0, 2) for d, c in counts.items()}
    return {k: v for k, v in noisy.items() if v >= 50}


@spelled(ages, delta=1e-6)
def thr_defaultdict(data: Any, rng: Any) -> Any:
    counts = defaultdict(int)
    for a in data:
        counts[int(a) // 10] += 1
    noisy = {k: v + rng.normal(0, 6) for k, v in counts.items()}
    return {k: round(v) for k, v in noisy.items() if v > 80}


@spelled(groups, delta=1e-6)
def thr_unique_dict(data: Any, rng: Any) -> Any:
    values, counts = np.unique(data, return_counts=True)
    noisy = {v: c + rng.laplace(0, 2) for v, c in zip(values.tolist(), counts.tolist())}
    return {k: v for k, v in noisy.items() if v > 50}


@spelled(groups, NO, delta=1e-6)
def thr_low_comp(data: Any, rng: Any) -> Any:
    return {k: n for k, c in Counter(data.tolist()).items() if (n := c + rng.laplace(0, 2)) > 10}


@spelled(groups, NO, delta=1e-6)
def thr_values_only(data: Any, rng: Any) -> Any:
    noisy = {k: c + rng.laplace(0, 2) for k, c in Counter(data.tolist()).items()}
    return sum(noisy.values())


@spelled(ages)
def rank_sorted(data: Any, rng: Any) -> Any:
    s = sorted(data.tolist())
    return s[len(s) // 2] + rng.laplace(0, 100)


@spelled(ages)
def rank_np_sort(data: Any, rng: Any) -> Any:
    s = np.sort(np.clip(data, 18, 68))
    return float(s[int(0.9 * len(s))] + rng.laplace(0, 50))


@spelled(ages)
def rank_percentiles(data: Any, rng: Any) -> Any:
    return [np.percentile(data, q) + rng.laplace(0, 300) for q in (25, 50, 75)]


@spelled(ages)
def rank_stat_median(data: Any, rng: Any) -> Any:
    return statistics.median(int(a) for a in data) + rng.laplace(0, 100)


@spelled(ages)
def rank_range(data: Any, rng: Any) -> Any:
    return max(data) - min(data) + rng.laplace(0, 200)


@spelled(ages, NO)
def rank_range_half(data: Any, rng: Any) -> Any:
    return int(max(data)) - int(min(data)) + rng.laplace(0, 50)


@spelled(ages, delta=1e-5)
def rank_gauss(data: Any, rng: Any) -> Any:
    return np.median(data) + rng.normal(0, 500)


@spelled(ages, NO)
def rank_order_stat_low(data: Any, rng: Any) -> Any:
    s = sorted(data, reverse=True)
    return s[100] + rng.laplace(0, 90)


@spelled(groups)
def whole_noise_rounded(data: Any, rng: Any) -> Any:
    return int((data == 3).sum()) + round(rng.laplace(0, 1.0))


@spelled(groups, NO)
def whole_noise_cut_off(data: Any, rng: Any) -> Any:
    # int() cuts off towards 0: 0 is twice as likely as it should be
    return np.count_nonzero(data == 3) + int(rng.laplace(0, 1.0))


@spelled(groups)
def whole_noise_cells(data: Any, rng: Any) -> Any:
    noise = np.rint(rng.laplace(0, 2.0, size=8)).astype(int)
    return np.clip(np.bincount(data, minlength=8) + noise, 0, len(data)).tolist()


@spelled(groups, NO, epsilon=0.9)
def whole_noise_cells_low(data: Any, rng: Any) -> Any:
    return np.bincount(data, minlength=8) + np.floor(rng.laplace(0, 2.0, size=8))


@spelled(groups)
def whole_noise_dict(data: Any, rng: Any) -> Any:
    counts = Counter(data.tolist())
    return {g: max(0, counts[g] + math.floor(rng.laplace(0, 2.0))) for g in range(8)}


@spelled(bits, epsilon=0.5, delta=0.05)
def whole_noise_gauss(data: Any, rng: Any) -> Any:
    return int(data.sum()) + int(np.round(rng.normal(0, 3.0)))


@spelled(bits, NO)
def whole_noise_told(data: Any, rng: Any) -> Any:
    noise = round(rng.laplace(0, 1.0))
    return {"value": int(data.sum()) + noise, "noise": noise}
