"""``proact dataset generate``: what lies in OUT is sound, repeatable, labelled, and can be learnt from."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from PIL import Image

from simulator.cli import _call
from simulator.core.errors import InputError, UsageError
from simulator.core.intentions import INTENTIONS
from simulator.core.types import SECOND, Snapshot
from simulator.session.check import check
from simulator.session.describe import describe
from simulator.session.history import read_table
from simulator.session.opportunities import follow_ups, label_events, questions
from simulator.session.reader import Reader
from simulator.session.scenario import plays
from simulator.session.segmentation import Segmenter
from simulator.session.truth import Assist
from simulator.workload import Person, calibrate, generate
from simulator.workload.making import VERSION, Generated
from simulator.workload.recipe import parse

RECIPES = Path(__file__).parents[2] / "scenarios" / "recipes"
DAY = RECIPES / "day.yaml"


def _files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Generated]:
    out = tmp_path_factory.mktemp("made") / "day"
    return out, generate(DAY, out, users=2, days=8, seed=5)


def test_everything_in_it_is_sound_and_is_found(data: tuple[Path, Generated]) -> None:
    out, made = data
    found = plays([out])
    assert len(found) == made.total("n_sessions") == 4
    for play in found:
        assert check(play.where.parent) == []
        assert len(play.history) == next(u.n_history for u in made.users if u.user == play.user)
        assert play.truth.servable
        assert play.profile["synthetic"].startswith("yes")


def test_it_says_everywhere_that_it_is_synthetic(data: tuple[Path, Generated]) -> None:
    out, _ = data
    assert "SYNTHETIC" in (out / "README.md").read_text()
    assert json.loads((out / "generated.json").read_text())["synthetic"] is True
    for play in plays([out]):
        assert "SYNTHETIC" in play.where.read_text()
        told = describe(play.where.parent)
        assert "synthetic" in told["session"]
        assert told["user"].startswith("synthetic-")
        assert "synthetic" in told["profile"]
        with sqlite3.connect(play.where.with_name("session.db")) as db:
            assert dict(db.execute("SELECT key, value FROM meta"))["synthetic"] == "yes"


def test_the_same_seed_makes_the_same_bytes_and_another_does_not(data: tuple[Path, Generated], tmp_path: Path) -> None:
    out, _ = data
    generate(DAY, tmp_path / "again", users=2, days=8, seed=5)
    assert _files(tmp_path / "again") == _files(out)
    generate(DAY, tmp_path / "other", users=2, days=8, seed=6)
    past = "synthetic-001/history.jsonl"
    assert _files(tmp_path / "other")[past] != _files(out)[past]


def test_the_past_is_the_same_on_every_machine(tmp_path: Path) -> None:
    """Whoever changes what is made raises ``making.VERSION`` and writes the new digests here."""
    for name, digest in (("day", "872883833c35b6c1"), ("office", "39ccfbb7c18508b5")):
        generate(RECIPES / f"{name}.yaml", tmp_path / name, users=1, days=5, seed=7, sessions=0)
        past = (tmp_path / name / "synthetic-001" / "history.jsonl").read_bytes()
        assert (VERSION, sha256(past).hexdigest()[:16]) == (1, digest)


def test_where_every_event_is_one_of_need_the_data_is_sound(tmp_path: Path) -> None:
    raw = yaml.safe_load(DAY.read_text(encoding="utf-8"))
    raw["rhythm"] |= {"shortest_s": 600.0, "assistance_share": 0.4999, "burstiness": 0.42}
    raw["events"]["seconds"] = [[0, 1000], [1, 1200]]
    file = tmp_path / "sparse.yaml"
    file.write_text(json.dumps(raw, default=str))
    made = generate(file, tmp_path / "out", users=1, days=28, seed=1, sessions=3)
    assert made.users[0].ceilings.need_rate == 1.0
    assert made.users[0].ceilings.f1 == 1.0
    assert all(not check(play.where.parent) for play in plays([tmp_path / "out"]))


def test_another_user_changes_no_user(data: tuple[Path, Generated], tmp_path: Path) -> None:
    out, _ = data
    generate(DAY, tmp_path / "more", users=3, days=8, seed=5)
    more = _files(tmp_path / "more")
    for name, content in _files(out).items():
        if name.startswith("synthetic-"):
            assert more[name] == content


def test_the_labels_of_the_past_are_those_of_the_published_rule(data: tuple[Path, Generated]) -> None:
    out, _ = data
    play = plays([out])[0]
    events = [event for event, _ in play.history]
    said = {event.id: label for event, label in play.history if label is not None and not event.assistance}
    lines = [json.loads(line) for line in (out / play.user / "history.jsonl").read_text().splitlines()]
    by_id = {line["id"]: line for line in lines}
    assists = [
        Assist(e.start_ns, e.end_ns, by_id[e.id]["intention"], by_id[e.id]["query"]) for e in events if e.assistance
    ]
    labelled, labeller = label_events(events, questions((), assists))
    assert labeller.n_homeless == labeller.n_passed_over == 0
    ruled = {event.id: label for event, label in labelled if label is not None}
    assert ruled == said
    assert sum(label.help for label in said.values()) > 50


def test_the_needs_of_a_session_are_its_questions_without_follow_ups(data: tuple[Path, Generated]) -> None:
    out, _ = data
    for play in plays([out]):
        truth = play.truth
        follows = follow_ups(truth.assists)
        assert any(follows)
        assert len(truth.opportunities) == len(truth.assists) - sum(follows)
        assert all(need.closes_ns - need.opens_ns <= 60 * SECOND for need in truth.opportunities)
        served = len(truth.servable) / len(truth.opportunities)
        assert served > 0.9


def test_the_counts_told_are_those_that_are_there(data: tuple[Path, Generated]) -> None:
    out, made = data
    for user in made.users:
        lines = [json.loads(x) for x in (out / user.user / "history.jsonl").read_text(encoding="utf-8").splitlines()]
        sessions = [play for play in plays([out]) if play.user == user.user]
        told = [describe(play.where.parent) for play in sessions]
        assert len(lines) == user.n_history
        assert len(lines) + sum(t["events"]["n"] for t in told) == user.n_events
        n_asked = sum(bool(line.get("assistance")) for line in lines) + sum(t["events"]["assistance"] for t in told)
        assert n_asked == user.n_assistance
        assert sum(t["rows"] for t in told) == user.n_rows
        past = Counter(line["intention"] for line in lines if line.get("help"))
        for name, n in past.items():
            assert n <= user.intentions[name]


def test_what_a_player_cuts_out_of_the_rows_are_the_events_of_the_table(data: tuple[Path, Generated]) -> None:
    """No window comes twice in a row: that would be one event to whoever sees the screen only."""
    out, _ = data
    for play in plays([out]):
        with Reader(play.where.parent) as reader:
            columns = ("start_ns", "end_ns", "app_name", "window_title")
            table = [tuple(row) for row in reader.table("events", columns, order="id")]
            segmenter = Segmenter(play.user, "x", "app_title")
            cut = []
            gaps = [(gap.start_ns, gap.end_ns) for gap in reader.header.gaps]
            for captured, app, title in reader.rows(("captured_ns", "app_name", "window_title")):
                while gaps and gaps[0][1] <= captured:
                    cut.append(segmenter.gap(gaps.pop(0)[0]))
                cut.append(segmenter.push(Snapshot(0, captured, captured, app, title)))
            cut.append(segmenter.flush(reader.header.end_ns))
        assert [(e.start_ns, e.end_ns, e.app, e.title) for e in cut if e is not None] == table


def test_titles_look_as_titles_do(data: tuple[Path, Generated]) -> None:
    out, _ = data
    text = (out / "synthetic-001" / "history.jsonl").read_text(encoding="utf-8")
    titles = {json.loads(line)["title"] for line in text.splitlines()}
    assert any(t.endswith(" - Google Chrome") for t in titles)
    assert any("●" in t for t in titles)
    assert any(t.startswith("(3) ") for t in titles)
    assert any("\u4e00" <= c <= "\u9fff" for t in titles for c in t)
    assert len(titles) > 50


@pytest.mark.parametrize(("images", "least", "size"), [("few", 20, (320, 180)), ("all", 200, (96, 64))])
def test_pictures_are_real_ones_of_the_size_asked_for(
    images: Any, least: int, size: tuple[int, int], tmp_path: Path
) -> None:
    generate(DAY, tmp_path / "x", users=1, days=1, seed=1, sessions=1, images=images, size=size)
    (play,) = plays([tmp_path / "x"])
    told = describe(play.where.parent)
    assert told["distinct_images"] >= least
    assert told["rows_with_image"] == told["rows"]
    assert check(play.where.parent) == []
    with Image.open(next(play.where.parent.rglob("*.webp"))) as picture:
        assert picture.size == size


def test_no_sessions_is_history_only_and_many_are_all(tmp_path: Path) -> None:
    past = generate(DAY, tmp_path / "past", users=1, days=5, seed=1, sessions=0)
    assert past.total("n_sessions") == 0
    assert past.total("n_history") == past.total("n_events") > 500
    days = generate(DAY, tmp_path / "days", users=1, days=5, seed=1, sessions=5)
    assert days.total("n_sessions") == 5
    assert days.total("n_history") == 0
    assert len(plays([tmp_path / "days"])) == 5


def test_a_folder_that_holds_something_is_left_alone_and_a_fault_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("x")
    with pytest.raises(InputError, match="holds something"):
        generate(DAY, out, users=1, days=1, seed=0)
    assert [p.name for p in out.iterdir()] == ["mine"]

    def fails(_: object) -> None:
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        generate(DAY, tmp_path / "new", users=1, days=1, seed=0, progress=fails)
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    "wrong",
    [{"users": 0}, {"days": 0}, {"seed": -1}, {"sessions": 9}, {"images": "some"}, {"size": (10, 10)}, {"days": 10**6}],
)
def test_numbers_out_of_range_are_refused(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        generate(DAY, tmp_path / "x", **({"users": 1, "days": 2, "seed": 0} | wrong))
    assert not (tmp_path / "x").exists()


def test_the_command_tells_what_it_made(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["dataset", "generate", str(DAY), str(tmp_path / "x"), "--users", "1", "--days", "2", "--json"]
    assert _call(words) == 0
    records = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [r["event"] for r in records] == ["generated", "done"]
    assert records[-1]["synthetic"] is True
    assert records[-1]["n_events"] == records[0]["n_events"]
    assert _call([*words[:3], str(tmp_path / "y"), "--size", "big"]) == 2
    assert "1920x1080" in capfd.readouterr().err


def test_a_memory_learns_strong_habits_and_nothing_where_there_are_none(tmp_path: Path) -> None:
    found: dict[tuple[str, str], dict[str, float]] = {}
    most: dict[str, float] = {}
    for name in ("habits-strong", "habits-none"):
        made = generate(RECIPES / f"{name}.yaml", tmp_path / name, users=1, days=18, seed=3, sessions=2)
        most[name] = made.users[0].ceilings.balanced_accuracy
        for memory in ("none", "rag", "graph") if name == "habits-strong" else ("rag",):
            run = tmp_path / f"{name}-{memory}"
            words = ["run", str(tmp_path / name), "--memory", memory, "--protocol", "moments", "--clock", "modelled"]
            assert _call([*words, "--latency", "fixed:0ms", "--out", str(run)]) == 0
            found[name, memory] = json.loads((run / "scores.json").read_text())["scores"]
    assert found["habits-strong", "none"]["accuracy"] == 0.5
    for memory in ("rag", "graph"):
        strong = found["habits-strong", memory]
        assert 0.7 < strong["accuracy"] < most["habits-strong"] + 0.05  # some 150 moments
        assert strong["intention_accuracy"] > 0.45
    none = found["habits-none", "rag"]
    assert abs(none["accuracy"] - most["habits-none"]) < 0.1
    assert none["intention_accuracy"] < 0.351 + 0.1


_SHARES = st.lists(st.integers(1, 20), min_size=1, max_size=6).map(lambda n: [x / sum(n) for x in n])


@st.composite
def _recipes(draw: st.DrawFn) -> dict[str, Any]:
    apps, wants = draw(_SHARES), draw(_SHARES)
    window = draw(st.floats(0, 1))
    start, length = draw(st.integers(3, 9)), draw(st.integers(3, 9))
    days = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
    return {
        "name": "any",
        "first_day": "2026-03-02",
        "week": {
            "chance": {day: draw(st.floats(0.3, 1)) for day in days},
            "spans": [f"{start:02}:00-{start + length:02}:30"],
            "spread_min": draw(st.floats(0, 59)),
        },
        "rhythm": {
            "exponent": draw(st.floats(1.3, 2)),
            "burstiness": 0.8,
            "shortest_s": draw(st.floats(6, 30)),
            "assistance_share": draw(st.floats(0.2, 0.35)),
        },
        "events": {
            "seconds": [[0, 3], [0.5, draw(st.floats(4, 40))], [1, draw(st.floats(60, 900))]],
            "assistance_seconds": [[0, 3], [1, draw(st.floats(10, 300))]],
            "rows_every_s": draw(st.integers(1, 60)),
        },
        "apps": {f"app{i}.exe": share for i, share in enumerate(apps)},
        "topics_per_app": draw(st.integers(1, 20)),
        "chinese": draw(st.floats(0, 1)),
        "intentions": {INTENTIONS[i]: share for i, share in enumerate(wants)},
        "habits": {
            "help": draw(st.floats(0, 1)),
            "asking_share": draw(st.floats(0.05, 0.9)),
            "window": window,
            "previous_app": draw(st.floats(0, 1)) * (1 - window) * 0.999,
            "afternoon": draw(st.floats(0, 1)),
        },
    }


@settings(max_examples=6, deadline=None, derandomize=True, phases=[Phase.generate])  # shrinking takes minutes
@given(raw=_recipes(), seed=st.integers(0, 2**40))
def test_any_recipe_gives_sound_data_or_is_refused_in_a_sentence(
    raw: dict[str, Any], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("any")
    file = place / "any.yaml"
    file.write_text(yaml.safe_dump(raw))  # JSON's 5e-324 is a text in YAML
    try:
        made = generate(file, place / "out", users=1, days=7, seed=seed, sessions=2)
    except InputError as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert "rhythm." in refused  # these hours cannot have that burstiness, or that share
        assert not (place / "out").exists()
        return
    n = made.total("n_sessions")  # on a day of work there may be no event: then it is no session
    found = plays([place / "out"]) if n else []
    assert len(found) == n
    for play in found:
        assert not [f for f in check(play.where.parent) if f.severity != "note"]
    person = Person(parse(raw, file), calibrate(parse(raw, file), file), seed, "synthetic-001", 7)
    events = list(person.events())
    assert len(events) == made.total("n_events")
    assert all(a.end_s <= b.start_s for a, b in pairwise(events))
    assert all(e.end_s - e.start_s >= 3 for e in events)
    bounds = made.users[0].ceilings
    assert bounds.intention_floor - 1e-9 <= bounds.intention_window <= bounds.intention_all + 1e-9 <= 1 + 1e-6
    assert bounds.f1_floor - 1e-9 <= bounds.f1 <= 1 + 1e-9
    assert 0.5 - 1e-9 <= bounds.balanced_accuracy <= 1 + 1e-9
    past = read_table(place / "out" / "synthetic-001" / "history.jsonl", "x", 10**19, lambda name: name)
    assert len(past) == made.total("n_history")
