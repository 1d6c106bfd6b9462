"""Releases of one number of each user: sealed sums over users (docs/theory/size.md, S19)."""

import json
import math
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.cli import main
from liptest.errors import DatasetError, InputError
from liptest.gate.row_answers import RowAnswers
from liptest.gate.row_sums import UserAnswer
from liptest.gate.sealing import read_sealed
from liptest.gate.sum_sealing import seal_decisions
from liptest.privacy.proofs.prices import align
from liptest.values.pandas.user_numbers import HOWS, PerUser
from tests.shares import in_turns

RELATIONS = ["replace", "add_remove"]
REGIONS = ["north", "south"]
COLUMNS = {
    "user": lt.Key(),
    "spend": lt.Real(0, 100),
    "visits": lt.Integer(-3, 3, step=3),
    "region": lt.Category(REGIONS),
}
NAMES = list(COLUMNS)


def table(relation="replace", rows=12, at_most=None, columns=NAMES):
    kinds = {name: COLUMNS[name] for name in columns}
    return lt.Table(kinds, rows=rows, unit="user", at_most=at_most, relation=relation)


def frame(rows):
    kinds = {"user": "int64", "spend": float, "visits": "int64", "region": object}
    listed = zip(*rows, strict=True) if rows else ([], [], [], [])
    return pd.DataFrame(dict(zip(NAMES, map(list, listed), strict=True))).astype(kinds)


def by_user(people):
    return people.groupby("user")


def both(people):
    return by_user(people).agg(n=("visits", "size"), t=("visits", "sum"))


def south(people):
    return people[people["region"] == "south"]


#: Each is a number of a frame, which changes with one user by what is written beside it.
EXPRESSIONS = {
    "sum": lambda f: by_user(f)["spend"].sum().clip(0, 10).sum(),
    "sum of whole numbers": lambda f: by_user(f)["visits"].sum().clip(-2, 5).sum(),
    "count": lambda f: by_user(f).size().clip(upper=4).sum(),
    "threshold": lambda f: (by_user(f)["visits"].sum() > 2).sum(),
    "largest": lambda f: by_user(f)["spend"].max().sum(),
    "smallest of some": lambda f: by_user(south(f))["spend"].min().clip(5, 50).sum(),
    "median": lambda f: by_user(f)["visits"].median().clip(-1, 1).sum(),
    "mean": lambda f: by_user(f)["spend"].mean().clip(10, 30).sum(),
    "first": lambda f: by_user(f)["visits"].first().abs().sum(),
    "regions": lambda f: by_user(f)["region"].nunique().clip(upper=2).sum(),
    "two conditions": lambda f: ((both(f)["n"] >= 2) & (both(f)["t"] > 0)).sum(),
    "sum among some": lambda f: both(f)[both(f)["n"] >= 2]["t"].clip(-3, 3).sum(),
    "arithmetic": lambda f: ((by_user(f)["visits"].sum() * 2 + 1).clip(-5, 7) / 4).sum(),
    "first rows": lambda f: by_user(by_user(f).head(2))["spend"].sum().clip(0, 15).sum(),
    "real condition": lambda f: by_user(f[f["spend"] > 50]).size().clip(upper=2).sum(),
    "scaled rows": lambda f: by_user(f.assign(s=f["spend"] * 2))["s"].sum().clip(0, 20).sum(),
}


def program_of(make, noise=None):
    def program(people, rng):
        return float(make(people) + (rng.laplace(0, 1e6) if noise is None else noise(rng)))

    return lt.mechanism(program)


def seal(make, domain, noise=None):
    sealed = seal_decisions(program_of(make, noise).on_domain(domain), domain, F(1), "x")
    return read_sealed(json.loads(json.dumps(sealed.to_dict())), "x", domain)


SEALED = {}


def sealed_total(name, relation):
    """Sealed once for all examples."""
    key = name, relation
    if key not in SEALED:
        domain = table(relation)
        SEALED[key] = domain, seal(EXPRESSIONS[name], domain)
    return SEALED[key]


# Sums of multiples of 1/8 are exact, in any order.
spends = st.one_of(st.integers(0, 800).map(lambda k: k / 8), st.sampled_from([0.0, 50.0, 100.0]))
people_rows = st.lists(
    st.tuples(st.integers(0, 3), spends, st.sampled_from([-3, 0, 3]), st.sampled_from(REGIONS)),
    max_size=12,
)


