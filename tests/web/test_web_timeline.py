"""The replay timeline in a real browser: keys, links, runs side by side, hostile words, what is missing, and speed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from simulator.runs.lock import Lock
from simulator.web.pictures import Pictures
from simulator.web.place import Place, id_of
from simulator.web.server import Web
from tests.replays import HOSTILE, SAID, play, record

DESKTOP, PHONE, PROJECTOR = (1280, 800), (360, 740), (1920, 1080)
Served = Callable[..., str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`day` and two runs of it, `runs/scripted` and `runs/silent`."""
    folder = tmp_path_factory.mktemp("made")
    play(record(folder / "day"), folder / "runs/scripted", SAID)
    play(folder / "day", folder / "runs/silent", "silent")
    return folder


def _open(page: Any, served: Served, run: Path, link: str = "", unit: str = "day") -> str:
    url = served(Place([run.parent]))
    page.goto(f"{url}/run/{id_of(run)}/{unit}{link}")
    page.wait_for_selector("#whole:not([hidden])")
    page.wait_for_selector("#list > *", state="attached")  # which comes once what is above it is drawn
    return url


def _t(page: Any) -> float:
    return float(page.evaluate("timeline.state.t"))


def _press(page: Any, *keys: str) -> float:
    for key in keys:
        page.keyboard.press(key)
    return _t(page)


def test_every_key_goes_where_it_says(page: Any, served: Served, made: Path) -> None:
    _open(page, served, made / "runs/scripted")
    for key, t in [
        ("ArrowRight", 1), ("ArrowLeft", 0), ("g", 10), ("g", 30), ("G", 10), ("Shift+ArrowRight", 12),
        ("Shift+ArrowLeft", 12), ("e", 26), ("e", 30), ("E", 26), ("Alt+ArrowRight", 30), ("Alt+ArrowLeft", 20),
        ("End", 59), ("ArrowRight", 59), ("g", 59), ("Home", 0), ("Alt+ArrowLeft", 0),
    ]:  # fmt: skip
        assert (key, _press(page, key)) == (key, t)
    _press(page, "w")
    assert page.evaluate("timeline.drawing.to - timeline.drawing.from") == 30
    _press(page, "s")
    assert page.evaluate("timeline.drawing.to - timeline.drawing.from") == 60
    _press(page, "w", "w")
    at = page.evaluate("timeline.drawing.from")
    _press(page, "d")
    assert page.evaluate("timeline.drawing.from") > at
    _press(page, "a", "0")
    assert page.evaluate("[timeline.drawing.from, timeline.drawing.to]") == [0, 60]


def test_it_is_drawn_once_when_it_opens(page: Any, served: Served, made: Path) -> None:
    _open(page, served, made / "runs/scripted")
    page.evaluate("() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))")
    assert page.evaluate("timeline.drawing.took.length") == 1


def test_keys_are_listed_and_do_nothing_while_somebody_types(page: Any, served: Served, made: Path) -> None:
    _open(page, served, made / "runs/scripted")
    page.keyboard.press("?")
    assert "next error" in page.inner_text("dialog[open]")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("eg SCREEN 15")
    assert (_t(page), page.input_value("#query")) == (0, "eg SCREEN 15")
    page.fill("#query", "Screen 15")
    page.keyboard.press("Enter")
    page.wait_for_function("timeline.state.t === 15")
    page.keyboard.press("Escape")
    assert _press(page, "ArrowRight") == 16
    page.fill("#query", "<nothing of the kind>")
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('hits').textContent === 'nothing found'")


def test_it_plays_at_the_speed_that_was_chosen(page: Any, served: Served, made: Path) -> None:
    _open(page, served, made / "runs/scripted")
    _press(page, "3", " ")
    page.wait_for_function("timeline.state.t > 6")
    assert _press(page, " ") > 6
    t = _t(page)
    page.wait_for_timeout(50)
    assert _t(page) == t
    assert page.input_value("#speed") == "60"


