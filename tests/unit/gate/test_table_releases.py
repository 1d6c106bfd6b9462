"""Releases of programs on data frames: noisy sums over rows, sealed (theory S18)."""

import json
import math
import random
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.cli import main
from liptest.data.real_tables import Real
from liptest.errors import DatasetError, GateError, InputError, MechanismError
from liptest.gate.row_answers import RowAnswers
from liptest.gate.row_sums import RowAnswer
from liptest.gate.sealed_sums import SealedSums
from liptest.gate.sealing import read_sealed
from liptest.gate.sum_sealing import seal_decisions
from tests.shares import in_turns
from tests.statistical.binomial import fits

ROWS = 1000
COLUMNS = {
    "age": lt.Real(0, 120),
    "income": lt.Real(),
    "region": lt.Category(["north", "south", "east"]),
    "member": lt.Bit(),
}
RELATIONS = ["replace", "add_remove"]


def table(relation="replace", rows=ROWS, **columns):
    return lt.Table(columns or COLUMNS, rows=rows, relation=relation)


def frame(rows=ROWS, seed=1):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.uniform(0, 120, rows).round(1),
            "income": rng.normal(0, 1e5, rows),
            "region": rng.choice(["north", "south", "east"], rows),
            "member": rng.integers(0, 2, rows),
        }
    )


def members(people, rng):
    """A whole number with whole noise: no step is needed."""
    return int((people["member"] == 1).sum() + rng.geometric(0.5) - rng.geometric(0.5))


def old_in_the_north(people, rng):
    """A count and a sum of those who are chosen by two columns, where there are enough."""
    old = people[(people["age"] > 65) & (people["region"] == "north")]
    count = len(old) + rng.laplace(0, 4)
    total = old["income"].clip(0, 1000).sum() + rng.laplace(0, 4000)
    if count < 10:
        return {"count": float(count), "total": None}
    return {"count": float(count), "total": float(total)}


def by_region(people, rng):
    """A histogram of categories, and which is the largest."""
    counts = [int((people["region"] == name).sum()) for name in ("north", "south", "east")]
    return int(np.argmax(np.array(counts) + rng.laplace(0, 4.0, size=3)))


def share(people, rng):
    """A product of two columns, cut off."""
    part = np.clip(people["income"] * people["age"] / 120, -50, 50)
    return float(part.sum() + rng.laplace(0, 100))


PROGRAMS = [
    (members, 0.7, None),
    (old_in_the_north, 1.0, F(1, 100)),
    (by_region, 1.0, None),
    (share, 1.0, F(1, 100)),
]


class TestGate:
    @pytest.mark.slow
    @pytest.mark.parametrize("relation", RELATIONS)
    @pytest.mark.parametrize(("program", "epsilon", "step"), PROGRAMS)
    def test_what_is_added_up_over_rows_is_released(self, program, epsilon, step, relation):
        domain = table(relation)
        told = lt.PrivacyGate(lt.mechanism(program), domain, epsilon=epsilon, grid_step=step)
        verdict = told.certificate.verdict
        assert (verdict.decision, verdict.guarantee.kind) == ("YES", "proof")
        assert told.release(frame()).is_released
        again = read_sealed(json.loads(json.dumps(told.sealed.to_dict())), "x", domain)
        assert again.digest == told.sealed.digest
        low = lt.PrivacyGate(lt.mechanism(program), domain, epsilon=epsilon / 5, grid_step=step)
        assert low.certificate.decision != "YES"
        assert not low.release(frame()).is_released

    @pytest.mark.slow
    def test_tables_without_real_columns_are_released(self):
        columns = {name: COLUMNS[name] for name in ("region", "member")}
        for relation in RELATIONS:
            domain = table(relation, **columns)
            told = lt.PrivacyGate(lt.mechanism(members), domain, epsilon=0.7)
            assert told.certificate.decision == "YES"
            output = told.release(frame()).output
            assert abs(output - frame()["member"].sum()) < 60

    @pytest.mark.slow
    def test_a_frame_that_does_not_fit_is_no_release(self):
        told = lt.PrivacyGate(lt.mechanism(members), table(), epsilon=0.7)
        for wrong in (
            frame(ROWS - 1),
            frame().drop(columns="age"),
            frame().assign(age=-1.0),
            frame().assign(age=math.nan),
            frame().assign(region="west"),
        ):
            with pytest.raises(DatasetError):
                told.release(wrong)
        assert told.releases_left == 1
        assert told.release(frame()).is_released

    @pytest.mark.slow
    def test_real_numbers_need_a_step(self):
        with pytest.raises(InputError, match=r"grid_step=0\.01"):
            lt.PrivacyGate(lt.mechanism(share), table(), epsilon=1.0)

    def test_code_that_never_answers_is_an_error_and_no_verdict(self):
        def broken(people, rng):
            raise ValueError("no such region")

        with pytest.raises(MechanismError, match=r"ValueError.*never answers"):
            lt.PrivacyGate(lt.mechanism(broken), table(), epsilon=1.0, grid_step=1)

    def test_a_median_is_refused_with_its_line(self):
        def middle(people, rng):
            return float(people["age"].median() + rng.laplace(0, 120))

        with pytest.raises(GateError, match=r"only noisy sums, and decisions.*median"):
            lt.PrivacyGate(lt.mechanism(middle), table(), epsilon=1.0, grid_step=1)


