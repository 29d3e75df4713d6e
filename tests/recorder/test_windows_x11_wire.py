"""The X11 protocol: who is let in, and servers that answer nonsense."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.recorder.lockers import LockHint
from simulator.recorder.windows_x11 import X11Windows
from simulator.recorder.windows_x11_wire import Wire, XLost, cookie
from tests.desks import Desk, needs

SECRET = bytes(range(16))
LOCAL, WILD, INTERNET = 256, 65535, 0
HERE = socket.gethostname().encode()


def entry(family: int, owner: bytes, number: bytes, secret: bytes, method: bytes = b"MIT-MAGIC-COOKIE-1") -> bytes:
    fields = (owner, number, method, secret)
    return family.to_bytes(2) + b"".join(len(field).to_bytes(2) + field for field in fields)


@pytest.fixture
def unix() -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        yield ours


@pytest.mark.parametrize(
    ("entries", "secret"),
    [
        ([entry(LOCAL, HERE, b"7", b"right")], b"right"),
        ([entry(LOCAL, HERE, b"8", b"other"), entry(LOCAL, HERE, b"7", b"right")], b"right"),
        ([entry(LOCAL, HERE, b"", b"any number")], b"any number"),
        ([entry(WILD, b"", b"7", b"wild")], b"wild"),
        ([entry(WILD, b"", b"7", b"wild"), entry(LOCAL, HERE, b"7", b"right")], b"right"),
        ([entry(LOCAL, b"the-name-before", b"7", b"old"), entry(WILD, b"", b"7", b"wild")], b"wild"),
        ([entry(LOCAL, b"the-name-before", b"7", b"old")], b"old"),
        ([entry(INTERNET, b"\x7f\0\0\1", b"7", b"tcp")], b""),
        ([entry(LOCAL, HERE, b"7", b"x", b"XDM-AUTHORIZATION-1")], b""),
        ([entry(LOCAL, HERE, b"7", b"right")[:-1]], b""),
        ([b"\0"], b""),
        ([], b""),
    ],
)
def test_the_secret_is_that_of_this_display(
    unix: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: list[bytes], secret: bytes
) -> None:
    (tmp_path / "authority").write_bytes(b"".join(entries))
    monkeypatch.setenv("XAUTHORITY", str(tmp_path / "authority"))
    assert cookie(unix, 7)[1] == secret


def test_without_an_authority_file_there_is_no_secret(
    unix: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XAUTHORITY", str(tmp_path / "none"))
    assert cookie(unix, 7) == (b"", b"")
    monkeypatch.delenv("XAUTHORITY")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cookie(unix, 7) == (b"", b"")
    (tmp_path / ".Xauthority").write_bytes(entry(LOCAL, HERE, b"7", b"at home"))
    assert cookie(unix, 7) == (b"MIT-MAGIC-COOKIE-1", b"at home")


@given(st.binary(max_size=80))
def test_no_authority_file_is_an_error(data: bytes) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "read_bytes", lambda _: data)
        cookie(ours, 7)


def test_a_server_that_asks_for_a_secret_gets_it_and_without_it_nothing_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("Xvfb")
    authority = tmp_path / "authority"
    authority.write_bytes(entry(WILD, b"", b"", SECRET))
    monkeypatch.setenv("XAUTHORITY", str(tmp_path / "none"))
    with Desk(320, 200, arguments=["-auth", str(authority)]) as desk:
        windows = X11Windows(desk.display, now=lambda: 0)
        assert windows.visible() is None
        monkeypatch.setenv("XAUTHORITY", str(authority))
        windows = X11Windows(desk.display)
        assert windows.visible() == []
        windows.close()


def test_more_questions_than_serial_numbers_are_answered() -> None:
    with Desk(320, 200) as desk:
        wire = Wire(desk.display)
        geometry = struct.pack("=BBHI", 14, 0, 2, wire.root)
        nowhere = struct.pack("=BBHI", 14, 0, 2, 0x7654321)
        for _ in range(9):
            replies = wire.ask([geometry, nowhere] * 4000)
            assert len(replies) == 8000
            assert all(replies[0::2])
            assert not any(replies[1::2])
        assert wire.extension(b"RANDR") is not None
        assert wire.extension(b"NO-SUCH-THING") is None
        wire.close()


@pytest.mark.parametrize("name", ["", "nonsense", ":", ":x", "host", ":0.x", "/tmp/socket", "unix/:99999"])
def test_a_display_that_is_none_is_one_kind_of_error(name: str) -> None:
    with pytest.raises(OSError):  # noqa: PT011 - that any of its kinds comes is the point
        Wire(name)


def test_a_server_is_reached_by_its_screen_and_its_way() -> None:
    with Desk(320, 200) as desk:
        for name in (desk.display, f"{desk.display}.0", f"unix{desk.display}", f"unix/{desk.display}"):
            wire = Wire(name)
            assert wire.root > 0
            wire.close()


class FakeServer:
    """Listens where an X server would by TCP and says what it is told to, to each who calls."""

    def __init__(self, says: bytes) -> None:
        self.says = says
        for port in range(6000 + 5000, 6000 + 9000):
            self._socket = socket.socket()
            try:
                self._socket.bind(("127.0.0.1", port))
            except OSError:
                self._socket.close()
                continue
            break
        self._socket.listen()
        self.display = f"127.0.0.1:{port - 6000}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                wire, _ = self._socket.accept()
            except OSError:
                return
            with wire:
                wire.settimeout(5)
                wire.recv(4096)
                wire.sendall(self.says)
                wire.shutdown(socket.SHUT_WR)
                try:
                    while wire.recv(4096):
                        pass
                except OSError:
                    pass

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


def greeting(root: int = 0x123) -> bytes:
    """What a server says at first: one screen, no formats, no depths."""
    body = struct.pack("=IIIIHHBBBBBBBBI", 1, 0, 0, 0, 0, 65535, 1, 0, 0, 0, 0, 0, 0, 0, 0) + struct.pack("=I", root)
    body += b"\0" * (72 - len(body))
    return struct.pack("=BBHHH", 1, 0, 11, 0, len(body) // 4) + body


def test_the_greeting_of_these_tests_is_one() -> None:
    server = FakeServer(greeting(0x456))
    try:
        wire = Wire(server.display)
        assert wire.root == 0x456
        with pytest.raises(XLost):
            wire.extension(b"RANDR")
        wire.close()
    finally:
        server.close()


@pytest.mark.parametrize(("serial", "known"), [(1, True), (2, False)])
def test_an_answer_to_another_question_is_none(serial: int, known: bool) -> None:
    server = FakeServer(greeting() + struct.pack("=BBHIBB22x", 1, 0, serial, 0, 1, 140))
    try:
        wire = Wire(server.display)
        if known:
            assert wire.extension(b"RANDR") == 140
        else:
            with pytest.raises(XLost):
                wire.extension(b"RANDR")
        wire.close()
    finally:
        server.close()


PIECES = st.sampled_from(
    [
        b"\0" * 32,
        b"\x01" + b"\0" * 31,
        b"\x01\0\x01\0" + b"\0" * 28,
        b"\x01\0\x01\0" + b"\xff" * 28,
        b"\x0c" * 32,
        b"#" * 32,
    ]
)


@given(st.booleans(), st.binary(max_size=100) | st.lists(PIECES, max_size=8).map(b"".join))
def test_a_server_that_talks_nonsense_is_no_error(greets: bool, says: bytes) -> None:
    server = FakeServer((greeting() if greets else b"") + says)
    windows = X11Windows(server.display, now=lambda: 0, hint=LockHint(command=["no-such-program"]))
    try:
        assert windows.foreground() is None
        windows.visible()
        windows.locked()
    finally:
        windows.close()
        server.close()


def test_nobody_there_is_found_out_at_once_and_not_asked_again_before_a_second_has_gone() -> None:
    now = [0]
    asked: list[str] = []

    def exists(path: str) -> bool:
        asked.append(path)
        return False

    windows = X11Windows(":63997", now=lambda: now[0], hint=LockHint(command=["no-such-program"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simulator.recorder.windows_x11_wire.os.path.exists", exists)
        for now[0] in (0, 1, 999_999_999, 10**9):
            assert windows.visible() is None
    assert asked == ["/tmp/.X11-unix/X63997"] * 2