def test_a_link_leads_to_the_instant_and_the_runs(page: Any, served: Served, made: Path, axe_clean: Any) -> None:
    ids = [id_of(made / "runs" / name) for name in ("scripted", "silent")]
    _open(page, served, made / "runs/scripted", f"#t=34&runs={','.join(ids)}")
    page.wait_for_function(
        "document.getElementById('panel').innerText.includes('When captured it was right for second')"
    )
    assert _t(page) == 34
    said = page.inner_text("#panel")
    assert "at the instant at which it closed" in said
    assert page.evaluate("timeline.session.runs.map((run) => run.id)") == ids
    _press(page, "ArrowRight", "r")
    page.wait_for_function("location.hash.startsWith('#t=35&runs=')")
    assert page.input_value("#panel-run") == "1"
    page.wait_for_function("document.getElementById('panel').innerText.includes('It was silent')")
    axe_clean(page)


def test_runs_of_the_session_can_be_put_beside_it(page: Any, served: Served, made: Path) -> None:
    _open(page, served, made / "runs/scripted", "#t=5")
    height = page.evaluate("timeline.drawing.height")
    page.check("#others input:not([disabled])")
    page.wait_for_function("timeline.session.runs.length === 2")
    assert page.evaluate("timeline.drawing.height") > height
    page.uncheck("#others input:not([disabled])")
    page.wait_for_function("timeline.session.runs.length === 1")


def test_runs_of_one_name_say_what_they_lie_in(page: Any, served: Served, made: Path, tmp_path: Path) -> None:
    one, other = (Path(shutil.copytree(made / "runs/scripted", tmp_path / at / "rag")) for at in ("s1", "s5"))
    url = served(Place([tmp_path]))
    page.goto(f"{url}/run/{id_of(one)}/day#runs={id_of(one)},{id_of(other)}")
    page.wait_for_selector("#whole:not([hidden])")
    assert "s1/rag" in page.inner_text("#name")
    assert page.locator("#panel-run option").all_inner_texts() == [
        f"{letter} {page.evaluate('timeline.session.runs[0].name')} ({name})"
        for letter, name in (("A", "s1/rag"), ("B", "s5/rag"))
    ]
    assert [said in page.inner_text("#labels") for said in ("A s1/rag", "B s5/rag")] == [True, True]


def test_a_run_of_another_session_is_not_drawn_over_this_one(
    page: Any, served: Served, made: Path, tmp_path: Path
) -> None:
    shutil.copytree(made / "runs", tmp_path / "runs")
    other = play(record(tmp_path / "day", seconds=30, needs=()), tmp_path / "runs/other", "silent")
    assert (other / "units/day").is_dir(), "its unit has the same name"
    url = served(Place([tmp_path]))
    page.goto(f"{url}/run/{id_of(tmp_path / 'runs/scripted')}/day#runs=x,{id_of(other)}")
    page.wait_for_selector("#whole:not([hidden])")
    assert "cannot be shown: 'runs/other' did not play this session" in page.inner_text("#notes")
    assert page.evaluate("timeline.session.runs.length") == 1


def test_a_picture_that_a_stopped_server_does_not_give_is_not_said_to_be_gone(
    page: Any, made: Path, watched: Any
) -> None:
    with Web(Place([made])).in_thread() as url:
        page.goto(f"{url}run/{id_of(made / 'runs/scripted')}/day")
        page.wait_for_selector("#whole:not([hidden])")
        page.wait_for_selector("#list > *", state="attached")
    page.evaluate("timeline.seek(50)")
    page.wait_for_function("document.getElementById('no-frame').innerText.includes('server does not answer')")
    page.goto("about:blank")
    watched.forgive("ERR_")


def test_the_classes_that_are_drawn_are_the_scorers(page: Any, served: Served, made: Path) -> None:
    _open(page, served, made / "runs/scripted")
    marks = page.evaluate("timeline.session.runs[0].data.offers.map((o) => o.mark)")
    assert marks == ["hit", "false_alarm", "late", "wrong"]
    legend = page.inner_text("#legend")
    assert all(word in legend for word in ("on time", "false alarm", "late", "wrong content", "missed"))
    listed = page.inner_text("#list")
    assert "offer" in listed
    assert "wrong content" in listed
    assert "need third" in listed


def test_a_click_on_a_mark_shows_its_decision(page: Any, served: Served, made: Path) -> None:
    _open(page, served, made / "runs/scripted")
    x, y = page.evaluate("(() => { const d = timeline.drawing, lane = d.lanes.find((l) => l.kind === 'offers');"
                         "return [d.x(36), lane.top + 12]; })()")  # fmt: skip
    page.locator("#base").hover(position={"x": x, "y": y})
    assert "late: right when captured" in page.inner_text("#tip")
    page.locator("#base").click(position={"x": x, "y": y})
    assert _t(page) == 34
    page.locator("#base").click(position={"x": page.evaluate("timeline.drawing.x(50)"), "y": 60})
    assert abs(_t(page) - 50) < 0.5


