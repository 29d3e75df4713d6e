"""What ``proact record``, ``dataset status`` and ``dataset compact`` say, without a screen."""

from __future__ import annotations

import doctest
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.cli import _call, recording
from simulator.core.errors import Exit
from simulator.recorder import screens, windows
from simulator.recorder.status import SAID, Facts
from simulator.session.schema import GAP_REASONS
from simulator.session.store import Writer
from tests.recorders import FakeWindows, plain_frame


class OneScreen:
    """Shows one picture, for ever."""

    name, fits_windows, reread_ns = "fake", True, 10**10

    def monitors(self) -> list[Any]:
        return [plain_frame(5).monitor]

    def grab(self, monitor: Any) -> Any:
        return plain_frame(5)

    def close(self) -> None:
        pass


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeWindows:
    """A desktop that shows one picture."""
    found = FakeWindows()
    monkeypatch.setattr(screens, "choose", lambda **options: OneScreen)
    monkeypatch.setattr(windows, "choose", lambda: found)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return found


def said(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_recording_of_so_long_has_so_many_rows_and_says_so(
    desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "s"
    words = ["record", str(folder), "--for", "400ms", "--period", "50ms", "--keep-free", "0MB", "--yes", "--json"]
    assert _call(words) == Exit.DONE
    last = said(capsys)[-1]
    assert last["event"] == "done"
    assert last["ticks"] == 8
    assert last["rows"] + sum(last["gaps"].values()) == 8
    assert last["closed"] is True
    assert _call(["dataset", "status", str(folder), "--json"]) == Exit.DONE
    assert said(capsys)[-1]["state"] == "closed"
    assert _call(["dataset", "status", str(folder)]) == Exit.DONE
    assert _call(["dataset", "compact", str(folder)]) == Exit.DONE
    assert _call(["dataset", "compact", str(folder)]) == Exit.DONE
    assert "all of it was compacted before" in capsys.readouterr().out
    assert _call(["dataset", "check", str(folder)]) == Exit.DONE


def test_nothing_recorded_is_no_success(desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "pause").touch()
    words = ["record", str(tmp_path / "s"), "--for", "100ms", "--period", "50ms", "--yes"]
    assert _call(words) == Exit.USAGE
    assert "nothing was recorded, 2 ticks paused" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--for", "10"], "--for: '10' is not a duration"),
        (["--period", "1ms"], "--period: at least 20ms"),
        (["--budget", "2"], "--budget: '2' is not a size"),
        (["--keep-free", "x"], "--keep-free: 'x' is not a size"),
        (["--monitor", "3"], "--monitor: there is no monitor 3; there are 1"),
        (["--screener", "nowhere"], "--screener: an address and a model"),
        (["--exclude", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_a_wrong_word_is_one_sentence_and_makes_no_folder(
    desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert _call(["record", str(tmp_path / "s"), "--yes", *words]) == Exit.USAGE
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


def test_without_a_word_on_consent_nothing_is_recorded(
    desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _call(["record", str(tmp_path / "s"), "--for", "100ms"]) == Exit.USAGE
    assert "add --yes" in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


def test_a_desktop_that_hides_its_windows_is_not_recorded_unless_that_is_accepted_in_writing(
    desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.seen = lambda n: None
    words = ["record", str(tmp_path / "s"), "--yes", "--for", "200ms", "--period", "50ms", "--keep-free", "0B"]
    assert _call(words) == Exit.USAGE
    assert "accept_unseen_windows: true" in capsys.readouterr().err
    rules = tmp_path / "rules.yaml"
    rules.write_text("accept_unseen_windows: true\n")
    assert _call([*words, "--exclude", str(rules)]) == Exit.DONE


def test_a_session_that_is_closed_is_not_recorded_into(
    desk: FakeWindows, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Writer(tmp_path / "s").close()
    assert _call(["record", str(tmp_path / "s"), "--yes", "--for", "100ms"]) == Exit.USAGE
    assert "this session is closed; a new recording needs a folder of its own" in capsys.readouterr().err


def test_every_reason_of_a_gap_that_a_recorder_makes_has_a_sentence() -> None:
    assert set(SAID) <= set(GAP_REASONS)
    assert set(GAP_REASONS) - set(SAID) == {"clock_step"}


def test_the_line_of_a_recording_says_what_it_costs() -> None:
    assert doctest.testmod(recording).failed == 0
    line = recording.sentence(
        Facts(last_tick_age_s=1.2, trouble="locked", n_rows=3, gaps={"locked": 4}, late_p99_ms=2.345, queue=3,
              rss_bytes=150_000_000, cpu_percent=4.4)
    )  # fmt: skip
    assert line == (
        "last tick 1 s ago (locked); 3 rows, 0 pictures, 0 B, 0 KB/s, CPU 4 %, 150 MB memory, late p99 2.3 ms, "
        "3 to write, 4 ticks locked"
    )
    assert recording.sentence(Facts()) == "starting"


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_each_signal_that_asks_for_an_end_ends_a_recording_once(name: str) -> None:
    import signal

    heard: list[str] = []
    before = signal.getsignal(getattr(signal, name))
    stop: Callable[[], None] = lambda: heard.append(name)  # noqa: E731
    with recording.listening(stop):
        signal.raise_signal(getattr(signal, name))
        signal.raise_signal(getattr(signal, name))
    assert heard == [name, name]
    assert signal.getsignal(getattr(signal, name)) == before
