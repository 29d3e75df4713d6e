"""The windows of a real X server: what is in front, what is to be seen, and whatever can go wrong with either."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simulator.core.types import SECOND
from simulator.recorder.lockers import LockHint
from simulator.recorder.windows import TITLE_LIMIT, Window
from simulator.recorder.windows_x11 import X11Windows
from simulator.recorder.windows_x11_link import Link
from simulator.timing.clock import real_ns
from tests.desks import Desk, DeskWindow, until


class Hint(LockHint):
    """A session manager that says what it is told to."""

    def __init__(self, says: bool | None = None) -> None:
        super().__init__()
        self.says = says

    def locked(self) -> bool | None:
        return self.says


@pytest.fixture(scope="module")
def managed() -> Iterator[Desk]:
    with Desk(800, 600, manager=True) as desk:
        yield desk


@pytest.fixture(scope="module")
def bare() -> Iterator[Desk]:
    with Desk(800, 600) as desk:
        yield desk


@pytest.fixture
def opened() -> Iterator[list[DeskWindow]]:
    """Windows to be closed after the test."""
    windows: list[DeskWindow] = []
    yield windows
    for window in windows:
        window.close()


@pytest.fixture
def probes() -> Iterator[list[X11Windows]]:
    found: list[X11Windows] = []
    yield found
    for probe in found:
        probe.close()


def probe_of(desk: Desk, probes: list[X11Windows], **options: Any) -> X11Windows:
    probes.append(X11Windows(desk.display, **{"hint": Hint(), **options}))
    return probes[-1]


def keys(windows: list[Window] | None) -> list[object]:
    assert windows is not None
    return [window.key for window in windows]


def set_property(window: DeskWindow, name: str, kind: str, size: int, value: Any) -> None:
    connection = window.desk.connection
    window.x.change_property(connection.get_atom(name), connection.get_atom(kind), size, value)
    connection.sync()


def test_the_window_in_front_is_told_with_its_frame(
    managed: Desk, opened: list[DeskWindow], probes: list[X11Windows]
) -> None:
    window = managed.window(
        "proj: bash", wm_class=("xterm", "XTerm"), x=40, y=30, width=300, height=200, pid=os.getpid()
    )
    opened.append(window)
    window.front()
    probe = probe_of(managed, probes)
    seen = probe.foreground()
    until(lambda: window.x.query_tree().parent.id != managed.root.id, "a frame around the window")
    frame = window.x.query_tree().parent
    place = frame.get_geometry()
    assert seen == Window(
        app="XTerm",
        title="proj: bash",
        window_class="XTerm",
        pid=os.getpid(),
        x=place.x,
        y=place.y,
        width=place.width,
        height=place.height,
        key=window.id,
        kind="normal",
    )
    assert seen.width is not None
    assert seen.height is not None
    assert seen.width >= 300
    assert seen.height > 200  # the title bar
    assert probe.visible() == [seen]


def test_windows_are_listed_front_to_back_covered_ones_too(
    managed: Desk, opened: list[DeskWindow], probes: list[X11Windows]
) -> None:
    opened += [managed.window(f"window {n}", x=50, y=50) for n in range(3)]
    probe = probe_of(managed, probes)
    opened[0].front()
    assert keys(probe.visible())[0] == opened[0].id
    opened[1].front()
    assert keys(probe.visible()) == [opened[1].id, opened[0].id, opened[2].id]
    seen = probe.foreground()
    assert seen is not None
    assert seen.key == opened[1].id


def test_minimised_windows_and_those_of_other_desktops_are_not_listed(
    managed: Desk, opened: list[DeskWindow], probes: list[X11Windows]
) -> None:
    opened += [managed.window(f"window {n}", x=50 * n, y=50) for n in range(3)]
    probe = probe_of(managed, probes)
    assert len(keys(probe.visible())) == 3
    opened[0].iconify()
    _to_desktop(opened[1], 1)
    assert keys(probe.visible()) == [opened[2].id]


def test_a_menu_is_listed_and_stays_out_of_the_foreground(
    managed: Desk, opened: list[DeskWindow], probes: list[X11Windows]
) -> None:
    opened.append(managed.window("editor", x=50, y=50))
    opened[0].front()
    opened.append(managed.window(None, wm_class=None, x=400, y=300, width=150, height=90, popup=True))
    probe = probe_of(managed, probes)
    shown = probe.visible()
    assert shown is not None
    menu = shown[0]
    assert (menu.kind, menu.title, menu.window_class) == ("popup", None, None)
    assert (menu.x, menu.y, menu.width, menu.height) == (400, 300, 150, 90)
    assert menu.pid == os.getpid()  # the X server knows whose connection it is
    assert menu.app == Path("/proc/self/comm").read_text().strip()
    seen = probe.foreground()
    assert seen is not None
    assert seen.title == "editor"


def test_a_window_wholly_off_the_screen_is_not_to_be_seen(
    bare: Desk, opened: list[DeskWindow], probes: list[X11Windows]
) -> None:
    opened += [bare.window(x=-200, y=0), bare.window(x=-199, y=0), bare.window(x=800, y=0), bare.window(x=0, y=599)]
    assert keys(probe_of(bare, probes).visible()) == [opened[3].id, opened[1].id]


def test_titles_of_hidden_windows_are_listed_where_a_panel_shows_them(
    managed: Desk, opened: list[DeskWindow], probes: list[X11Windows]
) -> None:
    panel = managed.window("panel", x=0, y=570, width=800, height=30, show=False)
    set_property(panel, "_NET_WM_WINDOW_TYPE", "ATOM", 32, [managed.connection.get_atom("_NET_WM_WINDOW_TYPE_DOCK")])
    panel.show()
    opened += [panel, managed.window("secret"), managed.window("open")]
    opened[1].iconify()
    shown = probe_of(managed, probes).visible()
    assert shown is not None
    by_title = {window.title: window for window in shown}
    dock, secret = by_title["panel"], by_title["secret"]
    assert [dock.kind, secret.kind, by_title["open"].kind] == ["dock", "listed", "normal"]
    assert (secret.x, secret.y, secret.width, secret.height) == (dock.x, dock.y, dock.width, dock.height)
    assert shown.index(secret) < shown.index(dock)


def test_titles_are_listed_on_the_bars_of_the_window_manager_itself(probes: list[X11Windows]) -> None:
    from Xlib import display

    with Desk(400, 300) as desk:  # as i3 with tabs: a bar of its own, the window in front, others unmapped
        manager = display.Display(desk.display)
        try:
            root = manager.screen().root
            check, bar, edge = (
                root.create_window(0, 0, 400, height, 0, 24, override_redirect=1) for height in (20, 20, 6)
            )
            marks = {"_NET_SUPPORTING_WM_CHECK": [check.id], "_NET_CLIENT_LIST": []}
            front, behind = desk.window("front", x=0, y=20), desk.window("behind", show=False)
            desk.window("a menu", x=30, y=30, popup=True)
            marks["_NET_CLIENT_LIST"] = [front.id, behind.id]
            for name, value in marks.items():
                root.change_property(manager.get_atom(name), manager.get_atom("WINDOW"), 32, value)
            check.change_property(
                manager.get_atom("_NET_SUPPORTING_WM_CHECK"), manager.get_atom("WINDOW"), 32, [check.id]
            )
            manager.sync()
            probe = probe_of(desk, probes)
            shown = probe.visible()
            assert shown is not None
            assert "listed" not in [window.kind for window in shown]
            bar.map()
            edge.map()  # no title has room on it
            manager.sync()
            shown = probe.visible()
            assert shown is not None
            assert [(w.title, w.y, w.height) for w in shown if w.kind == "listed"] == [
                ("front", 0, 20),
                ("behind", 0, 20),
            ]
            assert [w.title for w in shown if w.kind != "listed"] == [None, None, "a menu", "front"]
        finally:
            manager.close()


def test_see_through_edges_are_no_part_of_a_window_where_there_is_a_compositor(
    bare: Desk, opened: list[DeskWindow], probes: list[X11Windows]
) -> None:
    window = bare.window(x=100, y=100, width=300, height=200)
    opened.append(window)
    probe = probe_of(bare, probes)

    def place() -> tuple[int | None, ...]:
        (seen,) = probe.visible() or [Window(None, None)]
        return seen.x, seen.y, seen.width, seen.height

    set_property(window, "_GTK_FRAME_EXTENTS", "CARDINAL", 32, [26, 27, 23, 29])
    assert place() == (100, 100, 300, 200), "nobody is there to have them show what lies behind: they are painted"
    window.x.set_selection_owner(bare.connection.get_atom("_NET_WM_CM_S0"), 0)
    bare.connection.sync()
    assert place() == (126, 123, 247, 148)
    for nonsense in ([100, 100, 0, 0], [60, 60, 64, 64, 1], [1], [0, 0, 2**31, 0]):
        set_property(window, "_GTK_FRAME_EXTENTS", "CARDINAL", 32, nonsense)
        assert place() == (100, 100, 300, 200)
    window.x.delete_property(bare.connection.get_atom("_GTK_FRAME_EXTENTS"))
    window.x.configure(border_width=3)
    bare.connection.sync()
    assert place() == (100, 100, 306, 206)  # a border that the server draws is part of it


# -- titles


@pytest.mark.parametrize(
    ("title", "seen"),
    [
        ('He said "hi" — naïve', 'He said "hi" — naïve'),
        ("项目周报 – 👩🏽‍💻", "项目周报 – 👩🏽‍💻"),
        (b"caf\xe9 in Latin-1", "café in Latin-1"),
        ("in UTF-8 ü".encode(), "in UTF-8 ü"),
        ("a\nb\tc\x1b[31m\x07", "a b c [31m "),
        ("", ""),
        (None, None),
        (b"a\0b", "a b"),
        ("x" * TITLE_LIMIT, "x" * TITLE_LIMIT),
    ],
)
def test_titles_come_as_they_are(
    bare: Desk, opened: list[DeskWindow], probes: list[X11Windows], title: str | bytes | None, seen: str | None
) -> None:
    opened.append(bare.window(title))
    (window,) = probe_of(bare, probes).visible() or []
    assert window.title == seen
    assert not window.title_cut


@pytest.mark.parametrize("title", ["é" * (TITLE_LIMIT + 1), b"x" * 60_000, "👩" * 60_000])
def test_an_overlong_title_is_cut_and_says_so(
    bare: Desk, opened: list[DeskWindow], probes: list[X11Windows], title: str | bytes
) -> None:
    opened.append(bare.window(title))
    (window,) = probe_of(bare, probes).visible() or []
    assert window.title is not None
    assert len(window.title) == TITLE_LIMIT
    assert window.title_cut
    assert title.startswith(window.title if isinstance(title, str) else window.title.encode())  # type: ignore[arg-type]


def test_compound_text_is_read(bare: Desk, opened: list[DeskWindow], probes: list[X11Windows]) -> None:
    opened.append(bare.window(None))
    set_property(opened[0], "WM_NAME", "COMPOUND_TEXT", 8, b"\x1b%G\xe9\xa1\xb9\xe7\x9b\xae\x1b%@ caf\xe9")
    (window,) = probe_of(bare, probes).visible() or []
    assert window.title == "项目 café"


_NAMES = ["_NET_WM_NAME", "WM_NAME", "WM_CLASS", "_NET_WM_PID", "WM_STATE", "_NET_WM_STATE", "_NET_WM_WINDOW_TYPE"]
_KINDS = ["UTF8_STRING", "STRING", "COMPOUND_TEXT", "CARDINAL", "ATOM", "WINDOW"]
_VALUES = (
    st.tuples(st.just(8), st.binary(max_size=80))
    | st.tuples(st.just(16), st.lists(st.integers(0, 2**16 - 1), max_size=9))
    | st.tuples(st.just(32), st.lists(st.integers(0, 2**32 - 1), max_size=9))
)


@given(st.dictionaries(st.sampled_from(_NAMES), st.tuples(st.sampled_from(_KINDS), _VALUES)))
@example({"_NET_WM_NAME": ("UTF8_STRING", (8, b"\xff\xfe\x00\xed\xa0\x80"))})
@example({"WM_CLASS": ("CARDINAL", (32, [1])), "_NET_WM_PID": ("CARDINAL", (32, [0]))})
@example({"_NET_WM_PID": ("CARDINAL", (32, [2**32 - 1]))})
def test_no_property_of_any_kind_is_an_error(bare: Desk, properties: dict[str, tuple[str, tuple[int, Any]]]) -> None:
    window = bare.window(None, wm_class=None)
    probe = X11Windows(bare.display, hint=Hint())
    try:
        for name, (kind, (size, value)) in properties.items():
            set_property(window, name, kind, size, value)
        shown = probe.visible()
        assert shown is not None
        for seen in shown:
            for text in (seen.title, seen.app, seen.window_class):
                assert text is None or text.encode().decode() == text
                assert text is None or len(f"x{text}x".splitlines()) == 1
    finally:
        probe.close()
        window.close()


# -- whose process


def test_a_process_of_another_machine_is_not_taken_for_one_here(
    bare: Desk, opened: list[DeskWindow], probes: list[X11Windows]
) -> None:
    opened.append(bare.window(pid=os.getpid()))
    probe = probe_of(bare, probes)
    set_property(opened[0], "WM_CLIENT_MACHINE", "STRING", 8, b"elsewhere.example")
    (away,) = probe.visible() or []
    assert away.pid is None
    set_property(opened[0], "WM_CLIENT_MACHINE", "STRING", 8, socket.gethostname().encode())
    (here,) = probe.visible() or []
    assert here.pid == os.getpid()


def test_a_browser_that_was_started_private_is_marked(
    bare: Desk, opened: list[DeskWindow], probes: list[X11Windows]
) -> None:
    browser = bare.start([sys.executable, "-c", "input()", "--incognito"], stdin=-1)
    until(lambda: b"--incognito" in Path(f"/proc/{browser.pid}/cmdline").read_bytes(), "a program to start")
    opened += [bare.window("a page - Chromium", pid=browser.pid), bare.window("other", pid=os.getpid())]
    shown = probe_of(bare, probes).visible()
    assert shown is not None
    assert {window.title: window.private for window in shown} == {"a page - Chromium": True, "other": False}


# -- no window manager, no focus


def test_without_a_window_manager_the_keys_say_what_is_in_front(
    bare: Desk, opened: list[DeskWindow], probes: list[X11Windows]
) -> None:
    opened += [bare.window("one", x=20, y=20), bare.window("two", x=300, y=20)]
    probe = probe_of(bare, probes)
    for window, title in zip(opened, ("one", "two"), strict=True):
        window.front()
        seen = probe.foreground()
        assert seen is not None
        assert (seen.key, seen.title, seen.kind) == (window.id, title, "popup")
    assert keys(probe.visible()) == [opened[1].id, opened[0].id]


def test_a_focused_child_stands_for_its_program(bare: Desk, opened: list[DeskWindow], probes: list[X11Windows]) -> None:
    from Xlib import X

    opened.append(bare.window("program", x=20, y=20))
    child = opened[0].x.create_window(5, 5, 50, 50, 0, X.CopyFromParent)
    child.map()
    child.set_input_focus(X.RevertToParent, X.CurrentTime)
    bare.connection.sync()
    seen = probe_of(bare, probes).foreground()
    assert seen is not None
    assert (seen.key, seen.x, seen.y) == (opened[0].id, 20, 20)


@pytest.mark.parametrize("focus", [0, 1])  # none; whatever the pointer is over
def test_no_focus_is_nothing_and_no_error(bare: Desk, probes: list[X11Windows], focus: int) -> None:
    from Xlib import X

    bare.connection.set_input_focus(focus, X.RevertToNone, X.CurrentTime)
    bare.connection.sync()
    probe = probe_of(bare, probes)
    assert probe.foreground() is None
    assert probe.visible() == []


def test_what_the_pointer_is_over_has_the_keys_where_focus_follows_it(
    bare: Desk, opened: list[DeskWindow], probes: list[X11Windows]
) -> None:
    from Xlib import X

    opened.append(bare.window("under the pointer", x=200, y=200))
    bare.connection.set_input_focus(X.PointerRoot, X.RevertToNone, X.CurrentTime)
    bare.root.warp_pointer(250, 250)
    bare.connection.sync()
    seen = probe_of(bare, probes).foreground()
    assert seen is not None
    assert seen.key == opened[0].id


def test_what_a_dead_window_manager_left_behind_is_not_believed(probes: list[X11Windows]) -> None:
    with Desk(400, 300, manager=True) as desk:
        old = desk.window("old", x=10, y=40)
        old.front()
        probe = probe_of(desk, probes)
        before = probe.foreground()
        assert before is not None
        assert before.key == old.id
        manager = desk._children[0]
        manager.kill()
        manager.wait()
        until(lambda: old.x.query_tree().parent.id == desk.root.id, "the frame to go")
        new = desk.window("new", x=50, y=50)
        new.x.set_input_focus(1, 0)
        desk.connection.sync()
        active = desk.root.get_full_property(desk.connection.get_atom("_NET_ACTIVE_WINDOW"), 0)
        assert active is not None  # it still names the old one
        assert list(active.value) == [old.id]
        seen = probe.foreground()
        assert seen is not None
        assert seen.key == new.id
        assert new.id in keys(probe.visible())


@pytest.mark.parametrize("active", [[0], [0x7654321], [], [2**32 - 1]])
def test_an_active_window_that_is_none_is_none(probes: list[X11Windows], active: list[int]) -> None:
    with Desk(400, 300) as desk:
        _announce(desk)
        desk.root.change_property(
            desk.connection.get_atom("_NET_ACTIVE_WINDOW"), desk.connection.get_atom("WINDOW"), 32, active
        )
        desk.connection.sync()
        assert probe_of(desk, probes).foreground() is None


@pytest.mark.parametrize(
    ("manager", "listed"), [("GNOME Shell", False), ("KWin", False), ("i3", True), ("awesome", True)]
)
def test_mapped_windows_of_other_desktops_are_seen_unless_the_manager_is_known_to_keep_them_mapped(
    probes: list[X11Windows], manager: str, listed: bool
) -> None:
    with Desk(400, 300) as desk:
        _announce(desk, manager)
        number = desk.connection.get_atom("CARDINAL")
        desk.root.change_property(desk.connection.get_atom("_NET_CURRENT_DESKTOP"), number, 32, [0])
        here, other, all_ = desk.window("here"), desk.window("other"), desk.window("on all")
        for window, desktop in ((here, 0), (other, 1), (all_, 0xFFFFFFFF)):
            set_property(window, "_NET_WM_DESKTOP", "CARDINAL", 32, [desktop])
        found = keys(probe_of(desk, probes).visible())
        assert (other.id in found) is listed
        assert {here.id, all_.id} <= set(found)


def test_mapped_windows_that_are_marked_hidden_are_not_seen_and_shaded_ones_are(
    bare: Desk, opened: list[DeskWindow], probes: list[X11Windows]
) -> None:
    opened += [bare.window(title) for title in ("hidden", "shaded", "iconic")]
    hidden, shaded = (bare.connection.get_atom(f"_NET_WM_STATE_{state}") for state in ("HIDDEN", "SHADED"))
    set_property(opened[0], "_NET_WM_STATE", "ATOM", 32, [hidden])
    set_property(opened[1], "_NET_WM_STATE", "ATOM", 32, [hidden, shaded])
    set_property(opened[2], "WM_STATE", "WM_STATE", 32, [3, 0])
    assert keys(probe_of(bare, probes).visible()) == [opened[1].id]


# -- windows that vanish, servers that die


def test_windows_that_come_and_go_are_no_error(bare: Desk, probes: list[X11Windows]) -> None:
    from Xlib import display

    stop = threading.Event()

    def flicker() -> None:
        connection = display.Display(bare.display)
        root = connection.screen().root
        while not stop.is_set():
            windows = [root.create_window(n, n, 50, 50, 0, 24, override_redirect=n % 2) for n in range(8)]
            for window in windows:
                window.set_wm_name("flicker")
                window.map()
                window.set_input_focus(1, 0)
            connection.sync()
            for window in windows:
                window.destroy()
        connection.close()

    thread = threading.Thread(target=flicker)
    thread.start()
    try:
        probe = probe_of(bare, probes)
        seen, n, end = 0, 0, real_ns() + 20 * SECOND
        while n < 150 or (not seen and real_ns() < end):  # a busy machine may be long in showing the first
            n += 1
            probe.foreground()
            shown = probe.visible()
            assert shown is not None
            seen += bool(shown)
        assert seen > 0
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("step", range(8))
def test_a_window_that_is_closed_between_two_questions_is_left_out(
    managed: Desk, opened: list[DeskWindow], probes: list[X11Windows], monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    opened.append(managed.window("stays", x=300, y=200))
    goes = managed.window("goes", x=20, y=20)
    goes.front()
    probe = probe_of(managed, probes)
    probe.foreground()
    steps = 0
    ask = probe._link._wire.ask  # type: ignore[union-attr]

    def ask_late(requests: list[bytes]) -> list[bytes | None]:
        nonlocal steps
        if requests:
            if steps == step:
                goes.close()
                until(lambda: goes.id not in (managed._clients() or []), "openbox to forget a window")
            steps += 1
        return ask(requests)

    monkeypatch.setattr(probe._link._wire, "ask", ask_late)  # type: ignore[union-attr]
    shown = probe.visible()
    probe.foreground()
    assert opened[0].id in keys(shown)
    assert all(window.x is not None for window in shown or [])
    assert goes.id not in keys(probe.visible())
    assert steps > step


def test_a_server_that_dies_and_is_back_costs_no_more_than_the_time_it_was_away(probes: list[X11Windows]) -> None:
    now = 0
    with Desk(400, 300) as desk:
        probe = probe_of(desk, probes, now=lambda: now)
        desk.window("before").front()
        assert probe.foreground() is not None
        desk.kill()
        for _ in range(3):
            assert probe.foreground() is None
            assert probe.visible() is None
            assert probe.locked() is None
        desk.restart(500, 200)
        window = desk.window("after", x=450, y=150)
        window.front()
        assert probe.foreground() is None  # it was away a moment ago: not asked at every call
        now += SECOND
        seen = probe.foreground()
        assert seen is not None
        assert (seen.title, seen.key) == ("after", window.id)
        assert keys(probe.visible()) == [window.id]  # within the new screen
        desk.restart()
        assert probe.visible() == []  # restarted between two looks: not noticed


def test_a_server_that_hangs_is_given_up(probes: list[X11Windows], monkeypatch: pytest.MonkeyPatch) -> None:
    now, calls = 0, 0

    def call(*given: Any, **options: Any) -> Link:
        nonlocal calls
        calls += 1
        return Link(*given, **options)

    monkeypatch.setattr("simulator.recorder.windows_x11.Link", call)
    with Desk(400, 300) as desk:
        probe = probe_of(desk, probes, now=lambda: now, timeout_s=0.05)
        desk.window("here").front()
        assert probe.foreground() is not None
        assert desk.server is not None
        os.kill(desk.server.pid, signal.SIGSTOP)
        try:
            assert probe.foreground() is None
            assert probe.visible() is None
            assert calls == 1  # nobody waits twice at one tick
            now += SECOND
            assert probe.visible() is None
            assert calls == 2
        finally:
            os.kill(desk.server.pid, signal.SIGCONT)

        def answered() -> bool:
            nonlocal now
            now += SECOND
            return probe.foreground() is not None

        until(answered, "the server to be heard again")


def test_what_the_server_tells_everybody_unasked_is_passed_over(bare: Desk, probes: list[X11Windows]) -> None:
    probe = probe_of(bare, probes)
    probe.visible()
    link = probe._link
    keys_of = bare.connection.get_keyboard_mapping(8, 1)
    for _ in range(5):
        bare.connection.change_keyboard_mapping(8, keys_of)  # every client gets an event of this
        bare.connection.sync()
        assert probe.visible() == []
    assert probe._link is link


def test_losing_the_server_again_and_again_leaves_no_files_open(bare: Desk) -> None:
    probe = X11Windows(bare.display, hint=Hint())
    probe.visible()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        link = probe._link
        assert link is not None
        link._wire._socket.shutdown(socket.SHUT_RDWR)
        assert probe.visible() is not None
    assert len(os.listdir("/proc/self/fd")) == before
    probe.close()
    assert probe.visible() is not None  # a closed one opens again
    probe.close()


def test_an_x_server_within_wayland_is_not_believed(
    bare: Desk, opened: list[DeskWindow], probes: list[X11Windows], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened.append(bare.window("an X program"))
    monkeypatch.setattr(Link, "is_xwayland", lambda _: True)
    probe = probe_of(bare, probes)
    assert probe.foreground() is None
    assert probe.visible() is None
    monkeypatch.undo()
    assert keys(probe_of(bare, probes).visible()) == [opened[0].id]


# -- locked


@pytest.mark.parametrize("app", ["i3lock", "xsecurelock", "Cinnamon-Screensaver", "kscreenlocker_greet"])
def test_a_lockers_window_says_that_the_screen_is_locked(
    bare: Desk, opened: list[DeskWindow], probes: list[X11Windows], app: str
) -> None:
    opened.append(bare.window("work"))
    probe = probe_of(bare, probes)
    assert probe.locked() is False
    lock = bare.window(None, wm_class=(app, app), width=800, height=600, popup=True)
    probe.visible()
    assert probe.locked() is True
    lock.close()
    probe.visible()
    assert probe.locked() is False


def test_xscreensaver_and_logind_are_heard(bare: Desk, probes: list[X11Windows]) -> None:
    status, integer = bare.connection.get_atom("_SCREENSAVER_STATUS"), bare.connection.get_atom("INTEGER")
    probe = probe_of(bare, probes)
    for word, locked in (("LOCK", True), ("BLANK", False)):
        bare.root.change_property(status, integer, 32, [bare.connection.get_atom(word), 1, 1])
        bare.connection.sync()
        probe.visible()
        assert probe.locked() is locked
    bare.root.delete_property(status)
    bare.connection.sync()
    assert probe_of(bare, probes, hint=Hint(True)).locked() is True
    assert probe_of(bare, probes, hint=Hint(False)).locked() is False


def _announce(desk: Desk, name: str = "a manager") -> None:
    """The marks of a window manager that keeps EWMH, without one."""
    check = desk.window(name, show=False)
    atom, kind = desk.connection.get_atom("_NET_SUPPORTING_WM_CHECK"), desk.connection.get_atom("WINDOW")
    for window in (desk.root, check.x):
        window.change_property(atom, kind, 32, [check.id])
    desk.connection.sync()


def _to_desktop(window: DeskWindow, number: int) -> None:
    from Xlib import X
    from Xlib.protocol import event

    desk = window.desk
    ask = event.ClientMessage(
        window=window.x, client_type=desk.connection.get_atom("_NET_WM_DESKTOP"), data=(32, [number, 2, 0, 0, 0])
    )
    desk.root.send_event(ask, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
    until(lambda: window.x.get_attributes().map_state != X.IsViewable, "a window to go to another desktop")
