"""What may be shown, and how open pages hear of what grows."""

from __future__ import annotations

import asyncio
import os
import re
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from simulator.core.types import MS
from simulator.runs.lock import Lock
from simulator.timing.clock import pause
from simulator.web import following
from simulator.web.pages import STATIC
from simulator.web.place import NotHere, Place, id_of


def folder(path: Path, file: str = "run.json") -> Path:
    path.mkdir(parents=True)
    (path / file).write_text("{}")
    return path


def test_runs_sweeps_and_sessions_are_found_below_a_root(tmp_path: Path) -> None:
    folder(tmp_path / "a")
    folder(tmp_path / "deeper" / "b")
    folder(tmp_path / "study", "sweep.json")
    folder(tmp_path / "study" / "runs" / "c")
    folder(tmp_path / "s1", "session.db")
    folder(tmp_path / "a" / "units" / "not-a-run")
    folder(tmp_path / ".hidden" / "d")
    place = Place([tmp_path])
    assert [one.name for one in place.all("run")] == ["a", "deeper/b", "study/runs/c"]
    assert [one.name for one in place.all("sweep")] == ["study"]
    assert [one.name for one in place.all("session")] == ["s1"]
    place.close()


def test_a_root_may_be_a_run_and_a_live_run_holds_its_session(tmp_path: Path) -> None:
    live = folder(tmp_path / "live" / "run").parent
    folder(live / "session", "session.db")
    place = Place([live / "run", live])
    assert [(one.kind, one.path.name) for one in place.all()] == [("run", "run"), ("session", "session")]
    place.close()


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    roots = [folder(tmp_path / name / "run").parent for name in ("demo", "demo2")]
    roots += [folder(tmp_path / name / "x" / "same").parent.parent for name in ("left", "right")]
    folder(tmp_path / "left" / "own")
    place = Place(roots)
    assert [one.name for one in place.all()] == ["demo/run", "demo2/run", "left/x/same", "own", "right/x/same"]
    place.close()


