"""Caps of private tables, and releases under claims of other forms in a ledger."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from fractions import Fraction as F

import pytest

import liptest as lt
from liptest.cli import main
from liptest.errors import GateError, InputError, LedgerError
from liptest.evidence.ledger_entries import Attempt
from liptest.gate.gate import Released
from liptest.privacy.composition import compose
from liptest.privacy.compositions import release_costs
from liptest.privacy.notions import MuClaim, RenyiClaim, RhoClaim
from tests.unit.evidence.ledgers import raw

LAW = lt.ProductDistribution.bernoulli([0.3] * 6)
SECRET = [0, 1, 0, 0, 1, 0]
GEOMETRIC = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(10))
GAUSS = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(10))


@pytest.fixture
def ledger(tmp_path):
    return lt.Ledger(tmp_path / "ledger.db")


def gate(ledger, mechanism=GEOMETRIC, table="clicks", **claim):
    known = {"ledger": ledger, "vendor": "acme", "private_table": table}
    return lt.PrivacyGate(mechanism, LAW, **(claim or {"epsilon": 0.1}), **known)


def test_a_release_beyond_the_cap_is_refused_before_the_draw(ledger):
    ledger.set_cap("clicks", epsilon=0.25, delta=1e-6)
    made = gate(ledger, epsilon=0.1, releases=5)
    made.release(SECRET)
    made.release(SECRET)
    rows = ledger.summary().rows
    with pytest.raises(GateError, match=r"cap of private table 'clicks' is epsilon 0.25 at delta"):
        made.release(SECRET)
    assert ledger.summary().rows == rows
    assert made.releases_left == 3
    assert ledger.cost("clicks", delta=1e-6).epsilon <= 0.25
    # The last cap counts; another table has none.
    ledger.set_cap("clicks", epsilon=1.0, delta=1e-6)
    made.release(SECRET)
    gate(ledger, table="other", epsilon=5.0).release(SECRET)
    assert ledger.caps()["clicks"].epsilon == 1
    assert not ledger.problems()


@pytest.mark.slow
def test_tables_about_the_same_people_share_a_cap(ledger, capsys):
    ledger.set_cap("clicks", epsilon=0.25, delta=1e-6)
    ledger.set_people("visitors", ["orders", "clicks"], epsilon=0.35, delta=1e-6)
    clicks, orders, other = (
        gate(ledger, table=table, epsilon=0.1, releases=4)
        for table in ("clicks", "orders", "other")
    )
    clicks.release(SECRET)
    clicks.release(SECRET)
    with pytest.raises(GateError, match=r"cap of private table 'clicks' is epsilon 0\.25"):
        clicks.release(SECRET)
    orders.release(SECRET)
    rows = ledger.summary().rows
    for one in (orders, clicks):
        with pytest.raises(GateError, match="cap of "):
            one.release(SECRET)
    assert ledger.summary().rows == rows
    assert orders.releases_left == 3
    for _ in range(4):
        other.release(SECRET)
    # A group of the name of a table is another thing than the table's cap.
    ledger.set_people("clicks", ["clicks", "orders", "other"], epsilon=0.71, delta=1e-6)
    assert ledger.caps()["clicks"].epsilon == F("0.25")
    with pytest.raises(
        GateError, match=r"people 'clicks' \(private tables clicks, orders, other\)"
    ):
        gate(ledger, table="other").release(SECRET)
    ledger.set_people("visitors", ["orders", "clicks"], epsilon=5.0, delta=1e-6)
    ledger.set_people("clicks", ["clicks"], epsilon=5.0, delta=1e-6)
    orders.release(SECRET)
    assert ledger.problems() == []
    assert main(["ledger", "show", str(ledger.path)]) == 0
    said = capsys.readouterr().out
    assert "people 'visitors' (private tables clicks, orders), 4 releases together" in said


@pytest.mark.slow
def test_a_shared_cap_is_the_cap_of_one_table_with_all_releases(ledger, monkeypatch):
    """Releases from two tables cost what the same releases from one cost."""
    monkeypatch.setattr(release_costs, "_CELLS", 1 << 14)
    ledger.set_people("all", ["a", "b"], epsilon=9.0, delta=1e-5)
    for n, mechanism in enumerate([GEOMETRIC, GAUSS] * 2):
        claim = {"epsilon": 0.3} if mechanism is GEOMETRIC else {"rho": 0.01}
        for table in ("ab"[n % 2], "one"):
            gate(ledger, mechanism, table=table, **claim).release(SECRET)
    together = ledger.people()["all"].cost(ledger.attempts())
    assert (together.releases, together.delta) == (4, 1e-5)
    assert together.epsilon == ledger.cost("one", delta=1e-5).epsilon


def test_groups_of_people_are_only_widened_where_that_is_asked_for(ledger):
    given = {"epsilon": 1.0, "delta": 1e-6}
    ledger.set_people("visitors", ["a", "b"], **given, widen_only=True)
    ledger.set_people("visitors", ["c", "a", "b"], **given, widen_only=True)
    assert ledger.people()["visitors"].people == ("a", "b", "c")
    for tables, change in ((["a", "b"], {}), (["a", "b", "c"], {"epsilon": 2.0})):
        with pytest.raises(GateError, match="caps the people 'visitors'"):
            ledger.set_people("visitors", tables, **{**given, **change}, widen_only=True)
    with pytest.raises(InputError, match="name the private tables"):
        ledger.set_people("none", [], **given)
    path = str(ledger.path)
    typed = ["ledger", "people", path, "visitors", "a", "--epsilon", "2", "--delta", "1e-6"]
    assert main(typed) == 0
    assert ledger.people()["visitors"].people == ("a",)


@pytest.mark.slow
def test_a_cap_holds_for_all_gates_of_a_table_together(ledger):
    ledger.set_cap("clicks", epsilon=0.9, delta=1e-5)
    drawn = 0
    for _ in range(30):
        try:
            gate(ledger, epsilon=0.1).release(SECRET)
            drawn += 1
        except GateError:
            break
    # More than 9 releases of 0.1: they are composed, not added up.
    assert drawn >= 9
    assert ledger.cost("clicks", delta=1e-5).epsilon <= 0.9


def test_what_meets_a_cap_exactly_is_released(ledger):
    ledger.set_cap("clicks", epsilon=1.0, delta=1e-6)
    made = gate(ledger, GAUSS, releases=2, epsilon=1.0, delta=1e-6)
    assert isinstance(made.release(SECRET), Released)
    with pytest.raises(GateError, match="have no epsilon at that delta"):
        made.release(SECRET)
    found = ledger.cost("clicks", delta=1e-6)
    assert found.is_within(1.0)
    assert not found.is_within(0.999)


@pytest.mark.slow
@pytest.mark.parametrize(
    "claim",
    [
        {"rho": 0.005},
        {"renyi": [(2, 0.01), (32, 0.16)]},
        {"curve": {0.5: 1e-6, 0.3: 2e-3}},
    ],
)
def test_claims_of_other_forms_are_released_and_composed(ledger, claim, monkeypatch):
    monkeypatch.setattr(release_costs, "_CELLS", 1 << 14)
    made = gate(ledger, GAUSS, releases=9, **claim)
    for _ in range(3):
        made.release(SECRET)
    found = ledger.cost("clicks", delta=1e-4)
    assert found.releases == found.other_releases == 3
    expected = compose([made.certificate.verdict], releases=3).epsilon_at(1e-4).upper
    assert found.epsilon == pytest.approx(expected, rel=1e-5)
    assert found.epsilon < expected
    assert "epsilons add up" not in str(found)
    assert "liptest ledger cost" in str(ledger.summary())
    assert ledger.attempts()[0].terms is not None
    assert not ledger.problems()
    # Together with what has an epsilon.
    gate(ledger).release(SECRET)
    both = ledger.cost("clicks", delta=1e-4)
    assert found.epsilon < both.epsilon < found.epsilon + 0.11 + 1e-3
    ledger.set_cap("clicks", epsilon=both.epsilon + 1e-6, delta=1e-4)
    with pytest.raises(GateError, match="cap"):
        made.release(SECRET)


@pytest.mark.slow
def test_gaussian_releases_compose_as_one(ledger, monkeypatch):
    monkeypatch.setattr(release_costs, "_CELLS", 1 << 14)
    geometric = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(4))
    made = gate(ledger, geometric, releases=2, mu=0.32)
    for _ in range(2):
        made.release(SECRET)
    exact = compose([made.certificate.verdict], releases=2)
    assert exact.mu == pytest.approx(0.32 * math.sqrt(2), rel=1e-6)
    found = ledger.cost("clicks", delta=1e-3)
    assert gaussian_delta(exact.mu, found.epsilon) == pytest.approx(1e-3, rel=1e-2)


def gaussian_delta(mu, epsilon):
    """Of a pair of normal laws mu apart, by hand."""
    near, far = (math.erfc((epsilon / mu + by) / math.sqrt(2)) / 2 for by in (-mu / 2, mu / 2))
    return near - math.exp(epsilon) * far


def test_rhos_add_up_before_they_become_an_epsilon(ledger):
    made = gate(ledger, GAUSS, releases=100, rho=0.005)
    for _ in range(20):
        made.release(SECRET)
    # The plain conversion of rho 0.1.
    plain = 0.1 + 2 * math.sqrt(0.1 * math.log(1e6))
    assert 0.7 * plain < ledger.cost("clicks", delta=1e-6).epsilon < plain


@pytest.mark.parametrize(
    ("epsilon", "delta", "says"), [(0, 0.1, "epsilon"), (1, 0, "delta"), (1, 1, "delta")]
)
def test_what_is_no_cap_is_refused(ledger, epsilon, delta, says):
    with pytest.raises(InputError, match=says):
        ledger.set_cap("clicks", epsilon=epsilon, delta=delta)
    with pytest.raises(InputError, match="private_table"):
        ledger.set_cap("two\nlines", epsilon=1.0, delta=1e-6)


def test_a_changed_cap_is_noticed(ledger):
    ledger.set_cap("clicks", epsilon=1.0, delta=1e-6)
    assert not ledger.problems()
    with closing(sqlite3.connect(ledger.path)) as connection:
        connection.execute("DROP TRIGGER entries_are_not_changed")
        connection.execute("UPDATE entries SET entry = replace(entry, '1.0', '9.0')")
        connection.commit()
    assert any("hash" in problem for problem in ledger.problems())


def test_a_ledger_of_the_version_before_works_without_caps(tmp_path):
    path = tmp_path / "old.db"
    lt.Ledger(path)
    kinds = "('attempt', 'verdict', 'release', 'cap')"
    with closing(sqlite3.connect(path)) as connection:
        statements = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master")]
        connection.execute("DROP TABLE entries")
        for sql in statements:
            connection.execute(sql.replace(kinds, "('attempt', 'verdict', 'release')"))
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    old = lt.Ledger(path)
    gate(old).release(SECRET)
    assert old.cost("clicks", delta=1e-6).releases == 1
    assert not old.problems()
    with pytest.raises(LedgerError, match="without caps"):
        old.set_cap("clicks", epsilon=1.0, delta=1e-6)
    raw(path, "PRAGMA user_version = 2")
    assert old.problems()


def test_rows_that_no_ledger_wrote(ledger):
    made = gate(ledger, GAUSS, rho=0.005)
    (one,) = ledger.attempts()
    assert isinstance(one, Attempt)
    assert one.known_terms.rho == F("0.005")
    assert made.certificate.verdict.claim == RhoClaim(0.005)
    from liptest.evidence.ledger_entries import _read_terms, _terms_fields

    for claim in (RenyiClaim(((2.0, 0.5),)), MuClaim(0.5), RhoClaim(0.25)):
        assert _read_terms(_terms_fields(claim)) is not None
    wrong = [{"rho": "0"}, {"orders": [["1", "0.5"]]}, {"points": []}, {"sigma": "1"}, {"mu": "x"}]
    for fields in wrong:
        with pytest.raises((ValueError, TypeError)):
            _read_terms(fields)


def test_the_command_line(ledger, capsys):
    path = str(ledger.path)
    assert main(["ledger", "cost", path, "clicks"]) == 2
    assert "has no cap" in capsys.readouterr().err
    gate(ledger).release(SECRET)
    assert main(["ledger", "cap", path, "clicks", "--epsilon", "0.5", "--delta", "1e-6"]) == 0
    assert "cap: epsilon 0.5 at delta 1e-06" in capsys.readouterr().out
    assert main(["ledger", "cost", path, "clicks"]) == 0
    assert "1 releases together" in capsys.readouterr().out
    assert main(["ledger", "cost", path, "clicks", "--delta", "1e-9", "--json"]) == 0
    assert '"within_cap": true' in capsys.readouterr().out
    assert main(["ledger", "cap", path, "clicks", "--epsilon", "0.01", "--delta", "1e-6"]) == 0
    capsys.readouterr()
    assert main(["ledger", "cost", path, "clicks"]) == 1
    capsys.readouterr()
    assert main(["ledger", "show", path]) == 0
    assert "cap: epsilon 0.01" in capsys.readouterr().out
    assert main(["ledger", "cap", path, "clicks", "--epsilon", "0", "--delta", "1e-6"]) == 2