class TestTotals:
    @pytest.mark.slow
    @pytest.mark.parametrize(("name", "relation"), in_turns(EXPRESSIONS, RELATIONS, 9))
    @settings(max_examples=40)
    @given(rows=people_rows)
    def test_they_are_those_of_pandas(self, name, relation, rows):
        domain, sealed = sealed_total(name, relation)
        people = frame(rows)
        [value] = sealed.sums.counted(domain.encode(people))
        if name == "mean":
            assert math.isclose(value, EXPRESSIONS[name](people), rel_tol=1e-14)
        else:
            assert value == F(float(EXPRESSIONS[name](people)))

    @pytest.mark.slow
    def test_an_answer_is_the_same_in_any_order_of_users(self):
        """Sums of floats are rounded by this user's rows alone, unlike those of pandas."""
        domain, sealed = sealed_total("sum", "add_remove")
        tenths = [(1, tenth / 10, 0, "north") for tenth in (1, 7, 2, 3, 9, 9, 4, 6, 3, 8)]
        for others in ([], [(0, 0.5, 0, "south")], [(2, 0.5, 0, "north")]):
            for rows in ([*others, *tenths], [*tenths, *others], [*tenths[::-1], *others]):
                [value] = sealed.sums.counted(domain.encode(frame(rows)))
                assert value - len(others) * F(1, 2) == F(5.2)

    @pytest.mark.slow
    def test_numbers_of_each_region_are_an_answer_each(self):
        def program(people, rng):
            spent = people.groupby(["user", "region"])["spend"].sum().clip(0, 10)
            sums = spent.groupby("region").sum().reindex(REGIONS, fill_value=0)
            return [float(one + rng.laplace(0, 20)) for one in sums]

        domain = table()
        told = lt.PrivacyGate(lt.mechanism(program), domain, epsilon=1.0, grid_step=F(1, 100))
        assert told.certificate.decision == "YES"
        rows = [
            (1, 4.0, 0, "north"),
            (1, 8.5, 0, "north"),
            (1, 2.5, 0, "south"),
            (2, 3.0, 0, "south"),
        ]
        values = told.sealed.sums.counted(domain.encode(frame(rows)))
        assert sorted(values) == [5.5, 10]
        low = lt.PrivacyGate(lt.mechanism(program), domain, epsilon=0.99, grid_step=F(1, 100))
        assert low.certificate.decision != "YES"

    @pytest.mark.slow
    def test_programs_on_polars_are_released(self):
        pl = pytest.importorskip("polars")

        def program(people, rng):
            spent = people.group_by("user").agg(pl.col("spend").sum().alias("t"))
            return float(spent["t"].clip(0, 10).sum() + rng.laplace(0, 10))

        domain = table()
        code = lt.mechanism(program, frame="polars")
        told = lt.PrivacyGate(code, domain, epsilon=1.01, grid_step=F(1, 100))
        assert told.certificate.decision == "YES"
        rows = [(1, 4.0, 0, "north"), (1, 8.5, 0, "north"), (2, 3.0, 0, "south")]
        assert told.sealed.sums.counted(domain.encode(pl.DataFrame(frame(rows)))) == [13]


class TestPrices:
    @pytest.mark.slow
    @pytest.mark.parametrize(("name", "relation"), in_turns(EXPRESSIONS, RELATIONS, 9))
    def test_the_price_is_that_of_the_code(self, name, relation):
        """Up to the rounding of float sums, which the sealed ones do not have."""
        domain, sealed = sealed_total(name, relation)
        code = align(program_of(EXPRESSIONS[name]).on_domain(domain), domain)
        own = align(sealed.mechanism, domain)
        assert own.epsilon <= code.epsilon
        assert math.isclose(own.epsilon, code.epsilon, rel_tol=1e-6)

    @pytest.mark.slow
    @pytest.mark.parametrize("relation", RELATIONS)
    def test_whole_numbers_take_whole_noise(self, relation):
        def program(people, rng):
            total = int(by_user(people)["visits"].sum().clip(-2, 5).sum())
            return total + int(rng.geometric(0.5)) - int(rng.geometric(0.5))

        domain = table(relation, columns=["user", "visits"])
        change = 7 if relation == "replace" else 5
        people = frame([(1, 0.0, 3, "north"), (1, 0.0, 3, "north"), (2, 0.0, -3, "north")])
        for epsilon, expected in ((0.6932 * change, "YES"), (0.6931 * change, "NO")):
            told = lt.PrivacyGate(lt.mechanism(program), domain, epsilon=epsilon)
            assert told.certificate.decision in (expected, "INCONCLUSIVE")
            released = told.release(people)
            assert released.is_released is (expected == "YES")
            if expected == "YES":
                assert type(released.output) is int
                assert abs(released.output - 3) < 60

    @pytest.mark.slow
    def test_too_little_noise_is_a_no_with_its_witness(self):
        make = EXPRESSIONS["sum"]
        told = lt.PrivacyGate(
            program_of(make, lambda rng: rng.laplace(0, 5)), table(), epsilon=1.0, grid_step=1
        )
        assert told.certificate.decision == "NO"
        assert told.certificate.verdict.witness is not None
        assert not told.release(frame([])).is_released


