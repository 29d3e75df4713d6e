"""What a corpus holds: figures counted by hand, of sessions made for it."""

from __future__ import annotations

from collections.abc import Sequence
from json import loads
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from simulator.cli.describe import describe
from simulator.core.calendar import parse_utc_ns
from simulator.core.errors import InputError, UsageError
from simulator.core.types import SECOND
from simulator.session.describe_corpus import pooled
from simulator.session.describe_parts import of_session, of_table
from simulator.session.describe_pictures import Luminance, look_back
from simulator.session.scenario import plays
from simulator.session.store import Writer

S = SECOND
MONDAY_0630_UTC = parse_utc_ns("2026-03-02T06:30:00Z")

Ask = tuple[int, int, str | None]


def session(
    folder: Path,
    asks: Sequence[Ask] = ((60, 90, "Translation"),),
    *,
    seconds: int = 120,
    anchor: int | None = MONDAY_0630_UTC,
    zone: str = "Asia/Shanghai",
    user: str = "sam",
) -> Path:
    """A session in which xterm is open, but for the assistance events (start, end, intention)."""
    with Writer(folder, session=folder.name, user=user, zone=zone, utc_anchor_ns=anchor) as writer:
        rows = [(t, t * S, "xterm", f"t{t // 10}") for t in range(seconds)]
        writer.add_rows(("tick", "captured_ns", "app_name", "window_title"), rows)
        at = 0
        for start, end, intention in asks:
            writer.event(start_ns=at * S, end_ns=start * S, app_name="xterm", is_llm_event=0)
            writer.event(start_ns=start * S, end_ns=end * S, app_name="ChatGPT", is_llm_event=1,
                         user_intention=intention, llm_platform="ChatGPT")  # fmt: skip
            at = end
        writer.event(start_ns=at * S, end_ns=seconds * S, app_name="xterm", is_llm_event=0)
    return folder


