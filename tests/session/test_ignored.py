"""What is kept out of version control, and whose file says so."""

from __future__ import annotations

from pathlib import Path

from simulator.session.ignored import IGNORED, hide, hide_file, is_ours


def test_a_second_report_in_a_folder_is_left_out_too(tmp_path: Path) -> None:
    ignored = tmp_path / IGNORED
    assert hide_file(tmp_path / "a.html")
    assert hide_file(tmp_path / "b.html")
    assert hide_file(tmp_path / "b.html")
    assert ignored.read_text(encoding="utf-8").splitlines()[1:] == ["/a.html", "/b.html"]


def test_a_file_that_somebody_else_wrote_stays_as_it_is(tmp_path: Path) -> None:
    ignored = tmp_path / IGNORED
    ignored.write_text("*.html", encoding="utf-8")
    assert not hide_file(tmp_path / "a.html")
    assert ignored.read_text(encoding="utf-8") == "*.html"


def test_what_is_written_here_is_told_from_what_others_write(tmp_path: Path) -> None:
    assert not is_ours(tmp_path)
    hide_file(tmp_path / "a.html")
    assert is_ours(tmp_path)
    with (tmp_path / IGNORED).open("a", encoding="utf-8") as stream:
        stream.write("mine.txt\n")
    assert not is_ours(tmp_path)
    (tmp_path / IGNORED).unlink()
    hide(tmp_path)
    assert is_ours(tmp_path)