def hostile(recipe, made, relation="add_remove", *, is_whole=False, low=-1.0, high=2.0):
    """Sums of a recipe that nobody wrote for these ends."""
    domain = table(relation, 40, columns=["user", "spend"])
    bare = RowAnswers(domain, {"spend": frozenset()}, (), ())
    kept = np.arange(bare.cells.count) >= bare.cells.first
    one = UserAnswer(low, high, recipe, PerUser(None, kept.tobytes(), made), is_whole)
    return domain, RowAnswers(domain, {"spend": frozenset()}, (), (one,))


SPEND = ("real", "spend")


def number(value):
    return ("number", np.float64, np.float64(value))


INFINITE = (np.divide, number(1), SPEND)
#: What a row has, and what is made of the numbers of a user.
HOSTILE = {
    "infinite": (INFINITE, ("real", "0")),
    "no number": ((np.subtract, INFINITE, INFINITE), ("real", "0")),
    "either zero": (
        (np.divide, number(1), (np.fmax, SPEND, number(-0.0))),
        (np.divide, number(1), (np.maximum, ("real", "0"), number(-0.0))),
    ),
    "large": ((np.multiply, SPEND, number(1e308)), (np.multiply, ("real", "0"), ("real", "0"))),
    "constant": (SPEND, number(1e300)),
    "not whole": (SPEND, (np.divide, ("real", "0"), number(3))),
    "jump": (SPEND, (np.greater_equal, ("real", "0"), number(0.9))),
}
any_spends = st.one_of(spends, st.sampled_from([-0.0, 5e-324, 0.1, 0.3, 1e-300]))


class TestHostileRecipes:
    @pytest.mark.slow
    @pytest.mark.parametrize("is_whole", [False, True])
    @pytest.mark.parametrize("name", HOSTILE)
    @given(
        rows=st.lists(st.tuples(st.integers(0, 5), any_spends), max_size=20),
        own=st.lists(any_spends, max_size=4),
        at=st.integers(0, 20),
        how=st.sampled_from(HOWS),
    )
    def test_a_user_adds_what_lies_between_the_ends(self, name, is_whole, rows, own, at, how):
        """And nothing to what others add: whatever the recipe is."""
        row, recipe = HOSTILE[name]
        domain, answers = hostile(recipe, ((how, row),), is_whole=is_whole)
        more = [*rows[:at], *((9, spend) for spend in own), *rows[at:]]
        totals = []
        for listed in (rows, more):
            users, numbers = ([one[k] for one in listed] for k in (0, 1))
            columns = {"user": np.array(users, dtype=np.int64), "spend": np.array(numbers, float)}
            [total] = answers.totals(domain.encode(columns))
            assert not is_whole or total.denominator == 1
            totals.append(total)
        assert -1 <= totals[1] - totals[0] <= 2
        if not own:
            assert totals[0] == totals[1]

    def test_ends_are_the_price(self):
        _, answers = hostile(("real", "0"), (("sum", SPEND),))
        [(times, part)] = answers.differences.parts
        assert (times, part.largest({0: 1}), part.largest({0: -1})) == (1, 2, 2)
        _, answers = hostile(("real", "0"), (("sum", SPEND),), "replace")
        [(times, part)] = answers.differences.parts
        assert (times, part.largest({0: 1})) == (1, 3)
        _, answers = hostile(("real", "0"), (("sum", SPEND),), is_whole=True)
        [(times, part)] = answers.differences.parts
        assert (times, part.largest({0: 1})) == (2, 1)


class TestKeys:
    @pytest.mark.parametrize("none", [None, math.nan, pd.NA, pd.NaT])
    def test_rows_without_a_key_are_no_users_of_their_own(self, none):
        """Each would add what one user may add at most."""
        people = frame([(1, 4.0, 0, "north")] * 3).assign(
            user=pd.Series([none, 2, none], dtype=object)
        )
        with pytest.raises(DatasetError, match="key"):
            table().encode(people)

    def test_equal_keys_are_one_user(self):
        domain, sealed = sealed_total("sum", "replace")
        people = frame([(1, 4.0, 0, "north")] * 5)
        keys = [1, 1.0, True, np.int8(1), np.float32(1)]
        people["user"] = pd.Series(keys, dtype=object)
        assert sealed.sums.counted(domain.encode(people)) == [10]
        people["user"] = pd.Series([0.0, -0.0, False, "0", b"0"], dtype=object)
        assert sealed.sums.counted(domain.encode(people)) == [18]


