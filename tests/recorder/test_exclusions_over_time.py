"""What was excluded a moment ago, or once showed that it is private, stays so."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from simulator.core.patterns import compile_pattern
from simulator.core.types import MS, SECOND
from simulator.recorder.exclusions import Exclusions, Mask, Verdict
from simulator.recorder.rules import Rule
from simulator.recorder.watch import Look, Watch
from simulator.recorder.windows import Window

RULES = Exclusions(
    rules=(
        Rule("first page", titles=(compile_pattern("^New Incognito Tab"),), remember=True),
        Rule("bank", words=("secret",)),
    )
)
NOTES = Window("xterm", "notes", x=0, y=0, width=4, height=4, key=1, pid=1)
SECRET = Window("chromium", "secret plans", x=5, y=5, width=4, height=4, key=2, pid=2)
MASK = Mask(5, 5, 4, 4, "bank")


def looks(watch: Watch, *windows: Window, at_ns: int, fits: bool = True) -> Verdict:
    look = Look(windows[0] if windows else None, list(windows))
    return watch.judge(look, look, fits_windows=fits, now_ns=at_ns)


def test_a_window_that_came_or_moved_while_the_picture_was_taken_is_masked_in_both_places() -> None:
    moved = replace(SECRET, x=50)
    verdict = Watch(RULES).judge(Look(NOTES, [NOTES]), Look(NOTES, [NOTES, SECRET]), fits_windows=True, now_ns=0)
    assert verdict.masks == (MASK,)
    verdict = Watch(RULES).judge(Look(NOTES, [SECRET]), Look(NOTES, [moved]), fits_windows=True, now_ns=0)
    assert {m.x for m in verdict.masks} == {5, 50}


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.floats(0, 1))
def test_wherever_a_dragged_window_is_between_the_looks_it_is_covered(
    x0: int, y0: int, x1: int, y1: int, part: float
) -> None:
    here, there = replace(SECRET, x=x0, y=y0), replace(SECRET, x=x1, y=y1)
    verdict = Watch(RULES).judge(Look(NOTES, [here]), Look(NOTES, [there]), fits_windows=True, now_ns=0)
    x, y = round(x0 + part * (x1 - x0)), round(y0 + part * (y1 - y0))
    pixels = {(x + i, y + j) for i in range(4) for j in range(4)}
    covered = {(i, j) for i, j in pixels for m in verdict.masks
               if m.x <= i < m.x + m.width and m.y <= j < m.y + m.height}  # fmt: skip
    assert covered == pixels


def test_a_window_that_got_the_focus_while_the_picture_was_taken_hides_what_had_it() -> None:
    verdict = Watch(RULES).judge(Look(NOTES, [NOTES]), Look(SECRET, [SECRET]), fits_windows=True, now_ns=0)
    assert verdict.hide_window
    assert verdict.window is None


def test_what_was_masked_stays_masked_for_one_more_tick() -> None:
    watch = Watch(RULES)
    masks = [
        looks(watch, *windows, at_ns=k * SECOND).masks
        for k, windows in enumerate([(NOTES, SECRET), (NOTES,), (NOTES,), (NOTES,)])
    ]
    assert masks == [(MASK,), (MASK,), (), ()]


def test_at_a_low_rate_the_very_next_tick_still_counts_and_at_a_high_one_the_time() -> None:
    slow, quick = Watch(RULES), Watch(RULES)
    assert looks(slow, SECRET, at_ns=0).masks
    assert looks(slow, NOTES, at_ns=60 * SECOND).masks
    assert not looks(slow, NOTES, at_ns=120 * SECOND).masks
    assert looks(quick, SECRET, at_ns=0).masks
    shown = [bool(looks(quick, NOTES, at_ns=k * 100 * MS).masks) for k in range(1, 20)]
    assert shown == [True] * 15 + [False] * 4


def test_without_lingering_every_tick_stands_alone() -> None:
    watch = Watch(replace(RULES, linger_ns=0))
    assert looks(watch, SECRET, at_ns=0).masks
    assert not looks(watch, NOTES, at_ns=SECOND).masks


def test_after_a_tick_that_could_not_be_masked_the_next_is_not_recorded_either() -> None:
    watch = Watch(RULES)
    assert looks(watch, SECRET, at_ns=0, fits=False).skip == "bank"
    assert looks(watch, NOTES, at_ns=SECOND, fits=False).skip == "bank"
    assert looks(watch, NOTES, at_ns=2 * SECOND, fits=False).skip is None


def test_masks_outlive_a_tick_that_was_skipped_for_another_reason() -> None:
    watch = Watch(RULES)
    assert looks(watch, SECRET, Window(None, None), at_ns=0).skip is not None
    after = looks(watch, NOTES, at_ns=SECOND)
    assert MASK in after.masks


def test_a_private_window_of_chrome_stays_private_whatever_it_shows_afterwards() -> None:
    watch = Watch(RULES)
    page = replace(SECRET, title="Cooking for two - Chromium")
    assert not looks(watch, page, at_ns=0).masks
    assert looks(watch, replace(page, title="New Incognito Tab - Chromium"), at_ns=SECOND).masks
    for k in (10, 1000, 100_000):
        verdict = looks(watch, page, at_ns=k * SECOND)
        assert [m.reason for m in verdict.masks] == ["first page"]
        assert verdict.hide_window
    other = replace(page, key=3)
    looks(watch, other, at_ns=100_001 * SECOND)
    assert not looks(watch, other, at_ns=100_002 * SECOND).masks, "another window of the same program"


_titles = st.sampled_from(["notes", "secret plans", "New Incognito Tab", None])
_window = st.builds(
    Window,
    app=st.just("chromium"),
    title=_titles,
    x=st.integers(0, 3),
    y=st.just(0),
    width=st.integers(1, 3) | st.none(),
    height=st.just(2),
    key=st.integers(0, 2),
    pid=st.just(1),
)
_desk = st.lists(_window, max_size=3, unique_by=lambda w: w.key) | st.none()


@given(st.lists(st.tuples(_desk, _desk), min_size=1, max_size=6))
def test_whatever_windows_do_between_looks_no_excluded_one_is_left_uncovered(
    ticks: list[tuple[list[Window] | None, list[Window] | None]],
) -> None:
    watch = Watch(RULES)
    private: set[int | str | None] = set()
    shown: list[Window] = []
    for k, (before, after) in enumerate(ticks):
        previous, shown = shown, [*(before or ()), *(after or ())]
        private |= {w.key for w in shown if (w.title or "").startswith("New Incognito")}
        verdict = watch.judge(Look(None, before), Look(None, after), fits_windows=True, now_ns=k * SECOND)
        if verdict.skip is not None:
            continue
        assert before is not None
        assert after is not None
        hot = [w for w in (*previous, *shown) if "secret" in (w.title or "")]
        hot += [w for w in shown if w.key in private]
        for w in hot:
            assert any((m.x, m.y, m.width, m.height) == (w.x, w.y, w.width, w.height) for m in verdict.masks)
