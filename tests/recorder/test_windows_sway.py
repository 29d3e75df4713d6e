"""The windows of sway: a recorded tree, trees that are none, a socket that misbehaves, and a real sway."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.types import SECOND
from simulator.recorder.lockers import LockHint
from simulator.recorder.windows import TITLE_LIMIT, Window
from simulator.recorder.windows_sway import SwayWindows, focused, on_screen
from simulator.recorder.windows_x11 import X11Windows
from simulator.recorder.windows_x11_link import Link
from tests.desks import needs, until

NOBODY_ASKED = LockHint(command=["no-such-program"])


def rect(x: int, y: int, width: int, height: int) -> dict[str, int]:
    return {"x": x, "y": y, "width": width, "height": height}


def leaf(number: int, name: str | None, **more: Any) -> dict[str, Any]:
    node = {"id": number, "type": "con", "name": name, "pid": None, "app_id": None, "visible": True, "focused": False}
    node |= {
        "rect": rect(0, 0, 100, 100),
        "deco_rect": rect(0, 0, 0, 0),
        "nodes": [],
        "floating_nodes": [],
        "focus": [],
    }
    return {**node, **more}


def tree(*nodes: dict[str, Any], floating: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    """A root with one output and one workspace, the first named most recently focused."""
    order = [node["id"] for node in (*floating, *nodes)]
    workspace = {"id": 4, "type": "workspace", "nodes": [*nodes], "floating_nodes": [*floating], "focus": order}
    output = {"id": 3, "type": "output", "nodes": [workspace], "floating_nodes": [], "focus": [4]}
    return {"id": 1, "type": "root", "nodes": [output], "floating_nodes": [], "focus": [3], "rect": rect(0, 0, 9, 9)}


# As sway 1.7 gave it: three windows in a stack of which the last is in front; what we do not read is left out.
STACK = tree(
    {
        "id": 8, "type": "con", "layout": "stacked", "name": None, "rect": rect(0, 0, 1280, 720),
        "deco_rect": rect(0, 0, 0, 0), "floating_nodes": [], "focus": [7, 6, 5], "focused": False,
        "nodes": [
            leaf(5, '项目 "周报" — ü', pid=492, app_id="foot", visible=False, rect=rect(0, 75, 1280, 645),
                 deco_rect=rect(0, 0, 1280, 25)),
            leaf(6, "xw", pid=555, window=4194317, visible=False, rect=rect(0, 75, 1280, 645),
                 deco_rect=rect(0, 25, 1280, 25), window_properties={"class": "XTerm", "instance": "xterm"}),
            leaf(7, "third", pid=628, app_id="foot", focused=True, rect=rect(0, 75, 1280, 645),
                 deco_rect=rect(0, 50, 1280, 25)),
        ],
    }
)  # fmt: skip


def test_of_a_stack_the_front_is_seen_and_the_title_bars_of_those_behind() -> None:
    front = Window("foot", "third", pid=628, x=0, y=50, width=1280, height=670, key=7, kind="normal")
    assert focused(STACK) == front
    behind, oldest, seen = on_screen(STACK)
    assert seen == front
    assert behind == Window("XTerm", "xw", "XTerm", 555, 0, 25, 1280, 25, key=6, kind="tab")
    assert oldest == Window("foot", '项目 "周报" — ü', pid=492, x=0, y=0, width=1280, height=25, key=5, kind="tab")


def test_full_screen_goes_before_floating_and_floating_before_tiled() -> None:
    floating = leaf(7, "floating", type="floating_con", app_id="c")
    inner = {"id": 9, "type": "floating_con", "nodes": [leaf(10, "in a floating group")], "focus": [10]}
    found = tree(leaf(5, "tiled"), leaf(6, "full", fullscreen_mode=1), floating=(floating, inner))
    titles = [window.title for window in on_screen(found)]
    assert titles == ["full", "floating", "in a floating group", "tiled"]


def test_windows_of_hidden_workspaces_and_the_scratchpad_are_not_to_be_seen() -> None:
    hidden = [leaf(n, f"hidden {n}", visible=False, deco_rect=rect(0, 0, 100, 25)) for n in (5, 6)]
    assert on_screen(tree(*hidden)) == []
    assert focused(tree(*hidden)) is None


def test_an_empty_workspace_has_no_foreground_though_it_has_the_focus() -> None:
    assert focused({"type": "root", "nodes": [{"type": "workspace", "focused": True, "nodes": []}]}) is None


def test_titles_are_one_line_and_bounded() -> None:
    found = on_screen(tree(leaf(5, "a\nb\ud800"), leaf(6, "x" * (TITLE_LIMIT + 1)), leaf(7, None), leaf(8, "")))
    assert [window.title for window in found] == ["a b\ufffd", "x" * TITLE_LIMIT, None, None]
    assert [window.title_cut for window in found] == [False, True, False, False]


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from([*leaf(0, ""), "window_properties", "class", "x", "height", "fullscreen_mode"]), inside
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*leaf(0, "")]), JUNK), st.dictionaries(st.sampled_from([*leaf(0, "")]), JUNK))
def test_no_tree_is_an_error(root: dict[str, Any], change: dict[str, Any]) -> None:
    for found in (root, tree({**leaf(5, "title"), **change, "id": 5}), {**STACK, **root}):
        focused(found)
        for window in on_screen(found):
            assert window.title is None or isinstance(window.title, str)
            assert window.width is None or type(window.width) is int


# -- the socket


class FakeSway:
    """A socket that answers every question with the same bytes."""

    def __init__(self, path: Path, says: bytes) -> None:
        self.asked: list[bytes] = []
        self._says = says
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                wire, _ = self._socket.accept()
            except OSError:
                return
            with wire:
                self.asked.append(wire.recv(100))
                wire.sendall(self._says)

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


def answer(body: bytes) -> bytes:
    return b"i3-ipc" + struct.pack("=II", len(body), 4) + body


@pytest.mark.parametrize("padding", [0, 300_000])  # the answer of a full desktop comes in many parts
def test_the_tree_is_asked_for_and_read(tmp_path: Path, padding: int) -> None:
    sway = FakeSway(tmp_path / "sock", answer(json.dumps({**STACK, "marks": ["x" * padding]}).encode()))
    try:
        windows = SwayWindows(str(tmp_path / "sock"), hint=NOBODY_ASKED)
        assert windows.foreground() == focused(STACK)
        assert windows.visible() == on_screen(STACK)
        windows.close()
        assert sway.asked == [b"i3-ipc" + struct.pack("=II", 0, 4)] * 2
    finally:
        sway.close()


@pytest.mark.parametrize(
    "says",
    [
        b"",
        b"i3-ipc",
        answer(b""),
        answer(b"[1, 2]"),
        answer(b"null"),
        answer(b"{"),
        answer(b"\xff\xfe"),
        answer(b"[" * 100_000),
        answer(b"{}")[:-1],
        b"i3-ipc" + struct.pack("=II", 2**32 - 1, 4),
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
    ],
)
def test_a_socket_that_is_not_sways_is_no_error(tmp_path: Path, says: bytes) -> None:
    server = FakeSway(tmp_path / "sock", says)
    try:
        windows = SwayWindows(str(tmp_path / "sock"), hint=NOBODY_ASKED)
        assert windows.foreground() is None
        assert windows.visible() is None
    finally:
        server.close()


def test_without_sway_nothing_is_known(tmp_path: Path) -> None:
    windows = SwayWindows(str(tmp_path / "none"), hint=NOBODY_ASKED)
    assert windows.foreground() is None
    assert windows.visible() is None
    windows.close()


def test_lockers_are_looked_for_every_five_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now, looks = [0], [0]

    def runs() -> bool:
        looks[0] += 1
        return looks[0] == 2

    monkeypatch.setattr("simulator.recorder.windows_sway.a_locker_runs", runs)
    windows = SwayWindows("/none", now=lambda: now[0], hint=NOBODY_ASKED)
    assert [windows.locked() for now[0] in (0, SECOND, 5 * SECOND, 6 * SECOND, 10 * SECOND)] == [
        False, False, True, True, False,
    ]  # fmt: skip
    assert looks[0] == 3


# -- a real one


class RealSway:
    """sway without a screen, as another user where we are root: it refuses root."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sway-"))
        self.who: dict[str, Any] = {}
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self.who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        config = self.folder / "config"
        config.write_text("xwayland disable\noutput HEADLESS-1 resolution 1280x720\ndefault_border normal\n")
        config.chmod(0o644)
        self.path = str(self.folder / "sway.sock")
        self.env = {name: value for name, value in os.environ.items() if not name.endswith("DISPLAY")} | {
            "LANG": "C.UTF-8",  # foot wants one, and a shell
            "SHELL": "/bin/sh",
            "XDG_RUNTIME_DIR": str(self.folder),
            "HOME": str(self.folder),
            "WLR_BACKENDS": "headless",
            "WLR_LIBINPUT_NO_DEVICES": "1",
            "WLR_RENDERER": "pixman",
            "SWAYSOCK": self.path,
        }
        self.process = self._start(["sway", "-c", str(config)])

    def _start(self, argv: list[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv,
            env=self.env,
            cwd="/",
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **self.who,
        )

    def tell(self, *words: str) -> None:
        assert self._start(["swaymsg", *words]).wait(10) == 0

    def close(self) -> None:
        for sent in (signal.SIGTERM, signal.SIGKILL):  # sway ends its windows
            os.killpg(self.process.pid, sent)
            try:
                self.process.wait(5)
                break
            except subprocess.TimeoutExpired:
                continue
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def sway() -> Iterator[RealSway]:
    needs("sway", "swaymsg", "foot")
    found = RealSway()
    try:
        windows = SwayWindows(found.path, hint=NOBODY_ASKED)
        until(lambda: windows.visible() == [] or found.process.poll() is not None, "sway to start")
        if found.process.poll() is not None:
            pytest.skip("sway does not start here")
        yield found
    finally:
        found.close()


def test_a_real_sway_tells_of_its_windows(sway: RealSway) -> None:
    windows = SwayWindows(sway.path, hint=NOBODY_ASKED)
    assert windows.foreground() is None

    def titles() -> list[str | None]:
        return [window.title for window in windows.visible() or []]

    sway.tell("exec", "foot -T '项目 — ü'")
    until(lambda: titles() == ["项目 — ü"], "a first window")
    sway.tell("exec", "foot -T second")
    until(lambda: len(titles()) == 2, "a second window")
    until(lambda: (seen := windows.foreground()) is not None and seen.title == "second", "the focus")
    shown = windows.visible() or []
    assert {window.app for window in shown} == {"foot"}
    places = sorted((window.x, window.y, window.width, window.height) for window in shown)
    assert places == [(0, 0, 640, 720), (640, 0, 640, 720)]
    sway.tell("layout", "tabbed")
    until(lambda: [w.kind for w in windows.visible() or []] == ["tab", "normal"], "tabs")
    tab, front = windows.visible() or []
    assert (tab.title, tab.y) == ("项目 — ü", 0)
    assert (front.title, front.x, front.y, front.width, front.height) == ("second", 0, 0, 1280, 720)
    sway.tell("workspace", "2")
    until(lambda: windows.visible() == [], "an empty workspace")
    assert windows.foreground() is None


def test_a_real_x_server_within_wayland_is_found_out_and_not_believed(sway: RealSway) -> None:
    needs("Xwayland")
    display = next(p for p in sway.folder.iterdir() if p.name.startswith("wayland-") and not p.name.endswith("lock"))
    told, tell = os.pipe()
    server = subprocess.Popen(
        ["Xwayland", "-nolisten", "tcp", "-displayfd", str(tell)],
        env={**sway.env, "WAYLAND_DISPLAY": str(display)},
        pass_fds=[tell],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(tell)
    try:
        with open(told) as stream:
            name = f":{stream.readline().strip()}"
        link = Link(name)
        assert link.is_xwayland()
        link.close()
        windows = X11Windows(name, hint=NOBODY_ASKED)
        assert windows.foreground() is None
        assert windows.visible() is None
        assert windows.locked() is None
        windows.close()
    finally:
        server.terminate()
        server.wait()
