"""The screen through the portal: a real bus with a portal by hand, and a real PipeWire behind it where there is one.

Not tested here: the dialogs of GNOME and KDE, their tokens, and what their sessions do when the screen is locked.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from simulator.core.errors import UsageError
from simulator.core.types import MS, SECOND
from simulator.recorder import portal_stream, screen_portal
from simulator.recorder.frames import Frame, ScreenLost
from simulator.recorder.portal_bus import PortalBus
from simulator.recorder.portal_stream import read_png
from simulator.recorder.screen_portal import Portal, ScreenPortal
from simulator.recorder.screens import KeptScreen, choose
from tests.desks import needs, until
from tests.portals import PortalDesk, Stream


@pytest.fixture
def desk() -> Iterator[PortalDesk]:
    with PortalDesk() as started:
        started.answers = [(0, streams(stream(7, 0)))]
        yield started


def stream(node: int, x: int, width: int = 6, height: int = 4) -> Stream:
    return node, {"position": ("(ii)", (x, 0)), "size": ("(ii)", (width, height)), "source_type": ("u", 1)}


def streams(*told: Stream, token: str | None = "token-1") -> dict[str, tuple[str, Any]]:
    found: dict[str, tuple[str, Any]] = {"streams": ("a(ua{sv})", list(told))}
    return found if token is None else {**found, "restore_token": ("s", token)}


def png(colour: tuple[int, int, int], size: tuple[int, int] = (6, 4)) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", size, colour).save(data, "PNG")
    return data.getvalue()


SENDER = """
import sys, time
data = open(sys.argv[1], "rb").read()
for _ in range(1000):
    sys.stdout.buffer.write(data); sys.stdout.flush(); time.sleep(0.02)
    data = open(sys.argv[1], "rb").read()
    if not data: break
"""


class Pictures:
    """In place of the pipeline: a program that sends whatever file stands for the node, till it is empty."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.started = folder, 0

    def show(self, node: int, data: bytes) -> None:
        part = self.folder / "part"
        part.write_bytes(data)
        part.replace(self.folder / str(node))

    def __call__(self, fd: int, node: int) -> list[str]:
        self.started += 1
        return [sys.executable, "-S", "-c", SENDER, str(self.folder / str(node))]


opened: list[Portal] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while opened:
        opened.pop().close()


def portal(desk: PortalDesk) -> Portal:
    opened.append(Portal(lambda: PortalBus(desk.env["DBUS_SESSION_BUS_ADDRESS"]), desk.home / "state" / "portal.json"))
    return opened[-1]


def colours(frames: list[Frame]) -> list[object]:
    return [frame.image().getpixel((0, 0)) for frame in frames]


def test_shared_monitors_are_captured_from_left_to_right(desk: PortalDesk, tmp_path: Path) -> None:
    desk.answers = [(0, streams(stream(8, 6, 3, 2), stream(7, 0)))]
    pictures = Pictures(tmp_path)
    pictures.show(7, png((1, 2, 3)))
    pictures.show(8, png((9, 8, 7), (3, 2)))
    ours = portal(desk)
    kept = KeptScreen(lambda: ScreenPortal(ours, desk.env, pictures))
    frames = kept.look()
    assert [(f.monitor.number, f.monitor.x, f.width, f.height) for f in frames] == [(1, 0, 6, 4), (2, 6, 3, 2)]
    assert colours(frames) == [(1, 2, 3), (9, 8, 7)]
    frames[0].fill(0, 0, 6, 4)
    assert colours(kept.look())[0] == (1, 2, 3)  # a mask stays in its frame
    pictures.show(7, png((4, 5, 6)))
    until(lambda: colours(kept.look())[0] == (4, 5, 6), "the next picture")
    assert not kept.fits_windows
    assert desk.options("SelectSources")[0].items() >= {"types": 1, "persist_mode": 2, "cursor_mode": 1}.items()
    kept.close()


def test_a_screen_opened_again_asks_nobody_again(desk: PortalDesk, tmp_path: Path) -> None:
    pictures = Pictures(tmp_path)
    pictures.show(7, png((1, 2, 3)))
    ours = portal(desk)
    for _ in range(3):
        screen = ScreenPortal(ours, desk.env, pictures)
        screen.grab(screen.monitors()[0])
        screen.close()
    assert (desk.count("Start"), pictures.started) == (1, 3)


def test_the_next_recording_uses_the_token_once_and_keeps_the_new_one_to_itself(desk: PortalDesk) -> None:
    desk.answers = [(0, streams(stream(7, 0), token=f"token-{n}")) for n in (1, 2)]
    for _ in range(2):
        portal(desk).shared()
    assert [options.get("restore_token") for options in desk.options("SelectSources")] == [None, "token-1"]
    state = desk.home / "state" / "portal.json"
    assert json.loads(state.read_text()) == {"token": "token-2", "places": [[0, 0, 6, 4]]}
    assert state.stat().st_mode & 0o777 == 0o600


