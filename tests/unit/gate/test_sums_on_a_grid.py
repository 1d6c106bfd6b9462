"""Releases on a stated grid: noisy sums, proved by the price of their noise (theory S15)."""

import json
import math
import random
from fractions import Fraction as F

import numpy as np
import pytest

import liptest as lt
from liptest.cli import main
from liptest.errors import GateError, InputError
from liptest.gate.gate import Refused, Released
from liptest.gate.sealed import SealedTable
from liptest.gate.sealed_sums import SealedSums
from liptest.gate.sealing import read_sealed, seal
from liptest.symbolic.exact_draws import ExactDraw, draw_cell
from liptest.symbolic.noise import Noise
from tests.statistical.binomial import fits

N = 1000
AGES = lt.ProductDistribution.uniform(lt.RecordGrid([121] * N))
PEOPLE = np.arange(N) % 121


def mean(data, rng):
    """The mean of clipped ages, in a dict."""
    return {"mean": float(np.clip(data, 18, 90).mean() + rng.laplace(0, 72 / len(data))), "n": N}


def cells(data, rng):
    """Ages by decade, as a list."""
    return (np.bincount(data // 10, minlength=13) + rng.laplace(0, 2.0, size=13)).tolist()


def cells_low(data, rng):
    """Half of the noise."""
    return (np.bincount(data // 10, minlength=13) + rng.laplace(0, 1.0, size=13)).tolist()


def rounded(data, rng):
    """Post-processing of a noisy count."""
    return f"about {max(0, round((data > 64).sum() + rng.laplace(0, 1)))}"


def normal(data, rng):
    return float((data > 64).sum() + rng.normal(0, 4.0))


def gate(program, **options):
    options = {"epsilon": 1.0, "grid_step": F(1, 100), **options}
    return lt.PrivacyGate(lt.mechanism(program), AGES, **options)


class TestGate:
    def test_a_mean_is_told_on_the_grid_in_the_shape_of_the_code(self):
        told = gate(mean)
        assert told.certificate.decision == "YES"
        assert told.certificate.verdict.guarantee.kind == "proof"
        assert "multiple of 1/100" in told.certificate.release_source
        output = dict(told.release(PEOPLE).output.items)
        assert output["n"] == N
        assert abs(F(output["mean"]) * 100 - round(output["mean"] * 100)) < F(1, 10**9)
        assert abs(output["mean"] - np.clip(PEOPLE, 18, 90).mean()) < 72 / N * 40

    def test_a_list_stays_a_list_of_its_order(self):
        output = gate(cells, grid_step=1).release(PEOPLE).output
        assert all(type(one) is int for one in output)
        true = np.bincount(PEOPLE // 10, minlength=13)
        assert np.abs(np.array(output) - true).max() < 80

    @pytest.mark.slow
    def test_what_is_calculated_from_sums_is_told_as_the_sums(self):
        output = gate(rounded, grid_step=1).release(PEOPLE).output
        assert abs(output - (PEOPLE > 64).sum()) < 40

    @pytest.mark.slow
    def test_normal_noise_with_a_delta(self):
        assert gate(normal, delta=1e-5).release(PEOPLE).is_released
        assert gate(normal, delta=1e-7).certificate.decision != "YES"

    @pytest.mark.slow
    def test_too_little_noise_is_refused_with_two_datasets(self):
        refusing = gate(cells_low)
        assert refusing.certificate.decision == "NO"
        assert refusing.certificate.verdict.witness is not None
        assert isinstance(refusing.release(PEOPLE), Refused)

    @pytest.mark.parametrize("step", [0, -1, math.nan, math.inf, "1", None.__class__, 1e-200])
    def test_a_wrong_step_is_refused(self, step):
        with pytest.raises(InputError, match="grid_step"):
            gate(mean, grid_step=step)

    @pytest.mark.slow
    def test_code_that_is_not_made_of_sums_is_refused(self):
        def place(data, rng):
            return int(np.argmax(np.bincount(data // 60, minlength=3) + rng.laplace(0, 2, 3)))

        def logarithm(data, rng):
            return float(np.log(data.sum() + rng.laplace(0, 120)) + rng.laplace(0, data.sum() + 1))

        def median(data, rng):
            return float(np.median(data) + rng.laplace(0, 120))

        assert gate(place, grid_step=1).release(PEOPLE).is_released  # of which it is made
        for program in (logarithm, median):
            with pytest.raises(GateError, match="only noisy sums, and decisions"):
                gate(program)

    def test_a_method_that_looks_at_laws_is_refused(self):
        with pytest.raises(InputError, match="price of their noise"):
            gate(mean, method="exhaustive")


def whole(data, rng):
    """Counts with geometric noise on both sides, which has no end."""
    return [int((data == k).sum() + rng.geometric(0.4) - rng.geometric(0.4)) for k in (3, 70)]


def whole_low(data, rng):
    return [int((data == k).sum() + rng.geometric(0.8) - rng.geometric(0.8)) for k in (3, 70)]


def halved(data, rng):
    return int(data.sum()) + (int(rng.geometric(0.4)) - int(rng.geometric(0.4))) // 2 * 2


class TestWholeSums:
    """Whole sums with whole noise need no grid: what is told is the output itself."""

    @pytest.mark.slow
    def test_they_are_released_as_they_are(self):
        told = gate(whole, epsilon=1.1, grid_step=None)
        verdict = told.certificate.verdict
        assert (verdict.decision, verdict.guarantee.kind) == ("YES", "proof")
        assert "multiple" not in told.certificate.release_source
        output = told.release(PEOPLE).output
        assert all(type(one) is int for one in output)
        assert np.abs(np.array(output) - [9, 8]).max() < 80
        assert gate(whole_low, epsilon=1.1, grid_step=None).certificate.decision == "NO"

    @pytest.mark.slow
    def test_a_method_by_laws_is_used_before_they_are_sealed(self):
        one = lt.ProductDistribution.uniform(lt.Hypercube(3))
        program = lt.mechanism(
            lambda data, rng: int(data.sum() + rng.geometric(0.5) - rng.geometric(0.5))
        )
        told = lt.PrivacyGate(program, one, epsilon=1.0, method="exhaustive")
        assert told.certificate.decision == "YES"
        assert told.release([1, 0, 1]).is_released
        with pytest.raises(InputError, match="leave the method out"):
            lt.PrivacyGate(program, one, epsilon=1.0, method="exhaustive", grid_step=1)

    @pytest.mark.slow
    def test_what_is_sealed_is_read_again_and_has_the_law_of_the_code(self):
        domain = lt.Hypercube(2)
        program = lt.mechanism(lambda data, rng: int(data.sum() + rng.geometric(0.6)) - 1)
        sealed = seal(program, domain)
        assert isinstance(sealed, SealedSums)
        assert sealed.is_whole
        again = read_sealed(json.loads(json.dumps(sealed.to_dict())), "x")
        assert again.digest == sealed.digest
        below = random.Random(7).randrange
        drawn = [int(again.draw(np.array([1, 0]), below)) for _ in range(2000)]
        counts = [drawn.count(k) for k in (1, 2, 3)]
        masses = [F(3, 5) * F(2, 5) ** k for k in range(3)]
        assert fits([*counts, 2000 - sum(counts)], [*masses, 1 - sum(masses)])

    @pytest.mark.slow
    def test_other_noise_without_an_end_is_judged_but_not_sealed(self):
        """Every law of 1,001 counts was computed first, for hours."""
        bits = lt.ProductDistribution.uniform(lt.Hypercube(N))
        with pytest.raises(GateError, match="not explored"):
            seal(lt.mechanism(halved), bits.domain)
        judged = lt.PrivacyGate(lt.mechanism(halved), bits, epsilon=1.0)
        assert judged.certificate.decision == "NO"

    def test_without_noise_there_is_a_table(self):
        assert isinstance(seal(lt.mechanism(lambda data, rng: 1), lt.Hypercube(2)), SealedTable)


class TestSealed:
    def test_it_is_read_as_it_was_written(self):
        sealed = gate(mean).sealed
        again = read_sealed(json.loads(json.dumps(sealed.to_dict())), "mean", AGES.domain)
        assert isinstance(again, SealedSums)
        assert again.to_dict() == sealed.to_dict()
        value = again.sums.value(0, again.sums.counted(PEOPLE))
        assert abs(value - F(int(np.clip(PEOPLE, 18, 90).sum()), N)) < F(1, 10**9)

    @pytest.mark.parametrize(
        "change",
        [
            {"step": ["0", "1"]},
            {"step": ["-1", "1"]},
            {"noises": [["laplace", "-1", "1"]]},
            {"noises": [["cauchy", "1", "1"]]},
            {"sums": []},
            {"shape": '{"place":7}'},
            {"shape": "nothing"},
            {"sums": [{"added": [[121, "1", "1"]], "offset": ["0", "1"], "noises": []}]},
            {"sums": [{"added": [[-1, "1", "1"]], "offset": ["0", "1"], "noises": []}]},
            {"sums": [{"added": [], "offset": ["0", "1"], "noises": [[1, "1", "1"]]}]},
            {"sums": [{"added": [], "offset": ["f" * 5000, "1"], "noises": []}]},
        ],
    )
    def test_what_nobody_seals_is_not_read(self, change):
        document = gate(mean).sealed.to_dict() | change
        with pytest.raises(InputError, match="is not what liptest seals"):
            read_sealed(document, "mean", AGES.domain)

    def test_a_sum_without_noise_is_never_released(self):
        document = gate(mean).sealed.to_dict()
        document["sums"][0]["noises"] = []
        bare = read_sealed(document, "mean", AGES.domain)
        verdict = lt.check_privacy(bare.mechanism, AGES.domain, epsilon=1.0, method="alignment")
        assert verdict.decision == "INCONCLUSIVE"

    @pytest.mark.slow
    def test_the_price_is_that_of_what_is_drawn(self):
        """Half of the noise in the text is twice the price."""
        document = gate(cells, grid_step=1).sealed.to_dict()
        document["noises"] = [["laplace", "1", "1"]] * 13
        low = read_sealed(document, "cells", AGES.domain)
        verdict = lt.check_privacy(low.mechanism, AGES.domain, epsilon=1.0, method="alignment")
        assert "proved at most 2" in verdict.reason


NOISES = [
    Noise("laplace", F(3, 2)),
    Noise("exponential", F(2)),
    Noise("normal", F(5, 4)),
    Noise("gumbel", F(1)),
    Noise("logistic", F(1)),
    Noise("uniform", F(1)),
    Noise("geometric", F(1, 3)),
    Noise("two-sided geometric", F(1, 2)),
]


def _counts(drawn, noise):
    """How often each of some cells was drawn, with its probability by another formula."""
    at = F(0) if noise.is_discrete else F(1, 6)
    upto = [_distribution(noise, float(end + at)) for end in range(-3, 5)]
    masses = np.diff([0.0, *upto, 1.0])
    counts = np.histogram(drawn, bins=[-math.inf, *(end + 0.5 for end in range(-3, 5)), math.inf])
    return counts[0], masses


def _distribution(noise, x):
    """P(N <= x) in floats."""
    s = float(noise.parameter)
    return {
        "laplace": lambda: math.exp(x / s) / 2 if x < 0 else 1 - math.exp(-x / s) / 2,
        "exponential": lambda: 1 - math.exp(-max(x, 0) / s),
        "normal": lambda: math.erfc(-x / s / math.sqrt(2)) / 2,
        "gumbel": lambda: math.exp(-math.exp(-x / s)),
        "logistic": lambda: 1 / (1 + math.exp(-x / s)),
        "uniform": lambda: min(max(x, 0.0), 1.0),
        "geometric": lambda: 1 - (1 - s) ** max(x, 0),
        "two-sided geometric": lambda: s**-x / (1 + s) if x < 0 else 1 - s ** (x + 1) / (1 + s),
    }[noise.family]()


class TestDraws:
    @pytest.mark.slow
    @pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.family)
    def test_draws_follow_the_law(self, noise):
        below = random.Random(7).randrange
        count = 1500
        drawn = [draw_cell(F(1, 3), [(ExactDraw(noise, below), F(1))], F(1)) for _ in range(count)]
        assert fits(*_counts(drawn, noise))

    @pytest.mark.slow
    def test_a_wrong_scale_would_be_seen(self):
        below = random.Random(7).randrange
        draws = [ExactDraw(Noise("laplace", F(3)), below) for _ in range(1500)]
        drawn = [draw_cell(F(1, 3), [(one, F(1))], F(1)) for one in draws]
        assert not fits(*_counts(drawn, Noise("laplace", F(3, 2))))

    @pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.family)
    def test_intervals_are_within_each_other(self, noise):
        draw = ExactDraw(noise, random.Random(3).randrange)
        low, high = draw.interval
        for _ in range(60):
            draw.halve()
            assert low <= draw.interval[0] <= draw.interval[1] <= high
            low, high = draw.interval
        assert high - low <= noise.parameter / 2**60 or noise.is_discrete

    def test_one_noise_in_two_sums_is_one_draw(self):
        for seed in range(20):
            draw = ExactDraw(Noise("laplace", F(50)), random.Random(seed).randrange)
            first = draw_cell(F(7), [(draw, F(1))], F(1, 8))
            second = draw_cell(F(9), [(draw, F(-1))], F(1, 8))
            assert abs(first + second - 16 * 8) <= 1

    def test_cells_are_half_a_step_away_at_most(self):
        for seed in range(50):
            draw = ExactDraw(Noise("normal", F(10)), random.Random(seed).randrange)
            cell = draw_cell(F(5), [(draw, F(3))], F(1, 7))
            for _ in range(40):
                draw.halve()
            low, high = draw.interval
            assert 5 + 3 * low - F(1, 14) - F(1, 10**6) <= F(cell, 7)
            assert F(cell, 7) <= 5 + 3 * high + F(1, 14) + F(1, 10**6)

    def test_values_that_lie_on_a_rounding_point_are_rounded_up(self):
        assert draw_cell(F(1, 2), [], F(1)) == 1
        assert draw_cell(F(-1, 2), [], F(1)) == 0


VENDOR = """
import numpy as np
def mean(data, rng):
    return float(np.clip(data, 18, 90).mean() + rng.laplace(0, 72 / len(data)))
def low(data, rng):
    return float(np.clip(data, 18, 90).mean() + rng.laplace(0, 36 / len(data)))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vendor.py").write_text(VENDOR, encoding="utf-8")
    rows = "\n".join(map(str, PEOPLE.tolist()))
    (tmp_path / "private.csv").write_text(f"age\n{rows}\n", encoding="utf-8")
    return tmp_path


def release(name, *more):
    data = ("--records", str(N), "--values", "121", "--private", "private.csv")
    column = ("--private-column", "age")
    return main(["release", f"vendor.py:{name}", "--epsilon", "1", *data, *column, *more])


class TestCommand:
    @pytest.mark.slow
    @pytest.mark.parametrize("more", [(), ("--in-process",)])
    def test_a_mean_of_a_thousand_is_released(self, folder, capsys, more):
        assert release("mean", "--grid-step", "0.25", "--json", "made.json", *more) == 0
        said = capsys.readouterr().out
        [line] = [line for line in said.splitlines() if line.startswith("RELEASED")]
        assert float(line.split()[1]) * 4 == int(float(line.split()[1]) * 4)
        assert "multiple of 1/4" in " ".join(said.split())
        assert main(["verify", "made.json", "vendor.py:mean"]) == 0

    @pytest.mark.slow
    def test_too_little_noise_is_not(self, folder, capsys):
        assert release("low", "--grid-step", "1/4") == 1
        said = capsys.readouterr().out
        assert "Two test datasets differ only in record 0" in said
        assert said.rstrip().endswith("REFUSED - the private table was not read")

    @pytest.mark.parametrize("step", ["0", "-1", "a", "1/0", "nan"])
    def test_a_wrong_step_is_said(self, folder, capsys, step):
        assert release("mean", f"--grid-step={step}") == 2
        assert "grid_step" in capsys.readouterr().err


def test_released_is_what_it_is():
    assert isinstance(gate(normal, delta=1e-5).release(PEOPLE), Released)