def records(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [loads(line) for line in capsys.readouterr().out.splitlines()]


def test_what_is_counted_by_hand(tmp_path: Path) -> None:
    numbers = pooled([of_session(session(tmp_path / "s", [(30, 40, "Translation"), (60, 90, None)]))])
    assert (numbers["sessions"], numbers["users"], numbers["events"], numbers["assistance_events"]) == (1, 1, 5, 2)
    assert numbers["assistance_share"] == 2 / 5
    assert numbers["hours"] == pytest.approx(120 / 3600)
    assert numbers["apps_hours"] == pytest.approx({"xterm": 80 / 3600, "ChatGPT": 40 / 3600})
    assert numbers["classes_hours"] == pytest.approx({"terminal": 80 / 3600, "assistant": 40 / 3600})
    assert numbers["platforms"] == {"ChatGPT": 2}
    requests = numbers["requests"]
    assert (requests["n"], requests["intention_unknown"]) == (2, 1)
    assert requests["intentions"]["Translation"] == {"n": 1, "share": 1.0}
    assert len(requests["intentions"]) == 16
    assert numbers["median_event_s"] == 30


def test_weekday_and_hour_are_those_of_the_sessions_own_zone(tmp_path: Path) -> None:
    """06:30 UTC of a Monday is 14:30 in Shanghai; at 30 hours earlier in UTC it is Sunday 00:30 UTC."""
    parts = [of_session(session(tmp_path / "a")), of_session(session(tmp_path / "b", zone="America/New_York"))]
    by_hour = pooled(parts)["by_hour"]
    assert by_hour["events"][0][14] == 3, "Shanghai"
    assert by_hour["events"][0][1] == 3, "New York"
    assert by_hour["assistance"][0][14] == 1
    assert sum(map(sum, by_hour["events"])) == 6


def test_events_are_put_into_the_hour_in_which_they_start(tmp_path: Path) -> None:
    late = MONDAY_0630_UTC + 29 * 60 * S  # 14:59 in Shanghai: the request at 60 s comes at 15:00
    by_hour = pooled([of_session(session(tmp_path / "a", anchor=late))])["by_hour"]
    assert (by_hour["events"][0][14], by_hour["events"][0][15], by_hour["assistance"][0][15]) == (1, 2, 1)


def test_a_session_without_a_calendar_is_left_out_of_the_week_and_counted(tmp_path: Path) -> None:
    numbers = pooled([of_session(session(tmp_path / "a", anchor=None)), of_session(session(tmp_path / "b"))])
    assert numbers["by_hour"]["left_out_without_calendar"] == 3
    assert sum(map(sum, numbers["by_hour"]["events"])) == 3
    assert numbers["events"] == 6


def test_a_zone_that_is_none_is_said(tmp_path: Path) -> None:
    part = of_session(session(tmp_path / "a", zone="Mars/Olympus"))
    with pytest.raises(InputError, match="IANA zone"):
        pooled([part])


def test_times_between_requests_run_over_a_users_sessions_and_over_no_two_users(tmp_path: Path) -> None:
    hour = 3600 * S
    parts = [
        of_session(session(tmp_path / "a", [(10, 20, None), (40, 50, None)])),
        of_session(session(tmp_path / "b", [(10, 20, None)], anchor=MONDAY_0630_UTC + hour)),
        of_session(session(tmp_path / "c", [(70, 80, None)], user="kim")),
        of_session(session(tmp_path / "d", [(70, 80, None), (90, 95, None)], anchor=None)),
    ]
    rhythm = pooled(parts)["rhythm"]
    assert rhythm["along_the_calendar"]["times_between_s"] == [30.0, 3570.0]
    assert rhythm["within_sessions"]["times_between_s"] == [20.0, 30.0]
    mean, spread = 1800.0, 1770.0
    assert rhythm["along_the_calendar"]["burstiness"] == pytest.approx((spread - mean) / (spread + mean))
    assert rhythm["along_the_calendar"]["power_law"]["reason"] == "2 times in the tail, 50 needed"


def test_gaps_are_no_recorded_time(tmp_path: Path) -> None:
    with Writer(tmp_path / "s") as writer:
        for tick in (*range(10), *range(70, 80)):
            writer.add(tick=tick, captured_ns=tick * S, app_name="a", window_title="t")
        writer.gap(10, 69, "locked")
        writer.gap(10, 39, "blank")
    assert pooled([of_session(tmp_path / "s")])["hours"] == pytest.approx(20 / 3600)


def test_needs_that_a_scenario_states_are_requests_where_the_session_records_none(tmp_path: Path) -> None:
    session(tmp_path / "s", [])
    (tmp_path / "scenario.yaml").write_text(
        "session: s\ntruth:\n  opportunities:\n"
        "    - {opens_s: 5, closes_s: 20, acted_s: 20, intention: Translation}\n"
        "    - {opens_s: 30, closes_s: 50, intention: Summarization}\n",
        encoding="utf-8",
    )
    (play,) = plays([tmp_path / "scenario.yaml"])
    part = of_session(tmp_path / "s", play.truth)
    numbers = pooled([part])
    assert part.requests_from == "stated"
    assert (numbers["requests"]["n"], numbers["stated_requests"]) == (1, 1), "nobody acted on the second"
    assert (numbers["events"], numbers["assistance_events"]) == (2, 1)
    assert part.requests[0].at_ns == MONDAY_0630_UTC + 20 * S


def test_an_event_table_is_a_part_a_user(tmp_path: Path) -> None:
    table = tmp_path / "past.csv"
    table.write_text(
        "start,end,app,assistance,help,intention,user\n"
        "2026-03-02T09:00:00Z,2026-03-02T09:10:00Z,xterm,,true,Translation,sam\n"
        "2026-03-02T09:10:00Z,2026-03-02T09:12:00Z,ChatGPT,true,,,sam\n"
        "2026-03-02T09:00:00Z,2026-03-02T09:30:00Z,xterm,,false,,kim\n",
        encoding="utf-8",
    )
    sam, kim = of_table(table, "Europe/Berlin")
    assert (sam.user, len(sam.events), [r.intention for r in sam.requests]) == ("sam", 2, ["Translation"])
    assert (kim.user, len(kim.requests)) == ("kim", 0)
    numbers = pooled([sam, kim])
    assert (numbers["tables"], numbers["users"], numbers["hours"]) == (1 + 1, 2, pytest.approx(0.7))
    assert numbers["by_hour"]["events"][0][10] == 3, "09:00 UTC in Berlin, in winter"


def test_a_table_in_seconds_has_no_calendar(tmp_path: Path) -> None:
    (tmp_path / "past.csv").write_text(
        "start,end,app,help\n-90,-60,xterm,true\n-60,-30,xterm,false\n", encoding="utf-8"
    )
    (part,) = of_table(tmp_path / "past.csv")
    assert (part.anchored, [r.at_ns for r in part.requests]) == (False, [-60 * S])


def pictured(folder: Path, pictures: Sequence[Image.Image], ask_at: int) -> Path:
    with Writer(folder, utc_anchor_ns=MONDAY_0630_UTC) as writer:
        for tick, picture in enumerate(pictures):
            writer.add(tick=tick, captured_ns=tick * S, app_name="a", window_title="t", image=picture)
        writer.event(start_ns=ask_at * S, end_ns=(ask_at + 1) * S, app_name="a", is_llm_event=1)
    return folder


def half(share: float) -> Image.Image:
    """White from the left up to that share of the width."""
    table = np.zeros((90, 160), np.uint8)
    table[:, : int(160 * share)] = 255
    return Image.fromarray(table).convert("RGB")


def test_the_time_to_event_of_the_most_similar_screens(tmp_path: Path) -> None:
    shown = [half(0.5), half(0.8), half(0.8), half(0.1), half(0.45), half(0.1), half(0.5)]
    part = of_session(pictured(tmp_path / "s", shown, 6))
    found = look_back([part], Luminance(), "luminance", most=2)
    assert found.times_s == [2.0, 4.0], "0.45 was shown 2 s before; 0.8, last 4 s before, is more alike than 0.1"
    assert (found.n_looked_at, found.n_same_before, found.n_without_picture) == (1, 1, 0)
    near = look_back([part], Luminance(), "luminance", most=5, window_ns=2 * S)
    assert sorted(near.times_s) == [1.0, 2.0], "nothing from before the window"


def test_pictures_that_are_gone_are_counted_and_looked_past(tmp_path: Path) -> None:
    folder = pictured(tmp_path / "s", [half(0.5), half(0.9), half(0.2), half(0.45)], 3)
    for file in sorted((folder / "screenshots").rglob("*.webp")):
        file.unlink()
    part = of_session(folder)
    assert (part.pictured.n_distinct, part.pictured.n_gone) == (4, 4)
    assert look_back([part], Luminance(), "luminance").n_without_picture == 1


def test_rows_described_instead_of_pictured_are_counted(tmp_path: Path) -> None:
    with Writer(tmp_path / "s") as writer:
        writer.add(tick=0, captured_ns=0, app_name="a", scene_description="a terminal")
        writer.add(tick=1, captured_ns=S, app_name="a")
        writer.add(tick=2, captured_ns=2 * S, app_name="a", image=half(0.5))
    p = of_session(tmp_path / "s").pictured
    assert (p.n_rows, p.n_with, p.n_described, p.n_without, p.n_distinct, p.n_gone) == (3, 1, 1, 1, 1, 0)


def test_the_luminance_signature_by_hand() -> None:
    assert Luminance().embed_images([]).shape == (0, 32 * 18)


def test_the_command_pools_by_user_and_in_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session(tmp_path / "c" / "a")
    session(tmp_path / "c" / "b", user="kim")
    assert describe([tmp_path / "c"], json=True) == 0
    said = records(capsys)
    assert [(r["event"], r.get("user")) for r in said] == [
        ("described", "sam"), ("described", "kim"), ("pooled", "kim"), ("pooled", "sam"), ("pooled", None),
        ("done", None),
    ]  # fmt: skip
    assert said[-2]["events"] == said[2]["events"] + said[3]["events"] == 6


def test_options_that_would_be_passed_over_and_figures_inside_a_source_are_refused(tmp_path: Path) -> None:
    session(tmp_path / "c" / "a")
    with pytest.raises(UsageError, match="--window belongs to --pictures"):
        describe([tmp_path / "c"], window="nan")
    with pytest.raises(UsageError, match="must lie apart"):
        describe([tmp_path / "c"], figures=tmp_path / "c" / "figures")
    assert [p.name for p in (tmp_path / "c").iterdir()] == ["a"]


def test_a_session_that_two_scenarios_play_is_read_once_and_pooled_for_each_user(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session(tmp_path / "s", [])
    for user in ("kim", "sam"):
        (tmp_path / user).mkdir()
        (tmp_path / user / "scenario.yaml").write_text(f"session: ../s\nuser: {user}\n", encoding="utf-8")
    assert describe([tmp_path], json=True) == 0
    assert [(r["event"], r.get("user")) for r in records(capsys)][1:4] == [
        ("pooled", "kim"), ("pooled", "sam"), ("pooled", None)
    ]  # fmt: skip


def test_an_image_embedder_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text(
        "import numpy as np\nclass Mine:\n    def embed_images(self, paths):\n"
        "        return np.ones((len(paths), 3), np.float32)\n",
        encoding="utf-8",
    )
    pictured(tmp_path / "s", [half(0.5), half(0.9), half(0.2), half(0.45)], 3)
    describe([tmp_path / "s"], pictures=True, image_embedder=f"{tmp_path / 'mine.py'}:Mine", json=True)
    found = records(capsys)[1]["time_to_event"]
    assert found["times_to_event_s"] == [1.0, 2.0, 3.0], "all alike: the latest first"
    assert found["embedder"].endswith("mine.py:Mine")
    with pytest.raises(UsageError, match="luminance"):
        describe([tmp_path / "s"], pictures=True, image_embedder="luminence")


def test_people_are_told_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session(tmp_path / "a")
    assert describe([tmp_path / "a"], figures=tmp_path / "f") == 0
    told = capsys.readouterr().out
    assert "all together" in told
    assert "Mon 14:00 3 events, 1 with an assistant" in told
    assert (tmp_path / "f" / "figure-3.svg").is_file()