def test_a_token_that_brings_another_monitor_is_not_trusted_and_the_user_is_asked(desk: PortalDesk) -> None:
    desk.answers = [
        (0, streams(stream(7, 0), token="token-1")),
        (0, streams(stream(9, 1920), token="token-2")),
        (0, streams(stream(7, 0), token="token-3")),
    ]
    portal(desk).shared()
    (shared,) = portal(desk).shared()
    assert (shared.node, shared.x) == (7, 0)
    assert [options.get("restore_token") for options in desk.options("SelectSources")] == [None, "token-1", None]
    assert desk.count("Close") == 1
    assert json.loads((desk.home / "state" / "portal.json").read_text())["token"] == "token-3"


@pytest.mark.parametrize("kept", [b"", b"\xff", b"[]", b"{}", b'{"token": "t", "places": 3}'])
def test_a_damaged_state_leads_to_the_dialog(desk: PortalDesk, kept: bytes) -> None:
    state = desk.home / "state" / "portal.json"
    state.parent.mkdir()
    state.write_bytes(kept)
    assert len(portal(desk).shared()) == 1


def test_a_portal_too_old_for_tokens_is_not_asked_for_one(desk: PortalDesk) -> None:
    desk.version = 3
    desk.answers = [(0, streams(stream(7, 0), token=None))]
    portal(desk).shared()
    assert "persist_mode" not in desk.options("SelectSources")[0]
    assert not (desk.home / "state" / "portal.json").exists()


def lost(act: Any) -> ScreenLost:
    with pytest.raises(ScreenLost) as caught:
        act()
    return caught.value


def test_a_no_in_the_dialog_is_a_missing_permission_and_asked_once(desk: PortalDesk, tmp_path: Path) -> None:
    desk.answers = [(1, {})]
    now_ns = 0
    ours = portal(desk)
    kept = KeptScreen(lambda: ScreenPortal(ours, desk.env, Pictures(tmp_path)), now=lambda: now_ns)
    for _ in range(4):
        assert lost(kept.look).reason == "permission"
        now_ns += 40 * SECOND
    assert desk.count("Start") == 1


def test_a_dialog_that_nobody_answers_is_a_no(desk: PortalDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen_portal, "DIALOG_NS", 50 * MS)
    desk.answers = []
    ours = portal(desk)
    for _ in range(2):
        assert lost(ours.shared).detail == "nobody answered the dialog that asks to share the screen"
    assert desk.count("Start") == 1


def test_any_other_end_of_the_dialog_can_be_tried_again(desk: PortalDesk) -> None:
    desk.answers = [(2, {}), (0, streams()), (0, streams(stream(7, 0)))]
    ours = portal(desk)
    assert lost(ours.shared).reason == "display_lost"
    assert lost(ours.shared).detail == "the portal shares no monitor"
    assert len(ours.shared()) == 1


def test_a_stream_that_breaks_is_begun_again_without_a_dialog(desk: PortalDesk, tmp_path: Path) -> None:
    desk.answers = [(0, streams(stream(7, 0))), (0, streams(stream(8, 0)))]
    pictures = Pictures(tmp_path)
    pictures.show(7, png((1, 2, 3)))
    pictures.show(8, png((4, 5, 6)))
    ours = portal(desk)
    kept = KeptScreen(lambda: ScreenPortal(ours, desk.env, pictures))
    assert colours(kept.look()) == [(1, 2, 3)]
    pictures.show(7, b"")
    until(lambda: colours(kept.look()) == [(4, 5, 6)], "the stream to be begun again")
    assert desk.options("SelectSources")[1]["restore_token"] == "token-1"
    kept.close()


@pytest.mark.parametrize("flows_on", [True, False])
def test_an_end_of_the_sharing_on_the_desktop_is_a_no(desk: PortalDesk, tmp_path: Path, flows_on: bool) -> None:
    pictures = Pictures(tmp_path)
    pictures.show(7, png((1, 2, 3)))
    now_ns = 0
    ours = portal(desk)
    kept = KeptScreen(lambda: ScreenPortal(ours, desk.env, pictures), now=lambda: now_ns)
    kept.look()
    desk.stop_sharing()
    if not flows_on:
        pictures.show(7, b"")
    with pytest.raises(ScreenLost) as caught:
        until(lambda: not kept.look(), "the end of the stream")
    assert caught.value.reason == "permission"
    now_ns += 60 * SECOND
    assert "ended on the desktop" in lost(kept.look).detail
    assert desk.count("Start") == 1


def test_a_stream_without_a_picture_or_with_nonsense_is_lost(
    desk: PortalDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portal_stream, "FIRST_NS", 50 * MS)
    monkeypatch.setattr(screen_portal, "WORD_NS", 0)
    ours = portal(desk)
    silent = ScreenPortal(ours, desk.env, lambda fd, node: ["sleep", "100"])
    assert lost(lambda: silent.grab(silent.monitors()[0])).detail == "the shared screen's stream brings no picture"
    nonsense = ScreenPortal(ours, desk.env, lambda fd, node: ["echo", "nonsense"])
    assert lost(lambda: nonsense.grab(nonsense.monitors()[0])).reason == "display_lost"
    assert "cannot be started" in str(lost(lambda: ScreenPortal(ours, desk.env, lambda fd, node: ["/no/such"])))


