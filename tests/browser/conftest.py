"""A JupyterLab, a Notebook 7 and a Chromium for the tests in this folder."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

# The environments of tests without a browser have no Playwright, by which these files are read.
collect_ignore_glob = [] if importlib.util.find_spec("playwright") else ["test_*.py"]

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    # Whatever a page may ask for, only this machine is reached.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
# Milliseconds for a page to come to what a test waits for, on a machine that has much else to do.
WAIT = 30_000


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """Starts a server of a kind at its first use: `servers("lab")`, `servers("notebook", extension=False)`."""
    from .jupyter_server import JupyterServer

    running: dict[Any, JupyterServer] = {}

    def server(app: Any, *, extension: bool = True) -> JupyterServer:
        if (app, extension) not in running:
            root = tmp_path_factory.mktemp(f"jupyter-{app}") / "root"
            running[app, extension] = JupyterServer(root, app, extension=extension)
        return running[app, extension]

    try:
        yield server
    finally:
        for started in running.values():
            started.stop()


# Of a module: while Playwright runs, no other test of this process could run a loop of asyncio.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=WAIT)
    found = subprocess.run(
        [sys.executable, ROOT / "scripts" / "find_chromium.py"], capture_output=True, text=True, check=False
    )
    if found.returncode:
        pytest.fail(found.stderr.strip(), pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found.stdout.strip(), args=FLAGS)
        yield browser
        browser.close()


# Whether the last try of a test failed.
FAILED = pytest.StashKey[bool]()


class Visits:
    """The pages of one test, and what they asked for."""

    def __init__(self, chromium: Any, servers: Callable[..., Any]) -> None:
        self._chromium, self._servers = chromium, servers
        self._contexts: list[Any] = []
        self._used: list[Any] = []
        self.console: list[str] = []
        self.requested: list[str] = []

    def __call__(self, app: str, *, extension: bool = True, **options: Any) -> Any:
        """A new page in a context of its own, for a notebook of this server."""
        from .notebook_page import NotebookPage

        server = self._servers(app, extension=extension)
        self._used.append(server)
        context = self._chromium.new_context(**{"viewport": {"width": 1400, "height": 1400}, **options})
        self._contexts.append(context)
        context.on("request", lambda request: self.requested.append(request.url))
        context.on("console", lambda message: self.console.append(f"{message.type}: {message.text}"))
        context.on("weberror", lambda error: self.console.append(f"error: {error.error}"))
        context.set_default_timeout(WAIT)
        return NotebookPage(context.new_page(), server)

    def foreign(self) -> list[str]:
        """The addresses outside this machine that a page asked for."""
        return [url for url in self.requested if urlsplit(url).hostname not in ("127.0.0.1", None)]

    def report(self, name: str) -> str:
        """What helps to understand a failure; pictures of the pages are left in build/browser."""
        folder = ROOT / "build" / "browser"
        folder.mkdir(parents=True, exist_ok=True)
        pages = [page for context in self._contexts for page in context.pages]
        for number, page in enumerate(pages):
            page.screenshot(path=folder / f"{name}-{number}.png")
        logs = [server.log() for server in dict.fromkeys(self._used)]
        return "\n".join([f"pictures: {folder}", "console:", *self.console[-20:], "servers:", *logs])

    def close(self) -> None:
        for context in self._contexts:
            context.close()
        for server in dict.fromkeys(self._used):
            server.clear()


@pytest.fixture
def visit(chromium: Any, servers: Callable[..., Any], request: pytest.FixtureRequest) -> Iterator[Visits]:
    """Opens pages: `visit("lab").open("a.ipynb")`. A page that asks another machine for something fails the test."""
    visits = Visits(chromium, servers)
    try:
        yield visits
        if request.node.stash.get(FAILED, False):
            name = "".join(sign if sign.isalnum() else "-" for sign in request.node.name)
            request.node.add_report_section("call", "pages", visits.report(name))
        assert visits.foreign() == []
    finally:
        visits.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report
