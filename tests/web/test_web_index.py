"""The index of runs in a real browser: figures, filter, order, ticking, live rows, broken and hostile ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.runs.lock import Lock
from simulator.web.place import Place, id_of
from tests.replays import HOSTILE, SAID, play, record

Served = Callable[..., str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    day = record(folder / "day")
    play(day, folder / "runs/silent", "silent")
    play(day, folder / "runs/scripted", SAID)
    play(day, folder / "runs/oracle", "oracle", latency="fixed:1s")
    return folder


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "runs", tmp_path / "runs"))


def _open(page: Any, served: Served, runs: Path, rows: int | None = None) -> str:
    url = served(Place([runs]))
    page.goto(url)
    page.wait_for_function(
        f"document.querySelectorAll('#rows tr[data-id]').length === {rows or len(list(runs.iterdir()))}"
    )
    return url


def _names(page: Any) -> list[str]:
    ids = page.evaluate("[...document.querySelectorAll('#rows tr')].map((row) => row.dataset.id)")
    return [name for id_ in ids for name, known in page.known.items() if known == id_]


@pytest.fixture
def shown(page: Any, served: Served, runs: Path) -> Any:
    """The page, with the three runs."""
    page.url_ = _open(page, served, runs)
    page.known = {name: id_of(runs / name) for name in ("silent", "scripted", "oracle")}
    return page


def test_a_row_holds_what_a_run_came_to(shown: Any, runs: Path, axe_clean: Any) -> None:
    row = shown.inner_text(f"tr[data-id='{id_of(runs / 'scripted')}']")
    for said in ("0.29 few", "2.00 s", "64.3", "modelled", "done"):
        assert said in row, said
    assert "sees the truth" in shown.inner_text(f"tr[data-id='{id_of(runs / 'oracle')}']")
    axe_clean(shown)


def test_the_filter_takes_every_word(shown: Any) -> None:
    shown.keyboard.press("/")
    shown.keyboard.type("none SILENT")
    shown.wait_for_function("document.querySelectorAll('#rows tr').length === 1")
    assert _names(shown) == ["silent"]
    assert "1 of 3 runs" in shown.inner_text("#counted")
    shown.fill("#filter", "no such thing")
    assert "No run fits the filter" in shown.inner_text("#rows")


def test_runs_are_found_by_what_they_lie_in(page: Any, served: Served, runs: Path, made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "runs", tmp_path / "study" / "runs")
    page.goto(served(Place([runs, tmp_path / "study"])))
    page.wait_for_function("document.querySelectorAll('#rows tr[data-id]').length === 6")
    page.fill("#filter", "study silent")
    page.wait_for_function("document.querySelectorAll('#rows tr').length === 1")
    page.known = {"sweep's": id_of(tmp_path / "study/runs/silent"), "other": id_of(runs / "silent")}
    assert _names(page) == ["sweep's"]
    page.fill("#filter", tmp_path.name)
    assert "No run fits" in page.inner_text("#rows"), "what lies above the folders that were named says nothing"


def test_columns_sort_both_ways_and_unknown_comes_last(shown: Any) -> None:
    for figures, names in (("F1_rt", ["oracle", "scripted", "silent"]), ("p95", ["oracle"])):
        shown.click(f"#heads button:has-text('{figures}')")
        assert _names(shown)[: len(names)] == names
    shown.click("#heads button:has-text('F1_rt')")
    shown.click("#heads button:has-text('F1_rt')")
    assert _names(shown) == ["silent", "scripted", "oracle"]
    assert shown.get_attribute("#heads th:has-text('F1_rt')", "aria-sort") == "ascending"
    shown.select_option("#sort", "run")
    assert _names(shown)[0] == "oracle"


def test_two_that_are_ticked_are_compared(shown: Any, watched: Any) -> None:
    assert shown.is_disabled("#compare")
    shown.check("#rows tr:nth-child(1) input")
    assert shown.is_disabled("#compare")
    shown.check("#rows tr:nth-child(3) input")
    assert shown.inner_text("#compare") == "Compare 2"
    ids = shown.evaluate("[...document.querySelectorAll('#rows tr')].map((row) => row.dataset.id)")
    shown.route("**/compare?*", lambda route: route.fulfill(body="<title>here</title>", content_type="text/html"))
    shown.click("#compare")
    shown.wait_for_url(f"**/compare?runs={ids[0]},{ids[2]}")
    watched.faults.clear()  # the page there is another's


def test_keys_move_tick_and_open(shown: Any) -> None:
    for key in ("j", "j", "k", "x", "j", "x"):
        shown.keyboard.press(key)
    assert shown.inner_text("#compare") == "Compare 2"
    assert shown.evaluate("document.querySelector('tr.now').rowIndex") == 2
    shown.keyboard.press("Enter")
    shown.wait_for_url("**/run/*/day*")
    shown.wait_for_selector("#whole:not([hidden])")


@pytest.mark.usefixtures("follows_quickly")
def test_a_run_that_goes_on_is_shown_as_it_grows(page: Any, served: Served, runs: Path) -> None:
    file = runs / "silent/run.json"
    told = json.loads(file.read_text())
    file.write_text(json.dumps(told | {"status": "running", "units": {"day": {}}}))
    lock = Lock(runs / "silent")
    _open(page, served, runs)
    row = f"tr[data-id='{id_of(runs / 'silent')}']"
    assert "running" in page.inner_text(row)
    assert "0 of 1" in page.inner_text(row)
    page.check(f"{row} input")
    page.wait_for_timeout(400)  # the follower has had its first look
    file.write_text(json.dumps(told))
    lock.release()
    page.wait_for_function(f'document.querySelector("{row}").innerText.includes("done")')
    assert page.is_checked(f"{row} input")


def test_broken_and_hostile_ones_are_rows_that_do_nothing(
    page: Any, served: Served, runs: Path, axe_clean: Any
) -> None:
    (runs / "broken").mkdir()
    (runs / "broken/run.json").write_text('{"schema": 1}')
    hostile = Path(shutil.copytree(runs / "silent", runs / "<img src=x onerror=alert(1)>‮"))
    told = json.loads((hostile / "run.json").read_text())
    told["resolved"]["day"] |= {"agent": HOSTILE[0], "memory": HOSTILE[3], "policy": HOSTILE[1]}
    (hostile / "run.json").write_text(json.dumps(told))
    (runs / "empty").mkdir()
    _open(page, served, runs, 5)
    assert "cannot be read" in page.inner_text(f"tr[data-id='{id_of(runs / 'broken')}']")
    row = page.inner_text(f"tr[data-id='{id_of(hostile)}']")
    assert "<script>document.title='owned'" in row
    assert "\u202e" not in row
    assert len(row) < 1000
    assert page.evaluate("document.querySelectorAll('#rows img, #rows script').length") == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    axe_clean(page)


def test_hundreds_of_runs_come_in_pages(page: Any, served: Served, runs: Path) -> None:
    for n in range(300):
        folder = runs / "many" / f"run-{n:03}"
        folder.mkdir(parents=True)
        for name in ("run.json", "scores.json"):
            shutil.copyfile(runs / "silent" / name, folder / name)
    _open(page, served, runs, 100)
    page.wait_for_function("document.getElementById('counted').textContent === '303 runs'")
    page.click("#more")
    page.wait_for_function("document.querySelectorAll('#rows tr').length === 300")
    page.fill("#filter", "run-299")
    page.wait_for_function("document.querySelectorAll('#rows tr').length === 1")


def test_another_server_is_asked_for_every_row(page: Any, served: Served, runs: Path) -> None:
    asked = list[str]()
    page.on("request", lambda request: asked.extend([request.url] if "/api/runs?" in request.url else []))
    reset = "event: reset\nid: 1\ndata: {}\n\n"
    page.route("**/api/events*", lambda route: route.fulfill(body=reset, content_type="text/event-stream"))
    _open(page, served, runs)
    asked.clear()
    with page.expect_request(lambda request: "/api/runs?" in request.url, timeout=5000):
        pass  # the page comes back to a stream that begins anew
    assert asked[-1].endswith("since=0")


def test_a_long_source_of_latencies_is_cut(page: Any, served: Served, runs: Path) -> None:
    file = runs / "silent/run.json"
    told = json.loads(file.read_text("utf-8"))
    next(iter(told["resolved"].values()))["latency_source"] = "long " * 2000
    file.write_text(json.dumps(told), "utf-8")
    _open(page, served, runs)
    assert len(page.inner_text(f"tr[data-id='{id_of(runs / 'silent')}']")) < 1000


def test_a_word_in_a_badge_is_not_broken(page: Any, served: Served, runs: Path) -> None:
    file = runs / "scripted/run.json"
    told = json.loads(file.read_text("utf-8"))
    told["resolved"]["day"]["latency"] = "profile:measured-on-a-laptop.csv"
    told["resolved"]["day"]["agent"] = "prior " * 20
    file.write_text(json.dumps(told), "utf-8")
    _open(page, served, runs)
    lines = "[...document.querySelectorAll('#rows td .badge .said')].map((one) => one.getClientRects().length)"
    for width in (1280, 1000, 700):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(lines) == [1, 1, 1]


def test_without_scripts_a_page_says_what_it_needs(
    new_page: Callable[..., Any], served: Served, runs: Path, watched: Any
) -> None:
    page = new_page(java_script_enabled=False)
    url = served(Place([runs]))
    for path in ("/", "/compare", "/ablation", "/about", f"/run/{id_of(runs / 'silent')}", "/recordings"):
        page.goto(url + path)
        assert page.locator("noscript p").is_visible(), path
    watched.forgive(".js csp")  # scripts that the server names ahead, and that this browser does not want


def test_an_empty_place_says_how_to_begin(page: Any, served: Served, tmp_path: Path) -> None:
    page.goto(served(Place([tmp_path])))
    page.wait_for_function("document.getElementById('rows').innerText.includes('proact run')")


def test_it_fits_every_screen(shown: Any, look: Any, axe_clean: Any, shot: Any) -> None:
    for size, scheme in (((1280, 800), "dark"), ((360, 740), "light"), ((1920, 1080), "light")):
        look(shown, size, scheme)
        assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth"), size
        if size[0] < 1920:
            axe_clean(shown)
        shot(shown, f"runs-{size[0]}-{scheme}")
