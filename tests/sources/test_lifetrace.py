"""LifeTrace and ProAgentBench databases: every generation, and every trap as a database that has it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from simulator.core.errors import InputError
from simulator.core.types import SECOND
from simulator.sources.foreign import Foreign, name_time, natural
from simulator.sources.lifetrace import period_ns, read
from simulator.sources.lifetrace_db import databases, generation

REAL = Path(__file__).parents[2] / "../shared/data/lifetrace"
V0 = "id, file_path, file_hash, file_size, width, height, screen_id, app_name, window_title, created_at, is_processed"
V1 = V0 + ", event_id"
E1 = "id, app_name, window_title, start_time, end_time, created_at"
E3 = E1 + ", ai_title, ai_summary, task_id, status, auto_association_attempted, updated_at, deleted_at"
PRO = (
    "id, start_time, end_time, app_name, window_title, is_llm_event, event_summary, detailed_description, conversation"
)
S = SECOND
T0 = 1_759_917_600 * S  # 2025-10-08 10:00:00 UTC = 18:00:00 in Shanghai


def _name(second: float, screen: int = 1) -> str:
    minute, rest = divmod(second, 60)
    return f"screen_{screen}_20251008_18{int(minute):02d}{int(rest):02d}_{round(rest % 1 * 1000):03d}.png"


def _local(second: float, hour: int = 18) -> str:
    minute, rest = divmod(second, 60)
    return f"2025-10-08 {hour:02d}:{int(minute):02d}:{rest:09.6f}"


def _db(
    file: Path,
    shots: Sequence[Mapping[str, Any]],
    events: Sequence[Mapping[str, Any]] | None = (),
    *,
    columns: str = V1,
    event_columns: str = E1,
    more: str = "",
) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(file)
    db.execute(f"CREATE TABLE screenshots ({columns})")
    db.execute("CREATE TABLE ocr_results (id, screenshot_id, text_content)")
    if events is not None:
        db.execute(f"CREATE TABLE events ({event_columns})")
    db.executescript(more)
    for table, rows in (("screenshots", shots), ("events", events or ())):
        for row in rows:
            db.execute(
                f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())
            )
    db.commit()
    db.close()
    return file


def _shot(n: int, second: float, event: int | None = None, **more: Any) -> dict[str, Any]:
    path = f"~\\.lifetrace\\screenshots\\{_name(second)}"
    plain = {"id": n, "file_path": path, "app_name": "a.exe", "window_title": "t", "created_at": _local(second + 0.2)}
    return {**plain, "event_id": event, **more}


def _event(n: int, start: float, end: float | None, app: str | None = "a.exe", **more: Any) -> dict[str, Any]:
    ended = None if end is None else _local(end)
    return {"id": n, "app_name": app, "window_title": "t", "start_time": _local(start), "end_time": ended, **more}


def _read(file: Path, zone: str = "Asia/Shanghai") -> Foreign:
    return read(file, "ada", zone)


def _times(foreign: Foreign) -> list[float]:
    return [(s.utc_ns - T0) / S for s in foreign.shots]


def _said(foreign: Foreign, outcome: str, words: str) -> int:
    return sum(n for (kind, reason), n in foreign.ledger.counts.items() if kind == outcome and words in reason)


GENERATIONS = [
    ("v0", {"screenshots": V0}),
    ("v1", {"screenshots": V1, "events": E1}),
    ("v1b", {"screenshots": V1, "events": E1, "user_behavior_stats": "id"}),
    ("v2", {"screenshots": V1, "events": E1 + ", ai_title, ai_summary"}),
    ("v2b", {"screenshots": V1, "events": E1 + ", ai_title, ai_summary, task_id"}),
    ("v3", {"screenshots": V1, "events": E3}),
    ("FreeTodo", {"screenshots": V1, "events": E1 + ", ai_title, ai_summary, status, updated_at, deleted_at"}),
    ("ProAgentBench", {"screenshots": V1, "events": PRO}),
]


@pytest.mark.parametrize(("name", "tables"), GENERATIONS, ids=[g for g, _ in GENERATIONS])
def test_every_generation_is_told_by_its_columns_and_read(tmp_path: Path, name: str, tables: dict[str, str]) -> None:
    assert generation({t: c.split(", ") for t, c in tables.items()}) == name
    events = [_event(1, 0, 5)] if "events" in tables else None
    shot = _shot(1, 1, 1)
    if name == "v0":
        del shot["event_id"]
    more = "".join(f"CREATE TABLE {t} ({c});" for t, c in tables.items() if t not in ("screenshots", "events"))
    columns = {"columns": tables["screenshots"], "event_columns": tables.get("events", "")}
    foreign = _read(_db(tmp_path / "x.db", [shot], events, more=more, **columns))
    assert foreign.notes["generation"] == name
    assert [(s.app, s.title, s.event) for s in foreign.shots] == [("a.exe", "t", None if name == "v0" else 1)]
    assert foreign.has_assistance == (name == "ProAgentBench")


def test_trap_1_a_row_linked_to_a_later_event_goes_back_and_its_orphan_picture_is_taken(tmp_path: Path) -> None:
    events = [_event(1, 0, 10), _event(2, 10, 20, "b.exe")]
    file = _db(tmp_path / "x.db", [_shot(1, 1, 2)], events)  # same MD5 at 12 s: the old row was linked to event 2
    (tmp_path / "screenshots").mkdir()
    Image.new("RGB", (4, 3)).save(tmp_path / "screenshots" / _name(12))
    foreign = _read(file)
    assert [(s.event, s.app) for s in foreign.shots] == [(1, "a.exe"), (2, "b.exe")]
    assert foreign.shots[1].file == tmp_path / "screenshots" / _name(12)
    assert _said(foreign, "repaired", "linked to an event of another time") == 1
    assert _said(foreign, "repaired", "pictures without a row") == 1


def test_trap_2_a_screenshot_after_its_events_end_stays_with_it_until_the_next(tmp_path: Path) -> None:
    file = _db(
        tmp_path / "x.db", [_shot(1, 1, 1), _shot(2, 8, 1), _shot(3, 21, 2)], [_event(1, 0, 5), _event(2, 20, 30)]
    )
    foreign = _read(file)
    assert [s.event for s in foreign.shots] == [1, 1, 2]
    assert _said(foreign, "repaired", "after their event was closed") == 1


def test_trap_3_the_time_in_the_name_goes_before_created_at(tmp_path: Path) -> None:
    file = _db(tmp_path / "x.db", [_shot(1, 1, created_at=_local(239)), _shot(2, 5)])
    foreign = _read(file)
    assert _times(foreign) == [1, 5]
    assert _said(foreign, "repaired", "created_at more than 5 s off") == 1


def test_trap_4_backfilled_rows_take_app_and_title_from_the_event_of_their_time(tmp_path: Path) -> None:
    late = _shot(1, 3, None, app_name="other.exe", window_title="in front at backfill", created_at=_local(200))
    foreign = _read(_db(tmp_path / "x.db", [late], [_event(1, 0, 10)]))
    assert [(s.app, s.title, s.event) for s in foreign.shots] == [("a.exe", "t", 1)]
    assert _said(foreign, "repaired", "filled in later") == 1


@pytest.mark.parametrize(
    "stored",
    [
        "~\\.lifetrace\\screenshots\\{}",
        "~/.lifetrace\\screenshots\\{}",
        "C:\\Users\\PC\\.lifetrace/screenshots/{}",
        "/Users/x/{}",
        "{}",
    ],
)
def test_trap_5_a_path_of_any_system_finds_its_picture_by_name(tmp_path: Path, stored: str) -> None:
    for folder in ("screenshots", "a_pipeline/copies"):
        (tmp_path / folder).mkdir(parents=True)
        Image.new("RGB", (4, 3)).save(tmp_path / folder / _name(1))
    foreign = _read(_db(tmp_path / "x.db", [_shot(1, 1, file_path=stored.format(_name(1)))]))
    assert [s.file for s in foreign.shots] == [tmp_path / "screenshots" / _name(1)]
    assert _said(foreign, "noted", "copies") == 1


def test_trap_6_rows_come_in_order_of_capture_and_events_without_a_shot_get_a_row(tmp_path: Path) -> None:
    shots = [_shot(5, 9, 1), _shot(7, 2, 1), _shot(90, 4, 1)]
    foreign = _read(_db(tmp_path / "x.db", shots, [_event(1, 0, 10), _event(2, 10, 20, "b.exe"), _event(3, 20, 30)]))
    assert _times(foreign) == [2, 4, 9, 10, 20]
    assert [(s.app, s.made) for s in foreign.shots[3:]] == [("b.exe", True), ("a.exe", True)]
    assert _said(foreign, "repaired", "not in the order of capture") == 1
    assert _said(foreign, "repaired", "events without a screenshot") == 2


def test_trap_7_local_times_are_read_in_the_zone_given_and_a_utc_created_at_is_noticed(tmp_path: Path) -> None:
    utc = [{**_shot(n, n), "created_at": _local(n + 0.3, hour=10)} for n in (1, 2)]
    nameless = {**_shot(3, 9), "file_path": "screenshots/lost.png", "created_at": _local(9, hour=10)}
    foreign = _read(_db(tmp_path / "x.db", [*utc, nameless], [_event(1, 0, 10)]))
    assert _times(foreign) == [1, 2, 9], "two zones in one database: names local, created_at UTC"
    assert (foreign.events[0].start_ns, foreign.events[0].end_ns) == (T0, T0 + 10 * S)
    assert _said(foreign, "noted", "created_at is UTC") == 1
    assert _said(foreign, "repaired", "timed by created_at") == 1
    assert _said(foreign, "repaired", "more than 5 s off") == 0


def test_trap_7_a_created_at_in_local_time_stays_local(tmp_path: Path) -> None:
    nameless = {**_shot(3, 9), "file_path": "lost.png", "created_at": _local(9)}
    assert _times(_read(_db(tmp_path / "x.db", [_shot(1, 1), nameless]))) == [1, 9]


def test_an_unknown_zone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'China': an IANA name is wanted, such as Asia/Shanghai"):
        _read(_db(tmp_path / "x.db", [_shot(1, 1)]), "China")


@pytest.mark.parametrize(
    ("zone", "meant"),
    [("Shanghai", "Asia/Shanghai"), ("Asia/Shangai", "Asia/Shanghai"), ("new york", "America/New_York")],
)
def test_the_zone_that_was_meant_is_named(tmp_path: Path, zone: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"did you mean '{meant}'"):
        _read(_db(tmp_path / "x.db", [_shot(1, 0)]), zone)


def test_words_where_numbers_belong_cost_their_row_at_most(tmp_path: Path) -> None:
    shots = [_shot(1, 1, screen_id="left"), _shot(2, 2, screen_id="2"), _shot(3, 3, screen_id=b"\xff"), _shot(4, 4)]
    foreign = _read(_db(tmp_path / "x.db", shots, [_event(1, 0, 9) | {"id": "one"}, _event(2, 0, 9)]))
    assert [s.monitor for s in foreign.shots] == [1, 2, 1, 1]
    assert _said(foreign, "repaired", "screens that are no number") == 2
    assert (_said(foreign, "left out", "no whole number"), [e.id for e in foreign.events]) == (1, [2])


def test_trap_8_a_deleted_picture_leaves_app_and_title(tmp_path: Path) -> None:
    (tmp_path / "screenshots").mkdir()
    Image.new("RGB", (4, 3)).save(tmp_path / "screenshots" / _name(1))
    gone = {**_shot(1, 1), "file_deleted": 1}
    described = {**_shot(2, 2), "scene_description": "a person writes"}
    columns = V1 + ", file_deleted, scene_description"
    foreign = _read(_db(tmp_path / "x.db", [gone, described], columns=columns))
    assert [(s.app, s.file, s.scene) for s in foreign.shots] == [
        ("a.exe", None, None),
        ("a.exe", None, "a person writes"),
    ]
    assert _said(foreign, "noted", "deleted by the recorder") == 1
    assert _said(foreign, "noted", "replaced by a scene description") == 1


@pytest.mark.parametrize(
    ("content", "said"), [(b"", r"empty \(0 bytes\)"), (b"x" * 200, "damaged"), (None, "no such file")]
)
def test_trap_9_what_is_no_database_is_told_in_a_sentence(tmp_path: Path, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / "x.db").write_bytes(content)
    with pytest.raises(InputError, match=said):
        _read(tmp_path / "x.db")


def test_trap_9_another_programs_database_is_told_in_a_sentence(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "x.db")
    db.execute("CREATE TABLE bookmarks (id)")
    db.close()
    with pytest.raises(InputError, match="no table screenshots"):
        _read(tmp_path / "x.db")


def test_trap_10_events_of_an_unknown_app_that_stayed_open_are_closed_by_the_next(tmp_path: Path) -> None:
    events = [_event(1, 0, None, None), _event(2, 10, 20), _event(3, 20, None), _event(4, 2400, 1400)]
    foreign = _read(_db(tmp_path / "x.db", [_shot(1, 1, 1), _shot(2, 25, 3), _shot(3, 2401, 4)], events))
    ends = {e.id: ((e.end_ns or 0) - T0) / S for e in foreign.events}
    assert ends == {1: 10, 2: 20, 3: 26, 4: 2402}, "an open event does not run on through 40 min without a shot"
    assert _said(foreign, "repaired", "never closed, though others follow") == 2
    assert _said(foreign, "repaired", "ended before they started") == 1
    assert _said(foreign, "repaired", "the last event, never closed") == 1


def test_names_for_the_unknown_become_unknown(tmp_path: Path) -> None:
    foreign = _read(_db(tmp_path / "x.db", [_shot(1, 1, app_name="未知应用", window_title="未知窗口")]))
    assert [(s.app, s.title) for s in foreign.shots] == [(None, None)]


def test_a_name_cut_to_milliseconds_does_not_move_a_shot_to_the_event_before(tmp_path: Path) -> None:
    events = [_event(1, 0, 10.0004), _event(2, 10.0004, 20)]
    foreign = _read(_db(tmp_path / "x.db", [_shot(1, 1, 1), _shot(2, 10, 2)], events))
    assert [s.event for s in foreign.shots] == [1, 2]


def test_hashes_of_every_length_and_several_screens_are_taken(tmp_path: Path) -> None:
    shots = [_shot(n, 1, file_hash="f" * 16 * n, screen_id=n) for n in (1, 2, 4)]
    foreign = _read(_db(tmp_path / "x.db", shots))
    assert [s.monitor for s in foreign.shots] == [1, 2, 4]
    assert (
        _said(foreign, "noted", "SHA-256")
        == _said(foreign, "noted", "MD5")
        == _said(foreign, "noted", "perceptual")
        == 1
    )


def test_proagentbench_events_bring_their_assistance_and_conversation(tmp_path: Path) -> None:
    conversation = '{"user_queries": ["how?"], "llm_responses": ["so"], "full_conversation": []}'
    events = [_event(1, 0, 10), _event(2, 10, 20, is_llm_event=1, conversation=conversation, event_summary="asks")]
    foreign = _read(_db(tmp_path / "lifetrace_privacy_processed.db", [], events, event_columns=PRO))
    assert [(e.assistance, e.summary, e.conversation) for e in foreign.events] == [
        (False, None, None),
        (True, "asks", conversation),
    ]
    assert [s.made for s in foreign.shots] == [True, True], "a participant whose pictures were all withheld"


def test_recognised_text_comes_with_its_screenshot(tmp_path: Path) -> None:
    more = "INSERT INTO ocr_results VALUES (1, 7, 'hello'); INSERT INTO ocr_results VALUES (2, 7, 'world');"
    assert [s.text for s in _read(_db(tmp_path / "x.db", [_shot(7, 1)], more=more)).shots] == ["hello\nworld"]


def test_reading_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    file = _db(tmp_path / "x.db", [_shot(1, 1)])
    before = file.read_bytes()
    tmp_path.chmod(0o500)
    try:
        _read(file)
    finally:
        tmp_path.chmod(0o700)
    assert [p.name for p in tmp_path.iterdir()] == ["x.db"]
    assert file.read_bytes() == before


def test_each_folder_is_a_participant_and_several_databases_in_one_are_told_apart(tmp_path: Path) -> None:
    for name in ("p01/data/lifetrace.db", "p02/lifetrace.db", "p03/a.db", "p03/b.db"):
        _db(tmp_path / name, [_shot(1, 1)])
    assert [user for user, _ in databases(tmp_path)] == ["p01", "p02", "p03-a", "p03-b"]


def test_the_recorders_period_is_told_from_the_short_steps(tmp_path: Path) -> None:
    second = [_shot(n, t) for n, t in enumerate([0, 1, 2.1, 3, 4, 30, 31, 90])]
    ten = [_shot(n, t) for n, t in enumerate([0, 10, 20.2, 30, 90, 100])]
    assert period_ns(_read(_db(tmp_path / "1.db", second)).shots) == S
    assert period_ns(_read(_db(tmp_path / "10.db", ten)).shots) == 10 * S


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("screen_2_20250902_211544_187.png", ("2025-09-02T21:15:44.187000", 2, 1_000_000)),
        ("20250902_211544.jpg", ("2025-09-02T21:15:44", 0, S)),
        ("Screenshot 2025-09-02 21-15-44.png", ("2025-09-02T21:15:44", 0, S)),
        ("2025-09-02T21:15:44.5.png", ("2025-09-02T21:15:44.500000", 0, S // 10)),
        ("screen_1_20251302_211544_187.png", None),
        ("photo_123456789012345678.png", None),
        ("holiday.png", None),
    ],
)
def test_times_are_read_out_of_names(name: str, told: tuple[str, int, int] | None) -> None:
    found = name_time(name)
    assert (None if found is None else (found.moment.isoformat(), found.screen, found.precision_ns)) == told


def test_natural_order_counts() -> None:
    assert [p.name for p in natural(Path(n) for n in ("a10.png", "a2.png", "A1.png", "b.png"))] == [
        "A1.png",
        "a2.png",
        "a10.png",
        "b.png",
    ]


@pytest.mark.skipif(not REAL.exists(), reason="the real databases are not on this machine (../shared/data/lifetrace)")
def test_the_real_database_shows_the_faults_that_are_known_of_it() -> None:
    foreign = _read(REAL / "v1_2025-09-02_recorded_63shots_21events_ocr-masked.db")
    assert (len(foreign.shots), len(foreign.events), foreign.notes["generation"]) == (63, 21, "v1")
    assert _said(foreign, "repaired", "more than 5 s off") == 31
    assert _said(foreign, "repaired", "not in the order of capture") == 2
    assert _said(foreign, "repaired", "filled in later") == 22
    assert _said(foreign, "noted", "perceptual") == 36
    assert _said(foreign, "noted", "another title") == 4
    assert {s.monitor for s in foreign.shots} == {1, 2, 3, 4}
    assert period_ns(foreign.shots) == 10 * S
    assert foreign.shots[0].utc_ns == 1_756_818_944_187_000_000  # 21:15:44.187 in Shanghai
