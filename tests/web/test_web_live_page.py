"""The live page in a real browser: what it shows, what is written down, what it survives."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from scorers.feedback import FILE, read
from simulator.core.types import MS, SECOND, ImageRef, MemoryItem, Observation, Offer, Snapshot
from simulator.recorder.exclusions import PAGE_MARK
from simulator.recorder.status import Facts
from simulator.runs.answers import Answer
from simulator.runs.flights import Flight
from simulator.runs.gate import OFF
from simulator.runs.records import Kind
from simulator.web.live import LivePage
from simulator.web.place import Place
from simulator.web.server import Web

pytestmark = pytest.mark.timeout(60)
PHONE, PROJECTOR = (360, 740), (1920, 1080)
HOSTILE = '<img src=x onerror="document.title=1"><script>alert(1)</script>\x1b[31m\u202egnp.exe\u0000 "&amp;'


class Recorder:
    """Says that it records, and pauses at once."""

    def __init__(self) -> None:
        self.facts = Facts(last_tick_age_s=0.4, n_rows=12, n_bytes=2_000_000, late_p99_ms=3.0)
        self.heard: list[str] = []

    def pause(self) -> None:
        self.heard.append("pause")
        self.facts = Facts(last_tick_age_s=0.4, n_rows=12, trouble="paused", gaps={"paused": 2})

    def resume(self) -> None:
        self.heard.append("resume")
        self.facts = Facts(last_tick_age_s=0.4, n_rows=13)


class Live:
    """A page with a made-up run behind it."""

    def __init__(self, folder: Path, recorder: Recorder | None = None) -> None:
        self.folder, self.now_ns = folder, 0
        self.place = Place([])
        self.page = LivePage(self.place.hub, ["Recorded: a picture a second.", "Sent: nothing."], recorder=recorder)
        self.page.show(self.page.badge, self.page.notice, recorder)
        (folder / "unit").mkdir(parents=True, exist_ok=True)
        run: Any = SimpleNamespace(unit=lambda key: folder / key)
        plan: Any = SimpleNamespace(key="unit", source=SimpleNamespace(user="p01"))
        self.page._folder, self.page._plan = run, plan
        self.page._engine = self.engine = SimpleNamespace(  # type: ignore[assignment]
            now_ns=self.stream_ns, seen=(), waiting=1, dropped=2, source=SimpleNamespace(gaps=()),
            books=SimpleNamespace(tally=SimpleNamespace(released=12, never_seen=3)),
        )  # fmt: skip
        self.page.feed.begin(
            {"badge": "LIVE", "notice": self.page.notice, "can_pause": recorder is not None}, OFF, 60 * SECOND
        )
        self.page.feed.phase("running")

    def stream_ns(self) -> int:
        return self.now_ns

    def saw(self, n: int, app: str = "xterm", title: str = "bash", colour: str = "navy") -> Snapshot:
        file = self.folder / f"{n}.png"
        Image.new("RGB", (320, 180), colour).save(file)
        snapshot = Snapshot(n, n * SECOND, n * SECOND, app, title, None, ImageRef(file, f"{n:064x}"))
        self.now_ns = snapshot.captured_ns + 400 * MS
        self.page.feed.snapshot(self.page._with_picture(snapshot))
        self.page.tell()
        return snapshot

    def answered(self, seen: Snapshot, *offers: Offer, took_ms: int = 300, items: tuple[MemoryItem, ...] = (),
                 kind: Kind | None = None, dropped: int = 0) -> None:  # fmt: skip
        flight = Flight("decide", seen.index, seen.captured_ns, seen.captured_ns, dropped, snapshot=seen)
        self.page.feed.departed(flight)
        said = tuple((offer, took_ms * MS) for offer in offers)
        fields: dict[str, Any] = {"tokens": {"in": 900, "out": 40}, "cost": None}
        if kind is Kind.ERROR:
            fields["error"] = {"kind": "model_refused", "text": "the server says: no such model"}
        flight.answer = Answer(took_ms * MS, offers=said, fields=fields)
        view: Any = SimpleNamespace(items=items)
        flight.observation = Observation(seen, seen.captured_ns, "u", view, {}, view, view)
        self.page.feed.decided(flight, kind or (Kind.OFFER if offers else Kind.SILENT), seen.captured_ns + took_ms * MS)

    def some(self) -> None:
        """What a minute may look like."""
        for n in range(40):
            seen = self.saw(n, "Firefox" if n < 20 else "xterm")
            offers = (Offer("Error Correction", f"May I explain error {n}?", 0.7),) if n in (12, 30) else ()
            memory = (
                MemoryItem("Stuck in xterm, asked for help", 0.93, ("a",), None, "Error Correction", 0.5, "why?"),
            )
            slow = n % 9 == 0
            self.answered(seen, *offers, took_ms=2400 if slow else 300, items=memory, dropped=2 if slow else 0,
                          kind=Kind.ERROR if n == 25 else None)  # fmt: skip
        self.page.feed.gaps([(5 * SECOND, 9 * SECOND, "paused")])
        self.page.lags_ns.extend([2 * MS] * 20)
        self.page.tell()


@pytest.fixture
def live(tmp_path: Path) -> Live:
    return Live(tmp_path, Recorder())


def opened(page: Any, served: Callable[..., str], live: Live, query: str = "") -> str:
    url = served(live.place, more=live.page.routes())
    page.goto(f"{url}/live{query}")
    page.wait_for_function("document.querySelector('#figures dd')")
    return url


def test_it_carries_the_mark_by_which_the_recorder_finds_it(page: Any, served: Any, live: Live) -> None:
    opened(page, served, live)
    live.some()
    assert PAGE_MARK in page.title()
    assert PAGE_MARK in page.evaluate("fetch('/live').then((a) => a.text())").partition("</title>")[0]


def test_it_says_what_is_recorded_what_the_agent_does_and_how_fast(page: Any, served: Any, live: Live) -> None:
    opened(page, served, live)
    live.some()
    page.wait_for_selector("#frame img")
    page.wait_for_function("document.querySelector('#rec').textContent === '● REC'")
    said = page.inner_text("main")
    for words in ("Recorded: a picture a second.", "May I explain error 30?", "70 % sure", "300 ms", "unknown",
                  "2 of 2", "40 decisions", "1 error (", "2 suggestions", "1 gap ("):  # fmt: skip
        page.wait_for_function(f"document.querySelector('main').innerText.includes('{words}')")
    assert "0.4 s ago" in said or "s ago" in said
    page.keyboard.press("m")
    page.wait_for_function("document.querySelector('#memories').innerText.includes('You asked: why?')")
    assert "help was needed in 50 % of such moments" in page.inner_text("#memories")


def test_it_can_be_read_by_everybody_and_fits(
    page: Any, served: Any, live: Live, look: Any, axe_clean: Any, shot: Any
) -> None:
    opened(page, served, live)
    live.some()
    page.wait_for_selector("#card .offer")
    page.wait_for_selector("#frame img")
    page.keyboard.press("m")
    for theme, size in (("light", (1280, 800)), ("dark", PHONE)):
        look(page, size, theme)
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        axe_clean(page)
        shot(page, f"live-{theme}-{size[0]}")


IN_SIGHT = """() => {
  const wanted = '#frame img, #card .facts, #buttons, #fault, #strip, #strip-said, .figures';
  const inside = (at) => at.height > 0 && at.bottom <= innerHeight && at.right <= innerWidth;
  return [...document.querySelectorAll(wanted)].filter((node) => !inside(node.getBoundingClientRect()))
    .map((node) => node.id || node.className || node.tagName);
}"""


def test_a_wall_has_all_of_it_in_sight_and_at_its_size(
    new_page: Any, served: Any, live: Live, look: Any, shot: Any
) -> None:
    page = new_page(PROJECTOR)
    opened(page, served, live, "?kiosk")
    live.some()
    live.answered(live.saw(40), Offer("Error Correction", "A long word to whom it may concern. " * 16, 0.7))
    page.wait_for_selector("#card .offer")
    page.wait_for_selector("#frame img")
    for width, height in (PROJECTOR, (3840, 2160)):
        look(page, (width, height), "light")
        page.wait_for_function(f"document.querySelector('#strip').width >= {width} * 0.9")
        assert page.evaluate(IN_SIGHT) == []
        assert page.evaluate("document.documentElement.scrollHeight") <= height
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        shot(page, f"live-kiosk-{width}")
    assert page.evaluate("document.querySelector('#strip').getContext('2d').getTransform().a") == 2.5, "40 px text"
    look(page, PHONE, "light")
    assert page.evaluate("document.querySelector('#frame img').clientHeight") > 100, "and a phone scrolls"
    assert page.evaluate("document.documentElement.scrollHeight") > PHONE[1]


def test_a_suggestion_of_many_lines_stands_on_a_wall_in_one(new_page: Any, served: Any, live: Live) -> None:
    page = new_page(PROJECTOR)
    opened(page, served, live, "?kiosk")
    live.answered(live.saw(1), Offer("Coding", "\n" * 300 + "first" + "\n" * 300 + "last"))
    page.wait_for_function("document.querySelector('#card .words')?.innerText === 'first last'")


def test_what_is_said_of_a_suggestion_is_written_down_and_taken_back(page: Any, served: Any, live: Live) -> None:
    opened(page, served, live)
    live.some()
    file = live.folder / "unit" / FILE
    page.wait_for_function("document.querySelector('#card').innerText.includes('error 30')")
    page.wait_for_timeout(450)
    page.get_by_role("button", name="Useful").click()
    page.wait_for_function("document.querySelector('#heard').textContent.includes('Written down')")
    (one,) = read(file) or ()
    assert (one.seq, one.said, one.by, one.intention) == (30, "accepted", "p01", "Error Correction")
    assert one.at is not None
    assert one.t_s == pytest.approx(live.now_ns / SECOND)
    assert page.get_attribute("[data-said=accepted]", "aria-pressed") == "true"
    page.keyboard.press("w")
    page.wait_for_function("document.querySelector('[data-said=rejected]').ariaPressed === 'true'")
    assert [v.said for v in read(file) or ()] == ["accepted", "rejected"]
    page.keyboard.press("z")
    page.wait_for_function("document.querySelector('[data-said=accepted]').ariaPressed === 'true'")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function("document.querySelector('#heard').textContent === 'Taken back.'")
    assert read(file) == ()
    page.get_by_role("button", name="Open the suggestion of 0:12").click()
    page.wait_for_function("document.querySelector('#card').innerText.includes('error 12')")
    page.wait_for_timeout(450)
    page.keyboard.press("n")
    page.wait_for_function("document.querySelector('#earlier').innerText.includes('not now')")
    (one,) = read(file) or ()
    assert (one.seq, one.said) == (12, "ignored")


def test_an_answer_meant_for_one_suggestion_does_not_reach_the_next(page: Any, served: Any, live: Live) -> None:
    opened(page, served, live)
    live.answered(live.saw(1), Offer("Coding", "the first"))
    page.wait_for_function("document.querySelector('#card').innerText.includes('the first')")
    page.wait_for_timeout(450)
    live.answered(live.saw(2), Offer("Coding", "the second"))
    page.wait_for_function("document.querySelector('#card').innerText.includes('the second')")
    page.keyboard.press("w")  # the finger was on its way
    page.wait_for_function("document.querySelector('#heard').textContent.startsWith('Too soon')")
    assert not (live.folder / "unit" / FILE).exists()


def test_the_same_answer_twice_is_one_row_and_one_undo_takes_it_back(page: Any, served: Any, live: Live) -> None:
    opened(page, served, live)
    live.answered(live.saw(1), Offer("Coding", "the first"))
    page.wait_for_function("document.querySelector('#card').innerText.includes('the first')")
    page.wait_for_timeout(450)
    page.keyboard.press("u")
    page.wait_for_function("document.querySelector('#heard').textContent.startsWith('Written down: ')")
    page.keyboard.press("u")
    page.wait_for_function("document.querySelector('#heard').textContent.startsWith('Written down already')")
    (shown,) = live.page.feed.state()["offers"]
    assert live.page._write_answer(shown["id"], "accepted") == "accepted"  # another page that had not heard of it
    assert [one.said for one in read(live.folder / "unit" / FILE) or ()] == ["accepted"]
    assert live.page._write_answer(shown["id"], None) is None


def test_pausing_stops_the_recorder_and_is_seen(page: Any, served: Any, live: Live) -> None:
    opened(page, served, live)
    live.saw(0)
    recorder: Any = live.page.recorder
    page.keyboard.press("p")
    page.wait_for_function("document.querySelector('#rec').textContent.includes('PAUSED: nothing is recorded')")
    assert page.get_attribute("#rec", "data-state") == "off"
    page.get_by_role("button", name="Resume recording").click()
    page.wait_for_function("document.querySelector('#rec').textContent === '● REC'")
    assert recorder.heard == ["pause", "resume"]


def test_a_recording_says_so_and_cannot_be_paused(page: Any, served: Any, tmp_path: Path) -> None:
    live = Live(tmp_path)
    live.page.feed.begin({"badge": "RECORDING", "notice": ["This is a recording."], "can_pause": False}, OFF)
    live.page.feed.phase("running")
    opened(page, served, live)
    live.saw(0)
    page.wait_for_function("document.querySelector('#rec').textContent.includes('RECORDING, not this screen')")
    assert not page.is_visible("#pause")
    page.keyboard.press("p")
    page.wait_for_function("document.querySelector('#rec').textContent.includes('nothing can be paused')")
    page.wait_for_timeout(450)
    assert "nothing can be paused" in page.inner_text("#rec"), "the clock that ticks five times a second keeps it"
    page.wait_for_function("!document.querySelector('#rec').textContent.includes('nothing can be paused')")
    live.page.feed.phase("ended", "the agent was lost")
    page.wait_for_function("document.querySelector('#rec').textContent === '■ ENDED'")
    page.wait_for_function("document.querySelector('#doing').textContent === 'ended: the agent was lost'")
    live.page.linger(20 * SECOND)
    page.wait_for_function(
        "/^answers are taken for (19|20) s more$/.test(document.querySelector('#watch').textContent)"
    )


def test_that_its_window_was_not_found_is_said(page: Any, served: Any, live: Live) -> None:
    recorder: Any = live.page.recorder
    recorder.facts = Facts(last_tick_age_s=0.4, n_rows=12, page_missing=True)
    opened(page, served, live)
    live.saw(0)
    page.wait_for_selector("#frame img")
    assert not page.is_visible("#own"), "it may just have been opened"
    for _ in range(4):
        live.page.tell()
    page.wait_for_function("!document.querySelector('#own').hidden")
    assert "move it to another one" in page.inner_text("#own")


def test_hostile_words_stay_words(page: Any, served: Any, live: Live) -> None:
    opened(page, served, live)
    live.page.feed.begin({"badge": "LIVE", "notice": [HOSTILE], "can_pause": True}, OFF)
    live.page.feed.phase("running")
    items = (MemoryItem(HOSTILE, 0.5, query=HOSTILE, intention=HOSTILE),)
    live.answered(live.saw(0, HOSTILE, HOSTILE + "x" * 10_000), Offer(HOSTILE, HOSTILE * 200, 1.0), items=items)
    live.answered(live.saw(1, HOSTILE), Offer("Coding", "next"))
    page.wait_for_function("document.querySelector('#card').innerText.includes('next')")
    page.get_by_role("button", name="Open the suggestion of 0:00").click()
    page.wait_for_function("document.querySelector('#card').innerText.includes('onerror')")
    page.keyboard.press("m")
    page.wait_for_selector("#frame img")
    assert PAGE_MARK in page.title()
    assert page.locator("img[src=x], main script").count() == 0
    said = page.inner_text("main")
    assert "\x1b" not in said
    assert "\u202e" not in said
    page.get_by_role("button", name="more").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


def test_it_goes_on_after_the_server_was_started_anew(page: Any, watched: Any, tmp_path: Path) -> None:
    first = Live(tmp_path / "one", Recorder())
    with Web(first.place, more=first.page.routes()).in_thread() as url:
        port = int(url.rstrip("/").rpartition(":")[2])
        page.goto(f"{url}live")
        first.answered(first.saw(0), Offer("Coding", "of the first run"))
        page.wait_for_function("document.querySelector('#card').innerText.includes('of the first run')")
    page.wait_for_function("document.querySelector('#rec').textContent.includes('no connection')")
    second = Live(tmp_path / "two", Recorder())
    second.answered(second.saw(0), Offer("Coding", "of the second run"))
    with Web(second.place, more=second.page.routes()).in_thread(port=port):
        page.wait_for_function(
            "document.querySelector('#card').innerText.includes('of the second run')", timeout=15_000
        )
        page.wait_for_function("document.querySelector('#rec').textContent === '● REC'")
        assert "of the first run" not in page.inner_text("main")
        second.answered(second.saw(1), Offer("Writing", "and on"))
        page.wait_for_function("document.querySelector('#card').innerText.includes('and on')")
        assert not page.is_visible("#away")
        page.goto("about:blank")
    watched.faults = [f for f in watched.faults if "ERR_CONNECTION_REFUSED" not in f and "INCOMPLETE" not in f]


def test_events_missed_while_a_page_was_hidden_or_slow_are_made_good(page: Any, served: Any, live: Live) -> None:
    opened(page, served, live)
    for n in range(700):  # more than the hub keeps
        seen = Snapshot(n, n * SECOND, n * SECOND, "xterm", "bash", None, None)
        live.page.feed.snapshot(seen)
    live.answered(live.saw(700), Offer("Coding", "the last word"))
    page.wait_for_function("document.querySelector('#card').innerText.includes('the last word')")
    state = page.evaluate("fetch('/api/live').then((a) => a.json())")
    assert state["snapshot"]["index"] == 700
    assert len(json.dumps(state)) < 100_000


def test_it_says_why_decisions_fail_while_they_do(page: Any, served: Any, live: Live) -> None:
    opened(page, served, live)
    live.answered(live.saw(0))
    live.page.tell()
    assert not page.is_visible("#fault")
    live.answered(live.saw(1), kind=Kind.ERROR)
    page.wait_for_function("!document.querySelector('#fault').hidden")
    said = page.inner_text("#fault")
    assert "1 of 2 decisions failed, the last at 0:01: model_refused: the server says: no such model" in said
    assert "counts as the timeout of 60 s" in said
    page.wait_for_function("document.querySelector('#figures').innerText.includes('60 s !')")


def test_what_makes_a_run_invalid_is_said_while_it_goes_on(page: Any, served: Any, live: Live) -> None:
    recorder: Any = live.page.recorder
    recorder.facts = Facts(last_tick_age_s=0.4, n_rows=12, late_p99_ms=206.0)
    live.page.lags_ns.extend([20 * MS] * 20)
    opened(page, served, live)
    live.saw(0)
    page.wait_for_function("document.querySelector('#invalid').textContent.includes('INVALID if it ended now')")
    assert "looks late p99 206 ms, limit 50 ms" in page.inner_text("#invalid")
    figures = page.inner_text("#figures").splitlines()
    assert figures[figures.index("Looks late p99") + 1] == "206 ms !"
    assert figures[figures.index("Loop lag p99") + 1] == "20 ms", "the limit is 100 ms"
    ended: Any = SimpleNamespace(audit=SimpleNamespace(invalid=("looks late p99 206 ms, limit 50 ms",)), error=None)
    live.page.unit_done(live.page._plan, ended)  # type: ignore[arg-type]
    page.wait_for_function("document.querySelector('#rec').textContent.includes('ENDED')")
    said = page.inner_text("#invalid")
    assert "INVALID, so its figures say nothing of the agent: looks late p99 206 ms" in said
    assert "if it ended now" not in said


def test_the_strip_and_the_figures_count_the_same_snapshots(page: Any, served: Any, live: Live) -> None:
    opened(page, served, live)
    live.answered(live.saw(0), dropped=4)
    live.engine.dropped, live.engine.books.tally.released = 6, 12  # two more have given way since
    live.saw(1)
    page.wait_for_function("document.querySelector('#strip-said').textContent.includes('6 snapshots never seen')")
    page.wait_for_function("/Never seen\\n6 !/.test(document.querySelector('#figures').innerText)")
    live.engine.books.tally.released = 13
    live.answered(live.saw(2))
    page.wait_for_function("/Snapshots\\n13\\n/.test(document.querySelector('#figures').innerText)")


def test_the_stopwatch_of_a_thought_is_the_thoughts(page: Any, served: Any, live: Live) -> None:
    opened(page, served, live)
    live.answered(live.saw(0), Offer("Coding", "Shall I?"))
    seen = live.saw(1)
    live.page.feed.departed(Flight("decide", 1, seen.captured_ns, seen.captured_ns, 0, snapshot=seen))
    live.now_ns = 7 * SECOND
    live.page.tell()
    page.wait_for_function("document.querySelector('#doing').textContent === 'suggesting, and thinking on for'")
    page.wait_for_function("/^6[.][0-9] s$/.test(document.querySelector('#watch').textContent)")
    assert page.get_attribute("#doing", "data-over") == "true"


def test_what_has_ended_has_ended_also_when_the_server_is_gone(new_page: Any, watched: Any, live: Live) -> None:
    page = new_page()
    with Web(live.place, more=live.page.routes()).in_thread() as url:
        page.goto(f"{url}live")
        live.answered(live.saw(0), Offer("Coding", "Shall I?"))
        page.wait_for_selector("#card .offer")
        live.engine.books.tally = SimpleNamespace(released=200, never_seen=3)
        live.page.unit_done(SimpleNamespace(key="unit"), SimpleNamespace(error=None, audit=None))  # type: ignore[arg-type]
        page.wait_for_function("document.querySelector('#rec').textContent === '■ ENDED'")
        live.page.over()  # which changes nothing any more
        page.wait_for_function("/Snapshots\\n200\\n/.test(document.querySelector('#figures').innerText)")
    page.wait_for_function("document.querySelector('#away').textContent.includes('has closed its server')")
    assert page.inner_text("#rec") == "■ ENDED"
    assert not page.is_visible("#pause")
    assert "Never seen\n3 !" in page.inner_text("#figures")
    page.goto("about:blank")
    watched.faults = [f for f in watched.faults if "ERR_CONNECTION_REFUSED" not in f and "INCOMPLETE" not in f]


def test_an_answer_by_key_takes_the_ring_to_its_button_and_no_memory_has_no_list(
    page: Any, served: Any, live: Live
) -> None:
    opened(page, served, live)
    live.answered(live.saw(0), Offer("Coding", "Shall I?"))
    page.wait_for_selector("#card .offer")
    assert not page.is_visible("#behind")
    assert not page.is_visible("#earlier-part")
    page.wait_for_timeout(450)
    page.get_by_role("button", name="Wrong").click()
    page.wait_for_function("document.querySelector('#heard').textContent.includes('wrong')")
    page.keyboard.press("u")
    page.wait_for_function("document.activeElement.dataset.said === 'accepted'")
    live.answered(live.saw(1), items=(MemoryItem("Stuck before", 0.9),))
    live.answered(live.saw(2), Offer("Writing", "and now?"))
    page.wait_for_function("!document.querySelector('#behind').hidden")
    page.keyboard.press("m")
    assert "this is what it had told at 0:01" in page.inner_text("#recalled")


def test_a_run_that_was_interrupted_has_ended_too(live: Live) -> None:
    live.answered(live.saw(0))
    live.engine.books.tally = SimpleNamespace(released=1, never_seen=0)
    live.page.over()
    state = live.page.feed.state()
    assert (state["about"]["phase"], state["counts"]["released"]) == ("ended", 1)
    live.page.linger(SECOND)
    assert live.page.feed.state()["about"]["until_ms"] > 0
    live.page.over()
    assert live.page.feed.state()["about"]["until_ms"] > 0, "that answers are taken stays said"
