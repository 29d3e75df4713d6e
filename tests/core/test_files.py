"""Text files of others: lines end where their format says, and each fault is one sentence."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agents.base import make_agent
from memory.base import make_memory
from simulator.core.errors import InputError
from simulator.core.files import csv_rows, json_lines, open_plain, read_text
from simulator.core.taxonomy import Taxonomy
from simulator.core.titles import clean
from simulator.core.types import Event, Query

ODD = "a\u2028b\u2029c\x85d"


def test_json_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(f'\ufeff{{"title": "{ODD}"}}\r\n\n[1]'.encode())
    assert list(json_lines(file)) == [(1, {"title": ODD}), (3, [1])]


def test_a_field_of_a_table_may_hold_the_end_of_a_line(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_bytes(f'id,title\r\n1,"two\r\nlines"\r\n2,{ODD}\r\n3,\r\n'.encode())
    rows = [(3, {"id": "1", "title": "two\r\nlines"}), (4, {"id": "2", "title": ODD}), (5, {"id": "3"})]
    assert list(csv_rows(file)) == rows


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"\xff\xfe", "x: must be a text file in UTF-8"),
        (None, "x: cannot be read \\(No such file"),
        (b"a\n1,2\n", "x, line 2: more fields than the head names"),
        (b"a,b,a\n1,2,3\n", "x: a: each column once"),
    ],
)
def test_each_fault_of_a_table_is_one_sentence(tmp_path: Path, text: bytes | None, said: str) -> None:
    if text is not None:
        (tmp_path / "x").write_bytes(text)
    with pytest.raises(InputError, match=said):
        list(csv_rows(tmp_path / "x"))


def test_a_field_may_be_as_long_as_what_people_paste(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a\n" + b"x" * 200_000)
    assert list(csv_rows(tmp_path / "x")) == [(2, {"a": "x" * 200_000})]


def test_a_file_starts_after_its_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbfa\r\n")
    assert read_text(tmp_path / "x") == "a\r\n"


async def test_a_memory_with_odd_titles_is_read_back(tmp_path: Path) -> None:
    memory, again = (make_memory("rag:documents=all") for _ in range(2))
    await memory.observe(Event("past/1", "u", -9, -5, "xterm", ODD))
    stored: Any = memory
    stored.save(tmp_path)
    stored = again
    stored.load(tmp_path)
    query = Query("u", "xterm", ODD, None, 0)
    assert await again.recall(query, 3, None) == await memory.recall(query, 3, None) != []


def test_a_script_may_offer_odd_texts(tmp_path: Path) -> None:
    line = json.dumps({"t_s": 1, "intention": "Translation", "text": ODD}, ensure_ascii=False)
    (tmp_path / "o.jsonl").write_text(line + "\n", encoding="utf-8")
    make_agent(f"scripted:{tmp_path / 'o.jsonl'}")


def test_what_nobody_sees_counts_neither_in_titles_nor_in_names_of_applications() -> None:
    hidden = "\u200b\u2060\u2064\xad\ufeff"
    assert clean(f"In{hidden}box") == "Inbox"
    assert Taxonomy().category(f"Fire{hidden}fox") == "browser"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_what_must_be_a_file_is_no_pipe_and_no_device(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    os.mkfifo(tmp_path / "pipe")  # opened the usual way it would not answer
    (tmp_path / "zero").symlink_to("/dev/zero")
    with open_plain(tmp_path / "file") as file:
        assert file.read() == b"abc"
    for name in ("pipe", "zero"):
        with pytest.raises(InputError, match="a pipe or a device"):
            open_plain(tmp_path / name)
    for name, fault in (("none", FileNotFoundError), ("", IsADirectoryError)):
        with pytest.raises(fault):
            open_plain(tmp_path / name)
