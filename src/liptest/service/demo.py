"""The service of ``liptest serve --demo``: the click vendors of the README, sent and waiting."""

from __future__ import annotations

import csv
import secrets
from pathlib import Path

import liptest
from liptest.service.actions import add_account, make_task, register_table, submit_code
from liptest.service.daemon import Daemon
from liptest.service.jobs import RELEASER, Workplace
from liptest.service.passwords import new_secret
from liptest.service.records import OPERATOR, VENDOR, Places, User
from liptest.service.store import Store
from liptest.service.tasks import ALLOWED

FOLDER = Path(liptest.__file__).parent / "examples" / "clicks"
TABLE = FOLDER / "open_bandit_clicks.csv"
#: Impressions of the demo's tables: few enough that all three answers are there in seconds.
RECORDS = 500
CAP, DELTA = 3.0, 1e-9
VENDORS = ("vendor_a", "vendor_b", "vendor_c")
_CHECK = f"""\
epsilon = 1.0
max_seconds = 120

[domain]
records = {RECORDS}

[distribution]
table = "clicks.csv"
column = "click"
group = "item"
records = "items.csv"
"""


def set_up_demo(store: Store, places: Places) -> dict[str, str]:
    """Accounts, a private table, a task and three submissions; the password of each account."""
    places.make()
    store.prepare()
    write_tables(places)
    passwords = {name: secrets.token_urlsafe(9) for name in ("operator", *VENDORS)}
    for name, password in passwords.items():
        add_account(store, name, OPERATOR if name == "operator" else VENDOR, password)
    operator = _user(store, "operator")
    table = register_table(
        *(store, operator),
        name="clicks",
        file="clicks.csv",
        column="click",
        epsilon=CAP,
        delta=DELTA,
    )
    task = make_task(
        *(store, operator),
        title="How many were clicked?",
        table=table,
        check=_CHECK,
        proof_only=True,
        approvals=1,
    )
    releaser = Daemon(RELEASER, Workplace(store, places, ALLOWED))
    while releaser.run_one():
        pass
    for name in VENDORS:
        submit_code(
            *(store, _user(store, name)),
            task=task,
            file=f"{name}.py",
            name="count",
            content=(FOLDER / f"{name}.py").read_bytes(),
            key=new_secret(),
        )
    return passwords


def _user(store: Store, name: str) -> User:
    user = store.user(name)
    assert user is not None
    return user


def write_tables(places: Places) -> None:
    """Public clicks, the items of the private impressions, and the private clicks by themselves."""
    with TABLE.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    public, private = rows[:5000], rows[5000 : 5000 + RECORDS]
    for path, names, chosen in (
        (places.public / "clicks.csv", ("item", "click"), public),
        (places.public / "items.csv", ("item",), private),
        (places.private / "clicks.csv", ("click",), private),
    ):
        with path.open("w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerow(names)
            writer.writerows([row[name] for name in names] for row in chosen)
        path.chmod(0o600)
