"""The pages against the application: roles, secrets of forms, policies, every refusal."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from liptest.service import actions
from liptest.service.guards import MOST_BODY, POLICY, is_own_form
from liptest.service.web import make_app
from tests.unit.service.asgi import Client
from tests.unit.service.rooms import CHECK, CODE, PASSWORD, Room, private_mechanism

PAGES = ["/", "/tasks/1", "/tables", "/ledger", "/account", "/submissions/1", "/releases/1"]
FOR_OPERATORS = ["/tables", "/ledger", "/releases/1"]


class Browser:
    """A client that keeps cookies, and sends the secret of the page that it saw last."""

    def __init__(self, room: Room) -> None:
        self.client = Client(make_app(room.store, room.places))
        self.csrf = ""

    def get(self, path: str) -> tuple[int, str]:
        answer = self.client.get(path)
        found = re.search(r'name="csrf" value="([^"]+)"', answer.text)
        self.csrf = self.csrf if found is None else found[1]
        return answer.status_code, answer.text

    def post(self, path: str, *, csrf: str | None = None, **form: str) -> tuple[int, str]:
        form["csrf"] = self.csrf if csrf is None else csrf
        answer = self.client.post(path, data=form)
        return answer.status_code, answer.headers.get("location", answer.text)

    def send(self, content: bytes, file: str = "mine.py", **form: str) -> tuple[int, str]:
        form = {"task": "1", "name": "count", "key": "key-00001", "csrf": self.csrf, **form}
        answer = self.client.post("/submissions", data=form, files={"file": (file, content)})
        return answer.status_code, answer.headers.get("location", answer.text)


Enter = Callable[[str], Browser]


@pytest.fixture
def enter(room: Room) -> Enter:
    def entered(name: str) -> Browser:
        browser = Browser(room)
        assert browser.post("/login", name=name, password=PASSWORD) == (303, "/")
        assert browser.get("/")[0] == 200
        return browser

    return entered


def test_nothing_without_a_session(room: Room) -> None:
    browser = Browser(room)
    for path in PAGES:
        assert browser.client.get(path).headers["location"] == "/login"
    for path in ("/tables", "/tasks", "/users", "/tokens", "/releases/1/approve"):
        assert browser.post(path)[1] == "/login"
    assert browser.send(CODE)[1] == "/login"
    assert browser.get("/submissions/1/events")[0] == 403
    assert room.store.submissions() == []


def test_the_cookie_is_no_use_to_others(room: Room) -> None:
    browser = Browser(room)
    answer = browser.client.post("/login", data={"name": "vera", "password": PASSWORD})
    said = answer.headers["set-cookie"].lower()
    assert "httponly" in said
    assert "samesite=strict" in said
    secret = browser.client.cookies["liptest_session"]
    assert secret.encode() not in room.stored()
    browser.get("/")
    assert browser.post("/logout") == (303, "/login")
    browser.client.cookies["liptest_session"] = secret
    assert browser.get("/")[0] == 303


def test_a_session_ends(room: Room, enter: Enter) -> None:
    browser = enter("vera")
    room.clock.now += 9 * 3600
    assert browser.get("/")[0] == 303


def test_wrong_passwords_are_counted(room: Room) -> None:
    browser = Browser(room)
    room.store.add_user("x", "vendor", "no hash at all")
    assert browser.post("/login", name="x", password="")[0] == 403
    for _ in range(actions.MOST_LOGINS):
        assert browser.post("/login", name="vera", password="wrong")[0] == 403
    assert browser.post("/login", name="vera", password=PASSWORD)[0] == 429
    room.clock.now += 301
    assert browser.post("/login", name="vera", password=PASSWORD)[0] == 303


def test_every_answer_has_the_policies(room: Room, enter: Enter) -> None:
    browser = enter("olga")
    for path in [*PAGES, "/login", "/nowhere", "/static/style.css", "/api/openapi.json"]:
        headers = browser.client.get(path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
    assert "unsafe" not in POLICY
    for path in PAGES[:5]:
        text = browser.get(path)[1]
        assert "style=" not in text
        assert re.findall(r"<script(?! src=\"/static/)", text) == []


def test_forms_need_the_secret_of_their_session(room: Room, enter: Enter) -> None:
    browser, other = enter("vera"), enter("viki")
    for csrf in ("", "wrong", other.csrf):
        assert browser.send(CODE, csrf=csrf)[0] == 403
        assert browser.post("/tokens", name="mine", csrf=csrf)[0] == 403
    assert room.store.submissions() == []
    assert browser.send(CODE) == (303, "/submissions/1")


@pytest.mark.parametrize(
    ("headers", "own"),
    [
        ((None, None, "here"), True),
        (("http://here", "same-origin", "here"), True),
        (("http://there", None, "here"), False),
        (("null", None, "here"), False),
        (("http://here", "cross-site", "here"), False),
        ((None, "same-site", "here"), False),
    ],
)
def test_forms_of_other_pages(headers: tuple[str | None, ...], own: bool) -> None:
    assert is_own_form(*headers) is own


def test_forms_of_other_pages_are_refused(room: Room) -> None:
    form = {"name": "vera", "password": PASSWORD}
    answer = Browser(room).client.post("/login", data=form, headers={"origin": "http://there"})
    assert answer.status_code == 403


def test_vendors_see_what_is_theirs(room: Room, enter: Enter) -> None:
    browser, other = enter("vera"), enter("viki")
    browser.send(CODE)
    for path in ("", "/report", "/certificate", "/code", "/events"):
        assert other.get(f"/submissions/1{path}")[0] == 404
    assert browser.get("/submissions/1")[0] == 200
    for path in FOR_OPERATORS:
        assert browser.get(path)[0] == 403
    more = {"name": "t", "file": "clicks.csv", "epsilon": "9", "delta": "1e-9", "title": "t"}
    for path in ("/tables", "/tasks", "/users", "/submissions/1/releases", "/releases/1/approve"):
        assert browser.post(path, **more, table="1", approvals="1", key="key-00009")[0] == 403
    assert len(room.store.tables()) == 1
    assert room.store.releases() == []


def test_operators_submit_nothing(enter: Enter) -> None:
    assert enter("olga").send(CODE)[0] == 403


@pytest.mark.parametrize(
    ("content", "file", "more", "status"),
    [
        (b"", "mine.py", {}, 413),
        (b"x" * (actions.MOST_CODE + 1), "mine.py", {}, 413),
        (b"x" * (MOST_BODY + 1), "mine.py", {}, 413),
        (CODE, "<img src=x>.py", {}, 400),
        (CODE, "a b\n.py", {}, 400),
        (CODE, "../up.py", {}, 400),
        (CODE, "mine.zip", {}, 400),
        (CODE, "mine.py", {"name": "__import__('os')"}, 400),
        (CODE, "mine.py", {"name": "x\n<b>"}, 400),
        (CODE, "mine.py", {"task": "99"}, 404),
        (CODE, "mine.py", {"task": "1; DROP TABLE users"}, 404),
        (CODE, "mine.py", {"key": "short"}, 400),
    ],
)
def test_what_is_no_submission(
    room: Room, enter: Enter, content: bytes, file: str, more: dict[str, str], status: int
) -> None:
    browser = enter("vera")
    assert browser.send(content, file, **more)[0] == status
    assert room.store.submissions() == []
    assert browser.get("/")[0] == 200


def test_submissions_are_counted(room: Room, enter: Enter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "MOST_SUBMISSIONS", 2)
    browser = enter("vera")
    answers = [browser.send(CODE, key=f"key-0000{n}")[0] for n in range(3)]
    assert answers == [303, 303, 429]
    monkeypatch.setattr(actions, "MOST_WAITING", 2)
    room.clock.now += 61
    assert browser.send(CODE, key="key-00009")[0] == 429


def test_an_account_keeps_so_many_submissions(
    room: Room, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "MOST_KEPT", 2)
    browser = enter("vera")
    sent = [browser.send(CODE, key=f"key-0000{n}") for n in (0, 1, 2, 1)]
    # A retry of what is kept is answered as before.
    assert [status for status, _ in sent] == [303, 303, 429, 303]
    assert "this account has 2 submissions" in str(sent[2][1])
    assert len(room.store.submissions()) == 2


def test_tables_about_the_same_people(room: Room, enter: Enter) -> None:
    olga, other = enter("olga"), room.register(name="more")
    form = {"name": "all", "epsilon": "2", "delta": "1e-9", "tables": f"1\n{other}"}
    assert olga.post("/people", **form) == (303, "/tables")
    room.work()
    assert "all (clicks, more)" in olga.get("/tables")[1]
    assert olga.post("/people", **{**form, "tables": ""})[0] == 400
    assert olga.post("/people", **{**form, "tables": "1\nx"})[0] == 404
    assert olga.post("/people", **{**form, "epsilon": "3"})[0] == 409
    assert enter("vera").post("/people", **form)[0] == 403


@pytest.mark.slow
def test_names_are_shown_as_they_are(room: Room, enter: Enter) -> None:
    hostile = "<script>alert(1)</script>"
    olga = enter("olga")
    assert olga.post("/users", name=hostile, role="vendor", password=PASSWORD)[0] == 303
    form = {"name": hostile, "file": "clicks.csv", "epsilon": "1", "delta": "1e-9"}
    assert olga.post("/tables", **form)[0] == 303
    for path in ("/tables", "/ledger", "/account"):
        text = olga.get(path)[1]
        assert hostile not in text
        assert "&lt;script&gt;" in text


@pytest.mark.parametrize(
    ("path", "form", "said"),
    [
        ("/users", {"name": "a\nb", "role": "vendor", "password": PASSWORD}, "one line"),
        ("/users", {"name": "ada", "role": "root", "password": PASSWORD}, "vendor or operator"),
        ("/users", {"name": "ada", "role": "vendor", "password": "short"}, "10 letters"),
        ("/users", {"name": "vera", "role": "vendor", "password": PASSWORD}, "already"),
        ("/tables", {"name": "t", "file": "x.csv", "epsilon": "no", "delta": "0.1"}, "a number"),
        ("/tables", {"name": "t", "file": "x.csv", "epsilon": "nan", "delta": "0.1"}, "budget"),
        ("/tables", {"name": "t", "file": "x.csv", "epsilon": "inf", "delta": "0.1"}, "budget"),
        ("/tables", {"name": "t", "file": "x.csv", "epsilon": "1", "delta": "1"}, "budget"),
        ("/tables", {"name": "clicks", "file": "x", "epsilon": "1", "delta": "0.1"}, "already"),
        ("/tasks", {"title": "t", "table": "1", "check": "x", "approvals": "1"}, "TOML"),
        ("/tasks", {"title": "t", "table": "9", "check": "mu = 1", "approvals": "1"}, "no table"),
        ("/tasks", {"title": "t", "table": "1", "check": "mu = 1", "approvals": "0"}, "1 to 5"),
    ],
)  # fmt: skip
def test_what_operators_cannot_ask_for(
    enter: Enter, path: str, form: dict[str, str], said: str
) -> None:
    browser = enter("olga")
    status, text = browser.post(path, **form)
    assert status in (400, 404, 409)
    assert said in text


@pytest.mark.slow
def test_from_a_verdict_to_an_output(room: Room, enter: Enter) -> None:
    vendor, olga = enter("vera"), enter("olga")
    vendor.send(CODE)
    assert "queued" in vendor.get("/submissions/1")[1]
    room.decide(1, private_mechanism())
    assert "YES by proof" in vendor.get("/submissions/1")[1]
    report = vendor.client.get("/submissions/1/report").headers["content-security-policy"]
    assert "script-src" not in report
    assert "sandbox" in report
    certificate = vendor.client.get("/submissions/1/certificate")
    assert certificate.json()["verdict"]["decision"] == "YES"
    assert "attachment" in vendor.client.get("/submissions/1/code").headers["content-disposition"]
    events = vendor.client.get("/submissions/1/events").text
    assert events == "event: state\ndata: YES\n\n"
    assert olga.post("/submissions/1/releases", key="release-1") == (303, "/releases/1")
    room.work()
    text = olga.get("/releases/1")[1]
    assert f"<output>{room.store.release(1).output}</output>" in text
    assert "spent epsilon 1 of 2" in text
    ledger = olga.get("/ledger")[1]
    assert "no row was changed or removed" in ledger
    assert "<td>vera</td><td>clicks</td>" in ledger
    assert "output" not in vendor.get("/submissions/1")[1].lower().replace(
        "output prob", ""
    ).replace("any output", "").replace("output distr", "")


def test_tokens_are_shown_once(room: Room, enter: Enter) -> None:
    browser = enter("vera")
    status, text = browser.post("/tokens", name="laptop")
    token = re.search(r"liptest_[\w-]{43}", text)
    assert status == 200
    assert token is not None
    assert token[0] not in browser.get("/account")[1]
    assert token[0].encode() not in room.stored()
    other = enter("viki")
    other.post("/tokens/1/revoke")
    assert len(room.store.tokens(room.user("vera"))) == 1
    browser.post("/tokens/1/revoke")
    assert room.store.tokens(room.user("vera")) == []


@pytest.mark.slow
def test_no_operator_agrees_alone_where_two_must(room: Room) -> None:
    """Not by a task that asks for one, and not by an account that they make for themselves."""
    browser = Browser(room)
    browser.client = Client(make_app(room.store, room.places, approvals=2))
    assert browser.post("/login", name="olga", password=PASSWORD) == (303, "/")
    _, text = browser.get("/account")
    assert "<option>vendor</option></select>" in text
    made = {"name": "olga the second", "password": PASSWORD}
    assert browser.post("/users", role="operator", **made)[0] == 403
    assert browser.post("/users", role="vendor", **made)[0] == 303
    _, text = browser.get("/tables")
    assert 'name="approvals" inputmode="numeric" value="2"' in text
    task = {"title": "alone", "table": "1", "check": CHECK}
    code, text = browser.post("/tasks", approvals="1", **task)
    assert (code, "approvals: 2 to 5" in text) == (400, True)
    assert browser.post("/tasks", approvals="2", **task)[0] == 303


def test_a_task_is_shown_as_it_is_written(enter: Enter) -> None:
    _, text = enter("vera").get("/tasks/1")
    assert "epsilon = 1.0\n" in text
    assert "\n[domain]\ndimension = 12" in text
    assert "{}" not in text