def test_all_tabs_open_by_pointer_and_by_key(page: Any, served: Served, made: Path) -> None:
    _open(page, served, made / "runs/scripted", "#t=12")
    page.wait_for_function("document.getElementById('panel').innerText.includes('It served first')")
    page.focus("#tab-Decision")
    said = {}
    for tab in ("Prompt", "Memory", "Stages", "JSON"):
        page.keyboard.press("ArrowRight")
        assert page.get_attribute(f"#tab-{tab}", "aria-selected") == "true"
        said[tab] = page.inner_text("#panel")
    assert _t(page) == 12  # the arrows were the tabs'
    assert "keeps no prompt" in said["Prompt"]
    assert "none" in said["Memory"]
    assert "2.00 s" in said["Stages"]
    assert json.loads(said["JSON"])["offers"][0]["intention"] == "Error Correction"


def test_hostile_words_are_shown_and_do_nothing(page: Any, served: Served, tmp_path: Path, axe_clean: Any) -> None:
    said = {k: ("Error Correction", words) for k, words in zip((12, 16, 26, 34, 52), HOSTILE, strict=True)}
    needs = [{"id": HOSTILE[0], "opens_s": 10, "closes_s": 20, "intention": "Translation", "query": HOSTILE[2]}]
    name = "a<b>&'\"‮é"
    run = play(record(tmp_path / "day", titles=HOSTILE, needs=needs, name=name), tmp_path / "runs" / name, said)
    (unit,) = [folder.name for folder in (run / "units").iterdir()]
    _open(page, served, run, "#t=12", unit=unit)
    page.wait_for_function("document.getElementById('panel').innerText.includes('onerror')")
    for t in (16, 26, 34, 52):
        page.evaluate("(t) => timeline.seek(t)", t)
        page.wait_for_function(f"document.getElementById('now').textContent.startsWith('0:{t}')")
        assert ("more (10" in page.inner_text("#window")) == (t == 34)  # 10,000 characters are cut, and can be opened
    page.wait_for_function("document.getElementById('panel').innerText.includes('javascript:')")
    assert page.evaluate("document.querySelectorAll('main img[onerror], main script').length") == 0
    assert page.locator("#list").get_by_text("more (417 of 10 022 characters)").count() == 1
    assert "owned" not in page.title()
    texts = page.evaluate("document.body.innerText")
    assert not set(texts) & set("\x1b\x07\x00\u202e\u2066\u200b")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    axe_clean(page)


@pytest.mark.parametrize("harm", ["moved", "reviewed"])
def test_what_is_not_there_any_more_is_told(page: Any, served: Served, made: Path, tmp_path: Path, harm: str) -> None:
    import sqlite3

    day, run = Path(shutil.copytree(made / "day", tmp_path / "day")), tmp_path / "runs/scripted"
    shutil.copytree(made / "runs/scripted", run)
    file = run / "run.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"given": {"scenarios": [str(day)]}}))
    if harm == "moved":
        day.rename(tmp_path / "elsewhere")
        _open(page, served, run, "#t=12")
        assert "not where it was" in page.inner_text("#notes")
        assert "the log is shown alone" in page.inner_text("#no-frame")
        assert _press(page, "g") == 30
        return
    with sqlite3.connect(day / "session/session.db") as db:
        db.execute("UPDATE screenshots SET privacy_action = 'redacted' WHERE tick BETWEEN 4 AND 7")
        db.execute("UPDATE screenshots SET privacy_action = 'deleted', file_path = NULL WHERE tick = 9")
        (path,) = db.execute("SELECT file_path FROM screenshots WHERE tick = 20").fetchone()
    db.close()
    (day / "session" / path).unlink()
    _open(page, served, run, "#t=5")
    assert "changed since" in page.inner_text("#notes")
    for t, words in ((5, "blurred in review"), (9, "deleted from the recording"), (20, "is not there"), (41, "locked")):
        page.evaluate("(t) => timeline.seek(t)", t)
        page.wait_for_function(f"document.getElementById('no-frame').innerText.includes('{words}')")


