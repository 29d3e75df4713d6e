"""What a rule excludes, and that nothing excluded comes through whatever windows there are."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.core.patterns import PIECE, compile_pattern
from simulator.recorder.exclusions import CUT, OWN, OWN_MARK, PAGE_MARK, PANEL, UNSEEN, UNTITLED, Exclusions, Verdict
from simulator.recorder.rectangles import Rect, left_over
from simulator.recorder.rules import Rule
from simulator.recorder.titles import TitlePolicy
from simulator.recorder.windows import Window

SIDE = 24  # pixels of the little desktops below
BANK = Rule("bank", apps=("bankapp",), words=("secret",), titles=(compile_pattern("^vault$"),))
RULES = Exclusions(rules=(BANK,), panels=Rule(PANEL, apps=("tint2",)))


def window(title: str | None = "notes", app: str | None = "xterm", **more: object) -> Window:
    place = {"x": 0, "y": 0, "width": 4, "height": 4}
    return Window(app, title, **{**place, **more})  # type: ignore[arg-type]


_edge = st.integers(-SIDE // 2, SIDE)
_size = st.integers(0, SIDE)
_windows = st.builds(
    Window,
    app=st.sampled_from(["xterm", "bankapp", "chromium", "tint2", None]),
    title=st.sampled_from(["notes", "my secret page", "vault", "Inbox", OWN_MARK, "", None]),
    window_class=st.sampled_from([None, "XTerm"]),
    pid=st.sampled_from([None, 1, 2]),
    x=_edge | st.none(),
    y=_edge,
    width=_size | st.none(),
    height=_size,
    key=st.integers(0, 3) | st.none(),
    kind=st.sampled_from(["normal", "popup", "desktop", None]),
)
_located = st.builds(
    Window,
    app=st.sampled_from(["xterm", "bankapp", "chromium", "tint2"]),
    title=st.sampled_from(["notes", "my secret page", "vault", "Inbox", OWN_MARK, None]),
    pid=st.sampled_from([None, 1, 2]),
    x=_edge,
    y=_edge,
    width=_size,
    height=_size,
    key=st.integers(0, 3),
    kind=st.sampled_from(["normal", "dialog", "popup", None]),
)


def painted(windows: Sequence[Window], skin: int = 0, side: int = SIDE) -> np.ndarray:
    """The number of the window that shows at each pixel, front to back; -1 for the background.

    The outermost ``skin`` pixels of windows are transparent, as round corners and shadows are.
    """
    screen = np.full((side, side), -1)
    for n in reversed(range(len(windows))):
        w = windows[n]
        assert w.x is not None
        assert w.y is not None
        assert w.width is not None
        assert w.height is not None
        left, top = max(0, w.x + skin), max(0, w.y + skin)
        screen[top : max(0, w.y + w.height - skin), left : max(0, w.x + w.width - skin)] = n
    return screen


def covered(verdict: Verdict, side: int = SIDE) -> np.ndarray:
    mask = np.zeros((side, side), bool)
    for m in verdict.masks:
        mask[max(0, m.y) : max(0, m.y + m.height), max(0, m.x) : max(0, m.x + m.width)] = True
    return mask


@given(st.lists(_windows, max_size=6), st.sampled_from(["mask", "show"]), st.booleans(), st.data())
def test_no_pixel_and_no_title_of_an_excluded_window_comes_through(
    windows: list[Window], how: Literal["mask", "show"], fits: bool, data: st.DataObject
) -> None:
    rules = replace(RULES, covered=how)
    foreground = data.draw(st.none() | st.sampled_from(windows)) if windows else None
    verdict = rules.judge(foreground, windows, fits_windows=fits)
    excluded = [w for w in windows if BANK.matches(w)]
    if foreground is not None and BANK.matches(foreground):
        assert verdict.hide_window
    if verdict.window is not None:
        assert not BANK.matches(verdict.window)
    if verdict.skip is not None:
        return
    if excluded:
        assert fits
    assert all(None not in (w.x, w.y, w.width, w.height) for w in excluded)
    mask = covered(verdict)
    if how == "mask" or all(w.x is not None and w.width is not None for w in windows):
        shown = painted(excluded if how == "mask" else windows) if excluded else np.full((SIDE, SIDE), -1)
        hot = [n for n, w in enumerate(excluded if how == "mask" else windows) if BANK.matches(w)]
        assert not (np.isin(shown, hot) & ~mask).any()


@settings(max_examples=300)
@given(st.lists(_located, min_size=2, max_size=4))
def test_what_lies_under_the_edges_of_a_window_in_front_is_masked_too(windows: list[Window]) -> None:
    large = [replace(w, x=w.x * 4, y=w.y * 4, width=w.width * 8, height=w.height * 8) for w in windows]  # type: ignore[operator]
    verdict = replace(RULES, covered="show").judge(None, large)
    assert verdict.skip is None
    hot = [n for n, w in enumerate(large) if BANK.matches(w)]
    assert not (np.isin(painted(large, 16, SIDE * 8), hot) & ~covered(verdict, SIDE * 8)).any()


@given(st.lists(_windows, max_size=5))
def test_windows_that_cannot_be_told_cost_the_tick(windows: list[Window]) -> None:
    for foreground in (None, *windows):
        assert RULES.judge(foreground, None).skip is not None


@given(st.lists(_located, max_size=6), st.sampled_from(["mask", "show"]))
def test_reasons_are_names_of_rules_and_never_titles(windows: list[Window], how: Literal["mask", "show"]) -> None:
    verdict = replace(RULES, covered=how).judge(windows[0] if windows else None, windows)
    assert {m.reason for m in verdict.masks} <= {"bank", OWN, PANEL, UNTITLED}
    assert verdict.skip in (None, UNSEEN, "bank", PANEL, UNTITLED)


@given(st.builds(Rect, _edge, _edge, _size, _size), st.lists(st.builds(Rect, _edge, _edge, _size, _size), max_size=4))
def test_what_covers_leave_of_a_rectangle_is_exact_and_in_one_piece_each(rect: Rect, covers: list[Rect]) -> None:
    def pixels(r: Rect) -> set[tuple[int, int]]:
        return {(x, y) for x in range(r.x, r.x + r.width) for y in range(r.y, r.y + r.height)}

    parts = left_over(rect, covers)
    counted = [p for part in parts for p in pixels(part)]
    assert len(counted) == len(set(counted))
    assert set(counted) == pixels(rect).difference(*map(pixels, covers))


def test_a_window_that_is_visible_but_not_focused_is_masked_and_the_focused_one_kept() -> None:
    front, behind = window(), window("secret plans", "chromium", x=9, y=2)
    verdict = RULES.judge(front, [front, behind])
    assert [(m.x, m.y, m.width, m.height, m.reason) for m in verdict.masks] == [(9, 2, 4, 4, "bank")]
    assert (verdict.hide_window, verdict.skip, verdict.window) == (False, None, front)


def test_of_an_excluded_window_in_front_nothing_is_stored() -> None:
    front = window("secret plans")
    verdict = RULES.judge(front, [front])
    assert verdict.hide_window
    assert verdict.window is None
    assert verdict.masks


def test_a_title_that_changed_between_two_questions_counts_in_both_spellings() -> None:
    old, new = window("secret plans", key=7), window("notes", key=7)
    assert RULES.judge(old, [new]).hide_window
    assert RULES.judge(old, [new]).masks
    assert RULES.judge(new, [old]).masks


def test_where_masks_would_not_hit_an_excluded_window_costs_the_tick() -> None:
    hidden = window("secret plans")
    assert RULES.judge(None, [hidden], fits_windows=False).skip == "bank"
    assert RULES.judge(None, [replace(hidden, x=None)]).skip == "bank"
    assert RULES.judge(None, [window()], fits_windows=False).skip is None


def test_accepting_unseen_windows_records_blindly_but_never_what_is_known_to_be_excluded() -> None:
    blind = replace(RULES, accept_unseen_windows=True)
    assert RULES.judge(None, None).skip == UNSEEN
    assert blind.judge(None, None).skip is None
    assert blind.judge(window("secret"), None, fits_windows=False).skip == "bank"
    assert blind.judge(None, [Window(None, None)]).skip is None


def test_a_window_that_cannot_be_asked_costs_the_tick() -> None:
    assert RULES.judge(None, [window(), Window(None, None)]).skip == UNSEEN


def test_menus_go_with_the_windows_of_their_program() -> None:
    menu = window(None, "chromium", pid=5, x=10)
    page, other = window("a secret page", "chromium", pid=5), window("a page", "chromium", pid=6)
    assert len(RULES.judge(None, [menu, page]).masks) == 2
    assert RULES.judge(None, [menu, other, window("b", "chromium", pid=5)]).masks == ()
    assert RULES.judge(None, [menu, other]).masks[0].reason == UNTITLED  # whose page it is cannot be told


MENU: dict[str, Any] = {"app": "mousepad", "title": "Mousepad", "pid": 5, "x": 10, "kind": "popup_menu"}


@pytest.mark.parametrize(
    "menu",
    [
        window(**MENU),
        window(**{**MENU, "kind": "tooltip", "title": "All open files: secret"}),
        window(**{**MENU, "kind": "popup"}),
        window(**{**MENU, "kind": "dialog", "app": "org.xfce.Mousepad"}),
        window(**{**MENU, "kind": "dialog", "title": "Save As", "pid": None, "app": "portal", "owner": 1}),
        window(**{**MENU, "kind": "dialog", "title": "Replace?", "owner": 3}),
    ],
)
def test_a_menu_or_dialog_that_bears_the_name_of_its_program_goes_with_an_excluded_window(menu: Window) -> None:
    page = window("a secret page", "mousepad", pid=5, key=1, kind="normal")
    between = window("Find", "mousepad", pid=5, key=3, owner=1, kind="dialog", x=20)
    other = window("shopping list", "mousepad", pid=5, key=2, kind="normal", x=30)
    masks = RULES.judge(page, [menu, between, other, page]).masks
    assert [(m.x, m.reason) for m in masks] == [(10, "bank"), (20, "bank"), (0, "bank")]
    allowed = replace(page, title="a page")
    assert RULES.judge(allowed, [replace(menu, title="Mousepad"), between, other, allowed]).masks == ()
    stranger = replace(page, app="xterm", pid=6, key=9)
    assert [m.x for m in RULES.judge(None, [replace(menu, title="Mousepad"), between, other, stranger]).masks] == [0]


def test_a_dialog_of_its_own_title_that_belongs_to_nothing_excluded_is_judged_by_it() -> None:
    page = window("a secret page", "mousepad", pid=5, key=1, kind="normal")
    chooser = window("Open File", "mousepad", pid=5, key=3, kind="dialog", x=20)
    assert [m.x for m in RULES.judge(page, [chooser, page]).masks] == [0]
    ring = [replace(chooser, owner=4), window("Find", "mousepad", pid=5, key=4, owner=3, kind="dialog", x=20)]
    assert [m.x for m in RULES.judge(page, [*ring, page]).masks] == [0]
    unnamed = replace(chooser, title="Mousepad")
    alone = [unnamed, window("shopping list", "mousepad", pid=6, key=2, kind="normal")]
    assert RULES.judge(None, [*alone, replace(page, app="other", pid=7, x=9)]).masks[0].x == 9


def test_a_menu_of_a_browser_says_whose_page_it_is_by_no_name() -> None:
    menus = [window("Firefox", "firefox", pid=5, x=10, kind="popup_menu", key=n) for n in (1, 2)]
    assert [m.reason for m in RULES.judge(None, menus).masks] == [UNTITLED]
    assert RULES.judge(None, [*menus, window("a page", "firefox", pid=5, kind="normal")]).masks == ()


def test_a_window_that_is_only_listed_in_a_panel_costs_the_panel_and_no_menus() -> None:
    listed = window("a secret page", "chromium", pid=5, kind="listed", y=20, width=20)
    page, menu = window("a page", "chromium", pid=5), window(None, "chromium", pid=5, x=10)
    assert [m.y for m in RULES.judge(page, [listed, menu, page]).masks] == [20]


def test_a_popup_of_nobody_goes_with_anything_excluded() -> None:
    popup = Window(None, None, "Popup", x=9, y=9, width=3, height=3)
    assert RULES.judge(None, [popup, window()]).masks == ()
    assert len(RULES.judge(None, [popup, window("secret")]).masks) == 2


def test_task_bars_are_masked_beside_something_excluded() -> None:
    bar = window("tint2", "tint2", y=20)
    dock = replace(RULES, panels=Rule(PANEL, kinds=("dock",)))
    assert [m.reason for m in dock.judge(None, [window(kind="dock"), window("secret", x=9)]).masks] == [PANEL, "bank"]
    assert RULES.judge(None, [bar, window()]).masks == ()
    assert [m.reason for m in RULES.judge(None, [bar, window("secret")]).masks] == [PANEL, "bank"]
    assert RULES.judge(None, [bar, window(OWN_MARK)]).masks[0].reason == OWN
    assert replace(RULES, mask_panels="always").judge(None, [bar]).masks[0].reason == PANEL
    assert len(replace(RULES, mask_panels="never").judge(None, [bar, window("secret")]).masks) == 1


def test_a_window_in_front_uncovers_only_where_the_user_takes_windows_for_opaque() -> None:
    front, behind = window(kind="normal", width=100, height=100), window("secret", width=100, height=100)
    assert RULES.judge(None, [front, behind]).masks[0].width == 100
    show = replace(RULES, covered="show")
    frame = covered(show.judge(None, [replace(front, x=-50, y=-50, width=200, height=200), behind]))
    assert not frame.any(), "well within a window in front nothing need be masked"
    assert len(show.judge(None, [front, behind]).masks) == 4
    assert len(show.judge(None, [replace(front, kind="popup"), behind]).masks) == 1


def test_notifications_can_be_excluded_by_what_sort_of_window_they_are() -> None:
    rule = Rule("notifications", kinds=("notification",))
    assert rule.matches(window(kind="notification"))
    assert not rule.matches(window(kind="normal"))


def test_work_in_front_of_our_own_window_is_recorded_whatever_is_masked_otherwise() -> None:
    own = window(OWN_MARK, kind="normal", width=1920, height=1080)
    front = window("notes", kind="normal", x=100, y=100, width=800, height=600)
    seen = RULES.judge(front, [front, own])
    inside = [m for m in seen.masks if m.x < 500 < m.x + m.width and m.y < 400 < m.y + m.height]
    assert seen.masks
    assert not inside, "a maximised terminal does not blind the agent"
    assert not seen.own_missing
    over = window("notes", kind="normal", x=-50, y=-50, width=2200, height=1300)
    assert RULES.judge(over, [over, own]).masks == ()
    assert not RULES.judge(over, [over, own]).own_missing


def test_our_own_window_is_masked_and_told_where_it_is_not_found() -> None:
    own = window(f"~ {OWN_MARK}", x=7)
    seen = RULES.judge(own, [own, window()])
    assert [(m.x, m.reason) for m in seen.masks] == [(7, OWN)]
    assert seen.hide_window
    assert not seen.own_missing
    assert RULES.judge(None, [window()]).own_missing
    lost = RULES.judge(None, [replace(own, width=None), window()])
    assert (lost.own_missing, lost.skip) == (True, None)  # a nuisance on the picture, no secret
    assert RULES.judge(None, [own], fits_windows=False).own_missing
    both = window(f"secret {OWN_MARK}", x=None)
    assert RULES.judge(None, [both]).skip == "bank", "our mark is no way past a rule"


def test_a_terminal_that_takes_no_title_is_our_own_by_its_number_and_process() -> None:
    rules = replace(RULES, own=frozenset({(5, 40), (5, 41)}))
    seen = rules.judge(None, [window("xterm", x=7, key=5, pid=41), window("xterm", x=9, key=5, pid=42), window()])
    assert [(m.x, m.reason) for m in seen.masks] == [(7, OWN)]
    assert not seen.own_missing
    assert rules.judge(None, [window("secret", key=5, pid=41)]).masks[0].reason == "bank", "and no way past a rule"
    assert rules.digest() == RULES.digest(), "a recording that goes on does so in another terminal"


@pytest.mark.skipif(sys.platform != "linux", reason="told by Linux only")
def test_a_process_knows_by_whom_it_was_started() -> None:
    said = "import os; from simulator.recorder.processes import ancestors; print(ancestors()[:2])"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str((os.getpid(), os.getppid()))


def test_a_page_of_a_live_run_is_told_from_its_terminal() -> None:
    terminal, page = window(OWN_MARK), window(f"{PAGE_MARK} proact - Chromium")
    assert RULES.judge(None, [terminal]).page_missing
    seen = RULES.judge(None, [terminal, page])
    assert (seen.own_missing, seen.page_missing) == (False, False)
    assert RULES.judge(None, [page]).own_missing is False
    assert not seen.joined(RULES.judge(None, [terminal])).page_missing, "one of two looks found it"


def test_a_window_of_no_size_shows_nothing() -> None:
    assert RULES.judge(None, [window("secret", width=0)]) == Verdict(own_missing=True)


def test_two_looks_join_to_what_both_allow() -> None:
    one, two = RULES.judge(window(), [window()]), RULES.judge(window("secret"), [window("secret")])
    joined = one.joined(two)
    assert (joined.hide_window, joined.window, joined.masks) == (True, None, two.masks)
    assert one.joined(RULES.judge(None, None)).skip == UNSEEN
    own = RULES.judge(None, [window(OWN_MARK)])
    assert (own.joined(one).own_missing, one.joined(own).own_missing, one.joined(one).own_missing) == (
        False,
        False,
        True,
    )


def test_invisible_and_wide_characters_hide_no_title_from_a_pattern() -> None:
    rule = Rule("r", titles=(compile_pattern("private browsing"), compile_pattern("（秘密）")))
    assert rule.matches(window("Firefox Priv\u200bate  Browsing"))
    assert rule.matches(window("Firefox Ｐrivate\u00a0Browsing"))
    assert rule.matches(window("页（秘密）"))


@pytest.mark.parametrize(
    ("word", "title", "found"),
    [
        ("bank", "My Bank - Chromium", True),
        ("bank", "my_bank_statement.pdf", True),
        ("bank", "Stadtbank", False),
        ("bank", "Bankier and bank", True),
        ("*bank", "Stadtbank", True),
        ("*bank", "Bankier", False),
        ("bank*", "Bankier", True),
        ("Société Générale", "SOCIETE GENERALE | accueil", True),
        ("privat surfning", "x — Mozilla Firefox Privat\u00a0sur\u200bfning", True),
        ("银行", "中国银行网上服务", True),
        ("（隐私浏览）", "页 - Mozilla Firefox （隐私浏览）", True),
        ("(隐私浏览)", "页 - Mozilla Firefox （隐私浏览）", True),
        ("N26", "N26 – mein Konto", True),
        ("N26", "N261", False),
        ("E*TRADE", "E*TRADE login", True),
    ],
)
def test_words_are_whole_words_whatever_case_accents_and_script(word: str, title: str, found: bool) -> None:
    assert Rule("r", words=(word,)).matches(window(title)) is found


@pytest.mark.parametrize(
    ("pattern", "app", "found"),
    [
        ("keepassxc", "org.keepassxc.KeePassXC", True),
        ("keepass*", "KeePass.exe", True),
        ("*1password*", r"C:\Apps\1Password.exe", True),
        ("signal", "Signal Beta", True),
        ("code", "codeblocks", False),
    ],
)
def test_applications_are_known_in_any_spelling(pattern: str, app: str, found: bool) -> None:
    assert Rule("r", apps=(pattern,)).matches(window(None, app)) is found
    assert Rule("r", apps=(pattern,)).matches(window(None, None, window_class=app)) is found


def test_a_rule_for_some_classes_holds_where_the_class_is_unknown() -> None:
    rule = Rule("r", words=("secret",), only_in=("browser",))
    assert [rule.matches(window("secret", app)) for app in ("firefox", "xterm", "never heard of", None)] == [
        True, False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize("at", [0, 240, 260, 499, 510, 5000, 9990])
def test_no_title_is_so_long_that_its_end_is_not_seen(at: int) -> None:
    title = "x" * at + " vault-door " + "y" * (10_000 - at)
    assert Rule("r", titles=(compile_pattern("vault.door"),)).matches(window(title))
    assert Rule("r", words=("vault-door",)).matches(window(title))


def test_a_title_that_was_cut_may_have_lost_its_mark_and_is_excluded() -> None:
    cut = window("x" * 10_240, title_cut=True)
    assert RULES.judge(cut, [cut]).masks[0].reason == CUT
    assert RULES.judge(cut, [cut]).hide_window
    assert RULES.judge(None, [window("x" * 10_240)]).masks == ()


def test_titles_are_kept_replaced_hashed_or_dropped() -> None:
    shown = window("order 123456 of bob")

    def stored(policy: TitlePolicy) -> str | None:
        kept = replace(RULES, titles=policy).judge(shown, [shown]).window
        assert kept is not None
        return kept.title

    assert stored(TitlePolicy()) == shown.title
    assert stored(TitlePolicy("none")) is None
    replaced = TitlePolicy("replaced", ((compile_pattern(r"\d{4,}"), r"\1"), (compile_pattern("bob"), "N")))
    assert stored(replaced) == r"order \1 of N"
    assert replaced.of("x" * 9_999 + "bob") == "x" * PIECE, "what patterns would not examine is not kept"
    hashed = TitlePolicy("hash")
    assert stored(hashed) == stored(hashed)
    assert "bob" not in (stored(hashed) or "")
    assert stored(hashed) != stored(TitlePolicy("hash")), "two recordings share no words for titles"
