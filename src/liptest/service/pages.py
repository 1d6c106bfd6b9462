"""The pages: what a browser sees and sends; every form carries the secret of its session."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unicodedata import normalize

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from liptest import __version__
from liptest.evidence.ledger_entries import clean_name
from liptest.service.actions import (
    MOST_CODE,
    MOST_FOLLOWED,
    MOST_FORMS,
    MOST_LOGINS,
    MOST_LOGINS_FROM,
    add_account,
    add_token,
    ask_for_release,
    make_task,
    name_people,
    register_table,
    require_operator,
    submit_code,
    visible_submission,
    visible_task,
    visible_tasks,
)
from liptest.service.guards import REPORT_POLICY, is_own_form
from liptest.service.ledger_view import Budget, view_ledger
from liptest.service.passwords import are_equal, hash_secret, is_password, new_secret
from liptest.service.records import OPERATOR, VENDOR, LoginSession, Places, ServiceError, User
from liptest.service.store import Store

COOKIE = "liptest_session"
#: Seconds that a browser stays logged in.
LASTING = 8 * 3600.0
_HERE = Path(__file__).parent
# Streams of each user that are open in this process: connections are few, and for all.
_FOLLOWED: Counter[int] = Counter()
_EXAMPLE = """\
epsilon = 1.0
max_seconds = 120