def test_the_head_says_that_a_run_is_invalid_and_answers_after_the_end_stand_at_the_right_edge(
    page: Any, served: Served, made: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(made / "runs/scripted", tmp_path / "runs/scripted"))
    told = json.loads((run / "run.json").read_text())
    told["units"]["day"]["audit"] = {**(told["units"]["day"]["audit"] or {}), "invalid": ["the loop was late"]}
    (run / "run.json").write_text(json.dumps(told))
    log = [json.loads(line) for line in (run / "units/day/decisions.jsonl").read_text().splitlines()]
    seq = next(one["seq"] for one in log if one.get("offers"))
    (run / "units/day/feedback.jsonl").write_text(json.dumps({"seq": seq, "said": "accepted", "t_s": 75.0}) + "\n")
    _open(page, served, run)
    assert "A is INVALID, so its figures say nothing of the agent: the loop was late" in page.inner_text("#notes")
    assert "INVALID" in page.inner_text("#figures")
    assert "said at 1:15, after the end" in page.inner_text("#list")
    found = """(() => { const d = timeline.drawing, lane = d.lanes.find((one) => one.kind === "answers");
        return d.under(d.width - 2, lane.top + lane.inner / 2)?.answer?.said_s; })()"""
    assert page.evaluate(found) == 75


@pytest.mark.usefixtures("follows_quickly")
def test_a_running_run_is_followed(page: Any, served: Served, made: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(made / "runs/scripted", tmp_path / "runs/scripted"))
    told, log = run / "run.json", run / "units/day/decisions.jsonl"
    whole, lines = json.loads(told.read_text()), log.read_text().splitlines(keepends=True)
    (run / "scores.json").unlink()
    half = next(i for i, line in enumerate(lines) if "Shall I translate?" in line)
    log.write_text("".join(lines[:half]))
    told.write_text(json.dumps(whole | {"status": "running", "units": {"day": {}}}))
    lock = Lock(run)
    _open(page, served, run)
    assert "is being played" in page.inner_text("#notes")
    assert "provisional" in page.inner_text("#notes") + page.inner_text("#figures")
    assert "interrupted" not in page.inner_text("main")
    assert page.evaluate("timeline.session.runs[0].data.offers.length") == 2
    page.wait_for_timeout(400)  # the follower has had its first look
    log.write_text("".join(lines[: half + 1]))
    page.wait_for_function("timeline.session.runs[0].data.offers.length === 3")
    page.wait_for_function("timeline.state.t === 34")  # it follows
    here = _press(page, "Shift+ArrowLeft")
    assert not page.is_checked("#follow")
    log.write_text("".join(lines[:-1]))
    page.wait_for_function("timeline.session.runs[0].data.offers.length === 4")
    assert _t(page) == here < 34  # whoever steps back stays there
    lock.release()  # as by a kill, which changes no file
    page.wait_for_function("document.getElementById('notes').innerText.includes('A was killed at')")
    assert not page.is_visible("#follow-box")


def test_a_killed_run_is_told_to_be_one(page: Any, served: Served, made: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(made / "runs/scripted", tmp_path / "runs/scripted"))
    told, log = run / "run.json", run / "units/day/decisions.jsonl"
    told.write_text(json.dumps(json.loads(told.read_text()) | {"status": "running", "units": {"day": {}}}))
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-4]))
    (run / "scores.json").unlink()
    _open(page, served, run)
    assert "A was killed at" in page.inner_text("#notes")
    assert not page.is_visible("#follow-box")
    page.goto(f"{page.url.split('/run/')[0]}/")
    page.wait_for_selector("#rows tr[data-id]")
    assert page.inner_text("#rows td:nth-child(10)") == "–"  # what failed in it is not known


def test_a_wall_shows_lanes_as_large_as_its_words(new_page: Callable[..., Any], served: Served, made: Path) -> None:
    page = new_page((3840, 2160))
    _open(page, served, made / "runs/scripted", "?kiosk")
    assert page.evaluate("timeline.drawing.scale") == 2.5
    assert (
        page.evaluate("""[...document.querySelectorAll('#labels div')].filter((box) =>
        box.scrollHeight > box.clientHeight + 1).map((box) => box.textContent)""")
        == []
    )
    labels, canvas = (page.locator(name).bounding_box() for name in ("#labels", "#base"))
    assert abs(labels["height"] - canvas["height"]) < 2
    assert page.locator("#legend canvas").first.bounding_box()["width"] == 45
    x, y = page.evaluate("(() => { const d = timeline.drawing, lane = d.lanes.find((l) => l.kind === 'offers');"
                         "return [d.x(36) * d.scale, (lane.top + 12) * d.scale]; })()")  # fmt: skip
    page.locator("#base").click(position={"x": x, "y": y})
    assert _t(page) == 34