EXPRESSIONS = {
    "clip": lambda f: f["age"].clip(10, 60),
    "product": lambda f: np.clip(f["age"] * f["income"], -1e3, 1e3),
    "quotient": lambda f: np.clip(f["income"] / (f["age"] + 1), -10, 1e4),
    "square": lambda f: np.minimum(f["age"] ** 2, 5000),
    "root": lambda f: np.sqrt(f["age"]),
    "selected": lambda f: f[f["age"] > 65]["income"].clip(-5, 5),
    "two columns": lambda f: f[(f["income"] > 3 * f["age"]) & (f["region"] == "south")]["age"],
    "where": lambda f: np.where(f["member"] == 1, f["age"], 0.0),
    "rounded": lambda f: np.floor(f["age"] / 10) * 10,
    "count": lambda f: (f["income"].abs() > 1000) * 1,
}


def total_of(name):
    def program(people, rng):
        return float(np.sum(EXPRESSIONS[name](people)) + rng.laplace(0, 1e6))

    return lt.mechanism(program)


SEALED = {}


def sealed_total(name, relation):
    """Sealed once for all examples."""
    key = name, relation
    if key not in SEALED:
        domain = table(relation, rows=6)
        sealed = seal_sums_of(total_of(name).on_domain(domain), domain)
        SEALED[key] = domain, read_sealed(json.loads(json.dumps(sealed.to_dict())), "x", domain)
    return SEALED[key]


def seal_sums_of(mechanism, domain):
    return seal_decisions(mechanism, domain, F(1), "x")


numbers = st.one_of(
    st.sampled_from([0.0, -0.0, 5e-324, 10.0, 60.0, 65.0, np.nextafter(65.0, 99), 120.0]),
    st.floats(0, 120),
)
incomes = st.one_of(numbers, st.floats(-1e300, 1e300), st.sampled_from([1e308, -1e308, 1000.0]))
rows = st.tuples(numbers, incomes, st.sampled_from(["north", "south", "east"]), st.integers(0, 1))


class TestTotals:
    @pytest.mark.slow
    @pytest.mark.parametrize(("name", "relation"), in_turns(EXPRESSIONS, RELATIONS, 3))
    @given(listed=st.lists(rows, min_size=6, max_size=6))
    def test_they_are_those_of_pandas(self, name, relation, listed):
        """To the last digit of what one row adds: sums of floats are exact here."""
        people = pd.DataFrame(listed, columns=list(COLUMNS))
        domain, sealed = sealed_total(name, relation)
        [value] = sealed.sums.counted(domain.encode(people))
        added = np.asarray(EXPRESSIONS[name](people), dtype=np.float64)
        assert value == sum(map(F, added.tolist()), F(0))

    def test_an_empty_table_adds_nothing(self):
        domain, sealed = sealed_total("clip", "add_remove")
        assert sealed.sums.counted(domain.encode(frame(0))) == [0]


USERS = {"user": lt.Key(), "age": lt.Real(0, 120), "member": lt.Bit()}
USER_SUMS = {
    "all rows": lambda f: f["age"].clip(10, 60),
    "first rows": lambda f: f.groupby("user").head(2)["age"],
    "first of some": lambda f: f[f["age"] > 65].groupby("user").head(1)["age"],
    "counted": lambda f: f[f.groupby("user").cumcount() < 2]["member"],
    "users with few rows": lambda f: f[f.groupby("user")["age"].transform("count") <= 2]["age"],
    "one of each group": lambda f: f.drop_duplicates(["user", "member"])["member"],
    "first of each group": lambda f: (
        f.drop_duplicates(["user", "member"]).groupby("user").head(1)["age"]
    ),
    "one each": lambda f: f.drop_duplicates("user")["member"],
}


