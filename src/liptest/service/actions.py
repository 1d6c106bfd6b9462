"""What vendors and operators can ask for, by forms and by the API alike: checked, then stored.

Accounts and tables have names by one rule: one name for one picture of it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from liptest.errors import InputError, LiptestError, quote
from liptest.evidence.ledger_entries import check_name, clean_name
from liptest.service.passwords import SHORTEST, hash_password, hash_secret, new_secret
from liptest.service.records import (
    OPERATOR,
    READY,
    VENDOR,
    ReleaseTask,
    ServiceError,
    Submission,
    User,
)
from liptest.service.store import Store
from liptest.service.tasks import check_file, make_check, read_check, to_json
from liptest.verdicts import Decision

#: Most bytes of a submission, and how many of one vendor may wait.
MOST_CODE, MOST_WAITING, MOST_KEPT = 1 << 18, 50, 10_000
#: Logins tried for a name, and from an address, in five minutes; submissions in one.
MOST_LOGINS, MOST_LOGINS_FROM, MOST_SUBMISSIONS = 10, 50, 60
#: Forms sent in a minute, tokens of one account, pages that it follows live.
MOST_FORMS, MOST_TOKENS, MOST_FOLLOWED = 120, 20, 8
MOST_APPROVALS = 5
_FILE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}\.py")
_KEY = re.compile(r"[A-Za-z0-9_.:-]{8,80}")


def require_operator(user: User) -> None:
    """ServiceError 403 for others."""
    if not user.is_operator:
        raise ServiceError(403, "only operators may do this")


def add_account(store: Store, name: str, role: str, password: str) -> None:
    """A new account; ServiceError for a name, role or password that cannot be."""
    made = new_name(name, [one.name for one in store.users()])
    if role not in (VENDOR, OPERATOR):
        raise ServiceError(400, f"role={role[:40]!r}: vendor or operator")
    if not SHORTEST <= len(password) <= 200:
        raise ServiceError(400, f"a password has at least {SHORTEST} letters, at most 200")
    store.add_user(made, role, hash_password(password))


def renew_account(store: Store, name: str, password: str) -> None:
    """Another password; whoever is logged in, or has a token, is so no longer. ServiceError 404."""
    user = store.user(name)
    if user is None:
        raise ServiceError(404, f"there is no account {quote(name)}")
    store.renew_user(user, hash_password(password))


def submit_code(
    store: Store, user: User, *, task: int, file: str, name: str, content: bytes, key: str
) -> int:
    """Store code for a task; the number of the submission."""
    if user.role != VENDOR:
        raise ServiceError(403, "operators do not submit code: who knows private data must not")
    if not _FILE.fullmatch(file):
        raise ServiceError(400, "file: one Python file, its name in letters, digits and _")
    if not (name.isidentifier() and name.isascii() and len(name) <= 60):
        raise ServiceError(400, "name: which object of the file is the mechanism, as count")
    if not content or len(content) > MOST_CODE:
        raise ServiceError(413, f"code: 1 to {MOST_CODE:,} bytes")
    wanted = store.task(task)
    if wanted.state != READY:
        raise ServiceError(409, f"task {task} is not open")
    if not store.allow(f"submit:{user.id}", MOST_SUBMISSIONS, 60):
        raise ServiceError(429, f"more than {MOST_SUBMISSIONS} submissions in a minute; wait")
    return store.add_submission(
        user,
        wanted,
        digest=hashlib.sha256(content).hexdigest(),
        content=content,
        file=file,
        name=name,
        key=check_key(key),
        most_waiting=MOST_WAITING,
        most_kept=MOST_KEPT,
    )


def check_key(key: str) -> str:
    """The name of a request; ServiceError for one that is none."""
    if not _KEY.fullmatch(key):
        raise ServiceError(400, "Idempotency-Key: 8 to 80 letters, digits, _ . : -")
    return key


def register_table(
    store: Store, user: User, *, name: str, file: str, column: str, epsilon: float, delta: float
) -> int:
    """Name a private table and cap what its releases may cost together."""
    require_operator(user)
    made = new_name(name, [one.name for one in store.tables()])
    try:
        check_file(file)
        if column:
            check_name("column", column)
    except InputError as error:
        raise ServiceError(400, str(error)) from None
    _check_budget(epsilon, delta)
    return store.add_table(user, made, file, column or None, epsilon, delta)


def name_people(
    store: Store, user: User, *, name: str, tables: Sequence[int], epsilon: float, delta: float
) -> int:
    """Say that tables concern the same people, and cap what their releases may cost together."""
    require_operator(user)
    try:
        check_name("name", name)
    except InputError as error:
        raise ServiceError(400, str(error)) from None
    if not tables:
        raise ServiceError(400, "tables: choose those that concern the same people")
    _check_budget(epsilon, delta)
    return store.add_people(user, name, tables, epsilon, delta)


def _check_budget(epsilon: float, delta: float) -> None:
    if not (0 < epsilon < 1000 and 0 < delta < 1):
        raise ServiceError(400, "budget: epsilon above 0 (below 1000), delta between 0 and 1")


def make_task(
    store: Store,
    user: User,
    *,
    title: str,
    table: int,
    check: str | dict[str, Any],
    proof_only: bool,
    approvals: int,
    least: int = 1,
) -> int:
    """A task for vendors; ``check`` as in a liptest.toml, its text or its values.

    The service asks for ``least`` approvals.
    """
    require_operator(user)
    try:
        check_name("title", title)
        model = read_check(check) if isinstance(check, str) else make_check(check)
    except LiptestError as error:
        raise ServiceError(400, " ".join(str(error).split())) from None
    if not least <= approvals <= MOST_APPROVALS:
        raise ServiceError(400, f"approvals: {least} to {MOST_APPROVALS}")
    return store.add_task(
        user,
        title,
        store.table(table),
        to_json(model),
        proof_only=proof_only,
        approvals=approvals,
    )


def ask_for_release(store: Store, user: User, submission: int, key: str) -> int:
    """Ask the releaser for one output; who asks has agreed."""
    require_operator(user)
    subject = store.submission(submission)
    if subject.state != Decision.YES:
        raise ServiceError(403, f"nothing is released after {subject.state}")
    result = store.result(submission)
    task = store.task(subject.task_id)
    if result is None or (task.proof_only and not result.is_proof):
        raise ServiceError(403, "the task requires a proof, and this YES is by sampling")
    return store.add_release(user, subject, check_key(key))


def visible_tasks(store: Store, user: User) -> list[ReleaseTask]:
    """Tasks that this user may see: vendors those that are open.

    Whether the private table lies in the domain of another one is not theirs to know.
    """
    return [one for one in store.tasks() if user.is_operator or one.state == READY]


def visible_task(store: Store, user: User, number: int) -> ReleaseTask:
    """One of them; to others it is not there."""
    found = store.task(number)
    if not user.is_operator and found.state != READY:
        raise ServiceError(404, f"there is no task {number}")
    return found


def add_token(store: Store, user: User, name: str) -> str:
    """A new token of the API: its secret, which is stored nowhere."""
    if len(store.tokens(user)) >= MOST_TOKENS:
        raise ServiceError(409, f"there are {MOST_TOKENS} tokens; revoke one")
    secret = f"liptest_{new_secret()}"
    store.add_token(user, clean_name(name)[:60].strip(), hash_secret(secret))
    return secret


def visible_submission(store: Store, user: User, number: int) -> Submission:
    """A submission that this user may see; to others it is not there."""
    submission = store.submission(number)
    if not user.is_operator and submission.vendor_id != user.id:
        raise ServiceError(404, f"there is no submission {number}")
    return submission


# Small letters of Cyrillic and Greek, by their numbers, that look like a Latin one, or whose
# capitals do: a part of Unicode's list of confusables.
_CYRILLIC = {
    **{0x430: "a", 0x432: "b", 0x435: "e", 0x43A: "k", 0x43C: "m", 0x43D: "h", 0x43E: "o"},
    **{0x440: "p", 0x441: "c", 0x442: "t", 0x443: "y", 0x445: "x", 0x455: "s", 0x456: "i"},
    **{0x458: "j", 0x4BB: "h", 0x4CF: "l", 0x501: "d", 0x51B: "q", 0x51D: "w"},
}
_GREEK = {
    **{0x3B1: "a", 0x3B2: "b", 0x3B5: "e", 0x3B6: "z", 0x3B7: "n", 0x3B9: "i", 0x3BA: "k"},
    **{0x3BC: "m", 0x3BD: "v", 0x3BF: "o", 0x3C1: "p", 0x3C4: "t", 0x3C5: "u", 0x3C7: "x"},
}
_LOOKS = {**_CYRILLIC, **_GREEK}
# One stroke, and a ring.
_SAME = str.maketrans("i1|\u01310", "llllo")


def new_name(name: str, known: Iterable[str]) -> str:
    """The name as it is stored. ServiceError for none, and one that looks like a ``known`` one."""
    try:
        normalised = check_name("name", unicodedata.normalize("NFC", name))
    except InputError as error:
        raise ServiceError(400, str(error)) from None
    looks = appearance(normalised)
    other = next((one for one in known if appearance(one) == looks), None)
    if other is not None and other != normalised:
        raise ServiceError(
            409, f"name: {normalised!r} looks like {other!r}, which is there already"
        )
    return normalised


def appearance(name: str) -> str:
    """What a name looks like: equal for names that readers confuse."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return folded.translate(_LOOKS).translate(_SAME)
