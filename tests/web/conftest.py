"""A real browser for the pages: `page` fails its test on any console error, failed request or outside request.

Playwright's synchronous calls hold the thread's event loop while they live, so a module that asks for `page` has no
asynchronous tests of its own. `page.wait_for_function` takes an expression here.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from simulator.core.types import MS
from simulator.timing.clock import real_ns
from simulator.web import server
from simulator.web.following import follow
from simulator.web.place import Place
from simulator.web.server import Web

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--force-color-profile=srgb"]  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DESKTOP, PHONE, PROJECTOR = (1280, 800), (360, 740), (1920, 1080)

Served = Callable[..., str]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium of this machine; skips where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=program, headless=True, args=FLAGS)
        yield made
        made.close()


@pytest.fixture
def served() -> Iterator[Served]:
    """`served(place, more=[…])` serves pages in a thread and gives their address, without the slash at its end."""
    with ExitStack() as stack:

        def serve(place: Place, **how: Any) -> str:
            return stack.enter_context(Web(place, **how).in_thread()).rstrip("/")

        yield serve


@pytest.fixture
def follows_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers look for changes of running runs 20 times a second."""
    monkeypatch.setattr(server, "follow", partial(follow, least_ns=50 * MS))


class Watched:
    """What a page did that it should not: console errors, exceptions, failed and outside requests.

    Attributes:
        faults: so far; a test that provokes one on purpose takes it off (``watched.forgive("404")``).
    """

    def __init__(self) -> None:
        self.faults: list[str] = []
        self._hosts: set[str] = set()

    def watch(self, page: Any) -> None:
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(f"exception: {error}"))
        page.on("requestfailed", self._failed)
        page.on("response", self._answered)
        page.on("request", self._asked)

    def forgive(self, part: str) -> None:
        """Take off what holds that text, of which there must be some."""
        kept = [fault for fault in self.faults if part not in fault]
        assert len(kept) < len(self.faults), f"nothing with {part!r} happened: {self.faults}"
        self.faults = kept

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console {message.type}: {message.text}")

    def _asked(self, request: Any) -> None:
        url = urlsplit(request.url)
        if url.scheme not in ("data", "blob", "about"):
            if not self._hosts and request.is_navigation_request():
                self._hosts.add(url.netloc)
            if url.netloc not in self._hosts:
                self.faults.append(f"outside request: {request.url}")

    def _failed(self, request: Any) -> None:
        # A page that leaves ends its event stream and what it had not finished loading.
        if request.failure != "net::ERR_ABORTED":
            self.faults.append(f"failed request: {request.url} {request.failure}")

    def _answered(self, response: Any) -> None:
        if response.status >= 400:
            self.faults.append(f"answer {response.status}: {response.url}")


@pytest.fixture
def watched() -> Watched:
    """What the test's page did that it should not."""
    return Watched()


@pytest.fixture
def new_page(browser: Any, watched: Watched) -> Iterator[Callable[..., Any]]:
    """`new_page(size, color_scheme="dark")`: a page in a context of its own, watched."""
    with ExitStack() as stack:

        def make(size: tuple[int, int] = DESKTOP, **how: Any) -> Any:
            context = browser.new_context(viewport={"width": size[0], "height": size[1]}, locale="en-GB", **how)
            stack.callback(context.close)
            context.set_default_timeout(5000)
            page = context.new_page()
            watched.watch(page)
            page.wait_for_function = lambda code, **how: _until(page, code, **how)
            return page

        yield make
        assert watched.faults == []


def _until(page: Any, code: str, timeout: float = 5000) -> None:
    """Wait for an expression to hold. Playwright's own way evaluates text in the page, which our policy refuses."""
    end = real_ns() + int(timeout * MS)
    while not page.evaluate(f"() => Boolean({code})"):
        assert real_ns() < end, f"did not come true in {timeout} ms: {code}"
        page.wait_for_timeout(10)


@pytest.fixture
def page(new_page: Callable[..., Any]) -> Any:
    """A page of desktop size."""
    return new_page()


@pytest.fixture
def look() -> Callable[[Any, tuple[int, int], str], None]:
    """`look(page, (360, 740), "dark")`: the page as it is now at another size and in another theme, not loaded anew."""

    def change(page: Any, size: tuple[int, int], scheme: str) -> None:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.evaluate("() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))")

    return change


@pytest.fixture
def shot() -> Callable[[Any, str], None]:
    """`shot(page, "runs-dark")` keeps a picture in $PROACT_SHOTS for people to look at, if that is set."""
    folder = _SHOTS

    def keep(page: Any, name: str) -> None:
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=str(Path(folder) / f"{name}.png"))

    return keep


_SHOTS = os.environ.get("PROACT_SHOTS")  # read before the tests' own environment takes such variables away


@pytest.fixture
def axe_clean() -> Callable[..., None]:
    """`axe_clean(page)`: axe finds nothing against WCAG 2.2 A and AA, nor against its best practices."""
    sync_playwright = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    axe = sync_playwright.Axe()

    def check(page: Any, *, leave_out: tuple[str, ...] = ()) -> None:
        rules = {rule: {"enabled": False} for rule in leave_out}
        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
        options = {"runOnly": {"type": "tag", "values": tags}, "rules": rules, "resultTypes": ["violations"],
                   "preload": False, "iframes": False}  # fmt: skip
        found = axe.run(page, options=options).response
        said = [f"{one['id']}: {one['help']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
                for one in found["violations"] for node in one["nodes"]]  # fmt: skip
        assert said == []

    return check