def test_a_jump_to_a_need_shows_the_snapshot_that_shows_it(page: Any, served: Served, tmp_path: Path) -> None:
    needs = [{"id": "late", "opens_s": 9.9985, "closes_s": 20, "intention": "Translation", "query": "what"}]
    run = play(record(tmp_path / "day", needs=needs), tmp_path / "runs/run", SAID)
    _open(page, served, run, "#need=late")
    assert _t(page) == 10
    assert [_press(page, "Home"), _press(page, "g"), _press(page, "Home", "e")] == [0, 10, 10]
    page.get_by_role("button", name="go to 0:10, need late").click()
    assert _t(page) == 10


def test_failed_decisions_are_counted_and_gone_to(page: Any, served: Served, made: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(made / "runs/scripted", tmp_path / "runs/failing"))
    _fail(run, SAID[12][1])
    _open(page, served, run)
    assert "▲ 1" in page.inner_text("#figures")
    assert "1 of" in page.inner_text("#notes")
    assert "60 s at least" in page.inner_text("#notes")
    assert [_press(page, "e"), _press(page, "e"), _press(page, "E")] == [10, 12, 10]
    _press(page, "e")
    page.wait_for_function("document.getElementById('panel').innerText.includes('model_refused')")
    assert "model_refused: no" in page.inner_text("#list")


def _fail(run: Path, said: str) -> None:
    """Make the decision that offered this one that failed."""
    log, about = run / "units/day/decisions.jsonl", json.loads((run / "run.json").read_text())
    lines = log.read_text().splitlines(keepends=True)
    (i,) = (i for i, line in enumerate(lines) if said in line)
    told = {k: v for k, v in json.loads(lines[i]).items() if k not in ("offers", "retracted")}
    lines[i] = json.dumps(told | {"kind": "error", "error": {"kind": "model_refused", "text": "no"}}) + "\n"
    log.write_text("".join(lines))
    about["units"]["day"]["log_sha256"] = None
    (run / "run.json").write_text(json.dumps(about))


@pytest.mark.parametrize("protocol", ["moments", "trajectory"])
def test_other_protocols_have_their_own_lanes(
    page: Any, served: Served, tmp_path: Path, protocol: str, shot: Any
) -> None:
    scenario = Path(__file__).parents[2] / "scenarios/desktop"
    where = scenario if protocol == "moments" else scenario / "trajectory.yaml"
    run = play(where, tmp_path / "runs/run", "prior", protocol=protocol, clock="measured", latency=None)
    (unit, *_) = sorted(folder.name for folder in (run / "units").iterdir())
    _open(page, served, run, "#t=80", unit=unit)
    kinds = page.evaluate("timeline.drawing.lanes.map((lane) => lane.kind)")
    assert ("moments" in kinds) == (protocol == "moments")
    assert ("Intents of the trajectory" in page.inner_text("#list")) == (protocol == "trajectory")
    if protocol == "moments":
        assert _press(page, "Home", "e") > 0
    shot(page, f"timeline-{protocol}")


def test_it_fits_every_screen(page: Any, served: Served, made: Path, look: Any, axe_clean: Any, shot: Any) -> None:
    _open(page, served, made / "runs/scripted", f"#t=34&runs={id_of(made / 'runs/silent')}")
    page.wait_for_function("document.getElementById('panel').innerText.includes('stale')")
    for size, scheme in ((DESKTOP, "light"), (PHONE, "dark"), (DESKTOP, "dark"), (PROJECTOR, "light")):
        look(page, size, scheme)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), size
        if (size, scheme) in ((DESKTOP, "light"), (PHONE, "dark")):  # either theme, either arrangement
            axe_clean(page)
        shot(page, f"timeline-{size[0]}-{scheme}")


