"""The service in a real browser: three vendors, a NO with its witness, an output, less budget."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import liptest
from liptest.runs.jail import find_bubblewrap
from liptest.service.actions import add_account
from liptest.service.records import Places
from liptest.service.store import Store
from tests.browsers import CHROMIUM, headless
from tests.unit.service.rooms import PASSWORD, write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None and not os.environ.get("CI"),
        reason="no chromium on this machine: install the Debian package chromium",
    ),
]
CLICKS = Path(liptest.__file__).parent / "examples" / "clicks"
RECORDS = 60
CHECK = f"epsilon = 1.0\n\n[domain]\nrecords = {RECORDS}\n"
#: Where pictures of the pages go, for whoever looks at them.
PICTURES = os.environ.get("LIPTEST_PICTURES")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service that runs, with an operator, a vendor and a private file."""
    places = Places(tmp_path_factory.mktemp("browser") / "room")
    places.make()
    store = Store(places.database)
    store.prepare()
    add_account(store, "olga", "operator", PASSWORD)
    add_account(store, "vera", "vendor", PASSWORD)
    write(places, "clicks.csv", [0, 0, 0, 0, 0, 1] * (RECORDS // 6))
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    more = [] if find_bubblewrap() else ["--allow-unconfined"]
    typed = ["serve", str(places.folder), "--port", str(port), *more]
    with subprocess.Popen([sys.executable, "-m", "liptest", *typed]) as service:
        url = f"http://127.0.0.1:{port}"
        wait_for(f"{url}/login")
        yield url
        service.terminate()
        assert service.wait(30) == 0


def wait_for(url: str) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except OSError:
            subprocess.run([sys.executable, "-c", "import time; time.sleep(0.2)"], check=True)
        else:
            return
    pytest.fail(f"{url} does not answer")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with headless() as running:
        yield running


class Person:
    """Somebody with a browser; every page is looked at for faults as it is seen."""

    def __init__(self, browser: Any, address: str, name: str, width: int = 1200) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900})
        self.page = self.context.new_page()
        self.page.set_default_timeout(120_000)
        self.noticed: list[str] = []
        self.page.on("console", lambda message: self.noticed.append(message.text))
        self.page.on("pageerror", lambda error: self.noticed.append(str(error)))
        self.address, self.width, self.name = address, width, name
        self.go("/login")
        self.look("login")
        self.page.fill("[name=name]", name)
        self.page.fill("[name=password]", PASSWORD)
        self.page.click("text=Log in >> nth=-1")
        self.page.wait_for_selector("nav")

    def go(self, path: str) -> None:
        self.page.goto(self.address + path)

    def look(self, what: str) -> None:
        """Nothing is wider than the screen, axe finds nothing serious, nothing complains."""
        from playwright.sync_api import Error

        for left in reversed(range(20)):
            try:
                width, found = self.measured(what)
                break
            except Error:  # a page that waits for a state loads itself again, at any moment
                if not left:
                    raise
        assert width <= self.width, what
        bad = [one["id"] for one in found if one["impact"] in ("serious", "critical")]
        assert bad == [], what
        assert self.noticed == [], what

    def measured(self, what: str) -> tuple[int, list[dict[str, Any]]]:
        """How wide the page is, and what axe finds."""
        from axe_playwright_python.sync_playwright import Axe

        self.page.wait_for_load_state()
        self.photograph(what)
        width = int(self.page.locator("html").evaluate("html => html.scrollWidth"))
        return width, Axe().run(self.page).response["violations"]

    def photograph(self, what: str) -> None:
        if PICTURES:
            file = Path(PICTURES) / f"{self.name}-{self.width}-{what}.png"
            self.page.screenshot(path=file, full_page=True)

    def send(self, vendor: str) -> None:
        self.go("/tasks/1")
        self.page.set_input_files("[name=file]", CLICKS / f"{vendor}.py")
        self.page.click("text=Send >> nth=-1")

    def state(self, *wanted: str) -> str:
        """The state of the page, once it is one of these; the page changes by itself."""
        either = ", ".join(f".decision .state:text-is('{one}')" for one in wanted)
        return str(self.page.locator(either).inner_text())

    def release(self, submission: int) -> str:
        self.go(f"/submissions/{submission}")
        self.page.click("text=Approve a release")
        return self.state("released", "refused")


def test_from_code_to_an_output(browser: Any, address: str) -> None:
    olga = Person(browser, address, "olga")
    olga.go("/tables")
    olga.page.click("text=Register a table")
    for name, value in {"name": "clicks", "file": "clicks.csv", "column": "click"}.items():
        olga.page.fill(f"form[action='/tables'] [name={name}]", value)
    olga.page.fill("[name=epsilon]", "2")
    olga.look("register")
    olga.page.click("text=Register >> nth=-1")
    until_ready(olga, 1)
    olga.page.click("text=Make a task")
    olga.page.fill("[name=title]", "How many were clicked?")
    olga.page.fill("[name=check]", CHECK)
    olga.look("task")
    olga.page.click("text=Make the task")
    until_ready(olga, 2)
    olga.look("tables")

    vera = Person(browser, address, "vera")
    vera.look("empty")
    states = {}
    for vendor in ("vendor_a", "vendor_b", "vendor_c"):
        vera.send(vendor)
        vera.look(vendor)
        states[vendor] = vera.state("YES", "NO", "INCONCLUSIVE", "failed")
        vera.look(f"{vendor}-done")
    assert states == {"vendor_a": "YES", "vendor_b": "NO", "vendor_c": "NO"}
    witness = vera.page.inner_text("pre.verdict")
    assert "Two test datasets differ only in record" in witness
    vera.page.click("text=Full report")
    vera.page.wait_for_selector("article")
    assert "NO" in vera.page.inner_text(".decision")  # in its sandbox axe cannot run
    vera.photograph("report")
    vera.noticed.clear()
    vera.go("/submissions/1")
    with vera.page.expect_download() as download:
        vera.page.click("text=Certificate (JSON)")
    assert "vendor_a:count" in Path(download.value.path()).read_text()

    assert olga.release(1) == "released"
    output = olga.page.inner_text("output")
    assert 0 <= int(output) <= 60
    assert "spent epsilon 1 of 2" in olga.page.inner_text(".budget")
    olga.look("released")
    assert olga.release(1) == "released"
    assert olga.release(1) == "refused"
    assert "the cap of private table 'clicks' is epsilon 2" in olga.page.inner_text(".error")
    olga.look("refused")
    olga.go("/ledger")
    assert "no row was changed or removed" in olga.page.inner_text("main")
    olga.look("ledger")
    olga.go("/")
    olga.look("home")

    narrow = Person(browser, address, "olga", width=390)
    for path in (
        "/",
        "/tables",
        "/ledger",
        "/account",
        "/releases/1",
        "/submissions/2",
        "/tasks/1",
    ):
        narrow.go(path)
        narrow.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        narrow.look("page" + path.replace("/", "-"))
    small = Person(browser, address, "vera", width=390)
    for path in ("/", "/tasks/1", "/submissions/3"):
        small.go(path)
        small.look("page" + path.replace("/", "-"))


def until_ready(person: Person, count: int) -> None:
    for _ in range(100):
        person.go("/tables")
        if person.page.locator(".state.ready").count() == count:
            return
        person.page.wait_for_timeout(200)
    pytest.fail("the releaser does not answer")