def of_users(relation="replace", rows=12, real=True, at_most=3):
    columns = USERS if real else {name: USERS[name] for name in ("user", "member")}
    return lt.Table(columns, rows=rows, unit="user", at_most=at_most, relation=relation)


class TestUsers:
    @pytest.mark.slow
    @pytest.mark.parametrize(("name", "relation"), in_turns(USER_SUMS, RELATIONS, 3))
    @given(
        listed=st.lists(
            st.tuples(st.integers(0, 4), numbers, st.integers(0, 1)), min_size=0, max_size=12
        )
    )
    def test_totals_are_those_of_pandas(self, name, relation, listed):
        key, domain = (name, relation, "users"), of_users(relation, at_most=12)
        people = pd.DataFrame(listed, columns=list(USERS)).astype({"age": float, "member": int})
        if key not in SEALED:

            def program(people, rng):
                return float(USER_SUMS[name](people).sum() + rng.laplace(0, 1e6))

            sealed = seal_sums_of(lt.mechanism(program).on_domain(domain), domain)
            SEALED[key] = read_sealed(json.loads(json.dumps(sealed.to_dict())), "x", domain)
        [value] = SEALED[key].sums.counted(domain.encode(people))
        added = np.asarray(USER_SUMS[name](people), dtype=np.float64)
        assert value == sum(map(F, added.tolist()), F(0))

    @pytest.mark.slow
    @pytest.mark.parametrize("real", [True, False])
    @pytest.mark.parametrize("relation", RELATIONS)
    def test_the_price_is_that_of_all_rows_of_a_user(self, relation, real):
        """At most three rows in all, of which one row of each user is counted, or two, or three."""

        def program(people, rng):
            count = people.groupby("user").head(k)["member"].sum()
            return int(count + rng.geometric(0.5) - rng.geometric(0.5))

        def all_rows(people, rng):
            return int(people["member"].sum() + rng.geometric(0.5) - rng.geometric(0.5))

        domain = of_users(relation, real=real)
        people = pd.DataFrame({"user": [1, 1, 1, 2], "age": 30.0, "member": [1, 1, 1, 0]})
        for k, code in ((1, program), (2, program), (3, all_rows)):
            for epsilon, expected in ((0.6932 * k, "YES"), (0.6931 * k, "NO")):
                told = lt.PrivacyGate(lt.mechanism(code), domain, epsilon=epsilon)
                assert told.certificate.decision in (expected, "INCONCLUSIVE")
                assert told.release(people).is_released is (expected == "YES")

    def test_a_user_with_more_rows_is_no_release(self):
        def program(people, rng):
            return int(people["member"].sum() + rng.geometric(0.5) - rng.geometric(0.5))

        told = lt.PrivacyGate(lt.mechanism(program), of_users(), epsilon=3.0)
        people = pd.DataFrame({"user": [1] * 4, "age": 30.0, "member": 1})
        with pytest.raises(DatasetError, match="more than 3 rows of one user"):
            told.release(people)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "bound",
        [
            [[[1], 1, []]],
            [[[2] * 5, 1, []]],
            [[[1] * 5, 0, []]],
            [[[1] * 5, True, []]],
            [[[1] * 5, 1, ["0x0p+0"]]],
            [[[1] * 5, 1, ["nan"] * 5]],
            [[[1] * 5, 1]],
            3,
        ],
    )
    def test_bounds_that_nobody_seals_are_not_read(self, bound):
        def program(people, rng):
            old = people[people["age"] > 65]
            return float(old.groupby("user").head(1)["age"].sum() + rng.laplace(0, 240))

        domain = lt.Table({"user": lt.Key(), "age": lt.Real(0, 120)}, rows=9, unit="user")
        sealed = seal_sums_of(lt.mechanism(program).on_domain(domain), domain)
        document = json.loads(json.dumps(sealed.to_dict()))
        [[kept, most, order]] = document["table"]["answers"][0]["bound"]
        assert (len(kept), most, order) == (len(document["table"]["answers"][0]["low"]), 1, [])
        right = [[[1] * len(kept), 2, []]]
        document["table"]["answers"][0]["bound"] = right
        again = read_sealed(document, "x", domain)
        assert "bound" in again.to_dict()["table"]["answers"][0]
        document["table"]["answers"][0]["bound"] = bound
        with pytest.raises(InputError):
            read_sealed(document, "x", domain)