def test_links_are_not_followed(tmp_path: Path) -> None:
    folder(tmp_path / "elsewhere" / "private")
    root = tmp_path / "root"
    run = folder(root / "a")
    (root / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (root / "circle").symlink_to(root, target_is_directory=True)
    (run / "units").mkdir()
    (run / "units" / "u").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    place = Place([root])
    assert [one.name for one in place.all()] == ["a"]
    with pytest.raises(NotHere):
        place.run(id_of(tmp_path / "elsewhere" / "private"))
    with pytest.raises(NotHere):
        place.unit(id_of(run), "u")
    place.close()


@pytest.mark.parametrize("key", ["..", ".", "", "../../b", "/etc", "u/../..", "\0", "nothing"])
def test_a_unit_is_looked_up_by_name_only(tmp_path: Path, key: str) -> None:
    run = folder(tmp_path / "a")
    (run / "units" / "u").mkdir(parents=True)
    folder(tmp_path / "b")
    place = Place([tmp_path])
    assert place.unit(id_of(run), "u") == run / "units" / "u"
    with pytest.raises(NotHere):
        place.unit(id_of(run), key)
    place.close()


def test_ids_are_of_a_kind_and_end_with_what_they_name(tmp_path: Path) -> None:
    run = folder(tmp_path / "a")
    place = Place([tmp_path])
    assert place.run(id_of(run)) == run
    with pytest.raises(NotHere, match="no session of that id"):
        place.get("session", id_of(run))
    (run / "run.json").unlink()
    with pytest.raises(NotHere, match="moved or deleted"):
        place.run(id_of(run))
    place.close()


async def test_a_run_that_grows_is_told_to_pages_that_listen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = folder(tmp_path / "a")
    (run / "units" / "u").mkdir(parents=True)
    log = run / "units" / "u" / "decisions.jsonl"
    log.write_text("one\n")
    place = Place([tmp_path])
    told: list[object] = []
    monkeypatch.setattr(place.hub, "publish", lambda event, data: told.append((event, data)))
    following_ = asyncio.create_task(following.follow(place, 2 * MS))
    try:
        await pause(20 * MS)
        assert told == []  # nobody listens
        monkeypatch.setattr(type(place.hub), "readers", 1)
        await _until(lambda: log.write_text(log.read_text() + "x\n"), told)
        assert told[0] == ("runs", {"changed": {id_of(run): ["u"]}, "gone": [], "all": False})
        told.clear()
        (run / "run.json").unlink()
        await _until(lambda: None, told)
        assert told[0] == ("runs", {"changed": {}, "gone": [id_of(run)], "all": False})
    finally:
        following_.cancel()
        place.close()


async def test_a_run_that_nobody_plays_any_more_is_told_though_no_file_of_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = folder(tmp_path / "a")
    lock, place = Lock(run), Place([tmp_path])
    told: list[object] = []
    monkeypatch.setattr(place.hub, "publish", lambda event, data: told.append((event, data)))
    monkeypatch.setattr(type(place.hub), "readers", 1)
    following_ = asyncio.create_task(following.follow(place, 2 * MS))
    try:
        await pause(40 * MS)
        assert told == []
        lock.release()  # as the system does when its holder is killed
        await _until(lambda: None, told)
        assert told[0] == ("runs", {"changed": {id_of(run): [""]}, "gone": [], "all": False})
    finally:
        following_.cancel()
        place.close()


async def test_so_many_changes_at_once_that_no_event_holds_them_are_told_as_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = folder(tmp_path / "a")
    names = [f"{i:03d}-{'x' * 200}" for i in range(200)]
    many = {f"{i:010x}": dict.fromkeys(names, (1, 1)) for i in range(40)}
    looks = iter([{}, OSError("gone"), {}, many])
    last: list[object] = []

    def look(place: Place) -> object:
        last.append(found := next(looks, many))
        if isinstance(found, Exception):
            raise found
        return found

    place = Place([run])
    told: list[object] = []
    whole = place.hub.publish

    def publish(event: str, data: Any) -> None:
        whole(event, data)
        told.append((event, data))

    monkeypatch.setattr(place.hub, "publish", publish)
    monkeypatch.setattr(type(place.hub), "readers", 1)
    monkeypatch.setattr(following, "_stamps", look)
    following_ = asyncio.create_task(following.follow(place, 2 * MS))
    try:
        await _until(lambda: None, told)
        assert told == [("runs", {"changed": {}, "gone": [], "all": True})]
        assert not following_.done()
    finally:
        following_.cancel()
        place.close()


async def _until(act: object, told: list[object]) -> None:
    async with asyncio.timeout(5):
        while not told:
            assert callable(act)
            act()
            await pause(5 * MS)


def test_what_others_wrote_is_as_it_was_taken() -> None:
    vendor = STATIC / "vendor"
    said = tomllib.loads((vendor / "VENDOR.toml").read_text())
    files: dict[str, str] = {}
    for package in said["package"]:
        assert package["licence"] == "MIT"
        files |= package["files"]
    assert files == {p.name: sha256(p.read_bytes()).hexdigest() for p in vendor.iterdir() if p.name != "VENDOR.toml"}


@pytest.mark.parametrize("file", sorted(p for p in STATIC.iterdir() if p.is_file()), ids=lambda p: p.name)
def test_no_file_of_ours_asks_another_host_or_writes_html(file: Path) -> None:
    text = file.read_text()
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "new Function", "@import"):
        assert word not in text
    assert set(re.findall(r"https?://[^/'\"`]+", text)) <= {"http://www.w3.org"}  # the name of SVG; nobody asks it
    if file.suffix == ".html":
        assert not re.search(r"<style|<script(?![^>]* src=)|\sstyle=|\son[a-z]+=", text)
        assert re.search(r'<html lang="en">', text)
        assert 'rel="icon" href="data:' in text
        assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text


def test_a_folder_that_is_not_for_us_to_read_hides_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fine").mkdir()
    (tmp_path / "fine" / "run.json").write_text("{}")
    (tmp_path / "secret").mkdir()
    real = Path.stat

    def stat(path: Path, **how: bool) -> os.stat_result:
        if path.parent.name == "secret":
            raise PermissionError(13, "denied", str(path))
        return real(path, **how)

    monkeypatch.setattr(Path, "stat", stat)
    place = Place([tmp_path])
    assert [one.name for one in place.all()] == ["fine"]
    place.close()
