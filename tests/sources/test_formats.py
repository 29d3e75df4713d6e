"""The table of formats is what the command, ``auto``, the lists and the documentation go by."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

from simulator.core.errors import InputError, UsageError
from simulator.session.importing import import_
from simulator.sources.formats import FORMATS, Format, chosen

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("format", FORMATS.values(), ids=list(FORMATS))
def test_each_format_has_a_reader_of_its_kind(format: Format) -> None:
    module = importlib.import_module(format.module)
    read = getattr(module, format.gives)
    takes = list(inspect.signature(read).parameters)
    assert takes == (["wanted", "account"] if format.gives == "recordings" else ["wanted"])
    options = inspect.signature(import_).parameters
    assert {"rate_hz" if name == "rate" else name for name in format.takes} <= set(options)


@pytest.mark.parametrize("format", FORMATS.values(), ids=list(FORMATS))
def test_no_format_takes_what_is_nothing(format: Format, tmp_path: Path) -> None:
    """Sniffing never raises, and only the last format takes any folder."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd/x.json").write_bytes(b"\xff\x00[{")
    (tmp_path / "odd/y.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / "noise.bin").write_bytes(b"\x00" * 10)
    said = [format.sniff(tmp_path / name) for name in ("empty", "odd", "noise.bin")]
    assert said == ([True, True, False] if format.name == "folder" else [False, False, False])


def test_those_that_take_anything_come_last() -> None:
    assert list(FORMATS)[-3:] == ["lifetrace", "proagentbench", "folder"]


def test_a_format_that_is_not_there_is_told_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'knowu'"):
        chosen("knwou", tmp_path)
    with pytest.raises(InputError, match="there is no such file"):
        chosen("auto", tmp_path / "none")
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="none of the known formats"):
        chosen("auto", tmp_path / "notes.txt")
    (tmp_path / "traces.zip").write_bytes(b"PK")
    with pytest.raises(InputError, match="proact dataset answers"):
        chosen("auto", tmp_path / "traces.zip")


def test_what_a_format_does_not_take_is_refused_rather_than_passed_over(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    with pytest.raises(UsageError, match="--times is not for format knowu; it is for folder"):
        import_(tmp_path / "src", tmp_path / "out", format="knowu", times="name")
    with pytest.raises(UsageError, match="--rate is not for format proactivebench"):
        import_(tmp_path / "src", tmp_path / "out", format="proactivebench", rate_hz=2)
    with pytest.raises(UsageError, match="--timezone is missing"):
        import_(tmp_path / "src", tmp_path / "out", format="folder")
    assert not (tmp_path / "out").exists()


def test_the_page_on_other_data_names_every_format_as_the_table_does() -> None:
    page = (DOCS / "other-data.md").read_text(encoding="utf-8")
    for format in FORMATS.values():
        assert f"| `{format.name}` | {format.about} |" in page