class TestPrices:
    @pytest.mark.slow
    @pytest.mark.parametrize("relation", RELATIONS)
    @pytest.mark.parametrize("name", ["clip", "product", "selected", "where", "count"])
    def test_the_price_is_that_of_the_code(self, name, relation):
        """Up to the rounding of float sums, which the sealed ones do not have."""
        domain, sealed = sealed_total(name, relation)
        far = {"clip": 50 if relation == "replace" else 60, "product": 2000, "selected": 10}
        change = {**far, "where": 120, "count": 1}[name]
        if relation == "add_remove":
            change = {"product": 1000, "selected": 5}.get(name, change)
        claim = change / 1e6
        for epsilon, expected in ((claim * 1.01, "YES"), (claim * 0.99, "INCONCLUSIVE")):
            verdict = lt.check_privacy(
                sealed.mechanism, domain, epsilon=epsilon, method="alignment"
            )
            assert verdict.decision == expected

    @pytest.mark.parametrize("low", [0.0, -1.0])
    def test_what_a_recipe_gives_beyond_its_ends_is_cut_off(self, low):
        """Whoever wrote the recipe: NaN, infinite and large numbers are told as an end."""
        domain = table(age=Real(0, 120), rows=3)
        recipe = (np.divide, ("number", np.float64, np.float64(1)), ("real", "age"))
        for made in (recipe, (np.sqrt, (np.negative, recipe)), (np.subtract, recipe, recipe)):
            one = RowAnswer(np.array([low]), np.array([2.0]), made)
            answers = RowAnswers(domain, {"age": frozenset()}, (), (one,))
            for ages in ([0.0, 0.0, 0.0], [1e-300, 0.25, 100], [120, 120, 1e-320]):
                [total] = answers.totals(domain.encode({"age": np.array(ages)}))
                assert 3 * low <= total <= 6


class TestLaws:
    @pytest.mark.slow
    def test_draws_follow_the_law_of_the_code(self):
        """A noisy count of rows by a real column, against real runs of the code."""
        domain = table(rows=20)

        def program(people, rng):
            return int((people["age"] > 65).sum() + rng.geometric(0.4) - rng.geometric(0.4))

        sealed = seal_sums_of(lt.mechanism(program).on_domain(domain), domain)
        people, below = frame(20), random.Random(5).randrange
        true, dataset = int((people["age"] > 65).sum()), domain.encode(people)
        drawn = [int(sealed.draw(dataset, below)) - true for _ in range(1500)]
        alpha = 0.6
        masses = [(1 - alpha) / (1 + alpha) * alpha ** abs(k) for k in range(-3, 4)]
        counts = [drawn.count(k) for k in range(-3, 4)]
        assert fits([*counts, 1500 - sum(counts)], [*masses, 1 - sum(masses)])


class TestReading:
    @pytest.fixture
    def document(self):
        _, sealed = sealed_total("two columns", "add_remove")
        return json.loads(json.dumps(sealed.to_dict()))

    def changed(self, document, *path):
        *places, last, value = path
        inner = document
        for place in places:
            inner = inner[place]
        inner[last] = value
        return document

    @pytest.mark.parametrize(
        "path",
        [
            ("table", "cuts", {}),
            ("table", "cuts", "age", ["nan"]),
            ("table", "cuts", "age", ["0x1p+10"]),
            ("table", "cuts", "age", [3]),
            ("table", "cuts", "weight", []),
            ("table", "conditions", 0, 0, "add"),
            ("table", "conditions", 0, 1, ["real", "weight"]),
            ("table", "conditions", 0, 1, ["real", "region"]),
            ("table", "conditions", 0, 1, ["table", ["0x0p+0"]]),
            ("table", "conditions", 0, 1, ["eval", "1"]),
            ("table", "conditions", 0, 1, ["add", ["real", "age"]]),
            ("table", "conditions", 0, 1, ["number", "x"]),
            ("table", "conditions", 0, 1, ["number", "nan"]),
            ("table", "answers", 0, "low", []),
            ("table", "answers", 0, "low", 0, "0x1p+0"),
            ("table", "answers", 0, "low", 1, "inf"),
            ("table", "answers", 0, "low", 1, "0x1p+1000"),
            ("table", "answers", 0, "recipe", ["real", "user"]),
            ("table", "answers", 0, "recipe", ["known", "x"]),
            ("table", "answers", 0, "bound", [[[0], 1, []]]),
            ("table", "answers", []),
            ("table", []),
            ("sums", 0, "added", [[1, "1", "1"]]),
        ],
    )
    def test_what_nobody_seals_is_not_read(self, document, path):
        domain, _ = sealed_total("two columns", "add_remove")
        read_sealed(document, "x", domain)
        with pytest.raises(InputError, match="is not what liptest seals"):
            read_sealed(self.changed(document, *path), "x", domain)

    def test_a_recipe_without_an_end_is_not_read(self, document):
        domain, _ = sealed_total("two columns", "add_remove")
        deep = ["real", "age"]
        for _ in range(300):
            deep = ["negative", deep]
        with pytest.raises(InputError):
            read_sealed(self.changed(document, "table", "answers", 0, "recipe", deep), "x", domain)

    def test_ends_that_are_the_wrong_way_round_are_not_read(self, document):
        domain, _ = sealed_total("two columns", "add_remove")
        one = document["table"]["answers"][0]
        one["low"], one["high"] = one["high"], one["low"]
        with pytest.raises(InputError):
            read_sealed(document, "x", domain)

    def test_narrower_ends_are_told_as_such(self, document):
        """The price is that of the ends, and so is what is added up."""
        domain, sealed = sealed_total("two columns", "add_remove")
        one = document["table"]["answers"][0]
        ends = zip(one["low"], one["high"], strict=True)
        one["high"] = [low if k % 2 else high for k, (low, high) in enumerate(ends)]
        again = read_sealed(document, "x", domain)
        assert isinstance(again, SealedSums)
        dataset = domain.encode(frame(6, seed=3))
        assert abs(again.sums.counted(dataset)[0]) <= abs(sealed.sums.counted(dataset)[0])


