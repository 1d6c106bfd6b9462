"""The JSON API, under /api: bearer tokens only, no cookies; described in /api/openapi.json."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.json_schema import models_json_schema
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from liptest import __version__
from liptest.service.actions import (
    ask_for_release,
    make_task,
    name_people,
    register_table,
    require_operator,
    submit_code,
    visible_submission,
    visible_tasks,
)
from liptest.service.ledger_view import view_ledger
from liptest.service.passwords import hash_secret
from liptest.service.records import Places, ReleaseRequest, ServiceError, User
from liptest.service.store import Store

MOST_CALLS = 600  # of a token, in a minute


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


#: A number of a task, table or submission.
Number = Annotated[int, Field(ge=0, lt=10**15)]


class NewSubmission(_Body):
    """Code for a task; the header Idempotency-Key names the request."""

    task: Number
    file: str
    name: str
    code: str


class NewTable(_Body):
    """A private table: a file in the folder private, and what its releases may cost in all."""

    name: str
    file: str
    column: str = ""
    epsilon: float
    delta: float


class NewPeople(_Body):
    """Tables, by their numbers, that concern the same people, and what they may cost together."""

    name: str
    tables: list[Number]
    epsilon: float
    delta: float


class NewTask(_Body):
    """A task; ``check`` has the keys of a check in a liptest.toml."""

    title: str
    table: Number
    check: dict[str, Any]
    proof_only: bool = True
    approvals: int = 1


class NewRelease(_Body):
    """One output of a submission; the header Idempotency-Key names the request."""

    submission: Number


class SubmissionAnswer(BaseModel):
    """A submission; ``verdict`` is its text once there is one."""

    id: int
    task: int
    vendor: str
    mechanism: str
    code: str
    state: str
    message: str
    verdict: str | None = None


class TaskAnswer(BaseModel):
    """A task."""

    id: int
    title: str
    table: str
    check: dict[str, Any]
    proof_only: bool
    approvals: int
    state: str
    message: str


class TableAnswer(BaseModel):
    """A private table, without a word of what is in it."""

    id: int
    name: str
    epsilon: float
    delta: float
    state: str
    message: str


class PeopleAnswer(BaseModel):
    """Tables about the same people, by name."""

    id: int
    name: str
    tables: list[str]
    epsilon: float
    delta: float
    state: str
    message: str


class ReleaseAnswer(BaseModel):
    """A request for a release; ``output`` once it is released."""

    id: int
    key: str
    submission: int
    table: str
    state: str
    message: str
    output: str | None
    approvers: list[str]
    needed: int


class BudgetAnswer(BaseModel):
    """What the releases of a table, or of tables about the same people, have cost and may cost."""

    table: str
    tables: list[str]
    cap: float
    delta: float
    spent: float
    releases: int


class LedgerAnswer(BaseModel):
    """The ledger: the hash of its last row, what is wrong with it, budgets."""

    head: str
    rows: int
    problems: list[str]
    budgets: list[BudgetAnswer]


class ErrorAnswer(BaseModel):
    """Why a request was refused."""

    error: str


@dataclass(frozen=True)
class ApiCall:
    """One request: whose token it is, what it says."""

    store: Store
    places: Places
    user: User
    number: int
    key: str
    body: Any
    least: int


@dataclass(frozen=True)
class Operation:
    """One operation, and what the document says of it."""

    method: str
    path: str
    summary: str
    run: Callable[[ApiCall], Any]
    answer: type[BaseModel] | None
    body: type[BaseModel] | None = None
    many: bool = False


def _submission(call: ApiCall, number: int) -> SubmissionAnswer:
    submission = visible_submission(call.store, call.user, number)
    return SubmissionAnswer(
        id=submission.id,
        task=submission.task_id,
        vendor=submission.vendor,
        mechanism=submission.label,
        code=submission.code,
        state=submission.state,
        message=submission.message,
        verdict=call.store.summary(number),
    )


def list_submissions(call: ApiCall) -> list[SubmissionAnswer]:
    """Those that this user may see."""
    vendor = None if call.user.is_operator else call.user
    return [_submission(call, submission.id) for submission in call.store.submissions(vendor)]


def post_submission(call: ApiCall) -> SubmissionAnswer:
    """Submit code."""
    body: NewSubmission = call.body
    number = submit_code(
        call.store,
        call.user,
        task=body.task,
        file=body.file,
        name=body.name,
        content=body.code.encode("utf-8", "replace"),
        key=call.key,
    )
    return _submission(call, number)


def get_submission(call: ApiCall) -> SubmissionAnswer:
    """One of them."""
    return _submission(call, call.number)


def get_certificate(call: ApiCall) -> Any:
    """The certificate as liptest verify reads it."""
    result = call.store.result(visible_submission(call.store, call.user, call.number).id)
    if result is None:
        raise ServiceError(404, "there is no verdict")
    return json.loads(result.certificate)


def list_tasks(call: ApiCall) -> list[TaskAnswer]:
    """All tasks."""
    return [
        TaskAnswer(
            id=task.id,
            title=task.title,
            table=task.table_name,
            check=json.loads(task.check_json),
            proof_only=task.proof_only,
            approvals=task.approvals,
            state=task.state,
            message=task.message if call.user.is_operator else "",
        )
        for task in visible_tasks(call.store, call.user)
    ]


def post_task(call: ApiCall) -> TaskAnswer:
    """Make a task."""
    body: NewTask = call.body
    number = make_task(
        call.store,
        call.user,
        title=body.title,
        table=body.table,
        check=body.check,
        proof_only=body.proof_only,
        approvals=body.approvals,
        least=call.least,
    )
    return next(task for task in list_tasks(call) if task.id == number)


def list_tables(call: ApiCall) -> list[TableAnswer]:
    """Private tables, for operators."""
    require_operator(call.user)
    return [TableAnswer(**_some(table, TableAnswer)) for table in call.store.tables()]


def post_table(call: ApiCall) -> TableAnswer:
    """Register a private table."""
    body: NewTable = call.body
    number = register_table(call.store, call.user, **body.model_dump())
    return TableAnswer(**_some(call.store.table(number), TableAnswer))


def list_people(call: ApiCall) -> list[PeopleAnswer]:
    """Groups of people, for operators."""
    require_operator(call.user)
    return [PeopleAnswer(**_some(group, PeopleAnswer)) for group in call.store.people()]


def post_people(call: ApiCall) -> PeopleAnswer:
    """Say that tables concern the same people, or add tables to a group."""
    body: NewPeople = call.body
    number = name_people(call.store, call.user, **body.model_dump())
    return next(group for group in list_people(call) if group.id == number)


def _release(found: ReleaseRequest) -> ReleaseAnswer:
    fields = _some(found, ReleaseAnswer)
    return ReleaseAnswer(**fields, submission=found.submission_id, table=found.table_name)


def list_releases(call: ApiCall) -> list[ReleaseAnswer]:
    """Requests for releases, for operators."""
    require_operator(call.user)
    return [_release(release) for release in call.store.releases()]


def post_release(call: ApiCall) -> ReleaseAnswer:
    """Ask for a release; who asks has agreed."""
    body: NewRelease = call.body
    number = ask_for_release(call.store, call.user, body.submission, call.key)
    return _release(call.store.release(number))


def get_release(call: ApiCall) -> ReleaseAnswer:
    """One request."""
    require_operator(call.user)
    return _release(call.store.release(call.number))


def post_approval(call: ApiCall) -> ReleaseAnswer:
    """Agree with a request."""
    require_operator(call.user)
    call.store.approve(call.user, call.number)
    return _release(call.store.release(call.number))


def get_ledger(call: ApiCall) -> LedgerAnswer:
    """The ledger's head and the budgets, for operators."""
    require_operator(call.user)
    view = view_ledger(call.places, verify=True)
    budgets = [BudgetAnswer(**asdict(budget)) for budget in view.budgets]
    return LedgerAnswer(
        head=view.head, rows=view.rows, problems=list(view.problems), budgets=budgets
    )