def test_a_stream_that_stands_still_for_long_is_stuck(
    desk: PortalDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen_portal, "WORD_NS", 0)
    pictures = Pictures(tmp_path)
    pictures.show(7, png((1, 2, 3)))
    screen = ScreenPortal(portal(desk), desk.env, pictures)
    screen.grab(screen.monitors()[0])
    monkeypatch.setattr(portal_stream, "STILL_NS", -1)
    assert lost(lambda: screen.grab(screen.monitors()[0])).detail == "the shared screen's stream is stuck"


def test_pictures_in_a_row_are_told_apart_by_their_chunks() -> None:
    first, second = png((1, 2, 3)), png((4, 5, 6), (9, 9))
    row = io.BytesIO(first + second + second[:-1])
    assert [read_png(row) for _ in range(3)] == [first, second, None]
    assert read_png(io.BytesIO(b"")) is None
    assert read_png(io.BytesIO(first[:8] + b"\xff\xff\xff\xff" + first[12:])) is None


def test_what_the_portal_needs_and_is_not_here_is_told(desk: PortalDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusal(env: dict[str, str]) -> str:
        with pytest.raises(UsageError) as caught:
            choose(portal=True, env=env)
        return str(caught.value)

    assert "gst-launch-1.0" in refusal({"PATH": "/nowhere"})
    monkeypatch.setattr(screen_portal, "GST", "true")
    assert "DBUS_SESSION_BUS_ADDRESS is not set" in refusal({"PATH": desk.env["PATH"]})
    assert "no portal" in refusal({"PATH": desk.env["PATH"], "XDG_RUNTIME_DIR": "/nowhere"})
    assert callable(choose(portal=True, env=desk.env))
    assert desk.count("Start") == 0  # no dialog before the screen is opened
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "[portal]" in refusal(desk.env)


def test_a_bus_without_a_portal_is_a_lost_display() -> None:
    with PortalDesk(portal=False) as desk:
        bus = PortalBus(desk.env["DBUS_SESSION_BUS_ADDRESS"])
        assert "ServiceUnknown" in lost(bus.version).detail
        bus.close()


def real_stream(desk: PortalDesk) -> Stream:
    """A PipeWire with one video in it, 320 x 200 in 0x102030; the test is skipped where something is missing."""
    needs("gst-launch-1.0", "pipewire", "wireplumber", "pw-dump")
    for element in ("pipewiresrc", "pngenc", "videorate", "videoconvert"):
        if subprocess.run(["gst-inspect-1.0", element], capture_output=True, check=False).returncode:
            pytest.skip(f"GStreamer's {element} is not installed here")
    desk.remote = desk.home / "pipewire-0"
    desk.start(["pipewire"])
    until(desk.remote.exists, "pipewire")
    desk.start(["wireplumber"])
    shape = "video/x-raw,format=BGRx,width=320,height=200,framerate=10/1"
    words = f"videotestsrc is-live=true pattern=solid-color foreground-color=0xff102030 ! {shape} ! pipewiresink"
    desk.start(
        ["gst-launch-1.0", *words.split(), "mode=provide", "stream-properties=p,media.class=Video/Source,node.name=us"]
    )

    def nodes() -> list[int]:
        told = subprocess.run(["pw-dump"], env=desk.env, capture_output=True, check=False).stdout
        found = [one for one in json.loads(told or b"[]") if one["type"].endswith(":Node")]
        return [one["id"] for one in found if one["info"]["props"].get("node.name") == "us"]

    until(lambda: bool(nodes()), "a node of pipewire")
    return stream(nodes()[0], 0, 320, 200)


def real_look(desk: PortalDesk) -> KeptScreen:
    kept = KeptScreen(choose(portal=True, env=desk.env))
    (frame,) = kept.look()
    assert (frame.width, frame.height) == (320, 200)
    assert frame.image().getcolors() == [(320 * 200, (0x10, 0x20, 0x30))]
    assert isinstance(kept.screen, ScreenPortal)
    opened.append(kept.screen.portal)
    return kept


def test_a_real_pipewire_stream_comes_through_pixel_by_pixel(desk: PortalDesk) -> None:
    desk.answers = [(0, streams(real_stream(desk)))]
    real_look(desk).close()


def test_the_real_portal_gives_the_screen_a_token_for_it_and_its_end() -> None:
    with PortalDesk(portal=False) as desk:
        backend = desk.start_real_portal()
        backend.stream = real_stream(desk)
        real_look(desk).close()
        opened.pop().close()
        kept = real_look(desk)
        first, second = backend.options
        assert "restore_data" not in first
        assert second["restore_data"][1] == ("desk", 1, ("s", "kept"))  # for the token, which the portal kept
        backend.end_session()
        with pytest.raises(ScreenLost) as caught:
            until(lambda: not kept.look(), "the end of the session")
        assert caught.value.reason == "permission"
        kept.close()
