"""Whatever the stretch: nothing of it is left, everything else is as it was, and the session is sound."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from simulator.core.types import SECOND
from simulator.privacy.forget import plan
from simulator.privacy.scrub import GONE, Scrubber
from simulator.privacy.span import Span
from simulator.session.check import check
from simulator.session.reader import Reader
from simulator.session.store import Writer
from tests.privacy.study import START

N = 12
_INSTANTS = st.none() | st.integers(-2 * SECOND, (N + 2) * SECOND)
_ROWS = ("tick", "captured_ns", "window_title", "file_path")


def _record(folder: Path, ticks: list[int], late_ns: int) -> None:
    """A session with holes, each second another title and every other second another picture."""
    with Writer(folder, session="s", user="sam", utc_anchor_ns=START) as writer:
        for monitor in (1, 2):
            for tick in ticks:
                image = Image.new("RGB", (8, 6), (monitor * 50, tick // 2 * 20, 7))
                writer.add(
                    image=image, tick=tick, captured_ns=tick * SECOND + late_ns, monitor=monitor, app_name="a",
                    window_title=f"title {tick} of {monitor}", text=f"text {tick}.",
                )  # fmt: skip
        for k, start in enumerate(range(0, N, 3)):
            writer.event(
                id=k + 1, start_ns=start * SECOND, end_ns=(start + 3) * SECOND, event_summary=f"summary {k}.",
                is_llm_event=k % 2,
            )  # fmt: skip
        writer.opportunity(id="n", opens_ns=4 * SECOND, closes_ns=6 * SECOND, intention="Translation", query="query n.")


def _in_order(ends: tuple[int | None, int | None]) -> bool:
    return ends[0] is None or ends[1] is None or ends[0] < ends[1]


@settings(max_examples=20)
@given(
    st.tuples(_INSTANTS, _INSTANTS).filter(_in_order),
    st.tuples(st.integers(0, 3), st.sets(st.integers(4, N - 2))).map(lambda t: [t[0], *sorted(t[1]), N - 1]),
    st.sampled_from([0, 3_000_000]),
)
def test_nothing_of_a_stretch_is_left_and_the_rest_is_as_it_was(
    ends: tuple[int | None, int | None], ticks: list[int], late_ns: int
) -> None:
    span = Span(*(None if end is None else START + end for end in ends))
    with TemporaryDirectory() as place:
        folder = Path(place) / "s"
        _record(folder, ticks, late_ns)
        before = _all(folder)
        gone = [row for row in before if span.holds(START + row[1])]
        assert plan("sam", [Path(place)], span).carry_out() == []
        assert plan("sam", [Path(place)], span).items == []
        if len(gone) == len(before):
            assert not folder.exists()
            return
        after = _all(folder)
        firsts = {(before[0][1], 1), (before[0][1], 2)}
        kept = [row for row in before if row not in gone]
        assert [row for row in after if row[2] is not None] == kept
        assert all(row[3] is None and (row[1], row[4]) in firsts for row in after if row[2] is None)
        content = (folder / "session.db").read_bytes()
        for tick, *_ in gone:
            assert f"title {tick} of".encode() not in content
            assert f"text {tick}.".encode() not in content
        files = {p.relative_to(folder).as_posix() for p in folder.rglob("*.webp")}
        assert files == {row[3] for row in kept}
        assert sorted(p.name for p in folder.iterdir()) == ["screenshots", "session.db"]
        assert [f for f in check(folder) if f.severity != "note"] == []
        with Reader(folder, monitor=1) as reader:
            assert (reader.header.zero_ns, reader.header.end_ns) == (
                before[0][1], before[-1][1] + SECOND - before[0][1])  # fmt: skip


def _all(folder: Path) -> list[tuple[int, int, str | None, str | None, int]]:
    db = sqlite3.connect(folder / "session.db")
    try:
        return db.execute(
            f"SELECT {', '.join(_ROWS)}, monitor FROM screenshots ORDER BY captured_ns, monitor"
        ).fetchall()
    finally:
        db.close()


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just("Zanzibar words"),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["kind", "what", "text", "offers", "error", "thread", "notes", "flags", "later",
                                       "intention", "retracted", "event", "Zanzibar key"]), inner, max_size=4),
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["kind", "offers", "error", "notes", "retracted", "later"]), _VALUES))
def test_no_text_comes_through_the_scrubber_wherever_it_stands(record: dict[str, object]) -> None:
    once = Scrubber().record(record)
    assert "Zanzibar" not in str(once)
    assert Scrubber().record(once) == once


def test_numbers_and_words_of_ours_come_through() -> None:
    record = {
        "kind": "offer", "seq": 3, "flags": ["cold"], "stages_ns": {"model": 5}, "cost": None,
        "notes": {"a b": 1, "ab": 2},
        "offers": [{"intention": "Translation", "text": "x", "confidence": 0.5, "thread": "t"}],
        "error": {"kind": "agent_error", "text": "y"},
    }  # fmt: skip
    assert Scrubber().record(record) == {
        **record, "notes": {GONE: 1, "ab": 2}, "error": {"kind": "agent_error", "text": GONE},
        "offers": [{"intention": "Translation", "text": GONE, "confidence": 0.5, "thread": "thread 1"}],
    }  # fmt: skip
