"""What accounts may ask for, and how much: attempts of vendors on the service and on each other."""

from __future__ import annotations

import asyncio
import re
import zlib
from typing import Any

import pytest

import liptest.service.pages as pages_module
from liptest.service import actions
from liptest.service.actions import MOST_FOLLOWED, MOST_FORMS, MOST_TOKENS, add_account, appearance
from liptest.service.passwords import hash_secret
from liptest.service.records import VENDOR, ServiceError
from liptest.service.web import make_app
from tests.unit.service.asgi import Client, Reply
from tests.unit.service.rooms import PASSWORD, Room, private_mechanism

LARGE = 10**30


def log_in(room: Room, name: str) -> Client:
    client = Client(make_app(room.store, room.places))
    assert client.post("/login", data={"name": name, "password": PASSWORD}).status_code == 303
    return client


def secret_of_forms(client: Client) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/account").text)
    assert found is not None
    return found[1]


def ask(room: Room, name: str, path: str, body: dict[str, Any]) -> Reply:
    token = f"token of {name}"
    if room.store.token_user(hash_secret(token)) is None:
        room.store.add_token(room.user(name), "t", hash_secret(token))
    headers = {"authorization": f"Bearer {token}", "idempotency-key": "key-00009"}
    return Client(make_app(room.store, room.places)).post(path, headers=headers, json=body)


@pytest.mark.parametrize("number", [LARGE, 1 << 63, -1])
def test_numbers_that_no_row_has(room: Room, number: int) -> None:
    code = {"file": "a.py", "name": "a", "code": "x"}
    people = {"name": "x", "tables": [number], "epsilon": 1, "delta": 1e-6}
    task = {"title": "t", "table": number, "check": {"epsilon": 1.0, "domain": {"records": 3}}}
    replies = [
        ask(room, "vera", "/api/submissions", {"task": number, **code}),
        ask(room, "olga", "/api/releases", {"submission": number}),
        ask(room, "olga", "/api/people", people),
        ask(room, "olga", "/api/tasks", task),
    ]
    assert [one.status_code for one in replies] == [400] * 4
    assert all("error" in one.json() for one in replies)


@pytest.mark.slow
def test_texts_that_no_database_takes(room: Room) -> None:
    table = {"name": "new", "file": "clicks.csv", "column": "a\0b", "epsilon": 1, "delta": 1e-6}
    assert ask(room, "olga", "/api/tables", table).status_code == 400
    client = Client(make_app(room.store, room.places))
    assert client.post("/login", data={"name": "a\0b", "password": "x"}).status_code == 403
    with pytest.raises(ServiceError, match="cannot be read as TOML"):
        actions.make_task(
            *(room.store, room.user("olga")),
            title="deep",
            table=1,
            check="a = " + "[" * 20_000,
            proof_only=True,
            approvals=1,
        )


def test_tokens_are_few_and_have_printable_names(room: Room) -> None:
    vera = room.user("vera")
    actions.add_token(room.store, vera, "a\0\x1b[2J\u202eb")
    [(_, name)] = room.store.tokens(vera)
    assert name == "a??[2J?b"
    for n in range(MOST_TOKENS - 1):
        actions.add_token(room.store, vera, f"t{n}")
    with pytest.raises(ServiceError, match="revoke one"):
        actions.add_token(room.store, vera, "one more")


def test_vendors_do_not_learn_whether_a_table_fits(room: Room) -> None:
    """A task whose domain the private table does not lie in is not there for them."""
    other = room.make_task(1, "epsilon = 1.0\n[domain]\nrecords = 13\n")
    assert room.store.task(other).state == "failed"
    vera, olga = log_in(room, "vera"), log_in(room, "olga")
    assert f"/tasks/{other}" in olga.get("/").text
    assert f"/tasks/{other}" not in vera.get("/").text
    assert f"/tasks/{room.task}" in vera.get("/").text
    assert vera.get(f"/tasks/{other}").status_code == 404
    assert olga.get(f"/tasks/{other}").status_code == 200
    assert [one.id for one in actions.visible_tasks(room.store, room.user("vera"))] == [room.task]


