"""A folder that is written is there whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.core.folders import is_vacant, whole_folder


@pytest.mark.parametrize("made_before", [False, True])
def test_what_was_written_gets_the_name_at_the_end(tmp_path: Path, made_before: bool) -> None:
    out = tmp_path / "deep" / "out"
    if made_before:
        out.mkdir(parents=True)
    with whole_folder(out) as part:
        (part / "file").write_text("x")
        assert is_vacant(out)
        assert part.parent == out.parent
    assert [f.name for f in out.iterdir()] == ["file"]
    assert [f.name for f in out.parent.iterdir()] == ["out"]


def test_a_failure_leaves_nothing_and_neither_does_an_earlier_kill(tmp_path: Path) -> None:
    (tmp_path / ".out.part" / "left").mkdir(parents=True)

    def interrupted() -> None:
        with whole_folder(tmp_path / "out") as part:
            assert not any(part.iterdir())
            (part / "file").write_text("x")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not any(tmp_path.iterdir())


def test_what_is_there_already_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    assert not is_vacant(tmp_path / "out")
    assert not is_vacant(tmp_path / "out" / "mine")
    with pytest.raises(OSError), whole_folder(tmp_path / "out"):  # noqa: PT011 - of the system, in its words
        pass
    assert [f.name for f in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "mine").read_text() == "x"