VENDOR = """
def members(people, rng):
    return int((people["member"] == 1).sum() + rng.geometric(0.5) - rng.geometric(0.5))
def ages(people, rng):
    return float(people["age"].sum() + rng.laplace(0, 120))
"""


class TestCommand:
    @pytest.fixture
    def release(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "vendor.py").write_text(VENDOR, encoding="utf-8")
        frame().to_csv("people.csv", index=False)

        def command(name, *more, private="people.csv", epsilon="1"):
            columns = "age:real:0..120,income:real,region:north|south|east,member:0..1"
            data = ("--domain", "table", "--records", str(ROWS), "--columns", columns)
            asked = ("--private", private, "--epsilon", epsilon, "--in-process", *more)
            return main(["release", f"vendor.py:{name}", *data, *asked])

        return command

    @pytest.mark.slow
    def test_a_private_csv_file_is_read_after_a_yes(self, release, capsys):
        assert release("members") == 0
        assert "RELEASED" in capsys.readouterr().out
        assert release("ages", "--grid-step", "0.01") == 0
        assert release("members", epsilon="0.5") != 0

    def test_a_file_that_does_not_fit_is_refused_before_any_work(self, release, tmp_path, capsys):
        frame().drop(columns="age").to_csv("less.csv", index=False)
        assert release("members", private="less.csv") == 2
        assert "age" in capsys.readouterr().err
        assert release("members", "--private-column", "age") == 2
        assert "leave it out" in capsys.readouterr().err

    @pytest.mark.slow
    @pytest.mark.parametrize("text", ["secret", "7_7"])
    def test_what_cannot_be_read_is_not_quoted(self, release, capsys, text):
        frame().assign(age=text).to_csv("texts.csv", index=False)
        assert release("members", private="texts.csv") != 0
        said = capsys.readouterr()
        assert text not in said.out + said.err
        assert "not a number" in said.err

    @pytest.mark.slow
    def test_another_process_seals_the_sums_of_a_table(self, release, capsys, monkeypatch):
        columns = "age:real:0..120,income:real,region:north|south|east,member:0..1"
        data = ("--domain", "table", "--records", str(ROWS), "--columns", columns)
        asked = ("--private", "people.csv", "--epsilon", "1")
        assert main(["release", "vendor.py:members", *data, *asked]) == 0
        assert "sealed in another" in " ".join(capsys.readouterr().out.split())

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("name", "epsilon", "step"), [("members", "0.3", ()), ("ages", "0.5", ("0.01",))]
    )
    def test_too_little_noise_is_a_no_with_its_witness(self, release, capsys, name, epsilon, step):
        """That of a check of the code; another process says it, and the file is not read."""
        columns = "age:real:0..120,income:real,region:north|south|east,member:0..1"
        data = ("--domain", "table", "--records", str(ROWS), "--columns", columns)
        asked = ("--private", "people.csv", "--epsilon", epsilon)
        more = ("--grid-step", *step) if step else ()
        assert main(["release", f"vendor.py:{name}", *data, *asked, *more]) == 1
        said = " ".join(capsys.readouterr().out.split())
        assert "changed row: 1 row of age" in said
        assert "checked in another process" in said
        assert "REFUSED - the private table was not read" in said

    @pytest.mark.slow
    def test_a_parquet_file_is_read(self, release, capsys):
        frame().to_parquet("people.parquet")
        assert release("members", private="people.parquet") == 0