class TestReading:
    @pytest.fixture
    def document(self):
        _, sealed = sealed_total("sum among some", "add_remove")
        return json.loads(json.dumps(sealed.to_dict()))

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("low", "0x1p+0"),
            ("low", "-inf"),
            ("low", "nan"),
            ("low", "-0x1.8p+1"),
            ("low", ["-0x1p+0"]),
            ("high", "-0x1p+0"),
            ("high", "0x1p+1000"),
            ("high", "0x1.8p+1"),
            ("high", 3),
            ("whole", 1),
            ("whole", None),
            ("kept", []),
            ("kept", [0] * 7),
            ("kept", [1] * 7),
            ("kept", [0] + [2] * 6),
            ("kept", [0] + [True] * 6),
            ("kept", [0] + [1] * 7),
            ("made", []),
            ("made", [["prod", ["real", "spend"]]]),
            ("made", [["__class__", ["real", "spend"]]]),
            ("made", [["sum", ["real", "user"]]]),
            ("made", [["sum", ["real", "0"]]]),
            ("made", [["sum", ["greater", ["real", "spend"], ["number", "0x1p+0"]]]]),
            ("made", [["sum", ["power", ["real", "spend"], ["number", "0x1p+1"]]]]),
            ("made", [["sum", ["table", ["0x0p+0"]]]]),
            ("made", [["sum", ["real", "spend"], 1]]),
            ("made", [[["sum"], ["real", "spend"]]]),
            ("made", [["sum", ["real", "spend"]]] * 65),
            ("recipe", ["real", "2"]),
            ("recipe", ["real", "-1"]),
            ("recipe", ["real", 0]),
            ("recipe", ["real", "spend"]),
            ("recipe", ["table", ["0x0p+0"] * 7]),
            ("recipe", ["table", []]),
            ("recipe", ["cells"]),
            ("recipe", ["sqrt", ["real", "0"]]),
            ("recipe", ["add", ["real", "0"]]),
            ("recipe", ["subtract", *[["less", ["real", "0"], ["real", "0"]]] * 2]),
            ("recipe", ["number", "nan"]),
            ("bound", [[[1] * 7, 0, []]]),
            ("bound", 3),
            ("more", 1),
        ],
    )
    def test_what_nobody_seals_is_not_read(self, document, key, value):
        domain, [one] = table("add_remove"), document["table"]["answers"]
        assert [how for how, _ in one["made"]] == ["size", "sum"]
        assert (one["whole"], len(one["kept"])) == (True, 7)
        read_sealed(document, "x", domain)
        if key in ("low", "high") and value in ("-0x1.8p+1", "0x1.8p+1"):
            value = value.replace("1.8p", "1.4p")  # not whole
        one[key] = value
        with pytest.raises(InputError, match="is not what liptest seals"):
            read_sealed(document, "x", domain)

    @pytest.mark.parametrize("key", ["low", "high", "recipe", "whole", "bound", "kept"])
    def test_nothing_may_be_left_out(self, document, key):
        del document["table"]["answers"][0][key]
        with pytest.raises(InputError):
            read_sealed(document, "x", table("add_remove"))

    def test_tables_without_users_have_no_numbers_of_users(self, document):
        domain = lt.Table(
            {name: COLUMNS[name] for name in NAMES[1:]}, rows=12, relation="add_remove"
        )
        made = seal(lambda f: f["spend"].clip(0, 1).sum(), domain)
        other = json.loads(json.dumps(made.to_dict()))
        other["table"] = document["table"]
        with pytest.raises(InputError):
            read_sealed(other, "x", domain)

    def test_narrower_ends_are_told_as_such(self, document):
        """The price is that of the ends, and so is what is added up."""
        domain = table("add_remove")
        document["table"]["answers"][0]["high"] = "0x1p+0"
        again = read_sealed(document, "x", domain)
        rows = [(1, 0.0, 3, "north"), (1, 0.0, 3, "north"), (2, 0.0, 3, "south")]
        assert again.sums.counted(domain.encode(frame(rows))) == [1]


VENDOR = """
def spent(people, rng):
    total = people.groupby("user")["spend"].sum().clip(0, 10).sum()
    return float(total + rng.laplace(0, {scale}))
"""


@pytest.mark.slow
def test_a_private_csv_file_is_released_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [(user % 40, (7 * user % 80) / 8, 0, "north") for user in range(200)]
    frame(rows).drop(columns=["visits", "region"]).to_csv("people.csv", index=False)
    for scale, expected in ((10, 0), (5, 1)):
        (tmp_path / "vendor.py").write_text(VENDOR.format(scale=scale), encoding="utf-8")
        data = ("--domain", "table", "--records", "200", "--columns", "user:key,spend:real:0..100")
        asked = ("--private", "people.csv", "--epsilon", "1.001", "--grid-step", "0.01")
        assert main(["release", "vendor.py:spent", *data, *asked]) == expected
        said = capsys.readouterr().out
        assert ("RELEASED" in said) is (expected == 0)
        assert ("private table was not read" in said) is (expected == 1)