def _some(record: Any, model: type[BaseModel]) -> dict[str, Any]:
    fields: dict[str, Any] = asdict(record)
    return {name: fields[name] for name in model.model_fields if name in fields}


OPERATIONS = (
    Operation("GET", "/api/tasks", "List tasks", list_tasks, TaskAnswer, many=True),
    Operation("POST", "/api/tasks", "Make a task (operators)", post_task, TaskAnswer, NewTask),
    Operation(
        "GET", "/api/submissions", "List submissions", list_submissions, SubmissionAnswer, many=True
    ),
    Operation(
        "POST", "/api/submissions", "Submit code", post_submission, SubmissionAnswer, NewSubmission
    ),
    Operation(
        "GET", "/api/submissions/{number}", "One submission", get_submission, SubmissionAnswer
    ),
    Operation(
        "GET", "/api/submissions/{number}/certificate", "Its certificate", get_certificate, None
    ),
    Operation(
        "GET", "/api/tables", "List private tables (operators)", list_tables, TableAnswer, many=True
    ),
    Operation(
        "POST", "/api/tables", "Register a table (operators)", post_table, TableAnswer, NewTable
    ),
    Operation(
        "GET",
        "/api/people",
        "List groups of people (operators)",
        list_people,
        PeopleAnswer,
        many=True,
    ),
    Operation(
        "POST",
        "/api/people",
        "Cap tables together (operators)",
        post_people,
        PeopleAnswer,
        NewPeople,
    ),
    Operation(
        "GET", "/api/releases", "List releases (operators)", list_releases, ReleaseAnswer, many=True
    ),
    Operation(
        "POST", "/api/releases", "Ask for a release", post_release, ReleaseAnswer, NewRelease
    ),
    Operation("GET", "/api/releases/{number}", "One request", get_release, ReleaseAnswer),
    Operation(
        "POST", "/api/releases/{number}/approve", "Agree with it", post_approval, ReleaseAnswer
    ),
    Operation("GET", "/api/ledger", "Head and budgets (operators)", get_ledger, LedgerAnswer),
)


