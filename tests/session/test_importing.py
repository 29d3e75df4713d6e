"""What others recorded, as native sessions and scenarios that can be played at once."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest
from PIL import Image

from simulator.core.errors import InputError, UsageError
from simulator.core.lock import alone_in
from simulator.core.types import SECOND
from simulator.session.check import check
from simulator.session.describe import describe
from simulator.session.importing import Report, import_
from simulator.session.reader import Reader
from simulator.session.scenario import plays

S = SECOND
REAL = Path(__file__).parents[2] / "../shared/data/lifetrace"
EVENTS = (
    "id, start_time, end_time, app_name, window_title, is_llm_event, event_summary, detailed_description, "
    "conversation, user_intention"
)


def _time(second: int, day: int = 20) -> str:
    return f"2025-10-{day} 09:{second // 60:02d}:{second % 60:02d}.000000"


def _participant(folder: Path, *, pictures: bool = True) -> Path:
    """A morning of 50 min at 1 Hz in windows of 60 s, every fifth an assistance event of 40 s; next day 5 min."""
    (folder / "screenshots").mkdir(parents=True)
    if pictures:
        for n in range(3):
            Image.new("RGB", (8, 6), (n, 0, 0)).save(folder / f"{n}.png")
    db = sqlite3.connect(folder / "lifetrace_privacy_processed.db")
    db.execute("CREATE TABLE screenshots (id, file_path, created_at, app_name, window_title, event_id, privacy_level)")
    db.execute(f"CREATE TABLE events ({EVENTS})")
    for day, minutes in ((20, 50), (21, 5)):
        for minute in range(minutes):
            event = minute + 1 + 100 * (day - 20)
            llm = minute % 5 == 4
            app = "chrome.exe" if llm else "Code.exe"
            end = _time(minute * 60 + (40 if llm else 60), day)
            said = json.dumps({"user_queries": [f"question {event}"]}) if llm else None
            row = (event, _time(minute * 60, day), end, app, f"w{minute}", int(llm), None, None, said, None)
            db.execute(f"INSERT INTO events VALUES ({', '.join('?' * len(row))})", row)
            for second in range(minute * 60, minute * 60 + (40 if llm else 60), 1):
                name = f"screen_1_202510{day}_09{second // 60:02d}{second % 60:02d}_000.png"
                if pictures and second % 60 < 3:
                    (folder / "screenshots" / name).write_bytes((folder / f"{minute % 2}.png").read_bytes())
                db.execute(
                    "INSERT INTO screenshots VALUES (?, ?, ?, ?, ?, ?, NULL)",
                    (second + 10_000 * day, f"C:\\x\\{name}", _time(second, day), app, f"w{minute}", event),
                )
    db.commit()
    db.close()
    return folder


def _import(tmp_path: Path, **options: object) -> tuple[Report, Path]:
    if not (tmp_path / "src").exists():
        _participant(tmp_path / "src" / "p01")
    given = {"zone": "Asia/Shanghai", "format": "proagentbench", **options}
    return import_(tmp_path / "src", tmp_path / "out", **given), tmp_path / "out"  # type: ignore[arg-type]


def _files(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {str(p): (p.stat().st_mtime_ns, p.read_bytes()) for p in sorted(folder.rglob("*")) if p.is_file()}


def _count(report: Report, outcome: str, words: str) -> int:
    return sum(w.count for w in report.lines if w.outcome == outcome and words in w.reason)


def test_a_participant_becomes_sessions_a_history_and_scenarios(tmp_path: Path) -> None:
    report, out = _import(tmp_path)
    assert [p.as_posix() for p in report.sessions] == [
        "p01/20251020-090000",
        "p01/20251020-094000",
        "p01/20251021-090000",
    ]
    assert [p.as_posix() for p in report.scenarios] == [
        "p01/20251020-094000/scenario.yaml",
        "p01/20251021-090000/scenario.yaml",
    ]
    for session in report.sessions:
        assert not [f for f in check(out / session) if f.severity == "damage"]
    with Reader(out / report.sessions[0]) as reader:
        header = reader.header
        assert (header.user, header.period_ns, header.zone, header.state) == ("p01", S, "Asia/Shanghai", "closed")
        assert header.utc_anchor_ns == 1_760_922_000 * S  # 09:00 in Shanghai is 01:00 UTC
    assert describe(out / report.sessions[0])["events"]["assistance"] == 8, (
        "the request that would begin at the cut is history"
    )


def test_the_scenarios_can_be_played_at_once_with_needs_and_labelled_history(tmp_path: Path) -> None:
    report, out = _import(tmp_path, side=[_side(tmp_path)])
    first, second = plays([out])
    assert (first.key, first.user, first.segmentation) == ("p01-20251020-094000", "p01", "app_title")
    asked = [o.query for o in first.truth.opportunities]
    assert asked == ["question 45", "question 50"]
    opens = [(o.closes_ns - o.opens_ns) // S for o in first.truth.opportunities]
    assert opens == [60, 60], "60 s of lead"
    assert [o.query for o in second.truth.opportunities] == ["question 105"]
    helped = [(e.title, label.intention, label.query) for e, label in first.history if label and label.help]
    assert helped[:2] == [("w3", "Translation", "question 5"), ("w8", "Uncategorized", "question 10")]
    assert helped[-1][2] == "question 40", "asked just before the cut, and so in no evaluated session"
    assert all(e.end_ns <= 0 for e, _ in first.history)
    assert [e.id for e, _ in first.history] == [e.id for e, _ in second.history], "memory is frozen at the split"
    assert _count(report, "noted", "without an intention") == 10


def _side(tmp_path: Path) -> Path:
    file = tmp_path / "intents.csv"
    file.write_text("user,event_id,user_intention,confidence\np01,5,Translation,0.9\np09,5,Translation,0.9\n")
    return file


def test_importing_again_changes_nothing_and_gives_the_same_account(tmp_path: Path) -> None:
    first, out = _import(tmp_path)
    before = _files(out)
    second, _ = _import(tmp_path)
    assert _files(out) == before
    assert (first.unchanged, second.unchanged) == (False, True)
    assert (second.lines, second.sessions, second.scenarios) == (first.lines, first.sessions, first.scenarios)
    (out / second.scenarios[0]).write_text("session: .\nprofile: {job: editor}\n", encoding="utf-8")
    _import(tmp_path)
    assert plays([out / second.scenarios[0]])[0].profile == {"job": "editor"}, "what people edit stays"


def test_other_options_into_the_same_place_are_refused(tmp_path: Path) -> None:
    _import(tmp_path)
    with pytest.raises(InputError, match="another source or other options"):
        _import(tmp_path, zone="Asia/Tokyo", stretch_gap_s=1801)


def test_another_source_into_the_same_place_is_refused_though_no_session_has_the_same_name(tmp_path: Path) -> None:
    for name, day in (("a", "01"), ("b", "02")):
        (tmp_path / name).mkdir()
        Image.new("RGB", (8, 6)).save(tmp_path / name / f"202509{day}_101112.png")
    import_(tmp_path / "a", tmp_path / "out", zone="UTC", user="kim")
    before = _files(tmp_path / "out")
    with pytest.raises(InputError, match="kim: came from another source or other options"):
        import_(tmp_path / "b", tmp_path / "out", zone="UTC", user="kim")
    assert _files(tmp_path / "out") == before
    assert not import_(tmp_path / "b", tmp_path / "out", zone="UTC", user="lee").unchanged
    (tmp_path / "out" / "kim" / "import.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="not the account of an import"):
        import_(tmp_path / "a", tmp_path / "out", zone="UTC", user="kim")


@pytest.mark.parametrize("user", ["../x", "/x", ".", "..", ".x", "", "a/b", "a\\b", "x\n", " x", "c:", "x" * 81])
def test_a_user_is_no_way_out_of_the_place_to_import_to(tmp_path: Path, user: str) -> None:
    (tmp_path / "in" / "src").mkdir(parents=True)
    Image.new("RGB", (8, 6)).save(tmp_path / "in" / "src" / "20250901_101112.png")
    with pytest.raises(UsageError, match="a name fit for a folder"):
        import_(tmp_path / "in" / "src", tmp_path / "in" / "out", zone="UTC", user=user)
    assert [p.name for p in tmp_path.rglob("*")] == ["in", "src", "20250901_101112.png"]


def test_participants_whose_names_come_out_alike_have_folders_of_their_own(tmp_path: Path) -> None:
    for name in ("p 1", "p-1", "P*1"):
        _participant(tmp_path / "src" / name, pictures=False)
    report, out = _import(tmp_path)
    assert len({p.parts[0].casefold() for p in report.sessions}) == 3
    assert len(plays([out])) == 6


def test_what_needs_no_import_or_cannot_be_one_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a session of proact already"):
        import_(Path(__file__).parents[2] / "scenarios" / "desktop" / "session", tmp_path / "out", zone="UTC")
    Image.new("RGB", (8, 6)).save(tmp_path / "shot.png")
    with pytest.raises(InputError, match="a picture; name the folder of images"):
        import_(tmp_path / "shot.png", tmp_path / "out", zone="UTC")


def test_an_import_that_broke_off_is_done_over(tmp_path: Path) -> None:
    report, out = _import(tmp_path)
    session = out / report.sessions[1]
    session.rename(session.with_name(f".{session.name}.part"))
    again, _ = _import(tmp_path)
    assert not again.unchanged
    assert sorted(p.name for p in (out / "p01").iterdir() if p.name.startswith(".")) == []
    assert len(plays([out])) == 2


def test_pictures_are_copied_once_each_or_referenced_or_left(tmp_path: Path) -> None:
    report, out = _import(tmp_path)
    pictured = list((out / report.sessions[0] / "screenshots").rglob("*.png"))
    assert len(pictured) == 2, "many files, but two pictures"
    assert _count(report, "kept", "same SHA-256") >= 1
    source = plays([out / report.sessions[0]])[0].source

    async def first() -> object:
        return await anext(source.snapshots())

    snapshot = asyncio.run(first())
    image = getattr(snapshot, "image", None)
    assert image is not None
    assert image.path in pictured


@pytest.mark.parametrize(("images", "n_paths"), [("reference", 165), ("none", 0)])
def test_pictures_can_stay_where_they_are_or_be_left_out(tmp_path: Path, images: str, n_paths: int) -> None:
    report, out = _import(tmp_path, images=images)
    assert not (out / report.sessions[0] / "screenshots").exists()
    paths: set[str] = set()
    for session in report.sessions:
        with Reader(out / session) as reader:
            paths |= {path for (path,) in reader.rows(("file_path",)) if path is not None}
    assert len(paths) == n_paths
    assert all(Path(path).is_file() for path in paths)


def test_a_damaged_picture_leaves_app_and_title(tmp_path: Path) -> None:
    source = _participant(tmp_path / "src" / "p01")
    one, two, *_ = sorted((source / "screenshots").iterdir())
    one.write_bytes(one.read_bytes()[:-6])
    two.write_bytes(b"")
    report, out = _import(tmp_path)
    assert _count(report, "repaired", "picture is damaged") == 2
    assert not [f for f in check(out / report.sessions[0]) if f.severity == "damage"]


def test_events_that_are_no_good_are_left_out_of_scoring_with_a_count(tmp_path: Path) -> None:
    source = _participant(tmp_path / "src" / "p01", pictures=False)
    db = sqlite3.connect(source / "lifetrace_privacy_processed.db")
    db.execute("UPDATE events SET end_time = ? WHERE id = 45", (_time(44 * 60 + 2),))
    db.execute("DELETE FROM screenshots WHERE event_id = 50")
    db.commit()
    db.close()
    report, out = _import(tmp_path)
    assert _count(report, "left out", "under 3 s") == 1
    assert _count(report, "left out", "no valid screenshot") == 1
    assert plays([out])[0].truth.opportunities == (), "45 is too short, of 50 nothing was seen, 40 is history"
    assert describe(out / report.sessions[1])["events"]["quality"]["left_out"], "and the session says so itself"


def test_without_a_split_everything_is_evaluated(tmp_path: Path) -> None:
    report, out = _import(tmp_path, split=0.0)
    assert len(report.sessions) == len(report.scenarios) == 2
    assert plays([out])[0].history == ()
    assert len(plays([out])[0].truth.opportunities) == 10


@pytest.mark.parametrize("out", [".", "..", "inner", "../..", "../pics/inner/deep"])
def test_nothing_is_written_into_above_or_below_the_source(tmp_path: Path, out: str) -> None:
    source = tmp_path / "all" / "pics"
    source.mkdir(parents=True)
    Image.new("RGB", (8, 6)).save(source / "0.png")
    user = "all" if out == "../.." else None  # OUT/all holds the source; by default OUT/pics is the source
    with pytest.raises(UsageError, match="must lie apart"):
        import_(source, source / out, zone="UTC", user=user)
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["0.png"]


def test_beside_the_source_and_around_a_single_file_there_is_room(tmp_path: Path) -> None:
    (tmp_path / "pics").mkdir()
    Image.new("RGB", (8, 6)).save(tmp_path / "pics" / "0.png")
    assert import_(tmp_path / "pics", tmp_path, zone="UTC", user="kim").sessions
    database = _participant(tmp_path / "src" / "p01") / "lifetrace_privacy_processed.db"
    assert import_(database, tmp_path / "src" / "p01" / "sessions", zone="UTC", images="none").sessions


def test_a_scenario_without_truth_shows_how_to_write_it(tmp_path: Path) -> None:
    (tmp_path / "pics").mkdir()
    for i in range(6):
        Image.new("RGB", (8, 6), (i, 0, 0)).save(tmp_path / "pics" / f"{i}.png")
    report = import_(tmp_path / "pics", tmp_path / "out", zone="UTC", rate_hz=1)
    file = tmp_path / "out" / report.scenarios[0]
    assert not plays([file])[0].truth.known
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line != "truth: none"]
    example = lines.index("# truth:")
    lines[example:] = [line.removeprefix("# ") for line in lines[example:]]
    file.write_text("\n".join(lines), encoding="utf-8")
    (need,) = plays([file])[0].truth.servable
    assert (need.closes_ns, need.intention) == (5 * S, "Information Lookup")


def test_a_folder_of_images_becomes_a_session_without_truth(tmp_path: Path) -> None:
    for n in range(4):
        (tmp_path / "pics").mkdir(exist_ok=True)
        Image.new("RGB", (8, 6), (n, 0, 0)).save(tmp_path / "pics" / f"shot{n}.png")
    report = import_(tmp_path / "pics", tmp_path / "out", zone="UTC", rate_hz=0.5)
    assert report.notes["pics"]["times"] == "rate of 0.5 images a second"
    (play,) = plays([tmp_path / "out"])
    assert (play.truth.known, play.period_ns, play.truth.end_ns) == (False, 2 * S, 8 * S)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"split": 1.0}, UsageError, "a share from 0 to below 1"),
        ({"split": float("nan")}, UsageError, "a share"),
        ({"rate_hz": 0}, UsageError, "snapshots a second"),
        ({"images": "copi"}, UsageError, "did you mean 'copy'"),
        ({"format": "livetrace"}, UsageError, "did you mean 'lifetrace'"),
        ({"zone": "Peking"}, InputError, "an IANA name"),
    ],
)
def test_options_that_cannot_be_are_refused(tmp_path: Path, options: dict[str, object], error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        _import(tmp_path, **options)


def test_an_empty_database_beside_others_is_left_out_with_a_line(tmp_path: Path) -> None:
    _participant(tmp_path / "src" / "p01", pictures=False)
    (tmp_path / "src" / "p02").mkdir()
    (tmp_path / "src" / "p02" / "x.db").write_bytes(b"")
    report, _ = _import(tmp_path)
    assert _count(report, "left out", "the file is empty (0 bytes)") == 1


@pytest.mark.skipif(not REAL.exists(), reason="the real databases are not on this machine (../shared/data/lifetrace)")
def test_the_real_databases_import_check_and_play(tmp_path: Path) -> None:
    report = import_(REAL, tmp_path, zone="Asia/Shanghai")
    assert _count(report, "kept", "screenshots") == 63
    assert _count(report, "left out", "database") == 4
    assert all(check(tmp_path / session) == [] for session in report.sessions)
    (play,) = plays([tmp_path])
    assert not play.truth.known
    assert play.segmentation == "app"
    assert [label for _, label in play.history] == [None] * 14, "nothing is known of needs, which is not the same as no"


def _log(folder: Path, name: str = "ann") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{"time": f"2026-01-0{d}T08:00:00+08:00", "action": "reads", "label": "signal"} for d in range(1, 6)]
    (folder / f"{name}.json").write_text(json.dumps(rows))
    return folder


def _trace(folder: Path, name: str = "code_1") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    row = {"observation": {"time": "1717377997.0", "event": "types"}, "agent_response": {"candidate_task": ["help"]}}
    (folder / f"{name}.json").write_text(json.dumps([row | {"task_status": True}]))
    return folder


def test_ready_scenarios_and_recordings_of_two_sources_never_share_a_folder(tmp_path: Path) -> None:
    log, trace = _log(tmp_path / "log"), _trace(tmp_path / "trace")
    for first, second in ((log, trace), (trace, log)):
        out = tmp_path / f"out-{first.name}"
        import_(first, out)
        before = _files(out)
        with pytest.raises(InputError, match="choose another place to import to"):
            import_(second, out)
        assert _files(out) == before
        assert import_(first, out).unchanged


def test_what_a_folder_holds_beside_what_is_read_is_counted(tmp_path: Path) -> None:
    import os

    src = tmp_path / "screens"
    (src / ".thumbs").mkdir(parents=True)
    for place in (src / "1.png", src / "2.png", src / ".thumbs" / "1.png"):
        Image.new("RGB", (8, 6)).save(place)
    (src / "snapshots.jsonl").write_text("{}")
    os.mkfifo(src / "3.png")
    (src / "far").symlink_to(tmp_path)
    Image.new("L", (8, 6)).save(
        src / "film.gif", save_all=True, append_images=[Image.new("L", (8, 6), 200)], duration=500
    )
    report = import_(src, tmp_path / "out", zone="UTC")
    assert _count(report, "kept", "screenshots") == 2
    left_out = {line.reason: line.count for line in report.lines if line.outcome == "left out"}
    assert left_out == {
        "animated pictures (import each by itself, with --format video)": 1,
        "hidden files": 1,
        "links to folders, which are not followed": 1,
        "other files, which this format does not read (.jsonl)": 1,
        "pipes, sockets, devices and links that lead nowhere": 1,
    }


def test_a_folder_of_films_alone_holds_no_image(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    more = [Image.new("L", (8, 6), 200)]
    Image.new("L", (8, 6)).save(tmp_path / "src" / "film.gif", save_all=True, append_images=more, duration=500)
    with pytest.raises(InputError, match="no image in this folder but animated ones"):
        import_(tmp_path / "src", tmp_path / "out", zone="UTC")


def test_a_folder_of_several_sources_is_told_apart(tmp_path: Path) -> None:
    _participant(tmp_path / "all" / "p01", pictures=False)
    _log(tmp_path / "all" / "logs")
    with pytest.raises(InputError, match=r"several sources, logs \(knowu\), p01 \(lifetrace\): import each by itself"):
        import_(tmp_path / "all", tmp_path / "out", zone="UTC")
    report = import_(tmp_path / "all", tmp_path / "out", zone="UTC", format="lifetrace")
    assert _count(report, "left out", "does not read (.json)") == 1


def test_names_that_become_the_same_are_numbered(tmp_path: Path) -> None:
    for name in ("code 1", "code-1"):
        _trace(tmp_path / "traces", name)
        _log(tmp_path / "logs", name)
    report = import_(tmp_path / "traces", tmp_path / "out")
    assert [p.as_posix() for p in report.sessions] == ["code-1", "code-1-2"]
    assert len({p.parts[0] for p in import_(tmp_path / "logs", tmp_path / "logs-out").sessions}) == 2


def test_a_zone_that_is_none_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'Mars/X': an IANA name is wanted"):
        import_(_trace(tmp_path / "src"), tmp_path / "out", zone="Mars/X")
    assert not (tmp_path / "out").exists()
    import_(tmp_path / "src", tmp_path / "out", zone="UTC")


def test_an_import_that_failed_leaves_the_way_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    from simulator.session import importing_cases, importing_user

    def full(*_: object) -> bool:
        raise OSError(errno.ENOSPC, "No space left on device")

    for src in (_trace(tmp_path / "trace"), _log(tmp_path / "log")):
        with monkeypatch.context() as patch:
            patch.setattr(importing_cases, "write_session", full)
            patch.setattr(importing_user, "write_session", full)
            with pytest.raises(UsageError, match=r"/out: there is no room left on the disk"):
                import_(src, tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_two_imports_at_once_into_one_folder_and_a_file_there_are_refused(tmp_path: Path) -> None:
    with alone_in(tmp_path / "out"), pytest.raises(UsageError, match="another proact is writing there"):
        import_(_trace(tmp_path / "src"), tmp_path / "out")
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match=r"file: no folder can be made there \(a file lies there\)"):
        import_(tmp_path / "src", tmp_path / "file")
