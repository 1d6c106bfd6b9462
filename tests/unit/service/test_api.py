"""The API: its document is true, tokens and roles hold, requests sent twice are one."""

from __future__ import annotations

from typing import Any

import pytest

from liptest.service.api import OPERATIONS, describe_api
from liptest.service.passwords import hash_secret, new_secret
from liptest.service.web import make_app
from tests.unit.service.asgi import Client
from tests.unit.service.rooms import CODE, Room, digest_of, private_mechanism

NEW = {"task": 1, "file": "mine.py", "name": "count", "code": CODE.decode()}


class Caller:
    """The API with the token of a user."""

    def __init__(self, room: Room, name: str) -> None:
        secret = new_secret()
        room.store.add_token(room.user(name), "test", hash_secret(secret))
        self.client = Client(make_app(room.store, room.places))
        self.headers = {"authorization": f"Bearer {secret}"}

    def get(self, path: str) -> tuple[int, Any]:
        answer = self.client.get(path, headers=self.headers)
        return answer.status_code, answer.json()

    def post(self, path: str, body: Any, key: str = "key-00001") -> tuple[int, Any]:
        headers = {**self.headers, "idempotency-key": key}
        answer = self.client.post(path, json=body, headers=headers)
        return answer.status_code, answer.json()


def test_the_document_names_every_operation(room: Room) -> None:
    document = Client(make_app(room.store, room.places)).get("/api/openapi.json").json()
    assert document == describe_api()
    named = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    assert named == {(one.method, one.path) for one in OPERATIONS}
    text = str(document)
    for name in document["components"]["schemas"]:
        assert f"#/components/schemas/{name}" in text


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: f"{one.method} {one.path}")
def test_nothing_without_a_token(room: Room, operation: Any) -> None:
    client = Client(make_app(room.store, room.places))
    path = operation.path.replace("{number}", "1")
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic b2xnYQ=="}):
        answer = client.request(operation.method, path, headers=headers)
        assert (answer.status_code, list(answer.json())) == (401, ["error"])


def test_what_vendors_may_not(room: Room) -> None:
    vera = Caller(room, "vera")
    for path in ("/api/tables", "/api/releases", "/api/releases/1", "/api/ledger"):
        assert vera.get(path)[0] == 403
    table = {"name": "t", "file": "x.csv", "epsilon": 1, "delta": 1e-9}
    assert vera.post("/api/tables", table)[0] == 403
    task = {"title": "t", "table": 1, "check": {"epsilon": 1}}
    assert vera.post("/api/tasks", task)[0] == 403
    assert vera.post("/api/releases", {"submission": 1})[0] == 403
    assert vera.post("/api/releases/1/approve", {})[0] == 403


@pytest.mark.parametrize(
    "body",
    [{}, {**NEW, "task": "one"}, {**NEW, "trust_code": True}, [], "x", {**NEW, "code": 3}],
)
def test_bodies_that_are_none(room: Room, body: Any) -> None:
    status, answer = Caller(room, "vera").post("/api/submissions", body)
    assert status == 400
    assert list(answer) == ["error"]


@pytest.mark.slow
def test_the_whole_way(room: Room) -> None:
    vera, viki, olga = (Caller(room, name) for name in ("vera", "viki", "olga"))
    status, sent = vera.post("/api/submissions", NEW)
    assert (status, sent["state"], sent["code"]) == (201, "queued", digest_of(CODE))
    assert vera.post("/api/submissions", NEW)[1]["id"] == sent["id"]
    assert vera.post("/api/submissions", {**NEW, "code": "x = 1"})[0] == 409
    assert viki.get("/api/submissions/1")[0] == 404
    assert vera.get("/api/submissions/1/certificate")[0] == 404
    room.decide(1, private_mechanism())
    assert "YES by proof" in vera.get("/api/submissions/1")[1]["verdict"]
    assert vera.get("/api/submissions/1/certificate")[1]["verdict"]["decision"] == "YES"
    assert [one["id"] for one in viki.get("/api/submissions")[1]] == []
    status, asked = olga.post("/api/releases", {"submission": 1}, "release-1")
    assert (status, asked["state"], asked["approvers"]) == (201, "approved", ["olga"])
    room.work()
    assert olga.post("/api/releases", {"submission": 1}, "release-1")[1]["id"] == asked["id"]
    done = olga.get("/api/releases/1")[1]
    assert done["state"] == "released"
    assert done["output"] is not None
    ledger = olga.get("/api/ledger")[1]
    assert (ledger["problems"], ledger["budgets"][0]["releases"]) == ([], 1)
    assert olga.get("/api/tasks")[1][0]["state"] == "ready"
    assert olga.post("/api/submissions", NEW)[0] == 403
    assert olga.get("/api/submissions/abc")[0] == 404


def test_operators_make_tables_and_tasks(room: Room) -> None:
    olga = Caller(room, "olga")
    table = {"name": "more", "file": "clicks.csv", "column": "click", "epsilon": 1, "delta": 1e-9}
    status, made = olga.post("/api/tables", table)
    assert (status, made["state"]) == (201, "checking")
    check = {"epsilon": 0.5, "domain": {"records": 12}}
    task = {"title": "more", "table": made["id"], "check": check, "approvals": 2}
    assert olga.post("/api/tasks", task)[0] == 201
    bad = {**task, "check": {**check, "trust_code": True}}
    assert olga.post("/api/tasks", bad)[0] == 400
    room.work()
    assert [one["state"] for one in olga.get("/api/tables")[1]] == ["ready", "ready"]
    people = {"name": "all", "tables": [1, made["id"]], "epsilon": 1.5, "delta": 1e-9}
    assert Caller(room, "vera").post("/api/people", people)[0] == 403
    assert olga.post("/api/people", {**people, "tables": []})[0] == 400
    assert olga.post("/api/people", people)[1]["tables"] == ["clicks", "more"]
    room.work()
    assert olga.get("/api/people")[1][0]["state"] == "ready"
    shared = olga.get("/api/ledger")[1]["budgets"][-1]
    assert (shared["table"], shared["tables"], shared["cap"]) == ("all", ["clicks", "more"], 1.5)


def test_the_service_is_told_of_no_cookie(room: Room) -> None:
    """A browser that is logged in cannot be made to call the API."""
    client = Client(make_app(room.store, room.places))
    room.store.add_session(room.user("vera"), hash_secret("secret"), "csrf", 60)
    client.cookies["liptest_session"] = "secret"
    assert client.get("/api/submissions").status_code == 401
