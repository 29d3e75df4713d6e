"""The scripts of the recordings, played on paper: no display, no program, no waiting."""

from __future__ import annotations

import json
from contextlib import nullcontext
from http.client import HTTPConnection
from pathlib import Path

import pytest

from scenarios.record.__main__ import NAMES, main, scripts
from scenarios.record.desk import Desk
from scenarios.record.hands import DeskError, Hands
from scenarios.record.needs import Script
from scenarios.record.take import check_looks
from scenarios.record.web import PAGES, Web
from simulator.session.store import Writer

ALL = [pytest.param(script, id=script.folder) for name in NAMES for script in scripts(name)]


class Paper(Desk):
    """A desk on which everything works and takes no time."""

    def __init__(self, seed: int, home: Path) -> None:
        Hands.__init__(self, {}, seed, dict)
        self.home, self.pages = home, list[str]()

    def _xdotool(self, *words: str, check: bool = True) -> str:
        return ""

    def _wait(self, seconds: float) -> None:
        pass

    def _app(self, *words: str, cwd: Path | None = None) -> None:
        pass

    def run(self, command: str, folder: str = ".") -> None:
        pass

    def raise_(self, title: str) -> None:
        self._note(do="raise", window=title)

    def wait_for(self, title: str, *, within_s: float = 12) -> None:
        pass

    def files(self, folder: str = "") -> None:
        pass

    def browser(self, *pages: str) -> None:
        self.pages += pages

    def go_to(self, page: str, title: str) -> None:
        self._note(do="type", text=page)
        self.pages.append(page)

    def message(self, text: str) -> None:
        pass

    def find(self, name: str, *, within_s: float = 6) -> tuple[int, int]:
        return 1, 1


def _played(script: Script, home: Path) -> Paper:
    desk = Paper(script.seed, home)
    script.prepare(desk)
    desk.log.clear()
    script.play(desk)
    return desk


@pytest.mark.parametrize("script", ALL)
def test_a_script_opens_and_closes_each_need_once_and_acts_after_it(script: Script, tmp_path: Path) -> None:
    log = [dict(action.what) for action in _played(script, tmp_path).log]
    needs = [need.id for case in script.cases for need in case.needs]
    marks = [(what["need"], what["is"]) for what in log if "need" in what]
    assert sorted(marks) == sorted((need, word) for need in needs for word in ("open", "closed"))
    for need in needs:
        assert marks.index((need, "open")) < marks.index((need, "closed"))
    assert "do" in log[-1], "something is done after the last need"


@pytest.mark.parametrize("script", ALL)
def test_a_script_takes_the_same_course_each_time(script: Script, tmp_path: Path) -> None:
    once, again = (_played(script, tmp_path / name) for name in ("once", "again"))
    assert [action.what for action in once.log] == [action.what for action in again.log]


@pytest.mark.parametrize("script", ALL)
def test_every_page_of_a_script_is_there(script: Script, tmp_path: Path) -> None:
    for page in _played(script, tmp_path).pages:
        host, _, path = page.partition("/")
        assert host.endswith(".example")
        assert (PAGES / host / f"{path or 'index'}.html").is_file(), page


@pytest.mark.parametrize(
    ("late_ms", "gap", "said"),
    [(499.0, 0, None), (501.0, 0, "up to 501 ms late and 0 s were not"), (1.0, 2, "up to 1 ms late and 2 s were not")],
)
def test_a_take_with_late_or_missed_looks_is_refused(
    tmp_path: Path, late_ms: float, gap: int, said: str | None
) -> None:
    with Writer(tmp_path / "s") as writer:
        for n in range(3):
            writer.add(tick=n, captured_ns=n * 10**9, app_name="xterm", window_title="t", late_ms=late_ms * (n == 1))
        if gap:
            writer.gap(3, 2 + gap, "overload")
            writer.add(tick=3 + gap, captured_ns=(3 + gap) * 10**9, app_name="xterm", window_title="t", late_ms=None)
    with pytest.raises(DeskError, match=said) if said else nullcontext():
        check_looks(tmp_path / "s")


def _get(web: Web, host: str, path: str) -> tuple[int, str]:
    link = HTTPConnection("127.0.0.1", web.port, timeout=5)
    link.request("GET", path, headers={"Host": host})
    answer = link.getresponse()
    said = answer.status, answer.read().decode()
    link.close()
    return said


def test_pages_are_served_by_host_and_tell_where_things_are() -> None:
    with Web() as web:
        status, page = _get(web, "news.example", "/")
        assert status == 200
        assert "Harbour News" in page
        assert 'sendBeacon("/where"' in page
        assert _get(web, "fjell.example:80", "/pack?x=1")[0] == 200
        assert _get(web, "news.example", "/plain.css")[0] == 200
        for host, path in (("news.example", "/none"), ("none.example", "/"), ("news.example", "/../../web.py")):
            assert _get(web, host, path)[0] == 404
        link = HTTPConnection("127.0.0.1", web.port, timeout=5)
        link.request("POST", "/where", body=json.dumps({"buy": [10.4, 20.6]}))
        assert link.getresponse().status == 204
        link.close()
        assert web.places == {"buy": (10, 21)}
        web.messages.append("hello")
        assert _get(web, "chat.example", "/messages") == (200, '["hello"]')


def test_an_unknown_name_is_told_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paperwork"]) == 2
    assert "coding_error" in capsys.readouterr().err
