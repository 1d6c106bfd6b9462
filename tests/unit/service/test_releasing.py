"""The releaser: what it refuses, that it answers a request once, that nothing private is stored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import liptest as lt
from liptest.evidence.ledger import Ledger
from liptest.gate import gate as gate_module
from liptest.gate.plain import read_output
from liptest.service import actions, releasing
from liptest.service.daemon import Daemon
from liptest.service.jobs import RELEASER, WORKER, Workplace
from liptest.service.ledger_view import view_ledger
from liptest.service.records import ANALYSE, RELEASE, ServiceError
from liptest.service.store import LEASE
from liptest.service.tasks import ALLOWED
from tests.unit.service.rooms import (
    CHECK,
    RECORDS,
    STRANGE,
    Room,
    analysed,
    private_mechanism,
    write,
)


def asked(room: Room, key: str = "release-1") -> int:
    if not room.store.submissions():
        room.decide(room.submit(), private_mechanism())
    return actions.ask_for_release(room.store, room.user("olga"), 1, key)


def test_an_output_a_row_and_less_budget(room: Room) -> None:
    number = asked(room)
    room.work()
    found = room.store.release(number)
    assert found.state == "released"
    assert isinstance(int(str(found.output)), int)
    [budget] = view_ledger(room.places).budgets
    assert (budget.cap, budget.releases) == (2.0, 1)
    assert budget.spent == pytest.approx(1.0, abs=1e-6)
    assert budget.left == pytest.approx(1.0, abs=1e-6)
    assert Ledger(room.places.ledger).problems() == []


PEOPLE = """
epsilon = 1.0
grid_step = 0.5
[domain]
kind = "table"
records = 40
fields = { age = "real:0..120", region = "north|south" }
"""


def old_in_the_north(people, rng):  # type: ignore[no-untyped-def]
    """Noisy sums over rows of a table, one of them where the other is large."""
    old = people[(people["age"] > 65) & (people["region"] == "north")]
    count = len(old) + rng.laplace(0, 2)
    if count < 3:
        return None
    return [float(count), float(old["age"].sum() + rng.laplace(0, 240))]


def whole_count(data, rng):  # type: ignore[no-untyped-def]
    return int(data.sum() + rng.geometric(0.5) - rng.geometric(0.5))


def people(room: Room) -> int:
    rows = [f"{k * 3},{'north' if k % 3 else 'south'}" for k in range(40)]
    text = "\n".join(["age,region", *rows])
    (room.places.private / "people.csv").write_text(text + "\n", encoding="utf-8")
    return room.register(name="people", file="people.csv", column="")


@pytest.mark.slow
def test_programs_on_tables_are_released(room: Room) -> None:
    table = people(room)
    assert {one.name: one.state for one in room.store.tables()}["people"] == "ready"
    room.task = room.make_task(table, PEOPLE)
    assert room.store.task(room.task).message == ""
    submission = room.submit()
    room.decide(submission, lt.mechanism(old_in_the_north))
    number = actions.ask_for_release(room.store, room.user("olga"), submission, "release-1")
    room.work()
    found = room.store.release(number)
    assert (found.state, found.message) == ("released", "")
    small = room.make_task(table, PEOPLE.replace("real:0..120", "real:0..100"))
    assert room.store.task(small).state == "failed"
    assert "age" in room.store.task(small).message


@pytest.mark.slow
def test_too_little_noise_on_a_table_is_a_no_with_its_witness(room: Room) -> None:
    room.task = room.make_task(people(room), PEOPLE.replace("epsilon = 1.0", "epsilon = 0.5"))
    code = b"def count(people, rng):\n    return float(people['age'].sum() + rng.laplace(0, 120))\n"
    number = room.submit(content=code)
    assert Daemon(WORKER, Workplace(room.store, room.places, ALLOWED, unconfined=True)).run_one()
    result = room.store.result(number)
    assert room.store.submission(number).state == "NO"
    assert result is not None
    assert "changed row: 1 row of age" in result.summary


@pytest.mark.slow
def test_whole_sums_are_released_after_a_proof(room: Room) -> None:
    submission = room.submit()
    room.decide(submission, lt.mechanism(whole_count))
    number = actions.ask_for_release(room.store, room.user("olga"), submission, "release-1")
    room.work()
    found = room.store.release(number)
    assert (found.state, found.message) == ("released", "")


def test_refused_at_the_cap(room: Room) -> None:
    numbers = [asked(room, f"release-{n}") for n in range(3)]
    room.work()
    states = [room.store.release(n).state for n in numbers]
    assert states == ["released", "released", "refused"]
    last = room.store.release(numbers[2])
    assert last.output is None
    assert last.message.startswith("the cap of private table 'clicks' is epsilon 2")


@pytest.mark.slow
def test_tables_about_the_same_people_share_a_budget(room: Room) -> None:
    write(room.places, "orders.csv", [0, 1] * (RECORDS // 2))
    orders = room.register(name="orders", file="orders.csv")
    given = {"name": "visitors", "epsilon": 2.5, "delta": 1e-9}
    olga = room.user("olga")
    with pytest.raises(ServiceError, match="there is no table 99"):
        actions.name_people(room.store, olga, tables=[1, 99], **given)
    assert room.store.people() == []
    number = actions.name_people(room.store, olga, tables=[1], **given)
    room.work()
    assert actions.name_people(room.store, olga, tables=[orders], **given) == number
    room.work()
    [group] = room.store.people()
    assert (group.tables, group.state) == (("clicks", "orders"), "ready")
    with pytest.raises(ServiceError, match=r"have the cap 2\.5 at 1e-09 already"):
        actions.name_people(room.store, olga, tables=[1], **{**given, "epsilon": 9.0})
    with pytest.raises(ServiceError, match="only operators"):
        actions.name_people(room.store, room.user("vera"), tables=[1], **given)
    first = [asked(room, f"clicks-{n}") for n in range(2)]
    room.work()
    room.task = room.make_task(orders)
    submission = room.submit(key="key-of-orders")
    room.decide(submission, private_mechanism())
    last = actions.ask_for_release(room.store, olga, submission, "orders-1")
    room.work()
    assert [room.store.release(n).state for n in (*first, last)] == [*["released"] * 2, "refused"]
    assert (
        "the people 'visitors' (private tables clicks, orders)" in room.store.release(last).message
    )
    shared = view_ledger(room.places).budgets[-1]
    assert (shared.title, shared.releases) == ("visitors (clicks, orders)", 2)
    # Whoever owns the web process and its database cannot take a table out, or raise the cap.
    for change in ({"tables": ("orders",)}, {"epsilon": 100.0}):
        state, message, _ = releasing.cap_people(replace(group, **change), room.places)
        assert (state, message[:15]) == ("failed", "the ledger caps")


def test_killed_between_the_ledger_and_the_database(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = asked(room)
    with monkeypatch.context() as patch:
        patch.setattr(type(room.store), "finish", lambda *_, **__: (_ for _ in ()).throw(OSError))
        with pytest.raises(OSError):
            Daemon(RELEASER, Workplace(room.store, room.places, ALLOWED)).run_one()
    drawn = Ledger(room.places.ledger).released("clicks", "release-1")
    assert drawn is not None
    room.clock.now += LEASE + 1
    room.work()
    assert room.store.release(number).output == repr(read_output(drawn))
    [budget] = view_ledger(room.places).budgets
    assert budget.releases == 1


def other_request(room: Room) -> int:
    """The same mechanism from another vendor, under a key that the ledger knows already."""
    room.decide(room.submit("viki", key="key-00002"), private_mechanism())
    return actions.ask_for_release(room.store, room.user("olga"), 2, "release-2")


def test_a_key_of_another_request_is_refused(room: Room) -> None:
    """As after a backup of the database that is older than the ledger."""
    asked(room, "release-1")
    room.work()
    request = room.store.release(other_request(room))
    task, table = room.store.task(room.task), room.store.table(1)
    result = room.store.result(2)
    assert result is not None
    stale = replace(request, key="release-1")
    state, message, output = releasing.answer_request(stale, task, table, result, room.places)
    assert (state, output) == ("refused", None)
    assert "named another request" in message
    room.work()
    assert room.store.release(request.id).state == "released"


def test_a_draw_that_fails_counts_once(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    number = asked(room)

    def fail(*_: object) -> str:
        raise MemoryError(str(STRANGE))

    monkeypatch.setattr("liptest.gate.sealed.SealedNoise.draw", fail)
    room.work()
    found = room.store.release(number)
    assert (found.state, found.output) == ("refused", None)
    assert "withheld" in found.message
    assert str(STRANGE) not in found.message
    [budget] = view_ledger(room.places).budgets
    assert budget.releases == 1
    task, table, result = room.store.task(room.task), room.store.table(1), room.store.result(1)
    assert result is not None
    again = releasing.answer_request(found, task, table, result, room.places)
    assert again[0] == "refused"
    assert "it counts" in again[1]
    assert view_ledger(room.places).budgets == (budget,)


def test_fewer_agreed_than_the_service_asks_for(room: Room) -> None:
    """Of a task that asks for one, made before, or by whoever owns the database."""
    number = asked(room)
    place = Workplace(room.store, room.places, ALLOWED, approvals=2)
    assert Daemon(RELEASER, place).run_one()
    found = room.store.release(number)
    assert (found.state, found.output) == ("refused", None)
    assert "2 operators must agree" in found.message
    assert view_ledger(room.places).budgets[0].releases == 0


@pytest.mark.slow
def test_given_up_only_when_nothing_was_drawn(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = asked(room, "release-1"), asked(room, "release-2")
    with monkeypatch.context() as patch:
        patch.setattr(type(room.store), "finish", lambda *_, **__: (_ for _ in ()).throw(OSError))
        with pytest.raises(OSError):
            Daemon(RELEASER, Workplace(room.store, room.places, ALLOWED)).run_one()
    for _ in range(releasing.MOST_OF_RELEASER):
        room.clock.now += LEASE + 1
        assert room.store.claim((RELEASE,)) is not None
        assert room.store.claim((RELEASE,)) is not None
    room.clock.now += LEASE + 1
    room.work()
    assert room.store.release(first).state == "released"
    assert room.store.release(second).state == "refused"
    assert "limit of attempts" in room.store.release(second).message


def test_laws_that_were_exchanged_are_tested_again(room: Room) -> None:
    """Whoever owns the worker or the web process can choose laws, and no more."""
    number = room.submit()
    job = room.store.claim((ANALYSE,))
    assert job is not None
    result, decision = analysed(room, lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(0.25)))
    assert decision == "NO"
    assert room.store.finish(job, "YES", result=replace(result, is_proof=True))
    actions.ask_for_release(room.store, room.user("olga"), number, "release-1")
    room.work()
    found = room.store.release(1)
    assert (found.state, found.output) == ("refused", None)
    assert found.message == "the releaser's own test says NO; nothing was read"


def test_private_data_are_read_after_a_yes_only(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = room.submit()
    room.decide(number, private_mechanism())
    (room.places.private / "clicks.csv").unlink()
    seen: list[str] = []
    real = gate_module.SealedGate.__init__

    def noted(self: gate_module.SealedGate, *given: object, **more: object) -> None:
        real(self, *given, **more)  # type: ignore[arg-type]
        seen.append(str(self.certificate.decision))

    monkeypatch.setattr(gate_module.SealedGate, "__init__", noted)
    asked(room)
    room.work()
    assert seen == ["YES"]
    assert room.store.release(1).state == "refused"
    assert Ledger(room.places.ledger).released("clicks", "release-1") is None


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("missing.csv", "no private file has that name"),
        ("wrong.csv", "no such column"),
    ],
)
def test_tables_that_cannot_be_read(room: Room, file: str, said: str) -> None:
    (room.places.private / "wrong.csv").write_text("age,sex\n1,2\n")
    found = room.store.table(room.register(name="other", file=file))
    assert found.state == "failed"
    assert said in found.message


@pytest.mark.parametrize("file", ["../service.db", "/etc/passwd", ".hidden", "a/b.csv", "x\n.csv"])
def test_no_file_outside_of_the_folder(room: Room, file: str) -> None:
    with pytest.raises(ServiceError, match="without a folder"):
        room.register(name="other", file=file)


def test_a_link_out_of_the_folder_is_no_table(room: Room, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("click\n1\n")
    (room.places.private / "link.csv").symlink_to(tmp_path / "secret.csv")
    assert room.store.table(room.register(name="other", file="link.csv")).state == "failed"


def test_a_cap_is_not_raised_from_here(room: Room) -> None:
    number = room.register(name="second", file="clicks.csv", cap=1.0)
    found = room.store.table(number)
    assert found.state == "ready"
    # As somebody would who owns the web process and its database.
    state, message, _ = releasing.register_file(
        type(found)(**{**vars(found), "epsilon": 100.0}), room.places
    )
    assert state == "failed"
    assert "has a cap for it already" in message


def test_what_does_not_fit_is_not_quoted(room: Room) -> None:
    write(room.places, "strange.csv", [STRANGE] * RECORDS)
    table = room.register(name="strange", file="strange.csv")
    task = room.store.task(room.make_task(table))
    assert task.state == "failed"
    short = f"epsilon = 1.0\n[domain]\nrecords = {RECORDS - 1}\n"
    assert room.store.task(room.make_task(1, short)).state == "failed"
    assert room.store.task(room.make_task(1, CHECK)).state == "ready"
    assert str(STRANGE).encode() not in room.stored()


def test_no_release_after_a_no(room: Room) -> None:
    number = room.submit()
    room.decide(number, lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(0.25)))
    with pytest.raises(ServiceError, match="nothing is released after NO"):
        actions.ask_for_release(room.store, room.user("olga"), number, "release-1")