def make_endpoint(operation: Operation) -> Any:
    """The token is looked at first, then the body, then the operation runs."""

    async def endpoint(request: Request) -> Response:
        try:
            call = await _read(operation, request)
            answer = await run_in_threadpool(operation.run, call)
        except ServiceError as error:
            return JSONResponse({"error": str(error)}, status_code=error.status)
        return JSONResponse(_plain(answer), status_code=201 if operation.body else 200)

    return endpoint


async def _read(operation: Operation, request: Request) -> ApiCall:
    store: Store = request.app.state.store
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    secret = token if kind.lower() == "bearer" else ""
    user = await run_in_threadpool(store.token_user, hash_secret(secret)) if secret else None
    if user is None:
        raise ServiceError(401, "give a token: Authorization: Bearer ..")
    if not await run_in_threadpool(store.allow, f"api:{user.id}", MOST_CALLS, 60):
        raise ServiceError(429, f"more than {MOST_CALLS} calls in a minute; wait")
    text = str(request.path_params.get("number", "0"))
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise ServiceError(404, "not found")
    body = None
    if operation.body is not None:
        body = _validate(operation.body, await request.body())
    key = request.headers.get("idempotency-key", "")
    least = int(request.app.state.approvals)
    return ApiCall(store, request.app.state.places, user, int(text), key, body, least)


def _validate(model: type[BaseModel], content: bytes) -> BaseModel:
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ServiceError(400, f"{place or 'body'}: {first['msg']}") from None


def _plain(found: Any) -> Any:
    if isinstance(found, list):
        return [_plain(entry) for entry in found]
    return found.model_dump() if isinstance(found, BaseModel) else found


def describe_api() -> dict[str, Any]:
    """The OpenAPI document: of each operation its body, its answer and its refusals."""
    models = (
        {ErrorAnswer}
        | {operation.answer for operation in OPERATIONS}
        | {operation.body for operation in OPERATIONS}
    )
    named = sorted(
        (model for model in models if model is not None), key=lambda model: model.__name__
    )
    _, schemas = models_json_schema(
        [(model, "validation") for model in named], ref_template="#/components/schemas/{model}"
    )
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _describe(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "liptest", "version": __version__},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas.get("$defs", {}),
        },
    }


def _describe(one: Operation) -> dict[str, Any]:
    schema: dict[str, Any] = {} if one.answer is None else _reference(one.answer)
    schema = {"type": "array", "items": schema} if one.many else schema
    error = {"description": "refused", "content": _json(_reference(ErrorAnswer))}
    described: dict[str, Any] = {
        "operationId": one.run.__name__,
        "summary": one.summary,
        "responses": {
            "201" if one.body else "200": {"description": "done", "content": _json(schema)},
            "default": error,
        },
    }
    parameters = []
    if "{number}" in one.path:
        parameters.append(_parameter("number", "path", {"type": "integer"}))
    if one.body in (NewSubmission, NewRelease):
        parameters.append(_parameter("Idempotency-Key", "header", {"type": "string"}))
    if parameters:
        described["parameters"] = parameters
    if one.body is not None:
        described["requestBody"] = {"required": True, "content": _json(_reference(one.body))}
    return described


def _reference(model: type[BaseModel]) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _parameter(name: str, place: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": place, "required": True, "schema": schema}


def list_operations() -> list[Route]:
    """All operations, and the document about them, which needs no token."""
    document = describe_api()

    async def show_document(request: Request) -> Response:
        return JSONResponse(document)

    routes = [
        Route(operation.path, make_endpoint(operation), methods=[operation.method])
        for operation in OPERATIONS
    ]
    return [*routes, Route("/api/openapi.json", show_document, methods=["GET"])]