[domain]
records = 1000          # yes or no each; values = 8 for 0 to 7
"""


@dataclass(frozen=True)
class Call:
    """One request: who asks, and what the form says."""

    store: Store
    places: Places
    request: Request
    session: LoginSession | None
    form: dict[str, str]
    content: bytes = b""

    @property
    def user(self) -> User:
        """Who is logged in; only pages that need nobody are called without."""
        assert self.session is not None
        return self.session.user

    @property
    def least(self) -> int:
        """How many operators must agree with a release, whatever a task says."""
        return int(self.request.app.state.approvals)

    def number(self, name: str = "number") -> int:
        """A number of the path or the form; ServiceError 404 for none."""
        return read_page_number(
            str(self.request.path_params.get(name, self.form.get(name, ""))), name
        )

    def real(self, name: str) -> float:
        """A number with a point."""
        try:
            return float(self.form.get(name, ""))
        except ValueError:
            raise ServiceError(400, f"{name}: give a number") from None


def read_page_number(text: str, name: str) -> int:
    """The number that a text is; ServiceError 404 for none."""
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise ServiceError(404, f"{name}: not found")
    return int(text)


_WAIT = "Too many attempts: wait five minutes."
Handler = Callable[[Call], Response]


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["when"] = lambda seconds: time.strftime(
        "%Y-%m-%d %H:%M", time.gmtime(seconds)
    )
    return environment


def render(call: Call, template: str, *, status: int = 200, **more: Any) -> HTMLResponse:
    """A page by its template."""
    text = (
        _templates()
        .get_template(template)
        .render(session=call.session, version=__version__, **more)
    )
    return HTMLResponse(text, status_code=status)


def _to(place: str) -> Response:
    return RedirectResponse(place, status_code=303)


def guard_page(handler: Handler, *, open_to_all: bool = False) -> Any:
    """An endpoint: session, origin and secret of the form are looked at before ``handler``."""

    async def endpoint(request: Request) -> Response:
        store: Store = request.app.state.store
        places: Places = request.app.state.places
        digest = hash_secret(request.cookies.get(COOKIE, ""))
        session = await run_in_threadpool(store.session, digest)
        call = Call(store, places, request, session, {})
        try:
            if request.method == "POST":
                call = await _with_form(call)
            if session is None and not open_to_all:
                return _to("/login")
            return await run_in_threadpool(handler, call)
        except ServiceError as error:
            return render(call, "error.html", status=error.status, text=str(error))

    return endpoint


async def _with_form(call: Call) -> Call:
    headers = call.request.headers
    if not is_own_form(headers.get("origin"), headers.get("sec-fetch-site"), headers.get("host")):
        raise ServiceError(403, "this form is not from a page of this service")
    fields: dict[str, str] = {}
    content = b""
    async with call.request.form(max_files=1, max_fields=30) as form:
        for name, value in form.multi_items():
            if isinstance(value, UploadFile):
                content = await value.read(MOST_CODE + 1)
                fields[name] = value.filename or ""
            else:
                # Of a list all that was chosen, a line each.
                fields[name] = f"{fields[name]}\n{value}" if name in fields else value
    if call.session is None:
        return Call(call.store, call.places, call.request, None, fields, content)
    if not are_equal(fields.get("csrf", ""), call.session.csrf):
        raise ServiceError(403, "this form is out of date; go back, load the page and send again")
    visit = f"form:{call.session.user.id}"
    if not await run_in_threadpool(call.store.allow, visit, MOST_FORMS, 60):
        raise ServiceError(429, f"more than {MOST_FORMS} forms in a minute; wait")
    return Call(call.store, call.places, call.request, call.session, fields, content)


def show_login(call: Call) -> Response:
    """The form of name and password."""
    return render(call, "login.html", text="")


def log_in(call: Call) -> Response:
    """A session for the right password; attempts are counted by name and by address."""
    name, client = clean_name(normalize("NFC", call.form.get("name", ""))), call.request.client
    address = "" if client is None else client.host
    allowed = call.store.allow(f"login-from:{address}", MOST_LOGINS_FROM, 300)
    if not (allowed and call.store.allow(f"login:{name}", MOST_LOGINS, 300)):
        return render(call, "login.html", status=429, text=_WAIT)
    user = call.store.user(name)
    password = call.form.get("password", "")[:200]
    if not is_password(None if user is None else user.password, password) or user is None:
        return render(call, "login.html", status=403, text="Name or password is wrong.")
    if call.session is not None:
        call.store.end_session(hash_secret(call.request.cookies.get(COOKIE, "")))
    secret = new_secret()
    call.store.add_session(user, hash_secret(secret), new_secret(), LASTING)
    answer = _to("/")
    answer.set_cookie(
        COOKIE,
        secret,
        max_age=int(LASTING),
        httponly=True,
        samesite="strict",
        secure=call.request.url.scheme == "https",
    )
    return answer


def log_out(call: Call) -> Response:
    """The session ends here and in the database."""
    call.store.end_session(hash_secret(call.request.cookies.get(COOKIE, "")))
    answer = _to("/login")
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


def show_home(call: Call) -> Response:
    """Tasks and submissions; for operators also requests and budgets."""
    store, user = call.store, call.user
    operator = user.is_operator
    return render(
        call,
        "home.html",
        tasks=visible_tasks(store, user),
        submissions=store.submissions(None if operator else user),
        releases=store.releases() if operator else (),
        budgets=view_ledger(call.places).budgets if operator else (),
    )


def show_task(call: Call) -> Response:
    """The task, and the form to send code."""
    task = visible_task(call.store, call.user, call.number())
    return render(call, "task.html", task=task, most=MOST_CODE, key=new_secret())


def send_code(call: Call) -> Response:
    """A submission."""
    number = submit_code(
        call.store,
        call.user,
        task=call.number("task"),
        file=call.form.get("file", ""),
        name=call.form.get("name", ""),
        content=call.content,
        key=call.form.get("key", ""),
    )
    return _to(f"/submissions/{number}")


def show_submission(call: Call) -> Response:
    """The state of a submission; after a verdict its words."""
    submission = visible_submission(call.store, call.user, call.number())
    operator, task = call.user.is_operator, call.store.task(submission.task_id)
    return render(
        call,
        "submission.html",
        submission=submission,
        task=task,
        budgets=_list_budgets(call, task.table_name) if operator else (),
        result=call.store.result(submission.id),
        releases=call.store.releases(submission.id) if operator else (),
        key=new_secret(),
    )


def show_report(call: Call) -> Response:
    """The report, as ``liptest check --html`` writes it, under a policy of its own."""
    headers = {"content-security-policy": REPORT_POLICY}
    return HTMLResponse(_result(call).report, headers=headers)


def download_certificate(call: Call) -> Response:
    """The certificate, for ``liptest verify``."""
    name = f"certificate-{call.number()}.json"
    return _download(_result(call).certificate.encode(), name, "application/json")


def download_code(call: Call) -> Response:
    """The code as it was sent; never shown as a page."""
    submission = visible_submission(call.store, call.user, call.number())
    return _download(call.store.code(submission.code), submission.file, "application/octet-stream")


def _result(call: Call) -> Any:
    verdict = call.store.result(visible_submission(call.store, call.user, call.number()).id)
    if verdict is None:
        raise ServiceError(404, "there is no verdict")
    return verdict


def _download(content: bytes, name: str, kind: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)


async def follow(request: Request) -> Response:
    """Server-sent events: the state of a submission, until it is decided or a minute is over."""
    store: Store = request.app.state.store
    digest = hash_secret(request.cookies.get(COOKIE, ""))
    session = await run_in_threadpool(store.session, digest)
    try:
        if session is None:
            raise ServiceError(403, "log in")
        user = session.user.id
        number = Call(store, request.app.state.places, request, session, {}).number()
        await run_in_threadpool(visible_submission, store, session.user, number)
        if _FOLLOWED[user] >= MOST_FOLLOWED:
            raise ServiceError(429, f"{MOST_FOLLOWED} pages are followed already")
    except ServiceError as error:
        return Response(str(error), status_code=error.status)

    async def states() -> AsyncIterator[str]:
        told = ""
        for _ in range(120):
            submission = await run_in_threadpool(store.submission, number)
            if submission.state != told:
                told = submission.state
                yield f"event: state\ndata: {told}\n\n"
            if submission.is_decided:
                return
            await asyncio.sleep(0.5)

    return _Followed(user, states())


class _Followed(StreamingResponse):
    """A stream that counts for its user while it lasts, however it ends."""

    def __init__(self, user: int, states: AsyncIterator[str]) -> None:
        super().__init__(states, media_type="text/event-stream")
        self._user = user

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        _FOLLOWED[self._user] += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            _FOLLOWED[self._user] -= 1


def send_release(call: Call) -> Response:
    """A request for one output; its author has agreed."""
    key = call.form.get("key", "")
    return _to(f"/releases/{ask_for_release(call.store, call.user, call.number(), key)}")


def show_release(call: Call) -> Response:
    """What became of a request; operators only."""
    require_operator(call.user)
    release = call.store.release(call.number())
    budgets = _list_budgets(call, release.table_name)
    return render(call, "release.html", release=release, budgets=budgets)


def _list_budgets(call: Call, table: str) -> list[Budget]:
    """Those that a release from a table is paid from."""
    every = view_ledger(call.places).budgets
    return [one for one in every if table in (one.tables or (one.table,))]


def send_approval(call: Call) -> Response:
    """One more operator agrees."""
    require_operator(call.user)
    call.store.approve(call.user, call.number())
    return _to(f"/releases/{call.number()}")


def show_tables(call: Call) -> Response:
    """Private tables and tasks, with the forms to make them."""
    require_operator(call.user)
    return render(
        call,
        "tables.html",
        tables=call.store.tables(),
        people=call.store.people(),
        tasks=call.store.tasks(),
        budgets=view_ledger(call.places).budgets,
        example=_EXAMPLE,
        least=call.least,
    )


def send_table(call: Call) -> Response:
    """A private table by name."""
    register_table(
        call.store,
        call.user,
        name=call.form.get("name", ""),
        file=call.form.get("file", ""),
        column=call.form.get("column", ""),
        epsilon=call.real("epsilon"),
        delta=call.real("delta"),
    )
    return _to("/tables")


def send_people(call: Call) -> Response:
    """Tables about the same people, and their cap."""
    chosen = call.form.get("tables", "").split("\n")
    name_people(
        call.store,
        call.user,
        name=call.form.get("name", ""),
        tables=[read_page_number(text, "tables") for text in chosen if text],
        epsilon=call.real("epsilon"),
        delta=call.real("delta"),
    )
    return _to("/tables")


def send_task(call: Call) -> Response:
    """A task for vendors."""
    make_task(
        call.store,
        call.user,
        title=call.form.get("title", ""),
        table=call.number("table"),
        check=call.form.get("check", ""),
        proof_only=call.form.get("rule", "proof") != "any",
        approvals=call.number("approvals"),
        least=call.least,
    )
    return _to("/tables")


def show_ledger(call: Call) -> Response:
    """Budgets, attempts and releases, with the hash of the last row."""
    require_operator(call.user)
    return render(
        call,
        "ledger.html",
        view=view_ledger(call.places, verify=True),
        events=call.store.events(100),
    )


def show_account(call: Call) -> Response:
    """Tokens of the API; for operators also all accounts."""
    return _account(call)


def _account(call: Call, made: str = "") -> Response:
    users = call.store.users() if call.user.is_operator else ()
    return render(
        *(call, "account.html"),
        tokens=call.store.tokens(call.user),
        users=users,
        made=made,
        roles=(VENDOR, OPERATOR) if call.least == 1 else (VENDOR,),
    )


def make_token(call: Call) -> Response:
    """A token, which is shown once."""
    return _account(call, made=add_token(call.store, call.user, call.form.get("name", "")))


def revoke_token(call: Call) -> Response:
    """Delete a token."""
    call.store.revoke_token(call.user, call.number())
    return _to("/account")


def send_user(call: Call) -> Response:
    """A new account."""
    require_operator(call.user)
    form = call.form
    if call.least > 1 and form.get("role") == OPERATOR:
        # Else one operator could agree under several names.
        raise ServiceError(403, "operators are made on the machine: liptest service account")
    add_account(call.store, form.get("name", ""), form.get("role", ""), form.get("password", ""))
    return _to("/account")


def serve_file(name: str, kind: str) -> Any:
    """A file of the folder static."""
    content = (_HERE / "static" / name).read_bytes()

    async def endpoint(request: Request) -> Response:
        return Response(content, media_type=kind, headers={"cache-control": "max-age=300"})

    return endpoint


def list_pages() -> list[Route]:
    """All pages."""
    shows: dict[str, Handler] = {
        "/": show_home,
        "/tasks/{number}": show_task,
        "/submissions/{number}": show_submission,
        "/submissions/{number}/report": show_report,
        "/submissions/{number}/certificate": download_certificate,
        "/submissions/{number}/code": download_code,
        "/releases/{number}": show_release,
        "/tables": show_tables,
        "/ledger": show_ledger,
        "/account": show_account,
    }
    sends: dict[str, Handler] = {
        "/logout": log_out,
        "/submissions": send_code,
        "/submissions/{number}/releases": send_release,
        "/releases/{number}/approve": send_approval,
        "/tables": send_table,
        "/people": send_people,
        "/tasks": send_task,
        "/tokens": make_token,
        "/tokens/{number}/revoke": revoke_token,
        "/users": send_user,
    }
    return [
        Route("/login", guard_page(show_login, open_to_all=True), methods=["GET"]),
        Route("/login", guard_page(log_in, open_to_all=True), methods=["POST"]),
        Route("/submissions/{number}/events", follow, methods=["GET"]),
        Route("/static/style.css", serve_file("style.css", "text/css"), methods=["GET"]),
        Route("/static/icon.svg", serve_file("icon.svg", "image/svg+xml"), methods=["GET"]),
        Route("/favicon.ico", serve_file("icon.svg", "image/svg+xml"), methods=["GET"]),
        Route("/static/live.js", serve_file("live.js", "text/javascript"), methods=["GET"]),
        *(Route(path, guard_page(handler), methods=["GET"]) for path, handler in shows.items()),
        *(Route(path, guard_page(handler), methods=["POST"]) for path, handler in sends.items()),
    ]