FRAME = """async ({ pictures, sheets }) => {
  const { Frame } = await import("/static/timeline_frame.js");
  const made = (name) => document.body.appendChild(document.createElement(name)), n = sheets.length * 100;
  const recording = { picture: Array.from({ length: n }, (_, i) => i), pictures, sheets, states: ["unreviewed"],
    state: new Array(n).fill(0), held: new Array(n).fill(0) };
  const parts = { thumb: made("canvas"), full: made("img"), note: made("p"), box: made("div") };
  globalThis.frame = new Frame(recording, parts);
  for (let i = 0; i < n; i += 50) { frame.show(i, null); await new Promise(requestAnimationFrame); }
}"""


def test_the_picture_at_the_cursor_does_not_wait_for_thumbnails(
    page: Any, served: Served, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scrubbing asks for sheets faster than they are made, and a browser has six connections."""
    go, order, make = Event(), list[str](), Pictures._make

    def slow(self: Pictures, id_: str, ids: Sequence[str]) -> bytes:
        order.append(id_)
        assert go.wait(10)
        return make(self, id_, ids)

    monkeypatch.setattr(Pictures, "_make", slow)
    place = Place([made])
    (file, *_) = sorted(made.glob("day/session/screenshots/**/*.*"))
    (picture,) = place.pictures.add([(file, None)], made)
    ids = [place.pictures.add([(file, str(i))], made)[0] for i in range(10)]
    sheets = place.pictures.sheets([id_ for id_ in ids for _ in range(100)])
    page.goto(f"{served(place)}/about")
    try:
        page.evaluate(FRAME, {"pictures": [picture] * 1000, "sheets": sheets})
        page.wait_for_function("frame.full.naturalWidth > 0 && !frame.full.hidden && frame.ready.has(950)")
        assert len(order) <= 2, "the rest of the connections is for pictures"
    finally:
        go.set()
    page.wait_for_function("[...frame.sheets.values()].every((sheet) => sheet.naturalWidth > 0)")
    assert set(order[2:5]) <= set(sheets[6:]), "what was wanted last comes first"


def test_a_run_without_a_unit_in_the_address_opens_its_first(page: Any, served: Served, made: Path) -> None:
    url = served(Place([made / "runs"]))
    page.goto(f"{url}/run/{id_of(made / 'runs/silent')}")
    page.wait_for_selector("#whole:not([hidden])")
    assert page.evaluate("location.pathname").endswith("/day")


def test_sessions_of_a_run_are_gone_through(page: Any, served: Served, tmp_path: Path) -> None:
    for name in ("one", "two"):
        record(tmp_path / "days" / name, name=name)
    run = play(tmp_path / "days", tmp_path / "runs/run", SAID)
    beside = play(tmp_path / "days", tmp_path / "runs/beside", "silent")
    _open(page, served, run, f"#runs={id_of(run)},{id_of(beside)}", unit="one")
    page.wait_for_selector("#units-box:not([hidden])")
    page.keyboard.press("]")
    page.wait_for_url("**/two#*")
    page.wait_for_selector("#units-box:not([hidden])")
    assert page.input_value("#units") == "two"
    assert page.evaluate("timeline.session.runs.length") == 2
    page.select_option("#units", "one")
    page.wait_for_url("**/one#*")
    page.wait_for_selector("#whole:not([hidden])")


def test_what_does_not_exist_is_told_in_a_sentence(page: Any, served: Served, made: Path, watched: Any) -> None:
    url = served(Place([made / "runs"]))
    page.goto(f"{url}/run/{id_of(made / 'runs/silent')}/nothing")
    page.wait_for_selector("#problem .failed")
    assert "no unit of that name" in page.inner_text("#problem")
    page.goto(f"{url}/run/nope/x")
    page.wait_for_selector("#problem .failed")
    assert "there is no run of that id here" in page.inner_text("#problem")
    watched.forgive("404")


def test_pages_ask_for_units_of_shown_runs_only(served: Served, made: Path) -> None:
    import urllib.error
    import urllib.request

    url = served(Place([made / "runs"]))
    for path in ("run/0123456789/unit/day/timeline", f"run/{id_of(made / 'day')}/unit/day/recording",
                 f"run/{id_of(made / 'runs/silent')}/unit/%2e%2e/timeline",
                 f"run/{id_of(made / 'runs/silent')}/unit/..%2f..%2fscripted/timeline"):  # fmt: skip
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{url}/api/{path}", timeout=5)
        assert refused.value.code == 404
        refused.value.close()