@pytest.mark.slow
def test_forms_are_counted(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    vera = log_in(room, "vera")
    csrf = secret_of_forms(vera)
    sent = {"csrf": csrf}
    codes = [vera.post("/tokens/0/revoke", data=sent).status_code for _ in range(MOST_FORMS)]
    assert set(codes) == {303}
    assert vera.post("/tokens/0/revoke", data=sent).status_code == 429
    assert log_in(room, "viki").get("/").status_code == 200
    room.clock.now += 61
    assert vera.post("/tokens/0/revoke", data=sent).status_code == 303


def test_one_account_does_not_hold_all_connections(room: Room) -> None:
    number = room.submit()
    vera = log_in(room, "vera")
    user = room.user("vera").id
    try:
        pages_module._FOLLOWED[user] = MOST_FOLLOWED
        assert vera.get(f"/submissions/{number}/events").status_code == 429
    finally:
        pages_module._FOLLOWED[user] = 0
    room.decide(number, private_mechanism())
    reply = vera.get(f"/submissions/{number}/events")
    assert (reply.status_code, reply.text) == (200, "event: state\ndata: YES\n\n")
    assert pages_module._FOLLOWED[user] == 0


def test_a_stream_that_fails_counts_no_longer() -> None:
    async def states() -> Any:
        yield "x"

    async def send(message: Any) -> None:
        raise OSError("the browser is gone")

    async def receive() -> Any:
        await asyncio.Event().wait()

    stream = pages_module._Followed(77, states())
    with pytest.raises(BaseException):  # noqa: B017
        asyncio.run(stream({"type": "http", "asgi": {"spec_version": "2.3"}}, receive, send))
    assert pages_module._FOLLOWED[77] == 0


@pytest.mark.slow
def test_a_renewed_account_is_that_of_nobody_who_knew_it(room: Room) -> None:
    vera, other = log_in(room, "vera"), log_in(room, "viki")
    token = actions.add_token(room.store, room.user("vera"), "t")
    assert room.store.token_user(hash_secret(token)) is not None
    actions.renew_account(room.store, "vera", "another password")
    assert vera.get("/account").status_code == 303
    assert other.get("/account").status_code == 200
    assert room.store.token_user(hash_secret(token)) is None
    client = Client(make_app(room.store, room.places))
    old, new = ({"name": "vera", "password": one} for one in (PASSWORD, "another password"))
    assert client.post("/login", data=old).status_code == 403
    assert client.post("/login", data=new).status_code == 303
    with pytest.raises(ServiceError, match="no account"):
        actions.renew_account(room.store, "nobody", PASSWORD)


def test_a_second_login_ends_the_first_session(room: Room) -> None:
    client = log_in(room, "vera")
    before = dict(client.cookies)
    page = client.get("/login").text
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found is not None
    sent = {"name": "viki", "password": PASSWORD, "csrf": found[1]}
    assert client.post("/login", data=sent).status_code == 303
    assert client.cookies != before
    client.cookies.update(before)
    assert client.get("/account").status_code == 303  # to the page that asks who it is


CYRILLIC_VERA, GREEK_VERA = "v\u0435r\u0430", "\u03bd\u03b5r\u03b1"


@pytest.mark.parametrize("name", [CYRILLIC_VERA, GREEK_VERA, "Vera", "VERA", "\uff56era"])
def test_names_that_look_like_another(room: Room, name: str) -> None:
    assert appearance(name) == appearance("vera")
    with pytest.raises(ServiceError, match=r"looks like 'vera'|already"):
        add_account(room.store, name, VENDOR, PASSWORD)


@pytest.mark.slow
def test_names_of_people(room: Room) -> None:
    for name in ("Ren\u00e9", "\u0418\u0432\u0430\u043d", "\u674e", "Vera K."):
        add_account(room.store, name, VENDOR, PASSWORD)
    assert room.store.user("Ren\u00e9") is not None
    with pytest.raises(ServiceError, match="already"):
        add_account(room.store, "Rene\u0301", VENDOR, PASSWORD)  # the same, in two characters
    typed = Client(make_app(room.store, room.places))
    sent = {"name": "Rene\u0301", "password": PASSWORD}
    assert typed.post("/login", data=sent).status_code == 303


@pytest.mark.slow
def test_what_unpacks_without_end_is_not_read(room: Room) -> None:
    number = room.submit()
    room.decide(number, private_mechanism())
    packer = zlib.compressobj(9)
    bomb = b"".join(packer.compress(bytes(1 << 24)) for _ in range(9)) + packer.flush()

    def exchange(db: Any) -> None:
        query = "UPDATE results SET report = ? WHERE submission_id = ?"
        db.execute(query, (bomb, number))

    room.store.base.write(exchange, rows_only=False)
    assert log_in(room, "vera").get(f"/submissions/{number}/report").status_code == 500
